// Scans of all points for a row, tile by tile.
#include "cuda/variant.cuh"

namespace VARIANT {

// Cloud is the source of costs that are distances of rows' and columns' points. Coordinate
// d of column 32*t + k is tiles[(t*dim + d)*32 + k]. The box of tile 32*b + k reaches, in
// coordinate d, from boxes[((b*dim + d)*2)*32 + k] to boxes[((b*dim + d)*2 + 1)*32 + k].
// peak[t] is at least the largest v of tile t. Prices is an array, or Words, or Falling.
struct Cloud {
    const double *points, *tiles, *boxes;
    const i64* peak;
    u64 rows, cols, dim;
    double scale;
    bool one;         // whether only the least of a row is wanted

    // cost returns the scaled cost of one pair.
    __device__ __forceinline__ i64 cost(u64 i, u64 j) const {
        double sum = 0;
        const double *x = points + i * dim, *y = tiles + j / WARP * dim * WARP + j % WARP;
        for (u64 d = 0; d < dim; d++) sum = extend(sum, __dsub_rn(x[d], y[d * WARP]));
        return scaled(sum, scale);
    }

    // least computes, for each of G rows, a lower bound of c - v over a tile.
    template <u32 G>
    __device__ __forceinline__ void least(const double* const (&at)[G], u32 tile, i64 (&bound)[G]) const {
        double sum[G];
#pragma unroll
        for (u32 g = 0; g < G; g++) sum[g] = 0;
        const double* box = boxes + (u64)(tile / WARP) * dim * 2 * WARP + tile % WARP;
        for (u64 d = 0; d < dim; d++, box += 2 * WARP) {
            double low = box[0], high = box[WARP];
#pragma unroll
            for (u32 g = 0; g < G; g++) sum[g] = extend(sum[g], gap(at[g][d], low, high, scale < 0));
        }
        i64 top = peak[tile];
#pragma unroll
        for (u32 g = 0; g < G; g++) bound[g] = scaled(sum[g], scale) - top;
    }

    // nearest returns the tile with the least bound; of equal ones the first from `start` on.
    template <u32 G>
    __device__ __forceinline__ u32 nearest(const double* const (&at)[G], u32 tiles, u32 start) const {
        i64 low = 4 * INFINITE - 1;
        u32 rank = ~0u;
        for (u32 t = threadIdx.x % WARP; t < tiles; t += WARP) {
            i64 bound[G];
            least(at, t, bound);
            u32 r = t >= start ? t - start : t + tiles - start;
#pragma unroll
            for (u32 g = 0; g < G; g++)
                if (bound[g] < low || bound[g] == low && r < rank) low = bound[g], rank = r;
        }
        rank = __reduce_min_sync(ALL, low == warpLeast(low) ? rank : ~0u);
        return rank < tiles - start ? rank + start : rank + start - tiles;
    }

    // visit adds the columns of a tile to the lanes' lists. Which lane takes which column
    // depends on `turn`, so that rows with equal costs keep different columns.
    template <u32 G, class Prices, class Skip>
    __device__ __forceinline__ void visit(const double* const (&at)[G], u32 tile, u32 turn, const Prices& v, Skip skip, Best (&best)[G]) const {
        double sum[G];
#pragma unroll
        for (u32 g = 0; g < G; g++) sum[g] = 0;
        u32 k = (threadIdx.x + turn) % WARP;
        const double* x = tiles + (u64)tile * dim * WARP + k;
        for (u64 d = 0; d < dim; d++, x += WARP) {
            double y = *x;
#pragma unroll
            for (u32 g = 0; g < G; g++) sum[g] = extend(sum[g], __dsub_rn(at[g][d], y));
        }
        u64 j = (u64)tile * WARP + k;
        if (j >= cols || skip((u32)j)) return;
        i64 price = v[j];
#pragma unroll
        for (u32 g = 0; g < G; g++) best[g].put(scaled(sum[g], scale) - price, (int)j);
    }

    // reach returns the bound below which c - v of a further pair matters to the row: at
    // least K known pairs, or with `one` one pair, are at most so.
    __device__ __forceinline__ i64 reach(const Best& best) const {
        return one ? warpLeast(best.key[0]) : -warpLeast(-best.key[(K - 1) / WARP]);
    }

    template <u32 G, class Prices, class Skip>
    __device__ __forceinline__ void scan(u64 row, const Prices& v, Skip skip, const i64* below, Best (&best)[G]) const {
        const double* at[G];
        i64 bound[G], most[G];
#pragma unroll
        for (u32 g = 0; g < G; g++) {
            u64 i = row + g < rows ? row + g : rows - 1;
            at[g] = points + i * dim;
            best[g].clear(below ? below[i] : INFINITE);
        }
        u32 count = (u32)((cols + WARP - 1) / WARP), groups = (count + WARP - 1) / WARP, first = count;
        u32 start = (u32)(row * count / rows);
        if (!below) {
            first = nearest(at, count, start);
            visit(at, first, (u32)row, v, skip, best);
        }
#pragma unroll
        for (u32 g = 0; g < G; g++) most[g] = reach(best[g]);
        for (u32 k = 0; k < groups; k++) {
            u32 b = start / WARP + k < groups ? start / WARP + k : start / WARP + k - groups, t = b * WARP + threadIdx.x % WARP;
            bool near = false;
            if (t < count && t != first) {
                least(at, t, bound);
#pragma unroll
                for (u32 g = 0; g < G; g++) near |= bound[g] < most[g];
            }
            u32 left = __ballot_sync(ALL, near);
            if (left == 0) continue;
            for (; left != 0; left &= left - 1) visit(at, b * WARP + __ffs((int)left) - 1, (u32)row, v, skip, best);
#pragma unroll
            for (u32 g = 0; g < G; g++) most[g] = reach(best[g]);
        }
    }
};

}  // namespace VARIANT
