// Broadcasting by name: an array repeated along axes as a view with strides of
// 0.
//
//     shapes are aligned at the right, and an axis of 1 repeats:
//         4 * 1  to  2 * 4 * 3

#include "stdlib/families.h"
#include "stdlib/ragged.h"
#include "vm/bytecode/module.h"

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
  if (tl_is_form(args[1], TL_FORM_GRID)) {
    tl_slot given[] = {tl_borrow(args[0]), tl_borrow(args[1])};
    return tl_call_embedded(vm, "inner/nested", "broadcast_rows", 2, given,
                            out);
  }
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
    char to[TL_SHAPE_TEXT];
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "broadcast_to: %s does not broadcast to %s",
                   tl_described(vm, args[0]), tl_shape_text(ndim, shape, to));
  }
  return broadcast_view(vm, &args[0], ndim, shape, out);
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
    {.name = NULL},
};
