// Phases of a small core by one block, in its shared memory.
#include "cuda/variant.cuh"

namespace VARIANT {

// Go: Words
constexpr u32 WORDS = STAGES + AUGMENTING + 1;  // number of control words, the cycles of each stage the last

// apart runs phases of a small core by one block, whose shared memory holds all data but
// the edges: 24 bytes a column and 20 a row. Behind the control words apart writes v, u and
// the matching a second time, so that one copy brings all of them to the host.
__device__ void apart(const State& s, bool far, u64 most) {
    COALESCE_DYNAMIC_SHARED(u64, room);
    State near = s;
    near.control = room;
    near.word = near.control + WORDS;
    near.v = (i64*)(near.word + s.width);
    near.u = near.v + s.width;
    near.owner = (int*)(near.u + s.rows);
    near.reached = near.owner + s.width;
    near.match = near.reached + s.width;
    near.claim = near.match + s.rows;
    OneBlock threadGroup = {(unsigned short*)(near.claim + s.rows)};
    for (u64 j = threadGroup.thread(); j < s.width; j += BLOCK) near.v[j] = s.v[j], near.owner[j] = s.owner[j];
    for (u64 i = threadGroup.thread(); i < s.rows; i += BLOCK) near.u[i] = s.u[i], near.match[i] = s.match[i];
    for (u64 k = threadGroup.thread(); k < WORDS; k += BLOCK) near.control[k] = s.control[k];
    threadGroup.sync();
    phases(near, threadGroup, far, most);
    threadGroup.sync();
    i64 *v = (i64*)(s.control + WORDS), *u = v + s.width;
    int* match = (int*)(u + s.rows);
    for (u64 j = threadGroup.thread(); j < s.width; j += BLOCK) {
        s.word[j] = near.word[j], s.owner[j] = near.owner[j];
        s.v[j] = v[j] = near.v[j];
    }
    for (u64 i = threadGroup.thread(); i < s.rows; i += BLOCK) {
        s.u[i] = u[i] = near.u[i];
        s.match[i] = match[i] = near.match[i];
    }
    for (u64 k = threadGroup.thread(); k < WORDS; k += BLOCK)
        if (k != BARRIER) s.control[k] = near.control[k];
}

}  // namespace VARIANT
