// The state of the search, for kernels with a barrier of the grid.
#include "cuda/barrier.cuh"
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 SINGLE_BLOCK_ROWS = param::singleblock * (BLOCK / WARP);  // most frontier rows that one block expands alone

// State is the state of the search, of which every thread has the same copy.
struct State {
    u32 side, head, tail, roots, turn, found, phase;
    u64 levels, number, paths;

    __device__ __forceinline__ explicit State(const Control* ctl)
        : side(ctl->side), head(ctl->head), tail(ctl->tail), roots(ctl->roots), turn(ctl->turn), found(ctl->found),
          phase(ctl->phases), levels(ctl->levels), number(ctl->updates), paths(ctl->paths) {}
    __device__ __forceinline__ void save(Control* ctl, u32 stage) const {
        ctl->side = side, ctl->head = head, ctl->tail = tail, ctl->roots = roots, ctl->turn = turn, ctl->found = found;
        ctl->stage = stage, ctl->levels = levels, ctl->phases = phase, ctl->paths = paths, ctl->updates = number;
    }

    // advance moves the frontier to the rows that a step has put into the queue, and counts the paths found.
    __device__ __forceinline__ void advance(const Control* ctl) { advance(*(const volatile u64*)(ctl->count + turn++ % 3)); }
    __device__ __forceinline__ void advance(u64 count) {
        head = tail;
        tail += (u32)count;
        found += (u32)(count >> 32);
    }
    // leave stores the state after a search by one block, for the other blocks to read.
    __device__ __forceinline__ void leave(Control* ctl) const {
        if (threadIdx.x == 0) ctl->head = head, ctl->tail = tail, ctl->found = found, ctl->levels = levels;
    }
    __device__ __forceinline__ bool searching() const { return head != tail && !(ONE && found != 0); }
};

}  // namespace VARIANT
