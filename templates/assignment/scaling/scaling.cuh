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
// label correcting from all free rows, with epsilon added to every hop, then an augmentation in
// each tree. Bids follow each phase. Costs are int64 (assignment/costs.cuh).
//
// Most of this looks at lists: LIST columns a row, of least c - v when the row was last read.
// thr[row] is at most the c - v of every other column, for good, because prices only fall. A row
// is read again where that bound does not decide.
namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 BLOCK = param::block;  // threads
constexpr u32 DEPTH = param::depth;  // columns of a row's list that a lane has
constexpr u32 WARPS = BLOCK / WARP;
constexpr u32 LIST = DEPTH * WARP;
constexpr u32 FLIGHT = 64 / sizeof(T);  // costs that a thread loads at once
constexpr bool FLOATS = param::value_float32 || param::value_float64;  // costs may be rounded
constexpr u32 NOBODY = ~0u;
constexpr u64 NEVER = ~0ull;
constexpr i64 FAR = 1ll << 60;         // above every distance
// Go: Queued
constexpr u32 QUEUED = 4;              // entries of a global list, a row

// Indices of the control words, 8 bytes each, which the host clears before each launch.
// Go: Word
enum Word {
    BARRIER, SUM, LISTED = SUM + 2, FREED = LISTED + 3, WANTED = FREED + 3, NEEDED = WANTED + 2, REACHED = NEEDED + 2, BOUND, WITHIN, OVER, CUT, STATUS,
    LEFT, STEPS, BIDS, PHASES, PATHS, READ, FLIPS, STAGES, WORDS = STAGES + 7
};
// Go: Status
enum Status { DONE, STUCK, STALLED };
// Go: Stage
enum Stage { SCANNING, BIDDING, PREPARING, SEARCHING, READING, AUGMENTING, REFINING };

// An Entry is a row that a search has reached: what its c - v are added to for distances (refine:
// its costs, for prices), and the column whose owner it is, NOBODY for a free row.
struct Entry {
    i64 base;
    u32 row, from;
};

// A Column is what a search reads of one: its price, and its distance and parent row (refine:
// price and parent row, and v is 0).
struct Column {
    i64 v;
    u64 word;
};

// State holds the costs, and in global memory what blocks share.
struct State {
    const T* costs;
    Scale<T> scale;
    double factor;     // the scale
    u32 n, searchers;  // searchers: the first blocks, which search
    u32 shift;         // bits of a row's number; all bits set is no row
    i64 epsilon, span;
    i64 grain = -1;    // of distances, which are multiples of a power of two: all its bits and those above
    u32 side = 0;      // which half of offer the next bids go to; the other is empty
    u32 wants = 0;     // which counter of WANTED the next lists use
    u32 finer = 0;     // exact units are 2^finer times finer
    int exponent;      // of a float64's last bit, in exact units, less its own
    u64* control;
    i64 *v, *u;       // [n] prices
    int* match;       // [n] column of a row, or -1
    int* owner;       // [n] row of a column, or -1
    Column* column;   // [n]
    i64* onward;      // [n] what is added to a column's distance for the base of its owner's entry
    i64* thr;         // [n] at most the c - v of the columns outside a row's list
    i64* full;        // [n] the base with which a search has read the row
    i64* base;        // [n] of a row of the list of free rows
    u64* claim;       // [n] a root's nearest free column
    u64* offer;       // [2*n] a column's best bid: price and row
    u64* bid;         // [n] the bid of a row of the list of free rows
    i64 *high, *rowHigh;  // [n] whole units of exact prices, of columns and of rows
    i64 *low, *rowLow;    // [n] what exact prices have beyond whole units, in exact units
    Entry* entry;     // [3*QUEUED*n] three lists
    Entry* need;      // [n] rows to be read
    i64* listCost;    // [n*LIST]
    u32* listCol;     // [n*LIST] NOBODY: none
    u32* reached;     // [n] free columns that the search has reached
    u32* bidder;      // [n] column that the bid is for
    u32* free;        // [3*n] three lists of free rows
    u32* flipped;     // [n] whether the last exchange gave the column another owner
    u32* jump;        // [2*n]
    i64 clock;

    __device__ __forceinline__ State(const T* costs, u64* control, void* work, u64 rows, double scale, u64 searchers, u64 shift, i64 epsilon, i64 span)
        : costs(costs), scale(scale), factor(scale), n((u32)rows), searchers((u32)searchers), shift((u32)shift), epsilon(epsilon), span(span), control(control), clock(clock64()) {
        v = (i64*)work, u = v + rows, match = (int*)(u + rows), owner = match + rows;
        column = (Column*)(owner + rows), onward = (i64*)(column + rows), thr = onward + rows, full = thr + rows, base = full + rows;
        claim = (u64*)(base + rows), offer = claim + rows, bid = offer + 2 * rows;
        high = (i64*)(bid + rows), rowHigh = high + rows, low = rowHigh + rows, rowLow = low + rows;
        entry = (Entry*)(rowLow + rows), need = entry + 3 * QUEUED * rows;
        listCost = (i64*)(need + rows), listCol = (u32*)(listCost + LIST * rows);
        reached = listCol + LIST * rows, bidder = reached + rows, free = bidder + rows, flipped = free + 3 * rows, jump = flipped + rows;
    }

    __device__ __forceinline__ i64 cost(u32 i, u32 j) const { return scale(costs[(u64)i * n + j]); }
    // value is the scaled cost of a pair or, EXACT, by how many exact units its cost, unrounded, is more than the whole units of the prices: modulo 2^64,
    // which loses nothing of pairs that prices come near.
    template <bool EXACT> __device__ __forceinline__ i64 value(T c, u32 i, u32 j) const {
        if constexpr (FLOATS && EXACT) {
            if (!((double)c * factor - (double)high[j] - (double)rowHigh[i] < (double)(1ll << (58 - finer)))) return INFINITE;
            u64 bits = (u64)__double_as_longlong((double)c), m = bits & ((1ull << 52) - 1);
            int e = (int)(bits >> 52) & 2047, s = (e ? e : 1) + exponent;
            m |= (u64)(e > 0) << 52;
            m = s >= 64 || s <= -64 ? 0 : s >= 0 ? m << s : m >> -s;
            bool negative = (bits >> 63 != 0) != (factor < 0);
            return (i64)((negative ? 0 - m : m) - ((u64)(high[j] + rowHigh[i]) << finer));
        } else {
            return scale(c);
        }
    }
    template <bool EXACT> __device__ __forceinline__ i64 value(u32 i, u32 j) const { return value<EXACT>(costs[(u64)i * n + j], i, j); }
    __device__ __forceinline__ i64 bias() const { return 1ll << (62 - shift); }
    __device__ __forceinline__ bool fits(i64 price) const { return price > -bias() && price < bias(); }
    __device__ __forceinline__ u64 pack(i64 price, u32 row) const { return (u64)(price + bias()) << shift | row; }
    __device__ __forceinline__ i64 price(u64 w) const { return (i64)(w >> shift) - bias(); }
    __device__ __forceinline__ u32 none() const { return (1u << shift) - 1; }
    __device__ __forceinline__ u32 row(u64 w) const { return (u32)(w & none()); }
    // A column's word has its parent row behind its distance, turned by a number of the column: of rows that reach the same columns equally near in one step,
    // each becomes the parent of some.
    __device__ __forceinline__ u32 turn(u32 j) const { return j * 2654435761u >> (32 - shift); }
    __device__ __forceinline__ u64 reach(i64 distance, u32 row, u32 j) const { return (u64)distance << shift | ((row + turn(j)) & none()); }
    __device__ __forceinline__ u32 parent(u32 j) const { return (row(__ldcg(&column[j].word)) - turn(j)) & none(); }
    __device__ __forceinline__ i64 limit() const { return 1ll << (63 - shift); }  // above every distance that a word holds
    __device__ __forceinline__ i64 distance(u64 w) const { return w == NEVER ? FAR : (i64)(w >> shift); }

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
// Warps of neighbouring numbers are in different blocks.
__device__ __forceinline__ u32 warp() { return threadIdx.x / WARP * gridDim.x + blockIdx.x; }
__device__ __forceinline__ u32 warps() { return gridDim.x * WARPS; }

// count adds to a control word that stays below 2^32, and returns what it was.
__device__ __forceinline__ u32 count(u64* word, u32 by = 1) { return atomicAdd((u32*)word, by); }
__device__ __forceinline__ u32 load(const u64* word) { return (u32)__ldcg(word); }

__device__ __forceinline__ Entry load(const Entry* e) {
    u64 w = __ldcg((const u64*)e + 1);
    return Entry{__ldcg(&e->base), (u32)w, (u32)(w >> 32)};
}

// place returns where in a list a lane's element goes; all lanes of a warp call, `mine` says
// whether the lane has an element, and `counter` counts the list's.
__device__ __forceinline__ u32 place(u64* counter, bool mine) {
    u32 who = __ballot_sync(ALL, mine), lane = threadIdx.x % WARP, first = 0;
    if (who == 0) return 0;
    if (lane == (u32)__ffs((int)who) - 1) first = count(counter, (u32)__popc(who));
    return __shfl_sync(ALL, first, __ffs((int)who) - 1) + (u32)__popc(who & ((1u << lane) - 1));
}

// warpLeast returns the least x of a warp.
__device__ __forceinline__ i64 warpLeast(i64 x) {
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) {
        i64 y = __shfl_xor_sync(ALL, x, d);
        x = y < x ? y : x;
    }
    return x;
}

}  // namespace VARIANT
