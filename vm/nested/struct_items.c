// The items of struct arrays: reading, writing and joining them. p.x = v,
// p[3].x[0] = v.
//
// What is written is worked out before; in a block a struct's fields go through
// a view of it.
//
//   p[1:3].x[0] = v   in a block      [1:3] of the bytes, a view
//                                     .x    the region of the field
//                                     [0]   filled, through the view
//                     by columns      x[1:3][0] = v: the field first
//
// Items that a mask or an index array chooses are a copy, which is written and
// then stored back.
#include "vm/nested/forms.h"

#include "vm/array/reuse.h"
#include "vm/nested/nested_join.h"
#include "vm/objects.h"
#include "vm/values/record.h"

// --- Reading -----------------------------------------------------------------

// A record, or of a tuple a list, where all axes are indexed; else structs.
// The block is indexed by its leading axes, the bytes of an item stay whole.
static bool struct_get(tl_vm *vm, tl_slot base, const tl_step *step,
                       tl_slot *parts, tl_slot *out) {
  const tl_nested *n = base.nested;
  tl_slot bytes;
  if (!tl_part_get(vm, base, 0, step, parts, &bytes))
    return false;
  return tl_ndim(bytes.array) > 1
             ? tl_struct_of_block(vm, n->layout, &bytes, out)
             : tl_drop_after(vm, tl_struct_show(vm, bytes, 0, n->layout, out),
                             &bytes);
}

// Puts the fields at an index together again: a record where no axis is left,
// else columns. Takes the values.
// A slot whose value was taken owns nothing any more, so the caller frees all
// slots in any case.
static bool columns_of(tl_vm *vm, const tl_nested *n, tl_slot *values,
                       tl_slot *out) {
  // The index takes as many axes from the array as from any part of it.
  int taken = tl_value_axes(n->parts[0]) - tl_value_axes(values[0]);
  int ndim = tl_nested_ndim(n) - taken;
  if (ndim <= 0)
    return tl_struct_item(vm, n->layout, values, out);
  tl_nested *made =
      tl_nested_new(vm, TL_FORM_COLUMNS, ndim, n->count, n->layout);
  for (int64_t i = 0; made != NULL && i < n->count; i++)
    tl_nested_put(vm, made, i, &values[i]);
  return tl_nested_finish(vm, true, made, out);
}

// The same index for each column, which shares its memory with the result: a
// field of rows is then a row of it.
static bool columns_get(tl_vm *vm, tl_slot base, const tl_step *step,
                        tl_slot *parts, tl_slot *out) {
  const tl_nested *n = base.nested;
  tl_slot *values = tl_slots_new(vm, n->count);
  int64_t made = 0;
  bool ok = values != NULL;
  for (; ok && made < n->count; made += ok)
    ok = tl_part_get(vm, base, made, step, parts, &values[made]);
  return tl_slots_free_after(vm, ok && columns_of(vm, n, values, out), values,
                             made);
}

// --- Blocks ------------------------------------------------------------------

// An index of the axes of a block of structs, with one item more for the bytes
// where an ellipsis would reach them.
static bool wider_step(tl_vm *vm, tl_slot bytes, const tl_step *step,
                       const tl_slot *parts, tl_index_item *items,
                       tl_step *out) {
  bool ellipsis;
  int ndim = tl_ndim(bytes.array) - 1;
  int axes = tl_step_axes(step, parts, &ellipsis);
  if (axes > ndim || step->item_count + 1 >= TL_MOST_ITEMS)
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "%d indices are too many for structs of %d %s", axes, ndim,
                   ndim == 1 ? "axis" : "axes");
  memcpy(items, step->items, step->item_count * sizeof *items);
  items[step->item_count] = (tl_index_item){.kind = TL_ITEM_SLICE};
  *out = (tl_step){.item_count = (uint16_t)(step->item_count + ellipsis),
                   .items = items};
  return true;
}

// bytes[step], with the axis of an item's bytes whole. *out as tl_index_get's.
static bool struct_items(tl_vm *vm, tl_slot bytes, const tl_step *step,
                         tl_slot *parts, tl_slot *out) {
  tl_index_item items[TL_MOST_ITEMS];
  tl_step wider;
  return wider_step(vm, bytes, step, parts, items, &wider) &&
         tl_value_index(vm, bytes, &wider, parts, out);
}

// bytes[step] = from, of whole items.
static bool store_struct_items(tl_vm *vm, tl_slot bytes, const tl_step *step,
                               tl_slot *parts, tl_slot from) {
  tl_index_item items[TL_MOST_ITEMS];
  tl_step wider;
  return wider_step(vm, bytes, step, parts, items, &wider) &&
         tl_array_store(vm, bytes.array, &wider, parts, from);
}

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
    const tl_string *name = tl_step_name(w.steps, w.parts);
    int64_t k = name != NULL ? tl_type_find(type, name) : -1;
    ok = k >= 0 ? store_field(vm, tl_nested_path_below(w), bytes,
                              offset + type->offsets[k], type->fields[k].type,
                              value)
                : tl_fail_no_field(vm, shown,
                                   name != NULL ? name : tl_empty_string());
  } else {
    ok = tl_fail(vm, TALLY_ERR_TYPE, "%s has no items or fields to set",
                 tl_described(vm, shown));
  }
  tl_drop(vm, shown);
  return ok;
}

// bytes[index], then what follows; items chosen by masks are a copy, which is
// stored back.
static bool store_items(tl_vm *vm, tl_nested_path w, tl_slot bytes,
                        tl_type *layout, tl_slot value) {
  tl_slot part;
  if (!struct_items(vm, bytes, w.steps, w.parts, &part))
    return false;
  bool ok = store_struct(vm, tl_nested_path_below(w), part, layout, value);
  if (ok && !tl_is_view(part.array))
    ok = store_struct_items(vm, bytes, w.steps, w.parts, part);
  tl_drop(vm, part);
  return ok;
}

// Whether a block of structs has the field, which is none of its attributes.
static bool check_field(tl_vm *vm, tl_slot bytes, tl_type *layout,
                        const tl_string *name) {
  tl_slot text = tl_none(), block = tl_borrow(bytes);
  if (!tl_struct_of_block(vm, layout, &block, &text))
    return false;
  bool ok = tl_field_is_clear(vm, text.nested, name) &&
            (tl_nested_find(text.nested, name) >= 0 ||
             tl_fail_no_field(vm, text, name));
  tl_drop(vm, text);
  return ok;
}

// Walks [w] down through a block: an index narrows the items, a name chooses a
// field, and the last step is filled. Fails (kind name) for a field that there
// is not. What was written before a failure stays as it was, as each fill
// checks first.
static bool store_struct(tl_vm *vm, tl_nested_path w, tl_slot bytes,
                         tl_type *layout, tl_slot value) {
  if (w.count == 0)
    return tl_struct_fill(vm, bytes, 0, layout, value);
  const tl_string *name = tl_step_name(w.steps, w.parts);
  if (name == NULL)
    return store_items(vm, w, bytes, layout, value);
  int64_t k = tl_type_find(layout, name);
  bool is_dotted = w.steps->field != NULL && tl_ndim(bytes.array) > 1;
  if ((k < 0 || is_dotted) && !check_field(vm, bytes, layout, name))
    return false;
  return store_field(vm, tl_nested_path_below(w), bytes, layout->offsets[k],
                     layout->fields[k].type, value);
}

// Fails (kind name) for a field that there is not, (kind type) for a record of
// other fields. All fields of an item are written, or none.
// Copies the block first unless it is this array's alone and writable, and
// counts the reason for --stats and the auditor.
static bool struct_set(tl_vm *vm, tl_nested_path w, tl_nested *n,
                       tl_slot *value) {
  tl_slot *block = &n->parts[0];
  const uint64_t mine = TL_OWNED | TL_DIRECT;
  bool in_place =
      (block->tag & mine) == mine && tl_is_unique(*block) && !vm->no_reuse;
  if (!in_place) {
    tl_refused(vm, tl_rejection_of(*block), *block);
    tl_array *copy = tl_array_copy(vm, block->array);
    if (copy == NULL)
      return false;
    tl_clear(vm, block);
    *block = tl_own_array(copy);
  }
  return store_struct(vm, w, *block, n->layout, *value);
}

// --- Columns -----------------------------------------------------------------

// What a field has at an index, for putting it back.
// A copy, since what the index shows may be a view of what is about to be
// written.
static bool keep_items(tl_vm *vm, tl_nested_path w, tl_slot part,
                       tl_slot *out) {
  tl_slot shown;
  if (!tl_value_index(vm, part, w.steps, w.parts, &shown))
    return false;
  bool ok = true;
  if (tl_is_nested(shown))
    ok = vm->nested->copy(vm, shown, out);
  else if (tl_is_array(shown))
    ok = tl_array_give(tl_array_copy(vm, shown.array), out);
  else
    *out = tl_retain(vm, shown);
  return tl_drop_after(vm, ok, &shown);
}

// Field [i] of the value over the items at [w]. The error names the field.
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
  tl_slot *old = tl_slots_new(vm, n->count);
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
  return tl_slots_free_after(vm, ok, old, kept);
}

// items[i] = a record or structs with all of the fields; others fail (kind
// type) with the type that an item has.
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
  for (int i = 0; ok && i < ndim; i++)
    ok = w.steps->items[i].kind == TL_ITEM_VALUE && tl_is_scalar(w.parts[i]);
  return ok;
}

// As struct_set; a field that fails gives the others their values back.
// items[i].name = v is name[i] = v: the field first.
static bool columns_set(tl_vm *vm, tl_nested_path w, tl_nested *n,
                        tl_slot *value) {
  tl_string *name = tl_step_name(w.steps, w.parts);
  int64_t k = name != NULL ? tl_nested_find(n, name) : -1;
  if (name != NULL && k < 0)
    return tl_fail_no_field(vm, tl_lend_nested(n), name);
  if (name != NULL)
    return (w.steps->field == NULL || tl_field_is_clear(vm, n, name)) &&
           tl_part_update(vm, tl_nested_path_below(w), &n->parts[k], value);
  if (w.count > 1) {
    tl_nested_path rest = tl_nested_path_below(w);
    name = tl_step_name(rest.steps, rest.parts);
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

// --- Joining -----------------------------------------------------------------

// Whether the struct arrays have the same fields in the same order.
static bool same_fields(const tl_type *a, const tl_type *b) {
  bool same = a->field_count == b->field_count;
  for (int64_t i = 0; same && i < a->field_count; i++)
    same = tl_string_equal(a->fields[i].name, b->fields[i].name);
  return same;
}

// Records or struct arrays with the fields of the first one: each field's
// values are joined, and the columns make the whole.
bool tl_join_fields(tl_vm *vm, tl_joiner *join, int64_t count,
                    const tl_slot *items, tl_slot *out) {
  const tl_record *record = tl_is_record(items[0]) ? items[0].record : NULL;
  const tl_type *layout = record == NULL ? items[0].nested->layout : NULL;
  int64_t fields = record != NULL ? record->length : layout->field_count;
  tl_slot *columns = tl_slots_new(vm, fields);
  tl_slot *values = columns != NULL ? tl_slots_new(vm, count) : NULL;
  bool ok = values != NULL;
  for (int64_t k = 0; ok && k < fields; k++) {
    tl_string *name = record != NULL ? tl_key_string(record->fields[k].key)
                                     : layout->fields[k].name;
    for (int64_t i = 0; ok && i < count; i++) {
      tl_clear(vm, &values[i]);
      ok = tl_poll_at(vm, i) &&
           tl_struct_value_field(vm, items[i], name, &values[i]);
    }
    ok = ok && join(vm, count, values, &columns[k]);
  }
  ok = ok && (record != NULL ? tl_struct_of_record(vm, record, columns, out)
                             : tl_struct_like(vm, layout, columns, out));
  tl_slots_free(vm, values, count);
  return tl_slots_free_after(vm, ok, columns, fields);
}

// Arrays of one layout are joined block by block; others field by field, whose
// dtypes promote. Fails (kind type) for other fields or another order of them.
static bool structs_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                           tl_slot *out) {
  bool one_layout = true;
  for (int64_t i = 0; i < count; i++) {
    if (!tl_has_fields(items[i]))
      return tl_fail_kinds(vm, count, items);
    const tl_type *layout = items[i].nested->layout;
    one_layout = one_layout && tl_is_form(items[i], TL_FORM_STRUCT) &&
                 layout == items[0].nested->layout;
    if (!same_fields(items[0].nested->layout, layout))
      return tl_fail_join(vm, items, i);
  }
  return one_layout ? tl_join_parts(vm, count, items, out)
                    : tl_join_fields(vm, tl_value_concat, count, items, out);
}

const tl_form_ops tl_struct_ops = {struct_get, struct_set,
                                   tl_structs_elementwise, structs_concat};
const tl_form_ops tl_columns_ops = {columns_get, columns_set,
                                    tl_structs_elementwise, structs_concat};
