// Shortest augmenting paths, one free row after the other.
#include "cuda/variant.cuh"

namespace VARIANT {

// pick returns the nearest open column of the team: of columns at that distance the one with the least key.
__device__ __forceinline__ Pick pick(Team& team, const Columns& c) {
    i64 distance = NEVER;
    u32 key = ~0u;
#pragma unroll
    for (u32 k = 0; k < EACH; k++)
        if ((c.open >> k & 1) != 0) distance = min(distance, c.distance[k]);
    i64 least = warpLeast(distance);
    if (distance == least) {
#pragma unroll
        for (u32 k = 0; k < EACH; k++)
            if ((c.open >> k & 1) != 0 && c.distance[k] == least) key = min(key, keyOf(c.owner[k], c.place[k], team.thread + k * TEAM));
    }
    key = __reduce_min_sync(ALL, key);
    if constexpr (TEAM > WARP) {
        Slot* slots = team.slot + team.turn * WARPS;
        team.turn ^= 1;
        if (team.thread % WARP == 0) slots[team.thread / WARP].distance = least, slots[team.thread / WARP].key = key;
        __syncthreads();
        u32 from = min(team.thread % WARP, WARPS - 1);
        distance = slots[from].distance, key = slots[from].key;
        least = warpLeast(distance);
        key = __reduce_min_sync(ALL, distance == least ? key : ~0u);
    }
    return {least, key};
}

// search finds the shortest path from a row to a free column, the path's end; false: there is none. Duals are those of
// Jonker and Volgenant (Computing 38, 1987); the order is SciPy's (Crouse, IEEE Transactions on Aerospace and Electronic
// Systems 52, 2016) where that is asked for.
__device__ __forceinline__ bool search(Team& team, Columns& c, const Costs& costs, int row, bool scipy, int& end) {
    i64 base = 0, reach;
    c.open = c.valid;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        c.distance[k] = NEVER;
        if (scipy) c.place[k] = team.cols - 1 - (team.thread + k * TEAM);
    }
    for (u32 left = team.cols;; left--) {
        i64 x[EACH];
#pragma unroll
        for (u32 k = 0; k < EACH; k++) x[k] = costs((u32)row, min(team.thread + k * TEAM, team.cols - 1));
#pragma unroll
        for (u32 k = 0; k < EACH; k++) {
            i64 length = base + x[k] - c.v[k];
            if ((c.open >> k & 1) == 0 || x[k] == INFINITE || length >= c.distance[k]) continue;
            c.distance[k] = length;
            team.via[team.thread + k * TEAM] = row;
        }
        Pick p = pick(team, c);
        if (p.distance == NEVER) return false;
        reach = p.distance, end = (int)p.column();
        if (p.free()) break;
        row = team.owner[end];
        base = reach - team.u[row];
#pragma unroll
        for (u32 k = 0; k < EACH; k++) {
            if (team.thread + k * TEAM == (u32)end) c.open &= ~(1u << k);
            else if (scipy && (c.open >> k & 1) != 0 && c.place[k] == left - 1) c.place[k] = p.place();  // the last takes its place
        }
    }
#pragma unroll
    for (u32 k = 0; k < EACH; k++)
        if (((c.valid & ~c.open) >> k & 1) != 0) c.v[k] -= reach - c.distance[k];
    return true;
}

// augment flips the matching along the path to `end`. All threads walk it, and each notes the new owners of its columns.
__device__ __forceinline__ void augment(Team& team, Columns& c, const Costs& costs, int end) {
    u32 changed = 0;
    sync();
    for (int j = end; j != NONE;) {
        int row = team.via[j];
        if ((u32)j % TEAM == team.thread) {
            changed |= 1u << (u32)j / TEAM;
#pragma unroll
            for (u32 k = 0; k < EACH; k++)
                if (k == (u32)j / TEAM) c.owner[k] = row;
        }
        j = team.column[row];
    }
    sync();
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 j = team.thread + k * TEAM;
        if ((changed >> k & 1) != 0) {
            team.column[c.owner[k]] = (int)j, team.owner[j] = c.owner[k];
            c.cost[k] = costs((u32)c.owner[k], j);
        }
        if (((changed | (c.valid & ~c.open)) >> k & 1) != 0) team.u[c.owner[k]] = c.cost[k] - c.v[k];
    }
    sync();
}

// match matches all rows, one path after the other; false: no full matching exists.
__device__ __forceinline__ bool match(Team& team, Columns& c, const Costs& costs, bool scipy) {
    for (u32 i = 0; i < team.rows; i++) {
        int end;
        if (team.column[i] != NONE) continue;
        bool found;
        if constexpr (BIDS) found = scipy ? search(team, c, costs, (int)i, true, end) : searchInRounds(team, c, costs, (int)i, end);
        else found = search(team, c, costs, (int)i, scipy, end);
        if (!found) return false;
        augment(team, c, costs, end);
    }
    return true;
}

}  // namespace VARIANT
