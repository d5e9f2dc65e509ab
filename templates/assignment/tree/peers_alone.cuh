// barrier=grid and host: the exchanges of a single device, which do nothing.
#include "cuda/variant.cuh"

namespace VARIANT {

__device__ __forceinline__ void agree(Work&, const Slice&, Column (&)[OWN], bool (&)[OWN], bool, i64, Scratch&) {}
__device__ __forceinline__ i64 nearestOfAll(Work&, i64 least, u32, Scratch&) { return least; }
__device__ __forceinline__ void meet(Work&, Scratch&) {}
__device__ __forceinline__ Best bestOfAll(const Work&, Best best, u32, u32) { return best; }

}  // namespace VARIANT
