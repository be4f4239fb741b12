// The children of every kind of node, in the order of evaluation. A payload
// that is added to ast.h has to be added to the rows here: the compiler says
// so.

#include "compiler/ast_walk.h"

#include <string.h>

// --- Children ---------------------------------------------------------------

// Where a payload has its children: pointers of its own, then an array of items
// with pointers in each, then pointers of its own again. Offsets are one more
// than they are, so that 0 ends a row of them, or is no array.
typedef struct children {
  uint8_t first[4], last[3];
  uint8_t items, count, size, of_item[5];
} children;

#define AT(member) (1 + offsetof(tl_ast, member))
#define IN(type, member) (1 + offsetof(type, member))
#define ITEMS(array, length, type) \
  .items = AT(array), .count = AT(length), .size = sizeof(type)

_Static_assert(sizeof(tl_ast) < UINT8_MAX, "offsets in a node are bytes");

static const children of_boolean, of_integer, of_real, of_string, of_nothing,
    of_name, of_op, of_idents, of_import;
static const children of_interpolated = {
    ITEMS(interpolated.parts, interpolated.count, tl_part),
    .of_item = {IN(tl_part, value), IN(tl_part, spec)}};
static const children of_items = {ITEMS(items.items, items.count, tl_ast *),
                                  .of_item = {1}};
static const children of_record = {
    ITEMS(record.entries, record.count, tl_entry),
    .of_item = {IN(tl_entry, computed), IN(tl_entry, value)}};
static const children of_comprehension = {
    ITEMS(comprehension.clauses, comprehension.count, tl_clause),
    .of_item = {IN(tl_clause, value)},
    .last = {AT(comprehension.key), AT(comprehension.item)}};
static const children of_function = {
    ITEMS(function.params, function.count, tl_ast_param),
    .of_item = {IN(tl_ast_param, value)}, .last = {AT(function.body)}};
static const children of_condition = {
    ITEMS(condition.arms, condition.count, tl_arm),
    .of_item = {IN(tl_arm, test), IN(tl_arm, body)},
    .last = {AT(condition.otherwise)}};
static const children of_while_loop = {
    .first = {AT(while_loop.test), AT(while_loop.body)}};
static const children of_for_loop = {
    .first = {AT(for_loop.value), AT(for_loop.body)}};
static const children of_attempt = {
    .first = {AT(attempt.body), AT(attempt.handler)}};
static const children of_call = {.first = {AT(call.callee)},
                                 ITEMS(call.arguments, call.count, tl_argument),
                                 .of_item = {IN(tl_argument, value)}};
// An item has a value, or the ends of a slice; what is missing is NULL.
static const children of_index = {
    .first = {AT(index.object)},
    ITEMS(index.items, index.count, tl_ast_item),
    .of_item = {IN(tl_ast_item, value), IN(tl_ast_item, start),
                IN(tl_ast_item, stop), IN(tl_ast_item, step)}};
static const children of_field = {.first = {AT(field.object)}};
static const children of_select = {.first = {AT(select.object)}};
static const children of_unary = {.first = {AT(unary.operand)}};
static const children of_binary = {
    .first = {AT(binary.left), AT(binary.right)}};
static const children of_range = {
    .first = {AT(range.start), AT(range.stop), AT(range.step)}};
// And the indices of its target.
static const children of_assign = {
    .first = {AT(assign.value), AT(assign.fallback)}};
static const children of_define = {.first = {AT(define.function)}};
static const children of_result = {.first = {AT(result)}};

static const children *const children_of[] = {
#define X(kind, text, type, member, ...) [TL_AST_##kind] = &of_##member,
    TL_AST_KINDS(X)
#undef X
};

// The pointer at an offset of the above.
static inline void *pointer_at(const void *in, uint8_t offset) {
  void *pointer;
  memcpy(&pointer, (const char *)in + offset - 1, sizeof pointer);
  return pointer;
}

// Visits the nodes at a row of offsets, where they are there.
__attribute__((always_inline)) static inline bool each_at(
    const void *in, const uint8_t *offsets, tl_ast_visitor *visit,
    void *context) {
  for (; *offsets != 0; offsets++) {
    tl_ast *child = pointer_at(in, *offsets);
    if (child != NULL && visit(child, context))
      return true;
  }
  return false;
}

// The nodes in each of the items, in order.
static bool each_in(const children *c, const void *items, uint32_t count,
                    tl_ast_visitor *visit, void *context) {
  for (uint32_t i = 0; i < count; i++)
    if (each_at((const char *)items + (size_t)i * c->size, c->of_item, visit,
                context))
      return true;
  return false;
}

bool tl_ast_each_in_items(const tl_ast_item *items, uint32_t count,
                          tl_ast_visitor *visit, void *context) {
  return each_in(&of_index, items, count, visit, context);
}

// Targets in a list from left to right, and the indices of each.
bool tl_ast_each_in_target(const tl_target *target, tl_ast_visitor *visit,
                           void *context) {
  for (uint32_t i = 0; i < target->count; i++)
    if (tl_ast_each_in_target(&target->targets[i], visit, context))
      return true;
  for (uint32_t i = 0; i < target->step_count; i++) {
    const tl_ast_step *step = &target->steps[i];
    if (tl_ast_each_in_items(step->items, step->count, visit, context))
      return true;
  }
  return false;
}

bool tl_ast_each_child(const tl_ast *ast, tl_ast_visitor *visit,
                       void *context) {
  const children *c = children_of[ast->kind];
  uint32_t count = 0;
  if (each_at(ast, c->first, visit, context))
    return true;
  if (c->items != 0) {
    memcpy(&count, (const char *)ast + c->count - 1, sizeof count);
    if (each_in(c, pointer_at(ast, c->items), count, visit, context))
      return true;
  }
  if (c == &of_assign)
    return tl_ast_each_in_target(&ast->assign.target, visit, context);
  return each_at(ast, c->last, visit, context);
}

// --- Sameness ---------------------------------------------------------------

// The same for expressions that may be missing.
static bool same_or_none(const tl_ast *a, const tl_ast *b) {
  return a == NULL || b == NULL ? a == b : tl_ast_is_same(a, b);
}

// The same for the items of an index.
bool tl_ast_items_are_same(const tl_ast_item *a, uint32_t count,
                           const tl_ast_item *b, uint32_t other_count) {
  if (count != other_count)
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (a[i].kind != b[i].kind || !same_or_none(a[i].value, b[i].value) ||
        !same_or_none(a[i].start, b[i].start) ||
        !same_or_none(a[i].stop, b[i].stop) ||
        !same_or_none(a[i].step, b[i].step))
      return false;
  return true;
}

// Whether two expressions are the same, of the kinds that have no effect:
// evaluated once or twice, they give the same value.
bool tl_ast_is_same(const tl_ast *a, const tl_ast *b) {
  if (a->kind != b->kind)
    return false;
  switch (a->kind) {
    case TL_AST_NONE:
      return true;
    case TL_AST_BOOL:
      return a->boolean == b->boolean;
    case TL_AST_INT:
      return a->integer == b->integer;
    case TL_AST_STRING:
      return a->string.nbytes == b->string.nbytes &&
             memcmp(a->string.text, b->string.text, a->string.nbytes) == 0;
    case TL_AST_NAME:
      return a->name.name == b->name.name;
    case TL_AST_UNARY:
      return a->unary.op == b->unary.op &&
             tl_ast_is_same(a->unary.operand, b->unary.operand);
    case TL_AST_BINARY:
      return a->binary.op == b->binary.op &&
             tl_ast_is_same(a->binary.left, b->binary.left) &&
             tl_ast_is_same(a->binary.right, b->binary.right);
    case TL_AST_RANGE:
      return same_or_none(a->range.start, b->range.start) &&
             same_or_none(a->range.stop, b->range.stop) &&
             same_or_none(a->range.step, b->range.step);
    case TL_AST_FIELD:
      return a->field.field.name == b->field.field.name &&
             tl_ast_is_same(a->field.object, b->field.object);
    case TL_AST_INDEX:
      return tl_ast_is_same(a->index.object, b->index.object) &&
             tl_ast_items_are_same(a->index.items, a->index.count,
                                   b->index.items, b->index.count);
    case TL_AST_LIST:
      if (a->items.count != b->items.count)
        return false;
      for (uint32_t i = 0; i < a->items.count; i++)
        if (!tl_ast_is_same(a->items.items[i], b->items.items[i]))
          return false;
      return true;
    default:
      return false;
  }
}

bool tl_ast_items_are(const tl_ast_item *items, uint32_t count,
                      tl_ast_item_kind kind) {
  for (uint32_t i = 0; i < count; i++)
    if (items[i].kind != kind)
      return false;
  return true;
}

bool tl_ast_items_have(const tl_ast_item *items, uint32_t count,
                       tl_ast_item_kind kind) {
  for (uint32_t i = 0; i < count; i++)
    if (items[i].kind == kind)
      return true;
  return false;
}

tl_ast *tl_ast_object(const tl_ast *ast) {
  return ast->kind == TL_AST_INDEX   ? ast->index.object
         : ast->kind == TL_AST_FIELD ? ast->field.object
                                     : NULL;
}

bool tl_ast_is_cut(const tl_ast *ast) {
  return ast->kind == TL_AST_INDEX &&
         tl_ast_items_are(ast->index.items, ast->index.count,
                          TL_AST_ITEM_SLICE);
}
