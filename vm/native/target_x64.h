// What x86-64 has for emit.c and its like: registers, memory, jumps, and the
// stack. target_a64.h has operations of the same names.
#pragma once

#include "vm/native/x64.h"

#if TL_JIT_X64

#include "vm/native/emitter.h"

// Slots get registers that instructions do not need for themselves: shifts take
// cl, divisions rax and rdx, and xmm0 and xmm1 are for operands that have none.
// Most of these registers are the caller's to save in C's convention (System V
// ABI, 3.2.1), so each call of C moves all of them to the stack; units call one
// another without, since everything that lives across a call is in its slot by
// then.
enum { INTS = 8, FLOATS = 14 };
static const int8_t int_registers[INTS] = {TL_SI,  TL_DI,  TL_R8,  TL_R9,
                                           TL_R10, TL_R11, TL_R12, TL_R13};
static const int8_t float_registers[FLOATS] = {2, 3,  4,  5,  6,  7,  8,
                                               9, 10, 11, 12, 13, 14, 15};

// Free ones, C's first arguments (System V ABI, 3.2.3); the frame's slots, the
// VM, the call record and the fuel.
enum { T0 = TL_AX, T1 = TL_CX, T2 = TL_DX };
enum { ARG0 = TL_DI, ARG1 = TL_SI, ARG2 = TL_DX, ARG3 = TL_CX };
enum { SLOTS = TL_BX, MACHINE = TL_BP, RECORD = TL_R14, FUEL = TL_R15 };

// --- Registers and memory ---------------------------------------------------

static inline void set_constant(emitter *e, int to, int64_t value) {
  tl_x64_constant(&e->as, to, value);
}
static inline void move_int(emitter *e, int to, int from) {
  tl_x64_move(&e->as, to, from);
}
static inline void move_float(emitter *e, int to, int from) {
  tl_x64_move_float(&e->as, to, from);
}
// 64 bits as a float's.
static inline void move_bits(emitter *e, int to_float, int from) {
  tl_x64_rr(&e->as, TL_X64_PD | TL_X64_W, 0x6e, to_float, from);
}
// 8 bytes at [base + at].
static inline void read_word(emitter *e, int to, int base, int32_t at) {
  tl_x64_rm(&e->as, TL_X64_W, 0x8b, to, base, at);
}
static inline void write_word(emitter *e, int from, int base, int32_t at) {
  tl_x64_rm(&e->as, TL_X64_W, 0x89, from, base, at);
}
// 4 bytes; above what is read stands 0.
static inline void read_half(emitter *e, int to, int base, int32_t at) {
  tl_x64_rm(&e->as, 0, 0x8b, to, base, at);
}
static inline void write_half(emitter *e, int from, int base, int32_t at) {
  tl_x64_rm(&e->as, 0, 0x89, from, base, at);
}
// 8 bytes, to or from a register for floats where [floats] says so.
static inline void read_payload(emitter *e, bool floats, int to, int base,
                                int32_t at) {
  tl_x64_rm(&e->as, floats ? TL_X64_SD : TL_X64_W, floats ? 0x10 : 0x8b, to,
            base, at);
}
static inline void write_payload(emitter *e, bool floats, int from, int base,
                                 int32_t at) {
  tl_x64_rm(&e->as, floats ? TL_X64_SD : TL_X64_W, floats ? 0x11 : 0x89, from,
            base, at);
}
// The tag, of 31 bits, to memory.
static inline void write_tag(emitter *e, uint64_t tag, int base, int32_t at) {
  tl_x64_rm(&e->as, TL_X64_W, 0xc7, 0, base, at);
  tl_as_word(&e->as, (uint32_t)tag);
}
// Bit 16 of a tag is cleared: btr.
static inline void clear_owned(emitter *e, int tag) {
  tl_x64_rr(&e->as, TL_X64_W | TL_X64_0F, 0xba, 6, tag);
  tl_as_byte(&e->as, 16);
}
// to = base + at
static inline void take_address(emitter *e, int to, int base, int32_t at) {
  tl_x64_rm(&e->as, TL_X64_W, 0x8d, to, base, at);
}
static inline void add_constant(emitter *e, int to, int32_t imm) {
  tl_x64_ri(&e->as, imm < 0 ? 5 : 0, to, imm < 0 ? -imm : imm);
}
static inline void add_int(emitter *e, int to, int from) {
  tl_x64_rr(&e->as, TL_X64_W, 0x03, to, from);
}
static inline void add_word(emitter *e, int to, int base, int32_t at) {
  tl_x64_rm(&e->as, TL_X64_W, 0x03, to, base, at);
}
// 1 or -1 to 8 bytes in memory.
static inline void add_to_word(emitter *e, int base, int32_t at, int by) {
  tl_x64_rm(&e->as, TL_X64_W, 0xff, by < 0, base, at);
}
static inline void shift_left(emitter *e, int to, int by) {
  tl_x64_rr(&e->as, TL_X64_W, 0xc1, 4, to);
  tl_as_byte(&e->as, by);
}
static inline void shift_right(emitter *e, int to, int by) {
  tl_x64_rr(&e->as, TL_X64_W, 0xc1, 5, to);
  tl_as_byte(&e->as, by);
}
static inline void multiply_constant(emitter *e, int to, int32_t by) {
  tl_x64_rr(&e->as, TL_X64_W, 0x69, to, to);
  tl_as_word(&e->as, (uint32_t)by);
}
static inline void multiply_word(emitter *e, int to, int base, int32_t at) {
  tl_x64_rm(&e->as, TL_X64_W | TL_X64_0F, 0xaf, to, base, at);
}
// How an item of a dtype becomes 64 bits, as slots have them: movsx, movsxd and
// movzx of narrow integers, movss, which clears what is above, of a float32. A
// complex64 is 8 bytes in its slot, both halves side by side.
static const struct {
  uint8_t how, opcode;
} extensions[TL_COMPLEX128] = {[TL_BOOL] = {TL_X64_0F, 0xb6},
                               [TL_INT8] = {TL_X64_W | TL_X64_0F, 0xbe},
                               [TL_INT16] = {TL_X64_W | TL_X64_0F, 0xbf},
                               [TL_INT32] = {TL_X64_W, 0x63},
                               [TL_INT64] = {TL_X64_W, 0x8b},
                               [TL_UINT8] = {TL_X64_0F, 0xb6},
                               [TL_UINT16] = {TL_X64_0F, 0xb7},
                               [TL_UINT32] = {0, 0x8b},
                               [TL_UINT64] = {TL_X64_W, 0x8b},
                               [TL_FLOAT32] = {TL_X64_SS, 0x10},
                               [TL_FLOAT64] = {TL_X64_SD, 0x10},
                               [TL_COMPLEX64] = {TL_X64_W, 0x8b}};

// Cuts an integer to the width of its dtype, and extends it again.
static inline void cut(emitter *e, tl_dtype dtype, int to, int from) {
  int byte = dtype == TL_UINT8 ? TL_X64_BYTE : 0;
  if (tl_itemsize(dtype) == 8 || !tl_dtype_is_integer(dtype))
    tl_x64_move(&e->as, to, from);
  else
    tl_x64_rr(&e->as, extensions[dtype].how | byte, extensions[dtype].opcode,
              to, from);
}
// The other sign, whose sign the flags tell: neg.
static inline void negate(emitter *e, int to) {
  tl_x64_rr(&e->as, TL_X64_W, 0xf7, 3, to);
}
// T1 = T1 divided by a register, rounded up; both are positive. The division is
// unsigned (div, f7 /6): it divides rdx:rax.
static inline void divide_up(emitter *e, int by) {
  tl_x64_rm(&e->as, TL_X64_W, 0x8d, TL_AX, TL_CX, -1);
  tl_x64_move(&e->as, TL_CX, by);
  tl_x64_rr(&e->as, 0, 0x31, TL_DX, TL_DX);
  tl_x64_rr(&e->as, TL_X64_W, 0xf7, 6, TL_CX);
  tl_x64_rm(&e->as, TL_X64_W, 0x8d, TL_CX, TL_AX, 1);
}
// 0.0, and the constant of operation number [op], which stands behind the code.
static inline void add_fix(emitter *e, fix_kind kind, int32_t to);
static inline void clear_float(emitter *e, int to) {
  tl_x64_rr(&e->as, TL_X64_PD, 0x57, to, to);
}
static inline void load_data(emitter *e, int to, int32_t op) {
  tl_x64_rip(&e->as, TL_X64_SD, 0x10, to);
  add_fix(e, FIX_DATA, op);
}
// Less by so much; equal where that is 0, signed where it is below.
static inline void count_down(emitter *e, int to, int by) {
  tl_x64_ri(&e->as, 5, to, by);
}
// 8 bytes to the stack's end, and from it.
static inline void push_word(emitter *e, int base, int32_t at) {
  tl_x64_rm(&e->as, 0, 0xff, 6, base, at);
}
static inline void pop_word(emitter *e, int base, int32_t at) {
  tl_x64_rm(&e->as, 0, 0x8f, 0, base, at);
}

// --- Comparisons ------------------------------------------------------------

// Whether a comparison may have the constant.
static inline bool is_immediate(int64_t imm) {
  return imm == (int32_t)imm;
}
// `test r, r` compares with 0 in fewer bytes and sets the flags as cmp does:
// the carry and the overflow are 0.
static inline void compare_constant(emitter *e, int r, int64_t with) {
  if (with == 0)
    tl_x64_rr(&e->as, TL_X64_W, 0x85, r, r);
  else
    tl_x64_ri(&e->as, 7, r, (int32_t)with);
}
static inline void compare_int(emitter *e, int r, int with) {
  tl_x64_rr(&e->as, TL_X64_W, 0x3b, r, with);
}
// A register with 8 bytes in memory.
static inline void compare_word(emitter *e, int r, int base, int32_t at) {
  tl_x64_rm(&e->as, TL_X64_W, 0x3b, r, base, at);
}
// 8 bytes in memory with a constant of 32 bits, and 4 bytes.
static inline void compare_memory(emitter *e, int base, int32_t at,
                                  int64_t with) {
  tl_x64_rm(&e->as, TL_X64_W, 0x81, 7, base, at);
  tl_as_word(&e->as, (uint32_t)with);
}
static inline void compare_half(emitter *e, int base, int32_t at, int with) {
  tl_x64_rm(&e->as, 0, 0x81, 7, base, at);
  tl_as_word(&e->as, (uint32_t)with);
}
// Not equal where the register is no multiple of a power of two, up to 128.
static inline void test_multiple(emitter *e, int r, int of) {
  tl_x64_rr(&e->as, TL_X64_BYTE, 0xf6, 0, r);
  tl_as_byte(&e->as, of - 1);
}
// Not equal where the byte has one of the bits.
static inline void test_byte(emitter *e, int base, int32_t at, int bits) {
  tl_x64_rm(&e->as, 0, 0xf6, 0, base, at);
  tl_as_byte(&e->as, bits);
}
// to *= by; returns the condition that says that it does not fit.
static inline int multiply_checked(emitter *e, int to, int by) {
  tl_x64_rr(&e->as, TL_X64_W | TL_X64_0F, 0xaf, to, by);
  return TL_CC_O;
}
static inline void subtract_checked(emitter *e, int to, int from) {
  tl_x64_rr(&e->as, TL_X64_W, 0x2b, to, from);
}
// to = from where the condition holds: cmov.
static inline void move_if(emitter *e, int condition, int to, int from) {
  tl_x64_rr(&e->as, TL_X64_W | TL_X64_0F, 0x40 | condition, to, from);
}
static inline void multiply_fact(emitter *e, int to, int fact) {
  if (e->reg[fact] >= 0)
    tl_x64_rr(&e->as, TL_X64_W | TL_X64_0F, 0xaf, to, e->reg[fact]);
  else
    multiply_word(e, to, TL_SP, home(fact));
}
// to = the address of an item of [size] bytes.
static inline void take_item(emitter *e, int to, int items, int index,
                             int size) {
  tl_x64_rxd(&e->as, TL_X64_W, 0x8d, to, items, index, size, 0);
}
// Equal where a function of C has returned false: of a bool 8 bits are defined.
static inline void test_truth(emitter *e) {
  tl_x64_rr(&e->as, TL_X64_BYTE, 0x84, T0, T0);
}
// Compares the bytes of two objects, in T0 and T2, from [first] on, without a
// sign: as many as the 8 bytes at [count] say, which are the same in both, or
// in [order] the fewer of the two; then these numbers. The first bytes are
// there if only as a NUL, and most that differ do so in them. Others go byte by
// byte (repe cmpsb takes rsi, rdi and rcx), for which the registers are on the
// stack meanwhile. Of none cmp eax, eax is the answer. mov, lea and pop leave
// the flags.
static inline void compare_bytes(emitter *e, int32_t count, int32_t first,
                                 bool order) {
  tl_assembler *as = &e->as;
  tl_x64_rm(as, TL_X64_0F, 0xb6, TL_CX, TL_AX, first);
  tl_x64_rm(as, TL_X64_BYTE, 0x3a, TL_CX, TL_DX, first);
  uint32_t at_once = tl_x64_skip(as, TL_CC_NE);
  read_word(e, T1, T0, count);
  if (order) {
    compare_word(e, T1, T2, count);
    uint32_t fewer = tl_x64_skip(as, TL_CC_BE);
    read_word(e, T1, T2, count);
    tl_x64_here(as, fewer);
  }
  tl_as_byte(as, 0x50 | TL_SI);
  tl_as_byte(as, 0x50 | TL_DI);
  tl_x64_rm(as, TL_X64_W, 0x8d, TL_SI, TL_AX, first);
  tl_x64_rm(as, TL_X64_W, 0x8d, TL_DI, TL_DX, first);
  tl_x64_rr(as, 0, 0x39, TL_AX, TL_AX);
  tl_as_byte(as, 0xf3);
  tl_as_byte(as, 0xa6);
  tl_as_byte(as, 0x58 | TL_DI);
  tl_as_byte(as, 0x58 | TL_SI);
  if (order) {
    uint32_t differs = tl_x64_skip(as, TL_CC_NE);
    read_word(e, T1, T0, count);
    compare_word(e, T1, T2, count);
    tl_x64_here(as, differs);
  }
  tl_x64_here(as, at_once);
}
// 0 or 1. setcc writes a byte alone, so movzx widens it.
static inline void set_condition(emitter *e, int to, int condition) {
  tl_x64_rr(&e->as, TL_X64_0F | TL_X64_BYTE, 0x90 | condition, 0, TL_AX);
  tl_x64_rr(&e->as, TL_X64_0F, 0xb6, to, TL_AX);
}

// --- Jumps and calls --------------------------------------------------------

// Forward over a few bytes, at most 127, to where `here` is called with what
// this returns.
static inline uint32_t skip(emitter *e, int condition) {
  return tl_x64_skip(&e->as, condition);
}
static inline void here(emitter *e, uint32_t from) {
  tl_x64_here(&e->as, from);
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
// The place of a fix now goes there.
static inline void aim(emitter *e, const fix *f, uint32_t to) {
  uint32_t distance = to - (f->at + 4);
  memcpy(e->as.bytes + f->at, &distance, sizeof distance);
}
// Back to a place that is known.
static inline void jump_back(emitter *e, int condition, uint32_t to) {
  tl_as_byte(&e->as, 0x0f);
  tl_as_byte(&e->as, 0x80 | condition);
  tl_as_word(&e->as, to - (e->as.size + 4));
}

// One less fuel; equal where there is none left. `dec` is ff /1.
static inline void count_fuel(emitter *e) {
  tl_x64_rr(&e->as, 0, 0xff, 1, FUEL);
}
// The fuel has 32 bits: what is above is not known behind a call of C. to = one
// less than it; equal where that is 0. cmp has digit 7 of 81, sub 5.
static inline void less_fuel(emitter *e, int to) {
  tl_x64_rm(&e->as, 0, 0x8d, to, FUEL, -1);
  tl_x64_rr(&e->as, 0, 0x85, to, to);
}
static inline void spend_fuel(emitter *e, int from) {
  tl_x64_rr(&e->as, 0, 0x2b, FUEL, from);
}
// Calls a function of C, which may write all registers but rbx, rbp, r12 to
// r15. Its arguments are in theirs already; rax is not among them.
static inline void call_c(emitter *e, intptr_t function) {
  tl_x64_constant(&e->as, TL_AX, (int64_t)function);
  tl_x64_rr(&e->as, 0, 0xff, 2, TL_AX);
}
// The code whose address is in memory.
static inline void call_at(emitter *e, int base, int32_t at) {
  tl_x64_rm(&e->as, 0, 0xff, 2, base, at);
}
// The code of a unit; what is in registers is lost.
static inline void call_unit(emitter *e, const tl_jit_unit *callee) {
  if (callee == e->unit) {
    tl_as_byte(&e->as, 0xe8);
    add_fix(e, FIX_SELF, 0);
    return;
  }
  tl_x64_constant(&e->as, TL_AX, (int64_t)(intptr_t)&callee->code);
  call_at(e, TL_AX, 0);
}

// The processor takes code in from 32 bytes at a time, so that a short loop
// that begins there is fetched in fewer steps, and takes as long wherever the
// unit stands. nop of 1 byte or of 8, with up to three prefixes that mean
// nothing: each nop costs as much as another instruction.
static inline void align_loop(emitter *e) {
  for (uint32_t left = -e->as.size & (TL_CODE_ALIGN - 1); left > 0;) {
    uint32_t least = left < 8 ? 1 : 8;
    uint32_t size = left < least + 3 ? left : least + 3;
    for (uint32_t i = least; i < size; i++) tl_as_byte(&e->as, 0x66);
    tl_as_put(&e->as, least == 8 ? 0x841f0f : 0x90, least);
    left -= size;
  }
}

// --- The stack --------------------------------------------------------------

// A unit's own frame: its facts. The return address is the processor's stack's,
// so returns are predicted.
static inline void open_frame(emitter *e) {
  if (e->frame_size > 0)
    add_constant(e, TL_SP, -(int32_t)e->frame_size);
}
static inline void go_back(emitter *e) {
  if (e->frame_size > 0)
    add_constant(e, TL_SP, (int32_t)e->frame_size);
  tl_as_byte(&e->as, 0xc3);
}
// Room on it for a call of C, [nbytes], a multiple of 16; facts are out of
// reach meanwhile. It is aligned to 16 bytes as the ABI wants it (System V,
// 3.2.2), wherever in the unit's calls this is; the old rsp is behind it. Takes
// rax.
static inline void open_room(emitter *e, int32_t nbytes) {
  tl_x64_move(&e->as, TL_AX, TL_SP);
  tl_x64_ri(&e->as, 4, TL_SP, -16);
  tl_x64_ri(&e->as, 5, TL_SP, nbytes + 16);
  write_word(e, TL_AX, TL_SP, nbytes + 8);
}
static inline void close_room(emitter *e, int32_t nbytes) {
  read_word(e, TL_SP, TL_SP, nbytes + 8);
}

#endif
