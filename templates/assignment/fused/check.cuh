// The certificate: what shares no code with the solve reads the costs again.
#include "cuda/variant.cuh"

namespace VARIANT {

// check returns what became of a matched matrix: duals in range, at most the cost of every pair together, equal to it for matched ones,
// every row with a column of its own, and free columns with the dual 0. Where costs were rounded, no other
// matching may have pairs within rounding alone: a unit a row. Where it is asked for, `only` becomes true if no other matching has such pairs.
__device__ __forceinline__ Status check(Team& team, const Columns& c, const Job& job, const T* matrix, double scale, bool asked, bool& only) {
    Cost cost(scale < 0 ? -1 : 1, (__double_as_longlong(scale) >> 52 & 2047) - 1023);
    int* seen = team.via;
    bool wrong = false, wide = team.rows < team.cols;
    bool graph = job.near && (!INTEGERS || asked);
    i64 margin = INTEGERS ? 0 : (i64)team.rows;
    sync();
    for (u32 i = team.thread; i < team.rows; i += TEAM) seen[i] = NONE;
    if (graph) clear(team);
    sync();
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        if ((c.valid >> k & 1) == 0) continue;
        u32 j = team.thread + k * TEAM;
        i64 v = c.v[k];
        int owner = c.owner[k];
        if (!within(v) || (wide && v > 0) || (owner < 0 && v != 0) || owner >= (int)team.rows) wrong = true;
        if (owner >= 0 && owner < (int)team.rows) {
            seen[owner] = (int)j;
            if (graph && wide && v >= -margin) lead(team, team.rows, (u32)owner);
        }
        for (u32 from = 0; from < team.rows; from += FLIGHT) {
            T x[FLIGHT];
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) {
                u32 i = from + f < team.rows ? from + f : from;
                x[f] = matrix[job.at(i, j)];
            }
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) {
                u32 i = from + f;
                if (i >= team.rows) continue;
                i64 w = cost(x[f]), sum = plus(team.u[i], v);
                bool matched = (int)i == owner;
                if (sum > w || (matched && (w == FREE || sum != w))) wrong = true;
                if (graph && !matched && w != FREE && w - sum <= margin) lead(team, i, owner < 0 ? team.rows : (u32)owner);
            }
        }
    }
    sync();
    for (u32 i = team.thread; i < team.rows; i += TEAM)
        if (!within(team.u[i]) || seen[i] == NONE || seen[i] != team.column[i]) wrong = true;
#pragma unroll
    for (u32 k = 0; k < EACH; k++)
        if ((c.valid >> k & 1) != 0 && c.owner[k] >= 0 && team.column[c.owner[k]] != (int)(team.thread + k * TEAM)) wrong = true;
    if (any(wrong)) return REFUTED;
    bool rounded = !INTEGERS && any(cost.rounded != 0);
    if (!rounded && !asked) return PROVEN;
    only = graph && !cyclic(team);
    return only || !rounded ? PROVEN : UNDECIDED;
}

}  // namespace VARIANT
