// Lowering of what branches: conditions, loops, comprehensions, try.
//
//   for x in value { body }      a range               anything else
//                                forprep -> body,done  position = 0; jmp again
//   body:                        x = forvar            x = next value
//     …
//   again:                       forr -> body, done    more value -> body, done
//   done:
//
// for x, y in zip(v, w) has a position in each of v and w; no pair is made.

#include "compiler/lower.h"

// --- Conditions -------------------------------------------------------------

// `and` and `or` evaluate their right side in a block of its own, which the
// left side jumps past.
static void lower_condition(tl_lower *l, tl_ast *ast, int32_t yes, int32_t no) {
  int32_t mark = l->top;
  switch (ast->kind) {
    // `while true` has no test.
    case TL_AST_BOOL:
      tl_jump(l, ast->boolean ? yes : no, ast->span);
      break;
    case TL_AST_AND:
    case TL_AST_OR: {
      int32_t next = tl_new_block(l);
      bool is_and = ast->kind == TL_AST_AND;
      lower_condition(l, ast->binary.left, is_and ? next : yes,
                      is_and ? no : next);
      tl_enter_block(l, next);
      lower_condition(l, ast->binary.right, yes, no);
      break;
    }
    // No instruction: the targets change places.
    case TL_AST_NOT:
      lower_condition(l, ast->unary.operand, no, yes);
      break;
    default: {
      int32_t slot = tl_lower_expr(l, ast, -1);
      tl_branch(l, TL_BC_JT, slot, yes, no, ast->span);
      break;
    }
  }
  l->top = mark;
}

// `and` and `or`: control flow that ends in one of two constants.
int32_t tl_lower_logical(tl_lower *l, tl_ast *ast, int32_t want) {
  int32_t yes = tl_new_block(l), no = tl_new_block(l), end = tl_new_block(l);
  // A temporary of its own: [want] may be a variable that the operands read.
  int32_t result = tl_temp(l);
  lower_condition(l, ast, yes, no);
  tl_enter_block(l, yes);
  tl_load_constant(l, result, tl_bool(true), ast->span);
  tl_end_block(l, end, no, ast->span);
  tl_load_constant(l, result, tl_bool(false), ast->span);
  tl_end_block(l, end, end, ast->span);
  return tl_lower_into(l, want, result, ast->span);
}

// Every arm computes into the same slot and jumps to the end. if a { x } else
// if b { y }:
//
//   jt a -> yes1, no1
//   yes1: r = x; jmp end
//   no1:  jt b -> yes2, no2
//   yes2: r = y; jmp end
//   no2:  r = none; jmp end
//   end:
int32_t tl_lower_if(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast_if *condition = &ast->condition;
  bool value = want != TL_NO_VALUE;
  if (value)
    want = tl_into(l, want);
  // All arms meet here.
  int32_t end = tl_new_block(l);
  for (uint32_t i = 0; i < condition->count; i++) {
    int32_t yes = tl_new_block(l), no = tl_new_block(l);
    lower_condition(l, condition->arms[i].test, yes, no);
    tl_enter_block(l, yes);
    tl_lower_block(l, condition->arms[i].body, want);
    tl_end_block(l, end, no, ast->span);
  }
  if (condition->otherwise != NULL) {
    tl_lower_block(l, condition->otherwise, want);
  } else if (value) {
    // Without `else` the value is none.
    tl_load_constant(l, want, tl_none(), ast->span);
  }
  tl_end_block(l, end, end, ast->span);
  return want;
}

// --- Loops ------------------------------------------------------------------

// The test stands behind the body in the code, so that an iteration has one
// jump.
void tl_lower_while(tl_lower *l, tl_ast *ast) {
  int32_t body = tl_new_block(l), test = tl_new_block(l),
          done = tl_new_block(l);
  tl_jump(l, test, ast->span);
  // `continue` tests again.
  tl_loop loop = {.outer = l->loop, .again = test, .done = done};
  l->loop = &loop;
  tl_enter_block(l, body);
  tl_lower_block(l, ast->while_loop.body, TL_NO_VALUE);
  tl_jump(l, test, ast->span);
  l->loop = loop.outer;
  tl_enter_block(l, test);
  lower_condition(l, ast->while_loop.test, body, done);
  tl_enter_block(l, done);
}

// A `for` under way, of a statement or of a comprehension's clause.
typedef struct walk {
  int32_t body, again, done;
  // Hidden: next, limit, step; or container and position, for each of what is
  // walked side by side.
  int32_t slots;
  uint32_t count;  // of those
  bool is_range;
  tl_span source;  // of what is walked
} walk;

// Loops over a range never make it: three hidden slots count.
static void begin_range(tl_lower *l, tl_ast *range, walk *w, tl_span span) {
  w->slots = tl_temps(l, 3);
  tl_lower_expr(l, range->range.start, w->slots);
  tl_lower_expr(l, range->range.stop, w->slots + 1);
  if (range->range.step == NULL)
    tl_load_constant(l, w->slots + 2, tl_weak_int(1), span);
  else
    tl_lower_expr(l, range->range.step, w->slots + 2);
  // It checks the three numbers, and that there is an iteration at all.
  int32_t operands[] = {w->slots, w->slots + 1, w->slots + 2};
  tl_emit_operands(l, TL_BC_FORPREP, -1, operands, 3, range->span)->extra =
      (uint32_t)w->slots;
  l->f->blocks[l->block].targets[0] = w->body;
  l->f->blocks[l->block].targets[1] = w->done;
}

// The container and a position in it stand in hidden slots.
static void begin_container(tl_lower *l, tl_ast *value, walk *w, tl_span span) {
  w->slots = tl_temps(l, 2);
  l->is_unseen = value->kind == TL_AST_LIST;
  tl_lower_expr(l, value, w->slots);
  // The position behind the container, as NEXT wants it.
  tl_emit_x(l, TL_BC_LOADI, w->slots + 1, 0, span);
  tl_jump(l, w->again, span);
}

// The same for several containers side by side, one for each name. False: the
// value is no such.
static bool begin_several(tl_lower *l, tl_ast *value, uint32_t names, walk *w,
                          tl_span span) {
  int32_t mark = l->top;
  w->slots = names > 1 ? tl_temps(l, 2 * (int32_t)names) : mark;
  const tl_lowering *kind = tl_lowering_of(l, value);
  if (names < 2 || kind->walk == NULL ||
      !kind->walk(l, value, names, w->slots)) {
    l->top = mark;
    return false;
  }
  w->count = names;
  for (uint32_t i = 0; i < names; i++)
    tl_emit_x(l, TL_BC_LOADI, w->slots + 2 * (int32_t)i + 1, 0, span);
  tl_jump(l, w->again, span);
  return true;
}

// Evaluates what is walked with so many names, and enters the body.
static void begin_walk(tl_lower *l, tl_ast *value, uint32_t names, walk *w,
                       tl_span span) {
  w->count = 1;
  w->body = tl_new_block(l);
  w->again = tl_new_block(l);
  w->done = tl_new_block(l);
  w->is_range = value->kind == TL_AST_RANGE;
  w->source = value->span;
  if (w->is_range)
    begin_range(l, value, w, span);
  else if (!begin_several(l, value, names, w, span))
    begin_container(l, value, w, span);
  tl_enter_block(l, w->body);
}

// Binds the names for one iteration. A loop over a range that has one local
// variable counts in that.
static void bind_walk(tl_lower *l, tl_ident *names, uint32_t count,
                      tl_ast *value, const walk *w, tl_span span) {
  int32_t mark = l->top;
  if (w->count > 1) {
    for (uint32_t i = 0; i < count; i++, l->top = mark) {
      int32_t item = tl_bound_slot(l, names[i].name);
      tl_emit_next(l, item, w->slots + 2 * (int32_t)i, TL_NEXT_ITEM,
                   value->span);
      tl_store_name(l, names[i].name, item, names[i].span);
    }
    return;
  }
  int32_t item = count == 1 ? tl_bound_slot(l, names[0].name) : tl_temp(l);
  if (w->is_range) {
    tl_emit_x(l, TL_BC_FORVAR, item, (uint32_t)w->slots, span);
  } else {
    tl_emit_next(l, item, w->slots,
                 count > 1 ? TL_NEXT_PARTS + count : TL_NEXT_ITEM, value->span);
  }
  tl_lower_targets(l, names, count, item, names[0].span);
  l->top = mark;
}

// The end of an iteration: on to the next one, or out of the loop.
static void end_walk(tl_lower *l, const walk *w, tl_span span) {
  tl_end_block(l, w->again, w->again, span);
  if (w->is_range)
    tl_emit_x(l, TL_BC_FORR, -1, (uint32_t)w->slots, span);
  else
    tl_emit1(l, TL_BC_MORE, -1, w->slots, w->source);
  l->f->blocks[l->block].targets[0] = w->body;
  l->f->blocks[l->block].targets[1] = w->done;
  tl_enter_block(l, w->done);
}

// A comprehension walks by the same functions, so that both bind names and end
// alike. The slots of the walk are given back behind the loop.
void tl_lower_for(tl_lower *l, tl_ast *ast) {
  tl_ast_for *loop = &ast->for_loop;
  walk w;
  begin_walk(l, loop->value, loop->name_count, &w, ast->span);
  bind_walk(l, loop->names, loop->name_count, loop->value, &w, ast->span);
  tl_loop inner = {.outer = l->loop, .again = w.again, .done = w.done};
  l->loop = &inner;
  tl_lower_block(l, loop->body, TL_NO_VALUE);
  l->loop = inner.outer;
  end_walk(l, &w, ast->span);
}

// A loop that pushes each item.
void tl_lower_spread(tl_lower *l, tl_ast *value, int32_t list) {
  int32_t mark = l->top;
  walk w;
  begin_walk(l, value, 1, &w, value->span);
  // Pushed one by one, so that a range needs no list of its own.
  int32_t item = tl_temp(l);
  if (w.is_range)
    tl_emit_x(l, TL_BC_FORVAR, item, (uint32_t)w.slots, value->span);
  else
    tl_emit_next(l, item, w.slots, TL_NEXT_ITEM, value->span);
  tl_emit2(l, TL_BC_PUSH, list, list, item, value->span);
  end_walk(l, &w, value->span);
  l->top = mark;
}

// --- Comprehensions ---------------------------------------------------------

// The record is both target and result of SETEL.
void tl_emit_entry(tl_lower *l, int32_t record, int32_t key, int32_t value,
                   tl_span span) {
  tl_emit_operands(l, TL_BC_SETEL, record, (int32_t[]){record, value, key}, 3,
                   span)
      ->extra = tl_unit_item_path(l->b);
}

// The key is computed before the value, which may assign what the key reads:
// hence its slot is a copy then.
void tl_lower_entry(tl_lower *l, int32_t record, tl_ast *key, tl_ast *value) {
  int32_t slot = tl_lower_left(l, key, value);
  int32_t item = tl_lower_expr(l, value, -1);
  tl_emit_entry(l, record, slot, item, key->span);
}

// Makes the names of a clause visible, in new temporaries.
static void reveal(tl_lower *l, tl_clause *clause) {
  for (uint32_t i = 0; i < clause->name_count; i++) {
    tl_variable *v = tl_scope_lookup(l->scope, clause->names[i].name);
    if (v == NULL)
      continue;
    v->is_hidden = false;
    // A slot in the function around the comprehension.
    v->index = tl_temp(l);
  }
}

// The clauses from [at] on, one inside the other, and within the last the
// item.
static void lower_clauses(tl_lower *l, tl_ast_comprehension *c, uint32_t at,
                          int32_t list) {
  // Within all clauses: one item.
  if (at == c->count) {
    int32_t mark = l->top;
    if (c->key != NULL)
      tl_lower_entry(l, list, c->key, c->item);
    else
      tl_emit2(l, TL_BC_PUSH, list, list, tl_lower_expr(l, c->item, -1),
               c->item->span);
    l->top = mark;
    return;
  }
  tl_clause *clause = &c->clauses[at];
  // An `if`: what follows happens only where it holds.
  if (clause->name_count == 0) {
    int32_t yes = tl_new_block(l), no = tl_new_block(l);
    lower_condition(l, clause->value, yes, no);
    tl_enter_block(l, yes);
    lower_clauses(l, c, at + 1, list);
    tl_end_block(l, no, no, clause->span);
    return;
  }
  // What is walked is evaluated before the names of the clause can be seen.
  walk w;
  begin_walk(l, clause->value, clause->name_count, &w, clause->span);
  reveal(l, clause);
  bind_walk(l, clause->names, clause->name_count, clause->value, &w,
            clause->span);
  lower_clauses(l, c, at + 1, list);
  end_walk(l, &w, clause->span);
}

// A list (or record) that grows by one item in each iteration; an array is
// stacked from the list at the end. [x² for x in v if x > 0]:
//
//   t = list                        empty
//   c = v; p = 0; jmp again
//   body:  x = next c
//          jt x > 0 -> yes, no
//   yes:   t = push t, x²; jmp no
//   no:    jmp again
//   again: more c -> body, done
//   done:  r = stacklist t
int32_t tl_lower_comprehension(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast_comprehension *c = &ast->comprehension;
  bool is_array = ast->kind == TL_AST_ARRAY_FOR;
  if (c->scope == NULL)
    return tl_into(l, want);
  tl_scope *outer = l->scope;
  tl_loop *loop = l->loop;
  l->loop = NULL;  // break does not leave a comprehension
  int32_t list = tl_temp(l);
  if (c->key != NULL)
    tl_emit_window(l, TL_BC_RECORD, list, NULL, 0, tl_unit_keys(l->b, NULL, 0),
                   ast->span);
  else
    tl_emit_window(l, TL_BC_LIST, list, NULL, 0, 0, ast->span);
  // From here on names are looked up in the comprehension first.
  l->scope = c->scope;
  lower_clauses(l, c, 0, list);
  for (tl_variable *v = c->scope->variables; v != NULL; v = v->next)
    v->is_hidden = true;
  l->scope = outer;
  l->loop = loop;
  if (is_array) {
    // The array may take the list's slot: the list ends there.
    want = want < 0 ? list : want;
    tl_emit1(l, TL_BC_STACKLIST, want, list, ast->span);
    return want;
  }
  return tl_lower_into(l, want, list, ast->span);
}

// --- Try --------------------------------------------------------------------

// The value goes to a temporary that no handler reads, since an instruction in
// the body must not write a slot that its own handler sees.
//
//   body:     …                each instruction has handler as its error edge
//             jmp end
//   handler:  e = catch
//             …                errors here go to the handler outside
//             jmp end
//   end:
int32_t tl_lower_try(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast_try *attempt = &ast->attempt;
  bool value = want != TL_NO_VALUE;
  int32_t result = value ? tl_temp(l) : TL_NO_VALUE;
  int32_t handler = tl_new_block(l), end = tl_new_block(l);
  // A block of its own, so that nothing before the try has its handler.
  int32_t body = tl_new_block(l);
  tl_end_block(l, body, body, ast->span);
  int32_t outer = l->handler;
  l->handler = handler;
  tl_lower_block(l, attempt->body, result);
  l->handler = outer;
  int32_t error = tl_temp(l);
  const tl_name *name = attempt->error.name;
  tl_variable *v = name == NULL ? NULL : tl_own_variable(l, name);
  // The error goes straight to the variable that names it.
  if (v != NULL && !v->is_global)
    error = v->index;
  tl_enter_handler(l, end, handler, error,
                   name != NULL ? TL_CATCHES_NAMED : TL_CATCHES_UNNAMED,
                   ast->span);
  if (name != NULL)
    tl_store_name(l, name, error, attempt->error.span);
  tl_lower_block(l, attempt->handler, result);
  tl_end_block(l, end, end, ast->span);
  return value ? tl_lower_into(l, want, result, ast->span) : result;
}

// --- Leaving ----------------------------------------------------------------

// The rest of the block cannot be reached, so it goes to a block that nothing
// leads to.
void tl_lower_return(tl_lower *l, tl_ast *ast) {
  if (l->scope->function->kind == TL_SCOPE_MODULE) {
    tl_diagnose(l->b->diagnostics, TALLY_ERR_SYNTAX, ast->span,
                "return stands outside a function");
    return;
  }
  int32_t value = ast->result == NULL
                      ? tl_load_constant(l, -1, tl_none(), ast->span)
                      : tl_lower_expr(l, ast->result, -1);
  tl_use_variables(l, ast->span);
  tl_emit1(l, TL_BC_RET, -1, value, ast->span);
  tl_enter_block(l, tl_new_block(l));
}

// `break` or `continue`: a jump, then likewise.
void tl_lower_leave(tl_lower *l, tl_ast *ast) {
  bool is_break = ast->kind == TL_AST_BREAK;
  if (l->loop == NULL) {
    tl_diagnose(l->b->diagnostics, TALLY_ERR_SYNTAX, ast->span,
                "%s stands outside a loop", is_break ? "break" : "continue");
    return;
  }
  // Nothing has to be undone: what dies is dropped on the edge.
  tl_end_block(l, is_break ? l->loop->done : l->loop->again, tl_new_block(l),
               ast->span);
}
