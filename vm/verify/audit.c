// The auditor of debug builds: before an instruction, the count of every
// object that can be reached must be exactly the number of references that own
// it: slots of frames, module variables, handles, and what the heap holds. What
// the instruction reads must be among them, with the items that it borrows.
//
// Which slots of a frame own something the verifier has noted for each
// instruction; a slot that was consumed keeps its old bits.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "vm/bytecode/module.h"
#include "vm/values/list.h"
#include "vm/values/record.h"
#include "vm/array/string_item.h"
#include "vm/objects.h"

// An object and how many owners of it the roots and other objects show.
// Compared with the object's own count at the end.
typedef struct seen {
  tl_object *object;
  uint32_t count;  // owners found
} seen;

// A table of objects by address. Plain malloc: it is no memory of the VM's.
// [table] is open addressing, at most half full, so that a search ends.
typedef struct audit {
  seen *table;             // all empty between two looks
  size_t count, capacity;  // a power of two
  tl_object **todo;        // reached, but not yet looked into
  size_t todo_count, todo_capacity;
} audit;

#ifdef TALLY_AUDIT
// The tables of an earlier look, for the next one of any thread: to make them
// takes longer than to fill them. Elsewhere VMs share no variables.
static _Atomic(audit *) spare;
#define KEEP(a) atomic_exchange(&spare, a)
#else
#define KEEP(a) (a)
#endif

// Instructions that pass before the next look; of this thread, since tests run
// several VMs at a time.
static _Thread_local size_t skip;

// realloc that ends the process where there is no memory: the auditor must not
// change what the VM does.
static void *grow(void *block, size_t nbytes) {
  void *wider = realloc(block, nbytes);
  if (wider == NULL) {
    fputs("audit: no memory\n", stderr);
    abort();
  }
  return wider;
}

// The object's place in the table, or the empty place where it would go.
// Multiplicative hashing, as addresses of blocks differ in few bits.
static seen *find(const audit *a, const tl_object *object) {
  // Low bits of a product come from low bits alone, so higher ones are used.
  size_t at = (size_t)((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u;
  for (at >>= 20;; at++) {
    seen *entry = &a->table[at & (a->capacity - 1)];
    if (entry->object == object || entry->object == NULL)
      return entry;
  }
}

// Doubles the table when it is half full.
static void make_room(audit *a) {
  if (2 * a->count < a->capacity)
    return;
  seen *old = a->table;
  size_t capacity = a->capacity;
  a->capacity = capacity == 0 ? 256 : 2 * capacity;
  a->table = calloc(a->capacity, sizeof *a->table);
  if (a->table == NULL)
    abort();
  for (size_t i = 0; i < capacity; i++)
    if (old[i].object != NULL)
      *find(a, old[i].object) = old[i];
  free(old);
}

// One more reference that owns [object].
// An object is put on the list of those to look into when it is seen first, so
// each is looked into once and cycles end.
static void count_object(audit *a, tl_object *object) {
  if ((object->flags & TL_IMMORTAL) != 0)
    return;
  make_room(a);
  seen *entry = find(a, object);
  entry->count++;
  if (entry->object != NULL)
    return;
  entry->object = object;
  a->count++;
  if (a->todo_count == a->todo_capacity) {
    a->todo_capacity = 2 * a->todo_capacity + 64;
    a->todo = grow(a->todo, a->todo_capacity * sizeof(tl_object *));
  }
  a->todo[a->todo_count++] = object;
}

// A slot that owns an object on the heap is one reference.
static void count_slot(void *context, tl_slot slot) {
  if (tl_is_owned(slot) && tl_is_heap(slot))
    count_object(context, slot.object);
}

static void look_into(audit *a, tl_object *object);

// A unit holds what it made, without a bit that says so. A constant list is not
// counted, its items are.
static void count_held(void *context, tl_slot slot) {
  if (tl_is_list(slot) && (slot.object->flags & TL_IMMORTAL) != 0)
    look_into(context, slot.object);
  else
    count_object(context, slot.object);
}

// Each slot of an array of them, as count_slot.
static void count_slots(audit *a, const tl_slot *slots, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) count_slot(a, slots[i]);
}

// The references that an array holds: its base block if it is a view, its
// strings if it owns them.
// A view that does not hold its block borrows it, and counts nothing.
static void look_into_array(audit *a, const tl_array *array) {
  if (tl_is_view(array)) {
    if ((array->head.flags & TL_HOLD) != 0)
      count_object(a, &tl_array_more(array)->owner->head);
  } else if (array->head.dtype == TL_STRING) {
    const tl_string_item *items = tl_string_items(array);
    for (int64_t i = 0; i < array->size; i++) {
      tl_string *string = tl_string_item_object(&items[i]);
      if (string != NULL)
        count_object(a, &string->head);
    }
  }
}

// The references that an object holds.
static void look_into(audit *a, tl_object *object) {
  switch (object->kind) {
    case TL_KIND_ARRAY:
      look_into_array(a, (const tl_array *)object);
      break;
    case TL_KIND_LIST: {
      const tl_list *list = (const tl_list *)object;
      count_slots(a, list->items, (uint64_t)list->length);
      break;
    }
    case TL_KIND_RECORD: {
      const tl_record *record = (const tl_record *)object;
      for (int64_t i = 0; i < record->length; i++) {
        tl_object *key = tl_key_object(record->fields[i].key);
        if (key != NULL)
          count_object(a, key);
        count_slot(a, record->fields[i].value);
      }
      break;
    }
    case TL_KIND_CLOSURE: {
      const tl_closure *closure = (const tl_closure *)object;
      count_slots(a, closure->captures, closure->capture_count);
      break;
    }
    case TL_KIND_NESTED: {
      const tl_nested *nested = (const tl_nested *)object;
      count_slots(a, nested->parts, (uint64_t)nested->count);
      break;
    }
    default:
      break;
  }
}

// --- Roots ------------------------------------------------------------------

// Whether a slot may own before the instruction at [pc], as the verifier says.
static bool owns_at(const tl_prototype *p, uint32_t pc, uint32_t slot) {
  const uint64_t *set = p->owners_at + (size_t)pc * ((p->slot_count + 63) / 64);
  return (set[slot / 64] >> (slot & 63) & 1) != 0;
}

// What the frame owns before the instruction at [pc]; a call under way has
// given its window to the callee.
static void count_frame(audit *a, const tl_frame *frame, uint32_t pc,
                        bool calling) {
  const tl_prototype *p = frame->function;
  if (p->owners_at == NULL)
    return;
  tl_decoded ins = {0};
  if (calling)
    tl_decode(p, pc, &ins);
  for (uint32_t y = 0; y < p->slot_count; y++) {
    bool given = y >= ins.window && y < ins.window + ins.window_count;
    if (owns_at(p, pc, y) && !given)
      count_slot(a, frame->base[y]);
  }
}

// Everything from which objects are reached: frames, module variables,
// handles, units, and what the VM holds for itself.
// Whatever else can own an object must be counted here, too, or the auditor
// reports a count that is right.
static void count_roots(audit *a, tl_vm *vm, const tl_ins *pc) {
  for (const tl_frame *f = vm->frames; f <= vm->frame; f++) {
    if (f->function == NULL)
      continue;
    bool calling = f != vm->frame;
    const tl_ins *at = calling ? f->pc : pc;
    count_frame(a, f, (uint32_t)(at - f->function->code), calling);
  }
  for (const tl_module *m = vm->modules; m != NULL; m = m->next)
    count_slots(a, m->variables, m->variable_count);
  vm->host->each_handle(vm, count_slot, a);
  tl_units_each_held(vm, count_held, a);
  tl_types_each_name(vm, count_held, a);
  count_slot(a, vm->args);
  count_slot(a, vm->type_string);
  count_slot(a, vm->grown);
  count_slot(a, vm->caught);
  if (vm->waiting != NULL)
    count_object(a, &vm->waiting->head);
  if (vm->error.file != NULL)
    count_object(a, &vm->error.file->head);
  if (vm->error.trace != NULL)
    count_object(a, &vm->error.trace->head);
}

// --- The verdict ------------------------------------------------------------

// Begins a report: before which instruction of which function it is.
static void report_place(const tl_prototype *p, const tl_ins *pc) {
  fprintf(stderr,
          "audit: before instruction %ld of %s, %s in line %" PRIu32 ": ",
          (long)(pc - p->code), p->name->length > 0 ? p->name->text : "fn",
          tl_opcodes[pc->op].name, tl_line_at(p, (uint32_t)(pc - p->code)));
}

// Says which object's count is wrong and which slots refer to it, and aborts.
static void report(tl_vm *vm, const tl_ins *pc, const seen *wrong) {
  char text[TL_DESCRIBE] = "";
  report_place(vm->frame->function, pc);
  fprintf(stderr,
          "%s at %p has count %" PRIu32 ", but %" PRIu32 " references own it\n",
          tl_describe(tl_lend_object(wrong->object), text, sizeof text),
          (void *)wrong->object, wrong->object->count, wrong->count);
  for (const tl_frame *f = vm->frames; f <= vm->frame; f++)
    for (uint32_t y = 0; f->function != NULL && y < f->function->slot_count;
         y++)
      if (tl_is_heap(f->base[y]) && f->base[y].object == wrong->object)
        fprintf(stderr, "audit:   slot %" PRIu32 " of %s%s\n", y,
                f->function->name->text,
                tl_is_owned(f->base[y]) ? ", its bit set" : "");
  abort();
}

// --- What is read -----------------------------------------------------------

// What is carried along while the items of one operand are looked at.
typedef struct reading {
  const audit *audit;
  bool finds_dead;
} reading;

// A visitor of tl_each_borrowed: notes an item that nobody owns. Memory that
// was freed may have been given out again, so its header is trusted only as far
// as its kind is the one that the slot's tag expects. False stops the walk
// within an item that is dead.
static bool look_at(tl_vm *vm, tl_slot *item, tl_cause cause, void *context) {
  reading *r = context;
  (void)vm;
  (void)cause;
  // An object that was freed shows any flags: then its kind, too, is any.
  int kind = tl_is_array(*item) ? TL_KIND_ARRAY : (int)tl_dtype_of(*item);
  if (!tl_is_heap(*item) || tl_is_owned(*item) || kind == TL_KIND_BUILTIN ||
      kind == TL_KIND_FUNCTION || kind == TL_KIND_TYPE ||
      kind == TL_KIND_MODULE)
    return true;
  bool owned =
      r->audit->capacity > 0 && find(r->audit, item->object)->object != NULL;
  bool dead = !owned && (tl_is_counted(*item) || item->object->kind != kind);
  r->finds_dead |= dead;
  return !dead;
}

// Whether the instruction moves counts and reads no value.
static bool only_settles(int op) {
  return tl_opcode_moves_ownership(op) && op != TL_BC_OWN &&
         op != TL_BC_KEEPALL;
}

// What an instruction reads somebody owns, and what that borrows.
// Finds what counts alone do not show: a borrow of an object that was freed has
// no count that could be wrong.
static void check_read(tl_vm *vm, const tl_ins *pc, const audit *a) {
  const tl_prototype *p = vm->frame->function;
  tl_decoded ins;
  tl_decode(p, (uint32_t)(pc - p->code), &ins);
  if (p->owners_at == NULL || only_settles(ins.op))
    return;
  for (uint32_t i = 0; i < ins.operand_count + ins.window_count; i++) {
    uint32_t slot = i < ins.operand_count ? ins.operands[i]
                                          : ins.window + i - ins.operand_count;
    tl_slot read = vm->frame->base[slot];
    if (!owns_at(p, (uint32_t)(pc - p->code), slot))
      read.tag &= ~TL_OWNED;  // it was consumed: its bit is an old one
    reading r = {.audit = a};
    look_at(vm, &read, TL_CAUSE_ITEM, &r);
    if (!r.finds_dead && tl_is_heap(read) && tl_is_counted(read))
      tl_each_borrowed(vm, read.object, look_at, &r);
    if (!r.finds_dead)
      continue;
    report_place(p, pc);
    fprintf(stderr,
            "slot %" PRIu32 " is read, but nobody owns that or an item of it\n",
            slot);
    abort();
  }
}

// Keeps the tables for the next look, unless they would take long to clear.
static void give_back(audit *a) {
  if (a->table != NULL && a->capacity <= 8 * a->count + 256) {
    memset(a->table, 0, a->capacity * sizeof *a->table);
    a->count = 0;
    a = KEEP(a);
  }
  if (a == NULL)
    return;
  free(a->table);
  free(a->todo);
  free(a);
}

// Called before each instruction of audit builds. Looking costs as much as
// there are objects, so after a look as many instructions pass as keep the
// whole linear.
void tl_audit(tl_vm *vm, const tl_ins *pc) {
  // Built-ins below hold values that nobody can see.
  if (skip > 0 || vm->native_depth > 1) {
    skip -= skip > 0;
    return;
  }
  audit *a = KEEP(NULL);
  if (a == NULL && (a = calloc(1, sizeof *a)) == NULL)
    abort();
  count_roots(a, vm, pc);
  while (a->todo_count > 0) look_into(a, a->todo[--a->todo_count]);
  for (size_t i = 0; i < a->capacity; i++) {
    const seen *entry = &a->table[i];
    if (entry->object != NULL && entry->object->count != entry->count &&
        entry->object->count != UINT32_MAX)
      report(vm, pc, entry);
  }
  check_read(vm, pc, a);
  // From TALLY_AUDIT=2 on no instruction is passed over to save time.
#if !defined(TALLY_AUDIT) || TALLY_AUDIT < 2
  skip = a->count / 16;  // so that the whole stays linear in practice
#endif
  give_back(a);
}
