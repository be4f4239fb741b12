// Between path.c, which walks places of any values, and nested_set.c.
#ifndef TALLY_VM_NESTED_SET_H
#define TALLY_VM_NESTED_SET_H

#include "vm/nested/nested.h"
#include "vm/index/select.h"

// The steps of a place that are left, and the values that they take.
typedef struct tl_way {
  const tl_step *steps;
  int count;
  tl_slot *parts;
} tl_way;

enum { TL_MOST_STEPS = 16 };  // where steps are put together anew

// What is left behind the first step.
static inline tl_way tl_way_below(tl_way w) {
  int parts = tl_step_parts(w.steps);
  return (tl_way){w.steps + 1, w.count - 1, w.parts + parts};
}

// target.way = value, on the target itself or on a copy that shares its parts.
// The value is borrowed. *out is the array that was written, owned by whoever
// owned the target or, for a copy, by the caller. A failure changes nothing.
bool tl_nested_set(tl_vm *vm, tl_way w, tl_slot target, bool in_place,
                   tl_slot *value, tl_nested **out);

// The same on a ragged array that may be changed where it is (ragged_set.c).
bool tl_ragged_set(tl_vm *vm, tl_way w, tl_nested *n, tl_slot *value);

// A part (a heap slot) updated where it is: in its memory if that is this
// slot's alone, else on a copy that takes its place. With no step left the part
// itself is replaced, in its own type and shape.
bool tl_part_update(tl_vm *vm, tl_way w, tl_slot *part, tl_slot *value);

// array.way = value through views (path.c).
bool tl_array_store_below(tl_vm *vm, tl_way w, tl_array *a, tl_slot value);

// Whether a record or struct array has the fields of [layout] and no others;
// the error where it has not; its field of that name, borrowed or owned.
bool tl_struct_has_fields(const tl_type *layout, tl_slot value);
bool tl_struct_fail_fields(tl_vm *vm, const tl_type *layout, tl_slot value);
bool tl_struct_value_field(tl_vm *vm, tl_slot value, tl_string *name,
                           tl_slot *out);

// The items of a block of structs that an index of its own axes selects.
bool tl_struct_items(tl_vm *vm, tl_slot bytes, const tl_step *step,
                     tl_slot *parts, tl_slot *out);
bool tl_struct_items_store(tl_vm *vm, tl_slot bytes, const tl_step *step,
                           tl_slot *parts, tl_slot items);

#endif
