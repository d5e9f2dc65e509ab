// slack=recomputed or stored: a dual update reads all rows of the forest.
#include "cuda/variant.cuh"

namespace VARIANT {

// Finds and made are empty here. With slack=bounded the search for the least slack stores
// Finds in shared memory, and made computes new zeros from the hits.
struct Finds {};
// Room is a block's shared memory for sets and frontier rows.
template <u32 WORDS> struct Room {
    alignas(8) u32 pool[WORDS];
};
template <class F> __device__ __forceinline__ void made(const Work&, i64, u64, Team, F) {}

// minimum scans the first `tail` rows of the queue for the least slack, before dual update
// number `update`, and stores which columns are covered. The block's shared state is used
// with slack=bounded alone.
template <class S> __device__ void minimum(const Work& m, u32 side, u32 tail, u64 update, S&, Team team) {
    for (u32 w = team.thread; w < m.words; w += team.threads) m.covered[w] = m.reached[w];
    const u32* queue = m.queue(side);
    bool narrow = m.ctl->bound < NARROW;
    if constexpr (STORED) {
        Stored value;
        if (m.wide) scan<false, i64>(m, queue, tail, (const i64*)m.stored, m.pitch, value, true, update, team);
        else if (narrow) scan<false, u32>(m, queue, tail, (const u32*)m.stored, m.pitch, value, true, update, team);
        else scan<false, i64>(m, queue, tail, (const u32*)m.stored, m.pitch, value, true, update, team);
    } else {
        if (narrow) scan<false, u32>(m, queue, tail, m.costs, m.cols, m.scale, m.aligned, update, team);
        else scan<false, i64>(m, queue, tail, m.costs, m.cols, m.scale, m.aligned, update, team);
    }
}

}  // namespace VARIANT
