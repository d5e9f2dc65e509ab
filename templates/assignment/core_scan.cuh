// Passes over all pairs, in which a warp scans GROUP rows together. A source of costs has
// a function scan, which fills the lanes' lists with the least c - v of rows
// row .. row+GROUP-1, or, given `below`, with the values less than below[row]. Columns j
// with skip(j) are left out. Rows past the last are scanned as copies of the last:
//
//   template <class Skip> void scan(u64 row, const i64* v, Skip skip, const i64* below, Best* best) const
#include "cuda/variant.cuh"

namespace VARIANT {

// Best holds the DEPTH least keys, ascending, that a lane has met in one row, with their columns.
struct Best {
    i64 key[DEPTH];
    int at[DEPTH];
    __device__ __forceinline__ void clear(i64 below) {
#pragma unroll
        for (u32 d = 0; d < DEPTH; d++) key[d] = below, at[d] = -1;
    }
    __device__ __forceinline__ void put(i64 k, int j) {
        if (k >= key[DEPTH - 1]) return;
        key[DEPTH - 1] = k, at[DEPTH - 1] = j;
#pragma unroll
        for (u32 d = DEPTH - 1; d > 0; d--) {
            if (key[d] < key[d - 1]) {
                i64 x = key[d]; key[d] = key[d - 1]; key[d - 1] = x;
                int y = at[d]; at[d] = at[d - 1]; at[d - 1] = y;
            }
        }
    }
    __device__ __forceinline__ void pop() {
#pragma unroll
        for (u32 d = 0; d + 1 < DEPTH; d++) key[d] = key[d + 1], at[d] = at[d + 1];
        key[DEPTH - 1] = INFINITE, at[DEPTH - 1] = -1;
    }
};

__device__ __forceinline__ i64 warpLeast(i64 x) {
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) {
        i64 y = __shfl_xor_sync(ALL, x, d);
        x = y < x ? y : x;
    }
    return x;
}

struct SkipNone {
    __device__ __forceinline__ bool operator()(u32) const { return false; }
};
struct SkipReached {
    const u64* word;
    __device__ __forceinline__ bool operator()(u32 j) const { return word[j] != NEVER; }
};

// pour moves the least keys below `below`, at most `most` of them, from the lanes' lists to
// a chunk of edges; the rest of the chunk's places get column -1, no edge.
__device__ __forceinline__ void pour(Best& best, i64 below, u32 most, const i64* v, int* col, i64* cost) {
    u32 lane = threadIdx.x % WARP;
    for (u32 k = 0; k < most; k++) {
        i64 least = warpLeast(best.key[0]);
        if (least >= below) most = k;
        u32 who = __ffs((int)__ballot_sync(ALL, best.key[0] == least)) - 1;
        if (k < most && lane == who) {
            col[k] = best.at[0];
            cost[k] = best.key[0] + v[best.at[0]];
            best.pop();
        }
    }
    for (u32 k = most + lane; k < K; k += WARP) col[k] = -1, cost[k] = INFINITE;
}

template <u32 CHUNKS, class Source>
__device__ __forceinline__ void rowCandidates(const Source& source, u64 rows, u64 cols, i64 limit, const i64* v, int* col, i64* cost, int* next) {
    u64 warp = ((u64)blockIdx.x * BLOCK + threadIdx.x) / WARP, warps = (u64)gridDim.x * BLOCK / WARP;
    for (u64 row = warp * GROUP; row < rows; row += warps * GROUP) {
        Best best[GROUP];
        source.scan(row, v, SkipNone(), nullptr, best);
#pragma unroll
        for (u32 g = 0; g < GROUP; g++) {
            u64 i = row + g;
            if (i >= rows) break;
            pour(best[g], INFINITE, limit < INFINITE ? K - 1 : K, v, col + i * K, cost + i * K);
            if (CHUNKS == 2) pour(best[g], INFINITE, K, v, col + (rows + i) * K, cost + (rows + i) * K);
            __syncwarp();
            if (threadIdx.x % WARP == 0) {
                next[i] = CHUNKS == 2 ? (int)(rows + i) : -1;
                if (CHUNKS == 2) next[rows + i] = -1;
                if (limit < INFINITE) col[i * K + K - 1] = (int)(cols + i), cost[i * K + K - 1] = limit;
            }
        }
    }
}

// pricing does the work of the kernels price (STUCK_ROWS false) and grow (true).
template <bool STUCK_ROWS, class Source>
__device__ __forceinline__ void pricing(const Source& source, u64 rows, i64* u, const i64* v, int* match, int* owner,
                        const u64* word, int* col, i64* cost, int* next, u64* control, u64 pool) {
    u64 warp = ((u64)blockIdx.x * BLOCK + threadIdx.x) / WARP, warps = (u64)gridDim.x * BLOCK / WARP;
    if (!STUCK_ROWS && control[STATUS] != SOLVED) return;
    for (u64 row = warp * GROUP; row < rows; row += warps * GROUP) {
        Best best[GROUP];
        if (STUCK_ROWS) source.scan(row, v, SkipReached{word}, nullptr, best);
        else source.scan(row, v, SkipNone(), u, best);
#pragma unroll
        for (u32 g = 0; g < GROUP; g++) {
            u64 i = row + g;
            if (i >= rows) break;
            i64 price = u[i], least = warpLeast(best[g].key[0]);
            int j = match[i];
            bool reached = STUCK_ROWS && (j < 0 || word[j] != NEVER);
            if (STUCK_ROWS ? !reached || least >= INFINITE : least >= price) continue;
            u64 chunk = 0;
            if (threadIdx.x % WARP == 0) {
                atomicAdd(control + (STUCK_ROWS ? GROWN : VIOLATIONS), 1ull);
                chunk = rows + atomicAdd(control + POOL, 1ull);
                if (chunk >= pool) control[STATUS] = OVERFLOWED;
            }
            chunk = __shfl_sync(ALL, chunk, 0);
            if (chunk >= pool) continue;
            pour(best[g], STUCK_ROWS ? INFINITE : price, K, v, col + chunk * K, cost + chunk * K);
            if (threadIdx.x % WARP == 0) {
                next[chunk] = next[i];
                next[i] = (int)chunk;
                if (least < price) {
                    u[i] = least;
                    if (j >= 0) match[i] = -1, owner[j] = -1;
                }
            }
        }
    }
}

}  // namespace VARIANT
