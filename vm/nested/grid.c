// Ragged rows in a regular order. See grid.h.
#include "vm/nested/grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vm/engine/engine.h"
#include "vm/error.h"
#include "vm/kernels/kernels.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/ragged.h"
#include "vm/index/select.h"
#include "vm/vm.h"

// --- Places -----------------------------------------------------------------

static tl_array *places_of(const tl_nested *n) {
  return n->parts[0].array;
}

static int64_t product(int ndim, const int64_t *shape) {
  int64_t size = 1;
  for (int i = 0; i < ndim; i++) size *= shape[i];
  return size;
}

// The places in row-major order, along one axis. *out is owned.
static bool flat_places(tl_vm *vm, const tl_array *places, tl_slot *out) {
  tl_slot lent = {.tag = tl_array_tag(places), .array = (tl_array *)places};
  tl_slot dense;
  if (!tl_array_contiguous(vm, &lent, &dense))
    return false;
  const tl_array *a = dense.array;
  int64_t length = a->size, stride = (int64_t)sizeof(int64_t);
  tl_array *view =
      tl_view_new(vm, &dense, TL_INT64, a->data, 1, &length, &stride);
  tl_drop(vm, dense);
  if (view != NULL)
    *out = tl_own_array(view);
  return view != NULL;
}

// Whether the places are those of all rows, in order.
static bool is_in_order(const tl_array *places, const tl_nested *rows) {
  if (!tl_is_contiguous(places) || places->size != tl_ragged_rows(rows))
    return false;
  const int64_t *at = (const int64_t *)(const void *)places->data;
  for (int64_t i = 0; i < places->size; i++) {
    if (at[i] != i)
      return false;
  }
  return true;
}

static bool rows_at(tl_vm *vm, const tl_array *places, tl_slot rows,
                    tl_slot *out) {
  if (is_in_order(places, rows.nested)) {
    *out = tl_retain(vm, tl_borrow(rows));
    return true;
  }
  tl_slot flat;
  if (!flat_places(vm, places, &flat))
    return false;
  bool ok = tl_value_take(vm, rows, flat.array, out);
  tl_drop(vm, flat);
  return ok;
}

bool tl_grid_of_places(tl_vm *vm, tl_slot places, tl_slot rows, tl_slot *out) {
  if (!tl_is_array(places))
    return tl_nested_at(vm, rows, places.i, out);
  if (tl_ndim(places.array) == 1)
    return rows_at(vm, places.array, rows, out);
  tl_slot first = tl_borrow(places), second = tl_borrow(rows);
  return tl_nested_pair(vm, TL_FORM_GRID, tl_ndim(places.array), &first,
                        &second, out);
}

bool tl_grid_of_shape(tl_vm *vm, int ndim, const int64_t *shape, tl_slot *rows,
                      tl_slot *out) {
  if (ndim == 1) {
    tl_copy_slot(out, rows);
    rows->tag &= ~TL_OWNED;
    return true;
  }
  tl_array *places = tl_array_new(vm, TL_INT64, ndim, shape);
  if (places == NULL) {
    tl_clear(vm, rows);
    return false;
  }
  tl_kernels()->iota(tl_offsets_data(places), 0, 1, (size_t)places->size);
  tl_slot first = tl_own_array(places);
  return tl_nested_pair(vm, TL_FORM_GRID, ndim, &first, rows, out);
}

bool tl_grid_rows(tl_vm *vm, const tl_nested *n, tl_slot *out) {
  return rows_at(vm, places_of(n), n->parts[1], out);
}

// [rows] as rows of so many rows each. Takes them on every path.
static bool group_rows(tl_vm *vm, int64_t count, int64_t each, tl_slot *rows,
                       tl_slot *out) {
  tl_array *offsets = tl_offsets_new(vm, count);
  if (offsets == NULL) {
    tl_clear(vm, rows);
    return false;
  }
  tl_kernels()->iota(tl_offsets_data(offsets), 0, each, (size_t)count + 1);
  return tl_ragged_new(vm, offsets, rows, out);
}

bool tl_grid_as_vars(tl_vm *vm, const tl_nested *n, tl_slot *out) {
  const int64_t *shape = tl_shape(places_of(n));
  if (!tl_grid_rows(vm, n, out))
    return false;
  for (int i = tl_nested_ndim(n) - 1; i > 0; i--) {
    tl_slot rows = *out;
    if (!group_rows(vm, product(i, shape), shape[i], &rows, out))
      return false;
  }
  return true;
}

// --- Shapes -----------------------------------------------------------------

// A view of dense items, which are dropped, in another shape.
static bool view_shaped(tl_vm *vm, tl_slot dense, int ndim,
                        const int64_t *shape, tl_slot *out) {
  const tl_array *a = dense.array;
  int64_t strides[TL_MAX_DIMS];
  tl_shape_strides(ndim, shape, tl_itemsize(tl_array_dtype(a)), strides);
  tl_array *view =
      tl_view_new(vm, &dense, tl_array_dtype(a), a->data, ndim, shape, strides);
  tl_drop(vm, dense);
  if (view == NULL)
    return false;
  *out = tl_own_array(view);
  tl_hold(vm, *out, TL_CAUSE_VIEW);
  return true;
}

static bool split_array(tl_vm *vm, tl_slot *s, int ndim, const int64_t *shape,
                        tl_slot *out) {
  tl_slot dense;
  int64_t lengths[TL_MAX_DIMS];
  int total = ndim + tl_ndim(s->array) - 1;
  if (total > TL_MAX_DIMS) {
    return tl_fail(vm, TALLY_ERR_SHAPE, "an array has at most %d dimensions",
                   TL_MAX_DIMS);
  }
  if (!tl_array_contiguous(vm, s, &dense))
    return false;
  const tl_array *a = dense.array;
  for (int i = 0; i < total; i++)
    lengths[i] = i < ndim ? shape[i] : tl_shape(a)[i - ndim + 1];
  return view_shaped(vm, dense, total, lengths, out);
}

// Every part of a struct or of values that may be missing; of categories and
// pointers the places alone.
static bool split_parts(tl_vm *vm, const tl_nested *n, int ndim,
                        const int64_t *shape, tl_slot *out) {
  tl_nested *made = tl_nested_new(
      vm, tl_nested_form(n), ndim + tl_nested_ndim(n) - 1, n->count, n->layout);
  bool codes = tl_nested_form(n) == TL_FORM_CATEGORY ||
               tl_nested_form(n) == TL_FORM_POINTER;
  for (int64_t i = 0; made != NULL && i < n->count; i++) {
    tl_slot part = tl_borrow(n->parts[i]), whole = tl_none();
    if (codes && i == 1) {
      tl_nested_put(vm, made, i, &part);
    } else if (tl_value_split_axis(vm, &part, ndim, shape, &whole)) {
      tl_nested_put(vm, made, i, &whole);
    } else {
      tl_drop(vm, tl_own_nested(made));
      made = NULL;
    }
  }
  if (made != NULL)
    *out = tl_own_nested(made);
  return made != NULL;
}

bool tl_value_split_axis(tl_vm *vm, tl_slot *s, int ndim, const int64_t *shape,
                         tl_slot *out) {
  bool ok;
  if (tl_is_form(*s, TL_FORM_RAGGED)) {
    tl_slot rows = *s;
    s->tag &= ~TL_OWNED;
    return tl_grid_of_shape(vm, ndim, shape, &rows, out);
  }
  if (tl_is_form(*s, TL_FORM_GRID)) {
    tl_slot places, lent = tl_borrow(s->nested->parts[0]);
    ok = split_array(vm, &lent, ndim, shape, &places);
    if (ok) {
      ok = tl_grid_of_places(vm, places, s->nested->parts[1], out);
      tl_drop(vm, places);
    }
  } else if (tl_is_nested(*s)) {
    ok = split_parts(vm, s->nested, ndim, shape, out);
  } else {
    tl_slot lent = tl_borrow(*s);
    ok = split_array(vm, &lent, ndim, shape, out);
  }
  tl_clear(vm, s);
  return ok;
}

static bool join_array(tl_vm *vm, tl_slot s, tl_slot *out) {
  tl_slot lent = tl_borrow(s), dense;
  int64_t lengths[TL_MAX_DIMS];
  if (!tl_array_contiguous(vm, &lent, &dense))
    return false;
  const tl_array *a = dense.array;
  int ndim = tl_ndim(a) - 1;
  for (int i = 0; i < ndim; i++) lengths[i] = tl_shape(a)[i + 1];
  lengths[0] *= tl_shape(a)[0];
  return view_shaped(vm, dense, ndim, lengths, out);
}

bool tl_value_join_axes(tl_vm *vm, tl_slot s, tl_slot *out) {
  if (tl_is_array(s))
    return join_array(vm, s, out);
  const tl_nested *n = s.nested;
  tl_form form = tl_nested_form(n);
  if (form == TL_FORM_GRID) {
    tl_slot places;
    if (!join_array(vm, n->parts[0], &places))
      return false;
    bool ok = tl_grid_of_places(vm, places, n->parts[1], out);
    tl_drop(vm, places);
    return ok;
  }
  tl_nested *made =
      tl_nested_new(vm, form, tl_nested_ndim(n) - 1, n->count, n->layout);
  for (int64_t i = 0; made != NULL && i < n->count; i++) {
    tl_slot part = tl_borrow(n->parts[i]);
    bool whole =
        i == 1 && (form == TL_FORM_CATEGORY || form == TL_FORM_POINTER);
    if (whole || tl_value_join_axes(vm, n->parts[i], &part)) {
      tl_nested_put(vm, made, i, &part);
    } else {
      tl_drop(vm, tl_own_nested(made));
      made = NULL;
    }
  }
  if (made != NULL)
    *out = tl_own_nested(made);
  return made != NULL;
}

bool tl_value_flatten(tl_vm *vm, tl_slot s, tl_slot *out) {
  tl_slot flat = tl_retain(vm, tl_borrow(s)), next;
  while (tl_value_ndim(flat) > 1) {
    bool ok = tl_value_join_axes(vm, flat, &next);
    tl_drop(vm, flat);
    if (!ok)
      return false;
    tl_copy_slot(&flat, &next);
  }
  tl_copy_slot(out, &flat);
  return true;
}

bool tl_value_as_vars(tl_vm *vm, tl_slot s, int first, int last, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  tl_slot flat = tl_retain(vm, tl_borrow(s)), next;
  for (int i = 0; i <= last; i++) shape[i] = tl_value_length(s, i);
  bool ok = true;
  for (int i = 1; ok && i < last; i++) {
    ok = tl_value_join_axes(vm, flat, &next);
    tl_clear(vm, &flat);
    if (ok)
      tl_copy_slot(&flat, &next);
  }
  ok = ok && tl_ragged_of_regular(vm, flat, &next);
  tl_clear(vm, &flat);
  for (int i = last - 1; ok && i >= first; i--) {
    tl_slot rows = next;
    ok = group_rows(vm, product(i, shape), shape[i], &rows, &next);
  }
  return ok && tl_value_split_axis(vm, &next, first, shape, out);
}

// What has an item for each of the places in the order of their rows: the same
// in their shape. Takes it on every path.
static bool in_shape(tl_vm *vm, const tl_array *places, tl_slot *s,
                     tl_slot *out) {
  if (tl_ndim(places) > 1)
    return tl_value_split_axis(vm, s, tl_ndim(places), tl_shape(places), out);
  tl_copy_slot(out, s);
  return true;
}

// --- Indexing ---------------------------------------------------------------

enum { MOST_ITEMS = 2 * TL_MAX_DIMS + 2 };

// An index in two: of the fixed axes, and within the rows.
typedef struct cut {
  tl_index_item items[MOST_ITEMS];
  int lead, count;
  int lead_parts;  // values that the first ones take
} cut;

static int axes_of(tl_index_item item, const tl_slot *part) {
  if (item.kind != TL_ITEM_VALUE)
    return item.kind == TL_ITEM_SLICE;
  bool is_mask = tl_is_array(*part) && tl_dtype_of(*part) == TL_BOOL;
  if (is_mask || tl_is_form(*part, TL_FORM_GRID))
    return tl_value_ndim(*part);
  return tl_is_none(*part) ? 0 : 1;
}

static bool fail_index(tl_vm *vm, const tl_nested *n) {
  char text[TL_DESCRIBE];
  tl_nested_describe(n, text, sizeof text);
  return tl_fail(vm, TALLY_ERR_INDEX,
                 "%s is indexed by its %d fixed axes, then within the rows",
                 text, tl_nested_ndim(n));
}

// An ellipsis stands for what the other items leave of the fixed axes and the
// rows.
static bool cut_index(tl_vm *vm, const tl_nested *n, const tl_step *step,
                      const tl_slot *parts, cut *out) {
  tl_slot whole = {.tag = TL_TAG_NESTED, .nested = (tl_nested *)n};
  int axes = 0, ndim = tl_nested_ndim(n), all = tl_value_axes(whole);
  const tl_slot *at = parts;
  for (int i = 0; i < step->item_count; i++) {
    axes += axes_of(step->items[i], at);
    at += tl_item_parts(step->items[i]);
  }
  *out = (cut){.lead = -1};
  int covered = 0;
  at = parts;
  for (int i = 0; i < step->item_count; i++) {
    tl_index_item item = step->items[i];
    int times = item.kind == TL_ITEM_ELLIPSIS ? all - axes : 1;
    if (item.kind == TL_ITEM_ELLIPSIS)
      item = (tl_index_item){.kind = TL_ITEM_SLICE};
    for (; times > 0; times--) {
      if (covered == ndim && out->lead < 0) {
        out->lead = out->count;
        out->lead_parts = (int)(at - parts);
      }
      if (out->count == MOST_ITEMS)
        return fail_index(vm, n);
      out->items[out->count++] = item;
      covered += axes_of(item, at);
      if (covered > ndim && out->lead < 0)
        return fail_index(vm, n);
    }
    at += tl_item_parts(step->items[i]);
  }
  if (out->lead < 0) {
    out->lead = out->count;
    out->lead_parts = (int)(at - parts);
  }
  return true;
}

// (:, rest) of ragged rows.
static bool within(tl_vm *vm, tl_slot rows, const cut *c, tl_slot *parts,
                   tl_slot *out) {
  tl_index_item items[MOST_ITEMS + 1] = {{.kind = TL_ITEM_SLICE}};
  int rest = c->count - c->lead;
  memcpy(items + 1, c->items + c->lead, (size_t)rest * sizeof *items);
  tl_step step = {.item_count = (uint16_t)(rest + 1), .items = items};
  if (!tl_ragged_get(vm, rows, &step, parts + c->lead_parts, out))
    return false;
  if (!tl_is_owned(*out))
    *out = tl_retain(vm, *out);
  tl_hold(vm, *out, TL_CAUSE_VIEW);
  return true;
}

// x[rows of bools or integers], for each of the array's rows.
static bool get_by_rows(tl_vm *vm, const tl_nested *n, tl_slot index,
                        tl_slot *out) {
  const tl_array *x = places_of(n), *y = places_of(index.nested);
  bool same = tl_ndim(x) == tl_ndim(y);
  for (int i = 0; same && i < tl_ndim(x); i++)
    same = tl_shape(x)[i] == tl_shape(y)[i];
  if (!same) {
    char a[TL_DESCRIBE], b[TL_DESCRIBE];
    tl_nested_describe(n, a, sizeof a);
    return tl_fail(vm, TALLY_ERR_SHAPE, "the index %s has other rows than %s",
                   tl_describe(index, b, sizeof b), a);
  }
  tl_slot rows, chosen = tl_none(), made;
  if (!tl_grid_rows(vm, n, &rows))
    return false;
  static const tl_index_item item = {.kind = TL_ITEM_VALUE};
  tl_step step = {.item_count = 1, .items = &item};
  bool ok = tl_grid_rows(vm, index.nested, &chosen) &&
            tl_ragged_get(vm, rows, &step, &chosen, &made);
  tl_clear(vm, &chosen);
  tl_drop(vm, rows);
  return ok && in_shape(vm, x, &made, out);
}

bool tl_grid_get(tl_vm *vm, const tl_nested *n, const tl_step *step,
                 tl_slot *parts, tl_slot *out) {
  cut c;
  if (step->item_count == 1 && step->items[0].kind == TL_ITEM_VALUE &&
      tl_is_form(parts[0], TL_FORM_GRID)) {
    return get_by_rows(vm, n, parts[0], out);
  }
  if (!cut_index(vm, n, step, parts, &c))
    return false;
  tl_step lead = {.item_count = (uint16_t)c.lead, .items = c.items};
  tl_slot base = tl_borrow(n->parts[0]), places, rows;
  if (!tl_index_get(vm, &base, &lead, parts, &places))
    return false;
  bool ok;
  if (c.lead == c.count) {
    ok = tl_grid_of_places(vm, places, n->parts[1], out);
    if (ok && !tl_is_owned(*out) && tl_is_heap(*out))
      *out = tl_retain(vm, *out);
  } else if (!tl_is_array(places)) {
    tl_slot row;
    tl_step rest = {.item_count = (uint16_t)(c.count - c.lead),
                    .items = c.items + c.lead};
    ok = tl_nested_at(vm, n->parts[1], places.i, &row);
    if (ok) {
      ok = tl_index_get(vm, &row, &rest, parts + c.lead_parts, out);
      if (ok)
        tl_hold(vm, *out, TL_CAUSE_VIEW);
      tl_drop(vm, row);
    }
  } else {
    tl_slot found;
    ok = rows_at(vm, places.array, n->parts[1], &rows);
    if (ok) {
      ok = within(vm, rows, &c, parts, &found) &&
           in_shape(vm, places.array, &found, out);
      tl_drop(vm, rows);
    }
  }
  tl_drop(vm, places);
  return ok;
}

bool tl_grid_get_rows(tl_vm *vm, tl_slot ragged, const tl_step *step,
                      tl_slot *parts, tl_slot *out) {
  int64_t rows = tl_ragged_rows(ragged.nested);
  tl_array *places = tl_positions_new(vm, rows);
  if (places == NULL)
    return false;
  tl_kernels()->iota(tl_offsets_data(places), 0, 1, (size_t)rows);
  tl_slot first = tl_own_array(places), second = tl_borrow(ragged), grid;
  if (!tl_nested_pair(vm, TL_FORM_GRID, 1, &first, &second, &grid))
    return false;
  bool ok = tl_grid_get(vm, grid.nested, step, parts, out);
  if (ok)
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  tl_drop(vm, grid);
  return ok;
}

// --- Writing ----------------------------------------------------------------

// A value for chosen places as one for their rows, in row-major order.
static bool value_of_rows(tl_vm *vm, const tl_array *places, tl_slot value,
                          tl_slot *out) {
  *out = tl_borrow(value);
  if (tl_is_form(value, TL_FORM_GRID))
    return tl_grid_rows(vm, value.nested, out);
  if (!tl_is_array(value) || tl_ndim(value.array) != tl_ndim(places))
    return true;
  tl_slot lent = tl_borrow(value), dense;
  if (!tl_array_contiguous(vm, &lent, &dense))
    return false;
  const tl_array *a = dense.array;
  int64_t stride = (int64_t)tl_itemsize(tl_array_dtype(a)), length = a->size;
  tl_array *view =
      tl_view_new(vm, &dense, tl_array_dtype(a), a->data, 1, &length, &stride);
  tl_drop(vm, dense);
  if (view != NULL)
    *out = tl_own_array(view);
  return view != NULL;
}

// The rows of all places alone and in order, so that places are their numbers.
static bool own_rows(tl_vm *vm, tl_nested *n) {
  tl_slot rows;
  if (is_in_order(places_of(n), n->parts[1].nested))
    return true;
  if (!tl_grid_rows(vm, n, &rows))
    return false;
  tl_slot made;
  const tl_array *places = places_of(n);
  if (!tl_grid_of_shape(vm, tl_ndim(places), tl_shape(places), &rows, &made))
    return false;
  for (int i = 0; i < 2; i++) {
    tl_slot old = n->parts[i];
    n->parts[i] = made.nested->parts[i];
    made.nested->parts[i] = old;
  }
  tl_drop(vm, made);
  return true;
}

bool tl_grid_set(tl_vm *vm, tl_way w, tl_nested *n, tl_slot *value) {
  cut c;
  const tl_step *step = w.steps;
  tl_slot places, given, *parts = w.parts;
  if (step->field != NULL || w.count > 1)
    return fail_index(vm, n);
  if (!own_rows(vm, n))
    return false;
  if (step->item_count == 1 && step->items[0].kind == TL_ITEM_VALUE &&
      tl_is_form(parts[0], TL_FORM_GRID)) {
    tl_slot index;
    static const tl_index_item by_rows = {.kind = TL_ITEM_VALUE};
    tl_step whole = {.item_count = 1, .items = &by_rows};
    if (!tl_grid_rows(vm, parts[0].nested, &index))
      return false;
    bool ok = value_of_rows(vm, places_of(n), *value, &given);
    if (ok) {
      ok =
          tl_part_update(vm, (tl_way){&whole, 1, &index}, &n->parts[1], &given);
      tl_clear(vm, &given);
    }
    tl_drop(vm, index);
    return ok;
  }
  if (!cut_index(vm, n, step, parts, &c))
    return false;
  tl_step lead = {.item_count = (uint16_t)c.lead, .items = c.items};
  tl_slot base = tl_borrow(n->parts[0]);
  if (!tl_index_get(vm, &base, &lead, parts, &places))
    return false;
  // The rows' numbers, then what chooses within them.
  tl_index_item items[MOST_ITEMS + 1] = {{.kind = TL_ITEM_VALUE}};
  tl_slot values[MOST_ITEMS * 3 + 1];
  int rest = c.count - c.lead, more = 0;
  memcpy(items + 1, c.items + c.lead, (size_t)rest * sizeof *items);
  for (int i = 0; i < rest; i++) more += tl_item_parts(items[1 + i]);
  for (int i = 0; i < more; i++) values[1 + i] = parts[c.lead_parts + i];
  bool ok = true;
  values[0] = tl_borrow(places);
  given = tl_borrow(*value);
  if (tl_is_array(places)) {
    ok = flat_places(vm, places.array, &values[0]) &&
         value_of_rows(vm, places.array, *value, &given);
  }
  tl_step inner = {.item_count = (uint16_t)(rest + 1), .items = items};
  ok = ok &&
       tl_part_update(vm, (tl_way){&inner, 1, values}, &n->parts[1], &given);
  tl_clear(vm, &given);
  tl_clear(vm, &values[0]);
  tl_drop(vm, places);
  return ok;
}

// --- Elementwise ------------------------------------------------------------

enum { MOST = 3 };  // operands

static bool fail_shapes(tl_vm *vm, tl_slot a, tl_slot b) {
  char x[TL_DESCRIBE], y[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_SHAPE, "%s and %s do not broadcast",
                 tl_describe(a, x, sizeof x), tl_describe(b, y, sizeof y));
}

// Row [row] of the common shape differs: its place is named.
static bool fail_row(tl_vm *vm, tl_slot a, tl_slot b, const tl_slot *rows,
                     int64_t row, int ndim, const int64_t *shape) {
  char x[TL_DESCRIBE], y[TL_DESCRIBE], place[TL_MAX_DIMS * 24] = "";
  int64_t from, to, other, end, left = row;
  tl_ragged_row(rows[0].nested, row, &from, &to);
  tl_ragged_row(rows[1].nested, row, &other, &end);
  for (int i = 0; i < ndim; i++) {
    int64_t below = product(ndim - i - 1, shape + i + 1);
    size_t used = strlen(place);
    snprintf(place + used, sizeof place - used, "%s%" PRId64, i > 0 ? ", " : "",
             left / below);
    left %= below;
  }
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "%s and %s do not broadcast: row [%s] has %" PRId64
                 " items against %" PRId64,
                 tl_describe(a, x, sizeof x), tl_describe(b, y, sizeof y),
                 place, to - from, end - other);
}

// Whether the ragged ones among the opened operands have the same rows.
static bool check_rows(tl_vm *vm, int arity, const tl_slot *slots,
                       const tl_slot *rows, int ndim, const int64_t *shape) {
  int first = -1;
  for (int i = 0; i < arity; i++) {
    int64_t row;
    if (!tl_is_form(rows[i], TL_FORM_RAGGED))
      continue;
    if (first < 0) {
      first = i;
    } else if (!tl_ragged_agree(rows[first].nested, rows[i].nested, &row)) {
      tl_slot both[2] = {rows[first], rows[i]};
      return fail_row(vm, slots[first], slots[i], both, row, ndim, shape);
    }
  }
  return true;
}

// The fixed axes of an operand, as an array to broadcast: the places, for rows
// of one axis their numbers, for a plain array itself. *out is owned or lent.
static bool fixed_axes(tl_vm *vm, tl_slot s, int ndim, tl_slot *out) {
  *out = tl_borrow(s);
  if (tl_is_form(s, TL_FORM_OPTION))
    return fixed_axes(vm, s.nested->parts[0], ndim, out);
  if (tl_is_form(s, TL_FORM_GRID)) {
    *out = tl_borrow(s.nested->parts[0]);
  } else if (tl_is_form(s, TL_FORM_RAGGED)) {
    tl_array *numbers = tl_positions_new(vm, tl_ragged_rows(s.nested));
    if (numbers == NULL)
      return false;
    tl_kernels()->iota(tl_offsets_data(numbers), 0, 1, (size_t)numbers->size);
    *out = tl_own_array(numbers);
  } else if (tl_is_array(s) && tl_ndim(s.array) > ndim) {
    // Regular rows, or one item for each: the axes before.
    const tl_array *a = s.array;
    tl_slot base = tl_borrow(s);
    tl_array *view = tl_view_new(vm, &base, tl_array_dtype(a), a->data, ndim,
                                 tl_shape(a), tl_strides(a));
    if (view == NULL)
      return false;
    *out = tl_own_array(view);
  }
  return true;
}

// [fixed] repeated over the shape, along one axis.
static bool repeat_over(tl_vm *vm, const tl_array *fixed, int ndim,
                        const int64_t *shape, tl_slot *out) {
  int64_t strides[TL_MAX_DIMS], size = product(ndim, shape);
  tl_slot base = {.tag = tl_array_tag(fixed), .array = (tl_array *)fixed};
  tl_broadcast_strides(fixed, ndim, shape, strides);
  tl_array *view = tl_view_new(vm, &base, tl_array_dtype(fixed), fixed->data,
                               ndim, shape, strides);
  tl_slot whole = view != NULL ? tl_own_array(view) : tl_none(), dense;
  bool ok = view != NULL && tl_array_contiguous(vm, &whole, &dense);
  tl_clear(vm, &whole);
  if (!ok)
    return false;
  int64_t stride = (int64_t)tl_itemsize(tl_array_dtype(dense.array));
  tl_array *flat = tl_view_new(vm, &dense, tl_array_dtype(dense.array),
                               dense.array->data, 1, &size, &stride);
  tl_drop(vm, dense);
  if (flat == NULL)
    return false;
  *out = tl_own_array(flat);
  tl_hold(vm, *out, TL_CAUSE_VIEW);
  return true;
}

// An operand's rows, or what stands for each of them, in the common shape.
static bool open_operand(tl_vm *vm, tl_slot s, tl_slot fixed, int ndim,
                         const int64_t *shape, tl_slot *out) {
  *out = tl_borrow(s);
  if (tl_value_ndim(s) == 0)
    return true;
  if (tl_is_form(s, TL_FORM_GRID) || tl_is_form(s, TL_FORM_RAGGED)) {
    tl_slot rows = tl_is_form(s, TL_FORM_GRID) ? s.nested->parts[1] : s, at;
    if (!repeat_over(vm, fixed.array, ndim, shape, &at))
      return false;
    bool ok = rows_at(vm, at.array, rows, out);
    tl_drop(vm, at);
    return ok;
  }
  if (tl_is_form(s, TL_FORM_OPTION)) {
    tl_slot mask, values;
    if (!open_operand(vm, s.nested->parts[0], fixed, ndim, shape, &mask))
      return false;
    if (open_operand(vm, s.nested->parts[1], fixed, ndim, shape, &values)) {
      return tl_nested_pair(vm, TL_FORM_OPTION, tl_value_ndim(mask), &mask,
                            &values, out);
    }
    tl_drop(vm, mask);
    return false;
  }
  if (!tl_is_array(s))
    return fail_shapes(vm, s, fixed);
  const tl_array *a = s.array;
  if (tl_ndim(a) <= ndim)
    return repeat_over(vm, a, ndim, shape, out);
  for (int i = 0; i < ndim; i++) {
    if (tl_shape(a)[i] != shape[i])
      return fail_shapes(vm, s, fixed);
  }
  // (3, 4, n): as (12, n)
  tl_slot lent = tl_borrow(s), dense;
  if (!tl_array_contiguous(vm, &lent, &dense))
    return false;
  int64_t lengths[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  int left = tl_ndim(a) - ndim + 1;
  lengths[0] = product(ndim, shape);
  for (int i = 1; i < left; i++) lengths[i] = tl_shape(a)[ndim + i - 1];
  tl_shape_strides(left, lengths, tl_itemsize(tl_array_dtype(a)), strides);
  tl_array *view = tl_view_new(vm, &dense, tl_array_dtype(a), dense.array->data,
                               left, lengths, strides);
  tl_drop(vm, dense);
  if (view == NULL)
    return false;
  *out = tl_own_array(view);
  tl_hold(vm, *out, TL_CAUSE_VIEW);
  return true;
}

bool tl_grid_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                         tl_slot *out) {
  tl_slot fixed[MOST], rows[MOST], made;
  const tl_array *axes[MOST] = {NULL};
  int64_t shape[TL_MAX_DIMS];
  int ndim = 0, opened = 0, count = 0, given = 0;
  for (int i = 0; i < arity; i++) {
    if (tl_is_form(slots[i], TL_FORM_GRID) && tl_value_ndim(slots[i]) > ndim)
      ndim = tl_value_ndim(slots[i]);
  }
  bool ok = true;
  for (; ok && opened < arity; opened += ok) {
    ok = fixed_axes(vm, slots[opened], ndim, &fixed[opened]);
    if (ok && tl_is_array(fixed[opened]))
      axes[count++] = fixed[opened].array;
  }
  ok = ok && tl_broadcast(vm, count, axes, &ndim, shape);
  for (; ok && given < arity; given += ok) {
    ok =
        open_operand(vm, slots[given], fixed[given], ndim, shape, &rows[given]);
  }
  ok = ok && check_rows(vm, arity, slots, rows, ndim, shape) &&
       tl_elementwise(vm, op, rows, &made);
  for (int i = 0; i < given; i++) tl_clear(vm, &rows[i]);
  for (int i = 0; i < opened; i++) tl_clear(vm, &fixed[i]);
  return ok && tl_value_split_axis(vm, &made, ndim, shape, out);
}

// --- Joining ----------------------------------------------------------------

// The fixed axes of rows in any order.
static void fixed_shape(tl_slot s, int *ndim, int64_t *shape) {
  *ndim = tl_value_ndim(s);
  for (int i = 0; i < *ndim; i++) shape[i] = tl_value_length(s, i);
}

// Joins what [open] shows of the grids; other rows as they are.
static bool concat_opened(tl_vm *vm, int64_t count, const tl_slot *items,
                          bool (*open)(tl_vm *vm, const tl_nested *grid,
                                       tl_slot *out),
                          tl_slot *out) {
  size_t nbytes = ((size_t)count + 1) * sizeof(tl_slot);
  tl_slot *rows = tl_alloc(vm, nbytes, "rows to join");
  int64_t opened = 0;
  bool ok = rows != NULL;
  for (; ok && opened < count; opened += ok) {
    rows[opened] = tl_borrow(items[opened]);
    if (tl_is_form(items[opened], TL_FORM_GRID))
      ok = open(vm, items[opened].nested, &rows[opened]);
  }
  ok = ok && tl_value_concat(vm, count, rows, out);
  while (opened > 0) tl_clear(vm, &rows[--opened]);
  if (rows != NULL)
    tl_free(vm, rows, nbytes);
  return ok;
}

bool tl_grid_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                    tl_slot *out) {
  int ndim, other;
  int64_t shape[TL_MAX_DIMS], own[TL_MAX_DIMS], total = 0;
  fixed_shape(items[0], &ndim, shape);
  for (int64_t i = 0; i < count; i++) {
    fixed_shape(items[i], &other, own);
    bool same = tl_is_form(items[i], TL_FORM_GRID) && other == ndim;
    for (int k = 1; same && k < ndim; k++) same = own[k] == shape[k];
    if (!same)
      return concat_opened(vm, count, items, tl_grid_as_vars, out);
    total += own[0];
  }
  tl_slot rows;
  shape[0] = total;
  return concat_opened(vm, count, items, tl_grid_rows, &rows) &&
         tl_grid_of_shape(vm, ndim, shape, &rows, out);
}

bool tl_grid_stack(tl_vm *vm, int64_t count, const tl_slot *items, bool *fits,
                   tl_slot *out) {
  int ndim, other;
  int64_t shape[TL_MAX_DIMS + 1], own[TL_MAX_DIMS];
  *fits = count > 0;
  if (*fits)
    fixed_shape(items[0], &ndim, shape + 1);
  for (int64_t i = 0; *fits && i < count; i++) {
    fixed_shape(items[i], &other, own);
    *fits = (tl_is_form(items[i], TL_FORM_RAGGED) ||
             tl_is_form(items[i], TL_FORM_GRID)) &&
            other == ndim && ndim < TL_MAX_DIMS &&
            memcmp(own, shape + 1, (size_t)ndim * sizeof *own) == 0;
  }
  if (!*fits)
    return false;
  tl_slot rows;
  shape[0] = count;
  return concat_opened(vm, count, items, tl_grid_rows, &rows) &&
         tl_grid_of_shape(vm, ndim + 1, shape, &rows, out);
}
