// A warp's best.
#include "cuda/variant.cuh"

namespace VARIANT {

// Slot holds a warp's best: its largest key, and place = thread << 8 | item << 1 | x,
// the variable's owner, number and value.
struct __align__(CLUSTER > 1 || sizeof(Key) == 8 ? 8 : 4) Slot {
    Key key;
    u32 place;
};

}  // namespace VARIANT
