// The k greatest or least items along an axis.

#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "vm/record.h"
#include "vm/vm.h"

// The first k of each lane's order, as items and as their places.
static bool take_lanes(tl_vm *vm, tl_array *x, tl_array *values,
                       tl_array *places, int axis, bool largest) {
  int64_t n = tl_shape(x)[axis], k = tl_shape(values)[axis];
  size_t itemsize = tl_itemsize(tl_array_dtype(x));
  size_t front = ((size_t)n * sizeof(int64_t) + 63) / 64 * 64;
  size_t nbytes = front + ((size_t)n + 1) * itemsize;
  int64_t *order = tl_alloc(vm, nbytes < 64 ? 64 : nbytes, "topk");
  if (!order)
    return false;
  char *items = (char *)order + front;
  bool ok = true;
  tl_lanes lanes;
  tl_lanes_begin(&lanes, 3, (tl_array *[]){x, values, places}, axis);
  for (; ok && !lanes.done; tl_lanes_next(&lanes)) {
    for (int64_t i = 0; i < n; i++)
      memcpy(items + (size_t)i * itemsize, lanes.data[0] + i * lanes.step[0],
             itemsize);
    ok = tl_argsort_items(vm, tl_array_dtype(x), order, items, n, largest);
    for (int64_t i = 0; ok && i < k; i++) {
      memcpy(lanes.data[1] + i * lanes.step[1],
             items + (size_t)order[i] * itemsize, itemsize);
      memcpy(lanes.data[2] + i * lanes.step[2], &order[i], sizeof *order);
    }
  }
  tl_free(vm, order, nbytes < 64 ? 64 : nbytes);
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

const tl_builtin tl_topk_builtins[] = {
    {"topk", "x, k, axis: -1, largest: true", topk, TL_PURE,
     "The k greatest items along an axis, in order, and their places: a record "
     "of\n"
     "values, of x's dtype, and indices, int64. Equal items keep their order; "
     "NaN\n"
     "stands where sort puts it. largest: false gives the least. k of more "
     "than the\n"
     "axis has is a value error, complex items are a type error.\n"
     "    topk([3, 9, 4], 2)    # (values: [9, 4], indices: [1, 2])\n"},
    {NULL, NULL, NULL, 0, NULL},
};
