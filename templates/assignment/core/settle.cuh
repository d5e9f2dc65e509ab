// The end of an auction.
#include "cuda/variant.cuh"

namespace VARIANT {

// settle ends an auction with feasible duals and a tight matching: v comes from the words, u
// is the least c - v of each row, and rows matched over a dearer edge lose their column.
__device__ void settle(State& s, Barrier& barrier) {
    for (u64 i = thread(); i < s.rows; i += threads()) s.match[i] = -1;
    barrier.sync();
    for (u64 j = thread(); j < s.width; j += threads()) {
        u64 w = s.word[j], i = w & s.none();
        s.v[j] = s.price(w);
        s.owner[j] = i == s.none() ? -1 : (int)i;
        if (i != s.none()) s.match[i] = (int)j;
    }
    if (thread() == 0) s.control[QUEUE] = 0;
    barrier.sync();
    u64 groups = threads() / LANES, rounds = (s.rows + groups - 1) / groups;
    for (u64 r = 0; r < rounds; r++) {
        i64 i = (i64)(r * groups + thread() / LANES);
        if (i >= (i64)s.rows) i = -1;
        i64 least = offer(s, i).best;
        bool tight = false;
        int j = i >= 0 ? s.match[i] : -1;
        for (i64 chunk = j >= 0 ? i : -1; chunk >= 0; chunk = s.next[chunk])
#pragma unroll
            for (u32 k = 0; k < ITEMS; k++) {
                u64 e = chunk * K + k * LANES + threadIdx.x % LANES;
                tight |= s.col[e] == j && s.cost[e] - s.price(s.word[j]) == least;
            }
        tight = __any_sync(team(), tight);
        if (i >= 0 && threadIdx.x % LANES == 0) {
            s.u[i] = least;
            if (j >= 0 && !tight) s.match[i] = -1, s.owner[j] = -1;
        }
    }
    barrier.sync();
    for (u64 j = thread(); j < s.width; j += threads())
        if (s.owner[j] < 0) s.word[j] |= s.none();
    barrier.sync();
}

}  // namespace VARIANT
