// Tile 0: coalitions of low agents alone, splitting by splitting.
#include "cuda/variant.cuh"

namespace VARIANT {

// direct computes f of all coalitions of the `agents` lowest agents, at most K of them, in
// one block, size by size; a warp takes one coalition at a time.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(direct)(T* f, unsigned long long agents) {
    COALESCE_DYNAMIC_SHARED(T, tile);
    u32 end = 1u << agents, lane = threadIdx.x % WARP;
    for (u32 i = threadIdx.x; i < end; i += BLOCK) tile[i] = f[i];
    for (u32 size = 2; size <= agents; size++) {
        __syncthreads();
        for (u32 c = threadIdx.x / WARP; c < end; c += BLOCK / WARP) {
            if ((u32)__popc(c) != size) continue;
            u32 rest = c & (c - 1);  // without the lowest member, which the other part has
            Sum x = lane == 0 ? tile[c] : lowest<Sum>();
            for (u32 number = lane; number + 1 < 1u << (size - 1); number += WARP) {
                u32 s = deposit(number + 1, rest);
                x = larger<Sum>(x, tile[s] + tile[c ^ s]);
            }
            x = warpReduce(x);
            if (lane == 0) tile[c] = (T)x;
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < end; i += BLOCK) f[i] = tile[i];
}

}  // namespace VARIANT
