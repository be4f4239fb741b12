// Instructions that the dispatch loop calls: those whose work is longer than
// the call. What a handler's name is, its opcode says.
#ifndef TALLY_VM_HANDLERS_H
#define TALLY_VM_HANDLERS_H

#include "vm/interp/function.h"
#include "vm/vm.h"

// The slot that a field of an instruction names, in bytes from the first.
static inline tl_slot *tl_slot_at(tl_slot *base, unsigned offset) {
  return (tl_slot *)(void *)((char *)base + offset);
}

// OP(NAME, handler, words of the instruction)
#define TL_CALLED_OPCODES(OP)   \
  OP(SETG, setg, 1)             \
  OP(TAKEG, takeg, 1)           \
  OP(MEMBER, member, 2)         \
  OP(DETACH, detach, 1)         \
  OP(MATMUL, matmul, 1)         \
  OP(IN, in, 1)                 \
  OP(NOTIN, notin, 1)           \
  OP(ASBOOL, asbool, 1)         \
  OP(RANGE, range, 2)           \
  OP(LIST, list, 2)             \
  OP(RECORD, record, 2)         \
  OP(STACK, stack, 2)           \
  OP(STACKLIST, stacklist, 1)   \
  OP(FORMAT, format, 2)         \
  OP(JOIN, join, 2)             \
  OP(CLOSURE, closure, 2)       \
  OP(FIELDS, fields, 2)         \
  OP(TAKE, take, 2)             \
  OP(UNTAKE, untake, 2)         \
  OP(SETPATH, setpath, 2)       \
  OP(UNPACK, unpack, 2)         \
  OP(CHECKTYPES, checktypes, 1) \
  OP(SHOW, show, 1)             \
  OP(CATCH, catch, 1)

// Runs the instruction [ins] of the running frame, vm->frame, whose slots begin
// at [base]; false after tl_fail.
typedef bool tl_exec(tl_vm *vm, tl_slot *base, const tl_ins *ins);
#define OP(NAME, handler, words) tl_exec tl_exec_##handler;
TL_CALLED_OPCODES(OP)
#undef OP

// target[i] = value, or target[i, j] = value, where the loop's own way did not
// do. i and j as [modes] say; false after tl_fail.
bool tl_exec_setel(tl_vm *vm, tl_slot *target, const tl_slot *value,
                   uint16_t count, const tl_slot *i, const tl_slot *j,
                   unsigned modes);
// target[i] = value, where [heir] may be the item that this takes out.
bool tl_exec_replace(tl_vm *vm, tl_slot *target, const tl_slot *value,
                     const tl_slot *i, tl_slot *heir, unsigned modes);

// Of a CALL or CALLB that has not run and will not: ends its arguments; but the
// one that it gives back goes there.
void tl_drop_call(tl_vm *vm, tl_slot *base, const tl_ins *ins);

// Gives back the window that the instruction, which failed, was to take over.
void tl_drop_window(tl_vm *vm, tl_slot *base, const tl_ins *ins);

// Fails (kind name), and is false: a variable that is read is not assigned.
bool tl_fail_unassigned(tl_vm *vm, const tl_string *name);

#endif
