// The bound of a search: the distance of the farthest free column that a phase needs.
#include "cuda/log2.cuh"
#include "cuda/variant.cuh"

namespace VARIANT {

// nearest returns a distance within which m, and few more, of the free columns reached so
// far lie: for m = 1 the least distance, else the upper edge of one of BLOCK bins. The first
// EACH * BLOCK columns reached are a sample for all; only for m = 1 with `all` set does
// nearest read every column. At least m >= 1 columns are reached. One whole block calls.
template <class ThreadGroup> __device__ u64 nearest(const State& s, const ThreadGroup& threadGroup, u64 reached, u64 m, bool all) {
    constexpr u32 EACH = 4;
    constexpr i64 NONE = 0x7fffffffffffffff;
    __shared__ i64 least, most, answer;  // most: the largest distance, negated
    __shared__ u32 bin[BLOCK], part[BLOCK / WARP];
    u64 seen = reached < EACH * BLOCK ? reached : EACH * BLOCK;
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    if (threadIdx.x == 0) least = answer = NONE, most = 0;
    bin[threadIdx.x] = 0;
    i64 mine[EACH], low = NONE, high = 0;
#pragma unroll
    for (u32 e = 0; e < EACH; e++) {
        u64 k = e * BLOCK + threadIdx.x;
        int j = k < seen ? threadGroup.load(s.reached + k) : -1;  // also -1: a column that another block has counted and will write
        mine[e] = j >= 0 ? (i64)(threadGroup.load(s.word + j) >> s.shift) : NONE;
        low = mine[e] < low ? mine[e] : low;
        high = mine[e] != NONE && -mine[e] < high ? -mine[e] : high;
    }
    for (u64 k = seen + threadIdx.x; all && m == 1 && k < reached; k += BLOCK) {
        int j = threadGroup.load(s.reached + k);
        i64 d = j >= 0 ? (i64)(threadGroup.load(s.word + j) >> s.shift) : NONE;
        low = d < low ? d : low;
    }
    low = warpLeast(low), high = warpLeast(high);
    __syncthreads();
    if (lane == 0) atomicMin(&least, low), atomicMin(&most, high);
    __syncthreads();
    low = least;
    if (m == 1) return (u64)low;
    m = (m * seen + reached - 1) / reached;
    u32 bits = 64 - __clzll(-most - low), shift = bits > LOG2<BLOCK> ? bits - LOG2<BLOCK> : 0;
#pragma unroll
    for (u32 e = 0; e < EACH; e++)
        if (mine[e] != NONE) atomicAdd(bin + ((mine[e] - low) >> shift), 1u);
    __syncthreads();
    u32 count = bin[threadIdx.x], up = count;
#pragma unroll
    for (u32 d = 1; d < WARP; d <<= 1) {
        u32 x = __shfl_up_sync(ALL, up, d);
        if (lane >= d) up += x;
    }
    if (lane == WARP - 1) part[warp] = up;
    __syncthreads();
    for (u32 w = 0; w < warp; w++) up += part[w];
    if (up >= m && up - count < m) answer = low + ((i64)(threadIdx.x + 1) << shift) - 1;
    __syncthreads();
    return (u64)answer;
}

// tighten lowers the bound to the distance of the m-th free column, once m are reached: the
// augmentation needs no farther one. Distances may fall while tighten reads them; the bound
// is then too high, and the search only takes longer.
template <class ThreadGroup> __device__ void tighten(State& s, const ThreadGroup& threadGroup, u64 m) {
    __shared__ u64 reached;
    if (threadIdx.x == 0) reached = *(volatile u64*)(s.control + REACHED);
    __syncthreads();
    if (reached >= m) {
        u64 bound = *(volatile u64*)(s.control + BOUND);
        u64 b = nearest(s, threadGroup, reached, m, false) + 1;
        if (threadIdx.x == 0 && b < bound) s.control[BOUND] = b;
    }
    __syncthreads();
}

}  // namespace VARIANT
