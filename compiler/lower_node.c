// Lowering of a node, by its kind.

#include "compiler/lower.h"

// The order of the tests matters: the place whose old value is moved out looks
// like any other expression, and is one in all other places of the text.
int32_t tl_lower_expr(tl_lower *l, tl_ast *ast, int32_t want) {
  // Without memory nothing more is emitted; any slot will do.
  if (l->b->arena->failed || l->b->failed)
    return tl_into(l, want);
  // The old value in r.a[k] = g(r.a[k]): by node, so only this very place in
  // the text.
  if (tl_is_taken(l, ast))
    return tl_lower_taken(l, want, ast->span);
  const tl_lowering *kind = tl_lowering_of(l, ast);
  if (kind->value != NULL) {
    int32_t mark = l->top, slot = kind->value(l, ast, want);
    l->top = slot < mark ? mark : slot + 1;
    return slot;
  }
  // A statement where a value is wanted: the value is none.
  kind->run(l, ast);
  return tl_load_constant(l, want, tl_none(), ast->span);
}

// Statements have no value, so what an expression leaves in a slot is unused:
// ownership drops it.
void tl_lower_statement(tl_lower *l, tl_ast *ast) {
  const tl_lowering *kind = tl_lowering_of(l, ast);
  int32_t mark = l->top;
  if (kind->run != NULL)
    kind->run(l, ast);
  else if (kind->may_drop)
    kind->value(l, ast, TL_NO_VALUE);
  else if (tl_has_effect(l, ast))
    tl_lower_expr(l, ast, -1);
  else
    tl_refuse_useless(l, ast);
  l->top = mark;
}
