// The list of places is put in order when all names are resolved: only then is
// it known which parameter the name of an argument means, as its function may
// stand further below.

#include "compiler/occurrences.h"

#include <stdlib.h>

#include "compiler/scope.h"
#include "vm/poll.h"
#include "vm/values/record.h"

// Only appends: what is known of a variable grows until the whole text is
// resolved, so nothing is asked of it here.
void tl_occurs(tl_occurrences *list, tl_occurrence_role role,
               tl_variable *variable, const tl_name *name, tl_span span) {
  if (list == NULL || !tl_arena_more(list->arena, &list->items, &list->capacity,
                                     list->count, sizeof *list->items))
    return;
  list->items[list->count++] = (tl_occurrence){role, variable, name, span};
}

// By place; of two notes of one place the one that writes comes first, and is
// the one that counts: x += 1 is noted for both.
static int compare(const void *left, const void *right) {
  const tl_occurrence *a = left, *b = right;
  if (a->span.begin != b->span.begin)
    return a->span.begin < b->span.begin ? -1 : 1;
  return (int)a->role - (int)b->role;
}

// The names of arguments become reads of parameters, where the function is
// known: bound once, by a definition. Others are dropped.
static void resolve_arguments(tl_occurrences *list) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    tl_occurrence item = list->items[i];
    if (item.role == TL_OCCURS_AS_ARGUMENT) {
      const tl_variable *v = item.variable;
      const tl_scope *scope =
          v->definition == NULL || v->assigns != 1
              ? NULL
              : v->definition->define.function->function.scope;
      item.role = TL_OCCURS_READ;
      item.variable = scope == NULL ? NULL : tl_scope_lookup(scope, item.name);
      if (item.variable == NULL || !item.variable->is_param)
        continue;
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
  if (file != NULL && file->count > 0)
    return "import";
  return item->role == TL_OCCURS_WRITTEN ? "write" : "read";
}

// Adds the record of one place to *out, which may move. The first place of a
// variable is its home, which is noted in the variable, since many others
// follow. False after tl_fail.
static bool add_place(tl_vm *vm, tl_list **out, const tl_occurrence *item) {
  const tl_ast_import *file = item->variable->file;
  bool is_member = item->role == TL_OCCURS_AS_MEMBER;
  tl_record *record = tl_record_new(vm, 6);
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
