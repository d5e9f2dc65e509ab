// The entry points.
#include "cuda/variant.cuh"

namespace VARIANT {

// pairs checks that row i has a column of its own, over a pair of zero slack, or, given a
// limit, no column and u at the limit. A fault is recorded as row * ROW_FAULTS + its fault.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(pairs)(const double* row, const double* col,
        unsigned long long dim, long long* work, unsigned long long rows, unsigned long long cols, long long sign,
        long long shift, unsigned long long limited, long long limit) {
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
            double sum = 0;
            for (u64 d = 0; d < dim; d++) sum = __dadd_rn(sum, term(row[i * dim + d], col[j * dim + d]));
            i64 c = cost(length(sum));
            primal.add(c);
            if (plus(u, w.v[j]) != c) reason = SLACK_PAIR;
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

// sweep runs after pairs; `loose` says that columns may stay unmatched. width: of near pairs, -1 for none.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(sweep)(const double* row, const double* col,
        unsigned long long dim, long long* work, unsigned long long rows, unsigned long long cols, long long sign,
        long long shift, unsigned long long loose, long long width) {
    sweep(row, col, dim, Work(work, rows, cols), sign, shift, loose != 0, width);
}

}  // namespace VARIANT
