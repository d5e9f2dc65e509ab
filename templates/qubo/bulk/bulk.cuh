// One-flip tabu searches, a block or a cluster each, that share a pool of elites: see package qubo, bulk.go.
#include "cuda/variant.cuh"
#include "cuda/choice.cuh"
#include "cuda/random.cuh"

// A search is run by a block or by the blocks of a cluster, whose registers hold x and
// the gain of every flip. A step takes the arg-max over the gains, with one barrier,
// reads one row of the matrix, and updates all gains.
namespace VARIANT {

using namespace coalesce;

constexpr u32 BLOCK = param::block;
constexpr u32 ITEMS = param::items;  // variables (items) of a thread
constexpr u32 CLUSTER = param::cluster;  // blocks of a search
constexpr u32 SPAN = BLOCK * CLUSTER;  // threads of a search
constexpr u32 WARPS = BLOCK / WARP;
constexpr u32 WORDS = (ITEMS + 31) / 32;  // words of x that a thread holds
constexpr u32 RECORD = WORDS * SPAN;      // words of x; word w of thread t is number w*SPAN + t
// Go: Ring
constexpr u32 RING = 1024;                // tabu variables at most
typedef Choice<param::row_int64, i64, Choice<param::row_float32, float, int>> Gain;  // type of a gain in memory
constexpr bool KEYED = param::row_bits || param::row_int8 || param::row_int16;  // a key holds its item's number beside the gain
constexpr u32 WANTED = 64 + ITEMS * 3 / 2;  // estimate of the registers a thread needs
constexpr u32 SEARCHES = param::searches;  // blocks that share a multiprocessor's registers; 0: as many as fit
constexpr u32 RESIDENT = SEARCHES > 0 ? SEARCHES : 65536 / (BLOCK * WANTED) > 0 ? 65536 / (BLOCK * WANTED) : 1;
static_assert(BLOCK % WARP == 0 && BLOCK <= 1024 && CLUSTER <= 16 && ITEMS % 4 == 0 && ITEMS <= 128, "shape");

// Indices of words of 8 bytes: in the device's control, and in each search's scores.
// Go: Control
enum Control { COUNT, BEST, STOP, FLIPS, ROUNDS, ENTERED, WEIGHTS = 8, VALUES = 16 };
// Go: Score
enum Score { VALUE, KEPT, MAKER, SPENT, SCORES = 8 };
// Go: Operator
enum Operator { RANDOM, RELINK, CROSS, MUTATE, MAJORITY, OPERATORS, MIGRANT = OPERATORS };
// Go: Mode
enum Mode { STOPS = 1, STOPPING = 2 };

__device__ __forceinline__ u32 lane() { return threadIdx.x % WARP; }
__device__ __forceinline__ u32 warp() { return threadIdx.x / WARP; }

// self returns the thread's number among those of the search.
__device__ __forceinline__ u32 self() { return (CLUSTER > 1 ? blockIdx.x % CLUSTER * BLOCK : 0) + threadIdx.x; }

// Load is the piece of a row that a thread reads by one access.
template <u32 BYTES> struct __align__(BYTES) Load { u32 of[BYTES / 4]; };

// Pick is the flip that a search has chosen.
struct Pick {
    i64 gain;
    u32 thread, item;  // the variable: its thread, and its number there
    u32 on;            // the variable's value before the flip
    bool locked;       // all variables are locked
};

}  // namespace VARIANT
