// What reading loops and making their second forms share.
//
//     loops.c ─▶ hoist.c
//     blocks of a loop, short loops in it     guards, rows, both forms
#pragma once

#include "vm/native/typed.h"

// What is larger is left as it is: a form that is written twice has to be
// small, and the pass linear in the operations.
enum {
  TL_HOIST_OPS = 192,  // of a loop, and of its second form
  TL_HOIST_BLOCKS = 48,
  TL_HOIST_SHORT = 4,  // iterations that are written out
  TL_HOIST_GUARDS = 16,
  TL_HOIST_LOOPS = 64,
  TL_HOIST_TRIES = 256,
};

// A loop that gets a second form, by the label of its head. Its blocks are
// those whose labels have its number as their [member].
typedef struct tl_hoist_loop {
  int32_t head;
  int32_t slow;  // the head's label in the form that tests everything
  // Iterations of that form go back to the guards: it is for a moment only.
  bool returns;
} tl_hoist_loop;

// The operations of a loop, or of its second form, without the head's label.
typedef struct tl_hoist_body {
  tl_typed ops[TL_HOIST_OPS];
  uint32_t size;
} tl_hoist_body;

// The pass over one unit. The old operations stay as they are until the end,
// and the new ones are appended behind them, so a loop may be read twice: to
// see whether it has a second form, and when that is written.
typedef struct tl_hoisting {
  tl_jit_code *code;
  uint32_t old_count;  // operations that were there
  int32_t old_labels;
  uint32_t room;   // for operations beyond as many as there were
  uint32_t tries;  // labels that were taken for heads so far
  tl_hoist_loop loops[TL_HOIST_LOOPS];
  int32_t loop_count;
  // Of the loop under way: the labels of its blocks, the head's first and the
  // step's last; its operations, and those of its second form.
  tl_hoist_loop *at;
  int32_t blocks[TL_HOIST_BLOCKS + 1];
  uint32_t block_count;
  tl_hoist_body old, new;
  int hidden, variable;
  uint64_t written;  // slots, but for the two and what the step writes
  int64_t polls;     // of an iteration
  bool by_one;       // the step is
  // What the second form's accesses want before it.
  tl_typed guards[TL_HOIST_GUARDS];
  uint32_t guard_count;
  tl_typed rows[TL_JIT_ROWS];
  uint32_t row_count;
} tl_hoisting;

// The last operation before [at] that writes the slot, in the same block, which
// begins behind operation 0; NULL: it is not known which one.
static inline const tl_typed *tl_hoist_writer(const tl_typed *ops, int slot,
                                              uint32_t at) {
  while (--at > 0 && ops[at].op != TL_TYPED_LABEL)
    if (tl_typed_has_result(&ops[at]) && ops[at].a % TL_JIT_SLOTS == slot)
      return &ops[at];
  return NULL;
}

// Where in the loop the label is; 0: nowhere.
static inline uint32_t tl_hoist_find_label(const tl_hoist_body *loop,
                                           int32_t label) {
  for (uint32_t i = 1; i < loop->size; i++)
    if (loop->ops[i].op == TL_TYPED_LABEL && loop->ops[i].to == label)
      return i;
  return 0;
}

// Reads the loop at x->at, and makes of its operations those of the second
// form, with short loops written out; false: it has none. The bodies of short
// loops, and their labels, are left to the slow form.
bool tl_hoist_read(tl_hoisting *x);
// Whether nothing but polls leaves the second form before its end, which is a
// poll and the step: then those of many iterations may be taken at once.
bool tl_hoist_is_closed(const tl_hoisting *x);
