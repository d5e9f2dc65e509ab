// Price refinement, after which every matched pair is tight.
#include "cuda/variant.cuh"

namespace VARIANT {

// refine lowers prices until every matched pair is tight (price refinement, Goldberg
// 1997): where a row has a pair with less c - v than its matched pair, the v of that
// pair's column falls. With an optimal matching this ends; otherwise prices fall round a
// cycle of rows without end, and a row that has lowered prices `turns` times loses its
// column. Prices differ from optimal ones by the auction's epsilon, so that few fall.
__device__ void refine(const Cloud& cloud, const Lists& lists, i64* v, int* match, int* owner, int* times, u32 turns, u64 sweeps,
                       u64* control, GridBarrier& barrier) {
    u32 lane = threadIdx.x % WARP;
    u64 warp = ((u64)blockIdx.x * BLOCK + threadIdx.x) / WARP, warps = (u64)gridDim.x * BLOCK / WARP;
    Falling prices = {v};
    for (u64 t = 0; t < sweeps; t++) {
        if (blockIdx.x == 0 && threadIdx.x == 0) control[COUNT + (t + 1) % 3] = 0, control[STEPS]++;
        u64 moved = 0;
        for (u64 row = warp; row < cloud.rows; row += warps) {
            int j = match[row];
            if (j < 0) continue;
            i64 own = __shfl_sync(ALL, cloud.cost(row, j) - prices[j], 0);  // lane 0's value for all: prices fall at the same time
            if (own > lists.bound[row]) know(cloud, prices, lists, row);
            bool worse[ITEMS], any = false;
#pragma unroll
            for (u32 k = 0; k < ITEMS; k++) {
                u32 e = k * WARP + lane;
                int c = e < K ? lists.col[row * K + e] : -1;
                worse[k] = c >= 0 && lists.cost[row * K + e] - prices[c] < own;
                any |= worse[k];
            }
            if (!__any_sync(ALL, any)) continue;
            moved++;
            int turn = times[row];
            __syncwarp();
            if (lane == 0) {
                times[row] = turn + 1;
                if (turn >= (int)turns) match[row] = -1, owner[j] = -1;
            }
            if (turn >= (int)turns) continue;
#pragma unroll
            for (u32 k = 0; k < ITEMS; k++) {
                u64 e = row * K + k * WARP + lane;
                if (worse[k]) atomicMin(v + lists.col[e], lists.cost[e] - own);
            }
        }
        if (moved && lane == 0) atomicAdd(control + COUNT + t % 3, moved);
        barrier.sync();
        if (__ldcg(control + COUNT + t % 3) == 0) break;
    }
}

// leastKnown returns the least c - v of a row's known pairs.
__device__ __forceinline__ i64 leastKnown(const Lists& lists, const i64* v, u64 row) {
    i64 least = INFINITE;
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        u32 e = k * WARP + threadIdx.x % WARP;
        int j = e < K ? lists.col[row * K + e] : -1;
        i64 d = j < 0 ? INFINITE : lists.cost[row * K + e] - v[j];
        least = d < least ? d : least;
    }
    return warpLeast(least);
}

}  // namespace VARIANT
