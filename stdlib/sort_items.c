// Sorting items of any dtype: some that lie side by side, and the lanes of an
// array along an axis.

#include "stdlib/arrays.h"
#include "stdlib/sort_parts.h"
#include "vm/array/string_item.h"
#include "vm/kernels/sort.h"
#include "vm/poll.h"

bool tl_touch(tl_vm *vm, void *block, size_t nbytes) {
  tl_stop stop = tl_stop_of(vm);
  tl_sort_touch(block, nbytes, &stop);
  return !stop.stopped;
}

// --- Items ------------------------------------------------------------------

// [out] may be items itself, where these have 8 bytes; threads could not share
// the work then, as each reads what others write.
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
  for (int64_t i = 0; i < n && tl_poll_ok(vm, i, &ok); i++)
    sorted[i] = items[order[i]];
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

// Sorts with memory that was made before.
static bool sort_in(tl_vm *vm, tl_dtype dtype, void *items, int64_t n,
                    bool descending, void *room) {
  tl_stop stop = tl_stop_of(vm);
  return tl_poll(vm, (uint64_t)n >> 10) &&
         tl_sort(dtype, items, (size_t)n, descending, room, &stop);
}

// Strings by their order, large arrays by several threads, all else here.
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

// Positions where an item differs from the one before it; returns how many
// there are. [out] has room for n.
int64_t tl_run_positions(tl_vm *vm, tl_dtype dtype, int64_t *out,
                         const void *sorted, int64_t n) {
  if (dtype != TL_STRING)
    return (int64_t)tl_run_starts(dtype, out, sorted, (size_t)n);
  const tl_string_item *items = sorted;
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || !tl_string_item_equal(vm, &items[i - 1], &items[i]))
      out[count++] = i;
    if (!tl_poll_text(vm, tl_string_item_length(&items[i])))
      return -1;
  }
  return count;
}

// --- Lanes ------------------------------------------------------------------

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

// A single lane needs no memory of its own: it is sorted as items are. Close it
// on failure, too.
static bool lane_work_open(tl_vm *vm, const tl_array *a, int axis,
                           lane_work *w) {
  size_t itemsize = tl_itemsize(w->dtype);
  // Whether lanes must be copied to a row and back.
  bool apart = tl_strides(a)[axis] != (int64_t)itemsize;
  bool many = w->n < a->size && w->dtype != TL_STRING;
  w->row_size = (size_t)w->n * itemsize;
  w->row = apart ? tl_alloc(vm, w->row_size, "sort") : NULL;
  w->room = many ? sort_room(vm, w->dtype, w->n, &w->room_size) : NULL;
  return (w->row != NULL || !apart) && (w->room != NULL || !many);
}

// Frees what was made, also after a failure halfway.
static void lane_work_close(tl_vm *vm, lane_work *w) {
  tl_free(vm, w->row, w->row_size);
  tl_free(vm, w->room, w->room_size);
}

// Sorts a dense lane. Threads take more memory, which may be lacking when other
// lanes are sorted already: so they share the work only where x need not be put
// back as it was (vm->keeping).
static bool sort_lane(tl_vm *vm, const lane_work *w, char *data) {
  if (w->room == NULL ||
      (!vm->keeping && tl_sorts_in_parts(vm, w->dtype, data, w->n)))
    return tl_sort_items(vm, w->dtype, data, w->n, w->descending);
  return sort_in(vm, w->dtype, data, w->n, w->descending, w->room);
}

// Short lanes are sorted side by side, as many as a row of keys has. A row that
// is nearly empty is not worth it, nor, beyond FEW items, one that is not full.
enum { FEW = 128, LEAST_OF_ROW = 4 };

// Lanes with one distance from each to the next: all of them where the axis is
// the last one, else those that begin within an item of the axis before.
typedef struct neighbours {
  int64_t sets, lanes;      // in each set
  int64_t set, lane, item;  // bytes from one to the next
} neighbours;

// The lanes of a dense array; false where they are not for the network.
static bool find_neighbours(const tl_array *a, int axis, neighbours *out) {
  const tl_dtype dtype = tl_array_dtype(a);
  const int64_t n = tl_shape(a)[axis], size = (int64_t)tl_itemsize(dtype);
  if (dtype == TL_STRING || tl_dtype_is_complex(dtype) || n > TL_SORT_BESIDE ||
      !tl_kernels()->sort_columns[0] || !tl_is_contiguous(a))
    return false;
  const int64_t inner = tl_strides(a)[axis] / size, all = a->size / n;
  *out = inner == 1 ? (neighbours){1, all, 0, n * size, size}
                    : (neighbours){all / inner, inner, n * inner * size, size,
                                   inner * size};
  return out->lanes * size * (n > FEW ? 1 : LEAST_OF_ROW) >= TL_SORT_ROW;
}

// Sorts up to a row's lanes that begin at [data]: they become the columns of
// [rows], whose other columns have any keys.
static void sort_row_of_lanes(const tl_array *a, const neighbours *l,
                              char *data, int64_t lanes, bool descending,
                              char *rows) {
  const tl_dtype dtype = tl_array_dtype(a);
  const size_t size = tl_itemsize(dtype);
  const int64_t n = a->size / (l->sets * l->lanes);
  tl_pack_tile *pack = tl_kernels()->pack_tile[tl_move_size(size)];
  pack(rows, TL_SORT_ROW, data, l->item, l->lane, (size_t)n, (size_t)lanes);
  tl_sort_side_by_side(dtype, rows, (size_t)n, descending);
  if (l->item == (int64_t)size)
    pack(data, l->lane, rows, (ptrdiff_t)size, TL_SORT_ROW, (size_t)lanes,
         (size_t)n);
  else
    pack(data, l->item, rows, TL_SORT_ROW, (ptrdiff_t)size, (size_t)n,
         (size_t)lanes);
}

// Sorts all lanes, set by set and row by row.
static bool sort_neighbours(tl_vm *vm, tl_array *a, const neighbours *l,
                            int64_t n, bool descending) {
  const int64_t width = TL_SORT_ROW / (int64_t)tl_itemsize(tl_array_dtype(a));
  const size_t nbytes = (size_t)n * TL_SORT_ROW;
  char *rows = tl_alloc(vm, nbytes, "sort");
  bool ok = rows != NULL;
  if (ok)
    memset(rows, 0, nbytes);
  for (int64_t set = 0; ok && set < l->sets; set++)
    for (int64_t i = 0; ok && i < l->lanes; i += width) {
      const int64_t lanes = l->lanes - i < width ? l->lanes - i : width;
      sort_row_of_lanes(a, l, a->data + set * l->set + i * l->lane, lanes,
                        descending, rows);
      ok = tl_poll(vm, (uint64_t)(n * width) >> 10);
    }
  if (rows)
    tl_free(vm, rows, nbytes);
  return ok;
}

// Moves a lane's items to a row, in which they lie side by side, or [back], in
// pieces between two polls.
static bool move_lane(tl_vm *vm, char *row, char *lane, int64_t step, int64_t n,
                      size_t itemsize, bool back) {
  const unsigned size = tl_move_size(itemsize);
  for (size_t i = 0, end = 0; i < (size_t)n; i = end) {
    char *side = row + i * itemsize, *apart = lane + (int64_t)i * step;
    if (!tl_poll_piece(vm, i, (size_t)n, &end))
      return false;
    if (back)
      tl_kernels()->unpack[size](apart, step, side, end - i);
    else
      tl_kernels()->pack[size](side, apart, step, end - i);
  }
  return true;
}

// A lane whose items do not lie side by side is sorted in a row of its own; all
// lanes go through it in turn.
bool tl_sort_lanes(tl_vm *vm, tl_array *a, int axis, bool descending) {
  lane_work w = {.dtype = tl_array_dtype(a),
                 .n = tl_shape(a)[axis],
                 .descending = descending};
  const size_t size = tl_itemsize(w.dtype);
  neighbours near;
  if (w.n < 2 || a->size == 0)
    return true;
  if (find_neighbours(a, axis, &near))
    return sort_neighbours(vm, a, &near, w.n, descending);
  bool ok = lane_work_open(vm, a, axis, &w);
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 1, &a, axis);
  for (; ok && !lanes.done; tl_lanes_next(&lanes)) {
    ok = (w.row == NULL || move_lane(vm, w.row, lanes.data[0], lanes.step[0],
                                     w.n, size, false)) &&
         sort_lane(vm, &w, w.row ? w.row : lanes.data[0]);
    // Strings only change places: were it stopped halfway, some would have two
    // owners.
    if (ok && w.row && w.dtype == TL_STRING)
      tl_kernels()->unpack[tl_move_size(size)](lanes.data[0], lanes.step[0],
                                               w.row, (size_t)w.n);
    else if (ok && w.row)
      ok = move_lane(vm, w.row, lanes.data[0], lanes.step[0], w.n, size, true);
  }
  lane_work_close(vm, &w);
  return ok;
}

// Lanes whose items do not stand side by side, or are written over where
// threads share the work, are copied out.
bool tl_argsort_lanes(tl_vm *vm, tl_array *order, tl_array *a, tl_dtype dtype,
                      int axis, bool descending) {
  int64_t n = tl_shape(a)[axis];
  size_t itemsize = tl_itemsize(dtype);
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 2, (tl_array *[]){a, order}, axis);
  // Sorting reads dense items; and where the order goes over them and threads
  // share the work, they read a copy.
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
    ok = (!copies || move_lane(vm, scratch + front, lanes.data[0],
                               lanes.step[0], n, itemsize, false)) &&
         tl_argsort_items(vm, dtype, lane, items, n, descending) &&
         (!apart || move_lane(vm, scratch, lanes.data[1], lanes.step[1], n,
                              sizeof *lane, true));
  }
  tl_free(vm, scratch, nbytes);
  return ok;
}
