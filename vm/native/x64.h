// Instructions of x86-64 as bytes, as far as emit_x64.c needs them.
//
//     [prefix] [REX] [0f] opcode modrm [sib] [displacement] [immediate]
#pragma once

#include "vm/native/assembler.h"
#include "vm/native/code.h"

#if TL_JIT_X64

// The registers for integers; those for floats are their numbers, 0 to 15. The
// numbers are those of the processor (Intel's manual, volume 2, table 3-1): the
// low three bits go into modrm or sib, the fourth into REX.
enum tl_x64_register {
  TL_AX,
  TL_CX,
  TL_DX,
  TL_BX,
  TL_SP,
  TL_BP,
  TL_SI,
  TL_DI,
  TL_R8,
  TL_R9,
  TL_R10,
  TL_R11,
  TL_R12,
  TL_R13,
  TL_R14,
  TL_R15,
};

// Condition codes, as jumps and sets have them; the lowest bit negates. They
// stand in the low four bits of the opcodes 7x (jump of 8 bits), 0f 8x (of 32)
// and 0f 9x (set). B to A are those of unsigned numbers, and of what ucomisd
// compared; L to G those of signed ones; P is set where one of two floats is
// NaN, and O where a signed sum does not fit.
enum tl_x64_condition {
  TL_CC_O = 0,
  TL_CC_B = 2,
  TL_CC_AE = 3,
  TL_CC_E = 4,
  TL_CC_NE = 5,
  TL_CC_BE = 6,
  TL_CC_A = 7,
  TL_CC_S = 8,
  TL_CC_NS = 9,
  TL_CC_P = 10,
  TL_CC_NP = 11,
  TL_CC_L = 12,
  TL_CC_GE = 13,
  TL_CC_LE = 14,
  TL_CC_G = 15,
};

// How an instruction is encoded: 64 bits wide, with 0f before the opcode, with
// byte registers, and the prefixes of scalar doubles (F2), of scalar floats of
// 32 bits (F3), of packed doubles (66).
// Intel's manual wants mandatory prefixes before REX, and REX directly before
// the opcode or its 0f, so the order is that of tl_x64_open. Without any REX,
// byte registers 4 to 7 would be ah to bh, hence TL_X64_BYTE.
enum {
  TL_X64_W = 1,
  TL_X64_0F = 2,
  TL_X64_BYTE = 4,
  TL_X64_F2 = 8,
  TL_X64_66 = 16,
  TL_X64_F3 = 32,
  TL_X64_SD = TL_X64_F2 | TL_X64_0F,
  TL_X64_SS = TL_X64_F3 | TL_X64_0F,
  TL_X64_PD = TL_X64_66 | TL_X64_0F,
};

// Prefix, REX and opcode; the registers give their high bits.
void tl_x64_open(tl_assembler *as, int how, int opcode, int reg, int index,
                 int base);

// opcode reg, rm
// The mode 11 in the upper two bits of modrm says that rm is a register. Where
// an opcode has a digit in the manual (/0 to /7), that is [reg].
void tl_x64_rr(tl_assembler *as, int how, int opcode, int reg, int rm);

// opcode reg, [base + displacement]
// The modes are 00, no displacement, 01, one of 8 bits, and 10, one of 32; 00
// means something else for rbp and r13. An rm of 100 (rsp, r12) says that a sib
// follows, which is 24 for "no index".
void tl_x64_rm(tl_assembler *as, int how, int opcode, int reg, int base,
               int32_t displacement);

// opcode reg, [rip + the 32 bits that follow]
static inline void tl_x64_rip(tl_assembler *as, int how, int opcode, int reg) {
  tl_x64_open(as, how, opcode, reg, 0, 0);
  tl_as_byte(as, 0x05 | (reg & 7) << 3);
}

// opcode reg, first, rm in AVX's form of three operands (VEX, c4), of scalars:
// the register bits and the first operand are inverted, and the prefix is a
// number. Without [rm] (-1) the operand is [rip + the 32 bits that follow].
void tl_x64_three(tl_assembler *as, int how, int opcode, int reg, int first,
                  int rm);

// opcode reg, [base + index * scale + displacement]; the scale is 1, 2, 4 or 8
// rm is 100, for the sib. The index is never rsp, whose number means "none".
void tl_x64_rxd(tl_assembler *as, int how, int opcode, int reg, int base,
                int index, int scale, int32_t displacement);

// The operation /[digit] of 81 or 83 with an immediate: add 0, or 1, and 4,
// sub 5, xor 6, cmp 7. The processor extends the immediate by its sign to 64
// bits.
void tl_x64_ri(tl_assembler *as, int digit, int rm, int32_t imm);

// Sets all 64 bits of a register in 2 or 3, 7, or 10 bytes: xor clears the
// upper half too (and changes the flags, so no comparison may be pending), c7
// /0 extends 32 bits by their sign, b8+r has all 64.
void tl_x64_constant(tl_assembler *as, int reg, int64_t value);

// Moves leave the flags as they are.
void tl_x64_move(tl_assembler *as, int to, int from);
// movapd and not movsd, which between registers would keep the upper half of
// [to] and so wait for whatever wrote that last.
static inline void tl_x64_move_float(tl_assembler *as, int to, int from) {
  if (to != from)
    tl_x64_rr(as, TL_X64_PD, 0x28, to, from);
}

// A jump forward over a few bytes; tl_x64_here sets its target. Returns the
// place behind the jump, from which its 8 bits count; at most 127 bytes may
// come between the two calls.
uint32_t tl_x64_skip(tl_assembler *as, int condition);
void tl_x64_here(tl_assembler *as, uint32_t from);

#endif
