// Growing the forest over known zeros, by one block, without the barrier of the grid between levels.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 NARROW = BLOCK / LIST;  // up to so many frontier rows, each zero has a lane
static_assert((POOL - 2 * SETS) / 4 >= NARROW * LIST, "what they reach has room");

// SearchWorkspace holds the data of a closure: sets, the lists of zeros, the ways of reached
// columns, and the frontier rows of two levels by turns, the first `room` of each in shared memory.
template <bool NEAR> struct SearchWorkspace {
    Sets<NEAR> sets;
    const uint2* lists;  // zeros: x is the column, y its mate
    u64 *hop, *near, *far;
    u32 room, rows, lane, *words;  // words: the thread's targets of fetch

    // end tries to end the path of a tree in a free column.
    __device__ __forceinline__ void end(u64 way, u32 j) const {
        u32 root = rootOf(way);
        if (STOPS && !sets.take(root)) return;  // the tree has its path, or another lane tries to end it
        if (add(sets.reached, j)) hop[j] = way;
        else if (STOPS) sets.leave(root);
    }

    // reach adds column j to the forest, and its mate to the frontier rows of the next level,
    // which are counted from `base` on. It starts to load the mate's list into the
    // multiprocessor's cache; the thread waits for that only when it needs its next zero.
    template <bool FITS> __device__ __forceinline__ void reach(u64 way, u32 j, u32 mate, u32 side, u32* count, u32 base) const {
        if (!add(sets.reached, j)) return;
        const u32* list = (const u32*)(lists + mate * LIST);
        u32 to = fetchAdd(count) - base;
        fetch(words, list), fetch(words + BLOCK, list + LIST);
        u64 next = frontierRowOf(way, mate);
        if (FITS || to < room) near[side * room + to] = next;
        else far[(u64)side * rows + to] = next;
        hop[j] = way;
    }

    // grow lets frontier row x reach columns; LIST lanes share the row, and a lane has one of
    // its zeros. The time of a level is that of its chain of instructions, which is kept short.
    // FITS says that the level has at most NARROW rows, and that shared memory has room for all
    // rows that it reaches; stops says that the frontier rows are stops.
    template <bool FITS> __device__ __forceinline__ void grow(u32 side, u32 x, bool stops, u32* count, u32 base) const {
        u64 frontierRow = FITS || x < room ? near[side * room + x] : far[(u64)side * rows + x];
        uint2 zero = lists[rowOf(frontierRow) * LIST + lane % LIST];
        u64 way = after(frontierRow, stops);
        fetched();
        if (STOPS && sets.has(rootOf(frontierRow))) return;
        if ((int)zero.y >= 0) reach<FITS>(way, zero.x, zero.y, side ^ 1, count, base);
        else if (zero.y == ALONE && zero.x != ALONE) end(way, zero.x);
    }
};

// closure grows the forest over known zeros, from the frontier rows on, until no row is left
// to expand; one block calls. hop receives the way of each reached column. Where several
// rows of a level have a zero in a column, timing decides which one reaches it. closure is
// not inlined, so that all registers are available to it.
template <bool NEAR> __device__ __noinline__ void closure(const Work& work, const Turn& t, SharedState& at, u32 thread) {
    const Work w = work;
    SharedState& sharedState = *inShared(&at);
    u32 n = t.frontierRows, side = 0, levels = 0, base = 0, other = 0;
    u32 words = NEAR ? (w.cols + 31) / 32 : 0, roots = NEAR ? (w.rows + 31) / 32 : 0, sets = (words + roots + 1) / 2 * 2;
    SearchWorkspace<NEAR> s = {Sets<NEAR>{NEAR ? sharedState.pool : w.reached, NEAR ? sharedState.pool + words : w.done, t.phases + 1},
                     (const uint2*)w.zeros, w.hop, (u64*)(sharedState.pool + sets), w.frontierRows, (POOL - sets) / 4, w.rows, thread % WARP, sharedState.fetched + thread};
    move<BLOCK, 4>(words, [&](u32 x) { return w.reached[x]; }, [&](u32 x, u32 set) { s.sets.reached[x] = set; });
    move<BLOCK, 4>(min(n, s.room), [&](u32 x) { return w.frontierRows[x]; }, [&](u32 x, u64 frontierRow) { s.near[x] = frontierRow; });
    for (u32 x = thread; x < roots; x += BLOCK) s.sets.ended[x] = 0;
    if (thread < 2) sharedState.count[thread] = 0;
    __syncthreads();
    if (NEAR && t.before > 0) {
        for (u32 x = thread; x < n; x += BLOCK) {
            u32 root = rootOf(w.frontierRows[x]);
            if (w.done[root] == s.sets.mark) s.sets.take(root);
        }
        __syncthreads();
    }
    // Levels alternate between two counters, which are never cleared: `base` and `other` hold their old values.
    auto next = [&] {
        __syncthreads();
        u32 all = *(volatile u32*)(sharedState.count + side);
        n = all - base;
        base = other, other = all;
        side ^= 1, levels++;
    };
    while (n > 0) {
        u32 x = thread / LIST;
        for (; n > 0 && n <= NARROW; next())
            if (x < n) s.template grow<true>(side, x, levels % LEAP == 0, sharedState.count + side, base);
        if (n == 0) break;
        for (; x < n; x += NARROW) s.template grow<false>(side, x, levels % LEAP == 0, sharedState.count + side, base);
        next();
    }
    for (u32 x = thread; x < words; x += BLOCK) w.reached[x] = s.sets.reached[x];
    fetched();
    if (thread == 0) w.head->levels += levels;
}

// close runs a closure, with sets in shared memory where they fit. One block calls.
__device__ __forceinline__ void close(const Work& w, const Turn& t, SharedState& sharedState) {
    if (w.rows <= SETS * 32 && w.cols <= SETS * 32) closure<true>(w, t, sharedState, threadIdx.x);
    else closure<false>(w, t, sharedState, threadIdx.x);
}

}  // namespace VARIANT
