// Copying items: into new arrays, converted, or over other items.
//
// Every copy is a walk over two arrays in the order of the target's memory.
// Which loop does the runs depends on the layout:
//
//   both rows contiguous      memcpy
//   one of them strided       pack or unpack of the kernels
//   transposed source         tiles, so that whole cache lines are read
//   rows of a few bytes       many rows with one call
//
// Arrays that overlap are copied in the direction in which nothing is read
// after it was overwritten, or through a temporary copy.

#include "vm/array/string_item.h"
#include "vm/kernels/kernels.h"
#include "vm/poll.h"
#include "vm/events.h"

// --- Extents ----------------------------------------------------------------

// Sets [begin, end) to the smallest range of addresses that covers all items
// of [a]; an empty one where there are none.
// Axes of negative stride reach down from the first item, the others up.
static inline void array_extent(const tl_array *a, char **begin, char **end) {
  *begin = *end = a->data;
  if (a->size == 0)
    return;
  *end += tl_itemsize(tl_array_dtype(a));
  const int ndim = tl_ndim(a);
  for (int i = 0; i < ndim; i++) {
    int64_t reach = (a->dims[i] - 1) * a->dims[ndim + i];
    *begin += reach < 0 ? reach : 0;
    *end += reach < 0 ? 0 : reach;
  }
}

// The largest distance of an axis with more than one item: the bytes after
// which the array's pattern repeats, if it does.
static int64_t longest_stride(const tl_array *a) {
  int64_t longest = 0;
  for (int i = 0; i < tl_ndim(a); i++) {
    int64_t stride = tl_strides(a)[i];
    stride = stride < 0 ? -stride : stride;
    if (tl_shape(a)[i] > 1 && stride > longest)
      longest = stride;
  }
  return longest;
}

// The bytes from the first to the last of an array's items within one period:
// axes whose stride is a multiple of [period] do not count.
static int64_t extent_within(const tl_array *a, int64_t period) {
  int64_t extent = (int64_t)tl_itemsize(tl_array_dtype(a));
  for (int i = 0; i < tl_ndim(a); i++) {
    int64_t stride = tl_strides(a)[i];
    if (stride % period != 0)
      extent += (tl_shape(a)[i] - 1) * (stride < 0 ? -stride : stride);
  }
  return extent;
}

// Whether two arrays lie side by side in the rows of one memory, as columns of
// a matrix do: in each period of bytes one has its part and the other another.
//
//   aaaabb..aaaabb..aaaabb..      period 8, a within 4, b within 2
static bool are_interleaved(const tl_array *a, const char *a_begin,
                            const tl_array *b, const char *b_begin) {
  int64_t a_longest = longest_stride(a), b_longest = longest_stride(b);
  int64_t period = a_longest > b_longest ? a_longest : b_longest;
  if (period == 0)
    return false;
  // Where b begins within a's period.
  int64_t between = (b_begin - a_begin) % period;
  if (between < 0)
    between += period;
  return between >= extent_within(a, period) &&
         period - between >= extent_within(b, period);
}

// Extents alone would say that two columns of one matrix overlap, so x[:, 0] =
// x[:, 1] would need a copy.
bool tl_arrays_overlap(const tl_array *a, const tl_array *b) {
  if (a->data == b->data)  // their first items are one
    return a->size > 0 && b->size > 0;
  char *a_begin, *a_end, *b_begin, *b_end;
  array_extent(a, &a_begin, &a_end);
  array_extent(b, &b_begin, &b_end);
  if (a_begin >= b_end || b_begin >= a_end)
    return false;
  // What has no gaps leaves none to the other.
  return (tl_is_contiguous(a) && tl_is_contiguous(b)) ||
         !are_interleaved(a, a_begin, b, b_begin);
}

// Strides of axes of one item do not matter.
bool tl_arrays_walk_alike(const tl_array *a, const tl_array *b) {
  bool alike = tl_ndim(a) == tl_ndim(b);
  for (int i = 0; alike && i < tl_ndim(a); i++)
    alike = tl_shape(a)[i] == tl_shape(b)[i] &&
            (tl_shape(a)[i] < 2 || tl_strides(a)[i] == tl_strides(b)[i]);
  return alike;
}

// --- Moving bytes -----------------------------------------------------------

// Moves [n] items, steps in bytes. Always inlined, so that a literal item size
// makes each move an instruction.
static inline __attribute__((always_inline)) void move_each(
    char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step,
    size_t n, size_t itemsize) {
  char item[16];
  if (from_step == 0 && itemsize <= sizeof item) {
    // One item stays in a register: a load after each store would wait for it.
    memcpy(item, from, itemsize);
    for (; n > 0; n--, to += to_step) memcpy(to, item, itemsize);
    return;
  }
  for (; n > 0; n--, to += to_step, from += from_step)
    memcpy(to, from, itemsize);
}

// Moves items one by one in order, so that a copy within one array may rely on
// which are read first.
static void move_steps(char *to, ptrdiff_t to_step, const char *from,
                       ptrdiff_t from_step, size_t n, size_t itemsize) {
  switch (itemsize) {
    case 1:
      move_each(to, to_step, from, from_step, n, 1);
      break;
    case 2:
      move_each(to, to_step, from, from_step, n, 2);
      break;
    case 4:
      move_each(to, to_step, from, from_step, n, 4);
      break;
    case 8:
      move_each(to, to_step, from, from_step, n, 8);
      break;
    default:
      move_each(to, to_step, from, from_step, n, itemsize);
      break;
  }
}

// As memcpy. C libraries copy 2 kB to 1 MB by string instructions, which on
// some processors (AMD's Zen 3 and 4) are many times slower where the target
// begins a few bytes behind the source, but for whole pages between: then the
// copy goes in pieces.
static void copy_bytes(char *to, const char *from, size_t n) {
  enum { PAGE = 4096, BEHIND = 16, PIECE = 2048, MOST = 1 << 20 };
  size_t behind = ((size_t)(uintptr_t)to - (size_t)(uintptr_t)from) % PAGE;
  if (behind - 1 < BEHIND && n < MOST)
    for (; n > PIECE; n -= PIECE, to += PIECE, from += PIECE)
      memcpy(to, from, PIECE);
  memcpy(to, from, n);
}

// Copies one run of a walk, from its operand 1 to its operand 0, with the
// kernel for the steps at hand.
static void copy_run(char *to, ptrdiff_t to_step, const char *from,
                     ptrdiff_t from_step, size_t n, size_t itemsize) {
  const tl_kernel_table *kernels = tl_kernels();
  unsigned move = tl_move_size(itemsize);
  if (n == 1 || (to_step == (ptrdiff_t)itemsize && from_step == to_step)) {
    copy_bytes(to, from, n * itemsize);
  } else if (to_step == (ptrdiff_t)itemsize && from_step == 0) {
    kernels->fill[move](to, from, n);
  } else if (to_step == (ptrdiff_t)itemsize) {
    kernels->pack[move](to, from, from_step, n);
  } else if (from_step == (ptrdiff_t)itemsize) {
    kernels->unpack[move](to, to_step, from, n);
  } else {
    move_steps(to, to_step, from, from_step, n, itemsize);
  }
}

// Says how a copy polls. One into a new array may stop halfway, since nobody
// has seen the array; one over a script's array only where nobody will.
typedef struct mover {
  tl_vm *vm;
  bool over;  // items that a script has seen
} mover;

static bool goes_on(const mover *m, uint64_t work) {
  return m->over ? tl_poll_over(m->vm) : tl_poll(m->vm, work);
}

enum { POLL_ITEMS = 1 << 17 };

// Items that lie pages apart: each may cost a page that the system has to
// clear, or a large one for a few of them.
enum { FAR = 4096, POLL_FAR = 64 };

// Whether items that lie so many bytes apart are far ones.
static bool is_far(int64_t step) {
  return step >= FAR || -step >= FAR;
}

// Accounts for [n] items that are to be moved, and polls now and then; false
// after tl_fail.
static bool may_move(mover *m, int64_t n) {
  int64_t *unpolled = &m->vm->unpolled;
  if ((*unpolled += n) < POLL_ITEMS)
    return true;
  // A poll costs more than a short run, so work is gathered.
  const uint64_t work = (uint64_t)*unpolled / 1024;
  *unpolled = 0;
  return goes_on(m, work);
}

// Copies run by run; a long run goes in pieces, between which it polls.
static bool copy_runs(mover *m, tl_walk *walk, size_t itemsize) {
  const bool far = is_far(walk->step[0]);
  const int64_t most = far ? POLL_FAR : POLL_ITEMS;
  for (; !walk->done; tl_walk_next(walk)) {
    int64_t n = 0;
    for (int64_t i = 0; i < walk->length; i += n) {
      n = walk->length - i < most ? walk->length - i : most;
      if (!may_move(m, n) || (far && !goes_on(m, 0)))
        return false;
      copy_run(walk->data[0] + i * walk->step[0], walk->step[0],
               walk->data[1] + i * walk->step[1], walk->step[1], (size_t)n,
               itemsize);
    }
  }
  return true;
}

// Columns of a transposed matrix lie together, its rows do not: tiles of a few
// rows read whole cache lines.
enum { TILE_ROWS = 32, TILE_COLUMNS = 256 };

// Copies a matrix of [rows] by [columns] in tiles; strides in bytes, items of
// a target row are contiguous.
static bool copy_tiles(mover *m, char *to, int64_t to_row, const char *from,
                       int64_t from_row, int64_t from_column, int64_t rows,
                       int64_t columns, size_t itemsize) {
  tl_pack_tile *pack = tl_kernels()->pack_tile[tl_move_size(itemsize)];
  for (int64_t i = 0; i < rows; i += TILE_ROWS) {
    int64_t height = rows - i < TILE_ROWS ? rows - i : TILE_ROWS;
    if (!may_move(m, height * columns))
      return false;
    for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {
      int64_t width = columns - j < TILE_COLUMNS ? columns - j : TILE_COLUMNS;
      pack(to + i * to_row + j * (int64_t)itemsize, (ptrdiff_t)to_row,
           from + i * from_row + j * from_column, (ptrdiff_t)from_row,
           (ptrdiff_t)from_column, (size_t)height, (size_t)width);
    }
  }
  return true;
}

// Whether the two innermost dimensions are copied as tiles: the target's rows
// are contiguous, the source's are not but its columns nearly are. Rows that
// repeat have no columns.
static bool wants_tiles(const tl_walk *walk, size_t itemsize) {
  if (walk->ndim == 0 || walk->step[0] != (int64_t)itemsize)
    return false;
  int row = walk->ndim - 1;
  return walk->length >= 8 && walk->shape[row] >= 4 &&
         walk->strides[1][row] != 0 &&
         tl_distance(walk->strides[1][row]) < tl_distance(walk->step[1]);
}

// Copies the two innermost dimensions of the walk as tiles, and walks the
// others.
static bool copy_by_tiles(mover *m, tl_walk *walk, size_t itemsize) {
  // The walk goes on over the outer dimensions alone.
  int row = --walk->ndim;  // the tiles take this dimension too
  for (; !walk->done; tl_walk_next(walk))
    if (!copy_tiles(m, walk->data[0], walk->strides[0][row], walk->data[1],
                    walk->strides[1][row], walk->step[1], walk->shape[row],
                    walk->length, itemsize)) {
      return false;
    }
  return true;
}

// Whether the rows have a few bytes only, so that a call for each of them
// would cost more than the copy.
static bool has_short_rows(const tl_walk *walk, size_t itemsize) {
  enum { SHORT_BYTES = 512 };
  return walk->ndim > 0 && walk->step[0] == (int64_t)itemsize &&
         walk->length * (int64_t)itemsize <= SHORT_BYTES;
}

// Copies many short rows with each call, along the longer of the last two
// axes; for each item of the shorter one it starts again.
static bool copy_short_rows(mover *m, tl_walk *walk, size_t itemsize) {
  enum { ROWS = 512 };
  tl_pack_tile *pack = tl_kernels()->pack_tile[tl_move_size(itemsize)];
  int axis = --walk->ndim, other = axis;
  int64_t others = 1;
  if (axis > 0) {
    other = --walk->ndim;
    if (walk->shape[other] > walk->shape[axis])
      axis = other, other = axis + 1;
    others = walk->shape[other];
  }
  const int64_t *to = walk->strides[0], *from = walk->strides[1];
  const int64_t rows = walk->shape[axis];
  for (; !walk->done; tl_walk_next(walk))
    for (int64_t i = 0, n; i < rows; i += n) {
      n = rows - i < ROWS ? rows - i : ROWS;
      for (int64_t k = 0; k < others; k++) {
        if (!may_move(m, n * walk->length))
          return false;
        pack(walk->data[0] + i * to[axis] + k * to[other], (ptrdiff_t)to[axis],
             walk->data[1] + i * from[axis] + k * from[other],
             (ptrdiff_t)from[axis], (ptrdiff_t)walk->step[1], (size_t)n,
             (size_t)walk->length);
      }
    }
  return true;
}

// Begins a walk over two arrays of to's shape in the order in which the first
// one lies in memory, whose items are then written one behind the other.
static void walk_in_order(tl_walk *walk, const tl_array *to, char *const *data,
                          const int64_t *to_strides,
                          const int64_t *from_strides) {
  int64_t shape[TL_MAX_DIMS], strides[2][TL_MAX_DIMS];
  int ndim = tl_ndim(to), axes[TL_MAX_DIMS];
  // The target is written in the order of its memory; the source is read in
  // whatever order that gives.
  for (int i = 0; i < ndim; i++) axes[i] = i;
  tl_axes_by_stride(ndim, to_strides, axes);
  for (int i = 0; i < ndim; i++) {
    shape[i] = tl_shape(to)[axes[i]];
    strides[0][i] = to_strides[axes[i]];
    strides[1][i] = from_strides[axes[i]];
  }
  tl_walk_begin(walk, 2, ndim, shape, data,
                (const int64_t *[]){strides[0], strides[1]});
}

// Copies the bytes of [from], walked with [from_strides], over [to], with the
// loop that suits their layout.
static bool move_items(mover *m, tl_array *to, const tl_array *from,
                       const int64_t *from_strides) {
  tl_walk walk;
  size_t itemsize = tl_itemsize(tl_array_dtype(to));
  walk_in_order(&walk, to, (char *[]){to->data, from->data}, tl_strides(to),
                from_strides);
  return wants_tiles(&walk, itemsize)      ? copy_by_tiles(m, &walk, itemsize)
         : has_short_rows(&walk, itemsize) ? copy_short_rows(m, &walk, itemsize)
                                           : copy_runs(m, &walk, itemsize);
}

// Copies a few items of one or two axes, whose rows in [to] have no gaps; false
// where it is not so. A walk would cost more than they do.
static bool move_few(tl_array *to, const tl_array *from,
                     const int64_t *from_strides) {
  enum { FEW = 256 };
  const int ndim = tl_ndim(to);
  const int64_t *shape = tl_shape(to), *strides = tl_strides(to);
  const size_t itemsize = tl_itemsize(tl_array_dtype(to));
  if ((uint64_t)to->size - 1 >= FEW || (unsigned)ndim - 1 > 1 ||
      strides[ndim - 1] != (int64_t)itemsize)
    return false;
  if (ndim == 1)
    copy_run(to->data, strides[0], from->data, from_strides[0],
             (size_t)shape[0], itemsize);
  else
    tl_kernels()->pack_tile[tl_move_size(itemsize)](
        to->data, strides[0], from->data, from_strides[0], from_strides[1],
        (size_t)shape[0], (size_t)shape[1]);
  return true;
}

// --- Strings ----------------------------------------------------------------

// Copies a run of string items one by one, each of which counts its text;
// *moved counts them, the far ones for more.
static bool move_string_run(const mover *m, const tl_walk *walk,
                            int64_t *moved) {
  const int64_t weight = is_far(walk->step[0]) ? 4096 / POLL_FAR : 1;
  char *at = walk->data[0], *source = walk->data[1];
  for (int64_t i = 0; i < walk->length; i++) {
    *moved += weight;
    if ((*moved & 0xfff) == 0 && !goes_on(m, 0))
      return false;
    tl_string_item_copy(m->vm, tl_string_item_at(at),
                        tl_string_item_at(source));
    at += walk->step[0];
    source += walk->step[1];
  }
  return true;
}

static bool move_strings(const mover *m, tl_array *to, const tl_array *from,
                         const int64_t *from_strides) {
  tl_walk walk;
  int64_t moved = 0;
  tl_walk_begin(&walk, 2, tl_ndim(to), tl_shape(to),
                (char *[]){to->data, from->data},
                (const int64_t *[]){tl_strides(to), from_strides});
  for (; !walk.done; tl_walk_next(&walk))
    if (!move_string_run(m, &walk, &moved))
      return false;
  return true;
}

// --- Whole arrays -----------------------------------------------------------

// Copies the items of [from], broadcast, over [to], [over] what a script has
// seen. False after tl_fail: the VM was stopped.
static bool copy_items(tl_vm *vm, tl_array *to, const tl_array *from,
                       bool over) {
  int64_t strides[TL_MAX_DIMS];
  mover m = {vm, over};
  tl_broadcast_strides(from, tl_ndim(to), tl_shape(to), strides);
  if (to->head.dtype != TL_STRING)
    return move_few(to, from, strides) || move_items(&m, to, from, strides);
  return move_strings(&m, to, from, strides);
}

// Contiguous in rows whatever the source's layout is: the callers go on
// through rows.
tl_array *tl_array_copy(tl_vm *vm, const tl_array *a) {
  tl_dtype dtype = tl_array_dtype(a);
  tl_array *copy = tl_array_new(vm, dtype, tl_ndim(a), tl_shape(a));
  if (copy == NULL)
    return NULL;
  if (!copy_items(vm, copy, a, false)) {
    tl_drop(vm, tl_own_array(copy));
    return NULL;
  }
  vm->stats.copies++;
  if (vm->watch != NULL)
    vm->observer->copied(vm, tl_own_array(copy));
  vm->stats.copy_bytes += (uint64_t)a->size * tl_itemsize(dtype);
  return copy;
}

// Whether each pair of items lies a constant distance apart, and no stride is
// negative.
static bool is_shifted(const tl_array *to, const tl_array *from) {
  bool ok = tl_arrays_walk_alike(to, from);
  for (int i = 0; i < tl_ndim(to); i++) ok &= tl_strides(to)[i] >= 0;
  return ok;
}

// Begins a walk by falling addresses, which is one over the reversed arrays:
// all strides negated, data at the last item.
static void walk_backwards(tl_walk *walk, tl_array *to, const tl_array *from) {
  int64_t strides[TL_MAX_DIMS];
  char *data[] = {to->data, from->data};
  for (int i = 0; i < tl_ndim(to); i++) {
    // Both arrays have the same strides, so one array of them serves both.
    strides[i] = -tl_strides(to)[i];
    data[0] += tl_strides(to)[i] * (tl_shape(to)[i] - 1);
    data[1] += tl_strides(to)[i] * (tl_shape(to)[i] - 1);
  }
  walk_in_order(walk, to, data, strides, strides);
}

// Whether the walk's addresses only rise, or only fall: each axis steps over
// all that the inner ones reach.
static bool is_monotonic(const tl_walk *walk, size_t itemsize) {
  // From the run outwards: an axis must step over everything inside of it.
  int64_t reach = tl_distance(walk->step[0]) * (walk->length - 1);
  if (walk->length > 1 && tl_distance(walk->step[0]) < (int64_t)itemsize)
    return false;
  for (int i = walk->ndim - 1; i >= 0; i--) {
    int64_t stride = tl_distance(walk->strides[0][i]);
    if (stride < reach + (int64_t)itemsize)
      return false;
    reach += stride * (walk->shape[i] - 1);
  }
  return true;
}

// Moves one run whose items may overlap, piece by piece in the order of the
// walk.
static bool move_run(mover *m, const tl_walk *walk, size_t itemsize) {
  char *to = walk->data[0], *from = walk->data[1];
  const int64_t step = walk->step[0];
  for (int64_t left = walk->length, n; left > 0; left -= n) {
    n = left < POLL_ITEMS ? left : POLL_ITEMS;
    if (!may_move(m, n))
      return false;
    if (tl_distance(step) == (int64_t)itemsize) {
      // memmove wants the lowest address, and handles the overlap itself.
      int64_t back = step < 0 ? step * (n - 1) : 0;
      memmove(to + back, from + back, (size_t)n * itemsize);
    } else {
      move_steps(to, step, from, step, (size_t)n, itemsize);
    }
    to += n * step;
    from += n * step;
  }
  return true;
}

// Assigns between shifted views of one array, such as x[:, 1:] = x[:, :-1]: an
// item is read before it is overwritten if the walk goes against the shift.
// False where the arrays are not such a pair; nothing is written then. *ok is
// false after tl_fail: the VM was stopped.
static bool move_shifted(tl_vm *vm, tl_array *to, const tl_array *from,
                         bool *ok) {
  tl_walk walk;
  mover m = {vm, true};
  size_t itemsize = tl_itemsize(tl_array_dtype(to));
  if (!is_shifted(to, from))
    return false;
  // The same items: nothing to do.
  if (to->data == from->data)
    return true;
  if (to->data > from->data) {
    walk_backwards(&walk, to, from);
  } else {
    walk_in_order(&walk, to, (char *[]){to->data, from->data}, tl_strides(to),
                  tl_strides(from));
  }
  if (!is_monotonic(&walk, itemsize))
    return false;
  int64_t moved = 0;
  for (; *ok && !walk.done; tl_walk_next(&walk))
    *ok = to->head.dtype == TL_STRING ? move_string_run(&m, &walk, &moved)
                                      : move_run(&m, &walk, itemsize);
  return true;
}

// Without overlap the order does not matter; with a shift the right order
// does; else through a copy.
bool tl_array_assign(tl_vm *vm, tl_array *to, const tl_array *from) {
  if (!tl_arrays_overlap(to, from))
    return copy_items(vm, to, from, true);
  bool ok = true;
  if (move_shifted(vm, to, from, &ok))
    return ok;
  // The general case of overlap: all is read before anything is written.
  tl_array *disjoint = tl_array_copy(vm, from);
  if (disjoint == NULL)
    return false;
  ok = copy_items(vm, to, disjoint, true);
  tl_drop(vm, tl_own_array(disjoint));
  return ok;
}

// Without a look at overlap, which costs more than a small copy does.
bool tl_array_fill(tl_vm *vm, tl_array *to, const tl_array *from) {
  return copy_items(vm, to, from, false);
}

void tl_array_put(tl_array *to, const int64_t *at, const int64_t *shape,
                  const tl_array *from) {
  tl_walk walk;
  char *place = to->data;
  for (int i = 0; i < tl_ndim(to); i++) place += at[i] * tl_strides(to)[i];
  tl_walk_begin(&walk, 2, tl_ndim(to), shape, (char *[]){place, from->data},
                (const int64_t *[]){tl_strides(to), tl_strides(from)});
  for (; !walk.done; tl_walk_next(&walk))
    copy_run(walk.data[0], walk.step[0], walk.data[1], walk.step[1],
             (size_t)walk.length, tl_itemsize(tl_array_dtype(to)));
}

// A dense array is taken over as it is: its slot hands over what it had.
bool tl_array_contiguous(tl_vm *vm, tl_slot *s, tl_slot *out) {
  if ((s->tag & TL_DENSE) != 0)
    return tl_pass_to(s, out);
  return tl_array_give(tl_array_copy(vm, s->array), out);
}

// --- Conversion -------------------------------------------------------------

bool tl_fail_item(tl_vm *vm, tl_dtype from, const char *item, tl_dtype to) {
  char text[TL_NUMBER_TEXT];
  return tl_fail(vm, TALLY_ERR_VALUE, "%s(%s) is out of range",
                 tl_dtypes[to].name,
                 tl_number_text(tl_scalar_load(from, item), text));
}

enum { BLOCK = 256 };  // items that are converted at a time

// Converts [n] items, [step] bytes apart, to the contiguous [to]. False after
// tl_fail at the first value that does not fit.
static bool cast_run(tl_vm *vm, tl_dtype from, const char *items, int64_t step,
                     tl_dtype dtype, char *to, int64_t n) {
  _Alignas(64) char packed[BLOCK * sizeof(tl_c128)];
  const tl_kernel_table *kernels = tl_kernels();
  size_t size = tl_itemsize(from);
  tl_bounds bounds;
  tl_within *within =
      !tl_casts_freely(vm) && tl_cast_bounds(from, dtype, &bounds)
          ? kernels->within[from]
          : NULL;
  for (int64_t i = 0; i < n; i += BLOCK) {
    size_t count = (size_t)(n - i < BLOCK ? n - i : BLOCK);
    const char *block = items + i * step;
    // Kernels want contiguous items.
    if (step != (int64_t)size) {
      kernels->pack[tl_move_size(size)](packed, block, (ptrdiff_t)step, count);
      block = packed;
    }
    if (within != NULL && !within(block, count, &bounds)) {
      // The check says that an item of the block fails; the message names it.
      while (within(block, 1, &bounds)) block += size;
      return tl_fail_item(vm, from, block, dtype);
    }
    kernels->cast[from][dtype](to + (size_t)i * tl_itemsize(dtype), block,
                               count);
  }
  return true;
}

// Converted run by run into a new array in rows, with a check of each block
// before it is written.
tl_array *tl_array_cast(tl_vm *vm, const tl_array *a, tl_dtype dtype) {
  tl_dtype from = tl_array_dtype(a);
  if (from == dtype)
    return tl_array_copy(vm, a);
  if (from == TL_STRING || dtype == TL_STRING ||
      tl_kernels()->cast[from][dtype] == NULL) {
    const char *hint = tl_dtype_is_complex(from) && dtype != TL_STRING
                           ? ": take .real, .imag or abs(x)"
                           : "";
    tl_fail(vm, TALLY_ERR_TYPE, "cannot convert %s items to %s%s",
            tl_dtypes[from].name, tl_dtypes[dtype].name, hint);
    return NULL;
  }
  tl_array *out = tl_array_new(vm, dtype, tl_ndim(a), tl_shape(a));
  if (out == NULL)
    return NULL;
  tl_walk walk;
  tl_walk_begin(&walk, 1, tl_ndim(a), tl_shape(a), (char *[]){a->data},
                (const int64_t *[]){tl_strides(a)});
  mover m = {.vm = vm};
  char *to = out->data;
  bool ok = true;
  for (; ok && !walk.done; tl_walk_next(&walk))
    for (int64_t i = 0, n; ok && i < walk.length; i += n) {
      n = walk.length - i < POLL_ITEMS ? walk.length - i : POLL_ITEMS;
      ok =
          may_move(&m, n) && cast_run(vm, from, walk.data[0] + i * walk.step[0],
                                      walk.step[0], dtype, to, n);
      to += (size_t)n * tl_itemsize(dtype);
    }
  if (!ok) {
    tl_drop(vm, tl_own_array(out));
    return NULL;
  }
  return out;
}
