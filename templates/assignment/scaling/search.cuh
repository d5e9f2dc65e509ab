// The search: label correcting over the rows' lists, and over whole rows where lists do not decide.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 EACH = 2;           // entries of a step that a warp has of its block's own
constexpr u32 SLOTS = EACH * WARPS;
constexpr u32 WAITER = BLOCK - WARP; // the thread of a block that waits for the others
constexpr u32 ROOM = 256;         // entries that its queue holds
constexpr u32 OFTEN = 8;          // steps of a refinement between two looks for cycles
// Go: Shared
constexpr u32 SHARED = 1 << 24;   // added to the sum of a step's entries for each block that shares some

// Queue is what a block's warps have reached, in shared memory: the entries of two steps.
struct Queue {
    Entry own[2][ROOM];
    u32 filled[2], place, sum;
    i64 bound;
    __device__ __forceinline__ void clear() {
        if (threadIdx.x == 0) filled[0] = filled[1] = 0;
        __syncthreads();
    }
};
__device__ __forceinline__ Queue& queue() {
    __shared__ Queue q;
    return q;
}

// put appends an entry to those of step t: to the block's own, beyond its room to all blocks'.
__device__ __forceinline__ void give(const State& s, u32 t, u32 at, const Entry& e) {
    if (at < QUEUED * s.n) s.entry[(u64)(t % 3) * QUEUED * s.n + at] = e;
}
__device__ __forceinline__ void put(const State& s, Queue& q, u32 t, const Entry& e) {
    u32 at = atomicAdd(&q.filled[t % 2], 1u);
    if (at < ROOM) q.own[t % 2][at] = e;
    else give(s, t, count(s.control + LISTED + t % 3), e);
}

// share hands the entries of step t beyond the block's slots to all blocks.
__device__ __forceinline__ void share(const State& s, Queue& q, u32 t) {
    u32 filled = q.filled[t % 2], most = filled < ROOM ? filled : ROOM;
    if (threadIdx.x == 0) q.place = count(s.control + LISTED + t % 3, most - SLOTS);
    __syncthreads();
    for (u32 at = SLOTS + threadIdx.x; at < most; at += BLOCK) give(s, t, q.place + at - SLOTS, q.own[t % 2][at]);
    __threadfence();
    __syncthreads();
}

// label is the distance, or the price, of a column's word.
template <bool REFINE> __device__ __forceinline__ i64 label(const State& s, u64 word) { return REFINE ? s.price(word) : s.distance(word); }

// lower gives column j the label x by a row, if it is less than the present one, and puts the
// owner on step t. word: the column's, as read.
template <bool REFINE> __device__ __forceinline__ void lower(const State& s, Queue& q, u32 t, u32 row, u32 j, i64 x, u64 word) {
    if (x >= label<REFINE>(s, word)) return;
    if (REFINE ? !s.fits(x) : x >= s.limit()) {
        s.control[CUT] = 1;
        return;
    }
    int owner = __ldcg(s.owner + j);
    i64 onward = __ldcg(s.onward + j);
    u64 old = atomicMin(&s.column[j].word, REFINE ? s.pack(x, row) : s.reach(x, row, j));
    if (label<REFINE>(s, old) <= x) return;
    if (owner >= 0) put(s, q, t, Entry{x + onward, (u32)owner, j});
    else if (old == NEVER) s.reached[count(s.control + REACHED)] = j;
}

// Visit is an entry with its row's list, a column or more a lane.
struct Visit {
    Entry e;
    bool live;  // whether the column from which the row was reached has the label still
    u32 col[DEPTH];
    i64 x[DEPTH];
    u64 word[DEPTH];

    template <bool REFINE> __device__ __forceinline__ void load(const State& s, const Entry& entry) {
        e = entry;
#pragma unroll
        for (u32 k = 0; k < DEPTH; k++) {
            u64 at = (u64)e.row * LIST + k * WARP + threadIdx.x % WARP;
            col[k] = __ldcg(s.listCol + at), x[k] = e.base + __ldcg(s.listCost + at);
        }
#pragma unroll
        for (u32 k = 0; k < DEPTH; k++) {
            const Column* c = s.column + (col[k] == NOBODY ? 0 : col[k]);
            if (!REFINE) x[k] = (x[k] - __ldcg(&c->v)) & s.grain;
            word[k] = __ldcg(&c->word);
        }
        live = e.from == NOBODY || label<REFINE>(s, __ldcg(&s.column[e.from].word)) + __ldcg(s.onward + e.from) == e.base &&
                                       (!REFINE || __ldcg(s.owner + e.from) == (int)e.row);
    }

    template <bool REFINE> __device__ __forceinline__ void relax(const State& s, Queue& q, u32 t, i64 bound) const {
        if (!live) return;
#pragma unroll
        for (u32 k = 0; k < DEPTH; k++)
            if (col[k] != NOBODY && (REFINE || x[k] < bound)) lower<REFINE>(s, q, t, e.row, col[k], x[k], word[k]);
    }
};

// visitAll takes the owners of all columns for the entries of a step, and puts others on step t.
template <bool REFINE> __device__ void visitAll(const State& s, Queue& q, u32 t, i64 bound) {
    for (u32 j = threadIdx.x / WARP * s.searchers + blockIdx.x; j < s.n; j += WARPS * s.searchers) {
        int owner = __ldcg(s.owner + j);
        i64 d = label<REFINE>(s, __ldcg(&s.column[j].word));
        if (owner < 0 || !REFINE && d >= bound) continue;
        Visit visit;
        visit.load<REFINE>(s, Entry{d + __ldcg(s.onward + j), (u32)owner, j});
        visit.relax<REFINE>(s, q, t, bound);
    }
}

// nearest returns a distance within which m, and few more, of the first `reached` free columns
// lie: for m = 1 the least distance, else the largest of one of BLOCK bins, which are of the bin
// that holds the m-th until it has few more. A whole block calls.
__device__ i64 nearest(const State& s, u32 reached, u32 m) {
    __shared__ i64 low, high, answer, farthest[BLOCK];  // high and farthest are negated
    __shared__ u32 bin[BLOCK], part[WARPS], chosen, below, within;
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    auto distance = [&](u32 k) {
        u32 j = __ldcg(s.reached + k);
        return j == NOBODY ? FAR : s.distance(__ldcg(&s.column[j].word));  // NOBODY: another block has counted the column and will write
    };
    __syncthreads();
    if (threadIdx.x == 0) low = answer = FAR, high = 0, below = 0;
    i64 least = FAR, most = 0;
    for (u32 k = threadIdx.x; k < reached; k += BLOCK) {
        i64 d = distance(k);
        least = d < least ? d : least;
        if (d < FAR) most = -d < most ? -d : most;
    }
    least = warpLeast(least), most = warpLeast(most);
    __syncthreads();
    if (lane == 0) atomicMin(&low, least), atomicMin(&high, most);
    __syncthreads();
    least = low;
    if (m == 1 || least == FAR) return least;
    u32 bits = 64 - __clzll(-high - least);
    for (i64 from = least;;) {
        u32 shift = bits > LOG2<BLOCK> ? bits - LOG2<BLOCK> : 0, before = below;
        bin[threadIdx.x] = 0, farthest[threadIdx.x] = 0;
        if (threadIdx.x == 0) chosen = BLOCK;
        __syncthreads();
        for (u32 k = threadIdx.x; k < reached; k += BLOCK) {
            i64 d = distance(k), b = (d - from) >> shift;
            if (b < 0 || b >= BLOCK) continue;  // FAR, of another bin, or fallen meanwhile
            atomicAdd(bin + b, 1u);
            atomicMin(farthest + b, -d);
        }
        __syncthreads();
        u32 here = bin[threadIdx.x], up = here;
#pragma unroll
        for (u32 d = 1; d < WARP; d <<= 1) {
            u32 x = __shfl_up_sync(ALL, up, d);
            if (lane >= d) up += x;
        }
        if (lane == WARP - 1) part[warp] = up;
        __syncthreads();
        up += before;
        for (u32 w = 0; w < warp; w++) up += part[w];
        if (up >= m && up - here < m) answer = -farthest[threadIdx.x], chosen = threadIdx.x, below = up - here, within = up;
        __syncthreads();
        if (chosen == BLOCK || within <= m + m / 8 || shift == 0) return answer;
        from += (i64)chosen << shift, bits = shift;
        __syncthreads();
    }
}

// tighten lowers the bound to the distance of the m-th free column, once m are reached.
// Distances may fall while it reads them; the bound is then too high, and the search only
// takes longer. A whole block calls.
__device__ void tighten(const State& s, u32 m) {
    __shared__ u32 reached;
    __syncthreads();
    if (threadIdx.x == 0) reached = (u32)acquire(s.control + REACHED);
    __syncthreads();
    if (reached < m) return;
    i64 d = nearest(s, reached, m);
    if (threadIdx.x == 0 && d + 1 < (i64)__ldcg(s.control + BOUND)) *(volatile u64*)(s.control + BOUND) = (u64)(d + 1);
}

// watch lowers the bound while the other blocks search.
__device__ void watch(const State& s, u32 m) {
    __shared__ u32 over;
    for (;;) {
        if (threadIdx.x == 0)
            do over = (u32)acquire(s.control + OVER);
            while (!over && (u32)acquire(s.control + REACHED) < m);
        __syncthreads();
        if (over) return;
        tighten(s, m);
        __syncthreads();
    }
}

// grow takes step after step, from the entries of step t on, until none is left, or until step
// `most`; it reports whether none is left. In a step a block relaxes the lists of the rows that it
// has reached in the step before, and of its part of the rows that blocks have shared; loads of
// its own overlap with the wait for the others, but in the first step, while others may still be
// making lists. after: what blocks do together after a step.
template <bool REFINE, class After> __device__ bool grow(const State& s, Queue& q, u32& t, u32 most, i64 least, u32 m, GridSum& sum, After after) {
    u32 slot = threadIdx.x / WARP;
    for (bool early = false;; t++, early = true) {
        u32 side = t % 2, filled = q.filled[side], mine = filled < SLOTS ? filled : SLOTS;
        if (filled > SLOTS) share(s, q, t);
        if (threadIdx.x == WAITER) {
            q.filled[side ^ 1] = 0;
            sum.arrive(filled > SLOTS ? filled + SHARED : filled);
            q.bound = REFINE ? 0 : (i64)__ldcg(s.control + BOUND);
        }
        Visit visits[EACH];
        auto loadOwn = [&] {
#pragma unroll
            for (u32 k = 0; k < EACH; k++)
                if (slot + k * WARPS < mine) visits[k].load<REFINE>(s, q.own[side][slot + k * WARPS]);
        };
        if (early) loadOwn();
        if (threadIdx.x == WAITER) q.sum = sum.wait();
        __syncthreads();
        if (!early) loadOwn();
        u32 entries = q.sum;
        if (entries == 0 || t >= most) return entries == 0;
        i64 bound = q.bound < least ? q.bound : least;
        u32 others = entries >= SHARED ? load(s.control + LISTED + t % 3) : 0;
        if (thread() == 0) s.control[LISTED + (t + 2) % 3] = 0;
#pragma unroll
        for (u32 k = 0; k < EACH; k++)
            if (slot + k * WARPS < mine) visits[k].relax<REFINE>(s, q, t + 1, bound);
        if (others > QUEUED * s.n) visitAll<REFINE>(s, q, t + 1, bound), others = 0;
        for (u32 at = (slot + SLOTS - mine) % WARPS * s.searchers + blockIdx.x; at < others; at += WARPS * s.searchers) {
            visits[0].load<REFINE>(s, load(s.entry + (u64)(t % 3) * QUEUED * s.n + at));
            visits[0].relax<REFINE>(s, q, t + 1, bound);
        }
        __threadfence();
        __syncthreads();
        if (!REFINE && gridDim.x == 1 && t % 4 == 3) tighten(s, m);
        if (REFINE && t % OFTEN == OFTEN - 1) after();
    }
}

// readNear reads the rows that a search has reached so near that columns outside their lists may
// be within the bound, and relaxes all pairs of these rows; it returns how many rows. turn counts
// its calls. free: how many rows of `list` are free.
template <bool REFINE, bool EXACT> __device__ u32 readNear(const State& s, Queue& q, u32 t, u32 turn, const u32* list, u32 free, i64 bound, GridSum& sum) {
    u64* counter = s.control + NEEDED + turn % 2;
    auto look = [&](u32 row, i64 base, u32 from) {
        if ((base + __ldcg(s.thr + row) & s.grain) < bound && base < __ldcg(s.full + row)) s.need[count(counter)] = Entry{base, row, from};
    };
    u32 step = s.searchers * BLOCK;
    for (u32 j = thread(); j < s.n; j += step) {
        int owner = __ldcg(s.owner + j);
        i64 d = label<REFINE>(s, __ldcg(&s.column[j].word));
        if (owner >= 0 && (REFINE || d < bound)) look((u32)owner, d + __ldcg(s.onward + j), j);
    }
    for (u32 k = thread(); k < free; k += step) look(__ldcg(list + k), __ldcg(s.base + k), NOBODY);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == WAITER) sum.arrive(0), q.sum = sum.wait(), q.place = load(counter);
    __syncthreads();
    u32 rows = q.place;
    if (thread() == 0) s.control[NEEDED + (turn + 1) % 2] = 0;
    if (rows == 0) return 0;
    readRows<EXACT>(
        s, s.searchers, rows,
        [&](const Entry& e, u32 j, i64 cost, i64 key) {
            i64 x = e.base + key & s.grain;
            if (x < bound) lower<REFINE>(s, q, t, e.row, j, REFINE ? e.base + cost : x, __ldcg(&s.column[j].word));
        },
        [&](u32, const Entry& e, i64) {
            if (threadIdx.x % WARP == 0) s.full[e.row] = e.base;
        });
    __threadfence();
    __syncthreads();
    return rows;
}

}  // namespace VARIANT
