// Joining, stacking and appending arrays that are more than numbers in a box.
//
// Along the first axis the parts are joined, along that of ragged rows each row
// goes on with the next array's; inner/nested.tly has all other axes.
#include "stdlib/arguments.h"
#include "stdlib/ragged.h"
#include "vm/bytecode/module.h"
#include "vm/values/list.h"
#include "vm/nested/parts.h"

// --- Rows -------------------------------------------------------------------

// Row by row: a of row i, then b of row i.
static bool concat_rows(tl_vm *vm, int64_t count, const tl_slot *all,
                        tl_slot *out) {
  int64_t rows = tl_ragged_rows(all[0].nested);
  for (int64_t i = 1; i < count; i++) {
    if (tl_ragged_rows(all[i].nested) != rows)
      return tl_fail_ragged_rows(vm, "concat", all[0], all[i], 0);
  }
  tl_slot content, items;
  if (!tl_join_opened(vm, tl_ragged_items, tl_value_concat, count, all,
                      &content))
    return false;
  int64_t total = tl_value_length(content, 0), to = 0;
  tl_array *offsets = tl_offsets_new(vm, rows);
  tl_array *places = offsets != NULL ? tl_positions_new(vm, total) : NULL;
  for (int64_t i = 0; places != NULL && i < rows; i++) {
    int64_t base = 0;  // of the array's items in the content
    for (int64_t k = 0; k < count; k++) {
      const int64_t *at = tl_ragged_offsets(all[k].nested);
      for (int64_t j = at[i]; j < at[i + 1]; j++)
        tl_offsets_data(places)[to++] = base + j - at[0];
      base += at[rows] - at[0];
    }
    tl_offsets_data(offsets)[i + 1] = to;
  }
  bool ok = tl_take_at(vm, true, content, places, &items);
  tl_drop(vm, content);
  return tl_ragged_close(vm, ok, offsets, &items, out);
}

// --- The whole --------------------------------------------------------------

// A list that is only looked at, as a value.
static tl_slot list_slot(const tl_list *list) {
  return (tl_slot){.tag = TL_TAG_LIST, .list = (tl_list *)(uintptr_t)list};
}

// The list's items along an axis that counts from the end if it is negative:
// among the axes of the first item, and one more for stack, which [makes] it.
// Tables beside ragged arrays become ragged, in Tally, which has the other
// axes, too.
static bool join_list(tl_vm *vm, const char *name, const tl_list *list,
                      tl_slot axis, bool makes, tl_slot *out) {
  const tl_slot *items = list->items;
  int64_t ragged = 0;
  bool tables = false;
  int along;
  for (int64_t i = 0; i < list->length; i++) {
    if (tl_value_ndim(items[i]) == 0)
      return tl_arg_fail(vm, name, "each item", "an array", items[i]);
    ragged += tl_is_form(items[i], TL_FORM_RAGGED);
    tables |= tl_is_array(items[i]) && tl_ndim(items[i].array) > 1;
  }
  if (!tl_arg_axis(vm, name, axis, tl_value_axes(items[0]) + makes, 0, &along))
    return false;
  const bool mixed = ragged > 0 && tables;
  if (along == 0 && !makes && !mixed)
    return tl_value_concat(vm, list->length, items, out);
  if (along == 1 && !makes && ragged == list->length)
    return concat_rows(vm, list->length, items, out);
  tl_slot given[] = {tl_none(), list_slot(list), tl_weak_int(along),
                     tl_bool(makes)};
  return tl_string_give(tl_string_from(vm, name), &given[0]) &&
         tl_call_embedded(vm, "inner/nested", mixed ? "join_mixed" : "join", 4,
                          given, out);
}

// Without an axis all items are joined, out of whatever rows.
bool tl_nested_concat(tl_vm *vm, const tl_list *list, tl_slot axis,
                      tl_slot *out) {
  if (!tl_is_none(axis))
    return join_list(vm, "concat", list, axis, false, out);
  tl_slot given[] = {list_slot(list)};
  return tl_call_embedded(vm, "inner/nested", "join_all", 1, given, out);
}

// Unlike a plain stack it also takes items whose rows differ in length.
bool tl_nested_stack(tl_vm *vm, const tl_list *list, tl_slot axis,
                     tl_slot *out) {
  return join_list(vm, "stack", list, axis, true, out);
}

// --- append ----------------------------------------------------------------

// The item becomes an array of one in the form that x joins with, in Tally.
bool tl_nested_append(tl_vm *vm, tl_slot x, tl_slot item, tl_slot *out) {
  tl_slot given[] = {tl_borrow(x), tl_borrow(item)};
  return tl_call_embedded(vm, "inner/nested", "appended", 2, given, out);
}
