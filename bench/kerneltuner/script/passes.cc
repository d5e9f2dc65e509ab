#include <chrono>
#include <cstdint>

typedef int32_t T;
constexpr unsigned SUBSETS = 1u << items;
constexpr uint64_t NEVER = ~0ull;

// pass is the kernel of passes.cuh with a loop for the blocks and one for the threads. It returns milliseconds.
extern "C" float pass(const T* old, T* table, const uint64_t* weights, const T* values, uint64_t first, uint64_t count, uint64_t capacity) {
    auto start = std::chrono::steady_clock::now();
    for (uint64_t group = 0; group * block * each <= capacity; group++) {
        uint64_t heavy[SUBSETS];
        T worth[SUBSETS];
        for (unsigned s = 0; s < SUBSETS; s++) {
            uint64_t w = 0;
            T v = 0;
            for (unsigned k = 0; k < items; k++) {
                if (!(s >> k & 1)) continue;
                uint64_t x = first + k < count ? weights[first + k] : NEVER;
                w = w == NEVER || x > capacity - w ? NEVER : w + x;
                if (w != NEVER) v += values[first + k];
            }
            heavy[s] = w;
            worth[s] = v;
        }
        for (unsigned thread = 0; thread < block; thread++) {
            for (unsigned i = 0; i < each; i++) {
                uint64_t c = group * block * each + thread + i * block;
                if (c > capacity) break;
                T best = old[c];
                for (unsigned s = 1; s < SUBSETS; s++) {
                    if (heavy[s] > c) continue;
                    T x = old[c - heavy[s]] + worth[s];
                    if (x > best) best = x;
                }
                table[c] = best;
            }
        }
    }
    return std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start).count();
}
