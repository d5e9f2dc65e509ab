// Costs, minima of a warp, and places in lists.
#include "cuda/variant.cuh"

namespace VARIANT {

struct Costs {
    const T* __restrict__ of;
    Scale<T> scale;
    bool wide;  // whether VECTOR neighbouring columns are one load
    __device__ __forceinline__ Costs(const T* c, double s, u64 cols) : of(c), scale(s) {
        wide = cols % VECTOR == 0 && (u64)c % (VECTOR * sizeof(T)) == 0;
        flip = s < 0 ? -1 : 0;
    }
    // sum sets x to the scaled cost plus an addend, and says whether the pair is allowed. Of
    // int32 costs it computes -c as ~c + 1, by cheaper instructions than Scale.
    int flip;
    __device__ __forceinline__ bool sum(T c, i64 addend, i64& x) const {
        if constexpr (INT32) {
            x = (i64)((int)c ^ flip) + (addend - flip);
            return (int)c != NOWHERE;
        }
        i64 cost = scale(c);
        x = cost + addend;
        return cost != INFINITE;
    }
    // plus returns that sum, or NONE for a forbidden pair.
    __device__ __forceinline__ i64 plus(T c, i64 addend) const {
        i64 x;
        return sum(c, addend, x) ? x : NONE;
    }
};

__device__ __forceinline__ i64 lower(i64 a, i64 b) { return a < b ? a : b; }

__device__ __forceinline__ i64 warpLeast(i64 x) {
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) x = lower(x, __shfl_xor_sync(ALL, x, d));
    return x;
}

// place returns, to each lane that wants one, a place in a list whose length is *count.
__device__ __forceinline__ u32 place(u32* count, bool want) {
    u32 all = __ballot_sync(ALL, want), lane = threadIdx.x % WARP, at = 0;
    if (all == 0) return 0;
    if (lane == 0) at = atomicAdd(count, (u32)__popc(all));
    return __shfl_sync(ALL, at, 0) + (u32)__popc(all & ((1u << lane) - 1));
}

// placeFrontierRow gives each lane whose row joins a place in the list of all such rows, and
// a place in the list of rows that this device scans; one word counts both lists.
__device__ __forceinline__ void placeFrontierRow(Slot* next, bool joins, bool here, u32& frontierRow, u32& at) {
    u32 all = __ballot_sync(ALL, joins), own = __ballot_sync(ALL, here), lane = threadIdx.x % WARP, below = (1u << lane) - 1;
    u64 both = 0;
    if (all == 0) return;
    if (lane == 0) both = atomicAdd((u64*)&next->joined, (u64)__popc(own) << 32 | __popc(all));
    both = __shfl_sync(ALL, both, 0);
    frontierRow = (u32)both + __popc(all & below), at = (u32)(both >> 32) + __popc(own & below);
}

}  // namespace VARIANT
