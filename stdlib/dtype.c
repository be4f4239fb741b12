// Asking about dtypes, and converting between them.

#include "stdlib/families.h"
#include "vm/engine/engine.h"
#include "vm/engine/scalars.h"
#include "vm/nested/ragged.h"

// Items of a type that may be missing, of which none is.
// *out is owned. A scalar is there or not there, and here it is: so it stays
// one.
static bool as_optional(tl_vm *vm, tl_slot *args, tl_overflow how,
                        tl_slot *out) {
  tl_slot made, mask;
  if (!tl_arg_array(vm, "astype", &args[0]) ||
      !tl_cast_fitting(vm, &args[0], args[1].type->of->dtype, how, &made))
    return false;
  if (!tl_is_array(made) || tl_ndim(made.array) == 0) {
    *out = made;
    return true;
  }
  made = tl_is_owned(made) ? made : tl_retain(vm, made);
  if (tl_array_finish(vm, true,
                      tl_array_zeros(vm, TL_BOOL, tl_ndim(made.array),
                                     tl_shape(made.array)),
                      &mask))
    return tl_option_of(vm, &mask, &made, out);
  tl_drop(vm, made);
  return false;
}

// Whether the value is a type ?T of a plain dtype T.
static bool is_optional(tl_slot s) {
  return tl_is_type(s) && s.type->kind == TL_TYPE_OPTION &&
         s.type->of->kind == TL_TYPE_DTYPE;
}

// A scalar with a plain type needs no look at the other arguments: it is the
// call that float32(x) becomes, and the most frequent one.
//
//  astype(3, float32)           a scalar: at once, nothing is made
//  astype(0..3, float32)        a range: an array first
//  astype([1, 2], ?float32)     floats that may be missing
//  astype(x, x.dtype)           x itself
//
static bool astype(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_dtype dtype;
  tl_overflow how = TL_OVERFLOW_UNSAID;
  bool copy;
  if (!tl_is_none(args[3]) && !tl_arg_overflow(vm, "astype", args[3], &how))
    return false;
  if (is_optional(args[1]) && tl_is_bool(args[2]))
    return as_optional(vm, args, how, out);
  // What a call of a dtype is compiled to.
  if (tl_is_scalar(args[0]) && tl_is_type(args[1]) &&
      args[1].type->kind == TL_TYPE_DTYPE && tl_is_bool(args[2]))
    return tl_cast_fitting(vm, &args[0], args[1].type->dtype, how, out);
  // A range has no array to be converted yet.
  if (tl_is_range(args[0]) && !tl_arg_array(vm, "astype", &args[0]))
    return false;
  return tl_arg_dtype(vm, "astype", args[1], TL_FLOAT64, &dtype) &&
         tl_arg_bool(vm, "astype", "copy", args[2], &copy) &&
         tl_cast_fitting(vm, &args[0], dtype, how, out);
}

// A number as one of a plain type.
static bool astype_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_is_type(args[1]) && args[1].type->kind == TL_TYPE_DTYPE &&
         tl_is_bool(args[2]) && tl_is_none(args[3]) && !tl_is_heap(args[0]) &&
         tl_scalar_cast(&args[0], args[1].type->dtype, out);
}

// The dtype that an argument is or has, whether items are missing or in rows.
static bool dtype_of(tl_vm *vm, const char *function, tl_slot s,
                     tl_dtype *out) {
  if (is_optional(s))
    s = tl_type_slot(s.type->of);
  while (tl_is_form(s, TL_FORM_OPTION) || tl_is_form(s, TL_FORM_RAGGED) ||
         tl_is_form(s, TL_FORM_GRID))
    s = tl_borrow(s.nested->parts[1]);
  if (tl_is_type(s))
    return tl_dtype_argument(vm, function, s, out);
  if (!tl_is_array(s) && !tl_is_scalar(s))
    return tl_arg_fail(vm, function, "each argument",
                       "an array, number or "
                       "dtype",
                       s);
  *out = (tl_dtype)tl_dtype_of(s);
  return true;
}

// Whether promotion with [from] leaves [to] as it is, which is the standard's
// rule: int64 goes to float64 though that rounds it.
static bool can_cast(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_dtype from, to;
  if (!dtype_of(vm, "can_cast", args[0], &from) ||
      !tl_dtype_argument(vm, "can_cast", args[1], &to))
    return false;
  bool same = from == to;
  if (!same && from < TL_STRING && to < TL_STRING)
    same = tl_dtype_promote(from, to) == to;
  *out = tl_bool(same);
  return true;
}

// Only dtypes and weakness are promoted, in slots without a value. The result
// is weak as long as all so far are.
static bool result_type(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_list *list = args[0].list;
  tl_slot sofar = tl_unset();
  if (list->length == 0)
    return tl_fail(vm, TALLY_ERR_VALUE, "result_type: needs an array or dtype");
  for (int64_t i = 0; i < list->length; i++) {
    tl_slot s = list->items[i];
    tl_dtype dtype;
    if (!dtype_of(vm, "result_type", s, &dtype))
      return false;
    bool weak = (tl_is_scalar(s) || tl_is_array(s)) && tl_is_weak(s);
    s = (tl_slot){.tag = TL_TAG(TL_CLASS_SMALL, dtype) | (weak ? TL_WEAK : 0)};
    if (tl_is_unset(sofar)) {
      sofar = s;
      continue;
    }
    if (!tl_promote_slots(vm, "result_type", sofar, s, &dtype))
      return false;
    weak = weak && tl_is_weak(sofar);
    sofar.tag = TL_TAG(TL_CLASS_SMALL, dtype) | (weak ? TL_WEAK : 0);
  }
  tl_type *type = tl_type_of_dtype(vm, (tl_dtype)tl_dtype_of(sofar));
  if (type)
    *out = tl_type_slot(type);
  return type != NULL;
}

// --- isdtype ----------------------------------------------------------------

typedef struct group {
  const char *name;
  size_t nbytes;      // of the name
  const char *kinds;  // of tl_dtype_info
} group;

#define GROUP(name, kinds) \
  { name, sizeof name - 1, kinds }
static const group groups[] = {
    GROUP("bool", "B"),
    GROUP("signed integer", "I"),
    GROUP("unsigned integer", "U"),
    GROUP("integral", "IU"),
    GROUP("real floating", "F"),
    GROUP("complex floating", "C"),
    GROUP("numeric", "IUFC"),
    GROUP("string", "S"),
};
#undef GROUP

// The group of that name, or NULL.
static const group *find_group(const tl_string *name) {
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (groups[i].nbytes == name->length &&
        memcmp(groups[i].name, name->text, name->length) == 0)
      return &groups[i];
  return NULL;
}

// Whether a dtype is of the group; what is none is in no group.
static bool is_in(const group *g, tl_dtype dtype) {
  return dtype != TL_DTYPE_COUNT &&
         strchr(g->kinds, tl_dtypes[dtype].kind) != NULL;
}

// One dtype, one name of a group, or a list of such; lists are not nested.
// [dtype] is TL_DTYPE_COUNT for a type that is no dtype: it is of no kind.
static bool is_of_kind(tl_vm *vm, tl_dtype dtype, tl_slot kind, bool *out) {
  if (tl_is_list(kind)) {
    *out = false;
    for (int64_t i = 0; i < kind.list->length && !*out; i++) {
      tl_slot item = kind.list->items[i];
      if (tl_is_list(item))
        return tl_arg_fail(vm, "isdtype", "an item of kind",
                           "a dtype or a string", item);
      if (!is_of_kind(vm, dtype, item, out))
        return false;
    }
    return true;
  }
  if (tl_is_type(kind)) {
    tl_dtype other = TL_DTYPE_COUNT;
    if (!tl_dtype_argument(vm, "isdtype", kind, &other))
      return false;
    *out = dtype == other;
    return true;
  }
  tl_string *name;
  if (!tl_arg_string(vm, "isdtype", "kind", kind, &name))
    return false;
  const group *g = find_group(name);
  if (g != NULL) {
    *out = is_in(g, dtype);
    return true;
  }
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "isdtype: there is no kind \"%s\"; it is "
                 "\"bool\", \"integral\", \"signed integer\", \"unsigned "
                 "integer\", \"real floating\", \"complex floating\", "
                 "\"numeric\" or \"string\"",
                 name->text);
}

// An optional type counts as the type of its values.
static bool isdtype(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_dtype dtype;
  bool is = false;
  if (tl_is_array(args[1]) && tl_ndim(args[1].array) == 1 &&
      tl_dtype_of(args[1]) == TL_STRING)
    return tl_in_module(vm, "inner/arrays", "of_kinds", 2, args, out);
  tl_slot asked = args[0];
  if (is_optional(asked))
    asked = tl_type_slot(asked.type->of);
  // What x.dtype gives of rows and structs is of no kind.
  if (tl_is_type(asked) && asked.type->kind != TL_TYPE_DTYPE)
    dtype = TL_DTYPE_COUNT;
  else if (!tl_dtype_argument(vm, "isdtype", asked, &dtype))
    return false;
  if (!is_of_kind(vm, dtype, args[1], &is))
    return false;
  *out = tl_bool(is);
  return true;
}

// A dtype and one name of a group.
static bool isdtype_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_is_type(args[0]) || args[0].type->kind != TL_TYPE_DTYPE ||
      !tl_is_string(args[1]) || tl_is_owned(args[1]))
    return false;
  const group *g = find_group(args[1].string);
  if (g == NULL)
    return false;
  const tl_slot is = tl_bool(is_in(g, args[0].type->dtype));
  tl_copy_slot(out, &is);
  return true;
}

// --- finfo and iinfo --------------------------------------------------------

// The dtype that they tell about (stdlib/global/dtypes.tly).
static bool described(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_dtype dtype;
  tl_type *type = dtype_of(vm, "described", args[0], &dtype)
                      ? tl_type_of_dtype(vm, dtype)
                      : NULL;
  if (type != NULL)
    *out = tl_type_slot(type);
  return type != NULL;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_dtype_builtins[] = {
    /// x converted to a dtype; float32(x) does the same. Fractions are cut off
    /// on the way to integers; what does not fit there is an error.
    /// An array of any shape, or a scalar. A value that does not fit is an error
    /// (kind value), complex to real another (type). overflow: "wrap" keeps the
    /// low bits of integers that do not fit, "saturate" gives the end of the
    /// range; of floats both give that, and 0 for NaN.
    ///     astype([1.7, -1.7], int32)    # [1, -1]
    ///     astype([300, -5], uint8, overflow: "saturate")    # [255, 0]
    ///     astype([300, -5], uint8, overflow: "wrap")        # [44, 251]
    {"astype", "x, dtype, copy: true, overflow: none", astype,
     .result = TL_RETURNS, .lifts = TL_OF_ITEMS, .fused = TL_FUSED_CAST,
     .at_once = astype_at_once},
    /// Whether every value of a dtype (or of an array's) is kept by another.
    /// Values that have no dtype are an error (kind type).
    ///     can_cast(int32, float64)    # true
    ///     can_cast(float64, int64)    # false
    {"can_cast", "from, to", can_cast},
    /// Whether a dtype is of a kind: another dtype, "bool", "integral",
    /// "signed integer", "unsigned integer", "real floating",
    /// "complex floating", "numeric", "string", or one of a list of such.
    /// The type of rows or structs is of none. What is no type is an error (kind type).
    ///     isdtype(int8, "integral")    # true
    {"isdtype", "dtype, kind", isdtype, .at_once = isdtype_at_once},
    /// The dtype that an operation on these arrays, numbers and dtypes gives.
    /// Values that have no dtype are an error (kind type).
    ///     result_type(int32, float32)    # float64
    {"result_type", "...arrays_and_dtypes", result_type},
    {.name = NULL},
};

const tl_builtin tl_described_module[] = {
    // The dtype that a value is or has.
    {"described", "type", described},
    {.name = NULL},
};
