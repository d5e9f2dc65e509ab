// The steps of a solve, and the transitions between them.
#include "cuda/variant.cuh"

namespace VARIANT {

// step makes the step that t names, and says whether another follows. All blocks compute
// the same t.
__device__ __forceinline__ bool step(Work& w, const Costs& c, Turn& t, bool warm, Scratch& scratch) {
    if (t.stage >= SOLVED) return false;
    const Slot* from = w.head->slot + t.steps % 3;
    Slot* next = w.head->slot + (t.steps + 1) % 3;
    Entry first = w.open[t.turn * w.rows + min(threadIdx.x, w.rows - 1)];  // loaded before the list's length is known, to overlap the loads
    u32 listed = from->frontier, joined = from->joined, kept = from->kept;
    t.before += from->found;
    if (w.leads()) {
        Slot* after = w.head->slot + (t.steps + 2) % 3;
        after->joined = after->frontier = after->found = after->kept = 0;
    }
    if (t.listed) {
        t.left = kept;
        t.side ^= 1;
        t.listed = 0;
        t.ready = listed;
        t.whole = joined;
        if (t.left == 0) t.stage = SOLVED;
    } else if (t.stage == CLOSE) {
        t.frontierRows = joined;
    } else if (t.stage == TAKEN) {
        t.ready += listed;
        t.whole += joined;
        t.stage = SEARCH;
    } else if (t.stage == SCANNED) {
        t.ready = listed;
        t.whole = t.frontierRows = joined;
        t.stage = joined > 0 ? CLOSE : SEARCH;
    }
    bool sweeps = false;
    switch (t.stage) {
    case REDUCE_ROWS:
        reduceRows(w, c, warm);
        t.left = w.rows;
        t.stage = w.rows == w.cols ? REDUCE_COLUMNS : ACCEPT;
        break;
    case REDUCE_COLUMNS:
        listed = w.mine;
        sweeps = true;
        break;
    case ACCEPT:
        accept(w, t, next);
        seek(w, c);
        t.listed = 1;
        t.stage = RENEW;
        break;
    case RENEW:
        if (t.phases == 0) meet(w, scratch);
        renew(w, next);
        t.stage = CLOSE;
        break;
    case CLOSE:
        if (w.block == 0 && w.keeps()) close(w, t, scratch.sharedState);
        else recall(w, true);
        t.stage = TAKE;
        break;
    case TAKE:
        listed = 0;
        sweeps = true;
        break;
    case SEARCH:
        sweeps = search(w, t, next, scratch);
        listed = t.ready;
        break;
    }
    if (sweeps) {
        sweep(w, c, t, next, first, listed, scratch);
        if (t.stage == TAKE) {
            t.stage = TAKEN;
        } else if (t.stage == SEARCH) {
            t.turn ^= 1;
            t.stage = SCANNED;
        } else {
            t.stage = ACCEPT;
        }
    }
    if (t.stage >= SOLVED) return false;
    t.steps++;
    return true;
}

}  // namespace VARIANT
