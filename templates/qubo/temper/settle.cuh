// After a sweep: the best solution is kept, neighbours on the temperature ladder exchange replicas.
#include "cuda/variant.cuh"

namespace VARIANT {

// settle adds the gains of a sweep to the replicas' values, stores the best replica
// if it is the block's best so far, and exchanges the replicas of every second pair
// of neighbours by the rule of replica exchange (K. Hukushima and K. Nemoto, J.
// Phys. Soc. Jpn. 65, 1996). The result says whether the block continues.
__device__ __forceinline__ bool settle(Replicas& r, const Problem& p, SharedState& sharedState, u32* x, u32* kept, i64* control, i64 target, u64 mode) {
    r.take(sharedState);
    if (warp() == 0) {
        i64 best = warpLargest(r.value);
        u32 who = __ballot_sync(ALL, r.value == best);
        bool better = best > r.kept;
        if (better) r.kept = best;
        i64 next = __shfl_down_sync(ALL, r.value, 1), before = __shfl_up_sync(ALL, r.value, 1);
        double cool = __longlong_as_double(r.ladder[COOL + lane()]);  // difference of inverse temperatures of the lane and the next, times 2^26/ln 2
        bool swap = (lane() ^ r.turn) % 2 == 0 && lane() + 1 < WARP && cool * (double)(next - r.value) >= -(double)r.random.cost();
        u32 swaps = __ballot_sync(ALL, swap);
        if (swap) r.value = next;
        else if (swaps << 1 >> lane() & 1) r.value = before;
        if (lane() == 0) {
            sharedState.swaps = swaps, sharedState.keep = better ? (u32)__clz((int)__brev(who)) : WARP;
            if ((mode & STOPPING) && r.kept >= target) *(volatile i64*)(control + STOP) = 1;
            sharedState.going = !((mode & STOPS) && *(volatile i64*)(control + STOP) != 0);
        }
        r.turn++;
    }
    __syncthreads();
    u32 swaps = sharedState.swaps, keep = sharedState.keep, going = sharedState.going;
    for (u32 first = warp() * WARP; first < p.n && (swaps != 0 || keep < WARP); first += BLOCK) {
        u32 i = first + lane(), word = i < p.n ? x[i] : 0;
        if (keep < WARP) {
            u32 bits = __ballot_sync(ALL, word >> keep & 1);
            if (lane() == 0) kept[first / WARP] = bits;
        }
        u32 differ = (word ^ word >> 1) & swaps;
        if (differ) x[i] = word ^ differ ^ differ << 1;
    }
    __syncthreads();
    return going;
}

}  // namespace VARIANT
