// barrier=grid: the whole solve in one cooperative launch.
#include "cuda/variant.cuh"

namespace VARIANT {

// solve ends when every row is matched, when some row has no augmenting path, or after
// `budget` augmentations and dual updates, after which another launch continues.
extern "C" __global__ void __launch_bounds__(param::block, param::resident)
ENTRY(solve)(WORK_ARGS, unsigned long long budget) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    __shared__ SharedState sharedState;
    clear(sharedState);
    Control* ctl = m.ctl;
    GridBarrier grid((u32*)&ctl->word);
    Team team = everyone();
    u32 stage = ctl->stage;
    u64 scanned = ctl->scanned;
    State s(ctl);
    if (stage == START) {
        begin(m, team);
        grid.sync();
        reduceRows(m, team);
        grid.sync();
        greedy(m, team);
        grid.sync();
        s.advance(ctl);
        s.roots = s.tail;
        stage = s.roots == 0 ? MATCHED : SEARCH;
    } else {
        grid.sync();  // all threads have read the state that the last launch saved
    }
    for (; stage == SEARCH && budget > 0; budget--) {
        search(m, s, sharedState, grid, everyone(), blockIdx.x == 0, [] {});
        if (s.found != 0) {
            nextPhase(m, s, grid, everyone());
            if (s.roots == 0) stage = MATCHED;
        } else {
            minimum(m, s.side, s.tail, s.number, sharedState, team);
            grid.sync();
            scanned += s.tail;
            if (ctl->least[s.number % 2] >= INFINITE) {
                stage = STUCK;
                break;
            }
            update(m, s.side, s.tail, s.turn, s.phase, s.number, team);
            grid.sync();
            s.number++;
            s.advance(ctl);
        }
    }
    if (team.thread == 0) s.save(ctl, stage), ctl->scanned = scanned;
}

}  // namespace VARIANT
