// The module memory: what values keep alive, and views that keep more than they
// show.
//
//
//   x  list ──> view ──> block of 800 bytes     held(x): all three, once each
//                  shows 8 bytes of it          retained(): the view, if
//                                               nothing else has the block

#include <stdlib.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "stdlib/memory_records.h"
#include "stdlib/text.h"
#include "vm/array/describe.h"
#include "vm/nested/nested.h"
#include "vm/observe/references.h"
#include "vm/array/string_item.h"

// --- Objects, each once -----------------------------------------------------

typedef struct objects {
  tl_vm *vm;
  const tl_object **found;
  size_t count, room;
  bool ok;
} objects;

// Appends an object, which may be there already. Sets o->ok to false after
// tl_fail.
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

// Appends the strings of an array that are objects. Short texts stand in the
// items themselves, and immortal ones belong to the VM, so neither counts.
static void add_strings(objects *o, const tl_array *a) {
  const tl_string_item *items = tl_string_items(a);
  for (int64_t i = 0; o->ok && i < a->size; i++) {
    const tl_string *string = tl_string_item_object(&items[i]);
    if (string != NULL && (string->head.flags & TL_IMMORTAL) == 0)
      add_object(o, &string->head);
  }
}

// What a value reaches: each object once, found by its address, in the order
// in which it is met. That is a queue too, so that nothing recurses over data.
typedef struct reached {
  objects o;
  tl_slot *queue;
  size_t count, room;  // of the queue
  size_t *places;      // 1 + where in the queue; 0: free; 2 * room of them
} reached;

// Where the object is in the table, or the free place for it. The table is at
// most half full, so that a linear search ends soon; the factor is 2^64 over
// the golden ratio, which spreads addresses that lie evenly (Knuth, vol. 3,
// 6.4).
static size_t *place_of(const reached *r, const tl_object *object) {
  size_t mask = 2 * r->room - 1;
  size_t at = ((uintptr_t)object >> 4) * (size_t)UINT64_C(0x9e3779b97f4a7c15);
  for (at = (at ^ at >> 32) & mask; r->places[at] != 0; at = (at + 1) & mask) {
    if (r->queue[r->places[at] - 1].object == object)
      break;
  }
  return &r->places[at];
}

static void close_reached(reached *r) {
  tl_vm *vm = r->o.vm;
  tl_free(vm, r->queue, r->room * sizeof *r->queue);
  tl_free(vm, r->places, 2 * r->room * sizeof *r->places);
}

// Doubles the queue and the table, and enters all objects again. On failure *r
// is unchanged.
static bool grow(reached *r) {
  reached more = *r;
  // A power of two, as place_of masks with it.
  more.room = r->room != 0 ? 2 * r->room : 64;
  more.queue =
      tl_alloc(r->o.vm, more.room * sizeof *more.queue, "a list of objects");
  more.places = tl_alloc_zeroed(r->o.vm, 2 * more.room * sizeof *more.places,
                                "a list of objects");
  if (more.queue == NULL || more.places == NULL) {
    close_reached(&more);
    return false;
  }
  for (size_t i = 0; i < r->count; i++) {
    more.queue[i] = r->queue[i];
    *place_of(&more, r->queue[i].object) = i + 1;
  }
  close_reached(r);
  *r = more;
  return true;
}

// Adds what s refers to to the queue, unless it is there.
static bool reach(reached *r, tl_slot s) {
  if (!tl_is_counted(s))
    return true;
  if (r->count == r->room && !grow(r))
    return r->o.ok = false;
  size_t *place = place_of(r, s.object);
  if (*place == 0) {
    r->queue[r->count++] = s;
    *place = r->count;
  }
  return true;
}

static bool reach_item(void *context, const tl_reference *item) {
  return reach(context, item->to);
}

// Counts an object of the queue and queues its items. An array counts with the
// block of its owner, of which it may be a view, and with its strings: those
// are too many for the queue and reach nothing themselves.
static void add_one(reached *r, tl_slot s) {
  objects *o = &r->o;
  add_object(o, s.object);
  if (!tl_is_array(s)) {
    tl_each_item(s, reach_item, r);
    return;
  }
  const tl_array *owner = tl_array_owner(s.array);
  if (o->ok && owner != s.array)
    add_object(o, &owner->head);
  if (o->ok && tl_array_dtype(owner) == TL_STRING)
    add_strings(o, owner);
}

// False after tl_fail.
// All that s reaches, s included. The queue grows while it is walked.
static bool add_all(reached *r, tl_slot s) {
  bool ok = reach(r, s);
  for (size_t i = 0; ok && i < r->count; i++) {
    add_one(r, r->queue[i]);
    ok = r->o.ok && ((i & 1023) != 1023 || tl_poll(r->o.vm, 1));
  }
  return ok;
}

static int by_address(const void *a, const void *b) {
  const tl_object *x = *(const tl_object *const *)a;
  const tl_object *y = *(const tl_object *const *)b;
  return (x > y) - (x < y);
}

// The bytes of an object, with a host's memory that it stands for and the
// marks of a text.
static uint64_t bytes_of(const tl_object *object) {
  uint64_t nbytes = object->nbytes;
  if (object->kind == TL_KIND_STRING && (object->flags & TL_MARKED) != 0)
    nbytes += ((const tl_string *)object)->marks->nbytes;
  if (object->kind == TL_KIND_ARRAY && (object->flags & TL_EXTERNAL) != 0)
    nbytes += tl_array_more((const tl_array *)object)->nbytes;
  return nbytes;
}

// memory.held(x). Sorting by address brings equal objects side by side, and
// each is counted once: a block may be in the list as an object and as the
// owner of several views.
static bool held(tl_vm *vm, tl_slot *args, tl_slot *out) {
  reached r = {.o = {.vm = vm, .ok = true}};
  objects *o = &r.o;
  bool ok = add_all(&r, args[0]);
  close_reached(&r);
  uint64_t nbytes = 0;
  if (ok && o->count > 0)
    qsort(o->found, o->count, sizeof *o->found, by_address);
  for (size_t i = 0; ok && i < o->count; i++) {
    if (i == 0 || o->found[i] != o->found[i - 1])
      nbytes += bytes_of(o->found[i]);
  }
  tl_free(vm, o->found, o->room * sizeof *o->found);
  *out = tl_weak_int((int64_t)nbytes);
  return ok;
}

// --- Views that keep more ---------------------------------------------------

typedef struct retention {
  tl_vm *vm;
  tl_list *list;
  objects views;  // whose blocks may have an owner of their own
  bool ok;
} retention;

// Whether s is an array in the block of another.
static bool is_view(tl_slot s) {
  return tl_is_array(s) && tl_is_view(s.array);
}

// Notes views that show less than the block has.
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

// Ends the walk at the first reference to the block that is not a view's.
static bool look_for(void *context, const tl_reference *r) {
  search *s = context;
  bool from_view = r->from != NULL && r->from->kind == TL_KIND_ARRAY;
  s->found = r->to.object == &s->block->head && !from_view;
  return !s->found;
}

// Lists a reference to a view that was noted. A second walk, as the name of a
// place is only valid during one.
static bool list_view(void *context, const tl_reference *r) {
  retention *t = context;
  if (!is_view(r->to))
    return true;
  // A view made since the first walk is not among those that were noted.
  bool wanted = false;
  for (size_t i = 0; i < t->views.count && !wanted; i++)
    wanted = t->views.found[i] == r->to.object;
  if (!wanted)
    return true;
  char type[TL_DESCRIBE];
  tl_record *record = tl_record_new(t->vm, 4);
  tl_record_put_text(t->vm, &record, "place", r->name);
  tl_record_put_text(t->vm, &record, "type",
                     tl_describe(r->to, type, sizeof type));
  tl_record_put_int(t->vm, &record, "shows", (uint64_t)tl_value_shown(r->to));
  tl_record_put_int(t->vm, &record, "holds", (uint64_t)tl_value_held(r->to));
  t->ok = tl_record_put_into(t->vm, &t->list, record);
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

// memory.retained(): views that alone keep a block alive, of which they show a
// part. Three walks: note the views, leave out those whose block has another
// owner, list the places of the others.
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
    t.ok = tl_fail_incomplete(vm, "retained");
  tl_free(vm, t.views.found, t.views.room * sizeof *t.views.found);
  return tl_list_give(vm, t.list, t.ok, out);
}

// --- The tables -------------------------------------------------------------

const tl_builtin tl_memory_held[] = {
    /// The bytes of all that x keeps alive, each object once: of a view its
    /// block, of an array of strings the strings, of a list its items; 0 of a
    /// number or a constant of the program. Takes any value of any dtype; lack
    /// of memory is its only error (kind memory).
    ///     memory.held(zeros(1000)) > 8000    # true
    {"held", "x", held, TL_EFFECT, .takes = TL_FORMS},
    /// The views that keep a block alive of which they show a part, and which
    /// nothing else refers to: a list of records of place, type, shows and holds
    /// (both in bytes, int). pack(x) gives a value that holds no more than it
    /// shows. Lack of memory is its only error (kind memory).
    ///     len(memory.retained())
    {"retained", "", retained, TL_EFFECT},
    {.name = NULL},
};

// Whether a copy of s would take no less memory: no view, no ragged array with
// items between its rows, and none of these inside.
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

// pack(x): x itself where it is packed, else a copy that refers to nothing
// else.
static bool pack(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot x = args[0];
  bool array = tl_is_array(x), nested = tl_is_nested(x);
  if ((!array && !nested) || is_packed(x)) {
    *out = tl_pass_on(&args[0]);
    return true;
  }
  if (nested)
    return tl_nested_copy(vm, x, out);
  return tl_array_finish(vm, true, tl_array_copy(vm, x.array), out);
}

const tl_builtin tl_pack_builtins[] = {
    /// x in memory of its own that holds no more than x shows: a view is copied,
    /// so that the block that it is a part of can go (memory.retained lists such
    /// views); what is no view is given back as it is. Any value, any dtype;
    /// never fails but for lack of memory.
    ///     pack(zeros(1000)[:3])    # [0.0, 0.0, 0.0]
    {"pack", "x", pack, .result = TL_RETURNS, .takes = TL_FORMS},
    {.name = NULL},
};
