// The entry points.
#include "cuda/variant.cuh"

namespace VARIANT {

// pairs writes the costs of `count` pairs, words of a column below and a row above, behind them.
extern "C" __global__ void __launch_bounds__(param::block, 1) ENTRY(pairs)(
    const T* costs, unsigned long long* work, unsigned long long at, unsigned long long count, unsigned long long rows, double scale) {
    Scale<T> scaled(scale);
    u64 k = (u64)blockIdx.x * BLOCK + threadIdx.x;
    if (k >= count) return;
    u64 pair = work[at + k];
    work[at + count + k] = (u64)scaled(costs[(pair >> 32) * rows + (u32)pair]);
}

// begin sets prices to the columns' least costs, unless they are given (warm), frees all rows, unless a matching is given (warm is
// 2), and empties their lists. A block has WARP columns.
extern "C" __global__ void __launch_bounds__(param::block, 1) ENTRY(begin)(
    const T* costs, void* work, unsigned long long* control, unsigned long long rows, double scale, unsigned long long warm) {
    State s(costs, control, work, rows, scale, gridDim.x, 0, 0, 0);
    __shared__ i64 room[BLOCK];
    u32 share = threadIdx.x / WARP, j = blockIdx.x * WARP + threadIdx.x % WARP;
    i64 least = INFINITE;
    if (j < s.n && !warm)
#pragma unroll FLIGHT
        for (u32 i = share; i < s.n; i += WARPS) {
            i64 x = s.cost(i, j);
            least = x < least ? x : least;
        }
    room[threadIdx.x] = least;
    for (u64 e = thread(); e < (u64)s.n * LIST; e += threads()) s.listCol[e] = NOBODY;
    __syncthreads();
    if (threadIdx.x >= WARP || j >= s.n) return;
    for (u32 k = 1; k < WARPS; k++) least = room[k * WARP + threadIdx.x] < least ? room[k * WARP + threadIdx.x] : least;
    if (!warm) s.v[j] = least < INFINITE ? least : 0;
    if (warm < 2) s.match[j] = s.owner[j] = -1, s.low[j] = 0;
    s.free[j] = j;
    s.thr[j] = -FAR;
}

// scale makes one scale: at most `enough` rows are free at its end. fresh: all rows are free at
// its beginning. first, later: rounds of bids at the beginning, and after a phase. grain: what
// distances are multiples of, a power of two and at most epsilon. half: a search ends when 1/2^half of the free rows have
// a free column. patience: phases after which twice as many rows may stay free, where any may; again after as many more. most: steps.
extern "C" __global__ void __launch_bounds__(param::block, 1) ENTRY(scale)(
    const T* costs, void* work, unsigned long long* control, unsigned long long rows, double scale,
    unsigned long long shift, long long epsilon, long long span, unsigned long long fresh, unsigned long long enough,
    unsigned long long first, unsigned long long later, long long grain, unsigned long long half, unsigned long long patience, unsigned long long most) {
    State s(costs, control, work, rows, scale, gridDim.x > 1 ? gridDim.x - 1 : 1, shift, epsilon, span);
    s.grain = -grain;
    GridBarrier barrier((u32*)(control + BARRIER));
    u32 turn = 0;
    for (u32 j = thread(); j < 2 * s.n; j += threads()) s.offer[j] = NEVER;
    if (fresh) {
        if (thread() == 0) control[FREED] = rows;
        barrier.sync();
    } else {
        release(s, barrier);
    }
    u32 free = bids(s, barrier, turn, (u32)first, (u32)enough);
    bool whole = true;
    for (u32 k = 1; whole && free > enough && load(control + STEPS) < most; k++) {
        whole = phase(s, barrier, turn, free, (u32)half, (u32)most);
        free = bids(s, barrier, turn, (u32)later, (u32)enough);
        if (k % patience == 0) enough *= 2;
    }
    if (thread() == 0) control[STATUS] = !whole ? STUCK : free > enough ? STALLED : DONE, control[LEFT] = free;
}

// refine makes the prices of a full matching exact, and the matching optimal. roomy: the dynamic
// shared memory holds 2*rows numbers of 4 bytes. finer: for costs unrounded, which are whole in units 2^finer times finer; 0: for scaled costs.
extern "C" __global__ void __launch_bounds__(param::block, 1) ENTRY(refine)(
    const T* costs, void* work, unsigned long long* control, unsigned long long rows, double scale, unsigned long long shift,
    unsigned long long most, unsigned long long roomy, unsigned long long finer) {
    State s(costs, control, work, rows, scale, gridDim.x, shift, 0, 0);
    GridBarrier barrier((u32*)(control + BARRIER));
    COALESCE_DYNAMIC_SHARED(u32, room);
    if constexpr (FLOATS) {
        s.finer = (u32)finer;
        s.exponent = ((int)(__double_as_longlong(scale) >> 52) & 2047) - 1023 - 1075 + (int)finer;
        if (finer) return settle<true>(s, barrier, roomy ? room : s.jump, (u32)most);
    }
    settle<false>(s, barrier, roomy ? room : s.jump, (u32)most);
}

}  // namespace VARIANT
