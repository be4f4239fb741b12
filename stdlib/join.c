// Making one array of several or of its own copies, and several of one.
//
//
// A list of arrays becomes parts of one dtype and shape, and each is assigned
// to its place in the result. Where the list ends with the call and is the only
// owner of its first array, that array is lengthened instead:
//
//   xs = concat((xs, ys))     the items of xs stay, those of ys go behind them

#include "stdlib/families.h"
#include "stdlib/ragged.h"
#include "vm/array/reuse.h"
#include "vm/bytecode/module.h"
#include "vm/kernels/kernels.h"
#include "vm/array/string_item.h"

// --- Joining ----------------------------------------------------------------

// Copies the arrays from part [first] on into their places along [axis] of a,
// from [data] on. Takes a.
static bool join_into(tl_vm *vm, const tl_arrays *parts, int64_t first,
                      tl_array *a, char *data, int axis, bool stacking) {
  int ndim = tl_ndim(a);
  int64_t part_shape[TL_MAX_DIMS];
  memcpy(part_shape, tl_shape(a), sizeof(int64_t) * (size_t)ndim);
  for (int64_t i = first; i < parts->count; i++) {
    tl_array *part = parts->items[i].array;
    tl_slot expanded = tl_none();
    part_shape[axis] = stacking ? 1 : tl_shape(part)[axis];
    bool ok = true;
    if (stacking && axis < ndim - 1) {
      // Broadcasting aligns at the right: the new axis must be there already.
      int64_t strides[TL_MAX_DIMS];
      for (int k = 0, j = 0; k < ndim; k++)
        // A new axis of length 1, whose stride is never used.
        strides[k] = k == axis ? 0 : tl_strides(part)[j++];
      tl_slot base = tl_borrow(parts->items[i]);
      ok = tl_view(vm, &base, part->data, ndim, part_shape, strides, &expanded);
      if (ok)
        part = expanded.array;
    }
    if (stacking && axis == ndim - 1) {
      // Without the last axis the shapes agree as they are.
      ok = tl_assign_part(vm, a, data, ndim - 1, part_shape, tl_strides(a),
                          part);
    } else {
      ok = ok &&
           tl_assign_part(vm, a, data, ndim, part_shape, tl_strides(a), part);
    }
    const int64_t items = part->size + 16;  // an array costs as much as some
    tl_drop(vm, expanded);
    if (!ok || !tl_poll_items(vm, items))
      return false;
    data += part_shape[axis] * tl_strides(a)[axis];
  }
  return true;
}

// A new array of [shape] with all parts copied into it along [axis]. The caller
// has checked the shapes and promoted the dtypes, so only memory can be
// lacking. *out is owned, and on failure nothing is left.
static bool join(tl_vm *vm, const tl_arrays *parts, tl_dtype dtype, int axis,
                 int ndim, const int64_t *shape, bool stacking, tl_slot *out) {
  tl_array *a = tl_array_new(vm, dtype, ndim, shape);
  bool ok = a && join_into(vm, parts, 0, a, a->data, axis, stacking);
  return tl_array_finish(vm, ok, a, out);
}

// Whether the first array of a dying list, which alone has it, can go on with
// the others' items.
static bool may_go_on(tl_vm *vm, tl_slot source, const tl_arrays *parts,
                      tl_dtype dtype, int axis) {
  if (axis != 0 || !tl_is_list(source) || !tl_is_alone(source))
    return false;
  tl_slot first = source.list->items[0];
  return tl_is_array(first) && first.array == parts->items[0].array &&
         tl_array_dtype(first.array) == dtype && tl_array_resizes(vm, first);
}

// The first array, longer, with the others' items behind its own; where that
// fails it is as it was. Where it grew last and grows by little again it gets
// room for more, as with append, so that a loop of such joins is linear.
static bool go_on(tl_vm *vm, tl_list *source, tl_arrays *parts, int64_t length,
                  tl_slot *out) {
  tl_slot *first = &source->items[0];
  int64_t own = tl_shape(first->array)[0];
  const bool again = vm->last_grown == &first->array->head;
  int64_t more = again && length - own <= own / 8 ? own / 2 : 0;
  if (!tl_array_widen(vm, first, length, more))
    return false;
  tl_array *a = first->array;
  vm->last_grown = &a->head;
  char *behind = a->data + own * tl_strides(a)[0];
  parts->items[0] = tl_none();
  if (!join_into(vm, parts, 1, a, behind, 0, false)) {
    if (tl_array_dtype(a) == TL_STRING)
      tl_string_items_drop(
          vm, tl_string_item_at(behind),
          (length - own) * tl_strides(a)[0] / (int64_t)sizeof(tl_string_item));
    tl_array_cut(vm, first, own);
    return false;
  }
  *out = *first;
  *first = tl_none();
  tl_written_in_place(vm, a);
  vm->stats.temps_ended++;
  return true;
}

// Fails (kind shape) with the types of the first part and of part i. Always
// false, so that a check can end with it.
static bool parts_differ(tl_vm *vm, const char *function,
                         const tl_arrays *parts, int64_t i) {
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "%s: array 0 is %s and array %lld is %s; "
                 "their shapes do not fit",
                 function, tl_described(vm, parts->items[0]), (long long)i,
                 tl_described(vm, parts->items[i]));
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

// Replaces each part by its items in row order, as concat without an axis wants
// them. The flag that marks a weak dtype goes with the items: a number in a
// list must not widen the result because it was flattened.
static bool flatten_parts(tl_vm *vm, tl_arrays *parts) {
  for (int64_t i = 0; i < parts->count; i++) {
    tl_slot flat;
    tl_slot *item = &parts->items[i];
    if (tl_ndim(item->array) == 1)
      continue;
    int64_t size = item->array->size;
    if (!tl_reshape(vm, item, 1, &size, &flat))
      return false;
    flat.tag |= item->tag & TL_WEAK;
    tl_replace(vm, item, flat);
  }
  return true;
}

// Whether s is a vector of [dtype] without items.
static bool is_empty_vector(tl_slot s, tl_dtype dtype) {
  return tl_dtype_of(s) == (uint8_t)dtype && tl_ndim(s.array) == 1 &&
         s.array->size == 0;
}

// `[]`, which loops begin with, is of float64 for want of items: beside strings
// it becomes one of strings.
static bool type_empty_vectors(tl_vm *vm, tl_arrays *parts) {
  bool texts = false;
  for (int64_t i = 0; i < parts->count; i++)
    texts |= tl_dtype_of(parts->items[i]) == TL_STRING;
  for (int64_t i = 0; texts && i < parts->count; i++) {
    if (!is_empty_vector(parts->items[i], TL_FLOAT64))
      continue;
    int64_t none = 0;
    tl_array *empty = tl_array_new(vm, TL_STRING, 1, &none);
    if (empty == NULL)
      return false;
    tl_replace(vm, &parts->items[i], tl_own_array(empty));
  }
  return true;
}

// concat of plain arrays. All checks come before the first write: shapes but
// for [axis], the common dtype, and the sum of the lengths, which may overflow
// although each fits. [source] is the list that the parts came from; where it
// ends here, its first array may grow instead of being copied (may_go_on), so
// that xs = concat((xs, ys)) in a loop copies ys alone.
//
//   axis none   (2 * 3), (4)        10 items, flattened first
//   axis 0      (2 * 3), (5 * 3)    7 * 3
//   axis 1      (2 * 3), (2 * 1)    2 * 4
static bool concat_parts(tl_vm *vm, tl_slot source, tl_arrays *parts,
                         tl_slot axis_slot, tl_slot *out) {
  int axis = 0;
  tl_dtype dtype;
  if (parts->count == 0)
    return tl_fail(vm, TALLY_ERR_VALUE, "concat: there are no arrays to join");
  if (tl_is_none(axis_slot)) {
    if (!flatten_parts(vm, parts))
      return false;
  } else {
    if (tl_ndim(parts->items[0].array) == 0)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "concat: scalars have no axis to "
                     "join; use stack");
    if (!tl_arg_axis(vm, "concat", axis_slot, tl_ndim(parts->items[0].array), 0,
                     &axis))
      return false;
  }
  if (!check_parts(vm, "concat", parts, axis) ||
      !type_empty_vectors(vm, parts) ||
      !tl_promote_arrays(vm, "concat", parts, &dtype))
    return false;
  const tl_array *first = parts->items[0].array;
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_ndim(first);
  memcpy(shape, tl_shape(first), sizeof(int64_t) * (size_t)ndim);
  for (int64_t i = 1; i < parts->count; i++)
    if (__builtin_add_overflow(
            shape[axis], tl_shape(parts->items[i].array)[axis], &shape[axis]))
      return tl_fail(vm, TALLY_ERR_SHAPE, "concat: axis %d is too long", axis);
  if (may_go_on(vm, source, parts, dtype, axis))
    return go_on(vm, source.list, parts, shape[0], out);
  return join(vm, parts, dtype, axis, ndim, shape, false, out);
}

// The first list is only lengthened where the room that growth leaves behind
// the items is small against them.
enum { SHORT = 64 };  // lists that are not worth room for more than they have

// A list for the items of all lists in [source]: the first one itself, with its
// items, where nobody else has it.
static tl_list *list_of_all(tl_vm *vm, tl_slot source, int64_t total,
                            int64_t *done) {
  tl_slot *first = &source.list->items[0];
  *done = 0;
  // Where there is room already nothing is allocated at all.
  bool grows = total > first->list->capacity;
  if (vm->no_reuse || !tl_is_alone(source) || (grows && total < SHORT) ||
      !tl_may_change(vm, *first))
    return tl_list_new(vm, total);
  tl_list *list;
  if (!tl_list_unique(vm, first, total - first->list->length, &list))
    return NULL;
  *first = tl_none();
  *done = 1;
  return list;
}

// The items of the lists in [source], moved where nobody else has them.
static bool concat_lists(tl_vm *vm, tl_slot source, tl_slot *out) {
  tl_list *lists = source.list;
  int64_t total = 0, done;
  for (int64_t i = 0; i < lists->length; i++) {
    if (!tl_is_list(lists->items[i]))
      return tl_arg_fail(vm, "concat", "every item", "a list as the first is",
                         lists->items[i]);
    total += lists->items[i].list->length;
  }
  tl_list *joined = list_of_all(vm, source, total, &done);
  if (!joined)
    return false;
  bool ok = true;
  for (int64_t i = done; ok && i < lists->length; i++) {
    tl_list *list = lists->items[i].list;
    // Items of a list that ends here move, without a change of their counts.
    bool ours = tl_is_alone(source) && tl_is_unique(lists->items[i]);
    for (int64_t k = 0; k < list->length && tl_poll_ok(vm, joined->length, &ok);
         k++) {
      tl_slot item = tl_borrow(list->items[k]);
      // There is room, so that nothing is left half moved.
      tl_list_put(vm, joined, ours ? &list->items[k] : &item);
    }
  }
  return tl_list_give(vm, joined, ok, out);
}

// A list as it is, in its memory where it ends here; the rest is in Tally.
bool tl_list_spread(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_list *list;
  return !tl_is_list(args[0]) ? tl_in_tally(vm, "spread", 1, args, out)
                              : tl_list_unique(vm, &args[0], 0, &list) &&
                                    tl_list_give(vm, list, true, out);
}

// Whether any part is ragged, has fields or may be missing: then the joining is
// that of nested arrays (ragged_join.c).
static bool has_nested(tl_slot s) {
  bool found = false;
  for (int64_t i = 0; !found && tl_is_list(s) && i < s.list->length; i++)
    found = tl_is_nested(s.list->items[i]);
  return found;
}

// concat(arrays, axis): the first item decides. Lists are joined as lists; one
// nested part makes the result nested; all else goes through arrays.
static bool concat(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_list(args[0]) && args[0].list->length > 0 &&
      tl_is_list(args[0].list->items[0]))
    return concat_lists(vm, args[0], out);
  if (has_nested(args[0]))
    return tl_nested_concat(vm, args[0].list, args[1], out);
  tl_arrays parts;
  if (!tl_arg_arrays(vm, "concat", args[0], &parts))
    return false;
  bool ok = concat_parts(vm, args[0], &parts, args[1], out);
  tl_arrays_close(vm, &parts);
  return ok;
}

// The list becomes an argument that ends here, which is what lets its first
// array grow where it is.
bool tl_concat_parts(tl_vm *vm, tl_list *parts, bool ok, int axis,
                     tl_slot *out) {
  tl_slot args[] = {tl_none(), tl_weak_int(axis)};
  ok = tl_list_give(vm, parts, ok, &args[0]) && concat(vm, args, out);
  tl_drop(vm, args[0]);
  return ok;
}

// stack of plain arrays, which have one shape: the result has one axis more, at
// [axis], as long as there are parts. An axis counts among those of the result,
// so -1 is behind the last one of a part.
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

// stack of the rows of an array: the same items with the first axis at another
// place. Not row by row, since an array may have very many.
static bool stack_rows(tl_vm *vm, tl_slot x, tl_slot axis_slot, tl_slot *out) {
  int axis;
  if (!tl_arg_axis(vm, "stack", axis_slot, tl_ndim(x.array), 0, &axis))
    return false;
  tl_slot given[] = {tl_borrow(x), tl_weak_int(axis)};
  return tl_call_embedded(vm, "inner/arrays", "stack_rows", 2, given, out);
}

// stack(arrays, axis), with nested parts by ragged_join.c.
static bool stack(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (has_nested(args[0]))
    return tl_nested_stack(vm, args[0].list, args[1], out);
  if (tl_is_array(args[0]) && tl_ndim(args[0].array) > 0 &&
      tl_shape(args[0].array)[0] > 0)
    return stack_rows(vm, args[0], args[1], out);
  tl_arrays parts;
  if (!tl_arg_arrays(vm, "stack", args[0], &parts))
    return false;
  bool ok = stack_parts(vm, &parts, args[1], out);
  tl_arrays_close(vm, &parts);
  return ok;
}

// The parts of an array of two axes or more along one of them, each a view that
// counts its block.
static bool views_along(tl_vm *vm, tl_slot x, int axis, tl_slot *out) {
  const tl_array *a = x.array;
  const int ndim = tl_ndim(a) - 1;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  for (int i = 0; i < ndim; i++) {
    shape[i] = tl_shape(a)[i + (i >= axis)];
    strides[i] = tl_strides(a)[i + (i >= axis)];
  }
  const int64_t n = tl_shape(a)[axis], step = tl_strides(a)[axis];
  tl_list *list = tl_list_new(vm, n);
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < n; i++) {
    tl_slot base = tl_borrow(x), part;
    ok = tl_view(vm, &base, a->data + i * step, ndim, shape, strides, &part) &&
         tl_list_push_own(vm, &list, part);
  }
  return tl_list_give(vm, list, ok, out);
}

// unstack(x, axis): a list of views, not of copies. Each refers to x, whose
// items stay alive as long as any of them does. Structs, rows and what may be
// missing are taken apart along the first axis.
static bool unstack(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  const bool nested = tl_is_nested(args[0]);
  if (!tl_arg_axis(vm, "unstack", args[1], tl_value_axes(args[0]), 0, &axis))
    return false;
  if (nested && axis != 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "unstack: an array with missing values, rows or structs is "
                   "taken apart along axis 0 (moveaxis(x, axis, 0))");
  if (!nested && tl_ndim(args[0].array) > 1)
    return views_along(vm, args[0], axis, out);
  return tl_in_tally(vm, "parts_of", 1, args, out);
}

// --- Repeating --------------------------------------------------------------

// Whether a vector so many times is done at once: there are few items, and none
// of them counts who has it.
static bool repeats_few(const tl_array *x, int64_t times) {
  enum { FEW = 4096 };
  return tl_ndim(x) == 1 && tl_array_dtype(x) != TL_STRING && x->size <= FEW &&
         times <= FEW && x->size * times <= FEW;
}

// The vector so many times, or [each] of its items: the rows of a tile, whose
// items or rows repeat.
static bool repeat_few(tl_vm *vm, const tl_array *x, int64_t times, bool each,
                       tl_slot *out) {
  const int64_t size = (int64_t)tl_itemsize(tl_array_dtype(x));
  const int64_t step = tl_strides(x)[0], n = x->size * times;
  const int64_t rows = each ? x->size : times, row = each ? times : x->size;
  tl_array *a = tl_array_new(vm, tl_array_dtype(x), 1, &n);
  if (a != NULL && n > 0)
    tl_kernels()->pack_tile[tl_move_size((size_t)size)](
        a->data, row * size, x->data, each ? step : 0, each ? 0 : step,
        (size_t)rows, (size_t)row);
  return tl_array_finish(vm, true, a, out);
}

// tile(x, repetitions): repetitions align at the right, as shapes do, and what
// is missing on either side is 1.
//
//   x of 3,     (2, 2)     2 * 6
//   x of 2 * 3, 2          2 * 6
static bool tile(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int count;
  int64_t times[TL_MAX_DIMS];
  if (!tl_arg_shape(vm, "tile", "repetitions", args[1], &count, times))
    return false;
  if (tl_is_form(args[0], TL_FORM_RAGGED) && count <= 2) {
    tl_slot given[] = {tl_borrow(args[0]),
                       tl_weak_int(count == 2 ? times[0] : 1),
                       tl_weak_int(count > 0 ? times[count - 1] : 1)};
    return tl_call_embedded(vm, "inner/nested", "tile_rows", 3, given, out);
  }
  if (!tl_arg_array(vm, "tile", &args[0]))
    return false;
  if (count == 1 && repeats_few(args[0].array, times[0]))
    return repeat_few(vm, args[0].array, times[0], false, out);
  return tl_in_tally(vm, "copies", 2, args, out);
}

// The repeats of the items as int64, owned or borrowed by *out. Of no items any
// dtype will do, as `[]` has none of its own.
static bool read_repeats(tl_vm *vm, tl_slot *repeats, tl_slot *out) {
  if (!tl_arg_array(vm, "repeat", repeats))
    return false;
  const tl_array *a = repeats->array;
  if (!tl_dtype_is_integer(tl_array_dtype(a)) && tl_array_dtype(a) != TL_BOOL &&
      a->size > 0)
    return tl_arg_fail(vm, "repeat", "repeats", "integers", *repeats);
  return tl_as_contiguous(vm, "repeat", *repeats, TL_INT64, out);
}

// repeat(x, repeats, axis): without an axis the items are flattened first. One
// number for all is a broadcast copy; repeats of each item's own become
// positions that are taken. In a ragged array items repeat within their rows.
static bool repeat(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis = 0;
  int64_t within;
  if (tl_is_form(args[0], TL_FORM_RAGGED) && !tl_is_none(args[2])) {
    if (!tl_arg_count(vm, "repeat", "repeats", args[1], &within) ||
        !tl_arg_axis(vm, "repeat", args[2], 2, 1, &axis))
      return false;
    tl_slot given[] = {tl_borrow(args[0]), tl_weak_int(within)};
    return tl_call_embedded(vm, "inner/nested", "repeat_within", 2, given, out);
  }
  if (!tl_arg_array(vm, "repeat", &args[0]))
    return false;
  if (tl_is_none(args[2]) && tl_ndim(args[0].array) != 1) {
    tl_slot flat;
    int64_t size = args[0].array->size;
    if (!tl_reshape(vm, &args[0], 1, &size, &flat))
      return false;
    tl_replace(vm, &args[0], flat);
  }
  if (!tl_arg_axis(vm, "repeat", args[2], tl_ndim(args[0].array), 0, &axis))
    return false;
  if (tl_is_scalar(args[1]) && tl_dtype_of(args[1]) == TL_INT64 &&
      args[1].i >= 0 && tl_ndim(args[0].array) < TL_MAX_DIMS) {
    if (repeats_few(args[0].array, args[1].i))
      return repeat_few(vm, args[0].array, args[1].i, true, out);
    args[2] = tl_weak_int(axis);
    return tl_in_tally(vm, "repeated", 3, args, out);
  }
  tl_slot given[] = {tl_borrow(args[0]), tl_none(), tl_weak_int(axis)};
  return read_repeats(vm, &args[1], &given[1]) &&
         tl_in_tally(vm, "repeated_each", 3, given, out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_join_builtins[] = {
    /// Joins arrays along an axis that they have; axis none flattens them
    /// first. Lists are joined too.
    /// Any dtypes that promote. Other lengths that differ are an error (kind
    /// shape), an axis that the arrays lack another (index).
    ///     concat(([1, 2], [3]))    # [1, 2, 3]
    ///     concat(((1, 2), ("a",)))    # (1, 2, "a")
    {"concat", "arrays, axis: 0", concat, .restores = TL_FIRST_ITEM,
     .takes = TL_BYTES},
    /// Joins arrays of one shape along a new axis.
    /// Any dtypes that promote. Shapes that differ are an error (kind shape).
    ///     stack(([1, 2], [3, 4]))    # [[1, 2], [3, 4]]
    ///     stack(([1, 2], [3, 4]), axis: 1)    # [[1, 3], [2, 4]]
    {"stack", "arrays, axis: 0", stack, .takes = TL_BYTES},
    /// The list of the parts of x along an axis.
    /// An axis that x lacks is an error (kind index).
    ///     unstack([[1, 2], [3, 4]])    # ([1, 2], [3, 4])
    ///     a, b = unstack([[1, 2], [3, 4]])
    ///     b    # [3, 4]
    {"unstack", "x, axis: 0", unstack, .takes = TL_BYTES, .types = "v"},
    /// Copies of x side by side, so many along each axis.
    /// Any dtype, which stays. A negative number of repetitions is an error
    /// (kind value).
    ///     tile([1, 2], 2)    # [1, 2, 1, 2]
    {"tile", "x, repetitions", tile, .lifts = TL_MOVES, .types = "x"},
    /// Each item of x several times over, along an axis or in row-major order;
    /// repeats is one number, or one for each item.
    /// A negative count is an error (kind value), counts of another length are
    /// one of kind shape.
    ///     repeat([1, 2], 2)    # [1, 1, 2, 2]
    ///     repeat([1, 2], [0, 3])    # [2, 2, 2]
    {"repeat", "x, repeats, axis: none", repeat, .lifts = TL_MOVES},
    {.name = NULL},
};
