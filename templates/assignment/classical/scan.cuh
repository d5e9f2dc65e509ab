// One pass over rows: the least slack of each part, and its places.
#include "cuda/variant.cuh"

namespace VARIANT {

// keep stores the slacks of a row's chunk after the reduction.
template <class S, class A> __device__ __forceinline__ void keep(S* row, u32 w, u32 pitch, const A (&s)[ITEMS]) {
    constexpr u32 PIECE = 16 / sizeof(S);
    struct __align__(16) Piece { S of[PIECE]; };
#pragma unroll
    for (u32 k = 0; k < ITEMS; k += PIECE) {
        Piece p;
#pragma unroll
        for (u32 e = 0; e < PIECE; e++) p.of[e] = (S)s[k + e];
        u32 j = C::column(w, k);
        if (j < pitch) *(Piece*)(row + j) = p;
    }
}

// findLeast returns the least of at(0) .. at(PART-1) over the whole warp; `bits` receives the
// places where the lane has it. Values of 64 bits are compared as they come, to save registers.
template <class F> __device__ __forceinline__ i64 findLeast(F at, u32& bits, i64 low) {
    bits = 0;
#pragma unroll
    for (u32 k = 0; k < PART; k++) {
        i64 s = at(k);
        bits = s < low ? 1u << k : s == low ? bits | 1u << k : bits;
        low = min(low, s);
    }
    i64 all = warpLeast(low);
    if (low != all) bits = 0;
    return all;
}
template <class F> __device__ __forceinline__ u32 findLeast(F at, u32& bits, u32 low) {
    u32 s[PART];
#pragma unroll
    for (u32 k = 0; k < PART; k++) low = min(low, s[k] = at(k));
    low = warpLeast(low);
    bits = 0;
#pragma unroll
    for (u32 k = 0; k < PART; k++)
        if (s[k] == low) bits |= 1u << k;
    return low;
}

// scan reads `count` rows, those of the queue or with FIRST all rows, and finds the least
// slacks of their parts; a warp reads one chunk of ROWS rows at once. With FIRST the slacks
// are c - v - floor, which STORED variants store; BOUNDED variants store the least c - v.
template <bool FIRST, class A, class R, class E>
__device__ void scan(const Work& m, const u32* queue, u32 count, const E* entries, u64 pitch, R value, bool aligned, u64 update, Team team) {
    u32 lane = threadIdx.x % WARP;
    u32 span = team.warps > m.chunks ? team.warps / m.chunks : 1, first = team.warp % span;
    if (first >= count) return;
    i64 best = INFINITE;
    for (u32 chunk = team.warp / span; chunk < m.chunks; chunk += team.warps / span) {
        u32 w = chunk * WARP + lane, skip = FIRST ? C::padding(w, m.cols) : m.reached[w];
        A v[ITEMS];
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u32 j = C::column(w, k);
            i64 x = j < m.cols ? (FIRST ? m.base[j] : m.v[j]) : 0;
            v[k] = (A)(x < INFINITE ? x : 0);
        }
        for (u32 at = first; at < count; at += ROWS * span) {
            u32 i[ROWS];
            E x[ROWS][ITEMS];
#pragma unroll
            for (u32 r = 0; r < ROWS; r++) {
                u32 t = at + r * span;
                i[r] = t >= count ? NOWHERE : FIRST ? t : queue[t];
                if (i[r] != NOWHERE) C::fetch(x[r], entries + i[r] * pitch, w, m.cols, aligned);
            }
#pragma unroll
            for (u32 r = 0; r < ROWS; r++) {
                if (i[r] == NOWHERE) continue;
                A u = (A)(FIRST ? m.floor : m.u[i[r]]);
                auto entry = [&](u32 k) { return skip >> k & 1 ? none<A>() : slack<A>(value, x[r][k], u, v[k]); };
                if (FIRST && STORED) {
                    A s[ITEMS];
#pragma unroll
                    for (u32 k = 0; k < ITEMS; k++) s[k] = entry(k);
                    if (m.wide) keep((i64*)m.stored + (u64)i[r] * m.pitch, w, m.pitch, s);
                    else keep((u32*)m.stored + (u64)i[r] * m.pitch, w, m.pitch, s);
                }
                u32 all = 0;
#pragma unroll
                for (u32 p = 0; p < PARTS; p++) {
                    u32 bits;
                    A low = findLeast([&](u32 k) { return entry(p * PART + k); }, bits, none<A>());
                    if (low != none<A>()) all |= bits << p * PART;
                    i64 wide = low == none<A>() ? INFINITE : (i64)low + (FIRST && BOUNDED ? m.floor : 0);
                    if (lane == 0) m.least[(u64)i[r] * m.parts + chunk * PARTS + p] = wide;
                    best = min(best, wide);
                }
                __stcs(m.fresh + (u64)i[r] * m.words + w, all);
            }
        }
    }
    i64* all = m.ctl->least + update % 2;
    if (!FIRST && lane == 0 && best < *(volatile i64*)all) atomicMin(all, best);
}

// reduceRows makes the first scan, of all rows.
__device__ void reduceRows(const Work& m, Team team) {
    if (m.ctl->bound < NARROW) scan<true, u32>(m, nullptr, m.rows, m.costs, m.cols, m.scale, m.aligned, 0, team);
    else scan<true, i64>(m, nullptr, m.rows, m.costs, m.cols, m.scale, m.aligned, 0, team);
}

}  // namespace VARIANT
