// barrier=grid and peers: steps of a persistent kernel.
#include "cuda/variant.cuh"
#include "cuda/barrier.cuh"

namespace VARIANT {

// run makes up to `most` steps, from the state that the last launch saved.
__device__ void run(Work& w, const Costs& c, bool warm, u64 most, GridBarrier barrier, Scratch& scratch) {
    Turn t = w.head->slot[3].turn;
    barrier.sync();  // all threads have read the state
    i64 from = clock64();
    while (step(w, c, t, warm, scratch)) {
        if (--most == 0) break;
        barrier.sync();
        if (!w.leads()) continue;
        i64 now = clock64();
        w.head->cycles[t.stage == SCANNED && t.whole == 0 ? SEARCH : t.stage] += now - from;
        from = now;
    }
    if (w.leads()) w.head->slot[3].turn = t;
    w.close();
}

}  // namespace VARIANT
