// barrier=peers: members of Work about the other devices.
#include "cuda/variant.cuh"

// messages  by member: the messages of blocks with this block's number, in the member's buffer
// epoch     exchanges so far
// keeps     whether this device holds the lists of zeros
#define MEMBERSHIP                                                        \
    u64* messages[WARPS];                                                 \
    u32 me, count, epoch;                                                 \
    __device__ __forceinline__ bool keeps() const { return me == 0; }     \
    __device__ __forceinline__ u32 nextEpoch() const { return epoch + 1; }\
    __device__ __forceinline__ void begin(u32 next) { epoch = next; }
