// The module linalg: equations, determinants, norms, in float64.
//
// Matrices are small and dense; each of a stack is copied out and worked on in
// place. LAPACK, where it is installed, comes in below these functions.

#include <math.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "vm/engine.h"
#include "vm/matmul.h"
#include "vm/record.h"
#include "vm/vm.h"

// --- Stacks -----------------------------------------------------------------

// An argument as dense float64 matrices; results go back to its dtype.
typedef struct stack {
  tl_slot slot;
  tl_dtype result;  // float32 or float64
  int64_t rows, columns, count;
} stack;

static bool open_stack(tl_vm *vm, const char *function, tl_slot *s, bool square,
                       stack *out) {
  if (!tl_arg_numeric(vm, function, s))
    return false;
  const tl_array *a = s->array;
  int ndim = tl_ndim(a);
  if (tl_dtype_is_complex(tl_array_dtype(a)))
    return tl_arg_fail(vm, function, "the matrix", "real", *s);
  if (ndim < 2)
    return tl_fail(vm, TALLY_ERR_SHAPE, "%s: x has %d axes, needs 2 or more",
                   function, ndim);
  out->rows = tl_shape(a)[ndim - 2];
  out->columns = tl_shape(a)[ndim - 1];
  if (square && out->rows != out->columns)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "%s: a matrix of %lld rows and %lld "
                   "columns is not square",
                   function, (long long)out->rows, (long long)out->columns);
  out->count = 1;
  for (int k = 0; k < ndim - 2; k++) out->count *= tl_shape(a)[k];
  out->result = tl_array_dtype(a) == TL_FLOAT32 ? TL_FLOAT32 : TL_FLOAT64;
  return tl_as_contiguous(vm, function, *s, TL_FLOAT64, &out->slot);
}

// The same as the caller's own copy, to be overwritten.
static bool open_own(tl_vm *vm, const char *function, tl_slot *s, bool square,
                     stack *out) {
  if (!open_stack(vm, function, s, square, out))
    return false;
  tl_array *own = tl_take_dense(vm, &out->slot);
  tl_drop(vm, out->slot);
  if (own)
    out->slot = tl_own_array(own);
  return own != NULL;
}

static double *matrix(const stack *s, int64_t i) {
  return (double *)s->slot.array->data + i * s->rows * s->columns;
}

// The work of rows * columns multiplications, for polling.
static uint64_t step_work(int64_t rows, int64_t columns) {
  return (uint64_t)rows * (uint64_t)columns / 1024 + 1;
}

// --- LU ---------------------------------------------------------------------

static void swap_rows(double *a, int64_t n, int64_t i, int64_t k) {
  for (int64_t j = 0; i != k && j < n; j++) {
    double t = a[i * n + j];
    a[i * n + j] = a[k * n + j];
    a[k * n + j] = t;
  }
}

// Factors a in place with partial pivoting: L below the diagonal, U above.
// pivot[i] is the row that changed places with row i. *sign is that of the
// permutation, 0 where a is singular. False only where a poll fails.
static bool factor(tl_vm *vm, double *a, int64_t n, int64_t *pivot, int *sign) {
  bool singular = false;
  *sign = 1;
  for (int64_t k = 0; k < n; k++) {
    if (!tl_poll(vm, step_work(n - k, n - k)))
      return false;
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
        best = i;
    pivot[k] = best;
    if (best != k)
      *sign = -*sign;
    swap_rows(a, n, k, best);
    if (a[k * n + k] == 0) {
      singular = true;
      continue;
    }
    for (int64_t i = k + 1; i < n; i++) {
      double f = a[i * n + k] /= a[k * n + k];
      if (f == 0)
        continue;
      for (int64_t j = k + 1; j < n; j++) a[i * n + j] -= f * a[k * n + j];
    }
  }
  if (singular)
    *sign = 0;
  return true;
}

// Solves for m right-hand sides, the rows of b being n by m.
static bool substitute(tl_vm *vm, const double *lu, const int64_t *pivot,
                       int64_t n, double *b, int64_t m) {
  for (int64_t k = 0; k < n; k++) swap_rows(b, m, k, pivot[k]);
  for (int64_t i = 0; i < n; i++) {
    if (!tl_poll(vm, step_work(i, m)))
      return false;
    for (int64_t k = 0; k < i; k++)
      for (int64_t j = 0; j < m; j++)
        b[i * m + j] -= lu[i * n + k] * b[k * m + j];
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    if (!tl_poll(vm, step_work(n - i, m)))
      return false;
    for (int64_t k = i + 1; k < n; k++)
      for (int64_t j = 0; j < m; j++)
        b[i * m + j] -= lu[i * n + k] * b[k * m + j];
    for (int64_t j = 0; j < m; j++) b[i * m + j] /= lu[i * n + i];
  }
  return true;
}

// --- det, slogdet -----------------------------------------------------------

// Calls [done] with each factored matrix and its sign.
typedef void det_visitor(const double *lu, int64_t n, int sign, double *out,
                         double *out2);
static void det_of(const double *lu, int64_t n, int sign, double *out,
                   double *unused) {
  (void)unused;
  *out = sign;
  for (int64_t i = 0; i < n; i++) *out *= lu[i * n + i];
}

static void slogdet_of(const double *lu, int64_t n, int sign, double *out,
                       double *log_out) {
  *log_out = sign == 0 ? -(double)INFINITY : 0;
  *out = sign;
  for (int64_t i = 0; sign != 0 && i < n; i++) {
    double d = lu[i * n + i];
    if (d < 0)
      *out = -*out;
    *log_out += log(fabs(d));
  }
}

static bool factor_all(tl_vm *vm, stack *s, det_visitor *done, tl_array *out,
                       tl_array *out2) {
  size_t nbytes = ((size_t)s->rows + 1) * sizeof(int64_t);
  int64_t *pivot = tl_alloc(vm, nbytes, "the pivots");
  bool ok = pivot != NULL;
  for (int64_t i = 0; ok && i < s->count; i++) {
    int sign;
    ok = factor(vm, matrix(s, i), s->rows, pivot, &sign);
    if (ok)
      done(matrix(s, i), s->rows, sign, (double *)out->data + i,
           out2 ? (double *)out2->data + i : NULL);
  }
  if (pivot)
    tl_free(vm, pivot, nbytes);
  return ok;
}

static bool det(tl_vm *vm, tl_slot *args, tl_slot *out) {
  stack s;
  if (!open_own(vm, "det", &args[0], true, &s))
    return false;
  int ndim = tl_ndim(args[0].array) - 2;
  tl_array *a = tl_array_new(vm, TL_FLOAT64, ndim, tl_shape(args[0].array));
  bool ok = a && factor_all(vm, &s, det_of, a, NULL);
  tl_drop(vm, s.slot);
  if (ok)
    return tl_cast_own(vm, a, s.result, out);
  if (a)
    tl_drop(vm, tl_own_array(a));
  return false;
}

static bool sign_and_log(tl_vm *vm, tl_array *sign, tl_array *log_abs,
                         tl_dtype dtype, tl_slot *out) {
  tl_slot first, second;
  if (!tl_cast_own(vm, sign, dtype, &first)) {
    tl_drop(vm, tl_own_array(log_abs));
    return false;
  }
  tl_record *record = NULL;
  bool ok = tl_cast_own(vm, log_abs, dtype, &second);
  if (ok) {
    record = tl_record_new(vm, 2);
    ok = record && tl_record_set_name(vm, &record, "sign", &first) &&
         tl_record_set_name(vm, &record, "logabsdet", &second);
    if (!ok)
      tl_drop(vm, second);
  }
  if (!ok)
    tl_drop(vm, first);
  if (ok)
    *out = tl_own_record(record);
  else if (record)
    tl_drop(vm, tl_own_record(record));
  return ok;
}

static bool slogdet(tl_vm *vm, tl_slot *args, tl_slot *out) {
  stack s;
  if (!open_own(vm, "slogdet", &args[0], true, &s))
    return false;
  const tl_array *x = args[0].array;
  tl_array *sign = tl_array_new(vm, TL_FLOAT64, tl_ndim(x) - 2, tl_shape(x));
  tl_array *logs = tl_array_new(vm, TL_FLOAT64, tl_ndim(x) - 2, tl_shape(x));
  bool ok = sign && logs && factor_all(vm, &s, slogdet_of, sign, logs);
  tl_drop(vm, s.slot);
  if (ok)
    return sign_and_log(vm, sign, logs, s.result, out);
  if (sign)
    tl_drop(vm, tl_own_array(sign));
  if (logs)
    tl_drop(vm, tl_own_array(logs));
  return false;
}

// --- solve, inv -------------------------------------------------------------

static bool solve_one(tl_vm *vm, const char *function, double *a, int64_t n,
                      int64_t *pivot, double *b, int64_t m) {
  int sign;
  if (!factor(vm, a, n, pivot, &sign))
    return false;
  if (sign == 0)
    return tl_fail(vm, TALLY_ERR_DOMAIN, "%s: the matrix is singular",
                   function);
  return substitute(vm, a, pivot, n, b, m);
}

static bool solve_all(tl_vm *vm, const char *function, stack *a, double *b,
                      int64_t m) {
  size_t nbytes = ((size_t)a->rows + 1) * sizeof(int64_t);
  int64_t *pivot = tl_alloc(vm, nbytes, "the pivots");
  bool ok = pivot != NULL;
  for (int64_t i = 0; ok && i < a->count; i++)
    ok = solve_one(vm, function, matrix(a, i), a->rows, pivot,
                   b + i * a->rows * m, m);
  if (pivot)
    tl_free(vm, pivot, nbytes);
  return ok;
}

static bool inv(tl_vm *vm, tl_slot *args, tl_slot *out) {
  stack s;
  if (!open_own(vm, "inv", &args[0], true, &s))
    return false;
  const tl_array *x = args[0].array;
  tl_array *b = tl_array_zeros(vm, TL_FLOAT64, tl_ndim(x), tl_shape(x));
  int64_t n = s.rows;
  for (int64_t i = 0; b && i < s.count; i++)
    for (int64_t k = 0; k < n; k++)
      ((double *)b->data)[(i * n + k) * n + k] = 1;
  bool ok = b && solve_all(vm, "inv", &s, (double *)b->data, n);
  tl_drop(vm, s.slot);
  if (ok)
    return tl_cast_own(vm, b, s.result, out);
  if (b)
    tl_drop(vm, tl_own_array(b));
  return false;
}

// b as the caller's own copy for every matrix of the stack a, broadcast.
static tl_array *right_sides(tl_vm *vm, tl_slot a, tl_slot b) {
  const tl_array *x = a.array;
  int ndim = tl_ndim(x), own = tl_ndim(b.array);
  bool vector = own == 1;
  int64_t shape[TL_MAX_DIMS];
  memcpy(shape, tl_shape(x), sizeof(int64_t) * (size_t)ndim);
  int64_t n = shape[ndim - 1];
  int64_t rows = own == 0 ? -1 : tl_shape(b.array)[own - (vector ? 1 : 2)];
  bool fits = rows == n && own <= ndim;
  for (int k = 0; fits && k < own - 2; k++)
    fits = tl_shape(b.array)[k] == shape[ndim - own + k] ||
           tl_shape(b.array)[k] == 1;
  if (!fits) {
    char left[TL_DESCRIBE], right[TL_DESCRIBE];
    tl_fail(vm, TALLY_ERR_SHAPE, "solve: %s and %s do not fit",
            tl_describe(a, left, sizeof left),
            tl_describe(b, right, sizeof right));
    return NULL;
  }
  int out_ndim = vector ? ndim - 1 : ndim;
  if (!vector)
    shape[ndim - 1] = tl_shape(b.array)[own - 1];
  tl_array *to = tl_array_new(vm, TL_FLOAT64, out_ndim, shape);
  if (to && !tl_assign_part(vm, to, to->data, out_ndim, shape, tl_strides(to),
                            b.array)) {
    tl_drop(vm, tl_own_array(to));
    to = NULL;
  }
  return to;
}

static bool solve(tl_vm *vm, tl_slot *args, tl_slot *out) {
  stack s;
  if (!tl_arg_numeric(vm, "solve", &args[1]) ||
      !open_own(vm, "solve", &args[0], true, &s))
    return false;
  tl_array *b = NULL;
  if (tl_dtype_is_complex(tl_array_dtype(args[1].array)))
    tl_arg_fail(vm, "solve", "b", "real", args[1]);
  else
    b = right_sides(vm, s.slot, args[1]);
  bool vector = tl_ndim(args[1].array) == 1;
  int64_t m = b && !vector ? tl_shape(b)[tl_ndim(b) - 1] : 1;
  bool ok = b && solve_all(vm, "solve", &s, (double *)b->data, m);
  tl_drop(vm, s.slot);
  tl_dtype dtype =
      tl_array_dtype(args[1].array) == TL_FLOAT32 ? s.result : TL_FLOAT64;
  if (ok)
    return tl_cast_own(vm, b, dtype, out);
  if (b)
    tl_drop(vm, tl_own_array(b));
  return false;
}

// --- cholesky ---------------------------------------------------------------

static bool cholesky_one(tl_vm *vm, double *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (!tl_poll(vm, step_work(i, i)))
      return false;
    for (int64_t j = 0; j <= i; j++) {
      double sum = a[i * n + j];
      for (int64_t k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
      if (i == j && !(sum > 0))
        return tl_fail(vm, TALLY_ERR_DOMAIN,
                       "cholesky: the matrix is not "
                       "positive definite");
      a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
    }
    for (int64_t j = i + 1; j < n; j++) a[i * n + j] = 0;
  }
  return true;
}

static bool cholesky(tl_vm *vm, tl_slot *args, tl_slot *out) {
  stack s;
  bool upper, ok = true;
  if (!tl_arg_bool(vm, "cholesky", "upper", args[1], &upper) ||
      !open_own(vm, "cholesky", &args[0], true, &s))
    return false;
  for (int64_t i = 0; ok && i < s.count; i++)
    ok = cholesky_one(vm, matrix(&s, i), s.rows);
  if (!ok) {
    tl_drop(vm, s.slot);
    return false;
  }
  tl_slot lower;
  if (!tl_cast_own(vm, s.slot.array, s.result, &lower))
    return false;
  if (!upper) {
    *out = lower;
    return true;
  }
  int axes[TL_MAX_DIMS], ndim = tl_ndim(lower.array);
  for (int k = 0; k < ndim; k++) axes[k] = k;
  axes[ndim - 2] = ndim - 1;
  axes[ndim - 1] = ndim - 2;
  ok = tl_permute(vm, &lower, axes, out);
  tl_drop(vm, lower);
  return ok;
}

// --- matrix_power, norm, cross ----------------------------------------------

static bool replace_product(tl_vm *vm, tl_slot *to, tl_slot by) {
  tl_slot operands[2] = {*to, by}, product;
  if (!tl_matmul(vm, operands, &product))
    return false;
  tl_drop(vm, *to);
  *to = product;
  return true;
}

static bool matrix_power(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t n;
  if (!tl_arg_numeric(vm, "matrix_power", &args[0]) ||
      !tl_arg_int(vm, "matrix_power", "n", args[1], &n))
    return false;
  const tl_array *x = args[0].array;
  int ndim = tl_ndim(x);
  if (ndim < 2 || tl_shape(x)[ndim - 1] != tl_shape(x)[ndim - 2])
    return tl_arg_fail(vm, "matrix_power", "x", "square", args[0]);
  tl_slot base = tl_none(), result = tl_none();
  if (n < 0) {
    tl_slot copy[1] = {tl_borrow(args[0])};
    if (!inv(vm, copy, &base))
      return false;
    n = n == INT64_MIN ? INT64_MAX : -n;
  } else {
    tl_array *copy = tl_array_copy(vm, x);
    if (!copy)
      return false;
    base = tl_own_array(copy);
  }
  // The identity, where n is 0, in every matrix of the stack.
  tl_array *one =
      tl_array_zeros(vm, tl_array_dtype(base.array), ndim, tl_shape(x));
  bool ok = one != NULL;
  int64_t size = ok ? tl_shape(x)[ndim - 1] : 0;
  for (int64_t i = 0; ok && size > 0 && i < x->size / size; i++)
    ok = tl_scalar_convert(
        vm, tl_dtype_of(base) == TL_BOOL ? tl_bool(true) : tl_weak_int(1),
        tl_array_dtype(one),
        one->data +
            (size_t)(i * size + i % size) * tl_itemsize(tl_array_dtype(one)));
  if (one)
    result = tl_own_array(one);
  for (; ok && n > 0; n >>= 1) {
    if (n & 1)
      ok = replace_product(vm, &result, base);
    if (ok && n > 1)
      ok = replace_product(vm, &base, base);
  }
  tl_drop(vm, base);
  if (ok)
    *out = result;
  else
    tl_drop(vm, result);
  return ok;
}

// The sum of |x|^p to the power of 1/p over some axes; p 2 unless given.
static bool norm(tl_vm *vm, tl_slot *args, tl_slot *out) {
  double p = 2;
  bool keepdims;
  if (!tl_arg_numeric(vm, "norm", &args[0]) ||
      (!tl_is_none(args[1]) && !tl_arg_float(vm, "norm", "ord", args[1], &p)) ||
      !tl_arg_bool(vm, "norm", "keepdims", args[3], &keepdims))
    return false;
  int ndim = tl_ndim(args[0].array), count = ndim, axes[TL_MAX_DIMS];
  for (int k = 0; k < ndim; k++) axes[k] = k;
  if (!tl_is_none(args[2]) &&
      !tl_arg_axes(vm, "norm", args[2], ndim, &count, axes))
    return false;
  uint32_t mask = 0;
  for (int i = 0; i < count; i++) mask |= UINT32_C(1) << axes[i];
  tl_slot x = tl_borrow(args[0]), size, power, sum;
  if (!tl_elementwise(vm, TL_OP_ABS, &x, &size))
    return false;
  bool ok;
  if (isinf(p)) {
    ok = tl_reduce(vm, p > 0 ? TL_REDUCE_MAX : TL_REDUCE_MIN, &size, mask,
                   keepdims, TL_DTYPE_COUNT, 0, out);
    tl_drop(vm, size);
    return ok;
  }
  tl_slot operands[2] = {size, tl_weak_float(p)};
  ok = tl_elementwise(vm, TL_OP_POW, operands, &power);
  tl_drop(vm, operands[0]);
  if (!ok)
    return false;
  ok = tl_reduce(vm, TL_REDUCE_SUM, &power, mask, keepdims, TL_DTYPE_COUNT, 0,
                 &sum);
  tl_drop(vm, power);
  if (!ok)
    return false;
  operands[0] = sum;
  operands[1] = tl_weak_float(1 / p);
  ok = p == 2 ? tl_elementwise(vm, TL_OP_SQRT, operands, out)
              : tl_elementwise(vm, TL_OP_POW, operands, out);
  tl_drop(vm, operands[0]);
  return ok;
}

// a[order] along an axis of length 3.
static bool turn(tl_vm *vm, tl_slot x, int axis, bool forward, tl_slot *out) {
  static const int64_t next[3] = {1, 2, 0}, before[3] = {2, 0, 1};
  return tl_take_axis(vm, x.array, forward ? next : before, 3, axis, out);
}

// turn(a, forward) * turn(b, the other way)
static bool half_cross(tl_vm *vm, tl_slot *args, const int axes[2],
                       bool forward, tl_slot *out) {
  tl_slot operands[2];
  if (!turn(vm, args[0], axes[0], forward, &operands[0]))
    return false;
  bool ok = turn(vm, args[1], axes[1], !forward, &operands[1]);
  if (ok) {
    ok = tl_elementwise(vm, TL_OP_MULTIPLY, operands, out);
    tl_drop(vm, operands[1]);
  }
  tl_drop(vm, operands[0]);
  return ok;
}

static bool cross(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axes[2];
  for (int i = 0; i < 2; i++) {
    if (!tl_arg_numeric(vm, "cross", &args[i]) ||
        !tl_arg_axis(vm, "cross", args[2], tl_ndim(args[i].array), -1,
                     &axes[i]))
      return false;
    if (tl_shape(args[i].array)[axes[i]] != 3)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "cross: axis %d has %lld items, "
                     "needs 3",
                     axes[i], (long long)tl_shape(args[i].array)[axes[i]]);
  }
  tl_slot halves[2];
  if (!half_cross(vm, args, axes, true, &halves[0]))
    return false;
  bool ok = half_cross(vm, args, axes, false, &halves[1]);
  if (ok) {
    ok = tl_elementwise(vm, TL_OP_SUBTRACT, halves, out);
    tl_drop(vm, halves[1]);
  }
  tl_drop(vm, halves[0]);
  return ok;
}

static bool product(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_matmul(vm, args, out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_linalg_module[] = {
    {"matmul", "x1, x2", product, TL_PURE,
     "The matrix product; also x1 @ x2.\n"
     "    linalg.matmul([[1, 2], [3, 4]], [1, 1])    # [3, 7]\n"},
    {"det", "x", det, TL_PURE,
     "The determinant of each matrix.\n"
     "    linalg.det([[2.0, 0.0], [0.0, 3.0]])    # 6.0\n"},
    {"slogdet", "x", slogdet, TL_PURE,
     "The sign of each determinant and the logarithm of its magnitude.\n"
     "    linalg.slogdet([[1.0, 0.0], [0.0, -1.0]])    "
     "# (sign: -1.0, logabsdet: 0.0)\n"},
    {"inv", "x", inv, TL_PURE,
     "The inverse of each matrix; a singular one is an error (kind domain).\n"
     "    linalg.inv([[2.0, 0.0], [0.0, 4.0]])    # [[0.5, 0.0], [0.0, 0.25]]"
     "\n"},
    {"solve", "x1, x2", solve, TL_PURE,
     "The solution x of x1 @ x == x2; a singular x1 is an error (kind\n"
     "domain).\n"
     "    linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0])    # [1.0, 0.5]"
     "\n"},
    {"cholesky", "x, upper: false", cholesky, TL_PURE,
     "The lower triangle l with l @ l.mT == x of each positive definite\n"
     "matrix; its transpose where upper is true.\n"
     "    linalg.cholesky([[4.0, 2.0], [2.0, 2.0]])    "
     "# [[2.0, 0.0], [1.0, 1.0]]\n"},
    {"matrix_power", "x, n", matrix_power, TL_PURE,
     "Each matrix multiplied with itself, n factors; the inverse where n is\n"
     "negative.\n"
     "    linalg.matrix_power([[1, 1], [0, 1]], 3)    # [[1, 3], [0, 1]]\n"},
    {"norm", "x, ord: 2, axis: none, keepdims: false", norm, TL_PURE,
     "The length of vectors along axes, or of all items: the sum of\n"
     "abs(x) ** ord to the power of 1 / ord; the largest where ord is inf.\n"
     "    linalg.norm([3.0, 4.0])    # 5.0\n"},
    {"vector_norm", "x, ord: 2, axis: none, keepdims: false", norm, TL_PURE,
     "The same as norm.\n"
     "    linalg.vector_norm([3.0, 4.0])    # 5.0\n"},
    {"cross", "x1, x2, axis: -1", cross, TL_PURE,
     "The cross product of vectors with 3 items.\n"
     "    linalg.cross([1, 0, 0], [0, 1, 0])    # [0, 0, 1]\n"},
    {NULL, NULL, NULL, 0, NULL},
};
