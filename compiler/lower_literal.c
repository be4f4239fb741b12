// Lowering of literals: numbers, arrays, lists, records, strings with values.
//
// Arrays of literal numbers become constants. Other literals are one
// instruction on a window of operands (LIST, STACK, RECORD, JOIN), or a list
// that grows if they are long.

#include <stdio.h>

#include "compiler/lower.h"
#include "vm/values/key.h"

// --- Constants --------------------------------------------------------------

// One minus is part of the literal, so that -9223372036854775808 can be
// written, and a constant list may have negative numbers; of two the outer one
// is an operation.
tl_slot tl_literal_slot(tl_lower *l, const tl_ast *ast, bool negative) {
  switch (ast->kind) {
    case TL_AST_BOOL:
      return negative ? tl_unset() : tl_bool(ast->boolean);
    case TL_AST_INT:
      // Beyond int64 it is a uint64; INT64_MAX + 1 is in range with its minus.
      if (!negative && ast->integer > INT64_MAX)
        return tl_scalar_load(TL_UINT64, &ast->integer);
      return tl_weak_int((int64_t)(negative ? 0 - ast->integer : ast->integer));
    case TL_AST_FLOAT:
      return tl_weak_float(negative ? -ast->real : ast->real);
    case TL_AST_IMAGINARY:
      // The real part gets the sign, too, as 0 - 2i would not give it.
      return tl_new_complex(l->b->vm, negative ? -0.0 : 0.0,
                            negative ? -ast->real : ast->real, true);
    case TL_AST_NONE:
      return negative ? tl_unset() : tl_none();
    case TL_AST_UNARY:
      if (ast->unary.op == TL_OPERATOR_NEGATE && !negative)
        return tl_literal_slot(l, ast->unary.operand, true);
      return tl_unset();
    default:
      return tl_unset();
  }
}

// Whether [ast] is a literal bool or number, perhaps with a minus: *value. Not
// an imaginary one, whose value is an object, which goes again.
static bool scalar_literal(tl_lower *l, const tl_ast *ast, tl_slot *value) {
  if (ast->kind != TL_AST_BOOL && ast->kind != TL_AST_INT &&
      ast->kind != TL_AST_FLOAT && ast->kind != TL_AST_UNARY)
    return false;
  *value = tl_literal_slot(l, ast, false);
  return tl_is_scalar(*value) || tl_drop_after(l->b->vm, false, value);
}

// What a nested array literal has been found to be.
typedef struct literal_shape {
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  tl_dtype dtype;
  bool found;
  bool is_negative;  // one of its integers is
} literal_shape;

// Whether [ast] is an array of equal rows of numeric literals; takes the shape
// from the first row and the dtype from all items: integers and floats
// together are float64, and those of int64 and uint64 are uint64. [depth] is 0
// at the outermost bracket.
static bool literal_array(tl_lower *l, const tl_ast *ast, int depth,
                          literal_shape *out) {
  if (ast->kind != TL_AST_ARRAY) {
    if (depth != out->ndim)
      return false;
    tl_slot value;
    if (!scalar_literal(l, ast, &value))
      return false;
    tl_dtype dtype = (tl_dtype)tl_dtype_of(value);
    if (out->found && dtype != out->dtype) {
      // A bool among numbers is left to the run, which rejects or converts it.
      if (dtype == TL_BOOL || out->dtype == TL_BOOL)
        return false;
      dtype = dtype == TL_FLOAT64 || out->dtype == TL_FLOAT64 ? TL_FLOAT64
                                                              : TL_UINT64;
    }
    out->found = true;
    out->dtype = dtype;
    // What is left to the run says which item does not fit.
    out->is_negative |= tl_dtype_of(value) == TL_INT64 && value.i < 0;
    return dtype != TL_UINT64 || !out->is_negative;
  }
  // An empty array has no dtype here; deeper than this nobody writes by hand.
  if (depth >= 8 || ast->items.count == 0)
    return false;
  // The first row that reaches this level says how long all are.
  if (depth == out->ndim) {
    // An item came before on this level: the rows are not equal.
    if (out->found)
      return false;
    out->ndim = depth + 1;
    out->shape[depth] = ast->items.count;
  }
  if (out->shape[depth] != ast->items.count)
    return false;
  for (uint32_t i = 0; i < ast->items.count; i++)
    if (!literal_array(l, ast->items.items[i], depth + 1, out))
      return false;
  return true;
}

// Writes the items at [item] and moves it on, row by row.
static void fill_literal(tl_lower *l, const tl_ast *ast, tl_array *array,
                         char **item) {
  if (ast->kind == TL_AST_ARRAY) {
    for (uint32_t i = 0; i < ast->items.count; i++)
      fill_literal(l, ast->items.items[i], array, item);
    return;
  }
  tl_slot value = tl_literal_slot(l, ast, false);
  int from = tl_dtype_of(value);
  // Integers among floats; integers among others of uint64 are the same bits.
  if (array->head.dtype == TL_FLOAT64 && from != TL_FLOAT64)
    value = tl_float(from == TL_UINT64 ? (double)value.u : (double)value.i);
  tl_scalar_store(value, *item);
  *item += tl_itemsize(tl_array_dtype(array));
}

// Loads an array of literals as a constant, which is made once and shared by
// all iterations. False: [ast] is no such array.
static bool constant_array(tl_lower *l, tl_ast *ast, int32_t want) {
  literal_shape shape = {.ndim = 0};
  if (!literal_array(l, ast, 0, &shape))
    return false;
  tl_array *array =
      tl_array_new(l->b->vm, shape.dtype, shape.ndim, shape.shape);
  if (array == NULL) {
    l->b->failed = true;
    return true;
  }
  // New arrays are row-major without gaps.
  char *item = array->data;
  fill_literal(l, ast, array, &item);
  tl_load_constant(l, want, tl_own_array(array), ast->span);
  return true;
}

static tl_list *literal_list(tl_lower *l, const tl_ast *ast, bool nests);

// A text or a list of literals as a value that *value owns. False: it is
// neither, or l->b->failed is set.
static bool literal_object(tl_lower *l, const tl_ast *ast, tl_slot *value) {
  if (ast->kind == TL_AST_STRING) {
    tl_string *text =
        tl_string_new(l->b->vm, ast->string.text, ast->string.nbytes);
    l->b->failed |= text == NULL;
    return tl_string_give(text, value);
  }
  tl_list *list = literal_list(l, ast, true);
  return list != NULL && tl_list_give(l->b->vm, list, true, value);
}

// A list of literals, or of texts and such lists where it [nests]; NULL: it is
// none, or l->b->failed is set. Returns owned.
static tl_list *literal_list(tl_lower *l, const tl_ast *ast, bool nests) {
  if (ast->kind != TL_AST_LIST || ast->items.count == 0)
    return NULL;
  tl_list *list = tl_list_new(l->b->vm, ast->items.count);
  l->b->failed |= list == NULL;
  for (uint32_t i = 0; list != NULL && i < ast->items.count; i++) {
    const tl_ast *item = ast->items.items[i];
    tl_slot value;
    if (!scalar_literal(l, item, &value) &&
        !(nests && literal_object(l, item, &value))) {
      tl_drop(l->b->vm, tl_own_list(list));
      return NULL;
    }
    list->items[list->length++] = value;
  }
  return list;
}

bool tl_constant_list(tl_lower *l, const tl_ast *ast, int32_t into,
                      bool nests) {
  tl_list *list = literal_list(l, ast, nests);
  if (list != NULL)
    tl_load_constant(l, into, tl_own_list(list), ast->span);
  return list != NULL || l->b->failed;
}

// --- Sequences of operands --------------------------------------------------

// Lowers [count] values side by side from slot [first] on; a variable's own
// slot is the operand if nothing behind it can assign the variable.
//
//   (x, y + 1)     operands x itself, and a temporary
//   (x, { x = 2 }) x is copied, for the block assigns it
static void lower_operands(tl_lower *l, tl_ast **items, uint32_t count,
                           int32_t first, int32_t *operands) {
  bool later_assigns = false;
  // From the end: is a variable assigned behind this item?
  for (uint32_t i = count; i-- > 0;) {
    operands[i] = later_assigns ? first + (int32_t)i : -1;
    later_assigns = later_assigns || tl_may_assign(items[i]);
  }
  const uint32_t last = tl_find_last(l, items, sizeof *items, count);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t i = tl_in_order(k, last, count);
    operands[i] = tl_lower_expr(
        l, items[i],
        tl_is_own_variable(l, items[i]) ? operands[i] : first + (int32_t)i);
  }
}

// The operands stand above the result, and after the instruction only that is
// left.
int32_t tl_lower_window(tl_lower *l, tl_opcode op, tl_ast **items,
                        uint32_t count, uint32_t extra, int32_t want,
                        tl_span span) {
  int32_t base = tl_temp(l);
  int32_t first = tl_temps(l, (int32_t)count);
  int32_t *operands = TL_ARENA_ARRAY(l->b->arena, int32_t, count + 1);
  if (operands == NULL)
    return base;
  lower_operands(l, items, count, first, operands);
  tl_emit_window(l, op, base, operands, (int32_t)count, extra, span);
  l->top = base + 1;
  return tl_lower_into(l, want, base, span);
}

// The longest literal whose items stand side by side in slots. Frames would
// otherwise be as large as the longest literal in them.
enum { WINDOW_MAX = 200 };

bool tl_has_spread(const tl_ast *ast) {
  for (uint32_t i = 0; i < ast->items.count; i++)
    if (ast->items.items[i]->kind == TL_AST_SPREAD)
      return true;
  return false;
}

// Whether the statement sets what the literal spreads first, and nobody else
// reads it behind the other items: l = (...l, l[-1] + 1), r.l = (...r.l, 1).
static bool continues(tl_lower *l, const tl_ast *literal) {
  const tl_ast_items *items = &literal->items;
  if (literal->kind != TL_AST_LIST || items->count > WINDOW_MAX ||
      items->items[0]->kind != TL_AST_SPREAD)
    return false;
  for (uint32_t i = 1; i < items->count; i++)
    if (items->items[i]->kind == TL_AST_SPREAD ||
        tl_may_assign(items->items[i]))
      return false;
  const tl_ast *value = items->items[0]->unary.operand;
  const tl_ast *statement =
      l->within == NULL ? literal : l->within->items.items[l->next - 1];
  return tl_is_taken(l, value) ||
         (statement->kind == TL_AST_ASSIGN &&
          statement->assign.target.kind == TL_TARGET_NAME &&
          tl_is_own_variable(l, value) &&
          value->name.name == statement->assign.target.name);
}

// A long literal, or one with `...`, grows a list item by item: a window has
// room for few.
static int32_t lower_long(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast **items = ast->items.items;
  int32_t list = tl_temp(l), behind = -1;
  if (continues(l, ast)) {
    behind = tl_temps(l, (int32_t)ast->items.count - 1);
    for (uint32_t i = 1; i < ast->items.count; i++)
      tl_lower_expr(l, items[i], behind + (int32_t)i - 1);
    uint32_t spread =
        tl_add_constant(l, tl_builtin_slot(tl_builtin_find(
                               l->b->vm->library, "_arguments", "spread", 6)));
    tl_lower_window(l, TL_BC_CALLB, &items[0]->unary.operand, 1, spread, list,
                    items[0]->span);
  } else {
    tl_emit_window(l, TL_BC_LIST, list, NULL, 0, 0, ast->span);
  }
  for (uint32_t i = behind < 0 ? 0 : 1; i < ast->items.count; i++) {
    tl_ast *value = items[i];
    if (value->kind == TL_AST_SPREAD) {
      tl_lower_spread(l, value->unary.operand, list);
      continue;
    }
    // Each item's temporaries are free behind its PUSH.
    int32_t mark = l->top;
    int32_t item =
        behind < 0 ? tl_lower_expr(l, value, -1) : behind + (int32_t)i - 1;
    tl_emit2(l, TL_BC_PUSH, list, list, item, value->span);
    l->top = mark;
  }
  // An array is stacked from the list of its items.
  if (ast->kind == TL_AST_ARRAY) {
    want = tl_into(l, want);
    tl_emit1(l, TL_BC_STACKLIST, want, list, ast->span);
    return want;
  }
  return tl_lower_into(l, want, list, ast->span);
}

// A list or an array: as a constant, in a window, or grown.
int32_t tl_lower_items(tl_lower *l, tl_ast *ast, int32_t want) {
  bool unseen = l->is_unseen;
  l->is_unseen = false;
  if (unseen && tl_constant_list(l, ast, want, true))
    return want;
  if (ast->kind == TL_AST_ARRAY) {
    int32_t slot = tl_into(l, want);
    if (constant_array(l, ast, slot))
      return slot;
    // The slot was asked for, so the other forms use it as well.
    want = slot;
  }
  // Each item would need a slot at the same time.
  if (ast->items.count > WINDOW_MAX || tl_has_spread(ast))
    return lower_long(l, ast, want);
  tl_opcode op = ast->kind == TL_AST_ARRAY ? TL_BC_STACK : TL_BC_LIST;
  return tl_lower_window(l, op, ast->items.items, ast->items.count, 0, want,
                         ast->span);
}

bool tl_lower_few(tl_lower *l, const tl_builtin *builtin, tl_ast *ast,
                  int32_t *want) {
  if (builtin->of_few == NULL || ast->call.count != 1 ||
      ast->call.arguments[0].kind != TL_ARGUMENT_POSITIONAL)
    return false;
  tl_ast *items = ast->call.arguments[0].value;
  bool array = items->kind == TL_AST_ARRAY;
  literal_shape shape = {.ndim = 0};
  if ((!array && items->kind != TL_AST_LIST) || items->items.count < 2 ||
      items->items.count > TL_FEW || tl_has_spread(items) ||
      (array && literal_array(l, items, 0, &shape)))
    return false;
  int32_t count = (int32_t)items->items.count, operands[TL_FEW + 1];
  int32_t base = tl_temp(l), first = tl_temps(l, TL_FEW + 1);
  lower_operands(l, items->items.items, (uint32_t)count, first, operands);
  for (int32_t i = count; i <= TL_FEW; i++) {
    operands[i] = first + i;
    tl_load_constant(
        l, first + i,
        i < TL_FEW ? tl_none() : tl_weak_int(array ? -count : count),
        ast->span);
  }
  tl_emit_window(l, TL_BC_CALLB, base, operands, TL_FEW + 1,
                 tl_add_constant(l, tl_builtin_slot(builtin->of_few)),
                 ast->span);
  l->top = base + 1;
  *want = tl_lower_into(l, *want, base, ast->span);
  return true;
}

// The name by which a repeated key is found. An integer or a bool is no
// string, so it gets a name that no string can have: \xff is not UTF-8. NULL:
// only the run knows the key.
static const tl_name *name_of_key(tl_lower *l, const tl_entry *entry) {
  char text[32];
  if (entry->key != NULL)
    return entry->key;
  const tl_ast *ast = entry->computed;
  tl_slot value;
  if (!scalar_literal(l, ast, &value) || !tl_key_is_plain(value))
    return NULL;
  int length = snprintf(text, sizeof text, "\xff%s",
                        tl_key_text(value, (char[TL_KEY_TEXT]){0}));
  return tl_names_get(l->b->names, text, (size_t)length);
}

// Reports keys that a record has twice.
static void check_repeated(tl_lower *l, const tl_ast_record *record) {
  l->b->record++;
  for (uint32_t i = 0; i < record->count; i++) {
    const tl_entry *entry = &record->entries[i];
    const tl_name *name = name_of_key(l, entry);
    bool is_repeated = name != NULL && name->notes->record == l->b->record;
    if (name != NULL)
      name->notes->record = l->b->record;
    if (!is_repeated)
      continue;
    bool is_field = entry->key != NULL;
    tl_diagnose(l->b->diagnostics, TALLY_ERR_SYNTAX, entry->key_span,
                "the record has the %s %s twice", is_field ? "field" : "key",
                is_field ? name->text : name->text + 1);
  }
}

// The fields up to the first with a computed key are made at once; the others
// are set one by one.
int32_t tl_lower_record(tl_lower *l, tl_ast *ast, int32_t want) {
  uint32_t count = ast->record.count, at_once = 0;
  const tl_entry *entries = ast->record.entries;
  tl_ast **values = TL_ARENA_ARRAY(l->b->arena, tl_ast *, count + 1);
  const tl_name **names =
      TL_ARENA_ARRAY(l->b->arena, const tl_name *, count + 1);
  if (values == NULL || names == NULL)
    return tl_into(l, want);
  check_repeated(l, &ast->record);
  for (; at_once < count && at_once < WINDOW_MAX; at_once++) {
    // Here evaluation order ends the window: the key comes before its value.
    if (entries[at_once].key == NULL)
      break;
    values[at_once] = entries[at_once].value;
    names[at_once] = entries[at_once].key;
  }
  uint32_t keys = tl_unit_keys(l->b, names, at_once);
  if (count == at_once)
    return tl_lower_window(l, TL_BC_RECORD, values, count, keys, want,
                           ast->span);
  // The rest is set one by one in the record's own slot.
  int32_t record =
      tl_lower_window(l, TL_BC_RECORD, values, at_once, keys, -1, ast->span);
  for (uint32_t i = at_once; i < count; i++) {
    int32_t mark = l->top;
    const tl_name *name = entries[i].key;
    if (name == NULL) {
      tl_lower_entry(l, record, entries[i].computed, entries[i].value);
    } else {
      int32_t value = tl_lower_expr(l, entries[i].value, -1);
      int32_t key = tl_temp(l);
      tl_load_string(l, key, name->text, name->nbytes, entries[i].value->span);
      tl_emit_entry(l, record, key, value, entries[i].value->span);
    }
    l->top = mark;
  }
  return tl_lower_into(l, want, record, ast->span);
}

// --- Strings ----------------------------------------------------------------

// One part of a string with holes, as a string in [slot]. A format that has
// holes itself makes it a call of format, else it is FORMAT's extra.
static void lower_part(tl_lower *l, tl_part *part, int32_t slot) {
  if (part->text != NULL) {
    tl_load_string(l, slot, part->text, part->nbytes, part->span);
    return;
  }
  int32_t mark = l->top;
  // format(value, spec): the format is known only when the script runs.
  if (part->spec != NULL) {
    tl_ast *items[2] = {part->value, part->spec};
    const tl_builtin *format =
        tl_builtin_find(l->b->vm->library, NULL, "format", 6);
    uint32_t k = tl_add_constant(l, tl_builtin_slot(format));
    tl_lower_window(l, TL_BC_CALLB, items, 2, k, slot, part->value->span);
    l->top = mark;
    return;
  }
  int32_t value = tl_lower_expr(l, part->value, -1);
  tl_emit1x(l, TL_BC_FORMAT, slot, value,
            tl_unit_text(l->b, part->format == NULL ? "" : part->format,
                         part->format_nbytes),
            part->value->span);
  l->top = mark;
}

// Joins parts; more than a window holds are joined in groups first.
static int32_t join_parts(tl_lower *l, tl_part *parts, uint32_t count,
                          int32_t want, tl_span span) {
  uint32_t each = 1;
  // Groups of 200, of 40 000 … parts, until one window holds the groups.
  while (each * WINDOW_MAX < count) each *= WINDOW_MAX;
  uint32_t groups = (count + each - 1) / each;
  int32_t base = tl_temp(l);
  int32_t first = tl_temps(l, (int32_t)groups);
  for (uint32_t i = 0; i < groups; i++) {
    uint32_t left = count - i * each, n = left < each ? left : each;
    if (n == 1)
      lower_part(l, &parts[i * each], count == 1 ? base : first + (int32_t)i);
    else
      join_parts(l, &parts[i * each], n, first + (int32_t)i, span);
  }
  // A part alone is a string already.
  if (count > 1)
    tl_emit_window(l, TL_BC_JOIN, base, NULL, (int32_t)groups, 0, span);
  l->top = base + 1;
  return tl_lower_into(l, want, base, span);
}

int32_t tl_lower_interpolated(tl_lower *l, tl_ast *ast, int32_t want) {
  return join_parts(l, ast->interpolated.parts, ast->interpolated.count, want,
                    ast->span);
}

// #:peak: a call that begins the promise.
void tl_lower_peak(tl_lower *l, tl_ast *ast) {
  const tl_builtin *begin =
      tl_builtin_find(l->b->vm->library, "_arguments", "peak", 4);
  l->b->promises = true;
  tl_lower_window(l, TL_BC_CALLB, ast->items.items, ast->items.count,
                  tl_add_constant(l, tl_builtin_slot(begin)), tl_temp(l),
                  ast->span);
}
