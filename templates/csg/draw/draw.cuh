// Values of the literature's distributions, drawn on the device that uses them; equal to those of package draw bit by bit.
#include "cuda/variant.cuh"
#include "csg/elementary.cuh"

namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 BLOCK = param::block;

// Distributions, in the order of package draw.
// Go: Law
enum Law {
    UNIFORM, NORMAL, EXPONENTIAL, BETA, GAMMA, MODIFIED_UNIFORM, MODIFIED_NORMAL, AGENT_UNIFORM, AGENT_NORMAL, NDCS,
    CHI_SQUARE, WEIBULL, F, CAUCHY, STUDENT_T, ZIPF, PASCAL, NORMAL_UNSCALED, UCT_NORMAL, UCT_AGENT, UCT_NDCS,
    TIES, SUPERADDITIVE, PARETO, NEGATIVE, INFEASIBLE, PLANTED, LAWS
};

// Draws produces the random numbers of one coalition, by Philox4x32-10 of the coalition's number.
struct Draws {
    u64 seed, number;
    u32 block;
    double spare;
    bool have;

    __device__ double uniform() {
        if (have) {
            have = false;
            return spare;
        }
        u32 c0 = (u32)number, c1 = (u32)(number >> 32), c2 = block++, c3 = 0, k0 = (u32)seed, k1 = (u32)(seed >> 32);
        for (u32 round = 0; round < 10; round++) {
            u64 p = (u64)c0 * 0xD2511F53u, q = (u64)c2 * 0xCD9E8D57u;
            c0 = (u32)(q >> 32) ^ c1 ^ k0;
            c2 = (u32)(p >> 32) ^ c3 ^ k1;
            c1 = (u32)q;
            c3 = (u32)p;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        have = true;
        spare = unit(c2, c3);
        return unit(c0, c1);
    }
    __device__ static double unit(u32 low, u32 high) { return ((double)(((u64)high << 32 | low) >> 12) + 0.5) * 0x1p-52; }
    __device__ double exponential() { return -logarithm(uniform()); }
    __device__ double normal(double mean, double deviation) {
        double r = __dsqrt_rn(2 * exponential());
        return mean + times(deviation, times(r, cosine(times(6.2831853071795862, uniform()))));
    }
    __device__ double chiSquare(u32 k) {
        double x = 0;
        for (u32 i = 0; i < k / 2; i++) x += exponential();
        x = times(x, 2);
        if (k % 2 == 0) return x;
        double z = normal(0, 1);
        return x + times(z, z);
    }
    __device__ double rank(const double* sums, u32 size) {
        double at = times(uniform(), sums[size - 1]);
        u32 k = 0;
        while (k + 1 < size && !(at < sums[k])) k++;
        return k + 1;
    }
};

__device__ __forceinline__ double notBelow0(double x) { return x > 0 ? x : 0; }

// root returns the s-th root of x > 0.
__device__ __forceinline__ double root(double x, double s) {
    return s == 1 ? x : s == 2 ? __dsqrt_rn(x) : exponential(times(1 / s, logarithm(x)));
}

// heavy returns u to the power of -2/3.
__device__ __forceinline__ double heavy(double u) {
    double fraction;
    int e = exponentOf(u, fraction);
    double x = 1 / times(exponential(times(2.0 / 3 - 1, logarithm(u))), fraction);
    return times(x, __longlong_as_double((i64)((u64)(1023 - e) << 52)));
}

// value draws the value of the coalition `mask` of `size` agents from the distribution `law`,
// whose parameters (a number an agent, or partial sums) are `own`.
__device__ double value(u32 law, Draws& d, u64 mask, u32 size, const double* own) {
    double s = size, x = 0;
    switch (law) {
    case UNIFORM: return s * d.uniform();
    case NORMAL: return notBelow0(times(s, d.normal(10, 0.1)));
    case EXPONENTIAL: return s * d.exponential();
    case BETA: x = sine(times(1.5707963267948966, d.uniform())); return times(s, times(x, x));
    case GAMMA: x = d.exponential(); x += d.exponential(); return s * (2 * x);
    case MODIFIED_UNIFORM: x = times(times(10, s), d.uniform()); return d.uniform() < 0.21 ? x + times(50, d.uniform()) : x;
    case MODIFIED_NORMAL: x = notBelow0(times(s, d.normal(10, 0.1))); return d.uniform() < 0.21 ? x + d.normal(25, 0.1) : x;
    case AGENT_UNIFORM: for (; mask != 0; mask &= mask - 1) x += times(times(2, own[__ffsll((i64)mask) - 1]), d.uniform()); return x;
    case AGENT_NORMAL: for (; mask != 0; mask &= mask - 1) x += notBelow0(d.normal(own[__ffsll((i64)mask) - 1], 0.1)); return x;
    case NDCS: do x = d.normal(s, __dsqrt_rn(s)); while (!(x > 0)); return x;
    case CHI_SQUARE: return d.chiSquare(size);
    case WEIBULL: return s * times(0.9, root(d.exponential(), s));
    case F: x = d.chiSquare(1); return x / (d.chiSquare(size + 1) / (s + 1));
    case CAUCHY: return notBelow0(times(10, s) + times(0.1, tangent(times(3.1415926535897931, d.uniform() - 0.5))));
    case STUDENT_T: x = d.normal(0, 1); return notBelow0(s * (x / __dsqrt_rn(d.chiSquare(size) / s)));
    case ZIPF: x = times(s, d.rank(own, size)); return x + times(50, d.uniform());
    case PASCAL: for (u32 i = 0; i < size; i++) x += floor(d.exponential() / 0.10536051565782631); x = times(s, x); return x + times(50, d.uniform());
    case NORMAL_UNSCALED: return notBelow0(d.normal(times(10, s), 0.01));
    case UCT_NORMAL: return d.normal(times(10, s), 0.1);
    case UCT_AGENT: for (; mask != 0; mask &= mask - 1) x += times(own[__ffsll((i64)mask) - 1], d.uniform()); return x;
    case UCT_NDCS: return d.normal(s, __dsqrt_rn(s));
    case TIES: return s;
    case SUPERADDITIVE: return s * s;
    case PARETO: return s * heavy(d.uniform());
    case NEGATIVE: return -s * d.uniform();
    case INFEASIBLE: x = s * d.uniform(); return size < 2 || d.uniform() < 0.5 ? x : lowest<double>();
    case PLANTED: return own[__ffsll((i64)mask) - 1] == (double)mask ? s : s * d.uniform();
    }
    return 0;
}

// as converts x to the type of `to`. Integers are scaled, rounded to even and clipped to -most .. most.
template <class I> __device__ __forceinline__ void as(double x, double scale, double most, I& to) {
    x = rint(times(x, scale));
    to = (I)(x > most ? most : x < -most ? -most : x);
}
__device__ __forceinline__ void as(double x, double, double, double& to) { to = x; }
__device__ __forceinline__ void as(double x, double, double, float& to) { to = (float)x; }

// values draws the values of coalitions first to first + count - 1 into v[at] and what follows.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(values)(T* v, unsigned long long at, unsigned long long first, unsigned long long count, unsigned long long law,
        unsigned long long seed, const double* own, double scale, double most) {
    u64 step = (u64)gridDim.x * BLOCK;
    for (u64 i = (u64)blockIdx.x * BLOCK + threadIdx.x; i < count; i += step) {
        u64 mask = first + i;
        Draws d = {seed, mask, 0, 0, false};
        as(mask == 0 ? 0.0 : value((u32)law, d, mask, (u32)__popcll(mask), own), scale, most, v[at + i]);
    }
}

}  // namespace VARIANT
