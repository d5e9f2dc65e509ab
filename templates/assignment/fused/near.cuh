// Pairs within rounding, and whether some of them can make another matching.
#include "cuda/variant.cuh"

namespace VARIANT {

// A graph of the rows and of one node more, `rows`, for all free columns: row i leads to row r where the pair of i and r's
// column is within rounding, and to the last node where that of i and a free column is; the last leads to the rows
// whose columns could stay free. Another matching within rounding is a cycle.

// lead adds an edge.
__device__ __forceinline__ void lead(Team& team, u32 from, u32 to) { atomicOr(team.near + from * team.words + to / WARP, 1u << to % WARP); }

// clear removes all edges.
__device__ __forceinline__ void clear(Team& team) {
    for (u32 w = team.thread; w < (team.rows + 2) * team.words; w += TEAM) team.near[w] = 0;
}

// cyclic says whether the graph has a cycle: nodes that lead to none are deleted as long as there are some.
__device__ __forceinline__ bool cyclic(Team& team) {
    u32 nodes = team.rows + 1;
    u32* alive = team.near + nodes * team.words;
    for (u32 w = team.thread; w < team.words; w += TEAM) alive[w] = w < team.rows / WARP ? ALL : (2u << team.rows % WARP) - 1;
    sync();
    for (;;) {
        u32 stuck = 0, count = 0;  // bits: of the thread's nodes those that lead to none
        bool left = false;
        for (u32 i = team.thread; i < nodes; i += TEAM, count++) {
            if ((alive[i / WARP] >> i % WARP & 1) == 0) continue;
            bool leads = false;
            for (u32 w = 0; w < team.words; w++) leads = leads || (team.near[i * team.words + w] & alive[w]) != 0;
            left = left || leads;
            stuck |= (leads ? 0u : 1u) << count;
        }
        sync();
        count = 0;
        for (u32 i = team.thread; i < nodes; i += TEAM, count++)
            if ((stuck >> count & 1) != 0) atomicAnd(alive + i / WARP, ~(1u << i % WARP));
        sync();
        if (!any(left)) return false;
        if (!any(stuck != 0)) return true;
    }
}

}  // namespace VARIANT
