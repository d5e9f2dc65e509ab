// Scaled costs, in which all assignment kernels compute. A cost c of type T becomes
// the integer round(c * scale), where scale is sign * 2^shift. Integers keep their
// size: their scale is 1, or -1 where the instance maximises.
#pragma once

namespace coalesce {

// Go: Infinite
constexpr i64 INFINITE = 1ll << 61;  // the scaled cost of a forbidden pair

// Scale converts costs to scaled costs.
template <class T> struct Scale;

template <> struct Scale<int> {
    i64 sign;
    __device__ __forceinline__ explicit Scale(double scale) : sign((i64)scale) {}
    __device__ __forceinline__ i64 operator()(int c) const { return c == 2147483647 ? INFINITE : sign * c; }
};

template <> struct Scale<i64> {
    i64 sign;
    __device__ __forceinline__ explicit Scale(double scale) : sign((i64)scale) {}
    __device__ __forceinline__ i64 operator()(i64 c) const { return c == 9223372036854775807ll ? INFINITE : sign * c; }
};

template <> struct Scale<float> {
    double scale;
    __device__ __forceinline__ explicit Scale(double s) : scale(s) {}
    __device__ __forceinline__ i64 operator()(float c) const {
        return isinf(c) ? INFINITE : __double2ll_rn((double)c * scale);
    }
};

template <> struct Scale<double> {
    double scale;
    __device__ __forceinline__ explicit Scale(double s) : scale(s) {}
    __device__ __forceinline__ i64 operator()(double c) const { return isinf(c) ? INFINITE : __double2ll_rn(c * scale); }
};

}  // namespace coalesce
