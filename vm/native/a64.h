// Instructions of AArch64 as words, as far as emit_a64.c needs them.
//
//     opcode │ m << 16 │ n << 5 │ d        d = n op m
//
// Each is 32 bits wide. Opcodes stand here with all their registers 0 (Arm's
// Architecture Reference Manual, part C4), and are those of 64 bits unless
// their name says otherwise. What does not fit an instruction's immediate goes
// through x16 and x17, which nobody else uses.
#pragma once

#include "vm/native/assembler.h"
#include "vm/native/code.h"

#if TL_JIT_A64

// Number 31 is the stack's pointer where it is a base or an operand of a sum
// with an immediate, and 0 elsewhere.
enum { TL_SP = 31, TL_ZERO = 31, TL_X16 = 16, TL_X17 = 17, TL_LINK = 30 };

// Conditions, by the names of x64.h; the lowest bit negates. After fcmp the
// flags of two floats of which one is NaN are C and V: so LO, LS, A, GE, G and
// E fail, and their opposites pass.
enum tl_a64_condition {
  TL_CC_E = 0,
  TL_CC_NE = 1,
  TL_CC_AE = 2,
  TL_CC_B = 3,
  TL_CC_S = 4,
  TL_CC_NS = 5,
  TL_CC_O = 6,
  TL_CC_A = 8,
  TL_CC_BE = 9,
  TL_CC_GE = 10,
  TL_CC_L = 11,
  TL_CC_G = 12,
  TL_CC_LE = 13,
};

enum tl_a64_opcode {
  // d = n op m; those with S set the flags.
  TL_A64_ADD = (int)0x8b000000,
  TL_A64_ADDS = (int)0xab000000,
  TL_A64_SUB = (int)0xcb000000,
  TL_A64_SUBS = (int)0xeb000000,
  TL_A64_SUBS_32 = 0x6b000000,
  TL_A64_AND = (int)0x8a000000,
  TL_A64_ANDS = (int)0xea000000,
  TL_A64_OR = (int)0xaa000000,
  TL_A64_XOR = (int)0xca000000,
  TL_A64_MUL = (int)0x9b007c00,
  TL_A64_SDIV = (int)0x9ac00c00,
  TL_A64_UDIV = (int)0x9ac00800,
  TL_A64_LSL = (int)0x9ac02000,
  TL_A64_LSR = (int)0x9ac02400,
  TL_A64_ASR = (int)0x9ac02800,
  // d = a - n * m; a << 10.
  TL_A64_MSUB = (int)0x9b008000,
  // d = condition ? n : m, and m + 1; condition << 12.
  TL_A64_CSEL = (int)0x9a800000,
  TL_A64_CSINC = (int)0x9a800400,
  // Bits of n, from immr << 16 to imms << 10, extended by 0 and by the sign.
  TL_A64_UBFM = (int)0xd3400000,
  TL_A64_SBFM = (int)0x93400000,
  // Memory at base + an offset that counts in the access's own size.
  TL_A64_LDR = (int)0xf9400000,
  TL_A64_STR = (int)0xf9000000,
  TL_A64_LDR_32 = (int)0xb9400000,
  TL_A64_STR_32 = (int)0xb9000000,
  TL_A64_LDR_16 = 0x79400000,
  TL_A64_STR_16 = 0x79000000,
  TL_A64_LDR_8 = 0x39400000,
  TL_A64_STR_8 = 0x39000000,
  TL_A64_LDRS_32 = (int)0xb9800000,
  TL_A64_LDRS_16 = 0x79800000,
  TL_A64_LDRS_8 = 0x39800000,
  TL_A64_LDR_D = (int)0xfd400000,
  TL_A64_STR_D = (int)0xfd000000,
  TL_A64_LDR_S = (int)0xbd400000,
  TL_A64_STR_S = (int)0xbd000000,
  // Floats of 64 bits; without TL_A64_DOUBLE of 32.
  TL_A64_DOUBLE = 0x00400000,
  TL_A64_FADD = 0x1e602800,
  TL_A64_FSUB = 0x1e603800,
  TL_A64_FMUL = 0x1e600800,
  TL_A64_FDIV = 0x1e601800,
  TL_A64_FCSEL = 0x1e600c00,
  TL_A64_FCMP = 0x1e602000,
  TL_A64_FMOV = 0x1e604000,
  TL_A64_FABS = 0x1e60c000,
  TL_A64_FNEG = 0x1e614000,
  TL_A64_FSQRT = 0x1e61c000,
  TL_A64_FRINTN = 0x1e644000,
  TL_A64_FRINTP = 0x1e64c000,
  TL_A64_FRINTM = 0x1e654000,
  TL_A64_FRINTZ = 0x1e65c000,
  TL_A64_SCVTF = (int)0x9e620000,
  TL_A64_UCVTF = (int)0x9e630000,
  TL_A64_FCVTZS = (int)0x9e780000,
  TL_A64_FMOV_TO_FLOAT = (int)0x9e670000,
  TL_A64_WIDEN = 0x1e22c000,   // a float32 to a float64
  TL_A64_NARROW = 0x1e624000,  // and back
  TL_A64_FZERO = 0x2f00e400,
  // Where the last 26 or 19 bits count words from the instruction.
  TL_A64_B = 0x14000000,
  TL_A64_BL = (int)0x94000000,
  TL_A64_B_IF = 0x54000000,
  TL_A64_LDR_D_NEAR = 0x5c000000,
  TL_A64_BLR = (int)0xd63f0000,
  TL_A64_RET = (int)0xd65f03c0,
};

static inline void tl_a64_rrr(tl_assembler *as, int opcode, int d, int n,
                              int m) {
  tl_as_word(as, (uint32_t)opcode | (uint32_t)(m << 16 | n << 5 | d));
}
// d = op n
static inline void tl_a64_rr(tl_assembler *as, int opcode, int d, int n) {
  tl_a64_rrr(as, opcode, d, n, 0);
}
// csel and its like, fcsel.
static inline void tl_a64_select(tl_assembler *as, int opcode, int d, int n,
                                 int m, int condition) {
  tl_a64_rrr(as, opcode | condition << 12, d, n, m);
}
// d = 1 where the condition holds, else 0: 0 + 1 where the opposite does not.
static inline void tl_a64_set(tl_assembler *as, int d, int condition) {
  tl_a64_select(as, TL_A64_CSINC, d, TL_ZERO, TL_ZERO, condition ^ 1);
}
// Moves leave the flags as they are.
static inline void tl_a64_move(tl_assembler *as, int to, int from) {
  if (to != from)
    tl_a64_rrr(as, TL_A64_OR, to, TL_ZERO, from);
}

// Sets all 64 bits: movz or movn and up to three movk, one for each 16 bits
// that are not yet right.
static inline void tl_a64_constant(tl_assembler *as, int d, int64_t value) {
  const uint32_t movz = 0xd2800000, movn = 0x92800000, movk = 0xf2800000;
  bool is_negative = value < 0, first = true;
  uint32_t plain = is_negative ? 0xffff : 0;
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t part = (uint32_t)((uint64_t)value >> 16 * i) & 0xffff;
    if (part == plain && !(i == 3 && first))
      continue;
    uint32_t opcode = !first ? movk : is_negative ? movn : movz;
    uint32_t bits = first && is_negative ? part ^ 0xffff : part;
    tl_as_word(as, opcode | i << 21 | bits << 5 | (uint32_t)d);
    first = false;
  }
}

// d = n + imm, or n - imm, with flags as the opcode says; add and sub, with S
// or without. What an immediate of 12 bits does not hold goes through x17. The
// stack's pointer takes immediates alone, in the form of 12 bits.
static inline void tl_a64_sum(tl_assembler *as, int opcode, int d, int n,
                              int64_t imm) {
  const int other = TL_A64_ADD ^ TL_A64_SUB, is_immediate = 0x1a000000;
  bool negates = imm < 0 && imm > -4096;
  if (imm >= 4096 || (imm < 0 && !negates)) {
    tl_a64_constant(as, TL_X17, imm);
    tl_a64_rrr(as, opcode, d, n, TL_X17);
    return;
  }
  uint32_t how = (uint32_t)((negates ? opcode ^ other : opcode) ^ is_immediate);
  tl_as_word(as, how | (uint32_t)(negates ? -imm : imm) << 10 |
                     (uint32_t)(n << 5 | d));
}
// Flags as those of n - imm.
static inline void tl_a64_compare(tl_assembler *as, int n, int64_t imm) {
  tl_a64_sum(as, TL_A64_SUBS, TL_ZERO, n, imm);
}
// Bits 0 to width - 1 of n, extended by 0 or by their sign.
static inline void tl_a64_extend(tl_assembler *as, int opcode, int d, int n,
                                 int width) {
  tl_as_word(as, (uint32_t)opcode | (uint32_t)(width - 1) << 10 |
                     (uint32_t)(n << 5 | d));
}
// Shifts by a constant below 64: to the right by SBFM or UBFM, to the left by
// TL_A64_LSL.
static inline void tl_a64_shift(tl_assembler *as, int opcode, int d, int n,
                                int by) {
  bool left = opcode == TL_A64_LSL;
  int immr = left ? -by & 63 : by, imms = left ? 63 - by : 63;
  tl_a64_rr(as, (left ? TL_A64_UBFM : opcode) | immr << 16 | imms << 10, d, n);
}

// Register t and memory at base + at bytes. Offsets that are no multiple of the
// size, or too large, or below 0, go through x17.
static inline void tl_a64_memory(tl_assembler *as, int opcode, int t, int base,
                                 int32_t at) {
  uint32_t size = (uint32_t)opcode >> 30;
  if (at >= 0 && (at & ((1 << size) - 1)) == 0 && at >> size < 4096) {
    tl_as_word(as, (uint32_t)opcode | (uint32_t)at >> size << 10 |
                       (uint32_t)(base << 5 | t));
    return;
  }
  tl_a64_constant(as, TL_X17, at);
  tl_a64_rrr(as, (opcode ^ 0x01000000) | 0x00206800, t, base, TL_X17);
}

// Sets where a jump or a load from behind the code goes: [from] is its place,
// and both count bytes. False: it is too far away.
static inline bool tl_a64_aim(tl_assembler *as, uint32_t from, uint32_t to) {
  uint32_t word;
  memcpy(&word, as->bytes + from, sizeof word);
  int64_t words = ((int64_t)to - (int64_t)from) / 4;
  bool is_long = (word & 0x7c000000) == TL_A64_B;
  int64_t most = is_long ? 1 << 25 : 1 << 18;
  uint32_t bits = (uint32_t)words & (is_long ? 0x3ffffff : 0x7ffff);
  word |= is_long ? bits : bits << 5;
  memcpy(as->bytes + from, &word, sizeof word);
  return words >= -most && words < most;
}
// A jump forward over a few words; tl_a64_here sets its target. Returns its
// place.
static inline uint32_t tl_a64_skip(tl_assembler *as, int condition) {
  tl_as_word(as, (uint32_t)(TL_A64_B_IF | condition));
  return as->size - 4;
}
static inline void tl_a64_here(tl_assembler *as, uint32_t from) {
  if (!as->is_full)
    (void)tl_a64_aim(as, from, as->size);
}

#endif
