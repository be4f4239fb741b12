// Smallest and largest items and where they are, down columns; and the best so
// far along a sequence.
#include "vm/kernels/extreme.h"
#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"

// Several rows are taken at once, so that the best so far is read and written
// less often.
enum { ROWS = 8, ARG_ROWS = 4 };

// One row meets the best so far of each column.
#define ARG_ROW(T, row, r, STEP, beats, IS_NAN)      \
  TL_LOOP for (size_t i = 0; i < n; i++) {           \
    T x = best[i];                                   \
    int64_t at = out[i];                             \
    STEP(x, at, row[i], (int64_t)(r), beats, IS_NAN) \
    best[i] = x;                                     \
    out[i] = at;                                     \
  }

#define EXTREME(name, sfx, T, beats, IS_NAN)                                   \
  TL_INLINE T better_##name##_##sfx(T x, T y) {                                \
    return BETTER(x, y, beats, IS_NAN);                                        \
  }                                                                            \
  static void outer_strip_##name##_##sfx(                                      \
      T *best, const char *a, ptrdiff_t row_stride, size_t nrows, size_t n) {  \
    memcpy(best, a, n * sizeof(T));                                            \
    size_t r = 1;                                                              \
    for (; !TL_SMALL && r + ROWS <= nrows; r += ROWS) {                        \
      const T *row[ROWS];                                                      \
      for (size_t k = 0; k < ROWS; k++) row[k] = row_of(a, row_stride, r + k); \
      TL_LOOP for (size_t i = 0; i < n; i++) {                                 \
        T x = best[i];                                                         \
        TL_SPELL_OUT for (int k = 0; k < ROWS; k++) x =                        \
            better_##name##_##sfx(x, row[k][i]);                               \
        best[i] = x;                                                           \
      }                                                                        \
    }                                                                          \
    for (; r < nrows; r++) {                                                   \
      const T *row = row_of(a, row_stride, r);                                 \
      TL_LOOP for (size_t i = 0; i < n; i++) {                                 \
        best[i] = better_##name##_##sfx(best[i], row[i]);                      \
      }                                                                        \
    }                                                                          \
  }                                                                            \
  void TL_K(outer_##name##_##sfx)(void *out, const void *a,                    \
                                  ptrdiff_t row_stride, size_t nrows,          \
                                  size_t ncols, void *scratch) {               \
    (void)scratch;                                                             \
    for (size_t i = 0; i < ncols; i += TL_OUTER_STRIP) {                       \
      const size_t left = ncols - i;                                           \
      outer_strip_##name##_##sfx(                                              \
          (T *)out + i, (const char *)a + i * sizeof(T), row_stride, nrows,    \
          left < TL_OUTER_STRIP ? left : TL_OUTER_STRIP);                      \
    }                                                                          \
  }                                                                            \
  /* Row by row, as the fast way cannot say which NaN was the first. */        \
  static void arg_rows_##name##_##sfx(int64_t *out, T *best, const char *a,    \
                                      ptrdiff_t row_stride, size_t nrows,      \
                                      size_t n) {                              \
    memcpy(best, a, n * sizeof(T));                                            \
    memset(out, 0, n * sizeof *out);                                           \
    for (size_t r = 1; r < nrows; r++) {                                       \
      const T *row = row_of(a, row_stride, r);                                 \
      ARG_ROW(T, row, r, ARG_STEP, beats, IS_NAN)                              \
    }                                                                          \
  }                                                                            \
  static void arg_strip_##name##_##sfx(int64_t *out, T *best, const char *a,   \
                                       ptrdiff_t row_stride, size_t nrows,     \
                                       size_t n) {                             \
    memcpy(best, a, n * sizeof(T));                                            \
    memset(out, 0, n * sizeof *out);                                           \
    size_t r = 1;                                                              \
    for (; !TL_SMALL && r + ARG_ROWS <= nrows; r += ARG_ROWS) {                \
      const T *row[ARG_ROWS];                                                  \
      for (size_t k = 0; k < ARG_ROWS; k++)                                    \
        row[k] = row_of(a, row_stride, r + k);                                 \
      TL_LOOP for (size_t i = 0; i < n; i++) {                                 \
        T x = best[i];                                                         \
        int64_t at = out[i];                                                   \
        TL_SPELL_OUT for (int k = 0; k < ARG_ROWS; k++){MOVING_STEP(           \
            x, at, row[k][i], (int64_t)r + k, beats, IS_NAN)} best[i] = x;     \
        out[i] = at;                                                           \
      }                                                                        \
    }                                                                          \
    for (; r < nrows; r++) {                                                   \
      const T *row = row_of(a, row_stride, r);                                 \
      ARG_ROW(T, row, r, MOVING_STEP, beats, IS_NAN)                           \
    }                                                                          \
    bool is_nan = false;                                                       \
    for (size_t i = 0; i < n; i++) is_nan |= IS_NAN(best[i]);                  \
    if (is_nan)                                                                \
      arg_rows_##name##_##sfx(out, best, a, row_stride, nrows, n);             \
  }                                                                            \
  void TL_K(arg##name##_outer_##sfx)(int64_t * out, void *scratch,             \
                                     const void *a, ptrdiff_t row_stride,      \
                                     size_t nrows, size_t ncols) {             \
    for (size_t i = 0; i < ncols; i += TL_OUTER_STRIP) {                       \
      const size_t left = ncols - i;                                           \
      arg_strip_##name##_##sfx(                                                \
          out + i, scratch, (const char *)a + i * sizeof(T), row_stride,       \
          nrows, left < TL_OUTER_STRIP ? left : TL_OUTER_STRIP);               \
    }                                                                          \
  }                                                                            \
  void TL_K(scan_##name##_##sfx)(void *out, const void *a, void *carry,        \
                                 size_t n) {                                   \
    T *to = out, best = *(T *)carry;                                           \
    const T *items = a;                                                        \
    for (size_t i = 0; i < n; i++)                                             \
      to[i] = best = better_##name##_##sfx(best, items[i]);                    \
    *(T *)carry = best;                                                        \
  }

EXTREMES
