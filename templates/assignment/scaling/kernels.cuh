// The entry points.
#include "cuda/variant.cuh"

namespace VARIANT {

// begin sets prices to the columns' least costs, and frees all rows.
extern "C" __global__ void __launch_bounds__(param::block, 1) ENTRY(begin)(
    const T* costs, void* work, unsigned long long* control, unsigned long long rows, unsigned long long width, double scale,
    unsigned long long warm) {
    State s(costs, control, work, rows, width, scale, gridDim.x, 0, 0, 0);
    COALESCE_DYNAMIC_SHARED(i64, room);
    u32 lanes = BLOCK / s.width, lane = threadIdx.x / s.width, c = threadIdx.x % s.width, j = blockIdx.x * s.width + c;
    i64 least = INFINITE;
    if (lane < lanes && j < s.n && !warm)
#pragma unroll FLIGHT
        for (u32 i = lane; i < s.n; i += lanes) {
            i64 x = s.cost(i, j);
            least = x < least ? x : least;
        }
    room[threadIdx.x] = least;
    __syncthreads();
    if (threadIdx.x >= s.width || j >= s.n) return;
    for (u32 k = 1; k < lanes; k++) least = room[k * s.width + c] < least ? room[k * s.width + c] : least;
    if (!warm) s.v[j] = least < INFINITE ? least : 0;
    s.match[j] = s.owner[j] = -1;
    s.free[j] = j;
}

// scale makes one scale: at most `enough` rows are free at its end. fresh: all rows are free at
// its beginning. first, later: rounds of bids at the beginning, and after a phase. half: a search
// ends when 1/2^half of the free rows have a free column. most: steps.
extern "C" __global__ void __launch_bounds__(param::block, 1) ENTRY(scale)(
    const T* costs, void* work, unsigned long long* control, unsigned long long rows, unsigned long long width, double scale,
    unsigned long long shift, long long epsilon, long long span, unsigned long long fresh, unsigned long long enough,
    unsigned long long first, unsigned long long later, unsigned long long half, unsigned long long most, unsigned long long near) {
    State s(costs, control, work, rows, width, scale, gridDim.x > 1 ? gridDim.x - 1 : 1, shift, epsilon, span);
    GridBarrier barrier((u32*)(control + BARRIER));
    u32 turn = 0;
    for (u32 j = thread(); j < 2 * s.n; j += threads()) s.offer[j] = NEVER;
    if (fresh) {
        if (thread() == 0) control[FREED] = rows;
        barrier.sync();
    } else {
        release(s, barrier, near != 0);
    }
    u32 free = bids(s, barrier, turn, (u32)first, (u32)enough, near != 0);
    bool whole = true;
    while (whole && free > enough && load(control + STEPS) < most) {
        whole = phase(s, barrier, turn, free, (u32)half, near != 0);
        free = bids(s, barrier, turn, (u32)later, (u32)enough, near != 0);
    }
    if (thread() == 0) control[STATUS] = !whole ? STUCK : free > enough ? STALLED : DONE, control[LEFT] = free;
}

// refine makes the prices of a full matching exact, and the matching optimal. Its blocks are
// those that own columns. roomy: the dynamic shared memory holds 2*rows numbers of 4 bytes.
extern "C" __global__ void __launch_bounds__(param::block, 1) ENTRY(refine)(
    const T* costs, void* work, unsigned long long* control, unsigned long long rows, unsigned long long width, double scale,
    unsigned long long most, unsigned long long aside) {
    State s(costs, control, work, rows, width, scale, gridDim.x, 0, 0, 0);
    GridBarrier barrier((u32*)(control + BARRIER));
    COALESCE_DYNAMIC_SHARED(char, room);
    settle(s, barrier, aside ? (u32*)(room + aside) : s.root, (u32)most);
}

}  // namespace VARIANT
