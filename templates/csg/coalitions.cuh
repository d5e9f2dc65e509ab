// Coalitions and splittings as bit masks, agent i = bit i-1: the procedures of
// Svensson et al., Solving the Coalition Structure Generation Problem on a
// GPU, section 3.1, named as there. At most 32 agents.
#pragma once
#include "cuda/prelude.cuh"

namespace csg {

// Binomial coefficients to 32 choose 16, the ranks of coalitions of one size.
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

// nextCoalition is the next larger mask with as many members; 0 after the last
// one that fits 32 bits.
__device__ __forceinline__ u32 nextCoalition(u32 c) {
    u32 low = c & (0u - c);
    u32 ripple = c + low;
    if (ripple == 0) return 0;
    return ripple | (((c ^ ripple) >> 2) >> (__ffs((int)low) - 1));
}

// unrank is the coalition of the given size at a rank of the increasing order
// of masks (combinatorial number system).
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

// initShift lists the members of c, lowest first (Algorithm 3).
__device__ __forceinline__ void initShift(u32 c, unsigned char* shift) {
    for (u32 count = 0; c != 0; count++) {
        shift[count] = (unsigned char)(__ffs((int)c) - 1);
        c &= c - 1;
    }
}

// initialSplit maps the members of the index psi to the members of the
// coalition that shift lists (Algorithm 5).
__device__ __forceinline__ u32 initialSplit(u32 psi, const unsigned char* shift) {
    u32 s = 0;
    while (psi != 0) {
        s |= 1u << shift[__ffs((int)psi) - 1];
        psi &= psi - 1;
    }
    return s;
}

// deposit is initialSplit without a table.
__device__ __forceinline__ u32 deposit(u32 psi, u32 c) {
    u32 s = 0;
    for (; psi != 0; psi >>= 1) {
        u32 low = c & (0u - c);
        if (psi & 1) s |= low;
        c ^= low;
    }
    return s;
}

// withoutLowest removes the k lowest members.
__device__ __forceinline__ u32 withoutLowest(u32 c, u32 k) {
    for (; k > 0; k--) c &= c - 1;
    return c;
}

// nextSplit is the next splitting of c (Algorithm 4).
__device__ __forceinline__ u32 nextSplit(u32 c, u32 s) { return (s - c) & c; }

}  // namespace csg
