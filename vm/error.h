// The one pending error of a VM: kind, message, place, trace.
//
// A function that can fail returns NULL or false after one call to tl_fail;
// callers pass that up and add nothing. Nothing else may be done with the VM
// while an error is pending, except to release what one holds.
//
//     tl_fail(vm, TALLY_ERR_SHAPE, "…")    where it happens: kind and message
//       tl_error_place                     the interpreter adds line and
//                                          excerpt
//       tl_error_trace                     and a line for each call that ends
//     tl_error_take                        a script's catch makes a record of
//                                          it
//     or tally_error                       the host reads it (vm/api/report.c)
#pragma once

#include <stdarg.h>

#include "tally.h"
#include "vm/value.h"

// Sets the pending error and returns false. The message gives the operation,
// what it got and the rule it broke, without kind or place: the interpreter
// adds those. An error that is already pending stays (the first cause wins).
// A message is cut after so many bytes.
enum { TL_LONGEST_MESSAGE = 1 << 20 };
// Bytes that suffice for what a message says of a value (tl_describe), and how
// many such texts a VM has.
enum { TL_DESCRIBE = 160, TL_DESCRIPTIONS = 4 };
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool tl_fail(tl_vm *vm, tally_status kind, const char *format, ...);
// As tl_fail, with the kind of that name, or else a kind of the script's own,
// whose name has at most 63 bytes.
bool tl_fail_named(tl_vm *vm, const char *kind, const char *message);
// As tl_fail, with a text that is the message as it is.
bool tl_fail_text(tl_vm *vm, tally_status kind, const char *text);
// As tl_fail, with the arguments of the format as a list.
bool tl_fail_v(tl_vm *vm, tally_status kind, const char *format, va_list args);

// Puts "field NAME: " in front of the pending error's message, or NAME before
// the name of a field within it: "field a.b: …".
void tl_fail_field(tl_vm *vm, const tl_string *name);

// The error of kind memory: says how much was needed for [what], the thing that
// was to be made, and how much is in use. Does not allocate. Returns false.
bool tl_fail_memory(tl_vm *vm, size_t nbytes, const char *what);

// Replaces the pending error's message by three texts in a row. Where there is
// no memory for that the message stays.
void tl_put_message(tl_vm *vm, const char *first, const char *second,
                    const char *third);

// Whether an error is pending.
bool tl_failed(const tl_vm *vm);
// Gives up the pending error with all that it owns.
void tl_error_clear(tl_vm *vm);

// Puts the pending error aside, so that code may run which has errors of its own;
// makes it the pending one again in the place of any other; gives up one that
// was put aside.
struct tl_pending_error;
void tl_error_aside(tl_vm *vm, struct tl_pending_error *kept);
void tl_error_resume(tl_vm *vm, struct tl_pending_error *kept);
void tl_error_forget(tl_vm *vm, struct tl_pending_error *kept);

// The name of a kind, such as "shape"; static.
const char *tl_error_kind_name(tally_status kind);  // "shape"
// The name of an error's kind, which may be a script's own.
const char *tl_pending_kind(const struct tl_pending_error *error);
