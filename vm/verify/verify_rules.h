// The verifier's rules, one line each: what a refusal says. %s is the slot. The
// test of the verifier has bytecode that breaks each, and fails where a rule
// has none.
#pragma once

// RULE(NAME, text)
#define TL_RULES(RULE)                                                         \
  /* form */                                                                   \
  RULE(NO_CODE, "there is no code")                                            \
  RULE(NO_INS, "there is no such instruction")                                 \
  RULE(CUT_OFF, "it is cut off")                                               \
  RULE(NO_SECOND_WORD, "its second word is missing")                           \
  RULE(RUNS_OVER, "the code runs over its end")                                \
  RULE(NO_TARGET, "it leads to no instruction")                                \
  RULE(BEYOND_FRAME, "%s is beyond the frame")                                 \
  RULE(BAD_INDEX, "its index is out of range")                                 \
  RULE(BAD_COUNT, "the callee takes another number of arguments")              \
  RULE(NO_SECOND, "the operation that it does, too, does not follow")          \
  RULE(NO_BUILTIN, "the constant called is no built-in")                       \
  RULE(NO_RANGE, "an unwind range of %s is none")                              \
  /* reading and writing */                                                    \
  RULE(READ_ABSENT, "%s is read but has no value")                             \
  RULE(READ_INVALID, "%s is read but its lender has ended")                    \
  RULE(READ_OPEN, "%s is read while an item is taken out of it")               \
  RULE(OVERWRITTEN, "%s is overwritten while it owns")                         \
  /* consuming */                                                              \
  RULE(CONSUMED_UNOWNED, "%s is consumed but does not own for certain")        \
  RULE(CONSUMED_TWICE, "%s is consumed twice")                                 \
  RULE(CONSUMED_AND_READ, "%s is consumed and read")                           \
  RULE(BORROW_OWNER_CONSUMED, "%s is read, but its lender is consumed")        \
  RULE(LENT_BY_CONSUMED, "what %s lends to the result is consumed")            \
  RULE(CONSUMED_KEPT, "%s is consumed where it must stay")                     \
  RULE(TARGET_KEPT, "the target %s may own but is not consumed")               \
  RULE(DROPPED_ABSENT, "%s is dropped but has no value")                       \
  RULE(DROPPED_UNOWNED, "%s is dropped but does not own for certain")          \
  RULE(DROPPED_MODELESS, "%s is dropped without a mode")                       \
  RULE(SETTLED_ITSELF, "%s is settled against itself")                         \
  RULE(SETTLED_ABSENT, "%s is settled but has no value")                       \
  RULE(CONTAINER_END, "%s has given items to its heirs but does not end")      \
  /* calls and module variables */                                             \
  RULE(NOTHING_BACK, "the function called gives nothing back")                 \
  RULE(VALUE_BORROWS, "a function that becomes a value borrows only")          \
  RULE(GIVEN_LENT_BLOCK, "%s is given away, but its block is lent")            \
  RULE(GIVEN_TO_BORROWER, "%s is given to a parameter that borrows")           \
  RULE(BACK_OVER_OWNER, "%s is given back while it owns")                      \
  RULE(LENT_BY_REBOUND, "%s is lent by a module variable that may be rebound") \
  RULE(INVARIANT_ASSIGNED,                                                     \
       "a function assigns what its unit takes for steady")                    \
  RULE(CODE_AS_VALUE, "the module's own code is no function to call")          \
  RULE(UNDECLARED_REBINDING,                                                   \
       "the summary leaves out that anything is rebound")                      \
  RULE(UNDECLARED_VARIABLE, "the summary leaves out a rebound variable")       \
  /* paths that meet, and returns */                                           \
  RULE(ONE_PATH, "%s owns on one path only")                                   \
  RULE(LEFT_AT_RETURN, "%s still owns at the return")                          \
  RULE(RETURNED_UNOWNED, "%s is returned but does not own for certain")        \
  RULE(RETURNED_AS_BORROW, "%s owns but is returned as a borrow")              \
  RULE(UNDECLARED_OWNED, "%s may own, which the summary leaves out")           \
  RULE(UNDECLARED_BORROWED,                                                    \
       "%s may be borrowed, which the summary leaves out")                     \
  RULE(UNDECLARED_BORROW_OWNER, "%s is lent by what the summary leaves out")   \
  /* errors */                                                                 \
  RULE(MAP_DROPS_UNOWNED, "the unwind map drops %s, which does not own")       \
  RULE(MAP_TOO_SURE, "the unwind map is sure that %s owns")                    \
  RULE(MAP_DROPS_KEPT, "the unwind map drops %s, which is kept")               \
  RULE(MAP_FORGETS, "the unwind map forgets %s")                               \
  RULE(KEPT_INVALID, "the handler keeps %s, which has no valid value")         \
  RULE(KEPT_EITHER, "the handler keeps %s, which may own")                     \
  RULE(KEPT_UNLENT, "the handler keeps %s but not its lender")

typedef enum tl_verify_rule {
#define RULE(NAME, text) TL_RULE_##NAME,
  TL_RULES(RULE)
#undef RULE
      TL_RULE_COUNT,
  TL_RULE_OF_FORM = TL_RULE_READ_ABSENT,  // those before it are of form
} tl_verify_rule;

extern const char *const tl_rule_texts[TL_RULE_COUNT];
