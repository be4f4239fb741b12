// Categorical arrays: made from values.

#include "stdlib/arguments.h"
#include "stdlib/distinct.h"
#include "stdlib/families.h"
#include "stdlib/nested_reduce.h"
#include "vm/array/describe.h"
#include "vm/nested/indexed.h"
#include "vm/vm.h"

// The distinct values in order, and the place of each value among them.
//
//   values  b a b c      categories  a b c      codes  1 0 1 2
//
// Sets both, which are owned, or neither. Codes are int32, which is the dtype
// of every categorical array.
static bool find_categories(tl_vm *vm, tl_array *x, tl_slot *categories,
                            tl_slot *codes) {
  tl_array *values, *inverse;
  if (!tl_distinct_inverse(vm, "categorical", x, &values, &inverse))
    return false;
  *categories = tl_own_array(values);
  tl_array *narrow = NULL;
  if (values->size <= INT32_MAX)
    narrow = tl_array_cast(vm, inverse, TL_INT32);
  else
    tl_fail(vm, TALLY_ERR_VALUE,
            "categorical: %lld categories are more than int32 counts",
            (long long)values->size);
  tl_drop(vm, tl_own_array(inverse));
  if (narrow != NULL) {
    *codes = tl_own_array(narrow);
    return true;
  }
  tl_clear(vm, categories);
  return false;
}

// Categories that are given: a vector, of which no two items are equal.
static bool check_categories(tl_vm *vm, tl_slot *given) {
  tl_slot distinct, codes;
  if (tl_is_none(*given))
    return true;
  if (!tl_arg_array(vm, "categorical", given))
    return false;
  if (tl_ndim(given->array) != 1)
    return tl_arg_fail(vm, "categorical", "categories", "of one axis", *given);
  if (!find_categories(vm, given->array, &distinct, &codes))
    return false;
  bool ok =
      distinct.array->size == given->array->size ||
      tl_fail(vm, TALLY_ERR_VALUE,
              "categorical: categories must be distinct, but of %lld "
              "items %lld are",
              (long long)given->array->size, (long long)distinct.array->size);
  tl_drop(vm, distinct);
  tl_drop(vm, codes);
  return ok;
}

// Codes among given categories are looked up, which fails (kind value) for a
// value that is none of them. Categories that are found come with codes, except
// where values may be missing: those codes are of the present values alone, and
// are made again over all places, missing where there is no value.
static bool categorical(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot codes = tl_none(), categories = tl_none(), there;
  int64_t missing;
  bool option = tl_is_form(args[0], TL_FORM_OPTION), ok;
  bool given = !tl_is_none(args[1]);
  if (!check_categories(vm, &args[1]) ||
      (!option && !tl_arg_array(vm, "categorical", &args[0])))
    return false;
  if (tl_value_ndim(args[0]) == 0)
    return tl_arg_fail(vm, "categorical", "x", "an array", args[0]);
  if (given) {
    ok = tl_array_finish(vm, true, tl_array_copy(vm, args[1].array),
                         &categories);
  } else {
    // Of what is there, where values may be missing.
    if (!tl_present(vm, args[0], &there, &missing))
      return false;
    ok = find_categories(vm, there.array, &categories, &codes);
    tl_drop(vm, there);
  }
  if (ok && (given || option)) {
    tl_clear(vm, &codes);
    ok = tl_category_codes(vm, categories, args[0], &codes);
  }
  if (ok)
    return tl_indexed_new(vm, TL_FORM_CATEGORY, &codes, &categories, out);
  tl_clear(vm, &categories);
  return false;
}

const tl_builtin tl_categorical_builtins[] = {
    /// An array of values out of a few, kept as int32 codes: c.codes, and
    /// c.categories, which are the distinct values in order unless given. It is
    /// indexed, compared and printed as x is, and set to its categories alone;
    /// functions that do not know it get the values.
    /// An array of strings or numbers of any shape; what is missing has no code.
    /// A value that is none of the categories given, and one that stands twice
    /// among them, is an error (kind value).
    ///     categorical(["b", "a", "b"]).codes    # [1, 0, 1]
    {"categorical", "x, categories = none", categorical},
    {.name = NULL},
};
