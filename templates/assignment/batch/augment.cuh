// The end of a search: duals are raised, and the matching is augmented along disjoint tight paths.
#include "cuda/variant.cuh"

namespace VARIANT {

__device__ __forceinline__ int before(const State& s, u32 j) {
    int via = s.via[j];
    return via < 0 ? ~via : via;
}

// raise changes the dual of each column, and of its row, by the difference of `reach`, the
// extent of the search, and the column's distance. Then each free column within reach
// follows its path to the root and claims the root; distance receives the root. Paths from
// different roots share no row.
__device__ __forceinline__ void raise(State& s, u32 roots, i64 reach) {
    for (u32 k = threadIdx.x; k < roots; k += BLOCK) s.u[s.free[k]] += reach;
    for (u32 j = threadIdx.x; j < s.cols; j += BLOCK) {
        i64 d = s.distance[j];
        s.distance[j] = NONE;
        if (d > reach) continue;
        s.v[j] -= reach - d;
        if (s.owner[j] != NONE) {
            s.u[s.owner[j]] += reach - d;
            continue;
        }
        int row = before(s, j);
        while (s.column[row] != NONE) row = before(s, (u32)s.column[row]);
        s.distance[j] = row;
        atomicMin(s.claim + row, (int)j);
    }
    __syncthreads();
}

// augment flips the matching along the claimed paths.
__device__ __forceinline__ void augment(State& s) {
    for (u32 end = threadIdx.x; end < s.cols; end += BLOCK) {
        i64 root = s.distance[end];
        if (root == NONE || s.claim[root] != (int)end) continue;
        for (int j = (int)end; j != NONE;) {
            int row = before(s, (u32)j), next = s.column[row];
            s.owner[j] = row;
            s.column[row] = j;
            j = next;
        }
    }
    __syncthreads();
}

// matching matches the rows that bidding has left free, and returns the number of rows that
// no path can match. Where columns outnumber rows, a search starts from one row and ends at
// the nearest free column, so that free columns keep their dual of 0.
__device__ __forceinline__ u32 matching(State& s, const Costs& costs, u32 count, Effort& effort) {
    bool square = s.rows == s.cols, every = EVERY && square;
    while (count > 0) {
        u32 roots = square ? count : 1;
        i64 reach = search(s, costs, roots, every, effort);
        effort.searches++;
        if (reach == NEVER) break;
        raise(s, roots, reach);
        augment(s);
        count = remain(s, count);
    }
    return count;
}

}  // namespace VARIANT
