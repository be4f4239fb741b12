// Elementwise operations on rows: over the items of all rows at once, under the
// same offsets. What stands beside the rows gets an item for each of theirs.
//
//   rows   offsets 0 2 3     items  a b c
//   x + 1                    items  a+1 b+1 c+1       one value for all
//   x + [10, 20]             items  a+10 b+10 c+20    one for each row, spread
//   x + y                    items  a+d b+e c+f       the same lengths
#include "vm/nested/forms.h"

#include <inttypes.h>
#include <stdio.h>

#include "vm/engine/engine.h"
#include "vm/kernels/kernels.h"
#include "vm/nested/parts.h"
#include "vm/nested/ragged.h"
#include "vm/objects.h"

// [rows] are those of [a] and [b], of which row [row] is called [place].
bool tl_fail_row(tl_vm *vm, tl_slot a, tl_slot b, const tl_slot rows[2],
                 int64_t row, const char *place) {
  int64_t from, to, other, end;
  tl_ragged_row(rows[0].nested, row, &from, &to);
  tl_ragged_row(rows[1].nested, row, &other, &end);
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "%s and %s do not broadcast: row %s has %" PRId64
                 " items against %" PRId64,
                 tl_described(vm, a), tl_described(vm, b), place, to - from,
                 end - other);
}

// Row [row] of both differs in length, or with -1 their number of rows does
// (kind shape). Returns false.
static bool fail_rows(tl_vm *vm, tl_slot a, tl_slot b, int64_t row) {
  char place[24];
  snprintf(place, sizeof place, "%" PRId64, row);
  if (row >= 0)
    return tl_fail_row(vm, a, b, (tl_slot[]){a, b}, row, place);
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "%s and %s do not broadcast: %" PRId64
                 " rows against %" PRId64,
                 tl_described(vm, a), tl_described(vm, b),
                 tl_value_length(a, 0), tl_value_length(b, 0));
}

// --- A value for each row ----------------------------------------------------

// For each item of all rows the number of its row:
//
//   offsets 0 2 2 5     0 0 2 2 2
static bool find_parents(tl_vm *vm, const tl_nested *n, tl_array **out) {
  const int64_t *at = tl_ragged_offsets(n);
  int64_t rows = tl_ragged_rows(n);
  tl_array *places = tl_positions_new(vm, at[rows] - at[0]);
  if (places == NULL)
    return false;
  int64_t *to = tl_offsets_data(places);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = at[i]; k < at[i + 1]; k++) *to++ = i;
  *out = places;
  return true;
}

// The same of plain items, one after the other.
// A kernel for each size of item, called for 16384 rows at a time so that the
// VM may be stopped in between.
static bool spread_items(tl_vm *vm, const tl_array *values,
                         const tl_nested *model, tl_slot *out) {
  enum { PIECE = 1 << 16 };
  const int64_t *at = tl_ragged_offsets(model);
  int64_t total = at[tl_ragged_rows(model)] - at[0], row = 0;
  int64_t step = tl_strides(values)[0];
  size_t size = tl_itemsize(tl_array_dtype(values));
  tl_spread *spread = tl_kernels()->spread[tl_move_size(size)];
  tl_array *to = tl_array_new(vm, tl_array_dtype(values), 1, &total);
  bool ok = true;
  for (int64_t i = 0; ok && to != NULL && i < total; i += PIECE) {
    int64_t n = total - i < PIECE ? total - i : PIECE;
    row +=
        (int64_t)spread(to->data + (size_t)i * size, values->data + row * step,
                        step, at + row, at[0] + i, (size_t)n);
    ok = tl_poll(vm, PIECE / 1024);
  }
  return tl_array_finish(vm, ok, to, out);
}

// A value per row, as often as the row has items.
static bool spread(tl_vm *vm, tl_slot per_row, const tl_nested *model,
                   tl_slot *out) {
  if (tl_is_array(per_row) && tl_array_dtype(per_row.array) < TL_STRING)
    return spread_items(vm, per_row.array, model, out);
  tl_array *parents;
  return find_parents(vm, model, &parents) &&
         tl_take_at(vm, true, per_row, parents, out);
}

// Whether these are values in a block, which may be missing.
static bool is_plain(tl_slot s) {
  return tl_is_array(s) ||
         (tl_is_form(s, TL_FORM_OPTION) && tl_is_array(s.nested->parts[1]));
}

// A column is a value per row without its axis of one.
static bool drop_axis(tl_vm *vm, tl_slot s, tl_slot *out) {
  int64_t rows = tl_value_length(s, 0);
  return tl_value_reshape(vm, s, 2, 1, &rows, out);
}

// The items of one operand as those of the model's rows.
// What an operand is to the rows of [model], of m rows:
//
//   ragged         its items, moved out where the operand dies; rows must agree
//   a number       itself
//   m items        one for each row, spread over the row's items
//   m * 1 items    the same: a column
//   m * k items    rows of k each, which must agree with the model's
//
// Fails (kind shape) for others. out->value is owned or borrowed.
static bool row_items(tl_vm *vm, tl_slot *operand, tl_slot model,
                      tl_borrowed_part *out) {
  tl_slot s = *operand;
  const tl_nested *m = model.nested;
  int64_t row;
  *out = (tl_borrowed_part){tl_borrow(s), NULL};
  if (tl_is_form(s, TL_FORM_RAGGED)) {
    tl_nested *n = s.nested;
    if (!tl_ragged_agree(m, n, &row))
      return fail_rows(vm, model, s, row);
    const int64_t *at = tl_ragged_offsets(n);
    if (at[0] == 0 &&
        at[tl_ragged_rows(n)] == tl_value_length(n->parts[1], 0)) {
      tl_part_borrow(vm, operand, &n->parts[1], out);
      return true;
    }
    return tl_ragged_items(vm, s, &out->value);
  }
  int ndim = tl_value_ndim(s);
  if (ndim == 0)
    return true;  // one value for all
  int64_t rows = tl_ragged_rows(m), length = tl_value_length(s, 0);
  if (length == rows && ndim == 1)
    return spread(vm, s, m, &out->value);
  if (is_plain(s) && ndim == 2 && length == rows &&
      tl_value_length(s, 1) == 1) {
    tl_slot column;
    return drop_axis(vm, s, &column) &&
           tl_drop_after(vm, spread(vm, column, m, &out->value), &column);
  }
  if (ndim >= 2 && length == rows) {
    tl_slot regular;
    return tl_ragged_of_regular(vm, s, &regular) &&
           tl_drop_after(vm, tl_ragged_spread(vm, regular, model, &out->value),
                         &regular);
  }
  return fail_rows(vm, model, s, -1);
}

// Whether an operand is one value for all, in one axis or two of length one.
static bool is_one(tl_slot s) {
  int ndim = is_plain(s) ? tl_value_ndim(s) : 0;
  return (ndim == 1 || ndim == 2) && tl_value_length(s, 0) == 1 &&
         tl_value_length(s, ndim - 1) == 1;
}

// As row_items, but an array of one item is one value for all, however many
// rows there are.
static bool operand_items(tl_vm *vm, tl_slot *operand, tl_slot model,
                          tl_borrowed_part *out) {
  if (!is_one(*operand))
    return row_items(vm, operand, model, out);
  *out = (tl_borrowed_part){tl_borrow(*operand), NULL};
  return tl_value_ndim(*operand) == 1 || drop_axis(vm, *operand, &out->value);
}

// Without moving anything: the value is borrowed, and *out a count of its own.
bool tl_ragged_spread(tl_vm *vm, tl_slot s, tl_slot model, tl_slot *out) {
  tl_borrowed_part items;
  tl_slot lent = tl_borrow(s);
  if (!row_items(vm, &lent, model, &items))
    return false;
  *out = items.value;
  if (!tl_is_owned(items.value))
    *out = tl_retain(vm, items.value);
  return true;
}

// --- Ragged rows -------------------------------------------------------------

// Whether an operand, of which one is ragged, stands for its rows.
static bool any_per_row(int arity, const tl_slot *slots) {
  bool any = false;
  for (int i = 0; i < arity; i++)
    any |= tl_is_array(slots[i]) && tl_ndim(slots[i].array) > 0;
  return any;
}

// The first ragged operand is the model: its offsets are shared with the
// result, so a chain of operations on rows allocates items alone. Large rows
// beside values per row go to the fusion, which spreads those block by block
// and never makes an array of them.
bool tl_rows_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                         tl_slot *out) {
  tl_borrowed_part items[TL_MOST_OPERANDS];
  tl_slot values[TL_MOST_OPERANDS], result, offsets, unused;
  tl_slot model = tl_none();
  int opened = 0;
  for (int i = arity - 1; i >= 0; i--)
    if (tl_is_form(slots[i], TL_FORM_RAGGED))
      model = tl_borrow(slots[i]);
  const int64_t *at = tl_ragged_offsets(model.nested);
  if (at[tl_ragged_rows(model.nested)] >= TL_REGION_LARGE &&
      any_per_row(arity, slots)) {
    bool done;
    if (!vm->fusion->apply_rows(vm, (int)op, arity, slots, out, &done))
      return false;
    if (done)
      return true;
  }
  if (at[0] == 0) {
    offsets = tl_retain(vm, tl_borrow(model.nested->parts[0]));
  } else {
    if (!tl_ragged_flat(vm, model, &offsets, &unused))
      return false;
    tl_drop(vm, unused);
  }
  // Made before anything is written into an operand: then nothing fails.
  tl_nested *made = tl_nested_new(vm, TL_FORM_RAGGED, 1, 2, NULL);
  bool ok = made != NULL;
  while (ok && opened < arity) {
    ok = operand_items(vm, &slots[opened], model, &items[opened]);
    values[opened] = ok ? items[opened].value : tl_none();
    opened += ok;
  }
  ok = ok && tl_elementwise(vm, op, values, &result);
  for (int i = 0; i < opened; i++) {
    items[i].value = values[i];
    tl_part_return(vm, &items[i], ok);
  }
  if (ok) {
    tl_nested_put(vm, made, 0, &offsets);
    tl_nested_put(vm, made, 1, &result);
  } else {
    tl_drop(vm, offsets);
  }
  return tl_nested_finish(vm, ok, made, out);
}
