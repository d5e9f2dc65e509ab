// Stages of words of two values: asynchronous copies bring tiles as they are, threads put words together.
#include "cuda/variant.cuh"

namespace VARIANT {

// Two stages hold RAW values each, of the tiles as they are, two others hold words. A thread puts together the words of
// those values that it has copied itself, so that it waits for its own copies alone.
static_assert(LANES == 2 && STAGES == 4 && 8 % LANES == 0 && CHUNK % 8 == 0, "a thread copies 8 values of a chunk at a time");
constexpr u32 UNITS = TILE / 8;
constexpr u32 RAW = 2 * PAIRS * LANES * TILE;

// copyStage starts the copies of one stage: the next LANES * PAIRS of the `left` pairs.
// Where fewer pairs are left, the last pair is copied again, which changes no maximum.
__device__ __forceinline__ void copyStage(T* raw, const T* f, Pairs& next, u32& left) {
    for (u32 tile = 0; tile < 2 * PAIRS * LANES; tile += 2) {
        const T *one = f + ((u64)next.sub << K), *other = f + ((u64)(next.target ^ next.sub) << K);
#pragma unroll
        for (u32 k = 0; k < (UNITS + BLOCK - 1) / BLOCK; k++)
            if ((k + 1) * BLOCK <= UNITS || threadIdx.x + k * BLOCK < UNITS) {
                copyAhead(raw + tile * TILE + k * BLOCK * 8, one + k * BLOCK * 8);
                copyAhead(raw + (tile + 1) * TILE + k * BLOCK * 8, other + k * BLOCK * 8);
            }
        advance(next, left);
    }
}

// joinStage makes words of the values that this thread has copied.
__device__ __forceinline__ void joinStage(W* words, const T* raw) {
#pragma unroll
    for (u32 tile = 0; tile < 2 * PAIRS; tile++)
#pragma unroll
        for (u32 k = 0; k < (UNITS + BLOCK - 1) / BLOCK; k++)
            if ((k + 1) * BLOCK <= UNITS || threadIdx.x + k * BLOCK < UNITS) {
                u32 at = (threadIdx.x + k * BLOCK) * 8;
                const T* low = raw + (tile / 2 * 4 + tile % 2) * TILE + k * BLOCK * 8;
                joinWords(words + (tile * CHUNKS + at / CHUNK) * STRIDE + at % CHUNK, low, low + 2 * TILE);
            }
}

// raiseAll raises the bests of a thread's slots over `count` > 0 pairs of tiles.
__device__ __forceinline__ void raiseAll(W (&best)[EACH][CHUNK], W* shared, const T* f, Pairs next, u32 count) {
    const unsigned short* mine = slots[threadIdx.x];
    u32 first = mine[0] * STRIDE, second[EACH];
#pragma unroll
    for (u32 e = 0; e < EACH; e++) second[e] = (CHUNKS + mine[1 + e]) * STRIDE;
    T *raw = (T*)(shared + 2 * STAGE) + threadIdx.x * 8, *spare = raw + RAW;
    W *words = shared, *following = shared + STAGE;
    f += threadIdx.x * 8;
    u32 rounds = (count + LANES * PAIRS - 1) / (LANES * PAIRS), left = count;
    copyStage(raw, f, next, left);
    commitCopies();
    if (rounds > 1) copyStage(spare, f, next, left);
    commitCopies();
    awaitCopies<1>();
    joinStage(words, raw);
    if (rounds > 2) copyStage(raw, f, next, left);
    commitCopies();
    for (u32 i = 0; i < rounds; i++) {
        __syncthreads();  // the words are complete, and no thread reads those before them any more
        if (i + 1 < rounds) {
            awaitCopies<1>();
            joinStage(following, spare);
            if (i + 3 < rounds) copyStage(spare, f, next, left);
        }
        commitCopies();
#pragma unroll 1
        for (u32 q = 0; q < PAIRS; q++) {
            const W* tiles = words + 2 * q * CHUNKS * STRIDE;
            W a[CHUNK];
            load(a, tiles + first);
#pragma unroll
            for (u32 e = 0; e < EACH; e++) raiseChunk<MIXED>(best[e], a, tiles + second[e], (int)blockDim.y);
        }
        W* read = words;
        words = following, following = read;
        T* joined = spare;
        spare = raw, raw = joined;
    }
    awaitCopies<0>();
    __syncthreads();
}

}  // namespace VARIANT
