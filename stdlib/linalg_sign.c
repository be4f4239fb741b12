// The signs, lengths and order that a factorisation leaves open.
//
// Libraries choose them differently, and the library may be absent: without a
// rule the same script would print different numbers on two machines. The
// rules are those that the documentation states: R has a diagonal that is not
// negative; of a vector the first large item is positive; eigenvalues ascend.

#include <math.h>
#include <string.h>

#include "stdlib/arrays.h"
#include "stdlib/linalg.h"
#include "vm/memory/memory.h"

// Stores a complex number as an item of [dtype]; reals take its real part.
static void store(tl_dtype dtype, void *a, int64_t i, tl_c128 x) {
  switch (dtype) {
    case TL_FLOAT32:
      ((float *)a)[i] = (float)x.re;
      break;
    case TL_FLOAT64:
      ((double *)a)[i] = x.re;
      break;
    case TL_COMPLEX64:
      ((tl_c64 *)a)[i] = (tl_c64){(float)x.re, (float)x.im};
      break;
    default:
      ((tl_c128 *)a)[i] = x;
  }
}

// a[i] *= f, f conjugate if [adjoint]. Real signs leave zeros as they are.
static void multiply(tl_dtype dtype, void *a, int64_t i, tl_c128 f,
                     bool adjoint) {
  tl_c128 x = tl_matrix_item(dtype, a, i);
  // The factor of reals has no imaginary part, and zeros must not become NaN
  // or change sign.
  double im = adjoint ? -f.im : f.im;
  if (im == 0)
    x = (tl_c128){x.re * f.re, x.im * f.re};
  else
    x = (tl_c128){x.re * f.re - x.im * im, x.re * im + x.im * f.re};
  store(dtype, a, i, x);
}

// The factor of magnitude 1 that makes x real and positive; 1 for 0 and for
// what is not finite.
static tl_c128 turn_of(tl_c128 x) {
  double size = hypot(x.re, x.im);
  if (size == 0 || !isfinite(size))
    return (tl_c128){1, 0};
  return (tl_c128){x.re / size, x.im == 0 ? 0 : -x.im / size};
}

// Whether the factor changes nothing.
static bool is_one(tl_c128 f) {
  return f.re == 1 && f.im == 0;
}

// Multiplies column k of the rows by f's conjugate. Of reals f is a sign.
static void turn_column(tl_dtype dtype, void *q, int64_t m, int64_t p,
                        int64_t k, tl_c128 f) {
  double *real = q;
  if (dtype == TL_FLOAT64)
    for (int64_t i = 0; i < m; i++) real[i * p + k] *= f.re;
  else
    for (int64_t i = 0; i < m; i++) multiply(dtype, q, i * p + k, f, true);
}

// Row k of R and column k of Q get factors whose product is 1, so Q @ R stays.
void tl_sign_qr(tl_dtype dtype, void *q, void *r, int64_t m, int64_t n,
                int64_t p) {
  for (int64_t k = 0; k < p && k < n; k++) {
    // The factor that makes the diagonal item real and positive.
    tl_c128 f = turn_of(tl_matrix_item(dtype, r, k * n + k));
    if (is_one(f))
      continue;
    for (int64_t j = k; j < n; j++) multiply(dtype, r, k * n + j, f, false);
    if (q != NULL)
      turn_column(dtype, q, m, p, k, f);
    // Rounding may leave an imaginary part.
    tl_c128 diagonal = tl_matrix_item(dtype, r, k * n + k);
    store(dtype, r, k * n + k, (tl_c128){diagonal.re, 0});
  }
}

// Writes the factor of each column to f; [most] has room for as many. The
// matrix is walked by rows, all columns at a time.
static void column_turns(tl_dtype dtype, const void *u, int64_t m, int64_t row,
                         int64_t count, double *most, tl_c128 *f) {
  for (int64_t j = 0; j < count; j++) {
    most[j] = 0;
    f[j] = (tl_c128){0, 0};
  }
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < count; j++) {
      tl_c128 x = tl_matrix_item(dtype, u, i * row + j);
      most[j] = fmax(most[j], x.re * x.re + x.im * x.im);
    }
  }
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < count; j++) {
      tl_c128 x = tl_matrix_item(dtype, u, i * row + j);
      if (f[j].re == 0 && f[j].im == 0 &&
          // Squares: half as large is a quarter here.
          x.re * x.re + x.im * x.im >= most[j] / 4)
        f[j] = turn_of(x);
    }
  }
}

// tl_sign_columns for reals, as most matrices are: f is 1 or -1.
#define REAL_SIGNS(R)                                                       \
  static void signs_##R(R *u, int64_t m, int64_t row, int64_t count, R *vh, \
                        int64_t n, R *most, R *f) {                         \
    for (int64_t j = 0; j < count; j++) most[j] = f[j] = 0;                 \
    for (int64_t i = 0; i < m; i++)                                         \
      for (int64_t j = 0; j < count; j++) {                                 \
        R x = u[i * row + j] < 0 ? -u[i * row + j] : u[i * row + j];        \
        most[j] = x > most[j] ? x : most[j];                                \
      }                                                                     \
    int64_t open = count;                                                   \
    for (int64_t i = 0; i < m && open > 0; i++)                             \
      for (int64_t j = 0; j < count; j++) {                                 \
        R x = u[i * row + j];                                               \
        if (f[j] == 0 && (x < 0 ? -x : x) >= most[j] / 2) {                 \
          f[j] = x < 0 ? -1 : 1;                                            \
          open--;                                                           \
        }                                                                   \
      }                                                                     \
    for (int64_t i = 0; i < m; i++)                                         \
      for (int64_t j = 0; j < count; j++) u[i * row + j] *= f[j];           \
    for (int64_t j = 0; vh && j < count; j++)                               \
      for (int64_t i = 0; f[j] < 0 && i < n; i++) vh[j * n + i] *= -1;      \
  }
REAL_SIGNS(float)
REAL_SIGNS(double)

// The largest item decides, but not exactly: of several nearly as large ones
// the first is taken, so that rounding cannot choose another.
bool tl_sign_columns(tl_vm *vm, tl_dtype dtype, void *u, int64_t m,
                     int64_t u_row, int64_t count, void *vh, int64_t n) {
  size_t nbytes = ((size_t)count + 1) * (sizeof(tl_c128) + sizeof(double));
  tl_c128 *f = tl_alloc(vm, nbytes, "the signs");
  if (!f)
    return false;
  if (dtype == TL_FLOAT32 || dtype == TL_FLOAT64) {
    if (dtype == TL_FLOAT32)
      signs_float(u, m, u_row, count, vh, n, (float *)(void *)f,
                  (float *)(void *)f + count);
    else
      signs_double(u, m, u_row, count, vh, n, (double *)(void *)f,
                   (double *)(void *)f + count);
    tl_free(vm, f, nbytes);
    return true;
  }
  column_turns(dtype, u, m, u_row, count, (double *)(f + count), f);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < count; j++)
      if (!is_one(f[j]))
        multiply(dtype, u, i * u_row + j, f[j], false);
  for (int64_t j = 0; vh && j < count; j++)
    for (int64_t i = 0; !is_one(f[j]) && i < n; i++)
      multiply(dtype, vh, j * n + i, f[j], true);
  tl_free(vm, f, nbytes);
  return true;
}

// Makes the columns of v of length 1, scaled first so that no square
// overflows. [real]: columns of real values become real.
static void unit_length(tl_dtype dtype, void *v, int64_t n, bool real,
                        const void *w) {
  for (int64_t j = 0; j < n; j++) {
    // Scaled by the largest part, so that squares neither overflow nor vanish.
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) {
      tl_c128 x = tl_matrix_item(dtype, v, i * n + j);
      most = fmax(most, fmax(fabs(x.re), fabs(x.im)));
    }
    for (int64_t i = 0; most > 0 && i < n; i++) {
      tl_c128 x = tl_matrix_item(dtype, v, i * n + j);
      sum += x.re / most * (x.re / most) + x.im / most * (x.im / most);
    }
    const double length = most * sqrt(sum);
    // Rounding leaves imaginary parts in vectors of real values.
    const bool drop = real && tl_matrix_item(dtype, w, j).im == 0;
    for (int64_t i = 0; length > 0 && i < n; i++) {
      tl_c128 x = tl_matrix_item(dtype, v, i * n + j);
      x = (tl_c128){x.re / length, drop ? 0 : x.im / length};
      store(dtype, v, i * n + j, x);
    }
  }
}

// Rows of v are permuted with the values, each through a copy of the row.
bool tl_sort_eigenvalues(tl_vm *vm, tl_dtype dtype, void *w, void *v, int64_t n,
                         bool real) {
  const size_t size = tl_itemsize(dtype);
  size_t nbytes = (size_t)n * (sizeof(int64_t) + size) + 64;
  int64_t *order = tl_alloc(vm, nbytes, "the order");
  if (!order)
    return false;
  char *row = (char *)(order + n);
  bool ok = tl_argsort_items(vm, dtype, order, w, n, false) &&
            (!v || tl_sign_columns(vm, dtype, v, n, n, n, NULL, 0));
  if (ok && v)
    unit_length(dtype, v, n, real, w);
  // Row -1 stands for the values themselves.
  for (int64_t i = -1; ok && i < (v ? n : 0); i++) {
    char *to = i < 0 ? w : (char *)v + (size_t)(i * n) * size;
    memcpy(row, to, (size_t)n * size);
    for (int64_t j = 0; j < n; j++)
      memcpy(to + (size_t)j * size, row + (size_t)order[j] * size, size);
  }
  tl_free(vm, order, nbytes);
  return ok;
}
