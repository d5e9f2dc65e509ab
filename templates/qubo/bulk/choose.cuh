// The arg-max over the gains of a search: first each warp's, then that of all warps.
#include "cuda/variant.cuh"

namespace VARIANT {

// Search is the state of a search, equal in all of its threads.
struct Search {
    SharedState& sharedState;
    u32* record;  // the best x of this launch
    i64* control;
    i64 target, value, kept;  // kept: the value of record
    u32 stall, tenure, spread, mode;
    u32 turn, maker, random;
    bool stop;
};

// pick returns one lane of a set: the first at or after a random lane, so that no
// variable wins all ties.
__device__ __forceinline__ u32 pick(u32 set, u32 random) {
    u32 turn = random >> 27;
    return ((u32)__ffs((int)__funnelshift_r(set, set, turn)) - 1 + turn) % WARP;
}

// meet replaces a warp's best key and its place, which lane `who` has, by those of the
// whole search.
__device__ __forceinline__ void meet(Search& s, Key& best, u32& place, u32 who);

// choose returns the best flip of all variables that are not locked and, if ASPIRE, of
// locked variables whose gain is at least `need`.
template <bool ASPIRE> __device__ __forceinline__ Pick choose(const Cells& c, Search& s, i64 need) {
    Cells::Look look;
    Key mine = c.top<ASPIRE>(look, need), best = warpReduce(mine);
    u32 who = pick(__ballot_sync(ALL, mine == best), s.random), item = 0;
    if (KEYED || lane() == who) item = c.find(look);  // free where keys hold their items, else a search, which only lane `who` makes
    u32 word = c.x[0];
#pragma unroll
    for (u32 w = 1; w < WORDS; w++) word = item < 32 * w ? word : c.x[w];
    u32 place = self() << 8 | item << 1 | (word >> item % 32 & 1);
    meet(s, best, place, who);
    return {c.gain(best), place >> 8, place >> 1 & 127, place & 1, c.locked(best)};
}

}  // namespace VARIANT
