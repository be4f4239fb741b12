// Arrays as sets: distinct items, membership.
//
//
//   unique        distinct.c finds values, first indices, inverse and counts;
//                 rows and structs become codes first (inner/arrays.tly)
//   isin          a table, a search in sorted items or codes, by dtype

#include "stdlib/distinct_integers.h"
#include "stdlib/distinct_strings.h"
#include "stdlib/families.h"
#include "stdlib/ragged.h"
#include "vm/kernels/kernels.h"
#include "vm/values/record.h"

// --- Distinct items ---------------------------------------------------------

// What is given besides the distinct values, also to the functions in Tally.
enum { VALUES_ALONE, WITH_COUNTS, WITH_INVERSE, WITH_ALL };

// Gives the parts that were found to a record.
static bool distinct_record(tl_vm *vm, tl_distinct *d, tl_slot *out) {
  static const char *const names[] = {"values", "indices", "inverse_indices",
                                      "counts"};
  tl_array **parts[] = {&d->values, &d->indices, &d->inverse, &d->counts};
  tl_record *record = tl_record_new(vm, 4);
  for (int i = 0; record && i < 4; i++) {
    if (*parts[i] == NULL)
      continue;
    // The counts and indices of a scalar are scalars.
    bool single = tl_ndim(*parts[i]) == 0;
    tl_slot part = single ? tl_result(vm, *parts[i]) : tl_own_array(*parts[i]);
    *parts[i] = NULL;
    if (tl_is_unset(part))
      tl_record_put_nothing(vm, &record);
    else
      tl_record_put(vm, &record, names[i], part);
  }
  tl_distinct_close(vm, d);
  return tl_record_put_end(record, out);
}

// The items of all rows take the argument's place.
static bool row_items(tl_vm *vm, tl_slot *x) {
  while (tl_is_form(*x, TL_FORM_RAGGED)) {
    tl_slot offsets, items;
    bool ends = tl_is_owned(*x);
    if (!(ends ? tl_ragged_flat(vm, *x, &offsets, &items)
               : tl_ragged_borrow(vm, *x, &offsets, &items)))
      return false;
    tl_drop(vm, offsets);
    tl_replace(vm, x, items);
  }
  return true;
}

// The same, and of what may be missing what is there. How much is missing.
static bool plain_items(tl_vm *vm, tl_slot *x, int64_t *missing) {
  tl_slot there;
  *missing = 0;
  if (!row_items(vm, x))
    return false;
  if (!tl_is_form(*x, TL_FORM_OPTION))
    return true;
  if (!tl_option_present(vm, x->nested, &there))
    return false;
  *missing = tl_nested_size(x->nested) - tl_value_length(there, 0);
  return tl_replace(vm, x, there);
}

// By codes, in Tally: of values that may be missing, or of one axis of structs.
static bool distinct_by_codes(tl_vm *vm, const char *function, tl_slot x,
                              int wanted, tl_slot *out) {
  const bool structs = tl_has_fields(x);
  if (structs && tl_value_ndim(x) != 1)
    return tl_arg_fail(vm, function, "x", "of one axis", x);
  tl_slot given[] = {tl_borrow(x), tl_bool(structs), tl_weak_int(wanted)};
  return tl_in_tally(vm, "distinct_by_codes", 3, given, out);
}

// --- Distinct parts along an axis -------------------------------------------

// In Tally: the distinct parts of x along an axis (args[1]).
static bool distinct_parts(tl_vm *vm, const char *function, tl_slot *args,
                           int wanted, tl_slot *out) {
  int axis;
  bool has_gaps = tl_is_form(args[0], TL_FORM_OPTION) &&
                  tl_is_array(args[0].nested->parts[1]);
  if (!has_gaps && !tl_arg_array_or_string(vm, function, &args[0]))
    return false;
  if (tl_value_ndim(args[0]) == 0)
    return tl_fail(vm, TALLY_ERR_INDEX, "%s: a single value has no axes",
                   function);
  if (!tl_arg_axis(vm, function, args[1], tl_value_ndim(args[0]), 0, &axis))
    return false;
  tl_slot given[] = {tl_borrow(args[0]), tl_weak_int(axis),
                     tl_weak_int(wanted)};
  return tl_in_tally(vm, "distinct_parts", 3, given, out);
}

// --- The functions ----------------------------------------------------------

// Whether an axis is given, other than the only one of structs, which are
// distinct as a whole.
static bool has_axis(const tl_slot *args) {
  if (tl_has_fields(args[0]) && tl_value_ndim(args[0]) == 1 &&
      tl_class(args[1]) == TL_CLASS_I64 && (args[1].i == 0 || args[1].i == -1))
    return false;
  return !tl_is_none(args[1]);
}

// unique(x, axis) and unique_values: of several axes the items are taken flat;
// with an axis, rows are compared as wholes. A ragged array gives the distinct
// items of all its rows.
static bool unique_values(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_distinct d;
  int64_t missing;
  if (has_axis(args))
    return distinct_parts(vm, "unique", args, VALUES_ALONE, out);
  if (tl_has_fields(args[0]))
    return distinct_by_codes(vm, "unique", args[0], VALUES_ALONE, out);
  if (!plain_items(vm, &args[0], &missing) ||
      !tl_distinct_find(vm, "unique", &args[0], false, false, &d))
    return false;
  *out = tl_own_array(d.values);
  if (missing == 0)
    return true;
  // A missing value is a distinct one, the last.
  tl_slot all = *out;
  return tl_drop_after(vm, tl_nested_append(vm, all, tl_none(), out), &all);
}

// The distinct items of x, or parts of it along an axis, in a record.
static bool unique_parts(tl_vm *vm, const char *function, int wanted,
                         tl_slot *args, tl_slot *out) {
  tl_distinct d;
  if (has_axis(args))
    return distinct_parts(vm, function, args, wanted, out);
  if (tl_is_form(args[0], TL_FORM_OPTION) || tl_has_fields(args[0]))
    return distinct_by_codes(vm, function, args[0], wanted, out);
  return tl_distinct_find(vm, function, &args[0], wanted >= WITH_INVERSE,
                          wanted != WITH_INVERSE, &d) &&
         distinct_record(vm, &d, out);
}

// unique_counts(x, axis): rows of different lengths are counted together, as
// counts do not depend on places.
static bool unique_counts(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return (has_axis(args) || row_items(vm, &args[0])) &&
         unique_parts(vm, "unique_counts", WITH_COUNTS, args, out);
}

// unique_inverse(x, axis).
static bool unique_inverse(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return unique_parts(vm, "unique_inverse", WITH_INVERSE, args, out);
}

// unique_all(x, axis).
static bool unique_all(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return unique_parts(vm, "unique_all", WITH_ALL, args, out);
}

// --- Membership -------------------------------------------------------------

// What is neither a string nor a narrow integer: in Tally, by a search among
// sorted items; complex numbers and structs by their places among the distinct
// items of both.
static bool among(tl_vm *vm, const char *function, tl_slot queries,
                  tl_slot items, bool invert, tl_slot *out) {
  tl_slot given[] = {tl_borrow(queries), tl_borrow(items), tl_bool(invert)};
  return tl_in_tally(vm, function, 3, given, out);
}

enum { FEW = 16, QUERIES = 256 };  // what is compared one by one

// Whether the items are few numbers that queries can be compared with.
static bool are_few(const tl_array *x, const tl_array *items) {
  return items->size <= FEW && x->size <= QUERIES &&
         tl_kernels()->binary_vs[TL_OP_EQUAL][tl_array_dtype(items)] != NULL;
}

// Compares each of a few items with all queries.
static void find_few(const tl_array *x, const tl_array *items,
                     tl_array *found) {
  uint8_t equal[QUERIES];
  const tl_dtype dtype = tl_array_dtype(items);
  const tl_kernel_table *kernels = tl_kernels();
  tl_kernel2 *same = kernels->binary_vs[TL_OP_EQUAL][dtype];
  tl_kernel2 *either = kernels->binary[TL_OP_BITWISE_OR][TL_UINT8];
  memset(found->data, 0, (size_t)x->size);
  for (int64_t i = 0; i < items->size; i++) {
    same(equal, x->data, items->data + i * (int64_t)tl_itemsize(dtype),
         (size_t)x->size);
    either(found->data, found->data, equal, (size_t)x->size);
  }
}

// The way is chosen by the items' dtype:
//
//   few numbers                   each is compared with all queries
//   integers in a narrow range    a table with a flag for each value
//   strings                       a hash table (tl_strings_among)
//   complex numbers               by their places among the distinct ones
//   all else                      items sorted, queries searched in them
//
// *out is owned.
static bool find_members(tl_vm *vm, tl_slot queries, const tl_array *items,
                         bool invert, tl_slot *out) {
  const tl_array *x = queries.array;
  const tl_dtype dtype = tl_array_dtype(items);
  const bool is_string = dtype == TL_STRING;
  // Whether there is a table; set to false where the range is too wide for one.
  bool fits = items->size > 0 && tl_integers_counted(dtype), ok = true;
  const bool few = !is_string && are_few(x, items);
  const bool at_once = fits || is_string || few;
  tl_array *found =
      at_once ? tl_array_new(vm, TL_BOOL, tl_ndim(x), tl_shape(x)) : NULL;
  if (found == NULL && at_once)
    return false;
  if (few)
    find_few(x, items, found);
  else if (is_string)
    ok = tl_strings_among(vm, x, items, (uint8_t *)found->data);
  else if (fits)
    ok = tl_integers_among(vm, x, items, (uint8_t *)found->data, &fits);
  if (ok && (fits || is_string || few)) {
    tl_slot is = *out = tl_result(vm, found);
    return !invert ||
           tl_drop_after(vm, tl_elementwise(vm, TL_OP_BITWISE_INVERT, &is, out),
                         &is);
  }
  tl_array_drop(vm, found);
  return ok && among(vm, tl_dtype_is_complex(dtype) ? "among" : "among_sorted",
                     queries, tl_lend_array(items), invert, out);
}

// isin(x1, x2, invert): both in their common dtype, so that 1 is in [1.0]. A
// number counts as weak here, as in an operation with an array. A missing value
// is in no array.
static bool isin(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const bool invert = args[2].i != 0;
  tl_dtype dtype;
  int64_t missing;
  if (tl_has_fields(args[0]) || tl_has_fields(args[1])) {
    for (int i = 0; i < 2; i++)
      if (!tl_has_fields(args[i]) || tl_value_ndim(args[i]) != 1)
        return tl_arg_fail(vm, "isin", i == 0 ? "x1" : "x2",
                           "an axis of structs beside structs", args[i]);
    return among(vm, "among", args[0], args[1], invert, out);
  }
  if (!plain_items(vm, &args[1], &missing))
    return false;
  // What the script wrote, for the rule of weak numbers; the arrays made of
  // them are no longer weak.
  tl_slot weak[2] = {args[0], args[1]};
  for (int i = 0; i < 2; i++) {
    if (!tl_arg_array_or_string(vm, "isin", &args[i]))
      return false;
    if (!tl_is_scalar(weak[i]))
      weak[i] = args[i];
  }
  if (!tl_promote_slots(vm, "isin", weak[0], weak[1], &dtype))
    return false;
  tl_slot queries;
  if (!tl_as_contiguous(vm, "isin", args[0], dtype, &queries))
    return false;
  tl_slot items;
  bool ok = tl_as_contiguous(vm, "isin", args[1], dtype, &items);
  if (ok) {
    ok = find_members(vm, queries, items.array, invert, out);
    tl_drop(vm, items);
  }
  tl_drop(vm, queries);
  return ok;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_set_builtins[] = {
    /// The distinct items of x, sorted; the same as unique_values. NaNs differ
    /// from one another. Structs are in the order of their fields in turn. With
    /// axis, the distinct ones among the parts of x along it (its rows, for axis
    /// 0), in the order of their items in turn.
    /// Any dtype, which stays; counts and indices are int64. Lists and values
    /// without items are an error (kind type), and so are structs of several axes
    /// and rows of different lengths where an axis is given.
    ///     unique([3, 1, 3])    # [1, 3]
    ///     unique([[3, 1], [0, 2], [3, 1]], axis: 0)    # [[0, 2], [3, 1]]
    {"unique", "x, axis: none", unique_values, .takes = TL_BYTES},
    /// The distinct items of x, sorted; with axis, its distinct parts along that.
    /// Any dtype, which stays; counts and indices are int64. Lists and values
    /// without items are an error (kind type).
    ///     unique_values([2, 2, 1])    # [1, 2]
    {"unique_values", "x, axis: none", unique_values, .takes = TL_BYTES},
    /// The distinct items of x and how often each occurs; with axis, its distinct
    /// parts along that.
    /// Any dtype, which stays; counts and indices are int64. Lists and values
    /// without items are an error (kind type).
    ///     unique_counts([5, 7, 5])    # (values: [5, 7], counts: [2, 1])
    ///     v, c = unique_counts([5, 7, 5])
    ///     c    # [2, 1]
    {"unique_counts", "x, axis: none", unique_counts, .takes = TL_BYTES},
    /// The distinct items of x, and for each item of x the position of its
    /// value: r.values[r.inverse_indices] is x. With axis, of its parts along it.
    /// Any dtype, which stays; counts and indices are int64. Lists and values
    /// without items are an error (kind type).
    ///     unique_inverse([7, 5, 7]).inverse_indices    # [1, 0, 1]
    ///     v, inverse = unique_inverse([7, 5, 7])
    ///     v[inverse]    # [7, 5, 7]
    {"unique_inverse", "x, axis: none", unique_inverse, .takes = TL_BYTES},
    /// The distinct items of x: values, indices (where each occurs first),
    /// inverse_indices and counts. With axis, its distinct parts along that.
    /// Any dtype, which stays; counts and indices are int64. Lists and values
    /// without items are an error (kind type).
    ///     unique_all([7, 5, 7]).indices    # [1, 0]
    ///     v, first, inverse, c = unique_all([7, 5, 7])
    ///     first    # [1, 0]
    {"unique_all", "x, axis: none", unique_all, .takes = TL_BYTES},
    /// Whether each item of x1 is among the items of x2; or is not, where
    /// invert is true. What is missing in x2 is left out; where x1 is missing,
    /// so is the answer. Structs are compared as a whole.
    /// Any dtypes that promote; gives bools. Strings with numbers are an error
    /// (kind type).
    ///     isin([1, 2, 3], [3, 1])    # [true, false, true]
    {"isin", "x1, x2, invert: false", isin, .lifts = TL_OF_ITEMS,
     .takes = TL_BYTES, .types = "yyb"},
    {.name = NULL},
};
