// Every splitting of every coalition of one size.
#include "cuda/variant.cuh"

namespace VARIANT {

// level evaluates all splittings of the coalitions of ranks first ..
// first+count-1 among those of one size. A group of `spread` blocks takes ALPHA
// coalitions; c0 is the first coalition's mask with origin=launch. Splittings
// have numbers below psi: the part that a number selects lacks the highest
// member, and number 0 leaves the coalition whole.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(level)(T* f, unsigned long long* table, unsigned long long* cycles, unsigned long long c0,
        unsigned long long first, unsigned long long count, unsigned long long size,
        unsigned long long agents, unsigned long long spread, unsigned long long psi) {
    __shared__ Group group;
    __shared__ Scratch scratch[2];
    Clock clock;
    u32 start = (u32)(blockIdx.x / spread) * ALPHA, share = (u32)(blockIdx.x % spread);
    u32 left = (u32)count - start;
    fill(group, (u32)c0, (u32)first + start, left < ALPHA ? left : ALPHA, (u32)size, (u32)agents);
    clock.at(1);
    group.index(share);
    __syncthreads();
    clock.at(2);
    u32 mine = LAMBDA * BLOCK * share + threadIdx.x, rounds = (u32)psi / BLOCK;
    u32 steps = rounds < 1 ? 1 : rounds < LAMBDA ? rounds : LAMBDA;
    if constexpr (param::order_consecutive) {
        mine = LAMBDA * (threadIdx.x + BLOCK * share);
        steps = (u32)psi < LAMBDA ? (u32)psi : LAMBDA;
    }
    // Threads past the last splitting repeat number 0, which changes no result and saves a branch.
    if (!param::construct_integer && mine >= (u32)psi) mine = 0;
    Best* into = results(f, table);
    for (u32 x = 0; x < ALPHA && x < left; x += BETA) {
        u32 c[BETA], split[BETA];
        u32 step[BETA];  // the members in which the splittings of this thread differ
        Best v[BETA];
        clock.at(3);  // before initialSplit, as Algorithm 7 has this checkpoint
#pragma unroll
        for (u32 z = 0; z < BETA; z++) {
            c[z] = group.coalition[x + z];
            v[z] = none();
            split[z] = group.first(x + z, c[z], mine);
            step[z] = group.steps(x + z, c[z]);
        }
        if (steps == LAMBDA) {
#pragma unroll
            for (u32 l = 0; l < LAMBDA; l++) evaluate(v, f, c, split, step, mine + l, (u32)psi, (u32)size);
        } else {
#pragma unroll 1
            for (u32 l = 0; l < steps; l++) evaluate(v, f, c, split, step, mine + l, (u32)psi, (u32)size);
        }
        clock.at(4);
        reduce(v, scratch[x / BETA % 2], into, group.coalition + x, clock);
    }
    clock.report(cycles);
}

}  // namespace VARIANT
