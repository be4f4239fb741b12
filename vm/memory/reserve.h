// Memory above the limit, for what a full VM needs to be told to let go.
#pragma once

#include "vm/value.h"

// Bytes beyond memory_limit that may be used to compile a text, to prove its
// code, to tell of an error or of a run (memory.measure, tally_explain,
// listings and plots), to answer a prompt that asks for names and
// documentation, and for the table of handles, by which the host lets go.
enum { TL_RESERVE = 256 << 10 };

// From here on so many bytes above the limit may be used: TL_RESERVE, or what
// this function returned, which is the number from before.
size_t tl_reserve(tl_vm *vm, size_t nbytes);

// Whether a promise of peak memory may hold.
bool tl_has_promises(const tl_vm *vm);

// Ends all promises of peak memory (#:peak): no code runs any longer.
void tl_end_promises(tl_vm *vm);
