// The bests of all slots of a target, merged into one tile.
#include "cuda/variant.cuh"

namespace VARIANT {

// place returns the index of value l of a row. Groups of 16 bytes are permuted row by row, so
// that rows which threads write at once lie in different banks of shared memory.
__device__ __forceinline__ u32 place(u32 row, u32 l) {
    constexpr u32 GROUPS = CHUNK / VALUES < 8 ? CHUNK / VALUES : 8;
    return row * CHUNK + (l / VALUES ^ row % GROUPS) * VALUES + l % VALUES;
}

// merged calls keep(L, x) for every coalition L of the tile, where x is the best over all
// slots. `bests` is shared memory of ROWS rows of CHUNK words.
template <class Keep> __device__ __forceinline__ void merged(const W (&best)[EACH][CHUNK], W* bests, Keep keep) {
    const unsigned short* mine = slots[threadIdx.x];
#pragma unroll
    for (u32 e = 0; e < EACH; e++) {
        u32 row = mine[1 + EACH + e];
        if (row == NONE) continue;
#pragma unroll
        for (u32 l = 0; l < CHUNK; l += VALUES) {
            Quad<W> q;
#pragma unroll
            for (u32 k = 0; k < VALUES; k++) q.of[k] = best[e][l + k];
            *(Quad<W>*)(bests + place(row, l)) = q;
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < TILE; i += BLOCK) {
        u32 t = i >> R;
        W x = lowest<W>();
        for (u32 row = starts[t]; row < starts[t + 1]; row++) x = larger(x, bests[place(row, i % CHUNK)]);
        keep(i, highest(x));
    }
    __syncthreads();
}

}  // namespace VARIANT
