// One walk of the tree: each function's assignments are looked up in its scope,
// in which the resolver has noted what is read.

#include "compiler/stages.h"

#include "compiler/ast_walk.h"

// What the walk over the tree carries along: where warnings go, and in which
// function it is.
typedef struct watcher {
  tl_diagnostics *list;
  const tl_scope *scope;  // of the function that the walk is in
} watcher;

// A variable is warned of once, where it is first assigned. What a function
// declares global, others may read.
static void check_read(const watcher *w, const tl_ident *ident) {
  const tl_variable *v = tl_scope_lookup(w->scope, ident->name);
  if (v == NULL || v->is_read || v->is_param || v->is_shared ||
      ident->name->text[0] == '_' || v->first.at != ident->span.at)
    return;
  tl_diagnose(w->list, TALLY_OK, ident->span, "%s is %snever read",
              ident->name->text, v->is_updated ? "changed and " : "");
}

// What an import binds is to be read: each listed name, or else the module's.
static void check_import(const watcher *w, const tl_ast_import *import) {
  for (uint32_t i = 0; i < import->count; i++) check_read(w, &import->names[i]);
  tl_ident module = tl_import_ident(import);
  if (import->count == 0 && module.name != NULL)
    check_read(w, &module);
}

// Warns of the first statement behind one that leaves the block. The ones
// behind it are not reached for the same reason, and are passed over.
static void check_block(const watcher *w, const tl_ast_items *block) {
  for (uint32_t i = 0; i + 1 < block->count; i++) {
    tl_ast_kind kind = block->items[i]->kind;
    if (kind != TL_AST_RETURN && kind != TL_AST_BREAK &&
        kind != TL_AST_CONTINUE)
      continue;
    tl_diagnose(w->list, TALLY_OK, block->items[i + 1]->span,
                "this is never reached");
    return;
  }
}

// Several names take each item apart, which a number or a text is no list for.
static void check_for(const watcher *w, const tl_ast_for *loop) {
  const tl_ast *list = loop->value;
  if (loop->name_count == 1 || list->kind != TL_AST_LIST)
    return;
  for (uint32_t i = 0; i < list->items.count; i++) {
    const tl_ast *item = list->items.items[i];
    if (item->kind != TL_AST_STRING && item->kind != TL_AST_INT)
      continue;
    tl_diagnose(w->list, TALLY_OK, item->span,
                "%u names take an item apart, and this is one value; "
                "enumerate(xs) counts items",
                loop->name_count);
    return;
  }
}

// A type is no text, and equals none: of typeof(x) == "list", on either side.
static void check_equal(const watcher *w, const tl_ast *type,
                        const tl_ast *text) {
  if (text->kind != TL_AST_STRING || type->kind != TL_AST_CALL ||
      type->call.callee->kind != TL_AST_NAME)
    return;
  const tl_name *name = type->call.callee->name.name;
  if (strcmp(name->text, "typeof") == 0 && !tl_scope_find(w->scope, name))
    tl_diagnose(w->list, TALLY_OK, text->span,
                "a type never equals a text: write `%s`, in backquotes",
                text->string.text);
}

// A visitor of tl_ast_each_child.
static bool check(tl_ast *ast, void *context) {
  watcher *w = context;
  const tl_scope *around = w->scope;
  // Variables of a module may be read by what imports it.
  bool is_own = around->kind == TL_SCOPE_FUNCTION;
  switch (ast->kind) {
    case TL_AST_FUNCTION:
      w->scope = ast->function.scope;
      break;
    case TL_AST_BLOCK:
      check_block(w, &ast->items);
      break;
    case TL_AST_ASSIGN:
      if (is_own && ast->assign.target.kind == TL_TARGET_NAME)
        check_read(
            w, &(tl_ident){ast->assign.target.name, ast->assign.target.span});
      break;
    case TL_AST_DEFINE:
      if (is_own)
        check_read(w, &ast->define.name);
      break;
    case TL_AST_IMPORT:
      check_import(w, &ast->import);
      break;
    case TL_AST_FOR:
      check_for(w, &ast->for_loop);
      break;
    case TL_AST_COMPARE:
      check_equal(w, ast->binary.left, ast->binary.right);
      check_equal(w, ast->binary.right, ast->binary.left);
      break;
    default:
      break;
  }
  tl_ast_each_child(ast, check, context);
  w->scope = around;
  return false;
}

// The resolver has counted by then who reads what.
void tl_find_warnings(const tl_resolver *resolver, tl_ast *program,
                      tl_diagnostics *list) {
  watcher w = {list, resolver->module_scope};
  check(program, &w);
}
