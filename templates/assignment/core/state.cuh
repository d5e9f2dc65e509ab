// The state of a solve.
#include "cuda/variant.cuh"

namespace VARIANT {

// A mode is a sum: AUCTION begins with an auction, TIGHT adds bids with epsilon = 0, SOFT begins with soft minima,
// WARY gives up where a scale of the auction ends short, YIELD on ties, APART runs the phases in one block's shared memory.
// Go: Mode
enum Mode { AUCTION = 1, TIGHT = 2, SOFT = 4, WARY = 8, YIELD = 16, APART = 32 };

// State holds the data of solve: edges, duals, the matching, and workspace.
struct State {
    const int* col;
    const i64* cost;
    const int* next;
    i64* rest;     // [edges] c - u - v, for searches by all blocks
    i64* u;        // [rows]
    i64* v;        // [width]
    int* match;    // [rows] the row's column, or -1
    int* owner;    // [width] the column's row, or -1
    u64* word;     // [width] auction: price and owner of a column; search: distance and parent
    u64* lists;    // [2*capacity] distance and row
    int* reached;  // [width] free columns that the search has reached
    int* claim;    // [rows] a root's free column; OneBlock: the number of the last list that has the row
    u64* control;
    u64 rows, width, capacity;
    u32 shift;     // bits of a row's number in a word; all bits set is no row
    i64 clock;     // cycle count at the first thread's last stamp

    // stamp adds the cycles since the last stamp to the count of a stage.
    __device__ __forceinline__ void stamp(Stage stage) {
        if (blockIdx.x | threadIdx.x) return;
        i64 now = clock64();
        control[STAGES + stage] += (u64)(now - clock);
        clock = now;
    }

    __device__ __forceinline__ u64 none() const { return (1ull << shift) - 1; }
    __device__ __forceinline__ i64 bias() const { return 1ll << (62 - shift); }
    __device__ __forceinline__ u64 limit() const { return 1ull << (63 - shift); }  // above every distance
    __device__ __forceinline__ u64 pack(i64 price, u64 row) const { return (u64)(price + bias()) << shift | row; }
    __device__ __forceinline__ i64 price(u64 w) const { return (i64)(w >> shift) - bias(); }
};

// team returns the mask of the LANES lanes that work on the same row.
__device__ __forceinline__ u32 team() {
    return LANES == WARP ? ALL : ((1u << LANES % WARP) - 1) << (threadIdx.x % WARP / LANES * LANES);
}
template <class X> __device__ __forceinline__ X first(X x) { return __shfl_sync(team(), x, 0, LANES); }

__device__ __forceinline__ u64 thread() { return (u64)blockIdx.x * BLOCK + threadIdx.x; }
__device__ __forceinline__ u64 threads() { return (u64)gridDim.x * BLOCK; }

// count adds to a control word that stays below 2^32, and returns what it was.
__device__ __forceinline__ u32 count(u64* word, u32 by = 1) { return atomicAdd((u32*)word, by); }

// tied reports whether the candidates of a row have few distinct costs: an auction makes
// little progress among ties. First chunks are ascending in c - v.
__device__ bool tied(State& s, Barrier& barrier) {
    u64 levels = 0;
    for (u64 i = thread() / LANES; i < s.rows; i += threads() / LANES) {
        u64 e = i * K + threadIdx.x % LANES;
        int j = s.col[e];
        i64 key = j < 0 ? INFINITE : s.cost[e] - s.v[j], before = __shfl_up_sync(team(), key, 1, LANES);
        levels += threadIdx.x % LANES == 0 || j >= 0 && key != before;
    }
    if (levels) atomicAdd(s.control + LEVELS, levels);
    barrier.sync();
    return __ldcg(s.control + LEVELS) < 4 * s.rows;
}

}  // namespace VARIANT
