// (max,+) subset convolutions of chunks. A chunk is the 2^r values, held by one thread, of
// the coalitions that differ in the r lowest agents alone.
#pragma once
#include "cuda/prelude.cuh"
#include "cuda/tensor.cuh"

namespace csg {

// Quad holds the values that one access of 16 bytes moves.
template <class T> struct alignas(16) Quad {
    T of[16 / sizeof(T)];
};

// Halves holds two values of 16 bits in one register, each of another pair of tiles.
struct Halves {
    u32 word;
};

// WordOf names the type of a register that holds values of type T: one value, or two of 16 bits.
template <class T> struct WordOf { typedef T Word; };
template <> struct WordOf<short> { typedef Halves Word; };

// highest returns the largest value in a register.
template <class T> __device__ __forceinline__ T highest(T x) { return x; }
__device__ __forceinline__ short highest(Halves x) { return (short)max((int)(short)x.word, (int)x.word >> 16); }

// copyWords copies 16 bytes of words to shared memory. A word is a value of `a`; of int16 the
// value of `a` in the low half and that of `b` in the high half.
template <class T> __device__ __forceinline__ void copyWords(T* to, const T* a, const T*) { coalesce::copyAhead(to, a); }
__device__ __forceinline__ void copyWords(Halves* to, const short* a, const short* b) {
    uint2 low = *(const uint2*)a, high = *(const uint2*)b;
    *(Quad<Halves>*)to = {{{__byte_perm(low.x, high.x, 0x5410)}, {__byte_perm(low.x, high.x, 0x7632)},
        {__byte_perm(low.y, high.y, 0x5410)}, {__byte_perm(low.y, high.y, 0x7632)}}};
}

// joinWords joins 8 values at `low` and 8 at `high`, both in shared memory, to words of two.
__device__ __forceinline__ void joinWords(Halves* to, const short* low, const short* high) {
    uint4 a = *(const uint4*)low, b = *(const uint4*)high;
    *(Quad<Halves>*)to = {{{__byte_perm(a.x, b.x, 0x5410)}, {__byte_perm(a.x, b.x, 0x7632)},
        {__byte_perm(a.y, b.y, 0x5410)}, {__byte_perm(a.y, b.y, 0x7632)}}};
    *(Quad<Halves>*)(to + 4) = {{{__byte_perm(a.z, b.z, 0x5410)}, {__byte_perm(a.z, b.z, 0x7632)},
        {__byte_perm(a.w, b.w, 0x5410)}, {__byte_perm(a.w, b.w, 0x7632)}}};
}

// load reads a chunk from shared memory; `from` is aligned to 16 bytes.
template <class T, u32 CHUNK> __device__ __forceinline__ void load(T (&to)[CHUNK], const T* from) {
    constexpr u32 EACH = 16 / sizeof(T);
#pragma unroll
    for (u32 i = 0; i < CHUNK; i += EACH) {
        Quad<T> q = *(const Quad<T>*)(from + i);
#pragma unroll
        for (u32 k = 0; k < EACH; k++) to[i + k] = q.of[k];
    }
}

// addMax returns the larger of a + b and c.
template <class T> __device__ __forceinline__ T addMax(T a, T b, T c) {
    T sum = a + b;
    return sum > c ? sum : c;
}
template <> __device__ __forceinline__ int addMax<int>(int a, int b, int c) { return __viaddmax_s32(a, b, c); }
template <> __device__ __forceinline__ float addMax<float>(float a, float b, float c) { return fmaxf(a + b, c); }

template <> __device__ __forceinline__ Halves addMax<Halves>(Halves a, Halves b, Halves c) {
    return {__viaddmax_s16x2(a.word, b.word, c.word)};
}

// raiseFused raises best[l] to a[s] + b[l \ s] for all subsets s of l. b lies in shared
// memory, which a thread reads 16 bytes at a time.
template <class T, u32 CHUNK> __device__ __forceinline__ void raiseFused(T (&best)[CHUNK], const T (&a)[CHUNK], const T* b) {
    constexpr u32 EACH = 16 / sizeof(T);
#pragma unroll
    for (u32 i = 0; i < CHUNK; i += EACH) {
        Quad<T> q = *(const Quad<T>*)(b + i);
#pragma unroll
        for (u32 k = 0; k < EACH; k++) {
            u32 other = i + k;
#pragma unroll
            for (u32 s = 0; s < CHUNK; s++)
                if ((s & other) == 0) best[s | other] = addMax(a[s], q.of[k], best[s | other]);
        }
    }
}

// raiseMixed does the work of raiseFused for int32 on two pipes of the multiprocessor. Four of
// nine sums are multiply-adds by one, on the multiplier's pipe, and a maximum of three values
// compares two of them at once; the other sums use the fused add-max instruction. `one` is 1 in
// a register: the compiler would remove multiplications by a constant 1.
template <u32 CHUNK> __device__ __forceinline__ void raiseMixed(int (&best)[CHUNK], const int (&a)[CHUNK], const int* b, int one) {
#pragma unroll
    for (u32 i = 0; i < CHUNK; i += 4) {
        Quad<int> q = *(const Quad<int>*)(b + i);
#pragma unroll
        for (u32 l = 0; l < CHUNK; l++) {
            if ((i & ~l) != 0) continue;
            u32 s = l ^ i;  // the partner of q.of[0]; the partner of q.of[k] is s ^ k, where k is a subset of l
            if (l % 4 != 1) best[l] = addMax(a[s], q.of[0], best[l]);
            if (l % 4 == 1) best[l] = __vimax3_s32(best[l], a[s] * one + q.of[0], a[s ^ 1] * one + q.of[1]);
            if (l % 4 == 2) best[l] = addMax(a[s ^ 2], q.of[2], best[l]);
            if (l % 4 == 3) {
                best[l] = addMax(a[s ^ 1], q.of[1], best[l]);
                best[l] = __vimax3_s32(best[l], a[s ^ 2] * one + q.of[2], a[s ^ 3] * one + q.of[3]);
            }
        }
    }
}

// raiseChunk calls raiseMixed or raiseFused.
template <bool MIXED, class T, u32 CHUNK> __device__ __forceinline__ void raiseChunk(T (&best)[CHUNK], const T (&a)[CHUNK], const T* b, int one) {
    if constexpr (MIXED) raiseMixed(best, a, b, one);
    else raiseFused(best, a, b);
}

// ceilingRound raises best[l] to a[l] + b by the instructions of raiseChunk, but reads no
// memory. With MIXED two of seven values are also raised to a[l] + c.
template <bool MIXED, class T, u32 CHUNK> __device__ __forceinline__ void ceilingRound(T (&best)[CHUNK], const T (&a)[CHUNK], T b, T c, int one) {
#pragma unroll
    for (u32 l = 0; l < CHUNK; l++) {
        if constexpr (MIXED) {
            if (l % 7 == 2 || l % 7 == 5) best[l] = __vimax3_s32(best[l], a[l] * one + b, a[l] * one + c);
            else best[l] = addMax(a[l], b, best[l]);
        } else {
            best[l] = addMax(a[l], b, best[l]);
        }
    }
}

}  // namespace csg

namespace coalesce {
template <> __device__ __forceinline__ short lowest<short>() { return -32768; }

// raise sets *p to the larger of *p and x, atomically, by compare-and-swap of the aligned word round p.
__device__ __forceinline__ void raise(short* p, short x) {
    u32* word = (u32*)((u64)p & ~3ull);
    u32 shift = ((u32)(u64)p & 2) * 8, old = *word;
    while (x > (short)(old >> shift)) {
        u32 seen = atomicCAS(word, old, (old & ~(0xffffu << shift)) | (u32)(unsigned short)x << shift);
        if (seen == old) return;
        old = seen;
    }
}

template <> __device__ __forceinline__ csg::Halves lowest<csg::Halves>() { return {0x80008000u}; }
template <> __device__ __forceinline__ csg::Halves larger<csg::Halves>(csg::Halves a, csg::Halves b) {
    return {__vmaxs2(a.word, b.word)};
}
}  // namespace coalesce
