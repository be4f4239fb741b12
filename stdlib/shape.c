// Changing the shape of arrays: views where the items can stay where they are.

#include <stdio.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "vm/list.h"
#include "vm/vm.h"

// A view of the array in [s] with another geometry over the same items.
static bool view(tl_vm *vm, tl_slot *s, char *data, int ndim,
                 const int64_t *shape, const int64_t *strides, tl_slot *out) {
  tl_array *a = tl_view_new(vm, s, tl_array_dtype(s->array), data, ndim, shape,
                            strides);
  if (!a) return false;
  *out = tl_own_array(a);
  return true;
}

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
      return tl_fail(vm, TALLY_ERR_SHAPE, "reshape: axis %d of the shape is "
                     "%lld; only one may be -1, none less", i,
                     (long long)shape[i]);
    else if (shape[i] == 0)
      empty = true;
    else if (__builtin_mul_overflow(known, shape[i], &known))
      overflow = true;  // also beside a 0: strides must not overflow either
  }
  if (known > INT64_MAX / 16) overflow = true;
  if (empty) known = 0;
  if (unknown >= 0 && !overflow && known > 0 && x->size % known == 0) {
    shape[unknown] = x->size / known;
    return true;
  }
  if (unknown < 0 && !overflow && known == x->size) return true;
  tl_slot from = {.tag = tl_array_tag(x), .array = (tl_array *)x};
  char what[TL_DESCRIBE], to[TL_MAX_DIMS * 24];
  size_t at = 0;
  for (int i = 0; i < ndim; i++)
    at += (size_t)snprintf(to + at, sizeof to - at, i ? ", %lld" : "%lld",
                           (long long)shape[i]);
  if (ndim == 0) to[0] = 0;
  return tl_fail(vm, TALLY_ERR_SHAPE, "reshape: %s has %lld items, which do "
                 "not fill (%s)", tl_describe(from, what, sizeof what),
                 (long long)x->size, to);
}

bool tl_reshape(tl_vm *vm, tl_slot *s, int ndim, const int64_t *shape,
                tl_slot *out) {
  tl_array *x = s->array;
  size_t itemsize = tl_itemsize(tl_array_dtype(x));
  if (tl_is_contiguous(x)) {
    int64_t strides[TL_MAX_DIMS];
    tl_shape_strides(ndim, shape, itemsize, strides);
    if (ndim > 0) return view(vm, s, x->data, ndim, shape, strides, out);
  }
  tl_array *a = tl_array_new(vm, tl_array_dtype(x), ndim, shape);
  if (!a) return false;
  int64_t strides[TL_MAX_DIMS];
  tl_shape_strides(tl_ndim(x), tl_shape(x), itemsize, strides);
  if (!tl_assign_part(vm, a, a->data, tl_ndim(x), tl_shape(x), strides, x)) {
    tl_drop(vm, tl_own_array(a));
    return false;
  }
  *out = tl_result(vm, a);
  return true;
}

static bool reshape(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  return tl_arg_array(vm, "reshape", &args[0]) &&
         tl_arg_ints(vm, "reshape", "shape", args[1], TL_MAX_DIMS, &ndim,
                     shape) &&
         complete_shape(vm, args[0].array, ndim, shape) &&
         tl_reshape(vm, &args[0], ndim, shape, out);
}

static bool flatten(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_arg_array(vm, "flatten", &args[0])) return false;
  int64_t size = args[0].array->size;
  return tl_reshape(vm, &args[0], 1, &size, out);
}

// --- Joining ----------------------------------------------------------------

// Copies each array into its place along [axis]; each array's own length
// there is lengths[i], in an array of [shape].
static bool join(tl_vm *vm, const tl_arrays *parts, tl_dtype dtype, int axis,
                 int ndim, const int64_t *shape, bool stacking, tl_slot *out) {
  tl_array *a = tl_array_new(vm, dtype, ndim, shape);
  if (!a) return false;
  char *data = a->data;
  int64_t part_shape[TL_MAX_DIMS];
  memcpy(part_shape, shape, sizeof(int64_t) * (size_t)ndim);
  for (int64_t i = 0; i < parts->count; i++) {
    tl_array *part = parts->items[i].array;
    tl_slot expanded = tl_none();
    part_shape[axis] = stacking ? 1 : tl_shape(part)[axis];
    bool ok = true;
    if (stacking && axis < ndim - 1) {
      // Broadcasting aligns at the right: the new axis must be there already.
      int64_t strides[TL_MAX_DIMS];
      for (int k = 0, j = 0; k < ndim; k++)
        strides[k] = k == axis ? 0 : tl_strides(part)[j++];
      tl_slot base = tl_borrow(parts->items[i]);
      ok = view(vm, &base, part->data, ndim, part_shape, strides, &expanded);
      if (ok) part = expanded.array;
    }
    if (stacking && axis == ndim - 1) {
      // Without the last axis the shapes agree as they are.
      ok = tl_assign_part(vm, a, data, ndim - 1, part_shape, tl_strides(a),
                          part);
    } else {
      ok = ok && tl_assign_part(vm, a, data, ndim, part_shape, tl_strides(a),
                                part);
    }
    tl_drop(vm, expanded);
    if (!ok) {
      tl_drop(vm, tl_own_array(a));
      return false;
    }
    data += part_shape[axis] * tl_strides(a)[axis];
  }
  *out = tl_own_array(a);
  return true;
}

static bool parts_differ(tl_vm *vm, const char *function,
                         const tl_arrays *parts, int64_t i) {
  char left[TL_DESCRIBE], right[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_SHAPE, "%s: array 0 is %s and array %lld is %s; "
                 "their shapes do not fit", function,
                 tl_describe(parts->items[0], left, sizeof left), (long long)i,
                 tl_describe(parts->items[i], right, sizeof right));
}

// Checks that all shapes are that of the first, but along [axis] (-1: none).
static bool check_parts(tl_vm *vm, const char *function, const tl_arrays *parts,
                        int axis) {
  const tl_array *first = parts->items[0].array;
  for (int64_t i = 1; i < parts->count; i++) {
    const tl_array *a = parts->items[i].array;
    if (tl_ndim(a) != tl_ndim(first))
      return parts_differ(vm, function, parts, i);
    for (int k = 0; k < tl_ndim(a); k++)
      if (k != axis && tl_shape(a)[k] != tl_shape(first)[k])
        return parts_differ(vm, function, parts, i);
  }
  return true;
}

static bool flatten_parts(tl_vm *vm, tl_arrays *parts) {
  for (int64_t i = 0; i < parts->count; i++) {
    tl_slot flat;
    tl_slot *item = &parts->items[i];
    if (tl_ndim(item->array) == 1) continue;
    int64_t size = item->array->size;
    if (!tl_reshape(vm, item, 1, &size, &flat)) return false;
    flat.tag |= item->tag & TL_WEAK;
    tl_drop(vm, *item);
    *item = flat;
  }
  return true;
}

static bool concat_parts(tl_vm *vm, tl_arrays *parts, tl_slot axis_slot,
                         tl_slot *out) {
  int axis = 0;
  tl_dtype dtype;
  if (parts->count == 0)
    return tl_fail(vm, TALLY_ERR_VALUE, "concat: there are no arrays to join");
  if (tl_is_none(axis_slot)) {
    if (!flatten_parts(vm, parts)) return false;
  } else {
    if (tl_ndim(parts->items[0].array) == 0)
      return tl_fail(vm, TALLY_ERR_SHAPE, "concat: scalars have no axis to "
                     "join; use stack");
    if (!tl_arg_axis(vm, "concat", axis_slot, tl_ndim(parts->items[0].array), 0,
                     &axis))
      return false;
  }
  if (!check_parts(vm, "concat", parts, axis) ||
      !tl_promote_arrays(vm, "concat", parts, &dtype))
    return false;
  const tl_array *first = parts->items[0].array;
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_ndim(first);
  memcpy(shape, tl_shape(first), sizeof(int64_t) * (size_t)ndim);
  for (int64_t i = 1; i < parts->count; i++)
    if (__builtin_add_overflow(shape[axis],
                               tl_shape(parts->items[i].array)[axis],
                               &shape[axis]))
      return tl_fail(vm, TALLY_ERR_SHAPE, "concat: axis %d is too long", axis);
  return join(vm, parts, dtype, axis, ndim, shape, false, out);
}

static bool concat_lists(tl_vm *vm, const tl_list *lists, tl_slot *out) {
  int64_t total = 0;
  for (int64_t i = 0; i < lists->length; i++) {
    if (!tl_is_list(lists->items[i]))
      return tl_arg_fail(vm, "concat", "every item", "a list as the first is",
                         lists->items[i]);
    total += lists->items[i].list->length;
  }
  tl_list *joined = tl_list_new(vm, total);
  if (!joined) return false;
  for (int64_t i = 0; i < lists->length; i++) {
    const tl_list *list = lists->items[i].list;
    for (int64_t k = 0; k < list->length; k++) {
      tl_slot item = tl_borrow(list->items[k]);
      if (tl_list_push(vm, &joined, &item)) continue;
      tl_drop(vm, tl_own_list(joined));
      return false;
    }
  }
  *out = tl_own_list(joined);
  return true;
}

static bool concat(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_list(args[0]) && args[0].list->length > 0 &&
      tl_is_list(args[0].list->items[0]))
    return concat_lists(vm, args[0].list, out);
  tl_arrays parts;
  if (!tl_arg_arrays(vm, "concat", args[0], &parts)) return false;
  bool ok = concat_parts(vm, &parts, args[1], out);
  tl_arrays_close(vm, &parts);
  return ok;
}

static bool stack_parts(tl_vm *vm, tl_arrays *parts, tl_slot axis_slot,
                        tl_slot *out) {
  if (parts->count == 0)
    return tl_fail(vm, TALLY_ERR_VALUE, "stack: there are no arrays to join");
  const tl_array *first = parts->items[0].array;
  int axis, ndim = tl_ndim(first) + 1;
  tl_dtype dtype;
  if (ndim > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "stack: more than %d axes",
                   TL_MAX_DIMS);
  if (!tl_arg_axis(vm, "stack", axis_slot, ndim, 0, &axis) ||
      !check_parts(vm, "stack", parts, -1) ||
      !tl_promote_arrays(vm, "stack", parts, &dtype))
    return false;
  int64_t shape[TL_MAX_DIMS];
  for (int k = 0, j = 0; k < ndim; k++)
    shape[k] = k == axis ? parts->count : tl_shape(first)[j++];
  return join(vm, parts, dtype, axis, ndim, shape, true, out);
}

static bool stack(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_arrays parts;
  if (!tl_arg_arrays(vm, "stack", args[0], &parts)) return false;
  bool ok = stack_parts(vm, &parts, args[1], out);
  tl_arrays_close(vm, &parts);
  return ok;
}

// The view of x at index i of an axis, without that axis.
static bool one_of(tl_vm *vm, tl_slot x, int axis, int64_t i, tl_slot *out) {
  const tl_array *a = x.array;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  int ndim = 0;
  for (int k = 0; k < tl_ndim(a); k++) {
    if (k == axis) continue;
    shape[ndim] = tl_shape(a)[k];
    strides[ndim++] = tl_strides(a)[k];
  }
  const char *data = a->data + i * tl_strides(a)[axis];
  if (ndim == 0) {
    *out = tl_item(vm, a, data);
    return !tl_is_unset(*out);
  }
  tl_slot base = tl_borrow(x);
  return view(vm, &base, (char *)data, ndim, shape, strides, out);
}

static bool unstack(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  if (!tl_arg_array(vm, "unstack", &args[0]) ||
      !tl_arg_axis(vm, "unstack", args[1], tl_ndim(args[0].array), 0, &axis))
    return false;
  int64_t n = tl_shape(args[0].array)[axis];
  tl_list *list = tl_list_new(vm, n);
  if (!list) return false;
  for (int64_t i = 0; i < n; i++) {
    tl_slot item = tl_none();
    if (one_of(vm, args[0], axis, i, &item) && tl_list_push(vm, &list, &item))
      continue;
    tl_drop(vm, item);
    tl_drop(vm, tl_own_list(list));
    return false;
  }
  *out = tl_own_list(list);
  return true;
}

// --- Turning round ----------------------------------------------------------

static bool flip(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_arg_array(vm, "flip", &args[0])) return false;
  tl_array *x = args[0].array;
  int count = tl_ndim(x), axes[TL_MAX_DIMS];
  for (int i = 0; i < count; i++) axes[i] = i;
  if (!tl_is_none(args[1]) &&
      !tl_arg_axes(vm, "flip", args[1], tl_ndim(x), &count, axes))
    return false;
  int64_t strides[TL_MAX_DIMS];
  memcpy(strides, tl_strides(x), sizeof(int64_t) * (size_t)tl_ndim(x));
  char *data = x->data;
  for (int i = 0; i < count; i++) {
    int axis = axes[i];
    if (tl_shape(x)[axis] > 0)
      data += (tl_shape(x)[axis] - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  if (tl_ndim(x) == 0) {
    *out = tl_item(vm, x, x->data);
    return !tl_is_unset(*out);
  }
  return view(vm, &args[0], data, tl_ndim(x), tl_shape(x), strides, out);
}

// Copies x into a, moved on by shift[axis] along each axis, round the end.
// Every axis with a shift cuts the array in two, so there are 2^axes blocks.
static bool roll_blocks(tl_vm *vm, tl_array *a, tl_array *x,
                        const int64_t *shift) {
  int ndim = tl_ndim(x), cut[TL_MAX_DIMS], cuts = 0;
  for (int k = 0; k < ndim; k++)
    if (shift[k] != 0) cut[cuts++] = k;
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
    tl_slot base = {.tag = tl_array_tag(x), .array = x}, part;
    if (!view(vm, &base, from, ndim, shape, tl_strides(x), &part)) return false;
    bool ok = tl_assign_part(vm, a, to, ndim, shape, tl_strides(a), part.array);
    tl_drop(vm, part);
    if (!ok) return false;
  }
  return true;
}

static bool rolled(tl_vm *vm, tl_array *x, const int64_t *shift,
                   tl_slot *out) {
  tl_array *a = tl_array_new(vm, tl_array_dtype(x), tl_ndim(x), tl_shape(x));
  if (!a) return false;
  if (x->size > 0 && !roll_blocks(vm, a, x, shift)) {
    tl_drop(vm, tl_own_array(a));
    return false;
  }
  *out = tl_result(vm, a);
  return true;
}

static int64_t wrap(int64_t shift, int64_t length) {
  if (length == 0) return 0;
  shift %= length;
  return shift < 0 ? shift + length : shift;
}

static bool roll_flat(tl_vm *vm, tl_slot *x, int64_t shift, tl_slot *out) {
  int64_t size = x->array->size;
  int ndim = tl_ndim(x->array);
  int64_t shape[TL_MAX_DIMS];
  memcpy(shape, tl_shape(x->array), sizeof(int64_t) * (size_t)ndim);
  tl_slot flat, turned;
  if (!tl_reshape(vm, x, 1, &size, &flat)) return false;
  shift = wrap(shift, size);
  bool ok = rolled(vm, flat.array, &shift, &turned);
  tl_drop(vm, flat);
  if (!ok) return false;
  ok = tl_reshape(vm, &turned, ndim, shape, out);
  tl_drop(vm, turned);
  return ok;
}

static bool roll(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int shifts, count, axes[TL_MAX_DIMS] = {0};
  int64_t given[TL_MAX_DIMS], shift[TL_MAX_DIMS] = {0}, axis[TL_MAX_DIMS];
  if (!tl_arg_array(vm, "roll", &args[0]) ||
      !tl_arg_ints(vm, "roll", "shift", args[1], TL_MAX_DIMS, &shifts, given))
    return false;
  tl_array *x = args[0].array;
  if (tl_is_none(args[2])) {
    if (shifts != 1)
      return tl_fail(vm, TALLY_ERR_VALUE, "roll: %d shifts need as many axes",
                     shifts);
    return roll_flat(vm, &args[0], given[0], out);
  }
  // NumPy's rule: an axis may come twice, its shifts add up.
  if (!tl_arg_ints(vm, "roll", "axis", args[2], TL_MAX_DIMS, &count, axis))
    return false;
  if (shifts != count && shifts != 1)
    return tl_fail(vm, TALLY_ERR_VALUE, "roll: %d shifts for %d axes", shifts,
                   count);
  for (int i = 0; i < count; i++) {
    if (!tl_axis(vm, "roll", axis[i], tl_ndim(x), &axes[i])) return false;
    int64_t length = tl_shape(x)[axes[i]];
    int64_t by = wrap(given[shifts == 1 ? 0 : i], length);
    shift[axes[i]] = wrap(shift[axes[i]] + by, length);
  }
  return rolled(vm, x, shift, out);
}

// --- Axes -------------------------------------------------------------------

static bool expand_dims(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int count, axes[TL_MAX_DIMS];
  int64_t given[TL_MAX_DIMS], shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  if (!tl_arg_array(vm, "expand_dims", &args[0]) ||
      !tl_arg_ints(vm, "expand_dims", "axis", args[1], TL_MAX_DIMS, &count,
                   given))
    return false;
  const tl_array *x = args[0].array;
  int ndim = tl_ndim(x) + count;
  if (ndim > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "expand_dims: more than %d axes",
                   TL_MAX_DIMS);
  if (!tl_arg_axes(vm, "expand_dims", args[1], ndim, &count, axes))
    return false;
  uint32_t fresh = 0;
  for (int i = 0; i < count; i++) fresh |= UINT32_C(1) << axes[i];
  for (int k = 0, j = 0; k < ndim; k++) {
    bool is_new = (fresh >> k & 1) != 0;
    shape[k] = is_new ? 1 : tl_shape(x)[j];
    strides[k] = is_new ? 0 : tl_strides(x)[j];
    if (!is_new) j++;
  }
  return view(vm, &args[0], x->data, ndim, shape, strides, out);
}

static bool squeeze(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_arg_array(vm, "squeeze", &args[0])) return false;
  const tl_array *x = args[0].array;
  int count = 0, axes[TL_MAX_DIMS], ndim = 0;
  uint32_t gone = 0;
  if (!tl_is_none(args[1]) &&
      !tl_arg_axes(vm, "squeeze", args[1], tl_ndim(x), &count, axes))
    return false;
  for (int i = 0; i < count; i++) {
    if (tl_shape(x)[axes[i]] != 1)
      return tl_fail(vm, TALLY_ERR_VALUE, "squeeze: axis %d has length %lld, "
                     "not 1", axes[i], (long long)tl_shape(x)[axes[i]]);
    gone |= UINT32_C(1) << axes[i];
  }
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  for (int k = 0; k < tl_ndim(x); k++) {
    if (tl_is_none(args[1]) ? tl_shape(x)[k] == 1 : (gone >> k & 1) != 0)
      continue;
    shape[ndim] = tl_shape(x)[k];
    strides[ndim++] = tl_strides(x)[k];
  }
  if (ndim == 0) {
    *out = tl_item(vm, x, x->data);
    return !tl_is_unset(*out);
  }
  return view(vm, &args[0], x->data, ndim, shape, strides, out);
}

bool tl_permute(tl_vm *vm, tl_slot *s, const int *axes, tl_slot *out) {
  const tl_array *x = s->array;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  if (tl_ndim(x) == 0) {
    *out = tl_item(vm, x, x->data);
    return !tl_is_unset(*out);
  }
  for (int k = 0; k < tl_ndim(x); k++) {
    shape[k] = tl_shape(x)[axes[k]];
    strides[k] = tl_strides(x)[axes[k]];
  }
  return view(vm, s, x->data, tl_ndim(x), shape, strides, out);
}

static bool permute_dims(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int count, axes[TL_MAX_DIMS];
  if (!tl_arg_array(vm, "permute_dims", &args[0])) return false;
  int ndim = tl_ndim(args[0].array);
  if (!tl_arg_axes(vm, "permute_dims", args[1], ndim, &count, axes))
    return false;
  if (count != ndim)
    return tl_fail(vm, TALLY_ERR_VALUE, "permute_dims: %d axes are given, x "
                   "has %d", count, ndim);
  return tl_permute(vm, &args[0], axes, out);
}

static bool matrix_transpose(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axes[TL_MAX_DIMS];
  if (!tl_arg_array(vm, "matrix_transpose", &args[0])) return false;
  int ndim = tl_ndim(args[0].array);
  if (ndim < 2)
    return tl_fail(vm, TALLY_ERR_SHAPE, "matrix_transpose: x has %d axes, "
                   "needs 2 or more", ndim);
  for (int k = 0; k < ndim; k++) axes[k] = k;
  axes[ndim - 2] = ndim - 1;
  axes[ndim - 1] = ndim - 2;
  return tl_permute(vm, &args[0], axes, out);
}

static bool moveaxis(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int count, targets, from[TL_MAX_DIMS], to[TL_MAX_DIMS], axes[TL_MAX_DIMS];
  if (!tl_arg_array(vm, "moveaxis", &args[0])) return false;
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
    if (axes[k] >= 0) continue;
    while (moved >> next & 1) next++;
    axes[k] = next++;
  }
  return tl_permute(vm, &args[0], axes, out);
}

// --- Broadcasting -----------------------------------------------------------

static bool broadcast_view(tl_vm *vm, tl_slot *s, int ndim,
                           const int64_t *shape, tl_slot *out) {
  const tl_array *x = s->array;
  int64_t strides[TL_MAX_DIMS];
  tl_broadcast_strides(x, ndim, shape, strides);
  if (ndim == 0) {
    *out = tl_item(vm, x, x->data);
    return !tl_is_unset(*out);
  }
  return view(vm, s, x->data, ndim, shape, strides, out);
}

static bool broadcast_to(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int ndim;
  int64_t shape[TL_MAX_DIMS], size;
  size_t nbytes;
  if (!tl_arg_array(vm, "broadcast_to", &args[0]) ||
      !tl_arg_shape(vm, "broadcast_to", args[1], &ndim, shape) ||
      !tl_shape_size(vm, ndim, shape,
                     tl_itemsize(tl_array_dtype(args[0].array)), &size,
                     &nbytes))
    return false;
  const tl_array *x = args[0].array;
  int skip = ndim - tl_ndim(x);
  bool fits = skip >= 0;
  for (int k = 0; fits && k < tl_ndim(x); k++)
    fits = tl_shape(x)[k] == 1 || tl_shape(x)[k] == shape[skip + k];
  if (!fits) {
    char what[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_SHAPE, "broadcast_to: %s does not broadcast "
                   "to the shape given",
                   tl_describe(args[0], what, sizeof what));
  }
  return broadcast_view(vm, &args[0], ndim, shape, out);
}

static bool broadcast_parts(tl_vm *vm, tl_arrays *parts, tl_list **list) {
  int ndim = 0;
  int64_t shape[TL_MAX_DIMS];
  const tl_array **arrays;
  size_t nbytes = ((size_t)parts->count + 1) * sizeof *arrays;
  arrays = tl_alloc(vm, nbytes, "broadcast_arrays");
  if (!arrays) return false;
  for (int64_t i = 0; i < parts->count; i++) arrays[i] = parts->items[i].array;
  bool ok = parts->count == 0 || tl_broadcast(vm, (int)parts->count, arrays,
                                              &ndim, shape);
  tl_free(vm, arrays, nbytes);
  for (int64_t i = 0; ok && i < parts->count; i++) {
    tl_slot item = tl_none();
    ok = broadcast_view(vm, &parts->items[i], ndim, shape, &item) &&
         tl_list_push(vm, list, &item);
    if (!ok) tl_drop(vm, item);
  }
  return ok;
}

static bool broadcast_arrays(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_arrays parts;
  if (!tl_arg_arrays(vm, "broadcast_arrays", args[0], &parts)) return false;
  tl_list *list = tl_list_new(vm, parts.count);
  bool ok = list && broadcast_parts(vm, &parts, &list);
  tl_arrays_close(vm, &parts);
  if (ok)
    *out = tl_own_list(list);
  else if (list)
    tl_drop(vm, tl_own_list(list));
  return ok;
}

static bool list_of_ints(tl_vm *vm, int count, const int64_t *values,
                         tl_slot *out) {
  tl_list *list = tl_list_new(vm, count);
  if (!list) return false;
  for (int i = 0; i < count; i++) {
    tl_slot item = tl_weak_int(values[i]);
    if (tl_list_push(vm, &list, &item)) continue;
    tl_drop(vm, tl_own_list(list));
    return false;
  }
  *out = tl_own_list(list);
  return true;
}

static bool broadcast_shapes(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int ndim = 0;
  int64_t shape[TL_MAX_DIMS];
  const tl_list *shapes = args[0].list;
  for (int64_t i = 0; i < shapes->length; i++) {
    int count;
    int64_t next[TL_MAX_DIMS];
    if (!tl_arg_shape(vm, "broadcast_shapes", shapes->items[i], &count, next))
      return false;
    int more = count > ndim ? count - ndim : 0;
    memmove(shape + more, shape, sizeof(int64_t) * (size_t)ndim);
    for (int k = 0; k < more; k++) shape[k] = 1;
    ndim += more;
    for (int k = 0; k < count; k++) {
      int64_t *have = &shape[ndim - count + k];
      if (*have == 1) *have = next[k];
      if (next[k] != 1 && next[k] != *have)
        return tl_fail(vm, TALLY_ERR_SHAPE, "broadcast_shapes: axis %d is %lld "
                       "against %lld", ndim - count + k, (long long)*have,
                       (long long)next[k]);
    }
  }
  return list_of_ints(vm, ndim, shape, out);
}

// --- Repeating --------------------------------------------------------------

static bool tile(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int count;
  int64_t times[TL_MAX_DIMS];
  if (!tl_arg_array(vm, "tile", &args[0]) ||
      !tl_arg_shape(vm, "tile", args[1], &count, times))
    return false;
  tl_array *x = args[0].array;
  int ndim = count > tl_ndim(x) ? count : tl_ndim(x);
  // Every axis becomes two, the repetitions and the items: then one broadcast
  // copy does it.
  if (ndim * 2 > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "tile: more than %d axes",
                   TL_MAX_DIMS / 2);
  int64_t shape[TL_MAX_DIMS], split[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  int64_t from[TL_MAX_DIMS];
  for (int k = 0; k < ndim; k++) {
    int own = k - (ndim - tl_ndim(x)), given = k - (ndim - count);
    split[2 * k] = given < 0 ? 1 : times[given];
    split[2 * k + 1] = own < 0 ? 1 : tl_shape(x)[own];
    from[2 * k] = 0;
    from[2 * k + 1] = own < 0 ? 0 : tl_strides(x)[own];
    if (__builtin_mul_overflow(split[2 * k], split[2 * k + 1], &shape[k]))
      return tl_fail(vm, TALLY_ERR_SHAPE, "tile: axis %d is too long", k);
  }
  tl_array *a = tl_array_new(vm, tl_array_dtype(x), ndim, shape);
  if (!a) return false;
  if (a->size == 0) {
    *out = tl_result(vm, a);
    return true;
  }
  tl_shape_strides(2 * ndim, split, tl_itemsize(tl_array_dtype(x)), strides);
  tl_slot base = {.tag = tl_array_tag(x), .array = x}, spread;
  bool ok = view(vm, &base, x->data, 2 * ndim, split, from, &spread);
  if (ok) {
    ok = tl_assign_part(vm, a, a->data, 2 * ndim, split, strides, spread.array);
    tl_drop(vm, spread);
  }
  if (ok)
    *out = tl_result(vm, a);
  else
    tl_drop(vm, tl_own_array(a));
  return ok;
}

// Writes, for each item along the axis, its position as often as it repeats.
static tl_array *repeat_index(tl_vm *vm, tl_slot repeats, int64_t length) {
  tl_slot counts;
  tl_dtype dtype = TL_INT64;
  if (!tl_as_contiguous(vm, "repeat", repeats, dtype, &counts)) return NULL;
  const int64_t *count = (const int64_t *)counts.array->data;
  int64_t given = counts.array->size, total = 0;
  tl_array *index = NULL;
  bool ok = tl_ndim(counts.array) <= 1 && (given == 1 || given == length);
  if (!ok)
    tl_fail(vm, TALLY_ERR_SHAPE, "repeat: %lld repeats for %lld items",
            (long long)given, (long long)length);
  for (int64_t i = 0; ok && i < length; i++) {
    int64_t times = count[given == 1 ? 0 : i];
    if (times < 0)
      ok = tl_fail(vm, TALLY_ERR_VALUE, "repeat: a repeat count is %lld",
                   (long long)times);
    else if (__builtin_add_overflow(total, times, &total))
      ok = tl_fail(vm, TALLY_ERR_SHAPE, "repeat: too many items");
  }
  if (ok) index = tl_array_new(vm, TL_INT64, 1, &total);
  if (index) {
    int64_t *at = (int64_t *)index->data;
    for (int64_t i = 0; i < length; i++)
      for (int64_t t = count[given == 1 ? 0 : i]; t > 0; t--) *at++ = i;
  }
  tl_drop(vm, counts);
  return index;
}

static bool repeat(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis = 0;
  if (!tl_arg_array(vm, "repeat", &args[0])) return false;
  if (tl_is_none(args[2]) && tl_ndim(args[0].array) != 1) {
    tl_slot flat;
    int64_t size = args[0].array->size;
    if (!tl_reshape(vm, &args[0], 1, &size, &flat)) return false;
    tl_clear(vm, &args[0]);
    args[0] = flat;
  }
  if (!tl_arg_axis(vm, "repeat", args[2], tl_ndim(args[0].array), 0, &axis))
    return false;
  tl_array *index =
      repeat_index(vm, args[1], tl_shape(args[0].array)[axis]);
  if (!index) return false;
  bool ok = tl_take_axis(vm, args[0].array, (const int64_t *)index->data,
                         index->size, axis, out);
  tl_drop(vm, tl_own_array(index));
  return ok;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_shape_builtins[] = {
    {"reshape", "x, shape", reshape, TL_PURE,
     "x in another shape with as many items, in row-major order. One length\n"
     "may be -1: it is worked out.\n"
     "    reshape(0..6, (2, -1))    # [[0, 1, 2], [3, 4, 5]]\n"},
    {"flatten", "x", flatten, TL_PURE,
     "The items of x along one axis, in row-major order.\n"
     "    flatten([[1, 2], [3, 4]])    # [1, 2, 3, 4]\n"},
    {"concat", "arrays, axis: 0", concat, TL_PURE,
     "Joins arrays along an axis that they have; axis none flattens them\n"
     "first. Lists are joined too.\n"
     "    concat(([1, 2], [3]))    # [1, 2, 3]\n"
     "    concat(((1, 2), (\"a\",)))    # (1, 2, \"a\")\n"},
    {"stack", "arrays, axis: 0", stack, TL_PURE,
     "Joins arrays of one shape along a new axis.\n"
     "    stack(([1, 2], [3, 4]))    # [[1, 2], [3, 4]]\n"
     "    stack(([1, 2], [3, 4]), axis: 1)    # [[1, 3], [2, 4]]\n"},
    {"unstack", "x, axis: 0", unstack, TL_PURE,
     "The list of the parts of x along an axis.\n"
     "    unstack([[1, 2], [3, 4]])    # ([1, 2], [3, 4])\n"},
    {"flip", "x, axis: none", flip, TL_PURE,
     "x with the order of its items reversed along one axis, several, or all.\n"
     "    flip([1, 2, 3])    # [3, 2, 1]\n"},
    {"roll", "x, shift, axis: none", roll, TL_PURE,
     "x moved on by shift items along axis; what falls off the end comes back\n"
     "at the start. Several shifts go with as many axes; without an axis x is\n"
     "taken in row-major order.\n"
     "    roll([1, 2, 3, 4], 1)    # [4, 1, 2, 3]\n"
     "    roll([[1, 2], [3, 4]], (1, 1), axis: (0, 1))    "
     "# [[4, 3], [2, 1]]\n"},
    {"expand_dims", "x, axis = 0", expand_dims, TL_PURE,
     "x with a new axis of length 1 at position axis.\n"
     "    expand_dims([1, 2], axis: 1)    # [[1], [2]]\n"},
    {"squeeze", "x, axis = none", squeeze, TL_PURE,
     "x without axes of length 1: those given, or all.\n"
     "    squeeze([[[1, 2]]])    # [1, 2]\n"},
    {"permute_dims", "x, axes", permute_dims, TL_PURE,
     "x with its axes in another order.\n"
     "    permute_dims([[1, 2], [3, 4]], (1, 0))    # [[1, 3], [2, 4]]\n"},
    {"matrix_transpose", "x", matrix_transpose, TL_PURE,
     "x with its last two axes exchanged; also x.mT.\n"
     "    matrix_transpose([[1, 2], [3, 4]])    # [[1, 3], [2, 4]]\n"},
    {"moveaxis", "x, source, destination", moveaxis, TL_PURE,
     "x with axes moved to other positions, the others keeping their order.\n"
     "    moveaxis(zeros((2, 3, 4)), 0, -1).shape    # (3, 4, 2)\n"},
    {"broadcast_to", "x, shape", broadcast_to, TL_PURE,
     "x repeated to fill a shape, without copying.\n"
     "    broadcast_to([1, 2], (2, 2))    # [[1, 2], [1, 2]]\n"},
    {"broadcast_arrays", "...arrays", broadcast_arrays, TL_PURE,
     "The list of the arrays, each repeated to their common shape.\n"
     "    broadcast_arrays([1, 2], [[0]])[1]    # [[0, 0]]\n"},
    {"broadcast_shapes", "...shapes", broadcast_shapes, TL_PURE,
     "The shape that arrays of these shapes broadcast to.\n"
     "    broadcast_shapes((2, 1), (3,))    # (2, 3)\n"},
    {"tile", "x, repetitions", tile, TL_PURE,
     "Copies of x side by side, so many along each axis.\n"
     "    tile([1, 2], 2)    # [1, 2, 1, 2]\n"},
    {"repeat", "x, repeats, axis: none", repeat, TL_PURE,
     "Each item of x several times over, along an axis or in row-major order;\n"
     "repeats is one number, or one for each item.\n"
     "    repeat([1, 2], 2)    # [1, 1, 2, 2]\n"
     "    repeat([1, 2], [0, 3])    # [2, 2, 2]\n"},
    {NULL, NULL, NULL, 0, NULL},
};
