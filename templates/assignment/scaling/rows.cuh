// The least c - v of rows, read whole: by a warp a row where rows are many, else by a block.
#include "cuda/variant.cuh"

namespace VARIANT {

// Least holds the least c - v of a row, its column, and the second least.
struct Least {
    i64 best, second;
    u32 at, rank;  // rank decides ties: free columns first, then in an order that differs from row to row
    __device__ __forceinline__ void put(i64 pay, u32 j, u32 r) {
        if (pay < best || pay == best && r < rank) second = best, best = pay, at = j, rank = r;
        else if (pay < second) second = pay;
    }
    __device__ __forceinline__ void merge(const Least& o) {
        bool theirs = o.best < best || o.best == best && o.rank < rank;
        i64 loser = theirs ? best : o.best;
        second = o.second < second ? o.second : second;
        second = loser < second ? loser : second;
        if (theirs) best = o.best, at = o.at, rank = o.rank;
    }
    __device__ __forceinline__ void mergeWarp() {
#pragma unroll
        for (u32 d = WARP / 2; d > 0; d >>= 1)
            merge(Least{__shfl_xor_sync(ALL, best, d), __shfl_xor_sync(ALL, second, d), __shfl_xor_sync(ALL, at, d), __shfl_xor_sync(ALL, rank, d)});
    }
};

// Near reads prices from a copy in shared memory, Distant from L2.
struct Near {
    const i64* v;
    __device__ __forceinline__ i64 operator()(u32 j) const { return v[j]; }
};
struct Distant {
    const i64* v;
    __device__ __forceinline__ i64 operator()(u32 j) const { return __ldcg(v + j); }
};

template <class Prices> __device__ __forceinline__ Least scan(const State& s, const Prices& prices, u32 row, u32 from, u32 step) {
    const T* costs = s.costs + (u64)row * s.n;
    u32 start = (u32)((u64)(row * 2654435761u) * s.n >> 32);
    Least l = {INFINITE * 2, INFINITE * 2, NOBODY, ~0u};
    for (u32 first = from; first < s.n; first += step * FLIGHT) {
        T c[FLIGHT];
#pragma unroll
        for (u32 k = 0; k < FLIGHT; k++) {
            u32 j = first + k * step;
            c[k] = costs[j < s.n ? j : first];
        }
#pragma unroll
        for (u32 k = 0; k < FLIGHT; k++) {
            u32 j = first + k * step;
            if (j >= s.n) break;
            i64 pay = s.scale(c[k]) - prices(j);
            u32 r = 0;
            if (pay <= l.best) r = (j >= start ? j - start : j + s.n - start) | (__ldcg(s.owner + j) < 0 ? 0u : 1u << 31);
            l.put(pay, j, r);
        }
    }
    return l;
}

// eachRow calls `found` with the number in the list, the row and its Least, one thread a row,
// for rows list[0] .. list[rows-1], or 0 .. rows-1 without a list. The fewer rows a block has,
// the more of its warps work on one. `near` says whether the dynamic shared memory holds all
// prices. All threads of all blocks call it.
template <class Found> __device__ __forceinline__ void eachRow(const State& s, const u32* list, u32 rows, bool near, Found found) {
    COALESCE_DYNAMIC_SHARED(i64, room);
    __shared__ Least part[WARPS];
    constexpr u32 FEW = 4;  // rows of a block for which it pays to copy all prices
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, each = (rows + gridDim.x - 1) / gridDim.x, team = WARPS;
    while (team > 1 && team * each > WARPS) team /= 2;
    near = near && each > FEW;
    if (near) {
        __syncthreads();
        for (u32 j = threadIdx.x; j < s.n; j += BLOCK) room[j] = __ldcg(s.v + j);
        __syncthreads();
    }
    for (u32 first = 0; first < each; first += WARPS / team) {
        u32 at = (first + warp / team) * gridDim.x + blockIdx.x, row = 0;
        Least l = {INFINITE * 2, INFINITE * 2, NOBODY, ~0u};
        if (at < rows) {
            row = list ? __ldcg(list + at) : at;
            u32 from = warp % team * WARP + lane;
            l = near ? scan(s, Near{room}, row, from, team * WARP) : scan(s, Distant{s.v}, row, from, team * WARP);
        }
        l.mergeWarp();
        if (team > 1) {
            if (lane == 0) part[warp] = l;
            __syncthreads();
            if (warp % team == 0) {
                l = part[warp + lane % team];
                for (u32 k = 1; k < team; k *= 2)
                    l.merge(Least{__shfl_xor_sync(ALL, l.best, k), __shfl_xor_sync(ALL, l.second, k), __shfl_xor_sync(ALL, l.at, k), __shfl_xor_sync(ALL, l.rank, k)});
            }
        }
        if (lane == 0 && warp % team == 0 && at < rows) found(at, row, l);
        if (team > 1) __syncthreads();
    }
}

}  // namespace VARIANT
