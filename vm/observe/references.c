// Who refers to what: the walk from roots through objects. See references.h.
// Each reference is given a name while it is visited; nothing is stored but
// which objects were met.
//
//     tl_each_root  ─▶ frames, variables, what the VM keeps, the host's handles
//     tl_each_item  ─▶ of one object: what it refers to, by its kind
//     tl_each_reference = both, until nothing waits, and then the resources
//                         that nothing led to
//
// What a resource holds is the host's to say, by its visit hook. The handles
// that it says so of are no roots: a value that only a resource holds is found
// through that, or not at all, and then it is in a circle.
#include "vm/observe/references.h"
#include "vm/host.h"
#include "vm/objects.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "vm/array/array.h"
#include "vm/array/describe.h"
#include "vm/values/list.h"
#include "vm/nested/nested.h"
#include "vm/values/record.h"
#include "vm/observe/reach.h"
#include "vm/array/string_item.h"

// Builds a slot of the owner, so that its type can be described.
// "y in the script, line 3, slot 1" of a root, "[0] of a list of 3" of an item.
void tl_spell_owner(const tl_reference *r, char *out, size_t size) {
  if (r->from == NULL) {
    snprintf(out, size, "%s", r->name);
    return;
  }
  char type[TL_DESCRIBE];
  tl_slot from = {.tag = TL_TAG(TL_CLASS_OBJ, r->from->kind),
                  .object = (tl_object *)(uintptr_t)r->from};
  if (r->from->kind == TL_KIND_ARRAY)
    from.tag = tl_array_tag(from.array);
  else if (r->from->kind == TL_KIND_LIST)
    from.tag = TL_TAG_LIST;
  else if (r->from->kind == TL_KIND_CLOSURE)
    from.tag = TL_TAG(TL_CLASS_FUNC, r->from->kind);
  snprintf(out, size, "%s of a %s", r->name,
           tl_describe(from, type, sizeof type));
}

// --- Roots ------------------------------------------------------------------

// A temporary, which the source does not name, is called as in listings:
//
//     "y in fn f, line 3, slot 2"    "t5 in the script, line 1, slot 5"
void tl_name_slot(const tl_frame *f, uint32_t slot, tl_reference *r) {
  const tl_prototype *p = f->function;
  char name[40];
  if (slot < p->named_count && p->slot_names[slot] != NULL)
    snprintf(name, sizeof name, "%s", p->slot_names[slot]->text);
  else
    snprintf(name, sizeof name, "t%" PRIu32, slot);
  bool has_name = p->index > 0 && p->name->length > 0;
  const char *function = has_name        ? p->name->text
                         : p->index == 0 ? "the script"
                                         : "a function";
  snprintf(r->name, sizeof r->name,
           "%s in %s%.40s, line %" PRIu32 ", slot %" PRIu32, name,
           has_name ? "fn " : "", function,
           tl_line_at(p, (uint32_t)(f->pc - p->code)), slot);
}

// A slot of a frame that owns something counted.
// Constants of the program and numbers have no count, so that nobody needs to
// know who has them.
static bool visit_slot(const tl_frame *f, uint32_t slot, bool either,
                       tl_reference_visit *visit, void *context) {
  tl_slot value = f->base[slot];
  // A borrow is no reference of its own.
  if (!tl_is_owned(value) || !tl_is_counted(value))
    return true;
  tl_reference r = {.kind = TL_REFERENCE_STACK,
                    .count = either ? TL_COUNT_EMBEDDED : TL_COUNT_VIRTUAL,
                    .to = value,
                    .at = &f->base[slot]};
  tl_name_slot(f, slot, &r);
  return visit(context, &r);
}

// What the frame owns while its instruction runs: what would be dropped if that
// failed, and what a handler would keep. The arguments of the call under way
// are its callee's.
static bool visit_frame(const tl_frame *f, tl_reference_visit *visit,
                        void *context) {
  const tl_prototype *p = f->function;
  uint32_t pc = (uint32_t)(f->pc - p->code);
  for (uint32_t i = 0; i < p->range_count; i++) {
    const tl_unwind_range *r = &p->ranges[i];
    if (r->start <= pc && pc < r->end &&
        !visit_slot(f, r->slot, r->either, visit, context))
      return false;
  }
  const tl_handler *h = tl_handler_at(p, pc);
  for (uint16_t i = 0; h != NULL && i < h->kept_count; i++)
    if (!visit_slot(f, h->kept[i], true, visit, context))
      return false;
  return true;
}

// A visit of the host's handles, which cannot be stopped by itself.
typedef struct handles {
  tl_reference_visit *visit;
  void *context;
  bool stopped;
} handles;

// The host's table of handles has no way to stop early, so after a stop the
// rest is passed over.
static void visit_handle(void *context, tl_slot value) {
  handles *h = context;
  if (h->stopped || !tl_is_counted(value))
    return;
  tl_reference r = {.kind = TL_REFERENCE_HOST,
                    .count = TL_COUNT_IMMEDIATE,
                    .to = value,
                    .name = "a handle of the host's"};
  h->stopped = !h->visit(h->context, &r);
}

// What the VM itself keeps.
// Nothing of constants of the program, which have no count.
static bool visit_kept(tl_slot value, const char *name,
                       tl_reference_visit *visit, void *context) {
  tl_reference r = {
      .kind = TL_REFERENCE_VARIABLE, .count = TL_COUNT_IMMEDIATE, .to = value};
  snprintf(r.name, sizeof r.name, "%s", name);
  return !tl_is_counted(value) || visit(context, &r);
}

// Values of variables that were assigned while calls under way could borrow
// them.
static bool visit_waiting(const tl_list *waiting, tl_reference_visit *visit,
                          void *context) {
  bool ok = true;
  for (int64_t i = 0; ok && waiting != NULL && i < waiting->length; i++)
    ok = visit_kept(waiting->items[i], "a call that a variable lent it to",
                    visit, context);
  return ok;
}

// Frames first, then variables, what the VM keeps, then handles.
//
//  for i in x { f(x[i]) }     x: a slot of the script's frame
//  v = [1, 2]                 v: a variable of the module
//  tally_get(vm, "v", &h)     h: a handle of the host's
//
bool tl_each_root(tl_vm *vm, tl_reference_visit *visit, void *context) {
  for (const tl_frame *f = vm->frames; f <= vm->frame; f++)
    if (f->function != NULL && !visit_frame(f, visit, context))
      return false;
  for (const tl_module *m = vm->modules; m != NULL; m = m->next) {
    for (uint32_t i = 0; i < m->variable_count; i++) {
      tl_reference r = {.kind = TL_REFERENCE_VARIABLE,
                        .count = TL_COUNT_IMMEDIATE,
                        .to = m->variables[i]};
      // Numbers and immortal values have no count to be part of.
      if (!tl_is_counted(r.to))
        continue;
      snprintf(r.name, sizeof r.name, "%s of module %.60s",
               m->variable_names[i]->text, m->name->text);
      if (!visit(context, &r))
        return false;
    }
  }
  if (!visit_waiting(vm->waiting, visit, context) ||
      !visit_kept(vm->caught, "the error under way", visit, context) ||
      !visit_kept(vm->args, "os.args", visit, context))
    return false;
  handles h = {visit, context, false};
  vm->host->each_outer(vm, visit_handle, &h);
  return !h.stopped;
}

// --- Inside objects ---------------------------------------------------------

// One reference inside an object, named by a format.
__attribute__((format(printf, 5, 6))) static bool visit_item(
    tl_slot from, tl_slot to, tl_reference_visit *visit, void *context,
    const char *format, ...) {
  if (!tl_is_counted(to))
    return true;
  // An item that the container borrows is counted elsewhere.
  bool borrowed = (from.object->flags & TL_BORROWED) != 0 && !tl_is_owned(to);
  tl_reference r = {.kind = TL_REFERENCE_ITEM,
                    .count = borrowed ? TL_COUNT_VIRTUAL : TL_COUNT_IMMEDIATE,
                    .from = from.object,
                    .to = to};
  va_list args;
  va_start(args, format);
  vsnprintf(r.name, sizeof r.name, format, args);
  va_end(args);
  return visit(context, &r);
}

// A view refers to its block, an array of strings to long texts.
static bool visit_array(tl_slot s, tl_reference_visit *visit, void *context) {
  const tl_array *a = s.array;
  if (tl_is_view(a)) {
    tl_array *owner = tl_array_owner(a);
    tl_slot block = {.tag = tl_array_tag(owner), .array = owner};
    // The view does not count its block: another slot does.
    if ((a->head.flags & TL_HOLD) == 0)
      return true;  // it borrows: another slot holds the block
    return visit_item(s, block, visit, context, "its block");
  }
  if (a->head.dtype != TL_STRING)
    return true;
  const tl_string_item *items = tl_string_items(a);
  for (int64_t i = 0; i < a->size; i++) {
    tl_slot item = {.tag = TL_TAG_STRING,
                    .string = tl_string_item_object(&items[i])};
    if (item.string != NULL &&
        !visit_item(s, item, visit, context, "[%lld]", (long long)i))
      return false;
  }
  return true;
}

// The items of a list or of a library function.
static bool visit_slots(tl_slot s, const tl_slot *slots, uint64_t count,
                        const char *format, tl_reference_visit *visit,
                        void *context) {
  for (uint64_t i = 0; i < count; i++) {
    char name[40];
    snprintf(name, sizeof name, "%s[%" PRIu64 "]", format, i);
    if (!visit_item(s, slots[i], visit, context, "%s", name))
      return false;
  }
  return true;
}

// What a closure has captured.
static bool visit_captures(tl_slot s, tl_reference_visit *visit,
                           void *context) {
  const tl_closure *c = s.pointer;
  const tl_prototype *p = c->member_count > 0 ? c->members[0] : NULL;
  for (uint32_t i = 0; i < c->capture_count; i++) {
    const char *name = p != NULL && p->capture_names != NULL
                           ? p->capture_names[i]->text
                           : "a value";
    if (!visit_item(s, c->captures[i], visit, context, "captured %.80s", name))
      return false;
  }
  return true;
}

// The arrays that a nested array consists of.
static bool visit_parts(tl_slot s, tl_reference_visit *visit, void *context) {
  const tl_nested *n = s.nested;
  for (int64_t i = 0; i < n->count; i++) {
    if (!visit_item(s, n->parts[i], visit, context,
                    tl_nested_form(n) == TL_FORM_COLUMNS ? ".%.80s" : "%s",
                    tl_part_name(n, i)))
      return false;
  }
  return true;
}

// The values of a record, named by their keys.
static bool visit_fields(tl_slot s, tl_reference_visit *visit, void *context) {
  for (int64_t i = 0; i < s.record->length; i++) {
    const tl_field *field = &s.record->fields[i];
    const tl_string *name = tl_key_string(field->key);
    char text[TL_KEY_TEXT];
    if (!visit_item(s, field->value, visit, context,
                    name != NULL ? ".%.80s" : "[%.80s]",
                    name != NULL ? name->text
                                 : tl_key_text(tl_key_slot(field->key), text)))
      return false;
  }
  return true;
}

// A walk over what a resource holds.
typedef struct holding {
  tl_slot from;
  tl_reference_visit *visit;
  void *context;
  uint32_t count;
  bool stopped;
} holding;

// The hook cannot be stopped either. Values are numbered in its order, which is
// all that is known of them.
static void visit_held(void *context, tl_slot value) {
  holding *h = context;
  uint32_t at = h->count++;
  h->stopped = h->stopped || !visit_item(h->from, value, h->visit, h->context,
                                         "value %" PRIu32, at);
}

// What a host's object holds, if its type says it.
// The type's visit hook, by way of the host's table; a resource without one has
// no VM and shows nothing.
static bool visit_resource(tl_slot s, tl_reference_visit *visit,
                           void *context) {
  const tl_resource *resource = s.pointer;
  holding h = {.from = s, .visit = visit, .context = context};
  if (resource->vm != NULL)
    resource->vm->host->each_held(resource, visit_held, &h);
  return !h.stopped;
}

// By the object's kind; strings and arrays that own their block refer to
// nothing, unless their items are strings.
// Each reference has a name that says where in the object it is: "[0]", ".key",
// "captured f", "target", "value 0".
bool tl_each_item(tl_slot s, tl_reference_visit *visit, void *context) {
  if (!tl_is_counted(s))
    return true;
  switch (s.object->kind) {
    case TL_KIND_ARRAY:
      return visit_array(s, visit, context);
    case TL_KIND_LIST:
      return visit_slots(s, s.list->items, (uint64_t)s.list->length, "", visit,
                         context);
    case TL_KIND_RECORD:
      return visit_fields(s, visit, context);
    case TL_KIND_CLOSURE:
      return visit_captures(s, visit, context);
    case TL_KIND_NESTED:
      return visit_parts(s, visit, context);
    case TL_KIND_HANDLE:
      return visit_resource(s, visit, context);
    default:
      return true;
  }
}

// --- Circles ----------------------------------------------------------------

// Lets the object of a reference wait.
static bool meet(void *context, const tl_reference *r) {
  tl_reach *reach = context;
  tl_reach_meet(reach, r->to);
  return !reach->failed;
}

// A borrowed slot of it: the walk counts nothing, but asks by slots.
static tl_slot resource_slot(const tl_resource *resource) {
  return (tl_slot){.tag = TL_TAG_HANDLE,
                   .pointer = (void *)(uintptr_t)resource};
}

// A walk of its own from what the resource holds, until that itself is met or
// nothing more waits. So it costs as much as all that the resource leads to.
bool tl_is_in_circle(tl_vm *vm, const tl_resource *resource, bool *complete) {
  tl_reach reach = {.vm = vm};
  tl_slot next = resource_slot(resource);
  do tl_each_item(next, meet, &reach);
  while (!tl_reach_has(&reach, &resource->head) &&
         tl_reach_next(&reach, &next));
  bool found = tl_reach_has(&reach, &resource->head);
  *complete = *complete && !reach.failed;
  tl_reach_end(&reach);
  return found;
}

// --- Everything -------------------------------------------------------------

// The walk over all references.
typedef struct search {
  tl_reach reach;
  tl_reference_visit *visit;
  void *context;
  bool polls;
  uint32_t seen;  // references
} search;

// Passes a reference on, and lets its object wait when it is met first.
static bool see(void *context, const tl_reference *r) {
  search *s = context;
  tl_reference seen = *r;
  if (s->polls && (++s->seen & 4095) == 0 && !tl_poll(s->reach.vm, 4))
    s->reach.failed = true;
  seen.is_first = tl_reach_meet(&s->reach, r->to);
  return !s->reach.failed && s->visit(s->context, &seen);
}

// A resource that nothing led to is in a circle, or a temporary's: what it
// holds is seen in any case. False: stopped.
// After all that has a root: what is still unmet here has none. A resource of a
// call under way may be such without a circle, which is why the circle is
// looked for.
static bool see_unmet(search *s, const tl_resource *resource, bool *complete) {
  tl_slot next = resource_slot(resource);
  if (s->reach.failed || tl_reach_has(&s->reach, &resource->head))
    return !s->reach.failed;
  tl_reference r = {
      .kind = TL_REFERENCE_CIRCLE, .count = TL_COUNT_BORROWED, .to = next};
  snprintf(r.name, sizeof r.name, "a circle through it");
  bool ok = true;
  if (tl_is_in_circle(s->reach.vm, resource, complete))
    ok = see(s, &r);
  else
    ok = tl_each_item(next, see, s);
  while (ok && tl_reach_next(&s->reach, &next)) ok = tl_each_item(next, see, s);
  return ok;
}

// A walk without recursion: objects that were met wait in a list.
bool tl_each_reference(tl_vm *vm, bool polls, tl_reference_visit *visit,
                       void *context, bool *complete) {
  search s = {
      .reach = {.vm = vm}, .visit = visit, .context = context, .polls = polls};
  tl_slot next;
  bool ok = tl_each_root(vm, see, &s), sure = true;
  while (ok && tl_reach_next(&s.reach, &next)) ok = tl_each_item(next, see, &s);
  for (const tl_resource *r = vm->visiting; ok && r != NULL; r = r->older)
    ok = see_unmet(&s, r, &sure);
  tl_reach_end(&s.reach);
  *complete = sure && !s.reach.failed;
  return ok;
}
