// The range of costs, and the scale that follows from it.
#include "cuda/variant.cuh"

namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr bool INTEGERS = param::value_int32 || param::value_int64;  // else floats
constexpr i64 FORBIDDEN = sizeof(T) == 4 ? 2147483647 : 9223372036854775807ll;  // of integers

// warpLeast returns the least x of a whole warp, to every lane.
__device__ __forceinline__ i64 warpLeast(i64 x) {
    int high = (int)(x >> 32), h = __reduce_min_sync(ALL, high);
    u32 low = __reduce_min_sync(ALL, high == h ? (u32)x : ~0u);
    return (i64)((u64)(u32)h << 32 | low);
}

// Span is the range of costs, as integers of the same order. `bad` says that some cost is
// invalid: NaN, the infinity that would win, a forbidden integer, or one too large.
struct Span {
    i64 least = 9223372036854775807ll, most = -9223372036854775807ll - 1;
    bool bad = false;
    __device__ __forceinline__ void see(i64 key) { least = min(least, key), most = max(most, key); }
};

// keyOf maps a number to an integer of the same order: integers to themselves, floats by
// their bits.
__device__ __forceinline__ i64 keyOf(T x) {
    if constexpr (INTEGERS) return (i64)x;
    i64 b = __double_as_longlong((double)x);
    return b ^ (i64)((u64)(b >> 63) >> 1);
}

// wordOf is the inverse of keyOf: the integer, or the bits of the double, with a given key.
__device__ __forceinline__ i64 wordOf(i64 key) {
    if constexpr (INTEGERS) return key;
    return key ^ (i64)((u64)(key >> 63) >> 1);
}

// look adds a cost to the span. The integer FORBIDDEN is invalid, since callers cannot mean
// a forbidden pair by integers. Of floats NaN and the infinity that would win are invalid,
// and the other infinity forbids a pair.
__device__ __forceinline__ void look(Span& s, T c, bool maximize) {
    if constexpr (INTEGERS) {
        if (c == FORBIDDEN) s.bad = true;
        else s.see(keyOf(c));
    } else {
        if (c - c == 0) s.see(keyOf(c));
        else if (c != c || (c < 0) != maximize) s.bad = true;
    }
}

__device__ __forceinline__ double power(int shift) { return __longlong_as_double((i64)(shift + 1023) << 52); }

// fit returns the scale of costs, without the sign. Integers have scale 1, and are invalid
// where one exceeds `bound` in magnitude. Floats have the largest power of two, up to
// 2^1000, for which all scaled costs are at most `bound` in magnitude.
__device__ __forceinline__ double fit(Span& s, i64 bound) {
    if constexpr (INTEGERS) {
        if (s.least < -bound || s.most > bound) s.bad = true;
        return 1;
    }
    double size = max(fabs(__longlong_as_double(wordOf(s.least))), fabs(__longlong_as_double(wordOf(s.most))));
    if (size == 0) return 1;
    int exponent = (int)(__double_as_longlong(size) >> 52) - 1022;  // size < 2^exponent
    int shift = min(min(64 - __clzll(bound), 60) - exponent, 1000);  // at most one too large
    while (__double2ll_rn(size * power(shift)) > bound) shift--;
    return power(shift);
}

}  // namespace VARIANT
