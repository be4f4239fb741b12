// Tally's own factorisations of real matrices. The eigenvalues of any real
// matrix come in pairs from its real Schur form, which Francis's implicit QR
// steps with two shifts give (Golub and Van Loan, Matrix Computations, 7.5).
//
// Built for speed.
// Flags: -ftree-vectorize -fvect-cost-model=dynamic -fno-inline-small-functions
// -fno-inline-functions

#include <float.h>
#include <math.h>

#include "stdlib/arrays.h"
#include "stdlib/dense.h"
#include "vm/kernels/kernels.h"
#include "vm/poll.h"

#define T double
#define DTYPE TL_FLOAT64
#define REAL(x) (x)
#define CONJ(x) (x)
#define ABS(x) fabs(x)
#define ABS1(x) fabs(x)

enum { SHORT = 12 };  // rows that are not worth the call of a kernel

static void add_row(double *x, double f, const double *y, int64_t n) {
  if (n > SHORT)
    tl_kernels()->add_row(x, f, y, (size_t)n);
  else
    for (int64_t i = 0; i < n; i++) x[i] += f * y[i];
}

static double inner(const double *x, const double *y, int64_t n) {
  return tl_kernels()->row_product(x, y, (size_t)n);
}

#include "stdlib/dense_work.h"
#include "stdlib/dense_lu.h"
#include "stdlib/dense_banded.h"
#include "stdlib/dense_qr.h"
#include "stdlib/dense_eigh.h"
#include "stdlib/dense_svd.h"
#include "stdlib/dense_hessenberg.h"

// Applies the reflection I - 2 v v^T / v^T v of [count] (2 or 3) rows and
// columns from [k] on, where h is not zero.
static void step_reflection(schur *s, int64_t k, int count, const double *v,
                            int64_t hi) {
  double square = 0;
  for (int i = 0; i < count; i++) square += v[i] * v[i];
  if (square == 0)
    return;
  // Left of column k - 1 the rows are zeros.
  const int64_t n = s->n, first = k > 0 ? k - 1 : 0;
  const int64_t last = k + 3 < hi ? k + 3 : hi;
  double *h = s->h + k * n, *z = s->z ? s->z + k * n : NULL;
  for (int64_t j = first; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += v[i] * h[i * n + j];
    for (int i = 0; i < count; i++) h[i * n + j] -= 2 / square * sum * v[i];
  }
  for (int64_t j = 0; j <= last; j++) {
    double *row = s->h + j * n + k, sum = 0;
    for (int i = 0; i < count; i++) sum += v[i] * row[i];
    for (int i = 0; i < count; i++) row[i] -= 2 / square * sum * v[i];
  }
  for (int64_t j = 0; z && j < n; j++) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += v[i] * z[i * n + j];
    for (int i = 0; i < count; i++) z[i * n + j] -= 2 / square * sum * v[i];
  }
}

// v of the reflection that maps x to a multiple of the first axis.
static void reflection_of(const double *x, int count, double *v) {
  // Scaled by the largest item, so that the square neither overflows nor
  // vanishes.
  double most = 0, square = 0;
  for (int i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
  for (int i = 0; i < count; i++) {
    v[i] = most == 0 ? 0 : x[i] / most;
    square += v[i] * v[i];
  }
  v[0] += copysign(sqrt(square), v[0]);
}

// One double step on rows and columns lo to hi; [sum] and [product] are those
// of the two shifts. The first reflection makes a bulge below the diagonal,
// which the others chase down.
static void francis_step(tl_vm *vm, schur *s, int64_t lo, int64_t hi,
                         double sum, double product) {
  const int64_t n = s->n;
  const double *h = s->h + lo * n + lo;
  double x[3] = {h[0] * h[0] + h[1] * h[n] - sum * h[0] + product,
                 h[n] * (h[0] + h[n + 1] - sum), h[n] * h[2 * n + 1]};
  for (int64_t k = lo; k < hi && poll_row(vm, k, 12 * n); k++) {
    int count = k + 2 <= hi ? 3 : 2;
    double v[3];
    reflection_of(x, count, v);
    step_reflection(s, k, count, v, hi);
    for (int i = 1; k > lo && i < count; i++) s->h[(k + i) * n + k - 1] = 0;
    for (int i = 0; i < 3 && k + 1 + i <= hi; i++)
      x[i] = s->h[(k + 1 + i) * n + k];
  }
}

// A block of two rows with real eigenvalues becomes a triangle.
static void split_block(schur *s, int64_t k) {
  const int64_t n = s->n;
  double *h = s->h + k * n + k;
  // The eigenvalues of [a b; c d] are (a + d) / 2 +- sqrt(p^2 + bc).
  double p = (h[0] - h[n + 1]) / 2, bc = h[1] * h[n];
  double root = p * p + bc;
  if (root < 0)
    return;
  // x is an eigenvector; the reflection maps it to the first axis.
  double v[2], x[2] = {p + copysign(sqrt(root), p), h[n]};
  reflection_of(x, 2, v);
  double square = v[0] * v[0] + v[1] * v[1];
  if (square == 0)
    return;
  step_reflection(s, k, 2, v, k + 1);
  h[n] = 0;
}

// h, of Hessenberg's form, becomes quasi-triangular: from the last row up, a
// part of one or two rows is done when it is separated.
static tl_dense_result real_schur(tl_vm *vm, schur *s) {
  // Far more than any eigenvalue needs; without a limit NaN would loop
  // forever.
  enum { STEPS = 100 };
  const int64_t n = s->n;
  int steps = 0;
  for (int64_t hi = n - 1; hi > 0;) {
    int64_t lo = part_begin(s, hi);
    if (lo >= hi - 1) {
      if (lo == hi - 1)
        split_block(s, lo);
      hi = lo - 1;
      steps = 0;
      continue;
    }
    if (++steps > STEPS)
      return TL_DENSE_ENDLESS;
    if (!poll_items(vm, (hi - lo) * n * 16))
      return TL_DENSE_STOPPED;
    const double *h = s->h + (hi - 1) * n + hi - 1;
    // Trace and determinant of the last two rows: both shifts without complex
    // arithmetic.
    double sum = h[0] + h[n + 1], product = h[0] * h[n + 1] - h[1] * h[n];
    if (steps % 10 == 0) {
      // Stuck: shifts of no particular meaning, about the last item as those of
      // EISPACK's hqr are.
      const double away = fabs(h[n]) + fabs(s->h[(hi - 1) * n + hi - 2]);
      const double middle = h[n + 1] + 0.75 * away;
      sum = 2 * middle;
      product = middle * middle + 0.4375 * away * away;
    }
    francis_step(vm, s, lo, hi, sum, product);
  }
  return tl_failed(vm) ? TL_DENSE_STOPPED : TL_DENSE_DONE;
}

// The eigenvalues, from the blocks on the diagonal: pairs have equal real
// parts and opposite imaginary ones.
static void block_values(const schur *s, tl_c128 *w) {
  const int64_t n = s->n;
  for (int64_t k = 0; k < n; k++) {
    const double *h = s->h + k * n + k;
    if (k + 1 == n || h[n] == 0) {
      w[k] = (tl_c128){h[0], 0};
      continue;
    }
    double p = (h[0] - h[n + 1]) / 2;
    double im = sqrt(-(p * p + h[1] * h[n]));
    w[k] = (tl_c128){h[n + 1] + p, -im};
    w[k + 1] = (tl_c128){h[n + 1] + p, im};
    k++;
  }
}

// Complex arithmetic of the eigenvectors.
static tl_c128 times(tl_c128 a, tl_c128 b) {
  return (tl_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static tl_c128 plus(tl_c128 a, tl_c128 b) {
  return (tl_c128){a.re + b.re, a.im + b.im};
}

static tl_c128 conjugate(tl_c128 a) {
  return (tl_c128){a.re, -a.im};
}

// Two numbers so far apart, multiplied by a matrix.
static void multiply_pair(tl_c128 *f, int64_t apart, const tl_c128 by[4]) {
  const tl_c128 a = *f, b = f[apart];
  *f = plus(times(a, by[0]), times(b, by[1]));
  f[apart] = plus(times(a, by[2]), times(b, by[3]));
}

// Multiplies rows k and k + 1 of a pair by the unitary [x y; -conj(y) conj(x)],
// and columns by its adjoint: t becomes triangular there. z's columns are
// multiplied alike. The eigenvector of the block [a b; c d] for [value] is
// (value - d, c): with it as the first column of the rotation, the block
// becomes triangular.
static void split_pair(tl_c128 *t, tl_c128 *z, int64_t n, int64_t k,
                       tl_c128 value) {
  tl_c128 x = {value.re - t[(k + 1) * n + k + 1].re, value.im};
  tl_c128 y = {t[(k + 1) * n + k].re, 0};
  double length = sqrt(x.re * x.re + x.im * x.im + y.re * y.re);
  x = (tl_c128){x.re / length, x.im / length};
  y.re /= length;
  const tl_c128 cx = conjugate(x), minus = {-y.re, 0};
  const tl_c128 row[4] = {cx, y, minus, x}, column[4] = {x, y, minus, cx};
  for (int64_t j = 0; j < n; j++) multiply_pair(t + k * n + j, n, row);
  for (int64_t i = 0; i < n; i++) {
    multiply_pair(t + i * n + k, 1, column);
    multiply_pair(z + i * n + k, 1, column);
  }
  t[(k + 1) * n + k] = (tl_c128){0, 0};
  t[k * n + k] = value;
  t[(k + 1) * n + k + 1] = conjugate(value);
}

// The eigenvectors, by way of the complex Schur form.
static tl_dense_result real_vectors(tl_vm *vm, const schur *s, const tl_c128 *w,
                                    tl_c128 *v) {
  const int64_t n = s->n;
  // The complex form of T and Z, in which a pair's block is split by a unitary
  // rotation.
  space work = {.vm = vm};
  tl_c128 *t = need_words(&work, 2 * n * n + 1, "a matrix");
  tl_c128 *z = need_words(&work, 2 * n * n + 1, "a matrix");
  tl_dense_result result = TL_DENSE_STOPPED;
  if (!work.failed) {
    for (int64_t i = 0; i < n && poll_row(vm, i, n); i++) {
      for (int64_t j = 0; j < n; j++) {
        t[i * n + j] = (tl_c128){s->h[i * n + j], 0};
        z[i * n + j] = (tl_c128){s->z[j * n + i], 0};
      }
    }
    for (int64_t k = 0; k + 1 < n; k++)
      if (w[k].im != 0 && poll_row(vm, k, 2 * n)) {
        split_pair(t, z, n, k, w[k]);
        k++;
      }
    result = tl_triangle_vectors(vm, t, z, n, v);
  }
  leave(&work);
  return result;
}

// See tl_dense. Runs where LAPACK is missing; built for size.
__attribute__((cold)) static tl_dense_result eig(const tl_lapack *f, tl_vm *vm,
                                                 void *a, int64_t n,
                                                 void *values, void *vectors) {
  tl_c128 *w = values, *v = vectors;
  space space = {.vm = vm};
  double *work = need_matrix(&space, 4, n);
  double *z = v ? need_matrix(&space, n, n) : NULL;
  tl_dense_result result = TL_DENSE_STOPPED;
  if (!space.failed) {
    // Scaling and balancing are undone at the end: values by one factor,
    // vectors by that of each row.
    double *scale = work + 3 * n, all = scale_matrix(vm, a, n * n);
    schur s = {a, z, n};
    if (balance(vm, a, n, scale) &&
        reduce_to_hessenberg(vm, a, n, work, work + n, z))
      result = real_schur(vm, &s);
    if (result == TL_DENSE_DONE) {
      block_values(&s, w);
      if (v)
        result = real_vectors(vm, &s, w, v);
    }
    for (int64_t i = 0; result == TL_DENSE_DONE && i < n; i++) {
      if (!poll_row(vm, i, n))
        result = TL_DENSE_STOPPED;
      w[i] = (tl_c128){w[i].re * all, w[i].im * all};
      for (int64_t j = 0; v && j < n; j++) {
        v[i * n + j].re *= scale[i];
        v[i * n + j].im *= scale[i];
      }
    }
    // A pair's vectors are each other's conjugates; a real value has a real
    // one, up to rounding that came in with the pairs above it.
    for (int64_t j = 0; v && result == TL_DENSE_DONE && j + 1 < n; j++) {
      if (w[j].im == 0)
        continue;
      if (!poll_row(vm, j, n))
        result = TL_DENSE_STOPPED;
      for (int64_t i = 0; i < n; i++)
        v[i * n + j + 1] = conjugate(v[i * n + j]);
      j++;
    }
  }
  leave(&space);
  return result;
}

// The table for float64.
const tl_dense tl_dense_real = TL_DENSE_OF_THIS_FILE;
