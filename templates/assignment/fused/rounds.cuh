// Shortest augmenting paths by rounds, in which each warp looks at a row.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 FREE_COLUMN = 1u << 31;      // marks a slot's free column; else it holds a row
constexpr u32 BUNCH = EACH > 1 ? 4 : 8;    // rows whose costs a thread loads at once

// offer writes the nearest column of the warp that is open, free or with a path shorter than when its owner's row was last read, to
// the warp's slot: a free column, or the owner's row, which is then read. Of columns at one distance free ones come first.
__device__ __forceinline__ void offer(Columns& c, u32 thread, Slot& slot) {
    i64 distance = NEVER, base = 0;
    u32 key = 0, at = 0;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        bool free = c.owner[k] < 0;
        if ((c.open >> k & 1) == 0 || c.distance[k] > distance || (c.distance[k] == distance && (!free || key >= FREE_COLUMN))) continue;
        distance = c.distance[k], base = distance - (c.cost[k] - c.v[k]), at = k;
        key = free ? FREE_COLUMN | (thread + k * TEAM) : (u32)c.owner[k];
    }
    i64 least = warpLeast(distance);
    u32 nearest = __ballot_sync(ALL, distance == least), free = __ballot_sync(ALL, distance == least && key >= FREE_COLUMN);
    if (thread % WARP + 1 != (u32)__ffs((int)(free != 0 ? free : nearest))) return;
    slot = {least, base, key};
    if (key < FREE_COLUMN) c.open &= ~(1u << at);
}

// relaxAll shortens paths by the rows that some warps of a small team offer, `rows` by their bits. Rows of the other warps are read as
// if they were longer: without branches, lengths do not wait for one another.
__device__ __forceinline__ void relaxAll(Team& team, Columns& c, const Costs& costs, const Slot* slots, u32 rows) {
    Number read[WARPS][EACH] = {};
#pragma unroll
    for (u32 w = 0; w < WARPS; w++)
        if ((rows >> w & 1) != 0) {
#pragma unroll
            for (u32 k = 0; k < EACH; k++) read[w][k] = costs.read(slots[w].key, min(team.thread + k * TEAM, team.cols - 1));
        }
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        i64 least = c.distance[k];
        u32 nearest = WARPS;
#pragma unroll
        for (u32 w = 0; w < WARPS; w++) {
            i64 x = costs.scaled(read[w][k]), length = slots[w].most + x - c.v[k];
            if ((rows >> w & 1) == 0 || x == INFINITE) length = NEVER;
            nearest = length < least ? w : nearest;
            least = min(least, length);
        }
        if (nearest == WARPS || (c.valid >> k & 1) == 0) continue;
        c.distance[k] = least, c.open |= 1u << k;
        team.via[team.thread + k * TEAM] = (int)slots[nearest].key;
    }
}

// relaxSome does the same, a row after the other: of many warps some offer none, and instructions are what takes time.
__device__ __forceinline__ void relaxSome(Team& team, Columns& c, const Costs& costs, const Slot* slots, u32 rows) {
    while (rows != 0) {
        Number read[BUNCH][EACH];
        u32 left = rows;
#pragma unroll
        for (u32 b = 0; b < BUNCH; b++) {
            if (left == 0) continue;
            u32 from = slots[__ffs((int)left) - 1].key;
            left &= left - 1;
#pragma unroll
            for (u32 k = 0; k < EACH; k++) read[b][k] = costs.read(from, min(team.thread + k * TEAM, team.cols - 1));
        }
#pragma unroll
        for (u32 b = 0; b < BUNCH; b++) {
            if (rows == 0) continue;
            const Slot& from = slots[__ffs((int)rows) - 1];
            rows &= rows - 1;
#pragma unroll
            for (u32 k = 0; k < EACH; k++) {
                i64 x = costs.scaled(read[b][k]), length = from.most + x - c.v[k];
                if ((c.valid >> k & 1) == 0 || x == INFINITE || length >= c.distance[k]) continue;
                c.distance[k] = length, c.open |= 1u << k;
                team.via[team.thread + k * TEAM] = (int)from.key;
            }
        }
    }
}

// searchInRounds finds what search does. Each round reads the rows of the nearest open columns of all warps, as long as one is
// nearer than the nearest free column known. So a row may be read before its shortest path is known, and again after, but a
// search of 300 x 300 uniform costs takes a fourth of the rounds (docs/notes/assignment-small.md).
__device__ __forceinline__ bool searchInRounds(Team& team, Columns& c, const Costs& costs, int row, int& end) {
    u32 lane = team.thread % WARP;
    i64 reach = NEVER;
    c.open = 0;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        c.distance[k] = NEVER;
        if ((c.valid >> k & 1) == 0) continue;
        i64 x = costs((u32)row, team.thread + k * TEAM);
        if (x == INFINITE) continue;
        c.distance[k] = x - c.v[k], c.open |= 1u << k;
        team.via[team.thread + k * TEAM] = row;
    }
    for (;;) {
        Slot* slots = team.slot + team.turn * WARPS;
        team.turn ^= 1;
        offer(c, team.thread, slots[team.thread / WARP]);
        __syncthreads();
        const Slot& mine = slots[min(lane, WARPS - 1)];
        i64 distance = mine.distance;
        u32 key = mine.key, ends = __ballot_sync(ALL, key >= FREE_COLUMN);
        if (ends != 0) reach = min(reach, warpLeast(key >= FREE_COLUMN ? distance : NEVER));
        u32 rows = __ballot_sync(ALL, lane < WARPS && key < FREE_COLUMN && distance < reach);
        if (rows == 0) {
            if (reach == NEVER) return false;
            end = (int)(slots[__ffs((int)__ballot_sync(ALL, key >= FREE_COLUMN && distance == reach)) - 1].key & ~FREE_COLUMN);
            break;
        }
        if constexpr (WARPS * EACH <= 4) relaxAll(team, c, costs, slots, rows);
        else relaxSome(team, c, costs, slots, rows);
    }
    c.open = c.valid;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        if (c.distance[k] >= reach) continue;
        c.open &= ~(1u << k);
        c.v[k] -= reach - c.distance[k];
    }
    return true;
}

}  // namespace VARIANT
