// Kernels that cast items or move them.
#include "tests/unit/kernel_items.h"

enum { LONGEST = 70, ROOM = 4096 };

static _Alignas(64) unsigned char a[ROOM], b[ROOM], out[ROOM];

// Runs [body] for each instruction set, as `table`.
#define FOR_TABLES(table)                        \
  const tl_kernel_table *tables[3], *table;      \
  const int table_count = kernel_tables(tables); \
  for (int t = 0; table = tables[t < table_count ? t : 0], t < table_count; t++)

// ---- casts ------------------------------------------------------------------

// The largest and smallest values of an integer dtype, exact in long double.
static void range_of(tl_dtype dtype, long double *low, long double *high) {
  const unsigned bits = (unsigned)tl_itemsize(dtype) * 8;
  const bool is_signed = tl_dtypes[dtype].kind == 'I';
  *low = is_signed ? -ldexpl(1, (int)bits - 1) : 0;
  *high = ldexpl(1, (int)bits - is_signed) - 1;
}

static item whole_item(tl_dtype dtype, long double value) {
  item x = {{0}};
  (void)dtype;
  if (value < 0)
    x.i64 = (int64_t)value;
  else
    x.u64 = (uint64_t)value;
  return x;
}

static item cast_of_real(tl_dtype from, tl_dtype to, item x) {
  const double value = real_of(from, x);
  long double low, high;
  item y = {{0}};
  if (to == TL_BOOL) {
    y.u8 = value != 0;
  } else if (tl_dtype_is_integer(to)) {
    range_of(to, &low, &high);
    if (isnan(value))
      return y;
    long double whole = truncl((long double)value);
    return whole_item(to, fminl(fmaxl(whole, low), high));
  }
  return y;
}

static item reference_cast(tl_dtype from, tl_dtype to, item x) {
  const char kind = tl_dtypes[from].kind;
  item y = {{0}};
  if (to == TL_FLOAT64)
    y.f64 = real_of(from, x);
  // Integers that are rounded twice are larger than any float16.
  if (to == TL_FLOAT16)
    y.u16 = tl_half_round(tl_half_of_double(real_of(from, x)));
  if (to == TL_FLOAT32) {
    if (from == TL_INT64)
      y.f32 = (float)x.i64;
    else if (from == TL_UINT64)
      y.f32 = (float)x.u64;
    else
      y.f32 = (float)real_of(from, x);
  }
  if (to == TL_COMPLEX128)
    y.c128 = complex_of(from, x);
  if (to == TL_COMPLEX64) {
    y.c64.re = (float)complex_of(from, x).re;
    y.c64.im = (float)complex_of(from, x).im;
    if (kind != 'C')
      y.c64.re = reference_cast(from, TL_FLOAT32, x).f32;
  }
  if (to > TL_UINT64)
    return y;
  if (kind == 'F')
    return cast_of_real(from, to, x);
  y.i64 = whole_of(from, x);
  if (to == TL_BOOL)
    y.u64 = y.i64 != 0;
  return y;
}

static bool fits(tl_dtype from, tl_dtype to, item x) {
  long double low, high, value;
  if (!tl_dtype_is_integer(to))
    return true;
  range_of(to, &low, &high);
  if (tl_dtypes[from].kind == 'F') {
    if (isnan(real_of(from, x)))
      return false;
    value = truncl((long double)real_of(from, x));
  } else if (from == TL_UINT64) {
    value = (long double)x.u64;
  } else {
    value = (long double)whole_of(from, x);
  }
  return value >= low && value <= high;
}

static void check_cast(const tl_kernel_table *table, tl_dtype from, tl_dtype to,
                       size_t n) {
  bool all_fit = true;
  fill_random(from, a, n);
  memset(out, 0xA5, sizeof out);
  table->cast[from][to](out, a, n);
  for (size_t i = 0; i < n; i++) {
    item x = load_item(from, a, i), y = reference_cast(from, to, x);
    if (!same_items(to, load_item(to, out, i), y, 0))
      fail_msg("%s to %s, %s: item %zu of %zu, %.17g", tl_dtypes[from].name,
               tl_dtypes[to].name, table->name, i, n, complex_of(from, x).re);
    all_fit = all_fit && fits(from, to, x);
  }
  assert_int_equal(out[n * tl_itemsize(to)], 0xA5);
  tl_bounds bounds;
  if (tl_cast_bounds(from, to, &bounds))
    assert_int_equal(table->within[from](a, n, &bounds), all_fit);
  else
    assert_true(all_fit);
}

static void every_cast(void **state) {
  (void)state;
  FOR_TABLES(table) {
    for (tl_dtype from = 0; from < TL_STRING; from++) {
      for (tl_dtype to = 0; to < TL_STRING; to++) {
        if (tl_dtype_is_complex(from) && !tl_dtype_is_complex(to)) {
          assert_null(table->cast[from][to]);
          continue;
        }
        for (size_t n = 0; n <= LONGEST; n++) check_cast(table, from, to, n);
      }
    }
  }
}

// Single items at the edges of what fits.
static void cast_edges(void **state) {
  (void)state;
  static const double values[] = {
      127,
      127.9,
      128,
      -128,
      -128.9,
      -129,
      -0.9,
      -1,
      255.9,
      256,
      65536,
      2147483647.5,
      2147483648.0,
      -2147483648.9,
      -2147483649.0,
      4294967295.5,
      4294967296.0,
      0x1p63,
      -0x1p63,
      0x1.fffffffffffffp62,
      -0x1.0000000000001p63,
      0x1p64,
      0x1.fffffffffffffp63,
      INFINITY,
      -INFINITY,
      NAN,
      1e300,
  };
  FOR_TABLES(table) {
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
      for (tl_dtype from = TL_FLOAT16; from <= TL_FLOAT64; from++) {
        for (tl_dtype to = TL_INT8; to <= TL_UINT64; to++) {
          item x = {{0}}, y = {{0}};
          if (from == TL_FLOAT32)
            x.f32 = (float)values[k];
          else
            x.f64 = values[k];
          table->cast[from][to](&y, &x, 1);
          item expected = reference_cast(from, to, x);
          assert_memory_equal(y.bytes, expected.bytes, tl_itemsize(to));
          tl_bounds bounds;
          assert_true(tl_cast_bounds(from, to, &bounds));
          assert_int_equal(table->within[from](&x, 1, &bounds),
                           fits(from, to, x));
        }
      }
    }
  }
}

static void predicates(void **state) {
  (void)state;
  FOR_TABLES(table) {
    for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++) {
      if (table->any_zero[dtype] == NULL)
        continue;
      for (size_t n = 0; n <= LONGEST; n++) {
        bool zero = false, negative = false;
        fill_random(dtype, a, n);
        for (size_t i = 0; i < n; i++) {
          tl_c128 x = complex_of(dtype, load_item(dtype, a, i));
          zero = zero || (x.re == 0 && x.im == 0);
          negative = negative || x.re < 0;
        }
        assert_int_equal(table->any_zero[dtype](a, n), zero);
        if (table->any_negative[dtype])
          assert_int_equal(table->any_negative[dtype](a, n), negative);
      }
    }
  }
}

// ---- moves ------------------------------------------------------------------

static void strides(void **state) {
  (void)state;
  static const ptrdiff_t steps[] = {1, 2, 3, -1, -2, 0};
  FOR_TABLES(table) {
    for (unsigned size = 0; size < TL_MOVE_SIZES; size++) {
      const size_t itemsize = (size_t)1 << size;
      assert_int_equal(tl_move_size(itemsize), size);
      for (size_t s = 0; s < 6; s++) {
        for (size_t n = 0; n <= 40; n++) {
          const ptrdiff_t stride = steps[s] * (ptrdiff_t)itemsize;
          const size_t start = steps[s] < 0 ? 80 * itemsize : 0;
          for (size_t i = 0; i < ROOM; i++) a[i] = (unsigned char)random_bits();
          table->pack[size](out, a + start, stride, n);
          for (size_t i = 0; i < n; i++)
            assert_memory_equal(out + i * itemsize,
                                a + start + (ptrdiff_t)i * stride, itemsize);
          memset(b, 0xA5, sizeof b);
          table->unpack[size](b + start, stride, out, n);
          for (size_t i = 0; i < n && steps[s] != 0; i++)
            assert_memory_equal(b + start + (ptrdiff_t)i * stride,
                                out + i * itemsize, itemsize);
        }
      }
    }
  }
}

static void tiles(void **state) {
  (void)state;
  enum { NROWS = 19, NCOLS = 7 };
  FOR_TABLES(table) {
    for (unsigned size = 0; size < TL_MOVE_SIZES; size++) {
      const ptrdiff_t itemsize = (ptrdiff_t)1 << size;
      for (size_t i = 0; i < ROOM; i++) a[i] = (unsigned char)random_bits();
      const ptrdiff_t layouts[][2] = {{NCOLS * itemsize, itemsize},
                                      {itemsize, NROWS * itemsize},
                                      {2 * itemsize, 40 * itemsize},
                                      {0, itemsize},
                                      {itemsize, 0}};
      for (int k = 0; k < 5; k++) {
        if (19 * layouts[k][0] + 7 * layouts[k][1] > ROOM)
          continue;
        table->pack_tile[size](out, 9 * itemsize, a, layouts[k][0],
                               layouts[k][1], NROWS, NCOLS);
        for (ptrdiff_t r = 0; r < NROWS; r++)
          for (ptrdiff_t c = 0; c < NCOLS; c++)
            assert_memory_equal(out + (9 * r + c) * itemsize,
                                a + r * layouts[k][0] + c * layouts[k][1],
                                (size_t)itemsize);
      }
    }
  }
}

// Rows of all lengths, one behind the other; nothing behind the last one is
// written.
static void rows_of_few_items(void **state) {
  (void)state;
  FOR_TABLES(table) {
    for (unsigned size = 0; size < TL_MOVE_SIZES; size++) {
      const ptrdiff_t itemsize = (ptrdiff_t)1 << size;
      for (ptrdiff_t ncols = 1; ncols <= 40; ncols++) {
        const ptrdiff_t layouts[][2] = {{0, itemsize},
                                        {0, 2 * itemsize},
                                        {itemsize, 0},
                                        {-3 * itemsize, 0},
                                        {(ncols + 2) * itemsize, itemsize},
                                        {-itemsize, itemsize},
                                        {itemsize, 3 * itemsize}};
        for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
          ptrdiff_t row = layouts[k][0], column = layouts[k][1];
          ptrdiff_t nrows = ROOM / 2 / (ncols * itemsize);
          nrows = nrows < 41 ? nrows : ncols % 2 == 0 ? 41 : 9;
          for (size_t i = 0; i < ROOM; i++) a[i] = (unsigned char)random_bits();
          memset(out, 0xA5, ROOM);
          const unsigned char *from = a + (row < 0 ? -row * nrows : 0);
          table->pack_tile[size](out, ncols * itemsize, from, row, column,
                                 (size_t)nrows, (size_t)ncols);
          for (ptrdiff_t r = 0; r < nrows; r++)
            for (ptrdiff_t c = 0; c < ncols; c++)
              assert_memory_equal(out + (r * ncols + c) * itemsize,
                                  from + r * row + c * column,
                                  (size_t)itemsize);
          for (ptrdiff_t i = nrows * ncols * itemsize; i < ROOM; i++)
            assert_int_equal(out[i], 0xA5);
        }
      }
    }
  }
}

// About one item of 2^rarity, or with a rarity of 0 all.
static void fill_mask(uint8_t *mask, size_t n, unsigned rarity) {
  for (size_t i = 0; i < n; i++)
    mask[i] = random_bits() % ((uint64_t)1 << rarity) == 0;
}

static void masks(void **state) {
  (void)state;
  enum { LONGEST_MASK = 200 };
  uint8_t mask[LONGEST_MASK];
  int64_t places[LONGEST_MASK];
  FOR_TABLES(table) {
    for (unsigned size = 0; size < TL_MOVE_SIZES; size++) {
      const size_t itemsize = (size_t)1 << size;
      for (size_t n = 0; n <= LONGEST_MASK; n++) {
        size_t count = 0;
        for (size_t i = 0; i < sizeof a; i++)
          a[i] = (unsigned char)random_bits();
        fill_mask(mask, n, (unsigned)n % 5);
        memset(out, 0xA5, sizeof out);
        size_t got = table->compress[size](out, a, mask, n);
        assert_int_equal(table->true_indices(places, mask, 100, n), got);
        for (size_t i = 0; i < n; i++) {
          if (!mask[i])
            continue;
          assert_int_equal(places[count], 100 + i);
          assert_memory_equal(out + count * itemsize, a + i * itemsize,
                              itemsize);
          count++;
        }
        assert_int_equal(got, count);
        assert_int_equal(out[count * itemsize], 0xA5);
        memcpy(b, a, sizeof b);  // over what it reads
        assert_int_equal(table->compress[size](b, b, mask, n), count);
        assert_memory_equal(b, out, count * itemsize);
        memset(b, 0xA5, sizeof b);
        assert_int_equal(table->expand[size](b, mask, out, n), count);
        for (size_t i = 0; i < n; i++)
          if (mask[i])
            assert_memory_equal(b + i * itemsize, a + i * itemsize, itemsize);
          else
            assert_int_equal(b[i * itemsize], 0xA5);
      }
    }
  }
}

static void indices(void **state) {
  (void)state;
  int64_t index[LONGEST], wrapped[LONGEST];
  FOR_TABLES(table) {
    for (unsigned size = 0; size < TL_MOVE_SIZES; size++) {
      const size_t itemsize = (size_t)1 << size;
      const ptrdiff_t stride = (ptrdiff_t)(2 * itemsize);
      for (size_t n = 0; n <= LONGEST; n++) {
        for (size_t i = 0; i < n; i++)
          index[i] = (int64_t)(random_bits() % 60) - 30;
        assert_int_equal(table->wrap_indices(wrapped, index, 30, n), n);
        for (size_t i = 0; i < n; i++)
          assert_int_equal(wrapped[i], index[i] < 0 ? index[i] + 30 : index[i]);
        for (size_t i = 0; i < ROOM; i++) a[i] = (unsigned char)random_bits();
        table->take[size](out, a, stride, wrapped, n);
        for (size_t i = 0; i < n; i++)
          assert_memory_equal(out + i * itemsize, a + wrapped[i] * stride,
                              itemsize);
        // Those behind n are only asked for, wherever they lie.
        for (size_t i = n; i < LONGEST; i++) wrapped[i] = INT64_MIN + 30;
        memcpy(b, out, n * itemsize);
        memset(out, 0xA5, sizeof out);
        table->take_far[size](out, a, stride, wrapped, n, LONGEST);
        assert_memory_equal(out, b, n * itemsize);
        assert_int_equal(out[n * itemsize], 0xA5);
        table->take[size](out, a, (ptrdiff_t)itemsize, wrapped, n);
        memset(b, 0, sizeof b);
        table->put[size](b, stride, wrapped, out, n);
        for (size_t i = n; i-- > 0;)  // the last one wins
          if (b[(size_t)wrapped[i] * 2 * itemsize + itemsize] == 0) {
            assert_memory_equal(b + wrapped[i] * stride, out + i * itemsize,
                                itemsize);
            b[(size_t)wrapped[i] * 2 * itemsize + itemsize] = 1;
          }
      }
    }
    static const int64_t bad[] = {0, -30, 29, 30, -31};
    for (size_t n = 0; n <= LONGEST; n++) {
      for (size_t i = 0; i < n; i++) index[i] = (int64_t)(random_bits() % 30);
      assert_true(table->indices_within(index, 30, n));
      for (size_t i = 0; i < n && n < 40; i++) {
        static const int64_t outside[] = {-1, 30, INT64_MIN, INT64_MAX};
        for (int k = 0; k < 4; k++) {
          const int64_t inside = index[i];
          index[i] = outside[k];
          assert_false(table->indices_within(index, 30, n));
          index[i] = inside;
        }
      }
    }
    assert_false(table->indices_within(bad, 0, 1));
    assert_int_equal(table->wrap_indices(wrapped, bad, 30, 5), 3);
    assert_int_equal(table->wrap_indices(wrapped, bad + 4, 30, 1), 0);
    assert_int_equal(table->wrap_indices(wrapped, bad, 0, 1), 0);
    static const int64_t extremes[] = {INT64_MIN, INT64_MAX};
    assert_int_equal(table->wrap_indices(wrapped, extremes, 30, 2), 0);
    assert_int_equal(table->wrap_indices(wrapped, extremes + 1, 30, 1), 0);
  }
}

static void fills_and_counts(void **state) {
  (void)state;
  FOR_TABLES(table) {
    int64_t numbers[LONGEST], bins[7] = {0};
    double weights[LONGEST], weighted[7] = {0};
    table->iota(numbers, 5, -3, LONGEST);
    for (int i = 0; i < LONGEST; i++) assert_int_equal(numbers[i], 5 - 3 * i);
    table->iota(numbers, INT64_MAX, 1, 2);
    assert_true(numbers[1] == INT64_MIN);
    table->spaced(weights, 0.25, 0.1, 5, LONGEST);
    for (int i = 0; i < LONGEST; i++)
      assert_true(weights[i] == 0.25 + (5 + i) * 0.1);
    for (int i = 0; i < LONGEST; i++) numbers[i] = i % 7, weights[i] = i;
    table->bincount(bins, numbers, LONGEST);
    table->bincount_weighted(weighted, numbers, weights, LONGEST);
    for (int i = 0; i < 7; i++) {
      assert_int_equal(bins[i], 10);
      assert_true(weighted[i] == 10 * i + 7 * 45);
    }
    const tl_even_bins even = {-1, 1, 50, 0x1p-40};
    for (int i = 0; i < LONGEST; i++) weights[i] = -1 + (i + 0.25) / 50;
    assert_true(table->even_bins(numbers, &even, weights, LONGEST));
    for (int i = 0; i < LONGEST; i++) assert_int_equal(numbers[i], i);
    weights[3] = 0, weights[4] = NAN, weights[5] = 1.5, weights[69] = -2;
    assert_false(table->even_bins(numbers, &even, weights, LONGEST));
    for (int i = 0; i < LONGEST; i++)
      assert_int_equal(numbers[i], i == 3                        ? TL_BIN_UNSURE
                                   : i == 4 || i == 5 || i == 69 ? TL_BIN_NONE
                                                                 : i);
    for (unsigned size = 0; size < TL_MOVE_SIZES; size++) {
      const size_t itemsize = (size_t)1 << size;
      memset(out, 0xA5, sizeof out);
      table->fill[size](out, a, 33);
      for (size_t i = 0; i < 33; i++)
        assert_memory_equal(out + i * itemsize, a, itemsize);
      assert_int_equal(out[33 * itemsize], 0xA5);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_cast),
      cmocka_unit_test(cast_edges),
      cmocka_unit_test(predicates),
      cmocka_unit_test(strides),
      cmocka_unit_test(tiles),
      cmocka_unit_test(rows_of_few_items),
      cmocka_unit_test(masks),
      cmocka_unit_test(indices),
      cmocka_unit_test(fills_and_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
