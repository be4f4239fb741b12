// Writing into ragged arrays: r[i] = row, r[i, j] = v, r[:, j] = v, r[mask] =
// v, r[a:b] = rows.
//
// An index of any kind is applied to the numbers of the items; the items of the
// numbers that it gives are written. Rows of other lengths make new offsets.
//
//   r          rows  [1 2] [3]      places  [0 1] [2]
//   r[:, 0]    of the places        0 2          items[0 2] = v
//   r[1] = [7, 8]    another length: new offsets 0 2 4, items 1 2 7 8
#include "vm/nested/forms.h"

#include <inttypes.h>

#include "vm/events.h"
#include "vm/nested/parts.h"
#include "vm/nested/ragged.h"

// The error of a place that cannot be set, with those that can.
static bool fail_set_rows(tl_vm *vm, const tl_nested *n) {
  return tl_fail_rows(vm, TALLY_ERR_TYPE, n,
                      "set by rows, then within them: x[i] = row, x[a:b] = "
                      "rows, x[i, j] = v, x[:, j] = v, x[mask] = v");
}

// What an index of any kind chooses among the numbers from [first] on: so it is
// understood without a case for each. *out is owned.
static bool choose_numbers(tl_vm *vm, int64_t first, int64_t count,
                           const tl_step *step, tl_slot *parts, tl_slot *out) {
  tl_slot base;
  return tl_array_give(tl_numbers_new(vm, 1, &count, first, 1), &base) &&
         tl_drop_after(
             vm,
             tl_index_get(vm, &base, step, parts, out) && tl_keep_made(vm, out),
             &base);
}

// The place, or the places, of [start, stop) that the first item of an index
// chooses. *out is owned, or a number.
// A number of the content and not of the row: the writes below go to the
// content at once.
static bool choose_within(tl_vm *vm, const tl_nested_path *rest, int64_t start,
                          int64_t stop, tl_slot *out) {
  tl_step step = {.item_count = 1, .items = rest->steps->items};
  int64_t i, length = stop - start;
  if (step.items->kind == TL_ITEM_VALUE &&
      tl_index_integer(rest->parts[0], &i)) {
    *out = tl_weak_int(i < 0 ? i + stop : i + start);
    return (i >= -length && i < length) ||
           tl_fail_index(vm, rest->parts[0], 1, length);
  }
  return choose_numbers(vm, start, length, &step, rest->parts, out);
}

// items[start:stop][index] = value of items that may be missing, which are set
// by one index, and of rows of rows, whose first index chooses among all rows
// of the content: by the chosen numbers in place of the first item of the
// index. Further indices of one item choose among what is chosen.
static bool set_within(tl_vm *vm, tl_nested_path rest, tl_nested *n,
                       int64_t start, int64_t stop, tl_slot *value) {
  tl_slot chosen;
  tl_nested_place place;
  if (!choose_within(vm, &rest, start, stop, &chosen))
    return false;
  bool ok = true;
  while (ok && tl_is_array(chosen) && rest.count > 1 &&
         rest.steps[0].item_count == 1 && rest.steps[1].field == NULL) {
    tl_slot base = chosen;
    rest = tl_nested_path_below(rest);
    tl_step step = {.item_count = 1, .items = rest.steps->items};
    ok = tl_drop_after(vm,
                       tl_index_get(vm, &base, &step, rest.parts, &chosen) &&
                           tl_keep_made(vm, &chosen),
                       &base);
  }
  if (!ok)
    return false;
  ok = (tl_place_begin(&place, tl_one_value, &chosen, rest, 1) ||
        fail_set_rows(vm, n)) &&
       tl_part_update(vm, place.way, &n->parts[1], value);
  return tl_drop_after(vm, ok, &chosen);
}

// items[start:stop], then the steps that are left.
// Goes on in the content, by a slice of this row in front of the steps. Values
// that may be missing and rows of rows have no such slice that can be written
// to: for them the row's own places are worked out.
static bool set_in_row(tl_vm *vm, tl_nested_path rest, tl_nested *n,
                       int64_t start, int64_t stop, tl_slot *value) {
  tl_slot ends[2] = {tl_weak_int(start), tl_weak_int(stop)};
  tl_nested_place place;
  bool index = rest.count > 0 && rest.steps->field == NULL;
  if (index &&
      (tl_is_form(n->parts[1], TL_FORM_OPTION) ||
       (tl_is_form(n->parts[1], TL_FORM_RAGGED) &&
        (rest.steps->items[0].kind == TL_ITEM_SLICE ||
         (rest.steps->items[0].kind == TL_ITEM_VALUE &&
          !tl_is_nested(rest.parts[0]) && !tl_is_none(rest.parts[0]))))))
    return set_within(vm, rest, n, start, stop, value);
  return (tl_place_begin(&place, tl_one_slice, ends, rest, -1) ||
          fail_set_rows(vm, n)) &&
         tl_part_update(vm, place.way, &n->parts[1], value);
}

// Rows as the array's items have them: it keeps its dtype.
// Fails as an assignment of the items would: the array's dtype does not change
// to make room for a row.
static bool cast_rows(tl_vm *vm, const tl_nested *n, tl_slot items,
                      tl_slot *out) {
  if (!tl_is_array(n->parts[1])) {
    *out = tl_retain(vm, tl_borrow(items));
    return true;
  }
  const tl_array *content = n->parts[1].array;
  int64_t shape[TL_MAX_DIMS];
  memcpy(shape, tl_shape(content), sizeof(int64_t) * (size_t)tl_ndim(content));
  shape[0] = tl_value_length(items, 0);
  tl_array *like =
      tl_array_new(vm, tl_array_dtype(content), tl_ndim(content), shape);
  if (like == NULL)
    return false;
  *out = tl_own_array(like);
  // No items are of any dtype: r[i] = [].
  if (like->size == 0 || tl_array_store_all(vm, like, items))
    return true;
  tl_clear(vm, out);
  return false;
}

// The array's own runs of items, then those of the rows that take the place of
// others: where each row comes from, in one row of items for both.
// A row that is chosen twice has the later of the two given, as with any index
// array.
static void find_runs(const tl_nested *n, const tl_array *chosen,
                      const int64_t *given, int64_t own, int64_t *starts,
                      int64_t *stops) {
  int64_t rows = tl_ragged_rows(n);
  const int64_t *at = tl_ragged_offsets(n);
  const int64_t *row = (const int64_t *)(const void *)chosen->data;
  for (int64_t i = 0; i < rows; i++) {
    starts[i] = at[i];
    stops[i] = at[i + 1];
  }
  for (int64_t k = 0; k < chosen->size; k++) {
    starts[row[k]] = own + given[k];
    stops[row[k]] = own + given[k + 1];
  }
}

// Puts as many other rows, of any lengths, in the place of the chosen ones.
// Made anew as a whole: offsets and content, the given rows' items behind the
// array's own and all gathered in the new order. Fails before [n] changes;
// under the contract #:inplace it fails (kind memory).
static bool replace_rows(tl_vm *vm, tl_nested *n, const tl_array *chosen,
                         tl_slot given) {
  int64_t rows = tl_ragged_rows(n);
  tl_slot at, items = tl_none(), both[2] = {tl_none(), tl_none()}, whole;
  if (!vm->no_reuse && tl_is_under_contract(vm))
    return tl_fail(vm, TALLY_ERR_MEMORY,
                   "#:inplace: rows of another length need a new array");
  if (!tl_ragged_flat(vm, given, &at, &items))
    return false;
  tl_array *offsets = tl_offsets_new(vm, rows);
  tl_array *runs = offsets != NULL ? tl_positions_new(vm, 2 * rows) : NULL;
  both[0] = tl_borrow(n->parts[1]);
  bool ok = runs != NULL && cast_rows(vm, n, items, &both[1]) &&
            tl_value_concat(vm, 2, both, &whole);
  tl_drop(vm, items);
  tl_clear(vm, &both[1]);
  if (ok) {
    int64_t *starts = tl_offsets_data(runs), *to = tl_offsets_data(offsets);
    find_runs(n, chosen, tl_offsets_data(at.array),
              tl_value_length(n->parts[1], 0), starts, starts + rows);
    for (int64_t i = 0; i < rows; i++)
      to[i + 1] = to[i] + starts[rows + i] - starts[i];
    ok = tl_gather_runs(vm, whole, rows, starts, starts + rows, &items);
    tl_drop(vm, whole);
  }
  tl_drop(vm, at);
  tl_array_drop(vm, runs);
  if (!ok) {
    tl_array_drop(vm, offsets);
    return false;
  }
  tl_clear(vm, &n->parts[0]);
  tl_clear(vm, &n->parts[1]);
  n->parts[0] = tl_own_array(offsets);
  n->parts[1] = items;
  return true;
}

// One row of another length.
// The row becomes rows of one, so that its conversion and its errors are those
// of many.
static bool replace_row(tl_vm *vm, tl_nested *n, int64_t i, tl_slot row) {
  int64_t one = 1;
  tl_slot rows;
  tl_array *chosen = tl_numbers_new(vm, 1, &one, i, 1);
  if (chosen == NULL)
    return false;
  bool ok = tl_ragged_of_rows(vm, 1, &row, &rows) &&
            tl_drop_after(vm, replace_rows(vm, n, chosen, rows), &rows);
  tl_array_drop(vm, chosen);
  return ok;
}

// Rows of bools, or rows of such rows.
static bool is_ragged_mask(tl_slot s) {
  if (!tl_is_form(s, TL_FORM_RAGGED))
    return false;
  while (tl_is_form(s, TL_FORM_RAGGED)) s = s.nested->parts[1];
  return tl_is_array(s) && tl_dtype_of(s) == TL_BOOL;
}

// Leaves out what of the content lies before and behind the rows, so that an
// index of the rows is one of the content.
// A failure leaves [n] as it was.
static bool trim(tl_vm *vm, tl_nested *n) {
  const int64_t *at = tl_ragged_offsets(n);
  if (at[0] == 0 && at[tl_ragged_rows(n)] == tl_value_length(n->parts[1], 0))
    return true;
  tl_slot parts[2];
  if (!tl_ragged_flat(vm, tl_lend_nested(n), &parts[0], &parts[1]))
    return false;
  for (int i = 0; i < 2; i++) {
    tl_slot old = n->parts[i];
    tl_nested_put(vm, n, i, &parts[i]);
    tl_drop(vm, old);
  }
  return true;
}

// x[ragged mask] = v: the mask's flat bools index the flat items; of rows of
// rows, its rows the rows.
// Values in rows must have the rows that the mask chooses; others broadcast
// over the chosen items. Fails (kind shape) where rows differ.
static bool set_masked(tl_vm *vm, tl_nested *n, tl_slot mask, tl_slot *value) {
  int64_t row;
  tl_slot flags;
  if (!tl_ragged_agree(n, mask.nested, &row))
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "the mask has other rows than the array, from row %" PRId64
                   " on",
                   row < 0 ? 0 : row);
  tl_slot items = tl_borrow(*value), values = tl_none();
  if (tl_is_form(*value, TL_FORM_RAGGED)) {
    // As many values in each row as the mask has chosen.
    tl_slot chosen;
    if (!tl_value_choose(vm, tl_lend_nested(n), mask, &chosen))
      return false;
    bool agree = tl_ragged_agree(chosen.nested, value->nested, &row);
    tl_drop(vm, chosen);
    if (!agree)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "the mask chooses other rows than the value has, from row "
                     "%" PRId64 " on",
                     row < 0 ? 0 : row);
    if (!tl_ragged_items(vm, *value, &values))
      return false;
    items = tl_borrow(values);
  }
  const int64_t *at = tl_ragged_offsets(n);
  tl_nested_path way = tl_way_one(&flags);
  bool nested = tl_is_nested(n->parts[1]);
  bool ok =
      tl_ragged_items(vm, mask, &flags) &&
      tl_drop_after(
          vm,
          nested ? trim(vm, n) && tl_part_update(vm, way, &n->parts[1], &items)
                 : set_in_row(vm, way, n, at[0], at[tl_ragged_rows(n)], &items),
          &flags);
  tl_drop(vm, values);
  return ok;
}

// Where the items of the array lie in its content, under its own rows.
static bool number_items(tl_vm *vm, const tl_nested *n, tl_slot *out) {
  int64_t length = tl_value_length(n->parts[1], 0);
  tl_slot offsets = tl_borrow(n->parts[0]), items;
  return tl_array_give(tl_numbers_new(vm, 1, &length, 0, 1), &items) &&
         tl_rows_close(vm, true, &offsets, &items, out);
}

// items[places] = value.
static bool set_places(tl_vm *vm, tl_nested *n, tl_slot places,
                       tl_slot *value) {
  tl_slot part = tl_borrow(places);
  return tl_part_update(vm, tl_way_one(&part), &n->parts[1], value);
}

// The numbers of the rows that an index of one axis chooses.
// *out is a dense array of int64, owned.
static bool choose_rows(tl_vm *vm, const tl_nested *n, const tl_step *step,
                        tl_slot *parts, tl_slot *out) {
  int64_t rows = tl_ragged_rows(n);
  tl_slot chosen;
  return choose_numbers(vm, 0, rows, step, parts, &chosen) &&
         tl_drop_after(vm, tl_array_contiguous(vm, &chosen, out), &chosen);
}

// Whether the value has a row for each row, and not an item for each.
static bool has_rows(tl_slot s) {
  return tl_is_form(s, TL_FORM_RAGGED) || tl_value_ndim(s) > 1;
}

// x[rows] = rows of other lengths; *done is false where their lengths agree.
// Rows of the same lengths are written item by item, in place; so the common
// case does not come here further than the comparison.
static bool set_other_rows(tl_vm *vm, tl_nested *n, const tl_step *step,
                           tl_slot *parts, tl_slot chosen, tl_slot value,
                           bool *done) {
  int64_t row;
  tl_slot rows, numbers;
  if (tl_is_form(value, TL_FORM_RAGGED))
    rows = tl_retain(vm, tl_borrow(value));
  else if (!tl_ragged_of_regular(vm, value, &rows))
    return false;
  *done = !tl_ragged_agree(chosen.nested, rows.nested, &row) && row >= 0;
  bool ok = true;
  if (*done)
    ok = choose_rows(vm, n, step, parts, &numbers) &&
         tl_drop_after(vm, replace_rows(vm, n, numbers.array, rows), &numbers);
  return tl_drop_after(vm, ok, &rows);
}

// The rows or items that an index chooses, found by their places.
// The index is applied to the places of all items under the same rows, and what
// that gives says which items are meant, in whichever shape the value has to
// fit.
static bool set_chosen(tl_vm *vm, tl_nested_path w, tl_nested *n,
                       tl_slot *value) {
  tl_slot numbers, chosen, places, spread;
  if (w.count != 1)
    return fail_set_rows(vm, n);
  if (!number_items(vm, n, &numbers))
    return false;
  bool ok = tl_ragged_get(vm, numbers, w.steps, w.parts, &chosen) &&
            tl_keep_made(vm, &chosen);
  tl_drop(vm, numbers);
  if (!ok)
    return false;
  if (!tl_is_form(chosen, TL_FORM_RAGGED))
    return tl_drop_after(vm, set_places(vm, n, chosen, value), &chosen);
  bool done = false;
  bool by_rows = w.steps->items[0].kind == TL_ITEM_VALUE &&
                 tl_is_form(w.parts[0], TL_FORM_RAGGED);
  if (w.steps->item_count == 1 && has_rows(*value) && !by_rows)
    ok = set_other_rows(vm, n, w.steps, w.parts, chosen, *value, &done);
  if (ok && !done && tl_ragged_items(vm, chosen, &places)) {
    ok = tl_ragged_spread(vm, *value, chosen, &spread) &&
         tl_drop_after(vm, set_places(vm, n, places, &spread), &spread);
    tl_drop(vm, places);
  } else {
    ok = ok && done;
  }
  return tl_drop_after(vm, ok, &chosen);
}

// r.x = v on rows of structs: the field of all their items.
static bool set_field(tl_vm *vm, tl_nested_path w, tl_nested *n,
                      tl_slot *value) {
  tl_slot whole = tl_lend_nested(n), spread;
  if (!tl_is_nested(n->parts[1]))
    return tl_fail_no_field(vm, whole, w.steps->field);
  if (w.count > 1)
    return fail_set_rows(vm, n);
  if (!tl_ragged_spread(vm, *value, whole, &spread))
    return false;
  const int64_t *at = tl_ragged_offsets(n);
  return tl_drop_after(
      vm, set_in_row(vm, w, n, at[0], at[tl_ragged_rows(n)], &spread), &spread);
}

// Whether the way goes on within a row of so many items; the error names it.
static bool reaches_item(tl_vm *vm, tl_nested_path rest, int64_t row,
                         int64_t length) {
  int64_t i;
  if (rest.count == 0 || rest.steps->field != NULL ||
      rest.steps->items->kind != TL_ITEM_VALUE ||
      !tl_index_integer(rest.parts[0], &i) || (i >= -length && i < length))
    return true;
  return tl_fail_in_row(vm, i, row, length);
}

// A row may get another length, which makes the array's parts anew.
// By the first item of the place: a field, a ragged mask, an integer (one row,
// or items in it), or any other index (set_chosen). A row of another length
// takes the place of the row; all else is written into the content.
static bool ragged_set(tl_vm *vm, tl_nested_path w, tl_nested *n,
                       tl_slot *value) {
  int64_t i, start, stop, rows = tl_ragged_rows(n);
  if (w.steps->field != NULL)
    return set_field(vm, w, n, value);
  bool is_value = w.steps->items[0].kind == TL_ITEM_VALUE;
  if (is_value && w.count == 1 && w.steps->item_count == 1 &&
      is_ragged_mask(w.parts[0])) {
    return set_masked(vm, n, w.parts[0], value);
  }
  if (!is_value || !tl_index_integer(w.parts[0], &i))
    return set_chosen(vm, w, n, value);
  int64_t k = i < 0 ? i + rows : i;
  if (k < 0 || k >= rows)
    return tl_fail_index(vm, w.parts[0], 0, rows);
  tl_ragged_row(n, k, &start, &stop);
  if (w.steps->item_count > 1) {
    // x[i, j]…: the index without its first item.
    tl_step steps[TL_MOST_STEPS];
    if (w.count > TL_MOST_STEPS)
      return fail_set_rows(vm, n);
    memcpy(steps, w.steps, (size_t)w.count * sizeof *steps);
    steps[0].items++;
    steps[0].item_count--;
    tl_nested_path rest = {steps, w.count, w.parts + 1};
    return reaches_item(vm, rest, k, stop - start) &&
           set_in_row(vm, rest, n, start, stop, value);
  }
  bool is_row = tl_value_ndim(*value) > 0;
  if (w.count == 1 && is_row && tl_value_length(*value, 0) != stop - start)
    return replace_row(vm, n, k, *value);
  return reaches_item(vm, tl_nested_path_below(w), k, stop - start) &&
         set_in_row(vm, tl_nested_path_below(w), n, start, stop, value);
}

const tl_form_ops tl_ragged_ops = {tl_ragged_get, ragged_set,
                                   tl_rows_elementwise, tl_rows_concat};
