// The largest rate of add-max that csg/tiles could reach: add-max on registers alone.
#include "cuda/variant.cuh"
#include "csg/convolution.cuh"

namespace VARIANT {

using namespace coalesce;
using namespace csg;

using T = param::value;
typedef WordOf<T>::Word W;
constexpr u32 BLOCK = param::block;
constexpr u32 CHUNK = 28;
constexpr u32 ROUNDS = 4;
constexpr bool MIXED = param::adder_mixed;

// filled returns a register whose values are all x.
template <class T> __device__ __forceinline__ T filled(u32 x) { return (T)x; }
template <> __device__ __forceinline__ Halves filled<Halves>(u32 x) { return {x * 0x10001u}; }
__device__ __forceinline__ Halves operator+(Halves a, Halves b) { return {a.word + b.word}; }
__device__ __forceinline__ Halves operator-(Halves a, Halves b) { return {a.word - b.word}; }

// run makes each thread do ROUNDS * `rounds` rounds. A round is CHUNK add-max operations with
// the fused adder, 9 CHUNK / 7 with the mixed one, and 2 CHUNK of int16.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(run)(T* out, unsigned long long rounds) {
    W a[CHUNK], best[CHUNK], b = filled<W>(blockIdx.x), c = filled<W>(threadIdx.x);
#pragma unroll
    for (u32 l = 0; l < CHUNK; l++) {
        a[l] = filled<W>((threadIdx.x + 1) * (l + 1));
        best[l] = lowest<W>();
    }
#pragma unroll 1
    for (u64 i = 0; i < rounds; i++) {
#pragma unroll
        for (u32 k = 0; k < ROUNDS; k++) ceilingRound<MIXED>(best, a, k % 2 == 0 ? b : c, k % 2 == 0 ? c : b, (int)blockDim.y);
        b = b + best[0];
        c = c - best[1];
    }
    W x = best[0];
#pragma unroll
    for (u32 l = 1; l < CHUNK; l++) x = larger(x, best[l]);
    out[(u64)blockIdx.x * BLOCK + threadIdx.x] = highest(x);
}

}  // namespace VARIANT
