// Parts of an order: the k greatest or least items along an axis, and what
// comes before and behind a place, without sorting the rest.
//
// Items become keys of 64 bits. The key of a place in their order is found
// digit by digit, from the highest on, among those that are left (radix
// selection), and one more pass tells who comes before it and who behind.

#include <stdlib.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "stdlib/missing_order.h"
#include "vm/kernels/sort.h"
#include "vm/poll.h"
#include "vm/values/record.h"
#include "vm/vm.h"

// --- Selection ---------------------------------------------------------------

// Of few keys, short digits: their counts are cleared and searched each time.
enum { FEW = 4096, FEW_BITS = 8, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

// A place's key, and how many keys are less and how many the same.
typedef struct chosen {
  uint64_t key;
  int64_t less, same;
} chosen;

// The bucket that place [k] is in, of so many; *k becomes the place in it.
static size_t find_bucket(const int64_t counts[DIGITS], int64_t *k) {
  size_t bucket = 0;
  for (; *k >= counts[bucket]; bucket++) *k -= counts[bucket];
  return bucket;
}

// The number of low bits that are not the same in all keys.
static int width_of(uint64_t differ) {
  return differ ? 64 - __builtin_clzll(differ) : 0;
}

static uint64_t differing(const uint64_t *keys, int64_t n, uint64_t first) {
  uint64_t differ = 0;
  for (int64_t i = 0; i < n; i++) differ |= keys[i] ^ first;
  return differ;
}

// The key of place k, of n > k keys that differ in [shift] low bits. [left] has
// room for n; it may be [keys].
static chosen select_bits(const uint64_t *keys, uint64_t *left, int64_t n,
                          int64_t k, int shift) {
  int64_t place = k;
  for (; n > 1 && shift > 0; keys = left) {
    int bits = n < FEW ? FEW_BITS : DIGIT_BITS;
    bits = shift < bits ? shift : bits;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    shift -= bits;
    int64_t counts[DIGITS];
    memset(counts, 0, sizeof *counts << bits);
    for (int64_t i = 0; i < n; i++) counts[keys[i] >> shift & mask]++;
    size_t bucket = find_bucket(counts, &place);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
      uint64_t key = keys[i];
      left[count] = key;
      count += (key >> shift & mask) == bucket;
    }
    n = count;
  }
  return (chosen){.key = keys[0], .less = k - place, .same = n};
}

static chosen select_key(const uint64_t *keys, uint64_t *left, int64_t n,
                         int64_t k) {
  return select_bits(keys, left, n, k, width_of(differing(keys, n, keys[0])));
}

// --- Lanes -------------------------------------------------------------------

// Room for the work on a lane of n items.
typedef struct lane {
  tl_dtype dtype;
  int64_t n;
  char *items;
  uint64_t *keys, *left;
  int64_t *order, *other;
  size_t nbytes;
} lane;

static bool lane_open(tl_vm *vm, const char *function, tl_dtype dtype,
                      int64_t n, lane *out) {
  // One more: selection writes a key behind those that are left.
  size_t words = ((size_t)n + 8) / 8 * 8, itemsize = tl_itemsize(dtype);
  *out = (lane){.dtype = dtype, .n = n};
  if (tl_mul_overflows(words, 4 * sizeof *out->keys + itemsize, &out->nbytes))
    return tl_fail_memory(vm, SIZE_MAX, function);
  out->keys = tl_alloc(vm, out->nbytes, function);
  if (!out->keys)
    return false;
  out->left = out->keys + words;
  out->order = (int64_t *)(out->left + words);
  out->other = out->order + words;
  out->items = (char *)(out->other + words);
  return true;
}

static void lane_close(tl_vm *vm, lane *l) {
  tl_free(vm, l->keys, l->nbytes);
}

static bool lane_read(tl_vm *vm, lane *l, const char *data, int64_t step) {
  size_t itemsize = tl_itemsize(l->dtype);
  tl_kernels()->pack[tl_move_size(itemsize)](l->items, data, step,
                                             (size_t)l->n);
  return tl_poll(vm, (uint64_t)l->n >> 10);
}

static bool lane_keys(tl_vm *vm, lane *l, bool descending) {
  tl_stop stop = tl_stop_of(vm);
  tl_sort_keys(l->dtype, l->keys, l->items, (size_t)l->n, descending, true,
               &stop);
  return tl_poll(vm, 0);
}

static bool has_keys(tl_dtype dtype) {
  return dtype != TL_STRING && !tl_dtype_is_complex(dtype);
}

// --- topk --------------------------------------------------------------------

// The places of the k first in order, k > 0; equal ones as they stand.
static bool first_places(tl_vm *vm, lane *l, int64_t k, bool descending) {
  if (!lane_keys(vm, l, descending))
    return false;
  chosen last = select_key(l->keys, l->left, l->n, k - 1);
  int64_t count = 0, same = k - last.less;
  for (int64_t i = 0; count < k; i++) {
    uint64_t key = l->keys[i];
    bool is_same = key == last.key && same > 0;
    l->other[count] = i;
    count += key < last.key || is_same;
    same -= is_same;
  }
  // The keys are done with, and at least as long as the items.
  size_t itemsize = tl_itemsize(l->dtype);
  char *firsts = (char *)l->keys;
  int64_t *order = (int64_t *)l->left;
  for (int64_t i = 0; i < k; i++)
    memcpy(firsts + (size_t)i * itemsize,
           l->items + (size_t)l->other[i] * itemsize, itemsize);
  if (!tl_argsort_items(vm, l->dtype, order, firsts, k, descending))
    return false;
  for (int64_t i = 0; i < k; i++) l->order[i] = l->other[order[i]];
  return true;
}

static bool take_lanes(tl_vm *vm, tl_array *x, tl_array *values,
                       tl_array *places, int axis, bool largest) {
  int64_t k = tl_shape(values)[axis];
  tl_dtype dtype = tl_array_dtype(x);
  size_t itemsize = tl_itemsize(dtype);
  lane l;
  if (!lane_open(vm, "topk", dtype, tl_shape(x)[axis], &l))
    return false;
  bool ok = true;
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 3, (tl_array *[]){x, values, places}, axis);
  for (; ok && !lanes.done; tl_lanes_next(&lanes)) {
    ok = lane_read(vm, &l, lanes.data[0], lanes.step[0]) &&
         first_places(vm, &l, k, largest);
    for (int64_t i = 0; ok && i < k; i++) {
      memcpy(lanes.data[1] + i * lanes.step[1],
             l.items + (size_t)l.order[i] * itemsize, itemsize);
      memcpy(lanes.data[2] + i * lanes.step[2], &l.order[i], sizeof *l.order);
    }
  }
  lane_close(vm, &l);
  return ok;
}

// Takes both.
static bool give(tl_vm *vm, tl_slot values, tl_slot places, tl_slot *out) {
  tl_record *record = tl_record_new(vm, 2);
  bool ok = record && tl_record_set_name(vm, &record, "values", &values) &&
            tl_record_set_name(vm, &record, "indices", &places);
  tl_drop(vm, values);
  tl_drop(vm, places);
  if (ok)
    *out = tl_own_record(record);
  else if (record)
    tl_drop(vm, tl_own_record(record));
  return ok;
}

static bool topk(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  int64_t k, shape[TL_MAX_DIMS];
  bool largest;
  if (tl_is_form(args[0], TL_FORM_OPTION)) {
    return tl_arg_bool(vm, "topk", "largest", args[3], &largest) &&
           tl_coded_call(vm, "topk", topk, largest, TL_ANSWER_RECORD, args,
                         out);
  }
  if (!tl_arg_numeric(vm, "topk", &args[0]) ||
      !tl_arg_count(vm, "topk", "k", args[1], &k) ||
      !tl_arg_bool(vm, "topk", "largest", args[3], &largest))
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
  if (places &&
      (values->size == 0 || take_lanes(vm, x, values, places, axis, largest)))
    return give(vm, tl_own_array(values), tl_own_array(places), out);
  if (values)
    tl_drop(vm, tl_own_array(values));
  if (places)
    tl_drop(vm, tl_own_array(places));
  return false;
}

// --- partition ---------------------------------------------------------------
//
// A lane has its keys, those of them that are left after the first digit, and
// the items that are the same as the one sought; greater items go where keys
// are that are done with.

// Room that is made when it is first needed, and kept for further lanes.
typedef struct room {
  char *bytes;
  size_t nbytes;
} room;

static bool room_for(tl_vm *vm, const char *function, room *r, size_t nbytes) {
  if (nbytes <= r->nbytes)
    return true;
  tl_free(vm, r->bytes, r->nbytes);
  *r = (room){.bytes = tl_alloc(vm, nbytes, function)};
  r->nbytes = r->bytes == NULL ? 0 : nbytes;
  return r->bytes != NULL;
}

static uint64_t *words_of(const room *r) {
  return (uint64_t *)(void *)r->bytes;
}

typedef struct parting {
  tl_vm *vm;
  const char *function;
  tl_dtype dtype;
  room items, keys, left, same;
  room order, moved, before;  // of argpartition
  uint64_t few[FEW];
} parting;

static parting *parting_open(tl_vm *vm, const char *function, tl_dtype dtype) {
  parting *p = tl_alloc(vm, sizeof *p, function);
  if (p == NULL)
    return NULL;
  memset(p, 0, sizeof *p - sizeof p->few);
  p->vm = vm;
  p->function = function;
  p->dtype = dtype;
  return p;
}

static void parting_close(parting *p) {
  if (p == NULL)
    return;
  room *all[] = {&p->items, &p->keys,  &p->left,  &p->same,
                 &p->order, &p->moved, &p->before};
  for (int i = 0; i < 7; i++) tl_free(p->vm, all[i]->bytes, all[i]->nbytes);
  tl_free(p->vm, p, sizeof *p);
}

// A lane's items side by side, where they are or copied; NULL after tl_fail.
static char *read_items(parting *p, char *data, int64_t step, int64_t n) {
  size_t size = tl_itemsize(p->dtype);
  if (step == (int64_t)size)
    return data;
  if (!room_for(p->vm, p->function, &p->items, (size_t)n * size))
    return NULL;
  tl_kernels()->pack[tl_move_size(size)](p->items.bytes, data, step, (size_t)n);
  return p->items.bytes;
}

static bool make_keys(parting *p, const char *items, int64_t n) {
  tl_stop stop = tl_stop_of(p->vm);
  if (!room_for(p->vm, p->function, &p->keys, (size_t)n * sizeof(uint64_t)))
    return false;
  tl_sort_keys(p->dtype, words_of(&p->keys), items, (size_t)n, false, true,
               &stop);
  return tl_poll(p->vm, (uint64_t)n >> 10);
}

// As select_key, but what is left is written elsewhere: the keys stay.
static bool find_key(parting *p, const uint64_t *keys, int64_t n, int64_t k,
                     chosen *out) {
  int shift = width_of(differing(keys, n, keys[0]));
  if (n <= FEW) {
    *out = select_bits(keys, p->few, n, k, shift);
    return true;
  }
  int64_t counts[DIGITS] = {0}, kept = 0, place = k;
  int bits = shift < DIGIT_BITS ? shift : DIGIT_BITS;
  uint64_t mask = ((uint64_t)1 << bits) - 1;
  shift -= bits;
  for (int64_t i = 0; i < n; i++) counts[keys[i] >> shift & mask]++;
  uint64_t bucket = find_bucket(counts, &place);
  // One more: a key is written behind those that are left.
  if (!room_for(p->vm, p->function, &p->left,
                (size_t)(counts[bucket] + 1) * sizeof(uint64_t)))
    return false;
  uint64_t *left = words_of(&p->left);
  for (int64_t i = 0; kept < counts[bucket]; i++) {
    uint64_t key = keys[i];
    left[kept] = key;
    kept += (key >> shift & mask) == bucket;
  }
  *out = select_bits(left, left, kept, place, shift);
  out->less += k - place;
  return true;
}

// Lesser items to the front, the same and greater ones behind them, each as
// they stood.
static inline __attribute__((always_inline)) void split_sized(
    char *items, int64_t n, char *keys, char *equal, const chosen *at,
    size_t size) {
  char *less = items, *more = keys, *same = equal;
  for (int64_t i = 0; i < n; i++) {
    uint64_t key = ((const uint64_t *)(const void *)keys)[i];
    // Without a branch, which would be wrong half the time.
    size_t is_less = 0 - (size_t)(key < at->key);
    size_t is_more = 0 - (size_t)(key > at->key);
    size_t is_same = ~(is_less | is_more);
    char *to =
        (char *)(((uintptr_t)less & is_less) | ((uintptr_t)more & is_more) |
                 ((uintptr_t)same & is_same));
    memmove(to, items + (size_t)i * size, size);
    less += size & is_less;
    more += size & is_more;
    same += size & is_same;
  }
  memcpy(less, equal, (size_t)(same - equal));
  memcpy(less + (same - equal), keys, (size_t)(more - keys));
}

static void split_items(parting *p, char *items, int64_t n, const chosen *at) {
  char *keys = p->keys.bytes, *same = p->same.bytes;
  switch (tl_itemsize(p->dtype)) {
    case 1:
      split_sized(items, n, keys, same, at, 1);
      break;
    case 2:
      split_sized(items, n, keys, same, at, 2);
      break;
    case 4:
      split_sized(items, n, keys, same, at, 4);
      break;
    default:
      split_sized(items, n, keys, same, at, 8);
  }
}

// The places in [kth] are in order.
static bool partition_items(parting *p, char *items, int64_t n,
                            const int64_t *kth, int count) {
  size_t size = tl_itemsize(p->dtype);
  int64_t from = 0;
  for (int i = 0; i < count; i++) {
    chosen at;
    if (kth[i] < from)
      continue;
    char *begin = items + (size_t)from * size;
    if (!make_keys(p, begin, n - from) ||
        !find_key(p, words_of(&p->keys), n - from, kth[i] - from, &at) ||
        !room_for(p->vm, p->function, &p->same, (size_t)at.same * size))
      return false;
    split_items(p, begin, n - from, &at);
    from += at.less + at.same;
  }
  return true;
}

// Of dtypes without keys.
static bool sort_items(parting *p, char *items, int64_t n) {
  size_t size = tl_itemsize(p->dtype), nbytes = (size_t)n * size;
  if (!room_for(p->vm, p->function, &p->keys, (size_t)n * sizeof(int64_t)) ||
      !room_for(p->vm, p->function, &p->same, nbytes))
    return false;
  int64_t *order = (int64_t *)(void *)p->keys.bytes;
  if (!tl_argsort_items(p->vm, p->dtype, order, items, n, false))
    return false;
  tl_kernels()->take[tl_move_size(size)](p->same.bytes, items, (ptrdiff_t)size,
                                         order, (size_t)n);
  memcpy(items, p->same.bytes, nbytes);
  return true;
}

// The array's items, where they are.
static bool partition_values(tl_vm *vm, tl_array *a, int axis,
                             const int64_t *kth, int count) {
  tl_dtype dtype = tl_array_dtype(a);
  size_t size = tl_itemsize(dtype);
  int64_t n = tl_shape(a)[axis];
  if (a->size == 0)
    return true;
  parting *p = parting_open(vm, "partition", dtype);
  bool ok = p != NULL;
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 1, (tl_array *[]){a}, axis);
  for (; ok && !lanes.done; tl_lanes_next(&lanes)) {
    char *items = read_items(p, lanes.data[0], lanes.step[0], n);
    ok = items != NULL &&
         (has_keys(dtype) ? partition_items(p, items, n, kth, count)
                          : sort_items(p, items, n));
    if (ok && items != lanes.data[0])
      tl_kernels()->unpack[tl_move_size(size)](lanes.data[0], lanes.step[0],
                                               items, (size_t)n);
    ok = ok && tl_poll(vm, (uint64_t)n >> 10);
  }
  parting_close(p);
  return ok;
}

// --- argpartition ------------------------------------------------------------

// Puts the places order[from, n) apart at place k, as split_items does items;
// *end: where those of greater ones begin. Places that no one moved yet are not
// written down.
static bool split_places(parting *p, int64_t *order, int64_t n, int64_t from,
                         int64_t k, int64_t *end) {
  const uint64_t *keys = words_of(&p->keys);
  size_t nbytes = (size_t)(n - from) * sizeof *order;
  const int64_t *before = NULL;
  order += from;
  n -= from;
  if (from > 0) {
    if (!room_for(p->vm, p->function, &p->moved, nbytes) ||
        !room_for(p->vm, p->function, &p->before, nbytes))
      return false;
    uint64_t *moved = words_of(&p->moved);
    for (int64_t i = 0; i < n; i++) moved[i] = keys[order[i]];
    keys = moved;
    memcpy(p->before.bytes, order, nbytes);
    before = (const int64_t *)(const void *)p->before.bytes;
  }
  chosen at;
  if (!find_key(p, keys, n, k - from, &at))
    return false;
  int64_t less = 0, same = at.less, more = at.less + at.same;
  for (int64_t i = 0; i < n; i++) {
    // Without a branch, which would be wrong half the time.
    int64_t is_less = keys[i] < at.key;
    int64_t is_more = keys[i] > at.key;
    order[same + ((less - same) & -is_less) + ((more - same) & -is_more)] =
        before == NULL ? i : before[i];
    less += is_less;
    more += is_more;
    same += 1 - is_less - is_more;
  }
  *end = from + at.less + at.same;
  return tl_poll(p->vm, (uint64_t)n >> 10);
}

// The places of the items, which [order] may lie over where they have keys.
static bool order_items(parting *p, const char *items, int64_t n,
                        const int64_t *kth, int count, int64_t *order) {
  if (!has_keys(p->dtype))
    return tl_argsort_items(p->vm, p->dtype, order, items, n, false);
  if (!make_keys(p, items, n))
    return false;
  if (count == 0)
    for (int64_t i = 0; i < n; i++) order[i] = i;
  int64_t from = 0;
  for (int i = 0; i < count; i++)
    if (kth[i] >= from && !split_places(p, order, n, from, kth[i], &from))
      return false;
  return true;
}

// The places of x's items, of [dtype]. [out] may be x itself, lane by lane.
static bool partition_places(tl_vm *vm, tl_array *x, tl_dtype dtype,
                             tl_array *out, int axis, const int64_t *kth,
                             int count) {
  int64_t n = tl_shape(x)[axis], *order;
  if (x->size == 0)
    return true;
  parting *p = parting_open(vm, "argpartition", dtype);
  bool ok = p != NULL;
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 2, (tl_array *[]){x, out}, axis);
  for (; ok && !lanes.done; tl_lanes_next(&lanes)) {
    bool dense = has_keys(dtype) && lanes.step[1] == sizeof *order;
    const char *items = read_items(p, lanes.data[0], lanes.step[0], n);
    ok = items != NULL && (dense || room_for(vm, p->function, &p->order,
                                             (size_t)n * sizeof *order));
    if (!ok)
      break;
    order = (int64_t *)(void *)(dense ? lanes.data[1] : p->order.bytes);
    ok = order_items(p, items, n, kth, count, order);
    if (ok && !dense)
      tl_kernels()->unpack[tl_move_size(sizeof *order)](
          lanes.data[1], lanes.step[1], order, (size_t)n);
  }
  parting_close(p);
  return ok;
}

static int compare_places(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

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

static bool argpartition(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis, count;
  int64_t kth[MOST_PLACES];
  if (tl_is_form(args[0], TL_FORM_OPTION)) {
    return tl_coded_call(vm, "argpartition", argpartition, false,
                         TL_ANSWER_PLACES, args, out);
  }
  if (!partition_arguments(vm, "argpartition", args, &axis, &count, kth))
    return false;
  tl_array *x = args[0].array;
  tl_dtype dtype = tl_array_dtype(x);
  tl_array *order = tl_array_over(vm, &args[0], TL_INT64);
  if (!order)
    return false;
  if (!partition_places(vm, x, dtype, order, axis, kth, count)) {
    tl_drop(vm, tl_own_array(order));
    return false;
  }
  *out = tl_own_array(order);
  return true;
}

static bool partition(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis, count;
  int64_t kth[MOST_PLACES];
  if (tl_is_form(args[0], TL_FORM_OPTION)) {
    return tl_coded_call(vm, "partition", partition, false, TL_ANSWER_VALUES,
                         args, out);
  }
  if (!partition_arguments(vm, "partition", args, &axis, &count, kth))
    return false;
  tl_array *a = tl_take_dense(vm, &args[0]);
  if (!a)
    return false;
  if (!partition_values(vm, a, axis, kth, count)) {
    tl_drop(vm, tl_own_array(a));
    return false;
  }
  *out = tl_own_array(a);
  return true;
}

const tl_builtin tl_select_builtins[] = {
    {"topk", "x, k, axis: -1, largest: true", topk, TL_EACH_ROW | TL_OF_ROWS,
     TL_DOC(
         "The k greatest items along an axis, in order, and their places: a record of\n"
         "values, of x's dtype, and indices, int64. Equal items keep their order; NaN\n"
         "stands where sort puts it, what is missing last. largest: false gives the\n"
         "least. k of more than the axis has is a value error, complex items are a\n"
         "type error.\n"
         "    topk([3, 9, 4], 2)    # (values: [9, 4], indices: [1, 2])\n")},
    {"argpartition", "x, kth, axis: -1", argpartition,
     TL_EACH_ROW | TL_OF_ROWS | TL_OF_BYTES,
     TL_DOC(
         "The positions that partition x along an axis: those of lesser items, then\n"
         "that of the item that is number kth in order (or several), then those of\n"
         "greater ones. take_along_axis(x, argpartition(x, kth), axis: axis) is\n"
         "partition(x, kth). int64, of x's shape; of any dtype. By radix selection\n"
         "(Alabi, Blanchard, Gordon and Steinbach, 2012). A kth beyond the axis is\n"
         "an index error.\n"
         "    argpartition([3, 1, 2], 1)    # [1, 2, 0]\n")},
    {"partition", "x, kth, axis: -1", partition,
     TL_EACH_ROW | TL_OF_ROWS | TL_OF_BYTES,
     TL_DOC(
         "x with, along an axis, the item that is number kth in order (or several) in\n"
         "its place: lesser ones before, greater ones behind it, as they stood. Out of\n"
         "range an index error.\n"
         "    partition([3, 1, 2], 1)    # [1, 2, 3]\n")},
    {NULL, NULL, NULL, 0, NULL},
};
