// The auction over known pairs.
#include "cuda/variant.cuh"

namespace VARIANT {

// Words holds the columns' prices and owners, one word a column, so that one atomic minimum makes a bid.
struct Words {
    u64* word;
    u32 shift;  // bits of a row's number; all bits set is no row
    __device__ __forceinline__ u64 none() const { return (1ull << shift) - 1; }
    __device__ __forceinline__ i64 bias() const { return 1ll << (62 - shift); }
    __device__ __forceinline__ u64 pack(i64 price, u64 row) const { return (u64)(price + bias()) << shift | row; }
    __device__ __forceinline__ i64 price(u64 w) const { return (i64)(w >> shift) - bias(); }
    __device__ __forceinline__ i64 operator[](u64 j) const { return price(__ldcg(word + j)); }
};

// two returns the best two of a row's known pairs.
__device__ __forceinline__ Two two(const Words& words, const Lists& lists, u64 row) {
    u32 lane = threadIdx.x % WARP;
    Two t = {INFINITE, INFINITE, 0, -1, ~0u};
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        u32 e = k * WARP + lane;
        if (e >= K) break;
        int j = __ldcg(lists.col + row * K + e);
        if (j < 0) continue;
        u64 w = __ldcg(words.word + j);
        u32 taken = (w & words.none()) == words.none() ? 0 : WARP;
        t.put(__ldcg(lists.cost + row * K + e) - words.price(w), w, j, taken + (lane - (u32)row) % WARP);
    }
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) t.merge(d);
    return t;
}

// auction lets rows bid, asynchronously (Bertsekas). A warp holds one row and bids for it,
// and goes on with the row that the bid displaces, for at most `hops` bids. All warps
// together stop after about `most` bids. Where a row's second best pair may be missing from
// its list, the warp scans all columns again, so that each bid is right for the whole
// problem. Prices only fall: a price read too early is too high, and epsilon complementary
// slackness holds still.
__device__ void auction(const Cloud& cloud, const Words& words, const Lists& lists, i64 epsilon, i64 span, u64 hops, u64 most, u64* control) {
    u32 lane = threadIdx.x % WARP;
    constexpr u64 SHARE = 16;  // bids that a warp adds to SPENT at once
    u64 bids = 0, looks = 0, spent = 0;
    while (spent < most) {
        u64 row = 0;
        if (lane == 0) row = atomicAdd(control + QUEUE, 1ull);
        row = __shfl_sync(ALL, row, 0);
        if (row >= cloud.rows) break;
        for (u64 left = hops; left > 0; left--) {
            if ((hops - left) % SHARE == SHARE - 1) {
                if (lane == 0) spent = atomicAdd(control + SPENT, SHARE);
                spent = __shfl_sync(ALL, spent, 0);
                if (spent >= most) break;
            }
            Two t = two(words, lists, row);
            i64 bound = __ldcg(lists.bound + row);
            if (t.second > bound) {
                know(cloud, words, lists, row);
                looks++;
                t = two(words, lists, row);
                bound = __ldcg(lists.bound + row);
                if (t.best > bound) continue;  // prices have fallen during the scan
                t.second = t.second < bound ? t.second : bound;
            }
            if (t.col < 0) break;
            i64 rise = (t.second >= INFINITE ? span : t.second - t.best) + epsilon;
            i64 price = words.price(t.word) - rise;
            if (price <= -words.bias()) break;
            u64 mine = words.pack(price, row), old = 0;
            if (lane == 0) old = atomicMin(words.word + t.col, mine);
            old = __shfl_sync(ALL, old, 0);
            bids++;
            if (old <= mine) continue;  // another row has bid less in the meantime
            row = old & words.none();
            if (row == words.none()) break;
        }
    }
    if (lane == 0 && bids) atomicAdd(control + BIDS, bids), atomicAdd(control + LOOKS, looks);
}

}  // namespace VARIANT
