// Transposing a square matrix within its own memory. Where x.T is all that is
// left of x, the items can be moved instead of copied:
//
//   . b c        . d g      tile b goes to d's place and d to b's,
//   d . f   ->   b . h      each transposed, through a small buffer
//   g h .        c f .
//
// Built for size.

#include <string.h>

#include "vm/array/array.h"
#include "vm/array/reuse.h"
#include "vm/kernels/kernels.h"
#include "vm/vm.h"

enum { TILE = 16, WIDEST = 16 };  // items of a tile's side, bytes of an item

// Whether the slot has a square matrix and its block alone, whose columns lie
// behind one another: what is left of x where x.T is.
static bool is_transposed(const tl_vm *vm, tl_slot s) {
  if (!tl_is_array(s) || !tl_is_dying(vm, s) || tl_ndim(s.array) != 2 ||
      (s.array->head.flags & TL_EXTERNAL) != 0)
    return false;
  const int64_t *shape = tl_shape(s.array), *strides = tl_strides(s.array);
  int64_t itemsize = (int64_t)tl_itemsize(tl_array_dtype(s.array));
  return shape[0] == shape[1] && strides[0] == itemsize &&
         strides[1] == itemsize * shape[0];
}

// Exchanges a tile with its mirror image, each transposed. [row] is the bytes
// of a matrix row; on the diagonal both are the same tile.
static void swap_tiles(char *tile, char *mirror, int64_t row, size_t itemsize,
                       int64_t height, int64_t width) {
  char kept[TILE * TILE * WIDEST];
  tl_pack_tile *pack = tl_kernels()->pack_tile[tl_move_size(itemsize)];
  int64_t item = (int64_t)itemsize;
  // kept, of width rows, is the tile transposed.
  pack(kept, height * item, tile, item, row, (size_t)width, (size_t)height);
  if (tile != mirror)
    pack(tile, row, mirror, item, row, (size_t)height, (size_t)width);
  for (int64_t i = 0; i < width; i++) {
    memcpy(mirror + i * row, kept + i * height * item,
           (size_t)height * itemsize);
  }
}

// Transposes the square matrix tile by tile: each tile above the diagonal with
// the one below it.
static void transpose(tl_array *a) {
  size_t itemsize = tl_itemsize(tl_array_dtype(a));
  int64_t n = tl_shape(a)[0], item = (int64_t)itemsize, row = n * item;
  for (int64_t i = 0; i < n; i += TILE) {
    int64_t height = n - i < TILE ? n - i : TILE;
    for (int64_t j = i; j < n; j += TILE) {
      int64_t width = n - j < TILE ? n - j : TILE;
      swap_tiles(a->data + i * row + j * item, a->data + j * row + i * item,
                 row, itemsize, height, width);
    }
  }
}

// Asks for no memory. The slot's tag says that items lie in rows, so it changes
// with the order of the axes.
void tl_array_untranspose(tl_vm *vm, tl_slot *s) {
  if (!is_transposed(vm, *s))
    return;
  tl_array *a = s->array;
  int64_t *strides = tl_strides(a), row = strides[1];
  transpose(a);
  strides[1] = strides[0];
  strides[0] = row;
  *s = tl_own_array(a);
}
