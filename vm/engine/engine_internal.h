// Shared by the files of the vector engine.
#ifndef TALLY_VM_ENGINE_INTERNAL_H
#define TALLY_VM_ENGINE_INTERNAL_H

#include "vm/array/reuse.h"
#include "vm/engine/engine.h"
#include "vm/engine/operand.h"
#include "vm/engine/plan.h"

// The operation on what is no number: strings and arrays of them are joined,
// compared and selected, == and != answer for everything; else refused.
bool tl_elementwise_other(tl_vm *vm, tl_op op, tl_slot *slots, tl_slot *out);

// The operation on scalars that are opened and resolved.
bool tl_scalar_compute(tl_vm *vm, tl_op op, const tl_operand *operands,
                       const tl_typing *typing, tl_slot *out);

// Room for the indices of as many axes as an array can have.
typedef char tl_place_text[TL_MAX_DIMS * 24];
// Where in an array of that shape item number [index] in rows is: "[1, 2]".
// Nothing for a scalar.
void tl_spell_place(int ndim, const int64_t *shape, int64_t index,
                    tl_place_text text);

// The operation on operands that are opened and resolved, computed in a dtype
// that has a saturating kernel, as vm->overflow says: ERROR or SATURATE.
bool tl_compute_fitting(tl_vm *vm, tl_op op, const tl_operand *x,
                        const tl_typing *typing, int ndim, const int64_t *shape,
                        tl_slot *out);

// The kernel of a binary operation; comparisons of int64 with uint64 have
// their own.
tl_kernel2 *tl_binary_kernel(tl_op op, const tl_typing *typing);
// Calls the operation's kernel for n items of operands that are contiguous and
// of the dtypes that it is computed of.
void tl_call_kernel(tl_op op, const tl_typing *typing, void *out,
                    const char *const *in, size_t n);
// The step of a plan that computes it: [in] are values of the dtypes that it is
// computed of. Returns the value that it makes.
int tl_plan_operation(tl_plan *plan, tl_op op, const tl_typing *typing,
                      const int *in);

#endif
