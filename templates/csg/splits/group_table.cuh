// construct=table: a thread's first splitting by two look-ups.
#include "cuda/log2.cuh"
#include "cuda/variant.cuh"

namespace VARIANT {

// Group holds the coalitions of a block and tables of their splittings, in shared memory.
struct Group {
    u32 coalition[ALPHA];
    u32 low[ALPHA][WARP];      // subsets of the five lowest members, by lane
    u32 mid[ALPHA][WARPS];     // subsets of the next log2(WARPS) members, by warp
    u32 high[ALPHA];           // the other members
    u32 start[ALPHA];          // the block's first subset of `high`

    // index fills the tables of every coalition; share is the block's number among
    // the blocks of the group.
    __device__ void index(u32 share) {
        for (u32 i = threadIdx.x; i < ALPHA * (WARP + WARPS); i += BLOCK) {
            u32 z = i / (WARP + WARPS), psi = i % (WARP + WARPS);
            if (psi < WARP) {
                low[z][psi] = deposit(psi, coalition[z]);
            } else {
                u32 rest = withoutLowest(coalition[z], LOG2<WARP>);
                mid[z][psi - WARP] = deposit(psi - WARP, rest);
                if (psi == WARP) {
                    high[z] = withoutLowest(rest, LOG2<WARPS>);
                    start[z] = deposit(LAMBDA * share, high[z]);
                }
            }
        }
    }
    // first returns the thread's first splitting of coalition i.
    __device__ __forceinline__ u32 first(u32 i, u32, u32 mine) const {
        return (mine == 0 ? 0 : low[i][threadIdx.x % WARP] | mid[i][threadIdx.x / WARP]) | start[i];
    }
    // steps returns the members of coalition i in which the splittings of one thread differ.
    __device__ __forceinline__ u32 steps(u32 i, u32) const { return high[i]; }
};

}  // namespace VARIANT
