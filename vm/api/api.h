// Inside the public API: handles, the last error's report, checks on entry.
#ifndef TALLY_VM_API_H
#define TALLY_VM_API_H

#include "vm/vm.h"

enum { TL_MAX_CALL_ARGUMENTS = 64 };

// --- Entry ------------------------------------------------------------------

// Whether a call may use this VM at all: it is there, and no release hook is
// running. Where not, a call does nothing and returns TALLY_ERR_HOST.
static inline bool tl_enter(const tl_vm *vm) {
  return vm != NULL && vm->access != TL_ACCESS_NONE;
}
#define TL_ENTER(vm) \
  if (!tl_enter(vm)) \
  return TALLY_ERR_HOST
// Whether it may run code and change variables; false after tl_fail in hooks
// that may not.
bool tl_may_run(tl_vm *vm);
// False (kind host) where a pointer that the host must give is NULL.
bool tl_fail_null(tl_vm *vm, const char *what);
static inline bool tl_given(tl_vm *vm, const void *pointer, const char *what) {
  return pointer != NULL || tl_fail_null(vm, what);
}
// False (kind value) where text of the host's is not UTF-8, kind host where it
// is NULL.
bool tl_check_host_text(tl_vm *vm, const char *text, size_t nbytes);

// --- Handles (handles.c) ----------------------------------------------------

// Bools, numbers up to 8 bytes and none are in the handle itself, so that they
// cost the host nothing: a mark above a slot's tag, and the payload.
#define TL_PLAIN (UINT64_C(0x54414c59) << 32)

static inline tally_value tl_plain_value(tl_slot value) {
  return (tally_value){TL_PLAIN | value.tag, value.u};
}

// Only what tl_plain_value gave: a handle that was made up is no pointer.
static inline bool tl_is_plain(tally_value handle, tl_slot *out) {
  uint64_t tag = handle.handle ^ TL_PLAIN;
  int dtype = (int)(tag >> 8 & 0xff);
  if ((tag & ~TL_WEAK) != TL_TAG_F64 &&  // the usual one
      (tag >= TL_WEAK << 1 ||
       (dtype < TL_COMPLEX128
            ? (int)(tag & 0xff) != tl_scalar_class((tl_dtype)dtype)
            : tag != TL_TAG_NONE)))
    return false;
  out->tag = tag;
  out->u = handle.check;
  return true;
}

bool tl_handles_open(tl_vm *vm);
size_t tl_handles_close(tl_vm *vm);  // returns how many were still held
// Each value that the host holds, for the auditor.
void tl_handles_each(const tl_vm *vm,
                     void (*each)(void *context, tl_slot value), void *context);
// Takes the value (or retains a borrowed one) into a new handle.
bool tl_handle_new(tl_vm *vm, tl_slot *value, tally_value *out);
// A handle that borrows [value], which outlives it: no count is written unless
// the host retains it.
bool tl_handle_lend(tl_vm *vm, tl_slot value, tally_value *out);
// The value, borrowed; kind host for a released or foreign handle.
bool tl_handle_get(tl_vm *vm, tally_value handle, tl_slot *out);
// The value, owned; the handle is released.
bool tl_handle_take(tl_vm *vm, tally_value handle, tl_slot *out);
// As an argument is given: owned if it is marked by tally_take, else borrowed.
bool tl_handle_argument(tl_vm *vm, tally_value handle, tl_slot *out);
// All arguments of a call so; on failure none is owned, and those marked are
// released.
bool tl_handles_read(tl_vm *vm, int count, const tally_value *handles,
                     tl_slot *out);
// Releases those of [count] handles that are marked as taken.
void tl_handles_abandon(tl_vm *vm, size_t count, const tally_value *handles);
// A handle that is filled when its value has been made, so that nothing can
// fail in between.
bool tl_handle_reserve(tl_vm *vm, tally_value *out);
void tl_handle_fill(tl_vm *vm, tally_value handle, tl_slot value);

// Gives an owned value to the host, or drops it and reports the failure.
tally_status tl_give(tl_vm *vm, tl_slot value, tally_value *out);
// "as_int needs an integer: got string"; the status of that error.
tally_status tl_report_wrong_type(tl_vm *vm, const char *needed, tl_slot got);

// --- Errors (api.c) ---------------------------------------------------------

// The pending error becomes the last error; returns its status. Inside a hook
// it is kept too, so that the hook's failure passes it on as it was.
tally_status tl_report(tl_vm *vm);
// Makes what a hook reported pending again: false where that was nothing, or
// of another status.
bool tl_report_raise(tl_vm *vm, tally_status status);
// An interrupt, a budget or a deadline that a hook met and did not pass on.
bool tl_report_is_final(const tl_vm *vm);
void tl_report_forget(tl_vm *vm);  // what is kept
bool tl_report_open(tl_vm *vm);
void tl_report_close(tl_vm *vm);

#endif
