// Thread-block clusters: blocks that run at once, wait for one another, and
// reach one another's shared memory. The launch gives their size
// (device.Grid.Cluster); block b has rank b % size in cluster b / size.
// Compute capability 9.0; kernels compiled for less trap. Inline PTX has an
// emulated body beside it.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// clusterSync is __syncthreads for all threads of all blocks of a cluster: what
// any of them wrote before, all read after it. A block must not end before
// others have last reached its shared memory, nor others reach it before it has
// begun: both are known after a clusterSync.
__device__ __forceinline__ void clusterSync() {
#ifdef COALESCE_EMULATED
    emu_cluster_sync();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    __trap();
#else
    __syncwarp();  // the warp comes as one
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// ClusterBarrier is GridBarrier (cuda/barrier.cuh) for a grid of one cluster. It
// needs no word.
class ClusterBarrier {
public:
    __device__ __forceinline__ explicit ClusterBarrier(u32*) {}

    __device__ __forceinline__ void sync() {
        __syncwarp();
        clusterSync();
    }
};

// peer is the place of p, which is in the block's shared memory, in that of the
// block of a rank. It is for one access at once.
template <class T> __device__ __forceinline__ T* peer(T* p, u32 rank) {
#ifdef COALESCE_EMULATED
    return (T*)emu_peer(p, rank);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    __trap();
    return p;
#else
    T* far;
    asm("mapa.u64 %0, %1, %2;" : "=l"(far) : "l"(p), "r"(rank));
    return far;
#endif
}

// An Inbox, in shared memory, knows when messages of a number of bytes have come
// from the blocks of a cluster. It serves in turns: in each of them one thread
// expects, senders send, and all threads of the block wait, with parity 0 in the
// first turn, 1 in the second, and so on. What the expecting thread wrote before
// is visible after the wait, of the senders the messages alone. A sender must know
// that the turn before has ended, and that what its message overwrites was read.
//
// This orders 8 bytes without a fence of all memory, which clusterSync has.
class Inbox {
    u64 word;

    __device__ __forceinline__ u32 at() const {
#ifdef COALESCE_EMULATED
        return 0;
#else
        return (u32)__cvta_generic_to_shared(&word);
#endif
    }

public:
    // open is for one thread, before a clusterSync that is before all else.
    __device__ __forceinline__ void open() {
#ifdef COALESCE_EMULATED
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
        __trap();
#else
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at()) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
    }

    __device__ __forceinline__ void expect(u32 bytes) {
#ifdef COALESCE_EMULATED
        (void)bytes;
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
        asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(at()), "r"(bytes) : "memory");
#endif
    }

    // send stores x at the place of `to`, of the block's shared memory, in that of
    // the block of a rank, whose inbox at this one's place counts it.
    template <class T> __device__ __forceinline__ void send(T* to, u32 rank, T x) {
        static_assert(sizeof(T) == 8 && alignof(T) == 8, "messages of 8 bytes");
#ifdef COALESCE_EMULATED
        *peer(to, rank) = x;
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
        u32 far, inbox;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"((u32)__cvta_generic_to_shared(to)), "r"(rank));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(inbox) : "r"(at()), "r"(rank));
        union { T x; u64 bits; } message = {x};
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(far), "l"(message.bits), "r"(inbox) : "memory");
#endif
    }

    __device__ __forceinline__ void wait(u32 parity) {
#ifdef COALESCE_EMULATED
        (void)parity;
        emu_cluster_sync();
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
        u32 done;
        do {
            asm volatile(
                "{\n .reg .pred p;\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                : "=r"(done) : "r"(at()), "r"(parity) : "memory");
        } while (!done);
#endif
    }
};

}  // namespace coalesce
