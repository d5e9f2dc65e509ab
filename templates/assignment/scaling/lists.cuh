// The lists of rows: the least c - v of a row by its list, and rows read again for new lists.
#include "cuda/variant.cuh"

namespace VARIANT {

// Least holds the least c - v of a row, its column, and the second least.
struct Least {
    i64 best, second;
    u32 at, rank;  // rank decides ties: free columns first, then in an order that differs from row to row
    __device__ __forceinline__ void put(i64 pay, u32 j, u32 r) {
        if (pay < best || pay == best && r < rank) second = best, best = pay, at = j, rank = r;
        else if (pay < second) second = pay;
    }
    __device__ __forceinline__ void merge(const Least& o) {
        bool theirs = o.best < best || o.best == best && o.rank < rank;
        i64 loser = theirs ? best : o.best;
        second = o.second < second ? o.second : second;
        second = loser < second ? loser : second;
        if (theirs) best = o.best, at = o.at, rank = o.rank;
    }
};

// first returns where a row's columns begin: rows with equal costs keep different columns.
__device__ __forceinline__ u32 first(const State& s, u32 row) { return (u32)((u64)(row * 2654435761u) * s.n >> 32) / WARP * WARP; }

// least returns the least c - v of a row's list, to all lanes of a warp.
__device__ __forceinline__ Least least(const State& s, u32 row) {
    u32 start = first(s, row), j[DEPTH];
    i64 c[DEPTH];
    Least l = {2 * FAR, 2 * FAR, NOBODY, ~0u};
#pragma unroll
    for (u32 k = 0; k < DEPTH; k++) {
        u64 e = (u64)row * LIST + k * WARP + threadIdx.x % WARP;
        j[k] = __ldcg(s.listCol + e), c[k] = __ldcg(s.listCost + e);
    }
#pragma unroll
    for (u32 k = 0; k < DEPTH; k++) {
        if (j[k] == NOBODY) continue;
        u32 taken = __ldcg(s.owner + j[k]) < 0 ? 0u : 1u << 31;
        l.put(c[k] - __ldcg(s.v + j[k]), j[k], (j[k] >= start ? j[k] - start : j[k] + s.n - start) | taken);
    }
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1)
        l.merge(Least{__shfl_xor_sync(ALL, l.best, d), __shfl_xor_sync(ALL, l.second, d), __shfl_xor_sync(ALL, l.at, d), __shfl_xor_sync(ALL, l.rank, d)});
    return l;
}

// Picks are the least c - v that a lane has seen of a row, ascending, and the least of the others.
struct Picks {
    i64 key[DEPTH], rest;
    u32 col[DEPTH];
    __device__ __forceinline__ void clear() {
        rest = 2 * FAR;
#pragma unroll
        for (u32 k = 0; k < DEPTH; k++) key[k] = 2 * FAR, col[k] = NOBODY;
    }
    __device__ __forceinline__ void put(i64 x, u32 j) {
        i64 out = x < key[DEPTH - 1] ? key[DEPTH - 1] : x;
        rest = out < rest ? out : rest;
        if (x >= key[DEPTH - 1]) return;
#pragma unroll
        for (u32 k = DEPTH - 1; k > 0; k--)
            if (x < key[k - 1]) key[k] = key[k - 1], col[k] = col[k - 1];
            else if (x < key[k]) key[k] = x, col[k] = j;
        if (x < key[0]) key[0] = x, col[0] = j;
    }
};

// Handed is what half of the warps that work on a row hand to the other half.
struct Handed {
    i64 key[WARPS / 2][DEPTH][WARP], rest[WARPS / 2][WARP];
    u32 col[WARPS / 2][DEPTH][WARP];
};
__device__ __forceinline__ Handed& handed() {
    __shared__ Handed h;
    return h;
}

// Nothing is what readRows does with the pairs of a row where no search relaxes them.
struct Nothing {
    __device__ __forceinline__ void operator()(const Entry&, u32, i64, i64) const {}
};

// readRows reads the rows need[0] .. need[rows-1] and makes their lists anew. It calls `pair` with
// each entry, column, cost (State::value) and c - v, and `found` with the number, the entry and the row's new
// thr, for which a whole warp calls. The fewer rows a block has, the more of its warps work on
// one. All threads of the first `blocks` blocks call it.
template <bool EXACT, class Pair, class Found> __device__ __forceinline__ void readRows(const State& s, u32 blocks, u32 rows, Pair pair, Found found) {
    Handed& h = handed();
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, each = (rows + blocks - 1) / blocks, team = WARPS;
    while (team > 1 && team * each > WARPS) team /= 2;
    u32 mate = warp % team;
    for (u32 turn = 0; turn < each; turn += WARPS / team) {
        u32 at = (turn + warp / team) * blocks + blockIdx.x;
        Picks p;
        p.clear();
        Entry e = {0, 0, NOBODY};
        if (at < rows) {
            e = load(s.need + at);
            const T* costs = s.costs + (u64)e.row * s.n;
            u32 start = first(s, e.row), step = team * WARP;
            for (u32 from = mate * WARP + lane; from < s.n; from += step * FLIGHT) {
                T c[FLIGHT];
                i64 v[FLIGHT];
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) {
                    u32 q = from + k * step, j = q < s.n ? q + start : from + start;
                    j -= j >= s.n ? s.n : 0;
                    c[k] = __ldcs(costs + j), v[k] = s.v[j];
                }
#pragma unroll
                for (u32 k = 0; k < FLIGHT; k++) {
                    u32 q = from + k * step, j = q + start;
                    if (q >= s.n) break;
                    j -= j >= s.n ? s.n : 0;
                    i64 x = s.value<EXACT>(c[k], e.row, j), key = x - v[k];
                    if (key >= FAR) continue;  // a forbidden pair
                    p.put(key, j);
                    pair(e, j, x, key);
                }
            }
        }
        for (u32 half = team / 2; half > 0; half /= 2) {
            u32 slot = warp / team * half + mate % half;
            __syncthreads();
            if (mate >= half && mate < 2 * half) {
#pragma unroll
                for (u32 k = 0; k < DEPTH; k++) h.key[slot][k][lane] = p.key[k], h.col[slot][k][lane] = p.col[k];
                h.rest[slot][lane] = p.rest;
            }
            __syncthreads();
            if (mate < half) {
#pragma unroll
                for (u32 k = 0; k < DEPTH; k++) p.put(h.key[slot][k][lane], h.col[slot][k][lane]);
                i64 rest = h.rest[slot][lane];
                p.rest = rest < p.rest ? rest : p.rest;
            }
        }
        if (mate > 0 || at >= rows) continue;
#pragma unroll
        for (u32 k = 0; k < DEPTH; k++) {
            u64 to = (u64)e.row * LIST + k * WARP + lane;
            s.listCol[to] = p.col[k], s.listCost[to] = p.col[k] == NOBODY ? 0 : s.value<EXACT>(e.row, p.col[k]);
        }
        i64 thr = warpLeast(p.rest);
        if (lane == 0) s.thr[e.row] = thr, count(s.control + READ);
        __threadfence();
        __syncwarp();
        found(at, e, thr);
    }
}

// clearWanted begins a list of rows to be read; all threads call before the barrier after which it is read.
__device__ __forceinline__ void clearWanted(const State& s) {
    if (thread() == 0) s.control[WANTED + (s.wants ^ 1)] = 0;
}

// want lists a row to be read, of which one lane of a warp calls.
__device__ __forceinline__ void want(const State& s, u32 row, u32 at) { s.need[count(s.control + WANTED + s.wants)] = Entry{0, row, at}; }

// readWanted reads the rows that all blocks have listed before a barrier.
template <class Found> __device__ __forceinline__ u32 readWanted(State& s, Found found) {
    u32 rows = load(s.control + WANTED + s.wants);
    s.wants ^= 1;
    if (rows > 0) readRows<false>(s, gridDim.x, rows, Nothing(), found);
    return rows;
}

}  // namespace VARIANT
