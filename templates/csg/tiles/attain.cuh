// The optimal structure, rebuilt from f alone (Algorithm 2).
#include "cuda/variant.cuh"

namespace VARIANT {

// attain lowers *found to the least number, from 1 to psi-1, of a splitting whose value is f
// of the coalition, or more by rounding. Bits of a number select members below the highest;
// the coalition lacks the last agent. *found keeps all bits set where no splitting attains
// f: then the coalition is a block of the structure.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(attain)(const T* f, unsigned long long* found, unsigned long long coalition,
        unsigned long long psi) {
    // Go: Run
    constexpr u64 RUN = 64;  // splittings that a thread looks at
    u64 begin = ((u64)blockIdx.x * BLOCK + threadIdx.x) * RUN;
    if (begin >= psi) return;
    u64 split = 0, members = coalition;
    for (u64 number = begin; number != 0; number >>= 1) {
        u64 low = members & (0 - members);
        if (number & 1) split |= low;
        members ^= low;
    }
    T value = f[coalition];
    for (u64 i = begin; i < begin + RUN && i < psi; i++) {
        if (i != 0 && f[split] + f[coalition ^ split] >= value) {
            atomicMin(found, i);
            return;
        }
        split = (split - coalition) & coalition;
    }
}

}  // namespace VARIANT
