// Reductions, whole, in pieces and down columns; extremes' places; scans.
#include <stdlib.h>

#include "tests/unit/kernel_items.h"

enum { LONGEST = 5000, ROOM = LONGEST * 16 };

static _Alignas(64) unsigned char a[ROOM], scratch[1 << 20];

#define FOR_TABLES(table)                        \
  const tl_kernel_table *tables[3], *table;      \
  const int table_count = kernel_tables(tables); \
  for (int t = 0; table = tables[t < table_count ? t : 0], t < table_count; t++)

static item fold_all(const tl_kernel_table *table, tl_fold fold, tl_dtype dtype,
                     const void *items, size_t n) {
  tl_fold_state state;
  item x = {{0}};
  tl_fold_begin(&state);
  table->fold_feed[fold][dtype](&state, items, n);
  table->fold_end[fold][dtype](&state, &x);
  return x;
}

// The same in pieces of random length.
static item fold_pieces(const tl_kernel_table *table, tl_fold fold,
                        tl_dtype dtype, const unsigned char *items, size_t n) {
  tl_fold_state state;
  item x = {{0}};
  tl_fold_begin(&state);
  while (n > 0) {
    size_t piece = random_bits() % 700;
    if (piece > n)
      piece = n;
    table->fold_feed[fold][dtype](&state, items, piece);
    items += piece * tl_itemsize(dtype);
    n -= piece;
  }
  table->fold_end[fold][dtype](&state, &x);
  return x;
}

// The same as threads do it: chunks of two leaves, merged in order.
static item fold_chunks(const tl_kernel_table *table, tl_fold fold,
                        tl_dtype dtype, const unsigned char *items, size_t n) {
  tl_fold_state state, next;
  item x = {{0}};
  tl_fold_begin(&state);
  while (n > 0) {
    size_t chunk = n < 2 * TL_FOLD_LEAF ? n : 2 * TL_FOLD_LEAF;
    tl_fold_begin(&next);
    table->fold_feed[fold][dtype](&next, items, chunk);
    table->fold_merge[fold][dtype](&state, &next);
    items += chunk * tl_itemsize(dtype);
    n -= chunk;
  }
  table->fold_end[fold][dtype](&state, &x);
  return x;
}

// The documented order of sums, told recursively: leaves of 1024 in lanes of
// 32, merged like a binary counter, that is: the largest power of two of leaves
// that leaves something on the right is the left half.
static double lane_sum(const double *x, size_t n) {
  double lanes[32] = {0};
  for (size_t i = 0; i < n; i++) lanes[i % 32] += x[i];
  for (size_t half = 16; half > 0; half /= 2)
    for (size_t k = 0; k < half; k++) lanes[k] += lanes[k + half];
  return lanes[0];
}

static double tree_sum(const double *x, size_t n) {
  if (n <= 1024)
    return lane_sum(x, n);
  size_t left = 1024;
  while (2 * left < n) left *= 2;
  return tree_sum(x, left) + tree_sum(x + left, n - left);
}

static void sums_have_their_order(void **state) {
  (void)state;
  static double x[LONGEST];
  FOR_TABLES(table) {
    for (int round = 0; round < 100; round++) {
      size_t n = round < 10 ? (size_t)round * 512 : random_bits() % LONGEST;
      for (size_t i = 0; i < n; i++) x[i] = exp(random_unit() * 20 - 10);
      double expected = tree_sum(x, n);
      assert_true(fold_all(table, TL_FOLD_SUM, TL_FLOAT64, x, n).f64 ==
                  expected);
      assert_true(
          fold_pieces(table, TL_FOLD_SUM, TL_FLOAT64, (unsigned char *)x, n)
              .f64 == expected);
      assert_true(
          fold_chunks(table, TL_FOLD_SUM, TL_FLOAT64, (unsigned char *)x, n)
              .f64 == expected);
    }
  }
}

// Reals of very different sizes; the first [minus_zeros] are -0.0.
static void fill_reals(item *items, tl_dtype dtype, size_t n,
                       size_t minus_zeros) {
  for (size_t i = 0; i < n; i++) {
    const uint64_t kind = random_bits() % 64;
    const double x = i < minus_zeros ? -0.0
                     : kind == 0     ? INFINITY
                     : kind == 1     ? -0.0
                     : kind == 2     ? 5e-324
                                     : exp(random_unit() * 40 - 20);
    if (dtype == TL_FLOAT32)
      ((float *)(void *)items)[i] = (float)x;
    else
      ((double *)(void *)items)[i] = x;
  }
}

// Many short rows at once have the bits of each row alone.
static void sums_of_short_rows(void **state) {
  (void)state;
  enum { MOST = 40 };
  static item items[MOST * TL_SHORT_ROW], sums[MOST];
  const tl_dtype dtypes[] = {TL_FLOAT32, TL_FLOAT64};
  FOR_TABLES(table) {
    for (int d = 0; d < 2; d++) {
      const tl_dtype dtype = dtypes[d];
      const size_t size = tl_itemsize(dtype);
      for (size_t n = 1; n <= TL_SHORT_ROW; n++) {
        const size_t nrows = 1 + random_bits() % MOST;
        fill_reals(items, dtype, nrows * n, 4 * n);
        table->sum_rows[dtype](sums, items, nrows, n);
        for (size_t r = 0; r < nrows; r++) {
          const item alone = fold_all(table, TL_FOLD_SUM, dtype,
                                      (char *)items + r * n * size, n);
          assert_memory_equal((char *)sums + r * size, &alone, size);
        }
      }
    }
  }
}

static bool is_true(tl_dtype dtype, item x) {
  tl_c128 z = complex_of(dtype, x);
  return z.re != 0 || z.im != 0;
}

// Plain folds: exact for integers, within slack for floats.
static item reference_fold(tl_fold fold, tl_dtype dtype, const void *items,
                           size_t n) {
  const tl_dtype result = tl_fold_result(fold, dtype);
  item out = {{0}};
  uint64_t whole = fold == TL_FOLD_PROD || fold == TL_FOLD_ALL;
  tl_c128 real = {fold == TL_FOLD_PROD, 0};
  for (size_t i = 0; i < n; i++) {
    item x = load_item(dtype, items, i);
    tl_c128 z = complex_of(dtype, x);
    uint64_t w = tl_dtype_is_integer(dtype) || dtype == TL_BOOL
                     ? (uint64_t)whole_of(dtype, x)
                     : 0;
    switch ((int)fold) {
      case TL_FOLD_SUM:
        whole += w;
        real.re += z.re;
        real.im += z.im;
        break;
      case TL_FOLD_PROD:
        whole *= w;
        real = (tl_c128){real.re * z.re - real.im * z.im,
                         real.re * z.im + real.im * z.re};
        break;
      case TL_FOLD_MIN:
      case TL_FOLD_MAX: {
        bool is_unsigned = tl_dtypes[dtype].kind == 'U';
        bool less = is_unsigned ? w < whole : (int64_t)w < (int64_t)whole;
        bool more = is_unsigned ? w > whole : (int64_t)w > (int64_t)whole;
        if (i == 0 || (fold == TL_FOLD_MIN ? less : more))
          whole = w;
        less = z.re<real.re, more = z.re> real.re;
        if (i == 0 || isnan(z.re) || (fold == TL_FOLD_MIN ? less : more))
          if (i == 0 || !isnan(real.re))
            real = z;
        break;
      }
      case TL_FOLD_ANY:
        whole |= is_true(dtype, x);
        break;
      case TL_FOLD_ALL:
        whole &= is_true(dtype, x);
        break;
      default:
        whole += is_true(dtype, x);
    }
  }
  out.u64 = whole;
  if (result == TL_FLOAT32)
    out.f32 = (float)real.re;
  if (result == TL_FLOAT64)
    out.f64 = real.re;
  if (result == TL_COMPLEX64)
    out.c64 = (tl_c64){(float)real.re, (float)real.im};
  if (result == TL_COMPLEX128)
    out.c128 = real;
  return out;
}

// Values whose sums and products are exact in any order.
static void fill_small(tl_dtype dtype, tl_fold fold, void *items, size_t n) {
  if (fold >= TL_FOLD_MIN || tl_dtype_is_integer(dtype) || dtype == TL_BOOL) {
    fill_random(dtype, items, n);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    bool rare = random_bits() % 64 == 0;
    double re = fold == TL_FOLD_SUM ? (double)(random_bits() % 64) - 32
                : rare              ? 2
                                    : 1;
    double im = fold == TL_FOLD_SUM ? (double)(random_bits() % 9) : 0;
    if (fold == TL_FOLD_PROD && random_bits() % 2)
      re = -re;
    if (fold == TL_FOLD_PROD && random_bits() % 4 == 0 && re * re == 1)
      im = re, re = 0;
    item x = {{0}};
    if (dtype == TL_FLOAT32)
      x.f32 = (float)(re == 0 ? 1 : re);
    if (dtype == TL_FLOAT64)
      x.f64 = re == 0 ? 1 : re;
    if (dtype == TL_COMPLEX64)
      x.c64 = (tl_c64){(float)re, (float)im};
    if (dtype == TL_COMPLEX128)
      x.c128 = (tl_c128){re, im};
    store_item(dtype, items, i, x);
  }
}

static void check_fold(const tl_kernel_table *table, tl_fold fold,
                       tl_dtype dtype, size_t n) {
  const tl_dtype result = tl_fold_result(fold, dtype);
  if ((fold == TL_FOLD_MIN || fold == TL_FOLD_MAX) && n == 0)
    return;
  if (fold == TL_FOLD_PROD && tl_itemsize(dtype) % 8 && n > 1500)
    n = 1500;
  fill_small(dtype, fold, a, n);
  if (fold == TL_FOLD_ALL && random_bits() % 2 && dtype != TL_BOOL)
    for (size_t i = 0; i < n; i++)
      if (!is_true(dtype, load_item(dtype, a, i)))
        a[i * tl_itemsize(dtype)] = 1;
  item expected = reference_fold(fold, dtype, a, n);
  const item got[] = {fold_all(table, fold, dtype, a, n),
                      fold_pieces(table, fold, dtype, a, n),
                      fold_chunks(table, fold, dtype, a, n)};
  for (int way = 0; way < 3; way++)
    if (!same_items(result, got[way], expected, 1e-300))
      fail_msg("fold %d of %zu %s, %s, way %d: got %.17g for %.17g", fold, n,
               tl_dtypes[dtype].name, table->name, way,
               complex_of(result, got[way]).re,
               complex_of(result, expected).re);
}

static void every_fold(void **state) {
  (void)state;
  FOR_TABLES(table) {
    for (tl_fold fold = 0; fold < TL_FOLD_KINDS; fold++) {
      for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++) {
        // float16 is folded as float32.
        if (dtype == TL_FLOAT16 ||
            tl_fold_result(fold, dtype) == TL_DTYPE_COUNT) {
          assert_null(table->fold_feed[fold][dtype]);
          continue;
        }
        for (size_t n = 0; n <= 70; n++) check_fold(table, fold, dtype, n);
        check_fold(table, fold, dtype, 1024);
        check_fold(table, fold, dtype, 4999);
      }
    }
  }
}

static void check_outer(const tl_kernel_table *table, tl_fold fold,
                        tl_dtype dtype, size_t nrows, size_t ncols) {
  const tl_dtype result = tl_fold_result(fold, dtype);
  const size_t itemsize = tl_itemsize(dtype), gap = 2;
  unsigned char column[200 * 16], out[80 * 16];
  fill_small(dtype, fold, a, nrows * (ncols + gap));
  assert_true(tl_fold_outer_scratch(fold, dtype, nrows, ncols) <=
              sizeof scratch);
  memset(out, 0xA5, sizeof out);
  table->fold_outer[fold][dtype](out, a, (ptrdiff_t)((ncols + gap) * itemsize),
                                 nrows, ncols, scratch);
  for (size_t c = 0; c < ncols; c++) {
    for (size_t r = 0; r < nrows; r++)
      store_item(dtype, column, r, load_item(dtype, a, r * (ncols + gap) + c));
    item expected = reference_fold(fold, dtype, column, nrows);
    if (!same_items(result, load_item(result, out, c), expected, 1e-300))
      fail_msg("fold %d of %zu rows of %zu %s, %s", fold, nrows, ncols,
               tl_dtypes[dtype].name, table->name);
  }
  assert_int_equal(out[ncols * tl_itemsize(result)], 0xA5);
}

static void columns(void **state) {
  (void)state;
  FOR_TABLES(table) {
    for (tl_fold fold = 0; fold < TL_FOLD_KINDS; fold++) {
      for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++) {
        if (table->fold_outer[fold][dtype] == NULL)
          continue;
        for (size_t nrows = fold == TL_FOLD_MIN || fold == TL_FOLD_MAX;
             nrows <= 40; nrows++)
          check_outer(table, fold, dtype, nrows, 1 + random_bits() % 70);
        check_outer(table, fold, dtype, 200, 20);
      }
    }
  }
}

// Strips do not matter: a column's sum is the same alone and beside others.
static void wide_columns(void **state) {
  (void)state;
  enum { NROWS = 37, NCOLS = 5500 };  // a strip and a part
  static double x[NROWS * NCOLS], sums[NCOLS];
  for (size_t i = 0; i < NROWS * NCOLS; i++) x[i] = random_unit();
  FOR_TABLES(table) {
    tl_fold_outer *outer = table->fold_outer[TL_FOLD_SUM][TL_FLOAT64];
    assert_true(tl_fold_outer_scratch(TL_FOLD_SUM, TL_FLOAT64, NROWS, NCOLS) <=
                sizeof scratch);
    outer(sums, x, NCOLS * sizeof *x, NROWS, NCOLS, scratch);
    for (size_t c = 0; c < NCOLS; c += 7) {
      double alone;
      outer(&alone, x + c, NCOLS * sizeof *x, NROWS, 1, scratch);
      assert_true(alone == sums[c]);
    }
  }
}

// Few columns are sums of vectors that reach into the next row, but never
// behind the last one.
static void few_columns(void **state) {
  (void)state;
  enum { MOST = 300 };
  FOR_TABLES(table) {
    tl_fold_outer *outer = table->fold_outer[TL_FOLD_SUM][TL_FLOAT64];
    for (size_t nrows = 1; nrows <= MOST; nrows += nrows < 40 ? 1 : 13) {
      for (size_t ncols = 2; ncols <= 5; ncols++) {
        const size_t n = nrows * ncols;
        double *x = malloc(n * sizeof *x), sums[6], alone;
        for (size_t i = 0; i < n; i++) x[i] = random_unit();
        const ptrdiff_t row = (ptrdiff_t)(ncols * sizeof *x);
        const ptrdiff_t strides[] = {row, -row, 0, sizeof *x};
        for (size_t k = 0; k < sizeof strides / sizeof *strides; k++) {
          const double *from = k == 1 ? x + n - ncols : x;
          sums[ncols] = 7;
          outer(sums, from, strides[k], nrows, ncols, scratch);
          for (size_t c = 0; c < ncols; c++) {
            outer(&alone, from + c, strides[k], nrows, 1, scratch);
            assert_true(alone == sums[c]);
          }
          assert_true(sums[ncols] == 7);
        }
        free(x);
      }
    }
  }
}

static size_t reference_place(bool largest, tl_dtype dtype, const void *items,
                              size_t n) {
  size_t at = 0;
  for (size_t i = 1; i < n; i++) {
    item x = load_item(dtype, items, i), y = load_item(dtype, items, at);
    bool better;
    if (tl_dtypes[dtype].kind == 'F') {
      double p = real_of(dtype, x), q = real_of(dtype, y);
      if (isnan(q))
        break;
      better = isnan(p) || (largest ? p > q : p < q);
    } else if (tl_dtypes[dtype].kind == 'U') {
      uint64_t p = (uint64_t)whole_of(dtype, x);
      uint64_t q = (uint64_t)whole_of(dtype, y);
      better = largest ? p > q : p < q;
    } else {
      int64_t p = whole_of(dtype, x), q = whole_of(dtype, y);
      better = largest ? p > q : p < q;
    }
    if (better)
      at = i;
  }
  return at;
}

static void places(void **state) {
  (void)state;
  FOR_TABLES(table) {
    for (tl_dtype dtype = 0; dtype <= TL_FLOAT64; dtype++) {
      if (table->argmin[dtype] == NULL)
        continue;  // float16, which is searched as float32
      for (size_t n = 1; n <= 2000; n += n < 70 ? 1 : 193) {
        fill_random(dtype, a, n);
        assert_int_equal(table->argmin[dtype](a, n, NULL),
                         reference_place(false, dtype, a, n));
        assert_int_equal(table->argmax[dtype](a, n, NULL),
                         reference_place(true, dtype, a, n));
      }
      for (size_t nrows = 1; nrows < 20; nrows++) {
        const size_t ncols = 1 + random_bits() % 40;
        const size_t itemsize = tl_itemsize(dtype);
        int64_t lows[40], highs[40];
        unsigned char column[20 * 8];
        fill_random(dtype, a, nrows * ncols);
        table->argmin_outer[dtype](lows, scratch, a,
                                   (ptrdiff_t)(ncols * itemsize), nrows, ncols);
        table->argmax_outer[dtype](highs, scratch, a,
                                   (ptrdiff_t)(ncols * itemsize), nrows, ncols);
        for (size_t c = 0; c < ncols; c++) {
          for (size_t r = 0; r < nrows; r++)
            store_item(dtype, column, r, load_item(dtype, a, r * ncols + c));
          assert_int_equal(lows[c],
                           reference_place(false, dtype, column, nrows));
          assert_int_equal(highs[c],
                           reference_place(true, dtype, column, nrows));
        }
      }
    }
  }
}

// Rows of several blocks: the first of equal items, and the first NaN, wherever
// they are.
static void places_in_long_rows(void **state) {
  (void)state;
  enum { N = 3 * 32 * 255 + 17, PLACES = 6 };
  static const size_t place[PLACES] = {0, 31, 32 * 254, 32 * 255, 17000, N - 1};
  static double x[N];
  static int8_t y[N];
  FOR_TABLES(table) {
    for (int first = 0; first < PLACES; first++)
      for (int second = first; second < PLACES; second++) {
        memset(x, 0, sizeof x);
        memset(y, 0, sizeof y);
        x[place[second]] = x[place[first]] = 2;
        y[place[second]] = y[place[first]] = 2;
        assert_int_equal(table->argmax[TL_FLOAT64](x, N, NULL), place[first]);
        assert_int_equal(table->argmax[TL_INT8](y, N, NULL), place[first]);
        x[place[second]] = NAN;
        assert_int_equal(table->argmax[TL_FLOAT64](x, N, NULL), place[second]);
        x[place[first]] = NAN;
        assert_int_equal(table->argmin[TL_FLOAT64](x, N, NULL), place[first]);
      }
  }
}

// Infinities of both signs add up to a NaN, which is none of the items.
static void infinities(void **state) {
  (void)state;
  enum { N = 300 };
  double x[N], most, least;
  FOR_TABLES(table) {
    for (size_t n = 2; n <= N; n += 7) {
      for (size_t i = 0; i < N; i++) x[i] = (double)i;
      x[n - 1] = INFINITY;
      x[n / 3] = -INFINITY;
      most = fold_all(table, TL_FOLD_MAX, TL_FLOAT64, x, n).f64;
      least = fold_all(table, TL_FOLD_MIN, TL_FLOAT64, x, n).f64;
      assert_true(most == INFINITY && least == -INFINITY);
      x[n / 2] = NAN;
      most = fold_all(table, TL_FOLD_MAX, TL_FLOAT64, x, n).f64;
      least = fold_all(table, TL_FOLD_MIN, TL_FLOAT64, x, n).f64;
      assert_true(isnan(most) && isnan(least));
    }
  }
}

static void scans(void **state) {
  (void)state;
  static unsigned char out[200 * 16];
  FOR_TABLES(table) {
    for (tl_fold fold = TL_FOLD_SUM; fold <= TL_FOLD_MAX; fold++) {
      for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++) {
        const tl_dtype result = tl_fold_result(fold, dtype);
        if (table->scan[fold][dtype] == NULL)
          continue;
        const size_t n = 120, cut = random_bits() % n;
        item carry = {{0}};
        fill_small(dtype, fold, a, n);
        if (fold <= TL_FOLD_PROD)
          carry = reference_fold(fold, dtype, a, 0);
        else
          carry = load_item(dtype, a, 0);
        tl_scan *scan = table->scan[fold][dtype];
        scan(out, a, &carry, cut);
        scan(out + cut * tl_itemsize(result), a + cut * tl_itemsize(dtype),
             &carry, n - cut);
        for (size_t i = 0; i < n; i++)
          assert_true(same_items(result, load_item(result, out, i),
                                 reference_fold(fold, dtype, a, i + 1),
                                 1e-300));
      }
    }
  }
}

static void deviations(void **state) {
  (void)state;
  FOR_TABLES(table) {
    const double x[] = {1, 2, 4}, mean = 2;
    const tl_c64 z[] = {{1, 2}, {4, 6}}, middle = {1, 2};
    double d[3];
    float f[2];
    table->square_deviation[TL_FLOAT64](d, x, &mean, 3);
    assert_true(d[0] == 1 && d[1] == 0 && d[2] == 4);
    table->square_deviation[TL_COMPLEX64](f, z, &middle, 2);
    assert_true(f[0] == 0 && f[1] == 25);
  }
}

// Squares down columns are summed like an array of them.
static void deviations_of_columns(void **state) {
  (void)state;
  enum { NROWS = 45, NCOLS = 1100 };
  static double x[NROWS * NCOLS], squares[NROWS * NCOLS], mean[NCOLS];
  static double sums[NCOLS], expected[NCOLS];
  static _Alignas(64) double counter[8 * NCOLS];
  for (size_t i = 0; i < NROWS * NCOLS; i++)
    x[i] = (double)(int64_t)random_bits() / 1e18;
  FOR_TABLES(table) {
    for (size_t nrows = 1; nrows <= NROWS; nrows += nrows < 20 ? 1 : 5) {
      const size_t ncols = nrows % 3 == 0 ? NCOLS : 1 + random_bits() % 90;
      const ptrdiff_t row = (ptrdiff_t)(ncols * sizeof(double));
      assert_true(tl_fold_outer_scratch(TL_FOLD_SUM, TL_FLOAT64, nrows,
                                        ncols) <= sizeof counter);
      for (size_t c = 0; c < ncols; c++) mean[c] = x[NROWS * NCOLS - 1 - c];
      for (size_t i = 0; i < nrows * ncols; i++) {
        double d = x[i] - mean[i % ncols];
        squares[i] = d * d;
      }
      table->fold_outer[TL_FOLD_SUM][TL_FLOAT64](expected, squares, row, nrows,
                                                 ncols, counter);
      table->outer_squares[TL_FLOAT64](sums, mean, x, row, nrows, ncols,
                                       counter);
      assert_memory_equal(sums, expected, ncols * sizeof *sums);
      if (ncols % 2 != 0)
        continue;
      // The same numbers as complex ones: |d|^2 is the sum of two squares.
      for (size_t i = 0; i < nrows * ncols / 2; i++)
        squares[i] = (x[2 * i] - mean[2 * i % ncols]) *
                         (x[2 * i] - mean[2 * i % ncols]) +
                     (x[2 * i + 1] - mean[2 * i % ncols + 1]) *
                         (x[2 * i + 1] - mean[2 * i % ncols + 1]);
      table->fold_outer[TL_FOLD_SUM][TL_FLOAT64](expected, squares, row / 2,
                                                 nrows, ncols / 2, counter);
      table->outer_squares[TL_COMPLEX128](sums, mean, x, row, nrows, ncols / 2,
                                          counter);
      assert_memory_equal(sums, expected, ncols / 2 * sizeof *sums);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_have_their_order),
      cmocka_unit_test(sums_of_short_rows),
      cmocka_unit_test(every_fold),
      cmocka_unit_test(columns),
      cmocka_unit_test(wide_columns),
      cmocka_unit_test(few_columns),
      cmocka_unit_test(places),
      cmocka_unit_test(places_in_long_rows),
      cmocka_unit_test(infinities),
      cmocka_unit_test(scans),
      cmocka_unit_test(deviations),
      cmocka_unit_test(deviations_of_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
