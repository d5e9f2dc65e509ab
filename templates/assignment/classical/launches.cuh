// barrier=host: a launch a step; the host reads the counters between them.
#include "cuda/variant.cuh"

namespace VARIANT {

extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(greedy)(WORK_ARGS) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    greedy(m, everyone());
}

extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(level)(WORK_ARGS,
        unsigned long long side, unsigned long long head, unsigned long long tail, unsigned long long turn, unsigned long long phase) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    level(m, (u32)side, (u32)head, (u32)tail, m.ctl->count, (u32)turn, (u32)phase, everyone());
}

extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(minimum)(WORK_ARGS,
        unsigned long long side, unsigned long long tail, unsigned long long number) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    __shared__ Finds finds;
    minimum(m, (u32)side, (u32)tail, number, finds, everyone());
}

extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(update)(WORK_ARGS,
        unsigned long long side, unsigned long long tail, unsigned long long turn, unsigned long long phase, unsigned long long number) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    update(m, (u32)side, (u32)tail, (u32)turn, (u32)phase, number, everyone());
}

extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(augment)(WORK_ARGS,
        unsigned long long side, unsigned long long tail, unsigned long long turn) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    augment(m, (u32)side, (u32)tail, (u32)turn, everyone());
}

}  // namespace VARIANT
