// Costs as integers, computed from their bits: c * sign * 2^shift, rounded to nearest, ties to even.
#include "cuda/variant.cuh"

namespace VARIANT {

struct Cost {
    int sign;     // 1, or -1 where the instance maximises
    int shift;
    u32 forbidden, rounded;  // numbers of costs of forbidden pairs, and of costs that rounding changed
    __device__ __forceinline__ Cost(i64 sign, i64 shift) : sign((int)sign), shift((int)shift), forbidden(0), rounded(0) {}
    __device__ __forceinline__ i64 free() {
        forbidden++;
        return FREE;
    }
    __device__ __forceinline__ i64 operator()(int c) { return c == 2147483647 ? free() : (i64)sign * c; }
    __device__ __forceinline__ i64 operator()(i64 c) {
        if (!within(c)) return c == 9223372036854775807ll ? free() : INVALID;
        return sign * c;
    }
    __device__ __forceinline__ i64 operator()(float c) { return real<u32, 23, 127>((u32)__float_as_int(c)); }
    __device__ __forceinline__ i64 operator()(double c) { return real<u64, 52, 1023>((u64)__double_as_longlong(c)); }

    // real converts a float, given its bits, the number of bits of its mantissa, and its exponent's bias.
    template <typename Bits, int MANTISSA, int BIAS> __device__ __forceinline__ i64 real(Bits b) {
        constexpr int SPECIAL = 2 * BIAS + 1;  // the exponent of infinities and NaN
        Bits mantissa = b & (((Bits)1 << MANTISSA) - 1);
        bool negative = (b >> (8 * sizeof(Bits) - 1) != 0) != (sign < 0);
        int e = (int)(b >> MANTISSA) & SPECIAL;
        if (e == SPECIAL) return mantissa == 0 && !negative ? free() : INVALID;
        if (e == 0) e = 1;
        else mantissa |= (Bits)1 << MANTISSA;
        int s = e - BIAS - MANTISSA + shift;
        if (s > 60 - MANTISSA) return mantissa == 0 ? 0 : INVALID;
        i64 x = s >= 0 ? (i64)mantissa << s : nearest<MANTISSA>(mantissa, -s);
        return negative ? -x : x;
    }
    // nearest returns mantissa / 2^s, for s > 0, rounded to nearest, ties to even.
    template <int MANTISSA> __device__ __forceinline__ i64 nearest(u64 mantissa, int s) {
        if (s > MANTISSA + 2) {
            rounded += mantissa != 0;
            return 0;
        }
        u64 q = mantissa >> s, rest = mantissa & ((1ull << s) - 1), half = 1ull << (s - 1);
        rounded += rest != 0;
        return (i64)(q + (rest > half || (rest == half && (q & 1) != 0)));
    }
};

}  // namespace VARIANT
