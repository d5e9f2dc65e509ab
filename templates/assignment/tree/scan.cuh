// Column minima over listed rows, without a slack matrix and without atomics.
#include "cuda/variant.cuh"

namespace VARIANT {

// Slice is a part of a block's columns, at most BLOCK*OWN of them. Threads form groups, and
// each group reads other rows of the slice; a thread of a group has ITEMS columns.
struct Slice {
    u32 base, count, lanes, groups, lane, group;
    __device__ __forceinline__ Slice(u32 base, u32 end) : base(base), count(min(end - base, BLOCK * OWN)) {
        lanes = (count + ITEMS - 1) / ITEMS;
        groups = BLOCK / lanes;
        lane = threadIdx.x % lanes;
        group = threadIdx.x / lanes;
    }
    // owned says whether the warp owns columns of the slice, from o*BLOCK on.
    __device__ __forceinline__ bool owned(u32 o) const { return o * BLOCK + threadIdx.x / WARP * WARP < count; }
    // column returns the thread's k-th column, counted from base. With `wide` a thread's
    // columns are vectors, `lanes` vectors apart, each one load; else `lanes` columns apart.
    __device__ __forceinline__ u32 column(u32 k, bool wide) const {
        return wide ? (lane + k / VECTOR * lanes) * VECTOR + k % VECTOR : lane + k * lanes;
    }
    // least returns the minimum of a column after a scan of n rows.
    __device__ __forceinline__ Best least(const Scratch& scratch, u32 column, u32 n) const {
        Best best;
        u32 used = column < count ? min(groups, n) : 0;
        for (u32 g = 0; g < used; g++) {
            u32 slot = g * ITEMS * lanes + column;
            best.take(scratch.at[slot], scratch.row[slot]);
        }
        return best;
    }
};

// Column is a thread's copy of the state of a column that it owns.
struct Column {
    u32 j;
    bool outside = false;  // whether the column is outside the forest
    int tree, row, parent;
    u64 way;  // the way of the column's row, where a closure reached the column
    i64 dist, v;
    __device__ __forceinline__ void load(const Work& w, const Slice& s, u32 at) {
        j = s.base + min(at, s.count - 1);
        tree = w.tree[j];
        row = w.row[j];
        parent = w.parent[j];
        dist = w.dist[j];
        v = w.v[j];
        outside = at < s.count && tree == OUT;
    }
    // relax lowers the column's slack to the minimum found by a scan.
    __device__ __forceinline__ void relax(const Work& w, const Best& best) {
        if (!outside || best.at == NONE || best.at - v >= dist) return;
        w.dist[j] = dist = best.at - v;
        w.parent[j] = parent = best.row;
    }
};

// Batch holds the entries that a thread reads at once: its columns of ROWS rows of a list,
// numbers i, i + groups, and so on.
struct Batch {
    struct __align__(VECTOR * sizeof(T)) Vector { T of[VECTOR]; };
    Vector x[ROWS][ITEMS / VECTOR];

    __device__ __forceinline__ void load(const Work& w, const Costs& c, const Slice& s, const Entry* list, u32 i, u32 n) {
#pragma unroll
        for (u32 r = 0; r < ROWS; r++, i += s.groups) {
            if (i >= n) continue;
            const T* of = c.of + w.line(list[i].row) + s.base;
#pragma unroll
            for (u32 k = 0; k < ITEMS; k += VECTOR) {
                if (c.wide) x[r][k / VECTOR] = *(const Vector*)(of + min(s.column(k, true), s.count - VECTOR));
                else
#pragma unroll
                    for (u32 e = 0; e < VECTOR; e++) x[r][k / VECTOR].of[e] = of[min(s.column(k + e, false), s.count - 1)];
            }
        }
    }

    template <class Least>
    __device__ __forceinline__ void reduce(const Costs& c, const Slice& s, const Entry* list, u32 i, u32 n, Least (&least)[ITEMS]) const {
#pragma unroll
        for (u32 r = 0; r < ROWS; r++, i += s.groups) {
            if (i >= n) continue;
            Entry e = list[i];
#pragma unroll
            for (u32 k = 0; k < ITEMS; k++) least[k].take(c, x[r][k / VECTOR].of[k % VECTOR], e);
        }
    }
};

// minima reads the rows of a list, and writes each group's minima to scratch. The list
// passes through shared memory, BLOCK entries at a time; the first are there already. With
// AHEAD one batch is loaded while another is reduced; else rows are read one by one.
template <class Least, bool AHEAD>
__device__ __forceinline__ void minima(const Work& w, const Costs& c, const Slice& s, const Entry* list, u32 n, Scratch& scratch) {
    Least least[ITEMS];
    u32 step = s.groups * ROWS;
    for (u32 first = 0; first < n; first += BLOCK) {
        u32 here = min(n - first, BLOCK), i = s.group;
        if (first > 0) {
            __syncthreads();
            if (threadIdx.x < here) scratch.list[threadIdx.x] = list[first + threadIdx.x];
            __syncthreads();
        }
        if (i >= s.groups) continue;
        if (!AHEAD) {
#pragma unroll 1
            for (; i < here; i += s.groups) {
                const T* of = c.of + w.line(scratch.list[i].row) + s.base;
                for (u32 k = 0; k < ITEMS; k++) least[k].take(c, of[min(s.column(k, c.wide), s.count - 1)], scratch.list[i]);
            }
            continue;
        }
        Batch a, b;
        a.load(w, c, s, scratch.list, i, here);
        for (; i < here; i += 2 * step) {
            b.load(w, c, s, scratch.list, i + step, here);
            a.reduce(c, s, scratch.list, i, here, least);
            a.load(w, c, s, scratch.list, i + 2 * step, here);
            b.reduce(c, s, scratch.list, i + step, here, least);
        }
    }
    if (s.group < s.groups)
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u32 slot = s.group * ITEMS * s.lanes + s.column(k, c.wide);
            Best best = least[k];
            scratch.at[slot] = best.at;
            scratch.row[slot] = best.row;
        }
}

// scan finds, for every column of a slice, the least cost + key over the n rows of a list,
// and the row that has it. `e` is the thread's first entry of the list.
__device__ __forceinline__ void scan(const Work& w, const Costs& c, const Slice& s, const Entry* list, Entry e, u32 n, Scratch& scratch) {
    if (threadIdx.x < n) scratch.list[threadIdx.x] = e;
    if constexpr (INT32) {
        bool large = threadIdx.x < n && !Packed::fits(e);
        for (u32 i = threadIdx.x + BLOCK; i < n; i += BLOCK) large |= !Packed::fits(list[i]);
        if (__syncthreads_or(large)) minima<Best, false>(w, c, s, list, n, scratch);
        else minima<Packed, true>(w, c, s, list, n, scratch);
    } else {
        __syncthreads();
        minima<Best, true>(w, c, s, list, n, scratch);
    }
    __syncthreads();
}

}  // namespace VARIANT
