// Optimal transport between masses, for dense costs of one shape: see package flow.
#include "cuda/variant.cuh"
#include "cuda/shared.cuh"
#include "cuda/barrier.cuh"
#include "cuda/choice.cuh"
#include "assignment/costs.cuh"

// Rows ship all they have to columns, which take all they can, at the least cost. Prices of columns come from Sinkhorn's iterations
// with a falling epsilon, a first flow from rows that bid for columns, and the optimal one from the network simplex method, whose tree
// is in the shared memory of a problem's first block: a thread owns nodes, and a pivot takes five barriers. All blocks read the
// costs for it. A launch has a block a problem, or all blocks for one problem.
namespace VARIANT {

typedef unsigned short u16;

constexpr u32 TEAM = param::team;  // threads of a block
constexpr u32 EACH = param::each;  // nodes of a thread, at most
constexpr u32 WARPS = TEAM / WARP;
constexpr u32 FLIGHT = 8;          // costs that a thread loads at once
constexpr i64 NEVER = 9223372036854775807ll;
constexpr u32 NOBODY = ~0u;
static_assert(TEAM * EACH < 1 << 15, "nodes are words of 16 bits");

// What became of a problem: its flow is optimal; a cost is not finite, or too large; masses are negative, not finite, or their sums
// differ; the flow is optimal for costs rounded to units, and another may be better by the rounding; pivots ran out; the check failed.
// Go: Status
enum Status { PROVEN, INVALID_COST, INVALID_MASS, UNDECIDED, UNFINISHED, REFUTED };

// Words of a problem's control.
enum Control { BIDDERS, DONE = BIDDERS + 3, FOUND, WRONG, NEAR, ROUNDED, SHIFT, CONTROLS };

// Slot is what a warp gives its block.
struct Slot {
    i64 key;
    u32 at, also;
};

// Part is what a block has seen of the costs.
struct Part {
    i64 least, most;
    double sum;
    u64 bad;
};

// Problem is one problem, and the memory that its blocks share. Words of the memory: wordsOf in package flow.
struct Problem {
    const T* costs;
    u32 n, m, group, member;  // rows, columns, blocks, and which of these this is
    u32* word;                // of the barrier
    Scale<T> scale;
    Part* parts;
    u64* control;
    i64 *supply, *demand, *left, *room, *u, *v, *key, *carried;  // key: by row, of a bid, or the cost of a candidate; carried: by node, to its parent
    u32 *col, *next, *head, *parent;                             // by row: of a candidate, and the next that bids for the same column; by column: the first; by node
    float *rowLevel, *colLevel;
    __device__ __forceinline__ Problem(const T* costs, u64* work, u32* word, u64 rows, u64 cols, u32 group, u32 member) : costs(costs), n((u32)rows), m((u32)cols),
        group(group), member(member), word(word), scale(1), parts((Part*)work), control(work + 4 * (u64)group), supply((i64*)(control + CONTROLS)), demand(supply + rows),
        left(demand + cols), room(left + rows), u(room + cols), v(u + rows), key(v + cols), carried(key + rows), col((u32*)(carried + rows + cols)), next(col + rows),
        head(next + rows), parent(head + cols), rowLevel((float*)(parent + rows + cols)), colLevel(rowLevel + rows) {}
    __device__ __forceinline__ u32 nodes() const { return n + m; }
    __device__ __forceinline__ u32 thread() const { return threadIdx.x * group + member; }  // neighbours in different blocks
    __device__ __forceinline__ u32 threads() const { return TEAM * group; }
    __device__ __forceinline__ u32 warp() const { return threadIdx.x / WARP * group + member; }
    __device__ __forceinline__ u32 warps() const { return WARPS * group; }
    __device__ __forceinline__ i64 cost(u32 i, u32 j) const { return scale(costs[(u64)i * m + j]); }
    // sync is a barrier of the problem's blocks.
    __device__ __forceinline__ void sync() const {
        if (group == 1) __syncthreads();
        else GridBarrier(word).sync();
    }
};

__device__ __forceinline__ double warpSum(double x) {
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) x += __shfl_xor_sync(ALL, x, d);
    return x;
}
__device__ __forceinline__ i64 warpSum(i64 x) {
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) x += __shfl_xor_sync(ALL, x, d);
    return x;
}

// blockSum adds x of all threads of a block, in a fixed order.
template <class X> __device__ __forceinline__ X blockSum(X x) {
    __shared__ X sums[WARPS];
    x = warpSum(x);
    if (threadIdx.x % WARP == 0) sums[threadIdx.x / WARP] = x;
    __syncthreads();
    x = warpSum(threadIdx.x % WARP < WARPS ? sums[threadIdx.x % WARP] : X(0));
    __syncthreads();
    return x;
}

// Pick is the least key of a warp, and where it is: of equal ones the first.
struct Pick {
    i64 key;
    u32 at;
};
__device__ __forceinline__ Pick nearest(i64 key, u32 at) {
    i64 least = warpLeast(key);
    return {least, __reduce_min_sync(ALL, key == least ? at : NOBODY)};
}

// leastOf returns the least c - v of a row over the columns for which open is true, and the first such column. A whole warp calls.
template <class Open> __device__ __forceinline__ Pick leastOf(const Problem& p, u32 row, Open open) {
    const T* costs = p.costs + (u64)row * p.m;
    i64 least = NEVER;
    u32 at = NOBODY;
    for (u32 from = threadIdx.x % WARP; from < p.m; from += WARP * FLIGHT) {
        T c[FLIGHT];
        i64 v[FLIGHT];
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) {
            u32 j = min(from + f * WARP, p.m - 1);
            c[f] = costs[j], v[f] = p.v[j];
        }
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) {
            u32 j = from + f * WARP;
            i64 x = p.scale(c[f]) - v[f];
            if (j < p.m && x < least && open(j)) least = x, at = j;
        }
    }
    return nearest(least, at);
}

}  // namespace VARIANT
