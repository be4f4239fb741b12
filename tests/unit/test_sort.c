// Sorting, searching, runs of equal items, and matrix products.
#include "tests/unit/kernel_items.h"

enum { LONGEST = 4000, ROOM = LONGEST * 16 };

static _Alignas(64) unsigned char a[ROOM], sorted[ROOM], scratch[1 << 22];
static int64_t order[LONGEST];

static int compare_reals(double x, double y) {
  if (isnan(x) || isnan(y))
    return isnan(x) - isnan(y);
  return (x > y) - (x < y);
}

// By value, NaN last; descending turns all but that.
static int compare(tl_dtype dtype, item x, item y, bool descending) {
  int sign = descending ? -1 : 1;
  if (tl_dtypes[dtype].kind == 'F' || tl_dtype_is_complex(dtype)) {
    tl_c128 p = complex_of(dtype, x), q = complex_of(dtype, y);
    int by = compare_reals(p.re, q.re);
    if (by != 0)
      return isnan(p.re) || isnan(q.re) ? by : sign * by;
    by = compare_reals(p.im, q.im);
    return isnan(p.im) || isnan(q.im) ? by : sign * by;
  }
  if (tl_dtypes[dtype].kind == 'U') {
    uint64_t p = (uint64_t)whole_of(dtype, x), q = (uint64_t)whole_of(dtype, y);
    return sign * ((p > q) - (p < q));
  }
  int64_t p = whole_of(dtype, x), q = whole_of(dtype, y);
  return sign * ((p > q) - (p < q));
}

// Different distributions take different ways through the radix sorts.
static void fill_kind(tl_dtype dtype, size_t n, int kind) {
  fill_random(dtype, a, n);
  for (size_t i = 0; i < n; i++) {
    item x = {{0}};
    double value;
    switch (kind) {
      case 1:  // a narrow range
        value = (double)(random_bits() % 50);
        break;
      case 2:  // close together: the upper bits are all equal
        value = 1 + random_unit() * 1e-9;
        break;
      case 3:  // spread over the unit interval
        value = random_unit();
        break;
      case 4:  // two clusters
        value = (random_bits() & 1 ? 1e9 : 1) + random_unit() * 1e-6;
        break;
      case 5:  // already in order
        value = (double)i;
        break;
      case 6:  // around zero, within 32 bits and beyond
        value = (random_unit() - 0.5) * (n % 2 ? 1e-6 : 1e4);
        break;
      case 7:  // many of a few wide numbers
        value = (double)(random_bits() % 5) / 3 - 0.5;
        break;
      default:
        return;
    }
    if (dtype == TL_FLOAT16)
      x.u16 = tl_half_round((float)value);
    if (dtype == TL_FLOAT32)
      x.f32 = (float)value;
    if (dtype == TL_FLOAT64)
      x.f64 = value;
    if (dtype == TL_COMPLEX64)
      x.c64 = (tl_c64){(float)value, 1};
    if (dtype == TL_COMPLEX128)
      x.c128 = (tl_c128){value, 1};
    if (dtype == TL_BOOL)
      x.u8 = (int64_t)(value * 1e9) & 1;
    if (tl_dtype_is_integer(dtype))
      x.i64 = (int64_t)(value * 1e9);
    store_item(dtype, a, i, x);
  }
}

static void check_argsort(tl_dtype dtype, size_t n, bool descending, int kind) {
  static bool seen[LONGEST];
  memset(seen, 0, sizeof seen);
  assert_true(tl_argsort_scratch(dtype, n, false) <= sizeof scratch);
  tl_argsort(dtype, order, a, n, descending, scratch, NULL);
  for (size_t i = 0; i < n; i++) {
    assert_in_range(order[i], 0, n - 1);
    assert_false(seen[order[i]]);
    seen[order[i]] = true;
    if (i == 0)
      continue;
    int by = compare(dtype, load_item(dtype, a, (size_t)order[i - 1]),
                     load_item(dtype, a, (size_t)order[i]), descending);
    if (by > 0 || (by == 0 && order[i - 1] > order[i]))
      fail_msg("argsort of %zu %s, kind %d, at %zu", n, tl_dtypes[dtype].name,
               kind, i);
  }
  if (tl_itemsize(dtype) != sizeof(int64_t) || n == 0)
    return;
  static _Alignas(64) int64_t over[LONGEST];
  assert_true(tl_argsort_scratch(dtype, n, true) <= sizeof scratch);
  memcpy(over, a, n * sizeof *over);
  tl_argsort(dtype, over, over, n, descending, scratch, NULL);
  assert_memory_equal(over, order, n * sizeof *over);
}

static void check_sort(tl_dtype dtype, size_t n, bool descending, int kind) {
  const size_t itemsize = tl_itemsize(dtype);
  assert_true(tl_sort_scratch(dtype, n) <= sizeof scratch);
  memcpy(sorted, a, n * itemsize);
  memset(sorted + n * itemsize, 0xA5, 16);
  tl_sort(dtype, sorted, n, descending, scratch, NULL);
  assert_int_equal(sorted[n * itemsize], 0xA5);
  for (size_t i = 0; i < n; i++) {
    item x = load_item(dtype, sorted, i);
    item y = load_item(dtype, a, (size_t)order[i]);
    if (!same_items(dtype, x, y, 1e-300))
      fail_msg("sort of %zu %s, kind %d, at %zu", n, tl_dtypes[dtype].name,
               kind, i);
  }
}

static void sorts(void **state) {
  (void)state;
  static const size_t lengths[] = {0,  1,  2,   3,   15,  16,  17,   31,  33,
                                   64, 70, 199, 200, 201, 500, 1000, 3900};
  for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++) {
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
      for (int kind = 0; kind < 8; kind++) {
        fill_kind(dtype, lengths[k], kind);
        for (int descending = 0; descending < 2; descending++) {
          check_argsort(dtype, lengths[k], descending, kind);
          check_sort(dtype, lengths[k], descending, kind);
        }
      }
    }
  }
}

static int compare_words(const void *x, const void *y) {
  const uint64_t p = *(const uint64_t *)x, q = *(const uint64_t *)y;
  return (p > q) - (p < q);
}

// The networks of each instruction set put any number of keys and rows in
// order.
static void networks(void **state) {
  (void)state;
  enum { WIDTH = TL_SORT_ROW / sizeof(uint64_t), MOST = 140 };
  static const char *const sets[] = {"avx2", "avx512"};
  uint64_t *keys = (void *)a, *want = (void *)sorted;
  for (int set = 0; set < 2; set++) {
    const tl_kernel_table *kernels = tl_kernels_named(sets[set]);
    for (size_t n = 1; kernels != NULL && n <= MOST; n++) {
      fill_random(TL_UINT64, a, n * WIDTH);
      for (size_t column = 0; column < WIDTH; column++)
        for (size_t i = 0; i < n; i++)
          want[column * n + i] = keys[i * WIDTH + column];
      kernels->sort_columns[3](keys, n);
      for (size_t column = 0; column < WIDTH; column++) {
        qsort(want + column * n, n, sizeof *want, compare_words);
        for (size_t i = 0; i < n; i++)
          assert_true(want[column * n + i] == keys[i * WIDTH + column]);
      }
      fill_random(TL_UINT64, a, 7 * n);
      memcpy(want, keys, 7 * n * sizeof *want);
      kernels->sort_lane[3](keys, 7 * n, scratch);
      qsort(want, 7 * n, sizeof *want, compare_words);
      assert_memory_equal(keys, want, 7 * n * sizeof *want);
    }
  }
}

static void zeros_are_equal_positions(void **state) {
  (void)state;
  const double x[] = {0.0, -0.0, 0.0, -0.0, -1, NAN, -NAN, INFINITY};
  const int64_t up[] = {4, 0, 1, 2, 3, 7, 5, 6};
  const int64_t down[] = {7, 0, 1, 2, 3, 4, 5, 6};
  tl_argsort(TL_FLOAT64, order, x, 8, false, scratch, NULL);
  assert_memory_equal(order, up, sizeof up);
  tl_argsort(TL_FLOAT64, order, x, 8, true, scratch, NULL);
  assert_memory_equal(order, down, sizeof down);
}

// --- Stopping ---------------------------------------------------------------

typedef struct patience {
  int left, asked;
} patience;

static bool lose_patience(void *context) {
  patience *p = context;
  p->asked++;
  return p->left-- == 0;
}

// Stopped at the first question, at the second and so on, a long sort asks no
// more and says so. What it never asked, nobody could stop.
static void stops_where_asked(void **state) {
  (void)state;
  enum { LONG = 300000 };
  static const tl_dtype dtypes[] = {TL_FLOAT64, TL_INT32, TL_COMPLEX64};
  size_t nbytes = 64 + tl_argsort_scratch(TL_COMPLEX64, LONG, false) +
                  tl_sort_scratch(TL_COMPLEX64, LONG);
  char *items = malloc(LONG * 16), *room = aligned_alloc(64, nbytes / 64 * 64);
  char *first = malloc(LONG * 16);
  int64_t *at = malloc(LONG * sizeof *at);
  for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
    for (int argsort = 0; argsort < 2; argsort++) {
      bool done = false;
      int turns = 0;
      fill_random(dtypes[d], first, LONG);  // as often asked each time
      for (; !done; turns++) {
        patience p = {turns, 0};
        tl_stop stop = {lose_patience, &p, false};
        memcpy(items, first, LONG * tl_itemsize(dtypes[d]));
        done = argsort
                   ? tl_argsort(dtypes[d], at, items, LONG, false, room, &stop)
                   : tl_sort(dtypes[d], items, LONG, false, room, &stop);
        assert_int_equal(p.asked, done ? turns : turns + 1);
        assert_int_equal(stop.stopped, !done);
      }
      assert_true(turns > 4);
    }
  }
  free(items);
  free(first);
  free(room);
  free(at);
}

// Memory whose pages the system has still to give: it is known what was in
// them.
enum { FRESH = 0x5c, PAGE = 4096 };

typedef struct fresh_block {
  unsigned char *bytes;
  size_t nbytes;
} fresh_block;

typedef struct pages {
  fresh_block blocks[2];
  size_t written, most;  // up to the last question; most between two
} pages;

static bool is_fresh(const unsigned char *page) {
  for (int i = 0; i < PAGE; i++) {
    if (page[i] != FRESH)
      return false;
  }
  return true;
}

static bool count_pages(void *context) {
  pages *p = context;
  size_t written = 0;
  for (int b = 0; b < 2; b++)
    for (size_t at = 0; at + PAGE <= p->blocks[b].nbytes; at += PAGE)
      written += !is_fresh(p->blocks[b].bytes + at);
  p->most = p->most < written - p->written ? written - p->written : p->most;
  p->written = written;
  return false;
}

// The pages that a sort writes to first, which the system has to find, come a
// few between two questions, though the items of a pass go anywhere.
static void new_pages_come_a_few_at_a_time(void **state) {
  (void)state;
  enum { LONG = 600000, PIECE = (1 << 17) * 8 / PAGE };
  static const tl_dtype dtypes[] = {TL_FLOAT64, TL_INT64, TL_UINT16};
  pages p = {
      {{NULL, LONG * 8}, {NULL, tl_argsort_scratch(TL_INT64, LONG, false)}},
      0,
      0};
  char *items = malloc(LONG * 8);
  for (int b = 0; b < 2; b++)
    p.blocks[b].bytes =
        aligned_alloc(PAGE, (p.blocks[b].nbytes / PAGE + 1) * PAGE);
  for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
    for (int argsort = 0; argsort < 2; argsort++) {
      tl_stop stop = {count_pages, &p, false};
      fill_random(dtypes[d], items, LONG);
      for (int b = 0; b < 2; b++)
        memset(p.blocks[b].bytes, FRESH, p.blocks[b].nbytes);
      p.written = p.most = 0;
      assert_true(
          argsort ? tl_argsort(dtypes[d], (int64_t *)(void *)p.blocks[0].bytes,
                               items, LONG, false, p.blocks[1].bytes, &stop)
                  : tl_sort(dtypes[d], items, LONG, false, p.blocks[1].bytes,
                            &stop));
      assert_true(p.written * PAGE >= LONG * tl_itemsize(dtypes[d]) * 9 / 10);
      assert_in_range(p.most, 1, PIECE + 100);
    }
  }
  free(items);
  free(p.blocks[0].bytes);
  free(p.blocks[1].bytes);
}

static void runs(void **state) {
  (void)state;
  const double x[] = {-1, -0.0, 0.0, 2, 2, 2, NAN, NAN};
  const int64_t expected[] = {0, 1, 3, 6, 7};
  assert_int_equal(tl_run_starts(TL_FLOAT64, order, x, 8), 5);
  assert_memory_equal(order, expected, sizeof expected);
  assert_int_equal(tl_run_starts(TL_FLOAT64, order, x, 0), 0);
  const int8_t y[] = {1, 1, 5};
  assert_int_equal(tl_run_starts(TL_INT8, order, y, 3), 2);
  assert_int_equal(order[1], 2);
  const tl_c64 z[] = {{1, 2}, {1, 2}, {1, 3}};
  assert_int_equal(tl_run_starts(TL_COMPLEX64, order, z, 3), 2);
}

static void searches(void **state) {
  (void)state;
  static unsigned char queries[70 * 16];
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  for (int t = 0; t < count; t++) {
    for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++) {
      for (size_t m = 0; m <= 300; m += m < 20 ? 1 : 41) {
        fill_random(dtype, a, m);
        tl_sort(dtype, a, m, false, scratch, NULL);
        const size_t n = random_bits() % 71;
        fill_random(dtype, queries, n);
        for (size_t i = 0; i + 1 < n && m > 0; i += 2)
          store_item(dtype, queries, i, load_item(dtype, a, random_bits() % m));
        for (int right = 0; right < 2; right++) {
          tables[t]->search[dtype](order, a, m, queries, n, right);
          for (size_t i = 0; i < n; i++) {
            item q = load_item(dtype, queries, i);
            size_t at = 0;
            while (at < m) {
              int by = compare(dtype, load_item(dtype, a, at), q, false);
              if (right ? by > 0 : by >= 0)
                break;
              at++;
            }
            if (order[i] != (int64_t)at)
              fail_msg("search %d of %s in %zu: %lld for %zu", right,
                       tl_dtypes[dtype].name, m, (long long)order[i], at);
          }
        }
      }
    }
  }
}

// ---- matrix products --------------------------------------------------------

// Small whole numbers, so that products are exact in every order.
static void fill_small(tl_dtype dtype, unsigned char *to, size_t n) {
  for (size_t i = 0; i < n; i++) {
    item x = {{0}};
    int value = (int)(random_bits() % 9) - 4, other = (int)(random_bits() % 3);
    if (dtype == TL_FLOAT16)
      x.u16 = tl_half_round((float)value);
    if (dtype == TL_FLOAT32)
      x.f32 = (float)value;
    if (dtype == TL_FLOAT64)
      x.f64 = value;
    if (dtype == TL_COMPLEX64)
      x.c64 = (tl_c64){(float)value, (float)other};
    if (dtype == TL_COMPLEX128)
      x.c128 = (tl_c128){value, other};
    if (tl_dtype_is_integer(dtype))
      x.i64 = value;
    store_item(dtype, to, i, x);
  }
}

static item reference_dot(tl_dtype dtype, const unsigned char *x,
                          ptrdiff_t x_by, const unsigned char *y,
                          ptrdiff_t y_by, size_t k) {
  tl_c128 sum = {0, 0};
  uint64_t whole = 0;
  item out = {{0}};
  for (size_t p = 0; p < k; p++, x += x_by, y += y_by) {
    item u = load_item(dtype, x, 0), v = load_item(dtype, y, 0);
    tl_c128 s = complex_of(dtype, u), r = complex_of(dtype, v);
    sum.re += s.re * r.re - s.im * r.im;
    sum.im += s.re * r.im + s.im * r.re;
    if (tl_dtype_is_integer(dtype))
      whole += (uint64_t)whole_of(dtype, u) * (uint64_t)whole_of(dtype, v);
  }
  out.u64 = whole;
  if (dtype == TL_FLOAT32)
    out.f32 = (float)sum.re;
  if (dtype == TL_FLOAT64)
    out.f64 = sum.re;
  if (dtype == TL_COMPLEX64)
    out.c64 = (tl_c64){(float)sum.re, (float)sum.im};
  if (dtype == TL_COMPLEX128)
    out.c128 = sum;
  return out;
}

static void check_product(const tl_kernel_table *table, tl_dtype dtype,
                          size_t m, size_t n, size_t k, bool transposed) {
  static unsigned char x[1 << 21], y[1 << 21], z[1 << 19];
  const ptrdiff_t size = (ptrdiff_t)tl_itemsize(dtype);
  const ptrdiff_t x_row = transposed ? size : (ptrdiff_t)k * size;
  const ptrdiff_t x_col = transposed ? (ptrdiff_t)m * size : size;
  const ptrdiff_t y_row = transposed ? size : (ptrdiff_t)n * size;
  const ptrdiff_t y_col = transposed ? (ptrdiff_t)k * size : size;
  const ptrdiff_t z_row = (ptrdiff_t)(n + 1) * size;
  fill_small(dtype, x, m * k);
  fill_small(dtype, y, k * n);
  memset(z, 0xA5, m * (n + 1) * (size_t)size);
  const size_t need = tl_gemm_scratch(dtype, m, n, k);
  assert_true(need <= sizeof scratch - 64);
  memset(scratch + need, 0xA5, 64);
  table->gemm[dtype](z, z_row, x, x_row, x_col, y, y_row, y_col, m, n, k,
                     scratch, NULL);
  for (size_t i = 0; i < 64; i++) assert_int_equal(scratch[need + i], 0xA5);
  for (size_t i = 0; i < m; i++) {
    assert_int_equal(z[(ptrdiff_t)i * z_row + (ptrdiff_t)n * size], 0xA5);
    for (size_t j = 0; j < n; j++) {
      item expected = reference_dot(dtype, x + (ptrdiff_t)i * x_row, x_col,
                                    y + (ptrdiff_t)j * y_col, y_row, k);
      item got = load_item(dtype, z + (ptrdiff_t)i * z_row, j);
      if (!same_items(dtype, got, expected, 1e-300))
        fail_msg("%zu * %zu * %zu %s, %s, at %zu, %zu", m, k, n,
                 tl_dtypes[dtype].name, table->name, i, j);
    }
  }
}

static void products(void **state) {
  (void)state;
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  for (int t = 0; t < count; t++) {
    for (tl_dtype dtype = TL_INT8; dtype < TL_STRING; dtype++) {
      if (tables[t]->gemm[dtype] == NULL)
        continue;  // float16 is multiplied as float32
      for (int round = 0; round < 60; round++) {
        const size_t m = random_bits() % 20, n = random_bits() % 60;
        check_product(tables[t], dtype, m, n, random_bits() % 20, round & 1);
      }
      check_product(tables[t], dtype, 140, 50, 300, false);
      check_product(tables[t], dtype, 9, 600, 70, true);
    }
    check_product(tables[t], TL_FLOAT64, 3, 3100, 5, false);
    check_product(tables[t], TL_FLOAT64, 3, 3100, 5, true);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sorts),
      cmocka_unit_test(networks),
      cmocka_unit_test(zeros_are_equal_positions),
      cmocka_unit_test(stops_where_asked),
      cmocka_unit_test(new_pages_come_a_few_at_a_time),
      cmocka_unit_test(runs),
      cmocka_unit_test(searches),
      cmocka_unit_test(products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
