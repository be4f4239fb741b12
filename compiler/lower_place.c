// Lowering of places: indexing, and what stands left of an assignment.
//
// Plain indices have instructions of their own (GETEL, SETEL …). Everything
// else goes by a path, a description of the steps that the unit holds, and the
// values between the brackets as operands side by side:
//
//   r.a[1:n, k]    path: field a; index slice(start, stop), value
//                  operands: 1, n, k

#include "compiler/ast_walk.h"
#include "compiler/lower_place.h"

// --- Paths ------------------------------------------------------------------

static bool count_part(tl_ast *ast, void *parts) {
  (void)ast;
  ++*(uint32_t *)parts;
  return false;
}

// How many values the items of an index have: the operands of its path.
static uint32_t count_parts(const tl_ast_item *items, uint32_t count) {
  uint32_t parts = 0;
  tl_ast_each_in_items(items, count, count_part, &parts);
  return parts;
}

// Whether an index is an array for certain: then no single item is meant.
static bool is_array(const tl_ast *index) {
  return index->kind == TL_AST_ARRAY || index->kind == TL_AST_ARRAY_FOR;
}

// The items as the VM reads them from a path, in memory of the unit.
static tl_index_item *describe_items(tl_builder *b, const tl_ast_item *items,
                                     uint32_t count) {
  tl_index_item *out = tl_unit_room(b, sizeof *out * ((size_t)count + 1));
  if (out == NULL)
    return NULL;
  static const uint8_t kinds[] = {
      [TL_AST_ITEM_VALUE] = TL_ITEM_VALUE,
      [TL_AST_ITEM_SLICE] = TL_ITEM_SLICE,
      [TL_AST_ITEM_ELLIPSIS] = TL_ITEM_ELLIPSIS,
      [TL_AST_ITEM_SPREAD] = TL_ITEM_SPREAD,
  };
  for (uint32_t i = 0; i < count; i++) {
    const tl_ast_item *item = &items[i];
    out[i].kind = kinds[item->kind];
    // Which ends are given: the others take no operand.
    out[i].given = (uint8_t)((item->start != NULL ? TL_SLICE_START : 0) |
                             (item->stop != NULL ? TL_SLICE_STOP : 0) |
                             (item->step != NULL ? TL_SLICE_STEP : 0));
    if (item->kind == TL_AST_ITEM_VALUE)
      out[i].given = is_array(item->value);
  }
  return out;
}

// Makes the step of a path an index.
static void describe_step(tl_lower *l, uint32_t path, tl_step *step,
                          const tl_ast_item *items, uint32_t count) {
  step->item_count = (uint16_t)count;
  step->items = describe_items(l->b, items, count);
  // With ...x only the run knows how many axes there are.
  l->b->unit->paths[path].spreads |=
      tl_ast_items_have(items, count, TL_AST_ITEM_SPREAD);
}

// The path of a single index.
static uint32_t index_path(tl_lower *l, const tl_ast_item *items,
                           uint32_t count, uint32_t parts) {
  tl_step *steps;
  uint32_t path = tl_unit_path(l->b, 1, &steps);
  if (steps == NULL)
    return 0;
  describe_step(l, path, steps, items, count);
  l->b->unit->paths[path].part_count = (uint16_t)parts;
  return path;
}

// Where the values between brackets go.
typedef struct part_slots {
  tl_lower *l;
  int32_t next;
} part_slots;

static bool lower_part(tl_ast *ast, void *slots) {
  part_slots *to = slots;
  tl_lower_expr(to->l, ast, to->next++);
  return false;
}

// The values between the brackets, side by side from [first] on, in the order
// of the path.
static void lower_parts(tl_lower *l, const tl_ast_item *items, uint32_t count,
                        int32_t first) {
  tl_ast_each_in_items(items, count, lower_part, &(part_slots){l, first});
}

// Reports an index with more items than an array has axes.
static bool too_many_items(tl_lower *l, uint32_t count, tl_span span) {
  if (count <= 64)
    return false;
  tl_diagnose(l->b->diagnostics, TALLY_ERR_LIMIT, span,
              "an index has at most 64 items, one for each axis");
  return true;
}

// --- Reading ----------------------------------------------------------------

// Whether evaluating a part of an index may assign a variable: then the object
// is copied before it.
static bool may_assign(tl_ast *ast, void *context) {
  (void)context;
  return tl_may_assign(ast);
}

// object[items]: GETEL and GETEL2 for one or two plain indices, else INDEX
// with a path and a window.
int32_t tl_lower_index(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast_index *index = &ast->index;
  want = tl_into(l, want);
  if (too_many_items(l, index->count, ast->span))
    return want;
  // x[{ x = y; 0 }] indexes the x of before.
  bool copy =
      index->object->kind == TL_AST_NAME &&
      tl_ast_each_in_items(index->items, index->count, may_assign, NULL);
  const bool plain =
      tl_ast_items_are(index->items, index->count, TL_AST_ITEM_VALUE);
  l->is_unseen = plain && index->object->kind == TL_AST_LIST;
  int32_t base =
      tl_lower_expr(l, index->object, copy || l->is_unseen ? tl_temp(l) : -1);
  // One or two single indices, as in most loops: no path, no window.
  if (plain && index->count <= 2 &&
      !(index->count == 1 && is_array(index->items[0].value))) {
    int32_t operands[3] = {base, 0, 0};
    for (uint32_t i = 0; i < index->count; i++) {
      tl_ast *next = i + 1 < index->count ? index->items[i + 1].value : NULL;
      operands[i + 1] = next != NULL
                            ? tl_lower_left(l, index->items[i].value, next)
                            : tl_lower_expr(l, index->items[i].value, -1);
    }
    tl_opcode op = index->count == 1 ? TL_BC_GETEL : TL_BC_GETEL2;
    tl_emit_operands(l, op, want, operands, (int32_t)index->count + 1,
                     ast->span);
    return want;
  }
  uint32_t parts = count_parts(index->items, index->count);
  // INDEX has its result and the parts in a window; the object may stay where
  // it is.
  int32_t window = tl_temp(l);
  int32_t first = tl_temps(l, (int32_t)parts);
  lower_parts(l, index->items, index->count, first);
  tl_cfg_ins *ins =
      tl_emit(l, TL_BC_INDEX, window, (int32_t)parts + 1, ast->span);
  ins->operands[0] = base;
  for (uint32_t i = 0; i < parts; i++)
    ins->operands[i + 1] = first + (int32_t)i;
  ins->window = window;
  ins->extra = index_path(l, index->items, index->count, parts);
  // [want] may be a variable, which is not in the window.
  tl_emit1(l, TL_BC_MOV, want, window, ast->span);
  return want;
}

// --- Targets ----------------------------------------------------------------

// Asks for the target alone, so it may be called before the place is planned.
bool tl_place_is_item(const tl_target_place *p, uint32_t most) {
  const tl_ast_step *only = &p->target->steps[0];
  return p->target->step_count == 1 && only->field.name == NULL &&
         only->count <= most &&
         tl_ast_items_are(only->items, only->count, TL_AST_ITEM_VALUE);
}

// Adds the path of all steps of a target.
static void plan_path(tl_lower *l, tl_target_place *out) {
  const tl_target *target = out->target;
  tl_step *steps;
  out->path = tl_unit_path(l->b, target->step_count, &steps);
  if (steps == NULL)
    return;
  for (uint32_t i = 0; i < target->step_count; i++) {
    const tl_ast_step *from = &target->steps[i];
    // A step is a field if it has a name, else an index.
    if (from->field.name != NULL)
      steps[i].field = tl_unit_named(l->b, from->field.name);
    else
      describe_step(l, out->path, &steps[i], from->items, from->count);
  }
  l->b->unit->paths[out->path].part_count = (uint16_t)out->parts;
}

// Counts the slots that the indices need and reserves them, before anything is
// evaluated; with [path] it also adds the target's path to the unit. On a
// report out->parts is what has been counted so far.
void tl_place_plan(tl_lower *l, tl_target *target, bool path,
                   tl_target_place *out) {
  *out = (tl_target_place){.target = target,
                           .variable = tl_scope_find(l->scope, target->name)};
  for (uint32_t i = 0; i < target->step_count; i++) {
    if (too_many_items(l, target->steps[i].count, target->span))
      return;
    out->parts += count_parts(target->steps[i].items, target->steps[i].count);
  }
  // One instruction has them all as operands, each in a slot of its own.
  if (out->parts > TL_MAX_SLOTS - 600) {
    out->parts = 0;
    tl_diagnose(l->b->diagnostics, TALLY_ERR_LIMIT, target->span,
                "a place has at most %d indices", TL_MAX_SLOTS - 600);
    return;
  }
  // The parts' own slots; single indices may turn out to be elsewhere.
  out->first = tl_temps(l, (int32_t)out->parts);
  out->indices[0] = out->first;
  out->indices[1] = out->first + 1;
  if (path)
    plan_path(l, out);
}

// The one or two indices of x[i] and x[i, j]. As nothing else is assigned in
// between, an index that is a variable stays in its slot; a value in another
// place is copied to the part's own.
static void lower_indices(tl_lower *l, tl_target_place *out) {
  const tl_target *target = out->target;
  tl_ast_item *items = target->steps[0].items;
  uint32_t count = target->steps[0].count;
  for (uint32_t i = 0; i < count; i++) {
    tl_ast *value = items[i].value;
    // The target's own variable is copied: the update writes there. So is one
    // that the second index may assign.
    bool stays = tl_is_own_variable(l, value) &&
                 value->name.name != target->name &&
                 (i + 1 == count || !tl_may_assign(items[i + 1].value));
    int32_t mark = l->top;
    out->indices[i] =
        tl_lower_expr(l, value, stays ? -1 : out->first + (int32_t)i);
    l->top = mark;
  }
}

// Fields have no parts; those of the brackets follow one another from
// place.first on.
void tl_place_parts(tl_lower *l, bool alone, tl_target_place *p) {
  if (alone && tl_place_is_item(p, 2)) {
    lower_indices(l, p);
    return;
  }
  int32_t slot = p->first;
  for (uint32_t i = 0; i < p->target->step_count; i++) {
    tl_ast_step *step = &p->target->steps[i];
    if (step->field.name != NULL)
      continue;
    lower_parts(l, step->items, step->count, slot);
    slot += (int32_t)count_parts(step->items, step->count);
  }
}

// Plans the place and evaluates its indices from left to right. [alone]:
// nothing else is assigned by the statement, so an index that is a variable can
// stay in its own slot.
void tl_place_lower(tl_lower *l, tl_target *target, bool alone,
                    tl_target_place *out) {
  tl_target_place p = {.target = target};
  // x[i] alone needs no path: SETEL has the indices as operands.
  tl_place_plan(l, target, !alone || !tl_place_is_item(&p, 2), out);
  tl_place_parts(l, alone, out);
}

// The operands are target, value, parts; the result is the target.
void tl_place_update(tl_lower *l, const tl_target_place *p, tl_opcode op,
                     int32_t variable, int32_t value) {
  const tl_target *target = p->target;
  // Plain indices have instructions of their own.
  if (op == TL_BC_SETPATH && tl_place_is_item(p, 2))
    op = target->steps[0].count == 1 ? TL_BC_SETEL : TL_BC_SETEL2;
  tl_cfg_ins *ins =
      tl_emit(l, op, variable, 2 + (int32_t)p->parts, target->span);
  ins->operands[0] = variable;
  ins->operands[1] = value;
  bool item = tl_place_is_item(p, 2);
  for (uint32_t i = 0; i < p->parts; i++)
    ins->operands[2 + i] = item ? p->indices[i] : p->first + (int32_t)i;
  if (op != TL_BC_SETEL && op != TL_BC_SETEL2)
    ins->window = p->first;
  // SETEL has no path in bytecode: it names the place for place_flow.c.
  ins->extra = op == TL_BC_SETEL ? tl_unit_item_path(l->b) : p->path;
}

// --- Module variables -------------------------------------------------------

enum { WATCHED_MAX = 500 };

// A walk in the order of evaluation for whether a module variable may be out
// from where it is first read: what is called from then on must not look at it.
typedef struct absence {
  tl_lower *l;
  const tl_variable *variable;  // NULL: code must not change any
  uint32_t reads;               // of it, so far
  bool inside;                  // of a function that is called
  uint32_t *left;               // how many nodes may still be looked at
} absence;

static bool misses(tl_ast *ast, void *context);

// Whether a function would miss it when it is called. The debugger stops there,
// and shows variables.
static bool function_misses(const absence *outer, const tl_ast *f) {
  tl_lower *l = outer->l;
  tl_scope *scope = l->scope, *own = f->function.scope;
  absence w = {l, outer->variable, 0, true, outer->left};
  if (own == NULL || own->global_count > 0 || l->b->debugged)
    return true;
  l->scope = own;
  bool is_missing = tl_ast_each_child(f, misses, &w) || w.reads > 0;
  l->scope = scope;
  return is_missing;
}

// Whether a call runs what is not looked into where it stands. Functions of the
// library call what they are given behind their first argument.
static bool calls_unknown(tl_lower *l, const tl_ast_call *call) {
  const tl_builtin *builtin = tl_called_builtin(l, call->callee);
  bool known;
  if (builtin != NULL && !tl_builtin_calls(builtin))
    return false;
  if (builtin == NULL && (tl_function_of(l, call->callee, &known) || !known))
    return !known;
  for (uint32_t i = 1; i < call->count; i++) {
    const tl_ast *given = call->arguments[i].value;
    if (!tl_function_of(l, given, &known) && !known &&
        given->kind > TL_AST_NONE && given->kind != TL_AST_LIST)
      return true;
  }
  return false;
}

// What may be skipped must not read it, as that may be evaluated first
// (lower_order.c), and functions have no slots of another one.
static bool misses(tl_ast *ast, void *context) {
  absence *w = context;
  uint32_t before = w->reads;
  bool known;
  if (*w->left == 0 || tl_ast_comprehends(ast) ||
      (!w->inside && tl_ast_has_block(ast)))
    return true;
  --*w->left;
  const tl_ast *f = tl_function_of(w->l, ast, &known);
  if (f != NULL)
    return function_misses(w, f);
  if (ast->kind == TL_AST_NAME && w->variable != NULL)
    w->reads += tl_scope_find(w->l->scope, ast->name.name) == w->variable;
  if (tl_ast_each_child(ast, misses, w))
    return true;
  if (ast->kind == TL_AST_AND || ast->kind == TL_AST_OR)
    return w->reads != before;
  return ast->kind == TL_AST_CALL &&
         (tl_is_del(w->l->scope, ast) ||
          ((w->reads > 0 || w->inside) && calls_unknown(w->l, &ast->call)));
}

bool tl_calls_unknown(tl_lower *l, tl_ast *call) {
  return misses(call, &(absence){l, NULL, 0, true, &(uint32_t){WATCHED_MAX}});
}

// Makes the variable one of this function; it is moved out where it is read
// first.
static void begin_global(tl_lower *l, tl_variable *v, tl_taken_global *t) {
  *t = (tl_taken_global){.variable = v, .scope = v->scope, .global = v->index};
  t->slot = tl_temp(l);
  v->is_global = false;
  v->scope = l->scope;
  v->index = t->slot;
  v->taken = t;
}

bool tl_global_begin(tl_lower *l, const tl_ast_assign *assign,
                     const tl_target *place, tl_ast *value,
                     tl_taken_global *t) {
  tl_variable *v = place->kind == TL_TARGET_LIST
                       ? NULL
                       : tl_scope_find(l->scope, place->name);
  absence w = {.l = l, .variable = v, .left = &(uint32_t){WATCHED_MAX}};
  t->variable = NULL;
  if (v == NULL || !v->is_global || (value != NULL && misses(value, &w)))
    return false;
  // A place is read behind its indices, a name need not be, nor one of several
  // places before others are evaluated.
  bool alone = place->kind == TL_TARGET_PLACE && place == &assign->target;
  if ((!alone && w.reads == 0) ||
      tl_ast_each_in_target(&assign->target, misses, &w))
    return false;
  w.reads++;
  if (assign->fallback != NULL && misses(assign->fallback, &w))
    return false;
  begin_global(l, v, t);
  return true;
}

// Without an error the changed value goes back, in the landing pad the one
// that was moved out.
void tl_global_end(tl_lower *l, tl_taken_global *t, tl_span span) {
  tl_variable *v = t->variable;
  if (v == NULL)
    return;
  v->is_global = true;
  v->scope = t->scope;
  v->index = t->global;
  v->taken = NULL;
  if (!t->is_out)
    return;  // an error was reported
  l->handler = t->saved;
  tl_store_name(l, v->name, t->slot, span);
  tl_landing landing = tl_landing_begin(l, t->pad, span);
  tl_store_name(l, v->name, t->slot, span);
  tl_landing_end(l, &landing);
}

// A module variable's value is moved out while it is written: else the module
// would share it and the write would copy it.
void tl_place_set(tl_lower *l, const tl_target_place *p, int32_t value) {
  tl_variable *v = p->variable;
  tl_taken_global t = {.variable = NULL};
  if (v != NULL && v->is_global)
    begin_global(l, v, &t);
  // The resolver has reported an update of a captured variable.
  if (v == NULL || v->scope->function != l->scope->function)
    return;
  // The name is read for the check that it is set; its value stays in its slot.
  tl_lower_name(l, v->name, p->target->name_span, -1);
  tl_place_update(l, p, TL_BC_SETPATH, v->index, value);
  tl_global_end(l, &t, p->target->span);
}

// Step by step from what is in slot [base], -1: from the variable, with one
// instruction for each; parts were evaluated before.
static int32_t read_steps(tl_lower *l, const tl_target_place *p, int32_t base,
                          uint32_t count) {
  const tl_target *target = p->target;
  if (base < 0)
    base = tl_lower_name(l, target->name, target->name_span, -1);
  int32_t part = p->first;
  for (uint32_t i = 0; i < count; i++) {
    tl_ast_step *step = &target->steps[i];
    int32_t result = tl_temp(l);
    if (step->field.name != NULL) {
      tl_emit_field(l, result, base, step->field.name, step->span);
      base = result;
      continue;
    }
    uint32_t parts = count_parts(step->items, step->count);
    // As in lower_index.
    bool plain = step->count <= 2 &&
                 tl_ast_items_are(step->items, step->count, TL_AST_ITEM_VALUE);
    tl_opcode op = !plain             ? TL_BC_INDEX
                   : step->count == 1 ? TL_BC_GETEL
                                      : TL_BC_GETEL2;
    tl_cfg_ins *ins = tl_emit(l, op, result, (int32_t)parts + 1, step->span);
    ins->operands[0] = base;
    for (uint32_t k = 0; k < parts; k++)
      ins->operands[k + 1] =
          tl_place_is_item(p, 2) ? p->indices[k] : part + (int32_t)k;
    if (!plain)
      ins->extra = index_path(l, step->items, step->count, parts);
    part += (int32_t)parts;
    base = result;
  }
  return base;
}

int32_t tl_place_read(tl_lower *l, const tl_target_place *p, int32_t base) {
  return read_steps(l, p, base, p->target->step_count);
}

// --- get ---------------------------------------------------------------------

// Whether the key is there, of values that are in slots already: as get says it
// with [as_get], else as has does, which takes tables, too. Returns a temporary
// with a bool.
static int32_t is_found(tl_lower *l, bool as_get, int32_t container,
                        int32_t key, tl_span span) {
  const tl_builtin *found = tl_builtin_find(
      l->b->vm->library, as_get ? "_places" : NULL, as_get ? "get" : "has", 3);
  int32_t base = tl_temp(l);
  tl_temps(l, 2);  // its window
  tl_emit_window(l, TL_BC_CALLB, base, (int32_t[]){container, key}, 2,
                 tl_add_constant(l, tl_builtin_slot(found)), span);
  l->top = base + 1;
  return base;
}

void tl_enter_found(tl_lower *l, const tl_target_place *place, int32_t no,
                    bool as_get, tl_span span) {
  const tl_target *target = place->target;
  // The last part is the key: get has one.
  int32_t key = tl_place_is_item(place, 1)
                    ? place->indices[0]
                    : place->first + (int32_t)place->parts - 1;
  int32_t container = read_steps(l, place, -1, target->step_count - 1);
  int32_t there = is_found(l, as_get, container, key, span);
  int32_t yes = tl_new_block(l);
  tl_branch(l, TL_BC_JT, there, yes, no, span);
  tl_enter_block(l, yes);
}

// A handler would see what is out of its place.
const tl_argument *tl_get_arguments(tl_lower *l, const tl_ast *ast) {
  const tl_builtin *builtin =
      ast->kind == TL_AST_CALL ? tl_called_builtin(l, ast->call.callee) : NULL;
  if (builtin == NULL || strcmp(builtin->name, "get") != 0 ||
      ast->call.count != 3 || l->handler >= 0)
    return NULL;
  const tl_argument *given = ast->call.arguments;
  for (uint32_t i = 0; i < 3; i++)
    if (given[i].kind != TL_ARGUMENT_POSITIONAL ||
        tl_may_assign(given[i].value))
      return NULL;
  return given;
}

// Whether an argument may be read again: a variable of this function, which
// *slot is then, or with [or_constant] a literal.
static bool is_steady(tl_lower *l, const tl_ast *ast, bool or_constant,
                      int32_t *slot) {
  if (tl_is_own_variable(l, ast)) {
    *slot = tl_own_variable(l, ast->name.name)->index;
    return true;
  }
  tl_slot value = tl_literal_slot(l, ast, false);
  return tl_drop_after(
      l->b->vm,
      or_constant && (ast->kind == TL_AST_STRING || !tl_is_unset(value)),
      &value);
}

//        t = callb get(r, k, fallback)
//        h = callb _places.get(r, k)
//        jf h -> after
//        t = getel r, k
//   after:
void tl_load_got(tl_lower *l, const tl_ast *ast, int32_t slot) {
  const tl_argument *given = tl_get_arguments(l, ast);
  int32_t container = -1, key = -1;
  if (given == NULL || !is_steady(l, given[0].value, false, &container) ||
      !is_steady(l, given[1].value, true, &key))
    return;
  int32_t mark = l->top;
  int32_t asked = key < 0 ? tl_lower_expr(l, given[1].value, -1) : key;
  int32_t there = is_found(l, true, container, asked, ast->span);
  int32_t yes = tl_new_block(l), end = tl_new_block(l);
  tl_branch(l, TL_BC_JT, there, yes, end, ast->span);
  tl_enter_block(l, yes);
  asked = key < 0 ? tl_lower_expr(l, given[1].value, -1) : key;
  tl_emit2(l, TL_BC_GETEL, slot, container, asked, ast->span);
  tl_end_block(l, end, end, ast->span);
  l->top = mark;
}
