// Lowering of expressions: names, operators, constants, fields. tl_lower_expr
// is the switch over all kinds of nodes; the other files of lowering hold the
// larger ones.

#include <string.h>

#include "compiler/lower.h"
#include "vm/values/list.h"
#include "vm/array/array.h"
#include "vm/embedded.h"
#include "vm/engine/engine.h"

// --- Names ------------------------------------------------------------------

// Where a captured variable stands among the function's captures, or -1.
static int32_t capture_index(const tl_closure_group *group,
                             const tl_variable *variable) {
  for (uint32_t i = 0; group != NULL && i < group->capture_count; i++) {
    if (group->captures[i] == variable)
      return (int32_t)i;
  }
  return -1;
}

// Checks that a variable is set before it is read, unless that was seen in
// this block already. definite.c removes the checks that cannot fail.
static void check_set(tl_lower *l, const tl_variable *v, tl_span span) {
  if (v->index < 0 || v->index >= l->f->variable_count)
    return;
  // Within a block one check is enough: behind it the variable is set.
  if (l->assigned_in[v->index] == l->block)
    return;
  l->assigned_in[v->index] = l->block;
  tl_cfg_ins *ins = tl_emit(l, TL_BC_CHECKSET, -1, 1, span);
  ins->operands[0] = v->index;
  ins->extra = tl_unit_name(l->b, v->name->text, v->name->nbytes);
}

// A variable of this function: its slot is the value.
static int32_t lower_own(tl_lower *l, tl_variable *v, tl_span span,
                         int32_t want, bool check) {
  if (check)
    check_set(l, v, span);
  return tl_lower_into(l, want, v->index, span);
}

// Reads a variable: a known function as a constant, a module variable, a slot,
// a function of the running closure's own group, or a capture. The highest bit
// of GETC's extra says that it may be unset.
static int32_t lower_variable(tl_lower *l, tl_variable *v, tl_span span,
                              int32_t want, bool check) {
  tl_prototype *known;
  if (tl_known_constant(l, v, &known)) {
    want = tl_into(l, want);
    tl_load_constant(l, want,
                     (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = known}, span);
    return want;
  }
  if (v->is_global) {
    want = tl_into(l, want);
    tl_emit_x(l, TL_BC_GETG, want, (uint32_t)v->index, span);
    return want;
  }
  if (v->scope->function == l->scope->function) {
    return lower_own(l, v, span, want, check);
  }
  want = tl_into(l, want);
  // A function of the running closure's own group needs no capture: the closure
  // holds its environment.
  if (v->group != NULL && v->group == l->group) {
    tl_emit_x(l, TL_BC_SELF, want, v->member, span);
    return want;
  }
  // Further out: the resolver has made every function between capture it.
  int32_t index = capture_index(l->group, v);
  tl_emit_x(l, TL_BC_GETC, want, (uint32_t)index | (check ? 0u : 1u << 31),
            span);
  return want;
}

// Without a check: a function may capture a variable that is set only later,
// and its own read checks then.
void tl_lower_capture(tl_lower *l, tl_variable *variable, int32_t slot,
                      tl_span span) {
  lower_variable(l, variable, span, slot, false);
}

// A global function written in Tally: the instruction imports the module that
// defines it and gives the function.
static void lower_global(tl_lower *l, const tl_name *name, tl_span span,
                         int32_t want) {
  // The first byte of the name tells IMPORT what to do: a path, a name, or a
  // global function.
  static const char prefix[] = "*" TL_GLOBAL_MODULE;
  size_t nbytes = strlen(prefix) + name->nbytes;
  char *spec = tl_arena_alloc(l->b->arena, nbytes + 1);
  if (spec == NULL)
    return;
  memcpy(spec, prefix, strlen(prefix));
  memcpy(spec + strlen(prefix), name->text, name->nbytes);
  spec[nbytes] = 0;
  tl_emit_x(l, TL_BC_IMPORT, want, tl_unit_name(l->b, spec, nbytes), span);
}

// What the library has under a name.
static int32_t lower_known(tl_lower *l, const char *module, const tl_name *name,
                           tl_span span, int32_t want) {
  tl_known known = tl_known_find(l->b->vm, module, name);
  want = tl_into(l, want);
  switch (known.kind) {
    case TL_KNOWN_BUILTIN:
      tl_load_constant(l, want, tl_builtin_slot(known.builtin), span);
      break;
    case TL_KNOWN_CONSTANT:
      tl_load_constant(l, want,
                       known.is_none ? tl_none() : tl_weak_float(known.value),
                       span);
      break;
    case TL_KNOWN_DTYPE: {
      tl_type *type = tl_type_of_dtype(l->b->vm, known.dtype);
      if (type == NULL) {
        l->b->failed = true;
        break;
      }
      tl_load_constant(l, want, tl_type_slot(type), span);
      break;
    }
    case TL_KNOWN_TALLY:
      lower_global(l, name, span, want);
      break;
    case TL_KNOWN_NOTHING:
      break;  // the resolver has reported it
  }
  return want;
}

// Variables hide what the library has under their names.
int32_t tl_lower_name(tl_lower *l, const tl_name *name, tl_span span,
                      int32_t want) {
  tl_variable *v = tl_scope_find(l->scope, name);
  if (v != NULL)
    return lower_variable(l, v, span, want, true);
  return lower_known(l, NULL, name, span, want);
}

// With a handler, an error in the computation would be seen with the variable
// written halfway (rule 2 of cfg.h).
int32_t tl_direct_slot(tl_lower *l, const tl_name *name) {
  if (l->handler >= 0)
    return -1;
  tl_variable *v = tl_own_variable(l, name);
  return v == NULL || v->is_global ? -1 : v->index;
}

void tl_store_name(tl_lower *l, const tl_name *name, int32_t value,
                   tl_span span) {
  tl_variable *v = tl_scope_find(l->scope, name);
  if (v == NULL)
    return;
  if (v->is_global) {
    tl_cfg_ins *ins = tl_emit(l, TL_BC_SETG, -1, 1, span);
    ins->operands[0] = value;
    ins->extra = (uint32_t)v->index;
    return;
  }
  // The value may have been computed into the variable's slot already.
  if (v->index != value)
    tl_emit1(l, TL_BC_MOV, v->index, value, span);
  // Reads in this block need no check.
  if (v->index < l->f->variable_count)
    l->assigned_in[v->index] = l->block;
}

// --- Types and operators ----------------------------------------------------

// A type between ` `, as a constant.
static int32_t lower_type(tl_lower *l, tl_ast *ast, int32_t want) {
  want = tl_into(l, want);
  // A wrong literal is reported at its place.
  tl_type *type = tl_type_parse(l->b->vm, ast->string.text, ast->string.nbytes);
  if (type == NULL) {
    tl_diagnose_pending(l->b, ast->span);
    return want;
  }
  tl_load_constant(l, want, tl_type_slot(type), ast->span);
  return want;
}

// The instruction of each binary operator.
static const uint8_t operator_opcodes[TL_OPERATOR_COUNT] = {
    [TL_OPERATOR_ADD] = TL_BC_ADD,
    [TL_OPERATOR_SUBTRACT] = TL_BC_SUB,
    [TL_OPERATOR_MULTIPLY] = TL_BC_MUL,
    [TL_OPERATOR_DIVIDE] = TL_BC_DIV,
    [TL_OPERATOR_FLOOR_DIVIDE] = TL_BC_FLOORDIV,
    [TL_OPERATOR_REMAINDER] = TL_BC_MOD,
    [TL_OPERATOR_MATMUL] = TL_BC_MATMUL,
    [TL_OPERATOR_POWER] = TL_BC_POW,
    [TL_OPERATOR_BIT_AND] = TL_BC_BITAND,
    [TL_OPERATOR_BIT_OR] = TL_BC_BITOR,
    [TL_OPERATOR_BIT_XOR] = TL_BC_BITXOR,
    [TL_OPERATOR_SHIFT_LEFT] = TL_BC_SHL,
    [TL_OPERATOR_SHIFT_RIGHT] = TL_BC_SHR,
    [TL_OPERATOR_EQUAL] = TL_BC_EQ,
    [TL_OPERATOR_NOT_EQUAL] = TL_BC_NE,
    [TL_OPERATOR_LESS] = TL_BC_LT,
    [TL_OPERATOR_LESS_EQUAL] = TL_BC_LE,
    [TL_OPERATOR_GREATER] = TL_BC_GT,
    [TL_OPERATOR_GREATER_EQUAL] = TL_BC_GE,
    [TL_OPERATOR_IN] = TL_BC_IN,
    [TL_OPERATOR_NOT_IN] = TL_BC_IN,  // and NOT
};

// The operator on two slots.
int32_t tl_lower_binary_op(tl_lower *l, tl_operator op, int32_t a, int32_t b,
                           int32_t want, tl_span span) {
  want = tl_into(l, want);
  tl_emit2(l, (tl_opcode)operator_opcodes[op], want, a, b, span);
  if (op == TL_OPERATOR_NOT_IN)
    tl_emit1(l, TL_BC_NOT, want, want, span);
  return want;
}

// The left operand: a variable's own slot, unless the right side may change it.
int32_t tl_lower_left(tl_lower *l, tl_ast *left, tl_ast *right) {
  bool copy = left->kind == TL_AST_NAME && tl_may_assign(right);
  return tl_lower_expr(l, left, copy ? tl_temp(l) : -1);
}

// A binary operator or comparison. The result's temporary is taken first, so
// that those of the operands lie above it and are free afterwards.
static int32_t lower_binary(tl_lower *l, tl_ast *ast, int32_t want) {
  want = tl_into(l, want);
  int32_t mark = l->top;
  int32_t a = tl_lower_left(l, ast->binary.left, ast->binary.right);
  int32_t b = tl_lower_expr(l, ast->binary.right, -1);
  tl_lower_binary_op(l, ast->binary.op, a, b, want, ast->span);
  l->top = mark;
  return want;
}

// An elementwise operation on one operand.
static int32_t lower_elem1(tl_lower *l, tl_op op, tl_ast *operand, int32_t want,
                           tl_span span) {
  want = tl_into(l, want);
  int32_t mark = l->top;
  int32_t a = tl_lower_expr(l, operand, -1);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_ELEM1, want, 1, span);
  ins->operands[0] = a;
  ins->extra = op;
  l->top = mark;
  return want;
}

// A sign; a literal with its minus is one constant.
static int32_t lower_unary(tl_lower *l, tl_ast *ast, int32_t want) {
  // -1 is the constant -1, so that it can be an immediate operand.
  tl_slot value = tl_literal_slot(l, ast, false);
  if (!tl_is_unset(value)) {
    want = tl_into(l, want);
    tl_load_constant(l, want, value, ast->span);
    return want;
  }
  static const tl_op ops[TL_OPERATOR_COUNT] = {
      [TL_OPERATOR_NEGATE] = TL_OP_NEGATIVE,
      [TL_OPERATOR_PLUS] = TL_OP_POSITIVE,
      [TL_OPERATOR_INVERT] = TL_OP_BITWISE_INVERT,
      [TL_OPERATOR_SQRT] = TL_OP_SQRT,
  };
  return lower_elem1(l, ops[ast->unary.op], ast->unary.operand, want,
                     ast->span);
}

// `and` and `or`: control flow that ends in one of two constants.
static int32_t lower_logical(tl_lower *l, tl_ast *ast, int32_t want) {
  int32_t yes = tl_new_block(l), no = tl_new_block(l), end = tl_new_block(l);
  // A temporary of its own: [want] may be a variable that the operands read.
  int32_t result = tl_temp(l);
  tl_lower_condition(l, ast, yes, no);
  tl_enter_block(l, yes);
  tl_load_constant(l, result, tl_bool(true), ast->span);
  tl_jump(l, end, ast->span);
  tl_enter_block(l, no);
  tl_load_constant(l, result, tl_bool(false), ast->span);
  tl_jump(l, end, ast->span);
  tl_enter_block(l, end);
  return tl_lower_into(l, want, result, ast->span);
}

// `not x` as a value is an instruction; as a condition it only swaps the
// targets (tl_lower_condition).
static int32_t lower_not(tl_lower *l, tl_ast *ast, int32_t want) {
  want = tl_into(l, want);
  int32_t mark = l->top;
  int32_t a = tl_lower_expr(l, ast->unary.operand, -1);
  tl_emit1(l, TL_BC_NOT, want, a, ast->span);
  l->top = mark;
  return want;
}

// start..stop by step as a value. An operand that is a variable is copied if a
// later one may assign it.
static int32_t lower_range(tl_lower *l, tl_ast *ast, int32_t want) {
  want = tl_into(l, want);
  int32_t mark = l->top;
  int32_t start = tl_lower_left(l, ast->range.start, ast->range.stop);
  if (ast->range.step != NULL && start < l->f->variable_count &&
      tl_may_assign(ast->range.step)) {
    int32_t copy = tl_temp(l);
    tl_emit1(l, TL_BC_MOV, copy, start, ast->span);
    start = copy;
  }
  int32_t stop = ast->range.step == NULL
                     ? tl_lower_expr(l, ast->range.stop, -1)
                     : tl_lower_left(l, ast->range.stop, ast->range.step);
  // All three are operands, in slots, also the step 1 that nobody wrote.
  int32_t step;
  if (ast->range.step == NULL) {
    step = tl_temp(l);
    tl_load_constant(l, step, tl_weak_int(1), ast->span);
  } else {
    step = tl_lower_expr(l, ast->range.step, -1);
  }
  tl_cfg_ins *ins = tl_emit(l, TL_BC_RANGE, want, 3, ast->span);
  ins->operands[0] = start;
  ins->operands[1] = stop;
  ins->operands[2] = step;
  l->top = mark;
  return want;
}

// (+) is the library's function of the operator.
static int32_t lower_operator(tl_lower *l, tl_ast *ast, int32_t want) {
  static const char *const functions[TL_OPERATOR_COUNT] = {
      [TL_OPERATOR_ADD] = "add",
      [TL_OPERATOR_SUBTRACT] = "subtract",
      [TL_OPERATOR_MULTIPLY] = "multiply",
      [TL_OPERATOR_DIVIDE] = "divide",
      [TL_OPERATOR_FLOOR_DIVIDE] = "floor_divide",
      [TL_OPERATOR_REMAINDER] = "remainder",
      [TL_OPERATOR_MATMUL] = "matmul",
      [TL_OPERATOR_POWER] = "pow",
      [TL_OPERATOR_BIT_AND] = "bitwise_and",
      [TL_OPERATOR_BIT_OR] = "bitwise_or",
      [TL_OPERATOR_BIT_XOR] = "bitwise_xor",
      [TL_OPERATOR_SHIFT_LEFT] = "bitwise_left_shift",
      [TL_OPERATOR_SHIFT_RIGHT] = "bitwise_right_shift",
      [TL_OPERATOR_EQUAL] = "equal",
      [TL_OPERATOR_NOT_EQUAL] = "not_equal",
      [TL_OPERATOR_LESS] = "less",
      [TL_OPERATOR_LESS_EQUAL] = "less_equal",
      [TL_OPERATOR_GREATER] = "greater",
      [TL_OPERATOR_GREATER_EQUAL] = "greater_equal",
      [TL_OPERATOR_IN] = "contained",
      [TL_OPERATOR_AND] = "both",
      [TL_OPERATOR_OR] = "either",
  };
  const char *text = functions[ast->op.op];
  const tl_name *name = tl_names_get(l->b->names, text, strlen(text));
  if (name == NULL)
    return tl_into(l, want);
  return lower_known(l, NULL, name, ast->span, want);
}

// f ∘ g is a call of compose.
static int32_t lower_compose(tl_lower *l, tl_ast *ast, int32_t want) {
  const tl_builtin *compose =
      tl_builtin_find(l->b->vm->library, NULL, "compose", 7);
  // The two functions are its arguments, in a window.
  tl_ast *items[2] = {ast->binary.left, ast->binary.right};
  uint32_t k = tl_add_constant(l, tl_builtin_slot(compose));
  return tl_lower_window(l, TL_BC_CALLB, items, 2, k, want, ast->span);
}

// object.name. A function of a library module is a constant; os.args and the
// like are asked for when they are read.
static int32_t lower_field(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast *object = ast->field.object;
  const tl_name *field = ast->field.field.name;
  if (object->kind == TL_AST_NAME) {
    tl_variable *v = tl_scope_find(l->scope, object->name.name);
    tl_known known = {.kind = TL_KNOWN_NOTHING};
    // A module that was imported once under this name.
    if (v != NULL && v->library != NULL && v->assigns == 1)
      known = tl_known_find(l->b->vm, v->library, field);
    // os.args is asked for when it is read; functions are constants.
    bool is_value = known.builtin != NULL && tl_builtin_is_value(known.builtin);
    if (known.kind != TL_KNOWN_NOTHING && !is_value) {
      return lower_known(l, v->library, field, ast->span, want);
    }
  }
  want = tl_into(l, want);
  int32_t mark = l->top;
  int32_t base = tl_lower_expr(l, object, -1);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_GETF, want, 1, ast->span);
  ins->operands[0] = base;
  ins->extra = tl_unit_name(l->b, field->text, field->nbytes);
  l->top = mark;
  return want;
}

// object.{a, b}.
static int32_t lower_select(tl_lower *l, tl_ast *ast, int32_t want) {
  want = tl_into(l, want);
  uint32_t count = ast->select.count;
  const tl_name **names =
      TL_ARENA_ARRAY(l->b->arena, const tl_name *, count + 1);
  if (names == NULL)
    return want;
  for (uint32_t i = 0; i < count; i++) names[i] = ast->select.fields[i].name;
  // The names go to the unit as one list.
  uint32_t keys = tl_unit_keys(l->b, names, count);
  int32_t mark = l->top;
  int32_t base = tl_lower_expr(l, ast->select.object, -1);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_FIELDS, want, 1, ast->span);
  ins->operands[0] = base;
  ins->extra = keys;
  l->top = mark;
  return want;
}

// A statement where a value is wanted: the value is none.
static int32_t lower_statement_value(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_lower_statement(l, ast);
  want = tl_into(l, want);
  tl_load_constant(l, want, tl_none(), ast->span);
  return want;
}

int32_t tl_lower_expr(tl_lower *l, tl_ast *ast, int32_t want) {
  // Without memory nothing more is emitted; any slot will do.
  if (l->b->arena->failed || l->b->failed)
    return tl_into(l, want);
  // The old value in r.a[k] = g(r.a[k]): by node, so only this very place in
  // the text.
  if (tl_is_taken(l, ast))
    return tl_lower_taken(l, want, ast->span);
  switch (ast->kind) {
    case TL_AST_BOOL:
    case TL_AST_INT:
    case TL_AST_FLOAT:
    case TL_AST_IMAGINARY:
    case TL_AST_NONE:
      want = tl_into(l, want);
      tl_load_constant(l, want, tl_literal_slot(l, ast, false), ast->span);
      return want;
    case TL_AST_STRING:
      want = tl_into(l, want);
      tl_emit_x(l, TL_BC_LOADK, want,
                tl_string_constant(l, ast->string.text, ast->string.nbytes),
                ast->span);
      return want;
    case TL_AST_INTERPOLATED:
      return tl_lower_interpolated(l, ast, want);
    case TL_AST_TYPE:
      return lower_type(l, ast, want);
    case TL_AST_NAME:
      return tl_lower_name(l, ast->name.name, ast->span, want);
    case TL_AST_LIST:
    case TL_AST_ARRAY:
      return tl_lower_items(l, ast, want);
    case TL_AST_RECORD:
      return tl_lower_record(l, ast, want);
    case TL_AST_LIST_FOR:
    case TL_AST_ARRAY_FOR:
    case TL_AST_RECORD_FOR:
      return tl_lower_comprehension(l, ast, want);
    case TL_AST_FUNCTION:
      return tl_lower_function(l, ast, want);
    case TL_AST_BLOCK:
      return tl_lower_block(l, ast, want, true);
    case TL_AST_IF:
      return tl_lower_if(l, ast, want, true);
    case TL_AST_TRY:
      return tl_lower_try(l, ast, want, true);
    case TL_AST_CALL:
      return tl_lower_call(l, ast, want);
    case TL_AST_INDEX:
      return tl_lower_index(l, ast, want);
    case TL_AST_FIELD:
      return lower_field(l, ast, want);
    case TL_AST_SELECT:
      return lower_select(l, ast, want);
    case TL_AST_UNARY:
      return lower_unary(l, ast, want);
    case TL_AST_BINARY:
    case TL_AST_COMPARE:
      return lower_binary(l, ast, want);
    case TL_AST_AND:
    case TL_AST_OR:
      return lower_logical(l, ast, want);
    case TL_AST_NOT:
      return lower_not(l, ast, want);
    case TL_AST_SPREAD:  // the literal around it goes over the items
      return tl_lower_expr(l, ast->unary.operand, want);
    case TL_AST_RANGE:
      return lower_range(l, ast, want);
    case TL_AST_OPERATOR:
      return lower_operator(l, ast, want);
    case TL_AST_COMPOSE:
      return lower_compose(l, ast, want);
    default:
      return lower_statement_value(l, ast, want);
  }
}
