// The objective of many solutions of a binary quadratic program at once, and the gain of every flip of each.
#include "cuda/variant.cuh"
#include "cuda/choice.cuh"
#include "cuda/shared.cuh"
#include "cuda/tensor.cuh"

// A block multiplies TILE rows of the coefficients with BATCH solutions. The
// matrix of coefficients is symmetric, side x side, where side is a multiple of
// MULTIPLE; its diagonal and all entries beyond n are zero. A weight is `unit` times
// its coefficient. Bit i % 32 of word i / 32 of a solution is variable i; a
// solution has side / 32 words, zero beyond n.
namespace VARIANT {

using namespace coalesce;

constexpr u32 TILE = param::tile;        // rows of a block
constexpr u32 BATCH = param::batch;      // solutions of a block
// Go: Multiple
constexpr u32 MULTIPLE = 128;             // side is a multiple of it
constexpr int STAGES = param::stages;    // steps of columns in shared memory at once
constexpr bool INTEGERS = param::weight_int8 || param::weight_int32, SINGLE = param::weight_float32;  // neither: float64
typedef Choice<INTEGERS, Choice<param::weight_int8, signed char, int>, Choice<SINGLE, float, double>> C;  // type of a coefficient
typedef Choice<INTEGERS, int, Choice<SINGLE, float, double>> D;  // type of a gain
typedef Choice<INTEGERS, i64, double> V;  // type of an objective

__device__ __forceinline__ void add(i64* p, i64 x) { atomicAdd((u64*)p, (u64)x); }
__device__ __forceinline__ void add(double* p, double x) { atomicAdd(p, x); }

struct Problem {
    const C* c;
    const D* diag;   // [side]
    const u32* x;    // [count][side / 32]
    u64 side, count;
    i64 unit;

    // solution returns s, or for s beyond the last solution the last one, so that a block may read it.
    __device__ __forceinline__ u64 solution(u64 s) const { return s < count ? s : count - 1; }
    __device__ __forceinline__ const u32* words(u64 s) const { return x + solution(s) * (side / 32); }
};

}  // namespace VARIANT
