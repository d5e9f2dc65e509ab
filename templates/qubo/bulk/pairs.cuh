// Rows of bytes, and gains of 16 bits, two a word: most instructions update two.
#include "cuda/variant.cuh"
#include "cuda/bytes.cuh"
#include "cuda/cases.cuh"

namespace VARIANT {

// Half a word belongs to one variable: bit 15 is its lock, and bits 0 to 14 are
// MIDDLE + field - x, where field is the gain if x is 0 and the negative gain if x is 1.
// A flip adds its row to all fields with one sign. Bits 0 to 14, inverted where x is 1,
// are MIDDLE + gain, from 1 to 32767: so gains are at most 16383 in magnitude. Of such
// halves the signed maximum is the best unlocked gain, and the unsigned maximum the best
// locked one. A half without a variable is 0, but for its lock.
//
// A word is the number 65536 * high + low, and so is a pair of entries of the row: the
// host has subtracted the borrow of a negative low entry from the high entry. So one
// multiplication by the factor c of all weights, and one addition, update both halves,
// and no field overflows into the other.
typedef int Key;  // MIDDLE + gain; 0 or less where all variables are locked
constexpr u32 MIDDLE = 1u << 14, LOCK = 1u << 15;
constexpr u32 LOCKS = LOCK * 0x10001u;

struct Cells {
    static constexpr u32 PIECE = ITEMS % 16 == 0 ? 16 : ITEMS % 8 == 0 ? 8 : 4;  // adjacent columns in a piece, a byte each
    static constexpr u32 PAIRS = ITEMS / 2;
    static constexpr u32 NEAR = 4;  // pairs that find searches together
    typedef Load<PIECE> Row[ITEMS / PIECE];

    const char* rows;
    u32 n;
    int factor;  // the factor c of all weights
    u32 field[PAIRS];
    u32 sign[ITEMS / 4];  // a byte an item: 128 where x is 1
    u32 x[WORDS];

    // Look holds what top found, by which find searches the best's item.
    struct Look {
        u32 half, select;  // the half word of the best; which half of its pair, as a selector of bytes
        u32 best[(PAIRS + NEAR - 1) / NEAR];  // best unlocked halves after each NEAR pairs
    };

    __device__ __forceinline__ Cells(const char* rows, u32 n, u32 shift) : rows(rows + self() * PIECE), n(n), factor((int)(64u >> shift)) {}

    static __device__ __forceinline__ u32 column(u32 thread, u32 j) { return j / PIECE * (PIECE * SPAN) + thread * PIECE + j % PIECE; }

    // pair returns the gains and the locks of pair k: its fields, inverted where x is 1.
    __device__ __forceinline__ u32 turns(u32 k) const { return permute(sign[k / 2], k % 2 ? 0xbbaau : 0x9988u) & ~LOCKS; }
    __device__ __forceinline__ u32 pair(u32 k) const { return field[k] ^ turns(k); }

    __device__ __forceinline__ u32 half(int gain, u32 j) const { return column(self(), j) < n ? MIDDLE + (u32)gain : 0; }
    __device__ __forceinline__ void begin(const int* diag) {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) x[w] = 0;
#pragma unroll
        for (u32 q = 0; q < ITEMS / 4; q++) sign[q] = 0;
#pragma unroll
        for (u32 k = 0; k < PAIRS; k++)
            field[k] = half(diag[column(self(), 2 * k)], 2 * k) | half(diag[column(self(), 2 * k + 1)], 2 * k + 1) << 16;
    }
    __device__ __forceinline__ void resume(const int* gains, const u32* now) {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) x[w] = now[w * SPAN + self()];
#pragma unroll
        for (u32 q = 0; q < ITEMS / 4; q++) sign[q] = ((x[q / 8] >> q % 8 * 4 & 15) * 0x00204081u & 0x01010101u) << 7;
#pragma unroll
        for (u32 k = 0; k < PAIRS; k++)
            field[k] = (half(gains[2 * k * SPAN + self()], 2 * k) | half(gains[(2 * k + 1) * SPAN + self()], 2 * k + 1) << 16) ^ turns(k);
    }
    // suspend writes gains and x to global memory; no item may be locked.
    __device__ __forceinline__ void suspend(int* gains, u32* now) const {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) now[w * SPAN + self()] = x[w];
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) gains[j * SPAN + self()] = (int)(pair(j / 2) >> j % 2 * 16 & 0xffff) - (int)MIDDLE;
    }

    // top returns the thread's best key of an unlocked item, or, if ASPIRE, of a locked one
    // whose gain is at least `need` > 0.
    template <bool ASPIRE> __device__ __forceinline__ Key top(Look& look, i64 need) const {
        u32 best = LOCKS, tabu = 0;
#pragma unroll
        for (u32 k = 0; k < PAIRS; k += 2) {
            u32 a = pair(k), b = pair(k + 1);
            best = __vimax3_s16x2(best, a, b);
            if (ASPIRE) tabu = __vimax3_u16x2(tabu, a, b);
            look.best[k / NEAR] = best;
        }
        int low = (short)best, high = (int)best >> 16, key = max(low, high);
        look.half = (u32)key & 0xffff, look.select = low < high ? 0x4432 : 0x4410;
        if (ASPIRE) {
            int freed = (int)max(tabu & 0xffff, tabu >> 16) - (int)LOCK;
            if (freed > key && freed >= (need > MIDDLE ? (int)LOCK : (int)need + (int)MIDDLE))
                key = freed, look.half = (u32)freed | LOCK, look.select = (tabu & 0xffff) < tabu >> 16 ? 0x4432 : 0x4410;
        }
        return key;
    }
    // find returns the item of the best: of equal ones in its half, the last among the NEAR
    // pairs where top first met the value.
    __device__ __forceinline__ u32 find(const Look& look) const {
        u32 item = 0;
#pragma unroll
        for (u32 g = 0; g < PAIRS; g += NEAR) {
            if (look.half < LOCK && __byte_perm(look.best[g / NEAR], 0, look.select) != look.half) continue;
#pragma unroll
            for (u32 k = g; k < PAIRS && k < g + NEAR; k++)
                if (__byte_perm(pair(k), 0, look.select) == look.half) item = k;
            if (look.half < LOCK) break;
        }
        return 2 * item + look.select % 16 / 2;
    }
    __device__ __forceinline__ bool locked(Key key) const { return key <= 0; }
    __device__ __forceinline__ i64 gain(Key key) const { return key - (int)MIDDLE; }

    __device__ __forceinline__ void fetch(Row& row, u32 k) const {
        const char* at = rows + (u64)k * (ITEMS * SPAN);
#pragma unroll
        for (u32 p = 0; p < ITEMS / PIECE; p++) row[p] = *(const Load<PIECE>*)(at + p * (PIECE * SPAN));
    }
    __device__ __forceinline__ void apply(const Row& row, u32 on) {
        u32 by = (u32)(on ? -factor : factor);
#pragma unroll
        for (u32 k = 0; k < PAIRS; k++) field[k] += permute(row[2 * k / PIECE].of[2 * k % PIECE / 4], k % 2 ? 0xb3a2u : 0x9180u) * by;
    }
    // flip flips and locks the thread's item, whose own entry of the row is 0.
    __device__ __forceinline__ void flip(u32 item, i64) {
        withIndex<ITEMS>(item, [&](auto j) {
            field[j / 2] = (field[j / 2] | LOCK << j % 2 * 16) + (x[j / 32] >> j % 32 & 1 ? 1u : ~0u) * (1u << j % 2 * 16);
            sign[j / 4] ^= 0x80u << j % 4 * 8;
            x[j / 32] ^= 1u << j % 32;
        });
    }
    __device__ __forceinline__ void unlock(u32 item) {
        withIndex<ITEMS>(item, [&](auto j) { field[j / 2] &= ~(LOCK << j % 2 * 16); });
    }
    // only locks all items outside `set`; release unlocks all items.
    __device__ __forceinline__ void only(const u32 (&set)[WORDS]) {
#pragma unroll
        for (u32 k = 0; k < PAIRS; k++) {
            u32 out = ~set[k / 16] >> k % 16 * 2;
            field[k] |= (out & 1) << 15 | (out & 2) << 30;
        }
    }
    __device__ __forceinline__ void release() {
#pragma unroll
        for (u32 k = 0; k < PAIRS; k++) field[k] &= ~LOCKS;
    }
};

}  // namespace VARIANT
