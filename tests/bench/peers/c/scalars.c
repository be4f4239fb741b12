/* Small arrays, scalar loops, words. */
#include "peer.h"

#include <math.h>
#include <string.h>

static uint8_t *some;

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

void small(void) {
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

static uint8_t bytes[200000];

static void crc16_loops(void) {
  int64_t crc = 0xFFFF;
  for (size_t k = 0; k < sizeof bytes; k++) {
    crc ^= bytes[k];
    for (int i = 0; i < 8; i++) {
      if ((crc & 1) == 1)
        crc = crc >> 1 ^ 0x8408;
      else
        crc = crc >> 1;
    }
  }
  check = (double)crc;
}

enum { SIDE = 120, WIDE = 300 };
static double square[WIDE * WIDE];

static void fill_square(size_t n) {
  for (size_t k = 0; k < n * n; k++)
    square[k] = (double)(k * 7919 % 10007) / 10007;
}

static void seidel_loops(void) {
  double(*a)[SIDE] = (double(*)[SIDE])square;
  fill_square(SIDE);
  for (int step = 0; step < 20; step++)
    for (int i = 1; i < SIDE - 1; i++)
      for (int j = 1; j < SIDE - 1; j++)
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] +
                   a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j - 1] +
                   a[i + 1][j] + a[i + 1][j + 1]) /
                  9;
  check = a[1][1] + a[SIDE / 2][SIDE / 3];
}

static void go_fast_loops(void) {
  double(*a)[WIDE] = (double(*)[WIDE])square;
  fill_square(WIDE);
  for (int step = 0; step < 10; step++) {
    double t = 0;
    for (int i = 0; i < WIDE; i++) t += tanh(a[i][i]);
    t /= WIDE;
    for (int i = 0; i < WIDE; i++)
      for (int j = 0; j < WIDE; j++) a[i][j] = 0.5 * a[i][j] + t;
  }
  check = a[1][1] + a[WIDE / 2][WIDE / 3];
}

/* Bodies that attract each other, pair by pair. */
static void nbody_loops(void) {
  enum { N = 40 };
  static double p[N][3], v[N][3], m[N];
  fill_square(N);
  memset(v, 0, sizeof v);
  for (int i = 0; i < N; i++) {
    m[i] = 1.0 / N;
    for (int k = 0; k < 3; k++) p[i][k] = square[i * N + k];
  }
  for (int step = 0; step < 20; step++) {
    for (int i = 0; i < N; i++)
      for (int j = i + 1; j < N; j++) {
        double dx = p[i][0] - p[j][0], dy = p[i][1] - p[j][1];
        double dz = p[i][2] - p[j][2];
        double d = dx * dx + dy * dy + dz * dz + 0.01;
        double w = 0.01 / (d * sqrt(d));
        v[i][0] -= dx * m[j] * w;
        v[i][1] -= dy * m[j] * w;
        v[i][2] -= dz * m[j] * w;
        v[j][0] += dx * m[i] * w;
        v[j][1] += dy * m[i] * w;
        v[j][2] += dz * m[i] * w;
      }
    for (int i = 0; i < N; i++)
      for (int k = 0; k < 3; k++) p[i][k] += 0.01 * v[i][k];
  }
  check = p[0][0] + p[N / 2][1] + p[N - 1][2];
}

/* Points to the nearest of 8 centres, which move to the middle of theirs. */
static void kmeans_loops(void) {
  enum { N = 2000, K = 8 };
  static double p[N][3];
  double c[K][3], sum = 0;
  for (size_t k = 0; k < 3 * N; k++)
    p[k / 3][k % 3] = (double)(k * 7919 % 10007) / 10007;
  memcpy(c, p, sizeof c);
  for (int step = 0; step < 5; step++) {
    double s[K][3] = {{0}}, count[K] = {0};
    for (int i = 0; i < N; i++) {
      double best = 1e9;
      int at = 0;
      for (int k = 0; k < K; k++) {
        double d = 0;
        for (int a = 0; a < 3; a++) {
          double t = p[i][a] - c[k][a];
          d += t * t;
        }
        if (d < best) {
          best = d;
          at = k;
        }
      }
      for (int a = 0; a < 3; a++) s[at][a] += p[i][a];
      count[at] += 1;
    }
    for (int k = 0; k < K; k++)
      if (count[k] > 0)
        for (int a = 0; a < 3; a++) c[k][a] = s[k][a] / count[k];
  }
  for (int k = 0; k < K; k++)
    for (int a = 0; a < 3; a++) sum += c[k][a];
  check = sum;
}

void scalars(void) {
  some = room(LONG);
  bench("fib30", fib30);
  bench("loopij", loopij);
  bench("sieve", sieve);
  bench("mandel", mandel);
  for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = k * 7919 % 251;
  bench("crc16_loops", crc16_loops);
  bench("seidel_loops", seidel_loops);
  bench("go_fast_loops", go_fast_loops);
  bench("nbody_loops", nbody_loops);
  bench("kmeans_loops", kmeans_loops);
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

void words(void) {
  text = read_file("words.txt", &text_length);
  bench("words", distinct);
}
