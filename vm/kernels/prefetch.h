// Asking for memory before its turn.
#pragma once

#include <stdint.h>

// Asks for the line [nbytes] from a place, which may lie anywhere, into the
// second cache: the first one can wait for fewer lines at a time than a loop
// over random places needs.
// Only a hint: no place is wrong, and what comes too late costs nothing but the
// instruction.
static inline __attribute__((always_inline)) void tl_prefetch(
    const void *place, uintptr_t nbytes) {
  __builtin_prefetch((const void *)((uintptr_t)place + nbytes), 0, 2);
}
