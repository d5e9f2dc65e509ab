// A level of the search by all blocks, where zeros are in lists.
#include "cuda/variant.cuh"

namespace VARIANT {

// Level is the n rows of the queue from position `head` on. Rows that these reach follow in the queue.
struct Level {
    u32* queue;
    u32 head, n, phase;
    u64* count;  // rows put into the queue, plus paths found << 32

    // claim adds column j to the reached columns, and says whether j was unreached before.
    __device__ __forceinline__ bool claim(const Work& m, u32 j) const {
        u32 bit = C::bit(j);
        return !(atomicOr(m.reached + C::word(j), bit) & bit);
    }
};

// FrontierRow is a row of the frontier with the lane's entry of its list of zeros: a column
// and its mate. The mate is the row matched to the column, NOBODY where the column is free,
// or HELD where the lane has no column to reach.
struct FrontierRow {
    u32 row, column;
    u64 way;
    bool going;  // whether the tree has no path yet
    int mate;

    // begin reads row x of the level, its way, and entry `at` of its list. Loads that do not
    // depend on one another overlap.
    __device__ __forceinline__ void begin(const Work& m, const Level& l, u32 x, u32 at) {
        row = l.queue[l.head + min(x, l.n - 1)];
        way = m.way[row];
        load(m, at);
        int end = __ldcg(m.end + rootOf(way));
        going = x < l.n & end == NOBODY;
    }
    __device__ __forceinline__ void load(const Work& m, u32 at) { column = at < LIST ? line(m, row)[at] : NOWHERE; }
};

// ends tries to end the path of the frontier row's tree in the free column j. The result is
// false when another tree took the column first.
__device__ __forceinline__ bool ends(const Work& m, const Level& l, const FrontierRow& t, u32 j) {
    u32 root = rootOf(t.way);
    if (atomicCAS(m.end + root, NOBODY, HELD) != NOBODY) return true;
    bool won = l.claim(m, j);
    if (won) {
        m.last[root] = (int)t.row;
        atomicAdd((u32*)l.count + 1, 1u);
        if (ONE) atomicMax(&m.ctl->winner, (u64)l.phase << 32 | root);
    }
    atomicExch(m.end + root, won ? (int)j : NOBODY);
    return won;
}

// grow lets the frontier rows of a warp reach their columns; the columns' mates join the
// next frontier.
template <u32 FRONTIER_ROWS> __device__ __forceinline__ void grow(const Work& m, const Level& l, FrontierRow (&frontierRows)[FRONTIER_ROWS]) {
    u32 lane = threadIdx.x % WARP, below = (1u << lane) - 1;
    u32 has[FRONTIER_ROWS], sum = 0, next = l.head + l.n;
#pragma unroll
    for (u32 i = 0; i < FRONTIER_ROWS; i++) frontierRows[i].mate = frontierRows[i].going && frontierRows[i].column != NOWHERE ? m.row[frontierRows[i].column] : HELD;
#pragma unroll
    for (u32 i = 0; i < FRONTIER_ROWS; i++)
        if (frontierRows[i].mate == NOBODY && ends(m, l, frontierRows[i], frontierRows[i].column)) frontierRows[i].going = false;
#pragma unroll
    for (u32 i = 0; i < FRONTIER_ROWS; i++) {
        has[i] = __ballot_sync(ALL, frontierRows[i].mate >= 0 && l.claim(m, frontierRows[i].column));
        sum += __popc(has[i]);
    }
    if (sum == 0) return;
    u32 place = lane == 0 ? atomicAdd((u32*)l.count, sum) : 0;
    place = __shfl_sync(ALL, place, 0);
#pragma unroll
    for (u32 i = 0; i < FRONTIER_ROWS; i++) {
        u32 mate = (u32)frontierRows[i].mate, to = next + place + __popc(has[i] & below);
        place += __popc(has[i]);
        if (!(has[i] >> lane & 1)) continue;
        m.way[mate] = after(frontierRowOf(frontierRows[i].way, frontierRows[i].row), true);
        l.queue[to] = mate;
    }
}

// spread divides the rows of a level among warps; LANES lanes work on FRONTIER_ROWS rows at
// once.
template <u32 LANES, u32 FRONTIER_ROWS> __device__ __forceinline__ void spread(const Work& m, const Level& l, Team team) {
    constexpr u32 SHARE = WARP / LANES;
    u32 apart = team.warps * SHARE, group = threadIdx.x % WARP / LANES;
    for (u32 first = team.warp * SHARE; first < l.n; first += FRONTIER_ROWS * apart) {
        FrontierRow frontierRows[FRONTIER_ROWS];
        u32 at = threadIdx.x % LANES;
#pragma unroll
        for (u32 i = 0; i < FRONTIER_ROWS; i++) frontierRows[i].begin(m, l, first + i * apart + group, at);
        for (bool more = true; more;) {
            grow(m, l, frontierRows);
            more = false;  // set below where a list may have entries after the group's last
#pragma unroll
            for (u32 i = 0; i < FRONTIER_ROWS; i++) more |= frontierRows[i].going && frontierRows[i].column != NOWHERE && at % LANES == LANES - 1;
            more = LANES < WARP && __any_sync(ALL, more);
            at += LANES;
#pragma unroll
            for (u32 i = 0; i < FRONTIER_ROWS; i++)
                if (more) frontierRows[i].load(m, at);
        }
    }
}

// level expands the rows head .. tail-1 of the queue: with 32 lanes a row if there are few
// rows, else with 8 or 4, which covers most lists. The level counts in count[turn % 3].
// level is not inlined, so that all registers are available to it.
__device__ __noinline__ void level(const Work& work, u32 side, u32 head, u32 tail, u64* count, u32 turn, u32 phase, Team team) {
    const Work m = work;
    if (team.thread == 0) count[(turn + 1) % 3] = 0;
    Level l = {m.queue(side), head, tail - head, phase, count + turn % 3};
    if (l.n <= team.warps) spread<32, 1>(m, l, team);
    else if (l.n <= team.warps * 4) spread<8, 1>(m, l, team);
    else if (l.n <= team.warps * 8) spread<4, 1>(m, l, team);
    else spread<4, 2>(m, l, team);
}

}  // namespace VARIANT
