// Lowering of indexing and of assignments: the right side first and whole,
// then indices from left to right, once, then the update.

#include <string.h>

#include "compiler/lower.h"

// --- Paths ------------------------------------------------------------------

// x[a..b] means x[a:b].
static void as_slice(tl_ast_item *item) {
  if (item->kind != TL_AST_ITEM_VALUE || item->value->kind != TL_AST_RANGE) {
    return;
  }
  tl_ast *range = item->value;
  item->kind = TL_AST_ITEM_SLICE;
  item->start = range->range.start;
  item->stop = range->range.stop;
  item->step = range->range.step;
}

static uint32_t count_parts(tl_ast_item *items, uint32_t count) {
  uint32_t parts = 0;
  for (uint32_t i = 0; i < count; i++) {
    as_slice(&items[i]);
    switch (items[i].kind) {
      case TL_AST_ITEM_VALUE:
        parts++;
        break;
      case TL_AST_ITEM_SLICE:
        parts += (uint32_t)(items[i].start != NULL) +
                 (uint32_t)(items[i].stop != NULL) +
                 (uint32_t)(items[i].step != NULL);
        break;
      case TL_AST_ITEM_ELLIPSIS:
        break;
    }
  }
  return parts;
}

static tl_index_item *describe_items(tl_builder *b, const tl_ast_item *items,
                                     uint32_t count) {
  tl_index_item *out =
      tl_unit_alloc(b->vm, b->unit, sizeof *out * ((size_t)count + 1));
  if (out == NULL) {
    b->failed = true;
    return NULL;
  }
  for (uint32_t i = 0; i < count; i++) {
    switch (items[i].kind) {
      case TL_AST_ITEM_VALUE:
        out[i].kind = TL_ITEM_VALUE;
        break;
      case TL_AST_ITEM_ELLIPSIS:
        out[i].kind = TL_ITEM_ELLIPSIS;
        break;
      case TL_AST_ITEM_SLICE:
        out[i].kind = TL_ITEM_SLICE;
        out[i].given = (uint8_t)((items[i].start != NULL ? TL_SLICE_START : 0) |
                                 (items[i].stop != NULL ? TL_SLICE_STOP : 0) |
                                 (items[i].step != NULL ? TL_SLICE_STEP : 0));
        break;
    }
  }
  return out;
}

// Adds a path to the unit; its steps are filled in by the caller.
static uint32_t add_path(tl_builder *b, uint32_t step_count, tl_step **steps) {
  tl_unit *unit = b->unit;
  if (unit->path_count == b->path_capacity) {
    uint32_t capacity = b->path_capacity * 2 + 8;
    tl_path *paths = TL_ARENA_ARRAY(b->arena, tl_path, capacity);
    if (paths == NULL)
      return 0;
    if (unit->path_count > 0) {
      memcpy(paths, unit->paths, unit->path_count * sizeof *paths);
    }
    unit->paths = paths;
    b->path_capacity = capacity;
  }
  *steps = tl_unit_alloc(b->vm, unit, sizeof **steps * (size_t)step_count);
  if (*steps == NULL) {
    b->failed = true;
    return 0;
  }
  tl_path *path = &unit->paths[unit->path_count];
  path->step_count = (uint16_t)step_count;
  path->part_count = 0;
  path->steps = *steps;
  return unit->path_count++;
}

static uint32_t index_path(tl_lower *l, const tl_ast_item *items,
                           uint32_t count, uint32_t parts) {
  tl_step *steps = NULL;
  uint32_t path = add_path(l->b, 1, &steps);
  if (steps == NULL)
    return 0;
  steps[0].item_count = (uint16_t)count;
  steps[0].items = describe_items(l->b, items, count);
  l->b->unit->paths[path].part_count = (uint16_t)parts;
  return path;
}

// The values between the brackets, side by side from [first] on.
static void lower_part(tl_lower *l, tl_ast *ast, int32_t *slot) {
  if (ast == NULL)
    return;
  int32_t mark = l->top;
  tl_lower_expr(l, ast, *slot);
  l->top = mark;
  ++*slot;
}

static void lower_parts(tl_lower *l, tl_ast_item *items, uint32_t count,
                        int32_t first) {
  int32_t slot = first;
  for (uint32_t i = 0; i < count; i++) {
    if (items[i].kind == TL_AST_ITEM_VALUE) {
      lower_part(l, items[i].value, &slot);
    } else if (items[i].kind == TL_AST_ITEM_SLICE) {
      lower_part(l, items[i].start, &slot);
      lower_part(l, items[i].stop, &slot);
      lower_part(l, items[i].step, &slot);
    }
  }
}

static bool only_values(tl_ast_item *items, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    as_slice(&items[i]);
    if (items[i].kind != TL_AST_ITEM_VALUE)
      return false;
  }
  return true;
}

static bool too_many_items(tl_lower *l, uint32_t count, tl_span span) {
  if (count <= 64)
    return false;
  tl_diagnose(l->b->diagnostics, TL_DIAGNOSTIC_LIMIT, span,
              "an index has at most 64 items, one for each axis");
  return true;
}

// --- Reading ----------------------------------------------------------------

static bool items_may_assign(const tl_ast_item *items, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (tl_may_assign(items[i].value) || tl_may_assign(items[i].start) ||
        tl_may_assign(items[i].stop) || tl_may_assign(items[i].step)) {
      return true;
    }
  }
  return false;
}

int32_t tl_lower_index(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast_index *index = &ast->index;
  if (want < 0)
    want = tl_temp(l);
  if (too_many_items(l, index->count, ast->span))
    return want;
  int32_t mark = l->top;
  bool copy = index->object->kind == TL_AST_NAME &&
              items_may_assign(index->items, index->count);
  int32_t base = tl_lower_expr(l, index->object, copy ? tl_temp(l) : -1);
  if (only_values(index->items, index->count) && index->count <= 2) {
    int32_t operands[3] = {base, 0, 0};
    for (uint32_t i = 0; i < index->count; i++) {
      tl_ast *next = i + 1 < index->count ? index->items[i + 1].value : NULL;
      operands[i + 1] = next != NULL
                            ? tl_lower_left(l, index->items[i].value, next)
                            : tl_lower_expr(l, index->items[i].value, -1);
    }
    tl_opcode op = index->count == 1 ? TL_BC_GETEL : TL_BC_GETEL2;
    tl_cfg_ins *ins =
        tl_emit(l, op, want, (int32_t)index->count + 1, ast->span);
    memcpy(ins->operands, operands, (index->count + 1) * sizeof *operands);
    l->top = mark;
    return want;
  }
  uint32_t parts = count_parts(index->items, index->count);
  int32_t window = tl_temp(l);
  int32_t first = tl_temps(l, (int32_t)parts);
  lower_parts(l, index->items, index->count, first);
  tl_cfg_ins *ins =
      tl_emit(l, TL_BC_INDEX, window, (int32_t)parts + 1, ast->span);
  ins->operands[0] = base;
  for (uint32_t i = 0; i < parts; i++) {
    ins->operands[i + 1] = first + (int32_t)i;
  }
  ins->window = window;
  ins->extra = index_path(l, index->items, index->count, parts);
  tl_emit1(l, TL_BC_COPY, want, window, ast->span);
  l->top = mark;
  return want;
}

// --- Targets ----------------------------------------------------------------

// A target's indices, evaluated: slots of the parts and the path.
typedef struct place {
  tl_target *target;
  tl_variable *variable;
  int32_t first;       // slot of the first part
  int32_t indices[2];  // the slots of the one or two parts of SETEL, SETEL2
  uint32_t parts;
  uint32_t path;
} place;

// Whether the target is x[i] or x[i, j].
static bool is_element(const tl_target *target) {
  const tl_ast_step *only = &target->steps[0];
  return target->step_count == 1 && only->field.name == NULL &&
         only->count <= 2 && only_values(only->items, only->count);
}

// Where nothing else is assigned between, an index that is a variable need not
// be copied.
static void lower_indices(tl_lower *l, tl_target *target, place *out) {
  tl_ast_item *items = target->steps[0].items;
  uint32_t count = target->steps[0].count;
  for (uint32_t i = 0; i < count; i++) {
    tl_ast *value = items[i].value;
    const tl_variable *v = value->kind == TL_AST_NAME
                               ? tl_own_variable(l, value->name.name)
                               : NULL;
    bool copy = v == NULL || v->is_global || v->name == target->name ||
                (i + 1 < count && tl_may_assign(items[i + 1].value));
    int32_t mark = l->top;
    out->indices[i] =
        tl_lower_expr(l, value, copy ? out->first + (int32_t)i : -1);
    if (out->indices[i] >= l->f->variable_count &&
        out->indices[i] != out->first + (int32_t)i) {
      tl_emit1(l, TL_BC_COPY, out->first + (int32_t)i, out->indices[i],
               target->span);
      out->indices[i] = out->first + (int32_t)i;
    }
    l->top = mark;
  }
}

// [alone]: nothing is assigned between here and the update.
static void lower_place(tl_lower *l, tl_target *target, bool alone,
                        place *out) {
  out->target = target;
  out->variable = tl_scope_find(l->scope, target->name);
  out->parts = 0;
  for (uint32_t i = 0; i < target->step_count; i++) {
    if (too_many_items(l, target->steps[i].count, target->span))
      return;
    out->parts += count_parts(target->steps[i].items, target->steps[i].count);
  }
  out->first = tl_temps(l, (int32_t)out->parts);
  out->indices[0] = out->first;
  out->indices[1] = out->first + 1;
  if (alone && is_element(target)) {
    lower_indices(l, target, out);
    return;
  }
  int32_t slot = out->first;
  tl_step *steps = NULL;
  out->path = add_path(l->b, target->step_count, &steps);
  if (steps == NULL)
    return;
  for (uint32_t i = 0; i < target->step_count; i++) {
    tl_ast_step *from = &target->steps[i];
    if (from->field.name != NULL) {
      steps[i].field = tl_unit_string(l->b, from->field.name->text,
                                      from->field.name->nbytes);
      continue;
    }
    lower_parts(l, from->items, from->count, slot);
    slot += (int32_t)count_parts(from->items, from->count);
    steps[i].item_count = (uint16_t)from->count;
    steps[i].items = describe_items(l->b, from->items, from->count);
  }
  l->b->unit->paths[out->path].part_count = (uint16_t)out->parts;
}

// target.path = value in slot [variable], which is a variable or a value taken
// out of the module.
static void emit_update(tl_lower *l, const place *p, int32_t variable,
                        int32_t value) {
  const tl_target *target = p->target;
  tl_span span = target->span;
  const tl_ast_step *only = &target->steps[0];
  if (is_element(target)) {
    tl_opcode op = only->count == 1 ? TL_BC_SETEL : TL_BC_SETEL2;
    tl_cfg_ins *ins = tl_emit(l, op, variable, 2 + (int32_t)only->count, span);
    ins->operands[0] = variable;
    ins->operands[1] = value;
    for (uint32_t i = 0; i < only->count; i++) {
      ins->operands[2 + i] = p->indices[i];
    }
    return;
  }
  tl_cfg_ins *ins =
      tl_emit(l, TL_BC_SETPATH, variable, 2 + (int32_t)p->parts, span);
  ins->operands[0] = variable;
  ins->operands[1] = value;
  for (uint32_t i = 0; i < p->parts; i++) {
    ins->operands[2 + i] = p->first + (int32_t)i;
  }
  ins->window = p->first;
  ins->extra = p->path;
}

// --- Module variables -------------------------------------------------------

// A module variable's value is taken out, changed and put back; a landing pad
// puts it back where the change fails.
typedef struct taken {
  int32_t slot, pad, saved;
  uint32_t global;
} taken;

static void take_global(tl_lower *l, const tl_variable *v, tl_span span,
                        taken *t) {
  t->slot = tl_temp(l);
  t->global = (uint32_t)v->index;
  tl_emit_x(l, TL_BC_TAKEG, t->slot, t->global, span);
  t->pad = tl_new_block(l);
  t->saved = l->handler;
  l->handler = t->pad;
}

static void store_global(tl_lower *l, uint32_t global, int32_t slot,
                         tl_span span) {
  tl_cfg_ins *ins = tl_emit(l, TL_BC_SETG, -1, 1, span);
  ins->operands[0] = slot;
  ins->extra = global;
}

static void put_global(tl_lower *l, const taken *t, int32_t result,
                       tl_span span) {
  l->handler = t->saved;
  store_global(l, t->global, result, span);
  int32_t after = tl_new_block(l);
  tl_jump(l, after, span);
  tl_enter_block(l, t->pad);
  l->f->blocks[t->pad].is_handler = true;
  int32_t error = tl_temp(l);
  tl_emit_x(l, TL_BC_CATCH, error, 1, span);  // 1: the error stays pending
  store_global(l, t->global, t->slot, span);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_RAISE, -1, 1, span);
  ins->operands[0] = error;
  ins->extra = 1;
  tl_enter_block(l, after);
}

static void set_place(tl_lower *l, const place *p, int32_t value) {
  tl_variable *v = p->variable;
  if (v == NULL)
    return;
  if (v->is_global) {
    taken t;
    take_global(l, v, p->target->span, &t);
    emit_update(l, p, t.slot, value);
    put_global(l, &t, t.slot, p->target->span);
    return;
  }
  if (v->scope->function != l->scope->function)
    return;                                             // reported
  tl_lower_name(l, v->name, p->target->name_span, -1);  // must be set
  emit_update(l, p, v->index, value);
}

// Reads target.path with the parts that are there already.
static int32_t read_place(tl_lower *l, const place *p) {
  const tl_target *target = p->target;
  int32_t base = tl_lower_name(l, target->name, target->name_span, -1);
  int32_t part = p->first;
  for (uint32_t i = 0; i < target->step_count; i++) {
    tl_ast_step *step = &target->steps[i];
    int32_t result = tl_temp(l);
    if (step->field.name != NULL) {
      tl_cfg_ins *ins = tl_emit(l, TL_BC_GETF, result, 1, step->span);
      ins->operands[0] = base;
      ins->extra =
          tl_unit_name(l->b, step->field.name->text, step->field.name->nbytes);
      base = result;
      continue;
    }
    uint32_t parts = count_parts(step->items, step->count);
    bool plain = only_values(step->items, step->count) && step->count <= 2;
    tl_opcode op = !plain             ? TL_BC_INDEX
                   : step->count == 1 ? TL_BC_GETEL
                                      : TL_BC_GETEL2;
    tl_cfg_ins *ins = tl_emit(l, op, result, (int32_t)parts + 1, step->span);
    ins->operands[0] = base;
    for (uint32_t k = 0; k < parts; k++) {
      ins->operands[k + 1] =
          is_element(target) ? p->indices[k] : part + (int32_t)k;
    }
    if (!plain)
      ins->extra = index_path(l, step->items, step->count, parts);
    part += (int32_t)parts;
    base = result;
  }
  return base;
}

// --- Assignment -------------------------------------------------------------

static void assign_to(tl_lower *l, tl_target *target, int32_t value);

// Whether reading a place finds out what could be wrong with its indices.
static bool is_only_indices(const tl_target *target) {
  for (uint32_t i = 0; i < target->step_count; i++) {
    if (target->steps[i].field.name != NULL)
      return false;
  }
  return true;
}

// Several places are written one after the other. Where a later one may refuse
// its value, the variables are kept as they were until all are written, and a
// landing pad puts them back; this costs a copy of each that is changed.
typedef struct undo {
  int32_t pad, saved, first;  // slots of the old values, one for each target
} undo;

static bool is_local(const tl_lower *l, const tl_variable *v) {
  return v != NULL && !v->is_global && v->scope->function == l->scope->function;
}

// Whether [i] is the first place that changes its variable.
static bool is_kept(const tl_lower *l, const tl_target *targets,
                    const place *places, uint32_t i) {
  if (targets[i].kind != TL_TARGET_PLACE || places[i].variable == NULL) {
    return false;
  }
  for (uint32_t k = 0; k < i; k++) {
    if (targets[k].kind == TL_TARGET_PLACE &&
        places[k].variable == places[i].variable) {
      return false;
    }
  }
  return is_local(l, places[i].variable) || places[i].variable->is_global;
}

static void begin_undo(tl_lower *l, tl_target *targets, const place *places,
                       uint32_t count, undo *u) {
  u->first = tl_temps(l, (int32_t)count);
  for (uint32_t i = 0; i < count; i++) {
    if (!is_kept(l, targets, places, i))
      continue;
    tl_lower_name(l, targets[i].name, targets[i].name_span,
                  u->first + (int32_t)i);
  }
  u->pad = tl_new_block(l);
  u->saved = l->handler;
  l->handler = u->pad;
}

static void end_undo(tl_lower *l, tl_target *targets, const place *places,
                     uint32_t count, const undo *u) {
  tl_span span = targets[0].span;
  l->handler = u->saved;
  int32_t after = tl_new_block(l);
  tl_jump(l, after, span);
  tl_enter_block(l, u->pad);
  l->f->blocks[u->pad].is_handler = true;
  int32_t error = tl_temp(l);
  tl_emit_x(l, TL_BC_CATCH, error, 1, span);
  for (uint32_t i = 0; i < count; i++) {
    if (!is_kept(l, targets, places, i))
      continue;
    tl_store_name(l, targets[i].name, u->first + (int32_t)i, span);
  }
  tl_cfg_ins *ins = tl_emit(l, TL_BC_RAISE, -1, 1, span);
  ins->operands[0] = error;
  ins->extra = 1;
  tl_enter_block(l, after);
}

// x[i], x[j] = x[j], x[i]: items of one variable change places, and what came
// out of it fits back in.
static bool is_swap(const tl_target *target, const tl_ast *value) {
  for (uint32_t i = 0; i < target->count; i++) {
    const tl_target *t = &target->targets[i];
    const tl_ast *v = value->items.items[i];
    if (t->kind != TL_TARGET_PLACE || t->step_count != 1 ||
        t->name != target->targets[0].name || v->kind != TL_AST_INDEX ||
        v->index.object->kind != TL_AST_NAME ||
        v->index.object->name.name != t->name) {
      return false;
    }
  }
  return true;
}

// Stores values, side by side from [first] on, into several targets: all
// indices are evaluated before the first update, names come last since they
// cannot fail, and places after the first are looked at before it is written.
static void assign_all(tl_lower *l, tl_target *targets, uint32_t count,
                       int32_t first, bool is_swap) {
  place *places = TL_ARENA_ARRAY(l->b->arena, place, (size_t)count + 1);
  if (places == NULL)
    return;
  uint32_t place_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (targets[i].kind != TL_TARGET_PLACE)
      continue;
    lower_place(l, &targets[i], false, &places[i]);
    place_count++;
  }
  bool is_first = true;
  for (uint32_t i = 0; place_count > 1 && i < count; i++) {
    if (targets[i].kind != TL_TARGET_PLACE)
      continue;
    int32_t mark = l->top;
    if (!is_first && is_only_indices(&targets[i]))
      read_place(l, &places[i]);
    is_first = false;
    l->top = mark;
  }
  undo u = {.pad = -1};
  if (place_count > 1 && !is_swap) {
    begin_undo(l, targets, places, count, &u);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (targets[i].kind != TL_TARGET_PLACE)
      continue;
    set_place(l, &places[i], first + (int32_t)i);
  }
  if (u.pad >= 0)
    end_undo(l, targets, places, count, &u);
  for (uint32_t i = 0; i < count; i++) {
    if (targets[i].kind == TL_TARGET_PLACE)
      continue;
    assign_to(l, &targets[i], first + (int32_t)i);
  }
}

// Takes a value apart into as many as there are targets.
static void unpack(tl_lower *l, tl_target *targets, uint32_t count,
                   int32_t value, tl_span span) {
  int32_t list = tl_temp(l);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_UNPACK, list, 1, span);
  ins->operands[0] = value;
  ins->extra = count;
  int32_t first = tl_temps(l, (int32_t)count);
  for (uint32_t i = 0; i < count; i++) {
    int32_t index = tl_temp(l);
    tl_load_constant(l, index, tl_weak_int(i), span);
    tl_emit2(l, TL_BC_GETEL, first + (int32_t)i, list, index, span);
    l->top--;
  }
  assign_all(l, targets, count, first, false);
}

static void assign_to(tl_lower *l, tl_target *target, int32_t value) {
  int32_t mark = l->top;
  switch (target->kind) {
    case TL_TARGET_NAME:
      tl_store_name(l, target->name, value, target->span);
      return;
    case TL_TARGET_LIST:
      unpack(l, target->targets, target->count, value, target->span);
      break;
    case TL_TARGET_PLACE: {
      place p;
      lower_place(l, target, true, &p);
      set_place(l, &p, value);
      break;
    }
  }
  l->top = mark;
}

// a, b = b, a: all values first, each in a slot of its own.
static bool assign_parallel(tl_lower *l, tl_target *target, tl_ast *value) {
  if (target->kind != TL_TARGET_LIST || value->kind != TL_AST_LIST ||
      value->items.count != target->count || target->count > 100) {
    return false;
  }
  uint32_t count = target->count;
  int32_t first = tl_temps(l, (int32_t)count);
  for (uint32_t i = 0; i < count; i++) {
    int32_t mark = l->top;
    tl_lower_expr(l, value->items.items[i], first + (int32_t)i);
    l->top = mark;
  }
  assign_all(l, target->targets, count, first, is_swap(target, value));
  return true;
}

// x = x op e on a module variable, with nothing in e that could look at it.
static bool update_global(tl_lower *l, tl_variable *v, tl_operator op,
                          tl_ast *value, tl_span span) {
  if (v == NULL || !v->is_global || tl_may_call(value))
    return false;
  int32_t right = tl_lower_expr(l, value, -1);
  taken t;
  take_global(l, v, span, &t);
  int32_t result = tl_lower_binary_op(l, op, t.slot, right, -1, span);
  put_global(l, &t, result, span);
  return true;
}

void tl_lower_assign(tl_lower *l, tl_ast *ast) {
  tl_target *target = &ast->assign.target;
  tl_ast *value = ast->assign.value;
  if (assign_parallel(l, target, value))
    return;
  if (target->kind == TL_TARGET_NAME) {
    if (value->kind == TL_AST_BINARY &&
        value->binary.left->kind == TL_AST_NAME &&
        value->binary.left->name.name == target->name &&
        update_global(l, tl_scope_find(l->scope, target->name),
                      value->binary.op, value->binary.right, value->span)) {
      return;
    }
    int32_t direct = tl_direct_slot(l, target->name);
    int32_t slot = tl_lower_expr(l, value, direct);
    tl_store_name(l, target->name, slot, target->span);
    return;
  }
  assign_to(l, target, tl_lower_expr(l, value, -1));
}

void tl_lower_update(tl_lower *l, tl_ast *ast) {
  tl_ast_update *update = &ast->update;
  tl_target *target = &update->target;
  tl_variable *v = tl_scope_find(l->scope, target->name);
  if (v == NULL)
    return;
  if (target->kind == TL_TARGET_PLACE) {
    int32_t right = tl_lower_expr(l, update->value, tl_temp(l));
    place p;
    lower_place(l, target, true, &p);
    int32_t item = read_place(l, &p);
    int32_t result =
        tl_lower_binary_op(l, update->op, item, right, -1, ast->span);
    set_place(l, &p, result);
    return;
  }
  if (update_global(l, v, update->op, update->value, ast->span))
    return;
  bool copy = tl_may_assign(update->value);
  int32_t left =
      tl_lower_name(l, target->name, target->name_span, copy ? tl_temp(l) : -1);
  int32_t right = tl_lower_expr(l, update->value, -1);
  int32_t result = tl_lower_binary_op(
      l, update->op, left, right, tl_direct_slot(l, target->name), ast->span);
  tl_store_name(l, target->name, result, ast->span);
}

void tl_lower_targets(tl_lower *l, tl_ident *names, uint32_t count,
                      int32_t item, tl_span span) {
  if (count == 1) {
    tl_store_name(l, names[0].name, item, span);
    return;
  }
  int32_t list = tl_temp(l);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_UNPACK, list, 1, span);
  ins->operands[0] = item;
  ins->extra = count;
  for (uint32_t i = 0; i < count; i++) {
    int32_t mark = l->top;
    int32_t index = tl_temp(l), value = tl_temp(l);
    tl_load_constant(l, index, tl_weak_int(i), span);
    tl_emit2(l, TL_BC_GETEL, value, list, index, span);
    tl_store_name(l, names[i].name, value, names[i].span);
    l->top = mark;
  }
}
