// The solve of one problem by a block.
#include "cuda/variant.cuh"

namespace VARIANT {

// solve: each block solves one problem. The answer begins with its counts.
extern "C" __global__ void __launch_bounds__(param::block, 1024 / param::block)
ENTRY(solve)(const T* costs, const long long* problems, T* copies, char* states, long long* answers) {
    const Problem p = ((const Problem*)problems)[blockIdx.x];
    COALESCE_DYNAMIC_SHARED(char, memory);
    if constexpr (!SHARED) memory = states + p.state;
    __shared__ SharedState sharedState;
    State s(memory, &sharedState, (u32)p.rows, (u32)p.cols);
    Costs c = load(p, costs, copies);
    Effort effort;
    prepare(s, c);
    u32 left = bidding(s, c, effort);
    left = matching(s, c, left, effort);
    i64* answer = answers + p.answer;
    if (threadIdx.x == 0) {
        answer[LEFT] = left, answer[BIDS] = effort.bids, answer[TURNS] = effort.turns;
        answer[SEARCHES] = effort.searches, answer[SCANS] = effort.scans;
    }
    i64 *u = answer + COUNTS, *v = u + s.rows;
    int* column = (int*)(v + s.cols);
    for (u32 i = threadIdx.x; i < s.rows; i += BLOCK) u[i] = s.u[i], column[i] = s.column[i];
    for (u32 j = threadIdx.x; j < s.cols; j += BLOCK) v[j] = s.v[j];
}

}  // namespace VARIANT
