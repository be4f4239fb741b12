// Reductions: what each computes in, and folds over lanes and columns.
//
// A result depends on the shape and the items in logical order alone, never on
// strides: sum(x) and sum(copy(x)) agree to the last bit.
#include "vm/engine/reduce_internal.h"

#include <math.h>

// As messages call the built-in of each.
static const char *const names[TL_REDUCTION_COUNT] = {
    [TL_REDUCE_SUM] = "sum",
    [TL_REDUCE_PROD] = "prod",
    [TL_REDUCE_MIN] = "min",
    [TL_REDUCE_MAX] = "max",
    [TL_REDUCE_ANY] = "any",
    [TL_REDUCE_ALL] = "all",
    [TL_REDUCE_COUNT_NONZERO] = "count_nonzero",
    [TL_REDUCE_ARGMIN] = "argmin",
    [TL_REDUCE_ARGMAX] = "argmax",
    [TL_REDUCE_MEAN] = "mean",
    [TL_REDUCE_VAR] = "var",
    [TL_REDUCE_STD] = "std",
    [TL_REDUCE_LENGTH] = "norm",
};

// --- The way ----------------------------------------------------------------

// A place in columns whose items lie side by side is sought along them.
static bool lies_along(const tl_reducer *r) {
  const tl_split *split = &r->split;
  return split->reduced == 1 && r->from == r->dtype &&
         split->reduced_strides[0] == (int64_t)tl_itemsize(r->from);
}

// In the order that lanes and columns are given in.
static bool fold_in_order(tl_reducer *r) {
  const tl_split *split = &r->split;
  const bool is_search = r->method.find != NULL;
  if (split->kept > 0 && (split->outer || split->reduced == 0) &&
      split->length > 0 && !(is_search && lies_along(r)))
    return tl_reduce_across(r);
  return tl_reduce_is_interleaved(r) ? tl_reduce_interleaved(r)
                                     : tl_reduce_along(r);
}

// Whether the order of the items does not count, but for which zero or NaN it
// is.
static bool is_free(const tl_method *m) {
  const bool adds = m->fold == TL_FOLD_SUM || m->fold == TL_FOLD_PROD;
  return m->find == NULL && (!adds || m->dtype < TL_FLOAT16);
}

// Of 0.0 and -0.0 the order tells.
static bool has_zero(const tl_reducer *r) {
  for (int64_t i = 0; i < r->split.count; i++) {
    double item = r->result == TL_FLOAT64
                      ? ((const double *)(const void *)r->out)[i]
                      : (double)((const float *)(const void *)r->out)[i];
    if (item == 0)
      return true;
  }
  return false;
}

// Minima, maxima, counts and integer sums may go in the order of memory. Where
// that finds a zero among floats, the sign depends on which of 0.0 and -0.0
// came first, and the fold is done once more in logical order.
static bool fold(tl_reducer *r) {
  const tl_method *m = &r->method;
  if (!is_free(m) || tl_is_contiguous(r->split.array))
    return fold_in_order(r);
  // The split is that of the array again afterwards, for the second fold below
  // and for the caller.
  tl_split split = r->split;
  const bool ordered = m->fold == TL_FOLD_MIN || m->fold == TL_FOLD_MAX;
  tl_split_as_stored(&r->split, ordered);
  bool ok = fold_in_order(r);
  r->split = split;
  return ok && ordered && r->result >= TL_FLOAT16 && has_zero(r)
             ? fold_in_order(r)
             : ok;
}

// --- Dtypes -----------------------------------------------------------------

// Static text, which nobody frees.
const char *tl_reduction_name(tl_reduction reduction) {
  return names[reduction];
}

// In this order: what may be reduced at all, the dtype that is folded in, the
// dtype of the result, the methods. Means of integers are folded as float64
// from the start, so that sums do not wrap.
bool tl_reduce_dtypes(tl_reducer *r, tl_reduction reduction, tl_dtype dtype,
                      tl_slot x) {
  tl_dtype from = r->from;
  if (from == TL_STRING)
    return tl_arg_fail(r->vm, r->name, NULL, "numbers", x);
  if (tl_reduction_orders(reduction) && tl_dtype_is_complex(from))
    return tl_arg_fail(r->vm, r->name, NULL, "real numbers", x);
  // By the order of the enum: means, variances and lengths come last.
  bool is_mean = reduction >= TL_REDUCE_MEAN;
  r->dtype = dtype != TL_DTYPE_COUNT        ? dtype
             : is_mean && from < TL_FLOAT16 ? TL_FLOAT64
                                            : from;
  r->dtype = tl_compute_dtype(r->dtype);
  if (r->dtype >= TL_STRING || tl_kernels()->cast[from][r->dtype] == NULL ||
      (is_mean && r->dtype < TL_FLOAT16)) {
    return tl_fail(r->vm, TALLY_ERR_TYPE, "%s: dtype %s does not serve for %s",
                   r->name, tl_dtypes[r->dtype].name, tl_dtypes[from].name);
  }
  if (reduction == TL_REDUCE_ARGMIN || reduction == TL_REDUCE_ARGMAX) {
    r->result = TL_INT64;
  } else if (tl_reduction_orders(reduction)) {
    r->result = r->dtype;
    // The bytes of bools order like integers.
    if (from == TL_BOOL)
      r->from = r->dtype = TL_UINT8;
  } else if (is_mean) {
    r->result = r->dtype;
    if (reduction != TL_REDUCE_MEAN)
      r->result = tl_op_result(TL_OP_ABS, r->dtype);
  } else {
    r->result = tl_fold_result(tl_reduction_fold(reduction), r->dtype);
  }
  tl_method_choose(&r->method, reduction, r->dtype);
  r->about_zero = reduction == TL_REDUCE_LENGTH;
  r->root = reduction == TL_REDUCE_STD || r->about_zero;
  r->varies = reduction == TL_REDUCE_VAR || r->root;
  if (r->varies)
    tl_method_of_squares(&r->squares, r->dtype);
  return true;
}

// --- The whole --------------------------------------------------------------

// A mean is the sum divided at the end, in the results' dtype.
static bool run(tl_reducer *r, tl_reduction reduction) {
  if (!fold(r))
    return false;
  if (reduction == TL_REDUCE_MEAN)
    tl_reduce_divide(r->result, r->out, r->split.count,
                     (double)r->split.length);
  return true;
}

// With keepdims as many axes as before; without, those that are not reduced, in
// order.
int tl_reduce_shape(int ndim, const int64_t *lengths, uint32_t axes,
                    bool keepdims, int64_t *shape) {
  int kept = 0;
  for (int i = 0; i < ndim; i++) {
    bool reduced = (axes >> i & 1) != 0;
    if (reduced && !keepdims)
      continue;
    shape[kept++] = reduced ? 1 : lengths[i];
  }
  return kept;
}

// What tl_scalar_load cannot make is a boxed complex number.
bool tl_reduce_scalar(tl_reducer *r, const tl_c128 *item, tl_slot *out) {
  *out = r->result == TL_COMPLEX128
             ? tl_new_complex(r->vm, item->re, item->im, false)
             : tl_scalar_load(r->result, item);
  return !tl_is_unset(*out);
}

// A single result needs no array.
static bool run_scalar(tl_reducer *r, tl_reduction reduction, tl_slot *out) {
  tl_c128 item;
  r->out = (char *)&item;
  return run(r, reduction) && tl_reduce_scalar(r, &item, out);
}

// All that may fail for the operand's sake is checked before the result gets
// its memory. Results of no items at all (count 0) run nothing.
static bool reduce_array(tl_vm *vm, tl_reduction reduction, tl_slot x,
                         uint32_t axes, bool keepdims, tl_dtype dtype,
                         double parameter, tl_slot *out) {
  tl_reducer r;  // large: not cleared
  r.vm = vm;
  r.name = names[reduction];
  r.from = tl_array_dtype(x.array);
  r.correction = parameter;
  if (!tl_reduce_dtypes(&r, reduction, dtype, x))
    return false;
  tl_split_axes(x.array, axes, &r.split);
  if (tl_reduction_orders(reduction) && r.split.length == 0 &&
      r.split.count > 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: x has no items to choose from: got %s", r.name,
                   tl_described(vm, x));
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_reduce_shape(tl_ndim(x.array), tl_shape(x.array), axes,
                             keepdims, shape);
  if (ndim == 0)
    return run_scalar(&r, reduction, out);
  tl_array *array = tl_array_new(vm, r.result, ndim, shape);
  r.out = array != NULL ? array->data : NULL;
  bool ok = array != NULL && (r.split.count == 0 || run(&r, reduction));
  return tl_array_finish(vm, ok, array, out);
}

// [a] is a result and so dense.
tl_array *tl_reduce_cut(tl_vm *vm, const tl_array *a, tl_dtype dtype) {
  tl_array *made = tl_array_new(vm, dtype, tl_ndim(a), tl_shape(a));
  const size_t n = (size_t)a->size, from = tl_itemsize(tl_array_dtype(a));
  for (size_t at = 0, end = 0; made != NULL && at < n; at = end) {
    if (!tl_poll_piece(vm, at, n, &end)) {
      tl_array_drop(vm, made);
      return NULL;
    }
    tl_kernels()->cast[tl_array_dtype(a)][dtype](
        made->data + at * tl_itemsize(dtype), a->data + at * from, end - at);
  }
  return made;
}

// sum(x, dtype: int8) folds in 64 bits and is cut once, which gives the same
// bits as wrapping at each step. What float16 has is folded in float32, and
// rounded once.
bool tl_reduce_narrow(tl_vm *vm, tl_reduction reduction, tl_dtype from,
                      tl_dtype dtype, tl_slot *out) {
  const bool sums = reduction == TL_REDUCE_SUM || reduction == TL_REDUCE_PROD;
  const bool is_cut = sums && dtype != TL_DTYPE_COUNT &&
                      tl_dtype_is_integer(dtype) &&
                      tl_dtype_of(*out) != (int)dtype;
  if (dtype == TL_DTYPE_COUNT)
    dtype = from;  // what was asked for, or given
  if (!is_cut && (dtype != TL_FLOAT16 || tl_dtype_of(*out) != (int)TL_FLOAT32))
    return true;
  tl_slot wide = *out;
  if (!tl_is_array(wide) && !tl_as_array(vm, "sum", *out, &wide))
    return false;
  tl_array *made = tl_reduce_cut(vm, wide.array, dtype);
  *out = made != NULL ? tl_result(vm, made) : tl_none();
  tl_drop(vm, wide);
  return made != NULL;
}

// What is no array becomes one of its own, which ends here; *x stays what it
// was, dying or not, since no reduction writes over its operand.
bool tl_reduce(tl_vm *vm, tl_reduction reduction, tl_slot *x, uint32_t axes,
               bool keepdims, tl_dtype dtype, double parameter, tl_slot *out) {
  tl_slot array, result;
  if (!tl_as_array(vm, names[reduction], *x, &array))
    return false;
  const tl_dtype from = tl_array_dtype(array.array);
  bool ok = reduce_array(vm, reduction, array, axes, keepdims, dtype, parameter,
                         &result);
  tl_drop(vm, array);
  ok = ok && tl_reduce_narrow(vm, reduction, from, dtype, &result);
  if (ok)
    tl_copy_slot(out, &result);
  return ok;
}

// --- Norms ------------------------------------------------------------------

// Complex items stay complex: their magnitudes are taken by the fold's ABS.
tl_dtype tl_norm_items(tl_dtype given) {
  // As floats, so that the magnitude of the least integer is one too.
  return given < TL_FLOAT16 ? TL_FLOAT64 : tl_compute_dtype(given);
}

// The real dtype with the precision of the items.
tl_dtype tl_norm_result(tl_dtype given) {
  return tl_op_result(TL_OP_ABS, tl_norm_items(given));
}

// Roots of 2 by SQRT, which is exact to the last bit; of others by a power.
bool tl_norm_root(tl_vm *vm, double p, tl_slot sum, tl_slot *out) {
  tl_slot operands[2] = {sum, tl_weak_float(1 / p)};
  tl_op op = p == 2 ? TL_OP_SQRT : TL_OP_POW;
  return tl_drop_after(vm, tl_elementwise(vm, op, operands, out), operands);
}

// Norms of order 0 and infinity are counts, minima or maxima, and have no root.
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
  return tl_norm_root(vm, p, result, out);
}
