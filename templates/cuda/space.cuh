// Pointers whose address space is known, and copies to shared memory. Built-ins have an
// emulated body beside them.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// inShared tells the compiler that p points to shared memory, which a function that is not
// inlined cannot infer from its arguments; accesses then take fewer instructions.
template <class T> __device__ __forceinline__ T* inShared(T* p) {
#ifdef COALESCE_EMULATED
    return p;
#else
    return (T*)__cvta_shared_to_generic(__cvta_generic_to_shared(p));
#endif
}

// inGlobal tells the compiler that p points to global memory.
template <class T> __device__ __forceinline__ T* inGlobal(T* p) {
#ifdef COALESCE_EMULATED
    return p;
#else
    return (T*)__cvta_global_to_generic(__cvta_generic_to_global(p));
#endif
}

// late returns x, and keeps the compiler from computing values that depend on x before they are used.
__device__ __forceinline__ u64 late(u64 x) {
#ifndef COALESCE_EMULATED
    asm volatile("" : "+l"(x));
#endif
    return x;
}

// fetchAdd adds n to a word of shared memory and returns the old value. The compiler
// combines the lanes of an atomicAdd into one addition, which takes longer where few lanes
// add; fetchAdd prevents that.
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
// memory that only this thread uses. The copy also loads the 32 bytes round p into the
// multiprocessor's cache, which is its purpose. fetched() waits for all copies of the
// thread. sealed() ends a group of copies; fetchedBut<N>() waits for all but the last N groups.
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
