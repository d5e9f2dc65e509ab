// The steps of a solve by prices of points: entry points of this family alone.
#include "cuda/variant.cuh"

namespace VARIANT {

// know writes the first chunk of every row and its bound, and sums in GAPS the differences
// of each row's fourth and first c - v.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(know)(
    const double* points, const double* tiles, const double* boxes, const long long* peak, unsigned long long rows,
    unsigned long long cols, unsigned long long dim, double scale, const long long* v, int* col, long long* cost, int* next,
    long long* bound, unsigned long long* control) {
    Cloud cloud = {points, tiles, boxes, peak, rows, cols, dim, scale, false};
    Lists lists = {col, cost, bound};
    u64 warp = ((u64)blockIdx.x * BLOCK + threadIdx.x) / WARP, warps = (u64)gridDim.x * BLOCK / WARP, gaps = 0;
    for (u64 row = warp; row < rows; row += warps) {
        gaps += (u64)know(cloud, v, lists, row);
        if (threadIdx.x % WARP == 0) next[row] = -1;
    }
    if (gaps && threadIdx.x % WARP == 0) atomicAdd(control + GAPS, gaps);
}

// open packs the prices into words, with all columns free.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(open)(
    const long long* v, unsigned long long* word, unsigned long long cols, unsigned long long shift, unsigned long long* control) {
    u64 j = (u64)blockIdx.x * BLOCK + threadIdx.x;
    Words words = {word, (u32)shift};
    if (j < cols) word[j] = words.pack(v[j], words.none());
    if (j == 0) control[QUEUE] = 0, control[SPENT] = 0;
}

// bid runs one auction (see auction); span is the largest difference of costs.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(bid)(
    const double* points, const double* tiles, const double* boxes, const long long* peak, unsigned long long rows,
    unsigned long long cols, unsigned long long dim, double scale, unsigned long long* word, unsigned long long shift, int* col,
    long long* cost, long long* bound, long long epsilon, long long span, unsigned long long hops, unsigned long long most,
    unsigned long long* control) {
    Cloud cloud = {points, tiles, boxes, peak, rows, cols, dim, scale, false};
    Words words = {word, (u32)shift};
    Lists lists = {col, cost, bound};
    auction(cloud, words, lists, epsilon, span, hops, most, control);
}

// shut unpacks the words into prices and the matching; match is -1 everywhere before.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(shut)(
    const unsigned long long* word, unsigned long long cols, unsigned long long shift, long long* v, int* match, int* owner) {
    u64 j = (u64)blockIdx.x * BLOCK + threadIdx.x;
    if (j >= cols) return;
    Words words = {(u64*)word, (u32)shift};
    u64 w = word[j], row = w & words.none();
    v[j] = words.price(w);
    owner[j] = row == words.none() ? -1 : (int)row;
    if (row != words.none()) match[row] = (int)j;
}

// refine makes matched pairs tight (see refine above); times is 0 everywhere before.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(refine)(
    const double* points, const double* tiles, const double* boxes, const long long* peak, unsigned long long rows,
    unsigned long long cols, unsigned long long dim, double scale, int* col, long long* cost, long long* bound, long long* v,
    int* match, int* owner, int* times, unsigned long long turns, unsigned long long sweeps, unsigned long long* control) {
    Cloud cloud = {points, tiles, boxes, peak, rows, cols, dim, scale, false};
    Lists lists = {col, cost, bound};
    GridBarrier barrier((u32*)(control + BARRIER));
    refine(cloud, lists, v, match, owner, times, (u32)turns, sweeps, control, barrier);
}

// fit sets u[i] to the least c - v of row i; a row whose matched pair is dearer loses its
// column.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(fit)(
    const double* points, const double* tiles, const double* boxes, const long long* peak, unsigned long long rows,
    unsigned long long cols, unsigned long long dim, double scale, int* col, long long* cost, long long* bound,
    const long long* v, long long* u, int* match, int* owner) {
    Cloud cloud = {points, tiles, boxes, peak, rows, cols, dim, scale, false};
    Lists lists = {col, cost, bound};
    u64 warp = ((u64)blockIdx.x * BLOCK + threadIdx.x) / WARP, warps = (u64)gridDim.x * BLOCK / WARP;
    for (u64 row = warp; row < rows; row += warps) {
        i64 least = leastKnown(lists, v, row);
        if (least > bound[row]) know(cloud, v, lists, row), least = leastKnown(lists, v, row);
        int j = match[row];
        bool loose = j >= 0 && cloud.cost(row, j) - v[j] > least;
        __syncwarp();
        if (threadIdx.x % WARP != 0) continue;
        u[row] = least;
        if (loose) match[row] = -1, owner[j] = -1;
    }
}

}  // namespace VARIANT
