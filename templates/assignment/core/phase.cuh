// A phase: a search from all free rows, a raise of the duals by the distance D of the m-th
// free column, and augmentation along vertex-disjoint tight paths, one a tree.
#include "cuda/variant.cuh"

namespace VARIANT {

// raise updates the duals of rows and columns nearer than D: u[i] += D - d(i) and
// v[j] -= D - d(j). It also resets the claims of matched rows, which are no roots.
template <class ThreadGroup> __device__ void raise(State& s, const ThreadGroup& threadGroup, u64 D) {
    for (u64 j = threadGroup.thread(); j < s.width; j += threadGroup.threads()) {
        u64 d = s.word[j] >> s.shift;
        if (d >= D) continue;
        s.v[j] -= (i64)(D - d);
        int i = s.owner[j];
        if (i >= 0) s.u[i] += (i64)(D - d);
    }
    for (u64 i = threadGroup.thread(); i < s.rows; i += threadGroup.threads()) {
        if (s.match[i] < 0) s.u[i] += (i64)D;
        else s.claim[i] = NONE_CLAIMED;
    }
}

// root returns the free row at the root of column j's tree, or s.rows where a walk of s.rows
// steps meets no free row.
__device__ __forceinline__ u64 root(const State& s, int j) {
    for (u64 hops = 0; hops < s.rows; hops++) {
        u64 i = s.word[j] & s.none();
        int k = s.match[i];
        if (k < 0) return i;
        j = k;
    }
    return s.rows;
}

// claim chooses, for each tree, the free column with the least number within D.
template <class ThreadGroup> __device__ void claim(State& s, const ThreadGroup& threadGroup, u64 reached, u64 D) {
    for (u64 k = threadGroup.thread(); k < reached; k += threadGroup.threads()) {
        int j = s.reached[k];
        if (s.word[j] >> s.shift > D) continue;
        u64 i = root(s, j);
        if (i < s.rows) atomicMin(s.claim + i, j);
    }
}

// augment flips the matching along the chosen paths. Paths share no vertex, so that threads
// read and write different words.
template <class ThreadGroup> __device__ void augment(State& s, const ThreadGroup& threadGroup) {
    for (u64 r = threadGroup.thread(); r < s.rows; r += threadGroup.threads()) {
        int j = s.claim[r];
        if (j == NONE_CLAIMED) continue;
        for (;;) {
            u64 i = s.word[j] & s.none();
            int k = s.match[i];
            s.match[i] = j;
            s.owner[j] = (int)i;
            if (k < 0) break;
            j = k;
        }
        count(s.control + PATHS);
        count(s.control + FREE, ~0u);
    }
}

// phases runs phases until every row is matched, or sets STATUS to the reason of its end.
template <class ThreadGroup> __device__ void phases(State& s, ThreadGroup& threadGroup, bool far, u64 most) {
    if (threadGroup.thread() == 0) s.control[FREE] = s.control[VIOLATIONS] = s.control[GROWN] = 0, s.control[STATUS] = SOLVED;
    threadGroup.sync();
    u32 mine = 0;
    for (u64 i = threadGroup.thread(); i < s.rows; i += threadGroup.threads()) mine += s.match[i] < 0;
    if (mine) count(s.control + FREE, mine);
    threadGroup.sync();
    for (;;) {
        u64 free = threadGroup.load(s.control + FREE);
        if (free == 0) return;
        u64 m = far ? (free + (1ull << HALF) - 1) >> HALF : 1;
        if (threadGroup.thread() == 0) {
            s.control[COUNT] = s.control[COUNT + 1] = s.control[COUNT + 2] = 0;
            s.control[REACHED] = 0;
            s.control[BOUND] = s.limit();
            s.control[CUT] = s.control[OVER] = s.control[SUM] = s.control[SUM + 1] = 0;
        }
        threadGroup.begin();
        threadGroup.sync();
        clear(s, threadGroup);
        s.stamp(CLEARING);
        bool whole = search(s, threadGroup, m);
        u64 reached = threadGroup.load(s.control + REACHED);
        if (!whole || reached == 0) {
            if (threadGroup.thread() == 0) s.control[STATUS] = whole && !threadGroup.load(s.control + CUT) ? STUCK : OVERFLOWED;
            return;
        }
        threadGroup.sync();
        s.stamp(GROW_GRID);
        if (blockIdx.x == 0) {
            // Where columns outnumber rows, columns that stay free must keep v = 0: then m is
            // 1, and D is the least distance of all free columns.
            u64 D = nearest(s, threadGroup, reached, m < reached ? m : reached, true), bound = s.control[BOUND];
            __syncthreads();
            if (threadIdx.x == 0) s.control[BOUND] = D < bound ? D : bound, s.control[PHASES]++;
        }
        threadGroup.sync();
        s.stamp(CHOOSING);
        u64 D = threadGroup.load(s.control + BOUND);  // at most the bound of the search, below which labels are final
        raise(s, threadGroup, D);
        claim(s, threadGroup, reached, D);
        threadGroup.sync();
        s.stamp(RAISING);
        augment(s, threadGroup);
        bool late = threadGroup.load(s.control + STEPS) > most || threadGroup.load(s.control + PHASES) > most;
        threadGroup.sync();
        s.stamp(AUGMENTING);
        if (late && threadGroup.load(s.control + FREE) > 0) {
            if (threadGroup.thread() == 0) s.control[STATUS] = STALLED;
            return;
        }
    }
}

}  // namespace VARIANT
