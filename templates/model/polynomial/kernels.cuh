// The entry point.
#include "cuda/variant.cuh"

namespace VARIANT {

// start makes the bits with which walk k begins a run: drawn, of two good solutions with some bits changed, or of the walk's own.
__device__ __forceinline__ void start(u32* x, u32 n, u32 k, const u32* elite, const i64* eliteValues, Random& random) {
    u32 words = n / WARP + 1, kind = random.next() >> 29, coins = random.next();
    u32 pick[2];
    for (u32 e = 0; e < 2; e++) {
        u32 a = random.below(gridDim.x), b = random.below(gridDim.x);
        pick[e] = eliteValues[b] < eliteValues[a] ? b : a;
    }
    u32 rare = 2 + random.below(4);  // a bit of 2^rare is changed
    if (kind < 6) rare = WARP - (u32)__clz((int)n);
    for (u32 w = threadIdx.x; w < words; w += BLOCK) {
        u32 some = ALL, drawn = mix(coins, w);
        for (u32 r = 1; r <= rare; r++) some &= mix(coins + r, w);
        u32 one = elite[(u64)pick[0] * words + w], other = elite[(u64)pick[1] * words + w], now;
        if (kind == 0) now = drawn;
        else if (kind < 6) now = (one & drawn | other & ~drawn) ^ some;
        else now = elite[(u64)k * words + w] ^ some;
        if (w == n / WARP) now = now & ~(ALL << n % WARP) | 1u << n % WARP;
        x[w] = now;
    }
}

// walk makes `steps` steps of every walk, a block each, in runs that begin anew. elite has a row of n / 32 + 1 words of good bits a walk,
// and eliteValues their values; tops and topValues receive the best that each walk has come to, those of an even number or what it began with.
// Dynamic shared memory: the gains, 4 bytes a variable and the words of a row, and where PAIRS a byte a variable and two more.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(walk)(const unsigned int* from, const unsigned long long* terms, const long long* weights, const unsigned long long* sheaves, unsigned long long n,
        const unsigned int* elite, const long long* eliteValues, unsigned int* tops, long long* topValues,
        unsigned long long steps, unsigned long long seed, unsigned long long round) {
    COALESCE_DYNAMIC_SHARED(Gain, room);
    __shared__ Least lows[WARPS];
    __shared__ i64 sums[WARPS];
    const u32 k = blockIdx.x, words = (u32)n / WARP + 1;
    u32* until = (u32*)(room + n);
    Walk s = {{from, terms, weights, (const uint4*)sheaves, (u32)n}, room, until, until + n, (unsigned char*)(until + n + words), 0};
    Random random(splitmix(seed) + splitmix(round << 32 | k));
    u32* own = tops + (u64)k * words;
    i64 top = 0x7fffffffffffffffll, best = top;
    s.value = top;
    if (k % 2 == 0) {
        top = eliteValues[k];
        for (u32 w = threadIdx.x; w < words; w += BLOCK) own[w] = elite[(u64)k * words + w];
    }
    auto keep = [&] {
        if (s.value < best) best = s.value;
        if (s.value >= top) return;
        top = s.value;
        join();
        for (u32 w = threadIdx.x; w < words; w += BLOCK) own[w] = s.x[w];
    };
    const u32 stay = 2 + min(s.p.n, 200u) / 12, more = 2 + min(s.p.n, 400u) / 25;
    u32 now = 0, end = 0, flipped = ALL;
    for (u64 step = 0;; step++) {
        if (flipped != ALL && threadIdx.x == 0) {
            s.x[flipped / WARP] ^= 1u << flipped % WARP;
            if constexpr (PAIRS) s.bits[flipped] ^= 1;
        }
        keep();
        if (step == steps) break;
        if (now == end) {
            join();
            start(s.x, s.p.n, k, elite, eliteValues, random);
            join();
            s.begin(sums);
            best = s.value, now = 0;
            end = 1 + s.p.n / 2 + random.below(s.p.n) << 2 * (k % 4);
            keep();
        }
        Least to = s.choose(now, best, random.next(), lows);
        u32 v = to.key & 0xffff;
        if (to.key == ALL) {
            v = random.below(s.p.n);
            to.gain = s.gain[v];
            join();
        }
        s.change(v);
        s.value += to.gain, flipped = v, now++;
        u32 free = now + stay + random.below(more);
        if (threadIdx.x == 0) s.gain[v] = -to.gain, s.until[v] = free;
        join();
    }
    if (threadIdx.x == 0) topValues[k] = top;
}

}  // namespace VARIANT
