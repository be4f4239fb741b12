// The shortest way to a kernel, for dense arrays of rank 1 and 2 and for these
// with scalars: no plan, no broadcasting, no look at anything but tags and
// dimensions. What a small operation costs is decided here.
//
// Each function does such a case and answers true, or does nothing at all:
// then the general way (tl_elementwise) runs, and raises the errors.
#pragma once

#include "vm/bytecode/function.h"
#include "vm/elementwise.h"

// Whether a comparison holds of two strings, by code points. Long ones poll, as
// tl_string_compare says; for short ones [vm] may be NULL.
bool tl_strings_hold(tl_vm *vm, tl_op op, const tl_string *a,
                     const tl_string *b);

// Joins two strings into *out, owned: in the memory of the first where *a owns
// it alone, and then no longer does. False after tl_fail (kind memory, also
// where an in-place contract forbids the copy).
bool tl_strings_join(tl_vm *vm, tl_slot *a, tl_slot b, tl_slot *out);

// Whether [s] can be compared with none, which is no error and needs no look at
// what it holds: arrays refuse that, and the host's values answer themselves.
static inline bool tl_is_apart_from_none(tl_slot s) {
  const unsigned classes = TL_CLASS_SCALAR | TL_CLASS_LIST | TL_CLASS_FUNC;
  return (s.tag & classes) != 0 || tl_is_record(s) || tl_is_string(s);
}

// Comparisons that make nothing and cannot fail: of two strings that are not
// long, and == and != of two types or of a value with none. Returns whether it
// was one of these; drops nothing.
static inline bool tl_compare_at_once(tl_op op, tl_slot b, tl_slot c,
                                      bool *truth) {
  const bool equality = op == TL_OP_EQUAL || op == TL_OP_NOT_EQUAL;
  if (tl_is_string(b) && tl_is_string(c)) {
    if (b.string->length >= TL_LONG_TEXT && c.string->length >= TL_LONG_TEXT)
      return false;
    *truth = equality
                 ? tl_string_equal(b.string, c.string) == (op == TL_OP_EQUAL)
                 : tl_strings_hold(NULL, op, b.string, c.string);
    return true;
  }
  if (equality && tl_is_type(b) &&
      tl_is_type(c)) {  // equal ones are one object
    *truth = (b.pointer == c.pointer) == (op == TL_OP_EQUAL);
    return true;
  }
  if (!equality || !(tl_is_none(b) || tl_is_none(c)) ||
      !tl_is_apart_from_none(b) || !tl_is_apart_from_none(c))
    return false;
  *truth = (tl_is_none(b) && tl_is_none(c)) == (op == TL_OP_EQUAL);
  return true;
}

// Of the dispatch loop: operands with the instruction's modes for b and c (two
// bits each), dropped here where they die. [a] may be an operand's slot. Not of
// functions with in-place contracts, which are checked by the general way.
bool tl_short_binary(tl_vm *vm, tl_op op, tl_slot *a, const tl_slot *b,
                     const tl_slot *c, unsigned modes);
// The instruction [ins], [op] of b and c, together with the next one, which
// uses up its result and is a sum, a difference or a product (TL_WITH_NEXT):
// that one's result is written, and no array is made between them.
//
//   t = b * c, then a = t + d     a, in the memory of b, c or d if one dies
//
// False before anything has changed: then each instruction is run alone.
bool tl_short_two(tl_vm *vm, tl_op op, const tl_slot *b, const tl_slot *c,
                  const tl_ins *ins, tl_slot *base);
// The same of one operand, whose mode is the two lowest bits.
bool tl_short_unary(tl_vm *vm, tl_op op, tl_slot *a, const tl_slot *b,
                    unsigned mode);

// Of tl_elementwise: an operand whose memory the result takes no longer owns;
// dropping is the caller's.
bool tl_short(tl_vm *vm, tl_op op, tl_slot *operands, tl_slot *out);
