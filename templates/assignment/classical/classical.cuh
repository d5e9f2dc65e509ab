// The classical Hungarian algorithm (Date and Nagi 2016): see package assignment, classical.go.
#include "cuda/variant.cuh"
#include "assignment/chunks.cuh"
#include "assignment/forest.cuh"

// The steps of the algorithm are functions that the whole grid executes. A
// barrier of the grid, or the end of a launch, separates two steps. Within a step
// blocks exchange data by atomics alone.
namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 BLOCK = param::block;
constexpr u32 ITEMS = param::items;  // entries of a lane in a chunk
constexpr u32 ROWS = param::rows;    // rows that a warp reads at once
constexpr bool ONE = param::paths_one;       // a phase augments along one path instead of one a tree
constexpr bool STORED = param::slack_stored;   // a matrix stores the slacks
constexpr bool BOUNDED = param::slack_bounded;  // bounds decide which slacks are computed
constexpr bool BITS = param::zeros_bits;     // zeros are stored as a bit an entry, else in lists
constexpr bool KEPT = param::forest_kept;      // trees without a path stay after an augmentation
constexpr u32 NOWHERE = ALL;         // an unused place of a list
constexpr int NOBODY = -1, HELD = -2;
typedef Chunk<ITEMS> C;
// Go: PartItems
constexpr u32 PART_ITEMS = 8;        // entries of a lane in a part, with slack=bounded
typedef Chunk<(BOUNDED ? PART_ITEMS : ITEMS)> P;  // a part of a chunk; Work.least holds one value for each row and part
constexpr u32 PART = P::SPAN / WARP, PARTS = ITEMS / PART;

// Control holds the words that blocks exchange, 8 bytes each. A step reads one of
// several counters while it clears another for the next step.
// Go: Control
struct Control {
    i64 least[2];  // smallest uncovered slack, by dual update modulo 2
    i64 bound;     // at least every slack of an allowed pair
    u64 count[3];  // by step modulo 3: rows put into the queue, plus paths found << 32
    u64 winner;    // phase << 32 | root: the path of paths=one
    u64 word;      // of the barrier
    // The state of the search, between launches and after a search by one block:
    u64 side;               // which queue is in use
    u64 head, tail, roots;  // rows head .. tail-1 of the queue come next; roots in the forest
    u64 turn;               // steps that filled a queue
    u64 found;              // paths of this phase
    u64 stage;
    u64 levels, phases, paths, updates, scanned;  // counts so far; scanned: rows read
    u64 late;               // whether edges of other devices are still to come
    u64 hits[2];            // slack=bounded: number of hits, by dual update modulo 2
    u64 read;               // slack=bounded: parts read
};
// Go: Stage
enum Stage { START, SEARCH, MATCHED, STUCK };
// Flags of a solve: rows of the matrix begin at multiples of 16 bytes; columns are reduced; stored slacks
// have 8 bytes; dynamic shared memory has 2 bytes a column, for the matching.
// Go: Flag
enum Flag { ALIGNED = 1, REDUCE = 2, WIDE = 4, MATES = 8 };
// Go: ControlWords
constexpr u32 CONTROL = 32;  // words of 8 bytes kept for it

// Hit is a part of a row that a dual update has read, with its least uncovered slack, and
// that slack plus the row's dual (key), which later changes of the dual leave valid.
struct Hit {
    u32 row, part;
    i64 slack, key;
};
static_assert(sizeof(Hit) * PARTS <= 4 * WARP, "hits are where the least slacks of the reduction were");

// Work points to the costs and to the parts of the workspace, in the order of its members.
// classical.go relies on the order of the first members.
struct Work {
    const T* costs;
    void* stored;       // slacks after the reduction, in rows of `pitch` entries
    Control* ctl;
    i64* v;
    i64* base;          // column minima, or the duals to start from
    u32 *reached, *covered, *open;  // sets of columns: reached; reached at the last dual update; free
    i64* u;
    u64* way;           // by row of the forest
    i64* least;         // by row and part: the least slack, INFINITE without one; with BOUNDED a lower bound of c - v
    int *column, *row;  // the matching, by row and by column; NOBODY where unmatched
    u32* queues;        // two: rows of the forest in the order in which they joined; rows of the next phase
    int *end, *last;    // by root: the free column at the end of its path, and the row that reached it
    u32* zeros;         // zeros of the slack matrix: words of bits, or lists of a cache line each
    u32* fresh;         // by row and word: the places of the parts' least slacks; with BOUNDED the hits
    Scale<T> scale;
    i64 floor;          // every row's dual at the start
    u32 rows, cols, chunks, parts, words, pitch;
    bool aligned, reduce, wide, near;

    __device__ Work(const T* costs, void* stored, void* work, double factor, i64 floor, u32 rows, u32 cols, u32 flags)
        : costs(costs), stored(stored), scale(factor), floor(floor), rows(rows), cols(cols),
          chunks((cols + C::SPAN - 1) / C::SPAN), parts(chunks * PARTS), words(chunks * WARP), pitch((cols + 3) / 4 * 4),
          aligned(flags & ALIGNED), reduce(flags & REDUCE), wide(flags & WIDE), near(flags & MATES) {
        ctl = (Control*)work;
        v = (i64*)work + CONTROL, base = STORED ? v + cols : v;
        reached = (u32*)(v + 2 * (u64)cols), covered = reached + words, open = covered + words;
        u = (i64*)(open + words), way = (u64*)(u + rows), least = (i64*)(way + rows);
        column = (int*)(least + (u64)rows * parts), row = column + rows;
        queues = (u32*)(row + cols), end = (int*)(queues + 2 * (u64)rows), last = end + rows;
        zeros = (u32*)(((u64)(last + rows) + 127) / 128 * 128), fresh = zeros + (u64)rows * (BITS ? words : WARP);
    }
    // edges returns the room, in words of new zeros, for messages to another device. Zeros
    // that a dual update makes beyond the room are found by the next one, as slacks of zero.
    __device__ __forceinline__ u32 edges() const { return rows * words; }
    __device__ __forceinline__ u32* queue(u32 side) const { return queues + (u64)side * rows; }
};

// What Work is made of: the first arguments of entry points.
#define WORK_ARGS                                                                                                    \
    const T *costs, unsigned int *stored, unsigned long long *work, double scale, long long start,                   \
        unsigned long long rows, unsigned long long cols, unsigned long long flags

}  // namespace VARIANT
