// Messages between devices. Blocks of the same number own the same columns on every device.
#include "cuda/variant.cuh"

namespace VARIANT {

// Member describes a device's part of a solve: rows first .. first+mine-1. Its message buffer
// has two halves, each with a message of MESSAGE*width words from every member and block.
// Go: Member
struct Member {
    const T* costs;
    u64* work;
    u64* messages;
    u64 first, mine;
};

// Go: MessageWords
constexpr u32 MESSAGE = 4;  // words of a message, a column

// A block writes words of 32 bits to the message buffers of the other members, each beside
// the number of the exchange. A reader reads a word until that number appears, so that
// neither flags nor fences are needed. Exchanges alternate between the halves of a buffer;
// members are at most one exchange apart.
__device__ __forceinline__ volatile u64* message(const Work& w, u32 to, u32 from, u32 epoch) {
    return w.messages[to] + (((u64)epoch & 1) * w.count + from) * w.blocks * MESSAGE * w.width;
}
__device__ __forceinline__ void send(const Work& w, u32 to, u32 epoch, u32 at, u32 x) {
    message(w, to, w.me, epoch)[at] = (u64)epoch << 32 | x;
}
__device__ __forceinline__ bool here(u64 word, u32 epoch) { return (u32)(word >> 32) == epoch; }

// receive waits for two neighbouring words, the first of them in the low half.
__device__ __forceinline__ u64 receive(const Work& w, u32 from, u32 epoch, u32 at) {
    const volatile u64* words = message(w, w.me, from, epoch) + at;
    for (;; __nanosleep(20)) {
        u64 a = words[0], b = words[1];
        if (here(a, epoch) && here(b, epoch)) return b << 32 | (u32)a;
    }
}

// claim records that a column joins by a row. After a closure (`taken`) it also stores the
// column's way, which one member has found.
__device__ __forceinline__ void claim(Scratch& scratch, u32 column, u64 way, bool taken) {
    atomicMin(scratch.claim + column, (int)rowOf(way));
    if (taken) scratch.way[column] = way;
}

// agree exchanges the columns that join: a column joins everywhere if it has zero slack in a
// row of any member, and its parent is the least such row of all members. With `taken` the
// columns are those that the closure has reached, and one member sends them with their ways.
// Other slacks stay with the member that has the rows. A message is the number of columns,
// then three words for each column.
__device__ void agree(Work& w, const Slice& s, Column (&own)[OWN], bool (&join)[OWN], bool taken, i64 sum, Scratch& scratch) {
    u32 epoch = w.epoch + 1;
    u32* sent = scratch.sent + (epoch & 1);
#pragma unroll
    for (u32 o = 0; o < OWN; o++) {
        if (!s.owned(o)) continue;
        u32 at = threadIdx.x + o * BLOCK;
        scratch.claim[at] = join[o] ? own[o].parent : NOWHERE;
        if (!join[o]) continue;
        if (!taken) own[o].way = (u32)own[o].parent;
        scratch.way[at] = own[o].way;
        u32 number = 3 * atomicAdd(sent, 1u) + 1;
        for (u32 g = 0; g < w.count; g++) {
            if (g == w.me) continue;
            send(w, g, epoch, number, at);
            send(w, g, epoch, number + 1, (u32)own[o].way);
            send(w, g, epoch, number + 2, (u32)(own[o].way >> 32));
        }
    }
    __syncthreads();
    if (threadIdx.x < w.count && threadIdx.x != w.me) send(w, threadIdx.x, epoch, 0, *sent);
    if (threadIdx.x == 0) {
        w.epoch = epoch;
        scratch.sent[~epoch & 1] = 0;
    }
    // Each warp reads the message of one member. A lane reads its first column together with
    // the number of columns.
    u32 warp = threadIdx.x / WARP, from = warp % w.count, n = 0;
    u32 i = warp / w.count * WARP + threadIdx.x % WARP, warps = (WARPS - from + w.count - 1) / w.count;
    const volatile u64* words = message(w, w.me, from, epoch);
    u32 first = min(3 * i + 1, MESSAGE * w.width - 3);
    while (from != w.me) {
        u64 number = words[0], column = words[first], low = words[first + 1], high = words[first + 2];
        n = (u32)number;
        if (here(number, epoch) && i >= n) break;
        if (here(number, epoch) && here(column, epoch) && here(low, epoch) && here(high, epoch)) {
            claim(scratch, (u32)column, high << 32 | (u32)low, taken);
            break;
        }
        __nanosleep(20);
    }
    for (i += warps * WARP; i < n; i += warps * WARP) {
        u32 column = (u32)receive(w, from, epoch, 3 * i + 1);
        claim(scratch, column, receive(w, from, epoch, 3 * i + 2), taken);
    }
    __syncthreads();
#pragma unroll
    for (u32 o = 0; o < OWN; o++) {
        if (!s.owned(o)) continue;
        int parent = scratch.claim[threadIdx.x + o * BLOCK];
        join[o] = parent != NOWHERE;
        if (!join[o]) continue;
        u32 j = own[o].j;
        own[o].way = scratch.way[threadIdx.x + o * BLOCK];
        w.parent[j] = own[o].parent = parent;
        w.dist[j] = own[o].dist = sum;
    }
}

// nearestOfAll returns the least of all members' values. Threads must have read `epoch`
// before their last barrier.
__device__ __forceinline__ i64 nearestOfAll(Work& w, i64 least, u32 epoch, Scratch& scratch) {
    u32 g = threadIdx.x;
    if (g == 0) w.epoch = epoch;
    if (g < w.count && g != w.me) {
        send(w, g, epoch, 0, (u32)least);
        send(w, g, epoch, 1, (u32)((u64)least >> 32));
        scratch.at[g] = (i64)receive(w, g, epoch, 0);
    }
    __syncthreads();
    for (g = 0; g < w.count; g++)
        if (g != w.me) least = lower(least, scratch.at[g]);
    return least;
}

// meet waits for all members. After it, each member sees the writes that others made to its
// memory and fenced before their last barrier.
__device__ __forceinline__ void meet(Work& w, Scratch& scratch) {
    u32 epoch = w.epoch + 1;
    __threadfence_system();
    __syncthreads();
    nearestOfAll(w, 0, epoch, scratch);
    __threadfence_system();
}

// bestOfAll returns the least of all members' minima of one column of the block; of equal
// ones the lowest row's.
__device__ __forceinline__ Best bestOfAll(const Work& w, Best best, u32 epoch, u32 column) {
    for (u32 g = 0; g < w.count; g++) {
        if (g == w.me) continue;
        send(w, g, epoch, 3 * column, (u32)best.at);
        send(w, g, epoch, 3 * column + 1, (u32)((u64)best.at >> 32));
        send(w, g, epoch, 3 * column + 2, (u32)best.row);
    }
    Best least = best;
    for (u32 g = 0; g < w.count; g++) {
        if (g == w.me) continue;
        i64 at = (i64)receive(w, g, epoch, 3 * column);
        int row = (int)(receive(w, g, epoch, 3 * column + 1) >> 32);
        least.take(at, row);
    }
    return least;
}

}  // namespace VARIANT
