// The costs, transposed where needed, and the first duals.
#include "cuda/variant.cuh"

namespace VARIANT {

// load returns the costs of a problem; where the instance has more rows than columns, it
// writes the transpose first.
__device__ __forceinline__ Costs load(const Problem& p, const T* costs, T* copies) {
    const T* from = costs + p.costs;
    if (p.copy < 0) return Costs{from, (u64)p.stride, Scale<T>(p.scale)};
    T* to = copies + p.copy;
    u32 rows = (u32)p.rows, cols = (u32)p.cols;
    for (u32 j = threadIdx.x; j < cols; j += BLOCK) {
#pragma unroll 8
        for (u32 i = 0; i < rows; i++) to[(u64)i * cols + j] = from[j * (u64)p.stride + i];
    }
    __syncthreads();
    return Costs{to, cols, Scale<T>(p.scale)};
}

// prepare sets the duals of columns: to the column's least cost in a square problem, else to
// zero, the dual that unmatched columns must have.
__device__ __forceinline__ void prepare(State& s, const Costs& costs) {
    constexpr u32 TALL = 16;  // costs that a thread loads at once
    for (u32 j = threadIdx.x; j < s.cols; j += BLOCK) {
        i64 least = NEVER;
        for (u32 i = 0; s.rows == s.cols && i < s.rows; i += TALL) {
            T x[TALL];
#pragma unroll
            for (u32 k = 0; k < TALL; k++) x[k] = costs.load(i + k < s.rows ? i + k : s.rows - 1, j);
#pragma unroll
            for (u32 k = 0; k < TALL; k++) {
                i64 c = costs.scale(x[k]);
                if (c != INFINITE && c < least) least = c;
            }
        }
        s.v[j] = least == NEVER ? 0 : least;
        s.owner[j] = s.via[j] = NONE;
    }
    for (u32 i = threadIdx.x; i < s.rows; i += BLOCK) s.column[i] = NONE, s.free[i] = (int)i;
    __syncthreads();
}

}  // namespace VARIANT
