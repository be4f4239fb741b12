// What the parts of the emitter for x86-64 share: where registers are, jumps
// and exits.
//
//     emit_x64.c ─▶ emit_places.c
//     scalars, calls,    items of lists and records,
//     entry and exits    places, references
#ifndef TALLY_VM_EMIT_H
#define TALLY_VM_EMIT_H

#include "vm/native/jit_internal.h"
#include "vm/native/x64.h"

// Slots get registers that instructions do not need for themselves: shifts take
// cl, divisions rax and rdx, and xmm0 and xmm1 are for operands that have none.
// Most of these registers are the caller's to save in C's convention (System V
// ABI, 3.2.1), so each call of C moves all of them to the stack; units call one
// another without, since everything that lives across a call is in its slot by
// then.
enum { INTS = 8, FLOATS = 14, FIRST_FLOAT = 2 };
static const int8_t int_registers[INTS] = {TL_SI,  TL_DI,  TL_R8,  TL_R9,
                                           TL_R10, TL_R11, TL_R12, TL_R13};

// Where a jump of 32 bits goes whose target was not known: a label, or one of
// the kinds of exits. All targets behind the operations are emitted on demand,
// so that an exit nobody jumps to costs no bytes.
typedef enum fix_kind {
  FIX_LABEL,   // [to] is its number
  FIX_EXIT,    // [to] is the exit's number
  FIX_POLL,    // a poll that leaves by the exit
  FIX_WITHIN,  // a callee has left; [to] is the operation's index
  FIX_UNDONE,  // C has not done the operation with the index [to]
  FIX_SELF,    // the unit's own beginning
  FIX_DATA,    // 8 bytes of a float, imm of the operation with the index [to]
} fix_kind;

// The 32 bits at [at] count from the place behind them, at + 4.
typedef struct fix {
  uint32_t at;
  uint8_t kind;
  int32_t to;
} fix;

// The tables are one block of memory; the bytes of the code grow by themselves.
// Operations and exits are borrowed from the code, and stay where they are, so
// pointers to them are good as long as the emitter.
typedef struct emitter {
  const tl_jit_code *code;
  tl_jit_unit *unit;
  tl_assembler as;
  int8_t reg[TL_JIT_REGISTERS];  // -1: at home
  uint32_t frame_size;           // bytes for the facts
  // Of labels and exits, by their numbers, where they are; 0: nowhere yet.
  uint32_t *label_at, *exit_at;
  fix *fixes;
  uint32_t fix_count, fix_capacity;
  // The access of an item whose index has been checked and, of several axes, is
  // in rax; NULL: there is none.
  const tl_typed *checked;
  void *block;
  size_t nbytes;
} emitter;

// --- Places of registers ----------------------------------------------------

// The home of a register is [base + displacement]: both kinds of a slot share
// its payload, so a value must be read before its slot is written as the other
// kind.
//
//     slot s     rbx + 16 s        its tag, of 8 bytes
//                rbx + 16 s + 8    its payload: the home of s and of FLOAT + s
//     fact k     rsp + 8 k         in the unit's frame on the stack
static inline bool is_float(int r) {
  return r >= TL_JIT_FLOAT && r < TL_JIT_FACTS;
}
// The base of a home, and how far behind it the home is.
static inline int home_base(int r) {
  return r < TL_JIT_FACTS ? TL_BX : TL_SP;
}
static inline int32_t home(int r) {
  return r < TL_JIT_FACTS ? r % TL_JIT_SLOTS * 16 + 8 : (r - TL_JIT_FACTS) * 8;
}

// Between a register of the processor and a home. mov is 8b and 89, movsd is F2
// 0f 10 and 11: to and from a register.
static inline void load(emitter *e, int to, int r) {
  tl_x64_rm(&e->as, is_float(r) ? TL_X64_SD : TL_X64_W,
            is_float(r) ? 0x10 : 0x8b, to, home_base(r), home(r));
}
static inline void store(emitter *e, int from, int r) {
  tl_x64_rm(&e->as, is_float(r) ? TL_X64_SD : TL_X64_W,
            is_float(r) ? 0x11 : 0x89, from, home_base(r), home(r));
}
// The processor's register that has r, which may be [scratch]. Two operands
// that may both be at home need two scratch registers. Loading does not change
// the flags.
static inline int get(emitter *e, int r, int scratch) {
  if (e->reg[r] >= 0)
    return e->reg[r];
  load(e, scratch, r);
  return scratch;
}
// Where to compute r; put ends that. The place may be that of an operand, so
// operands are read before it is written.
static inline int into(const emitter *e, int r, int scratch) {
  return e->reg[r] >= 0 ? e->reg[r] : scratch;
}
// Stores what `into` gave where r has no register; a store leaves the flags.
// The whole 8 bytes of the home are written, also of a float32.
static inline void put(emitter *e, int r, int from) {
  if (e->reg[r] < 0)
    store(e, from, r);
}

// --- Jumps ------------------------------------------------------------------

// Leaves 32 bits open for where a jump goes. There are at most so many jumps as
// open_emitter has room for; should an operation ever have more, the unit fails
// like one without memory.
static inline void add_fix(emitter *e, fix_kind kind, int32_t to) {
  if (e->fix_count == e->fix_capacity) {
    e->as.is_full = true;
    return;
  }
  e->fixes[e->fix_count++] =
      (fix){.at = e->as.size, .kind = (uint8_t)kind, .to = to};
  tl_x64_word(&e->as, 0);
}

// Jumps of 32 bits, always or on a condition. e9 and 0f 8x; the short forms are
// not used, as targets are mostly unknown when the jump is written.
static inline void jump(emitter *e, fix_kind kind, int32_t to) {
  tl_x64_byte(&e->as, 0xe9);
  add_fix(e, kind, to);
}
// The flags are those of the comparison that was emitted last.
static inline void jump_if(emitter *e, int condition, fix_kind kind,
                           int32_t to) {
  tl_x64_byte(&e->as, 0x0f);
  tl_x64_byte(&e->as, 0x80 | condition);
  add_fix(e, kind, to);
}
// To where an operation says.
static inline void jump_to(emitter *e, int condition, int32_t to) {
  jump_if(e, condition, to < 0 ? FIX_EXIT : FIX_LABEL, to < 0 ? -1 - to : to);
}
// To the exit of an operation that turned out not to be plain.
// Nothing of the operation may have been written yet, neither a register nor
// memory: the exit says what is there before it.
static inline void leave_if(emitter *e, int condition, const tl_typed *t) {
  if (t->exit < -1)
    jump_if(e, condition, FIX_LABEL, -2 - t->exit);
  else
    jump_if(e, condition, FIX_EXIT, t->exit);
}

// Appends the code of an operation of TL_TYPED_PLACE_OPS.
void tl_jit_emit_place(emitter *e, const tl_typed *t);

#endif
