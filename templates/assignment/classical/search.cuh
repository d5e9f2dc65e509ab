// The search: rows of the forest reach columns over zeros.
#include "cuda/variant.cuh"

namespace VARIANT {

// enqueue returns a position of the queue to each lane that asks, counted from the first
// position that the step fills.
__device__ __forceinline__ u32 enqueue(u64* count, bool asks) {
    u32 lane = threadIdx.x % WARP, has = __ballot_sync(ALL, asks);
    u32 at = 0;
    if (lane == 0 && has != 0) at = (u32)atomicAdd(count, (u64)__popc(has));
    return __shfl_sync(ALL, at, 0) + __popc(has & ((1u << lane) - 1));
}

// Reach describes a row of the forest whose zeros are followed. Rows that it reaches are
// written to the queue from position `next` on. The low half of *count is the number of rows
// reached in this step, the high half the number of paths found.
struct Reach {
    u32 row, phase, next;
    u64 way;
    u64* count;
    u32* queue;
};

// finish tries to end the root's path in one of the free columns z of word w, and returns
// false when other trees took all of them. A tree takes one column only: a row that tries
// sets the root's end to HELD meanwhile, which keeps the tree's other rows from trying.
__device__ __forceinline__ bool finish(const Work& m, const Reach& r, u32 w, u32 z) {
    u32 lane = threadIdx.x % WARP, has = __ballot_sync(ALL, z != 0);
    u32 root = rootOf(r.way);
    int was = lane == 0 ? atomicCAS(m.end + root, NOBODY, HELD) : 0;
    if (__shfl_sync(ALL, was, 0) != NOBODY) return true;
    for (; has != 0; has &= has - 1) {
        bool won = false;
        if (lane == (u32)__ffs((int)has) - 1)
            for (; z != 0 && !won; z &= z - 1) {
                u32 bit = z & (0u - z), j = C::column(w, __ffs((int)z) - 1);
                won = !(atomicOr(m.reached + w, bit) & bit);
                if (!won) continue;
                m.last[root] = (int)r.row;
                atomicExch(m.end + root, (int)j);
                atomicAdd(r.count, 1ull << 32);
                if (ONE) atomicMax(&m.ctl->winner, (u64)r.phase << 32 | root);
            }
        if (__any_sync(ALL, won)) return true;
    }
    if (lane == 0) atomicExch(m.end + root, NOBODY);
    return false;
}

// reach adds the unreached columns among the zeros z of word w to the tree. The result is
// false when the tree has its path.
__device__ __forceinline__ bool reach(const Work& m, const Reach& r, u32 w, u32 z) {
    if (z) z &= ~m.reached[w];
    if (!__any_sync(ALL, z != 0)) return true;
    u32 ends = z & m.open[w];
    if (__any_sync(ALL, ends != 0) && finish(m, r, w, ends)) return false;
    z &= ~m.open[w];
    if (z) z &= ~atomicOr(m.reached + w, z);
    while (__any_sync(ALL, z != 0)) {
        u32 at = enqueue(r.count, z != 0) + r.next;
        if (z) {
            u32 j = C::column(w, __ffs((int)z) - 1);
            int i = m.row[j];
            m.way[i] = after(frontierRowOf(r.way, r.row), true);
            r.queue[at] = (u32)i;
            z &= z - 1;
        }
    }
    return true;
}

}  // namespace VARIANT
