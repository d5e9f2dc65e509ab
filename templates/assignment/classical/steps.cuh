// Dual update and augmentation.
#include "cuda/variant.cuh"

namespace VARIANT {

// inTurn divides the numbers 0 .. n-1 among warps, in shares of at most WARP, and calls
// f(first, has, x) for each share: a lane has the number x = first + lane, if `has`.
template <class F> __device__ __forceinline__ void inTurn(u32 n, Team team, F f) {
    u32 share = min((n + team.warps - 1) / team.warps, WARP), lane = threadIdx.x % WARP;
    for (u32 first = team.warp * share; first < n; first += team.warps * share)
        f(first, lane < share && first + lane < n, first + lane);
}

// inForest says whether row i is in the forest, given the set of the forest's columns: free
// rows are roots, and matched rows joined together with their columns.
__device__ __forceinline__ bool inForest(const Work& m, const u32* columns, u32 i) {
    int j = m.column[i];
    return j == NOBODY || columns[C::word(j)] & C::bit(j);
}

// forgetOthers deletes the zeros in covered columns of rows outside the forest: the dual
// update raises these slacks.
__device__ __forceinline__ void forgetOthers(const Work& m, Team team) {
    inTurn(m.rows, team, [&](u32 first, bool has, u32 i) { forget(m, first, __ballot_sync(ALL, has && !inForest(m, m.covered, i))); });
}

// remember loads the matching into the cache again, from which the pass over the costs has
// driven it; the search reads the matching next.
__device__ __forceinline__ void remember(const Work& m, Team team) {
    constexpr u32 LINE = 32;
    for (u32 x = team.thread * LINE; x < max(m.rows, m.cols); x += team.threads * LINE) {
        if (x < m.rows) (void)*(volatile int*)(m.column + x), (void)*(volatile int*)(m.end + x);
        if (x < m.cols) (void)*(volatile int*)(m.row + x);
    }
}

// update moves the duals by d, the least uncovered slack: u of the first `tail` rows of the
// queue rises, v of covered columns falls. Rows of the forest get new zeros and reach columns
// over them; other rows lose their zeros in covered columns.
__device__ void update(const Work& m, u32 side, u32 tail, u32 turn, u32 phase, u64 number, Team team) {
    Control* ctl = m.ctl;
    i64 d = ctl->least[number % 2];
    if (team.thread == 0) {
        ctl->least[(number + 1) % 2] = INFINITE;
        ctl->count[(turn + 1) % 3] = 0, ctl->hits[(number + 1) % 2] = 0;
        ctl->bound += d;
    }
    for (u32 j = team.thread; j < m.cols; j += team.threads)
        if (m.covered[C::word(j)] & C::bit(j)) m.v[j] -= d;
    if constexpr (!BOUNDED) remember(m, team);
    if (d != 0) forgetOthers(m, team);
    Reach r = {0, phase, tail, 0, ctl->count + turn % 3, m.queue(side)};
    if constexpr (BOUNDED) {
        for (u32 x = team.thread; x < tail; x += team.threads) m.u[r.queue[x]] += d;
        made(m, d, number, team, [&](u32 i, u32 w, u32 z) {
            r.row = i, r.way = m.way[i];
            for (u32 has = __ballot_sync(ALL, z != 0); has != 0; has &= has - 1) {
                int from = __ffs((int)has) - 1;
                merge(m, i, __shfl_sync(ALL, w, from), __shfl_sync(ALL, z, from));
            }
            if (__all_sync(ALL, *(volatile int*)(m.end + rootOf(r.way)) == NOBODY)) reach(m, r, w, z);
        });
    } else {
        inTurn(tail, team, [&](u32, bool has, u32 x) {
            u32 mine = has ? r.queue[x] : 0;
            if (has) m.u[mine] += d;
            for (u32 all = __ballot_sync(ALL, has); all != 0; all &= all - 1) {
                u32 i = r.row = __shfl_sync(ALL, mine, __ffs((int)all) - 1);
                bool fresh = true, going = false;
                gather(m, i, d, [&](u32 w, u32 z) {
                    if (fresh) {
                        fresh = false, r.way = m.way[i];
                        going = __all_sync(ALL, *(volatile int*)(m.end + rootOf(r.way)) == NOBODY);
                    }
                    extend(m, i, w, z);
                    going = going && reach(m, r, w, z);
                });
            }
        });
    }
}

// augment augments along the paths found. Rows of trees without a path move to the other
// queue, with KEPT all of these rows, else the roots alone; count's high half counts the
// roots. Columns of trees with a path become unreached.
__device__ void augment(const Work& m, u32 side, u32 tail, u32 turn, Team team) {
    Control* ctl = m.ctl;
    u64* count = ctl->count + turn % 3;
    if (team.thread == 0) ctl->count[(turn + 1) % 3] = 0;
    u32 lane = threadIdx.x % WARP, winner = (u32)ctl->winner;
    Trees trees = {m.column, m.row, m.way};
    for (u32 first = team.warp; first < tail; first += team.warps * WARP) {
        u32 x = first + lane * team.warps;  // spreads few paths over many warps
        bool has = x < tail;
        u32 i = has ? m.queue(side)[x] : 0, root = has ? rootOf(m.way[i]) : 0;
        int end = has ? m.end[root] : NOBODY;
        u32 from = 0;
        bool flips = ONE ? root == winner : end != NOBODY, isRoot = has && root == i;
        bool stays = has && !flips && (KEPT || isRoot);
        u32 at = enqueue(count, stays);
        u32 roots = __ballot_sync(ALL, stays && isRoot);
        if (lane == 0 && roots != 0) atomicAdd(count, (u64)__popc(roots) << 32);
        if (stays) {
            m.queue(1 - side)[at] = i;
            if (ONE) m.end[i] = NOBODY;
        }
        if (KEPT && has && !stays) {
            int j = m.column[i];  // where another thread flips the path meanwhile, another column of the same tree
            if (j != NOBODY) atomicAnd(m.reached + C::word(j), ~C::bit(j));
        }
        flips = flips && isRoot;
        if (flips) from = (u32)m.last[i], atomicAnd(m.open + C::word(end), ~C::bit(end));
        flipAll(trees, from, i, flips ? end : NOBODY, [&](int j) {
            if (KEPT) atomicAnd(m.reached + C::word(j), ~C::bit(j));
        });
    }
    if constexpr (!KEPT)
        for (u32 w = team.thread; w < m.words; w += team.threads) m.reached[w] = C::padding(w, m.cols);
}

}  // namespace VARIANT
