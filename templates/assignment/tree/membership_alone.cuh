// barrier=grid and host: Work of one device, which has all rows.
#include "cuda/variant.cuh"

#define MEMBERSHIP                                                \
    __device__ __forceinline__ bool keeps() const { return true; }\
    __device__ __forceinline__ u32 nextEpoch() const { return 0; }\
    __device__ __forceinline__ void begin(u32) {}
