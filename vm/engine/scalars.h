// Operations on two scalars that lie in their slots, of any dtypes, for the
// dispatch loop: no operand is opened, no kernel is looked for.
//
// A slot has an integer of any width as 64 bits, so there is one computation
// for all of them, cut to the width at the end (`int8(100) + int8(100)` is
// -56). Which dtype two scalars meet in is what promote.c says.
//
// Each function does such a case and answers true, or does nothing at all:
// then the general way (tl_elementwise) computes, or raises the error. None of
// them needs a VM, asks for memory or polls, so machine code calls them as they
// are. Results are the bits that an array's item would have, and what is
// shorter than a slot's payload is extended, or has 0 above it.
#pragma once

#include "vm/elementwise.h"
#include "vm/value.h"

// a = b op c, of slots without pointers; [a] may be one of them.
bool tl_scalar_binary(tl_op op, const tl_slot *b, const tl_slot *c, tl_slot *a);
// The same for one operand: what is weak stays weak where it has 8 bytes.
bool tl_scalar_unary(tl_op op, const tl_slot *b, tl_slot *a);
// a = s as a typed number of [dtype], where that is exact or to a float, or is
// a float64 cut to an int64. [a] may be [s]; a complex number is refused.
//
//   7 to float64     7.0           300 to int8       false: it does not fit
//   2.9 to int64     2             1e300 to int64    false: it saturates
bool tl_scalar_cast(const tl_slot *s, tl_dtype dtype, tl_slot *a);
// A comparison, one of TL_OP_EQUAL to TL_OP_GREATER_EQUAL, of such slots.
bool tl_scalar_compare(tl_op op, const tl_slot *b, const tl_slot *c,
                       bool *truth);
