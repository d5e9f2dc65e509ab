// GPU-CSG, Algorithm 7 of Svensson et al., with its misprints corrected: see package csg.
#include "cuda/variant.cuh"
#include "csg/coalitions.cuh"

// f       values by coalition, updated in place; f[0] = 0
// block   works on ALPHA coalitions of one size, BETA of them at a time; the
//         blocks of a group divide the splittings of the same coalitions
// thread  evaluates LAMBDA splittings of every coalition of its group
namespace VARIANT {

using namespace coalesce;
using namespace csg;

using T = param::value;
constexpr u32 LAMBDA = param::lambda;   // splittings per thread and coalition
constexpr u32 ALPHA = param::alpha;     // coalitions a group of blocks works through
constexpr u32 BETA = param::beta;       // coalitions per batch
constexpr u32 BLOCK = param::block;
constexpr u32 WARPS = BLOCK / WARP;
static_assert(ALPHA % BETA == 0 && BETA <= BLOCK && BLOCK % WARP == 0, "shape");

}  // namespace VARIANT
