// Joining values along their leading axis, and stacking what array literals
// hold: records, rows of different lengths, none.
#include <inttypes.h>
#include <string.h>

#include "vm/array/describe.h"
#include "vm/nested/indexed.h"
#include "vm/error.h"
#include "vm/nested/forms.h"
#include "vm/nested/grid.h"
#include "vm/types/layout.h"
#include "vm/values/list.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/nested_set.h"
#include "vm/nested/parts.h"
#include "vm/nested/ragged.h"
#include "vm/nested/struct_equal.h"
#include "vm/array/range.h"
#include "vm/values/record.h"
#include "vm/array/stack.h"
#include "vm/nested/raw_bytes.h"
#include "vm/vm.h"

// --- Joining ----------------------------------------------------------------

// Why two values are not joined; what they are, where nothing else says it.
static const char *why_apart(tl_slot a, tl_slot b) {
  bool rows = tl_is_form(a, TL_FORM_RAGGED) || tl_is_form(b, TL_FORM_RAGGED);
  if (rows && (tl_value_ndim(a) < 2 || tl_value_ndim(b) < 2) &&
      tl_is_form(a, TL_FORM_RAGGED) != tl_is_form(b, TL_FORM_RAGGED))
    return "rows are joined with rows: [v] is one row of the items of v";
  if (!tl_has_fields(a) || !tl_has_fields(b))
    return "their items differ in type or shape";
  const tl_type *x = a.nested->layout;
  bool same = x->field_count == b.nested->layout->field_count;
  for (int64_t i = 0; same && i < x->field_count; i++)
    same = tl_nested_find(b.nested, x->fields[i].name) >= 0;
  return same ? "their fields come in another order: p.{y, x} orders them"
              : "they have other fields";
}

static bool fail_join(tl_vm *vm, const tl_slot *items, int64_t i) {
  char a[TL_DESCRIBE], b[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_TYPE, "%s and %s cannot be joined: %s",
                 tl_describe(items[0], a, sizeof a),
                 tl_describe(items[i], b, sizeof b),
                 why_apart(items[0], items[i]));
}

static bool join_arrays(tl_vm *vm, int64_t count, const tl_slot *items,
                        tl_slot *out) {
  const tl_array *first = items[0].array;
  tl_dtype dtype = tl_array_dtype(first);
  int64_t shape[TL_MAX_DIMS], total = 0;
  for (int64_t i = 0; i < count; i++) {
    const tl_array *a = items[i].array;
    bool texts = tl_array_dtype(a) == TL_STRING;
    bool fits = tl_ndim(a) == tl_ndim(first) && texts == (dtype == TL_STRING);
    for (int k = 1; fits && k < tl_ndim(a); k++)
      fits = tl_shape(a)[k] == tl_shape(first)[k];
    if (!fits)
      return fail_join(vm, items, i);
    if (!texts)
      dtype = tl_dtype_promote(dtype, tl_array_dtype(a));
    total += tl_shape(a)[0];
  }
  for (int k = 1; k < tl_ndim(first); k++) shape[k] = tl_shape(first)[k];
  shape[0] = total;
  tl_array *whole = tl_array_new(vm, dtype, tl_ndim(first), shape);
  if (whole == NULL)
    return false;
  tl_slot owned = tl_own_array(whole);
  char *at = whole->data;
  bool ok = true;
  for (int64_t i = 0; ok && i < count; i++) {
    const tl_array *a = items[i].array, *from = a;
    tl_array *cast = NULL;
    if (tl_array_dtype(a) != dtype)
      from = cast = tl_array_cast(vm, a, dtype);
    tl_slot base = tl_borrow(owned);
    shape[0] = tl_shape(a)[0];
    tl_array *part = from != NULL
                         ? tl_view_new(vm, &base, dtype, at, tl_ndim(a), shape,
                                       tl_strides(whole))
                         : NULL;
    ok = part != NULL && tl_array_assign(vm, part, from);
    tl_array_drop(vm, part);
    tl_array_drop(vm, cast);
    at += shape[0] * tl_strides(whole)[0];
  }
  if (!ok) {
    tl_drop(vm, owned);
    return false;
  }
  tl_copy_slot(out, &owned);
  return true;
}

// What is joined, for its parts.
typedef struct joined {
  int64_t count;
  const tl_slot *items;
} joined;

static bool join_part(tl_vm *vm, void *context, int64_t i, tl_slot part,
                      tl_slot *out) {
  const joined *all = context;
  tl_slot *parts = tl_slots_new(vm, all->count, "slots");
  (void)part;
  if (parts == NULL)
    return false;
  for (int64_t k = 0; k < all->count; k++)
    parts[k] = tl_borrow(all->items[k].nested->parts[i]);
  bool ok = tl_value_concat(vm, all->count, parts, out);
  tl_slots_free(vm, parts, all->count);
  return ok;
}

static bool join_parts(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out) {
  const tl_nested *first = items[0].nested;
  joined all = {count, items};
  return tl_nested_map(vm, first, tl_nested_ndim(first), false, join_part, &all,
                       out);
}

static bool join_ragged(tl_vm *vm, int64_t count, const tl_slot *items,
                        tl_slot *out) {
  int64_t rows = 0;
  for (int64_t i = 0; i < count; i++) rows += tl_ragged_rows(items[i].nested);
  tl_array *offsets = tl_offsets_new(vm, rows);
  tl_slot *flat = offsets != NULL ? tl_slots_new(vm, count, "slots") : NULL;
  bool ok = flat != NULL;
  int64_t *to = ok ? tl_offsets_data(offsets) : NULL;
  for (int64_t i = 0; ok && i < count; i++) {
    tl_slot at;
    ok = tl_ragged_flat(vm, items[i], &at, &flat[i]);
    if (!ok)
      break;
    int64_t n = tl_ragged_rows(items[i].nested), base = *to;
    const int64_t *from = tl_offsets_data(at.array);
    for (int64_t k = 1; k <= n; k++) to[k] = base + from[k];
    to += n;
    tl_drop(vm, at);
  }
  tl_slot content;
  ok = ok && tl_value_concat(vm, count, flat, &content);
  tl_slots_free(vm, flat, count);
  return tl_ragged_close(vm, ok, offsets, &content, out);
}

// Rows as they are, of a regular value of two axes or more those of one length.
static bool as_rows(tl_vm *vm, tl_slot s, tl_slot *out) {
  *out = tl_borrow(s);
  return tl_is_form(s, TL_FORM_RAGGED) || tl_ragged_of_regular(vm, s, out);
}

bool tl_rows_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                    tl_slot *out) {
  int64_t model = 0;  // the first that is ragged
  while (!tl_is_form(items[model], TL_FORM_RAGGED)) model++;
  for (int64_t i = 0; i < count; i++) {
    if (!tl_is_form(items[i], TL_FORM_RAGGED) && tl_value_ndim(items[i]) < 2)
      return fail_join(vm, items, i > 0 ? i : model);
  }
  return tl_join_opened(vm, as_rows, join_ragged, count, items, out);
}

// The first value that is not of the first one's kind is named.
static bool fail_kinds(tl_vm *vm, int64_t count, const tl_slot *items) {
  for (int64_t i = 1; i < count; i++) {
    if (tl_is_array(items[i]) != tl_is_array(items[0]) ||
        !tl_is_nested(items[i]) || !tl_is_nested(items[0]) ||
        tl_nested_form(items[i].nested) != tl_nested_form(items[0].nested))
      return fail_join(vm, items, i);
  }
  return fail_join(vm, items, 0);
}

// The value as one whose items may be missing, none of which is.
static bool as_option(tl_vm *vm, tl_slot s, tl_slot *out) {
  if (tl_is_nested(s)) {
    *out = tl_borrow(s);
    return true;
  }
  tl_array *mask =
      tl_array_zeros(vm, TL_BOOL, tl_ndim(s.array), tl_shape(s.array));
  if (mask == NULL)
    return false;
  tl_slot first = tl_own_array(mask), second = tl_borrow(s);
  return tl_nested_pair(vm, TL_FORM_OPTION, tl_ndim(s.array), &first, &second,
                        out);
}

bool tl_options_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out) {
  for (int64_t i = 0; i < count; i++) {
    if (tl_value_ndim(items[i]) == 0 ||
        (tl_is_nested(items[i]) && !tl_is_form(items[i], TL_FORM_OPTION)))
      return fail_kinds(vm, count, items);
  }
  return tl_join_opened(vm, as_option, join_parts, count, items, out);
}

// Whether the struct arrays have the same fields in the same order.
static bool same_fields(const tl_type *a, const tl_type *b) {
  bool same = a->field_count == b->field_count;
  for (int64_t i = 0; same && i < a->field_count; i++)
    same = tl_string_equal(a->fields[i].name, b->fields[i].name);
  return same;
}

// Records or struct arrays with the fields of the first one: each field's
// values are joined, and the columns make the whole.
static bool join_fields(tl_vm *vm, tl_joiner *join, int64_t count,
                        const tl_slot *items, tl_slot *out) {
  const tl_record *record = tl_is_record(items[0]) ? items[0].record : NULL;
  const tl_type *layout = record == NULL ? items[0].nested->layout : NULL;
  int64_t fields = record != NULL ? record->length : layout->field_count;
  tl_slot *columns = tl_slots_new(vm, fields, "columns");
  tl_slot *values = columns != NULL ? tl_slots_new(vm, count, "slots") : NULL;
  bool ok = values != NULL;
  for (int64_t k = 0; ok && k < fields; k++) {
    tl_string *name = record != NULL ? tl_key_string(record->fields[k].key)
                                     : layout->fields[k].name;
    for (int64_t i = 0; ok && i < count; i++) {
      tl_clear(vm, &values[i]);
      ok = tl_struct_value_field(vm, items[i], name, &values[i]);
    }
    ok = ok && join(vm, count, values, &columns[k]);
  }
  ok = ok && (record != NULL ? tl_struct_of_record(vm, record, columns, out)
                             : tl_struct_like(vm, layout, columns, out));
  tl_slots_free(vm, values, count);
  tl_slots_free(vm, columns, fields);
  return ok;
}

bool tl_structs_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out) {
  bool one_layout = true;
  for (int64_t i = 0; i < count; i++) {
    if (!tl_has_fields(items[i]))
      return fail_kinds(vm, count, items);
    const tl_type *layout = items[i].nested->layout;
    one_layout = one_layout && tl_is_form(items[i], TL_FORM_STRUCT) &&
                 layout == items[0].nested->layout;
    if (!same_fields(items[0].nested->layout, layout))
      return fail_join(vm, items, i);
  }
  return one_layout ? join_parts(vm, count, items, out)
                    : join_fields(vm, tl_value_concat, count, items, out);
}

// The values of categories and pointers.
static bool spelled(tl_vm *vm, tl_slot s, tl_slot *out) {
  *out = tl_borrow(s);
  return tl_spell_out(vm, 1, out);
}

bool tl_indexed_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out) {
  return tl_join_opened(vm, spelled, tl_value_concat, count, items, out);
}

// Bytes, joined by what they have inside.
static bool inside(tl_vm *vm, tl_slot s, tl_slot *out) {
  (void)vm;
  *out = tl_raw_bytes_inside(s);
  return true;
}

static bool join_raw_bytes(tl_vm *vm, tl_joiner *join, int64_t count,
                           const tl_slot *items, tl_slot *out) {
  tl_slot made;
  return tl_join_opened(vm, inside, join, count, items, &made) &&
         tl_raw_bytes_close(vm, &made, out);
}

bool tl_raw_bytes_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                         tl_slot *out) {
  return join_raw_bytes(vm, tl_value_concat, count, items, out);
}

bool tl_value_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                     tl_slot *out) {
  int form = tl_outermost(count, items);
  if (form >= 0)
    return tl_forms[form].concat(vm, count, items, out);
  for (int64_t i = 0; i < count; i++) {
    if (tl_value_ndim(items[i]) == 0)
      return fail_kinds(vm, count, items);
  }
  return join_arrays(vm, count, items, out);
}

// --- Copying ----------------------------------------------------------------

static bool copy_part(tl_vm *vm, void *context, int64_t i, tl_slot part,
                      tl_slot *out) {
  (void)context;
  (void)i;
  if (tl_is_nested(part))
    return tl_nested_copy(vm, part, out);
  *out = tl_borrow(part);
  return !tl_is_array(part) ||
         tl_array_finish(vm, true, tl_array_copy(vm, part.array), out);
}

bool tl_nested_copy(tl_vm *vm, tl_slot s, tl_slot *out) {
  const tl_nested *n = s.nested;
  if (tl_nested_form(n) == TL_FORM_RAGGED)
    return join_ragged(vm, 1, &s, out);
  return tl_nested_map(vm, n, tl_nested_ndim(n), true, copy_part, NULL, out);
}

bool tl_ragged_of_rows(tl_vm *vm, int64_t count, const tl_slot *rows,
                       tl_slot *out) {
  tl_array *offsets = tl_offsets_new(vm, count);
  if (offsets == NULL)
    return false;
  int64_t *to = tl_offsets_data(offsets);
  for (int64_t i = 0; i < count; i++)
    to[i + 1] = to[i] + tl_value_length(rows[i], 0);
  tl_slot items;
  bool ok = tl_value_concat(vm, count, rows, &items);
  return tl_ragged_close(vm, ok, offsets, &items, out);
}

// --- Literals ---------------------------------------------------------------

// Records: a column of each field's values, then a struct array of those.
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
    if (!same) {
      return tl_fail(
          vm, TALLY_ERR_TYPE,
          "the records of an array have the same fields: record %" PRId64
          " has others than record 0",
          i);
    }
  }
  return join_fields(vm, tl_stack_any, count, items, out);
}

// Scalars or strings of which some are none: those that are there are stacked,
// and spread over the places.
static bool stack_missing(tl_vm *vm, int64_t count, const tl_slot *items,
                          tl_slot *out) {
  tl_slot *all = tl_slots_new(vm, count, "slots");
  if (all == NULL)
    return false;
  tl_slot filler = tl_none();
  for (int64_t i = 0; i < count; i++) {
    if (!tl_is_none(items[i]))
      filler = tl_borrow(items[i]);
  }
  // What is missing takes the place of a value that is there: no dtype of its
  // own. Nothing but none is ?float64.
  if (tl_is_none(filler))
    filler = tl_float(0);
  for (int64_t i = 0; i < count; i++)
    all[i] = tl_is_none(items[i]) ? filler : tl_borrow(items[i]);
  tl_slot values, missing;
  bool ok = !tl_is_array(filler) || tl_is_number(filler);
  if (!ok) {
    tl_fail(vm, TALLY_ERR_TYPE,
            "none stands for a missing number or string: an array holds no "
            "arrays beside it");
  }
  ok = ok && tl_stack(vm, count, all, &values);
  tl_slots_free(vm, all, count);
  if (!ok)
    return false;
  tl_array *mask = tl_array_new(vm, TL_BOOL, 1, &count);
  if (mask == NULL) {
    tl_drop(vm, values);
    return false;
  }
  for (int64_t i = 0; i < count; i++) mask->data[i] = tl_is_none(items[i]);
  missing = tl_own_array(mask);
  return tl_nested_pair(vm, TL_FORM_OPTION, 1, &missing, &values, out);
}

static bool is_row(tl_slot s) {
  return tl_is_range(s) || tl_value_ndim(s) > 0;
}

// An array without items takes the type of the rows beside it.
static bool is_empty_row(tl_slot s) {
  return tl_is_array(s) && tl_ndim(s.array) == 1 && s.array->size == 0;
}

static bool same_widths(tl_slot a, tl_slot b) {
  bool same = tl_value_ndim(a) == tl_value_ndim(b);
  for (int i = 1; same && i < tl_value_ndim(a); i++)
    same = tl_value_length(a, i) == tl_value_length(b, i);
  return same;
}

// The axes of tables, behind the leading one, that differ in length.
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
static bool align_rows(tl_vm *vm, int64_t count, tl_slot *rows) {
  bool needed = false;
  int first = TL_MAX_DIMS, last = 1;
  tl_slot model = tl_none();
  for (int64_t i = 0; i < count; i++) {
    needed = needed || tl_is_form(rows[i], TL_FORM_RAGGED);
    if (tl_has_rows(rows[i]) || is_empty_row(rows[i]))
      continue;
    if (!tl_is_none(model) && !same_widths(rows[i], model)) {
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
static tl_dtype items_dtype(tl_slot s) {
  while (tl_has_rows(s)) s = s.nested->parts[1];
  if (is_all_missing(s) || (tl_is_array(s) && s.array->size == 0))
    return TL_DTYPE_COUNT;
  if (tl_is_form(s, TL_FORM_OPTION))
    s = s.nested->parts[1];
  return tl_is_array(s) ? tl_array_dtype(s.array) : TL_DTYPE_COUNT;
}

// Where all items are missing, *s with missing items of that dtype instead.
static bool adopt_dtype(tl_vm *vm, tl_dtype dtype, tl_slot *s) {
  if (tl_has_rows(*s)) {
    const tl_nested *n = s->nested;
    tl_slot first = tl_borrow(n->parts[0]), made;
    tl_slot items = tl_retain(vm, tl_borrow(n->parts[1]));
    bool ok = adopt_dtype(vm, dtype, &items);
    if (!ok)
      tl_drop(vm, items);
    ok = ok && tl_nested_pair(vm, tl_nested_form(n), tl_nested_ndim(n), &first,
                              &items, &made);
    if (ok) {
      tl_clear(vm, s);
      tl_copy_slot(s, &made);
    }
    return ok;
  }
  if (!is_all_missing(*s))
    return true;
  const tl_array *mask = s->nested->parts[0].array;
  tl_array *values = tl_array_zeros(vm, dtype, tl_ndim(mask), tl_shape(mask));
  if (values == NULL)
    return false;
  tl_slot first = tl_borrow(s->nested->parts[0]), made;
  tl_slot second = tl_own_array(values);
  if (!tl_nested_pair(vm, TL_FORM_OPTION, tl_ndim(mask), &first, &second,
                      &made))
    return false;
  tl_clear(vm, s);
  tl_copy_slot(s, &made);
  return true;
}

// Rows of nothing but none take the type of the rows beside them.
static bool adopt_types(tl_vm *vm, int64_t count, tl_slot *rows) {
  tl_dtype dtype = TL_DTYPE_COUNT;
  for (int64_t i = 0; dtype == TL_DTYPE_COUNT && i < count; i++)
    dtype = items_dtype(rows[i]);
  bool ok = true;
  for (int64_t i = 0; ok && dtype != TL_DTYPE_COUNT && i < count; i++) {
    if (tl_is_nested(rows[i]) && items_dtype(rows[i]) == TL_DTYPE_COUNT)
      ok = adopt_dtype(vm, dtype, &rows[i]);
  }
  return ok;
}

// Whether all have the same fixed axes, and no ragged ones behind.
static bool same_shapes(int64_t count, const tl_slot *rows) {
  int ndim = count > 0 ? tl_value_ndim(rows[0]) : 0;
  bool same = ndim > 0 && ndim < TL_MAX_DIMS;
  for (int64_t i = 0; same && i < count; i++) {
    same = tl_value_ndim(rows[i]) == ndim && !tl_has_rows(rows[i]);
    for (int k = 0; same && k < ndim; k++)
      same = tl_value_length(rows[i], k) == tl_value_length(rows[0], k);
  }
  return same;
}

// Values of one shape along a new first axis.
static bool stack_shapes(tl_vm *vm, int64_t count, const tl_slot *rows,
                         tl_slot *out) {
  int64_t shape[2] = {count, tl_value_length(rows[0], 0)};
  tl_slot whole;
  return tl_value_concat(vm, count, rows, &whole) &&
         tl_value_split_axis(vm, &whole, 2, shape, out);
}

static bool stack_rows(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out) {
  tl_slot *rows = tl_slots_new(vm, count, "slots");
  if (rows == NULL)
    return false;
  bool ok = true;
  int64_t model = -1;
  for (int64_t i = 0; ok && i < count; i++) {
    if (tl_is_range(items[i]))
      ok = tl_as_array(vm, "[ ]", items[i], &rows[i]);
    else
      rows[i] = tl_borrow(items[i]);
    if (ok && model < 0 && !is_empty_row(rows[i]))
      model = i;
  }
  ok = ok && adopt_types(vm, count, rows) && align_rows(vm, count, rows);
  for (int64_t i = 0; ok && model >= 0 && i < count; i++) {
    if (is_empty_row(rows[i])) {
      tl_clear(vm, &rows[i]);
      ok = tl_value_slice(vm, rows[model], 0, 0, &rows[i]);
    }
  }
  bool fits = ok && same_shapes(count, rows);
  bool made = fits ? stack_shapes(vm, count, rows, out)
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

bool tl_stack_any(tl_vm *vm, int64_t count, const tl_slot *items,
                  tl_slot *out) {
  int64_t records = 0, missing = 0, rows = 0, nested = 0;
  bool regular = true;
  if (tl_outermost(count, items) == TL_FORM_BYTES)
    return join_raw_bytes(vm, tl_stack_any, count, items, out);
  for (int64_t i = 0; i < count; i++) {
    records += tl_is_record(items[i]);
    missing += tl_is_none(items[i]);
    nested += tl_is_nested(items[i]);
    rows += is_row(items[i]);
    int64_t length = tl_is_range(items[i]) ? items[i].range->length
                     : is_row(items[i])    ? tl_value_length(items[i], 0)
                                           : -1;
    int64_t first = tl_is_range(items[0]) ? items[0].range->length
                    : is_row(items[0])    ? tl_value_length(items[0], 0)
                                          : -1;
    regular = regular && length == first &&
              (length < 0 || tl_value_ndim(items[i]) < 2 ||
               tl_value_ndim(items[i]) != tl_value_ndim(items[0]) ||
               same_widths(items[i], items[0]));
  }
  if (count > 0 && records == count)
    return stack_inner(vm, count, items, out);
  if (missing > 0 && records == 0 && rows == 0)
    return stack_missing(vm, count, items, out);
  if (count > 0 && rows == count && (nested > 0 || !regular))
    return stack_rows(vm, count, items, out);
  return tl_stack(vm, count, items, out);
}

bool tl_column_of(tl_vm *vm, tl_slot s, bool *is_column, tl_slot *out) {
  *is_column = true;
  if (tl_is_list(s))
    return tl_stack_any(vm, s.list->length, s.list->items, out);
  if (tl_is_range(s))
    return tl_array_finish(vm, true, tl_range_to_array(vm, s.range), out);
  *is_column = tl_value_ndim(s) > 0;
  *out = tl_borrow(s);
  return *is_column;
}
