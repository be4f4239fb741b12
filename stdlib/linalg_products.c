// The module linalg: powers of matrices, lengths and products of vectors.

#include <math.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "stdlib/linalg.h"
#include "vm/engine/engine.h"
#include "vm/engine/matmul.h"

// --- matrix_power -----------------------------------------------------------

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
    if (!tl_linalg_inverse(vm, "matrix_power", copy, &base))
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

// Folds what a norm is made of, over some axes: in floats of [dtype], and with
// nothing of size 0.
static bool fold_norm(tl_vm *vm, tl_reduction reduction, tl_slot x,
                      uint32_t axes, bool keepdims, tl_dtype dtype,
                      tl_slot *out) {
  if (reduction == TL_REDUCE_MAX && tl_is_array(x) && x.array->size == 0)
    reduction = TL_REDUCE_SUM;
  tl_slot borrowed = tl_borrow(x), folded;
  if (!tl_reduce(vm, reduction, &borrowed, axes, keepdims, TL_DTYPE_COUNT, 0,
                 &folded))
    return false;
  return tl_is_array(folded) ? tl_cast_own(vm, folded.array, dtype, out)
                             : tl_cast(vm, &folded, dtype, out);
}

// A sum of powers to the power of 1/p. Takes [sum].
static bool root(tl_vm *vm, double p, tl_slot sum, tl_slot *out) {
  tl_slot operands[2] = {sum, tl_weak_float(1 / p)};
  bool ok = tl_elementwise(vm, p == 2 ? TL_OP_SQRT : TL_OP_POW, operands, out);
  tl_drop(vm, operands[0]);
  return ok;
}

// The sum of |x|^p over some axes, to the power of 1/p. Takes [size].
static bool power_norm(tl_vm *vm, double p, tl_slot size, uint32_t axes,
                       bool keepdims, tl_dtype dtype, tl_slot *out) {
  tl_slot operands[2] = {size, tl_weak_float(p)};
  tl_slot power, sum;
  bool ok = tl_elementwise(vm, TL_OP_POW, operands, &power);
  tl_drop(vm, operands[0]);
  if (!ok)
    return false;
  ok = fold_norm(vm, TL_REDUCE_SUM, power, axes, keepdims, dtype, &sum);
  tl_drop(vm, power);
  return ok && root(vm, p, sum, out);
}

tl_dtype tl_norm_items(tl_dtype given) {
  // As floats, so that the magnitude of the least integer is one too.
  return given < TL_FLOAT32 ? TL_FLOAT64 : given;
}

tl_dtype tl_norm_result(tl_dtype given) {
  return given == TL_FLOAT32 || given == TL_COMPLEX64 ? TL_FLOAT32 : TL_FLOAT64;
}

// The arguments behind the first, in the order of norm: ord is 2 unless given.
static bool read_norm(tl_vm *vm, int ndim, const tl_slot *args,
                      tl_fold_call *call, double *p) {
  int count = ndim, axes[TL_MAX_DIMS];
  *p = 2;
  if ((!tl_is_none(args[1]) && !tl_arg_float(vm, "norm", "ord", args[1], p)) ||
      !tl_arg_bool(vm, "norm", "keepdims", args[3], &call->keepdims))
    return false;
  for (int k = 0; k < ndim; k++) axes[k] = k;
  if (!tl_is_none(args[2]) &&
      !tl_arg_axes(vm, "norm", args[2], ndim, &count, axes))
    return false;
  call->axes = 0;
  for (int i = 0; i < count; i++) call->axes |= UINT32_C(1) << axes[i];
  call->reduction = *p == 0      ? TL_REDUCE_COUNT_NONZERO
                    : !isinf(*p) ? TL_REDUCE_SUM
                    : *p > 0     ? TL_REDUCE_MAX
                                 : TL_REDUCE_MIN;
  call->dtype = TL_DTYPE_COUNT;
  call->parameter = 0;
  return true;
}

// The length of vectors along axes, or of all items.
static bool norm(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_fold_call call;
  double p;
  if (!tl_arg_numeric(vm, "norm", &args[0]) ||
      !read_norm(vm, tl_ndim(args[0].array), args, &call, &p))
    return false;
  tl_reduction reduction = (tl_reduction)call.reduction;
  tl_dtype given = tl_array_dtype(args[0].array), dtype = tl_norm_result(given);
  if (p == 0)
    return fold_norm(vm, reduction, args[0], call.axes, call.keepdims, dtype,
                     out);
  tl_slot x = tl_borrow(args[0]), number, size;
  if (!tl_cast(vm, &x, tl_norm_items(given), &number))
    return false;
  bool signs_count = p != 2 || tl_dtype_is_complex(given), ok = true;
  if (signs_count) {
    ok = tl_elementwise(vm, TL_OP_ABS, &number, &size);
    tl_drop(vm, number);
  } else {
    size = number;
  }
  if (!ok)
    return false;
  if (!isinf(p))
    return power_norm(vm, p, size, call.axes, call.keepdims, dtype, out);
  ok = fold_norm(vm, reduction, size, call.axes, call.keepdims, dtype, out);
  tl_drop(vm, size);
  return ok;
}

// The standard's order of parameters.
static bool vector_norm(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot turned[4] = {args[0], args[3], args[1], args[2]};
  args[0] = tl_borrow(args[0]);
  bool ok = norm(vm, turned, out);
  args[0] = turned[0];
  return ok;
}

// --- In regions (vm/region/region_fold.c)
// -------------------------------------------

bool tl_builtin_is_norm(const tl_builtin *builtin) {
  return builtin->call == norm || builtin->call == vector_norm;
}

bool tl_builtin_norm(tl_vm *vm, const tl_builtin *builtin, int ndim,
                     const tl_slot *args, tl_fold_call *out, double *p) {
  bool turned = builtin->call == vector_norm;
  tl_slot own[4] = {tl_none(), args[turned ? 3 : 1], args[turned ? 1 : 2],
                    args[turned ? 2 : 3]};
  return read_norm(vm, ndim, own, out, p);
}

bool tl_norm_end(tl_vm *vm, double p, tl_dtype dtype, tl_slot folded,
                 tl_slot *out) {
  tl_slot result;
  bool ok = tl_is_array(folded) ? tl_cast_own(vm, folded.array, dtype, &result)
                                : tl_cast(vm, &folded, dtype, &result);
  if (!ok || p == 0 || isinf(p)) {
    if (ok)
      *out = result;
    return ok;
  }
  return root(vm, p, result, out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_linalg_products_module[] = {
    {"matrix_power", "x, n", matrix_power, TL_PURE,
     TL_DOC(
         "Each square matrix multiplied with itself, n factors: the identity for\n"
         "n = 0, powers of the inverse where n is negative. x is a matrix or a\n"
         "stack of any numeric dtype, which stays (integers become floats for a\n"
         "negative n). A singular matrix with a negative n is an error (kind\n"
         "domain), one that is not square another (shape).\n"
         "    linalg.matrix_power([[1, 1], [0, 1]], 3)    # [[1, 3], [0, 1]]\n")},
    {"norm", "x, ord: 2, axis: none, keepdims: false", norm, TL_PURE,
     TL_DOC(
         "The length of the vectors along axes, or of all items as one: the sum\n"
         "of abs(x) ** ord to the power of 1 / ord; the largest magnitude where\n"
         "ord is inf, the least for -inf, the number of items that are not 0 for\n"
         "0. Floats of the precision of x (any numeric dtype). An ord that is no\n"
         "number is an error (kind type), an axis that x lacks another (index).\n"
         "    linalg.norm([3.0, 4.0])    # 5.0\n")},
    {"vector_norm", "x, axis: none, keepdims: false, ord: 2", vector_norm,
     TL_PURE,
     TL_DOC(
         "The same as norm, under the array API standard's name: the length of\n"
         "the vectors along axes, or of all items as one.\n"
         "Floats of the precision of x, which has any numeric dtype. An axis that x\n"
         "lacks is an error (kind index).\n"
         "    linalg.vector_norm([3.0, 4.0])    # 5.0\n")},
    {NULL, NULL, NULL, 0, NULL},
};
