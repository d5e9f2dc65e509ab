// Exchange between the threads of a search of one block: one barrier a step.
#include "cuda/variant.cuh"

namespace VARIANT {

__device__ __forceinline__ void openInboxes(SharedState&) {}

__device__ __forceinline__ void meet(Search& s, Key& best, u32& place, u32 who) {
    if (WARPS == 1) {
        place = __shfl_sync(ALL, place, (int)who);
        __syncwarp();
    } else {
        Slot* slot = s.sharedState.slot[s.turn];
        s.turn ^= 1;
        if (lane() == who) slot[warp()] = {best, place};
        __syncthreads();
        if (WARPS <= 8) {
            best = slot[0].key, place = slot[0].place;
#pragma unroll
            for (u32 w = 1; w < WARPS; w++)
                if (slot[w].key > best) best = slot[w].key, place = slot[w].place;
        } else {
            Slot from = slot[lane() < WARPS ? lane() : 0];
            best = warpReduce(from.key);
            who = pick(__ballot_sync(ALL, from.key == best), s.random);
            place = __shfl_sync(ALL, from.place, (int)who);
        }
    }
}

// total returns the sum of x over the block.
__device__ __forceinline__ u32 total(Search& s, u32 x) {
    __syncthreads();
    if (threadIdx.x == 0) s.sharedState.sum = 0;
    __syncthreads();
    atomicAdd(&s.sharedState.sum, x);
    __syncthreads();
    u32 sum = s.sharedState.sum;
    __syncthreads();
    return sum;
}

// any says whether x holds for any thread of the block.
__device__ __forceinline__ bool any(Search&, bool x) { return __syncthreads_or(x) != 0; }

}  // namespace VARIANT
