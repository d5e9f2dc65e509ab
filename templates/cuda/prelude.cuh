// Definitions for every generated kernel: value types, ordered keys, atomics and
// warp reductions. Bodies of kernels contain no inline PTX; it stands in these headers,
// beside its emulated body.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

namespace coalesce {

constexpr u32 WARP = 32;
constexpr u32 ALL = 0xffffffffu;

// lowest returns a value that is at most every value of an instance.
template <class T> __device__ __forceinline__ T lowest();
template <> __device__ __forceinline__ int lowest<int>() { return -2147483647 - 1; }
template <> __device__ __forceinline__ i64 lowest<i64>() { return -9223372036854775807ll - 1; }
template <> __device__ __forceinline__ float lowest<float>() { return __int_as_float((int)0xff800000u); }
template <> __device__ __forceinline__ double lowest<double>() {
    return __longlong_as_double((i64)0xfff0000000000000ull);
}

template <class T> __device__ __forceinline__ T larger(T a, T b) { return a > b ? a : b; }
template <> __device__ __forceinline__ int larger<int>(int a, int b) { return max(a, b); }
template <> __device__ __forceinline__ float larger<float>(float a, float b) { return fmaxf(a, b); }
template <> __device__ __forceinline__ double larger<double>(double a, double b) { return fmax(a, b); }

// ordered maps 32-bit values to unsigned integers of the same order; unordered is its
// inverse.
__device__ __forceinline__ u32 ordered(int x) { return (u32)x ^ 0x80000000u; }
__device__ __forceinline__ u32 ordered(float x) {
    u32 b = (u32)__float_as_int(x + 0.0f);
    return b & 0x80000000u ? ~b : b | 0x80000000u;
}
template <class T> __device__ __forceinline__ T unordered(u32 key);
template <> __device__ __forceinline__ int unordered<int>(u32 key) { return (int)(key ^ 0x80000000u); }
template <> __device__ __forceinline__ float unordered<float>(u32 key) {
    return __int_as_float((int)(key & 0x80000000u ? key ^ 0x80000000u : ~key));
}

// raise sets *p to the larger of *p and x, atomically. Bits of floats are compared as
// integers, which have the same order for values of at least 0 and the reverse order
// for negative ones; x + 0 turns negative zero into positive zero.
__device__ __forceinline__ void raise(int* p, int x) { atomicMax(p, x); }
__device__ __forceinline__ void raise(i64* p, i64 x) { atomicMax(p, x); }
__device__ __forceinline__ void raise(u64* p, u64 x) { atomicMax(p, x); }
__device__ __forceinline__ void raise(float* p, float x) {
    x += 0.0f;
    if (x >= 0.0f) atomicMax((int*)p, __float_as_int(x));
    else atomicMin((u32*)p, (u32)__float_as_int(x));
}
__device__ __forceinline__ void raise(double* p, double x) {
    x += 0.0;
    if (x >= 0.0) atomicMax((i64*)p, __double_as_longlong(x));
    else atomicMin((u64*)p, (u64)__double_as_longlong(x));
}

// warpLargest returns the largest x of a whole warp, to every lane.
template <class T> __device__ __forceinline__ T warpLargest(T x) {
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) x = larger(x, __shfl_xor_sync(ALL, x, d));
    return x;
}

// warpReduce is warpLargest by the reduction instruction, which exists for types of
// 32 bits; for other types it calls warpLargest.
template <class T> __device__ __forceinline__ T warpReduce(T x) { return warpLargest(x); }
__device__ __forceinline__ int warpReduce(int x) { return __reduce_max_sync(ALL, x); }
__device__ __forceinline__ float warpReduce(float x) {
    return unordered<float>(__reduce_max_sync(ALL, ordered(x)));
}

}  // namespace coalesce
