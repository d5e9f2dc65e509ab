// The range of a matrix's costs, their scale, and the costs where paths are searched.
#include "cuda/variant.cuh"

namespace VARIANT {

// Costs reads scaled costs: from shared memory, or from the matrix.
struct Costs {
    const i64* shared;
    const T* matrix;
    Job job;
    Scale<T> scale;
    __device__ __forceinline__ Number read(u32 row, u32 column) const {
        if constexpr (SHARED) return shared[row * job.cols + column];
        else return matrix[job.at(row, column)];
    }
    __device__ __forceinline__ i64 scaled(Number x) const {
        if constexpr (SHARED) return x;
        else return scale(x);
    }
    __device__ __forceinline__ i64 operator()(u32 row, u32 column) const { return scaled(read(row, column)); }
};

// survey finds the scale of a matrix; false: some cost cannot be solved with.
__device__ __forceinline__ bool survey(const Team& team, const Job& job, const T* matrix, double& scale) {
    Span s;
    u32 all = job.rows * job.cols;
    bool maximize = (job.asks & MAXIMIZE) != 0;
    for (u32 k = team.thread; k < all; k += TEAM * FLIGHT) {
        T x[FLIGHT];
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) x[f] = matrix[k + f * TEAM < all ? k + f * TEAM : k];
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) look(s, x[f], maximize);
    }
    s.least = warpLeast(s.least), s.most = ~warpLeast(~s.most);
    if constexpr (TEAM > WARP) {
        if (team.thread % WARP == 0) team.slot[team.thread / WARP] = {s.least, s.most, 0};
        __syncthreads();
        const Slot& other = team.slot[min(team.thread % WARP, WARPS - 1)];
        s.least = warpLeast(other.distance);
        s.most = ~warpLeast(~other.most);
    }
    if (s.least > s.most) s.least = s.most = 0;  // none is allowed
    scale = fit(s, job.bound);
    if (maximize) scale = -scale;
    return !any(s.bad);
}

// load scales the costs into shared memory, where they are to be read there.
__device__ __forceinline__ Costs load(const Team& team, const Job& job, const T* matrix, double scale) {
    Costs c = {team.costs, matrix, job, Scale<T>(scale)};
    if constexpr (SHARED) {
        u32 all = job.rows * job.cols, minor = job.turned ? job.rows : job.cols;
        u32 i = team.thread / minor, j = team.thread % minor, rows = TEAM / minor, rest = TEAM % minor;
        for (u32 k = team.thread; k < all; k += TEAM * FLIGHT) {
            T x[FLIGHT];
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) x[f] = matrix[k + f * TEAM < all ? k + f * TEAM : k];
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) {
                if (k + f * TEAM < all) team.costs[job.turned ? j * job.cols + i : k + f * TEAM] = c.scale(x[f]);
                i += rows, j += rest;
                if (j >= minor) i++, j -= minor;
            }
        }
    }
    sync();
    return c;
}

// start sets the duals of columns. Of square matrices these are the columns' least costs, and rows get the first column
// whose least cost they have; else zero, the dual that unmatched columns must have. With that `tied` becomes true where many costs are equal: with lists the least
// costs of most columns, else those below one another.
__device__ __forceinline__ void start(Team& team, Columns& c, const Costs& costs, bool reduce, bool& tied) {
    u32 ties = 0;
    for (u32 i = team.thread; i < team.rows; i += TEAM) team.column[i] = ABSENT;
    sync();
    int least[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 j = team.thread + k * TEAM;
        c.v[k] = c.cost[k] = 0, c.owner[k] = least[k] = NONE, c.place[k] = 0;
        if (j >= team.cols) continue;
        c.valid |= 1u << k;
        if (!reduce) continue;
        i64 v = INFINITE, last = INFINITE;
        bool several = false;
        for (u32 from = 0; from < team.rows; from += FLIGHT) {
            i64 x[FLIGHT];
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) x[f] = costs(from + f < team.rows ? from + f : from, j);
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) {
                if constexpr (LISTS) several = x[f] >= v && (several || (x[f] == v && from + f < team.rows));
                else if constexpr (TIES) ties += x[f] == last && from + f < team.rows, last = x[f];
                if (x[f] < v) v = x[f], least[k] = (int)(from + f);
            }
        }
        ties += several;
        if (least[k] == NONE) continue;
        c.v[k] = v;
        atomicMin(team.column + least[k], (int)j);
    }
    if constexpr (TIES) {
        ties = __reduce_add_sync(ALL, ties);
        if (team.thread % WARP == 0) team.slot[team.thread / WARP].key = ties;
    }
    sync();
    if constexpr (TIES)
        if (reduce) tied = __reduce_add_sync(ALL, team.thread % WARP < WARPS ? team.slot[team.thread % WARP].key : 0u) > (LISTS ? team.cols / 2 : team.rows * team.cols / 16);
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 j = team.thread + k * TEAM;
        if (least[k] != NONE && team.column[least[k]] == (int)j) c.owner[k] = least[k], c.cost[k] = c.v[k], team.u[least[k]] = 0;
        if (j >= team.cols) continue;
        team.owner[j] = c.owner[k];
        if constexpr (BIDS) team.v[j] = c.v[k];
    }
    for (u32 i = team.thread; i < team.rows; i += TEAM)
        if (team.column[i] == ABSENT) team.column[i] = NONE;
    sync();
}

}  // namespace VARIANT
