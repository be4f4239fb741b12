// Rows of different lengths over one row of items. See ragged.h.
#include "vm/nested/ragged.h"

#include <inttypes.h>

#include "vm/nested/nested_join.h"

// --- Opening -----------------------------------------------------------------

// Rows of a slice begin somewhere within the content. Whoever takes all items
// as one array needs offsets from 0, and only then are they copied:
//
//   offsets 3 5 9, content of 12     items content[3:9], offsets 0 2 6
bool tl_ragged_borrow(tl_vm *vm, tl_slot ragged, tl_slot *offsets,
                      tl_slot *items) {
  const tl_nested *n = ragged.nested;
  const int64_t *at = tl_ragged_offsets(n);
  int64_t rows = tl_ragged_rows(n), first = at[0];
  int64_t length = tl_value_length(n->parts[1], 0);
  *offsets = tl_borrow(n->parts[0]);
  *items = tl_borrow(n->parts[1]);
  if (first == 0 && at[rows] == length)
    return true;
  if (!tl_value_slice(vm, n->parts[1], first, at[rows], items))
    return false;
  if (first == 0)
    return true;
  tl_array *moved = tl_offsets_new(vm, rows);
  for (int64_t i = 0; i <= rows && tl_array_polled(vm, &moved, i); i++)
    tl_offsets_data(moved)[i] = at[i] - first;
  if (moved == NULL) {
    tl_drop(vm, *items);
    return false;
  }
  *offsets = tl_own_array(moved);
  return true;
}

// Both outlive the array: what was borrowed is counted, and views count their
// block.
bool tl_ragged_flat(tl_vm *vm, tl_slot ragged, tl_slot *offsets,
                    tl_slot *items) {
  return tl_ragged_borrow(vm, ragged, offsets, items) &&
         tl_keep_made(vm, offsets) && tl_keep_made(vm, items);
}

// As above where the offsets are not wanted, so that no copy of them is made.
// *items counts what it shows, so it may outlive the array.
bool tl_ragged_items(tl_vm *vm, tl_slot ragged, tl_slot *items) {
  const int64_t *at = tl_ragged_offsets(ragged.nested);
  int64_t rows = tl_ragged_rows(ragged.nested);
  tl_slot content = ragged.nested->parts[1];
  *items = tl_borrow(content);
  if (at[0] != 0 || at[rows] != tl_value_length(content, 0))
    if (!tl_value_slice(vm, content, at[0], at[rows], items))
      return false;
  return tl_keep_made(vm, items);
}

// The rows keep their lengths, so [map] must give as many items as it gets.
bool tl_map_items(tl_vm *vm, tl_slot ragged, tl_items_map *map, void *context,
                  tl_slot *out) {
  tl_slot offsets, items, made;
  if (!tl_ragged_flat(vm, ragged, &offsets, &items))
    return false;
  bool ok = map(vm, context, items, &made) && tl_keep_made(vm, &made);
  tl_drop(vm, items);
  return tl_rows_close(vm, ok, &offsets, &made, out);
}

// --- Gathering ---------------------------------------------------------------

// Rows of a dense array of plain items: memory is copied as it lies.
// [total] is the sum of all lengths; runs that are empty are passed over.
static bool copy_runs(tl_vm *vm, const tl_array *from, int64_t total,
                      int64_t count, const int64_t *starts,
                      const int64_t *stops, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  size_t item = tl_itemsize(tl_array_dtype(from));
  shape[0] = total;
  for (int i = 1; i < tl_ndim(from); i++) {
    shape[i] = tl_shape(from)[i];
    item *= (size_t)shape[i];
  }
  tl_array *a = tl_array_new(vm, tl_array_dtype(from), tl_ndim(from), shape);
  if (a == NULL)
    return false;
  char *to = a->data;
  bool ok = true;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
    if (stops[i] <= starts[i])
      continue;
    size_t n = (size_t)(stops[i] - starts[i]) * item;
    ok = tl_copy_bytes(vm, to, from->data + (size_t)starts[i] * item, n);
    to += n;
  }
  return tl_array_finish(vm, ok, a, out);
}

// Two ways: runs of bytes where the items are dense numbers, which is the
// common one and fast; else a list of all places, and a gather by those. Runs
// with stop before start are empty. Fails (kind shape) where the total is
// beyond int64.
bool tl_gather_runs(tl_vm *vm, tl_slot content, int64_t count,
                    const int64_t *starts, const int64_t *stops, tl_slot *out) {
  int64_t total = 0;
  for (int64_t i = 0; i < count; i++)
    if (stops[i] > starts[i] &&
        __builtin_add_overflow(total, stops[i] - starts[i], &total)) {
      return tl_fail(vm, TALLY_ERR_SHAPE, "the rows have too many items");
    }
  if (tl_is_array(content) && tl_is_contiguous(content.array) &&
      tl_array_dtype(content.array) != TL_STRING) {
    return copy_runs(vm, content.array, total, count, starts, stops, out);
  }
  tl_array *places = tl_positions_new(vm, total);
  for (int64_t i = 0, at = 0; i < count && tl_array_polled(vm, &places, i); i++)
    for (int64_t j = starts[i]; j < stops[i]; j++)
      tl_offsets_data(places)[at++] = j;
  return tl_take_at(vm, true, content, places, out);
}

// --- Making ------------------------------------------------------------------

// Offsets 0, width, 2 * width, …
// The offsets are written although they follow from the width, so that all rows
// have one form.
bool tl_ragged_of_width(tl_vm *vm, int64_t rows, int64_t width, tl_slot *items,
                        tl_slot *out) {
  tl_array *offsets = tl_offsets_new(vm, rows);
  for (int64_t i = 0; i < rows && tl_array_polled(vm, &offsets, i); i++)
    tl_offsets_data(offsets)[i + 1] = (i + 1) * width;
  return tl_ragged_new(vm, offsets, items, out);
}

// A matrix read as rows: its items as one axis, copied where they are
// not dense.
bool tl_ragged_of_regular(tl_vm *vm, tl_slot regular, tl_slot *out) {
  int64_t rows = tl_value_length(regular, 0);
  int64_t width = tl_value_length(regular, 1);
  tl_slot items;
  return tl_value_join_axes(vm, regular, &items) &&
         tl_ragged_of_width(vm, rows, width, &items, out);
}

// Fails (kind type) where the rows' items cannot be joined.
bool tl_ragged_of_rows(tl_vm *vm, int64_t count, const tl_slot *rows,
                       tl_slot *out) {
  tl_array *offsets = tl_offsets_new(vm, count);
  for (int64_t i = 0; i < count && tl_array_polled(vm, &offsets, i); i++) {
    int64_t *to = tl_offsets_data(offsets) + i;
    to[1] = to[0] + tl_value_length(rows[i], 0);
  }
  tl_slot items;
  bool ok = offsets != NULL && tl_value_concat(vm, count, rows, &items);
  return tl_ragged_close(vm, ok, offsets, &items, out);
}

// One level of rows for each fixed axis behind the first, from the inside out:
//
//   2 * 3 * var     6 rows, then 2 rows of 3 of those     2 * var * var
bool tl_grid_as_vars(tl_vm *vm, tl_slot s, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  if (!tl_grid_rows(vm, s, out))
    return false;
  for (int i = tl_value_shape(s, shape) - 1;
       i > 0 && tl_is_form(s, TL_FORM_GRID); i--) {
    tl_slot rows = *out;
    if (!tl_ragged_of_width(vm, tl_shape_count(i, shape), shape[i], &rows, out))
      return false;
  }
  return true;
}

// Shape 2 * 3 * 4, first 1, last 2: all items in rows of 4, those in rows of 3,
// then what is before [first] as fixed axes again: 2 * var * var.
bool tl_value_as_vars(tl_vm *vm, tl_slot s, int first, int last, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS], all;
  tl_slot flat, next;
  tl_value_shape(s, shape);
  all = tl_shape_count(last, shape);
  if (!tl_value_reshape(vm, s, last, 1, &all, &flat))
    return false;
  bool ok = tl_ragged_of_regular(vm, flat, &next);
  tl_clear(vm, &flat);
  for (int i = last - 1; ok && i >= first; i--) {
    tl_slot rows = next;
    ok = tl_ragged_of_width(vm, tl_shape_count(i, shape), shape[i], &rows,
                            &next);
  }
  return ok && tl_value_split_axis(vm, &next, first, shape, out);
}

// --- Comparing ---------------------------------------------------------------

// Two arrays over the same offsets, the usual case in an expression, are known
// to agree by the address alone. Else the lengths count, not where rows begin.
bool tl_ragged_agree(const tl_nested *a, const tl_nested *b, int64_t *row) {
  int64_t rows = tl_ragged_rows(a);
  const int64_t *x = tl_ragged_offsets(a), *y = tl_ragged_offsets(b);
  *row = -1;
  if (rows != tl_ragged_rows(b))
    return false;
  if (x == y)
    return true;
  int64_t shift = y[0] - x[0];
  for (int64_t i = 1; i <= rows; i++) {
    if (y[i] - x[i] == shift)
      continue;
    *row = i - 1;
    return false;
  }
  return true;
}

bool tl_fail_in_row(tl_vm *vm, int64_t index, int64_t row, int64_t length) {
  return tl_fail(vm, TALLY_ERR_INDEX,
                 "index %" PRId64 " is out of range for row %" PRId64
                 ", which has %" PRId64 " item%s",
                 index, row, length, length == 1 ? "" : "s");
}

// --- Joining -----------------------------------------------------------------

// Items behind items, and the offsets of each moved by what is before it. The
// content of each is cut to its rows first, so that no item of another row
// comes along.
static bool join_ragged(tl_vm *vm, int64_t count, const tl_slot *items,
                        tl_slot *out) {
  int64_t rows = 0;
  for (int64_t i = 0; i < count; i++) rows += tl_ragged_rows(items[i].nested);
  tl_array *offsets = tl_offsets_new(vm, rows);
  tl_slot *flat = offsets != NULL ? tl_slots_new(vm, count) : NULL;
  bool ok = flat != NULL;
  int64_t *to = ok ? tl_offsets_data(offsets) : NULL;
  for (int64_t i = 0; ok && i < count; i++) {
    tl_slot at;
    ok = tl_ragged_flat(vm, items[i], &at, &flat[i]);
    if (!ok)
      break;
    int64_t n = tl_ragged_rows(items[i].nested), base = *to;
    const int64_t *from = tl_offsets_data(at.array);
    for (int64_t k = 1; k <= n && tl_poll_ok(vm, k, &ok); k++)
      to[k] = base + from[k];
    to += n;
    tl_drop(vm, at);
  }
  tl_slot content;
  ok = ok && tl_value_concat(vm, count, flat, &content);
  tl_slots_free(vm, flat, count);
  return tl_ragged_close(vm, ok, offsets, &content, out);
}

// Rows as they are, of a regular value of two axes or more those of one length.
// A tl_opener; what it gives of rows is borrowed.
static bool as_rows(tl_vm *vm, tl_slot s, tl_slot *out) {
  *out = tl_borrow(s);
  return tl_is_form(s, TL_FORM_RAGGED) || tl_ragged_of_regular(vm, s, out);
}

// Matrices beside rows become rows. Fails (kind type) for a vector, which might
// be one row as well as many.
bool tl_rows_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                    tl_slot *out) {
  int64_t model = 0;  // the first that is ragged
  while (!tl_is_form(items[model], TL_FORM_RAGGED)) model++;
  for (int64_t i = 0; i < count; i++)
    if (!tl_is_form(items[i], TL_FORM_RAGGED) && tl_value_ndim(items[i]) < 2)
      return tl_fail_join(vm, items, i > 0 ? i : model);
  return tl_join_opened(vm, as_rows, join_ragged, count, items, out);
}
