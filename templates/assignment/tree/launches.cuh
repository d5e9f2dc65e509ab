// barrier=host: a launch a step.
#include "cuda/variant.cuh"

namespace VARIANT {

// step makes step number `now` of a solve, in a launch with one block for each `width`
// columns. Steps after the last do nothing.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(step)(const T* costs, unsigned long long* work, unsigned long long rows, unsigned long long cols,
        unsigned long long width, unsigned long long warm, double scale, unsigned long long now) {
    __shared__ Scratch scratch;
    __shared__ Work w;
    if (threadIdx.x == 0) w.cut(work, rows, cols, width);
    __syncthreads();
    Turn t = w.head->slot[now % 3].turn;
    step(w, Costs(costs, scale, cols), t, warm != 0, scratch);
    w.close();
    if (w.leads()) w.head->slot[(now + 1) % 3].turn = w.head->slot[3].turn = t;
}

}  // namespace VARIANT
