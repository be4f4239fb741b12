// Lowering of expressions: names, literals, operators, constants.

#include <string.h>

#include "compiler/lower.h"
#include "vm/values/list.h"
#include "vm/array/array.h"
#include "vm/engine/engine.h"

// --- Names ------------------------------------------------------------------

bool tl_known_constant(tl_lower *l, const tl_variable *variable,
                       tl_prototype **out) {
  if (variable->definition == NULL || variable->assigns != 1 ||
      variable->is_updated || variable->group == NULL) {
    return false;
  }
  if (!tl_group_is_constant(variable->group))
    return false;
  if (variable->scope->kind == TL_SCOPE_MODULE &&
      l->b->resolver->mode != TL_UNIT_SCRIPT &&
      l->b->resolver->mode != TL_UNIT_MODULE) {
    return false;  // a later input may define it anew
  }
  tl_prototype **members = tl_group_prototypes(l->b, variable->group);
  if (members == NULL)
    return false;
  *out = members[variable->member];
  return true;
}

static int32_t into(tl_lower *l, int32_t want) {
  return want < 0 ? tl_temp(l) : want;
}

// Where a captured variable stands among this function's captures, or -1.
static int32_t capture_index(const tl_closure_group *group,
                             const tl_variable *variable) {
  for (uint32_t i = 0; group != NULL && i < group->capture_count; i++) {
    if (group->captures[i] == variable)
      return (int32_t)i;
  }
  return -1;
}

static void check_set(tl_lower *l, const tl_variable *v, tl_span span) {
  if (v->index < 0 || v->index >= l->f->variable_count)
    return;
  if (l->assigned_in[v->index] == l->block)
    return;
  l->assigned_in[v->index] = l->block;
  tl_cfg_ins *ins = tl_emit(l, TL_BC_CHECKSET, -1, 1, span);
  ins->operands[0] = v->index;
  ins->extra = tl_unit_name(l->b, v->name->text, v->name->nbytes);
}

static int32_t lower_own(tl_lower *l, tl_variable *v, tl_span span,
                         int32_t want, bool check) {
  if (check)
    check_set(l, v, span);
  if (want < 0 || want == v->index)
    return v->index;
  tl_emit1(l, TL_BC_COPY, want, v->index, span);
  return want;
}

static int32_t lower_variable(tl_lower *l, tl_variable *v, tl_span span,
                              int32_t want, bool check) {
  tl_prototype *known;
  if (tl_known_constant(l, v, &known)) {
    want = into(l, want);
    tl_load_constant(l, want,
                     (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = known}, span);
    return want;
  }
  if (v->is_global) {
    want = into(l, want);
    tl_emit_x(l, TL_BC_GETG, want, (uint32_t)v->index, span);
    return want;
  }
  if (v->scope->function == l->scope->function) {
    return lower_own(l, v, span, want, check);
  }
  want = into(l, want);
  if (v->group != NULL && v->group == l->group) {
    tl_emit_x(l, TL_BC_SELF, want, v->member, span);
    return want;
  }
  int32_t index = capture_index(l->group, v);
  tl_emit_x(l, TL_BC_GETC, want, (uint32_t)index | (check ? 0u : 1u << 31),
            span);
  return want;
}

void tl_lower_capture(tl_lower *l, tl_variable *variable, int32_t slot,
                      tl_span span) {
  lower_variable(l, variable, span, slot, false);
}

// A global function written in Tally: a member of a module of the library.
static void lower_global(tl_lower *l, const char *module, const tl_name *name,
                         tl_span span, int32_t want) {
  size_t nbytes = strlen(module);
  char *spec = tl_arena_alloc(l->b->arena, nbytes + 2);
  if (spec == NULL)
    return;
  spec[0] = '*';
  memcpy(spec + 1, module, nbytes + 1);
  int32_t at = tl_temp(l);
  tl_emit_x(l, TL_BC_IMPORT, at, tl_unit_name(l->b, spec, nbytes + 1), span);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_GETF, want, 1, span);
  ins->operands[0] = at;
  ins->extra = tl_unit_name(l->b, name->text, name->nbytes);
}

static int32_t lower_known(tl_lower *l, const char *module, const tl_name *name,
                           tl_span span, int32_t want) {
  tl_known known = tl_known_find(l->b->vm, module, name);
  want = into(l, want);
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
      lower_global(l, known.module, name, span, want);
      break;
    case TL_KNOWN_NOTHING:
      break;  // the resolver has reported it
  }
  return want;
}

int32_t tl_lower_name(tl_lower *l, const tl_name *name, tl_span span,
                      int32_t want) {
  tl_variable *v = tl_scope_find(l->scope, name);
  if (v != NULL)
    return lower_variable(l, v, span, want, true);
  return lower_known(l, NULL, name, span, want);
}

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
  if (v->index != value)
    tl_emit1(l, TL_BC_COPY, v->index, value, span);
  if (v->index < l->f->variable_count)
    l->assigned_in[v->index] = l->block;
}

// --- Literals ---------------------------------------------------------------

// A literal's value, where it is one scalar; else unset.
static tl_slot literal(tl_lower *l, const tl_ast *ast, bool negative) {
  switch (ast->kind) {
    case TL_AST_BOOL:
      return negative ? tl_unset() : tl_bool(ast->boolean.value);
    case TL_AST_INT:
      return tl_weak_int(
          (int64_t)(negative ? 0 - ast->integer.value : ast->integer.value));
    case TL_AST_FLOAT:
      return tl_weak_float(negative ? -ast->real.value : ast->real.value);
    case TL_AST_IMAGINARY:
      return tl_new_complex(l->b->vm, negative ? -0.0 : 0.0,
                            negative ? -ast->real.value : ast->real.value,
                            true);
    case TL_AST_NONE:
      return negative ? tl_unset() : tl_none();
    case TL_AST_UNARY:
      if (ast->unary.op == TL_OPERATOR_NEGATE && !negative) {
        return literal(l, ast->unary.operand, true);
      }
      return tl_unset();
    default:
      return tl_unset();
  }
}

typedef struct literal_shape {
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  tl_dtype dtype;
  bool found;
} literal_shape;

// Whether [ast] is an array of equal rows of numeric literals; fills [shape]
// from the first row and [dtype] from all items.
static bool literal_array(tl_lower *l, const tl_ast *ast, int depth,
                          literal_shape *out) {
  if (ast->kind != TL_AST_ARRAY) {
    if (depth != out->ndim)
      return false;
    if (ast->kind != TL_AST_BOOL && ast->kind != TL_AST_INT &&
        ast->kind != TL_AST_FLOAT && ast->kind != TL_AST_UNARY) {
      return false;
    }
    tl_slot value = literal(l, ast, false);
    if (!tl_is_scalar(value))
      return false;
    tl_dtype dtype = (tl_dtype)tl_dtype_of(value);
    if (out->found && dtype != out->dtype) {
      if (dtype == TL_BOOL || out->dtype == TL_BOOL)
        return false;
      dtype = TL_FLOAT64;
    }
    out->found = true;
    out->dtype = dtype;
    return true;
  }
  if (depth >= 8 || ast->items.count == 0)
    return false;
  if (depth == out->ndim) {
    if (out->found)
      return false;
    out->ndim = depth + 1;
    out->shape[depth] = ast->items.count;
  }
  if (out->shape[depth] != ast->items.count)
    return false;
  for (uint32_t i = 0; i < ast->items.count; i++) {
    if (!literal_array(l, ast->items.items[i], depth + 1, out))
      return false;
  }
  return true;
}

static void fill_literal(tl_lower *l, const tl_ast *ast, tl_array *array,
                         char **item) {
  if (ast->kind == TL_AST_ARRAY) {
    for (uint32_t i = 0; i < ast->items.count; i++) {
      fill_literal(l, ast->items.items[i], array, item);
    }
    return;
  }
  tl_slot value = literal(l, ast, false);
  if (array->head.dtype == TL_FLOAT64 && tl_dtype_of(value) == TL_INT64) {
    value = tl_float((double)value.i);
  }
  tl_scalar_store(value, *item);
  *item += tl_itemsize(tl_array_dtype(array));
}

static bool constant_array(tl_lower *l, tl_ast *ast, int32_t want) {
  literal_shape shape = {.ndim = 0};
  if (!literal_array(l, ast, 0, &shape))
    return false;
  tl_array *array =
      tl_array_new(l->b->vm, shape.dtype, shape.ndim, shape.shape);
  if (array == NULL) {
    l->b->failed = true;
    return true;
  }
  char *item = array->data;
  fill_literal(l, ast, array, &item);
  tl_load_constant(l, want, tl_own_array(array), ast->span);
  return true;
}

bool tl_constant_list(tl_lower *l, const tl_ast *ast, int32_t into) {
  if (ast->kind != TL_AST_LIST || ast->items.count == 0)
    return false;
  for (uint32_t i = 0; i < ast->items.count; i++) {
    const tl_ast *item = ast->items.items[i];
    bool plain = item->kind == TL_AST_BOOL || item->kind == TL_AST_INT ||
                 item->kind == TL_AST_FLOAT || item->kind == TL_AST_UNARY;
    if (!plain || !tl_is_scalar(literal(l, item, false)))
      return false;
  }
  tl_list *list = tl_list_new(l->b->vm, ast->items.count);
  if (list == NULL) {
    l->b->failed = true;
    return true;
  }
  for (uint32_t i = 0; i < ast->items.count; i++)
    list->items[list->length++] = literal(l, ast->items.items[i], false);
  tl_load_constant(l, into, tl_own_list(list), ast->span);
  return true;
}

// --- Sequences of operands --------------------------------------------------

static bool is_own_variable(tl_lower *l, const tl_ast *ast) {
  if (ast->kind != TL_AST_NAME)
    return false;
  tl_variable *v = tl_own_variable(l, ast->name.name);
  tl_prototype *known;
  return v != NULL && !v->is_global && !tl_known_constant(l, v, &known);
}

// Lowers [count] values side by side from [first] on; a variable's own slot
// serves as the operand where nothing after it can assign the variable.
static void lower_operands(tl_lower *l, tl_ast **items, uint32_t count,
                           int32_t first, int32_t *operands) {
  bool later_assigns = false;
  for (uint32_t i = count; i-- > 0;) {
    operands[i] = later_assigns ? first + (int32_t)i : -1;
    later_assigns = later_assigns || tl_may_assign(items[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    int32_t mark = l->top;
    operands[i] = tl_lower_expr(
        l, items[i],
        is_own_variable(l, items[i]) ? operands[i] : first + (int32_t)i);
    l->top = mark;
  }
}

int32_t tl_lower_window(tl_lower *l, tl_opcode op, tl_ast **items,
                        uint32_t count, uint32_t extra, int32_t want,
                        tl_span span) {
  int32_t base = tl_temp(l);
  int32_t first = tl_temps(l, (int32_t)count);
  int32_t *operands = TL_ARENA_ARRAY(l->b->arena, int32_t, count + 1);
  if (operands == NULL)
    return base;
  lower_operands(l, items, count, first, operands);
  tl_cfg_ins *ins = tl_emit(l, op, base, (int32_t)count, span);
  for (uint32_t i = 0; i < count; i++) ins->operands[i] = operands[i];
  ins->window = base;
  ins->extra = extra;
  l->top = base + 1;
  if (want < 0)
    return base;
  tl_emit1(l, TL_BC_COPY, want, base, span);
  return want;
}

enum { WINDOW_MAX = 200 };

// A long literal grows a list item by item.
static int32_t lower_long(tl_lower *l, tl_ast *ast, int32_t want) {
  int32_t list = tl_temp(l);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_LIST, list, 0, ast->span);
  ins->window = list;
  for (uint32_t i = 0; i < ast->items.count; i++) {
    int32_t mark = l->top;
    int32_t item = tl_lower_expr(l, ast->items.items[i], -1);
    tl_emit2(l, TL_BC_PUSH, list, list, item, ast->items.items[i]->span);
    l->top = mark;
  }
  if (ast->kind == TL_AST_ARRAY) {
    want = into(l, want);
    tl_emit1(l, TL_BC_STACKLIST, want, list, ast->span);
    return want;
  }
  if (want < 0)
    return list;
  tl_emit1(l, TL_BC_COPY, want, list, ast->span);
  return want;
}

static int32_t lower_items(tl_lower *l, tl_ast *ast, int32_t want) {
  if (ast->kind == TL_AST_ARRAY) {
    int32_t slot = into(l, want);
    if (constant_array(l, ast, slot))
      return slot;
    want = slot;
  }
  if (ast->items.count > WINDOW_MAX)
    return lower_long(l, ast, want);
  tl_opcode op = ast->kind == TL_AST_ARRAY ? TL_BC_STACK : TL_BC_LIST;
  return tl_lower_window(l, op, ast->items.items, ast->items.count, 0, want,
                         ast->span);
}

uint32_t tl_unit_keys(tl_builder *b, const tl_name *const *names,
                      uint32_t count) {
  tl_unit *unit = b->unit;
  if (unit->key_count == b->key_capacity) {
    uint32_t capacity = b->key_capacity * 2 + 8;
    struct tl_keys *keys = TL_ARENA_ARRAY(b->arena, struct tl_keys, capacity);
    if (keys == NULL)
      return 0;
    if (unit->key_count > 0) {
      memcpy(keys, unit->keys, unit->key_count * sizeof *keys);
    }
    unit->keys = keys;
    b->key_capacity = capacity;
  }
  struct tl_keys *keys = &unit->keys[unit->key_count];
  keys->count = count;
  keys->names =
      tl_unit_alloc(b->vm, unit, sizeof *keys->names * ((size_t)count + 1));
  if (keys->names == NULL) {
    b->failed = true;
    return 0;
  }
  for (uint32_t i = 0; i < count; i++) {
    keys->names[i] = tl_unit_string(b, names[i]->text, names[i]->nbytes);
  }
  return unit->key_count++;
}

static int32_t lower_record(tl_lower *l, tl_ast *ast, int32_t want) {
  uint32_t count = ast->record.count;
  tl_ast **values = TL_ARENA_ARRAY(l->b->arena, tl_ast *, count + 1);
  const tl_name **names =
      TL_ARENA_ARRAY(l->b->arena, const tl_name *, count + 1);
  if (values == NULL || names == NULL)
    return into(l, want);
  for (uint32_t i = 0; i < count; i++) {
    values[i] = ast->record.entries[i].value;
    names[i] = ast->record.entries[i].key;
    for (uint32_t k = 0; k < i; k++) {
      if (names[k] != names[i])
        continue;
      tl_diagnose(l->b->diagnostics, TL_DIAGNOSTIC_SYNTAX,
                  ast->record.entries[i].key_span,
                  "the record has the field %s twice", names[i]->text);
    }
  }
  uint32_t keys = tl_unit_keys(l->b, names, count);
  return tl_lower_window(l, TL_BC_RECORD, values, count, keys, want, ast->span);
}

// --- Strings ----------------------------------------------------------------

static void lower_part(tl_lower *l, tl_part *part, int32_t slot) {
  if (part->text != NULL) {
    tl_emit_x(l, TL_BC_LOADK, slot,
              tl_string_constant(l, part->text, part->nbytes), part->span);
    return;
  }
  int32_t mark = l->top;
  int32_t value = tl_lower_expr(l, part->value, -1);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_FORMAT, slot, 1, part->value->span);
  ins->operands[0] = value;
  ins->extra = tl_unit_name(l->b, part->format == NULL ? "" : part->format,
                            part->format_nbytes);
  l->top = mark;
}

static int32_t lower_interpolated(tl_lower *l, tl_ast *ast, int32_t want) {
  uint32_t count = ast->interpolated.count;
  int32_t base = tl_temp(l);
  int32_t first = tl_temps(l, (int32_t)count);
  for (uint32_t i = 0; i < count; i++) {
    lower_part(l, &ast->interpolated.parts[i], first + (int32_t)i);
  }
  tl_cfg_ins *ins = tl_emit(l, TL_BC_JOIN, base, (int32_t)count, ast->span);
  for (uint32_t i = 0; i < count; i++) ins->operands[i] = first + (int32_t)i;
  ins->window = base;
  l->top = base + 1;
  if (want < 0)
    return base;
  tl_emit1(l, TL_BC_COPY, want, base, ast->span);
  return want;
}

static int32_t lower_type(tl_lower *l, tl_ast *ast, int32_t want) {
  want = into(l, want);
  tl_type *type = tl_type_parse(l->b->vm, ast->string.text, ast->string.nbytes);
  if (type == NULL) {
    tl_diagnose_pending(l->b, ast->span);
    return want;
  }
  tl_load_constant(l, want, tl_type_slot(type), ast->span);
  return want;
}

// --- Operators --------------------------------------------------------------

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
    [TL_OPERATOR_NOT_IN] = TL_BC_NOTIN,
};

int32_t tl_lower_binary_op(tl_lower *l, tl_operator op, int32_t a, int32_t b,
                           int32_t want, tl_span span) {
  want = into(l, want);
  tl_emit2(l, (tl_opcode)operator_opcodes[op], want, a, b, span);
  return want;
}

// The left operand: a variable's own slot, unless the right side may change it.
int32_t tl_lower_left(tl_lower *l, tl_ast *left, tl_ast *right) {
  bool copy = left->kind == TL_AST_NAME && tl_may_assign(right);
  return tl_lower_expr(l, left, copy ? tl_temp(l) : -1);
}

static int32_t lower_binary(tl_lower *l, tl_ast *ast, int32_t want) {
  want = into(l, want);
  int32_t mark = l->top;
  int32_t a = tl_lower_left(l, ast->binary.left, ast->binary.right);
  int32_t b = tl_lower_expr(l, ast->binary.right, -1);
  tl_lower_binary_op(l, ast->binary.op, a, b, want, ast->span);
  l->top = mark;
  return want;
}

static int32_t lower_elem1(tl_lower *l, tl_op op, tl_ast *operand, int32_t want,
                           tl_span span) {
  want = into(l, want);
  int32_t mark = l->top;
  int32_t a = tl_lower_expr(l, operand, -1);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_ELEM1, want, 1, span);
  ins->operands[0] = a;
  ins->extra = op;
  l->top = mark;
  return want;
}

static int32_t lower_unary(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_slot value = literal(l, ast, false);
  if (!tl_is_unset(value)) {
    want = into(l, want);
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

// The value of `and` and `or` is one bool.
static int32_t lower_logical(tl_lower *l, tl_ast *ast, int32_t want) {
  int32_t yes = tl_new_block(l), no = tl_new_block(l), end = tl_new_block(l);
  int32_t result = tl_temp(l);
  tl_lower_condition(l, ast, yes, no);
  tl_enter_block(l, yes);
  tl_load_constant(l, result, tl_bool(true), ast->span);
  tl_jump(l, end, ast->span);
  tl_enter_block(l, no);
  tl_load_constant(l, result, tl_bool(false), ast->span);
  tl_jump(l, end, ast->span);
  tl_enter_block(l, end);
  if (want < 0)
    return result;
  tl_emit1(l, TL_BC_COPY, want, result, ast->span);
  return want;
}

static int32_t lower_not(tl_lower *l, tl_ast *ast, int32_t want) {
  want = into(l, want);
  int32_t mark = l->top;
  int32_t a = tl_lower_expr(l, ast->unary.operand, -1);
  tl_emit1(l, TL_BC_NOT, want, a, ast->span);
  l->top = mark;
  return want;
}

static int32_t lower_range(tl_lower *l, tl_ast *ast, int32_t want) {
  want = into(l, want);
  int32_t mark = l->top;
  int32_t start = tl_lower_left(l, ast->range.start, ast->range.stop);
  if (ast->range.step != NULL && start < l->f->variable_count &&
      tl_may_assign(ast->range.step)) {
    int32_t copy = tl_temp(l);
    tl_emit1(l, TL_BC_COPY, copy, start, ast->span);
    start = copy;
  }
  int32_t stop = ast->range.step == NULL
                     ? tl_lower_expr(l, ast->range.stop, -1)
                     : tl_lower_left(l, ast->range.stop, ast->range.step);
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

// (+) is the built-in function of the operator.
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
    return into(l, want);
  return lower_known(l, NULL, name, ast->span, want);
}

static int32_t lower_compose(tl_lower *l, tl_ast *ast, int32_t want) {
  const tl_builtin *compose = tl_builtin_find(NULL, "compose", 7);
  tl_ast *items[2] = {ast->binary.left, ast->binary.right};
  uint32_t k = tl_add_constant(l, tl_builtin_slot(compose));
  return tl_lower_window(l, TL_BC_CALLB, items, 2, k, want, ast->span);
}

static int32_t lower_field(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast *object = ast->field.object;
  const tl_name *field = ast->field.field.name;
  if (object->kind == TL_AST_NAME) {
    tl_variable *v = tl_scope_find(l->scope, object->name.name);
    tl_known known = {.kind = TL_KNOWN_NOTHING};
    if (v != NULL && v->library != NULL && v->assigns == 1)
      known = tl_known_find(l->b->vm, v->library, field);
    // os.args is asked for when it is read; functions are constants.
    bool is_value =
        known.builtin != NULL && (known.builtin->flags & TL_VALUE) != 0;
    if (known.kind != TL_KNOWN_NOTHING && !is_value) {
      return lower_known(l, v->library, field, ast->span, want);
    }
  }
  want = into(l, want);
  int32_t mark = l->top;
  int32_t base = tl_lower_expr(l, object, -1);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_GETF, want, 1, ast->span);
  ins->operands[0] = base;
  ins->extra = tl_unit_name(l->b, field->text, field->nbytes);
  l->top = mark;
  return want;
}

static int32_t lower_select(tl_lower *l, tl_ast *ast, int32_t want) {
  want = into(l, want);
  uint32_t count = ast->select.count;
  const tl_name **names =
      TL_ARENA_ARRAY(l->b->arena, const tl_name *, count + 1);
  if (names == NULL)
    return want;
  for (uint32_t i = 0; i < count; i++) names[i] = ast->select.fields[i].name;
  uint32_t keys = tl_unit_keys(l->b, names, count);
  int32_t mark = l->top;
  int32_t base = tl_lower_expr(l, ast->select.object, -1);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_FIELDS, want, 1, ast->span);
  ins->operands[0] = base;
  ins->extra = keys;
  l->top = mark;
  return want;
}

static int32_t lower_statement_value(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_lower_statement(l, ast);
  want = into(l, want);
  tl_load_constant(l, want, tl_none(), ast->span);
  return want;
}

int32_t tl_lower_expr(tl_lower *l, tl_ast *ast, int32_t want) {
  if (l->b->arena->failed || l->b->failed)
    return into(l, want);
  if (tl_is_taken(l, ast))
    return tl_lower_taken(l, want, ast->span);
  switch (ast->kind) {
    case TL_AST_BOOL:
    case TL_AST_INT:
    case TL_AST_FLOAT:
    case TL_AST_IMAGINARY:
    case TL_AST_NONE:
      want = into(l, want);
      tl_load_constant(l, want, literal(l, ast, false), ast->span);
      return want;
    case TL_AST_STRING:
      want = into(l, want);
      tl_emit_x(l, TL_BC_LOADK, want,
                tl_string_constant(l, ast->string.text, ast->string.nbytes),
                ast->span);
      return want;
    case TL_AST_INTERPOLATED:
      return lower_interpolated(l, ast, want);
    case TL_AST_TYPE:
      return lower_type(l, ast, want);
    case TL_AST_NAME:
      return tl_lower_name(l, ast->name.name, ast->span, want);
    case TL_AST_LIST:
    case TL_AST_ARRAY:
      return lower_items(l, ast, want);
    case TL_AST_RECORD:
      return lower_record(l, ast, want);
    case TL_AST_LIST_FOR:
    case TL_AST_ARRAY_FOR:
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
