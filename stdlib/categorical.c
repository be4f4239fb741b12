// Categorical arrays: made from values.

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "vm/category.h"
#include "vm/vm.h"

// The distinct values in order, and the place of each value among them.
static bool find_categories(tl_vm *vm, tl_array *x, tl_slot *categories,
                            tl_slot *codes) {
  tl_array *values, *inverse;
  if (!tl_distinct_inverse(vm, "categorical", x, &values, &inverse))
    return false;
  *categories = tl_own_array(values);
  tl_array *narrow =
      values->size <= INT32_MAX ? tl_array_cast(vm, inverse, TL_INT32) : NULL;
  tl_drop(vm, tl_own_array(inverse));
  if (narrow != NULL) {
    *codes = tl_own_array(narrow);
    return true;
  }
  tl_clear(vm, categories);
  return false;
}

static bool categorical(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot codes, categories;
  if (!tl_arg_array(vm, "categorical", &args[0]))
    return false;
  if (tl_ndim(args[0].array) == 0)
    return tl_arg_fail(vm, "categorical", "x", "an array", args[0]);
  if (tl_is_none(args[1])) {
    if (!find_categories(vm, args[0].array, &categories, &codes))
      return false;
  } else {
    if (!tl_arg_array(vm, "categorical", &args[1]))
      return false;
    if (tl_ndim(args[1].array) != 1)
      return tl_arg_fail(vm, "categorical", "categories", "of one axis",
                         args[1]);
    if (!tl_category_codes(vm, args[1], args[0], &codes))
      return false;
    tl_array *own = tl_array_copy(vm, args[1].array);
    if (own == NULL) {
      tl_clear(vm, &codes);
      return false;
    }
    categories = tl_own_array(own);
  }
  return tl_category_new(vm, &codes, &categories, out);
}

const tl_builtin tl_categorical_builtins[] = {
    {"categorical", "x, categories = none", categorical, TL_PURE,
     "An array of values out of a few, kept as int32 codes: c.codes, and\n"
     "c.categories, which are the distinct values in order unless given. It "
     "is\n"
     "indexed, compared and printed as x is, and set to its categories alone;\n"
     "functions that do not know it get the values.\n"
     "An array of strings or numbers of any shape. A value that is none of "
     "the\n"
     "categories given is an error (kind value).\n"
     "    categorical([\"b\", \"a\", \"b\"]).codes    # [1, 0, 1]\n"},
    {NULL, NULL, NULL, 0, NULL},
};
