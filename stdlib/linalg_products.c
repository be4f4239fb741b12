// The module linalg: lengths of vectors. A norm is elementwise operations and
// a reduction, so it is computed by the engine, or folded into a region's loop
// without the arrays between (tl_fused_norm).

#include <math.h>

#include "stdlib/families.h"
#include "vm/engine/engine.h"

// Reduces over some axes into floats of [dtype]; a maximum of nothing is 0.
static bool fold_norm(tl_vm *vm, tl_reduction reduction, tl_slot x,
                      uint32_t axes, bool keepdims, tl_dtype dtype,
                      tl_slot *out) {
  // A maximum of nothing has no identity, its norm is 0.
  if (reduction == TL_REDUCE_MAX && tl_is_array(x) && x.array->size == 0)
    reduction = TL_REDUCE_SUM;
  tl_slot borrowed = tl_borrow(x), folded;
  if (!tl_reduce(vm, reduction, &borrowed, axes, keepdims, TL_DTYPE_COUNT, 0,
                 &folded))
    return false;
  return tl_is_array(folded) ? tl_cast_own(vm, folded.array, dtype, out)
                             : tl_cast(vm, &folded, dtype, out);
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
  return ok && tl_norm_root(vm, p, sum, out);
}

// Reads the arguments behind the first, in the order of norm, as a reduction
// over axes: ord is 2 unless given.
static bool read_norm(tl_vm *vm, int ndim, const tl_slot *args,
                      tl_fold_call *call, double *p) {
  *p = 2;
  if ((!tl_is_none(args[1]) && !tl_arg_float(vm, "norm", "ord", args[1], p)) ||
      !tl_arg_bool(vm, "norm", "keepdims", args[3], &call->keepdims))
    return false;
  if (!tl_arg_axis_set(vm, "norm", args[2], ndim, &call->axes))
    return false;
  call->reduction = *p == 0      ? TL_REDUCE_COUNT_NONZERO
                    : !isinf(*p) ? TL_REDUCE_SUM
                    : *p > 0     ? TL_REDUCE_MAX
                                 : TL_REDUCE_MIN;
  call->dtype = TL_DTYPE_COUNT;
  call->parameter = 0;
  return true;
}

// linalg.norm(x, ord, axis, keepdims): the length of vectors along axes, or of
// all items.
static bool norm(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_fold_call call;
  double p;
  if (!read_norm(vm, tl_ndim(args[0].array), args, &call, &p))
    return false;
  tl_reduction reduction =
      p == 2 ? TL_REDUCE_LENGTH : (tl_reduction)call.reduction;
  tl_dtype given = tl_array_dtype(args[0].array), dtype = tl_norm_result(given);
  if (p == 0)
    return fold_norm(vm, reduction, args[0], call.axes, call.keepdims, dtype,
                     out);
  tl_slot x = tl_borrow(args[0]), number, size;
  if (!tl_cast(vm, &x, tl_norm_items(given), &number))
    return false;
  // A real square needs no absolute value first.
  bool signs_count = p != 2 || tl_dtype_is_complex(given), ok = true;
  if (signs_count) {
    ok = tl_elementwise(vm, TL_OP_ABS, &number, &size);
    tl_drop(vm, number);
  } else {
    size = number;
  }
  if (!ok)
    return false;
  if (!isinf(p) && p != 2)
    return power_norm(vm, p, size, call.axes, call.keepdims, dtype, out);
  ok = fold_norm(vm, reduction, size, call.axes, call.keepdims, dtype, out);
  tl_drop(vm, size);
  return ok;
}

// linalg.vector_norm: the same with the standard's order of parameters.
static bool vector_norm(tl_vm *vm, tl_slot *args, tl_slot *out) {
  // The arguments in norm's order; the array goes along with its ownership.
  tl_slot reordered[4] = {args[0], args[3], args[1], args[2]};
  args[0] = tl_borrow(args[0]);
  bool ok = norm(vm, reordered, out);
  args[0] = reordered[0];
  return ok;
}

// --- In regions (vm/region/region_fold.c) ------------------------------------

// Reads a call of either function for a region, which folds |x|^p itself.
bool tl_fused_norm(tl_vm *vm, const tl_builtin *builtin, int ndim,
                   const tl_slot *args, tl_fold_call *out, double *p) {
  bool reordered = builtin->call == vector_norm;
  tl_slot own[4] = {tl_none(), args[reordered ? 3 : 1], args[reordered ? 1 : 2],
                    args[reordered ? 2 : 3]};
  return read_norm(vm, ndim, own, out, p);
}

// --- The table --------------------------------------------------------------

// Both rows are fused in regions: see tl_fused_norm.
const tl_builtin tl_linalg_products_module[] = {
    /// The length of the vectors along axes, or of all items as one: the sum
    /// of abs(x) ** ord to the power of 1 / ord; the largest magnitude where
    /// ord is inf, the least for -inf, the number of items that are not 0 for
    /// 0. Floats of the precision of x (any numeric dtype), of float16 float32.
    /// An ord that is no number is an error (kind type), an axis that x lacks
    /// another (index).
    ///     linalg.norm([3.0, 4.0])    # 5.0
    {"norm", "x, ord: 2, axis: none, keepdims: false", norm,
     .fused = TL_FUSED_NORM, .types = "m"},
    /// The same as norm, under the array API standard's name: the length of
    /// the vectors along axes, or of all items as one.
    /// Floats of the precision of x, which has any numeric dtype. An axis that x
    /// lacks is an error (kind index).
    ///     linalg.vector_norm([3.0, 4.0])    # 5.0
    {"vector_norm", "x, axis: none, keepdims: false, ord: 2", vector_norm,
     .fused = TL_FUSED_NORM, .types = "m"},
    {.name = NULL},
};
