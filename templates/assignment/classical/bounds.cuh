// slack=bounded: a dual update reads only parts of rows that may have the least slack.
#include "cuda/variant.cuh"

namespace VARIANT {

// Room is a block's shared memory for sets and frontier rows, used for Finds between searches.
template <u32 WORDS> struct Room {
    union {
        alignas(8) u32 pool[WORDS];
        Finds finds;  // between searches
    };
};

// minimum finds the least uncovered slack of the first `tail` rows of the queue, before dual
// update number `update`, and stores the set of covered columns.
__device__ void minimum(const Work& m, u32 side, u32 tail, u64 update, Finds& finds, Team team) {
    for (u32 w = team.thread; w < m.words; w += team.threads) m.covered[w] = m.reached[w];
    if (m.ctl->bound < NARROW) probe<u32>(m, m.queue(side), tail, update, finds, team);
    else probe<i64>(m, m.queue(side), tail, update, finds, team);
}

template <class S> __device__ __forceinline__ void minimum(const Work& m, u32 side, u32 tail, u64 update, S& shared, Team team) {
    minimum(m, side, tail, update, shared.finds, team);
}

// made calls f(i, w, z) for the zeros z of word w of row i that dual update number `update`
// makes, where d is the least slack. All lanes of a warp call together; several warps may
// call for the same row.
template <class F> __device__ __forceinline__ void made(const Work& m, i64 d, u64 update, Team team, F f) {
    u32 lane = threadIdx.x % WARP, n = (u32)m.ctl->hits[update % 2];
    for (u32 h = team.warps - 1 - team.warp; h < n; h += team.warps) {  // from the last warp on, which has the least other work
        Hit hit = ((const Hit*)m.fresh)[h];
        if (hit.slack != d) continue;
        u32 word = hit.part / PARTS * WARP + lane, z = 0, w = hit.part * WARP + lane;
        T x[PART];
        P::fetch(x, m.costs + hit.row * (u64)m.cols, w, m.cols, m.aligned);
#pragma unroll
        for (u32 k = 0; k < PART; k++) {
            u32 j = P::column(w, k);
            i64 c = m.scale(x[k]);
            if (j < m.cols && c < INFINITE && c - m.v[j] == hit.key) z |= 1u << k;
        }
        f(hit.row, word, z << hit.part % PARTS * PART & ~m.covered[word]);
    }
}

}  // namespace VARIANT
