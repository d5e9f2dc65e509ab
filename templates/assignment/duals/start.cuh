// Preparation for the first temperature: sums, the columns' means, the mean slack.
#include "cuda/variant.cuh"

namespace VARIANT {

// blockSum returns the sum of x over a block, to every thread.
__device__ double blockSum(double x) {
    __shared__ double part[WARPS];
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) x += __shfl_xor_sync(ALL, x, d);
    if (threadIdx.x % WARP == 0) part[threadIdx.x / WARP] = x;
    __syncthreads();
    x = 0;
    for (u32 w = 0; w < WARPS; w++) x += part[w];
    __syncthreads();
    return x;
}

// leave stores a block's sum of x; gather returns the sum over all blocks, added in the same
// order everywhere.
__device__ void leave(double* at, double x) {
    x = blockSum(x);
    if (threadIdx.x == 0) at[blockIdx.x] = x;
}
__device__ double gather(const double* at) {
    double x = 0;
    for (u32 b = threadIdx.x; b < gridDim.x; b += BLOCK) x += __ldcg(at + b);
    return blockSum(x);
}

// start sets v to the columns' mean costs over the sample, or to 0 where columns may stay
// unmatched.
__device__ void start(Problem& p, GridBarrier& barrier) {
    for (u64 j = thread(); j < 2 * p.cols; j += threads()) p.sums[j] = 0;
    for (u64 j = thread(); j < p.cols; j += threads()) p.v[j] = 0;
    barrier.sync();
    if (p.capped) return;
    for (u64 j = threadIdx.x; j < p.cols; j += BLOCK) {
        i64 sum = 0;
        u64 allowed = 0;
#pragma unroll FLIGHT
        for (u64 r = p.from(); r < p.to(); r++) {
            i64 x = p.scale(p.costs[r * p.stride * p.cols + j]);
            if (x < INFINITE) sum += x, allowed++;
        }
        if (allowed) atomicAdd(p.sums + j, (u64)sum), atomicAdd(p.sums + p.cols + j, allowed);
    }
    barrier.sync();
    for (u64 j = thread(); j < p.cols; j += threads()) {
        u64 allowed = p.sums[p.cols + j];
        if (allowed) p.v[j] = (double)(i64)p.sums[j] / (double)allowed;
        p.sums[j] = 0;
    }
    barrier.sync();
}

// slack sets u to the rows' least c - v and returns the mean of c - u - v.
__device__ double slack(Problem& p, GridBarrier& barrier) {
    u32 lane = threadIdx.x % WARP;
    double sum = 0, pairs = 0;
    for (u64 r = p.from() + threadIdx.x / WARP; r < p.to(); r += WARPS) {
        u64 i = r * p.stride;
        double least = INFINITY, total = 0, allowed = 0;
#pragma unroll FLIGHT
        for (u64 j = lane; j < p.cols; j += WARP) {
            double x = p.cost(p.costs[i * p.cols + j]) - p.v[j];
            if (x < INFINITY) total += x, allowed++;
            least = fmin(least, x);
        }
#pragma unroll
        for (u32 d = WARP / 2; d > 0; d >>= 1) least = fmin(least, __shfl_xor_sync(ALL, least, d));
        if (least == INFINITY) least = 0;
        if (lane == 0) p.u[i] = least;
        sum += total - allowed * least;
        pairs += allowed;
    }
    leave(p.partial, sum);
    leave(p.partial + gridDim.x, pairs);
    barrier.sync();
    sum = gather(p.partial), pairs = gather(p.partial + gridDim.x);
    barrier.sync();  // before partial is overwritten
    return pairs > 0 ? sum / pairs : 0;
}

}  // namespace VARIANT
