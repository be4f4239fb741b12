// #:inplace, kept at run time: where a statement promises that its results live
// in its operands, what needs a new array instead fails (kind memory), and
// says why. What the compiler could know it has refused already.
#ifndef TALLY_VM_PROMISE_H
#define TALLY_VM_PROMISE_H

#include "vm/api/watch.h"

// Whether the byte of a unit's source at [at] has promised.
bool tl_unit_promises(const tl_unit *unit, uint32_t at);
// Whether the instruction under way has promised. Only where vm->has_promises:
// then every operation says where it stands.
bool tl_is_promised(const tl_vm *vm);

// An operand's memory was refused to the instruction under way.
void tl_promise_refused(tl_vm *vm, tl_refusal why, tl_slot operand);
// Before an array is made: false after tl_fail where that breaks the promise.
bool tl_promise_keeps(tl_vm *vm);

// Calls of the library, which makes arrays on its way: there the result counts.
// Whether the call under way promises, and it can be told afterwards whether
// its result is new: then its operands are marked (TL_OPERAND).
bool tl_promise_holds(tl_vm *vm, uint32_t count, const tl_slot *args);
// False after tl_fail where such a call gave a new array, which is dropped:
// none of its operands' memory, nor a view.
bool tl_promise_returns(tl_vm *vm, const char *name, tl_slot result);
// The same of an instruction that makes arrays by itself; [why] is said of it.
// Operands that the result may be, or be in, are marked before by
// tl_promise_holds.
bool tl_promise_makes(tl_vm *vm, tl_slot result, const char *why);
// The same of one that takes items or fields from [base], a slot of the frame.
bool tl_promise_takes(tl_vm *vm, const tl_slot *base, tl_slot result);
#define TL_WHY_PRODUCT \
  "a product makes a new array: it is in no operand's memory"
#define TL_WHY_STACK "[…] makes a new array: its items are copied into it"
#define TL_WHY_RESULT \
  "the result needs a new array: it is in no operand's memory"
// What a callee is called in that error.
const char *tl_promise_callee(tl_slot callee);

#endif
