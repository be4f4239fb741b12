// Products of matrices and vectors, diagonals, products of all with all.
//
//
// All of them become work for matmul, a reduction or an elementwise operation
// on views; what is done here is to bring axes into the order that these want:
//
//   tensordot   axes moved and joined   2 matrices        matmul
//   vecdot      broadcast strides       1 * n by n * 1    stacks of matmul
//   trace       the diagonal's view     its last axis     sum
//   kron        m by 1 and 1 by n axes  all pairs         multiply

#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "vm/engine/engine.h"
#include "vm/kernels/kernels.h"
#include "vm/values/list.h"
#include "vm/engine/matmul.h"
#include "vm/vm.h"

// matmul(x1, x2), which is the operator @ as a function. *out is owned.
static bool matmul(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_matmul(vm, args, out);
}

// An owned array in another shape. Takes [x].
static bool reshape_own(tl_vm *vm, tl_slot x, int ndim, const int64_t *shape,
                        tl_slot *out) {
  bool ok = tl_reshape(vm, &x, ndim, shape, out);
  tl_drop(vm, x);
  return ok;
}

// --- tensordot --------------------------------------------------------------

// Which axes are summed over: counts are equal, lengths are checked.
typedef struct contraction {
  int count;
  int axes[2][TL_MAX_DIMS];
} contraction;

// Reads tensordot's axes into *c: a number k means the last k axes of the first
// operand ([n] axes) and the first k of the second ([m]); a pair of lists names
// them. Lengths are not compared here.
//
//   2            axes n-2, n-1   with  axes 0, 1
//   ([0], [1])   axis 0          with  axis 1
static bool parse_axes(tl_vm *vm, tl_slot s, int n, int m, contraction *c) {
  if (tl_is_list(s)) {
    int counts[2];
    if (s.list->length != 2)
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "tensordot: axes must be a number or "
                     "two lists of axes");
    if (!tl_arg_axes(vm, "tensordot", s.list->items[0], n, &counts[0],
                     c->axes[0]) ||
        !tl_arg_axes(vm, "tensordot", s.list->items[1], m, &counts[1],
                     c->axes[1]))
      return false;
    c->count = counts[0];
    return counts[0] == counts[1] ||
           tl_fail(vm, TALLY_ERR_VALUE,
                   "tensordot: %d axes of x1 against %d "
                   "of x2",
                   counts[0], counts[1]);
  }
  int64_t count;
  if (!tl_arg_count(vm, "tensordot", "axes", s, &count))
    return false;
  if (count > n || count > m)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "tensordot: %lld axes of arrays with "
                   "%d and %d",
                   (long long)count, n, m);
  c->count = (int)count;
  for (int i = 0; i < c->count; i++) {
    c->axes[0][i] = n - c->count + i;
    c->axes[1][i] = i;
  }
  return true;
}

// The array as a matrix: its summed axes last (left) or first, the others in
// order, whose lengths go to [shape].
static bool as_matrix(tl_vm *vm, tl_slot x, const contraction *c, bool left,
                      int *ndim, int64_t *shape, tl_slot *out) {
  const tl_array *a = x.array;
  const int *summed = c->axes[left ? 0 : 1];
  int order[TL_MAX_DIMS], at = left ? 0 : c->count;
  int64_t free_size = 1, summed_size = 1;
  uint32_t is_summed = 0;
  for (int i = 0; i < c->count; i++) {
    // The summed axes keep the order in which they were named: that of the left
    // operand belongs to that of the right one.
    is_summed |= UINT32_C(1) << summed[i];
    summed_size *= tl_shape(a)[summed[i]];
    order[left ? tl_ndim(a) - c->count + i : i] = summed[i];
  }
  for (int k = 0; k < tl_ndim(a); k++) {
    if (is_summed >> k & 1)
      continue;
    order[at++] = k;
    shape[(*ndim)++] = tl_shape(a)[k];
    free_size *= tl_shape(a)[k];
  }
  tl_slot base = tl_borrow(x), transposed;
  int64_t matrix[2] = {left ? free_size : summed_size,
                       left ? summed_size : free_size};
  if (tl_ndim(a) == 0)
    return tl_reshape(vm, &base, 2, matrix, out);
  return tl_permute(vm, &base, order, &transposed) &&
         reshape_own(vm, transposed, 2, matrix, out);
}

// tensordot(x1, x2, axes) as one product of matrices: both operands become
// matrices whose inner side is all summed axes, and the product's sides are the
// remaining axes again. A transposed operand costs a copy here, which the
// product repays.
static bool tensordot(tl_vm *vm, tl_slot *args, tl_slot *out) {
  contraction c;
  if (!tl_arg_numeric(vm, "tensordot", &args[0]) ||
      !tl_arg_numeric(vm, "tensordot", &args[1]))
    return false;
  const tl_array *a = args[0].array, *b = args[1].array;
  if (!parse_axes(vm, args[2], tl_ndim(a), tl_ndim(b), &c))
    return false;
  for (int i = 0; i < c.count; i++) {
    int64_t m = tl_shape(a)[c.axes[0][i]], n = tl_shape(b)[c.axes[1][i]];
    if (m != n)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "tensordot: axis %d of x1 is %lld, "
                     "axis %d of x2 is %lld",
                     c.axes[0][i], (long long)m, c.axes[1][i], (long long)n);
  }
  int ndim = 0;
  int64_t shape[2 * TL_MAX_DIMS];
  if (tl_ndim(a) + tl_ndim(b) - 2 * c.count > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "tensordot: more than %d axes",
                   TL_MAX_DIMS);
  tl_slot matrices[2], product;
  if (!as_matrix(vm, args[0], &c, true, &ndim, shape, &matrices[0]))
    return false;
  bool ok = as_matrix(vm, args[1], &c, false, &ndim, shape, &matrices[1]);
  if (ok) {
    ok = tl_matmul(vm, matrices, &product);
    tl_drop(vm, matrices[1]);
  }
  tl_drop(vm, matrices[0]);
  return ok && reshape_own(vm, product, ndim, shape, out);
}

// --- vecdot -----------------------------------------------------------------

// Both operands broadcast, as arrays of one dtype. out[i] own or borrow.
static bool pair_up(tl_vm *vm, tl_slot *args, tl_slot *out, tl_dtype *dtype) {
  if (!tl_promote_slots(vm, "vecdot", args[0], args[1], dtype))
    return false;
  // A sum of truths is a count.
  if (*dtype == TL_BOOL)
    *dtype = TL_INT64;
  const tl_dtype compute = tl_compute_dtype(*dtype);
  for (int i = 0; i < 2; i++) {
    out[i] = tl_borrow(args[i]);
    if (tl_array_dtype(args[i].array) == compute)
      continue;
    tl_array *cast = tl_array_cast(vm, args[i].array, compute);
    if (!cast) {
      if (i == 1)
        tl_drop(vm, out[0]);
      return false;
    }
    out[i] = tl_own_array(cast);
  }
  return true;
}

// Each pair of vectors is a product of a row and a column, a stack of which
// tl_matmul_stack computes from the strides alone.
// The axis counts from the end, as the operands are aligned there.
static bool vecdot_pair(tl_vm *vm, tl_slot *operands, tl_slot axis_slot,
                        tl_dtype dtype, tl_slot *out) {
  const tl_array *x[2] = {operands[0].array, operands[1].array};
  int ndim, axis, at = 0;
  int64_t shape[TL_MAX_DIMS], strides[2][TL_MAX_DIMS], rest[TL_MAX_DIMS];
  int smaller = tl_ndim(x[0]) < tl_ndim(x[1]) ? tl_ndim(x[0]) : tl_ndim(x[1]);
  if (!tl_broadcast(vm, 2, x, &ndim, shape))
    return false;
  int64_t given = -1;
  if (!tl_arg_int(vm, "vecdot", "axis", axis_slot, &given))
    return false;
  // With equally many axes a number from the front means the same in both.
  int64_t from_end = given;
  if (given >= 0 && tl_ndim(x[0]) == tl_ndim(x[1]))
    from_end -= ndim;
  if (from_end >= 0 || from_end < -smaller)
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "vecdot: axis %lld must be negative "
                   "and within both arrays' axes",
                   (long long)given);
  axis = ndim + (int)from_end;
  for (int i = 0; i < 2; i++) {
    int own = axis - (ndim - tl_ndim(x[i]));
    if (tl_shape(x[i])[own] != shape[axis])
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "vecdot: vectors of %lld and %lld "
                     "items",
                     (long long)tl_shape(x[0])[axis - ndim + tl_ndim(x[0])],
                     (long long)tl_shape(x[1])[axis - ndim + tl_ndim(x[1])]);
    tl_broadcast_strides(x[i], ndim, shape, strides[i]);
  }
  tl_matrices a = {.data = x[0]->data, .column = strides[0][axis]};
  tl_matrices b = {.data = x[1]->data, .row = strides[1][axis]};
  for (int k = 0; k < ndim; k++) {
    if (k == axis)
      continue;
    a.strides[at] = strides[0][k];
    b.strides[at] = strides[1][k];
    rest[at++] = shape[k];
  }
  const tl_dtype compute = tl_compute_dtype(dtype);
  tl_array *c = tl_array_new(vm, compute, at, rest);
  if (!c)
    return false;
  if (!tl_matmul_stack(vm, compute, c->data, at, rest, &a, &b, 1, 1,
                       shape[axis])) {
    tl_drop(vm, tl_own_array(c));
    return false;
  }
  return tl_cast_own(vm, c, dtype, out);
}

// In C: sum(x1 * x2, axis: axis) in Tally is faster for a few items, but takes
// 2.8 times as long for 10^5, which this reads once.
static bool vecdot(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot operands[2];
  tl_dtype dtype;
  for (int i = 0; i < 2; i++)
    if (!tl_arg_numeric(vm, "vecdot", &args[i]))
      return false;
  if (tl_dtype_is_complex(tl_array_dtype(args[0].array))) {
    tl_slot conjugate, x = tl_borrow(args[0]);
    if (!tl_elementwise(vm, TL_OP_CONJ, &x, &conjugate))
      return false;
    tl_clear(vm, &args[0]);
    args[0] = conjugate;
  }
  if (!pair_up(vm, args, operands, &dtype))
    return false;
  bool ok = vecdot_pair(vm, operands, args[2], dtype, out);
  tl_drop(vm, operands[0]);
  tl_drop(vm, operands[1]);
  return ok;
}

// --- Diagonals --------------------------------------------------------------

// The view of a diagonal of the last two axes: it is the last axis.
static bool diagonal_view(tl_vm *vm, const char *function, tl_slot *x,
                          tl_slot offset_slot, tl_slot *out) {
  int64_t offset;
  if (!tl_arg_array(vm, function, x) ||
      !tl_arg_int(vm, function, "offset", offset_slot, &offset))
    return false;
  const tl_array *a = x->array;
  int ndim = tl_ndim(a);
  if (ndim < 2)
    return tl_fail(vm, TALLY_ERR_SHAPE, "%s: x has %d axes, needs 2 or more",
                   function, ndim);
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  memcpy(shape, tl_shape(a), sizeof(int64_t) * (size_t)ndim);
  memcpy(strides, tl_strides(a), sizeof(int64_t) * (size_t)ndim);
  int64_t rows = shape[ndim - 2], columns = shape[ndim - 1];
  // An offset beyond the matrix leaves a diagonal of no items at its edge.
  int64_t row = offset < 0 ? (offset < -rows ? rows : -offset) : 0;
  int64_t column = offset > 0 ? (offset > columns ? columns : offset) : 0;
  int64_t length =
      rows - row < columns - column ? rows - row : columns - column;
  char *data = a->data;
  if (length > 0)
    data += row * strides[ndim - 2] + column * strides[ndim - 1];
  shape[ndim - 2] = length;
  // One step along the diagonal is one down and one to the right.
  strides[ndim - 2] += strides[ndim - 1];
  tl_array *view =
      tl_view_new(vm, x, tl_array_dtype(a), data, ndim - 1, shape, strides);
  return tl_array_finish(vm, true, view, out);
}

static bool diagonal(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return diagonal_view(vm, "diagonal", &args[0], args[1], out);
}

// trace(x, offset, dtype): the sum along the diagonal's view, so that dtypes
// and the order of additions are those of sum.
static bool trace(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot view, x;
  tl_dtype dtype;
  if (!tl_arg_numeric(vm, "trace", &args[0]) ||
      !tl_arg_dtype(vm, "trace", args[2], TL_DTYPE_COUNT, &dtype))
    return false;
  x = tl_borrow(args[0]);
  if (!diagonal_view(vm, "trace", &x, args[1], &view))
    return false;
  uint32_t axis = UINT32_C(1) << (tl_ndim(view.array) - 1);
  bool ok = tl_reduce(vm, TL_REDUCE_SUM, &view, axis, false, dtype, 0, out);
  tl_drop(vm, view);
  return ok;
}

// diag of a vector: a square matrix of zeros with x on diagonal k, which makes
// a side of n + |k|. k is not INT64_MIN, whose magnitude is no int64.
static bool diag_matrix(tl_vm *vm, const tl_array *x, int64_t k, tl_slot *out) {
  int64_t n = x->size, shape[2], stride;
  int64_t away = k < 0 ? -k : k;
  if (__builtin_add_overflow(n, away, &shape[0]))
    return tl_fail(vm, TALLY_ERR_SHAPE, "diag: diagonal %lld is too far away",
                   (long long)k);
  shape[1] = shape[0];
  tl_array *a = tl_array_zeros(vm, tl_array_dtype(x), 2, shape);
  if (!a)
    return false;
  int64_t column = tl_strides(a)[1], row = tl_strides(a)[0];
  stride = row + column;
  char *data = a->data + (n == 0 ? 0 : k < 0 ? away * row : away * column);
  return tl_array_finish(vm, tl_assign_part(vm, a, data, 1, &n, &stride, x), a,
                         out);
}

// In C: zeros and an assignment of every (n + 1)th item in Tally take 4 times
// as long for 4 items, 2.8 times for 30.
static bool diag(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t k;
  if (!tl_arg_array(vm, "diag", &args[0]) ||
      !tl_arg_int(vm, "diag", "k", args[1], &k))
    return false;
  if (tl_ndim(args[0].array) == 1) {
    if (k == INT64_MIN)
      k++;
    return diag_matrix(vm, args[0].array, k, out);
  }
  if (tl_ndim(args[0].array) == 0)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "diag: x is a scalar, but must have an axis or more");
  return diagonal_view(vm, "diag", &args[0], args[1], out);
}

// --- Products of all with all -----------------------------------------------

// In C: reshape(…) * reshape(…) in Tally takes 2 to 3.6 times as long for small
// matrices, and as long from 300 × 300 on.
static bool kron(tl_vm *vm, tl_slot *args, tl_slot *out) {
  for (int i = 0; i < 2; i++)
    if (!tl_arg_numeric(vm, "kron", &args[i]))
      return false;
  const tl_array *a = args[0].array, *b = args[1].array;
  int ndim = tl_ndim(a) > tl_ndim(b) ? tl_ndim(a) : tl_ndim(b);
  if (2 * ndim > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "kron: more than %d axes",
                   TL_MAX_DIMS / 2);
  // Every axis is one of a's items and, within, one of b's.
  int64_t shapes[2][TL_MAX_DIMS], shape[TL_MAX_DIMS];
  for (int k = 0; k < ndim; k++) {
    int own[2] = {k - (ndim - tl_ndim(a)), k - (ndim - tl_ndim(b))};
    shapes[0][2 * k] = own[0] < 0 ? 1 : tl_shape(a)[own[0]];
    shapes[0][2 * k + 1] = shapes[1][2 * k] = 1;
    shapes[1][2 * k + 1] = own[1] < 0 ? 1 : tl_shape(b)[own[1]];
    if (__builtin_mul_overflow(shapes[0][2 * k], shapes[1][2 * k + 1],
                               &shape[k]))
      return tl_fail(vm, TALLY_ERR_SHAPE, "kron: axis %d is too long", k);
  }
  if (ndim == 0)
    return tl_elementwise(vm, TL_OP_MULTIPLY, args, out);
  tl_slot parts[2], product, base = tl_borrow(args[0]);
  if (!tl_reshape(vm, &base, 2 * ndim, shapes[0], &parts[0]))
    return false;
  base = tl_borrow(args[1]);
  bool ok = tl_reshape(vm, &base, 2 * ndim, shapes[1], &parts[1]);
  if (ok) {
    ok = tl_elementwise(vm, TL_OP_MULTIPLY, parts, &product);
    tl_drop(vm, parts[1]);
  }
  tl_drop(vm, parts[0]);
  return ok && reshape_own(vm, product, ndim, shape, out);
}

// --- The table --------------------------------------------------------------

#define MATMUL \
  { "matmul", "x1, x2", matmul }
#define TENSORDOT \
  { "tensordot", "x1, x2, axes: 2", tensordot }
#define VECDOT \
  { "vecdot", "x1, x2, axis: -1", vecdot }
#define DIAGONAL \
  { "diagonal", "x, offset: 0", diagonal, .lifts = TL_OF_MASKS }
#define TRACE \
  { "trace", "x, offset: 0, dtype: none", trace }
#define KRON \
  { "kron", "a, b", kron }

const tl_builtin tl_linear_builtins[] = {
    /// The matrix product, also x1 @ x2. Vectors are rows on the left and
    /// columns on the right; axes before the last two broadcast. Any numeric
    /// dtypes, promoted. Sizes that do not fit are an error (kind shape), a
    /// scalar is too.
    ///     matmul([[1, 2], [3, 4]], [1, 1])    # [3, 7]
    MATMUL,
    /// Products summed over axes: so many last ones of x1 with first ones of
    /// x2, or the two lists of axes that axes gives; the result has the axes
    /// that are left of x1, then of x2. Any numeric dtypes, promoted. Lengths
    /// that differ are an error (kind shape).
    ///     tensordot([1, 2], [3, 4], axes: 1)    # 11
    TENSORDOT,
    /// The dot products of the vectors along an axis, complex x1 conjugated;
    /// the other axes broadcast. Any numeric dtypes, promoted. Vectors of
    /// different lengths are an error (kind shape).
    ///     vecdot([[1, 2], [3, 4]], [1, 1])    # [3, 7]
    VECDOT,
    /// A diagonal of the last two axes, as a view: the main one, or that many
    /// places to the right of it. Any dtype. Fewer than two axes are an error
    /// (kind shape).
    ///     diagonal([[1, 2], [3, 4]])    # [1, 4]
    DIAGONAL,
    /// The sum of a diagonal of the last two axes. Narrow integers are summed
    /// as int64 or uint64, other dtypes stay, unless dtype is given. Fewer than
    /// two axes are an error (kind shape).
    ///     trace([[1, 2], [3, 4]])    # 5
    TRACE,
    /// Every item of a times all of b, side by side: axis by axis as long as
    /// both together. Any numeric dtypes, promoted. More than 16 axes are an
    /// error (kind shape).
    ///     kron([1, 10], [1, 2])    # [1, 2, 10, 20]
    KRON,
    /// A matrix with the items of a vector on its diagonal number k; or of a
    /// matrix, that diagonal.
    /// Any dtype, which stays. More axes than two give a diagonal of each
    /// matrix; a scalar is an error (kind shape).
    ///     diag([1, 2])    # [[1, 0], [0, 2]]
    {"diag", "x, k: 0", diag, .lifts = TL_OF_MASKS, .takes = TL_BYTES},
    {.name = NULL},
};

// The same functions as members of linalg, where the standard has most of them.
/// {tl_linear_builtins}
const tl_builtin tl_linear_module[] = {
    MATMUL, TENSORDOT, VECDOT, DIAGONAL, TRACE, KRON, {.name = NULL},
};
