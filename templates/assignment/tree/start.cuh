// Before the search: reduction of rows and columns, a first matching, the zeros.
#include "cuda/variant.cuh"

namespace VARIANT {

// plant adds a row to the forest of the next phase, if `want`.
__device__ __forceinline__ void plant(const Work& w, Slot* next, int row, bool want) {
    u32 frontierRow, at;
    bool here = want && w.here(row);
    placeFrontierRow(next, want, here, frontierRow, at);
    if (here) w.open[at] = {-w.u[row], row};
}

// list adds a row to the free rows of the next phase, the roots of its forest, if `keep`.
__device__ __forceinline__ void list(const Work& w, const Turn& t, Slot* next, int row, bool keep) {
    u32 at = place(&next->kept, keep);
    if (keep) w.free[(t.side ^ 1) * w.rows + at] = row;
    plant(w, next, row, keep);
}

// reduceRows sets u to the row minima of c - v, lists all rows as free, and initialises the
// state of the search.
__device__ void reduceRows(Work& w, const Costs& c, bool warm) {
    u32 lane = threadIdx.x % WARP;
    for (u32 i = w.block + w.blocks * (threadIdx.x / WARP); i < w.mine; i += w.blocks * WARPS) {
        const T* of = c.of + (u64)i * w.cols;
        i64 least = NONE;
        for (u32 base = lane; base < w.cols; base += WARP * DEEP) {
            T x[DEEP];
#pragma unroll
            for (u32 d = 0; d < DEEP; d++)
                if (base + d * WARP < w.cols) x[d] = of[base + d * WARP];
#pragma unroll
            for (u32 d = 0; d < DEEP; d++)
                if (base + d * WARP < w.cols) least = lower(least, c.plus(x[d], warm ? -w.v[base + d * WARP] : 0));
        }
        least = warpLeast(least);
        if (lane != 0) continue;
        i64 u = least == NONE ? 0 : least;
        int row = (int)(w.first + i);
        w.u[row] = u;
        w.open[i] = {-u, row};
    }
    for (u32 i = w.block * BLOCK + threadIdx.x; i < w.rows; i += w.blocks * BLOCK) {
        if (!w.here((int)i)) w.u[i] = 0;
        w.free[i] = (int)i;
        w.way[i] = wayOf(i, i, i);
        w.winner[i] = NOBODY;
        w.column[i] = -1;
        w.choice[i] = NOWHERE;
        w.done[i] = 0;
        w.rise[i] = 0;
    }
    for (u32 j = w.block * BLOCK + threadIdx.x; j < w.cols; j += w.blocks * BLOCK) {
        w.dist[j] = NONE;
        w.row[j] = -1;
        w.parent[j] = NOWHERE;
        w.tree[j] = OUT;
        w.hop[j] = NOBODY;
        w.gain[j] = 0;
        w.reached[j / 32] = 0;
    }
    count(w, w.mine);
}

// reduceColumns sets v to the column minima of c - u, after a scan of all rows.
__device__ void reduceColumns(Work& w, const Slice& s, Scratch& scratch) {
    u32 epoch = w.nextEpoch();
    if constexpr (PEERS) {
        __syncthreads();
        if (threadIdx.x == 0) w.begin(epoch);
    }
    for (u32 k = threadIdx.x; k < s.count; k += BLOCK) {
        Best best = bestOfAll(w, s.least(scratch, k, w.mine), epoch, k);
        if (best.at == NONE) continue;
        w.v[s.base + k] = best.at;
        atomicMin(w.choice + best.row, (int)(s.base + k));  // a zero
    }
    if constexpr (PEERS) __syncthreads();
}

// turned returns column j + start modulo cols.
__device__ __forceinline__ u32 turned(u32 j, u32 start, u32 cols) { return j < cols - start ? j + start : j - (cols - start); }

// accept matches each row to the first of the columns whose minimum lies in the row, and
// lists the other rows as free.
__device__ void accept(const Work& w, const Turn& t, Slot* next) {
    for (u32 base = w.block * BLOCK; base < t.left; base += w.blocks * BLOCK) {
        u32 i = base + threadIdx.x;
        int row = 0;
        bool keep = false;
        if (i < t.left) {
            row = w.free[t.side * w.rows + i];
            int j = w.choice[row];
            keep = j == NOWHERE;
            if (!keep) {
                w.row[j] = row;
                w.column[row] = j;
            }
        }
        list(w, t, next, row, keep);
    }
}

// seek finds the first LIST zeros of every row of this device, starting at another column in
// each row, and writes them to the device that holds the lists.
__device__ void seek(Work& w, const Costs& c) {
    u32 lane = threadIdx.x % WARP;
    for (u32 i = w.block + w.blocks * (threadIdx.x / WARP); i < w.mine; i += w.blocks * WARPS) {
        u32 row = w.first + i, start = (u32)((u64)(row * 2654435769u) * w.cols >> 32), n = 0;
        const T* of = c.of + (u64)i * w.cols;
        u64* zeros = w.told + (u64)row * LIST;
        i64 key = -w.u[row];
        for (u32 base = lane; base - lane < w.cols && n < LIST; base += WARP * DEEP) {
            T x[DEEP];
#pragma unroll
            for (u32 d = 0; d < DEEP; d++)
                if (base + d * WARP < w.cols) x[d] = of[turned(base + d * WARP, start, w.cols)];
#pragma unroll
            for (u32 d = 0; d < DEEP; d++) {
                u32 j = base + d * WARP;
                bool zero = false;
                if (j < w.cols) {
                    j = turned(j, start, w.cols);
                    zero = c.plus(x[d], key) == w.v[j];
                }
                u32 all = __ballot_sync(ALL, zero), at = n + __popc(all & ((1u << lane) - 1));
                if (zero && at < LIST) zeros[at] = fresh(j);
                n += __popc(all);
            }
        }
        if (lane >= n && lane < LIST) zeros[lane] = NOBODY;
    }
    count(w, w.mine);
    if constexpr (PEERS) __threadfence_system();
}

}  // namespace VARIANT
