// Thread-block clusters: blocks that run at once, wait for one another, and
// reach one another's shared memory. The launch gives their size
// (device.Grid.Cluster); block b has rank b % size in cluster b / size.
// Compute capability 9.0; kernels compiled for less trap. Inline PTX has an
// emulated body beside it.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// clusterSync is __syncthreads for all threads of all blocks of a cluster: writes
// that any of them made before are visible to all afterwards. A block's shared
// memory may be accessed by others only after the block has begun and before it
// ends; a clusterSync after the begin, and one before the end, ensure both.
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

// peer maps p, a pointer to the block's shared memory, to the same place in the
// shared memory of the cluster's block number `rank`, for immediate use.
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

// Inbox, an object in shared memory, counts bytes of messages from the blocks of a
// cluster. It works in turns: one thread calls expect with the number of bytes,
// senders send, and all threads of the block wait, with parity 0 in the first turn,
// 1 in the second, and so on. After the wait, writes of the expecting thread are
// visible, and of the senders the messages alone. A sender may send only when the
// turn before has ended, and when the data that its message overwrites has been read.
//
// Unlike clusterSync, an Inbox needs no fence of all memory.
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
    // open initialises the inbox. One thread calls it, and a clusterSync must follow before any other use.
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
