// zeros=bits: the zeros of the slack matrix as bits, a word for each row, chunk and lane.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 DEEP = 8;  // words that a lane reads at once

// clear starts all rows without zeros.
__device__ void clear(const Work& m, Team team) {
    for (u64 at = team.thread; at < (u64)m.rows * m.words; at += team.threads) m.zeros[at] = 0;
}

// extend adds the bits z of word w to row i's zeros. Like the functions below, a whole warp calls.
__device__ __forceinline__ void extend(const Work& m, u32 i, u32 w, u32 z) {
    if (z) m.zeros[(u64)i * m.words + w] |= z;
}

// merge adds bits of word w, the same z in all lanes, while other warps may add to the same row.
__device__ __forceinline__ void merge(const Work& m, u32 i, u32 w, u32 z) {
    if (threadIdx.x % WARP == 0) atomicOr(m.zeros + (u64)i * m.words + w, z);
}

// drop deletes row i's zeros in covered columns.
__device__ void drop(const Work& m, u32 i) {
    u32* row = m.zeros + (u64)i * m.words;
    for (u32 w = threadIdx.x % WARP; w < m.words; w += DEEP * WARP) {
        u32 z[DEEP], gone[DEEP];
#pragma unroll
        for (u32 k = 0; k < DEEP; k++) {
            u32 at = w + k * WARP;
            gone[k] = at < m.words ? m.covered[at] : 0;
            z[k] = gone[k] ? row[at] : 0;
        }
#pragma unroll
        for (u32 k = 0; k < DEEP; k++)
            if (z[k] & gone[k]) row[w + k * WARP] = z[k] & ~gone[k];
    }
}

// forget deletes the zeros in covered columns of rows first + k, for all bits k of `rows`.
__device__ __forceinline__ void forget(const Work& m, u32 first, u32 rows) {
    for (; rows != 0; rows &= rows - 1) drop(m, first + (u32)__ffs((int)rows) - 1);
}

// each calls f(w, z) for the words of row i's zeros, all lanes of a warp together, until f
// returns false. A caller gets share `part` of `parts` of the words.
template <class F> __device__ __forceinline__ void each(const Work& m, u32 i, u32 part, u32 parts, F f) {
    const u32* row = m.zeros + (u64)i * m.words;
    u32 step = parts * WARP;
    for (u32 w = part * WARP + threadIdx.x % WARP; w < m.words; w += DEEP * step) {
        u32 z[DEEP], any = 0;
#pragma unroll
        for (u32 k = 0; k < DEEP; k++) any |= z[k] = w + k * step < m.words ? row[w + k * step] : 0;
        if (!__any_sync(ALL, any != 0)) continue;
#pragma unroll
        for (u32 k = 0; k < DEEP; k++)
            if (w + k * step < m.words && !f(w + k * step, z[k])) return;
    }
}
template <class F> __device__ __forceinline__ void each(const Work& m, u32 i, F f) { each(m, i, 0, 1, f); }

}  // namespace VARIANT
