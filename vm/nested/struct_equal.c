// Structs in elementwise operations: == and != go field by field, then over all
// axes of a field at once; where moves whole items.
//
//   p == q      n * {x: 3 * int64, r: var * int64}
//     x         n * 3 bools, all along the last axis     n bools
//     r         a call for each row                      n bools
//     p == q    both and
#include "vm/nested/forms.h"

#include "vm/engine/engine.h"
#include "vm/nested/ragged.h"
#include "vm/nested/nested_join.h"

// --- Axes of a field --------------------------------------------------------

// Whether all are true along the axes from [ndim] on, or any.
static bool fold_plain(tl_vm *vm, tl_reduction how, tl_slot s, int ndim,
                       tl_slot *out) {
  uint32_t axes = 0;
  for (int i = ndim; i < tl_ndim(s.array); i++) axes |= UINT32_C(1) << i;
  tl_slot borrowed = tl_borrow(s);
  return tl_reduce(vm, how, &borrowed, axes, false, TL_DTYPE_COUNT, 0, out);
}

// What is false is so whatever is missing beside it.
static bool fold_option(tl_vm *vm, tl_slot s, int ndim, tl_slot *out) {
  tl_slot mask = s.nested->parts[0], open, all, missing;
  bool ok =
      tl_compute2(vm, TL_OP_LOGICAL_OR, mask, s.nested->parts[1], &open) &&
      tl_drop_after(vm, fold_plain(vm, TL_REDUCE_ALL, open, ndim, &all), &open);
  if (!ok)
    return false;
  ok = fold_plain(vm, TL_REDUCE_ANY, mask, ndim, &missing);
  if (ok && tl_compute_into(vm, TL_OP_LOGICAL_AND, &missing, all)) {
    if (ndim > 0)
      return tl_option_of(vm, &missing, &all, out);
    *out = missing.i != 0 ? tl_none() : all;
    return true;
  }
  if (ok)
    tl_drop(vm, missing);
  tl_drop(vm, all);
  return false;
}

// Whether a field's items, of more axes than the structs, agree as a whole.
// *equal is that afterwards; where it fails, none.
static bool fold_axes(tl_vm *vm, tl_slot *equal, int ndim) {
  bool option = tl_is_form(*equal, TL_FORM_OPTION);
  if ((!option && !tl_is_array(*equal)) || tl_value_ndim(*equal) <= ndim)
    return true;
  tl_slot all;
  bool ok = option ? fold_option(vm, *equal, ndim, &all)
                   : fold_plain(vm, TL_REDUCE_ALL, *equal, ndim, &all);
  tl_clear(vm, equal);
  if (ok)
    tl_copy_slot(equal, &all);
  return ok;
}

// --- Rows in a field --------------------------------------------------------

// Whether a field's items differ in length, so that == has to go row by row.
static bool has_rows(tl_slot s) {
  return tl_value_axes(s) > tl_value_ndim(s) || tl_is_form(s, TL_FORM_RAGGED);
}

// Two rows: rows of other lengths differ, and so do rows of rows.
static bool equal_row(tl_vm *vm, tl_slot x, tl_slot y, tl_slot *out) {
  if (tl_value_axes(x) != 1 || tl_value_axes(y) != 1 ||
      tl_value_length(x, 0) != tl_value_length(y, 0)) {
    *out = tl_bool(tl_same(vm, x, y));
    return true;
  }
  return tl_compute2(vm, TL_OP_EQUAL, x, y, out) && fold_axes(vm, out, 0);
}

// Two fields whose rows are compared one by one; or one value with each row.
typedef struct row_pair {
  tl_slot x, y;
  bool one;
} row_pair;

// The loop's [each]: row [i] of both, or of one and the value for all.
static bool equal_at(tl_vm *vm, void *context, int64_t i, tl_slot *out) {
  const row_pair *p = context;
  tl_slot a, b = tl_borrow(p->y);
  if (!tl_nested_at(vm, p->x, i, &a))
    return false;
  bool ok =
      (p->one || tl_nested_at(vm, p->y, i, &b)) && equal_row(vm, a, b, out);
  tl_drop(vm, a);
  if (!p->one)
    tl_clear(vm, &b);
  return ok;
}

// A field of rows; [y] is the other's field, or its value where b is one item.
static bool equal_rows(tl_vm *vm, tl_slot a, tl_slot b, tl_slot x, tl_slot y,
                       tl_slot *out) {
  bool one = !tl_has_fields(b);
  int ndim = tl_value_ndim(a);
  int64_t shape[TL_MAX_DIMS], count = tl_nested_size(a.nested);
  tl_value_shape(a, shape);
  if (!one && !tl_value_agrees(a, b, 0))
    return tl_fail_broadcast(vm, a, b);
  if (count == 0)
    return tl_array_give(tl_array_zeros(vm, TL_BOOL, ndim, shape), out);
  tl_slot flat;
  row_pair pair = {tl_none(), tl_borrow(y), one};
  const tl_row_loop loop = {.name = "a comparison",
                            .count = count,
                            .each = equal_at,
                            .join = tl_stack_any,
                            .context = &pair};
  bool ok = tl_grid_rows(vm, x, &pair.x);
  if (ok) {
    ok = (one || tl_grid_rows(vm, y, &pair.y)) && tl_map_rows(vm, &loop, &flat);
    tl_clear(vm, &pair.y);
    tl_clear(vm, &pair.x);
  }
  return ok && tl_value_split_axis(vm, &flat, ndim, shape, out);
}

// --- Structs ----------------------------------------------------------------

// The error of an operation that structs do not have (kind type).
static bool fail_structs(tl_vm *vm, tl_op op, const tl_slot *slots) {
  if (tl_ops[op].arity < 2)
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s takes numbers, got %s: apply it to a field, as in p.x",
                   tl_ops[op].name, tl_described(vm, slots[0]));
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "%s of %s and %s: structs with the same fields compare with "
                 "== and !=; all else is done by field, as in p.x",
                 tl_ops[op].sign[0] != 0 ? tl_ops[op].sign : tl_ops[op].name,
                 tl_described(vm, slots[0]), tl_described(vm, slots[1]));
}

// A field differs as a whole from what has no items to compare, such as a list:
// then each of the structs [a] does, of which there are [ndim] axes. *equal is
// that afterwards; where it fails, none.
static bool spread_answer(tl_vm *vm, tl_slot a, int ndim, tl_slot *equal) {
  if (tl_value_ndim(*equal) > 0 || ndim == 0)
    return true;
  int64_t shape[TL_MAX_DIMS];
  tl_value_shape(a, shape);
  tl_slot all = *equal, none;
  *equal = tl_none();
  return tl_array_give(tl_array_zeros(vm, TL_BOOL, ndim, shape), &none) &&
         tl_drop_after(vm, tl_compute2(vm, TL_OP_LOGICAL_OR, none, all, equal),
                       &none);
}

// One bool for each struct: == on the field, folded over its own axes.
static bool equal_field(tl_vm *vm, tl_slot a, tl_slot b, tl_string *name,
                        int ndim, tl_slot *out) {
  tl_slot x = tl_none(), y = tl_none();
  bool ok = tl_struct_value_field(vm, a, name, &x) &&
            tl_struct_value_field(vm, b, name, &y);
  if (ok) {
    bool rows = has_rows(x) || (has_rows(y) && tl_has_fields(b));
    ok = rows ? equal_rows(vm, a, b, x, y, out)
              : tl_compute2(vm, TL_OP_EQUAL, x, y, out) &&
                    fold_axes(vm, out, ndim) && spread_answer(vm, a, ndim, out);
  }
  tl_drop(vm, x);
  tl_drop(vm, y);
  return ok;
}

// --- where: it chooses among the numbers of items, and these follow ---------

// The items of an operand as structs of [type] along one axis, and their
// numbers, from [first] on, in the operand's shape.
static bool number_items(tl_vm *vm, tl_type *type, tl_slot s, int64_t first,
                         tl_slot *items, tl_slot *numbers) {
  bool one = tl_is_record(s);
  if (!one && !tl_has_fields(s))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "structs are chosen beside structs or a record of their "
                   "fields, not %s",
                   tl_described(vm, s));
  tl_slot flat;
  if (!(one ? tl_stack_any(vm, 1, &s, &flat) : tl_value_flatten(vm, s, &flat)))
    return false;
  bool ok = tl_struct_convert(vm, type, flat, items);
  tl_clear(vm, &flat);
  *numbers = tl_weak_int(first);
  if (!ok || one)
    return ok;
  if (tl_array_give(tl_number_items(vm, s, first), numbers))
    return true;
  tl_clear(vm, items);
  return false;
}

// The same error, about the structs instead of their numbers.
static bool fail_shapes(tl_vm *vm, const tl_slot *slots) {
  if (vm->error.status != TALLY_ERR_SHAPE)
    return false;
  tl_error_clear(vm);
  return tl_fail(vm, TALLY_ERR_SHAPE, "%s, %s and %s do not broadcast",
                 tl_described(vm, slots[0]), tl_described(vm, slots[1]),
                 tl_described(vm, slots[2]));
}

// The items of both values, one behind the other; the condition chooses among
// their numbers, and a gather takes what was chosen:
//
//   x of 3, y of 3     numbers 0 1 2 and 3 4 5
//   c true false true  0 4 2
//
// A record stands for one item. Fails (kind type) where the condition may be
// missing: a struct cannot be.
static bool structs_where(tl_vm *vm, const tl_slot *slots, tl_slot *out) {
  tl_slot model = tl_has_fields(slots[1]) ? slots[1] : slots[2];
  if (!tl_has_fields(model))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "the condition must be bools, not structs");
  tl_type *type = tl_type_below(vm, model, tl_value_ndim(model));
  tl_slot items[2] = {tl_none(), tl_none()}, whole, chosen = tl_none();
  tl_slot parts[3] = {tl_borrow(slots[0]), tl_none(), tl_none()};
  bool ok = type != NULL &&
            number_items(vm, type, slots[1], 0, &items[0], &parts[1]) &&
            number_items(vm, type, slots[2], tl_value_length(items[0], 0),
                         &items[1], &parts[2]) &&
            (tl_elementwise(vm, TL_OP_WHERE, parts, &chosen) ||
             fail_shapes(vm, slots));
  if (ok && !tl_is_array(chosen))
    ok = tl_fail(vm, TALLY_ERR_TYPE,
                 "structs are chosen where the condition is known: "
                 "fill_missing(c, false)");
  ok = ok && tl_value_concat(vm, 2, items, &whole);
  if (ok) {
    ok = tl_value_take(vm, whole, chosen.array, out);
    tl_clear(vm, &whole);
  }
  for (int i = 0; i < 2; i++) {
    tl_clear(vm, &items[i]);
    tl_clear(vm, &parts[1 + i]);
  }
  tl_clear(vm, &chosen);
  return ok;
}

// --- Any operation ----------------------------------------------------------

// The fields' answers, joined by and; != is its negation. So a field that is
// missing leaves the answer missing, unless another one decides it.
bool tl_structs_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                            tl_slot *out) {
  (void)arity;
  if (op == TL_OP_WHERE)
    return structs_where(vm, slots, out);
  if (op != TL_OP_EQUAL && op != TL_OP_NOT_EQUAL)
    return fail_structs(vm, op, slots);
  int at = tl_has_fields(slots[0]) ? 0 : 1;
  tl_slot a = slots[at], b = slots[1 - at];
  if (!tl_struct_has_fields(a.nested->layout, b))
    return fail_structs(vm, op, slots);
  const tl_type *layout = a.nested->layout;
  int ndim = tl_value_ndim(a);
  if (tl_has_fields(b) && tl_value_ndim(b) > ndim)
    ndim = tl_value_ndim(b);
  tl_slot all = tl_none();
  for (int64_t i = 0; i < layout->field_count; i++) {
    tl_slot equal = tl_none();
    bool ok = equal_field(vm, a, b, layout->fields[i].name, ndim, &equal);
    if (ok && i > 0) {
      ok = tl_compute_into(vm, TL_OP_LOGICAL_AND, &all, equal);
      tl_drop(vm, equal);
    } else if (ok) {
      tl_copy_slot(&all, &equal);
    }
    if (ok)
      continue;
    tl_drop(vm, all);
    return false;
  }
  if (op == TL_OP_EQUAL) {
    tl_copy_slot(out, &all);
    return true;
  }
  return tl_drop_after(vm, tl_compute1(vm, TL_OP_LOGICAL_NOT, all, out), &all);
}
