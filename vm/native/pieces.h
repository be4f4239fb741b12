// Pieces: runs of steps of a plan as one loop of vector code.
//
//     steps      t = x * y   u = t + z   out = exp(u)
//     pieces     [ t = x * y, u = t + z ]  out = exp(u)
//
// A piece reads each value once a vector, keeps what lies between its
// operations in registers, and writes what later steps read. The bits are those
// of the kernels: one rounding an operation, no contraction. What the emitter
// does not know stays a kernel's step. It has a form for AVX-512 and one for
// AVX2.
//
//     VM     table of pieces, by what they compute ──▶ code, or none
//                 ▲
//     plan   step, step, piece, step                   many plans, one piece
//
// A piece stays in the table while a plan that is kept has it, and longer until
// there are too many; its code may go before that, and its plans are none the
// worse but slower.
#pragma once

#include "vm/engine/plan.h"
#include "vm/native/assembler.h"
#include "vm/native/code.h"

// Pieces are on with machine code and AVX2. Code for the same operations is
// shared by all plans, and is made when the first one asks for it: most regions
// are planned when they run the second time.
extern const tl_piece_maker tl_pieces;

// Values need the memory of the code: plans that have pieces run these by
// kernels from now on, slowly, and new plans get none. Called while no piece
// runs, which asks for no memory; a plan may be about to run.
void tl_pieces_drop(tl_vm *vm);
// Gives all back, when no plan runs any more.
void tl_pieces_close(tl_vm *vm);

// --- emit_vector.c ----------------------------------------------------------

enum { TL_PIECE_OPERATIONS = 40, TL_PIECE_VALUES = 12 };

// One operation; values have the plan's numbers.
typedef struct tl_piece_operation {
  uint8_t op, dtype;  // tl_op, and the dtype that is computed in
  uint8_t singles;    // a bit for each operand that is one item
  bool is_stored;     // the value is written
  uint8_t out, in[3];
} tl_piece_operation;

// Operations in the order in which they run: operands are values of memory or
// results of earlier ones. Pieces are compared by their bytes, so all of them,
// up to the last operation's, have to be set.
typedef struct tl_vector_piece {
  int count;
  tl_piece_operation operations[TL_PIECE_OPERATIONS];
} tl_vector_piece;

// Whether there are instructions for an operation of a dtype.
bool tl_piece_knows(tl_op op, tl_dtype dtype);

// How vectors are encoded (emit_vector.h): for AVX-512, and for AVX2.
typedef struct tl_vector_form tl_vector_form;
extern const tl_vector_form tl_vector_512, tl_vector_256;

// Encodes a piece as tl_plan_piece's [run], behind what [as] has. False: it
// needs more registers than there are, or mixes widths that do not go together;
// what was encoded is no code then.
bool tl_piece_emit(const tl_vector_piece *piece, const tl_vector_form *form,
                   tl_assembler *as);
