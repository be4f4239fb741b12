// The emitter of a unit: where its registers are, and the jumps whose targets
// are not there yet.
#pragma once

#include "vm/native/assembler.h"
#include "vm/native/jit_internal.h"

// Where a jump goes whose target was not known: a label, or one of the kinds of
// exits. All targets behind the operations are emitted on demand, so that an
// exit nobody jumps to costs no bytes.
typedef enum fix_kind {
  FIX_LABEL,   // [to] is its number
  FIX_EXIT,    // [to] is the exit's number
  FIX_POLL,    // a poll that leaves by the exit
  FIX_WITHIN,  // a callee has left; [to] is the operation's index
  FIX_UNDONE,  // C has not done the operation with the index [to]
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

// Registers of the processor that one loop may have for something else, and
// operations that are left out in it.
enum { MOST_LENT = 6, MOST_LEFT_OUT = 2 };

// The tables are one block of memory; the bytes of the code grow by themselves.
// Operations and exits are borrowed from the code, and stay where they are, so
// pointers to them are good as long as the emitter.
typedef struct emitter {
  const tl_jit_code *code;
  tl_jit_unit *unit;
  tl_assembler as;
  int8_t reg[TL_JIT_REGISTERS];  // -1: at home
  // Bytes for the facts, and where behind these values are kept while a loop
  // has their registers for something else.
  uint32_t frame_size;
  int32_t lent_at;
  // Appends operations up to number [to], with the choices among them.
  void (*append)(struct emitter *e, uint32_t from, uint32_t to);
  uint32_t leaves_out[MOST_LEFT_OUT], left_out;  // operations, and how many
  int32_t next_label;  // the first of those that are no typed operation's
  // Of labels and exits, by their numbers, where they are; 0: nowhere yet.
  uint32_t *label_at, *exit_at;
  fix *fixes;
  uint32_t fix_count, fix_capacity;
  bool declines;  // a jump reaches too far
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

// The condition is that of the comparison that was appended last.
void tl_jit_jump_if(emitter *e, int condition, fix_kind kind, int32_t to);

// Between a register of the processor and a home.
void tl_jit_load(emitter *e, int to, int r);
void tl_jit_store(emitter *e, int from, int r);

// The processor's register that has r, which may be [scratch]. Two operands
// that may both be at home need two scratch registers. Loading does not change
// the flags.
int tl_jit_get(emitter *e, int r, int scratch);
// Where to compute r; put ends that. The place may be that of an operand, so
// operands are read before it is written.
static inline int into(const emitter *e, int r, int scratch) {
  return e->reg[r] >= 0 ? e->reg[r] : scratch;
}
// Stores what `into` gave where r has no register; a store leaves the flags.
// The whole 8 bytes of the home are written, also of a float32.
void tl_jit_put(emitter *e, int r, int from);
