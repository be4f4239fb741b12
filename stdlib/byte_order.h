// The order of a number's bytes, here and in files.
#pragma once

#include "vm/vm.h"

// Whether this machine stores the most significant byte of a number first.
bool tl_is_big_endian(void);  // this machine
// Turns each of [count] words of [width] bytes around. A width of 1 changes
// nothing. [data] need not be aligned.
void tl_swap_bytes(char *data, size_t width, size_t count);
// Makes [count] items from outside ours, or where [swapped] is false and they
// are no bools leaves them: bytes in this machine's order, halves of complex
// numbers by themselves, and bools 0 or 1, which kernels rely on.
void tl_settle_items(char *data, tl_dtype dtype, size_t count, bool swapped);
// The same of many, between which it polls. False after tl_fail.
bool tl_settle_all(tl_vm *vm, char *data, tl_dtype dtype, size_t count,
                   bool swapped);
