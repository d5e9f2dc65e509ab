// The first two steps as launches of their own, after each of which the host waits.
#include "cuda/variant.cuh"

namespace VARIANT {

extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(begin)(WORK_ARGS) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    begin(m, everyone());
}

extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(reduce)(WORK_ARGS) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    reduceRows(m, everyone());
}

}  // namespace VARIANT
