// Soft minima in place of an auction.
#include "cuda/variant.cuh"

namespace VARIANT {

// Annealed soft minima on the edges of the core, for square problems, in place of an
// auction. assignment/duals does the same over the whole matrix, and its first body says what
// u and v are. During the annealing u and v hold doubles, and word holds sums of shares.
constexpr float FAINT = -1e30f;             // below every exponent
constexpr double WHOLE = 4294967296.0;      // the value of a share of 1 in word
constexpr double LOG2E = 1.4426950408889634;

__device__ __forceinline__ double real(const i64* p) { return __longlong_as_double(__ldcg(p)); }

// softRows sets u such that every row's shares, at temperature 1/scale, sum to 1, and
// adds the shares to the columns' sums.
__device__ void softRows(State& s, double scale) {
    u32 lane = threadIdx.x % LANES;
    for (u64 i = thread() / LANES; i < s.rows; i += threads() / LANES) {
        double base = real(s.u + i);
        int j[ITEMS];
        float x[ITEMS], most = FAINT, sum = 0;
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u64 e = i * K + k * LANES + lane;
            j[k] = s.col[e];
            x[k] = j[k] < 0 ? FAINT : fmaxf((float)((base + real(s.v + j[k]) - (double)s.cost[e]) * scale), FAINT);
            most = fmaxf(most, x[k]);
        }
#pragma unroll
        for (u32 d = LANES / 2; d > 0; d >>= 1) most = fmaxf(most, __shfl_xor_sync(team(), most, d));
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) sum += x[k] = exp2f(x[k] - most);
#pragma unroll
        for (u32 d = LANES / 2; d > 0; d >>= 1) sum += __shfl_xor_sync(team(), sum, d);
        if (most <= FAINT / 2) continue;  // the row has no edge
        if (lane == 0) s.u[i] = __double_as_longlong(base - ((double)most + (double)log2f(sum)) / scale);
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u64 share = (u64)((double)(x[k] / sum) * WHOLE);
            if (share > 0 && j[k] >= 0) atomicAdd(s.word + j[k], share);
        }
    }
}

// softColumns moves v by the factor `relax` of the step that would make every column's sum
// 1; sums count as at least 1/1024. The v of a column without edges stays.
__device__ void softColumns(State& s, double scale, double relax) {
    for (u64 j = thread(); j < s.width; j += threads()) {
        u64 sum = __ldcg(s.word + j);
        s.word[j] = 0;
        if (sum == 0) continue;
        double step = (double)log2f(fmaxf((float)((double)sum / WHOLE), 1.0f / 1024));
        s.v[j] = __double_as_longlong(real(s.v + j) - relax * step / scale);
    }
}

// anneal sets v. The temperature starts at 1/first of the mean gap between a row's best and
// worst candidate, and halves down to 1/last of the gap; each temperature has `rounds`
// iterations. Where the first temperature would be below 1, costs tie too often, and v stays.
__device__ void anneal(State& s, Barrier& barrier, double first, double last, u32 rounds, double relax) {
    u32 lane = threadIdx.x % LANES;
    if (thread() == 0) s.control[BOUND] = 0;
    for (u64 j = thread(); j < s.width; j += threads()) {
        s.word[j] = 0;
        if (s.v[j] >= INFINITE) s.v[j] = 0;
    }
    barrier.sync();
    u64 gaps = 0;
    for (u64 i = thread() / LANES; i < s.rows; i += threads() / LANES) {
        i64 least = INFINITE, most = -INFINITE;
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u64 e = i * K + k * LANES + lane;
            int j = s.col[e];
            i64 x = j < 0 ? INFINITE : s.cost[e] - __ldcg(s.v + j);
            if (j >= 0) least = x < least ? x : least, most = x > most ? x : most;
        }
#pragma unroll
        for (u32 d = LANES / 2; d > 0; d >>= 1) {
            i64 a = __shfl_xor_sync(team(), least, d), b = __shfl_xor_sync(team(), most, d);
            least = a < least ? a : least, most = b > most ? b : most;
        }
        if (lane == 0) s.u[i] = __double_as_longlong(least < INFINITE ? (double)least : 0.0);
        if (lane == 0 && least < INFINITE) gaps += (u64)(most - least);
    }
    if (gaps) atomicAdd(s.control + BOUND, gaps);
    barrier.sync();
    double gap = (double)__ldcg(s.control + BOUND) / (double)s.rows;
    for (u64 j = thread(); j < s.width; j += threads()) s.v[j] = __double_as_longlong((double)s.v[j]);
    barrier.sync();
    double least = fmax(gap / last, 0.25);
    for (double t = gap / first; gap >= first && t >= least; t /= 2)
        for (u32 k = 0; k < rounds; k++) {
            softRows(s, LOG2E / t);
            barrier.sync();
            softColumns(s, LOG2E / t, k == 0 ? 1 : relax);
            if (thread() == 0) s.control[STEPS]++;
            barrier.sync();
        }
    for (u64 j = thread(); j < s.width; j += threads()) s.v[j] = __double2ll_rn(real(s.v + j));
    barrier.sync();
}

}  // namespace VARIANT
