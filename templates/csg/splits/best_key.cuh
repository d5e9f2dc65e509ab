// table=keep: the best splitting of a thread, value and mask.
#include "cuda/variant.cuh"

namespace VARIANT {

// Best is a key of 64 bits, ordered by value and then by splitting, so that one
// atomic maximum updates both.
typedef u64 Best;
__device__ __forceinline__ Best none() { return 0; }
__device__ __forceinline__ Best best(T value, u32 split) { return (u64)ordered(value) << 32 | split; }
__device__ __forceinline__ Best* results(T*, u64* table) { return table; }

}  // namespace VARIANT
