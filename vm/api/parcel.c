// tally.h: values on their way from one VM to another, perhaps in another
// thread. A parcel belongs to no VM.
//
//     VM a ─ tally_send ─▶ parcel: bytes ─ tally_receive ─▶ VM b
//
//     (3, "abc", x)   LIST 3 │ PLAIN 3 │ STRING 3 "abc" │ BLOCK of x
//
// Values stand one behind the other, each with its kind in front and what it is
// made of behind, so that they are read in the order in which they were
// written. Large arrays with no other owner go with their block; everything
// else is copied. The bytes come from the host's allocator, since no VM
// accounts for them.

#include <stdio.h>

#include "compiler/compile.h"
#include "compiler/resolver.h"
#include "vm/api/api.h"
#include "vm/memory/memory_internal.h"
#include "vm/array/range.h"
#include "vm/bytecode/module.h"
#include "vm/embedded.h"
#include "vm/host.h"
#include "vm/values/record.h"
#include "vm/array/string_item.h"
#include "vm/nested/nested.h"

// How a value in a parcel goes on, which begins with this as a number. A shape
// is a dtype, a number of axes and their lengths; a text its length and bytes.
typedef enum packed_kind {
  PACKED_PLAIN,     // the slot of a number, bool or none
  PACKED_STRING,    // a text
  PACKED_BLOCK,     // an array object, handed over whole: a packed_block
  PACKED_ITEMS,     // an array's shape and items
  PACKED_STRINGS,   // an array's shape, and a text for each item
  PACKED_LIST,      // how many, and the items
  PACKED_RECORD,    // how many, and for each a key and a value
  PACKED_RANGE,     // start, stop, step
  PACKED_TYPE,      // see pack_type
  PACKED_NESTED,    // form, axes, parts, and the layout if there is one
  PACKED_FUNCTION,  // a text: an expression whose value it is
  PACKED_NAMED,     // a text: the name of a function of the library or the host
} packed_kind;

// A block in the bytes. Each knows where the one before it is, so that those
// which nobody receives are found and freed.
typedef struct packed_block {
  tl_array *array;  // NULL: it was received
  size_t before;
} packed_block;

static const size_t NO_BLOCK = SIZE_MAX;

// The bytes of a value, and the allocator that they come from.
struct tally_parcel {
  void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
  void *context;
  char *bytes;
  size_t length, capacity;
  size_t at;      // how far it has been read
  size_t newest;  // of the blocks; NO_BLOCK: there is none
  int64_t parts;  // that were written or read, for polls
  size_t copied;  // bytes, of blocks as well
  int depth;
  bool failed;  // while packing: nothing more is added
};

// Packing and unpacking recurse, on the C stack.
// Deeper values fail (kind limit) before the stack of a small thread is used
// up.
enum { MAX_DEPTH = 200 };

// --- Bytes ------------------------------------------------------------------

// What [nbytes] take, so that all that stands in a parcel is aligned.
static size_t padded(size_t nbytes) {
  return (nbytes + 7) / 8 * 8;
}

// Counts what is copied against the limit; past it p->failed after tl_fail.
static void count_copied(tl_vm *vm, tally_parcel *p, size_t nbytes) {
  const size_t limit = vm->options.memory_limit;
  if (!p->failed && limit != 0 && nbytes > limit - p->copied) {
    p->failed = true;
    tl_fail_memory(vm, nbytes, "a value for another VM");
  }
  p->copied += nbytes;
}

// Room for [nbytes] more at the end; NULL after tl_fail, now or before. Here
// packing polls, and is bounded: a list that stands in itself twice, 60 deep,
// has more parts than any memory.
static char *reserve(tl_vm *vm, tally_parcel *p, size_t nbytes) {
  size_t more = padded(nbytes), larger;
  p->failed = p->failed || !tl_poll_at(vm, p->parts++);
  count_copied(vm, p, more);
  if (!p->failed && more > p->capacity - p->length) {
    char *moved = NULL;
    if (more >= nbytes &&
        !tl_add_overflows(2 * p->capacity + 64, more, &larger))
      moved = p->resize(p->context, p->bytes, p->capacity, larger);
    if (moved != NULL) {
      p->bytes = moved;
      p->capacity = larger;
    } else {
      p->failed = true;
      tl_fail_memory(vm, nbytes, "a value for another VM");
    }
  }
  if (p->failed)
    return NULL;
  p->length += more;
  return p->bytes + p->length - more;
}

static void put(tl_vm *vm, tally_parcel *p, const void *from, size_t nbytes) {
  char *to = reserve(vm, p, nbytes);
  if (to != NULL && nbytes > 0)
    memcpy(to, from, nbytes);
}

static void put_number(tl_vm *vm, tally_parcel *p, int64_t number) {
  put(vm, p, &number, sizeof number);
}

static void put_text(tl_vm *vm, tally_parcel *p, const char *text,
                     size_t nbytes) {
  put_number(vm, p, (int64_t)nbytes);
  put(vm, p, text, nbytes);
}

// The next [nbytes], which stay the parcel's.
static char *next(tally_parcel *p, size_t nbytes) {
  p->at += padded(nbytes);
  return p->bytes + p->at - padded(nbytes);
}

static int64_t next_number(tally_parcel *p) {
  int64_t number;
  memcpy(&number, next(p, sizeof number), sizeof number);
  return number;
}

static const char *next_text(tally_parcel *p, size_t *nbytes) {
  *nbytes = (size_t)next_number(p);
  return next(p, *nbytes);
}

// --- Packing ----------------------------------------------------------------

// Each function adds a value, or nothing after a failure, which p->failed
// tells. What a slot owns may move into the parcel; the slot then owns nothing.
static void pack(tl_vm *vm, tally_parcel *p, tl_slot *s);

// The kind, dtype and shape, which the receiver's array gets.
// Strides are not noted: what arrives is dense and in rows.
static void put_shape(tl_vm *vm, tally_parcel *p, packed_kind kind,
                      const tl_array *a) {
  put_number(vm, p, kind);
  put_number(vm, p, tl_array_dtype(a));
  put_number(vm, p, tl_ndim(a));
  put(vm, p, tl_shape(a), (size_t)tl_ndim(a) * sizeof(int64_t));
}

// A dense array, by a copy of its items.
static void pack_copy(tl_vm *vm, tally_parcel *p, const tl_array *a) {
  tl_dtype dtype = tl_array_dtype(a);
  bool texts = dtype == TL_STRING;
  put_shape(vm, p, texts ? PACKED_STRINGS : PACKED_ITEMS, a);
  if (!texts)
    put(vm, p, a->data, (size_t)a->size * tl_itemsize(dtype));
  for (int64_t i = 0; texts && i < a->size; i++) {
    const tl_string_item *item = &tl_string_items(a)[i];
    put_text(vm, p, tl_string_item_text(item), tl_string_item_length(item));
  }
}

// Hands over an array object with its block: the VM no longer counts it.
// Only the header's own count changes VMs with it: unique, so it is 1.
static void pack_block(tl_vm *vm, tally_parcel *p, tl_slot *s) {
  packed_block block = {s->array, p->newest};
  put_number(vm, p, PACKED_BLOCK);
  put(vm, p, &block, sizeof block);
  if (p->failed)
    return;
  p->newest = p->length - padded(sizeof block);
  tl_block_leave(vm, s->array, s->array->head.nbytes);
  vm->stats.live--;
  s->tag &= ~TL_OWNED;
}

// Whether it is an array without another owner, whose block is its own and may
// change VMs.
// Small blocks come out of the VM's own pages (tl_block_may_leave).
static bool may_leave(const tl_vm *vm, tl_slot s) {
  enum { NOT_OURS = TL_VIEW | TL_EXTERNAL | TL_READONLY | TL_IMMORTAL };
  return tl_array_dtype(s.array) != TL_STRING && tl_is_unique(s) &&
         (s.array->head.flags & NOT_OURS) == 0 &&
         tl_block_may_leave(vm, s.array->head.nbytes);
}

// Hands an array over if it may leave, else a dense copy of it.
static void pack_array(tl_vm *vm, tally_parcel *p, tl_slot *s) {
  tl_slot made;
  if (may_leave(vm, *s)) {
    pack_block(vm, p, s);
  } else if (!tl_array_give(tl_array_copy(vm, s->array), &made)) {
    p->failed = true;
  } else {
    if (may_leave(vm, made)) {
      count_copied(vm, p, made.array->head.nbytes);
      pack_block(vm, p, &made);
    } else {
      pack_copy(vm, p, made.array);
    }
    tl_drop(vm, made);
  }
}

// An item of a container, which moves out of one without another owner.
static void pack_item(tl_vm *vm, tally_parcel *p, tl_slot *item, bool unique) {
  tl_slot borrowed = tl_borrow(*item);
  pack(vm, p, unique ? item : &borrowed);
  // What moved out leaves none behind.
  if (unique && !tl_is_owned(*item))
    *item = tl_none();
}

static void pack_type(tl_vm *vm, tally_parcel *p, const tl_type *type);

// A name and a type, of which either may be NULL: first which are there.
static void pack_pair(tl_vm *vm, tally_parcel *p, const tl_string *name,
                      const tl_type *type) {
  put_number(vm, p, (name != NULL) | (type != NULL) << 1);
  if (name != NULL)
    put_text(vm, p, name->text, name->length);
  if (type != NULL)
    pack_type(vm, p, type);
}

// The type itself, its offsets if it has any, a pair for its own name and what
// it is of, and one for each field. It recurses at most TL_TYPE_DEPTH deep.
static void pack_type(tl_vm *vm, tally_parcel *p, const tl_type *type) {
  put(vm, p, type, sizeof *type);
  if (type->offsets != NULL)
    put(vm, p, type->offsets, (size_t)type->field_count * sizeof(int64_t));
  pack_pair(vm, p, type->name, type->of);
  for (int64_t i = 0; i < type->field_count; i++)
    pack_pair(vm, p, type->fields[i].name, type->fields[i].type);
}

// A nested array is its parts, which go as other arrays do. The layout of
// structs is a type with offsets.
//
//   [[1, none], [3]]   NESTED ragged │ ITEMS 0 2 3
//                       │ NESTED option │ ITEMS false true false │ ITEMS 1 · 3
static void pack_nested(tl_vm *vm, tally_parcel *p, tl_nested *n, bool unique) {
  put_number(vm, p, tl_nested_form(n));
  put_number(vm, p, tl_nested_ndim(n));
  put_number(vm, p, n->count);
  pack_pair(vm, p, NULL, n->layout);
  for (int64_t i = 0; i < n->count; i++) pack_item(vm, p, &n->parts[i], unique);
}

// Keys are copied.
static void pack_record(tl_vm *vm, tally_parcel *p, tl_record *record,
                        bool unique) {
  put_number(vm, p, record->length);
  for (int64_t i = 0; i < record->length; i++) {
    tl_slot key = tl_key_slot(record->fields[i].key);
    pack(vm, p, &key);
    pack_item(vm, p, &record->fields[i].value, unique);
  }
}

// The name of a function of the library or the host, as scripts write it:
// "sum", "linalg.det". Of those in Tally it is packed where the name leads to
// it, and not for a function within another. Returns whether it was.
static bool pack_named(tl_vm *vm, tally_parcel *p, tl_slot s) {
  const char *module, *name;
  if (tl_is_kind(s, TL_KIND_BUILTIN)) {
    const tl_builtin *row = s.pointer;
    name = row->name;
    module = tl_builtin_is_host(row)
                 ? ((const tl_host_function *)(const void *)row)->module
                 : tl_builtin_module(vm->library, row);
  } else {
    const tl_unit *unit = tl_function_prototype(s)->unit;
    name = tl_function_prototype(s)->name->text;
    module = unit->module->name->text;
    int32_t index = tl_module_find(unit->module, name, strlen(name));
    if (!tl_is_library(vm, unit) || index < 0 ||
        tl_embedded_member(vm->library, module, name) == NULL ||
        unit->module->variables[index].pointer != s.pointer)
      return false;
    const struct tl_embedded *text = tl_embedded_find(vm->library, module);
    module = text->is_global ? NULL : text->name;
  }
  size_t room = strlen(name) + (module == NULL ? 0 : strlen(module)) + 2;
  put_number(vm, p, PACKED_NAMED);
  put_number(vm, p, (int64_t)room);
  char *to = reserve(vm, p, room);
  if (to != NULL)
    snprintf(to, room, "%s.%s", module == NULL ? "" : module, name);
  return true;
}

// A function of the main module without captured values, as an expression: what
// else it names is looked for in the main module of the receiver.
//
//     x => x + 1       goes as    (x => x + 1)
//     fn f(x) { … }    goes as    (() => {
//                                 fn f(x) { … }
//                                 f
//                                 })()
static void pack_function(tl_vm *vm, tally_parcel *p, tl_slot s) {
  const tl_prototype *f = tl_function_prototype(s);
  const tl_unit *unit = f->unit;
  bool captures = tl_is_kind(s, TL_KIND_CLOSURE) &&
                  ((const tl_closure *)s.pointer)->capture_count > 0;
  if (captures || unit->text == NULL || unit->module != vm->main) {
    tl_fail(vm, TALLY_ERR_TYPE,
            captures ? "a function that has captured values does not go to "
                       "another VM"
                     : "a function of another module than main does not go to "
                       "another VM");
    p->failed = true;
    return;
  }
  put_number(vm, p, PACKED_FUNCTION);
  bool named = f->name->length > 0;
  const char *name = named ? f->name->text : "";
  const char *before = named ? "(() => {\n" : "(";
  const char *behind = named ? "\n})()" : ")";
  int size = (int)(f->end - f->begin);
  size_t room = (size_t)size + f->name->length + 24;
  put_number(vm, p, (int64_t)room);
  char *to = reserve(vm, p, room);
  if (to != NULL)
    snprintf(to, room, "%s%.*s%s%s%s", before, size, unit->text + f->begin,
             named ? "\n" : "", name, behind);
}

// A value that is no array, by its kind.
static void pack_object(tl_vm *vm, tally_parcel *p, tl_slot *s) {
  bool unique = tl_is_unique(*s);
  switch (tl_dtype_of(*s)) {
    case TL_KIND_STRING:
      put_number(vm, p, PACKED_STRING);
      put_text(vm, p, s->string->text, s->string->length);
      break;
    case TL_KIND_LIST:
      put_number(vm, p, PACKED_LIST);
      put_number(vm, p, s->list->length);
      for (int64_t i = 0; i < s->list->length; i++)
        pack_item(vm, p, &s->list->items[i], unique);
      break;
    case TL_KIND_RECORD:
      put_number(vm, p, PACKED_RECORD);
      pack_record(vm, p, s->record, unique);
      break;
    case TL_KIND_NESTED:
      put_number(vm, p, PACKED_NESTED);
      pack_nested(vm, p, s->nested, unique);
      break;
    case TL_KIND_TYPE:
      put_number(vm, p, PACKED_TYPE);
      pack_type(vm, p, s->type);
      break;
    case TL_KIND_BUILTIN:
    case TL_KIND_FUNCTION:
    case TL_KIND_CLOSURE:
      if (!pack_named(vm, p, *s))
        pack_function(vm, p, *s);
      break;
    case TL_KIND_RANGE:
      put_number(vm, p, PACKED_RANGE);
      put_number(vm, p, s->range->start);
      put_number(vm, p, s->range->stop);
      put_number(vm, p, s->range->step);
      break;
    default:
      p->failed = true;
      tl_fail(vm, TALLY_ERR_TYPE,
              "numbers, strings, arrays, ranges, types, functions, and lists "
              "and records of them go to another VM: got %s",
              tl_described(vm, *s));
  }
}

// Any value, within the limit of depth: it recurses.
static void pack(tl_vm *vm, tally_parcel *p, tl_slot *s) {
  if (p->failed)
    return;
  if (p->depth == MAX_DEPTH) {
    p->failed = true;
    tl_fail(vm, TALLY_ERR_LIMIT, "a value for another VM nests at most %d deep",
            MAX_DEPTH);
    return;
  }
  p->depth++;
  if (tl_is_array(*s)) {
    pack_array(vm, p, s);
  } else if (tl_is_scalar(*s) || tl_is_none(*s)) {
    put_number(vm, p, PACKED_PLAIN);
    put(vm, p, s, sizeof *s);
  } else {
    pack_object(vm, p, s);
  }
  p->depth--;
}

// --- Unpacking --------------------------------------------------------------

// The next value, owned; false after tl_fail.
static bool unpack(tl_vm *vm, tally_parcel *p, tl_slot *out);

// Whether the receiving VM frees blocks as the sending one does.
static bool is_same_allocator(const tl_vm *vm, const tally_parcel *p) {
  return vm->options.resize == p->resize &&
         (vm->memory->system || vm->options.context == p->context);
}

// A copy of a block's items as they lie: its axes may be in another order than
// rows (layout.c), in which they have no gaps either.
static bool copy_block(tl_vm *vm, const tl_array *a, tl_slot *out) {
  int ndim = tl_ndim(a);
  tl_array *copy = tl_array_new(vm, tl_array_dtype(a), ndim, tl_shape(a));
  if (copy == NULL)
    return false;
  memcpy(copy->data, a->data, tl_item_bytes(a));
  memcpy(tl_strides(copy), tl_strides(a), (size_t)ndim * sizeof(int64_t));
  // What the slot says of the layout is read from the strides.
  return tl_array_give(copy, out);
}

// Takes a block over, or copies it where the allocators differ.
// On failure the block stays the parcel's, which frees it.
static bool unpack_block(tl_vm *vm, tally_parcel *p, tl_slot *out) {
  packed_block *block = (packed_block *)(void *)next(p, sizeof *block);
  tl_array *a = block->array;
  if (!is_same_allocator(vm, p))
    return copy_block(vm, a, out);
  if (!tl_block_arrive(vm, a, a->head.nbytes))
    return tl_fail_memory(vm, a->head.nbytes, "an array from another VM");
  vm->stats.live++;
  block->array = NULL;
  *out = tl_own_array(a);
  return true;
}

// Short texts come to lie in the items, long ones are strings of this VM.
static bool unpack_array(tl_vm *vm, tally_parcel *p, tl_slot *out) {
  tl_dtype dtype = (tl_dtype)next_number(p);
  int ndim = (int)next_number(p);
  const char *shape = next(p, (size_t)ndim * sizeof(int64_t));
  tl_array *a =
      tl_array_new(vm, dtype, ndim, (const int64_t *)(const void *)shape);
  if (a != NULL && dtype != TL_STRING && a->size > 0)
    memcpy(a->data, next(p, tl_item_bytes(a)), tl_item_bytes(a));
  bool ok = a != NULL;
  for (int64_t i = 0;
       dtype == TL_STRING && ok && i < a->size && tl_poll_ok(vm, i, &ok); i++) {
    size_t nbytes;
    const char *text = next_text(p, &nbytes);
    ok = tl_string_item_set(vm, &tl_string_items(a)[i], text, nbytes);
  }
  return tl_array_finish(vm, ok, a, out);
}

// The list grows as items arrive, so that a failure drops just those.
static bool unpack_list(tl_vm *vm, tally_parcel *p, tl_slot *out) {
  int64_t count = next_number(p);
  tl_list *list = tl_list_new(vm, count);
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < count; i++) {
    ok = unpack(vm, p, &list->items[i]);
    list->length += ok;
  }
  return tl_list_give(vm, list, ok, out);
}

// Keys and values alternate.
static bool unpack_record(tl_vm *vm, tally_parcel *p, tl_slot *out) {
  int64_t count = next_number(p);
  tl_record *record = tl_record_new(vm, count);
  bool ok = record != NULL;
  for (int64_t i = 0; ok && i < count; i++) {
    tl_slot key = tl_none(), value = tl_none();
    ok = unpack(vm, p, &key) && unpack(vm, p, &value) &&
         tl_record_set_key(vm, &record, &key, &value);
    tl_drop(vm, key);
    tl_drop(vm, value);
  }
  return tl_record_give(vm, record, ok, out);
}

static tl_type *unpack_type(tl_vm *vm, tally_parcel *p);

// What pack_pair packed.
static bool unpack_pair(tl_vm *vm, tally_parcel *p, tl_type_field *out) {
  int64_t has = next_number(p);
  size_t nbytes;
  if ((has & 1) != 0) {
    const char *text = next_text(p, &nbytes);
    out->name = tl_string_new(vm, text, nbytes);
    if (out->name == NULL)
      return false;
  }
  if ((has & 2) != 0)
    out->type = unpack_type(vm, p);
  return (has & 2) == 0 || out->type != NULL;
}

// The type of this VM that equals the one that was packed.
// What the copy of it points to is another VM's, and none of that is followed:
// names and types are made anew, and offsets lie behind the copy.
static tl_type *unpack_type(tl_vm *vm, tally_parcel *p) {
  tl_type model, *made = NULL;
  memcpy(&model, next(p, sizeof model), sizeof model);
  size_t count = (size_t)model.field_count + 1;
  if (model.offsets != NULL)
    model.offsets =
        (int64_t *)(void *)next(p, (count - 1) * sizeof *model.offsets);
  tl_type_field *pairs =
      tl_alloc_zeroed(vm, count * sizeof *pairs, "a type from another VM");
  bool ok = pairs != NULL;
  for (size_t i = 0; ok && i < count; i++) ok = unpack_pair(vm, p, &pairs[i]);
  if (ok && model.kind == TL_TYPE_DTYPE) {
    made = tl_type_of_dtype(vm, model.dtype);
  } else if (ok) {
    model.name = pairs[0].name;
    model.of = pairs[0].type;
    model.fields = pairs + 1;
    made = tl_type_intern(vm, &model);
  }
  for (size_t i = 0; pairs != NULL && i < count; i++)
    if (pairs[i].name != NULL)
      tl_drop(vm, tl_own_string(pairs[i].name));
  tl_free(vm, pairs, count * sizeof *pairs);
  return made;
}

// Parts that were not reached are none, which is dropped as well.
static bool unpack_nested(tl_vm *vm, tally_parcel *p, tl_slot *out) {
  tl_form form = (tl_form)next_number(p);
  int ndim = (int)next_number(p);
  int64_t count = next_number(p);
  tl_type_field layout = {.type = NULL};
  tl_nested *made = unpack_pair(vm, p, &layout)
                        ? tl_nested_new(vm, form, ndim, count, layout.type)
                        : NULL;
  bool ok = made != NULL;
  for (int64_t i = 0; ok && i < count; i++) ok = unpack(vm, p, &made->parts[i]);
  return tl_nested_finish(vm, ok, made, out);
}

// The unit stays as long as something refers to the function.
// The text is an expression, for which the receiver's limits and capabilities
// hold; a resource's hook may not receive functions, as it may run no code.
static bool unpack_function(tl_vm *vm, tally_parcel *p, tl_slot *out) {
  size_t room;
  const char *text = next_text(p, &room);
  if (!tl_may_run(vm))
    return false;
  if (vm->outside)
    tl_poll_begin(vm);
  tl_unit *unit =
      tl_compile(vm, vm->main, "<function>", text, strlen(text), TL_UNIT_EVAL);
  return unit != NULL && tl_run_unit(vm, unit, out);
}

static bool unpack(tl_vm *vm, tally_parcel *p, tl_slot *out) {
  *out = tl_none();
  if (!tl_poll_at(vm, p->parts++))
    return false;
  switch ((packed_kind)next_number(p)) {
    case PACKED_PLAIN:
      memcpy(out, next(p, sizeof *out), sizeof *out);
      return true;
    case PACKED_STRING: {
      size_t nbytes;
      const char *text = next_text(p, &nbytes);
      return tl_string_give(tl_string_new(vm, text, nbytes), out);
    }
    case PACKED_BLOCK:
      return unpack_block(vm, p, out);
    case PACKED_ITEMS:
    case PACKED_STRINGS:
      return unpack_array(vm, p, out);
    case PACKED_LIST:
      return unpack_list(vm, p, out);
    case PACKED_RECORD:
      return unpack_record(vm, p, out);
    case PACKED_NESTED:
      return unpack_nested(vm, p, out);
    case PACKED_FUNCTION:
      return unpack_function(vm, p, out);
    case PACKED_NAMED: {
      size_t room;
      return tl_function_named(vm, next_text(p, &room), out);
    }
    case PACKED_TYPE: {
      tl_type *type = unpack_type(vm, p);
      if (type != NULL)
        *out = tl_type_slot(type);
      return type != NULL;
    }
    case PACKED_RANGE: {
      int64_t start = next_number(p), stop = next_number(p);
      tl_range *range = tl_range_new(vm, start, stop, next_number(p));
      if (range != NULL)
        *out = tl_own_range(range);
      return range != NULL;
    }
  }
  return false;
}

// --- tally.h ----------------------------------------------------------------

// Needs no VM: parcels that were never received end here.
void tally_free_parcel(tally_parcel *p) {
  if (p == NULL)
    return;
  for (size_t at = p->newest; at != NO_BLOCK;) {
    const packed_block *block = (const packed_block *)(void *)(p->bytes + at);
    at = block->before;
    if (block->array != NULL)
      tl_block_free(p->resize, p->context, block->array);
  }
  if (p->bytes != NULL)
    p->resize(p->context, p->bytes, p->capacity, 0);
  p->resize(p->context, p, sizeof *p, 0);
}

// Takes the handle, so that a large array with no other owner can leave with
// its block.
// Takes v on every path. Fails (kind type) for modules, resources and functions
// that have captured values, (kind limit) for values that nest too deeply.
tally_status tally_send(tally_vm *vm, tally_value v, tally_parcel **out) {
  TL_ENTER(vm);
  tl_slot value;
  if (!tl_handle_take(vm, v, &value))
    return tl_report(vm);
  tally_parcel *p = NULL;
  if (tl_given(vm, out, "the place for the parcel")) {
    p = tl_host_new(vm, sizeof *p);
    if (p == NULL)
      tl_fail_memory(vm, sizeof *p, "a value for another VM");
  }
  if (p == NULL) {
    tl_drop(vm, value);
    return tl_report(vm);
  }
  *p = (tally_parcel){.resize = vm->options.resize,
                      .context = vm->options.context,
                      .newest = NO_BLOCK};
  pack(vm, p, &value);
  tl_drop(vm, value);
  if (p->failed) {
    tally_free_parcel(p);
    return tl_report(vm);
  }
  *out = p;
  return TALLY_OK;
}

// Takes the parcel on every path.
tally_status tally_receive(tally_vm *vm, tally_parcel *parcel,
                           tally_value *out) {
  tl_slot value;
  if (!tl_enter(vm))
    tally_free_parcel(parcel);
  TL_ENTER(vm);
  if (!tl_given(vm, parcel, "the parcel"))
    return tl_report(vm);
  parcel->parts = 0;
  bool ok = unpack(vm, parcel, &value);
  tally_free_parcel(parcel);
  return ok ? tl_give(vm, value, out) : tl_report(vm);
}
