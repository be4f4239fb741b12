// Reductions down columns, and sequential scans.
//
//   a group     ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
//   groups      two of one size are joined at once, as a binary counter carries
//
// All columns of a row go together, so that memory is read in order and no
// column's result depends on its neighbours.
#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"

// What is summed of an item x, whose column has the mean m: itself, or the
// square of its deviation, which of a complex one is that of its magnitude, a
// real.
#define ITEM(x, m) (x)
#define SQUARE(x, m) (((x) - (m)) * ((x) - (m)))
#define SQUARE_OF_COMPLEX(x, m) \
  (SQUARE((x).re, (m).re) + SQUARE((x).im, (m).im))

// Sums go down in strips: 8 rows by a fixed tree, then a binary counter of
// rows, so that errors stay small and columns do not depend on how many there
// are beside them.
#define STRIPS(name, T, R, OF)                                                \
  TL_INLINE void name##_join(R *into, const R *row, size_t n) {               \
    TL_LOOP for (size_t i = 0; i < n; i++) into[i] += row[i];                 \
  }                                                                           \
  TL_INLINE void name##_group(R *out, const T *mean, const void *a,           \
                              ptrdiff_t row_stride, size_t n) {               \
    const T *r0 = a, *r1 = row_of(a, row_stride, 1);                          \
    const T *r2 = row_of(a, row_stride, 2), *r3 = row_of(a, row_stride, 3);   \
    const T *r4 = row_of(a, row_stride, 4), *r5 = row_of(a, row_stride, 5);   \
    const T *r6 = row_of(a, row_stride, 6), *r7 = row_of(a, row_stride, 7);   \
    (void)mean;                                                               \
    TL_LOOP for (size_t i = 0; i < n; i++) {                                  \
      out[i] = ((OF(r0[i], mean[i]) + OF(r1[i], mean[i])) +                   \
                (OF(r2[i], mean[i]) + OF(r3[i], mean[i]))) +                  \
               ((OF(r4[i], mean[i]) + OF(r5[i], mean[i])) +                   \
                (OF(r6[i], mean[i]) + OF(r7[i], mean[i])));                   \
    }                                                                         \
  }                                                                           \
  TL_INLINE void name##_few(R *out, const T *mean, const void *a,             \
                            ptrdiff_t row_stride, size_t nrows, size_t n) {   \
    (void)mean;                                                               \
    memset(out, 0, n * sizeof(R));                                            \
    for (size_t r = 0; r < nrows; r++) {                                      \
      const T *row = row_of(a, row_stride, r);                                \
      TL_LOOP for (size_t i = 0; i < n; i++) out[i] += OF(row[i], mean[i]);   \
    }                                                                         \
  }                                                                           \
  TL_INLINE void name##_strip(R *out, const T *mean, const void *a,           \
                              ptrdiff_t row_stride, size_t nrows, size_t n,   \
                              R *counter) {                                   \
    size_t waiting = 0, groups = 0;                                           \
    for (size_t r = 0; r < nrows; r += TL_OUTER_GROUP) {                      \
      R *group = counter + waiting++ * n;                                     \
      const void *rows = row_of(a, row_stride, r);                            \
      if (nrows - r >= TL_OUTER_GROUP)                                        \
        name##_group(group, mean, rows, row_stride, n);                       \
      else                                                                    \
        name##_few(group, mean, rows, row_stride, nrows - r, n);              \
      for (size_t q = ++groups; !(q & 1); q >>= 1, waiting--)                 \
        name##_join(counter + (waiting - 2) * n, counter + (waiting - 1) * n, \
                    n);                                                       \
    }                                                                         \
    for (; waiting > 1; waiting--)                                            \
      name##_join(counter + (waiting - 2) * n, counter + (waiting - 1) * n,   \
                  n);                                                         \
    memcpy(out, counter, n * sizeof(R));                                      \
  }

// As along rows, a sum begins with 0.0, so that of -0.0 alone it is 0.0. Two
// columns are a constant: their loops are no loops then. Three and four are a
// vector, whose fourth item is the next row's first and does not count.
enum { GROUPS_DEEP = 64 };  // of a binary counter of groups

#define X(D, sfx, T, W)                                                        \
  STRIPS(sum_##sfx, T, T, ITEM)                                                \
  typedef T four_##sfx __attribute__((vector_size(4 * sizeof(T))));            \
  TL_INLINE void take_four_##sfx(four_##sfx *out, const T *a,                  \
                                 ptrdiff_t row_stride, size_t row, size_t n) { \
    const T *items = row_of(a, row_stride, row);                               \
    if (n == 3)                                                                \
      *out = (four_##sfx){items[0], items[1], items[2], 0};                    \
    else                                                                       \
      memcpy(out, items, sizeof *out);                                         \
  }                                                                            \
  TL_INLINE void add_fours_##sfx(four_##sfx *out, const T *a,                  \
                                 ptrdiff_t row_stride, size_t row,             \
                                 size_t last_n) {                              \
    four_##sfx r[TL_OUTER_GROUP];                                              \
    TL_SPELL_OUT for (size_t k = 0; k < 7; k++)                                \
        take_four_##sfx(&r[k], a, row_stride, row + k, 4);                     \
    take_four_##sfx(&r[7], a, row_stride, row + 7, last_n);                    \
    *out = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));  \
  }                                                                            \
  TL_INLINE void add_four_##sfx(T *out, const T *a, ptrdiff_t row_stride,      \
                                size_t nrows, size_t n) {                      \
    four_##sfx counter[GROUPS_DEEP], sum, row;                                 \
    size_t waiting = 0, groups = 0;                                            \
    for (size_t r = 0; r < nrows; r += TL_OUTER_GROUP) {                       \
      if (nrows - r > TL_OUTER_GROUP) {                                        \
        add_fours_##sfx(&sum, a, row_stride, r, 4);                            \
      } else if (nrows - r == TL_OUTER_GROUP) {                                \
        add_fours_##sfx(&sum, a, row_stride, r, n);                            \
      } else {                                                                 \
        take_four_##sfx(&sum, a, row_stride, r, r + 1 < nrows ? 4 : n);        \
        for (size_t k = r + 1; k < nrows; k++) {                               \
          take_four_##sfx(&row, a, row_stride, k, k + 1 < nrows ? 4 : n);      \
          sum += row;                                                          \
        }                                                                      \
      }                                                                        \
      for (size_t q = ++groups; !(q & 1); q >>= 1)                             \
        sum = counter[--waiting] + sum;                                        \
      counter[waiting++] = sum;                                                \
    }                                                                          \
    for (sum = counter[--waiting]; waiting > 0;)                               \
      sum = counter[--waiting] + sum;                                          \
    memcpy(out, &sum, n * sizeof(T));                                          \
  }                                                                            \
  static void add_rows_##sfx(T *out, const T *a, ptrdiff_t row_stride,         \
                             size_t nrows, size_t nreals, T *counter) {        \
    if (nrows == 0) {                                                          \
      memset(out, 0, nreals * sizeof(T));                                      \
      return;                                                                  \
    }                                                                          \
    const bool ahead = row_stride >= (ptrdiff_t)sizeof(T);                     \
    for (size_t i = 0; i < nreals; i += TL_OUTER_STRIP) {                      \
      size_t n = nreals - i < TL_OUTER_STRIP ? nreals - i : TL_OUTER_STRIP;    \
      if (TL_SMALL)                                                            \
        sum_##sfx##_strip(out + i, NULL, a + i, row_stride, nrows, n,          \
                          counter);                                            \
      else if (n == 2)                                                         \
        sum_##sfx##_strip(out + i, NULL, a + i, row_stride, nrows, 2,          \
                          counter);                                            \
      else if (n == 3 && ahead)                                                \
        add_four_##sfx(out + i, a + i, row_stride, nrows, 3);                  \
      else if (n == 4)                                                         \
        add_four_##sfx(out + i, a + i, row_stride, nrows, 4);                  \
      else                                                                     \
        sum_##sfx##_strip(out + i, NULL, a + i, row_stride, nrows, n,          \
                          counter);                                            \
    }                                                                          \
    TL_LOOP for (size_t i = 0; i < nreals; i++) out[i] += 0;                   \
  }                                                                            \
  void TL_K(outer_sum_##sfx)(void *out, const void *a, ptrdiff_t row_stride,   \
                             size_t nrows, size_t ncols, void *scratch) {      \
    add_rows_##sfx(out, a, row_stride, nrows, ncols, scratch);                 \
  }
TL_FLOATS(X)
#undef X

// A sum of 23 rows, of which each group below is one addition of a row:
//
//  rows 0-7     group a       counter  a
//  rows 8-15    group b       counter  a b -> (a + b)
//  rows 16-22   a few, c      counter  (a + b) c
//  end                        (a + b) + c
//
// The counter has one row for each bit of the number of groups, so that 64 are
// enough for any array. Joins depend on the number of rows alone: neither the
// columns beside nor the processor change a sum.
//
// Parts are added as reals are, so a row of complex items is one of twice as
// many reals.
void TL_K(outer_sum_complex64)(void *out, const void *a, ptrdiff_t row_stride,
                               size_t nrows, size_t ncols, void *scratch) {
  add_rows_float32(out, a, row_stride, nrows, 2 * ncols, scratch);
}
void TL_K(outer_sum_complex128)(void *out, const void *a, ptrdiff_t row_stride,
                                size_t nrows, size_t ncols, void *scratch) {
  add_rows_float64(out, a, row_stride, nrows, 2 * ncols, scratch);
}

// Squared deviations from the columns' means go down like the sums of reals.
#define SQUARES(sfx, T, R, OF)                                                \
  STRIPS(squares_##sfx, T, R, OF)                                             \
  void TL_K(outer_squares_##sfx)(void *out, const void *means, const void *a, \
                                 ptrdiff_t row_stride, size_t nrows,          \
                                 size_t ncols, void *scratch) {               \
    for (size_t i = 0; i < ncols; i += TL_OUTER_STRIP) {                      \
      const size_t left = ncols - i;                                          \
      squares_##sfx##_strip(                                                  \
          (R *)out + i, (const T *)means + i, (const T *)a + i, row_stride,   \
          nrows, left < TL_OUTER_STRIP ? left : TL_OUTER_STRIP, scratch);     \
    }                                                                         \
  }
SQUARES(float32, float, float, SQUARE)
SQUARES(float64, double, double, SQUARE)
SQUARES(complex64, tl_c64, float, SQUARE_OF_COMPLEX)
SQUARES(complex128, tl_c128, double, SQUARE_OF_COMPLEX)

// Row after row into the results, which begin as `unit`. `step` is the new
// value of a result x that meets an item y.
#define ROW_BY_ROW(name, T, R, unit, step)                                \
  void TL_K(outer_##name)(void *out, const void *a, ptrdiff_t row_stride, \
                          size_t nrows, size_t ncols, void *scratch) {    \
    (void)scratch;                                                        \
    R *results = out;                                                     \
    for (size_t i = 0; i < ncols; i++) results[i] = unit;                 \
    for (size_t r = 0; r < nrows; r++) {                                  \
      const T *row = row_of(a, row_stride, r);                            \
      TL_LOOP for (size_t i = 0; i < ncols; i++) {                        \
        const R x = results[i];                                           \
        const T y = row[i];                                               \
        results[i] = (step);                                              \
      }                                                                   \
    }                                                                     \
  }
// Each result follows from the one before, so that items are taken one by one,
// in order; [carry] is the last result of the piece before.
#define SCAN(name, T, R, step)                                              \
  void TL_K(scan_##name)(void *out, const void *a, void *carry, size_t n) { \
    R *to = out, x = *(R *)carry;                                           \
    const T *items = a;                                                     \
    for (size_t i = 0; i < n; i++) {                                        \
      const T y = items[i];                                                 \
      to[i] = x = (step);                                                   \
    }                                                                       \
    *(R *)carry = x;                                                        \
  }

// Integers are widened to 64 bits with their sign and wrap there; unsigned, as
// a wrap of signed ones is undefined in C.
#define INTEGER_ROWS(sfx, T, Wide)                             \
  ROW_BY_ROW(sum_##sfx, T, uint64_t, 0, x + (uint64_t)(Wide)y) \
  ROW_BY_ROW(prod_##sfx, T, uint64_t, 1, x *(uint64_t)(Wide)y) \
  SCAN(sum_##sfx, T, uint64_t, x + (uint64_t)(Wide)y)          \
  SCAN(prod_##sfx, T, uint64_t, x *(uint64_t)(Wide)y)
#define X(D, sfx, T, W) INTEGER_ROWS(sfx, T, int64_t)
TL_SIGNED(X)
#undef X
#define X(D, sfx, T, W) INTEGER_ROWS(sfx, T, uint64_t)
TL_UNSIGNED(X)
#undef X

// NaN counts as true, since it is not 0.
#define TRUTH_ROWS(sfx, T, is_true)                              \
  ROW_BY_ROW(any_##sfx, T, uint8_t, 0, (uint8_t)(x | (is_true))) \
  ROW_BY_ROW(all_##sfx, T, uint8_t, 1, (uint8_t)(x & (is_true))) \
  ROW_BY_ROW(count_##sfx, T, int64_t, 0, x + (is_true))
#define X(D, sfx, T, W) TRUTH_ROWS(sfx, T, (y != 0))
TL_UNSIGNED(X)
TL_FLOATS(X)
#undef X
#define X(D, sfx, T, W) TRUTH_ROWS(sfx, T, ((y.re != 0) | (y.im != 0)))
TL_COMPLEXES(X)
#undef X

#define X(D, sfx, T, W)                 \
  ROW_BY_ROW(prod_##sfx, T, T, 1, x *y) \
  SCAN(sum_##sfx, T, T, x + y)          \
  SCAN(prod_##sfx, T, T, x *y)
TL_FLOATS(X)
#undef X

// Products of complex items as by hand, each product rounded once
// (TL_DISJOINT): C's own looks for infinities, and machines with fused
// operations would give other bits.
#define PAIR(T, real, imaginary)    \
  (T) {                             \
    .re = (real), .im = (imaginary) \
  }
#define X(D, sfx, T, W)                                            \
  TL_INLINE T product_##sfx(T x, T y) {                            \
    W re = x.re * y.re, im = x.re * y.im;                          \
    TL_DISJOINT(re);                                               \
    TL_DISJOINT(im);                                               \
    return PAIR(T, re - x.im * y.im, im + x.im * y.re);            \
  }                                                                \
  ROW_BY_ROW(prod_##sfx, T, T, PAIR(T, 1, 0), product_##sfx(x, y)) \
  SCAN(sum_##sfx, T, T, PAIR(T, x.re + y.re, x.im + y.im))         \
  SCAN(prod_##sfx, T, T, product_##sfx(x, y))
TL_COMPLEXES(X)
#undef X
