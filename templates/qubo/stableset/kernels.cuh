// The entry point.
#include "cuda/variant.cuh"

namespace VARIANT {

// walk makes `steps` steps of every walk: walks of odd numbers search with penalties, others by tabu. sets are those that the walks
// have come to, tops the largest of each, rows of `words` words; penalties has a row of `words` * 32 numbers a walk.
// mode: STOPS, end once control[STOP] is set; STOPPING, set it once a set has `target` vertices.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(walk)(const unsigned int* rows, unsigned long long n, unsigned long long words, unsigned int* sets, unsigned int* tops,
    unsigned short* penalties, long long* scores, long long* control, unsigned long long steps, unsigned long long seed,
    unsigned long long round, unsigned long long target, unsigned long long mode) {
    u64 walk = (u64)blockIdx.x * WARPS + threadIdx.x / WARP;
    u32 side = (u32)words * WARP;
    COALESCE_DYNAMIC_SHARED(u32, room);  // a walk's stamps and ring, or penalties
    u32* own = room + threadIdx.x / WARP * (side + RING / 2);
    Graph g = {rows, (u32)n, (u32)words};
    Random random(splitmix(seed) + splitmix(round << 32 | walk));
    i64* score = scores + walk * SCORES;
    u32 top = (u32)score[TOP];
    Set set;
    set.clear(), set.moved = 0;
    for (u32 w = 0; w < g.words; w++)
        for (u32 bits = sets[walk * words + w]; bits != 0; bits &= bits - 1) {
            u32 v = w * WARP + (u32)__ffs((int)bits) - 1;
            set.add(v, g.row(v));
        }
    set.moved = 0;
    bool tabu = walk % 2 == 0;
    Swaps swaps = {own, (unsigned short*)(own + side)};
    Penalties pen = {(unsigned short*)own};
    unsigned short* kept = penalties + walk * side;
    if (tabu) {
        swaps.begin(side);
    } else {
        pen.begin((u32)score[DELAY]);
        for (u32 i = lane(); i < side; i += WARP) pen.penalty[i] = kept[i];
        __syncwarp();
    }
    for (u64 k = 0; k < steps; k++) {
        if (k % LOOK == 0 && mode & STOPS && __shfl_sync(ALL, (u32) * (volatile i64*)&control[STOP], 0) != 0) break;
        if (tabu) swaps.step(set, g, random);
        else pen.step(set, g, random);
        if (set.size <= top) continue;
        top = set.size;
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++)
            if (e * WARP + lane() < g.words) tops[walk * words + e * WARP + lane()] = set.in.word[e];
        if (lane() == 0 && mode & STOPPING && top >= target) control[STOP] = 1;
    }
#pragma unroll
    for (u32 e = 0; e < ITEMS; e++)
        if (e * WARP + lane() < g.words) sets[walk * words + e * WARP + lane()] = set.in.word[e];
    if (!tabu)
        for (u32 i = lane(); i < side; i += WARP) kept[i] = pen.penalty[i];
    if (lane() == 0) {
        score[TOP] = (i64)top, score[MOVED] = (i64)set.moved;
        if (!tabu) score[DELAY] = (i64)pen.delay;
    }
}

}  // namespace VARIANT
