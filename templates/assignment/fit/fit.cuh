// Kernels before and after assignment/batch, for costs that only the device holds: see package batch, fitted.go.
#include "cuda/variant.cuh"

namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 BLOCK = param::block;  // threads, at most
// Go: Flight
constexpr u32 FLIGHT = 8;            // costs a thread loads at once
constexpr bool INTEGERS = param::value_int32 || param::value_int64;  // else floats
constexpr i64 FORBIDDEN = sizeof(T) == 4 ? 2147483647 : 9223372036854775807ll;  // of integers

// Indices of the findings about costs, a word each: the least and the largest of allowed
// pairs, as integers or as the bits of doubles; whether some are invalid; the scale.
// Go: Word
enum Word { LEAST, MOST, BAD, SCALE, WORDS };

// The number of words that a check of assignment/batch writes about a problem.
// Go: Found
constexpr u32 FOUND = 13;

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
    int shift = min(60 - exponent, 1000);
    while (__double2ll_rn(size * power(shift)) > bound) shift--;
    return power(shift);
}

// survey returns the span of the costs that belong to the thread.
__device__ __forceinline__ Span survey(const T* costs, u64 from, u64 end, bool maximize) {
    Span s;
    for (u64 k = from + threadIdx.x; k < end; k += (u64)blockDim.x * FLIGHT) {
        T x[FLIGHT];
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) x[f] = costs[k + f * blockDim.x < end ? k + f * blockDim.x : k];
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) look(s, x[f], maximize);
    }
    return s;
}

// range: each block reads `length` of all costs, those of one problem or a share of these,
// and writes WORDS words of findings, `step` words after those of the block before. Given
// `problems`, of `rows` rows each, the block also sets its problem's scale, and sets the
// problem's number of rows to 0 where costs are invalid.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(range)(const T* costs, unsigned long long all, unsigned long long length,
    unsigned long long rows, long long bound, unsigned long long maximize, long long* problems, long long* found, unsigned long long step) {
    __shared__ i64 leasts[BLOCK / WARP], mosts[BLOCK / WARP];
    u64 from = blockIdx.x * length;
    Span s = survey(costs, from, min(from + length, (u64)all), maximize != 0);
    i64 least = warpLeast(s.least), most = ~warpLeast(~s.most);
    if (threadIdx.x % WARP == 0) leasts[threadIdx.x / WARP] = least, mosts[threadIdx.x / WARP] = most;
    s.bad = __syncthreads_or(s.bad) != 0;
    if (threadIdx.x != 0) return;
    for (u32 w = 0; w < blockDim.x / WARP; w++) s.least = min(s.least, leasts[w]), s.most = max(s.most, mosts[w]);
    if (s.least > s.most) s.least = s.most = 0;  // none is allowed
    double scale = fit(s, bound);
    if (maximize != 0) scale = -scale;
    i64* words = (i64*)found + blockIdx.x * step;
    words[LEAST] = wordOf(s.least), words[MOST] = wordOf(s.most);
    words[BAD] = s.bad, words[SCALE] = __double_as_longlong(scale);
    if (problems == nullptr) return;
    Problem& p = ((Problem*)problems)[blockIdx.x];
    p.rows = s.bad ? 0 : (i64)rows;
    p.scale = scale;
}

// gather: each block copies parts of its problem's answer behind the words that range wrote:
// the counts, the check's findings, the rows' columns and, with duals != 0, the duals.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(gather)(const long long* problems, const long long* answers,
    unsigned long long checks, unsigned long long duals, long long* wanted, unsigned long long step) {
    const Problem& p = ((const Problem*)problems)[blockIdx.x];
    const i64 *answer = (const i64*)answers + p.answer, *found = (const i64*)answers + checks + FOUND * (u64)blockIdx.x;
    i64* to = (i64*)wanted + blockIdx.x * step + WORDS;
    u64 prices = p.rows + p.cols, columns = (p.rows + 1) / 2;
    if (threadIdx.x < COUNTS) to[threadIdx.x] = answer[threadIdx.x];
    if (threadIdx.x < FOUND) to[COUNTS + threadIdx.x] = checks == 0 ? 0 : found[threadIdx.x];
    to += COUNTS + FOUND;
    for (u64 k = threadIdx.x; k < columns; k += blockDim.x) to[k] = answer[COUNTS + prices + k];
    if (duals == 0) return;
    for (u64 k = threadIdx.x; k < prices; k += blockDim.x) to[columns + k] = answer[COUNTS + k];
}

}  // namespace VARIANT
