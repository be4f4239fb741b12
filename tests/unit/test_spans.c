// Reductions of rows of different lengths, many at a time: each has the bits
// that the row alone has, whatever part of the items is at hand and wherever
// what may be read ends.
#include <stdlib.h>

#include "tests/unit/kernel_items.h"

enum { ROWS = 60, LONG = 1100, MOST = ROWS * (LONG + 1) };

#define FOR_TABLES(table)                        \
  const tl_kernel_table *tables[3], *table;      \
  const int table_count = kernel_tables(tables); \
  for (int t = 0; table = tables[t < table_count ? t : 0], t < table_count; t++)

// Equals, both zeros, both infinities; NaN of two kinds where there may be any.
static double special(uint64_t nans) {
  const double values[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, 2, 3};
  const uint64_t kind = random_bits() % 64;
  return kind < nans ? (kind % 2 ? -NAN : NAN) : values[kind % 8];
}

static void fill(void *items, tl_dtype dtype, size_t n) {
  const uint64_t kind = random_bits() % 4, nans = random_bits() % 3 * 2;
  for (size_t i = 0; i < n; i++) {
    const double x = kind == 0   ? special(nans)
                     : kind == 1 ? -0.0
                                 : exp(random_unit() * 40 - 20);
    const uint64_t whole = kind == 0   ? random_bits() % 4 - 2
                           : kind == 1 ? (uint64_t)INT64_MIN
                                       : random_bits();
    if (dtype == TL_FLOAT32)
      ((float *)items)[i] = (float)x;
    else if (dtype == TL_FLOAT64)
      ((double *)items)[i] = x;
    else if (dtype == TL_BOOL)
      ((uint8_t *)items)[i] = (uint8_t)(kind == 0 ? whole & 1 : kind == 1);
    else
      ((uint64_t *)items)[i] = whole;
  }
}

typedef struct rows {
  size_t count;
  int64_t at[ROWS + 1], first;
  char *items;  // those from `first` on; sanitizers see their end
} rows;

static void make_rows(rows *r, tl_dtype dtype, bool may_be_empty, int turn) {
  const size_t longest[] = {1, 8, 16, 24, 31, 33, 40, LONG};
  r->count = random_bits() % (ROWS + 1);
  r->at[0] = (int64_t)(random_bits() % 100);
  r->first = r->at[0] - (int64_t)(random_bits() % 2);
  for (size_t i = 0; i < r->count; i++) {
    const size_t most = longest[random_bits() % (1 + (unsigned)turn % 8)];
    r->at[i + 1] = r->at[i] + (int64_t)(random_bits() % (most + may_be_empty));
    r->at[i + 1] += !may_be_empty;
  }
  const size_t n = (size_t)(r->at[r->count] - r->first);
  r->items = malloc(n * tl_itemsize(dtype) + 1);
  assert_non_null(r->items);
  fill(r->items, dtype, n);
}

static const char *row_of(const rows *r, size_t i, tl_dtype dtype) {
  return r->items + (size_t)(r->at[i] - r->first) * tl_itemsize(dtype);
}

// Both NaN, of which arithmetic leaves open whose bits they have.
static bool is_nan(tl_dtype dtype, tl_fold fold, const void *x, const void *y) {
  if (fold != TL_FOLD_SUM && fold != TL_FOLD_PROD)
    return false;
  item a, b;
  memcpy(&a, x, tl_itemsize(dtype));
  memcpy(&b, y, tl_itemsize(dtype));
  return dtype == TL_FLOAT32   ? isnan(a.f32) && isnan(b.f32)
         : dtype == TL_FLOAT64 ? isnan(a.f64) && isnan(b.f64)
                               : false;
}

static void check_fold(const tl_kernel_table *table, tl_fold fold,
                       tl_dtype dtype, int turn) {
  static item out[ROWS];
  const bool extreme = fold == TL_FOLD_MIN || fold == TL_FOLD_MAX;
  const size_t size = tl_itemsize(tl_fold_result(fold, dtype));
  rows r;
  make_rows(&r, dtype, !extreme, turn);
  table->fold_segments[fold][dtype](out, r.items, r.first, r.at[r.count], r.at,
                                    r.count);
  for (size_t i = 0; i < r.count; i++) {
    tl_fold_state state;
    item alone = {{0}};
    tl_fold_begin(&state);
    table->fold_feed[fold][dtype](&state, row_of(&r, i, dtype),
                                  (size_t)(r.at[i + 1] - r.at[i]));
    table->fold_end[fold][dtype](&state, &alone);
    if (!is_nan(dtype, fold, &alone, (char *)out + i * size))
      assert_memory_equal((char *)out + i * size, &alone, size);
  }
  free(r.items);
}

static void folds(void **state) {
  (void)state;
  FOR_TABLES(table) {
    int kernels = 0;
    for (int fold = 0; fold < TL_FOLD_KINDS; fold++) {
      for (int dtype = 0; dtype < TL_KERNEL_DTYPES; dtype++) {
        const bool is_one = table->fold_segments[fold][dtype] != NULL;
        for (int turn = 0; is_one && turn < 200; turn++)
          check_fold(table, (tl_fold)fold, (tl_dtype)dtype, turn);
        kernels += is_one;
      }
    }
    assert_true(kernels >= 16);
  }
}

static void check_places(tl_fold_segments *spans, tl_arg_fold *alone,
                         tl_dtype dtype, int turn) {
  static int64_t out[ROWS];
  rows r;
  make_rows(&r, dtype, false, turn);
  spans(out, r.items, r.first, r.at[r.count], r.at, r.count);
  for (size_t i = 0; i < r.count; i++) {
    assert_int_equal(out[i], alone(row_of(&r, i, dtype),
                                   (size_t)(r.at[i + 1] - r.at[i]), NULL));
  }
  free(r.items);
}

static void places(void **state) {
  (void)state;
  FOR_TABLES(table) {
    int kernels = 0;
    for (int d = 0; d < TL_KERNEL_DTYPES; d++) {
      tl_fold_segments *least = table->argmin_segments[d];
      tl_fold_segments *most = table->argmax_segments[d];
      for (int turn = 0; least != NULL && turn < 400; turn++) {
        check_places(least, table->argmin[d], (tl_dtype)d, turn);
        check_places(most, table->argmax[d], (tl_dtype)d, turn);
      }
      kernels += least != NULL;
    }
    assert_true(kernels >= 3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(folds),
                                     cmocka_unit_test(places)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
