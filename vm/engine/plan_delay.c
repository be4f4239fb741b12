// Delayed results: see plan_delay.h.
#include "vm/engine/plan_delay.h"

#include <string.h>

#include "vm/vm.h"

enum { DELAY_BYTES = 1024 * 1024 };  // at most that wait

// Whether items in row-major order have rising addresses, no two the same: each
// axis steps over all that the axes inside it cover. A block that waits is then
// below all later ones.
static bool is_rising(const tl_plan *plan) {
  const int64_t *strides = plan->streams[plan->output].strides;
  int64_t end = plan->values[plan->output].itemsize;
  for (int i = plan->ndim - 1; i >= 0; i--) {
    if (strides[i] < end)
      return false;
    end += (plan->shape[i] - 1) * strides[i];
  }
  return true;
}

// The ring has the blocks that lie within [behind] bytes and three more: the
// one that is computed, the one that [behind] ends in, and one for a block that
// is cut off at a row's end; and no more than there are. Where nothing is read
// behind its place, each block finds the one before it done.
bool tl_delay_fits(const tl_plan *plan, tl_plan_delay *delay, int64_t behind) {
  if (plan->size == 0 || plan->tile_count > 0 || !is_rising(plan))
    return false;
  const int64_t *strides = plan->streams[plan->output].strides;
  int inner = plan->ndim - 1;
  int64_t length = plan->shape[inner];
  int64_t block = TL_BLOCK_BYTES / (int64_t)plan->widest;
  if (plan->rows == 1)
    block = tl_plan_row_block(plan, block);
  int64_t blocks = (length + block - 1) / block;  // of a row
  int64_t most = plan->ndim == 1
                     ? behind / (block * strides[inner]) + 3
                     : blocks * (behind / strides[inner - 1] + 3);
  int64_t all = plan->size / length * blocks;
  if (plan->rows > 1) {  // several of them in a block
    int64_t rows = plan->shape[inner - 1], each = block / length;
    each = each < 1 ? 1 : each;
    all = all / rows * ((rows + each - 1) / each);
  }
  delay->behind = behind;
  delay->capacity = behind == 0 ? 1 : most < all ? most : all;
  return delay->capacity <= DELAY_BYTES / TL_BLOCK_BYTES;
}

// One allocation: the slots, aligned to a cache line, and what waits in each
// behind them.
bool tl_delay_open(tl_vm *vm, tl_plan_delay *delay) {
  size_t count = (size_t)delay->capacity;
  delay->nbytes = count * (TL_BLOCK_BYTES + sizeof *delay->waiting) + 64;
  delay->block = tl_alloc(vm, delay->nbytes, "results that wait");
  if (delay->block == NULL)
    return false;
  delay->slots = (char *)(((uintptr_t)delay->block + 63) / 64 * 64);
  delay->waiting =
      (tl_waiting *)(void *)(delay->slots + count * TL_BLOCK_BYTES);
  delay->first = delay->count = 0;
  return true;
}

// A plain run is copied, anything else is scattered item by item.
void tl_plan_store(const tl_plan *plan, char *to, const char *from,
                   size_t nrows, size_t ncols) {
  const int64_t *strides = plan->streams[plan->output].strides;
  size_t itemsize = plan->values[plan->output].itemsize;
  int inner = plan->ndim - 1;
  unsigned size = tl_move_size(itemsize);
  for (size_t row = 0; row < nrows; row++) {
    if (strides[inner] == (int64_t)itemsize) {
      memcpy(to, from, ncols * itemsize);
    } else {
      tl_kernels()->unpack[size](to, strides[inner], from, ncols);
    }
    if (row + 1 == nrows)
      break;
    to += strides[inner - 1];
    from += ncols * itemsize;
  }
}

// First in, first out: blocks were computed in order of address, so the oldest
// is the lowest.
void tl_delay_store(const tl_plan *plan, tl_plan_delay *delay) {
  const tl_waiting *w = &delay->waiting[delay->first];
  tl_plan_store(plan, w->to, delay->slots + delay->first * TL_BLOCK_BYTES,
                w->nrows, w->ncols);
  delay->first = delay->first + 1 == delay->capacity ? 0 : delay->first + 1;
  delay->count--;
}

// What is left has no reader any more, since all blocks have been computed.
void tl_delay_close(tl_vm *vm, const tl_plan *plan, tl_plan_delay *delay) {
  while (delay->count > 0) tl_delay_store(plan, delay);
  tl_free(vm, delay->block, delay->nbytes);
}
