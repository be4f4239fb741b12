// The AVX2 form of pieces; see emit_vector.h. Bools are vectors whose lanes are
// all ones or zeros, as wide as the items that they are about: all numbers of a
// piece have one width, and vectors are full. What is behind the last whole
// vector is computed item by item, one in all lanes.
//
// Built for size.
#include "vm/native/emit_vector.h"

#if TL_JIT_X64

enum { NBYTES = 32, HALF = 16 };

static const tl_vector_code load_all = {TL_P_F3, TL_M_0F, 0x6f, 0},
                            store_all = {TL_P_F3, TL_M_0F, 0x7f, 0},
                            equal_bits = TL_CODE(0F, 0x76),
                            and_bits = TL_CODE(0F, 0xdb),
                            or_bits = TL_CODE(0F, 0xeb),
                            xor_bits = TL_CODE(0F, 0xef);
// By the width of items; bytes have no sums here.
static const tl_vector_code differences[] = {TL_CODE(0F, 0xf8),
                                             TL_CODE(0F, 0xf9),
                                             TL_CODE(0F, 0xfa),
                                             TL_CODE(0F, 0xfb)},
                            equals[] = {TL_CODE(0F, 0x74), TL_CODE(0F, 0x75),
                                        TL_CODE(0F, 0x76), TL_CODE(38, 0x29)},
                            greaters[] = {TL_CODE(0F, 0x64), TL_CODE(0F, 0x65),
                                          TL_CODE(0F, 0x66), TL_CODE(38, 0x37)};

// to = a op b of whole vectors; [a] is 0 where there is one operand, and the
// digit of the opcode in [to] where a shift writes [a].
static void all(tl_vector_emitter *e, tl_vector_code c, int to, int a, int b) {
  tl_vector_three(e, c, NBYTES, to, a, b);
}

// Gives back a vector that tl_vector_take gave.
static void release(tl_vector_emitter *e, int room) {
  e->free |= 1u << room;
}

// --- Memory -----------------------------------------------------------------

// Bytes of 0 and 1 become lanes by being taken from 0: extended first, but for
// one item, whose byte is in all bytes.
static void load_bools(tl_vector_emitter *e, int reg, int base, int width) {
  static const tl_vector_code extend[] = {{TL_P_F3, TL_M_0F, 0x6f, 0},
                                          TL_CODE(38, 0x30),
                                          TL_CODE(38, 0x31),
                                          TL_CODE(38, 0x32)},
                              repeat = TL_CODE(38, 0x78);
  int zero = tl_vector_take(e, &e->free);
  tl_vector_memory(e, e->is_rest ? repeat : extend[width], NBYTES, reg, base, 1,
                   0, false);
  all(e, xor_bits, zero, zero, zero);
  all(e, differences[e->is_rest ? 0 : width], reg, zero, reg);
  release(e, zero);
}

// The lanes of a piece tell the width of its numbers.
static int width_of(const tl_vector_emitter *e) {
  return __builtin_ctz((unsigned)(NBYTES / e->lanes));
}

// Whole vectors lie in memory as they are read. Of the rest each item is
// repeated in all lanes, so that no lane computes with what is behind the end.
static void load_value(tl_vector_emitter *e, int value, tl_dtype dtype) {
  static const tl_vector_code repeats[] = {TL_CODE(38, 0x78), TL_CODE(38, 0x79),
                                           TL_CODE(38, 0x58),
                                           TL_CODE(38, 0x59)};
  int reg = tl_vector_take(e, &e->free), base = e->pointer[value];
  e->at[value] = (int8_t)reg;
  if (dtype == TL_BOOL)
    load_bools(e, reg, base, width_of(e));
  else
    tl_vector_memory(e, e->is_rest ? repeats[width_of(e)] : load_all, NBYTES,
                     reg, base, tl_vector_size(dtype), 0, false);
}

// The lowest item of a vector.
static void store_one(tl_vector_emitter *e, int reg, int base, int size) {
  static const tl_vector_code stores[] = {TL_CODE(3A, 0x14), TL_CODE(3A, 0x15),
                                          TL_CODE(0F, 0x7e), TL_CODE(0F, 0xd6)};
  tl_vector_memory(e, stores[__builtin_ctz((unsigned)size)], HALF, reg, base,
                   size, 0, false);
  if (size < 4)
    tl_vector_byte(e, 0);
}

// Lanes of [width] as bytes, in the lower part of [to]: both halves of the
// vector side by side, and then narrower ones, with their signs.
static void narrow(tl_vector_emitter *e, int to, int from, int width) {
  static const tl_vector_code upper = TL_CODE(3A, 0x39),
                              even = {TL_P_NONE, TL_M_0F, 0xc6, 0},
                              words = TL_CODE(0F, 0x6b),
                              bytes = TL_CODE(0F, 0x63);
  tl_vector_three(e, upper, NBYTES, from, 0, to);
  tl_vector_byte(e, 1);
  if (width == 3) {
    tl_vector_three(e, even, HALF, to, from, to);
    tl_vector_byte(e, 0x88);
    tl_vector_three(e, words, HALF, to, to, to);
  } else if (width == 2) {
    tl_vector_three(e, words, HALF, to, from, to);
  }
  tl_vector_three(e, bytes, HALF, to, width == 1 ? from : to, to);
}

// Bools are bytes of 0 and 1, the absolute values of lanes.
static void store_bools(tl_vector_emitter *e, int from, int base) {
  static const tl_vector_code absolute = TL_CODE(38, 0x1c),
                              four = TL_CODE(0F, 0x7e),
                              eight = TL_CODE(0F, 0xd6);
  int room = tl_vector_take(e, &e->free), width = width_of(e);
  bool narrows = width > 0 && !e->is_rest;
  if (narrows)
    narrow(e, room, from, width);
  all(e, absolute, room, 0, narrows ? room : from);
  if (e->is_rest)
    store_one(e, room, base, 1);
  else
    tl_vector_memory(e,
                     width == 3   ? four
                     : width == 2 ? eight
                                  : store_all,
                     width == 0 ? NBYTES : HALF, room, base, 1, 0, false);
  release(e, room);
}

// The value stays in its register. Of the rest, whose lanes are all equal, one
// item is written.
static void store_value(tl_vector_emitter *e, int value, tl_dtype dtype) {
  int reg = e->at[value], base = e->pointer[value];
  int size = tl_vector_size(dtype);
  if (e->is_mask[value])
    store_bools(e, reg, base);
  else if (e->is_rest)
    store_one(e, reg, base, size);
  else
    tl_vector_memory(e, store_all, NBYTES, reg, base, size, 0, false);
}

// --- Operations -------------------------------------------------------------

// [to] with all bits turned.
static void turn(tl_vector_emitter *e, int to, int from) {
  int room = tl_vector_take(e, &e->free);
  all(e, equal_bits, room, room, room);
  all(e, xor_bits, to, from, room);
  release(e, room);
}

// Whether a > b. There are instructions for signed numbers: of others, whose
// highest bits are turned, it is the same.
static void is_greater(tl_vector_emitter *e, tl_dtype dtype, int to, int a,
                       int b) {
  int width = tl_vector_width(dtype), sign = e->signs[width];
  if (!tl_vector_is_unsigned(dtype)) {
    all(e, greaters[width], to, a, b);
    return;
  }
  int x = tl_vector_take(e, &e->free), y = tl_vector_take(e, &e->free);
  all(e, xor_bits, x, a, sign);
  all(e, xor_bits, y, b, sign);
  all(e, greaters[width], to, x, y);
  release(e, x);
  release(e, y);
}

// Integers have "equal" and "greater" alone: the others swap the operands or
// turn the result. [to] may be an operand.
static void compare(tl_vector_emitter *e, const tl_piece_operation *o, int to,
                    int a, int b) {
  tl_dtype dtype = (tl_dtype)o->dtype;
  tl_op op = (tl_op)o->op;
  if (tl_vector_is_float(dtype)) {
    all(e, tl_vector_of_floats(tl_vector_size(dtype), 0xc2), to, a, b);
    tl_vector_byte(e, tl_vector_predicate(op));
    return;
  }
  if (op == TL_OP_EQUAL || op == TL_OP_NOT_EQUAL)
    all(e, equals[tl_vector_width(dtype)], to, a, b);
  else if (op == TL_OP_GREATER || op == TL_OP_LESS_EQUAL)
    is_greater(e, dtype, to, a, b);
  else
    is_greater(e, dtype, to, b, a);
  if (op == TL_OP_NOT_EQUAL || op == TL_OP_LESS_EQUAL ||
      op == TL_OP_GREATER_EQUAL)
    turn(e, to, to);
}

// Bytes of x where those of [by] have their highest bit, else of y.
static void choose(tl_vector_emitter *e, int size, int to, int by, int x,
                   int y) {
  static const tl_vector_code blend = TL_CODE(3A, 0x4c);
  (void)size;
  all(e, blend, to, y, x);
  tl_vector_byte(e, by << 4);
}

// Lanes are all ones or zeros, and stay so: any width of them will do.
static void join(tl_vector_emitter *e, tl_op op, int to, int a, int b) {
  const int how = tl_vector_joins[op];
  if (how == TL_VECTOR_NOT)
    turn(e, to, a);
  else
    all(e,
        how == TL_VECTOR_AND  ? and_bits
        : how == TL_VECTOR_OR ? or_bits
                              : xor_bits,
        to, a, b);
}

// As in the other form: where y is NaN, the processor gives x.
static void pick_extreme(tl_vector_emitter *e, tl_vector_code c, int bytes,
                         int to, int x, int y) {
  const tl_vector_code unordered = {c.prefix, TL_M_0F, 0xc2, 0};
  int by = tl_vector_take(e, &e->free);
  all(e, unordered, by, y, y);
  tl_vector_byte(e, 3);
  tl_vector_three(e, c, bytes, to, y, x);
  choose(e, 0, to, by, y, to);
  release(e, by);
}

// Items of 8 bytes by halves: both products of a lower and an upper half go
// into the upper one, where what is above them is lost.
static void multiply(tl_vector_emitter *e, int to, int a, int b) {
  static const tl_vector_code product = TL_CODE(0F, 0xf4),
                              sum = TL_CODE(0F, 0xd4),
                              shift = TL_CODE(0F, 0x73);
  int x = tl_vector_take(e, &e->free), y = tl_vector_take(e, &e->free);
  all(e, shift, 2, x, a);
  tl_vector_byte(e, 32);
  all(e, product, x, x, b);
  all(e, shift, 2, y, b);
  tl_vector_byte(e, 32);
  all(e, product, y, y, a);
  all(e, sum, x, x, y);
  all(e, shift, 6, x, x);
  tl_vector_byte(e, 32);
  all(e, product, to, a, b);
  all(e, sum, to, to, x);
  release(e, x);
  release(e, y);
}

// Items of 8 bytes alone lack instructions that narrower ones have.
static bool compute(tl_vector_emitter *e, const tl_piece_operation *o, int to,
                    int a, int b) {
  tl_op op = (tl_op)o->op;
  if (tl_vector_width((tl_dtype)o->dtype) < 3)
    return false;
  if (op == TL_OP_MULTIPLY || op == TL_OP_SQUARE) {
    multiply(e, to, a, b);
    return true;
  }
  if (op != TL_OP_ABS && op != TL_OP_MINIMUM && op != TL_OP_MAXIMUM)
    return false;
  int by = tl_vector_take(e, &e->free);
  if (op == TL_OP_ABS) {  // x less 0, or turned less -1
    all(e, xor_bits, by, by, by);
    all(e, greaters[3], by, by, a);
    all(e, xor_bits, to, a, by);
    all(e, differences[3], to, to, by);
  } else {
    is_greater(e, (tl_dtype)o->dtype, by, a, b);
    choose(e, 8, to, by, op == TL_OP_MAXIMUM ? a : b,
           op == TL_OP_MAXIMUM ? b : a);
  }
  release(e, by);
  return true;
}

const tl_vector_form tl_vector_256 = {.nbytes = NBYTES,
                                      .vectors = 16,
                                      .singles_most = 8,
                                      .load_value = load_value,
                                      .store_value = store_value,
                                      .compare = compare,
                                      .choose = choose,
                                      .join = join,
                                      .pick_extreme = pick_extreme,
                                      .compute = compute};

#endif
