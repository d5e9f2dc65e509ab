// Waiting across blocks: a barrier for all blocks of a cooperative launch, and
// acquire/release access to single words. Its inline PTX has an emulated body
// beside it.
//
//     extern "C" __global__ void x_search(u32* word, ...) {
//         coalesce::GridBarrier barrier(word);
//         ...write...
//         barrier.sync();  // every thread of every block
//         ...read what other blocks wrote...
//     }
//
// word is 4 bytes of a buffer, zeroed once after Alloc (Stream.Fill). A launch
// that ends well leaves its low 31 bits zero and bit 31 as it happens, so it
// serves any number of later launches, of any number of blocks, unreset; zero
// it again only after a launch that failed. Two launches that run at the same
// time need a word each.
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

// acquire loads *p; what the thread that released the value wrote before is
// visible after it. Use it to spin: the emulated device lets others run.
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

// release stores x to *p after all that this thread wrote or saw before.
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

    // arrive adds this block's share and returns the word as it was: the
    // shares of all blocks add up to PHASE, so that the last arrival turns
    // bit 31 over and leaves the count below it at zero.
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

    // wait returns when bit 31 differs from old's.
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
