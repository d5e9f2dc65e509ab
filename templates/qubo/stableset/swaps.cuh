// Tabu search among exchanges: swaps.go of package stableset has the rules.
#include "cuda/variant.cuh"

namespace VARIANT {

struct Swaps {
    u32* stamp;           // of a vertex: the step in which it moved last
    unsigned short* ring; // the vertex whose tabu ends in a step, or EMPTY
    List tabu;
    u32 now;
    __device__ __forceinline__ void begin(u32 side) {
        tabu.clear(), now = 0;
        for (u32 i = lane(); i < side; i += WARP) stamp[i] = 0;
        for (u32 i = lane(); i < RING; i += WARP) ring[i] = EMPTY;
        __syncwarp();
    }
    // expire ends the tabu of this step.
    __device__ __forceinline__ void expire() {
        u32 v = ring[now % RING];
        if (v == EMPTY) return;
        tabu.set(v, false);
        __syncwarp();  // all lanes have read the ring
        if (lane() == 0) ring[now % RING] = EMPTY;
    }
    // forbid makes a vertex tabu for about so many steps; not where the ring is full there.
    __device__ __forceinline__ void forbid(u32 v, u32 steps) {
        for (u32 t = now + steps, k = 0; k < 8; t++, k++) {
            if (ring[t % RING] != EMPTY) continue;
            __syncwarp();
            if (lane() == 0) ring[t % RING] = (unsigned short)v;
            tabu.set(v, true);
            break;
        }
        __syncwarp();
    }
    __device__ __forceinline__ void stampNow(u32 v) {
        if (lane() == 0) stamp[v] = now;
        __syncwarp();
    }
    // oldest is the vertex of a list, which has some, that has not moved for longest.
    __device__ __forceinline__ u32 oldest(const List& list, u32 turn) const {
        u32 least = ALL, v = 0;
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++)
            for (u32 w = list.word[e]; w != 0; w &= w - 1) {
                u32 u = (e * WARP + lane()) * WARP + (u32)__ffs((int)w) - 1;
                if (stamp[u] < least) least = stamp[u], v = u;
            }
        return __shfl_sync(ALL, v, after(__ballot_sync(ALL, least == __reduce_min_sync(ALL, least)), turn));
    }
    __device__ __forceinline__ void step(Set& set, const Graph& g, Random& random) {
        now++;
        expire();
        Places p = set.places(g, tabu, true);
        u32 free = set.size < LIMIT ? p.free.any() : 0, v;
        if (free != 0) {
            v = p.free.draw(free, random);
            set.add(v, g.row(v)), stampNow(v);
            return;
        }
        u32 single = p.single.any(), twice = p.twice.any(), r = random.next(), span = 1;
        if (twice != 0 && (single == 0 || r < DOUBLES)) {
            v = p.twice.draw(twice, random);
        } else if (single != 0) {
#pragma unroll
            for (u32 e = 0; e < ITEMS; e++) span += (u32)__popc(p.single.word[e]);
            span = min(__reduce_add_sync(ALL, span) - (WARP - 1), RING - 2 * WARP);
            v = r % 16 < OLDEST ? oldest(p.single, r >> 27) : p.single.draw(single, random);
        } else {
            List others = set.others(g);
            u32 some = others.any();
            if (some == 0 || set.size >= LIMIT) return;
            v = others.draw(some, random);
        }
        set.enter(g, v, [&](u32 u) {
            forbid(u, TENURE + random.below(span));
            stampNow(u);
        });
        stampNow(v);
    }
};

}  // namespace VARIANT
