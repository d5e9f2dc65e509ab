// Products by tensor cores, of coefficients of a byte.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 WIDE = param::warp;                     // solutions that a warp computes
// Go: WarpRows
constexpr u32 HIGH = 64;                              // rows that a warp computes
constexpr u32 THREADS = TILE / HIGH * (BATCH / WIDE) * WARP;
constexpr int BLOCKS = 65536 / (THREADS * 4 * WIDE);  // blocks a multiprocessor: 128 or 256 registers a thread
// Go: TensorColumns
constexpr u32 STEP = 128;                             // columns of a stage
// Go: Packers
constexpr u64 PACKERS = 256;                          // threads of a block of pack
constexpr u32 STAGE = TILE * STEP + BATCH * STEP / 8; // bytes: coefficients, then bits

// packed writes 16 bytes, piece k, of the packed matrix. That matrix consists of
// tiles of 16 rows and 32 columns, 512 bytes each; tiles of the same rows are
// adjacent. The 16 bytes of a lane are its four words of A in mma. Columns 4t + i
// and 16 + 4t + i of A hold columns t + 8i and t + 4 + 8i of the tile, so that one
// shift and one mask turn the bits of a solution's word into the bytes of B.
__device__ __forceinline__ void packed(const signed char* rows, u64 side, u64 k, uint4* to) {
    u64 lane = k % WARP, tile = k / WARP, high = tile / (side / 32) * 16 + lane / 4, wide = tile % (side / 32) * 32 + lane % 4;
    u32 word[4];
    for (u32 w = 0; w < 4; w++) {
        const signed char* from = rows + (high + w % 2 * 8) * side + wide + w / 2 * 4;
        word[w] = 0;
        for (u32 i = 0; i < 4; i++) word[w] |= (u32)(unsigned char)from[8 * i] << (8 * i);
    }
    *to = make_uint4(word[0], word[1], word[2], word[3]);
}

// Sums holds a thread's part of the product of coefficients and solutions.
struct Sums {
    static constexpr u32 HEIGHT = HIGH / 16, WIDTH = WIDE / 8;
    static constexpr u32 ROWS = 2 * HEIGHT, SOLUTIONS = 2 * WIDTH;
    static constexpr u32 NEAR = 4, FAR = 32;  // lanes with the same solutions are 4, 8 and 16 apart
    int y[HEIGHT][WIDTH][4];
    u64 high, wide;  // the warp's first row and solution
    u32 up, along;   // the warp's first row and solution in the block

    __device__ __forceinline__ Sums(u64 row, u64 solution) {
        u32 warp = threadIdx.x / WARP;
        up = warp / (BATCH / WIDE) * HIGH;
        along = warp % (BATCH / WIDE) * WIDE;
        high = row + up;
        wide = solution + along;
#pragma unroll
        for (u32 k = 0; k < HEIGHT * WIDTH * 4; k++) y[k / 4 / WIDTH][k / 4 % WIDTH][k % 4] = 0;
    }
    __device__ __forceinline__ u32 lane() const { return threadIdx.x % WARP; }
    __device__ __forceinline__ u64 row(u32 r) const { return high + r * 8 + lane() / 4; }
    __device__ __forceinline__ u64 word(u32 r) const { return high / 32 + r / 4; }
    __device__ __forceinline__ u64 solution(u32 k) const { return wide + k / 2 * 8 + lane() % 4 * 2 + k % 2; }
    __device__ __forceinline__ int at(u32 r, u32 k) const { return y[r / 2][k / 2][r % 2 * 2 + k % 2]; }
    __device__ __forceinline__ bool first() const { return lane() < 4; }

    // multiply adds 2^shift times the product of a stage; shift is 0 or 1.
    __device__ __forceinline__ void multiply(const char* stage, u32 shift) {
        const u32 ones = 0x01010101u << shift;
        const uint4* c = (const uint4*)stage + up / 16 * (STEP / 32) * WARP + lane();
        const uint4* bits = (const uint4*)(stage + TILE * STEP) + along + lane() / 4;
        u32 x[WIDTH][4];
#pragma unroll
        for (u32 w = 0; w < WIDTH; w++) {
            uint4 b = bits[8 * w];
            u32 t = lane() % 4;
            x[w][0] = b.x >> t << shift, x[w][1] = b.y >> t << shift, x[w][2] = b.z >> t << shift, x[w][3] = b.w >> t << shift;
        }
#pragma unroll
        for (u32 k = 0; k < STEP / 32; k++) {
            u32 a[HEIGHT][4];
#pragma unroll
            for (u32 h = 0; h < HEIGHT; h++) {
                uint4 v = c[(h * (STEP / 32) + k) * WARP];
                a[h][0] = v.x, a[h][1] = v.y, a[h][2] = v.z, a[h][3] = v.w;
            }
#pragma unroll
            for (u32 w = 0; w < WIDTH; w++) {
                u32 b[2] = {x[w][k] & ones, x[w][k] >> 4 & ones};
#pragma unroll
                for (u32 h = 0; h < HEIGHT; h++) mma(y[h][w], a[h], b);
            }
        }
    }
};

// load starts the copies of one step of columns, coefficients and solutions' bits, to a stage.
__device__ __forceinline__ void load(const Problem& p, u64 row, u64 solution, u64 step, char* stage) {
    constexpr u32 LINE = 16 * STEP / 16;  // pieces of 16 bytes in 16 rows of a step
    const uint4* c = (const uint4*)p.c;
#pragma unroll
    for (u32 k = threadIdx.x; k < TILE * STEP / 16; k += THREADS)
        copyAhead((uint4*)stage + k, c + (row / 16 + k / LINE) * p.side + step * LINE + k % LINE);
#pragma unroll
    for (u32 k = threadIdx.x; k < BATCH; k += THREADS)
        copyAhead((uint4*)(stage + TILE * STEP) + k, p.words(solution + k) + step * (STEP / 32));
}

// product multiplies the block's rows with the solutions, from the last columns to
// the first. With HALF the columns before the block's own rows are left out, STEP
// at a time, and the columns after them count twice; x'Cx is the same, since C is
// symmetric.
template <bool HALF> __device__ __forceinline__ void product(const Problem& p, Sums& sums) {
    COALESCE_DYNAMIC_SHARED(char, stages);
    u64 row = sums.high - sums.up, solution = sums.wide - sums.along;
    u64 end = p.side / STEP, steps = end - (HALF ? row / STEP : 0);
    for (u64 q = 0; q < STAGES - 1; q++) {
        if (q < steps) load(p, row, solution, end - 1 - q, stages + q * STAGE);
        commitCopies();
    }
    for (u64 q = 0; q < steps; q++) {
        awaitCopies<STAGES - 2>();
        __syncthreads();
        u64 ahead = q + STAGES - 1;
        if (ahead < steps) load(p, row, solution, end - 1 - ahead, stages + ahead % STAGES * STAGE);
        commitCopies();
        sums.multiply(stages + q % STAGES * STAGE, HALF && q < steps - 1);
    }
}

}  // namespace VARIANT
