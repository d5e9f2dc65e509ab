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

// solve: each team solves one of `count` matrices of rows * cols costs, as they lie. A team whose matrix is not proven writes
// `stamp` to *late. Null pointers are answers that are not asked for.
extern "C" __global__ void __launch_bounds__(param::team * param::teams) ENTRY(solve)(const T* costs, unsigned long long count, unsigned long long rows,
    unsigned long long cols, unsigned long long asks, long long bound, unsigned long long memory, unsigned long long near,
    long long* pairRows, long long* pairColumns, long long* columns, int* status, unsigned long long* late, unsigned long long stamp) {
    COALESCE_DYNAMIC_SHARED(char, dynamic);
    __shared__ Slot slots[2 * WARPS];
    u64 index = (u64)blockIdx.x * TEAMS + threadIdx.x / TEAM;
    if (index >= count) return;
    bool turned = rows > cols;
    Job job = {(u32)(turned ? cols : rows), (u32)(turned ? rows : cols), turned, asks, bound, near != 0};
    Answers to = {pairRows, pairColumns, columns, status};
    Team team(job, dynamic + threadIdx.x / TEAM * memory, slots);
    Columns c;
    const T* matrix = costs + index * rows * cols;
    Status found = INVALID_COST;
    double scale;
    if (survey(team, job, matrix, scale)) {
        bool scipy = (asks & SCIPY) != 0;
        Costs from = load(team, job, matrix, scale);
        start(team, c, from, !scipy && team.rows == team.cols);
        if constexpr (BIDS)
            if (!scipy) bidding(team, c, from);
        found = UNMATCHED;
        if (match(team, c, from, scipy)) found = (asks & CHECKED) != 0 ? check(team, c, job, matrix, scale) : PROVEN;
    }
    write(team, c, job, to, index, found);
    if (late != nullptr && found != PROVEN && team.thread == 0) *late = stamp;
}

}  // namespace VARIANT
