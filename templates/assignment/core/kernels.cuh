// The entry points.
#include "cuda/variant.cuh"

namespace VARIANT {

// minima lowers v[j], INFINITE before, to the least scaled cost of column j. A block has a
// strip of BLOCK columns and one of `shares` shares of the rows; strips vary fastest.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(minima)(
    const T* costs, unsigned long long rows, unsigned long long cols, double scale, unsigned long long shares, long long* v) {
    columnMinima(costs, rows, cols, Scale<T>(scale), shares, v);
}

// prices computes the prices of a Sieve from v, a thread a column.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(prices)(
    const long long* v, unsigned long long cols, double unit, double exact, float* prices) {
    coarsePrices(v, cols, unit, exact, prices);
}

// candidates writes every row's first chunk: about the K least c - v and, given a limit, the private edge.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(candidates)(
    const T* costs, unsigned long long rows, unsigned long long cols, double scale, double unit, double margin,
    const float* prices, long long limit, const long long* v, int* col, long long* cost, int* next) {
    rowCandidates<1>(Matrix<K>{costs, rows, cols, Scale<T>(scale), scale * unit, {prices, unit, margin}}, rows, cols, limit, v, col, cost, next);
}

// widen does the work of candidates with two chunks a row; the second is chunk rows + row.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(widen)(
    const T* costs, unsigned long long rows, unsigned long long cols, double scale, double unit, double margin,
    const float* prices, long long limit, const long long* v, int* col, long long* cost, int* next) {
    rowCandidates<2>(Matrix<2 * K>{costs, rows, cols, Scale<T>(scale), scale * unit, {prices, unit, margin}}, rows, cols, limit, v, col, cost, next);
}

// solve matches every row on the edges of the core. mode: a sum of enum Mode. The
// auction's epsilon falls from `epsilon` to `least`, and a scale ends with `full` owners.
// span: the largest difference of costs; hops: bids for one row of the queue; far: a phase
// matches many rows (square), else one (unmatched columns keep v = 0); most: limit of steps.
extern "C" __global__ void __launch_bounds__(param::block, 1) ENTRY(solve)(
    const int* col, const long long* cost, const int* next, long long* rest, long long* u, long long* v, int* match, int* owner,
    unsigned long long* word, unsigned long long* lists, int* reached, int* claim, unsigned long long* control,
    unsigned long long rows, unsigned long long width, unsigned long long capacity, unsigned long long shift,
    unsigned long long mode, long long epsilon, long long least, unsigned long long full,
    long long span, unsigned long long hops, unsigned long long far, unsigned long long most) {
    State s = {col, cost, next, rest, u, v, match, owner, word, lists, reached, claim, control, rows, width, capacity, (u32)shift, clock64()};
    Barrier barrier((u32*)(control + BARRIER));
    if ((mode & YIELD) && tied(s, barrier)) {
        if (thread() == 0) control[STATUS] = TIED;
        return;
    }
    if (mode & SOFT) anneal(s, barrier, 4, 200, 16, 1.7);
    if (mode) load(s, barrier);
    if (mode & AUCTION) {
        for (i64 e = epsilon;; e = e / DIVIDE > least ? e / DIVIDE : least) {
            release(s, barrier);
            auction(s, e, full, span, (u32)hops);
            barrier.sync();
            bool poor = __ldcg(control + ASSIGNED) < full;
            barrier.sync();
            if (poor && (mode & WARY)) {
                if (thread() == 0) control[STATUS] = STALLED;
                return;
            }
            if (e <= least) break;
        }
        s.stamp(BIDDING);
        settle(s, barrier);
        s.stamp(SETTLING);
    }
    if (mode & TIGHT) {
        auction(s, 0, rows, span, 64);
        barrier.sync();
        s.stamp(BIDDING);
        settle(s, barrier);
        s.stamp(SETTLING);
    }
    if (mode & APART) {
        if (blockIdx.x == 0) apart(s, far != 0, most);
        return;
    }
    COALESCE_DYNAMIC_SHARED(u64, room);
    Everyone threadGroup{barrier, *(LocalQueue*)room};
    phases(s, threadGroup, far != 0, most);
}

// price checks every entry against the duals. A row with an entry c < u + v gets a new chunk
// of its least c - v, a lower u, and loses its column. VIOLATIONS counts these rows.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(price)(
    const T* costs, unsigned long long rows, unsigned long long cols, double scale, double unit, double margin,
    const float* prices, long long* u, const long long* v, int* match, int* owner, int* col, long long* cost, int* next, unsigned long long* control,
    unsigned long long pool) {
    pricing<false>(Matrix<K>{costs, rows, cols, Scale<T>(scale), scale * unit, {prices, unit, margin}}, rows, u, v, match, owner, nullptr, col, cost, next, control, pool);
}

// grow adds, to rows that a stuck search has reached, edges to columns that the search has not reached.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(grow)(
    const T* costs, unsigned long long rows, unsigned long long cols, double scale, double unit, double margin,
    const float* prices, long long* u, const long long* v, int* match, int* owner, const unsigned long long* word, int* col, long long* cost, int* next,
    unsigned long long* control, unsigned long long pool) {
    pricing<true>(Matrix<K>{costs, rows, cols, Scale<T>(scale), scale * unit, {prices, unit, margin}}, rows, u, v, match, owner, word, col, cost, next, control, pool);
}

}  // namespace VARIANT
