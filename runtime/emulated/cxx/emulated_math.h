// Arithmetic built-ins; included by emulated.h.
EMU_INLINE int __ffs(int v) { return __builtin_ffs(v); }
EMU_INLINE int __ffsll(long long v) { return __builtin_ffsll(v); }
EMU_INLINE int __popc(unsigned v) { return __builtin_popcount(v); }
EMU_INLINE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
EMU_INLINE int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
EMU_INLINE int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
EMU_INLINE unsigned __brev(unsigned v) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r |= ((v >> i) & 1u) << (31 - i);
  return r;
}
EMU_INLINE unsigned long long __brevll(unsigned long long v) {
  return ((unsigned long long)__brev((unsigned)v) << 32) | __brev((unsigned)(v >> 32));
}
EMU_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
EMU_INLINE int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
EMU_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
EMU_INLINE long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
EMU_INLINE int __mul24(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
EMU_INLINE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)(((((unsigned long long)hi << 32) | lo) << (n & 31)) >> 32);
}
EMU_INLINE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)((((unsigned long long)hi << 32) | lo) >> (n & 31));
}
EMU_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  unsigned long long v = ((unsigned long long)b << 32) | a;
  unsigned r = 0;
  for (int i = 0; i < 4; i++) {
    unsigned n = (s >> (4 * i)) & 15;
    unsigned byte = (unsigned)(v >> (8 * (n & 7))) & 255;
    if (n & 8) byte = byte & 128 ? 255 : 0;
    r |= byte << (8 * i);
  }
  return r;
}
// The n-th set bit of mask from base, as __fns.
EMU_INLINE unsigned __fns(unsigned mask, unsigned base, int n) {
  if (n == 0) return (mask >> (base & 31)) & 1 ? base : 0xffffffffu;
  int step = n > 0 ? 1 : -1, left = n > 0 ? n : -n;
  for (int i = (int)(base & 31); i >= 0 && i < 32; i += step)
    if (((mask >> i) & 1) && --left == 0) return (unsigned)i;
  return 0xffffffffu;
}

EMU_INLINE int __float_as_int(float v) { return emu_bits<int>(v); }
EMU_INLINE unsigned __float_as_uint(float v) { return emu_bits<unsigned>(v); }
EMU_INLINE float __int_as_float(int v) { return emu_bits<float>(v); }
EMU_INLINE float __uint_as_float(unsigned v) { return emu_bits<float>(v); }
EMU_INLINE long long __double_as_longlong(double v) { return emu_bits<long long>(v); }
EMU_INLINE double __longlong_as_double(long long v) { return emu_bits<double>(v); }
EMU_INLINE int __double2hiint(double v) { return (int)(emu_bits<long long>(v) >> 32); }
EMU_INLINE int __double2loint(double v) { return (int)(unsigned)emu_bits<unsigned long long>(v); }
EMU_INLINE double __hiloint2double(int hi, int lo) {
  return emu_bits<double>(((unsigned long long)(unsigned)hi << 32) | (unsigned)lo);
}
// Conversions with the rounding of their suffix, as the device does them: what
// is too large saturates.
EMU_INLINE long long emu_integer(double v) {
  return v >= 9223372036854775808.0 ? LLONG_MAX : v < -9223372036854775808.0 || v != v ? LLONG_MIN : (long long)v;
}
EMU_INLINE int emu_narrow(double v) { return v != v ? 0 : v >= 2147483647.0 ? INT_MAX : v <= -2147483648.0 ? INT_MIN : (int)v; }
#define EMU_ROUND(suffix, how)                                                              \
  EMU_INLINE long long __double2ll_##suffix(double v) { return emu_integer(how(v)); }       \
  EMU_INLINE long long __float2ll_##suffix(float v) { return emu_integer(how((double)v)); } \
  EMU_INLINE int __double2int_##suffix(double v) { return emu_narrow(how(v)); }             \
  EMU_INLINE int __float2int_##suffix(float v) { return emu_narrow(how((double)v)); }
EMU_ROUND(rn, rint) EMU_ROUND(rz, trunc) EMU_ROUND(rd, floor) EMU_ROUND(ru, ceil)
EMU_INLINE double __ll2double_rn(long long v) { return (double)v; }
EMU_INLINE double __ull2double_rn(unsigned long long v) { return (double)v; }
EMU_INLINE double __int2double_rn(int v) { return (double)v; }
EMU_INLINE float __ll2float_rn(long long v) { return (float)v; }
EMU_INLINE float __int2float_rn(int v) { return (float)v; }
EMU_INLINE float __double2float_rn(double v) { return (float)v; }
EMU_INLINE float __double2float_rd(double v) { float f = (float)v; return (double)f > v ? nextafterf(f, -INFINITY) : f; }
EMU_INLINE float __double2float_ru(double v) { float f = (float)v; return (double)f < v ? nextafterf(f, INFINITY) : f; }
EMU_INLINE double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
EMU_INLINE float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
EMU_INLINE double __dsub_rn(double a, double b) { return a - b; }
EMU_INLINE float __fsub_rn(float a, float b) { return a - b; }
EMU_INLINE double __ddiv_rn(double a, double b) { return a / b; }
EMU_INLINE double __dsqrt_rn(double v) { return sqrt(v); }
EMU_INLINE float __fsqrt_rn(float v) { return sqrtf(v); }
EMU_INLINE float rsqrtf(float v) { return 1.0f / sqrtf(v); }
EMU_INLINE double rsqrt(double v) { return 1.0 / sqrt(v); }
EMU_INLINE float __fadd_rn(float a, float b) { return a + b; }
EMU_INLINE float __fmul_rn(float a, float b) { return a * b; }
EMU_INLINE double __dadd_rn(double a, double b) { return a + b; }
EMU_INLINE double __dmul_rn(double a, double b) { return a * b; }
// Rounded up: where the nearest is less, the next.
EMU_INLINE double __ll2double_ru(long long v) { double d = (double)v; return (__int128)d < v ? nextafter(d, INFINITY) : d; }
EMU_INLINE double __dadd_ru(double a, double b) {
  double s = a + b, t = s - a, lost = (a - (s - t)) + (b - t); // a + b = s + lost (Knuth)
  return lost > 0 ? nextafter(s, INFINITY) : s;
}

// The least and greatest, with CUDA's overloads for mixed signs.
#define EMU_MINMAX(T, A, B)                                                    \
  EMU_INLINE T min(A a, B b) { return (T)a < (T)b ? (T)a : (T)b; }             \
  EMU_INLINE T max(A a, B b) { return (T)a > (T)b ? (T)a : (T)b; }
#define EMU_MINMAX_INT(S, U)                                                   \
  EMU_MINMAX(S, S, S) EMU_MINMAX(U, U, U) EMU_MINMAX(U, S, U) EMU_MINMAX(U, U, S)
EMU_MINMAX_INT(int, unsigned)
EMU_MINMAX_INT(long, unsigned long)
EMU_MINMAX_INT(long long, unsigned long long)
EMU_INLINE float min(float a, float b) { return fminf(a, b); }
EMU_INLINE float max(float a, float b) { return fmaxf(a, b); }
EMU_INLINE double min(double a, double b) { return fmin(a, b); }
EMU_INLINE double max(double a, double b) { return fmax(a, b); }
EMU_INLINE double min(float a, double b) { return fmin(a, b); }
EMU_INLINE double max(float a, double b) { return fmax(a, b); }
EMU_INLINE double min(double a, float b) { return fmin(a, b); }
EMU_INLINE double max(double a, float b) { return fmax(a, b); }

// Wrapping addition, as the device does it.
EMU_INLINE int emu_wrap(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
#define EMU_DPX(S, T, add)                                                                         \
  EMU_INLINE T __vimax_##S##32(T a, T b) { return a > b ? a : b; }                                 \
  EMU_INLINE T __vimin_##S##32(T a, T b) { return a < b ? a : b; }                                 \
  EMU_INLINE T __vimax3_##S##32(T a, T b, T c) { return __vimax_##S##32(__vimax_##S##32(a, b), c); } \
  EMU_INLINE T __vimin3_##S##32(T a, T b, T c) { return __vimin_##S##32(__vimin_##S##32(a, b), c); } \
  EMU_INLINE T __viaddmax_##S##32(T a, T b, T c) { return __vimax_##S##32((T)add(a, b), c); }        \
  EMU_INLINE T __viaddmin_##S##32(T a, T b, T c) { return __vimin_##S##32((T)add(a, b), c); }        \
  EMU_INLINE T __vibmax_##S##32(T a, T b, bool *p) { *p = a >= b; return a >= b ? a : b; }           \
  EMU_INLINE T __vibmin_##S##32(T a, T b, bool *p) { *p = a <= b; return a <= b ? a : b; }
EMU_DPX(s, int, emu_wrap)
EMU_DPX(u, unsigned, emu_wrap)
EMU_INLINE int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
EMU_INLINE int __viaddmax_s32_relu(int a, int b, int c) { return __vimax_s32(__viaddmax_s32(a, b, c), 0); }

// Halves of a word.
#define EMU_DPX16(S, T)                                                                    \
  EMU_INLINE unsigned __vimax_##S##16x2(unsigned a, unsigned b) {                          \
    T low = (T)a > (T)b ? (T)a : (T)b, high = (T)(a >> 16) > (T)(b >> 16) ? (T)(a >> 16) : (T)(b >> 16); \
    return (unsigned)(unsigned short)high << 16 | (unsigned short)low;                     \
  }                                                                                        \
  EMU_INLINE unsigned __vimax3_##S##16x2(unsigned a, unsigned b, unsigned c) { return __vimax_##S##16x2(__vimax_##S##16x2(a, b), c); } \
  EMU_INLINE unsigned __viaddmax_##S##16x2(unsigned a, unsigned b, unsigned c) {           \
    return __vimax_##S##16x2((a & 0xffff0000u) + (b & 0xffff0000u) + ((a + b) & 0xffffu), c); \
  }
EMU_DPX16(s, short)
EMU_DPX16(u, unsigned short)
EMU_INLINE unsigned __vmaxs2(unsigned a, unsigned b) { return __vimax_s16x2(a, b); }

EMU_INLINE int __dp4a(int a, int b, int c) {
  unsigned r = (unsigned)c;
  for (int i = 0; i < 4; i++) r += (unsigned)((int)(signed char)(a >> (8 * i)) * (int)(signed char)(b >> (8 * i)));
  return (int)r;
}

// Cached loads and stores are plain here.
#define EMU_LOAD(name) \
  template <class T> EMU_INLINE T name(const T *p) { return *p; }
EMU_LOAD(__ldg) EMU_LOAD(__ldca) EMU_LOAD(__ldcg) EMU_LOAD(__ldcs) EMU_LOAD(__ldlu) EMU_LOAD(__ldcv)
// What a store's value is converted to is the pointer's business.
template <class T> struct EmuSame { typedef T type; };
#define EMU_STORE(name) \
  template <class T> EMU_INLINE void name(T *p, typename EmuSame<T>::type v) { *p = v; }
EMU_STORE(__stwb) EMU_STORE(__stcg) EMU_STORE(__stcs) EMU_STORE(__stwt)

#define EMU_VECTOR(T, N, align2, align4)                                                     \
  struct N##1 { T x; };                                                                      \
  struct __attribute__((aligned(align2))) N##2 { T x, y; };                                  \
  struct N##3 { T x, y, z; };                                                                \
  struct __attribute__((aligned(align4))) N##4 { T x, y, z, w; };                            \
  EMU_INLINE N##1 make_##N##1(T x) { return N##1{x}; }                                       \
  EMU_INLINE N##2 make_##N##2(T x, T y) { return N##2{x, y}; }                               \
  EMU_INLINE N##3 make_##N##3(T x, T y, T z) { return N##3{x, y, z}; }                       \
  EMU_INLINE N##4 make_##N##4(T x, T y, T z, T w) { return N##4{x, y, z, w}; }
EMU_VECTOR(char, char, 2, 4)
EMU_VECTOR(unsigned char, uchar, 2, 4)
EMU_VECTOR(short, short, 4, 8)
EMU_VECTOR(unsigned short, ushort, 4, 8)
EMU_VECTOR(int, int, 8, 16)
#define uint3 emu_uint3 // emulated.h has one
EMU_VECTOR(unsigned, uint, 8, 16)
#undef uint3
EMU_VECTOR(float, float, 8, 16)
EMU_VECTOR(long long, longlong, 16, 16)
EMU_VECTOR(unsigned long long, ulonglong, 16, 16)
EMU_VECTOR(double, double, 16, 16)
