// Augmenting row reduction of all free rows at once, a warp a row: an auction with epsilon 0.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 READ = WARPS * EACH < 16 ? WARPS * EACH : 16;  // costs of a row that a lane loads at once

// bid computes a row's bid: its gain is the difference of its second and its least reduced cost. Of columns with equal costs one
// without an owner is preferred, of several of these each row has another first, so that not all bid for the same; and a row without a gain makes no bid
// for a column with an owner. A whole warp calls.
__device__ __forceinline__ void bid(Team& team, const Costs& costs, u32 row) {
    u32 lane = team.thread % WARP;
    i64 least = NEVER, second = NEVER;  // of the lane's columns: twice the reduced cost, and one more where the column has an owner
    int at = NONE;                      // the column of the least
    u32 blocks = (team.cols + WARP * READ - 1) / (WARP * READ), block = row / WARP % blocks, turn = row % WARP;
    for (u32 left = blocks; left > 0; left--, block = block + 1 == blocks ? 0 : block + 1) {
        u32 first = lane + block * WARP * READ;
        Costs::Number read[READ];
#pragma unroll
        for (u32 f = 0; f < READ; f++) read[f] = costs.read(row, min(first + f * WARP, team.cols - 1));
#pragma unroll
        for (u32 f = 0; f < READ; f++) {
            u32 j = first + f * WARP, i = min(j, team.cols - 1);
            i64 x = costs.scaled(read[f]), key = (x - team.v[i]) * 2 + (team.owner[i] >= 0);
            if (j >= team.cols || x == INFINITE) key = NEVER;
            at = key < least ? (int)j : at;
            second = min(second, max(least, key));
            least = min(least, key);
        }
    }
    i64 best = warpLeast(least);
    u32 bests = __ballot_sync(ALL, least == best), chosen = ((u32)__ffs((int)__funnelshift_r(bests, bests, turn)) - 1 + turn) % WARP;
    i64 other = warpLeast(lane == chosen ? second : least);
    if (lane != chosen) return;
    i64 gain = other == NEVER ? 0 : (other >> 1) - (best >> 1);
    team.u[row] = gain;
    team.claim[row] = best == NEVER || (gain == 0 && (best & 1) != 0) ? NONE : at;
    if (team.claim[row] != NONE) atomicMax(team.best + at, gain);
}

// listFree lists the rows without a column where all warps see them; the answer is how many there are. A barrier follows.
__device__ __forceinline__ void listFree(Team& team, u32& count) {
    for (u32 from = 0; from < team.rows; from += TEAM) {
        u32 i = from + team.thread;
        u32 free = __ballot_sync(ALL, i < team.rows && team.column[i] == NONE), place = 0;
        if (free != 0 && team.thread % WARP == 0) place = atomicAdd(&count, (u32)__popc(free));
        place = __shfl_sync(ALL, place, 0) + (u32)__popc(free & ((1u << team.thread % WARP) - 1));
        if ((free >> team.thread % WARP & 1) != 0) team.list[place] = i;
    }
}

// bidding runs rounds of bids: of a column the row with the largest gain wins, of equal gains the first, and the owner before
// loses it.
__device__ __forceinline__ void bidding(Team& team, Columns& c, const Costs& costs) {
    __shared__ u32 counts[2];  // of free rows, of this round and the next
    if (team.thread < 2) counts[team.thread] = 0;
    sync();
    listFree(team, counts[0]);
    for (u32 round = 0; round < ROUNDS; round++) {
        for (u32 j = team.thread; j < team.cols; j += TEAM) team.best[j] = -1, team.via[j] = ABSENT;
        sync();
        u32 count = counts[round % 2];
        for (u32 k = team.thread / WARP; k < count; k += WARPS) bid(team, costs, team.list[k]);
        sync();
        if (team.thread == 0) counts[round % 2] = 0;
        for (u32 k = team.thread; k < count; k += TEAM) {
            u32 i = team.list[k];
            if (team.claim[i] != NONE && team.u[i] == team.best[team.claim[i]]) atomicMin(team.via + team.claim[i], (int)i);
        }
        sync();
        bool won = false;
        for (u32 k = team.thread; k < count; k += TEAM) {
            u32 i = team.list[k];
            int j = team.claim[i];
            if (j == NONE || team.via[j] != (int)i) continue;
            if (team.owner[j] != NONE) team.column[team.owner[j]] = NONE;
            team.owner[j] = (int)i, team.column[i] = j;
            team.v[j] -= team.u[i];
            won = true;
        }
        if (!any(won)) break;
        listFree(team, counts[(round + 1) % 2]);
    }
    sync();
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
