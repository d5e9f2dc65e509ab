// The known pairs of rows.
#include "cuda/variant.cuh"

namespace VARIANT {

// Lists holds the known pairs of rows, a chunk a row, and for each row a lower bound of
// c - v of all other pairs. v only falls, so that bounds stay valid.
struct Lists {
    int* col;
    i64* cost;
    i64* bound;
};

// Falling reads prices v that other warps may lower at the same time.
struct Falling {
    const i64* v;
    __device__ __forceinline__ i64 operator[](u64 j) const { return __ldcg(v + j); }
};

// know fills a row's chunk with about the K least c - v, the least two among them. The
// result is the difference of the fourth and the first. One warp calls.
template <class Prices>
__device__ i64 know(const Cloud& cloud, const Prices& v, const Lists& lists, u64 row) {
    u32 lane = threadIdx.x % WARP;
    Best best[1];
    cloud.scan(row, v, SkipNone(), nullptr, best);
    i64 bound = cloud.reach(best[0]), full = best[0].key[DEPTH - 1], low = 0, apart = 0;
    int mine[ITEMS];
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) mine[k] = -1;
#pragma unroll
    for (u32 k = 0; k < K; k++) {
        i64 least = warpLeast(best[0].key[0]);
        if (least >= INFINITE) break;
        if (k == 0) low = least;
        if (k < 4) apart = least - low;
        u32 who = __ffs((int)__ballot_sync(ALL, best[0].key[0] == least)) - 1;
        int j = __shfl_sync(ALL, best[0].at[0], who);
        if (lane == k % WARP) mine[k / WARP] = j;
        if (lane == who) best[0].pop();
    }
    i64 rest = warpLeast(full < best[0].key[0] ? full : best[0].key[0]);
    bound = rest < bound ? rest : bound;
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        u32 e = k * WARP + lane;
        if (e >= K) break;
        lists.col[row * K + e] = mine[k];
        lists.cost[row * K + e] = mine[k] < 0 ? INFINITE : cloud.cost(row, mine[k]);
    }
    if (lane == 0) lists.bound[row] = bound;
    __threadfence();  // another warp may read the row's chunk next
    __syncwarp();
    return apart;
}

// Two holds a row's best column, with its c - price, and the c - price of the second best.
struct Two {
    i64 best, second;
    u64 word;  // the best column's word, as read
    int col;
    u32 rank;  // decides ties: free columns first, then in an order that differs from row to row

    __device__ __forceinline__ void put(i64 pay, u64 w, int j, u32 r) {
        if (pay < best || pay == best && r < rank) second = best, best = pay, word = w, col = j, rank = r;
        else if (pay < second) second = pay;
    }
    __device__ __forceinline__ void merge(u32 d) {
        i64 b = __shfl_xor_sync(ALL, best, d), t = __shfl_xor_sync(ALL, second, d);
        u64 w = __shfl_xor_sync(ALL, word, d);
        int j = __shfl_xor_sync(ALL, col, d);
        u32 r = __shfl_xor_sync(ALL, rank, d);
        bool theirs = b < best || b == best && r < rank;
        i64 loser = theirs ? best : b;
        second = t < second ? t : second;
        second = loser < second ? loser : second;
        if (theirs) best = b, word = w, col = j, rank = r;
    }
};

}  // namespace VARIANT
