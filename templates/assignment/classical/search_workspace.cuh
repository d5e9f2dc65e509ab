// The search by one block, where zeros are in lists: levels of few rows.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 EIGHT = 8;  // zeros of a row that are read at once; most lists have at most so many

// SearchWorkspace holds the data of a search by one block: sets of columns and rows, the
// matching, and the frontier rows of two levels, which alternate between the halves of
// `near`. NEAR says that shared memory holds `mates`, the rows matched to the columns.
template <bool NEAR> struct SearchWorkspace {
    static constexpr u32 FREE = NEAR ? 0xffff : (u32)NOBODY, NONE = ALL - 1;  // in place of a mate: the column is free; there is no column
    const Work& m;
    const unsigned short* mates;
    u32 *reached, *ended;  // sets: columns reached, and roots whose trees have their paths
    u64* near;
    u32 *queue, *count, *found;
    u32 room, phase, *words;  // words: the thread's targets of fetch

    __device__ __forceinline__ u32 zero(u64 frontierRow, u32 at) const { return at < LIST ? line(m, rowOf(frontierRow))[at] : NOWHERE; }
    __device__ __forceinline__ u32 mate(u32 j) const { return j == NOWHERE ? NONE : NEAR ? mates[j] : (u32)m.row[j]; }
    __device__ __forceinline__ bool has(u32 root) const { return *(volatile u32*)(ended + root / 32) >> root % 32 & 1; }
    __device__ __forceinline__ bool claim(u32 j) const {
        u32 bit = C::bit(j);
        return !(atomicOr(reached + C::word(j), bit) & bit);
    }

    // take adds `row` to the forest, if `got`, and starts to load the row's list into the
    // multiprocessor's cache.
    __device__ __forceinline__ void take(bool got, u64 frontierRow, u32 row, const Frontier& f, u32* word) const {
        u32 to = fetchAdd(got ? count + f.side : spare(), got) - f.base;
        fetchIf(got, word, line(m, row));
        u64 way = after(frontierRow, f.levels % LEAP == 0);
        if (got && to < room) near[(f.side ^ 1) * room + to] = frontierRowOf(way, row);
        storeIf(got, m.way + row, way);
        storeIf(got, queue + f.tail + to, row);
    }

    // end tries to end the path of a tree in a free column.
    __device__ __forceinline__ void end(u64 frontierRow, u32 j) const {
        u32 root = rootOf(frontierRow);
        if (!add(ended, root)) return;  // the tree has its path, or another lane tries to end it
        if (claim(j)) {
            m.end[root] = (int)j;
            m.last[root] = (int)rowOf(frontierRow);
            atomicAdd(found, 1u);
            if (ONE) atomicMax(&m.ctl->winner, (u64)phase << 32 | root);
        } else {
            atomicAnd(ended + root / 32, ~(1u << root % 32));
        }
    }

    // spare returns a word for the atomics of lanes without a column, which change nothing.
    __device__ __forceinline__ u32* spare() const { return reached + threadIdx.x % WARP; }

    // reach adds, for each of K frontier rows of a lane, one column j and its mate to the
    // forest. `row` is the mate's number, FREE, or NONE where the lane has no column. Lanes
    // without a column execute the same instructions on spare words, as branches cost more.
    template <u32 K> __device__ __forceinline__ void reach(const u64 (&frontierRow)[K], const u32 (&j)[K], const u32 (&row)[K], Frontier& f) const {
        bool got[K];
#pragma unroll
        for (u32 k = 0; k < K; k++) {
            bool has = row[k] < min(FREE, NONE);
            u32 bit = has ? C::bit(j[k]) : 0;
            got[k] = bit & ~atomicOr(has ? reached + C::word(j[k]) : spare(), bit);
        }
        fetchedBut<1>();
#pragma unroll
        for (u32 k = 0; k < K; k++) take(got[k], frontierRow[k], got[k] ? row[k] : 0, f, words + (2 * k + f.turn) * BLOCK);
        sealed();
        f.turn ^= 1;
    }

    // ends calls end for each of K frontier rows whose column is free.
    template <u32 K> __device__ __forceinline__ void ends(const u64 (&frontierRow)[K], const u32 (&j)[K], const u32 (&row)[K]) const {
#pragma unroll
        for (u32 k = 0; k < K; k++)
            if (row[k] == FREE) end(late(frontierRow[k]), j[k]);
    }

    // expand follows the zeros of K frontier rows, at x, x + ROUND and so on. LANES lanes share
    // a frontier row and read one zero each at a time. In most levels rows have no further
    // zeros, so that the loop over these and the ends of paths come after an early return.
    template <u32 LANES, u32 K> __device__ __forceinline__ void expand(u32 x, Frontier& f) const {
        constexpr u32 ROUND = BLOCK / LANES;
        u64 frontierRow[K];
        u32 j[K], next[K], row[K], at = threadIdx.x % LANES;
        bool going[K], more = false, rare = false;
#pragma unroll
        for (u32 k = 0; k < K; k++) {
            frontierRow[k] = near[f.side * room + min(x + k * ROUND, f.n - 1)];
            going[k] = x + k * ROUND < f.n;
            j[k] = zero(frontierRow[k], at);
            next[k] = LANES < EIGHT ? zero(frontierRow[k], at + LANES) : NOWHERE;
        }
        if (K == 1 || f.ended)
#pragma unroll
            for (u32 k = 0; k < K; k++) going[k] = going[k] & !has(rootOf(frontierRow[k]));
#pragma unroll
        for (u32 k = 0; k < K; k++) {
            row[k] = going[k] ? mate(j[k]) : NONE;
            more |= LANES < EIGHT ? going[k] & next[k] != NOWHERE : row[k] != NONE & at == LANES - 1;
            rare |= row[k] == FREE;
        }
        reach(frontierRow, j, row, f);
        if (!__any_sync(ALL, more | rare)) return;
        ends(frontierRow, j, row);
        for (bool known = LANES < EIGHT; __any_sync(ALL, more); known = false) {
            at += LANES;
            more = false;
#pragma unroll
            for (u32 k = 0; k < K; k++) {
                j[k] = known ? next[k] : zero(frontierRow[k], at);
                row[k] = going[k] ? mate(j[k]) : NONE;
                more |= row[k] != NONE & at % LANES == LANES - 1;
            }
            reach(frontierRow, j, row, f);
            ends(frontierRow, j, row);
        }
    }

    // share expands the warp's share of a level, with 8 lanes a frontier row if the block has them, else 4.
    __device__ __forceinline__ void share(Frontier& f) const {
        constexpr u32 WARPS = BLOCK / WARP;
        u32 warp = threadIdx.x / WARP;
        if (f.n <= WARPS * 4) {
            if (warp * 4 < f.n) expand<8, 1>(threadIdx.x / 8, f);
        } else if (f.n <= WARPS * 8) {
            if (warp * 8 < f.n) expand<4, 1>(threadIdx.x / 4, f);
        } else {
            for (u32 first = warp * 8; first < f.n; first += 2 * WARPS * 8) expand<4, 2>(first + threadIdx.x % WARP / 4, f);
        }
    }
};

}  // namespace VARIANT
