// A team, and the columns that its threads hold.
#include "cuda/variant.cuh"

namespace VARIANT {

// Team is the state that threads of a team share.
struct Team {
    u32 rows, cols, thread;
    i64* costs;     // scaled, row by row, where they are in shared memory
    i64* u;         // by row; while rows bid, their gains
    i64 *v, *best;  // by column, where rows bid: duals, and the largest gains
    int* owner;     // by column: its row
    int* via;       // by column: the row before it on its path; while rows bid, the one that wins it
    int* column;    // by row: its column
    int* claim;     // by row, where rows bid: the column that it bids for
    u32* list;      // where rows bid: those without a column
    u32* near;      // bits of pairs within rounding
    u32 words;      // of a row of those
    Slot* slots;    // of two turns
    u32 turn = 0;
    __device__ __forceinline__ Team(const Job& job, char* memory, Slot* slots) : rows(job.rows), cols(job.cols), thread(threadIdx.x % TEAM),
        costs((i64*)memory), u(costs + (SHARED ? (u64)rows * cols : 0)), v(u + rows), best(v + (BIDS ? cols : 0)), owner((int*)(best + (BIDS ? cols : 0))),
        via(owner + cols), column(via + cols), claim(column + rows), list((u32*)(claim + (BIDS ? rows : 0))), near(list + (BIDS ? rows : 0)), words(job.rows / WARP + 1), slots(slots) {}
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
