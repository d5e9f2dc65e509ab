// Coalition structures by agents' prices: passes over the values of all coalitions. See package price, device.go.
#include "cuda/variant.cuh"
#include "cuda/choice.cuh"
#include "csg/multiple.cuh"

namespace VARIANT {

using namespace coalesce;

using T = param::value;
typedef Choice<param::value_int32 || param::value_int64, i64, double> Wide;  // of a price: integers in units of 1 / 2^unit of a value, so that sums are exact; floats unscaled
typedef Choice<param::sums_narrow, T, Wide> Sum; // of a sum of prices; sums narrower than Wide are rounded down
constexpr u32 BLOCK = param::block;
constexpr u32 ITEMS = param::items;       // values of a tile that a thread reads
constexpr u32 TILE = BLOCK * ITEMS;       // coalitions with the same high members
constexpr u32 EACH = 16 / sizeof(T);      // values in one access of 16 bytes
constexpr u32 LOADS = ITEMS / EACH;

struct alignas(16) Values { T x[EACH]; };

// narrowed converts a sum x of prices to the type that values are compared in, rounding down.
// Integers go from units (2^unit of them are 1) to whole numbers where `to` is narrower.
__device__ __forceinline__ void narrowed(i64 x, u64, i64& to) { to = x; }
__device__ __forceinline__ void narrowed(i64 x, u64 unit, int& to) { to = (int)(x >> unit); }
__device__ __forceinline__ void narrowed(double x, u64, double& to) { to = x; }
__device__ __forceinline__ void narrowed(double x, u64, float& to) {
    to = (float)x;
    if ((double)to > x) {
        int bits = __float_as_int(to);
        to = to > 0 ? __int_as_float(bits - 1) : to < 0 ? __int_as_float(bits + 1) : -1.4e-45f;
    }
}

// lifted converts a value x to the type and the units of the sums of prices; the last argument names the type.
__device__ __forceinline__ i64 lifted(int x, u64 unit, i64) { return (i64)((u64)(i64)x << unit); }
__device__ __forceinline__ i64 lifted(i64 x, u64 unit, i64) { return (i64)((u64)x << unit); }
__device__ __forceinline__ int lifted(int x, u64, int) { return x; }
__device__ __forceinline__ float lifted(float x, u64, float) { return x; }
__device__ __forceinline__ double lifted(float x, u64, double) { return x; }
__device__ __forceinline__ double lifted(double x, u64, double) { return x; }

// place returns the number within the tile of value j of the thread's access number `load`.
__device__ __forceinline__ u32 place(u32 load, u32 j) { return (load * BLOCK + threadIdx.x) * EACH + j; }

// extent raises *most to the largest magnitude of all values; floats count as the bits of a
// float64. Minus infinity counts as 0.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(extent)(const T* v, unsigned long long* most, unsigned long long tiles) {
    u64 x = 0;
    for (u64 h = blockIdx.x; h < tiles; h += gridDim.x) {
        const Values* from = (const Values*)(v + h * TILE) + threadIdx.x;
#pragma unroll
        for (u32 l = 0; l < LOADS; l++) {
            Values y = from[l * BLOCK];
#pragma unroll
            for (u32 j = 0; j < EACH; j++) x = larger(x, size((Wide)y.x[j]));
        }
    }
    x = warpLargest(x);
    if (threadIdx.x % WARP == 0) raise(most, x);
}

// uneven raises *above to one more than the largest coalition, if any, whose value is no multiple of an integer,
// of floats in units of 1 / 2^unit. See Multiple for the integer's arguments.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(uneven)(const T* v, unsigned long long* above, unsigned long long tiles, long long unit,
        unsigned long long inverse, unsigned long long twos, unsigned long long most) {
    Multiple multiple = {inverse, twos, most};
    u64 end = 0;
    for (u64 h = blockIdx.x; h < tiles; h += gridDim.x) {
        const Values* from = (const Values*)(v + h * TILE) + threadIdx.x;
#pragma unroll
        for (u32 l = 0; l < LOADS; l++) {
            Values y = from[l * BLOCK];
#pragma unroll
            for (u32 j = 0; j < EACH; j++) {
                if (!multiple.of((Wide)y.x[j], (int)unit)) end = h * TILE + place(l, j) + 1;
            }
        }
    }
    end = warpLargest(end);
    if (threadIdx.x % WARP == 0) raise(above, end);
}

// sums sets out[s], for all coalitions s below count, to prices[0] plus prices[1 + i] over the
// members i of s.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(sums)(const Wide* prices, Sum* out,
        unsigned long long count, unsigned long long unit) {
    u64 step = (u64)gridDim.x * BLOCK;
    for (u64 s = (u64)blockIdx.x * BLOCK + threadIdx.x; s < count; s += step) {
        Wide y = prices[0];
        for (u64 left = s, i = 1; left != 0; left >>= 1, i++)
            if (left & 1) y += prices[i];
        Sum to;
        narrowed(y, unit, to);
        out[s] = to;
    }
}

// collect appends to `columns`, in any order, the coalitions whose value exceeds low[l] + high[h],
// where h is the number of the coalition's tile and l its number within the tile, and to `values`
// their values. *count counts them. Only the first `room` are stored; a thread that finds one more ends.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(collect)(const T* v, const Sum* low, const Sum* high,
        unsigned long long* columns, T* values, unsigned long long* count, unsigned long long tiles,
        unsigned long long room, unsigned long long unit) {
    Sum own[ITEMS];
#pragma unroll
    for (u32 i = 0; i < ITEMS; i++) own[i] = low[place(i / EACH, i % EACH)];
    for (u64 h = blockIdx.x; h < tiles; h += gridDim.x) {
        const Values* from = (const Values*)(v + h * TILE) + threadIdx.x;
        Values x[LOADS];
#pragma unroll
        for (u32 l = 0; l < LOADS; l++) x[l] = from[l * BLOCK];
        Sum least = high[h];
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) {
            if (!(lifted(x[i / EACH].x[i % EACH], unit, least) > least + own[i])) continue;
            u64 at = atomicAdd(count, 1ull);
            if (at >= room) return;
            columns[at] = h * TILE + place(i / EACH, i % EACH);
            values[at] = x[i / EACH].x[i % EACH];
        }
    }
}

}  // namespace VARIANT
