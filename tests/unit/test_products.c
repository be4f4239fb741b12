// Products of matrices with vectors: every way through the matrix against plain
// sums, and the same bits from every instruction set and in pieces.
#include "tests/unit/kernel_items.h"

enum { MOST_ROWS = 2100, ROOM = 1 << 20 };

static _Alignas(64) unsigned char matrix[ROOM], vector[ROOM];
static _Alignas(64) unsigned char out[MOST_ROWS * 16 + 64], first[sizeof out];

typedef struct shape {
  size_t m, k;
  ptrdiff_t row, column, stride;  // in items
} shape;

// Rows or columns near, both apart, or both turned round.
static shape random_shape(void) {
  static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 31, 33, 64, 65, 150};
  shape s = {.m = sizes[random_bits() % 12], .k = sizes[random_bits() % 12]};
  const ptrdiff_t step = 1 + (ptrdiff_t)(random_bits() % 2);
  if (random_bits() & 1) {
    s.column = step;
    s.row = step * (ptrdiff_t)(s.k + random_bits() % 3);
  } else {
    s.row = step;
    s.column = step * (ptrdiff_t)(s.m + random_bits() % 3);
  }
  if (random_bits() % 8 == 0)
    s.row = 0;
  if (random_bits() % 4 == 0)
    s.column = -s.column;
  s.stride = (ptrdiff_t)(random_bits() % 4) - 1;
  return s;
}

// Where the first item lies, so that all are in the room.
static const unsigned char *start(const unsigned char *room, size_t n,
                                  ptrdiff_t stride, size_t itemsize) {
  return stride < 0 ? room + (ptrdiff_t)(n > 0 ? n - 1 : 0) * -stride *
                                 (ptrdiff_t)itemsize
                    : room;
}

static void fill_parts(tl_dtype dtype, unsigned char *a) {
  const size_t n = ROOM / tl_itemsize(dtype);
  for (size_t i = 0; i < n; i++) {
    const double re = random_unit() - 0.5, im = random_unit() - 0.5;
    item x = {{0}};
    if (dtype == TL_FLOAT32)
      x.f32 = (float)re;
    else if (dtype == TL_FLOAT64)
      x.f64 = re;
    else if (dtype == TL_COMPLEX64)
      x.c64 = (tl_c64){(float)re, (float)im};
    else if (dtype == TL_COMPLEX128)
      x.c128 = (tl_c128){re, im};
    else
      x.u64 = random_bits();
    store_item(dtype, a, i, x);
  }
}

// out starts at items of 1.
static item one_of(tl_dtype dtype) {
  item x = {{0}};
  if (dtype == TL_FLOAT32)
    x.f32 = 1;
  else if (dtype == TL_FLOAT64)
    x.f64 = 1;
  else if (dtype == TL_COMPLEX64)
    x.c64.re = 1;
  else if (dtype == TL_COMPLEX128)
    x.c128.re = 1;
  else
    x.u64 = 1;
  return x;
}

static void check_item(tl_dtype dtype, const unsigned char *row,
                       ptrdiff_t column, const unsigned char *x,
                       ptrdiff_t stride, size_t k, item got) {
  const ptrdiff_t size = (ptrdiff_t)tl_itemsize(dtype);
  long double re = 1, im = 0;
  uint64_t whole = 1;
  for (size_t p = 0; p < k; p++, row += column * size, x += stride * size) {
    const item a = load_item(dtype, row, 0), b = load_item(dtype, x, 0);
    const tl_c128 u = complex_of(dtype, a), v = complex_of(dtype, b);
    whole += (uint64_t)whole_of(dtype, a) * (uint64_t)whole_of(dtype, b);
    re += (long double)u.re * v.re - (long double)u.im * v.im;
    im += (long double)u.re * v.im + (long double)u.im * v.re;
  }
  if (tl_dtype_is_integer(dtype)) {
    assert_memory_equal(&whole, got.bytes, (size_t)size);
    return;
  }
  const bool single = dtype == TL_FLOAT32 || dtype == TL_COMPLEX64;
  const double slack = (double)(k + 2) * (single ? 0x1p-24 : 0x1p-53);
  const tl_c128 z = complex_of(dtype, got);
  assert_true(fabs(z.re - (double)re) <= slack);
  assert_true(fabs(z.im - (double)im) <= slack);
}

static void run(const tl_kernel_table *table, tl_dtype dtype, const shape *s,
                const unsigned char *a, const unsigned char *x, size_t piece) {
  const ptrdiff_t size = (ptrdiff_t)tl_itemsize(dtype);
  memset(out, 0xA5, sizeof out);
  for (size_t i = 0; i < s->m; i++) store_item(dtype, out, i, one_of(dtype));
  for (size_t p = 0; p < s->k; p += piece) {
    const size_t terms = s->k - p < piece ? s->k - p : piece;
    table->gemv[dtype](out, a + (ptrdiff_t)p * s->column * size, s->row * size,
                       s->column * size, x + (ptrdiff_t)p * s->stride * size,
                       s->stride * size, s->m, terms);
  }
}

static void check_shape(tl_dtype dtype, const shape *s) {
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  const size_t size = tl_itemsize(dtype);
  const unsigned char *a = start(matrix, s->k, s->column, size);
  const unsigned char *x = start(vector, s->k, s->stride, size);
  run(tables[0], dtype, s, a, x, s->k + 1);
  memcpy(first, out, sizeof out);
  for (size_t i = 0; i < s->m; i++)
    check_item(dtype, a + (ptrdiff_t)i * s->row * (ptrdiff_t)size, s->column, x,
               s->stride, s->k, load_item(dtype, out, i));
  assert_int_equal(out[s->m * size], 0xA5);
  for (int t = 0; t < count; t++) {
    run(tables[t], dtype, s, a, x, s->k + 1);
    assert_memory_equal(out, first, sizeof out);
    run(tables[t], dtype, s, a, x, TL_GEMV_LEAF);
    assert_memory_equal(out, first, sizeof out);
  }
}

static void vectors(void **state) {
  (void)state;
  for (tl_dtype dtype = TL_INT8; dtype < TL_STRING; dtype++) {
    if (dtype == TL_FLOAT16)
      continue;  // computed as float32
    fill_parts(dtype, matrix);
    fill_parts(dtype, vector);
    for (int round = 0; round < 200; round++) {
      const shape s = random_shape();
      check_shape(dtype, &s);
    }
    check_shape(dtype, &(shape){3, 2500, 2500, 1, 1});
    check_shape(dtype, &(shape){2, 20000, 20000, 1, 1});
    check_shape(dtype, &(shape){3, 2500, 1, 3, 2});
    check_shape(dtype, &(shape){1, 4000, 0, 3, -1});
    check_shape(dtype, &(shape){2100, 9, 1, 2100, 1});
    check_shape(dtype, &(shape){2100, 9, 9, 1, 1});
  }
}

// What is not a number, or not finite, goes to its own row only.
static void infinities(void **state) {
  (void)state;
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  double a[6] = {1, INFINITY, 2, 3, NAN, 4}, x[2] = {0.5, 2}, y[3];
  for (int t = 0; t < count; t++) {
    for (int turned = 0; turned < 2; turned++) {
      memset(y, 0, sizeof y);
      const double b[6] = {a[0], a[2], a[4], a[1], a[3], a[5]};
      tables[t]->gemv[TL_FLOAT64](y, turned ? b : a, turned ? 8 : 16,
                                  turned ? 24 : 8, x, 8, 3, 2);
      assert_true(isinf(y[0]));
      assert_true(y[1] == 7);
      assert_true(isnan(y[2]));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vectors),
      cmocka_unit_test(infinities),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
