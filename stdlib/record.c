// Functions for records; put serves lists and arrays too.
//
//
// A record that ends with the call gives away what it has: keys and values move
// into the list.

#include "stdlib/families.h"
#include "stdlib/text.h"
#include "vm/nested/nested.h"
#include "vm/poll.h"
#include "vm/values/record.h"

// --- Asking -----------------------------------------------------------------

// True for a record; else fails (kind type).
static bool record_argument(tl_vm *vm, const char *function, tl_slot s) {
  return tl_is_record(s) || tl_arg_fail(vm, function, "r", "a record", s);
}

// The key of a record that gives it away, as an item of a list. An integer that
// a list holds for the record leaves that.
static tl_slot own_key(tl_vm *vm, tl_key key) {
  tl_slot s = tl_key_slot(key);
  if (!tl_is_heap(s))
    tl_key_drop(vm, key);
  else if ((s.object->flags & TL_IMMORTAL) == 0)
    s.tag |= TL_OWNED;
  return s;
}

// A record that ends here gives its keys and values away, the last first, so
// that the others are still its own where it stops.
static bool give_fields(tl_vm *vm, tl_record *record, bool keys,
                        tl_list *list) {
  bool ok = true;
  // What the record borrows the list borrows.
  list->head.flags |= record->head.flags & TL_BORROWED;
  for (; list->length < record->length; list->length++)
    list->items[list->length] = tl_none();
  for (int64_t i = 0; ok && record->length > 0; i++) {
    const tl_field *field = &record->fields[--record->length];
    list->items[record->length] = keys ? own_key(vm, field->key) : field->value;
    if (keys)
      tl_drop(vm, field->value);
    else
      tl_key_drop(vm, field->key);
    ok = (i & 0xfff) != 0xfff || tl_poll_over(vm);
  }
  return ok;
}

// A list of the keys, or of the values.
static bool list_fields(tl_vm *vm, tl_slot r, bool keys, tl_slot *out) {
  tl_record *record = r.record;
  tl_list *list = tl_list_new(vm, record->length);
  if (list == NULL)
    return false;
  // The only owner is this call, so nobody sees the record empty.
  bool gives = tl_is_owned(r) && r.object->count == 1;
  bool ok = !gives || give_fields(vm, record, keys, list);
  for (int64_t i = 0; i < record->length && tl_poll_ok(vm, i, &ok); i++) {
    const tl_field *field = &record->fields[i];
    tl_slot item = keys ? tl_key_slot(field->key) : tl_borrow(field->value);
    ok = tl_list_push_borrowed(vm, &list, &item);
  }
  if (ok && tl_is_owned(r) && !gives)  // it may end here
    tl_keep_items(vm, &list->head);
  return tl_list_give(vm, list, ok, out);
}

// Whether s is an array of structs with names, not of tuples.
static bool has_columns(tl_slot s) {
  return tl_has_fields(s) && s.nested->layout->kind == TL_TYPE_STRUCT;
}

// The names of a table's columns.
static bool list_columns(tl_vm *vm, tl_slot p, tl_slot *out) {
  const tl_type *layout = p.nested->layout;
  tl_list *list = tl_list_new(vm, layout->field_count);
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < layout->field_count; i++) {
    const tl_string *name = layout->fields[i].name;
    ok = tl_list_push_text(vm, &list, name->text, name->length);
  }
  return tl_list_give(vm, list, ok, out);
}

// keys(r): in the order in which they were added. A table's are its columns.
static bool keys(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (has_columns(args[0]))
    return list_columns(vm, args[0], out);
  return record_argument(vm, "keys", args[0]) &&
         list_fields(vm, args[0], true, out);
}

// values(r), in the order of the keys.
static bool values(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return record_argument(vm, "values", args[0]) &&
         list_fields(vm, args[0], false, out);
}

// has(r, key): for tables only strings are keys.
static bool has(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (has_columns(args[0])) {
    tl_string *name;
    if (!tl_arg_string(vm, "has", "key", args[1], &name))
      return false;
    *out = tl_bool(tl_nested_find(args[0].nested, name) >= 0);
    return true;
  }
  if (!record_argument(vm, "has", args[0]) ||
      !tl_arg_key(vm, "has", "key", args[1]))
    return false;
  *out = tl_bool(tl_record_find_key(args[0].record, args[1]) >= 0);
  return true;
}

// Whether get may look for the key, in a record; else fails (kind type).
static bool is_sought(tl_vm *vm, tl_slot *args) {
  return record_argument(vm, "get", args[0]) &&
         tl_arg_key(vm, "get", "key", args[1]);
}

// Whether get(r, key, default) finds the key: its first half, where the code
// goes on by itself.
static bool finds(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!is_sought(vm, args))
    return false;
  *out = tl_bool(tl_record_find_key(args[0].record, args[1]) >= 0);
  return true;
}

// The value at a key, or what stands for one that is not there.
static bool get(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!is_sought(vm, args))
    return false;
  tl_slot *field = tl_record_get_key(args[0].record, args[1]);
  tl_slot found = field != NULL ? tl_borrow(*field) : tl_none();
  *out = tl_escape(vm, field != NULL ? &found : &args[2], TL_CAUSE_CALL);
  return true;
}

// Where record and key live on, whether the key is there: then it is one.
static bool found_at_once(const tl_slot *args, tl_slot **found) {
  if (!tl_is_record(args[0]) || tl_is_owned(args[0]) || tl_is_owned(args[1]) ||
      !tl_key_allowed(args[1]))
    return false;
  *found = tl_record_get_key(args[0].record, args[1]);
  return true;
}

// has(record, key) within an instruction, without a call. False: not here, and
// nothing has happened; the call that follows does it, or says what is wrong.
static bool has_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot *field;
  if (!found_at_once(args, &field))
    return false;
  tl_slot made = tl_bool(field != NULL);
  tl_copy_slot(out, &made);
  return true;
}

// get(record, key, default) in the same way. What lies on the heap is given a
// count of its own, since the record may end before the result does.
static bool get_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot *field;
  if (tl_is_owned(args[2]) || !found_at_once(args, &field))
    return false;
  tl_slot found = tl_borrow(field != NULL ? *field : args[2]);
  if (tl_is_heap(found))
    found = tl_escape(vm, &found, TL_CAUSE_CALL);
  tl_copy_slot(out, &found);
  return true;
}

// --- Changing ---------------------------------------------------------------

// xs[key], as an index of one item.
static const tl_index_item one_item = {.kind = TL_ITEM_VALUE};
static const tl_step one_step = {.item_count = 1, .items = &one_item};
static const tl_path one_index = {
    .step_count = 1, .part_count = 1, .steps = &one_step};

// put(xs, key, value): as xs[key] = value, with xs as the result. In its own
// memory where xs ends here.
static bool put(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_slot xs = args[0];
  if (!tl_is_record(xs) && !tl_is_list(xs) && !tl_is_array(xs) &&
      !tl_is_nested(xs))
    return tl_arg_fail(vm, "put", "xs", "a record, list or array", xs);
  return tl_path_set(vm, &args[0], &one_index, &args[1], &args[2], out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_record_builtins[] = {
    /// The keys of a record, or the columns of an array of structs, in order, as
    /// a list of strings.
    /// Other values are an error (kind type).
    ///     keys((a: 1, b: 2))    # ("a", "b")
    ///     keys([(x: 1, y: 2), (x: 3, y: 4)])    # ("x", "y")
    {"keys", "r", keys, .result = TL_LISTS},
    /// The values of a record, in order, as a list.
    /// Values other than records are an error (kind type).
    ///     values((a: 1, b: "c"))    # (1, "c")
    {"values", "r", values, .result = TL_LISTS},
    /// Whether a record has a key, for which `key in r` asks the same, or an
    /// array of structs that column.
    /// Other values are an error (kind type).
    ///     has((a: 1), "a")    # true
    {"has", "r, key", has, .at_once = has_at_once},
    /// The value at a key of a record, or default where it has no such key.
    /// A value r other than a record is an error (kind type).
    ///     get((a: 1), "a", 0)    # 1
    ///     get((a: 1), "b", 0)    # 0
    {"get", "r, key, default", get, .takes = TL_CONTAINERS,
     .at_once = get_at_once},
    /// xs with a value put at a key or index: of a record, where a new key goes
    /// to the end, a list or an array, whose type stays as in xs[key] = value. A
    /// dying xs is changed where it is.
    /// Other values xs are an error (kind type).
    ///     put((a: 1), "b", 2)    # (a: 1, b: 2)
    ///     put([1, 2, 3], 0, 9)    # [9, 2, 3]
    {"put", "xs, key, value", put, .restores = TL_ALL, .takes = TL_FORMS},
    {.name = NULL},
};

const tl_builtin tl_sought_module[] = {
    // Whether get(r, key, default) finds the key.
    {"get", "r, key", finds, .at_once = has_at_once},
    {.name = NULL},
};
