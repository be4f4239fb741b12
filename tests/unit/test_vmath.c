// The vectorised functions: at most 1 ulp from the truth, which long double
// stands in for, and the same bits from all instruction sets.
#include "tests/unit/kernel_items.h"
#include "vm/kernels/loop.h"
// Here for the instruction set that every processor has.
#include "vm/kernels/vector.h"

enum { COUNT = 1 << 18 };

static double x[COUNT], y[COUNT], out[3][COUNT];
static float xf[COUNT], yf[COUNT], outf[3][COUNT];

static const double awkward[] = {
    0,
    -0.0,
    1,
    -1,
    INFINITY,
    -INFINITY,
    NAN,
    0x1p-1074,
    -0x1p-1074,
    0x1p-1022,
    0x1.fffffffffffffp-1023,
    1e-300,
    -1e-300,
    1e300,
    -1e300,
    709.78,
    709.79,
    709.7827,
    -708.4,
    708,
    -708,
    -745.13,
    -745.14,
    -746,
    -800,
    800,
    0.5,
    2,
    0x1.fffffffffffffp-1,
    0x1.0000000000001p0,
    6,
    5.9,
    -6,
    27,
    30,
    1e-20,
    -1e-20,
    0.84375,
    0.0625,
    0.625,
    22,
    20,
    1e5,
    99999.999,
    1e22,
    88.7,
    -103.9,
    0x1.921fb54442d18p0,
    0x1.921fb54442d18p1,
    355,
    3,
    0.3333333333333333,
};
enum { AWKWARD = sizeof awkward / sizeof awkward[0] };

// Half of the numbers in the interval, half with any exponent up to its ends.
static double random_in(double low, double high) {
  if (random_bits() & 1)
    return low + (high - low) * random_unit();
  double size = exp2(random_unit() * 60 - 50);
  double value = random_bits() & 1 ? size : -size;
  return fmin(fmax(value, low), high);
}

static double ulps(double got, long double truth, int digits, int lowest) {
  const double rounded = digits == 24 ? (double)(float)truth : (double)truth;
  if (isnan(got) || isnan(rounded))
    return isnan(got) && isnan(rounded) ? 0 : 1e9;
  if (isinf(got) || isinf(rounded))
    return got == rounded ? 0 : 1e9;
  if (truth == 0)
    return got == 0 && !signbit(got) == !signbit(truth) ? 0 : 1e9;
  int exponent;
  frexpl(truth, &exponent);
  if (exponent < lowest)
    exponent = lowest;
  return (double)(fabsl((long double)got - truth) /
                  ldexpl(1, exponent - digits));
}

static void fill_arguments(double low, double high) {
  for (int i = 0; i < COUNT; i++) {
    x[i] = i < AWKWARD ? awkward[i] : random_in(low, high);
    y[i] = i < AWKWARD ? awkward[(i * 7 + 3) % AWKWARD] : random_in(-20, 20);
    xf[i] = (float)x[i];
    yf[i] = (float)y[i];
  }
}

// No awkward numbers among them, so that blocks take the fast way.
static void fill_whole(double low, double high) {
  for (int i = 0; i < COUNT; i++) {
    x[i] = random_in(low, high);
    xf[i] = (float)x[i];
  }
}

// An item's bits depend neither on its neighbours nor on its place in a vector.
static void check_alone(const tl_kernel_table *table, tl_op op) {
  enum { MOST = 70 };  // more than any turn of any instruction set
  for (int i = 0; i < 256; i++) {
    double got[MOST];
    float got_f[MOST];
    const size_t n = 1 + (size_t)i % MOST;
    table->unary[op][TL_FLOAT64](got, x + i, n);
    table->unary[op][TL_FLOAT32](got_f, xf + i, n);
    for (size_t j = 0; j < n; j++) {
      assert_true(close_reals(got[j], out[0][(size_t)i + j], 0));
      assert_true(
          close_reals((double)got_f[j], (double)outf[0][(size_t)i + j], 0));
    }
  }
}

typedef long double truth1(long double);
typedef long double truth2(long double, long double);

static void check_bound(const char *name, double worst, double at) {
  if (worst > 1.0)
    fail_msg("%s: %.3f ulp at %a", name, worst, at);
}

// One function of one operand or of two in float64 and float32.
static void check(tl_op op, truth1 *one, truth2 *two) {
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  double worst = 0, worst_f = 0, at = 0, at_f = 0;
  for (int t = 0; t < count; t++) {
    if (one) {
      tables[t]->unary[op][TL_FLOAT64](out[t], x, COUNT);
      tables[t]->unary[op][TL_FLOAT32](outf[t], xf, COUNT);
    } else {
      tables[t]->binary[op][TL_FLOAT64](out[t], x, y, COUNT);
      tables[t]->binary[op][TL_FLOAT32](outf[t], xf, yf, COUNT);
    }
    for (int i = 0; i < COUNT; i++) {
      assert_true(close_reals(out[t][i], out[0][i], 0));
      assert_true(close_reals((double)outf[t][i], (double)outf[0][i], 0));
    }
    if (one)
      check_alone(tables[t], op);
  }
  for (int i = 0; i < COUNT; i++) {
    const long double exact = one ? one(x[i]) : two(x[i], y[i]);
    const long double exact_f =
        one ? one((long double)xf[i])
            : two((long double)xf[i], (long double)yf[i]);
    const double off = ulps(out[0][i], exact, 53, -1021);
    const double off_f = ulps((double)outf[0][i], exact_f, 24, -125);
    if (off > worst)
      worst = off, at = x[i];
    if (off_f > worst_f)
      worst_f = off_f, at_f = (double)xf[i];
  }
  print_message("%s: %.3f and %.3f ulp\n", tl_ops[op].name, worst, worst_f);
  check_bound(tl_ops[op].name, worst, at);
  check_bound(tl_ops[op].name, worst_f, at_f);
}

static void exponentials(void **state) {
  (void)state;
  fill_arguments(-750, 715);
  check(TL_OP_EXP, expl, NULL);
  fill_whole(-720, -700);
  check(TL_OP_EXP, expl, NULL);
  fill_arguments(-104, 89);
  check(TL_OP_EXP, expl, NULL);
  fill_arguments(-1, 1);
  check(TL_OP_EXP, expl, NULL);
  check(TL_OP_EXPM1, expm1l, NULL);
  fill_arguments(-40, 707);
  check(TL_OP_EXPM1, expm1l, NULL);
  fill_whole(-2, 3);
  check(TL_OP_EXPM1, expm1l, NULL);
}

static void logarithms(void **state) {
  (void)state;
  fill_arguments(0, 2);
  check(TL_OP_LOG, logl, NULL);
  fill_arguments(0.5, 2);
  check(TL_OP_LOG, logl, NULL);
  fill_whole(0.97, 1.03);
  check(TL_OP_LOG, logl, NULL);
  check(TL_OP_LOG2, log2l, NULL);
  check(TL_OP_LOG10, log10l, NULL);
  fill_whole(0, 1e-307);
  check(TL_OP_LOG2, log2l, NULL);
  check(TL_OP_LOG10, log10l, NULL);
  fill_arguments(0, 1e300);
  check(TL_OP_LOG, logl, NULL);
  check(TL_OP_LOG2, log2l, NULL);
  fill_arguments(-1, 1);
  check(TL_OP_LOG1P, log1pl, NULL);
  fill_arguments(-0.5, 1e9);
  check(TL_OP_LOG1P, log1pl, NULL);
}

static void logarithms_of_powers(void **state) {
  (void)state;
  for (int k = -1074; k < 1024; k++) {
    double power = ldexp(1, k), got;
    tl_kernels()->unary[TL_OP_LOG2][TL_FLOAT64](&got, &power, 1);
    assert_true(got == k);
  }
  for (int k = 0; k <= 22; k++) {
    double power = pow(10, k), got;
    tl_kernels()->unary[TL_OP_LOG10][TL_FLOAT64](&got, &power, 1);
    assert_true(got == k);
  }
}

static void sines(void **state) {
  (void)state;
  static const double limits[] = {1, 20, 99999, 1e9};
  for (int i = 0; i < 4; i++) {
    fill_arguments(-limits[i], limits[i]);
    check(TL_OP_SIN, sinl, NULL);
    check(TL_OP_COS, cosl, NULL);
  }
  // Where most is lost: next to an odd multiple of pi / 4.
  fill_whole(-7.07, -7.05);
  check(TL_OP_SIN, sinl, NULL);
  fill_whole(0.7854, 0.83);
  check(TL_OP_COS, cosl, NULL);
}

static void check_cosine(double s) {
  const vec_mask all = is_less(all_of(0), 1);
  const double got = cosine_where(all, all_of(s))[0];
  if (got != fma(s, -2 * s, 1))
    fail_msg("1 - 2 s^2 for %a: %a and %a", s, got, fma(s, -2 * s, 1));
}

// Where nothing fuses, 1 - 2 s^2 is put together; at multiples of a short
// number it is next to halfway between two.
static void cosines_of_halves(void **state) {
  (void)state;
  for (int i = 0; i < COUNT; i++)
    check_cosine((random_unit() - 0.5) * exp2(-30 * random_unit()));
  for (int digits = 1; digits < 28; digits++)
    for (int i = 0; i < 1 << (digits < 10 ? digits : 10); i++) {
      const double s = ldexp(i, -1 - digits);
      for (double unit = 0x1p-54; unit > 0x1p-60; unit /= 2)
        for (int off = -3; off <= 3; off++) check_cosine(s + off * unit);
    }
}

static void others(void **state) {
  (void)state;
  static const double limits[] = {1, 6, 30};
  for (int i = 0; i < 3; i++) {
    fill_arguments(-limits[i], limits[i]);
    check(TL_OP_TANH, tanhl, NULL);
    check(TL_OP_ERF, erfl, NULL);
  }
}

static void more_exponentials(void **state) {
  (void)state;
  static const double limits[] = {0.4, 2, 25, 715};
  for (int i = 0; i < 4; i++) {
    fill_arguments(-limits[i], limits[i]);
    check(TL_OP_SINH, sinhl, NULL);
    check(TL_OP_COSH, coshl, NULL);
  }
  fill_arguments(-1080, 1030);
  check(TL_OP_EXP2, exp2l, NULL);
  fill_whole(-1.5, 1.5);
  check(TL_OP_EXP2, exp2l, NULL);
}

static void more_logarithms(void **state) {
  (void)state;
  fill_arguments(0, 1e300);
  check(TL_OP_LOG10, log10l, NULL);
  fill_whole(0.5, 2);
  check(TL_OP_LOG10, log10l, NULL);
  static const double limits[] = {1, 3, 1e9, 1e300};
  for (int i = 0; i < 4; i++) {
    fill_arguments(-limits[i], limits[i]);
    check(TL_OP_ASINH, asinhl, NULL);
    fill_arguments(1, 1 + limits[i]);
    check(TL_OP_ACOSH, acoshl, NULL);
  }
  fill_arguments(-1, 1);
  check(TL_OP_ATANH, atanhl, NULL);
  fill_whole(0.99, 1);
  check(TL_OP_ATANH, atanhl, NULL);
}

static void angles(void **state) {
  (void)state;
  static const double limits[] = {0.5, 1, 20, 99999, 1e9};
  for (int i = 0; i < 5; i++) {
    fill_arguments(-limits[i], limits[i]);
    check(TL_OP_TAN, tanl, NULL);
    check(TL_OP_ATAN, atanl, NULL);
    if (i < 2) {
      check(TL_OP_ASIN, asinl, NULL);
      check(TL_OP_ACOS, acosl, NULL);
    }
    check(TL_OP_ATAN2, NULL, atan2l);
  }
  fill_whole(1.5, 1.6);  // next to a pole
  check(TL_OP_TAN, tanl, NULL);
}

static void roots(void **state) {
  (void)state;
  static const double limits[] = {1, 1000, 1e300};
  for (int i = 0; i < 3; i++) {
    fill_arguments(-limits[i], limits[i]);
    check(TL_OP_CBRT, cbrtl, NULL);
    check(TL_OP_HYPOT, NULL, hypotl);
  }
  for (int i = 0; i < COUNT; i++) {  // of one size, and of both ends
    const double scale = i % 3 == 0 ? 1 : i % 3 == 1 ? 0x1p1020 : 0x1p-1040;
    x[i] = (random_unit() - 0.5) * scale;
    y[i] = (random_unit() - 0.5) * scale;
    xf[i] = (float)x[i];
    yf[i] = (float)y[i];
  }
  check(TL_OP_HYPOT, NULL, hypotl);
  check(TL_OP_CBRT, cbrtl, NULL);
  check(TL_OP_ATAN2, NULL, atan2l);
  for (int k = 1; k < 2000; k++) {
    double cube = (double)k * k * k, got;
    tl_kernels()->unary[TL_OP_CBRT][TL_FLOAT64](&got, &cube, 1);
    assert_true(got == k);
  }
}

static void powers(void **state) {
  (void)state;
  static const double limits[] = {2, 100, 1e10};
  for (int i = 0; i < 3; i++) {
    fill_arguments(-0.1, limits[i]);
    check(TL_OP_POW, NULL, powl);
  }
  // Large exponents of numbers near 1, and results up to both ends.
  for (int i = 0; i < COUNT; i++) {
    x[i] = exp((random_unit() - 0.5) * (i % 2 ? 0.1 : 20));
    y[i] = (random_unit() - 0.5) * (i % 2 ? 15000 : 150);
    xf[i] = (float)x[i];
    yf[i] = (float)y[i];
  }
  check(TL_OP_POW, NULL, powl);
}

static void set_exponent(int i, double exponent) {
  y[i] = exponent;
  yf[i] = (float)exponent;
}

// Whole and half exponents: blocks of one, and each among others, as an item's
// bits depend on its own alone.
static void easy_powers(void **state) {
  (void)state;
  static const double exponents[] = {-32, -2.5, -2, -1,  -0.5, 0,  0.5,
                                     1,   1.5,  2,  2.5, 3,    32, 32.5};
  for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
    fill_arguments(-30, 30);
    for (int i = 0; i < COUNT; i++) set_exponent(i, exponents[k]);
    check(TL_OP_POW, NULL, powl);
  }
  for (int round = 0; round < 2; round++) {
    fill_arguments(round == 0 ? -2 : 0, 4);
    for (int i = 0; i < COUNT; i++) {
      const int kind = (int)(random_bits() % 8);
      set_exponent(i, kind == 0   ? random_unit() * 9 - 4
                      : kind == 1 ? (double)(random_bits() % 41) - 20
                                  : 0.5 * (double)(random_bits() % 13) - 3);
    }
    check(TL_OP_POW, NULL, powl);
    const tl_kernel_table *tables[3];
    const int count = kernel_tables(tables);
    for (int t = 0; t < count; t++) {
      enum { SOME = 2000 };
      double together[SOME], alone;
      tables[t]->binary[TL_OP_POW][TL_FLOAT64](together, x, y, SOME);
      for (int i = 0; i < SOME; i++) {
        tables[t]->binary[TL_OP_POW][TL_FLOAT64](&alone, x + i, y + i, 1);
        assert_memory_equal(&alone, &together[i], sizeof alone);
      }
    }
  }
  // Up to both ends of the range, where the C library takes over.
  for (int i = 0; i < COUNT; i++) {
    x[i] = ldexp(random_unit() + 0.5, (int)(random_bits() % 2000) - 1000);
    xf[i] = (float)ldexp(random_unit() + 0.5, (int)(random_bits() % 250) - 125);
    set_exponent(i, (double)(random_bits() % 9) - 4);
  }
  check(TL_OP_POW, NULL, powl);
}

// Floored division against fmod, in blocks that take the fast way: quotients
// of all sizes, next to whole numbers and on them.
static void divisions(void **state) {
  (void)state;
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  for (int i = 0; i < COUNT; i++) {
    double size = exp2(random_unit() * 49), scale = exp2(random_unit() * 40);
    y[i] = (random_unit() - 0.5) * scale;
    if (i % 3 == 0)
      y[i] = rint(y[i]) + 0.5;
    x[i] = rint(size) * y[i];
    if (i % 5 == 1)
      x[i] = nextafter(x[i], 0);
    if (i % 5 == 2)
      x[i] = nextafter(x[i], INFINITY);
    if (i % 5 == 3)
      x[i] = size * y[i];
    if (i % 7 == 0)
      x[i] = y[i] * (random_unit() - 0.5) * 1e-9;
    if (i % 2 == 0)
      x[i] = -x[i];
    if (i % 100 == 0)
      x[i] = i % 200 ? 0.0 : -0.0;
    xf[i] = (float)x[i];
    yf[i] = (float)y[i];
    if (yf[i] == 0)
      yf[i] = 1;
  }
  for (int t = 0; t < count; t++) {
    tables[t]->binary[TL_OP_REMAINDER][TL_FLOAT64](out[0], x, y, COUNT);
    tables[t]->binary[TL_OP_FLOOR_DIVIDE][TL_FLOAT64](out[1], x, y, COUNT);
    tables[t]->binary[TL_OP_REMAINDER][TL_FLOAT32](outf[0], xf, yf, COUNT);
    tables[t]->binary[TL_OP_FLOOR_DIVIDE][TL_FLOAT32](outf[1], xf, yf, COUNT);
    for (int i = 0; i < COUNT; i++) {
      const double rest = fmod(x[i], y[i]);
      const bool turned = rest != 0 && (rest < 0) != (y[i] < 0);
      double expected = turned ? rest + y[i] : rest;
      if (expected == 0)
        expected = copysign(0, y[i]);
      const double quotient = rint((x[i] - rest) / y[i]) - turned;
      if (!close_reals(out[0][i], expected, 0) || out[1][i] != quotient)
        fail_msg("%a and %a: got %a and %a, expected %a and %a", x[i], y[i],
                 out[1][i], out[0][i], quotient, expected);
      const float rest_f = fmodf(xf[i], yf[i]);
      const bool turned_f = rest_f != 0 && (rest_f < 0) != (yf[i] < 0);
      float expected_f = turned_f ? rest_f + yf[i] : rest_f;
      if (expected_f == 0)
        expected_f = copysignf(0, yf[i]);
      if (!close_reals((double)outf[0][i], (double)expected_f, 0))
        fail_msg("%a and %a: got %a, expected %a", (double)xf[i], (double)yf[i],
                 (double)outf[0][i], (double)expected_f);
      assert_true(outf[1][i] == rintf(outf[1][i]));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exponentials),
      cmocka_unit_test(logarithms),
      cmocka_unit_test(logarithms_of_powers),
      cmocka_unit_test(sines),
      cmocka_unit_test(cosines_of_halves),
      cmocka_unit_test(others),
      cmocka_unit_test(more_exponentials),
      cmocka_unit_test(more_logarithms),
      cmocka_unit_test(angles),
      cmocka_unit_test(roots),
      cmocka_unit_test(powers),
      cmocka_unit_test(easy_powers),
      cmocka_unit_test(divisions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
