/* The general workloads in C, fused by hand: what the machine can do.
   usage: peer DATA GROUP …
          peer --start COMMAND …   (times another program's start and end)
   Outputs go to memory that was made and touched beforehand. */
#define _GNU_SOURCE
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static const char *directory;
static volatile double check;  // what a workload computed

// --- Timing -----------------------------------------------------------------

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void bench_per(const char *name, void (*f)(void), double per) {
  f();
  double result = check, start = now();
  f();
  double once = now() - start, samples[11];
  int turns = once < 0.004 ? (int)(0.004 / (once + 1e-9)) + 1 : 1;
  int runs = once * turns > 0.5 ? 3 : 9;
  for (int r = 0; r < runs; r++) {
    start = now();
    for (int i = 0; i < turns; i++) f();
    samples[r] = (now() - start) / turns / per;
  }
  qsort(samples, (size_t)runs, sizeof *samples, by_value);
  printf("%s\t%.9g\t%.9g\t\t%.17g\n", name, samples[runs / 2], samples[0],
         result);
  fflush(stdout);
}

static void bench(const char *name, void (*f)(void)) {
  bench_per(name, f, 1);
}

// --- Inputs -----------------------------------------------------------------

static void *room(size_t nbytes) {
  size_t whole = (nbytes + (1u << 21) - 1) >> 21 << 21;
  char *p = aligned_alloc(1u << 21, whole);
  if (!p)
    abort();
  madvise(p, whole, MADV_HUGEPAGE);
  memset(p, 1, whole);
  return p;
}

static void *read_file(const char *name, size_t *nbytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *f = fopen(path, "rb");
  if (!f) {
    perror(path);
    exit(1);
  }
  fseek(f, 0, SEEK_END);
  *nbytes = (size_t)ftell(f);
  rewind(f);
  char *p = room(*nbytes + 64);
  if (fread(p, 1, *nbytes, f) != *nbytes)
    exit(1);
  fclose(f);
  p[*nbytes] = 0;
  return p;
}

enum { NPY_HEADER = 128 };

// The items of an array, moved to the aligned beginning of their memory.
static void *read_array(const char *name) {
  size_t nbytes;
  char *p = read_file(name, &nbytes);
  memmove(p, p + NPY_HEADER, nbytes - NPY_HEADER);
  return p;
}

static double *X, *Y, *out, *out2;

static void read_reals(void) {
  if (X)
    return;
  X = read_array("x.npy");
  Y = read_array("y.npy");
  out = room(8 * 10000064);
  out2 = room(8 * 10000064);
}

// --- Elementwise ------------------------------------------------------------

enum { NEST = 100000000, LONG = 10000000, SHORT = 100000, MILLION = 1000000 };

static int8_t *bytes_in, *bytes_out;

static NOINLINE void nest_kernel(int8_t *restrict y, const int8_t *restrict x) {
  for (size_t i = 0; i < NEST; i++)
    y[i] = (int8_t)(x[i] + (x[i] + (x[i] + (x[i] + (x[i] + x[i])))));
}

static void nest8(void) {
  nest_kernel(bytes_out, bytes_in);
  check = bytes_out[12345];
}

static void nest(void) {
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

static void chain(void) {
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

static void maths(void) {
  read_reals();
  bench("texp_sum", exp_cos_sum);
  bench_per("exp_ns", exp_all, SHORT * 1e-9);
  bench_per("log_ns", log_all, SHORT * 1e-9);
  bench_per("sin_ns", sin_all, SHORT * 1e-9);
  bench_per("tanh_ns", tanh_all, SHORT * 1e-9);
}

// --- Reductions of a square matrix ------------------------------------------

enum { SIDE = 4000 };

static double *M;
static int64_t places[SIDE];

#define ROWS for (size_t i = 0; i < SIDE; i++)
#define COLUMNS for (size_t j = 0; j < SIDE; j++)

static void sum0(void) {
  memset(out, 0, SIDE * sizeof *out);
  ROWS {
    const double *m = M + i * SIDE;
    COLUMNS out[j] += m[j];
  }
  check = out[7];
}

static void sum1(void) {
  ROWS {
    const double *m = M + i * SIDE;
    double s = 0;
    COLUMNS s += m[j];
    out[i] = s;
  }
  check = out[7];
}

static void mean0(void) {
  sum0();
  COLUMNS out[j] /= SIDE;
  check = out[7];
}

static void mean1(void) {
  sum1();
  COLUMNS out[j] /= SIDE;
  check = out[7];
}

static void max0(void) {
  memcpy(out, M, SIDE * sizeof *out);
  ROWS {
    const double *m = M + i * SIDE;
    COLUMNS out[j] = m[j] > out[j] ? m[j] : out[j];
  }
  check = out[7];
}

static double row_max(const double *m) {
  double s = m[0];
  COLUMNS s = m[j] > s ? m[j] : s;
  return s;
}

static void max1(void) {
  ROWS out[i] = row_max(M + i * SIDE);
  check = out[7];
}

static void argmax0(void) {
  memcpy(out, M, SIDE * sizeof *out);
  memset(places, 0, sizeof places);
  ROWS {
    const double *m = M + i * SIDE;
    COLUMNS {
      bool more = m[j] > out[j];
      out[j] = more ? m[j] : out[j];
      places[j] = more ? (int64_t)i : places[j];
    }
  }
  check = (double)places[7];
}

static void argmax1(void) {
  ROWS {
    const double *m = M + i * SIDE;
    double most = row_max(m);
    int64_t j = 0;
    while (m[j] != most) j++;
    places[i] = j;
  }
  check = (double)places[7];
}

static void var0(void) {
  mean0();
  memset(out2, 0, SIDE * sizeof *out2);
  ROWS {
    const double *m = M + i * SIDE;
    COLUMNS {
      double d = m[j] - out[j];
      out2[j] += d * d;
    }
  }
  COLUMNS out2[j] /= SIDE;
  check = out2[7];
}

static void var1(void) {
  ROWS {
    const double *m = M + i * SIDE;
    double s = 0, v = 0;
    COLUMNS s += m[j];
    s /= SIDE;
    COLUMNS {
      double d = m[j] - s;
      v += d * d;
    }
    out[i] = v / SIDE;
  }
  check = out[7];
}

static void cumsum(void) {
  double s = 0;
  for (size_t i = 0; i < LONG; i++) {
    s += X[i];
    out[i] = s;
  }
  check = out[LONG - 1];
}

static uint8_t *some, *never, *always;

static void any(void) {
  const uint64_t *p = (const uint64_t *)never;
  bool found = false;
  for (size_t i = 0; i < LONG / 8 && !found; i += 1250) {
    uint64_t bits = 0;
    for (size_t j = 0; j < 1250; j++) bits |= p[i + j];
    found = bits != 0;
  }
  check = found;
}

static void all(void) {
  const uint64_t *p = (const uint64_t *)always;
  bool whole = true;
  for (size_t i = 0; i < LONG / 8 && whole; i += 1250) {
    uint64_t bits = UINT64_MAX;
    for (size_t j = 0; j < 1250; j++) bits &= p[i + j];
    whole = bits == 0x0101010101010101u;
  }
  check = whole;
}

static void count(void) {
  size_t s = 0;
  for (size_t i = 0; i < LONG; i += 200) {
    uint8_t c = 0;
    for (size_t j = 0; j < 200; j++) c = (uint8_t)(c + some[i + j]);
    s += c;
  }
  check = (double)s;
}

static void reductions(void) {
  static const struct {
    const char *name;
    void (*run)(void);
  } tests[] = {
      {"sum0", sum0},       {"mean0", mean0}, {"max0", max0},
      {"argmax0", argmax0}, {"var0", var0},   {"sum1", sum1},
      {"mean1", mean1},     {"max1", max1},   {"argmax1", argmax1},
      {"var1", var1},
  };
  read_reals();
  M = read_array("m.npy");
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    bench(tests[i].name, tests[i].run);
  bench("cumsum", cumsum);
  some = room(LONG);
  never = room(LONG);
  always = room(LONG);
  for (size_t i = 0; i < LONG; i++) {
    some[i] = Y[i] > 0;
    never[i] = Y[i] > 2;
  }
  bench("any", any);
  bench("all", all);
  bench("count", count);
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

static void options(void) {
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

// --- Matrix products --------------------------------------------------------

#ifdef HAVE_CBLAS
extern void cblas_dgemm(int order, int ta, int tb, int m, int n, int k,
                        double alpha, const double *a, int lda, const double *b,
                        int ldb, double beta, double *c, int ldc);

static double *a100, *b100;

static void mm1000(void) {
  cblas_dgemm(101, 111, 111, 1000, 1000, 1000, 1, X, 1000, Y, 1000, 0, out,
              1000);
  check = out[777];
}

static void mm100(void) {
  cblas_dgemm(101, 111, 111, 100, 100, 100, 1, a100, 100, b100, 100, 0, out,
              100);
  check = out[777];
}

static void products(void) {
  read_reals();
  a100 = room(80000);
  b100 = room(80000);
  for (size_t i = 0; i < 100; i++) {
    memcpy(a100 + 100 * i, X + 1000 * i, 800);
    memcpy(b100 + 100 * i, Y + 1000 * i, 800);
  }
  bench("mm1000", mm1000);
  bench("mm100", mm100);
}
#else
static void products(void) {}
#endif

// --- Sorting, searching, moving ---------------------------------------------

enum { DIGIT = 11, DIGITS = 1 << DIGIT, LOW = 64 - 3 * DIGIT };

static int64_t *keys, *where_to;
static uint64_t *words_a, *words_b;
static double *ordered;

static inline uint64_t key_of(double x) {
  uint64_t u;
  memcpy(&u, &x, 8);
  return u ^ ((u >> 63 ? UINT64_MAX : 0) | UINT64_C(1) << 63);
}

static inline double item_of(uint64_t u) {
  double x;
  u ^= (u >> 63 ? UINT64_C(1) << 63 : UINT64_MAX);
  memcpy(&x, &u, 8);
  return x;
}

static void starts_of(uint32_t *counts) {
  uint32_t start = 0;
  for (size_t i = 0; i < DIGITS; i++) {
    uint32_t n = counts[i];
    counts[i] = start;
    start += n;
  }
}

// By the upper 33 bits in three passes; what ties there are few, inserted.
static void sort(void) {
  static uint32_t counts[3][DIGITS];
  uint64_t *a = words_a, *b = words_b;
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < MILLION; i++) {
    a[i] = key_of(X[i]);
    for (int p = 0; p < 3; p++)
      counts[p][a[i] >> (LOW + DIGIT * p) & (DIGITS - 1)]++;
  }
  for (int p = 0; p < 3; p++) {
    starts_of(counts[p]);
    for (size_t i = 0; i < MILLION; i++)
      b[counts[p][a[i] >> (LOW + DIGIT * p) & (DIGITS - 1)]++] = a[i];
    uint64_t *other = a;
    a = b;
    b = other;
  }
  for (size_t i = 1; i < MILLION; i++) {
    uint64_t k = a[i];
    size_t j = i;
    for (; j > 0 && a[j - 1] > k; j--) a[j] = a[j - 1];
    a[j] = k;
  }
  for (size_t i = 0; i < MILLION; i++) out[i] = item_of(a[i]);
  check = out[777];
}

// The digit of the first pass need not be kept: the other two and the position
// share a word.
static void argsort(void) {
  static uint32_t counts[3][DIGITS];
  uint64_t *a = words_a, *b = words_b;
  int64_t *order = (int64_t *)out;
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < MILLION; i++) {
    uint64_t k = key_of(X[i]);
    for (int p = 0; p < 3; p++)
      counts[p][k >> (LOW + DIGIT * p) & (DIGITS - 1)]++;
  }
  for (int p = 0; p < 3; p++) starts_of(counts[p]);
  for (size_t i = 0; i < MILLION; i++) {
    uint64_t k = key_of(X[i]);
    a[counts[0][k >> LOW & (DIGITS - 1)]++] = k >> (LOW + DIGIT) << 32 | i;
  }
  for (int p = 1; p < 3; p++) {
    for (size_t i = 0; i < MILLION; i++)
      b[counts[p][a[i] >> (32 + DIGIT * (p - 1)) & (DIGITS - 1)]++] = a[i];
    uint64_t *other = a;
    a = b;
    b = other;
  }
  for (size_t i = 0; i < MILLION; i++) order[i] = (int64_t)(uint32_t)a[i];
  for (size_t i = 1; i < MILLION; i++) {
    if ((a[i] ^ a[i - 1]) >> 32)
      continue;
    int64_t at = order[i];
    size_t j = i;
    for (; j > 0 && X[order[j - 1]] > X[at]; j--) order[j] = order[j - 1];
    order[j] = at;
  }
  check = (double)order[777];
}

static void unique(void) {
  static uint8_t seen[1024];
  int64_t n = 0;
  memset(seen, 0, sizeof seen);
  for (size_t i = 0; i < MILLION; i++) seen[keys[i]] = 1;
  for (int64_t k = 0; k < 1024; k++)
    if (seen[k])
      ((int64_t *)out)[n++] = k;
  check = (double)n;
}

// 32 queries in lock step hide the latency of memory.
static void searchsorted(void) {
  enum { TOGETHER = 32 };
  int64_t *found = (int64_t *)out;
  for (size_t i = 0; i < MILLION; i += TOGETHER) {
    uint32_t base[TOGETHER] = {0};
    const double *query = Y + i;
    for (size_t n = MILLION; n > 1; n -= n / 2)
      for (int k = 0; k < TOGETHER; k++) {
        uint32_t less = ordered[base[k] + n / 2 - 1] < query[k];
        base[k] += (uint32_t)(n / 2) & (0 - less);
      }
    for (int k = 0; k < TOGETHER; k++)
      found[i + (size_t)k] = base[k] + (ordered[base[k]] < query[k]);
  }
  check = (double)found[777];
}

static void bincount(void) {
  static int64_t counts[4][1024];
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < MILLION; i++) counts[i & 3][keys[i]]++;
  for (int j = 0; j < 1024; j++)
    counts[0][j] += counts[1][j] + counts[2][j] + counts[3][j];
  check = (double)counts[0][77];
}

static void histogram(void) {
  static int64_t counts[4][128];
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < MILLION; i++) {
    int bin = (int)((X[i] + 1) * 50);
    counts[i & 3][bin > 99 ? 99 : bin]++;
  }
  for (int j = 0; j < 100; j++)
    counts[0][j] += counts[1][j] + counts[2][j] + counts[3][j];
  check = (double)counts[0][50];
}

static void gather(void) {
  for (size_t i = 0; i < MILLION; i++) out[i] = X[where_to[i]];
  check = out[777];
}

static void scatter_add(void) {
  memset(out2, 0, 8 * MILLION);
  for (size_t i = 0; i < MILLION; i++) out2[where_to[i]] += X[i];
  check = out2[777];
}

static void compress(void) {
  size_t k = 0;
  for (size_t i = 0; i < LONG; i++) {
    out[k] = X[i];
    k += some[i];
  }
  check = (double)k;
}

static void sorting(void) {
  read_reals();
  keys = read_array("k.npy");
  where_to = read_array("i.npy");
  words_a = room(8 * MILLION);
  words_b = room(8 * MILLION);
  ordered = room(8 * MILLION);
  some = room(LONG);
  for (size_t i = 0; i < LONG; i++) some[i] = Y[i] > 0;
  sort();
  memcpy(ordered, out, 8 * MILLION);
  bench("sort", sort);
  bench("argsort", argsort);
  bench("unique", unique);
  bench("searchsorted", searchsorted);
  bench("bincount", bincount);
  bench("histogram", histogram);
  bench("gather", gather);
  bench("scatter_add", scatter_add);
  bench("compress", compress);
}

// --- Programs ---------------------------------------------------------------

static void jacobi(void) {
  enum { N = 1000 };
  double *a = out, *b = out2;
  memcpy(a, X, N * N * sizeof *a);
  memcpy(b, X, N * N * sizeof *b);
  for (int step = 0; step < 100; step++) {
    for (size_t i = 1; i < N - 1; i++) {
      double *restrict to = b + i * N;
      const double *from = a + i * N;
      for (size_t j = 1; j < N - 1; j++)
        to[j] = 0.25 * (from[j - N] + from[j + N] + from[j - 1] + from[j + 1]);
    }
    double *other = a;
    a = b;
    b = other;
  }
  check = a[500 * N + 500];
}

static void kmeans(void) {
  enum { N = 200000, K = 16, D = 8 };
  double c[K][D], s = 0;
  memcpy(c, X, sizeof c);
  for (int round = 0; round < 10; round++) {
    double sums[K][D] = {{0}}, counts[K] = {0};
    for (size_t i = 0; i < N; i++) {
      const double *p = X + i * D;
      double least = INFINITY;
      int nearest = 0;
      for (int k = 0; k < K; k++) {
        double d = 0;
        for (int j = 0; j < D; j++) d += (p[j] - c[k][j]) * (p[j] - c[k][j]);
        if (d < least) {
          least = d;
          nearest = k;
        }
      }
      counts[nearest]++;
      for (int j = 0; j < D; j++) sums[nearest][j] += p[j];
    }
    for (int k = 0; k < K; k++)
      for (int j = 0; j < D; j++) c[k][j] = sums[k][j] / counts[k];
  }
  for (int k = 0; k < K; k++)
    for (int j = 0; j < D; j++) s += c[k][j] * c[k][j];
  check = s;
}

static void nbody(void) {
  enum { N = 100 };
  static double p[3][N], v[3][N], m[N];
  double s = 0;
  memset(v, 0, sizeof v);
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 3; k++) p[k][i] = X[3 * i + k];
    m[i] = Y[i] + 1.5;
  }
  for (int step = 0; step < 200; step++) {
    double a[3][N];
    for (int i = 0; i < N; i++) {
      double ax = 0, ay = 0, az = 0;
      for (int j = 0; j < N; j++) {
        double x = p[0][j] - p[0][i], y = p[1][j] - p[1][i];
        double z = p[2][j] - p[2][i], r = x * x + y * y + z * z + 0.01;
        double w = m[j] / (r * sqrt(r));
        ax += x * w;
        ay += y * w;
        az += z * w;
      }
      a[0][i] = ax;
      a[1][i] = ay;
      a[2][i] = az;
    }
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < N; i++) {
        v[k][i] += 0.001 * a[k][i];
        p[k][i] += 0.001 * v[k][i];
      }
  }
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < N; i++) s += p[k][i] * p[k][i];
  check = s;
}

// Rows of cells have a border, which is copied from the other side.
static void life(void) {
  enum { N = 1000, ROW = N + 2 };
  uint8_t *a = (uint8_t *)out, *b = (uint8_t *)out2;
  size_t s = 0;
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++)
      a[(i + 1) * ROW + j + 1] = X[i * N + j] > 0.4;
  for (int step = 0; step < 100; step++) {
    for (size_t i = 1; i <= N; i++) {
      a[i * ROW] = a[i * ROW + N];
      a[i * ROW + N + 1] = a[i * ROW + 1];
    }
    memcpy(a, a + N * ROW, ROW);
    memcpy(a + (N + 1) * ROW, a + ROW, ROW);
    for (size_t i = 1; i <= N; i++) {
      const uint8_t *p = a + i * ROW;
      uint8_t *restrict to = b + i * ROW;
      for (size_t j = 1; j <= N; j++) {
        uint8_t n =
            (uint8_t)(p[j - ROW - 1] + p[j - ROW] + p[j - ROW + 1] + p[j - 1] +
                      p[j + 1] + p[j + ROW - 1] + p[j + ROW] + p[j + ROW + 1]);
        to[j] = n == 3 || (n == 2 && p[j] == 1);
      }
    }
    uint8_t *other = a;
    a = b;
    b = other;
  }
  for (size_t i = 1; i <= N; i++)
    for (size_t j = 1; j <= N; j++) s += a[i * ROW + j];
  check = (double)s;
}

static void programs(void) {
  read_reals();
  bench("jacobi", jacobi);
  bench("kmeans", kmeans);
  bench("nbody", nbody);
  bench("life", life);
}

static NOINLINE void turn(double *restrict t, const double *x, const double *y,
                          const double *z, size_t n) {
  for (size_t i = 0; i < n; i++) t[i] = x[i] * y[i] + z[i];
}

static void repeated(size_t n) {
  double x[64], y[64], memory[2][64], *z = memory[0], *t = memory[1];
  for (size_t i = 0; i < n; i++) {
    x[i] = 0.5 + (double)i * 1e-3;
    y[i] = 0.25;
    z[i] = 0;
  }
  for (int r = 0; r < MILLION; r++) {
    turn(t, x, y, z, n);
    double *other = z;
    z = t;
    t = other;
  }
  check = z[3];
}

static void repeated4(void) {
  repeated(4);
}

static void repeated64(void) {
  repeated(64);
}

static void small(void) {
  bench_per("small4_ns", repeated4, 1e6 * 1e-9);
  bench_per("small64_ns", repeated64, 1e6 * 1e-9);
}

// --- Scalars ----------------------------------------------------------------

static NOINLINE int fib(int n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void fib30(void) {
  volatile int n = 30;  // not to be computed by the compiler
  check = fib(n);
}

static void loopij(void) {
  volatile int64_t side = 3000;  // not to be summed by formula
  int64_t n = side, s = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) s += i * j;
  check = (double)s;
}

static void sieve(void) {
  enum { N = MILLION };
  uint8_t *f = (uint8_t *)some;
  int64_t c = 0;
  memset(f, 1, N + 1);
  f[0] = f[1] = 0;
  for (size_t i = 2; i * i <= N; i++)
    if (f[i])
      for (size_t j = i * i; j <= N; j += i) f[j] = 0;
  for (size_t i = 1; i <= N; i++) c += f[i];
  check = (double)c;
}

static void mandel(void) {
  int64_t total = 0;
  for (int py = 0; py < 400; py++) {
    for (int px = 0; px < 400; px++) {
      double cx = -2.0 + px * 3.0 / 400, cy = -1.5 + py * 3.0 / 400;
      double x = 0, y = 0;
      int k = 0;
      for (; k < 50; k++) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 4)
          break;
        y = 2 * x * y + cy;
        x = xx - yy + cx;
      }
      total += k;
    }
  }
  check = (double)total;
}

static void scalars(void) {
  some = room(LONG);
  bench("fib30", fib30);
  bench("loopij", loopij);
  bench("sieve", sieve);
  bench("mandel", mandel);
}

// --- Words ------------------------------------------------------------------

static char *text;
static size_t text_length;

static void distinct(void) {
  enum { SLOTS = 1 << 18 };
  static struct {
    const char *word;
    size_t length;
  } seen[SLOTS];
  size_t n = 0;
  memset(seen, 0, sizeof seen);
  for (const char *p = text, *end = text + text_length; p < end;) {
    while (p < end && (*p == ' ' || *p == '\n')) p++;
    const char *word = p;
    uint64_t hash = 0;
    for (; p < end && *p != ' ' && *p != '\n'; p++)
      hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
    size_t nbytes = (size_t)(p - word);
    if (nbytes == 0)
      break;
    size_t at = (hash * UINT64_C(0x9e3779b97f4a7c15)) >> 46;
    while (seen[at].word && (seen[at].length != nbytes ||
                             memcmp(seen[at].word, word, nbytes) != 0))
      at = (at + 1) & (SLOTS - 1);
    if (!seen[at].word) {
      seen[at].word = word;
      seen[at].length = nbytes;
      n++;
    }
  }
  check = (double)n;
}

static void words(void) {
  text = read_file("words.txt", &text_length);
  bench("words", distinct);
}

// --- Starting another program -----------------------------------------------

// Prints the median seconds by the wall and the most bytes that were resident.
// From a small process, because a child begins with what its parent has.
static int start(char **command) {
  enum { TURNS = 15 };
  double samples[TURNS];
  long resident = 0;
  for (int i = 0; i < TURNS; i++) {
    struct timespec from, to;
    struct rusage usage;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &from);
    pid_t child = fork();
    if (child == 0) {
      int null = open("/dev/null", O_WRONLY);
      dup2(null, 1);
      dup2(null, 2);
      execvp(command[0], command);
      _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0)
      return 1;
    clock_gettime(CLOCK_MONOTONIC, &to);
    samples[i] = (double)(to.tv_sec - from.tv_sec) +
                 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    resident = usage.ru_maxrss * 1024;
  }
  qsort(samples, TURNS, sizeof *samples, by_value);
  printf("%.9g\t%ld\n", samples[TURNS / 2], resident);
  return 0;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } groups[] = {
      {"nest", nest},       {"chain", chain},
      {"maths", maths},     {"reductions", reductions},
      {"options", options}, {"products", products},
      {"sorting", sorting}, {"programs", programs},
      {"small", small},     {"scalars", scalars},
      {"words", words},
  };
  if (argc < 2)
    return 2;
  if (strcmp(argv[1], "--start") == 0)
    return argc < 3 ? 0 : start(argv + 2);
  directory = argv[1];
  for (int i = 2; i < argc; i++)
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++)
      if (strcmp(argv[i], groups[k].name) == 0)
        groups[k].run();
  return 0;
}
