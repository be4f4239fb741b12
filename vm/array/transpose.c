// Putting items in order within their own memory. Where x.T, of a square
// matrix, or x[::-1] is all that is left of x, its items can be moved instead
// of copied:
//
//   . b c        . d g      tile b goes to d's place and d to b's,
//   d . f   ->   b . h      each transposed, through a small buffer
//   g h .        c f .
//
//   a b c d  ->  d c b a    a and d change places, and b and c
//   . b c d  ->  b c d
//
// Built for size.

#include "vm/array/reuse.h"
#include "vm/kernels/kernels.h"

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
  for (int64_t i = 0; i < width; i++)
    memcpy(mirror + i * row, kept + i * height * item,
           (size_t)height * itemsize);
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

// --- Reversed axes, and parts -----------------------------------------------

// Whether the slot has a view alone, and that its block, which has room for
// items of just this size.
static bool is_sole_view(const tl_vm *vm, tl_slot s) {
  if (!tl_is_array(s) || !tl_is_owned(s) || vm->no_reuse)
    return false;
  const tl_array *a = s.array, *block = tl_array_owner(a);
  const unsigned flags = TL_VIEW | TL_HOLD | TL_READONLY;
  return (a->head.flags & flags) == (TL_VIEW | TL_HOLD) && a->head.count == 1 &&
         block->head.count == 1 && (tl_array_tag(block) & TL_DIRECT) != 0 &&
         (block->head.flags & TL_EXTERNAL) == 0 &&
         tl_array_dtype(a) == tl_array_dtype(block) &&
         tl_array_dtype(a) < TL_STRING &&
         tl_is_worth_moving(vm, tl_item_bytes(a));
}

// Whether it shows all of the block as it lies, but for the direction of axes.
static bool is_flipped(const tl_array *a, const tl_array *block) {
  const char *first = a->data;
  if (tl_ndim(a) != tl_ndim(block))
    return false;
  for (int k = 0; k < tl_ndim(a); k++) {
    int64_t stride = tl_strides(a)[k], n = tl_shape(a)[k];
    bool turned = stride == -tl_strides(block)[k];
    if (n != tl_shape(block)[k] || (!turned && stride != tl_strides(block)[k]))
      return false;
    first += turned ? (n - 1) * stride : 0;
  }
  return first == block->data;
}

bool tl_exchange_pieces(tl_vm *vm, char *a, char *b, size_t nbytes) {
  for (size_t at = 0, n; at < nbytes; at += n) {
    n = nbytes - at < TL_COPY_PIECE ? nbytes - at : TL_COPY_PIECE;
    tl_exchange_bytes(a + at, b + at, n);
    if (n == TL_COPY_PIECE && !tl_poll_over(vm))
      return false;
  }
  return true;
}

// Exchanges n rows with those from the other end. Inlined with a constant
// [row], so that items of common sizes are moved in registers. *moved are the
// bytes since the last poll. False after tl_fail.
static inline __attribute__((always_inline)) bool turn_rows(tl_vm *vm, char *at,
                                                            size_t n,
                                                            size_t row,
                                                            size_t *moved) {
  char *low = at, *high = at + (n - 1) * row;
  for (; low < high; low += row, high -= row) {
    if (row < TL_COPY_PIECE)
      tl_exchange_bytes(low, high, row);
    if ((row >= TL_COPY_PIECE && !tl_exchange_pieces(vm, low, high, row)) ||
        ((*moved += row) >= TL_COPY_PIECE && !tl_poll_over(vm)))
      return false;
    *moved %= TL_COPY_PIECE;
  }
  return true;
}

// Turns the items round along an axis: what lies between two of its items moves
// with the first of them. False after tl_fail.
static bool reverse(tl_vm *vm, tl_array *block, int axis) {
  size_t row = (size_t)tl_strides(block)[axis], moved = 0;
  size_t n = (size_t)tl_shape(block)[axis];
  char *end = block->data + tl_item_bytes(block);
  bool ok = true;
  for (char *at = block->data; ok && at < end; at += n * row)
    ok = row == 8   ? turn_rows(vm, at, n, 8, &moved)
         : row == 4 ? turn_rows(vm, at, n, 4, &moved)
                    : turn_rows(vm, at, n, row, &moved);
  return ok;
}

// A part that lies in a row, as x[1:] does, moves to the front.
bool tl_array_settle(tl_vm *vm, tl_slot *s) {
  if (!is_sole_view(vm, *s))
    return true;
  tl_array *view = s->array, *block = tl_array_owner(view);
  bool is_part = tl_is_contiguous(view) && tl_ndim(view) <= tl_ndim(block);
  if (!is_part && !is_flipped(view, block))
    return true;
  // Before the first item moves: half of them moved would be neither.
  if (!tl_poll(vm, (uint64_t)block->size / 1024))
    return false;
  if (is_part &&
      !tl_move_bytes(vm, block->data, view->data, tl_item_bytes(view)))
    return false;
  for (int k = 0; !is_part && k < tl_ndim(view); k++)
    if (tl_strides(view)[k] < 0 && !reverse(vm, block, k))
      return false;
  // The view's count of the block becomes the slot's.
  view->head.flags &= (uint8_t)~TL_HOLD;
  *s = tl_own_array(block);
  if (is_part)
    *s = tl_own_array(tl_array_narrow(vm, s, tl_array_dtype(view),
                                      tl_ndim(view), tl_shape(view)));
  tl_drop(vm, tl_own_array(view));
  return true;
}
