// The block that contains the last agent.
#include "cuda/variant.cuh"

namespace VARIANT {

// last raises best[0] and best[number] to the largest value of a structure, over `count`
// choices of the block with the last agent. with[i] is the value of the block whose other
// members are first + i; f gives the value of the agents outside the block.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(last)(const T* f, const T* with, unsigned long long first, unsigned long long count,
        unsigned long long agents, T* best, unsigned long long number) {
    const T* rest = f + (((u64)1 << agents) - 1 - first);  // f of the agents outside block 0; for block i at rest - i
    u64 step = (u64)gridDim.x * BLOCK;
    Sum x = lowest<Sum>();
    for (u64 i = (u64)blockIdx.x * BLOCK + threadIdx.x; i < count; i += step) x = larger<Sum>(x, with[i] + *(rest - i));
    x = warpReduce(x);
    if (threadIdx.x % WARP != 0) return;
    if (x > best[0]) raise(best, (T)x);
    if (x > best[number]) raise(best + number, (T)x);
}

// locate lowers *found to the least first + i of a block of `last` whose sum is best[0];
// *found keeps all bits set where no sum is.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(locate)(const T* f, const T* with, unsigned long long first, unsigned long long count,
        unsigned long long agents, const T* best, unsigned long long* found,
        unsigned long long number) {
    if (best[number] != best[0]) return;
    const T* rest = f + (((u64)1 << agents) - 1 - first);
    u64 step = (u64)gridDim.x * BLOCK;
    for (u64 i = (u64)blockIdx.x * BLOCK + threadIdx.x; i < count; i += step)
        if (with[i] + *(rest - i) == best[0]) atomicMin(found, first + i);
}

}  // namespace VARIANT
