// The entry points.
#include "cuda/variant.cuh"

namespace VARIANT {

// pairs checks that row i has a column of its own, over an allowed pair of zero slack, or,
// given a limit, no column and u at the limit. It also sums the primal objective and u. A
// fault is recorded as row * ROW_FAULTS + its fault.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(pairs)(const T* costs, long long* work,
        unsigned long long rows, unsigned long long cols, long long sign, long long shift, unsigned long long limited,
        long long limit) {
    Work w(work, rows, cols);
    Cost cost(sign, shift);
    Sum primal, dual;
    u32 matched = 0, reason = ROW_RIGHT;
    u64 i = (u64)blockIdx.x * BLOCK + threadIdx.x;
    if (i < rows) {
        i64 u = w.u[i], j = w.column[i];
        dual.add(u);
        w.edges[i] = (u32)i;
        if (!within(u)) reason = BAD_DUAL;
        if (limited != 0 && u > limit) reason = BEYOND_LIMIT;
        if (j == -1 && limited != 0) {
            primal.add(limit);
            if (u != limit) reason = NOT_LIMIT;
        } else if (j < 0 || j >= (i64)cols) {
            reason = NO_COLUMN;
        } else {
            T x = costs[i * cols + j];
            i64 c = cost(x);
            if constexpr (FLOATS) w.matched[i] = x;
            if (c == FREE || c == INVALID) {
                reason = FORBIDDEN_PAIR;
            } else {
                primal.add(c);
                if (plus(u, w.v[j]) != c) reason = SLACK_PAIR;
            }
            if (atomicCAS(w.owner + j, -1, (int)i) != -1) reason = COLUMN_TAKEN;
            matched = 1;
        }
    }
    primal.flush(w.words + PRIMAL);
    dual.flush(w.words + DUAL);
    matched = __reduce_add_sync(ALL, matched);
    if (threadIdx.x % WARP == 0 && matched != 0) atomicAdd(w.words + MATCHED, (u64)matched);
    if (reason != ROW_RIGHT) {
        atomicAdd(w.words + ROWS_WRONG, 1ull);
        atomicMin(w.words + FIRST_ROW, i * ROW_FAULTS + reason);
    }
}

// sweep runs after pairs. rules: a sum of enum Rule. width: of near entries of floats, -1 for none.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(sweep)(const T* costs, long long* work,
        unsigned long long rows, unsigned long long cols, long long sign, long long shift, unsigned long long rules, long long width) {
    Work w(work, rows, cols);
    if (cols % VEC == 0) sweep<true>(costs, w, sign, shift, (u32)rules, width);
    else sweep<false>(costs, w, sign, shift, (u32)rules, width);
}

}  // namespace VARIANT
