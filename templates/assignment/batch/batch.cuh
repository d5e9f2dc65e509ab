// Many small assignment problems in one launch: see package assignment, batch.go.
#include "cuda/variant.cuh"
#include "cuda/shared.cuh"
#include "assignment/costs.cuh"

// A block solves one problem, from load to duals. The device starts blocks in order, so
// that the host sorts problems by descending size.
namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 BLOCK = param::block;
constexpr u32 WARPS = BLOCK / WARP;
constexpr u32 ROUNDS = param::rounds;  // most rounds of bidding
constexpr u32 FLIGHT = param::flight;  // costs that a thread loads at once
constexpr bool SHARED = param::state_shared;  // state of a block: in shared memory, else in global memory
constexpr bool EVERY = param::reach_every;  // a search of a square problem ends at every warp's nearest free column
constexpr i64 NEVER = 9223372036854775807ll;
constexpr int NONE = -1;
static_assert(BLOCK % WARP == 0 && ROUNDS > 0, "every row bids once, which gives it a dual");

// Costs reads the costs of a problem, stored by rows.
struct Costs {
    const T* first;
    u64 stride;
    Scale<T> scale;
    __device__ __forceinline__ T load(u32 row, u32 column) const { return first[row * stride + column]; }
};

// Source is a row to search from: the length of a path over a cost of the row is base +
// cost - v. distance is that of the nearest open column of the warp that offers the source,
// nearest that of the warp's nearest free column.
struct Source {
    i64 base, distance, nearest;
    int row;
};

// SharedState holds, in shared memory, the words that the threads of a block exchange. Turns
// alternate between two lists of sources, so that one barrier a turn is enough.
struct SharedState {
    Source sources[2][WARP];
    u32 left;
};

// State is the state of a solve. distance holds the distances of columns from the free
// rows, and during the bidding the gains of rows.
struct State {
    u32 rows, cols;
    i64 *u, *v, *distance;
    int* via;     // by column: the row before it on its path; ~row once its owner is a source
    int* owner;   // by column: its row
    int* column;  // by row: its column
    int* claim;   // by row: the column that it bids for; by root: the end of its path
    int* free;    // list of rows without a column, ascending at first
    SharedState* sharedState;
    __device__ __forceinline__ State(char* memory, SharedState* sharedState, u32 n, u32 m) : rows(n), cols(m), u((i64*)memory), v(u + n),
        distance(v + m), via((int*)(distance + m)), owner(via + m), column(owner + m), claim(column + n), free(claim + n), sharedState(sharedState) {}
};

// Effort counts the work of a solve.
struct Effort {
    u64 bids = 0, turns = 0, searches = 0, scans = 0;
};

__device__ __forceinline__ u32 lane() { return threadIdx.x % WARP; }
__device__ __forceinline__ u32 warp() { return threadIdx.x / WARP; }

// warpLeast returns the least x of a whole warp, to every lane.
__device__ __forceinline__ i64 warpLeast(i64 x) {
    int high = (int)(x >> 32), h = __reduce_min_sync(ALL, high);
    u32 low = __reduce_min_sync(ALL, high == h ? (u32)x : ~0u);
    return (i64)((u64)(u32)h << 32 | low);
}

// remain deletes matched rows and gaps from the list of free rows, in order, and returns its length.
__device__ __forceinline__ u32 remain(State& s, u32 count) {
    if (warp() == 0) {
        u32 kept = 0;
        for (u32 base = 0; base < count; base += WARP) {
            int row = base + lane() < count ? s.free[base + lane()] : NONE;
            bool stays = row >= 0 && s.column[row] < 0;
            u32 live = __ballot_sync(ALL, stays);
            __syncwarp();  // all lanes have read their entries before any is overwritten
            if (stays) s.free[kept + __popc(live & ((1u << lane()) - 1))] = row;
            kept += __popc(live);
            __syncwarp();
        }
        if (lane() == 0) s.sharedState->left = kept;
    }
    __syncthreads();
    u32 kept = s.sharedState->left;
    __syncthreads();
    return kept;
}

}  // namespace VARIANT
