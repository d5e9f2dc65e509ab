// Rounds of bids: all free rows at once (Bertsekas).
#include "cuda/variant.cuh"

namespace VARIANT {

// release frees the rows whose column is more than epsilon beyond the row's least c - v, and
// lists all free rows in list 0.
__device__ void release(State& s, GridBarrier& barrier) {
    u32 lane = threadIdx.x % WARP;
    auto loosen = [&](u32 row, int j) {
        if (j >= 0) s.match[row] = -1, s.owner[j] = -1;
        s.free[count(s.control + FREED)] = row;
    };
    auto own = [&](u32 row, int j) { return s.cost(row, (u32)j) - __ldcg(s.v + j) - s.epsilon; };
    clearWanted(s);
    for (u32 row = warp(); row < s.n; row += warps()) {
        int j = __ldcg(s.match + row);
        i64 pay = j >= 0 ? own(row, j) : 2 * FAR;
        bool loose = j < 0 || least(s, row).best < pay;
        if (lane == 0 && loose) loosen(row, j);
        else if (lane == 0 && __ldcg(s.thr + row) < pay) want(s, row, NOBODY);
    }
    barrier.sync();
    u32 read = readWanted(s, [&](u32, const Entry& e, i64) {
        int j = __ldcg(s.match + e.row);
        if (least(s, e.row).best < own(e.row, j) && lane == 0) loosen(e.row, j);
    });
    if (read > 0) barrier.sync();
    s.stamp(SCANNING);
}

// bidRound lets the rows of list turn%3 bid once, and lists the rows that are free afterwards
// in the next list. A bid is the price to which the row's best column falls, epsilon below the
// one at which the second best is as good; the lowest bid has the column. Rows whose lists do not have
// their best columns are read first.
__device__ void bidRound(State& s, GridBarrier& barrier, u32& turn, u32 free) {
    const u32* list = s.free + (u64)(turn % 3) * s.n;
    u64 *offer = s.offer + (u64)s.side * s.n, *empty = s.offer + (u64)(s.side ^ 1) * s.n;
    u32 lane = threadIdx.x % WARP;
    auto bid = [&](u32 at, u32 row, const Least& l, i64 thr) {
        s.bidder[at] = NOBODY;
        if (l.best >= FAR) return;
        i64 second = l.second < thr ? l.second : thr;
        i64 ahead = second - l.best < s.span ? second - l.best : s.span, to = __ldcg(s.v + l.at) - ahead - s.epsilon;
        if (!s.fits(to)) return;
        u64 word = s.pack(to, row);
        s.bid[at] = word, s.bidder[at] = l.at;
        atomicMin(offer + l.at, word);
    };
    clearWanted(s);
    for (u32 at = warp(); at < free; at += warps()) {
        u32 row = __ldcg(list + at);
        i64 thr = __ldcg(s.thr + row);
        Least l = least(s, row);
        if (lane > 0) continue;
        if (l.best > thr || l.second > thr && thr - l.best < s.epsilon) want(s, row, at);
        else bid(at, row, l, thr);
    }
    if (thread() == 0) s.control[BIDS]++;
    barrier.sync();
    u32 read = readWanted(s, [&](u32, const Entry& e, i64 thr) {
        Least l = least(s, e.row);
        if (lane == 0) bid(e.from, e.row, l, thr);
    });
    if (read > 0) barrier.sync();
    u32* next = s.free + (u64)((turn + 1) % 3) * s.n;
    u64* counter = s.control + FREED + (turn + 1) % 3;
    for (u32 first = thread() - lane; first < s.n; first += threads()) {
        u32 j = first + lane;
        u64 best = j < s.n ? __ldcg(offer + j) : NEVER;
        int displaced = -1;
        if (j < s.n) empty[j] = NEVER;
        if (best != NEVER) {
            displaced = s.owner[j];
            if (displaced >= 0) s.match[displaced] = -1;
            s.owner[j] = (int)s.row(best), s.match[s.row(best)] = (int)j, s.v[j] = s.price(best);
        }
        u32 at = place(counter, displaced >= 0);
        if (displaced >= 0) next[at] = (u32)displaced;
    }
    for (u32 first = thread() - lane; first < free; first += threads()) {
        u32 k = first + lane;
        bool lost = false;
        if (k < free) {
            u32 j = __ldcg(s.bidder + k);
            lost = j == NOBODY || __ldcg(offer + j) != __ldcg(s.bid + k);
        }
        u32 at = place(counter, lost);
        if (lost) next[at] = __ldcg(list + k);
    }
    if (thread() == 0) s.control[FREED + (turn + 2) % 3] = 0;
    s.side ^= 1;
    turn++;
    barrier.sync();
}

// bids makes rounds until at most `enough` rows are free, at most `most`; it returns how many are free.
__device__ u32 bids(State& s, GridBarrier& barrier, u32& turn, u32 most, u32 enough) {
    u32 free = load(s.control + FREED + turn % 3);
    for (u32 k = 0; k < most && free > enough; k++) {
        bidRound(s, barrier, turn, free);
        free = load(s.control + FREED + turn % 3);
    }
    s.stamp(BIDDING);
    return free;
}

}  // namespace VARIANT
