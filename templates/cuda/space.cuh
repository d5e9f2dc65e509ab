// Pointers of which it is known where they point. Its built-ins have an emulated body
// beside them.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// inShared is a pointer into shared memory that a function was passed, which is not
// inlined and so could not tell: accesses by it take fewer instructions.
template <class T> __device__ __forceinline__ T* inShared(T* p) {
#ifdef COALESCE_EMULATED
    return p;
#else
    return (T*)__cvta_shared_to_generic(__cvta_generic_to_shared(p));
#endif
}

// inGlobal is the same for memory of the device.
template <class T> __device__ __forceinline__ T* inGlobal(T* p) {
#ifdef COALESCE_EMULATED
    return p;
#else
    return (T*)__cvta_global_to_generic(__cvta_generic_to_global(p));
#endif
}

// late is x; what is computed from it is not computed before it is asked for.
__device__ __forceinline__ u64 late(u64 x) {
#ifndef COALESCE_EMULATED
    asm volatile("" : "+l"(x));
#endif
    return x;
}

// fetchAdd adds n to a word of shared memory and returns what it was. Lanes are not
// gathered into one addition, as atomicAdd's are: that takes longer where few ask.
__device__ __forceinline__ u32 fetchAdd(u32* word, u32 n = 1) {
#ifdef COALESCE_EMULATED
    return atomicAdd(word, n);
#else
    u32 old;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"((u32)__cvta_generic_to_shared(word)), "r"(n) : "memory");
    return old;
#endif
}

// fetch starts an asynchronous copy of the 4 bytes at p, aligned to 4, to a word of shared
// memory that only this thread uses; it also brings the 32 bytes round p into the
// multiprocessor's cache. fetched() waits for all copies of the thread. sealed() ends a
// group of copies, and fetchedBut<N>() waits for all groups but the last N.
__device__ __forceinline__ void fetch(u32* word, const void* p) {
#ifdef COALESCE_EMULATED
    *word = *(const u32*)p;
#else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((u32)__cvta_generic_to_shared(word)), "l"(p) : "memory");
#endif
}
__device__ __forceinline__ void fetched() {
#ifndef COALESCE_EMULATED
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
__device__ __forceinline__ void sealed() {
#ifndef COALESCE_EMULATED
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <u32 N> __device__ __forceinline__ void fetchedBut() {
#ifndef COALESCE_EMULATED
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

}  // namespace coalesce
