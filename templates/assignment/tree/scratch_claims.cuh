// barrier=peers: what the threads of a block exchange, among them claims of columns.
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
    int claim[BLOCK * OWN];  // by column: the least row with zero slack there
    u64 way[BLOCK * OWN];    // by column that a closure reached: its way
    u32 sent[2];             // columns sent, by exchange modulo 2
};

}  // namespace VARIANT
