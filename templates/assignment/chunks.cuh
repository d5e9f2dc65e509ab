// How a warp reads a row of the cost matrix: in chunks of 32*ITEMS columns. A
// lane holds ITEMS entries of a chunk, as quads of neighbouring columns, so that
// loads are coalesced and move 16 bytes a lane. A set of columns has one word of
// ITEMS bits for each chunk and lane: a bit for each of the lane's entries.
#pragma once
#include "assignment/costs.cuh"

namespace coalesce {

template <u32 ITEMS> struct Chunk {
    static constexpr u32 SPAN = WARP * ITEMS;
    static constexpr u32 STRIDE = 4 * WARP;  // columns from a lane's quad to its next
    static_assert(ITEMS % 4 == 0 && ITEMS <= 32, "shape");

    // column returns the column of bit k of word w = 32*chunk + lane; word and bit
    // return the place of column j in a set.
    static __device__ __forceinline__ u32 column(u32 w, u32 k) {
        return w / WARP * SPAN + k / 4 * STRIDE + w % WARP * 4 + k % 4;
    }
    static __device__ __forceinline__ u32 word(u32 j) { return j / SPAN * WARP + j / 4 % WARP; }
    static __device__ __forceinline__ u32 bit(u32 j) { return 1u << (j % SPAN / STRIDE * 4 + j % 4); }

    // padding returns the bits of word w past the last column.
    static __device__ __forceinline__ u32 padding(u32 w, u32 cols) {
        u32 bits = ITEMS == 32 ? 0 : ALL << (ITEMS % 32);
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++)
            if (column(w, k) >= cols) bits |= 1u << k;
        return bits;
    }

    // fetch loads a lane's entries of a row, those of word w; entries past the last
    // column become E(). `aligned` says that rows begin at multiples of 16 bytes. Each
    // entry is read once, with the hint that the cache may drop it first.
    template <class E>
    static __device__ __forceinline__ void fetch(E (&x)[ITEMS], const E* row, u32 w, u32 cols, bool aligned) {
        constexpr u32 PIECE = 16 / sizeof(E);
        struct __align__(16) Piece { E of[PIECE]; };
        u32 first = column(w, 0);
        if (aligned) {
#pragma unroll
            for (u32 k = 0; k < ITEMS; k += PIECE) {
                u32 j = first + k / 4 * STRIDE + k % 4;
                Piece p = {};
                if (j < cols) p = __builtin_bit_cast(Piece, __ldcs((const int4*)(row + j)));
#pragma unroll
                for (u32 e = 0; e < PIECE; e++) x[k + e] = p.of[e];
            }
        } else {
#pragma unroll
            for (u32 k = 0; k < ITEMS; k++) {
                u32 j = first + k / 4 * STRIDE + k % 4;
                x[k] = j < cols ? __ldcs(row + j) : E();
            }
        }
    }
};

// Slacks c - u - v are computed in the type A: i64, or u32 where all slacks of
// allowed pairs are below none<u32>(). Duals modulo 2^32 then give exact slacks.
template <class A> __device__ __forceinline__ A none();
template <> __device__ __forceinline__ u32 none<u32>() { return ALL; }
template <> __device__ __forceinline__ i64 none<i64>() { return INFINITE; }

// Go: Narrow
constexpr i64 NARROW = 0xffffffffll;  // slacks below this fit u32

template <class A, class R, class E> __device__ __forceinline__ A slack(R value, E x, A u, A v) {
    i64 c = value(x);
    return c >= INFINITE ? none<A>() : (A)c - u - v;
}
template <> __device__ __forceinline__ u32 slack<u32, Scale<int>, int>(Scale<int> value, int x, u32 u, u32 v) {
    return x == 2147483647 ? ALL : (u32)value.sign * (u32)x - u - v;
}

// Stored converts slacks that a kernel has stored; of u32, ALL stands for a forbidden pair.
struct Stored {
    __device__ __forceinline__ i64 operator()(u32 x) const { return x == ALL ? INFINITE : (i64)x; }
    __device__ __forceinline__ i64 operator()(i64 x) const { return x; }
};
template <> __device__ __forceinline__ u32 slack<u32, Stored, u32>(Stored, u32 x, u32 u, u32 v) {
    return x == ALL ? ALL : x - u - v;
}

__device__ __forceinline__ u32 warpLeast(u32 x) { return __reduce_min_sync(ALL, x); }
__device__ __forceinline__ i64 warpLeast(i64 x) {
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) {
        i64 y = __shfl_xor_sync(ALL, x, d);
        if (y < x) x = y;
    }
    return x;
}

// Team numbers the warps and threads that divide the work of a step: those of the
// grid, or those of one block.
struct Team {
    u32 warp, warps, thread, threads;
};
__device__ __forceinline__ Team everyone() {
    u32 per = blockDim.x / WARP;
    return {blockIdx.x * per + threadIdx.x / WARP, gridDim.x * per, blockIdx.x * blockDim.x + threadIdx.x,
            gridDim.x * blockDim.x};
}
__device__ __forceinline__ Team thisBlock() {
    return {threadIdx.x / WARP, blockDim.x / WARP, threadIdx.x, blockDim.x};
}

}  // namespace coalesce
