// Near pairs on alternating cycles.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 ROUNDS = 1024;  // after so many, what is left is left to the host

// cycles runs after sweep, in one block, where every column has a row. Near pairs are the edges of a graph: that of row i
// and column j leads from i to the row of j. Rows that lead nowhere are on no cycle, nor are the edges into them, so that these go,
// until none does. *left counts the edges that stay: where it is 0 the matching has no alternating cycle.
// A thread has every BLOCKth edge, those that stay first, and sees what others do sooner or later.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(cycles)(long long* work, unsigned long long rows, unsigned long long cols) {
    Work w(work, rows, cols);
    u64 count = *w.near, *edge = w.near + 1 + threadIdx.x;
    u32 live = count > NEAR * rows || threadIdx.x >= count ? 0 : (u32)((count - threadIdx.x + BLOCK - 1) / BLOCK);
    for (u64 i = threadIdx.x; i < rows; i += BLOCK) w.leads[i] = 0;
    __syncthreads();
    for (u32 e = 0; e < live; e++) atomicAdd(w.leads + (u32)edge[(u64)e * BLOCK], 1u);
    __syncthreads();
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 had = live;
        for (u32 e = 0; e < live;) {
            u64 pair = edge[(u64)e * BLOCK];
            int k = w.owner[pair >> 32];
            if (k < 0 || __ldcg(w.leads + k) != 0) {
                e++;
                continue;
            }
            atomicSub(w.leads + (u32)pair, 1u);
            live--;
            edge[(u64)e * BLOCK] = edge[(u64)live * BLOCK];
            edge[(u64)live * BLOCK] = pair;
        }
        if (!__syncthreads_or(live < had)) break;
    }
    if (live != 0) atomicAdd(w.left, (u64)live);
    if (count > NEAR * rows && threadIdx.x == 0) *w.left = count;
}

}  // namespace VARIANT
