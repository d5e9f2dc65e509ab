// What the threads of a search exchange, at barriers.
#include "cuda/variant.cuh"

namespace VARIANT {

// SharedState holds, in shared memory, the words that threads of a search exchange.
// Steps alternate between two sets of slots, so that one barrier a step is enough.
struct SharedState {
    Slot slot[2][WARPS * CLUSTER];
    u32 ring[RING];  // tabu variables as thread << 7 | item, in the order of their flips
    u32 sum;
    u64 spent[OPERATORS];  // flips by operator, written by thread 0
};

}  // namespace VARIANT
