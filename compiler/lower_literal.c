// Lowering of literals: numbers, arrays, lists, records, strings with values.

#include <string.h>

#include "compiler/lower.h"
#include "vm/array/array.h"
#include "vm/engine/engine.h"
#include "vm/values/list.h"

// --- Constants --------------------------------------------------------------

tl_slot tl_literal_slot(tl_lower *l, const tl_ast *ast, bool negative) {
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
        return tl_literal_slot(l, ast->unary.operand, true);
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
    tl_slot value = tl_literal_slot(l, ast, false);
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
  tl_slot value = tl_literal_slot(l, ast, false);
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
    if (!plain || !tl_is_scalar(tl_literal_slot(l, item, false)))
      return false;
  }
  tl_list *list = tl_list_new(l->b->vm, ast->items.count);
  if (list == NULL) {
    l->b->failed = true;
    return true;
  }
  for (uint32_t i = 0; i < ast->items.count; i++)
    list->items[list->length++] =
        tl_literal_slot(l, ast->items.items[i], false);
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
  return tl_lower_into(l, want, base, span);
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
    want = tl_into(l, want);
    tl_emit1(l, TL_BC_STACKLIST, want, list, ast->span);
    return want;
  }
  return tl_lower_into(l, want, list, ast->span);
}

int32_t tl_lower_items(tl_lower *l, tl_ast *ast, int32_t want) {
  if (ast->kind == TL_AST_ARRAY) {
    int32_t slot = tl_into(l, want);
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

// Whether the record that is being lowered, the [b->record]th, has the name.
static bool is_repeated(tl_builder *b, const tl_name *name) {
  if (name->id >= b->recorded_capacity) {
    uint32_t capacity = b->names->count;
    uint32_t *in = TL_ARENA_ARRAY(b->arena, uint32_t, capacity);
    if (in == NULL)
      return false;
    if (b->recorded_capacity > 0)
      memcpy(in, b->recorded_in, b->recorded_capacity * sizeof *in);
    b->recorded_in = in;
    b->recorded_capacity = capacity;
  }
  bool is = b->recorded_in[name->id] == b->record;
  b->recorded_in[name->id] = b->record;
  return is;
}

int32_t tl_lower_record(tl_lower *l, tl_ast *ast, int32_t want) {
  uint32_t count = ast->record.count;
  tl_ast **values = TL_ARENA_ARRAY(l->b->arena, tl_ast *, count + 1);
  const tl_name **names =
      TL_ARENA_ARRAY(l->b->arena, const tl_name *, count + 1);
  if (values == NULL || names == NULL)
    return tl_into(l, want);
  l->b->record++;
  for (uint32_t i = 0; i < count; i++) {
    values[i] = ast->record.entries[i].value;
    names[i] = ast->record.entries[i].key;
    if (is_repeated(l->b, names[i]))
      tl_diagnose(l->b->diagnostics, TL_DIAGNOSTIC_SYNTAX,
                  ast->record.entries[i].key_span,
                  "the record has the field %s twice", names[i]->text);
  }
  uint32_t at_once = count < WINDOW_MAX ? count : WINDOW_MAX;
  uint32_t keys = tl_unit_keys(l->b, names, at_once);
  if (count == at_once)
    return tl_lower_window(l, TL_BC_RECORD, values, count, keys, want,
                           ast->span);
  // The others are set one by one.
  int32_t record =
      tl_lower_window(l, TL_BC_RECORD, values, at_once, keys, -1, ast->span);
  for (uint32_t i = at_once; i < count; i++) {
    int32_t mark = l->top;
    int32_t value = tl_lower_expr(l, values[i], -1);
    int32_t key = tl_temp(l);
    tl_emit_x(l, TL_BC_LOADK, key,
              tl_string_constant(l, names[i]->text, names[i]->nbytes),
              values[i]->span);
    tl_cfg_ins *ins = tl_emit(l, TL_BC_SETEL, record, 3, values[i]->span);
    ins->operands[0] = record;
    ins->operands[1] = value;
    ins->operands[2] = key;
    l->top = mark;
  }
  return tl_lower_into(l, want, record, ast->span);
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

// Many parts are joined in groups.
static int32_t join_parts(tl_lower *l, tl_part *parts, uint32_t count,
                          int32_t want, tl_span span) {
  uint32_t each = 1;
  while (each * WINDOW_MAX < count) each *= WINDOW_MAX;
  uint32_t groups = (count + each - 1) / each;
  int32_t base = tl_temp(l);
  int32_t first = tl_temps(l, (int32_t)groups);
  for (uint32_t i = 0; i < groups; i++) {
    uint32_t left = count - i * each, n = left < each ? left : each;
    if (n == 1)
      lower_part(l, &parts[i * each], first + (int32_t)i);
    else
      join_parts(l, &parts[i * each], n, first + (int32_t)i, span);
  }
  tl_cfg_ins *ins = tl_emit(l, TL_BC_JOIN, base, (int32_t)groups, span);
  for (uint32_t i = 0; i < groups; i++) ins->operands[i] = first + (int32_t)i;
  ins->window = base;
  l->top = base + 1;
  return tl_lower_into(l, want, base, span);
}

int32_t tl_lower_interpolated(tl_lower *l, tl_ast *ast, int32_t want) {
  return join_parts(l, ast->interpolated.parts, ast->interpolated.count, want,
                    ast->span);
}
