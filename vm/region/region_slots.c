// Stage "read": what slots hold while a region is read. Values from outside are
// uses, with a guard that says where each came from; loads, moves and ends of
// them are only noted.
//
// Built for size.
#include "vm/region/region_reader.h"

// --- Slots -------------------------------------------------------------------

// From the last to the first, since a slot may have been bound several times.
tl_region_binding *tl_reader_binding(const tl_region_graph *g, uint32_t slot) {
  for (int i = g->binding_count - 1; i >= 0; i--)
    if (g->bindings[i].slot == slot)
      return &g->bindings[i];
  return NULL;
}

// Bindings within a callee end with its window, and nothing of them is left
// behind in the frame.
bool tl_reader_bind(tl_region_reader *rd, uint32_t slot, int in, bool binds) {
  tl_region_graph *g = rd->g;
  if (g->binding_count == TL_REGION_BINDINGS)
    return false;
  tl_region_binding *before = tl_reader_binding(g, slot);
  if (before != NULL)
    before->over = true;
  g->bindings[g->binding_count++] = (tl_region_binding){
      .slot = slot, .in = in, .binds = binds && rd->depth == 0};
  return true;
}

// A number or constant that the commit writes, a number that the slot has had
// all along, or the array that it had.
bool tl_reader_is_there(const tl_region_graph *g, const tl_region_binding *b) {
  const tl_region_use *u = &g->uses[-1 - b->in];
  if (b->heir || b->is_shape)
    return false;
  return b->binds || (u->direct && !tl_is_heap(u->value)) ||
         (u->direct && u->root >= 0 && g->roots[u->root].slot == b->slot);
}

// Ragged rows count as their items from here on (tl_region_items).
int tl_reader_add_use(tl_region_reader *rd, tl_slot value, int root,
                      bool direct) {
  tl_region_graph *g = rd->g;
  if (g->use_count == TL_REGION_USES)
    return 0;
  g->uses[g->use_count] = (tl_region_use){.value = value,
                                          .items = tl_region_items(value),
                                          .root = root,
                                          .direct = direct};
  return -1 - g->use_count++;
}

// A number that is there already is the same use, so that what is computed of
// it is computed once; one that was loaded before the reading began counts as
// such. 0 where there is no room, as of any use.
int tl_reader_add_literal(tl_region_reader *rd, tl_slot value) {
  for (int i = 0; i < rd->g->use_count; i++) {
    tl_region_use *u = &rd->g->uses[i];
    if (!u->direct || u->root >= 0 || !tl_is_number(value) ||
        u->value.tag != value.tag || u->value.u != value.u)
      continue;
    u->exact |= !u->fixed;
    return -1 - i;
  }
  int in = tl_reader_add_use(rd, value, -1, true);
  if (in < 0)
    rd->g->uses[-1 - in].fixed = true;
  return in;
}

// Notes where the use [in] comes from.
void tl_reader_add_guard(tl_region_reader *rd, int in, tl_region_guard guard) {
  tl_region_graph *g = rd->g;
  if (in >= 0)
    return;
  if (g->guard_count == TL_REGION_GUARDS) {
    g->uncacheable = true;
    return;
  }
  guard.use = (int8_t)(-1 - in);
  g->guards[g->guard_count++] = guard;
}

// The value of a slot that the region has not seen yet: 0 is a failure.
// A number has no root, as it has no memory to give.
static int add_root(tl_region_reader *rd, uint32_t slot) {
  tl_region_graph *g = rd->g;
  tl_slot value = g->base[slot];
  int root = -1;
  if (tl_is_heap(value)) {
    if (g->root_count == TL_REGION_ROOTS)
      return 0;
    root = g->root_count++;
    g->roots[root] = (tl_region_root){.slot = slot, .value = value};
  }
  int in = tl_reader_add_use(rd, value, root, true);
  tl_reader_add_guard(rd, in,
                      (tl_region_guard){.from = TL_FROM_SLOT, .at = slot});
  return in;
}

// What a slot holds, also a reduction among several results, which nothing may
// read. A slot that the region has not bound shows what the frame has there,
// which becomes a root.
static bool look_up_any(tl_region_reader *rd, uint32_t slot, int *in) {
  const tl_region_binding *binding = tl_reader_binding(rd->g, slot);
  if (binding != NULL) {
    *in = binding->in;
    return !binding->is_shape;
  }
  if (rd->depth > 0)
    return false;
  *in = add_root(rd, slot);
  return *in < 0 && tl_reader_bind(rd, slot, *in, false);
}

// What a slot holds: a node's number or a use's, in *in.
bool tl_reader_look_up(tl_region_reader *rd, uint32_t slot, int *in) {
  return look_up_any(rd, slot, in) && *in < TL_REGION_FOLDED;
}

// An instruction ends what it reads: of a view only the view's object, which
// here there is none of.
void tl_reader_consume(tl_region_reader *rd, uint32_t slot, int in,
                       uint8_t mode) {
  const tl_region_use *u = tl_reader_use(rd, in);
  if (mode != TL_MODE_CONSUME && mode != TL_MODE_EITHER)
    return;
  tl_reader_binding(rd->g, slot)->over = true;
  if (u != NULL && u->direct && u->root >= 0) {
    rd->g->roots[u->root].ends = true;
    rd->g->roots[u->root].ended = (int8_t)(rd->g->node_count + 1);
  }
}

// A node always is; of values numbers and arrays of numbers, and the items of
// ragged rows of these.
bool tl_region_is_operand(const tl_region_use *u) {
  return u == NULL || tl_is_number(u->items) ||
         (tl_is_array(u->items) && u->items.array->head.dtype < TL_STRING);
}

// The operand's mode ends it, if it does, only after it has been looked up.
bool tl_reader_operand(tl_region_reader *rd, const tl_decoded *d, uint32_t i,
                       int *in) {
  if (!tl_reader_look_up(rd, d->operands[i], in) ||
      !tl_region_is_operand(tl_reader_use(rd, *in)))
    return false;
  tl_reader_consume(rd, d->operands[i], *in, d->modes[i]);
  return true;
}

// --- Loads, moves and ends --------------------------------------------------

// The highest bit of a capture says that it is surely set.
static uint32_t capture_of(const tl_decoded *d) {
  return d->extra & 0x7fffffffu;
}

// The use that was loaded from the same place before: nothing in a region
// assigns it. 0: none.
static int find_loaded(const tl_region_graph *g, const tl_region_guard *from) {
  for (int i = 0; i < g->guard_count; i++) {
    const tl_region_guard *guard = &g->guards[i];
    if (guard->from == from->from && guard->at == from->at &&
        guard->of[0] == from->of[0] && guard->of[1] == from->of[1])
      return -1 - guard->use;
  }
  return 0;
}

// What is read often is one use, so that a long expression fits.
int tl_reader_add_loaded(tl_region_reader *rd, tl_slot value,
                         tl_region_guard guard) {
  int in = find_loaded(rd->g, &guard);
  if (in == 0) {
    in = tl_reader_add_use(rd, value, -1, true);
    tl_reader_add_guard(rd, in, guard);
  }
  return in;
}

// A literal needs no guard: it is in the code. A variable or a captured value
// has one that it is the same.
bool tl_reader_load(tl_region_reader *rd, const tl_decoded *d) {
  int in;
  if (d->op == TL_BC_LOADK || d->op == TL_BC_LOADI) {
    in = tl_reader_add_literal(rd, d->op == TL_BC_LOADK
                                       ? rd->function->constants[d->extra]
                                       : tl_weak_int((int32_t)d->extra));
  } else {
    tl_region_guard guard = {
        .from = d->op == TL_BC_GETC   ? TL_FROM_CAPTURE
                : d->op == TL_BC_SELF ? TL_FROM_SELF
                                      : TL_FROM_VARIABLE,
        .at = d->op == TL_BC_GETC ? capture_of(d) : d->extra,
        .of = {rd->callee}};
    tl_slot value = tl_region_load(rd->g, &guard);
    if (tl_is_unset(value))
      return false;
    in = tl_reader_add_loaded(rd, value, guard);
  }
  return in < 0 && tl_reader_bind(rd, (uint32_t)d->result, in, true);
}

// A number or constant goes to the slot in the end; an array is used up here.
bool tl_reader_move(tl_region_reader *rd, const tl_decoded *d) {
  int in;
  if (!look_up_any(rd, d->operands[0], &in))
    return false;
  const tl_region_use *u = tl_reader_use(rd, in);
  bool borrowed = d->op == TL_BC_MOVB;
  if (u != NULL && u->root >= 0 && u->direct && borrowed) {
    tl_region_guard guard = {.from = TL_FROM_BORROWED,
                             .of = {(int8_t)(-1 - in)}};
    in = tl_reader_add_use(rd, tl_borrow(u->value), -1, true);
    if (in >= 0)
      return false;
    tl_reader_add_guard(rd, in, guard);
  }
  bool binds = u != NULL && (borrowed ? u->direct : !tl_is_heap(u->value));
  if (!borrowed)
    tl_reader_binding(rd->g, d->operands[0])->over = true;
  return tl_reader_bind(rd, (uint32_t)d->result, in, binds);
}

// What is dropped between two nodes has gone before the second one makes its
// array.
bool tl_reader_drop(tl_region_reader *rd, const tl_decoded *d) {
  int in;
  if (!look_up_any(rd, d->operands[0], &in))
    return false;
  tl_reader_consume(rd, d->operands[0], in, TL_MODE_EITHER);
  const tl_region_use *u = tl_reader_use(rd, in);
  if (u != NULL && u->direct && u->root >= 0)  // before the next node
    rd->g->roots[u->root].ended = (int8_t)rd->g->node_count;
  return true;
}

// A view that the region alone knows needs no hold on its block, and has no
// items of its own: what it shows ends after the region. So it is with an array
// that a container lends, if the region uses it up.
// [view] is the operand that would become independent; HOLD names it first, and
// DETACH, to which a number is no view.
bool tl_reader_hold(tl_region_reader *rd, const tl_decoded *d) {
  int in;
  int view = d->op == TL_BC_HOLD || d->op == TL_BC_KEEPALL ||
                     d->op == TL_BC_DETACH
                 ? 0
                 : 1;
  if (!tl_reader_look_up(rd, d->operands[view], &in))
    return false;
  const tl_region_use *u = tl_reader_use(rd, in);
  if (d->op == TL_BC_DETACH)
    return u != NULL && u->direct && !tl_is_heap(u->value);
  if (u != NULL && u->direct && tl_is_heap(u->value)) {
    if (!tl_is_array(u->value) || d->op == TL_BC_KEEPALL ||
        d->op == TL_BC_KEEPOF || rd->g->settles)
      return false;
    tl_reader_binding(rd->g, d->operands[view])->heir = true;
    rd->g->has_heirs = true;
  }
  return d->op != TL_BC_LEAVE || tl_reader_drop(rd, d);
}

// Slots' owned bits are changed by the commit, not here; only the graph's own
// view of them is. The value must be what the reading saw in this respect,
// because what is consumed afterwards follows from it.
bool tl_region_transfer(tl_region_graph *g, const tl_region_guard *f) {
  tl_region_use *x = &g->uses[f->of[0]], *y = &g->uses[f->of[1]];
  if (tl_region_transfers(x->value, y->value) != f->transferred)
    return false;
  if (!f->transferred)
    return true;
  x->value.tag &= ~TL_OWNED;
  y->value.tag |= TL_OWNED;
  g->roots[x->root].value = x->value;
  g->roots[y->root].value = y->value;
  return true;
}

// x's ownership of an object goes to y, which shows the same one
// (tl_do_settle). What the region makes itself has no such owner.
bool tl_reader_transfer(tl_region_reader *rd, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  int x_in, y_in;
  if (!tl_reader_look_up(rd, d->operands[0], &x_in) ||
      !tl_reader_look_up(rd, d->operands[1], &y_in) || x_in == y_in)
    return false;
  tl_region_use *x = tl_reader_use(rd, x_in), *y = tl_reader_use(rd, y_in);
  if (x == NULL || y == NULL || !x->direct || !y->direct)
    return true;
  bool transfers = tl_region_transfers(x->value, y->value);
  const tl_region_guard guard = {
      .from = TL_FROM_TRANSFER,
      .of = {(int8_t)(-1 - x_in), (int8_t)(-1 - y_in)},
      .transferred = transfers};
  tl_reader_add_guard(rd, x_in, guard);
  if (!transfers)
    return true;
  if (x->root < 0 || y->root < 0 || g->roots[x->root].ends ||
      g->transfer_count == TL_REGION_TRANSFERS)
    return false;
  g->transferred[g->transfer_count].from = (int8_t)x->root;
  g->transferred[g->transfer_count++].to = (int8_t)y->root;
  return tl_region_transfer(g, &guard);
}

// --- Arguments ---------------------------------------------------------------

// An argument of a call, which ends there: a scalar, a constant or a list.
// An argument that owns an array fails: the run would have to end it.
static bool read_argument(tl_region_reader *rd, uint32_t slot, tl_slot *out) {
  int in;
  if (!tl_reader_look_up(rd, slot, &in) || in >= 0)
    return false;
  tl_region_use *u = tl_reader_use(rd, in);
  tl_slot value = u->value;
  *out = tl_borrow(value);
  u->exact = true;
  if (!u->fixed && tl_is_heap(value) && !tl_is_type(value))
    rd->g->uncacheable = true;
  tl_reader_consume(rd, slot, in, TL_MODE_CONSUME);
  return !tl_is_array(value) || !tl_is_owned(value);
}

// The first argument is what is computed, and is read by the caller.
bool tl_reader_arguments(tl_region_reader *rd, const tl_decoded *d,
                         tl_slot *out) {
  for (uint32_t i = 1; i < d->window_count; i++)
    if (!read_argument(rd, d->window + i, &out[i]))
      return false;
  return d->window_count > 0 && d->window_count <= TL_MAX_PARAMS;
}
