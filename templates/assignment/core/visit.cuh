// The expansion of a row in a search by all blocks.
#include "cuda/variant.cuh"

namespace VARIANT {

// Arcs holds a lane's edges of a chunk: their columns, the distances over them, and the columns' words as read.
struct Arcs {
    i64 next;  // chunk
    int col[ITEMS];
    u64 x[ITEMS], word[ITEMS];

    // load reads a chunk of a row whose distance is d.
    __device__ __forceinline__ void load(const State& s, i64 chunk, u64 d) {
        next = __ldcg(s.next + chunk);
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u64 e = chunk * K + k * LANES + threadIdx.x % LANES;
            col[k] = __ldcg(s.col + e), x[k] = d + (u64)__ldcg(s.rest + e);
        }
    }
    __device__ __forceinline__ void look(const State& s) {
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) word[k] = __ldcg(s.word + max(col[k], 0));
    }
};

// Visit is a row of a list, with its first two chunks.
struct Visit {
    u64 row, d, label;  // d: the entry's distance; label: the word of the row's column, whose distance is less than d in an outdated entry
    bool live;          // d is within the bound
    Arcs arcs[2];

    __device__ __forceinline__ void load(const State& s, u64 e, u64 bound) {
        row = e & s.none(), d = e >> s.shift, live = d < bound;
        if (!live) return;
        int j = __ldcg(s.match + row);
        arcs[0].load(s, (i64)row, d);
        if (arcs[0].next >= 0) arcs[1].load(s, arcs[0].next, d);
        arcs[0].look(s);
        if (arcs[0].next >= 0) arcs[1].look(s);
        label = j < 0 ? 0 : __ldcg(s.word + j);
    }

    // shorten relaxes edges: it lowers the distances of the columns that the edges lead to,
    // and appends the owners of these columns to list t+1. The compare-and-swap returns a
    // word that has changed since it was read, and shorten tries again.
    __device__ __forceinline__ void shorten(const State& s, const Everyone& threadGroup, u64 t, const Arcs& a, u64 bound) const {
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            if (a.col[k] < 0) continue;
            if (a.x[k] >= bound) {
                if (a.x[k] >= s.limit()) s.control[CUT] = 1;
                continue;
            }
            u64 old = a.word[k];
            if (a.x[k] >= old >> s.shift) continue;
            int owner = __ldcg(s.owner + a.col[k]);
            while (a.x[k] < old >> s.shift) {
                u64 was = atomicCAS(s.word + a.col[k], old, a.x[k] << s.shift | row);
                if (was == old) {
                    if (owner >= 0) threadGroup.put(s, t, a.x[k] << s.shift | (u64)owner, nullptr);
                    else if (old == NEVER) s.reached[count(s.control + REACHED)] = a.col[k];
                    break;
                }
                old = was;
            }
        }
    }

    __device__ __forceinline__ void relax(const State& s, const Everyone& threadGroup, u64 t, u64 bound) {
        if (!live || label >> s.shift != d) return;
        shorten(s, threadGroup, t, arcs[0], bound);
        if (arcs[0].next < 0) return;
        shorten(s, threadGroup, t, arcs[1], bound);
        for (i64 chunk = arcs[1].next; chunk >= 0; chunk = arcs[0].next) {
            arcs[0].load(s, chunk, d);
            arcs[0].look(s);
            shorten(s, threadGroup, t, arcs[0], bound);
        }
    }
};

}  // namespace VARIANT
