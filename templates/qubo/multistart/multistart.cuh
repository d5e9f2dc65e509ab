// Massive multi-start (Lewis 2017): samples, diversification, screen and steepest ascent. The evaluation is qubo/evaluate.
#include "cuda/variant.cuh"
#include "cuda/choice.cuh"
#include "cuda/random.cuh"
#include "cuda/shared.cuh"

// Solutions, coefficients, gains and objectives have the layouts of qubo/evaluate;
// the matrix is stored by rows.
namespace VARIANT {

using namespace coalesce;

constexpr u32 BLOCK = param::block;  // threads
constexpr u32 WARPS = BLOCK / WARP;
constexpr bool SHARED = param::state_shared;  // gains of a block: in shared memory, else in global memory
constexpr bool INTEGERS = param::weight_int8 || param::weight_int32, SINGLE = param::weight_float32;  // neither: float64
typedef Choice<INTEGERS, Choice<param::weight_int8, signed char, int>, Choice<SINGLE, float, double>> C;  // type of a coefficient
typedef Choice<INTEGERS, int, Choice<SINGLE, float, double>> D;  // type of a gain
typedef Choice<INTEGERS, i64, double> V;  // type of an objective

// word draws 64 random bits for word w of a solution.
__device__ __forceinline__ u64 word(u64 seed, u64 solution, u64 w) { return splitmix(seed + splitmix(solution << 32 | w)); }

// within returns a mask of the bits of word w that are variables.
__device__ __forceinline__ u64 within(u64 n, u64 w) {
    return n >= 64 * w + 64 ? ~0ull : n <= 64 * w ? 0 : ~(~0ull << (n % 64));
}

// comb returns a mask of the variables start, start + stride, ... in word w.
__device__ __forceinline__ u64 comb(u64 start, u64 stride, u64 w) {
    u64 first = 64 * w <= start ? start : start + (64 * w - start + stride - 1) / stride * stride, bits = 0;
    for (u64 j = first; j < 64 * w + 64; j += stride) bits |= 1ull << (j % 64);
    return bits;
}

}  // namespace VARIANT
