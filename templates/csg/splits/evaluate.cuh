// One splitting of each coalition of a batch, and the step to the next.
#include "cuda/variant.cuh"

namespace VARIANT {

// evaluate raises v[z] to the value of splitting split[z] of coalition c[z], and advances
// split[z] to the next subset of the members in step[z]. With construct=integer, the integer
// subset construction of the report, evaluate first makes splitting number `number`, and
// replaces parts of more than half of the members by the empty part.
__device__ __forceinline__ void evaluate(Best (&v)[BETA], const T* f, const u32 (&c)[BETA], u32 (&split)[BETA],
        const u32 (&step)[BETA], u32 number, u32 psi, u32 size) {
    u32 other[BETA];
    T a[BETA], b[BETA];
#pragma unroll
    for (u32 z = 0; z < BETA; z++) {
        if constexpr (param::construct_integer) {
            split[z] = (~c[z] + number) & c[z];
            if (number >= psi || 2 * (u32)__popc(split[z]) > size) split[z] = 0;
        }
        other[z] = c[z] ^ split[z];
    }
    fetch(a, f, split);
    fetch(b, f, other);
#pragma unroll
    for (u32 z = 0; z < BETA; z++) {
        v[z] = larger(v[z], best(a[z] + b[z], split[z]));
        if constexpr (param::construct_integer) continue;
        if constexpr (param::order_consecutive) split[z] = nextSplit(step[z], split[z]);
        else split[z] = (split[z] & ~step[z]) | nextSplit(step[z], split[z] & step[z]);
    }
}

}  // namespace VARIANT
