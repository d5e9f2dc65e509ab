// Isoenergetic cluster moves (J. Houdayer, Eur. Phys. J. B 22, 2001; Z. Zhu, A. Ochoa and H. Katzgraber, PRL 115, 2015).
#include "cuda/variant.cuh"

namespace VARIANT {

// Frontier is the state of a breadth-first search that grows the clusters of all pairs of
// replicas. It has a word a variable: bit 2k is set where the cluster of pair k has reached
// the variable, bit 2k+1 where the variable's neighbours have yet to be visited for that
// cluster. A queue holds the variables with neighbours to visit, each once; a pass reads one
// half of the queue and fills the other. Three lengths rotate: read, filled, cleared.
struct Frontier {
    u32 *word, *queue;
    u32 n;
    u32* length;
    __device__ __forceinline__ void reach(u32 at, u32 pairs, u32 turn) {
        if (atomicOr(word + at, pairs * 3) & ~EVEN) return;
        queue[(turn & 1) * (u64)n + atomicAdd(length + turn % 3, 1u)] = at;
    }
};

// seed starts a cluster for each pair of replicas in `pairs`, at a random variable in which
// the two differ; a pair that finds none in TRIES draws has no cluster. First warp only.
__device__ __forceinline__ void seed(Replicas& r, const Problem& p, const u32* x, Frontier& frontier, u32 pairs) {
    if (!(pairs >> lane() & 1)) return;
    for (u32 k = 0; k < TRIES; k++) {
        u32 at = __umulhi(r.random.next(), p.n), word = x[at];
        if (!((word ^ word >> 1) >> lane() & 1)) continue;
        frontier.reach(at, 1u << lane(), 0);
        return;
    }
}

// cluster grows a cluster in every pair of replicas of one temperature, all at once, over
// variables in which the two differ, and exchanges the values of these variables between the
// two. The objectives of the two replicas change by opposite amounts.
__device__ __forceinline__ void cluster(Replicas& r, const Problem& p, SharedState& sharedState, u32* x, Frontier frontier, const u32* rows, const u32* columns) {
    i64 mine = r.ladder[FROM + lane()];
    u32 pairs = __ballot_sync(ALL, mine == __shfl_down_sync(ALL, mine, 1)) & EVEN;
    frontier.length = sharedState.length;
    if (threadIdx.x < 3) sharedState.length[threadIdx.x] = 0;
    for (u32 i = threadIdx.x; i < p.n; i += BLOCK) frontier.word[i] = 0;
    __syncthreads();
    if (warp() == 0) seed(r, p, x, frontier, pairs);
    __syncthreads();
    for (u32 turn = 0, many; (many = sharedState.length[turn % 3]) != 0; turn++) {
        if (threadIdx.x == 0) sharedState.length[(turn + 2) % 3] = 0;
        for (u32 q = threadIdx.x; q < many; q += BLOCK) {
            u32 i = frontier.queue[(turn & 1) * (u64)p.n + q], told = (atomicAnd(frontier.word + i, EVEN) & ~EVEN) >> 1;
            for (u32 e = rows[i], end = rows[i + 1]; e < end; e++) {
                u32 j = columns[e], word = x[j], add = told & (word ^ word >> 1) & ~*(volatile u32*)(frontier.word + j);
                if (add) frontier.reach(j, add, turn + 1);
            }
        }
        __syncthreads();
    }
    u32 grown = 0, differ = 0;
    for (u32 i = threadIdx.x; i < p.n; i += BLOCK) {
        u32 word = x[i], swaps = frontier.word[i];
        grown += (u32)__popc(swaps), differ += (u32)__popc((word ^ word >> 1) & pairs);
        x[i] = word ^ swaps * 3;
    }
    atomicAdd(&sharedState.cluster, (u64)grown);
    atomicAdd(&sharedState.differ, (u64)differ);
    __syncthreads();
}

}  // namespace VARIANT
