// Products of complex matrices with a vector, in the same order of sums as
// those of reals. Real and imaginary parts have lanes of their own, so that
// vectors need no shuffling.
#include "vm/kernels/gemv.h"

// Real and imaginary parts have lanes of their own.
enum { LANES = 16 };

#define X(D, sfx, T, R)                                                        \
  TL_INLINE T plus_##sfx(T x, T y) {                                           \
    return (T){.re = x.re + y.re, .im = x.im + y.im};                          \
  }                                                                            \
  TL_INLINE T times_##sfx(T x, T y) {                                          \
    return (T){.re = x.re * y.re - x.im * y.im,                                \
               .im = x.re * y.im + x.im * y.re};                               \
  }                                                                            \
  TL_INLINE void add_products_##sfx(R *re, R *im, const T *a, const T *x,      \
                                    size_t n) {                                \
    for (size_t i = 0; i < n; i++) {                                           \
      re[i] += a[i].re * x[i].re - a[i].im * x[i].im;                          \
      im[i] += a[i].re * x[i].im + a[i].im * x[i].re;                          \
    }                                                                          \
  }                                                                            \
  static T dot_##sfx(const T *a, const T *x, size_t n) {                       \
    R re[LANES] = {0}, im[LANES] = {0};                                        \
    for (; n >= LANES; n -= LANES, a += LANES, x += LANES)                     \
      add_products_##sfx(re, im, a, x, LANES);                                 \
    add_products_##sfx(re, im, a, x, n);                                       \
    for (size_t half = LANES / 2; half > 0; half /= 2) {                       \
      for (size_t lane = 0; lane < half; lane++) {                             \
        re[lane] += re[lane + half];                                           \
        im[lane] += im[lane + half];                                           \
      }                                                                        \
    }                                                                          \
    return (T){.re = re[0], .im = im[0]};                                      \
  }                                                                            \
  static T dot_strided_##sfx(const char *a, ptrdiff_t a_step, const char *x,   \
                             ptrdiff_t x_step, size_t n) {                     \
    T p[GEMV_LEAF], q[GEMV_LEAF];                                              \
    gather_items(p, a, a_step, n, sizeof(T));                                  \
    gather_items(q, x, x_step, n, sizeof(T));                                  \
    return dot_##sfx(p, q, n);                                                 \
  }                                                                            \
  static void axpy1_##sfx(T *out, const T *a, T x, size_t n) {                 \
    TL_LOOP for (size_t i = 0; i < n; i++) out[i] =                            \
        plus_##sfx(out[i], times_##sfx(a[i], x));                              \
  }                                                                            \
  static void axpy4_##sfx(T *out, const T *const a[4], const T *x, size_t n) { \
    for (int q = 0; q < 4; q++) axpy1_##sfx(out, a[q], x[q], n);               \
  }                                                                            \
  GEMV(sfx, T)
TL_COMPLEXES(X)
#undef X
