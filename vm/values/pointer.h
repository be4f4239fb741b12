// Arrays of pointers: 3 * pointer[float64], each item a reference to one of the
// values in a block of memory.
//
// A nested array of TL_FORM_POINTER: int64 places, of one axis or more, and the
// target, any value of axes, along whose first axis they lie. An index chooses
// places and keeps the target whole; an item is the value that it refers to;
// what is set is set in the target, so that every item that refers there shows
// it. What does not know pointers gets the values.
#ifndef TALLY_VM_POINTER_H
#define TALLY_VM_POINTER_H

#include "vm/nested/nested.h"
#include "vm/nested/nested_set.h"

// Takes both on every path; *out is owned.
bool tl_pointer_new(tl_vm *vm, tl_slot *places, tl_slot *target, tl_slot *out);
// The values, in the shape of the places. *out is owned.
bool tl_pointer_values(tl_vm *vm, const tl_nested *n, tl_slot *out);
// The items at an index; of no axes, the value itself. Takes what [places]
// owns.
bool tl_pointer_of_places(tl_vm *vm, const tl_nested *n, tl_slot *places,
                          tl_slot *out);
// n.way = value, in the target.
bool tl_pointer_set(tl_vm *vm, tl_way w, tl_nested *n, tl_slot value);

#endif
