// The numbers of a check: their limits, and exact sums.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr i64 MOST = 1ll << 61;                         // limit of the magnitude of duals and costs
constexpr i64 FREE = 9223372036854775807ll;             // scaled cost of a forbidden pair, which every dual satisfies
constexpr i64 INVALID = -FREE - 1;                      // scaled cost of a value that is no cost, which no dual satisfies

__device__ __forceinline__ bool within(i64 x) { return x >= -MOST && x <= MOST; }

// plus adds modulo 2^64. Sums of duals beyond MOST are meaningless, and such duals are faults of their own.
__device__ __forceinline__ i64 plus(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }

// Sum is the exact sum high * 2^32 + low of fewer than 2^31 addends.
struct Sum {
    i64 high = 0;
    u64 low = 0;
    __device__ __forceinline__ void add(i64 x) { high += x >> 32; low += (u64)x & 0xffffffffu; }
    // flush adds the sums of all lanes of a warp to two words of global memory, high and low.
    __device__ __forceinline__ void flush(u64* words) {
#pragma unroll
        for (u32 d = WARP / 2; d > 0; d >>= 1) {
            high += __shfl_xor_sync(ALL, high, d);
            low += __shfl_xor_sync(ALL, low, d);
        }
        if (threadIdx.x % WARP == 0 && (high != 0 || low != 0)) {
            atomicAdd(words, (u64)high);
            atomicAdd(words + 1, low);
        }
    }
};

}  // namespace VARIANT
