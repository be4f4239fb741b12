// Updates through nested places: r.a[3].b = v. Where nothing has to be copied
// place.c has done it already.
//
// On the way down nothing is written. A container that only this update refers
// to is changed in place, once what lies below it has succeeded; any other is
// copied first, and both have its items then. So a failure leaves the target
// alone.
//
//     update(target, way)            by the target's kind:
//       update_record ─ update_field ─▶ update(value, way below)
//       update_list   ─ update_item  ─▶ update(item, way below)
//       update_array  ─ tl_array_store_below  arrays end the walk: views inside
//       update_nested, update_range, update_number
//
// Built for size.
#include <inttypes.h>

#include "vm/array/reuse.h"
#include "vm/values/list.h"
#include "vm/array/range.h"
#include "vm/values/record.h"
#include "vm/index/select.h"
#include "vm/objects.h"

typedef tl_nested_path way;

// The value on its way to its place.
// Of one update, from its begin to the store; *value of the caller is not
// touched before all has succeeded.
typedef struct carried {
  tl_slot value;
  bool was_borrowed;  // it was borrowed, and has been retained for the store
  bool is_part;       // the target's type stays: no column is added
} carried;

static bool update(tl_vm *vm, way w, tl_slot *target, carried *carried,
                   tl_slot *out);

// Ends an update: the target was changed in place, or copied; [made] is what it
// is afterwards.
// The target's slot owns nothing afterwards. *out may be the same slot.
static bool finish(tl_vm *vm, tl_slot *target, bool in_place, tl_slot made,
                   tl_slot *out) {
  if (!in_place && tl_is_owned(*target))
    tl_drop(vm, *target);
  target->tag &= ~TL_OWNED;
  tl_copy_slot(out, &made);
  return true;
}

// The same where [ok]; else the target stays, and what was copied goes.
static bool finish_if(tl_vm *vm, bool ok, tl_slot *target, bool in_place,
                      tl_slot made, tl_slot *out) {
  if (ok)
    return finish(vm, target, in_place, made, out);
  if (!in_place)
    tl_drop(vm, made);
  return false;
}

// Moves the value into the heap, with its promotion counted for what it is
// stored in.
// Counts nothing where the value owned itself: it only moves.
static tl_slot unload(tl_vm *vm, carried *carried, tl_cause cause) {
  if (carried->was_borrowed && vm->counting) {
    (&vm->stats.promotions_item)[cause]++;
    carried->was_borrowed = false;
  }
  return tl_escape(vm, &carried->value, cause);
}

// --- Records ----------------------------------------------------------------

// Sets a field. A new key moves in where the index that gives it ends here;
// nothing fails after that.
static bool set_field(tl_vm *vm, way w, tl_record **record, tl_slot key,
                      carried *carried) {
  bool was_borrowed = carried->was_borrowed;
  bool ok = w.steps->field == NULL
                ? tl_record_set_key(vm, record, &w.parts[0], &carried->value)
                : tl_record_set(vm, record, key.string, &carried->value);
  if (!ok)
    return false;
  if (was_borrowed && vm->counting)
    vm->stats.promotions_field++;
  return true;
}

// Sets a field, or updates its value at the rest of the way.
static bool update_field(tl_vm *vm, way w, tl_record **record, tl_slot key,
                         carried *carried) {
  if (w.count == 1)
    return set_field(vm, w, record, key, carried);
  tl_slot *value = tl_record_get_key(*record, key);
  return update(vm, tl_nested_path_below(w), value, carried, value);
}

// Updates a record; a missing field can be set but not be updated below.
// The order matters: the record is copied before its field is updated, so that
// the copy and not the shared one is written; a failure drops the copy.
static bool update_record(tl_vm *vm, way w, tl_slot *target, carried *carried,
                          tl_slot *out) {
  tl_slot key;
  if (!tl_record_key(vm, w.steps, w.parts, &key))
    return false;
  // Setting a field makes it; updating below it needs it to be there.
  if (w.count > 1 && tl_record_get_key(target->record, key) == NULL)
    return vm->nested->fail_no_field(vm, *target, key);
  bool in_place = tl_may_write(vm, *target);
  if (in_place)
    tl_changed_in_place(vm, *target);
  tl_record *record = target->record;
  tl_slot borrowed = tl_borrow(*target);
  if (!in_place && !tl_record_unique(vm, &borrowed, 1, &record))
    return false;
  bool ok = update_field(vm, w, &record, key, carried);
  if (in_place)
    target->record = record;
  return finish_if(vm, ok, target, in_place, tl_own_record(record), out);
}

// --- Lists ------------------------------------------------------------------

// Sets an item of a list, or updates it at the rest of the way.
static bool update_item(tl_vm *vm, way w, tl_slot *item, carried *carried) {
  if (w.count > 1)
    return update(vm, tl_nested_path_below(w), item, carried, item);
  // The old item is dropped last: it may be what keeps others alive.
  tl_slot old, new = unload(vm, carried, TL_CAUSE_ITEM);
  tl_copy_slot(&old, item);
  tl_copy_slot(item, &new);
  tl_drop(vm, old);
  return true;
}

// list[slice] = values, as many as the slice has; they move out of a list that
// ends here.
// Owned values that are not taken are dropped by the caller with their list.
static bool store_slice(tl_vm *vm, tl_list *list, tl_slice slice,
                        tl_slot *values) {
  // The values' list ends here: its items move.
  bool moves = tl_is_unique(*values);
  for (int64_t i = 0; i < slice.length; i++) {
    tl_slot *from = &values->list->items[i], old;
    tl_slot *item = &list->items[slice.start + i * slice.step];
    tl_slot taken = moves ? *from : tl_borrow(*from);
    if (moves)
      *from = tl_none();
    taken = tl_escape(vm, &taken, TL_CAUSE_ITEM);
    tl_copy_slot(&old, item);
    tl_copy_slot(item, &taken);
    tl_drop(vm, old);
  }
  return true;
}

// Whether the values may be stored into a slice of a list.
// Fails (kind type) for what is no list, (kind shape) for another count.
static bool check_slice(tl_vm *vm, tl_slice slice, tl_slot values) {
  if (!tl_is_list(values))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "a slice of a list is set to a list of as many items: got "
                   "%s",
                   tl_described(vm, values));
  if (values.list->length == slice.length)
    return true;
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "cannot store %" PRId64 " items into a slice of %" PRId64,
                 values.list->length, slice.length);
}

// Sets a slice. To update below it, the slice is made a list of its own,
// updated and stored back.
static bool update_slice(tl_vm *vm, way w, tl_list *list, tl_slice slice,
                         carried *carried) {
  if (w.count == 1)
    return check_slice(vm, slice, carried->value) &&
           store_slice(vm, list, slice, &carried->value);
  tl_slot base = {.tag = TL_TAG_LIST, .list = list}, part;
  if (!tl_index_get(vm, &base, w.steps, w.parts, &part))
    return false;
  // What was taken out is updated by itself, and stored back.
  bool ok = update(vm, tl_nested_path_below(w), &part, carried, &part) &&
            check_slice(vm, slice, part) && store_slice(vm, list, slice, &part);
  return tl_drop_after(vm, ok, &part);
}

// Updates a list at an item or a slice.
static bool update_list(tl_vm *vm, way w, tl_slot *target, carried *carried,
                        tl_slot *out) {
  bool is_item;
  tl_slice slice;
  if (w.steps->field != NULL) {
    tl_slot name = {.tag = TL_TAG_STRING, .string = w.steps->field};
    return vm->nested->fail_no_field(vm, *target, name);
  }
  if (!tl_list_place(vm, target->list, w.steps, w.parts, &is_item, &slice))
    return false;
  bool in_place = tl_may_write(vm, *target);
  if (in_place)
    tl_changed_in_place(vm, *target);
  tl_list *list = target->list;
  tl_slot borrowed = tl_borrow(*target);
  if (!in_place && !tl_list_unique(vm, &borrowed, 0, &list))
    return false;
  bool ok = is_item ? update_item(vm, w, &list->items[slice.start], carried)
                    : update_slice(vm, w, list, slice, carried);
  return finish_if(vm, ok, target, in_place, tl_own_list(list), out);
}

// --- Arrays -----------------------------------------------------------------

// x.real = v, x.T[0] = v: through the view that the attribute is.
// Sets nothing where the attribute can only be read: that fails (kind type).
static bool store_attribute(tl_vm *vm, way w, tl_array *a, tl_slot value) {
  tl_slot base = tl_lend_array(a), view;
  if (!vm->nested->attribute_place(vm, &base, w.steps->field, &view))
    return false;
  bool ok = w.count == 1 ? tl_array_store_all(vm, view.array, value)
                         : tl_array_store_below(vm, tl_nested_path_below(w),
                                                view.array, value);
  tl_drop(vm, view);
  return ok;
}

// Updates a number at the steps of [w] as an array of rank 0, which is *box,
// owned.
static bool store_in_number(tl_vm *vm, way w, tl_slot number, tl_slot value,
                            tl_array **box) {
  *box = tl_number_box(vm, number);
  if (*box != NULL && tl_array_store_below(vm, w, *box, value))
    return true;
  tl_array_drop(vm, *box);
  return false;
}

// x[i][...] = v, where x[i] is a number: it is updated and stored back.
static bool store_through_number(tl_vm *vm, way w, tl_array *a, tl_slot number,
                                 tl_slot value) {
  tl_array *box;
  if (!store_in_number(vm, tl_nested_path_below(w), number, value, &box))
    return false;
  tl_slot made = tl_own_array(box);
  return tl_drop_after(vm, tl_array_store(vm, a, w.steps, w.parts, made),
                       &made);
}

// x[i][j] = v: a view is written through; items chosen by a mask or an index
// array are a copy, which is stored back.
static bool store_through(tl_vm *vm, way w, tl_array *a, tl_slot value) {
  tl_slot base = tl_lend_array(a), part;
  if (!tl_index_get(vm, &base, w.steps, w.parts, &part))
    return false;
  bool ok;
  if (tl_is_number(part) && w.steps[1].field == NULL) {
    ok = store_through_number(vm, w, a, part, value);
  } else if (!tl_is_array(part) || tl_ndim(part.array) == 0) {
    ok = tl_fail(vm, TALLY_ERR_TYPE, "%s has no items to set",
                 tl_described(vm, part));
  } else {
    ok = tl_array_store_below(vm, tl_nested_path_below(w), part.array, value);
    // A copy of chosen items: what was written to it goes back to where it came
    // from.
    if (ok && !tl_is_view(part.array))
      ok = tl_array_store(vm, a, w.steps, w.parts, part);
  }
  tl_drop(vm, part);
  return ok;
}

// Writes into an array that may be written: unique, or a view of such.
bool tl_array_store_below(tl_vm *vm, way w, tl_array *a, tl_slot value) {
  if (w.steps->field != NULL)
    return store_attribute(vm, w, a, value);
  if (w.count > 1)
    return store_through(vm, w, a, value);
  return tl_array_store(vm, a, w.steps, w.parts, value);
}

// Notes why the target could not be updated in place.
// Only for `tally explain` and the counters: the result is the same.
static void count_rejection(tl_vm *vm, tl_slot target) {
  tl_refused(vm,
             !tl_is_owned(target)       ? TL_REFUSED_LIVE
             : target.object->count > 1 ? TL_REFUSED_SHARED
                                        : TL_REFUSED_EXTERNAL,
             target);
}

// Updates an array, in place or in a copy.
// A view is written through where it alone has its block or place (reuse.h).
static bool update_array(tl_vm *vm, way w, tl_slot *target, carried *carried,
                         tl_slot *out) {
  enum { NOT_OURS = TL_VIEW | TL_READONLY | TL_IMMORTAL };
  tl_array *a = target->array;
  bool is_ours = (a->head.flags & NOT_OURS) == 0;
  bool in_place = is_ours ? tl_may_write(vm, *target)
                          : tl_has_own_block(vm, *target, tl_array_dtype(a));
  if (!in_place) {
    count_rejection(vm, *target);
    // Somebody else refers to the array, or it is not ours to write: the update
    // is made in a copy.
    a = tl_array_copy(vm, a);
    if (a == NULL)
      return false;
  }
  bool ok = tl_array_store_below(vm, w, a, carried->value);
  if (ok && in_place)
    tl_written_in_place(vm, a);
  return finish_if(vm, ok, target, in_place, tl_own_array(a), out);
}

// --- Nested arrays ----------------------------------------------------------

// Updates a nested array; its form decides what can be done in place.
static bool update_nested(tl_vm *vm, way w, tl_slot *target, carried *carried,
                          tl_slot *out) {
  bool in_place = tl_may_write(vm, *target);
  tl_nested *made;
  if (!vm->nested->set(vm, &w, *target, in_place, !carried->is_part,
                       &carried->value, &made))
    return false;
  // A nested array that was widened is a new one.
  if (in_place && made == target->nested)
    vm->stats.inplace++;
  else if (!in_place)
    count_rejection(vm, *target);
  return finish(vm, target, in_place, tl_own_nested(made), out);
}

// The whole of a part: its items are overwritten, in its own type and shape.
// Builds the new part before the old one ends, so that a failure leaves it.
static bool replace_part(tl_vm *vm, tl_slot *part, tl_slot value) {
  if (tl_is_array(*part)) {
    // What was computed in the part's own memory is there already.
    if (tl_is_array(value) && tl_is_place(value.array) &&
        tl_array_owner(value.array) == part->array &&
        tl_arrays_coincide(value.array, part->array))
      return true;
    tl_array *like = tl_array_new(vm, tl_array_dtype(part->array),
                                  tl_ndim(part->array), tl_shape(part->array));
    bool ok = like != NULL && tl_array_store_all(vm, like, value);
    tl_slot old = *part;
    if (tl_array_finish(vm, ok, like, part))
      tl_drop(vm, old);
    return ok;
  }
  // A nested part becomes a value of its own type; of another one, as of an
  // array without missing values, it takes the items.
  tl_type *wanted = tl_type_of(vm, *part), *got = tl_type_of(vm, value);
  if (wanted == NULL || got == NULL)
    return false;
  if (wanted != got) {
    static const tl_index_item all_axes = {.kind = TL_ITEM_ELLIPSIS};
    static const tl_step all = {.item_count = 1, .items = &all_axes};
    carried borrowed = {tl_borrow(value), false, true};
    return update(vm, (way){&all, 1, part}, part, &borrowed, part);
  }
  tl_slot old = *part;
  *part = tl_retain(vm, tl_borrow(value));
  tl_drop(vm, old);
  return true;
}

// A part keeps its type: carried.is_part forbids that an array of structs gets
// another column.
bool tl_part_update(tl_vm *vm, tl_nested_path w, tl_slot *part,
                    tl_slot *value) {
  if (w.count == 0)
    return replace_part(vm, part, *value);
  carried borrowed = {tl_borrow(*value), false, true};
  return update(vm, w, part, &borrowed, part);
}

// A range whose items are set becomes the array that it stands for.
static bool update_range(tl_vm *vm, way w, tl_slot *target, carried *carried,
                         tl_slot *out) {
  tl_array *a = tl_range_to_array(vm, target->range);
  bool ok = a != NULL && tl_array_store_below(vm, w, a, carried->value);
  tl_slot made;
  return tl_array_finish(vm, ok, a, &made) &&
         finish(vm, target, false, made, out);
}

// A number is a place without axes: s[()] = v sets it, and it keeps its dtype.
static bool update_number(tl_vm *vm, way w, tl_slot *target, carried *carried,
                          tl_slot *out) {
  tl_array *box;
  if (!store_in_number(vm, w, *target, carried->value, &box))
    return false;
  tl_slot made = tl_number_unbox(vm, box, *target);
  tl_drop(vm, tl_own_array(box));
  return !tl_is_unset(made) && finish(vm, target, false, made, out);
}

// A host's value: its type says what it is afterwards. What lies below a step
// is updated in the value that the index gives, and put back.
static bool update_resource(tl_vm *vm, way w, tl_slot *target, carried *carried,
                            tl_slot *out) {
  tl_slot value = carried->value, made;
  if (w.count > 1) {
    if (!tl_index_get(vm, target, w.steps, w.parts, &value))
      return false;
    if (!update(vm, tl_nested_path_below(w), &value, carried, &value))
      return tl_drop_after(vm, false, &value);
  }
  bool alone = tl_may_write(vm, *target);
  if (!alone)
    count_rejection(vm, *target);
  bool ok = tl_index_host(vm, *target, alone, w.steps, w.parts, &value, &made);
  if (w.count > 1)
    tl_drop(vm, value);
  if (ok && tl_is_owned(*target))
    tl_drop(vm, *target);
  return ok && finish(vm, target, true, made, out);
}

// --- Any value --------------------------------------------------------------

// The error of a value without items or fields to set. A host's object may have
// items.
static bool fail_target(tl_vm *vm, tl_slot target) {
  if (tl_is_string(target))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "the characters of a string cannot be set: build a new "
                   "string");
  if (tl_is_kind(target, TL_KIND_MODULE))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "a module cannot be assigned to from outside");
  return tl_fail(vm, TALLY_ERR_TYPE, "%s has no %s to set%s",
                 tl_described(vm, target),
                 tl_is_kind(target, TL_KIND_HANDLE) ? "fields"
                                                    : "items or fields",
                 tl_is_none(target) ? ": an empty record is (:), an empty list "
                                      "(), and { } a block without a value"
                                    : "");
}

// Updates *target at the way [w]; *out, which may be the same slot, is the new
// target, owned.
static bool update(tl_vm *vm, way w, tl_slot *target, carried *carried,
                   tl_slot *out) {
  if (tl_is_array(*target) && tl_ndim(target->array) > 0)
    return update_array(vm, w, target, carried, out);
  if (tl_is_number(*target) && w.steps->field == NULL)
    return update_number(vm, w, target, carried, out);
  switch (tl_dtype_of(*target)) {
    case TL_KIND_LIST:
      return update_list(vm, w, target, carried, out);
    case TL_KIND_RECORD:
      return update_record(vm, w, target, carried, out);
    case TL_KIND_RANGE:
      return update_range(vm, w, target, carried, out);
    case TL_KIND_NESTED:
      return update_nested(vm, w, target, carried, out);
    case TL_KIND_HANDLE:
      if (w.steps->field == NULL)
        return update_resource(vm, w, target, carried, out);
      return fail_target(vm, *target);
    default:
      return fail_target(vm, *target);
  }
}

// As update, where masks with missing values choose what they know: the first
// of them is replaced by a plain mask meanwhile, and the rest by recursion.
// The masks made are plain and this call's own; w.parts has its old values
// again on return, whatever happens.
static bool update_known(tl_vm *vm, way w, uint16_t count, tl_slot *target,
                         carried *carried, tl_slot *out) {
  uint16_t at = 0;
  while (at < count && !tl_is_open_mask(w.parts[at])) at++;
  if (at == count)
    return update(vm, w, target, carried, out);
  tl_slot open = w.parts[at], known;
  if (!vm->nested->known_mask(vm, open.nested, &known))
    return false;
  w.parts[at] = known;
  bool ok = update_known(vm, w, count, target, carried, out);
  w.parts[at] = open;
  tl_drop(vm, known);
  return ok;
}

// The value's count is taken before anything else and given back on failure, so
// that the caller's slots are as they were. On success *value owns nothing.
bool tl_path_set(tl_vm *vm, tl_slot *target, const tl_path *path,
                 tl_slot *parts, tl_slot *value, tl_slot *out) {
  if (!tl_failed(vm) && tl_place_store(vm, target, path, parts, value))
    return tl_pass_to(target, out);
  if (tl_failed(vm) || !tl_path_check_length(vm, path))
    return false;
  way w = {path->steps, path->step_count, parts};
  carried carried = {*value, false, false};
  // A borrowed value may be a part of the target. It gets a count before the
  // target's counts are looked at, so that nothing is stored into itself. An
  // array that is stored item by item needs none.
  bool into_array =
      (path->step_count == 1 && tl_is_array(*target)) || tl_is_nested(*target);
  // What was written through a view of the place, and lives on under a name,
  // gets its share of the block: the place is set in a copy.
  if (tl_is_array(*value) && !tl_is_owned(*value) && tl_is_place(value->array))
    tl_hold(vm, *value, TL_CAUSE_VIEW);
  if (tl_is_heap(*value) && !tl_is_owned(*value) && !into_array) {
    carried.value = tl_retain(vm, *value);
    carried.was_borrowed = tl_is_owned(carried.value);
  } else if (tl_is_owned(*value)) {  // so may its items be
    tl_keep_items(vm, value->object);
  }
  bool borrowed = carried.was_borrowed;
  if (!update_known(vm, w, path->part_count, target, &carried, out)) {
    if (borrowed)
      tl_drop(vm, carried.value);
    return false;
  }
  tl_drop(vm, carried.value);
  value->tag &= ~TL_OWNED;
  return true;
}
