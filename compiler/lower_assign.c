// Lowering of assignments: the right side first and whole, then indices from
// left to right, once, then the update.

#include "compiler/lower_place.h"

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
                    const tl_target_place *places, uint32_t i) {
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

static void begin_undo(tl_lower *l, tl_target *targets,
                       const tl_target_place *places, uint32_t count, undo *u) {
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

static void end_undo(tl_lower *l, tl_target *targets,
                     const tl_target_place *places, uint32_t count,
                     const undo *u) {
  tl_span span = targets[0].span;
  l->handler = u->saved;
  tl_landing landing = tl_landing_begin(l, u->pad, span);
  for (uint32_t i = 0; i < count; i++) {
    if (!is_kept(l, targets, places, i))
      continue;
    tl_store_name(l, targets[i].name, u->first + (int32_t)i, span);
  }
  tl_landing_end(l, &landing);
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
  tl_target_place *places =
      TL_ARENA_ARRAY(l->b->arena, tl_target_place, (size_t)count + 1);
  if (places == NULL)
    return;
  uint32_t place_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (targets[i].kind != TL_TARGET_PLACE)
      continue;
    tl_place_lower(l, &targets[i], false, &places[i]);
    place_count++;
  }
  bool is_first = true;
  for (uint32_t i = 0; place_count > 1 && i < count; i++) {
    if (targets[i].kind != TL_TARGET_PLACE)
      continue;
    int32_t mark = l->top;
    if (!is_first && is_only_indices(&targets[i]))
      tl_place_read(l, &places[i]);
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
    tl_place_set(l, &places[i], first + (int32_t)i);
  }
  if (u.pad >= 0)
    end_undo(l, targets, places, count, &u);
  for (uint32_t i = 0; i < count; i++) {
    if (targets[i].kind == TL_TARGET_PLACE)
      continue;
    assign_to(l, &targets[i], first + (int32_t)i);
  }
}

// A list of exactly [count] items from the value, walked from its start: what
// ends here gives its items away.
static int32_t begin_unpack(tl_lower *l, uint32_t count, int32_t value,
                            tl_span span) {
  int32_t list = tl_temps(l, 2);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_UNPACK, list, 1, span);
  ins->operands[0] = value;
  ins->extra = count;
  tl_emit_x(l, TL_BC_LOADI, list + 1, 0, span);
  return list;
}

static int32_t unpack(tl_lower *l, uint32_t count, int32_t value,
                      tl_span span) {
  int32_t list = begin_unpack(l, count, value, span);
  int32_t first = tl_temps(l, (int32_t)count);
  for (uint32_t i = 0; i < count; i++)
    tl_emit_next(l, first + (int32_t)i, list, TL_NEXT_OF_LIST, span);
  return first;
}

bool tl_is_pair(tl_lower *l, const tl_target *target, const tl_ast *value) {
  if (target->kind != TL_TARGET_LIST || target->count != 2 ||
      value->kind != TL_AST_CALL)
    return false;
  const tl_builtin *builtin = tl_called_builtin(l, value->call.callee);
  return builtin != NULL && (builtin->flags & TL_PAIR) != 0;
}

// This cannot fail, so no handler sees what the call has consumed.
int32_t tl_unpack_pair(tl_lower *l, int32_t value, tl_span span) {
  int32_t saved = l->handler;
  l->handler = -1;
  int32_t first = unpack(l, 2, value, span);
  l->handler = saved;
  return first;
}

static void assign_to(tl_lower *l, tl_target *target, int32_t value) {
  int32_t mark = l->top;
  switch (target->kind) {
    case TL_TARGET_NAME:
      tl_store_name(l, target->name, value, target->span);
      return;
    case TL_TARGET_LIST:
      assign_all(l, target->targets, target->count,
                 unpack(l, target->count, value, target->span), false);
      break;
    case TL_TARGET_PLACE: {
      tl_target_place p;
      tl_place_lower(l, target, true, &p);
      tl_place_set(l, &p, value);
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
  tl_taken_global t = {.slot = tl_temp(l)};
  tl_global_take(l, v, span, &t);
  int32_t result = tl_lower_binary_op(l, op, t.slot, right, -1, span);
  tl_global_put(l, &t, result, span);
  return true;
}

void tl_lower_assign(tl_lower *l, tl_ast *ast) {
  tl_target *target = &ast->assign.target;
  tl_ast *value = ast->assign.value;
  if (assign_parallel(l, target, value))
    return;
  if (target->kind == TL_TARGET_NAME) {
    if (tl_take_whole(l, target, value))
      return;
    int32_t direct = tl_direct_slot(l, target->name);
    int32_t slot = tl_lower_expr(l, value, direct);
    tl_store_name(l, target->name, slot, target->span);
    return;
  }
  if (target->kind == TL_TARGET_PLACE && tl_take_assign(l, target, value))
    return;
  if (tl_is_pair(l, target, value)) {
    if (tl_take_pair(l, target, value))
      return;
    int32_t first =
        tl_unpack_pair(l, tl_lower_expr(l, value, -1), target->span);
    assign_all(l, target->targets, 2, first, false);
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
    if (tl_take_update(l, ast))
      return;
    int32_t right = tl_lower_expr(l, update->value, tl_temp(l));
    tl_target_place p;
    tl_place_lower(l, target, true, &p);
    int32_t item = tl_place_read(l, &p);
    int32_t result =
        tl_lower_binary_op(l, update->op, item, right, -1, ast->span);
    tl_place_set(l, &p, result);
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
  int32_t list = begin_unpack(l, count, item, span);
  for (uint32_t i = 0; i < count; i++) {
    int32_t mark = l->top, value = tl_temp(l);
    tl_emit_next(l, value, list, TL_NEXT_OF_LIST, span);
    tl_store_name(l, names[i].name, value, names[i].span);
    l->top = mark;
  }
}
