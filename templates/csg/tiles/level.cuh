// The tiles of one level: targets with the same number of high members.
#include "cuda/variant.cuh"

namespace VARIANT {

// level raises target tiles, from rank `first` on among those with `size` of `high` high
// members; `parts` blocks work on one target.
// couple = 0: by the 2^(size-1) - 1 pairs of tiles that both have high members, divided
// among the target's blocks.
// couple = 1: by the pair of tile 0, which has low members alone, and the target, after
// which the tile holds f. One pass is enough: any partition consists of blocks of low
// members alone, worth f[low], and of blocks with high members, worth the target before.
extern "C" __global__ void __launch_bounds__(param::block, param::least)
ENTRY(level)(T* f, unsigned long long high, unsigned long long size, unsigned long long first,
        unsigned long long parts, unsigned long long couple) {
    COALESCE_DYNAMIC_SHARED(W, shared);
    u32 part = (u32)(blockIdx.x % parts);
    u32 target = unrank((u32)(first + blockIdx.x / parts), (u32)size, (u32)high);
    u32 begin = 0, count = 1;
    Pairs pairs = {target, 0, 0};
    if (!couple) {
        // The first part of each pair lacks the target's highest member, so that each pair occurs once.
        pairs.step = target ^ (0x80000000u >> __clz((int)target));
        u32 all = (1u << (size - 1)) - 1;
        begin = (u32)((u64)all * part / parts);
        count = (u32)((u64)all * (part + 1) / parts) - begin;
        pairs.sub = deposit(begin + 1, pairs.step);
        if (count == 0) return;
    }
    W best[EACH][CHUNK];
#pragma unroll
    for (u32 e = 0; e < EACH; e++)
#pragma unroll
        for (u32 l = 0; l < CHUNK; l++) best[e][l] = lowest<W>();
    raiseAll(best, shared, f, pairs, count);
    T* into = f + ((u64)target << K);
    if (couple) merged(best, shared, [&](u32 l, T x) { into[l] = x; });
    else if (parts == 1) merged(best, shared, [&](u32 l, T x) { into[l] = larger(into[l], x); });
    else merged(best, shared, [&](u32 l, T x) { if (x > into[l]) raise(into + l, x); });
}

}  // namespace VARIANT
