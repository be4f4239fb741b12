// Instructions of pieces as bytes, and the operations that there are
// instructions for, which both forms share; see emit_vector.h.
//
// Built for size.
#include "vm/native/emit_vector.h"

#if TL_JIT_X64

#include "vm/native/x64.h"

// --- Encoding ---------------------------------------------------------------

// The four bytes before modrm, and the opcode. [bytes] of the vector say its
// length; [mask] 0: none; with [zeros] lanes outside of it are 0. Registers
// have five bits, which stand inverted in these bytes but for the three that
// modrm has: the fourth of reg, of the index or rm's fifth ([x]), of rm, and
// the fifth of reg; the four lower ones of the first operand, and its fifth
// (Intel's manual, volume 2, "EVEX prefix").
static void evex(tl_vector_emitter *e, tl_vector_code c, int bytes, int reg,
                 int first, int base, int x, int mask, bool zeros) {
  int length = bytes >= 64 ? 2 : bytes == 32 ? 1 : 0;
  tl_as_byte(&e->as, 0x62);
  tl_as_byte(&e->as, (~(reg >> 3) & 1) << 7 | (~x & 1) << 6 |
                         (~(base >> 3) & 1) << 5 | (~(reg >> 4) & 1) << 4 |
                         c.map);
  tl_as_byte(&e->as, c.wide << 7 | (~first & 15) << 3 | 4 | c.prefix);
  tl_as_byte(&e->as, (zeros ? 0x80 : 0) | length << 5 |
                         (~(first >> 4) & 1) << 3 | mask);
  tl_as_byte(&e->as, c.opcode);
}

// The same of 16 registers, without masks: three bytes and the opcode. Wherever
// a piece has one of both forms, W is 0.
static void vex(tl_vector_emitter *e, tl_vector_code c, int bytes, int reg,
                int first, int base) {
  tl_as_byte(&e->as, 0xc4);
  tl_as_byte(&e->as,
             (~(reg >> 3) & 1) << 7 | 1 << 6 | (~(base >> 3) & 1) << 5 | c.map);
  tl_as_byte(&e->as, (~first & 15) << 3 | (bytes == 32) << 2 | c.prefix);
  tl_as_byte(&e->as, c.opcode);
}

void tl_vector_masked(tl_vector_emitter *e, tl_vector_code c, int bytes,
                      int reg, int first, int rm, int mask, bool zeros) {
  evex(e, c, bytes, reg, first, rm, rm >> 4, mask, zeros);
  tl_as_byte(&e->as, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

void tl_vector_three(tl_vector_emitter *e, tl_vector_code c, int bytes, int reg,
                     int first, int rm) {
  if (e->form->has_masks) {
    tl_vector_masked(e, c, bytes, reg, first, rm, 0, false);
    return;
  }
  vex(e, c, bytes, reg, first, rm);
  tl_as_byte(&e->as, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

// The displacement is a byte of 0.
void tl_vector_memory(tl_vector_emitter *e, tl_vector_code c, int bytes,
                      int reg, int base, int scale, int mask, bool zeros) {
  if (e->form->has_masks)
    evex(e, c, bytes, reg, 0, base, 0, mask, zeros);
  else
    vex(e, c, bytes, reg, 0, base);
  tl_as_byte(&e->as, 0x44 | (reg & 7) << 3);
  tl_as_byte(&e->as,
             __builtin_ctz((unsigned)scale) << 6 | TL_CX << 3 | (base & 7));
  tl_as_byte(&e->as, 0);
}

void tl_vector_byte(tl_vector_emitter *e, int byte) {
  tl_as_byte(&e->as, byte);
}

int tl_vector_take(tl_vector_emitter *e, uint32_t *free) {
  if (*free == 0) {
    e->failed = true;
    return 0;
  }
  int reg = __builtin_ctz(*free);
  *free &= *free - 1;
  return reg;
}

// --- Operations -------------------------------------------------------------

// By the size of an item: 1, 2, 4, 8 bytes; opcode 0: there is none.
typedef struct integer_code {
  uint8_t map[4], opcode[4];
} integer_code;

#define ALL(map) \
  { map, map, map, map }
#define OF(opcode) \
  { opcode, opcode, opcode, opcode }
// W is set for 8 bytes alone: narrower forms have it as a part of the opcode,
// or do not look at it. Sums and products wrap, as in the kernels.
static const integer_code integers[TL_OP_COUNT] = {
    [TL_OP_ADD] = {ALL(TL_M_0F), {0xfc, 0xfd, 0xfe, 0xd4}},
    [TL_OP_SUBTRACT] = {ALL(TL_M_0F), {0xf8, 0xf9, 0xfa, 0xfb}},
    [TL_OP_MULTIPLY] = {{0, TL_M_0F, TL_M_38, TL_M_38}, {0, 0xd5, 0x40, 0x40}},
    [TL_OP_SQUARE] = {{0, TL_M_0F, TL_M_38, TL_M_38}, {0, 0xd5, 0x40, 0x40}},
    [TL_OP_BITWISE_AND] = {ALL(TL_M_0F), OF(0xdb)},
    [TL_OP_BITWISE_OR] = {ALL(TL_M_0F), OF(0xeb)},
    [TL_OP_BITWISE_XOR] = {ALL(TL_M_0F), OF(0xef)},
    [TL_OP_ABS] = {ALL(TL_M_38), {0x1c, 0x1d, 0x1e, 0x1f}},
    [TL_OP_MINIMUM] = {{TL_M_38, TL_M_0F, TL_M_38, TL_M_38},
                       {0x38, 0xea, 0x39, 0x39}},
    [TL_OP_MAXIMUM] = {{TL_M_38, TL_M_0F, TL_M_38, TL_M_38},
                       {0x3c, 0xee, 0x3d, 0x3d}}};
// The smaller and the larger of unsigned ones.
static const integer_code unsigned_extremes[2] = {
    {{TL_M_0F, TL_M_38, TL_M_38, TL_M_38}, {0xda, 0x3a, 0x3b, 0x3b}},
    {{TL_M_0F, TL_M_38, TL_M_38, TL_M_38}, {0xde, 0x3e, 0x3f, 0x3f}}};
#undef ALL
#undef OF

// The instruction for integers, with opcodes of 0 where there is none.
static integer_code integer_of(tl_op op, tl_dtype dtype) {
  static const integer_code none = {{0}, {0}};
  if (!tl_vector_is_unsigned(dtype))
    return integers[op];
  return op == TL_OP_MINIMUM || op == TL_OP_MAXIMUM
             ? unsigned_extremes[op == TL_OP_MAXIMUM]
         : op == TL_OP_ABS ? none
                           : integers[op];
}

// The form of an instruction for the items of a dtype.
static tl_vector_code integer_at(tl_op op, tl_dtype dtype) {
  int size = __builtin_ctz((unsigned)tl_vector_size(dtype));
  integer_code c = integer_of(op, dtype);
  return (tl_vector_code){TL_P_66, c.map[size], c.opcode[size], size == 3};
}

// The opcode for floats of either width, of which the prefix tells; 0: none.
// Each rounds once, to nearest, as the kernels do; what would be several
// instructions, as exp, is none.
static const uint8_t float_opcodes[TL_OP_COUNT] = {
    [TL_OP_ADD] = 0x58,     [TL_OP_SUBTRACT] = 0x5c, [TL_OP_MULTIPLY] = 0x59,
    [TL_OP_SQUARE] = 0x59,  [TL_OP_DIVIDE] = 0x5e,   [TL_OP_MINIMUM] = 0x5d,
    [TL_OP_MAXIMUM] = 0x5f, [TL_OP_SQRT] = 0x51,     [TL_OP_NEGATIVE] = 0x57,
    [TL_OP_ABS] = 0x54};

const uint8_t tl_vector_joins[TL_OP_COUNT] = {
    [TL_OP_LOGICAL_AND] = TL_VECTOR_AND,
    [TL_OP_BITWISE_AND] = TL_VECTOR_AND,
    [TL_OP_LOGICAL_OR] = TL_VECTOR_OR,
    [TL_OP_BITWISE_OR] = TL_VECTOR_OR,
    [TL_OP_LOGICAL_XOR] = TL_VECTOR_XOR,
    [TL_OP_BITWISE_XOR] = TL_VECTOR_XOR,
    [TL_OP_LOGICAL_NOT] = TL_VECTOR_NOT,
    [TL_OP_BITWISE_INVERT] = TL_VECTOR_NOT};

// Logic is known of bools alone, as they are masks.
bool tl_piece_knows(tl_op op, tl_dtype dtype) {
  if (dtype == TL_BOOL)
    return tl_vector_joins[op] != 0;
  // float16 is computed as float32, which its kernels do.
  if (dtype > TL_FLOAT64 || dtype == TL_FLOAT16)
    return false;
  if (op == TL_OP_WHERE || tl_vector_compares(op))
    return true;
  if (tl_vector_is_float(dtype))
    return float_opcodes[op] != 0;
  return integer_at(op, dtype).opcode != 0;
}

// Bytes of a vector of items, of which the register may have more: 16 lanes of
// float32 are 64 bytes, and those of int16 beside them 32.
static int bytes_of(const tl_vector_emitter *e, tl_dtype dtype) {
  return e->lanes * tl_vector_size(dtype);
}

// Vector [to] of floats; [b] is not looked at for one operand. Signs are bits
// that are turned or cleared, as the kernels do it, NaN or not.
static void emit_float(tl_vector_emitter *e, const tl_piece_operation *o,
                       int to, int a, int b) {
  tl_dtype dtype = (tl_dtype)o->dtype;
  int bytes = bytes_of(e, dtype), width = tl_vector_width(dtype);
  tl_vector_code c = tl_vector_of_floats(1 << width, float_opcodes[o->op]);
  if (o->op == TL_OP_MINIMUM || o->op == TL_OP_MAXIMUM)
    e->form->pick_extreme(e, c, bytes, to, a, b);
  else if (o->op == TL_OP_SQRT)
    tl_vector_three(e, c, bytes, to, 0, a);
  else if (o->op == TL_OP_NEGATIVE)
    tl_vector_three(e, c, bytes, to, a, e->signs[width]);
  else if (o->op == TL_OP_ABS)
    tl_vector_three(e, c, bytes, to, a, e->rests[width]);
  else
    tl_vector_three(e, c, bytes, to, a, b);
}

void tl_vector_operation(tl_vector_emitter *e, const tl_piece_operation *o,
                         int to, const int *in) {
  tl_dtype dtype = (tl_dtype)o->dtype;
  tl_op op = (tl_op)o->op;
  if (dtype == TL_BOOL) {
    e->form->join(e, op, to, in[0], in[1]);
  } else if (tl_vector_compares(op)) {
    e->form->compare(e, o, to, in[0], in[1]);
  } else if (op == TL_OP_WHERE) {
    e->form->choose(e, tl_vector_size(dtype), to, in[0], in[1], in[2]);
  } else if (tl_vector_is_float(dtype)) {
    emit_float(e, o, to, in[0], in[1]);
  } else if (e->form->compute == NULL ||
             !e->form->compute(e, o, to, in[0], in[1])) {
    bool one = op == TL_OP_ABS;
    tl_vector_three(e, integer_at(op, dtype), bytes_of(e, dtype), to,
                    one ? 0 : in[0], one ? in[0] : in[1]);
  }
}

#endif
