// The pool of elites, and the weights of the operators.
#include "cuda/variant.cuh"

namespace VARIANT {

// Candidate is a search's best. Of equal values the lower search is the better.
struct Candidate {
    i64 value;
    u32 search;
    __device__ __forceinline__ bool before(const Candidate& o) const { return value > o.value || (value == o.value && search < o.search); }
};

// Go: Judges
constexpr u32 JUDGES = 256;  // threads
// Go: Elites
constexpr u32 MOST = 256;    // elites

// Jury holds, in shared memory, the words that the threads of gather exchange.
struct Jury {
    Candidate best[JUDGES / WARP];
    u32 distance[MOST];
    u32 place, close;
    u32 entered[OPERATORS + 1];  // candidates that entered the pool, by operator; the last: migrants
    u64 spent[OPERATORS];        // flips by operator
};

// leading returns, to every thread, the best candidate after `last`.
__device__ __forceinline__ Candidate leading(Jury& jury, const i64* scores, u32 searches, Candidate last) {
    Candidate mine = {-9223372036854775807ll - 1, ALL};
    for (u32 k = threadIdx.x; k < searches; k += JUDGES) {
        Candidate c = {scores[(u64)k * SCORES + KEPT], k};
        if (last.before(c) && c.before(mine)) mine = c;
    }
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) {
        Candidate c = {__shfl_xor_sync(ALL, mine.value, d), __shfl_xor_sync(ALL, mine.search, d)};
        if (c.before(mine)) mine = c;
    }
    if (lane() == 0) jury.best[warp()] = mine;
    __syncthreads();
    mine = jury.best[0];
    for (u32 w = 1; w < JUDGES / WARP; w++)
        if (jury.best[w].before(mine)) mine = jury.best[w];
    __syncthreads();
    return mine;
}

// placeOf returns the place of a candidate in the pool. Elites are near where fewer
// than `distance` variables differ. A candidate better than all near elites replaces
// the worst of these; one without near elites takes a free place, or replaces the
// worst elite if that is worse. All others go NOWHERE. One thread.
constexpr u32 NOWHERE = ALL;
__device__ __forceinline__ u32 placeOf(const Jury& jury, i64* control, i64 value, u32 pool, u32 distance) {
    u32 count = (u32)control[COUNT], worst = 0, near = NOWHERE;
    for (u32 e = 0; e < count; e++) {
        if (control[VALUES + e] < control[VALUES + worst]) worst = e;
        if (jury.distance[e] >= distance) continue;
        if (jury.distance[e] == 0 || control[VALUES + e] >= value) return NOWHERE;
        if (near == NOWHERE || control[VALUES + e] < control[VALUES + near]) near = e;
    }
    if (near != NOWHERE) return near;
    if (count < pool) {
        control[COUNT] = count + 1;
        return count;
    }
    return control[VALUES + worst] < value ? worst : NOWHERE;
}

// credit moves each operator's weight, of 1024 in all, a quarter of the way to the
// operator's share of the entries a flip, and to no less than 32. A weight of 0 stays 0.
__device__ __forceinline__ void credit(Jury& jury, const i64* scores, i64* control, u32 searches) {
    for (u32 o = 0; o < OPERATORS; o++) {
        u64 mine = 0;
        for (u32 k = threadIdx.x; k < searches; k += JUDGES) mine += (u64)scores[(u64)k * SCORES + SPENT + o];
        atomicAdd(&jury.spent[o], mine);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    u64 rate[OPERATORS], sum = 0;
    for (u32 o = 0; o < OPERATORS; o++) {
        control[FLIPS] += (i64)jury.spent[o];
        rate[o] = ((u64)jury.entered[o] << 32) / (jury.spent[o] + 1);
        sum += rate[o];
    }
    for (u32 o = 0; o < OPERATORS && sum > 0; o++) {
        i64 share = (i64)(1024 * rate[o] / sum), weight = (3 * control[WEIGHTS + o] + share) / 4;
        if (control[WEIGHTS + o] > 0) control[WEIGHTS + o] = weight < 32 ? 32 : weight;
    }
    control[ROUNDS]++;
}

__device__ __forceinline__ void gather(const u32* kept, const i64* scores, u32* elites, i64* control, u32 searches, u32 pool, u32 distance, u32 most) {
    __shared__ Jury jury;
    if (threadIdx.x <= OPERATORS) jury.entered[threadIdx.x] = 0;
    if (threadIdx.x < OPERATORS) jury.spent[threadIdx.x] = 0;
    Candidate last = {9223372036854775807ll, 0};
    for (u32 turn = 0; turn < most; turn++) {
        last = leading(jury, scores, searches, last);
        if (last.search == ALL) break;
        const u32* x = kept + (u64)last.search * RECORD;
        u32 count = (u32)control[COUNT];
        for (u32 e = warp(); e < count; e += JUDGES / WARP) {
            u32 d = 0;
            for (u32 w = lane(); w < RECORD; w += WARP) d += (u32)__popc(x[w] ^ elites[(u64)e * RECORD + w]);
#pragma unroll
            for (u32 h = WARP / 2; h > 0; h >>= 1) d += __shfl_xor_sync(ALL, d, h);
            if (lane() == 0) jury.distance[e] = d;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            u32 at = jury.place = placeOf(jury, control, last.value, pool, distance);
            if (at != NOWHERE) {
                control[VALUES + at] = last.value;
                if (control[ENTERED]++ == 0 || last.value > control[BEST]) control[BEST] = last.value;
                jury.entered[scores[(u64)last.search * SCORES + MAKER]]++;
            }
        }
        __syncthreads();
        u32 at = jury.place;
        if (at != NOWHERE)
            for (u32 w = threadIdx.x; w < RECORD; w += JUDGES) elites[(u64)at * RECORD + w] = x[w];
        __syncthreads();
    }
    credit(jury, scores, control, searches);
}

}  // namespace VARIANT
