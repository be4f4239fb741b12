// Take, update, put: r.a[k] = g(r.a[k]) moves the item out of its place, so
// that g may write into its memory, and puts the result there. Likewise r.a[k]
// += v.
//
//   t = take r, k        the item, if only this place has it; else a plain read
//   t = g(t!)            may write in place
//   r = setpath r, t, k  cannot fail if something was taken
//
// Between take and put nothing may read what the container has lost: the first
// half of this file (find_leaf and its search) checks that on the tree. The
// item itself may be read again, as in r.a = r.a * r.a, and is found where the
// take put it. What else the operation that uses the item reads, as in r.a =
// append(r.a, r.a[0]), is read before: then the item is taken out late, just
// before that operation, and what was read lives on by a count of its own.
// Where an error may be seen (in a `try`, or of a module's variable) a landing
// pad puts the item back, which cannot fail. Until then the item lives, so only
// operations that fail before their first write may write into it.

#include "compiler/ast_walk.h"
#include "compiler/lower_place.h"

// --- Which statements -------------------------------------------------------

// The variable that a chain of fields and indices starts from, or NULL;
// [field] is its first field, NULL if an index comes first.
static const tl_name *root_of(const tl_ast *ast, const tl_name **field) {
  *field = NULL;
  for (; tl_ast_object(ast) != NULL; ast = tl_ast_object(ast))
    *field = ast->kind == TL_AST_FIELD ? ast->field.field.name : NULL;
  return ast->kind == TL_AST_NAME ? ast->name.name : NULL;
}

// Whether [ast] reads the target's variable, but another field of it than the
// one that is taken.
static bool is_elsewhere(const tl_ast *ast, const tl_target *target) {
  const tl_name *field;
  return root_of(ast, &field) == target->name && field != NULL &&
         target->step_count > 0 && target->steps[0].field.name != NULL &&
         field != target->steps[0].field.name;
}

// A walk over the new value in the order of evaluation, which looks for the
// old value and for everything that would miss it.
typedef struct search {
  tl_lower *l;
  const tl_target *target;
  const tl_variable *variable;
  const tl_ast *leaf;
  int conditional;  // inside what may not be evaluated
  uint32_t reads;   // of the container, which would miss what is taken out
  uint32_t reads_before;  // those of them before the old value is used up
  uint32_t again;         // those of them that read the old value itself
  bool misses;            // what is taken out would be missed in any case
  bool calls;             // a function that may change module variables
  bool reads_global;      // a module variable is read
  bool restores;          // a function that gives back what it is given
} search;

static bool look(tl_ast *ast, void *context);

// The indices along a chain of fields and indices.
static void look_along(search *s, const tl_ast *ast) {
  if (tl_ast_object(ast) != NULL)
    look_along(s, tl_ast_object(ast));
  if (ast->kind == TL_AST_INDEX)
    tl_ast_each_in_items(ast->index.items, ast->index.count, look, s);
}

// The old value, for the first time or again; where it may not be evaluated it
// cannot be taken.
static void find_old(search *s, const tl_ast *ast) {
  if (s->leaf != NULL) {
    s->reads++;
    s->again++;
    return;
  }
  s->misses |= s->conditional > 0;
  s->leaf = ast;
  s->reads = 0;  // what was read before misses nothing
}

// The old value where the chain goes on from it: r.a of r.a[:-1], whose slices
// may be made in its memory, and of r.a[0].x where it is out already. Else
// NULL.
static const tl_ast *find_in_chain(const search *s, const tl_ast *ast) {
  while (tl_ast_object(ast) != NULL) {
    bool may_take = s->leaf != NULL || tl_ast_is_cut(ast);
    ast = tl_ast_object(ast);
    if (tl_reads(ast, s->target))
      return may_take ? ast : NULL;
  }
  return NULL;
}

// A chain of fields and indices: it is the old value itself, or it may read
// what is taken out, or it is elsewhere.
static void look_chain(search *s, const tl_ast *ast) {
  const tl_name *field;
  if (root_of(ast, &field) != s->target->name) {
    tl_ast_each_child(ast, look, s);
    return;
  }
  const tl_ast *old = tl_reads(ast, s->target) ? ast : find_in_chain(s, ast);
  if (old != NULL)
    find_old(s, old);
  else
    s->reads += !is_elsewhere(ast, s->target);
  // Indices on the way are expressions like others. What is indexed is read
  // when they have been.
  const tl_ast *known = s->leaf;
  look_along(s, ast);
  s->misses |= known == NULL && s->leaf != NULL;
}

// The operands of an operation have been evaluated: what those of the one that
// uses the old value read they have read.
static void use_up(search *s, const tl_ast *operand) {
  if (operand == s->leaf)
    s->reads_before = s->reads;
}

// A visitor of what stands beside the old value: the container as a whole is no
// value of its own, so the operation would see what is missing.
static bool see_whole(tl_ast *operand, void *context) {
  search *s = context;
  s->misses |= operand != s->leaf && operand->kind == TL_AST_NAME &&
               operand->name.name == s->target->name;
  return false;
}

// Whether [ast] is get(r, k, fallback) where the target is r[k], of a variable
// of this function, with a key that is as well evaluated once as twice.
static bool is_got(const search *s, const tl_ast *ast) {
  const tl_argument *given = tl_get_arguments(s->l, ast);
  tl_target container = *s->target;
  if (given == NULL || container.step_count == 0 || s->variable->taken != NULL)
    return false;
  const tl_ast_step *last = &container.steps[--container.step_count];
  return last->count == 1 && last->items[0].kind == TL_AST_ITEM_VALUE &&
         tl_ast_is_same(last->items[0].value, given[1].value) &&
         tl_reads(given[0].value, &container);
}

// A call of unknown code, of a library function that is given code, or of del
// may see what is missing; other calls do not.
static void look_call(search *s, const tl_ast *ast) {
  const tl_ast_call *call = &ast->call;
  const tl_builtin *builtin = tl_called_builtin(s->l, call->callee);
  s->calls |= tl_calls_unknown(s->l, (tl_ast *)ast);
  if (builtin == NULL)
    look(call->callee, s);
  s->restores |= builtin != NULL && tl_builtin_restores(builtin);
  s->misses |= tl_is_del(s->l->scope, ast);
  for (uint32_t i = 0; i < call->count; i++) {
    tl_ast *given = call->arguments[i].value;
    if (i == 0 && s->leaf == NULL && builtin != NULL &&
        tl_builtin_restores(builtin) && is_got(s, given)) {
      find_old(s, given);
      given = given->call.arguments[2].value;
    }
    look(given, s);
  }
  for (uint32_t i = 0; i < call->count; i++)
    use_up(s, call->arguments[i].value);
}

// A name: the old value of a place without steps, a use of the container, or
// something else.
static void look_name(search *s, const tl_ast *ast) {
  const tl_variable *v = tl_scope_find(s->l->scope, ast->name.name);
  if (v == s->variable && tl_reads(ast, s->target)) {
    find_old(s, ast);
    return;
  }
  // The container is used as a whole, without what is taken out.
  s->reads += v == s->variable;
  s->reads_global |= v != NULL && v->is_global;
}

// Whether a function that is made here captures the container's variable.
static bool captures(const tl_ast *ast, const tl_variable *variable) {
  const tl_closure_group *group = ast->function.group;
  // Without an answer from the resolver assume the worst.
  if (group == NULL)
    return true;
  for (uint32_t i = 0; i < group->capture_count; i++)
    if (group->captures[i] == variable)
      return true;
  return false;
}

// One node of the walk; true, which ends it, when something would miss what is
// taken out.
static bool look(tl_ast *ast, void *context) {
  search *s = context;
  const tl_ast *known = s->leaf;
  switch (ast->kind) {
    case TL_AST_NAME:
      look_name(s, ast);
      break;
    case TL_AST_FIELD:
    case TL_AST_INDEX:
      look_chain(s, ast);
      break;
    case TL_AST_CALL:
      look_call(s, ast);
      break;
    case TL_AST_BINARY:
      tl_ast_each_child(ast, look, s);
      use_up(s, ast->binary.left);
      use_up(s, ast->binary.right);
      break;
    case TL_AST_FUNCTION:
      s->misses |= captures(ast, s->variable);
      break;
    // What may be skipped must not take: the put would find nothing taken.
    case TL_AST_AND:
    case TL_AST_OR:
      s->conditional++;
      tl_ast_each_child(ast, look, s);
      s->conditional--;
      break;
    case TL_AST_SELECT:
    case TL_AST_COMPOSE:
      s->misses = true;
      break;
    default:
      s->misses |= tl_ast_has_block(ast) || tl_ast_each_child(ast, look, s);
      break;
  }
  if (known == NULL && s->leaf != NULL && s->leaf != ast)
    tl_ast_each_child(ast, see_whole, s);
  return s->misses;
}

// Whether something may be moved out of the target: it is a field, x[i] or
// what lies deeper. x[a:b] and x[i, j] have an item only in arrays, where
// nothing can be moved out.
static bool is_takeable(const tl_lower *l, const tl_target *target,
                        const tl_variable *v) {
  const tl_ast_step *only = &target->steps[0];
  // Of several steps only the last item is moved out.
  bool is_item = only->field.name != NULL ||
                 (only->count == 1 && only->items[0].kind == TL_AST_ITEM_VALUE);
  for (uint32_t i = 0; i < target->step_count; i++)
    if (tl_ast_items_have(target->steps[i].items, target->steps[i].count,
                          TL_AST_ITEM_SPREAD))
      return false;
  return v != NULL && (target->step_count > 1 || is_item) && !v->is_global &&
         v->scope->function == l->scope->function;
}

// The list that a function of TL_FIRST_ITEM is called with, or NULL.
static const tl_ast *joined_list(const tl_builtin *builtin,
                                 const tl_ast *list) {
  return builtin != NULL && builtin->restores == TL_FIRST_ITEM &&
                 list->kind == TL_AST_LIST && list->items.count > 0 &&
                 !tl_has_spread(list)
             ? list
             : NULL;
}

// Whether this is x = concat((x, more)) where a handler sees x.
static bool joins(tl_lower *l, const tl_variable *v, const tl_ast *value) {
  if ((l->handler < 0 && v->taken == NULL) ||
      v->scope->function != l->scope->function || value->kind != TL_AST_CALL ||
      value->call.count == 0)
    return false;
  const tl_ast *list = joined_list(tl_called_builtin(l, value->call.callee),
                                   value->call.arguments[0].value);
  return list != NULL && list->items.items[0]->kind == TL_AST_NAME &&
         list->items.items[0]->name.name == v->name;
}

// Whether all other reads of the container are of the old value, and may be of
// what was taken: nobody may change its indices meanwhile. A function that
// gives back its first argument takes it late where that does as well: an item
// that it appends is counted once then, and not once more for having been out.
static bool reads_again(const search *s) {
  bool late = s->restores && s->reads_before == s->reads;
  return s->again > 0 && s->again == s->reads && !s->calls && !late &&
         s->target->step_count > 0;
}

// The old value within the new one, or NULL if it must not be taken. Sets
// t->is_again where it stands there several times, and t->is_late where it may
// be taken only after the other operands of what uses it.
static const tl_ast *find_leaf(tl_lower *l, tl_ast *value,
                               struct tl_taking *t) {
  const tl_target *target = t->place.target;
  const tl_variable *v = t->place.variable;
  search s = {.l = l, .target = target, .variable = v};
  // Without steps the place is the variable itself.
  bool takeable = target->step_count == 0 ? v != NULL && joins(l, v, value)
                                          : is_takeable(l, target, v);
  // r.a = r.a would take and put for nothing.
  if (!takeable || tl_reads(value, target))
    return NULL;
  look(value, &s);
  t->is_again = reads_again(&s);
  t->is_late = s.reads > 0 && !t->is_again;
  if (s.leaf == NULL || s.misses || (t->is_late && s.reads_before < s.reads))
    return NULL;
  // The indices are evaluated where the old value stands: what is called later
  // must not change what they read.
  search indices = {.l = l, .target = target, .variable = v};
  const tl_argument *got =
      s.leaf->kind == TL_AST_CALL ? s.leaf->call.arguments : NULL;
  look_along(&indices, got == NULL ? s.leaf : got[0].value);
  if (got != NULL &&
      (t->is_late || t->is_again || look(got[1].value, &indices)))
    return NULL;
  // Code that is called may assign what the indices read.
  bool unsafe =
      indices.misses || indices.reads > 0 || (indices.reads_global && s.calls);
  return unsafe ? NULL : s.leaf;
}

// --- Lowering ---------------------------------------------------------------

// Finds slots for the item.
static void open_taking(tl_lower *l, struct tl_taking *t) {
  t->item = tl_temp(l);
  // The window of TAKE lies above its result.
  tl_temps(l, (int32_t)t->place.parts);
  t->base = t->place.variable->index;
  t->pad = -1;
}

// Moves the item out. From here on, errors that would be seen go to a landing
// pad.
static void emit_take(tl_lower *l, struct tl_taking *t) {
  const tl_target_place *p = &t->place;
  const tl_target *target = p->target;
  tl_lower_name(l, target->name, target->name_span, -1);  // must be set
  // x[i] has an instruction without a window.
  bool one = tl_place_is_item(p, 1);
  tl_cfg_ins *ins = tl_emit(l, one ? TL_BC_TAKEEL : TL_BC_TAKE, t->item,
                            1 + (int32_t)p->parts, target->span);
  ins->operands[0] = t->base;
  for (uint32_t i = 0; i < p->parts; i++)
    ins->operands[1 + i] = one ? p->indices[i] : p->first + (int32_t)i;
  if (!one)
    ins->window = t->item;
  ins->extra = p->path;
  l->b->unit->paths[p->path].lends = true;
  // Behind the take itself, whose own error finds everything in its place.
  t->saved = l->handler;
  if (l->handler >= 0)
    l->handler = t->pad = tl_new_block(l);
}

// Puts the new item in its place. Whoever sees an error finds the old one where
// it was. r.a[k] = g(r.a[k]) within a `try`:
//
//        t = take r, k             path .a[k]
//        u = g t!                  an error goes to pad
//        r = setpath r, u, k
//        jmp after
//   pad: e = catch                 the error stays pending
//        r = untake r, t, k
//        raise e
//   after:
static void emit_put(tl_lower *l, struct tl_taking *t, int32_t value) {
  // If something was taken, its place is there and the container is nobody
  // else's, so putting cannot fail and needs no pad.
  l->handler = t->saved;
  tl_place_update(l, &t->place, TL_BC_SETPATH, t->base, value);
  if (t->pad < 0)
    return;
  tl_landing landing = tl_landing_begin(l, t->pad, t->place.target->span);
  tl_place_update(l, &t->place, TL_BC_UNTAKE, t->base, t->item);
  tl_landing_end(l, &landing);
}

// Moves the old value out. What follows finds it again where it [is_again].
static void take(tl_lower *l, struct tl_taking *t, tl_span span) {
  t->is_out = t->is_again;
  if (!t->is_again)
    l->taking = NULL;
  if (t->is_whole)
    t->item = tl_lower_name(l, t->place.target->name, span, -1);
  else
    emit_take(l, t);
}

// The same of get(r, k, fallback), where there is an old value.
static void take_got(tl_lower *l, struct tl_taking *t, tl_span span) {
  int32_t fallback = tl_lower_expr(l, t->leaf->call.arguments[2].value, -1);
  int32_t no = tl_new_block(l), end = tl_new_block(l);
  tl_enter_found(l, &t->place, no, true, span);
  take(l, t, span);
  tl_end_block(l, end, no, span);
  tl_lower_into(l, t->item, fallback, span);
  tl_end_block(l, end, end, span);
}

// The old value where it stands in the new one: its indices are evaluated
// here, and then it is moved out. Where others are read before that it is only
// looked at, so that errors come in their order.
int32_t tl_lower_taken(tl_lower *l, int32_t want, tl_span span) {
  struct tl_taking *t = l->taking;
  if (t->is_out)
    return tl_lower_into(l, want, t->item, span);
  if (!t->is_whole)
    tl_place_parts(l, true, &t->place);
  if (t->is_late)
    return tl_place_read(l, &t->place, -1);
  if (!t->is_whole && t->leaf->kind == TL_AST_CALL)
    take_got(l, t, span);
  else
    take(l, t, span);
  return tl_lower_into(l, want, t->item, span);
}

int32_t tl_take_late(tl_lower *l, const tl_ast *operand, int32_t slot) {
  struct tl_taking *t = l->taking;
  if (!tl_is_taken(l, operand) || !t->is_late)
    return slot;
  take(l, t, operand->span);
  return t->item;
}

// Whether an assignment of [value] to [target] uses the old value of the target
// and may take it.
static bool find_taking(tl_lower *l, tl_target *target, tl_ast *value,
                        struct tl_taking *t) {
  tl_variable *v = tl_scope_find(l->scope, target->name);
  *t = (struct tl_taking){.is_whole = target->kind == TL_TARGET_NAME,
                          .place = {.target = target, .variable = v}};
  t->leaf = find_leaf(l, value, t);
  return t->leaf != NULL;
}

// Lowers [value], in which the taken value stands; returns its slot.
static int32_t lower_with_taken(tl_lower *l, struct tl_taking *t,
                                tl_ast *value) {
  if (!t->is_whole) {
    // The slots are reserved before the value is lowered, below its
    // temporaries.
    tl_place_plan(l, t->place.target, true, &t->place);
    open_taking(l, t);
  }
  struct tl_taking *outer = l->taking;
  l->taking = t;
  int32_t result = tl_lower_expr(l, value, -1);
  l->taking = outer;
  return result;
}

// Stores the new value by the counterpart of how the old one was taken.
static void put_result(tl_lower *l, struct tl_taking *t, int32_t result,
                       tl_span span) {
  if (!t->is_whole)
    emit_put(l, t, result);
  else
    tl_store_name(l, t->place.target->name, result, span);
}

// x[i] = f(x[i]): moves the old value out of its place, so that f gets it with
// one owner and may write into it. False, and nothing is emitted, where [value]
// does not use the old value of [target], or not in a way that allows this.
bool tl_take_assign(tl_lower *l, tl_target *target, tl_ast *value) {
  struct tl_taking t;
  if (!find_taking(l, target, value, &t))
    return false;
  put_result(l, &t, lower_with_taken(l, &t, value), value->span);
  return true;
}

// Whether all targets but the one at [which] are names of other variables:
// storing those cannot fail or read the place.
static bool others_are_names(const tl_target *target, uint32_t which) {
  for (uint32_t i = 0; i < target->count; i++) {
    const tl_target *other = &target->targets[i];
    if (i != which && (other->kind != TL_TARGET_NAME ||
                       other->name == target->targets[which].name))
      return false;
  }
  return true;
}

// Any of the targets may be the place: the first that takes its old value.
bool tl_take_one_of(tl_lower *l, tl_target *target, tl_ast *value,
                    uint32_t rest, bool is_pair) {
  struct tl_taking t;
  tl_target *all = target->targets;
  uint32_t which = 0;
  while (which < target->count && (all[which].kind != TL_TARGET_PLACE ||
                                   !others_are_names(target, which) ||
                                   !find_taking(l, &all[which], value, &t)))
    which++;
  if (which == target->count)
    return false;
  int32_t list = lower_with_taken(l, &t, value);
  int32_t first =
      is_pair ? tl_unpack_pair(l, list, target->span)
              : tl_lower_unpack(l, target->count, rest, list, target->span);
  put_result(l, &t, first + (int32_t)which, all[which].span);
  for (uint32_t i = 0; i < target->count; i++)
    if (i != which)
      tl_store_name(l, all[i].name, first + (int32_t)i, all[i].span);
  return true;
}

// The list is made by hand: the item first, so that the landing pad can move
// it out again, then the others.
int32_t tl_joining_begin(tl_lower *l, const tl_builtin *builtin, tl_ast *list,
                         tl_joining *j) {
  if (joined_list(builtin, list) == NULL ||
      !tl_is_taken(l, list->items.items[0]) ||
      (l->handler < 0 && l->taking->place.variable->taken == NULL))
    return -1;
  uint32_t count = list->items.count;
  j->list = tl_temps(l, 2);  // and a position in it
  int32_t rest = tl_temps(l, (int32_t)count);
  // In the order of evaluation: the taken item first, then the others.
  j->item = tl_lower_taken(l, -1, list->items.items[0]->span);
  for (uint32_t i = 1; i < count; i++)
    tl_lower_expr(l, list->items.items[i], rest + (int32_t)i);
  tl_emit_window(l, TL_BC_LIST, j->list, NULL, 0, 0, list->span);
  tl_emit2(l, TL_BC_PUSH, j->list, j->list, j->item, list->span);
  // From here on the item is in the list, and an error has to move it out
  // again.
  j->saved = l->handler;
  l->handler = j->pad = tl_new_block(l);
  for (uint32_t i = 1; i < count; i++)
    tl_emit2(l, TL_BC_PUSH, j->list, j->list, rest + (int32_t)i, list->span);
  return j->list;
}

// Moving the item out of the list cannot fail: it is there.
void tl_joining_end(tl_lower *l, const tl_joining *j, tl_span span) {
  l->handler = j->saved;
  tl_landing landing = tl_landing_begin(l, j->pad, span);
  tl_emit_x(l, TL_BC_LOADI, j->list + 1, 0, span);
  l->handler = -1;
  tl_emit_next(l, j->item, j->list, TL_NEXT_OF_LIST, span);
  l->handler = j->saved;
  tl_landing_end(l, &landing);
}

// Whether the old value of an updated place is moved out. The value is
// evaluated first, [early] before this, and may be an item of the same
// container that lives only as long as that does. Of another field this is sure
// to last: *later says that the place is taken before [value] then. Of another
// item it is not. *again: [value] is what is taken, as in r.a *= r.a.
static bool takes_update(tl_lower *l, const tl_ast_assign *update, bool early,
                         bool *later, bool *again) {
  const tl_target *target = &update->target;
  const tl_variable *v = tl_scope_find(l->scope, target->name);
  const tl_name *field;
  bool sole = !early && update->fallback == NULL;
  bool takeable = is_takeable(l, target, v);
  *later = false;
  *again = sole && takeable && tl_reads(update->value, target);
  if (!takeable || *again || update->value->kind == TL_AST_NAME ||
      root_of(update->value, &field) != target->name)
    return takeable;
  search s = {.l = l, .target = target, .variable = v};
  *later = sole && is_elsewhere(update->value, target) &&
           !look(update->value, &s) && s.reads == 0 && s.leaf == NULL &&
           !s.calls;
  return *later;
}

// Whether the array in which a part is updated is read besides, of its
// container nothing else but other fields: p.x[a:b] += p.x[c:d], p.x[p.x > 0]
// += 1. [whole] is the array's place, [part] the step behind that.
static bool find_part(tl_lower *l, const tl_ast_assign *update,
                      tl_target *whole, tl_target *part) {
  *whole = *part = update->target;
  if (update->fallback != NULL || whole->step_count < 2)
    return false;
  part->steps += --whole->step_count;
  part->step_count = 1;
  const tl_ast_item *items = part->steps->items;
  uint32_t count = part->steps->count;
  bool chooses = tl_ast_items_have(items, count, TL_AST_ITEM_SLICE) ||
                 (count == 1 && items->kind == TL_AST_ITEM_VALUE &&
                  items->value->kind == TL_AST_COMPARE);
  for (uint32_t i = 0; i < whole->step_count; i++)
    chooses &= whole->steps[i].field.name != NULL;
  search s = {.l = l,
              .target = whole,
              .variable = tl_scope_find(l->scope, whole->name),
              .leaf = update->value};  // so that all reads are reads again
  return chooses && is_takeable(l, whole, s.variable) &&
         !look(update->value, &s) &&
         !tl_ast_each_in_items(items, count, look, &s) && reads_again(&s);
}

// All is done with the array, taken out, as in x[a:b] += x[c:d].
static bool update_part(tl_lower *l, tl_ast *ast) {
  tl_ast_assign *update = &ast->assign;
  tl_target whole, part;
  tl_target_place inner;
  struct tl_taking t = {.is_again = true, .is_out = true}, *outer = l->taking;
  if (!find_part(l, update, &whole, &part))
    return false;
  tl_place_plan(l, &whole, true, &t.place);
  open_taking(l, &t);
  emit_take(l, &t);
  l->taking = &t;
  int32_t right = tl_lower_expr(l, update->value, -1);
  tl_place_lower(l, &part, true, &inner);
  l->taking = outer;
  int32_t item = tl_place_read(l, &inner, t.item);
  item = tl_lower_binary_op(l, update->op, item, right, -1, ast->span);
  tl_place_update(l, &inner, TL_BC_SETPATH, t.item, item);
  emit_put(l, &t, t.item);
  return true;
}

// The key of get is evaluated once; where it is not there, the place becomes
// fallback op value, and the fallback is evaluated only then.
void tl_lower_place_update(tl_lower *l, tl_ast *ast) {
  tl_ast_assign *update = &ast->assign;
  tl_target *target = &update->target;
  const tl_variable *v = tl_scope_find(l->scope, target->name);
  bool later, again;
  tl_taken_global global = {.variable = NULL};
  bool gets = update->fallback != NULL;
  if (gets && tl_scope_find(l->scope, update->getter) != NULL) {
    tl_diagnose(l->b->diagnostics, TALLY_ERR_SYNTAX, target->span,
                "a call is no target: get(r, k, default) is one where get is "
                "the library's");
    return;
  }
  struct tl_taking t = {.place = {.target = target}};
  int32_t right = tl_temp(l), no = -1, end = -1;
  // A value that calls others is computed before a module variable is taken.
  bool early = v->is_global &&
               !tl_global_begin(l, update, target, update->value, &global);
  if (early) {
    tl_lower_expr(l, update->value, right);
    tl_global_begin(l, update, target, NULL, &global);
  } else if (update_part(l, ast)) {
    tl_global_end(l, &global, ast->span);
    return;
  }
  bool takes = takes_update(l, update, early, &later, &again);
  if (!early && !later && !again)
    tl_lower_expr(l, update->value, right);
  // x[i] alone needs no path: SETEL has the indices as operands.
  tl_place_plan(l, target, takes || gets || !tl_place_is_item(&t.place, 2),
                &t.place);
  if (takes)
    open_taking(l, &t);
  tl_place_parts(l, !tl_may_assign(update->fallback), &t.place);
  if (gets) {
    no = tl_new_block(l), end = tl_new_block(l);
    tl_enter_found(l, &t.place, no, false, target->span);
  }
  if (takes)
    emit_take(l, &t);
  if (later)
    tl_lower_expr(l, update->value, right);
  int32_t item = takes ? t.item : tl_place_read(l, &t.place, -1);
  int32_t result = tl_lower_binary_op(l, update->op, item, again ? item : right,
                                      -1, ast->span);
  if (takes)
    emit_put(l, &t, result);
  else
    tl_place_set(l, &t.place, result);
  if (gets) {
    tl_end_block(l, end, no, ast->span);
    item = tl_lower_expr(l, update->fallback, -1);
    result = tl_lower_binary_op(l, update->op, item, right, -1, ast->span);
    tl_place_set(l, &t.place, result);
    tl_end_block(l, end, end, ast->span);
  }
  tl_global_end(l, &global, ast->span);
}
