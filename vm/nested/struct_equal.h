// Structs in elementwise operations: == and != of whole items, and where.
#ifndef TALLY_VM_STRUCT_EQUAL_H
#define TALLY_VM_STRUCT_EQUAL_H

#include "vm/engine/elementwise.h"
#include "vm/nested/nested.h"

// Whether the value is an array of structs, in one block or by columns.
static inline bool tl_has_fields(tl_slot s) {
  return tl_is_form(s, TL_FORM_STRUCT) || tl_is_form(s, TL_FORM_COLUMNS);
}

// One answer for each item: whether all fields are equal, whatever axes and
// rows they have. It is missing where that depends on a missing value. An
// operand may be one item, a record or a list. Other operations fail.
bool tl_structs_elementwise(tl_vm *vm, tl_op op, const tl_slot *slots,
                            tl_slot *out);

// where(c, a, b) of whole structs, in the type of the first of the two that is
// an array; the other one may be an item, a record.
bool tl_structs_where(tl_vm *vm, const tl_slot *slots, tl_slot *out);

#endif
