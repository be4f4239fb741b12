// The children of a node, spelled out in one place for every walk of the tree.
//
// A walk is a function of type tl_ast_visitor that looks at the kinds it cares
// about and calls tl_ast_each_child for all others:
//
//   static bool find(tl_ast *ast, void *context) {
//     if (ast->kind == TL_AST_CALL) return true;
//     return tl_ast_each_child(ast, find, context);
//   }

#pragma once

#include "compiler/ast.h"

// Called with a child and the context of the walk; returns true to end the
// walk.
typedef bool tl_ast_visitor(tl_ast *child, void *context);

// Calls [visit] with each child of [ast] in the order of evaluation: the
// children of a function are its defaults and its body, those of an assignment
// its value and then the indices in its target. True if a visit ended it.
bool tl_ast_each_child(const tl_ast *ast, tl_ast_visitor *visit, void *context);

// The same for the parts of an index, and for the indices of a target.
bool tl_ast_each_in_items(const tl_ast_item *items, uint32_t count,
                          tl_ast_visitor *visit, void *context);
bool tl_ast_each_in_target(const tl_target *target, tl_ast_visitor *visit,
                           void *context);

// Whether it is a list, an array or a record by a comprehension.
static inline bool tl_ast_comprehends(const tl_ast *ast) {
  return ast->kind >= TL_AST_LIST_FOR && ast->kind <= TL_AST_RECORD_FOR;
}
// Whether it is a block or has one, which may assign; the item of a
// comprehension may, and is rare enough not to look. In the table of kinds
// these stand in one row.
static inline bool tl_ast_has_block(const tl_ast *ast) {
  return tl_ast_comprehends(ast) ||
         (ast->kind >= TL_AST_BLOCK && ast->kind <= TL_AST_TRY);
}

// Whether two expressions are the same, of the kinds that have no effect:
// evaluated once or twice, they give the same value.
bool tl_ast_is_same(const tl_ast *a, const tl_ast *b);
// The same for the items of an index.
bool tl_ast_items_are_same(const tl_ast_item *a, uint32_t count,
                           const tl_ast_item *b, uint32_t other_count);
// Whether all items of an index are of a kind.
bool tl_ast_items_are(const tl_ast_item *items, uint32_t count,
                      tl_ast_item_kind kind);
// Whether one of them is.
bool tl_ast_items_have(const tl_ast_item *items, uint32_t count,
                       tl_ast_item_kind kind);
// The object that an index or a field is taken of; NULL for another node.
tl_ast *tl_ast_object(const tl_ast *ast);
// Whether [ast] is x[a:b] or x[a:b, c:d]: slices alone stand in its brackets.
bool tl_ast_is_cut(const tl_ast *ast);
