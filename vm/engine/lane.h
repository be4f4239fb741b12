// Lanes: the items that one result of a reduction is made of, in row-major
// order of the reduced axes, whatever the array's layout.
#pragma once

#include "vm/array/array.h"
#include "vm/kernels/kernels.h"

// Items in logical order, given in contiguous pieces of [dtype].
typedef struct tl_lane {
  const char *base;
  int ndim;
  const int64_t *shape, *strides;  // bytes
  tl_dtype from;                   // of the items in memory
  tl_dtype dtype;                  // of what is handed out
} tl_lane;

// Takes the next [n] items of a lane, contiguous and of the lane's dtype; they
// may be in a buffer that the next call writes over. False: no more are wanted.
typedef bool tl_lane_fn(void *context, const void *items, size_t n);

// Some rows of a transposed array put side by side, so that whole cache lines
// of it are used.
//
//   a0 b0 c0  a1 b1 c1  a2 b2 c2   ──▶   a0 a1 a2 . b0 b1 b2 . c0 c1 c2 .
//   items of rows a, b and c             a tile, each row on lines of its own
typedef struct tl_row_tile {
  char *items;
  int64_t rows, length;  // rows at most, items of each
  int64_t row;           // bytes from one to the next
  int64_t count;         // tiles
  // Of an item; bytes of a tile; of all tiles, which are one block.
  size_t itemsize, nbytes, room;
} tl_row_tile;
// Memory for [count] tiles, nbytes each, of an array of [nrows] rows, steps in
// bytes; for fewer where they would be more than a quarter of the array, for
// one at least. False: it has no such layout, or there is no memory, which is
// no error, and it is read as it lies.
bool tl_row_tile_open(tl_vm *vm, tl_row_tile *tile, tl_dtype dtype,
                      int64_t length, int64_t nrows, int64_t row_step,
                      int64_t column_step, int64_t count);
// After tl_row_tile_open gave true only.
void tl_row_tile_close(tl_vm *vm, tl_row_tile *tile);
// Fills it with [count] rows from [from] on.
void tl_row_tile_fill(const tl_row_tile *tile, const char *from,
                      int64_t row_step, int64_t column_step, int64_t count);

// Hands out all items; false where the VM was stopped (NULL: a worker's, which
// polls nothing). A piece that wants no more ends the walk, which is no failure. With a VM it
// may allocate a tile of rows, and goes without where there is no memory.
bool tl_lane_walk(tl_vm *vm, const tl_lane *lane, tl_lane_fn *piece,
                  void *context);

// An array's axes in two groups, each without axes of length 1 and merged.
typedef struct tl_split {
  const tl_array *array;
  int kept, reduced;  // how many axes
  int64_t kept_shape[TL_MAX_DIMS], kept_strides[TL_MAX_DIMS];
  int64_t reduced_shape[TL_MAX_DIMS], reduced_strides[TL_MAX_DIMS];
  int64_t count;   // results
  int64_t length;  // items of each
  // The last axis is kept: results lie side by side, and go together. Then the
  // last kept axis is the columns.
  bool outer;
} tl_split;

// [axes] has a bit for each axis that is reduced. Both groups stay in row-major
// order, so that the items of a result come in their logical order.
//
//   2 * 3 * 4 dense, axes 0b110     kept 2, reduced 12 (merged)
//   2 * 3 * 4 dense, axes 0b101     kept 3, reduced 2 and 4
void tl_split_axes(const tl_array *array, uint32_t axes, tl_split *out);
// Where the order of the reduced items does not count: theirs in memory. Each
// item [once]: where it does not count either how often one is there.
void tl_split_as_stored(tl_split *split, bool once);

// Walks positions of the first [ndim] axes in row-major order.
typedef struct tl_counter {
  int ndim;
  const int64_t *shape, *strides;
  int64_t index[TL_MAX_DIMS];
  const char *at;
  bool done;
} tl_counter;
// [shape] and [strides] are borrowed as long as the counter is used. With ndim
// 0 there is one position; with an axis of length 0 there is none.
//
//   shape 2 * 3, strides 100 and 8     base + 0, 8, 16, 100, 108, 116
void tl_counter_begin(tl_counter *counter, int ndim, const int64_t *shape,
                      const int64_t *strides, const char *base);
// To the next position, whose address is [at]; sets [done] behind the last one.
// Not to be called after that.
void tl_counter_next(tl_counter *counter);
