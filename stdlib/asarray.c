// asarray: arrays made of nested lists, ranges and other arrays.

#include "stdlib/families.h"
#include "vm/engine/engine.h"
#include "vm/nested/lift.h"
#include "vm/types/type.h"

// Whether only astype knows how to get there: from items that are missing or in
// rows, or to a type ?T.
static bool is_astype(const tl_slot *args) {
  return tl_is_nested(args[0]) ||
         (tl_is_type(args[1]) && args[1].type->kind == TL_TYPE_OPTION);
}

// Item by item for nested arrays, as astype is lifted. Takes the first argument
// in any case, so that nobody drops it twice.
static bool by_astype(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_builtin *astype = tl_builtin_find(vm->library, NULL, "astype", 6);
  tl_slot given[] = {args[0], tl_borrow(args[1]), tl_bool(true), tl_none()};
  args[0] = tl_none();
  return tl_drop_after(vm, tl_lift_call(vm, astype, 4, given, out), &given[0]);
}

// In the order of what is cheapest: a list is stacked in one step to the dtype
// wanted, nested forms and arrays of the right dtype are given back as they
// are, and only then is anything converted. Rank 0 goes through
// tl_result_finish, since a script sees an item there. The standard's copy is
// not used: values never change under another name.
static bool asarray(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_list(args[0]))
    return tl_array_of_list(vm, args[0], args[1], out);
  if (tl_is_nested(args[0]) && tl_is_none(args[1])) {
    *out = tl_pass_on(&args[0]);  // arrays of all kinds are arrays
    return true;
  }
  if (is_astype(args))
    return by_astype(vm, args, out);
  if (!tl_arg_array(vm, "asarray", &args[0]))
    return false;
  tl_dtype own = tl_array_dtype(args[0].array), dtype;
  if (!tl_arg_dtype(vm, "asarray", args[1], own, &dtype))
    return false;
  if (dtype != own)
    return tl_cast(vm, &args[0], dtype, out);
  if (tl_ndim(args[0].array) > 0) {
    *out = tl_pass_on(&args[0]);
    return true;
  }
  tl_array *a = tl_take_dense(vm, &args[0]);
  return tl_result_finish(vm, true, a, out);
}

// An array that stays as it is, which is what the library's own functions ask
// for at nearly every call.
static bool asarray_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_is_array(args[0]) || tl_ndim(args[0].array) == 0 ||
      !tl_is_none(args[1]) || !tl_is_none(args[2]))
    return false;
  const tl_slot same = tl_pass_on(&args[0]);
  tl_copy_slot(out, &same);
  return true;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_asarray_builtins[] = {
    /// x as an array: nested lists are stacked, a range is counted out, and an
    /// array stays what it is unless dtype converts it. copy, a bool, makes no
    /// difference: values never change under another name. Items that do not
    /// stack to one shape are an error (kind shape), others that are no
    /// numbers, bools, strings or none another (type). none is a missing value.
    ///     asarray(((1, 2), (3, 4)))    # [[1, 2], [3, 4]]
    ///     asarray(((1, none), (3, 4)))    # [[1, none], [3, 4]]
    {"asarray", "x, dtype: none, copy: none", asarray, .result = TL_RETURNS,
     .takes = TL_BYTES, .types = "l.B", .at_once = asarray_at_once},
    {.name = NULL},
};
