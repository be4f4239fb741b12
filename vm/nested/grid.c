// Ragged rows in a regular order: the places are indexed, written and joined as
// any array, and then the rows that stand there. See ragged.h.
//
//   x   2 * 2 * var     places 0 1     rows of items  [a b] [c] [] [d e f]
//                              2 3
//   x.T                 places 0 2     the same rows
//                              1 3
//   x[1]                places 2 3     rows 2 and 3: ragged, [] [d e f]
//   x[:, 1, 0:1]        places 1 3     [c] [d], each cut to 0:1
#include "vm/nested/forms.h"

#include "vm/engine/engine_internal.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/ragged.h"

// --- Indexing ----------------------------------------------------------------

// One less than a place has room for: an item is put in front.
enum { MOST_ITEMS = TL_MOST_ITEMS - 1 };

// An index in two: of the fixed axes, and within the rows.
// For x of 3 * 4 * var * float64:
//
//   x[1, :, 0:2]     items 1 : 0:2     lead 2, of the fixed axes, lead_parts 1
//                                      the rest, 0:2, goes into the rows
typedef struct cut {
  tl_index_item items[MOST_ITEMS];
  int lead, count;
  int lead_parts;  // values that the first ones take
} cut;

// How many of the array's axes an index item uses up: of a grid of indices as
// many as it has.
static int axes_of(tl_index_item item, const tl_slot *part) {
  return item.kind == TL_ITEM_VALUE && tl_is_form(*part, TL_FORM_GRID)
             ? tl_value_ndim(*part)
             : tl_item_axes(item, part);
}

// The error of an index that takes a fixed axis and the rows' axis at once, as
// a mask of too many axes does, or that has too many items.
static bool fail_index(tl_vm *vm, tl_slot whole) {
  return tl_fail(vm, TALLY_ERR_INDEX,
                 "%s is indexed by its %d fixed axes, then within the rows",
                 tl_described(vm, whole), tl_value_ndim(whole));
}

// An ellipsis stands for what the other items leave of the fixed axes and the
// rows.
// Splits an index of [whole], rows of any form, where the fixed axes end; the
// rest, c->items from lead on, is for the rows. Without such items all of the
// index is of the fixed axes, also where it covers fewer than there are. False
// (kind index) after fail_index.
static bool cut_index(tl_vm *vm, tl_slot whole, const tl_step *step,
                      const tl_slot *parts, cut *out) {
  int axes = 0, ndim = tl_value_ndim(whole), all = tl_value_axes(whole);
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
        return fail_index(vm, whole);
      out->items[out->count++] = item;
      covered += axes_of(item, at);
      if (covered > ndim && out->lead < 0)
        return fail_index(vm, whole);
    }
    at += tl_item_parts(step->items[i]);
  }
  if (out->lead < 0) {
    out->lead = out->count;
    out->lead_parts = (int)(at - parts);
  }
  return true;
}

// Puts an item in front of what chooses within the rows: all rows (:), or the
// numbers of some. False (kind index) where there is no room for all.
static bool put_in_front(tl_vm *vm, tl_slot whole, const cut *c,
                         tl_index_item first, const tl_slot *values,
                         tl_slot *parts, tl_nested_place *out) {
  tl_step rest = {.item_count = (uint16_t)(c->count - c->lead),
                  .items = c->items + c->lead};
  return tl_place_begin(out, first, values,
                        (tl_nested_path){&rest, 1, parts + c->lead_parts}, 0) ||
         fail_index(vm, whole);
}

// Index and array must have the same fixed shape: then their rows correspond
// in row-major order, and the work is that of two ragged arrays.
// x[rows of bools or integers], for each of the array's rows.
static bool get_by_rows(tl_vm *vm, const tl_nested *n, tl_slot index,
                        tl_slot *out) {
  const tl_array *x = n->parts[0].array, *y = index.nested->parts[0].array;
  if (!tl_has_shape(y, tl_ndim(x), tl_shape(x))) {
    const char *a = tl_described(vm, tl_lend_nested(n));
    return tl_fail(vm, TALLY_ERR_SHAPE, "the index %s has other rows than %s",
                   tl_described(vm, index), a);
  }
  tl_slot rows, chosen, made;
  if (!tl_grid_rows(vm, tl_lend_nested(n), &rows))
    return false;
  bool ok =
      tl_grid_rows(vm, index, &chosen) &&
      tl_drop_after(vm, tl_value_choose(vm, rows, chosen, &made), &chosen);
  return tl_drop_after(vm, ok, &rows) &&
         tl_value_split_axis(vm, &made, tl_ndim(x), tl_shape(x), out);
}

// What the rest of the index finds in the rows at places: of one place that
// row, indexed as any array; of several the rows in order as (:, rest), and
// what comes of each in the shape of the places.
static bool get_within(tl_vm *vm, tl_slot whole, tl_slot places, tl_slot all,
                       const cut *c, tl_slot *parts, tl_slot *out) {
  tl_slot rows, found;
  tl_nested_place place;
  if (!tl_is_array(places)) {
    tl_step rest = {.item_count = (uint16_t)(c->count - c->lead),
                    .items = c->items + c->lead};
    return tl_nested_at(vm, all, places.i, &rows) &&
           tl_drop_after(
               vm,
               tl_index_get(vm, &rows, &rest, parts + c->lead_parts, out) &&
                   tl_keep_made(vm, out),
               &rows);
  }
  if (!put_in_front(vm, whole, c, tl_whole_axis, NULL, parts, &place) ||
      !tl_rows_at(vm, places.array, all, &rows))
    return false;
  bool ok = tl_value_index(vm, rows, place.steps, place.parts, &found) &&
            tl_keep_made(vm, &found);
  return tl_drop_after(vm, ok, &rows) &&
         tl_value_split_axis(vm, &found, tl_ndim(places.array),
                             tl_shape(places.array), out);
}

// Two indexes, one after the other: the places of [whole] by the fixed axes,
// then the rows at those places by the rest. Without a rest the places are
// again a grid, or rows, or one row.
static bool get_at(tl_vm *vm, tl_slot whole, tl_slot numbers, tl_slot all,
                   const tl_step *step, tl_slot *parts, tl_slot *out) {
  cut c;
  tl_slot places;
  if (!cut_index(vm, whole, step, parts, &c))
    return false;
  tl_step lead = {.item_count = (uint16_t)c.lead, .items = c.items};
  if (!tl_value_index(vm, numbers, &lead, parts, &places))
    return false;
  bool ok = c.lead == c.count
                ? tl_grid_of_places(vm, places, all, out)
                : get_within(vm, whole, places, all, &c, parts, out);
  if (ok && !tl_is_owned(*out) && tl_is_heap(*out))
    *out = tl_retain(vm, *out);
  return tl_drop_after(vm, ok, &places);
}

// Whether an index is one grid of bools or integers, for each of the rows.
static bool is_by_rows(const tl_step *step, const tl_slot *parts) {
  return step->item_count == 1 && step->items[0].kind == TL_ITEM_VALUE &&
         tl_is_form(parts[0], TL_FORM_GRID);
}

static bool grid_get(tl_vm *vm, tl_slot grid, const tl_step *step,
                     tl_slot *parts, tl_slot *out) {
  const tl_nested *n = grid.nested;
  return is_by_rows(step, parts)
             ? get_by_rows(vm, n, parts[0], out)
             : get_at(vm, grid, n->parts[0], n->parts[1], step, parts, out);
}

// The numbers of the rows are the places of one axis.
bool tl_grid_get_rows(tl_vm *vm, tl_slot ragged, const tl_step *step,
                      tl_slot *parts, tl_slot *out) {
  tl_slot numbers;
  return tl_array_give(tl_number_items(vm, ragged, 0), &numbers) &&
         tl_drop_after(vm,
                       get_at(vm, ragged, numbers, ragged, step, parts, out) &&
                           tl_keep_made(vm, out),
                       &numbers);
}

// --- Writing -----------------------------------------------------------------

// A value for chosen places as one for their rows, in row-major order.
// One value for all places, and rows, go through as they are. *out is owned or
// borrows from the value.
static bool value_of_rows(tl_vm *vm, const tl_array *places, tl_slot value,
                          tl_slot *out) {
  *out = tl_borrow(value);
  if (tl_is_form(value, TL_FORM_GRID))
    return tl_grid_rows(vm, value, out);
  if (!tl_is_array(value) || tl_ndim(value.array) != tl_ndim(places))
    return true;
  return tl_value_flatten(vm, value, out);
}

// The rows of all places alone and in order, so that places are their numbers.
// So a write to a place changes one row and no other that refers to it: rows
// that several places share become copies. False where memory is short; [n]
// shows the same before and after.
// Where that is so already, as after the first write, the places are compared
// and nothing is made.
static bool own_rows(tl_vm *vm, tl_nested *n) {
  tl_slot rows;
  if (tl_is_in_order(n->parts[0].array, n->parts[1].nested))
    return true;
  if (!tl_grid_rows(vm, tl_lend_nested(n), &rows))
    return false;
  tl_slot made;
  const tl_array *places = n->parts[0].array;
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

// Rows that several places share become rows of their own first.
// Written as rows: the index of the fixed axes gives the numbers of rows, which
// own_rows has made the same as their places, and the rest of the index is
// behind those. Fields and several steps have no meaning here (kind index).
static bool grid_set(tl_vm *vm, tl_nested_path w, tl_nested *n,
                     tl_slot *value) {
  cut c;
  tl_slot whole = tl_lend_nested(n), numbers, given;
  tl_nested_path way = tl_way_one(&numbers);
  if (w.steps->field != NULL || w.count > 1)
    return fail_index(vm, whole);
  if (!own_rows(vm, n))
    return false;
  if (is_by_rows(w.steps, w.parts))
    return tl_grid_rows(vm, w.parts[0], &numbers) &&
           tl_drop_after(
               vm,
               value_of_rows(vm, n->parts[0].array, *value, &given) &&
                   tl_drop_after(vm,
                                 tl_part_update(vm, way, &n->parts[1], &given),
                                 &given),
               &numbers);
  if (!cut_index(vm, whole, w.steps, w.parts, &c))
    return false;
  tl_step lead = {.item_count = (uint16_t)c.lead, .items = c.items};
  tl_slot places;
  if (!tl_value_index(vm, n->parts[0], &lead, w.parts, &places))
    return false;
  // What the index found among the places is an index of the rows: their
  // numbers, and behind them what chooses within the rows.
  tl_nested_place place;
  numbers = tl_borrow(places);
  given = tl_borrow(*value);
  bool ok =
      !tl_is_array(places) || (tl_value_flatten(vm, places, &numbers) &&
                               value_of_rows(vm, places.array, *value, &given));
  ok = ok &&
       put_in_front(vm, whole, &c, tl_one_value, &numbers, w.parts, &place) &&
       tl_part_update(vm, place.way, &n->parts[1], &given);
  tl_clear(vm, &given);
  tl_clear(vm, &numbers);
  return tl_drop_after(vm, ok, &places);
}

// --- Elementwise -------------------------------------------------------------

// Whether the ragged ones among the opened operands have the same rows.
// After open_operand all ragged operands have as many rows, in the order of the
// common shape, so that they are compared one by one. False (kind shape).
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
      tl_place_text place;
      tl_spell_place(ndim, shape, row, place);
      tl_slot both[2] = {rows[first], rows[i]};
      return tl_fail_row(vm, slots[first], slots[i], both, row, place);
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
    return tl_array_give(tl_number_items(vm, s, 0), out);
  } else if (tl_is_array(s) && tl_ndim(s.array) > ndim) {
    // Regular rows, or one item for each: the axes before.
    const tl_array *a = s.array;
    tl_slot base = tl_borrow(s);
    return tl_view(vm, &base, a->data, ndim, tl_shape(a), tl_strides(a), out);
  }
  return true;
}

// An operand's rows, or what stands for each of them, along one axis in the
// order of the common shape.
// Three cases: a number or one row without fixed axes stands for itself; an
// operand of the whole shape is its axes as one; others are taken by number as
// often as the broadcast repeats them. Fails (kind shape) for what has more
// axes than the grid and other lengths. *out is owned or borrows from [s].
static bool open_operand(tl_vm *vm, tl_slot s, tl_slot fixed, int ndim,
                         const int64_t *shape, tl_slot *out) {
  int64_t own[TL_MAX_DIMS];
  int left = tl_value_shape(s, own), axes = left < ndim ? left : ndim;
  bool same = axes == ndim;
  for (int i = 0; same && i < ndim; i++) same = own[i] == shape[i];
  if (left == 0) {
    *out = tl_borrow(s);
    return true;
  }
  if ((!same && left > ndim) ||
      !(tl_is_array(s) || tl_has_rows(s) || tl_is_form(s, TL_FORM_OPTION)))
    return tl_fail_broadcast(vm, s, fixed);
  tl_slot items, places;
  int64_t count = tl_shape_count(axes, own);
  if (same)
    return tl_value_reshape(vm, s, axes, 1, &count, out);
  if (!tl_value_reshape(vm, s, axes, 1, &count, &items))
    return false;
  // What is repeated along the shape is taken by its number.
  tl_array *numbers = tl_numbers_new(vm, axes, own, 0, 1);
  bool ok =
      numbers != NULL && tl_broadcast_flat(vm, numbers, ndim, shape, &places);
  tl_array_drop(vm, numbers);
  ok = ok &&
       tl_drop_after(vm, tl_value_take(vm, items, places.array, out), &places);
  return tl_drop_after(vm, ok, &items);
}

// The fixed axes broadcast as arrays do, then each operand is a ragged array of
// that many rows, which must be of one length at one place, and what comes of
// the rows gets the common shape:
//
//   3 * 4 * var + 4 * var     12 rows and, repeated, 12 rows; 3 * 4 * var
//   3 * 4 * var + 4           12 rows and 12 numbers, one for each row
static bool grid_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                             tl_slot *out) {
  tl_slot fixed[TL_MOST_OPERANDS], rows[TL_MOST_OPERANDS], made;
  const tl_array *axes[TL_MOST_OPERANDS] = {NULL};
  int64_t shape[TL_MAX_DIMS];
  int ndim = 0, opened = 0, count = 0, given = 0;
  for (int i = 0; i < arity; i++)
    if (tl_is_form(slots[i], TL_FORM_GRID) && tl_value_ndim(slots[i]) > ndim)
      ndim = tl_value_ndim(slots[i]);
  bool ok = true;
  for (; ok && opened < arity; opened += ok) {
    ok = fixed_axes(vm, slots[opened], ndim, &fixed[opened]);
    if (ok && tl_is_array(fixed[opened]))
      axes[count++] = fixed[opened].array;
  }
  ok = ok && tl_broadcast(vm, count, axes, &ndim, shape);
  for (; ok && given < arity; given += ok)
    ok =
        open_operand(vm, slots[given], fixed[given], ndim, shape, &rows[given]);
  ok = ok && check_rows(vm, arity, slots, rows, ndim, shape) &&
       tl_elementwise(vm, op, rows, &made);
  for (int i = 0; i < given; i++) tl_clear(vm, &rows[i]);
  for (int i = 0; i < opened; i++) tl_clear(vm, &fixed[i]);
  return ok && tl_value_split_axis(vm, &made, ndim, shape, out);
}

// --- Joining -----------------------------------------------------------------

// Whether all values have rows below axes of one shape, which they have behind
// axis [first] of theirs. *total is how many there are along the first axis.
static bool same_axes(int64_t count, const tl_slot *items, int first,
                      int64_t *total) {
  *total = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!tl_has_rows(items[i]) || !tl_value_agrees(items[i], items[0], first))
      return false;
    *total += tl_value_length(items[i], 0);
  }
  return true;
}

// The rows of all, one behind the other, in an array of that shape.
static bool join_rows(tl_vm *vm, int64_t count, const tl_slot *items, int ndim,
                      const int64_t *shape, tl_slot *out) {
  tl_slot rows;
  return tl_join_opened(vm, tl_grid_rows, tl_value_concat, count, items,
                        &rows) &&
         tl_grid_of_shape(vm, ndim, shape, &rows, out);
}

// Grids that differ in the first axis at most stay a grid: the rows are joined,
// in order, under new places. Others are joined as rows of rows.
static bool grid_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                        tl_slot *out) {
  int64_t shape[TL_MAX_DIMS], total;
  int ndim = tl_value_shape(items[0], shape);
  if (ndim < 2 || !same_axes(count, items, 1, &total))
    return tl_join_opened(vm, tl_grid_as_vars, tl_value_concat, count, items,
                          out);
  shape[0] = total;
  return join_rows(vm, count, items, ndim, shape, out);
}

// shape[0] stays free for the new axis; the items' own shapes come behind it.
bool tl_grid_stack(tl_vm *vm, int64_t count, const tl_slot *items, bool *fits,
                   tl_slot *out) {
  int64_t shape[TL_MAX_DIMS + 1] = {count}, unused;
  *fits = count > 0 && tl_value_ndim(items[0]) < TL_MAX_DIMS &&
          same_axes(count, items, 0, &unused);
  return *fits &&
         join_rows(vm, count, items, 1 + tl_value_shape(items[0], shape + 1),
                   shape, out);
}

const tl_form_ops tl_grid_ops = {grid_get, grid_set, grid_elementwise,
                                 grid_concat};
