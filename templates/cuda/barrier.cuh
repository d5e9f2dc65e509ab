// Synchronisation of blocks: a barrier for all blocks of a cooperative launch, and
// acquire/release access to single words. Inline PTX has an emulated body beside
// it.
//
//     extern "C" __global__ void x_search(u32* word, ...) {
//         coalesce::GridBarrier barrier(word);
//         ...write...
//         barrier.sync();  // every thread of every block
//         ...read what other blocks wrote...
//     }
//
// word is 4 bytes of a buffer, zeroed once after Alloc (Stream.Fill). A launch that
// succeeds leaves the low 31 bits zero, and bit 31 either 0 or 1. Later launches, of
// any number of blocks, use the word as it is; only a launch that failed requires to
// zero the word again. Launches that run at the same time need a word each.
//
// sync has the ordering of __syncthreads for the whole grid: what any thread
// wrote before it (plain stores, global memory) every thread reads after it
// with plain loads, __ldcg or atomics. Not with __ldg, and not through
// pointers that the compiler may take for read-only (const __restrict__): those
// loads may come from a cache that no barrier refreshes. All threads of all
// blocks must reach each sync, as with __syncthreads; a thread that has
// returned does not count as arrived. The launch must be cooperative
// (device.Grid.Cooperative); with one block, sync is __syncthreads.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// acquire loads *p. Writes that a thread made before it released the value are visible
// to the caller afterwards. Loops that wait must use acquire: on the emulated device it
// lets other threads run.
__device__ __forceinline__ u32 acquire(const u32* p) {
#ifdef COALESCE_EMULATED
    emu_yield();
    return *(const volatile u32*)p;
#else
    u32 x;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
    return x;
#endif
}
__device__ __forceinline__ u64 acquire(const u64* p) {
#ifdef COALESCE_EMULATED
    emu_yield();
    return *(const volatile u64*)p;
#else
    u64 x;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
    return x;
#endif
}

// release stores x to *p, after all writes that this thread has made or seen.
__device__ __forceinline__ void release(u32* p, u32 x) {
#ifdef COALESCE_EMULATED
    *(volatile u32*)p = x;
    emu_maybe_yield();
#else
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
#endif
}
__device__ __forceinline__ void release(u64* p, u64 x) {
#ifdef COALESCE_EMULATED
    *(volatile u64*)p = x;
    emu_maybe_yield();
#else
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(x) : "memory");
#endif
}

class GridBarrier {
    u32* word;

    static constexpr u32 PHASE = 0x80000000u;

    // arrive adds this block's share to the word, and returns the word's old value.
    // The shares of all blocks sum to PHASE, so that the last arrival inverts bit 31
    // and leaves the lower bits zero.
    __device__ __forceinline__ u32 arrive() {
        u32 share = blockIdx.x == 0 ? PHASE - (gridDim.x - 1) : 1u;
#ifdef COALESCE_EMULATED
        return atomicAdd(word, share);
#else
        u32 old;
        asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;" : "=r"(old) : "l"(word), "r"(share) : "memory");
        return old;
#endif
    }

    // wait returns when bit 31 of the word differs from bit 31 of old.
    __device__ __forceinline__ void wait(u32 old) {
#ifdef COALESCE_EMULATED
        emu_watch(word, PHASE, old & PHASE);
#else
        while (((acquire(word) ^ old) & PHASE) == 0) {}
#endif
    }

public:
    __device__ __forceinline__ explicit GridBarrier(u32* word) : word(word) {}

    __device__ __forceinline__ void sync() {
        __syncthreads();
        if (gridDim.x == 1) return;
        if (threadIdx.x == 0) wait(arrive());
        __syncthreads();
    }
};

}  // namespace coalesce
