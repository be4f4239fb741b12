/* Whole programs, and matrix products by a library. */
#include "peer.h"

#include <math.h>
#include <string.h>

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

void programs(void) {
  read_reals();
  bench("jacobi", jacobi);
  bench("kmeans", kmeans);
  bench("nbody", nbody);
  bench("life", life);
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

void products(void) {
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
void products(void) {}
#endif
