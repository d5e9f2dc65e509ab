// The masses as whole amounts, and the scale of the costs.
#include "cuda/variant.cuh"

namespace VARIANT {

// masses makes supplies and demands of real masses: multiples of 2^-60 of their sum, of which b's is scaled to a's, and the largest
// of b takes what rounding leaves. A block calls; false: a mass is negative or not finite, or the sums differ by more than 1e-7 and `equal` asks.
__device__ __forceinline__ bool masses(const Problem& p, const double* a, const double* b, bool equal) {
    __shared__ Slot largest[WARPS];
    double suma = 0, sumb = 0;
    bool bad = false;
    for (u32 i = threadIdx.x; i < p.n; i += TEAM) suma += a[i], bad |= !(a[i] >= 0);
    for (u32 j = threadIdx.x; j < p.m; j += TEAM) sumb += b[j], bad |= !(b[j] >= 0);
    suma = blockSum(suma), sumb = blockSum(sumb);
    constexpr double LARGEST = 1.7976931348623157e308;
    bad |= !(suma > 0 && suma <= LARGEST && sumb > 0 && sumb <= LARGEST);
    bad |= equal && !(fabs(suma - sumb) <= fmax(1e-7 * fmax(suma, sumb), 1e-12));
    if (__syncthreads_or(bad)) return false;
    int exponent = (int)(__double_as_longlong(suma) >> 52 & 2047) - 1022, shift = 60 - exponent;  // suma < 2^exponent
    if (exponent < -900 || exponent > 1000) return false;
    double unit = power(shift), ratio = suma == sumb ? 1.0 : suma / sumb;
    i64 left = 0, most = NEVER;
    u32 at = NOBODY;
    for (u32 i = threadIdx.x; i < p.n; i += TEAM) {
        i64 x = __double2ll_rn(a[i] * unit);
        p.supply[i] = p.left[i] = x, left += x;
    }
    for (u32 j = threadIdx.x; j < p.m; j += TEAM) {
        i64 y = __double2ll_rn(b[j] * ratio * unit);
        p.demand[j] = y, left -= y;
        if (-y < most) most = -y, at = j;
    }
    left = blockSum(left);
    Pick best = nearest(most, at);
    if (threadIdx.x % WARP == 0) largest[threadIdx.x / WARP] = {best.key, best.at, 0};
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 w = 1; w < WARPS; w++)
            if (largest[w].key < best.key || (largest[w].key == best.key && largest[w].at < best.at)) best = {largest[w].key, largest[w].at};
        p.demand[best.at] += left;
        p.control[SHIFT] = (u64)(i64)shift;
    }
    __syncthreads();
    for (u32 j = threadIdx.x; j < p.m; j += TEAM) p.room[j] = p.demand[j];
    return true;
}

// Range is what is known of the costs: their least one, and their mean above it.
struct Range {
    double scale, least, mean;
    bool bad;
};

// survey finds the range of a problem's costs, with all its blocks. They wait for one another.
__device__ __forceinline__ Range survey(const Problem& p, i64 bound) {
    __shared__ Part warps[WARPS];
    Span s;
    double sum = 0;
    u64 all = (u64)p.n * p.m, step = p.threads();
    for (u64 k = (u64)p.member * TEAM + threadIdx.x; k < all; k += step * FLIGHT) {
        T x[FLIGHT];
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) x[f] = p.costs[k + f * step < all ? k + f * step : k];
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) {
            look(s, x[f], false);
            if constexpr (!INTEGERS) s.bad |= !(x[f] - x[f] == 0);
            if (k + f * step < all) sum += (double)x[f];
        }
    }
    s.least = warpLeast(s.least), s.most = ~warpLeast(~s.most), sum = warpSum(sum);
    u64 bad = __ballot_sync(ALL, s.bad) != 0;
    if (threadIdx.x % WARP == 0) warps[threadIdx.x / WARP] = {s.least, s.most, sum, bad};
    __syncthreads();
    if (threadIdx.x == 0) {
        Part whole = warps[0];
        for (u32 w = 1; w < WARPS; w++) {
            whole.least = min(whole.least, warps[w].least), whole.most = max(whole.most, warps[w].most);
            whole.sum += warps[w].sum, whole.bad |= warps[w].bad;
        }
        p.parts[p.member] = whole;
    }
    p.sync();
    s = Span();
    sum = 0;
    for (u32 k = 0; k < p.group; k++) {
        const Part& x = p.parts[k];
        s.least = min(s.least, x.least), s.most = max(s.most, x.most), s.bad |= x.bad != 0;
        sum += x.sum;
    }
    if (s.bad) return {1, 0, 0, true};
    double scale = fit(s, bound), least = INTEGERS ? (double)s.least : __longlong_as_double(wordOf(s.least));
    double mean = sum / (double)all - least;
    return {scale, least, mean, s.bad};
}

}  // namespace VARIANT
