// A member's part of a dual update, with its rows.
#include "cuda/variant.cuh"

namespace VARIANT {

// survey copies the set of reached columns from the head, and lists the member's rows in
// the forest; row i of the member is row origin + i of the head.
__device__ __forceinline__ void survey(const Work& m, const Work& head, u32 origin, Team team) {
    for (u32 w = team.thread; w < m.words; w += team.threads) m.reached[w] = head.reached[w];
    for (u32 first = team.warp * WARP; first < m.rows; first += team.warps * WARP) {
        u32 i = first + threadIdx.x % WARP;
        bool reached = i < m.rows && inForest(head, head.reached, origin + i);
        u32 at = enqueue(m.ctl->count, reached);
        if (reached) m.queue(0)[at] = i;
    }
}

// price finds the least uncovered slack of the n rows listed.
__device__ __forceinline__ void price(Part part, u32 n, SharedState& sharedState, Team team) {
    minimum(part.open(), 0, n, 0, sharedState, team);
}

// shift moves the duals by d, and writes the new zeros as edges. Without BOUNDED it searches
// the least slacks of all listed rows' chunks at once, for many loads in flight.
__device__ __noinline__ void shift(Part part, Edge* edges, u32 origin, u32 n, i64 d, Team team) {
    const Work m = part.open();
    for (u32 j = team.thread; j < m.cols; j += team.threads)
        if (m.covered[C::word(j)] & C::bit(j)) m.v[j] -= d;
    for (u32 x = team.thread; x < n; x += team.threads) m.u[m.queue(0)[x]] += d;
    if (team.thread == 0) m.ctl->bound += d;
    auto make = [&](u32 i, u32 w, u32 z) {
        u32 at = enqueue(m.ctl->count + 1, z != 0);
        if (z && at < m.edges()) edges[at] = {origin + i, w, z};
    };
    if constexpr (BOUNDED) {
        made(m, d, 0, team, make);
    } else {
        constexpr u32 AHEAD = 8;
        u32 lane = threadIdx.x % WARP, total = n * m.chunks;
        for (u32 first = team.warp * WARP; first < total; first += AHEAD * team.threads) {
            u32 row[AHEAD], chunk[AHEAD];
            i64 low[AHEAD];
#pragma unroll
            for (u32 k = 0; k < AHEAD; k++) {
                u32 at = first + k * team.threads + lane, x = at / m.chunks;
                chunk[k] = at - x * m.chunks, row[k] = at < total ? m.queue(0)[x] : NOWHERE;
            }
#pragma unroll
            for (u32 k = 0; k < AHEAD; k++) low[k] = row[k] != NOWHERE ? m.least[(u64)row[k] * m.chunks + chunk[k]] : INFINITE;
#pragma unroll
            for (u32 k = 0; k < AHEAD; k++)
                for (u32 hits = __ballot_sync(ALL, low[k] == d); hits != 0; hits &= hits - 1) {
                    int from = __ffs((int)hits) - 1;
                    u32 i = __shfl_sync(ALL, row[k], from), w = __shfl_sync(ALL, chunk[k], from) * WARP + lane;
                    make(i, w, m.fresh[(u64)i * m.words + w]);
                }
        }
    }
}

}  // namespace VARIANT
