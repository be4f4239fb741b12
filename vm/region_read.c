// Reading a region's instructions: what they would do, as a graph. Nothing is
// written meanwhile, so that a region may be given up at any point.
#include <string.h>

#include "vm/error.h"
#include "vm/region_internal.h"
#include "vm/type.h"

// --- Slots ------------------------------------------------------------------

typedef struct reader {
  tl_region_graph *g;
  // The code that is read: the region's function, or one that it calls, whose
  // slots begin at the call's window.
  const tl_prototype *function;
  uint32_t slots;
  int depth;     // of calls
  uint32_t end;  // the pc after the region's own instruction
} reader;

// The last binding of a slot, NULL: none.
static tl_region_binding *binding_of(const tl_region_graph *g, uint32_t slot) {
  for (int i = g->binding_count - 1; i >= 0; i--) {
    if (g->bindings[i].slot == slot)
      return &g->bindings[i];
  }
  return NULL;
}

static bool bind(reader *rd, uint32_t slot, int in, bool kept) {
  tl_region_graph *g = rd->g;
  if (g->binding_count == TL_REGION_BINDINGS)
    return false;
  tl_region_binding *before = binding_of(g, slot);
  if (before != NULL)
    before->over = true;
  g->bindings[g->binding_count++] = (tl_region_binding){
      .slot = slot, .in = in, .kept = kept && rd->depth == 0};
  return true;
}

static int add_use(reader *rd, tl_slot value, int root, bool direct) {
  tl_region_graph *g = rd->g;
  if (g->use_count == TL_REGION_USES)
    return 0;
  g->uses[g->use_count] = (tl_region_use){.value = value,
                                          .items = tl_region_items(value),
                                          .root = root,
                                          .direct = direct};
  return -1 - g->use_count++;
}

static int add_literal(reader *rd, tl_slot value) {
  int in = add_use(rd, value, -1, true);
  if (in < 0)
    rd->g->uses[-1 - in].fixed = true;
  return in;
}

// Notes where the use [in] comes from.
static void add_fact(reader *rd, int in, tl_region_fact fact) {
  tl_region_graph *g = rd->g;
  if (in >= 0)
    return;
  if (g->fact_count == TL_REGION_FACTS) {
    g->fleeting = true;
    return;
  }
  fact.use = (int8_t)(-1 - in);
  g->facts[g->fact_count++] = fact;
}

// The value of a slot that the region has not seen yet: 0 is a failure.
static int add_root(reader *rd, uint32_t slot) {
  tl_region_graph *g = rd->g;
  tl_slot value = g->base[slot];
  int root = -1;
  if (tl_is_heap(value)) {
    if (g->root_count == TL_REGION_ROOTS)
      return 0;
    root = g->root_count++;
    g->roots[root] = (tl_region_root){.slot = slot, .value = value};
  }
  int in = add_use(rd, value, root, true);
  add_fact(rd, in, (tl_region_fact){.from = TL_FROM_SLOT, .at = slot});
  return in;
}

// What a slot holds: a node's number or a use's, in *in.
static bool look_up(reader *rd, uint32_t slot, int *in) {
  const tl_region_binding *binding = binding_of(rd->g, slot);
  if (binding != NULL) {
    *in = binding->in;
    return true;
  }
  if (rd->depth > 0)
    return false;
  *in = add_root(rd, slot);
  return *in < 0 && bind(rd, slot, *in, false);
}

// A use's value; NULL for a node.
static tl_region_use *use_of(reader *rd, int in) {
  return in >= 0 ? NULL : &rd->g->uses[-1 - in];
}

// An instruction ends what it reads: of a view only the view's object, which
// here there is none of.
static void consume(reader *rd, uint32_t slot, int in, uint8_t mode) {
  const tl_region_use *u = use_of(rd, in);
  if (mode != TL_MODE_CONSUME && mode != TL_MODE_EITHER)
    return;
  binding_of(rd->g, slot)->over = true;
  if (u != NULL && u->direct && u->root >= 0)
    rd->g->roots[u->root].ends = true;
}

static bool is_operand(const tl_region_use *u) {
  return u == NULL || tl_is_number(u->items) ||
         (tl_is_array(u->items) && u->items.array->head.dtype < TL_STRING);
}

static bool operand(reader *rd, const tl_decoded *d, uint32_t i, int *in) {
  if (!look_up(rd, d->operands[i], in) || !is_operand(use_of(rd, *in))) {
    return false;
  }
  consume(rd, d->operands[i], *in, d->modes[i]);
  return true;
}

// --- Loads, moves and ends --------------------------------------------------

static tl_slot load_value(const reader *rd, const tl_decoded *d) {
  const tl_prototype *f = rd->function;
  switch (d->op) {
    case TL_BC_LOADK:
      return f->constants[d->extra];
    case TL_BC_LOADI:
      return tl_weak_int((int32_t)d->extra);
    case TL_BC_GETC:  // the highest bit: it is surely set
      return tl_borrow(
          rd->g->vm->frame->closure->captures[d->extra & 0x7fffffffu]);
    default:
      return tl_borrow(f->unit->module->variables[d->extra]);
  }
}

static bool read_load(reader *rd, const tl_decoded *d) {
  tl_slot value = load_value(rd, d);
  if (tl_is_unset(value))
    return false;
  bool is_literal = d->op == TL_BC_LOADK || d->op == TL_BC_LOADI;
  int in = is_literal ? add_literal(rd, value) : add_use(rd, value, -1, true);
  if (d->op == TL_BC_GETC) {
    add_fact(rd, in,
             (tl_region_fact){.from = TL_FROM_CAPTURE,
                              .at = d->extra & 0x7fffffffu});
  } else if (!is_literal) {
    add_fact(rd, in,
             (tl_region_fact){.from = TL_FROM_VARIABLE, .at = d->extra});
  }
  return in < 0 && bind(rd, (uint32_t)d->result, in, true);
}

// A number or constant goes to the slot in the end; an array is used up here.
static bool read_move(reader *rd, const tl_decoded *d) {
  int in;
  if (!look_up(rd, d->operands[0], &in))
    return false;
  const tl_region_use *u = use_of(rd, in);
  bool lent = d->op == TL_BC_MOVB;
  if (u != NULL && u->root >= 0 && u->direct && lent) {
    tl_region_fact fact = {.from = TL_FROM_LENT, .of = {(int8_t)(-1 - in)}};
    in = add_use(rd, tl_borrow(u->value), -1, true);
    if (in >= 0)
      return false;
    add_fact(rd, in, fact);
  }
  bool kept = u != NULL && (lent ? u->direct : !tl_is_heap(u->value));
  if (!lent)
    binding_of(rd->g, d->operands[0])->over = true;
  return bind(rd, (uint32_t)d->result, in, kept);
}

static bool read_drop(reader *rd, const tl_decoded *d) {
  int in;
  if (!look_up(rd, d->operands[0], &in))
    return false;
  consume(rd, d->operands[0], in, TL_MODE_EITHER);
  return true;
}

// A view that the region alone knows needs no hold on its block: what it shows
// ends after the region.
static bool read_hold(reader *rd, const tl_decoded *d) {
  int in;
  int view = d->op == TL_BC_HOLD ? 0 : 1;
  if (!look_up(rd, d->operands[view], &in))
    return false;
  const tl_region_use *u = use_of(rd, in);
  return u == NULL || !u->direct || !tl_is_heap(u->value);
}

// x's ownership of an object goes to y, which shows the same one
// (tl_do_settle). What the region makes itself has no such owner.
static bool read_settle(reader *rd, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  int x_in, y_in;
  if (!look_up(rd, d->operands[0], &x_in) ||
      !look_up(rd, d->operands[1], &y_in) || x_in == y_in) {
    return false;
  }
  tl_region_use *x = use_of(rd, x_in), *y = use_of(rd, y_in);
  if (x == NULL || y == NULL || !x->direct || !y->direct)
    return true;
  bool settles = tl_region_settles(x->value, y->value);
  add_fact(rd, x_in,
           (tl_region_fact){.from = TL_FROM_SETTLED,
                            .of = {(int8_t)(-1 - x_in), (int8_t)(-1 - y_in)},
                            .settled = settles});
  if (!settles)
    return true;
  if (x->root < 0 || y->root < 0 || g->roots[x->root].ends ||
      g->settled_count == TL_REGION_SETTLED) {
    return false;
  }
  g->settled[g->settled_count].from = (int8_t)x->root;
  g->settled[g->settled_count++].to = (int8_t)y->root;
  x->value.tag &= ~TL_OWNED;
  y->value.tag |= TL_OWNED;
  g->roots[x->root].value = x->value;
  g->roots[y->root].value = y->value;
  return true;
}

// --- Views ------------------------------------------------------------------

static bool same_view(const tl_array *a, const tl_array *b) {
  return tl_array_dtype(a) == tl_array_dtype(b) && a->data == b->data &&
         tl_ndim(a) == tl_ndim(b) &&
         memcmp(a->dims, b->dims, (size_t)tl_ndim(a) * 2 * sizeof(int64_t)) ==
             0;
}

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
  view->size = 1;
  for (int i = 0; i < ndim; i++) {
    view->size *= shape[i];
    view->dims[i] = shape[i];
    view->dims[ndim + i] = strides[i];
  }
  tl_array_more(view)->owner = tl_array_owner(base);
  return view;
}

// The use that is this view already, 0: none.
static int find_view(const tl_region_graph *g, const tl_array *view, int root) {
  for (int i = 0; i < g->use_count; i++) {
    const tl_region_use *u = &g->uses[i];
    if (!u->direct && u->seam == 0 && u->root == root &&
        tl_is_array(u->value) && same_view(u->value.array, view)) {
      return -1 - i;
    }
  }
  return 0;
}

// Where a view or an item stands: [fact] says how it was found.
typedef struct place {
  const tl_region_use *from;
  int ndim;
  char *data;
  const int64_t *shape, *strides;
  tl_region_fact fact;
} place;

// The same view twice is one use.
static int add_view(reader *rd, const place *p) {
  tl_region_graph *g = rd->g;
  const tl_array *base = p->from->value.array;
  tl_region_fact fact = p->fact;
  int words = g->view_words, root = p->from->root;
  tl_array *view = tl_region_view(g, base, tl_array_dtype(base), p->data,
                                  p->ndim, p->shape, p->strides);
  if (view == NULL)
    return 0;
  int in = find_view(g, view, root);
  fact.again = in < 0;
  if (fact.again) {
    g->view_words = words;
  } else {
    tl_slot value = {.tag = tl_array_tag(view), .array = view};
    in = add_use(rd, value, root, false);
  }
  add_fact(rd, in, fact);
  return in;
}

static bool bind_view(reader *rd, const tl_decoded *d, place *p) {
  uint32_t to = (uint32_t)d->result;
  const tl_array *base = p->from->value.array;
  int in;
  p->fact.offset = p->data - base->data;
  if (p->ndim > 0) {
    in = add_view(rd, p);
    return in < 0 && bind(rd, to, in, false);
  }
  tl_dtype dtype = tl_array_dtype(base);
  if (dtype >= TL_COMPLEX128)
    return false;
  in = add_use(rd, tl_scalar_load(dtype, p->data), -1, true);
  p->fact.from = TL_FROM_ITEM;
  add_fact(rd, in, p->fact);
  return in < 0 && bind(rd, to, in, true);
}

// A value between the brackets: integers, none and parts of slices alone.
static bool read_part(reader *rd, uint32_t slot, tl_region_index *index) {
  int in;
  if (!look_up(rd, slot, &in) || in >= 0)
    return false;
  index->parts[index->count++] = (int8_t)(-1 - in);
  return !tl_is_heap(use_of(rd, in)->value);
}

void tl_region_parts(const tl_region_graph *g, const tl_region_index *index,
                     tl_slot *parts) {
  for (int i = 0; i < index->count; i++) {
    parts[i] = tl_borrow(g->uses[index->parts[i]].value);
  }
}

static const tl_index_item value_items[2] = {{TL_ITEM_VALUE, 0},
                                             {TL_ITEM_VALUE, 0}};

// The index of an instruction, whose operands before [first] are others.
static bool read_index(reader *rd, const tl_decoded *d, uint32_t first,
                       tl_region_index *index) {
  const tl_path *paths = rd->function->unit->paths;
  index->count = 0;
  if (d->window_count > TL_MAX_DIMS)
    return false;
  for (uint32_t i = 0; i < d->window_count; i++) {
    if (!read_part(rd, d->window + i, index))
      return false;
  }
  if (d->op == TL_BC_INDEX || d->op == TL_BC_SETPATH) {
    if (paths[d->extra].step_count != 1)
      return false;
    index->step = paths[d->extra].steps[0];
    return index->step.field == NULL;
  }
  uint32_t count = d->operand_count - first;
  for (uint32_t i = 0; i < count; i++) {
    if (!read_part(rd, d->operands[first + i], index))
      return false;
  }
  index->step = (tl_step){.item_count = (uint16_t)count, .items = value_items};
  return true;
}

// The array that is indexed: its number among the uses, -1 where it is none.
static int read_base(reader *rd, const tl_decoded *d) {
  int in;
  if (!look_up(rd, d->operands[0], &in))
    return -1;
  const tl_region_use *u = use_of(rd, in);
  if (u == NULL || !tl_region_is_array(u->value) ||
      tl_array_dtype(u->value.array) >= TL_STRING) {
    return -1;
  }
  if (u->seam > 0)
    return -1;
  consume(rd, d->operands[0], in, d->modes[0]);
  return -1 - in;
}

static bool read_view(reader *rd, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  tl_region_index index;
  tl_slot parts[TL_MAX_DIMS];
  tl_selection s;
  int from = read_base(rd, d);
  if (from < 0 || !read_index(rd, d, 1, &index))
    return false;
  tl_region_parts(g, &index, parts);
  if (!tl_select(g->vm, g->uses[from].value.array, &index.step, parts, &s))
    return false;
  place p = {.from = &g->uses[from],
             .ndim = s.ndim,
             .data = s.data,
             .shape = s.shape,
             .strides = s.strides,
             .fact = {.from = TL_FROM_VIEW,
                      .of = {(int8_t)from},
                      .at = (uint32_t)g->index_count}};
  if (g->index_count < TL_REGION_INDICES) {
    g->indices[g->index_count++] = index;
  } else {
    g->fleeting = true;
  }
  return bind_view(rd, d, &p);
}

// --- Rolled views -----------------------------------------------------------

// The same array rolled by the same shift is one use.
static int add_rolled(reader *rd, const tl_region_use *from,
                      const int64_t *shift) {
  tl_region_graph *g = rd->g;
  const tl_array *a = from->value.array;
  size_t nbytes = (size_t)tl_ndim(a) * sizeof *shift;
  for (int i = 0; i < g->use_count; i++) {
    const tl_region_use *u = &g->uses[i];
    if (u->seam > 0 && u->root == from->root && same_view(u->value.array, a) &&
        memcmp(tl_region_shift(g, u), shift, nbytes) == 0) {
      return -1 - i;
    }
  }
  if (g->seam_count == TL_REGION_SEAMS)
    return 0;
  tl_array *view = tl_region_view(g, a, tl_array_dtype(a), a->data, tl_ndim(a),
                                  tl_shape(a), tl_strides(a));
  if (view == NULL)
    return 0;
  tl_slot value = {.tag = tl_array_tag(view), .array = view};
  int in = add_use(rd, value, from->root, false);
  if (in >= 0)
    return 0;
  memcpy(g->seams[g->seam_count], shift, nbytes);
  use_of(rd, in)->seam = (int8_t)++g->seam_count;
  return in;
}

// An argument of a call, which ends there: a scalar, a constant or a list.
static bool read_argument(reader *rd, uint32_t slot, tl_slot *out) {
  int in;
  if (!look_up(rd, slot, &in) || in >= 0)
    return false;
  tl_region_use *u = use_of(rd, in);
  tl_slot value = u->value;
  *out = tl_borrow(value);
  u->exact = true;
  if (!u->fixed && tl_is_heap(value) && !tl_is_type(value))
    rd->g->fleeting = true;
  consume(rd, slot, in, TL_MODE_CONSUME);
  return !tl_is_array(value) || !tl_is_owned(value);
}

static bool read_arguments(reader *rd, const tl_decoded *d, tl_slot *out) {
  for (uint32_t i = 1; i < d->window_count; i++) {
    if (!read_argument(rd, d->window + i, &out[i]))
      return false;
  }
  return d->window_count > 0 && d->window_count <= TL_MAX_PARAMS;
}

static bool read_roll(reader *rd, const tl_decoded *d) {
  int in;
  tl_slot arguments[TL_MAX_PARAMS];
  if (!read_arguments(rd, d, arguments) || !look_up(rd, d->window, &in)) {
    return false;
  }
  const tl_region_use *u = use_of(rd, in);
  if (u == NULL || !tl_region_is_array(u->value) || !is_operand(u))
    return false;
  tl_region_use from = *u;
  const tl_array *a = from.value.array;
  int64_t shift[TL_MAX_DIMS];
  if (!tl_builtin_roll(rd->g->vm, tl_ndim(a), tl_shape(a), arguments, shift))
    return false;
  for (int i = 0; from.seam > 0 && i < tl_ndim(a); i++) {
    shift[i] = (shift[i] + tl_region_shift(rd->g, &from)[i]) %
               (tl_shape(a)[i] == 0 ? 1 : tl_shape(a)[i]);
  }
  consume(rd, d->window, in, TL_MODE_CONSUME);
  in = add_rolled(rd, &from, shift);
  rd->g->fleeting = true;
  return in < 0 && bind(rd, (uint32_t)d->result, in, false);
}

static bool is_named(const tl_string *name, const char *text) {
  return strcmp(name->text, text) == 0;
}

// .T and .mT
static bool read_transpose(reader *rd, const tl_decoded *d) {
  const tl_string *name = rd->function->unit->names[d->extra];
  bool all = is_named(name, "T");
  if (!all && !is_named(name, "mT"))
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
             .fact = {.from = TL_FROM_AXES, .of = {(int8_t)from}}};
  return bind_view(rd, d, &p);
}

// --- Operations -------------------------------------------------------------

// A number: an unboxed one, or one in an array of rank 0.
static bool is_scalar(const tl_region_graph *g, int in) {
  return in < 0 && !tl_region_is_array(g->uses[-1 - in].items);
}

static bool all_scalars(const tl_region_graph *g, const tl_region_node *n) {
  for (int i = 0; i < n->arity; i++) {
    if (!is_scalar(g, n->in[i]))
      return false;
  }
  return true;
}

// An operation on scalars alone is computed on the spot.
static bool compute_scalar(reader *rd, const tl_region_node *n, uint32_t to) {
  tl_region_graph *g = rd->g;
  tl_slot operands[3], result;
  for (int i = 0; i < n->arity; i++) {
    operands[i] = tl_borrow(g->uses[-1 - n->in[i]].value);
  }
  if (!tl_elementwise(g->vm, n->op, operands, &result))
    return false;
  if (tl_is_heap(result)) {  // complex128: rare enough to go one by one
    tl_drop(g->vm, result);
    return false;
  }
  int in = add_use(rd, result, -1, true);
  tl_region_fact fact = {.from = TL_FROM_SCALARS, .at = n->op};
  for (int i = 0; i < n->arity; i++) fact.of[i] = (int8_t)(-1 - n->in[i]);
  add_fact(rd, in, fact);
  return in < 0 && bind(rd, to, in, true);
}

// The node that computes the same already, or -1.
static int find_same(const tl_region_graph *g, const tl_region_node *n) {
  for (int i = 0; i < g->node_count; i++) {
    const tl_region_node *other = &g->nodes[i];
    if (other->op != n->op || other->cast != n->cast || other->host != NULL)
      continue;
    bool same = true;
    for (int k = 0; k < n->arity && same; k++) {
      same = other->in[k] == n->in[k];
    }
    if (same)
      return i;
  }
  return -1;
}

// The literal of a K form, which stands behind the slot operand.
static bool read_literal(reader *rd, const tl_ins *ins, const tl_decoded *d,
                         int *in) {
  tl_slot value = tl_opcodes[ins->op].format == TL_FORMAT_ABI
                      ? tl_weak_int((int16_t)ins->c)
                      : rd->function->constants[d->extra];
  *in = add_literal(rd, value);
  return *in < 0 && is_operand(use_of(rd, *in));
}

static bool read_operation(reader *rd, uint32_t pc, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  tl_op op = tl_region_op(d->op, d->extra);
  if (op == TL_OP_COUNT || g->node_count == TL_REGION_NODES)
    return false;
  tl_region_node *n = &g->nodes[g->node_count];
  n->op = op;
  n->cast = TL_DTYPE_COUNT;
  n->host = NULL;
  n->is_power = op == TL_OP_POW;
  n->arity = (int8_t)tl_ops[op].arity;
  n->pc = rd->end;
  for (uint32_t i = 0; i < d->operand_count; i++) {
    if (!operand(rd, d, i, &n->in[i]))
      return false;
  }
  if ((int)d->operand_count < n->arity &&
      !read_literal(rd, &rd->function->code[pc], d, &n->in[1])) {
    return false;
  }
  uint32_t to = (uint32_t)d->result;
  if (all_scalars(g, n))
    return compute_scalar(rd, n, to);
  int same = find_same(g, n);
  return bind(rd, to, same >= 0 ? same : g->node_count++, false);
}

// A dtype's call, of an array.
static bool read_cast(reader *rd, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  int dtype;
  tl_region_node *n = &g->nodes[g->node_count];
  if (g->node_count == TL_REGION_NODES || d->window_count != 3 ||
      !look_up(rd, d->window, &n->in[0]) ||
      !look_up(rd, d->window + 1, &dtype) || dtype >= 0) {
    return false;
  }
  const tl_region_use *from = use_of(rd, n->in[0]);
  tl_slot to = use_of(rd, dtype)->value;
  if (!is_operand(from) || (from != NULL && !tl_region_is_array(from->items)) ||
      !tl_is_type(to) || to.type->kind != TL_TYPE_DTYPE ||
      to.type->dtype >= TL_STRING) {
    return false;
  }
  use_of(rd, dtype)->exact = true;
  consume(rd, d->window, n->in[0], TL_MODE_CONSUME);
  n->op = TL_OP_POSITIVE;
  n->is_power = false;
  n->cast = to.type->dtype;
  n->host = NULL;
  n->arity = 1;
  n->pc = rd->end;
  int same = find_same(g, n);
  return bind(rd, (uint32_t)d->result, same >= 0 ? same : g->node_count++,
              false);
}

// A loop of the host's. Two of the same operands may give two results: who
// knows.
static bool read_host(reader *rd, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  const tl_host_function *f = rd->function->constants[d->extra].pointer;
  tl_region_node *n = &g->nodes[g->node_count];
  if (g->node_count == TL_REGION_NODES ||
      (int)d->window_count != f->param_count) {
    return false;
  }
  n->op = TL_OP_POSITIVE;
  n->cast = TL_DTYPE_COUNT;
  n->host = f;
  n->is_power = false;
  n->arity = (int8_t)f->param_count;
  n->pc = rd->end;
  for (uint32_t i = 0; i < d->window_count; i++) {
    if (!look_up(rd, d->window + i, &n->in[i]))
      return false;
    const tl_region_use *u = use_of(rd, n->in[i]);
    if (!is_operand(u) ||
        (u != NULL && tl_is_heap(u->value) && !tl_region_is_array(u->value))) {
      return false;
    }
    consume(rd, d->window + i, n->in[i], TL_MODE_CONSUME);
  }
  return !all_scalars(g, n) &&
         bind(rd, (uint32_t)d->result, g->node_count++, false);
}

// --- Sinks ------------------------------------------------------------------

// target[…] = a node
static bool read_place(reader *rd, uint32_t pc, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  uint32_t target = d->operands[0];
  int in, value;
  if (!look_up(rd, target, &in) || !look_up(rd, d->operands[1], &value) ||
      value < 0) {
    return false;
  }
  const tl_region_use *u = use_of(rd, in);
  if (u == NULL || !u->direct || u->root < 0 || !tl_region_is_array(u->value) ||
      g->roots[u->root].ends || !read_index(rd, d, 2, &g->place)) {
    return false;
  }
  consume(rd, d->operands[0], in, d->modes[0]);
  g->sink = TL_SINK_PLACE;
  g->sink_pc = pc;
  g->unsunk = d->operands[1];
  g->target = u->root;
  g->value = value;
  g->result = target;
  return true;
}

static bool read_fold(reader *rd, uint32_t pc, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  int in;
  g->fold = rd->function->constants[d->extra].pointer;
  if (!read_arguments(rd, d, g->arguments) || !look_up(rd, d->window, &in) ||
      in < 0) {
    return false;
  }
  g->sink = tl_builtin_is_scan(g->fold) ? TL_SINK_SCAN : TL_SINK_FOLD;
  g->sink_pc = pc;
  g->unsunk = d->window;
  g->value = in;
  g->result = (uint32_t)d->result;
  return true;
}

// --- The whole --------------------------------------------------------------

static bool read_call(reader *rd, uint32_t pc, const tl_decoded *d) {
  switch (tl_region_call(rd->function->constants[d->extra].pointer)) {
    case TL_STEP_CAST:
      return read_cast(rd, d);
    case TL_STEP_ROLL:
      return read_roll(rd, d);
    case TL_STEP_HOST:
      return read_host(rd, d);
    default:
      return read_fold(rd, pc, d);
  }
}

static bool read_one(reader *rd, uint32_t pc, const tl_decoded *d);

// What a function returns: what it has computed, or a view.
static bool read_return(reader *rd, const tl_decoded *d, uint32_t to) {
  int in;
  if (!look_up(rd, d->operands[0], &in))
    return false;
  const tl_region_use *u = use_of(rd, in);
  rd->depth--;
  bool ok = (u == NULL || !tl_is_heap(u->value) || !u->direct) &&
            bind(rd, to, in, u != NULL && !tl_is_heap(u->value));
  rd->depth++;
  return ok;
}

// What is in a call's window and above ends with it.
static bool end_window(tl_region_graph *g, const tl_decoded *call) {
  for (int i = 0; i < g->binding_count; i++) {
    if (g->bindings[i].slot >= call->window)
      g->bindings[i].over = true;
  }
  return true;
}

// A call of a small function: its instructions as if they stood here. Its slots
// are names alone; an error in it is left to the call itself.
static bool read_inline(reader *rd, const tl_decoded *call) {
  reader inner = *rd;
  tl_decoded d;
  inner.function = rd->function->unit->prototypes[call->extra];
  inner.slots = call->window;
  for (uint32_t i = 0; i < call->window_count; i++) {
    int in;
    if (!look_up(rd, call->window + i, &in))
      return false;
  }
  if (++inner.depth > TL_REGION_DEPTH)
    return false;
  for (uint32_t pc = 0; pc < inner.function->code_count; pc += d.words) {
    tl_decode(inner.function, pc, &d);
    if (d.result >= 0)
      d.result += (int32_t)inner.slots;
    for (uint32_t i = 0; i < d.operand_count; i++)
      d.operands[i] = (uint16_t)(d.operands[i] + inner.slots);
    d.window += inner.slots;
    if (d.op == TL_BC_RET)
      return read_return(&inner, &d, (uint32_t)call->result) &&
             end_window(rd->g, call);
    if (!read_one(&inner, pc, &d))
      return false;
  }
  return false;
}

static bool read_one(reader *rd, uint32_t pc, const tl_decoded *d) {
  switch (tl_region_step_of(d->op, d->extra)) {
    case TL_STEP_LOAD:
      return read_load(rd, d);
    case TL_STEP_MOVE:
      return read_move(rd, d);
    case TL_STEP_DROP:
      return read_drop(rd, d);
    case TL_STEP_HOLD:
      return read_hold(rd, d);
    case TL_STEP_SETTLE:
      return read_settle(rd, d);
    case TL_STEP_VIEW:
      return d->op == TL_BC_GETF ? read_transpose(rd, d) : read_view(rd, d);
    case TL_STEP_OPERATION:
      return read_operation(rd, pc, d);
    case TL_STEP_PLACE:
      return read_place(rd, pc, d);
    case TL_STEP_CALL:
      return read_call(rd, pc, d);
    case TL_STEP_INLINE:
      return read_inline(rd, d);
    default:
      return false;
  }
}

// A region that ends in an operation: its result is the last one's.
static bool find_result(reader *rd, const tl_decoded *last) {
  tl_region_graph *g = rd->g;
  if (g->sink != TL_SINK_ARRAY)
    return true;
  g->result = (uint32_t)last->result;
  if (last->result < 0 || !look_up(rd, g->result, &g->value) || g->value < 0)
    return false;
  return g->node_count + g->seam_count > 1;
}

// Whether a slot will hold what its binding says: a value of its own from
// before, or what it gets in the end. Views are not made, nor moves of arrays.
static bool is_there(const tl_region_graph *g, const tl_region_binding *b) {
  const tl_region_use *u = &g->uses[-1 - b->in];
  return b->kept || (u->direct && !tl_is_heap(u->value)) ||
         (u->direct && u->root >= 0 && g->roots[u->root].slot == b->slot);
}

// Of one that ends before: the only result that is still to be read. It must be
// the last node, as errors of later ones would be lost.
static bool find_left(tl_region_graph *g) {
  const tl_region_binding *left = NULL;
  for (int i = 0; i < g->binding_count; i++) {
    const tl_region_binding *b = &g->bindings[i];
    if (b->over)
      continue;
    if (left != NULL && b->in >= 0)
      return false;
    if (b->in >= 0) {
      left = b;
    } else if (!is_there(g, b)) {
      return false;
    }
  }
  if (left == NULL || g->node_count < 2 || left->in != g->node_count - 1)
    return false;
  g->result = left->slot;
  g->value = left->in;
  return true;
}

static void clear(tl_region_graph *g) {
  g->node_count = g->use_count = g->root_count = g->binding_count = 0;
  g->fact_count = g->index_count = g->shape_count = g->settled_count = 0;
  g->view_words = g->seam_count = 0;
  g->fleeting = false;
  g->sink = TL_SINK_ARRAY;
  g->place.count = 0;
}

void tl_region_open(tl_region_graph *g, tl_region_room *room, tl_vm *vm,
                    const tl_prototype *function, tl_slot *base) {
  clear(g);
  g->vm = vm;
  g->function = function;
  g->base = base;
  g->nodes = room->nodes;
  g->uses = room->uses;
  g->roots = room->roots;
  g->bindings = room->bindings;
  g->facts = room->facts;
  g->indices = room->indices;
  g->shapes = room->shapes;
  g->views = room->views;
  g->seams = room->seams;
  g->view_room = TL_REGION_VIEW_WORDS;
  g->kept = g->fresh = NULL;
}

// The instructions to [end], or how far it comes; *last is the last one.
static uint32_t read_to(reader *rd, uint32_t pc, uint32_t end,
                        tl_decoded *last) {
  tl_region_graph *g = rd->g;
  last->result = -1;
  while (pc < end) {
    tl_decode(g->function, pc, last);
    g->skip = rd->end = pc + last->words;
    if (!read_one(rd, pc, last))
      break;
    pc += last->words;
  }
  g->end = pc;
  for (int i = 0; i < g->root_count; i++) {
    g->roots[i].consumed = g->roots[i].ends;
  }
  return pc;
}

bool tl_region_read(tl_region_graph *g, uint32_t pc, uint32_t end) {
  reader rd = {.g = g, .function = g->function};
  tl_decoded last;
  uint32_t to = read_to(&rd, pc, end, &last);
  if (to == end)
    return find_result(&rd, &last);
  uint32_t skip = g->skip;
  if (g->node_count < 2)
    return false;
  tl_error_clear(g->vm);
  clear(g);  // of what was read of the instruction that does not fit
  bool ok = read_to(&rd, pc, to, &last) == to && find_left(g);
  g->skip = skip;
  return ok;
}
