// Inside the public API: handles and the last error's report.
#ifndef TALLY_VM_API_H
#define TALLY_VM_API_H

#include "vm/vm.h"

enum { TL_MAX_CALL_ARGUMENTS = 64 };

bool tl_handles_open(tl_vm *vm);
size_t tl_handles_close(tl_vm *vm);  // returns how many were still held
// Each value that the host holds, for the auditor.
void tl_handles_each(const tl_vm *vm,
                     void (*each)(void *context, tl_slot value), void *context);
// Takes the value (or retains a borrowed one) into a new handle.
bool tl_handle_new(tl_vm *vm, tl_slot *value, tally_value *out);
// The value, borrowed; kind host for a released or foreign handle.
bool tl_handle_get(tl_vm *vm, tally_value handle, tl_slot *out);
// The value, owned; the handle is released.
bool tl_handle_take(tl_vm *vm, tally_value handle, tl_slot *out);

// False (kind value) where text of the host's is not UTF-8.
bool tl_check_host_text(tl_vm *vm, const char *text, size_t nbytes);

// The pending error becomes the last error; returns its status.
tally_status tl_report(tl_vm *vm);
bool tl_report_open(tl_vm *vm);
void tl_report_close(tl_vm *vm);

#endif
