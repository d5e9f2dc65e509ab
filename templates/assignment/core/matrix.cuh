// The source of costs of a matrix. A value of 32 bits decides for most pairs: c - v in
// units of the largest cost, rounded down. Pairs at or above a row's bound are discarded.
#include "cuda/variant.cuh"

namespace VARIANT {

// Sieve holds the columns' prices in these units, rounded up, and the margin of a bound.
// Every pair below a bound b is below edge(b): with prices w >= v' + |v'|*2^-22, costs of
// at most 1 and rounding to 24 bits, fl(fl(c') - w) <= c' - v' + 2^-23. The margin is twice
// 2^-23, plus one unit where costs were rounded to integers. Where costs are integers
// below 2^23, prices are exact and the margin is 0.
struct Sieve {
    const float* price;
    double unit, margin;
    __device__ __forceinline__ float edge(i64 key) const {
        return key >= INFINITE ? INFINITY : __double2float_ru((double)key * unit + margin);
    }
};

// coarse returns c - v in a sieve's units; `scale` is the costs' scale times the unit.
__device__ __forceinline__ float coarse(int c, double scale, float price) { return fmaf((float)c, (float)scale, -price); }
__device__ __forceinline__ float coarse(i64 c, double scale, float price) { return fmaf((float)c, (float)scale, -price); }
__device__ __forceinline__ float coarse(float c, double scale, float price) { return fmaf(c, (float)scale, -price); }
__device__ __forceinline__ float coarse(double c, double scale, float price) { return (float)(c * scale) - price; }

// kth returns the k-th least x of a warp's lanes, counted from 0, by a bitonic sort.
__device__ __forceinline__ float kth(float x, u32 k) {
    u32 lane = threadIdx.x % WARP;
#pragma unroll
    for (u32 size = 2; size <= WARP; size *= 2)
#pragma unroll
        for (u32 d = size / 2; d > 0; d /= 2) {
            float y = __shfl_xor_sync(ALL, x, d);
            x = ((lane & size) == 0) == ((lane & d) == 0) ? fminf(x, y) : fmaxf(x, y);
        }
    return __shfl_sync(ALL, x, k);
}

// Picks is a ring in shared memory of columns that passed the sieve and await the exact test.
struct Picks {
    int* col;  // [2*WARP]
    u32 first, n;
};

// Matrix scans the rows of a cost matrix for their WANT least pairs. Each row's scan begins
// at another column, so that rows with equal costs keep different pairs.
template <u32 WANT> struct Matrix {
    const T* costs;
    u64 rows, cols;
    Scale<T> scale;
    double factor;  // the scale, times the sieve's unit
    Sieve sieve;
    static constexpr u32 UNROLL = GROUP == 1 ? 8 : 4;

    // take computes the exact keys of the first WARP picks, and adds allowed pairs to the
    // lanes' lists. With `open`, no bound given, the row's edge falls to the WANT-th best key.
    template <class Skip>
    __device__ __forceinline__ void take(const T* row, const i64* v, Skip skip, bool open, Picks& picks, float& edge, Best& best) const {
        u32 lane = threadIdx.x % WARP;
        __syncwarp();
        if (lane < picks.n) {
            int j = picks.col[picks.first + lane];
            i64 x = skip(j) ? INFINITE : scale(row[j]);
            if (x < INFINITE) best.put(x - v[j], j);
        }
        __syncwarp();
        picks.first ^= WARP, picks.n -= min(picks.n, WARP);
        constexpr u32 DEEP = (WANT - 1) / WARP;
        if (open && DEEP < DEPTH) edge = kth(sieve.edge(best.key[DEEP < DEPTH ? DEEP : 0]), (WANT - 1) % WARP);
    }

    // look adds to the picks, of UNROLL columns a lane from `first` on, those below the edges
    // of GROUP rows. WHOLE says that so many columns are left, so that none is out of range.
    template <bool WHOLE, class Skip>
    __device__ __forceinline__ void look(const T* const* row, u32 first, u32 to, const i64* v, Skip skip, bool open, Picks* picks, float* edge, Best* best) const {
        u32 from = first + threadIdx.x % WARP, below = (1u << threadIdx.x % WARP) - 1;
        const float* near = sieve.price + from;
        T c[GROUP][UNROLL];
        float price[UNROLL];
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++) {
            bool in = WHOLE || from + k * WARP < to;
            price[k] = in ? near[k * WARP] : -INFINITY;
#pragma unroll
            for (u32 g = 0; g < GROUP; g++) c[g][k] = in ? __ldcs((row[g] + from) + k * WARP) : T(0);  // read once: L1 is for prices
        }
#pragma unroll
        for (u32 g = 0; g < GROUP; g++) {
            float x[UNROLL], least = INFINITY;
#pragma unroll
            for (u32 k = 0; k < UNROLL; k++) x[k] = coarse(c[g][k], factor, price[k]), least = fminf(least, x[k]);
            if (!__any_sync(ALL, least < edge[g])) continue;
#pragma unroll
            for (u32 k = 0; k < UNROLL; k++) {
                bool mine = x[k] < edge[g];
                u32 all = __ballot_sync(ALL, mine);
                if (mine) picks[g].col[(picks[g].first + picks[g].n + __popc(all & below)) % (2 * WARP)] = (int)(from + k * WARP);
                picks[g].n += __popc(all);
                if (picks[g].n >= WARP) take(row[g], v, skip, open, picks[g], edge[g], best[g]);
            }
        }
    }

    template <class Skip>
    __device__ __forceinline__ void scan(u64 row, const i64* v, Skip skip, const i64* below, Best* best) const {
        __shared__ int room[BLOCK / WARP][GROUP][2 * WARP];
        const T* at[GROUP];
        float edge[GROUP];
        Picks picks[GROUP];
#pragma unroll
        for (u32 g = 0; g < GROUP; g++) {
            u64 i = row + g < rows ? row + g : rows - 1;
            at[g] = costs + i * cols;
            best[g].clear(below ? below[i] : INFINITE);
            edge[g] = sieve.edge(best[g].key[0]);
            picks[g] = {room[threadIdx.x / WARP][g], 0, 0};
        }
        u32 start = (u32)(row * 0x9e3779b97f4a7c15ull % cols / WARP * WARP), first = start, to = (u32)cols;
        for (u32 part = 0; part < 2; part++, first = 0, to = start) {
            for (; to - first >= WARP * UNROLL && first < to; first += WARP * UNROLL) look<true>(at, first, to, v, skip, !below, picks, edge, best);
            for (; first < to; first += WARP * UNROLL) look<false>(at, first, to, v, skip, !below, picks, edge, best);
        }
#pragma unroll
        for (u32 g = 0; g < GROUP; g++) take(at[g], v, skip, !below, picks[g], edge[g], best[g]);
    }
};

__device__ __forceinline__ void coarsePrices(const i64* v, u64 cols, double unit, double exact, float* price) {
    u64 j = (u64)blockIdx.x * BLOCK + threadIdx.x;
    if (j >= cols) return;
    double x = (double)v[j], more = fabs(x) < exact ? 0 : fabs(x) * (1.0 / (1 << 22));
    price[j] = __double2float_ru((x + more) * unit);
}

__device__ __forceinline__ void columnMinima(const T* costs, u64 rows, u64 cols, Scale<T> scale, u64 shares, i64* v) {
    u64 strips = (cols + BLOCK - 1) / BLOCK;
    u64 j = blockIdx.x % strips * BLOCK + threadIdx.x, share = blockIdx.x / strips;
    u64 from = rows * share / shares, to = rows * (share + 1) / shares;
    if (j >= cols) return;
    i64 least = INFINITE;
#pragma unroll 8
    for (u64 i = from; i < to; i++) {
        i64 x = scale(costs[i * cols + j]);
        least = x < least ? x : least;
    }
    if (least < INFINITE) atomicMin(v + j, least);
}

}  // namespace VARIANT
