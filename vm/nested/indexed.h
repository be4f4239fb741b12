// Arrays whose items are places in a target, which stays whole: an index
// chooses among the places, and an item is what lies there.
//
//   TL_FORM_CATEGORY  values out of a few: int32 codes, or ?int32 where values
//                     may be missing, in the categories, an array of one axis.
//                     What is set must be one of these.
//   TL_FORM_POINTER   3 * pointer[float64]: int64 places, of one axis or more,
//                     along the first axis of any value. What is set is set in
//                     the target, so that every item that refers there shows
//                     it.
//
// (TL_FORM_GRID has places of rows, see ragged.h.) What does not know these
// forms gets the values.
#pragma once

#include "vm/nested/nested.h"

// The values of one of these two, in the shape of the places, owned. Others are
// themselves, borrowed.
bool tl_indexed_values(tl_vm *vm, tl_slot s, tl_slot *out);
// A borrowed single pointer replaced by its value if that is a number or bool of
// at most 8 bytes, which nobody owns; other values stay. False after tl_fail.
bool tl_single_number(tl_vm *vm, tl_slot *s);
// Each argument that is of one of the two forms replaced by its values: the
// slot then owns them.
// A failure leaves the first ones replaced; the caller clears all in any case.
bool tl_spell_out(tl_vm *vm, uint32_t count, tl_slot *args);

// The codes of values among categories. Fails (kind value) for a value that is
// none of them. *out is owned: int32, a scalar for one value; of values that
// may be missing ?int32, and none of none.
// The lookup is by ==, so categories of numbers take numbers of any dtype.
bool tl_category_codes(tl_vm *vm, tl_slot categories, tl_slot values,
                       tl_slot *out);
