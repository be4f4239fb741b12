// What the files of the ownership analysis share. docs/how-values-live.md
// tells the algorithm ("How the compiler finds the last use"): its steps,
// which are named here by number, and its rules (a) to (e).
//
//   summaries.c   the whole program: parameter modes, results, rebinding
//      └ ownership.c   one function: blocks, edges, final code
//           ├ liveness.c   which slots are live where; the order of blocks
//           ├ place_flow.c   which items may be moved out of their containers
//           ├ transfer.c   one instruction: which operands it consumes
//           ├ results.c    what it defines: who owns that, from whom it borrows
//           └ resolve_borrows.c   the current states; settling, owning,
//                                 deaths, errors
//
// For each slot that is live there is a tl_state (vm/verify/borrow_owners.h):
// it owns, borrows, or either, and a set of borrow owners. States are searched
// until they no longer change. Where the summaries of all callees are final,
// the search writes the code on the way; else it goes without (flow->out NULL).
#pragma once

#include "compiler/bits.h"
#include "compiler/cfg.h"
#include "vm/verify/borrow_owners.h"

// A slot whose set of borrow owners would pass this is made an owner at its
// definitions instead.
// Below TL_MAX_BORROW_OWNERS, so that a set that is too large is, as a rule,
// noticed before it has lost an owner.
enum { TL_BORROW_OWNER_LIMIT = 16 };

// Modes of the analysis alone. RETAIN: the operand is given twice, so this
// place gets a count of its own. SHARE: it gets one only if the operand's slot
// owns; else this place borrows from whomever the slot borrows from.
enum { TL_MODE_RETAIN = 4, TL_MODE_SHARE = 5 };

// A function that calls another one, in the list of that.
typedef struct tl_caller {
  int32_t index;
  struct tl_caller *next;
} tl_caller;

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
  uint64_t *read;      // likewise: slots that a plain load has set, not TAKE
  bool *pinned;        // slots that are made owners wherever they are defined;
                       // see also tl_cfg_ins.is_pinned
  bool owned_result;   // RET owns what it returns
  // The summary as far as it is known.
  uint8_t *param_modes;
  tl_state result;    // kind: absent until a RET is seen; borrow owners:
                      // arguments of the caller, immortal
  uint64_t *rebinds;  // a bit set over the module variables; NULL: none
  bool rebinds_any;
  bool has_changed;    // the summary, by this pass over the function
  bool stale;          // a callee's summary has changed
  bool calls_itself;   // by CALLK
  bool is_finished;    // its code is final
  int32_t open_calls;  // others that it calls and that are not finished
  struct tl_caller *callers;
} tl_owned_function;

// The whole unit: its functions, who calls whom, and which module variables
// may change under a borrower.
typedef struct tl_owned_program {
  tl_cfg_program *cfg;
  tl_arena *arena;
  int32_t global_words;
  uint64_t *assigned;  // module variables that some function but the module's
                       // own code assigns
  tl_owned_function *functions;
} tl_owned_program;

// A growing list of instructions in an arena: the code of a block or an edge.
typedef struct tl_ins_list {
  tl_cfg_ins *items;
  int32_t count;
  int32_t slot_count;  // above the highest slot that ownership has added
  uint32_t capacity;
} tl_ins_list;

// The forward pass over one function.
typedef struct tl_flow {
  tl_owned_program *program;
  tl_owned_function *function;
  tl_cfg_function *cfg;
  tl_arena *arena;               // of the code; NULL: none is wanted
  tl_arena *scratch;             // of one pass over the function
  tl_state *now;                 // for each slot
  uint64_t *present;             // slots that have a state
  uint64_t *borrowers;           // those of them that borrow: few
  const uint64_t *after;         // live after the current instruction
  uint64_t *rows;                // live after each instruction of the block
  uint64_t *taken;               // slots that TAKE has set, on all paths
  uint64_t *risk, *mask, *gone;  // scratch sets
  tl_state *saved;               // scratch states
  tl_cfg_owned *owned;           // scratch: slots that own
  int32_t *operands;             // of the current instruction, after rescues
  uint8_t *modes;
  int32_t *borrowed;    // positions of operands that borrow
  int32_t *candidates;  // positions of operands that may be consumed
  uint8_t *uses;        // for each slot, how often it is an operand
  tl_ins_list *out;     // code; NULL: none is wanted
  tl_span span;
  // The definitions seen in this block: which instruction of it made a slot's
  // value, if the slot's turn is the current one. Counting visits of blocks
  // saves clearing the table for each.
  struct tl_defined {
    uint32_t iteration;
    int32_t at;
  } * defined;
  uint32_t iteration;  // counts the visits of blocks
  int32_t block, at;   // the current instruction
  // The slot to which SETEL hands the count of the item that it replaces, or
  // -1.
  int32_t successor;
  bool pins_slots;  // definition by definition took too many searches
  bool gives_back;  // operand 0 comes back if the instruction fails
  // A slot borrows from an invariant variable across the current instruction.
  bool depends;
  // While the borrowers of a slot that ends are settled: this one is the last,
  // and takes over all that is left.
  bool leaves;
  // No alias of the slot is left, so each borrower may inherit the count of the
  // item that it borrows.
  bool ends;
  bool again;  // a slot was pinned: search from the start
} tl_flow;

// --- Liveness (liveness.c) --------------------------------------------------

// Fills words, slots, spare, live, sequence, longest and most_operands. False:
// no memory.
bool tl_liveness(tl_arena *arena, tl_owned_function *function);

// What is live at the start of a block.
static inline uint64_t *tl_live_at(const tl_owned_function *f, int32_t block) {
  return f->live + (size_t)block * (size_t)f->words;
}
// Whether an UNTAKE puts an item back that nobody will see, as [live] says
// behind it.
TL_INLINED bool tl_is_idle(const tl_cfg_ins *ins, const uint64_t *live) {
  return ins->op == TL_BC_UNTAKE && !tl_bit(live, ins->result);
}
// The block that sees an error of [ins], or -1.
static inline int32_t tl_handler_of(const tl_cfg_ins *ins) {
  return ins->fails == TL_NEVER ? -1 : ins->handler;
}
// Sets [rows] to what is live behind each instruction of a block, one set
// after the other.
void tl_live_rows(const tl_owned_function *function, int32_t block,
                  uint64_t *rows);

// --- Places (place_flow.c) --------------------------------------------------

// Turns loads of items that nobody reads again before their places are set
// into TAKE. To be called behind tl_liveness. False: no memory.
bool tl_place_flow(tl_arena *arena, const tl_owned_function *function);

// --- States (resolve_borrows.c) ---------------------------------------------

// The state of a slot; one that has none counts as borrowing from what never
// ends.
const tl_state *tl_state_of(const tl_flow *flow, int32_t slot);
// Makes [state] the slot's; one with too many borrow owners is made an owner
// at its definitions instead.
void tl_set_state(tl_flow *flow, int32_t slot, const tl_state *state);
// Keeps the sets of present slots and borrowers true, after the slot's state
// has changed in place.
void tl_note_state(tl_flow *flow, int32_t slot);
// tl_set_state for what the current instruction defines: notes where.
void tl_define_state(tl_flow *flow, int32_t slot, const tl_state *state);
// The slot has no state any more: it is dead or consumed.
void tl_forget(tl_flow *flow, int32_t slot);

// Appends an instruction with slots x and y (-1: none), if code is wanted in
// this pass; returns it, or NULL.
tl_cfg_ins *tl_put(tl_flow *flow, int op, int32_t result, int32_t x, int32_t y,
                   tl_mode mode);
// Appends a copy of [ins], likewise; returns it, or NULL.
tl_cfg_ins *tl_put_ins(tl_flow *flow, const tl_cfg_ins *ins);

// The mode in which a slot of that state is consumed.
static inline tl_mode tl_mode_of(const tl_state *state) {
  return state->kind == TL_OWNS     ? TL_MODE_CONSUME
         : state->kind == TL_EITHER ? TL_MODE_EITHER
                                    : TL_MODE_BORROW;
}

// Whether the current instruction consumes operand [i], as far as modes are
// decided.
static inline bool tl_is_consumed(const tl_flow *flow, int32_t i) {
  return flow->modes[i] == TL_MODE_CONSUME || flow->modes[i] == TL_MODE_EITHER;
}

// Makes a slot an owner, and its view a holder of its block.
void tl_own(tl_flow *flow, int32_t slot);

// Makes the borrowers of [x] that are in [live] independent of it, because it
// ends or is written. With [update], x is about to be written: views are
// copied out, and [update] says where an error in that goes. If it replaces an
// item, flow->successor is a borrower that the update itself makes independent
// (tl_settle_successor).
void tl_settle(tl_flow *flow, int32_t x, const uint64_t *live,
               const tl_cfg_ins *update);

// That borrower (flow->successor) no longer needs [x], and is none any more.
void tl_settle_successor(tl_flow *flow, int32_t x);

// Ends every slot that is not in [live]: its borrowers first, then itself.
void tl_end_dead(tl_flow *flow, const uint64_t *live);

// Everything that borrowed from [from] borrows from [to].
void tl_rename_borrow_owner(tl_flow *flow, int32_t from, int32_t to);

// An instruction may fail here: passes the state on to its handler and, if
// code is wanted, notes in [ins] who owns. Slots in [gone] (or NULL) are no
// longer this function's.
void tl_may_fail(tl_flow *flow, tl_cfg_ins *ins, int32_t handler,
                 const uint64_t *gone);

// Joins the current state into the entry of [block], and marks the block to be
// gone through again if that changes it.
void tl_flow_into(tl_flow *flow, int32_t block);

// --- One instruction (transfer.c) -------------------------------------------

// Takes the current states through one instruction and writes it with its
// modes. [after] is live behind it. At the end of a block ([is_end]) what dies
// is left to the edges.
void tl_transfer(tl_flow *flow, const tl_cfg_ins *ins, const uint64_t *after,
                 bool is_end);

// --- What it defines (results.c) --------------------------------------------

// The function that a call goes to; NULL if it is not known.
const tl_owned_function *tl_callee_of(const tl_flow *flow,
                                      const tl_cfg_ins *ins);
// The library's function that it goes to; NULL if it is none.
const tl_builtin *tl_builtin_of(const tl_flow *flow, const tl_cfg_ins *ins);

// The state of what [ins] defines, from the operands' modes and states before
// those that are consumed are gone.
tl_state tl_result_state(const tl_flow *flow, const tl_cfg_ins *ins);

// --- One function (ownership.c) ---------------------------------------------

// Searches the states until they hold, and unless [code] is NULL, writes the
// code there: final where the callees' summaries are, and if the function calls
// itself, its own has not changed. False: no memory.
bool tl_own_function(tl_owned_program *program, tl_owned_function *function,
                     tl_arena *code);

// --- The program (summaries.c) ----------------------------------------------
// Notes that the function may rebind a module variable.
void tl_note_rebound(tl_owned_program *program, tl_owned_function *function,
                     int32_t global);
