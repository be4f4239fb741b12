// Categorical arrays: values out of a few, kept as codes.
//
// A nested array of TL_FORM_CATEGORY: the codes as int32, or ?int32 where
// values may be missing, each the place of its value among the categories, an
// array of one axis. What does not know them gets the values instead.
#ifndef TALLY_VM_CATEGORY_H
#define TALLY_VM_CATEGORY_H

#include "vm/engine/elementwise.h"
#include "vm/nested/nested.h"

// Takes both on every path; *out is owned.
bool tl_category_new(tl_vm *vm, tl_slot *codes, tl_slot *categories,
                     tl_slot *out);
// The values, an array of the codes' shape. *out is owned.
bool tl_category_values(tl_vm *vm, tl_slot s, tl_slot *out);
// The codes of values among categories. Fails (kind value) for a value that is
// none of them. *out is owned: int32, a scalar for one value; of values that
// may be missing ?int32, and none of none.
bool tl_category_codes(tl_vm *vm, tl_slot categories, tl_slot values,
                       tl_slot *out);
// Each argument that is categorical, or of pointers, replaced by its values:
// the slot then owns them.
bool tl_spell_out(tl_vm *vm, uint32_t count, tl_slot *args);

// The parts of the forms' families that are about categories.
tl_type *tl_category_type(tl_vm *vm, const tl_nested *n);
bool tl_category_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                             tl_slot *out);

#endif
