// construct=integer: evaluate makes splittings from their numbers.
#include "cuda/variant.cuh"

namespace VARIANT {

// Group holds the coalitions of a block, in shared memory.
struct Group {
    u32 coalition[ALPHA];

    __device__ void index(u32) {}
    __device__ __forceinline__ u32 first(u32, u32, u32) const { return 0; }
    __device__ __forceinline__ u32 steps(u32, u32) const { return 0; }
};

}  // namespace VARIANT
