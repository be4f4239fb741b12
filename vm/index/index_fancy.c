// Index arrays and masks: the positions they come to, and moving items there.
//
//     x[mask, :, idx]
//       mask ─ true_indices ─▶ places ┐
//       idx  ─ wrapped, checked ──────┴ broadcast, times strides ─▶ offsets
//     tl_gather_items   reads at each position: a new array
//     tl_scatter_items  writes there, after all positions were checked
//
// Built for size.
#include <inttypes.h>

#include "vm/index/select.h"
#include "vm/array/string_item.h"
#include "vm/kernels/kernels.h"
#include "vm/poll.h"

enum {
  BLOCK = 512,            // positions that are worked out at a time
  POLL_EACH = 64 * 1024,  // positions between looks for an interrupt
  CACHED = 1 << 20        // bytes that the nearer caches hold
};

// --- Masks ------------------------------------------------------------------

// By the kernel that counts, which adds up whole vectors.
int64_t tl_count_bools(const void *items, int64_t n) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_fold_state state;
  int64_t count;
  tl_fold_begin(&state);
  kernels->fold_feed[TL_FOLD_COUNT][TL_BOOL](&state, items, (size_t)n);
  kernels->fold_end[TL_FOLD_COUNT][TL_BOOL](&state, &count);
  return count;
}

// How many of [size] items a piece from [at] on has.
static int64_t piece_at(int64_t size, int64_t at) {
  return size - at < POLL_EACH ? size - at : POLL_EACH;
}

int64_t tl_count_true(tl_vm *vm, const tl_array *dense_mask) {
  int64_t count = 0;
  for (int64_t at = 0, n; at < dense_mask->size; at += n) {
    n = piece_at(dense_mask->size, at);
    count += tl_count_bools(dense_mask->data + at, n);
    if (!tl_poll_items(vm, n / 4))  // vectors of them take a nanosecond
      return -1;
  }
  return count;
}

// Piece by piece, as the beginning of most masks says so already.
bool tl_has_true(const tl_array *dense_mask, int64_t least) {
  for (int64_t at = 0; at < dense_mask->size && least > 0; at += POLL_EACH)
    least -=
        tl_count_bools(dense_mask->data + at, piece_at(dense_mask->size, at));
  return least <= 0;
}

bool tl_true_positions(tl_vm *vm, const tl_array *dense_mask, int64_t *out) {
  const uint8_t *mask = (const uint8_t *)dense_mask->data;
  for (int64_t at = 0; at < dense_mask->size; at += POLL_EACH) {
    const int64_t n = piece_at(dense_mask->size, at);
    out += tl_kernels()->true_indices(out, mask + at, at, (size_t)n);
    if (!tl_poll(vm, (uint64_t)n / 1024))
      return false;
  }
  return true;
}

// Whether the axes [first, first + count) of [a] lie as one, so that a place
// among them times one stride is an offset.
// Then the places need not be taken apart into indices, which costs a division
// for each axis.
static bool axes_merge(const tl_array *a, int first, int count) {
  for (int i = first; i < first + count - 1; i++)
    if (tl_strides(a)[i] != tl_strides(a)[i + 1] * tl_shape(a)[i + 1])
      return false;
  return true;
}

// Such masks need no positions but those of a block: a kernel goes over array
// and mask together, where the items lie side by side.
const tl_array *tl_whole_mask(const tl_array *base, const tl_step *step,
                              const tl_slot *parts) {
  if (step->item_count != 1 || step->items[0].kind != TL_ITEM_VALUE ||
      !tl_is_array(parts[0])) {
    return NULL;
  }
  const tl_array *mask = parts[0].array;
  if (mask->head.dtype != TL_BOOL || base->head.dtype == TL_STRING ||
      tl_ndim(mask) == 0 || !tl_has_shape(mask, tl_ndim(base), tl_shape(base)))
    return NULL;
  return tl_is_contiguous(mask) && axes_merge(base, 0, tl_ndim(base)) ? mask
                                                                      : NULL;
}

// Moves the items at true places of [n] from [at] on, which lie at one
// distance: to [dense], or with [puts] from there, [one] to all. Returns how
// many lie there now, or were needed but for [one].
static size_t move_chosen(const tl_array *a, const uint8_t *mask, int64_t at,
                          int64_t n, char *dense, bool puts, bool one) {
  const tl_kernel_table *kernels = tl_kernels();
  const size_t size = tl_itemsize(tl_array_dtype(a));
  const int64_t stride = tl_strides(a)[tl_ndim(a) - 1];
  const unsigned move = tl_move_size(size);
  int64_t index[BLOCK];
  size_t moved = 0;
  for (int64_t end = at + n; at < end; at += BLOCK) {
    char *to = dense + moved * size;
    size_t count = kernels->true_indices(
        index, mask + at, at, (size_t)(end - at < BLOCK ? end - at : BLOCK));
    if (puts)
      kernels->put[move](a->data, stride, index, to, count);
    else
      kernels->take[move](to, a->data, stride, index, count);
    moved += one ? 0 : count;
  }
  return moved;
}

// Counts first, so that the result has just the room that it needs.
tl_array *tl_compress_items(tl_vm *vm, const tl_array *a,
                            const tl_array *mask) {
  const size_t size = tl_itemsize(tl_array_dtype(a));
  int64_t count = tl_count_true(vm, mask);
  tl_array *out =
      count < 0 ? NULL : tl_array_new(vm, tl_array_dtype(a), 1, &count);
  char *to = out != NULL ? out->data : NULL;
  for (int64_t at = 0; out != NULL && at < a->size; at += POLL_EACH) {
    const int64_t n = piece_at(a->size, at);
    const uint8_t *chosen = (const uint8_t *)mask->data;
    to += size *
          (tl_is_contiguous(a)
               ? tl_kernels()->compress[tl_move_size(size)](
                     to, a->data + (size_t)at * size, chosen + at, (size_t)n)
               : move_chosen(a, chosen, at, n, to, false, false));
    if (n == POLL_EACH && !tl_poll(vm, POLL_EACH / 1024)) {
      tl_array_drop(vm, out);
      return NULL;
    }
  }
  return out;
}

// Few indices of one axis need no selection either, where all are in range and
// x does not end here: an index that is not leaves the general path to say so.
// Strided indices are packed.
bool tl_gather_few(tl_vm *vm, tl_slot base, const tl_step *step,
                   const tl_slot *parts, tl_slot *out) {
  const tl_array *a = base.array;
  if (step->item_count != 1 || step->items[0].kind != TL_ITEM_VALUE ||
      !tl_is_array(parts[0]) || tl_ndim(a) != 1 || tl_is_owned(base))
    return false;
  const tl_array *index = parts[0].array;
  const int64_t *at = (const int64_t *)(const void *)index->data;
  const size_t n = (size_t)index->size;
  const tl_dtype dtype = tl_array_dtype(a);
  int64_t packed[BLOCK];
  if (index->head.dtype != TL_INT64 || dtype == TL_STRING || n > BLOCK)
    return false;
  if (!tl_is_contiguous(index)) {
    if (tl_ndim(index) != 1)
      return false;
    tl_kernels()->pack[tl_move_size(sizeof *at)](packed, index->data,
                                                 tl_strides(index)[0], n);
    at = packed;
  }
  if (!tl_kernels()->indices_within(at, tl_shape(a)[0], n))
    return false;
  tl_array *made = tl_array_new(vm, dtype, tl_ndim(index), tl_shape(index));
  if (made == NULL)
    return false;
  tl_kernels()->take[tl_move_size(tl_itemsize(dtype))](made->data, a->data,
                                                       tl_strides(a)[0], at, n);
  *out = tl_own_array(made);
  return true;
}

// One value for all chosen items of dense [a]: select(mask, value, x) block by
// block.
static void fill_masked(char *items, size_t itemsize, const uint8_t *mask,
                        const char *splat, int64_t n) {
  for (int64_t i = 0; i < n; i += BLOCK) {
    char *block = items + (size_t)i * itemsize;
    tl_kernels()->select[tl_move_size(itemsize)](
        block, mask + i, splat, block, (size_t)(n - i < BLOCK ? n - i : BLOCK));
  }
}

// The kernel reads value's items one after the other as it meets true bytes, so
// there must be just as many; one item for all goes by select, which has no
// such counter and runs at full width.
bool tl_expand_items(tl_vm *vm, tl_array *a, const tl_array *mask,
                     const tl_array *value) {
  const uint8_t *chosen = (const uint8_t *)mask->data;
  const size_t itemsize = tl_itemsize(tl_array_dtype(a));
  const unsigned move = tl_move_size(itemsize);
  const bool one = value->size == 1, dense = tl_is_contiguous(a);
  _Alignas(64) char splat[BLOCK * sizeof(tl_c128)];
  char *from = one ? splat : value->data;
  if (one)
    tl_kernels()->fill[move](splat, value->data,
                             (size_t)(a->size < BLOCK ? a->size : BLOCK));
  for (int64_t at = 0; at < a->size; at += POLL_EACH) {
    const int64_t n = piece_at(a->size, at);
    char *items = a->data + (size_t)at * itemsize;
    if (dense && one)
      fill_masked(items, itemsize, chosen + at, splat, n);
    else
      from +=
          itemsize * (dense ? tl_kernels()->expand[move](items, chosen + at,
                                                         from, (size_t)n)
                            : move_chosen(a, chosen, at, n, from, true, one));
    if (!tl_poll_over(vm))
      return false;
  }
  return true;
}

// --- Making positions -------------------------------------------------------

// Turns places in row-major order within the axes [first, first + count) into
// byte offsets.
static void offsets_of_places(const tl_array *a, int first, int count,
                              int64_t *index, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    int64_t place = index[i], offset = 0;
    for (int k = first + count - 1; k >= first; k--) {
      offset += place % tl_shape(a)[k] * tl_strides(a)[k];
      place /= tl_shape(a)[k];
    }
    index[i] = offset;
  }
}

// The true places of a mask as an int64 array, for the axes from [axis] on.
// [out] has no length to check against, as the places come from the mask itself
// and lie within. NULL after tl_fail; else owned by the caller.
static tl_array *mask_positions(tl_vm *vm, const tl_array *base,
                                const tl_fancy *fancy, tl_positions *out) {
  tl_slot mask = tl_lend_array(fancy->array), dense;
  if (!tl_array_contiguous(vm, &mask, &dense))
    return NULL;
  int64_t count = tl_count_true(vm, dense.array);
  tl_array *places = count < 0 ? NULL : tl_array_new(vm, TL_INT64, 1, &count);
  if (places != NULL) {
    int64_t *index = (int64_t *)(void *)places->data;
    int axes = tl_ndim(fancy->array);
    if (!tl_true_positions(vm, dense.array, index)) {
      tl_array_drop(vm, places);
      tl_drop(vm, dense);
      return NULL;
    }
    *out = (tl_positions){index, -1, 1, 0, fancy->axis};
    if (axes_merge(base, fancy->axis, axes)) {
      out->stride = tl_strides(base)[fancy->axis + axes - 1];
    } else {
      offsets_of_places(base, fancy->axis, axes, index, count);
    }
  }
  tl_drop(vm, dense);
  return places;
}

// Where the cast of an index array failed: an item beyond int64 is an index
// that is out of range, not a value that does not convert. Returns false.
static bool fail_beyond(tl_vm *vm, const tl_array *base,
                        const tl_fancy *fancy) {
  tl_slot s = tl_lend_array(fancy->array), dense;
  if (vm->error.status != TALLY_ERR_VALUE)
    return false;
  tl_error_clear(vm);
  if (!tl_array_contiguous(vm, &s, &dense))
    return false;
  const uint64_t *item = (const uint64_t *)(const void *)dense.array->data;
  while (*item <= INT64_MAX) item++;
  uint64_t index = *item;
  tl_drop(vm, dense);
  return tl_poll(vm, (uint64_t)fancy->array->size / 1024) &&
         tl_fail(vm, TALLY_ERR_INDEX,
                 "index %" PRIu64
                 " is out of range for axis %d with size "
                 "%" PRId64,
                 index, fancy->axis, tl_shape(base)[fancy->axis]);
}

// An index array as dense int64; borrowed if it is that already.
static bool integer_positions(tl_vm *vm, const tl_array *base,
                              const tl_fancy *fancy, tl_positions *out,
                              tl_slot *array) {
  tl_slot s = tl_lend_array(fancy->array);
  // Used as it is, if it is dense.
  if (fancy->array->head.dtype == TL_INT64) {
    if (!tl_array_contiguous(vm, &s, array))
      return false;
  } else if (!tl_array_give(tl_array_cast(vm, fancy->array, TL_INT64), array)) {
    return fail_beyond(vm, base, fancy);
  }
  int64_t length = tl_shape(base)[fancy->axis];
  int64_t stride = tl_strides(base)[fancy->axis];
  *out = (tl_positions){(int64_t *)(void *)array->array->data, length, stride,
                        (stride < 0 ? -stride : stride) * length, fancy->axis};
  return true;
}

// A bool alone: the one place that there is, or none, along a new axis.
static bool bool_positions(tl_vm *vm, const tl_fancy *fancy, tl_positions *out,
                           tl_slot *array) {
  int64_t count = fancy->is_true;
  tl_array *places = tl_array_zeros(vm, TL_INT64, 1, &count);
  if (places == NULL)
    return false;
  *array = tl_own_array(places);
  *out = (tl_positions){(int64_t *)(void *)places->data, -1, 0, 0, fancy->axis};
  return true;
}

// The positions of one index array, mask or bool. *array owns what they point
// into.
static bool make_one(tl_vm *vm, const tl_array *base, const tl_fancy *fancy,
                     tl_positions *out, tl_slot *array) {
  if (fancy->array == NULL)
    return bool_positions(vm, fancy, out, array);
  if (fancy->array->head.dtype != TL_BOOL)
    return integer_positions(vm, base, fancy, out, array);
  return tl_array_give(mask_positions(vm, base, fancy, out), array);
}

// Adds the byte offsets of one index array to the sums; false after tl_fail
// where an index is out of range.
// The multiplication is not checked: an index within its axis times the axis's
// stride is an address within the block.
static bool add_offsets(tl_vm *vm, const tl_positions *p, int64_t *sums,
                        int64_t n) {
  int64_t wrapped[BLOCK];
  for (int64_t i = 0; i < n; i += BLOCK) {
    size_t count = (size_t)(n - i < BLOCK ? n - i : BLOCK);
    const int64_t *index = p->index + i;
    // Not checked yet: negative ones are wrapped, in blocks.
    if (p->length >= 0) {
      size_t bad = tl_kernels()->wrap_indices(wrapped, index, p->length, count);
      if (bad < count)
        return tl_fail_range(vm, index[bad], p->axis, p->length);
      index = wrapped;
    }
    for (size_t j = 0; j < count; j++)
      sums[i + (int64_t)j] += index[j] * p->stride;
  }
  return true;
}

// The same for an index array that broadcasting repeats: its offsets are worked
// out once, and added wherever they belong: *out->keep has the sums, of the
// shape that all arrays broadcast to. Borrows [array]. False after tl_fail.
static bool add_repeated(tl_vm *vm, const tl_positions *p,
                         const tl_array *array, tl_selection *out) {
  tl_array *offsets =
      tl_array_zeros(vm, TL_INT64, tl_ndim(array), tl_shape(array));
  if (offsets == NULL)
    return false;
  int64_t strides[2][TL_MAX_DIMS];
  const tl_array *sums = out->keep.array;
  const int ndim = out->fancy_ndim;
  bool ok = add_offsets(vm, p, (int64_t *)(void *)offsets->data, array->size);
  tl_broadcast_strides(sums, ndim, out->fancy_shape, strides[0]);
  tl_broadcast_strides(offsets, ndim, out->fancy_shape, strides[1]);
  tl_walk walk;
  tl_walk_begin(&walk, 2, ndim, out->fancy_shape,
                (char *[]){sums->data, offsets->data},
                (const int64_t *[]){strides[0], strides[1]});
  tl_walk_by_pieces(&walk);
  for (; ok && !walk.done; tl_walk_next(&walk)) {
    int64_t *to = (int64_t *)(void *)walk.data[0];
    const int64_t *from = (const int64_t *)(const void *)walk.data[1];
    const int64_t step = walk.step[1] / (int64_t)sizeof *from;
    for (int64_t i = 0; i < walk.length; i++) to[i] += from[i * step];
    ok = tl_poll(vm, 1 + (uint64_t)walk.length / 1024);
  }
  tl_drop(vm, tl_own_array(offsets));
  return ok;
}

// Several index arrays become one row of byte offsets.
// *out->keep owns the sums where this succeeds.
static bool combine(tl_vm *vm, int count, const tl_slot *arrays,
                    const tl_positions *each, tl_selection *out) {
  tl_array *sums =
      tl_array_zeros(vm, TL_INT64, out->fancy_ndim, out->fancy_shape);
  if (sums == NULL)
    return false;
  out->keep = tl_own_array(sums);
  out->positions =
      (tl_positions){(int64_t *)(void *)sums->data, -1, 1, 0, each[0].axis};
  for (int i = 0; i < count; i++) {
    out->positions.reach += each[i].reach;
    const tl_array *array = arrays[i].array;
    if (array->size < out->fancy_size
            ? !add_repeated(vm, &each[i], array, out)
            : !add_offsets(vm, &each[i], out->positions.index,
                           out->fancy_size)) {
      tl_clear(vm, &out->keep);
      return false;
    }
  }
  return true;
}

// The shape and size that the index arrays broadcast to. Fails (kind shape)
// where they do not, or to too many items.
static bool broadcast_all(tl_vm *vm, int count, const tl_slot *arrays,
                          tl_selection *out) {
  const tl_array *shapes[TL_MAX_DIMS];
  size_t nbytes;
  for (int i = 0; i < count; i++) shapes[i] = arrays[i].array;
  return tl_broadcast(vm, count, shapes, &out->fancy_ndim, out->fancy_shape) &&
         tl_shape_size(vm, out->fancy_ndim, out->fancy_shape, sizeof(int64_t),
                       &out->fancy_size, &nbytes);
}

// One array keeps its own positions; several become sums of byte offsets.
bool tl_positions_make(tl_vm *vm, const tl_array *base, int count,
                       const tl_fancy *fancy, tl_selection *out) {
  tl_positions each[TL_MAX_DIMS];
  tl_slot arrays[TL_MAX_DIMS];
  int made = 0;
  while (made < count &&
         make_one(vm, base, &fancy[made], &each[made], &arrays[made])) {
    made++;
  }
  bool ok = made == count && broadcast_all(vm, count, arrays, out);
  if (ok && count == 1) {
    out->positions = each[0];
    tl_copy_slot(&out->keep, &arrays[0]);
    return true;
  }
  ok = ok && combine(vm, count, arrays, each, out);
  for (int i = 0; i < made; i++) tl_drop(vm, arrays[i]);
  return ok;
}

// --- Reading positions ------------------------------------------------------

// The positions [at, at + n), wrapped into [buffer] where some are negative;
// NULL after tl_fail where one is out of range.
// The common index is within its axis and not negative, so it is tested first,
// without a copy.
static const int64_t *read_positions(tl_vm *vm, const tl_positions *p,
                                     int64_t at, size_t n, int64_t *buffer) {
  const int64_t *index = p->index + at;
  if (p->length < 0 || tl_kernels()->indices_within(index, p->length, n))
    return index;
  size_t bad = tl_kernels()->wrap_indices(buffer, index, p->length, n);
  if (bad == n)
    return buffer;
  tl_fail_range(vm, index[bad], p->axis, p->length);
  return NULL;
}

// In blocks, into a buffer that is not used.
bool tl_positions_check(tl_vm *vm, const tl_selection *selection) {
  int64_t buffer[BLOCK];
  const tl_positions *p = &selection->positions;
  for (int64_t i = 0; p->length >= 0 && i < selection->fancy_size; i += BLOCK) {
    int64_t left = selection->fancy_size - i;
    size_t n = (size_t)(left < BLOCK ? left : BLOCK);
    if (read_positions(vm, p, i, n, buffer) == NULL ||
        !tl_poll_items(vm, (int64_t)n))
      return false;
  }
  return true;
}

// --- Moving items -----------------------------------------------------------
//
// The whole is walked as: outer dimensions (before fancy_at), positions, inner
// dimensions. On the dense side that is one pass from front to back.

// Moves items between a selection and a dense array.
typedef struct mover {
  tl_vm *vm;
  const tl_selection *selection;
  size_t itemsize;
  unsigned move;
  bool gathers;       // else scatters, over what a script has seen
  int64_t unpolled;   // items since the last look for an interrupt
  char *dense;        // the next item on the dense side
  bool one;           // scatter: the dense side is one item for all
  const char *splat;  // that item, BLOCK times
  bool strings;       // scatter: texts, which are counted one by one
  int inner_ndim;
  const int64_t *inner_shape, *inner_strides;
  int64_t inner_size;
  bool inner_dense;
} mover;

// Prepares the move: among the inner dimensions it finds out whether they are
// dense.
static void open_mover(tl_vm *vm, const tl_selection *selection, tl_dtype dtype,
                       char *dense, mover *m) {
  memset(m, 0, sizeof *m);
  m->vm = vm;
  m->selection = selection;
  m->itemsize = tl_itemsize(dtype);
  m->move = tl_move_size(m->itemsize);
  m->dense = dense;
  m->inner_ndim = selection->ndim - selection->fancy_at;
  m->inner_shape = selection->shape + selection->fancy_at;
  m->inner_strides = selection->strides + selection->fancy_at;
  m->inner_size = 1;
  m->inner_dense = true;
  for (int i = m->inner_ndim - 1; i >= 0; i--) {
    if (m->inner_shape[i] != 1 &&
        m->inner_strides[i] != m->inner_size * (int64_t)m->itemsize) {
      m->inner_dense = false;
    }
    m->inner_size *= m->inner_shape[i];
  }
}

// One run of items that are not dense on the array's side.
// The step is that of the array's innermost dimension in the walk.
static void move_run(mover *m, char *items, int64_t step, size_t n) {
  const tl_kernel_table *kernels = tl_kernels();
  if (m->gathers) {
    kernels->pack[m->move](m->dense, items, (ptrdiff_t)step, n);
    m->dense += n * m->itemsize;
  } else if (m->strings) {
    for (; n > 0; n--, items += step, m->dense += m->one ? 0 : m->itemsize)
      tl_string_item_copy(m->vm, tl_string_item_at(items),
                          tl_string_item_at(m->dense));
  } else if (m->one) {
    for (; n > 0; n--, items += step) memcpy(items, m->splat, m->itemsize);
  } else {
    kernels->unpack[m->move](items, (ptrdiff_t)step, m->dense, n);
    m->dense += n * m->itemsize;
  }
}

// The inner items at one position.
// Below one position there may be a whole matrix, dense or not.
static void move_inner(mover *m, char *items) {
  size_t nbytes = (size_t)m->inner_size * m->itemsize;
  if (m->inner_dense && !m->one && !m->strings) {
    memcpy(m->gathers ? m->dense : items, m->gathers ? items : m->dense,
           nbytes);
    m->dense += nbytes;
    return;
  }
  tl_walk walk;
  tl_walk_begin(&walk, 1, m->inner_ndim, m->inner_shape, &items,
                &m->inner_strides);
  for (; !walk.done; tl_walk_next(&walk))
    move_run(m, walk.data[0], walk.step[0], (size_t)walk.length);
}

// Single items at a block of positions, of which the kernel may look [known]
// ahead to prefetch.
static void move_block(mover *m, char *items, const int64_t *index, size_t n,
                       size_t known) {
  const tl_kernel_table *kernels = tl_kernels();
  const tl_positions *p = &m->selection->positions;
  ptrdiff_t stride = (ptrdiff_t)p->stride;
  // Positions that jump beyond the caches: the kernel prefetches.
  if (m->gathers && p->reach > CACHED) {
    kernels->take_far[m->move](m->dense, items, stride, index, n, known);
  } else if (m->gathers) {
    kernels->take[m->move](m->dense, items, stride, index, n);
  } else {
    const char *from = m->one ? m->splat : m->dense;
    kernels->put[m->move](items, stride, index, from, n);
  }
  if (!m->one)
    m->dense += n * m->itemsize;
}

// Whether [n] more items may move; false after tl_fail.
static bool may_move(mover *m, int64_t n) {
  if ((m->unpolled += n) < POLL_EACH)
    return true;
  const uint64_t work = (uint64_t)m->unpolled / 1024;
  m->unpolled = 0;
  return m->gathers ? tl_poll(m->vm, work) : tl_poll_over(m->vm);
}

// All positions below one item of the outer dimensions.
// Called once for each item of the outer dimensions: positions are read again
// each time, as they would need memory to be remembered.
static bool move_positions(mover *m, char *items) {
  int64_t buffer[BLOCK];
  const tl_positions *p = &m->selection->positions;
  int64_t size = m->selection->fancy_size;
  for (int64_t i = 0; i < size; i += BLOCK) {
    size_t n = (size_t)(size - i < BLOCK ? size - i : BLOCK);
    const int64_t *index = read_positions(m->vm, p, i, n, buffer);
    if (index == NULL)
      return false;
    // Single items go by one call of a kernel for a block of positions.
    if (m->inner_ndim == 0 && !m->strings) {
      if (!may_move(m, (int64_t)n))
        return false;
      move_block(m, items, index, n, index == buffer ? n : (size_t)(size - i));
      continue;
    }
    for (size_t j = 0; j < n; j++) {
      if (!may_move(m, m->inner_size))
        return false;
      move_inner(m, items + index[j] * p->stride);
    }
  }
  return true;
}

// The whole selection. Positions are checked even where no item is moved.
static bool move_all(mover *m) {
  const tl_selection *s = m->selection;
  if (m->inner_size == 0)
    return tl_positions_check(m->vm, s);
  tl_walk walk;
  tl_walk_begin(&walk, 1, s->fancy_at, s->shape, (char *[]){s->data},
                (const int64_t *[]){s->strides});
  if (walk.done)
    return tl_positions_check(m->vm, s);
  for (; !walk.done; tl_walk_next(&walk)) {
    char *items = walk.data[0];
    for (int64_t i = 0; i < walk.length; i++, items += walk.step[0])
      if (!move_positions(m, items))
        return false;
  }
  return true;
}

// The fancy dimensions are put in before dimension fancy_at of the others.
bool tl_selection_shape(tl_vm *vm, const tl_selection *selection, int *ndim,
                        int64_t *shape) {
  int extra = selection->is_fancy ? selection->fancy_ndim : 0;
  *ndim = 0;
  if (selection->ndim + extra > TL_MAX_DIMS)
    return tl_fail_dims(vm, "the result would have more than");
  for (int i = 0; i <= selection->ndim; i++) {
    for (int j = 0; i == selection->fancy_at && j < extra; j++)
      shape[(*ndim)++] = selection->fancy_shape[j];
    if (i < selection->ndim)
      shape[(*ndim)++] = selection->shape[i];
  }
  return true;
}

// --- Gathering and scattering -----------------------------------------------

// May stop half-way, as nobody sees the new array. Strings are copied as bytes
// first and counted at the end: of an array that is dropped before that, the
// size says how many have been.
tl_array *tl_gather_items(tl_vm *vm, tl_selection *selection, tl_dtype dtype) {
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  if (!tl_selection_shape(vm, selection, &ndim, shape))
    return NULL;
  tl_array *out = tl_array_new(vm, dtype, ndim, shape);
  if (out == NULL)
    return NULL;
  mover m;
  open_mover(vm, selection, dtype, out->data, &m);
  m.gathers = true;
  const int64_t size = dtype == TL_STRING ? out->size : 0;
  bool ok = move_all(&m);
  int64_t kept = 0;
  for (int64_t n; ok && kept < size; kept += n) {
    n = piece_at(size, kept);
    tl_string_items_keep(vm, tl_string_items(out) + kept, n);
    ok = tl_poll(vm, 0);
  }
  if (ok)
    return out;
  out->size = kept;
  tl_drop(vm, tl_own_array(out));
  return NULL;
}

// Nothing but a stop fails here: positions were checked, and [value] has no
// item of target's memory. A place that occurs twice has the later value. One
// number for all is spread over a block first; strings are copied one by one,
// since a place may occur more than once.
bool tl_scatter_items(tl_vm *vm, const tl_selection *selection,
                      tl_array *value) {
  _Alignas(64) char splat[BLOCK * sizeof(tl_c128)];
  const int64_t n = selection->fancy_size;
  mover m;
  if (n == 0)
    return true;
  open_mover(vm, selection, tl_array_dtype(value), value->data, &m);
  m.strings = value->head.dtype == TL_STRING;
  m.one = value->size == 1;
  m.splat = splat;
  if (m.one && !m.strings)
    tl_kernels()->fill[m.move](splat, value->data,
                               n < BLOCK ? (size_t)n : BLOCK);
  return move_all(&m);
}
