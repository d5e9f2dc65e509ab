// The certificate of an assignment, checked on the device: see package assignment, check.go.
#include "cuda/choice.cuh"
#include "cuda/variant.cuh"

// The check shares no code with the solvers: it reads costs as they were given, and
// converts them to integers itself, floats where arithmetic does not pass them. One buffer
// holds the duals, the matching, and what is found.
//
// pairs  checks the permutation and the matched pairs, a thread a row
// sweep  checks u + v <= c for every entry, and lists near ones, whose slack is at most a
//        width; it reads the matrix once: a thread holds v of its VEC columns and goes
//        down ROWS rows
// exactpairs, exactsweep  the same for floats as they are, unrounded, and duals of more bits
namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 BLOCK = param::block;
constexpr u32 ROWS = param::rows;      // rows of a block
constexpr u32 FLIGHT = param::flight;  // rows that a thread loads at once
constexpr u32 VEC = 16 / sizeof(T);    // columns of a thread
constexpr u32 SPAN = BLOCK * VEC;      // columns of a block
constexpr bool FLOATS = param::value_float32 || param::value_float64;  // costs are rounded to integers

// Rules of a sweep: columns may stay unmatched; another device, which has the first rows, checks the columns.
// Go: Rule
enum Rule { LOOSE = 1, ELSEWHERE = 2 };

}  // namespace VARIANT
