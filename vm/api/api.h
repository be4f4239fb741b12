// Inside the public API (tally.h): handles, the last error's report, checks on
// entry.
//
//     host                   this folder                     VM
//     tally_value v ──────▶  tl_handle_get ────────────────▶ slot, borrowed
//     tally_take(v) ──────▶  tl_handle_argument ───────────▶ slot, owned
//     tally_value   ◀──────  tl_give, tl_handle_new  ◀────── slot
//     tally_status  ◀──────  tl_report ◀─ pending error ◀─── tl_fail
//
// Every function of tally.h has the same form:
//
//     TL_ENTER(vm);                     a VM, and no release hook runs; until
//                                       it returns floats are as Tally's are
//     if (!tl_asked(vm, v, out, &s))    pointers that must be there
//       return tl_report(vm);           the pending error is reported
//     … work on slots …
//     return tl_give(vm, result, out);
//
// Files: api.c runs code, api_value.c and api_array.c convert, native.c and
// resource.c call the host's functions and types, api_arrow*.c and api_dlpack.c
// exchange arrays with other libraries, parcel.c sends values to other VMs,
// report.c keeps the last error, open.c puts a VM together.
#pragma once

#include "vm/floats.h"
#include "vm/io.h"
#include "vm/poll.h"

// Handles of a call lie on the C stack, so there is a limit to them.
enum { TL_MAX_CALL_ARGUMENTS = 64 };

// --- Entry ------------------------------------------------------------------

// Whether a call may use this VM at all: it is there, and no release hook is
// running. If not, a call does nothing and returns TALLY_ERR_HOST.
static inline bool tl_enter(const tl_vm *vm) {
  return vm != NULL && vm->access != TL_ACCESS_NONE;
}
// From the host's outermost call its time and its budget count.
#define TL_ENTER(vm)           \
  if (!tl_enter(vm))           \
    return TALLY_ERR_HOST;     \
  if ((vm)->native_depth == 0) \
    tl_poll_enter(vm);         \
  TL_FLOATS_HERE
// Whether code may run and variables may change; false after tl_fail inside
// hooks that may not do so.
bool tl_may_run(tl_vm *vm);
// Fails (kind host): a pointer that the host must give is NULL. Returns false.
bool tl_fail_null(tl_vm *vm, const char *what);
// Whether the pointer is there; false after tl_fail, with [what] in the
// message.
static inline bool tl_given(tl_vm *vm, const void *pointer, const char *what) {
  return pointer != NULL || tl_fail_null(vm, what);
}
// Whether the host's text is valid UTF-8; false after tl_fail: kind value where
// it is not, kind host where it is NULL.
bool tl_check_host_text(tl_vm *vm, const char *text, size_t nbytes);

// The source text: as given, or, with NULL, read from the file [name] into
// *file, which the caller frees in any case. False after tl_fail.
bool tl_read_source(tl_vm *vm, const char *name, const char **source,
                    size_t *nbytes, tl_bytes *file);

// The host's or the library's function of that name, "sum" or "linalg.det",
// borrowed for good; ".sum" is "sum". False after tl_fail (kind name where there
// is none).
bool tl_function_named(tl_vm *vm, const char *name, tl_slot *out);

// Ends debugging (api_debug.c); nothing happens where nobody debugs.
void tl_debug_close(tl_vm *vm);

// --- Handles (handles.c) ----------------------------------------------------

// Bools, numbers up to 8 bytes and none stand in the handle itself, so that
// they cost the host nothing: a mark above a slot's tag, and the payload.
#define TL_PLAIN (UINT64_C(0x54414c59) << 32)

// The handle of such a value.
static inline tally_value tl_plain_value(tl_slot value) {
  return (tally_value){TL_PLAIN | value.tag, value.u};
}

// Whether the handle is one that tl_plain_value gave; then *out is its value. A
// handle that the host made up is not taken for a pointer.
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

// Makes the table of handles; false after tl_fail.
bool tl_handles_open(tl_vm *vm);
// Releases all handles and the table; returns how many were still held.
size_t tl_handles_close(tl_vm *vm);
// Calls [each] with every value that the host holds by a handle that is not one
// of its resources', as far as these say what they hold: a value of one owner
// that is a resource's is left out. Runs the visit hooks of all resources.
void tl_handles_each_outer(tl_vm *vm,
                           void (*each)(void *context, tl_slot value),
                           void *context);
struct tl_resource;
// Calls [each] with every value that a resource says it holds, once for each
// time that it says so. Nothing happens where its type has no visit hook.
void tl_resource_each_held(const struct tl_resource *resource,
                           void (*each)(void *context, tl_slot value),
                           void *context);
// Calls [each] with every value that the host holds, for the auditor's recount.
// [each] makes and releases no handles. The walk cannot be stopped.
void tl_handles_each(const tl_vm *vm,
                     void (*each)(void *context, tl_slot value), void *context);
// Makes a handle for *value: what the slot owns is taken, what it borrows is
// retained. False after tl_fail, with the value as it was.
bool tl_handle_new(tl_vm *vm, tl_slot *value, tally_value *out);
// Makes a handle that borrows [value], which has to outlive it: no count is
// written unless the host retains the handle.
bool tl_handle_borrow(tl_vm *vm, tl_slot value, tally_value *out);
// The handle's value, borrowed. False after tl_fail (kind host) for a released
// handle or one of another VM.
bool tl_handle_get(tl_vm *vm, tally_value handle, tl_slot *out);
// The same where the host has given a place for the result.
static inline bool tl_asked(tl_vm *vm, tally_value handle, const void *place,
                            tl_slot *out) {
  return tl_given(vm, place, "the place for the result") &&
         tl_handle_get(vm, handle, out);
}
// The handle's value, owned; the handle is released.
bool tl_handle_take(tl_vm *vm, tally_value handle, tl_slot *out);
// A handle as an argument: owned if the host marked it by tally_take, else
// borrowed.
bool tl_handle_argument(tl_vm *vm, tally_value handle, tl_slot *out);
// All arguments of a call so. On failure nothing in [out] is owned, and the
// marked handles have been released.
bool tl_handles_read(tl_vm *vm, int count, const tally_value *handles,
                     tl_slot *out);
// Releases those of [count] handles that are marked by tally_take, as a call
// does that fails before it reads them.
void tl_handles_abandon(tl_vm *vm, size_t count, const tally_value *handles);
// Makes a handle that is filled later (tl_handle_fill), so that nothing can
// fail once its value has been made.
bool tl_handle_reserve(tl_vm *vm, tally_value *out);
// Puts an owned value into a reserved handle.
// Takes the value. The handle is one that tl_handle_reserve gave.
void tl_handle_fill(tl_vm *vm, tally_value handle, tl_slot value);

// Gives an owned value to the host as *out; on failure drops it and reports.
// *out is untouched on failure.
tally_status tl_give(tl_vm *vm, tl_slot value, tally_value *out);
// The same of a text, which this closes.
tally_status tl_give_text(tl_vm *vm, tl_text *text, tally_value *out);
// Reports that the host asked for [wanted] and the value is something else;
// returns the status.
tally_status tl_report_wrong_type(tl_vm *vm, const char *wanted, tl_slot got);

// --- Errors (api.c) ---------------------------------------------------------

// Turns the pending error into the report that tally_error shows, and returns
// its status. Inside a hook the error is also kept, so that the hook's failure
// passes it on as it was.
tally_status tl_report(tl_vm *vm);
// tl_fail, and its report: for what the host gave wrong.
tally_status tl_report_fail(tl_vm *vm, tally_status status, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));
// Makes the error that a hook reported pending again. False where it reported
// none, or one of another status.
bool tl_report_raise(tl_vm *vm, tally_status status);
// Whether a hook met an interrupt, a budget or a deadline and did not pass it
// on.
bool tl_report_is_final(const tl_vm *vm);
// Gives up the error kept for a hook.
void tl_report_forget(tl_vm *vm);
// Makes the report with the VM, so that lack of memory can be reported; false:
// no memory.
bool tl_report_open(tl_vm *vm);
// Called first when the VM closes; afterwards nothing can be reported.
void tl_report_close(tl_vm *vm);
