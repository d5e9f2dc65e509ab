// The passes over all pairs: the entry points that assignment/core has too.
#include "cuda/variant.cuh"

namespace VARIANT {

// minima sets v[j] to the least c - u of column j. The roles are exchanged: columns search
// the tiles of rows, and `peak` holds the largest u of each tile.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(minima)(
    const double* points, const double* tiles, const double* boxes, const long long* peak, unsigned long long cols,
    unsigned long long rows, unsigned long long dim, double scale, const long long* u, long long* v) {
    Cloud cloud = {points, tiles, boxes, peak, cols, rows, dim, scale, true};
    u64 warp = ((u64)blockIdx.x * BLOCK + threadIdx.x) / WARP, warps = (u64)gridDim.x * BLOCK / WARP;
    for (u64 j = warp * GROUP; j < cols; j += warps * GROUP) {
        Best best[GROUP];
        cloud.scan(j, u, SkipNone(), nullptr, best);
#pragma unroll
        for (u32 g = 0; g < GROUP; g++) {
            i64 least = warpLeast(best[g].key[0]);
            if (j + g < cols && threadIdx.x % WARP == 0) v[j + g] = least;
        }
    }
}

// peaks sets peak[t] to the largest v of tile t; stuck: of the columns that a
// search has not reached.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(peaks)(
    const long long* v, const unsigned long long* word, unsigned long long cols, unsigned long long stuck, long long* peak) {
    u64 j = (u64)blockIdx.x * BLOCK + threadIdx.x;
    i64 x = -2 * INFINITE;
    if (j < cols && !(stuck && word[j] != NEVER)) x = v[j];
    x = -warpLeast(-x);
    if (j < cols && threadIdx.x % WARP == 0) peak[j / WARP] = x;
}

// candidates, price and grow do the work of those of assignment/core.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(candidates)(
    const double* points, const double* tiles, const double* boxes, const long long* peak, unsigned long long rows,
    unsigned long long cols, unsigned long long dim, double scale, long long limit, const long long* v, int* col,
    long long* cost, int* next) {
    Cloud cloud = {points, tiles, boxes, peak, rows, cols, dim, scale, false};
    rowCandidates<1>(cloud, rows, cols, limit, v, col, cost, next);
}

extern "C" __global__ void __launch_bounds__(param::block) ENTRY(price)(
    const double* points, const double* tiles, const double* boxes, const long long* peak, unsigned long long rows,
    unsigned long long cols, unsigned long long dim, double scale, long long* u, const long long* v, int* match, int* owner,
    int* col, long long* cost, int* next, unsigned long long* control, unsigned long long pool) {
    Cloud cloud = {points, tiles, boxes, peak, rows, cols, dim, scale, false};
    pricing<false>(cloud, rows, u, v, match, owner, nullptr, col, cost, next, control, pool);
}

extern "C" __global__ void __launch_bounds__(param::block) ENTRY(grow)(
    const double* points, const double* tiles, const double* boxes, const long long* peak, unsigned long long rows,
    unsigned long long cols, unsigned long long dim, double scale, long long* u, const long long* v, int* match, int* owner,
    const unsigned long long* word, int* col, long long* cost, int* next, unsigned long long* control,
    unsigned long long pool) {
    Cloud cloud = {points, tiles, boxes, peak, rows, cols, dim, scale, false};
    pricing<true>(cloud, rows, u, v, match, owner, word, col, cost, next, control, pool);
}

}  // namespace VARIANT
