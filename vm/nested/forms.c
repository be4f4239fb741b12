// The table of the forms, and the drivers above it. See forms.h.
//
//   get(x, step)      a field's name                  tl_nested_field
//                     a mask that may be missing      made known first
//                     else                            forms[x].get
//   set(x, way, v)    a new column of a table         add_column
//                     else, on x or on a copy         forms[x].set
//   op(x, y)          never equal                     one bool
//                     else                            forms[outermost].…
//   concat(x, y, …)   plain arrays alone              tl_join_arrays
//                     else                            forms[outermost].concat
#include "vm/nested/forms.h"

#include <inttypes.h>

#include "vm/nested/nested_join.h"
#include "vm/objects.h"

static const tl_form_ops *const forms[TL_FORM_COUNT] = {
    [TL_FORM_OPTION] = &tl_option_ops,   [TL_FORM_STRUCT] = &tl_struct_ops,
    [TL_FORM_COLUMNS] = &tl_columns_ops, [TL_FORM_RAGGED] = &tl_ragged_ops,
    [TL_FORM_GRID] = &tl_grid_ops,       [TL_FORM_CATEGORY] = &tl_category_ops,
    [TL_FORM_POINTER] = &tl_pointer_ops, [TL_FORM_BYTES] = &tl_bytes_ops,
};

// --- Indexing ----------------------------------------------------------------

// base[step], after an index by a field's name was ruled out. A mask that may
// have missing values is the same for all forms: it is made known first.
static bool get_items(tl_vm *vm, tl_slot base, const tl_step *step,
                      tl_slot *parts, tl_slot *out) {
  if (tl_is_option_mask(step, parts))
    return tl_option_mask_get(vm, base, parts[0].nested, out);
  return forms[tl_nested_form(base.nested)]->get(vm, base, step, parts, out);
}

// vm->nested->get: x["f"] is a field, anything else an index of the leading
// axes. *out is owned, or borrows from *base where base is borrowed. Where base
// dies with this call, *out is made independent of it.
static bool get(tl_vm *vm, tl_slot *base, const tl_step *step, tl_slot *parts,
                tl_slot *out) {
  if (step->item_count == 1 && step->items[0].kind == TL_ITEM_VALUE &&
      tl_is_string(parts[0])) {
    int64_t i = tl_nested_find(base->nested, parts[0].string);
    if (i < 0)
      return tl_fail_no_field(vm, *base, parts[0].string);
    return tl_nested_field(vm, base, i, out);
  }
  // What dies here does not keep the block for a view.
  return get_items(vm, tl_borrow(*base), step, parts, out) &&
         (!tl_is_owned(*base) || tl_keep_made(vm, out));
}

// --- New columns -------------------------------------------------------------

// A new column of a struct array: p.x = v where p has no x yet.
//
//   p  3 * {x: float64}, p.y = [1, 2, 3]   3 * {x: float64, y: int64}
//   p.y = 0                                0 in all rows
//   p.y = [1, 2]                           error: 2 items, 3 rows
//
// All columns are put together anew, in one block if they can be. A part of
// another array keeps its type, so there no column is added (path.c).

// Whether the place is such a field.
static bool adds_column(tl_nested_path w, tl_slot target) {
  const tl_string *name = tl_has_fields(target) && w.count == 1 &&
                                  target.nested->layout->kind == TL_TYPE_STRUCT
                              ? tl_step_name(w.steps, w.parts)
                              : NULL;
  return name != NULL && tl_nested_find(target.nested, name) < 0;
}

// What is assigned as a column: an array borrowed, of others one made of it.
static bool as_column(tl_vm *vm, const tl_string *name, tl_slot value,
                      int64_t length, tl_slot *out) {
  bool is_column, ok = tl_column_of(vm, value, &is_column, out);
  if (is_column)
    return ok;
  if (tl_is_scalar(value) || tl_is_string(value) || tl_is_record(value))
    return tl_value_repeat(vm, value, 1, &length, out);
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "the new column %s must be an array, or a value for all rows, "
                 "not %s",
                 name->text, tl_described(vm, value));
}

// The columns of a table behind its own ones; they share its memory where they
// have a block each, and are copied where they lie in one.
static bool put_columns(tl_vm *vm, tl_slot table, const tl_string *name,
                        tl_slot value, tl_string **names, tl_slot *columns,
                        int64_t *made) {
  const tl_nested *n = table.nested;
  int64_t count = n->layout->field_count;
  for (; *made < count; ++*made) {
    tl_slot borrowed = tl_borrow(table);
    names[*made] = n->layout->fields[*made].name;
    if (!tl_nested_field(vm, &borrowed, *made, &columns[*made]))
      return false;
  }
  int64_t length = tl_value_length(table, 0);
  names[count] = (tl_string *)name;
  if (!as_column(vm, name, value, length, &columns[count]))
    return false;
  ++*made;
  if (tl_value_length(columns[count], 0) == length)
    return true;
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "the new column %s has %" PRId64
                 " items, but the table has "
                 "%" PRId64 " rows",
                 name->text, tl_value_length(columns[count], 0), length);
}

// By building the table anew from its columns and the new one. Fails (kind
// name) for tables of several axes, and (kind shape) where the lengths
// differ, (kind type) for what is no column. *out is owned.
static bool add_column(tl_vm *vm, tl_nested_path w, tl_slot table,
                       tl_slot value, tl_nested **out) {
  const tl_nested *n = table.nested;
  tl_string *name = tl_step_name(w.steps, w.parts);
  if (tl_nested_ndim(n) != 1)
    return tl_fail_no_field(vm, table, name);
  int64_t made = 0, count = n->layout->field_count + 1;
  size_t nbytes = (size_t)count * (sizeof(tl_slot) + sizeof(tl_string *));
  tl_slot *columns = tl_alloc(vm, nbytes, "a new column"), wider;
  if (columns == NULL)
    return false;
  tl_string **names = (tl_string **)(void *)(columns + count);
  bool ok = put_columns(vm, table, name, value, names, columns, &made) &&
            tl_struct_of_columns(vm, count, names, columns, &wider);
  while (made > 0) tl_clear(vm, &columns[--made]);
  tl_free(vm, columns, nbytes);
  if (ok)
    *out = wider.nested;
  return ok;
}

// --- Writing -----------------------------------------------------------------

// A copy whose parts are shared with the original.
static tl_nested *share(tl_vm *vm, const tl_nested *n) {
  tl_nested *copy = tl_nested_new(vm, tl_nested_form(n), tl_nested_ndim(n),
                                  n->count, n->layout);
  for (int64_t i = 0; copy != NULL && i < n->count; i++) {
    tl_slot part = tl_borrow(n->parts[i]);
    copy->parts[i] = tl_retain(vm, part);
  }
  return copy;
}

// Of a value that is a view of the target and ends here, as in p[a:b] = p[c:d],
// gives up what it counts of the target: if that is all that others hold of it,
// the target is written, and what is moved within it is in order. False, and
// nothing is done, where the value is no such view; categories it may share.
static bool lend_parts(tl_vm *vm, tl_slot target, tl_slot value) {
  const uint64_t mine = TL_OWNED | TL_DIRECT;
  const tl_nested *n = target.nested;
  const tl_form form = tl_nested_form(n);
  bool ok = (form == TL_FORM_STRUCT || form == TL_FORM_OPTION ||
             form == TL_FORM_CATEGORY) &&
            tl_is_form(value, form) && tl_is_unique(value) && !vm->no_reuse;
  for (int64_t i = 0; ok && i < n->count; i++) {
    tl_slot to = n->parts[i], from = value.nested->parts[i];
    ok = from.object == to.object ||
         (tl_is_array(to) && (to.tag & mine) == mine && tl_is_array(from) &&
          tl_is_unique(from) && tl_is_view(from.array) &&
          (from.array->head.flags & TL_HOLD) != 0 &&
          tl_array_owner(from.array) == to.array && to.array->head.count == 2);
  }
  for (int64_t i = 0; ok && i < n->count; i++) {
    tl_array *view = value.nested->parts[i].array;
    if (view == n->parts[i].array)
      continue;
    tl_drop(vm, n->parts[i]);
    view->head.flags &= (uint8_t)~TL_HOLD;
  }
  return ok;
}

// The target was not written: the value counts again what it shows.
static void keep_parts(tl_vm *vm, tl_slot value) {
  for (int64_t i = 0; i < value.nested->count; i++)
    if (tl_is_array(value.nested->parts[i]))
      tl_hold(vm, value.nested->parts[i], TL_CAUSE_VIEW);
}

// target.way = value, on the target itself or on a copy that shares its parts.
// The value is borrowed. *out is the array that was written, owned by whoever
// owned the target or, for a copy, by the caller. A failure changes nothing.
// Where it may widen, a name that a table has no field of makes a new column,
// which a part of another array must not get: *out is then another
// array, and the target is dropped where it was to be changed in place.
static bool set(tl_vm *vm, const tl_nested_path *way, tl_slot target,
                bool in_place, bool may_widen, tl_slot *value,
                tl_nested **out) {
  tl_nested_path w = *way;
  tl_nested *n = target.nested;
  if (may_widen && adds_column(w, target)) {
    if (!add_column(vm, w, target, *value, out))
      return false;
    if (in_place)
      tl_drop(vm, target);
    return true;
  }
  // The copy's parts are the original's until one is written: that part is then
  // copied, as it has two owners (tl_part_update).
  if (!in_place && (n = share(vm, n)) == NULL)
    return false;
  const bool lent = in_place && lend_parts(vm, target, *value);
  bool ok = forms[tl_nested_form(n)]->set(vm, w, n, value);
  if (lent && !ok)
    keep_parts(vm, *value);
  if (ok)
    *out = n;
  else if (!in_place)
    tl_drop(vm, tl_own_nested(n));
  return ok;
}

// --- Elementwise operations --------------------------------------------------

// What a value's items are, as far as == is concerned: others than numbers are
// never equal to these, nor texts.
typedef enum item_kind { NUMBERS, TEXTS, FIELDS, OTHERS } item_kind;

// Down through options, rows and indexed arrays to what an item is. parts[1] is
// the content for all of those; BYTES, which has one part, is opened before
// == gets here, but for one beside another form.
static item_kind kind_of(tl_slot s) {
  while (tl_is_nested(s)) {
    if (tl_has_fields(s))
      return FIELDS;
    s = s.nested->parts[1];
  }
  if (tl_is_string(s) || (tl_is_array(s) && tl_dtype_of(s) == TL_STRING))
    return TEXTS;
  return tl_is_array(s) || tl_is_scalar(s) ? NUMBERS : OTHERS;
}

// A record or list beside structs, in rows too, stands for one of them.
static bool never_equal(tl_slot a, tl_slot b) {
  item_kind x = kind_of(a), y = kind_of(b);
  if (x == FIELDS || y == FIELDS) {
    tl_slot other = x == FIELDS ? b : a;
    return tl_is_none(other) ||
           (x != y && !tl_is_record(other) && !tl_is_list(other) &&
            !tl_has_fields(a) && !tl_has_fields(b));
  }
  return x != y;
}

// vm->nested->elementwise: finds the form that decides. Three exceptions:
//
//   == of values that are never equal     one bool, nothing is opened
//   a category or pointer beside none     answered as of missing values, by
//                                         the mask of the codes
//   no nested operand at all (where with  as of missing values
//   none among its operands)
static bool elementwise(tl_vm *vm, int code, tl_slot *slots, tl_slot *out) {
  tl_op op = (tl_op)code;
  int arity = tl_ops[op].arity, form = tl_outermost(arity, slots);
  bool spelled = form == TL_FORM_CATEGORY || form == TL_FORM_POINTER;
  bool beside_none =
      arity == 2 && (tl_is_none(slots[0]) || tl_is_none(slots[1]));
  bool opened = form == TL_FORM_BYTES || (spelled && !beside_none);
  // Against a list or another kind of value == is one bool.
  if (!opened && (op == TL_OP_EQUAL || op == TL_OP_NOT_EQUAL) &&
      never_equal(slots[0], slots[1])) {
    *out = tl_bool(op == TL_OP_NOT_EQUAL);
    return true;
  }
  if (form < 0 || (spelled && !opened))
    // where(c, none, x) has no nested operand, and an option as its result.
    form = TL_FORM_OPTION;  // which knows none
  return forms[form]->elementwise(vm, op, arity, slots, out);
}

// --- Joining and copying -----------------------------------------------------

// vm->nested->concat, and tl_value_concat. Plain arrays alone are joined by
// their items; a value without axes cannot be joined and is named.
static bool concat(tl_vm *vm, int64_t count, const tl_slot *items,
                   tl_slot *out) {
  int form;
  if (!tl_outermost_of(vm, count, items, &form))
    return false;
  if (form >= 0)
    return forms[form]->concat(vm, count, items, out);
  for (int64_t i = 0; i < count && tl_poll_at(vm, i); i++)
    if (tl_value_ndim(items[i]) == 0)
      return tl_fail_kinds(vm, count, items);
  return !tl_failed(vm) && tl_join_arrays(vm, count, items, out);
}

// A tl_part_map for all parts: a nested one is copied as a tree, a plain array
// by its items. Strings, which do not change, are shared.
static bool copy_part(tl_vm *vm, void *context, int64_t i, tl_slot part,
                      tl_slot *out) {
  (void)context;
  (void)i;
  if (tl_is_nested(part))
    return tl_nested_copy(vm, part, out);
  *out = tl_borrow(part);
  return !tl_is_array(part) ||
         tl_array_give(tl_array_copy(vm, part.array), out);
}

// Rows are copied by a concat of one: that leaves out what lies between and
// behind them in the content, which a copy of the parts would keep alive.
bool tl_nested_copy(tl_vm *vm, tl_slot s, tl_slot *out) {
  const tl_nested *n = s.nested;
  if (tl_nested_form(n) == TL_FORM_RAGGED)
    return tl_rows_concat(vm, 1, &s, out);
  return tl_nested_map(vm, n, tl_nested_ndim(n), true, copy_part, NULL, out);
}

// --- What the layers below call ----------------------------------------------

// The type of the whole value, with its fixed dimensions.
static tl_type *type_of(tl_vm *vm, tl_slot s) {
  return tl_type_below(vm, s, 0);
}

const struct tl_nested_ops tl_nested_ops = {
    .copy = tl_nested_copy,
    .equal = tl_equal,
    .type = type_of,
    .field = tl_field_get,
    .attribute_place = tl_attribute_place,
    .fail_no_field = tl_fail_no_key,
    .get = get,
    .get_mask = tl_option_mask_get,
    .known_mask = tl_option_known,
    .set = set,
    .elementwise = elementwise,
    .concat = concat,
    .format = tl_nested_format,
};
