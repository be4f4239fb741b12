// What happens to memory and to operands, as the layers below tell it to
// whoever watches (vm/observe): `tally explain`, `#:inplace`, the timeline. The
// observer is handed over when a VM opens, so that no layer calls it by name.
//
//   vm/memory ──alloc, free───────────┐
//   vm/array ───fresh, copied─────────┤
//   vm/values ──copied, in place──────┤
//   vm/engine ──in place, refused─────┼──▶ vm->observer
//   vm/region ──fused─────────────────┤
//   vm/interp ──results of calls──────┘
//
// Where nobody watches (vm->watch is NULL, vm->has_contracts false) an event
// costs a counter and a test.
#pragma once

#include "vm/vm.h"

// Why an operand's memory did not take a result; one counter each in --stats.
typedef enum tl_rejection {
  TL_REFUSED_LIVE,      // the operand is used later
  TL_REFUSED_SHARED,    // something else refers to it
  TL_REFUSED_SHAPE,     // the result has another shape
  TL_REFUSED_DTYPE,     // or items of another size
  TL_REFUSED_EXTERNAL,  // a view, read-only, or memory of the host's
  TL_REFUSED_READ,      // it is read at other places than are written
  TL_REJECTION_COUNT
} tl_rejection;

// The table that vm/observe hands over. Fields are called only where somebody
// watches, as the inline functions below test.
struct tl_observer {
  // A block was made or freed; live_bytes has been changed already.
  void (*alloc)(tl_vm *vm, const void *block, size_t nbytes);
  void (*free)(tl_vm *vm, const void *block, size_t nbytes);
  // Where vm->timed: the instruction that vm->frame stands at is over, or at
  // least polls. Called for each where they are counted, and at polls.
  void (*step)(tl_vm *vm);
  // At a poll, where the host has asked what the run is at.
  void (*progress)(tl_vm *vm);
  // Where vm->debug is there, for each that is counted: vm->frame stands before
  // it. Returns whether the run is to end there, which is asked of instructions
  // that can fail alone.
  bool (*before)(tl_vm *vm);
  // Likewise: an error was raised in vm->frame, whose slots are as they were.
  void (*raised)(tl_vm *vm);
  // The foreign bytes of a type and device have changed.
  void (*foreign)(tl_vm *vm, const tl_type_count *count);

  // What became of the running instruction's operands and of its result: a new
  // array, list, record or string, a result in an operand's memory, an operand
  // whose memory could not be used, a copy (which is noted as fresh, too).
  void (*fresh)(tl_vm *vm, tl_slot made);
  void (*inplace)(tl_vm *vm, tl_slot result);
  void (*refused)(tl_vm *vm, tl_rejection why, tl_slot operand);
  void (*copied)(tl_vm *vm, tl_slot copy);
  // The instructions from [begin] to [end] ran as one region. [array] is its
  // result, NULL where it is none; [together]: it is one of several regions
  // that ran together.
  void (*fused)(tl_vm *vm, const struct tl_ins *begin, const struct tl_ins *end,
                const tl_array *array, bool together);

  // In-place contracts (#:inplace, vm/observe/in_place_contract.h). Called only
  // where vm->has_contracts. Whether the function under way has one, so that
  // its operations say where they stand; and whether the instruction has.
  bool (*has_contracts)(const tl_vm *vm);
  bool (*is_under_contract)(const tl_vm *vm);
  // An operand's memory could not be used by the instruction under way.
  void (*contract_refused)(tl_vm *vm, tl_rejection why, tl_slot operand);
  // Before an array is made: false after tl_fail where that breaks the
  // contract.
  bool (*contract_keeps)(tl_vm *vm);
  // Before a list or record is copied, or a string joined into a new one: false
  // after tl_fail, likewise.
  bool (*contract_copies)(tl_vm *vm, tl_rejection why, tl_slot operand);
  // Before a call of the library. Such a function makes arrays on its way, so
  // only its result counts. Returns whether the call has a contract and its
  // result can be distinguished from its operands afterwards: then these are
  // marked (TL_OPERAND).
  bool (*contract_holds)(tl_vm *vm, uint32_t count, const tl_slot *args);
  // After such a call: false after tl_fail where it gave a new array, neither
  // in an operand's memory nor a view of one. The result has been dropped then.
  bool (*contract_returns)(tl_vm *vm, const char *name, tl_slot result);
  // The same for an instruction that makes arrays by itself; [why] completes
  // its message. Operands that the result may be, or be in, have been marked by
  // contract_holds.
  bool (*contract_makes)(tl_vm *vm, tl_slot result, const char *why);
  // The same for an instruction that takes items or fields from [base], a slot
  // of the frame.
  bool (*contract_takes)(tl_vm *vm, const tl_slot *base, tl_slot result);
};

// Why an instruction that makes arrays by itself breaks a contract.
#define TL_WHY_PRODUCT \
  "a product makes a new array: it is in no operand's memory"
#define TL_WHY_STACK "[…] makes a new array: its items are copied into it"
#define TL_WHY_RESULT \
  "the result needs a new array: it is in no operand's memory"

// Notes that a list, record or string is changed in its own memory. It is told
// before the change, which may move the object.
static inline void tl_changed_in_place(tl_vm *vm, tl_slot s) {
  if (vm->watch != NULL)
    vm->observer->inplace(vm, s);
}

// Notes that a list, record or string cannot be changed in its own memory.
// Returns false after tl_fail where that breaks an in-place contract.
static inline bool tl_may_copy(tl_vm *vm, tl_slot s) {
  tl_rejection why = (s.object->flags & TL_IMMORTAL) != 0 ? TL_REFUSED_EXTERNAL
                     : s.object->count > 1                ? TL_REFUSED_SHARED
                                                          : TL_REFUSED_LIVE;
  if (vm->watch != NULL)
    vm->observer->refused(vm, why, s);
  return !vm->has_contracts || vm->observer->contract_copies(vm, why, s);
}

// Notes the copy of a list or record.
static inline void tl_made_copy(tl_vm *vm, tl_slot copy) {
  vm->stats.copies++;
  vm->stats.copy_bytes += copy.object->nbytes;
  if (vm->watch == NULL)
    return;
  vm->observer->fresh(vm, copy);
  vm->observer->copied(vm, copy);
}

// Whether the function under way has an in-place contract somewhere. Then short
// ways, which ask nothing, are left out.
static inline bool tl_has_contracts(const tl_vm *vm) {
  return vm->has_contracts && vm->observer->has_contracts(vm);
}

// Whether the instruction under way has an in-place contract: it may make no
// new array.
static inline bool tl_is_under_contract(const tl_vm *vm) {
  return vm->has_contracts && vm->observer->is_under_contract(vm);
}
