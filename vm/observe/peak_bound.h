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
//   peak_formula.c   symbols, products of them, and their sums
//   peak_values.c    what is known of a value: dtype, lengths, its block
//   peak_bound.c     the instructions, the most that was alive, the report
//
// The bound is one of the promise #:peak (peak_contract.h): bytes of items
// beyond those at the beginning. It holds for arrays of TL_REGION_LARGE items
// and more; smaller ones may be computed one by one. Where a shape depends on
// values, or where a function's own needs are not known, the report says what
// would have to be known.
#ifndef TALLY_VM_PEAK_BOUND_H
#define TALLY_VM_PEAK_BOUND_H

#include "vm/observe/watch.h"

// Writes the bounds of all functions of a unit. Only memory can be missing,
// which text->failed tells.
void tl_explain_peak(tl_text *text, const tl_unit *unit);

#endif
