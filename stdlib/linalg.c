// The module linalg: determinants, inverses, equations; and the functions that
// its other files share.
//
// Each matrix of a stack goes through a table of factorisations, Tally's own
// or a loaded LAPACK's (dense.h). Equations broadcast two stacks:
//
//   solve(5 * 3 * 3, 5 * 3 * 2)    five systems, two right-hand sides each
//   solve(3 * 3, 5 * 3 * 2)        the matrix serves five times
//   solve(5 * 3 * 3, 3)            the vector does

#include "stdlib/linalg.h"

#include <math.h>
#include <stdio.h>

#include "stdlib/families.h"
#include "vm/engine/blas.h"
#include "vm/bytecode/module.h"
#include "vm/kernels/kernels.h"

// --- Stacks -----------------------------------------------------------------

tl_dtype tl_real_dtype(tl_dtype dtype) {
  return dtype == TL_COMPLEX64    ? TL_FLOAT32
         : dtype == TL_COMPLEX128 ? TL_FLOAT64
                                  : dtype;
}

tl_dtype tl_complex_dtype(tl_dtype dtype) {
  return dtype == TL_FLOAT32   ? TL_COMPLEX64
         : dtype == TL_FLOAT64 ? TL_COMPLEX128
                               : dtype;
}

// Whether a dtype is one of floats.
// Integers and booleans are not: they are computed in float64.
static bool is_inexact(tl_dtype dtype) {
  return tl_dtype_is_real(dtype) || tl_dtype_is_complex(dtype);
}

// Fails (kind shape) with the argument's type.
static bool wrong_shape(tl_vm *vm, const char *function, const char *name,
                        bool square, tl_slot s) {
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 square ? "%s: %s must be a square matrix or a stack of "
                          "such, not %s"
                        : "%s: %s must be a matrix or a stack of such (two "
                          "axes or more), not %s",
                 function, name, tl_described(vm, s));
}

// Shapes and the result's dtype, without the items.
static bool look_at(tl_vm *vm, const char *function, const char *name,
                    tl_slot *s, bool square, tl_matrix_stack *out) {
  if (!tl_arg_array(vm, function, s))
    return false;
  const tl_array *a = s->array;
  int ndim = tl_ndim(a);
  if (tl_array_dtype(a) >= TL_STRING)
    return tl_arg_fail(vm, function, name, "an array of numbers", *s);
  if (ndim < 2 || (square && tl_shape(a)[ndim - 1] != tl_shape(a)[ndim - 2]))
    return wrong_shape(vm, function, name, square, *s);
  *out = (tl_matrix_stack){.ndim = ndim - 2, .count = 1};
  out->rows = tl_shape(a)[ndim - 2];
  out->columns = tl_shape(a)[ndim - 1];
  for (int k = 0; k < ndim - 2; k++) {
    out->shape[k] = tl_shape(a)[k];
    out->count *= out->shape[k];
  }
  tl_dtype dtype = tl_array_dtype(a);
  out->result = is_inexact(dtype) ? dtype : TL_FLOAT64;
  return true;
}

// The table is chosen by the smaller side: its cost decides whether a library
// is worth its call.
bool tl_matrices_open(tl_vm *vm, const char *function, const char *name,
                      tl_slot *s, bool square, bool own, tl_dense_least least,
                      tl_matrix_stack *out) {
  if (!look_at(vm, function, name, s, square, out))
    return false;
  out->compute = out->result;
  int64_t side = out->rows < out->columns ? out->rows : out->columns;
  out->table = tl_dense_choose(vm, side, least, &out->compute);
  if (!tl_as_contiguous(vm, function, *s, out->compute, &out->slot))
    return false;
  if (!own)
    return true;
  // A dying or converted array is overwritten itself; the argument of another
  // owner is copied.
  tl_array *copy = tl_take_dense(vm, &out->slot);
  tl_drop(vm, out->slot);
  if (copy)
    out->slot = tl_own_array(copy);
  return copy != NULL;
}

void *tl_matrix(const tl_matrix_stack *s, int64_t i) {
  return s->slot.array->data +
         (size_t)(i * s->rows * s->columns) * tl_itemsize(s->compute);
}

// One sum without a branch, which vectorises: 0 times NaN or infinity is NaN.
bool tl_matrices_finite(tl_vm *vm, const char *function,
                        const tl_matrix_stack *s) {
  const tl_array *a = s->slot.array;
  const bool narrow = tl_real_dtype(s->compute) == TL_FLOAT32;
  const size_t parts =
      (size_t)a->size * (tl_dtype_is_complex(s->compute) ? 2 : 1);
  double sum = 0;  // 0 times what is not finite is NaN
  for (size_t from = 0, to = 0; from < parts; from = to) {
    if (!tl_poll_piece(vm, from, parts, &to))
      return false;
    if (narrow)
      for (size_t i = from; i < to; i++) sum += 0 * ((float *)a->data)[i];
    else
      for (size_t i = from; i < to; i++) sum += 0 * ((double *)a->data)[i];
  }
  if (sum == 0)
    return true;
  return tl_fail(vm, TALLY_ERR_DOMAIN,
                 "%s: x has items that are infinite or NaN; all must be finite",
                 function);
}

// Only a stack of more than one matrix says which one it was.
bool tl_dense_check(tl_vm *vm, const char *function, const tl_matrix_stack *s,
                    int64_t i, tl_dense_result result, const char *why) {
  char where[48] = "the matrix";
  if (result == TL_DENSE_DONE)
    return true;
  if (result == TL_DENSE_STOPPED)
    return false;
  if (s->count > 1)
    snprintf(where, sizeof where, "matrix %lld of the stack", (long long)i);
  if (result == TL_DENSE_SINGULAR)
    return tl_fail(vm, TALLY_ERR_DOMAIN, "%s: %s is %s", function, where, why);
  return tl_fail(vm, TALLY_ERR_DOMAIN, "%s: %s: the iteration does not end",
                 function, where);
}

// The axes of the stack come first, so that matrix i is at i times its size.
tl_array *tl_matrices_new(tl_vm *vm, const tl_matrix_stack *s, tl_dtype dtype,
                          int64_t rows, int64_t columns) {
  int64_t shape[TL_MAX_DIMS + 2];
  int ndim = s->ndim;
  memcpy(shape, s->shape, sizeof(int64_t) * (size_t)ndim);
  if (rows >= 0)
    shape[ndim++] = rows;
  if (columns >= 0)
    shape[ndim++] = columns;
  return tl_array_new(vm, dtype, ndim, shape);
}

// Arrays of no axes go as scalars.
bool tl_end_factors(tl_vm *vm, const char *function, const tl_matrix_stack *s,
                    bool ok, int count, tl_array **arrays, tl_dtype dtype,
                    tl_slot *out) {
  tl_slot given[4] = {tl_none()};
  tl_drop(vm, s->slot);
  for (int i = 0; i < count; i++)
    given[i] = arrays[i] != NULL ? tl_result(vm, arrays[i]) : tl_none();
  given[count] = tl_type_slot(tl_type_of_dtype(vm, dtype));
  if (ok)
    return tl_call_embedded(vm, "inner/factors", function, count + 1, given,
                            out);
  for (int i = 0; i < count; i++) tl_drop(vm, given[i]);
  return false;
}

// --- det, slogdet -----------------------------------------------------------

// A product; reals stay real, whatever is infinite.
static tl_c128 times(tl_c128 a, tl_c128 b) {
  if (a.im == 0 && b.im == 0)
    return (tl_c128){a.re * b.re, 0};
  return (tl_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// The dtype of determinants before they get the precision of x.
static tl_dtype wide_dtype(const tl_matrix_stack *s) {
  return tl_dtype_is_complex(s->result) ? TL_COMPLEX128 : TL_FLOAT64;
}

// Writes the determinants' signs (or phases) and logarithms; or, where [logs]
// is NULL, the determinants themselves. The arrays are of wide_dtype and
// float64. A singular matrix has the determinant 0 and is no error.
static bool determinants(tl_vm *vm, const char *function, tl_matrix_stack *s,
                         tl_array *signs, tl_array *logs) {
  // The factors stay in the memory of the stack; only the diagonal of U is
  // read.
  const int64_t n = s->rows;
  const size_t itemsize = tl_itemsize(s->compute);
  const size_t wide = tl_itemsize(wide_dtype(s));
  tl_kernel1 *widen = tl_kernels()->cast[s->compute][TL_COMPLEX128];
  for (int64_t i = 0; i < s->count; i++) {
    int sign;
    void *a = tl_matrix(s, i);
    tl_dense_result result = s->table->lu(s->table->lapack, vm, a, n, &sign);
    if (!tl_dense_check(vm, function, s, i, result, ""))
      return false;
    // The product of the diagonal, whose magnitude may overflow: slogdet sums
    // logarithms instead.
    tl_c128 f = {sign, 0};
    double log_sum = sign == 0 ? -(double)INFINITY : 0;
    for (int64_t k = 0; sign != 0 && k < n; k++) {
      tl_c128 item;
      widen(&item, (char *)a + (size_t)(k * n + k) * itemsize, 1);
      if (logs) {
        double size = hypot(item.re, item.im);
        log_sum += log(size);
        item = (tl_c128){item.re / size, item.im / size};
      }
      f = times(f, item);
    }
    // Of reals the first half.
    memcpy(signs->data + (size_t)i * wide, &f, wide);
    if (logs)
      ((double *)logs->data)[i] = log_sum;
  }
  return true;
}

// linalg.det(x).
static bool det(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_matrix_stack s;
  if (!tl_matrices_open(vm, "det", "x", &args[0], true, true, TL_LEAST_FACTORED,
                        &s))
    return false;
  tl_array *a = tl_matrices_new(vm, &s, wide_dtype(&s), -1, -1);
  bool ok = a && determinants(vm, "det", &s, a, NULL);
  tl_drop(vm, s.slot);
  return tl_cast_finish(vm, ok, a, s.result, out);
}

// linalg.slogdet(x).
static bool slogdet(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_matrix_stack s;
  if (!tl_matrices_open(vm, "slogdet", "x", &args[0], true, true,
                        TL_LEAST_FACTORED, &s))
    return false;
  tl_array *a[2] = {tl_matrices_new(vm, &s, wide_dtype(&s), -1, -1),
                    tl_matrices_new(vm, &s, TL_FLOAT64, -1, -1)};
  bool ok = a[0] && a[1] && determinants(vm, "slogdet", &s, a[0], a[1]);
  return tl_end_factors(vm, "slogdet", &s, ok, 2, a, s.result, out);
}

// --- inv --------------------------------------------------------------------

// Rows of an identity; [one] is an item.
static bool write_identity(tl_vm *vm, char *to, int64_t rows, size_t size,
                           const void *one) {
  const size_t n = (size_t)rows;
  for (size_t i = 0; i < n; i++) {
    if (!tl_poll_items(vm, rows))
      return false;
    memset(to + i * n * size, 0, n * size);
    memcpy(to + i * (n + 1) * size, one, size);
  }
  return true;
}

// linalg.inv(x): the solution for each column of the identity, which goes to
// the memory of the opened stack.
static bool inv(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_matrix_stack s;
  if (!tl_matrices_open(vm, "inv", "x", &args[0], true, true, TL_LEAST_FACTORED,
                        &s))
    return false;
  const size_t size = tl_itemsize(s.compute);
  // None for no matrices, whose rows may be any number.
  const size_t nbytes = (size_t)(s.count > 0 ? s.rows * s.rows : 0) * size;
  const double number = 1;
  tl_c128 one;
  tl_kernels()->cast[TL_FLOAT64][s.compute](&one, &number, 1);
  char *x = tl_alloc(vm, nbytes + 1, "a matrix");
  bool ok = x != NULL;
  for (int64_t i = 0; ok && i < s.count; i++) {
    void *a = tl_matrix(&s, i);
    ok = write_identity(vm, x, s.rows, size, &one) &&
         tl_dense_check(
             vm, "inv", &s, i,
             s.table->solve(s.table->lapack, vm, a, s.rows, x, s.rows),
             "singular") &&
         tl_copy_bytes(vm, a, x, nbytes);
  }
  tl_free(vm, x, nbytes + 1);
  return tl_cast_finish(vm, ok, s.slot.array, s.result, out);
}

// --- solve ------------------------------------------------------------------

// Equations for a stack of matrices and one of right-hand sides, which
// broadcast against each other.
typedef struct equations {
  const char *function;
  enum { GENERAL, TRIANGLE, BAND } kind;
  bool lower, unit;      // of a triangle
  int64_t below, above;  // diagonals of a band
  tl_matrix_stack a;
  int64_t n, m;     // unknowns, right-hand sides
  int64_t a_items;  // of one matrix
  bool vectors;
  int ndim;                                          // of the result's stack
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];  // a's, in matrices
  tl_array *b;                                       // becomes the solution
} equations;

// Fails (kind shape) with both types.
static bool do_not_fit(tl_vm *vm, const equations *e, tl_slot a, tl_slot b) {
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "%s: x1 is %s and x2 %s, which do not fit", e->function,
                 tl_described(vm, a), tl_described(vm, b));
}

// The result's stack: that of both broadcast; a vector has none.
static bool common_stack(tl_vm *vm, equations *e, tl_slot a, tl_slot b) {
  const tl_array *x = b.array;
  // Strides count matrices of a; 0 where the same matrix serves again.
  int own = e->vectors ? 0 : tl_ndim(x) - 2;
  e->ndim = own > e->a.ndim ? own : e->a.ndim;
  int64_t step = 1;
  for (int k = e->ndim - 1; k >= 0; k--) {
    int of_a = k - (e->ndim - e->a.ndim), of_b = k - (e->ndim - own);
    int64_t p = of_a < 0 ? 1 : e->a.shape[of_a];
    int64_t q = of_b < 0 ? 1 : tl_shape(x)[of_b];
    if (p != q && p != 1 && q != 1)
      return do_not_fit(vm, e, a, b);
    e->shape[k] = p == 1 ? q : p;
    e->strides[k] = p == 1 ? 0 : step;
    step *= p;
  }
  return true;
}

// Makes b the caller's own copy, one for every matrix of the common stack; the
// caller drops what there is of it after a failure.
static bool open_right_sides(tl_vm *vm, equations *e, tl_slot a, tl_slot b) {
  const tl_array *x = b.array;
  int own = tl_ndim(x);
  e->vectors = own == 1;
  if (own == 0 || tl_shape(x)[own - (e->vectors ? 1 : 2)] != e->n)
    return do_not_fit(vm, e, a, b);
  // A vector is one column, whose axis is not in the result.
  e->m = e->vectors ? 1 : tl_shape(x)[own - 1];
  if (!common_stack(vm, e, a, b))
    return false;
  int64_t shape[TL_MAX_DIMS + 2];
  int ndim = e->ndim;
  memcpy(shape, e->shape, sizeof(int64_t) * (size_t)ndim);
  shape[ndim++] = e->n;
  if (!e->vectors)
    shape[ndim++] = e->m;
  e->b = tl_array_new(vm, e->a.compute, ndim, shape);
  return e->b &&
         tl_assign_part(vm, e->b, e->b->data, ndim, shape, tl_strides(e->b), x);
}

// Solves one system by its kind; [a] is overwritten.
static tl_dense_result solve_one(tl_vm *vm, const equations *e, void *a,
                                 void *b) {
  const tl_dense *table = e->a.table;
  if (e->kind == TRIANGLE)
    return table->triangular(table->lapack, vm, a, e->n, e->lower, e->unit, b,
                             e->m);
  if (e->kind == BAND)
    return table->banded(table->lapack, vm, a, e->n, e->below, e->above, b,
                         e->m);
  return table->solve(table->lapack, vm, a, e->n, b, e->m);
}

// Writes a band, given by its diagonals, as rows with room for exchanges (see
// banded in dense.h).
// Each row of the result has [below] places, the diagonal, [above] places, and
// [below] more for the fill:
//
//   given, n = 3, below = above = 1      rows of width 2 * 1 + 1 + 1
//     .  a01 a12                           .  a00 a01  .
//    a00 a11 a22                          a10 a11 a12  .
//    a10 a21  .                           a21 a22  .   .
//
static bool spread_band(tl_vm *vm, const equations *e, char *to,
                        const char *from) {
  const size_t size = tl_itemsize(e->a.compute);
  // Elimination with exchanges fills up to [below] more diagonals above.
  const int64_t width = 2 * e->below + e->above + 1;
  bool ok = tl_fill_bytes(vm, to, 0, (size_t)(e->n * width) * size);
  for (int64_t d = 0; d <= e->below + e->above; d++) {
    int64_t down = d - e->above;  // row less column
    for (int64_t j = 0; j < e->n && tl_poll_ok(vm, j, &ok); j++)
      if (j + down >= 0 && j + down < e->n)
        memcpy(to + (size_t)((j + down) * width + e->below - down) * size,
               from + (size_t)(d * e->n + j) * size, size);
  }
  return ok;
}

// Solves every system. A matrix is copied for each, because it may serve
// several and factoring destroys it.
static bool solve_stack(tl_vm *vm, equations *e) {
  const size_t size = tl_itemsize(e->a.compute);
  const size_t nbytes = (size_t)e->a_items * size + 16;
  char *work = tl_alloc(vm, nbytes, "a matrix");
  // index counts through the result's stack, at is the matrix of a that
  // belongs to it.
  int64_t count = 1, index[TL_MAX_DIMS] = {0}, at = 0;
  bool ok = work != NULL;
  for (int k = 0; k < e->ndim; k++) count *= e->shape[k];
  for (int64_t i = 0; ok && i < count; i++) {
    const void *a = tl_matrix(&e->a, at);
    ok = e->kind == BAND
             ? spread_band(vm, e, work, a)
             : tl_copy_bytes(vm, work, a, (size_t)e->a_items * size);
    char *b = e->b->data + (size_t)(i * e->n * e->m) * size;
    ok = ok && tl_dense_check(vm, e->function, &e->a, at,
                              solve_one(vm, e, work, b), "singular");
    for (int k = e->ndim - 1; k >= 0; k--) {
      at += e->strides[k];
      if (++index[k] < e->shape[k])
        break;
      at -= e->strides[k] * e->shape[k];
      index[k] = 0;
    }
  }
  tl_free(vm, work, nbytes);
  return ok;
}

// The dtype of the solution: that of both operands promoted, inexact.
static tl_dtype solution_dtype(const tl_array *a, const tl_array *b) {
  tl_dtype dtype = tl_dtype_promote(tl_array_dtype(a), tl_array_dtype(b));
  return is_inexact(dtype) ? dtype : TL_FLOAT64;
}

// Solves args[0] @ x == args[1]; the caller has set kind and options of *e.
static bool solve_equations(tl_vm *vm, equations *e, tl_slot *args,
                            tl_slot *out) {
  // The shape first: a conversion of operands that do not fit would be in
  // vain.
  if (!look_at(vm, e->function, "x1", &args[0], e->kind != BAND, &e->a) ||
      !tl_arg_array(vm, e->function, &args[1]))
    return false;
  if (tl_array_dtype(args[1].array) >= TL_STRING)
    return tl_arg_fail(vm, e->function, "x2", "an array of numbers", args[1]);
  e->n = e->a.columns;
  if (e->kind == BAND && e->a.rows != e->below + e->above + 1)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "%s: x1 has %lld rows, but %lld diagonals below and %lld "
                   "above the main one make %lld",
                   e->function, (long long)e->a.rows, (long long)e->below,
                   (long long)e->above, (long long)(e->below + e->above + 1));
  e->a_items =
      e->kind == BAND ? e->n * (2 * e->below + e->above + 1) : e->n * e->n;
  // Both operands are computed in the common precision, not each in its own.
  tl_dtype result = solution_dtype(args[0].array, args[1].array);
  e->a.compute = result;
  e->a.table = tl_dense_choose(vm, e->kind == BAND ? 0 : e->n,
                               TL_LEAST_FACTORED, &e->a.compute);
  if (!tl_as_contiguous(vm, e->function, args[0], e->a.compute, &e->a.slot))
    return false;
  bool ok = open_right_sides(vm, e, args[0], args[1]) && solve_stack(vm, e);
  tl_drop(vm, e->a.slot);
  return tl_cast_finish(vm, ok, e->b, result, out);
}

// linalg.solve(x1, x2).
static bool solve(tl_vm *vm, tl_slot *args, tl_slot *out) {
  equations e = {.function = "solve", .kind = GENERAL};
  return solve_equations(vm, &e, args, out);
}

// linalg.solve_triangular(x1, x2, lower, unit).
static bool solve_triangular(tl_vm *vm, tl_slot *args, tl_slot *out) {
  equations e = {.function = "solve_triangular", .kind = TRIANGLE};
  e.lower = args[2].i != 0;
  e.unit = args[3].i != 0;
  return solve_equations(vm, &e, args, out);
}

// linalg.solve_banded: the matrix is given by its diagonals.
static bool solve_banded(tl_vm *vm, tl_slot *args, tl_slot *out) {
  equations e = {.function = "solve_banded", .kind = BAND};
  int64_t counts[2];
  int given;
  if (!tl_arg_ints(vm, e.function, "bands", args[2], 2, &given, counts))
    return false;
  if (given != 2 || counts[0] < 0 || counts[1] < 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "solve_banded: bands must be two numbers from 0 on: how "
                   "many diagonals are below the main one, and above it");
  e.below = counts[0];
  e.above = counts[1];
  return solve_equations(vm, &e, args, out);
}

// --- The table --------------------------------------------------------------

// All rows are pure: a matrix that has no inverse is an error of kind domain.
// The library for large matrices, by its file.
static bool blas(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *name = tl_blas_name(vm);
  *out = tl_none();
  return name == NULL || tl_string_give(tl_string_from(vm, name), out);
}

const tl_builtin tl_linalg_module[] = {
    /// The determinant of each square matrix, by LU with partial pivoting: one
    /// for a matrix, an array of the leading axes for a stack, 1 for 0 rows.
    /// Floats and complex x keep their dtype, others give float64. A matrix
    /// that is not square is an error (kind shape).
    ///     linalg.det([[2.0, 0.0], [0.0, 3.0]])    # 6.0
    {"det", "x", det},
    /// The sign of each determinant and the logarithm of its magnitude, where
    /// det itself would overflow: a record of arrays of the leading axes. The
    /// sign of a complex x is a number of magnitude 1; a singular matrix has 0
    /// and -inf. Floats of the precision of x. A matrix that is not square is
    /// an error (kind shape).
    ///     linalg.slogdet([[1.0, 0.0], [0.0, -1.0]])    # (sign: -1.0, logabsdet: 0.0)
    ///     sign, logabsdet = linalg.slogdet([[1.0, 0.0], [0.0, -1.0]])
    ///     sign    # -1.0
    {"slogdet", "x", slogdet},
    /// The inverse of each square matrix. Floats and complex x keep their
    /// dtype, others give float64. A singular matrix is an error (kind
    /// domain), one that is not square another (shape). To solve equations,
    /// solve is faster and more exact.
    ///     linalg.inv([[2.0, 0.0], [0.0, 4.0]])    # [[0.5, 0.0], [0.0, 0.25]]
    {"inv", "x", inv},
    /// The solution x of x1 @ x == x2, by LU with partial pivoting. x1 is a
    /// square matrix or a stack, x2 a vector, or matrices whose columns are
    /// right-hand sides; stacks broadcast. Floats of the promoted precision.
    /// A singular x1 is an error (kind domain), shapes that do not fit are
    /// another (shape).
    /// Integers become float64.
    ///     linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0])    # [1.0, 0.5]
    {"solve", "x1, x2", solve},
    /// The solution x of x1 @ x == x2 where x1 is triangular: only its upper
    /// half is read, or its lower half; with unit_diagonal its diagonal is not
    /// read either but taken to be ones. Shapes and dtypes are as for solve. A
    /// 0 on the diagonal is an error (kind domain).
    /// x1 is a matrix or a stack, x2 as for solve.
    ///     linalg.solve_triangular([[2, 1], [0, 4]], [4, 8])    # [1.0, 2.0]
    {"solve_triangular", "x1, x2, lower: false, unit_diagonal: false",
     solve_triangular, .types = "xxbb"},
    /// The solution x of a @ x == x2 for a band matrix a with bands[0] diagonals
    /// below the main one and bands[1] above it, given by its diagonals: x1[i]
    /// is one, the highest first, and x1[bands[1] + i - j, j] == a[i, j], which
    /// leaves corners of x1 unread. Takes time in proportion to the rows. Shapes
    /// of x2, dtypes and errors are as for solve.
    ///     linalg.solve_banded([[0, 1], [2, 4]], [4, 8], (0, 1))    # [1.0, 2.0]
    {"solve_banded", "x1, x2, bands", solve_banded, .types = "xx"},
    /// The BLAS and LAPACK that large matrices go to, a string: the name of its
    /// file; none where Tally's own code does them all, whose results have the
    /// same bits with any number of threads.
    ///     linalg.blas == none or len(linalg.blas) > 0    # true
    {"blas", NULL, blas},
    {.name = NULL},
};
