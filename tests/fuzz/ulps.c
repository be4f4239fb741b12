// The elementwise functions against MPFR, which rounds each of them exactly:
//
//   ulps COUNT [SEED]    COUNT points for each function and dtype
//
// A quarter of the points are any bits there are, subnormals, infinities and
// NaN among them, a quarter any exponent from 2^-30 to 2^30, the rest lie in
// small intervals where functions are mostly asked. The table that is printed
// gives the largest error in units of the last place and where it was;
// TALLY_ISA chooses the instruction set. The last line is the sum of functions
// that keep to what is promised, and the exit status 1 if one does not.
#include <stdio.h>

#ifndef HAVE_MPFR

int main(void) {
  puts("skipped: needs MPFR (libmpfr-dev)\n0 passed, 0 failed");
  return 0;
}

#else

#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

enum { DIGITS = 128, BLOCK = 4096 };

typedef int exact1(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int exact2(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

// A function, the largest error that is promised (0: none is, it is libm's),
// and the interval of half of the points.
typedef struct function {
  const char *name;
  exact1 *one;
  exact2 *two;
  double bound, low, high;
} function;

static int exact_lgamma(mpfr_t out, const mpfr_t x, mpfr_rnd_t mode) {
  int sign;
  return mpfr_lgamma(out, &sign, x, mode);
}

static const function functions[] = {
    {"sqrt", mpfr_sqrt, NULL, 0.5, 0, 4},
    {"cbrt", mpfr_cbrt, NULL, 1, -10, 10},
    {"exp", mpfr_exp, NULL, 1, -750, 715},
    {"exp2", mpfr_exp2, NULL, 1, -1080, 1030},
    {"expm1", mpfr_expm1, NULL, 1, -40, 40},
    {"log", mpfr_log, NULL, 1, 0, 3},
    {"log1p", mpfr_log1p, NULL, 1, -1, 2},
    {"log2", mpfr_log2, NULL, 1, 0, 3},
    {"log10", mpfr_log10, NULL, 1, 0, 3},
    {"sin", mpfr_sin, NULL, 1, -30, 30},
    {"cos", mpfr_cos, NULL, 1, -30, 30},
    {"tan", mpfr_tan, NULL, 1, -30, 30},
    {"asin", mpfr_asin, NULL, 1, -1, 1},
    {"acos", mpfr_acos, NULL, 1, -1, 1},
    {"atan", mpfr_atan, NULL, 1, -5, 5},
    {"sinh", mpfr_sinh, NULL, 1, -30, 30},
    {"cosh", mpfr_cosh, NULL, 1, -30, 30},
    {"tanh", mpfr_tanh, NULL, 1, -20, 20},
    {"asinh", mpfr_asinh, NULL, 1, -5, 5},
    {"acosh", mpfr_acosh, NULL, 1, 1, 5},
    {"atanh", mpfr_atanh, NULL, 1, -1, 1},
    {"erf", mpfr_erf, NULL, 1, -6, 6},
    {"erfc", mpfr_erfc, NULL, 0, -6, 27},
    {"gamma", mpfr_gamma, NULL, 0, -20, 171},
    {"lgamma", exact_lgamma, NULL, 0, -20, 100},
    {"add", NULL, mpfr_add, 0.5, -4, 4},
    {"multiply", NULL, mpfr_mul, 0.5, -4, 4},
    {"divide", NULL, mpfr_div, 0.5, -4, 4},
    {"pow", NULL, mpfr_pow, 1, 0, 20},
    {"atan2", NULL, mpfr_atan2, 1, -3, 3},
    {"hypot", NULL, mpfr_hypot, 1, -3, 3},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static uint64_t state;

static uint64_t random_bits(void) {
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static double random_unit(void) {
  return (double)(random_bits() >> 11) * 0x1p-53;
}

// A point, which a float32 holds too where [is_short].
static double random_point(const function *f, bool is_short) {
  uint64_t bits = random_bits();
  double x;
  switch (random_bits() & 3) {
    case 0:
      if (is_short) {
        uint32_t half = (uint32_t)bits;
        float y;
        memcpy(&y, &half, sizeof y);
        return (double)y;
      }
      memcpy(&x, &bits, sizeof x);
      return x;
    case 1:
      x = exp2(random_unit() * 60 - 30);
      if (bits & 1)
        x = -x;
      break;
    default:
      x = f->low + (f->high - f->low) * random_unit();
  }
  return is_short ? (double)(float)x : x;
}

// How far [got] is from the exact value, in units of the last place of a float
// with so many digits. 1e9: another sign of zero, NaN where there is none.
static double error_of(double got, mpfr_t exact, int digits, int lowest) {
  double rounded = mpfr_get_d(exact, MPFR_RNDN);
  if (isnan(got) || mpfr_nan_p(exact))
    return isnan(got) && mpfr_nan_p(exact) ? 0 : 1e9;
  if (mpfr_zero_p(exact) || mpfr_inf_p(exact))
    return got == rounded && !signbit(got) == !signbit(rounded) ? 0 : 1e9;
  mpfr_exp_t exponent = mpfr_get_exp(exact), most = digits == 24 ? 128 : 1024;
  if (exponent < lowest)
    exponent = lowest;
  // Past the largest number infinity is right; as far as errors go it is the
  // number that would come after the largest.
  if (isinf(got) && exponent > most)
    return signbit(got) == (mpfr_sgn(exact) < 0) ? 0 : 1e9;
  mpfr_t off;
  mpfr_init2(off, DIGITS);
  if (isinf(got))
    mpfr_set_si_2exp(off, got < 0 ? -1 : 1, most, MPFR_RNDN);
  else
    mpfr_set_d(off, got, MPFR_RNDN);
  mpfr_sub(off, off, exact, MPFR_RNDN);
  mpfr_mul_2si(off, off, digits - exponent, MPFR_RNDN);
  double error = fabs(mpfr_get_d(off, MPFR_RNDN));
  mpfr_clear(off);
  return error;
}

typedef struct worst {
  double error, x, y;
} worst;

// A block of points, as Tally computes it; out has the results as float64.
static bool compute(tally_vm *vm, const function *f, bool is_short,
                    double *points[2], double *out) {
  static float halves[2][BLOCK];
  tally_value args[2], result;
  int count = f->one ? 1 : 2;
  char type[32];
  snprintf(type, sizeof type, "%d * %s", BLOCK,
           is_short ? "float32" : "float64");
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < BLOCK; i++) halves[k][i] = (float)points[k][i];
    tally_buffer buffer = {.size = sizeof buffer,
                           .data = is_short ? (void *)halves[k] : points[k],
                           .type = type,
                           .read_only = 1,
                           .nbytes = BLOCK * (is_short ? 4 : 8)};
    if (tally_from_buffer(vm, &buffer, &args[k]) != TALLY_OK)
      return false;
  }
  tally_array about;
  if (tally_call(vm, f->name, count, args, &result) != TALLY_OK ||
      tally_to_buffer(vm, result, &about) != TALLY_OK)
    return false;
  for (int i = 0; i < BLOCK; i++)
    out[i] =
        is_short ? (double)((float *)about.data)[i] : ((double *)about.data)[i];
  tally_release(vm, result);
  for (int k = 0; k < count; k++) tally_release(vm, args[k]);
  return true;
}

static bool measure(tally_vm *vm, const function *f, bool is_short, long count,
                    worst *w) {
  static double first[BLOCK], second[BLOCK], out[BLOCK];
  double *points[2] = {first, second};
  int digits = is_short ? 24 : 53, lowest = is_short ? -125 : -1021;
  mpfr_t x, y, exact;
  mpfr_inits2(DIGITS, x, y, exact, (mpfr_ptr)0);
  bool ok = true;
  *w = (worst){0, 0, 0};
  for (long done = 0; ok && done < count; done += BLOCK) {
    for (int i = 0; i < BLOCK; i++) {
      first[i] = random_point(f, is_short);
      second[i] = random_point(f, is_short);
    }
    ok = compute(vm, f, is_short, points, out);
    for (int i = 0; ok && i < BLOCK; i++) {
      mpfr_set_d(x, first[i], MPFR_RNDN);
      mpfr_set_d(y, second[i], MPFR_RNDN);
      if (f->one)
        f->one(exact, x, MPFR_RNDN);
      else
        f->two(exact, x, y, MPFR_RNDN);
      double error = error_of(out[i], exact, digits, lowest);
      if (error > w->error)
        *w = (worst){error, first[i], second[i]};
    }
  }
  mpfr_clears(x, y, exact, (mpfr_ptr)0);
  return ok;
}

static void print_row(const function *f, const worst w[2]) {
  printf("| `%s` |", f->name);
  for (int k = 0; k < 2; k++) {
    printf(" %.3f at `%.*g", w[k].error, k ? 9 : 17, w[k].x);
    if (f->two)
      printf(", %.*g", k ? 9 : 17, w[k].y);
    printf("` |");
  }
  puts("");
}

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 10000;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  int passed = 0, failed = 0;
  tally_vm *vm;
  if (tally_open(NULL, &vm) != TALLY_OK)
    return 2;
  puts("| function | float64 | float32 |\n| --- | --- | --- |");
  for (int i = 0; i < FUNCTIONS; i++) {
    const function *f = &functions[i];
    worst w[2];
    for (int k = 0; k < 2; k++) {
      state = seed + (uint64_t)(2 * i + k) * 1000003;
      if (!measure(vm, f, k == 1, count, &w[k])) {
        printf("%s\n", tally_error(vm)->report);
        return 2;
      }
    }
    print_row(f, w);
    fflush(stdout);
    bool ok = f->bound == 0 || fmax(w[0].error, w[1].error) <= f->bound;
    if (!ok)
      printf("FAILED: %s: at most %g is promised\n", f->name, f->bound);
    passed += ok;
    failed += !ok;
  }
  tally_close(vm);
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
#endif
