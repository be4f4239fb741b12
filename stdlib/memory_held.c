// The module memory: what values keep alive, and views that keep more than they
// show.
//
//
//   x  list ──> view ──> block of 800 bytes     held(x): all three, once each
//                  shows 8 bytes of it          retained(): the view, if
//                                               nothing else has the block

#include "stdlib/families.h"
#include "stdlib/memory_records.h"
#include "vm/nested/nested.h"
#include "vm/observe/reach.h"
#include "vm/observe/references.h"
#include "vm/array/string_item.h"

// --- What a value keeps alive -----------------------------------------------

// The bytes of an object, with a host's memory that it stands for and the
// marks of a text.
static uint64_t bytes_of(const tl_object *object) {
  uint64_t nbytes = object->nbytes;
  if (object->kind == TL_KIND_STRING && (object->flags & TL_MARKED) != 0)
    nbytes += ((const tl_string *)object)->marks->nbytes;
  if (object->kind == TL_KIND_ARRAY && (object->flags & TL_EXTERNAL) != 0)
    nbytes += tl_array_more((const tl_array *)object)->nbytes;
  const tl_resource *r = (const tl_resource *)object;
  if (object->kind == TL_KIND_HANDLE && r->counted != NULL &&
      r->counted->device == 0)
    nbytes += r->nbytes;
  return nbytes;
}

// What a value reaches, and the bytes of that. Of many items in one list each
// counts as work.
typedef struct holding {
  tl_reach reach;
  uint64_t nbytes;
} holding;

// Adds an object's bytes where it is met for the first time. A list or an array
// of strings may have millions, so this is where the VM polls.
static void meet(holding *h, tl_slot s) {
  h->reach.failed |= !tl_poll_items(h->reach.vm, TL_REACH_WORK);
  if (tl_reach_meet(&h->reach, s))
    h->nbytes += bytes_of(s.object);
}

// Meets one of an object's items. Scalars live in their slot, so they hold
// nothing. False ends the walk over the items: no memory, or the VM is to stop.
static bool meet_item(void *context, const tl_reference *item) {
  holding *h = context;
  if (tl_is_counted(item->to))
    meet(h, item->to);
  return !h->reach.failed;
}

// Meets the strings of an array that are objects: short texts stand in the
// items themselves.
static void meet_strings(holding *h, const tl_array *a) {
  const tl_string_item *items = tl_string_items(a);
  for (int64_t i = 0; i < a->size && !h->reach.failed; i++) {
    tl_string *string = (tl_string *)tl_string_item_object(&items[i]);
    if (string != NULL && (string->head.flags & TL_IMMORTAL) == 0)
      meet(h, tl_own_string(string));
  }
}

// Meets what a value refers to: an array, its strings; a view, the array that
// it is a part of.
static void look_into(holding *h, tl_slot s) {
  if (!tl_is_array(s))
    tl_each_item(s, meet_item, h);
  else if (tl_is_view(s.array))
    meet(h, tl_own_array((tl_array *)tl_array_owner(s.array)));
  else if (tl_array_dtype(s.array) == TL_STRING)
    meet_strings(h, s.array);
}

// memory.held(x).
static bool held(tl_vm *vm, tl_slot *args, tl_slot *out) {
  holding h = {.reach = {.vm = vm}};
  tl_slot next;
  if (tl_is_counted(args[0]))
    meet(&h, args[0]);
  while (tl_reach_next(&h.reach, &next)) look_into(&h, next);
  bool ok = !h.reach.failed || tl_fail_incomplete(vm, "held");
  tl_reach_end(&h.reach);
  *out = tl_weak_int((int64_t)h.nbytes);
  return ok;
}

// --- Views that keep more ---------------------------------------------------

typedef struct retention {
  tl_list *list;
  tl_reach kept;  // blocks that something other than views refers to
  bool ok;
} retention;

// Notes a block that is there without its views.
static bool note_block(void *context, const tl_reference *r) {
  retention *t = context;
  bool from_view = r->from != NULL && r->from->kind == TL_KIND_ARRAY;
  if (tl_is_array(r->to) && !from_view)
    tl_reach_meet(&t->kept, r->to);
  return !t->kept.failed;
}

// Lists a reference to a view that shows less than the block that it alone
// keeps.
static bool list_view(void *context, const tl_reference *r) {
  retention *t = context;
  if (!tl_is_array(r->to) || !tl_is_view(r->to.array) ||
      tl_value_shown(r->to) >= tl_value_held(r->to) ||
      tl_reach_has(&t->kept, &tl_array_owner(r->to.array)->head))
    return true;
  tl_record *record = tl_record_new(t->kept.vm, 4);
  tl_record_put_text(t->kept.vm, &record, "place", r->name);
  tl_record_put_text(t->kept.vm, &record, "type",
                     tl_described(t->kept.vm, r->to));
  tl_record_put_int(t->kept.vm, &record, "shows",
                    (uint64_t)tl_value_shown(r->to));
  tl_record_put_int(t->kept.vm, &record, "holds",
                    (uint64_t)tl_value_held(r->to));
  t->ok = tl_record_put_into(t->kept.vm, &t->list, record);
  return t->ok;
}

// memory.retained(): views that alone keep a block alive, of which they show a
// part. Two walks: note the blocks that others keep, list the places of views
// of the rest.
static bool retained(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool complete = true;
  retention t = {.list = tl_list_new(vm, 4), .kept = {.vm = vm}};
  t.ok = t.list != NULL;
  if (t.ok)
    tl_each_reference(vm, true, note_block, &t, &complete);
  complete = complete && !t.kept.failed;
  if (t.ok && complete)
    tl_each_reference(vm, true, list_view, &t, &complete);
  if (!complete)
    t.ok = tl_fail_incomplete(vm, "retained");
  tl_reach_end(&t.kept);
  return tl_list_give(vm, t.list, t.ok, out);
}

// --- The tables -------------------------------------------------------------

const tl_builtin tl_memory_held[] = {
    /// The bytes of all that x keeps alive, each object once: of a view its
    /// block, of an array of strings the strings, of a list its items, of a
    /// host's object its own and what it says that it holds; 0 of a number or a
    /// constant of the program. Takes any value of any dtype; lack
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
  if (!tl_is_nested(s))
    return true;
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
