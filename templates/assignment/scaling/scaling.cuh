// Epsilon scaling for costs on which shortest paths are long.
#include "cuda/variant.cuh"
#include "cuda/barrier.cuh"
#include "cuda/gridsum.cuh"
#include "cuda/log2.cuh"
#include "cuda/shared.cuh"
#include "assignment/costs.cuh"

// The state is the columns' prices v and a matching. Within a scale every matched pair is
// within epsilon of its row's least c - v. Prices only fall. A scale frees the pairs that the
// new epsilon does not allow, lets free rows bid some rounds, and matches the others by phases:
// label correcting from all free rows over all columns, with epsilon added to every hop, then
// an augmentation in each tree. Bids follow each phase. Costs are int64 (assignment/costs.cuh).
//
// Of a search, block b owns columns b*width .. b*width+width-1: their distances are in its
// shared memory. The rows that a step has reached are a list that every block reads.
namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 BLOCK = param::block;    // threads
constexpr u32 FLIGHT = param::flight;  // costs that a thread loads at once
constexpr u32 WARPS = BLOCK / WARP;
constexpr u32 NOBODY = ~0u;
constexpr u64 NEVER = ~0ull;
constexpr i64 FAR = 1ll << 60;         // above every distance

// Indices of the control words, 8 bytes each, which the host clears before each launch.
// Go: Word
enum Word {
    BARRIER, SUM, LISTED = SUM + 2, FREED = LISTED + 3, REACHED = FREED + 3, BOUND, OVER, STATUS, LEFT, STEPS, BIDS, PHASES, PATHS, READ, FLIPS,
    STAGES, WORDS = STAGES + 6
};
// Go: Status
enum Status { DONE, STUCK, STALLED };
// Go: Stage
enum Stage { SCANNING, BIDDING, PREPARING, SEARCHING, AUGMENTING, REFINING };

// An Entry is a row that a search has reached, and the column whose owner it is.
struct Entry {
    u32 row, from;
};

// State holds the costs, and in global memory what blocks share.
struct State {
    const T* costs;
    Scale<T> scale;
    u32 n, width, searchers;  // searchers: the first blocks, which own columns
    u32 shift;                // bits of a row's number
    i64 epsilon, span;
    u32 side = 0;             // which half of offer the next bids go to; the other is empty
    u64* control;
    i64 *v, *u;       // [n] prices
    i64* dist;        // [n] distances of free columns
    i64* base;        // [3*n] what a cost is added to for a distance: of three lists of entries
    Entry* entry;     // [3*n]
    Entry* path;      // [n] how a column was reached
    u64* offer;       // [2*n] a column's best bid: price and row
    u64* bid;         // [n] the bid of a row of the list of free rows
    u64* claim;       // [n] a root's nearest free column
    u32* root;        // [3*n] of an entry
    u32* tree;        // [n] root of a free column
    u32* reached;     // [n] free columns that the search has reached
    u32* bidder;      // [n] column that the bid is for
    u32* free;        // [3*n] three lists of free rows
    int* match;       // [n] column of a row, or -1
    int* owner;       // [n] row of a column, or -1
    i64 clock;

    __device__ __forceinline__ State(const T* costs, u64* control, void* work, u64 rows, u64 width, double scale, u64 searchers, u64 shift, i64 epsilon, i64 span)
        : costs(costs), scale(scale), n((u32)rows), width((u32)width), searchers((u32)searchers), shift((u32)shift), epsilon(epsilon), span(span), control(control), clock(clock64()) {
        v = (i64*)work, u = v + rows, dist = u + rows, base = dist + rows;
        entry = (Entry*)(base + 3 * rows), path = entry + 3 * rows;
        offer = (u64*)(path + rows), bid = offer + 2 * rows, claim = bid + rows;
        root = (u32*)(claim + rows), tree = root + 3 * rows, reached = tree + rows, bidder = reached + rows, free = bidder + rows;
        match = (int*)(free + 3 * rows), owner = match + rows;
    }

    __device__ __forceinline__ i64 cost(u32 i, u32 j) const { return scale(costs[(u64)i * n + j]); }
    __device__ __forceinline__ i64 bias() const { return 1ll << (62 - shift); }
    __device__ __forceinline__ bool fits(i64 price) const { return price > -bias() && price < bias(); }
    __device__ __forceinline__ u64 pack(i64 price, u32 row) const { return (u64)(price + bias()) << shift | row; }
    __device__ __forceinline__ i64 price(u64 w) const { return (i64)(w >> shift) - bias(); }
    __device__ __forceinline__ u32 row(u64 w) const { return (u32)(w & ((1ull << shift) - 1)); }

    // stamp adds the cycles since the last stamp to the count of a stage.
    __device__ __forceinline__ void stamp(Stage stage) {
        if (blockIdx.x | threadIdx.x) return;
        i64 now = clock64();
        control[STAGES + stage] += (u64)(now - clock);
        clock = now;
    }
};

__device__ __forceinline__ u32 thread() { return blockIdx.x * BLOCK + threadIdx.x; }
__device__ __forceinline__ u32 threads() { return gridDim.x * BLOCK; }

// count adds to a control word that stays below 2^32, and returns what it was.
__device__ __forceinline__ u32 count(u64* word, u32 by = 1) { return atomicAdd((u32*)word, by); }
__device__ __forceinline__ u32 load(const u64* word) { return (u32)__ldcg(word); }

// place returns where in a list a lane's element goes; all lanes of a warp call, `mine` says
// whether the lane has an element, and `counter` counts the list's.
__device__ __forceinline__ u32 place(u64* counter, bool mine) {
    u32 who = __ballot_sync(ALL, mine), lane = threadIdx.x % WARP, first = 0;
    if (who == 0) return 0;
    if (lane == (u32)__ffs((int)who) - 1) first = count(counter, (u32)__popc(who));
    return __shfl_sync(ALL, first, __ffs((int)who) - 1) + (u32)__popc(who & ((1u << lane) - 1));
}

}  // namespace VARIANT
