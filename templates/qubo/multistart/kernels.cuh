// The entry points.
#include "cuda/variant.cuh"

namespace VARIANT {

// sample draws `count` solutions, every bit by a fair coin, and sets `twice` of each
// to 0, to which the evaluation adds twice the objective.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(sample)(
    unsigned long long* x, unsigned long long n, unsigned long long side, unsigned long long count, unsigned long long seed,
    V* twice) {
    u64 width = side / 64;
    for (u64 s = blockIdx.x * (u64)BLOCK + threadIdx.x; s < count; s += gridDim.x * (u64)BLOCK) twice[s] = 0;
    for (u64 k = blockIdx.x * (u64)BLOCK + threadIdx.x; k < count * width; k += gridDim.x * (u64)BLOCK)
        x[k] = word(seed, k / width, k % width) & within(n, k % width);
}

// summarise reduces `twice`, twice the objectives, to their sum and their maximum. One block.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(summarise)(
    const V* twice, unsigned long long count, V* sumAndLargest) {
    __shared__ V sums[WARPS], tops[WARPS];
    V sum = 0, top = lowest<V>();
    for (u64 k = threadIdx.x; k < count; k += BLOCK) sum += twice[k], top = larger(top, twice[k]);
    for (u32 d = WARP / 2; d > 0; d >>= 1) sum += __shfl_xor_sync(ALL, sum, d);
    top = warpLargest(top);
    if (threadIdx.x % WARP == 0) sums[threadIdx.x / WARP] = sum, tops[threadIdx.x / WARP] = top;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (u32 k = 1; k < WARPS; k++) sum += sums[k], top = larger(top, tops[k]);
    sumAndLargest[0] = sum, sumAndLargest[1] = top;
}

// diversify changes solution s, for the loop counter i = counter + s > 0. With blend,
// a fair coin for each variable chooses between the best solution's value and the
// solution's own. Then every stride-th variable from `start` is flipped, where
// stride = 2 + (i-1) % strides and start = (i-1) / strides % stride. `twice` is set to 0.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(diversify)(
    unsigned long long* x, const unsigned long long* best, unsigned long long n, unsigned long long side,
    unsigned long long count, unsigned long long counter, unsigned long long strides, unsigned long long seed,
    unsigned long long blend, V* twice) {
    u64 width = side / 64;
    for (u64 s = blockIdx.x * (u64)BLOCK + threadIdx.x; s < count; s += gridDim.x * (u64)BLOCK) twice[s] = 0;
    for (u64 k = blockIdx.x * (u64)BLOCK + threadIdx.x; k < count * width; k += gridDim.x * (u64)BLOCK) {
        u64 w = k % width, i = counter + k / width;
        if (i == 0) continue;
        u64 stride = 2 + (i - 1) % strides, coins = blend ? word(seed, i, w) : 0;
        x[k] = (best[w] & coins | x[k] & ~coins) ^ comb((i - 1) / strides % stride, stride, w) & within(n, w);
    }
}

// ascend improves each solution whose doubled objective exceeds `threshold`, one
// block a solution, to a local optimum or by `most` flips. Each flip is the one with
// the largest gain, of equal gains the lowest variable's. ascend updates x and
// twice; flips receives the number of flips, or -1 for a solution below the
// threshold. Dynamic shared memory: the gains, with state=shared, and the solution.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(ascend)(
    const C* rows, unsigned int* x, D* gain, unsigned long long side, unsigned long long n, long long unit,
    double threshold, unsigned long long most, V* twice, long long* flips) {
    u64 s = blockIdx.x;
    if (!((double)twice[s] > threshold)) {
        if (threadIdx.x == 0) flips[s] = -1;
        return;
    }
    ascend(rows, x + s * (side / 32), gain + s * side, side, n, unit, most, twice + s, flips + s);
}

}  // namespace VARIANT
