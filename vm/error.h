// The one pending error of a VM: kind, message, place, trace.
//
// A function that can fail returns NULL or false after one call to tl_fail;
// callers pass that up and add nothing.
#ifndef TALLY_VM_ERROR_H
#define TALLY_VM_ERROR_H

#include <stdarg.h>

#include "tally.h"
#include "vm/value.h"

// Sets the pending error and returns false. The message gives the operation,
// what it got and the rule it broke, without kind or place: the interpreter
// adds those. An error that is already pending stays (the first cause wins).
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool tl_fail(tl_vm *vm, tally_status kind, const char *format, ...);
bool tl_fail_v(tl_vm *vm, tally_status kind, const char *format, va_list args);

// Fails (kind type): "roll: shift must be an integer, not string". [name] is
// the parameter as the function calls it; where the built-in that a script
// called has no such parameter, the name of the one that got [s] takes its
// place. NULL: whoever fails cannot know.
#define TL_UNKNOWN_ARGUMENT "an argument"
bool tl_arg_fail(tl_vm *vm, const char *function, const char *name,
                 const char *expected, tl_slot s);

// Puts "field NAME: " in front of the pending error, or NAME before the name of
// a field within it.
void tl_fail_field(tl_vm *vm, const tl_string *name);

// A message that ends with what [part] is, one row, tells of all instead.
void tl_fail_whole(tl_vm *vm, tl_slot part, tl_slot whole);

// No memory: does not allocate. [what] names the thing that was to be made.
bool tl_fail_memory(tl_vm *vm, size_t nbytes, const char *what);

// Adds the line under the caret, such as "left n: 3 * 4 * int8": the
// interpreter prefixes operands' source text. Only after tl_fail.
void tl_fail_operands(tl_vm *vm, tl_slot left, tl_slot right);

bool tl_failed(const tl_vm *vm);
void tl_error_clear(tl_vm *vm);

// The pending error as the record that `catch e` gives: kind, message, line,
// column, file, trace (a list of strings). Clears it. Returns owned, or false
// where even that finds no memory (then kind memory stays pending).
bool tl_error_take(tl_vm *vm, tl_slot *out);

// Raises an error record (as made above, or by a script) or a string again.
bool tl_error_raise(tl_vm *vm, tl_slot error);

const char *tl_error_kind_name(tally_status kind);  // "shape"
bool tl_error_kind_find(const char *name, tally_status *kind);

#endif
