// Random numbers without state, as hashes of the numbers that identify their use.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// splitmix hashes 64 bits: the finaliser of splitmix64 (G. Steele, D. Lea and C.
// Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
__device__ __forceinline__ u64 splitmix(u64 x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

}  // namespace coalesce
