// One pass over the matrix.
#include "cuda/variant.cuh"

namespace VARIANT {

struct alignas(16) Pack {
    T x[VEC];
};

// Tile is the VEC columns that a thread checks: neighbours where rows begin at multiples
// of 16 bytes (WIDE), else BLOCK apart, so that a warp's loads are coalesced.
template <bool WIDE> struct Tile {
    u64 base;
    __device__ __forceinline__ explicit Tile(u64 first) : base(WIDE ? first + threadIdx.x * VEC : first + threadIdx.x) {}
    __device__ __forceinline__ u64 column(u32 k) const { return base + (WIDE ? k : k * BLOCK); }
    __device__ __forceinline__ Pack load(const T* costs, u64 row, u64 cols) const {
        if (WIDE) return *(const Pack*)(costs + row * cols + (base < cols ? base : 0));
        Pack p;
#pragma unroll
        for (u32 k = 0; k < VEC; k++) p.x[k] = costs[row * cols + (column(k) < cols ? column(k) : cols - 1)];
        return p;
    }
};

// tally adds the counts n of all threads of the block to a word of global memory.
__device__ void tally(u64* word, u32 n) {
    __shared__ u32 total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    n = __reduce_add_sync(ALL, n);
    if (threadIdx.x % WARP == 0 && n != 0) atomicAdd(&total, n);
    __syncthreads();
    if (threadIdx.x == 0 && total != 0) atomicAdd(word, (u64)total);
    __syncthreads();
}

// look reads rows again that have an entry that is wrong or near, and notes these.
template <bool WIDE>
__device__ void look(const T* costs, const Work& w, Cost cost, const Tile<WIDE>& tile, u64 from, u64 to, i64 width) {
    for (u64 i = from; i < to; i++) {
        Pack p = tile.load(costs, i, w.cols);
        for (u32 k = 0; k < VEC; k++) {
            u64 j = tile.column(k);
            if (j >= w.cols) continue;
            i64 c = cost(p.x[k]);
            if (plus(plus(w.u[i], width), w.v[j]) >= c) w.note(i, j, c, width);
        }
    }
}

// columns checks that v of the thread's columns is in range, at most 0 where columns may
// stay unmatched, and 0 where they do. A fault is recorded as column * COLUMN_FAULTS + its fault.
template <bool WIDE> __device__ void columns(const Work& w, const Tile<WIDE>& tile, bool loose) {
    Sum dual;
    for (u32 k = 0; k < VEC; k++) {
        u64 j = tile.column(k);
        if (j >= w.cols) continue;
        i64 v = w.v[j];
        dual.add(v);
        u32 reason = !within(v) ? BAD_PRICE : loose && v > 0 ? POSITIVE_PRICE : w.owner[j] < 0 && v != 0 ? FREE_PRICE : COLUMN_RIGHT;
        if (reason == COLUMN_RIGHT) continue;
        atomicAdd(w.words + COLUMNS_WRONG, 1ull);
        atomicMin(w.words + FIRST_COLUMN, j * COLUMN_FAULTS + reason);
    }
    dual.flush(w.words + DUAL);
}

// sweep checks a block's share of the entries, and lists those that are near; width is -1 for none.
template <bool WIDE> __device__ void sweep(const T* costs, const Work& w, Cost cost, u32 rules, i64 width) {
    u64 tiles = (w.cols + SPAN - 1) / SPAN, group = blockIdx.x / tiles;
    Tile<WIDE> tile(blockIdx.x % tiles * SPAN);
    if (group == 0 && rules < ELSEWHERE) columns(w, tile, rules == LOOSE);
    i64 v[VEC];
#pragma unroll
    for (u32 k = 0; k < VEC; k++) v[k] = w.v[tile.column(k) < w.cols ? tile.column(k) : w.cols - 1];
    u64 end = (group + 1) * ROWS < w.rows ? (group + 1) * ROWS : w.rows;
    if (WIDE && tile.base >= w.cols) end = 0;
    for (u64 i = group * ROWS; i < end; i += FLIGHT) {
        Pack p[FLIGHT];
        bool hit = false;
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) p[f] = tile.load(costs, i + f < end ? i + f : end - 1, w.cols);
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) {
            if (i + f >= end) break;
            i64 u = plus(w.u[i + f], width);
#pragma unroll
            for (u32 k = 0; k < VEC; k++)
                if (WIDE || tile.column(k) < w.cols) hit |= plus(u, v[k]) >= cost(p[f].x[k]);
        }
        if (hit) look(costs, w, cost, tile, i, i + FLIGHT < end ? i + FLIGHT : end, width);
    }
    tally(w.words + FORBIDDEN, cost.forbidden);
    if constexpr (FLOATS) tally(w.words + ROUNDED, cost.rounded);
}

}  // namespace VARIANT
