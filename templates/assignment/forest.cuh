// Forests of alternating trees, as the Hungarian algorithms grow them: the paths of rows to
// their roots, augmentation along paths, and sets of bits.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// A way is a word of 64 bits that describes how a row joined the forest: the number of the
// row before on the path from the root, the number of the root, and the number of a stop, a
// row a few levels nearer the root. All three of a root are the root itself. A frontier row
// is a way with the row itself in place of the row before.
// Go: RowBits
constexpr u32 NUMBER = 21;  // bits of a row
__device__ __forceinline__ u32 rowOf(u64 word) { return (u32)word & ((1u << NUMBER) - 1); }
__device__ __forceinline__ u32 rootOf(u64 word) { return rowOf(word >> NUMBER); }
__device__ __forceinline__ u32 stopOf(u64 word) { return (u32)(word >> 2 * NUMBER); }
__device__ __forceinline__ u64 wayOf(u32 before, u32 root, u32 stop) { return (u64)stop << 2 * NUMBER | (u64)root << NUMBER | before; }
__device__ __forceinline__ u64 frontierRowOf(u64 way, u32 row) { return way >> NUMBER << NUMBER | row; }

constexpr u32 LEAP = 8;  // levels from stop to stop in a search by one block

// after returns the way of the rows reached from a frontier row; `stops` makes the frontier row their stop.
__device__ __forceinline__ u64 after(u64 frontierRow, bool stops) { return stops ? wayOf(rowOf(frontierRow), rootOf(frontierRow), rowOf(frontierRow)) : frontierRow; }

// Trees holds a matching, by row and by column, and the ways of the forest's rows.
struct Trees {
    int *column, *row;
    const u64* way;
};

// flip augments along a part of a path, from row `row` up to row `to`, which is nearer the
// root: the first row takes column j, and each row above takes the column of the row below.
// flip calls visit(j) for all of these columns. A step takes one load of a way.
template <class F> __device__ __forceinline__ void flip(const Trees& t, u32 row, u32 to, int j, F visit) {
    for (;;) {
        int had = t.column[row];
        u64 way = t.way[row];
        t.column[row] = j;
        t.row[j] = (int)row;
        visit(j);
        if (row == to) return;
        j = had;
        row = rowOf(way);
    }
}

// flipTogether augments along a whole path by one warp: each lane augments the part between
// two stops. All lanes walk from stop to stop, and read the columns that rows there had.
template <class F> __device__ __forceinline__ void flipTogether(const Trees& t, u32 row, u32 root, int j, F visit) {
    u32 lane = threadIdx.x % WARP, to = stopOf(t.way[row]), n;
    for (bool ends = false; !ends;) {
        u32 mine = 0, last = 0;
        int column = 0;
        for (n = 0; n < WARP && !ends; n++) {
            if (lane == n) mine = row, last = to, column = j;
            ends = to == root;
            u64 way = t.way[to];
            j = t.column[to], row = rowOf(way), to = stopOf(way);
        }
        __syncwarp();
        if (lane < n) flip(t, mine, last, column, visit);
        __syncwarp();
    }
}

// flipAll augments along one path a lane, from the path's last row and column to its root;
// a lane without a path has column -1. The whole warp works on a path that is the only one.
template <class F> __device__ __forceinline__ void flipAll(const Trees& t, u32 row, u32 root, int j, F visit) {
    u32 all = __ballot_sync(ALL, j >= 0);
    int from = __ffs((int)all) - 1;
    if (__popc(all) == 1) flipTogether(t, __shfl_sync(ALL, row, from), __shfl_sync(ALL, root, from), __shfl_sync(ALL, j, from), visit);
    else if (j >= 0) flip(t, row, root, j, visit);
}

// add puts x into a set of bits, and says whether the set lacked x before.
__device__ __forceinline__ bool add(u32* set, u32 x) { return !(atomicOr(set + x / 32, 1u << x % 32) >> x % 32 & 1); }

// move calls put(x, take(x)) for the numbers 0 .. n-1, divided among the threads of a block;
// a thread starts DEEP calls of take before the first put, so that their loads overlap.
template <u32 BLOCK, u32 DEEP, class F, class G> __device__ __forceinline__ void move(u32 n, F take, G put) {
    for (u32 first = threadIdx.x; first < n; first += DEEP * BLOCK) {
        decltype(take(first)) moved[DEEP];
#pragma unroll
        for (u32 k = 0; k < DEEP; k++) moved[k] = take(min(first + k * BLOCK, n - 1));
#pragma unroll
        for (u32 k = 0; k < DEEP; k++)
            if (first + k * BLOCK < n) put(first + k * BLOCK, moved[k]);
    }
}

}  // namespace coalesce
