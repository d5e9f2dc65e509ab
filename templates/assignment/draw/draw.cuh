// Uniform costs drawn on a device, for matrices larger than a host's memory. See package assignment, draws.go.
#include "cuda/variant.cuh"
#include "cuda/random.cuh"

namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 BLOCK = param::block;  // threads
constexpr bool SINGLE = param::value_float32, DOUBLE = param::value_float64;  // neither: integers

__device__ __forceinline__ T cost(u64 hash, u64 range) {
    if constexpr (SINGLE) return (float)(hash >> 40) * 0x1p-24f;
    else if constexpr (DOUBLE) return (double)(hash >> 11) * 0x1p-53;
    else return (T)(hash % range);
}

// uniform draws rows first .. first+rows-1 of a matrix. Entry (i,j) depends on the hash of
// seed ^ (i*cols + j + 1): an integer from 0 to range-1, or a float in [0, 1).
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(uniform)(
    T* costs, unsigned long long first, unsigned long long rows, unsigned long long cols, unsigned long long seed, unsigned long long range) {
    u64 from = first * cols + 1, n = rows * cols;
    for (u64 k = (u64)blockIdx.x * BLOCK + threadIdx.x; k < n; k += (u64)gridDim.x * BLOCK) costs[k] = cost(splitmix(seed ^ (from + k)), range);
}

}  // namespace VARIANT
