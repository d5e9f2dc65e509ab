// The buffer of a check: duals, matching, findings and near pairs.
#include "cuda/variant.cuh"

namespace VARIANT {

// Go: Near
constexpr u64 NEAR = 8;  // near pairs a row that are listed

// Work holds, in words of 8 bytes, what goes to the device in one copy and what comes back in another:
//
//   u[rows] v[cols], 4-byte column[rows], words[WORDS] left near[1 + NEAR * rows] matched[rows], 4-byte owner[cols] edges[NEAR * rows]
struct Work {
    const i64 *u, *v;
    const int* column;
    u64* words;
    u64* left;  // number of near pairs that may be on alternating cycles
    u64* near;  // number of near pairs, and the first NEAR * rows of them: column * 2^32 + row
    double* matched;  // costs of matched pairs, where they are floats
    int* owner;
    u32* edges;  // parents of rows for forest, then near pairs in the form of cycles
    u64 rows, cols;
    __device__ __forceinline__ Work(i64* w, u64 m, u64 n) : u(w), v(w + m), column((const int*)(w + m + n)),
        words((u64*)w + m + n + (m + 1) / 2), left(words + WORDS), near(left + 1), matched((double*)(near + 1 + NEAR * m)), owner((int*)(matched + m)), edges((u32*)owner + n), rows(m), cols(n) {}
    // note lists row i and column j, whose cost is c: as a fault where their duals add up to more, as
    // near where they add up to at most width less and are not matched.
    __device__ void note(u64 i, u64 j, i64 c, i64 width) const;
};

__device__ void Work::note(u64 i, u64 j, i64 c, i64 width) const {
    if (plus(u[i], v[j]) > c) {
        atomicAdd(words + ENTRIES, 1ull);
        atomicMin(words + FIRST_ENTRY, i * cols + j);
    }
    if (width < 0 || column[i] == (int)j) return;
    u64 at = atomicAdd(near, 1ull);
    if (at < NEAR * rows) near[1 + at] = j << 32 | i;
}

}  // namespace VARIANT
