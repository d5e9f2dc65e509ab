// Lists of the columns that cost a row least.
#include "cuda/variant.cuh"

namespace VARIANT {

// Places are those of a list that a warp fills.
struct Places {
    u32 row, turn, taken = 0;
    // put enters a lane's candidate if `wanted` and if there is room; whether it did.
    __device__ __forceinline__ bool put(Team& team, const Costs& costs, int j, bool wanted) {
        u32 lane = team.thread % WARP, all = __ballot_sync(ALL, wanted), turned = __funnelshift_r(all, all, turn);
        u32 place = taken + (u32)__popc(turned & ((1u << (lane + WARP - turn) % WARP) - 1));
        taken += (u32)__popc(all);
        if (!wanted || place >= team.slots) return false;
        team.listed[row * team.slots + place] = costs.read(row, (u32)j), team.places[row * team.slots + place] = (Place)j;
        return true;
    }
};

// list fills the lists of all rows, a warp a row: of the two columns of each lane with the least cost - v about the nearest `slots`, of equal ones
// other columns for other rows. The dual v of a column only falls, so the bar, the least cost - v outside the list, stays a bound from below.
__device__ __forceinline__ void list(Team& team, const Costs& costs) {
    u32 lane = team.thread % WARP;
    u32 blocks = (team.cols + WARP * READ - 1) / (WARP * READ);
    for (u32 row = team.thread / WARP; row < team.rows; row += WARPS) {
        i64 least = NEVER, second = NEVER, third = NEVER;
        int at = NONE, next = NONE;
        u32 block = row / WARP % blocks;
        for (u32 left = blocks; left > 0; left--, block = block + 1 == blocks ? 0 : block + 1) {
            u32 first = lane + block * WARP * READ;
            Number read[READ];
#pragma unroll
            for (u32 f = 0; f < READ; f++) read[f] = costs.read(row, min(first + f * WARP, team.cols - 1));
#pragma unroll
            for (u32 f = 0; f < READ; f++) {
                u32 j = first + f * WARP;
                i64 x = costs.scaled(read[f]), key = x - team.v[min(j, team.cols - 1)];
                if (j >= team.cols || x == INFINITE) key = NEVER;
                third = min(third, max(second, key));
                next = key < least ? at : key < second ? (int)j : next;
                second = min(second, max(least, key));
                at = key < least ? (int)j : at;
                least = min(least, key);
            }
        }
        i64 bar = warpLeast(third), low = warpLeast(least), under = bar;
        for (u32 tries = 0; tries < 6 && low < under; tries++) {  // about as many below `under` as there is room for
            u32 count = (u32)(__popc(__ballot_sync(ALL, least < under)) + __popc(__ballot_sync(ALL, second < under)));
            if (count <= team.slots) break;
            under = low + (min(under, low + INFINITE) - low) / count * team.slots;
        }
        Places places = {row, row % WARP};
        bool first = places.put(team, costs, at, least < under), other = places.put(team, costs, next, second < under);
        first = places.put(team, costs, at, !first && at != NONE && least <= bar) || first;
        other = places.put(team, costs, next, !other && next != NONE && second <= bar) || other;
        for (u32 k = places.taken + lane; k < team.slots; k += WARP) team.places[row * team.slots + k] = EMPTY;
        bar = min(bar, warpLeast(min(first ? NEVER : least, other ? NEVER : second)));
        if (lane == 0) team.bar[row] = bar;
    }
    sync();
}

}  // namespace VARIANT
