// Exchange between the threads of a search of a cluster of blocks: one barrier or round of messages a step.
#include "cuda/variant.cuh"
#include "cuda/cluster.cuh"

namespace VARIANT {

constexpr u32 SLOTS = WARPS * CLUSTER;

// Every warp writes its best to its slot in every block. Steps alternate between two
// sets of slots: a set is written again two steps later, and the exchange of the step
// between has shown that all blocks have read the set.
__device__ __forceinline__ void meet(Search& s, Key& best, u32& place, u32 who) {
    Slot* slot = s.sharedState.slot[s.turn & 1];
    Slot* own = slot + blockIdx.x % CLUSTER * WARPS + warp();
    place = __shfl_sync(ALL, place, (int)who);
    exchange(s, own, {best, place});
    s.turn++;
    Slot mine = slot[lane() < SLOTS ? lane() : 0];
#pragma unroll
    for (u32 k = WARP; k < SLOTS; k += WARP) {
        Slot other = slot[k + lane() < SLOTS ? k + lane() : 0];
        if (other.key > mine.key) mine = other;
    }
    best = warpReduce(mine.key);
    place = __shfl_sync(ALL, mine.place, (int)pick(__ballot_sync(ALL, mine.key == best), s.random));
}

// total returns the sum of x over the cluster.
__device__ __forceinline__ u32 total(Search& s, u32 x) {
    __syncthreads();
    if (threadIdx.x == 0) s.sharedState.sum = 0;
    __syncthreads();
    atomicAdd(&s.sharedState.sum, x);
    clusterSync();
    u32 sum = 0;
    for (u32 k = 0; k < CLUSTER; k++) sum += *peer(&s.sharedState.sum, k);
    clusterSync();
    return sum;
}

// any says whether x holds for any thread of the cluster.
__device__ __forceinline__ bool any(Search& s, bool x) { return total(s, x ? 1 : 0) != 0; }

}  // namespace VARIANT
