/* Chains of elementwise operations, mathematics, options by Black and Scholes.
 */
#include "peer.h"

#include <math.h>
#include <stdio.h>

static int8_t *bytes_in, *bytes_out;

static NOINLINE void nest_kernel(int8_t *restrict y, const int8_t *restrict x) {
  for (size_t i = 0; i < NEST; i++)
    y[i] = (int8_t)(x[i] + (x[i] + (x[i] + (x[i] + (x[i] + x[i])))));
}

static void nest8(void) {
  nest_kernel(bytes_out, bytes_in);
  check = bytes_out[12345];
}

void nest(void) {
  bytes_in = room(NEST);
  bytes_out = room(NEST);
  bench("nest8", nest8);
}

static size_t length;

static NOINLINE void poly_kernel(double *restrict o, const double *restrict x,
                                 double a, double b, double c, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = (a * x[i] + b) * x[i] + c;
}

static NOINLINE void hyp_kernel(double *restrict o, const double *restrict x,
                                const double *restrict y, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = sqrt(x[i] * x[i] + y[i] * y[i]);
}

static NOINLINE void where_kernel(double *restrict o, const double *restrict x,
                                  const double *restrict y, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = x[i] > 0 ? x[i] * y[i] : x[i] - y[i];
}

static void poly(void) {
  poly_kernel(out, X, 1.5, -0.5, 0.25, length);
  check = out[length / 2];
}

static void hyp(void) {
  hyp_kernel(out, X, Y, length);
  check = out[length / 2];
}

static void where(void) {
  where_kernel(out, X, Y, length);
  check = out[length / 2];
}

void chain(void) {
  static const size_t lengths[] = {1000, 100000, 10000000};
  static const char *const sizes[] = {"1e3", "1e5", "1e7"};
  static const struct {
    const char *name;
    void (*run)(void);
  } all[] = {{"poly", poly}, {"hyp", hyp}, {"where", where}};
  read_reals();
  for (int i = 0; i < 3; i++) {
    length = lengths[i];
    for (int k = 0; k < 3; k++) {
      char name[32];
      snprintf(name, sizeof name, "%s_%s", all[k].name, sizes[i]);
      bench(name, all[k].run);
    }
  }
}

static void exp_cos_sum(void) {
  double s = 0;
  for (size_t i = 0; i < LONG; i++) s += exp(-X[i] * X[i]) * cos(Y[i]);
  check = s;
}

#define MATHS(name, expression)                                  \
  static NOINLINE void name##_kernel(double *restrict o,         \
                                     const double *restrict x) { \
    for (size_t i = 0; i < SHORT; i++) o[i] = expression;        \
  }                                                              \
  static void name##_all(void) {                                 \
    name##_kernel(out, X);                                       \
    check = out[777];                                            \
  }
MATHS(exp, exp(x[i]))
MATHS(log, log(x[i] + 1.0))
MATHS(sin, sin(x[i]))
MATHS(tanh, tanh(x[i]))

void maths(void) {
  read_reals();
  bench("texp_sum", exp_cos_sum);
  bench_per("exp_ns", exp_all, SHORT * 1e-9);
  bench_per("log_ns", log_all, SHORT * 1e-9);
  bench_per("sin_ns", sin_all, SHORT * 1e-9);
  bench_per("tanh_ns", tanh_all, SHORT * 1e-9);
}

// --- Black-Scholes ----------------------------------------------------------

static double *spot, *strike, *term;

static inline double cdf(double d) {
  double k = 1 / (1 + 0.2316419 * fabs(d));
  double p = 0.3989422804014327 * exp(-0.5 * d * d) * k *
             (0.319381530 +
              k * (-0.356563782 +
                   k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  return d > 0 ? 1 - p : p;
}

static void black_scholes(void) {
  double r = 0.05, v = 0.2;
  double *restrict call = out, *restrict put = out2;
  for (size_t i = 0; i < MILLION; i++) {
    double s = spot[i], k = strike[i], t = term[i], q = v * sqrt(t);
    double d1 = (log(s / k) + (r + 0.5 * v * v) * t) / q;
    double e = k * exp(-r * t), n1 = cdf(d1), n2 = cdf(d1 - q);
    call[i] = s * n1 - e * n2;
    put[i] = e * (1 - n2) - s * (1 - n1);
  }
  check = call[777] + put[778];
}

void options(void) {
  read_reals();
  spot = room(8 * MILLION);
  strike = room(8 * MILLION);
  term = room(8 * MILLION);
  for (size_t i = 0; i < MILLION; i++) {
    spot[i] = 100 + 40 * X[i];
    strike[i] = 100 + 40 * Y[i];
    term[i] = 1.25 + X[LONG - 1 - i];
  }
  bench("bs", black_scholes);
}
