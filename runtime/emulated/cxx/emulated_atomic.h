// Atomics; included by emulated.h. Fibers switch only where they ask to, so
// plain operations are atomic; each may let another thread run first.
#define EMU_ATOMIC_AS(name, T, expr)                     \
  EMU_INLINE T name(T *p, T v) {                         \
    emu_maybe_yield();                                   \
    T old = *p;                                          \
    *p = (T)(expr);                                      \
    return old;                                          \
  }
#define EMU_ATOMIC(name, T, expr)                        \
  EMU_ATOMIC_AS(name, T, expr)                           \
  EMU_ATOMIC_AS(name##_block, T, expr)                   \
  EMU_ATOMIC_AS(name##_system, T, expr)
#define EMU_ATOMIC_CAS(name, T)                          \
  EMU_INLINE T name(T *p, T compare, T v) {              \
    emu_maybe_yield();                                   \
    T old = *p;                                          \
    if (old == compare) *p = v;                          \
    return old;                                          \
  }
#define EMU_ATOMICS(T, U)                                                            \
  EMU_ATOMIC(atomicAdd, T, (U)old + (U)v)                                            \
  EMU_ATOMIC(atomicSub, T, (U)old - (U)v)                                            \
  EMU_ATOMIC(atomicMin, T, v < old ? v : old)                                        \
  EMU_ATOMIC(atomicMax, T, v > old ? v : old)                                        \
  EMU_ATOMIC(atomicAnd, T, old & v)                                                  \
  EMU_ATOMIC(atomicOr, T, old | v)                                                   \
  EMU_ATOMIC(atomicXor, T, old ^ v)                                                  \
  EMU_ATOMIC(atomicExch, T, v)                                                       \
  EMU_ATOMIC_CAS(atomicCAS, T)                                                       \
  EMU_ATOMIC_CAS(atomicCAS_block, T)                                                 \
  EMU_ATOMIC_CAS(atomicCAS_system, T)
EMU_ATOMICS(int, unsigned)
EMU_ATOMICS(unsigned, unsigned)
EMU_ATOMICS(long long, unsigned long long)
EMU_ATOMICS(unsigned long long, unsigned long long)
EMU_ATOMIC(atomicAdd, float, old + v)
EMU_ATOMIC(atomicAdd, double, old + v)
EMU_ATOMIC(atomicExch, float, v)
EMU_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
EMU_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)
