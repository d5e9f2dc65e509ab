// Objectives and gains, and the entry points.
#include "cuda/variant.cuh"

namespace VARIANT {

static_assert(MULTIPLE % TILE == 0 && MULTIPLE % STEP == 0, "shape");

// finish adds, for each solution, the thread's part of twice the objective, the
// sum of x_i (2 d_i + unit y_i) with y = Cx. With GAINS finish also writes the
// gains of flips: d_i + unit y_i where x_i is 0, and the negative where x_i is 1.
template <bool GAINS> __device__ __forceinline__ void finish(const Problem& p, const Sums& sums, V* twice, D* gain) {
    D diag[Sums::ROWS];
#pragma unroll
    for (u32 r = 0; r < Sums::ROWS; r++) diag[r] = p.diag[sums.row(r)];
#pragma unroll
    for (u32 k = 0; k < Sums::SOLUTIONS; k++) {
        u64 s = sums.solution(k);
        const u32* x = p.words(s);
        V sum = 0;
#pragma unroll
        for (u32 r = 0; r < Sums::ROWS; r++) {
            bool one = x[sums.word(r)] >> (sums.row(r) % 32) & 1;
            if (GAINS) {
                D g = diag[r] + (D)p.unit * (D)sums.at(r, k);
                if (s < p.count) gain[s * p.side + sums.row(r)] = one ? -g : g;
            }
            if (one) sum += 2 * (V)diag[r] + (V)p.unit * (V)sums.at(r, k);
        }
#pragma unroll
        for (u32 d = Sums::NEAR; d < Sums::FAR; d <<= 1) sum += __shfl_xor_sync(ALL, sum, d);
        if (s < p.count && sums.first()) add(twice + s, sum);
    }
}

template <bool GAINS> __device__ __forceinline__ void evaluate(const Problem& p, V* twice, D* gain) {
    u64 across = (p.count + BATCH - 1) / BATCH;
    Sums sums(blockIdx.x / across * TILE, blockIdx.x % across * BATCH);
    product<!GAINS>(p, sums);
    finish<GAINS>(p, sums, twice, gain);
}

// values adds twice the objective of every solution to `twice`, which is zero before.
// Blocks: side/TILE * ceil(count/BATCH). The matrix is symmetric, so that half of
// the products are enough.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) ENTRY(values)(
    const C* c, const D* diag, const unsigned int* x, unsigned long long side,
    unsigned long long count, long long unit, V* twice) {
    evaluate<false>({c, diag, x, side, count, unit}, twice, nullptr);
}

// gains does the work of values, and writes to gain[count][side] by how much every
// flip changes the objective.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) ENTRY(gains)(
    const C* c, const D* diag, const unsigned int* x, unsigned long long side,
    unsigned long long count, long long unit, V* twice, D* gain) {
    evaluate<true>({c, diag, x, side, count, unit}, twice, gain);
}

}  // namespace VARIANT
