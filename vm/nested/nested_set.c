// Writing into nested arrays: p.x = v, p[3].x[0] = v, x[i] = none, r[i] = row.
//
// What is written is worked out before: a struct's fields go through a view of
// its block, a ragged row of the same length into the items where they are.
#include "vm/nested/nested_set.h"

#include <inttypes.h>
#include <string.h>

#include "vm/values/category.h"
#include "vm/error.h"
#include "vm/nested/grid.h"
#include "vm/types/layout.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/ragged.h"
#include "vm/index/select.h"
#include "vm/values/pointer.h"
#include "vm/values/octets.h"
#include "vm/api/watch.h"
#include "vm/vm.h"

// The name of a field that a step gives: .x or ["x"]; NULL: an index.
static tl_string *step_name(const tl_step *step, const tl_slot *parts) {
  if (step->field != NULL)
    return step->field;
  if (step->item_count == 1 && step->items[0].kind == TL_ITEM_VALUE &&
      tl_is_string(parts[0])) {
    return parts[0].string;
  }
  return NULL;
}

// --- Structs ----------------------------------------------------------------

static bool store_struct(tl_vm *vm, tl_way w, tl_slot bytes, tl_type *layout,
                         tl_slot value);

// Below a field: w begins behind its name.
static bool store_field(tl_vm *vm, tl_way w, tl_slot bytes, int64_t offset,
                        const tl_type *type, tl_slot value) {
  tl_slot shown;
  if (w.count == 0)
    return tl_struct_fill(vm, bytes, offset, type, value);
  if (!tl_struct_show(vm, bytes, offset, type, &shown))
    return false;
  bool ok;
  if (tl_is_nested(shown)) {
    ok = store_struct(vm, w, shown.nested->parts[0], shown.nested->layout,
                      value);
  } else if (tl_is_array(shown) && tl_ndim(shown.array) > 0) {
    ok = tl_array_store_below(vm, w, shown.array, value);
    // What was not aligned has been copied, and goes back.
    if (ok && tl_array_owner(shown.array) != tl_array_owner(bytes.array))
      ok = tl_struct_fill(vm, bytes, offset, type, shown);
  } else if (tl_is_record(shown)) {
    // One struct in one struct: its bytes are a place of no axes.
    const tl_string *name = step_name(w.steps, w.parts);
    int64_t k = -1;
    for (int64_t i = 0; name != NULL && i < type->field_count; i++) {
      if (tl_string_equal(type->fields[i].name, name))
        k = i;
    }
    ok = k >= 0 ? store_field(vm, tl_way_below(w), bytes,
                              offset + type->offsets[k], type->fields[k].type,
                              value)
                : tl_fail_no_field(vm, shown,
                                   name != NULL ? name : tl_empty_string());
  } else {
    char text[TL_DESCRIBE];
    ok = tl_fail(vm, TALLY_ERR_TYPE, "%s has no items or fields to set",
                 tl_describe(shown, text, sizeof text));
  }
  tl_drop(vm, shown);
  return ok;
}

// bytes[index], then what follows; items chosen by masks are a copy, which is
// stored back.
static bool store_items(tl_vm *vm, tl_way w, tl_slot bytes, tl_type *layout,
                        tl_slot value) {
  tl_slot part;
  if (!tl_struct_items(vm, bytes, w.steps, w.parts, &part))
    return false;
  bool ok = store_struct(vm, tl_way_below(w), part, layout, value);
  if (ok && !tl_is_view(part.array))
    ok = tl_struct_items_store(vm, bytes, w.steps, w.parts, part);
  tl_drop(vm, part);
  return ok;
}

static bool store_struct(tl_vm *vm, tl_way w, tl_slot bytes, tl_type *layout,
                         tl_slot value) {
  if (w.count == 0)
    return tl_struct_fill(vm, bytes, 0, layout, value);
  const tl_string *name = step_name(w.steps, w.parts);
  if (name == NULL)
    return store_items(vm, w, bytes, layout, value);
  for (int64_t i = 0; i < layout->field_count; i++) {
    if (tl_string_equal(layout->fields[i].name, name)) {
      return store_field(vm, tl_way_below(w), bytes, layout->offsets[i],
                         layout->fields[i].type, value);
    }
  }
  tl_slot text = tl_none();
  tl_slot block = tl_borrow(bytes);
  if (!tl_nested_pair(vm, TL_FORM_STRUCT, tl_ndim(bytes.array) - 1, &block,
                      NULL, &text)) {
    return false;
  }
  text.nested->layout = layout;
  tl_fail_no_field(vm, text, name);
  tl_drop(vm, text);
  return false;
}

static bool set_struct(tl_vm *vm, tl_way w, tl_nested *n, tl_slot value) {
  tl_slot *block = &n->parts[0];
  const uint64_t mine = TL_OWNED | TL_DIRECT;
  bool in_place =
      (block->tag & mine) == mine && tl_is_unique(*block) && !vm->no_reuse;
  if (!in_place) {
    if (!vm->no_reuse)
      tl_refused(vm,
                 tl_is_unique(*block) ? TL_REFUSED_EXTERNAL : TL_REFUSED_SHARED,
                 *block);
    tl_array *copy = tl_array_copy(vm, block->array);
    if (copy == NULL)
      return false;
    tl_clear(vm, block);
    *block = tl_own_array(copy);
  }
  return store_struct(vm, w, *block, n->layout, value);
}

// --- Columns ----------------------------------------------------------------

// What a field has at an index, for putting it back.
static bool keep_items(tl_vm *vm, tl_way w, tl_slot part, tl_slot *out) {
  tl_slot lent = tl_borrow(part), shown;
  if (!tl_index_get(vm, &lent, w.steps, w.parts, &shown))
    return false;
  if (tl_is_nested(shown)) {
    bool ok = tl_nested_copy(vm, shown, out);
    tl_drop(vm, shown);
    return ok;
  }
  if (!tl_is_array(shown)) {
    *out = tl_retain(vm, shown);
    tl_drop(vm, shown);
    return true;
  }
  tl_array *copy = tl_array_copy(vm, shown.array);
  tl_drop(vm, shown);
  if (copy != NULL)
    *out = tl_own_array(copy);
  return copy != NULL;
}

static bool store_column(tl_vm *vm, tl_way w, tl_nested *n, int64_t i,
                         tl_slot value) {
  tl_slot field;
  if (!tl_struct_value_field(vm, value, n->layout->fields[i].name, &field))
    return false;
  tl_slot lent = tl_borrow(field);
  bool ok = tl_part_update(vm, w, &n->parts[i], &lent);
  tl_drop(vm, field);
  if (!ok)
    tl_fail_field(vm, n->layout->fields[i].name);
  return ok;
}

// items[i] = value, field by field; where one refuses, the others get back what
// they had.
static bool store_columns(tl_vm *vm, tl_way w, tl_nested *n, tl_slot value) {
  size_t nbytes = (size_t)n->count * sizeof(tl_slot);
  tl_slot *old = tl_alloc(vm, nbytes, "an assignment to structs");
  if (old == NULL)
    return false;
  int64_t kept = 0, stored = 0;
  while (kept < n->count && keep_items(vm, w, n->parts[kept], &old[kept]))
    kept++;
  bool ok = kept == n->count;
  while (ok && stored < n->count) {
    ok = store_column(vm, w, n, stored, value);
    stored += ok;
  }
  for (int64_t i = 0; !ok && i < stored; i++) {
    tl_slot lent = tl_borrow(old[i]);
    tl_part_update(vm, w, &n->parts[i], &lent);
  }
  for (int64_t i = 0; i < kept; i++) tl_drop(vm, old[i]);
  tl_free(vm, old, nbytes);
  return ok;
}

static bool set_column_items(tl_vm *vm, tl_way w, tl_nested *n, tl_slot value) {
  if (tl_struct_has_fields(n->layout, value))
    return store_columns(vm, w, n, value);
  tl_slot all = {.tag = TL_TAG_NESTED, .nested = n};
  tl_type *item = tl_type_below(vm, all, tl_nested_ndim(n));
  if (item != NULL)
    tl_struct_fail_fields(vm, item, value);
  return false;
}

// items[i].name = v is name[i] = v: the field first.
static bool set_columns(tl_vm *vm, tl_way w, tl_nested *n, tl_slot *value) {
  tl_string *name = step_name(w.steps, w.parts);
  int64_t k = name != NULL ? tl_nested_find(n, name) : -1;
  if (name != NULL && k < 0) {
    return tl_fail_no_field(vm, (tl_slot){.tag = TL_TAG_NESTED, .nested = n},
                            name);
  }
  if (name != NULL)
    return tl_part_update(vm, tl_way_below(w), &n->parts[k], value);
  if (w.count > 1) {
    tl_way rest = tl_way_below(w);
    name = step_name(rest.steps, rest.parts);
    k = name != NULL ? tl_nested_find(n, name) : -1;
    if (k >= 0 && w.count <= TL_MOST_STEPS && rest.steps->field != NULL) {
      tl_step steps[TL_MOST_STEPS];
      steps[0] = w.steps[0];
      memcpy(steps + 1, w.steps + 2, (size_t)(w.count - 2) * sizeof *steps);
      tl_way moved = {steps, w.count - 1, w.parts};
      return tl_part_update(vm, moved, &n->parts[k], value);
    }
  }
  if (w.count == 1)
    return set_column_items(vm, w, n, *value);
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "a struct array with strings, missing values or rows is set "
                 "field by field: p.x[i] = v");
}

// --- Missing values ---------------------------------------------------------

static bool store_mask(tl_vm *vm, tl_way w, tl_slot *mask, tl_slot value) {
  return tl_part_update(vm, w, mask, &value);
}

static bool set_option(tl_vm *vm, tl_way w, tl_nested *n, tl_slot value) {
  if (w.count != 1 || w.steps->field != NULL) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "an array with missing values is set by one index: x[i] = "
                   "v");
  }
  // The mask is written apart and put in last, so that a value that does not
  // fit leaves all as it was; one item's byte can just be set.
  char *item = NULL;
  const tl_array *old = n->parts[0].array;
  bool one = tl_index_item_at(old, w.steps, w.parts, &item);
  bool is_none = tl_is_none(value);
  bool is_option = tl_is_form(value, TL_FORM_OPTION);
  tl_slot flag = is_none     ? tl_bool(true)
                 : is_option ? tl_borrow(value.nested->parts[0])
                             : tl_bool(false);
  tl_slot given = is_option ? tl_borrow(value.nested->parts[1]) : value;
  tl_slot mask = tl_none();
  if (!one || is_option || !tl_is_unique(n->parts[0]) ||
      (n->parts[0].tag & TL_DIRECT) == 0) {
    tl_array *copy = tl_array_copy(vm, old);
    if (copy == NULL)
      return false;
    mask = tl_own_array(copy);
    if (!store_mask(vm, w, &mask, flag)) {
      tl_clear(vm, &mask);
      return false;
    }
  }
  tl_slot lent = tl_borrow(given);
  bool ok = is_none || tl_part_update(vm, w, &n->parts[1], &lent);
  if (ok && tl_is_array(mask)) {
    tl_clear(vm, &n->parts[0]);
    n->parts[0] = mask;
    return true;
  }
  if (ok)
    *item = (char)(flag.i != 0);
  tl_clear(vm, &mask);
  return ok;
}

// --- Categories -------------------------------------------------------------

static bool set_category(tl_vm *vm, tl_way w, tl_nested *n, tl_slot value) {
  tl_slot plain = tl_borrow(value), codes;
  if (!tl_spell_out(vm, 1, &plain))
    return false;
  bool ok = tl_category_codes(vm, n->parts[1], plain, &codes);
  tl_clear(vm, &plain);
  if (!ok)
    return false;
  ok = tl_part_update(vm, w, &n->parts[0], &codes);
  tl_clear(vm, &codes);
  return ok;
}

// --- Bytes ------------------------------------------------------------------

static bool set_octets(tl_vm *vm, tl_way w, tl_nested *n, tl_slot value) {
  tl_slot octets = tl_none(), texts;
  if (!tl_is_none(value) && !tl_octets_of(vm, value, &octets))
    return false;
  texts = tl_octets_inside(octets);
  bool ok = tl_part_update(vm, w, &n->parts[0], &texts);
  tl_clear(vm, &octets);
  return ok;
}

// --- Any --------------------------------------------------------------------

// A copy whose parts are shared with the original.
static tl_nested *share(tl_vm *vm, const tl_nested *n) {
  tl_nested *copy = tl_nested_new(vm, tl_nested_form(n), tl_nested_ndim(n),
                                  n->count, n->layout);
  for (int64_t i = 0; copy != NULL && i < n->count; i++) {
    tl_slot part = tl_borrow(n->parts[i]);
    copy->parts[i] = tl_retain(vm, part);
  }
  return copy;
}

bool tl_nested_set(tl_vm *vm, tl_way w, tl_slot target, bool in_place,
                   tl_slot *value, tl_nested **out) {
  tl_nested *n = target.nested;
  if (!in_place && (n = share(vm, n)) == NULL)
    return false;
  bool ok;
  switch (tl_nested_form(n)) {
    case TL_FORM_STRUCT:
      ok = set_struct(vm, w, n, *value);
      break;
    case TL_FORM_COLUMNS:
      ok = set_columns(vm, w, n, value);
      break;
    case TL_FORM_OPTION:
      ok = set_option(vm, w, n, *value);
      break;
    case TL_FORM_CATEGORY:
      ok = set_category(vm, w, n, *value);
      break;
    case TL_FORM_POINTER:
      ok = tl_pointer_set(vm, w, n, *value);
      break;
    case TL_FORM_GRID:
      ok = tl_grid_set(vm, w, n, value);
      break;
    case TL_FORM_BYTES:
      ok = set_octets(vm, w, n, *value);
      break;
    default:
      ok = tl_ragged_set(vm, w, n, value);
      break;
  }
  if (ok)
    *out = n;
  else if (!in_place)
    tl_drop(vm, tl_own_nested(n));
  return ok;
}
