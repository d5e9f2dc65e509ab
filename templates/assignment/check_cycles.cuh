// Near pairs on alternating cycles.
#include "cuda/variant.cuh"

namespace VARIANT {

// Go: CycleRows
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

// cycles runs after sweep, in one block, where every column has a row and rows are at most CYCLE_ROWS. Near pairs are the
// edges of a graph: that of row i and column j leads from i to the row of j. Rows that lead nowhere are on no cycle, nor
// are the edges into them, so that these go, until none does. *left counts the edges that stay: where it is 0 the
// matching has no alternating cycle.
//
// An edge is to * 2^16 + from. A thread has every CYCLE_THREADSth, those that stay first. They move to shared memory, behind the
// counters, as soon as all threads' fit.
extern "C" __global__ void __launch_bounds__(CYCLE_THREADS) ENTRY(cycles)(long long* work, unsigned long long rows, unsigned long long cols) {
    __shared__ u32 words[CYCLE_ROWS / 2];
    Work w(work, rows, cols);
    Leads leads{words};
    u64 count = *w.near;
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
    if (count > NEAR * rows && threadIdx.x == 0) *w.left = count;
}

}  // namespace VARIANT
