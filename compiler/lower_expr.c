// Lowering of expressions: constants, operators, fields.

#include "compiler/lower.h"
#include "vm/engine/engine.h"

// --- Constants and operators ------------------------------------------------

int32_t tl_lower_constant(tl_lower *l, tl_ast *ast, int32_t want) {
  return tl_load_constant(l, want, tl_literal_slot(l, ast, false), ast->span);
}

int32_t tl_lower_string(tl_lower *l, tl_ast *ast, int32_t want) {
  want = tl_into(l, want);
  tl_load_string(l, want, ast->string.text, ast->string.nbytes, ast->span);
  return want;
}

// A type between ` `, as a constant.
int32_t tl_lower_type(tl_lower *l, tl_ast *ast, int32_t want) {
  // A wrong literal is reported at its place.
  tl_type *type = tl_type_parse(l->b->vm, ast->string.text, ast->string.nbytes);
  if (type != NULL)
    return tl_load_constant(l, want, tl_type_slot(type), ast->span);
  tl_diagnose_pending(l->b, ast->span);
  return tl_lower_failed(l, want, ast->span);
}

// The left operand: a variable's own slot, unless the right side may change it.
int32_t tl_lower_left(tl_lower *l, tl_ast *left, tl_ast *right) {
  bool copy = left->kind == TL_AST_NAME && tl_may_assign(right);
  return tl_lower_expr(l, left, copy ? tl_temp(l) : -1);
}

// The right operand. Nobody else sees the list of t in ("+", "-"), so it may be
// a constant.
static int32_t lower_right(tl_lower *l, tl_operator op, tl_ast *ast) {
  const bool looks_through = op == TL_OPERATOR_IN || op == TL_OPERATOR_NOT_IN;
  if (!looks_through || ast->kind != TL_AST_LIST)
    return tl_lower_expr(l, ast, -1);
  int32_t slot = tl_temp(l);
  return tl_constant_list(l, ast, slot, true) ? slot
                                              : tl_lower_expr(l, ast, slot);
}

// A binary operator or comparison. The result's temporary is taken first, so
// that those of the operands lie above it and are free afterwards.
int32_t tl_lower_binary(tl_lower *l, tl_ast *ast, int32_t want) {
  want = tl_into(l, want);
  int32_t a = tl_lower_left(l, ast->binary.left, ast->binary.right);
  int32_t b = lower_right(l, ast->binary.op, ast->binary.right);
  a = tl_take_late(l, ast->binary.left, a);
  b = tl_take_late(l, ast->binary.right, b);
  return tl_lower_binary_op(l, ast->binary.op, a, b, want, ast->span);
}

// An operation on one operand.
static int32_t lower1(tl_lower *l, tl_opcode op, tl_ast *operand,
                      uint32_t extra, int32_t want, tl_span span) {
  want = tl_into(l, want);
  tl_emit1x(l, op, want, tl_lower_expr(l, operand, -1), extra, span);
  return want;
}

// A sign; a literal with its minus is one constant.
int32_t tl_lower_unary(tl_lower *l, tl_ast *ast, int32_t want) {
  // -1 is the constant -1, so that it can be an immediate operand.
  tl_slot value = tl_literal_slot(l, ast, false);
  if (!tl_is_unset(value))
    return tl_load_constant(l, want, value, ast->span);
  static const tl_op ops[TL_OPERATOR_COUNT] = {
      [TL_OPERATOR_NEGATE] = TL_OP_NEGATIVE,
      [TL_OPERATOR_PLUS] = TL_OP_POSITIVE,
      [TL_OPERATOR_INVERT] = TL_OP_BITWISE_INVERT,
      [TL_OPERATOR_SQRT] = TL_OP_SQRT,
  };
  return lower1(l, TL_BC_ELEM1, ast->unary.operand, ops[ast->unary.op], want,
                ast->span);
}

// `not x` as a value is an instruction; as a condition it only swaps the
// targets (lower_condition).
int32_t tl_lower_not(tl_lower *l, tl_ast *ast, int32_t want) {
  return lower1(l, TL_BC_NOT, ast->unary.operand, 0, want, ast->span);
}

// ...x: the literal around it goes over the items.
int32_t tl_lower_operand(tl_lower *l, tl_ast *ast, int32_t want) {
  return tl_lower_expr(l, ast->unary.operand, want);
}

// start..stop by step as a value. An operand that is a variable is copied if a
// later one may assign it.
int32_t tl_lower_range(tl_lower *l, tl_ast *ast, int32_t want) {
  want = tl_into(l, want);
  int32_t start = tl_lower_left(l, ast->range.start, ast->range.stop);
  if (ast->range.step != NULL && start < l->f->variable_count &&
      tl_may_assign(ast->range.step))
    start = tl_lower_into(l, tl_temp(l), start, ast->span);
  int32_t stop = ast->range.step == NULL
                     ? tl_lower_expr(l, ast->range.stop, -1)
                     : tl_lower_left(l, ast->range.stop, ast->range.step);
  // All three are operands, in slots, also the step 1 that nobody wrote.
  int32_t step = ast->range.step == NULL
                     ? tl_load_constant(l, -1, tl_weak_int(1), ast->span)
                     : tl_lower_expr(l, ast->range.step, -1);
  tl_emit_operands(l, TL_BC_RANGE, want, (int32_t[]){start, stop, step}, 3,
                   ast->span);
  return want;
}

// (+) is the library's function of the operator.
int32_t tl_lower_operator(tl_lower *l, tl_ast *ast, int32_t want) {
#define X(name, text, opcode, function) function,
  static const char *const functions[] = {TL_OPERATORS(X)};
#undef X
  const char *text = functions[ast->op];
  const tl_name *name = tl_names_get(l->b->names, text, strlen(text));
  if (name == NULL)
    return tl_into(l, want);
  return tl_lower_known(l, NULL, name, ast->span, want);
}

// object.name. A function of a library module is a constant; os.args and the
// like are asked for when they are read.
int32_t tl_lower_field(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast *object = ast->field.object;
  const tl_name *field = ast->field.field.name;
  const char *module = tl_library_of(l->scope, object);
  if (module != NULL) {
    tl_known known = tl_known_find(l->b->vm, module, field);
    bool is_value = known.builtin != NULL && tl_builtin_is_value(known.builtin);
    if (known.kind != TL_KNOWN_NOTHING && !is_value)
      return tl_lower_known(l, module, field, ast->span, want);
  }
  uint32_t name = tl_unit_name(l->b, field);
  if (tl_is_own_variable(l, object))
    tl_unit_field_path(l->b, name);
  return lower1(l, TL_BC_GETF, object, name, want, ast->span);
}

// object.{a, b}.
int32_t tl_lower_select(tl_lower *l, tl_ast *ast, int32_t want) {
  uint32_t count = ast->select.count;
  const tl_name **names =
      TL_ARENA_ARRAY(l->b->arena, const tl_name *, count + 1);
  if (names == NULL)
    return tl_into(l, want);
  for (uint32_t i = 0; i < count; i++) names[i] = ast->select.fields[i].name;
  // The names go to the unit as one list.
  return lower1(l, TL_BC_FIELDS, ast->select.object,
                tl_unit_keys(l->b, names, count), want, ast->span);
}
