// In-place contracts: #:inplace checked at run time. Where a statement says
// that its results live in its operands, an instruction that needs a new array
// fails instead (kind memory), and says why. What the compiler could know it
// has rejected already.
//
//     #:inplace
//     y = x * 2            x ends here: in place of x
//     z = x + y            "#:inplace: the result needs a new array:
//                           x is used later, in line 4"
//
// An elementwise operation asks before it makes an array (keeps). A call of the
// library makes arrays on its way, so only its result counts: operands are
// marked before the call (holds), and a result that is in no operand's memory
// breaks the contract (returns). Instructions that make arrays by themselves
// are checked likewise (makes, takes).
#pragma once

#include "vm/observe/watch.h"

// Whether the instruction stands under a contract, by its place in the source.
bool tl_has_contract(const tl_prototype *p, uint32_t pc);

// The observer's functions; vm/events.h has their contracts.
bool tl_contract_near(const tl_vm *vm);
bool tl_contract_runs(const tl_vm *vm);
// The order for one instruction under a contract:
//
//   tl_contract_refused   any number of times: this operand did not serve
//   tl_contract_keeps     an array is about to be made: false fails the
//                         instruction, with the last rejection as the reason
//
//   tl_contract_copies    the list or record is about to be copied: likewise
//
// and for a call of the library, or an instruction that makes arrays itself:
//
//   tl_contract_holds     before: operands are marked
//   tl_contract_returns, _makes or _takes
//                         after: false has dropped the result
void tl_contract_refused(tl_vm *vm, tl_rejection why, tl_slot operand);
bool tl_contract_keeps(tl_vm *vm);
bool tl_contract_copies(tl_vm *vm, tl_rejection why, tl_slot operand);
bool tl_contract_holds(tl_vm *vm, uint32_t count, const tl_slot *args);
bool tl_contract_returns(tl_vm *vm, const char *name, tl_slot result);
bool tl_contract_makes(tl_vm *vm, tl_slot result, const char *why);
bool tl_contract_takes(tl_vm *vm, const tl_slot *base, tl_slot result);
