// The start: reduction, first zeros, first matching.
#include "cuda/variant.cuh"

namespace VARIANT {

// begin initialises the matching, the sets and the zeros and, with `reduce`, computes the
// column minima.
__device__ void begin(const Work& m, Team team) {
    for (u32 w = team.thread; w < m.words; w += team.threads) {
        u32 pad = C::padding(w, m.cols);
        m.reached[w] = pad;
        m.open[w] = ~pad;
    }
    for (u32 j = team.thread; j < m.cols; j += team.threads) m.row[j] = NOBODY;
    for (u32 i = team.thread; i < m.rows; i += team.threads) m.column[i] = m.end[i] = NOBODY;
    clear(m, team);
    if (m.reduce) columnMinima(m.base, m.costs, m.scale, m.rows, m.cols, m.aligned, team);
}

// gather calls f(w, z) for the words w of row i's parts whose least slack is `low`; the bits
// z are the places with that slack.
template <class F> __device__ __forceinline__ void gather(const Work& m, u32 i, i64 low, F f) {
    u32 lane = threadIdx.x % WARP;
    for (u32 first = 0; first < m.parts; first += WARP) {
        u32 part = first + lane;
        u32 hits = __ballot_sync(ALL, part < m.parts && m.least[(u64)i * m.parts + part] == low);
        for (; hits != 0; hits &= hits - 1) {
            u32 p = first + (u32)__ffs((int)hits) - 1, w = p / PARTS * WARP + lane;
            f(w, m.fresh[(u64)i * m.words + w] & ALL >> (32 - PART) << p % PARTS * PART);
        }
    }
}

// take tries to match row i to a free column among the zeros z of word w. The result is the
// column, or NOBODY. Rows begin at different lanes and bits, so that two rows seldom compete
// for one column.
__device__ __forceinline__ int take(const Work& m, u32 i, u32 w, u32 z) {
    u32 lane = threadIdx.x % WARP;
    int taken = NOBODY;
    z &= *(volatile u32*)(m.open + w);
    for (;;) {
        u32 has = __ballot_sync(ALL, z != 0);
        if (has == 0) return NOBODY;
        u32 chosen = ((u32)__ffs((int)__funnelshift_r(has, has, i % WARP)) - 1 + i) % WARP;
        if (lane == chosen) {
            u32 turn = i / WARP % 32, k = ((u32)__ffs((int)__funnelshift_r(z, z, turn)) - 1 + turn) % 32, bit = 1u << k;
            if (atomicAnd(m.open + w, ~bit) & bit) taken = (int)C::column(w, k);
            z ^= bit;
        }
        taken = __shfl_sync(ALL, taken, (int)chosen);
        if (taken != NOBODY) return taken;
    }
}

// settle matches row i to the column it has taken, or makes it a root.
__device__ __forceinline__ void settle(const Work& m, u32 i, int taken) {
    bool first = threadIdx.x % WARP == 0, root = first && taken == NOBODY;
    if (first && !root) {
        m.column[i] = taken;
        m.row[taken] = (int)i;
    }
    u32 at = enqueue(m.ctl->count, root);
    if (root) {
        m.queue(0)[at] = i;
        m.way[i] = wayOf(i, i, i);
    }
}

// reduced returns the least slack of row i, and sets the row's dual to it.
__device__ __forceinline__ i64 reduced(const Work& m, u32 i) {
    u32 lane = threadIdx.x % WARP;
    i64 low = INFINITE;
    for (u32 p = lane; p < m.parts; p += WARP) low = min(low, m.least[(u64)i * m.parts + p]);
    low = warpLeast(low);
    if (lane == 0) m.u[i] = (STORED || BOUNDED ? 0 : m.floor) + (low < INFINITE ? low : 0);
    return low;
}

// greedy ends the reduction: it sets the rows' duals and zeros, and matches each row to a
// free column among its zeros. Rows without one are the first roots.
__device__ void greedy(const Work& m, Team team) {
    for (u32 j = team.thread; j < m.cols; j += team.threads)
        if (m.v[j] >= INFINITE) m.v[j] = 0;
    if (team.thread == 0) m.ctl->count[1] = 0;
    for (u32 i = team.warp; i < m.rows; i += team.warps) {
        i64 low = reduced(m, i);
        int taken = NOBODY;
        gather(m, i, low, [&](u32 w, u32 z) {
            extend(m, i, w, z);
            if (taken == NOBODY) taken = take(m, i, w, z);
        });
        settle(m, i, taken);
    }
}

}  // namespace VARIANT
