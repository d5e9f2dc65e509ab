// Episodes: a new start made from elites, a walk to that start, a tabu search from there.
#include "cuda/variant.cuh"

namespace VARIANT {

// chosen draws an operator in proportion to the weights; RANDOM where there are no elites.
__device__ __forceinline__ u32 chosen(const i64* control, u32 random) {
    if (control[COUNT] == 0) return RANDOM;
    u32 sum = 0;
    for (u32 k = 0; k < OPERATORS; k++) sum += (u32)control[WEIGHTS + k];
    u32 left = __umulhi(random, sum), k = 0;
    while (k + 1 < OPERATORS && left >= (u32)control[WEIGHTS + k]) left -= (u32)control[WEIGHTS + k++];
    return k;
}

// start returns word w of the solution to which the search walks next.
__device__ __forceinline__ u32 start(const Cells& c, const u32* elites, u32 count, u32 op, u64 key, u32 w) {
    u64 draw = splitmix(key + 16 + w * SPAN + self()), more = splitmix(draw);
    u32 half = (u32)draw, quarter = half & (u32)(draw >> 32), few = quarter & (u32)more & (u32)(more >> 32);
    if (op == RANDOM) return c.x[w] ^ quarter;
    u32 at = w * SPAN + self();
    u32 a = elites[(u64)__umulhi((u32)(key >> 32), count) * RECORD + at];
    if (op == RELINK) return a;
    if (op == MUTATE) return a ^ few;
    u32 b = elites[(u64)__umulhi((u32)splitmix(key + 1), count) * RECORD + at];
    if (op == CROSS) return (a & half) | (b & ~half);
    u32 d = elites[(u64)__umulhi((u32)splitmix(key + 2), count) * RECORD + at];
    return (a & b) | (a & d) | (b & d);
}

// episodes runs episodes until `flips` flips are made, and counts flips by operator. A
// relinking walk ends between a quarter and three quarters of the way to an elite; walks
// of the other operators reach their solutions.
__device__ __forceinline__ void episodes(Cells& c, Search& s, const u32* elites, u64 key, u64 flips) {
    s.turn = s.maker = 0, s.random = (u32)key, s.stop = false;
    u32 count = (u32)s.control[COUNT];
    if (threadIdx.x < OPERATORS) s.sharedState.spent[threadIdx.x] = 0;
    __syncthreads();
    for (u64 done = 0; done < flips && !s.stop;) {
        key = splitmix(key);
        u32 op = chosen(s.control, (u32)key), set[WORDS], differ = 0;
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) {
            set[w] = start(c, elites, count, op, key, w) ^ c.x[w];
            differ += (u32)__popc(set[w]);
        }
        u32 way = total(s, differ);
        if (op == RELINK) way = way / 4 + __umulhi((u32)splitmix(key + 3), way / 2 + 1);
        u32 left = (u32)(flips - done), steps;
        c.only(set);
        steps = walk<false>(c, s, way < left ? way : left, op);
        c.release();
        __syncthreads();
        steps += walk<true>(c, s, left - steps, op);
        c.release();
        __syncthreads();
        if (threadIdx.x == 0) s.sharedState.spent[op] += steps;
        done += steps > 0 ? steps : 1;
    }
}

}  // namespace VARIANT
