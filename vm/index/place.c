// Places that an update reaches without a copy, since every container on the
// way has one owner: most updates of records and lists are such. A loop goes
// down to the place; whatever needs more (a copy, a slice, a view, a new field,
// an error) is left to path.c.
//
//   l[i].x += v     tl_path_take: l ─▶ item i ─▶ field x, which moves out
//                   tl_path_set ─ tl_place_store: the same way, v moves in

#include "vm/array/element.h"
#include "vm/array/reuse.h"
#include "vm/index/select.h"
#include "vm/values/record.h"

// Updates recurse over the steps (path.c).
bool tl_path_check_length(tl_vm *vm, const tl_path *path) {
  if (path->step_count <= TL_PATH_STEPS)
    return true;
  return tl_fail(vm, TALLY_ERR_LIMIT, "a place has at most %d steps, not %d",
                 TL_PATH_STEPS, path->step_count);
}

// Whether a step is one index without a slice.
static inline bool is_one_value(const tl_step *step) {
  return step->field == NULL && step->item_count == 1 &&
         step->items[0].kind == TL_ITEM_VALUE;
}

// The value of a step's field, which is looked for where the step found it the
// last time.
static inline tl_slot *find_field(tl_record *record, const tl_step *step) {
  return tl_record_get_hinted(record, step->field, tl_step_hint(step));
}

// The slot of an item of a list or a record; NULL: it is none, or not there.
static inline tl_slot *find_item(tl_slot container, const tl_step *step,
                                 const tl_slot *parts) {
  int64_t at;
  if (tl_is_record(container)) {
    if (step->field != NULL)
      return find_field(container.record, step);
    return is_one_value(step) && tl_key_allowed(*parts)
               ? tl_record_get_key(container.record, *parts)
               : NULL;
  }
  if (!tl_is_list(container) || !is_one_value(step))
    return NULL;
  if ((uint8_t)parts->tag == TL_CLASS_I64)
    at = parts->i;
  else if (!tl_index_integer(*parts, &at))
    return NULL;
  return tl_index_wrap(&at, container.list->length) ? &container.list->items[at]
                                                    : NULL;
}

// The container that the last step of a path indexes, if that and all before it
// may be changed in place; *parts is moved on to the last step's. NULL: there
// is none.
//
//     r.rows[i].x    the container is item i, and *parts is behind i
// NULL says nothing about the path's validity: the general way reports errors.
static inline tl_slot *find_container(tl_vm *vm, tl_slot *target,
                                      const tl_path *path,
                                      const tl_slot **parts) {
  tl_slot *at = target;
  const int last = path->step_count - 1;
  // A path so long is refused, by who goes down in the general way.
  if (last >= TL_PATH_STEPS)
    return NULL;
  for (int i = 0; i <= last; i++) {
    if (!tl_may_write(vm, *at))
      return NULL;
    if (i == last)
      return at;
    const tl_step *step = &path->steps[i];
    at = find_item(*at, step, *parts);
    if (at == NULL)
      return NULL;
    *parts += is_one_value(step) ? 1 : tl_step_parts(step);
  }
  return NULL;
}

// One loop without a call, since such places are most of what programs with
// records update.
tl_slot *tl_place_scalar(tl_slot *target, const tl_path *path,
                         const tl_slot *parts) {
  tl_slot *at = target;
  if (path->step_count > TL_PATH_STEPS)
    return NULL;
  const tl_step *end = path->steps + path->step_count;
  for (const tl_step *step = path->steps; step < end; step++) {
    if (!tl_is_heap(*at) || !tl_is_unique(*at))
      return NULL;
    if (tl_is_record(*at) && step->field != NULL) {
      at = find_field(at->record, step);
    } else if (tl_is_list(*at) && is_one_value(step) &&
               (uint8_t)parts->tag == TL_CLASS_I64) {
      int64_t i = parts++->i;
      at = tl_index_wrap(&i, at->list->length) ? &at->list->items[i] : NULL;
    } else {
      return NULL;
    }
    if (at == NULL)
      return NULL;
  }
  return tl_is_heap(*at) ? NULL : at;
}

// Borrowed from the path, which has at least one step.
static const tl_step *last_step(const tl_path *path) {
  return &path->steps[path->step_count - 1];
}

// A number of an array is stored by its bytes.
// Only of an array whose block is its own (TL_DIRECT), and for a value that
// tl_element_store takes; false for the general way.
static bool store_number(tl_vm *vm, tl_slot container, const tl_step *step,
                         const tl_slot *parts, const tl_slot *value) {
  char *item;
  if ((container.tag & TL_DIRECT) == 0 ||
      !tl_index_item_at(container.array, step, parts, &item) ||
      !tl_element_store(item, tl_dtype_of(container), value))
    return false;
  tl_written_in_place(vm, container.array);
  return true;
}

// A plain key that the record does not have yet is entered. The old item is
// dropped last: it may be what keeps others alive.
bool tl_place_store(tl_vm *vm, tl_slot *target, const tl_path *path,
                    tl_slot *parts, tl_slot *value) {
  // What moves in needs no count: a number, an immortal, or an object that its
  // slot owns and that borrows none of its items.
  bool moves = !tl_is_heap(*value) ||
               (tl_is_owned(*value) ? (value->object->flags & TL_BORROWED) == 0
                                    : !tl_is_counted(*value));
  if (!moves)
    return false;
  const tl_slot *at = parts;
  tl_slot *container = find_container(vm, target, path, &at);
  if (container == NULL)
    return false;
  const tl_step *last = last_step(path);
  if (tl_is_array(*container))
    return store_number(vm, *container, last, at, value);
  tl_slot *place = find_item(*container, last, at), old, stored = *value;
  if (place == NULL && (!tl_is_record(*container) || !is_one_value(last) ||
                        !tl_key_is_plain(*at)))
    return false;
  tl_changed_in_place(vm, *target);
  if (place == NULL)
    return tl_record_set_key(vm, &container->record, &parts[at - parts], value);
  if (tl_is_heap(stored))
    stored = tl_escape(
        vm, value, tl_is_record(*container) ? TL_CAUSE_FIELD : TL_CAUSE_ITEM);
  tl_copy_slot(&old, place);
  tl_copy_slot(place, &stored);
  if (tl_is_owned(old))
    tl_drop(vm, old);
  return true;
}

// Each step's result is dropped once the next one has been read from it.
// Steps below a temporary: what a step borrows from the one before it would die
// with that one, so an owned base makes tl_index_get give an owned result.
bool tl_path_get(tl_vm *vm, tl_slot *target, const tl_path *path,
                 tl_slot *parts, tl_slot *out) {
  tl_slot at, next;
  if (path->step_count == 0) {
    *out = tl_borrow(*target);
    return true;
  }
  if (!tl_index_get(vm, target, path->steps, parts, &at))
    return false;
  for (int i = 1; i < path->step_count; i++) {
    parts += tl_step_parts(&path->steps[i - 1]);
    bool ok = tl_index_get(vm, &at, &path->steps[i], parts, &next);
    tl_drop(vm, at);
    if (!ok)
      return false;
    tl_copy_slot(&at, &next);
  }
  tl_copy_slot(out, &at);
  return true;
}

// A slice shows the array's block, a field of structs theirs; one that is kept
// as a column becomes a view of that. Where the memory is the container's
// alone, what is computed of the place may be written into it at once, as the
// statement sets the place to the result. What goes back by way of a variable
// may live on behind that, and is as any other view. False after tl_fail.
static bool mark_taken(tl_vm *vm, tl_slot container, tl_slot *out) {
  const uint64_t mine = TL_OWNED | TL_DIRECT;
  const bool fields = tl_has_fields(container);
  if (!(fields || tl_is_array(container)) || !tl_is_array(*out) ||
      tl_array_dtype(out->array) >= TL_STRING)
    return true;
  const tl_array *block = tl_array_owner(out->array);
  const tl_slot *part = fields ? container.nested->parts : &container;
  const tl_slot *end = part + (fields ? container.nested->count : 1);
  while (part < end && (!tl_is_array(*part) || part->array != block)) part++;
  // What was read from a step in between has a count of the block, as that did.
  // Like the view of a field at once, it needs none: the target has it
  // meanwhile.
  const bool whole = out->array == block;
  const uint32_t counts =
      tl_is_owned(*out) && (whole || (out->array->head.flags & TL_HOLD) != 0);
  if (part == end || (part->tag & mine) != mine ||
      block->head.count != 1 + counts || (!whole && !tl_is_owned(*out)))
    return true;
  if (counts > 0)
    tl_drop(vm, *part);
  if (whole) {
    tl_slot base = tl_borrow(*part);
    if (!tl_view(vm, &base, block->data, tl_ndim(block), tl_shape(block),
                 tl_strides(block), out))
      return false;
  }
  out->array->head.flags &= (uint8_t)~TL_HOLD;
  out->array->head.flags |= TL_TAKEN;
  return true;
}

// What can be moved out is left unset, which is how tl_path_give_back
// recognises it. What nothing counts is read.
bool tl_path_take(tl_vm *vm, tl_slot target, const tl_path *path,
                  tl_slot *parts, tl_slot *out) {
  const tl_slot *at = parts;
  const tl_slot *container = find_container(vm, &target, path, &at);
  char *item;
  if (container != NULL && tl_is_array(*container) &&
      tl_index_item_at(container->array, last_step(path), at, &item) &&
      tl_element_load(out, tl_dtype_of(*container), item))
    return true;
  tl_slot *place =
      container == NULL ? NULL : find_item(*container, last_step(path), at);
  if (place != NULL) {
    tl_copy_slot(out, place);
    if (tl_is_owned(*place))
      *place = tl_unset();
    return true;
  }
  tl_slot from = tl_borrow(target);
  if (!tl_path_check_length(vm, path) ||
      !tl_path_get(vm, &from, path, parts, out))
    return false;
  // What the path, or its first steps, indexes that is no list or record.
  for (tl_path outer = *path; path->lends && outer.step_count > 0;
       outer.step_count--) {
    at = parts;
    container = find_container(vm, &target, &outer, &at);
    if (container != NULL)
      return mark_taken(vm, *container, out);
  }
  return true;
}

// After the update stored another value there is nothing to put back.
void tl_path_give_back(tl_vm *vm, tl_slot target, const tl_path *path,
                       const tl_slot *parts, tl_slot *item) {
  const tl_slot *container = find_container(vm, &target, path, &parts);
  tl_slot *place =
      container == NULL ? NULL : find_item(*container, last_step(path), parts);
  if (place == NULL || !tl_is_unset(*place))
    return;
  tl_copy_slot(place, item);
  item->tag &= ~TL_OWNED;
}
