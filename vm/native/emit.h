// What the emitters share: where registers are, jumps and exits.
//
//     emit.c ─▶ emit_x64.c, or emit_a64.c    scalars, items of arrays
//        │
//        └────▶ emit_places.c                items of references, places
//
// What a processor has for it, its registers and how to reach memory, is in
// target_x64.h and target_a64.h.
#ifndef TALLY_VM_EMIT_H
#define TALLY_VM_EMIT_H

#include "vm/native/jit_internal.h"
#if TL_JIT_A64
#include "vm/native/a64.h"
#else
#include "vm/native/x64.h"
#endif

// Where a jump goes whose target was not known: a label, or one of the kinds of
// exits. All targets behind the operations are emitted on demand,
// so that an exit nobody jumps to costs no bytes.
typedef enum fix_kind {
  FIX_LABEL,   // [to] is its number
  FIX_EXIT,    // [to] is the exit's number
  FIX_POLL,    // a poll that leaves by the exit
  FIX_WITHIN,  // a callee has left; [to] is the operation's index
  FIX_SELF,    // the unit's own beginning
  FIX_DATA,    // 8 bytes of a float, imm of the operation with the index [to]
} fix_kind;

// The 32 bits at [at] say it: on x86-64 the distance from the place behind
// them, on AArch64 the instruction itself.
typedef struct fix {
  uint32_t at;
  uint8_t kind;
  int32_t to;
} fix;

// The tables are one block of memory; the bytes of the code grow by themselves.
// Operations and exits are borrowed from the code, and stay where they are, so
// pointers to them are good as long as the emitter.
typedef struct emitter {
  const tl_jit_code *code;
  tl_jit_unit *unit;
  tl_assembler as;
  int8_t reg[TL_JIT_REGISTERS];  // -1: at home
  uint32_t frame_size;           // bytes for the facts
  // Of labels and exits, by their numbers, where they are; 0: nowhere yet.
  uint32_t *label_at, *exit_at;
  fix *fixes;
  uint32_t fix_count, fix_capacity;
  // The access of an item whose index has been checked and, of several axes, is
  // in rax, or x0; NULL: there is none.
  const tl_typed *checked;
  bool declines;  // an operation is not known, or a jump reaches too far
  void *block;
  size_t nbytes;
} emitter;

// --- Places of registers ----------------------------------------------------

// The home of a register is [base + displacement]: both kinds of a slot share
// its payload, so a value must be read before its slot is written as the other
// kind.
//
//     slot s     SLOTS + 16 s      its tag, of 8 bytes
//                SLOTS + 16 s + 8  its payload: the home of s and of FLOAT + s
//     fact k     TL_SP + 8 k       in the unit's frame on the stack
static inline bool is_float(int r) {
  return r >= TL_JIT_FLOAT && r < TL_JIT_FACTS;
}
// How far behind its base a home is.
static inline int32_t home(int r) {
  return r < TL_JIT_FACTS ? r % TL_JIT_SLOTS * 16 + 8 : (r - TL_JIT_FACTS) * 8;
}

// Notes that the next 32 bits say where a jump goes. There are at most so many
// jumps as open_emitter has room for; should an operation ever have more, the
// unit fails like one without memory.
static inline void note_fix(emitter *e, fix_kind kind, int32_t to) {
  if (e->fix_count == e->fix_capacity) {
    e->as.is_full = true;
    return;
  }
  e->fixes[e->fix_count++] =
      (fix){.at = e->as.size, .kind = (uint8_t)kind, .to = to};
}

// Between a register of the processor and a home.
static inline void load(emitter *e, int to, int r);
static inline void store(emitter *e, int from, int r);

// The processor's register that has r, which may be [scratch]. Two operands
// that may both be at home need two scratch registers. Loading does not change
// the flags.
static inline int get(emitter *e, int r, int scratch) {
  if (e->reg[r] >= 0)
    return e->reg[r];
  load(e, scratch, r);
  return scratch;
}
// Where to compute r; put ends that. The place may be that of an operand, so
// operands are read before it is written.
static inline int into(const emitter *e, int r, int scratch) {
  return e->reg[r] >= 0 ? e->reg[r] : scratch;
}
// Stores what `into` gave where r has no register; a store leaves the flags.
// The whole 8 bytes of the home are written, also of a float32.
static inline void put(emitter *e, int r, int from) {
  if (e->reg[r] < 0)
    store(e, from, r);
}

#if TL_JIT_A64
#include "vm/native/target_a64.h"
#else
#include "vm/native/target_x64.h"
#endif

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
// To the exit of an operation that turned out not to be plain.
// Nothing of the operation may have been written yet, neither a register nor
// memory: the exit says what is there before it.
static inline void leave_if(emitter *e, int condition, const tl_typed *t) {
  jump_if(e, condition, FIX_EXIT, t->exit);
}

// Appends the code of an operation of TL_TYPED_PLACE_OPS. False: it is another
// one, and nothing was appended.
bool tl_jit_emit_place(emitter *e, const tl_typed *t);

// --- emit.c -----------------------------------------------------------------

// The register with the number of the item that the operation reads or writes
// in the array with these facts; leaves where it is out of range. T1 and T2 are
// free behind it. tl_jit_note_item comes behind the access.
int tl_jit_item_index(emitter *e, const tl_typed *t, int facts);
void tl_jit_note_item(emitter *e, const tl_typed *t);

// Leaves where the dtype [to] does not have the integer in the register [has],
// which is one of [from]. Takes T2.
void tl_jit_check_fit(emitter *e, const tl_typed *t, int has, tl_dtype from,
                      tl_dtype to);

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
// tested before. [items] has the address of item 0.
void tl_jit_load_item(emitter *e, tl_dtype dtype, int to, int items, int index);
void tl_jit_store_item(emitter *e, tl_dtype dtype, int from, int items,
                       int index);
// Cuts an integer to the width of its dtype, and extends it to 64 bits again,
// as slots have it.
void tl_jit_cut(emitter *e, tl_dtype dtype, int to, int from);
// Appends a COMPUTE that has instructions of its own. False: it has none.
bool tl_jit_emit_math(emitter *e, const tl_typed *t);
// Appends the branch at [at] as a choice, if it is one. Returns how many
// operations that were, without the jump behind them; 0: nothing was appended.
uint32_t tl_jit_emit_choice(emitter *e, uint32_t at);

#endif
