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

// The number of low bits that keys differ in.
static int differing_bits(const uint64_t *keys, int64_t n) {
  uint64_t differ = 0;
  for (int64_t i = 0; i < n; i++) differ |= keys[i] ^ keys[0];
  return differ ? 64 - __builtin_clzll(differ) : 0;
}

// The key of place k, of n > k. [left] has room for n; it may be [keys].
static chosen select_key(const uint64_t *keys, uint64_t *left, int64_t n,
                         int64_t k) {
  int64_t place = k;
  int shift = differing_bits(keys, n);
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

// --- argpartition ------------------------------------------------------------

// Puts the places order[from, n) apart at place k: those of lesser items, of
// items equal to that one, of greater ones, each as they stood. Returns where
// the last begin. Places that no one moved yet are not written down.
static int64_t split_at(lane *l, int64_t from, int64_t k, bool moved) {
  int64_t n = l->n - from, *order = l->order + from, *other = l->other;
  if (moved) {
    for (int64_t i = 0; i < n; i++) l->left[i] = l->keys[order[i]];
    memcpy(other, order, (size_t)n * sizeof *order);
  }
  chosen at = select_key(moved ? l->left : l->keys, l->left, n, k - from);
  int64_t less = 0, same = at.less, more = at.less + at.same;
  for (int64_t i = 0; i < n; i++) {
    int64_t place = moved ? other[i] : i;
    uint64_t key = l->keys[place];
    // Without a branch, which would be wrong half the time.
    int64_t is_less = key < at.key;
    int64_t is_more = key > at.key;
    order[same + ((less - same) & -is_less) + ((more - same) & -is_more)] =
        place;
    less += is_less;
    more += is_more;
    same += 1 - is_less - is_more;
  }
  return from + at.less + at.same;
}

static int compare_places(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// The places in [kth] are in order.
static bool partition_lane(tl_vm *vm, lane *l, const int64_t *kth, int count) {
  if (!has_keys(l->dtype))
    return tl_argsort_items(vm, l->dtype, l->order, l->items, l->n, false);
  if (!lane_keys(vm, l, false))
    return false;
  if (count == 0)
    for (int64_t i = 0; i < l->n; i++) l->order[i] = i;
  int64_t from = 0;
  for (int i = 0; i < count; i++) {
    if (kth[i] >= from)
      from = split_at(l, from, kth[i], i > 0);
    if (!tl_poll(vm, (uint64_t)(l->n - from) >> 10))
      return false;
  }
  return true;
}

// x's items, of [dtype], in the order found: their places, or the items. [out]
// may be x itself, lane by lane.
static bool partition_lanes(tl_vm *vm, const char *function, tl_array *x,
                            tl_dtype dtype, tl_array *out, int axis,
                            const int64_t *kth, int count, bool places) {
  lane l;
  if (!lane_open(vm, function, dtype, tl_shape(x)[axis], &l))
    return false;
  bool ok = true;
  size_t size = places ? sizeof *l.order : tl_itemsize(dtype);
  unsigned move = tl_move_size(size);
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 2, (tl_array *[]){x, out}, axis);
  for (; ok && !lanes.done; tl_lanes_next(&lanes)) {
    ok = lane_read(vm, &l, lanes.data[0], lanes.step[0]) &&
         partition_lane(vm, &l, kth, count);
    const void *items = l.order;
    if (ok && !places) {
      tl_kernels()->take[move](l.keys, l.items, (ptrdiff_t)size, l.order,
                               (size_t)l.n);
      items = l.keys;
    }
    if (ok)
      tl_kernels()->unpack[move](lanes.data[1], lanes.step[1], items,
                                 (size_t)l.n);
  }
  lane_close(vm, &l);
  return ok;
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
  if (!partition_lanes(vm, "argpartition", x, dtype, order, axis, kth, count,
                       true)) {
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
  if (!partition_lanes(vm, "partition", a, tl_array_dtype(a), a, axis, kth,
                       count, false)) {
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
