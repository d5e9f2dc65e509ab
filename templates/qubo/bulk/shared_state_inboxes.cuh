// meet=messages: what the threads of a search exchange, with the inboxes of messages.
#include "cuda/variant.cuh"
#include "cuda/cluster.cuh"

namespace VARIANT {

// SharedState holds, in shared memory, the words that threads of a search exchange.
// Steps alternate between two sets of slots, so that one barrier a step is enough.
struct SharedState {
    Slot slot[2][WARPS * CLUSTER];
    u32 ring[RING];  // tabu variables as thread << 7 | item, in the order of their flips
    u32 sum;
    Inbox inbox[2];  // one for each set of slots
    u64 spent[OPERATORS];  // flips by operator, written by thread 0
};

}  // namespace VARIANT
