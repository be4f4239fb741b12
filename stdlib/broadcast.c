// Broadcasting by name: arrays repeated along axes as views with strides of 0,
// and the shapes that they would have.
//
//     shapes are aligned at the right, and an axis of 1 repeats:
//         4 * 1  and  3    ──▶  4 * 3
//     meshgrid: each vector along an axis of its own, repeated along the others

#include <inttypes.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "stdlib/ragged.h"
#include "stdlib/text.h"
#include "vm/array/describe.h"
#include "vm/nested/lift.h"
#include "vm/nested/nested.h"
#include "vm/values/list.h"

// A view of *s in a shape that it broadcasts to; repeated axes have stride 0.
// The size is checked although nothing is copied: a view of more items than an
// int64 counts could not be walked.
static bool broadcast_view(tl_vm *vm, tl_slot *s, int ndim,
                           const int64_t *shape, tl_slot *out) {
  const tl_array *x = s->array;
  int64_t strides[TL_MAX_DIMS], size;
  size_t nbytes;
  if (!tl_shape_size(vm, ndim, shape, tl_itemsize(tl_array_dtype(x)), &size,
                     &nbytes))
    return false;
  tl_broadcast_strides(x, ndim, shape, strides);
  return tl_view_or_item(vm, s, x->data, ndim, shape, strides, out);
}

// broadcast_to(x, shape): also to the rows of a ragged array or grid that
// stands for the shape.
static bool broadcast_to(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_form(args[1], TL_FORM_RAGGED))
    return tl_ragged_broadcast(vm, args[0], args[1], out);
  if (tl_is_form(args[1], TL_FORM_GRID))
    return tl_grid_broadcast(vm, args[0], args[1].nested, out);
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  if (!tl_arg_array(vm, "broadcast_to", &args[0]) ||
      !tl_arg_shape(vm, "broadcast_to", "shape", args[1], &ndim, shape))
    return false;
  const tl_array *x = args[0].array;
  // Shapes align at the right; axes in front are new.
  int skip = ndim - tl_ndim(x);
  bool fits = skip >= 0;
  for (int k = 0; fits && k < tl_ndim(x); k++)
    fits = tl_shape(x)[k] == 1 || tl_shape(x)[k] == shape[skip + k];
  if (!fits) {
    char what[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "broadcast_to: %s does not broadcast "
                   "to the shape given",
                   tl_describe(args[0], what, sizeof what));
  }
  return broadcast_view(vm, &args[0], ndim, shape, out);
}

// A list of weak numbers, as shapes are given back; *out is owned.
static bool list_of_ints(tl_vm *vm, int count, const int64_t *values,
                         tl_slot *out) {
  tl_list *list = tl_list_new(vm, count);
  bool ok = list != NULL;
  for (int i = 0; ok && i < count; i++) {
    tl_slot item = tl_weak_int(values[i]);
    ok = tl_list_push(vm, &list, &item);
  }
  return tl_list_give(vm, list, ok, out);
}

// Broadcasts [count] lengths into the shape so far. Returns which of them does
// not fit; -1: all do.
static int widen(int count, const int64_t *own, int *ndim, int64_t *shape) {
  //   have 3 * 1, own 2 * 1 * 4     1 * 3 * 1, then 2 * 3 * 4
  int more = count > *ndim ? count - *ndim : 0;
  memmove(shape + more, shape, sizeof *shape * (size_t)*ndim);
  for (int k = 0; k < more; k++) shape[k] = 1;
  *ndim += more;
  for (int k = 0; k < count; k++) {
    int64_t *have = &shape[*ndim - count + k];
    if (*have == 1)
      *have = own[k];
    if (own[k] != 1 && own[k] != *have)
      return k;
  }
  return -1;
}

// The same with the axes of a value.
static bool widen_to(tl_vm *vm, tl_slot s, int *ndim, int64_t *shape) {
  int64_t own[TL_MAX_DIMS];
  const int count = tl_value_ndim(s);
  for (int k = 0; k < count; k++) own[k] = tl_value_length(s, k);
  int k = widen(count, own, ndim, shape);
  if (k < 0)
    return true;
  char what[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "broadcast_arrays: %s does not broadcast with the arrays "
                 "before it: axis %d is %" PRId64 " against %" PRId64,
                 tl_describe(s, what, sizeof what), k, own[k],
                 shape[*ndim - count + k]);
}

// Sets parts to the values as arrays, or as they are where they are masked or
// have fields, and the shape that all broadcast to. The first [*opened] are set
// on every path.
static bool open_parts(tl_vm *vm, const tl_list *values, tl_slot *parts,
                       int64_t *opened, int *ndim, int64_t *shape) {
  for (int64_t i = 0; i < values->length; i++) {
    tl_slot s = values->items[i];
    bool is_spread = tl_is_nested(s) && !tl_is_form(s, TL_FORM_RAGGED) &&
                     !tl_is_form(s, TL_FORM_GRID);
    parts[i] = tl_borrow(s);
    if (!tl_poll_at(vm, i) ||
        (!is_spread &&
         !tl_arg_array_at(vm, "broadcast_arrays", s, i, &parts[i])))
      return false;
    *opened = i + 1;
    if (!widen_to(vm, parts[i], ndim, shape))
      return false;
  }
  return true;
}

// broadcast_arrays(arrays, ...): the common shape first, then each by
// broadcast_to.
static bool broadcast_arrays(tl_vm *vm, tl_slot *args, tl_slot *out) {
  // By its row in the library, so that the call is lifted over fields and masks
  // as a script's call of broadcast_to would be.
  const tl_builtin *spread =
      tl_builtin_find(vm->library, NULL, "broadcast_to", 12);
  const tl_list *values = args[0].list;
  int ndim = 0;
  int64_t shape[TL_MAX_DIMS], opened = 0;
  tl_slot to = tl_none();
  tl_slot *parts = tl_slots_new(vm, values->length, "broadcast_arrays");
  tl_list *list = parts != NULL ? tl_list_new(vm, values->length) : NULL;
  bool ok = list != NULL &&
            open_parts(vm, values, parts, &opened, &ndim, shape) &&
            list_of_ints(vm, ndim, shape, &to);
  for (int64_t i = 0; ok && i < values->length; i++) {
    tl_slot given[2] = {tl_borrow(parts[i]), tl_borrow(to)}, item;
    ok = tl_is_nested(given[0]) ? tl_lift(vm, spread, 2, given, &item)
                                : broadcast_view(vm, given, ndim, shape, &item);
    tl_clear(vm, &given[0]);
    if (ok && !tl_list_push(vm, &list, &item)) {
      tl_drop(vm, item);
      ok = false;
    }
  }
  tl_slots_free(vm, parts, opened);
  tl_drop(vm, to);
  return tl_list_give(vm, list, ok, out);
}

// A view of the vector [x] along one of the axes, repeated along the others.
static bool along_axis(tl_vm *vm, tl_slot *x, int axis, int ndim,
                       const int64_t *shape, tl_slot *out) {
  int64_t strides[TL_MAX_DIMS] = {0}, size;
  size_t nbytes;
  if (tl_ndim(x->array) > 0)
    strides[axis] = tl_strides(x->array)[0];
  return tl_shape_size(vm, ndim, shape, tl_itemsize(tl_array_dtype(x->array)),
                       &size, &nbytes) &&
         tl_view(vm, x, x->array->data, ndim, shape, strides, out);
}

// Appends a view of each vector along its axis of the grid. [swaps]: the first
// two axes change places ("xy"), so that x runs along the columns of a picture.
static bool mesh_parts(tl_vm *vm, tl_arrays *parts, bool swaps,
                       tl_list **list) {
  const int ndim = (int)parts->count;
  int64_t shape[TL_MAX_DIMS];
  if (parts->count > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "meshgrid: more than %d axes",
                   TL_MAX_DIMS);
  for (int i = 0; i < ndim; i++) {
    const tl_array *x = parts->items[i].array;
    if (tl_ndim(x) > 1)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "meshgrid: item %d of arrays has %d axes, needs 1", i,
                     tl_ndim(x));
    // A single number is an axis of length 1.
    shape[swaps && i < 2 ? 1 - i : i] = x->size;
  }
  for (int i = 0; i < ndim; i++) {
    tl_slot item = tl_none();
    bool ok = along_axis(vm, &parts->items[i], swaps && i < 2 ? 1 - i : i, ndim,
                         shape, &item) &&
              tl_list_push(vm, list, &item);
    if (!ok) {
      tl_drop(vm, item);
      return false;
    }
  }
  return true;
}

// In C: the views that reshape and broadcast_arrays give in Tally take 5 times
// as long for two short vectors.
static bool meshgrid(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_string *indexing = NULL;
  tl_arrays parts;
  if (!tl_is_none(args[1]) &&
      !tl_arg_string(vm, "meshgrid", "indexing", args[1], &indexing))
    return false;
  const bool swaps = !indexing || strcmp(indexing->text, "xy") == 0;
  if (!swaps && strcmp(indexing->text, "ij") != 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "meshgrid: indexing must be \"xy\" or \"ij\", not \"%s\"",
                   indexing->text);
  if (!tl_arg_arrays(vm, "meshgrid", args[0], &parts))
    return false;
  tl_list *list = tl_list_new(vm, parts.count);
  bool ok = list && mesh_parts(vm, &parts, swaps && parts.count > 1, &list);
  tl_arrays_close(vm, &parts);
  return tl_list_give(vm, list, ok, out);
}

// broadcast_shapes(shapes, ...): as broadcasting arrays of these shapes would,
// without any array.
static bool broadcast_shapes(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int ndim = 0;
  int64_t shape[TL_MAX_DIMS];
  const tl_list *shapes = args[0].list;
  for (int64_t i = 0; i < shapes->length; i++) {
    int count;
    int64_t next[TL_MAX_DIMS];
    if (!tl_arg_shape(vm, "broadcast_shapes", "each of shapes",
                      shapes->items[i], &count, next))
      return false;
    int k = widen(count, next, &ndim, shape);
    if (k >= 0)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "broadcast_shapes: axis %d is %lld against %lld",
                     ndim - count + k, (long long)shape[ndim - count + k],
                     (long long)next[k]);
  }
  return list_of_ints(vm, ndim, shape, out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_broadcast_builtins[] = {
    /// x repeated to fill a shape, without copying; where shape is an array of
    /// rows of different lengths, in rows like its own.
    /// Any dtype, which stays. A shape that x does not broadcast to is an error
    /// (kind shape).
    ///     broadcast_to([1, 2], (2, 2))    # [[1, 2], [1, 2]]
    ///     broadcast_to([1, 2], [[0, 0], [0]])    # [[1, 1], [2]]
    {"broadcast_to", "x, shape", broadcast_to, .result = TL_VIEWS,
     .lifts = TL_MOVES},
    /// The list of the arrays, each repeated to their common shape.
    /// Shapes that do not broadcast are an error (kind shape).
    ///     broadcast_arrays([1, 2], [[0]])[1]    # [[0, 0]]
    ///     a, b = broadcast_arrays([1, 2], [[0]])
    ///     a    # [[1, 2]]
    {"broadcast_arrays", "...arrays", broadcast_arrays, .takes = TL_BYTES},
    /// The coordinates of every point of a grid, as a list with an array for
    /// each axis. With indexing "xy" (unless given) the first two axes change
    /// places; with "ij" they stay.
    /// Vectors of any dtypes; more axes are an error (kind shape), another
    /// indexing is one of kind value.
    ///     meshgrid([1, 2], [3, 4], indexing: "ij")[0]    # [[1, 1], [2, 2]]
    ///     x, y = meshgrid([1, 2], [3, 4])
    ///     y    # [[3, 3], [4, 4]]
    {"meshgrid", "...arrays, indexing: \"xy\"", meshgrid},
    /// The shape that arrays of these shapes broadcast to.
    /// Lists of integers. Shapes that do not broadcast are an error (kind
    /// shape).
    ///     broadcast_shapes((2, 1), (3,))    # (2, 3)
    {"broadcast_shapes", "...shapes", broadcast_shapes},
    {.name = NULL},
};
