// A walk: the bits, the change of the value by each flip, and the steps.
#include "cuda/variant.cuh"

namespace VARIANT {

struct Walk {
    Polynomial p;
    Gain* gain;
    u32* until;  // the step from which a variable may be flipped again
    u32* x;      // words of bits, that of variable n among them
    unsigned char* bits;  // those and that of variable n + 1 as bytes, where PAIRS
    i64 value;
    __device__ __forceinline__ u32 bit(u32 i) const { return x[i / WARP] >> i % WARP & 1; }
    __device__ __forceinline__ void add(u32 i, i64 change) {
        if (i >= p.n) return;
        if constexpr (PACKED) atomicAdd((int*)&gain[i], (int)change);
        else atomicAdd((u64*)&gain[i], (u64)change);
    }
    // spins is the change of a product of spins if one of them is flipped.
    __device__ __forceinline__ i64 spins(u32 own, const Term& t) const { return own ^ bit(t.a) ^ bit(t.b) ^ bit(t.c) ? 2 * t.weight : -2 * t.weight; }
    // begin computes all gains and the value. sums has a number a warp.
    __device__ __forceinline__ void begin(i64* sums) {
        i64 mine = 0;
        for (u32 i = threadIdx.x / WARP; i < p.n; i += WARPS) {
            i64 change = 0;
            u32 own = bit(i), middle = p.from[2 * i + 1], end = p.from[2 * i + 2];
            for (u32 k = p.from[2 * i] + lane(); k < end; k += WARP) {
                Term t = p.term(k);
                i64 d;
                if (k < middle) {
                    d = spins(own, t);
                    if (i < t.a) mine -= d / 2;  // the term is of its smallest variable
                } else {
                    d = bit(t.a) & bit(t.b) & bit(t.c) ? t.weight : 0;
                    if (i < t.a && own) mine += d;
                    if (own) d = -d;
                }
                change += d;
            }
            change = total(change);
            if (lane() == 0) gain[i] = (Gain)change, until[i] = 0;
        }
        if constexpr (PAIRS)
            for (u32 i = threadIdx.x; i < p.n + 2; i += BLOCK) bits[i] = i <= p.n ? bit(i) : 0;
        mine = total(mine);
        if (lane() == 0) sums[threadIdx.x / WARP] = mine;
        join();
        value = 0;
        for (u32 w = 0; w < WARPS; w++) value += sums[w];
    }
    // choose returns the best flip that is not tabu, or that leads below best; the key's low bits are the variable, of all 1 where there
    // is none. lows has a place a warp.
    __device__ __forceinline__ Least choose(u32 now, i64 best, u32 salt, Least* lows) const {
        Least mine = {MOST, ALL};
        for (u32 i = threadIdx.x; i < p.n; i += BLOCK) {
            Gain g = gain[i];
            if (g > mine.gain || until[i] > now && value + g >= best) continue;
            u32 key = mix(salt, i) << 16 | i;
            if (g < mine.gain || key < mine.key) mine = {g, key};
        }
        Gain low = least(mine.gain);
        u32 key = __reduce_min_sync(ALL, mine.gain == low ? mine.key : ALL);
        if constexpr (BLOCK == WARP) {
            __syncwarp();
            return {low, key};
        }
        if (lane() == 0) lows[threadIdx.x / WARP] = {low, key};
        __syncthreads();
        Least all = lows[0];
        for (u32 w = 1; w < WARPS; w++)
            if (lows[w].gain < all.gain || lows[w].gain == all.gain && lows[w].key < all.key) all = lows[w];
        return all;
    }
    // change adds what the flip of v changes of the others' gains; the bit is as it was.
    __device__ __forceinline__ void change(u32 v) {
        if constexpr (PAIRS) changePairs(v);
        else changeTerms(v);
    }
    __device__ __forceinline__ void changePairs(u32 v) {
        u32 own = bits[v], end = p.from[2 * p.n + 2 + v];
        for (u32 first = p.from[2 * p.n + 1 + v]; first < end; first += BLOCK * FLIGHT) {
            Sheaf t[FLIGHT];
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) {
                u32 k = first + f * BLOCK + threadIdx.x;
                if (k < end) t[f].word = p.sheaves[k];
            }
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) {
                if (first + f * BLOCK + threadIdx.x >= end) break;
                int sum = t[f].sum(bits);
                u32 i = t[f].variable();
                atomicAdd((int*)&gain[i], own ^ bits[i] ? -sum : sum);
            }
        }
    }
    __device__ __forceinline__ void changeTerms(u32 v) {
        u32 own = bit(v), middle = p.from[2 * v + 1], end = p.from[2 * v + 2];
        for (u32 first = p.from[2 * v]; first < end; first += BLOCK * FLIGHT) {
            Term t[FLIGHT];
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) {
                u32 k = first + f * BLOCK + threadIdx.x;
                if (k < end) t[f] = p.term(k);
                else t[f] = {p.n, p.n, p.n, 0};
            }
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) {
                if (first + f * BLOCK + threadIdx.x < middle) {
                    i64 d = -2 * spins(own, t[f]);
                    add(t[f].a, d), add(t[f].b, d), add(t[f].c, d);
                } else {
                    u32 a = bit(t[f].a), b = bit(t[f].b), c = bit(t[f].c);
                    i64 d = own ? -t[f].weight : t[f].weight;
                    if (b & c) add(t[f].a, a ? -d : d);
                    if (a & c) add(t[f].b, b ? -d : d);
                    if (a & b) add(t[f].c, c ? -d : d);
                }
            }
        }
    }
};

}  // namespace VARIANT
