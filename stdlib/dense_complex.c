// Tally's own factorisations of complex matrices. Eigenvalues of any matrix
// come from its Schur form, by implicit QR steps with Wilkinson's shift.
//
// Complex products as the textbook has them, without the cases of
// infinite parts that a call to the compiler's library would sort out; loops
// along rows are worth their vectors.
// Flags: -fcx-limited-range -ftree-vectorize -fvect-cost-model=dynamic

#include <complex.h>
#include <float.h>
#include <math.h>

#include "stdlib/arrays.h"
#include "stdlib/dense.h"
#include "vm/kernels/kernels.h"
#include "vm/poll.h"

#define T double _Complex
#define DTYPE TL_COMPLEX128
#define REAL(x) creal(x)
#define CONJ(x) conj(x)
#define ABS(x) cabs(x)
#define ABS1(x) (fabs(creal(x)) + fabs(cimag(x)))

static void add_row(T *x, T f, const T *y, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] += f * y[i];
}

// The sum of x * conj(y), in four lanes, so that additions do not wait for
// each other.
static T inner(const T *x, const T *y, int64_t n) {
  T sum[4] = {0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) sum[k] += x[i + k] * CONJ(y[i + k]);
  for (; i < n; i++) sum[0] += x[i] * CONJ(y[i]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#include "stdlib/dense_work.h"
#include "stdlib/dense_lu.h"
#include "stdlib/dense_banded.h"
#include "stdlib/dense_qr.h"
#include "stdlib/dense_eigh.h"
#include "stdlib/dense_svd.h"
#include "stdlib/dense_hessenberg.h"

// Rotates rows k and k + 1 so that (f, g) in them becomes (r, 0), and the
// columns by the adjoint.
static void step_rotation(schur *s, int64_t k, int64_t hi, T f, T g) {
  const int64_t n = s->n;
  double r = hypot(cabs(f), cabs(g));
  if (r == 0)
    return;
  T c = f / r, d = g / r;
  T *x = s->h + k * n, *y = x + n;
  for (int64_t j = k > 0 ? k - 1 : 0; j < n; j++) {
    T a = x[j], b = y[j];
    x[j] = conj(c) * a + conj(d) * b;
    y[j] = c * b - d * a;
  }
  int64_t last = k + 2 < hi ? k + 2 : hi;
  for (int64_t i = 0; i <= last; i++) {
    T *row = s->h + i * n + k, a = row[0], b = row[1];
    row[0] = c * a + d * b;
    row[1] = conj(c) * b - conj(d) * a;
  }
  if (!s->z)
    return;
  x = s->z + k * n;
  y = x + n;
  for (int64_t j = 0; j < n; j++) {
    T a = x[j], b = y[j];
    x[j] = c * a + d * b;
    y[j] = conj(c) * b - conj(d) * a;
  }
}

// The eigenvalue of the last two rows that is nearer to the last item: the
// shift.
static T wilkinson(const schur *s, int64_t hi) {
  const T *h = s->h + (hi - 1) * s->n + hi - 1;
  // The root farther from 0 gives the nearer eigenvalue without cancellation.
  T p = (h[0] - h[s->n + 1]) / 2, bc = h[1] * h[s->n];
  T root = csqrt(p * p + bc);
  T far = creal(p * conj(root)) < 0 ? p - root : p + root;
  return far == 0 ? h[s->n + 1] : h[s->n + 1] - bc / far;
}

// h, of Hessenberg's form, becomes triangular, from the last row up.
static tl_dense_result complex_schur(tl_vm *vm, schur *s) {
  // For one eigenvalue; two or three are usual, and NaN must come to an end.
  enum { STEPS = 100 };
  const int64_t n = s->n;
  int steps = 0;
  for (int64_t hi = n - 1; hi > 0;) {
    int64_t lo = part_begin(s, hi);
    if (lo == hi) {
      hi--;
      steps = 0;
      continue;
    }
    if (++steps > STEPS)
      return TL_DENSE_ENDLESS;
    if (!poll_items(vm, (hi - lo) * n * 16))
      return TL_DENSE_STOPPED;
    // Now and then a shift of no particular meaning, in case the steps go
    // round in a circle.
    T shift = steps % 10 == 0 ? s->h[hi * n + hi] + ABS1(s->h[hi * n + hi - 1])
                              : wilkinson(s, hi);
    T f = s->h[lo * n + lo] - shift, g = s->h[(lo + 1) * n + lo];
    for (int64_t k = lo; k < hi && poll_row(vm, k, n); k++) {
      step_rotation(s, k, hi, f, g);
      if (k > lo)
        s->h[(k + 1) * n + k - 1] = 0;
      f = s->h[(k + 1) * n + k];
      g = k + 2 <= hi ? s->h[(k + 2) * n + k] : 0;
    }
  }
  return tl_failed(vm) ? TL_DENSE_STOPPED : TL_DENSE_DONE;
}

// The eigenvector of the triangle t for its item k, by substitution from
// below. Where two eigenvalues are equal they are taken to differ by a
// rounding error.
static void triangle_vector(tl_vm *vm, const T *t, int64_t n, int64_t k,
                            double least, T *x) {
  for (int64_t i = k + 1; i < n; i++) x[i] = 0;
  x[k] = 1;
  for (int64_t i = k - 1; i >= 0 && poll_row(vm, i, k); i--) {
    T sum = 0, gap = t[i * n + i] - t[k * n + k];
    for (int64_t j = i + 1; j <= k; j++) sum += t[i * n + j] * x[j];
    if (ABS1(gap) < least)
      gap = least;
    x[i] = -sum / gap;
    // Items may grow without bound: only the direction matters.
    if (!(ABS1(x[i]) < 0x1p400))
      for (int64_t j = i; j <= k; j++) x[j] *= 0x1p-500;
  }
}

// The vectors are rows here, since those are contiguous, and transposed by the
// product.
tl_dense_result tl_triangle_vectors(tl_vm *vm, const tl_c128 *triangle,
                                    const tl_c128 *turn, int64_t n,
                                    tl_c128 *v) {
  // The two complex types have one layout.
  const T *t = (const T *)triangle;
  space s = {.vm = vm};
  room r;
  T *rows = need_matrix(&s, n, n);
  bool ok = need_room(&s, n, n, &r);
  double most = 0;
  for (int64_t i = 0; ok && i < n && poll_row(vm, i, n); i++)
    for (int64_t j = i; j < n; j++) most = fmax(most, ABS1(t[i * n + j]));
  // The least gap between eigenvalues to divide by: its square is above 0.
  double least = fmax(EPSILON * most, 0x1p-500);
  for (int64_t k = 0; ok && k < n; k++) {
    ok = poll_items(vm, k * k);
    T *x = rows + k * n;
    triangle_vector(vm, t, n, k, least, x);
    double length = length_of(vm, x, 1, n);
    for (int64_t i = 0; i < n; i++) x[i] /= length;
  }
  operand left = {(const T *)turn, n, 1}, right = {rows, 1, n};
  ok = ok && product(&r, (T *)v, n, left, right, n, n, n, false);
  return leave_with(&s, ok && !tl_failed(vm));
}

// See tl_dense.
static tl_dense_result eig(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                           void *values, void *vectors) {
  space space = {.vm = vm};
  T *h = a, *w = values, *v = vectors, *work = need_matrix(&space, 4, n);
  T *rows = v ? need_matrix(&space, n, n) : NULL;
  T *z = v ? need_matrix(&space, n, n) : NULL;
  tl_dense_result result = TL_DENSE_STOPPED;
  if (!space.failed) {
    // As in dense_real.c: undone at the end.
    double *scale = (double *)(work + 3 * n), all = scale_matrix(vm, a, n * n);
    schur s = {a, rows, n};
    if (balance(vm, a, n, scale) &&
        reduce_to_hessenberg(vm, a, n, work, work + n, rows))
      result = complex_schur(vm, &s);
    for (int64_t i = 0; result == TL_DENSE_DONE && i < n; i++) {
      if (!poll_row(vm, i, n))
        result = TL_DENSE_STOPPED;
      w[i] = h[i * n + i] * all;
      for (int64_t j = 0; v && j < n; j++) z[i * n + j] = rows[j * n + i];
    }
    if (v && result == TL_DENSE_DONE)
      result = tl_triangle_vectors(vm, (const tl_c128 *)h, (const tl_c128 *)z,
                                   n, (tl_c128 *)v);
    for (int64_t i = 0; v && result == TL_DENSE_DONE && i < n; i++) {
      if (!poll_row(vm, i, n))
        result = TL_DENSE_STOPPED;
      for (int64_t j = 0; j < n; j++) v[i * n + j] *= scale[i];
    }
  }
  leave(&space);
  return result;
}

// The table for complex128.
const tl_dense tl_dense_complex = TL_DENSE_OF_THIS_FILE;
