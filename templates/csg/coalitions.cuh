// Coalitions and splittings as bit masks, in which bit i-1 is agent i. Names of
// procedures are those of Svensson et al., Solving the Coalition Structure
// Generation Problem on a GPU, section 3.1. At most 32 agents.
#pragma once
#include "cuda/prelude.cuh"

namespace csg {

// Binomials holds n choose k for n, k <= 32; unrank counts coalitions with it.
struct Binomials {
    u32 of[33][33];
    constexpr Binomials() : of{} {
        for (int n = 0; n < 33; n++) {
            of[n][0] = 1;
            for (int k = 1; k <= n; k++) of[n][k] = of[n - 1][k - 1] + (k < n ? of[n - 1][k] : 0);
        }
    }
};
static __constant__ const Binomials binomials = Binomials();

// nextCoalition returns the next larger mask with as many members as c; 0 when
// no such mask fits 32 bits.
__device__ __forceinline__ u32 nextCoalition(u32 c) {
    u32 low = c & (0u - c);
    u32 ripple = c + low;
    if (ripple == 0) return 0;
    return ripple | (((c ^ ripple) >> 2) >> (__ffs((int)low) - 1));
}

// unrank returns coalition number `rank`, counted from 0, among those of `size`
// of `agents` agents in increasing order of masks (combinatorial number system).
__device__ __forceinline__ u32 unrank(u32 rank, u32 size, u32 agents) {
    u32 c = 0;
    for (u32 a = agents; a > 0 && size > 0; a--) {
        u32 below = a - 1 < size ? 0 : binomials.of[a - 1][size];
        if (rank >= below) {
            c |= 1u << (a - 1);
            rank -= below;
            size--;
        }
    }
    return c;
}

// initShift writes the bit numbers of the members of c to shift, lowest first (Algorithm 3).
__device__ __forceinline__ void initShift(u32 c, unsigned char* shift) {
    for (u32 count = 0; c != 0; count++) {
        shift[count] = (unsigned char)(__ffs((int)c) - 1);
        c &= c - 1;
    }
}

// initialSplit returns splitting number psi of the coalition whose members
// shift lists: bit k of psi selects member k (Algorithm 5).
__device__ __forceinline__ u32 initialSplit(u32 psi, const unsigned char* shift) {
    u32 s = 0;
    while (psi != 0) {
        s |= 1u << shift[__ffs((int)psi) - 1];
        psi &= psi - 1;
    }
    return s;
}

// deposit returns the same splitting as initialSplit, of the coalition c, without a table.
__device__ __forceinline__ u32 deposit(u32 psi, u32 c) {
    u32 s = 0;
    for (; psi != 0; psi >>= 1) {
        u32 low = c & (0u - c);
        if (psi & 1) s |= low;
        c ^= low;
    }
    return s;
}

// withoutLowest returns c without its k lowest members.
__device__ __forceinline__ u32 withoutLowest(u32 c, u32 k) {
    for (; k > 0; k--) c &= c - 1;
    return c;
}

// nextSplit returns the splitting of c that follows s (Algorithm 4).
__device__ __forceinline__ u32 nextSplit(u32 c, u32 s) { return (s - c) & c; }

}  // namespace csg
