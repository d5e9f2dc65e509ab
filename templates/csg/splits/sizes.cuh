// method=idp: only the splittings whose parts have the sizes that IDP needs.
#include "cuda/variant.cuh"

namespace VARIANT {

// Members holds, for six members of a coalition each, a table from subset number
// to mask; four look-ups turn a splitting's number into its mask.
constexpr u32 BITS = 6, TABLES = 4;
struct Members {
    u32 of[BETA][TABLES][1 << BITS];
};

// sizes evaluates, for the coalitions of ranks first .. first+count-1 among those
// of one size, the splittings numbers[0 .. length-1]. The host lists there the
// numbers whose parts have the sizes that IDP needs, so that no thread makes a
// splitting in vain. Every block of a group takes LAMBDA * BLOCK of the numbers.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(sizes)(T* f, unsigned long long* table, unsigned int* numbers, unsigned long long c0,
        unsigned long long first, unsigned long long count, unsigned long long size,
        unsigned long long agents, unsigned long long spread, unsigned long long length) {
    __shared__ Group group;
    __shared__ Members members;
    __shared__ Scratch scratch[2];
    Clock clock;
    u32 start = (u32)(blockIdx.x / spread) * ALPHA, share = (u32)(blockIdx.x % spread);
    u32 left = (u32)count - start;
    fill(group, (u32)c0, (u32)first + start, left < ALPHA ? left : ALPHA, (u32)size, (u32)agents);
    u32 psi[LAMBDA];
#pragma unroll
    for (u32 l = 0; l < LAMBDA; l++) {
        u32 i = (share * LAMBDA + l) * BLOCK + threadIdx.x;
        psi[l] = i < (u32)length ? numbers[i] : 0;
    }
    Best* into = results(f, table);
    for (u32 x = 0; x < ALPHA && x < left; x += BETA) {
        __syncthreads();
        for (u32 i = threadIdx.x; i < BETA * TABLES << BITS; i += BLOCK) {
            u32 z = i / (TABLES << BITS), t = i >> BITS & (TABLES - 1), low = i & ((1 << BITS) - 1);
            members.of[z][t][low] = deposit(low, withoutLowest(group.coalition[x + z], t * BITS));
        }
        __syncthreads();
        Best v[BETA];
#pragma unroll
        for (u32 z = 0; z < BETA; z++) v[z] = none();
#pragma unroll
        for (u32 l = 0; l < LAMBDA; l++) {
            u32 split[BETA], other[BETA];
            T a[BETA], b[BETA];
#pragma unroll
            for (u32 z = 0; z < BETA; z++) {
                split[z] = 0;
#pragma unroll
                for (u32 t = 0; t < TABLES; t++)
                    split[z] |= members.of[z][t][psi[l] >> t * BITS & ((1 << BITS) - 1)];
                other[z] = group.coalition[x + z] ^ split[z];
            }
            fetch(a, f, split);
            fetch(b, f, other);
#pragma unroll
            for (u32 z = 0; z < BETA; z++) v[z] = larger(v[z], best(a[z] + b[z], split[z]));
        }
        reduce(v, scratch[x / BETA % 2], into, group.coalition + x, clock);
    }
}

}  // namespace VARIANT
