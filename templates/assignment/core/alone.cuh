// The search by one block, whose shared memory holds words and lists.
#include "cuda/variant.cuh"

namespace VARIANT {

// relax relaxes the edges of the rows of list t, and appends rows whose distance fell to
// list t+1; `filled` counts the entries of list t+1.
__device__ void relax(const State& s, const OneBlock& threadGroup, u64 t, u64 entries, u64* filled) {
    u64 bound = threadGroup.load(s.control + BOUND);
    for (u64 at = threadIdx.x / LANES; at < entries; at += BLOCK / LANES) {
        u64 entry = threadGroup.get(s, t, at), row = entry & s.none(), d = entry >> s.shift;
        if (d >= bound) continue;
        i64 base = (i64)d - threadGroup.load(s.u + row);
        for (i64 chunk = (i64)row, next; chunk >= 0; chunk = next) {
            next = s.next[chunk];
#pragma unroll
            for (u32 k = 0; k < ITEMS; k++) {
                u64 e = chunk * K + k * LANES + threadIdx.x % LANES;
                int j = s.col[e];
                if (j < 0) continue;
                u64 old = threadGroup.load(s.word + j);
                int owner = threadGroup.load(s.owner + j);
                u64 x = (u64)(base + s.cost[e] - threadGroup.load(s.v + j));
                if (x >= bound) {
                    if (x >= s.limit()) s.control[CUT] = 1;
                    continue;
                }
                while (x < old >> s.shift) {
                    u64 was = atomicCAS(s.word + j, old, x << s.shift | row);
                    if (was == old) {
                        if (owner >= 0) threadGroup.put(s, t, x << s.shift | (u64)owner, filled);
                        else if (old == NEVER) s.reached[count(s.control + REACHED)] = j;
                        break;
                    }
                    old = was;
                }
            }
        }
    }
}

// search makes the same search as all blocks do, without barriers of the grid.
__device__ bool search(State& s, OneBlock& threadGroup, u64 m) {
    __shared__ u64 filled[2];
    __shared__ u64 reached;
    u64 known = 0, t = 0, entries = threadGroup.load(s.control + COUNT);
    while (entries > 0 && t <= s.rows) {
        if (threadIdx.x == 0) filled[(t + 1) % 2] = 0;
        __syncthreads();
        relax(s, threadGroup, t, entries, filled + (t + 1) % 2);
        t++;
        if (t % 4 == 0) {
            __syncthreads();
            if (threadIdx.x == 0) reached = threadGroup.load(s.control + REACHED);
            __syncthreads();
            if (reached != known) known = reached, tighten(s, threadGroup, m);
        }
        __syncthreads();
        entries = filled[t % 2];
    }
    if (threadIdx.x == 0) s.control[STEPS] += t;
    threadGroup.sync();
    s.stamp(GROW_ALONE);
    return entries == 0;
}

}  // namespace VARIANT
