// Running sums, products and extremes: of arrays, of each row, and where values
// may be missing.

#include "stdlib/families.h"
#include "stdlib/ragged.h"

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

// --- Missing values ---------------------------------------------------------

// Of values, or of rows of values; rows that are missing as a whole are no
// such.
static bool may_be_missing(tl_slot x) {
  return tl_is_form(x, TL_FORM_OPTION) ||
         (tl_is_form(x, TL_FORM_RAGGED) &&
          tl_is_form(x.nested->parts[1], TL_FORM_OPTION));
}

// In Tally, from the arguments of the call: [method] is the reduction's place
// there, [dtype] none for the reduction's own.
static bool run_optional(tl_vm *vm, const running *r, int method, tl_slot x,
                         tl_slot dtype, tl_slot *out) {
  if (r->initial)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: include_initial is for arrays without missing values",
                   r->name);
  tl_slot given[] = {tl_weak_int(method), tl_borrow(x), tl_borrow(r->axis),
                     tl_borrow(dtype), tl_bool(r->skip)};
  return tl_in_tally(vm, "running", 5, given, out);
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
  int method;  // of run_optional
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

// Any of the functions.
static bool run_form(tl_vm *vm, const form *f, tl_slot *args, tl_slot *out) {
  running r;
  if (!read_call(vm, f, args, &r))
    return false;
  return may_be_missing(args[0])
             ? run_optional(vm, &r, f->method, args[0],
                            f->dtype == 0 ? tl_none() : args[f->dtype], out)
             : run(vm, &r, &args[0], out);
}

// X(name, REDUCTION, dtype, initial, skip, method)
#define FORMS(X)                       \
  X(cumulative_sum, SUM, 2, 3, 4, 0)   \
  X(cumulative_prod, PROD, 2, 3, 4, 1) \
  X(cumulative_max, MAX, 0, 0, 2, 2)   \
  X(cumulative_min, MIN, 0, 0, 2, 3)

#define X(name, REDUCTION, dtype, initial, skip, method)                \
  static bool name(tl_vm *vm, tl_slot *args, tl_slot *out) {            \
    const form f = {name, #name, TL_REDUCE_##REDUCTION, dtype, initial, \
                    skip, method};                                      \
    return run_form(vm, &f, args, out);                                 \
  }
FORMS(X)
#undef X

static const form forms[] = {
#define X(name, REDUCTION, dtype, initial, skip, method) \
  {name, #name, TL_REDUCE_##REDUCTION, dtype, initial, skip, method},
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
      !find_axis(vm, &r, ndim, &out->axis))
    return false;
  out->reduction = (int)r.reduction;
  out->initial = r.initial;
  out->dtype = r.dtype;
  return true;
}

// --- The table --------------------------------------------------------------

/// MISSING:
/// From a missing value on all results are missing; with skip_missing only
/// those in its place.

#define SCAN_TRAITS                                                     \
  .restores = TL_ARRAYS, .lifts = TL_INNERMOST, .fused = TL_FUSED_SCAN, \
  .types = "x"

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
