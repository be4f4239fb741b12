// What the emitters share.
//
//     emit.c ─▶ emit_scalars.c ─▶ emit_x64.c, or emit_a64.c
//        │      what is the same     what is not
//        │
//        ├────▶ emit_items.c, emit_loops.c, emit_choice.c, emit_turns.c
//        │      items of arrays, behind guards, branches without jumps, loops
//        │
//        └────▶ emit_places.c
//               items of references, places
//
// What a processor has for it, its registers and how to reach memory, is in
// target_x64.h and target_a64.h.
#pragma once

#include "vm/native/target_a64.h"
#include "vm/native/target_x64.h"

#if TL_HAS_JIT

// Appends the code of an operation, which has been checked: emit.c has a table
// of them.
typedef void tl_jit_emit_fn(emitter *e, const tl_typed *t);
#define OP(NAME, a, b, c, goes, gen) tl_jit_emit_fn tl_gen_##gen;
TL_TYPED_OPS(OP)
#undef OP

static inline int home_base(int r) {
  return r < TL_JIT_FACTS ? SLOTS : TL_SP;
}
// Compares a register with a fact, wherever that is.
static inline void compare_fact(emitter *e, int r, int fact) {
  if (e->reg[fact] >= 0)
    compare_int(e, r, e->reg[fact]);
  else
    compare_word(e, r, TL_SP, home(fact));
}
// Computes r from a register of its kind, or from 8 bytes at [base + at].
void tl_jit_put_from(emitter *e, int r, int from);
void tl_jit_put_word(emitter *e, int r, int base, int32_t at);

// The integer operand c, or the constant, in a register: its own one, or
// [scratch], which then must not hold anything that is still needed.
static inline int get_int(emitter *e, const tl_typed *t, int scratch) {
  if (t->c >= 0)
    return tl_jit_get(e, t->c, scratch);
  set_constant(e, scratch, t->imm);
  return scratch;
}

// r goes up by a loop's step.
static inline void add_step(emitter *e, const tl_typed *step, int r) {
  if (step->c < 0)
    add_constant(e, r, (int32_t)step->imm);
  else
    add_int(e, r, tl_jit_get(e, step->c, T1));
}

// Like put, of what was computed in 64 bits. Sums, products and bits have the
// same lowest bits whatever stands above, so one cut at the end is enough.
static inline void put_cut(emitter *e, const tl_typed *t, int from) {
  cut(e, tl_jit_dtype(t->type), from, from);
  tl_jit_put(e, t->a, from);
}

// A float from its bits. 0.0 needs no constant; others stand behind the code.
// -0.0 has a bit, and is no 0 here. All 8 bytes are read, also of a float32.
static inline void load_float(emitter *e, const tl_typed *t, int to) {
  if (t->imm == 0)
    clear_float(e, to);
  else
    load_data(e, to, (int32_t)(t - e->code->ops));
}

// Register r, which is operand number i, as a float of the operation's width.
// Takes T0, and on x86-64 T2.
void tl_jit_convert(emitter *e, const tl_typed *t, int i, int r, int to);
// Operand number i of an operation of floats, 0 to 2 for a to c, in a register:
// what has another type is converted into [scratch], none is the constant.
// Takes T0, and on x86-64 T2.
static inline int get_float(emitter *e, const tl_typed *t, int i, int scratch) {
  const int16_t registers[] = {t->a, t->b, t->c};
  int r = registers[i];
  if (r < 0)
    load_float(e, t, scratch);
  else if (tl_jit_dtype(t->from[i]) == t->dtype)
    return tl_jit_get(e, r, scratch);
  else
    tl_jit_convert(e, t, i, r, scratch);
  return scratch;
}

// --- Jumps ------------------------------------------------------------------

// To where an operation says.
void tl_jit_jump_to(emitter *e, int condition, int32_t to);
void tl_jit_go_to(emitter *e, int32_t to);
// The jump that the operation makes on the condition, or the truth of that as 0
// or 1.
void tl_jit_decide(emitter *e, const tl_typed *t, int condition);
// To the exit of an operation that turned out not to be plain. Nothing of the
// operation may have been written yet, neither a register nor memory: the exit
// says what is there before it.
void tl_jit_leave_if(emitter *e, int condition, const tl_typed *t);

// --- emit_items.c -----------------------------------------------------------

// Compares the owners of an array that is written with 1. False: nobody can
// have become one since the entry. An instruction that C does may have stored
// the array, in this unit or in one that it calls. Takes T2.
bool tl_jit_compare_owner(emitter *e, int array);
// The result is the item [offset] behind the index, as tl_jit_load_item has it.
void tl_jit_read_item(emitter *e, const tl_typed *t, int items, int index,
                      int32_t offset);

// --- emit_places.c ----------------------------------------------------------

// Reads a reference of the variable or captured value at [T2 + at], borrowed:
// whether the module owns it makes no difference. Leaves where it has another
// tag. Takes T0.
void tl_jit_get_reference(emitter *e, const tl_typed *t, int32_t at);
// The value of register a with its tag, as a slot at [base + at]. Takes T0.
void tl_jit_put_item(emitter *e, const tl_typed *t, int base, int32_t at);
// The results of a ROWRETURN to where callers look for them.
void tl_jit_give_row(emitter *e, const tl_typed *t);

// --- emit_choice.c ----------------------------------------------------------

// Appends the branch at [at] as a choice, if it is one. Returns how many
// operations that were, without the jump behind them; 0: nothing was appended.
uint32_t tl_jit_emit_choice(emitter *e, uint32_t at);

// --- emit_turns.c -----------------------------------------------------------

// Appends the loop whose head is at [at], if its polls were taken before it.
// Returns how many operations that were; 0: nothing was appended.
uint32_t tl_jit_emit_turns(emitter *e, uint32_t at);

// --- emit_scalars.c ---------------------------------------------------------

// Compares the integers b and c; returns the condition for what the operation
// asks.
int tl_jit_compare_ints(emitter *e, const tl_typed *t);
// Leaves where the dtype [to] does not have the integer in the register [has],
// which is one of [from]. Takes T2.
void tl_jit_check_fit(emitter *e, const tl_typed *t, int has, tl_dtype from,
                      tl_dtype to);
// The operation's value in a register, as an item of its dtype is stored from:
// a number converted into 0 for floats, else in [scratch]. Leaves where the
// dtype does not have it. Takes T2, and for floats T0.
int tl_jit_get_stored(emitter *e, const tl_typed *t, int scratch);
// Appends a COMPUTE that has instructions of its own. False: it has none.
bool tl_jit_emit_math(emitter *e, const tl_typed *t);

// --- The processor's --------------------------------------------------------

// An item of the dtype to a register, extended to 64 bits, and back, which
// writes the lowest bytes of the register: that the dtype has the number was
// tested before. [items] has the address of item 0; the item is [offset] behind
// the index, and -1 is no index.
void tl_jit_load_item(emitter *e, tl_dtype dtype, int to, int items, int index,
                      int32_t offset);
void tl_jit_store_item(emitter *e, tl_dtype dtype, int from, int items,
                       int index, int32_t offset);
// Appends the rounding of a float, if that is what the COMPUTE does, and there
// is an instruction.
bool tl_jit_round(emitter *e, const tl_typed *t);
// Compares the floats of an operation that does not ask whether they are equal;
// returns the condition. Takes 0 and 1.
int tl_jit_compare_floats(emitter *e, const tl_typed *t);
// Behind it, where it asks whether b is not less than c, or not more: unless
// that holds, b becomes c, or where [first] is false c becomes b.
void tl_jit_choose(emitter *e, const tl_typed *t, int condition, bool first);
// [in] = in op c, or op the constant, of sums, bits and shifts by constants: 64
// bits of it. Takes T1.
void tl_jit_combine(emitter *e, const tl_typed *t, int in);

#endif
