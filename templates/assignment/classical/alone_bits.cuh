// zeros=bits: the search of levels with few rows, by one block, without the barrier of the grid.
#include "cuda/variant.cuh"

namespace VARIANT {

__device__ __forceinline__ void clear(SharedState&) {}
__device__ __forceinline__ u32 narrow(const Work&) { return SINGLE_BLOCK_ROWS; }

// alone expands level after level in one block, while levels have few rows.
__device__ __forceinline__ void alone(const Work& m, State s, SharedState& sharedState) {
    if (threadIdx.x < 3) sharedState.count[threadIdx.x] = 0;
    __syncthreads();
    for (u32 turn = 0; s.searching() && s.tail - s.head <= SINGLE_BLOCK_ROWS; turn++, s.levels++) {
        level(m, s.side, s.head, s.tail, sharedState.count, turn, s.phase, thisBlock());
        __syncthreads();
        s.advance(*(volatile u64*)(sharedState.count + turn % 3));
    }
    s.leave(m.ctl);
}

}  // namespace VARIANT
