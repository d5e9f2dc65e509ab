#include "cuda/variant.cuh"

namespace VARIANT {

using T = param::value;
constexpr unsigned BLOCK = param::block;
constexpr unsigned ITEMS = param::items;                 // items of a pass
constexpr unsigned EACH = param::each;                   // capacities that a thread computes
constexpr unsigned SUBSETS = 1u << ITEMS;                // subsets of a pass's items
constexpr unsigned long long NEVER = ~0ull;              // the weight of a subset that no knapsack holds

// pass adds the ITEMS items from first on: table[c] = max over subsets of them of old[c - weight] + value, for all
// capacities c from 0 to capacity.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(pass)(const T* old, T* table, const unsigned long long* weights, const T* values, unsigned long long first,
        unsigned long long count, unsigned long long capacity) {
    __shared__ unsigned long long heavy[SUBSETS];
    __shared__ T worth[SUBSETS];
    for (unsigned s = threadIdx.x; s < SUBSETS; s += BLOCK) {
        unsigned long long w = 0;
        T v = 0;
        for (unsigned k = 0; k < ITEMS; k++) {
            if (!(s >> k & 1)) continue;
            unsigned long long x = first + k < count ? weights[first + k] : NEVER;
            w = w == NEVER || x > capacity - w ? NEVER : w + x;
            if (w != NEVER) v += values[first + k];
        }
        heavy[s] = w;
        worth[s] = v;
    }
    __syncthreads();
    unsigned long long step = (unsigned long long)gridDim.x * BLOCK * EACH;
    for (unsigned long long from = (unsigned long long)blockIdx.x * BLOCK * EACH + threadIdx.x; from <= capacity; from += step) {
#pragma unroll
        for (unsigned i = 0; i < EACH; i++) {
            unsigned long long c = from + i * BLOCK;
            if (c > capacity) break;
            T best = old[c];
#pragma unroll
            for (unsigned s = 1; s < SUBSETS; s++) {
                if (heavy[s] > c) continue;
                T x = old[c - heavy[s]] + worth[s];
                if (x > best) best = x;
            }
            table[c] = best;
        }
    }
}

}  // namespace VARIANT
