// The kernels of rotate.c, for each instruction set: see turn_rows in
// kernels.h.
#pragma once

#include "vm/kernels/loop.h"

// [a] has count + 1 rows and is rotated in place; c and s have [count] items.
void TL_K(turn_rows)(double *a, size_t row, const double *c, const double *s,
                     size_t count, size_t n);

void TL_K(add_row)(double *x, double f, const double *y, size_t n);
double TL_K(row_product)(const double *x, const double *y, size_t n);
