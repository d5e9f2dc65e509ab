#include "cuda/variant.cuh"

namespace VARIANT {

using T = param::value;

// step computes one step of Jacobi's iteration on n x n cells: each inner cell becomes the mean of its four
// neighbours, and cells at the edge stay.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(step)(const T* old, T* next, unsigned long long n) {
    unsigned long long strips = (n + param::block - 1) / param::block;
    unsigned long long x = blockIdx.x % strips * param::block + threadIdx.x;
    unsigned long long y = blockIdx.x / strips * param::rows;
    if (x >= n) return;
    T above = 0, here = 0;
    if constexpr (param::reuse_yes) {
        if (y > 0) above = old[(y - 1) * n + x];
        here = old[y * n + x];
    }
#pragma unroll
    for (int k = 0; k < param::rows; k++, y++) {
        if (y >= n) return;
        unsigned long long at = y * n + x;
        if constexpr (!param::reuse_yes) here = old[at];
        T below = y + 1 < n ? old[at + n] : T(0);
        if (x == 0 || y == 0 || x == n - 1 || y == n - 1) {
            next[at] = here;
        } else {
            if constexpr (!param::reuse_yes) above = old[at - n];
            next[at] = ((old[at - 1] + old[at + 1]) + (above + below)) * T(0.25);
        }
        if constexpr (param::reuse_yes) above = here, here = below;
    }
}

}  // namespace VARIANT
