// The bests of a block's threads, reduced to one a coalition and offered to global memory.
#include "cuda/variant.cuh"

namespace VARIANT {

// Scratch holds the bests of one batch in shared memory. Batches use two of them
// in turn, so that a batch needs one barrier instead of two.
struct Scratch {
    static constexpr bool NONE = param::reduce_atomic;
    Best of[NONE ? 1 : BETA][NONE ? 1 : param::reduce_shared ? BLOCK : WARPS];
};

// offer raises into[c] to x; a plain read before saves most atomic operations.
__device__ __forceinline__ void offer(Best* into, u32 c, Best x) {
    if (c != 0 && x > into[c]) raise(into + c, x);
}

// reduce combines the bests v of all threads of the block, and offers one best for each
// coalition of the batch to `into`.
__device__ __forceinline__ void reduce(Best (&v)[BETA], Scratch& scratch, Best* into, const u32* coalition, Clock& clock) {
    if constexpr (param::reduce_shared) {
#pragma unroll
        for (u32 z = 0; z < BETA; z++) scratch.of[z][threadIdx.x] = v[z];
        for (u32 half = BLOCK / 2; half > 0; half >>= 1) {
            __syncthreads();
            if (threadIdx.x < half)
#pragma unroll
                for (u32 z = 0; z < BETA; z++)
                    scratch.of[z][threadIdx.x] = larger(scratch.of[z][threadIdx.x], scratch.of[z][threadIdx.x + half]);
        }
        __syncthreads();
        clock.at(6);
        if (threadIdx.x < BETA) offer(into, coalition[threadIdx.x], scratch.of[threadIdx.x][0]);
    } else if constexpr (param::reduce_atomic) {
#pragma unroll
        for (u32 z = 0; z < BETA; z++) {
            Best x = warpLargest(v[z]);
            if (threadIdx.x % WARP == 0) offer(into, coalition[z], x);
        }
    } else {
#pragma unroll
        for (u32 z = 0; z < BETA; z++) {
            Best x = param::reduce_redux ? warpReduce(v[z]) : warpLargest(v[z]);
            if (threadIdx.x % WARP == 0) scratch.of[z][threadIdx.x / WARP] = x;
        }
        __syncthreads();  // the only barrier of a batch; line 27 of Algorithm 7, counted by checkpoint 5
        clock.at(5);
        if (threadIdx.x < BETA) {
            Best x = scratch.of[threadIdx.x][0];
            for (u32 w = 1; w < WARPS; w++) x = larger(x, scratch.of[threadIdx.x][w]);
            clock.at(6);
            offer(into, coalition[threadIdx.x], x);
        }
    }
    clock.at(7);
}

}  // namespace VARIANT
