// zeros=bits, slack=recomputed or stored: what a block shares that searches alone.
#include "cuda/variant.cuh"

namespace VARIANT {

// SharedState holds the counters of a search by one block, apart from those in Control,
// which other blocks may still be reading.
struct SharedState {
    u64 count[3];
};

}  // namespace VARIANT
