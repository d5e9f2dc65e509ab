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
    // load takes the costs of a row of so many.
    __device__ __forceinline__ Pack load(const T* row, u64 cols) const {
        if (WIDE) return *(const Pack*)(row + (base < cols ? base : 0));
        Pack p;
#pragma unroll
        for (u32 k = 0; k < VEC; k++) p.x[k] = row[column(k) < cols ? column(k) : cols - 1];
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

// look reads rows again that have an entry that is wrong or near, and notes these: row i + f where bit f of rows is set.
template <bool WIDE> __device__ void look(const T* costs, const Work& w, Cost cost, const Tile<WIDE>& tile, u64 i, u64 rows, i64 width) {
    for (; rows != 0; rows &= rows - 1) {
        u64 row = i + (__ffsll(rows) - 1);
        Pack p = tile.load(costs + row * w.cols, w.cols);
        for (u32 k = 0; k < VEC; k++) {
            u64 j = tile.column(k);
            if (j >= w.cols) continue;
            i64 c = cost(p.x[k]);
            if (plus(plus(w.u[row], width), w.v[j]) >= c) w.note(row, j, c, width);
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

// hold holds the costs of COUNT rows, whose duals begin at u, against the bars: bit f of the result says that row f needs
// a look. All loads are under way before the first is used.
template <u32 COUNT, bool WIDE, class Bars>
__device__ __forceinline__ u64 hold(const T* costs, u64 cols, const i64* u, const Tile<WIDE>& tile, Bars& bars, i64 width) {
    Pack p[COUNT];
    u32 rows = 0;
#pragma unroll
    for (u32 f = 0; f < COUNT; f++) p[f] = tile.load(costs + f * cols, cols);
#pragma unroll
    for (u32 f = 0; f < COUNT; f++) {
        bars.row(plus(u[f], width));
#pragma unroll
        for (u32 k = 0; k < VEC; k++)
            if ((WIDE || tile.column(k) < cols) && !bars.passes(p[f].x[k], k)) rows |= 1u << f;
    }
    return rows;
}

// sweep checks a block's share of the entries, and lists those that are near; width is -1 for none.
template <bool WIDE> __device__ void sweep(const T* costs, const Work& w, i64 sign, i64 shift, u32 rules, i64 width) {
    static_assert(ROWS <= 64, "a bit a row");
    u64 tiles = (w.cols + SPAN - 1) / SPAN, group = blockIdx.x / tiles;
    Tile<WIDE> tile(blockIdx.x % tiles * SPAN);
    if (group == 0 && rules < ELSEWHERE) columns(w, tile, rules == LOOSE);
    Choice<FLOATS, FloatBars<T, VEC>, Bars<T, VEC>> bars(sign, shift);
#pragma unroll
    for (u32 k = 0; k < VEC; k++) bars.column(k, w.v[tile.column(k) < w.cols ? tile.column(k) : w.cols - 1]);
    u64 first = group * ROWS;
    u32 count = first >= w.rows || WIDE && tile.base >= w.cols ? 0 : w.rows - first < ROWS ? (u32)(w.rows - first) : ROWS, i = 0;
    const T* row = costs + first * w.cols;
    u64 rows = 0;  // that need a look, after the others
    for (; i + FLIGHT <= count; i += FLIGHT, row += FLIGHT * w.cols) rows |= hold<FLIGHT>(row, w.cols, w.u + first + i, tile, bars, width) << i;
    for (; i < count; i++, row += w.cols) rows |= hold<1>(row, w.cols, w.u + first + i, tile, bars, width) << i;
    look(costs, w, Cost(sign, shift), tile, first, rows, width);
    tally(w.words + FORBIDDEN, bars.forbidden());
    if constexpr (FLOATS) tally(w.words + ROUNDED, bars.rounded());
}

}  // namespace VARIANT
