// The CUDA built-ins that generated kernels use, for a C++ compiler. Included
// before every kernel text of the emulated device; what the functions do is in
// server.cc, which runs each CUDA thread as a fiber.
#ifndef COALESCE_EMULATED_H
#define COALESCE_EMULATED_H
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef COALESCE_EMULATED
#define COALESCE_EMULATED 1
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __noinline__ __attribute__((noinline))
#define __builtin_assume(x) ((void)0)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

// GCC before 11 lacks this one of C++20.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 11
template <class T, class F> static inline T emu_bit_cast(const F& from) {
  static_assert(sizeof(T) == sizeof(F), "sizes");
  T to;
  memcpy(&to, &from, sizeof to);
  return to;
}
#define __builtin_bit_cast(T, x) emu_bit_cast<T>(x)
#endif

// Shared memory is static storage. Each declaration gets a section of its own,
// which the loader finds by its name; the server poisons it at every block's
// start, and keeps a copy for each block where several are alive at once.
#define EMU_STR2(x) #x
#define EMU_STR(x) EMU_STR2(x)
#define __shared__ static __attribute__((section("emu_shared_" EMU_STR(__COUNTER__))))

#define EMU_INLINE static inline __attribute__((always_inline, unused))
#define EMU_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

extern "C" {
// The running thread's place; the scheduler keeps them.
extern uint3 emu_thread, emu_block;
extern dim3 emu_block_dim, emu_grid_dim;
extern char *emu_dynamic; // the running block's dynamic shared memory

// What a warp or a block does together. Names are in server.cc, same order.
enum EmuOp {
  EMU_SYNCWARP, EMU_SHFL, EMU_SHFL_UP, EMU_SHFL_DOWN, EMU_SHFL_XOR, EMU_BALLOT, EMU_ANY, EMU_ALL,
  EMU_MATCH_ANY, EMU_MATCH_ALL, EMU_ADD, EMU_MIN_S, EMU_MAX_S, EMU_MIN_U, EMU_MAX_U, EMU_AND, EMU_OR, EMU_XOR,
  EMU_SYNC, EMU_SYNC_COUNT, EMU_SYNC_AND, EMU_SYNC_OR, EMU_CLUSTER
};
uint64_t emu_warp(int op, unsigned mask, uint64_t value, int arg, int width, const char *file, int line);
uint64_t emu_barrier(int op, uint64_t value, const char *file, int line);
void emu_cluster_sync(const char *file = __builtin_FILE(), int line = __builtin_LINE());
// The place of p, of the block's shared memory, in that of a block of its
// cluster: for one access, before the thread waits for anything.
void *emu_peer(void *p, unsigned rank, const char *file = __builtin_FILE(), int line = __builtin_LINE());
void emu_yield(void);         // let other threads run
// Wait until *word & mask is no longer value: a spin that the server sees.
void emu_watch(const unsigned *word, unsigned mask, unsigned value, const char *file = __builtin_FILE(), int line = __builtin_LINE());
void emu_maybe_yield(void);   // now and then: at atomics, so that spinning ends
void emu_trap(const char *file, int line);
long long emu_clock(void);    // nanoseconds
}

#define threadIdx emu_thread
#define blockIdx emu_block
#define blockDim emu_block_dim
#define gridDim emu_grid_dim
#define warpSize 32

EMU_INLINE void __syncthreads(EMU_SITE) { emu_barrier(EMU_SYNC, 0, file, line); }
EMU_INLINE int __syncthreads_count(int p, EMU_SITE) { return (int)emu_barrier(EMU_SYNC_COUNT, p != 0, file, line); }
EMU_INLINE int __syncthreads_and(int p, EMU_SITE) { return (int)emu_barrier(EMU_SYNC_AND, p != 0, file, line); }
EMU_INLINE int __syncthreads_or(int p, EMU_SITE) { return (int)emu_barrier(EMU_SYNC_OR, p != 0, file, line); }
EMU_INLINE void __syncwarp(unsigned mask = 0xffffffffu, EMU_SITE) { emu_warp(EMU_SYNCWARP, mask, 0, 0, 32, file, line); }
EMU_INLINE void __threadfence(void) { emu_maybe_yield(); }
EMU_INLINE void __threadfence_block(void) { emu_maybe_yield(); }
EMU_INLINE void __threadfence_system(void) { emu_maybe_yield(); }
EMU_INLINE void __nanosleep(unsigned) { emu_yield(); }
EMU_INLINE void __trap(EMU_SITE) { emu_trap(file, line); }
EMU_INLINE long long clock64(void) { return emu_clock(); }

template <class To, class From>
EMU_INLINE To emu_bits(From v) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  memcpy(&to, &v, sizeof to);
  return to;
}
template <class T>
EMU_INLINE uint64_t emu_pack(T v) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "warp functions take 4- and 8-byte values");
  uint64_t u = 0;
  memcpy(&u, &v, sizeof v);
  return u;
}
template <class T>
EMU_INLINE T emu_unpack(uint64_t u) {
  T v;
  memcpy(&v, &u, sizeof v);
  return v;
}

#define EMU_SHUFFLE(name, op, argtype)                                                                \
  template <class T>                                                                                  \
  EMU_INLINE T name(unsigned mask, T v, argtype arg, int width = 32, EMU_SITE) {                      \
    return emu_unpack<T>(emu_warp(op, mask, emu_pack(v), (int)arg, width, file, line));               \
  }
EMU_SHUFFLE(__shfl_sync, EMU_SHFL, int)
EMU_SHUFFLE(__shfl_up_sync, EMU_SHFL_UP, unsigned)
EMU_SHUFFLE(__shfl_down_sync, EMU_SHFL_DOWN, unsigned)
EMU_SHUFFLE(__shfl_xor_sync, EMU_SHFL_XOR, int)

EMU_INLINE unsigned __ballot_sync(unsigned mask, int p, EMU_SITE) { return (unsigned)emu_warp(EMU_BALLOT, mask, p != 0, 0, 32, file, line); }
EMU_INLINE int __any_sync(unsigned mask, int p, EMU_SITE) { return (int)emu_warp(EMU_ANY, mask, p != 0, 0, 32, file, line); }
EMU_INLINE int __all_sync(unsigned mask, int p, EMU_SITE) { return (int)emu_warp(EMU_ALL, mask, p != 0, 0, 32, file, line); }
template <class T>
EMU_INLINE unsigned __match_any_sync(unsigned mask, T v, EMU_SITE) {
  return (unsigned)emu_warp(EMU_MATCH_ANY, mask, emu_pack(v), 0, 32, file, line);
}
template <class T>
EMU_INLINE unsigned __match_all_sync(unsigned mask, T v, int *pred, EMU_SITE) {
  unsigned r = (unsigned)emu_warp(EMU_MATCH_ALL, mask, emu_pack(v), 0, 32, file, line);
  *pred = r != 0;
  return r;
}
// Which lanes run together is not promised by CUDA; here each runs alone.
EMU_INLINE unsigned __activemask(void) { return 1u << (emu_thread.x & 31); }

#define EMU_REDUCE(name, T, op) \
  EMU_INLINE T name(unsigned mask, T v, EMU_SITE) { return (T)emu_warp(op, mask, (uint64_t)(int64_t)v, 0, 32, file, line); }
EMU_REDUCE(__reduce_add_sync, int, EMU_ADD)
EMU_REDUCE(__reduce_add_sync, unsigned, EMU_ADD)
EMU_REDUCE(__reduce_min_sync, int, EMU_MIN_S)
EMU_REDUCE(__reduce_max_sync, int, EMU_MAX_S)
EMU_REDUCE(__reduce_min_sync, unsigned, EMU_MIN_U)
EMU_REDUCE(__reduce_max_sync, unsigned, EMU_MAX_U)
EMU_REDUCE(__reduce_and_sync, unsigned, EMU_AND)
EMU_REDUCE(__reduce_or_sync, unsigned, EMU_OR)
EMU_REDUCE(__reduce_xor_sync, unsigned, EMU_XOR)

#include "emulated_math.h"
#include "emulated_atomic.h"

// emu_call passes the launch's 8-byte slots to an entry.
template <size_t... I> struct EmuIndex {};
template <size_t N, size_t... I> struct EmuIndices : EmuIndices<N - 1, N - 1, I...> {};
template <size_t... I> struct EmuIndices<0, I...> { typedef EmuIndex<I...> type; };
template <class A>
EMU_INLINE A emu_slot(uint64_t s) {
  static_assert(sizeof(A) == 8, "entries take 8-byte parameters only");
  return emu_unpack<A>(s);
}
template <class... A, size_t... I>
EMU_INLINE void emu_apply(void (*f)(A...), const uint64_t *s, EmuIndex<I...>) { f(emu_slot<A>(s[I])...); }
template <size_t N, class... A>
EMU_INLINE void emu_call(void (*f)(A...), const uint64_t *s) {
  static_assert(sizeof...(A) == N, "the entry's parameters are not those of the family's table");
  emu_apply(f, s, typename EmuIndices<sizeof...(A)>::type());
}
#endif
