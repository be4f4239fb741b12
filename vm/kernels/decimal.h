// The kernels of decimal.c, for each instruction set: see kernels.h for their
// contracts.
#pragma once

#include "vm/kernels/loop.h"

// What the members of the same names in a tl_kernel_table say.
void TL_K(text_places)(tl_text_places *out, const char *text, char separator,
                       size_t n);
unsigned TL_K(decimals)(double *values, int64_t *integers, const char *text,
                        const uint16_t *begin, size_t step, size_t behind,
                        size_t n);
