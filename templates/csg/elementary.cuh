// Elementary functions of float64. Results equal those of Go's package math on amd64 bit by
// bit: operations and their order are the same, and only `exponential` fuses products with
// sums. The methods are those of FreeBSD's msun (logarithm), Cephes (cosine, sine, tangent)
// and Shibata's SLEEF (exponential), as Go's sources have them.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// times returns a * b, rounded, which the compiler never fuses with a sum.
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }

// horner evaluates a polynomial in x; the coefficient of the highest power comes first.
template <class... Rest> __device__ __forceinline__ double horner(double x, double first, Rest... rest) {
    double y = first;
    ((y = times(y, x) + rest), ...);
    return y;
}

// exponentOf returns e, and sets fraction in [0.5, 1), such that x = fraction * 2^e, for a normal x > 0.
__device__ __forceinline__ int exponentOf(double x, double& fraction) {
    u64 bits = (u64)__double_as_longlong(x);
    fraction = __longlong_as_double((i64)((bits & 0xfffffffffffffull) | 0x3fe0000000000000ull));
    return (int)(bits >> 52) - 0x3fe;
}

// logarithm returns the natural logarithm of a normal x > 0.
__device__ __forceinline__ double logarithm(double x) {
    double f;
    double k = exponentOf(x, f);
    if (f <= 7.07106781186547524401e-01) {
        k -= 1;
        f = times(f, 2);
    }
    f -= 1;
    double s = f / (2 + f), s2 = times(s, s), s4 = times(s2, s2);
    double t1 = times(s2, horner(s4, 1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01, 6.666666666666735130e-01));
    double t2 = times(s4, horner(s4, 1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01));
    double half = times(times(0.5, f), f);
    double low = times(s, half + (t1 + t2)) + times(k, 1.90821492927058770002e-10);
    return times(k, 6.93147180369123816490e-01) - ((half - low) - f);
}

// exponential returns e to the power of x, where that is a normal number.
__device__ __forceinline__ double exponential(double x) {
    double k = rint(times(x, 1.4426950408889634073599246810018920));
    x = __fma_rn(-k, 0.69314718055966295651160180568695068359375, x);
    x = __fma_rn(-k, 0.28235290563031577122588448175013436025525412068e-12, x);
    x = times(x, 0.0625);
    double y = 2.4801587301587301587e-5;
    y = __fma_rn(y, x, 1.9841269841269841270e-4);
    y = __fma_rn(y, x, 1.3888888888888888889e-3);
    y = __fma_rn(y, x, 8.3333333333333333333e-3);
    y = __fma_rn(y, x, 4.1666666666666666667e-2);
    y = __fma_rn(y, x, 1.6666666666666666667e-1);
    y = __fma_rn(y, x, 0.5);
    y = __fma_rn(y, x, 1.0);
    x = times(x, y);
    for (u32 i = 0; i < 3; i++) x = times(x, x + 2);
    x = __fma_rn(x, x + 2, 1.0);
    return times(x, __longlong_as_double((i64)((u64)((i64)k + 1023) << 52)));
}

// octant reduces x, from 0 to 2^29, by an even multiple of pi/4: the whole multiples in x,
// and one more where their number is odd. The result is the number subtracted.
__device__ __forceinline__ u32 octant(double& x) {
    u32 j = (u32)(u64)times(x, 4 / 3.14159265358979323846264338327950288);
    j += j & 1;
    double y = j;
    x = ((x - times(y, 7.85398125648498535156e-1)) - times(y, 3.77489470793079817668e-8)) - times(y, 2.69515142907905952645e-15);
    return j;
}

__device__ __forceinline__ double sineNear0(double z) {
    double zz = times(z, z);
    double p = horner(zz, 1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6, -1.98412698295895385996e-4,
                      8.33333333332211858878e-3, -1.66666666666666307295e-1);
    return z + times(times(z, zz), p);
}

__device__ __forceinline__ double cosineNear0(double z) {
    double zz = times(z, z);
    double p = horner(zz, -1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7, 2.48015872888517045348e-5,
                      -1.38888888888730564116e-3, 4.16666666666665929218e-2);
    return (1.0 - times(0.5, zz)) + times(times(zz, zz), p);
}

// cosine and sine take x from 0 to 2^29, in radians.
__device__ __forceinline__ double cosine(double x) {
    u32 j = octant(x) & 7;
    double y = j % 4 == 2 ? sineNear0(x) : cosineNear0(x);
    return j == 2 || j == 4 ? -y : y;
}
__device__ __forceinline__ double sine(double x) {
    u32 j = octant(x) & 7;
    double y = j % 4 == 2 ? cosineNear0(x) : sineNear0(x);
    return j >= 4 ? -y : y;
}

// tangent takes x up to 2^29 in magnitude, in radians.
__device__ __forceinline__ double tangent(double x) {
    double z = fabs(x);
    u32 j = octant(z);
    double zz = times(z, z), y = z;
    if (zz > 1e-14) {
        double p = horner(zz, -1.30936939181383777646e4, 1.15351664838587416140e6, -1.79565251976484877988e7);
        double q = horner(zz, 1.0, 1.36812963470692954678e4, -1.32089234440210967447e6, 2.50083801823357915839e7, -5.38695755929454629881e7);
        y = z + times(z, times(zz, p) / q);
    }
    if (j & 2) y = -1 / y;
    return x < 0 ? -y : y;
}

}  // namespace coalesce
