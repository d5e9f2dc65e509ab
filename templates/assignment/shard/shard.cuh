// Core and price over several devices: the first device takes over the results of all devices' passes. See package assignment, core_multi.go.
#include "cuda/variant.cuh"

namespace VARIANT {

using namespace coalesce;

constexpr u32 BLOCK = param::block;  // threads

__device__ __forceinline__ u64 thread() { return (u64)blockIdx.x * BLOCK + threadIdx.x; }
__device__ __forceinline__ u64 threads() { return (u64)gridDim.x * BLOCK; }

// adopt links the chunks that a shard has made to their rows. The shard has rows
// first .. first+count-1. Where given[row] >= 0, the shard has made chunk number
// given[row] - count for the row, which is chunk base + that number of the pool
// here. A row whose dual the shard has lowered, to fell[row], loses its column.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(adopt)(
    const int* given, const long long* fell, unsigned long long first, unsigned long long count, unsigned long long base,
    int* next, long long* u, int* match, int* owner) {
    for (u64 i = thread(); i < count; i += threads()) {
        u64 row = first + i;
        int made = given[row];
        if (made < 0) continue;
        u64 chunk = base + ((u64)made - count);
        next[chunk] = next[row];
        next[row] = (int)chunk;
        if (fell[row] >= u[row]) continue;
        u[row] = fell[row];
        int j = match[row];
        if (j >= 0) match[row] = -1, owner[j] = -1;
    }
}

// lone sets the column of the last edge of every row's first chunk, of `edges` edges, to the
// row's private column: number cols + row, whose cost is that of leaving the row unmatched.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(lone)(
    unsigned long long rows, unsigned long long cols, unsigned long long edges, int* col) {
    for (u64 i = thread(); i < rows; i += threads()) col[i * edges + edges - 1] = (int)(cols + i);
}

}  // namespace VARIANT
