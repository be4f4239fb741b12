// What the forms share. See parts.h.
#include "vm/nested/parts.h"

#include "vm/array/describe.h"
#include "vm/engine/engine.h"
#include "vm/error.h"
#include "vm/kernels/kernels.h"
#include "vm/nested/grid.h"
#include "vm/nested/ragged.h"
#include "vm/vm.h"

// --- Workspace --------------------------------------------------------------

// The slot in front of them has their number.
tl_slot *tl_slots_new(tl_vm *vm, int64_t count, const char *what) {
  tl_slot *slots = tl_alloc(vm, ((size_t)count + 1) * sizeof *slots, what);
  if (slots == NULL)
    return NULL;
  *slots++ = tl_weak_int(count);
  for (int64_t i = 0; i < count; i++) slots[i] = tl_none();
  return slots;
}

void tl_slots_free(tl_vm *vm, tl_slot *slots, int64_t made) {
  if (slots == NULL)
    return;
  while (made > 0) tl_clear(vm, &slots[--made]);
  tl_free(vm, slots - 1, ((size_t)slots[-1].i + 1) * sizeof *slots);
}

tl_array *tl_numbers_new(tl_vm *vm, int ndim, const int64_t *shape,
                         int64_t first) {
  tl_array *a = tl_array_new(vm, TL_INT64, ndim, shape);
  if (a != NULL)
    tl_kernels()->iota(tl_offsets_data(a), first, 1, (size_t)a->size);
  return a;
}

tl_array *tl_number_items(tl_vm *vm, tl_slot s, int64_t first) {
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_value_shape(s, shape);
  return tl_numbers_new(vm, ndim, shape, first);
}

// --- Elementwise operations -------------------------------------------------

bool tl_compute1(tl_vm *vm, tl_op op, tl_slot a, tl_slot *out) {
  tl_slot x = tl_borrow(a);
  return tl_elementwise(vm, op, &x, out);
}

bool tl_compute2(tl_vm *vm, tl_op op, tl_slot a, tl_slot b, tl_slot *out) {
  tl_slot x[2] = {tl_borrow(a), tl_borrow(b)};
  return tl_elementwise(vm, op, x, out);
}

bool tl_compute3(tl_vm *vm, tl_op op, tl_slot a, tl_slot b, tl_slot c,
                 tl_slot *out) {
  tl_slot x[3] = {tl_borrow(a), tl_borrow(b), tl_borrow(c)};
  return tl_elementwise(vm, op, x, out);
}

bool tl_compute_into(tl_vm *vm, tl_op op, tl_slot *a, tl_slot b) {
  tl_slot made;
  if (!tl_compute2(vm, op, *a, b, &made))
    return false;
  tl_drop(vm, *a);
  tl_copy_slot(a, &made);
  return true;
}

// --- Several values ---------------------------------------------------------

bool tl_join_opened(tl_vm *vm, tl_opener *open, tl_joiner *join, int64_t count,
                    const tl_slot *items, tl_slot *out) {
  tl_slot *opened = tl_slots_new(vm, count, "values to join");
  int64_t made = 0;
  bool ok = opened != NULL;
  for (; ok && made < count; made += ok)
    ok = open(vm, items[made], &opened[made]);
  ok = ok && join(vm, count, opened, out);
  tl_slots_free(vm, opened, made);
  return ok;
}

bool tl_fail_broadcast(tl_vm *vm, tl_slot a, tl_slot b) {
  char x[TL_DESCRIBE], y[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_SHAPE, "%s and %s do not broadcast",
                 tl_describe(a, x, sizeof x), tl_describe(b, y, sizeof y));
}

// --- Parts ------------------------------------------------------------------

bool tl_nested_map(tl_vm *vm, const tl_nested *n, int ndim, bool all,
                   tl_part_map *map, void *context, tl_slot *out) {
  tl_nested *made =
      tl_nested_new(vm, tl_nested_form(n), ndim, n->count, n->layout);
  if (made == NULL)
    return false;
  for (int64_t i = 0; i < n->count; i++) {
    tl_slot part = tl_borrow(n->parts[i]);
    if ((all || tl_part_spans(n, i)) &&
        !map(vm, context, i, n->parts[i], &part)) {
      tl_drop(vm, tl_own_nested(made));
      return false;
    }
    tl_nested_put(vm, made, i, &part);
  }
  *out = tl_own_nested(made);
  return true;
}

// The axes of a reshape, which goes to all parts alike.
typedef struct axes {
  int taken, ndim;
  const int64_t *shape;
} axes;

static bool reshape_part(tl_vm *vm, void *context, int64_t i, tl_slot part,
                         tl_slot *out) {
  const axes *a = context;
  (void)i;
  return tl_value_reshape(vm, part, a->taken, a->ndim, a->shape, out);
}

static bool reshape_array(tl_vm *vm, tl_slot s, const axes *to, tl_slot *out) {
  tl_slot dense, borrowed = tl_borrow(s);
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  int ndim = to->ndim + tl_ndim(s.array) - to->taken;
  if (ndim > TL_MAX_DIMS) {
    return tl_fail(vm, TALLY_ERR_SHAPE, "an array has at most %d dimensions",
                   TL_MAX_DIMS);
  }
  if (!tl_array_contiguous(vm, &borrowed, &dense))
    return false;
  const tl_array *a = dense.array;
  tl_dtype dtype = tl_array_dtype(a);
  for (int i = 0; i < ndim; i++)
    shape[i] =
        i < to->ndim ? to->shape[i] : tl_shape(a)[i - to->ndim + to->taken];
  tl_shape_strides(ndim, shape, tl_itemsize(dtype), strides);
  tl_array *view =
      tl_view_new(vm, &dense, dtype, a->data, ndim, shape, strides);
  tl_drop(vm, dense);
  if (view == NULL)
    return false;
  *out = tl_own_array(view);
  tl_hold(vm, *out, TL_CAUSE_VIEW);
  return true;
}

bool tl_value_reshape(tl_vm *vm, tl_slot s, int taken, int ndim,
                      const int64_t *shape, tl_slot *out) {
  axes to = {taken, ndim, shape};
  if (tl_is_array(s))
    return reshape_array(vm, s, &to, out);
  if (tl_is_form(s, TL_FORM_RAGGED)) {
    tl_slot rows = tl_retain(vm, tl_borrow(s));
    return tl_grid_of_shape(vm, ndim, shape, &rows, out);
  }
  const tl_nested *n = s.nested;
  if (!tl_is_form(s, TL_FORM_GRID)) {
    return tl_nested_map(vm, n, tl_nested_ndim(n) - taken + ndim, false,
                         reshape_part, &to, out);
  }
  tl_slot places;
  if (!reshape_array(vm, n->parts[0], &to, &places))
    return false;
  bool ok = tl_grid_of_places(vm, places, n->parts[1], out);
  tl_drop(vm, places);
  return ok;
}

bool tl_broadcast_flat(tl_vm *vm, const tl_array *a, int ndim,
                       const int64_t *shape, tl_slot *out) {
  int64_t strides[TL_MAX_DIMS];
  tl_slot base = {.tag = tl_array_tag(a), .array = (tl_array *)a}, view;
  tl_broadcast_strides(a, ndim, shape, strides);
  if (!tl_array_finish(vm, true,
                       tl_view_new(vm, &base, tl_array_dtype(a), a->data, ndim,
                                   shape, strides),
                       &view))
    return false;
  bool ok = tl_value_flatten(vm, view, out);
  tl_drop(vm, view);
  return ok;
}

bool tl_value_split_axis(tl_vm *vm, tl_slot *s, int ndim, const int64_t *shape,
                         tl_slot *out) {
  if (ndim == 1 && tl_is_owned(*s)) {
    tl_copy_slot(out, s);
    s->tag &= ~TL_OWNED;
    return true;
  }
  bool ok = tl_value_reshape(vm, *s, 1, ndim, shape, out);
  tl_clear(vm, s);
  return ok;
}

bool tl_value_join_axes(tl_vm *vm, tl_slot s, tl_slot *out) {
  int64_t length = tl_value_length(s, 0) * tl_value_length(s, 1);
  return tl_value_reshape(vm, s, 2, 1, &length, out);
}

bool tl_value_flatten(tl_vm *vm, tl_slot s, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS], size = 1;
  int ndim = tl_value_shape(s, shape);
  if (ndim < 2) {
    *out = tl_retain(vm, tl_borrow(s));
    return true;
  }
  for (int i = 0; i < ndim; i++) size *= shape[i];
  return tl_value_reshape(vm, s, ndim, 1, &size, out);
}

// The order of axes, and how many there are.
typedef struct order {
  const int *axes;
  int ndim;
} order;

static bool permute_part(tl_vm *vm, void *context, int64_t i, tl_slot part,
                         tl_slot *out) {
  const order *o = context;
  (void)i;
  return tl_value_permute(vm, part, o->axes, o->ndim, out);
}

bool tl_value_permute(tl_vm *vm, tl_slot s, const int *axes, int ndim,
                      tl_slot *out) {
  order o = {axes, ndim};
  if (tl_is_nested(s)) {
    return tl_nested_map(vm, s.nested, tl_nested_ndim(s.nested), false,
                         permute_part, &o, out);
  }
  const tl_array *a = s.array;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  for (int i = 0; i < tl_ndim(a); i++) {
    // Behind them a part may have axes of its own.
    int from = i < ndim ? axes[i] : i;
    shape[i] = tl_shape(a)[from];
    strides[i] = tl_strides(a)[from];
  }
  tl_slot base = tl_borrow(s);
  tl_array *view = tl_view_new(vm, &base, tl_array_dtype(a), a->data,
                               tl_ndim(a), shape, strides);
  if (view == NULL)
    return false;
  *out = tl_own_array(view);
  tl_hold(vm, *out, TL_CAUSE_VIEW);
  return true;
}

// --- Missing values ---------------------------------------------------------

bool tl_option_there(tl_vm *vm, const tl_nested *n, tl_slot *out) {
  return tl_compute1(vm, TL_OP_LOGICAL_NOT, n->parts[0], out);
}

bool tl_option_present(tl_vm *vm, const tl_nested *n, tl_slot *out) {
  tl_slot there;
  if (!tl_option_there(vm, n, &there))
    return false;
  bool ok = tl_value_take(vm, n->parts[1], there.array, out);
  tl_drop(vm, there);
  return ok;
}

// --- Rows -------------------------------------------------------------------

tl_array *tl_true_offsets(tl_vm *vm, const int64_t *at, int64_t rows,
                          const tl_array *flags) {
  tl_array *offsets = tl_offsets_new(vm, rows);
  for (int64_t i = 0; offsets != NULL && i < rows; i++) {
    int64_t *to = tl_offsets_data(offsets) + i;
    to[1] = to[0];
    for (int64_t k = at[i]; k < at[i + 1]; k++) to[1] += flags->data[k] != 0;
  }
  return offsets;
}

bool tl_take_at(tl_vm *vm, bool ok, tl_slot content, tl_array *places,
                tl_slot *out) {
  ok = ok && places != NULL && tl_value_take(vm, content, places, out);
  tl_array_drop(vm, places);
  return ok;
}

bool tl_ragged_close(tl_vm *vm, bool ok, tl_array *offsets, tl_slot *items,
                     tl_slot *out) {
  if (ok)
    return tl_ragged_new(vm, offsets, items, out);
  tl_array_drop(vm, offsets);
  return false;
}

bool tl_rows_close(tl_vm *vm, bool ok, tl_slot *offsets, tl_slot *items,
                   tl_slot *out) {
  if (ok)
    return tl_nested_pair(vm, TL_FORM_RAGGED, 1, offsets, items, out);
  tl_clear(vm, offsets);
  return false;
}

bool tl_map_rows(tl_vm *vm, const tl_row_loop *loop, tl_slot *out) {
  int64_t calls = loop->count > 0 ? loop->count : 1;
  tl_slot *results = tl_slots_new(vm, calls, loop->name), joined;
  bool ok = results != NULL;
  int64_t made = 0;
  for (; ok && made < calls; made += ok) {
    ok = ((made & 0xff) != 0xff || tl_poll(vm, 1)) &&
         loop->each(vm, loop->context, loop->count > 0 ? made : -1,
                    &results[made]);
  }
  ok = ok && loop->join(vm, loop->context, calls, results, &joined);
  tl_slots_free(vm, results, made);
  if (!ok || loop->count > 0) {
    if (ok)
      tl_copy_slot(out, &joined);
    return ok;
  }
  // None of the one row that stood for all.
  ok = tl_value_ndim(joined) > 0
           ? tl_value_slice(vm, joined, 0, 0, out)
           : tl_fail(vm, TALLY_ERR_VALUE, "%s: there are no rows", loop->name);
  if (ok)
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  tl_drop(vm, joined);
  return ok;
}
