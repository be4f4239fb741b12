// Columns that a loop over a range reads in every iteration are hoisted: read
// once, before the first iteration, into memory side by side if their items
// are apart in the array (tl_path.is_column).
//
//   for j in k + 1..n {
//     R[k, j] = Q[:, k] @ A[:, j]        # Q[:, k] is invariant
//     A[:, j] -= Q[:, k] * R[k, j]
//   }
//
// This needs two things: the loop assigns none of the names in the column, and
// the column is what the first iteration evaluates first. Then nothing that
// could fail or be seen comes before it, and its errors are those of the loop.

#include "compiler/ast_walk.h"
#include "compiler/lower.h"

enum { COLUMNS_MOST = 4 };  // of a loop

// A loop that is searched for columns.
typedef struct looking {
  tl_lower *l;
  const tl_ast_for *loop;
  tl_ast *found[COLUMNS_MOST];
  int count;
} looking;

// --- What a loop assigns ----------------------------------------------------

// Whether a name is one of several.
static bool is_among(const tl_ident *names, uint32_t count,
                     const tl_name *name) {
  for (uint32_t i = 0; i < count; i++) {
    if (names[i].name == name)
      return true;
  }
  return false;
}

// Whether an assignment to [target] changes the variable of a name.
static bool is_target(const tl_target *target, const tl_name *name) {
  for (uint32_t i = 0; i < target->count; i++) {
    if (is_target(&target->targets[i], name))
      return true;
  }
  return target->kind != TL_TARGET_LIST && target->name == name;
}

// Whether a comprehension has a variable of the name.
static bool binds(const tl_ast_comprehension *c, const tl_name *name) {
  for (uint32_t i = 0; i < c->count; i++) {
    if (is_among(c->clauses[i].names, c->clauses[i].name_count, name))
      return true;
  }
  return false;
}

// A name, for a walk over the loop's body.
typedef struct naming {
  const tl_lower *l;
  const tl_name *name;
} naming;

// Whether [ast] may give the name another value, or another meaning.
static bool assigns(tl_ast *ast, void *context) {
  const naming *n = context;
  switch (ast->kind) {
    case TL_AST_ASSIGN:
      if (is_target(&ast->assign.target, n->name))
        return true;
      break;
    case TL_AST_UPDATE:
      if (is_target(&ast->update.target, n->name))
        return true;
      break;
    case TL_AST_FOR:
      if (is_among(ast->for_loop.names, ast->for_loop.name_count, n->name))
        return true;
      break;
    case TL_AST_LIST_FOR:
    case TL_AST_ARRAY_FOR:
    case TL_AST_RECORD_FOR:
      if (binds(&ast->comprehension, n->name))
        return true;
      break;
    case TL_AST_TRY:
      if (ast->attempt.error.name == n->name)
        return true;
      break;
    case TL_AST_DEFINE:
      if (ast->define.name.name == n->name)
        return true;
      break;
    case TL_AST_CALL:
      if (tl_is_del(n->l->scope, ast))
        return true;
      break;
    case TL_AST_FUNCTION:  // has variables of its own
      return false;
    // It may bind any name: not worth a closer look.
    case TL_AST_IMPORT:
      return true;
    default:
      break;
  }
  return tl_ast_each_child(ast, assigns, context);
}

// --- What is invariant ------------------------------------------------------

// The variable of this function that a name means, or NULL.
static const tl_variable *local(const tl_lower *l, const tl_ast *ast) {
  if (ast->kind != TL_AST_NAME)
    return NULL;
  const tl_variable *v = tl_own_variable(l, ast->name.name);
  return v == NULL || v->is_global ? NULL : v;
}

// Whether an expression is the same in every iteration: a literal, a local
// that the loop does not assign, or a sum of such. NULL stands for a missing
// end of a slice.
static bool stays(const looking *g, const tl_ast *ast) {
  const tl_ast_for *loop = g->loop;
  if (ast == NULL || ast->kind == TL_AST_INT)
    return true;
  // k + 1 and k - 1, as indices often are.
  if (ast->kind == TL_AST_BINARY) {
    return (ast->binary.op == TL_OPERATOR_ADD ||
            ast->binary.op == TL_OPERATOR_SUBTRACT) &&
           stays(g, ast->binary.left) && stays(g, ast->binary.right);
  }
  if (local(g->l, ast) == NULL)
    return false;
  // A local that no statement of the body assigns.
  naming n = {g->l, ast->name.name};
  return !is_among(loop->names, loop->name_count, n.name) &&
         !tl_ast_each_child(loop->body, assigns, &n);
}

// Whether an index reads a column, x[:, k]: a slice, and at the end a single
// item.
static bool is_column(const tl_ast_index *index) {
  bool any_slice = false;
  for (uint32_t i = 0; i < index->count; i++) {
    const tl_ast_item *item = &index->items[i];
    any_slice |= item->kind == TL_AST_ITEM_SLICE;
    // x[a..b] is a slice, although written as a value.
    if (item->kind == TL_AST_ITEM_VALUE && item->value->kind == TL_AST_RANGE)
      return false;
  }
  return any_slice && index->items[index->count - 1].kind == TL_AST_ITEM_VALUE;
}

// Whether an expression is a column that is the same in every iteration.
static bool is_found(const looking *g, const tl_ast *ast) {
  if (ast->kind != TL_AST_INDEX || !is_column(&ast->index) ||
      ast->index.object->kind != TL_AST_NAME || !stays(g, ast->index.object))
    return false;
  for (uint32_t i = 0; i < ast->index.count; i++) {
    const tl_ast_item *item = &ast->index.items[i];
    if (!stays(g, item->value) || !stays(g, item->start) ||
        !stays(g, item->stop) || !stays(g, item->step))
      return false;
  }
  return true;
}

// --- What is evaluated first ------------------------------------------------

// Whether a name surely has a value, as the loop's own names have.
static bool is_set(const looking *g, const tl_name *name) {
  return is_among(g->loop->names, g->loop->name_count, name);
}

// Notes the columns at the front of an expression, in the order of evaluation.
// True if all of it is evaluated by then and nothing in it can fail any more,
// so that the search may go on behind it.
static bool look_first(looking *g, tl_ast *ast) {
  switch (ast->kind) {
    case TL_AST_INT:
    case TL_AST_FLOAT:
      return true;
    case TL_AST_NAME:
      return is_set(g, ast->name.name);
    // Reading a column may fail, but in the first iteration it would have
    // failed just the same.
    case TL_AST_INDEX:
      if (g->count == COLUMNS_MOST || !is_found(g, ast))
        return false;
      g->found[g->count++] = ast;
      return true;
    // The right side is next only if the left one cannot fail; the operator
    // itself may, so nothing behind it is looked at.
    case TL_AST_BINARY:
      if (look_first(g, ast->binary.left))
        look_first(g, ast->binary.right);
      return false;
    case TL_AST_UNARY:
      look_first(g, ast->unary.operand);
      return false;
    // The first argument of a library function is evaluated before anything
    // else of the call.
    case TL_AST_CALL:
      if (tl_called_builtin(g->l, ast->call.callee) != NULL &&
          ast->call.count > 0 &&
          ast->call.arguments[0].kind == TL_ARGUMENT_POSITIONAL)
        look_first(g, ast->call.arguments[0].value);
      return false;
    default:
      return false;
  }
}

// The same for a statement.
static void look_statement(looking *g, tl_ast *ast) {
  if (ast->kind == TL_AST_ASSIGN) {
    look_first(g, ast->assign.value);
  } else if (ast->kind == TL_AST_UPDATE) {
    // For a place the value is evaluated first; a name is read before, so it
    // must be set.
    const tl_target *target = &ast->update.target;
    if (target->kind == TL_TARGET_PLACE || is_set(g, target->name))
      look_first(g, ast->update.value);
  } else {
    look_first(g, ast);
  }
}

// --- Lowering ---------------------------------------------------------------

// Called behind the first binding of the loop's names, so the first
// iteration's values are there; the columns belong to no name of the loop.
bool tl_columns_begin(tl_lower *l, tl_ast *loop) {
  looking g = {.l = l, .loop = &loop->for_loop};
  tl_ast *body = loop->for_loop.body;
  if (body->kind == TL_AST_BLOCK && body->items.count > 0)
    look_statement(&g, body->items.items[0]);
  for (int i = 0; i < g.count; i++) {
    // A loop around this one has hoisted the same column.
    if (tl_column_slot(l, g.found[i]) >= 0)
      continue;
    // Found by comparing expressions: see tl_lower_index.
    tl_column *column = TL_ARENA_ARRAY(l->b->arena, tl_column, 1);
    if (column == NULL)
      return false;
    int32_t slot = tl_temp(l);
    tl_lower_column(l, g.found[i], slot);
    *column = (tl_column){g.found[i], slot, l->columns};
    l->columns = column;
  }
  return g.count > 0;
}
