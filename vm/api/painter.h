// A VM of its own that makes texts and pictures of another one.
#pragma once

#include "vm/vm.h"

// A VM of its own that draws, so that neither the watched VM's limits and
// interrupts nor its counters are touched; NULL after tl_fail.
tally_vm *tl_painter_open(tl_vm *vm);
// Ends the painter. What it drew where [ok], an owned string, goes to the text;
// else its error is raised here with its status. Returns ok.
bool tl_painter_close(tl_vm *vm, tally_vm *painter, bool ok, tl_slot drawn,
                      tl_text *text);

// What a program of the library, a module and a function of it, tells of code:
// [code] is its argument, which is closed, and [more] one behind it, or NULL.
// The text that it gives is added to [text]. False after tl_fail; but where
// [code] has failed, for lack of memory, nothing is pending.
bool tl_tell_code(tl_vm *vm, tl_text *code, const char *program,
                  const char *function, const tl_slot *more, tl_text *text);
