// Reductions and running folds: any axes and layouts against a naive
// reference, the same bits for every layout, and empty arrays.
#include "tests/unit/fixture.h"

#include <math.h>
#include <stdio.h>

#include "vm/engine/engine.h"
#include "vm/kernels/kernels.h"

// --- Helpers ----------------------------------------------------------------

static uint32_t seed = 7;
static int64_t chance(int64_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (int64_t)((seed >> 8) % (uint32_t)n);
}

static double real_item(tl_dtype dtype, const char *item) {
  tl_c128 value;
  tl_kernels()->cast[dtype][TL_COMPLEX128](&value, item, 1);
  return value.re;
}

static double item_at(const tl_array *a, int64_t position) {
  const char *item = a->data;
  for (int i = tl_ndim(a) - 1; i >= 0; i--) {
    item += tl_strides(a)[i] * (position % tl_shape(a)[i]);
    position /= tl_shape(a)[i];
  }
  return real_item(tl_array_dtype(a), item);
}

// A random array seen through transposed, reversed and stepped axes.
static tl_slot random_view(tl_vm *vm, tl_dtype dtype, int ndim,
                           const int64_t *shape, tl_slot *base) {
  int64_t full[TL_MAX_DIMS], strides[TL_MAX_DIMS], steps[TL_MAX_DIMS];
  int order[TL_MAX_DIMS];
  for (int i = 0; i < ndim; i++) order[i] = i;
  for (int i = ndim - 1; i > 0 && chance(2); i--) {
    int j = (int)chance(i + 1), swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  for (int i = 0; i < ndim; i++) steps[i] = chance(4) == 0 ? 2 : 1;
  for (int i = 0; i < ndim; i++) full[i] = shape[order[i]] * steps[order[i]];
  tl_array *a = tl_array_new(vm, dtype, ndim, full);
  assert_non_null(a);
  for (int64_t i = 0; i < a->size; i++) {
    double value = tl_dtype_is_integer(dtype)
                       ? (double)(1 + chance(100))
                       : (double)(1 + chance(1000000)) / 1000;
    tl_kernels()->cast[TL_FLOAT64][dtype](
        a->data + (size_t)i * tl_itemsize(dtype), &value, 1);
  }
  char *data = a->data;
  for (int i = 0; i < ndim; i++) {
    int axis = order[i];
    strides[axis] = tl_strides(a)[i] * steps[axis];
    if (chance(3) == 0 && shape[axis] > 0) {
      data += (shape[axis] - 1) * strides[axis];
      strides[axis] = -strides[axis];
    }
  }
  *base = tl_own_array(a);
  tl_slot borrowed = tl_borrow(*base);
  return tl_own_array(
      tl_view_new(vm, &borrowed, dtype, data, ndim, shape, strides));
}

static tl_slot random_case(tl_vm *vm, tl_dtype dtype, tl_slot *base) {
  static const int64_t sizes[] = {1, 2, 3, 7, 20, 130, 1500};
  int ndim = 1 + (int)chance(4);
  int64_t shape[TL_MAX_DIMS], size = 1;
  for (int i = 0; i < ndim; i++) {
    shape[i] = sizes[chance(7)];
    while (size * shape[i] > 8000) shape[i] = 1 + chance(3);
    size *= shape[i];
  }
  return random_view(vm, dtype, ndim, shape, base);
}

// The lane of result [position]: calls [each] for its items in order.
typedef struct lane_iterator {
  const tl_array *a;
  uint32_t axes;
  int64_t index[TL_MAX_DIMS];
  bool done;
} lane_iterator;

static void lane_begin(lane_iterator *it, const tl_array *a, uint32_t axes,
                       int64_t position) {
  it->a = a;
  it->axes = axes;
  it->done = false;
  for (int i = tl_ndim(a) - 1; i >= 0; i--) {
    it->index[i] = 0;
    if ((axes >> i & 1) == 0) {
      it->index[i] = position % tl_shape(a)[i];
      position /= tl_shape(a)[i];
    }
  }
}

static double lane_next(lane_iterator *it) {
  const char *item = it->a->data;
  for (int i = 0; i < tl_ndim(it->a); i++) {
    item += it->index[i] * tl_strides(it->a)[i];
  }
  it->done = true;
  for (int i = tl_ndim(it->a) - 1; i >= 0; i--) {
    if ((it->axes >> i & 1) == 0)
      continue;
    if (++it->index[i] < tl_shape(it->a)[i]) {
      it->done = false;
      break;
    }
    it->index[i] = 0;
  }
  return real_item(tl_array_dtype(it->a), item);
}

static double reference(tl_reduction reduction, const tl_array *a,
                        uint32_t axes, int64_t position) {
  lane_iterator it;
  long double sum = 0, squares = 0, product = 1, n = 0;
  double low = INFINITY, high = -INFINITY;
  int64_t at_low = 0, at_high = 0, at = 0;
  for (lane_begin(&it, a, axes, position); !it.done; at++) {
    double x = lane_next(&it);
    sum += x, product *= x, n++;
    if (x < low)
      low = x, at_low = at;
    if (x > high)
      high = x, at_high = at;
  }
  for (lane_begin(&it, a, axes, position); !it.done;) {
    long double d = lane_next(&it) - sum / n;
    squares += d * d;
  }
  switch (reduction) {
    case TL_REDUCE_SUM:
      return (double)sum;
    case TL_REDUCE_MEAN:
      return (double)(sum / n);
    case TL_REDUCE_VAR:
      return (double)(squares / n);
    case TL_REDUCE_STD:
      return (double)sqrtl(squares / n);
    case TL_REDUCE_MIN:
      return low;
    case TL_REDUCE_MAX:
      return high;
    case TL_REDUCE_ARGMIN:
      return (double)at_low;
    case TL_REDUCE_ARGMAX:
      return (double)at_high;
    case TL_REDUCE_COUNT_NONZERO:
      return (double)n;
    default:
      return (double)product;
  }
}

static tl_slot reduce(tl_vm *vm, tl_reduction reduction, tl_slot x,
                      uint32_t axes, bool keepdims) {
  tl_slot borrowed = tl_borrow(x), out;
  if (!tl_reduce(vm, reduction, &borrowed, axes, keepdims, TL_DTYPE_COUNT, 0,
                 &out)) {
    printf("%s\n", vm->error.message);
    fail();
  }
  return out;
}

static tl_slot as_array(tl_vm *vm, tl_slot s) {
  if (tl_is_array(s))
    return s;
  tl_slot out;
  assert_true(tl_as_array(vm, "test", s, &out));
  return out;
}

// --- Tests ------------------------------------------------------------------

static void any_layout_gives_the_reference(void **state) {
  tl_vm *vm = *state;
  static const tl_dtype dtypes[] = {TL_FLOAT64, TL_FLOAT32, TL_INT32, TL_UINT8,
                                    TL_INT64};
  static const tl_reduction reductions[] = {
      TL_REDUCE_SUM,    TL_REDUCE_MIN,    TL_REDUCE_MAX,
      TL_REDUCE_ARGMIN, TL_REDUCE_ARGMAX, TL_REDUCE_MEAN,
      TL_REDUCE_VAR,    TL_REDUCE_STD,    TL_REDUCE_COUNT_NONZERO};
  for (int round = 0; round < 3000; round++) {
    tl_slot base, x = random_case(vm, dtypes[chance(5)], &base);
    uint32_t axes = (uint32_t)chance(1 << tl_ndim(x.array));
    if (chance(3) == 0)
      axes = (1u << tl_ndim(x.array)) - 1;
    tl_reduction reduction = reductions[chance(9)];
    tl_slot out = as_array(vm, reduce(vm, reduction, x, axes, chance(2)));
    bool coarse = tl_array_dtype(x.array) == TL_FLOAT32;
    for (int64_t k = 0; k < out.array->size; k++) {
      double want = reference(reduction, x.array, axes, k);
      double got = item_at(out.array, k);
      double slack = (coarse ? 1e-4 : 1e-11) * (1 + fabs(want));
      if (!(fabs(want - got) <= slack)) {
        printf(
            "round %d, reduction %d, axes %x, %s, ndim %d, item %ld: %.17g "
            "for %.17g\n",
            round, reduction, axes, tl_dtypes[x.array->head.dtype].name,
            tl_ndim(x.array), (long)k, got, want);
        fail();
      }
    }
    tl_drop(vm, out);
    tl_drop(vm, x);
    tl_drop(vm, base);
  }
}

static void the_layout_does_not_change_a_bit(void **state) {
  tl_vm *vm = *state;
  static const tl_reduction reductions[] = {TL_REDUCE_SUM, TL_REDUCE_PROD,
                                            TL_REDUCE_MEAN, TL_REDUCE_STD};
  for (int round = 0; round < 1000; round++) {
    tl_dtype dtype = chance(2) ? TL_FLOAT64 : TL_FLOAT32;
    tl_slot base, x = random_case(vm, dtype, &base);
    tl_slot copy = tl_own_array(tl_array_copy(vm, x.array));
    uint32_t axes = (uint32_t)chance(1 << tl_ndim(x.array));
    tl_reduction reduction = reductions[chance(4)];
    tl_slot a = as_array(vm, reduce(vm, reduction, x, axes, false));
    tl_slot b = as_array(vm, reduce(vm, reduction, copy, axes, false));
    assert_int_equal(a.array->size, b.array->size);
    assert_memory_equal(a.array->data, b.array->data,
                        (size_t)a.array->size * tl_itemsize(dtype));
    tl_drop(vm, a);
    tl_drop(vm, b);
    tl_drop(vm, copy);
    tl_drop(vm, x);
    tl_drop(vm, base);
  }
}

static void dtypes_follow_the_standard(void **state) {
  tl_vm *vm = *state;
  int64_t n = 3;
  struct {
    tl_dtype from;
    tl_reduction reduction;
    tl_dtype to;
  } cases[] = {
      {TL_INT8, TL_REDUCE_SUM, TL_INT64},
      {TL_UINT8, TL_REDUCE_SUM, TL_UINT64},
      {TL_BOOL, TL_REDUCE_SUM, TL_INT64},
      {TL_FLOAT32, TL_REDUCE_SUM, TL_FLOAT32},
      {TL_INT16, TL_REDUCE_MEAN, TL_FLOAT64},
      {TL_FLOAT32, TL_REDUCE_VAR, TL_FLOAT32},
      {TL_INT16, TL_REDUCE_MAX, TL_INT16},
      {TL_BOOL, TL_REDUCE_MAX, TL_BOOL},
      {TL_INT8, TL_REDUCE_ANY, TL_BOOL},
      {TL_FLOAT64, TL_REDUCE_ARGMAX, TL_INT64},
      {TL_COMPLEX64, TL_REDUCE_SUM, TL_COMPLEX64},
      {TL_COMPLEX64, TL_REDUCE_STD, TL_FLOAT32},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tl_slot x = tl_own_array(tl_array_zeros(vm, cases[i].from, 1, &n));
    tl_slot out = reduce(vm, cases[i].reduction, x, 1, false);
    assert_int_equal(tl_dtype_of(out), cases[i].to);
    assert_false(tl_is_weak(out));
    tl_drop(vm, x);
  }
}

static void every_reduction_takes_or_refuses_every_dtype(void **state) {
  tl_vm *vm = *state;
  int64_t shape[] = {3, 2};
  for (int dtype = TL_BOOL; dtype <= TL_STRING; dtype++) {
    tl_slot x = tl_own_array(tl_array_zeros(vm, (tl_dtype)dtype, 2, shape));
    for (int reduction = 0; reduction < TL_REDUCTION_COUNT; reduction++) {
      for (uint32_t axes = 0; axes < 4; axes++) {
        tl_slot borrowed = tl_borrow(x), out;
        if (tl_reduce(vm, (tl_reduction)reduction, &borrowed, axes, false,
                      TL_DTYPE_COUNT, 0, &out)) {
          tl_clear(vm, &out);
        } else {
          failure(vm, TALLY_ERR_TYPE);
          tl_error_clear(vm);
        }
        if (reduction > TL_REDUCE_MAX || axes > 1)
          continue;
        if (tl_cumulative(vm, (tl_reduction)reduction, &borrowed, (int)axes,
                          false, TL_DTYPE_COUNT, &out)) {
          tl_clear(vm, &out);
        } else {
          failure(vm, TALLY_ERR_TYPE);
          tl_error_clear(vm);
        }
      }
    }
    tl_drop(vm, x);
  }
}

static void no_items_have_the_identity(void **state) {
  tl_vm *vm = *state;
  int64_t shape[] = {0, 3};
  tl_slot x = tl_own_array(tl_array_zeros(vm, TL_FLOAT64, 2, shape)), out;
  assert_true(reduce(vm, TL_REDUCE_SUM, x, 3, false).f == 0);
  assert_true(reduce(vm, TL_REDUCE_PROD, x, 3, false).f == 1);
  assert_true(reduce(vm, TL_REDUCE_ANY, x, 3, false).i == 0);
  assert_true(reduce(vm, TL_REDUCE_ALL, x, 3, false).i == 1);
  assert_true(isnan(reduce(vm, TL_REDUCE_MEAN, x, 3, false).f));
  out = reduce(vm, TL_REDUCE_SUM, x, 1, true);
  assert_int_equal(tl_ndim(out.array), 2);
  assert_int_equal(out.array->size, 3);
  assert_true(item_at(out.array, 2) == 0);
  tl_drop(vm, out);
  out = reduce(vm, TL_REDUCE_MAX, x, 2, false);  // no results: none fails
  assert_int_equal(out.array->size, 0);
  tl_drop(vm, out);
  tl_slot borrowed = tl_borrow(x);
  for (int k = 0; k < 2; k++) {
    tl_reduction reduction = k ? TL_REDUCE_ARGMIN : TL_REDUCE_MAX;
    assert_false(
        tl_reduce(vm, reduction, &borrowed, 1, false, TL_DTYPE_COUNT, 0, &out));
    failure(vm, TALLY_ERR_VALUE);
    tl_error_clear(vm);
  }
  tl_drop(vm, x);
}

static void nan_is_the_smallest_and_the_largest(void **state) {
  tl_vm *vm = *state;
  int64_t n = 3000;
  tl_array *a = tl_array_zeros(vm, TL_FLOAT64, 1, &n);
  ((double *)(void *)a->data)[1234] = NAN;
  ((double *)(void *)a->data)[17] = 5;
  tl_slot x = tl_own_array(a);
  assert_true(isnan(reduce(vm, TL_REDUCE_MAX, x, 1, false).f));
  assert_true(isnan(reduce(vm, TL_REDUCE_MIN, x, 1, false).f));
  assert_int_equal(reduce(vm, TL_REDUCE_ARGMAX, x, 1, false).i, 1234);
  assert_int_equal(reduce(vm, TL_REDUCE_ARGMIN, x, 1, false).i, 1234);
  tl_drop(vm, x);
}

static void a_dtype_may_be_asked_for(void **state) {
  tl_vm *vm = *state;
  int64_t n = 2;
  tl_array *a = tl_array_zeros(vm, TL_UINT8, 1, &n);
  a->data[0] = (char)200;
  a->data[1] = (char)100;
  tl_slot x = tl_own_array(a), borrowed = tl_borrow(x), out;
  assert_true(
      tl_reduce(vm, TL_REDUCE_SUM, &borrowed, 1, false, TL_FLOAT32, 0, &out));
  assert_int_equal(tl_dtype_of(out), TL_FLOAT32);
  assert_true(out.f32 == 300);
  assert_true(
      tl_reduce(vm, TL_REDUCE_SUM, &borrowed, 1, false, TL_UINT8, 0, &out));
  assert_int_equal(tl_dtype_of(out), TL_UINT8);
  assert_int_equal(out.u, 44);
  tl_drop(vm, x);
}

static void scalars_reduce_to_themselves(void **state) {
  tl_vm *vm = *state;
  tl_slot out = reduce(vm, TL_REDUCE_SUM, tl_weak_int(5), 0, false);
  assert_true(out.i == 5 && !tl_is_weak(out));
}

static void running_folds_follow_any_axis(void **state) {
  tl_vm *vm = *state;
  static const tl_reduction reductions[] = {TL_REDUCE_SUM, TL_REDUCE_PROD,
                                            TL_REDUCE_MIN, TL_REDUCE_MAX};
  static const tl_dtype dtypes[] = {TL_FLOAT64, TL_INT32, TL_INT64, TL_UINT8};
  for (int round = 0; round < 1500; round++) {
    tl_dtype dtype = dtypes[chance(4)];
    tl_slot base, x = random_case(vm, dtype, &base);
    int axis = (int)chance(tl_ndim(x.array));
    tl_reduction reduction = reductions[chance(4)];
    if (dtype != TL_FLOAT64 && reduction == TL_REDUCE_PROD) {
      reduction = TL_REDUCE_SUM;
    }
    bool sums = reduction <= TL_REDUCE_PROD, initial = sums && chance(3) == 0;
    tl_slot from =
        chance(2) ? tl_own_array(tl_array_copy(vm, x.array)) : tl_borrow(x);
    tl_slot borrowed = from, out;
    assert_true(tl_cumulative(vm, reduction, &borrowed, axis, initial,
                              TL_DTYPE_COUNT, &out));
    int64_t inner = 1, length = tl_shape(x.array)[axis];
    for (int i = axis + 1; i < tl_ndim(x.array); i++) {
      inner *= tl_shape(x.array)[i];
    }
    int64_t outer = length ? x.array->size / (inner * length) : 0;
    int64_t rows = length + initial;
    assert_int_equal(tl_shape(out.array)[axis], rows);
    for (int64_t o = 0; o < outer; o++) {
      for (int64_t j = 0; j < inner; j++) {
        double fold = reduction == TL_REDUCE_PROD ? 1 : 0;
        if (initial) {
          assert_true(item_at(out.array, o * rows * inner + j) == fold);
        }
        for (int64_t k = 0; k < length; k++) {
          double item = item_at(x.array, (o * length + k) * inner + j);
          if (reduction == TL_REDUCE_SUM) {
            fold += item;
          } else if (reduction == TL_REDUCE_PROD) {
            fold *= item;
          } else if (k == 0 ||
                     (reduction == TL_REDUCE_MIN ? item < fold : item > fold)) {
            fold = item;
          }
          double got = item_at(out.array, (o * rows + k + initial) * inner + j);
          if (got != fold && !(isinf(fold) && isinf(got))) {
            printf("round %d axis %d reduction %d: %.17g for %.17g\n", round,
                   axis, reduction, got, fold);
            fail();
          }
        }
      }
    }
    tl_drop(vm, out);
    if (tl_is_owned(borrowed))
      tl_drop(vm, borrowed);
    tl_drop(vm, x);
    tl_drop(vm, base);
  }
  assert_true(vm->stats.inplace > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(any_layout_gives_the_reference),
      FIXTURE_TEST(the_layout_does_not_change_a_bit),
      FIXTURE_TEST(dtypes_follow_the_standard),
      FIXTURE_TEST(every_reduction_takes_or_refuses_every_dtype),
      FIXTURE_TEST(no_items_have_the_identity),
      FIXTURE_TEST(nan_is_the_smallest_and_the_largest),
      FIXTURE_TEST(a_dtype_may_be_asked_for),
      FIXTURE_TEST(scalars_reduce_to_themselves),
      FIXTURE_TEST(running_folds_follow_any_axis),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
