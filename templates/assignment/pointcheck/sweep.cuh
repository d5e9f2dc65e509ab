// One pass over all pairs.
#include "cuda/variant.cuh"

namespace VARIANT {

// term returns a coordinate's contribution to a distance; length returns the distance, given the sum.
__device__ __forceinline__ double term(double x, double y) {
    double d = __dsub_rn(x, y);
    if constexpr (MANHATTAN) return d < 0 ? -d : d;
    else return __dmul_rn(d, d);
}

__device__ __forceinline__ T length(double sum) {
    if constexpr (EUCLIDEAN) sum = __dsqrt_rn(sum);
    if constexpr (FLOOR) return (T)__double2ll_rd(sum);
    else return (T)sum;
}

// column checks that v of column j is in range, at most 0 where columns may stay unmatched,
// and 0 where the column does. A fault is recorded as column * COLUMN_FAULTS + its fault.
__device__ void column(const Work& w, u64 j, bool loose) {
    Sum dual;
    if (j < w.cols) {
        i64 v = w.v[j];
        dual.add(v);
        u32 reason = !within(v) ? BAD_PRICE : loose && v > 0 ? POSITIVE_PRICE : w.owner[j] < 0 && v != 0 ? FREE_PRICE : COLUMN_RIGHT;
        if (reason != COLUMN_RIGHT) {
            atomicAdd(w.words + COLUMNS_WRONG, 1ull);
            atomicMin(w.words + FIRST_COLUMN, j * COLUMN_FAULTS + reason);
        }
    }
    dual.flush(w.words + DUAL);
}

// look notes a pair that is wrong or near.
__device__ void look(const Work& w, u64 i, u64 j, i64 c, i64 width) {
    if (plus(plus(w.u[i], width), w.v[j]) >= c) w.note(i, j, c, width);
}

// sweep checks a block's share of the pairs: BLOCK columns and ROWS rows.
__device__ void sweep(const double* row, const double* col, u64 dim, const Work& w, i64 sign, i64 shift, bool loose, i64 width) {
    __shared__ double part[FLIGHT][PART];
    __shared__ u32 rounded;
    u64 strips = (w.cols + BLOCK - 1) / BLOCK, group = blockIdx.x / strips;
    u64 j = blockIdx.x % strips * BLOCK + threadIdx.x, own = j < w.cols ? j : w.cols - 1;
    if (group == 0) column(w, j, loose);
    if (threadIdx.x == 0) rounded = 0;
    Choice<!FLOOR, FloatBars<T, 1>, Bars<T, 1>> bars(sign, shift);
    bars.column(0, w.v[own]);
    u64 end = (group + 1) * ROWS < w.rows ? (group + 1) * ROWS : w.rows;
    for (u64 i = group * ROWS; i < end; i += FLIGHT) {
        double sum[FLIGHT];
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) sum[f] = 0;
        for (u64 from = 0; from < dim; from += PART) {
            u32 n = dim - from < PART ? (u32)(dim - from) : PART;
            __syncthreads();
            for (u32 k = threadIdx.x; k < FLIGHT * n; k += BLOCK) {
                u64 r = i + k / n < end ? i + k / n : end - 1;
                part[k / n][k % n] = row[r * dim + from + k % n];
            }
            __syncthreads();
            for (u32 d = 0; d < n; d++) {
                double y = col[own * dim + from + d];
#pragma unroll
                for (u32 f = 0; f < FLIGHT; f++) sum[f] = __dadd_rn(sum[f], term(part[f][d], y));
            }
        }
        if (j >= w.cols) continue;
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) {
            if (i + f >= end) continue;
            T distance = length(sum[f]);
            bars.row(plus(w.u[i + f], width));
            if (!bars.passes(distance, 0)) look(w, i + f, j, Cost(sign, shift)(distance), width);
        }
    }
    __syncthreads();
    u32 n = __reduce_add_sync(ALL, bars.rounded());
    if (threadIdx.x % WARP == 0 && n != 0) atomicAdd(&rounded, n);
    __syncthreads();
    if (threadIdx.x == 0 && rounded != 0) atomicAdd(w.words + ROUNDED, (u64)rounded);
}

}  // namespace VARIANT
