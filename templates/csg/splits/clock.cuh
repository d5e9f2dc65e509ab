// The seven checkpoints of Algorithm 7.
#include "cuda/variant.cuh"

namespace VARIANT {

// Go: Checkpoints
constexpr u32 CHECKPOINTS = 7;

// Clock sums a thread's clock cycles between the checkpoints; thread 0 of each block reports.
struct Clock {
    i64 spent[CHECKPOINTS] = {0, 0, 0, 0, 0, 0, 0}, then = clock64();
    __device__ __forceinline__ void at(u32 checkpoint) {
        i64 now = clock64();
        spent[checkpoint - 1] += now - then;
        then = now;
    }
    __device__ __forceinline__ void report(u64* cycles) {
        if (threadIdx.x == 0)
            for (u32 i = 0; i < CHECKPOINTS; i++) atomicAdd(cycles + i, (u64)spent[i]);
    }
};

}  // namespace VARIANT
