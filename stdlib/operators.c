// Operators that are no elementwise functions, as functions: (in), (and),
// (or).
//
// They let an operator be passed where a function is wanted, as in fold(xs,
// (and)); the operators themselves are instructions (vm/interp), whose code
// these functions call.

#include "stdlib/families.h"
#include "vm/interp/interp.h"

// The operator in.
static bool contained(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool found;
  if (!tl_do_in(vm, &args[0], &args[1], 0, &found))
    return false;
  *out = tl_bool(found);
  return true;
}

// The truths of both operands, each a bool. Both are there already: unlike the
// operators, the functions cannot leave the second one out.
static bool truths(tl_vm *vm, tl_slot *args, bool *a, bool *b) {
  return tl_do_truth(vm, args[0], a) && tl_do_truth(vm, args[1], b);
}

// The operator and.
static bool both(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool a, b;
  if (!truths(vm, args, &a, &b))
    return false;
  *out = tl_bool(a && b);
  return true;
}

// The operator or.
static bool either(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool a, b;
  if (!truths(vm, args, &a, &b))
    return false;
  *out = tl_bool(a || b);
  return true;
}

// The interpreter runs the operators themselves; these rows are for passing
// them on as functions.
const tl_builtin tl_operator_builtins[] = {
    /// Whether an item is in an array, list, record (as a key), range or string:
    /// the operator in as a function.
    /// A container of another kind is an error (kind type).
    ///     contained(2, [1, 2])    # true
    {"contained", "item, container", contained, .takes = TL_FORMS},
    /// Whether two bools are both true: the operator and as a function.
    /// Takes one bool each: other values, arrays too, are an error (kind type).
    ///     both(true, false)    # false
    {"both", "a, b", both},
    /// Whether one of two bools is true: the operator or as a function.
    /// Takes one bool each: other values, arrays too, are an error (kind type).
    ///     either(true, false)    # true
    {"either", "a, b", either},
    {.name = NULL},
};
