// Random numbers: uniform, exponential, normal, gamma, beta, binomial,
// Poisson. Every method is a published one, named at its place; where a method
// rejects, the next try takes words from the item's own source.
//
// Built for speed.

#include "stdlib/distributions.h"

#include <math.h>
#include <pthread.h>

#include "vm/kernels/kernels.h"

// --- From a word alone ------------------------------------------------------

// low + (high - low) u for u from 0 on and below 1.
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

// -mean * log(1 - u), so that u of 0 gives 0 and no infinity.
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

// As many as 8 bits choose, so that no word is rejected for its layer. TAIL is
// the edge for which they all have one area.
enum { LAYERS = 256 };
static const double TAIL = 3.6541528853610087963;

static double edges[LAYERS + 1], heights[LAYERS + 1];
static pthread_once_t tables_made = PTHREAD_ONCE_INIT;

// Makes the layers' edges and heights from the outermost in: each has the area
// of the base with its tail.
static void make_tables(void) {
  // The area of the base: a rectangle up to TAIL and the tail behind it.
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

// From any thread, once in a process.
void tl_normal_tables(void) {
  pthread_once(&tables_made, make_tables);
}

// A number beyond TAIL: Marsaglia, "Generating a variable from the tail of the
// normal distribution", 1964.
static double normal_tail(tl_draws *s) {
  double x, y;
  do {
    x = -log(tl_next_positive(s)) / TAIL;
    y = -log(tl_next_positive(s));
  } while (2 * y < x * x);
  return TAIL + x;
}

// A normal number that begins with [word]: its low 8 bits choose the layer,
// the next the sign, the high 53 the place.
static double normal_of(uint64_t word, tl_draws *s) {
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

// The layers' insides, nearly all cases, need one word and no call.
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
      out[i] = normal_of(word, &s);
    }
  }
}

// --- Gamma and beta ---------------------------------------------------------

// Below 1, the method makes one of a + 1, and a power of a uniform number
// turns it into one of a.
tl_gamma tl_gamma_of(double a) {
  double d = (a < 1 ? a + 1 : a) - 1.0 / 3;
  return (tl_gamma){
      .a = a, .d = d, .c = 1 / sqrt(9 * d), .words = a < 1 ? 4 : 2};
}

// Marsaglia, Tsang: "A simple method for generating gamma variables", 2000: of
// a, or below 1 of a + 1. Few numbers need a logarithm.
static double gamma_above_one(const tl_gamma *g, tl_draws *s) {
  const double d = g->d;
  for (;;) {
    double x = normal_of(tl_next(s), s), v = 1 + g->c * x,
           u = tl_next_positive(s);
    if (v <= 0)
      continue;
    v = v * v * v;
    if (u < 1 - 0.0331 * (x * x) * (x * x) ||
        log(u) < 0.5 * x * x + d - d * v + d * log(v))
      return d * v;
  }
}

// For a below 1, where the number itself may be too small for a double, the
// logarithm of the factor of one of a + 1 (as in that paper).
static double log_power(const tl_gamma *g, tl_draws *s) {
  return log(tl_next_positive(s)) / g->a;
}

// A gamma number from an item's source.
static double next_gamma(const tl_gamma *g, tl_draws *s) {
  double x = gamma_above_one(g, s);
  return g->a < 1 ? x * exp(log_power(g, s)) : x;
}

// x / (x + y) of two gamma variables; by their quotient where both may vanish.
static double next_beta(const tl_gamma *a, const tl_gamma *b, tl_draws *s) {
  // Both numbers may be too small for a double, their quotient need not be.
  if (a->a < 1 && b->a < 1) {
    double x = gamma_above_one(a, s), y = gamma_above_one(b, s);
    double power = log_power(a, s);
    return 1 / (1 + y / x * exp(log_power(b, s) - power));
  }
  double x = next_gamma(a, s), y = next_gamma(b, s);
  return x / (x + y);
}

// Each item begins with its own words: how many another item needed makes no
// difference to it.
void tl_gammas(const tl_stream *stream, const tl_gamma *g, uint64_t first,
               const uint64_t *words, size_t n, double *out) {
  for (size_t i = 0; i < n; i++, words += g->words) {
    tl_draws s = tl_draws_from(stream, first + i, words, g->words);
    out[i] = next_gamma(g, &s);
  }
}

// Two gamma numbers, each with room for the larger of both.
int tl_beta_words(const tl_gamma *a, const tl_gamma *b) {
  return 2 * (a->words > b->words ? a->words : b->words);
}

// The words of an item serve both gamma numbers, one after the other.
void tl_betas(const tl_stream *stream, const tl_gamma *a, const tl_gamma *b,
              uint64_t first, const uint64_t *words, size_t n, double *out) {
  const int each = tl_beta_words(a, b);
  for (size_t i = 0; i < n; i++, words += each) {
    tl_draws s = tl_draws_from(stream, first + i, words, each);
    out[i] = next_beta(a, b, &s);
  }
}

// --- Counting ---------------------------------------------------------------
//
// Logarithms of probabilities by Loader: "Fast and accurate computation of
// binomial probabilities", 2000: no cancellation however large the counts.

// log(n!) less Stirling's approximation of it. log(n!) is (n + 1/2) log n - n +
// log(2π) / 2 and this; the series needs n of 16 or more for all digits.
static double stirling_rest(double n) {
  if (n < 16)
    return tl_lgamma(n + 1) - (n + 0.5) * log(n) + n - 0.91893853320467274178;
  double r = 1 / (n * n);
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - r / 1680) * r) * r) / n;
}

// x log(x / mean) + mean - x, also where x is close to the mean, by a series
// there.
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

// The logarithm of the probability of count k.
static double log_poisson(double k, double mean) {
  if (k == 0)
    return -mean;
  return -stirling_rest(k) - deviance(k, mean) - 0.5 * log(TAU * k);
}

// The logarithm of the probability of k successes in n trials.
static double log_binomial(double k, double n, double p) {
  if (k == 0)
    return n * log1p(-p);
  if (k == n)
    return n * log(p);
  return stirling_rest(n) - stirling_rest(k) - stirling_rest(n - k) -
         deviance(k, n * p) - deviance(n - k, n * (1 - p)) +
         0.5 * log(n / (TAU * k * (n - k)));
}

// Makes the limits of a distribution of counts 0, 1 … whose probabilities
// begin with [first] and of which number k is number k - 1 times (a / k + b).
// They end where no double would tell one more.
static void make_limits(tl_counts *c, double first, double a, double b) {
  // Terms by their recurrence, each from the one before.
  double term = first, sum = 0;
  int k = 0;
  for (;; k++) {
    sum += term;
    c->limits[k] = sum < 1 ? (uint64_t)(sum * 0x1p64) : UINT64_MAX;
    term *= a / (k + 1) + b;
    if (k == TL_MOST_LIMITS - 1 || (k >= c->mean && sum + term == sum))
      break;
  }
  c->limits[k] = UINT64_MAX;
  c->last = k;
  for (int i = 0, at = 0; i < TL_GUIDES; i++) {
    while (at < k && c->limits[at] <= (uint64_t)i * TL_GUIDE_STEP) at++;
    c->guides[i] = (uint8_t)at;
  }
}

// The first count whose limit a word is below.
static int64_t by_limits(const tl_counts *c, uint64_t word) {
  int k = c->guides[word / TL_GUIDE_STEP];
  while (word >= c->limits[k] && k < c->last) k++;
  return k;
}

// Hörmann's methods are made for 10 and more.
enum { FEW = 10 };  // expected: by limits

// Below FEW by limits; else the constants of Hörmann's method.
void tl_counts_poisson(double mean, tl_counts *c) {
  c->words = 1;
  c->mean = mean;
  c->is_binomial = false;
  if (mean < FEW) {
    make_limits(c, exp(-mean), mean, 0);
    return;
  }
  c->words = 2;
  c->b = 0.931 + 2.53 * sqrt(mean);
  c->a = -0.059 + 0.02483 * c->b;
  c->scale = 1.1239 + 1.1328 / (c->b - 3.4);
  c->quick = 0.9277 - 3.6224 / (c->b - 2);
  c->centre = mean + 0.43;
  c->mode = 0;
}

// The same with the smaller of p and 1 - p; the logarithm of the mode's
// probability is the scale of all others.
void tl_counts_binomial(double n, double p, tl_counts *c) {
  // Failures are counted where successes are the more frequent: p is at most a
  // half.
  c->is_swapped = p > 0.5;
  p = c->is_swapped ? 1 - p : p;
  c->is_binomial = true;
  c->words = 1;
  c->n = n;
  c->p = p;
  c->mean = n * p;
  if (c->mean < FEW) {
    double odds = p / (1 - p);
    make_limits(c, exp(n * log1p(-p)), (n + 1) * odds, -odds);
    return;
  }
  double deviation = sqrt(n * p * (1 - p));
  c->words = 2;
  c->b = 1.15 + 2.53 * deviation;
  c->a = -0.0873 + 0.0248 * c->b + 0.01 * p;
  c->scale = (2.83 + 5.1 / c->b) * deviation;
  c->quick = 0.92 - 4.2 / c->b;
  c->centre = c->mean + 0.5;
  c->mode = log_binomial(floor((n + 1) * p), n, p);
}

// PTRS and BTRS of Hörmann: "The transformed rejection method for generating
// Poisson random variables", 1993, and "The generation of binomial random
// variates", 1993. The constants are those of the papers.
static double by_rejection(const tl_counts *c, tl_draws *s) {
  for (;;) {
    double u = tl_next_unit(s) - 0.5, v = tl_next_positive(s);
    // Most tries are accepted by the quick test below, without a logarithm.
    double margin = 0.5 - fabs(u);
    double k = floor((2 * c->a / margin + c->b) * u + c->centre);
    if (margin >= 0.07 && v <= c->quick)
      return k;
    if (!(k >= 0) || (c->is_binomial ? k > c->n : margin < 0.013 && v > margin))
      continue;
    double odds = c->is_binomial ? log_binomial(k, c->n, c->p) - c->mode
                                 : log_poisson(k, c->mean);
    if (log(v * c->scale / (c->a / (margin * margin) + c->b)) <= odds)
      return k;
  }
}

// One word each by limits; by rejection two to begin with.
void tl_count_many(const tl_stream *stream, const tl_counts *c, uint64_t first,
                   const uint64_t *words, size_t n, int64_t *out) {
  if (c->words == 1) {
    for (size_t i = 0; i < n; i++) out[i] = by_limits(c, words[i]);
  } else {
    for (size_t i = 0; i < n; i++) {
      tl_draws s = tl_draws_from(stream, first + i, words + 2 * i, 2);
      out[i] = (int64_t)by_rejection(c, &s);
    }
  }
  if (c->is_binomial && c->is_swapped)
    for (size_t i = 0; i < n; i++) out[i] = (int64_t)c->n - out[i];
}
