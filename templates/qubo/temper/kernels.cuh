// The entry points.
#include "cuda/variant.cuh"

namespace VARIANT {

// sweep makes `sweeps` sweeps of every block's replicas. After each sweep neighbours on
// the temperature ladder may exchange replicas; after every `every`-th sweep, unless
// `every` is 0, a cluster moves in each pair of replicas of one temperature.
// mode: STOPS, end after the sweep in which control[STOP] is set; STOPPING, set
// control[STOP] once the target is met; FRESH, begin with random solutions.
extern "C" __global__ void __launch_bounds__(param::block, RESIDENT)
ENTRY(sweep)(const unsigned int* slots, const unsigned int* weights, const unsigned int* chunks, const unsigned int* tasks,
    const unsigned int* colours, const int4* visits, const unsigned int* rows, const unsigned int* columns, unsigned long long n,
    unsigned long long count, long long unit, const long long* ladders, unsigned int* now, unsigned int* spare, unsigned int* kept,
    long long* scores, long long* control, unsigned long long sweeps, unsigned long long every, unsigned long long seed,
    unsigned long long round, long long target, unsigned long long mode) {
    __shared__ SharedState sharedState;
    Problem p = {slots, weights, chunks, tasks, colours, visits, (u32)n, (u32)count, (int)unit};
    u32* mine = now + (u64)blockIdx.x * n;
    COALESCE_DYNAMIC_SHARED(u32, x);
    if constexpr (!SHARED) x = mine;
    spare += (u64)blockIdx.x * (SHARED ? 2 : 3) * n;
    Frontier frontier = {SHARED ? x + n : spare, SHARED ? spare : spare + n, (u32)n};
    u64 key = splitmix(splitmix(seed) + round * gridDim.x + blockIdx.x);
    if (threadIdx.x == 0) sharedState.refused = sharedState.cluster = sharedState.differ = 0;
    for (u32 i = threadIdx.x; i < p.n; i += BLOCK) x[i] = mode & FRESH ? (u32)splitmix(key + BLOCK + i) : mine[i];
    __syncthreads();
    Replicas r(key, ladders + (u64)blockIdx.x * RUNGS, scores + (u64)blockIdx.x * SCORES, mode);
    measure(r, p, sharedState, x);
    u32 done = 0;
    while (settle(r, p, sharedState, x, kept + (u64)blockIdx.x * ((n + 31) / 32), control, target, mode) && done < sweeps) {
        sweep(r, p, sharedState, x, r.at(done, (u32)sweeps));
        if (++done % (every ? (u32)every : ~0u) != 0) continue;
        r.take(sharedState);
        cluster(r, p, sharedState, x, frontier, rows, columns);
        measure(r, p, sharedState, x);
    }
    if constexpr (SHARED)
        for (u32 i = threadIdx.x; i < p.n; i += BLOCK) mine[i] = x[i];
    atomicAdd(&sharedState.refused, (u64)r.refused);
    __syncthreads();
    if (threadIdx.x == 0) {
        i64* score = scores + (u64)blockIdx.x * SCORES;
        score[KEPT] = r.kept, score[FLIPS] = (i64)((u64)done * WARP * n - sharedState.refused), score[SWEEPS] = done;
        score[CLUSTER] = (i64)sharedState.cluster, score[DIFFER] = (i64)sharedState.differ;
    }
}

// plant sets the replicas of `mask` in a block to a solution.
extern "C" __global__ void __launch_bounds__(PLANTERS)
ENTRY(plant)(unsigned int* now, const unsigned int* solution, unsigned long long n, unsigned long long block, unsigned long long mask) {
    u32* mine = now + block * n;
    for (u64 i = blockIdx.x * PLANTERS + threadIdx.x; i < n; i += PLANTERS * gridDim.x)
        mine[i] = solution[i / 32] >> i % 32 & 1 ? mine[i] | (u32)mask : mine[i] & ~(u32)mask;
}

}  // namespace VARIANT
