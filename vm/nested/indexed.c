// Arrays of places in a target: categories and pointers. See indexed.h.
#include "vm/nested/indexed.h"

#include "vm/engine/engine.h"
#include "vm/nested/forms.h"
#include "vm/nested/parts.h"
#include "vm/nested/ragged.h"
#include "vm/text/format.h"
#include "vm/values/list.h"

// --- Values ------------------------------------------------------------------

// The target's items at places, in their shape; of one place its item.
// The result is counted as a view of the target is, which it may be: of a
// target of rows or structs items lie within it.
static bool values_at(tl_vm *vm, tl_slot places, tl_slot target, tl_slot *out) {
  bool ok = !tl_is_array(places) ? tl_nested_at(vm, target, places.i, out)
            : tl_is_form(target, TL_FORM_RAGGED)
                ? tl_grid_of_places(vm, places, target, out)
                : tl_value_take(vm, target, places.array, out);
  ok = ok && tl_keep_made(vm, out);
  return ok;
}

// Codes that may be missing give values that may be: the mask is shared.
bool tl_indexed_values(tl_vm *vm, tl_slot s, tl_slot *out) {
  *out = tl_borrow(s);
  if (!tl_is_spelled(s))
    return true;
  tl_slot places = s.nested->parts[0], target = s.nested->parts[1], values;
  if (!tl_is_nested(places))
    return values_at(vm, places, target, out);
  // Codes that may be missing. Without categories all are: any values will do.
  tl_slot mask = tl_borrow(places.nested->parts[0]);
  const tl_array *codes = places.nested->parts[1].array;
  bool ok =
      target.array->size > 0
          ? tl_value_take(vm, target, places.nested->parts[1].array, &values)
          : tl_array_give(tl_array_zeros(vm, tl_array_dtype(target.array),
                                         tl_ndim(codes), tl_shape(codes)),
                          &values);
  return ok && tl_indexed_new(vm, TL_FORM_OPTION, &mask, &values, out);
}

bool tl_single_number(tl_vm *vm, tl_slot *s) {
  tl_slot value;
  if (!tl_is_spelled(*s) || tl_nested_ndim(s->nested) > 0)
    return true;
  if (!tl_indexed_values(vm, *s, &value))
    return false;
  if (!tl_is_heap(value))
    *s = value;
  else
    tl_drop(vm, value);
  return true;
}

// Categories and pointers among the arguments become their values.
bool tl_spell_out(tl_vm *vm, uint32_t count, tl_slot *args) {
  return tl_open_each(vm, tl_indexed_values, count, args);
}

// --- Codes -------------------------------------------------------------------

// "x is none of the categories [a, b]". The text is made before tl_fail since
// writing a value may fail itself: memory's error then stands. Returns false.
static bool fail_value(tl_vm *vm, tl_slot categories, tl_slot value) {
  tl_text text;
  tl_text_open(&text, vm);
  bool ok = tl_format_value(vm, &text, value, true, 8);
  if (ok) {
    tl_text_puts(&text, " is none of the categories ");
    ok = tl_format_value(vm, &text, categories, true, 8);
  }
  tl_slot message;
  if (tl_text_give(&text, ok, &message)) {
    tl_fail(vm, TALLY_ERR_VALUE, "%s", message.string->text);
    tl_drop(vm, message);
  }
  return false;
}

// By ==, so a category of another dtype that is equal is found too. It looks at
// every category for each value, which is fine for the few there are.
// Where a category equals the value; -1: nowhere, -2 after tl_fail.
//
//  categories ["a", "b"], value "b"    1
//  categories ["a", "b"], value "c"    -1
//  categories [1, 2],     value 2.0    1
//
static int64_t find_code(tl_vm *vm, tl_slot categories, tl_slot value) {
  tl_slot operands[2] = {tl_borrow(categories), tl_borrow(value)}, equal;
  if (!tl_elementwise(vm, TL_OP_EQUAL, operands, &equal))
    return -2;
  int64_t code = -1;
  for (int64_t i = 0; tl_is_array(equal) && i < equal.array->size; i++)
    if (equal.array->data[i] != 0 && code < 0)
      code = i;
  tl_drop(vm, equal);
  return code;
}

// As find_code, where a value that is no category is an error (kind value).
static bool one_code(tl_vm *vm, tl_slot categories, tl_slot value,
                     int64_t *out) {
  *out = find_code(vm, categories, value);
  return *out >= 0 || (*out == -1 && fail_value(vm, categories, value));
}

// Codes of values that may be missing; of a missing one it is 0.
// Values that are missing have anything in their place, which need not be a
// category: so only those that are there are looked up, and their codes are
// spread out again over the gaps.
static bool optional_codes(tl_vm *vm, tl_slot categories, const tl_nested *n,
                           tl_slot *out) {
  tl_slot there, known = tl_none(), codes = tl_none(), items;
  tl_slot mask = tl_borrow(n->parts[0]);
  if (!tl_option_there(vm, n, &there))
    return false;
  bool ok = tl_value_take(vm, n->parts[1], there.array, &known) &&
            tl_category_codes(vm, categories, known, &codes);
  const tl_array *flags = there.array;
  tl_array *all =
      ok ? tl_array_zeros(vm, TL_INT32, tl_ndim(flags), tl_shape(flags)) : NULL;
  ok = all != NULL;
  const int32_t *from = ok ? (const int32_t *)(void *)codes.array->data : NULL;
  for (int64_t i = 0; ok && i < flags->size; i++)
    if (flags->data[i] != 0)
      ((int32_t *)(void *)all->data)[i] = *from++;
  tl_drop(vm, there);
  tl_clear(vm, &known);
  tl_clear(vm, &codes);
  return tl_array_finish(vm, ok, all, &items) &&
         tl_indexed_new(vm, TL_FORM_OPTION, &mask, &items, out);
}

// One value gives a scalar; an array is taken item by item, in row-major order,
// with a poll every 4096 of them.
bool tl_category_codes(tl_vm *vm, tl_slot categories, tl_slot values,
                       tl_slot *out) {
  int64_t code;
  if (tl_is_none(values)) {
    *out = tl_none();
    return true;
  }
  if (tl_is_form(values, TL_FORM_OPTION))
    return optional_codes(vm, categories, values.nested, out);
  if (!tl_is_array(values) || tl_ndim(values.array) == 0) {
    if (!one_code(vm, categories, values, &code))
      return false;
    *out = tl_scalar_load(TL_INT32, &(int32_t){(int32_t)code});
    return true;
  }
  tl_slot dense, borrowed = tl_borrow(values);
  if (!tl_array_contiguous(vm, &borrowed, &dense))
    return false;
  const tl_array *x = dense.array;
  tl_array *codes = tl_array_new(vm, TL_INT32, tl_ndim(x), tl_shape(x));
  bool ok = codes != NULL;
  size_t size = tl_itemsize(tl_array_dtype(x));
  for (int64_t i = 0; ok && i < x->size; i++) {
    tl_slot item = tl_item(vm, x, x->data + (size_t)i * size);
    ok = !tl_is_unset(item) && one_code(vm, categories, item, &code);
    tl_drop(vm, item);
    if (ok)
      ((int32_t *)(void *)codes->data)[i] = (int32_t)code;
    ok = ok && ((i & 0xfff) != 0xfff || tl_poll(vm, 16));
  }
  tl_drop(vm, dense);
  return tl_array_finish(vm, ok, codes, out);
}

// --- Reading and writing -----------------------------------------------------

// An index that goes on behind the pointers, cut in two:
//
//   p[1:, ::2, -2:]     p of two axes
//     head  1:, ::2     of the places
//     tail  :, -2:      of the target, whose first axis stays whole
typedef struct split {
  tl_step head, tail;
  tl_slot *tail_parts;
  tl_index_item items[TL_MOST_ITEMS];
} split;

// Whether the index is x[()], which leaves every axis whole.
static bool is_of_nothing(const tl_step *step, const tl_slot *parts) {
  return step->item_count == 1 && step->items->kind == TL_ITEM_VALUE &&
         tl_is_list(*parts) && parts->list->length == 0;
}

// Where the axes of [n] are used up; false: the index ends there, or does not
// fit, which the places then say. An ellipsis stands for axes of the pointers.
// Only where the target has something behind its first axis: of numbers the
// index has to end at the pointers.
static bool split_index(const tl_nested *n, const tl_step *step, tl_slot *parts,
                        split *out) {
  int left = tl_nested_ndim(n), at = 0;
  bool goes_on =
      (tl_is_nested(n->parts[1]) || tl_value_ndim(n->parts[1]) > 1) &&
      !is_of_nothing(step, parts);
  for (; goes_on && left > 0 && at < step->item_count; at++) {
    tl_step one = {.item_count = 1, .items = &step->items[at]};
    bool ellipsis;
    left -= tl_step_axes(&one, parts, &ellipsis);
    goes_on = !ellipsis;
    parts += tl_item_parts(step->items[at]);
  }
  int rest = step->item_count - at;
  if (!goes_on || left != 0 || rest == 0 || rest >= TL_MOST_ITEMS)
    return false;
  out->head = (tl_step){.item_count = (uint16_t)at, .items = step->items};
  out->items[0] = (tl_index_item){.kind = TL_ITEM_SLICE};
  memcpy(out->items + 1, step->items + at, (size_t)rest * sizeof *out->items);
  out->tail =
      (tl_step){.item_count = (uint16_t)(rest + 1), .items = out->items};
  out->tail_parts = parts;
  return true;
}

// The pointers that the head chooses, into what the tail leaves of each item:
// they keep their places, and the target becomes a view of itself.
//
//  p = pointers(t, [2, 0])       t: 3 * 4 * float64
//  p[:, -2:]                     places [2, 0] into t[:, -2:], which is a view
//  p[0, -2:]                     t[2, -2:], no pointer any more
//
static bool get_behind(tl_vm *vm, const tl_nested *n, split *cut,
                       tl_slot *parts, tl_slot *out) {
  tl_slot places = tl_borrow(n->parts[0]), target = tl_borrow(n->parts[1]);
  tl_slot item;
  if (tl_is_array(places) && cut->head.item_count > 0 &&
      !tl_value_index(vm, n->parts[0], &cut->head, parts, &places))
    return false;
  if (tl_is_array(places)) {
    if (tl_value_index(vm, n->parts[1], &cut->tail, cut->tail_parts, &target))
      return tl_indexed_new(vm, TL_FORM_POINTER, &places, &target, out);
    tl_clear(vm, &places);
    return false;
  }
  // One item: the index goes on in it, as in any value.
  cut->tail.items++;
  cut->tail.item_count--;
  return tl_nested_at(vm, target, places.i, &item) &&
         tl_drop_after(
             vm, tl_index_get(vm, &item, &cut->tail, cut->tail_parts, out),
             &item);
}

// Whether an index of a pointer without axes is p[()] or p[...], its value;
// else fails (kind index).
static bool check_whole(tl_vm *vm, const tl_nested *n, const tl_step *step,
                        const tl_slot *parts) {
  bool ellipsis;
  return is_of_nothing(step, parts) ||
         (step->item_count == 1 && tl_step_axes(step, parts, &ellipsis) == 0 &&
          ellipsis) ||
         tl_fail(vm, TALLY_ERR_INDEX,
                 "an index is too many for %s: p[()] is its value",
                 tl_described(vm, tl_lend_nested(n)));
}

// The places are indexed, the target stays whole; one place alone is the value
// that it means.
static bool indexed_get(tl_vm *vm, tl_slot base, const tl_step *step,
                        tl_slot *parts, tl_slot *out) {
  const tl_nested *n = base.nested;
  tl_slot places, target = tl_borrow(n->parts[1]);
  split cut;
  if (tl_nested_form(n) == TL_FORM_POINTER && split_index(n, step, parts, &cut))
    return get_behind(vm, n, &cut, parts, out);
  if (tl_nested_ndim(n) == 0)
    return check_whole(vm, n, step, parts) && tl_indexed_values(vm, base, out);
  if (!tl_part_get(vm, base, 0, step, parts, &places))
    return false;
  if (tl_is_none(places)) {  // a code that is missing
    *out = tl_none();
    return true;
  }
  if (tl_value_ndim(places) == 0)
    return tl_nested_at(vm, target, places.i, out);
  return tl_indexed_new(vm, tl_nested_form(n), &places, &target, out);
}

// The type of an array's categories, which has them in their order; NULL after
// tl_fail.
static const tl_type *categories_type(tl_vm *vm, tl_slot s) {
  const tl_type *type = tl_type_of(vm, s);
  while (type != NULL &&
         (tl_type_is_dimension(type) || type->kind == TL_TYPE_OPTION))
    type = type->of;
  return type;
}

// Whether all are of one form, with axes, over one target: the same object, or
// categories that are the same in the same order. False also after tl_fail.
static bool share_target(tl_vm *vm, int64_t count, const tl_slot *items) {
  tl_slot a = items[0];
  bool category = tl_is_form(a, TL_FORM_CATEGORY), shared = true;
  for (int64_t i = 0; shared && i < count && tl_poll_ok(vm, i, &shared); i++) {
    tl_slot b = items[i];
    shared = tl_is_spelled(b) && tl_is_form(b, TL_FORM_CATEGORY) == category &&
             tl_nested_ndim(b.nested) > 0 &&
             (a.nested->parts[1].object == b.nested->parts[1].object ||
              (category && categories_type(vm, a) == categories_type(vm, b)));
  }
  return shared && !tl_failed(vm);
}

// Fails (kind value) for a value that is no category.
// What is set is a code. Those of an array with the same categories are; of
// others the value is spelled out first and then looked up in those of [n].
static bool category_set(tl_vm *vm, tl_nested_path w, tl_nested *n,
                         tl_slot *value) {
  tl_slot whole = {.tag = TL_TAG_NESTED, .nested = n};
  tl_slot plain = tl_borrow(*value), codes;
  bool ellipsis;
  if (w.count > 0 && w.steps->field == NULL &&
      !tl_part_axes(vm, whole, w.steps, w.parts, &ellipsis))
    return false;
  bool ok = share_target(vm, 2, (tl_slot[]){whole, *value});
  if (ok)
    codes = tl_borrow(value->nested->parts[0]);
  else
    ok = !tl_failed(vm) && tl_spell_out(vm, 1, &plain) &&
         tl_category_codes(vm, n->parts[1], plain, &codes);
  tl_clear(vm, &plain);
  return ok &&
         tl_drop_after(vm, tl_part_update(vm, w, &n->parts[0], &codes), &codes);
}

// Index arrays behind several places would be paired with them.
// A scalar, a slice and none pair with nothing; neither does anything behind
// one pointer.
static bool check_tail(tl_vm *vm, const split *cut, tl_slot *places) {
  bool several = tl_value_ndim(*places) > 0, ok = true;
  const tl_slot *part = cut->tail_parts;
  for (int i = 1; i < cut->tail.item_count; i++) {
    ok = ok && (cut->items[i].kind != TL_ITEM_VALUE || !several ||
                !tl_is_array(*part) || tl_ndim(part->array) == 0);
    part += tl_item_parts(cut->items[i]);
  }
  if (ok)
    return true;
  tl_clear(vm, places);
  return tl_fail(vm, TALLY_ERR_INDEX,
                 "an index array behind several pointers can be read, not set: "
                 "set one pointer after the other");
}

// The places that are set, and the steps that go on from there.
// x[i] = v sets where x[i] refers to, x = v and x.f = v where all items do.
// A name is a field of the target, so it is left in *rest. *places borrows
// from [n] or is owned.
// The first step is used up only where it is an index. If that goes on behind
// the pointers (split_index), [cut] has what is left of it: places stand in
// front, in the same index, as what they choose has the axes of the places.
static bool choose_places(tl_vm *vm, const tl_nested *n, tl_nested_path w,
                          tl_slot *places, tl_nested_path *rest,
                          tl_step steps[TL_MOST_STEPS], split *cut) {
  const tl_slot *all = &n->parts[0];
  // The place of a single pointer is a number, as that of one among others.
  *places = tl_is_array(*all) && tl_ndim(all->array) == 0
                ? tl_int(*(const int64_t *)all->array->data)
                : tl_borrow(*all);
  *rest = w;
  if (w.count == 0 || tl_step_name(w.steps, w.parts) != NULL)
    return true;
  if (split_index(n, w.steps, w.parts, cut) && w.count <= TL_MOST_STEPS) {
    memcpy(steps, w.steps, (size_t)w.count * sizeof *steps);
    steps[0] = cut->tail;
    *rest = (tl_nested_path){steps, w.count, cut->tail_parts};
    return (tl_nested_ndim(n) == 0 || cut->head.item_count == 0 ||
            tl_value_index(vm, *all, &cut->head, w.parts, places)) &&
           check_tail(vm, cut, places);
  }
  *rest = tl_nested_path_below(w);
  if (tl_nested_ndim(n) == 0)
    return check_whole(vm, n, w.steps, w.parts);
  return tl_value_index(vm, *all, w.steps, w.parts, places);
}

// x[way] = v is target[places, rest of way] = v, so that all who refer there
// see it. Fails (kind value) beyond TL_MOST_STEPS.
// The target is changed where it is, and its owner is every pointer into it: so
// it is neither copied nor taken over.
static bool pointer_set(tl_vm *vm, tl_nested_path w, tl_nested *n,
                        tl_slot *value) {
  tl_slot places, plain = tl_borrow(*value);
  tl_nested_path rest;
  tl_nested_place place;
  tl_step steps[TL_MOST_STEPS];
  split cut = {.tail_parts = NULL};
  if (!choose_places(vm, n, w, &places, &rest, steps, &cut))
    return false;
  bool merges = rest.steps == steps;
  bool ok =
      (tl_place_begin(&place, tl_one_value, &places, rest, merges ? 1 : -1) ||
       tl_fail(vm, TALLY_ERR_VALUE,
               "what a pointer refers to is set by at most %d steps",
               TL_MOST_STEPS - 1)) &&
      tl_spell_out(vm, 1, &plain) &&
      tl_part_update(vm, place.way, &n->parts[1], &plain);
  tl_clear(vm, &plain);
  tl_clear(vm, &places);
  return ok;
}

// --- Operations --------------------------------------------------------------

// Equality with one number or string is decided once among the categories, and
// then by a comparison of int32 codes. A value that is no category has code -1,
// which no item has. Everything else works on the values.
// *out is owned. NaN as a category equals nothing, itself included, as in
// arrays of floats.
static bool indexed_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                                tl_slot *out) {
  bool equality = op == TL_OP_EQUAL || op == TL_OP_NOT_EQUAL;
  // The category may stand on either side of ==.
  int at = arity == 2 && tl_is_form(slots[1], TL_FORM_CATEGORY) ? 1 : 0;
  if (equality && tl_is_form(slots[at], TL_FORM_CATEGORY) &&
      tl_value_ndim(slots[1 - at]) == 0 &&
      (tl_is_string(slots[1 - at]) || tl_is_number(slots[1 - at]))) {
    const tl_nested *n = slots[at].nested;
    int64_t code = find_code(vm, n->parts[1], slots[1 - at]);
    tl_slot x[2] = {tl_borrow(n->parts[0]), tl_weak_int(code)};
    return code != -2 && tl_elementwise(vm, op, x, out);
  }
  tl_slot values[3];
  for (int i = 0; i < arity; i++) values[i] = tl_borrow(slots[i]);
  bool ok = tl_spell_out(vm, (uint32_t)arity, values) &&
            tl_elementwise(vm, op, values, out);
  for (int i = 0; i < arity; i++) tl_clear(vm, &values[i]);
  return ok;
}

// Places in one target are joined as they are: the result refers there, too.
// Those in several have no meaning in one another, so the values are joined.
static bool indexed_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                           tl_slot *out) {
  tl_slot places, target, *parts;
  if (!share_target(vm, count, items))
    return !tl_failed(vm) && tl_join_opened(vm, tl_indexed_values,
                                            tl_value_concat, count, items, out);
  parts = tl_slots_new(vm, count);
  if (parts == NULL)
    return false;
  for (int64_t i = 0; i < count; i++)
    parts[i] = tl_borrow(items[i].nested->parts[0]);
  bool ok = tl_value_concat(vm, count, parts, &places);
  tl_slots_free(vm, parts, count);
  target = tl_borrow(items[0].nested->parts[1]);
  return ok && tl_indexed_new(vm, tl_nested_form(items[0].nested), &places,
                              &target, out);
}

const tl_form_ops tl_category_ops = {indexed_get, category_set,
                                     indexed_elementwise, indexed_concat};
const tl_form_ops tl_pointer_ops = {indexed_get, pointer_set,
                                    indexed_elementwise, indexed_concat};
