// Predicated accesses to memory, for lanes with `asks`. The other lanes execute the same
// instruction without effect: a branch round the access would take a warp longer than the
// access. Inline PTX has an emulated body beside it.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// storeIf stores x to *p in global memory, for lanes that ask.
__device__ __forceinline__ void storeIf(bool asks, u32* p, u32 x) {
#ifdef COALESCE_EMULATED
    if (asks) *p = x;
#else
    asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @p st.global.u32 [%0], %1;\n}" ::"l"(p), "r"(x), "r"((u32)asks) : "memory");
#endif
}
__device__ __forceinline__ void storeIf(bool asks, u64* p, u64 x) {
#ifdef COALESCE_EMULATED
    if (asks) *p = x;
#else
    asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @p st.global.u64 [%0], %1;\n}" ::"l"(p), "l"(x), "r"((u32)asks) : "memory");
#endif
}

// fetchIf calls fetch (cuda/space.cuh), for lanes that ask.
__device__ __forceinline__ void fetchIf(bool asks, u32* word, const void* p) {
#ifdef COALESCE_EMULATED
    if (asks) *word = *(const u32*)p;
#else
    asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @p cp.async.ca.shared.global [%0], [%1], 4;\n}" ::"r"(
                     (u32)__cvta_generic_to_shared(word)), "l"(p), "r"((u32)asks) : "memory");
#endif
}

}  // namespace coalesce
