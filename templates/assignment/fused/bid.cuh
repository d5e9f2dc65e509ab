// Augmenting row reduction of all free rows at once, a warp a row: an auction with epsilon 0.
#include "cuda/variant.cuh"

namespace VARIANT {

// Bid holds a row's least two reduced costs, of all columns or of a lane's.
struct Bid {
    i64 least = NEVER, second = NEVER;  // reduced costs
    int at = NONE;                      // the column of the least
    bool taken = true;                  // whether that column has an owner
    // see adds a column. Of columns with equal costs one without an owner is preferred.
    __device__ __forceinline__ void see(i64 x, int j, bool owned) {
        if (x < least || (x == least && taken && !owned)) second = least, least = x, at = j, taken = owned;
        else if (x < second) second = x;
    }
};

// bid computes a row's bid: its gain is the difference of its second and its least reduced cost. A row without a gain makes
// no bid for a column with an owner. A whole warp calls.
__device__ __forceinline__ void bid(Team& team, const Costs& costs, u32 row) {
    u32 lane = team.thread % WARP;
    Bid b;
    for (u32 first = lane; first < team.cols; first += WARP * FLIGHT) {
        i64 x[FLIGHT];
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) x[f] = costs(row, first + f * WARP < team.cols ? first + f * WARP : first);
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) {
            u32 j = first + f * WARP;
            if (j < team.cols && x[f] != INFINITE) b.see(x[f] - team.v[j], (int)j, team.owner[j] >= 0);
        }
    }
    i64 least = warpLeast(b.least);
    bool mine = b.at != NONE && b.least == least;
    u32 best = __ballot_sync(ALL, mine && !b.taken);
    if (best == 0) best = __ballot_sync(ALL, mine);
    u32 chosen = best == 0 ? 0 : (u32)__ffs((int)best) - 1;
    i64 second = warpLeast(lane == chosen ? b.second : b.least);
    if (lane != chosen) return;
    i64 gain = second == NEVER ? 0 : second - least;
    team.u[row] = gain;
    team.claim[row] = gain == 0 && b.taken ? NONE : b.at;
    if (team.claim[row] != NONE) atomicMax(team.best + b.at, gain);
}

// bidding runs rounds of bids: of a column the row with the largest gain wins, of equal gains the first, and the owner before
// loses it.
__device__ __forceinline__ void bidding(Team& team, Columns& c, const Costs& costs) {
    for (u32 round = 0; round < ROUNDS; round++) {
        for (u32 j = team.thread; j < team.cols; j += TEAM) team.best[j] = -1, team.via[j] = ABSENT;
        sync();
        for (u32 from = team.thread / WARP; from < team.rows; from += TEAM) {
            u32 row = from + team.thread % WARP * WARPS;
            for (u32 todo = __ballot_sync(ALL, row < team.rows && team.column[row] == NONE); todo != 0; todo &= todo - 1)
                bid(team, costs, from + ((u32)__ffs((int)todo) - 1) * WARPS);
        }
        sync();
        for (u32 i = team.thread; i < team.rows; i += TEAM)
            if (team.claim[i] != NONE && team.u[i] == team.best[team.claim[i]]) atomicMin(team.via + team.claim[i], (int)i);
        sync();
        bool won = false;
        for (u32 i = team.thread; i < team.rows; i += TEAM) {
            int j = team.claim[i];
            if (j == NONE || team.via[j] != (int)i) continue;
            if (team.owner[j] != NONE) team.column[team.owner[j]] = NONE;
            team.owner[j] = (int)i, team.column[i] = j, team.claim[i] = NONE;
            team.v[j] -= team.u[i];
            won = true;
        }
        if (!any(won)) break;
    }
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 j = team.thread + k * TEAM;
        if (j >= team.cols) continue;
        c.v[k] = team.v[j], c.owner[k] = team.owner[j];
        if (c.owner[k] != NONE) c.cost[k] = costs((u32)c.owner[k], j), team.u[c.owner[k]] = c.cost[k] - c.v[k];
    }
    sync();
}

}  // namespace VARIANT
