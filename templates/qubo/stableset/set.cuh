// A stable set, the counts of its neighbours, and its moves.
#include "cuda/variant.cuh"

namespace VARIANT {

// Places are the vertices outside a set by how many neighbours they have in it: none, one or two.
struct Places {
    List free, single, twice;
};

struct Set {
    List in;
    u32 plane[ITEMS][DEPTH];  // bit d of a vertex's count of neighbours is in plane d
    u32 size;
    u64 moved;  // vertices that entered or left
    __device__ __forceinline__ void clear() {
        in.clear(), size = 0;
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++)
#pragma unroll
            for (u32 d = 0; d < DEPTH; d++) plane[e][d] = 0;
    }
    // add lets v enter, whose row has no member of the set.
    __device__ __forceinline__ void add(u32 v, const List& row) {
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++) {
            u32 carry = row.word[e];
#pragma unroll
            for (u32 d = 0; d < DEPTH; d++) {
                u32 was = plane[e][d];
                plane[e][d] = was ^ carry, carry &= was;
            }
        }
        in.set(v, true), size++, moved++;
    }
    // remove lets v leave.
    __device__ __forceinline__ void remove(u32 v, const List& row) {
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++) {
            u32 borrow = row.word[e];
#pragma unroll
            for (u32 d = 0; d < DEPTH; d++) {
                u32 was = plane[e][d];
                plane[e][d] = was ^ borrow, borrow &= ~was;
            }
        }
        in.set(v, false), size--, moved++;
    }
    // member finds a vertex of the set in a row; false where there is none.
    __device__ __forceinline__ bool member(const List& row, u32& v) const {
        u32 w = 0, at = 0;
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++) {
            u32 both = row.word[e] & in.word[e];
            if (both != 0) w = both, at = e;
        }
        u32 lanes = __ballot_sync(ALL, w != 0);
        if (lanes == 0) return false;
        v = __shfl_sync(ALL, (at * WARP + lane()) * WARP + (u32)__ffs((int)w) - 1, __ffs((int)lanes) - 1);
        return true;
    }
    // places lists the vertices that are not in except by their neighbours.
    __device__ __forceinline__ Places places(const Graph& g, const List& except, bool freeToo) const {
        Places p;
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++) {
            u32 many = 0;
#pragma unroll
            for (u32 d = 2; d < DEPTH; d++) many |= plane[e][d];
            u32 outside = g.within(e * WARP + lane()) & ~in.word[e] & ~many, one = plane[e][0], two = plane[e][1];
            p.free.word[e] = outside & ~one & ~two & (freeToo ? ALL : ~except.word[e]);
            p.single.word[e] = outside & one & ~two & ~except.word[e];
            p.twice.word[e] = outside & two & ~one & ~except.word[e];
        }
        return p;
    }
    // others lists the vertices outside the set.
    __device__ __forceinline__ List others(const Graph& g) const {
        List l;
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++) l.word[e] = g.within(e * WARP + lane()) & ~in.word[e];
        return l;
    }
    // enter lets v enter and its neighbours leave; left is called with each of these.
    template <class Left> __device__ __forceinline__ void enter(const Graph& g, u32 v, Left left) {
        List row = g.row(v);
        u32 u;
        while (member(row, u)) remove(u, g.row(u)), left(u);
        add(v, row);
    }
};

}  // namespace VARIANT
