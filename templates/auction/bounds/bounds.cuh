// Upper bounds of the children of a branch-and-cut node, by restarted primal-dual hybrid gradients. See package bounds.
#include "cuda/variant.cuh"
#include "cuda/shared.cuh"

namespace VARIANT {

using namespace coalesce;

constexpr u32 BLOCK = param::block;
constexpr u32 LANES = param::lanes;       // lanes that sum a row or a column together
constexpr u32 GROUPS = BLOCK / LANES;
constexpr u32 EVERY = 20;             // steps between two evaluations of the bound
constexpr float STRIDE = 0.998f;      // step length, as a share of the longest for which convergence is proven

// List holds, for each row of a sparse matrix, its columns, or for each column its rows.
struct List { const u32* start; const unsigned short* at; };

// sum returns, to all lanes of a group, the sum of value over the members of list entry i; 0 unless `there`.
__device__ __forceinline__ float sum(const List& list, u32 i, bool there, const float* value) {
    float s = 0;
    if (there) for (u32 k = list.start[i] + threadIdx.x % LANES, end = list.start[i + 1]; k < end; k += LANES) s += value[list.at[k]];
    for (u32 d = LANES / 2; d > 0; d >>= 1) s += __shfl_xor_sync(ALL, s, d);
    return s;
}

// averaged returns the next point: the reflected step, averaged with the point of the last restart (Halpern).
__device__ __forceinline__ float averaged(float reflected, float anchor, float keep) { return keep * reflected + (1 - keep) * anchor; }

// Sums of an evaluation: the dual bound, the step's squared length, squared distances from the last restart.
enum { BOUND, MOVED, FAR_X, FAR_Y, SUMS };

// addUp replaces each thread's sums by those of the block.
__device__ __forceinline__ void addUp(float* mine, float (*room)[SUMS]) {
    for (u32 q = 0; q < SUMS; q++) {
        for (u32 d = WARP / 2; d > 0; d >>= 1) mine[q] += __shfl_xor_sync(ALL, mine[q], d);
        if (threadIdx.x % WARP == 0) room[threadIdx.x / WARP][q] = mine[q];
    }
    __syncthreads();
    for (u32 q = 0; q < SUMS; q++) {
        mine[q] = 0;
        for (u32 w = 0; w < BLOCK / WARP; w++) mine[q] += room[w][q];
    }
}

// bound makes at most `steps` steps for each child; a block computes one child. words holds, in
// order, the start of each row's columns, the start of each column's rows, and for each child a bit
// a column; lists the rows' columns and the columns' rows; reals the columns' prices, the rows'
// limits, the first point x and y, the primal weight, and for each child a bound at which to stop.
// prices receives, for each child, the rows' dual prices and the bound that these prove.
// Dynamic shared memory: 16 bytes a column and 16 a row.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(bound)(const unsigned* words, const unsigned short* lists, const float* reals, float* prices,
        unsigned long long columns, unsigned long long rows, unsigned long long entries, unsigned long long steps) {
    COALESCE_DYNAMIC_SHARED(float, room);
    __shared__ float sums[BLOCK / WARP][SUMS];
    const u32 n = (u32)columns, m = (u32)rows;
    const List ofRow = {words, lists}, ofColumn = {words + m + 1, lists + entries};
    const u32* live = words + m + 1 + n + 1 + (u64)blockIdx.x * ((n + 31) / 32);
    const float *price = reals, *most = price + n, *beginX = most + m, *beginY = beginX + n;
    float *x = room, *x0 = x + n, *xb = x0 + n, *tau = xb + n;      // the point, that of the last restart, the step's x twice less the point's, a column's share of a step
    float *y = tau + n, *y0 = y + m, *ty = y0 + m, *sig = ty + m;   // the same, and the step's y
    const u32 group = threadIdx.x / LANES, leads = threadIdx.x % LANES == 0;
    float* best = prices + (u64)blockIdx.x * (m + 1);
    float weight = beginY[m], enough = beginY[m + 1 + blockIdx.x];
    for (u32 k = threadIdx.x; k < n; k += BLOCK) {
        bool there = live[k / 32] >> (k % 32) & 1;
        tau[k] = there ? 1.0f / (float)max(1u, ofColumn.start[k + 1] - ofColumn.start[k]) : 0.0f;
        x[k] = x0[k] = there ? beginX[k] : 0.0f;
        xb[k] = there ? 1.0f : 0.0f;
    }
    __syncthreads();
    for (u32 from = 0; from < m; from += GROUPS) {
        u32 i = from + group;
        float count = sum(ofRow, i, i < m, xb);
        if (i < m && leads) {
            sig[i] = count > 0 ? 1.0f / count : 0.0f;
            y[i] = y0[i] = count > 0 ? beginY[i] : 0.0f;
            ty[i] = best[i] = 0;
        }
    }
    float first = 0, last = 0, least = __int_as_float(0x7f800000);
    for (u32 step = 0, inner = 0; step < (u32)steps; step++) {  // inner: steps since the restart
        __syncthreads();  // y is there
        const bool look = step % EVERY == EVERY - 1 || inner == 0;
        inner++;
        const float keep = (float)inner / (float)(inner + 1);  // of the step; the rest is of the last restart
        for (u32 from = 0; from < n; from += GROUPS) {
            u32 k = from + group;
            bool there = k < n && tau[k] > 0;
            float prices = sum(ofColumn, k, there, y);
            if (!there || !leads) continue;
            float t = fminf(1.0f, fmaxf(0.0f, x[k] + STRIDE / weight * tau[k] * (price[k] - prices)));
            xb[k] = 2 * t - x[k];
            if (!look) x[k] = averaged(xb[k], x0[k], keep);
        }
        __syncthreads();
        for (u32 from = 0; from < m; from += GROUPS) {
            u32 i = from + group;
            bool there = i < m && sig[i] > 0;
            float taken = sum(ofRow, i, there, xb);
            if (!there || !leads) continue;
            float t = fmaxf(0.0f, y[i] + STRIDE * weight * sig[i] * (taken - most[i]));
            if (look) ty[i] = t;
            else y[i] = averaged(2 * t - y[i], y0[i], keep);
        }
        if (!look) continue;
        __syncthreads();
        float mine[SUMS] = {};
        for (u32 from = 0; from < n; from += GROUPS) {
            u32 k = from + group;
            bool there = k < n && tau[k] > 0;
            float prices = sum(ofColumn, k, there, ty);
            if (!there || !leads) continue;
            float half = (xb[k] - x[k]) / 2, far = x[k] + half - x0[k];  // half: the step's x less the point's
            mine[BOUND] += fmaxf(0.0f, price[k] - prices);
            mine[MOVED] += half * half * weight / tau[k];
            mine[FAR_X] += far * far / tau[k];
        }
        for (u32 i = threadIdx.x; i < m; i += BLOCK) {
            if (sig[i] == 0) continue;
            float by = ty[i] - y[i], far = ty[i] - y0[i];
            mine[BOUND] += ty[i] * most[i];
            mine[MOVED] += by * by / (weight * sig[i]);
            mine[FAR_Y] += far * far / sig[i];
        }
        addUp(mine, sums);
        if (mine[BOUND] < least) {
            least = mine[BOUND];
            for (u32 i = threadIdx.x; i < m; i += BLOCK) best[i] = ty[i];
        }
        if (least <= enough) break;
        if (inner == 1) first = last = mine[MOVED];
        // Squares of 0.2 and 0.8: the steps have become short, or short and longer again; or it is long ago.
        const bool restart = inner > 1 && (mine[MOVED] <= 0.04f * first || (mine[MOVED] <= 0.64f * first && mine[MOVED] > last) || 100 * inner >= 36 * (step + 1));
        last = mine[MOVED];
        for (u32 k = threadIdx.x; k < n; k += BLOCK)
            if (restart) x[k] = x0[k] = (xb[k] + x[k]) / 2;
            else x[k] = averaged(xb[k], x0[k], keep);
        for (u32 i = threadIdx.x; i < m; i += BLOCK)
            if (restart) y[i] = y0[i] = ty[i];
            else y[i] = averaged(2 * ty[i] - y[i], y0[i], keep);
        if (!restart) continue;
        inner = 0;
        if (mine[FAR_X] > 0 && mine[FAR_Y] > 0) weight = sqrtf(weight * sqrtf(mine[FAR_Y] / mine[FAR_X]));
    }
    if (threadIdx.x == 0) best[m] = least;
}

}  // namespace VARIANT
