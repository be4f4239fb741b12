// The AVX-512 form of pieces; see emit_vector.h. Bools are masks, in k1 to k6,
// and bytes in memory. The last vector is masked by k7, in loads that give 0
// and in stores that write nothing outside of it.
//
// Built for size.
#include "vm/native/emit_vector.h"

#if TL_JIT_X64

enum { TAIL = 7 };

// vmovdqu of items of [size] bytes, the form that can be masked by item.
static tl_vector_code mover(int size, bool stores) {
  return (tl_vector_code){size >= 4 ? TL_P_F3 : TL_P_F2, TL_M_0F,
                          stores ? 0x7f : 0x6f, size == 8 || size == 2};
}

// The mask of loads and stores; 0: none, in whole vectors.
static int mask_of(const tl_vector_emitter *e) {
  return e->is_rest ? TAIL : 0;
}

// Bytes of the register that the bytes of bools are in.
static int bytes_of_bools(const tl_vector_emitter *e) {
  return e->lanes < 16 ? 16 : e->lanes;
}

// Bools go through a vector, which is free again.
static void load_value(tl_vector_emitter *e, int value, tl_dtype dtype) {
  static const tl_vector_code eight = {TL_P_F3, TL_M_0F, 0x7e, 1},
                              test = TL_CODE(38, 0x26);
  int size = tl_vector_size(dtype), mask = mask_of(e);
  int room = tl_vector_take(e, &e->free);
  if (dtype != TL_BOOL) {
    e->at[value] = (int8_t)room;
    tl_vector_memory(e, mover(size, false), e->lanes * size, room,
                     e->pointer[value], size, mask, mask != 0);
    return;
  }
  tl_vector_memory(e, e->lanes == 8 && mask == 0 ? eight : mover(1, false),
                   bytes_of_bools(e), room, e->pointer[value], 1, mask,
                   mask != 0);
  e->free |= 1u << room;
  e->at[value] = (int8_t)tl_vector_take(e, &e->free_masks);
  tl_vector_three(e, test, bytes_of_bools(e), e->at[value], room, room);
}

// Bools as bytes of 0 and 1, for which it needs one vector more for a moment.
static void store_value(tl_vector_emitter *e, int value, tl_dtype dtype) {
  static const tl_vector_code eight = {TL_P_66, TL_M_0F, 0xd6, 1};
  int size = tl_vector_size(dtype), mask = mask_of(e);
  if (!e->is_mask[value]) {
    tl_vector_memory(e, mover(size, true), e->lanes * size, e->at[value],
                     e->pointer[value], size, mask, false);
    return;
  }
  int room = tl_vector_take(e, &e->free);
  tl_vector_masked(e, mover(1, false), bytes_of_bools(e), room, 0, e->ones,
                   e->at[value], true);
  tl_vector_memory(e, e->lanes == 8 && mask == 0 ? eight : mover(1, true),
                   bytes_of_bools(e), room, e->pointer[value], 1, mask, false);
  e->free |= 1u << room;
}

// To mask [to]: instructions for integers have a predicate, as those for floats
// have, of bytes and words by other opcodes.
static void compare(tl_vector_emitter *e, const tl_piece_operation *o, int to,
                    int a, int b) {
  static const uint8_t of_integers[] = {
      [TL_OP_EQUAL - TL_OP_EQUAL] = 0,
      [TL_OP_NOT_EQUAL - TL_OP_EQUAL] = 4,
      [TL_OP_LESS - TL_OP_EQUAL] = 1,
      [TL_OP_LESS_EQUAL - TL_OP_EQUAL] = 2,
      [TL_OP_GREATER - TL_OP_EQUAL] = 6,
      [TL_OP_GREATER_EQUAL - TL_OP_EQUAL] = 5};
  tl_dtype dtype = (tl_dtype)o->dtype;
  int size = tl_vector_size(dtype);
  bool is_float = tl_vector_is_float(dtype);
  int opcode = (size < 4 ? 0x3f : 0x1f) - tl_vector_is_unsigned(dtype);
  tl_vector_code c = is_float
                         ? tl_vector_of_floats(size, 0xc2)
                         : (tl_vector_code){TL_P_66, TL_M_3A, (uint8_t)opcode,
                                            size == 8 || size == 2};
  tl_vector_three(e, c, e->lanes * size, to, a, b);
  tl_vector_byte(e, is_float ? tl_vector_predicate((tl_op)o->op)
                             : of_integers[o->op - TL_OP_EQUAL]);
}

// The lanes of [x] where mask [by] is set, of [y] elsewhere.
static void choose(tl_vector_emitter *e, int size, int to, int by, int x,
                   int y) {
  const tl_vector_code blend = {TL_P_66, TL_M_38, size >= 4 ? 0x64 : 0x66,
                                size == 8 || size == 2};
  tl_vector_masked(e, blend, e->lanes * size, to, y, x, by, false);
}

// kand, kor, kxor and knot of 64 lanes, in VEX's form. Lanes that the piece
// does not have may get any bit, as no store looks at them.
static void join(tl_vector_emitter *e, tl_op op, int to, int a, int b) {
  bool two = tl_ops[op].arity == 2;
  tl_vector_byte(e, 0xc4);
  tl_vector_byte(e, 0xe1);
  tl_vector_byte(e, 0x80 | (two ? ~a & 15 : 15) << 3 | (two ? 4 : 0));
  tl_vector_byte(e, tl_vector_joins[op]);
  tl_vector_byte(e, 0xc0 | to << 3 | (two ? b : a));
}

// The processor's maximum of y and x gives x where they are equal or one is
// NaN; where y is, that is what the result has to be.
static void pick_extreme(tl_vector_emitter *e, tl_vector_code c, int bytes,
                         int to, int x, int y) {
  int mask = tl_vector_take(e, &e->free_masks);
  const tl_vector_code unordered = {c.prefix, TL_M_0F, 0xc2, c.wide};
  const tl_vector_code move = {c.prefix, TL_M_0F, 0x28, c.wide};
  tl_vector_three(e, unordered, bytes, mask, y, y);
  tl_vector_byte(e, 3);
  tl_vector_three(e, c, bytes, to, y, x);
  tl_vector_masked(e, move, bytes, to, 0, y, mask, false);
  e->free_masks |= 1u << mask;
}

const tl_vector_form tl_vector_512 = {.nbytes = 64,
                                      .vectors = 32,
                                      .singles_most = 14,
                                      .has_masks = true,
                                      .load_value = load_value,
                                      .store_value = store_value,
                                      .compare = compare,
                                      .choose = choose,
                                      .join = join,
                                      .pick_extreme = pick_extreme};

#endif
