// The known zeros of the slack matrix: a short list a row.
#include "cuda/variant.cuh"

namespace VARIANT {

// Unused places of a row's list hold NOBODY. A slack stays zero as long as the row's dual
// rises by as much as the column's falls. Zeros that a phase finds are zeros at its end: from
// then on the row and the column are in one tree, whose duals move together.
constexpr u32 SETS = 2528;  // room, in words, for each of two sets in shared memory
constexpr u32 POOL = 8128 - 2 * BLOCK;

// SharedState is a block's shared memory during a closure.
struct SharedState {
    alignas(8) u32 pool[POOL];  // sets, then frontier rows
    u32 count[2];               // frontier rows so far, of even and of odd levels
    u32 fetched[2 * BLOCK];     // by thread: targets of the copies that bring lists into the cache
};

// Sets holds the set of the forest's columns, and the set of roots whose trees have their
// paths: with NEAR as bits in shared memory, else in global memory.
template <bool NEAR> struct Sets {
    u32 *reached, *ended, mark;

    __device__ __forceinline__ bool has(u32 root) const {
        return NEAR ? *(volatile u32*)(ended + root / 32) >> root % 32 & 1 : *(volatile u32*)(ended + root) == mark;
    }
    __device__ __forceinline__ bool take(u32 root) const { return NEAR ? add(ended, root) : atomicExch(ended + root, mark) != mark; }
    __device__ __forceinline__ void leave(u32 root) const {
        if (NEAR) atomicAnd(ended + root / 32, ~(1u << root % 32));
        else atomicExch(ended + root, 0u);
    }
};

// fresh returns the entry of a zero found in this phase, whose mate renew sets.
constexpr u32 FRESH = 0xfffffffe, ALONE = ALL;
__device__ __forceinline__ u64 fresh(u32 j) { return (u64)FRESH << 32 | j; }

// note adds a column to a row's zeros, if there is room.
__device__ __forceinline__ void note(const Work& w, int row, u32 j) {
    if (!w.keeps()) return;
    u32 at = atomicAdd(w.held + row, 1u);
    if (at < LIST) w.zeros[(u64)(u32)row * LIST + at] = fresh(j);
}

// renew begins a phase: it deletes entries of lists that are no longer zeros, and sets the
// mates of the others, -1 for a free column. Rows of the forest with zeros outside the forest
// become frontier rows. A lane has one place of a list.
__device__ void renew(const Work& w, Slot* next) {
    if (!w.keeps()) return;
    u32 lane = threadIdx.x % WARP, k = lane % LIST;
    for (u32 base = (w.block * BLOCK + threadIdx.x - lane) / LIST; base < w.rows; base += w.blocks * BLOCK / LIST) {
        u32 i = base + lane / LIST;
        int mine = i < w.rows ? w.column[i] : 0;
        bool inside = i < w.rows && (mine < 0 || w.tree[mine] != OUT);
        u64 z = i < w.rows ? w.zeros[(u64)i * LIST + k] : NOBODY;
        bool stays = z != NOBODY, out = false;
        if (stays) {
            u32 j = (u32)z;
            out = inside && w.tree[j] == OUT;
            stays = z >> 32 == FRESH || w.gain[j] == w.rise[i];
            z = (u64)(u32)w.row[j] << 32 | j;
        }
        u32 all = __ballot_sync(ALL, stays) >> (lane - k) & ((1u << LIST) - 1), below = (1u << k) - 1;
        u32 outs = __ballot_sync(ALL, stays && out) >> (lane - k) & ((1u << LIST) - 1);
        bool frontierRow = k == 0 && outs != 0;
        u32 number = place(&next->joined, frontierRow);
        if (frontierRow) w.frontierRows[number] = frontierRowOf(w.way[i], i);
        if (i >= w.rows) continue;
        u32 at = stays ? __popc(all & below) : __popc(all) + __popc(~all & below);
        w.zeros[(u64)i * LIST + at] = stays ? z : NOBODY;
        if (k == 0) {
            w.held[i] = __popc(all);
            w.rise[i] = 0;
        }
    }
}

// recall loads data into the cache that the next steps read, and that a scan has driven out:
// the lists of zeros and, with `all`, what the end of a phase reads. A GPU's L2 has two
// parts, and a block fills the part near to it, so that several blocks read each line.
__device__ __forceinline__ void recall(const Work& w, bool all) {
    u32 group = (w.blocks + 3) / 4, first = w.block % group * BLOCK + threadIdx.x, step = group * BLOCK;
    for (u64 x = first; x < w.rows && w.keeps(); x += step)
        for (u32 k = 0; k < LIST; k += 4) (void)*(volatile u64*)(w.zeros + x * LIST + k);
    if (!all) return;
    for (u32 i = first; i < w.rows; i += step) {
        (void)*(volatile int*)(w.column + i), (void)*(volatile u64*)(w.way + i);
        (void)*(volatile i64*)(w.u + i), (void)*(volatile u64*)(w.winner + i), (void)*(volatile u32*)(w.done + i);
        (void)*(volatile i64*)(w.rise + i);
    }
    for (u32 j = first; j < w.cols; j += step) {
        (void)*(volatile int*)(w.row + j), (void)*(volatile int*)(w.parent + j), (void)*(volatile int*)(w.tree + j);
        (void)*(volatile i64*)(w.dist + j), (void)*(volatile i64*)(w.v + j), (void)*(volatile i64*)(w.gain + j);
    }
}

}  // namespace VARIANT
