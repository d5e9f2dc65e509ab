// The order in which tensor cores read a matrix.
#include "cuda/variant.cuh"

namespace VARIANT {

// pack copies a matrix stored by rows to c, in the order in which the tensor cores' products read it.
extern "C" __global__ void __launch_bounds__(PACKERS) ENTRY(pack)(
    const signed char* rows, unsigned long long side, signed char* c) {
    for (u64 k = blockIdx.x * PACKERS + threadIdx.x; k < side * side / 16; k += gridDim.x * PACKERS) packed(rows, side, k, (uint4*)c + k);
}

}  // namespace VARIANT
