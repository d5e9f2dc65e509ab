// barrier=grid: a solve in one launch.
#include "cuda/variant.cuh"

namespace VARIANT {

// solve makes a whole solve, or the next `most` steps of one. It is a cooperative launch
// with one block for each `width` columns.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(solve)(const T* costs, unsigned long long* work, unsigned long long rows, unsigned long long cols,
        unsigned long long width, unsigned long long warm, double scale, unsigned long long most) {
    __shared__ Scratch scratch;
    __shared__ Work w;
    if (threadIdx.x == 0) w.cut(work, rows, cols, width);
    __syncthreads();
    run(w, Costs(costs, scale, cols), warm != 0, most, GridBarrier(w.head->word), scratch);
}

}  // namespace VARIANT
