// The order in which arguments and items are evaluated: as they are written,
// but what goes on in the memory of a variable comes behind those that read it.
//
//     (append(s[0], x), s[1] + 1)     s[1] + 1, then append(s![0], x)

#include "compiler/ast_walk.h"
#include "compiler/lower_place.h"

bool tl_reads(const tl_ast *ast, const tl_target *target) {
  // The last step is the outermost node, so both are followed from the outside
  // in.
  for (uint32_t i = target->step_count; i-- > 0;) {
    const tl_ast_step *step = &target->steps[i];
    if (step->field.name != NULL) {
      if (ast->kind != TL_AST_FIELD ||
          ast->field.field.name != step->field.name)
        return false;
      ast = ast->field.object;
    } else {
      if (ast->kind != TL_AST_INDEX ||
          !tl_ast_items_are_same(step->items, step->count, ast->index.items,
                                 ast->index.count))
        return false;
      ast = ast->index.object;
    }
  }
  return ast->kind == TL_AST_NAME && ast->name.name == target->name;
}

bool tl_is_taken(const tl_lower *l, const tl_ast *ast) {
  const struct tl_taking *t = l->taking;
  return t != NULL &&
         (t->leaf == ast || (t->is_out && tl_reads(ast, t->place.target)));
}

// Whether evaluating [ast] may do more than give a value or fail, as calls of
// functions of modules do: random numbers come one after the other. A visitor.
static bool acts(tl_ast *ast, void *context) {
  if (ast->kind == TL_AST_FUNCTION)
    return true;
  if (ast->kind == TL_AST_CALL) {
    const tl_builtin *builtin = tl_called_builtin(context, ast->call.callee);
    if (builtin == NULL || ast->call.callee->kind != TL_AST_NAME ||
        (builtin->flags & TL_EFFECT) != 0 || tl_builtin_calls(builtin))
      return true;
  }
  return tl_ast_each_child(ast, acts, context);
}

// Whether [ast] reads a variable of the module, which calls may change. A
// visitor.
static bool reads_module(tl_ast *ast, void *context) {
  const tl_lower *l = context;
  if (ast->kind != TL_AST_NAME)
    return tl_ast_each_child(ast, reads_module, context);
  const tl_variable *v = tl_scope_find(l->scope, ast->name.name);
  return v != NULL && v->is_global;
}

// The variable in whose memory, or a part's of it, [ast] goes on if nobody
// reads it behind that: s of s[:-1], append(s[0], 1) and append(s.a[1:], 2).
// NULL: it is none of these, or more may happen in it.
static const tl_name *continued(tl_lower *l, tl_ast *ast) {
  bool may = tl_ast_is_cut(ast) || ast->kind == TL_AST_CALL;
  if (!may || tl_may_assign(ast) || acts(ast, l))
    return NULL;
  tl_ast *from = ast;
  for (;;) {
    const tl_builtin *builtin = from->kind == TL_AST_CALL
                                    ? tl_called_builtin(l, from->call.callee)
                                    : NULL;
    if (builtin != NULL && tl_builtin_restores(builtin) &&
        from->call.count > 0 &&
        from->call.arguments[0].kind == TL_ARGUMENT_POSITIONAL)
      from = from->call.arguments[0].value;
    else if (tl_ast_is_cut(from))
      from = from->index.object;
    else
      break;
  }
  if (from == ast)
    return NULL;
  bool is_taken = tl_is_taken(l, from);
  while (from->kind == TL_AST_FIELD ||
         (from->kind == TL_AST_INDEX &&
          (is_taken || tl_ast_items_are(from->index.items, from->index.count,
                                        TL_AST_ITEM_VALUE))))
    from = tl_ast_object(from);
  return is_taken || tl_is_own_variable(l, from) ? from->name.name : NULL;
}

// Whether [ast] names the variable. A visitor.
static bool mentions(tl_ast *ast, void *name) {
  return (ast->kind == TL_AST_NAME && ast->name.name == name) ||
         tl_ast_each_child(ast, mentions, name);
}

// One of values that stand [step] bytes apart.
static tl_ast *value_at(const void *first, size_t step, uint32_t i) {
  tl_ast *value;
  memcpy(&value, (const char *)first + i * step, sizeof value);
  return value;
}

uint32_t tl_find_last(tl_lower *l, const void *first, size_t step,
                      uint32_t count) {
  for (uint32_t i = 0; i + 1 < count; i++) {
    tl_ast *ast = value_at(first, step, i);
    const tl_name *name = continued(l, ast);
    bool reads = false, later = false, assigns = false;
    for (uint32_t k = i + 1; name != NULL && k < count; k++) {
      tl_ast *other = value_at(first, step, k);
      reads |= mentions(other, (void *)name);
      later |= acts(other, l);
      assigns |= tl_may_assign(other);
    }
    if (reads && !assigns && !(later && reads_module(ast, l)))
      return i;
  }
  return count - 1;
}

uint32_t tl_in_order(uint32_t k, uint32_t last, uint32_t count) {
  return k + 1 == count ? last : k < last ? k : k + 1;
}
