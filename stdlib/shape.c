// Changing the shape of arrays: views where the items can stay where they are.
//
//   reshape, flatten       new strides over contiguous items, else a copy
//   flip                   negative strides from the last item on
//   expand_dims, squeeze   an axis of length 1 more or less
//   permute_dims, …        strides in another order
//   roll                   a copy, or a rotation in x's own memory

#include "stdlib/families.h"
#include "stdlib/ragged.h"
#include "vm/nested/parts.h"
#include "vm/nested/lift.h"

// --- reshape ----------------------------------------------------------------

// Puts in the one length that is -1, and checks that the items fit.
static bool complete_shape(tl_vm *vm, const tl_array *x, int ndim,
                           int64_t *shape) {
  int64_t known = 1;
  int unknown = -1;
  bool overflow = false, empty = false;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] == -1 && unknown < 0)
      unknown = i;
    else if (shape[i] < 0)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "reshape: axis %d of the shape is "
                     "%lld; only one may be -1, none less",
                     i, (long long)shape[i]);
    else if (shape[i] == 0)
      empty = true;
    else if (__builtin_mul_overflow(known, shape[i], &known))
      overflow = true;  // also beside a 0: strides must not overflow either
  }
  // Strides in bytes must fit too, and an item has up to 16.
  if (known > INT64_MAX / 16)
    overflow = true;
  if (empty)
    known = 0;
  if (unknown >= 0 && !overflow && known > 0 && x->size % known == 0) {
    shape[unknown] = x->size / known;
    return true;
  }
  if (unknown < 0 && !overflow && known == x->size)
    return true;
  // Either there are too many or too few items, or no length fits for -1: one
  // message with the type and the shape asked for says which.
  char to[TL_SHAPE_TEXT];
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "reshape: %s has %lld items, which do "
                 "not fill %s",
                 tl_described(vm, tl_lend_array(x)), (long long)x->size,
                 tl_shape_text(ndim, shape, to));
}

// Whether each of axes [from, to) of x continues the one behind it.
static bool is_one_run(const tl_array *x, int from, int to) {
  for (int i = from; i + 1 < to; i++)
    if (tl_strides(x)[i] != tl_shape(x)[i + 1] * tl_strides(x)[i + 1])
      return false;
  return true;
}

// The strides that show x, which has items, in another shape of as many. Axes
// correspond in groups with the same number of items, of which those of x must
// be one run; false where they are not.
//
//   2 * 3 * 4, every other column, to 6 * 4    groups 2 * 3 and 6, 4 and 4
//   2 * 3, transposed, to 6                    no: the group 2 * 3 is no run
static bool view_strides(const tl_array *x, int ndim, const int64_t *shape,
                         int64_t *strides) {
  int from = 0, to = 0;  // axes of x, and of the shape, that are behind us
  while (to < ndim || from < tl_ndim(x)) {
    int first = from, begin = to;
    int64_t old = from < tl_ndim(x) ? tl_shape(x)[from++] : 1;
    int64_t now = to < ndim ? shape[to++] : 1;
    while (old != now) {
      if (old < now)
        old *= tl_shape(x)[from++];
      else
        now *= shape[to++];
    }
    if (!is_one_run(x, first, from))
      return false;
    int64_t step = from > first ? tl_strides(x)[from - 1]
                                : (int64_t)tl_itemsize(tl_array_dtype(x));
    for (int i = to - 1; i >= begin; i--) {
      strides[i] = step;
      step *= shape[i];
    }
  }
  return true;
}

// A view with new strides wherever they can say it. Otherwise the items are
// copied into a result whose memory is seen in x's shape: row-major order is
// the same for both.
bool tl_reshape(tl_vm *vm, tl_slot *s, int ndim, const int64_t *shape,
                tl_slot *out) {
  tl_array *x = s->array;
  size_t itemsize = tl_itemsize(tl_array_dtype(x));
  int64_t strides[TL_MAX_DIMS];
  if (ndim > 0 && tl_is_contiguous(x)) {
    tl_shape_strides(ndim, shape, itemsize, strides);
    return tl_view(vm, s, x->data, ndim, shape, strides, out);
  }
  if (ndim > 0 && x->size > 0 && view_strides(x, ndim, shape, strides))
    return tl_view(vm, s, x->data, ndim, shape, strides, out);
  tl_array *a = tl_array_new(vm, tl_array_dtype(x), ndim, shape);
  if (!a)
    return false;
  tl_shape_strides(tl_ndim(x), tl_shape(x), itemsize, strides);
  return tl_result_finish(
      vm, tl_assign_part(vm, a, a->data, tl_ndim(x), tl_shape(x), strides, x),
      a, out);
}

// reshape(x, shape, copy). copy is checked and not used: whether a view shares
// its block cannot be seen by a program, as values do not change.
static bool reshape(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  bool copy;
  return tl_arg_ints(vm, "reshape", "shape", args[1], TL_MAX_DIMS, &ndim,
                     shape) &&
         (tl_is_none(args[2]) ||
          tl_arg_bool(vm, "reshape", "copy", args[2], &copy)) &&
         complete_shape(vm, args[0].array, ndim, shape) &&
         tl_reshape(vm, &args[0], ndim, shape, out);
}

// flatten(x): a view of the items of a ragged array, whatever its rows. Other
// nested arrays are flattened part by part.
static bool flatten(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_form(args[0], TL_FORM_RAGGED)) {
    tl_slot offsets;
    if (!tl_ragged_borrow(vm, args[0], &offsets, out))
      return false;
    tl_drop(vm, offsets);
    if (!tl_is_owned(*out))
      *out = tl_retain(vm, *out);
    tl_hold(vm, *out, TL_CAUSE_VIEW);
    return true;
  }
  if (tl_is_nested(args[0]))
    return tl_value_flatten(vm, args[0], out);
  int64_t size = args[0].array->size;
  return tl_reshape(vm, &args[0], 1, &size, out);
}

// --- Reversing and rolling ---------------------------------------------------

// flip(x, axis): a view with negative strides that begins at the last item of
// each axis. Rows of a ragged array are gathered; axes inside of them are the
// business of the rows (tl_lift_rows).
static bool flip(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_form(args[0], TL_FORM_RAGGED)) {
    // The axis within rows: 1, or that number counted from the end.
    bool within = tl_class(args[1]) == TL_CLASS_I64 &&
                  (args[1].i == 1 || args[1].i == 1 - tl_value_axes(args[0]));
    return within
               ? tl_ragged_flip(vm, args[0], out)
               : tl_lift_rows(vm, tl_builtin_find(vm->library, NULL, "flip", 4),
                              2, args, out);
  }
  if (!tl_arg_array(vm, "flip", &args[0]))
    return false;
  tl_array *x = args[0].array;
  int count, axes[TL_MAX_DIMS];
  if (!tl_arg_axes_or_all(vm, "flip", args[1], tl_ndim(x), &count, axes))
    return false;
  int64_t strides[TL_MAX_DIMS];
  memcpy(strides, tl_strides(x), sizeof(int64_t) * (size_t)tl_ndim(x));
  char *data = x->data;
  for (int i = 0; i < count; i++) {
    int axis = axes[i];
    // An axis without items has no last one, and its pointer must stay in the
    // block.
    if (tl_shape(x)[axis] > 0)
      data += (tl_shape(x)[axis] - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return tl_view_or_item(vm, &args[0], data, tl_ndim(x), tl_shape(x), strides,
                         out);
}

// Copies x into a, moved on by shift[axis] along each axis, round the end.
// Every axis with a shift cuts the array in two, so there are 2^axes blocks.
static bool roll_blocks(tl_vm *vm, tl_array *a, tl_array *x,
                        const int64_t *shift) {
  int ndim = tl_ndim(x), cut[TL_MAX_DIMS], cuts = 0;
  for (int k = 0; k < ndim; k++)
    if (shift[k] != 0)
      cut[cuts++] = k;
  for (uint32_t block = 0; block < UINT32_C(1) << cuts; block++) {
    int64_t shape[TL_MAX_DIMS];
    char *to = a->data, *from = x->data;
    memcpy(shape, tl_shape(x), sizeof(int64_t) * (size_t)ndim);
    for (int c = 0; c < cuts; c++) {
      int k = cut[c];
      int64_t tail = shift[k], head = tl_shape(x)[k] - tail;
      // The first [head] items go behind the last [tail] ones.
      bool is_head = (block >> c & 1) == 0;
      shape[k] = is_head ? head : tail;
      if (is_head)
        to += tail * tl_strides(a)[k];
      else
        from += head * tl_strides(x)[k];
    }
    tl_slot base = tl_lend_array(x), part;
    if (!tl_view(vm, &base, from, ndim, shape, tl_strides(x), &part))
      return false;
    bool ok = tl_assign_part(vm, a, to, ndim, shape, tl_strides(a), part.array);
    tl_drop(vm, part);
    if (!ok)
      return false;
  }
  return true;
}

// Puts the first [left] bytes behind the [right] ones that follow: the shorter
// side goes to its place and what it was changed for is turned in turn (Gries
// and Mills, 1981). False after tl_fail.
static bool rotate(tl_vm *vm, char *a, size_t left, size_t right) {
  char apart[4096];
  //   left  right        a b | c d e   swapped: c d | a b e, then a b by e
  while (left > sizeof apart && right > sizeof apart) {
    size_t n = left < right ? left : right;
    if (!tl_exchange_pieces(vm, a, a + left, n))
      return false;
    a += n;
    if (left < right)
      right -= n;
    else
      left -= n;
  }
  const bool down = left <= right;
  const size_t n = down ? left : right;
  memcpy(apart, down ? a : a + left, n);
  const bool ok = tl_move_bytes(vm, down ? a : a + right, down ? a + left : a,
                                down ? right : left);
  memcpy(down ? a + right : a, apart, n);
  return ok;
}

// Turns a dense array's items where they are, axis by axis. Once the first of
// them has moved it is only stopped where nobody will see that.
static bool turn(tl_vm *vm, tl_array *a, const int64_t *shift) {
  size_t inner = tl_itemsize(tl_array_dtype(a)), moved = 0;
  const size_t nbytes = tl_item_bytes(a);
  if (!tl_poll(vm, nbytes >> 13))
    return false;
  for (int k = tl_ndim(a) - 1; k >= 0; k--) {
    // From the last axis on, whose rotations move single items; those of an
    // axis further out move whole rows of the inner ones.
    size_t right = (size_t)shift[k] * inner;
    inner *= (size_t)tl_shape(a)[k];
    for (size_t at = 0; right > 0 && at < nbytes; at += inner) {
      if (!rotate(vm, a->data + at, inner - right, right) ||
          ((moved += inner) >= TL_COPY_PIECE && !tl_poll_over(vm)))
        return false;
      moved %= TL_COPY_PIECE;
    }
  }
  return true;
}

// In x's own memory where it is dying, else a copy, as what comes round the end
// lies in no regular steps behind the rest.
static bool rolled(tl_vm *vm, tl_slot *s, const int64_t *shift, tl_slot *out) {
  tl_array *x = s->array;
  tl_dtype dtype = tl_array_dtype(x);
  // Either x itself, which nobody else has, or a new array of its shape.
  tl_array *a = tl_array_over(vm, s, dtype);
  if (!a)
    return false;
  bool ok = x->size == 0 ||
            (a == x ? turn(vm, a, shift) : roll_blocks(vm, a, x, shift));
  return tl_give_or_put_back(vm, ok, tl_own_array(a), s, out);
}

// The shift as one from 0 to length - 1; an axis without items has none.
static int64_t wrap(int64_t shift, int64_t length) {
  if (length == 0)
    return 0;
  shift %= length;
  return shift < 0 ? shift + length : shift;
}

// roll without an axis: as a vector, then in the shape that x has. An array
// that ends here and is contiguous is rotated where it is.
static bool roll_flat(tl_vm *vm, tl_slot *x, int64_t shift, tl_slot *out) {
  int64_t size = x->array->size;
  int ndim = tl_ndim(x->array);
  int64_t shape[TL_MAX_DIMS];
  memcpy(shape, tl_shape(x->array), sizeof(int64_t) * (size_t)ndim);
  shift = wrap(shift, size);
  if (ndim == 1)
    return rolled(vm, x, &shift, out);
  // The flat view takes x's header, which what fails then does not give back.
  tl_slot borrowed = tl_borrow(*x), flat, transposed;
  if (!tl_reshape(vm, vm->keeping ? &borrowed : x, 1, &size, &flat))
    return false;
  bool ok = rolled(vm, &flat, &shift, &transposed);
  tl_drop(vm, flat);
  if (!ok)
    return false;
  return tl_drop_after(vm, tl_reshape(vm, &transposed, ndim, shape, out),
                       &transposed);
}

// The shift along each axis, from 0 to its length, or [flat]: of all items in
// row-major order, which is shift[0].
static bool read_roll(tl_vm *vm, const tl_slot *args, int ndim,
                      const int64_t *lengths, int64_t *shift, bool *flat) {
  int shifts, count, axes[TL_MAX_DIMS] = {0};
  int64_t given[TL_MAX_DIMS], axis[TL_MAX_DIMS];
  if (!tl_arg_ints(vm, "roll", "shift", args[1], TL_MAX_DIMS, &shifts, given))
    return false;
  *flat = tl_is_none(args[2]);
  if (*flat) {
    if (shifts != 1)
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "roll: shift has %d numbers, which need as many axes",
                     shifts);
    shift[0] = given[0];
    return true;
  }
  // NumPy's rule: an axis may come twice, its shifts add up.
  if (!tl_arg_ints(vm, "roll", "axis", args[2], TL_MAX_DIMS, &count, axis))
    return false;
  if (shifts != count && shifts != 1)
    return tl_fail(vm, TALLY_ERR_VALUE, "roll: %d shifts for %d axes", shifts,
                   count);
  for (int i = 0; i < ndim; i++) shift[i] = 0;
  for (int i = 0; i < count; i++) {
    if (!tl_axis(vm, "roll", axis[i], ndim, &axes[i]))
      return false;
    int64_t length = lengths[axes[i]];
    int64_t by = wrap(given[shifts == 1 ? 0 : i], length);
    shift[axes[i]] = wrap(shift[axes[i]] + by, length);
  }
  return true;
}

// roll(x, shift, axis).
static bool roll(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t shift[TL_MAX_DIMS];
  bool flat;
  tl_array *x = args[0].array;
  if (!read_roll(vm, args, tl_ndim(x), tl_shape(x), shift, &flat))
    return false;
  return flat ? roll_flat(vm, &args[0], shift[0], out)
              : rolled(vm, &args[0], shift, out);
}

// Without an axis, a fused region knows only vectors: rows that pass items on
// to each other are left to roll itself.
bool tl_fused_roll(tl_vm *vm, int ndim, const int64_t *lengths,
                   const tl_slot *args, int64_t *shift) {
  bool flat;
  if (!read_roll(vm, args, ndim, lengths, shift, &flat) || (flat && ndim != 1))
    return false;
  if (flat)
    shift[0] = wrap(shift[0], lengths[0]);
  return true;
}

// --- Axes -------------------------------------------------------------------

// expand_dims(x, axis): places count among the axes of the result, so they are
// read again once their number is known. The stride of a new axis is never
// used, as its length is 1.
static bool expand_dims(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int count, axes[TL_MAX_DIMS];
  int64_t given[TL_MAX_DIMS], shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  if (!tl_arg_ints(vm, "expand_dims", "axis", args[1], TL_MAX_DIMS, &count,
                   given))
    return false;
  const tl_array *x = args[0].array;
  int ndim = tl_ndim(x) + count;
  if (ndim > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "expand_dims: more than %d axes",
                   TL_MAX_DIMS);
  if (!tl_arg_axes(vm, "expand_dims", args[1], ndim, &count, axes))
    return false;
  // Known now as axes of the result, and each only once.
  uint32_t fresh = 0;
  for (int i = 0; i < count; i++) fresh |= UINT32_C(1) << axes[i];
  for (int k = 0, j = 0; k < ndim; k++) {
    bool is_new = (fresh >> k & 1) != 0;
    shape[k] = is_new ? 1 : tl_shape(x)[j];
    strides[k] = is_new ? 0 : tl_strides(x)[j];
    if (!is_new)
      j++;
  }
  return tl_view(vm, &args[0], x->data, ndim, shape, strides, out);
}

// squeeze(x, axis): without an axis all of length 1 go, else those named, which
// must be of length 1 (kind value).
static bool squeeze(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_array *x = args[0].array;
  int count = 0, axes[TL_MAX_DIMS], ndim = 0;
  uint32_t gone = 0;
  if (!tl_is_none(args[1]) &&
      !tl_arg_axes(vm, "squeeze", args[1], tl_ndim(x), &count, axes))
    return false;
  for (int i = 0; i < count; i++) {
    if (tl_shape(x)[axes[i]] != 1)
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "squeeze: axis %d has length %lld, "
                     "not 1",
                     axes[i], (long long)tl_shape(x)[axes[i]]);
    gone |= UINT32_C(1) << axes[i];
  }
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  for (int k = 0; k < tl_ndim(x); k++) {
    if (tl_is_none(args[1]) ? tl_shape(x)[k] == 1 : (gone >> k & 1) != 0)
      continue;
    shape[ndim] = tl_shape(x)[k];
    strides[ndim++] = tl_strides(x)[k];
  }
  return tl_view_or_item(vm, &args[0], x->data, ndim, shape, strides, out);
}

// Only shape and strides change places; no item moves.
bool tl_permute(tl_vm *vm, tl_slot *s, const int *axes, tl_slot *out) {
  const tl_array *x = s->array;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  for (int k = 0; k < tl_ndim(x); k++) {
    shape[k] = tl_shape(x)[axes[k]];
    strides[k] = tl_strides(x)[axes[k]];
  }
  return tl_view_or_item(vm, s, x->data, tl_ndim(x), shape, strides, out);
}

// permute_dims(x, axes): each axis exactly once.
static bool permute_dims(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int count, axes[TL_MAX_DIMS];
  int ndim = tl_ndim(args[0].array);
  if (!tl_arg_axes(vm, "permute_dims", args[1], ndim, &count, axes))
    return false;
  if (count != ndim)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "permute_dims: %d axes are given, x "
                   "has %d",
                   count, ndim);
  return tl_permute(vm, &args[0], axes, out);
}

// matrix_transpose(x): the last two axes change places in each matrix of the
// stack.
static bool matrix_transpose(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axes[TL_MAX_DIMS];
  int ndim = tl_ndim(args[0].array);
  if (ndim < 2)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "matrix_transpose: x has %d axes, "
                   "needs 2 or more",
                   ndim);
  for (int k = 0; k < ndim; k++) axes[k] = k;
  axes[ndim - 2] = ndim - 1;
  axes[ndim - 1] = ndim - 2;
  return tl_permute(vm, &args[0], axes, out);
}

// moveaxis(x, source, destination): those named go to their places, and the
// others fill the gaps in the order that they have.
static bool moveaxis(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int count, targets, from[TL_MAX_DIMS], to[TL_MAX_DIMS], axes[TL_MAX_DIMS];
  int ndim = tl_ndim(args[0].array);
  if (!tl_arg_axes(vm, "moveaxis", args[1], ndim, &count, from) ||
      !tl_arg_axes(vm, "moveaxis", args[2], ndim, &targets, to))
    return false;
  if (count != targets)
    return tl_fail(vm, TALLY_ERR_VALUE, "moveaxis: %d axes to %d places", count,
                   targets);
  uint32_t moved = 0;
  for (int k = 0; k < ndim; k++) axes[k] = -1;
  for (int i = 0; i < count; i++) {
    axes[to[i]] = from[i];
    moved |= UINT32_C(1) << from[i];
  }
  for (int k = 0, next = 0; k < ndim; k++) {
    if (axes[k] >= 0)
      continue;
    while (moved >> next & 1) next++;
    axes[k] = next++;
  }
  return tl_permute(vm, &args[0], axes, out);
}

// --- Attributes --------------------------------------------------------------

// x.name of an array, whatever fields it has.
static bool attribute_of(tl_vm *vm, const char *name, tl_slot *args,
                         tl_slot *out) {
  tl_slot *x = &args[0];
  if (!tl_is_nested(*x) && !tl_is_scalar(*x) && !tl_arg_array(vm, name, x))
    return false;
  tl_string *key = tl_string_from(vm, name);
  bool ok = key != NULL && tl_attribute_get(vm, x, key, out);
  if (key != NULL)
    tl_drop(vm, tl_own_string(key));
  return ok;
}

#define ATTRIBUTE(function, name)                                \
  static bool function(tl_vm *vm, tl_slot *args, tl_slot *out) { \
    return attribute_of(vm, name, args, out);                    \
  }
ATTRIBUTE(shape_of, "shape")
ATTRIBUTE(ndim_of, "ndim")
ATTRIBUTE(size_of, "size")
ATTRIBUTE(dtype_of, "dtype")
ATTRIBUTE(nbytes_of, "nbytes")
#undef ATTRIBUTE

// --- The table --------------------------------------------------------------

const tl_builtin tl_shape_builtins[] = {
    /// x, of any dtype, in another shape with as many items, in row-major
    /// order. One length may be -1: it is worked out. copy, a bool, makes no
    /// difference: values never change under another name. A shape of another
    /// size is an error (kind shape).
    ///     reshape(0..6, (2, -1))    # [[0, 1, 2], [3, 4, 5]]
    {"reshape", "x, shape, copy: none", reshape, .result = TL_VIEWS,
     .lifts = TL_MOVES, .types = "a"},
    /// The items of x along one axis, in row-major order; of a ragged array
    /// those of all rows, one row behind the other.
    /// Any dtype, which stays. Lists and strings are an error (kind type).
    ///     flatten([[1, 2], [3]])    # [1, 2, 3]
    ///     flatten([[1, 2], [3, 4]])    # [1, 2, 3, 4]
    {"flatten", "x", flatten, TL_GRIDS, .result = TL_VIEWS, .takes = TL_BYTES,
     .types = "v"},
    /// x with the order of its items reversed along one axis, several, or all.
    /// Any dtype, which stays. Lists and strings are an error (kind type).
    ///     flip([1, 2, 3])    # [3, 2, 1]
    {"flip", "x, axis: none", flip, .result = TL_VIEWS, .lifts = TL_MOVES_ROWS},
    /// x moved on by shift items along axis; what falls off the end comes back
    /// at the start. Several shifts go with as many axes; without an axis x is
    /// taken in row-major order.
    /// Any dtype, which stays. An axis that x lacks is an error (kind index).
    ///     roll([1, 2, 3, 4], 1)    # [4, 1, 2, 3]
    ///     roll([[1, 2], [3, 4]], (1, 1), axis: (0, 1))    # [[4, 3], [2, 1]]
    {"roll", "x, shift, axis: none", roll, TL_STOPS, .restores = TL_ARRAYS,
     .lifts = TL_MOVES_EACH_ROW, .fused = TL_FUSED_ROLL, .types = "a"},
    /// x with a new axis of length 1 at position axis.
    /// Any dtype, which stays. An axis out of range is an error (kind index),
    /// more than 32 axes another (shape).
    ///     expand_dims([1, 2], axis: 1)    # [[1], [2]]
    {"expand_dims", "x, axis = 0", expand_dims, .result = TL_VIEWS,
     .lifts = TL_MOVES, .types = "a"},
    /// x without axes of length 1: those given, or all.
    /// Any dtype, which stays. An axis that x lacks is an error (kind index), one
    /// of another length another (value).
    ///     squeeze([[[1, 2]]])    # [1, 2]
    {"squeeze", "x, axis = none", squeeze, .result = TL_VIEWS,
     .lifts = TL_MOVES, .types = "a"},
    /// x with its axes in another order: axes lists all of them.
    /// Any dtype, which stays. An axis that x lacks is an error (kind index), one
    /// that is missing or there twice another (value).
    ///     permute_dims([[1, 2], [3, 4]], (1, 0))    # [[1, 3], [2, 4]]
    {"permute_dims", "x, axes", permute_dims, .result = TL_VIEWS,
     .lifts = TL_MOVES, .types = "a"},
    /// x with its last two axes exchanged; also x.mT.
    /// Any dtype, which stays. Fewer than two axes are an error (kind shape).
    ///     matrix_transpose([[1, 2], [3, 4]])    # [[1, 3], [2, 4]]
    {"matrix_transpose", "x", matrix_transpose, .result = TL_VIEWS,
     .lifts = TL_MOVES, .types = "a"},
    /// x with axes moved to other positions, the others keeping their order.
    /// Any dtype, which stays. An axis that x lacks is an error (kind index).
    ///     moveaxis(zeros((2, 3, 4)), 0, -1).shape    # (3, 4, 2)
    {"moveaxis", "x, source, destination", moveaxis, .result = TL_VIEWS,
     .lifts = TL_MOVES, .types = "a"},
    /// The shape of an array of any dtype, as x.shape, whatever fields its
    /// items have.
    /// Rows of different lengths have none (an error of kind type).
    ///     shape([(shape: 3), (shape: 4)])    # (2,)
    {"shape", "x", shape_of, .takes = TL_FORMS},
    /// The number of axes of an array, as x.ndim, whatever fields its
    /// items have.
    /// Values that are no arrays are an error (kind type).
    ///     ndim([(ndim: 3), (ndim: 4)])    # 1
    {"ndim", "x", ndim_of, .takes = TL_FORMS},
    /// The number of items of an array in all, as x.size, whatever fields
    /// its items have.
    /// Values that are no arrays are an error (kind type).
    ///     size([(size: 30), (size: 40)])    # 2
    {"size", "x", size_of, .takes = TL_FORMS},
    /// The type of the items of an array, as x.dtype, whatever fields
    /// they have.
    /// Values that are no arrays are an error (kind type).
    ///     dtype([(dtype: 1), (dtype: 2)])    # {dtype: int64}
    {"dtype", "x", dtype_of, .takes = TL_FORMS},
    /// The bytes that the items of an array take, as x.nbytes, whatever
    /// fields they have.
    /// Values that are no arrays are an error (kind type).
    ///     nbytes([(nbytes: 30), (nbytes: 40)])    # 16
    {"nbytes", "x", nbytes_of, .takes = TL_FORMS},
    {.name = NULL},
};
