// Products of matrices of reals and integers with a vector. Sums of floats
// have one order for every machine: item i belongs to lane i mod LANES of its
// leaf, lanes fold by halves, leaves are added in their order.
#include "vm/kernels/gemv.h"

#if defined(__AVX512F__) && defined(__BMI2__)
#include <immintrin.h>
#define GEMV_MASKS 1
#else
#define GEMV_MASKS 0
#endif

#if defined(__AVX512F__)
enum { VECTOR = 64 };
#elif defined(__AVX2__)
enum { VECTOR = 32 };
#else
enum { VECTOR = 16 };
#endif

// Bytes of all lanes: enough vectors to hide how long an addition takes.
enum { LANE_BYTES = 256, VECTORS = LANE_BYTES / VECTOR };

// Fewer terms than this are added as they come.
enum { FEW = 8 };

// The item at an address.
#define ITEM(T, at) (*(const T *)(const void *)(at))
// Four strided items as a vector.
#define FOUR(sfx, T, at, step)                       \
  ((four_##sfx){ITEM(T, at), ITEM(T, (at) + (step)), \
                ITEM(T, (at) + 2 * (step)), ITEM(T, (at) + 3 * (step))})

// Adds the products of the last items behind whole iterations, `left` of them,
// as far as they fill vectors, or by masks in all. 0 changes no lane, as none
// is -0.0. Returns how many are left then. No load has an empty mask: one that
// lies in a page that is not there takes a processor hundreds of cycles.
#if GEMV_MASKS
#define REST(sfx, T, load)                                                \
  TL_INLINE size_t rest_##sfx(vector_##sfx *held, const T *a, const T *x, \
                              size_t left) {                              \
    const uint64_t items = _bzhi_u64(UINT64_MAX, (unsigned)left);         \
    enum { PER = VECTOR / sizeof(T), ALL = (1 << PER) - 1 };              \
    TL_SPELL_OUT for (int v = 0; v < VECTORS; v++) {                      \
      const unsigned some = (unsigned)(items >> v * PER) & ALL;           \
      if (some == 0)                                                      \
        break;                                                            \
      held[v] += (vector_##sfx)load(some, a + v * PER) *                  \
                 (vector_##sfx)load(some, x + v * PER);                   \
    }                                                                     \
    return 0;                                                             \
  }
// Some items of a vector by a mask, zeros elsewhere; nothing is read behind
// them.
#define LOAD_float32(some, at) _mm512_maskz_loadu_ps((__mmask16)(some), at)
#define LOAD_float64(some, at) _mm512_maskz_loadu_pd((__mmask8)(some), at)
#else
#define REST(sfx, T, load)                                                \
  TL_INLINE size_t rest_##sfx(vector_##sfx *held, const T *a, const T *x, \
                              size_t left) {                              \
    enum { PER = VECTOR / sizeof(T) };                                    \
    TL_SPELL_OUT for (int v = 0; v < VECTORS; v++) {                      \
      if (left < (size_t)(v + 1) * PER)                                   \
        return left - (size_t)v * PER;                                    \
      held[v] += *(const vector_##sfx *)(a + v * PER) *                   \
                 *(const vector_##sfx *)(x + v * PER);                    \
    }                                                                     \
    return 0;                                                             \
  }
#endif

// The dot products of a leaf of floats: contiguous, and strided, with the same
// lanes and so the same bits.
#define REAL_LEAF(sfx, T)                                                    \
  typedef T vector_##sfx                                                     \
      __attribute__((vector_size(VECTOR), aligned(sizeof(T)), may_alias));   \
  enum { LANES_##sfx = LANE_BYTES / sizeof(T) };                             \
  REST(sfx, T, LOAD_##sfx)                                                   \
  typedef T four_##sfx __attribute__((vector_size(4 * sizeof(T))));          \
  /* The sum of the lanes of [n] products. */                                \
  TL_INLINE T folded_##sfx(T *lanes, size_t n) {                             \
    size_t half = LANES_##sfx / 2;                                           \
    if (n > LANES_##sfx / 2) { /* constants are vectors */                   \
      TL_SPELL_OUT for (size_t all = LANES_##sfx / 2; all > 0;               \
                        all /= 2) for (size_t lane = 0; lane < all; lane++)  \
          lanes[lane] += lanes[lane + all];                                  \
      return lanes[0];                                                       \
    }                                                                        \
    while (half > 1 && half >= n) half /= 2; /* the others are 0 */          \
    for (; half > 0; half /= 2)                                              \
      for (size_t lane = 0; lane < half; lane++)                             \
        lanes[lane] += lanes[lane + half];                                   \
    return lanes[0];                                                         \
  }                                                                          \
  static T few_##sfx(const T *a, const T *x, size_t n) {                     \
    T sum = 0;                                                               \
    for (size_t i = 0; i < n; i++) sum += a[i] * x[i];                       \
    return sum;                                                              \
  }                                                                          \
  static T dot_##sfx(const T *a, const T *x, size_t n) {                     \
    if (n < FEW)                                                             \
      return few_##sfx(a, x, n);                                             \
    vector_##sfx held[VECTORS];                                              \
    TL_SPELL_OUT for (int v = 0; v < VECTORS; v++) held[v] =                 \
        (vector_##sfx){0};                                                   \
    size_t i = 0;                                                            \
    for (; i + LANES_##sfx <= n; i += LANES_##sfx) {                         \
      const vector_##sfx *p = (const vector_##sfx *)(a + i);                 \
      const vector_##sfx *q = (const vector_##sfx *)(x + i);                 \
      TL_SPELL_OUT for (int v = 0; v < VECTORS; v++) held[v] += p[v] * q[v]; \
    }                                                                        \
    const size_t left = n - i,                                               \
                 past = left - rest_##sfx(held, a + i, x + i, left);         \
    T lanes[LANES_##sfx];                                                    \
    memcpy(lanes, held, sizeof lanes);                                       \
    for (size_t lane = past; lane < left; lane++)                            \
      lanes[lane] += a[i + lane] * x[i + lane];                              \
    return folded_##sfx(lanes, n);                                           \
  }                                                                          \
  static T dot_strided_##sfx(const char *a, ptrdiff_t a_step, const char *x, \
                             ptrdiff_t x_step, size_t n) {                   \
    if (n < FEW) {                                                           \
      T sum = 0;                                                             \
      for (size_t i = 0; i < n; i++, a += a_step, x += x_step)               \
        sum += ITEM(T, a) * ITEM(T, x);                                      \
      return sum;                                                            \
    }                                                                        \
    four_##sfx held[LANES_##sfx / 4];                                        \
    TL_SPELL_OUT for (int v = 0; v < LANES_##sfx / 4; v++) held[v] =         \
        (four_##sfx){0};                                                     \
    size_t i = 0;                                                            \
    for (; i + LANES_##sfx <= n; i += LANES_##sfx)                           \
      TL_SPELL_OUT for (int v = 0; v < LANES_##sfx / 4; v++) {               \
        held[v] += FOUR(sfx, T, a, a_step) * FOUR(sfx, T, x, x_step);        \
        a += 4 * a_step;                                                     \
        x += 4 * x_step;                                                     \
      }                                                                      \
    T lanes[LANES_##sfx];                                                    \
    memcpy(lanes, held, sizeof lanes);                                       \
    for (size_t lane = 0; i + lane < n; lane++, a += a_step, x += x_step)    \
      lanes[lane] += ITEM(T, a) * ITEM(T, x);                                \
    return folded_##sfx(lanes, n);                                           \
  }

// The same of integers, whose sums wrap and need no order.
#define INTEGER_LEAF(sfx, T, W)                                              \
  static T dot_##sfx(const T *a, const T *x, size_t n) {                     \
    T sum = 0;                                                               \
    for (size_t i = 0; i < n; i++) sum = (T)((W)sum + (W)a[i] * (W)x[i]);    \
    return sum;                                                              \
  }                                                                          \
  static T dot_strided_##sfx(const char *a, ptrdiff_t a_step, const char *x, \
                             ptrdiff_t x_step, size_t n) {                   \
    T sum = 0;                                                               \
    for (size_t i = 0; i < n; i++, a += a_step, x += x_step)                 \
      sum = (T)((W)sum + (W)ITEM(T, a) * (W)ITEM(T, x));                     \
    return sum;                                                              \
  }

// Adds one column, or four, to the result.
#define LINES(sfx, T, W)                                                       \
  TL_INLINE T plus_##sfx(T x, T y) {                                           \
    return (T)((W)x + (W)y);                                                   \
  }                                                                            \
  static void axpy1_##sfx(T *out, const T *a, T x, size_t n) {                 \
    TL_LOOP for (size_t i = 0; i < n; i++) out[i] =                            \
        (T)((W)out[i] + (W)a[i] * (W)x);                                       \
  }                                                                            \
  static void axpy4_##sfx(T *out, const T *const a[4], const T *x, size_t n) { \
    const T *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];                    \
    const W x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];                        \
    TL_LOOP for (size_t i = 0; i < n; i++) {                                   \
      const W sum = (W)out[i] + (W)a0[i] * x0;                                 \
      out[i] = (T)(((sum + (W)a1[i] * x1) + (W)a2[i] * x2) + (W)a3[i] * x3);   \
    }                                                                          \
  }

#define X(D, sfx, T, W) \
  REAL_LEAF(sfx, T)     \
  LINES(sfx, T, W)      \
  GEMV(sfx, T)
TL_FLOATS(X)
#undef X
#define X(D, sfx, T, W)   \
  INTEGER_LEAF(sfx, T, W) \
  LINES(sfx, T, W)        \
  GEMV(sfx, T)
TL_UNSIGNED(X)
#undef X
