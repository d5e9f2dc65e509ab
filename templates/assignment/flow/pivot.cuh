// Pivots of the network simplex method.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 ABOVE = 1u << 16;  // marks ties of the entering row's side

// A Least is the least key of a block, with what belongs to it.
struct Least {
    i64 key;
    u32 at, also;
};

// choose returns the least key of a block, of equal ones that with the least `at`. Between two calls with the same slots is a barrier.
__device__ __forceinline__ Least choose(Slot* slots, i64 key, u32 at, u32 also) {
    u32 lane = threadIdx.x % WARP;
    Pick best = nearest(key, at);
    u32 from = (u32)__ffs((int)__ballot_sync(ALL, key == best.key && at == best.at)) - 1;
    if (lane == from) slots[threadIdx.x / WARP] = {key, at, also};
    __syncthreads();
    Slot mine = slots[lane < WARPS ? lane : WARPS - 1];
    best = nearest(mine.key, mine.at);
    from = (u32)__ffs((int)__ballot_sync(ALL, mine.key == best.key && mine.at == best.at)) - 1;
    return {best.key, best.at, __shfl_sync(ALL, mine.also, from)};
}

// pivot brings the pair of row a and column b into the tree, whose reduced cost is `reduced`. A block calls; false: no flow of the cycle falls.
__device__ __forceinline__ bool pivot(const Tree& t, Slot* slots, u32 a, u32 b, i64 reduced) {
    u32 preA = t.spot[a] >> 16, preB = t.spot[b] >> 16, depthA = t.depth(a), depthB = t.depth(b);
    i64 least = NEVER;
    u32 tie = NOBODY, onA = 0, onB = 0;  // bits: nodes above one of the two alone, which are the cycle's
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 z = threadIdx.x + k * TEAM;
        if (z >= t.nodes) break;
        Spot spot(t.spot[z]);
        bool aboveA = spot.has(preA);
        if (aboveA == spot.has(preB)) continue;
        u32 link = t.link[z], depth = link & 0xffff;
        (aboveA ? t.pathA : t.pathB)[depth - 1] = (u16)z;
        if (aboveA) onA |= 1u << k;
        else onB |= 1u << k;
        bool up = t.isRow(z) || link >> 16 == t.nodes;
        if (aboveA != up) continue;  // its flow grows: the cycle leads down to the row, and up from the column
        i64 x = t.flow[z];
        u32 key = aboveA ? ABOVE + (ABOVE - 1 - depth) : depth;  // the last of the cycle, from where the paths meet
        if (x < least || (x == least && key < tie)) least = x, tie = key;
    }
    Least leaves = choose(slots, least, tie, 0);
    if (leaves.key == NEVER) return false;
    i64 amount = leaves.key;
    bool ofRow = leaves.at >= ABOVE;
    const u16* path = ofRow ? t.pathA : t.pathB;
    u16* moves = ofRow ? t.pathB : t.pathA;
    u32 top = ofRow ? 2 * ABOVE - 1 - leaves.at : leaves.at, low = ofRow ? depthA : depthB, below = (ofRow ? depthB : depthA) + 1;
    u32 place = ofRow ? preB : preA;
    Spot cut(t.spot[path[top - 1]]);  // the subtree that moves: its node q, at the path's end, becomes a child of the entering pair's other node
    u32 base = (place >= cut.pre + cut.size ? place - cut.size : place) + 1;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 z = threadIdx.x + k * TEAM;
        if (z >= t.nodes) break;
        u32 word = t.spot[z];
        Spot spot(word);
        if (cut.has(spot.pre)) {
            moves[spot.pre - cut.pre] = (u16)z;
            continue;
        }
        if (((onA | onB) >> k & 1) != 0) t.flow[z] += ((onA >> k & 1) != 0) == (t.isRow(z) || t.parent(z) == t.nodes) ? -amount : amount;
        u32 pre = spot.pre, size = spot.size;
        size -= spot.has(cut.pre) ? cut.size : 0;
        size += spot.has(place) ? cut.size : 0;
        pre -= pre >= cut.pre + cut.size ? cut.size : 0;
        pre += pre >= base ? cut.size : 0;
        if (u32 now = pre << 16 | size; now != word) t.spot[z] = now;
    }
    __syncthreads();
    u32 spots[EACH], turned = 0;
    i64 flows[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 at = threadIdx.x + k * TEAM;
        if (at >= cut.size) break;
        u32 z = moves[at], pre = cut.pre + at, link = t.link[z], depth = link & 0xffff, parent = link >> 16, high = top, last = min(low, depth);
        while (high < last) {  // the deepest node of the path above z
            u32 mid = (high + last + 1) / 2;
            if (Spot(t.spot[path[mid - 1]]).has(pre)) high = mid;
            else last = mid - 1;
        }
        u32 y = path[high - 1], child = high < low ? path[high] : NOBODY, its = 0, after = 0;
        Spot above(t.spot[y]), own(t.spot[z]);
        if (child != NOBODY) {
            Spot spot(t.spot[child]);
            its = spot.size, after = pre > spot.pre ? its : 0;
        }
        if (z == y) {
            own.size = cut.size - its, turned |= 1u << k, flows[k] = amount, parent = ofRow ? b : a;
            if (child != NOBODY) flows[k] = t.flow[child] + (ofRow == t.isRow(child) ? -amount : amount), parent = child;
        }
        own.pre = base + its + (pre - above.pre) - after;
        spots[k] = own.word();
        t.link[z] = parent << 16 | (depth + below + 2 * (low - high) - low);
        t.price[z] += ofRow ? reduced : -reduced;
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 at = threadIdx.x + k * TEAM;
        if (at >= cut.size) break;
        u32 z = moves[at];
        t.spot[z] = spots[k];
        if ((turned >> k & 1) != 0) t.flow[z] = flows[k];
    }
    __syncthreads();
    return true;
}

// pivots brings candidates into the tree, one a row, the one with the least reduced cost first, until none has a negative one, and returns how many.
__device__ __forceinline__ u64 pivots(const Problem& p, const Tree& t, Slot* slots, u64 most) {
    i64 cost[EACH];
    u32 col[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 row = threadIdx.x + k * TEAM;
        cost[k] = 0, col[k] = NOBODY;
        if (row < t.n) cost[k] = p.key[row], col[k] = p.col[row];
    }
    for (u64 done = 0;; done++) {
        i64 least = 0;
        u32 row = NOBODY, to = NOBODY;
#pragma unroll
        for (u32 k = 0; k < EACH; k++) {
            if (col[k] == NOBODY) continue;
            u32 i = threadIdx.x + k * TEAM;
            i64 x = cost[k] - t.price[i] + t.price[t.n + col[k]];
            if (x < least) least = x, row = i, to = col[k];
        }
        Least enters = choose(slots, least, row, to);
        if (enters.key >= 0 || done >= most || !pivot(t, slots + WARPS, enters.at, t.n + enters.also, enters.key)) return done;
    }
}

// price sets the candidate of each row: the pair with the least reduced cost, where that is negative.
__device__ __forceinline__ void price(const Problem& p) {
    for (u32 row = p.warp(); row < p.n; row += p.warps()) {
        Pick best = leastOf(p, row, [](u32) { return true; });
        if (threadIdx.x % WARP > 0) continue;
        bool enters = best.key < p.u[row];
        p.col[row] = enters ? best.at : NOBODY, p.key[row] = best.key + p.v[best.at];
    }
}

}  // namespace VARIANT
