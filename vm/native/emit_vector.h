// What the emitter of pieces and its two forms share; see pieces.h.
//
//                          ┌─▶ emit_vector_512.c    AVX-512: masks, EVEX
//     emit_vector.c ─ form ┤
//     registers, loop      └─▶ emit_vector_256.c    AVX2: bools as vectors, VEX
//         └─▶ emit_vector_operations.c    instructions, as bytes
//
// A form has what its instructions do in ways of their own: how bools are kept,
// and how the items behind the last whole vector are read and written.
#pragma once

#include "vm/native/pieces.h"

// The prefix is VEX's and EVEX's pp: none, 66, F3, F2; the map 0f, 0f38, 0f3a.
enum { TL_P_NONE, TL_P_66, TL_P_F3, TL_P_F2 };
enum { TL_M_0F = 1, TL_M_38 = 2, TL_M_3A = 3 };

// An instruction by its prefix, map, opcode and EVEX's W, which VEX's forms do
// without. W tells 8 bytes from 4, or 2 from 1; where it is a part of the
// opcode, which of two instructions it is.
typedef struct tl_vector_code {
  uint8_t prefix, map, opcode, wide;
} tl_vector_code;
// With prefix 66, as nearly all of integers have it, and no W.
#define TL_CODE(map, opcode) \
  { TL_P_66, TL_M_##map, opcode, 0 }

typedef struct tl_vector_emitter tl_vector_emitter;

// Vectors are numbered; operands are read before [to] is written, which may be
// one of them, but for pick_extreme.
// What is taken on the way is given back; where none is free, the piece fails.
struct tl_vector_form {
  int nbytes;        // of a vector
  int vectors;       // how many there are
  int singles_most;  // so many keep one item or constant for the whole piece
  bool has_masks;    // bools are masks, in k1 to k6; else vectors
  // A value from memory to a register that is taken here: e->at.
  void (*load_value)(tl_vector_emitter *e, int value, tl_dtype dtype);
  void (*store_value)(tl_vector_emitter *e, int value, tl_dtype dtype);
  // The bools of a comparison.
  void (*compare)(tl_vector_emitter *e, const tl_piece_operation *o, int to,
                  int a, int b);
  // x or y by bools, of items of [size].
  void (*choose)(tl_vector_emitter *e, int size, int to, int by, int x, int y);
  // Bools of bools; [b] is not looked at for one operand.
  void (*join)(tl_vector_emitter *e, tl_op op, int to, int a, int b);
  // The smaller or greater one of floats by instruction [c], of which a NaN
  // wins; [to] is neither x nor y.
  void (*pick_extreme)(tl_vector_emitter *e, tl_vector_code c, int bytes,
                       int to, int x, int y);
  // An operation on integers for which there is no instruction; false: there
  // is one, as for all where it is NULL.
  bool (*compute)(tl_vector_emitter *e, const tl_piece_operation *o, int to,
                  int a, int b);
};

// Values by the plan's numbers. -1: none.
struct tl_vector_emitter {
  tl_assembler as;
  const tl_vector_form *form;
  const tl_vector_piece *piece;
  int lanes;
  bool is_rest;  // what is behind the last whole vector is computed
  bool failed;
  uint32_t free;        // vectors, a bit each
  uint32_t free_masks;  // likewise, from k1 on
  // The register with the address of what is walked, and the vector of what is
  // one item: for the whole piece.
  int8_t pointer[TL_PLAN_VALUES], single[TL_PLAN_VALUES];
  // Where a value is now, whether it is bools, and the operation that reads it
  // last, behind all of them if it is written.
  int8_t at[TL_PLAN_VALUES];
  bool is_mask[TL_PLAN_VALUES];
  int8_t last[TL_PLAN_VALUES];
  // Constants: signs and all but signs, by the width of items as a power of
  // two; bytes of 1 of bools.
  int8_t signs[4], rests[4], ones;
};

// reg = first op rm, all vectors of [bytes]; the first is 0 where there is
// none.
void tl_vector_three(tl_vector_emitter *e, tl_vector_code c, int bytes, int reg,
                     int first, int rm);
// The same in EVEX's form. Lanes outside of [mask] keep what reg had, or with
// [zeros] become 0; 0 is no mask.
void tl_vector_masked(tl_vector_emitter *e, tl_vector_code c, int bytes,
                      int reg, int first, int rm, int mask, bool zeros);
// The operand is [base + rcx * scale]. A mask is EVEX's alone.
void tl_vector_memory(tl_vector_emitter *e, tl_vector_code c, int bytes,
                      int reg, int base, int scale, int mask, bool zeros);

// A byte of an operand behind an instruction.
void tl_vector_byte(tl_vector_emitter *e, int byte);

// The lowest free register, taken. With none, the piece fails: there is no
// spilling, since the caller then tries a shorter one.
int tl_vector_take(tl_vector_emitter *e, uint32_t *free);

// Vector [to], or bools, of an operation on what is in the registers [in].
void tl_vector_operation(tl_vector_emitter *e, const tl_piece_operation *o,
                         int to, const int *in);

// How an operation gives a bool of bools, as the opcode for masks: kand and so
// on; 0: it does not.
enum {
  TL_VECTOR_AND = 0x41,
  TL_VECTOR_NOT = 0x44,
  TL_VECTOR_OR = 0x45,
  TL_VECTOR_XOR = 0x47
};
extern const uint8_t tl_vector_joins[TL_OP_COUNT];

// Bytes of an item.
static inline int tl_vector_size(tl_dtype dtype) {
  return (int)tl_itemsize(dtype);
}

// The size of items as the power of two that it is.
static inline int tl_vector_width(tl_dtype dtype) {
  return __builtin_ctz((unsigned)tl_itemsize(dtype));
}

// The unsigned dtypes stand in one row in the table of dtypes.
static inline bool tl_vector_is_unsigned(tl_dtype dtype) {
  return dtype >= TL_UINT8 && dtype <= TL_UINT64;
}

// Whether it is one of the floats that pieces compute in: float16 is not.
static inline bool tl_vector_is_float(tl_dtype dtype) {
  return dtype == TL_FLOAT64 || dtype == TL_FLOAT32;
}

// Whether an operation gives a bool of two numbers. The six stand in one row.
static inline bool tl_vector_compares(tl_op op) {
  return op >= TL_OP_EQUAL && op <= TL_OP_GREATER_EQUAL;
}

// Whether the result is bools, which a form keeps in its own way.
static inline bool tl_vector_gives_bools(const tl_piece_operation *o) {
  return o->dtype == TL_BOOL || tl_vector_compares((tl_op)o->op);
}

// The instruction with [opcode] for floats of [size] bytes.
static inline tl_vector_code tl_vector_of_floats(int size, int opcode) {
  return (tl_vector_code){size == 8 ? TL_P_66 : TL_P_NONE, TL_M_0F,
                          (uint8_t)opcode, size == 8};
}

// cmpps's and cmppd's predicate of a comparison, NaN as C has it.
static inline int tl_vector_predicate(tl_op op) {
  static const uint8_t of[] = {[TL_OP_EQUAL - TL_OP_EQUAL] = 0,
                               [TL_OP_NOT_EQUAL - TL_OP_EQUAL] = 4,
                               [TL_OP_LESS - TL_OP_EQUAL] = 0x11,
                               [TL_OP_LESS_EQUAL - TL_OP_EQUAL] = 0x12,
                               [TL_OP_GREATER - TL_OP_EQUAL] = 0x1e,
                               [TL_OP_GREATER_EQUAL - TL_OP_EQUAL] = 0x1d};
  return of[op - TL_OP_EQUAL];
}
