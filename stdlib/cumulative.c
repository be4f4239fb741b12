// Running sums, products and extremes: of arrays, of each row, and where values
// may be missing.

#include <math.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "stdlib/ragged.h"
#include "vm/engine/engine.h"
#include "vm/vm.h"

// One call of any of the functions, read from its arguments; it borrows the
// axis.
typedef struct running {
  const char *name;
  tl_reduction reduction;
  tl_slot axis;
  bool initial;    // begins with what no items give
  bool skip;       // what is missing takes no part
  tl_dtype dtype;  // TL_DTYPE_COUNT: the reduction's own
} running;

// Parts of nested values are run by the same function: see below.
static bool run(tl_vm *vm, const running *r, tl_slot *x, tl_slot *out);

// --- Missing values ---------------------------------------------------------

// A part of values that may be missing, or of rows of such: 0 what is missing,
// 1 the values. *out is owned.
static bool part_of(tl_vm *vm, tl_slot x, int part, tl_slot *out) {
  if (tl_is_form(x, TL_FORM_OPTION)) {
    *out = tl_retain(vm, tl_borrow(x.nested->parts[part]));
    return true;
  }
  tl_slot offsets = tl_borrow(x.nested->parts[0]);
  tl_slot items = tl_borrow(x.nested->parts[1].nested->parts[part]);
  return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &items, out);
}

// Of values, or of rows of values; rows that are missing as a whole are no
// such.
static bool may_be_missing(tl_slot x) {
  return tl_is_form(x, TL_FORM_OPTION) ||
         (tl_is_form(x, TL_FORM_RAGGED) &&
          tl_is_form(x.nested->parts[1], TL_FORM_OPTION));
}

// Where something was missing so far: the running sum of the flags is not 0.
static bool missing_so_far(tl_vm *vm, const running *r, tl_slot *flags,
                           tl_slot *out) {
  running count = {.name = r->name,
                   .reduction = TL_REDUCE_SUM,
                   .axis = r->axis,
                   .dtype = TL_INT64};
  tl_slot x[2] = {tl_none(), tl_weak_int(0)};
  bool ok = run(vm, &count, flags, &x[0]) &&
            tl_elementwise(vm, TL_OP_GREATER, x, out);
  tl_clear(vm, &x[0]);
  return ok;
}

// The lowest value of a real dtype, or the highest: no item changes if it is
// compared with that.
static tl_slot limit_of(tl_dtype dtype, bool highest) {
  const int unused = 64 - 8 * (int)tl_itemsize(dtype);
  int64_t signed_limit = highest ? INT64_MAX >> unused : INT64_MIN >> unused;
  tl_c128 item;
  if (dtype == TL_BOOL)
    return tl_bool(highest);
  if (tl_dtype_is_real(dtype))
    return tl_weak_float(highest ? (double)INFINITY : -(double)INFINITY);
  // Weak integers take the dtype of the values, but none is that of uint64.
  if (tl_dtypes[dtype].kind == 'I')
    return tl_weak_int(signed_limit);
  memset(&item, highest ? 0xff : 0, sizeof item);
  return tl_scalar_load(dtype, &item);
}

// What takes the place of a missing value and changes no later result: 0, 1,
// or of an extreme the limit of the dtype.
static bool find_neutral(tl_vm *vm, const running *r, tl_slot x, tl_slot *out) {
  *out = tl_weak_int(r->reduction == TL_REDUCE_PROD);
  if (r->reduction == TL_REDUCE_SUM || r->reduction == TL_REDUCE_PROD)
    return true;
  tl_slot items = x;
  if (tl_is_form(x, TL_FORM_RAGGED))
    items = x.nested->parts[1];
  tl_slot values = items.nested->parts[1];
  if (!tl_is_array(values) || tl_array_dtype(values.array) >= TL_COMPLEX64)
    return tl_arg_fail(vm, r->name, "x", "real numbers", values);
  *out = limit_of(tl_array_dtype(values.array), r->reduction == TL_REDUCE_MIN);
  return true;
}

// Values, or rows of them, that are missing where the mask is true.
static bool with_missing(tl_vm *vm, tl_slot mask, tl_slot values,
                         tl_slot *out) {
  tl_slot first = tl_borrow(mask), second = tl_borrow(values), items;
  if (!tl_is_form(values, TL_FORM_RAGGED))
    return tl_indexed_new(vm, TL_FORM_OPTION, &first, &second, out);
  tl_slot offsets = tl_borrow(values.nested->parts[0]);
  return with_missing(vm, mask.nested->parts[1], values.nested->parts[1],
                      &items) &&
         tl_rows_close(vm, true, &offsets, &items, out);
}

// Running values where some are missing; of a sum:
//
//   x                1   none  3
//   results          1   none  none
//   skip_missing     1   none  4       none in its own place alone
//
// Values and flags are run separately and joined again. To skip, what is
// missing is replaced by what changes no later result.
static bool run_optional(tl_vm *vm, const running *r, tl_slot x, tl_slot *out) {
  tl_slot flags, values, mask = tl_none(), results = tl_none(), neutral;
  if (r->initial) {
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: include_initial is for arrays without missing values",
                   r->name);
  }
  if (!part_of(vm, x, 0, &flags))
    return false;
  if (!part_of(vm, x, 1, &values)) {
    tl_drop(vm, flags);
    return false;
  }
  bool ok = true;
  if (r->skip) {
    tl_slot filled;
    ok = find_neutral(vm, r, x, &neutral);
    tl_slot choice[3] = {tl_borrow(flags), neutral, tl_borrow(values)};
    ok = ok && tl_elementwise(vm, TL_OP_WHERE, choice, &filled);
    if (ok) {
      tl_drop(vm, values);
      values = filled;
    }
    mask = tl_retain(vm, tl_borrow(flags));
  } else {
    ok = missing_so_far(vm, r, &flags, &mask);
  }
  ok = ok && run(vm, r, &values, &results);
  ok = ok && with_missing(vm, mask, results, out);
  tl_clear(vm, &mask);
  tl_clear(vm, &results);
  tl_clear(vm, &values);
  tl_clear(vm, &flags);
  return ok;
}

// --- The whole --------------------------------------------------------------

// The axis among [ndim], which a vector need not name.
static bool find_axis(tl_vm *vm, const running *r, int ndim, int *axis) {
  *axis = 0;
  if (tl_is_none(r->axis) && ndim > 1) {
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: x has %d axes, and needs one of them, as axis: 0",
                   r->name, ndim);
  }
  return ndim == 0 || tl_arg_axis(vm, r->name, r->axis, ndim, 0, axis);
}

// *x may be dying: its memory is then the result's. It is not dropped here.
static bool run(tl_vm *vm, const running *r, tl_slot *x, tl_slot *out) {
  if (may_be_missing(*x))
    return run_optional(vm, r, *x, out);
  if (tl_is_form(*x, TL_FORM_RAGGED))
    return tl_ragged_cumulative(vm, r->name, r->reduction, *x, r->dtype, out);
  int ndim = tl_is_array(*x) ? tl_ndim(x->array) : 0, along;
  if (tl_is_range(*x))
    ndim = 1;
  return find_axis(vm, r, ndim, &along) &&
         tl_cumulative(vm, r->reduction, x, along, r->initial, r->dtype, out);
}

// The places of a function's parameters; 0: it has no such one.
typedef struct form {
  tl_builtin_fn *call;
  const char *name;
  tl_reduction reduction;
  uint8_t dtype, initial, skip;
} form;

// [args] are in the order of the signature; the axis is read later, when it is
// known of how many.
static bool read_call(tl_vm *vm, const form *f, const tl_slot *args,
                      running *r) {
  *r = (running){.name = f->name,
                 .reduction = f->reduction,
                 .axis = args[1],
                 .dtype = TL_DTYPE_COUNT};
  return (f->initial == 0 || tl_arg_bool(vm, f->name, "include_initial",
                                         args[f->initial], &r->initial)) &&
         tl_arg_bool(vm, f->name, "skip_missing", args[f->skip], &r->skip) &&
         (f->dtype == 0 ||
          tl_arg_dtype(vm, f->name, args[f->dtype], TL_DTYPE_COUNT, &r->dtype));
}

// X(name, REDUCTION, dtype, initial, skip)
#define FORMS(X)                    \
  X(cumulative_sum, SUM, 2, 3, 4)   \
  X(cumulative_prod, PROD, 2, 3, 4) \
  X(cumulative_max, MAX, 0, 0, 2)   \
  X(cumulative_min, MIN, 0, 0, 2)

#define X(name, REDUCTION, dtype, initial, skip)                               \
  static bool name(tl_vm *vm, tl_slot *args, tl_slot *out) {                   \
    const form f = {name, #name, TL_REDUCE_##REDUCTION, dtype, initial, skip}; \
    running r;                                                                 \
    return tl_arg_items(vm, #name, &args[0]) && read_call(vm, &f, args, &r) && \
           run(vm, &r, &args[0], out);                                         \
  }
FORMS(X)
#undef X

static const form forms[] = {
#define X(name, REDUCTION, dtype, initial, skip) \
  {name, #name, TL_REDUCE_##REDUCTION, dtype, initial, skip},
    FORMS(X)
#undef X
};

// By the function and not by the name, as the row of a built-in has both.
static const form *find_form(const tl_builtin *builtin) {
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (forms[i].call == builtin->call)
      return &forms[i];
  }
  return NULL;
}

// The arguments are read as for a call; what is missing never gets here, since
// a region has plain arrays alone.
bool tl_fused_scan(tl_vm *vm, const tl_builtin *builtin, int ndim,
                   const tl_slot *args, tl_scan_call *out) {
  running r;
  if (!read_call(vm, find_form(builtin), args, &r) ||
      !find_axis(vm, &r, ndim, &out->axis)) {
    return false;
  }
  out->reduction = (int)r.reduction;
  out->initial = r.initial;
  out->dtype = r.dtype;
  return true;
}

// --- The table --------------------------------------------------------------

/// MISSING:
/// From a missing value on all results are missing; with skip_missing only
/// those in its place.

#define SCAN_TRAITS \
  .restores = TL_ARRAYS, .lifts = TL_INNERMOST, .fused = TL_FUSED_SCAN

const tl_builtin tl_cumulative_builtins[] = {
    /// The running sum along axis, which a vector need not name.
    /// Floats keep their dtype, narrow integers give int64 or uint64, unless
    /// dtype says otherwise. Strings are an error (kind type), an axis that x
    /// lacks another (index).
    /// {MISSING}
    ///     cumulative_sum([1, 2, 3])                           # [1, 3, 6]
    ///     cumulative_sum([1, 2, 3], include_initial: true)    # [0, 1, 3, 6]
    ///     cumulative_sum([1, none, 3], skip_missing: true)    # [1, none, 4]
    {"cumulative_sum",
     "x, axis: none, dtype: none, include_initial: false, skip_missing: false",
     cumulative_sum, SCAN_TRAITS},
    /// The running product along axis, which a vector need not name.
    /// Floats keep their dtype, narrow integers give int64 or uint64, unless
    /// dtype says otherwise. Strings are an error (kind type), an axis that x
    /// lacks another (index).
    /// {MISSING}
    ///     cumulative_prod([1, 2, 3, 4])    # [1, 2, 6, 24]
    {"cumulative_prod",
     "x, axis: none, dtype: none, include_initial: false, skip_missing: false",
     cumulative_prod, SCAN_TRAITS},
    /// The largest item so far along axis.
    /// Takes any real dtype, which stays. Strings are an error (kind type), an
    /// axis that x lacks another (index).
    /// {MISSING}
    ///     cumulative_max([1, 3, 2, 5])    # [1, 3, 3, 5]
    {"cumulative_max", "x, axis: none, skip_missing: false", cumulative_max,
     SCAN_TRAITS},
    /// The smallest item so far along axis.
    /// Takes any real dtype, which stays. Strings are an error (kind type), an
    /// axis that x lacks another (index).
    /// {MISSING}
    ///     cumulative_min([4, 3, 5, 1])    # [4, 3, 3, 1]
    {"cumulative_min", "x, axis: none, skip_missing: false", cumulative_min,
     SCAN_TRAITS},
    {.name = NULL},
};
