// The certificate of an assignment of points, checked on the device: see package assignment, check_points.go.
#include "cuda/choice.cuh"
#include "cuda/variant.cuh"

// The check shares no code with the solvers: it computes every distance, without bounds
// or order, and holds it against the duals as assignment/check does.
//
// pairs  checks the permutation and the matched pairs, a thread a row
// sweep  checks u + v <= c for every pair: a thread holds one column and goes
//        down ROWS rows, whose points pass through shared memory; it lists near pairs,
//        whose slack is at most a width
namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 BLOCK = param::block;    // columns of a block
constexpr u32 ROWS = param::rows;      // rows of a block
constexpr u32 FLIGHT = param::flight;  // rows that a thread computes at once
constexpr u32 PART = 16;               // coordinates in shared memory at once
constexpr bool MANHATTAN = param::metric_manhattan, EUCLIDEAN = param::metric_euclidean;  // neither: squared
constexpr bool FLOOR = param::value_int64;  // distances are cut to integers

}  // namespace VARIANT
