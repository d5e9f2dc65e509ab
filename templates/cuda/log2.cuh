// The logarithm of a power of two, as a constant.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

template <u32 N> constexpr u32 LOG2 = 1 + LOG2<N / 2>;
template <> constexpr u32 LOG2<1> = 0;

}  // namespace coalesce
