// Random numbers: uniform, exponential, normal, gamma, beta, binomial, Poisson.

#include "stdlib/distributions.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>

#include "vm/kernels/kernels.h"

// --- From a word alone ------------------------------------------------------

void tl_uniforms(const uint64_t *words, size_t n, double low, double high,
                 double *out) {
  // Rounding may reach the end, which is not part of the interval.
  const double last = low == high ? low : nextafter(high, low);
  const double span = high - low;
  for (size_t i = 0; i < n; i++) {
    double x = low + span * tl_unit_float(words[i]);
    out[i] = x < high ? x : last;
  }
}

void tl_exponentials(const uint64_t *words, size_t n, double mean,
                     double *out) {
  for (size_t i = 0; i < n; i++) out[i] = -tl_unit_float(words[i]);
  tl_kernels()->unary[TL_OP_LOG1P][TL_FLOAT64](out, out, n);
  for (size_t i = 0; i < n; i++) out[i] = -out[i] * mean;
}

// --- Normal -----------------------------------------------------------------
//
// Marsaglia, Tsang: "The ziggurat method for generating random variables",
// 2000. 256 layers of equal area cover exp(-x²/2); layer i reaches from
// edges[i + 1] inside to edges[i]. Layer 0 is the base with the tail.

enum { LAYERS = 256 };
static const double TAIL = 3.6541528853610087963;

static double edges[LAYERS + 1], heights[LAYERS + 1];
static pthread_once_t tables_made = PTHREAD_ONCE_INIT;

static void make_tables(void) {
  double height = exp(-0.5 * TAIL * TAIL);
  double area =
      TAIL * height + sqrt(1.57079632679489661923) * erfc(TAIL / sqrt(2.0));
  edges[0] = area / height;
  edges[1] = TAIL;
  heights[0] = 0;
  heights[1] = height;
  for (int i = 2; i < LAYERS; i++) {
    heights[i] = heights[i - 1] + area / edges[i - 1];
    edges[i] = sqrt(-2 * log(heights[i]));
  }
  edges[LAYERS] = 0;
  heights[LAYERS] = 1;
}

void tl_normal_tables(void) {
  pthread_once(&tables_made, make_tables);
}

// Beyond TAIL: Marsaglia, "Generating a variable from the tail of the normal
// distribution", 1964.
static double normal_tail(tl_draws *s) {
  double x, y;
  do {
    x = -log(tl_next_positive(s)) / TAIL;
    y = -log(tl_next_positive(s));
  } while (2 * y < x * x);
  return TAIL + x;
}

double tl_normal(uint64_t word, tl_draws *s) {
  for (;; word = tl_next(s)) {
    unsigned layer = (unsigned)(word & 0xff);
    double x = tl_unit_float(word) * edges[layer];
    bool inside = x < edges[layer + 1];
    if (!inside && layer == 0) {
      x = normal_tail(s);
      inside = true;
    } else if (!inside) {
      double low = heights[layer], high = heights[layer + 1];
      inside = low + tl_next_unit(s) * (high - low) < exp(-0.5 * x * x);
    }
    if (inside)
      return word & 0x100 ? -x : x;
  }
}

// The layers' insides, nearly all there is, need one word and no call.
void tl_normals(const tl_stream *stream, uint64_t first, const uint64_t *words,
                size_t n, double *out) {
  for (size_t i = 0; i < n; i++) {
    uint64_t word = words[i];
    unsigned layer = (unsigned)(word & 0xff);
    double x = tl_unit_float(word) * edges[layer];
    if (x < edges[layer + 1]) {
      // The sign without a branch, which would be wrong half the time.
      const double signs[2] = {1.0, -1.0};
      out[i] = x * signs[word >> 8 & 1];
    } else {
      tl_draws s = tl_draws_of(stream, first + i);
      out[i] = tl_normal(word, &s);
    }
  }
}

static double next_normal(tl_draws *s) {
  return tl_normal(tl_next(s), s);
}

// --- Gamma and beta ---------------------------------------------------------

// Marsaglia, Tsang: "A simple method for generating gamma variables", 2000;
// for a of 1 or more.
static double gamma_above_one(double a, tl_draws *s) {
  double d = a - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    double x = next_normal(s), v = 1 + c * x;
    if (v <= 0)
      continue;
    v = v * v * v;
    if (log(tl_next_positive(s)) < 0.5 * x * x + d - d * v + d * log(v))
      return d * v;
  }
}

// The logarithm for a below 1, where the number itself may be too small: one
// of a + 1 times a uniform one to the power of 1 / a (as in that paper).
static double log_gamma_below_one(double a, tl_draws *s) {
  double log_power = log(tl_next_positive(s)) / a;
  return log(gamma_above_one(a + 1, s)) + log_power;
}

double tl_gamma(double a, tl_draws *s) {
  return a < 1 ? exp(log_gamma_below_one(a, s)) : gamma_above_one(a, s);
}

// x / (x + y) of two gamma variables; by logarithms where both may vanish.
double tl_beta(double a, double b, tl_draws *s) {
  if (a < 1 && b < 1) {
    double x = log_gamma_below_one(a, s), y = log_gamma_below_one(b, s);
    return 1 / (1 + exp(y - x));
  }
  double x = tl_gamma(a, s), y = tl_gamma(b, s);
  return x / (x + y);
}

// --- Counting ---------------------------------------------------------------
//
// Logarithms of probabilities by Loader: "Fast and accurate computation of
// binomial probabilities", 2000: no cancellation however large the counts.

// log(n!) without Stirling's approximation of it.
static double stirling_rest(double n) {
  if (n < 16)
    return lgamma(n + 1) - (n + 0.5) * log(n) + n - 0.91893853320467274178;
  double r = 1 / (n * n);
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - r / 1680) * r) * r) / n;
}

// x log(x / mean) + mean - x, also where x is close to the mean.
static double deviance(double x, double mean) {
  double difference = x - mean;
  if (fabs(difference) >= 0.1 * (x + mean))
    return x * log(x / mean) - difference;
  double v = difference / (x + mean), sum = difference * v;
  double term = 2 * x * v;
  for (int j = 3;; j += 2) {
    term *= v * v;
    double more = sum + term / j;
    if (more == sum)
      return sum;
    sum = more;
  }
}

static const double TAU = 6.28318530717958647693;

static double log_poisson(double k, double mean) {
  if (k == 0)
    return -mean;
  return -stirling_rest(k) - deviance(k, mean) - 0.5 * log(TAU * k);
}

static double log_binomial(double k, double n, double p) {
  if (k == 0)
    return n * log1p(-p);
  if (k == n)
    return n * log(p);
  return stirling_rest(n) - stirling_rest(k) - stirling_rest(n - k) -
         deviance(k, n * p) - deviance(n - k, n * (1 - p)) +
         0.5 * log(n / (TAU * k * (n - k)));
}

// As many uniform numbers as have a product above exp(-mean), less one.
static double poisson_product(double mean, tl_draws *s) {
  double floor = exp(-mean), product = tl_next_positive(s), k = 0;
  for (; product > floor; k++) product *= tl_next_positive(s);
  return k;
}

// PTRS of Hörmann: "The transformed rejection method for generating Poisson
// random variables", 1993; for means of 10 or more.
double tl_poisson(double mean, tl_draws *s) {
  if (mean < 10)
    return poisson_product(mean, s);
  double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  double inverse = 1.1239 + 1.1328 / (b - 3.4),
         quick = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = tl_next_unit(s) - 0.5, v = tl_next_positive(s);
    double margin = 0.5 - fabs(u);
    double k = floor((2 * a / margin + b) * u + mean + 0.43);
    if (margin >= 0.07 && v <= quick)
      return k;
    if (!(k >= 0) || (margin < 0.013 && v > margin))
      continue;
    if (log(v * inverse / (a / (margin * margin) + b)) <= log_poisson(k, mean))
      return k;
  }
}

// Adds up probabilities from 0 on: Kachitvichyanukul, Schmeiser: "Binomial
// random variate generation", 1988, BINV; for n p below 10.
static double binomial_search(double n, double p, tl_draws *s) {
  double odds = p / (1 - p), first = exp(n * log1p(-p));
  for (;;) {
    double u = tl_next_unit(s), probability = first, k = 0;
    // What rounding leaves of the sum below 1 is drawn again.
    for (; u >= probability && k <= n && k < 200; k++) {
      u -= probability;
      probability *= (n - k) / (k + 1) * odds;
    }
    if (k <= n && k < 200)
      return k;
  }
}

// BTRS of Hörmann: "The generation of binomial random variates", 1993; for
// n p of 10 or more, p up to a half.
static double binomial_rejection(double n, double p, tl_draws *s) {
  double deviation = sqrt(n * p * (1 - p));
  double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  double quick = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation;
  double mode = log_binomial(floor((n + 1) * p), n, p);
  for (;;) {
    double u = tl_next_unit(s) - 0.5, v = tl_next_positive(s);
    double margin = 0.5 - fabs(u);
    double k = floor((2 * a / margin + b) * u + n * p + 0.5);
    if (margin >= 0.07 && v <= quick)
      return k;
    if (!(k >= 0 && k <= n))
      continue;
    if (log(v * alpha / (a / (margin * margin) + b)) <=
        log_binomial(k, n, p) - mode)
      return k;
  }
}

double tl_binomial(double n, double p, tl_draws *s) {
  if (p > 0.5)
    return n - tl_binomial(n, 1 - p, s);
  if (n == 0 || p == 0)
    return 0;
  return n * p < 10 ? binomial_search(n, p, s) : binomial_rejection(n, p, s);
}
