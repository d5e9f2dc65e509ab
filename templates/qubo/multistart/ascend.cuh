// Steepest ascent.
#include "cuda/variant.cuh"

namespace VARIANT {

// Move is a flip: its gain, which is zero where no flip gains, and
// `at` = 2 * variable + the variable's value before the flip. Of moves with
// equal gains the lowest variable's is the better.
struct Move {
    D gain;
    u32 at;
    __device__ __forceinline__ void offer(D g, u32 other) {
        if (g > gain || (g == gain && other < at)) gain = g, at = other;
    }
};
__device__ __forceinline__ Move warpBest(Move m) {
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) {
        D g = __shfl_xor_sync(ALL, m.gain, d);
        m.offer(g, __shfl_xor_sync(ALL, m.at, d));
    }
    return m;
}

struct alignas(4 * sizeof(C) < 16 ? 4 * sizeof(C) : 16) Four { C c[4]; };
struct alignas(16) Gains { D g[4]; };

// sweep updates the gains after the move `made`, unless its gain is zero, and
// returns the thread's best next move. A thread takes four variables at a time,
// whose values share one byte; `row` holds the coefficients of the variable of
// `made`.
__device__ __forceinline__ Move sweep(D* gain, unsigned char* value, const C* row, Move made, u64 n, D unit) {
    Move best = {0, 0};
    u32 at = made.at / 2, was = made.at % 2;
    for (u32 j = 4 * threadIdx.x; j < n; j += 4 * BLOCK) {
        Gains g = *(const Gains*)(gain + j);
        u32 x = value[j / 4];
        if (made.gain > 0) {
            Four c = *(const Four*)(row + j);
            bool here = at / 4 == j / 4;
#pragma unroll
            for (u32 k = 0; k < 4; k++) {
                D change = unit * (D)c.c[k];
                if (here && at % 4 == k) g.g[k] = -g.g[k], x ^= 1u << k;
                else g.g[k] += (x >> k & 1) == was ? change : -change;
            }
            *(Gains*)(gain + j) = g;
            if (here) value[j / 4] = (unsigned char)x;
        }
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            if (j + k < n) best.offer(g.g[k], 2 * (j + k) + (x >> k & 1));
    }
    return best;
}

// ascend flips the variable with the largest gain until no flip gains, or `most`
// times. A step takes one sweep over the gains and one barrier.
__device__ __forceinline__ void ascend(
    const C* rows, u32* x, D* global, u64 side, u64 n, i64 unit, u64 most, V* twice, i64* flips) {
    COALESCE_DYNAMIC_SHARED(D, room);  // the gains, if SHARED, then the values
    D* gain = SHARED ? room : global;
    unsigned char* value = (unsigned char*)(SHARED ? room + side : room);
    if constexpr (SHARED)
        for (u32 j = threadIdx.x; j < side; j += BLOCK) gain[j] = global[j];
    __shared__ Move moves[2][WARPS];
    for (u32 q = threadIdx.x; q < side / 4; q += BLOCK) value[q] = x[q / 8] >> (q % 8 * 4) & 15;
    __syncthreads();
    V sum = 0;
    u64 step = 0;
    Move move = {0, 0};
    for (;; step++) {
        move = warpBest(sweep(gain, value, rows + move.at / 2 * side, move, n, (D)unit));
        if (threadIdx.x % WARP == 0) moves[step % 2][threadIdx.x / WARP] = move;
        __syncthreads();
        move = warpBest(moves[step % 2][threadIdx.x % WARPS]);
        if (!(move.gain > 0) || step == most) break;
        sum += move.gain;
    }
    for (u32 w = threadIdx.x; w < side / 32; w += BLOCK) {
        u32 bits = 0;
        for (u32 q = 0; q < 8; q++) bits |= (u32)value[8 * w + q] << (4 * q);
        x[w] = bits;
    }
    if (threadIdx.x == 0) *twice += 2 * sum, *flips = (i64)step;
}

}  // namespace VARIANT
