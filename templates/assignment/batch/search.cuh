// Shortest paths in reduced costs from free rows: a turn expands one column of every warp.
#include "cuda/variant.cuh"

namespace VARIANT {

// Best holds the nearest open column of a thread, with its owner, and the distance of the
// thread's nearest free column.
struct Best {
    i64 distance = NEVER, nearest = NEVER;
    int row = NONE, column = NONE;
};

// relax lowers the distances of columns by paths from the sources whose bits are set in
// `live`. Each column belongs to one thread, and threads share the sources alone. Only a
// strictly shorter path replaces another, so that parents form no cycle.
__device__ __forceinline__ Best relax(State& s, const Costs& costs, const Source* sources, u32 live) {
    Best best;
    for (u32 j = threadIdx.x; j < s.cols; j += BLOCK) {
        i64 v = s.v[j], d = s.distance[j];
        int owner = s.owner[j], via = s.via[j];
        for (u32 rest = live, k = 0; rest != 0;) {
            u32 at[FLIGHT];
            T x[FLIGHT];
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) {
                if (rest != 0) k = __ffs((int)rest) - 1;  // past the last source: that one again
                rest &= rest - 1;
                at[f] = k;
                x[f] = costs.load((u32)sources[k].row, j);
            }
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) {
                i64 c = costs.scale(x[f]), length = sources[at[f]].base + c - v;
                if (c != INFINITE && length < d) d = length, via = sources[at[f]].row;
            }
        }
        s.distance[j] = d;
        s.via[j] = via;
        if (owner == NONE) best.nearest = min(best.nearest, d);
        else if (via >= 0 && d < best.distance) best.distance = d, best.row = owner, best.column = (int)j;
    }
    return best;
}

// offer makes the owner of the warp's nearest open column a source, if the column is within reach.
__device__ __forceinline__ void offer(State& s, const Best& best, i64 reach, Source& source) {
    i64 u = best.row == NONE ? 0 : s.u[best.row];
    i64 least = warpLeast(best.distance), nearest = warpLeast(best.nearest);
    u32 who = __ballot_sync(ALL, best.column != NONE && best.distance == least);
    if ((int)lane() != (who == 0 ? 0 : __ffs((int)who) - 1)) return;
    source.distance = least;
    source.nearest = nearest;
    source.row = NONE;
    if (who == 0 || least >= reach) return;
    source.row = best.row;
    source.base = least - u;
    s.via[best.column] = ~s.via[best.column];
}

// extent returns the distance at which a search may end: that of the nearest free column or,
// with `every` (square problems), of the farthest of the warps' nearest free columns.
__device__ __forceinline__ i64 extent(i64 nearest, bool every) {
    if (!every) return warpLeast(nearest);
    i64 farthest = -1 - warpLeast(nearest == NEVER ? 0 : -1 - nearest);
    return farthest < 0 ? NEVER : farthest;
}

// start searches from the first `roots` free rows.
__device__ __forceinline__ Best start(State& s, const Costs& costs, u32 roots, Source* sources) {
    Best best;
    for (u32 j = threadIdx.x; j < s.cols; j += BLOCK) s.distance[j] = NEVER, s.via[j] = NONE;
    for (u32 base = 0; base < roots; base += WARP) {
        u32 k = base + threadIdx.x;
        if (threadIdx.x < WARP && k < roots) {
            int row = s.free[k];
            s.claim[row] = (int)s.cols;
            sources[threadIdx.x].row = row;
            sources[threadIdx.x].base = -s.u[row];
        }
        __syncthreads();
        best = relax(s, costs, sources, roots - base < WARP ? (1u << (roots - base)) - 1 : ALL);
        __syncthreads();
    }
    return best;
}

// search computes all distances below its extent, and returns the extent, or NEVER where no
// free column can be reached. A turn expands one column of every warp, among them the nearest
// of all, whose distance is final, so that there are at most as many turns as columns. The
// test for the last turn comes after the turn's loads, and a turn too many is harmless.
__device__ __forceinline__ i64 search(State& s, const Costs& costs, u32 roots, bool every, Effort& effort) {
    Source(*sources)[WARP] = s.sharedState->sources;
    Best best = start(s, costs, roots, sources[0]);
    effort.scans += roots;
    i64 reach = NEVER;
    for (u32 turn = 0;; turn ^= 1) {
        offer(s, best, reach, sources[turn][warp()]);
        __syncthreads();
        const Source& mine = sources[turn][lane() % WARPS];
        i64 distance = mine.distance, nearest = mine.nearest;
        u32 live = __ballot_sync(ALL, lane() < WARPS && mine.row != NONE);
        best = relax(s, costs, sources[turn], live);
        reach = extent(nearest, every);
        effort.turns++;
        effort.scans += __popc(live);
        if (__ballot_sync(ALL, distance < reach) == 0) break;
    }
    __syncthreads();
    return reach;
}

}  // namespace VARIANT
