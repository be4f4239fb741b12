// Shared by the files of the vector engine.
#pragma once

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

// --- Small arrays (small.c) -------------------------------------------------

// Up to this many items, of at most two axes, no plan is made. Six buffers of
// the widest items are 24 KiB of stack.
enum { TL_SMALL_ITEMS = 256 };
typedef char tl_small_buffer[TL_SMALL_ITEMS * sizeof(tl_c128)];

// The items of an array of one or two axes as one of dims[0] rows and dims[1]
// columns walks them, to which it broadcasts: in its own memory if they lie
// there one behind the other, else in [buffer].
const char *tl_small_items(const tl_array *a, const int64_t *dims,
                           tl_small_buffer buffer);
// Runs an operation on opened operands of any dtypes into a small [target]:
// they are packed, converted and computed at once.
void tl_run_small(tl_op op, const tl_operand *x, const tl_typing *typing,
                  tl_array *target);
// The operation on small arrays of one dtype, strided or broadcast as they may
// be, or on one and a scalar, if it cannot fail on these. An operand whose
// memory the result takes no longer owns. False: the general way has to be
// gone, and nothing has happened.
bool tl_small(tl_vm *vm, tl_op op, tl_slot *x, tl_slot *out);

// What the short ways know of a binary operation on operands of one dtype, and
// of where.
typedef enum tl_short_kind {
  TL_SHORT_NONE,     // they do not do it
  TL_SHORT_SAME,     // it never fails, and its result has that dtype
  TL_SHORT_BOOL,     // the same of comparisons, which give bools
  TL_SHORT_CHECKED,  // as SAME, but integers on the right may be refused
} tl_short_kind;
extern const uint8_t tl_short_kinds[TL_OP_COUNT];
// A scalar as an item of [dtype], where promotion leaves the array's dtype and
// nothing can fail.
bool tl_scalar_item(tl_slot s, tl_dtype dtype, uint64_t *item);

// --- Kernels ----------------------------------------------------------------

// The kernel that finds an item of [dtype] on the right of integers that the
// operation refuses; NULL: it takes all.
tl_check *tl_op_check(tl_op op, tl_dtype dtype);
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
