// The certificates of a batch: the checks of assignment/check, a block a problem.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 CHECKED = 8;  // costs that a thread of check loads at once

// add adds x to a sum of two words, high * 2^32 + low, exact over fewer than 2^31 addends.
__device__ __forceinline__ void add(u64* words, i64 x) {
    atomicAdd(words, (u64)(x >> 32));
    atomicAdd(words + 1, (u64)x & 0xffffffffu);
}

// Answer points to a problem's costs, its answer, and the findings about the answer.
struct Answer {
    const T* costs;
    u64 stride, rows, cols;
    bool turned;  // whether rows of the problem are columns of the instance
    const i64 *u, *v;
    const int* column;
    u64* words;
    int* owner;
    __device__ __forceinline__ Answer(const T* all, const Problem& p, const i64* answers, u64* found) : costs(all + p.costs),
        stride(p.stride), rows(p.rows), cols(p.cols), turned(p.copy >= 0), u(answers + p.answer + COUNTS), v(u + p.rows),
        column((const int*)(v + p.cols)), words(found + WORDS * (u64)blockIdx.x),
        owner((int*)(found + WORDS * (u64)gridDim.x + p.answer)) {}
    __device__ __forceinline__ T at(u64 i, u64 j) const { return costs[turned ? j * stride + i : i * stride + j]; }
};

// pairs checks that every row has a column of its own, and that their pair is allowed and has zero slack.
__device__ __forceinline__ void pairs(const Answer& a, Cost cost) {
    for (u64 i = threadIdx.x; i < a.rows; i += BLOCK) {
        i64 u = a.u[i], j = a.column[i];
        u32 reason = within(u) ? ROW_RIGHT : BAD_DUAL;
        add(a.words + DUAL, u);
        if (j < 0 || j >= (i64)a.cols) {
            reason = NO_COLUMN;
        } else {
            i64 c = cost(a.at(i, j));
            if (c == FREE || c == INVALID) {
                reason = FORBIDDEN_PAIR;
            } else {
                add(a.words + PRIMAL, c);
                if (plus(u, a.v[j]) != c) reason = SLACK_PAIR;
            }
            if (atomicCAS(a.owner + j, -1, (int)i) != -1) reason = COLUMN_TAKEN;
            atomicAdd(a.words + MATCHED, 1ull);
        }
        if (reason == ROW_RIGHT) continue;
        atomicAdd(a.words + ROWS_WRONG, 1ull);
        atomicMin(a.words + FIRST_ROW, i * ROW_FAULTS + reason);
    }
}

// columns checks that duals are not positive where columns may stay
// unmatched, and zero where they do.
__device__ __forceinline__ void columns(const Answer& a) {
    for (u64 j = threadIdx.x; j < a.cols; j += BLOCK) {
        i64 v = a.v[j];
        add(a.words + DUAL, v);
        u32 reason = !within(v) ? BAD_PRICE : a.rows < a.cols && v > 0 ? POSITIVE_PRICE : a.owner[j] < 0 && v != 0 ? FREE_PRICE : COLUMN_RIGHT;
        if (reason == COLUMN_RIGHT) continue;
        atomicAdd(a.words + COLUMNS_WRONG, 1ull);
        atomicMin(a.words + FIRST_COLUMN, j * COLUMN_FAULTS + reason);
    }
}

// sweep checks every pair, in the order of memory. A thread holds the dual of one minor
// index, and goes over the major indices; threads divide these where minor ones are few.
__device__ __forceinline__ void sweep(const Answer& a, Cost cost) {
    const i64 *along = a.turned ? a.u : a.v, *across = a.turned ? a.v : a.u;
    u64 minor = a.turned ? a.rows : a.cols, major = a.turned ? a.cols : a.rows;
    u64 span = minor < BLOCK ? minor : BLOCK, groups = BLOCK / span, group = threadIdx.x / span;
    for (u64 k = threadIdx.x % span; k < minor && group < groups; k += span) {
        i64 dual = along[k];
        for (u64 from = group; from < major; from += groups * CHECKED) {
            T x[CHECKED];
#pragma unroll
            for (u64 f = 0; f < CHECKED; f++) {
                u64 l = from + f * groups;
                x[f] = a.costs[(l < major ? l : from) * a.stride + k];
            }
#pragma unroll
            for (u64 f = 0; f < CHECKED; f++) {
                u64 l = from + f * groups;
                if (l >= major || plus(across[l], dual) <= cost(x[f])) continue;
                atomicAdd(a.words + ENTRIES, 1ull);
                atomicMin(a.words + FIRST_ENTRY, a.turned ? k * a.cols + l : l * a.cols + k);
            }
        }
    }
    if (cost.forbidden != 0) atomicAdd(a.words + FORBIDDEN, (u64)cost.forbidden);
    if (cost.rounded != 0) atomicAdd(a.words + ROUNDED, (u64)cost.rounded);
}

// check writes the findings about each problem, WORDS words a problem, from word `found` of
// the answers on; behind the findings of all problems are the owners of columns.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(check)(const T* costs, const long long* problems, long long* answers, unsigned long long found) {
    const Problem& p = ((const Problem*)problems)[blockIdx.x];
    Answer a(costs, p, answers, (u64*)answers + found);
    for (u64 j = threadIdx.x; j < a.cols; j += BLOCK) a.owner[j] = -1;
    if (threadIdx.x < WORDS) a.words[threadIdx.x] = threadIdx.x < FIRST_ENTRY ? 0 : ~0ull;
    __syncthreads();
    Cost cost(p.scale < 0 ? -1 : 1, (__double_as_longlong(p.scale) >> 52 & 2047) - 1023);
    pairs(a, cost);
    __syncthreads();
    columns(a);
    sweep(a, cost);
}

}  // namespace VARIANT
