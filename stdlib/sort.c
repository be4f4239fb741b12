// Sorting, and finding places in what is sorted.

#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "stdlib/nested.h"
#include "stdlib/nested_reduce.h"
#include "stdlib/ragged.h"
#include "stdlib/shared.h"
#include "stdlib/sort_parts.h"
#include "vm/kernels/kernels.h"
#include "vm/nested/grid.h"
#include "vm/nested/nested_elementwise.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/ragged.h"
#include "vm/poll.h"
#include "vm/values/list.h"
#include "vm/array/string_item.h"
#include "vm/vm.h"

// --- Lanes ------------------------------------------------------------------

void tl_lanes_begin(tl_lanes *lanes, int n, tl_array *const *arrays, int axis) {
  *lanes = (tl_lanes){.n = n, .ndim = tl_ndim(arrays[0]) - 1};
  for (int k = 0, j = 0; k < tl_ndim(arrays[0]); k++) {
    if (k == axis)
      continue;
    lanes->shape[j] = tl_shape(arrays[0])[k];
    if (lanes->shape[j] == 0)
      lanes->done = true;
    for (int i = 0; i < n; i++) lanes->strides[i][j] = tl_strides(arrays[i])[k];
    j++;
  }
  for (int i = 0; i < n; i++) {
    lanes->data[i] = arrays[i]->data;
    lanes->step[i] = tl_strides(arrays[i])[axis];
  }
}

void tl_lanes_next(tl_lanes *lanes) {
  for (int k = lanes->ndim - 1; k >= 0; k--) {
    bool more = ++lanes->index[k] < lanes->shape[k];
    for (int i = 0; i < lanes->n; i++)
      lanes->data[i] += more ? lanes->strides[i][k]
                             : -lanes->strides[i][k] * (lanes->shape[k] - 1);
    if (more)
      return;
    lanes->index[k] = 0;
  }
  lanes->done = true;
}

// --- Sorting items of any dtype ---------------------------------------------

bool tl_argsort_items(tl_vm *vm, tl_dtype dtype, int64_t *out,
                      const void *items, int64_t n, bool descending) {
  if (dtype == TL_STRING)
    return tl_argsort_strings(vm, out, items, n, descending);
  const bool over = items == (const void *)out;
  if (!over && tl_sorts_in_parts(vm, dtype, items, n))
    return tl_argsort_parts(vm, dtype, out, items, n, descending);
  size_t nbytes = tl_argsort_scratch(dtype, (size_t)n, over);
  if (nbytes < 64)
    nbytes = 64;  // aligned to as much
  if (!tl_poll(vm, (uint64_t)n >> 10))
    return false;
  void *scratch = tl_alloc(vm, nbytes, "argsort");
  if (!scratch)
    return false;
  tl_stop stop = tl_stop_of(vm);
  bool ok =
      tl_argsort(dtype, out, items, (size_t)n, descending, scratch, &stop);
  tl_free(vm, scratch, nbytes);
  return ok;
}

// The strings only change places, so that no count changes.
static bool sort_strings(tl_vm *vm, tl_string_item *items, int64_t n,
                         bool descending) {
  size_t nbytes = ((size_t)n + 1) * (sizeof(int64_t) + sizeof *items);
  tl_string_item *sorted = tl_alloc(vm, nbytes, "sort");
  if (!sorted)
    return false;
  int64_t *order = (int64_t *)(void *)(sorted + n);
  bool ok = tl_argsort_items(vm, TL_STRING, order, items, n, descending);
  for (int64_t i = 0; ok && i < n; i++) sorted[i] = items[order[i]];
  if (ok)
    memcpy(items, sorted, (size_t)n * sizeof *items);
  tl_free(vm, sorted, nbytes);
  return ok;
}

// Room for the sorting of lanes of n items; NULL: no memory.
static void *sort_room(tl_vm *vm, tl_dtype dtype, int64_t n, size_t *nbytes) {
  *nbytes = tl_sort_scratch(dtype, (size_t)n);
  if (*nbytes < 64)
    *nbytes = 64;
  return tl_alloc(vm, *nbytes, "sort");
}

static bool sort_in(tl_vm *vm, tl_dtype dtype, void *items, int64_t n,
                    bool descending, void *room) {
  tl_stop stop = tl_stop_of(vm);
  return tl_poll(vm, (uint64_t)n >> 10) &&
         tl_sort(dtype, items, (size_t)n, descending, room, &stop);
}

bool tl_sort_items(tl_vm *vm, tl_dtype dtype, void *items, int64_t n,
                   bool descending) {
  if (dtype == TL_STRING)
    return sort_strings(vm, items, n, descending);
  if (tl_sorts_in_parts(vm, dtype, items, n))
    return tl_sort_parts(vm, dtype, items, n, descending);
  size_t nbytes;
  void *room = sort_room(vm, dtype, n, &nbytes);
  if (!room)
    return false;
  bool ok = sort_in(vm, dtype, items, n, descending, room);
  tl_free(vm, room, nbytes);
  return ok;
}

int64_t tl_run_positions(tl_dtype dtype, int64_t *out, const void *sorted,
                         int64_t n) {
  if (dtype != TL_STRING)
    return (int64_t)tl_run_starts(dtype, out, sorted, (size_t)n);
  const tl_string_item *items = sorted;
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++)
    if (i == 0 || !tl_string_item_equal(&items[i - 1], &items[i]))
      out[count++] = i;
  return count;
}

// --- sort and argsort -------------------------------------------------------

// The work on the lanes of an array: room for all of them in turn, so that none
// finds no memory when others are sorted already.
typedef struct lane_work {
  tl_dtype dtype;
  int64_t n;
  bool descending;
  char *row;  // of a lane whose items do not lie side by side, or NULL
  void *room;
  size_t row_size, room_size;
} lane_work;

static bool lane_work_open(tl_vm *vm, const tl_array *a, int axis,
                           lane_work *w) {
  size_t itemsize = tl_itemsize(w->dtype);
  bool apart = tl_strides(a)[axis] != (int64_t)itemsize;
  bool many = w->n < a->size && w->dtype != TL_STRING;
  w->row_size = (size_t)w->n * itemsize;
  w->row = apart ? tl_alloc(vm, w->row_size, "sort") : NULL;
  w->room = many ? sort_room(vm, w->dtype, w->n, &w->room_size) : NULL;
  return (w->row != NULL || !apart) && (w->room != NULL || !many);
}

static void lane_work_close(tl_vm *vm, lane_work *w) {
  if (w->row)
    tl_free(vm, w->row, w->row_size);
  if (w->room)
    tl_free(vm, w->room, w->room_size);
}

static bool sort_lane(tl_vm *vm, const lane_work *w, char *data) {
  if (w->room == NULL ||
      (!vm->keeping && tl_sorts_in_parts(vm, w->dtype, data, w->n)))
    return tl_sort_items(vm, w->dtype, data, w->n, w->descending);
  return sort_in(vm, w->dtype, data, w->n, w->descending, w->room);
}

// Sorts every lane of a dense array in place. A lane whose items do not lie
// side by side is sorted in a row of its own; all lanes go through it in turn.
static bool sort_lanes(tl_vm *vm, tl_array *a, int axis, bool descending) {
  lane_work w = {.dtype = tl_array_dtype(a),
                 .n = tl_shape(a)[axis],
                 .descending = descending};
  unsigned size = tl_move_size(tl_itemsize(w.dtype));
  if (w.n < 2)
    return true;
  bool ok = lane_work_open(vm, a, axis, &w);
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 1, &a, axis);
  for (; ok && !lanes.done; tl_lanes_next(&lanes)) {
    if (w.row)
      tl_kernels()->pack[size](w.row, lanes.data[0], lanes.step[0],
                               (size_t)w.n);
    ok = sort_lane(vm, &w, w.row ? w.row : lanes.data[0]);
    // Written back also where it failed: strings must not get lost.
    if (w.row)
      tl_kernels()->unpack[size](lanes.data[0], lanes.step[0], w.row,
                                 (size_t)w.n);
  }
  lane_work_close(vm, &w);
  return ok;
}

// axis, descending and stable, the last of which changes nothing: every sort
// is stable.
static bool sort_arguments(tl_vm *vm, const char *function, tl_slot *args,
                           int *axis, bool *descending) {
  bool stable;
  if (!tl_arg_array(vm, function, &args[0]))
    return false;
  int ndim = tl_ndim(args[0].array);
  if (ndim == 0)
    return tl_fail(vm, TALLY_ERR_SHAPE, "%s: a scalar has no order", function);
  return tl_arg_axis(vm, function, args[1], ndim, -1, axis) &&
         tl_arg_bool(vm, function, "descending", args[2], descending) &&
         tl_arg_bool(vm, function, "stable", args[3], &stable);
}

// Each row of two axes of values that may be missing.
static bool sort_table(tl_vm *vm, tl_slot x, bool descending, bool order,
                       tl_slot *out) {
  int64_t shape[2] = {tl_value_length(x, 0), tl_value_length(x, 1)};
  tl_slot rows, sorted, items;
  if (!tl_ragged_of_regular(vm, x, &rows))
    return false;
  bool ok = tl_ragged_sort(vm, rows, descending, order, &sorted);
  tl_drop(vm, rows);
  if (!ok)
    return false;
  items = tl_retain(vm, tl_borrow(sorted.nested->parts[1]));
  tl_drop(vm, sorted);
  return tl_value_split_axis(vm, &items, 2, shape, out);
}

// Rows one by one; of values that may be missing, those come last.
static bool sort_nested(tl_vm *vm, tl_slot *args, bool order, tl_slot *out) {
  bool descending;
  int64_t axis = -1;
  const char *name = order ? "argsort" : "sort";
  if (!tl_arg_bool(vm, name, "descending", args[2], &descending) ||
      (!tl_is_none(args[1]) && !tl_arg_int(vm, name, "axis", args[1], &axis)))
    return false;
  if (tl_is_form(args[0], TL_FORM_RAGGED)) {
    if (axis != -1 && axis != 1)
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "%s: ragged rows are sorted within: axis: -1", name);
    return tl_ragged_sort(vm, args[0], descending, order, out);
  }
  if (tl_is_form(args[0], TL_FORM_OPTION) && tl_value_ndim(args[0]) == 2 &&
      (axis == -1 || axis == 1))
    return sort_table(vm, args[0], descending, order, out);
  tl_array *places;
  if (!tl_order_of(vm, name, args[0], descending, &places))
    return false;
  if (order) {
    *out = tl_own_array(places);
    return true;
  }
  bool ok = tl_value_take(vm, args[0], places, out);
  tl_drop(vm, tl_own_array(places));
  return ok;
}

// The items of one axis in the order of what key gives for each.
static bool sort_by_key(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool descending;
  int64_t n = tl_value_length(args[0], 0), made = 0;
  size_t nbytes = ((size_t)n + 1) * sizeof(tl_slot);
  tl_slot keys;
  tl_array *order;
  if (!tl_arg_bool(vm, "sort", "descending", args[2], &descending))
    return false;
  tl_slot *found = tl_alloc(vm, nbytes, "sort");
  bool ok = found != NULL;
  for (; ok && made < n; made += ok) {
    tl_slot item;
    ok = tl_nested_at(vm, args[0], made, &item);
    if (!ok)
      break;
    tl_hold(vm, item, TL_CAUSE_VIEW);
    ok = tl_call(vm, args[4], 1, &item, &found[made]);
  }
  ok = ok && tl_stack_any(vm, n, found, &keys);
  while (made > 0) tl_drop(vm, found[--made]);
  if (found != NULL)
    tl_free(vm, found, nbytes);
  if (!ok)
    return false;
  ok = tl_order_of(vm, "sort", keys, descending, &order);
  tl_drop(vm, keys);
  if (!ok)
    return false;
  ok = tl_value_take(vm, args[0], order, out);
  tl_drop(vm, tl_own_array(order));
  return ok;
}

static bool sort(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  bool descending;
  if (tl_is_nested(args[0]) && tl_is_none(args[4]))
    return sort_nested(vm, args, false, out);
  if (!tl_is_none(args[4]) && tl_value_ndim(args[0]) == 1)
    return sort_by_key(vm, args, out);
  if (tl_is_list(args[0])) {
    return tl_arg_bool(vm, "sort", "descending", args[2], &descending) &&
           tl_list_sort(vm, &args[0], descending, args[4], out);
  }
  if (!tl_is_none(args[4]))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "sort: key is for lists and arrays of one axis");
  if (!sort_arguments(vm, "sort", args, &axis, &descending))
    return false;
  // Several lanes of strings: one may find no memory when others are sorted.
  const tl_array *x = args[0].array;
  bool copies = vm->keeping && tl_array_dtype(x) == TL_STRING &&
                tl_shape(x)[axis] < x->size;
  tl_array *a = copies ? tl_array_copy(vm, x) : tl_take_dense(vm, &args[0]);
  if (!a)
    return false;
  if (!sort_lanes(vm, a, axis, descending)) {
    tl_put_back(vm, &args[0], tl_own_array(a));
    return false;
  }
  *out = tl_own_array(a);
  return true;
}

// A lane's items side by side at [to], in pieces between two polls.
static bool pack_lane(tl_vm *vm, char *to, const char *from, int64_t step,
                      int64_t n, size_t itemsize) {
  enum { PIECE = 1 << 17 };
  tl_pack *pack = tl_kernels()->pack[tl_move_size(itemsize)];
  for (int64_t i = 0; i < n; i += PIECE) {
    const int64_t count = n - i < PIECE ? n - i : PIECE;
    if (i > 0 && !tl_poll(vm, (uint64_t)count >> 10))
      return false;
    pack(to + (size_t)i * itemsize, from + i * step, step, (size_t)count);
  }
  return true;
}

// [dtype] is that of a's items; [order] may be a itself, lane by lane. Lanes
// whose items do not stand side by side, or are written over where threads
// share the work, are copied out.
static bool argsort_lanes(tl_vm *vm, tl_array *order, tl_array *a,
                          tl_dtype dtype, int axis, bool descending) {
  int64_t n = tl_shape(a)[axis];
  size_t itemsize = tl_itemsize(dtype);
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 2, (tl_array *[]){a, order}, axis);
  const bool copies = lanes.step[0] != (int64_t)itemsize ||
                      (order->data == a->data &&
                       tl_sorts_in_parts(vm, dtype, lanes.data[0], n));
  const bool apart = lanes.step[1] != (int64_t)sizeof(int64_t);
  // The order first, then the items, aligned for any dtype.
  size_t front = apart ? ((size_t)n * sizeof(int64_t) + 15) / 16 * 16 : 0;
  size_t nbytes = front + (copies ? ((size_t)n + 1) * itemsize : 0);
  char *scratch = nbytes > 0 ? tl_alloc(vm, nbytes, "argsort") : NULL;
  if (nbytes > 0 && !scratch)
    return false;
  bool ok = true;
  for (; ok && !lanes.done; tl_lanes_next(&lanes)) {
    const char *items = copies ? scratch + front : lanes.data[0];
    int64_t *lane = (int64_t *)(void *)(apart ? scratch : lanes.data[1]);
    ok = (!copies || pack_lane(vm, scratch + front, lanes.data[0],
                               lanes.step[0], n, itemsize)) &&
         tl_argsort_items(vm, dtype, lane, items, n, descending);
    if (apart)
      tl_kernels()->unpack[3](lanes.data[1], lanes.step[1], lane, (size_t)n);
  }
  if (scratch)
    tl_free(vm, scratch, nbytes);
  return ok;
}

static bool argsort(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  bool descending;
  if (tl_is_nested(args[0]))
    return sort_nested(vm, args, true, out);
  if (!sort_arguments(vm, "argsort", args, &axis, &descending))
    return false;
  tl_array *a = args[0].array;
  tl_dtype dtype = tl_array_dtype(a);
  tl_array *order = tl_array_over(vm, &args[0], TL_INT64);
  if (!order)
    return false;
  if (a->size > 0 && !argsort_lanes(vm, order, a, dtype, axis, descending)) {
    tl_drop(vm, tl_own_array(order));
    return false;
  }
  *out = tl_own_array(order);
  return true;
}

// --- searchsorted -----------------------------------------------------------

// Queries between two polls. Many at once make it worth to learn where ranges
// of the items begin; results over the queries' own memory go by few.
enum { BLOCK = 1 << 17, FEW = 1024 };

static void search_strings(int64_t *out, const tl_string_item *sorted,
                           int64_t m, const tl_string_item *queries, int64_t n,
                           bool right) {
  for (int64_t i = 0; i < n; i++) {
    int64_t low = 0, high = m;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      int order = tl_string_item_compare(&sorted[middle], &queries[i]);
      if (order < 0 || (right && order == 0))
        low = middle + 1;
      else
        high = middle;
    }
    out[i] = low;
  }
}

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
    if (dtype == TL_STRING)
      search_strings(out + i, tl_string_items(sorted), sorted->size,
                     tl_string_item_at(query), n, right);
    else
      tl_kernels()->search[dtype](out + i, sorted->data, (size_t)sorted->size,
                                  query, (size_t)n, right);
  }
  return true;
}

static bool search_side(tl_vm *vm, tl_slot s, bool *right) {
  *right = false;
  if (tl_is_none(s))
    return true;
  tl_string *side;
  if (!tl_arg_string(vm, "searchsorted", "side", s, &side))
    return false;
  *right = strcmp(side->text, "right") == 0;
  if (*right || strcmp(side->text, "left") == 0)
    return true;
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "searchsorted: side must be \"left\" or "
                 "\"right\", not \"%s\"",
                 side->text);
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
  tl_clear(vm, x);
  *x = sorted;
  return true;
}

static bool search_contiguous(tl_vm *vm, tl_slot *args, tl_dtype dtype,
                              bool right, tl_slot *out) {
  tl_slot sorted, queries;
  tl_array *found = NULL;
  if (!tl_as_contiguous(vm, "searchsorted", args[0], dtype, &sorted))
    return false;
  if (tl_take_contiguous(vm, "searchsorted", &args[1], dtype, &queries)) {
    const tl_array *q = queries.array;
    found = tl_array_over(vm, &queries, TL_INT64);
    if (found &&
        !tl_search_sorted(vm, sorted.array, q, right, (int64_t *)found->data)) {
      tl_drop(vm, tl_own_array(found));
      found = NULL;
    }
    tl_drop(vm, queries);
  }
  tl_drop(vm, sorted);
  if (found)
    *out = tl_result(vm, found);
  return found != NULL;
}

static tl_builtin_fn searchsorted;

// The place of what is missing is missing.
static bool search_present(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot places;
  if (!tl_call_beneath(vm, searchsorted, args, 4, 1u << 1, &places))
    return false;
  tl_slot mask = tl_retain(vm, tl_borrow(args[1].nested->parts[0]));
  return tl_option_of(vm, &mask, &places, out);
}

static bool searchsorted(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool right;
  tl_dtype dtype;
  if (tl_is_form(args[1], TL_FORM_OPTION))
    return search_present(vm, args, out);
  if (!search_side(vm, args[2], &right) ||
      !tl_arg_array(vm, "searchsorted", &args[0]))
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
         search_contiguous(vm, args, dtype, right, out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_sort_builtins[] = {
    {"sort", "x, axis: -1, descending: false, stable: true, key: none", sort,
     TL_CALLS | TL_STOPS, .restores = TL_ALL, .lifts = TL_INNERMOST,
     .takes = TL_BYTES,
     TL_DOC(
         "x with the items along an axis in order; NaN comes last. Items that are\n"
         "equal keep their order. A list is sorted too, by key(item) where key is\n"
         "given.\n"
         "An axis that x lacks is an error (kind index), items without an order one\n"
         "of kind type.\n"
         "    sort([3, 1, 2])    # [1, 2, 3]\n"
         "    sort([3, 1, 2], descending: true)    # [3, 2, 1]\n")},
    {"argsort", "x, axis: -1, descending: false, stable: true", argsort,
     .lifts = TL_INNERMOST, .takes = TL_BYTES,
     TL_DOC(
         "The positions that put the items of x in order: x[argsort(x)] is\n"
         "sorted.\n"
         "Any dtype; gives int64. An axis that x lacks is an error (kind index).\n"
         "    argsort([30, 10, 20])    # [1, 2, 0]\n")},
    {"searchsorted", "x1, x2, side: \"left\", sorter: none", searchsorted,
     .takes = TL_BYTES,
     TL_DOC(
         "Where the items of x2 would go in the sorted array x1 to keep it\n"
         "sorted: before equal items, or behind them where side is \"right\".\n"
         "sorter is argsort(x1) where x1 itself is not sorted.\n"
         "Any real dtypes or strings; gives int64. An x1 of more axes than one is\n"
         "an error (kind shape), another side one of kind value.\n"
         "    searchsorted([10, 20, 30], [5, 20, 35])    # [0, 1, 3]\n")},
    {.name = NULL},
};
