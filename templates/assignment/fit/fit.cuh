// Kernels before and after assignment/batch, for costs that only the device holds: see package batch, fitted.go.
#include "cuda/variant.cuh"

namespace VARIANT {

using namespace coalesce;

constexpr u32 BLOCK = param::block;  // threads, at most
// Go: Flight
constexpr u32 FLIGHT = 8;            // costs a thread loads at once

// Indices of the findings about costs, a word each: the least and the largest of allowed
// pairs, as integers or as the bits of doubles; whether some are invalid; the scale.
// Go: Word
enum Word { LEAST, MOST, BAD, SCALE, WORDS };

// The number of words that a check of assignment/batch writes about a problem.
// Go: Found
constexpr u32 FOUND = 13;

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

// pick: each thread copies the cost that stands at one of `count` indices.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(pick)(const T* costs, const unsigned long long* indices, unsigned long long count, T* picked) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) picked[k] = costs[indices[k]];
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
