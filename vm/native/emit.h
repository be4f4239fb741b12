// What the emitters share.
//
//     emit.c ─▶ emit_x64.c, or emit_a64.c ─▶ emit_items.c, emit_choice.c
//        │      scalars, items of arrays       indices, branches without jumps
//        │
//        └────▶ emit_places.c
//               items of references, places
//
// What a processor has for it, its registers and how to reach memory, is in
// target_x64.h and target_a64.h.
#ifndef TALLY_VM_EMIT_H
#define TALLY_VM_EMIT_H

#include "vm/native/target_a64.h"
#include "vm/native/target_x64.h"

// The integer operand c, or the constant, in a register: its own one, or
// [scratch], which then must not hold anything that is still needed.
static inline int get_int(emitter *e, const tl_typed *t, int scratch) {
  if (t->c >= 0)
    return get(e, t->c, scratch);
  set_constant(e, scratch, t->imm);
  return scratch;
}

// --- Jumps ------------------------------------------------------------------

// To where an operation says.
static inline void jump_to(emitter *e, int condition, int32_t to) {
  jump_if(e, condition, to < 0 ? FIX_EXIT : FIX_LABEL, to < 0 ? -1 - to : to);
}
// To the exit of an operation that turned out not to be plain. Nothing of the
// operation may have been written yet, neither a register nor memory: the exit
// says what is there before it.
static inline void leave_if(emitter *e, int condition, const tl_typed *t) {
  if (t->exit < -1)
    jump_if(e, condition, FIX_LABEL, -2 - t->exit);
  else
    jump_if(e, condition, FIX_EXIT, t->exit);
}

// Appends the code of an operation of TL_TYPED_PLACE_OPS. False: it is another
// one, and nothing was appended.
bool tl_jit_emit_place(emitter *e, const tl_typed *t);

// Reads a reference of the variable or captured value at [T2 + at], borrowed:
// whether the module owns it makes no difference. Leaves where it has another
// tag. Takes T0.
void tl_jit_get_reference(emitter *e, const tl_typed *t, int32_t at);

// --- emit_items.c -----------------------------------------------------------

// The register with the number of the item that the operation reads or writes
// in the array with these facts; leaves where it is out of range. T1 and T2 are
// free behind it. tl_jit_note_item comes behind the access.
int tl_jit_item_index(emitter *e, const tl_typed *t, int facts);
void tl_jit_note_item(emitter *e, const tl_typed *t);
// Whether the item that was noted is good behind the operation, too.
bool tl_jit_keeps_index(const emitter *e, const tl_typed *t);

// Leaves where the array that is written has got a second owner since the
// entry. Takes T2.
void tl_jit_check_owner(emitter *e, const tl_typed *t);

// Leaves where the dtype [to] does not have the integer in the register [has],
// which is one of [from]. Takes T2.
void tl_jit_check_fit(emitter *e, const tl_typed *t, int has, tl_dtype from,
                      tl_dtype to);

// --- emit_loops.c -----------------------------------------------------------

// Appends the code of an operation before or behind the guards of a loop.
// False: it is another one, and nothing was appended.
bool tl_jit_emit_loop(emitter *e, const tl_typed *t);

// --- emit_choice.c ----------------------------------------------------------

// One side of a branch: operations from [at] on, what they leave in [result]
// (-1: nothing), and the label behind. [written] are all slots that it sets on
// the way.
typedef struct tl_jit_side {
  uint32_t at, count;
  int result;
  int32_t to;
  uint64_t written;
} tl_jit_side;
// The two sides of the branch at [at]: over nothing, or over another side.
// Returns how many operations they are; 0: it is no choice.
uint32_t tl_jit_read_choice(const emitter *e, uint32_t at, tl_jit_side *taken,
                            tl_jit_side *other);

// --- The processor's --------------------------------------------------------

// Appends the code of an operation on scalars or items of arrays. False: it is
// another one, and nothing was appended.
bool tl_jit_emit_scalar(emitter *e, const tl_typed *t);
// An item of the dtype to a register, extended to 64 bits, and back, which
// writes the lowest bytes of the register: that the dtype has the number was
// tested before. [items] has the address of item 0; the item is [offset] behind
// the index, and -1 is no index.
void tl_jit_load_item(emitter *e, tl_dtype dtype, int to, int items, int index,
                      int32_t offset);
void tl_jit_store_item(emitter *e, tl_dtype dtype, int from, int items,
                       int index, int32_t offset);
// Operand number i of an operation of floats, 0 to 2 for a to c, in a register:
// what has another type is converted into [scratch], none is the constant.
// Takes T0 and T2 on x86-64, T1 on AArch64.
int tl_jit_get_float(emitter *e, const tl_typed *t, int i, int scratch);
// Appends a COMPUTE that has instructions of its own. False: it has none.
bool tl_jit_emit_math(emitter *e, const tl_typed *t);
// Appends the branch at [at] as a choice, if it is one. Returns how many
// operations that were, without the jump behind them; 0: nothing was appended.
uint32_t tl_jit_emit_choice(emitter *e, uint32_t at);

#endif
