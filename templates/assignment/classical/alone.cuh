// zeros=lists: the search of levels with few rows, by one block, without the barrier of the grid.
#include "cuda/variant.cuh"

namespace VARIANT {

// begin copies the sets, the frontier rows and, with NEAR, the mates to shared memory.
template <bool NEAR> __device__ __forceinline__ void begin(const SearchWorkspace<NEAR>& s, SharedState& sharedState, unsigned short* mates, const State& from) {
    const Work& m = s.m;
    u32 roots = (m.rows + 31) / 32;
    const u32* queue = s.queue + from.head;
    move<BLOCK, 4>(m.words, [&](u32 w) { return m.reached[w]; }, [&](u32 w, u32 set) { s.reached[w] = set; });
    move<BLOCK, 4>(from.tail - from.head, [&](u32 x) { return frontierRowOf(m.way[queue[x]], queue[x]); },
                   [&](u32 x, u64 frontierRow) { s.near[x] = frontierRow; });
    for (u32 x = threadIdx.x; x < roots; x += BLOCK) s.ended[x] = 0;
    if (threadIdx.x == 0) sharedState.tally = {};
    if (NEAR && sharedState.known != from.phase + 1)
        move<BLOCK, 16>(m.cols, [&](u32 j) { return m.row[j]; }, [&](u32 j, int row) { mates[j] = (unsigned short)row; });  // NOBODY is FREE
    __syncthreads();
    if (threadIdx.x == 0) sharedState.known = from.phase + 1;
    if (from.found == 0) return;
    for (u32 x = threadIdx.x; x < from.tail - from.head; x += BLOCK) {
        u32 root = rootOf(s.near[x]);
        if (m.end[root] != NOBODY) add(s.ended, root);
    }
    __syncthreads();
}

// aloneOf expands level after level in one block, while levels have few rows. It is not
// inlined, so that all registers are available to it.
template <bool NEAR> __device__ __noinline__ void aloneOf(const Work& work, const State& state, SharedState& at) {
    Work m = work;
    m.zeros = inGlobal(m.zeros), m.way = inGlobal(m.way), m.queues = inGlobal(m.queues), m.row = inGlobal(m.row);
    State z = state;
    SharedState& sharedState = *inShared(&at);
    unsigned short* mates = (unsigned short*)((char*)&sharedState + sharedState.room);
    u32 few = narrow(m), sets = setWords(m);
    SearchWorkspace<NEAR> s = {m, mates, sharedState.pool, sharedState.pool + m.words, (u64*)(sharedState.pool + sets), m.queue(z.side), sharedState.tally.frontierRows, &sharedState.tally.found,
                     (POOL - sets) / 4, z.phase, sharedState.fetched + threadIdx.x};
    Frontier f = {z.tail - z.head, 0, 0, z.tail, z.found != 0};
    begin(s, sharedState, mates, z);
    // Levels alternate between two counters, which are never cleared: `base` holds the old value.
    for (u32 other = 0; f.n > 0 && f.n <= few && !(ONE && f.ended);) {
        s.share(f);
        __syncthreads();
        Tally now = sharedState.tally;
        u32 all = now.frontierRows[f.side];
        f.ended |= now.found != 0;
        f.n = all - f.base, f.tail += f.n;
        f.base = other, other = all;
        f.side ^= 1, f.levels++;
    }
    fetched();
    move<BLOCK, 4>(m.words, [&](u32 w) { return s.reached[w]; }, [&](u32 w, u32 set) { m.reached[w] = set; });
    z.head = f.tail - f.n, z.tail = f.tail, z.found += sharedState.tally.found, z.levels += f.levels;
    z.leave(m.ctl);
}
__device__ __forceinline__ void alone(const Work& m, const State& s, SharedState& sharedState) {
    if (m.near) aloneOf<true>(m, s, sharedState);
    else aloneOf<false>(m, s, sharedState);
}

}  // namespace VARIANT
