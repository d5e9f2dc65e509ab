// Products on tensor cores, and asynchronous copies to shared memory. Inline PTX has
// an emulated body beside it.
#pragma once
#include "cuda/prelude.cuh"

namespace coalesce {

// mma adds the product of a 16 x 32 matrix A and a 32 x 8 matrix B of signed
// bytes to a 16 x 8 matrix of int32, held by a warp (mma.m16n8k32). With
// g = lane / 4 and t = lane % 4, a lane holds
//     of A, rows g, g + 8, g, g + 8, columns 4t to 4t + 3, the last two 16 on,
//     of B, column g, rows 4t to 4t + 3 and 16 + 4t to 16 + 4t + 3,
//     of the sum, rows g, g, g + 8, g + 8, columns 2t, 2t + 1, 2t, 2t + 1.
__device__ __forceinline__ void mma(int (&sum)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#ifdef COALESCE_EMULATED
    u32 lane = threadIdx.x % WARP, t = lane % 4;
    u64 upper = a[0] | (u64)a[2] << 32, lower = a[1] | (u64)a[3] << 32, column = b[0] | (u64)b[1] << 32;
    for (u32 k = 0; k < 4; k++) {
        u64 x[2] = {__shfl_sync(ALL, upper, (int)(lane - t + k)), __shfl_sync(ALL, lower, (int)(lane - t + k))};
        u64 y[2] = {__shfl_sync(ALL, column, (int)(8 * t + k)), __shfl_sync(ALL, column, (int)(8 * t + 4 + k))};
        for (u32 e = 0; e < 4; e++)
            for (u32 byte = 0; byte < 64; byte += 8) sum[e] += (signed char)(x[e / 2] >> byte) * (signed char)(y[e % 2] >> byte);
    }
#else
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// copyAhead starts a copy of 16 bytes, aligned to 16, from global to shared memory.
// commitCopies ends a group of copies. awaitCopies waits until at most LEFT of the
// thread's groups are incomplete. A barrier must follow before other threads read the
// copies.
__device__ __forceinline__ void copyAhead(void* shared, const void* global) {
#ifdef COALESCE_EMULATED
    *(int4*)shared = *(const int4*)global;
#else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(shared)), "l"(global) : "memory");
#endif
}
__device__ __forceinline__ void commitCopies() {
#ifndef COALESCE_EMULATED
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int LEFT> __device__ __forceinline__ void awaitCopies() {
#ifndef COALESCE_EMULATED
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
}

}  // namespace coalesce
