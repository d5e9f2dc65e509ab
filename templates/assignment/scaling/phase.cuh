// A phase: a search from all free rows, a fall of the prices within its reach, and an
// augmentation in each tree.
#include "cuda/variant.cuh"

namespace VARIANT {

// phase matches some of the rows of list turn%3, `free` of them, and lists the others in the
// next list. It returns false where no free column can be reached.
__device__ bool phase(State& s, GridBarrier& barrier, u32& turn, u32 free, u32 half, bool near) {
    COALESCE_DYNAMIC_SHARED(i64, room);
    Own o(room, s.width);
    const u32* list = s.free + (u64)(turn % 3) * s.n;
    eachRow(s, list, free, near, [&](u32 at, u32 row, const Least& l) {
        s.base[at] = l.best < FAR ? -l.best : FAR, s.entry[at] = Entry{row, NOBODY}, s.root[at] = row;
        s.claim[row] = NEVER;
    });
    __syncthreads();
    if (blockIdx.x < s.searchers) prepare<false>(s, o);
    if (thread() == 0) {
        s.control[SUM] = s.control[SUM + 1] = 0;
        s.control[LISTED + 1] = s.control[LISTED + 2] = 0;
        s.control[REACHED] = s.control[OVER] = 0, s.control[BOUND] = (u64)FAR;
        s.control[PHASES]++, s.control[READ] += free;
    }
    barrier.sync();
    s.stamp(PREPARING);
    u32 m = (free + (1u << half) - 1) >> half;
    if (blockIdx.x < s.searchers) {
        GridSum sum(s.control + SUM, s.searchers);
        u32 t = 0;
        grow<false>(s, o, t, free, m, ~0u, sum);
        if (thread() == 0) coalesce::release(s.control + OVER, 1ull);
    } else {
        watch(s, m);
    }
    barrier.sync();
    s.stamp(SEARCHING);
    u32 reached = load(s.control + REACHED);
    if (reached == 0) return false;
    i64 bound = (i64)__ldcg(s.control + BOUND), D = nearest(s, reached, m < reached ? m : reached);
    if (D >= bound) D = bound - 1;  // below the bound distances are final
    if (blockIdx.x < s.searchers)
        for (u32 c = threadIdx.x; c < s.width; c += BLOCK) {
            u32 j = blockIdx.x * s.width + c;
            if (j < s.n && o.dist[c] < D) s.v[j] = o.price[c] - (D - o.dist[c]);
        }
    for (u32 k = thread(); k < reached; k += threads()) {
        u32 j = __ldcg(s.reached + k);
        i64 d = __ldcg(s.dist + j), top = 2 * s.bias() - 1;
        if (d <= D) atomicMin(s.claim + __ldcg(s.tree + j), (u64)(d < top ? d : top) << s.shift | j);
    }
    barrier.sync();
    for (u32 first = 0; first < free; first += threads()) {  // neighbouring roots have different blocks
        u32 k = first + threadIdx.x * gridDim.x + blockIdx.x;
        u32 r = k < free ? __ldcg(list + k) : NOBODY;
        u64 claimed = k < free ? __ldcg(s.claim + r) : NEVER;
        if (claimed != NEVER) {
            for (u32 j = s.row(claimed);;) {
                u64 e = __ldcg((const u64*)s.path + j);
                s.match[(u32)e] = (int)j, s.owner[j] = (int)(u32)e;
                if ((j = (u32)(e >> 32)) == NOBODY) break;
            }
            count(s.control + PATHS);
        }
        __syncwarp();
        bool lost = k < free && claimed == NEVER;
        u32 at = place(s.control + FREED + (turn + 1) % 3, lost);
        if (lost) s.free[(u64)((turn + 1) % 3) * s.n + at] = r;
    }
    if (thread() == 0) s.control[FREED + (turn + 2) % 3] = 0;
    turn++;
    barrier.sync();
    s.stamp(AUGMENTING);
    return true;
}

}  // namespace VARIANT
