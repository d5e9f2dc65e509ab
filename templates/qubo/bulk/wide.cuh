// Rows of the gains' own type, for coefficients of any size.
#include "cuda/variant.cuh"
#include "cuda/bytes.cuh"
#include "cuda/cases.cuh"
#include "cuda/choice.cuh"

namespace VARIANT {

// A key is MIDDLE + gain, above 0; its highest bit is set while the variable is locked.
// So the signed maximum of the keys is the best unlocked variable, and the unsigned
// maximum the best locked one. The key of an item without a variable is 0, but for its lock.
// A row of int32 is multiplied by the sign of both flips; `sign` holds bytes of 1 or -1.
constexpr bool INT32 = param::row_int32;
typedef Choice<INT32, u32, u64> Word;
typedef Choice<INT32, int, i64> Key;
constexpr Word LOCK = (Word)1 << (8 * sizeof(Word) - 1), MIDDLE = LOCK / 2;

struct Cells {
    static constexpr u32 NEAR = 16 / sizeof(Key);  // adjacent columns in a piece; divides ITEMS
    static constexpr u32 CLOSE = 8;                // items that find searches together
    struct __align__(16) Piece { Key of[NEAR]; };
    typedef Piece Row[ITEMS / NEAR];

    const char* rows;
    u32 n;
    Word key[ITEMS];
    u32 sign[ITEMS / 4];  // with int32: a byte an item, 1 where x is 0, -1 where x is 1
    u32 x[WORDS];

    // Look holds what top found, by which find searches the best's item.
    struct Look {
        Word key;
        Key best[(ITEMS + CLOSE - 1) / CLOSE];  // best unlocked keys after each CLOSE items
    };

    __device__ __forceinline__ Cells(const char* rows, u32 n, u32) : rows(rows + self() * 16), n(n) {}

    static __device__ __forceinline__ u32 column(u32 thread, u32 j) { return j / NEAR * (NEAR * SPAN) + thread * NEAR + j % NEAR; }

    __device__ __forceinline__ Word keyed(Key gain, u32 j) const { return column(self(), j) < n ? MIDDLE + (Word)gain : 0; }
    __device__ __forceinline__ i64 gain(Key key) const { return (Key)((Word)key - MIDDLE); }
    __device__ __forceinline__ bool locked(Key key) const { return key <= 0; }

    __device__ __forceinline__ void begin(const Key* diag) {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) x[w] = 0;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] = keyed(diag[column(self(), j)], j);
#pragma unroll
        for (u32 q = 0; q < ITEMS / 4; q++) sign[q] = 0x01010101u;
    }
    __device__ __forceinline__ void resume(const Key* gains, const u32* now) {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) x[w] = now[w * SPAN + self()];
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] = keyed(gains[j * SPAN + self()], j);
#pragma unroll
        for (u32 q = 0; q < ITEMS / 4; q++) sign[q] = 0x01010101u ^ ((x[q / 8] >> q % 8 * 4 & 15) * 0x00204081u & 0x01010101u) * 0xfe;
    }
    // suspend writes gains and x to global memory; no item may be locked.
    __device__ __forceinline__ void suspend(Key* gains, u32* now) const {
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) now[w * SPAN + self()] = x[w];
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) gains[j * SPAN + self()] = (Key)gain((Key)key[j]);
    }

    // top returns the thread's best key of an unlocked item, or, if ASPIRE, of a locked one
    // whose gain is at least `need` > 0.
    template <bool ASPIRE> __device__ __forceinline__ Key top(Look& look, i64 need) const {
        Key best = lowest<Key>(), least = need > (i64)MIDDLE - 1 ? (Key)(LOCK - 1) : (Key)((Word)need + MIDDLE);
        Word tabu = 0;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j += 2) {
            if constexpr (INT32) {
                best = __vimax3_s32((int)best, (int)key[j], (int)key[j + 1]);
                if (ASPIRE) tabu = __vimax3_u32((u32)tabu, (u32)key[j], (u32)key[j + 1]);
            } else {
                best = max(best, max((Key)key[j], (Key)key[j + 1]));
                if (ASPIRE) tabu = max(tabu, max(key[j], key[j + 1]));
            }
            look.best[j / CLOSE] = best;
        }
        look.key = (Word)best;
        Key freed = (Key)(tabu ^ LOCK);
        if (ASPIRE && freed > best && freed >= least) best = freed, look.key = tabu;
        return best;
    }
    // find returns the item of the best: of equal ones, the last among the CLOSE items where
    // top first met the key.
    __device__ __forceinline__ u32 find(const Look& look) const {
        u32 item = 0;
#pragma unroll
        for (u32 g = 0; g < ITEMS; g += CLOSE) {
            if (look.key < LOCK && look.key != (Word)look.best[g / CLOSE]) continue;
#pragma unroll
            for (u32 j = g; j < ITEMS && j < g + CLOSE; j++)
                if (key[j] == look.key) item = j;
            if (look.key < LOCK) break;
        }
        return item;
    }

    __device__ __forceinline__ void fetch(Row& row, u32 k) const {
        const char* at = rows + (u64)k * (ITEMS * sizeof(Key) * SPAN);
#pragma unroll
        for (u32 p = 0; p < ITEMS / NEAR; p++) row[p] = *(const Piece*)(at + p * (16 * SPAN));
    }
    __device__ __forceinline__ void apply(const Row& row, u32 on) {
        u32 turn = on ? 0xfefefefeu : 0;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if constexpr (INT32) {
                key[j] += (u32)row[j / NEAR].of[j % NEAR] * permute(sign[j / 4] ^ turn, 0x8880u + j % 4 * 0x1111u);
            } else {
                Word e = (Word)row[j / NEAR].of[j % NEAR];
                key[j] += (x[j / 32] >> j % 32 & 1) != on ? -e : e;
            }
        }
    }
    // flip flips and locks the thread's item, whose own entry of the row is 0.
    __device__ __forceinline__ void flip(u32 item, i64 gain) {
        Word turned = (MIDDLE - (Word)gain) | LOCK;
        withIndex<ITEMS>(item, [&](auto j) {
            key[j] = turned;
            sign[j / 4] ^= 0xfeu << j % 4 * 8;
            x[j / 32] ^= 1u << j % 32;
        });
    }
    __device__ __forceinline__ void unlock(u32 item) {
        withIndex<ITEMS>(item, [&](auto j) { key[j] &= ~LOCK; });
    }
    // only locks all items outside `set`; release unlocks all items.
    __device__ __forceinline__ void only(const u32 (&set)[WORDS]) {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] |= set[j / 32] >> j % 32 & 1 ? 0 : LOCK;
    }
    __device__ __forceinline__ void release() {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] &= ~LOCK;
    }
};

}  // namespace VARIANT
