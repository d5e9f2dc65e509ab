// Dynamic local search with penalties: penalties.go of package stableset has the rules.
#include "cuda/variant.cuh"

namespace VARIANT {

struct Penalties {
    unsigned short* penalty;
    List used, first;
    bool begun;
    u32 last, delay, phases;  // last: the vertex that entered last in this phase, or ALL
    __device__ __forceinline__ void begin(u32 d) {
        used.clear(), first.clear();
        begun = false, last = ALL, delay = d, phases = 0;
    }
    // least draws among the vertices of the least penalty of a list that has some.
    __device__ __forceinline__ u32 least(const List& list, Random& random) const {
        u32 best = ALL, v = 0, salt = random.next() ^ lane() * 0x9e3779b9u;
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++)
            for (u32 w = list.word[e]; w != 0; w &= w - 1) {
                u32 u = (e * WARP + lane()) * WARP + (u32)__ffs((int)w) - 1;
                salt = salt * 1664525u + 1013904223u;
                u32 key = (u32)penalty[u] << 16 | salt >> 16;
                if (key < best || best == ALL) best = key, v = u;
            }
        return __shfl_sync(ALL, v, __ffs((int)__ballot_sync(ALL, best == __reduce_min_sync(ALL, best))) - 1);
    }
    __device__ __forceinline__ void enter(Set& set, const Graph& g, u32 v) {
        set.enter(g, v, [](u32) {});
        used.set(v, true), last = v;
    }
    __device__ __forceinline__ void step(Set& set, const Graph& g, Random& random) {
        Places p = set.places(g, used, false);
        u32 free = set.size < LIMIT ? p.free.any() : 0, single = p.single.any();
        if (free != 0) {
            begun = false;
            enter(set, g, least(p.free, random));
            return;
        }
        if (!begun) {
            first = set.in, begun = true;
        } else {
            u32 common = 0;
#pragma unroll
            for (u32 e = 0; e < ITEMS; e++) common |= first.word[e] & set.in.word[e];
            if (!__any_sync(ALL, common != 0)) single = 0;
        }
        if (single != 0) enter(set, g, least(p.single, random));
        else endPhase(set, g, random);
    }
    // endPhase penalizes the set and begins another phase.
    __device__ __forceinline__ void endPhase(Set& set, const Graph& g, Random& random) {
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++)
            for (u32 w = set.in.word[e]; w != 0; w &= w - 1) {
                unsigned short& of = penalty[(e * WARP + lane()) * WARP + (u32)__ffs((int)w) - 1];
                if (of < 0x7fff) of++;
            }
        __syncwarp();
        if (++phases >= delay) lower(g);
        used.clear(), begun = false;
        if (delay > 1) {
            u32 v = last == ALL ? random.below(g.n) : last;
            set.clear();
            set.add(v, g.row(v));
        } else {
            List others = set.others(g);
            u32 some = others.any();
            if (some != 0 && set.size < LIMIT) set.enter(g, others.draw(some, random), [](u32) {});
        }
        last = ALL;
    }
    // lower lowers all penalties, and sets the delay so that the share PENALIZED has one.
    __device__ __forceinline__ void lower(const Graph& g) {
        u32 count = 0;
        for (u32 i = lane(); i < g.n; i += WARP) {
            u32 q = penalty[i];
            if (q > 0) penalty[i] = (unsigned short)(q - 1);
            count += q > 1;
        }
        phases = 0, count = __reduce_add_sync(ALL, count);
        if ((float)count < PENALIZED * (float)g.n) delay++;
        else if (delay > 1) delay--;
        __syncwarp();
    }
};

}  // namespace VARIANT
