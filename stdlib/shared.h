// What one family of the library offers to another, by the file that has it. A
// function stands here when a second family needs it and it does not belong to
// a layer below.
#pragma once

#include "vm/host.h"
#include "vm/values/list.h"

// --- results.c --------------------------------------------------------------

// Ends a built-in whose work is done in Tally, by a function of inner/arrays:
// its [count] arguments move there, with what they own.
bool tl_in_tally(tl_vm *vm, const char *function, int count, tl_slot *args,
                 tl_slot *out);
// The same by a function of another module of the library's own.
bool tl_in_module(tl_vm *vm, const char *module, const char *function,
                  int count, tl_slot *args, tl_slot *out);

// A value of the library's own that owns [object], for which [what] stands in a
// message; its memory is the VM's and counted as such. On failure the caller
// still owns the object.
bool tl_resource_give(tl_vm *vm, const tally_resource *type, void *object,
                      const tl_walked *walked, const char *what, tl_slot *out);

// --- list_sort.c ------------------------------------------------------------

// Sorts a list, stably: numbers by value (NaN last), strings by code points,
// lists item by item; [key] is none or a function whose results are compared
// instead. Takes what s owns; *out is owned. Items without an order fail (kind
// type).
bool tl_list_sort(tl_vm *vm, tl_slot *s, bool descending, tl_slot key,
                  tl_slot *out);

// --- items.c ----------------------------------------------------------------

// The number of items that a for loop would walk: those of a list, of an array
// along its leading axis, of a range, the clusters of a string, the keys of a
// record. Fails (kind type) for anything else, naming [function].
bool tl_items_count(tl_vm *vm, const char *function, tl_slot s, int64_t *out);
// The item at [index]; *out is owned, a scalar or an immortal. Strings are
// walked in order: *at is 0 before the first, and the byte of the next
// afterwards.
bool tl_items_get(tl_vm *vm, tl_slot s, int64_t index, size_t *at,
                  tl_slot *out);

// The list args[0], which is that itself where it ends, or one of its items.
bool tl_list_spread(tl_vm *vm, tl_slot *args, tl_slot *out);
// As concat does it with a list that the caller owns, which is given up; false
// where [ok] is, too. *out is owned.
bool tl_concat_parts(tl_vm *vm, tl_list *parts, bool ok, int axis,
                     tl_slot *out);

// --- structs.c --------------------------------------------------------------

// The fields of a struct array as a record; *out is owned.
bool tl_columns_of(tl_vm *vm, tl_slot p, tl_slot *out);

// --- io_csv_write.c ---------------------------------------------------------

// The character between cells: one of ASCII, no quote or line end; none is a
// comma. Fails with kind value. On failure *out may have been set, and nothing
// depends on it.
bool tl_csv_separator(tl_vm *vm, const char *function, tl_slot s, char *out);
