// The interpreter's slow paths: operands read by their modes, handed to the
// engine and the containers, and dropped. ops_elementwise.c has the
// elementwise ones.

#include "vm/interp/interp.h"

#include <string.h>

#include "vm/array/array.h"
#include "vm/interp/promise.h"
#include "vm/text/format.h"
#include "vm/api/host.h"
#include "vm/values/list.h"
#include "vm/engine/matmul.h"
#include "vm/memory/mapping.h"
#include "vm/nested/nested_join.h"
#include "vm/values/range.h"
#include "vm/values/record.h"
#include "vm/array/stack.h"

// An operand as its mode says: a borrowed one shows no owned bit.
static tl_slot read(const tl_slot *s, unsigned mode) {
  mode &= 3u;
  return mode == TL_MODE_CONSUME || mode == TL_MODE_EITHER ? *s : tl_borrow(*s);
}

static void put(tl_slot *a, tl_slot value) {
  tl_copy_slot(a, &value);
}

// --- Operators --------------------------------------------------------------

// Drops an operand that the operation did not write into.
static void end(tl_vm *vm, tl_slot operand) {
  if (!tl_is_owned(operand))
    return;
  vm->stats.temps_ended += tl_is_unique(operand);
  tl_drop(vm, operand);
}

bool tl_do_matmul(tl_vm *vm, tl_slot *a, const tl_slot *b, const tl_slot *c,
                  unsigned modes) {
  tl_slot operands[2] = {read(b, modes), read(c, modes >> 2)}, result;
  if (!tl_matmul(vm, operands, &result) ||
      (vm->has_promises && !tl_promise_makes(vm, result, TL_WHY_PRODUCT)))
    return false;
  // A product too small to poll may have read a file that is not there any
  // more.
  if ((vm->interrupted & TL_FILE_LOST) != 0 && !tl_poll(vm, 0)) {
    tl_drop(vm, result);
    return false;
  }
  end(vm, operands[0]);
  end(vm, operands[1]);
  put(a, result);
  return true;
}

// --- in ---------------------------------------------------------------------

bool tl_do_in(tl_vm *vm, const tl_slot *b, const tl_slot *c, unsigned modes,
              bool *found) {
  *found = false;
  if (!tl_contains(vm, *b, *c, found))
    return false;
  tl_drop(vm, read(b, modes));
  tl_drop(vm, read(c, modes >> 2));
  return true;
}

// --- Ranges and truth -------------------------------------------------------

static bool whole(tl_vm *vm, const tl_slot *s, const char *what, int64_t *out) {
  if (tl_is_scalar(*s) && tl_dtype_is_integer((tl_dtype)tl_dtype_of(*s))) {
    *out = s->i;
    return true;
  }
  char text[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_TYPE, "the %s of a range is an integer: got %s",
                 what, tl_describe(*s, text, sizeof text));
}

bool tl_do_range(tl_vm *vm, tl_slot *a, const tl_slot *b, const tl_slot *c,
                 const tl_slot *d) {
  int64_t start, stop, step;
  if (!whole(vm, b, "start", &start) || !whole(vm, c, "end", &stop) ||
      !whole(vm, d, "step", &step)) {
    return false;
  }
  tl_range *range = tl_range_new(vm, start, stop, step);
  if (range == NULL)
    return false;
  put(a, tl_own_range(range));
  return true;
}

bool tl_do_truth(tl_vm *vm, tl_slot s, unsigned mode, bool *truth) {
  (void)mode;
  if (tl_is_bool(s)) {
    *truth = s.i != 0;
    return true;
  }
  char text[TL_DESCRIBE];
  tl_describe(s, text, sizeof text);
  if (tl_is_array(s) && s.array->head.dtype == TL_BOOL) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "a condition is one bool, and this is %s: write any(…) or "
                   "all(…)",
                   text);
  }
  if (tl_is_number(s) || tl_is_array(s)) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "a condition is one bool, and this is %s: write … != 0%s",
                   text, tl_is_array(s) ? " in any(…) or all(…)" : "");
  }
  if (tl_is_none(s)) {
    return tl_fail(
        vm, TALLY_ERR_TYPE,
        "a condition is one bool, and this is none: x != none asks "
        "whether there is a value, skip_missing: true leaves missing "
        "items out of any(…) and all(…)");
  }
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "a condition is one bool, and this is %s: compare it, as in "
                 "… != none or len(…) > 0",
                 text);
}

bool tl_do_forprep(tl_vm *vm, tl_slot *hidden, bool *any) {
  int64_t start, stop, step;
  if (!whole(vm, &hidden[0], "start", &start) ||
      !whole(vm, &hidden[1], "end", &stop) ||
      !whole(vm, &hidden[2], "step", &step)) {
    return false;
  }
  if (step == 0) {
    return tl_fail(vm, TALLY_ERR_VALUE, "the step of a range is not 0");
  }
  uint64_t turns = 0;
  if (step > 0 && start < stop) {
    turns = ((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step + 1;
  } else if (step < 0 && start > stop) {
    turns = ((uint64_t)start - (uint64_t)stop - 1) / (0 - (uint64_t)step) + 1;
  }
  if (turns > INT64_MAX)
    turns = INT64_MAX;
  *any = turns > 0;
  hidden[0] = tl_weak_int(start);
  hidden[1] = tl_weak_int((int64_t)turns);
  hidden[2] = tl_weak_int(step);
  return true;
}

// --- Building ---------------------------------------------------------------

// Makes each slot of a window whole before the first of them is stored: a
// store may copy a view out and let its block go, which others here may borrow.
static void hold_all(tl_vm *vm, uint32_t count, const tl_slot *slots) {
  for (uint32_t i = 0; count > 1 && i < count; i++)
    if (tl_is_array(slots[i]))
      tl_hold(vm, slots[i], TL_CAUSE_VIEW);
}

bool tl_do_list(tl_vm *vm, uint32_t count, tl_slot *items, tl_slot *out) {
  tl_list *list = tl_list_new(vm, count);
  if (list == NULL)
    return false;
  hold_all(vm, count, items);
  for (uint32_t i = 0; i < count; i++) {
    list->items[i] = tl_lend(vm, &list->head, &items[i], TL_CAUSE_ITEM);
  }
  list->length = count;
  put(out, tl_own_list(list));
  return true;
}

// Sets a field of a record that is being made, with room for it; what the slot
// only borrows stays lent.
static bool set_lent(tl_vm *vm, tl_record **record, tl_string *key,
                     tl_slot *value) {
  bool whole = !tl_is_counted(*value) || (value->object->flags & TL_LENT) == 0;
  if (whole && (tl_is_owned(*value) || !tl_is_counted(*value)))
    return tl_record_set(vm, record, key, value);
  tl_slot nothing = tl_none();
  if (!tl_record_set(vm, record, key, &nothing))
    return false;
  *tl_record_get(*record, key) =
      tl_lend(vm, &(*record)->head, value, TL_CAUSE_FIELD);
  return true;
}

bool tl_do_record(tl_vm *vm, const struct tl_keys *keys, tl_slot *values,
                  tl_slot *out) {
  tl_record *record = tl_record_new(vm, keys->count);
  if (record == NULL)
    return false;
  // The record has room for all: nothing below fails.
  hold_all(vm, keys->count, values);
  for (uint32_t i = 0; i < keys->count; i++) {
    if (set_lent(vm, &record, keys->names[i], &values[i]))
      continue;
    tl_drop(vm, tl_own_record(record));
    return false;
  }
  for (uint32_t i = 0; i < keys->count; i++) tl_drop(vm, values[i]);
  put(out, tl_own_record(record));
  return true;
}

bool tl_do_stack(tl_vm *vm, uint32_t count, tl_slot *items, tl_slot *out) {
  tl_slot result;
  if (!tl_stack_any(vm, count, items, &result) ||
      (vm->has_promises && !tl_promise_makes(vm, result, TL_WHY_STACK)))
    return false;
  // Items of a window are ours to drop; a list's go with the list.
  if (out + 1 == items) {
    for (uint32_t i = 0; i < count; i++) tl_drop(vm, items[i]);
  }
  put(out, result);
  return true;
}

bool tl_do_push(tl_vm *vm, tl_slot *list, tl_slot *item, unsigned modes) {
  tl_slot value = read(item, modes);
  tl_slot target = read(list, modes >> 4);
  // What the list borrows already it goes on borrowing.
  tl_list *unique = target.list;
  bool in_place = tl_is_owned(target) && target.object->count == 1;
  if (!in_place && !tl_list_unique(vm, &target, 1, &unique))
    return false;
  bool ok = tl_list_push_lent(vm, &unique, &value);
  // A target that was only lent stays as it was where this fails.
  if (!ok && !tl_is_owned(read(list, modes >> 4))) {
    tl_drop(vm, tl_own_list(unique));
    return false;
  }
  put(list, tl_own_list(unique));
  if (ok)
    tl_drop(vm, value);
  return ok;
}

bool tl_do_format(tl_vm *vm, tl_slot *a, const tl_slot *b, unsigned mode,
                  const tl_string *spec) {
  tl_slot value = read(b, mode);
  if (spec->length == 0 && tl_is_string(value)) {
    put(a, value);
    return true;
  }
  tl_text text;
  tl_text_open(&text, vm);
  bool ok = spec->length == 0
                ? tl_format_value(vm, &text, value, false, 0)
                : tl_format_spec(vm, &text, value, spec->text, spec->length);
  tl_string *string = ok ? tl_text_finish(&text) : NULL;
  if (string == NULL) {
    if (!ok)
      tl_text_close(&text);
    return false;
  }
  tl_drop(vm, value);
  put(a, tl_own_string(string));
  return true;
}

bool tl_do_join(tl_vm *vm, uint32_t count, tl_slot *strings, tl_slot *out) {
  size_t nbytes = 0;
  for (uint32_t i = 0; i < count; i++) nbytes += strings[i].string->length;
  tl_string *joined = tl_string_new(vm, NULL, nbytes);
  if (joined == NULL)
    return false;
  char *to = joined->text;
  for (uint32_t i = 0; i < count; i++) {
    memcpy(to, strings[i].string->text, strings[i].string->length);
    to += strings[i].string->length;
  }
  tl_string_finish(joined);
  for (uint32_t i = 0; i < count; i++) tl_drop(vm, strings[i]);
  put(out, tl_own_string(joined));
  return true;
}

bool tl_do_closure(tl_vm *vm, const tl_group *group, uint32_t count,
                   tl_slot *captures, tl_slot *out) {
  tl_closure *closure =
      tl_object_new(vm, TL_KIND_CLOSURE,
                    sizeof *closure + count * sizeof(tl_slot), "a function");
  if (closure == NULL)
    return false;
  closure->member_count = group->member_count;
  closure->members = group->members;
  closure->capture_count = count;
  hold_all(vm, count, captures);
  for (uint32_t i = 0; i < count; i++) {
    closure->captures[i] =
        tl_lend(vm, &closure->head, &captures[i], TL_CAUSE_CAPTURE);
  }
  put(out, (tl_slot){.tag = TL_TAG_CLOSURE | TL_OWNED, .pointer = closure});
  return true;
}

// --- Places -----------------------------------------------------------------

static const tl_index_item value_items[2] = {{TL_ITEM_VALUE, 0},
                                             {TL_ITEM_VALUE, 0}};

// Whether the promise under way asks what is taken from [from].
static bool asks(tl_vm *vm, tl_slot from) {
  return vm->has_promises && (tl_is_array(from) || tl_is_nested(from)) &&
         tl_promise_holds(vm, 1, &from);
}

static bool get(tl_vm *vm, tl_slot *a, const tl_slot *of, unsigned mode,
                uint16_t count, tl_slot *parts) {
  tl_step step = {.item_count = count, .items = value_items};
  tl_slot base = read(of, mode), result;
  bool asked = asks(vm, base);
  if (!tl_index_get(vm, &base, &step, parts, &result) ||
      (asked && !tl_promise_takes(vm, of, result)))
    return false;
  if (tl_is_list(result) && tl_is_owned(result) && !tl_is_scalar(parts[0]))
    tl_keep_items(vm, &result.list->head);  // a range took more than an item
  for (uint16_t i = 0; i < count; i++) tl_drop(vm, parts[i]);
  tl_drop(vm, base);
  put(a, result);
  return true;
}

bool tl_do_getel(tl_vm *vm, tl_slot *a, const tl_slot *base,
                 const tl_slot *index, unsigned modes) {
  tl_slot part = read(index, modes >> 2);
  return get(vm, a, base, modes, 1, &part);
}

bool tl_do_getel2(tl_vm *vm, tl_slot *a, const tl_slot *base, const tl_slot *i,
                  const tl_slot *j, unsigned modes) {
  tl_slot parts[2] = {read(i, modes >> 2), read(j, modes >> 6)};
  return get(vm, a, base, modes, 2, parts);
}

// A column that is read many times: its items side by side, where each lies on
// a cache line of its own and they fit the nearest cache together with others.
// A view as it was where memory is short.
enum { COLUMN_LINE = 64, COLUMN_MOST = 16 * 1024 };
static void gather_column(tl_vm *vm, tl_slot *column) {
  if (!tl_is_array(*column) || !tl_is_view(column->array) ||
      tl_ndim(column->array) != 1)
    return;
  tl_array *view = column->array;
  int64_t stride = tl_strides(view)[0];
  tl_dtype dtype = tl_array_dtype(view);
  if ((stride < COLUMN_LINE && stride > -COLUMN_LINE) || dtype >= TL_STRING ||
      view->size > COLUMN_MOST / (int64_t)tl_itemsize(dtype) || view->size < 2)
    return;
  tl_array *copy = tl_array_copy(vm, view);
  if (copy == NULL) {
    tl_error_clear(vm);
    return;
  }
  tl_drop(vm, *column);
  *column = tl_own_array(copy);
}

bool tl_do_index(tl_vm *vm, tl_slot *base, unsigned mode, const tl_path *path,
                 tl_slot *parts, tl_slot *out) {
  tl_slot from = read(base, mode), result;
  bool asked = asks(vm, from);
  bool ok = tl_path_portion(path) != TL_PORTION_ANY
                ? tl_index_take(vm, &from, &path->steps[0], parts, &result)
                : tl_index_get(vm, &from, &path->steps[0], parts, &result);
  if (!ok || (asked && !tl_promise_takes(vm, base, result)))
    return false;
  if (path->is_column)
    gather_column(vm, &result);
  for (uint16_t i = 0; i < path->part_count; i++) tl_drop(vm, parts[i]);
  tl_drop(vm, from);
  put(out, result);
  return true;
}

bool tl_do_getf(tl_vm *vm, tl_slot *a, const tl_slot *base, unsigned mode,
                tl_string *name) {
  tl_slot from = read(base, mode), result;
  bool asked = asks(vm, from);
  if (!tl_field_get(vm, &from, name, &result) ||
      (asked && !tl_promise_takes(vm, base, result)))
    return false;
  tl_drop(vm, from);
  put(a, result);
  return true;
}

// Sets fields of a new record, which has room for them, to those of one that
// has them all: they move out of one that ends, and one that lives lends them.
static void choose_fields(tl_vm *vm, tl_slot from, const struct tl_keys *keys,
                          tl_record **record) {
  bool gives = tl_is_owned(from) && from.object->count == 1;
  for (uint32_t i = 0; i < keys->count; i++) {
    if (tl_record_find(*record, keys->names[i]) >= 0)
      continue;  // named twice
    tl_slot *field = tl_record_get(from.record, keys->names[i]), value = *field;
    if (gives)
      *field = tl_none();
    else
      value = tl_borrow(value);
    if (gives || !tl_is_owned(from))
      set_lent(vm, record, keys->names[i], &value);
    else
      tl_record_set(vm, record, keys->names[i], &value);
  }
}

// p.{x, y}: a record with those fields alone.
bool tl_do_fields(tl_vm *vm, tl_slot *a, const tl_slot *base, unsigned mode,
                  const struct tl_keys *keys) {
  if (tl_is_nested(*base)) {
    tl_slot made;
    bool asked = asks(vm, *base);
    if (!tl_nested_select(vm, *base, keys->count, keys->names, &made) ||
        (asked && !tl_promise_takes(vm, base, made)))
      return false;
    tl_drop(vm, read(base, mode));
    put(a, made);
    return true;
  }
  if (!tl_is_record(*base)) {
    char text[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_TYPE,
                   ".{…} selects fields of a record or a struct array: got %s",
                   tl_describe(*base, text, sizeof text));
  }
  tl_slot from = read(base, mode);
  for (uint32_t i = 0; i < keys->count; i++) {
    tl_slot looked_at = tl_borrow(from), value;
    if (!tl_field_get(vm, &looked_at, keys->names[i], &value))
      return false;
  }
  tl_record *record = tl_record_new(vm, keys->count);
  if (record == NULL)
    return false;
  choose_fields(vm, from, keys, &record);
  tl_drop(vm, from);
  put(a, tl_own_record(record));
  return true;
}

bool tl_do_setpath(tl_vm *vm, tl_slot *target, const tl_slot *value,
                   const tl_path *path, tl_slot *parts, unsigned modes) {
  tl_slot from = read(target, modes >> 4), item = read(value, modes), result;
  if (!tl_path_set(vm, &from, path, parts, &item, &result))
    return false;
  tl_drop(vm, from);
  tl_drop(vm, item);
  put(target, result);
  return true;
}

bool tl_do_take(tl_vm *vm, const tl_slot *container, unsigned mode,
                const tl_path *path, tl_slot *parts, tl_slot *out) {
  tl_slot result;
  if (!tl_path_take(vm, read(container, mode), path, parts, &result))
    return false;
  put(out, result);
  return true;
}

void tl_do_untake(tl_vm *vm, tl_slot *target, const tl_slot *item,
                  const tl_path *path, tl_slot *parts, unsigned modes) {
  tl_slot from = read(item, modes);
  tl_path_give_back(vm, *target, path, parts, &from);
  tl_drop(vm, from);
}

bool tl_do_unpack(tl_vm *vm, tl_slot *a, const tl_slot *b, unsigned mode,
                  uint32_t count) {
  tl_slot value = read(b, mode);
  if (tl_is_list(value)) {
    if (value.list->length != (int64_t)count) {
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "%u names are assigned from a list of %lld items", count,
                     (long long)value.list->length);
    }
    put(a, value);
    return true;
  }
  int64_t length = tl_is_array(value) && tl_ndim(value.array) > 0
                       ? tl_shape(value.array)[0]
                   : tl_is_nested(value) ? tl_value_length(value, 0)
                   : tl_is_range(value)  ? value.range->length
                                         : -1;
  if (length < 0) {
    char text[TL_DESCRIBE];
    const char *hint =
        tl_is_record(value) ? "; values(r) lists a record's values" : "";
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%u names are assigned from a list or an array: got %s%s",
                   count, tl_describe(value, text, sizeof text), hint);
  }
  if (length != (int64_t)count) {
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%u names are assigned from an array of %lld items", count,
                   (long long)length);
  }
  tl_list *list = tl_list_new(vm, count);
  if (list == NULL)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    tl_slot base = tl_borrow(value), item, at = tl_weak_int(i);
    tl_step step = {.item_count = 1, .items = value_items};
    if (!tl_index_get(vm, &base, &step, &at, &item)) {
      tl_drop(vm, tl_own_list(list));
      return false;
    }
    list->items[i] = tl_escape(vm, &item, TL_CAUSE_ITEM);
    list->length++;
  }
  tl_drop(vm, value);
  put(a, tl_own_list(list));
  return true;
}

// --- Iteration --------------------------------------------------------------

// A resource that for walks, or NULL.
static const tl_resource *walked_resource(tl_slot s) {
  const tl_resource *resource = tl_is_resource(s) ? s.pointer : NULL;
  return resource != NULL && resource->walked != NULL ? resource : NULL;
}

bool tl_do_more(tl_vm *vm, const tl_slot *container, const tl_slot *position,
                bool *more) {
  tl_slot c = *container;
  int64_t length = -1;
  const tl_resource *resource = walked_resource(c);
  if (resource != NULL)
    return resource->walked->more(vm, resource->object, more);
  if (tl_is_list(c)) {
    length = c.list->length;
  } else if (tl_is_array(c) && tl_ndim(c.array) > 0) {
    length = tl_shape(c.array)[0];
  } else if (tl_is_nested(c)) {
    length = tl_value_length(c, 0);
  } else if (tl_is_range(c)) {
    length = c.range->length;
  } else if (tl_is_record(c)) {
    length = c.record->length;
  } else if (tl_is_string(c)) {
    length = (int64_t)c.string->length;  // position counts bytes
  }
  if (length < 0) {
    char text[TL_DESCRIBE];
    return tl_fail(
        vm, TALLY_ERR_TYPE,
        "for walks an array, list, range, record, string or file: got %s",
        tl_describe(c, text, sizeof text));
  }
  *more = position->i < length;
  return true;
}

// The pair borrows from the record. Of one that [gives], the value moves out.
static bool next_pair(tl_vm *vm, tl_field *field, bool gives, tl_slot *a) {
  tl_list *pair = tl_list_new(vm, 2);
  if (pair == NULL)
    return false;
  tl_slot key = {.tag = TL_TAG_STRING, .string = field->key};
  tl_slot value = gives ? field->value : tl_borrow(field->value);
  if (gives)
    field->value = tl_none();
  pair->items[0] = tl_lend(vm, &pair->head, &key, TL_CAUSE_KEEP);
  pair->items[1] = tl_lend(vm, &pair->head, &value, TL_CAUSE_KEEP);
  pair->length = 2;
  put(a, tl_own_list(pair));
  return true;
}

static bool next_cluster(tl_vm *vm, const tl_string *string, int64_t *at,
                         tl_slot *a) {
  size_t end = tl_grapheme_end(string->text, string->length, (size_t)*at);
  tl_string *cluster = tl_string_new(vm, string->text + *at, end - (size_t)*at);
  if (cluster == NULL)
    return false;
  *at = (int64_t)end;
  put(a, tl_own_string(cluster));
  return true;
}

bool tl_do_next(tl_vm *vm, tl_slot *a, tl_slot *container, tl_slot *position,
                unsigned mode, uint32_t what) {
  tl_slot c = *container;
  int64_t i = position->i;
  bool more = false;
  // Compiled code asks first; any other is not trusted to.
  if ((what == TL_NEXT_OF_LIST && !tl_is_list(c)) || i < 0 ||
      !tl_do_more(vm, container, position, &more) || !more)
    return !tl_failed(vm) &&
           tl_fail(vm, TALLY_ERR_HOST, "next: there is no such item");
  if (tl_is_string(c))
    return next_cluster(vm, c.string, &position->i, a);
  bool gives = mode != TL_MODE_BORROW && tl_is_owned(c) && c.object->count == 1;
  const tl_resource *resource = walked_resource(c);
  if (resource != NULL) {
    tl_slot item;
    if (!resource->walked->next(vm, resource->object, &item))
      return false;
    put(a, item);
    return true;
  }
  if (tl_is_list(c)) {
    tl_slot *item = &c.list->items[i];
    if (gives) {
      // A dying list gives its items away, also those that it is lent.
      put(a, *item);
      *item = tl_none();
    } else {
      put(a, tl_borrow(*item));
    }
  } else if (tl_is_range(c)) {
    put(a, tl_weak_int(tl_range_item(c.range, i)));
  } else if (tl_is_record(c)) {
    tl_field *field = &c.record->fields[i];
    if (what == TL_NEXT_PAIR) {
      if (!next_pair(vm, field, gives, a))
        return false;
    } else {
      put(a, (tl_slot){.tag = TL_TAG_STRING, .string = field->key});
    }
  } else {
    tl_slot base = tl_borrow(c), at = tl_weak_int(i), result;
    tl_step step = {.item_count = 1, .items = value_items};
    if (!tl_index_get(vm, &base, &step, &at, &result))
      return false;
    put(a, result);
  }
  position->i = i + 1;
  return true;
}

// --- Parameters and the prompt ----------------------------------------------

bool tl_do_check_types(tl_vm *vm, tl_prototype *function, tl_slot *params) {
  tl_bindings bindings = {.count = 0};
  for (uint32_t i = 0; i < function->param_count; i++) {
    const tl_function_param *p = &function->params[i];
    if (p->pattern == NULL)
      continue;
    if (!tl_type_match(vm, p->pattern, params[i], &bindings, p->name->text)) {
      return false;
    }
  }
  return true;
}

bool tl_do_show(tl_vm *vm, tl_slot value) {
  if (tl_is_none(value))
    return true;
  tl_text text;
  tl_text_open(&text, vm);
  bool ok = tl_format_display(vm, &text, value, vm->width);
  if (ok && (text.length == 0 || text.bytes[text.length - 1] != '\n')) {
    tl_text_putc(&text, '\n');
  }
  if (ok && text.failed)
    ok = tl_fail_memory(vm, text.length, "the display");
  ok = ok && tl_write(vm, text.bytes, text.length);
  tl_text_close(&text);
  return ok;
}
