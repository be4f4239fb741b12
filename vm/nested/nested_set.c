// Writing into nested arrays: p.x = v, p[3].x[0] = v, x[i] = none, r[i] = row.
//
// What is written is worked out before: a struct's fields go through a view of
// its block, a ragged row of the same length into the items where they are.
#include "vm/nested/forms.h"
#include "vm/nested/nested_set.h"

#include <inttypes.h>
#include <string.h>

#include "vm/array/describe.h"
#include "vm/error.h"
#include "vm/types/layout.h"
#include "vm/array/range.h"
#include "vm/nested/nested_join.h"
#include "vm/values/list.h"
#include "vm/nested/parts.h"
#include "vm/index/select.h"
#include "vm/nested/raw_bytes.h"
#include "vm/nested/struct_equal.h"
#include "vm/events.h"
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

bool tl_place_begin(tl_nested_place *to, tl_index_item item,
                    const tl_slot *values, tl_nested_path rest, bool merges) {
  int own = tl_item_parts(item), behind = 0, left_out = 0, count = 1;
  for (int i = 0; i < rest.count; i++) behind += tl_step_parts(&rest.steps[i]);
  if (merges) {
    // The rest's first step becomes this one, but for its first item.
    left_out = tl_item_parts(rest.steps->items[0]);
    count = rest.steps->item_count;
    if (count > TL_MOST_ITEMS)
      return false;
    memcpy(to->items, rest.steps->items, (size_t)count * sizeof *to->items);
  }
  int steps = rest.count - merges;
  behind -= left_out;
  if (steps + 1 > TL_MOST_STEPS || own + behind > TL_MOST_PARTS)
    return false;
  to->items[0] = item;
  to->steps[0] = (tl_step){.item_count = (uint16_t)count, .items = to->items};
  for (int i = 0; i < steps; i++) to->steps[1 + i] = rest.steps[merges + i];
  for (int i = 0; i < own; i++) to->parts[i] = values[i];
  for (int i = 0; i < behind; i++)
    to->parts[own + i] = rest.parts[left_out + i];
  to->way = (tl_nested_path){to->steps, steps + 1, to->parts};
  return true;
}

// --- Structs ----------------------------------------------------------------

static bool store_struct(tl_vm *vm, tl_nested_path w, tl_slot bytes,
                         tl_type *layout, tl_slot value);

// Below a field: w begins behind its name.
static bool store_field(tl_vm *vm, tl_nested_path w, tl_slot bytes,
                        int64_t offset, const tl_type *type, tl_slot value) {
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
    ok = k >= 0 ? store_field(vm, tl_nested_path_below(w), bytes,
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
static bool store_items(tl_vm *vm, tl_nested_path w, tl_slot bytes,
                        tl_type *layout, tl_slot value) {
  tl_slot part;
  if (!tl_struct_items(vm, bytes, w.steps, w.parts, &part))
    return false;
  bool ok = store_struct(vm, tl_nested_path_below(w), part, layout, value);
  if (ok && !tl_is_view(part.array))
    ok = tl_struct_items_store(vm, bytes, w.steps, w.parts, part);
  tl_drop(vm, part);
  return ok;
}

// Whether a block of structs has the field, which is none of its attributes.
static bool check_field(tl_vm *vm, tl_slot bytes, tl_type *layout,
                        const tl_string *name) {
  tl_slot text = tl_none(), block = tl_borrow(bytes);
  if (!tl_nested_pair(vm, TL_FORM_STRUCT, tl_ndim(bytes.array) - 1, &block,
                      NULL, &text)) {
    return false;
  }
  text.nested->layout = layout;
  bool ok = tl_field_is_clear(vm, text.nested, name) &&
            (tl_nested_find(text.nested, name) >= 0 ||
             tl_fail_no_field(vm, text, name));
  tl_drop(vm, text);
  return ok;
}

static bool store_struct(tl_vm *vm, tl_nested_path w, tl_slot bytes,
                         tl_type *layout, tl_slot value) {
  if (w.count == 0)
    return tl_struct_fill(vm, bytes, 0, layout, value);
  const tl_string *name = step_name(w.steps, w.parts);
  if (name == NULL)
    return store_items(vm, w, bytes, layout, value);
  int64_t k = 0;
  while (k < layout->field_count &&
         !tl_string_equal(layout->fields[k].name, name))
    k++;
  bool is_dotted = w.steps->field != NULL && tl_ndim(bytes.array) > 1;
  if ((k == layout->field_count || is_dotted) &&
      !check_field(vm, bytes, layout, name))
    return false;
  return store_field(vm, tl_nested_path_below(w), bytes, layout->offsets[k],
                     layout->fields[k].type, value);
}

bool tl_struct_set(tl_vm *vm, tl_nested_path w, tl_nested *n, tl_slot *value) {
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
  return store_struct(vm, w, *block, n->layout, *value);
}

// --- Columns ----------------------------------------------------------------

// What a field has at an index, for putting it back.
static bool keep_items(tl_vm *vm, tl_nested_path w, tl_slot part,
                       tl_slot *out) {
  tl_slot borrowed = tl_borrow(part), shown;
  if (!tl_index_get(vm, &borrowed, w.steps, w.parts, &shown))
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

static bool store_column(tl_vm *vm, tl_nested_path w, tl_nested *n, int64_t i,
                         tl_slot value) {
  tl_slot field;
  if (!tl_struct_value_field(vm, value, n->layout->fields[i].name, &field))
    return false;
  tl_slot borrowed = tl_borrow(field);
  bool ok = tl_part_update(vm, w, &n->parts[i], &borrowed);
  tl_drop(vm, field);
  if (!ok)
    tl_fail_field(vm, n->layout->fields[i].name);
  return ok;
}

// items[i] = value, field by field; where one refuses, the others get back what
// they had.
static bool store_columns(tl_vm *vm, tl_nested_path w, tl_nested *n,
                          tl_slot value) {
  tl_slot *old = tl_slots_new(vm, n->count, "an assignment to structs");
  int64_t kept = 0, stored = 0;
  bool ok = old != NULL;
  for (; ok && kept < n->count; kept += ok)
    ok = keep_items(vm, w, n->parts[kept], &old[kept]);
  for (; ok && stored < n->count; stored += ok)
    ok = store_column(vm, w, n, stored, value);
  for (int64_t i = 0; !ok && i < stored; i++) {
    tl_slot borrowed = tl_borrow(old[i]);
    tl_part_update(vm, w, &n->parts[i], &borrowed);
  }
  tl_slots_free(vm, old, kept);
  return ok;
}

static bool set_column_items(tl_vm *vm, tl_nested_path w, tl_nested *n,
                             tl_slot value) {
  if (tl_struct_has_fields(n->layout, value))
    return store_columns(vm, w, n, value);
  tl_type *item = tl_type_below(vm, tl_lend_nested(n), tl_nested_ndim(n));
  if (item != NULL)
    tl_struct_fail_fields(vm, item, value);
  return false;
}

// Whether the first step is an integer for each of the axes.
static bool is_item(tl_nested_path w, int ndim) {
  bool ok = w.steps->item_count == ndim;
  for (int i = 0; ok && i < ndim; i++) {
    ok = w.steps->items[i].kind == TL_ITEM_VALUE && tl_is_scalar(w.parts[i]);
  }
  return ok;
}

// items[i].name = v is name[i] = v: the field first.
bool tl_columns_set(tl_vm *vm, tl_nested_path w, tl_nested *n, tl_slot *value) {
  tl_string *name = step_name(w.steps, w.parts);
  int64_t k = name != NULL ? tl_nested_find(n, name) : -1;
  if (name != NULL && k < 0) {
    return tl_fail_no_field(vm, tl_lend_nested(n), name);
  }
  if (name != NULL) {
    return (w.steps->field == NULL || tl_field_is_clear(vm, n, name)) &&
           tl_part_update(vm, tl_nested_path_below(w), &n->parts[k], value);
  }
  if (w.count > 1) {
    tl_nested_path rest = tl_nested_path_below(w);
    name = step_name(rest.steps, rest.parts);
    k = name != NULL ? tl_nested_find(n, name) : -1;
    if (k >= 0 && w.count <= TL_MOST_STEPS && rest.steps->field != NULL) {
      if (!is_item(w, tl_nested_ndim(n)) && !tl_field_is_clear(vm, n, name))
        return false;
      tl_step steps[TL_MOST_STEPS];
      steps[0] = w.steps[0];
      memcpy(steps + 1, w.steps + 2, (size_t)(w.count - 2) * sizeof *steps);
      tl_nested_path moved = {steps, w.count - 1, w.parts};
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

bool tl_option_set(tl_vm *vm, tl_nested_path w, tl_nested *n,
                   tl_slot *given_value) {
  tl_slot value = *given_value;
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
    if (!tl_part_update(vm, w, &mask, &flag)) {
      tl_clear(vm, &mask);
      return false;
    }
  }
  tl_slot borrowed = tl_borrow(given);
  bool ok = is_none || tl_part_update(vm, w, &n->parts[1], &borrowed);
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

// --- Bytes ------------------------------------------------------------------

bool tl_raw_bytes_set(tl_vm *vm, tl_nested_path w, tl_nested *n,
                      tl_slot *value) {
  tl_slot raw_bytes = tl_none(), texts;
  if (!tl_is_none(*value) && !tl_raw_bytes_of(vm, *value, &raw_bytes))
    return false;
  texts = tl_raw_bytes_inside(raw_bytes);
  bool ok = tl_part_update(vm, w, &n->parts[0], &texts);
  tl_clear(vm, &raw_bytes);
  return ok;
}

// --- A new column -----------------------------------------------------------

// Whether the place is a field that a struct array has not got yet.
static bool adds_column(tl_nested_path w, tl_slot target) {
  const tl_string *name = tl_has_fields(target) && w.count == 1 &&
                                  target.nested->layout->kind == TL_TYPE_STRUCT
                              ? step_name(w.steps, w.parts)
                              : NULL;
  return name != NULL && tl_nested_find(target.nested, name) < 0;
}

// One item as often as the table has rows.
static bool repeat(tl_vm *vm, tl_slot item, int64_t length, tl_slot *out) {
  tl_slot one;
  if (!tl_stack_any(vm, 1, &item, &one))
    return false;
  tl_array *places = tl_array_zeros(vm, TL_INT64, 1, &length);
  bool ok = tl_take_at(vm, true, one, places, out);
  tl_drop(vm, one);
  return ok;
}

// What is assigned as a column: an array borrowed, of others one made of it.
static bool as_column(tl_vm *vm, const tl_string *name, tl_slot value,
                      int64_t length, tl_slot *out) {
  bool is_column, ok = tl_column_of(vm, value, &is_column, out);
  if (is_column)
    return ok;
  if (tl_is_scalar(value) || tl_is_string(value) || tl_is_record(value))
    return repeat(vm, value, length, out);
  char text[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "the new column %s must be an array, or a value for all rows, "
                 "not %s",
                 name->text, tl_describe(value, text, sizeof text));
}

// The columns of a table behind its own ones; they share its memory where they
// have a block each, and are copied where they lie in one.
static bool put_columns(tl_vm *vm, tl_slot table, const tl_string *name,
                        tl_slot value, tl_string **names, tl_slot *columns,
                        int64_t *made) {
  const tl_nested *n = table.nested;
  int64_t count = n->layout->field_count;
  for (; *made < count; ++*made) {
    tl_slot borrowed = tl_borrow(table);
    names[*made] = n->layout->fields[*made].name;
    if (!tl_nested_field(vm, &borrowed, *made, &columns[*made]))
      return false;
  }
  int64_t length = tl_value_length(table, 0);
  names[count] = (tl_string *)name;
  if (!as_column(vm, name, value, length, &columns[count]))
    return false;
  ++*made;
  if (tl_value_length(columns[count], 0) == length)
    return true;
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "the new column %s has %" PRId64
                 " items, but the table has "
                 "%" PRId64 " rows",
                 name->text, tl_value_length(columns[count], 0), length);
}

static bool add_column(tl_vm *vm, tl_nested_path w, tl_slot table,
                       tl_slot value, tl_nested **out) {
  const tl_nested *n = table.nested;
  tl_string *name = step_name(w.steps, w.parts);
  if (tl_nested_ndim(n) != 1)
    return tl_fail_no_field(vm, table, name);
  int64_t made = 0, count = n->layout->field_count + 1;
  size_t nbytes = (size_t)count * (sizeof(tl_slot) + sizeof(tl_string *));
  tl_slot *columns = tl_alloc(vm, nbytes, "a new column"), wider;
  if (columns == NULL)
    return false;
  tl_string **names = (tl_string **)(void *)(columns + count);
  bool ok = put_columns(vm, table, name, value, names, columns, &made) &&
            tl_struct_of_columns(vm, count, names, columns, &wider);
  while (made > 0) tl_clear(vm, &columns[--made]);
  tl_free(vm, columns, nbytes);
  if (ok)
    *out = wider.nested;
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

bool tl_nested_set(tl_vm *vm, tl_nested_path w, tl_slot target, bool in_place,
                   bool may_widen, tl_slot *value, tl_nested **out) {
  tl_nested *n = target.nested;
  if (may_widen && adds_column(w, target)) {
    if (!add_column(vm, w, target, *value, out))
      return false;
    if (in_place)
      tl_drop(vm, target);
    return true;
  }
  if (!in_place && (n = share(vm, n)) == NULL)
    return false;
  bool ok = tl_forms[tl_nested_form(n)].set(vm, w, n, value);
  if (ok)
    *out = n;
  else if (!in_place)
    tl_drop(vm, tl_own_nested(n));
  return ok;
}
