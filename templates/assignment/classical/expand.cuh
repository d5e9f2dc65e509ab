// zeros=bits: rows of the queue reach columns over their zeros.
#include "cuda/variant.cuh"

namespace VARIANT {

// expand reaches columns over share `part` of `parts` of a row's zeros, as long as the row's
// tree has no path.
__device__ __forceinline__ void expand(const Work& m, Reach& r, u32 part, u32 parts) {
    r.way = m.way[r.row];
    if (__any_sync(ALL, *(volatile int*)(m.end + rootOf(r.way)) != NOBODY)) return;
    each(m, r.row, part, parts, [&](u32 w, u32 z) { return reach(m, r, w, z); });
}

// level expands the rows head .. tail-1 of the queue; several warps divide the zeros of a
// row where rows are few. The level counts in count[turn % 3].
__device__ __forceinline__ void level(const Work& m, u32 side, u32 head, u32 tail, u64* count, u32 turn, u32 phase, Team team) {
    if (team.thread == 0) count[(turn + 1) % 3] = 0;
    u32 n = tail - head, parts = 1;
    if (team.warps > n) parts = min(team.warps / n, m.chunks);
    Reach r = {0, phase, tail, 0, count + turn % 3, m.queue(side)};
    for (u32 x = team.warp; x < n * parts; x += team.warps) {
        r.row = m.queue(side)[head + x / parts];
        expand(m, r, x % parts, parts);
    }
}

}  // namespace VARIANT
