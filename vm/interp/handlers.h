// Instructions that the dispatch loop calls instead of having them inline:
// those whose work is longer than the call. TL_CALLED_OPCODES lists them, and
// from a line follow the declaration here, the definition in handlers.c and the
// case in the loop:
//
//     OP(SETG, setg, 1)  ─▶  bool tl_exec_setg(vm, base, ins)   handlers.c
//                        ─▶  OP(SETG) { TRY(tl_exec_setg(…)); ins += 1; … }
//
// What a handler does is what vm/bytecode/opcodes.h says of its opcode.
#pragma once

#include "vm/bytecode/function.h"

// The slot that a field of an instruction names, in bytes from the first.
static inline tl_slot *tl_slot_at(tl_slot *base, unsigned offset) {
  return (tl_slot *)(void *)((char *)base + offset);
}

// The fields of [ins] as slots, its second word, and the modes of its operands,
// in functions that have [base] and [ins].
#define RA tl_slot_at(base, ins->a)
#define RB tl_slot_at(base, ins->b)
#define RC tl_slot_at(base, ins->c)
#define RD tl_slot_at(base, ins[1].a)
#define EXTRA() tl_ins_extra(ins[1])
#define MODE_A (ins->modes >> 4 & 3u)
#define MODE_B (ins->modes & 3u)
#define MODE_C (ins->modes >> 2 & 3u)

// The unit of the running function, whose tables the extras index.
static inline const tl_unit *tl_unit_of(const tl_vm *vm) {
  return vm->frame->function->unit;
}
// The path that the second word of an instruction names.
static inline const tl_path *tl_path_of(const tl_vm *vm, const tl_ins *ins) {
  return &tl_unit_of(vm)->paths[EXTRA()];
}

// OP(NAME, handler, words of the instruction)
#define TL_CALLED_OPCODES(OP)   \
  OP(SETG, setg, 1)             \
  OP(TAKEG, takeg, 1)           \
  OP(MEMBER, member, 2)         \
  OP(MATMUL, matmul, 1)         \
  OP(IN, in, 1)                 \
  OP(RANGE, range, 2)           \
  OP(RECORD, record, 2)         \
  OP(STACK, stack, 2)           \
  OP(STACKLIST, stacklist, 1)   \
  OP(FORMAT, format, 2)         \
  OP(JOIN, join, 2)             \
  OP(CLOSURE, closure, 2)       \
  OP(FIELDS, fields, 2)         \
  OP(UNTAKE, untake, 2)         \
  OP(CHECKTYPES, checktypes, 1) \
  OP(SHOW, show, 1)             \
  OP(CATCH, catch, 1)

// OP(NAME, condition, call): x in a, which ends or changes, and y in b, which
// becomes independent of it. Where x owns nothing there is nothing to do, nor
// for a number, which depends on nothing. None of them fails.
#define TL_SETTLING_OPCODES(OP)                                               \
  OP(SETTLE, tl_is_owned(*RA), tl_do_settle(RA, RB))                          \
  OP(KEEP, tl_is_owned(*RA) && tl_is_heap(*RB), tl_do_keep(vm, RA, RB))       \
  OP(INHERIT, tl_is_owned(*RA) && tl_is_heap(*RB), tl_do_inherit(vm, RA, RB)) \
  OP(LEAVE, tl_is_owned(*RA), tl_do_leave(vm, RA, RB))                        \
  OP(HOLD, tl_is_owned(*RB) && tl_is_array(*RA), tl_do_hold(vm, RA, RB))      \
  OP(OWN, true, tl_do_own(vm, RA))                                            \
  OP(KEEPALL, true, tl_do_keepall(vm, RA))                                    \
  OP(KEEPOF, true, tl_do_keepof(vm, RA, RB))

// Runs the instruction [ins] of the running frame, vm->frame, whose slots begin
// at [base]. The frame's pc has been saved. Returns false after tl_fail.
typedef bool tl_exec(tl_vm *vm, tl_slot *base, const tl_ins *ins);
#define OP(NAME, handler, words) tl_exec tl_exec_##handler;
TL_CALLED_OPCODES(OP)
#undef OP
// Those that the loop has a path of its own for, which it tries first.
tl_exec tl_exec_take, tl_exec_setpath;

// The step [i] or [i, j]: plain values, no slices.
extern const tl_index_item tl_value_items[2];

// a = b[c] or b[c, d], where b lives on and the loop's own path for items did
// not apply: values of records, borrowed; characters; indices that are no
// int64. A key that ends is dropped. False: the general path finds it. The mode
// of c is read from [ins], which may be NULL where b is no record: one value
// more in the dispatch loop would push the table of handlers out of its
// register.
bool tl_get_rare(tl_vm *vm, tl_slot *a, const tl_slot *b, const tl_slot *c,
                 const tl_ins *ins);
bool tl_get_rare2(tl_slot *a, const tl_slot *b, const tl_slot *c,
                  const tl_slot *d);
// a = b[c] for an update, likewise where it is a number.
bool tl_peek_rare(tl_slot *a, const tl_slot *b, const tl_slot *c,
                  unsigned c_mode);

// target[i] = value (count 1) or target[i, j] = value (count 2), where the
// loop's own path for arrays of numbers did not apply. [modes] as in the
// instruction; i and j are dropped where they end, but only on success. False
// after tl_fail.
bool tl_exec_setel(tl_vm *vm, tl_slot *target, const tl_slot *value,
                   uint16_t count, const tl_slot *i, const tl_slot *j,
                   unsigned modes);
// target[i] = value, where [successor] is a variable that perhaps refers to the
// item that this displaces: it then takes over the list's count of it, and is
// an owner afterwards.
bool tl_exec_replace(tl_vm *vm, tl_slot *target, const tl_slot *value,
                     const tl_slot *i, tl_slot *successor, unsigned modes);

// For a CALL or CALLB that has not run and will not, because a region in its
// place failed: drops its arguments. An argument that the call gives back on
// failure goes to its slot instead.
void tl_drop_call(tl_vm *vm, tl_slot *base, const tl_ins *ins);

// After a failure: drops the window of operands that the instruction would have
// taken over. Calls are left out, since what they call has dropped it.
void tl_drop_window(tl_vm *vm, tl_slot *base, const tl_ins *ins);

// Fails with kind name: the variable is read before it is assigned. The message
// says so if the name hides a built-in.
bool tl_fail_unassigned(tl_vm *vm, const tl_string *name);
