// The buffer of a check: duals, matching and findings; exact sums.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr i64 MOST = 1ll << 61;                         // limit of the magnitude of duals and costs
constexpr i64 FREE = 9223372036854775807ll;             // scaled cost of a forbidden pair, which every dual satisfies
constexpr i64 INVALID = -FREE - 1;                      // scaled cost of a value that is no cost, which no dual satisfies

// Go: Near
constexpr u64 NEAR = 8;  // near pairs a row that are listed

struct Work {
    const i64 *u, *v;
    u64* words;
    const int* column;
    int* owner;
    u64 rows, cols;
    u64* near;  // number of near pairs, and the first NEAR * rows of them
    __device__ __forceinline__ Work(i64* w, u64 m, u64 n) : u(w), v(w + m), words((u64*)w + m + n),
        column((const int*)(words + WORDS)), owner((int*)column + m), rows(m), cols(n), near(words + WORDS + (m + n + 1) / 2) {}
    // note lists row i and column j, whose cost is c: as a fault where their duals add up to more, as
    // near where they add up to at most width less and are not matched.
    __device__ void note(u64 i, u64 j, i64 c, i64 width) const;
};

__device__ __forceinline__ bool within(i64 x) { return x >= -MOST && x <= MOST; }

// plus adds modulo 2^64. Sums of duals beyond MOST are meaningless, and such duals are faults of their own.
__device__ __forceinline__ i64 plus(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }

__device__ void Work::note(u64 i, u64 j, i64 c, i64 width) const {
    u64 entry = i * cols + j;
    if (plus(u[i], v[j]) > c) {
        atomicAdd(words + ENTRIES, 1ull);
        atomicMin(words + FIRST_ENTRY, entry);
    }
    if (width < 0 || column[i] == (int)j) return;
    u64 at = atomicAdd(near, 1ull);
    if (at < NEAR * rows) near[1 + at] = entry;
}

// Sum is the exact sum high * 2^32 + low of fewer than 2^31 addends.
struct Sum {
    i64 high = 0;
    u64 low = 0;
    __device__ __forceinline__ void add(i64 x) { high += x >> 32; low += (u64)x & 0xffffffffu; }
    // flush adds the sums of all lanes of a warp to two words of global memory, high and low.
    __device__ __forceinline__ void flush(u64* words) {
#pragma unroll
        for (u32 d = WARP / 2; d > 0; d >>= 1) {
            high += __shfl_xor_sync(ALL, high, d);
            low += __shfl_xor_sync(ALL, low, d);
        }
        if (threadIdx.x % WARP == 0 && (high != 0 || low != 0)) {
            atomicAdd(words, (u64)high);
            atomicAdd(words + 1, low);
        }
    }
};

}  // namespace VARIANT
