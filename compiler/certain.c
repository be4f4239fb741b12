// One walk of the tree from the outside in. An expression that is closed, which
// means that its value depends on no run, is computed as a text of its own,
// with the values of its variables in place of their names; where that fails,
// the innermost part that fails by itself is the error's place.

#include "compiler/stages.h"

#include "compiler/ast_walk.h"

// What is longer, higher or has more variables in it is not computed, nor is
// anything after so many expressions.
enum {
  MOST_BYTES = 1024,
  MOST_HEIGHT = 64,
  MOST_NAMES = 16,
  MOST_TRIALS = 400
};

typedef struct walk {
  const tl_vm *vm;
  const tl_source *source;
  const tl_scope *scope;  // that the walk is in
  tl_diagnostics *list;
  tl_compute *compute;
  void *context;
  int trials;
  bool decides;  // whether what is looked at decides what else runs
} walk;

// --- Which expressions are closed -------------------------------------------

static bool is_known(const tl_vm *vm, const tl_name *name) {
  const unsigned acts = TL_FILES | TL_CLOCK | TL_ENVIRONMENT | TL_EFFECT;
  tl_known known = tl_known_find(vm, NULL, name);
  return known.kind == TL_KNOWN_BUILTIN ? (known.builtin->flags & acts) == 0
                                        : known.kind != TL_KNOWN_NOTHING;
}

// Whether a node is computed from what is in it: those stand side by side among
// the kinds.
static bool computes(const tl_ast *ast) {
  return ast->kind >= TL_AST_CALL && ast->kind <= TL_AST_COMPARE;
}

// A visitor: whether a value depends on the run. Literals come first among the
// kinds.
static bool is_open(tl_ast *ast, void *context) {
  const walk *w = context;
  if (ast->kind == TL_AST_NAME) {
    const tl_variable *v = tl_scope_find(w->scope, ast->name.name);
    return v == NULL ? !is_known(w->vm, ast->name.name) : v->closed == NULL;
  }
  bool may = computes(ast) ||
             (ast->kind <= TL_AST_ARRAY && ast->kind != TL_AST_INTERPOLATED) ||
             (ast->kind >= TL_AST_SPREAD && ast->kind <= TL_AST_OPERATOR);
  return !may || tl_ast_each_child(ast, is_open, context);
}

// Whether computing it can fail, other than a number with a sign.
static bool can_fail(const tl_ast *ast) {
  return ast->kind == TL_AST_UNARY
             ? can_fail(ast->unary.operand) ||
                   ast->unary.operand->kind == TL_AST_STRING
             : computes(ast);
}

// --- Their texts ------------------------------------------------------------

// The variables in an expression, in the order of the text.
typedef struct name_list {
  const walk *in;
  const tl_ast *ast[MOST_NAMES];
  int count;
} name_list;

// A visitor: true where there are too many.
static bool note_names(tl_ast *ast, void *context) {
  name_list *n = context;
  if (ast->kind != TL_AST_NAME)
    return tl_ast_each_child(ast, note_names, context);
  if (tl_scope_find(n->in->scope, ast->name.name) == NULL)
    return false;
  if (n->count == MOST_NAMES)
    return true;
  // What a pipe gives stands before its function, but is visited behind it.
  int at = n->count++;
  for (; at > 0 && n->ast[at - 1]->span.begin > ast->span.begin; at--)
    n->ast[at] = n->ast[at - 1];
  n->ast[at] = ast;
  return false;
}

// The text of an expression as it grows; what does not fit is no text.
typedef struct closed_text {
  char data[MOST_BYTES];
  size_t nbytes;
} closed_text;

static bool append(closed_text *t, const char *from, size_t nbytes) {
  if (nbytes > sizeof t->data - t->nbytes)
    return false;
  memcpy(t->data + t->nbytes, from, nbytes);
  t->nbytes += nbytes;
  return true;
}

// The source from [begin] on up to [end].
static bool append_source(const walk *w, closed_text *t, uint32_t begin,
                          uint32_t end) {
  return append(t, w->source->text + begin, end - begin);
}

// Appends the expression in parentheses; false also if a variable in it was
// forgotten. Each was closed before what is made of it, so this ends, and each
// step takes two bytes.
static bool append_closed(const walk *w, closed_text *t, tl_ast *ast) {
  name_list n = {.in = w};
  if (note_names(ast, &n) || !append(t, "(", 1))
    return false;
  uint32_t done = ast->span.begin;
  for (int i = 0; i < n.count; i++) {
    const tl_variable *v = tl_scope_find(w->scope, n.ast[i]->name.name);
    walk there = *w;
    there.scope = v->scope;
    if (v->closed == NULL || !append_source(w, t, done, n.ast[i]->span.begin) ||
        !append_closed(&there, t, v->closed))
      return false;
    done = n.ast[i]->span.end;
  }
  return append_source(w, t, done, ast->span.end) && append(t, ")", 1);
}

// --- The walk ---------------------------------------------------------------

// Sets [message] and returns the kind of the error that computing it gives;
// TALLY_OK: none that is known.
static tally_status fails(walk *w, tl_ast *ast, const char **message) {
  closed_text t = {.nbytes = 0};
  if (w->trials >= MOST_TRIALS || ast->height > MOST_HEIGHT ||
      !append_closed(w, &t, ast))
    return TALLY_OK;
  w->trials++;
  tally_status kind = w->compute(w->context, t.data, t.nbytes, message);
  // What takes long, or all of the memory, may be right on another machine.
  if (kind == TALLY_ERR_LIMIT)
    w->trials = MOST_TRIALS;
  // Nor are names wrong: they were found, but the host's are not there.
  return kind == TALLY_ERR_TYPE || kind == TALLY_ERR_SHAPE ||
                 kind == TALLY_ERR_INDEX || kind == TALLY_ERR_VALUE
             ? kind
             : TALLY_OK;
}

// A visitor: reports the innermost failing part of a closed expression; true:
// there is one.
static bool report(tl_ast *ast, void *context) {
  walk *w = context;
  const char *message;
  tally_status kind = can_fail(ast) ? fails(w, ast, &message) : TALLY_OK;
  if (kind == TALLY_OK)
    return !can_fail(ast) && tl_ast_each_child(ast, report, context);
  char *kept = tl_arena_alloc(w->list->arena, strlen(message) + 1);
  if (kept != NULL)
    strcpy(kept, message);
  if (!tl_ast_each_child(ast, report, context) && kept != NULL)
    tl_diagnose(w->list, kind, ast->span, "%s", kept);
  return true;
}

// Notes the value of a variable that has no other, and is never changed, if its
// text fits, which bounds how deep variables are made of others.
static void note_value(const walk *w, const tl_ast_assign *assign) {
  closed_text t = {.nbytes = 0};
  tl_variable *v = assign->target.kind == TL_TARGET_NAME
                       ? tl_scope_find(w->scope, assign->target.name)
                       : NULL;
  if (v != NULL && v->assigns == 1 && !v->is_updated && !v->is_shared &&
      !v->is_param && append_closed(w, &t, assign->value))
    v->closed = assign->value;
}

// A visitor: what decides whether something runs makes sure of its variables,
// as if len(x) > 0 does for x[0], so their values are unknown from here on, and
// so are those that they are made of.
static bool forget(tl_ast *ast, void *context) {
  walk there = *(walk *)context;
  tl_variable *v = ast->kind == TL_AST_NAME
                       ? tl_scope_find(there.scope, ast->name.name)
                       : NULL;
  if (v == NULL || v->closed == NULL)
    return tl_ast_each_child(ast, forget, context);
  tl_ast *closed = v->closed;
  v->closed = NULL;
  there.scope = v->scope;
  return forget(closed, &there);
}

static bool look(tl_ast *ast, void *context);

// The children of a node, in the scope that it opens, if it does. A function
// without a name may be meant to fail where it is called, as a try is.
static void look_into(tl_ast *ast, walk *w) {
  const tl_scope *around = w->scope;
  const tl_ast_kind kind = ast->kind;
  bool comprehends = tl_ast_comprehends(ast);
  w->decides = comprehends || kind == TL_AST_IF || kind == TL_AST_WHILE ||
               kind == TL_AST_FOR || kind == TL_AST_AND || kind == TL_AST_OR;
  if (kind == TL_AST_DEFINE) {
    ast = ast->define.function;
    w->scope = ast->function.scope;
  } else if (comprehends) {
    w->scope = ast->comprehension.scope;
  }
  if (kind == TL_AST_TRY)
    look(ast->attempt.handler, w);
  else if (kind != TL_AST_FUNCTION)
    tl_ast_each_child(ast, look, w);
  w->scope = around;
}

// A visitor. What is closed has nothing in it that has to be looked at again.
static bool look(tl_ast *ast, void *context) {
  walk *w = context;
  const bool decides = w->decides;
  uint32_t before = w->list->total;
  if (tl_diagnostics_full(w->list))
    return true;
  if (can_fail(ast) && !is_open(ast, w))
    report(ast, w);
  else
    look_into(ast, w);
  if (ast->kind == TL_AST_ASSIGN && w->list->total == before &&
      !is_open(ast->assign.value, w))
    note_value(w, &ast->assign);
  w->decides = decides;
  return decides && ast->kind != TL_AST_BLOCK && forget(ast, w);
}

void tl_find_certain_errors(const tl_resolver *resolver, tl_ast *program,
                            const tl_source *source, tl_compute *compute,
                            void *context, tl_diagnostics *list) {
  walk w = {.vm = resolver->vm,
            .source = source,
            .scope = resolver->module_scope,
            .list = list,
            .compute = compute,
            .context = context};
  look(program, &w);
}
