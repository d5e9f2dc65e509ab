// The passes of core and price where costs are distances of points. See package assignment, core_points.go.
#include "cuda/variant.cuh"
#include "cuda/barrier.cuh"
#include "assignment/costs.cuh"

// Memory holds the points alone, and distances are computed when they are needed. Points
// that a warp searches stand in tiles of 32 neighbours, each with its bounding box, and a
// warp skips the tiles whose boxes are too far for any of their points to matter.
namespace VARIANT {

using namespace coalesce;

constexpr u32 BLOCK = param::block;  // threads
constexpr u32 K = param::k;          // edges of a chunk
constexpr u32 ITEMS = (K + WARP - 1) / WARP;
constexpr u32 GROUP = param::group;  // rows that a warp scans together
constexpr u32 DEPTH = param::depth;  // candidates that a lane keeps of a row
constexpr bool MANHATTAN = param::metric_manhattan, EUCLIDEAN = param::metric_euclidean;  // neither: squared
constexpr bool FLOOR = param::floor_on;  // distances are cut to integers
static_assert((K - 1) / WARP < DEPTH, "shape");

// Indices of further control words, of this family alone.
// Go: Tally
constexpr u32 LOOKS = 21, GAPS = 22, SPENT = 23;

}  // namespace VARIANT
