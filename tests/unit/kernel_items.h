// Items for the tests of kernels: awkward values of every dtype, and how two
// are compared.
#ifndef TALLY_TESTS_UNIT_KERNEL_ITEMS_H
#define TALLY_TESTS_UNIT_KERNEL_ITEMS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vm/half.h"
#include "vm/kernels/kernels.h"

typedef union item {
  unsigned char bytes[16];
  uint8_t u8;
  int8_t i8;
  uint16_t u16;
  int16_t i16;
  uint32_t u32;
  int32_t i32;
  uint64_t u64;
  int64_t i64;
  float f32;
  double f64;
  tl_c64 c64;
  tl_c128 c128;
} item;

static uint64_t random_state = 88172645463325252u;

static inline uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * 0x2545f4914f6cdd1du;
}

static inline double random_unit(void) {
  return (double)(random_bits() >> 11) * 0x1p-53;
}

static inline double random_real(void) {
  static const double awkward[] = {
      0.0,      -0.0, 1.0,  -1.0, 0.5,       -0.5,      1.5,  2.5,  -2.5, 3.0,
      INFINITY, NAN,  1e30, 7.0,  -INFINITY, 0x1p-1074, 1e-3, -1e9, 4e18, 255.5,
  };
  uint64_t choice = random_bits() % 3;
  if (choice == 0)
    return awkward[random_bits() % 20];
  if (choice == 1)
    return (double)(int64_t)(random_bits() % 200) - 100.0;
  return (random_unit() - 0.5) * 20;
}

static inline uint64_t random_whole(void) {
  static const uint64_t awkward[] = {
      0,
      1,
      2,
      127,
      128,
      255,
      256,
      32767,
      32768,
      65535,
      0x7fffffff,
      0x80000000u,
      0xffffffff,
      3,
      (1ull << 63),
      1ull << 63 | 1,
      (uint64_t)-1,
      (uint64_t)-2,
      (uint64_t)-128,
      INT64_MAX,
  };
  uint64_t choice = random_bits() % 3;
  if (choice == 0)
    return awkward[random_bits() % 20];
  if (choice == 1)
    return random_bits() % 200 - 100;
  return random_bits();
}

static inline item random_item(tl_dtype dtype) {
  item x = {{0}};
  switch (tl_dtypes[dtype].kind) {
    case 'B':
      x.u8 = random_bits() & 1;
      break;
    case 'F':
      if (dtype == TL_FLOAT16)
        x.u16 = tl_half_round((float)random_real());
      if (dtype == TL_FLOAT32)
        x.f32 = (float)random_real();
      if (dtype == TL_FLOAT64)
        x.f64 = random_real();
      break;
    case 'C':
      if (dtype == TL_COMPLEX64)
        x.c64 = (tl_c64){(float)random_real(), (float)random_real()};
      if (dtype == TL_COMPLEX128)
        x.c128 = (tl_c128){random_real(), random_real()};
      break;
    default:
      x.u64 = random_whole();
  }
  return x;
}

static inline item load_item(tl_dtype dtype, const void *a, size_t i) {
  item x = {{0}};
  size_t itemsize = tl_itemsize(dtype);
  memcpy(x.bytes, (const char *)a + i * itemsize, itemsize);
  return x;
}

static inline void store_item(tl_dtype dtype, void *a, size_t i, item x) {
  size_t itemsize = tl_itemsize(dtype);
  memcpy((char *)a + i * itemsize, x.bytes, itemsize);
}

static inline void fill_random(tl_dtype dtype, void *a, size_t n) {
  for (size_t i = 0; i < n; i++) store_item(dtype, a, i, random_item(dtype));
}

// The whole number in an integer or bool item, sign extended.
static inline int64_t whole_of(tl_dtype dtype, item x) {
  switch ((int)dtype) {
    case TL_INT8:
      return x.i8;
    case TL_INT16:
      return x.i16;
    case TL_INT32:
      return x.i32;
    case TL_BOOL:
    case TL_UINT8:
      return x.u8;
    case TL_UINT16:
      return x.u16;
    case TL_UINT32:
      return x.u32;
    default:
      return x.i64;
  }
}

static inline double real_of(tl_dtype dtype, item x) {
  if (dtype == TL_FLOAT16)
    return (double)tl_half_widen(x.u16);
  if (dtype == TL_FLOAT32)
    return (double)x.f32;
  if (dtype == TL_FLOAT64)
    return x.f64;
  if (dtype == TL_UINT64)
    return (double)x.u64;
  return (double)whole_of(dtype, x);
}

static inline tl_c128 complex_of(tl_dtype dtype, item x) {
  if (dtype == TL_COMPLEX128)
    return x.c128;
  if (dtype == TL_COMPLEX64)
    return (tl_c128){(double)x.c64.re, (double)x.c64.im};
  return (tl_c128){real_of(dtype, x), 0};
}

// Equal within [slack] (relative; 0: the same bits), all NaNs being equal.
static inline bool close_reals(double x, double y, double slack) {
  if (isnan(x) || isnan(y))
    return isnan(x) && isnan(y);
  if (x == y)
    return slack > 0 || signbit(x) == signbit(y);
  if (isinf(x) || isinf(y))
    return false;
  return fabs(x - y) <= slack * fmax(fabs(x), fabs(y));
}

static inline bool same_items(tl_dtype dtype, item x, item y, double slack) {
  switch (tl_dtypes[dtype].kind) {
    case 'F':
      return close_reals(real_of(dtype, x), real_of(dtype, y), slack);
    case 'C': {
      tl_c128 p = complex_of(dtype, x), q = complex_of(dtype, y);
      return close_reals(p.re, q.re, slack) && close_reals(p.im, q.im, slack);
    }
    default:
      return memcmp(x.bytes, y.bytes, tl_itemsize(dtype)) == 0;
  }
}

// The tables this machine can run; the first is the baseline.
static inline int kernel_tables(const tl_kernel_table *tables[3]) {
  static const char *const names[] = {"base", "avx2", "avx512"};
  int count = 0;
  for (int i = 0; i < 3; i++) {
    const tl_kernel_table *table = tl_kernels_named(names[i]);
    if (table)
      tables[count++] = table;
  }
  return count;
}

// Whether the table is of a small set, which has no kernels for divisors that
// stay the same.
static inline bool kernels_are_small(const tl_kernel_table *table) {
  return table->binary_vs[TL_OP_FLOOR_DIVIDE][TL_INT64] == NULL;
}

#endif
