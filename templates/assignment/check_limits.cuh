// Limits of duals and costs that a check takes.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr i64 MOST = 1ll << 61;                         // limit of the magnitude of duals and costs
constexpr i64 FREE = 9223372036854775807ll;             // scaled cost of a forbidden pair, which every dual satisfies
constexpr i64 INVALID = -FREE - 1;                      // scaled cost of a value that is no cost, which no dual satisfies

__device__ __forceinline__ bool within(i64 x) { return x >= -MOST && x <= MOST; }

// plus adds modulo 2^64. Sums of duals beyond MOST are meaningless, and such duals are faults of their own.
__device__ __forceinline__ i64 plus(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }

}  // namespace VARIANT
