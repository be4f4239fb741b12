// Bytecode written by hand, and whether the verifier takes it: for tests of the
// verifier.
#ifndef TALLY_TESTS_UNIT_BYTECODE_H
#define TALLY_TESTS_UNIT_BYTECODE_H

#include <stdio.h>

#include "tests/unit/fixture.h"
#include "vm/verify/verify.h"

// Which operands an instruction consumes.
enum {
  B = TL_MODE_CONSUME,
  C = TL_MODE_CONSUME << 2,
  A = TL_MODE_CONSUME << 4,
  EITHER_A = TL_MODE_EITHER << 4
};

typedef struct program {
  tl_unit unit;
  tl_prototype main, callee;
  tl_prototype *prototypes[2];
  tl_unwind_range ranges[4];
  tl_handler handler;
  uint16_t kept[2], own[2];
  uint8_t callee_modes[1];
  tl_slot constants[1];
} program;

static void open_program(program *p, tl_ins *code, uint32_t count) {
  memset(p, 0, sizeof *p);
  p->prototypes[0] = &p->main;
  p->prototypes[1] = &p->callee;
  p->unit.prototypes = p->prototypes;
  p->unit.prototype_count = 2;
  p->main.unit = p->callee.unit = &p->unit;
  p->main.code = code;
  p->main.code_count = count;
  p->main.slot_count = 6;
  p->main.ranges = p->ranges;
  p->main.constants = p->constants;
  p->main.constant_count = 1;
  p->constants[0] = tl_int(1);
  p->main.summary = (tl_summary){.may_own = true, .rebinds_any = true};
  p->callee.index = 1;
  p->callee.param_count = 1;
  p->callee.summary =
      (tl_summary){.may_own = true, .param_modes = p->callee_modes};
  p->callee_modes[0] = TL_MODE_EITHER;
}

// In [start, end) the slot owns.
static void owns(program *p, uint32_t start, uint32_t end, uint16_t slot) {
  p->ranges[p->main.range_count++] = (tl_unwind_range){start, end, slot, 0};
}

static tl_ins ins(int op, int a, int b, int c, int modes) {
  return (tl_ins){(uint8_t)op, (uint8_t)modes, (uint16_t)(16 * a),
                  (uint16_t)(16 * b), (uint16_t)(16 * c)};
}

static tl_ins jump(int op, int a, int offset, int modes) {
  return (tl_ins){(uint8_t)op, (uint8_t)modes, (uint16_t)(16 * a),
                  (uint16_t)offset, 0};
}

static void accept(tl_vm *vm, program *p) {
  bool ok = tl_verify_with(vm, &p->main, NULL, NULL);
  assert_string_equal(vm->error.set ? vm->error.message : "", "");
  assert_true(ok);
}

static bool was_broken[TL_RULE_COUNT];

// Notes which rules' texts the message may be, whatever slot it names.
static void note_rule(const char *message) {
  for (int i = 0; i < TL_RULE_COUNT; i++) {
    const char *text = tl_rule_texts[i], *mark = strstr(text, "%s");
    char before[80], after[80];
    size_t n = mark == NULL ? strlen(text) : (size_t)(mark - text);
    snprintf(before, sizeof before, "): %.*s", (int)n, text);
    snprintf(after, sizeof after, "%s; this is", mark == NULL ? "" : mark + 2);
    const char *at = strstr(message, before);
    if (at != NULL && strstr(at, after) != NULL &&
        (mark != NULL || strncmp(at + strlen(before), after, 5) == 0))
      was_broken[i] = true;
  }
}

// Fails where a rule of [from, to) was broken by no test of this program.
static void check_broken(int from, int to) {
  for (int i = from; i < to; i++)
    if (!was_broken[i])
      fail_msg("no test breaks: %s", tl_rule_texts[i]);
}

static void refuse(tl_vm *vm, program *p, const char *rule) {
  assert_false(tl_verify_with(vm, &p->main, NULL, NULL));
  assert_true(vm->error.set);
  assert_int_equal(vm->error.status, TALLY_ERR_HOST);
  if (strstr(vm->error.message, rule) == NULL)
    assert_string_equal(vm->error.message, rule);
  assert_non_null(strstr(vm->error.message, "fn: instruction "));
  note_rule(vm->error.message);
  tl_error_clear(vm);
}

#define OPEN(...)                \
  tl_ins code[] = {__VA_ARGS__}; \
  program p;                     \
  open_program(&p, code, sizeof code / sizeof *code)

#define TAKE(slot) ins(TL_BC_TAKEG, slot, 0, 0, 0)
#define RETURN(slot) ins(TL_BC_RET, slot, 0, 0, A)

#endif
