// The state of a solve between its steps.
#include "cuda/variant.cuh"

namespace VARIANT {

// Stages are the kinds of steps. SCANNED and TAKEN name the kind of the step before; the next
// step turns them into CLOSE or SEARCH.
// Go: Stage
enum Stage { REDUCE_ROWS, REDUCE_COLUMNS, ACCEPT, RENEW, CLOSE, TAKE, TAKEN, SEARCH, SCANNED, SOLVED, STUCK };

// Entry is a row to scan. The slack of (row, j) is c + key - v(j), less the dual updates
// of this phase.
// Go: Entry
struct Entry {
    i64 key;
    int row;
};

// Turn is the state of the solve, equal in all blocks.
// Go: Turn
struct Turn {
    i64 sum;  // sum of the dual updates of this phase
    u32 steps, phases, paths, updates;
    u32 stage;
    u32 left;    // number of free rows
    u32 side;    // which of two lists holds the free rows
    u32 listed;  // whether the step before has listed the free rows anew, in the other list
    u32 turn;    // which of two lists holds the rows to scan
    u32 ready;   // number of rows to scan on this device
    u32 whole;   // number of rows to scan on all devices
    u32 frontierRows;    // number of rows whose known zeros are to be followed
    u32 before;  // number of trees that have reached a free column
};

// Slot is what a step passes to the next. Three slots rotate: one is read, one written,
// one cleared.
// Go: Slot
struct Slot {
    Turn turn;
    alignas(8) u32 joined;  // number of rows that joined the forest; after RENEW, of frontier rows
    u32 frontier;  // number of those that this device scans; one 8-byte word counts both
    u32 found;     // number of trees that reached a free column
    u32 kept;      // number of rows listed as free
};

// Go: Head
struct Head {
    Slot slot[4];  // the last: the state at the end of a launch
    u64 first[2];  // the least winner of a phase, by phase modulo 2
    u64 read;      // entries of the matrix that were read
    u64 levels;    // levels of all closures
    i64 cycles[STUCK + 1];  // clock cycles of steps, by the stage that follows; those of dual updates at SEARCH
    u32 word[2];   // of the barrier
};

// Go: HeadWords
constexpr u32 HEAD = 128;  // words of 8 bytes kept for it

// Work points to the parts of the workspace; the host lays it out in the same order. Each
// block has a copy in shared memory.
struct Work {
    Head* head;
    u32 rows, cols, width, block, blocks;
    u32 first, mine;  // rows first .. first+mine-1 have their costs on this device
    i64 *u, *v;
    i64* dist;        // by column: its slack, plus the dual updates of the phase
    u64* winner;      // by free row: step << 32 | the free column that its tree reached
    Entry* open;      // rows that this device scans, two lists by turns
    u64* zeros;       // by row: LIST columns, each with its mate << 32
    u64* told;        // zeros on the device that holds the lists
    u64* hop;         // by column that a closure reached: the way of its row
    u64* frontierRows;        // rows whose zeros are to be followed, two lists by turns
    u64* way;         // by row of the forest
    i64 *gain, *rise; // by column and by row: the change of the dual in the phase before
    int* free;        // free rows, two lists by turns
    i64* least;       // by warp: the least slack of its columns outside the forest, by step modulo 2
    int* column;      // by row: the column matched to it
    int* choice;      // by row: the first column whose minimum it has
    u32* done;        // by root: the last phase that found its tree a path, plus one
    u32* held;        // by row: the number of zeros noted
    int* row;         // by column: the row matched to it
    int* parent;      // by column: the row that gave it its slack
    int* tree;        // by column: the row that joined the forest with it, OUT or END
    u32* reached;     // set of columns in the forest
    u64 read;         // rows that all blocks have scanned in this launch
    MEMBERSHIP
    __device__ void cut(u64* w, u64 m, u64 n, u64 each) {
        head = (Head*)w;
        rows = mine = (u32)m;
        cols = (u32)n;
        width = (u32)each;
        first = 0;
        block = blockIdx.x;
        blocks = gridDim.x;
        open = (Entry*)(w + HEAD);
        zeros = (u64*)(open + 2 * m);
        told = zeros;
        hop = zeros + LIST * m;
        frontierRows = hop + n;
        way = frontierRows + 2 * m;
        gain = (i64*)(way + m);
        rise = gain + n;
        u = rise + m;
        v = u + m;
        dist = v + n;
        winner = (u64*)(dist + n);
        free = (int*)(winner + m);
        column = free + 2 * m;
        choice = column + m;
        done = (u32*)(choice + m);
        held = done + m;
        row = (int*)(held + m);
        parent = row + n;
        tree = parent + n;
        reached = (u32*)(tree + n);
        least = (i64*)(((u64)(reached + (n + 31) / 32) + 7) / 8 * 8);
        read = 0;
    }
    // close adds the number of entries read in this launch to the head.
    __device__ __forceinline__ void close() {
        if (leads()) atomicAdd(&head->read, read * cols);
    }
    __device__ __forceinline__ bool here(int row) const { return !PEERS || (u32)row - first < mine; }
    // line returns the index of a row's first cost on this device.
    __device__ __forceinline__ u64 line(int row) const { return (u64)((u32)row - (PEERS ? first : 0)) * cols; }
    __device__ __forceinline__ bool leads() const { return block == 0 && threadIdx.x == 0; }
};
#undef MEMBERSHIP
static_assert(sizeof(Head) <= 8 * HEAD && sizeof(Entry) == 16, "layout");

}  // namespace VARIANT
