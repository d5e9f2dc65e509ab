// Distances of points, and bounds of them.
#include "cuda/variant.cuh"

namespace VARIANT {

// Distances equal those of the host bit by bit: in double, coordinate by coordinate,
// without fused operations. Every operation is monotone, so that the same operations on
// gaps to a box give a bound of all distances to points in the box.
__device__ __forceinline__ double extend(double sum, double gap) {
    if constexpr (MANHATTAN) return __dadd_rn(sum, fabs(gap));
    else return __dadd_rn(sum, __dmul_rn(gap, gap));
}

__device__ __forceinline__ i64 scaled(double sum, double scale) {
    if constexpr (EUCLIDEAN) sum = __dsqrt_rn(sum);
    if constexpr (FLOOR) sum = floor(sum);
    return __double2ll_rn(__dmul_rn(sum, scale));
}

// gap returns the least distance of x from [low, high], or with `largest` the largest.
__device__ __forceinline__ double gap(double x, double low, double high, bool largest) {
    double below = __dsub_rn(low, x), above = __dsub_rn(x, high);
    return largest ? fmax(-below, -above) : fmax(fmax(below, above), 0.0);
}

}  // namespace VARIANT
