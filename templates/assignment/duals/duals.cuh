// Dual initialisation for structured costs: annealed soft minima over the whole matrix.
#include "cuda/variant.cuh"
#include "cuda/barrier.cuh"
#include "assignment/costs.cuh"

// At a temperature t the share of column j in row i is
//
//     p(i,j) = exp((u[i] + v[j] - c(i,j)) / t)
//
// An iteration sets u such that every row's shares sum to 1, then v such that every
// column's do (Sinkhorn; to at most 1, with v <= 0, where columns may stay unmatched). As t
// falls, u and v tend to optimal duals. Columns' sums are integers, and sums over blocks
// have a fixed order, so that equal runs give equal prices.
namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 BLOCK = param::block;     // threads
constexpr u32 SHARE = param::share;     // warps that share a row
constexpr u32 FLIGHT = param::flight;   // costs that a thread loads at once
constexpr u32 WARPS = BLOCK / WARP;
constexpr u32 TEAMS = WARPS / SHARE;    // rows that a block reads at once
constexpr float LOW = -1e30f;           // below every exponent
constexpr double LOG2E = 1.4426950408889634;
constexpr double UNIT = 1099511627776.0;  // the value of a share of 1 in sums
static_assert(WARPS % SHARE == 0, "a row is shared by whole teams");

// Indices of the control words, 8 bytes each, which the host reads.
// Go: Word
enum Word { BARRIER, STRUCTURED, ITERATIONS, READS, TEMPERATURE, STRUCTURE, WORDS };

struct Problem {
    const T* costs;
    u64 rows, cols;
    Scale<T> scale;
    double limit;     // scaled cost of leaving a row unmatched; infinite where that is forbidden
    bool capped;      // whether columns may stay unmatched: then v <= 0
    double* u;        // [rows]
    double* v;        // [cols]
    u64* sums;        // [2*cols] columns' sums; zero between uses
    double* partial;  // [4*gridDim.x] two kinds of blocks' sums, by iteration modulo 2

    // A sample has every stride-th row; a block has rows from() .. to()-1 of the sample.
    u64 used, stride;
    __device__ __forceinline__ void take(u64 step) { stride = step, used = (rows + step - 1) / step; }
    __device__ __forceinline__ u64 from() const { return used * blockIdx.x / gridDim.x; }
    __device__ __forceinline__ u64 to() const { return used * (blockIdx.x + 1) / gridDim.x; }
    __device__ __forceinline__ double cost(T c) const {
        i64 x = scale(c);
        return x >= INFINITE ? INFINITY : (double)x;
    }
};

__device__ __forceinline__ u64 thread() { return (u64)blockIdx.x * BLOCK + threadIdx.x; }
__device__ __forceinline__ u64 threads() { return (u64)gridDim.x * BLOCK; }

}  // namespace VARIANT
