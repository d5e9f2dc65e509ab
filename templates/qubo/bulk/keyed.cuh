// Narrow rows: the gains as keys, so that a maximum holds its item's number.
#include "cuda/variant.cuh"
#include "cuda/cases.cuh"

namespace VARIANT {

// A key is (gain << shift | item % GROUP) + MIDDLE, less LOCK while the variable is
// locked. Keys of unlocked variables are at least 0. Keys of locked variables are
// below 0, and as unsigned numbers above all others. So the signed maximum of the
// keys is the best unlocked variable, and the unsigned maximum the best locked one.
// Weights are multiples of c, and a row stores them divided by c, where
// c = 64 >> shift: an entry changes a key by 64 times its value, with the sign of the
// two flips. So one dot product of bytes updates a key: of a word of the row and a
// word with a single byte that is not zero, 64 or -64 (these differ in the highest bit).
// Where all weights have one magnitude, a row stores their signs, a bit each, and an
// update adds the shifted magnitude to a key, or subtracts it.
constexpr bool BITS = param::row_bits, INT8 = param::row_int8;
// Go: Sizes
constexpr u32 SIZES = 256;                 // with BITS the argument shift is the shift + SIZES * the weights' magnitude
constexpr u32 ENTRY = INT8 ? 1 : 2;        // bytes of an entry, with rows of int8 or int16
constexpr u32 PACK = 4 / ENTRY;            // entries a word
typedef int Key;
constexpr u32 MIDDLE = 1u << 29, LOCK = 1u << 30;  // gains, shifted, are within -MIDDLE..MIDDLE
constexpr int NOTHING = -2147483647 - 1;  // key of an item that is no variable: below all keys of variables, locked ones included
constexpr u32 GROUP = ITEMS <= 16 ? 16 : 32;       // items among which a key's number is unique

// dot returns key plus the product of entry k of a word of the row and byte j of signs.
__device__ __forceinline__ int dot(u32 row, u32 signs, u32 j, u32 k, int key) {
    if constexpr (INT8) return __dp4a((int)row, (int)(signs & 0xffu << 8 * j), key);
    else return key + (int)(short)(row >> 16 * k) * (int)(signed char)(signs >> 8 * j);
}

struct Cells {
    static_assert(!BITS || ITEMS % 32 == 0, "whole words of bits");
    static constexpr u32 BYTES = BITS ? ITEMS / 8 : ITEMS * ENTRY;  // bytes of a row that a thread reads
    static constexpr u32 PIECE = BITS ? 4 : BYTES % 16 == 0 ? 16 : BYTES % 8 == 0 ? 8 : 4;
    static constexpr u32 NEAR = BITS ? 32 : PIECE / ENTRY;  // adjacent columns in a piece
    typedef Load<PIECE> Row[BYTES / PIECE];
    struct Look { u32 item; };  // the item of the best key

    const char* rows;
    u32 n, shift;
    int key[ITEMS];
    int size;  // with BITS: the weights' magnitude, shifted like a key's gain
    u32 sign[ITEMS / 4];  // without BITS: a byte an item, 64 where x is 0, -64 where x is 1
    u32 x[WORDS];

    __device__ __forceinline__ Cells(const char* rows, u32 n, u32 shift) : rows(rows + self() * PIECE), n(n), shift(BITS ? shift % SIZES : shift), size(BITS ? (int)(shift / SIZES) << shift % SIZES : 0) {}

    static __device__ __forceinline__ u32 column(u32 thread, u32 j) { return j / NEAR * (NEAR * SPAN) + thread * NEAR + j % NEAR; }

    __device__ __forceinline__ int keyed(int gain, u32 item) const { return (int)(((u32)gain << shift | item % GROUP) + MIDDLE); }
    __device__ __forceinline__ i64 gain(int key) const { return (int)((u32)key - MIDDLE) >> shift; }
    __device__ __forceinline__ bool locked(int key) const { return key < 0; }

    __device__ __forceinline__ void begin(const int* diag) {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) x[w] = 0;
#pragma unroll
        for (u32 q = 0; q < ITEMS / 4; q++) sign[q] = 0x40404040u;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            int gain = diag[column(self(), j)];
            key[j] = column(self(), j) < n ? keyed(gain, j) : NOTHING;
        }
    }
    __device__ __forceinline__ void resume(const int* gains, const u32* now) {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) x[w] = now[w * SPAN + self()];
#pragma unroll
        for (u32 q = 0; q < ITEMS / 4; q++) {
            u32 four = x[q / 8] >> q % 8 * 4 & 15;
            sign[q] = 0x40404040u ^ (four * 0x00204081u & 0x01010101u) << 7;
        }
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] = keyed(gains[j * SPAN + self()], j);
    }
    // suspend writes gains and x to global memory; no item may be locked.
    __device__ __forceinline__ void suspend(int* gains, u32* now) const {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) now[w * SPAN + self()] = x[w];
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) gains[j * SPAN + self()] = (int)gain(key[j]);
    }

    // top returns the thread's largest key of an unlocked item, and sets look to its
    // item. If ASPIRE, a locked key counts too, without its lock, where its gain is at
    // least `need`.
    template <bool ASPIRE> __device__ __forceinline__ int top(Look& look, i64 need) const {
        int best = NOTHING, least = (int)(need > MIDDLE >> shift ? 2 * MIDDLE : ((u32)need << shift) + MIDDLE);
        u32 from = 0;
#pragma unroll
        for (u32 g = 0; g < ITEMS; g += GROUP) {
            int a = NOTHING;
            u32 tabu = 1u << 31;  // below every locked key
#pragma unroll
            for (u32 j = g; j < ITEMS && j < g + GROUP; j += 2) {
                a = __vimax3_s32(a, key[j], key[j + 1]);
                if (ASPIRE) tabu = __vimax3_u32(tabu, (u32)key[j], (u32)key[j + 1]);
            }
            int freed = (int)(tabu + LOCK);
            if (ASPIRE && freed >= least && freed > a) a = freed;
            if (g == 0 || a > best) best = a, from = g;
        }
        look.item = from + ((u32)best & (GROUP - 1));
        return best;
    }
    __device__ __forceinline__ u32 find(const Look& look) const { return look.item; }

    __device__ __forceinline__ void fetch(Row& row, u32 k) const {
        const char* at = rows + (u64)k * (BYTES * SPAN);
#pragma unroll
        for (u32 p = 0; p < BYTES / PIECE; p++) row[p] = *(const Load<PIECE>*)(at + p * (PIECE * SPAN));
    }
    __device__ __forceinline__ void apply(const Row& row, u32 on) {
        u32 turn = on ? 0x80808080u : 0;
        if constexpr (BITS) {
#pragma unroll
            for (u32 w = 0; w < WORDS; w++) {
                u32 minus = row[w].of[0] ^ x[w] ^ (on ? ALL : 0);
#pragma unroll
                for (u32 j = 0; j < 32; j++) key[32 * w + j] += minus >> j & 1 ? -size : size;
            }
        } else {
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++)
                key[j] = dot(row[j / NEAR].of[j % NEAR / PACK], sign[j / 4] ^ turn, j % 4, j % PACK, key[j]);
        }
    }
    // flip flips and locks the thread's item. In a row of bits the variable's own bit is 0,
    // a plus, by which apply takes `size` from the key; `turned` has one size too many.
    __device__ __forceinline__ void flip(u32 item, i64 gain) {
        int turned = keyed((int)-gain, item) - (int)LOCK + size;
        withIndex<ITEMS>(item, [&](auto j) {
            key[j] = turned;
            sign[j / 4] ^= 0x80u << j % 4 * 8;
            x[j / 32] ^= 1u << j % 32;
        });
    }
    __device__ __forceinline__ void unlock(u32 item) {
        withIndex<ITEMS>(item, [&](auto j) { key[j] += locked(key[j]) ? LOCK : 0; });
    }
    // only locks all items outside `set`; release unlocks all items.
    __device__ __forceinline__ void only(const u32 (&set)[WORDS]) {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] -= !locked(key[j]) && !(set[j / 32] >> j % 32 & 1) ? LOCK : 0;
    }
    __device__ __forceinline__ void release() {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] += (u32)key[j] >= (u32)-LOCK ? LOCK : 0;
    }
};

}  // namespace VARIANT
