// Products by tiles of threads, of coefficients that tensor cores lack.
#include "cuda/variant.cuh"

namespace VARIANT {

// Go: ThreadRows
constexpr u32 EACH = 8;                                          // rows that a thread computes, of as many solutions
constexpr u32 ACROSS = TILE / EACH;                              // threads that compute the same solutions
constexpr u32 THREADS = ACROSS * (BATCH / EACH);
constexpr int BLOCKS = sizeof(C) < 8 && THREADS < 512 ? 2 : 1;   // blocks a multiprocessor
// Go: TileColumns
constexpr u32 STEP = 32;                                         // columns of a stage, one word of a solution
constexpr u32 STAGE = STEP * TILE * (u32)sizeof(C);              // bytes of a stage

// Sums holds a thread's part of the product of coefficients and solutions.
struct Sums {
    static constexpr u32 ROWS = EACH, SOLUTIONS = EACH;
    static constexpr u32 NEAR = 1, FAR = ACROSS;  // lanes with the same solutions are neighbours
    C y[ROWS][SOLUTIONS];
    u64 high, wide;  // the block's first row and solution

    __device__ __forceinline__ Sums(u64 row, u64 solution) : high(row), wide(solution) {
#pragma unroll
        for (u32 k = 0; k < ROWS * SOLUTIONS; k++) y[k / SOLUTIONS][k % SOLUTIONS] = 0;
    }
    __device__ __forceinline__ u32 across() const { return threadIdx.x % ACROSS; }
    __device__ __forceinline__ u64 row(u32 r) const { return high + r * ACROSS + across(); }
    __device__ __forceinline__ u64 word(u32 r) const { return row(r) / 32; }
    __device__ __forceinline__ u64 solution(u32 k) const { return wide + k * (BATCH / EACH) + threadIdx.x / ACROSS; }
    __device__ __forceinline__ C at(u32 r, u32 k) const { return y[r][k]; }
    __device__ __forceinline__ bool first() const { return across() == 0; }

    // multiply adds `factor` times the product of a stage with one word of every
    // solution.
    __device__ __forceinline__ void multiply(const C* stage, const u32 (&bits)[SOLUTIONS], C factor) {
#pragma unroll 4
        for (u32 j = 0; j < STEP; j++) {
            C c[ROWS];
#pragma unroll
            for (u32 r = 0; r < ROWS; r++) c[r] = stage[j * TILE + r * ACROSS + across()];
#pragma unroll
            for (u32 k = 0; k < SOLUTIONS; k++) {
                C one = bits[k] & 1u << j ? factor : (C)0;
#pragma unroll
                for (u32 r = 0; r < ROWS; r++) y[r][k] += c[r] * one;
            }
        }
    }
};

// load starts the copies of STEP columns, the first of them `from`, to a stage. The
// columns are read as rows, since the matrix is symmetric.
__device__ __forceinline__ void load(const Problem& p, u64 row, u64 from, char* stage) {
    constexpr u32 PIECE = 16 / sizeof(C), LINE = TILE / PIECE;
#pragma unroll
    for (u32 k = threadIdx.x; k < STEP * LINE; k += THREADS)
        copyAhead(stage + 16 * k, p.c + (from + k / LINE) * p.side + row + k % LINE * PIECE);
}

// product multiplies the block's rows with the solutions, from the last columns to
// the first. With HALF the columns before the block's own rows are left out, and the
// columns after them count twice; x'Cx is the same, since C is symmetric.
template <bool HALF> __device__ __forceinline__ void product(const Problem& p, Sums& sums) {
    COALESCE_DYNAMIC_SHARED(char, stages);
    const u32* x[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH; k++) x[k] = p.words(sums.solution(k));
    u64 end = p.side / STEP, steps = end - (HALF ? sums.high / STEP : 0);
    for (u64 q = 0; q < STAGES - 1; q++) {
        if (q < steps) load(p, sums.high, (end - 1 - q) * STEP, stages + q * STAGE);
        commitCopies();
    }
    for (u64 q = 0; q < steps; q++) {
        u32 bits[EACH];
#pragma unroll
        for (u32 k = 0; k < EACH; k++) bits[k] = x[k][end - 1 - q];
        awaitCopies<STAGES - 2>();
        __syncthreads();
        u64 ahead = q + STAGES - 1;
        if (ahead < steps) load(p, sums.high, (end - 1 - ahead) * STEP, stages + ahead % STAGES * STAGE);
        commitCopies();
        sums.multiply((const C*)(stages + q % STAGES * STAGE), bits, (C)(HALF && q < steps - TILE / STEP ? 2 : 1));
    }
}

}  // namespace VARIANT
