// The annealing of the duals, one launch.
#include "cuda/variant.cuh"

namespace VARIANT {

// anneal computes prices v, and writes them, scaled and rounded, to `prices`. First it reads
// every stride-th row: where the columns' sums differ no more than random costs would make
// them (structure at most `chance`), it sets STRUCTURED to 0 and ends. Otherwise the
// temperature falls by halves, from a quarter of the mean slack; each temperature has
// `least` to `most` iterations, until the columns' mean error is below `tolerance`; `relax`
// is the step length of all but a temperature's first. anneal ends when rows have fewer than
// `neighbours` columns in effect, at temperature `coldest`, or after `total` iterations.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(anneal)(
    const T* costs, unsigned long long rows, unsigned long long cols, double scale, long long limit,
    double* u, double* v, unsigned long long* sums, double* partial, unsigned long long* control, long long* prices,
    unsigned long long stride, double chance, double tolerance, double relax, unsigned long long least,
    unsigned long long most, unsigned long long total, double neighbours, double coldest) {
    Problem p = {costs, rows, cols, Scale<T>(scale), limit < INFINITE ? (double)limit : INFINITY, limit < INFINITE || rows < cols, u, v, sums, partial};
    GridBarrier barrier((u32*)(control + BARRIER));
    p.take(stride);
    start(p, barrier);
    double t = slack(p, barrier) / 4, reads = 2.0 * (double)p.used, structure = 0;
    u64 done = 0;
    if (t > 0) {
        Found f = iterate(p, barrier, t, 1, done++, true);
        reads += 2.0 * (double)p.used;
        structure = f.error * sqrt(f.neighbours * (double)p.used / (double)cols);
    }
    bool structured = structure > chance;
    if (structured && stride > 1) {
        p.take(1);
        t = slack(p, barrier) / 4;
        reads += (double)rows;
    }
    for (; structured && t > 0; t = t / 2 > coldest ? t / 2 : coldest) {
        Found f = {};
        for (u64 k = 0; done < total && k < most && (k < least || f.error >= tolerance); k++) {
            f = iterate(p, barrier, t, k == 0 ? 1 : relax, done++, false);
            reads += 2.0 * (double)rows;
        }
        if (f.neighbours < neighbours || t <= coldest || done >= total) break;
    }
    for (u64 j = thread(); j < cols; j += threads()) prices[j] = __double2ll_rn(p.v[j]);
    if (thread() == 0) {
        control[STRUCTURED] = structured, control[ITERATIONS] = done, control[READS] = (u64)reads;
        control[TEMPERATURE] = (u64)__double_as_longlong(t), control[STRUCTURE] = (u64)__double_as_longlong(structure);
    }
}

}  // namespace VARIANT
