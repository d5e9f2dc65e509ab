// What costs are held against: sums of duals, of a row and of a thread's columns.
#include "cuda/variant.cuh"

namespace VARIANT {

// Bars holds costs as integers against duals of COLUMNS columns.
template <class T, u32 COLUMNS> struct Bars {
    Cost cost;
    i64 u, v[COLUMNS];
    __device__ __forceinline__ Bars(i64 sign, i64 shift) : cost(sign, shift) {}
    __device__ __forceinline__ void column(u32 k, i64 dual) { v[k] = dual; }
    __device__ __forceinline__ void row(i64 dual) { u = dual; }
    // passes counts the cost c of column k, and reports whether it is more than the duals.
    __device__ __forceinline__ bool passes(T c, u32 k) { return plus(u, v[k]) < cost(c); }
    __device__ __forceinline__ u32 forbidden() const { return cost.forbidden; }
    __device__ __forceinline__ u32 rounded() const { return cost.rounded; }
};

// FloatBars passes floats by arithmetic in float64, for all but few of them. The others become integers from their bits.
//
// A cost c is x = c * sign * 2^shift units without rounding, and the integer next to it at least x - 1/2. So it is more
// than u + v where x is more than u + 1/2 + v, whose conversions and sums round up. Of small duals none
// rounds, and the costs that pass are those that are more. |shift| <= 1000 keeps powers of two normal.
template <class T, u32 COLUMNS> struct FloatBars {
    static constexpr double BEYOND = 2305843009213693952.0;  // 2^61: no cost is valid from there on
    double scale, inverse, infinite;                         // infinite: the cost of forbidden pairs
    double u, v[COLUMNS];
    u32 skipped, inexact;
    __device__ __forceinline__ FloatBars(i64 sign, i64 shift) : scale(power(shift) * (double)sign), inverse(power(-shift) * (double)sign),
        infinite(__longlong_as_double(0x7ff0000000000000ll) * (double)sign), skipped(0), inexact(0) {}
    static __device__ __forceinline__ double power(i64 shift) { return __longlong_as_double((1023 + shift) << 52); }
    __device__ __forceinline__ void column(u32 k, i64 dual) { v[k] = __ll2double_ru(dual); }
    __device__ __forceinline__ void row(i64 dual) { u = __dadd_ru(__ll2double_ru(dual), 0.5); }
    // passes counts the cost c of column k, and reports whether it is surely more than the duals, or forbidden.
    __device__ __forceinline__ bool passes(T c, u32 k) {
        double x = __dmul_rn((double)c, scale);
        bool none = (double)c == infinite;
        skipped += none;
        inexact += __dmul_rn(rint(x), inverse) != (double)c;
        return none || (x > __dadd_ru(u, v[k]) && x < BEYOND);
    }
    __device__ __forceinline__ u32 forbidden() const { return skipped; }
    __device__ __forceinline__ u32 rounded() const { return inexact; }
};

}  // namespace VARIANT
