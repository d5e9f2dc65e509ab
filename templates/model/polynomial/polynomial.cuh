// Tabu searches of a polynomial of bits and spins, a block each: see package polynomial.
#include "cuda/variant.cuh"
#include "cuda/choice.cuh"
#include "cuda/random.cuh"
#include "cuda/shared.cuh"

namespace VARIANT {

using namespace coalesce;

constexpr u32 BLOCK = param::block;
constexpr u32 WARPS = BLOCK / WARP;
constexpr u32 FLIGHT = param::flight;               // terms that a thread reads at once
constexpr bool PACKED = param::value_int16;         // coefficients are in the words of the terms, and gains have 32 bits
constexpr bool PAIRS = param::change_pair;          // a thread adds what several terms of two variables change, in place of one term
using Gain = Choice<PACKED, int, i64>;
constexpr Gain MOST = PACKED ? (Gain)0x7fffffff : (Gain)0x7fffffffffffffffll;

__device__ __forceinline__ u32 lane() { return threadIdx.x % WARP; }

// join waits for all threads of the block.
__device__ __forceinline__ void join() {
    if constexpr (BLOCK == WARP) __syncwarp();
    else __syncthreads();
}

// mix hashes two numbers.
__device__ __forceinline__ u32 mix(u32 a, u32 b) {
    a = (a ^ b * 0x9e3779b9u) * 0x85ebca6bu;
    a = (a ^ a >> 15) * 0x2c1b3c6du;
    return a ^ a >> 13;
}

// Random is a linear congruential generator, mixed; all threads of a block have the same state.
struct Random {
    u32 state, step;
    __device__ __forceinline__ explicit Random(u64 key) {
        u64 h = splitmix(key);
        state = (u32)h, step = (u32)(h >> 32) | 1;
    }
    __device__ __forceinline__ u32 next() {
        u32 x = state = state * 1664525u + step;
        x = (x ^ x >> 15) * 0x2c1b3c6du;
        return x ^ x >> 12;
    }
    __device__ __forceinline__ u32 below(u32 k) { return __umulhi(next(), k); }
};

// A Term is the other variables of a term of a variable, and the coefficient. Where they are fewer than three, the rest is variable n,
// which is 1.
struct Term {
    u32 a, b, c;
    i64 weight;
};

// Terms of variable i are those of products of spins from `from[2 * i]` on, and of bits from `from[2 * i + 1]` to `from[2 * i + 2]`.
struct Polynomial {
    const u32* from;
    const u64* terms;
    const i64* weights;
    const uint4* sheaves;  // of variable i from `from[2 * n + 1 + i]` to `from[2 * n + 2 + i]`
    u32 n;
    __device__ __forceinline__ Term term(u32 k) const {
        u64 t = terms[k];
        return {(u32)t & 0xffff, (u32)(t >> 16) & 0xffff, (u32)(t >> 32) & 0xffff, PACKED ? (i64)(short)(t >> 48) : weights[k]};
    }
};

// A Sheaf is up to six terms with the flipped variable and another one, i, that have the same coefficient and kind, laid out as package
// polynomial says: of each the other two variables, 1 byte each. Missing ones are variable n, which is 1; those of missing terms of bits
// are variable n + 1, which is 0.
struct Sheaf {
    uint4 word;
    __device__ __forceinline__ u32 variable() const { return word.x & 0xff; }
    // sum is that of the products of the other two, spins or bits, times the coefficient, and of spins four times that.
    __device__ __forceinline__ int sum(const unsigned char* bits) const {
        const u32 count = word.x >> 8 & 0x7f;
        const int weight = (int)word.x >> 16;
        const u32 rest[3] = {word.y, word.z, word.w};
        u32 ones = 0;
        if (word.x >> 15 & 1) {
#pragma unroll
            for (u32 k = 0; k < 3; k++) {
                ones += bits[rest[k] & 0xff] ^ bits[rest[k] >> 8 & 0xff];
                ones += bits[rest[k] >> 16 & 0xff] ^ bits[rest[k] >> 24];
            }
            return 4 * weight * ((int)count - 2 * (int)ones);
        }
#pragma unroll
        for (u32 k = 0; k < 3; k++) {
            ones += bits[rest[k] & 0xff] & bits[rest[k] >> 8 & 0xff];
            ones += bits[rest[k] >> 16 & 0xff] & bits[rest[k] >> 24];
        }
        return weight * (int)ones;
    }
};

// A minimum of a block: the least gain, and the smallest key of those that have it.
struct Least {
    Gain gain;
    u32 key;
};

__device__ __forceinline__ Gain least(Gain g) {
    if constexpr (PACKED) {
        return __reduce_min_sync(ALL, (int)g);
    } else {
        for (u32 d = WARP / 2; d > 0; d >>= 1) {
            Gain other = __shfl_xor_sync(ALL, g, d);
            if (other < g) g = other;
        }
        return g;
    }
}

__device__ __forceinline__ i64 total(i64 x) {
    for (u32 d = WARP / 2; d > 0; d >>= 1) x += __shfl_xor_sync(ALL, x, d);
    return x;
}

}  // namespace VARIANT
