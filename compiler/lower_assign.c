// Lowering of assignments and updates: the right side first and whole, then
// indices from left to right, once, then the update.
//
//   x = e            into the slot of x, if no handler may see the old x
//   a, b = b, a      values side by side, no list
//   r.a[k] = g(…)    by lower_take.c, if g uses the old r.a[k]
//   x[i], y = p      p unpacked; places are written before names

#include "compiler/ast_walk.h"
#include "compiler/lower_place.h"

// --- Assignment -------------------------------------------------------------

static void assign_to(tl_lower *l, tl_target *target, int32_t value);

// Several places are written one after the other. What the first of them had is
// read before, and where a later one rejects its value, landing pads put that
// back, the last that was written first. a[0], b[0] = p:
//
//        o = a[0]                  an error goes to whole
//        a[0] = p1
//        b[0] = p2                 an error goes to pad
//        jmp after
//   pad: e = catch; a[0] = o; raise e
//   whole:
//        …
//   after:
//
// What is not there yet, as the key of a record, cannot be put back: from whole
// on the places are written once more, and the old values of the variables are
// kept until all are. This costs a copy of each variable that is changed.

// Whether each place can be put back whatever the others had: those of one
// variable are equally deep, so none is within what another one replaces.
static bool are_apart(const tl_target_place *places, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < i; k++)
      if (places[k].variable == places[i].variable &&
          places[k].target->step_count != places[i].target->step_count)
        return false;
  return true;
}

// Writes the places, each under a pad for the ones before it, which puts back
// what those had: [old] or, with [whole], their variables. In [old] there is
// room for the pads, too.
static void set_each(tl_lower *l, const tl_target_place *places, uint32_t n,
                     const int32_t *values, int32_t *old, bool whole) {
  int32_t outside = l->handler, *pads = old + n;
  for (uint32_t i = 0; i < n; i++) {
    tl_place_set(l, &places[i], values[i]);
    if (i + 1 < n)
      l->handler = pads[i] = tl_new_block(l);
  }
  for (uint32_t i = n - 1; i-- > 0;) {
    const tl_target *target = places[i].target;
    l->handler = i > 0 ? pads[i - 1] : outside;
    tl_landing landing = tl_landing_begin(l, pads[i], target->span);
    if (whole)
      tl_store_name(l, target->name, old[i], target->span);
    else
      tl_place_set(l, &places[i], old[i]);
    tl_landing_end(l, &landing);
  }
}

// Whether [ast] may do more than give a value. A visitor.
static bool has_effect(tl_ast *ast, void *context) {
  (void)context;
  return !tl_ast_is_same(ast, ast);
}

// What a place has: the [count] values from slot [first] on may have it
// already, as in x[i], x[j] = x[j], x[i].
static int32_t read_old(tl_lower *l, const tl_target_place *place,
                        tl_ast **values, uint32_t count, int32_t first) {
  for (uint32_t i = 0; values != NULL && i < count; i++)
    if (tl_reads(values[i], place->target))
      return first + (int32_t)i;
  return tl_place_read(l, place, -1);
}

// Writes several places.
static void set_places(tl_lower *l, const tl_target_place *places, uint32_t n,
                       const int32_t *values, int32_t *old, tl_ast **from,
                       uint32_t count, int32_t first) {
  int32_t whole = tl_new_block(l), after = tl_new_block(l);
  int32_t outside = l->handler;
  tl_span span = places->target->span;
  bool by_item = are_apart(places, n);
  if (by_item) {
    l->handler = whole;
    for (uint32_t i = 0; i + 1 < n; i++)
      old[i] = read_old(l, &places[i], from, count, first);
    l->handler = outside;
    set_each(l, places, n, values, old, false);
    tl_enter_handler(l, after, whole, tl_temp(l), TL_CATCHES_UNNAMED, span);
  }
  // A second reference to the old value: the first write copies it.
  for (uint32_t i = 0; i + 1 < n; i++)
    old[i] = tl_lower_name(l, places[i].target->name,
                           places[i].target->name_span, tl_temp(l));
  set_each(l, places, n, values, old, true);
  if (by_item)
    tl_end_block(l, after, after, span);
}

// Stores values, side by side from slot [first] on, into several targets. All
// indices are evaluated before the first update, and names come last since they
// cannot fail.
static void assign_all(tl_lower *l, tl_target *targets, uint32_t count,
                       int32_t first, tl_ast **from) {
  tl_target_place *places =
      TL_ARENA_ARRAY(l->b->arena, tl_target_place, (size_t)count + 1);
  int32_t *values = TL_ARENA_ARRAY(l->b->arena, int32_t, 3 * (size_t)count + 1);
  if (places == NULL || values == NULL)
    return;
  uint32_t n = 0;
  for (uint32_t i = 0; i < count; i++)
    if (targets[i].kind == TL_TARGET_PLACE) {
      values[n] = first + (int32_t)i;
      tl_place_lower(l, &targets[i], false, &places[n++]);
    }
  if (n > 1)
    set_places(l, places, n, values, values + count, from, count, first);
  else
    for (uint32_t i = 0; i < n; i++) tl_place_set(l, &places[i], values[i]);
  for (uint32_t i = 0; i < count; i++)
    if (targets[i].kind != TL_TARGET_PLACE)
      assign_to(l, &targets[i], first + (int32_t)i);
}

// Which of the targets is ...rest; their number if none is.
static uint32_t rest_of(const tl_target *target) {
  uint32_t i = 0;
  while (i < target->count && !target->targets[i].is_rest) i++;
  return i;
}

// Whether two names are assigned from a library function that always returns a
// list of two: then no length has to be tested, and unpacking cannot fail.
static bool is_pair_of(tl_lower *l, const tl_target *target,
                       const tl_ast *value) {
  if (target->kind != TL_TARGET_LIST || target->count != 2 ||
      value->kind != TL_AST_CALL || rest_of(target) < 2)
    return false;
  const tl_builtin *builtin = tl_called_builtin(l, value->call.callee);
  return builtin != NULL && builtin->result == TL_PAIR;
}

// Stores the value in a slot into one target.
static void assign_to(tl_lower *l, tl_target *target, int32_t value) {
  int32_t mark = l->top;
  switch (target->kind) {
    case TL_TARGET_NAME:
      tl_store_name(l, target->name, value, target->span);
      return;
    case TL_TARGET_LIST:
      assign_all(l, target->targets, target->count,
                 tl_lower_unpack(l, target->count, rest_of(target), value,
                                 target->span),
                 NULL);
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

// a, b = b, a: all values first, each in a slot of its own, and no list is
// made. False: the two sides do not match one to one.
static bool assign_parallel(tl_lower *l, tl_target *target, tl_ast *value) {
  // With ...x on either side only the run knows which value goes where.
  if (target->kind != TL_TARGET_LIST || value->kind != TL_AST_LIST ||
      value->items.count != target->count || target->count > 100 ||
      tl_has_spread(value) || rest_of(target) < target->count)
    return false;
  uint32_t count = target->count;
  int32_t first = tl_temps(l, (int32_t)count);
  tl_ast **values = value->items.items;
  uint32_t last = tl_find_last(l, values, sizeof *values, count);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t i = tl_in_order(k, last, count);
    tl_lower_expr(l, values[i], first + (int32_t)i);
  }
  // What an index does may change what the values have been read of.
  const bool changes = has_effect(value, NULL) ||
                       tl_ast_each_in_target(target, has_effect, NULL);
  assign_all(l, target->targets, count, first, changes ? NULL : values);
  return true;
}

// Whether [ast] is r[…] = x, where x has come from r. A visitor.
static bool puts_back(tl_ast *ast, void *context) {
  const tl_name *const *names = context;  // x, r
  return (ast->kind == TL_AST_ASSIGN &&
          ast->assign.value->kind == TL_AST_NAME &&
          ast->assign.value->name.name == names[0] &&
          ast->assign.target.kind == TL_TARGET_PLACE &&
          ast->assign.target.name == names[1]) ||
         tl_ast_each_child(ast, puts_back, context);
}

// Whether a statement behind x = get(r, k, fallback) puts x back. Then x is
// neither r nor k, which are read once more.
static bool is_put_back(tl_lower *l, const tl_name *name, const tl_ast *value) {
  const tl_name *names[2] = {name};
  // Of other calls there may be as many as statements behind them.
  const tl_argument *given = tl_get_arguments(l, value);
  bool is = false;
  for (uint32_t i = 2; given != NULL && i-- > 0;) {
    const tl_ast *ast = given[i].value;
    names[1] = ast->kind == TL_AST_NAME ? ast->name.name : NULL;
    if (names[1] == name)
      return false;
  }
  for (uint32_t i = l->next; names[1] && !is && i < l->within->items.count; i++)
    is = puts_back(l->within->items.items[i], names);
  return is;
}

// Tries the forms that save a copy, from the most special on.
static void assign_value(tl_lower *l, tl_target *target, tl_ast *value) {
  if (assign_parallel(l, target, value))
    return;
  if (target->kind != TL_TARGET_LIST && tl_take_assign(l, target, value))
    return;
  if (target->kind == TL_TARGET_NAME) {
    // The value may be computed in the variable's own slot.
    int32_t direct = tl_direct_slot(l, target->name);
    int32_t slot = tl_lower_expr(l, value, direct);
    if (is_put_back(l, target->name, value))
      tl_load_got(l, value, slot);
    tl_store_name(l, target->name, slot, target->span);
    return;
  }
  bool is_pair = is_pair_of(l, target, value);
  if (target->kind == TL_TARGET_LIST &&
      tl_take_one_of(l, target, value, rest_of(target), is_pair))
    return;
  // A function that gives a container back with an item, as pop does.
  if (is_pair) {
    int32_t first =
        tl_unpack_pair(l, tl_lower_expr(l, value, -1), target->span);
    assign_all(l, target->targets, 2, first, NULL);
    return;
  }
  assign_to(l, target, tl_lower_expr(l, value, -1));
}

// A module variable that is changed is taken; of several one, which is a place
// or may be given to a function that gives it back.
static void assign_taken(tl_lower *l, tl_ast_assign *assign, tl_ast *value,
                         tl_span span) {
  tl_target *all = &assign->target;
  uint32_t count = all->kind == TL_TARGET_LIST ? all->count : 1;
  tl_taken_global t = {.variable = NULL};
  for (uint32_t i = 0; i < count && t.variable == NULL; i++) {
    tl_target *one = all->kind == TL_TARGET_LIST ? &all->targets[i] : all;
    if (one == all || one->kind == TL_TARGET_PLACE ||
        value->kind == TL_AST_CALL)
      tl_global_begin(l, assign, one, value, &t);
  }
  assign_value(l, all, value);
  tl_global_end(l, &t, span);
}

void tl_lower_assign(tl_lower *l, tl_ast *ast) {
  assign_taken(l, &ast->assign, ast->assign.value, ast->span);
}

// x op= e, place op= e, get(r, k, f) op= e.
void tl_lower_update(tl_lower *l, tl_ast *ast) {
  tl_ast_assign *update = &ast->assign;
  tl_target *target = &update->target;
  if (tl_scope_find(l->scope, target->name) == NULL)
    return;
  if (target->kind == TL_TARGET_PLACE) {
    tl_lower_place_update(l, ast);
    return;
  }
  // x += e is x = x + e: of a place the indices would be evaluated twice.
  tl_ast x = {
      .kind = TL_AST_NAME, .span = target->name_span, .name = {target->name}};
  tl_ast result = {.kind = TL_AST_BINARY,
                   .span = ast->span,
                   .binary = {update->op, &x, update->value}};
  assign_taken(l, update, &result, ast->span);
}

void tl_lower_targets(tl_lower *l, tl_ident *names, uint32_t count,
                      int32_t item, tl_span span) {
  if (count == 1) {
    tl_store_name(l, names[0].name, item, span);
    return;
  }
  int32_t first = tl_lower_unpack(l, count, count, item, span);
  for (uint32_t i = 0; i < count; i++)
    tl_store_name(l, names[i].name, first + (int32_t)i, names[i].span);
}
