// Augmenting row reduction of all free rows at once: an auction with epsilon 0.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 READ = WARPS * EACH < 16 ? WARPS * EACH : 16;  // costs of a row that a lane loads at once

// groupLeast returns the least x of a group of lanes, to each of them.
__device__ __forceinline__ i64 groupLeast(i64 x) {
#pragma unroll
    for (u32 d = GROUP / 2; d > 0; d >>= 1) x = min(x, __shfl_xor_sync(ALL, x, d));
    return x;
}

// enter notes the bid of a row for column j: its gain, the difference of the second and the least reduced cost. A key is twice
// the reduced cost, and one more where the column has an owner: a row without a gain makes no bid for such a column.
__device__ __forceinline__ void enter(Team& team, i64* best, u32 row, int j, i64 key, i64 second) {
    i64 gain = second == NEVER ? 0 : second - (key >> 1);
    bool none = key == NEVER || (gain == 0 && (key & 1) != 0);
    team.u[row] = gain;
    team.claim[row] = none ? NONE : j;
    if (!none) atomicMax(best + j, gain);
}

// bidOfAll computes the bid of a row from all of its costs. Of columns with equal costs one without an owner is preferred, of several
// of these each row has another first, so that not all bid for the same. A whole warp calls.
__device__ __forceinline__ void bidOfAll(Team& team, const Costs& costs, i64* bestGains, u32 row) {
    u32 lane = team.thread % WARP;
    i64 least = NEVER, second = NEVER;  // keys of the lane's columns
    int at = NONE;                      // the column of the least
    u32 blocks = (team.cols + WARP * READ - 1) / (WARP * READ), block = row / WARP % blocks, turn = row % WARP;
    for (u32 left = blocks; left > 0; left--, block = block + 1 == blocks ? 0 : block + 1) {
        u32 first = lane + block * WARP * READ;
        Number read[READ];
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
    if (lane == chosen) enter(team, bestGains, row, at, best, other == NEVER ? NEVER : other >> 1);
}

// bid computes the bids of the rows at places `from` and `from + 1` of `count` in the queue, a group of lanes each, from their lists. Where the second column
// may be one outside the list, the bar is its bound. Where the first may be, all columns are read.
__device__ __forceinline__ void bid(Team& team, const Costs& costs, i64* bestGains, const u32* queue, u32 from, u32 count) {
    u32 lane = team.thread % WARP, group = lane / GROUP, member = lane % GROUP;
    u32 row = queue[min(from + group, count - 1)];
    Place j = member < team.slots ? team.places[row * team.slots + member] : EMPTY;
    i64 key = NEVER;
    if (j != EMPTY) key = (costs.scaled(team.listed[row * team.slots + member]) - team.v[j]) * 2 + (team.owner[j] >= 0);
    i64 best = groupLeast(key), bar = team.bar[row];
    u32 bests = __ballot_sync(ALL, key == best) >> group * GROUP, chosen = (u32)__ffs((int)bests) - 1;
    i64 other = groupLeast(member == chosen ? NEVER : key);
    bool mine = from + group < count, open = mine && (best == NEVER ? bar != NEVER : best >> 1 > bar);
    if (mine && !open && member == chosen) enter(team, bestGains, row, j, best, min(other == NEVER ? NEVER : other >> 1, bar));
    for (u32 rest = __ballot_sync(ALL, open); rest != 0;) {
        u32 at = (u32)__ffs((int)rest) - 1;
        bidOfAll(team, costs, bestGains, __shfl_sync(ALL, row, at));
        rest &= ~(((1u << GROUP) - 1) << at / GROUP * GROUP);
    }
}

// listFree puts the rows without a column into a queue.
__device__ __forceinline__ void listFree(Team& team, u32* queue, u32& count) {
    for (u32 from = 0; from < team.rows; from += TEAM) {
        u32 i = from + team.thread;
        u32 free = __ballot_sync(ALL, i < team.rows && team.column[i] == NONE), place = 0;
        if (free != 0 && team.thread % WARP == 0) place = atomicAdd(&count, (u32)__popc(free));
        place = __shfl_sync(ALL, place, 0) + (u32)__popc(free & ((1u << team.thread % WARP) - 1));
        if ((free >> team.thread % WARP & 1) != 0) queue[place] = i;
    }
}

// bidding runs rounds of bids, by lists or by all columns: of a column the row with the largest gain wins, of equal gains the first, and the owner before
// loses it.
template <bool BY_LISTS> __device__ __forceinline__ void bidding(Team& team, Columns& c, const Costs& costs) {
    __shared__ u32 counts[2];  // of free rows, of this round and the next
    if (team.thread < 2) counts[team.thread] = 0;
    for (u32 j = team.thread; j < team.cols; j += TEAM) team.best[j] = -1, team.winner[j] = ABSENT;
    sync();
    listFree(team, team.queue, counts[0]);
    sync();
    for (u32 round = 0; round < (BY_LISTS ? LIST_ROUNDS : ROUNDS); round++) {
        u32 now = round % 2, then = 1 - now, count = counts[now];
        i64 *best = team.best + now * team.cols, *nextBest = team.best + then * team.cols;
        int *winner = team.winner + now * team.cols, *nextWinner = team.winner + then * team.cols;
        u32 *queue = team.queue + now * team.rows, *next = team.queue + then * team.rows;
        if (count == 0) break;
        if constexpr (BY_LISTS)
            for (u32 k = team.thread / WARP * 2; k < count; k += WARPS * 2) bid(team, costs, best, queue, k, count);
        else
            for (u32 k = team.thread / WARP; k < count; k += WARPS) bidOfAll(team, costs, best, queue[k]);
        if (team.thread == 0) counts[then] = 0;
        sync();
        for (u32 j = team.thread; j < team.cols; j += TEAM) nextBest[j] = -1, nextWinner[j] = ABSENT;
        for (u32 k = team.thread; k < count; k += TEAM) {
            u32 i = queue[k];
            if (team.claim[i] != NONE && team.u[i] == best[team.claim[i]]) atomicMin(winner + team.claim[i], (int)i);
        }
        sync();
        bool won = false;
        for (u32 k = team.thread; k < count; k += TEAM) {
            u32 i = queue[k], left = i;
            int j = team.claim[i];
            if (j != NONE && winner[j] == (int)i) {
                left = (u32)team.owner[j];
                if ((int)left != NONE) team.column[left] = NONE;
                team.owner[j] = (int)i, team.column[i] = j;
                team.v[j] -= team.u[i];
                won = true;
            }
            if ((int)left != NONE) next[atomicAdd(counts + then, 1u)] = left;
        }
        if (!any(won)) break;
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
