// A VM of its own that makes texts and pictures of another one.
#pragma once

#include "vm/vm.h"

// A VM that draws for another one, so that neither the counters of that are
// touched nor its memory is needed. It stops where the other's interrupt or
// deadline comes.
typedef struct tl_painter {
  tl_vm *of, *vm;
} tl_painter;

// Opens one, which stays where it is until it ends. NULL after tl_fail.
tl_vm *tl_painter_open(tl_painter *p, tl_vm *of);
// Ends the painter. What it drew where [ok], an owned string, goes to the text;
// else its error is raised in the other VM with its status. Returns ok.
bool tl_painter_close(tl_painter *p, bool ok, tl_slot drawn, tl_text *text);

// What a program of the library, a module and a function of it, tells of code:
// [code] is its argument, which is closed, and [more] one behind it, or NULL.
// The text that it gives is added to [text]. False after tl_fail; but where
// [code] has failed, for lack of memory, nothing is pending.
bool tl_tell_code(tl_vm *vm, tl_text *code, const char *program,
                  const char *function, const tl_slot *more, tl_text *text);
