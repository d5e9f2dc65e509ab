// Rows and gains of float32: integers, added by float instructions, which run at the full rate.
#include "cuda/variant.cuh"
#include "cuda/cases.cuh"

namespace VARIANT {

// A key is MIDDLE + gain, above 0, and negated while the variable is locked. As long as
// gains are below 2^23 in magnitude, keys are integers of at most 2^24 in magnitude, and
// exact. Positive floats have the order of their bits: so the signed maximum of the keys'
// bits is the best unlocked variable, and the unsigned maximum the best locked one. The
// key of an item without a variable is 0, of either sign.
//
// A row is multiplied by the sign of both flips and of the lock; `sign` holds the highest
// byte of the float 1 or -1.
typedef int Key;  // bits of MIDDLE + gain; 0 or less where all variables are locked
constexpr float MIDDLE = 1 << 23;
constexpr u32 LOCK = 1u << 31;

struct Cells {
    static constexpr u32 NEAR = 8;  // items that find searches together
    typedef Load<16> Row[ITEMS / 4];

    const char* rows;
    u32 n;
    float key[ITEMS];
    u32 sign[ITEMS / 4];  // a byte an item: of 1 where x is 0, of -1 where x is 1, exchanged while locked
    u32 x[WORDS];

    // Look holds what top found, by which find searches the best's item.
    struct Look {
        u32 bits;  // bits of the best key
        int best[(ITEMS + NEAR - 1) / NEAR];  // best unlocked keys after each NEAR items
    };

    __device__ __forceinline__ Cells(const char* rows, u32 n, u32) : rows(rows + self() * 16), n(n) {}

    static __device__ __forceinline__ u32 column(u32 thread, u32 j) { return j / 4 * (4 * SPAN) + thread * 4 + j % 4; }

    __device__ __forceinline__ u32 bits(u32 j) const { return (u32)__float_as_int(key[j]); }

    __device__ __forceinline__ void begin(const float* diag) {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) x[w] = 0;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] = column(self(), j) < n ? MIDDLE + diag[column(self(), j)] : 0;
        release();
    }
    __device__ __forceinline__ void resume(const float* gains, const u32* now) {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) x[w] = now[w * SPAN + self()];
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] = MIDDLE + gains[j * SPAN + self()];
        release();
    }
    // suspend writes gains and x to global memory; no item may be locked.
    __device__ __forceinline__ void suspend(float* gains, u32* now) const {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) now[w * SPAN + self()] = x[w];
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) gains[j * SPAN + self()] = key[j] - MIDDLE;
    }

    // top returns the thread's best key of an unlocked item, or, if ASPIRE, of a locked one
    // whose gain is at least `need` > 0.
    template <bool ASPIRE> __device__ __forceinline__ Key top(Look& look, i64 need) const {
        int best = -2147483647 - 1;
        u32 tabu = 0;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j += 2) {
            best = __vimax3_s32(best, (int)bits(j), (int)bits(j + 1));
            if (ASPIRE) tabu = __vimax3_u32(tabu, bits(j), bits(j + 1));
            look.best[j / NEAR] = best;
        }
        look.bits = (u32)best;
        if (ASPIRE) {
            int freed = (int)(tabu ^ LOCK), least = __float_as_int(MIDDLE + (need > 1 << 23 ? MIDDLE : (float)(int)need));
            if (freed > best && freed >= least) best = freed, look.bits = tabu;
        }
        return best;
    }
    // find returns the item of the best: of equal ones, the last among the NEAR items where
    // top first met the key.
    __device__ __forceinline__ u32 find(const Look& look) const {
        u32 item = 0;
#pragma unroll
        for (u32 g = 0; g < ITEMS; g += NEAR) {
            if (look.bits < LOCK && look.bits != (u32)look.best[g / NEAR]) continue;
#pragma unroll
            for (u32 j = g; j < ITEMS && j < g + NEAR; j++)
                if (bits(j) == look.bits) item = j;
            if (look.bits < LOCK) break;
        }
        return item;
    }
    __device__ __forceinline__ bool locked(Key key) const { return key <= 0; }
    __device__ __forceinline__ i64 gain(Key key) const { return (i64)(int)(__int_as_float(key) - MIDDLE); }

    __device__ __forceinline__ void fetch(Row& row, u32 k) const {
        const char* at = rows + (u64)k * (4 * ITEMS * SPAN);
#pragma unroll
        for (u32 p = 0; p < ITEMS / 4; p++) row[p] = *(const Load<16>*)(at + p * (16 * SPAN));
    }
    __device__ __forceinline__ void apply(const Row& row, u32 on) {
        u32 turn = on ? 0x80808080u : 0;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            float one = __int_as_float((int)__byte_perm(sign[j / 4] ^ turn, 0x80, j % 4 << 12 | 0x455));
            key[j] = __fmaf_rn(__int_as_float((int)row[j / 4].of[j % 4]), one, key[j]);
        }
    }
    // flip flips and locks the thread's item, whose own entry of the row is 0. Flip and lock
    // invert `sign` once each, and cancel, unless the item was locked before.
    __device__ __forceinline__ void flip(u32 item, i64 gain) {
        float turned = (float)(int)gain - MIDDLE;
        withIndex<ITEMS>(item, [&](auto j) {
            sign[j / 4] ^= bits(j) >> 31 << (j % 4 * 8 + 7);
            key[j] = turned;
            x[j / 32] ^= 1u << j % 32;
        });
    }
    __device__ __forceinline__ void unlock(u32 item) {
        withIndex<ITEMS>(item, [&](auto j) {
            sign[j / 4] ^= bits(j) >> 31 << (j % 4 * 8 + 7);
            key[j] = fabsf(key[j]);
        });
    }
    // only locks all items outside `set`; release unlocks all items.
    __device__ __forceinline__ void only(const u32 (&set)[WORDS]) {
#pragma unroll
        for (u32 q = 0; q < ITEMS / 4; q++) {
            u32 four = (x[q / 8] ^ ~set[q / 8]) >> q % 8 * 4 & 15;
            sign[q] = 0x3f3f3f3fu ^ (four * 0x00204081u & 0x01010101u) << 7;
        }
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] = set[j / 32] >> j % 32 & 1 ? fabsf(key[j]) : -fabsf(key[j]);
    }
    __device__ __forceinline__ void release() {
        u32 all[WORDS];
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) all[w] = ALL;
        only(all);
    }
};

}  // namespace VARIANT
