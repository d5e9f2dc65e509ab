// A sum over blocks: each block of a cooperative launch, or of one cluster, brings a
// number, and learns the sum when all have come. What its threads do between arrive
// and wait takes no time of its own.
//
//     coalesce::GridSum sum(words, blocks);
//     for (;;) {
//         ...
//         __syncthreads();
//         if (threadIdx.x == 0) sum.arrive(n);
//         ...what needs nothing of the other blocks...
//         if (threadIdx.x == 0) all = sum.wait();  // in shared memory
//         __syncthreads();
//     }
//
// words are 16 bytes, aligned to 8, of a buffer: zero before the first block comes,
// with a barrier between, and of no use to a second GridSum. The first `blocks` blocks
// take part, fewer than 2^31, and sums stay below 2^32.
//
// A GridSum orders no other accesses to memory: waiting for earlier writes would take as
// long as all the rest. A block whose writes others read after their wait calls
// __threadfence before the __syncthreads above; the others read with __ldcg or atomics.
#pragma once
#include "cuda/barrier.cuh"

namespace coalesce {

// A word's upper half counts blocks as GridBarrier's does, its lower half is the sum.
// Two take turns: the one of this turn is as it is until all have come in the next, so
// a block that is late reads no number of the turn after.
class GridSum {
    u64* words;
    u32 blocks, turn = 0, past[2] = {0, 0};

    static constexpr u64 ONE = 1ull << 32, PHASE = 1ull << 63;
    static constexpr u32 LOOKS = 3;
    static constexpr i64 PAUSE = 220;

public:
    __device__ __forceinline__ GridSum(u64* words, u32 blocks) : words(words), blocks(blocks) {}

    // arrive brings n. The first block takes the last sum away.
    __device__ __forceinline__ void arrive(u32 n) {
        u64 share = n + ONE;
        if (blockIdx.x == 0) share = (u64)n - past[turn % 2] + PHASE - (blocks - 1) * ONE;
        atomicAdd(words + turn % 2, share);
    }

    // wait returns the sum: when bit 63 has turned over. LOOKS loads are on their way at
    // once, PAUSE cycles apart: one alone would see it half a trip later.
    __device__ __forceinline__ u32 wait() {
        u64 *word = words + turn % 2, now = 0, was = turn % 4 < 2 ? 0 : PHASE;
#ifdef COALESCE_EMULATED
        emu_watch((u32*)word + 1, (u32)(PHASE >> 32), (u32)(was >> 32));
        now = *word;
#else
        u64 seen[LOOKS];
#pragma unroll
        for (u32 k = 0; k < LOOKS; k++) {
            seen[k] = *(volatile u64*)word;
            for (i64 from = clock64(); clock64() - from < PAUSE;) {}
        }
        for (bool over = false; !over;) {
#pragma unroll
            for (u32 k = 0; k < LOOKS; k++) {
                now = seen[k];
                if (over = (now & PHASE) != was; over) break;
                seen[k] = *(volatile u64*)word;
            }
        }
#endif
        past[turn++ % 2] = (u32)now;
        return (u32)now;
    }
};

}  // namespace coalesce
