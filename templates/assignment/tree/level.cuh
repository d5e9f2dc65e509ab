// Scans of the rows that joined the forest, and the columns that join next.
#include "cuda/variant.cuh"

namespace VARIANT {

// join adds columns of a slice to the forest: those with zero slack, or in a step TAKE
// those that the closure has reached. The rows matched to these columns are listed for the
// next scan. A free column ends a path; a tree keeps the first. The result is the least slack
// of the columns still outside, plus the dual updates so far.
__device__ __forceinline__ i64 join(Work& w, const Slice& s, Column (&own)[OWN], const Turn& t, Slot* next, Scratch& scratch) {
    bool taken = t.stage == TAKE;
    Entry* open = w.open + (taken ? t.turn : t.turn ^ 1) * w.rows;
    i64 least = NONE;
    bool join[OWN];
#pragma unroll
    for (u32 o = 0; o < OWN; o++) {
        join[o] = own[o].outside && !taken && own[o].dist <= t.sum;
        u64 hop = taken && own[o].outside ? w.hop[own[o].j] : NOBODY;
        if (hop == NOBODY) continue;
        u32 j = own[o].j;
        join[o] = true;
        own[o].way = hop;
        w.hop[j] = NOBODY;
        w.dist[j] = own[o].dist = t.sum;
        w.parent[j] = own[o].parent = (int)rowOf(hop);
    }
    agree(w, s, own, join, taken, t.sum, scratch);
#pragma unroll
    for (u32 o = 0; o < OWN; o++) {
        if (!s.owned(o)) continue;
        u32 j = own[o].j;
        int row = own[o].row;
        bool grow = join[o] && row >= 0, found = false;
        Entry e = {0, row};
        u64 way = 0;
        if (join[o]) {
            u32 parent = (u32)own[o].parent;
            way = taken ? own[o].way : after(frontierRowOf(w.way[parent], parent), true);
            w.tree[j] = row >= 0 ? row : END;
        }
        if (join[o] && !taken) {
            add(w.reached, j);
            note(w, own[o].parent, j);
        }
        if (grow) {
            e.key = t.sum - w.u[row];
            w.way[row] = way;
        }
        if (join[o] && !grow) {
            u64 place = (u64)t.steps << 32 | j;
            u32 root = rootOf(way);
            found = atomicMin(w.winner + root, place) == NOBODY;
            w.done[root] = t.phases + 1;
            if (ONE) atomicMin(w.head->first + (t.phases & 1), place);
        }
        place(&next->found, found);
        u32 frontierRow, at;
        bool here = grow && w.here(row);
        placeFrontierRow(next, grow, here, frontierRow, at);
        if (grow && !taken) w.frontierRows[frontierRow] = frontierRowOf(way, (u32)row);
        if (here) open[at + (taken ? t.ready : 0)] = e;
        if (own[o].outside && !join[o]) least = lower(least, own[o].dist);
    }
    return least;
}

// sweep scans the listed rows, none after a dual update or a closure, and lets columns join;
// each block does so for its own columns. In a step REDUCE_COLUMNS it reduces the columns
// instead. `first` is the thread's first entry of the list, if it has one.
__device__ __forceinline__ void sweep(Work& w, const Costs& c, const Turn& t, Slot* next, Entry first, u32 listed, Scratch& scratch) {
    const Entry* list = w.open + t.turn * w.rows;
    u32 low = min(w.block * w.width, w.cols), high = min(low + w.width, w.cols);
    i64 least = NONE;
    for (u32 base = low; base < high; base += BLOCK * OWN) {
        Slice s(base, high);
        Column own[OWN];
        if (listed > 0) scan(w, c, s, list, first, listed, scratch);
#pragma unroll
        for (u32 o = 0; o < OWN; o++)
            if (s.owned(o)) own[o].load(w, s, threadIdx.x + o * BLOCK);
        if (t.stage == REDUCE_COLUMNS) {
            reduceColumns(w, s, scratch);
            continue;
        }
#pragma unroll
        for (u32 o = 0; o < OWN; o++)
            if (listed > 0 && s.owned(o)) own[o].relax(w, s.least(scratch, threadIdx.x + o * BLOCK, listed));
        least = lower(least, join(w, s, own, t, next, scratch));
    }
    count(w, listed);
    if (t.stage == REDUCE_COLUMNS) return;
    least = warpLeast(least);
    if (threadIdx.x % WARP == 0)
        w.least[((t.steps & 1) * w.blocks + w.block) * WARPS + threadIdx.x / WARP] = least;
}

// nearest returns the least slack, plus the dual updates so far, of columns that the step
// before has left outside the forest.
__device__ i64 nearest(Work& w, const Turn& t, Scratch& scratch) {
    u32 parts = w.blocks * WARPS;
    const i64* of = w.least + (~t.steps & 1) * parts;
    i64 least = NONE;
    for (u32 i = threadIdx.x; i < parts; i += BLOCK) least = lower(least, of[i]);
    least = warpLeast(least);
    if (threadIdx.x % WARP == 0) scratch.least[threadIdx.x / WARP] = least;
    u32 epoch = w.nextEpoch();
    __syncthreads();
    for (u32 i = 0; i < WARPS; i++) least = lower(least, scratch.least[i]);
    return nearestOfAll(w, least, epoch, scratch);
}

}  // namespace VARIANT
