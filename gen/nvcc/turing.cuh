// What compute capability 7.5 has no instructions for: reductions of a warp, asynchronous copies to shared
// memory, and products of 16 x 32 bytes. The last two take the bodies of the emulated device, which are
// plain C++. gen/nvcc includes this file before a text that it compiles for an architecture below sm_80.
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
namespace coalesce {
// reduceLanes reduces x over the lanes of a mask by an operation, to each of those lanes.
template <class T, class F> __device__ __forceinline__ T reduceLanes(unsigned mask, T x, F join) {
    T all = __shfl_sync(mask, x, __ffs(mask) - 1);
    for (unsigned rest = mask & (mask - 1); rest != 0; rest &= rest - 1) all = join(all, __shfl_sync(mask, x, __ffs(rest) - 1));
    return all;
}
}  // namespace coalesce

#define COALESCE_REDUCE(T)                                                                                  \
    __device__ __forceinline__ T __reduce_add_sync(unsigned mask, T x) {                                    \
        return coalesce::reduceLanes(mask, x, [](T a, T b) { return a + b; });                              \
    }                                                                                                       \
    __device__ __forceinline__ T __reduce_min_sync(unsigned mask, T x) {                                    \
        return coalesce::reduceLanes(mask, x, [](T a, T b) { return a < b ? a : b; });                      \
    }                                                                                                       \
    __device__ __forceinline__ T __reduce_max_sync(unsigned mask, T x) {                                    \
        return coalesce::reduceLanes(mask, x, [](T a, T b) { return a < b ? b : a; });                      \
    }
COALESCE_REDUCE(int)
COALESCE_REDUCE(unsigned)
#undef COALESCE_REDUCE

#define COALESCE_EMULATED
#include "cuda/lanes.cuh"
#include "cuda/space.cuh"
#include "cuda/tensor.cuh"
#undef COALESCE_EMULATED
#endif
