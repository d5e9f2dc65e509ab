// Forests of the Hungarian algorithms: how rows came into them, augmentation along paths,
// and sets of bits.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// A way is a word that says how a row came into a forest: the row before it, its root, and
// a stop, a row on the way to the root, a few rows away. Those of a root are the root. With
// the row in place of the one before it, it is a frontier row.
// Go: RowBits
constexpr u32 NUMBER = 21;  // bits of a row
__device__ __forceinline__ u32 rowOf(u64 word) { return (u32)word & ((1u << NUMBER) - 1); }
__device__ __forceinline__ u32 rootOf(u64 word) { return rowOf(word >> NUMBER); }
__device__ __forceinline__ u32 stopOf(u64 word) { return (u32)(word >> 2 * NUMBER); }
__device__ __forceinline__ u64 wayOf(u32 before, u32 root, u32 stop) { return (u64)stop << 2 * NUMBER | (u64)root << NUMBER | before; }
__device__ __forceinline__ u64 frontierRowOf(u64 way, u32 row) { return way >> NUMBER << NUMBER | row; }

constexpr u32 LEAP = 8;  // levels from stop to stop, where one block searches

// after is the way of the rows that come after a frontier row; stops says whether it is their stop.
__device__ __forceinline__ u64 after(u64 frontierRow, bool stops) { return stops ? wayOf(rowOf(frontierRow), rootOf(frontierRow), rowOf(frontierRow)) : frontierRow; }

// Trees are a matching, from either side, and the ways of the rows of a forest.
struct Trees {
    int *column, *row;
    const u64* way;
};

// flip augments along a part of a path, from its last row to the one nearest the root: the
// last takes column j, each of the others that of the one after it. It calls visit(j) for
// the columns. A step down the path takes one load, since each way holds the row before.
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

// flipTogether has a warp augment along a whole path: a lane takes what is between two
// stops. All lanes walk these, and read what the rows there had.
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

// flipAll augments along the paths of a warp's lanes, each from its last row and column to
// its root; column -1: none. A path that is alone is flipped together.
template <class F> __device__ __forceinline__ void flipAll(const Trees& t, u32 row, u32 root, int j, F visit) {
    u32 all = __ballot_sync(ALL, j >= 0);
    int from = __ffs((int)all) - 1;
    if (__popc(all) == 1) flipTogether(t, __shfl_sync(ALL, row, from), __shfl_sync(ALL, root, from), __shfl_sync(ALL, j, from), visit);
    else if (j >= 0) flip(t, row, root, j, visit);
}

// add puts x into a set of bits, and tells whether it was not there.
__device__ __forceinline__ bool add(u32* set, u32 x) { return !(atomicOr(set + x / 32, 1u << x % 32) >> x % 32 & 1); }

// move calls put(x, take(x)) for the numbers 0 .. n-1, by the threads of a block, with DEEP
// loads of a thread on their way at once.
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
