// What array literals hold, side by side: records, rows of different lengths,
// none.
//
//   [(x: 1), (x: 2)]          2 * {x: int64}          stack_records
//   [1, none]                 2 * ?int64              stack_missing
//   [[1, 2], [3]]             2 * var * int64         stack_rows
//   [[1, none], [none]]       2 * var * ?int64        the second adopts a type
//   [zeros((2, 2)),           2 * 2 * var * float64   the axis that differs
//    zeros((2, 3))]                                   becomes var
//   [[1, 2], [3, 4]]          2 * 2 * int64           plain: tl_stack
#include "vm/nested/nested_join.h"

#include <inttypes.h>

#include "vm/array/range.h"
#include "vm/array/stack.h"
#include "vm/nested/forms.h"
#include "vm/nested/indexed.h"
#include "vm/nested/ragged.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// Records: a column of each field's values, then a struct array of those.
// The fields may stand in any order; that of the first record is the array's.
static bool stack_records(tl_vm *vm, int64_t count, const tl_slot *items,
                          tl_slot *out) {
  const tl_record *first = items[0].record;
  if (!tl_record_check_names(vm, first, "an array of structs"))
    return false;
  for (int64_t i = 1; i < count; i++) {
    bool same = items[i].record->length == first->length;
    for (int64_t k = 0; same && k < first->length; k++)
      same = tl_record_find(items[i].record,
                            tl_key_string(first->fields[k].key)) >= 0;
    if (!same)
      return tl_fail(
          vm, TALLY_ERR_TYPE,
          "the records of an array have the same fields: record %" PRId64
          " has others than record 0",
          i);
  }
  return tl_join_fields(vm, tl_stack_any, count, items, out);
}

// Scalars or strings of which some are none: those that are there are stacked,
// and spread over the places.
static bool stack_missing(tl_vm *vm, int64_t count, const tl_slot *items,
                          tl_slot *out) {
  tl_slot *all = tl_slots_new(vm, count);
  if (all == NULL)
    return false;
  tl_slot filler = tl_none();
  bool ok = true;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++)
    if (!tl_is_none(items[i]))
      filler = tl_borrow(items[i]);
  // What is missing takes the place of a value that is there: no dtype of its
  // own. Nothing but none is ?float64.
  if (tl_is_none(filler))
    filler = tl_float(0);
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++)
    all[i] = tl_is_none(items[i]) ? filler : tl_borrow(items[i]);
  tl_slot values;
  if (ok && tl_is_array(filler) && !tl_is_number(filler)) {
    ok = false;
    tl_fail(vm, TALLY_ERR_TYPE,
            "none stands for a missing number or string: an array holds no "
            "arrays beside it");
  }
  ok = ok && tl_stack(vm, count, all, &values);
  tl_slots_free(vm, all, count);
  if (!ok)
    return false;
  tl_array *mask = tl_array_new(vm, TL_BOOL, 1, &count);
  for (int64_t i = 0; i < count && tl_array_polled(vm, &mask, i); i++)
    mask->data[i] = tl_is_none(items[i]);
  return tl_places_pair(vm, TL_FORM_OPTION, mask, &values, out);
}

// The length of an item of a literal that becomes a row; -1: it has none.
static int64_t row_length(tl_slot s) {
  return tl_is_range(s)         ? s.range->length
         : tl_value_ndim(s) > 0 ? tl_value_length(s, 0)
                                : -1;
}

// An array without items takes the type of the rows beside it.
static bool is_empty_row(tl_slot s) {
  return tl_is_array(s) && tl_ndim(s.array) == 1 && s.array->size == 0;
}

// The axes of tables, behind the leading one, that differ in length.
// *first and *last are widened to take in the axes of this pair.
static void differing_axes(tl_slot a, tl_slot b, int *first, int *last) {
  for (int i = 1; i < tl_value_ndim(a) && i < tl_value_ndim(b); i++) {
    if (tl_value_length(a, i) == tl_value_length(b, i))
      continue;
    *first = i < *first ? i : *first;
    *last = i > *last ? i : *last;
  }
}

// Rows that are tables of other widths, or stand beside ragged ones, become
// ragged too.
// Rows are replaced one by one; a failure leaves the rest, which the caller
// drops all the same.
static bool align_rows(tl_vm *vm, int64_t count, tl_slot *rows) {
  bool needed = false;
  int first = TL_MAX_DIMS, last = 1;
  tl_slot model = tl_none();
  for (int64_t i = 0; i < count; i++) {
    needed = needed || tl_is_form(rows[i], TL_FORM_RAGGED);
    if (tl_has_rows(rows[i]) || is_empty_row(rows[i]))
      continue;
    if (!tl_is_none(model) && !tl_value_agrees(rows[i], model, 1)) {
      needed = true;
      differing_axes(rows[i], model, &first, &last);
    }
    if (tl_is_none(model))
      model = tl_borrow(rows[i]);
  }
  if (first > last)
    first = 1;
  for (int64_t i = 0; needed && i < count; i++) {
    tl_slot made;
    if (tl_value_ndim(rows[i]) <= last || tl_is_form(rows[i], TL_FORM_GRID))
      continue;
    if (!tl_value_as_vars(vm, rows[i], first, last, &made))
      return false;
    tl_clear(vm, &rows[i]);
    rows[i] = made;
  }
  return true;
}

// Nothing but none: of no type of its own (stack_missing chose one).
static bool is_all_missing(tl_slot s) {
  if (!tl_is_form(s, TL_FORM_OPTION) || !tl_is_array(s.nested->parts[1]) ||
      tl_dtype_of(s.nested->parts[1]) != TL_FLOAT64)
    return false;
  const tl_array *mask = s.nested->parts[0].array;
  bool all = tl_is_contiguous(mask);
  for (int64_t i = 0; all && i < mask->size; i++) all = mask->data[i] != 0;
  return all;
}

// The dtype of the items of a row, as deep as they are; TL_DTYPE_COUNT: none.
// Rows that say nothing of a dtype, as [] and [none] do not, give none.
static tl_dtype items_dtype(tl_slot s) {
  while (tl_has_rows(s)) s = s.nested->parts[1];
  if (is_all_missing(s) || (tl_is_array(s) && s.array->size == 0))
    return TL_DTYPE_COUNT;
  if (tl_is_form(s, TL_FORM_OPTION))
    s = s.nested->parts[1];
  return tl_is_array(s) ? tl_array_dtype(s.array) : TL_DTYPE_COUNT;
}

static bool adopt_part(tl_vm *vm, void *context, int64_t i, tl_slot part,
                       tl_slot *out);

// Where all items are missing, missing items of that dtype instead.
static bool adopt_dtype(tl_vm *vm, tl_dtype dtype, tl_slot s, tl_slot *out) {
  if (tl_has_rows(s))
    return tl_nested_map(vm, s.nested, tl_nested_ndim(s.nested), true,
                         adopt_part, &dtype, out);
  if (!is_all_missing(s)) {
    *out = tl_retain(vm, tl_borrow(s));
    return true;
  }
  tl_slot mask = tl_borrow(s.nested->parts[0]), values;
  return tl_array_give(tl_array_zeros(vm, dtype, tl_ndim(mask.array),
                                      tl_shape(mask.array)),
                       &values) &&
         tl_indexed_new(vm, TL_FORM_OPTION, &mask, &values, out);
}

// A tl_part_map: the offsets, part 0, stay; what is inside goes on.
static bool adopt_part(tl_vm *vm, void *context, int64_t i, tl_slot part,
                       tl_slot *out) {
  *out = tl_borrow(part);
  return i == 0 || adopt_dtype(vm, *(tl_dtype *)context, part, out);
}

// Rows of nothing but none take the type of the rows beside them.
static bool adopt_types(tl_vm *vm, int64_t count, tl_slot *rows) {
  tl_dtype dtype = TL_DTYPE_COUNT;
  for (int64_t i = 0; dtype == TL_DTYPE_COUNT && i < count; i++)
    dtype = items_dtype(rows[i]);
  bool ok = true;
  if (dtype == TL_DTYPE_COUNT)
    return true;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
    tl_slot row = rows[i];
    if (!tl_is_nested(row) || items_dtype(row) != TL_DTYPE_COUNT)
      continue;
    ok = adopt_dtype(vm, dtype, row, &rows[i]);
    if (ok)
      tl_drop(vm, row);
    else
      rows[i] = row;
  }
  return ok;
}

// Whether all have the same fixed axes, and no ragged ones behind. *ok becomes
// false after tl_fail.
static bool same_shapes(tl_vm *vm, int64_t count, const tl_slot *rows,
                        bool *ok) {
  int ndim = count > 0 ? tl_value_ndim(rows[0]) : 0;
  bool same = ndim > 0 && ndim < TL_MAX_DIMS;
  for (int64_t i = 0; same && i < count && tl_poll_ok(vm, i, ok); i++)
    same = !tl_has_rows(rows[i]) && tl_value_agrees(rows[i], rows[0], 0);
  return same && *ok;
}

// Values of one shape along a new first axis.
// One concatenation and a reshape, so no form needs a stack of its own.
static bool stack_shapes(tl_vm *vm, int64_t count, const tl_slot *rows,
                         tl_slot *out) {
  int64_t shape[2] = {count, tl_value_length(rows[0], 0)};
  tl_slot whole;
  return tl_value_concat(vm, count, rows, &whole) &&
         tl_value_split_axis(vm, &whole, 2, shape, out);
}

// Four steps: ranges become arrays, rows of nothing but none take a dtype,
// tables of different widths become rows of rows, and empty rows take the type
// of the first one that is not empty. Then, by what the shapes allow:
//
//   all the same, no rows within     a new first axis
//   rows within, the same shape      a grid
//   else                             ragged rows
static bool stack_rows(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out) {
  tl_slot *rows = tl_slots_new(vm, count);
  if (rows == NULL)
    return false;
  bool ok = true;
  int64_t model = -1;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
    if (tl_is_range(items[i]))
      ok = tl_as_array(vm, "[ ]", items[i], &rows[i]);
    else
      rows[i] = tl_borrow(items[i]);
    if (ok && model < 0 && !is_empty_row(rows[i]))
      model = i;
  }
  ok = ok && adopt_types(vm, count, rows) && align_rows(vm, count, rows);
  for (int64_t i = 0; model >= 0 && i < count && tl_poll_ok(vm, i, &ok); i++)
    if (is_empty_row(rows[i])) {
      tl_clear(vm, &rows[i]);
      ok = tl_value_slice(vm, rows[model], 0, 0, &rows[i]);
    }
  bool fits = same_shapes(vm, count, rows, &ok);
  // Rows have plain items: categories and pointers become their values.
  ok = ok && (fits || tl_spell_out(vm, (uint32_t)count, rows));
  bool made = ok && fits ? stack_shapes(vm, count, rows, out)
                         : ok && tl_grid_stack(vm, count, rows, &fits, out);
  if (ok && !fits)
    made = tl_ragged_of_rows(vm, count, rows, out);
  tl_slots_free(vm, rows, count);
  return made;
}

// The fields of records are stacked in turn, which recurses.
static bool stack_inner(tl_vm *vm, int64_t count, const tl_slot *items,
                        tl_slot *out) {
  if (vm->stacking >= TL_TYPE_DEPTH)
    return tl_fail(vm, TALLY_ERR_LIMIT,
                   "records become an array where they nest at most %d deep",
                   TL_TYPE_DEPTH);
  vm->stacking++;
  bool ok = stack_records(vm, count, items, out);
  vm->stacking--;
  return ok;
}

// Whether all are numbers and strings, which most are: nothing else can be told
// of them. Polls; *ok is false after tl_fail.
static bool are_flat(tl_vm *vm, int64_t count, const tl_slot *items, bool *ok) {
  bool plain = true;
  for (int64_t i = 0; plain && i < count && tl_poll_ok(vm, i, ok); i++)
    plain = tl_is_string(items[i]) || tl_is_number(items[i]);
  return plain && *ok;
}

// By what all items have in common; a mix goes to tl_stack, whose error says
// what does not fit. BYTES and single pointers are opened before anything else
// is looked at.
bool tl_stack_any(tl_vm *vm, int64_t count, const tl_slot *items,
                  tl_slot *out) {
  int64_t records = 0, missing = 0, rows = 0, nested = 0;
  bool regular = true, ok = true;
  int form;
  if (are_flat(vm, count, items, &ok))
    return tl_stack(vm, count, items, out);
  if (!ok || !tl_outermost_of(vm, count, items, &form))
    return false;
  if (form == TL_FORM_BYTES)
    return tl_join_raw_bytes(vm, tl_stack_any, count, items, out);
  for (int64_t i = 0; i < count; i++) {
    // A single pointer reads as its value.
    if (tl_is_spelled(items[i]) && tl_nested_ndim(items[i].nested) == 0)
      return tl_join_opened(vm, tl_indexed_values, tl_stack_any, count, items,
                            out);
    records += tl_is_record(items[i]);
    missing += tl_is_none(items[i]);
    nested += tl_is_nested(items[i]);
    int64_t length = row_length(items[i]);
    rows += length >= 0;
    regular = regular && length == row_length(items[0]) &&
              (length < 0 || tl_value_ndim(items[i]) < 2 ||
               tl_value_ndim(items[i]) != tl_value_ndim(items[0]) ||
               tl_value_agrees(items[i], items[0], 1));
    if (!tl_poll_at(vm, i))
      return false;
  }
  if (count > 0 && records == count)
    return stack_inner(vm, count, items, out);
  if (missing > 0 && records == 0 && rows == 0)
    return stack_missing(vm, count, items, out);
  if (count > 0 && rows == count && (nested > 0 || !regular))
    return stack_rows(vm, count, items, out);
  return tl_stack(vm, count, items, out);
}

// An array of one item, gathered at place 0 as often as the shape has items: so
// records and none need no code of their own.
bool tl_value_repeat(tl_vm *vm, tl_slot value, int ndim, const int64_t *shape,
                     tl_slot *out) {
  tl_slot one;
  if (!tl_stack_any(vm, 1, &value, &one))
    return false;
  tl_array *places = tl_array_zeros(vm, TL_INT64, ndim, shape);
  return tl_drop_after(vm, tl_take_at(vm, true, one, places, out), &one);
}

// A literal may be a column as well as an array: [1, 2] and 1..3 are made into
// arrays, owned. Where *is_column is true and the result false, the error is
// set; where both are false there is none.
bool tl_column_of(tl_vm *vm, tl_slot s, bool *is_column, tl_slot *out) {
  *is_column = true;
  if (tl_is_list(s))
    return tl_stack_any(vm, s.list->length, s.list->items, out);
  if (tl_is_range(s))
    return tl_array_give(tl_range_to_array(vm, s.range), out);
  *is_column = tl_value_ndim(s) > 0;
  *out = tl_borrow(s);
  return *is_column;
}
