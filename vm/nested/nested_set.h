// Between path.c, which walks places of any values, and nested_set.c.
#ifndef TALLY_VM_NESTED_SET_H
#define TALLY_VM_NESTED_SET_H

#include "vm/nested/nested.h"
#include "vm/index/select.h"

// The steps of a place that are left, and the values that they take.
typedef struct tl_nested_path {
  const tl_step *steps;
  int count;
  tl_slot *parts;
} tl_nested_path;

// Where a place is put together anew.
enum {
  TL_MOST_STEPS = 16,
  TL_MOST_ITEMS = 2 * TL_MAX_DIMS + 3,
  TL_MOST_PARTS = 64
};

// What is left behind the first step.
static inline tl_nested_path tl_nested_path_below(tl_nested_path w) {
  int parts = tl_step_parts(w.steps);
  return (tl_nested_path){w.steps + 1, w.count - 1, w.parts + parts};
}

// target.way = value, on the target itself or on a copy that shares its parts.
// The value is borrowed. *out is the array that was written, owned by whoever
// owned the target or, for a copy, by the caller. A failure changes nothing.
// Where it may widen, a name that a table has no field of makes a new column,
// which a part of another array must not get: *out is then another
// array, and the target is dropped where it was to be changed in place.
bool tl_nested_set(tl_vm *vm, tl_nested_path w, tl_slot target, bool in_place,
                   bool may_widen, tl_slot *value, tl_nested **out);

// A place that is put together anew, with the room for what it consists of.
typedef struct tl_nested_place {
  tl_nested_path way;
  tl_step steps[TL_MOST_STEPS];
  tl_index_item items[TL_MOST_ITEMS];
  tl_slot parts[TL_MOST_PARTS];
} tl_nested_place;
static const tl_index_item tl_one_value = {.kind = TL_ITEM_VALUE};
static const tl_index_item tl_one_slice = {
    .kind = TL_ITEM_SLICE, .given = TL_SLICE_START | TL_SLICE_STOP};
// to->way becomes an index of [item], with its values, and then what [rest]
// has. With [merges] the item stands for the first one of the rest's first
// index; else it is a step of its own. False without an error: there is no room
// for all.
bool tl_place_begin(tl_nested_place *to, tl_index_item item,
                    const tl_slot *values, tl_nested_path rest, bool merges);
// The way that is an index of one value.
static inline tl_nested_path tl_way_one(tl_slot *value) {
  return (tl_nested_path){&tl_index_one, 1, value};
}

// A part (a heap slot) updated where it is: in its memory if that is this
// slot's alone, else on a copy that takes its place. With no step left the part
// itself is replaced, in its own type and shape. The part's type stays: no
// column is added.
bool tl_part_update(tl_vm *vm, tl_nested_path w, tl_slot *part, tl_slot *value);

// array.way = value through views (path.c).
bool tl_array_store_below(tl_vm *vm, tl_nested_path w, tl_array *a,
                          tl_slot value);

// Whether a record or struct array has the fields of [layout] and no others;
// the error where it has not; its field of that name, borrowed or owned.
bool tl_struct_has_fields(const tl_type *layout, tl_slot value);
bool tl_struct_fail_fields(tl_vm *vm, const tl_type *layout, tl_slot value);
bool tl_struct_value_field(tl_vm *vm, tl_slot value, tl_string *name,
                           tl_slot *out);

// The items of a block of structs that an index of its own axes selects.
// *out is a view of them, or a copy where the index says which.
bool tl_struct_items(tl_vm *vm, tl_slot bytes, const tl_step *step,
                     tl_slot *parts, tl_slot *out);
// The same items become those of [items], bytes too.
bool tl_struct_items_store(tl_vm *vm, tl_slot bytes, const tl_step *step,
                           tl_slot *parts, tl_slot items);

#endif
