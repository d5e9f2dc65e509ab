// The search level by level, and the step to the next phase, for kernels with a barrier of the grid.
#include "cuda/variant.cuh"

namespace VARIANT {

// search expands level after level. While a level has few rows, the first block alone
// expands levels, and then calls after().
template <class B, class F> __device__ __forceinline__ void search(const Work& m, State& s, SharedState& sharedState, B& barrier, Team team, bool first, F after) {
    Control* ctl = m.ctl;
    u32 few = narrow(m);
    while (s.searching()) {
        if (s.tail - s.head > few) {
            level(m, s.side, s.head, s.tail, ctl->count, s.turn, s.phase, team);
            barrier.sync();
            s.advance(ctl);
            s.levels++;
        } else {
            if (first) alone(m, s, sharedState), after();
            barrier.sync();
            s.head = ctl->head, s.tail = ctl->tail, s.found = ctl->found, s.levels = ctl->levels;
        }
    }
}

// nextPhase augments along the paths found, and begins a phase with the rest of the forest.
template <class B> __device__ __forceinline__ void nextPhase(const Work& m, State& s, B& barrier, Team team) {
    augment(m, s.side, s.tail, s.turn, team);
    barrier.sync();
    s.paths += ONE ? 1 : s.found;
    s.phase++, s.side ^= 1, s.tail = 0, s.found = 0;
    s.advance(m.ctl);
    s.roots = s.found;
    s.found = 0;
}

}  // namespace VARIANT
