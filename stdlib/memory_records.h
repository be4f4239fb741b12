// What the module memory finds out, as records: for scripts, and for the
// pictures that stdlib/inner/memory.tly draws.
#pragma once

#include "vm/observe/watch.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// Fails (kind memory): not all values could be looked at. An error that is
// pending, of an interrupt, stays.
// A walk over all references needs memory itself, and what it had found until
// that ended is worth nothing.
bool tl_fail_incomplete(tl_vm *vm, const char *function);

// Adds a field, as tl_record_put does: a vector of [count] items of a dtype,
// [step] bytes from one to the next.
// Fails as tl_record_put does: *record is NULL then, and stays so.
void tl_record_put_column(tl_vm *vm, tl_record **record, const char *name,
                          tl_dtype dtype, const void *first, size_t step,
                          uint32_t count);
// The same of a list, which is taken and may be NULL, where [ok].
void tl_record_put_list(tl_vm *vm, tl_record **record, const char *name,
                        tl_list *list, bool ok);
// Pushes it to a list; takes it. False after tl_fail, and where it is NULL.
bool tl_record_put_into(tl_vm *vm, tl_list **list, tl_record *record);

// A new record of the names of a type and its device; others are put to it.
// NULL after tl_fail. [devices] are those of the VM that counted.
tl_record *tl_type_record(tl_vm *vm, const tl_type_count *count,
                          const tl_device *devices);

// All of a timeline, as the pictures of stdlib/inner/memory.tly want it.
bool tl_timeline_record(tl_vm *vm, const tl_timeline *t, tl_slot *out);

// All of a profile, likewise.
bool tl_profile_record(tl_vm *vm, const tl_profile *p, tl_slot *out);
