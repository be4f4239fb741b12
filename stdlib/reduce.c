// Reductions along axes, read into a tl_fold_call for the engine or for a fused
// region.

#include <math.h>
#include <stdlib.h>

#include "stdlib/families.h"
#include "stdlib/nested_reduce.h"
#include "vm/engine/scalars.h"
#include "vm/interp/interp.h"

// --- Axes -------------------------------------------------------------------

// Axes of a value that is no nested one; a range counts as a vector, a number
// as none.
static int rank(tl_slot x) {
  return tl_is_array(x) ? tl_ndim(x.array) : tl_is_range(x) ? 1 : 0;
}

// The places of a reduction's parameters; 0: it has no such one.
typedef struct fold_form {
  tl_builtin_fn *call;
  const char *name;
  tl_reduction reduction;
  uint8_t keepdims, dtype, correction;
  bool one_axis;
} fold_form;

// The place of skip_missing, behind the others in the order of the table:
// dtype, where there is one, keepdims or correction.
static inline int skip_place(const fold_form *f) {
  if (f->dtype != 0)
    return f->dtype + 1;
  return (f->correction > f->keepdims ? f->correction : f->keepdims) + 1;
}

// The argument overflow of those that have it, which are those with a dtype; it
// comes last.
static inline bool read_overflow(tl_vm *vm, const fold_form *f,
                                 const tl_slot *args, tl_overflow *out) {
  *out = TL_OVERFLOW_UNSAID;
  if (f->dtype == 0 || tl_is_none(args[f->dtype + 2]))
    return true;
  return tl_arg_overflow(vm, f->name, args[f->dtype + 2], out);
}

// Reads all but the axes, by the places in *f.
static bool read_options(tl_vm *vm, const fold_form *f, const tl_slot *args,
                         bool *skip, tl_fold_call *out) {
  out->reduction = (int)f->reduction;
  out->dtype = TL_DTYPE_COUNT;
  out->parameter = 0;
  return tl_arg_bool(vm, f->name, "skip_missing", args[skip_place(f)], skip) &&
         tl_arg_bool(vm, f->name, "keepdims", args[f->keepdims],
                     &out->keepdims) &&
         (f->dtype == 0 || tl_arg_dtype(vm, f->name, args[f->dtype],
                                        TL_DTYPE_COUNT, &out->dtype)) &&
         (f->correction == 0 ||
          tl_arg_float(vm, f->name, "correction", args[f->correction],
                       &out->parameter));
}

// The same for an array of [ndim] axes. skip_missing is read for its type
// alone: nothing is missing here.
static bool read_fold(tl_vm *vm, const fold_form *f, int ndim,
                      const tl_slot *args, tl_fold_call *out) {
  int64_t axis;
  bool skip;
  if (f->one_axis && !tl_is_none(args[1]) &&
      !tl_arg_int(vm, f->name, "axis", args[1], &axis))
    return false;
  return tl_arg_axis_set(vm, f->name, args[1], ndim, &out->axes) &&
         read_options(vm, f, args, &skip, out);
}

// Nested arrays read the axis themselves: how many they have depends on their
// form.
static bool reduce_nested(tl_vm *vm, const fold_form *f, tl_slot *args,
                          tl_slot *out) {
  tl_fold_call read;
  bool skip;
  if (!read_options(vm, f, args, &skip, &read))
    return false;
  const tl_reduce_call call = {f->name,       f->reduction, args[1],
                               read.keepdims, read.dtype,   read.parameter,
                               skip};
  return tl_nested_reduce(vm, &call, &args[0], out);
}

// The sum, the least or the greatest of int64 items of a list.
static bool fold_integers(const tl_list *list, tl_reduction how, tl_slot *out) {
  uint64_t sum = 0;
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (int64_t i = 0; i < list->length; i++) {
    tl_slot s = list->items[i];
    if (tl_class(s) != TL_CLASS_I64)
      return false;
    sum += s.u;
    least = s.i < least ? s.i : least;
    most = s.i > most ? s.i : most;
  }
  *out = tl_int(how == TL_REDUCE_SUM   ? (int64_t)sum
                : how == TL_REDUCE_MIN ? least
                                       : most);
  return true;
}

// The least or the greatest of float64 items, if none is NaN and no two are
// zeros of different signs.
static bool fold_floats(const tl_list *list, tl_reduction how, tl_slot *out) {
  double best = how == TL_REDUCE_MIN ? INFINITY : -INFINITY;
  for (int64_t i = 0; i < list->length; i++) {
    tl_slot s = list->items[i];
    if (tl_class(s) != TL_CLASS_F64 || isnan(s.f) ||
        (s.f == best && signbit(s.f) != signbit(best)))
      return false;
    if (how == TL_REDUCE_MIN ? s.f < best : s.f > best)
      best = s.f;
  }
  *out = tl_float(best);
  return true;
}

// A list of numbers folded where it is: what its array would give, without that
// array. False, and nothing is done, for all but the most frequent folds.
static bool fold_list(const fold_form *form, const tl_slot *args,
                      tl_slot *out) {
  const tl_reduction how = form->reduction;
  const tl_slot s = args[0], keepdims = args[form->keepdims];
  if (!tl_is_list(s) || s.list->length == 0 || !tl_is_none(args[1]) ||
      !tl_is_bool(keepdims) || keepdims.i != 0 ||
      (form->dtype != 0 && !tl_is_none(args[form->dtype])) ||
      !tl_is_bool(args[skip_place(form)]))
    return false;
  if (how == TL_REDUCE_MIN || how == TL_REDUCE_MAX)
    return fold_integers(s.list, how, out) || fold_floats(s.list, how, out);
  return how == TL_REDUCE_SUM && fold_integers(s.list, how, out);
}

// All reductions of the table below.
static bool reduce(tl_vm *vm, const fold_form *form, tl_slot *args,
                   tl_slot *out) {
  tl_fold_call call;
  tl_overflow how;
  if (!read_overflow(vm, form, args, &how))
    return false;
  if (how < TL_OVERFLOW_ERROR && fold_list(form, args, out))
    return true;
  if (!tl_arg_items(vm, form->name, &args[0]))
    return false;
  if (tl_is_nested(args[0]) && how >= TL_OVERFLOW_ERROR)
    return tl_arg_fail(vm, form->name, "x", "a plain array with overflow",
                       args[0]);
  if (tl_is_nested(args[0]))
    return reduce_nested(vm, form, args, out);
  if (!read_fold(vm, form, rank(args[0]), args, &call))
    return false;
  return how < TL_OVERFLOW_ERROR
             ? tl_reduce(vm, form->reduction, &args[0], call.axes,
                         call.keepdims, call.dtype, call.parameter, out)
             : tl_reduce_fitting(vm, form->reduction, &args[0], call.axes,
                                 call.keepdims, call.dtype, how, out);
}

// X(name, REDUCTION, keepdims, dtype, correction, one_axis)
#define FOLDS(X)                                  \
  X(mean, MEAN, 2, 0, 0, false)                   \
  X(max, MAX, 2, 0, 0, false)                     \
  X(min, MIN, 2, 0, 0, false)                     \
  X(any, ANY, 2, 0, 0, false)                     \
  X(all, ALL, 2, 0, 0, false)                     \
  X(count_nonzero, COUNT_NONZERO, 2, 0, 0, false) \
  X(sum, SUM, 2, 3, 0, false)                     \
  X(prod, PROD, 2, 3, 0, false)                   \
  X(var, VAR, 3, 0, 2, false)                     \
  X(std, STD, 3, 0, 2, false)                     \
  X(argmax, ARGMAX, 2, 0, 0, true)                \
  X(argmin, ARGMIN, 2, 0, 0, true)

// One C function for each, since a builtin's row has no other context.
#define X(name, ...) static tl_builtin_fn call_##name;
FOLDS(X)
#undef X

#define X(name, ...) FORM_##name,
enum { FOLDS(X) };
#undef X

static const fold_form forms[] = {
#define X(name, REDUCTION, keepdims, dtype, correction, one_axis) \
  {call_##name, #name,   TL_REDUCE_##REDUCTION, keepdims, dtype,  \
   correction,  one_axis},
    FOLDS(X)
#undef X
};

// The axis of a small reduction: -1 for all of them. False where it is none of
// the array's, or several.
static bool small_axis(tl_slot s, int ndim, int *axis) {
  *axis = -1;
  if (tl_is_none(s))
    return true;
  if (tl_class(s) != TL_CLASS_I64 || s.i < -ndim || s.i >= ndim)
    return false;
  *axis = (int)(s.i < 0 ? s.i + ndim : s.i);
  return true;
}

// A number that a correction may be.
static bool small_correction(const fold_form *f, const tl_slot *args,
                             double *out) {
  const tl_slot s = args[f->correction];
  *out = 0;
  if (f->correction == 0)
    return true;
  if (tl_class(s) != TL_CLASS_I64 && tl_class(s) != TL_CLASS_F64)
    return false;
  *out = tl_class(s) == TL_CLASS_I64 ? (double)s.i : s.f;
  return true;
}

// Small arrays, with which nothing can fail.
static bool fold_at_once(tl_vm *vm, const fold_form *f, const tl_slot *args,
                         tl_slot *out) {
  const tl_slot x = args[0], keepdims = args[f->keepdims];
  int axis;
  double correction;
  tl_slot result;
  if (!tl_is_array(x) || vm->interrupted != 0 || !tl_is_bool(keepdims) ||
      !tl_is_bool(args[skip_place(f)]) ||
      (f->dtype != 0 &&
       !(tl_is_none(args[f->dtype]) && tl_is_none(args[f->dtype + 2]))) ||
      !small_axis(args[1], tl_ndim(x.array), &axis) ||
      !small_correction(f, args, &correction) ||
      !tl_reduce_small(vm, f->reduction, x, axis, keepdims.i != 0, correction,
                       &result))
    return false;
  vm->stats.temps_ended += tl_is_unique(x);
  if (tl_is_owned(x))
    tl_drop(vm, x);
  tl_copy_slot(out, &result);
  return true;
}

#define X(name, ...)                                                   \
  static bool call_##name(tl_vm *vm, tl_slot *args, tl_slot *out) {    \
    return reduce(vm, &forms[FORM_##name], args, out);                 \
  }                                                                    \
  static bool name##_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) { \
    return fold_at_once(vm, &forms[FORM_##name], args, out);           \
  }
FOLDS(X)
#undef X

// max((x, y)) and max([x, y, z]) of numbers of one type, or of int64 and
// float64: one after the other, which is what the reduction does with so few.
// The result is that of an array, so it is not weak.
static bool few_at_once(tl_op op, const tl_slot *args, tl_slot *out) {
  tl_slot best = args[0];
  for (int64_t i = 0; i < llabs(args[TL_FEW].i); i++) {
    tl_slot item = args[i];
    tl_dtype dtype = (tl_dtype)tl_dtype_of(item);
    uint64_t classes = (item.tag | args[0].tag) & UINT8_MAX;
    if (!tl_is_scalar(item) ||
        !(tl_dtype_is_integer(dtype) || tl_dtype_is_real(dtype)) ||
        ((item.tag ^ args[0].tag) & ~TL_WEAK &&
         classes != (TL_CLASS_I64 | TL_CLASS_F64)))
      return false;
    item.tag &= ~TL_WEAK;
    if (i == 0)
      best = item;
    else if (!tl_scalar_binary(op, &best, &item, &best))
      return false;
  }
  tl_copy_slot(out, &best);
  return true;
}

// Whatever else the items are: a list or an array of them, as it is written.
static bool of_few(tl_vm *vm, tl_op op, const char *name, const tl_slot *args,
                   tl_slot *out) {
  int64_t count = args[TL_FEW].i;
  tl_slot all[] = {tl_none(), tl_none(), tl_bool(false), tl_bool(false)};
  const tl_builtin *row = tl_reduce_builtins;
  while (strcmp(row->name, name) != 0) row++;
  if (few_at_once(op, args, out))
    return true;
  if (count < 0)
    return tl_do_stack(vm, (uint32_t)-count, args, all) &&
           tl_do_builtin(vm, row, TL_CALL_OWNS, 4, all, out);
  tl_list *list = tl_list_new(vm, count);
  for (int64_t i = 0; list != NULL && i < count; i++)
    list->items[list->length++] = tl_retain(vm, tl_borrow(args[i]));
  all[0] = list == NULL ? tl_none() : tl_own_list(list);
  return list != NULL && tl_do_builtin(vm, row, TL_CALL_OWNS, 4, all, out);
}

#define FEW(name, op)                                                      \
  static bool name##_of_few(tl_vm *vm, tl_slot *args, tl_slot *out) {      \
    return of_few(vm, op, #name, args, out);                               \
  }                                                                        \
  static bool name##_few_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) { \
    (void)vm;                                                              \
    return few_at_once(op, args, out);                                     \
  }                                                                        \
  static const tl_builtin few_##name = {#name, "a, b, c, d, count",        \
                                        name##_of_few, .takes = TL_FORMS,  \
                                        .at_once = name##_few_at_once};
FEW(max, TL_OP_MAXIMUM)
FEW(min, TL_OP_MINIMUM)
#undef FEW

// The form of a row of the builtins' table; NULL: it is no reduction.
static const fold_form *find_form(const tl_builtin *builtin) {
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (forms[i].call == builtin->call)
      return &forms[i];
  }
  return NULL;
}

// For a fused region, which has the array's axes but not the array yet. Only
// rows with TL_FUSED_REDUCTION are asked, and all of these have a form.
bool tl_fused_reduction(tl_vm *vm, const tl_builtin *builtin, int ndim,
                        const tl_slot *args, tl_fold_call *out) {
  const fold_form *form = find_form(builtin);
  tl_overflow how;
  return read_overflow(vm, form, args, &how) && how < TL_OVERFLOW_ERROR &&
         read_fold(vm, form, ndim, args, out);
}

// --- The table --------------------------------------------------------------

#define AXES "x, axis: none, keepdims: false"
#define SKIP ", skip_missing: false"
#define OVERFLOW ", overflow: none"

#define FOLD(name) \
  call_##name, TL_GRIDS, .fused = TL_FUSED_REDUCTION, .at_once = name##_at_once

const tl_builtin tl_reduce_builtins[] = {
    /// The sum of all items, or along one axis or a list of axes. Narrow
    /// integers and bools are summed in 64 bits; the sum of no items is 0.
    /// A missing value makes the result missing unless skip_missing is true;
    /// so in all reductions.
    /// Floats and complex items keep their dtype. Strings are an error (kind
    /// type), an axis that x lacks another (index).
    /// A result that does not fit wraps; with overflow: "error" it is an error
    /// (kind value), with "saturate" the end of the range. Only the result
    /// counts then, not what is summed on the way there.
    ///     sum([[1, 2], [3, 4]])             # 10
    ///     sum([[1, 2], [3, 4]], axis: 0)    # [4, 6]
    ///     sum([100, 100], dtype: int8, overflow: "saturate")    # 127
    {"sum", AXES ", dtype: none" SKIP OVERFLOW, FOLD(sum)},
    /// The product of all items, or along axis; of no items, 1.
    /// Floats and complex items keep their dtype. Strings are an error (kind
    /// type), an axis that x lacks another (index). overflow is as in sum.
    ///     prod([[1, 2], [3, 4]], axis: 1)    # [2, 12]
    {"prod", AXES ", dtype: none" SKIP OVERFLOW, FOLD(prod)},
    /// The mean of all items, or along axis; integers give float64.
    /// Strings are an error (kind type), an axis that x lacks another (index).
    ///     mean([1, 2, 3, 4])    # 2.5
    {"mean", AXES SKIP, FOLD(mean)},
    /// The variance: the mean squared deviation from the mean. correction: 1
    /// divides by n - 1.
    /// Of an array of any numeric dtype, along one axis, several or all; floats
    /// of its precision, NaN where there are too few items. Strings are an error
    /// (kind type), an axis that x lacks another (index).
    ///     var([1.0, 2.0, 3.0, 4.0])                   # 1.25
    ///     var([1.0, 2.0, 3.0], correction: 1)         # 1.0
    {"var", "x, axis: none, correction: 0, keepdims: false" SKIP, FOLD(var)},
    /// The standard deviation, the root of var(x).
    /// Of an array of any numeric dtype, along one axis, several or all; floats
    /// of its precision, NaN where there are too few items. Strings are an error
    /// (kind type), an axis that x lacks another (index).
    ///     std([2.0, 4.0])    # 1.0
    {"std", "x, axis: none, correction: 0, keepdims: false" SKIP, FOLD(std)},
    /// The largest item, or the largest along axis; NaN if there is one. Of two
    /// values: maximum(a, b).
    /// Takes any real dtype, which stays. No items are an error (kind value),
    /// complex items and strings another (type), an axis that x lacks a third
    /// (index).
    ///     max([[1, 5], [7, 2]], axis: 1)    # [5, 7]
    {"max", AXES SKIP, FOLD(max), .of_few = &few_max},
    /// The smallest item, or the smallest along axis; NaN if there is one. Of
    /// two values: minimum(a, b).
    /// Takes any real dtype, which stays. No items are an error (kind value),
    /// complex items and strings another (type), an axis that x lacks a third
    /// (index).
    ///     min([3, 1, 2])    # 1
    {"min", AXES SKIP, FOLD(min), .of_few = &few_min},
    /// Whether any item is true or not zero.
    /// Takes any numeric dtype, an item that is not 0 being true; gives bools.
    /// Strings are an error (kind type), an axis that x lacks another (index).
    ///     any([false, true])    # true
    {"any", AXES SKIP, FOLD(any)},
    /// Whether all items are true or not zero; of no items, true.
    /// Takes any numeric dtype, an item that is not 0 being true; gives bools.
    /// Strings are an error (kind type), an axis that x lacks another (index).
    ///     all([[true, false], [true, true]], axis: 1)    # [false, true]
    {"all", AXES SKIP, FOLD(all)},
    /// How many items are true or not zero.
    /// Takes any numeric dtype; gives int64. Strings are an error (kind type),
    /// an axis that x lacks another (index).
    ///     count_nonzero([0, 3, 0, 4])    # 2
    {"count_nonzero", AXES SKIP, FOLD(count_nonzero)},
    /// The position of the first largest item, in row-major order without axis.
    /// Takes any real dtype; gives int64. No items are an error (kind value), an
    /// axis that x lacks another (index).
    ///     argmax([3, 7, 7])    # 1
    {"argmax", AXES SKIP, FOLD(argmax)},
    /// The position of the first smallest item, in row-major order without
    /// axis.
    /// Takes any real dtype; gives int64. No items are an error (kind value), an
    /// axis that x lacks another (index).
    ///     argmin([[3, 1], [0, 5]], axis: 0)    # [1, 0]
    {"argmin", AXES SKIP, FOLD(argmin)},
    {.name = NULL},
};
