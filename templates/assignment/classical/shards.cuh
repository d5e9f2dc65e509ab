// devices=many: kernels of the device that searches. Its Work has all rows, and no costs.
#include "cuda/variant.cuh"

namespace VARIANT {

// begun returns a Reach without its row, which the caller sets: rows reached go behind the
// queue's tail.
__device__ __forceinline__ Reach begun(const Work& m) {
    const Control* ctl = m.ctl;
    return {0, (u32)ctl->phases, (u32)ctl->tail, 0, m.ctl->count + ctl->turn % 3, m.queue(ctl->side)};
}

// absorb adds edges at(0) .. at(n-1) to the zeros of their rows, which reach columns over
// them; with `first` there is no forest yet, and rows only get the zeros.
template <class F> __device__ __forceinline__ void absorb(const Work& m, Reach r, u32 n, F at, bool first, Team team) {
    inTurn(n, team, [&](u32, bool has, u32 x) {
        Edge e = at(has ? x : 0);
        u64 way = first ? 0 : m.way[e.row];
        for (u32 all = __ballot_sync(ALL, has); all != 0; all &= all - 1) {
            int from = __ffs((int)all) - 1;
            u32 word = __shfl_sync(ALL, e.word, from), z = __shfl_sync(ALL, e.zeros, from);
            r.row = __shfl_sync(ALL, e.row, from);
            merge(m, r.row, word, z);
            if (first) continue;
            r.way = __shfl_sync(ALL, way, from);
            if (__all_sync(ALL, *(volatile int*)(m.end + rootOf(r.way)) == NOBODY)) reach(m, r, word, z & 1u << threadIdx.x % WARP);
        }
    });
}

// absorb adds edges that other devices have sent. The first of several calls for a dual
// update also deletes zeros of rows outside the forest; `again` marks the later calls.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(absorb)(WORK_ARGS, unsigned int* edges,
        unsigned long long count, unsigned long long first, unsigned long long again) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    Team team = everyone();
    Control* ctl = m.ctl;
    if (!first && !again) {
        if (team.thread == 0) ctl->count[(ctl->turn + 1) % 3] = ctl->late = 0, ctl->scanned += ctl->tail;
        forgetOthers(m, team);
    }
    absorb(m, begun(m), (u32)count, [&](u32 x) { return ((const Edge*)edges)[x]; }, first, team);
}

// receive adds the edges in the messages of all devices. Where a message lacks room for its
// edges, receive only sets `late`: the host then calls absorb, and searches wait for that. A
// search that goes on is STUCK where no finite slack is left.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(receive)(WORK_ARGS, unsigned long long* message, unsigned long long parts) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    Team team = everyone();
    Control* ctl = m.ctl;
    if (ctl->stage == MATCHED) return;
    const Message* from = (const Message*)message;
    bool stuck = from->d >= INFINITE, late = false;
    for (u64 k = 0; k < parts; k++) late |= from[k].count > MESSAGE_EDGES;
    if (stuck || late) {
        if (team.thread == 0 && stuck) ctl->stage = STUCK;
        if (team.thread == 0) ctl->late = late;
        return;
    }
    if (team.thread == 0) ctl->count[(ctl->turn + 1) % 3] = 0, ctl->scanned += ctl->tail;
    forgetOthers(m, team);
    for (u64 k = 0; k < parts; k++) absorb(m, begun(m), (u32)from[k].count, [&](u32 x) { return from[k].of[x]; }, false, team);
}

// match matches rows to free columns over zeros, greedily.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(match)(WORK_ARGS) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    Team team = everyone();
    if (team.thread == 0) m.ctl->count[1] = 0;
    for (u32 i = team.warp; i < m.rows; i += team.warps) {
        int taken = NOBODY;
        each(m, i, [&](u32 w, u32 z) {
            taken = take(m, i, w, z);
            return taken == NOBODY;
        });
        settle(m, i, taken);
    }
}

// search runs until every row is matched, or until all rows of the forest are expanded
// without a path. It begins with the rows that match, receive or absorb put into the queue.
extern "C" __global__ void __launch_bounds__(param::block, param::resident)
ENTRY(search)(WORK_ARGS) {
    __shared__ SharedState sharedState;
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    Control* ctl = m.ctl;
    GridBarrier grid((u32*)&ctl->word);
    Team team = everyone();
    u32 stage = ctl->stage;
    if (stage >= MATCHED || ctl->late) return;
    clear(sharedState);
    State s(ctl);
    grid.sync();
    s.advance(ctl);
    if (stage == START) s.roots = s.tail;
    else s.number++;
    stage = s.roots == 0 ? MATCHED : SEARCH;
    while (stage == SEARCH) {
        search(m, s, sharedState, grid, everyone(), blockIdx.x == 0, [] {});
        if (s.found == 0) break;
        nextPhase(m, s, grid, everyone());
        if (s.roots == 0) stage = MATCHED;
    }
    if (team.thread == 0) s.save(ctl, stage);
    for (u32 w = team.thread; w < m.words; w += team.threads) m.covered[w] = m.reached[w];
}

}  // namespace VARIANT
