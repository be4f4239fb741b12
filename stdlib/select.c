// Parts of an order: the k greatest or least items along an axis, and what
// comes before and behind a place, without sorting the rest.
//
// The key of a place in their order is found first (nth.h), and one more pass
// tells who comes before it and who behind.

#include <stdlib.h>

#include "stdlib/families.h"
#include "stdlib/nth.h"
#include "vm/kernels/sort.h"
#include "vm/poll.h"
#include "vm/nested/nested.h"
#include "vm/values/record.h"

// Whether items have keys (sort.h): unsigned words in the same order. Strings
// and complex numbers do not, and are sorted instead.
static bool has_keys(tl_dtype dtype) {
  return dtype != TL_STRING && !tl_dtype_is_complex(dtype);
}

// Room that is made when it is first needed, and kept for further lanes.
typedef struct room {
  char *bytes;
  size_t nbytes;
} room;

// Makes r at least [nbytes] large; what was in it is lost. False after tl_fail.
static bool room_for(tl_vm *vm, const char *function, room *r, size_t nbytes) {
  if (nbytes <= r->nbytes)
    return true;
  tl_free(vm, r->bytes, r->nbytes);
  *r = (room){.bytes = tl_alloc(vm, nbytes, function)};
  r->nbytes = r->bytes == NULL ? 0 : nbytes;
  return r->bytes != NULL;
}

// Work memory of all lanes of a call, made when it is first needed.
typedef struct workspace {
  tl_vm *vm;
  const char *function;
  tl_dtype dtype;
  room items, aside, keys;
  room order, places;  // of argpartition
} workspace;

// Frees all rooms, whichever of them have been used.
static void workspace_close(workspace *p) {
  room *all[] = {&p->items, &p->aside, &p->keys, &p->order, &p->places};
  for (int i = 0; i < 5; i++) tl_free(p->vm, all[i]->bytes, all[i]->nbytes);
}

// Items between two polls.
enum { POLLED = 1 << 17 };

// A lane's items side by side, where they are or, if they are not so or
// [copies] asks for it, copied; NULL after tl_fail.
static char *read_items(workspace *p, char *data, int64_t step, int64_t n,
                        bool copies) {
  size_t size = tl_itemsize(p->dtype);
  if (step == (int64_t)size && !copies)
    return data;
  if (!room_for(p->vm, p->function, &p->items, (size_t)n * size))
    return NULL;
  for (int64_t i = 0; i < n; i += POLLED) {
    tl_kernels()->pack[tl_move_size(size)](p->items.bytes + (size_t)i * size,
                                           data + i * step, step,
                                           (size_t)tl_least(POLLED, n - i));
    if (!tl_poll(p->vm, 0))
      return NULL;
  }
  return p->items.bytes;
}

// --- topk --------------------------------------------------------------------

// The k first items of a lane, in order, and their places.
typedef struct firsts {
  tl_ranks ranks;  // items: the lane's, side by side
  int64_t k;
  workspace *work;  // keys: of the k places, their order and items
  int64_t *places, *order;
  char *taken;
} firsts;

// One allocation serves all lanes: order, places and items of the k firsts.
static bool firsts_open(firsts *f) {
  //   words   order k | places k + 1 | taken k items
  const size_t k = (size_t)f->k, size = tl_itemsize(f->ranks.dtype);
  // One more place: it is written before it is known to be one.
  if (!room_for(f->ranks.vm, "topk", &f->work->keys,
                (2 * k + 1) * sizeof(int64_t) + k * size))
    return false;
  f->order = (int64_t *)(void *)f->work->keys.bytes;
  f->places = f->order + k;
  f->taken = (char *)(f->places + k + 1);
  return true;
}

// Whether all of m items from number i on come behind the last one that counts,
// which [last] holds as often: NaN does not.
static bool has_none(const tl_ranks *r, int64_t i, int64_t m,
                     const uint64_t *last) {
  uint8_t behind[TL_NTH_CHUNK];
  const char *items = r->items + (size_t)i * tl_itemsize(r->dtype);
  tl_op op = r->descending ? TL_OP_LESS : TL_OP_GREATER;
  tl_kernels()->binary[op][r->dtype](behind, items, last, (size_t)m);
  return memchr(behind, 0, (size_t)m) == NULL;
}

// Which they are; equal ones as they stand.
static bool firsts_find(firsts *f) {
  uint64_t buffer[TL_NTH_CHUNK], sought[TL_NTH_CHUNK];
  const tl_ranks *r = &f->ranks;
  const size_t size = tl_itemsize(r->dtype);
  tl_nth last;
  if (!tl_nth_find(r, f->k - 1, &last))
    return false;
  // Those with the key of the last one fill what the lesser ones leave, the
  // first of them first: that makes the choice stable.
  int64_t count = 0, same = f->k - last.less;
  tl_c128 item = {0, 0};
  // The item of that key, so that chunks are skipped without keys.
  tl_sort_from_wide(r->dtype, &item, &last.key, 1, r->descending, NULL);
  tl_kernels()->fill[tl_move_size(size)](sought, &item, TL_NTH_CHUNK);
  for (int64_t i = 0; count < f->k; i += TL_NTH_CHUNK) {
    const int64_t m = tl_least(TL_NTH_CHUNK, r->n - i);
    if (i % POLLED == 0 && !tl_poll(r->vm, 0))
      return false;
    if (r->n > m && has_none(r, i, m, sought))
      continue;
    const uint64_t *keys = tl_nth_keys(r, i, m, buffer);
    for (int64_t j = 0; j < m && count < f->k; j++) {
      bool is_same = keys[j] == last.key && same > 0;
      f->places[count] = i + j;
      count += keys[j] < last.key || is_same;
      same -= is_same;
    }
  }
  bool ok = true;
  for (int64_t i = 0; i < f->k && tl_poll_ok(r->vm, i, &ok); i++)
    memcpy(f->taken + (size_t)i * size, r->items + (size_t)f->places[i] * size,
           size);
  return ok && tl_argsort_items(r->vm, r->dtype, f->order, f->taken, f->k,
                                r->descending);
}

// The k first items of each lane of x, with their places. k > 0, as an array
// without items has no lanes to visit.
static bool take_lanes(tl_vm *vm, tl_array *x, tl_array *values,
                       tl_array *places, int axis, bool largest) {
  const tl_dtype dtype = tl_array_dtype(x);
  const size_t size = tl_itemsize(dtype);
  firsts f = {.ranks = {.vm = vm,
                        .function = "topk",
                        .dtype = dtype,
                        .descending = largest,
                        .same_zero = true,
                        .n = tl_shape(x)[axis]},
              .k = tl_shape(values)[axis]};
  workspace work = {.vm = vm, .function = "topk", .dtype = dtype};
  f.work = &work;
  bool ok = firsts_open(&f);
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 3, (tl_array *[]){x, values, places}, axis);
  for (; ok && !lanes.done; tl_lanes_next(&lanes)) {
    f.ranks.items =
        read_items(f.work, lanes.data[0], lanes.step[0], f.ranks.n, false);
    ok = f.ranks.items != NULL && firsts_find(&f);
    for (int64_t i = 0; ok && i < f.k; i++) {
      int64_t at = f.order[i];
      memcpy(lanes.data[1] + i * lanes.step[1], f.taken + (size_t)at * size,
             size);
      memcpy(lanes.data[2] + i * lanes.step[2], &f.places[at],
             sizeof *f.places);
    }
  }
  workspace_close(&work);
  return ok;
}

// Takes both.
static bool give(tl_vm *vm, tl_slot values, tl_slot places, tl_slot *out) {
  tl_record *record = tl_record_new(vm, 2);
  tl_record_put(vm, &record, "values", values);
  tl_record_put(vm, &record, "indices", places);
  return tl_record_put_end(record, out);
}

// topk(x, k, axis, largest): finds the k-th key in linear time and sorts only
// what comes before it: n + k log k in place of n log n.
static bool topk(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  const int64_t k = args[1].i;
  int64_t shape[TL_MAX_DIMS];
  if (tl_is_form(args[0], TL_FORM_OPTION))
    return tl_in_tally(vm, "topk_by_codes", 4, args, out);
  if (!tl_arg_numeric(vm, "topk", &args[0]))
    return false;
  tl_array *x = args[0].array;
  if (tl_dtype_is_complex(tl_array_dtype(x)))
    return tl_arg_fail(vm, "topk", "x", "real", args[0]);
  if (!tl_arg_axis(vm, "topk", args[2], tl_ndim(x), -1, &axis))
    return false;
  memcpy(shape, tl_shape(x), sizeof *shape * (size_t)tl_ndim(x));
  if (k > shape[axis])
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "topk: k is %lld, but axis %d has %lld items", (long long)k,
                   axis, (long long)shape[axis]);
  shape[axis] = k;
  tl_array *values = tl_array_new(vm, tl_array_dtype(x), tl_ndim(x), shape);
  tl_array *places =
      values ? tl_array_new(vm, TL_INT64, tl_ndim(x), shape) : NULL;
  if (places && (values->size == 0 ||
                 take_lanes(vm, x, values, places, axis, args[3].i != 0)))
    return give(vm, tl_own_array(values), tl_own_array(places), out);
  tl_array_drop(vm, values);
  tl_array_drop(vm, places);
  return false;
}

// --- partition ---------------------------------------------------------------
//
// Two of three kinds of items, those that are less, the same and greater, keep
// to their end of the lane; the others are put aside meanwhile.

enum { CUT_BLOCK = 512 };

// What is moved at a cut: the items of a lane, or their places.
typedef struct part {
  char *data, *aside;
  size_t size;
  char *kept, *ends[2];  // how far the front and both kinds aside have come
} part;

// A lane that is divided at a key, a block at a time.
//
//   before    5 2 9 2 7 1    k = 2: the key is 2, one is less, two the same
//   after     1 2 2 5 9 7    the same kinds together, each in its order
typedef struct cut {
  tl_vm *vm;
  const char *items;
  int64_t n;
  tl_dtype dtype;
  tl_nth at;
  bool nan;                     // NaN is sought
  uint64_t sought[CUT_BLOCK];   // the item sought, as often as it fits
  uint8_t kinds[3][CUT_BLOCK];  // masks: is less, the same, greater
} cut;

enum { LESS, SAME, MORE };

// NaN is neither less nor the same, unless it is sought: then it is the same,
// and nothing is greater.
static void find_kinds(cut *c, const char *items, size_t n) {
  const tl_kernel_table *kernels = tl_kernels();
  uint8_t *less = c->kinds[LESS], *same = c->kinds[SAME];
  uint8_t *more = c->kinds[MORE];
  tl_kernel1 *negate = kernels->unary[TL_OP_LOGICAL_NOT][TL_BOOL];
  if (c->nan) {
    kernels->unary[TL_OP_ISNAN][c->dtype](same, items, n);
    negate(less, same, n);
    memset(more, 0, n);
    return;
  }
  kernels->binary[TL_OP_LESS][c->dtype](less, items, c->sought, n);
  kernels->binary[TL_OP_LESS_EQUAL][c->dtype](more, items, c->sought, n);
  kernels->binary[TL_OP_LOGICAL_XOR][TL_BOOL](same, less, more, n);
  negate(more, more, n);
}

// Items of the kind [keeps], less or greater, go to the front as they come, the
// two others aside; then all of them to where they belong. The kind of which
// there are more is kept, so that less memory is needed beside the lane. Places
// that are [fresh] are 0, 1, 2 …, and not written down yet.
//
//   keeps LESS    less … | (free)       aside  same … more …
//   keeps MORE    more … | (free)       aside  less … same …
//
// False after tl_fail: some items may be there twice, and others not.
static bool cut_blocks(cut *c, int keeps, part *parts, int count, bool fresh) {
  const tl_kernel_table *kernels = tl_kernels();
  const int others[] = {keeps == LESS ? SAME : LESS,
                        keeps == LESS ? MORE : SAME};
  int64_t new[CUT_BLOCK];
  for (int64_t i = 0; i < c->n; i += CUT_BLOCK) {
    const size_t n = (size_t)tl_least(CUT_BLOCK, c->n - i);
    if (i % POLLED == 0 && !tl_poll_over(c->vm))
      return false;
    find_kinds(c, c->items + (size_t)i * tl_itemsize(c->dtype), n);
    if (fresh)
      kernels->iota(new, i, 1, n);
    for (part *p = parts; p < parts + count; p++) {
      tl_compress_kernel *move = kernels->compress[tl_move_size(p->size)];
      const char *from = p->data + (size_t)i * p->size;
      if (fresh && p == parts + count - 1)
        from = (const char *)new;
      for (int k = 0; k < 2; k++)
        p->ends[k] += move(p->ends[k], from, c->kinds[others[k]], n) * p->size;
      p->kept += move(p->kept, from, c->kinds[keeps], n) * p->size;
    }
  }
  return true;
}

// What was put aside goes before or behind what was kept.
static bool join_part(tl_vm *vm, const part *p, int keeps) {
  const size_t rest = (size_t)(p->ends[1] - p->aside);
  const size_t kept = keeps == MORE ? (size_t)(p->kept - p->data) : 0;
  return tl_move_bytes(vm, p->data + rest, p->data, kept) &&
         tl_move_bytes(vm, p->kept - kept, p->aside, rest);
}

// The items put aside, of n.
static int64_t aside_of(const tl_nth *at, int64_t n) {
  return at->less > n / 2 ? n - at->less : at->less + at->same;
}

// What is moved: [aside] items go to the room, [first] of the kind that comes
// first there.
static bool open_part(const workspace *p, room *r, char *data, size_t size,
                      size_t aside, size_t first, part *out) {
  if (!room_for(p->vm, p->function, r, aside * size))
    return false;
  *out =
      (part){data, r->bytes, size, data, {r->bytes, r->bytes + first * size}};
  return true;
}

// Lesser items to the front, the same and greater ones behind them, each as
// they stood; and likewise their places, where there are such. The items stay
// where no later cut looks at them.
static bool cut_items(workspace *p, char *items, int64_t *places, bool fresh,
                      bool stay, int64_t n, int64_t k, int64_t *end) {
  const size_t size = tl_itemsize(p->dtype);
  const tl_ranks ranks = {.vm = p->vm,
                          .function = p->function,
                          .dtype = p->dtype,
                          .same_zero = true,
                          .items = items,
                          .n = n};
  cut c;  // large: not cleared
  tl_c128 item;
  part parts[2];
  int count = 0;
  c.vm = p->vm;
  c.items = items;
  c.n = n;
  c.dtype = p->dtype;
  if (!tl_nth_find(&ranks, k, &c.at))
    return false;
  const size_t aside = (size_t)aside_of(&c.at, n);
  const int keeps = c.at.less > n / 2 ? LESS : MORE;
  const size_t first = (size_t)(keeps == LESS ? c.at.same : c.at.less);
  if ((!stay &&
       !open_part(p, &p->aside, items, size, aside, first, &parts[count++])) ||
      (places != NULL &&
       !open_part(p, &p->places, (char *)places, sizeof *places, aside, first,
                  &parts[count++])))
    return false;
  tl_sort_from_wide(p->dtype, &item, &c.at.key, 1, false, NULL);
  tl_kernels()->fill[tl_move_size(size)](c.sought, &item, CUT_BLOCK);
  uint8_t nan = 0;
  if (tl_dtype_is_real(c.dtype))
    tl_kernels()->unary[TL_OP_ISNAN][c.dtype](&nan, &item, 1);
  c.nan = nan != 0;
  *end = c.at.less + c.at.same;
  bool ok = cut_blocks(&c, keeps, parts, count, fresh);
  while (ok && count > 0) ok = join_part(p->vm, &parts[--count], keeps);
  return ok && tl_poll(p->vm, (uint64_t)n >> 10);
}

// The kth places, which are in order; [places], where not NULL, become those of
// the items, which only move then where a later cut needs it.
static bool partition_items(workspace *p, char *items, int64_t n,
                            const int64_t *kth, int count, int64_t *places) {
  size_t size = tl_itemsize(p->dtype);
  int64_t from = 0, end;
  for (int i = 0; i < count; i++) {
    if (kth[i] < from)
      continue;
    if (!cut_items(
            p, items + (size_t)from * size,
            places == NULL ? NULL : places + from, places != NULL && from == 0,
            places != NULL && i == count - 1, n - from, kth[i] - from, &end))
      return false;
    from += end;
  }
  return true;
}

// The array's items, where they are.
static bool partition_values(tl_vm *vm, tl_array *a, int axis,
                             const int64_t *kth, int count) {
  tl_dtype dtype = tl_array_dtype(a);
  size_t size = tl_itemsize(dtype);
  int64_t n = tl_shape(a)[axis];
  if (a->size == 0 || !has_keys(dtype))
    return tl_sort_lanes(vm, a, axis, false);
  workspace p = {.vm = vm, .function = "partition", .dtype = dtype};
  bool ok =
      n > TL_NTH_FREE || room_for(vm, p.function, &p.aside, (size_t)n * size);
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 1, (tl_array *[]){a}, axis);
  for (; ok && !lanes.done; tl_lanes_next(&lanes)) {
    char *items = read_items(&p, lanes.data[0], lanes.step[0], n, false);
    ok = items != NULL && partition_items(&p, items, n, kth, count, NULL);
    if (ok && items != lanes.data[0])
      tl_kernels()->unpack[tl_move_size(size)](lanes.data[0], lanes.step[0],
                                               items, (size_t)n);
    ok = ok && tl_poll(vm, (uint64_t)n >> 10);
  }
  workspace_close(&p);
  return ok;
}

// --- argpartition ------------------------------------------------------------

// The places of x's items, of [dtype]. [out] may be x itself, lane by lane.
static bool partition_places(tl_vm *vm, tl_array *x, tl_dtype dtype,
                             tl_array *out, int axis, const int64_t *kth,
                             int count) {
  int64_t n = tl_shape(x)[axis], *order;
  if (x->size == 0 || !has_keys(dtype))
    return tl_argsort_lanes(vm, out, x, dtype, axis, false);
  workspace p = {.vm = vm, .function = "argpartition", .dtype = dtype};
  bool ok = true;
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 2, (tl_array *[]){x, out}, axis);
  for (; ok && !lanes.done; tl_lanes_next(&lanes)) {
    // The order may lie over the items, of which each block is looked at before
    // it is written over; where they move, too, they are copied.
    bool dense = lanes.step[1] == sizeof *order;
    char *items = read_items(&p, lanes.data[0], lanes.step[0], n, count > 1);
    ok = items != NULL && (dense || room_for(vm, p.function, &p.order,
                                             (size_t)n * sizeof *order));
    if (!ok)
      break;
    order = (int64_t *)(void *)(dense ? lanes.data[1] : p.order.bytes);
    if (count == 0)
      tl_kernels()->iota(order, 0, 1, (size_t)n);
    ok = partition_items(&p, items, n, kth, count, order);
    if (ok && !dense)
      tl_kernels()->unpack[tl_move_size(sizeof *order)](
          lanes.data[1], lanes.step[1], order, (size_t)n);
  }
  workspace_close(&p);
  return ok;
}

// Whether there may be no memory when items have been moved.
static bool fails_late(const tl_array *x, int axis, int count) {
  const int64_t n = tl_shape(x)[axis];
  // One lane with one place takes its memory before it moves anything.
  if (count < 2 && n == x->size)
    return false;
  return !has_keys(tl_array_dtype(x)) || n > TL_NTH_FREE;
}

// Ascending, for qsort.
static int compare_places(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// As many fit on the stack (8 KiB); more of them are nearly a sort.
enum { MOST_PLACES = 1024 };

// x, kth, axis
static bool partition_arguments(tl_vm *vm, const char *function, tl_slot *args,
                                int *axis, int *count,
                                int64_t kth[MOST_PLACES]) {
  if (!tl_arg_array_or_string(vm, function, &args[0]) ||
      !tl_arg_axis(vm, function, args[2], tl_ndim(args[0].array), -1, axis) ||
      !tl_arg_ints(vm, function, "kth", args[1], MOST_PLACES, count, kth))
    return false;
  int64_t n = tl_shape(args[0].array)[*axis];
  for (int i = 0; i < *count; i++) {
    if (kth[i] < -n || kth[i] >= n)
      return tl_fail(vm, TALLY_ERR_INDEX,
                     "%s: kth is %lld, but axis %d has %lld items", function,
                     (long long)kth[i], *axis, (long long)n);
    kth[i] += kth[i] < 0 ? n : 0;
  }
  qsort(kth, (size_t)*count, sizeof *kth, compare_places);
  return true;
}

// argpartition(x, kth, axis). The order may be written over x itself, where
// that ends here and has items of the same size.
static bool argpartition(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis, count;
  int64_t kth[MOST_PLACES];
  if (tl_is_form(args[0], TL_FORM_OPTION))
    return tl_in_tally(vm, "argpartition_by_codes", 3, args, out);
  if (!partition_arguments(vm, "argpartition", args, &axis, &count, kth))
    return false;
  tl_array *x = args[0].array;
  tl_dtype dtype = tl_array_dtype(x);
  tl_array *order = tl_array_over(vm, &args[0], TL_INT64);
  if (!order)
    return false;
  return tl_array_finish(
      vm, partition_places(vm, x, dtype, order, axis, kth, count), order, out);
}

// partition(x, kth, axis), in x's own memory where it ends here. Where a
// failure must leave x as it was (vm->keeping) and one may come late, a copy is
// divided.
static bool partition(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis, count;
  int64_t kth[MOST_PLACES];
  if (tl_is_form(args[0], TL_FORM_OPTION))
    return tl_in_tally(vm, "partition_by_codes", 3, args, out);
  if (!partition_arguments(vm, "partition", args, &axis, &count, kth))
    return false;
  const tl_array *x = args[0].array;
  tl_array *a = vm->keeping && fails_late(x, axis, count)
                    ? tl_array_copy(vm, x)
                    : tl_take_dense(vm, &args[0]);
  if (!a)
    return false;
  return tl_give_or_put_back(vm, partition_values(vm, a, axis, kth, count),
                             tl_own_array(a), &args[0], out);
}

const tl_builtin tl_select_builtins[] = {
    /// The k greatest items along an axis, in order, and their places: a record of
    /// values, of x's dtype, and indices, int64. Equal items keep their order; NaN
    /// stands where sort puts it, what is missing last. largest: false gives the
    /// least. k of more than the axis has is a value error, complex items are a
    /// type error.
    ///     topk([3, 9, 4], 2)    # (values: [9, 4], indices: [1, 2])
    ///     best, places = topk([3, 9, 4], 2)
    ///     places    # [1, 2]
    {"topk", "x, k, axis: -1, largest: true", topk, .lifts = TL_EACH_ROW,
     .types = "wnIb"},
    /// The positions that partition x along an axis: those of lesser items, then
    /// that of the item that is number kth in order (or several), then those of
    /// greater ones. take_along_axis(x, argpartition(x, kth), axis: axis) is
    /// partition(x, kth). int64, of x's shape; of any dtype. By radix selection
    /// (Alabi, Blanchard, Gordon and Steinbach, 2012). A kth beyond the axis is
    /// an index error.
    ///     argpartition([3, 1, 2], 1)    # [1, 2, 0]
    {"argpartition", "x, kth, axis: -1", argpartition, .lifts = TL_EACH_ROW,
     .takes = TL_BYTES},
    /// x with, along an axis, the item that is number kth in order (or several) in
    /// its place: lesser ones before, greater ones behind it, as they stood. Out of
    /// range an index error.
    ///     partition([3, 1, 2], 1)    # [1, 2, 3]
    {"partition", "x, kth, axis: -1", partition, TL_STOPS,
     .restores = TL_ARRAYS, .lifts = TL_EACH_ROW, .takes = TL_BYTES},
    {.name = NULL},
};
