// The shortest way to a kernel, for dense arrays of rank 1 and 2 and for these
// with scalars: no plan, no broadcasting, no look at anything but tags and
// dimensions. What a small operation costs is decided here.
//
// Each function does such a case and answers true, or does nothing at all:
// then the general way (tl_elementwise) runs, and raises the errors.
#ifndef TALLY_VM_SHORT_H
#define TALLY_VM_SHORT_H

#include "vm/array/array.h"
#include "vm/engine/elementwise.h"

// Of the dispatch loop: operands with the instruction's modes for b and c (two
// bits each), dropped here where they die. [a] may be an operand's slot.
bool tl_short_binary(tl_vm *vm, tl_op op, tl_slot *a, const tl_slot *b,
                     const tl_slot *c, unsigned modes);
// Two operations at once: d op the result of b op c, whose side in the second
// operation is 0 (left) or 1. [then_modes] are the second instruction's; *a is
// its result.
typedef struct tl_short_pair {
  tl_op op, then;
  int side;
  const tl_slot *b, *c, *d;
  unsigned modes, then_modes;
} tl_short_pair;
bool tl_short_two(tl_vm *vm, const tl_short_pair *pair, tl_slot *a);
bool tl_short_unary(tl_vm *vm, tl_op op, tl_slot *a, const tl_slot *b,
                    unsigned mode);

// Of tl_elementwise: an operand whose memory the result takes no longer owns;
// dropping is the caller's.
bool tl_short(tl_vm *vm, tl_op op, tl_slot *operands, tl_slot *out);

#endif
