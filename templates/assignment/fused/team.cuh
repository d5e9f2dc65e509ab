// A team, and the columns that its threads hold.
#include "cuda/variant.cuh"

namespace VARIANT {

// Team is the state that threads of a team share.
struct Team {
    u32 rows, cols, thread, slots;  // of a row's list
    i64* costs;      // scaled, row by row, where they are in shared memory
    i64* u;          // by row; while rows bid, their gains
    i64* v;          // by column, where rows bid
    i64* best;       // by column, where rows bid: the largest gains of a round, and after them of the next; then, in the first, lengths of paths
    i64 *base, *bar; // by row, where rows have lists: length up to the row less its dual, and a bound from below of cost - v outside the list
    int* owner;      // by column: its row
    int* via;        // by column: the row before it on its path
    int* winner;     // by column, where rows bid: the row that wins it in a round, and after them in the next
    int* column;     // by row: its column
    int* claim;      // by row, where rows bid: the column that it bids for; then, whether all of its columns were read for its base
    u32* queue;      // where rows bid: those without a column in a round, and after them in the next; then, those whose paths became shorter
    T* listed;       // costs of a row's list,
    Place* places;   // and their columns, or EMPTY
    u32* near;       // bits of pairs within rounding, in place of the lists
    u32 words;       // of a row of those
    Slot* slot;      // of two turns
    u32 turn = 0;
    __device__ __forceinline__ Team(const Job& job, char* memory, Slot* slot) : rows(job.rows), cols(job.cols), thread(threadIdx.x % TEAM), slots(job.slots),
        costs((i64*)memory), u(costs + (SHARED ? (u64)rows * cols : 0)), v(u + rows), words(job.rows / WARP + 1), slot(slot) {
        i64* words = v;
        if constexpr (BIDS) best = v + cols, words = best + 2 * cols;
        if constexpr (LISTS) base = words, bar = base + rows, words = bar + rows;
        owner = (int*)words, via = owner + cols, column = via + cols;
        int* end = column + rows;
        if constexpr (BIDS) {
            winner = end, claim = winner + 2 * cols, queue = (u32*)claim + rows, end = (int*)(queue + 2 * rows);
        }
        if constexpr (LISTS) {
            listed = (T*)end, places = (Place*)(listed + rows * slots);
        }
        near = (u32*)end;
    }
};

// sync is a barrier of the team.
__device__ __forceinline__ void sync() {
    if constexpr (TEAM == WARP) __syncwarp();
    else __syncthreads();
}

// any says, to the whole team, whether x is true for some thread.
__device__ __forceinline__ bool any(bool x) {
    if constexpr (TEAM == WARP) return __ballot_sync(ALL, x) != 0;
    else return __syncthreads_or(x) != 0;
}

// Columns are those of a thread: thread, thread + TEAM and so on.
struct Columns {
    i64 v[EACH], cost[EACH], distance[EACH];  // dual, cost of the pair with the owner, length of the nearest path
    int owner[EACH];                          // row, or NONE
    u32 place[EACH];                          // in SciPy's list of open columns
    u32 valid = 0, open = 0;                  // bits: columns that exist, and those that a search has not ended at
};

// A key orders columns at the same distance: free ones come first, of these in SciPy's order the last of its list, else the
// first; it ends with the column.
constexpr u32 LAST = 2048, COLUMN_BITS = 11;
__device__ __forceinline__ u32 keyOf(int owner, u32 place, u32 column) { return (owner < 0 ? LAST - place : LAST + 1 + place) << COLUMN_BITS | column; }

// Pick is the nearest open column of a team.
struct Pick {
    i64 distance;
    u32 key;
    __device__ __forceinline__ u32 column() const { return key & ((1u << COLUMN_BITS) - 1); }
    __device__ __forceinline__ bool free() const { return key >> COLUMN_BITS <= LAST; }
    __device__ __forceinline__ u32 place() const { return (key >> COLUMN_BITS) - LAST - 1; }  // of an owned one
};

}  // namespace VARIANT
