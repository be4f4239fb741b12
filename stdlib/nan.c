// Reductions that leave NaN out: nansum, nanmean, nanmax, nanmin.
//
// NaN is replaced by what changes nothing, and the items that count are
// counted beside it.

#include <math.h>

#include "stdlib/arguments.h"
#include "stdlib/families.h"
#include "vm/engine/engine.h"
#include "vm/vm.h"

typedef struct recipe {
  const char *name;
  tl_reduction plain;   // of a dtype that has no NaN
  tl_reduction folded;  // of the others
  double neutral;       // what stands for NaN then
} recipe;

static bool read_axes(tl_vm *vm, const char *function, const tl_array *x,
                      tl_slot axis, uint32_t *out) {
  int ndim = tl_ndim(x), count, axes[TL_MAX_DIMS];
  *out = ndim == 32 ? UINT32_MAX : (UINT32_C(1) << ndim) - 1;
  if (tl_is_none(axis))
    return true;
  if (!tl_arg_axes(vm, function, axis, ndim, &count, axes))
    return false;
  *out = 0;
  for (int i = 0; i < count; i++) *out |= UINT32_C(1) << axes[i];
  return true;
}

static double get(const tl_array *a, int64_t i) {
  return tl_array_dtype(a) == TL_FLOAT32
             ? (double)((const float *)(const void *)a->data)[i]
             : ((const double *)(const void *)a->data)[i];
}

static void put(tl_array *a, int64_t i, double f) {
  if (tl_array_dtype(a) == TL_FLOAT32)
    ((float *)(void *)a->data)[i] = (float)f;
  else
    ((double *)(void *)a->data)[i] = f;
}

// Both arrays are dense and of one shape; [valid] is written.
static bool split_nan(tl_vm *vm, tl_array *items, tl_array *valid,
                      double neutral) {
  bool *is_valid = (bool *)valid->data;
  for (int64_t i = 0; i < items->size; i++) {
    if (i % 16384 == 0 && !tl_poll(vm, 16))
      return false;
    is_valid[i] = !isnan(get(items, i));
    if (!is_valid[i])
      put(items, i, neutral);
  }
  return true;
}

// The fold of the items that count, and of how many: a mean is their quotient,
// and a greatest of none is NaN.
static void combine(const recipe *r, tl_array *folded, const tl_array *counts) {
  const int64_t *count = (const int64_t *)(const void *)counts->data;
  for (int64_t i = 0; i < folded->size; i++) {
    if (r->plain == TL_REDUCE_MEAN)
      put(folded, i, get(folded, i) / (double)count[i]);
    else if (r->plain != TL_REDUCE_SUM && count[i] == 0)
      put(folded, i, (double)NAN);
  }
}

// Takes both results; *out is what a script sees.
static bool join(tl_vm *vm, const recipe *r, tl_slot folded, tl_slot counts,
                 tl_slot *out) {
  bool ok =
      tl_arg_array(vm, r->name, &folded) && tl_arg_array(vm, r->name, &counts);
  tl_array *own = ok ? tl_take_dense(vm, &folded) : NULL;
  if (own) {
    combine(r, own, counts.array);
    *out = tl_result(vm, own);
  }
  tl_drop(vm, folded);
  tl_drop(vm, counts);
  return own != NULL;
}

static bool reduce_valid(tl_vm *vm, const recipe *r, tl_array *items,
                         tl_array *valid, uint32_t axes, bool keepdims,
                         tl_slot *out) {
  tl_slot x = tl_borrow(tl_own_array(items));
  tl_slot v = tl_borrow(tl_own_array(valid)), folded, counts;
  if (!split_nan(vm, items, valid, r->neutral) ||
      !tl_reduce(vm, r->folded, &x, axes, keepdims, TL_DTYPE_COUNT, 0, &folded))
    return false;
  if (!tl_reduce(vm, TL_REDUCE_COUNT_NONZERO, &v, axes, keepdims,
                 TL_DTYPE_COUNT, 0, &counts)) {
    tl_drop(vm, folded);
    return false;
  }
  return join(vm, r, folded, counts, out);
}

static bool has_nan(const tl_array *a) {
  for (int64_t i = 0; i < a->size; i++)
    if (isnan(get(a, i)))
      return true;
  return false;
}

// The reduction of all items, which is what is asked for unless a result is
// NaN: most arrays have none, and need no copy then.
static bool reduce_all(tl_vm *vm, const recipe *r, tl_slot x, uint32_t axes,
                       bool keepdims, tl_slot *out, bool *done) {
  tl_slot all = tl_borrow(x), items;
  *done = false;
  if (!tl_reduce(vm, r->plain, &all, axes, keepdims, TL_DTYPE_COUNT, 0, out))
    return false;
  items = tl_borrow(*out);
  bool ok = tl_arg_array(vm, r->name, &items);
  *done = ok && !has_nan(items.array);
  tl_drop(vm, items);
  if (!*done)
    tl_clear(vm, out);
  return ok;
}

static bool call(tl_vm *vm, const recipe *r, tl_slot *args, tl_slot *out) {
  uint32_t axes;
  bool keepdims;
  if (!tl_arg_numeric(vm, r->name, &args[0]) ||
      !read_axes(vm, r->name, args[0].array, args[1], &axes) ||
      !tl_arg_bool(vm, r->name, "keepdims", args[2], &keepdims))
    return false;
  tl_dtype dtype = tl_array_dtype(args[0].array);
  if (tl_dtype_is_complex(dtype))
    return tl_arg_fail(vm, r->name, "x", "real", args[0]);
  if (!tl_dtype_is_real(dtype))
    return tl_reduce(vm, r->plain, &args[0], axes, keepdims, TL_DTYPE_COUNT, 0,
                     out);
  bool done = false;
  if (args[0].array->size > 0 &&
      !reduce_all(vm, r, args[0], axes, keepdims, out, &done))
    return false;
  if (done)
    return true;
  tl_array *items = tl_take_dense(vm, &args[0]);
  if (!items)
    return false;
  tl_array *valid = tl_array_new(vm, TL_BOOL, tl_ndim(items), tl_shape(items));
  bool ok = valid && reduce_valid(vm, r, items, valid, axes, keepdims, out);
  tl_drop(vm, tl_own_array(items));
  if (valid)
    tl_drop(vm, tl_own_array(valid));
  return ok;
}

static bool nansum(tl_vm *vm, tl_slot *args, tl_slot *out) {
  static const recipe r = {"nansum", TL_REDUCE_SUM, TL_REDUCE_SUM, 0};
  return call(vm, &r, args, out);
}

static bool nanmean(tl_vm *vm, tl_slot *args, tl_slot *out) {
  static const recipe r = {"nanmean", TL_REDUCE_MEAN, TL_REDUCE_SUM, 0};
  return call(vm, &r, args, out);
}

static bool nanmax(tl_vm *vm, tl_slot *args, tl_slot *out) {
  static const recipe r = {"nanmax", TL_REDUCE_MAX, TL_REDUCE_MAX,
                           -(double)INFINITY};
  return call(vm, &r, args, out);
}

static bool nanmin(tl_vm *vm, tl_slot *args, tl_slot *out) {
  static const recipe r = {"nanmin", TL_REDUCE_MIN, TL_REDUCE_MIN,
                           (double)INFINITY};
  return call(vm, &r, args, out);
}

#define PARAMS "x, axis: none, keepdims: false"
#define REST                                                               \
  "All of them, or along an axis or several, which then leave the shape\n" \
  "unless keepdims is true. dtypes as without nan; complex items are a\n"  \
  "type error.\n"

const tl_builtin tl_nan_builtins[] = {
    {"nansum", PARAMS, nansum, TL_PURE,
     TL_DOC(
         "Adds the items of x that are not NaN; 0 where there are none.\n" REST
         "    nansum([1.0, nan, 2.0])    # 3.0\n")},
    {"nanmean", PARAMS, nanmean, TL_PURE,
     TL_DOC(
         "The mean of the items that are not NaN; NaN where there are none.\n" REST
         "    nanmean([1.0, nan, 2.0])    # 1.5\n")},
    {"nanmax", PARAMS, nanmax, TL_PURE,
     TL_DOC(
         "The greatest item that is not NaN; NaN where all are. Of no items at all a\n"
         "value error.\n" REST "    nanmax([1.0, nan, 2.0])    # 2.0\n")},
    {"nanmin", PARAMS, nanmin, TL_PURE,
     TL_DOC(
         "The least item that is not NaN; NaN where all are. Of no items at all a\n"
         "value error.\n" REST "    nanmin([1.0, nan, 2.0])    # 1.0\n")},
    {NULL, NULL, NULL, 0, NULL},
};
