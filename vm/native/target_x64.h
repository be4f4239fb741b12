// What x86-64 has for emit.h, which alone includes this: registers, homes and
// jumps.
#ifndef TALLY_VM_TARGET_X64_H
#define TALLY_VM_TARGET_X64_H

// Slots get registers that instructions do not need for themselves: shifts take
// cl, divisions rax and rdx, and xmm0 and xmm1 are for operands that have none.
// Most of these registers are the caller's to save in C's convention (System V
// ABI, 3.2.1), so each call of C moves all of them to the stack; units call one
// another without, since everything that lives across a call is in its slot by
// then.
enum { INTS = 8, FLOATS = 14, FIRST_FLOAT = 2 };
static const int8_t int_registers[INTS] = {TL_SI,  TL_DI,  TL_R8,  TL_R9,
                                           TL_R10, TL_R11, TL_R12, TL_R13};

// The frame's slots.
enum { SLOTS = TL_BX };

static inline int home_base(int r) {
  return r < TL_JIT_FACTS ? SLOTS : TL_SP;
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
// Leaves 32 bits open for where a jump goes.
static inline void add_fix(emitter *e, fix_kind kind, int32_t to) {
  note_fix(e, kind, to);
  tl_as_word(&e->as, 0);
}

// Jumps of 32 bits, always or on a condition. e9 and 0f 8x; the short forms are
// not used, as targets are mostly unknown when the jump is written.
static inline void jump(emitter *e, fix_kind kind, int32_t to) {
  tl_as_byte(&e->as, 0xe9);
  add_fix(e, kind, to);
}
// The flags are those of the comparison that was emitted last.
static inline void jump_if(emitter *e, int condition, fix_kind kind,
                           int32_t to) {
  tl_as_byte(&e->as, 0x0f);
  tl_as_byte(&e->as, 0x80 | condition);
  add_fix(e, kind, to);
}

#endif
