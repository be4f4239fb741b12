// What AArch64 has for emit.c and its like: registers, memory, jumps, and the
// stack. target_x64.h has operations of the same names. Of those here sums
// and comparisons change the flags; a sum that does not fit has TL_CC_O.
#pragma once

#include "vm/native/a64.h"

#if TL_JIT_A64

#include "vm/native/emitter.h"

// Slots get registers that are the caller's to save in C's convention (AAPCS64,
// 6.1), so each call of C moves all of them to the stack, and the door saves
// few. x0 to x2, v0 and v1 are for operands that have none; x16 and x17 are for
// the instructions below, and x18 is the system's.
enum { INTS = 13, FLOATS = 22 };
static const int8_t int_registers[INTS] = {3,  4,  5,  6,  7,  8, 9,
                                           10, 11, 12, 13, 14, 15};
static const int8_t float_registers[FLOATS] = {2,  3,  4,  5,  6,  7,  16, 17,
                                               18, 19, 20, 21, 22, 23, 24, 25,
                                               26, 27, 28, 29, 30, 31};

// Free ones, which the first arguments of C are in, too; the frame's slots, the
// VM, the call record and the fuel.
enum { ARG0, ARG1, ARG2, ARG3 };
enum { T0, T1, T2, SLOTS = 19, MACHINE = 20, RECORD = 21, FUEL = 22 };

// --- Registers and memory ---------------------------------------------------

static inline void set_constant(emitter *e, int to, int64_t value) {
  tl_a64_constant(&e->as, to, value);
}
static inline void move_int(emitter *e, int to, int from) {
  tl_a64_move(&e->as, to, from);
}
static inline void move_float(emitter *e, int to, int from) {
  if (to != from)
    tl_a64_rr(&e->as, TL_A64_FMOV, to, from);
}
// 64 bits as a float's.
static inline void move_bits(emitter *e, int to_float, int from) {
  tl_a64_rr(&e->as, TL_A64_FMOV_TO_FLOAT, to_float, from);
}
// 8 bytes at [base + at].
static inline void read_word(emitter *e, int to, int base, int32_t at) {
  tl_a64_memory(&e->as, TL_A64_LDR, to, base, at);
}
static inline void write_word(emitter *e, int from, int base, int32_t at) {
  tl_a64_memory(&e->as, TL_A64_STR, from, base, at);
}
// 4 bytes; above what is read stands 0.
static inline void read_half(emitter *e, int to, int base, int32_t at) {
  tl_a64_memory(&e->as, TL_A64_LDR_32, to, base, at);
}
static inline void write_half(emitter *e, int from, int base, int32_t at) {
  tl_a64_memory(&e->as, TL_A64_STR_32, from, base, at);
}
// 8 bytes, to or from a register for floats where [floats] says so.
static inline void read_payload(emitter *e, bool floats, int to, int base,
                                int32_t at) {
  tl_a64_memory(&e->as, floats ? TL_A64_LDR_D : TL_A64_LDR, to, base, at);
}
static inline void write_payload(emitter *e, bool floats, int from, int base,
                                 int32_t at) {
  tl_a64_memory(&e->as, floats ? TL_A64_STR_D : TL_A64_STR, from, base, at);
}
// The tag, of 31 bits, to memory.
static inline void write_tag(emitter *e, uint64_t tag, int base, int32_t at) {
  tl_a64_constant(&e->as, TL_X16, (int64_t)tag);
  write_word(e, TL_X16, base, at);
}
// to = base + at
static inline void take_address(emitter *e, int to, int base, int32_t at) {
  tl_a64_sum(&e->as, TL_A64_ADD, to, base, at);
}
static inline void add_int(emitter *e, int to, int from) {
  tl_a64_rrr(&e->as, TL_A64_ADDS, to, to, from);
}
static inline void add_word(emitter *e, int to, int base, int32_t at) {
  read_word(e, TL_X16, base, at);
  add_int(e, to, TL_X16);
}
// A few to 8 bytes in memory.
static inline void add_to_word(emitter *e, int base, int32_t at, int by) {
  read_word(e, TL_X16, base, at);
  tl_a64_sum(&e->as, TL_A64_ADD, TL_X16, TL_X16, by);
  write_word(e, TL_X16, base, at);
}
static inline void shift_left(emitter *e, int to, int by) {
  tl_a64_shift(&e->as, TL_A64_LSL, to, to, by);
}
static inline void shift_right(emitter *e, int to, int by) {
  tl_a64_shift(&e->as, TL_A64_UBFM, to, to, by);
}
static inline void multiply_constant(emitter *e, int to, int32_t by) {
  tl_a64_constant(&e->as, TL_X17, by);
  tl_a64_rrr(&e->as, TL_A64_MUL, to, to, TL_X17);
}
// Bit 16 of a tag is cleared: and, with all bits but that one.
static inline void clear_owned(emitter *e, int tag) {
  const int and_but_16 = (int)0x926ff800;
  tl_a64_rr(&e->as, and_but_16, tag, tag);
}
static inline void multiply_word(emitter *e, int to, int base, int32_t at) {
  read_word(e, TL_X16, base, at);
  tl_a64_rrr(&e->as, TL_A64_MUL, to, to, TL_X16);
}
// Cuts an integer to the width of its dtype, and extends it to 64 bits again,
// as slots have it.
static inline void cut(emitter *e, tl_dtype dtype, int to, int from) {
  int width = 8 * (int)tl_itemsize(dtype);
  if (width == 64 || !tl_dtype_is_integer(dtype))
    tl_a64_move(&e->as, to, from);
  else
    tl_a64_extend(&e->as,
                  tl_dtypes[dtype].kind == 'I' ? TL_A64_SBFM : TL_A64_UBFM, to,
                  from, width);
}
// The other sign, whose sign the flags tell.
static inline void negate(emitter *e, int to) {
  tl_a64_rrr(&e->as, TL_A64_SUBS, to, TL_ZERO, to);
}
// T1 = T1 divided by a register, rounded up; both are positive.
static inline void divide_up(emitter *e, int by) {
  tl_a64_sum(&e->as, TL_A64_SUB, T1, T1, 1);
  tl_a64_rrr(&e->as, TL_A64_UDIV, T1, T1, by);
  tl_a64_sum(&e->as, TL_A64_ADD, T1, T1, 1);
}
// 0.0, and the constant of operation number [op], which stands behind the code.
static inline void clear_float(emitter *e, int to) {
  tl_a64_rr(&e->as, TL_A64_FZERO, to, 0);
}
static inline void load_data(emitter *e, int to, int32_t op) {
  note_fix(e, FIX_DATA, op);
  tl_as_word(&e->as, (uint32_t)(TL_A64_LDR_D_NEAR | to));
}
// Less by so much; equal where that is 0, signed where it is below.
static inline void count_down(emitter *e, int to, int by) {
  tl_a64_sum(&e->as, TL_A64_SUBS, to, to, by);
}
// 8 bytes to the stack's end, and from it: str and ldr that move the stack's
// pointer by 16.
static inline void push_word(emitter *e, int base, int32_t at) {
  read_word(e, TL_X16, base, at);
  tl_as_word(&e->as, 0xf81f0ff0);
}
static inline void pop_word(emitter *e, int base, int32_t at) {
  tl_as_word(&e->as, 0xf84107f0);
  write_word(e, TL_X16, base, at);
}
static inline void add_constant(emitter *e, int to, int32_t imm) {
  tl_a64_sum(&e->as, TL_A64_ADD, to, to, imm);
}

// --- Comparisons ------------------------------------------------------------

// Whether a comparison may have the constant.
static inline bool is_immediate(int64_t imm) {
  (void)imm;
  return true;
}
static inline void compare_constant(emitter *e, int r, int64_t with) {
  tl_a64_compare(&e->as, r, with);
}
static inline void compare_int(emitter *e, int r, int with) {
  tl_a64_rrr(&e->as, TL_A64_SUBS, TL_ZERO, r, with);
}
// A register with 8 bytes in memory.
static inline void compare_word(emitter *e, int r, int base, int32_t at) {
  read_word(e, TL_X16, base, at);
  compare_int(e, r, TL_X16);
}
// 8 bytes in memory with a constant, and 4 bytes.
static inline void compare_memory(emitter *e, int base, int32_t at,
                                  int64_t with) {
  read_word(e, TL_X16, base, at);
  compare_constant(e, TL_X16, with);
}
static inline void compare_half(emitter *e, int base, int32_t at, int with) {
  tl_a64_memory(&e->as, TL_A64_LDR_32, TL_X16, base, at);
  compare_constant(e, TL_X16, with);
}
// Not equal where the register is no multiple of a power of two above 1: ands,
// with as many of the lowest bits.
static inline void test_multiple(emitter *e, int r, int of) {
  const int ands_low = (int)0xf2400000;
  tl_a64_rr(&e->as, ands_low | (__builtin_ctz((unsigned)of) - 1) << 10, TL_ZERO,
            r);
}
// Not equal where the byte has one of the bits.
static inline void test_byte(emitter *e, int base, int32_t at, int bits) {
  tl_a64_memory(&e->as, TL_A64_LDR_8, TL_X16, base, at);
  tl_a64_constant(&e->as, TL_X17, bits);
  tl_a64_rrr(&e->as, TL_A64_ANDS, TL_ZERO, TL_X16, TL_X17);
}
// 0 or 1.
static inline void set_condition(emitter *e, int to, int condition) {
  tl_a64_set(&e->as, to, condition);
}
// to *= by; returns the condition that says that it does not fit: the upper
// half is not the sign of the lower one.
static inline int multiply_checked(emitter *e, int to, int by) {
  const int smulh = (int)0x9b407c00;
  tl_a64_rrr(&e->as, smulh, TL_X16, to, by);
  tl_a64_rrr(&e->as, TL_A64_MUL, to, to, by);
  tl_a64_shift(&e->as, TL_A64_SBFM, TL_X17, to, 63);
  compare_int(e, TL_X16, TL_X17);
  return TL_CC_NE;
}
static inline void subtract_checked(emitter *e, int to, int from) {
  tl_a64_rrr(&e->as, TL_A64_SUBS, to, to, from);
}
// to = from where the condition holds.
static inline void move_if(emitter *e, int condition, int to, int from) {
  tl_a64_select(&e->as, TL_A64_CSEL, to, from, to, condition);
}
static inline void multiply_fact(emitter *e, int to, int fact) {
  tl_a64_rrr(&e->as, TL_A64_MUL, to, to, tl_jit_get(e, fact, TL_X16));
}
// to = the address of an item of [size] bytes.
static inline void take_item(emitter *e, int to, int items, int index,
                             int size) {
  tl_a64_rrr(&e->as, TL_A64_ADD | __builtin_ctz((unsigned)size) << 10, to,
             items, index);
}
// Equal where a function of C has returned false: of a bool 8 bits are defined.
static inline void test_truth(emitter *e) {
  tl_a64_extend(&e->as, TL_A64_UBFM, T0, T0, 8);
  compare_constant(e, T0, 0);
}

// --- Jumps and calls --------------------------------------------------------

static inline void jump(emitter *e, fix_kind kind, int32_t to) {
  note_fix(e, kind, to);
  tl_as_word(&e->as, TL_A64_B);
}
// The flags are those of the comparison that was emitted last.
static inline void jump_if(emitter *e, int condition, fix_kind kind,
                           int32_t to) {
  note_fix(e, kind, to);
  tl_as_word(&e->as, (uint32_t)(TL_A64_B_IF | condition));
}
// The place of a fix now goes there. Conditions and data reach a megabyte: what
// is larger declines.
static inline void aim(emitter *e, const fix *f, uint32_t to) {
  if (!tl_a64_aim(&e->as, f->at, to))
    e->declines = true;
}
// Back to a place that is known.
static inline void jump_back(emitter *e, int condition, uint32_t to) {
  fix f = {.at = e->as.size};
  tl_as_word(&e->as, (uint32_t)(TL_A64_B_IF | condition));
  if (!e->as.is_full)
    aim(e, &f, to);
}

// Forward over a few instructions, to where `here` is called with what this
// returns.
static inline uint32_t skip(emitter *e, int condition) {
  return tl_a64_skip(&e->as, condition);
}
static inline void here(emitter *e, uint32_t from) {
  tl_a64_here(&e->as, from);
}

// Compares the bytes of two objects, in T0 and T2, from [first] on, without a
// sign, and the NUL behind them: as many as the 8 bytes at [count] say, which
// are the same in both, or in [order] the fewer of the two; then these numbers,
// of objects whose addresses are on the stack meanwhile.
static inline void compare_bytes(emitter *e, int32_t count, int32_t first,
                                 bool order) {
  tl_assembler *as = &e->as;
  const int ldrb_and_next = 0x38401400;
  read_word(e, T1, T0, count);
  if (order) {
    tl_a64_sum(as, TL_A64_SUB, TL_SP, TL_SP, 16);
    write_word(e, T0, TL_SP, 0);
    write_word(e, T2, TL_SP, 8);
    compare_word(e, T1, T2, count);
    uint32_t fewer = tl_a64_skip(as, TL_CC_BE);
    read_word(e, T1, T2, count);
    tl_a64_here(as, fewer);
  }
  tl_a64_sum(as, TL_A64_ADD, T1, T1, 1);
  tl_a64_sum(as, TL_A64_ADD, T0, T0, first);
  tl_a64_sum(as, TL_A64_ADD, T2, T2, first);
  uint32_t again = as->size;
  tl_a64_rr(as, ldrb_and_next, TL_X16, T0);
  tl_a64_rr(as, ldrb_and_next, TL_X17, T2);
  compare_int(e, TL_X16, TL_X17);
  uint32_t differs = tl_a64_skip(as, TL_CC_NE);
  tl_a64_sum(as, TL_A64_SUBS, T1, T1, 1);
  jump_back(e, TL_CC_NE, again);
  if (order) {
    read_word(e, T0, TL_SP, 0);
    read_word(e, T2, TL_SP, 8);
    read_word(e, T1, T0, count);
    compare_word(e, T1, T2, count);
  }
  tl_a64_here(as, differs);
  if (order)
    tl_a64_sum(as, TL_A64_ADD, TL_SP, TL_SP, 16);
}
// One less fuel; equal where there is none left.
static inline void count_fuel(emitter *e) {
  tl_a64_sum(&e->as, TL_A64_SUBS_32, FUEL, FUEL, 1);
}
// The fuel has 32 bits. to = one less than it; equal where that is 0.
static inline void less_fuel(emitter *e, int to) {
  tl_a64_sum(&e->as, TL_A64_SUBS_32, to, FUEL, 1);
}
static inline void spend_fuel(emitter *e, int from) {
  tl_a64_rrr(&e->as, TL_A64_SUBS_32, FUEL, FUEL, from);
}
// Calls a function of C, which may write all of x0 to x18. Its arguments are in
// theirs already.
static inline void call_c(emitter *e, intptr_t function) {
  tl_a64_constant(&e->as, TL_X16, function);
  tl_a64_rr(&e->as, TL_A64_BLR, 0, TL_X16);
}
// The code whose address is in memory.
static inline void call_at(emitter *e, int base, int32_t at) {
  read_word(e, TL_X16, base, at);
  tl_a64_rr(&e->as, TL_A64_BLR, 0, TL_X16);
}
// The code of a unit; what is in registers is lost.
static inline void call_unit(emitter *e, const tl_jit_unit *callee) {
  if (callee == e->unit) {
    note_fix(e, FIX_SELF, 0);
    tl_as_word(&e->as, (uint32_t)TL_A64_BL);
    return;
  }
  tl_a64_constant(&e->as, TL_X16, (int64_t)(intptr_t)&callee->code);
  call_at(e, TL_X16, 0);
}

// Loops need not begin at any particular place.
static inline void align_loop(emitter *e) {
  (void)e;
}

// --- The stack --------------------------------------------------------------

// A unit's own frame: its facts, and the return address at its upper end. The
// stack is at a multiple of 16 always.
static inline int32_t frame_bytes(const emitter *e) {
  return (int32_t)((e->frame_size + 8 + 15) & ~15u);
}
static inline void open_frame(emitter *e) {
  add_constant(e, TL_SP, -frame_bytes(e));
  write_word(e, TL_LINK, TL_SP, frame_bytes(e) - 8);
}
static inline void go_back(emitter *e) {
  read_word(e, TL_LINK, TL_SP, frame_bytes(e) - 8);
  add_constant(e, TL_SP, frame_bytes(e));
  tl_a64_rr(&e->as, TL_A64_RET, 0, 0);
}
// Room on it for a call of C, [nbytes], a multiple of 16; facts are out of
// reach meanwhile.
static inline void open_room(emitter *e, int32_t nbytes) {
  add_constant(e, TL_SP, -nbytes);
}
static inline void close_room(emitter *e, int32_t nbytes) {
  add_constant(e, TL_SP, nbytes);
}

#endif
