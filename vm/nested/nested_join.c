// Joining values along their leading axis, and stacking what array literals
// hold: records, rows of different lengths, none.
#include <inttypes.h>
#include <string.h>

#include "vm/values/category.h"
#include "vm/error.h"
#include "vm/nested/grid.h"
#include "vm/types/layout.h"
#include "vm/values/list.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/ragged.h"
#include "vm/nested/struct_equal.h"
#include "vm/values/range.h"
#include "vm/values/record.h"
#include "vm/array/stack.h"
#include "vm/values/octets.h"
#include "vm/vm.h"

// --- Scratch ----------------------------------------------------------------

// Slots that own what was made for a while.
static tl_slot *open_slots(tl_vm *vm, int64_t count) {
  tl_slot *slots = tl_alloc(vm, ((size_t)count + 1) * sizeof *slots, "slots");
  for (int64_t i = 0; slots != NULL && i < count; i++) slots[i] = tl_none();
  return slots;
}

static void close_slots(tl_vm *vm, tl_slot *slots, int64_t count) {
  for (int64_t i = 0; i < count; i++) tl_clear(vm, &slots[i]);
  tl_free(vm, slots, ((size_t)count + 1) * sizeof *slots);
}

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
    if (part != NULL)
      tl_drop(vm, tl_own_array(part));
    if (cast != NULL)
      tl_drop(vm, tl_own_array(cast));
    at += shape[0] * tl_strides(whole)[0];
  }
  if (!ok) {
    tl_drop(vm, owned);
    return false;
  }
  tl_copy_slot(out, &owned);
  return true;
}

// Joins part [part] of all items.
static bool join_part(tl_vm *vm, int64_t count, const tl_slot *items,
                      int64_t part, tl_slot *out) {
  tl_slot *parts = open_slots(vm, count);
  if (parts == NULL)
    return false;
  for (int64_t i = 0; i < count; i++)
    parts[i] = tl_borrow(items[i].nested->parts[part]);
  bool ok = tl_value_concat(vm, count, parts, out);
  close_slots(vm, parts, count);
  return ok;
}

static bool join_parts(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out) {
  const tl_nested *first = items[0].nested;
  tl_nested *made =
      tl_nested_new(vm, tl_nested_form(first), tl_nested_ndim(first),
                    first->count, first->layout);
  if (made == NULL)
    return false;
  for (int64_t k = 0; k < first->count; k++) {
    tl_slot part;
    if (!join_part(vm, count, items, k, &part)) {
      tl_drop(vm, tl_own_nested(made));
      return false;
    }
    tl_nested_put(vm, made, k, &part);
  }
  *out = tl_own_nested(made);
  return true;
}

static bool join_ragged(tl_vm *vm, int64_t count, const tl_slot *items,
                        tl_slot *out) {
  int64_t rows = 0;
  for (int64_t i = 0; i < count; i++) rows += tl_ragged_rows(items[i].nested);
  tl_array *offsets = tl_offsets_new(vm, rows);
  tl_slot *flat = offsets != NULL ? open_slots(vm, count) : NULL;
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
  if (flat != NULL)
    close_slots(vm, flat, count);
  if (ok)
    return tl_ragged_new(vm, offsets, &content, out);
  if (offsets != NULL)
    tl_drop(vm, tl_own_array(offsets));
  return false;
}

// Ragged arrays and regular values of two axes or more.
static bool join_mixed(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out) {
  tl_slot *all = open_slots(vm, count);
  if (all == NULL)
    return false;
  bool ok = true;
  int64_t model = 0;  // the first that is ragged
  while (!tl_is_form(items[model], TL_FORM_RAGGED)) model++;
  for (int64_t i = 0; ok && i < count; i++) {
    if (tl_is_form(items[i], TL_FORM_RAGGED))
      all[i] = tl_borrow(items[i]);
    else if (tl_value_ndim(items[i]) < 2)
      ok = fail_join(vm, items, i > 0 ? i : model);
    else
      ok = tl_ragged_of_regular(vm, items[i], &all[i]);
  }
  ok = ok && join_ragged(vm, count, all, out);
  close_slots(vm, all, count);
  return ok;
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

static bool join_options(tl_vm *vm, int64_t count, const tl_slot *items,
                         tl_slot *out) {
  tl_slot *all = open_slots(vm, count);
  if (all == NULL)
    return false;
  bool ok = true;
  for (int64_t i = 0; ok && i < count; i++)
    ok = as_option(vm, items[i], &all[i]);
  ok = ok && join_parts(vm, count, all, out);
  close_slots(vm, all, count);
  return ok;
}

// Whether the struct arrays have the same fields in the same order.
static bool same_fields(const tl_type *a, const tl_type *b) {
  bool same = a->field_count == b->field_count;
  for (int64_t i = 0; same && i < a->field_count; i++)
    same = tl_string_equal(a->fields[i].name, b->fields[i].name);
  return same;
}

// Struct arrays of several layouts: joined field by field.
static bool join_fields(tl_vm *vm, int64_t count, const tl_slot *items,
                        tl_slot *out) {
  const tl_type *layout = items[0].nested->layout;
  int64_t fields = layout->field_count;
  tl_slot *columns = open_slots(vm, fields), *parts = NULL;
  tl_string **names = NULL;
  size_t nbytes = (size_t)fields * sizeof *names;
  if (columns != NULL)
    parts = open_slots(vm, count);
  if (parts != NULL)
    names = tl_alloc(vm, nbytes, "fields");
  bool ok = names != NULL;
  for (int64_t k = 0; ok && k < fields; k++) {
    names[k] = layout->fields[k].name;
    for (int64_t i = 0; ok && i < count; i++) {
      tl_slot lent = tl_borrow(items[i]);
      tl_clear(vm, &parts[i]);
      ok = tl_nested_field(vm, &lent, k, &parts[i]);
    }
    ok = ok && tl_value_concat(vm, count, parts, &columns[k]);
  }
  ok = ok && tl_struct_of_columns(vm, fields, names, columns, out);
  if (names != NULL)
    tl_free(vm, names, nbytes);
  if (parts != NULL)
    close_slots(vm, parts, count);
  if (columns != NULL)
    close_slots(vm, columns, fields);
  return ok;
}

// Categorical arrays and pointers are joined by their values.
static bool join_categories(tl_vm *vm, int64_t count, const tl_slot *items,
                            tl_slot *out) {
  tl_slot *values = open_slots(vm, count);
  if (values == NULL)
    return false;
  for (int64_t i = 0; i < count; i++) values[i] = tl_borrow(items[i]);
  bool ok = tl_spell_out(vm, (uint32_t)count, values) &&
            tl_value_concat(vm, count, values, out);
  close_slots(vm, values, count);
  return ok;
}

typedef bool joiner(tl_vm *vm, int64_t count, const tl_slot *items,
                    tl_slot *out);

static bool has_octets(int64_t count, const tl_slot *items) {
  bool found = false;
  for (int64_t i = 0; !found && i < count; i++) found = tl_is_octets(items[i]);
  return found;
}

// Bytes, joined by what they have inside.
static bool join_octets(tl_vm *vm, joiner *join, int64_t count,
                        const tl_slot *items, tl_slot *out) {
  tl_slot *inside = open_slots(vm, count), made;
  if (inside == NULL)
    return false;
  for (int64_t i = 0; i < count; i++) inside[i] = tl_octets_inside(items[i]);
  bool ok = join(vm, count, inside, &made);
  close_slots(vm, inside, count);
  return ok && tl_octets_close(vm, &made, out);
}

bool tl_value_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                     tl_slot *out) {
  if (has_octets(count, items))
    return join_octets(vm, tl_value_concat, count, items, out);
  for (int64_t i = 0; i < count; i++) {
    if (tl_is_spelled(items[i]))
      return join_categories(vm, count, items, out);
  }
  for (int64_t i = 0; i < count; i++) {
    if (tl_is_form(items[i], TL_FORM_GRID))
      return tl_grid_concat(vm, count, items, out);
  }
  int64_t arrays = 0, options = 0, ragged = 0, structs = 0;
  bool one_layout = true;
  for (int64_t i = 0; i < count; i++) {
    tl_slot s = items[i];
    if (tl_is_array(s) && tl_ndim(s.array) > 0) {
      arrays++;
    } else if (tl_is_nested(s)) {
      tl_form form = tl_nested_form(s.nested);
      options += form == TL_FORM_OPTION;
      ragged += form == TL_FORM_RAGGED;
      structs += form == TL_FORM_STRUCT || form == TL_FORM_COLUMNS;
      one_layout = one_layout && form == TL_FORM_STRUCT &&
                   s.nested->layout == items[0].nested->layout;
      if (structs == count &&
          !same_fields(items[0].nested->layout, s.nested->layout)) {
        return fail_join(vm, items, i);
      }
    }
  }
  if (arrays == count)
    return join_arrays(vm, count, items, out);
  if (ragged == count)
    return join_ragged(vm, count, items, out);
  if (ragged > 0)
    return join_mixed(vm, count, items, out);
  if (structs == count) {
    return one_layout ? join_parts(vm, count, items, out)
                      : join_fields(vm, count, items, out);
  }
  if (options + arrays == count)
    return join_options(vm, count, items, out);
  for (int64_t i = 1; i < count; i++) {
    if (tl_is_array(items[i]) != tl_is_array(items[0]) ||
        !tl_is_nested(items[i]) ||
        tl_nested_form(items[i].nested) != tl_nested_form(items[0].nested)) {
      return fail_join(vm, items, i);
    }
  }
  return fail_join(vm, items, 0);
}

bool tl_nested_copy(tl_vm *vm, tl_slot s, tl_slot *out) {
  const tl_nested *n = s.nested;
  if (tl_nested_form(n) == TL_FORM_RAGGED)
    return join_ragged(vm, 1, &s, out);
  tl_nested *made = tl_nested_new(vm, tl_nested_form(n), tl_nested_ndim(n),
                                  n->count, n->layout);
  for (int64_t i = 0; made != NULL && i < n->count; i++) {
    tl_slot part;
    bool ok = true;
    if (tl_is_nested(n->parts[i])) {
      ok = tl_nested_copy(vm, n->parts[i], &part);
    } else if (tl_is_string(n->parts[i])) {
      part = tl_borrow(n->parts[i]);
    } else {
      tl_array *copy = tl_array_copy(vm, n->parts[i].array);
      ok = copy != NULL;
      if (ok)
        part = tl_own_array(copy);
    }
    if (ok) {
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

bool tl_ragged_of_rows(tl_vm *vm, int64_t count, const tl_slot *rows,
                       tl_slot *out) {
  tl_array *offsets = tl_offsets_new(vm, count);
  if (offsets == NULL)
    return false;
  int64_t *to = tl_offsets_data(offsets);
  for (int64_t i = 0; i < count; i++)
    to[i + 1] = to[i] + tl_value_length(rows[i], 0);
  tl_slot items;
  if (tl_value_concat(vm, count, rows, &items))
    return tl_ragged_new(vm, offsets, &items, out);
  tl_drop(vm, tl_own_array(offsets));
  return false;
}

// --- Literals ---------------------------------------------------------------

// Records: a column of each field's values, then a struct array of those.
static bool stack_records(tl_vm *vm, int64_t count, const tl_slot *items,
                          tl_slot *out) {
  const tl_record *first = items[0].record;
  for (int64_t i = 1; i < count; i++) {
    bool same = items[i].record->length == first->length;
    for (int64_t k = 0; same && k < first->length; k++)
      same = tl_record_find(items[i].record, first->fields[k].key) >= 0;
    if (!same) {
      return tl_fail(
          vm, TALLY_ERR_TYPE,
          "the records of an array have the same fields: record %" PRId64
          " has others than record 0",
          i);
    }
  }
  int64_t fields = first->length;
  tl_slot *columns = open_slots(vm, fields);
  tl_slot *values = columns != NULL ? open_slots(vm, count) : NULL;
  size_t nbytes = (size_t)(fields + 1) * sizeof(tl_string *);
  tl_string **names = values != NULL ? tl_alloc(vm, nbytes, "fields") : NULL;
  bool ok = names != NULL;
  for (int64_t k = 0; ok && k < fields; k++) {
    names[k] = first->fields[k].key;
    for (int64_t i = 0; i < count; i++)
      values[i] = tl_borrow(*tl_record_get(items[i].record, names[k]));
    ok = tl_stack_any(vm, count, values, &columns[k]);
  }
  ok = ok && tl_struct_of_columns(vm, fields, names, columns, out);
  if (names != NULL)
    tl_free(vm, names, nbytes);
  if (values != NULL)
    close_slots(vm, values, count);
  if (columns != NULL)
    close_slots(vm, columns, fields);
  return ok;
}

// Scalars or strings of which some are none: those that are there are stacked,
// and spread over the places.
static bool stack_missing(tl_vm *vm, int64_t count, const tl_slot *items,
                          tl_slot *out) {
  tl_slot *all = open_slots(vm, count);
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
  close_slots(vm, all, count);
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
    bool ragged = tl_is_form(rows[i], TL_FORM_RAGGED);
    needed = needed || ragged;
    if (ragged || tl_is_form(rows[i], TL_FORM_GRID) || is_empty_row(rows[i]))
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
  while (tl_is_form(s, TL_FORM_RAGGED) || tl_is_form(s, TL_FORM_GRID))
    s = s.nested->parts[1];
  if (is_all_missing(s) || (tl_is_array(s) && s.array->size == 0))
    return TL_DTYPE_COUNT;
  if (tl_is_form(s, TL_FORM_OPTION))
    s = s.nested->parts[1];
  return tl_is_array(s) ? tl_array_dtype(s.array) : TL_DTYPE_COUNT;
}

// Where all items are missing, *s with missing items of that dtype instead.
static bool adopt_dtype(tl_vm *vm, tl_dtype dtype, tl_slot *s) {
  if (tl_is_form(*s, TL_FORM_RAGGED) || tl_is_form(*s, TL_FORM_GRID)) {
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
    same = tl_value_ndim(rows[i]) == ndim &&
           !tl_is_form(rows[i], TL_FORM_RAGGED) &&
           !tl_is_form(rows[i], TL_FORM_GRID);
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
  tl_slot *rows = open_slots(vm, count);
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
  close_slots(vm, rows, count);
  return made;
}

bool tl_stack_any(tl_vm *vm, int64_t count, const tl_slot *items,
                  tl_slot *out) {
  int64_t records = 0, missing = 0, rows = 0, nested = 0;
  bool regular = true;
  if (has_octets(count, items))
    return join_octets(vm, tl_stack_any, count, items, out);
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
    return stack_records(vm, count, items, out);
  if (missing > 0 && records == 0 && rows == 0)
    return stack_missing(vm, count, items, out);
  if (count > 0 && rows == count && (nested > 0 || !regular))
    return stack_rows(vm, count, items, out);
  return tl_stack(vm, count, items, out);
}
