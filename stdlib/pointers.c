// Arrays of pointers: made from a target and places in it.
//
//
//   target   ["a", "b"]     places [1, 0, 1]
//   value    [b, a, b]      reading goes through the places to the target

#include <inttypes.h>

#include "stdlib/arguments.h"
#include "stdlib/families.h"
#include "vm/array/describe.h"
#include "vm/nested/parts.h"
#include "vm/vm.h"

// Places from 0 on, all within the target. *out is owned.
static bool read_places(tl_vm *vm, tl_slot *given, int64_t length,
                        tl_slot *out) {
  if (!tl_arg_numeric(vm, "pointers", given))
    return false;
  tl_dtype dtype = tl_array_dtype(given->array);
  if (!tl_dtype_is_integer(dtype))
    return tl_arg_fail(vm, "pointers", "places",
                       "an integer or an array of them", *given);
  tl_array *a = dtype == TL_INT64 ? tl_array_copy(vm, given->array)
                                  : tl_array_cast(vm, given->array, TL_INT64);
  if (a == NULL)
    return false;
  int64_t *at = (int64_t *)(void *)a->data;
  for (int64_t i = 0; i < a->size; i++) {
    if (at[i] < -length || at[i] >= length) {
      tl_fail(vm, TALLY_ERR_INDEX,
              "pointers: place %" PRId64
              " is outside a target of length %" PRId64,
              at[i], length);
      tl_drop(vm, tl_own_array(a));
      return false;
    }
    at[i] += at[i] < 0 ? length : 0;
  }
  *out = tl_own_array(a);
  if (tl_ndim(a) > 0)
    return true;
  // A pointer without axes has its place as a number.
  int64_t place = at[0];
  tl_drop(vm, *out);
  *out = tl_weak_int(place);
  return true;
}

// pointers(target, places): without places, one pointer to each item in order.
// The target is retained as a view retains its block.
static bool pointers(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot places;
  if (!tl_is_nested(args[0]) &&
      !tl_arg_array_or_string(vm, "pointers", &args[0]))
    return false;
  if (tl_value_ndim(args[0]) == 0)
    return tl_arg_fail(vm, "pointers", "target", "an array", args[0]);
  int64_t length = tl_value_length(args[0], 0);
  if (tl_is_none(args[1])) {
    if (!tl_array_finish(vm, true, tl_numbers_new(vm, 1, &length, 0), &places))
      return false;
  } else if (!read_places(vm, &args[1], length, &places)) {
    return false;
  }
  tl_slot target = tl_take(vm, &args[0]);
  tl_hold(vm, target, TL_CAUSE_VIEW);
  return tl_indexed_new(vm, TL_FORM_POINTER, &places, &target, out);
}

const tl_builtin tl_pointer_builtins[] = {
    /// An array of pointers: each item refers to the item of target at its
    /// place along the first axis, and reads as that item. Setting one sets the
    /// target, so that all items that refer there show it; p.target and
    /// p.places give both. The places are integers in an array of any shape,
    /// without them all of the target's in order; one integer makes a single
    /// pointer, whose value p[()] is; one outside is an error (kind index). An
    /// index behind the pointers goes on in the target: p[:, -2:] are pointers.
    /// Functions that do not know pointers get the values.
    ///     pointers([1.5, 2.5], [1, 0, 1])    # [2.5, 1.5, 2.5]
    {"pointers", "target, places = none", pointers, .takes = TL_FORMS},
    {.name = NULL},
};
