// Missing values: asking for them, filling and dropping them.

#include "stdlib/arguments.h"
#include "stdlib/families.h"
#include "vm/array/describe.h"
#include "vm/engine/engine.h"
#include "vm/values/list.h"
#include "vm/kernels/kernels.h"
#include "vm/nested/nested_elementwise.h"
#include "vm/nested/ragged.h"
#include "vm/vm.h"

// --- Asking -----------------------------------------------------------------

typedef bool on_items(tl_vm *vm, tl_slot items, tl_slot other, tl_slot *out);

// The same for the items of all rows, under the same offsets.
static bool on_rows(tl_vm *vm, tl_slot x, tl_slot other, on_items *each,
                    tl_slot *out) {
  tl_slot offsets, items, made;
  if (!tl_ragged_flat(vm, x, &offsets, &items))
    return false;
  bool ok = each(vm, items, other, &made);
  tl_drop(vm, items);
  if (ok)
    return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &made, out);
  tl_drop(vm, offsets);
  return false;
}

static bool mask_of(tl_vm *vm, tl_slot x, tl_slot other, tl_slot *out) {
  (void)other;
  if (tl_is_form(x, TL_FORM_OPTION)) {
    *out = tl_retain(vm, tl_borrow(x.nested->parts[0]));
    return true;
  }
  if (tl_is_form(x, TL_FORM_RAGGED))
    return on_rows(vm, x, other, mask_of, out);
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_value_ndim(x);
  if (ndim == 0) {
    *out = tl_bool(tl_is_none(x));
    return true;
  }
  for (int i = 0; i < ndim; i++) shape[i] = tl_value_length(x, i);
  tl_array *a = tl_array_zeros(vm, TL_BOOL, ndim, shape);
  if (a != NULL)
    *out = tl_own_array(a);
  return a != NULL;
}

static bool is_missing(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return mask_of(vm, args[0], tl_none(), out);
}

// --- Filling ----------------------------------------------------------------

// mask ? value : items, which are those of x; an error tells of x and value.
static bool choose(tl_vm *vm, tl_slot *parts, tl_slot x, tl_slot *out) {
  if (tl_elementwise(vm, TL_OP_WHERE, parts, out))
    return true;
  const tally_status kind = vm->error.status;
  if (kind != TALLY_ERR_TYPE && kind != TALLY_ERR_SHAPE)
    return false;
  char left[TL_DESCRIBE], right[TL_DESCRIBE];
  tl_describe(x, left, sizeof left);
  tl_describe(parts[1], right, sizeof right);
  tl_error_clear(vm);
  return tl_fail(vm, kind, "what is missing in %s cannot be filled from %s%s",
                 left, right,
                 kind == TALLY_ERR_SHAPE ? ": they do not broadcast" : "");
}

static bool fill(tl_vm *vm, tl_slot x, tl_slot value, tl_slot *out) {
  if (tl_is_none(x)) {
    *out = tl_retain(vm, tl_borrow(value));
    return true;
  }
  if (tl_is_form(x, TL_FORM_RAGGED))
    return on_rows(vm, x, value, fill, out);
  if (!tl_is_form(x, TL_FORM_OPTION)) {
    *out = tl_retain(vm, tl_borrow(x));
    return true;
  }
  tl_slot parts[3] = {tl_borrow(x.nested->parts[0]), tl_borrow(value),
                      tl_borrow(x.nested->parts[1])};
  return choose(vm, parts, x, out);
}

static bool fill_missing(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return fill(vm, args[0], args[1], out);
}

// A ragged array is filled as a whole, by a value or one of its own rows.
static bool first_of(tl_vm *vm, tl_slot a, tl_slot b, tl_slot *out) {
  if (!tl_is_nested(a))
    return fill(vm, a, b, out);
  tl_slot mask, parts[3];
  if (tl_is_form(a, TL_FORM_OPTION) && !tl_is_nested(b))
    return fill(vm, a, b, out);
  if (!mask_of(vm, a, tl_none(), &mask))
    return false;
  parts[0] = tl_borrow(mask);
  parts[1] = tl_borrow(b);
  parts[2] = tl_borrow(a);
  bool ok = choose(vm, parts, a, out);
  tl_drop(vm, mask);
  return ok;
}

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

static bool drop_rows(tl_vm *vm, tl_slot x, tl_slot *out) {
  tl_slot mask, there, picked;
  if (!mask_of(vm, x, tl_none(), &mask))
    return false;
  tl_slot borrowed = tl_borrow(mask);
  bool ok = tl_elementwise(vm, TL_OP_LOGICAL_NOT, &borrowed, &there);
  tl_drop(vm, mask);
  if (!ok)
    return false;
  static const tl_index_item item = {.kind = TL_ITEM_VALUE};
  tl_step step = {.item_count = 1, .items = &item};
  tl_slot base = tl_borrow(x);
  ok = tl_index_get(vm, &base, &step, &there, &picked);
  tl_drop(vm, there);
  if (!ok)
    return false;
  // Nothing is missing any more: the values alone.
  tl_slot offsets, items;
  ok = tl_ragged_flat(vm, picked, &offsets, &items);
  tl_drop(vm, picked);
  if (!ok)
    return false;
  tl_slot values = tl_is_form(items, TL_FORM_OPTION)
                       ? tl_retain(vm, tl_borrow(items.nested->parts[1]))
                       : tl_retain(vm, tl_borrow(items));
  tl_drop(vm, items);
  return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &values, out);
}

static bool drop_missing(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot x = args[0], there;
  if (tl_is_form(x, TL_FORM_RAGGED))
    return drop_rows(vm, x, out);
  if (!tl_is_form(x, TL_FORM_OPTION)) {
    if (!tl_arg_array(vm, "drop_missing", &args[0]))
      return false;
    *out = tl_pass_on(&args[0]);
    return true;
  }
  tl_slot mask = tl_borrow(x.nested->parts[0]);
  if (!tl_elementwise(vm, TL_OP_LOGICAL_NOT, &mask, &there))
    return false;
  bool ok = tl_value_take(vm, x.nested->parts[1], there.array, out);
  tl_drop(vm, there);
  return ok;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_missing_builtins[] = {
    {"is_missing", "x", is_missing, .lifts = TL_OF_ROWS, .takes = TL_BYTES,
     TL_DOC(
         "Whether each item of x is missing; of one value, whether it is none.\n"
         "Takes any value of any dtype; gives bools and never fails.\n"
         "    is_missing([1, none, 3])    # [false, true, false]\n")},
    {"fill_missing", "x, value", fill_missing, .lifts = TL_OF_ROWS,
     .takes = TL_BYTES,
     TL_DOC(
         "x with a value, or the items of an array, where items are missing.\n"
         "Any dtype, which stays. Types that have nothing in common are an error\n"
         "(kind type).\n"
         "    fill_missing([1, none, 3], 0)    # [1, 0, 3]\n")},
    {"drop_missing", "x", drop_missing, .result = TL_RETURNS,
     .lifts = TL_OF_ROWS, .takes = TL_BYTES,
     TL_DOC(
         "The items of x that are there, as one axis; of a ragged array within\n"
         "each row.\n"
         "Any dtype, which stays. Types that have nothing in common are an error\n"
         "(kind type).\n"
         "    drop_missing([1, none, 3])    # [1, 3]\n")},
    {"coalesce", "x, ...others", coalesce, .takes = TL_BYTES,
     TL_DOC(
         "Each item of x, or where it is missing that of the first other that has\n"
         "one.\n"
         "Any dtype, which stays. Types that have nothing in common are an error\n"
         "(kind type).\n"
         "    coalesce([1, none, none], [none, 5, none], 0)    # [1, 5, 0]\n")},
    {.name = NULL},
};
