// Steps: a walk through the variables that are not locked, or tabu search.
#include "cuda/variant.cuh"

namespace VARIANT {

// keep stores x as the best of this launch so far.
__device__ __forceinline__ void keep(const Cells& c, Search& s, u32 maker) {
    s.kept = s.value, s.maker = maker;
#pragma unroll
    for (u32 w = 0; w < WORDS; w++) s.record[w * SPAN + self()] = c.x[w];
    if (s.kept >= s.target && (s.mode & STOPPING)) {
        s.stop = true;
        if (self() == 0) *(volatile i64*)(s.control + STOP) = 1;
    }
}

// walk makes at most `most` steps, each the best flip allowed, and returns their
// number. A flipped variable stays locked to the end of the walk; in a tabu search it
// stays locked until more variables than the tenure, which changes at random every 16
// steps, are locked after it. A tabu search also allows a locked flip that leads to a
// new best (aspiration), and ends after `stall` steps without a new best.
template <bool TABU> __device__ __forceinline__ u32 walk(Cells& c, Search& s, u32 most, u32 maker) {
    i64 top = s.value;
    u32 since = 0, first = 0, length = 0, wanted = s.tenure, step = 0;
    for (; step < most && !s.stop && !(TABU && since >= s.stall); step++) {
        Pick p = choose<TABU>(c, s, top - s.value + 1);
        if (p.locked) break;
        if (p.gain <= 0 && s.value > s.kept) keep(c, s, maker);
        typename Cells::Row row;
        c.fetch(row, Cells::column(p.thread, p.item));
        if (TABU) {
            if (step % 16 == 0) {
                s.random = s.random * 1664525u + 1013904223u;
                wanted = s.tenure + __umulhi(s.random, s.spread);
            }
#pragma unroll
            for (u32 k = 0; k < 2; k++)
                if (length > wanted) {
                    u32 old = s.sharedState.ring[first % RING];
                    first++, length--;
                    if (old >> 7 == self()) c.unlock(old & 127);
                }
            if (threadIdx.x == 0) s.sharedState.ring[(first + length) % RING] = p.thread << 7 | p.item;
            length++;
        }
        if (p.thread == self()) c.flip(p.item, p.gain);
        c.apply(row, p.on);
        s.value += p.gain;
        since++;
        if (s.value > top) top = s.value, since = 0;
        if ((s.mode & STOPS) && step % 128 == 127)
            s.stop |= any(s, self() == 0 && *(volatile i64*)(s.control + STOP) != 0);
    }
    if (s.value > s.kept) keep(c, s, maker);
    return step;
}

}  // namespace VARIANT
