// Errors as values: the record that `catch e` gives a script, and raising an
// error again from such a record or from a string.
//
//     vm->error ── tl_error_take ──▶ (kind: …, message: …, line: …,
//               ◀─ tl_error_raise ──  column: …, file: …, trace: …)
#pragma once

#include "vm/error.h"

// The pending error as the record that `catch e` gives: kind, message, line,
// column, file, trace (a list of strings). Clears it. Returns owned, or false
// where even that finds no memory (then kind memory stays pending).
bool tl_error_take(tl_vm *vm, tl_slot *out);

// Raises an error record (as made above, or by a script) or a string again.
bool tl_error_raise(tl_vm *vm, tl_slot error);
