// Peak contracts at run time: see peak_contract.h.
#include "vm/observe/peak_contract.h"

#include <inttypes.h>

#include "vm/memory/memory_internal.h"
#include "vm/observe/references.h"
#include "vm/region/region.h"
#include "vm/suggest.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// --- Which hold --------------------------------------------------------------

// Whether the frame that began it is under way, and still in its statement.
// Where a later call of the same function runs in that frame, its own promise
// takes the place of this one as soon as it begins.
static bool holds(const tl_vm *vm, const tl_peak_contract *c) {
  const tl_frame *f = vm->frames + c->frame;
  if (vm->frames == NULL || f > vm->frame || f->function != c->function)
    return false;
  if (c->end == UINT32_MAX)
    return true;
  const tl_place_entry *place = tl_place_at(f->function, tl_frame_pc(f));
  return place != NULL && c->begin <= place->at && place->at < c->end;
}

// Takes away those that hold no longer. One that holds has none above it that
// does not, but for those at the top: they began later, in its frame or in one
// that it called.
static void end_old_promises(tl_vm *vm) {
  struct tl_memory *m = vm->memory;
  while (m->contract_count > 0 &&
         !holds(vm, &m->contracts[m->contract_count - 1]))
    m->contract_count--;
  m->ceiling =
      m->contract_count == 0 ? 0 : m->contracts[m->contract_count - 1].ceiling;
}

// --- What is alive -----------------------------------------------------------

// More would not fit a line, and the message is written when memory is short:
// it may not take long, and takes no memory.
enum {
  NAMED = 3,   // of what is alive, the largest
  DEPTH = 2,   // of lists in one another
  ITEMS = 500  // of a list that are looked at
};

// An owner and what lives by it.
typedef struct owner {
  const tl_frame *frame;
  uint32_t slot;
  uint64_t nbytes;
} owner;

typedef struct owners {
  tl_vm *vm;
  const tl_peak_contract *contract;
  owner largest[NAMED];
} owners;

static uint64_t bytes_of(tl_slot s, int depth);

// Those that a container counts. [step] is the distance of two slots in bytes:
// those of a record stand in fields.
static uint64_t bytes_of_items(const tl_slot *first, size_t step, int64_t count,
                               int depth) {
  uint64_t sum = 0;
  for (int64_t i = 0; depth > 0 && i < count && i < ITEMS; i++) {
    const tl_slot *item =
        (const tl_slot *)(const void *)((const char *)first + (size_t)i * step);
    if (tl_is_owned(*item))
      sum += bytes_of(*item, depth - 1);
  }
  return sum;
}

// The bytes that a value keeps alive: of a view those of its block, if it
// counts that.
static uint64_t bytes_of(tl_slot s, int depth) {
  if (!tl_is_counted(s))
    return 0;
  if (tl_is_array(s) && tl_is_view(s.array))
    return (s.array->head.flags & TL_HOLD) == 0
               ? 0
               : tl_array_owner(s.array)->head.nbytes;
  if (tl_is_nested(s))
    return (uint64_t)tl_value_held(s);
  uint64_t own = s.object->nbytes;
  if (tl_is_list(s))
    return own + bytes_of_items(s.list->items, sizeof(tl_slot), s.list->length,
                                depth);
  if (tl_is_record(s))
    return own + bytes_of_items(&s.record->fields[0].value, sizeof(tl_field),
                                s.record->length, depth);
  return own;
}

// The instruction that wrote the slot last before the frame's own, in the order
// of the text, else one behind, of the loop's last iteration; false: it is a
// parameter. The line is a hint for the message, and nothing depends on it.
static bool find_writer(const tl_frame *f, uint32_t slot, uint32_t *at) {
  const tl_writers code = {.p = f->function};
  tl_decoded d;
  return tl_writers_find(&code, tl_frame_pc(f), slot, at, &d) ||
         tl_writers_find(&code, f->function->code_count, slot, at, &d);
}

// Whether the slot has got its value since the promise began. What was alive
// before is no part of what was promised, so it is not named. In frames above
// everything is new.
static bool is_new(const owners *all, const owner *o) {
  const tl_peak_contract *c = all->contract;
  uint32_t at;
  if (o->frame > all->vm->frames + c->frame)
    return true;
  if (!find_writer(o->frame, o->slot, &at))
    return false;
  const tl_place_entry *place = tl_place_at(o->frame->function, at);
  return c->end == UINT32_MAX ||
         (place != NULL && c->begin <= place->at && place->at < c->end);
}

// Keeps the largest, in their order. False ends the walk over the roots
// (references.h). An owner below the promise's frame is passed over.
static bool add_owner(void *context, const tl_reference *r) {
  owners *all = context;
  if (r->kind != TL_REFERENCE_STACK)
    return false;  // frames come first
  owner next = {.nbytes = bytes_of(r->to, DEPTH)};
  const tl_frame *f = all->vm->frames + all->contract->frame;
  for (; f <= all->vm->frame; f++)
    if (f->function != NULL && f->base <= r->at &&
        r->at < f->base + f->function->slot_count) {
      next.frame = f;
      next.slot = (uint32_t)(r->at - f->base);
    }
  if (next.frame == NULL || !is_new(all, &next))
    return true;
  for (int i = 0; i < NAMED; i++) {
    owner other = all->largest[i];
    if (other.nbytes >= next.nbytes)
      continue;
    all->largest[i] = next;
    next = other;
  }
  return true;
}

// --- The message -------------------------------------------------------------

// "y 80128 since line 3", "`x * 2` 80128 since line 4", "x 80128".
static void put_owner(tl_text *t, const owner *o) {
  const tl_prototype *p = o->frame->function;
  uint32_t at = 0;
  bool written = find_writer(o->frame, o->slot, &at);
  const tl_place_entry *place = written ? tl_place_at(p, at) : NULL;
  if (o->slot < p->named_count && p->slot_names[o->slot] != NULL) {
    tl_text_printf(t, "%.60s", p->slot_names[o->slot]->text);
  } else if (place != NULL) {
    size_t nbytes = place->end - place->begin;
    tl_text_printf(t, "`%.*s`",
                   tl_clip(p->unit->text + place->begin, nbytes, 40),
                   p->unit->text + place->begin);
  } else {
    tl_text_puts(t, "a value");
  }
  tl_text_printf(t, " %" PRIu64, o->nbytes);
  if (written)
    tl_text_printf(t, " since line %" PRIu32, tl_line_at(p, at));
}

// The innermost promise that so many bytes would break.
static const tl_peak_contract *find_broken(const struct tl_memory *m,
                                           uint64_t all) {
  uint32_t i = m->contract_count - 1;
  while (i > 0 && m->contracts[i].most >= all) i--;
  return &m->contracts[i];
}

// [before] is what was alive when the promise began, so the number in the
// message is comparable with that of the promise.
static void write_message(tl_vm *vm, uint64_t nbytes, char *to, size_t size) {
  const tl_peak_contract *c = find_broken(vm->memory, tl_live_now(vm) + nbytes);
  uint64_t before = c->most - c->nbytes - TL_PEAK_FREE;
  owners all = {.vm = vm, .contract = c};
  tl_text t;  // within the message's own memory: there is no other now
  tl_text_within(&t, to, size);
  tl_text_printf(&t,
                 "#:peak: %" PRIu64 " bytes are promised in line %" PRIu32
                 ", %" PRIu64 " would be alive: ",
                 c->nbytes, c->line, tl_live_now(vm) + nbytes - before);
  tl_each_root(vm, add_owner, &all);
  for (int i = 0; i < NAMED && all.largest[i].nbytes > 0; i++) {
    put_owner(&t, &all.largest[i]);
    tl_text_puts(&t, ", ");
  }
  tl_text_printf(&t, "%s%" PRIu64 " that are needed here",
                 all.largest[0].nbytes > 0 ? "and " : "", nbytes);
  to[t.length] = 0;
}

// tl_memory.over. Promises that hold no longer go first, which may raise the
// ceiling. With [message] NULL only the answer is wanted.
static bool is_over(tl_vm *vm, size_t nbytes, char *message, size_t size) {
  end_old_promises(vm);
  const struct tl_memory *m = vm->memory;
  if (m->ceiling == 0 || tl_live_now(vm) + nbytes <= m->ceiling + m->reserve)
    return false;
  if (message != NULL)
    write_message(vm, nbytes, message, size);
  return true;
}

// --- Beginning ---------------------------------------------------------------

// Room for one more. Directly from the host, not by the VM's memory: that would
// be counted against the very promise.
static bool reserve_contract(tl_vm *vm) {
  struct tl_memory *m = vm->memory;
  if (m->contract_count < m->contract_room)
    return true;
  size_t old = m->contract_room * sizeof *m->contracts;
  uint32_t room = m->contract_room == 0 ? 8 : 2 * m->contract_room;
  tl_peak_contract *all = vm->options.resize(vm->options.context, m->contracts,
                                             old, room * sizeof *m->contracts);
  if (all == NULL)
    return tl_fail_memory(vm, room * sizeof *m->contracts, "a promise");
  m->contracts = all;
  m->contract_room = room;
  return true;
}

// The same statement begins anew in each iteration of a loop, and a function in
// each call, where the last call's may have been left by an error. With
// --no-reuse each temporary exists, and nothing is promised.
bool tl_peak_contract_begin(tl_vm *vm, uint64_t nbytes, uint32_t begin,
                            uint32_t end) {
  struct tl_memory *m = vm->memory;
  const tl_frame *f = vm->frame;
  uint32_t frame = (uint32_t)(f - vm->frames);
  if (vm->no_reuse || vm->debug != NULL)
    return true;
  end_old_promises(vm);
  while (m->contract_count > 0 &&
         m->contracts[m->contract_count - 1].frame == frame &&
         m->contracts[m->contract_count - 1].begin == begin)
    m->contract_count--;
  if (!reserve_contract(vm))
    return false;
  uint64_t most = tl_live_now(vm) + TL_PEAK_FREE;
  most = nbytes > UINT64_MAX - most ? UINT64_MAX : most + nbytes;
  uint64_t below = m->contract_count == 0
                       ? UINT64_MAX
                       : m->contracts[m->contract_count - 1].ceiling;
  m->contracts[m->contract_count++] =
      (tl_peak_contract){.most = most,
                         .ceiling = most < below ? most : below,
                         .nbytes = nbytes,
                         .function = f->function,
                         .frame = frame,
                         .begin = begin,
                         .end = end,
                         .line = tl_line_at(f->function, tl_frame_pc(f))};
  m->ceiling = m->contracts[m->contract_count - 1].ceiling;
  m->over = is_over;
  return true;
}
