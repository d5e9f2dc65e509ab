// The exact end: with all rows matched, prices fall to what keeps every row's column its best,
// and cycles that make this endless, which cost less than nothing, are exchanged.
#include "cuda/variant.cuh"

namespace VARIANT {

// exchange finds the cycles of the columns' parents and gives each of their rows the column
// that it has reached. It doubles pointers: after more than n hops from every column, exactly
// the columns of cycles are met, and roots, which have no parent. One block calls; room holds
// 2*n numbers.
__device__ void exchange(const State& s, u32* room) {
    u32 *jump = room, *next = room + s.n;
    __syncthreads();
    for (u32 j = threadIdx.x; j < s.n; j += BLOCK) {
        u32 row = (u32)__ldcg((const u64*)s.path + j);
        jump[j] = row == NOBODY ? j : (u32)__ldcg(s.match + row);
    }
    __syncthreads();
    for (u64 hops = 1; hops <= s.n; hops *= 2) {
        for (u32 j = threadIdx.x; j < s.n; j += BLOCK) next[j] = jump[jump[j]];
        __syncthreads();
        u32* other = jump;
        jump = next, next = other;
    }
    for (u32 j = threadIdx.x; j < s.n; j += BLOCK) next[j] = 0;
    __syncthreads();
    for (u32 j = threadIdx.x; j < s.n; j += BLOCK) atomicOr(next + jump[j], 1u);
    __syncthreads();
    u32 flips = 0;
    for (u32 j = threadIdx.x; j < s.n; j += BLOCK) {
        u32 row = (u32)__ldcg((const u64*)s.path + j);
        if (!next[j] || row == NOBODY) continue;
        s.match[row] = (int)j, s.owner[j] = (int)row, s.path[j] = Entry{NOBODY, NOBODY};
        flips++;
    }
    if (flips) count(s.control + FLIPS, flips);
    __syncthreads();
}

// renew lists the rows that the last step has listed, and those that have another column since,
// with their present columns. Blocks do so together, after the list has been emptied.
__device__ void renew(const State& s, const Own& o, u32 t) {
    u64 list = (u64)(t % 3) * s.n;
    for (u32 first = 0; first < s.width; first += BLOCK) {
        u32 c = first + threadIdx.x, j = blockIdx.x * s.width + c;
        bool mine = c < s.width && j < s.n, again = false;
        if (mine) {
            int i = __ldcg(s.owner + j);
            again = o.pushed[c] || i != o.owner[c];
            if (i != o.owner[c]) o.owner[c] = i, o.onward[c] = -s.cost((u32)i, j);
        }
        u32 at = place(s.control + LISTED + t % 3, again);
        if (again) s.base[list + at] = o.dist[c] + o.onward[c], s.entry[list + at] = Entry{(u32)o.owner[c], j};
    }
}

// settle makes prices exact, in at most `most` steps.
__device__ void settle(State& s, GridBarrier& barrier, u32* jumps, u32 most) {
    COALESCE_DYNAMIC_SHARED(i64, room);
    constexpr u32 OFTEN = 8;  // steps between two looks for cycles
    Own o(room, s.width);
    u32 flips = 0, t = 0, entries = s.n, steps = 0;
    prepare<true>(s, o);
    if (thread() == 0) s.control[SUM] = s.control[SUM + 1] = s.control[LISTED] = s.control[LISTED + 1] = s.control[LISTED + 2] = 0;
    barrier.sync();
    GridSum sum(s.control + SUM, s.searchers);
    for (;;) {
        entries = grow<true>(s, o, t, entries, 0, OFTEN, sum);
        if (entries == 0 || (steps += OFTEN) >= most) break;
        barrier.sync();
        if (blockIdx.x == 0) exchange(s, jumps);
        barrier.sync();
        u32 now = load(s.control + FLIPS);
        if (now == flips) continue;
        flips = now;
        if (thread() == 0) s.control[LISTED + t % 3] = 0;
        barrier.sync();
        renew(s, o, t);
        barrier.sync();
        entries = load(s.control + LISTED + t % 3);
    }
    for (u32 c = threadIdx.x; c < s.width; c += BLOCK) {
        u32 j = blockIdx.x * s.width + c;
        if (j >= s.n) break;
        s.v[j] = o.dist[c];
        s.u[o.owner[c]] = -o.onward[c] - o.dist[c];
    }
    if (thread() == 0) s.control[STATUS] = entries ? STALLED : DONE;
    barrier.sync();
    s.stamp(REFINING);
}

}  // namespace VARIANT
