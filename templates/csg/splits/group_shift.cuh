// construct=shift: splittings by a table of the members (Algorithms 3 and 5).
#include "cuda/log2.cuh"
#include "cuda/variant.cuh"

namespace VARIANT {

// Group holds the coalitions of a block and their members' bit numbers, in shared memory.
struct Group {
    u32 coalition[ALPHA];
    unsigned char shift[ALPHA][32];

    // index fills `shift` for every coalition.
    __device__ void index(u32) {
        for (u32 i = threadIdx.x; i < ALPHA; i += BLOCK) initShift(coalition[i], shift[i]);
    }
    // first returns splitting number `mine` of coalition i, whose mask is c.
    __device__ __forceinline__ u32 first(u32 i, u32 c, u32 mine) const { return c == 0 ? 0 : initialSplit(mine, shift[i]); }
    // steps returns the members of c in which the splittings of one thread differ.
    __device__ __forceinline__ u32 steps(u32, u32 c) const { return param::order_consecutive ? c : withoutLowest(c, LOG2<BLOCK>); }
};

}  // namespace VARIANT
