// A thread group is the set of threads that run the phases together, and all of them call
// each function that takes a ThreadGroup: Everyone or OneBlock. The first searchers() blocks
// search. put appends an entry to the search's list t+1; OneBlock counts in `filled`.
#include "cuda/variant.cuh"

namespace VARIANT {

// LocalQueue holds, in dynamic shared memory, the rows that a block itself has reached, for
// this step of a search and for the next. LANES lanes work on one row, so that all warps but
// the last, which waits for the other blocks, work on SLOTS rows at once. Rows beyond SLOTS
// go to the lists that all blocks share.
constexpr u32 SLOTS = (BLOCK - WARP) / LANES, ROOM = 2 * BLOCK;
struct LocalQueue {
    u64 own[2][ROOM];
    u32 filled[2];  // rows that the block has reached, by step, those it shares included
    u32 sum;        // the sum of all blocks' numbers
    u32 place;      // place in the list of the first row that the block shares
};

// Everyone is the thread group of all blocks of the launch, which share words in L2. The
// last of several blocks only lowers the bound while the others search.
struct Everyone {
    Barrier& barrier;
    LocalQueue& localQueue;
    __device__ __forceinline__ u64 thread() const { return VARIANT::thread(); }
    __device__ __forceinline__ u64 threads() const { return VARIANT::threads(); }
    __device__ __forceinline__ u32 searchers() const { return gridDim.x > 1 ? gridDim.x - 1 : 1; }
    __device__ __forceinline__ void sync() { barrier.sync(); }
    __device__ __forceinline__ void begin() {
        if (threadIdx.x < 2) localQueue.filled[threadIdx.x] = 0;
    }
    template <class X> __device__ __forceinline__ X load(const X* p) const { return __ldcg(p); }
    __device__ __forceinline__ void put(const State& s, u64 t, u64 entry, u64*) const {
        u32 side = (t + 1) % 2, at = atomicAdd(localQueue.filled + side, 1u);
        if (at < ROOM) localQueue.own[side][at] = entry;
        else give(s, side, count(s.control + COUNT + side), entry);
    }
    // reduce stores c - u - v of all edges, since a search reads each edge several times.
    __device__ __forceinline__ void reduce(const State& s) const {
        for (u64 i = thread() / LANES; i < s.rows; i += threads() / LANES) {
            i64 u = s.u[i];
            for (i64 chunk = (i64)i; chunk >= 0; chunk = s.next[chunk])
#pragma unroll
                for (u32 k = 0; k < ITEMS; k++) {
                    u64 e = chunk * K + k * LANES + threadIdx.x % LANES;
                    int j = s.col[e];
                    if (j >= 0) s.rest[e] = s.cost[e] - u - s.v[j];
                }
        }
    }
    // give writes an entry to the list of all blocks; places count upwards, modulo the capacity.
    __device__ __forceinline__ void give(const State& s, u32 side, u32 place, u64 entry) const {
        s.lists[side * s.capacity + place % s.capacity] = entry;
    }
};

// OneBlock is the thread group of a single block, whose shared memory, of a tenth of L2's
// latency, holds all data but the edges. A list holds each row once. A row is expanded with
// the distance that it has at that time; a row that the next list also holds is expanded
// from that list alone.
struct OneBlock {
    unsigned short* lists;  // [2*rows]
    __device__ __forceinline__ u64 thread() const { return threadIdx.x; }
    __device__ __forceinline__ u64 threads() const { return BLOCK; }
    __device__ __forceinline__ u32 searchers() const { return 1; }
    __device__ __forceinline__ void sync() { __syncthreads(); }
    __device__ __forceinline__ void begin() {}
    __device__ __forceinline__ void reduce(const State&) const {}
    template <class X> __device__ __forceinline__ X load(const X* p) const { return *(const volatile X*)p; }
    __device__ __forceinline__ u64 get(const State& s, u64 t, u64 at) const {
        u32 row = load(lists + t % 2 * s.rows + at);
        if (load(s.claim + row) == (int)t + 1) return ~s.none();  // the next list holds the row, with a smaller distance
        int j = load(s.match + row);
        return j < 0 ? row : load(s.word + j) & ~s.none() | row;
    }
    __device__ __forceinline__ void put(const State& s, u64 t, u64 entry, u64* filled) const {
        u32 row = (u32)(entry & s.none());
        if (atomicExch(s.claim + row, (int)t + 1) != (int)t + 1) lists[(t + 1) % 2 * s.rows + count(filled)] = (unsigned short)row;
    }
};

}  // namespace VARIANT
