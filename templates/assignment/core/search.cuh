// The search: label correcting from all free rows at once. A column's word is its
// distance and its parent, the row from which the column was reached; an entry of a list is
// a row with its distance. Each update lowers a label, so that parents never form a cycle.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr int NONE_CLAIMED = 0x7fffffff;  // claim of a tree without a column

// clear starts a search: all columns are unreached, and all free rows are at distance 0.
template <class ThreadGroup> __device__ void clear(State& s, ThreadGroup& threadGroup) {
    for (u64 j = threadGroup.thread(); j < s.width; j += threadGroup.threads()) s.word[j] = NEVER, s.reached[j] = -1;
    u64 step = (u64)threadGroup.searchers() * BLOCK;
    for (u64 i = threadGroup.thread(); threadGroup.thread() < step && i < s.rows; i += step) {
        s.claim[i] = -1;
        if (s.match[i] >= 0) continue;
        threadGroup.put(s, ~0ull, i, s.control + COUNT);
        s.claim[i] = NONE_CLAIMED;
    }
    threadGroup.reduce(s);
    threadGroup.sync();
}

// watch lowers the bound while the other blocks search, and returns their result.
__device__ bool watch(State& s, const Everyone& threadGroup, u64 m) {
    __shared__ u64 over;
    for (;;) {
        if (threadIdx.x == 0)
            do over = acquire(s.control + OVER);
            while (!over && acquire(s.control + REACHED) < m);
        __syncthreads();
        u64 end = over;
        __syncthreads();
        if (end) return end == 1;
        tighten(s, threadGroup, m);
    }
}

// share appends the rows that a block has reached beyond its SLOTS to the list of all blocks.
__device__ __forceinline__ void share(const State& s, const Everyone& threadGroup, u32 side) {
    LocalQueue& f = threadGroup.localQueue;
    u32 most = min(f.filled[side], ROOM);
    if (threadIdx.x == 0) f.place = count(s.control + COUNT + side, most - SLOTS);
    __syncthreads();
    for (u32 at = SLOTS + threadIdx.x; at < most; at += BLOCK) threadGroup.give(s, side, f.place + at - SLOTS, f.own[side][at]);
    __threadfence();
    __syncthreads();
}

// search grows the forest, step by step, until no row within the bound is left. The result
// is false where the lists are too short, or after more steps than a shortest path has rows,
// which only infeasible duals cause. In a step a block relaxes the edges of the rows that the
// block has reached in the step before, and of its part of the rows that blocks have shared;
// loads of its own rows overlap with the wait for the other blocks. A step takes two and a
// half round trips to L2 before distances change, or the time of the blocks' barrier if longer.
__device__ bool search(State& s, Everyone& threadGroup, u64 m) {
    u32 blocks = threadGroup.searchers(), slot = threadIdx.x / LANES, given[2] = {0, 0};
    if (blockIdx.x >= blocks) return watch(s, threadGroup, m);
    // Go: Shared
    constexpr u32 SHARED = 1 << 24;  // added to the sum for each block that shares rows; a sum so large without any only costs a read
    bool waits = threadIdx.x == BLOCK - WARP, hasSlot = slot < SLOTS;
    LocalQueue& f = threadGroup.localQueue;
    GridSum sum(s.control + SUM, blocks);
    bool whole;
    u64 t = 0;
    for (;; t++) {
        u32 side = t % 2, reached = f.filled[side], mine = min(reached, SLOTS);
        if (reached > SLOTS) share(s, threadGroup, side);
        if (waits) f.filled[side ^ 1] = 0, sum.arrive(reached > SLOTS ? reached + SHARED : reached);
        u64 bound = __ldcg(s.control + BOUND);
        Visit visit;
        if (slot < mine) visit.load(s, f.own[side][slot], bound);
        if (waits) f.sum = sum.wait();
        __syncthreads();
        whole = f.sum == 0;
        if (whole || t > s.rows) break;
        u32 from = given[side], others = 0;
        if (f.sum >= SHARED) given[side] = (u32)__ldcg(s.control + COUNT + side), others = given[side] - from;
        if (slot < mine) visit.relax(s, threadGroup, t, bound);
        if (others > s.capacity) break;
        u64 turn = (slot + SLOTS - mine) % SLOTS;  // unused slots take the first shared rows
        for (u64 at = turn * blocks + blockIdx.x; hasSlot && at < others; at += (u64)SLOTS * blocks) {
            visit.load(s, __ldcg(s.lists + side * s.capacity + (u32)(from + at) % s.capacity), bound);
            visit.relax(s, threadGroup, t, bound);
        }
        __syncthreads();
        if (gridDim.x == 1 && t % 4 == 3) tighten(s, threadGroup, m);
    }
    if (thread() == 0) s.control[STEPS] += t, coalesce::release(s.control + OVER, whole ? 1ull : 2ull);
    return whole;
}

}  // namespace VARIANT
