// A phase's end: paths and duals.
#include "cuda/variant.cuh"

namespace VARIANT {

// augment ends a phase: it augments along the winners' paths, which are vertex-disjoint, one
// a tree. The duals of the forest's rows rise by the dual updates made since they joined, and
// those of its columns fall by as much. Rows still free are listed for the next phase; trees
// without a path stay.
__device__ void augment(const Work& w, const Turn& t, Slot* next) {
    Trees trees = {w.column, w.row, w.way};
    for (u32 base = 0; base < t.left; base += w.blocks * BLOCK) {
        // Spreads few rows over many warps, from the last warps on, which have no columns below.
        u32 i = base + (threadIdx.x % WARP * WARPS + WARPS - 1 - threadIdx.x / WARP) * w.blocks + w.block;
        bool keep = false;
        int row = 0, end = -1;
        if (i < t.left) {
            row = w.free[t.side * w.rows + i];
            w.u[row] += t.sum;
            w.rise[row] = t.sum;
            u64 winner = w.winner[row];
            w.winner[row] = NOBODY;
            keep = ONE ? winner != w.head->first[t.phases & 1] : winner == NOBODY;
            if (!keep) end = (int)(u32)winner;
        }
        flipAll(trees, (u32)(end >= 0 ? w.parent[end] : 0), (u32)row, end, [](int) {});
        list(w, t, next, row, keep);
    }
    u32 low = w.block * w.width, high = min(low + w.width, w.cols);
    for (u32 base = low; base < high; base += BLOCK) {
        u32 j = base + threadIdx.x;
        int row = j < high ? w.tree[j] : OUT;
        bool stays = row >= 0 && w.done[rootOf(w.way[row])] != t.phases + 1;
        i64 gain = row >= 0 ? t.sum - w.dist[j] : 0;
        if (gain != 0) {
            w.v[j] -= gain;
            w.u[row] += gain;
            w.rise[row] = gain;
        }
        if (j < high) {
            w.gain[j] = gain;
            w.dist[j] = stays ? 0 : NONE;
            if (row != OUT && !stays) {
                w.tree[j] = OUT;
                atomicAnd(w.reached + j / 32, ~(1u << j % 32));
            }
        }
        plant(w, next, row, stays);
    }
    if (ONE && w.leads()) w.head->first[~t.phases & 1] = NOBODY;
}

// search begins a step of the alternating tree search, and says whether a sweep follows.
// Where paths were found, the step augments along them and ends the phase. Some rows that
// joined are then unscanned, but no dual has changed since. Otherwise, where all rows are
// scanned, the step is a dual update.
__device__ bool search(Work& w, Turn& t, Slot* next, Scratch& scratch) {
    if (t.before > 0) {
        augment(w, t, next);
        t.phases++;
        t.paths += ONE ? 1 : t.before;
        t.sum = 0;
        t.turn = t.before = 0;
        t.listed = 1;
        t.stage = RENEW;
        return false;
    }
    if (t.whole == 0) {
        t.sum = nearest(w, t, scratch);
        recall(w, false);
        t.updates++;
    }
    if (t.sum == NONE) {
        t.stage = STUCK;
        return false;
    }
    return true;
}

}  // namespace VARIANT
