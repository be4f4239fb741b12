// Functions of the library that know plain arrays or strings alone, applied to
// arrays that hold more: rows, missing values, structs, many strings. Which way
// is right for a function, its row says (tl_lifts in builtin.h):
//
//   TL_OF_MASKS  it chooses and places items: so it places what is missing too
//   TL_OF_ITEMS  it works on each item by itself: so it runs over the items of
//                all rows, or over the values that may be missing
//   TL_OF_TEXT   it takes a string: so it runs over each string of an array
//   TL_OF_ROWS   it works on each row: so rows in a grid are taken in order
//   TL_INNERMOST … and of rows of rows the innermost, whatever lies around them
//   TL_EACH_ROW  … and it works along an axis: so it is called for each row
//   TL_MOVES     it moves items without a look at them: so it is asked where
//                their numbers go, and the items follow
//   TL_MOVES_ROWS, TL_MOVES_EACH_ROW
//                … but within the rows of a grid, or of any rows, it is applied
//                as TL_OF_ROWS and TL_EACH_ROW are
#pragma once

#include "vm/builtin.h"

// Whether a call of these arguments goes through tl_lift.
static inline bool tl_is_lifted(const tl_builtin *b, const tl_slot *args) {
  return b->lifts != TL_NOT_LIFTED &&
         (tl_is_nested(args[0]) ||
          (b->lifts == TL_OF_TEXT && tl_is_array(args[0])));
}

// Makes a result independent of the arguments, for callers that may drop them.
static inline void tl_own_result(tl_vm *vm, const tl_builtin *b, tl_slot *out) {
  if (b->result == TL_RETURNS)
    *out = tl_escape(vm, out, TL_CAUSE_CALL);
  else if (!tl_is_string(*out))
    tl_hold(vm, *out, TL_CAUSE_VIEW);
}

// Runs the built-in so. Arguments and result as those of tl_builtin_fn.
// An error names the function and, where it was called for a row, the whole
// array.
bool tl_lift(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
             tl_slot *args, tl_slot *out);

// The call with other first arguments: lifted again where it has to be. The
// result does not depend on what the arguments are.
bool tl_lift_call(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                  tl_slot *args, tl_slot *out);
// Calls the built-in for each row of args[0], which is ragged, the axis within
// its rows: TL_EACH_ROW, and what else cannot take all rows at once.
// Fails (kind type) where no axis within the rows is given.
bool tl_lift_rows(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                  const tl_slot *args, tl_slot *out);
