// Array literals and comprehensions: items stacked to one more dimension.
//
//   [1, 2.5]              weak int64, weak float64    2 * float64
//   [int8(1), 300]        typed int8, weak int64      false, kind value
//   [[1, 2], [3, 4]]      rows of one shape           2 * 2 * int64
//
// A first pass over the items finds dtype and shape and fails for items that
// do not fit; a second one stores them, so that no array is made in vain.

#include "vm/array/stack.h"

#include "vm/array/range.h"
#include "vm/vm.h"

// The dtype that holds all items so far: promoted among typed ones, which weak
// ones then join.
typedef struct survey {
  tl_dtype typed, weak;  // TL_DTYPE_COUNT: none of that sort yet
  bool strings;
} survey;

// Fails (kind type): the item does not go with the first one, or the first is
// nothing that an array holds.
static bool refuse(tl_vm *vm, tl_slot first, tl_slot item, int64_t index) {
  if (index == 0)
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "an array holds numbers, strings, or arrays of them, and "
                   "item 0 is %s; a list in ( ) holds any values",
                   tl_described(vm, first));
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "an array holds items of one kind: item 0 is %s, item %lld "
                 "is %s; a list in ( ) holds any values",
                 tl_described(vm, first), (long long)index,
                 tl_described(vm, item));
}

// Promotes the survey by one more dtype, apart for literals (weak) and typed
// values.
static void join_dtype(survey *s, tl_dtype dtype, bool weak) {
  // Literals are promoted among themselves and meet the typed items at the
  // end.
  tl_dtype *into = weak ? &s->weak : &s->typed;
  *into = *into == TL_DTYPE_COUNT ? dtype : tl_dtype_promote(*into, dtype);
}

// Whether an item says no more than the one before it, as most do.
static inline bool is_alike(const tl_slot *items, int64_t i) {
  return i > 0 && (tl_is_string(items[i]) || tl_is_scalar(items[i])) &&
         ((items[i].tag ^ items[i - 1].tag) & ~TL_OWNED) == 0;
}

// Takes an item into the survey; false after tl_fail.
static bool add_item(tl_vm *vm, survey *s, const tl_slot *items, int64_t i) {
  tl_slot item = items[i];
  bool is_array = tl_is_array(item);
  bool is_text =
      tl_is_string(item) || (is_array && item.array->head.dtype == TL_STRING);
  if (!is_text && !is_array && !tl_is_number(item) && !tl_is_range(item))
    return refuse(vm, items[0], item, i);
  if (i > 0 && is_text != s->strings)
    return refuse(vm, items[0], item, i);
  s->strings = is_text;
  if (is_text)
    return true;
  if (tl_is_range(item)) {
    join_dtype(s, TL_INT64, true);
  } else {
    join_dtype(s, (tl_dtype)tl_dtype_of(item), tl_is_weak(item));
  }
  return true;
}

// The dtype of the array: typed items decide, and literals only widen it where
// their kind is higher.
static tl_dtype result_dtype(const survey *s) {
  if (s->strings)
    return TL_STRING;
  if (s->typed == TL_DTYPE_COUNT)
    return s->weak;
  if (s->weak == TL_DTYPE_COUNT)
    return s->typed;
  return tl_dtype_promote_weak(s->weak, s->typed);
}

// The rank of an item, to which the array adds one axis. A range is a vector.
static int item_ndim(tl_slot item) {
  return tl_is_array(item) ? tl_ndim(item.array) : tl_is_range(item) ? 1 : 0;
}

// The length of an item, of rank 1 or more, along an axis.
static int64_t item_length(tl_slot item, int axis) {
  return tl_is_range(item) ? item.range->length : tl_shape(item.array)[axis];
}

// Checks that an item has the shape of the first one; false (kind shape).
static bool same_shape(tl_vm *vm, const tl_slot *items, int64_t i) {
  int ndim = item_ndim(items[0]);
  bool same = item_ndim(items[i]) == ndim;
  for (int axis = 0; same && axis < ndim; axis++)
    same = item_length(items[i], axis) == item_length(items[0], axis);
  if (same)
    return true;
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "the items of an array have one shape: item 0 is %s, item "
                 "%lld is %s; a list in ( ) holds any values",
                 tl_described(vm, items[0]), (long long)i,
                 tl_described(vm, items[i]));
}

// Stores an item of rank 1 or more as row [i], converted.
static bool store_row(tl_vm *vm, tl_array *to, int64_t i, tl_slot item) {
  tl_slot row;
  return tl_as_array(vm, "[ ]", item, &row) &&
         tl_drop_after(vm,
                       tl_assign_part(vm, to, to->data + i * tl_strides(to)[0],
                                      tl_ndim(to) - 1, tl_shape(to) + 1,
                                      tl_strides(to) + 1, row.array),
                       &row);
}

// Shape and dtype come from all items before the array is made; a failure
// leaves nothing behind.
bool tl_stack(tl_vm *vm, int64_t count, const tl_slot *items, tl_slot *out) {
  survey s = {TL_DTYPE_COUNT, TL_DTYPE_COUNT, false};
  for (int64_t i = 0; i < count; i++)
    if ((!is_alike(items, i) &&
         (!add_item(vm, &s, items, i) || !same_shape(vm, items, i))) ||
        !tl_poll_at(vm, i))
      return false;
  // [] is an array of no floats.
  tl_dtype dtype = count == 0 ? TL_FLOAT64 : result_dtype(&s);
  int ndim = 1 + (count == 0 ? 0 : item_ndim(items[0]));
  if (ndim > TL_MAX_DIMS)
    return tl_fail_dims(vm, "an array has at most");
  int64_t shape[TL_MAX_DIMS] = {count};
  for (int axis = 1; axis < ndim; axis++) {
    // All items have this shape, as same_shape checked.
    shape[axis] = item_length(items[0], axis - 1);
  }
  tl_array *array = tl_array_new(vm, dtype, ndim, shape);
  if (array == NULL)
    return false;
  bool ok = true;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++)
    ok = ndim > 1
             ? store_row(vm, array, i, items[i])
             : tl_item_store(vm, array, array->data + i * tl_strides(array)[0],
                             items[i]);
  return tl_array_finish(vm, ok, array, out);
}
