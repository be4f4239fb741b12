// Indexing ragged rows, and then what is within them.
//
//   x[i]      a row, a view         x[a:b]   the same items, fewer offsets
//   x[mask]   rows, gathered        x[:, j]  an item of each row
#include "vm/nested/forms.h"

#include <inttypes.h>

#include "vm/nested/parts.h"
#include "vm/nested/ragged.h"

// --- Choosing rows -----------------------------------------------------------

bool tl_ragged_take(tl_vm *vm, const tl_nested *n, const tl_array *places,
                    tl_slot *out) {
  const int64_t *at = tl_ragged_offsets(n);
  const int64_t *row = (const int64_t *)(const void *)places->data;
  int64_t count = places->size;
  tl_array *offsets = tl_offsets_new(vm, count);
  tl_array *runs = offsets != NULL ? tl_positions_new(vm, 2 * count) : NULL;
  bool ok = runs != NULL;
  tl_slot items;
  if (ok) {
    int64_t *to = tl_offsets_data(offsets), *run = tl_offsets_data(runs);
    for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
      run[i] = at[row[i]];
      run[count + i] = at[row[i] + 1];
      to[i + 1] = to[i] + run[count + i] - run[i];
    }
    ok = ok && tl_gather_runs(vm, n->parts[1], count, run, run + count, &items);
    tl_drop(vm, tl_own_array(runs));
  }
  return tl_ragged_close(vm, ok, offsets, &items, out);
}

// Whether an index is a mask of several axes, which rows do not have.
static bool is_wide_mask(tl_index_item item, const tl_slot *parts) {
  return item.kind == TL_ITEM_VALUE && tl_is_array(parts[0]) &&
         tl_dtype_of(parts[0]) == TL_BOOL && tl_ndim(parts[0].array) > 1;
}

// Rows [start, stop): the same items, fewer offsets.
static bool slice_rows(tl_vm *vm, const tl_nested *n, tl_slice slice,
                       tl_slot *out) {
  tl_slot offsets, items = tl_borrow(n->parts[1]);
  return tl_value_slice(vm, n->parts[0], slice.start,
                        slice.start + slice.length + 1, &offsets) &&
         tl_rows_close(vm, true, &offsets, &items, out);
}

// --- Within rows -------------------------------------------------------------

// x[:, j]: one item of each row.
// Fails (kind index) at the first row that has no item [j]; negative numbers
// count from the end of each row.
static bool item_of_rows(tl_vm *vm, const tl_nested *n, int64_t j,
                         tl_slot *out) {
  const int64_t *at = tl_ragged_offsets(n);
  int64_t rows = tl_ragged_rows(n);
  tl_array *places = tl_positions_new(vm, rows);
  bool ok = places != NULL;
  for (int64_t i = 0; ok && i < rows; i++) {
    int64_t length = at[i + 1] - at[i], k = j < 0 ? j + length : j;
    if (k < 0 || k >= length)
      ok = tl_fail_in_row(vm, j, i, length);
    tl_offsets_data(places)[i] = at[i] + k;
  }
  return tl_take_at(vm, ok, n->parts[1], places, out);
}

// x[:, a:b:s]: a slice of each row.
// The slice is resolved for each row's own length, twice: first for the
// offsets, then for the places, which saves an array of slices.
static bool slice_of_rows(tl_vm *vm, const tl_nested *n, tl_index_item item,
                          const tl_slot *parts, tl_slot *out) {
  const int64_t *at = tl_ragged_offsets(n);
  int64_t rows = tl_ragged_rows(n);
  tl_array *offsets = tl_offsets_new(vm, rows);
  if (offsets == NULL)
    return false;
  int64_t *to = tl_offsets_data(offsets);
  bool ok = true;
  for (int64_t i = 0; ok && i < rows; i++) {
    tl_slice slice;
    const tl_slot *read = parts;
    ok = tl_slice_resolve(vm, item, &read, at[i + 1] - at[i], &slice);
    to[i + 1] = to[i] + (ok ? slice.length : 0);
  }
  tl_array *places = ok ? tl_positions_new(vm, to[rows]) : NULL;
  ok = places != NULL;
  for (int64_t i = 0; i < rows && tl_poll_ok(vm, i, &ok); i++) {
    tl_slice slice;
    const tl_slot *read = parts;
    ok = tl_slice_resolve(vm, item, &read, at[i + 1] - at[i], &slice);
    int64_t *place = tl_offsets_data(places) + to[i];
    for (int64_t k = 0; k < slice.length; k++)
      place[k] = at[i] + slice.start + k * slice.step;
  }
  tl_slot items;
  ok = tl_take_at(vm, ok, n->parts[1], places, &items);
  return tl_ragged_close(vm, ok, offsets, &items, out);
}

// Row [row] of an index has other items than the array's, or with -1 their
// number of rows differs (kind shape).
static bool fail_rows(tl_vm *vm, const tl_nested *n, const tl_nested *index,
                      int64_t row) {
  if (row < 0)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "a ragged index has %" PRId64 " rows, the array %" PRId64,
                   tl_ragged_rows(index), tl_ragged_rows(n));
  const int64_t *x = tl_ragged_offsets(n), *y = tl_ragged_offsets(index);
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "row %" PRId64 " of the mask has %" PRId64
                 " items, of the array %" PRId64,
                 row, y[row + 1] - y[row], x[row + 1] - x[row]);
}

// x[ragged mask]: the true items of each row.
// The mask's bools of all rows lie as the items do, so one mask of the flat
// items chooses, and counting the true ones of each row gives the new offsets.
static bool mask_rows(tl_vm *vm, const tl_nested *n, tl_slot mask,
                      tl_slot *out) {
  int64_t row;
  if (!tl_ragged_agree(n, mask.nested, &row))
    return fail_rows(vm, n, mask.nested, row);
  tl_slot of_mask, flags, dense, items, chosen;
  if (!tl_ragged_borrow(vm, mask, &of_mask, &flags))
    return false;
  bool ok = tl_array_contiguous(vm, &flags, &dense);
  tl_drop(vm, flags);
  tl_array *offsets = ok ? tl_true_offsets(vm, tl_offsets_data(of_mask.array),
                                           tl_ragged_rows(n), dense.array)
                         : NULL;
  tl_drop(vm, of_mask);
  bool taken =
      offsets != NULL && tl_ragged_items(vm, tl_lend_nested(n), &items) &&
      tl_drop_after(vm, tl_value_take(vm, items, dense.array, &chosen), &items);
  if (ok)
    tl_drop(vm, dense);
  return tl_ragged_close(vm, taken, offsets, &chosen, out);
}

// x[ragged integers]: items of each row, by their place in it.
// Integers may be of any dtype and are converted first; then each is moved to
// where its row begins. The result has the rows of the index. Fails (kind
// index) for a place that its row has not.
static bool places_in_rows(tl_vm *vm, const tl_nested *n, tl_slot index,
                           tl_slot *out) {
  const int64_t *at = tl_ragged_offsets(n);
  int64_t rows = tl_ragged_rows(n);
  if (tl_ragged_rows(index.nested) != rows)
    return fail_rows(vm, n, index.nested, -1);
  tl_slot offsets, items;
  if (!tl_ragged_borrow(vm, index, &offsets, &items))
    return false;
  tl_array *places = tl_array_cast(vm, items.array, TL_INT64);
  tl_drop(vm, items);
  bool ok = places != NULL;
  const int64_t *from = tl_offsets_data(offsets.array);
  for (int64_t i = 0; ok && i < rows; i++) {
    int64_t length = at[i + 1] - at[i];
    for (int64_t k = from[i]; ok && k < from[i + 1]; k++) {
      int64_t *place = &tl_offsets_data(places)[k];
      int64_t j = *place < 0 ? *place + length : *place;
      if (j < 0 || j >= length)
        ok = tl_fail_in_row(vm, *place, i, length);
      *place = at[i] + j;
    }
  }
  ok = tl_take_at(vm, ok, n->parts[1], places, &items);
  return tl_rows_close(vm, ok, &offsets, &items, out);
}

// x[ragged mask with missing values]: missing counts as false.
static bool option_rows(tl_vm *vm, const tl_nested *n, const tl_nested *mask,
                        tl_slot *out) {
  tl_slot at = tl_borrow(mask->parts[0]), known, whole;
  return tl_option_known(vm, mask->parts[1].nested, &known) &&
         tl_rows_close(vm, true, &at, &known, &whole) &&
         tl_drop_after(vm, mask_rows(vm, n, whole, out), &whole);
}

// An index of what is in all rows, which stay.
typedef struct within {
  const tl_step *step;
  tl_slot *parts;
} within;

// A tl_items_map.
static bool index_map(tl_vm *vm, void *context, tl_slot items, tl_slot *out) {
  const within *w = context;
  return tl_value_index(vm, items, w->step, w->parts, out);
}

// The rows keep their lengths, so [step] must leave the axis of the items as it
// is: (:, …), or a mask of rows within.
static bool index_items(tl_vm *vm, tl_slot rows, const tl_step *step,
                        tl_slot *parts, tl_slot *out) {
  return tl_map_items(vm, rows, index_map, &(within){step, parts}, out);
}

// x[rows of rows of bools or integers]: the inner rows by the inner ones.
static bool index_below(tl_vm *vm, const tl_nested *n, tl_slot index,
                        tl_slot *out) {
  int64_t row;
  if (!tl_ragged_agree(n, index.nested, &row))
    return fail_rows(vm, n, index.nested, row);
  tl_slot inner;
  return tl_ragged_items(vm, index, &inner) &&
         tl_drop_after(
             vm, index_items(vm, tl_lend_nested(n), &tl_index_one, &inner, out),
             &inner);
}

// By what is in the index's rows: bools choose items of each row, integers are
// places in it, bools that may be missing count as false there, and rows go
// one level deeper. Fails (kind type) for others.
static bool ragged_index(tl_vm *vm, const tl_nested *n, tl_slot index,
                         tl_slot *out) {
  tl_slot items = index.nested->parts[1];
  if (tl_is_array(items) && tl_ndim(items.array) == 1) {
    tl_dtype dtype = tl_array_dtype(items.array);
    if (dtype == TL_BOOL)
      return mask_rows(vm, n, index, out);
    if (tl_dtype_is_integer(dtype))
      return places_in_rows(vm, n, index, out);
  }
  if (tl_is_form(items, TL_FORM_OPTION) &&
      tl_dtype_of(items.nested->parts[1]) == TL_BOOL)
    return option_rows(vm, n, index.nested, out);
  if (tl_has_rows(items))
    return index_below(vm, n, index, out);
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "a ragged index is of bools or integers, var * bool or var * "
                 "int64: got %s",
                 tl_described(vm, index));
}

// --- Ragged rows -------------------------------------------------------------

bool tl_fail_rows(tl_vm *vm, tally_status kind, const tl_nested *n,
                  const char *ways) {
  const char *text = tl_described(vm, tl_lend_nested(n));
  return tl_fail(vm, kind, "%s is %s", text, ways);
}

// The error of an index that rows do not have, with those that they have.
static bool fail_index(tl_vm *vm, const tl_nested *n) {
  return tl_fail_rows(vm, TALLY_ERR_INDEX, n,
                      "indexed by rows, then within them: x[i], x[i, j], "
                      "x[mask], x[:, j], x[:, a:b]");
}

// found[:, rest]; [within]: of what is in its rows, which stay.
static bool index_behind(tl_vm *vm, tl_slot found, bool within,
                         const tl_step *step, tl_slot *parts, tl_slot *out) {
  if (within)
    return index_items(vm, found, step, parts, out);
  return tl_value_index(vm, found, step, parts, out) && tl_keep_made(vm, out);
}

// The second index and what follows it, of all the rows of [base].
static bool within_rows(tl_vm *vm, tl_slot base, tl_step rest, tl_slot *parts,
                        tl_slot *out) {
  tl_index_item item = rest.items[0];
  tl_slot found, *to = rest.item_count == 1 ? out : &found;
  int64_t j;
  bool ok;
  if (item.kind == TL_ITEM_SLICE)
    ok = slice_of_rows(vm, base.nested, item, parts, to);
  else if (item.kind == TL_ITEM_VALUE && tl_index_integer(parts[0], &j))
    ok = item_of_rows(vm, base.nested, j, to);
  else
    ok = fail_index(vm, base.nested);
  if (!ok || rest.item_count == 1)
    return ok;
  // What is left indexes the axes behind: (:, rest).
  tl_nested_place place;
  ok = (tl_place_begin(&place, tl_whole_axis, NULL,
                       (tl_nested_path){&rest, 1, parts}, 1) ||
        fail_index(vm, base.nested)) &&
       index_behind(vm, found, item.kind == TL_ITEM_SLICE, place.steps,
                    place.parts, out);
  return tl_drop_after(vm, ok, &found);
}

// x[i], a view of the content. Negative i counts from the end; fails (kind
// index) beyond the rows.
static bool row_at(tl_vm *vm, const tl_nested *n, tl_slot index, tl_slot *out) {
  int64_t i, start, stop, rows = tl_ragged_rows(n);
  tl_index_integer(index, &i);
  int64_t k = i < 0 ? i + rows : i;
  if (k < 0 || k >= rows)
    return tl_fail_index(vm, index, 0, rows);
  tl_ragged_row(n, k, &start, &stop);
  return tl_value_slice(vm, n->parts[1], start, stop, out);
}

// x[i, rest], [row] being x[i].
static bool index_row(tl_vm *vm, tl_slot row, int64_t i, const tl_step *rest,
                      tl_slot *parts, tl_slot *out) {
  int64_t j, length = tl_value_length(row, 0);
  if (rest->items[0].kind == TL_ITEM_VALUE && tl_index_integer(parts[0], &j) &&
      (j < -length || j >= length))
    return tl_fail_in_row(vm, j, i, length);
  return tl_index_get(vm, &row, rest, parts, out);
}

// The first item of the index chooses rows, the second is within them, the
// others are of the axes behind:
//
//   integer              the row, and the rest of that row as of any array
//   slice of step 1      offsets of the same content, nothing is copied
//   ragged index         items of each row (ragged_index)
//   others               as rows in a regular order of one axis
bool tl_ragged_get(tl_vm *vm, tl_slot base, const tl_step *step, tl_slot *parts,
                   tl_slot *out) {
  const tl_nested *n = base.nested;
  tl_index_item item = step->items[0];
  tl_step rest = {.item_count = (uint16_t)(step->item_count - 1),
                  .items = step->items + 1};
  const tl_slot *read = parts;
  tl_slot *more = parts + tl_item_parts(item), rows;
  int64_t i;
  tl_slot *to = rest.item_count == 0 ? out : &rows;
  bool is_value = item.kind == TL_ITEM_VALUE, ok;
  if (is_value && tl_index_integer(parts[0], &i))
    return row_at(vm, n, parts[0], to) &&
           (rest.item_count == 0 ||
            tl_drop_after(vm,
                          index_row(vm, tl_borrow(rows), i, &rest, more, out),
                          &rows));
  if (is_value && tl_is_form(parts[0], TL_FORM_RAGGED)) {
    ok = ragged_index(vm, n, parts[0], to);
  } else if (is_wide_mask(item, parts)) {
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "a mask of rows has one bool for each row, or rows of bools "
                   "as from_regular(mask) gives them: got %s",
                   tl_described(vm, parts[0]));
  } else if (is_value && !tl_is_array(parts[0]) && !tl_is_range(parts[0]) &&
             !tl_is_none(parts[0])) {
    return fail_index(vm, n);
  } else {
    tl_slice slice = {.step = 0};
    if (item.kind == TL_ITEM_SLICE &&
        !tl_slice_resolve(vm, item, &read, tl_ragged_rows(n), &slice))
      return false;
    if (slice.step != 1)
      return tl_grid_get_rows(vm, base, step, parts, out);
    ok = slice_rows(vm, n, slice, to);
  }
  return ok &&
         (rest.item_count == 0 ||
          tl_drop_after(vm, within_rows(vm, rows, rest, more, out), &rows));
}
