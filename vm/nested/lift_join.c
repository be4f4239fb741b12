// What a function gave for each string or row of an array, put together again.
#include "vm/nested/lift.h"

#include "vm/array/stack.h"
#include "vm/array/string_item.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/ragged.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// One array of all strings, each list a row of it. A list with an item that is
// no string fails.
// Lists of strings as rows of strings.
static bool join_lists(tl_vm *vm, int64_t count, const tl_slot *lists,
                       tl_slot *out) {
  tl_array *offsets = tl_offsets_new(vm, count);
  if (offsets == NULL)
    return false;
  int64_t *at = tl_offsets_data(offsets);
  bool ok = true;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++)
    at[i + 1] = at[i] + lists[i].list->length;
  tl_array *items = ok ? tl_array_new(vm, TL_STRING, 1, &at[count]) : NULL;
  ok = items != NULL;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
    tl_list *list = lists[i].list;
    tl_string_item *to = tl_string_items(items) + at[i];
    for (int64_t k = 0; k < list->length && tl_poll_ok(vm, k, &ok); k++) {
      ok = tl_is_string(list->items[k]);
      if (ok)
        tl_string_item_put(vm, &to[k], list->items[k].string);
    }
  }
  tl_slot made;
  ok = tl_array_finish(vm, ok, items, &made);
  return tl_ragged_close(vm, ok, offsets, &made, out);
}

// By the first result; a later one of another kind fails in the join.
bool tl_join_of_strings(tl_vm *vm, int64_t count, const tl_slot *results,
                        tl_slot *out) {
  if (tl_is_list(results[0]))
    return join_lists(vm, count, results, out);
  return tl_is_array(results[0]) ? tl_ragged_of_rows(vm, count, results, out)
                                 : tl_stack(vm, count, results, out);
}

// Records of the first one's keys, each key with what the calls gave for it,
// joined: a function that returns {values, counts} gives rows of both.
static bool join_records(tl_vm *vm, int64_t count, const tl_slot *results,
                         tl_slot *out) {
  const tl_record *first = results[0].record;
  tl_record *record = tl_record_new(vm, first->length);
  tl_slot *parts = record != NULL ? tl_slots_new(vm, count) : NULL;
  bool ok = parts != NULL;
  for (int64_t k = 0; ok && k < first->length; k++) {
    tl_slot joined, key = tl_key_slot(first->fields[k].key);
    for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++)
      parts[i] = tl_borrow(results[i].record->fields[k].value);
    ok = ok && tl_join_results(vm, count, parts, &joined) &&
         tl_drop_after(vm, tl_record_set_key(vm, &record, &key, &joined),
                       &joined);
  }
  tl_slots_free(vm, parts, 0);
  return tl_record_give(vm, record, ok, out);
}

// Rows where the results have axes, one item for each where they have none, and
// of records a record of such. count > 0.
bool tl_join_results(tl_vm *vm, int64_t count, const tl_slot *results,
                     tl_slot *out) {
  if (tl_is_record(results[0]))
    return join_records(vm, count, results, out);
  if (tl_value_ndim(results[0]) > 0)
    return tl_ragged_of_rows(vm, count, results, out);
  return tl_stack_any(vm, count, results, out);
}
