// The coalitions of a block.
#include "cuda/variant.cuh"

namespace VARIANT {

// fill writes the masks of `count` coalitions from rank `rank` on to the group.
// Ranks count from 0 within a size. The rest of the group is the empty coalition,
// whose results reduce discards.
__device__ void fill(Group& g, u32 c0, u32 rank, u32 count, u32 size, u32 agents) {
    if constexpr (param::origin_each) {
        for (u32 i = threadIdx.x; i < ALPHA; i += BLOCK)
            g.coalition[i] = i < count ? unrank(rank + i, size, agents) : 0;
    } else if (threadIdx.x == 0) {
        u32 c = param::origin_rank ? unrank(rank, size, agents) : c0;
        for (u32 i = 0; i < ALPHA; i++) {
            g.coalition[i] = i < count ? c : 0;
            if (i + 1 < count) c = nextCoalition(c);
        }
    }
    __syncthreads();
}

}  // namespace VARIANT
