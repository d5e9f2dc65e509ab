// Shared memory of a search by one block, where zeros are in lists.
#include "cuda/lanes.cuh"
#include "cuda/shared.cuh"
#include "cuda/space.cuh"
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 POOL = (BOUNDED ? 7424 : 8128) - 4 * BLOCK;

// Tally counts the frontier rows of even and of odd levels so far, and the paths found. A
// thread reads all three by one load.
struct alignas(16) Tally {
    u32 frontierRows[2], found;
};

// SharedState holds what the threads of a block share while the block searches alone: sets,
// frontier rows and a tally. Dynamic shared memory, where large enough, holds the rows
// matched to the columns.
struct SharedState : Room<POOL> {
    i64 room;         // bytes from here to dynamic shared memory; stored, since the compiler would compute a constant again at each use
    Tally tally;
    u32 known;        // the phase whose matching dynamic shared memory holds, plus one
    u32 fetched[4 * BLOCK];  // by thread: targets of the copies that bring lists into the cache
};

__device__ __forceinline__ void clear(SharedState& sharedState) {
    COALESCE_DYNAMIC_SHARED(unsigned short, room);
    if (threadIdx.x == 0) sharedState.known = 0, sharedState.room = (char*)room - (char*)&sharedState;
    __syncthreads();
}

// setWords returns the size of the sets of columns and of rows, in words. narrow returns the
// most rows of a level that one block expands alone: the sets and the frontier rows of two
// levels must fit in the pool.
__device__ __forceinline__ u32 setWords(const Work& m) { return (m.words + (m.rows + 31) / 32 + 1) / 2 * 2; }
__device__ __forceinline__ u32 narrow(const Work& m) { return setWords(m) < POOL ? min(SINGLE_BLOCK_ROWS, (POOL - setWords(m)) / 4) : 0; }

// Frontier is the state of a search by one block; every thread has a copy.
struct Frontier {
    u32 n, side;  // number of the level's frontier rows, and the half of `near` that holds them
    u32 base;     // value of the next level's counter when the level began
    u32 tail;     // of the queue
    bool ended;   // whether some trees have their paths
    u32 levels, turn;
};

}  // namespace VARIANT
