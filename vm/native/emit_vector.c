// Pieces as AVX-512 code; see pieces.h.
//
//     piece(values in rdi, items in rsi):
//       addresses of the values that are walked to registers, singles to
//       vectors; rcx counts items
//       loop over whole vectors; then once more, what is read and written
//       masked by k7
//
// (x + y) * 2 of float64, where x is value 0, y is 2, 2 is 3, and the result 4:
//
//     mov rax, [rdi + 3 * size]     vbroadcastsd zmm31, [rax]
//     mov rdx, [rdi]                mov r8 and r9 likewise, of y and the result
//     xor ecx, ecx                  rax = rsi and -8, the items of whole
//     vectors
//   loop:
//     vmovdqu64 zmm0, [rdx + rcx * 8]
//     vmovdqu64 zmm1, [r8 + rcx * 8]
//     vaddpd zmm0, zmm0, zmm1       both operands are read for the last time
//     vmulpd zmm0, zmm0, zmm31
//     vmovdqu64 [r9 + rcx * 8], zmm0
//     add rcx, 8                    jump to loop while below rax
//   then, if rsi - rcx is not 0, k7 has so many bits, and the same once more
//   with loads that give 0 and stores that write nothing outside of k7
//
// Nothing is spilled and nothing is unrolled: vectors of one turn do not depend
// on the last turn's, so the processor overlaps turns by itself.
//
// All vectors have as many lanes as 64 bytes have of the widest dtype, so that
// a narrower one takes a part of its register. Bools are masks, in k1 to k6,
// and bytes in memory.
//
// Built for size.
#include "vm/native/pieces.h"

#if TL_JIT_X64

#include "vm/native/x64.h"

// [prefix] is EVEX's pp: none, 66, F3, F2; [map] 0f, 0f38, 0f3a.
enum { P_NONE, P_66, P_F3, P_F2 };
enum { M_0F = 1, M_38 = 2, M_3A = 3 };
enum { VECTORS = 32, MASKS = 6, TAIL = 7, SINGLES_MOST = 14 };
enum { FAILED = -1 };

// An instruction by its prefix, map, opcode and W. W tells 8 bytes from 4, or 2
// from 1; where it is a part of the opcode, which of two instructions it is.
typedef struct code {
  uint8_t prefix, map, opcode, wide;
} code;

// Values by the plan's numbers. -1: none.
typedef struct emitter {
  tl_assembler as;
  const tl_vector_piece *piece;
  int lanes;
  bool is_masked;  // the last vector is written
  bool failed;
  uint32_t free;        // vectors, a bit each
  uint32_t free_masks;  // likewise, from k1 on
  // The register with the address of what is walked, and the vector of what is
  // one item: for the whole piece.
  int8_t pointer[TL_PLAN_VALUES], single[TL_PLAN_VALUES];
  // Where a value is now, a vector or a mask; and the operation that reads it
  // last, behind all of them if it is written.
  int8_t at[TL_PLAN_VALUES];
  bool is_mask[TL_PLAN_VALUES];
  int8_t last[TL_PLAN_VALUES];
  // Constants: signs and all but signs, by width (float32, float64); bytes of 1
  // of bools.
  int8_t signs[2], rests[2], ones;
} emitter;

// Registers for addresses, in the order in which they are given out: those that
// the caller keeps come late, as they have to be saved, and rdi last, as it
// leads to all values. rax, rcx and rsi count.
static const int8_t addresses[TL_PIECE_VALUES] = {
    TL_DX, TL_R8,  TL_R9,  TL_R10, TL_R11, TL_BX,
    TL_BP, TL_R12, TL_R13, TL_R14, TL_R15, TL_DI};

// --- Encoding ---------------------------------------------------------------

// The four bytes before modrm, and the opcode. [bytes] of the vector say its
// length; [mask] 0: none; with [zeros] lanes outside of it are 0. Registers
// have five bits, which stand inverted in these bytes but for the three that
// modrm has: the fourth of reg, of the index or rm's fifth ([x]), of rm, and
// the fifth of reg; the four lower ones of the first operand, and its fifth
// (Intel's manual, volume 2, "EVEX prefix").
static void evex(emitter *e, code c, int bytes, int reg, int first, int base,
                 int x, int mask, bool zeros) {
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

// reg = first op rm, all registers. Lanes outside of [mask] keep what reg had,
// or with [zeros] become 0; 0 is no mask.
static void three(emitter *e, code c, int bytes, int reg, int first, int rm,
                  int mask, bool zeros) {
  evex(e, c, bytes, reg, first, rm, rm >> 4, mask, zeros);
  tl_as_byte(&e->as, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

// The operand is [base + rcx * scale]; the displacement is a byte of 0.
static void with_memory(emitter *e, code c, int bytes, int reg, int base,
                        int scale, int mask, bool zeros) {
  evex(e, c, bytes, reg, 0, base, 0, mask, zeros);
  tl_as_byte(&e->as, 0x44 | (reg & 7) << 3);
  tl_as_byte(&e->as,
             __builtin_ctz((unsigned)scale) << 6 | TL_CX << 3 | (base & 7));
  tl_as_byte(&e->as, 0);
}

// Between masks of 64 lanes, in VEX's form: reg = first op rm. Without a first,
// which is below 0, reg = op rm. Lanes that the piece does not have may get any
// bit, as no store looks at them.
static void masks(emitter *e, int opcode, int reg, int first, int rm) {
  bool two = first < 0;  // knot
  tl_as_byte(&e->as, 0xc4);
  tl_as_byte(&e->as, 0xe1);
  tl_as_byte(&e->as, 0x80 | (two ? 15 : ~first & 15) << 3 | (two ? 0 : 4));
  tl_as_byte(&e->as, opcode);
  tl_as_byte(&e->as, 0xc0 | reg << 3 | rm);
}

// --- Registers --------------------------------------------------------------

// The lowest free register, taken. With none, the piece fails: there is no
// spilling, since the caller then tries a shorter one.
static int take(emitter *e, uint32_t *free) {
  if (*free == 0) {
    e->failed = true;
    return 0;
  }
  int reg = __builtin_ctz(*free);
  *free &= *free - 1;
  return reg;
}

// Bytes of an item.
static int size_of(tl_dtype dtype) {
  return (int)tl_itemsize(dtype);
}

// Bytes of a vector of items, of which the register may have more: 16 lanes of
// float32 are 64 bytes, and those of int16 beside them 32.
static int bytes_of(const emitter *e, tl_dtype dtype) {
  return e->lanes * size_of(dtype);
}

static bool is_float(tl_dtype dtype) {
  return dtype == TL_FLOAT64 || dtype == TL_FLOAT32;
}

// vmovdqu of items of [size] bytes, the form that can be masked by item.
static code mover(int size, bool stores) {
  code c = {size >= 4 ? P_F3 : P_F2, M_0F, stores ? 0x7f : 0x6f,
            size == 8 || size == 2};
  return c;
}

// A value that an operation reads as [dtype], in a register: a single's, the
// one it was made in or read to before, or a new one that is filled from memory
// here. The piece fails where there is none, or where a mask would be read as
// numbers.
static int read(emitter *e, int value, tl_dtype dtype, bool single) {
  if (single)
    return e->single[value];
  if (e->at[value] >= 0) {
    e->failed |= e->is_mask[value] != (dtype == TL_BOOL);
    return e->at[value];
  }
  int size = size_of(dtype), mask = e->is_masked ? TAIL : 0;
  if (dtype != TL_BOOL) {
    e->at[value] = (int8_t)take(e, &e->free);
    with_memory(e, mover(size, false), e->lanes * size, e->at[value],
                e->pointer[value], size, mask, mask != 0);
    return e->at[value];
  }
  int room = take(e, &e->free);  // for the bytes
  const code eight = {P_F3, M_0F, 0x7e, 1}, test = {P_66, M_38, 0x26, 0};
  with_memory(e, e->lanes == 8 && mask == 0 ? eight : mover(1, false),
              e->lanes < 16 ? 16 : e->lanes, room, e->pointer[value], 1, mask,
              mask != 0);
  e->free |= 1u << room;
  e->is_mask[value] = true;
  e->at[value] = (int8_t)take(e, &e->free_masks);
  three(e, test, e->lanes < 16 ? 16 : e->lanes, e->at[value], room, room, 0,
        false);
  return e->at[value];
}

// The register of a value is free again. Singles keep theirs.
static void release(emitter *e, int value) {
  if (e->at[value] < 0)
    return;
  *(e->is_mask[value] ? &e->free_masks : &e->free) |= 1u << e->at[value];
}

// --- Operations -------------------------------------------------------------

// By the size of an item: 1, 2, 4, 8 bytes; opcode 0: there is none.
typedef struct integer_code {
  uint8_t map[4], opcode[4];
} integer_code;

#define ALL(map) \
  { map, map, map, map }
// W is set for 8 bytes alone: narrower forms have it as a part of the opcode,
// or do not look at it.
static const integer_code sums = {ALL(M_0F), {0xfc, 0xfd, 0xfe, 0xd4}};
static const integer_code differences = {ALL(M_0F), {0xf8, 0xf9, 0xfa, 0xfb}};
static const integer_code products = {{0, M_0F, M_38, M_38},
                                      {0, 0xd5, 0x40, 0x40}};
static const integer_code ands = {ALL(M_0F), {0xdb, 0xdb, 0xdb, 0xdb}};
static const integer_code ors = {ALL(M_0F), {0xeb, 0xeb, 0xeb, 0xeb}};
static const integer_code xors = {ALL(M_0F), {0xef, 0xef, 0xef, 0xef}};
static const integer_code absolutes = {ALL(M_38), {0x1c, 0x1d, 0x1e, 0x1f}};
static const integer_code extremes[2][2] = {
    {{{M_38, M_0F, M_38, M_38}, {0x38, 0xea, 0x39, 0x39}},
     {{M_38, M_0F, M_38, M_38}, {0x3c, 0xee, 0x3d, 0x3d}}},
    {{{M_0F, M_38, M_38, M_38}, {0xda, 0x3a, 0x3b, 0x3b}},
     {{M_0F, M_38, M_38, M_38}, {0xde, 0x3e, 0x3f, 0x3f}}}};
#undef ALL

// The unsigned dtypes stand in one row in the table of dtypes.
static bool is_unsigned(tl_dtype dtype) {
  return dtype >= TL_UINT8 && dtype <= TL_UINT64;
}

// The instruction for integers; NULL: there is none. Sums and products wrap, as
// in the kernels.
static const integer_code *integer_of(tl_op op, tl_dtype dtype) {
  switch (op) {
    case TL_OP_ADD:
      return &sums;
    case TL_OP_SUBTRACT:
      return &differences;
    case TL_OP_MULTIPLY:
    case TL_OP_SQUARE:
      return &products;
    case TL_OP_BITWISE_AND:
      return &ands;
    case TL_OP_BITWISE_OR:
      return &ors;
    case TL_OP_BITWISE_XOR:
      return &xors;
    case TL_OP_MINIMUM:
    case TL_OP_MAXIMUM:
      return &extremes[is_unsigned(dtype)][op == TL_OP_MAXIMUM];
    case TL_OP_ABS:
      return is_unsigned(dtype) ? NULL : &absolutes;
    default:
      return NULL;
  }
}

// The form of an instruction for the items of a dtype.
static code integer_at(const integer_code *c, tl_dtype dtype) {
  int size = __builtin_ctz((unsigned)size_of(dtype));
  return (code){P_66, c->map[size], c->opcode[size], size == 3};
}

// The opcode for floats of either width, of which the prefix tells; 0: none.
// Each rounds once, to nearest, as the kernels do; what would be several
// instructions, as exp, is none.
static int float_opcode(tl_op op) {
  switch (op) {
    case TL_OP_ADD:
      return 0x58;
    case TL_OP_SUBTRACT:
      return 0x5c;
    case TL_OP_MULTIPLY:
    case TL_OP_SQUARE:
      return 0x59;
    case TL_OP_DIVIDE:
      return 0x5e;
    case TL_OP_MINIMUM:
      return 0x5d;
    case TL_OP_MAXIMUM:
      return 0x5f;
    case TL_OP_SQRT:
      return 0x51;
    case TL_OP_NEGATIVE:
      return 0x57;
    case TL_OP_ABS:
      return 0x54;
    default:
      return 0;
  }
}

// The predicates of a comparison: of floats, NaN as C has it; of integers.
static const struct {
  uint8_t of_floats, of_integers;
} predicates[] = {[TL_OP_EQUAL - TL_OP_EQUAL] = {0, 0},
                  [TL_OP_NOT_EQUAL - TL_OP_EQUAL] = {4, 4},
                  [TL_OP_LESS - TL_OP_EQUAL] = {0x11, 1},
                  [TL_OP_LESS_EQUAL - TL_OP_EQUAL] = {0x12, 2},
                  [TL_OP_GREATER - TL_OP_EQUAL] = {0x1e, 6},
                  [TL_OP_GREATER_EQUAL - TL_OP_EQUAL] = {0x1d, 5}};

// Whether it gives a bool of two numbers. The six stand in one row.
static bool compares(tl_op op) {
  return op >= TL_OP_EQUAL && op <= TL_OP_GREATER_EQUAL;
}

// Of masks: kand, kor, kxor, knot; 0: none.
static int mask_opcode(tl_op op) {
  switch (op) {
    case TL_OP_LOGICAL_AND:
    case TL_OP_BITWISE_AND:
      return 0x41;
    case TL_OP_LOGICAL_OR:
    case TL_OP_BITWISE_OR:
      return 0x45;
    case TL_OP_LOGICAL_XOR:
    case TL_OP_BITWISE_XOR:
      return 0x47;
    case TL_OP_LOGICAL_NOT:
    case TL_OP_BITWISE_INVERT:
      return 0x44;
    default:
      return 0;
  }
}

// Logic is known of bools alone, as they are masks.
bool tl_piece_knows(tl_op op, tl_dtype dtype) {
  if (dtype == TL_BOOL)
    return mask_opcode(op) != 0;
  // float16 is computed as float32, which its kernels do.
  if (dtype > TL_FLOAT64 || dtype == TL_FLOAT16)
    return false;
  if (op == TL_OP_WHERE || compares(op))
    return true;
  if (is_float(dtype))
    return float_opcode(op) != 0;
  const integer_code *c = integer_of(op, dtype);
  return c != NULL && integer_at(c, dtype).opcode != 0;
}

// Mask [to] of a comparison of vectors [a] and [b].
static void emit_comparison(emitter *e, const tl_piece_operation *o, int to,
                            int a, int b) {
  tl_dtype dtype = o->dtype;
  int size = size_of(dtype), k = o->op - TL_OP_EQUAL;
  code c =
      is_float(dtype)
          ? (code){size == 8 ? P_66 : P_NONE, M_0F, 0xc2, size == 8}
          : (code){P_66, M_3A,
                   (uint8_t)((size < 4 ? 0x3f : 0x1f) - is_unsigned(dtype)),
                   size == 8 || size == 2};
  three(e, c, bytes_of(e, dtype), to, a, b, 0, false);
  tl_as_byte(&e->as, is_float(dtype) ? predicates[k].of_floats
                                     : predicates[k].of_integers);
}

// The processor's maximum of y and x gives x where they are equal or one is
// NaN; where y is, that is what the result has to be.
static void emit_extreme(emitter *e, code c, int bytes, int to, int x, int y) {
  int mask = take(e, &e->free_masks);
  const code unordered = {c.prefix, M_0F, 0xc2, c.wide};
  const code move = {c.prefix, M_0F, 0x28, c.wide};
  three(e, unordered, bytes, mask, y, y, 0, false);
  tl_as_byte(&e->as, 3);
  three(e, c, bytes, to, y, x, 0, false);
  three(e, move, bytes, to, 0, y, mask, false);
  e->free_masks |= 1u << mask;
}

// Vector [to] of floats; [b] is not looked at for one operand. Signs are bits
// that are turned or cleared, as the kernels do it, NaN or not.
static void emit_float(emitter *e, const tl_piece_operation *o, int to, int a,
                       int b) {
  int size = size_of(o->dtype), bytes = bytes_of(e, o->dtype);
  code c = {size == 8 ? P_66 : P_NONE, M_0F, (uint8_t)float_opcode(o->op),
            size == 8};
  if (o->op == TL_OP_MINIMUM || o->op == TL_OP_MAXIMUM)
    emit_extreme(e, c, bytes, to, a, b);
  else if (o->op == TL_OP_SQRT)
    three(e, c, bytes, to, 0, a, 0, false);
  else if (o->op == TL_OP_NEGATIVE)
    three(e, c, bytes, to, a, e->signs[size == 8], 0, false);
  else if (o->op == TL_OP_ABS)
    three(e, c, bytes, to, a, e->rests[size == 8], 0, false);
  else
    three(e, c, bytes, to, a, b, 0, false);
}

// Vector [to] of what gives no bools. A choice blends by its mask: [in] begins
// with it.
static void emit_arithmetic(emitter *e, const tl_piece_operation *o, int to,
                            const int *in) {
  int bytes = bytes_of(e, o->dtype), size = size_of(o->dtype);
  if (o->op == TL_OP_WHERE) {
    const code blend = {P_66, M_38, size >= 4 ? 0x64 : 0x66,
                        size == 8 || size == 2};
    three(e, blend, bytes, to, in[2], in[1], in[0], false);
  } else if (is_float(o->dtype)) {
    emit_float(e, o, to, in[0], in[1]);
  } else {
    code c = integer_at(integer_of(o->op, o->dtype), o->dtype);
    if (o->op == TL_OP_ABS)
      three(e, c, bytes, to, 0, in[0], 0, false);
    else
      three(e, c, bytes, to, in[0], in[1], 0, false);
  }
}

// Operands that are read here for the last time give their registers first, so
// that the result may have one of them. The result of a maximum is written
// before its operands have been read.
static void emit_operation(emitter *e, int i) {
  const tl_piece_operation *o = &e->piece->operations[i];
  int arity = tl_ops[o->op].arity, in[3] = {0, 0, 0};
  bool frees = o->op != TL_OP_MINIMUM && o->op != TL_OP_MAXIMUM;
  for (int k = 0; k < arity; k++) {
    tl_dtype dtype = o->op == TL_OP_WHERE && k == 0 ? TL_BOOL : o->dtype;
    in[k] = read(e, o->in[k], dtype, (o->singles >> k & 1) != 0);
  }
  if (o->op == TL_OP_SQUARE)
    in[1] = in[0];
  bool is_mask = compares(o->op) || o->dtype == TL_BOOL;
  int to = frees ? FAILED : take(e, &e->free);
  for (int k = 0; k < arity; k++) {
    bool again = false;
    for (int j = 0; j < k; j++)
      again |= o->in[j] == o->in[k] && (o->singles >> j & 1) == 0;
    if ((o->singles >> k & 1) == 0 && !again && e->last[o->in[k]] == i)
      release(e, o->in[k]);
  }
  if (to == FAILED)
    to = take(e, is_mask ? &e->free_masks : &e->free);
  e->at[o->out] = (int8_t)to;
  e->is_mask[o->out] = is_mask;
  if (e->failed)
    return;
  if (o->dtype == TL_BOOL)
    masks(e, mask_opcode(o->op), to, arity == 1 ? -1 : in[0],
          arity == 1 ? in[0] : in[1]);
  else if (is_mask)
    emit_comparison(e, o, to, in[0], in[1]);
  else
    emit_arithmetic(e, o, to, in);
}

// A mask as bytes of 0 and 1, to the value's place. [mask] is the tail's in the
// last vector, and 0 before. It needs one vector more for a moment, and the
// piece fails where none is free.
static void store_mask(emitter *e, int value, int mask) {
  int room = take(e, &e->free), bytes = e->lanes < 16 ? 16 : e->lanes;
  const code eight = {P_66, M_0F, 0xd6, 1};
  three(e, mover(1, false), bytes, room, 0, e->ones, e->at[value], true);
  with_memory(e, e->lanes == 8 && mask == 0 ? eight : mover(1, true), bytes,
              room, e->pointer[value], 1, mask, false);
  e->free |= 1u << room;
}

// One turn of the loop: all operations on a vector of each value, in registers.
// Values are written behind all reads, as memory may be an operand's. No
// register stays taken from one turn to the next but those of singles and
// constants.
static void emit_body(emitter *e) {
  uint32_t free = e->free, free_masks = e->free_masks;
  memset(e->at, -1, sizeof e->at);
  for (int i = 0; i < e->piece->count; i++) emit_operation(e, i);
  for (int i = 0; i < e->piece->count; i++) {
    const tl_piece_operation *o = &e->piece->operations[i];
    int mask = e->is_masked ? TAIL : 0, size = size_of(o->dtype);
    if (!o->is_stored || e->failed)
      continue;
    if (e->is_mask[o->out])
      store_mask(e, o->out, mask);
    else
      with_memory(e, mover(size, true), e->lanes * size, e->at[o->out],
                  e->pointer[o->out], size, mask, false);
  }
  e->free = free;
  e->free_masks = free_masks;
}

// --- The whole --------------------------------------------------------------

// The address of a value: the first word of its record.
static void load_address(emitter *e, int reg, int value) {
  _Static_assert(offsetof(tl_plan_value, at) == 0, "read by machine code");
  tl_x64_rm(&e->as, TL_X64_W, 0x8b, reg, TL_DI,
            value * (int)sizeof(tl_plan_value));
}

// A register for the whole piece, from the upper end; so many at most that the
// operations keep enough of them.
static int add_single(emitter *e) {
  for (int reg = VECTORS - 1; reg >= VECTORS - SINGLES_MOST; reg--) {
    if ((e->free >> reg & 1) != 0) {
      e->free &= ~(1u << reg);
      return reg;
    }
  }
  e->failed = true;
  return 0;
}

// One item in all lanes, whichever of the widths it has; once for all of its
// operands, as a value has one dtype. rcx is 0 here. Choices by one bool for
// all items have no vector: the piece fails, and a kernel does them.
static void open_single(emitter *e, int value, tl_dtype dtype) {
  static const code repeats[] = {{P_66, M_38, 0x78, 0},
                                 {P_66, M_38, 0x79, 0},
                                 {P_66, M_38, 0x58, 0},
                                 {P_66, M_38, 0x59, 1}};
  if (e->single[value] >= 0)
    return;
  e->failed |= dtype == TL_BOOL;
  e->single[value] = (int8_t)add_single(e);
  load_address(e, TL_AX, value);
  with_memory(e, repeats[__builtin_ctz((unsigned)size_of(dtype))], 64,
              e->single[value], TL_AX, 1, 0, false);
}

// All bits of items of [size] bytes, shifted by [count] within each item:
// [digit] 2 to the right, 6 to the left. Returns the vector, which is kept for
// the whole piece.
static int open_bits(emitter *e, int size, int digit, int count) {
  const code fill = {P_66, M_3A, 0x25, 0};
  const code shift = {P_66, M_0F, size == 8 ? 0x73 : 0x72, size == 8};
  int reg = add_single(e);
  three(e, fill, 64, reg, reg, reg, 0, false);
  tl_as_byte(&e->as, 0xff);
  three(e, shift, 64, digit, reg, reg, 0, false);
  tl_as_byte(&e->as, count);
  return reg;
}

// What operations need besides their operands: bytes of 1 to make bools of
// masks, the sign of floats and all bits but it.
static void open_constants(emitter *e) {
  const code absolute = {P_66, M_38, 0x1c, 0}, fill = {P_66, M_3A, 0x25, 0};
  for (int i = 0; i < e->piece->count; i++) {
    const tl_piece_operation *o = &e->piece->operations[i];
    int size = size_of(o->dtype), wide = size == 8;
    bool is_mask = compares(o->op) || o->dtype == TL_BOOL;
    if (is_mask && o->is_stored && e->ones < 0) {
      e->ones = (int8_t)add_single(e);
      three(e, fill, 64, e->ones, e->ones, e->ones, 0, false);
      tl_as_byte(&e->as, 0xff);
      three(e, absolute, 64, e->ones, 0, e->ones, 0, false);
    }
    if (!is_float(o->dtype))
      continue;
    if (o->op == TL_OP_NEGATIVE && e->signs[wide] < 0)
      e->signs[wide] = (int8_t)open_bits(e, size, 6, 8 * size - 1);
    if (o->op == TL_OP_ABS && e->rests[wide] < 0)
      e->rests[wide] = (int8_t)open_bits(e, size, 2, 1);
  }
}

// Registers for what is read and written, and where values are read last.
// Returns how many addresses there are. A value that is made in the piece has
// one only if it is written.
static int open_values(emitter *e) {
  int count = 0;
  bool made[TL_PLAN_VALUES] = {false};
  for (int i = 0; i < e->piece->count; i++) {
    const tl_piece_operation *o = &e->piece->operations[i];
    for (int k = 0; k <= tl_ops[o->op].arity; k++) {
      bool is_out = k == tl_ops[o->op].arity;
      int value = is_out ? o->out : o->in[k];
      if (!is_out && (o->singles >> k & 1) != 0) {
        continue;
      } else if (!is_out) {
        e->last[value] = (int8_t)i;
      } else {
        made[value] = true;
        e->last[value] = o->is_stored ? TL_PIECE_OPERATIONS : (int8_t)i;
      }
      if (e->pointer[value] >= 0 || (made[value] && !(is_out && o->is_stored)))
        continue;
      if (count == TL_PIECE_VALUES) {
        e->failed = true;
        return count;
      }
      e->pointer[value] = addresses[count++];
    }
  }
  for (int i = 0; i < e->piece->count; i++) {
    const tl_piece_operation *o = &e->piece->operations[i];
    if (o->is_stored)
      e->last[o->out] = TL_PIECE_OPERATIONS;
  }
  return count;
}

// Pushes those of the first [count] addresses that the caller keeps, or with
// [back] pops them in the opposite order. The stack is of no use otherwise, so
// that its alignment does not matter.
static void save(emitter *e, int count, bool back) {
  for (int i = 0; i < count; i++) {
    int reg = addresses[back ? count - 1 - i : i];
    if (reg == TL_BX || reg == TL_BP || reg >= TL_R12)
      tl_x64_open(&e->as, 0, (back ? 0x58 : 0x50) | (reg & 7), 0, 0, reg);
  }
}

// Appends bytes that are the same in each piece.
static void put(emitter *e, const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) tl_as_byte(&e->as, bytes[i]);
}

// A jump whose target is [to], or set by land where that is not known yet.
// Returns the place behind it, from which its 32 bits count.
static uint32_t jump_if(emitter *e, int condition, uint32_t to) {
  tl_as_byte(&e->as, 0x0f);
  tl_as_byte(&e->as, 0x80 | condition);
  tl_as_word(&e->as, to - (e->as.size + 4));
  return e->as.size;
}

// The jump that ends at [from] goes here. Where memory for the code was refused
// its bytes may not be there, and nothing is written.
static void land(emitter *e, uint32_t from) {
  uint32_t distance = e->as.size - from;
  if (!e->as.is_full)
    memcpy(e->as.bytes + from - 4, &distance, sizeof distance);
}

// Whole vectors, rcx up to what rax has of them; then the items that are left
// of rsi, as many as k7 has bits.
static void emit_loop(emitter *e) {
  tl_assembler *as = &e->as;
  static const uint8_t bits[] = {0xc4, 0xe2, 0xc8, 0xf5, 0xc0,   // bzhi
                                 0xc4, 0xe1, 0xfb, 0x92, 0xf8};  // kmovq
  tl_x64_rr(as, 0, 0x31, TL_CX, TL_CX);
  tl_x64_move(as, TL_AX, TL_SI);
  tl_x64_ri(as, 4, TL_AX, -e->lanes);
  uint32_t none = jump_if(e, TL_CC_E, 0), head = as->size;
  emit_body(e);
  tl_x64_ri(as, 0, TL_CX, e->lanes);
  tl_x64_rr(as, TL_X64_W, 0x3b, TL_CX, TL_AX);
  jump_if(e, TL_CC_B, head);
  land(e, none);
  tl_x64_rr(as, TL_X64_W, 0x2b, TL_SI, TL_CX);
  uint32_t done = jump_if(e, TL_CC_E, 0);
  tl_x64_constant(as, TL_AX, -1);
  put(e, bits, sizeof bits);
  e->is_masked = true;
  emit_body(e);
  land(e, done);
}

// Lanes: as many as the widest dtype has in 64 bytes; parts of fewer than 16
// bytes have no whole register, but for bools.
static int find_lanes(const tl_vector_piece *p) {
  int widest = 1, narrowest = 8;
  for (int i = 0; i < p->count; i++) {
    int size = size_of(p->operations[i].dtype);
    if (size > widest)
      widest = size;
    if (p->operations[i].dtype != TL_BOOL && size < narrowest)
      narrowest = size;
  }
  int lanes = 64 / widest;
  return lanes * narrowest < 16 ? 0 : lanes;
}

// One item of each operand that is one, in all lanes of a register.
static void open_singles(emitter *e) {
  tl_x64_rr(&e->as, 0, 0x31, TL_CX, TL_CX);  // the index of loads
  for (int i = 0; i < e->piece->count; i++) {
    const tl_piece_operation *o = &e->piece->operations[i];
    for (int k = 0; k < tl_ops[o->op].arity; k++) {
      bool is_choice = o->op == TL_OP_WHERE && k == 0;
      if ((o->singles >> k & 1) != 0)
        open_single(e, o->in[k], is_choice ? TL_BOOL : o->dtype);
    }
  }
}

// The addresses of what is walked; rdi, which leads to them, comes last.
static void load_addresses(emitter *e) {
  int last = -1;
  for (int v = 0; v < TL_PLAN_VALUES; v++) {
    if (e->pointer[v] == TL_DI)
      last = v;
    else if (e->pointer[v] >= 0)
      load_address(e, e->pointer[v], v);
  }
  if (last >= 0)
    load_address(e, TL_DI, last);
}

// The emitter has a copy of the assembler, which is given back whatever came of
// it: the caller frees its bytes. Values get their registers before the first
// byte, so that what needs too many addresses writes nothing.
bool tl_piece_emit(const tl_vector_piece *piece, tl_assembler *as) {
  static const uint8_t vzeroupper[] = {0xc5, 0xf8, 0x77};
  emitter e = {.as = *as, .piece = piece, .free = UINT32_MAX, .ones = -1};
  e.free_masks = (2u << MASKS) - 2;
  e.lanes = find_lanes(piece);
  memset(e.signs, -1, sizeof e.signs);
  memset(e.rests, -1, sizeof e.rests);
  memset(e.pointer, -1, sizeof e.pointer);
  memset(e.single, -1, sizeof e.single);
  int count = open_values(&e);
  if (e.failed || e.lanes == 0)
    return false;
  save(&e, count, false);
  open_singles(&e);
  open_constants(&e);
  load_addresses(&e);
  emit_loop(&e);
  put(&e, vzeroupper, sizeof vzeroupper);
  save(&e, count, true);
  tl_as_byte(&e.as, 0xc3);
  *as = e.as;
  return !e.failed;
}

#endif
