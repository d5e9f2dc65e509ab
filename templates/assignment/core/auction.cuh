// The auction on the edges of the core.
#include "cuda/variant.cuh"

namespace VARIANT {

// load packs the columns' prices and owners into words.
__device__ void load(State& s, Barrier& barrier) {
    for (u64 j = thread(); j < s.width; j += threads()) {
        if (s.v[j] >= INFINITE) s.v[j] = 0;  // a column whose pairs are all forbidden
        s.word[j] = s.pack(s.v[j], s.owner[j] < 0 ? s.none() : (u64)s.owner[j]);
    }
    if (thread() == 0) s.control[QUEUE] = 0;
    barrier.sync();
}

// release frees every row and column, and keeps the prices.
__device__ void release(State& s, Barrier& barrier) {
    for (u64 j = thread(); j < s.width; j += threads()) s.word[j] |= s.none();
    for (u64 i = thread(); i < s.rows; i += threads()) s.match[i] = -1;
    if (thread() == 0) s.control[QUEUE] = 0, s.control[ASSIGNED] = 0;
    barrier.sync();
}

// Offer holds a row's best column, with its c - price, and the c - price of the second best.
struct Offer {
    i64 best, second;
    u64 word;   // the best column's word, as read
    int col;
    u32 rank;   // decides ties: free columns first, then in an order of lanes that differs from row to row
    __device__ __forceinline__ void put(i64 pay, u64 w, int j, u32 r) {
        if (pay < best || pay == best && r < rank) second = best, best = pay, word = w, col = j, rank = r;
        else if (pay < second) second = pay;
    }
    __device__ __forceinline__ void merge(u32 d) {
        i64 b = __shfl_xor_sync(ALL, best, d), t = __shfl_xor_sync(ALL, second, d);
        u64 w = __shfl_xor_sync(ALL, word, d);
        int j = __shfl_xor_sync(ALL, col, d);
        u32 r = __shfl_xor_sync(ALL, rank, d);
        bool theirs = b < best || b == best && r < rank;
        i64 loser = theirs ? best : b;
        second = t < second ? t : second;
        second = loser < second ? loser : second;
        if (theirs) best = b, word = w, col = j, rank = r;
    }
};

// offer computes the offers of a warp's rows, one for each group of LANES lanes; a group
// without a row passes row < 0. All lanes of the warp must call offer.
__device__ __forceinline__ Offer offer(const State& s, i64 row) {
    u32 lane = threadIdx.x % LANES;
    Offer o = {INFINITE, INFINITE, 0, -1, ~0u};
    for (i64 chunk = row; __any_sync(ALL, chunk >= 0);) {
        if (chunk >= 0) {
#pragma unroll
            for (u32 k = 0; k < ITEMS; k++) {
                u64 e = chunk * K + k * LANES + lane;
                int j = s.col[e];
                if (j >= 0) {
                    u64 w = __ldcg(s.word + j);
                    u32 taken = (w & s.none()) == s.none() ? 0 : LANES;
                    o.put(s.cost[e] - s.price(w), w, j, taken + (lane - (u32)row) % LANES);
                }
            }
            chunk = s.next[chunk];
        }
    }
#pragma unroll
    for (u32 d = LANES / 2; d > 0; d >>= 1) o.merge(d);
    return o;
}

// auction lets free rows bid, asynchronously (Bertsekas). A group of LANES lanes holds one
// row and bids by an atomic minimum of (price, row); the group goes on with the row that the
// bid displaces, for at most `hops` bids a row of the queue. Prices only fall: a price read
// too early is too high, and epsilon complementary slackness holds still. The auction ends
// when `full` columns have owners. With epsilon = 0 it keeps exact complementary slackness
// (augmenting row reduction, Jonker and Volgenant) and takes only rows without a column.
__device__ void auction(State& s, i64 epsilon, u64 full, i64 span, u32 hops) {
    u32 lane = threadIdx.x % LANES, left = 0, turn = 0;
    i64 row = -1;
    u64 bids = 0;
    bool open = true;
    while (__any_sync(ALL, open)) {
        if (open && row < 0) {
            u64 i = 0;
            if (lane == 0) i = atomicAdd(s.control + QUEUE, 1ull);
            i = first(i);
            if (i >= s.rows) open = false;
            else if (epsilon > 0 || s.match[i] < 0) row = (i64)i, left = hops;
        }
        Offer o = offer(s, open ? row : -1);
        if (open && row >= 0) {
            i64 rise = (o.second >= INFINITE ? span : o.second - o.best) + epsilon;
            i64 price = s.price(o.word) - rise;
            u64 mine = s.pack(price, (u64)row), old = 0;
            if (o.col >= 0 && price > -s.bias() && lane == 0) old = atomicMin(s.word + o.col, mine);
            old = first(old);
            bids++;
            if (old > mine) {
                u64 loser = old & s.none();
                row = loser == s.none() ? -1 : (i64)loser;
                if (row < 0 && lane == 0) atomicAdd(s.control + ASSIGNED, 1ull);
            } else if (rise == 0 || o.col < 0 || price <= -s.bias()) {
                row = -1;
            }
            if (--left == 0) row = -1;
        }
        if (open && epsilon > 0 && (++turn & 3) == 0 && first(__ldcg(s.control + ASSIGNED)) >= full) open = false;
    }
    if (lane == 0 && bids) atomicAdd(s.control + BIDS, bids);
}

}  // namespace VARIANT
