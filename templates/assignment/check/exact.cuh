// The same for floats as they are, unrounded, of square problems that are matched in full.
#include "cuda/variant.cuh"

namespace VARIANT {

using i128 = __int128;

// Exact holds floats against exact duals, which are whole units and less than 2^finer of the exact units, 2^finer times finer: a dual of a row is
// u * 2^finer + low[row], one of a column v * 2^finer + low[rows + column]; low stands where near pairs would. All is computed in integers of 128 bits.
struct Exact {
    const Work& w;
    const i64* low;
    int sign, shift;  // of exact units
    u32 finer;
    __device__ __forceinline__ Exact(const Work& w, i64 sign, i64 shift, u64 finer) : w(w), low((const i64*)w.near + 1), sign((int)sign), shift((int)(shift + (i64)finer)), finer((u32)finer) {}

    // units sets x to c in exact units, rounded down, and reports whether c is a cost; whole becomes false where c is rounded.
    __device__ __forceinline__ bool units(double c, i128& x, bool& whole) const {
        u64 bits = (u64)__double_as_longlong(c), m = bits & ((1ull << 52) - 1);
        bool negative = (bits >> 63 != 0) != (sign < 0);
        int e = (int)(bits >> 52) & 2047;
        if (e == 2047) return false;
        if (e > 0) m |= 1ull << 52;
        int s = (e > 0 ? e : 1) - 1075 + shift;
        if (s > 72) {
            x = 0;
            return m == 0;
        }
        u64 cut = s >= 0 ? m : s > -64 ? m >> -s : 0;
        whole = s >= 0 || s > -64 && cut << -s == m || m == 0;
        x = s >= 0 ? (i128)cut << s : (i128)cut;
        if (negative) x = -x - (whole ? 0 : 1);
        return true;
    }

    // bar is the sum of the duals of row i and column j, in exact units.
    __device__ i128 bar(u64 i, u64 j) const { return ((i128)w.u[i] + w.v[j]) * ((i128)1 << finer) + low[i] + low[w.rows + j]; }

    __device__ bool isLow(i64 x) const { return x >= 0 && x >> finer == 0; }

    // look reads rows again that have an entry whose duals may add up to more: row i + f where bit f of rows is set.
    template <bool WIDE> __device__ void look(const T* costs, const Tile<WIDE>& tile, u64 i, u64 rows) const {
        for (; rows != 0; rows &= rows - 1) {
            u64 row = i + (__ffsll(rows) - 1);
            Pack p = tile.load(costs + row * w.cols, w.cols);
            for (u32 k = 0; k < VEC; k++) {
                u64 j = tile.column(k);
                double c = (double)p.x[k];
                if (j >= w.cols || isinf(c) && c * sign > 0) continue;
                i128 x;
                bool whole;
                if (units(c, x, whole) && x >= bar(row, j)) continue;
                atomicAdd(w.words + ENTRIES, 1ull);
                atomicMin(w.words + FIRST_ENTRY, row * w.cols + j);
            }
        }
    }

    // sweep checks a block's share of the entries. shift: of units.
    template <bool WIDE> __device__ void sweep(const T* costs, i64 sign, i64 shift) const {
        constexpr i64 WIDTH = 2;
        u64 tiles = (w.cols + SPAN - 1) / SPAN, group = blockIdx.x / tiles, first = group * ROWS, again = 0;
        Tile<WIDE> tile(blockIdx.x % tiles * SPAN);
        if (group == 0) columns(w, tile, false);
        FloatBars<T, VEC> bars(sign, shift);
#pragma unroll
        for (u32 k = 0; k < VEC; k++) bars.column(k, w.v[tile.column(k) < w.cols ? tile.column(k) : w.cols - 1]);
        u32 count = first >= w.rows || WIDE && tile.base >= w.cols ? 0 : w.rows - first < ROWS ? (u32)(w.rows - first) : ROWS, i = 0;
        const T* row = costs + first * w.cols;
        for (; i + FLIGHT <= count; i += FLIGHT, row += FLIGHT * w.cols) again |= hold<FLIGHT>(row, w.cols, w.u + first + i, tile, bars, WIDTH) << i;
        for (; i < count; i++, row += w.cols) again |= hold<1>(row, w.cols, w.u + first + i, tile, bars, WIDTH) << i;
        look(costs, tile, first, again);
        tally(w.words + FORBIDDEN, bars.forbidden());
    }
};

// exactpairs checks that row i has a column of its own, over an allowed pair of zero slack, a thread a row, and the parts of the duals behind a unit.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(exactpairs)(const T* costs, long long* work,
        unsigned long long rows, long long sign, long long shift, unsigned long long finer) {
    Work w(work, rows, rows);
    Exact exact(w, sign, shift, finer);
    u64 i = (u64)blockIdx.x * BLOCK + threadIdx.x;
    u32 matched = 0;
    if (i < rows) {
        i64 j = w.column[i];
        u32 reason = !within(w.u[i]) || !exact.isLow(exact.low[i]) ? BAD_DUAL : ROW_RIGHT;
        if (j < 0 || j >= (i64)rows) {
            reason = NO_COLUMN;
        } else {
            double c = (double)costs[i * rows + j];
            i128 x;
            bool whole;
            w.matched[i] = c;
            if (!exact.units(c, x, whole)) reason = FORBIDDEN_PAIR;
            else if (!whole || x != exact.bar(i, (u64)j)) reason = SLACK_PAIR;
            if (atomicCAS(w.owner + j, -1, (int)i) != -1) reason = COLUMN_TAKEN;
            matched = 1;
        }
        if (reason != ROW_RIGHT) {
            atomicAdd(w.words + ROWS_WRONG, 1ull);
            atomicMin(w.words + FIRST_ROW, i * ROW_FAULTS + reason);
        }
        if (!exact.isLow(exact.low[rows + i])) {
            atomicAdd(w.words + COLUMNS_WRONG, 1ull);
            atomicMin(w.words + FIRST_COLUMN, i * COLUMN_FAULTS + BAD_PRICE);
        }
    }
    matched = __reduce_add_sync(ALL, matched);
    if (threadIdx.x % WARP == 0 && matched != 0) atomicAdd(w.words + MATCHED, (u64)matched);
}

// exactsweep runs after exactpairs. Where a cost is 2 units more than the whole units of its duals, it is more than the duals.
extern "C" __global__ void __launch_bounds__(param::block) ENTRY(exactsweep)(const T* costs, long long* work,
        unsigned long long rows, long long sign, long long shift, unsigned long long finer) {
    Work w(work, rows, rows);
    Exact exact(w, sign, shift, finer);
    if (rows % VEC == 0) exact.sweep<true>(costs, sign, shift);
    else exact.sweep<false>(costs, sign, shift);
}

}  // namespace VARIANT
