// Running folds along an axis: strictly from the first item to the last.
#include <string.h>

#include "vm/engine/engine_internal.h"
#include "vm/error.h"
#include "vm/engine/reduce_internal.h"

typedef struct scan {
  tl_vm *vm;
  tl_fold fold;
  tl_dtype dtype;    // of the result
  const char *from;  // first item read; items lie as in a dense array
  char *to;          // first item written
  int64_t outer, length, inner;
  int64_t to_outer;  // bytes between the outer positions of the result
  bool initial;      // a row of 0 or 1 goes before to's first
  bool may_stop;
  int64_t unpolled;
} scan;

static const char *name_of(tl_fold fold) {
  switch (fold) {
    case TL_FOLD_SUM:
      return "cumulative_sum";
    case TL_FOLD_PROD:
      return "cumulative_prod";
    case TL_FOLD_MIN:
      return "cumulative_min";
    default:
      return "cumulative_max";
  }
}

static tl_op op_of(tl_fold fold) {
  switch (fold) {
    case TL_FOLD_SUM:
      return TL_OP_ADD;
    case TL_FOLD_PROD:
      return TL_OP_MULTIPLY;
    case TL_FOLD_MIN:
      return TL_OP_MINIMUM;
    default:
      return TL_OP_MAXIMUM;
  }
}

enum { POLL_ITEMS = 64 * 1024 };

static bool poll(scan *s, int64_t items) {
  s->unpolled += items;
  if (!s->may_stop || s->unpolled < POLL_ITEMS)
    return true;
  uint64_t work = (uint64_t)s->unpolled / 1024;
  s->unpolled = 0;
  return tl_poll(s->vm, work);
}

// 0 or 1 as an item of the dtype.
static void identity(const scan *s, tl_c128 *item) {
  uint8_t bit = s->fold == TL_FOLD_PROD;
  *item = (tl_c128){0, 0};
  tl_kernels()->cast[TL_UINT8][s->dtype](item, &bit, 1);
}

// One contiguous lane after another.
static bool scan_lanes(scan *s) {
  tl_scan *kernel = tl_kernels()->scan[s->fold][s->dtype];
  size_t itemsize = tl_itemsize(s->dtype);
  bool seeded = s->fold == TL_FOLD_SUM || s->fold == TL_FOLD_PROD;
  tl_c128 first, carry;
  identity(s, &first);
  for (int64_t i = 0; i < s->outer; i++) {
    const char *from = s->from + (size_t)(i * s->length) * itemsize;
    char *to = s->to + i * s->to_outer;
    if (seeded) {
      carry = first;
    } else if (s->length > 0) {
      memcpy(&carry, from, itemsize);
    }
    if (s->initial)
      memcpy(to - itemsize, &carry, itemsize);
    for (int64_t at = 0; at < s->length; at += POLL_ITEMS) {
      int64_t left = s->length - at;
      size_t n = (size_t)(left < POLL_ITEMS ? left : POLL_ITEMS);
      kernel(to + (size_t)at * itemsize, from + (size_t)at * itemsize, &carry,
             n);
      if (!poll(s, (int64_t)n))
        return false;
    }
  }
  return true;
}

// Row after row of the axes behind.
static bool scan_rows(scan *s) {
  tl_kernel2 *kernel = tl_kernels()->binary[op_of(s->fold)][s->dtype];
  size_t itemsize = tl_itemsize(s->dtype);
  size_t n = (size_t)s->inner, row = n * itemsize;
  tl_c128 item;
  identity(s, &item);
  for (int64_t i = 0; i < s->outer; i++) {
    const char *from = s->from + (size_t)(i * s->length) * row;
    char *to = s->to + i * s->to_outer;
    if (s->initial) {
      tl_kernels()->fill[tl_move_size(itemsize)](to - row, &item, n);
    }
    for (int64_t k = 0; k < s->length; k++, from += row, to += row) {
      if (k > 0) {
        kernel(to, to - row, from, n);
      } else if (to != from) {
        memcpy(to, from, row);
      }
      if (!poll(s, s->inner))
        return false;
    }
  }
  return true;
}

// The items of [a], converted, to where the scan writes.
static bool load(scan *s, const tl_array *a, tl_array *to, char *data) {
  tl_plan plan;
  tl_plan_room room;  // large: not cleared
  tl_dtype from = tl_array_dtype(a);
  tl_plan_open(&plan, &room, tl_ndim(a), tl_shape(a));
  int in = tl_plan_stream(&plan, a->data, tl_itemsize(from), tl_strides(a));
  int out = tl_plan_stream(&plan, data, tl_itemsize(s->dtype), tl_strides(to));
  tl_plan_arrange(&plan, out);
  tl_plan_finish(&plan, tl_plan_cast(&plan, in, from, s->dtype));
  return tl_plan_run(s->vm, &plan, true);
}

static void measure(scan *s, const tl_array *a, int axis) {
  s->outer = s->inner = 1;
  for (int i = 0; i < tl_ndim(a); i++) {
    if (i < axis)
      s->outer *= tl_shape(a)[i];
    if (i > axis)
      s->inner *= tl_shape(a)[i];
  }
  s->length = tl_shape(a)[axis];
}

static bool scan_all(scan *s) {
  if (s->outer == 0 || s->inner == 0)
    return true;
  return s->inner == 1 ? scan_lanes(s) : scan_rows(s);
}

// Into a fresh array; the source is read where it is if it is dense and of the
// dtype, else it is converted into the result first.
static bool scan_fresh(scan *s, const tl_array *a, int axis, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_ndim(a);
  memcpy(shape, tl_shape(a), (size_t)ndim * sizeof *shape);
  if (s->initial)
    shape[axis]++;
  tl_array *to = tl_array_new(s->vm, s->dtype, ndim, shape);
  if (to == NULL)
    return false;
  int64_t row = s->inner * (int64_t)tl_itemsize(s->dtype);
  s->to = to->data + (s->initial ? row : 0);
  s->to_outer = shape[axis] * row;
  bool plain = tl_array_dtype(a) == s->dtype && tl_is_contiguous(a);
  bool ok = true;
  if (plain) {
    s->from = a->data;
    ok = scan_all(s);
  } else {
    // Lane by lane, as the result may have a row more than the source.
    ok = load(s, a, to, s->to);
    int64_t outer = s->outer;
    char *first = s->to;
    s->outer = outer > 0 ? 1 : 0;
    for (int64_t i = 0; ok && i < outer; i++) {
      s->to = first + i * s->to_outer;
      s->from = s->to;
      ok = scan_all(s);
    }
  }
  tl_slot result = tl_own_array(to);
  if (!ok) {
    tl_drop(s->vm, result);
    return false;
  }
  *out = result;
  return true;
}

static bool scan_in_place(scan *s, tl_slot *x, tl_slot *out) {
  tl_array *a = x->array;
  if (a->size >= POLL_ITEMS && !tl_poll(s->vm, (uint64_t)a->size / 1024)) {
    return false;
  }
  tl_reuse(s->vm, x, s->dtype, tl_ndim(a), tl_shape(a));
  s->from = s->to = a->data;
  s->to_outer = s->length * s->inner * (int64_t)tl_itemsize(s->dtype);
  s->may_stop = false;
  if (!scan_all(s))
    return false;
  *out = tl_own_array(a);
  return true;
}

static bool choose_dtype(scan *s, tl_slot x, tl_dtype dtype) {
  tl_dtype from = (tl_dtype)tl_dtype_of(x);
  bool orders = s->fold == TL_FOLD_MIN || s->fold == TL_FOLD_MAX;
  if (from >= TL_STRING || (orders && tl_dtype_is_complex(from)))
    return tl_arg_fail(s->vm, name_of(s->fold), NULL,
                       orders ? "real numbers" : "numbers", x);
  if (orders) {
    s->dtype = from;
    return true;
  }
  s->dtype = dtype != TL_DTYPE_COUNT ? dtype : tl_fold_result(s->fold, from);
  if (s->dtype <= TL_BOOL || s->dtype >= TL_STRING ||
      tl_kernels()->cast[from][s->dtype] == NULL) {
    return tl_fail(s->vm, TALLY_ERR_TYPE, "%s: dtype %s does not serve for %s",
                   name_of(s->fold), tl_dtypes[s->dtype].name,
                   tl_dtypes[from].name);
  }
  return true;
}

// Narrow integers (asked for by dtype) run through the kernels of their rows.
static bool has_kernel(const scan *s) {
  return tl_fold_result(s->fold, s->dtype) == s->dtype &&
         tl_kernels()->scan[s->fold][s->dtype] != NULL;
}

static bool cumulate(scan *s, tl_slot *x, int axis, tl_slot *out) {
  const tl_array *a = x->array;
  measure(s, a, axis);
  bool fits =
      !s->initial && tl_array_dtype(a) == s->dtype && tl_is_contiguous(a);
  if (fits && tl_can_reuse(s->vm, *x, s->dtype, tl_ndim(a), tl_shape(a))) {
    return scan_in_place(s, x, out);
  }
  return scan_fresh(s, a, axis, out);
}

// The result again in a dtype that no scan has: narrow integers, bools.
static bool cut(tl_vm *vm, tl_dtype from, tl_dtype to, tl_slot *out) {
  tl_slot wide = *out;
  tl_array *array =
      tl_array_new(vm, to, tl_ndim(wide.array), tl_shape(wide.array));
  if (array != NULL) {
    tl_kernels()->cast[from][to](array->data, wide.array->data,
                                 (size_t)array->size);
    *out = tl_own_array(array);
  }
  tl_drop(vm, wide);
  return array != NULL;
}

static bool scan_array(scan *s, tl_slot *x, int axis, tl_dtype dtype,
                       tl_slot *out) {
  if (x->array->head.ndim == 0) {
    return tl_fail(s->vm, TALLY_ERR_SHAPE, "%s needs an array, got a scalar",
                   name_of(s->fold));
  }
  if (!choose_dtype(s, *x, dtype))
    return false;
  tl_dtype wanted = s->dtype;
  if (wanted == TL_BOOL) {
    s->dtype = TL_UINT8;  // their bytes order like integers
  } else if (!has_kernel(s)) {
    s->dtype = tl_fold_result(s->fold, wanted);
  }
  // The cut needs memory, which may be lacking when x is written over.
  tl_slot lent = tl_borrow(*x);
  bool keeps = s->vm->keeping && s->dtype != wanted;
  if (!cumulate(s, keeps ? &lent : x, axis, out))
    return false;
  return s->dtype == wanted || cut(s->vm, s->dtype, wanted, out);
}

tl_dtype tl_cumulative_dtype(tl_reduction reduction, tl_dtype from,
                             tl_dtype dtype) {
  scan s = {.fold = tl_reduction_fold(reduction), .dtype = from};
  bool orders = s.fold == TL_FOLD_MIN || s.fold == TL_FOLD_MAX;
  if (from >= TL_STRING || (orders && tl_dtype_is_complex(from)))
    return TL_DTYPE_COUNT;
  if (!orders)
    s.dtype = dtype != TL_DTYPE_COUNT ? dtype : tl_fold_result(s.fold, from);
  return s.dtype > TL_BOOL && s.dtype < TL_STRING && has_kernel(&s) &&
                 tl_kernels()->cast[from][s.dtype] != NULL
             ? s.dtype
             : TL_DTYPE_COUNT;
}

bool tl_cumulative(tl_vm *vm, tl_reduction reduction, tl_slot *x, int axis,
                   bool initial, tl_dtype dtype, tl_slot *out) {
  scan s = {.vm = vm, .initial = initial, .may_stop = true};
  s.fold = tl_reduction_fold(reduction);
  if (tl_is_array(*x))
    return scan_array(&s, x, axis, dtype, out);
  tl_slot made;
  if (!tl_as_array(vm, name_of(s.fold), *x, &made))
    return false;
  bool ok = scan_array(&s, &made, axis, dtype, out);
  tl_clear(vm, &made);
  return ok;
}

bool tl_cumulative_rows(tl_vm *vm, tl_reduction reduction, const tl_array *x,
                        const int64_t *at, int64_t rows, tl_array *to) {
  scan s = {.vm = vm, .dtype = tl_array_dtype(x), .may_stop = true};
  s.fold = tl_reduction_fold(reduction);
  bool seeded = s.fold == TL_FOLD_SUM || s.fold == TL_FOLD_PROD;
  tl_scan *kernel = tl_kernels()->scan[s.fold][s.dtype];
  size_t itemsize = tl_itemsize(s.dtype);
  tl_c128 first, carry;
  identity(&s, &first);
  for (int64_t i = 0; i < rows; i++) {
    const char *from = x->data + (size_t)at[i] * itemsize;
    int64_t n = at[i + 1] - at[i];
    if (seeded)
      carry = first;
    else if (n > 0)
      memcpy(&carry, from, itemsize);
    kernel(to->data + (size_t)at[i] * itemsize, from, &carry, (size_t)n);
    if (!poll(&s, n + 1))
      return false;
  }
  return true;
}
