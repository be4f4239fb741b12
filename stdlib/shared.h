// What one family of the library lends to another.
#ifndef TALLY_STDLIB_SHARED_H
#define TALLY_STDLIB_SHARED_H

#include "vm/builtin.h"
#include "vm/values/list.h"
#include "vm/values/string.h"

// --- list.c -----------------------------------------------------------------

// Sorts a list, stably: numbers by value (NaN last), strings by code points,
// lists item by item; [key] is none or a function whose results are compared
// instead. Consumes what s owns. Items without an order fail (kind type).
bool tl_list_sort(tl_vm *vm, tl_slot *s, bool descending, tl_slot key,
                  tl_slot *out);

// Compares two values in that order: *order is below, at or above 0. False
// (kind type): they have no order.
bool tl_compare(tl_vm *vm, tl_slot a, tl_slot b, int *order);

// The items of a value that for walks: those of a list, of an array along its
// leading axis, of a range, the clusters of a string, the keys of a record.
// Fails (kind type) for anything else, naming [function].
bool tl_items_count(tl_vm *vm, const char *function, tl_slot s, int64_t *out);
// The item at [index]; *out is owned, a scalar or an immortal. Strings are
// walked in order: *at is 0 before the first.
bool tl_items_get(tl_vm *vm, tl_slot s, int64_t index, size_t *at,
                  tl_slot *out);

#endif
