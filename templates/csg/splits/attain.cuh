// The optimal structure, rebuilt from f alone (Algorithm 2).
#include "cuda/variant.cuh"

namespace VARIANT {

// attain lowers *found to the least number of a splitting of coalition c whose
// value is f(c). *found keeps all bits set where no splitting attains f(c): then
// c is a block of the structure.
extern "C" __global__ void ENTRY(attain)(T* f, unsigned long long* found, unsigned long long c,
        unsigned long long psi) {
    // Go: Run
    constexpr u64 RUN = 64;  // splittings that a thread looks at
    u64 begin = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * RUN;
    if (begin >= psi) return;
    u32 coalition = (u32)c, split = deposit((u32)begin, coalition);
    T value = f[coalition];
    for (u64 i = begin; i < begin + RUN && i < psi; i++) {
        if (i != 0 && f[split] + f[coalition ^ split] == value) {
            atomicMin(found, i);
            return;
        }
        split = nextSplit(coalition, split);
    }
}

}  // namespace VARIANT
