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
        u32 row = s.row(__ldcg(&s.column[j].word));
        jump[j] = row == s.none() ? j : (u32)__ldcg(s.match + row);
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
        u64 word = __ldcg(&s.column[j].word);
        u32 row = s.row(word);
        bool flip = next[j] && row != s.none();
        s.flipped[j] = flip;
        if (!flip) continue;
        s.match[row] = (int)j, s.owner[j] = (int)row, s.column[j].word = word | s.none();
        flips++;
    }
    if (flips) count(s.control + FLIPS, flips);
    __syncthreads();
    for (u32 j = threadIdx.x; j < s.n; j += BLOCK) {  // what rows of cycles have reached besides is not theirs any more
        u64 word = __ldcg(&s.column[j].word);
        u32 row = s.row(word);
        if (row != s.none() && __ldcg(s.flipped + __ldcg(s.match + row))) s.column[j].word = word | s.none();
    }
    __syncthreads();
}

// settle makes prices exact, in at most `most` steps. EXACT: for costs as they are, unrounded. Then v are whole units, and what prices have beyond these is
// in low and rowLow, less than a unit.
template <bool EXACT> __device__ void settle(State& s, GridBarrier& barrier, u32* jumps, u32 most) {
    Queue& q = queue();
    q.clear();
    if constexpr (EXACT) {
        for (u32 j = thread(); j < s.n; j += threads()) {
            u32 i = (u32)__ldcg(s.owner + j);
            s.high[j] = s.v[j], s.rowHigh[i] = s.cost(i, j) - s.v[j], s.v[j] = s.low[j], s.thr[i] = -FAR;
        }
        for (u64 e = thread(); e < (u64)s.n * LIST; e += threads()) s.listCol[e] = NOBODY;
    }
    for (u32 j = thread(); j < s.n; j += threads()) {
        u32 i = (u32)__ldcg(s.owner + j);
        i64 v = s.v[j];
        if (!s.fits(v)) s.control[CUT] = 1;
        s.column[j] = Column{0, s.pack(v, s.none())};
        s.onward[j] = -s.value<EXACT>(i, j), s.full[i] = FAR;
    }
    barrier.sync();
    GridSum sum(s.control + SUM, s.searchers);
    u32 flips = 0, t = 0;
    bool whole = true;
    visitAll<true>(s, q, t, 0);
    __threadfence();
    __syncthreads();
    for (u32 turn = 0; whole; turn++) {
        whole = grow<true>(s, q, t, most, 0, 0, sum, [&] {
            barrier.sync();
            if (blockIdx.x == 0) exchange(s, jumps);
            barrier.sync();
            u32 now = load(s.control + FLIPS);
            if (now == flips) return;
            flips = now;
            for (u32 j = thread(); j < s.n; j += threads()) {
                if (!__ldcg(s.flipped + j)) continue;
                u32 i = (u32)__ldcg(s.owner + j);
                i64 onward = -s.value<EXACT>(i, j);
                s.onward[j] = onward;
                put(s, q, t + 1, Entry{s.price(__ldcg(&s.column[j].word)) + onward, i, j});
            }
            barrier.sync();
        });
        if (readNear<true, EXACT>(s, q, t, turn, nullptr, 0, 0, sum) == 0) break;
    }
    barrier.sync();
    for (u32 j = thread(); j < s.n; j += threads()) {
        i64 v = s.price(__ldcg(&s.column[j].word));
        u32 i = (u32)__ldcg(s.owner + j);
        i64 u = -__ldcg(s.onward + j) - v;
        if constexpr (EXACT) {
            i64 whole = v >> s.finer, row = u >> s.finer;
            s.v[j] = s.high[j] + whole, s.u[i] = s.rowHigh[i] + row;
            s.low[j] = v - (i64)((u64)whole << s.finer), s.rowLow[i] = u - (i64)((u64)row << s.finer);
        } else {
            s.v[j] = v, s.u[i] = u;
        }
    }
    if (thread() == 0) s.control[STATUS] = !whole ? STALLED : __ldcg(s.control + CUT) ? STUCK : DONE, s.control[STEPS] += t;
    s.stamp(REFINING);
}

}  // namespace VARIANT
