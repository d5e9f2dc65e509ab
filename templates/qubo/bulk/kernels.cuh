// The entry points.
#include "cuda/variant.cuh"

namespace VARIANT {

// search continues every search for `flips` flips. In round 0 a search begins at x = 0,
// where the gains are the diagonal. mode: STOPS, end within 128 steps once
// control[STOP] is set; STOPPING, set control[STOP] once the target is met.
extern "C" __global__ void __launch_bounds__(param::block, RESIDENT)
ENTRY(search)(const char* rows, const Gain* diag, unsigned long long n, unsigned long long shift,
    Gain* gains, unsigned int* now, unsigned int* kept, long long* scores, const unsigned int* elites,
    long long* control, unsigned long long flips, unsigned long long stall, unsigned long long tenure,
    unsigned long long spread, unsigned long long seed, unsigned long long round, long long target,
    unsigned long long mode) {
    __shared__ SharedState sharedState;
    Cells c(rows, (u32)n, (u32)shift);
    u32 number = blockIdx.x / CLUSTER, searches = gridDim.x / CLUSTER;
    Search s = {sharedState, kept + (u64)number * RECORD, control, target, 0, -9223372036854775807ll - 1,
        (u32)stall, (u32)tenure, (u32)spread, (u32)mode};
    i64* score = scores + (u64)number * SCORES;
    gains += (u64)number * (SPAN * ITEMS);
    now += (u64)number * RECORD;
    openInboxes(sharedState);
    if (round == 0) c.begin(diag);
    else c.resume(gains, now), s.value = score[VALUE];
    episodes(c, s, elites, splitmix(splitmix(seed) + round * searches + number), flips);
    c.suspend(gains, now);
    if (self() == 0) {
        score[VALUE] = s.value, score[KEPT] = s.kept, score[MAKER] = s.maker;
        for (u32 k = 0; k < OPERATORS; k++) score[SPENT + k] = (i64)sharedState.spent[k];
    }
}

// gather offers the searches' bests, or migrants of other devices, to the pool, the largest
// value first, of equal values the lowest number. Elites differ in at least `distance`
// variables; at most `most` candidates are offered. One block.
extern "C" __global__ void __launch_bounds__(JUDGES)
ENTRY(gather)(const unsigned int* kept, long long* scores, unsigned int* elites, long long* control,
    unsigned long long searches, unsigned long long pool, unsigned long long distance, unsigned long long most) {
    gather(kept, scores, elites, control, (u32)searches, (u32)pool, (u32)distance, (u32)most);
}

}  // namespace VARIANT
