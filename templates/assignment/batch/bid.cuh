// Augmenting row reduction of all free rows at once: an auction with epsilon 0.
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

// survey returns the Bid of a row over all columns; a whole warp calls.
__device__ __forceinline__ Bid survey(const State& s, const Costs& costs, u32 row) {
    Bid b;
    for (u32 first = lane(); first < s.cols; first += WARP * FLIGHT) {
        T x[FLIGHT];
#pragma unroll
        for (u32 k = 0; k < FLIGHT; k++) x[k] = costs.load(row, first + k * WARP < s.cols ? first + k * WARP : s.cols - 1);
#pragma unroll
        for (u32 k = 0; k < FLIGHT; k++) {
            u32 j = first + k * WARP;
            i64 c = costs.scale(x[k]);
            if (j < s.cols && c != INFINITE) b.see(c - s.v[j], (int)j, s.owner[j] >= 0);
        }
    }
    i64 least = warpLeast(b.least);
    bool mine = b.at != NONE && b.least == least;
    u32 best = __ballot_sync(ALL, mine && !b.taken);
    if (best == 0) best = __ballot_sync(ALL, mine);
    int chosen = best == 0 ? 0 : __ffs((int)best) - 1;
    b.second = warpLeast((int)lane() == chosen ? b.second : b.least);
    b.least = least;
    b.at = __shfl_sync(ALL, b.at, chosen);
    b.taken = __shfl_sync(ALL, (int)b.taken, chosen) != 0;
    return b;
}

// contend offers `row` for column j. The row with the largest gain wins the column, of rows
// with equal gains the first.
__device__ __forceinline__ void contend(State& s, int row, int j) {
    for (int seen = atomicCAS(s.via + j, NONE, row); seen != NONE;) {
        i64 gain = s.distance[row], other = s.distance[seen];
        if (gain < other || (gain == other && row > seen)) return;
        int now = atomicCAS(s.via + j, seen, row);
        if (now == seen) return;
        seen = now;
    }
}

// bid computes the bid of one row, by a whole warp: its gain is the difference of its second
// and its least reduced cost. A row without a gain makes no bid for a column with an owner.
__device__ __forceinline__ void bid(State& s, const Costs& costs, int row) {
    Bid b = survey(s, costs, (u32)row);
    if (lane() != 0) return;
    i64 gain = b.second == NEVER ? 0 : b.second - b.least;
    s.u[row] = b.at == NONE ? 0 : b.least;
    s.claim[row] = gain == 0 && b.taken ? NONE : b.at;
    s.distance[row] = gain;
}

// settle matches columns to the rows that won them, and frees their former owners.
__device__ __forceinline__ bool settle(State& s, u32 count) {
    bool won = false;
    for (u32 k = threadIdx.x; k < count; k += BLOCK) {
        int row = s.free[k], j = s.claim[row];
        if (j == NONE || s.via[j] != row) continue;
        won = true;
        s.free[k] = s.owner[j];
        if (s.owner[j] != NONE) s.column[s.owner[j]] = NONE;
        s.owner[j] = row;
        s.column[row] = j;
        s.v[j] -= s.distance[row];
        s.u[row] += s.distance[row];
    }
    return won;
}

// bidding runs rounds of bids, and returns the number of rows left without a column.
__device__ __forceinline__ u32 bidding(State& s, const Costs& costs, Effort& effort) {
    u32 count = s.rows;
    for (u32 round = 0; round < ROUNDS && count > 0; round++) {
        for (u32 k = warp(); k < count; k += WARPS) bid(s, costs, s.free[k]);
        __syncthreads();
        for (u32 k = threadIdx.x; k < count; k += BLOCK)
            if (s.claim[s.free[k]] != NONE) contend(s, s.free[k], s.claim[s.free[k]]);
        __syncthreads();
        bool won = __syncthreads_or(settle(s, count));
        for (u32 j = threadIdx.x; j < s.cols; j += BLOCK) s.via[j] = NONE;
        effort.bids++;
        effort.scans += count;
        if (!won) break;
        count = remain(s, count);
    }
    return count;
}

}  // namespace VARIANT
