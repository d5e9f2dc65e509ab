// Kernels of the driver's test of cooperative launches, compiled by
// scripts/gpu-check pack.
#include "cuda/barrier.cuh"
#include "cuda/shared.cuh"

// In every round a block adds what its neighbour wrote in the round before;
// two rows of values alternate. Dynamic shared memory holds a copy that must
// last. out[block] becomes the sum, or -1.
extern "C" __global__ void __launch_bounds__(1024) grid_rounds(u32* word, i64* values, i64* out, u64 rounds, u64 words) {
    coalesce::GridBarrier barrier(word);
    COALESCE_DYNAMIC_SHARED(i64, own);
    u32 b = blockIdx.x, blocks = gridDim.x;
    for (u64 i = threadIdx.x; i < words; i += blockDim.x) own[i] = (i64)(b * words + i);
    if (threadIdx.x == 0) values[b] = b;
    barrier.sync();
    i64 sum = 0;
    for (u64 r = 0; r < rounds; r++) {
        i64 x = values[(r & 1) * blocks + (b + 1) % blocks];
        sum += x;
        if (threadIdx.x == 0) values[(~r & 1) * blocks + b] = x;
        barrier.sync();
    }
    bool lasted = true;
    for (u64 i = threadIdx.x; i < words; i += blockDim.x) lasted = lasted && own[i] == (i64)(b * words + i);
    lasted = __syncthreads_and(lasted);
    if (threadIdx.x == blockDim.x - 1) out[b] = lasted ? sum : -1;
}

// Nothing but barriers, to be timed.
extern "C" __global__ void __launch_bounds__(1024) grid_syncs(u32* word, u64 rounds) {
    coalesce::GridBarrier barrier(word);
    for (u64 r = 0; r < rounds; r++) barrier.sync();
}

extern "C" __device__ unsigned long long grid_hash = 0x9e1dull;
