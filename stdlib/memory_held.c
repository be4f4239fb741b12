// The module memory: what values keep alive, and views that keep more than they
// show.

#include <stdlib.h>

#include "stdlib/arguments.h"
#include "stdlib/families.h"
#include "stdlib/text.h"
#include "vm/values/list.h"
#include "vm/nested/nested.h"
#include "vm/nested/nested_join.h"
#include "vm/values/record.h"
#include "vm/memory/references.h"
#include "vm/values/string_item.h"

static bool fail_look(tl_vm *vm, const char *function) {
  return tl_fail(vm, TALLY_ERR_MEMORY,
                 "memory.%s: no memory to look at all values", function);
}

// --- Objects, each once -----------------------------------------------------

typedef struct objects {
  tl_vm *vm;
  const tl_object **found;
  size_t count, room;
  bool ok;
} objects;

static void add_object(objects *o, const tl_object *object) {
  if (o->count == o->room) {
    size_t room = o->room != 0 ? 2 * o->room : 256;
    void *more = tl_realloc(o->vm, o->found, o->room * sizeof *o->found,
                            room * sizeof *o->found, "a list of objects");
    o->ok = more != NULL;
    if (!o->ok)
      return;
    o->found = more;
    o->room = room;
  }
  o->found[o->count++] = object;
}

static bool add_value(void *context, const tl_reference *r);

static void add_strings(objects *o, const tl_array *a) {
  const tl_string_item *items = tl_string_items(a);
  for (int64_t i = 0; o->ok && i < a->size; i++) {
    const tl_string *string = tl_string_item_object(&items[i]);
    if (string != NULL && (string->head.flags & TL_IMMORTAL) == 0)
      add_object(o, &string->head);
  }
}

static void add_all(objects *o, tl_slot s) {
  if (!o->ok || !tl_is_counted(s))
    return;
  add_object(o, s.object);
  if (tl_is_array(s)) {
    const tl_array *owner = tl_array_owner(s.array);
    if (owner != s.array)
      add_object(o, &owner->head);
    if (tl_array_dtype(owner) == TL_STRING)
      add_strings(o, owner);
    return;
  }
  tl_each_item(s, add_value, o);
}

static bool add_value(void *context, const tl_reference *r) {
  objects *o = context;
  add_all(o, r->to);
  return o->ok;
}

static int by_address(const void *a, const void *b) {
  const tl_object *x = *(const tl_object *const *)a;
  const tl_object *y = *(const tl_object *const *)b;
  return (x > y) - (x < y);
}

static uint64_t bytes_of(const tl_object *object) {
  uint64_t nbytes = object->nbytes;
  if (object->kind == TL_KIND_ARRAY && (object->flags & TL_EXTERNAL) != 0)
    nbytes += tl_array_more((const tl_array *)object)->nbytes;
  return nbytes;
}

static bool held(tl_vm *vm, tl_slot *args, tl_slot *out) {
  objects o = {.vm = vm, .ok = true};
  add_all(&o, args[0]);
  uint64_t nbytes = 0;
  if (o.ok && o.count > 0)
    qsort(o.found, o.count, sizeof *o.found, by_address);
  for (size_t i = 0; i < o.count; i++) {
    if (i == 0 || o.found[i] != o.found[i - 1])
      nbytes += bytes_of(o.found[i]);
  }
  if (o.found != NULL)
    tl_free(vm, o.found, o.room * sizeof *o.found);
  *out = tl_weak_int((int64_t)nbytes);
  return o.ok;
}

// --- Views that keep more ---------------------------------------------------

typedef struct retention {
  tl_vm *vm;
  tl_list *list;
  objects views;  // whose blocks may have an owner of their own
  bool ok;
} retention;

static bool is_view(tl_slot s) {
  return tl_is_array(s) && tl_is_view(s.array);
}

static bool note_view(void *context, const tl_reference *r) {
  retention *t = context;
  if (is_view(r->to) && tl_value_shown(r->to) < tl_value_held(r->to))
    add_object(&t->views, r->to.object);
  return t->views.ok;
}

// Whether something other than views refers to a block: then the views keep
// nothing that would not be there.
typedef struct search {
  const tl_array *block;
  bool found;
} search;

static bool look_for(void *context, const tl_reference *r) {
  search *s = context;
  bool from_view = r->from != NULL && r->from->kind == TL_KIND_ARRAY;
  s->found = r->to.object == &s->block->head && !from_view;
  return !s->found;
}

static bool list_view(void *context, const tl_reference *r) {
  retention *t = context;
  if (!is_view(r->to))
    return true;
  bool wanted = false;
  for (size_t i = 0; i < t->views.count && !wanted; i++)
    wanted = t->views.found[i] == r->to.object;
  if (!wanted)
    return true;
  char type[TL_DESCRIBE];
  tl_record *record = tl_record_new(t->vm, 4);
  tl_slot shown = tl_weak_int(tl_value_shown(r->to));
  tl_slot all = tl_weak_int(tl_value_held(r->to));
  t->ok = record != NULL &&
          tl_record_set_text(t->vm, &record, "place", r->name) &&
          tl_record_set_text(t->vm, &record, "type",
                             tl_describe(r->to, type, sizeof type)) &&
          tl_record_set_name(t->vm, &record, "shows", &shown) &&
          tl_record_set_name(t->vm, &record, "holds", &all);
  if (record == NULL)
    return false;
  tl_slot item = tl_own_record(record);
  t->ok = t->ok && tl_list_push(t->vm, &t->list, &item);
  tl_drop(t->vm, item);
  return t->ok;
}

// Leaves out the views whose blocks something else keeps.
static bool drop_harmless(tl_vm *vm, retention *t, bool *complete) {
  size_t kept = 0;
  for (size_t i = 0; i < t->views.count && *complete; i++) {
    const tl_object *view = t->views.found[i];
    search s = {tl_array_owner((const tl_array *)view), false};
    tl_each_reference(vm, look_for, &s, complete);
    if (!s.found)
      t->views.found[kept++] = view;
  }
  t->views.count = kept;
  return *complete;
}

static bool retained(tl_vm *vm, tl_slot *args, tl_slot *out) {
  (void)args;
  bool complete = true;
  retention t = {
      .vm = vm, .list = tl_list_new(vm, 4), .views = {.vm = vm, .ok = true}};
  t.ok = t.list != NULL;
  if (t.ok) {
    tl_each_reference(vm, note_view, &t, &complete);
    t.ok = t.views.ok && complete && drop_harmless(vm, &t, &complete);
    if (t.ok)
      tl_each_reference(vm, list_view, &t, &complete);
  }
  if (!complete && !tl_failed(vm))
    t.ok = fail_look(vm, "retained");
  if (t.views.found != NULL)
    tl_free(vm, t.views.found, t.views.room * sizeof *t.views.found);
  if (t.ok)
    *out = tl_own_list(t.list);
  else if (t.list != NULL)
    tl_drop(vm, tl_own_list(t.list));
  return t.ok;
}

// --- The tables -------------------------------------------------------------

const tl_builtin tl_memory_held[] = {
    {"held", "x", held, TL_EFFECT | TL_ANY_FORM,
     TL_DOC(
         "The bytes of all that x keeps alive, each object once: of a view its\n"
         "block, of an array of strings the strings, of a list its items; 0 of a\n"
         "number or a constant of the program. Takes any value of any dtype; lack\n"
         "of memory is its only error (kind memory).\n"
         "    memory.held(zeros(1000)) > 8000    # true\n")},
    {"retained", "", retained, TL_EFFECT,
     TL_DOC(
         "The views that keep a block alive of which they show a part, and which\n"
         "nothing else refers to: a list of records of place, type, shows and holds\n"
         "(both in bytes, int). pack(x) gives a value that holds no more than it\n"
         "shows. Lack of memory is its only error (kind memory).\n"
         "    len(memory.retained())\n")},
    {NULL, NULL, NULL, 0, NULL},
};

static bool is_packed(tl_slot s) {
  if (tl_is_array(s))
    return !tl_is_view(s.array);
  if (tl_is_form(s, TL_FORM_RAGGED) && tl_value_shown(s) < tl_value_nbytes(s))
    return false;
  for (int64_t i = 0; i < s.nested->count; i++) {
    if (!is_packed(s.nested->parts[i]))
      return false;
  }
  return true;
}

static bool pack(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot x = args[0];
  bool array = tl_is_array(x), nested = tl_is_nested(x);
  if ((!array && !nested) || is_packed(x)) {
    *out = tl_pass_on(&args[0]);
    return true;
  }
  if (nested)
    return tl_nested_copy(vm, x, out);
  tl_array *own = tl_array_copy(vm, x.array);
  if (own != NULL)
    *out = tl_own_array(own);
  return own != NULL;
}

const tl_builtin tl_pack_builtins[] = {
    {"pack", "x", pack, TL_RETURNS | TL_ANY_FORM,
     TL_DOC(
         "x in memory of its own that holds no more than x shows: a view is copied,\n"
         "so that the block that it is a part of can go (memory.retained lists such\n"
         "views); what is no view is given back as it is. Any value, any dtype;\n"
         "never fails but for lack of memory.\n"
         "    pack(zeros(1000)[:3])    # [0.0, 0.0, 0.0]\n")},
    {NULL, NULL, NULL, 0, NULL},
};
