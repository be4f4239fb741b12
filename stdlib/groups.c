// Runs of equal items, and values gathered by keys.

#include <inttypes.h>

#include "stdlib/families.h"
#include "stdlib/ragged.h"

// A vector is one row, of which only the counts are given.
static bool run_lengths(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool vector =
      tl_value_ndim(args[0]) < 2 && !tl_is_form(args[0], TL_FORM_RAGGED);
  if (vector && !tl_is_form(args[0], TL_FORM_OPTION) &&
      !tl_arg_array_or_string(vm, "run_lengths", &args[0]))
    return false;
  if (vector && tl_value_ndim(args[0]) != 1)
    return tl_arg_fail(vm, "run_lengths", "x", "of an axis", args[0]);
  if (!vector && !tl_arg_ragged(vm, "run_lengths", &args[0]))
    return false;
  tl_slot items = vector ? args[0] : args[0].nested->parts[1];
  if (tl_value_ndim(items) != 1 ||
      !(tl_is_array(items) || tl_is_form(items, TL_FORM_OPTION)))
    return tl_arg_fail(vm, "run_lengths", "x", "of rows of plain items",
                       args[0]);
  return tl_in_tally(vm, "runs", 1, args, out);
}

// The keys and the values of each, in Tally:
//
//   keys b a b, values 1 2 3     order 1 0 2
//   keys of the result  a b      values  [2] [1 3]
//
// The order is stable, so that the values of a key stay in the order they had.
static bool group_by(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const bool structs = tl_has_fields(args[0]);
  if (!structs && !tl_is_form(args[0], TL_FORM_OPTION) &&
      !tl_arg_array_or_string(vm, "group_by", &args[0]))
    return false;
  if (tl_value_ndim(args[0]) != 1)
    return tl_arg_fail(vm, "group_by", "keys", "of one axis", args[0]);
  if (structs)
    return tl_in_tally(vm, "groups_of_structs", 2, args, out);
  if (tl_value_ndim(args[1]) == 0 && !tl_arg_array(vm, "group_by", &args[1]))
    return false;
  int64_t n = tl_value_length(args[0], 0);
  if (tl_value_ndim(args[1]) == 0 || tl_value_length(args[1], 0) != n) {
    return tl_fail(
        vm, TALLY_ERR_SHAPE,
        "group_by: %" PRId64 " keys for %" PRId64 " values", n,
        tl_value_ndim(args[1]) == 0 ? 1 : tl_value_length(args[1], 0));
  }
  return tl_in_tally(vm, "groups", 2, args, out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_group_builtins[] = {
    /// How often each item of x is repeated before another comes; of several
    /// axes or rows, within each row. What is missing is like what is missing.
    /// Any dtype; gives int64.
    /// Values other than arrays are an error (kind type).
    ///     run_lengths([7, 7, 8, 7])    # [2, 1, 1]
    ///     run_lengths([[7, 7], [], [7, 8, 8]])    # [[2], [], [1, 2]]
    {"run_lengths", "x", run_lengths, .lifts = TL_INNERMOST, .takes = TL_BYTES},
    /// The keys in order, each once, and the values of each as a row, in the
    /// order they had: a record of keys and values. A missing key is the last.
    /// Keys may be structs, in the order of their fields in turn.
    /// Keys of another length are an error (kind shape).
    ///     group_by(["b", "a", "b"], [1, 2, 3]).values    # [[2], [1, 3]]
    ///     names, rows = group_by(["b", "a", "b"], [1, 2, 3])
    ///     names    # ["a", "b"]
    {"group_by", "keys, values", group_by, .takes = TL_BYTES},
    {.name = NULL},
};
