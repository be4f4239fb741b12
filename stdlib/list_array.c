// Arrays of nested lists of numbers, strings and arrays.

#include "stdlib/arguments.h"
#include "vm/array/string_item.h"
#include "vm/engine/engine.h"
#include "vm/nested/nested.h"
#include "vm/poll.h"
#include "vm/values/list.h"

// --- What lists hold ---------------------------------------------------------

// What is known of the array while its nested lists are measured.
// The array is found in two passes over the lists, and so allocated once:
//
//   measure   ((1, 2), (3.5, 4))    ndim 2, shape 2 * 2, float64
//   fill      each item converted to that dtype, where it belongs
//
typedef struct nest {
  int ndim;  // -1: no item seen yet
  int64_t shape[TL_MAX_DIMS];
  tl_slot sofar;    // stands for the dtype, and whether it is weak
  bool is_missing;  // some item is none
} nest;

// Promotes what is known of the dtype with that of s, a scalar, string or
// array. It stays weak while every item is: a list of plain numbers then takes
// on the dtype that it meets, as a number does.
static bool nest_dtype(tl_vm *vm, nest *n, tl_slot s) {
  // A slot without a value stands for the dtype, as promotion asks for slots.
  tl_slot item = {.tag = TL_TAG(TL_CLASS_SMALL, tl_dtype_of(s)) |
                         (tl_is_weak(s) ? TL_WEAK : 0)};
  if (tl_is_string(s))
    item.tag = TL_TAG(TL_CLASS_SMALL, TL_STRING);
  if (tl_is_unset(n->sofar)) {
    n->sofar = item;
    return true;
  }
  tl_dtype dtype;
  if (!tl_promote_slots(vm, "asarray", n->sofar, item, &dtype))
    return false;
  bool weak = tl_is_weak(n->sofar) && tl_is_weak(item);
  n->sofar.tag = TL_TAG(TL_CLASS_SMALL, dtype) | (weak ? TL_WEAK : 0);
  return true;
}

// An item's own dimensions, and that they agree with those before it.
static bool nest_dims(tl_vm *vm, nest *n, int depth, int ndim,
                      const int64_t *shape) {
  if (depth + ndim > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "asarray: more than %d axes",
                   TL_MAX_DIMS);
  if (n->ndim < 0) {
    n->ndim = depth + ndim;
    for (int i = 0; i < ndim; i++) n->shape[depth + i] = shape[i];
    return true;
  }
  if (n->ndim != depth + ndim)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "asarray: items with %d and %d axes; "
                   "all must have the same shape",
                   n->ndim - depth, ndim);
  for (int i = 0; i < ndim; i++)
    if (n->shape[depth + i] != shape[i])
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "asarray: axis %d is %lld and %lld; "
                     "all items must have the same shape",
                     depth + i, (long long)n->shape[depth + i],
                     (long long)shape[i]);
  return true;
}

// Checks s, at [depth] lists inside, against what is known so far: the first
// item fixes the number of axes and their lengths, all others have to agree. A
// list without items ends the way down, and its axis has the length 0. Fails
// with kind shape where lengths differ, kind type for an item of another kind.
static bool nest_measure(tl_vm *vm, nest *n, int depth, tl_slot s) {
  if (tl_is_array(s))
    return nest_dims(vm, n, depth, tl_ndim(s.array), tl_shape(s.array)) &&
           nest_dtype(vm, n, s);
  if (tl_is_scalar(s) || tl_is_string(s))
    return nest_dims(vm, n, depth, 0, NULL) && nest_dtype(vm, n, s);
  if (tl_is_none(s) && depth > 0) {
    n->is_missing = true;
    return nest_dims(vm, n, depth, 0, NULL);
  }
  if (!tl_is_list(s))
    return tl_arg_fail(vm, "asarray", "an item",
                       "a number, bool, string, "
                       "array or list",
                       s);
  if (depth == TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "asarray: more than %d axes",
                   TL_MAX_DIMS);
  //   ((), ())          2 * 0: the first empty list says that there are 2 axes
  //   ((1, 2), ())      fails: the lengths differ
  int64_t length = s.list->length;
  if (n->ndim < 0 && length > 0) {
    // Down to the first item that says how many axes there are.
    n->shape[depth] = length;
  } else if (n->ndim < 0) {
    return nest_dims(vm, n, depth, 1, &length);
  } else if (depth >= n->ndim || n->shape[depth] != length) {
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "asarray: lists of different lengths "
                   "along axis %d; all items must have the same shape",
                   depth);
  }
  for (int64_t i = 0; i < length; i++)
    if (!tl_poll_at(vm, i) || !nest_measure(vm, n, depth + 1, s.list->items[i]))
      return false;
  return true;
}

// --- The array ---------------------------------------------------------------

// Writes s, measured before, into the part of a that begins at [data] and has
// the axes from [depth] on. Arrays among the items are copied as wholes.
static bool nest_fill(tl_vm *vm, tl_array *a, char *data, int depth,
                      tl_slot s) {
  if (tl_is_array(s))
    return tl_assign_part(vm, a, data, tl_ndim(a) - depth, tl_shape(a) + depth,
                          tl_strides(a) + depth, s.array);
  if (tl_is_none(s)) {
    memset(data, 0, tl_itemsize(tl_array_dtype(a)));
    return true;
  }
  if (!tl_is_list(s))
    return tl_array_dtype(a) == TL_STRING
               ? tl_item_store(vm, a, data, s)
               : tl_scalar_convert(vm, s, tl_array_dtype(a), data);
  for (int64_t i = 0; i < s.list->length; i++)
    if (!tl_poll_at(vm, i) || !nest_fill(vm, a, data + i * tl_strides(a)[depth],
                                         depth + 1, s.list->items[i]))
      return false;
  return true;
}

// Says of each item whether it is missing, in the order of rows, and moves *at
// behind the last. False after tl_fail.
static bool nest_mask(tl_vm *vm, char **at, tl_slot s) {
  if (tl_is_array(s)) {
    if (!tl_fill_bytes(vm, *at, 0, (size_t)s.array->size))
      return false;
    *at += s.array->size;
  } else if (!tl_is_list(s)) {
    *(*at)++ = tl_is_none(s);
  } else {
    for (int64_t i = 0; i < s.list->length; i++)
      if (!tl_poll_at(vm, i) || !nest_mask(vm, at, s.list->items[i]))
        return false;
  }
  return true;
}

// Takes the values of [list], beside which it puts which of them are missing.
// The mask has a byte for each item, as bools do, in the order in which
// nest_fill has written the values:
//
//   (("a", none), ("b", "c"))    values  "a" "" "b" "c"    mask  0 1 0 0
static bool with_missing(tl_vm *vm, tl_slot list, tl_slot values,
                         tl_slot *out) {
  tl_array *mask =
      tl_array_new(vm, TL_BOOL, tl_ndim(values.array), tl_shape(values.array));
  if (mask == NULL) {
    tl_drop(vm, values);
    return false;
  }
  char *at = mask->data;
  tl_slot missing = tl_own_array(mask);
  if (!nest_mask(vm, &at, list)) {
    tl_drop(vm, missing);
    tl_drop(vm, values);
    return false;
  }
  return tl_option_of(vm, &missing, &values, out);
}

// Whether there are items and all of them are strings: the list needs no
// measuring then. False also after tl_fail.
static bool all_strings(tl_vm *vm, const tl_list *list) {
  for (int64_t i = 0; i < list->length; i++) {
    if (!tl_is_string(list->items[i]) || !tl_poll_at(vm, i))
      return false;
  }
  return list->length > 0;
}

// Items to look ahead: far enough for a cache line to come from memory while
// those between are moved.
enum { AHEAD = 12 };

// A list that ends here gives its strings away.
static bool from_strings(tl_vm *vm, tl_slot s, tl_slot *out) {
  tl_list *list = s.list;
  tl_array *a = tl_array_new(vm, TL_STRING, 1, &list->length);
  if (a == NULL)
    return false;
  tl_string_item *to = tl_string_items(a);
  bool gives = tl_is_unique(s), ok = true;
  for (int64_t i = 0; ok && i < list->length; i++) {
    // Strings lie anywhere: the text of a later one is on its way meanwhile.
    if (i + AHEAD < list->length)
      __builtin_prefetch(list->items[i + AHEAD].string->text, 1);
    if (gives)
      tl_string_item_take(vm, &to[i], &list->items[i]);
    else
      tl_string_item_put(vm, &to[i], list->items[i].string);
    ok = (i & 0xfff) != 0xfff || tl_poll_over(vm);
  }
  return tl_array_finish(vm, ok, a, out);
}

// The items are converted to the dtype found and only then cast to [wanted]: so
// an item that the wanted dtype has no value for fails as in a cast of an
// array.
bool tl_array_of_list(tl_vm *vm, tl_slot s, tl_slot wanted, tl_slot *out) {
  if (tl_is_none(wanted) && all_strings(vm, s.list))
    return from_strings(vm, s, out);
  nest n = {.ndim = -1, .sofar = tl_unset()};
  if (tl_failed(vm) || !nest_measure(vm, &n, 0, s))
    return false;
  tl_dtype dtype =
      tl_is_unset(n.sofar) ? TL_FLOAT64 : (tl_dtype)tl_dtype_of(n.sofar);
  tl_dtype result = dtype;
  // To ?T an item goes as it does to T.
  bool optional = tl_is_type(wanted) && wanted.type->kind == TL_TYPE_OPTION;
  if (optional)
    wanted = tl_type_slot(wanted.type->of);
  if (!tl_is_none(wanted) && !tl_dtype_argument(vm, "asarray", wanted, &result))
    return false;
  tl_array *a = tl_array_new(vm, dtype, n.ndim, n.shape);
  bool ok = a != NULL && nest_fill(vm, a, a->data, 0, s);
  return tl_cast_finish(vm, ok, a, result, out) &&
         (!(n.is_missing || optional) || with_missing(vm, s, *out, out));
}
