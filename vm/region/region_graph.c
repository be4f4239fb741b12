// What all stages ask of a graph: how large it is, which arrays it reads, what
// the functions that it calls refer to.
//
// Built for size.

#include "vm/bytecode/module.h"
#include "vm/region/region_internal.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// What a stage sets before it reads it (value, target, stop and others) is left
// as it is.
void tl_region_clear(tl_region_graph *g) {
  g->node_count = g->use_count = g->root_count = g->binding_count = 0;
  g->guard_count = g->index_count = g->shape_count = g->transfer_count = 0;
  g->view_words = g->wrap_count = g->result_count = 0;
  g->check_count = g->callee_count = g->hoisted_count = 0;
  g->uncacheable = false;
  g->before_norm = -1;
  g->consumer = TL_CONSUMER_ARRAY;
  g->place.count = 0;
  g->takes = false;
  g->masked = false;
  g->selected_before = 0;
  g->is_longer = false;
  g->detaches = true;
}

// The arrays of the room are not cleared: counts say how much of each is set.
void tl_region_open(tl_region_graph *g, tl_region_room *room, tl_vm *vm,
                    const tl_prototype *function, tl_slot *base) {
  tl_region_clear(g);
  g->vm = vm;
  g->function = function;
  g->base = base;
  g->nodes = room->nodes;
  g->uses = room->uses;
  g->roots = room->roots;
  g->bindings = room->bindings;
  g->guards = room->guards;
  g->indices = room->indices;
  g->shapes = room->shapes;
  g->views = room->views;
  g->wraps = room->wraps;
  g->result_arguments = room->result_arguments;
  g->together = g->settles = g->has_heirs = false;
  g->inner_count = 0;
  g->view_room = TL_REGION_VIEW_WORDS;
  g->shape_room = TL_REGION_SHAPES;
  g->cached = g->fresh = NULL;
}

// Their values are no operands any more.
void tl_region_end_inner(tl_region_graph *g) {
  for (int i = 0; i < g->inner_count; i++) tl_drop(g->vm, g->inner[i].value);
  g->inner_count = 0;
}

// --- Nodes and results ------------------------------------------------------

// g->value is the last node and, hoisted parts aside, has the shape of all
// others.
int64_t tl_region_size(const tl_region_graph *g) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  return tl_shape_count(shape->ndim, shape->lengths);
}

// Only uses that a needed node reads: a rolled array may have been read for
// nothing.
bool tl_region_has_wrap(const tl_region_graph *g) {
  if (g->wrap_count == 0)
    return false;
  for (int u = 0; u < g->use_count; u++)
    if (g->uses[u].read && g->uses[u].wrap > 0)
      return true;
  return false;
}

// Numbers and arrays of rank 0 are left out.
int tl_region_arrays(const tl_region_graph *g, const tl_array **arrays) {
  int count = 0;
  for (int u = 0; u < g->use_count; u++)
    if ((arrays[count] = tl_region_read_array(&g->uses[u])) != NULL)
      count++;
  return count;
}

// Operations of many cycles an item, which are not to be done twice.
static bool is_costly(tl_op op) {
  return op == TL_OP_POW || op == TL_OP_CBRT ||
         (op >= TL_OP_EXP && op <= TL_OP_LGAMMA);
}

// A second pass over memory costs about as much as six simple operations.
bool tl_region_is_cheap(const tl_region_graph *g) {
  enum { MOST = 6 };
  int count = 0;
  for (int i = 0; i <= g->value; i++)
    if (g->nodes[i].needed && (is_costly(g->nodes[i].op) || ++count > MOST))
      return false;
  return true;
}

// For the statistics: all operations, less those whose result is an array after
// all.
int tl_region_count_fused(const tl_region_graph *g) {
  int fused = 0;
  for (int i = 0; i <= g->value; i++) fused += g->nodes[i].needed;
  if (g->consumer == TL_CONSUMER_ARRAY)
    fused--;
  for (int i = 0; i < g->result_count; i++)
    fused -= g->results[i].fold == NULL && g->results[i].target < 0;
  return fused;
}

// --- Views -------------------------------------------------------------------

// A header as any array's, but with a count that nobody changes, and in words
// of the region's memory, so that it needs no release.
tl_array *tl_region_view(tl_region_graph *g, const tl_array *base,
                         tl_dtype dtype, char *data, int ndim,
                         const int64_t *shape, const int64_t *strides) {
  int words = (int)(sizeof(tl_array) / sizeof(int64_t)) + 2 * ndim + 1;
  if (g->view_words + words > g->view_room)
    return NULL;
  tl_array *view = (tl_array *)(void *)&g->views[g->view_words];
  g->view_words += words;
  view->head = (tl_object){
      .count = 1,
      .kind = TL_KIND_ARRAY,
      .flags = (uint8_t)(TL_VIEW | (base->head.flags & TL_READONLY)),
      .dtype = (uint8_t)dtype,
      .ndim = (uint8_t)ndim,
      .nbytes = (size_t)words * sizeof(int64_t)};
  view->data = data;
  tl_set_dims(view, ndim, shape, strides);
  tl_array_more(view)->owner = tl_array_owner(base);
  return view;
}

// [offset] is in bytes from the first item of the array, so it is good for
// another array of the same geometry.
bool tl_region_move_view(const tl_region_graph *g, const tl_region_guard *f) {
  const tl_array *from = g->uses[f->of[0]].value.array;
  char *data = from->data + f->offset;
  tl_array *view = g->uses[f->use].value.array;
  if (f->again)
    return view->data == data;
  view->data = data;
  view->head.flags = (uint8_t)(TL_VIEW | (from->head.flags & TL_READONLY));
  tl_array_more(view)->owner = tl_array_owner(from);
  return true;
}

// Parts are taken from the uses, whose values a cached graph takes anew before
// this is asked.
bool tl_region_find_index(const tl_region_graph *g, const tl_array *base,
                          const tl_region_index *index, tl_selection *out) {
  tl_slot parts[TL_MAX_DIMS];
  for (int i = 0; i < index->count; i++)
    parts[i] = tl_borrow(g->uses[index->parts[i]].value);
  if (tl_select_plain(base, &index->step, parts, out))
    return true;
  if (!tl_select(g->vm, base, &index->step, parts, out))
    return false;
  if (!out->is_fancy)
    return true;
  tl_selection_close(g->vm, out);
  return false;
}

// --- What a callee's code reads ----------------------------------------------

// [callee] -1 is the function that the region is in.
static const tl_prototype *callee_code(const tl_region_graph *g, int callee) {
  return callee < 0 ? g->function : g->callees[callee].function;
}

// NULL for a function without captures.
static const tl_closure *callee_closure(const tl_region_graph *g, int callee) {
  if (callee < 0)
    return g->vm->frame->closure;
  tl_slot value = g->uses[g->callees[callee].use].value;
  return tl_is_kind(value, TL_KIND_CLOSURE) ? value.pointer : NULL;
}

// The field of a record or module; of an array its size or how many axes it
// has.
static tl_slot find_field(const tl_region_graph *g, const tl_region_guard *f) {
  tl_string *name = callee_code(g, f->of[1])->unit->names[f->at];
  tl_slot of = g->uses[f->of[0]].value;
  // Borrowed: no code that could assign it anew runs before it is used. What
  // would have to be compiled or called first is unset.
  if (tl_is_kind(of, TL_KIND_MODULE)) {
    const tl_slot value = tl_module_member(g->vm, of.pointer, name);
    return tl_is_kind(value, TL_KIND_BUILTIN) &&
                   tl_builtin_is_value(value.pointer)
               ? tl_unset()
               : value;
  }
  if (tl_region_is_array(of) && strcmp(name->text, "size") == 0)
    return tl_weak_int(of.array->size);
  if (tl_region_is_array(of) && strcmp(name->text, "ndim") == 0)
    return tl_weak_int(tl_ndim(of.array));
  const tl_slot *field =
      tl_is_record(of) ? tl_record_get(of.record, name) : NULL;
  return field == NULL ? tl_unset() : *field;
}

// An index counts from the end where it is negative.
static tl_slot find_item(tl_slot of, tl_slot at) {
  if (!tl_is_list(of) || tl_class(at) != TL_CLASS_I64)
    return tl_unset();
  int64_t i = at.i < 0 ? at.i + of.list->length : at.i;
  return i < 0 || i >= of.list->length ? tl_unset() : of.list->items[i];
}

static tl_slot find_length(tl_slot of, tl_slot axis) {
  if (!tl_region_is_array(of) || tl_class(axis) != TL_CLASS_I64)
    return tl_unset();
  int64_t ndim = tl_ndim(of.array), k = axis.i < 0 ? axis.i + ndim : axis.i;
  return k < 0 || k >= ndim ? tl_unset() : tl_weak_int(tl_shape(of.array)[k]);
}

// Modules' variables are read where the callee has them, not where it is
// called. A member of a group of functions is its closure with the member's
// number in the tag.
static tl_slot load(const tl_region_graph *g, const tl_region_guard *f) {
  const int8_t of = f->of[0];
  const tl_closure *closure;
  switch ((tl_region_source)f->from) {
    case TL_FROM_VARIABLE:
      return callee_code(g, of)->unit->module->variables[f->at];
    case TL_FROM_CAPTURE:
      closure = callee_closure(g, of);
      return closure == NULL ? tl_unset() : closure->captures[f->at];
    case TL_FROM_SELF:
      closure = callee_closure(g, of);
      return closure == NULL
                 ? tl_unset()
                 : (tl_slot){.tag = TL_TAG_CLOSURE | (uint64_t)f->at << 32,
                             .pointer = (void *)(uintptr_t)closure};
    case TL_FROM_LENGTH:
      return find_length(g->uses[of].value, f->of[1] < 0
                                                ? tl_weak_int(0)
                                                : g->uses[f->of[1]].value);
    case TL_FROM_LIST:
      return find_item(g->uses[of].value, g->uses[f->of[1]].value);
    default:
      return find_field(g, f);
  }
}

tl_slot tl_region_load(const tl_region_graph *g, const tl_region_guard *f) {
  return tl_borrow(load(g, f));
}
