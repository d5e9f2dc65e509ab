// The alternating tree variant of the Hungarian algorithm (Date and Nagi 2016): see package assignment, tree.go.
#include "cuda/variant.cuh"
#include "cuda/space.cuh"
#include "assignment/costs.cuh"
#include "assignment/forest.cuh"

// A solve is a sequence of steps. At the start of a step every block takes the same
// decision, from words that all blocks wrote in the step before. Block b owns columns
// b*width .. b*width+width-1: their slacks, duals and places in the forest.
namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr bool INT32 = param::value_int32;
constexpr bool PEERS = param::barrier_peers;  // several devices, each with some of the rows
constexpr bool ONE = param::paths_one;        // a phase augments along one path instead of one a tree
constexpr bool STOPS = param::matchedtrees_stop;   // a tree stops growing once it has its path
constexpr u32 BLOCK = param::block;
constexpr u32 ITEMS = param::items;  // columns that a thread reads
constexpr u32 ROWS = param::rows * 4 / sizeof(T);  // rows that a thread reads at once; half as many of 8-byte costs
constexpr u32 VECTOR = ITEMS < 16 / sizeof(T) ? ITEMS : 16 / sizeof(T);  // columns of one load
constexpr u32 OWN = ITEMS < 2 ? ITEMS : 2;  // columns of a slice whose state a thread holds
constexpr u32 DEEP = (BLOCK > 512 ? 32 : 64) / sizeof(T);  // entries of one row that a thread reads at once
constexpr u32 WARPS = BLOCK / WARP;
// Go: Zeros
constexpr u32 LIST = 8;      // zeros that are stored of a row
constexpr i64 NONE = 9223372036854775807ll;  // slack of a column whose pairs are all forbidden
constexpr u64 NOBODY = ~0ull;
constexpr int NOWHERE = 0x7fffffff;
constexpr int OUT = -1, END = -2;    // in Work.tree: outside the forest; a free column that ends a path

}  // namespace VARIANT
