// Stage "read": parts of arrays: slices and items, transposes, rolled arrays,
// and the selection by a mask that a region may end in. Views have their
// headers in the region's own memory.
//
// Built for size.

#include "vm/region/region_reader.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// The same items in the same order, whatever headers they have.
static bool same_view(const tl_array *a, const tl_array *b) {
  return tl_array_dtype(a) == tl_array_dtype(b) && a->data == b->data &&
         tl_ndim(a) == tl_ndim(b) &&
         memcmp(a->dims, b->dims, (size_t)tl_ndim(a) * 2 * sizeof(int64_t)) ==
             0;
}

// Where a view or an item stands: [guard] says how it was found.
typedef struct place {
  const tl_region_use *from;
  int ndim;
  char *data;
  const int64_t *shape, *strides;
  const int64_t *shift;  // by which it is rolled; NULL: it is not
  tl_region_guard guard;
} place;

// The use that is this view already, 0: none.
static int find_view(const tl_region_graph *g, const tl_array *view,
                     const place *p) {
  for (int i = 0; i < g->use_count; i++) {
    const tl_region_use *u = &g->uses[i];
    if (!u->direct && (u->wrap > 0) == (p->shift != NULL) &&
        u->root == p->from->root && tl_is_array(u->value) &&
        same_view(u->value.array, view) &&
        (u->wrap == 0 || memcmp(tl_region_shift(g, u), p->shift,
                                (size_t)p->ndim * sizeof *p->shift) == 0))
      return -1 - i;
  }
  return 0;
}

// A rolled view shows the array as it lies; the shift stands beside it, and the
// run cuts its tiles at the wraps. False: there are too many.
static bool note_shift(tl_region_reader *rd, int in, const place *p) {
  tl_region_graph *g = rd->g;
  if (g->wrap_count == TL_REGION_WRAPS)
    return false;
  memcpy(g->wraps[g->wrap_count], p->shift, (size_t)p->ndim * sizeof *p->shift);
  tl_reader_use(rd, in)->wrap = (int8_t)++g->wrap_count;
  return true;
}

// The same view twice is one use.
static int add_view(tl_region_reader *rd, const place *p) {
  tl_region_graph *g = rd->g;
  const tl_array *base = p->from->value.array;
  tl_region_guard guard = p->guard;
  int words = g->view_words;
  tl_array *view = tl_region_view(g, base, tl_array_dtype(base), p->data,
                                  p->ndim, p->shape, p->strides);
  if (view == NULL)
    return 0;
  int in = find_view(g, view, p);
  guard.again = in < 0;
  if (guard.again) {
    g->view_words = words;
  } else {
    tl_slot value = {.tag = tl_array_tag(view), .array = view};
    in = tl_reader_add_use(rd, value, p->from->root, false);
    if (in < 0 && p->shift != NULL && !note_shift(rd, in, p))
      return 0;
  }
  tl_reader_add_guard(rd, in, guard);
  return in;
}

// A view of no axes is one item: read now, as a number with a guard of its own.
// Complex128 items would need memory and are left alone.
static bool bind_view(tl_region_reader *rd, const tl_decoded *d, place *p) {
  uint32_t to = (uint32_t)d->result;
  const tl_array *base = p->from->value.array;
  int in;
  p->guard.offset = p->data - base->data;
  if (p->ndim > 0) {
    in = add_view(rd, p);
    return in < 0 && tl_reader_bind(rd, to, in, false);
  }
  tl_dtype dtype = tl_array_dtype(base);
  if (dtype >= TL_COMPLEX128)
    return false;
  in = tl_reader_add_use(rd, tl_scalar_load(dtype, p->data), -1, true);
  p->guard.from = TL_FROM_ITEM;
  tl_reader_add_guard(rd, in, p->guard);
  return in < 0 && tl_reader_bind(rd, to, in, true);
}

// A value between the brackets: integers, none and parts of slices alone.
static bool read_part(tl_region_reader *rd, uint32_t slot,
                      tl_region_index *index) {
  int in;
  if (!tl_reader_look_up(rd, slot, &in) || in >= 0)
    return false;
  index->parts[index->count++] = (int8_t)(-1 - in);
  return !tl_is_heap(tl_reader_use(rd, in)->value);
}

// Single values between brackets, for instructions that have one or two of them
// and no step of their own.
static const tl_index_item value_items[2] = {{TL_ITEM_VALUE, 0},
                                             {TL_ITEM_VALUE, 0}};

// The index of an instruction, whose operands before [first] are others.
bool tl_reader_index(tl_region_reader *rd, const tl_decoded *d, uint32_t first,
                     tl_region_index *index) {
  const tl_path *paths = rd->function->unit->paths;
  index->count = 0;
  if (d->window_count > TL_MAX_DIMS)
    return false;
  for (uint32_t i = 0; i < d->window_count; i++)
    if (!read_part(rd, d->window + i, index))
      return false;
  if (d->op == TL_BC_INDEX || d->op == TL_BC_SETPATH) {
    if (paths[d->extra].step_count != 1 || paths[d->extra].spreads)
      return false;
    index->step = paths[d->extra].steps[0];
    return index->step.field == NULL;
  }
  uint32_t count = d->operand_count - first - (d->op == TL_BC_REPLACE);
  for (uint32_t i = 0; i < count; i++)
    if (!read_part(rd, d->operands[first + i], index))
      return false;
  index->step = (tl_step){.item_count = (uint16_t)count, .items = value_items};
  return true;
}

// The array that is indexed: its number among the uses, -1 where it is none.
static int read_base(tl_region_reader *rd, const tl_decoded *d) {
  int in;
  if (!tl_reader_look_up(rd, d->operands[0], &in))
    return -1;
  const tl_region_use *u = tl_reader_use(rd, in);
  if (u == NULL || !tl_region_is_array(u->value) ||
      tl_array_dtype(u->value.array) >= TL_STRING || u->wrap > 0)
    return -1;
  // What is taken for an update, a[i] in a[i] += 1, leaves the array there.
  if (d->op != TL_BC_TAKEEL)
    tl_reader_consume(rd, d->operands[0], in, d->modes[0]);
  return -1 - in;
}

// Whether a node, or a use as -1 - its number, is a mask whatever the operands
// are; [nodes] says it of the nodes before.
static bool gives_mask(const tl_region_graph *g, int in, const bool *nodes) {
  if (in < 0) {
    const tl_region_use *u = &g->uses[-1 - in];
    return tl_region_is_array(u->value) && u->wrap == 0 &&
           tl_array_dtype(u->value.array) == TL_BOOL;
  }
  return nodes[in];
}

// The same of node [at], whose operands come before it.
static bool node_gives_mask(const tl_region_graph *g, int at,
                            const bool *nodes) {
  const tl_region_node *n = &g->nodes[at];
  if (n->host != NULL)
    return n->host->result->dtype == TL_BOOL;
  if (n->cast != TL_DTYPE_COUNT)
    return n->cast == TL_BOOL;
  switch (n->op) {
    case TL_OP_BITWISE_AND:
    case TL_OP_BITWISE_OR:
    case TL_OP_BITWISE_XOR:
      return gives_mask(g, n->in[0], nodes) && gives_mask(g, n->in[1], nodes);
    case TL_OP_BITWISE_INVERT:
      return gives_mask(g, n->in[0], nodes);
    default:
      return tl_op_result(n->op, TL_FLOAT64) == TL_BOOL;
  }
}

// Whether a node or use is a mask. Nodes are asked in their order, each once:
// in m & m & … one may be reached in very many ways.
bool tl_region_is_mask(const tl_region_graph *g, int in) {
  bool nodes[TL_REGION_NODES];
  for (int i = 0; i <= in; i++) nodes[i] = node_gives_mask(g, i, nodes);
  return gives_mask(g, in, nodes);
}

// x[mask] that is taken for an update by the mask: a view of all of x, of which
// the update puts those items back that the mask takes. Nothing but such items
// and numbers may be computed with until then, so it is not read among several
// results.
static bool is_masked(tl_region_reader *rd, const tl_decoded *d, int *mask) {
  return (d->op == TL_BC_TAKEEL || d->op == TL_BC_GETEL) && rd->depth == 0 &&
         !rd->g->together && tl_reader_look_up(rd, d->operands[1], mask) &&
         (rd->g->takes ? *mask == rd->g->taken_mask
                       : tl_region_is_mask(rd->g, *mask));
}

// Binds what a mask takes. The array may have been taken before, but else no
// view of all of it may be there, which would have items that are not taken.
static bool bind_taken(tl_region_reader *rd, const tl_decoded *d, place *p,
                       int mask) {
  tl_region_graph *g = rd->g;
  int uses = g->use_count, in;
  if (!bind_view(rd, d, p) ||
      !tl_reader_look_up(rd, (uint32_t)d->result, &in) ||
      (g->use_count == uses && !g->uses[-1 - in].taken))
    return false;
  tl_reader_consume(rd, d->operands[1], mask, d->modes[1]);
  g->uses[-1 - in].taken = true;
  if (!g->takes)
    g->taken_at = g->node_count;
  g->takes = true;
  g->taken_mask = mask;
  return true;
}

// The index is stored in the graph for later runs, which apply it to the array
// they find; without room for it the graph is good for this run alone.
bool tl_reader_view(tl_region_reader *rd, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  tl_region_index index = {.count = 0};
  tl_selection s;
  int from = read_base(rd, d), mask;
  bool masked = from >= 0 && is_masked(rd, d, &mask);
  if (from < 0 || (!masked && (g->takes || !tl_reader_index(rd, d, 1, &index))))
    return false;
  if (!tl_region_find_index(g, g->uses[from].value.array, &index, &s))
    return false;
  place p = {.from = &g->uses[from],
             .ndim = s.ndim,
             .data = s.data,
             .shape = s.shape,
             .strides = s.strides,
             .guard = {.from = TL_FROM_VIEW,
                       .of = {(int8_t)from},
                       .at = (uint32_t)g->index_count}};
  if (g->index_count < TL_REGION_INDICES)
    g->indices[g->index_count++] = index;
  else
    g->uncacheable = true;
  return masked ? bind_taken(rd, d, &p, mask) : bind_view(rd, d, &p);
}

// Names of fields are compared by their text: the region has no other way to
// them.
static bool is_named(const tl_string *name, const char *text) {
  return strcmp(name->text, text) == 0;
}

// --- Items of records, modules and lists
// ------------------------------------------

// Where the instruction finds its item, in [guard]; false: it is none of these.
static bool find_item(tl_region_reader *rd, const tl_decoded *d, int of,
                      tl_region_guard *guard) {
  int at;
  *guard = (tl_region_guard){.of = {(int8_t)(-1 - of)}};
  if (d->op == TL_BC_CALLB) {
    guard->from = TL_FROM_LENGTH;
    guard->of[1] = -1;
    return d->window_count == 1;
  }
  if (d->op == TL_BC_GETF) {
    guard->from = TL_FROM_FIELD;
    guard->at = d->extra;
    guard->of[1] = rd->callee;
    return true;
  }
  if (d->op != TL_BC_GETEL || !tl_reader_look_up(rd, d->operands[1], &at) ||
      at >= 0)
    return false;
  guard->from = TL_FROM_LIST;
  guard->of[1] = (int8_t)(-1 - at);
  return true;
}

static bool is_use(const tl_region_graph *g, const void *object) {
  for (int i = 0; i < g->use_count; i++)
    if (g->uses[i].value.pointer == object)
      return true;
  return false;
}

// Whether the container has an array or container that the region does not
// read. With the region it would end after the result has been made, with the
// instruction before.
static bool has_unread(const tl_region_graph *g, tl_slot of) {
  bool is_list = tl_is_list(of);
  int64_t count = is_list            ? of.list->length
                  : tl_is_record(of) ? of.record->length
                                     : 0;
  for (int64_t i = 0; i < count; i++) {
    tl_slot item = is_list ? of.list->items[i] : of.record->fields[i].value;
    bool is_large = tl_is_array(item) || tl_is_list(item) || tl_is_record(item);
    if (is_large && tl_is_owned(item) && !is_use(g, item.pointer))
      return true;
  }
  return false;
}

// x.shape, of which nothing but lengths is read: x.shape[0].
static bool bind_shape(tl_region_reader *rd, const tl_decoded *d, int of) {
  if (d->op != TL_BC_GETF ||
      !is_named(rd->function->unit->names[d->extra], "shape") ||
      !tl_region_is_array(rd->g->uses[-1 - of].value) ||
      !tl_reader_bind(rd, (uint32_t)d->result, of, false))
    return false;
  tl_reader_consume(rd, d->operands[0], of, d->modes[0]);
  tl_reader_binding(rd->g, (uint32_t)d->result)->is_shape = true;
  return true;
}

// One of the lengths; the shape ends.
static bool read_length(tl_region_reader *rd, const tl_decoded *d,
                        tl_region_binding *shape) {
  int at;
  if (d->op != TL_BC_GETEL || d->modes[0] == TL_MODE_BORROW ||
      !tl_reader_look_up(rd, d->operands[1], &at) || at >= 0)
    return false;
  shape->over = true;
  tl_region_guard guard = {.from = TL_FROM_LENGTH,
                           .of = {(int8_t)(-1 - shape->in), (int8_t)(-1 - at)}};
  tl_slot value = tl_region_load(rd->g, &guard);
  int in = tl_is_unset(value) ? 0 : tl_reader_add_loaded(rd, value, guard);
  return in < 0 && tl_reader_bind(rd, (uint32_t)d->result, in, true);
}

// An item is borrowed from its container and may be left in the slot; where
// the instruction ends the container the slot would be the item's owner, so the
// region has to use it up. So it is where the container is itself such an item.
bool tl_reader_item(tl_region_reader *rd, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  bool calls = d->op == TL_BC_CALLB;
  uint32_t slot = calls ? d->window : d->operands[0];
  uint8_t mode = calls ? TL_MODE_CONSUME : d->modes[0];
  int of;
  tl_region_guard guard;
  tl_region_binding *shape = tl_reader_binding(g, slot);
  if (shape != NULL && shape->is_shape)
    return read_length(rd, d, shape);
  if (!tl_reader_look_up(rd, slot, &of) || of >= 0)
    return false;
  if (bind_shape(rd, d, of))
    return true;
  if (!find_item(rd, d, of, &guard))
    return false;
  tl_slot value = tl_region_load(g, &guard);
  if (tl_is_unset(value) ||
      (tl_is_heap(value) && !tl_is_array(value) && !tl_is_record(value) &&
       !tl_is_list(value) && !tl_is_function(value)))
    return false;
  const tl_region_use *u = &g->uses[-1 - of];
  bool ends = mode != TL_MODE_BORROW &&
              (u->root >= 0 ? tl_is_owned(u->value)
                            : !tl_reader_binding(g, slot)->binds);
  tl_reader_consume(rd, slot, of, mode);
  int in = tl_reader_add_loaded(rd, value, guard);
  return in < 0 && !(ends && has_unread(g, g->uses[-1 - of].value)) &&
         tl_reader_bind(rd, (uint32_t)d->result, in,
                        !ends || !tl_is_heap(value));
}

// --- Selections -------------------------------------------------------------

// The root of a use that ends here, which nothing has taken yet; -1: none.
static int ending_root(const tl_region_graph *g, int in, uint8_t mode) {
  if (in >= 0 || (mode != TL_MODE_CONSUME && mode != TL_MODE_EITHER))
    return -1;
  const tl_region_use *u = &g->uses[-1 - in];
  return u->direct ? u->root : -1;
}

// items[mask], of which at least one is computed here: the region's last
// instruction.
bool tl_reader_select(tl_region_reader *rd, uint32_t pc, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  int in, mask;
  if (d->op != TL_BC_GETEL || !tl_reader_look_up(rd, d->operands[0], &in) ||
      !tl_reader_look_up(rd, d->operands[1], &mask) || (in < 0 && mask < 0) ||
      !tl_region_is_mask(g, mask))
    return false;
  const tl_region_use *u = tl_reader_use(rd, in);
  if (u != NULL && (!tl_region_is_array(u->value) || !tl_region_is_operand(u)))
    return false;
  int at = in >= 0 ? 1 : 0;  // the operand that may be no node
  g->target = ending_root(g, in >= 0 ? mask : in, d->modes[at]);
  if (g->target >= 0 && g->roots[g->target].ends)
    return false;
  // What is no node must be there for the instruction to run alone.
  g->detaches = (in < 0 || mask < 0) &&
                tl_reader_is_there(g, tl_reader_binding(g, d->operands[at]));
  tl_reader_consume(rd, d->operands[0], in, d->modes[0]);
  tl_reader_consume(rd, d->operands[1], mask, d->modes[1]);
  g->consumer = TL_CONSUMER_SELECT;
  g->consumer_pc = pc;
  g->consumed_slot = d->operands[in >= 0 ? 0 : 1];
  g->selected = in;
  g->mask = mask;
  g->value = in > mask ? in : mask;
  g->result = (uint32_t)d->result;
  return true;
}

// --- Rolled views and transposes --------------------------------------------

// Whether the instruction alone would give the array in [slot] itself, in which
// the region behind it may leave its result (tl_view_new, roll).
static bool is_better_alone(tl_region_reader *rd, uint32_t slot, uint8_t mode) {
  int in;
  if (rd->g->node_count > 0 || mode == TL_MODE_BORROW ||
      !tl_reader_look_up(rd, slot, &in))
    return false;
  const tl_region_use *u = tl_reader_use(rd, in);
  return u != NULL && u->direct && tl_is_array(u->value) &&
         tl_is_dying(rd->g->vm, u->value);
}

// Shifts lie in [0, length) for each axis, so that two rolls are one by a sum
// and a remainder.
bool tl_reader_roll(tl_region_reader *rd, const tl_decoded *d) {
  int in;
  tl_slot arguments[TL_MAX_PARAMS];
  if (!tl_reader_arguments(rd, d, arguments) ||
      !tl_reader_look_up(rd, d->window, &in) ||
      is_better_alone(rd, d->window, TL_MODE_CONSUME))
    return false;
  const tl_region_use *u = tl_reader_use(rd, in);
  if (u == NULL || !tl_region_is_array(u->value) || !tl_region_is_operand(u))
    return false;
  tl_region_use from = *u;
  const tl_array *a = from.value.array;
  int64_t shift[TL_MAX_DIMS];
  if (!rd->g->vm->library->fused->roll(rd->g->vm, tl_ndim(a), tl_shape(a),
                                       arguments, shift))
    return false;
  for (int i = 0; from.wrap > 0 && i < tl_ndim(a); i++)
    shift[i] = (shift[i] + tl_region_shift(rd->g, &from)[i]) %
               (tl_shape(a)[i] == 0 ? 1 : tl_shape(a)[i]);
  tl_reader_consume(rd, d->window, in, TL_MODE_CONSUME);
  place p = {.from = &from,
             .ndim = tl_ndim(a),
             .data = a->data,
             .shape = tl_shape(a),
             .strides = tl_strides(a),
             .shift = shift,
             .guard = {.from = TL_FROM_AXES, .of = {(int8_t)(-1 - in)}}};
  return bind_view(rd, d, &p);
}

// .T and .mT
bool tl_region_transposes(const tl_string *name) {
  return is_named(name, "T") || is_named(name, "mT");
}

bool tl_reader_transpose(tl_region_reader *rd, const tl_decoded *d) {
  const tl_string *name = rd->function->unit->names[d->extra];
  bool all = is_named(name, "T");
  if (!tl_region_transposes(name) ||
      is_better_alone(rd, d->operands[0], d->modes[0]))
    return false;
  int from = read_base(rd, d);
  if (from < 0)
    return false;
  const tl_array *a = rd->g->uses[from].value.array;
  int ndim = tl_ndim(a), first = all ? 0 : ndim - 2;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  if (first < 0)
    return false;
  for (int i = 0; i < ndim; i++) {
    int axis = i < first ? i : ndim - 1 - (i - first);
    shape[i] = tl_shape(a)[axis];
    strides[i] = tl_strides(a)[axis];
  }
  place p = {.from = &rd->g->uses[from],
             .ndim = ndim,
             .data = a->data,
             .shape = shape,
             .strides = strides,
             .guard = {.from = TL_FROM_AXES, .of = {(int8_t)from}}};
  return bind_view(rd, d, &p);
}
