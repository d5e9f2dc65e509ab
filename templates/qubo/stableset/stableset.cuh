// Searches for maximum stable sets by exchanges, a warp a walk: see package stableset.
#include "cuda/variant.cuh"
#include "cuda/random.cuh"
#include "cuda/shared.cuh"

// A lane has ITEMS words of vertices: word e of lane l is word 32 * e + l. Counts of neighbours in the set are DEPTH planes of bits a
// word, in registers, so that a set has fewer than 2^DEPTH vertices.
namespace VARIANT {

using namespace coalesce;

constexpr u32 BLOCK = param::block;
constexpr u32 WARPS = BLOCK / WARP;  // walks of a block
constexpr u32 ITEMS = param::items;
constexpr u32 DEPTH = param::depth;
constexpr u32 LIMIT = (1u << DEPTH) - 1;  // vertices of a set, at most
// Go: Ring
constexpr u32 RING = 1024;          // steps for which a vertex is tabu, less than that
constexpr u32 TENURE = 7;           // the least of these
constexpr u32 DOUBLES = 1u << 21;   // steps of 2^32 in which a vertex enters for two
constexpr u32 OLDEST = 2;           // draws of 16 that take the vertex that has not moved for longest
constexpr u32 EMPTY = 0xffff;       // no vertex in a ring
constexpr u32 LOOK = 64;            // steps between two looks at control[STOP]
constexpr float PENALIZED = 0.75f;  // share of vertices that are to have a penalty
static_assert(BLOCK % WARP == 0 && DEPTH >= 2, "shape");

// Indices of words of 8 bytes: in the device's control, in a walk's scores.
// Go: Control
enum Control { STOP, CONTROLS = 8 };
// Go: Score
enum Score { TOP, MOVED, DELAY, SCORES = 4 };
// Go: Mode
enum Mode { STOPS = 1, STOPPING = 2 };

__device__ __forceinline__ u32 lane() { return threadIdx.x % WARP; }

// Random is a linear congruential generator, mixed; all lanes of a warp have the same state.
struct Random {
    u32 state, step;
    __device__ __forceinline__ explicit Random(u64 key) {
        u64 h = splitmix(key);
        state = (u32)h, step = (u32)(h >> 32) | 1;
    }
    __device__ __forceinline__ u32 next() {
        u32 x = state = state * 1664525u + step;
        x = (x ^ x >> 15) * 0x2c1b3c6du;
        return x ^ x >> 12;
    }
    __device__ __forceinline__ u32 below(u32 k) { return __umulhi(next(), k); }
};

// after returns the first of the bits of b, of which there is one, from bit k on, and then from bit 0 on.
__device__ __forceinline__ u32 after(u32 b, u32 k) { return ((u32)__ffs((int)__funnelshift_r(b, b, k)) - 1 + k) % WARP; }

// A List has a bit for each vertex.
struct List {
    u32 word[ITEMS];
    __device__ __forceinline__ void clear() {
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++) word[e] = 0;
    }
    __device__ __forceinline__ void set(u32 v, bool in) {
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++)
            if (v / WARP == e * WARP + lane()) word[e] = in ? word[e] | 1u << v % WARP : word[e] & ~(1u << v % WARP);
    }
    // any returns a mask of the lanes that have a vertex of the list.
    __device__ __forceinline__ u32 any() const {
        u32 all = 0;
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++) all |= word[e];
        return __ballot_sync(ALL, all != 0);
    }
    // draw draws a vertex, of a list that has some; lanes is any().
    __device__ __forceinline__ u32 draw(u32 lanes, Random& random) const {
        u32 r = random.next(), from = after(lanes, r % WARP), v = 0;
        u32 first = (r >> 5) % ITEMS, w = 0, at = 0;
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++)
#pragma unroll
            for (u32 e = 0; e < ITEMS; e++)
                if (w == 0 && e == (first + k) % ITEMS && word[e] != 0) w = word[e], at = e;
        if (w != 0) v = (at * WARP + lane()) * WARP + after(w, r >> 27);
        return __shfl_sync(ALL, v, from);
    }
};

// Graph has a row of words a vertex: its neighbours, a bit each.
struct Graph {
    const u32* rows;
    u32 n, words;
    __device__ __forceinline__ List row(u32 v) const {
        List a;
#pragma unroll
        for (u32 e = 0; e < ITEMS; e++) {
            u32 w = e * WARP + lane();
            a.word[e] = w < words ? rows[(u64)v * words + w] : 0;
        }
        return a;
    }
    // within returns a mask of the bits of word w that are vertices.
    __device__ __forceinline__ u32 within(u32 w) const { return n >= WARP * w + WARP ? ALL : n <= WARP * w ? 0 : ~(ALL << n % WARP); }
};

}  // namespace VARIANT
