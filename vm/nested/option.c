// What may be missing: OPTION. The result of an operation is missing where an
// operand is, but for and, or and where, which may know their result (as in R).
//
//   x           missing  F T F     values  1 · 3       · is anything
//   x + 1       missing  F T F     values  2 · 4       the mask is shared
//   x[0:2]      missing  F T       values  1 ·         both parts alike
//   x[1] = 5    missing  F F F     values  1 5 3
//   x > 2 & c   the mask by Kleene's logic, where c is false it is F
//
// Operations run over all values, gaps included: that is faster than to step
// over them, and needs no second kernel. So a gap must not fail (is_checked).
#include "vm/nested/forms.h"

#include "vm/engine/engine.h"
#include "vm/nested/nested_join.h"

// --- Masks -------------------------------------------------------------------

bool tl_option_there(tl_vm *vm, const tl_nested *n, tl_slot *out) {
  return tl_compute1(vm, TL_OP_LOGICAL_NOT, n->parts[0], out);
}

// A mask as an index: what is there comes in row-major order, along one axis.
bool tl_option_present(tl_vm *vm, const tl_nested *n, tl_slot *out) {
  tl_slot there;
  return tl_option_there(vm, n, &there) &&
         tl_drop_after(vm, tl_value_take(vm, n->parts[1], there.array, out),
                       &there);
}

// Missing is false: and with what is there.
bool tl_option_known(tl_vm *vm, const tl_nested *mask, tl_slot *out) {
  tl_slot there;
  return tl_option_there(vm, mask, &there) &&
         tl_drop_after(
             vm, tl_compute2(vm, TL_OP_LOGICAL_AND, mask->parts[1], there, out),
             &there);
}

// Fails as base[known] does: (kind index) for another length.
bool tl_option_mask_get(tl_vm *vm, tl_slot base, const tl_nested *mask,
                        tl_slot *out) {
  tl_slot known;
  return tl_option_known(vm, mask, &known) &&
         tl_drop_after(vm, tl_value_choose(vm, base, known, out), &known);
}

// --- Indexing ----------------------------------------------------------------

// Both parts are indexed alike, the mask first: a single item that is missing
// is none, and its value, which may be anything, is not even looked at.
static bool option_get(tl_vm *vm, tl_slot base, const tl_step *step,
                       tl_slot *parts, tl_slot *out) {
  tl_slot missing, values;
  if (!tl_part_get(vm, base, 0, step, parts, &missing))
    return false;
  if (tl_is_bool(missing) && missing.i != 0) {
    *out = tl_none();
    return true;
  }
  if (!tl_part_get(vm, base, 1, step, parts, &values)) {
    tl_drop(vm, missing);
    return false;
  }
  if (tl_is_bool(missing)) {
    tl_copy_slot(out, &values);
    return true;
  }
  return tl_indexed_new(vm, TL_FORM_OPTION, &missing, &values, out);
}

// A mask that does not fit its places was refused as such, "3 * bool"; that is
// said of the whole value instead. Other errors stay. Gives false.
static bool fail_fit(tl_vm *vm, tl_slot value) {
  if (vm->error.status != TALLY_ERR_SHAPE)
    return false;
  tl_error_clear(vm);
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "cannot store %s into places of another shape",
                 tl_described(vm, value));
}

// By one index: none marks places as missing and leaves the values there; a
// plain value sets both; an array with missing values brings a mask of its own.
// Fails (kind type) for a step by field and for more steps than one.
static bool option_set(tl_vm *vm, tl_nested_path w, tl_nested *n,
                       tl_slot *given_value) {
  tl_slot value = *given_value;
  if (w.count != 1 || w.steps->field != NULL)
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "an array with missing values is set by one index: x[i] = "
                   "v");
  tl_slot whole = {.tag = TL_TAG_NESTED, .nested = n};
  bool ellipsis;
  if (!tl_part_axes(vm, whole, w.steps, w.parts, &ellipsis))
    return false;
  // Where nothing becomes a value, the mask alone is written.
  tl_slot flag = tl_bool(tl_is_none(value)), mask = tl_none();
  tl_slot given = tl_borrow(value);
  if (tl_is_none(value))
    return tl_part_update(vm, w, &n->parts[0], &flag);
  // Else it is written apart and put in last, so that a value that does not fit
  // leaves all as it was; one item's byte can just be set.
  char *item = NULL;
  const tl_array *old = n->parts[0].array;
  bool one = tl_index_item_at(old, w.steps, w.parts, &item);
  bool is_option = tl_is_form(value, TL_FORM_OPTION);
  if (is_option) {
    flag = tl_borrow(value.nested->parts[0]);
    given = tl_borrow(value.nested->parts[1]);
  }
  if (!one || is_option || !tl_is_unique(n->parts[0]) ||
      (n->parts[0].tag & TL_DIRECT) == 0) {
    tl_array *copy = tl_array_copy(vm, old);
    if (copy == NULL)
      return false;
    mask = tl_own_array(copy);
    if (!tl_part_update(vm, w, &mask, &flag)) {
      tl_clear(vm, &mask);
      return is_option && fail_fit(vm, value);
    }
  }
  bool ok = tl_part_update(vm, w, &n->parts[1], &given);
  if (ok && tl_is_array(mask)) {
    tl_clear(vm, &n->parts[0]);
    n->parts[0] = mask;
    return true;
  }
  if (ok)
    *item = 0;
  tl_clear(vm, &mask);
  return ok;
}

// --- Joining -----------------------------------------------------------------

// The value as one whose items may be missing, none of which is.
static bool as_option(tl_vm *vm, tl_slot s, tl_slot *out) {
  if (tl_is_nested(s)) {
    *out = tl_borrow(s);
    return true;
  }
  tl_slot second = tl_borrow(s);
  return tl_places_pair(
      vm, TL_FORM_OPTION,
      tl_array_zeros(vm, TL_BOOL, tl_ndim(s.array), tl_shape(s.array)), &second,
      out);
}

// Plain arrays among them get a mask of false. Other forms, values without
// axes, and values that differ in kind fail (kind type).
static bool options_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                           tl_slot *out) {
  for (int64_t i = 0; i < count; i++)
    if (tl_value_ndim(items[i]) == 0 ||
        (tl_is_nested(items[i]) && !tl_is_form(items[i], TL_FORM_OPTION)))
      return tl_fail_kinds(vm, count, items);
  return tl_join_opened(vm, as_option, tl_join_parts, count, items, out);
}

// --- Elementwise -------------------------------------------------------------

// The mask of an operand: false for what cannot be missing.
// Borrowed. A bool broadcasts, so that no mask of a whole shape is made for
// plain operands.
static tl_slot mask_of(tl_slot s) {
  if (tl_is_none(s))
    return tl_bool(true);
  return tl_is_form(s, TL_FORM_OPTION) ? tl_borrow(s.nested->parts[0])
                                       : tl_bool(false);
}

// Missing where any operand is: the masks of the operands, joined by or. One
// mask alone is shared with the operand it comes from; *out is false, a bool,
// where no operand has missing values. *out is owned.
static bool any_mask(tl_vm *vm, int arity, const tl_slot *slots, tl_slot *out) {
  tl_slot mask = tl_bool(false);
  bool first = true;
  for (int i = 0; i < arity; i++) {
    tl_slot own = mask_of(slots[i]);
    if (!tl_is_array(own))
      continue;
    if (first) {
      mask = tl_retain(vm, own);
      first = false;
    } else if (!tl_compute_into(vm, TL_OP_LOGICAL_OR, &mask, own)) {
      tl_drop(vm, mask);
      return false;
    }
  }
  tl_copy_slot(out, &mask);
  return true;
}

// false and missing is false, true or missing is true: those are not missing,
// whatever lies there. With what does not decide in each gap the operation says
// so itself; where its result decides, *mask loses what it had. *out are the
// values, owned, and anything where the mask is true.
static bool combine_known(tl_vm *vm, bool deciding, const tl_slot *slots,
                          const tl_slot *plain, tl_slot *mask, tl_slot *out) {
  const tl_op op = deciding ? TL_OP_LOGICAL_OR : TL_OP_LOGICAL_AND;
  const tl_slot gap = tl_bool(!deciding);
  tl_slot a, b = tl_none(), open;
  if (!tl_compute3(vm, TL_OP_WHERE, mask_of(slots[0]), gap, plain[0], &a))
    return false;
  bool ok =
      tl_compute3(vm, TL_OP_WHERE, mask_of(slots[1]), gap, plain[1], &b) &&
      tl_drop_after(vm, tl_compute2(vm, op, a, b, out), &b);
  tl_drop(vm, a);
  if (!ok)
    return false;
  open = tl_borrow(*out);
  ok = (!deciding || tl_compute1(vm, TL_OP_LOGICAL_NOT, *out, &open)) &&
       tl_compute_into(vm, TL_OP_LOGICAL_AND, mask, open);
  tl_drop(vm, open);
  if (!ok)
    tl_clear(vm, out);
  return ok;
}

// Masks of where: the condition's, and of the values those that are chosen.
static bool where_mask(tl_vm *vm, const tl_slot *slots, const tl_slot *plain,
                       tl_slot *out) {
  tl_slot chosen;
  return tl_compute3(vm, TL_OP_WHERE, plain[0], mask_of(slots[1]),
                     mask_of(slots[2]), &chosen) &&
         tl_drop_after(
             vm,
             tl_compute2(vm, TL_OP_LOGICAL_OR, chosen, mask_of(slots[0]), out),
             &chosen);
}

// The mask as an array of the values' shape; takes both where it fails.
// A mask that is one bool, or of a shape that broadcasts, is written out, as
// both parts of an option have the array's axes. *values stays the caller's
// where it succeeds.
static bool spread_mask(tl_vm *vm, tl_slot *mask, tl_slot *values) {
  const tl_array *v = values->array;
  if (!tl_is_array(*mask) ||
      !tl_has_shape(mask->array, tl_ndim(v), tl_shape(v))) {
    tl_array *whole = tl_array_new(vm, TL_BOOL, tl_ndim(v), tl_shape(v));
    bool ok = whole != NULL && tl_array_store_all(vm, whole, *mask);
    tl_clear(vm, mask);
    if (!tl_array_finish(vm, ok, whole, mask)) {
      tl_clear(vm, values);
      return false;
    }
  }
  return true;
}

// The mask is written out to the values' shape where it is less.
bool tl_option_of(tl_vm *vm, tl_slot *mask, tl_slot *values, tl_slot *out) {
  return spread_mask(vm, mask, values) &&
         tl_nested_pair(vm, TL_FORM_OPTION, tl_ndim(values->array), mask,
                        values, out);
}

// Whether one operand alone may decide: *deciding is the value that does, true
// for or, false for and.
static bool is_logic(tl_op op, bool *deciding) {
  *deciding = op == TL_OP_LOGICAL_OR || op == TL_OP_BITWISE_OR;
  return *deciding || op == TL_OP_LOGICAL_AND || op == TL_OP_BITWISE_AND;
}

// Kleene's logic is for bools alone: & and | of integers need both operands.
static bool is_bools(tl_slot s) {
  if (tl_is_form(s, TL_FORM_OPTION))
    s = s.nested->parts[1];
  return (tl_is_array(s) || tl_is_scalar(s)) && tl_dtype_of(s) == TL_BOOL;
}

// Values may be written where they are if the mask is that of the result:
// nothing fails behind that.
static void keep_unlike_mask(tl_vm *vm, int arity, tl_slot mask,
                             tl_borrowed_part *parts, tl_slot *plain) {
  for (int i = 0; i < arity; i++) {
    if (parts[i].home == NULL ||
        (tl_is_array(mask) && tl_is_array(plain[i]) &&
         tl_has_shape(mask.array, tl_ndim(plain[i].array),
                      tl_shape(plain[i].array))))
      continue;
    tl_part_return(vm, &parts[i], false);
    plain[i] = tl_borrow(plain[i]);
    parts[i] = (tl_borrowed_part){plain[i], NULL};
  }
}

// Missing where an operand is, but for and, or and where.
// The operation on the values, what lies in gaps included, and then the mask:
//
//   x + y          values + values        missing where either is
//   x & y, x | y   bools                  combine_known: one may decide
//   where(c, x, y) values                 where_mask: the chosen one's
//   x // y, x ** y y is 1 in gaps         else a gap could fail
//
// The parts of an operand that dies are moved out (tl_borrowed_part), so that
// the result may take their memory; everything that may fail comes before that
// is given up. What may be missing of one number is the number or none.
static bool options_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                                tl_slot *out) {
  tl_borrowed_part parts[TL_MOST_OPERANDS];
  tl_slot plain[TL_MOST_OPERANDS], mask = tl_none(), result = tl_none();
  bool deciding = false;
  // The place of a none is taken by the other value, so that the operation has
  // two operands of one dtype; the mask says that it is missing.
  // where(c, none, x) makes items missing: anything lies there. Of no other
  // operation is none an operand.
  int gap = op == TL_OP_WHERE ? 1 + tl_is_none(slots[2]) : -1;
  for (int i = 0; i < arity; i++) {
    if (!tl_is_none(slots[i]) || (i == gap && !tl_is_none(slots[3 - i])))
      continue;
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s with none: is_missing(x) asks, fill_missing(x, value) "
                   "replaces",
                   tl_described(vm, slots[i == 0 && arity > 1]));
  }
  bool logic = arity == 2 && is_logic(op, &deciding) && is_bools(slots[0]) &&
               is_bools(slots[1]);
  for (int i = 0; i < arity; i++) {
    tl_slot *from = tl_is_none(slots[i]) ? &slots[3 - i] : &slots[i];
    bool option = tl_is_form(*from, TL_FORM_OPTION);
    bool whole = logic || op == TL_OP_WHERE;
    if (option)
      tl_part_borrow(vm, whole ? NULL : from, &from->nested->parts[1],
                     &parts[i]);
    else
      parts[i] = (tl_borrowed_part){tl_borrow(*from), NULL};
    plain[i] = parts[i].value;
  }
  bool ok = true;
  // What lies where a divisor or an exponent is missing must not fail.
  if (tl_op_looks(op) && arity == 2 && tl_is_form(slots[1], TL_FORM_OPTION)) {
    tl_slot safe;
    ok = tl_compute3(vm, TL_OP_WHERE, mask_of(slots[1]), tl_weak_int(1),
                     plain[1], &safe);
    if (ok) {
      tl_part_return(vm, &parts[1], false);
      parts[1] = (tl_borrowed_part){safe, NULL};
      plain[1] = safe;
    }
  }
  if (ok && op == TL_OP_WHERE)
    ok = where_mask(vm, slots, plain, &mask);
  else if (ok)
    ok = any_mask(vm, arity, slots, &mask);
  // Made before the operation, which may write into an operand: only
  // spread_mask may fail behind it, and keep_unlike_mask has seen to it that it
  // does not where an operand was written over.
  tl_nested *made = ok ? tl_nested_new(vm, TL_FORM_OPTION, 0, 2, NULL) : NULL;
  ok = made != NULL;
  if (ok && logic) {
    ok = combine_known(vm, deciding, slots, plain, &mask, &result);
  } else if (ok) {
    keep_unlike_mask(vm, arity, mask, parts, plain);
    ok = tl_elementwise(vm, op, plain, &result);
  }
  for (int i = 0; i < arity; i++) {
    parts[i].value = plain[i];
    tl_part_return(vm, &parts[i], ok);
  }
  if (ok && tl_is_number(result)) {
    // One complex number, which has an array of its own: there or none.
    bool missing = tl_is_array(mask) ? mask.array->data[0] != 0 : mask.i != 0;
    if (missing)
      tl_clear(vm, &result);
    *out = missing ? tl_none() : result;
    tl_clear(vm, &mask);
    tl_drop(vm, tl_own_nested(made));
    return true;
  }
  if (!ok)
    tl_clear(vm, &mask);
  ok = ok && spread_mask(vm, &mask, &result);
  if (ok) {
    made->head.ndim = (uint8_t)tl_ndim(result.array);
    tl_nested_put(vm, made, 0, &mask);
    tl_nested_put(vm, made, 1, &result);
  }
  return tl_nested_finish(vm, ok, made, out);
}

const tl_form_ops tl_option_ops = {option_get, option_set, options_elementwise,
                                   options_concat};
