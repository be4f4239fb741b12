// Every elementwise kernel against a plain reference: all dtypes, all short
// lengths, results written over operands, all instruction sets.
#include "tests/unit/kernel_items.h"

enum { LONGEST = 1031, GUARD = 64, ROOM = (LONGEST + GUARD) * 16 };

// ---- the reference ----------------------------------------------------------

static int64_t floor_quotient(int64_t x, int64_t y) {
  if (y == -1)
    return (int64_t)(0 - (uint64_t)x);
  int64_t q = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}

static uint64_t whole_quotient(bool is_signed, uint64_t x, uint64_t y) {
  return is_signed ? (uint64_t)floor_quotient((int64_t)x, (int64_t)y) : x / y;
}

static uint64_t shifted(tl_op op, bool is_signed, unsigned bits, uint64_t x,
                        uint64_t y) {
  for (uint64_t i = 0; i < y && i < bits; i++) {
    if (op == TL_OP_LEFT_SHIFT)
      x += x;
    else
      x = is_signed ? (uint64_t)floor_quotient((int64_t)x, 2) : x / 2;
  }
  return x;
}

static uint64_t whole_power(uint64_t x, uint64_t y) {
  uint64_t result = 1;
  for (uint64_t i = 0; i < y; i++) result *= x;
  return result;
}

static uint64_t whole_result(tl_op op, tl_dtype dtype, uint64_t x, uint64_t y) {
  const bool is_signed = tl_dtypes[dtype].kind == 'I';
  const unsigned bits = (unsigned)tl_itemsize(dtype) * 8;
  const bool below = is_signed ? (int64_t)x < (int64_t)y : x < y;
  const bool negative = is_signed && (int64_t)x < 0;
  switch ((int)op) {
    case TL_OP_ADD:
      return dtype == TL_BOOL ? x | y : x + y;
    case TL_OP_SUBTRACT:
      return x - y;
    case TL_OP_MULTIPLY:
      return x * y;
    case TL_OP_FLOOR_DIVIDE:
      return whole_quotient(is_signed, x, y);
    case TL_OP_REMAINDER:
      return x - y * whole_quotient(is_signed, x, y);
    case TL_OP_POW:
      return whole_power(x, y);
    case TL_OP_MAXIMUM:
      return below ? y : x;
    case TL_OP_MINIMUM:
      return below ? x : y;
    case TL_OP_EQUAL:
      return x == y;
    case TL_OP_NOT_EQUAL:
      return x != y;
    case TL_OP_LESS:
      return below;
    case TL_OP_LESS_EQUAL:
      return below || x == y;
    case TL_OP_GREATER:
      return !below && x != y;
    case TL_OP_GREATER_EQUAL:
      return !below;
    case TL_OP_LOGICAL_AND:
    case TL_OP_BITWISE_AND:
      return x & y;
    case TL_OP_LOGICAL_OR:
    case TL_OP_BITWISE_OR:
      return x | y;
    case TL_OP_LOGICAL_XOR:
    case TL_OP_BITWISE_XOR:
      return x ^ y;
    case TL_OP_LEFT_SHIFT:
    case TL_OP_RIGHT_SHIFT:
      return shifted(op, is_signed, bits, x, y);
    case TL_OP_NEGATIVE:
      return 0 - x;
    case TL_OP_BITWISE_INVERT:
    case TL_OP_LOGICAL_NOT:
      return dtype == TL_BOOL ? !x : ~x;
    case TL_OP_POPCOUNT:
      return (uint64_t)__builtin_popcountll(x << (64 - bits) >> (64 - bits));
    case TL_OP_ABS:
      return negative ? 0 - x : x;
    case TL_OP_SIGN:
      return negative ? (uint64_t)-1 : x != 0;
    case TL_OP_SQUARE:
      return x * x;
    case TL_OP_ISNAN:
    case TL_OP_ISINF:
    case TL_OP_IMAG:
      return 0;
    case TL_OP_ISFINITE:
      return 1;
    case TL_OP_SIGNBIT:
      return negative;
    default:
      return x;  // +x, real, conj, floor, ceil, trunc, round
  }
}

static double floored_quotient(double x, double y) {
  if (y == 0 || isinf(x) || isinf(y) || isnan(x) || isnan(y))
    return x / y;
  double q = floor(x / y);
  while (fma(q, y, -x) != 0 && (fma(q, y, -x) > 0) == (y > 0) &&
         fabs(q) < 0x1p52)
    q -= 1;
  return q;
}

static double floored_rest(double x, double y) {
  double r = fmod(x, y);
  if (r != 0 && (r < 0) != (y < 0))
    r += y;
  return r == 0 ? copysign(0, y) : r;
}

static double sum_of_exponentials(double x, double y) {
  if (x == y)
    return x + log(2);
  if (isnan(x) || isnan(y))
    return NAN;
  return fmax(x, y) + log1p(exp(-fabs(x - y)));
}

#define CASE(OP, expression) \
  case TL_OP_##OP:           \
    return expression;

static double real_result(tl_op op, double x, double y) {
  switch ((int)op) {
    CASE(ADD, x + y)
    CASE(SUBTRACT, x - y)
    CASE(MULTIPLY, x * y)
    CASE(DIVIDE, x / y)
    CASE(FLOOR_DIVIDE, floored_quotient(x, y))
    CASE(REMAINDER, floored_rest(x, y))
    CASE(POW, pow(x, y))
    CASE(MAXIMUM, isnan(x) || isnan(y) ? NAN : x < y ? y : x)
    CASE(MINIMUM, isnan(x) || isnan(y) ? NAN : x > y ? y : x)
    CASE(ATAN2, atan2(x, y))
    CASE(HYPOT, hypot(x, y))
    CASE(COPYSIGN, copysign(x, y))
    CASE(LOGADDEXP, sum_of_exponentials(x, y))
    CASE(EQUAL, x == y)
    CASE(NOT_EQUAL, x != y)
    CASE(LESS, x < y)
    CASE(LESS_EQUAL, x <= y)
    CASE(GREATER, x > y)
    CASE(GREATER_EQUAL, x >= y)
    CASE(NEGATIVE, -x)
    CASE(ABS, fabs(x))
    CASE(SIGN, isnan(x) ? x : (double)((x > 0) - (x < 0)))
    CASE(SQUARE, x * x)
    CASE(RECIPROCAL, 1 / x)
    CASE(SQRT, sqrt(x))
    CASE(CBRT, (double)cbrtl(x))  // glibc's cbrt is up to 3 ulp off
    CASE(EXP, exp(x))
    CASE(EXP2, exp2(x))
    CASE(EXPM1, expm1(x))
    CASE(LOG, log(x))
    CASE(LOG1P, log1p(x))
    CASE(LOG2, log2(x))
    CASE(LOG10, log10(x))
    CASE(SIN, sin(x))
    CASE(COS, cos(x))
    CASE(TAN, tan(x))
    CASE(ASIN, asin(x))
    CASE(ACOS, acos(x))
    CASE(ATAN, atan(x))
    CASE(SINH, sinh(x))
    CASE(COSH, cosh(x))
    CASE(TANH, tanh(x))
    CASE(ASINH, asinh(x))
    CASE(ACOSH, acosh(x))
    CASE(ATANH, atanh(x))
    CASE(ERF, erf(x))
    CASE(ERFC, erfc(x))
    CASE(GAMMA, tgamma(x))
    CASE(LGAMMA, lgamma(x))
    CASE(FLOOR, floor(x))
    CASE(CEIL, ceil(x))
    CASE(TRUNC, trunc(x))
    CASE(ROUND, nearbyint(x))
    CASE(ISNAN, isnan(x))
    CASE(ISINF, isinf(x) != 0)
    CASE(ISFINITE, isfinite(x))
    CASE(SIGNBIT, signbit(x) != 0)
    CASE(IMAG, 0)
    default:
      return x;  // +x, real, conj
  }
}

// What needs no function of complex numbers; others are left to
// complex_identities.
static tl_c128 complex_result(tl_op op, tl_c128 x, tl_c128 y, bool *known) {
  *known = true;
  switch ((int)op) {
    CASE(ADD, ((tl_c128){x.re + y.re, x.im + y.im}))
    CASE(SUBTRACT, ((tl_c128){x.re - y.re, x.im - y.im}))
    CASE(EQUAL, ((tl_c128){x.re == y.re && x.im == y.im, 0}))
    CASE(NOT_EQUAL, ((tl_c128){x.re != y.re || x.im != y.im, 0}))
    CASE(NEGATIVE, ((tl_c128){-x.re, -x.im}))
    CASE(POSITIVE, x)
    CASE(ROUND, ((tl_c128){nearbyint(x.re), nearbyint(x.im)}))
    CASE(ISNAN, ((tl_c128){isnan(x.re) || isnan(x.im), 0}))
    CASE(ISINF, ((tl_c128){isinf(x.re) || isinf(x.im), 0}))
    CASE(ISFINITE, ((tl_c128){isfinite(x.re) && isfinite(x.im), 0}))
    CASE(REAL, ((tl_c128){x.re, 0}))
    CASE(IMAG, ((tl_c128){x.im, 0}))
    CASE(CONJ, ((tl_c128){x.re, -x.im}))
    CASE(ABS, ((tl_c128){hypot(x.re, x.im), 0}))
    default:
      *known = false;
      return x;
  }
}

// float32 is computed in double and rounded: exact for the operations that the
// kernels do in float, as double has more than twice the digits.
static bool reference(tl_op op, tl_dtype dtype, item a, item b, item *out) {
  const tl_dtype result = tl_op_result(op, dtype);
  const bool is_bool = result == TL_BOOL;
  bool known = true;
  memset(out, 0, sizeof *out);
  if (op == TL_OP_NEXTAFTER) {
    if (dtype == TL_FLOAT16)
      known = false;
    else if (dtype == TL_FLOAT32)
      out->f32 = nextafterf(a.f32, b.f32);
    else
      out->f64 = nextafter(a.f64, b.f64);
  } else if (tl_dtype_is_complex(dtype)) {
    tl_c128 z =
        complex_result(op, complex_of(dtype, a), complex_of(dtype, b), &known);
    if (is_bool)
      out->u8 = z.re != 0;
    if (result == TL_COMPLEX128)
      out->c128 = z;
    if (result == TL_COMPLEX64)
      out->c64 = (tl_c64){(float)z.re, (float)z.im};
    if (result == TL_FLOAT64)
      out->f64 = z.re;
    if (result == TL_FLOAT32)
      out->f32 = (float)z.re;
  } else if (tl_dtype_is_real(dtype)) {
    double x = real_result(op, real_of(dtype, a), real_of(dtype, b));
    if (is_bool)
      out->u8 = x != 0;
    if (result == TL_FLOAT64)
      out->f64 = x;
    if (result == TL_FLOAT32)
      out->f32 = (float)x;
    if (result == TL_FLOAT16)
      out->u16 = tl_half_round(tl_half_of_double(x));
  } else {
    out->u64 = whole_result(op, dtype, (uint64_t)whole_of(dtype, a),
                            (uint64_t)whole_of(dtype, b));
  }
  return known;
}

// How far a kernel may be from the C library's function.
static double slack_of(tl_op op, tl_dtype dtype) {
  const bool single = dtype == TL_FLOAT32 || dtype == TL_COMPLEX64;
  if (tl_dtype_is_complex(dtype))
    return op == TL_OP_ABS ? 1e-7 : 0;
  if (!tl_dtype_is_real(dtype))
    return 0;
  if (op == TL_OP_LOGADDEXP || (op >= TL_OP_CBRT && op <= TL_OP_LGAMMA) ||
      op == TL_OP_POW || op == TL_OP_ATAN2 || op == TL_OP_HYPOT)
    return dtype == TL_FLOAT16 ? 1e-3 : single ? 2.4e-7 : 4.5e-16;
  if (op == TL_OP_MAXIMUM || op == TL_OP_MINIMUM)
    return 1e-300;  // zeros' sign
  return 0;
}

// ---- running kernels --------------------------------------------------------

typedef struct operands {
  _Alignas(64) unsigned char a[ROOM], b[ROOM], out[ROOM], first[ROOM];
} operands;

static operands mem;

// Makes operands that the caller of a kernel would let through.
static void make_operands(tl_op op, tl_dtype dtype, unsigned char *a,
                          unsigned char *b, size_t n) {
  const bool whole = tl_dtype_is_integer(dtype);
  fill_random(dtype, a, n);
  fill_random(dtype, b, n);
  if (!whole)
    return;
  for (size_t i = 0; i < n; i++) {
    item y = load_item(dtype, b, i);
    if (op == TL_OP_LEFT_SHIFT || op == TL_OP_RIGHT_SHIFT || op == TL_OP_POW)
      y.u64 = random_bits() % 80;
    if (op == TL_OP_FLOOR_DIVIDE || op == TL_OP_REMAINDER)
      if (whole_of(dtype, y) == 0)
        y.u64 = 3;
    store_item(dtype, b, i, y);
  }
}

typedef enum form { VV, VS, SV } form;

static void run(const tl_kernel_table *table, tl_op op, tl_dtype dtype,
                form form, void *out, const void *a, const void *b, size_t n) {
  if (tl_ops[op].arity == 1)
    table->unary[op][dtype](out, a, n);
  else if (form == VS)
    table->binary_vs[op][dtype](out, a, b, n);
  else if (form == SV)
    table->binary_sv[op][dtype](out, a, b, n);
  else
    table->binary[op][dtype](out, a, b, n);
}

static void check_result(const tl_kernel_table *table, tl_op op, tl_dtype dtype,
                         form form, const unsigned char *a,
                         const unsigned char *b, const unsigned char *out,
                         size_t n) {
  const tl_dtype result = tl_op_result(op, dtype);
  for (size_t i = 0; i < n; i++) {
    item x = load_item(dtype, a, form == SV ? 0 : i);
    item y = load_item(dtype, b, form == VS ? 0 : i), expected;
    item got = load_item(result, out, i);
    if (!reference(op, dtype, x, y, &expected))
      continue;
    if (!same_items(result, got, expected, slack_of(op, dtype)))
      fail_msg(
          "%s of %s, %s, item %zu of %zu: got %.17g, expected %.17g for "
          "%.17g and %.17g",
          tl_ops[op].name, tl_dtypes[dtype].name, table->name, i, n,
          complex_of(result, got).re, complex_of(result, expected).re,
          complex_of(dtype, x).re, complex_of(dtype, y).re);
  }
}

static void check_guard(const unsigned char *out, size_t nbytes) {
  for (size_t i = 0; i < GUARD; i++) assert_int_equal(out[nbytes + i], 0xA5);
}

// All instruction sets must agree bit for bit, in items that are no NaN.
static void check_same(tl_dtype result, const unsigned char *x,
                       const unsigned char *y, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (!same_items(result, load_item(result, x, i), load_item(result, y, i),
                    0))
      fail_msg("%s of %s: item %zu of %zu differs between instruction sets",
               name, tl_dtypes[result].name, i, n);
}

static void check_length(tl_op op, tl_dtype dtype, form form, size_t n) {
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  const tl_dtype result = tl_op_result(op, dtype);
  const size_t itemsize = tl_itemsize(dtype), nbytes = n * tl_itemsize(result);
  unsigned char *a = mem.a + itemsize, *b = mem.b + 3 * itemsize;
  bool is_first = true;
  make_operands(op, dtype, a, b, n + 1);
  for (int t = 0; t < count; t++) {
    if (form == VS && tables[t]->binary_vs[op][dtype] == NULL)
      continue;
    memset(mem.out, 0xA5, nbytes + GUARD);
    run(tables[t], op, dtype, form, mem.out, a, b, n);
    check_guard(mem.out, nbytes);
    check_result(tables[t], op, dtype, form, a, b, mem.out, n);
    if (is_first)
      memcpy(mem.first, mem.out, nbytes);
    is_first = false;
    check_same(result, mem.first, mem.out, n, tl_ops[op].name);
    if (tl_itemsize(result) != itemsize || form != VV)
      continue;
    memcpy(mem.out, a, n * itemsize);
    run(tables[t], op, dtype, form, mem.out, mem.out, b, n);
    check_same(result, mem.first, mem.out, n, "in place, left,");
    memcpy(mem.out, b, n * itemsize);
    if (tl_ops[op].arity == 1)
      continue;
    run(tables[t], op, dtype, form, mem.out, a, mem.out, n);
    check_same(result, mem.first, mem.out, n, "in place, right,");
  }
}

static void every_operation(void **state) {
  (void)state;
  for (tl_op op = 0; op < TL_OP_COUNT; op++) {
    if (tl_ops[op].arity == 3)
      continue;
    for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++) {
      if (tl_op_compute_dtype(op, dtype) != dtype)
        continue;
      for (size_t n = 0; n <= 70; n++) check_length(op, dtype, VV, n);
      check_length(op, dtype, VV, LONGEST);
    }
  }
}

static void scalar_forms(void **state) {
  (void)state;
  const tl_kernel_table *tables[3];
  const tl_kernel_table *table = tables[kernel_tables(tables) - 1];
  int count = 0;
  for (tl_op op = 0; (int)op < TL_BINARY_OPS; op++) {
    for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++) {
      if (!table->binary_vs[op][dtype])
        continue;
      count++;
      for (size_t n = 0; n <= 70; n++) {
        check_length(op, dtype, VS, n);
        if (table->binary_sv[op][dtype])
          check_length(op, dtype, SV, n);
        else
          assert_true(op == TL_OP_FLOOR_DIVIDE || op == TL_OP_REMAINDER);
      }
    }
  }
  // int64 does not divide; integers alone have // and % in this form, and not
  // in a small set.
  assert_int_equal(count, 12 * 3 - 1 + (kernels_are_small(table) ? 0 : 2 * 8));
}

// Many divisors of integers, each with items of its own.
static void divisors(void **state) {
  (void)state;
  for (tl_dtype dtype = TL_INT8; dtype <= TL_UINT64; dtype++) {
    for (int i = 0; i < 1500; i++) {
      check_length(TL_OP_FLOOR_DIVIDE, dtype, VS, 65);
      check_length(TL_OP_REMAINDER, dtype, VS, 65);
    }
  }
}

static void no_kernel_is_missing(void **state) {
  (void)state;
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  for (int t = 0; t < count; t++) {
    for (tl_op op = 0; op < TL_OP_COUNT; op++) {
      assert_int_equal(tl_ops[op].arity == 2, (int)op < TL_BINARY_OPS);
      for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++) {
        tl_dtype computed = tl_op_compute_dtype(op, dtype);
        if (computed == TL_DTYPE_COUNT)
          continue;
        if (tl_ops[op].arity == 1)
          assert_non_null(tables[t]->unary[op][computed]);
        else if (tl_ops[op].arity == 2)
          assert_non_null(tables[t]->binary[op][computed]);
        else
          assert_non_null(
              tables[t]->select[tl_move_size(tl_itemsize(computed))]);
      }
    }
  }
}

static void choices(void **state) {
  (void)state;
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  static uint8_t mask[LONGEST];
  for (int t = 0; t < count; t++) {
    for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++) {
      for (size_t n = 0; n <= 70; n++) {
        fill_random(TL_BOOL, mask, n);
        fill_random(dtype, mem.a, n);
        fill_random(dtype, mem.b, n);
        memcpy(mem.out, mem.b, n * tl_itemsize(dtype));
        tables[t]->select[tl_move_size(tl_itemsize(dtype))](mem.out, mask,
                                                            mem.a, mem.out, n);
        for (size_t i = 0; i < n; i++)
          assert_memory_equal(
              load_item(dtype, mem.out, i).bytes,
              load_item(dtype, mask[i] ? mem.a : mem.b, i).bytes,
              tl_itemsize(dtype));
      }
    }
  }
}

static void mixed_comparisons(void **state) {
  (void)state;
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  for (int t = 0; t < count; t++) {
    for (int k = 0; k < 6; k++) {
      for (size_t n = 0; n <= 70; n++) {
        fill_random(TL_INT64, mem.a, n);
        fill_random(TL_UINT64, mem.b, n);
        uint8_t iu[70], ui[70];
        tables[t]->compare_iu[k](iu, mem.a, mem.b, n);
        tables[t]->compare_ui[k](ui, mem.b, mem.a, n);
        for (size_t i = 0; i < n; i++) {
          long double x = (long double)load_item(TL_INT64, mem.a, i).i64;
          long double y = (long double)load_item(TL_UINT64, mem.b, i).u64;
          const bool forth[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
          const bool back[] = {y == x, y != x, y<x, y <= x, y> x, y >= x};
          assert_int_equal(iu[i], forth[k]);
          assert_int_equal(ui[i], back[k]);
        }
      }
    }
  }
}

// Complex functions against relations between them, away from their cuts.
static tl_c128 times(tl_c128 x, tl_c128 y) {
  return (tl_c128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static void assert_near(tl_c128 x, tl_c128 y, double slack) {
  assert_true(hypot(x.re - y.re, x.im - y.im) <=
              slack * fmax(1, hypot(y.re, y.im)));
}

static tl_c128 apply(tl_op op, tl_c128 x) {
  tl_c128 y;
  tl_kernels()->unary[op][TL_COMPLEX128](&y, &x, 1);
  return y;
}

static tl_c128 apply2(tl_op op, tl_c128 x, tl_c128 y) {
  tl_c128 z;
  tl_kernels()->binary[op][TL_COMPLEX128](&z, &x, &y, 1);
  return z;
}

static void complex_identities(void **state) {
  (void)state;
  static const tl_op inverses[][2] = {
      {TL_OP_EXP, TL_OP_LOG},     {TL_OP_EXPM1, TL_OP_LOG1P},
      {TL_OP_SIN, TL_OP_ASIN},    {TL_OP_COS, TL_OP_ACOS},
      {TL_OP_TAN, TL_OP_ATAN},    {TL_OP_SINH, TL_OP_ASINH},
      {TL_OP_COSH, TL_OP_ACOSH},  {TL_OP_TANH, TL_OP_ATANH},
      {TL_OP_SQUARE, TL_OP_SQRT},
  };
  for (int i = 0; i < 200; i++) {
    tl_c128 x = {random_unit() * 4 - 2, random_unit() * 4 - 2};
    tl_c128 y = {random_unit() * 4 - 2, random_unit() * 4 - 2};
    for (size_t k = 0; k < sizeof inverses / sizeof inverses[0]; k++)
      assert_near(apply(inverses[k][0], apply(inverses[k][1], x)), x, 1e-13);
    assert_near(apply2(TL_OP_MULTIPLY, x, y), times(x, y), 1e-15);
    assert_near(times(apply2(TL_OP_DIVIDE, x, y), y), x, 1e-14);
    assert_near(times(apply(TL_OP_RECIPROCAL, y), y), (tl_c128){1, 0}, 1e-14);
    assert_near(apply2(TL_OP_POW, x, y),
                apply(TL_OP_EXP, times(y, apply(TL_OP_LOG, x))), 1e-12);
    assert_near(apply2(TL_OP_POW, x, (tl_c128){3, 0}), times(x, times(x, x)),
                1e-14);
    assert_near(times(apply(TL_OP_LOG2, x), (tl_c128){log(2), 0}),
                apply(TL_OP_LOG, x), 1e-15);
    assert_near(times(apply(TL_OP_LOG10, x), (tl_c128){log(10), 0}),
                apply(TL_OP_LOG, x), 1e-15);
    tl_c128 sign = apply(TL_OP_SIGN, x);
    assert_near((tl_c128){hypot(sign.re, sign.im), 0}, (tl_c128){1, 0}, 1e-15);
  }
}

// Of parts of every size, 0 and infinity and NaN among them.
static void complex_sizes(void **state) {
  (void)state;
  enum { N = 1000 };
  static tl_c128 x[N];
  static double size[N], base[N];
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  for (int round = 0; round < 60; round++) {
    const int range = round % 3 == 0 ? 1 : round % 3 == 1 ? 40 : 2100;
    const int middle = (int)(random_bits() % 1900) - 1000;
    for (int i = 0; i < N; i++) {
      const int power = (round < 30 ? 0 : middle) - range / 2;
      x[i].re = ldexp(random_unit() - 0.5,
                      power + (int)(random_bits() % (uint64_t)range));
      x[i].im = ldexp(random_unit() - 0.5,
                      power + (int)(random_bits() % (uint64_t)range));
      if (round >= 50 && random_bits() % 50 == 0)
        x[i].re = random_real();
      if (random_bits() % 50 == 0)
        x[i].im = random_bits() % 2 ? 0 : random_real();
    }
    for (int t = 0; t < count; t++) {
      tables[t]->unary[TL_OP_ABS][TL_COMPLEX128](size, x, N);
      if (t == 0)
        memcpy(base, size, sizeof base);
      assert_memory_equal(size, base, sizeof base);
    }
    for (int i = 0; i < N; i++)
      if (!close_reals(size[i], hypot(x[i].re, x[i].im), 0x1p-52))
        fail_msg("abs of %a, %a: %a", x[i].re, x[i].im, size[i]);
  }
}

static void assert_complex(tl_c128 got, double re, double im) {
  assert_true(close_reals(got.re, re, 0));
  assert_true(close_reals(got.im, im, 0));
}

static void complex_special_cases(void **state) {
  (void)state;
  const tl_c128 i = {0, 1}, zero = {0, 0}, one = {1, 0};
  assert_complex(apply2(TL_OP_POW, i, (tl_c128){2, 0}), -1, 0);
  assert_complex(apply2(TL_OP_POW, zero, zero), 1, 0);
  assert_complex(apply2(TL_OP_DIVIDE, one, zero), INFINITY, NAN);
  assert_complex(
      apply2(TL_OP_DIVIDE, (tl_c128){1e300, 1e300}, (tl_c128){1e300, 1e300}), 1,
      0);
  assert_complex(apply(TL_OP_EXP, (tl_c128){-INFINITY, NAN}), 0, 0);
  assert_complex(apply(TL_OP_LOG, (tl_c128){-0.0, 0}), -INFINITY, acos(-1));
  assert_complex(apply(TL_OP_EXPM1, (tl_c128){-INFINITY, 1}), -1, 0);
  assert_complex(apply(TL_OP_EXPM1, (tl_c128){0, -0.0}), 0, -0.0);
  assert_complex(apply(TL_OP_LOG1P, (tl_c128){-1, 0}), -INFINITY, 0);
  assert_complex(apply(TL_OP_SQRT, (tl_c128){1, -INFINITY}), INFINITY,
                 -INFINITY);
  assert_complex(apply(TL_OP_SIGN, zero), 0, 0);
}

// The array API standard's special cases of floored division.
static void float_division(void **state) {
  (void)state;
  static const double cases[][4] = {
      // x, y, x // y, x % y
      {7, 2, 3, 1},
      {-7, 2, -4, 1},
      {7, -2, -4, -1},
      {-7, -2, 3, -1},
      {1, 0, INFINITY, NAN},
      {-1, 0, -INFINITY, NAN},
      {0, 0, NAN, NAN},
      {0, 5, 0, 0},
      {-0.0, 5, -0.0, 0},
      {0, -5, -0.0, -0.0},
      {5, INFINITY, 0, 5},
      {-5, INFINITY, -0.0, INFINITY},
      {5, -INFINITY, -0.0, -INFINITY},
      {-5, -INFINITY, 0, -5},
      {INFINITY, 2, INFINITY, NAN},
      {INFINITY, -2, -INFINITY, NAN},
      {-INFINITY, 2, -INFINITY, NAN},
      {INFINITY, INFINITY, NAN, NAN},
      {6, 3, 2, 0},
      {-6, 3, -2, 0},
      {6, -3, -2, -0.0},
      {1, 0.1, 9, 0.09999999999999995},
  };
  const tl_kernel_table *table = tl_kernels();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double q, r;
    const double *x = cases[i];
    table->binary[TL_OP_FLOOR_DIVIDE][TL_FLOAT64](&q, &x[0], &x[1], 1);
    table->binary[TL_OP_REMAINDER][TL_FLOAT64](&r, &x[0], &x[1], 1);
    if (!close_reals(q, x[2], 0) || !close_reals(r, x[3], 0))
      fail_msg("%g and %g: got %g and %.17g", x[0], x[1], q, r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_kernel_is_missing),
      cmocka_unit_test(every_operation),
      cmocka_unit_test(scalar_forms),
      cmocka_unit_test(divisors),
      cmocka_unit_test(choices),
      cmocka_unit_test(mixed_comparisons),
      cmocka_unit_test(complex_identities),
      cmocka_unit_test(complex_special_cases),
      cmocka_unit_test(complex_sizes),
      cmocka_unit_test(float_division),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
