// Typed operations of the units that golden scripts leave behind, each with one
// field changed, as no fault of the typing pass may get them past the check: it
// refuses what reads what is not there or leaves by what is not there, and
// whatever it lets pass can be made machine code of.
#include "tests/unit/host.h"

#include <stdio.h>

#include "vm/native/jit_internal.h"

// A register of a slot that no unit here has, and what is no register at all.
enum { EMPTY = 60, NO_NUMBER = 1000, CHANGES = 24 };
// Of each operation so many are changed, of all units.
enum { EACH = 6 };

typedef struct counts {
  tally_vm *vm;
  uint64_t units, refused, passed;
  int changed[TL_TYPED_COUNT_OF_OPS];
} counts;

static void unplace(tl_jit_code *code) {
  for (uint32_t i = 0; i < code->label_count; i++)
    code->labels[i].is_placed = false;
}

// Whether the check lets the code pass. What it does has to be emitted, if
// there is room for it.
static bool passes(counts *n, tl_jit_code *code) {
  uint32_t at;
  unplace(code);
  bool refused = tl_jit_check(code, &at) != NULL;
  n->refused += refused;
  n->passed += !refused;
  if (refused)
    return false;
  code->unit->code = NULL;
  assert_true(tl_jit_emit(code));
  if (code->unit->code != NULL)
    tl_code_drop(n->vm->jit->chunks, code->unit->code);
  code->unit->code = NULL;
  return true;
}

static bool is_written(int kind) {
  return kind >= TL_OPERAND_ID;
}

// Whether a register of that kind may not be TL_JIT_NONE.
static bool is_needed(int kind) {
  return is_written(kind) || kind == TL_OPERAND_I || kind == TL_OPERAND_F ||
         kind == TL_OPERAND_V || kind == TL_OPERAND_A || kind == TL_OPERAND_R;
}

// A path or a text, by its address.
static bool has_address(const tl_typed *t) {
  return t->op == TL_TYPED_PEEK || t->op == TL_TYPED_POKE ||
         t->op == TL_TYPED_RIF || t->op == TL_TYPED_RSET ||
         t->op == TL_TYPED_RCONST;
}

// Changes one of the operands: to nothing, to what is empty, to what is no
// register, and to some that others have. Returns whether it has to be refused;
// *same: there is no such change.
static bool change_operand(int16_t *r, int kind, int how, bool *same) {
  static const int16_t to[] = {TL_JIT_NONE,
                               -7,
                               EMPTY,
                               TL_JIT_FLOAT + EMPTY,
                               NO_NUMBER,
                               0,
                               1,
                               2,
                               3,
                               TL_JIT_FLOAT + 1,
                               TL_JIT_FLOAT + 2,
                               TL_JIT_FACTS + 1};
  if (how >= (int)(sizeof to / sizeof *to)) {
    *same = true;
    return false;
  }
  *same = *r == to[how];
  *r = to[how];
  if (how == 0)
    return is_needed(kind);
  if (how == 2)
    return kind != TL_OPERAND__ && !is_written(kind);
  return how <= 4 && (how != 3 || !is_written(kind));
}

static const tl_jit_type types[] = {TL_TYPE_UNKNOWN,
                                    TL_TYPE_ENTRY,
                                    TL_TYPE_MEMORY,
                                    TL_TYPE_INT,
                                    TL_TYPE_FLOAT,
                                    TL_TYPE_BOOL,
                                    TL_TYPE_SCALAR + TL_INT8,
                                    TL_TYPE_SCALAR + TL_FLOAT32,
                                    TL_TYPE_INT | TL_TYPE_WEAK,
                                    TL_TYPE_REFERENCE,
                                    TL_TYPE_REFERENCE + 1,
                                    TL_TYPE_REFERENCE + TL_JIT_TAGS - 1,
                                    TL_TYPE_ROW,
                                    255};
enum { TYPES = sizeof types / sizeof *types };

static bool change_type(tl_jit_type *type, int how, bool *same) {
  *same = how >= TYPES || *type == types[how];
  if (!*same)
    *type = types[how];
  return !*same;
}

// One field of an operation. Returns whether the result has to be refused.
static bool change(tl_typed *t, int field, int how, bool *same) {
  const tl_typed_info *info = &tl_typed_ops[t->op];
  int16_t *operands[] = {&t->a, &t->b, &t->c, &t->d, &t->e};
  switch (field) {
    case 0:
    case 1:
    case 2:
      return change_operand(operands[field], info->kinds[field], how, same);
    case 3:
    case 4:
      change_operand(operands[field], TL_OPERAND__, how, same);
      return false;
    case 5:
    case 6:
    case 7: {
      int kind = info->kinds[field - 5];
      return change_type(&t->from[field - 5], how, same) &&
             kind >= TL_OPERAND_I && kind <= TL_OPERAND_V &&
             *operands[field - 5] >= 0;
    }
    case 8:
      return change_type(&t->type, how, same) && how == TYPES - 1 &&
             is_written(info->kinds[0]);
    case 9:
      change_type(&t->other, how, same);
      return false;
    case 10: {
      static const uint8_t dtypes[] = {
          TL_INT8,        TL_FLOAT32,    TL_FLOAT64,    TL_BOOL,
          TL_INT64,       TL_UINT64,     TL_KIND_LIST,  TL_KIND_STRING,
          TL_KIND_RECORD, TL_KIND_RANGE, TL_KIND_ARRAY, 255};
      *same = how >= (int)sizeof dtypes || t->dtype == dtypes[how];
      if (!*same)
        t->dtype = dtypes[how];
      return false;
    }
    case 11:
    case 12: {
      int32_t *to = field == 11 ? &t->to : &t->exit;
      static const int32_t numbers[] = {
          NO_NUMBER, -NO_NUMBER, INT32_MAX, INT32_MIN, -1, 0, 1, 2, -2, -3, 5};
      *same =
          how >= (int)(sizeof numbers / sizeof *numbers) || *to == numbers[how];
      if (!*same)
        *to = numbers[how];
      return !*same && how < 4 &&
             (field == 11 ? tl_jit_jumps(t->op) || t->op == TL_TYPED_LABEL
                          : tl_typed_leaves(t->op, t->c));
    }
    case 13: {
      static const int64_t numbers[] = {0,  1,  -1,        2,
                                        63, 64, INT64_MIN, INT64_MAX};
      *same = how >= (int)(sizeof numbers / sizeof *numbers) ||
              t->imm == numbers[how] || has_address(t);
      if (!*same)
        t->imm = numbers[how];
      return false;
    }
    case 14:
      *same = how >= TL_IF_NGE || t->condition == how;
      if (!*same)
        t->condition = (uint8_t)how;
      return false;
    case 15:
      *same = how > 0 || t->callees[0] == NULL;
      if (!*same)
        t->callees[0] = NULL;
      return !*same;
    default: {
      // Another operation of the same fields; behind the last there is none.
      int op = (field - 16) * CHANGES + how;
      *same = op > TL_TYPED_COUNT_OF_OPS || op == t->op || has_address(t);
      if (*same)
        return false;
      t->op = (uint8_t)op;
      *same = op < TL_TYPED_COUNT_OF_OPS && has_address(t);
      return op == TL_TYPED_COUNT_OF_OPS;
    }
  }
}

enum { FIELDS = 16 + TL_TYPED_COUNT_OF_OPS / CHANGES + 1 };

// Returns whether there was one that had not been changed often enough.
static bool change_operations(counts *n, tl_jit_code *code) {
  bool any = false;
  for (uint32_t i = 0; i < code->op_count; i++) {
    if (n->changed[code->ops[i].op]++ >= EACH)
      continue;
    any = true;
    for (int field = 0; field < FIELDS; field++)
      for (int how = 0; how < CHANGES; how++) {
        tl_typed before = code->ops[i];
        bool same = false;
        bool wrong = change(&code->ops[i], field, how, &same);
        // Of a label the check reads its number alone.
        wrong &= before.op != TL_TYPED_LABEL || field == 11;
        if (!same && passes(n, code) && wrong)
          fail_msg("operation %u of %u (%s): field %d, change %d passes", i,
                   code->op_count, tl_typed_ops[before.op].name, field, how);
        code->ops[i] = before;
      }
  }
  return any;
}

// What labels and exits say of slots, and where they are.
static void change_places(counts *n, tl_jit_code *code) {
  for (uint32_t i = 0; i < code->label_count; i++) {
    tl_jit_label before = code->labels[i];
    for (int s = 0; s < 12; s++)
      for (int how = 0; how < TYPES; how++) {
        bool same;
        change_type(&code->labels[i].types[s], how, &same);
        if (!same)
          passes(n, code);
        code->labels[i] = before;
      }
    for (int32_t loop = -1; loop < (int32_t)code->label_count; loop++) {
      code->labels[i].loop = loop;
      passes(n, code);
      code->labels[i] = before;
    }
  }
  for (uint32_t i = 0; i < code->exit_count; i++) {
    tl_jit_exit before = code->exits[i];
    for (int s = 0; s < 12; s++) {
      code->exits[i].slots ^= UINT64_C(1) << s;
      passes(n, code);
      code->exits[i] = before;
      for (int how = 0; how < TYPES; how++) {
        bool same;
        change_type(&code->exits[i].types[s], how, &same);
        if (!same)
          passes(n, code);
        code->exits[i] = before;
      }
    }
    code->exits[i].pc = code->flow->count;
    passes(n, code);
    code->exits[i] = before;
  }
}

// What the unit says of its entry and of its result.
static void change_unit(counts *n, tl_jit_code *code) {
  tl_jit_unit *unit = code->unit, before = *unit;
  for (int s = 0; s < 12; s++)
    for (int what = 0; what < 6; what++) {
      uint64_t bit = UINT64_C(1) << s;
      if (what == 0)
        unit->tags[s] ^= TL_OWNED;
      else if (what == 1)
        unit->tags[s] = TL_TAG_I64;
      else if (what == 2)
        unit->pinned ^= bit;
      else if (what == 3)
        unit->live ^= bit;
      else if (what == 4)
        unit->references[s] = TL_TAG_STRING;
      else
        unit->references[s] ^= TL_OWNED;
      passes(n, code);
      *unit = before;
    }
  for (uint32_t i = 0; i < unit->array_count; i++)
    for (int what = 0; what < 4; what++) {
      tl_jit_array *array = &unit->arrays[i];
      if (what == 0)
        array->tag ^= TL_DENSE;
      else if (what == 1)
        array->tag ^= TL_DIRECT;
      else if (what == 2)
        array->slot = EMPTY;
      else
        array->is_written = !array->is_written;
      passes(n, code);
      *unit = before;
    }
  for (int what = 0; what < 5 + TYPES; what++) {
    if (what == 0)
      unit->is_function = !unit->is_function;
    else if (what == 1)
      unit->owns = !unit->owns;
    else if (what == 2)
      unit->result_count++;
    else if (what == 3)
      unit->result_tags[0] = TL_TAG_STRING;
    else if (what == 4)
      unit->does = !unit->does;
    else
      unit->result = types[what - 5];
    passes(n, code);
    *unit = before;
  }
}

static void change_all(void *context, const tl_jit_code *made) {
  counts *n = context;
  tl_jit_code code = *made;
  if (code.op_count > 100)
    return;
  tl_jit_unit unit = *code.unit;
  code.unit = &unit;
  n->units++;
  uint64_t before = n->passed;
  assert_true(passes(n, &code));
  n->passed = before;
  if (change_operations(n, &code)) {
    change_places(n, &code);
    change_unit(n, &code);
  }
  assert_true(passes(n, &code));
}

static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

// The parts of a golden script, each in a VM of its own.
static void change_units_of(const char *path, counts *n) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  static char text[1 << 17];
  size_t nbytes = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[nbytes] = 0;
  for (char *part = text, *next; part != NULL; part = next) {
    next = strstr(part, "\n### ");
    if (next != NULL)
      *next++ = 0;
    tally_options options = tally_default_options();
    options.native = TALLY_NATIVE_ALWAYS;
    options.write = write_nothing;
    options.threads = 1;
    assert_int_equal(tally_open(&options, &n->vm), TALLY_OK);
    tally_run_source(n->vm, path, part, strlen(part), 0, NULL);
    if (n->vm->jit != NULL && !n->vm->jit->is_off)
      assert_true(tl_jit_each_code(n->vm, change_all, n));
    tally_close(n->vm);
  }
}

static void no_changed_operation_does_harm(void **state) {
  (void)state;
  static const char *const files[] = {"arrays", "by_c",   "calls", "dtypes",
                                      "errors", "places", "short", "types"};
  counts n = {0};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[100];
    snprintf(path, sizeof path, "tests/lang/native_%s.tly", files[i]);
    change_units_of(path, &n);
  }
  if (!tally_has_native_code())
    skip();
  assert_true(n.units > 100 && n.refused > 100000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_changed_operation_does_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
