// devices=many: kernels of a device that holds some of the rows. Its Work has these rows.
#include "cuda/variant.cuh"

namespace VARIANT {

// Edge is a word of zeros of a row, in a message to the device that searches.
// Go: Edge
struct Edge {
    u32 row, word, zeros;
};

// Go: MessageEdges
constexpr u32 MESSAGE_EDGES = 4096;  // room of a message, in edges

// Message is what a device sends in a dual update: the number of its edges, the least slack
// d of its rows, and the first edges.
// Go: Message
struct Message {
    u64 count;
    i64 d;
    Edge of[MESSAGE_EDGES];
};

// sendEdges appends the zeros z of word w, of each lane, to the device's edges and, while there is room, to its message.
__device__ __forceinline__ void sendEdges(const Work& m, Edge* edges, Message& message, u32 row, u32 w, u32 z) {
    u32 at = enqueue(&message.count, z != 0);
    if (!z || at >= m.edges()) return;
    edges[at] = {row, w, z};
    if (at < MESSAGE_EDGES) message.of[at] = {row, w, z};
}

// collect lists the device's rows in the forest for dual update `number`, and counts them in
// counter 1 or 2, by turns. It also clears the device's message, number `part` of all.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(collect)(WORK_ARGS, unsigned long long* message, unsigned long long part, unsigned long long number) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    Team team = everyone();
    if (team.thread == 0) ((Message*)message)[part].count = 0;
    for (u32 first = team.warp * WARP; first < m.rows; first += team.warps * WARP) {
        u32 i = first + threadIdx.x % WARP;
        bool reached = i < m.rows && inForest(m, m.reached, i);
        u32 at = enqueue(m.ctl->count + 1 + number % 2, reached);
        if (reached) m.queue(0)[at] = i;
    }
}

// price finds the least uncovered slack of the rows collected.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(price)(WORK_ARGS, unsigned long long number) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    __shared__ Finds finds;
    minimum(m, 0, (u32)m.ctl->count[1 + number % 2], number, finds, everyone());
}

// emit moves the duals by the least uncovered slack of dual update `number`, and sends the
// zeros that this makes; with `first` it sends all zeros of the reduction. Row i of the
// device is row origin + i of the instance.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(emit)(WORK_ARGS, unsigned int* edges, unsigned long long* message,
        unsigned long long part, unsigned long long origin, unsigned long long first, unsigned long long number) {
    Work m(costs, stored, work, scale, start, (u32)rows, (u32)cols, (u32)flags);
    Team team = everyone();
    Message& sent = ((Message*)message)[part];
    i64 d = first ? 0 : m.ctl->least[number % 2];
    u32 lane = threadIdx.x % WARP, count = first ? m.rows : (u32)m.ctl->count[1 + number % 2];
    if (team.thread == 0) sent.d = d;
    if (team.thread == 0 && !first) {
        m.ctl->bound += d < INFINITE ? d : 0;
        m.ctl->count[1 + (number + 1) % 2] = 0, m.ctl->hits[(number + 1) % 2] = 0;
        m.ctl->least[(number + 1) % 2] = INFINITE;
    }
    if (d >= INFINITE) return;
    for (u32 j = team.thread; j < m.cols; j += team.threads) {
        if (first && m.v[j] >= INFINITE) m.v[j] = 0;
        if (!first && m.covered[C::word(j)] & C::bit(j)) m.v[j] -= d;
    }
    for (u32 x = team.warp; x < count; x += team.warps) {
        u32 i = first ? x : m.queue(0)[x];
        i64 low = first ? reduced(m, i) : d;
        if (lane == 0 && !first) m.u[i] += d;
        if (!BOUNDED || first) gather(m, i, low, [&](u32 w, u32 z) { sendEdges(m, (Edge*)edges, sent, (u32)origin + i, w, z); });
    }
    if (BOUNDED && !first) made(m, d, number, team, [&](u32 i, u32 w, u32 z) { sendEdges(m, (Edge*)edges, sent, (u32)origin + i, w, z); });
}

}  // namespace VARIANT
