// table=keep: the table O, kept as ordered keys of value and splitting.
#include "cuda/variant.cuh"

namespace VARIANT {

// prepare fills the table with the coalitions' own values. A splitting with all
// bits set means that the coalition stays whole.
extern "C" __global__ void ENTRY(prepare)(T* f, unsigned long long* table, unsigned long long agents) {
    for (u64 c = (u64)blockIdx.x * blockDim.x + threadIdx.x; c >> agents == 0; c += (u64)gridDim.x * blockDim.x)
        table[c] = best(f[c], ALL);
}

// settle copies the values of coalitions of `size` members from the table to f.
extern "C" __global__ void ENTRY(settle)(T* f, unsigned long long* table,
        unsigned long long size, unsigned long long agents) {
    for (u64 c = (u64)blockIdx.x * blockDim.x + threadIdx.x; c >> agents == 0; c += (u64)gridDim.x * blockDim.x)
        if ((u64)__popcll(c) == size) f[c] = unordered<T>((u32)(table[c] >> 32));
}

}  // namespace VARIANT
