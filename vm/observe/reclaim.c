// Reclaiming code: units, the prototypes and constants compiled from one text,
// that nothing can reach any longer. Functions are immortal while their unit is
// there, so no count tells; and code is seldom given up and small, so it may
// wait for a moment when only the top level runs. Values never wait.
//
//     roots    frames, variables, the host's handles
//       look        a value: waits to be looked into
//       keep_unit   a function or constant: its unit stays, and what its code
//                   loads
//     sweep    frees the units that were not reached
//
// From the roots everything is followed that may lead to a function or a
// constant. A unit that no value leads to has no reference left anywhere.
#include "vm/bytecode/module.h"
#include "vm/objects.h"

#include <stdlib.h>

#include "vm/values/record.h"
#include "vm/observe/reach.h"
#include "vm/observe/references.h"
#include "vm/observe/watch.h"

// An object that belongs to a unit: a prototype or a constant.
typedef struct belonging {
  const void *object;
  tl_unit *unit;
} belonging;

// The walk, and the objects of units by address.
typedef struct marking {
  tl_reach reach;
  belonging *owned;  // by address
  size_t owned_count;
} marking;

// --- What belongs to units --------------------------------------------------

// The order of the table, for qsort.
static int by_address(const void *a, const void *b) {
  uintptr_t x = (uintptr_t)((const belonging *)a)->object;
  uintptr_t y = (uintptr_t)((const belonging *)b)->object;
  return (x > y) - (x < y);
}

// Lists the objects of a unit into [out], unless that is NULL; returns how
// many.
// Called twice: to count, and to fill a table of that size.
static size_t list_unit(tl_unit *u, belonging *out) {
  size_t count = u->prototype_count;
  for (uint32_t i = 0; out != NULL && i < u->prototype_count; i++)
    out[i] = (belonging){u->prototypes[i], u};
  for (const tl_adopted *a = u->adopted; a != NULL; a = a->next, count++)
    if (out != NULL)
      out[count] = (belonging){a->value.object, u};
  return count;
}

// The same for all units.
static size_t list_units(tl_vm *vm, belonging *out) {
  size_t count = 0;
  for (tl_module *m = vm->modules; m != NULL; m = m->next)
    for (tl_unit *u = m->units; u != NULL; u = u->next)
      count += list_unit(u, out == NULL ? NULL : out + count);
  return count;
}

// The unit that the object belongs to; NULL.
// By a binary search of the sorted table: each object that is met is asked for
// once.
static tl_unit *unit_of(const marking *m, const void *object) {
  const belonging wanted = {.object = object};
  const belonging *found =
      bsearch(&wanted, m->owned, m->owned_count, sizeof wanted, by_address);
  return found == NULL ? NULL : found->unit;
}

// --- Marking ----------------------------------------------------------------

static void look(void *context, tl_slot s);

// The unit stays, and so does what its code may load.
// One function that is reached keeps its whole unit: code of a unit is freed
// together.
// Recursion ends at units that are reached already, of which there are as many
// as files and lines of a prompt.
static void keep_unit(marking *m, tl_unit *unit) {
  if (unit == NULL || unit->is_reached)
    return;
  unit->is_reached = true;
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    const tl_prototype *p = unit->prototypes[i];
    for (uint32_t k = 0; k < p->constant_count; k++) look(m, p->constants[k]);
  }
  for (const tl_adopted *a = unit->adopted; a != NULL; a = a->next)
    look(m, a->value);
}

// Notes an object that a value refers to; its own items come later. Where the
// VM is to stop, the walk fails as it does without memory.
static void look(void *context, tl_slot s) {
  marking *m = context;
  m->reach.failed =
      m->reach.failed || !tl_poll_items(m->reach.vm, TL_REACH_WORK);
  if (!tl_is_heap(s) || s.pointer == NULL)
    return;
  if (!tl_is_array(s) && tl_dtype_of(s) == TL_KIND_FUNCTION) {
    keep_unit(m, ((const tl_prototype *)s.pointer)->unit);
    return;
  }
  int kind = tl_is_array(s) ? TL_KIND_ARRAY : tl_dtype_of(s);
  if (kind != TL_KIND_BUILTIN && kind != TL_KIND_MODULE &&
      kind != TL_KIND_TYPE && tl_reach_meet(&m->reach, s))
    keep_unit(m, unit_of(m, s.pointer));
}

// Each of several slots, as look.
static void look_all(marking *m, const tl_slot *slots, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) look(m, slots[i]);
}

// A closure leads to the code of all members of its group, since any of them
// may call any other.
static void look_into_closure(marking *m, const tl_closure *c) {
  for (uint32_t i = 0; i < c->member_count; i++)
    keep_unit(m, c->members[i]->unit);
  look_all(m, c->captures, c->capture_count);
}

// Looks at one of the values that an object refers to.
static bool look_at_part(void *context, int64_t index, tl_slot to) {
  (void)index;
  look(context, to);
  return true;
}

// Looks at everything that an object refers to.
static void look_into(marking *m, tl_slot s) {
  if (s.object->kind == TL_KIND_CLOSURE)
    look_into_closure(m, s.pointer);
  else
    tl_each_part(s, look_at_part, m);
  for (int64_t i = 0; s.object->kind == TL_KIND_RECORD && i < s.record->length;
       i++)
    look(m, tl_key_counted(s.record->fields[i].key));
}

// --- Roots ------------------------------------------------------------------

// A slot may be dead and hold an old pointer. So only objects of units are
// recognised, by their address; what the slot owns is a root of its own.
static void look_at_frame(marking *m, const tl_frame *f) {
  keep_unit(m, f->function->unit);
  if (f->closure != NULL)
    look_into_closure(m, f->closure);
  for (uint32_t i = 0; i < f->function->slot_count; i++)
    if (tl_is_heap(f->base[i]))
      keep_unit(m, unit_of(m, f->base[i].pointer));
}

// What refers to a counted value from outside of objects.
static bool look_at_reference(void *context, const tl_reference *r) {
  look(context, r->to);
  return true;
}

// All that is not inside an object: functions, which nobody counts, and handles
// that a host's objects hold are no references there.
static void look_at_roots(marking *m) {
  tl_vm *vm = m->reach.vm;
  for (const tl_frame *f = vm->frames; f <= vm->frame; f++)
    if (f->function != NULL)
      look_at_frame(m, f);
  for (const tl_module *o = vm->modules; o != NULL; o = o->next)
    look_all(m, o->variables, o->variable_count);
  tl_each_root(vm, look_at_reference, m);
  vm->host->each_handle(vm, look, m);
  look(m, vm->grown);
}

// --- The whole --------------------------------------------------------------

// Whether a script's own code alone is under way: values that built-ins and
// hosts have in C variables are not seen.
static bool at_top(const tl_vm *vm) {
  if (vm->frame < vm->frames)
    return true;
  int count = 0;
  for (const tl_frame *f = vm->frames; f <= vm->frame; f++)
    count += f->function != NULL;
  return count == 1 && vm->frame->function != NULL &&
         vm->frame->function->index == 0 && vm->native_depth <= 1 &&
         vm->host_depth == 0;
}

// Notes of a run refer to code by address, and an error to its file: while
// there are such, nothing is freed. A timeline that has ended has names alone.
//
//  while anything is recorded   no
//  notes of a run that ended    no: addresses of instructions
//  a timeline, a profile        yes: names and numbers alone
//
static bool may_reclaim(const tl_vm *vm) {
  bool noted = vm->watched != NULL && vm->watched->notes != NULL;
  return vm->watch == NULL && !noted && !vm->error.set && at_top(vm);
}

// Frees the units that were not reached.
static void sweep(tl_vm *vm) {
  for (tl_module *m = vm->modules; m != NULL; m = m->next)
    for (tl_unit *u = m->units, *next; u != NULL; u = next) {
      next = u->next;
      if (!u->is_reached)
        tl_unit_free(vm, u);
    }
}

// If memory is short on the way, or the VM is stopped, some objects may not
// have been met, and nothing is freed.
size_t tl_reclaim(tl_vm *vm) {
  vm->wants_reclaim = !may_reclaim(vm);
  if (vm->wants_reclaim)
    return 0;
  marking m = {.reach = {.vm = vm}};
  tl_slot next;
  for (tl_module *o = vm->modules; o != NULL; o = o->next)
    for (tl_unit *u = o->units; u != NULL; u = u->next) u->is_reached = false;
  size_t room = list_units(vm, NULL) * sizeof *m.owned;
  m.owned = room == 0 ? NULL : tl_reach_resize(&m.reach, NULL, 0, room);
  if (m.owned == NULL)
    return 0;
  m.owned_count = list_units(vm, m.owned);
  qsort(m.owned, m.owned_count, sizeof *m.owned, by_address);
  look_at_roots(&m);
  while (tl_reach_next(&m.reach, &next)) look_into(&m, next);
  uint64_t before = vm->stats.live_bytes;
  if (!m.reach.failed)  // else what was not met may be in use
    sweep(vm);
  tl_reach_resize(&m.reach, m.owned, room, 0);
  tl_reach_end(&m.reach);
  vm->units_kept = vm->unit_count;
  return (size_t)(before - vm->stats.live_bytes);
}

// Only between calls of the host, and not more often than the number of units
// doubles.
bool tl_reclaim_at_times(tl_vm *vm) {
  enum { FEW = 64 };
  bool many = vm->unit_count >= 2 * vm->units_kept + FEW;
  if (vm->frame < vm->frames && (vm->wants_reclaim || many))
    tl_reclaim(vm);
  return !tl_failed(vm);
}
