// Which arrays are of structs.
#ifndef TALLY_VM_STRUCT_EQUAL_H
#define TALLY_VM_STRUCT_EQUAL_H

#include "vm/engine/elementwise.h"
#include "vm/nested/nested.h"

// Whether the value is an array of structs, in one block or by columns.
static inline bool tl_has_fields(tl_slot s) {
  return tl_is_form(s, TL_FORM_STRUCT) || tl_is_form(s, TL_FORM_COLUMNS);
}

#endif
