// Rounding to whole numbers, square roots.
//
// Where the instruction set has no rounding instruction, adding and taking off
// 2^52 (2^23) rounds halves to even; the rest follows from that, and a loop of
// library calls is avoided. Both ways give the same bits.
#include "vm/kernels/list.h"

#if defined(__SSE4_1__) || defined(__aarch64__)

#define X(sfx, T, f)                                 \
  TL_UNARY(floor_##sfx, T, T, __builtin_floor##f(x)) \
  TL_UNARY(ceil_##sfx, T, T, __builtin_ceil##f(x))   \
  TL_UNARY(trunc_##sfx, T, T, __builtin_trunc##f(x)) \
  TL_UNARY(round_##sfx, T, T, __builtin_rint##f(x))
X(float32, float, f)
X(float64, double, )
#undef X

#else

// The sign is put back last, so that -0.3 becomes -0.0. NaN fails the first
// comparison and stays.
#define X(sfx, T, f, big)                                                 \
  TL_INLINE T even_##sfx(T x) {                                           \
    const T size = __builtin_fabs##f(x);                                  \
    return size < big ? __builtin_copysign##f((size + big) - big, x) : x; \
  }                                                                       \
  TL_INLINE T below_##sfx(T x) {                                          \
    const T r = even_##sfx(x);                                            \
    return __builtin_copysign##f(r - (r > x ? (T)1 : (T)0), x);           \
  }                                                                       \
  TL_INLINE T above_##sfx(T x) {                                          \
    const T r = even_##sfx(x);                                            \
    return __builtin_copysign##f(r + (r < x ? (T)1 : (T)0), x);           \
  }                                                                       \
  TL_INLINE T toward_zero_##sfx(T x) {                                    \
    const T size = __builtin_fabs##f(x), r = even_##sfx(size);            \
    return __builtin_copysign##f(r - (r > size ? (T)1 : (T)0), x);        \
  }                                                                       \
  TL_UNARY(floor_##sfx, T, T, below_##sfx(x))                             \
  TL_UNARY(ceil_##sfx, T, T, above_##sfx(x))                              \
  TL_UNARY(trunc_##sfx, T, T, toward_zero_##sfx(x))                       \
  TL_UNARY(round_##sfx, T, T, even_##sfx(x))
X(float32, float, f, 0x1p23f)
X(float64, double, , 0x1p52)
#undef X

#endif

// IEEE 754 has roots correctly rounded, so that all sets agree.
TL_UNARY(sqrt_float32, float, float, __builtin_sqrtf(x))
TL_UNARY(sqrt_float64, double, double, __builtin_sqrt(x))

// Complex items are rounded part by part.
void TL_K(round_complex64)(void *out, const void *a, size_t n) {
  TL_K(round_float32)(out, a, 2 * n);
}
void TL_K(round_complex128)(void *out, const void *a, size_t n) {
  TL_K(round_float64)(out, a, 2 * n);
}
