// Permutations of a word's bytes. Inline PTX has an emulated body beside it.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// permute returns a word made of bytes of x: hexadecimal digit k of select is the number of
// the byte of x that becomes byte k; a digit that is 8 larger repeats that byte's highest bit.
__device__ __forceinline__ u32 permute(u32 x, u32 select) {
#ifdef COALESCE_EMULATED
    return __byte_perm(x, 0, select);
#else
    u32 r;  // the intrinsic clears the 8s
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(r) : "r"(x), "r"(select));
    return r;
#endif
}

}  // namespace coalesce
