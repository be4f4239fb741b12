// Values held by the host: tally_value.
//
//     scalar   │ TL_PLAIN │ tag │  payload                 │  in itself
//     other    │ index of a place │ check: VM + generation │
//     places   │ value │ generation │ owners │ …            │
//
// A bool or a number up to 8 bytes, or none, is in the handle itself. Any other
// handle is an index, and a check made of its place's generation and its VM: a
// handle that was released or is another VM's is recognised, whatever stands in
// the place now.
//
// Frames of the host (tally_begin) release what it forgets: places that were
// opened in one are linked, the newest first, and the end of a frame gives up
// an owner of each of them.
//
//     frame 2   5 ─▶ 7        tally_end(vm, 2, …) releases 5 and 7
//     frame 1        └─▶ 3
//     frame 0   all others, not linked
//
// A release hook may release handles, but their values are dropped only after
// it has returned (deferred places): it runs in the middle of freeing something
// else.
//
// Built for speed.

#include "vm/api/api.h"
#include "vm/api/host.h"
#include "vm/memory/reserve.h"

// Where a value is held. An odd generation says that the place is in use; it
// grows when a place is opened and when it is freed.
// next_free is used by a place that is free or deferred alone.
typedef struct place {
  tl_slot value;
  // Odd: the place is in use.
  uint32_t generation;
  uint32_t owners;
  uint32_t next_free;
  // How many of the owners are resources, while these are asked (visit).
  uint32_t inner;
  // The frame of the host that it was opened in; 0: none. Others of frames: the
  // next older one, and the next newer.
  uint32_t frame, older, newer;
  // The value outlives the handle, and is not owned by it.
  bool is_borrowed;
} place;

// The table of a VM: places, and two lists of them linked by next_free.
struct tl_handles {
  place *places;
  uint32_t count, first_free;
  size_t capacity;
  // Places released while a release hook ran, which are emptied afterwards.
  uint32_t first_deferred;
  bool draining;
  // The host's innermost frame, and the newest place of any.
  uint32_t frame, newest;
};

static const uint32_t NO_PLACE = UINT32_MAX;
// The frame of a place that is handed on while its own ends: none, not linked.
static const uint32_t HANDED_ON = UINT32_MAX;
static const uint64_t TAKE = UINT64_C(1) << 63;  // set by tally_take

// No place yet: many VMs never need one.
bool tl_handles_open(tl_vm *vm) {
  vm->handles = tl_alloc_zeroed(vm, sizeof *vm->handles, "handles");
  if (vm->handles == NULL)
    return false;
  vm->handles->first_free = vm->handles->first_deferred = NO_PLACE;
  vm->handles->newest = NO_PLACE;
  return true;
}

// --- Frames -----------------------------------------------------------------

// The place at that end of a link; NULL: there is none.
static place *linked(struct tl_handles *h, uint32_t at) {
  return at == NO_PLACE ? NULL : &h->places[at];
}

// Puts the place into a frame, which none of those in it is newer than; 0: into
// none.
static void enter_frame(struct tl_handles *h, place *p, uint32_t frame) {
  p->frame = frame;
  if (frame == 0)
    return;
  p->older = h->newest;
  p->newer = NO_PLACE;
  if (linked(h, h->newest) != NULL)
    linked(h, h->newest)->newer = (uint32_t)(p - h->places);
  h->newest = (uint32_t)(p - h->places);
}

// Takes the place out of its frame.
// A place may leave out of order: tally_release of a handle of any frame.
static void leave_frame(struct tl_handles *h, place *p) {
  if (p->frame == 0 || p->frame == HANDED_ON)
    return;
  place *older = linked(h, p->older), *newer = linked(h, p->newer);
  if (older != NULL)
    older->newer = p->newer;
  // The table refers to the newest place, every other one to the next older.
  *(newer != NULL ? &newer->older : &h->newest) = p->older;
  p->frame = 0;
}

// Ends a place: handles to it are recognised as released from now on.
// The generation becomes even.
static void free_place(tl_vm *vm, place *p) {
  struct tl_handles *h = vm->handles;
  leave_frame(h, p);
  p->generation++;
  p->next_free = h->first_free;
  h->first_free = (uint32_t)(p - h->places);
}

static void count_one(void *count, tl_slot value) {
  (void)value;
  ++*(size_t *)count;
}

// Counted before any is dropped: what a resource in a circle lets go of was
// left as well. The place is freed before its value is dropped: a resource's
// release may release the same handle.
size_t tl_handles_close(tl_vm *vm) {
  struct tl_handles *h = vm->handles;
  if (h == NULL)
    return 0;
  size_t held = 0;
  tl_handles_each(vm, count_one, &held);
  for (uint32_t i = 0; i < h->count; i++) {
    place *p = &h->places[i];
    if ((p->generation & 1) == 0)
      continue;
    // The place first: a resource's release may release its handle too.
    tl_slot value = p->value;
    free_place(vm, p);
    tl_drop(vm, value);
  }
  tl_free(vm, h->places, h->capacity * sizeof *h->places);
  tl_free(vm, h, sizeof *h);
  vm->handles = NULL;
  return held;
}

// Places in use alone, which have an odd generation.
void tl_handles_each(const tl_vm *vm,
                     void (*each)(void *context, tl_slot value),
                     void *context) {
  const struct tl_handles *h = vm->handles;
  for (uint32_t i = 0; h != NULL && i < h->count; i++)
    if ((h->places[i].generation & 1) != 0)
      each(context, h->places[i].value);
}

// --- Places -----------------------------------------------------------------

// A free place, with an even generation; false after tl_fail.
// Free places are used again, the last one freed first. Without one the table
// grows, so places move: no pointer to a place survives a call of this.
static bool new_place(tl_vm *vm, uint32_t *out) {
  struct tl_handles *h = vm->handles;
  if (h->first_free != NO_PLACE) {
    *out = h->first_free;
    h->first_free = h->places[*out].next_free;
    return true;
  }
  const size_t before = tl_reserve(vm, TL_RESERVE);
  const bool ok = tl_make_room(vm, &h->places, NULL, &h->capacity, h->count,
                               sizeof *h->places, "handles");
  tl_reserve(vm, before);
  if (!ok)
    return false;
  *out = h->count++;
  h->places[*out].generation = 0;
  h->places[*out].frame = 0;
  return true;
}

// What a handle to the place has to carry.
// The VM's address in the upper bits, so that a handle of another VM fails even
// where the generations are the same.
static uint64_t check_of(const tl_vm *vm, const place *p) {
  return ((uint64_t)(uintptr_t)vm << 28) + p->generation;
}

// The place of a handle; NULL: it was released, or is another VM's.
static place *find(const tl_vm *vm, tally_value handle) {
  struct tl_handles *h = vm->handles;
  if (handle.handle >= h->count)
    return NULL;
  place *p = &h->places[handle.handle];
  return check_of(vm, p) == handle.check && (p->generation & 1) != 0 ? p : NULL;
}

// Opens a place for [value] and makes its handle.
// The value is taken as it is: whether it is counted is the caller's doing.
// False after tl_fail (kind memory), with the value still the caller's.
static bool open_place(tl_vm *vm, tl_slot value, bool is_borrowed,
                       tally_value *out) {
  uint32_t index;
  if (!new_place(vm, &index))
    return false;
  place *p = &vm->handles->places[index];
  p->value = value;
  p->generation++;
  p->owners = 1;
  p->is_borrowed = is_borrowed;
  enter_frame(vm->handles, p, vm->handles->frame);
  *out = (tally_value){index, check_of(vm, p)};
  return true;
}

// --- What resources hold ----------------------------------------------------

// What a resource shows by its visit hook, on its way to whoever asked.
typedef struct showing {
  tl_vm *vm;
  void (*each)(void *context, tl_slot value);
  void *context;
} showing;

// A handle that the object only passes on (tally_take, or one that is borrowed)
// is not its own, and is passed over; so is one that it has released already.
static void show(void *to, tally_value handle) {
  const showing *s = to;
  place *p = find(s->vm, handle);
  if (p != NULL && !p->is_borrowed)
    s->each(s->context, p->value);
}

// An object that says a handle twice, or two that say one of them, count no
// more than there are owners.
static void count_inner(void *to, tally_value handle) {
  place *p = find(to, handle);
  if (p != NULL && p->inner < p->owners)
    p->inner++;
}

// Runs the visit hook, which may do nothing else with the VM.
// The hook is the host's code in the middle of a walk: if it made or released
// handles, places would move under it.
static void visit(const tl_resource *resource, tally_see *see, void *to) {
  tl_vm *vm = resource->vm;
  tl_access before = vm->access;
  vm->access = TL_ACCESS_NONE;
  resource->type->visit(resource->type->context, resource->object, see, to);
  vm->access = before;
}

// Only those of the VM's list have a VM, which are those with the hook.
void tl_resource_each_held(const tl_resource *resource,
                           void (*each)(void *context, tl_slot value),
                           void *context) {
  showing s = {resource->vm, each, context};
  if (resource->vm != NULL)
    visit(resource, show, &s);
}

// Every resource is asked what it holds: what is left is the host's.
//
//  place   value   owners   inner
//    0     a list     2       1      the host has it, and a token: outer
//    1     a token    1       0      outer
//    2     a record   1       1      the token's alone: not
//
void tl_handles_each_outer(tl_vm *vm,
                           void (*each)(void *context, tl_slot value),
                           void *context) {
  struct tl_handles *h = vm->handles;
  for (uint32_t i = 0; h != NULL && i < h->count; i++) h->places[i].inner = 0;
  for (const tl_resource *r = vm->visiting; r != NULL; r = r->older)
    visit(r, count_inner, vm);
  for (uint32_t i = 0; h != NULL && i < h->count; i++) {
    const place *p = &h->places[i];
    if ((p->generation & 1) != 0 && p->inner < p->owners)
      each(context, p->value);
  }
}

// --- Making and reading -----------------------------------------------------

// The place is opened first and filled then, so that the value stays the
// caller's if there is no place.
bool tl_handle_new(tl_vm *vm, tl_slot *value, tally_value *out) {
  if (!tl_is_heap(*value)) {
    *out = tl_plain_value(*value);
    return true;
  }
  if (!open_place(vm, tl_none(), false, out))
    return false;
  find(vm, *out)->value = tl_escape(vm, value, TL_CAUSE_HOST);
  return true;
}

// For arguments of hooks, which outlive the handle: a call costs no count.
bool tl_handle_borrow(tl_vm *vm, tl_slot value, tally_value *out) {
  if (!tl_is_heap(value)) {
    *out = tl_plain_value(value);
    return true;
  }
  return open_place(vm, tl_borrow(value), true, out);
}

// Its value is none until it is filled; releasing it before then is fine.
bool tl_handle_reserve(tl_vm *vm, tally_value *out) {
  return open_place(vm, tl_none(), false, out);
}

// Cannot fail: the place is there.
void tl_handle_fill(tl_vm *vm, tally_value handle, tl_slot value) {
  find(vm, handle)->value = tl_escape(vm, &value, TL_CAUSE_HOST);
}

// The message tells a mark of tally_take in the wrong place from a released
// handle.
bool tl_handle_get(tl_vm *vm, tally_value handle, tl_slot *out) {
  if (tl_is_plain(handle, out))
    return true;
  place *p = find(vm, handle);
  if (p == NULL)
    return tl_fail(vm, TALLY_ERR_HOST,
                   (handle.handle & TAKE) != 0
                       ? "the value is marked by tally_take where nothing is "
                         "taken"
                       : "the value was released already, or is of another VM");
  *out = tl_borrow(p->value);
  return true;
}

// What is borrowed becomes a value of the handle's own.
static void own_place(tl_vm *vm, place *p) {
  if (!p->is_borrowed)
    return;
  tl_slot value = tl_borrow(p->value);
  p->is_borrowed = false;
  p->value = tl_escape(vm, &value, TL_CAUSE_HOST);
}

// With several owners the handle stays for the others, and the value gets a
// count.
bool tl_handle_take(tl_vm *vm, tally_value handle, tl_slot *out) {
  handle.handle &= ~TAKE;
  if (!tl_handle_get(vm, handle, out))
    return false;
  place *p = find(vm, handle);
  if (p == NULL)
    return true;
  own_place(vm, p);
  if (p->owners > 1) {
    p->owners--;
    *out = tl_retain(vm, p->value);
    return true;
  }
  *out = p->value;
  free_place(vm, p);
  return true;
}

// All or none: what was read before a failure is dropped again, so that [out]
// owns nothing.
bool tl_handles_read(tl_vm *vm, int count, const tally_value *handles,
                     tl_slot *out) {
  int done = 0;
  for (; done < count; done++)
    if (!tl_is_plain(handles[done], &out[done]) &&
        !tl_handle_argument(vm, handles[done], &out[done]))
      break;
  if (done == count)
    return true;
  for (int i = 0; i < done; i++) tl_drop(vm, out[i]);
  tl_handles_abandon(vm, (size_t)(count - done), handles + done);
  return false;
}

// The mark is in the handle's top bit, which no index of a place has.
bool tl_handle_argument(tl_vm *vm, tally_value handle, tl_slot *out) {
  return (handle.handle & TAKE) != 0 ? tl_handle_take(vm, handle, out)
                                     : tl_handle_get(vm, handle, out);
}

// Gives up one owner of a handle; the last one drops the value.
// While a hook runs (TL_ACCESS_NONE) the value is left in the place, which is
// free for no one until drain() has dropped it.
static void release(tl_vm *vm, tally_value v) {
  place *p = find(vm, v);
  if (p == NULL || --p->owners > 0)
    return;
  if (vm->access == TL_ACCESS_NONE) {
    leave_frame(vm->handles, p);
    p->generation++;
    p->next_free = vm->handles->first_deferred;
    vm->handles->first_deferred = (uint32_t)(p - vm->handles->places);
    return;
  }
  tl_slot value = p->value;
  free_place(vm, p);
  if (tl_is_owned(value))
    tl_drop(vm, value);
}

// Drops the values that were released during hooks, one after the other: what
// is dropped here may release more.
static void drain(tl_vm *vm) {
  struct tl_handles *h = vm->handles;
  if (h == NULL || h->draining)
    return;
  h->draining = true;
  while (h->first_deferred != NO_PLACE) {
    place *p = &h->places[h->first_deferred];
    h->first_deferred = p->next_free;
    tl_slot value = p->value;
    p->next_free = h->first_free;
    h->first_free = (uint32_t)(p - h->places);
    tl_drop(vm, value);
  }
  h->draining = false;
}

// Inside the hook nothing may be done with the VM; handles that it releases
// wait.
void tl_release_hook(tl_vm *vm, void (*hook)(void *context, void *data),
                     void *context, void *data) {
  if (hook == NULL)
    return;
  tl_access before = vm->access;
  vm->access = TL_ACCESS_NONE;
  hook(context, data);
  vm->access = before;
  if (before != TL_ACCESS_NONE)
    drain(vm);
}

// Those marked are the callee's on every path (tally.h), so a call that fails
// early must release them too.
void tl_handles_abandon(tl_vm *vm, size_t count, const tally_value *handles) {
  for (size_t i = 0; i < count; i++) {
    if ((handles[i].handle & TAKE) == 0)
      continue;
    release(vm, (tally_value){handles[i].handle & ~TAKE, handles[i].check});
  }
}

// A NULL for [out] is the host's mistake; the value must not leak for it.
tally_status tl_give(tl_vm *vm, tl_slot value, tally_value *out) {
  if (tl_given(vm, out, "the place for the result") &&
      tl_handle_new(vm, &value, out))
    return TALLY_OK;
  tl_drop(vm, value);
  return tl_report(vm);
}

// Where the text itself found no memory no error is pending yet.
tally_status tl_give_text(tl_vm *vm, tl_text *text, tally_value *out) {
  size_t nbytes = text->length;
  tl_string *string = tl_text_finish(text);
  if (string == NULL && !tl_failed(vm))
    tl_fail_memory(vm, nbytes, "a text");
  return string == NULL ? tl_report(vm)
                        : tl_give(vm, tl_own_string(string), out);
}

// --- tally.h ----------------------------------------------------------------

// No VM is at hand: only the handle's bit changes, and the count stays.
tally_value tally_take(tally_value v) {
  v.handle |= TAKE;
  return v;
}

// A borrowed value gets a count now, since the host wants to hold it longer.
tally_value tally_retain(tally_vm *vm, tally_value v) {
  place *p = tl_enter(vm) ? find(vm, v) : NULL;
  if (p == NULL)
    return v;
  own_place(vm, p);
  p->owners++;
  return v;
}

// Scalars have nothing to release; released handles are recognised and ignored.
void tally_release(tally_vm *vm, tally_value v) {
  if (v.handle >> 32 != TL_PLAIN >> 32 && vm != NULL && vm->handles != NULL)
    release(vm, v);
}

// Frames may be opened in hooks, too: only a number changes.
tally_frame tally_begin(tally_vm *vm) {
  return vm == NULL || vm->handles == NULL ? 0 : ++vm->handles->frame;
}

// Places of the frame, and of those in it that were not ended, go. Those handed
// on are taken out first, and come back as the newest of the frame around. One
// that was made outside of all frames stays there.
void tally_end(tally_vm *vm, tally_frame frame, size_t count,
               const tally_value *kept) {
  if (vm == NULL || vm->handles == NULL || frame == 0 ||
      frame > vm->handles->frame)
    return;
  struct tl_handles *h = vm->handles;
  for (size_t i = 0; i < count; i++) {
    place *p = find(vm, kept[i]);
    if (p != NULL && p->frame >= frame) {
      leave_frame(h, p);
      p->frame = HANDED_ON;
    }
  }
  while (h->newest != NO_PLACE && h->places[h->newest].frame >= frame) {
    place *p = &h->places[h->newest];
    tally_value v = {h->newest, check_of(vm, p)};
    leave_frame(h, p);
    release(vm, v);
  }
  h->frame = frame - 1;
  for (size_t i = 0; i < count; i++) {
    place *p = find(vm, kept[i]);
    if (p != NULL && p->frame == HANDED_ON)
      enter_frame(h, p, frame - 1);
  }
}

// Scalars always are.
int tally_is_live(tally_vm *vm, tally_value v) {
  tl_slot value;
  return tl_enter(vm) && (tl_is_plain(v, &value) || find(vm, v) != NULL);
}
