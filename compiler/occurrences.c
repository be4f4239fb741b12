// The list of places is put in order when all names are resolved: only then is
// it known which parameter the name of an argument means, as its function may
// stand further below.

#include "compiler/occurrences.h"

#include <stdlib.h>

#include "compiler/scope.h"
#include "vm/values/record.h"

// Only appends: what is known of a variable grows until the whole text is
// resolved, so nothing is asked of it here.
static void add(tl_occurrences *list, tl_occurrence item) {
  if (list == NULL || !tl_arena_more(list->arena, &list->items, &list->capacity,
                                     list->count, sizeof *list->items))
    return;
  list->items[list->count++] = item;
}

void tl_occurs(tl_occurrences *list, tl_occurrence_role role,
               tl_variable *variable, const tl_name *name, tl_span span) {
  add(list, (tl_occurrence){role, variable, name, NULL, span});
}

void tl_occurs_as_argument(tl_occurrences *list, tl_variable *variable,
                           const tl_name *name, const tl_name *of,
                           tl_span span) {
  add(list, (tl_occurrence){TL_OCCURS_AS_ARGUMENT, variable, name, of, span});
}

// By place; of two notes of one place the one that writes comes first, and is
// the one that counts: x += 1 is noted for both.
static int compare(const void *left, const void *right) {
  const tl_occurrence *a = left, *b = right;
  if (a->span.begin != b->span.begin)
    return a->span.begin < b->span.begin ? -1 : 1;
  return (int)a->role - (int)b->role;
}

// The scope of the function that the variable is bound to once, by a
// definition; NULL: there is none.
static tl_scope *function_scope(const tl_variable *v) {
  return v->definition == NULL || v->assigns != 1
             ? NULL
             : v->definition->define.function->function.scope;
}

// Functions of the module give their names to their parameters.
static void name_scopes(tl_occurrences *list) {
  for (uint32_t i = 0; i < list->count; i++) {
    const tl_variable *v = list->items[i].variable;
    tl_scope *scope =
        v->scope->kind == TL_SCOPE_MODULE ? function_scope(v) : NULL;
    if (scope != NULL)
      scope->of = v->name;
  }
}

// The names of arguments become reads of parameters, where the function is
// known: bound once, by a definition. They stay where it is another file's.
// Others are dropped.
static void resolve_arguments(tl_occurrences *list) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    tl_occurrence item = list->items[i];
    if (item.role == TL_OCCURS_AS_ARGUMENT) {
      const tl_scope *scope = function_scope(item.variable);
      tl_variable *param =
          scope == NULL ? NULL : tl_scope_lookup(scope, item.name);
      if (param != NULL && param->is_param) {
        item.role = TL_OCCURS_READ;
        item.variable = param;
      } else if (item.variable->file == NULL) {
        continue;
      }
    }
    list->items[kept++] = item;
  }
  list->count = kept;
}

// What tally_resolve_source calls the role. Whatever a variable that was
// imported by its name does, it is the other file's first of all: that wins.
static const char *role_of(const tl_occurrence *item) {
  const tl_ast_import *file = item->variable->file;
  if (item->role == TL_OCCURS_AS_MEMBER)
    return "member";
  if (item->role == TL_OCCURS_AS_ARGUMENT)
    return "argument";
  if (file != NULL && file->count > 0)
    return "import";
  return item->role == TL_OCCURS_WRITTEN ? "write" : "read";
}

// Adds the record of one place to *out, which may move. The first place of a
// variable is its home, which is noted in the variable, since many others
// follow. False after tl_fail.
static bool add_place(tl_vm *vm, tl_list **out, const tl_occurrence *item) {
  const tl_ast_import *file = item->variable->file;
  bool is_member =
      item->role == TL_OCCURS_AS_MEMBER || item->role == TL_OCCURS_AS_ARGUMENT;
  const tl_name *of =
      item->variable->is_param ? item->variable->scope->of : item->of;
  tl_record *record = tl_record_new(vm, 7);
  tl_slot value;
  tl_record_put_int(vm, &record, "begin", item->span.begin);
  tl_record_put_int(vm, &record, "end", item->span.end);
  if (!is_member && item->variable->home == 0)
    item->variable->home = 1 + item->span.begin;
  tl_record_put_int(vm, &record, "home",
                    is_member ? item->span.begin : item->variable->home - 1);
  tl_record_put_text(vm, &record, "role", role_of(item));
  tl_record_put_text(
      vm, &record, "file",
      file != NULL && (is_member || file->count > 0) ? file->path : "");
  tl_record_put_text(vm, &record, "of", of == NULL ? "" : of->text);
  tl_record_put(
      vm, &record, "is_global",
      tl_bool(!is_member && item->variable->scope->kind == TL_SCOPE_MODULE));
  return tl_record_put_end(record, &value) && tl_list_push_own(vm, out, value);
}

// The list is sorted in its place, so that this is done once. Two notes of one
// place stand side by side then, and the second is passed over.
tl_list *tl_occurrences_list(tl_vm *vm, tl_occurrences *list) {
  if (list->arena->failed)
    return NULL;
  name_scopes(list);
  resolve_arguments(list);
  if (list->count > 0)
    qsort(list->items, list->count, sizeof *list->items, compare);
  tl_list *out = tl_list_new(vm, list->count);
  for (uint32_t i = 0; i < list->count && out != NULL; i++) {
    const tl_occurrence *item = &list->items[i];
    if (i > 0 && item->span.begin == list->items[i - 1].span.begin)
      continue;
    if (!tl_poll_at(vm, i) || !add_place(vm, &out, item))
      break;
  }
  return out;
}
