// Shared between lift.c and lift_rows.c.
#ifndef TALLY_VM_LIFT_INTERNAL_H
#define TALLY_VM_LIFT_INTERNAL_H

#include "vm/nested/lift.h"

// The call with other first arguments: lifted again where it has to be. The
// result does not depend on what the arguments are.
bool tl_lift_call(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                  tl_slot *args, tl_slot *out);
// The position of a function's axis; -1: it has none.
int tl_lift_axis(const tl_builtin *builtin);

#endif
