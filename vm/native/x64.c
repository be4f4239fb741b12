// Instructions of x86-64 as bytes: see x64.h. Most of what compiling takes is
// here.
//
// Built for speed.
#include "vm/native/x64.h"

#if TL_JIT_X64

// The bytes of an instruction, the first the lowest: at most 8, which are
// appended at once.
typedef struct encoding {
  uint64_t bits;
  uint32_t count;
} encoding;
static void add_byte(encoding *b, int byte) {
  b->bits |= (uint64_t)(byte & 255) << 8 * b->count++;
}
// Appends them with a displacement or a constant of 8 or 32 bits.
static void put_with(tl_assembler *as, encoding b, bool is_short,
                     int32_t displacement) {
  if (is_short)
    add_byte(&b, displacement);
  tl_as_put(as, b.bits, b.count);
  if (!is_short)
    tl_as_word(as, (uint32_t)displacement);
}

// Prefix, REX and opcode; of registers their high bits. REX is 0100WRXB: W is
// 64 bits, R, X and B are the fourth bits of the register in modrm.reg, of the
// index, and of the base or modrm.rm. It is left out where it would say
// nothing.
static encoding begin(int how, int opcode, int reg, int index, int base) {
  encoding b = {0, 0};
  if ((how & (TL_X64_F2 | TL_X64_F3 | TL_X64_66)) != 0)
    add_byte(&b, (how & TL_X64_F2) != 0   ? 0xf2
                 : (how & TL_X64_F3) != 0 ? 0xf3
                                          : 0x66);
  int rex = ((how & TL_X64_W) != 0 ? 8 : 0) | (reg >> 3) << 2 |
            (index >> 3) << 1 | base >> 3;
  if (rex != 0 || (how & TL_X64_BYTE) != 0)
    add_byte(&b, 0x40 | rex);
  if ((how & TL_X64_0F) != 0)
    add_byte(&b, 0x0f);
  add_byte(&b, opcode);
  return b;
}

void tl_x64_open(tl_assembler *as, int how, int opcode, int reg, int index,
                 int base) {
  encoding b = begin(how, opcode, reg, index, base);
  tl_as_put(as, b.bits, b.count);
}

void tl_x64_rr(tl_assembler *as, int how, int opcode, int reg, int rm) {
  encoding b = begin(how, opcode, reg, 0, rm);
  add_byte(&b, 0xc0 | (reg & 7) << 3 | (rm & 7));
  tl_as_put(as, b.bits, b.count);
}

// The mode in modrm of a displacement: 0 without one, which of rbp and r13
// would mean something else; 0x40 for one of 8 bits, and 0x80.
static int mode_of(int base, int32_t displacement) {
  return displacement == 0 && (base & 7) != TL_BP ? 0
         : displacement == (int8_t)displacement   ? 0x40
                                                  : 0x80;
}
static void put_displaced(tl_assembler *as, encoding b, int mode,
                          int32_t displacement) {
  if (mode == 0)
    tl_as_put(as, b.bits, b.count);
  else
    put_with(as, b, mode == 0x40, displacement);
}

void tl_x64_rm(tl_assembler *as, int how, int opcode, int reg, int base,
               int32_t displacement) {
  int mode = mode_of(base, displacement);
  encoding b = begin(how, opcode, reg, 0, base);
  add_byte(&b, mode | (reg & 7) << 3 | (base & 7));
  if ((base & 7) == TL_SP)
    add_byte(&b, 0x24);
  put_displaced(as, b, mode, displacement);
}

void tl_x64_rxd(tl_assembler *as, int how, int opcode, int reg, int base,
                int index, int scale, int32_t displacement) {
  int mode = mode_of(base, displacement);
  encoding b = begin(how, opcode, reg, index, base);
  add_byte(&b, mode | 0x04 | (reg & 7) << 3);
  add_byte(&b,
           __builtin_ctz((unsigned)scale) << 6 | (index & 7) << 3 | (base & 7));
  put_displaced(as, b, mode, displacement);
}

void tl_x64_move(tl_assembler *as, int to, int from) {
  if (to != from)
    tl_x64_rr(as, TL_X64_W, 0x8b, to, from);
}

uint32_t tl_x64_skip(tl_assembler *as, int condition) {
  tl_as_byte(as, 0x70 | condition);
  tl_as_byte(as, 0);
  return as->size;
}

void tl_x64_here(tl_assembler *as, uint32_t from) {
  if (!as->is_full)
    as->bytes[from - 1] = (uint8_t)(as->size - from);
}

void tl_x64_ri(tl_assembler *as, int digit, int rm, int32_t imm) {
  bool is_short = imm == (int8_t)imm;
  encoding b = begin(TL_X64_W, is_short ? 0x83 : 0x81, digit, 0, rm);
  add_byte(&b, 0xc0 | digit << 3 | (rm & 7));
  put_with(as, b, is_short, imm);
}

void tl_x64_constant(tl_assembler *as, int reg, int64_t value) {
  if (value == 0) {
    tl_x64_rr(as, 0, 0x31, reg, reg);
  } else if (value == (int32_t)value) {
    tl_x64_rr(as, TL_X64_W, 0xc7, 0, reg);
    tl_as_word(as, (uint32_t)value);
  } else {
    tl_x64_open(as, TL_X64_W, 0xb8 | (reg & 7), 0, 0, reg);
    tl_as_put(as, (uint64_t)value, 8);
  }
}

void tl_x64_three(tl_assembler *as, int how, int opcode, int reg, int first,
                  int rm) {
  int base = rm < 0 ? 0 : rm >> 3;
  tl_as_byte(as, 0xc4);
  tl_as_byte(as, (~(reg >> 3) & 1) << 7 | 1 << 6 | (~base & 1) << 5 | 1);
  tl_as_byte(as, (~first & 15) << 3 | ((how & TL_X64_F3) != 0 ? 2 : 3));
  tl_as_byte(as, opcode);
  tl_as_byte(as, (rm < 0 ? 0x05 : 0xc0 | (rm & 7)) | (reg & 7) << 3);
}

#endif
