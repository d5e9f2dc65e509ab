// Core and price: the assignment problem on few edges a row, solved exactly, then proven for all.
#include "cuda/variant.cuh"
#include "cuda/barrier.cuh"
#include "cuda/choice.cuh"
#include "cuda/cluster.cuh"
#include "cuda/gridsum.cuh"
#include "cuda/shared.cuh"
#include "assignment/costs.cuh"

// An edge is a column and its scaled cost. A chunk is K edges of one row, where column
// -1 is no edge; chunk i is the first of row i, and next[] leads to the row's others. A
// column's price is its dual v. Columns from `cols` on are private to one row each, with
// the cost of leaving that row unmatched.
namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 CLUSTER = param::cluster;              // blocks of a cluster of the kernel solve; 1: no cluster
typedef Choice<CLUSTER == 1, GridBarrier, ClusterBarrier> Barrier;  // between the blocks of the kernel solve
constexpr u32 BLOCK = param::block;                  // threads
constexpr u32 K = param::k;                          // edges of a chunk
constexpr u32 LANES = K < WARP ? K : WARP;           // lanes that work on one chunk
constexpr u32 ITEMS = K / LANES;
constexpr u32 GROUP = param::group;                  // rows that a warp scans together
constexpr u32 DEPTH = param::depth;                  // candidates that a lane keeps of a row
constexpr i64 DIVIDE = param::divide;                // divisor of epsilon from scale to scale
constexpr u32 HALF = param::half;                    // a search ends when 1/2^HALF of the free rows have a free column
static_assert(K % LANES == 0 && (LANES & (LANES - 1)) == 0 && BLOCK % WARP == 0, "shape");
// Go: Stage
enum Stage { BIDDING, SETTLING, CLEARING, GROW_GRID, GROW_ALONE, CHOOSING, RAISING, AUGMENTING };

}  // namespace VARIANT
