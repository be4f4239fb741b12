// What the files of the ownership analysis share. docs/how-values-live.md tells
// the algorithm ("How the compiler finds the last use"): its steps, which are
// named here by number, and its rules (a) to (e).
//
//   liveness.c    which slots are live where; the order of the blocks
//   settle.c      the current states; settling, owning, deaths, error edges
//   transfer.c    one instruction: which operands it consumes
//   results.c     what it defines: who owns that, who lends it
//   ownership.c   one function: blocks, edges, final code
//   summaries.c   the whole program: parameter modes, results, rebinding
#ifndef TALLY_COMPILER_OWNERSHIP_INTERNAL_H
#define TALLY_COMPILER_OWNERSHIP_INTERNAL_H

#include "compiler/cfg.h"
#include "vm/verify/lenders.h"

// A slot whose set would pass this is owned at its definitions instead.
enum { TL_LENDER_LIMIT = 16 };

// Modes of the analysis alone: the operand is given twice, so this place gets a
// count of its own; or only if the operand's slot owns, for else who lends that
// lends this, too.
enum { TL_MODE_RETAIN = 4, TL_MODE_SHARE = 5 };

// A function, with what the passes find out about it.
typedef struct tl_owned_function {
  tl_cfg_function *cfg;
  int32_t words;    // of a bit set over all slots
  int32_t slots;    // the function's own and the spare ones
  int32_t spare;    // the first slot beyond the function's own: for an old
                    // value; one more for each operand follow
  int32_t longest;  // instructions of the longest block
  int32_t most_operands;
  uint64_t *live;     // a bit set for each block: live at its start
  int32_t *sequence;  // reachable blocks in reverse postorder
  int32_t sequence_count;
  tl_state **entry;  // for each block, a state for each slot live at its
                     // start, in slot order
  bool *reached, *dirty;
  uint64_t *must_own;  // a bit set for each block: the own-list of a handler
  bool *pinned;        // slots that are made owners wherever they are defined;
                       // see also tl_cfg_ins.is_pinned
  bool owned_result;   // RET owns what it returns
  // The summary as far as it is known.
  uint8_t *param_modes;
  tl_state result;    // kind: absent until a RET is seen; lenders: arguments
                      // of the caller, immortal
  uint64_t *rebinds;  // a bit set over the module variables; NULL: none
  bool rebinds_any;
  bool stale;            // a callee's summary has changed
  int32_t first_caller;  // in the program's callers
} tl_owned_function;

typedef struct tl_owned_program {
  tl_cfg_program *cfg;
  tl_arena *arena;
  int32_t global_words;
  uint64_t *assigned;  // module variables that some function but the module's
                       // own code assigns
  tl_owned_function *functions;
  int32_t *callers;  // function by function, who calls it
  int32_t caller_count;
} tl_owned_program;

typedef struct tl_ins_list {
  tl_cfg_ins *items;
  int32_t count, capacity;
} tl_ins_list;

// The forward pass over one function.
typedef struct tl_flow {
  tl_owned_program *program;
  tl_owned_function *function;
  tl_cfg_function *cfg;
  tl_arena *arena;               // of the final code
  tl_arena *scratch;             // of one pass over the function
  tl_state *now;                 // for each slot
  uint64_t *present;             // slots that have a state
  uint64_t *borrowers;           // those of them that somebody lends to: few
  const uint64_t *after;         // live after the current instruction
  uint64_t *rows;                // live after each instruction of the block
  uint64_t *taken;               // slots that TAKE has set in this block
  uint64_t *risk, *mask, *gone;  // scratch sets
  tl_state *saved;               // scratch states
  int32_t *operands;             // of the current instruction, after rescues
  uint8_t *modes;
  int32_t *lent;        // positions of operands that have lenders
  int32_t *candidates;  // positions of operands that may be consumed
  uint8_t *uses;        // for each slot, how often it is an operand
  tl_ins_list *out;     // code; NULL while states are still searched
  tl_span span;
  // The definitions seen in this block: which instruction of it made a slot's
  // value, if the slot's turn is this one.
  struct tl_defined {
    uint32_t turn;
    int32_t at;
  } * defined;
  uint32_t turn;      // of blocks looked at
  int32_t block, at;  // the current instruction
  int32_t heir;       // of the item that SETEL replaces, or -1
  bool pins_slots;    // definition by definition took too many searches
  bool gives_back;    // operand 0 is, where the current instruction fails
  bool relies;        // a steady variable lends across the current instruction
  bool leaves;        // what is settled ends with it
  bool ends;          // or soon, and has no aliases
  bool again;         // a slot was pinned: search from the start
} tl_flow;

// --- Bit sets ---------------------------------------------------------------
// For every slot at every instruction: inlined where code is to be small, too.
#define TL_INLINED static inline __attribute__((always_inline))
TL_INLINED bool tl_bit(const uint64_t *set, int32_t i) {
  return (set[i >> 6] >> (i & 63) & 1) != 0;
}
TL_INLINED void tl_bit_set(uint64_t *set, int32_t i) {
  set[i >> 6] |= UINT64_C(1) << (i & 63);
}
TL_INLINED void tl_bit_clear(uint64_t *set, int32_t i) {
  set[i >> 6] &= ~(UINT64_C(1) << (i & 63));
}
// The first member from [i] on, or -1.
TL_INLINED int32_t tl_bit_next(const uint64_t *set, int32_t words, int32_t i) {
  int32_t word = i >> 6;
  if (word >= words)
    return -1;
  uint64_t rest = set[word] & (~UINT64_C(0) << (i & 63));
  while (rest == 0) {
    if (++word == words)
      return -1;
    rest = set[word];
  }
  return word * 64 + __builtin_ctzll(rest);
}
#define TL_EACH_BIT(i, set, words)                     \
  for (int32_t i = tl_bit_next(set, words, 0); i >= 0; \
       i = tl_bit_next(set, words, i + 1))

// Those that are not in [without].
#define TL_EACH_BIT_WITHOUT(i, set, without, words)                           \
  for (int32_t i##_w = 0; i##_w < (words); i##_w++)                           \
    for (uint64_t i##_rest = (set)[i##_w] & ~(without)[i##_w]; i##_rest != 0; \
         i##_rest &= i##_rest - 1)                                            \
      for (int32_t i = i##_w * 64 + __builtin_ctzll(i##_rest), i##_one = 1;   \
           i##_one != 0; i##_one = 0)

// --- Liveness (liveness.c) --------------------------------------------------

// Fills words, slots, spare, live, sequence, longest and most_operands.
bool tl_liveness(tl_arena *arena, tl_owned_function *function);

static inline uint64_t *tl_live_at(const tl_owned_function *f, int32_t block) {
  return f->live + (size_t)block * (size_t)f->words;
}
TL_INLINED bool tl_is_tracked(const tl_cfg_function *f, int32_t slot) {
  return slot >= 0 && !(f->is_scalar != NULL && f->is_scalar[slot]);
}
// Whether nobody will see that an item is put back, as [live] says.
TL_INLINED bool tl_is_idle(const tl_cfg_ins *ins, const uint64_t *live) {
  return ins->op == TL_BC_UNTAKE && !tl_bit(live, ins->result);
}
// The block that sees an error of [ins], or -1.
static inline int32_t tl_handler_of(const tl_cfg_ins *ins) {
  return ins->fails == TL_NEVER ? -1 : ins->handler;
}
// Sets [live] to what is live after each instruction of a block, into rows.
void tl_live_rows(const tl_owned_function *function, int32_t block,
                  uint64_t *rows);

// --- States (settle.c) ------------------------------------------------------

// The state of a slot; one without state counts as an immortal's borrow.
const tl_state *tl_state_of(const tl_flow *flow, int32_t slot);
void tl_set_state(tl_flow *flow, int32_t slot, const tl_state *state);
// The slot has a state, or other lenders than it had.
void tl_note_state(tl_flow *flow, int32_t slot);
// The same for what the current instruction defines.
void tl_define_state(tl_flow *flow, int32_t slot, const tl_state *state);
void tl_forget(tl_flow *flow, int32_t slot);

// Appends an instruction with slots x and y (-1: none) where code is wanted.
void tl_put(tl_flow *flow, int op, int32_t result, int32_t x, int32_t y,
            tl_mode mode);
tl_cfg_ins *tl_put_ins(tl_flow *flow, const tl_cfg_ins *ins);

static inline tl_mode tl_mode_of(const tl_state *state) {
  return state->kind == TL_OWNS     ? TL_MODE_CONSUME
         : state->kind == TL_EITHER ? TL_MODE_EITHER
                                    : TL_MODE_BORROW;
}

// Makes a slot an owner, and its view a holder of its block.
void tl_own(tl_flow *flow, int32_t slot);

// Makes the borrowers of [x] that are in [live] independent of it. With
// [update], x is about to be written: views are copied out, and [update] says
// where an error in that goes. Where it replaces an item, flow->heir is a
// borrower that the update itself settles (tl_settle_heir).
void tl_settle(tl_flow *flow, int32_t x, const uint64_t *live,
               const tl_cfg_ins *update);

// The heir no longer needs [x]; there is none any more.
void tl_settle_heir(tl_flow *flow, int32_t x);

// Ends every slot that is not in [live].
void tl_end_dead(tl_flow *flow, const uint64_t *live);

// Everything that named [from] as a lender names [to].
void tl_rename_lender(tl_flow *flow, int32_t from, int32_t to);

// An instruction may fail here: passes the state on to its handler and, where
// code is wanted, notes in [ins] who owns. Slots in [gone] (or NULL) are no
// longer this function's.
void tl_may_fail(tl_flow *flow, tl_cfg_ins *ins, int32_t handler,
                 const uint64_t *gone);

// Joins the current state into the entry of [block].
void tl_flow_into(tl_flow *flow, int32_t block);

// --- One instruction (transfer.c) -------------------------------------------

// [after] is live behind the instruction. After the end of a block ([is_end])
// its edges see to what dies.
void tl_transfer(tl_flow *flow, const tl_cfg_ins *ins, const uint64_t *after,
                 bool is_end);

// --- What it defines (results.c) --------------------------------------------

// The function that a call names, or the library's; NULL where none is known.
const tl_owned_function *tl_callee_of(const tl_flow *flow,
                                      const tl_cfg_ins *ins);
const tl_builtin *tl_builtin_of(const tl_flow *flow, const tl_cfg_ins *ins);

// Of the operands' modes and states, before those that are consumed are gone.
tl_state tl_result_state(const tl_flow *flow, const tl_cfg_ins *ins);

// --- One function (ownership.c) ---------------------------------------------

// Searches the states until they hold; then, unless [code] is NULL, writes the
// code there. False: no memory.
bool tl_own_function(tl_owned_program *program, tl_owned_function *function,
                     tl_arena *code);

// --- The program (summaries.c) ----------------------------------------------
void tl_param_modes(tl_owned_program *program, tl_owned_function *function);
// Notes that the function may rebind a module variable; false: no memory.
bool tl_note_rebound(tl_owned_program *program, tl_owned_function *function,
                     int32_t global);
bool tl_write_summary(tl_owned_program *program, tl_owned_function *function);

#endif
