// Ranges: their length, checked, and their items as an array.
//
//   length = (distance between the ends - 1) / |step| + 1, or 0
//
// The distance of two int64 may need 64 bits without a sign.

#include "vm/array/range.h"

#include "vm/array/array.h"

// The number of items. Computed without a sign: the distance of two int64 fits
// in 64 bits only so.
static uint64_t range_length(int64_t start, int64_t stop, int64_t step) {
  if (step > 0 ? start >= stop : start <= stop)
    return 0;
  uint64_t distance = step > 0 ? (uint64_t)stop - (uint64_t)start
                               : (uint64_t)start - (uint64_t)stop;
  uint64_t size = step > 0 ? (uint64_t)step : -(uint64_t)step;
  return (distance - 1) / size + 1;
}

// A range whose step leads away from its stop is empty, which is no error.
tl_range *tl_range_new(tl_vm *vm, int64_t start, int64_t stop, int64_t step) {
  if (step == 0) {
    tl_fail(vm, TALLY_ERR_VALUE, "the step of a range is 0");
    return NULL;
  }
  uint64_t length = range_length(start, stop, step);
  if (length > INT64_MAX) {
    tl_fail(vm, TALLY_ERR_VALUE, "the range %lld..%lld has too many items",
            (long long)start, (long long)stop);
    return NULL;
  }
  tl_range *range =
      tl_object_new(vm, TL_KIND_RANGE, sizeof(tl_range), "a range");
  if (range == NULL)
    return NULL;
  range->start = start;
  range->stop = stop;
  range->step = step;
  range->length = (int64_t)length;
  return range;
}

tl_array *tl_range_to_array(tl_vm *vm, const tl_range *range) {
  tl_array *array = tl_array_new(vm, TL_INT64, 1, &range->length);
  if (array == NULL)
    return NULL;
  int64_t *items = (int64_t *)(void *)array->data;
  for (int64_t i = 0; i < range->length; i++)
    items[i] = tl_range_item(range, i);
  return array;
}
