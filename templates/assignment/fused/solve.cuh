// The solve of one matrix by a team.
#include "cuda/variant.cuh"

namespace VARIANT {

// Answers are where those of all matrices go, each where it is not null: the matched pairs of a matrix, its rows ascending, the column of each row or NONE,
// and the status.
struct Answers {
    i64 *pairRows, *pairColumns, *columns;
    int* status;
};

// write writes the answer about matrix `index`.
__device__ __forceinline__ void write(const Team& team, const Columns& c, const Job& job, const Answers& to, u64 index, Status status) {
    u32 rows = job.turned ? team.cols : team.rows;
    bool found = status == PROVEN || status == UNDECIDED;
    if (to.status != nullptr && team.thread == 0) to.status[index] = status;
    i64 *pairRows = to.pairRows + index * team.rows, *pairColumns = to.pairColumns + index * team.rows, *columns = to.columns + index * rows;
    if (to.columns != nullptr && (!job.turned || !found))
        for (u32 i = team.thread; i < rows; i += TEAM) columns[i] = found ? team.column[i] : NONE;
    if (to.pairRows != nullptr && (!job.turned || !found))
        for (u32 i = team.thread; i < team.rows; i += TEAM) pairRows[i] = found ? (i64)i : NONE, pairColumns[i] = found ? team.column[i] : NONE;
    if (!job.turned || !found) return;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 j = team.thread + k * TEAM, before = 0;
        if ((c.valid >> k & 1) == 0) continue;
        if (to.columns != nullptr) columns[j] = c.owner[k];
        if (c.owner[k] < 0 || to.pairRows == nullptr) continue;
        for (u32 i = 0; i < team.rows; i++) before += team.column[i] < (int)j;
        pairRows[before] = j, pairColumns[before] = c.owner[k];
    }
}

// matched matches all rows and checks the matching. SciPy's order is that of its paths, which begin at dual 0. Where a team has up to 16 warps and a square matrix
// few ties, the matching is found without that order, and is SciPy's if no other is as good; else the paths follow. Lists are for matrices of fewer
// than twice as many columns as rows, as bids leave few rows of wide ones.
__device__ __forceinline__ Status matched(Team& team, Columns& c, const Costs& costs, double scale) {
    const Job& job = costs.job;
    bool scipy = (job.asks & SCIPY) != 0, square = team.rows == team.cols, tied = false;
    bool ordered = scipy && !(TIES && square && job.near);
    for (;; ordered = true) {
        start(team, c, costs, !ordered && square, tied);
        if (scipy && !ordered && tied) continue;
        bool full, last = ordered || !scipy, only = false, listed = LISTS && !ordered && !tied && team.cols < 2 * team.rows;
        if constexpr (LISTS)
            if (listed) {
                list(team, costs);
                bidding<true>(team, c, costs);
                full = matchByLabels(team, c, costs);
            }
        if (!listed) {
            if constexpr (BIDS)
                if (!ordered) bidding<false>(team, c, costs);
            full = match(team, c, costs, ordered);
        }
        if (!full) return UNMATCHED;
        if (last && (job.asks & CHECKED) == 0) return PROVEN;
        Status found = check(team, c, job, costs.matrix, scale, !last, only);
        if (last || only || found == REFUTED) return found;
    }
}

// report tells the host what became of a matrix: `stamp` goes to *late if it is not proven and, once all are solved and written, to *ended, which the
// host may look at before the launch is over. *solved counts the matrices of all launches.
__device__ __forceinline__ void report(const Team& team, Status status, u64 count, u64* late, u64* ended, u64* solved, u64 stamp) {
    if (late != nullptr && status != PROVEN && team.thread == 0) *late = stamp;
    if (ended == nullptr) return;
    sync();
    if (team.thread != 0) return;
    __threadfence_system();
    if ((atomicAdd(solved, 1ull) + 1) % count != 0) return;
    __threadfence_system();
    *ended = stamp;
}

// solve: each team solves one of `count` matrices of rows * cols costs, as they lie, and reports. Null pointers are answers that are not asked for.
extern "C" __global__ void __launch_bounds__(param::team * param::teams, LISTS && TEAM <= 512 ? 2 : 1) ENTRY(solve)(const T* costs, unsigned long long count, unsigned long long rows,
    unsigned long long cols, unsigned long long asks, long long bound, unsigned long long memory, unsigned long long near, unsigned long long slots,
    long long* pairRows, long long* pairColumns, long long* columns, int* status, unsigned long long* late, unsigned long long* ended,
    unsigned long long* solved, unsigned long long stamp) {
    COALESCE_DYNAMIC_SHARED(char, dynamic);
    __shared__ Slot slot[2 * WARPS];
    u64 index = (u64)blockIdx.x * TEAMS + threadIdx.x / TEAM;
    if (index >= count) return;
    bool turned = rows > cols;
    Job job = {(u32)(turned ? cols : rows), (u32)(turned ? rows : cols), turned, asks, bound, near != 0, (u32)slots};
    Answers to = {pairRows, pairColumns, columns, status};
    Team team(job, dynamic + threadIdx.x / TEAM * memory, slot);
    Columns c;
    const T* matrix = costs + index * rows * cols;
    Status found = INVALID_COST;
    double scale;
    if (survey(team, job, matrix, scale)) {
        Costs from = load(team, job, matrix, scale);
        found = matched(team, c, from, scale);
    }
    write(team, c, job, to, index, found);
    report(team, found, count, late, ended, solved, stamp);
}

}  // namespace VARIANT
