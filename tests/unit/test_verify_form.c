// The form of bytecode, which the verifier looks at first: instructions,
// indices, jumps and ranges that are none. The last test fails where a rule of
// form in verify_rules.h has been broken by none.
#include "tests/unit/bytecode.h"
#include "vm/elementwise.h"

static void code_is_there(void **state) {
  OPEN(RETURN(0));
  p.main.code_count = 0;
  refuse(*state, &p, "there is no code");
}

static void code_is_whole(void **state) {
  OPEN(ins(TL_BC_LOADI, 1, 0, 0, 0), ins(TL_BC_CALLK, 0, 0, 0, 0));
  refuse(*state, &p, "it is cut off");
}

static void jumps_lead_to_instructions(void **state) {
  OPEN(jump(TL_BC_JMP, 0, 7, 0), RETURN(0));
  refuse(*state, &p, "it leads to no instruction");
}

static void slots_are_in_the_frame(void **state) {
  OPEN(ins(TL_BC_MOVB, 0, 9, 0, 0), RETURN(0));
  refuse(*state, &p, "t9 is beyond the frame");
}

static void code_ends(void **state) {
  OPEN(TAKE(0), ins(TL_BC_DROP, 0, 0, 0, A));
  refuse(*state, &p, "the code runs over its end");
}

static void instructions_are_known(void **state) {
  OPEN(ins(TL_OPCODE_COUNT, 0, 0, 0, 0), RETURN(0));
  refuse(*state, &p, "instruction 0 (no opcode): there is no such instruction");
}

static void second_words_follow(void **state) {
  OPEN(TAKE(1), (tl_ins){TL_BC_CALLK, 0, 0, 1, 0}, RETURN(0));
  p.constants[0] = (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = &p.callee};
  refuse(*state, &p, "its second word is missing");
}

static void indices_are_in_range(void **state) {
  OPEN((tl_ins){TL_BC_LOADK, 0, 0, 5, 0}, RETURN(0));
  refuse(*state, &p, "instruction 0 (LOADK): its index is out of range");
}

// SELF and MEMBER name a function of a group that there is.
static void members_are_of_their_group(void **state) {
  tl_prototype *members[2];
  tl_group group = {2, members};
  OPEN((tl_ins){TL_BC_SELF, 0, 0, 1, 0}, TAKE(1), RETURN(1));
  members[0] = &p.main;
  members[1] = &p.callee;
  p.unit.groups = &group;
  p.unit.group_count = 1;
  accept(*state, &p);
  code[0].b = 2;
  refuse(*state, &p, "instruction 0 (SELF): its index is out of range");
  tl_ins other[] = {ins(TL_BC_LOADI, 1, 0, 0, 0), ins(TL_BC_MEMBER, 0, 1, 0, 0),
                    (tl_ins){TL_BC_EXTRA, 0, 0, 2, 0}, RETURN(0)};
  p.main.code = other;
  p.main.code_count = 4;
  refuse(*state, &p, "instruction 1 (MEMBER): its index is out of range");
}

// ELEM1 to ELEM3 name an operation of as many operands.
static void operations_have_their_operands(void **state) {
  OPEN(TAKE(0), ins(TL_BC_ELEM1, 1, 0, 0, B), ins(TL_BC_EXTRA, 0, 0, 0, 0),
       RETURN(1));
  owns(&p, 1, 3, 0);
  const uint16_t wrong[] = {TL_OP_COUNT, TL_OP_ADD, TL_OP_WHERE, 0xffff};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    code[2] = (tl_ins){TL_BC_EXTRA, 0, 0, wrong[i], 0};
    refuse(*state, &p, "instruction 1 (ELEM1): its index is out of range");
  }
  code[2] = (tl_ins){TL_BC_EXTRA, 0, 0, TL_OP_SQRT, 0};
  p.main.range_count = 0;
  owns(&p, 1, 2, 0);
  accept(*state, &p);
}

static void a_literal_stands_beside_itself_as_a_float(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MULK, 1, 0, 0, B), RETURN(1));
  owns(&p, 1, 2, 0);
  refuse(*state, &p, "instruction 1 (MULK): its index is out of range");
}

static void fields_are_whole_slots(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOV, 1, 0, 0, B), RETURN(1));
  accept(*state, &p);
  code[1].b += 8;
  refuse(*state, &p, "is beyond the frame");
}

// What is done with the next instruction is used up by that.
static void check_pair(tl_vm *vm, tl_ins first, tl_ins second,
                       const char *rule) {
  OPEN(TAKE(0), ins(TL_BC_LOADI, 3, 0, 0, 0), first, second,
       ins(TL_BC_DROP, 1, 0, 0, EITHER_A), RETURN(2));
  owns(&p, 2, 3, 0);
  owns(&p, 3, 4, 1);
  if (rule == NULL) {
    code[4].a = 3 * 16;
    accept(vm, &p);
  } else {
    refuse(vm, &p, rule);
  }
}

static void what_is_joined_follows(void **state) {
  tl_vm *vm = *state;
  const char *rule = "instruction 2 (SUB): the operation that it does";
  tl_ins first = ins(TL_BC_SUB, 1, 0, 3, B | TL_WITH_NEXT);
  check_pair(vm, first, ins(TL_BC_MUL, 2, 1, 3, B), NULL);
  check_pair(vm, first, ins(TL_BC_SUB, 2, 3, 1, C), NULL);
  check_pair(vm, first, ins(TL_BC_DIV, 2, 1, 3, B), rule);
  check_pair(vm, first, ins(TL_BC_MUL, 2, 1, 3, 0), rule);
  check_pair(vm, first, ins(TL_BC_MUL, 2, 1, 1, B), rule);
  check_pair(vm, first, ins(TL_BC_MUL, 2, 3, 3, 0), rule);
  check_pair(vm, first, ins(TL_BC_MOV, 2, 1, 0, B), rule);
}

// The second may be done with the next one as well.
static void pairs_may_overlap(void **state) {
  OPEN(TAKE(0), ins(TL_BC_LOADI, 3, 0, 0, 0),
       ins(TL_BC_MUL, 1, 0, 3, B | TL_WITH_NEXT),
       ins(TL_BC_ADD, 2, 1, 3, B | TL_WITH_NEXT), ins(TL_BC_SUB, 4, 2, 3, B),
       RETURN(4));
  owns(&p, 2, 3, 0);
  owns(&p, 3, 4, 1);
  owns(&p, 4, 5, 2);
  accept(*state, &p);
  code[4].op = TL_BC_DIV;
  refuse(*state, &p, "instruction 3 (ADD): the operation that it does");
}

static void calls_have_their_arguments(void **state) {
  OPEN((tl_ins){TL_BC_CALLK, 0, 0, 0, 0}, ins(TL_BC_EXTRA, 0, 0, 0, 0),
       RETURN(0));
  p.constants[0] = (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = &p.callee};
  refuse(*state, &p, "the callee takes another number of arguments");
}

static void only_built_ins_are_called_as_such(void **state) {
  OPEN((tl_ins){TL_BC_CALLB, 0, 0, 0, 0}, ins(TL_BC_EXTRA, 0, 0, 0, 0),
       RETURN(0));
  refuse(*state, &p, "the constant called is no built-in");
}

static void ranges_have_an_extent(void **state) {
  OPEN(TAKE(0), RETURN(0));
  owns(&p, 1, 1, 0);
  refuse(*state, &p, "an unwind range of t0 is none");
}

static void every_rule_of_form_has_a_test(void **state) {
  (void)state;
  check_broken(0, TL_RULE_OF_FORM);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(code_is_there),
      FIXTURE_TEST(code_is_whole),
      FIXTURE_TEST(jumps_lead_to_instructions),
      FIXTURE_TEST(slots_are_in_the_frame),
      FIXTURE_TEST(code_ends),
      FIXTURE_TEST(instructions_are_known),
      FIXTURE_TEST(second_words_follow),
      FIXTURE_TEST(indices_are_in_range),
      FIXTURE_TEST(members_are_of_their_group),
      FIXTURE_TEST(operations_have_their_operands),
      FIXTURE_TEST(a_literal_stands_beside_itself_as_a_float),
      FIXTURE_TEST(fields_are_whole_slots),
      FIXTURE_TEST(what_is_joined_follows),
      FIXTURE_TEST(pairs_may_overlap),
      FIXTURE_TEST(calls_have_their_arguments),
      FIXTURE_TEST(only_built_ins_are_called_as_such),
      FIXTURE_TEST(ranges_have_an_extent),
      FIXTURE_TEST(every_rule_of_form_has_a_test),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
