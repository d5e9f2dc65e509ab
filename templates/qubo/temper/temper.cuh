// Parallel tempering of sparse problems, 32 replicas a block: see package qubo, temper.go.
#include "cuda/variant.cuh"
#include "cuda/choice.cuh"
#include "cuda/random.cuh"
#include "cuda/shared.cuh"

// A block holds 32 replicas: bit k of word i is variable i of replica k, and
// lane k of every warp works for replica k.
namespace VARIANT {

using namespace coalesce;

constexpr u32 BLOCK = param::block;
constexpr u32 WARPS = BLOCK / WARP;
// Go: Last
constexpr u32 LAST = 0x80000000u;   // flag in a visit's variable: the last visit of this variable
constexpr u32 EVEN = 0x55555555u;   // the first replica of each pair
// Go: Planters
constexpr u64 PLANTERS = 256;       // threads of a block of plant
constexpr u32 TRIES = 32;           // draws for the first variable of a cluster
constexpr u32 RESIDENT = BLOCK <= 512 ? 1536 / BLOCK : 1;  // blocks a multiprocessor: 42 registers a thread
static_assert(BLOCK % WARP == 0 && BLOCK <= 1024, "shape");

// Indices of words of 8 bytes: in the device's control, in a block's scores, in a block's ladder.
// Go: Control
enum Control { STOP, CONTROLS = 8 };
// Go: Score
enum Score { KEPT, FLIPS, SWEEPS, CLUSTER, DIFFER, SCORES = 8 };
// Go: Ladder
enum Ladder { FROM, TO = 32, COOL = 64, RUNGS = 96 };
// Go: Mode
enum Mode { STOPS = 1, STOPPING = 2, FRESH = 4 };

constexpr bool SHARED = param::state_shared;  // replicas of a block: in shared memory, else in global memory
constexpr bool UNIT = param::weight_unit;  // all weights are plus or minus `unit`
typedef Choice<UNIT, int, i64> Sum;  // type of the sum of a lane's gains in a sweep

__device__ __forceinline__ u32 lane() { return threadIdx.x % WARP; }
__device__ __forceinline__ u32 warp() { return threadIdx.x / WARP; }

// Random is a linear congruential generator, whose high bits are used; every thread
// has an increment of its own.
struct Random {
    u32 state, step;
    __device__ __forceinline__ explicit Random(u64 key) {
        u64 h = splitmix(key);
        state = (u32)h, step = (u32)(h >> 32) | 1;
    }
    __device__ __forceinline__ u32 next() { return state = state * 1664525u + step; }
    // cost draws u from (0, 1) and returns 2^26 times -log2(u). The logarithm is
    // interpolated linearly within its octave, so that the result is up to 0.087 * 2^26 too large.
    __device__ __forceinline__ u32 cost() {
        u32 r = next() | 1, zeros = (u32)__clz((int)r);
        return (zeros + 1 << 26) - (r << zeros << 1 >> 6);
    }
};

// Problem stores the pairs by colours of the variables' graph, so that warps work at
// the same time on variables without pairs between them. A chunk has 32 slots, each
// of which names a neighbour of a variable visited there. A visit is a variable's
// slots in one chunk. A task is a sequence of chunks for one warp.
struct Problem {
    const u32 *slots, *weights, *chunks, *tasks, *colours;
    const int4* visits;
    u32 n, count;  // variables, colours
    int unit;      // the weights' magnitude, with UNIT
};

// SharedState holds, in shared memory, the words that the warps of a block exchange.
struct SharedState {
    i64 sum[WARPS][WARP];
    u32 swaps, keep, going, length[3];
    u64 refused, cluster, differ;
};

}  // namespace VARIANT
