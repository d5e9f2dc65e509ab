// Minima of cost + key, with the rows that have them.
#include "cuda/variant.cuh"

namespace VARIANT {

// Best is the minimum of a column over some rows, with the row that has it; of equal ones
// the row with the lowest number.
struct Best {
    i64 at = NONE;
    int row = NOWHERE;
    __device__ __forceinline__ void take(i64 y, int r) {
        if (y < at || (y == at && r < row)) at = y, row = r;
    }
    __device__ __forceinline__ void take(const Costs& c, T x, const Entry& e) {
        i64 y;
        if (c.sum(x, e.key, y)) take(y, e.row);
    }
};

// Packed is a Best of int32 costs in one word, for keys that fit; it takes half the instructions.
struct Packed {
    static constexpr u32 BITS = 25;  // of a row's number
    i64 least = NONE;
    static __device__ __forceinline__ bool fits(const Entry& e) {
        return e.key < 1ll << 36 && e.key > -(1ll << 36) && (u32)e.row < 1u << BITS;
    }
    __device__ __forceinline__ void take(const Costs& c, int x, const Entry& e) {
        i64 y = (i64)(x ^ c.flip) * (1 << BITS) + ((e.key - c.flip) * (1 << BITS) + e.row);
        if (x != NOWHERE && y < least) least = y;
    }
    __device__ __forceinline__ operator Best() const {
        Best best;
        if (least != NONE) best.take(least >> BITS, (int)(least & ((1 << BITS) - 1)));
        return best;
    }
};

// count adds n rows of the matrix to the count of rows read.
__device__ __forceinline__ void count(Work& w, u64 n) {
    if (w.leads()) w.read += n;
}

}  // namespace VARIANT
