// Shortest augmenting paths by labels of columns, which all rows whose label became shorter correct at once, from their lists.
#include "cuda/variant.cuh"

namespace VARIANT {

// Front is what a search shares: rows to read in this round and the next, the length of the path to the nearest free column, and the first such column.
struct Front {
    u32 counts[2];
    i64 reach;
    int end;
};

// visit calls `each` with a row of the queue, a column and their cost: for the columns of the rows' lists, or for all columns.
template <bool WHOLE, class Each> __device__ __forceinline__ void visit(const Team& team, const Costs& costs, const u32* queue, u32 count, Each each) {
    if constexpr (WHOLE) {
        for (u32 k = 0; k < count; k++) {
            u32 row = queue[k];
            for (u32 j = team.thread; j < team.cols; j += TEAM) {
                i64 x = costs(row, j);
                if (x != INFINITE) each(row, j, x);
            }
        }
    } else {
        u32 member = team.thread % GROUP;
        for (u32 k = team.thread / GROUP; k < count && member < team.slots; k += GROUPS) {
            u32 row = queue[k];
            Place j = team.places[row * team.slots + member];
            if (j != EMPTY) each(row, (u32)j, costs.scaled(team.listed[row * team.slots + member]));
        }
    }
}

// correct is a round of a search: columns take the shortest length that rows of the queue give, of equal ones that by the first row, and owners whose length
// became shorter than `reach` are the next queue.
template <bool WHOLE> __device__ __forceinline__ void correct(Team& team, const Costs& costs, Front& front, u32 now, u32 count, i64& reach) {
    i64* label = team.best;
    int *winner = team.winner + now * team.cols, *other = team.winner + (1 - now) * team.cols;
    u32 *queue = team.queue + now * team.rows, *next = team.queue + (1 - now) * team.rows;
    visit<WHOLE>(team, costs, queue, count, [&](u32 row, u32 j, i64 cost) {
        i64 length = team.base[row] + cost - team.v[j];
        if (length >= reach) return;
        atomicMin(label + j, length);
        if (team.owner[j] < 0) atomicMin(&front.reach, length);
    });
    sync();
    reach = front.reach;
    if (team.thread == 0) front.counts[now] = 0;
    for (u32 j = team.thread; j < team.cols; j += TEAM) other[j] = ABSENT;
    visit<WHOLE>(team, costs, queue, count, [&](u32 row, u32 j, i64 cost) {
        i64 length = team.base[row] + cost - team.v[j];
        int owner = team.owner[j];
        if (length == label[j] && (owner < 0 ? length == reach : length < reach && length - team.u[owner] < team.base[owner])) atomicMin(winner + j, (int)row);
    });
    sync();
    visit<WHOLE>(team, costs, queue, count, [&](u32 row, u32 j, i64) {
        if (winner[j] != (int)row) return;
        int owner = team.owner[j];
        team.via[j] = (int)row;
        if (owner < 0) return;
        team.base[owner] = label[j] - team.u[owner];
        team.claim[owner] = 0;
        next[atomicAdd(front.counts + 1 - now, 1u)] = (u32)owner;
    });
    sync();
}

// searchByLabels finds the shortest path from a row to a free column, its end, and changes the duals; false: there is none. Lengths are correct
// where they are shorter than the path, as each row with such a length was read from its list, or whole where its bar is not behind the path's end.
__device__ __forceinline__ bool searchByLabels(Team& team, const Costs& costs, Front& front, u32 row, int& end) {
    i64* label = team.best;
    i64 reach = NEVER;
    for (u32 j = team.thread; j < team.cols; j += TEAM) label[j] = NEVER, team.winner[j] = ABSENT;
    for (u32 i = team.thread; i < team.rows; i += TEAM) team.base[i] = i == row ? 0 : NEVER, team.claim[i] = 0;
    if (team.thread == 0) team.queue[0] = row, front.counts[0] = 1, front.counts[1] = 0, front.reach = NEVER, front.end = ABSENT;
    sync();
    for (u32 now = 0;; now = 1 - now) {
        u32 count = front.counts[now];
        if (count > 0) {
            correct<false>(team, costs, front, now, count, reach);
            continue;
        }
        sync();
        for (u32 i = team.thread; i < team.rows; i += TEAM) {
            if (team.base[i] == NEVER || team.claim[i] != 0 || team.bar[i] == NEVER || team.base[i] + team.bar[i] >= reach) continue;
            team.queue[now * team.rows + atomicAdd(front.counts + now, 1u)] = i;
            team.claim[i] = 1;
        }
        sync();
        count = front.counts[now];
        if (count == 0) break;
        correct<true>(team, costs, front, now, count, reach);
    }
    if (reach == NEVER) return false;
    for (u32 j = team.thread; j < team.cols; j += TEAM) {
        int owner = team.owner[j];
        if (owner < 0 && label[j] == reach) atomicMin(&front.end, (int)j);
        if (owner < 0 || label[j] >= reach) continue;
        team.v[j] -= reach - label[j], team.u[owner] += reach - label[j];
    }
    if (team.thread == 0) team.u[row] = reach;
    sync();
    end = front.end;
    return true;
}

// matchByLabels matches the rows that are free; false: no full matching exists. The threads get the columns at the end.
__device__ __forceinline__ bool matchByLabels(Team& team, Columns& c, const Costs& costs) {
    __shared__ Front front;
    u32 lane = team.thread % WARP;
    for (u32 from = 0; from < team.rows; from += WARP) {
        u32 free = __ballot_sync(ALL, from + lane < team.rows && team.column[min(from + lane, team.rows - 1)] == NONE);
        for (; free != 0; free &= free - 1) {
            int end;
            if (!searchByLabels(team, costs, front, from + (u32)__ffs((int)free) - 1, end)) return false;
            if (team.thread == 0)
                while (end != NONE) {
                    int row = team.via[end], next = team.column[row];
                    team.owner[end] = row, team.column[row] = end;
                    end = next;
                }
            sync();
        }
    }
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 j = team.thread + k * TEAM;
        if (j < team.cols) c.v[k] = team.v[j], c.owner[k] = team.owner[j];
    }
    sync();
    return true;
}

}  // namespace VARIANT
