// Arrays of known numbers, of any dtype and layout, for the test of indexing.
#ifndef TALLY_TESTS_UNIT_NUMBERED_H
#define TALLY_TESTS_UNIT_NUMBERED_H

#include "tests/unit/fixture.h"

#include <stdio.h>

#include "vm/array/array.h"
#include "vm/index/index.h"
#include "vm/array/range.h"
#include "vm/types/type.h"

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static inline int index_teardown(void **state) {
  tl_types_close(*state);
  return fixture_teardown(state);
}
#define INDEX_TEST(name) \
  cmocka_unit_test_setup_teardown(name, fixture_setup, index_teardown)

// --- Random numbers and items -----------------------------------------------

static uint64_t seed = 1;

static inline int64_t pick(int64_t low, int64_t high) {  // both ends included
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return low + (int64_t)((seed >> 33) % (uint64_t)(high - low + 1));
}

static inline void put_number(tl_vm *vm, tl_array *a, char *item,
                              int64_t number) {
  bool is_bool = a->head.dtype == TL_BOOL;
  tl_slot value = is_bool ? tl_bool(number % 2) : tl_weak_int(number);
  if (a->head.dtype != TL_STRING) {
    assert_true(tl_item_store(vm, a, item, value));
    return;
  }
  char text[24];
  snprintf(text, sizeof text, "%d", (int)number);
  tl_slot s = text_slot(vm, text);
  assert_true(tl_item_store(vm, a, item, s));
  tl_drop(vm, s);
}

static inline int64_t number_of(tl_vm *vm, tl_slot s) {
  int64_t number = s.i;
  if (tl_is_string(s))
    number = atoi(s.string->text);
  if (tl_is_array(s))
    number = (int64_t)((tl_c128 *)(void *)s.array->data)->re;
  if (tl_dtype_of(s) == TL_COMPLEX64)
    number = (int64_t)s.c64.re;
  if (tl_dtype_of(s) == TL_FLOAT64)
    number = (int64_t)s.f;
  tl_drop(vm, s);
  return number;
}

static inline char *place(const tl_array *a, const int64_t *index) {
  char *item = a->data;
  for (int i = 0; i < tl_ndim(a); i++) item += index[i] * tl_strides(a)[i];
  return item;
}

static inline int64_t number_at(tl_vm *vm, const tl_array *a,
                                const int64_t *index) {
  return number_of(vm, tl_item(vm, a, place(a, index)));
}

// The next index in row-major order; false after the last.
static inline bool advance(int ndim, const int64_t *shape, int64_t *index) {
  for (int i = ndim - 1; i >= 0; i--) {
    if (++index[i] < shape[i])
      return true;
    index[i] = 0;
  }
  return false;
}

static inline int64_t size_of(int ndim, const int64_t *shape) {
  int64_t size = 1;
  for (int i = 0; i < ndim; i++) size *= shape[i];
  return size;
}

static inline void fill(tl_vm *vm, tl_array *a, int64_t first) {
  int64_t index[TL_MAX_DIMS] = {0};
  if (a->size == 0)
    return;
  int64_t number = first;
  do {
    put_number(vm, a, place(a, index), number % 100);
    number++;
  } while (advance(tl_ndim(a), tl_shape(a), index));
}

static inline tl_dtype any_dtype(void) {
  static const tl_dtype dtypes[] = {TL_INT8,      TL_INT16,      TL_INT32,
                                    TL_INT64,     TL_FLOAT64,    TL_UINT8,
                                    TL_COMPLEX64, TL_COMPLEX128, TL_STRING};
  return dtypes[pick(0, 8)];
}

// An array of random layout: axes permuted, stepped, reversed.
static inline tl_slot any_array(tl_vm *vm, tl_dtype dtype, int ndim,
                                const int64_t *shape) {
  int order[8];
  int64_t whole[8] = {0}, steps[8], strides[8];
  for (int i = 0; i < ndim; i++) order[i] = i;
  for (int i = ndim - 1; i > 0; i--) {
    int j = (int)pick(0, i), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  for (int i = 0; i < ndim; i++) {
    steps[i] = pick(0, 2) == 0 ? 2 : 1;
    whole[i] = shape[order[i]] * steps[i];
  }
  tl_array *block = tl_array_new(vm, dtype, ndim, whole);
  assert_non_null(block);
  tl_slot base = tl_own_array(block);
  char *data = block->data;
  for (int i = 0; i < ndim; i++) {
    int64_t stride = tl_strides(block)[i] * steps[i];
    if (pick(0, 2) == 0 && shape[order[i]] > 0) {
      data += stride * (shape[order[i]] - 1);
      stride = -stride;
    }
    strides[order[i]] = stride;
  }
  tl_array *view = tl_view_new(vm, &base, dtype, data, ndim, shape, strides);
  fill(vm, view, 1);
  return tl_own_array(view);
}

static inline tl_slot dense_array(tl_vm *vm, tl_dtype dtype, int ndim,
                                  const int64_t *shape) {
  tl_array *a = tl_array_new(vm, dtype, ndim, shape);
  assert_non_null(a);
  fill(vm, a, 1);
  return tl_own_array(a);
}

#endif
