// Prices of columns by Sinkhorn's iterations, and a first flow.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr float FAR = 1e30f;        // above every level
constexpr float FIRST_EPS = 0.25f;  // in the mean of the costs above the least one
constexpr float LEAST_SHARE = 1e-9f;

// Ease converts costs to floats: their part of the mean above the least one.
struct Ease {
    double factor, offset;
    __device__ __forceinline__ explicit Ease(const Range& r) : factor(r.mean > 0 ? 1 / r.mean : 1), offset(-r.least * factor) {}
    __device__ __forceinline__ float operator()(T c) const {
        if constexpr (sizeof(T) == 4) return fmaf((float)c, (float)factor, (float)offset);
        else return (float)fma((double)c, factor, offset);
    }
};

// Soft is a sum of powers 2^((low - x) * sharpness).
struct Soft {
    float low = FAR, sum = 0;
    __device__ __forceinline__ void add(const float (&x)[FLIGHT], float sharpness) {
        float least = low;
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) least = fminf(least, x[f]);
        sum *= exp2f((least - low) * sharpness);
#pragma unroll
        for (u32 f = 0; f < FLIGHT; f++) sum += exp2f((least - x[f]) * sharpness);
        low = least;
    }
    __device__ __forceinline__ void add(const Soft& o, float sharpness) {
        float least = fminf(low, o.low);
        sum = sum * exp2f((least - low) * sharpness) + o.sum * exp2f((least - o.low) * sharpness);
        low = least;
    }
    // level is what the side gets whose share of the mass is `amount`.
    __device__ __forceinline__ float level(i64 amount, float sharpness) const {
        return low - (log2f(sum) - log2f(fmaxf((float)amount * (1.0f / (1ll << 60)), LEAST_SHARE))) / sharpness;
    }
};

// sinkhorn balances rows and columns in turn, and sets v. Columns are shared out in strips of a warp's width.
__device__ __forceinline__ void sinkhorn(const Problem& p, const Range& range, u32 rounds, float last, char* memory) {
    Soft* strip = (Soft*)memory;
    Ease ease(range);
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (u32 j = p.thread(); j < p.m; j += p.threads()) p.colLevel[j] = 0;
    p.sync();
    for (u32 round = 0; round < rounds; round++) {
        float eps = FIRST_EPS * exp2f(log2f(last / FIRST_EPS) * (float)round / (float)(rounds > 1 ? rounds - 1 : 1)), sharpness = 1.4426950408889634f / eps;
        for (u32 row = p.warp(); row < p.n; row += p.warps()) {
            const T* costs = p.costs + (u64)row * p.m;
            Soft s;
            for (u32 from = lane; from < p.m; from += WARP * FLIGHT) {
                float x[FLIGHT];
#pragma unroll
                for (u32 f = 0; f < FLIGHT; f++) {
                    u32 j = from + f * WARP, k = min(j, p.m - 1);
                    x[f] = ease(costs[k]) - p.colLevel[k];
                    if (j >= p.m) x[f] = FAR;
                }
                s.add(x, sharpness);
            }
#pragma unroll
            for (u32 d = WARP / 2; d > 0; d >>= 1) {
                Soft o;
                o.low = __shfl_xor_sync(ALL, s.low, d), o.sum = __shfl_xor_sync(ALL, s.sum, d);
                s.add(o, sharpness);
            }
            if (lane == 0) p.rowLevel[row] = s.level(p.supply[row], sharpness);
        }
        p.sync();
        for (u32 from = p.member * WARP; from < p.m; from += p.group * WARP) {
            u32 j = from + lane, k = min(j, p.m - 1);
            Soft s;
            for (u32 i = warp; i < p.n; i += WARPS * FLIGHT) {
                float x[FLIGHT];
#pragma unroll
                for (u32 f = 0; f < FLIGHT; f++) {
                    u32 row = i + f * WARPS, r = min(row, p.n - 1);
                    x[f] = ease(p.costs[(u64)r * p.m + k]) - p.rowLevel[r];
                    if (row >= p.n) x[f] = FAR;
                }
                s.add(x, sharpness);
            }
            strip[threadIdx.x] = s;
            __syncthreads();
            if (warp == 0 && j < p.m) {
                for (u32 w = 1; w < WARPS; w++) s.add(strip[w * WARP + lane], sharpness);
                p.colLevel[j] = s.level(p.demand[j], sharpness);
            }
            __syncthreads();
        }
        p.sync();
    }
    double unit = range.scale / ease.factor, most = (double)(1ll << 58) / (double)p.nodes();
    for (u32 j = p.thread(); j < p.m; j += p.threads()) {
        double v = (double)p.colLevel[j] * unit;
        p.v[j] = fabs(v) <= most ? __double2ll_rn(v) : 0;
        p.head[j] = NOBODY;
        if (p.demand[j] == 0) p.parent[p.n + j] = p.nodes(), p.carried[p.n + j] = 0;
    }
    for (u32 i = p.thread(); i < p.n; i += p.threads())
        if (p.supply[i] == 0) p.parent[i] = p.nodes(), p.carried[i] = 0;
    p.sync();
}

// take has a column take what the rows that bid for it have, of the most eager first, until it is full. What is shipped empties a row or
// fills the column, which becomes the other's child: parents are emptied or filled later. The root is the parent of columns that end with a row.
__device__ __forceinline__ void take(const Problem& p, u32 j) {
    i64 room = p.room[j];
    for (u32 first = p.head[j]; first != NOBODY && room > 0;) {
        u32 best = NOBODY, before = NOBODY, last = NOBODY;
        for (u32 i = first; i != NOBODY; last = i, i = p.next[i])
            if (best == NOBODY || p.key[i] < p.key[best] || (p.key[i] == p.key[best] && i < best)) best = i, before = last;
        if (before == NOBODY) first = p.next[best];
        else p.next[before] = p.next[best];
        i64 left = p.left[best], amount = min(left, room);
        p.left[best] = left -= amount, room -= amount;
        if (left == 0) p.parent[best] = p.n + j, p.carried[best] = amount;
        if (room == 0) p.parent[p.n + j] = left == 0 ? p.nodes() : best, p.carried[p.n + j] = left == 0 ? 0 : amount;
    }
    p.room[j] = room, p.head[j] = NOBODY;
}

// fill finds a flow: rows bid for the columns with room whose c - v is least, again and again. u is the rows' least c - v.
__device__ __forceinline__ void fill(const Problem& p) {
    for (u32 round = 0;; round++) {
        bool any = false;
        for (u32 row = p.warp(); row < p.n; row += p.warps()) {
            bool bids = p.left[row] > 0;
            if (!bids && round > 0) continue;
            Pick best = leastOf(p, row, [&](u32 j) { return p.room[j] > 0; });
            if (threadIdx.x % WARP > 0) continue;
            if (round == 0) p.u[row] = best.key;
            if (!bids) continue;
            p.key[row] = best.key - p.u[row], p.next[row] = atomicExch(p.head + best.at, row);
            any = true;
        }
        if (any) p.control[BIDDERS + round % 3] = 1;
        p.sync();
        bool more = p.control[BIDDERS + round % 3] != 0;
        if (!more) return;
        if (p.member == 0 && threadIdx.x == 0) p.control[BIDDERS + (round + 1) % 3] = 0;
        for (u32 j = p.thread(); j < p.m; j += p.threads())
            if (p.head[j] != NOBODY) take(p, j);
        p.sync();
    }
}

}  // namespace VARIANT
