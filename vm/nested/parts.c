// What the forms share. See parts.h.
#include "vm/nested/parts.h"

#include "vm/engine/engine.h"
#include "vm/index/select.h"
#include "vm/objects.h"

// --- Elementwise operations --------------------------------------------------

// Operands are borrowed: none of them is taken for the result.
bool tl_compute1(tl_vm *vm, tl_op op, tl_slot a, tl_slot *out) {
  tl_slot x = tl_borrow(a);
  return tl_elementwise(vm, op, &x, out);
}

bool tl_compute2(tl_vm *vm, tl_op op, tl_slot a, tl_slot b, tl_slot *out) {
  tl_slot x[2] = {tl_borrow(a), tl_borrow(b)};
  return tl_elementwise(vm, op, x, out);
}

bool tl_compute3(tl_vm *vm, tl_op op, tl_slot a, tl_slot b, tl_slot c,
                 tl_slot *out) {
  tl_slot x[3] = {tl_borrow(a), tl_borrow(b), tl_borrow(c)};
  return tl_elementwise(vm, op, x, out);
}

// Not in a's memory: it is borrowed for the operation, since it must survive a
// failure.
bool tl_compute_into(tl_vm *vm, tl_op op, tl_slot *a, tl_slot b) {
  tl_slot made;
  if (!tl_compute2(vm, op, *a, b, &made))
    return false;
  tl_drop(vm, *a);
  tl_copy_slot(a, &made);
  return true;
}

// --- Several values ----------------------------------------------------------

// What an opener made is the slots' own and goes with them; what it left
// borrowed stays the items'.
bool tl_join_opened(tl_vm *vm, tl_opener *open, tl_joiner *join, int64_t count,
                    const tl_slot *items, tl_slot *out) {
  tl_slot *opened = tl_slots_new(vm, count);
  int64_t made = 0;
  bool ok = opened != NULL;
  for (; ok && made < count; made += ok)
    ok = tl_poll_at(vm, made) && open(vm, items[made], &opened[made]);
  return tl_slots_free_after(vm, ok && join(vm, count, opened, out), opened,
                             made);
}

// A failure leaves the first arguments opened and owned by their slots, which
// is fine for callers that clear all of them.
bool tl_open_each(tl_vm *vm, tl_opener *open, uint32_t count, tl_slot *args) {
  for (uint32_t i = 0; i < count; i++) {
    tl_slot made;
    if (!open(vm, args[i], &made))
      return false;
    // What the opener does not know is itself, borrowed; a pointer without axes
    // may be opened to a number or a constant text, which nobody owns.
    if (!tl_is_owned(made) && (!tl_is_nested(args[i]) || tl_is_nested(made)))
      continue;
    tl_clear(vm, &args[i]);
    args[i] = made;
  }
  return true;
}

// Of two nested values, whose types say more than their shapes.
bool tl_fail_broadcast(tl_vm *vm, tl_slot a, tl_slot b) {
  return tl_fail(vm, TALLY_ERR_SHAPE, "%s and %s do not broadcast",
                 tl_described(vm, a), tl_described(vm, b));
}

// Of any form, by way of the table: forms include this file, and not it them.
bool tl_value_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                     tl_slot *out) {
  return vm->nested->concat(vm, count, items, out);
}

// --- Parts -------------------------------------------------------------------

// The layout stays that of [n]: callers whose map changes a field's type set
// another one.
// A failure drops the parts that were made; [n] is only read.
bool tl_nested_map(tl_vm *vm, const tl_nested *n, int ndim, bool all,
                   tl_part_map *map, void *context, tl_slot *out) {
  tl_nested *made =
      tl_nested_new(vm, tl_nested_form(n), ndim, n->count, n->layout);
  bool ok = made != NULL;
  for (int64_t i = 0; ok && i < n->count; i++) {
    tl_slot part = tl_borrow(n->parts[i]);
    bool maps = all || tl_part_spans(n, i);
    ok = !maps || map(vm, context, i, n->parts[i], &part);
    if (ok)
      tl_nested_put(vm, made, i, &part);
  }
  return tl_nested_finish(vm, ok, made, out);
}

// --- Choosing ----------------------------------------------------------------

bool tl_value_index(tl_vm *vm, tl_slot s, const tl_step *step, tl_slot *parts,
                    tl_slot *out) {
  tl_slot base = tl_borrow(s);
  return tl_index_get(vm, &base, step, parts, out);
}

// The operand is borrowed, so an index that could move items out of it copies.
bool tl_value_choose(tl_vm *vm, tl_slot s, tl_slot index, tl_slot *out) {
  tl_slot part = tl_borrow(index);
  return tl_value_index(vm, s, &tl_index_one, &part, out);
}

// Through an index by a number, so that each form says itself what its items
// are.
bool tl_nested_at(tl_vm *vm, tl_slot base, int64_t i, tl_slot *out) {
  return tl_value_choose(vm, base, tl_weak_int(i), out);
}

// The places are an array of int64 within range, borrowed; the result has their
// shape in front.
bool tl_value_take(tl_vm *vm, tl_slot s, tl_array *places, tl_slot *out) {
  return tl_value_choose(vm, s, tl_lend_array(places), out);
}

// The same through a slice x[start:stop]: *out borrows from [s], or is owned.
bool tl_value_slice(tl_vm *vm, tl_slot s, int64_t start, int64_t stop,
                    tl_slot *out) {
  static const tl_index_item item = {.kind = TL_ITEM_SLICE,
                                     .given = TL_SLICE_START | TL_SLICE_STOP};
  static const tl_step step = {.item_count = 1, .items = &item};
  tl_slot parts[2] = {tl_weak_int(start), tl_weak_int(stop)};
  return tl_value_index(vm, s, &step, parts, out);
}

// For code that fills in places in a loop which may fail: its only end.
bool tl_take_at(tl_vm *vm, bool ok, tl_slot content, tl_array *places,
                tl_slot *out) {
  ok = ok && places != NULL && tl_value_take(vm, content, places, out);
  tl_array_drop(vm, places);
  return ok;
}

// --- An index of the leading axes --------------------------------------------

enum { MOST_ITEMS = 2 * TL_MAX_DIMS + 2 };

// The axes that an index takes up, without the ellipsis.
int tl_step_axes(const tl_step *step, const tl_slot *parts, bool *ellipsis) {
  int axes = 0;
  *ellipsis = false;
  for (int i = 0; i < step->item_count; i++) {
    tl_index_item item = step->items[i];
    *ellipsis = *ellipsis || item.kind == TL_ITEM_ELLIPSIS;
    axes += tl_item_axes(item, parts);
    parts += tl_item_parts(item);
  }
  return axes;
}

bool tl_part_axes(tl_vm *vm, tl_slot base, const tl_step *step,
                  const tl_slot *parts, bool *ellipsis) {
  int ndim = tl_nested_ndim(base.nested);
  int axes = tl_step_axes(step, parts, ellipsis);
  return axes <= ndim ||
         tl_fail(vm, TALLY_ERR_INDEX,
                 "%d indices are too many for %s, which has %d %s", axes,
                 tl_described(vm, base), ndim, ndim == 1 ? "axis" : "axes");
}

// Indexes the array's leading axes in one of its parts, which may have more:
// they stay whole. For that an ellipsis needs slices behind it.
bool tl_part_get(tl_vm *vm, tl_slot base, int64_t i, const tl_step *step,
                 tl_slot *parts, tl_slot *out) {
  const tl_nested *n = base.nested;
  tl_slot part = n->parts[i];
  int more = tl_value_ndim(part) - tl_nested_ndim(n);
  bool ellipsis;
  if (!tl_part_axes(vm, base, step, parts, &ellipsis))
    return false;
  if (!ellipsis || more == 0 || step->item_count + more > MOST_ITEMS)
    return tl_value_index(vm, part, step, parts, out);
  tl_index_item items[MOST_ITEMS];
  memcpy(items, step->items, step->item_count * sizeof *items);
  for (int k = 0; k < more; k++)
    items[step->item_count + k] = (tl_index_item){.kind = TL_ITEM_SLICE};
  tl_step wider = {.item_count = (uint16_t)(step->item_count + more),
                   .items = items};
  return tl_value_index(vm, part, &wider, parts, out);
}

// --- Operands ----------------------------------------------------------------

// Only a part of an operand that nobody else has is moved: the operand is left
// without an owned part until tl_part_return, so nothing may free it in
// between.
void tl_part_borrow(tl_vm *vm, tl_slot *operand, tl_slot *part,
                    tl_borrowed_part *out) {
  out->home = NULL;
  out->value = tl_borrow(*part);
  if (operand == NULL || !tl_is_unique(*operand) || vm->no_reuse)
    return;
  out->home = part;
  out->value = *part;
  part->tag &= ~TL_OWNED;
}

// Where the operation failed the part goes back whole, as a failure must leave
// the operand as it was.
void tl_part_return(tl_vm *vm, tl_borrowed_part *b, bool ok) {
  if (b->home == NULL) {
    tl_clear(vm, &b->value);
  } else if (!ok) {
    b->home->tag |= b->value.tag & TL_OWNED;
  } else {
    // Taken over or no longer wanted: the operand ends without this part.
    tl_clear(vm, &b->value);
    *b->home = tl_none();
  }
}

// --- Row by row --------------------------------------------------------------

// All results are there before they are joined, as the first ones do not tell
// the dtype of all. Fails (kind value) where there are no rows and a result is
// one number: nothing says then of which dtype none of them are.
// It looks for an interrupt once in 256 rows.
bool tl_map_rows(tl_vm *vm, const tl_row_loop *loop, tl_slot *out) {
  int64_t calls = loop->count > 0 ? loop->count : 1;
  tl_slot *results = tl_slots_new(vm, calls), joined;
  bool ok = results != NULL;
  int64_t made = 0;
  for (; ok && made < calls; made += ok)
    ok = ((made & 0xff) != 0xff || tl_poll(vm, 1)) &&
         loop->each(vm, loop->context, loop->count > 0 ? made : -1,
                    &results[made]);
  ok = ok && loop->join(vm, calls, results, &joined);
  tl_slots_free(vm, results, made);
  if (!ok || loop->count > 0) {
    if (ok)
      tl_copy_slot(out, &joined);
    return ok;
  }
  // None of the one row that stood for all.
  ok = tl_value_ndim(joined) > 0
           ? tl_value_slice(vm, joined, 0, 0, out) && tl_keep_made(vm, out)
           : tl_fail(vm, TALLY_ERR_VALUE, "%s: there are no rows", loop->name);
  tl_drop(vm, joined);
  return ok;
}

// The loop's context for tl_each_row: what each row is cut from.
typedef struct row_slices {
  tl_slot items;
  const int64_t *at;
  tl_row_map *map;
  void *context;
} row_slices;

// Row -1, of a loop over no rows, is an empty slice at the first offset.
static bool map_row(tl_vm *vm, void *context, int64_t i, tl_slot *out) {
  const row_slices *r = context;
  int64_t begin = r->at[i < 0 ? 0 : i], end = i < 0 ? begin : r->at[i + 1];
  tl_slot row;
  return tl_value_slice(vm, r->items, begin, end, &row) &&
         tl_drop_after(vm, r->map(vm, r->context, &row, out), &row);
}

bool tl_each_row(tl_vm *vm, const char *name, tl_slot items, const int64_t *at,
                 int64_t rows, tl_row_map *map, void *context, tl_joiner *join,
                 tl_slot *out) {
  row_slices r = {items, at, map, context};
  return tl_map_rows(vm, &(tl_row_loop){name, rows, map_row, join, &r}, out);
}
