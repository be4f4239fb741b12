// x[...i]: the items of a list, an array or a range as indices.
//
// How many they are is known only at run time, so a path that spreads is
// written out into one that does not before anything reads it. Its parts, steps
// and items lie in one block:
//
//     │ parts (slots) … │ steps … │ items … │
//
// Built for size.

#include "vm/array/range.h"
#include "vm/index/select.h"
#include "vm/values/list.h"

enum { MOST_ITEMS = 64 };  // of one index, as the compiler has it

// How many items a value is spread into; -1: it cannot be.
// Of an array that is the length of its first axis: rows become values, which
// then fail as indices unless they are index arrays.
static int64_t spread_length(tl_slot s) {
  if (tl_is_list(s))
    return s.list->length;
  if (tl_is_range(s))
    return s.range->length;
  return tl_is_array(s) && tl_ndim(s.array) > 0 ? tl_shape(s.array)[0] : -1;
}

// Adds up how many items and values a step has when it is written out.
// Fails (kind type) for other values, (kind index) for too many.
static bool count_step(tl_vm *vm, const tl_step *step, const tl_slot *parts,
                       int64_t *items, int64_t *values) {
  for (int i = 0; step->field == NULL && i < step->item_count; i++) {
    int64_t length = 1;
    if (step->items[i].kind == TL_ITEM_SPREAD) {
      length = spread_length(*parts);
      if (length < 0)
        return tl_fail(vm, TALLY_ERR_TYPE,
                       "... in an index spreads a list, an array or a range: "
                       "got %s",
                       tl_described(vm, *parts));
    }
    if (length > MOST_ITEMS || *items + length > MOST_ITEMS)
      return tl_fail(vm, TALLY_ERR_INDEX,
                     "an index has at most %d items, one for each axis",
                     MOST_ITEMS);
    *items += length;
    *values += step->items[i].kind == TL_ITEM_SPREAD
                   ? length
                   : tl_item_parts(step->items[i]);
    parts += tl_item_parts(step->items[i]);
  }
  return true;
}

// Adds the items of [from] as values; *to is moved past them.
// Items are read by the general index, so strings of an array and others that
// need memory become owned, and tl_path_close drops them.
static bool spread_value(tl_vm *vm, tl_slot from, tl_index_item **items,
                         tl_slot **to) {
  int64_t length = spread_length(from);
  for (int64_t i = 0; i < length; i++) {
    tl_slot base = tl_borrow(from), at = tl_weak_int(i);
    if (!tl_index_get(vm, &base, &tl_index_one, &at, *to))
      return false;
    ++*to;
    *(*items)++ = *tl_index_one.items;
  }
  return true;
}

// Writes a step out; the places for its items and its values are moved past
// them.
static bool spread_step(tl_vm *vm, const tl_step *from, const tl_slot *parts,
                        tl_step *step, tl_index_item **items, tl_slot **to) {
  *step = *from;
  if (from->field != NULL)
    return true;
  step->items = *items;
  for (int i = 0; i < from->item_count; i++) {
    int count = tl_item_parts(from->items[i]);
    if (from->items[i].kind == TL_ITEM_SPREAD) {
      if (!spread_value(vm, *parts, items, to))
        return false;
    } else {
      *(*items)++ = from->items[i];
      for (int k = 0; k < count; k++) *(*to)++ = tl_borrow(parts[k]);
    }
    parts += count;
  }
  step->item_count = (uint16_t)(*items - step->items);
  return true;
}

// Counts first, so that one block holds everything.
bool tl_path_open(tl_vm *vm, const tl_path *path, const tl_slot *parts,
                  tl_open_path *out) {
  int64_t items = 0, values = 0;
  const tl_slot *at = parts;
  for (int i = 0; i < path->step_count; i++) {
    int64_t own = 0;
    if (!count_step(vm, &path->steps[i], at, &own, &values))
      return false;
    items += own;
    at += tl_step_parts(&path->steps[i]);
  }
  out->nbytes = (size_t)values * sizeof(tl_slot) +
                path->step_count * sizeof(tl_step) +
                ((size_t)items + 1) * sizeof(tl_index_item);
  out->parts = tl_alloc(vm, out->nbytes, "an index");
  if (out->parts == NULL)
    return false;
  memset(out->parts, 0, out->nbytes);
  tl_step *steps = (tl_step *)(void *)(out->parts + values);
  tl_index_item *item = (tl_index_item *)(void *)(steps + path->step_count);
  tl_slot *to = out->parts;
  out->path = (tl_path){.step_count = path->step_count,
                        .part_count = (uint16_t)values,
                        .steps = steps};
  for (int i = 0; i < path->step_count; i++) {
    if (!spread_step(vm, &path->steps[i], parts, &steps[i], &item, &to)) {
      tl_path_close(vm, out);
      return false;
    }
    parts += tl_step_parts(&path->steps[i]);
  }
  return true;
}

// Parts that were not written out yet are zero, which own nothing.
void tl_path_close(tl_vm *vm, tl_open_path *spread) {
  for (int i = 0; i < spread->path.part_count; i++)
    tl_drop(vm, spread->parts[i]);
  tl_free(vm, spread->parts, spread->nbytes);
}
