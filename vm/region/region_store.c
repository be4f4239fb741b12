// Stage "run": results into memory. An array goes over an operand that ends
// here, or into a new one; a part of an array is written where it stands if
// nothing else of it is read, or in an order in which that does no harm.
//
// Built for size.

#include "vm/engine/plan_delay.h"
#include "vm/region/region_internal.h"

// --- Small parts of the target, copied first --------------------------------

// Where a row and a column of the target are all that is read at other places,
// they are copied, and the result is written over the rest:
// D = minimum(D, D[:, k, none] + D[none, k, :]).
enum { PARTS_MOST = 4, PART_OF = 8 };

// Whether the use shows memory of the target otherwise than item on item.
static bool is_other_place(const tl_region_use *u, const tl_array *target) {
  const tl_array *a = tl_region_read_array(u);
  return a != NULL && a != target && tl_arrays_collide(a, target);
}

// A part of the target's size at most, so that the copies cost little beside
// the result.
static bool has_small_parts(const tl_region_graph *g, const tl_array *target) {
  int count = 0;
  for (int u = 0; u < g->use_count; u++) {
    if (!is_other_place(&g->uses[u], target))
      continue;
    if (g->uses[u].items.array->size > target->size / PART_OF)
      return false;
    count++;
  }
  return count <= PARTS_MOST && g->rows == NULL && !tl_region_has_wrap(g);
}

// The uses have again what they had [before], as the cached graph expects.
static void give_back_parts(tl_region_graph *g, const tl_slot *before) {
  for (int u = 0; u < g->use_count; u++) {
    tl_region_use *use = &g->uses[u];
    if (use->value.u == before[u].u)
      continue;
    tl_drop(g->vm, tl_own_array(use->items.array));
    use->value = use->items = before[u];
  }
}

// False: no memory, with nothing changed.
static bool copy_parts(tl_region_graph *g, const tl_array *target,
                       tl_slot *before) {
  bool ok = true;
  for (int u = 0; u < g->use_count; u++) {
    tl_region_use *use = &g->uses[u];
    before[u] = use->value;
    if (!ok || !is_other_place(use, target))
      continue;
    tl_array *copy = tl_array_copy(g->vm, use->items.array);
    ok = copy != NULL;
    if (ok)
      use->value = use->items = tl_borrow(tl_own_array(copy));
  }
  if (!ok)
    give_back_parts(g, before);
  return ok;
}

// As tl_region_write, where the target has small parts. The plan is good
// for the copies alone.
static tl_region_status run_over_parts(tl_region_graph *g, tl_array *to,
                                       tl_dtype dtype) {
  tl_slot before[TL_REGION_USES];
  if (!tl_poll_items(g->vm, to->size))
    return TL_REGION_FAILED;
  if (!copy_parts(g, to, before))
    return TL_REGION_DECLINED;
  tl_region_planned *cached = g->cached;
  g->cached = NULL;
  g->uncacheable = true;
  tl_region_status status = tl_region_write(g, to, dtype, false);
  g->cached = cached;
  give_back_parts(g, before);
  return status;
}

// --- To the front of a longer array -----------------------------------------

// Whether every item of the result is read no further in front in [base] than
// it is written, if that goes to the front of [base] row by row: nothing is
// overwritten then that a later item is computed of.
//
//   x[k:] - x[:-k]     written 0, 1, 2, …    read k, k + 1, …  and  0, 1, …
//   m[:, 1:] + m[:, :-1]      a row of the result is shorter than one of m
//   float32(x * 2)            items of the result are narrower than those of x
static bool is_read_behind(const tl_region_graph *g, const tl_array *base,
                           size_t itemsize) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  for (int u = 0; u < g->use_count; u++) {
    int64_t strides[TL_MAX_DIMS], dense = (int64_t)itemsize;
    const tl_array *a = tl_region_read_array(&g->uses[u]);
    if (a == NULL || !tl_arrays_overlap(a, base))
      continue;
    if (a->data < base->data)
      return false;
    tl_broadcast_strides(a, shape->ndim, shape->lengths, strides);
    for (int i = shape->ndim - 1; i >= 0; i--) {
      if (shape->lengths[i] > 1 && strides[i] < dense)
        return false;
      dense *= shape->lengths[i];
    }
  }
  return true;
}

// An operand that ends here and has somewhat more bytes than the result, to the
// front of which the result may go; -1: there is none. A much longer one would
// have to be cut to a small part, and of a small one to give back a large part
// costs more time than another block does.
static int find_longer(const tl_region_graph *g, size_t itemsize) {
  int ndim = g->shapes[g->nodes[g->value].shape].ndim;
  int64_t nbytes = tl_region_size(g) * (int64_t)itemsize;
  for (int u = 0; u < g->use_count; u++) {
    int ended;
    const tl_slot *owner = tl_region_owner(g, u, &ended);
    if (owner == NULL)
      continue;
    const tl_array *a = owner->array;
    int64_t all = (int64_t)tl_item_bytes(a);
    if (tl_is_dying(g->vm, *owner) && tl_is_contiguous(a) &&
        (a->head.flags & TL_EXTERNAL) == 0 && tl_ndim(a) >= ndim &&
        all > nbytes && all / PART_OF < nbytes &&
        (nbytes > all / 4 * 3 || tl_is_worth_moving(g->vm, (size_t)all)) &&
        is_read_behind(g, a, itemsize))
      return u;
  }
  return -1;
}

// Each block waits until it is computed. The operand keeps its shape until
// tl_region_cut.
static tl_region_status run_to_front(tl_region_graph *g, int use,
                                     tl_dtype dtype, tl_slot *out) {
  tl_plan_delay delay;
  int64_t strides[TL_MAX_DIMS];
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  tl_array *a = g->uses[use].value.array;
  tl_region_tile tile = {shape->ndim, shape->lengths, NULL, NULL};
  tl_shape_strides(shape->ndim, shape->lengths, tl_itemsize(dtype), strides);
  tl_plan *plan = tl_region_plan_whole(g, &tile, a->data, dtype, strides);
  if (plan == NULL || !tl_delay_fits(plan, &delay, 0))
    return TL_REGION_DECLINED;
  if (!tl_poll_items(g->vm, a->size))
    return TL_REGION_FAILED;
  delay.over = a->data;
  delay.over_nbytes = (size_t)tl_item_bytes(a);
  plan->delay = &delay;
  tl_region_status status = tl_region_run_plan(g, plan, NULL, NULL, false);
  if (status != TL_REGION_DONE)
    return status;
  *out = tl_own_array(a);
  g->is_longer = true;
  tl_region_take_over(g, use);
  return status;
}

// --- Into an array ----------------------------------------------------------

static tl_region_status write_whole(tl_region_graph *g, tl_array *to,
                                    tl_dtype dtype) {
  return tl_poll_items(g->vm, to->size) ? tl_region_write(g, to, dtype, false)
                                        : TL_REGION_FAILED;
}

// How a result goes over what is read otherwise, too, by what that is. A
// running fold is written in order of the items, and so over dense ones alone.
typedef struct way {
  bool (*fits)(const tl_region_graph *, const tl_array *);
  tl_region_status (*write)(tl_region_graph *, tl_array *, tl_dtype);
} way;

static const way dense = {tl_region_is_dense_target, write_whole};
static const way ways[] = {{tl_region_is_safe_target, write_whole},
                           {tl_region_is_shifted, tl_region_write_shifted},
                           {has_small_parts, run_over_parts}};
enum { WAYS = sizeof ways / sizeof *ways };

// Over operand [use].
static tl_region_status go_over(tl_region_graph *g, int use, tl_dtype dtype,
                                const way *how, tl_slot *out) {
  int ended;
  tl_slot owner = *tl_region_owner(g, use, &ended);
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  tl_region_status status = how->write(g, owner.array, dtype);
  if (status != TL_REGION_DONE)
    return status;
  tl_region_take_over(g, use);
  *out =
      tl_own_array(tl_reuse(g->vm, &owner, dtype, shape->ndim, shape->lengths));
  return status;
}

// Tells who watches why no operand that fits has given its memory: somebody has
// it still, or it is read at other places, too.
static void tell_why(const tl_region_graph *g, tl_dtype dtype,
                     const tl_region_shape *shape) {
  for (int u = 0; g->vm->watch != NULL && u < g->use_count; u++) {
    int ended;
    const tl_slot *owner = tl_region_owner(g, u, &ended);
    const tl_slot x = owner != NULL ? *owner : tl_borrow(g->uses[u].value);
    if (!g->uses[u].direct || !tl_is_array(x) ||
        !tl_has_shape(x.array, shape->ndim, shape->lengths) ||
        tl_itemsize(tl_array_dtype(x.array)) != tl_itemsize(dtype))
      continue;
    if (!tl_can_reuse(g->vm, x, dtype, shape->ndim, shape->lengths))
      g->vm->observer->refused(g->vm, tl_rejection_of(x), x);
    else if (!tl_region_is_safe_target(g, x.array))
      g->vm->observer->refused(g->vm, TL_REFUSED_READ, x);
  }
}

// In this order: over an operand, to the front of a longer one, into a new
// array.
tl_region_status tl_region_to_array(tl_region_graph *g, tl_slot *out) {
  tl_dtype dtype = tl_region_result_dtype(g);
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  bool scans = g->consumer == TL_CONSUMER_SCAN;
  int count = scans ? 1 : WAYS;
  tl_region_status status = TL_REGION_DECLINED;
  for (int i = 0; status == TL_REGION_DECLINED && i < count; i++) {
    const way *how = scans ? &dense : &ways[i];
    int use =
        tl_region_find_target(g, dtype, shape->ndim, shape->lengths, how->fits);
    if (use >= 0)
      status = go_over(g, use, dtype, how, out);
  }
  int longer = status == TL_REGION_DECLINED &&
                       g->consumer == TL_CONSUMER_ARRAY && g->rows == NULL &&
                       !tl_region_has_wrap(g)
                   ? find_longer(g, tl_itemsize(dtype))
                   : -1;
  if (longer >= 0)
    status = run_to_front(g, longer, dtype, out);
  // One by one, the instruction at fault says why, and one operation may still
  // have its operand put in order.
  if (status != TL_REGION_DECLINED || tl_is_under_contract(g->vm) ||
      g->node_count + g->wrap_count == 1)
    return status;
  tell_why(g, dtype, shape);
  tl_array *made;
  status = tl_region_make_array(g, &made);
  if (status == TL_REGION_DONE)
    *out = tl_own_array(made);
  return status;
}

// --- Into a part of an array ------------------------------------------------

// Computed by itself, then copied: where the operands are other places of the
// target in other ways.
static tl_region_status store_disjoint(tl_region_graph *g, tl_array *place) {
  const tl_region_node *n = &g->nodes[g->value];
  tl_array *made;
  if (n->typing.result != tl_array_dtype(place))
    return TL_REGION_DECLINED;
  tl_region_status status = tl_region_make_array(g, &made);
  if (status != TL_REGION_DONE)
    return status;
  bool ok = tl_array_assign(g->vm, place, made);
  tl_drop(g->vm, tl_own_array(made));
  return ok ? TL_REGION_DONE : TL_REGION_FAILED;
}

// Of fewer items than one in so many a copy is nearly nothing, and the rest of
// the array need not be touched.
enum { RARE = 64 };

// Whether an update by a mask may go over the whole array: the mask and all of
// which it takes items have its shape, the new items its dtype, and to compute
// all of them costs little. A mask that is an array is counted until there are
// enough; one that is computed is not there yet. Where it does not fit the
// operations run one by one.
static bool fits_masked(const tl_region_graph *g, const tl_array *a) {
  const tl_region_node *choice = &g->nodes[g->value];
  int mask = choice->in[0], ndim = tl_ndim(a);
  for (int u = 0; u < g->use_count; u++)
    if (g->uses[u].taken &&
        !tl_has_shape(g->uses[u].items.array, ndim, tl_shape(a)))
      return false;
  const tl_array *given = mask < 0 ? g->uses[-1 - mask].items.array : NULL;
  const tl_region_shape *made =
      mask < 0 ? NULL : &g->shapes[g->nodes[mask].shape];
  return tl_has_shape(a, mask < 0 ? tl_ndim(given) : made->ndim,
                      mask < 0 ? tl_shape(given) : made->lengths) &&
         choice->typing.result == tl_array_dtype(a) &&
         (choice->in[1] < 0 ||
          g->nodes[choice->in[1]].typing.result == tl_array_dtype(a)) &&
         tl_region_is_cheap(g) &&
         (mask >= 0 || !tl_is_contiguous(given) ||
          tl_has_true(given, a->size / RARE));
}

// Whether more bytes than these end here, or were computed first, which would
// live beside the copy that is made of the target. What is put in is then
// computed before: a[-1] += b[0] where b ends.
static bool ends_more(const tl_region_graph *g, size_t nbytes) {
  size_t ending = 0;
  for (int i = 0; i < g->hoisted_count; i++)
    ending += tl_item_bytes(g->hoisted[i].array);
  for (int i = 0; i < g->root_count; i++) {
    const tl_region_root *root = &g->roots[i];
    if (root->consumed && tl_is_array(root->value) &&
        tl_is_dying(g->vm, root->value))
      ending += tl_item_bytes(tl_array_owner(root->value.array));
  }
  return ending > nbytes;
}

// The array is written in place where nobody else has it; else a copy of it is,
// which becomes the slot's. In place the ways above are tried; what goes none
// of them is computed by itself, then copied.
tl_region_status tl_region_to_place(tl_region_graph *g, tl_slot *out) {
  tl_region_root *root = &g->roots[g->target];
  tl_array *a = root->value.array;
  if (g->masked && !fits_masked(g, a))
    return TL_REGION_DECLINED;
  bool in_place = root->consumed && tl_is_unique(root->value) &&
                  ((root->value.tag & TL_DIRECT) != 0 ||
                   tl_has_own_block(g->vm, root->value, tl_array_dtype(a)));
  tl_array *place = tl_region_find_place(g, a, g->value, &g->place);
  if (place == NULL)
    return TL_REGION_DECLINED;
  if (!in_place && ends_more(g, tl_item_bytes(place))) {
    g->detaches = !g->masked && g->hoisted_count == 0;
    return TL_REGION_DECLINED;
  }
  if (!in_place) {
    a = tl_array_copy(g->vm, a);
    place = a == NULL ? NULL : tl_region_find_place(g, a, g->value, &g->place);
  }
  if (a == NULL)
    return TL_REGION_FAILED;
  tl_region_status status = TL_REGION_DECLINED;
  tl_dtype dtype = tl_array_dtype(a);
  for (int i = 0; place != NULL && i < (in_place ? WAYS : 0); i++)
    // What waits finds out by itself whether it may, and is asked once.
    if (status == TL_REGION_DECLINED &&
        (ways[i].fits == tl_region_is_shifted || ways[i].fits(g, place)))
      status = ways[i].write(g, place, dtype);
  if (place != NULL && !in_place)
    status = tl_region_write(g, place, dtype, true);
  else if (place != NULL && status == TL_REGION_DECLINED)
    status = store_disjoint(g, place);
  if (status != TL_REGION_DONE) {
    if (!in_place)
      tl_drop(g->vm, tl_own_array(a));
    return status;
  }
  if (in_place) {
    root->consumed = false;
    tl_written_in_place(g->vm, a);
  }
  *out = tl_own_array(a);
  return status;
}
