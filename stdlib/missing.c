// Missing values: asking for them, filling and dropping them.
//
//
//   values   3 0 1      mask   0 1 0      [3, none, 1]
//
//   is_missing      the mask
//   fill_missing    where(mask, value, values)
//   drop_missing    the values where the mask is false

#include "stdlib/families.h"
#include "vm/engine/engine.h"
#include "vm/nested/parts.h"

// --- Asking -----------------------------------------------------------------

// Where items of x are missing: a boolean for a single value, an array of x's
// shape, or rows as x has them. The mask of an optional array is its own part,
// not a copy.
static bool mask_of(tl_vm *vm, void *context, tl_slot x, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_value_shape(x, shape);
  if (tl_is_form(x, TL_FORM_RAGGED))
    return tl_map_items(vm, x, mask_of, context, out);
  *out = tl_bool(tl_is_none(x));
  if (tl_is_form(x, TL_FORM_OPTION))
    *out = tl_retain(vm, tl_borrow(x.nested->parts[0]));
  return tl_is_form(x, TL_FORM_OPTION) || ndim == 0 ||
         tl_array_finish(vm, true, tl_array_zeros(vm, TL_BOOL, ndim, shape),
                         out);
}

// is_missing(x): bools in the shape of x, where *out is owned.
static bool is_missing(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return mask_of(vm, NULL, args[0], out);
}

// --- Filling ----------------------------------------------------------------

// mask ? value : items, which are those of x; an error tells of x and value.
// Where *items owns, the result may be in their memory, and it owns no more.
static bool choose(tl_vm *vm, tl_slot mask, tl_slot value, tl_slot *items,
                   tl_slot x, tl_slot *out) {
  tl_slot from[3] = {tl_borrow(mask), tl_borrow(value), *items};
  bool ok = tl_elementwise(vm, TL_OP_WHERE, from, out);
  *items = from[2];
  if (ok)
    return true;
  // Memory and the like pass through; a mismatch is described by what the
  // script wrote, not by the mask.
  const tally_status kind = vm->error.status;
  if (kind != TALLY_ERR_TYPE && kind != TALLY_ERR_SHAPE)
    return false;
  const char *left = tl_described(vm, x), *right = tl_described(vm, value);
  tl_error_clear(vm);
  return tl_fail(vm, kind, "what is missing in %s cannot be filled from %s%s",
                 left, right,
                 kind == TALLY_ERR_SHAPE ? ": they do not broadcast" : "");
}

// x with *value for what is missing in it. In a ragged array the value serves
// each item; what has no missing items is x itself.
static bool fill(tl_vm *vm, void *value, tl_slot x, tl_slot *out) {
  const tl_slot *with = value;
  if (tl_is_form(x, TL_FORM_RAGGED))
    return tl_map_items(vm, x, fill, value, out);
  if (tl_is_form(x, TL_FORM_OPTION)) {
    tl_slot *parts = x.nested->parts, lent = tl_borrow(parts[1]);
    return choose(vm, parts[0], *with, tl_is_unique(x) ? &parts[1] : &lent, x,
                  out);
  }
  *out = tl_retain(vm, tl_borrow(tl_is_none(x) ? *with : x));
  return true;
}

static bool fill_missing(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return fill(vm, &args[1], args[0], out);
}

// A ragged array is filled as a whole, by a value or one of its own rows.
static bool first_of(tl_vm *vm, tl_slot a, tl_slot b, tl_slot *out) {
  tl_slot mask;
  if (!tl_is_nested(a) || (tl_is_form(a, TL_FORM_OPTION) && !tl_is_nested(b)))
    return fill(vm, &b, a, out);
  if (!mask_of(vm, NULL, a, &mask))
    return false;
  tl_slot lent = tl_borrow(a);
  return tl_drop_after(vm, choose(vm, mask, b, &lent, a, out), &mask);
}

// coalesce(x, others...): the first value there is, item by item. Later values
// are looked at even if nothing is missing any more, so that their shapes and
// types are checked.
static bool coalesce(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_list *rest = args[1].list;
  tl_slot sofar = tl_retain(vm, tl_borrow(args[0]));
  for (int64_t i = 0; i < rest->length; i++) {
    tl_slot next;
    bool ok = first_of(vm, sofar, rest->items[i], &next);
    tl_drop(vm, sofar);
    if (!ok)
      return false;
    tl_copy_slot(&sofar, &next);
  }
  tl_copy_slot(out, &sofar);
  return true;
}

// --- Dropping ---------------------------------------------------------------

// The values of items of which none is missing any more.
static bool values_of(tl_vm *vm, void *context, tl_slot items, tl_slot *out) {
  *out = tl_borrow(tl_is_form(items, TL_FORM_OPTION) ? items.nested->parts[1]
                                                     : items);
  return true;
}

// drop_missing of a ragged array: each row without its missing items, in the
// order that they have. The rows stay, empty ones too.
static bool drop_rows(tl_vm *vm, tl_slot x, tl_slot *out) {
  tl_slot mask, there, picked;
  if (!mask_of(vm, NULL, x, &mask))
    return false;
  return tl_drop_after(vm, tl_compute1(vm, TL_OP_LOGICAL_NOT, mask, &there),
                       &mask) &&
         tl_drop_after(vm, tl_value_choose(vm, x, there, &picked), &there) &&
         tl_drop_after(vm, tl_map_items(vm, picked, values_of, NULL, out),
                       &picked);
}

// drop_missing(x): of an optional array of one axis or more a vector.
static bool drop_missing(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot x = args[0];
  if (tl_is_form(x, TL_FORM_RAGGED))
    return drop_rows(vm, x, out);
  if (tl_is_form(x, TL_FORM_OPTION))
    return tl_option_present(vm, x.nested, out);
  if (!tl_arg_array(vm, "drop_missing", &args[0]))
    return false;
  *out = tl_pass_on(&args[0]);
  return true;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_missing_builtins[] = {
    /// Whether each item of x is missing; of one value, whether it is none.
    /// Takes any value of any dtype; gives bools and never fails.
    ///     is_missing([1, none, 3])    # [false, true, false]
    {"is_missing", "x", is_missing, .lifts = TL_OF_ROWS, .takes = TL_BYTES},
    /// x with a value, or the items of an array, where items are missing.
    /// Any dtype, which stays. Types that have nothing in common are an error
    /// (kind type).
    ///     fill_missing([1, none, 3], 0)    # [1, 0, 3]
    {"fill_missing", "x, value", fill_missing, .lifts = TL_OF_ROWS,
     .takes = TL_BYTES},
    /// The items of x that are there, as one axis; of a ragged array within
    /// each row.
    /// Any dtype, which stays. Types that have nothing in common are an error
    /// (kind type).
    ///     drop_missing([1, none, 3])    # [1, 3]
    {"drop_missing", "x", drop_missing, .result = TL_RETURNS,
     .lifts = TL_OF_ROWS, .takes = TL_BYTES},
    /// Each item of x, or where it is missing that of the first other that has
    /// one.
    /// Any dtype, which stays. Types that have nothing in common are an error
    /// (kind type).
    ///     coalesce([1, none, none], [none, 5, none], 0)    # [1, 5, 0]
    {"coalesce", "x, ...others", coalesce, .takes = TL_BYTES},
    {.name = NULL},
};
