// A solve by several devices, each with some of the rows.
#include "cuda/variant.cuh"

namespace VARIANT {

// peer does the work of members index .. index+here-1 of `count` in a solve, for up to
// `most` steps. It is a cooperative launch with one block for each of these members and each
// `width` columns. The launches of all members run at the same time.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(peer)(const unsigned long long* table, unsigned long long rows, unsigned long long cols,
        unsigned long long width, unsigned long long warm, double scale, unsigned long long index,
        unsigned long long here, unsigned long long count, unsigned long long most) {
    __shared__ Scratch scratch;
    __shared__ Work w;
    const Member* members = (const Member*)table;
    u32 blocks = gridDim.x / (u32)here, me = (u32)index + blockIdx.x / blocks;
    if (threadIdx.x == 0) {
        w.cut(members[me].work, rows, cols, width);
        w.told = members[0].work + (w.zeros - members[me].work);
        w.block = blockIdx.x % blocks;
        w.blocks = blocks;
        w.first = (u32)members[me].first;
        w.mine = (u32)members[me].mine;
        for (u32 g = 0; g < count; g++) w.messages[g] = members[g].messages + (u64)w.block * MESSAGE * width;
        w.me = me;
        w.count = (u32)count;
        w.epoch = w.head->slot[3].turn.steps * 256;  // above the number of every exchange so far
        scratch.sent[0] = scratch.sent[1] = 0;
    }
    __syncthreads();
    GridBarrier barrier(((Head*)members[index].work)->word);
    run(w, Costs(members[me].costs, scale, cols), warm != 0, most, barrier, scratch);
}

// addresses writes the addresses of a member's memory to `out`; the host makes the table of them.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(addresses)(unsigned long long* out, const T* costs, unsigned long long* work, unsigned long long* messages) {
    if (threadIdx.x != 0) return;
    out[0] = (unsigned long long)costs;
    out[1] = (unsigned long long)work;
    out[2] = (unsigned long long)messages;
}

}  // namespace VARIANT
