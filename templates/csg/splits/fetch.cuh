// Fetching the values of a batch's splittings, each shared value once (Algorithm 6).
#include "cuda/variant.cuh"

namespace VARIANT {

// fetch sets v[z] = f(part[z]) for the whole batch. Entries of the same coalition
// collide, and the parameter collision says among which entries one read serves all of them.
__device__ __forceinline__ void fetch(T (&v)[BETA], const T* __restrict__ f, const u32 (&part)[BETA]) {
    if constexpr (param::collision_warp) {
#pragma unroll
        for (u32 z = 0; z < BETA; z++) {
            u32 same = __match_any_sync(ALL, part[z]);
            int leader = __ffs((int)same) - 1;
            T x = lowest<T>();
            if ((int)(threadIdx.x % WARP) == leader) x = f[part[z]];
            v[z] = __shfl_sync(ALL, x, leader);
        }
        return;
    }
#pragma unroll
    for (u32 z = 0; z < BETA; z++) {
        bool found = false;
        if constexpr (param::collision_pair) {
            found = z % 2 == 1 && part[z] == part[z - 1];
            if (found) v[z] = v[z - 1];
        } else if constexpr (param::collision_batch) {
#pragma unroll
            for (u32 y = 0; y < z; y++)
                if (!found && part[y] == part[z]) {
                    v[z] = v[y];
                    found = true;
                }
        }
        if (!found) v[z] = f[part[z]];
    }
}

}  // namespace VARIANT
