// Sorting, and finding places in what is sorted.
//
//
//   sort, argsort     arguments here, lanes in sort_items.c, threads in
//                     sort_parts.c, strings in sort_strings.c, lists in
//                     list_sort.c, rows in ragged_rows.c
//   searchsorted      bisection, for many queries at a time

#include "stdlib/families.h"
#include "stdlib/ragged.h"
#include "vm/bytecode/module.h"
#include "vm/kernels/kernels.h"
#include "vm/array/string_item.h"

// --- sort and argsort -------------------------------------------------------

// An array and the axis of it to sort along.
static bool sort_arguments(tl_vm *vm, const char *function, tl_slot *args,
                           int *axis) {
  if (!tl_arg_array(vm, function, &args[0]))
    return false;
  int ndim = tl_ndim(args[0].array);
  if (ndim == 0)
    return tl_fail(vm, TALLY_ERR_SHAPE, "%s: a scalar has no order", function);
  return tl_arg_axis(vm, function, args[1], ndim, -1, axis);
}

// Rows one by one; of values that may be missing, those come last.
static bool sort_nested(tl_vm *vm, tl_slot *args, bool order, tl_slot *out) {
  const bool descending = args[2].i != 0;
  const int64_t axis = tl_is_none(args[1]) ? -1 : args[1].i;
  const char *name = order ? "argsort" : "sort";
  if (tl_is_form(args[0], TL_FORM_RAGGED)) {
    if (axis != -1 && axis != 1)
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "%s: ragged rows are sorted within: axis: -1", name);
    return tl_ragged_sort(vm, args[0], descending, order, out);
  }
  int along;
  if (tl_is_form(args[0], TL_FORM_OPTION) &&
      !tl_arg_axis(vm, name, args[1], tl_value_ndim(args[0]), -1, &along))
    return false;
  const bool option = tl_is_form(args[0], TL_FORM_OPTION);
  tl_slot given[] = {tl_borrow(args[0]), tl_bool(descending), tl_bool(order)};
  if (option && tl_value_ndim(args[0]) == 2 && (axis == -1 || axis == 1))
    return tl_in_tally(vm, "sort_rows", 3, given, out);
  if (option && tl_value_ndim(args[0]) == 1)
    return tl_in_tally(vm, "sort_present", 3, given, out);
  return tl_fail(
      vm, TALLY_ERR_TYPE,
      "%s: %s has no order: one axis of numbers or strings has%s", name,
      tl_described(vm, args[0]),
      tl_has_fields(args[0]) ? "; sort_by(p, \"x\") sorts by a field" : "");
}

// The items of one axis in the order of what key gives for each: in Tally.
static bool sort_by_key(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot given[] = {tl_borrow(args[0]), tl_borrow(args[4]), args[2]};
  return tl_call_embedded(vm, "inner/arrays", "sorted_by", 3, given, out);
}

// sort(x, axis, descending, stable, key), in x's own memory where it ends here.
//
//   a list, with or without key     tl_list_sort
//   one axis with a key             by an array of what key gives
//   nested                          rows, or missing values last
//   all else                        lanes along the axis
static bool sort(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  const bool descending = args[2].i != 0;
  if (tl_is_nested(args[0]) && tl_is_none(args[4]))
    return sort_nested(vm, args, false, out);
  if (!tl_is_none(args[4]) && tl_value_ndim(args[0]) == 1)
    return sort_by_key(vm, args, out);
  if (tl_is_list(args[0]))
    return tl_list_sort(vm, &args[0], descending, args[4], out);
  if (!tl_is_none(args[4]))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "sort: key is for lists and arrays of one axis");
  if (!sort_arguments(vm, "sort", args, &axis))
    return false;
  // Several lanes of strings: one may find no memory when others are sorted.
  const tl_array *x = args[0].array;
  bool copies = vm->keeping && tl_array_dtype(x) == TL_STRING &&
                tl_shape(x)[axis] < x->size;
  tl_array *a = copies ? tl_array_copy(vm, x) : tl_take_dense(vm, &args[0]);
  if (!a)
    return false;
  return tl_give_or_put_back(vm, tl_sort_lanes(vm, a, axis, descending),
                             tl_own_array(a), &args[0], out);
}

// argsort(x, axis, descending, stable): positions, over x itself where that
// ends here and has items of 8 bytes.
static bool argsort(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  const bool descending = args[2].i != 0;
  if (tl_is_nested(args[0]))
    return sort_nested(vm, args, true, out);
  if (!sort_arguments(vm, "argsort", args, &axis))
    return false;
  tl_array *a = args[0].array;
  tl_dtype dtype = tl_array_dtype(a);
  tl_array *order = tl_array_over(vm, &args[0], TL_INT64);
  if (!order)
    return false;
  return tl_array_finish(
      vm,
      a->size == 0 || tl_argsort_lanes(vm, order, a, dtype, axis, descending),
      order, out);
}

// --- searchsorted -----------------------------------------------------------

// Queries between two polls. Many at once make it worth to learn where ranges
// of the items begin; results over the queries' own memory go by few.
enum { BLOCK = 1 << 17, FEW = 1024 };

// By bisection: the first place whose item is not less than the query, with
// [right] the first whose item is greater. False after tl_fail.
static bool search_strings(tl_vm *vm, int64_t *out,
                           const tl_string_item *sorted, int64_t m,
                           const tl_string_item *queries, int64_t n,
                           bool right) {
  for (int64_t i = 0; i < n; i++) {
    int64_t low = 0, high = m;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      int order = tl_string_item_compare(vm, &sorted[middle], &queries[i]);
      if (!tl_poll_text(vm, tl_string_item_length(&queries[i])))
        return false;
      if (order < 0 || (right && order == 0))
        low = middle + 1;
      else
        high = middle;
    }
    out[i] = low;
  }
  return true;
}

// In blocks, so that a host can end it. Where the results go over the queries,
// some of these are copied out first: a kernel reads them more than once.
bool tl_search_sorted(tl_vm *vm, const tl_array *sorted,
                      const tl_array *queries, bool right, int64_t *out) {
  tl_dtype dtype = tl_array_dtype(sorted);
  size_t itemsize = tl_itemsize(dtype);
  const bool in_place = queries->data == (const char *)out;
  const int64_t block = in_place || dtype == TL_STRING ? FEW : BLOCK;
  for (int64_t i = 0; i < queries->size; i += block) {
    int64_t n = queries->size - i < block ? queries->size - i : block;
    const char *query = queries->data + (size_t)i * itemsize;
    _Alignas(16) char apart[FEW * sizeof(tl_c128)];
    if (!tl_poll(vm, (uint64_t)block >> 10))
      return false;
    if (in_place)
      query = memcpy(apart, query, (size_t)n * itemsize);
    if (dtype == TL_STRING &&
        !search_strings(vm, out + i, tl_string_items(sorted), sorted->size,
                        tl_string_item_at(query), n, right))
      return false;
    if (dtype != TL_STRING)
      tl_kernels()->search[dtype](out + i, sorted->data, (size_t)sorted->size,
                                  query, (size_t)n, right);
  }
  return true;
}

// x1 in the order that the sorter says; the slot then owns the copy.
static bool apply_sorter(tl_vm *vm, tl_slot *x, tl_slot sorter) {
  tl_slot order, sorted;
  if (!tl_as_contiguous(vm, "searchsorted", sorter, TL_INT64, &order))
    return false;
  const int64_t *index = (const int64_t *)order.array->data;
  int64_t n = order.array->size, length = tl_shape(x->array)[0];
  bool ok = true;
  for (int64_t i = 0; ok && i < n; i++)
    if (index[i] < 0 || index[i] >= length)
      ok = tl_fail(vm, TALLY_ERR_INDEX,
                   "searchsorted: sorter has %lld, x1 has "
                   "%lld items",
                   (long long)index[i], (long long)length);
  ok = ok && tl_take_axis(vm, x->array, index, n, 0, &sorted);
  tl_drop(vm, order);
  if (!ok)
    return false;
  return tl_replace(vm, x, sorted);
}

// Both as dense arrays of the common dtype; queries that end here give their
// memory to the places.
static bool search_contiguous(tl_vm *vm, tl_slot *args, tl_dtype dtype,
                              bool right, tl_slot *out) {
  tl_slot sorted, queries;
  tl_array *found = NULL;
  bool ok = false;
  if (!tl_as_contiguous(vm, "searchsorted", args[0], dtype, &sorted))
    return false;
  if (tl_take_contiguous(vm, "searchsorted", &args[1], dtype, &queries)) {
    const tl_array *q = queries.array;
    found = tl_array_over(vm, &queries, TL_INT64);
    ok = found &&
         tl_search_sorted(vm, sorted.array, q, right, (int64_t *)found->data);
    tl_drop(vm, queries);
  }
  tl_drop(vm, sorted);
  return tl_result_finish(vm, ok, found, out);
}

static tl_builtin_fn searchsorted;

// The place of what is missing is missing.
static bool search_present(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot places,
      given[] = {tl_borrow(args[0]), tl_borrow(args[1].nested->parts[1]),
                 tl_borrow(args[2]), tl_borrow(args[3])};
  bool ok = searchsorted(vm, given, &places);
  for (int i = 0; i < 4; i++) tl_clear(vm, &given[i]);
  if (!ok)
    return false;
  tl_slot mask = tl_retain(vm, tl_borrow(args[1].nested->parts[0]));
  return tl_option_of(vm, &mask, &places, out);
}

// searchsorted(x1, x2, side, sorter). A number as query stays weak when dtypes
// are promoted: an array of float32 is not searched as float64.
static bool searchsorted(tl_vm *vm, tl_slot *args, tl_slot *out) {
  static const char *const sides[] = {"left", "right", NULL};
  int side;
  tl_dtype dtype;
  if (tl_is_form(args[1], TL_FORM_OPTION))
    return search_present(vm, args, out);
  if (!tl_arg_choice(vm, "searchsorted", "side", args[2], sides, &side))
    return false;
  if (tl_ndim(args[0].array) != 1)
    return tl_fail(vm, TALLY_ERR_SHAPE, "searchsorted: x1 has %d axes, needs 1",
                   tl_ndim(args[0].array));
  tl_slot queries = args[1];  // still weak, where it is a literal
  if (!tl_arg_array_or_string(vm, "searchsorted", &args[1]))
    return false;
  if (!tl_is_scalar(queries))
    queries = args[1];
  if (!tl_is_none(args[3]) && !apply_sorter(vm, &args[0], args[3]))
    return false;
  return tl_promote_slots(vm, "searchsorted", args[0], queries, &dtype) &&
         search_contiguous(vm, args, dtype, side == 1, out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_sort_builtins[] = {
    /// x with the items along an axis in order; NaN comes last. Items that are
    /// equal keep their order. A list is sorted too, by key(item) where key is
    /// given.
    /// An axis that x lacks is an error (kind index), items without an order one
    /// of kind type.
    ///     sort([3, 1, 2])    # [1, 2, 3]
    ///     sort([3, 1, 2], descending: true)    # [3, 2, 1]
    {"sort", "x, axis: -1, descending: false, stable: true, key: none", sort,
     TL_CALLS | TL_STOPS, .restores = TL_ALL, .lifts = TL_INNERMOST,
     .takes = TL_BYTES, .types = "lIbb"},
    /// The positions that put the items of x in order: x[argsort(x)] is
    /// sorted.
    /// Any dtype; gives int64. An axis that x lacks is an error (kind index).
    ///     argsort([30, 10, 20])    # [1, 2, 0]
    {"argsort", "x, axis: -1, descending: false, stable: true", argsort,
     .lifts = TL_INNERMOST, .takes = TL_BYTES, .types = "vIbb"},
    /// Where the items of x2 would go in the sorted array x1 to keep it
    /// sorted: before equal items, or behind them where side is "right".
    /// sorter is argsort(x1) where x1 itself is not sorted.
    /// Any real dtypes or strings; gives int64. An x1 of more axes than one is
    /// an error (kind shape), another side one of kind value.
    ///     searchsorted([10, 20, 30], [5, 20, 35])    # [0, 1, 3]
    {"searchsorted", "x1, x2, side: \"left\", sorter: none", searchsorted,
     .takes = TL_BYTES, .types = "ay"},
    {.name = NULL},
};
