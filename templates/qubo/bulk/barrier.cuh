// meet=barrier: blocks of a cluster exchange their bests at a barrier.
#include "cuda/variant.cuh"
#include "cuda/cluster.cuh"

namespace VARIANT {

__device__ __forceinline__ void openInboxes(SharedState&) {}

// exchange writes a warp's best to the warp's slot in every block, and waits until all warps have.
__device__ __forceinline__ void exchange(Search& s, Slot* own, Slot best) {
    if (lane() < CLUSTER) *peer(own, lane()) = best;
    clusterSync();
}

}  // namespace VARIANT
