// Typed operations as text, for `tally dis --native`.
//
//     native total  entered at 4, line 3: 9 operations, 312 bytes
//        4                                   a label: its pc
//            k = mod i, 3
//            t9 = fitem l, k -> 8    exit 6  leaves before instruction 6, or
//            jump -> 8b                      goes to 8 with the other type
//        8b                                  the second version of 8
//
// A slot is called by its variable's name, where it has one; which of its two
// registers is meant, and the type, the operation's name says: an f in front
// for floats, an r for references, .float32 behind for other dtypes.
//
// Built for size.
#include <ctype.h>
#include <string.h>

#include "vm/engine/elementwise.h"
#include "vm/native/typed.h"

// A slot by its variable's name, or as t and its number.
static void put_slot(tl_text *out, const tl_prototype *p, uint32_t slot) {
  if (slot < p->named_count && p->slot_names[slot] != NULL)
    tl_text_puts(out, p->slot_names[slot]->text);
  else
    tl_text_printf(out, "t%u", slot);
}

// A slot by its name; a fact by that of its array: x.items, x.length.
static void put_register(tl_text *out, const tl_jit_unit *u, int r) {
  static const char *const facts[TL_JIT_FACTS_EACH] = {"items", "length",
                                                       "columns", "layers"};
  if (r < TL_JIT_FACTS) {
    put_slot(out, u->function, (uint32_t)r % TL_JIT_SLOTS);
    return;
  }
  if (r >= tl_jit_first_row(u)) {
    tl_text_printf(out, "row%d", r - tl_jit_first_row(u));
    return;
  }
  int k = (r - TL_JIT_FACTS) / TL_JIT_FACTS_EACH;
  put_slot(out, u->function, u->arrays[k].slot);
  tl_text_printf(out, ".%s", facts[(r - TL_JIT_FACTS) % TL_JIT_FACTS_EACH]);
}

// The value of a constant operand; [kind] says how its bits are read, and [i]
// which operand it is: a float32 has its 32 bits at the lower end. Of a text
// the kind has its address, which is printed as the text.
static void put_immediate(tl_text *out, const tl_typed *t, int kind, int i) {
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
}

// An index that is a slot and a constant, or one of these.
static void put_index(tl_text *out, const tl_jit_unit *u, int b,
                      int64_t offset) {
  if (b >= 0)
    put_slot(out, u->function, (uint32_t)b);
  if (b < 0 || offset != 0)
    tl_text_printf(out, b < 0 ? "%lld" : " %+lld", (long long)offset);
}

// x[i] or x[i, j]; x[i - 1] or row0[2], whose index was tested before the loop;
// and what is stored there.
static void put_item(tl_text *out, const tl_jit_unit *u, const tl_typed *t) {
  bool inside = t->op >= TL_TYPED_ROW && t->op <= TL_TYPED_WRITE;
  const int further[] = {t->d, t->e};
  tl_text_puts(out, " ");
  if (inside && t->e >= tl_jit_first_row(u))
    put_register(out, u, t->e);
  else
    put_slot(out, u->function, u->arrays[t->c].slot);
  tl_text_puts(out, "[");
  put_index(out, u, t->b, inside ? t->imm : 0);
  for (int i = 0; i < 2 && !inside && further[i] >= 0; i++) {
    tl_text_puts(out, ", ");
    put_register(out, u, further[i]);
  }
  tl_text_puts(out, "]");
  if (t->op == TL_TYPED_STORE || t->op == TL_TYPED_WRITE) {
    tl_text_puts(out, ", ");
    put_register(out, u, t->a);
  }
}

// guard every t4 -1 to t4 +1 < x.length: in all iterations.
static void put_guard(tl_text *out, const tl_jit_unit *u, const tl_typed *t) {
  tl_text_puts(out, t->d == 0 ? " every " : " ");
  put_index(out, u, t->b, tl_jit_low(t));
  if (tl_jit_high(t) != tl_jit_low(t)) {
    tl_text_puts(out, " to ");
    put_index(out, u, t->b, tl_jit_high(t));
  }
  tl_text_puts(out, " < ");
  put_register(out, u, t->c);
}

// An operation's name, in small letters as bytecode has them.
static void put_name(tl_text *out, const char *name) {
  for (; *name != 0; name++) tl_text_putc(out, (char)tolower(*name));
}

// The operation by its name, of one that takes what value there is with the
// letter for that.
static void put_operation_name(tl_text *out, const tl_typed *t) {
  int kind = tl_typed_ops[t->op].kinds[0];
  tl_jit_type type = kind == TL_OPERAND_V ? t->from[0] : t->type;
  if (t->op == TL_TYPED_COMPUTE) {
    put_name(out, tl_ops[t->condition].name);
    return;
  }
  if (kind == TL_OPERAND_V || kind == TL_OPERAND_VD)
    tl_text_puts(out, tl_typed_is_of_float(t)   ? "f"
                      : !tl_jit_is_scalar(type) ? "r"
                                                : "");
  put_name(out, tl_typed_ops[t->op].name);
}

// The operands that are read, with the sign between those of a comparison or of
// an operation on short arrays.
// Operands that the operation does not have are left out; TL_OPERAND_S is one
// of these where it has no type.
static void put_operands(tl_text *out, const tl_jit_unit *u,
                         const tl_typed *t) {
  static const char *const signs[] = {
      "<", "<=", ">", ">=", "==", "!=", "not <", "not <=", "not >", "not >="};
  const tl_typed_info *info = &tl_typed_ops[t->op];
  const int16_t operands[] = {t->a, t->b, t->c};
  bool writes = tl_typed_has_result(t);
  bool compares = t->op == TL_TYPED_IF || t->op == TL_TYPED_FIF ||
                  t->op == TL_TYPED_SET || t->op == TL_TYPED_FSET ||
                  t->op == TL_TYPED_RIF || t->op == TL_TYPED_RSET;
  const char *sign = compares                  ? signs[t->condition]
                     : t->op == TL_TYPED_SHORT ? tl_ops[t->condition].name
                                               : NULL;
  const char *between = tl_short_is_right(t) ? "" : " ";
  for (int i = writes ? 1 : 0; i < 3; i++) {
    bool one = info->kinds[i] == TL_OPERAND_S && t->from[i] == TL_TYPE_UNKNOWN;
    if (info->kinds[i] == TL_OPERAND__ || one)
      continue;
    tl_text_puts(out, between);
    if (sign != NULL && i == 2)
      tl_text_printf(out, "%s ", sign);
    between = sign != NULL ? " " : ", ";
    if (operands[i] == TL_JIT_NONE)
      put_immediate(out, t, info->kinds[i], i);
    else
      put_register(out, u, operands[i]);
  }
}

// The steps of a place, with the slots of its indices: l[k].w[i]. The slots
// stand side by side from t->d on, one for each step that is an index.
static void put_place(tl_text *out, const tl_jit_unit *u, const tl_typed *t) {
  const tl_path *path = (const tl_path *)(intptr_t)t->imm;
  uint32_t part = (uint32_t)t->d;
  for (int i = 0; i < path->step_count; i++) {
    const tl_step *step = &path->steps[i];
    if (step->field != NULL) {
      tl_text_printf(out, ".%s", step->field->text);
      continue;
    }
    tl_text_puts(out, "[");
    put_slot(out, u->function, part++);
    tl_text_puts(out, "]");
  }
}

// f(a, b), with the slots that hold the arguments: those behind the result's,
// which for several results is in [to] instead of [a].
static void put_call(tl_text *out, const tl_jit_unit *u, const tl_typed *t) {
  uint32_t a = t->op == TL_TYPED_ROWCALL ? (uint32_t)t->to
                                         : (uint32_t)t->a % TL_JIT_SLOTS;
  const char *name = t->callee->function->name->text;
  tl_text_puts(out, " ");
  if (t->b >= 0)
    put_register(out, u, t->b);
  if (t->b >= 0 && *name != 0)
    tl_text_puts(out, " = ");
  tl_text_printf(out, "%s(", name);
  for (int i = 0; i < t->d; i++) {
    tl_text_puts(out, i == 0 ? "" : ", ");
    put_slot(out, u->function, a + 1 + (uint32_t)i);
  }
  tl_text_puts(out, ")");
}

// z = short x multiply y add z: of short arrays, in the order of the operands.
static void put_short(tl_text *out, const tl_jit_unit *u, const tl_typed *t) {
  const bool right = tl_short_is_right(t);
  if (right) {
    tl_text_puts(out, " ");
    put_register(out, u, t->d);
    tl_text_printf(out, " %s (", tl_ops[tl_short_then(t)].name);
  }
  put_operands(out, u, t);
  if (right) {
    tl_text_puts(out, ")");
  } else if (t->d >= 0) {
    tl_text_printf(out, " %s ", tl_ops[tl_short_then(t)].name);
    put_register(out, u, t->d);
  }
}

// do getel: the instruction that C does.
static void put_done(tl_text *out, const tl_jit_code *code, const tl_typed *t) {
  uint8_t op = code->unit->function->code[code->exits[t->exit].pc].op;
  tl_text_puts(out, " ");
  put_name(out, tl_opcodes[op].name);
}

// A label by its pc, and by a letter for all but the first version.
static void put_label(tl_text *out, const tl_jit_code *code, int32_t number) {
  const tl_jit_label *label = &code->labels[number];
  tl_text_printf(out, "%u", label->pc);
  if (label->version > 0)
    tl_text_putc(out, (char)('a' + label->version));
}

// -> 17, or -> exit 17 where the way there leaves, as all versions of block 17
// are taken by other types.
static void put_target(tl_text *out, const tl_jit_code *code, int32_t to) {
  tl_text_puts(out, " -> ");
  if (to >= 0)
    put_label(out, code, to);
  else
    tl_text_printf(out, "exit %u", code->exits[-1 - to].pc);
}

// The dtype that an operation is of, where its name does not say it: the
// result's, and of a store or a jump what is stored or compared. int64, float64
// and bool are the usual ones, and are left out.
static void put_width(tl_text *out, const tl_typed *t) {
  bool writes = tl_typed_has_result(t) && tl_jit_is_scalar(t->type);
  bool stores = t->op == TL_TYPED_STORE || t->op == TL_TYPED_WRITE ||
                t->op == TL_TYPED_FIF;
  tl_dtype dtype = stores ? (tl_dtype)t->dtype : tl_jit_dtype(t->type);
  if ((writes || stores) && dtype != TL_INT64 && dtype != TL_FLOAT64 &&
      dtype != TL_BOOL)
    tl_text_printf(out, ".%s", tl_dtypes[dtype].name);
}

// One line: what is written, the operation, what it reads, where it goes, and
// the instruction before which it may leave.
//
//     t7 = fload x[i]    exit 12        what is written, the exit's instruction
//     fif y not > 1.5 -> 17             the label's pc, and b, c for versions
//     t4 = step t5, t6, i -> 4          the variable that it writes comes last
//     r = rcall moved(r, k)             arguments are the slots behind r's
//
// Names of fields, texts and constants are read from what the operation has
// addresses of, which is there as long as the function.
static void put_operation(tl_text *out, const tl_jit_code *code,
                          const tl_typed *t) {
  const tl_jit_unit *u = code->unit;
  if (t->op == TL_TYPED_LABEL) {
    tl_text_puts(out, "   ");
    put_label(out, code, t->to);
    tl_text_putc(out, '\n');
    return;
  }
  tl_text_puts(out, "       ");
  if (tl_typed_has_result(t)) {
    put_register(out, u, t->a);
    tl_text_puts(out, " = ");
  }
  if (t->op == TL_TYPED_ROW) {
    put_register(out, u, t->d);
    tl_text_puts(out, " = ");
  }
  put_operation_name(out, t);
  put_width(out, t);
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_LOAD:
    case TL_TYPED_STORE:
    case TL_TYPED_READ:
    case TL_TYPED_WRITE:
    case TL_TYPED_ROW:
      put_item(out, u, t);
      break;
    case TL_TYPED_CHUNK:
    case TL_TYPED_REST:
      put_operands(out, u, t);
      tl_text_puts(out, " ");
      put_register(out, u, t->d);
      break;
    case TL_TYPED_FUEL:
    case TL_TYPED_SPEND:
      tl_text_printf(out, " %lld", (long long)t->imm);
      break;
    case TL_TYPED_GUARD:
      put_guard(out, u, t);
      break;
    case TL_TYPED_CALL:
    case TL_TYPED_ROWCALL:
      put_call(out, u, t);
      break;
    case TL_TYPED_FIELD:
      put_operands(out, u, t);
      tl_text_printf(out, ".%s", ((tl_string *)(intptr_t)t->imm)->text);
      break;
    case TL_TYPED_PEEK:
    case TL_TYPED_POKE:
      put_operands(out, u, t);
      put_place(out, u, t);
      break;
    case TL_TYPED_GET:
    case TL_TYPED_PUT:
      put_operands(out, u, t);
      tl_text_printf(out, " %s",
                     u->function->unit->module->variable_names[t->imm]->text);
      break;
    case TL_TYPED_CAPTURED:
      tl_text_printf(out, " %s", u->function->capture_names[t->imm]->text);
      break;
    case TL_TYPED_SHORT:
      put_short(out, u, t);
      break;
    case TL_TYPED_DO:
    case TL_TYPED_DOIF:
      put_done(out, code, t);
      break;
    case TL_TYPED_CONST:
    case TL_TYPED_FCONST:
      tl_text_puts(out, " ");
      put_immediate(out, t, TL_OPERAND_K, 0);
      break;
    default:
      put_operands(out, u, t);
  }
  if (t->op == TL_TYPED_STEP && t->d >= 0) {
    tl_text_puts(out, ", ");
    put_register(out, u, t->d);
  }
  bool goes = t->to >= 0 && t->op != TL_TYPED_ROWCALL;
  if (goes || tl_jit_jumps(t->op))
    put_target(out, code, t->to);
  if (t->exit >= 0)
    tl_text_printf(out, "    exit %u", code->exits[t->exit].pc);
  if (t->exit < -1) {
    tl_text_puts(out, "    else");
    put_target(out, code, -2 - t->exit);
  }
  tl_text_putc(out, '\n');
}

// Lambdas have no name and are called fn. The head's line is that of the entry.
void tl_jit_list(const tl_jit_code *code, tl_text *out) {
  const tl_jit_unit *u = code->unit;
  const char *name = u->function->name->text;
  tl_text_printf(out, "native %s  %s at %u, line %u: %u operations, %u bytes\n",
                 *name == 0 ? "fn" : name,
                 u->is_function ? "called" : "entered", u->pc,
                 tl_line_at(u->function, u->pc), code->op_count, u->size);
  for (uint32_t i = 0; i < code->op_count; i++)
    put_operation(out, code, &code->ops[i]);
  tl_text_putc(out, '\n');
}
