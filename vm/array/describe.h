// What values are, as text for messages, and the messages that need it.
// Nothing here is hot: it runs after something failed.
#pragma once

#include "vm/error.h"

// The value's type as text, for messages: "3 * 4 * float32", "int64",
// "string", "list", "record", "function", "none". Written into [buffer] of
// [size] bytes, cut where it does not fit; returns buffer.
const char *tl_describe(tl_slot s, char *buffer, size_t size);
// The same in memory of the VM, for one message: good until the fourth call
// from then on.
const char *tl_described(tl_vm *vm, tl_slot s);
// The same of a type.
const char *tl_described_type(tl_vm *vm, const tl_type *type);
enum { TL_NUMBER_TEXT = 32 };
// A real number for a message: an integer as it is, also beyond int64, a float
// with all of its digits. Returns text.
const char *tl_number_text(tl_slot s, char text[TL_NUMBER_TEXT]);

// Fails (kind type): "roll: shift must be an integer, not string". [name] is
// the parameter as the function calls it; where the built-in that a script
// called has no such parameter, the name of the one that got [s] takes its
// place. NULL: whoever fails cannot know.
#define TL_UNKNOWN_ARGUMENT "an argument"
bool tl_arg_fail(tl_vm *vm, const char *function, const char *name,
                 const char *expected, tl_slot s);

// Changes the pending message, if it is a type error that ends with the type
// of [part], such as one row of an array, so that it ends with that of
// [whole]: a script knows nothing of the parts.
void tl_fail_whole(tl_vm *vm, tl_slot part, tl_slot whole);

// Adds the line under the caret, such as "left n: 3 * 4 * int8": the
// interpreter prefixes operands' source text. Only after tl_fail.
void tl_fail_operands(tl_vm *vm, tl_slot left, tl_slot right);

// A dtype argument: a type value of kind DTYPE; else kind type, naming the
// function and the argument.
bool tl_dtype_argument(tl_vm *vm, const char *function, tl_slot s,
                       tl_dtype *out);
