// A switch over the elements of an array that is to stay in registers, where indices have to be constants.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// Index is a number that is a constant where it is used.
template <u32 I> struct Index {
    __device__ constexpr operator u32() const { return I; }
};

#define COALESCE_CASE(i) \
    case i: \
        if constexpr (i < N) f(Index<i>()); \
        break;
#define COALESCE_CASES4(i) COALESCE_CASE(i) COALESCE_CASE(i + 1) COALESCE_CASE(i + 2) COALESCE_CASE(i + 3)
#define COALESCE_CASES16(i) COALESCE_CASES4(i) COALESCE_CASES4(i + 4) COALESCE_CASES4(i + 8) COALESCE_CASES4(i + 12)
#define COALESCE_CASES64(i) COALESCE_CASES16(i) COALESCE_CASES16(i + 16) COALESCE_CASES16(i + 32) COALESCE_CASES16(i + 48)

// withIndex calls f with the constant that `index` equals, below N; it does nothing where index is N or more.
template <u32 N, class F> __device__ __forceinline__ void withIndex(u32 index, F f) {
    static_assert(N <= 128, "the switch has 128 cases");
    switch (index) { COALESCE_CASES64(0) COALESCE_CASES64(64) }
}

#undef COALESCE_CASE
#undef COALESCE_CASES4
#undef COALESCE_CASES16
#undef COALESCE_CASES64

}  // namespace coalesce
