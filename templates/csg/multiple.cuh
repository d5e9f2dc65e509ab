// Magnitudes of coalitions' values, and multiples of an integer among them.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// size returns an integer that orders values by magnitude; 0 for minus infinity.
__device__ __forceinline__ u64 size(i64 x) { return x < 0 ? 0 - (u64)x : (u64)x; }
__device__ __forceinline__ u64 size(double x) {
    u64 bits = (u64)__double_as_longlong(x) & 0x7fffffffffffffffull;
    return bits == 0x7ff0000000000000ull ? 0 : bits;
}

// A Multiple tells the multiples of an integer m = odd * 2^twos without a division.
struct Multiple {
    u64 inverse;  // of odd, modulo 2^64
    u64 twos;
    u64 most;     // the largest k with k * m below 2^64
    __device__ __forceinline__ bool of(u64 x) const {
        x *= inverse;
        return (x >> twos | x << (64 - twos) % 64) <= most;
    }
    // Of integers, and of floats in units of 1 / 2^unit. Minus infinity is a multiple.
    __device__ __forceinline__ bool of(i64 x, int) const { return of(size(x)); }
    __device__ __forceinline__ bool of(double x, int unit) const {
        if (size(x) == 0) return true;
        double scaled = scalbn(x, unit);
        i64 units = (i64)scaled;
        return (double)units == scaled && of(size(units));
    }
};

}  // namespace coalesce
