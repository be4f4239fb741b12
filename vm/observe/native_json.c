// The typed operations of machine code as JSON, of which
// stdlib/inner/native.tly makes what `tally dis --native` prints.
//
//     tl_json_native ─ put_unit ─ put_operation ─┬─ put_operand
//                                                └─ put_named
//
// Registers stand as their numbers; what [imm] is the address or the number of
// stands as a text.
//
// Built for size.

#include "vm/elementwise.h"
#include "vm/native/jit.h"
#include "vm/native/typed.h"
#include "vm/observe/code_json.h"

// The value of a constant operand [i], as a text; its kind says how its bits
// are read: a float32 has its 32 bits at the lower end, and of a text they are
// the address, which is shown as the text.
static void put_immediate(tl_text *out, const tl_typed *t, int i) {
  const size_t begin = out->length;
  const int kind = tl_typed_ops[t->op].kinds[i];
  double f;
  float single;
  memcpy(&f, &t->imm, sizeof f);
  memcpy(&single, &t->imm, sizeof single);
  bool computes = kind == TL_OPERAND_S && tl_jit_is_float(t->from[i]);
  bool is_float = kind == TL_OPERAND_N || kind == TL_OPERAND_W ||
                  t->op == TL_TYPED_FCONST || computes;
  tl_dtype dtype = computes ? tl_jit_dtype(t->from[i]) : (tl_dtype)t->dtype;
  if (kind == TL_OPERAND_T)
    tl_text_printf(out, "\"%s\"", ((const tl_string *)(intptr_t)t->imm)->text);
  else if (is_float)
    tl_text_printf(out, "%.17g", dtype == TL_FLOAT32 ? (double)single : f);
  else
    tl_text_printf(out, "%lld", (long long)t->imm);
  tl_json_quote_rest(out, begin);
}

// Operand [i] of an operation: a register or the number of an array, or a
// constant as a text, as the only one of CONST is; null where the operation has
// none. TL_OPERAND_S is none where it has no type, TL_OPERAND_C where the
// function is known.
static void put_operand(tl_text *out, const void *of, uint32_t i) {
  const tl_typed *t = of;
  const int16_t operands[] = {t->a, t->b, t->c};
  const int kind = tl_typed_ops[t->op].kinds[i];
  const bool is_constant = t->op == TL_TYPED_CONST || t->op == TL_TYPED_FCONST;
  if (is_constant && i == 1)
    put_immediate(out, t, 1);
  else if (kind == TL_OPERAND__ ||
           (kind == TL_OPERAND_S && t->from[i] == TL_TYPE_UNKNOWN) ||
           (kind == TL_OPERAND_C && operands[i] == TL_JIT_NONE))
    tl_text_puts(out, "null");
  else if (operands[i] == TL_JIT_NONE)
    put_immediate(out, t, (int)i);
  else
    tl_text_printf(out, "%d", operands[i]);
}

// A step of a place: the field's name, or null for an index.
static void put_step(tl_text *out, const void *of, uint32_t i) {
  tl_json_name(out, &((const tl_path *)of)->steps[i].field, 0);
}

// What the operation names besides its operands; null: nothing. It is read from
// what the operation has addresses of, which is there as long as the function.
static void put_named(tl_text *out, const tl_jit_code *code,
                      const tl_typed *t) {
  const tl_prototype *p = code->unit->function;
  const tl_string *name = NULL;
  const tl_path *path = NULL;
  tl_text_puts(out, ", \"named\": ");
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_FIELD:
      name = (const tl_string *)(intptr_t)t->imm;
      break;
    case TL_TYPED_GET:
    case TL_TYPED_PUT:
      name = p->unit->module->variable_names[t->imm];
      break;
    case TL_TYPED_CAPTURED:
      name = p->capture_names[t->imm];
      break;
    case TL_TYPED_CALL:
    case TL_TYPED_ROWCALL:
      name = t->callees[0]->function->name;
      break;
    case TL_TYPED_PEEK:
    case TL_TYPED_POKE:
      path = (const tl_path *)(intptr_t)t->imm;
      break;
    case TL_TYPED_DO:
    case TL_TYPED_DOIF:
      tl_text_printf(out, "\"%s\"",
                     tl_opcodes[p->code[code->exits[t->exit].pc].op].name);
      return;
    default:
      break;
  }
  tl_json_name(out, &name, 0);
  if (path != NULL)
    tl_json_list(out, "steps", path, (uint32_t)path->step_count, put_step);
}

// The dtype that an operation is of, where its name does not say it: the
// result's, and of a store or a jump what is stored or compared. int64, float64
// and bool are the usual ones, and are left out.
static const char *width_of(const tl_typed *t) {
  bool writes = tl_typed_has_result(t) && tl_jit_is_scalar(t->type);
  bool stores = t->op == TL_TYPED_STORE || t->op == TL_TYPED_WRITE ||
                t->op == TL_TYPED_FIF ||
                (t->op == TL_TYPED_SETITEM && t->dtype < TL_DTYPE_COUNT);
  tl_dtype dtype = stores ? (tl_dtype)t->dtype : tl_jit_dtype(t->type);
  return (writes || stores) && dtype != TL_INT64 && dtype != TL_FLOAT64 &&
                 dtype != TL_BOOL
             ? tl_dtypes[dtype].name
             : "";
}

// An operation: "prefix" stands before the name of one that takes what value
// there is, and says which.
static void put_operation(tl_text *out, const void *of, uint32_t i) {
  const tl_jit_code *code = of;
  const tl_typed *t = &code->ops[i];
  const uint8_t kind = tl_typed_ops[t->op].kinds[0];
  const tl_jit_type type = kind == TL_OPERAND_V ? t->from[0] : t->type;
  const char *prefix = kind != TL_OPERAND_V && kind != TL_OPERAND_VD ? ""
                       : tl_typed_is_of_float(t)                     ? "f"
                       : tl_jit_is_scalar(type)                      ? ""
                                                                     : "r";
  tl_text_printf(out,
                 "{\"op\": \"%s\", \"prefix\": \"%s\", \"width\": \"%s\", "
                 "\"writes\": %s, \"jumps\": %s, \"condition\": %d, "
                 "\"is_right\": %s, \"then\": %d, \"low\": %d, \"high\": %d, "
                 "\"imm\": %lld, \"d\": %d, \"e\": %d, \"to\": %d, "
                 "\"exit\": %d",
                 tl_typed_ops[t->op].name, prefix, width_of(t),
                 tl_json_bool(tl_typed_has_result(t)),
                 tl_json_bool(tl_jit_jumps(t->op)), t->condition,
                 tl_json_bool(tl_short_is_right(t)), tl_short_then(t),
                 tl_jit_low(t), tl_jit_high(t), (long long)t->imm, t->d, t->e,
                 t->to, t->exit);
  tl_json_list(out, "operands", t, 3, put_operand);
  put_named(out, code, t);
  tl_text_puts(out, "}\n");
}

// A label by its pc, and by a letter for all but the first version.
static void put_label(tl_text *out, const void *of, uint32_t i) {
  const tl_jit_label *label = &((const tl_jit_code *)of)->labels[i];
  const char version[] = {(char)('a' + label->version), 0};
  tl_text_printf(out, "\"%u%s\"", label->pc, label->version > 0 ? version : "");
}

static void put_exit(tl_text *out, const void *of, uint32_t i) {
  tl_text_printf(out, "%u", ((const tl_jit_code *)of)->exits[i].pc);
}

static void put_array(tl_text *out, const void *of, uint32_t i) {
  tl_text_printf(out, "%d", ((const tl_jit_code *)of)->unit->arrays[i].slot);
}

static void put_elementwise(tl_text *out, const void *of, uint32_t i) {
  (void)of;
  tl_text_printf(out, "\"%s\"", tl_ops[i].name);
}

// A visitor of tl_jit_each_code. The line is that of the entry.
static void put_unit(void *context, const tl_jit_code *code) {
  tl_text *out = context;
  const tl_jit_unit *u = code->unit;
  const tl_prototype *p = u->function;
  const bool is_first = out->length > 0 && out->bytes[out->length - 1] == '[';
  tl_text_puts(out, is_first ? "{" : ", {");
  tl_json_list(out, "variables", p->slot_names, p->named_count, tl_json_name);
  tl_json_list(out, "arrays", code, u->array_count, put_array);
  tl_json_list(out, "labels", code, code->label_count, put_label);
  tl_json_list(out, "exits", code, code->exit_count, put_exit);
  tl_json_list(out, "ops", code, code->op_count, put_operation);
  tl_text_printf(out,
                 ", \"is_function\": %s, \"pc\": %u, \"line\": %u, "
                 "\"size\": %u, \"first_row\": %d, \"name\": ",
                 tl_json_bool(u->is_function), u->pc, tl_line_at(p, u->pc),
                 u->size, tl_jit_first_row(u));
  tl_json_name(out, &p->name, 0);
  tl_text_puts(out, "}");
}

void tl_json_native(tl_text *out) {
  tl_text_printf(out, "{\"slots\": %d, \"facts\": %d, \"facts_each\": %d",
                 TL_JIT_SLOTS, TL_JIT_FACTS, TL_JIT_FACTS_EACH);
  tl_json_list(out, "elementwise", NULL, TL_OP_COUNT, put_elementwise);
  tl_text_puts(out, ", \"units\": [");
  out->failed |= !tl_jit_each_code(out->vm, put_unit, out);
  tl_text_puts(out, "]}");
}
