// zeros=lists: the zeros of the slack matrix as lists of columns.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 LIST = 31;  // room of a row's list, in zeros

// line returns row i's list, a cache line: up to LIST columns, then NOWHERE, and the length
// in the last word. Zeros beyond the room are left out; the next pass finds them as slacks
// of zero.
__device__ __forceinline__ u32* line(const Work& m, u32 i) { return m.zeros + i * WARP; }
static_assert(LIST + 1 == WARP, "a lane an entry, and one word");

// clear starts all rows without zeros.
__device__ void clear(const Work& m, Team team) {
    for (u64 x = team.thread; x < (u64)m.rows * WARP; x += team.threads) m.zeros[x] = x % WARP < LIST ? NOWHERE : 0;
}

// extend adds the bits z of word w to row i's zeros. Like the functions below, a whole warp calls.
__device__ __forceinline__ void extend(const Work& m, u32 i, u32 w, u32 z) {
    u32 lane = threadIdx.x % WARP, n = line(m, i)[LIST], has;
    __syncwarp();
    for (; n < LIST && (has = __ballot_sync(ALL, z != 0)) != 0; n += __popc(has)) {
        u32 at = n + __popc(has & ((1u << lane) - 1));
        if (z && at < LIST) line(m, i)[at] = C::column(w, __ffs((int)z) - 1);
        z &= z - 1;
    }
    if (lane == 0) line(m, i)[LIST] = min(n, LIST);
    __syncwarp();
}

// merge adds bits of word w, the same z in all lanes, while other warps may add to the same row.
__device__ __forceinline__ void merge(const Work& m, u32 i, u32 w, u32 z) {
    u32 lane = threadIdx.x % WARP, at = lane == 0 ? atomicAdd(line(m, i) + LIST, (u32)__popc(z)) : 0;
    at = __shfl_sync(ALL, at, 0) + __popc(z & ((1u << lane) - 1));
    if (z >> lane & 1 && at < LIST) line(m, i)[at] = C::column(w, lane);
}

// held returns the lane's entry of row i's list, and sets n to the list's length.
__device__ __forceinline__ u32 held(const Work& m, u32 i, u32& n) {
    u32 word = line(m, i)[threadIdx.x % WARP];
    n = min(__shfl_sync(ALL, word, LIST), LIST);
    return word;
}

// forget deletes the zeros in covered columns of rows first + k, for all bits k of `rows`,
// DEEP rows at once.
__device__ __forceinline__ void forget(const Work& m, u32 first, u32 rows) {
    constexpr u32 DEEP = 4;
    u32 lane = threadIdx.x % WARP;
    while (rows != 0) {
        u32 i[DEEP], j[DEEP], n = 0;
        bool gone[DEEP];
#pragma unroll
        for (u32 k = 0; k < DEEP; k++, rows &= rows - 1) n += rows != 0, i[k] = first + (rows != 0 ? (u32)__ffs((int)rows) - 1 : 0);
#pragma unroll
        for (u32 k = 0; k < DEEP; k++) j[k] = k < n && lane < LIST ? line(m, i[k])[lane] : NOWHERE;
#pragma unroll
        for (u32 k = 0; k < DEEP; k++) gone[k] = j[k] != NOWHERE && m.covered[C::word(j[k])] & C::bit(j[k]);
#pragma unroll
        for (u32 k = 0; k < DEEP; k++) {
            if (!__any_sync(ALL, gone[k])) continue;
            bool stays = j[k] != NOWHERE && !gone[k];
            u32 left = __ballot_sync(ALL, stays), count = __popc(left);
            if (stays) line(m, i[k])[__popc(left & ((1u << lane) - 1))] = j[k];
            if (lane >= count) line(m, i[k])[lane] = lane < LIST ? NOWHERE : count;
        }
    }
}

// each calls f(w, z) once for row i's zeros, all lanes of a warp together: a lane with an
// entry has its column's word and bit.
template <class F> __device__ __forceinline__ void each(const Work& m, u32 i, F f) {
    u32 n, j = held(m, i, n);
    bool has = threadIdx.x % WARP < n;
    f(has ? C::word(j) : 0, has ? C::bit(j) : 0);
}

}  // namespace VARIANT
