// One iteration: rows, then columns.
#include "cuda/variant.cuh"

namespace VARIANT {

// Soft holds a sum of 2^x and a sum of 4^x, relative to the largest x.
struct Soft {
    float most, sum, squares;
    __device__ __forceinline__ void add(float m, float s, float q) {
        float top = fmaxf(most, m), a = exp2f(most - top), b = exp2f(m - top);
        sum = sum * a + s * b;
        squares = squares * a * a + q * b * b;
        most = top;
    }
};

// rowSoft returns a lane's part of row i's sums, with x = (base + v - c) * s.
__device__ __forceinline__ Soft rowSoft(const Problem& p, u64 i, u32 part, double base, double s) {
    const T* row = p.costs + i * p.cols;
    Soft f = {LOW, 0, 0};
    for (u64 at = part * WARP + threadIdx.x % WARP; at < p.cols; at += (u64)SHARE * WARP * FLIGHT) {
        T c[FLIGHT];
        double price[FLIGHT];
#pragma unroll
        for (u32 k = 0; k < FLIGHT; k++) {
            u64 j = at + (u64)k * SHARE * WARP;
            c[k] = j < p.cols ? row[j] : T(0);
            price[k] = j < p.cols ? p.v[j] : -INFINITY;
        }
        float x[FLIGHT], most = LOW, sum = 0, squares = 0;
#pragma unroll
        for (u32 k = 0; k < FLIGHT; k++) {
            x[k] = fmaxf((float)((base + price[k] - p.cost(c[k])) * s), LOW);
            most = fmaxf(most, x[k]);
        }
#pragma unroll
        for (u32 k = 0; k < FLIGHT; k++) {
            float e = exp2f(x[k] - most);
            sum += e, squares += e * e;
        }
        f.add(most, sum, squares);
    }
    return f;
}

// sweepRows sets u such that every row's shares sum to 1, and returns a thread's part of the
// sum over rows of 1 / (sum of squared shares), a row's number of columns in effect.
__device__ double sweepRows(Problem& p, double s) {
    __shared__ Soft part[WARPS];
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    double neighbours = 0;
    for (u64 first = p.from(); first < p.to(); first += TEAMS) {
        u64 r = first + warp / SHARE, i = r * p.stride;
        bool in = r < p.to();
        double base = in ? p.u[i] : 0;
        Soft f = {LOW, 0, 0};
        if (in) f = rowSoft(p, i, warp % SHARE, base, s);
#pragma unroll
        for (u32 d = WARP / 2; d > 0; d >>= 1)
            f.add(__shfl_xor_sync(ALL, f.most, d), __shfl_xor_sync(ALL, f.sum, d), __shfl_xor_sync(ALL, f.squares, d));
        if (SHARE > 1) {
            if (lane == 0) part[warp] = f;
            __syncthreads();
            if (warp % SHARE == 0)
                for (u32 w = 1; w < SHARE; w++) f.add(part[warp + w].most, part[warp + w].sum, part[warp + w].squares);
            __syncthreads();
        }
        if (in && lane == 0 && warp % SHARE == 0) {
            if (p.limit < INFINITY) f.add(fmaxf((float)((base - p.limit) * s), LOW), 1, 1);
            if (f.most > LOW / 2) {
                p.u[i] = base - ((double)f.most + (double)log2f(f.sum)) / s;
                neighbours += (double)f.sum * f.sum / f.squares;
            }
        }
    }
    __syncthreads();
    return neighbours;
}

// sweepColumns adds the shares of the block's rows to the columns' sums.
__device__ void sweepColumns(Problem& p, double s) {
    for (u64 j = threadIdx.x; j < p.cols; j += BLOCK) {
        double price = p.v[j];
        float sum = 0;
        for (u64 r = p.from(); r < p.to(); r += FLIGHT) {
            T c[FLIGHT];
            double row[FLIGHT];
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++) {
                u64 i = (r + k) * p.stride;
                c[k] = r + k < p.to() ? p.costs[i * p.cols + j] : T(0);
                row[k] = r + k < p.to() ? p.u[i] : -INFINITY;
            }
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++) sum += exp2f((float)((row[k] + price - p.cost(c[k])) * s));
        }
        if (sum > 0) atomicAdd(p.sums + j, (u64)((double)sum * UNIT));
    }
}

// Found holds the means that an iteration has measured: of |a column's sum - 1|, before v
// changed, and of the rows' numbers of columns in effect.
struct Found {
    double error, neighbours;
};

// iterate makes iteration number `turn`, at temperature t. With `level` errors are those of
// the columns' sums from their mean instead of from 1.
__device__ Found iterate(Problem& p, GridBarrier& barrier, double t, double relax, u64 turn, bool level) {
    double* partial = p.partial + turn % 2 * 2 * gridDim.x;
    double s = LOG2E / t, weight = (double)p.rows / (double)p.used, error = 0;
    double neighbours = sweepRows(p, s);
    sweepColumns(p, s);
    leave(partial, neighbours);
    barrier.sync();
    for (u64 j = thread(); j < p.cols; j += threads()) {
        double sum = (double)__ldcg(p.sums + j) / UNIT * weight;
        p.sums[j] = 0;
        double v = p.v[j] - relax * (double)log2f((float)fmax(sum, 1 / UNIT)) / s;
        if (p.capped) v = fmin(v, 0.0);
        p.v[j] = v;
        if (level) error += fabs(sum * (double)p.cols / (double)p.rows - 1);
        else if (!p.capped || v < 0 || sum > 1) error += fabs(sum - 1);
    }
    leave(partial + gridDim.x, error);
    barrier.sync();
    return Found{gather(partial + gridDim.x) / (double)p.cols, gather(partial) / (double)p.used};
}

}  // namespace VARIANT
