// meet=messages: blocks of a cluster send their bests as messages, which the receiver counts.
#include "cuda/variant.cuh"
#include "cuda/cluster.cuh"

namespace VARIANT {

// openInboxes initialises the inboxes of a search.
__device__ __forceinline__ void openInboxes(SharedState& sharedState) {
    if (threadIdx.x == 0) sharedState.inbox[0].open(), sharedState.inbox[1].open();
    clusterSync();
}

// exchange sends a warp's best to the warp's slot in every block, and waits for the messages of all warps.
__device__ __forceinline__ void exchange(Search& s, Slot* own, Slot best) {
    Inbox& inbox = s.sharedState.inbox[s.turn & 1];
    if (threadIdx.x == 0) inbox.expect(WARPS * CLUSTER * sizeof(Slot));
    if (lane() < CLUSTER) inbox.send(own, lane(), best);
    inbox.wait(s.turn >> 1 & 1);
}

}  // namespace VARIANT
