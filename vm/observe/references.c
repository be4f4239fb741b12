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
#include <stdio.h>

#include "vm/values/list.h"
#include "vm/values/record.h"
#include "vm/observe/reach.h"

// "y in the script, line 3, slot 1" of a root, "[0] of a list of 3" of an item.
void tl_spell_owner(const tl_reference *r, char *out, size_t size) {
  if (r->from == NULL) {
    snprintf(out, size, "%s", r->name);
    return;
  }
  char type[TL_DESCRIBE];
  snprintf(out, size, "%s of a %s", r->name,
           tl_describe(tl_lend_object(r->from), type, sizeof type));
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
           has_name ? "fn " : "", function, tl_line_at(p, tl_frame_pc(f)),
           slot);
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
// are its callee's; a function of the library that calls back has no frame, and
// they stay where they are until it ends or takes them.
static bool visit_frame(const tl_vm *vm, const tl_frame *f,
                        tl_reference_visit *visit, void *context) {
  const tl_prototype *p = f->function;
  uint32_t pc = tl_frame_pc(f);
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
  tl_decoded ins;
  tl_decode(p, pc, &ins);
  if (f == vm->frame || ins.op != TL_BC_CALLB)
    return true;
  for (uint32_t i = 0; i < ins.window_count; i++)
    if (!visit_slot(f, ins.window + i, false, visit, context))
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
    if (f->function != NULL && !visit_frame(vm, f, visit, context))
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

// A look into an object.
typedef struct inside {
  tl_slot from;
  tl_reference_visit *visit;
  void *context;
} inside;

// Names what an object refers to, by its number there.
static void name_part(tl_slot from, int64_t i, char *out, size_t size) {
  char text[TL_KEY_TEXT];
  switch (from.object->kind) {
    case TL_KIND_RECORD: {
      tl_slot key = tl_key_slot(from.record->fields[i].key);
      if (tl_is_string(key))
        snprintf(out, size, ".%.80s", key.string->text);
      else
        snprintf(out, size, "[%.80s]", tl_key_text(key, text));
      return;
    }
    case TL_KIND_CLOSURE: {
      const tl_closure *c = from.pointer;
      const tl_prototype *p = c->member_count > 0 ? c->members[0] : NULL;
      bool named = p != NULL && p->capture_names != NULL;
      snprintf(out, size, "captured %.80s",
               named ? p->capture_names[i]->text : "a value");
      return;
    }
    case TL_KIND_NESTED:
      snprintf(out, size, "%s%.80s",
               tl_nested_form(from.nested) == TL_FORM_COLUMNS ? "." : "",
               tl_part_name(from.nested, i));
      return;
    case TL_KIND_HANDLE:
      snprintf(out, size, "value %lld", (long long)i);
      return;
    default:
      snprintf(out, size, "[%lld]", (long long)i);
  }
}

// One reference inside the object. A view that does not count its block borrows
// it: another slot holds that.
static bool visit_part(void *context, int64_t index, tl_slot to) {
  const inside *in = context;
  const tl_object *from = in->from.object;
  bool is_view = from->kind == TL_KIND_ARRAY && tl_is_view(in->from.array);
  if (!tl_is_counted(to) || (is_view && (from->flags & TL_HOLD) == 0))
    return true;
  // An item that the container borrows is counted elsewhere.
  bool borrowed =
      !is_view && (from->flags & TL_BORROWED) != 0 && !tl_is_owned(to);
  tl_reference r = {.kind = TL_REFERENCE_ITEM,
                    .count = borrowed ? TL_COUNT_VIRTUAL : TL_COUNT_IMMEDIATE,
                    .from = from,
                    .to = to};
  if (is_view)
    snprintf(r.name, sizeof r.name, "its block");
  else
    name_part(in->from, index, r.name, sizeof r.name);
  return in->visit(in->context, &r);
}

// A walk over what a resource holds.
typedef struct holding {
  inside in;
  int64_t count;
  bool stopped;
} holding;

// The hook cannot be stopped either. Values are numbered in its order, which is
// all that is known of them.
static void visit_held(void *context, tl_slot value) {
  holding *h = context;
  int64_t at = h->count++;
  h->stopped = h->stopped || !visit_part(&h->in, at, value);
}

// What a host's object holds, if its type says it.
// The type's visit hook, by way of the host's table; a resource without one has
// no VM and shows nothing.
static bool visit_resource(inside in) {
  const tl_resource *resource = in.from.pointer;
  holding h = {.in = in};
  if (resource->vm != NULL)
    resource->vm->host->each_held(resource, visit_held, &h);
  return !h.stopped;
}

// Each reference has a name that says where in the object it is: "[0]", ".key",
// "captured f", "target", "value 0".
bool tl_each_item(tl_slot s, tl_reference_visit *visit, void *context) {
  inside in = {s, visit, context};
  if (!tl_is_counted(s))
    return true;
  return s.object->kind == TL_KIND_HANDLE ? visit_resource(in)
                                          : tl_each_part(s, visit_part, &in);
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
} search;

// Passes a reference on, and lets its object wait when it is met first.
static bool see(void *context, const tl_reference *r) {
  search *s = context;
  tl_reference seen = *r;
  if (s->polls && !tl_poll_items(s->reach.vm, TL_REACH_WORK))
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
