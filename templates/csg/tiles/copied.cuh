// Stages of words, which copies fill from the tiles as they are, or through registers.
#include "cuda/variant.cuh"

namespace VARIANT {

// copyTile starts the copy of a tile to shared memory, in which a thread copies 16 bytes at a
// time, first from `from` to `to`. Words of two values (int16) take the low value from the
// tile at `from` and the high value from the tile at `second`.
__device__ __forceinline__ void copyTile(W* to, const T* from, const T* second) {
    constexpr u32 UNITS = TILE / VALUES, ROUND = BLOCK * VALUES;
    static_assert(ROUND % CHUNK == 0, "a thread's copies lie at the same place of all chunks");
#pragma unroll
    for (u32 k = 0; k < (UNITS + BLOCK - 1) / BLOCK; k++)
        if ((k + 1) * BLOCK <= UNITS || threadIdx.x + k * BLOCK < UNITS)
            copyWords(to + k * (ROUND / CHUNK) * STRIDE, from + k * ROUND, second + k * ROUND);
}

// copyStage starts the copies of one stage: the next LANES * PAIRS of the `left` pairs.
// Where fewer pairs are left, the last pair is copied again, which changes no maximum.
__device__ __forceinline__ void copyStage(W* stage, const T* f, Pairs& next, u32& left) {
    for (u32 q = 0; q < PAIRS; q++) {
        u32 sub = next.sub;
        if (LANES > 1) advance(next, left);
        copyTile(stage + 2 * q * CHUNKS * STRIDE, f + ((u64)sub << K), f + ((u64)next.sub << K));
        copyTile(stage + (2 * q + 1) * CHUNKS * STRIDE, f + ((u64)(next.target ^ sub) << K), f + ((u64)(next.target ^ next.sub) << K));
        advance(next, left);
    }
}

// raiseAll raises the bests of a thread's slots over `count` > 0 pairs of tiles.
__device__ __forceinline__ void raiseAll(W (&best)[EACH][CHUNK], W* shared, const T* f, Pairs next, u32 count) {
    const unsigned short* mine = slots[threadIdx.x];
    u32 first = mine[0] * STRIDE, second[EACH];
#pragma unroll
    for (u32 e = 0; e < EACH; e++) second[e] = (CHUNKS + mine[1 + e]) * STRIDE;
    W *end = shared + STAGES * STAGE, *from = shared;
    W* into = shared + threadIdx.x * VALUES / CHUNK * STRIDE + threadIdx.x * VALUES % CHUNK;
    f += threadIdx.x * VALUES;
    u32 rounds = (count + LANES * PAIRS - 1) / (LANES * PAIRS), left = count;
    for (u32 s = 0; s + 1 < STAGES; s++, into += STAGE) {
        if (s < rounds) copyStage(into, f, next, left);
        commitCopies();
    }
    for (u32 i = 0; i < rounds; i++) {
        awaitCopies<STAGES - 2>();
        __syncthreads();  // the stage is complete, and no thread reads the stage before it any more
        if (i + STAGES - 1 < rounds) copyStage(into, f, next, left);
        commitCopies();
#pragma unroll 1
        for (u32 q = 0; q < PAIRS; q++) {
            const W* tiles = from + 2 * q * CHUNKS * STRIDE;
            W a[CHUNK];
            load(a, tiles + first);
#pragma unroll
            for (u32 e = 0; e < EACH; e++) raiseChunk<MIXED>(best[e], a, tiles + second[e], (int)blockDim.y);
        }
        from = from + STAGE == end ? shared : from + STAGE;
        into = into + STAGE >= end ? into + STAGE - STAGES * STAGE : into + STAGE;
    }
    awaitCopies<0>();
    __syncthreads();
}

}  // namespace VARIANT
