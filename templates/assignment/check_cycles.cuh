// Near pairs on alternating cycles.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 CYCLE_ROWS = 24576;  // of the largest problem whose cycles are looked for: 16 bits a row fill the static shared memory

// Go: CycleThreads
constexpr u32 CYCLE_THREADS = 1024;

constexpr u32 CYCLE_ROUNDS = 4096;  // after so many, what stays is left to the host

// Leads counts the edges that leave each row, two rows a word: at most cols each.
struct Leads {
    u32* words;
    __device__ __forceinline__ u32 shift(u32 i) const { return 16 * (i & 1); }
    __device__ __forceinline__ void add(u32 i) const { atomicAdd(words + i / 2, 1u << shift(i)); }
    __device__ __forceinline__ void take(u32 i) const { atomicSub(words + i / 2, 1u << shift(i)); }
    __device__ __forceinline__ bool none(u32 i) const { return (atomicAdd(words + i / 2, 0u) >> shift(i) & 0xffff) == 0; }
};

// root returns the row that stands for row i's tree, and shortens the path to it. Parents have smaller numbers. Another thread may hang
// the root below a smaller one meanwhile.
__device__ __forceinline__ u32 root(u32* parent, u32 i) {
    u32 above = __ldcg(parent + i);
    while (above != i) {
        u32 next = __ldcg(parent + above);
        if (next != above) parent[i] = next;
        i = above;
        above = next;
    }
    return i;
}

// joins joins the trees of two rows, and returns false where they were one tree before.
__device__ __forceinline__ bool joins(u32* parent, u32 a, u32 b) {
    for (;;) {
        a = root(parent, a);
        b = root(parent, b);
        if (a == b) return false;
        u32 high = max(a, b), low = min(a, b);
        if (atomicCAS(parent + high, high, low) == high) return true;
    }
}

// forest runs after sweep, a thread a row, where every column has a row. Near pairs are the edges of a graph: that of row i and
// column j leads from i to the row of j. *left stays 0 where these edges are a forest, whatever their directions: then the
// matching has no alternating cycle. The near pairs of random costs are those of shortest paths, which are a forest. The kernel pairs has made
// each row its own parent.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(forest)(long long* work, unsigned long long rows, unsigned long long cols) {
    Work w(work, rows, cols);
    u64 count = *w.near, e = (u64)blockIdx.x * BLOCK + threadIdx.x;
    if (count >= rows) {
        if (e == 0) atomicAdd(w.left, 1ull);
        return;
    }
    if (e >= count) return;
    u64 pair = w.near[1 + e];
    u32 from = (u32)pair, to = (u32)w.owner[pair >> 32];
    if (to >= rows || !joins(w.edges, from, to)) atomicAdd(w.left, 1ull);  // beyond: no row has the column, which is a fault of its own
}

// cycles runs after forest, in one block, and does nothing where that found a forest. Rows that lead nowhere are on no cycle, nor
// are the edges into them, so that these go, until none does. *left counts the edges that stay: where it is 0 the
// matching has no alternating cycle. Of more than CYCLE_ROWS rows all edges stay.
//
// An edge is to * 2^16 + from. A thread has every CYCLE_THREADSth, those that stay first. They move to shared memory, behind the
// counters, as soon as all threads' fit.
extern "C" __global__ void __launch_bounds__(CYCLE_THREADS) ENTRY(cycles)(long long* work, unsigned long long rows, unsigned long long cols) {
    __shared__ u32 words[CYCLE_ROWS / 2];
    Work w(work, rows, cols);
    Leads leads{words};
    u64 count = *w.near, closed = *w.left;
    __syncthreads();
    if (closed == 0) return;
    if (threadIdx.x == 0) *w.left = count > NEAR * rows || rows > CYCLE_ROWS ? count : 0;
    if (rows > CYCLE_ROWS) return;
    u32 live = count > NEAR * rows || threadIdx.x >= count ? 0 : (u32)((count - threadIdx.x + CYCLE_THREADS - 1) / CYCLE_THREADS);
    u32 *edge = w.edges + threadIdx.x, *room = words + (rows + 1) / 2 + threadIdx.x;
    u32 fit = (u32)(CYCLE_ROWS / 2 - (rows + 1) / 2) / CYCLE_THREADS;  // edges of a thread
    for (u32 i = threadIdx.x; i < (rows + 1) / 2; i += CYCLE_THREADS) words[i] = 0;
    __syncthreads();
    for (u32 e = 0; e < live; e++) {
        u64 pair = w.near[1 + threadIdx.x + (u64)e * CYCLE_THREADS];
        edge[e * CYCLE_THREADS] = (u32)w.owner[pair >> 32] << 16 | (u32)pair;
        leads.add((u32)pair);
    }
    __syncthreads();
    for (u32 round = 0; round < CYCLE_ROUNDS; round++) {
        if (edge != room && !__syncthreads_or(live > fit)) {
            for (u32 e = 0; e < live; e++) room[e * CYCLE_THREADS] = edge[e * CYCLE_THREADS];
            edge = room;
        }
        u32 had = live;
        for (u32 e = 0; e < live;) {
            u32 x = edge[e * CYCLE_THREADS], to = x >> 16;
            if (to >= rows || !leads.none(to)) {  // beyond: no row has the column, which is a fault of its own
                e++;
                continue;
            }
            leads.take(x & 0xffff);
            live--;
            edge[e * CYCLE_THREADS] = edge[live * CYCLE_THREADS];
        }
        if (!__syncthreads_or(live < had)) break;
    }
    if (live != 0) atomicAdd(w.left, (u64)live);
}

}  // namespace VARIANT
