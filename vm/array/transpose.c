// Transposing a square matrix within its own memory. Where x.T is all that is
// left of x, the items can be moved instead of copied:
//
//   . b c        . d g      tile b goes to d's place and d to b's,
//   d . f   ->   b . h      each transposed, through a small buffer
//   g h .        c f .

#include <string.h>

#include "vm/array/array.h"
#include "vm/kernels/kernels.h"
#include "vm/vm.h"

enum { TILE = 16, WIDEST = 16 };  // items of a tile's side, bytes of an item

// Whether the slot has, alone, a view of all of a square block with the axes
// exchanged, and the view has the block alone.
static bool is_transposed(tl_slot s) {
  if (!tl_is_array(s) || !tl_is_unique(s) || !tl_is_view(s.array))
    return false;
  const tl_array *a = s.array, *owner = tl_array_owner(a);
  const uint8_t not_ours = TL_IMMORTAL | TL_READONLY | TL_EXTERNAL;
  if ((a->head.flags & TL_HOLD) == 0 || owner->head.count != 1 ||
      (owner->head.flags & not_ours) != 0 || tl_ndim(a) != 2 ||
      tl_ndim(owner) != 2 || a->data != owner->data ||
      tl_array_dtype(a) != tl_array_dtype(owner))
    return false;
  const int64_t *strides = tl_strides(a), *rows = tl_strides(owner);
  const int64_t n = tl_shape(a)[0];
  return tl_shape(a)[1] == n && tl_shape(owner)[0] == n &&
         tl_shape(owner)[1] == n && tl_is_contiguous(owner) &&
         strides[0] == rows[1] && strides[1] == rows[0];
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

// The view is dropped; its hold on the block becomes the slot's ownership.
void tl_array_untranspose(tl_vm *vm, tl_slot *s) {
  if (vm->no_reuse || !is_transposed(*s))
    return;
  tl_array *owner = tl_array_owner(s->array);
  transpose(owner);
  // The view's count of its block becomes the slot's; dropping the view must
  // not take it away.
  s->array->head.flags &= (uint8_t)~TL_HOLD;
  tl_drop(vm, *s);
  *s = tl_own_array(owner);
}
