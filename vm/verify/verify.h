// Inside the verifier: abstract interpretation of finished bytecode. It knows
// opcodes, modes, the unwind map and summaries, and nothing of the compiler's
// reasons.
#pragma once

#include "vm/bytecode/function.h"
#include "vm/verify/borrow_owners.h"
#include "vm/verify/verify_rules.h"

// What is known at a place that several paths reach: slots with a state.
// Filled in for leaders alone; of other instructions only [handler] is.
typedef struct tl_join_point {
  bool is_leader;  // a jump or an error may lead here
  bool reached, dirty;
  bool refuted;  // the unwind map does not hold behind it, as states were last
  uint32_t handler;  // that an error here goes to, and 1; 0: none
  uint32_t count, capacity;
  struct tl_slot_state {
    uint32_t slot;
    tl_state state;
  } * states;  // by slot
} tl_join_point;

// Slots that rules look at, each once.
typedef struct tl_slot_list {
  uint32_t *slots, count;
  bool *has;  // for each slot of the function
} tl_slot_list;

// Several items that are out of one container: a path, and the others as
// tl_state.open says it. Numbered from TL_SEVERAL on.
enum { TL_MOST_OPEN = 64 };
#define TL_SEVERAL (UINT32_C(1) << 31)
typedef struct tl_open_items {
  uint32_t path, rest;
} tl_open_items;

// One function's verification. The driver (verify.c) makes and frees it.
typedef struct tl_checker {
  tl_vm *vm;
  tl_prototype *p;
  uint32_t pc;  // of the instruction looked at
  tl_decoded ins;
  tl_state *now;    // for each slot
  tl_state *error;  // the same as an error finds it
  // Slots that own or are lent something, and perhaps some that no longer do:
  // long scripts have thousands of plain ones, which no rule looks at.
  tl_slot_list busy;
  // Those of them that something lends, or once lent.
  tl_slot_list borrowers;
  uint8_t *marks;  // for each slot, what the lists of [marked] say of it
  const struct tl_handler *marked;
  uint32_t *mapped, round;  // for each slot, when a range last dropped it
  // The unwind ranges over each stretch of TL_STRETCH instructions.
  uint32_t *stretch_starts, *stretch_ranges, stretch_total;
  tl_join_point *points;  // for each pc
  tl_join_point *leader;  // whose path is followed
  uint32_t next;          // no leader before it has to be looked at again
  int64_t
      container_end;  // the slot that INHERIT takes apart, until it ends; or -1
  // What the last instruction defined, or moved, with more lenders than a set
  // holds, or -1: none of them has ended yet, so that OWN may follow.
  int64_t overflowed, was_overflowed;
  tl_open_items open[TL_MOST_OPEN];
  uint32_t open_count;
  bool settled;   // states have reached their fixpoint
  bool is_trial;  // what is refused is no error yet
  // After the search: called once for each reachable instruction, before it.
  void (*visit)(struct tl_checker *checker, void *context);
  void *context;
} tl_checker;

// Instructions of a stretch: few enough that a stretch has few ranges, many
// enough that the index is small.
enum { TL_STRETCH = 32 };

// Puts a slot among the busy ones, if its state is more than an immortal's
// borrow, and among the lent ones, if it has a lender.
void tl_check_busy(tl_checker *c, uint32_t slot);
// Puts it among both.
void tl_check_watch(tl_checker *c, uint32_t slot);

// Refuses the function: always false. The message names function, instruction,
// slot and rule.
bool tl_refuse(tl_checker *c, uint32_t slot, tl_verify_rule broken);

// --- States (verify_state.c): [states] is now or error ----------------------

// Every borrower of [who] is invalid from now on.
void tl_end_borrow_owner(tl_checker *c, tl_state *states, uint32_t who);
// Calls [from] by the name [to] in every set.
void tl_rename_borrow_owners(tl_checker *c, tl_state *states, uint32_t from,
                             uint32_t to);
// Whether the slot may be settled, and whether it may be read, which needs all
// its items: false after refusing.
bool tl_check_alive(tl_checker *c, uint32_t slot);
// As tl_check_alive, and nothing is moved out of it at the moment (`open`).
bool tl_check_read(tl_checker *c, uint32_t slot);
// Gives a slot a new state; its old value may not be owned.
bool tl_check_define(tl_checker *c, uint32_t slot, tl_state state);
// DROP, OWN, SETTLE, KEEP, HOLD; DETACH without its error.
bool tl_check_ownership(tl_checker *c);
// [borrower] no longer needs [borrow_owner] for what it is an item or an alias
// of.
void tl_check_kept(tl_checker *c, uint32_t borrow_owner, uint32_t borrower);
// Sets error to now, as far as an error of this instruction looks at it.
void tl_copy_states(tl_checker *c);
// Joins the states into the leader at [pc].
bool tl_check_join(tl_checker *c, uint32_t pc, const tl_state *states);
// The error edge of the current instruction, which finds [states].
bool tl_check_error(tl_checker *c, tl_state *states);

// --- Instructions (verify_ins.c) --------------------------------------------
// Applies the instruction c->ins to c->now and, where it may fail, hands the
// states of the error to tl_check_error. False after refusing, or without
// memory. The fields have been checked before.
bool tl_check_ins(tl_checker *c);

// --- Functions (verify.c) ---------------------------------------------------

// As tl_verify, for one function, with a visit of each instruction.
bool tl_verify_with(tl_vm *vm, tl_prototype *function,
                    void (*visit)(tl_checker *checker, void *context),
                    void *context);
