// Groups of blocks that share a launch, or whose launches run at the same time on
// devices that reach each other's memory. Its inline PTX has an emulated body
// beside it.
//
// The groups exchange words of 8 bytes: the low half is the value, the high half the number
// of the exchange. A reader waits until a word has the number, so that words are overwritten
// and never cleared. A word is in memory of the device that reads it.
//
//     coalesce::publish();          // makes this thread's writes visible to all devices
//     coalesce::send(word, 7, x);   // exchange 7
//
//     u32 x = coalesce::receive(word, 7);  // afterwards the published writes can be read
#pragma once
#include "cuda/barrier.cuh"

namespace coalesce {

// publish is a fence: a thread of any device that receives a word which this thread sends
// afterwards sees all writes that this thread has made or seen before.
__device__ __forceinline__ void publish() {
#ifdef COALESCE_EMULATED
    emu_maybe_yield();
#else
    asm volatile("fence.acq_rel.sys;" ::: "memory");
#endif
}

// publishHere is publish for threads of this device alone.
__device__ __forceinline__ void publishHere() {
#ifdef COALESCE_EMULATED
    emu_maybe_yield();
#else
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

// send writes a word, without waiting.
__device__ __forceinline__ void send(u64* word, u32 number, u32 x) {
    u64 both = (u64)number << 32 | x;
#ifdef COALESCE_EMULATED
    *(volatile u64*)word = both;
    emu_maybe_yield();
#else
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(word), "l"(both) : "memory");
#endif
}

// receive waits for the word of an exchange, and returns its value.
__device__ __forceinline__ u32 receive(const u64* word, u32 number) {
#ifdef COALESCE_EMULATED
    const volatile u32* half = (const volatile u32*)word;
    for (u32 had; (had = half[1]) != number;) emu_watch((const u32*)word + 1, ALL, had);
    return half[0];
#else
    for (;;) {
        u64 both;
        asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(both) : "l"(word) : "memory");
        if ((u32)(both >> 32) == number) return (u32)both;
    }
#endif
}

// MemberBarrier is GridBarrier for blocks 0 .. blocks-1 of a group.
class MemberBarrier {
    u32* word;
    u32 block, blocks;

    static constexpr u32 PHASE = 0x80000000u;

    // arrive adds this block's share, like GridBarrier's.
    __device__ __forceinline__ u32 share() const { return block == 0 ? PHASE - (blocks - 1) : 1u; }
    __device__ __forceinline__ u32 arrive() {
#ifdef COALESCE_EMULATED
        return atomicAdd(word, share());
#else
        u32 old;
        asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;" : "=r"(old) : "l"(word), "r"(share()) : "memory");
        return old;
#endif
    }

    __device__ __forceinline__ void wait(u32 old) {
#ifdef COALESCE_EMULATED
        emu_watch(word, PHASE, old & PHASE);
#else
        while (((acquire(word) ^ old) & PHASE) == 0) {}
#endif
    }

public:
    __device__ __forceinline__ MemberBarrier(u32* word, u32 block, u32 blocks) : word(word), block(block), blocks(blocks) {}

    __device__ __forceinline__ void sync() {
        __syncthreads();
        if (blocks == 1) return;
        if (threadIdx.x == 0) wait(arrive());
        __syncthreads();
    }

    // last is the arriving half of a barrier; all threads call it, and none waits. The result
    // is true for one thread, of the block that arrives last, and that thread sees all writes
    // of the group. Before the group's next barrier, every block must wait for a word that
    // this thread writes.
    __device__ __forceinline__ bool last() {
        __syncthreads();
        if (threadIdx.x != 0) return false;
        u32 old = arrive();
        return ((old + share()) ^ old) & PHASE;
    }
};

}  // namespace coalesce
