// Auctions bidder by bidder: a table of the best revenue of every set of items. See package bidders.
#include "cuda/variant.cuh"

namespace VARIANT {

using namespace coalesce;

using T = param::value;
constexpr u32 BLOCK = param::block;
constexpr u32 ITEMS = param::items;       // sets of a tile that a thread holds
constexpr u32 TILE = BLOCK * ITEMS;       // sets with the same high items
constexpr u32 BIDS = param::bids;         // bids that a block reads before it evaluates them

// insert returns the tile of a rank among the tiles that have all high items `have`.
__device__ __forceinline__ u32 insert(u32 tile, u32 have) {
    for (; have != 0; have &= have - 1) {
        u32 bit = have & (0u - have);
        tile = (tile & ~(bit - 1)) << 1 | bit | (tile & (bit - 1));
    }
    return tile;
}

// come adds one bidder, whose `count` bids of which at most one wins begin at `first` in items
// and prices: table[S] = max(old[S], old[S \ b] + price of b) over the bids b that are subsets
// of S. The kernel goes through the `tiles` tiles whose sets have the high items `have`.
// old and table may be the same where every two of the bids share an item: S \ b then contains
// no bid, so that no block changes a value that another block reads.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(come)(const T* old, T* table, const unsigned* items, const T* prices,
        unsigned long long first, unsigned long long count, unsigned long long tiles, unsigned long long have) {
    __shared__ u32 bids[BIDS], within[BIDS];  // bids whose high items the tile has; of each, a bit for every set of a thread that has the bid's middle items
    __shared__ T worth[BIDS];
    __shared__ u32 kept;
    for (u64 rank = blockIdx.x; rank < tiles; rank += gridDim.x) {
        u32 set = insert((u32)rank, (u32)have) * TILE + threadIdx.x;  // the thread's first set; BLOCK is the distance to the next
        T v[ITEMS];
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) v[i] = old[(u64)set + i * BLOCK];
        u32 offered = 0;
        for (u64 from = 0; from < count; from += BIDS) {
            __syncthreads();
            if (threadIdx.x == 0) kept = 0;
            __syncthreads();
            for (u64 k = from + threadIdx.x; k < count && k < from + BIDS; k += BLOCK) {
                u32 b = items[first + k];
                if ((b & ~set) / TILE != 0) continue;
                u32 need = b % TILE / BLOCK, holds = 0;
                for (u32 i = need; i < ITEMS; i = (i + 1) | need) holds |= 1u << i;
                u32 at = atomicAdd(&kept, 1u);
                bids[at] = b;
                within[at] = holds;
                worth[at] = prices[first + k];
            }
            __syncthreads();
            for (u32 k = 0, all = kept; k < all; k++) {
                u32 b = bids[k];
                if ((b & ~set) % BLOCK != 0) continue;
                u32 holds = within[k];
                T price = worth[k];
                const T* rest = old + ((i64)set - (i64)b);  // rest[i * BLOCK] is the value of the thread's set i without b
                offered |= holds;
                T x[ITEMS];
#pragma unroll
                for (u32 i = 0; i < ITEMS; i++) x[i] = holds >> i & 1 ? rest[i * BLOCK] : lowest<T>();
#pragma unroll
                for (u32 i = 0; i < ITEMS; i++) v[i] = larger(v[i], x[i] + price);  // lowest + price stays below v: v is at least 0
            }
        }
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++)
            if (old != table || offered >> i & 1) table[(u64)set + i * BLOCK] = v[i];
    }
}

// best writes, for each block, the largest sum of two tables' values to worth and its set to
// sets: the first table has the value of the set's items, the second that of the other items.
// The tables cover the sets of the items in oneMask and in otherMask.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(best)(const T* one, const T* other, T* worth, unsigned* sets,
        unsigned long long oneMask, unsigned long long otherMask, unsigned long long tiles) {
    __shared__ T most[BLOCK];
    __shared__ u32 at[BLOCK];
    T x = lowest<T>();
    u32 set = 0;
    for (u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        u32 s = (u32)tile * TILE + threadIdx.x;
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) {
            u32 here = s + i * BLOCK;
            T y = one[here & (u32)oneMask] + other[~here & (u32)otherMask];
            if (y > x) x = y, set = here;
        }
    }
    most[threadIdx.x] = x;
    at[threadIdx.x] = set;
    for (u32 half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half && most[threadIdx.x + half] > most[threadIdx.x]) {
            most[threadIdx.x] = most[threadIdx.x + half];
            at[threadIdx.x] = at[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        worth[blockIdx.x] = most[0];
        sets[blockIdx.x] = at[0];
    }
}

// look sets worth[k] to the table's value of sets[k], for all k below count.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(look)(const T* table, const unsigned* sets, T* worth, unsigned long long count) {
    u64 step = (u64)gridDim.x * BLOCK;
    for (u64 k = (u64)blockIdx.x * BLOCK + threadIdx.x; k < count; k += step) worth[k] = table[sets[k]];
}

}  // namespace VARIANT
