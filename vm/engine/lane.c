// Walking an axis slice: positions of the outer axes, and the items of a lane
// as contiguous pieces, packed and converted where they lie otherwise. See
// lane.h.

#include "vm/engine/lane.h"

#include "vm/vm.h"

// --- Positions --------------------------------------------------------------

// Positions are counted and not computed from a number: an addition a step
// instead of divisions.
void tl_counter_begin(tl_counter *counter, int ndim, const int64_t *shape,
                      const int64_t *strides, const char *base) {
  counter->ndim = ndim;
  counter->shape = shape;
  counter->strides = strides;
  counter->at = base;
  counter->done = false;
  for (int i = 0; i < ndim; i++) {
    counter->index[i] = 0;
    if (shape[i] == 0)
      counter->done = true;
  }
}

// An axis that has come to its end goes back to its first position, and the
// axis outside moves on.
void tl_counter_next(tl_counter *counter) {
  for (int i = counter->ndim - 1; i >= 0; i--) {
    counter->at += counter->strides[i];
    if (++counter->index[i] < counter->shape[i])
      return;
    counter->at -= counter->strides[i] * counter->shape[i];
    counter->index[i] = 0;
  }
  counter->done = true;
}

// --- Axes -------------------------------------------------------------------

// Appends an axis, or merges it with the one before.
static void add_axis(int *ndim, int64_t *shape, int64_t *strides,
                     int64_t length, int64_t stride) {
  int last = *ndim - 1;
  if (last >= 0 && strides[last] == stride * length) {
    shape[last] *= length;
    strides[last] = stride;
    return;
  }
  shape[*ndim] = length;
  strides[*ndim] = stride;
  ++*ndim;
}

// Axes of length 1 go to neither group, so that those around them can merge.
// [outer] is what the last longer axis says: it decides whether results or
// items lie side by side.
void tl_split_axes(const tl_array *array, uint32_t axes, tl_split *out) {
  out->array = array;
  out->kept = out->reduced = 0;
  out->count = out->length = 1;
  out->outer = false;
  for (int i = 0; i < tl_ndim(array); i++) {
    int64_t length = tl_shape(array)[i], stride = tl_strides(array)[i];
    bool reduced = (axes >> i & 1) != 0;
    *(reduced ? &out->length : &out->count) *= length;
    if (length == 1)
      continue;
    if (reduced) {
      add_axis(&out->reduced, out->reduced_shape, out->reduced_strides, length,
               stride);
    } else {
      add_axis(&out->kept, out->kept_shape, out->kept_strides, length, stride);
    }
    out->outer = !reduced;
  }
}

// Merging after the axes are ordered finds more to merge: a transposed array
// that is reduced over everything is one run again.
void tl_split_as_stored(tl_split *split, bool once) {
  tl_split from = *split;
  int axes[TL_MAX_DIMS];
  for (int i = 0; i < from.reduced; i++) axes[i] = i;
  tl_axes_by_stride(from.reduced, from.reduced_strides, axes);
  split->reduced = 0;
  // Axes that repeat items are the last ones then, but go first: what repeats
  // is read again as it lies. All of them may, of a scalar.
  const bool all = from.reduced == 0 || from.reduced_strides[axes[0]] == 0;
  for (int repeats = !once || all || from.length == 0; repeats >= 0; repeats--)
    for (int i = 0; i < from.reduced; i++)
      if ((from.reduced_strides[axes[i]] == 0) == repeats)
        add_axis(&split->reduced, split->reduced_shape, split->reduced_strides,
                 from.reduced_shape[axes[i]], from.reduced_strides[axes[i]]);
  split->length = tl_shape_count(split->reduced, split->reduced_shape);
  if (split->kept > 0 && split->reduced > 0) {
    const int64_t kept = split->kept_strides[split->kept - 1];
    const int64_t reduced = split->reduced_strides[split->reduced - 1];
    // What is reduced over repetitions of itself has its results side by side.
    split->outer =
        kept != 0 && (reduced == 0 || tl_distance(kept) < tl_distance(reduced));
  }
}

// --- Tiles of rows ----------------------------------------------------------

enum {
  // Fewer than LEAST_ROWS items of 8 bytes would leave parts of each line that
  // is read unused.
  ROW_TILE_ROWS = 32,
  LEAST_ROWS = 8,
  ROW_TILE_BYTES = 1024 * 1024,  // as long as that leaves LEAST_ROWS
  MOST_BYTES = 4096 * 1024,
  PART_OF = 4,  // of an array all of its tiles are so much, if there are some
  LINE = 64,
};

// Only rows that lie side by side, as the rows of a transposed matrix do: read
// alone, each item of such a row would take a cache line for itself.
bool tl_row_tile_open(tl_vm *vm, tl_row_tile *tile, tl_dtype dtype,
                      int64_t length, int64_t nrows, int64_t row_step,
                      int64_t column_step, int64_t count) {
  int64_t itemsize = (int64_t)tl_itemsize(dtype);
  if (nrows < LEAST_ROWS || row_step != itemsize || column_step == itemsize ||
      length > MOST_BYTES)
    return false;
  // An odd number of lines: rows a power of two apart would share a few places
  // of the nearest cache.
  int64_t row = (length * itemsize + LINE - 1) / LINE | 1;
  tile->row = row * LINE;
  tile->rows = ROW_TILE_BYTES / tile->row;
  if (tile->rows < LEAST_ROWS)
    tile->rows = LEAST_ROWS;
  if (tile->rows > ROW_TILE_ROWS)
    tile->rows = ROW_TILE_ROWS;
  tile->length = length;
  tile->itemsize = (size_t)itemsize;
  tile->nbytes = (size_t)(tile->rows * tile->row);
  if (tile->nbytes > MOST_BYTES)
    return false;
  const int64_t fit =
      length * nrows * itemsize / PART_OF / (int64_t)tile->nbytes;
  tile->count = count < fit ? count : fit < 1 ? 1 : fit;
  tile->room = (size_t)tile->count * tile->nbytes;
  tile->items = tl_alloc(vm, tile->room, "rows of a transposed array");
  if (tile->items == NULL)
    tl_error_clear(vm);  // it goes without
  return tile->items != NULL;
}

// The room is that of all tiles at once.
void tl_row_tile_close(tl_vm *vm, tl_row_tile *tile) {
  tl_free(vm, tile->items, tile->room);
}

// [count] is at most tile->rows. Row i of the tile begins tile->row * i bytes
// behind its first.
void tl_row_tile_fill(const tl_row_tile *tile, const char *from,
                      int64_t row_step, int64_t column_step, int64_t count) {
  tl_kernels()->pack_tile[tl_move_size(tile->itemsize)](
      tile->items, tile->row, from, row_step, column_step, (size_t)count,
      (size_t)tile->length);
}

// --- Lanes ------------------------------------------------------------------

// For the widest items a block is 4 KiB and a tile 16 KiB, both on the stack.
enum { BLOCK = 256, POLL_ITEMS = 64 * 1024, TILE_ROWS = 8, TILE_COLUMNS = 128 };

typedef struct walker {
  tl_vm *vm;
  const tl_lane *lane;
  tl_lane_fn *piece;
  void *context;
  // No more items are wanted: a piece has settled what is asked.
  bool ended;
} walker;

// Contiguous items, converted if need be.
static void give(walker *w, const char *items, size_t n) {
  tl_dtype from = w->lane->from, to = w->lane->dtype;
  if (from == to) {
    w->ended = !w->piece(w->context, items, n);
    return;
  }
  _Alignas(64) char converted[BLOCK * sizeof(tl_c128)];
  tl_kernel1 *cast = tl_kernels()->cast[from][to];
  for (size_t at = 0; at < n && !w->ended; at += BLOCK) {
    size_t count = n - at < BLOCK ? n - at : BLOCK;
    cast(converted, items + at * tl_itemsize(from), count);
    w->ended = !w->piece(w->context, converted, count);
  }
}

// Items of one axis: where they are if they have no gaps, in long pieces, since
// these cost nothing; else packed into a buffer that stays in the nearest
// cache.
static bool give_run(walker *w, const char *items, int64_t step, int64_t n) {
  int64_t itemsize = (int64_t)tl_itemsize(w->lane->from);
  _Alignas(64) char packed[BLOCK * sizeof(tl_c128)];
  bool plain = step == itemsize || n == 1;
  int64_t block = plain ? POLL_ITEMS : BLOCK;
  tl_pack *pack = tl_kernels()->pack[tl_move_size((size_t)itemsize)];
  for (int64_t at = 0; at < n && !w->ended; at += block) {
    int64_t count = n - at < block ? n - at : block;
    const char *from = items + at * step;
    if (!plain) {
      pack(packed, from, step, (size_t)count);
      from = packed;
    }
    give(w, from, (size_t)count);
    if (!tl_poll_items(w->vm, count))
      return false;
  }
  return true;
}

// Short rows of a transposed matrix: read by tiles, so that whole cache lines
// are used.
static bool give_tiles(walker *w, const char *base, int64_t nrows,
                       int64_t row_step, int64_t ncols, int64_t column_step) {
  size_t itemsize = tl_itemsize(w->lane->from);
  _Alignas(64) char tile[TILE_ROWS * TILE_COLUMNS * sizeof(tl_c128)];
  tl_pack_tile *pack = tl_kernels()->pack_tile[tl_move_size(itemsize)];
  int64_t step = TILE_ROWS * TILE_COLUMNS / ncols;
  for (int64_t row = 0; row < nrows && !w->ended; row += step) {
    int64_t count = nrows - row < step ? nrows - row : step;
    pack(tile, (ptrdiff_t)((size_t)ncols * itemsize), base + row * row_step,
         row_step, column_step, (size_t)count, (size_t)ncols);
    give(w, tile, (size_t)(count * ncols));
    if (!tl_poll_items(w->vm, count * ncols))
      return false;
  }
  return true;
}

// Long ones go by tiles of some rows each, which take memory of their own.
static bool give_row_tiles(walker *w, const tl_row_tile *tile, const char *base,
                           int64_t nrows, int64_t row_step,
                           int64_t column_step) {
  for (int64_t row = 0, count; row < nrows && !w->ended; row += count) {
    count = nrows - row < tile->rows ? nrows - row : tile->rows;
    tl_row_tile_fill(tile, base + row * row_step, row_step, column_step, count);
    for (int64_t i = 0; i < count && !w->ended; i++) {
      give(w, tile->items + i * tile->row, (size_t)tile->length);
      if (!tl_poll_items(w->vm, tile->length))
        return false;
    }
  }
  return true;
}

// The most frequent lane first: one dense axis of the dtype, in one piece.
// Otherwise the layout of the last axes chooses between runs, small tiles on
// the stack and tiles of rows in memory. Whichever it is, the items come in the
// same order, and folds do not see where pieces end.
bool tl_lane_walk(tl_vm *vm, const tl_lane *lane, tl_lane_fn *piece,
                  void *context) {
  if (lane->ndim == 1 && lane->from == lane->dtype &&
      lane->shape[0] <= POLL_ITEMS &&
      lane->strides[0] == (int64_t)tl_itemsize(lane->from)) {
    piece(context, lane->base, (size_t)lane->shape[0]);
    return tl_poll_items(vm, lane->shape[0]);
  }
  walker w = {vm, lane, piece, context, false};
  if (lane->ndim == 0)
    return give_run(&w, lane->base, 0, 1);
  int inner = lane->ndim - 1;
  int64_t length = lane->shape[inner], step = lane->strides[inner];
  bool tiles = inner > 0 && length > 0 && length <= TILE_COLUMNS, ok = true;
  int64_t nrows = inner > 0 ? lane->shape[inner - 1] : 1;
  int64_t row_step = inner > 0 ? lane->strides[inner - 1] : 0;
  tl_row_tile tile;
  // A worker has nobody to ask for memory, and reads long rows as they lie.
  bool row_tiles =
      vm != NULL && inner > 0 && !tiles &&
      tl_row_tile_open(vm, &tile, lane->from, length, nrows, row_step, step, 1);
  // Tiles have the last two axes.
  tl_counter counter;
  tl_counter_begin(&counter, inner - (tiles || row_tiles), lane->shape,
                   lane->strides, lane->base);
  for (; ok && !w.ended && !counter.done; tl_counter_next(&counter))
    ok = row_tiles
             ? give_row_tiles(&w, &tile, counter.at, nrows, row_step, step)
         : tiles ? give_tiles(&w, counter.at, nrows, row_step, length, step)
                 : give_run(&w, counter.at, step, length);
  if (row_tiles)
    tl_row_tile_close(vm, &tile);
  return ok;
}
