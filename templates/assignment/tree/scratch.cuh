// barrier=grid and host: what the threads of a block exchange.
#include "cuda/variant.cuh"

namespace VARIANT {

// Scratch holds, in shared memory, what the threads of a block exchange.
struct Scratch {
    union {
        struct {
            i64 at[BLOCK * ITEMS];
            int row[BLOCK * ITEMS];
            Entry list[BLOCK];
        };
        SharedState sharedState;
    };
    i64 least[WARPS];
};

}  // namespace VARIANT
