// The pairs of tiles of one target, read through shared memory.
#include "cuda/variant.cuh"

namespace VARIANT {

// Pairs enumerates splittings of a target tile's high members. The next pair of tiles is
// `sub` and target \ sub; sub goes through the subsets of `step`.
struct Pairs {
    u32 target, step, sub;
};

// advance moves `next` to the next pair and counts `left` down; the last pair stays where a
// stage takes several pairs.
__device__ __forceinline__ void advance(Pairs& next, u32& left) {
    if (LANES * PAIRS > 1 && left == 1) return;
    next.sub = nextSplit(next.step, next.sub);
    left--;
}

}  // namespace VARIANT
