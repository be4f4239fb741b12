// Bounds of peak memory from the code alone: `tally explain --peak`.
//
//     fn smooth(x :: `N * float64`) {
//       y = x[1:] + x[:-1]
//       exp(y) * y                  fn smooth
//     }                               #:peak x.nbytes
//                                       the most in line 2: its result
//
// Runs the bytecode of a function on shapes instead of values. What a fused
// region computes on its way has no memory, a result takes that of an operand
// that ends, and what is dropped is given back: as the VM will do. The bytes
// that are alive after each instruction are a sum of products of the shapes of
// the parameters, and the largest of them is the bound.
//
//   peak_bound.c            gives the code, and prints
//   stdlib/inner/peak.tly   bounds it
//
// The bound is one of the promise #:peak (peak_contract.h): bytes of items
// beyond those at the beginning. Without the promise operations on fewer than
// TL_REGION_LARGE items may be done one by one, each with its array. Where a
// shape depends on values, or where a function's own needs are not known, the
// report says what would have to be known.
#pragma once

#include "vm/observe/watch.h"

// Writes the code of a unit for the program that bounds its functions. Memory
// may be missing: then text->failed is true.
void tl_peak_code(tl_text *out, const tl_unit *unit);
