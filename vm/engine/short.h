// The shortest way to a kernel, for dense arrays of rank 1 and 2 and for these
// with scalars: no plan, no broadcasting, no look at anything but tags and
// dimensions. What a small operation costs is decided here.
//
// Each function does such a case and answers true, or does nothing at all:
// then the general way (tl_elementwise) runs, and raises the errors.
#ifndef TALLY_VM_SHORT_H
#define TALLY_VM_SHORT_H

#include "vm/array/array.h"
#include "vm/bytecode/function.h"
#include "vm/engine/elementwise.h"

// Of the dispatch loop: operands with the instruction's modes for b and c (two
// bits each), dropped here where they die. [a] may be an operand's slot.
bool tl_short_binary(tl_vm *vm, tl_op op, tl_slot *a, const tl_slot *b,
                     const tl_slot *c, unsigned modes);
// The instruction [ins], [op] of b and c, together with the next one, which
// uses up its result and is a sum, a difference or a product (TL_WITH_NEXT):
// that one's result is written, and no array is made between them.
bool tl_short_two(tl_vm *vm, tl_op op, const tl_slot *b, const tl_slot *c,
                  const tl_ins *ins, tl_slot *base);
// The same of one operand, whose mode is the two lowest bits.
bool tl_short_unary(tl_vm *vm, tl_op op, tl_slot *a, const tl_slot *b,
                    unsigned mode);

// Of tl_elementwise: an operand whose memory the result takes no longer owns;
// dropping is the caller's.
bool tl_short(tl_vm *vm, tl_op op, tl_slot *operands, tl_slot *out);

#endif
