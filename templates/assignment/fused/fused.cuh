// Small matrices of one shape, each from its costs to its proven columns: see package fused.
#include "cuda/variant.cuh"
#include "cuda/shared.cuh"
#include "assignment/costs.cuh"

// A team of threads solves one matrix, and each thread holds columns of it in registers: the range of the costs, their
// scale, shortest augmenting paths, the check. Rows are those of the matrix or, of tall ones, of its transpose.
namespace VARIANT {

constexpr u32 TEAM = param::team;    // threads that solve a matrix
constexpr u32 TEAMS = param::teams;  // matrices of a block
constexpr u32 EACH = param::columns; // columns of a thread
constexpr u32 WARPS = TEAM / WARP;
constexpr bool SHARED = param::costs_shared;  // costs: scaled, in shared memory, or in global memory as they are
constexpr bool BIDS = TEAM > WARP;            // rows bid for columns before paths are searched
constexpr bool TIES = BIDS && TEAM <= 512;    // SciPy's matching may be found without its order, where there are few ties
constexpr bool LISTS = TIES && !SHARED;       // rows of matrices with about as many columns have lists of those that cost them least
constexpr u32 FLIGHT = TEAM == 320 ? 16 : 8;  // costs that a thread loads at once
constexpr u32 ROUNDS = 32, LIST_ROUNDS = 64;  // most rounds of bids, with all columns and with lists
constexpr int ABSENT = 2147483647;            // above all rows and columns
constexpr i64 NEVER = 9223372036854775807ll;
constexpr int NONE = -1;
static_assert(TEAM * EACH <= 2048, "a key holds a column and its place");
static_assert(TEAMS == 1 || TEAM == WARP, "several teams of a block do not wait for one another");

// What a launch is asked for: the largest sum, SciPy's choice among matchings of equal sums, a check.
// Go: Ask
enum Ask { MAXIMIZE = 1, SCIPY = 2, CHECKED = 4 };

// What became of a matrix: its columns are optimal; no full matching exists; a cost cannot be solved with; its columns
// are optimal for costs rounded to units, and other matchings may be better by the rounding; the check failed.
// Go: Status
enum Status { PROVEN, UNMATCHED, INVALID_COST, UNDECIDED, REFUTED };

// Job is what all teams of a launch are given.
struct Job {
    u32 rows, cols;  // rows <= cols
    bool turned;     // rows are the matrix's columns
    u64 asks;
    i64 bound;       // of the magnitude of scaled costs
    bool near;       // whether shared memory has room for pairs within rounding
    u32 slots;       // of a row's list of columns
    __device__ __forceinline__ u64 at(u32 i, u32 j) const { return turned ? (u64)j * rows + i : (u64)i * cols + j; }
};

// Slot is what a warp gives its team: the distance and the key of its nearest open column, or a range of costs.
struct Slot {
    i64 distance, most;
    u32 key;
};

// Number is a cost where it is read: scaled in shared memory, or as it is.
template <bool> struct Numbers { using Number = i64; };
template <> struct Numbers<false> { using Number = T; };
using Number = typename Numbers<SHARED>::Number;
using Place = unsigned short;          // a column of a list
constexpr Place EMPTY = 65535;
constexpr u32 GROUP = WARP / 2;        // lanes that look at a row's list, and the most columns of one
constexpr u32 GROUPS = TEAM / GROUP;

}  // namespace VARIANT
