// tally.h: values on their way from one VM to another, perhaps in another
// thread. A parcel belongs to no VM.
//
//     VM a ─ tally_send ─▶ parcel: a tree of nodes ─ tally_receive ─▶ VM b
//                            NODE_LIST
//                             ├ NODE_PLAIN   3
//                             ├ NODE_STRING  "abc"
//                             └ NODE_BLOCK   a large array, not copied
//
// Large arrays with no other owner go with their block; everything else is
// copied. Nodes come from the host's allocator, since no VM accounts for them.
// A node has its children's pointers and its bytes behind it in one block:
//
//   │ node │ child 0 │ child 1 │ … │ data … │

#include <stdio.h>
#include <string.h>

#include "compiler/compile.h"
#include "compiler/resolver.h"
#include "vm/api/api.h"
#include "vm/array/array.h"
#include "vm/array/describe.h"
#include "vm/bytecode/module.h"
#include "vm/poll.h"
#include "vm/values/list.h"
#include "vm/memory/memory.h"
#include "vm/memory/memory_internal.h"
#include "vm/array/range.h"
#include "vm/values/record.h"
#include "vm/array/string_item.h"
#include "vm/nested/nested.h"
#include "vm/types/type.h"

// What a node of the tree is.
typedef enum node_kind {
  NODE_PLAIN,    // a number, bool or none
  NODE_STRING,   // text
  NODE_BLOCK,    // an array object, handed over whole
  NODE_ITEMS,    // an array's shape and items
  NODE_STRINGS,  // an array of strings: its shape, and a child for each
  NODE_LIST,
  NODE_RECORD,  // children: key, value, key, value
  NODE_RANGE,
  NODE_TYPE,      // data: the node of the type and its offsets; children: see
                  // pack_type
  NODE_NESTED,    // children: the parts, and the layout if there is one
  NODE_FUNCTION,  // data: an expression whose value it is
} node_kind;

// A value in a parcel; which fields are used depends on its kind.
typedef struct node {
  struct node *next;  // of all in the parcel, for freeing
  size_t nbytes;      // of this allocation
  node_kind kind;
  tl_slot plain;
  tl_array *block;
  tl_dtype dtype;  // NODE_NESTED: the form
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  size_t length;           // of data
  size_t count;            // children
  struct node **children;  // behind the node, as data are
  char *data;
} node;

// The tree of a value, and the allocator that its nodes came from.
struct tally_parcel {
  void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
  void *context;
  node *nodes, *root;
  int depth;
};

// Packing and unpacking recurse, on the C stack.
// Deeper values fail (kind limit) before the stack of a small thread is used
// up.
enum { MAX_DEPTH = 200 };

// --- Packing ----------------------------------------------------------------

// A node with [length] bytes of data and places for [count] children; NULL
// after tl_fail. All nodes are linked, so that freeing needs no walk of the
// tree.
//
//  node │ links to children │ data        one block of the host's allocator
//
// The allocator is the host's, as a parcel belongs to no VM: it outlives the
// one that it came from, and may be freed in another thread.
static node *new_node(tl_vm *vm, tally_parcel *p, node_kind kind, size_t length,
                      size_t count) {
  size_t nbytes, links;
  node *n = NULL;
  if (!tl_mul_overflows(count, sizeof(node *), &links) &&
      !tl_add_overflows(sizeof *n + length, links, &nbytes) && nbytes > length)
    n = p->resize(p->context, NULL, 0, nbytes);
  if (n == NULL) {
    tl_fail_memory(vm, length, "a value for another VM");
    return NULL;
  }
  memset(n, 0, sizeof *n);
  n->nbytes = nbytes;
  n->kind = kind;
  n->count = count;
  n->children = (node **)(void *)(n + 1);
  n->data = (char *)(n + 1) + links;
  n->length = length;
  n->next = p->nodes;
  p->nodes = n;
  return n;
}

static node *pack(tl_vm *vm, tally_parcel *p, tl_slot *s);

// A string's bytes, copied behind the node.
static node *pack_text(tl_vm *vm, tally_parcel *p, const char *text,
                       size_t nbytes) {
  node *n = new_node(vm, p, NODE_STRING, nbytes, 0);
  if (n != NULL)
    memcpy(n->data, text, nbytes);
  return n;
}

// Notes dtype and shape, which the receiver's array gets.
// Strides are not noted: what arrives is dense and in rows.
static void set_shape(node *n, const tl_array *a) {
  n->dtype = tl_array_dtype(a);
  n->ndim = tl_ndim(a);
  memcpy(n->shape, tl_shape(a), (size_t)n->ndim * sizeof(int64_t));
}

// An array of strings: one child for each.
static node *pack_strings(tl_vm *vm, tally_parcel *p, const tl_array *a) {
  node *n = new_node(vm, p, NODE_STRINGS, 0, (size_t)a->size);
  if (n == NULL)
    return NULL;
  set_shape(n, a);
  const tl_string_item *items = tl_string_items(a);
  for (int64_t i = 0; i < a->size; i++) {
    n->children[i] = pack_text(vm, p, tl_string_item_text(&items[i]),
                               tl_string_item_length(&items[i]));
    if (n->children[i] == NULL)
      return NULL;
  }
  return n;
}

// Hands over an array object with its block: the VM no longer counts it.
// Only the header's own count changes VMs with it: unique, so it is 1.
static node *pack_block(tl_vm *vm, tally_parcel *p, tl_slot *s) {
  tl_array *a = s->array;
  node *n = new_node(vm, p, NODE_BLOCK, 0, 0);
  if (n == NULL)
    return NULL;
  tl_block_leave(vm, a, a->head.nbytes);
  vm->stats.live--;
  n->block = a;
  s->tag &= ~TL_OWNED;
  return n;
}

// Whether the array has no other owner and a block of its own that may change
// VMs.
// Small blocks come out of the VM's own pages (tl_block_may_leave).
static bool may_leave(const tl_vm *vm, tl_slot s) {
  enum { NOT_OURS = TL_VIEW | TL_EXTERNAL | TL_READONLY | TL_IMMORTAL };
  return tl_is_unique(s) && (s.array->head.flags & NOT_OURS) == 0 &&
         tl_block_may_leave(vm, s.array->head.nbytes);
}

// Hands an array over if it may leave, else a dense copy of it.
static node *pack_array(tl_vm *vm, tally_parcel *p, tl_slot *s) {
  if (tl_is_array(*s) && tl_array_dtype(s->array) != TL_STRING &&
      may_leave(vm, *s))
    return pack_block(vm, p, s);
  tl_array *copy = tl_array_copy(vm, s->array);  // dense
  if (copy == NULL)
    return NULL;
  tl_slot made = tl_own_array(copy);
  node *n;
  if (tl_array_dtype(copy) == TL_STRING) {
    n = pack_strings(vm, p, copy);
  } else if (may_leave(vm, made)) {
    n = pack_block(vm, p, &made);
  } else {
    size_t nbytes = (size_t)copy->size * tl_itemsize(tl_array_dtype(copy));
    n = new_node(vm, p, NODE_ITEMS, nbytes, 0);
    if (n != NULL) {
      set_shape(n, copy);
      memcpy(n->data, copy->data, nbytes);
    }
  }
  tl_drop(vm, made);
  return n;
}

// Packs the items of a container, which move out of one that has no other
// owner.
static bool pack_items(tl_vm *vm, tally_parcel *p, node *n, int64_t count,
                       tl_slot *items, bool unique) {
  for (int64_t i = 0; i < count; i++) {
    tl_slot borrowed = tl_borrow(items[i]);
    n->children[i] = pack(vm, p, unique ? &items[i] : &borrowed);
    if (n->children[i] == NULL)
      return false;
    // What moved out leaves none behind.
    if (unique && !tl_is_owned(items[i]))
      items[i] = tl_none();
  }
  return true;
}

// A node with a child for each item; items of a list without another owner move
// into the parcel.
static node *pack_list(tl_vm *vm, tally_parcel *p, tl_slot *s) {
  tl_list *list = s->list;
  node *n = new_node(vm, p, NODE_LIST, 0, (size_t)list->length);
  bool ok = n != NULL &&
            pack_items(vm, p, n, list->length, list->items, tl_is_unique(*s));
  return ok ? n : NULL;
}

static node *pack_type(tl_vm *vm, tally_parcel *p, const tl_type *type);

// Pair i of a type's children: a name and a type, either NULL where it has
// none.
static bool pack_pair(tl_vm *vm, tally_parcel *p, node *n, int64_t i,
                      const tl_string *name, const tl_type *type) {
  node **pair = &n->children[2 * i];
  pair[0] = name ? pack_text(vm, p, name->text, name->length) : NULL;
  pair[1] = type ? pack_type(vm, p, type) : NULL;
  return (pair[0] != NULL) == (name != NULL) &&
         (pair[1] != NULL) == (type != NULL);
}

// A pair for its own name and what it is of, and one for each field. It
// recurses at most TL_TYPE_DEPTH deep.
static node *pack_type(tl_vm *vm, tally_parcel *p, const tl_type *type) {
  size_t count = (size_t)type->field_count;
  size_t offsets = type->offsets != NULL ? count * sizeof(int64_t) : 0;
  node *n = new_node(vm, p, NODE_TYPE, sizeof *type + offsets, 2 + 2 * count);
  if (n == NULL)
    return NULL;
  memcpy(n->data, type, sizeof *type);
  if (offsets > 0)
    memcpy(n->data + sizeof *type, type->offsets, offsets);
  bool ok = pack_pair(vm, p, n, 0, type->name, type->of);
  for (int64_t i = 0; ok && i < type->field_count; i++)
    ok = pack_pair(vm, p, n, i + 1, type->fields[i].name, type->fields[i].type);
  return ok ? n : NULL;
}

// A nested array is its parts, which go as other arrays do.
//
//   [[1, none], [3]]   NODE_NESTED ragged
//                       ├ NODE_ITEMS   0 2 3
//                       └ NODE_NESTED option
//                          ├ NODE_ITEMS   false true false
//                          └ NODE_ITEMS   1 · 3
//
// The layout of structs is a type with offsets, and the last child.
static node *pack_nested(tl_vm *vm, tally_parcel *p, tl_slot *s) {
  tl_nested *nested = s->nested;
  node *n = new_node(vm, p, NODE_NESTED, 0, (size_t)nested->count + 1);
  if (n == NULL)
    return NULL;
  n->dtype = (tl_dtype)tl_nested_form(nested);
  n->ndim = tl_nested_ndim(nested);
  n->children[nested->count] =
      nested->layout != NULL ? pack_type(vm, p, nested->layout) : NULL;
  bool ok =
      (nested->layout == NULL) == (n->children[nested->count] == NULL) &&
      pack_items(vm, p, n, nested->count, nested->parts, tl_is_unique(*s));
  return ok ? n : NULL;
}

// The same for a record's values; keys are copied.
static node *pack_record(tl_vm *vm, tally_parcel *p, tl_slot *s) {
  tl_record *record = s->record;
  bool unique = tl_is_unique(*s);
  node *n = new_node(vm, p, NODE_RECORD, 0, 2 * (size_t)record->length);
  for (int64_t i = 0; n != NULL && i < record->length; i++) {
    tl_field *field = &record->fields[i];
    tl_slot borrowed = tl_borrow(field->value);
    tl_slot key = tl_key_slot(field->key);
    n->children[2 * i] = pack(vm, p, &key);
    n->children[2 * i + 1] = pack(vm, p, unique ? &field->value : &borrowed);
    if (n->children[2 * i] == NULL || n->children[2 * i + 1] == NULL)
      return NULL;
    if (unique && !tl_is_owned(field->value))
      field->value = tl_none();
  }
  return n;
}

// A function of the main module without captured values, as an expression: what
// else it names is looked for in the main module of the receiver.
//
//     x => x + 1       goes as    (x => x + 1)
//     fn f(x) { … }    goes as    (() => {
//                                 fn f(x) { … }
//                                 f
//                                 })()
static node *pack_function(tl_vm *vm, tally_parcel *p, tl_slot s) {
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
    return NULL;
  }
  bool named = f->name->length > 0;
  const char *name = named ? f->name->text : "";
  const char *before = named ? "(() => {\n" : "(";
  const char *behind = named ? "\n})()" : ")";
  int size = (int)(f->end - f->begin);
  size_t room = (size_t)size + f->name->length + 24;
  node *n = new_node(vm, p, NODE_FUNCTION, room, 0);
  if (n != NULL)
    n->length = (size_t)snprintf(n->data, room, "%s%.*s%s%s%s", before, size,
                                 unit->text + f->begin, named ? "\n" : "", name,
                                 behind);
  return n;
}

// Makes the node of a value of any kind that may go to another VM.
static node *pack_value(tl_vm *vm, tally_parcel *p, tl_slot *s) {
  node *n;
  char text[TL_DESCRIBE];
  if (tl_is_array(*s))
    return pack_array(vm, p, s);
  if (tl_is_scalar(*s) || tl_is_none(*s)) {
    n = new_node(vm, p, NODE_PLAIN, 0, 0);
    if (n != NULL)
      n->plain = *s;
    return n;
  }
  switch (tl_dtype_of(*s)) {
    case TL_KIND_STRING:
      return pack_text(vm, p, s->string->text, s->string->length);
    case TL_KIND_LIST:
      return pack_list(vm, p, s);
    case TL_KIND_RECORD:
      return pack_record(vm, p, s);
    case TL_KIND_NESTED:
      return pack_nested(vm, p, s);
    case TL_KIND_TYPE:
      return pack_type(vm, p, s->type);
    case TL_KIND_FUNCTION:
    case TL_KIND_CLOSURE:
      return pack_function(vm, p, *s);
    case TL_KIND_RANGE:
      n = new_node(vm, p, NODE_RANGE, 0, 0);
      if (n != NULL) {
        n->shape[0] = s->range->start;
        n->shape[1] = s->range->stop;
        n->shape[2] = s->range->step;
      }
      return n;
    default:
      tl_fail(vm, TALLY_ERR_TYPE,
              "numbers, strings, arrays, ranges, types, functions of scripts, "
              "and lists and records of them go to another VM: got %s",
              tl_describe(*s, text, sizeof text));
      return NULL;
  }
}

// The same, within the limit of depth: it recurses.
static node *pack(tl_vm *vm, tally_parcel *p, tl_slot *s) {
  if (p->depth == MAX_DEPTH) {
    tl_fail(vm, TALLY_ERR_LIMIT, "a value for another VM nests at most %d deep",
            MAX_DEPTH);
    return NULL;
  }
  p->depth++;
  node *n = pack_value(vm, p, s);
  p->depth--;
  return n;
}

// --- Unpacking --------------------------------------------------------------

static bool unpack(tl_vm *vm, tally_parcel *p, node *n, tl_slot *out);

// Whether the receiving VM frees blocks as the sending one does.
static bool is_same_allocator(const tl_vm *vm, const tally_parcel *p) {
  return vm->options.resize == p->resize &&
         (vm->memory->system || vm->options.context == p->context);
}

// A new array with copied items.
static bool unpack_items(tl_vm *vm, tl_dtype dtype, int ndim,
                         const int64_t *shape, const char *data, tl_slot *out) {
  tl_array *a = tl_array_new(vm, dtype, ndim, shape);
  if (a == NULL)
    return false;
  if (a->size > 0)
    memcpy(a->data, data, (size_t)a->size * tl_itemsize(dtype));
  *out = tl_own_array(a);
  return true;
}

// A copy of a block's items as they lie: its axes may be in another order than
// rows (layout.c), in which they have no gaps either.
static bool copy_block(tl_vm *vm, const tl_array *a, tl_slot *out) {
  int ndim = tl_ndim(a);
  if (!unpack_items(vm, tl_array_dtype(a), ndim, tl_shape(a), a->data, out))
    return false;
  memcpy(tl_strides(out->array), tl_strides(a), (size_t)ndim * sizeof(int64_t));
  // What the slot says of the layout is read from the strides.
  *out = tl_own_array(out->array);
  return true;
}

// Takes a block over, or copies it where the allocators differ.
// On failure the block stays the parcel's, which frees it.
static bool unpack_block(tl_vm *vm, tally_parcel *p, node *n, tl_slot *out) {
  tl_array *a = n->block;
  if (!is_same_allocator(vm, p))
    return copy_block(vm, a, out);
  if (!tl_block_arrive(vm, a, a->head.nbytes))
    return tl_fail_memory(vm, a->head.nbytes, "an array from another VM");
  vm->stats.live++;
  n->block = NULL;
  *out = tl_own_array(a);
  return true;
}

// Short texts come to lie in the items, long ones are strings of this VM.
static bool unpack_strings(tl_vm *vm, const node *n, tl_slot *out) {
  tl_array *a = tl_array_new(vm, TL_STRING, n->ndim, n->shape);
  if (a == NULL)
    return false;
  *out = tl_own_array(a);
  for (size_t i = 0; i < n->count; i++) {
    const node *text = n->children[i];
    if (!tl_string_item_set(vm, &tl_string_items(a)[i], text->data,
                            text->length)) {
      tl_drop(vm, *out);
      return false;
    }
  }
  return true;
}

// The list grows as items arrive, so that a failure drops just those.
static bool unpack_list(tl_vm *vm, tally_parcel *p, node *n, tl_slot *out) {
  tl_list *list = tl_list_new(vm, (int64_t)n->count);
  if (list == NULL)
    return false;
  *out = tl_own_list(list);
  for (size_t i = 0; i < n->count; i++) {
    if (!unpack(vm, p, n->children[i], &list->items[i])) {
      tl_drop(vm, *out);
      return false;
    }
    list->length++;
  }
  return true;
}

// Keys and values alternate among the children.
static bool unpack_record(tl_vm *vm, tally_parcel *p, node *n, tl_slot *out) {
  tl_record *record = tl_record_new(vm, (int64_t)(n->count / 2));
  if (record == NULL)
    return false;
  for (size_t i = 0; i < n->count; i += 2) {
    tl_slot key = tl_none(), value = tl_none();
    bool ok = unpack(vm, p, n->children[i], &key) &&
              unpack(vm, p, n->children[i + 1], &value) &&
              tl_record_set_key(vm, &record, &key, &value);
    tl_drop(vm, key);
    tl_drop(vm, value);
    if (!ok) {
      tl_drop(vm, tl_own_record(record));
      return false;
    }
  }
  *out = tl_own_record(record);
  return true;
}

static tl_type *unpack_type(tl_vm *vm, const node *n);

// A pair of a type's children.
static bool unpack_pair(tl_vm *vm, node *const *pair, tl_type_field *out) {
  if (pair[0] != NULL)
    out->name = tl_string_new(vm, pair[0]->data, pair[0]->length);
  if (pair[1] != NULL)
    out->type = unpack_type(vm, pair[1]);
  return (out->name != NULL) == (pair[0] != NULL) &&
         (out->type != NULL) == (pair[1] != NULL);
}

// The type of this VM that equals the one that was packed.
// What the copy of the old node points to is another VM's, and none of it is
// followed: names and types are made anew, and offsets lie behind the copy.
static tl_type *unpack_type(tl_vm *vm, const node *n) {
  tl_type model;
  memcpy(&model, n->data, sizeof model);
  if (model.kind == TL_TYPE_DTYPE)
    return tl_type_of_dtype(vm, model.dtype);
  size_t count = n->count / 2;
  tl_type_field *pairs =
      tl_alloc_zeroed(vm, count * sizeof *pairs, "a type from another VM");
  bool ok = pairs != NULL;
  for (size_t i = 0; ok && i < count; i++)
    ok = unpack_pair(vm, &n->children[2 * i], &pairs[i]);
  tl_type *made = NULL;
  if (ok) {
    model.name = pairs[0].name;
    model.of = pairs[0].type;
    model.fields = pairs + 1;
    if (model.offsets != NULL)
      model.offsets = (int64_t *)(void *)(n->data + sizeof model);
    made = tl_type_intern(vm, &model);
  }
  for (size_t i = 0; pairs != NULL && i < count; i++)
    if (pairs[i].name != NULL)
      tl_drop(vm, tl_own_string(pairs[i].name));
  if (pairs != NULL)
    tl_free(vm, pairs, count * sizeof *pairs);
  return made;
}

// Parts that were not reached are none, which is dropped as well.
static bool unpack_nested(tl_vm *vm, tally_parcel *p, node *n, tl_slot *out) {
  int64_t count = (int64_t)n->count - 1;
  const node *layout = n->children[count];
  tl_type *type = layout != NULL ? unpack_type(vm, layout) : NULL;
  if (layout != NULL && type == NULL)
    return false;
  tl_nested *made = tl_nested_new(vm, (tl_form)n->dtype, n->ndim, count, type);
  if (made == NULL)
    return false;
  bool ok = true;
  for (int64_t i = 0; ok && i < count; i++)
    ok = unpack(vm, p, n->children[i], &made->parts[i]);
  *out = tl_own_nested(made);
  if (!ok)
    tl_drop(vm, *out);
  return ok;
}

// The unit stays as long as something refers to the function.
// The text is an expression, for which the receiver's limits and capabilities
// hold; a resource's hook may not receive functions, as it may run no code.
static bool unpack_function(tl_vm *vm, const node *n, tl_slot *out) {
  if (!tl_may_run(vm))
    return false;
  if (vm->native_depth == 0)
    tl_poll_begin(vm);
  tl_unit *unit =
      tl_compile(vm, vm->main, "<function>", n->data, n->length, TL_UNIT_EVAL);
  return unit != NULL && tl_run_unit(vm, unit, out);
}

// Makes the value of a node, owned; false after tl_fail.
static bool unpack(tl_vm *vm, tally_parcel *p, node *n, tl_slot *out) {
  *out = tl_none();
  switch (n->kind) {
    case NODE_PLAIN:
      *out = n->plain;
      return true;
    case NODE_STRING: {
      tl_string *string = tl_string_new(vm, n->data, n->length);
      if (string != NULL)
        *out = tl_own_string(string);
      return string != NULL;
    }
    case NODE_BLOCK:
      return unpack_block(vm, p, n, out);
    case NODE_ITEMS:
      return unpack_items(vm, n->dtype, n->ndim, n->shape, n->data, out);
    case NODE_STRINGS:
      return unpack_strings(vm, n, out);
    case NODE_LIST:
      return unpack_list(vm, p, n, out);
    case NODE_RECORD:
      return unpack_record(vm, p, n, out);
    case NODE_NESTED:
      return unpack_nested(vm, p, n, out);
    case NODE_FUNCTION:
      return unpack_function(vm, n, out);
    case NODE_TYPE: {
      tl_type *type = unpack_type(vm, n);
      if (type != NULL)
        *out = tl_type_slot(type);
      return type != NULL;
    }
    case NODE_RANGE: {
      tl_range *range = tl_range_new(vm, n->shape[0], n->shape[1], n->shape[2]);
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
  for (node *n = p->nodes; n != NULL;) {
    node *next = n->next;
    if (n->block != NULL)
      tl_block_free(p->resize, p->context, n->block);
    p->resize(p->context, n, n->nbytes, 0);
    n = next;
  }
  p->resize(p->context, p, sizeof *p, 0);
}

// Takes the handle, so that a large array with no other owner can leave with
// its block.
// Takes v on every path. Fails (kind type) for modules, resources and most
// functions, (kind limit) for values that nest too deeply.
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
                      .context = vm->options.context};
  p->root = pack(vm, p, &value);
  tl_drop(vm, value);
  if (p->root == NULL) {
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
  if (!tl_enter(vm) || parcel == NULL) {
    tally_free_parcel(parcel);
    if (!tl_enter(vm))
      return TALLY_ERR_HOST;
    tl_given(vm, parcel, "the parcel");
    return tl_report(vm);
  }
  TL_FLOATS_HERE;
  bool ok = unpack(vm, parcel, parcel->root, &value);
  tally_free_parcel(parcel);
  return ok ? tl_give(vm, value, out) : tl_report(vm);
}
