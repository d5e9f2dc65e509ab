// slack=bounded: a dual update reads only parts of rows that may have the least slack.
#include "cuda/variant.cuh"

namespace VARIANT {

// Look is a part of a row, with the costs, duals and covered columns that a warp reads for it.
template <class A> struct Look {
    u32 row, part, covered;
    i64 u;
    T x[PART];
    A v[PART];

    __device__ __forceinline__ void load(const Work& m, u32 i, u32 p, i64 dual) {
        struct __align__(16) Two { i64 of[2]; };
        u32 lane = threadIdx.x % WARP, w = p * WARP + lane;
        row = i, part = p, u = dual;
        P::fetch(x, m.costs + i * (u64)m.cols, w, m.cols, m.aligned);
        covered = m.reached[p / PARTS * WARP + lane] >> p % PARTS * PART;
#pragma unroll
        for (u32 k = 0; k < PART; k += 2) {
            u32 j = P::column(w, k);
            Two two = *(const Two*)(m.v + (j < m.cols ? j : 0));  // may read one word past the last v, which lies in the workspace
            v[k] = (A)two.of[0], v[k + 1] = (A)two.of[1];
        }
    }
    // least returns the least uncovered slack. The least slack of all columns, plus u, is a
    // lower bound of the part's c - v from now on, since duals of columns only fall; least
    // stores that bound.
    __device__ __forceinline__ i64 least(const Work& m) const {
        u32 skip = (part + 1) * P::SPAN <= m.cols ? 0 : P::padding(part * WARP + threadIdx.x % WARP, m.cols);
        A all = none<A>(), low = none<A>();
#pragma unroll
        for (u32 k = 0; k < PART; k++) {
            A s = skip >> k & 1 ? none<A>() : slack<A>(m.scale, x[k], (A)u, v[k]);
            all = min(all, s);
            if (!(covered >> k & 1)) low = min(low, s);
        }
        all = warpLeast(all), low = warpLeast(low);
        if (threadIdx.x % WARP == 0) m.least[(u64)row * m.parts + part] = all == none<A>() ? INFINITE : (i64)all + u;
        return low == none<A>() ? INFINITE : (i64)low;
    }
};

}  // namespace VARIANT
