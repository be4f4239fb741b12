// The interpreter's slow paths for places: items, slices, fields and updates at
// a path, and taking a value apart into several names.
//
//     x[i], x[i, j]   get           the general index of values
//     x[…], x.f       tl_do_index   a path of steps over the window's parts
//     x.a[k] = v      tl_do_setpath, or tl_do_take … tl_exec_untake where the
//                     old value is moved out first and put back
//     a, ...b = v     tl_do_unpack
//
// They keep to the order that the head of ops.c gives, so that a failure
// consumes nothing.

#include "vm/interp/handlers.h"
#include "vm/interp/interp.h"

#include "vm/array/element.h"
#include "vm/events.h"
#include "vm/nested/nested_join.h"
#include "vm/values/record.h"

const tl_index_item tl_value_items[2] = {{TL_ITEM_VALUE, 0},
                                         {TL_ITEM_VALUE, 0}};

// The value of a record's key; NULL: the general path finds it, or says that
// there is none.
static const tl_slot *find_value(const tl_slot *b, const tl_slot *c) {
  return tl_key_allowed(*c) ? tl_record_get_key(b->record, *c) : NULL;
}

bool tl_get_rare(tl_vm *vm, tl_slot *a, const tl_slot *b, const tl_slot *c,
                 const tl_ins *ins) {
  tl_slot wide;
  if (!tl_is_record(*b))
    return tl_element_get(a, b, tl_index_widen(c, &wide) ? &wide : c);
  const tl_slot *value = find_value(b, c);
  if (value == NULL)
    return false;
  tl_slot found = tl_borrow(*value);
  tl_drop(vm, tl_operand_read(c, MODE_C));
  tl_operand_put(a, found);
  return true;
}

bool tl_get_rare2(tl_slot *a, const tl_slot *b, const tl_slot *c,
                  const tl_slot *d) {
  tl_slot wide, other;
  return tl_element_get2(a, b, tl_index_widen(c, &wide) ? &wide : c,
                         tl_index_widen(d, &other) ? &other : d);
}

bool tl_peek_rare(tl_slot *a, const tl_slot *b, const tl_slot *c,
                  unsigned c_mode) {
  tl_slot wide;
  if (!tl_is_record(*b))
    return tl_index_widen(c, &wide) && tl_element_peek(a, b, &wide);
  bool stays = c_mode == TL_MODE_BORROW || !tl_is_owned(*c);
  const tl_slot *value = stays ? find_value(b, c) : NULL;
  if (value == NULL || !tl_is_scalar(*value))
    return false;
  tl_copy_slot(a, value);
  return true;
}

// Whether an in-place contract is under way and wants to know what is taken
// from [from]: the result may be a copy, which would break it.
static bool asks(tl_vm *vm, tl_slot from) {
  return vm->has_contracts && (tl_is_array(from) || tl_is_nested(from)) &&
         vm->observer->contract_holds(vm, 1, &from);
}

// What tl_index_part found: bytes [begin, end) of the string in [of].
static bool get_part(tl_vm *vm, const tl_slot *of, unsigned mode, size_t begin,
                     size_t end, tl_slot *out) {
  tl_slot part;
  if (tl_failed(vm) || !tl_string_cut(vm, of->string, begin, end, &part))
    return false;
  tl_drop(vm, tl_operand_read(of, mode));
  tl_operand_put(out, part);
  return true;
}

// What the step says of a value, by the general path; [parts] are its [count]
// index values, which are dropped where it did not fail. [portion]: the
// compiler expects a list or record that borrows items.
static bool take(tl_vm *vm, const tl_slot *of, unsigned mode,
                 const tl_step *step, bool portion, uint32_t count,
                 tl_slot *parts, tl_slot *out) {
  size_t begin = 0, end = 0;
  if (tl_index_part(vm, *of, step, parts, &begin, &end))
    return get_part(vm, of, mode, begin, end, out);
  tl_slot from = tl_operand_read(of, mode), result;
  bool asked = asks(vm, from);
  bool ok = portion ? tl_index_take(vm, &from, step, parts, &result)
                    : tl_index_get(vm, &from, step, parts, &result);
  if (!ok || (asked && !vm->observer->contract_takes(vm, of, result)))
    return false;
  tl_drop_all(vm, parts, count);
  tl_drop(vm, from);
  tl_operand_put(out, result);
  return true;
}

// b[i] or b[i, j]; [parts] are the index values.
static bool get(tl_vm *vm, tl_slot *a, const tl_slot *of, unsigned mode,
                uint16_t count, tl_slot *parts) {
  const tl_step step = {.item_count = count, .items = tl_value_items};
  bool is_item = tl_is_scalar(parts[0]);
  if (!take(vm, of, mode, &step, false, count, parts, a))
    return false;
  if (tl_is_list(*a) && tl_is_owned(*a) && !is_item)
    tl_keep_items(vm, &a->list->head);  // a range took more than an item
  return true;
}

// The result's slot may be the base's or the index's, so it is written last. A
// number of an array or list that ends with that is taken out at once.
bool tl_do_getel(tl_vm *vm, tl_slot *a, const tl_slot *base,
                 const tl_slot *index, unsigned modes) {
  tl_slot number;
  if (!tl_is_record(*base) && !tl_has_contracts(vm) &&
      tl_get_rare(vm, &number, base, index, NULL) && !tl_is_heap(number)) {
    tl_drop(vm, tl_operand_read(base, modes & 3u));
    tl_copy_slot(a, &number);
    return true;
  }
  tl_slot part = tl_operand_read(index, modes >> 2 & 3u);
  return get(vm, a, base, modes & 3u, 1, &part);
}

bool tl_do_getel2(tl_vm *vm, tl_slot *a, const tl_slot *base, const tl_slot *i,
                  const tl_slot *j, unsigned modes) {
  tl_slot parts[2] = {tl_operand_read(i, modes >> 2 & 3u),
                      tl_operand_read(j, modes >> 6 & 3u)};
  return get(vm, a, base, modes & 3u, 2, parts);
}

// Where index values are spread, as in x[...i]: the path is written out first.
static bool do_spread_index(tl_vm *vm, tl_slot *base, unsigned mode,
                            const tl_path *path, tl_slot *parts, tl_slot *out) {
  tl_open_path spread;
  if (!tl_path_open(vm, path, parts, &spread))
    return false;
  bool ok =
      take(vm, base, mode, spread.path.steps, false, 0, spread.parts, out);
  tl_path_close(vm, &spread);
  if (ok)
    tl_drop_all(vm, parts, path->part_count);
  return ok;
}

// Where the compiler expects a portion (a list or record that borrows items),
// tl_index_take makes it without counts; the verifier has checked that against
// what the path says.
bool tl_do_index(tl_vm *vm, tl_slot *base, unsigned mode, const tl_path *path,
                 tl_slot *parts, tl_slot *out) {
  // A path with spread values is written out first.
  if (path->spreads)
    return do_spread_index(vm, base, mode, path, parts, out);
  return take(vm, base, mode, &path->steps[0],
              tl_path_portion(path) != TL_PORTION_ANY, path->part_count, parts,
              out);
}

// A consumed base is dropped after the field is read: what *out borrows from it
// has been counted by then (tl_field_get).
bool tl_do_getf(tl_vm *vm, tl_slot *a, const tl_slot *base, unsigned mode,
                tl_string *name) {
  tl_slot from = tl_operand_read(base, mode), result;
  if (tl_is_array(from) && !tl_is_owned(from) && !tl_has_contracts(vm) &&
      tl_outline(vm, from, name, a))
    return true;
  bool asked = asks(vm, from);
  if (!tl_field_get(vm, &from, name, &result) ||
      (asked && !vm->observer->contract_takes(vm, base, result)))
    return false;
  tl_drop(vm, from);
  tl_operand_put(a, result);
  return true;
}

// Sets the fields of a new record, which has room for them, to those of [from],
// which has them all: they move out of one that ends, and are borrowed from one
// that lives on.
static void choose_fields(tl_vm *vm, tl_slot from, const struct tl_keys *keys,
                          tl_record **record) {
  // The record ends here and has no other owner.
  bool gives = tl_is_owned(from) && from.object->count == 1;
  for (uint32_t i = 0; i < keys->count; i++) {
    if (tl_record_find(*record, keys->names[i]) >= 0)
      continue;  // named twice
    // A field named twice is taken once.
    tl_slot *field = tl_record_get(from.record, keys->names[i]), value = *field;
    if (gives)
      *field = tl_none();
    else
      value = tl_borrow(value);
    // What moves out or may be borrowed needs no count.
    if (gives || !tl_is_owned(from))
      tl_set_new_field(vm, record, keys->names[i], &value);
    else
      tl_record_set(vm, record, keys->names[i], &value);
  }
}

// p.{x, y}: a record with those fields alone, or a struct array with those
// members.
bool tl_exec_fields(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const struct tl_keys *keys = &tl_unit_of(vm)->keys[EXTRA()];
  tl_slot from = tl_operand_read(RB, MODE_B);
  if (tl_is_nested(from)) {
    tl_slot made;
    bool asked = asks(vm, from);
    if (!tl_nested_select(vm, *RB, keys->count, keys->names, &made) ||
        (asked && !vm->observer->contract_takes(vm, RB, made)))
      return false;
    tl_drop(vm, from);
    tl_operand_put(RA, made);
    return true;
  }
  if (!tl_is_record(from)) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   ".{…} selects fields of a record or a struct array: got %s",
                   tl_described(vm, from));
  }
  for (uint32_t i = 0; i < keys->count; i++) {
    // Look up all names first, so that a missing one fails before anything
    // moves.
    tl_slot looked_at = tl_borrow(from), value;
    if (!tl_field_get(vm, &looked_at, keys->names[i], &value))
      return false;
  }
  tl_record *record = tl_record_new(vm, keys->count);
  if (record == NULL)
    return false;
  choose_fields(vm, from, keys, &record);
  tl_drop(vm, from);
  tl_operand_put(RA, tl_own_record(record));
  return true;
}

// The target's slot gets what tl_path_set made of it, which may be the same
// object.
static bool set_path(tl_vm *vm, tl_slot *target, const tl_slot *value,
                     const tl_path *path, tl_slot *parts, unsigned modes) {
  tl_slot from = tl_operand_read(target, modes >> 4 & 3u),
          item = tl_operand_read(value, modes & 3u), result;
  tl_open_path spread;
  if (path->spreads && !tl_path_open(vm, path, parts, &spread))
    return false;
  bool ok = path->spreads ? tl_path_set(vm, &from, &spread.path, spread.parts,
                                        &item, &result)
                          : tl_path_set(vm, &from, path, parts, &item, &result);
  if (path->spreads)
    tl_path_close(vm, &spread);
  if (!ok)
    return false;
  tl_drop(vm, from);
  tl_drop(vm, item);
  tl_operand_put(target, result);
  return true;
}

// In a landing pad, which puts back what was there, the error under way waits:
// to most of what stores, an error that is set would be its own.
bool tl_do_setpath(tl_vm *vm, tl_slot *target, const tl_slot *value,
                   const tl_path *path, tl_slot *parts, unsigned modes) {
  const bool was_finishing = vm->finishing;
  tl_pending_error waits;
  waits.set = tl_failed(vm);
  if (waits.set) {
    tl_error_aside(vm, &waits);
    vm->finishing = true;
  }
  bool ok = set_path(vm, target, value, path, parts, modes);
  vm->finishing = was_finishing;
  if (waits.set)
    tl_error_resume(vm, &waits);
  return ok;
}

// The indices stay in their slots: the store that follows needs them again.
bool tl_do_take(tl_vm *vm, const tl_slot *container, unsigned mode,
                const tl_path *path, tl_slot *parts, tl_slot *out) {
  tl_slot result;
  if (!tl_path_take(vm, tl_operand_read(container, mode), path, parts, &result))
    return false;
  tl_operand_put(out, result);
  return true;
}

// The item goes back to its place only if that is still unset.
bool tl_exec_untake(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_slot from = tl_operand_read(RB, MODE_B);
  tl_path_give_back(vm, *RA, tl_path_of(vm, ins), RC, &from);
  tl_drop(vm, from);
  tl_drop_all(vm, RC, ins[1].a);
  return true;
}

// How many items a value has that several names are assigned from; -1: it
// cannot be assigned to several names.
static int64_t unpacked_length(tl_vm *vm, tl_slot s) {
  return tl_is_string(s)   ? tl_string_graphemes(vm, s.string)
         : tl_is_nested(s) ? tl_value_length(s, 0)
                           : tl_walked_length(s);
}

// Appends to [list] the value of the field at [at], or with [stop] from 0 on a
// list of the values up to there. Copies counts, since the record may live on.
static bool unpack_field(tl_vm *vm, const tl_record *record, int64_t at,
                         int64_t stop, tl_list *list) {
  tl_list *rest = stop < 0 ? list : tl_list_new(vm, stop - at);
  if (rest == NULL)
    return false;
  for (int64_t i = at; i < (stop < 0 ? at + 1 : stop); i++) {
    tl_slot value = tl_borrow(record->fields[i].value);
    rest->items[rest->length++] = tl_escape(vm, &value, TL_CAUSE_ITEM);
  }
  if (stop >= 0)
    list->items[list->length++] = tl_own_list(rest);
  return true;
}

// Appends the item at [at], or with [stop] from 0 on the slice up to there. Of
// a record they are the values in the order of its fields.
static bool unpack_item(tl_vm *vm, tl_slot value, int64_t at, int64_t stop,
                        tl_list *list) {
  // A slice from [at] to [stop], both given.
  static const tl_index_item slice = {.kind = TL_ITEM_SLICE,
                                      .given = TL_SLICE_START | TL_SLICE_STOP};
  if (tl_is_record(value))
    return unpack_field(vm, value.record, at, stop, list);
  tl_slot base = tl_borrow(value), item;
  tl_slot parts[] = {tl_weak_int(at), tl_weak_int(stop)};
  tl_step step = {.item_count = 1, .items = stop < 0 ? tl_value_items : &slice};
  if ((stop >= 0 || !tl_get_rare(vm, &item, &base, &parts[0], NULL)) &&
      !tl_index_get(vm, &base, &step, parts, &item))
    return false;
  list->items[list->length++] = tl_escape(vm, &item, TL_CAUSE_ITEM);
  return true;
}

// The error for a value that has no items to assign from.
static bool fail_unpack(tl_vm *vm, tl_slot value, uint32_t count) {
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "%u names are assigned from a list or an array: got %s", count,
                 tl_described(vm, value));
}

// The items of a list of the right length into slots from [to] on. One that
// ends and has no other owner gives them away, also those that it only borrows:
// then the slots borrow in its place. Of another that ends they are counted.
static void unpack_list(tl_vm *vm, tl_slot *to, tl_slot value) {
  tl_list *list = value.list;
  bool ends = tl_is_owned(value);
  bool gives = ends && list->head.count == 1;
  bool lends = (list->head.flags & (TL_BORROWED | TL_KEEPING)) == TL_BORROWED;
  int64_t count = list->length;
  for (int64_t i = 0; i < count; i++) {
    tl_slot item = list->items[i];
    if (!tl_is_heap(item) || (gives && tl_is_owned(item))) {
      tl_copy_slot(&to[i], &item);
      continue;
    }
    to[i] = ends && !(lends && !tl_is_owned(item)) ? tl_retain(vm, item)
                                                   : tl_borrow(item);
    vm->stats.promotions_keep += tl_is_owned(to[i]);
  }
  // Nothing is left in it.
  if (gives)
    tl_object_free(vm, &list->head);
  else
    tl_drop(vm, value);
}

// The items of what is no list, as a list. first, ...rest, last = value: there
// the item [rest] is a list or slice of the rest; [count] as [rest]: none is.
// NULL after tl_fail.
static tl_list *list_items(tl_vm *vm, tl_slot value, uint32_t count,
                           uint32_t rest) {
  bool all = rest == count;
  int64_t length = all && tl_is_string(value) ? -1 : unpacked_length(vm, value);
  int64_t others = (int64_t)count - 1;
  if (length < 0 && !tl_failed(vm))
    fail_unpack(vm, value, count);
  else if (all && length != (int64_t)count)
    tl_fail(vm, TALLY_ERR_VALUE, "%u names are assigned from %s of %lld %s",
            count,
            tl_is_record(value) ? "a record"
            : tl_is_list(value) ? "a list"
                                : "an array",
            (long long)length, tl_is_record(value) ? "fields" : "items");
  else if (!all && length < others)
    tl_fail(vm, TALLY_ERR_VALUE,
            "%lld names before and after ... are assigned from %lld items",
            (long long)others, (long long)length);
  tl_list *list = tl_failed(vm) ? NULL : tl_list_new(vm, count);
  for (uint32_t i = 0; list != NULL && i < count; i++) {
    // Names after the rest take the last items.
    int64_t at = i <= rest ? i : i + length - count;
    int64_t stop = i == rest ? at + length - others : -1;
    if (unpack_item(vm, value, at, stop, list))
      continue;
    tl_drop(vm, tl_own_list(list));
    return NULL;
  }
  return list;
}

// Lists are unpacked as they are; anything else becomes a list of its items.
bool tl_do_unpack(tl_vm *vm, tl_slot *a, const tl_slot *b, unsigned mode,
                  uint32_t extra) {
  tl_slot value = tl_operand_read(b, mode);
  uint32_t count = tl_unpack_count(extra);
  // A name takes the rest: its index stands in the upper half of extra.
  if (count == extra && tl_is_list(value) &&
      value.list->length == (int64_t)count) {
    unpack_list(vm, a, value);
    return true;
  }
  tl_list *list =
      list_items(vm, value, count, count == extra ? count : (extra >> 16) - 1);
  if (list == NULL)
    return false;
  tl_drop(vm, value);
  unpack_list(vm, a, tl_own_list(list));
  return true;
}
