// Kernels of the driver's tests of cooperative launches and of clusters, compiled
// by scripts/gpu-check pack.
#include "cuda/barrier.cuh"
#include "cuda/cluster.cuh"
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

// In every round the blocks of a cluster tell one another a number, by a barrier
// or by messages, and every thread adds up all. out[block] becomes the sum.
extern "C" __global__ void __launch_bounds__(1024) grid_clusters(i64* out, u64 rounds, u64 size, u64 messages) {
    __shared__ i64 slots[2][16];
    __shared__ coalesce::Inbox inboxes[2];
    u32 t = threadIdx.x, rank = blockIdx.x % (u32)size;
    if (t == 0) inboxes[0].open(), inboxes[1].open();
    coalesce::clusterSync();
    i64 sum = 0;
    for (u64 r = 0; r < rounds; r++) {
        i64 *slot = slots[r & 1], x = (i64)(blockIdx.x * 1000 + r);
        if (messages) {
            coalesce::Inbox& inbox = inboxes[r & 1];
            if (t == 0) inbox.expect((u32)size * 8);
            if (t < size) inbox.send(slot + rank, t, x);
            inbox.wait(r >> 1 & 1);
        } else {
            if (t < size) *coalesce::peer(slot + rank, t) = x;
            coalesce::clusterSync();
        }
        for (u64 k = 0; k < size; k++) sum += slot[k];
        if (messages) __syncthreads();  // all have read before the next message tells so
    }
    if (t == blockDim.x - 1) out[blockIdx.x] = sum;
}

extern "C" __device__ unsigned long long grid_hash = 0x9e1dull;
