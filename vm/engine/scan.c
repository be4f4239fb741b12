// Running folds along an axis: strictly from the first item to the last.
//
// Built for size.
#include "vm/engine/scan.h"

#include "vm/engine/engine_internal.h"
#include "vm/engine/reduce_internal.h"
#include "vm/poll.h"

// Minima and maxima, which have no item that changes nothing.
static bool is_ordering(tl_fold fold) {
  return fold == TL_FOLD_MIN || fold == TL_FOLD_MAX;
}

// --- The consumer -----------------------------------------------------------

// The unit of a sum is 0 and that of a product 1, in the items' dtype; an order
// has none, and begins with its first item.
void tl_scanner_open(tl_scanner *s, tl_reduction reduction, tl_dtype dtype,
                     int64_t length, int64_t inner, bool initial, void *to) {
  const tl_kernel_table *kernels = tl_kernels();
  TL_CHECK(kernels->scan[tl_reduction_fold(reduction)][dtype] != NULL);
  *s = (tl_scanner){.fold = tl_reduction_fold(reduction),
                    .dtype = dtype,
                    .itemsize = tl_itemsize(dtype),
                    .length = length,
                    .inner = inner,
                    .initial = initial,
                    .to = to};
  s->lane = kernels->scan[s->fold][dtype];
  s->rows = kernels->binary[tl_fold_op(s->fold)][dtype];
  const uint8_t bit = s->fold == TL_FOLD_PROD;
  if (!is_ordering(s->fold))
    kernels->cast[TL_UINT8][dtype](&s->unit, &bit, 1);
}

// What no items give is carried into a lane and may stand before it. Smallest
// and largest items have no such one, and begin with the first.
static void begin(tl_scanner *s, const void *first) {
  if (is_ordering(s->fold))
    memcpy(&s->carry, first, s->itemsize);
  else
    s->carry = s->unit;
  if (s->fold == TL_FOLD_SUM)  // of floats -0.0, which changes no item
    tl_kernels()->unary[TL_OP_NEGATIVE][s->dtype](&s->carry, &s->unit, 1);
  if (s->initial) {
    tl_kernels()->fill[tl_move_size(s->itemsize)](s->to, &s->unit,
                                                  (size_t)s->inner);
    s->to += (size_t)s->inner * s->itemsize;
  }
}

// As many of n items as one kernel takes.
static size_t take_some(tl_scanner *s, const char *items, size_t n) {
  if (s->at == 0)
    begin(s, items);
  if (s->left == 0)
    s->left = s->inner == 1 ? s->length : s->inner;
  const size_t take = (int64_t)n < s->left ? n : (size_t)s->left;
  s->left -= (int64_t)take;
  if (s->inner == 1)
    s->lane(s->to, items, &s->carry, take);
  else if (s->at >= s->inner)
    s->rows(s->to, s->to - (size_t)s->inner * s->itemsize, items, take);
  else if (s->to != items)
    memcpy(s->to, items, take * s->itemsize);
  return take;
}

// A block may end anywhere in a lane or a row; what is left to come is
// remembered in the scanner.
void tl_scanner_take(void *scanner, const void *const *blocks, size_t n) {
  tl_scanner *s = scanner;
  const char *items = blocks[0];
  while (n > 0) {
    const size_t take = take_some(s, items, n);
    items += take * s->itemsize;
    s->to += take * s->itemsize;
    n -= take;
    s->at += (int64_t)take;
    if (s->at == s->length * s->inner)
      s->at = 0;
  }
}

// --- Arrays -----------------------------------------------------------------

// A scan along one axis of an array: outer * inner lanes of [length] items,
// and with [initial] one more result in each, the unit before the first item.
typedef struct scan {
  tl_vm *vm;
  tl_reduction reduction;
  tl_fold fold;
  tl_dtype dtype;                // of the result
  int64_t outer, length, inner;  // positions before, along and behind the axis
  bool initial;
  bool may_stop;
} scan;

// As messages call the built-in.
static const char *name_of(tl_fold fold) {
  static const char *const names[] = {"cumulative_sum", "cumulative_prod",
                                      "cumulative_min", "cumulative_max"};
  return names[fold];
}

// Items between two polls, a few tens of microseconds.
enum { POLL_ITEMS = 64 * 1024 };

// Gives [n] items to the scanner, and polls; false: it was stopped.
static bool take_items(scan *s, tl_scanner *scanner, const char *items,
                       int64_t n) {
  for (int64_t at = 0, some; at < n; at += some) {
    some = n - at < POLL_ITEMS ? n - at : POLL_ITEMS;
    const void *block = items + (size_t)at * scanner->itemsize;
    tl_scanner_take(scanner, &block, (size_t)some);
    if (s->may_stop ? !tl_poll_items(s->vm, some) : !tl_poll_over(s->vm))
      return false;
  }
  return true;
}

// [from]: items that lie as in a dense array, but for [gap] bytes before those
// of each outer position.
//
//   initial, inner 1, two lanes of two     . a b . c d
//
// Items that were converted lie so where the results go: the gap is the place
// of the unit, and no item is overwritten before it is read.
static bool scan_all(scan *s, const char *from, int64_t gap, char *to) {
  const int64_t each = s->length * s->inner;
  tl_scanner scanner;
  tl_scanner_open(&scanner, s->reduction, s->dtype, s->length, s->inner,
                  s->initial, to);
  if (each == 0) {  // nothing but what no items give
    scanner.inner = s->initial ? s->outer * s->inner : 0;
    if (scanner.inner > 0)
      begin(&scanner, NULL);
    return true;
  }
  if (gap == 0)
    return take_items(s, &scanner, from, s->outer * each);
  for (int64_t i = 0; i < s->outer; i++) {
    from += gap;
    if (!take_items(s, &scanner, from, each))
      return false;
    from += (size_t)each * scanner.itemsize;
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
  tl_plan_finish_one(&plan, tl_plan_cast(&plan, in, from, s->dtype));
  return tl_plan_run(s->vm, &plan, true);
}

// Into a fresh array; the source is read where it is if it is dense and of the
// dtype, else it is converted into the result first.
static bool scan_fresh(scan *s, const tl_array *a, int axis, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  const int ndim = tl_ndim(a);
  memcpy(shape, tl_shape(a), (size_t)ndim * sizeof *shape);
  if (s->initial)
    shape[axis]++;
  tl_array *to = tl_array_new(s->vm, s->dtype, ndim, shape);
  if (to == NULL)
    return false;
  bool ok;
  if (tl_array_dtype(a) == s->dtype && tl_is_contiguous(a)) {
    ok = scan_all(s, a->data, 0, to->data);
  } else {
    const int64_t row = s->inner * (int64_t)tl_itemsize(s->dtype);
    const int64_t gap = s->initial ? row : 0;
    ok = load(s, a, to, to->data + gap) && scan_all(s, to->data, gap, to->data);
  }
  return tl_array_finish(s->vm, ok, to, out);
}

// The work is polled for before the array is taken over: halfway the pass stops
// only where nobody sees that.
static bool scan_in_place(scan *s, tl_slot *x, tl_slot *out) {
  tl_array *a = x->array;
  if (!tl_poll_items(s->vm, a->size))
    return false;
  tl_reuse(s->vm, x, s->dtype, tl_ndim(a), tl_shape(a));
  s->may_stop = false;
  return tl_array_finish(s->vm, scan_all(s, a->data, 0, a->data), a, out);
}

// Narrow integers (asked for by dtype) run through the kernels of their rows.
static bool has_kernel(tl_fold fold, tl_dtype dtype) {
  return tl_fold_result(fold, dtype) == dtype &&
         tl_kernels()->scan[fold][dtype] != NULL;
}

// Whether items of [from] have running folds at all.
static bool is_served(tl_fold fold, tl_dtype from) {
  return from < TL_STRING && !(is_ordering(fold) && tl_dtype_is_complex(from));
}

// The results' dtype where [asked] is, or TL_DTYPE_COUNT; TL_DTYPE_COUNT: none.
static tl_dtype result_dtype(tl_fold fold, tl_dtype from, tl_dtype asked) {
  if (is_ordering(fold))
    return from;
  const tl_dtype dtype =
      asked != TL_DTYPE_COUNT ? asked : tl_fold_result(fold, from);
  return dtype > TL_BOOL && dtype < TL_STRING &&
                 tl_kernels()->cast[from][dtype] != NULL
             ? dtype
             : TL_DTYPE_COUNT;
}

// Sets s->dtype to the results' dtype; fails (kind type), naming what was
// given.
static bool choose_dtype(scan *s, tl_slot x, tl_dtype asked) {
  const tl_dtype from = (tl_dtype)tl_dtype_of(x);
  if (!is_served(s->fold, from))
    return tl_arg_fail(s->vm, name_of(s->fold), NULL,
                       is_ordering(s->fold) ? "real numbers" : "numbers", x);
  s->dtype = result_dtype(s->fold, from, asked);
  return s->dtype != TL_DTYPE_COUNT ||
         tl_fail(s->vm, TALLY_ERR_TYPE, "%s: dtype %s does not serve for %s",
                 name_of(s->fold), tl_dtypes[asked].name, tl_dtypes[from].name);
}

// Positions before the axis, along it and behind it: an array of any number of
// axes is walked as one of three.
static bool cumulate(scan *s, tl_slot *x, int axis, tl_slot *out) {
  const tl_array *a = x->array;
  s->outer = s->inner = 1;
  for (int i = 0; i < tl_ndim(a); i++)
    if (i != axis)
      *(i < axis ? &s->outer : &s->inner) *= tl_shape(a)[i];
  s->length = tl_shape(a)[axis];
  const bool fits =
      !s->initial && tl_array_dtype(a) == s->dtype && tl_is_contiguous(a);
  if (fits && tl_can_reuse(s->vm, *x, s->dtype, tl_ndim(a), tl_shape(a)))
    return scan_in_place(s, x, out);
  if (!s->initial)
    tl_count_rejection(s->vm, *x, s->dtype, tl_ndim(a), tl_shape(a));
  return scan_fresh(s, a, axis, out);
}

// Items that no kernel folds in their own dtype are folded in a wider one and
// cut at the end, which gives the bits of wrapping at each step.
static bool scan_array(scan *s, tl_slot *x, int axis, tl_dtype dtype,
                       tl_slot *out) {
  if (x->array->head.ndim == 0)
    return tl_fail(s->vm, TALLY_ERR_SHAPE, "%s needs an array, got a scalar",
                   name_of(s->fold));
  if (!choose_dtype(s, *x, dtype))
    return false;
  const tl_dtype wanted = s->dtype;
  if (wanted == TL_BOOL) {
    s->dtype = TL_UINT8;  // their bytes order like integers
  } else if (!has_kernel(s->fold, wanted)) {
    s->dtype = tl_fold_result(s->fold, tl_compute_dtype(wanted));
  }
  // The cut needs memory, which may be lacking when x is written over.
  tl_slot borrowed = tl_borrow(*x);
  const bool keeps = s->vm->keeping && s->dtype != wanted;
  if (!cumulate(s, keeps ? &borrowed : x, axis, out))
    return false;
  if (s->dtype == wanted)
    return true;
  const tl_slot wide = *out;
  tl_array *cut = tl_reduce_cut(s->vm, wide.array, wanted);
  tl_drop(s->vm, wide);
  return tl_array_give(cut, out);
}

// What would be folded in a wider dtype and cut at the end is not for its
// callers, which have no memory for that.
tl_dtype tl_cumulative_dtype(tl_reduction reduction, tl_dtype from,
                             tl_dtype dtype) {
  const tl_fold fold = tl_reduction_fold(reduction);
  const tl_dtype made =
      is_served(fold, from) ? result_dtype(fold, from, dtype) : TL_DTYPE_COUNT;
  return made != TL_DTYPE_COUNT && made > TL_BOOL && has_kernel(fold, made)
             ? made
             : TL_DTYPE_COUNT;
}

// What is no array becomes one of its own, whose memory the result may get.
bool tl_cumulative(tl_vm *vm, tl_reduction reduction, tl_slot *x, int axis,
                   bool initial, tl_dtype dtype, tl_slot *out) {
  scan s = {.vm = vm,
            .reduction = reduction,
            .fold = tl_reduction_fold(reduction),
            .initial = initial,
            .may_stop = true};
  if (tl_is_array(*x))
    return scan_array(&s, x, axis, dtype, out);
  tl_slot made;
  return tl_as_array(vm, name_of(s.fold), *x, &made) &&
         tl_drop_after(vm, scan_array(&s, &made, axis, dtype, out), &made);
}

// Each row is a lane of its own length: the scanner begins anew where the row
// before has ended.
bool tl_cumulative_rows(tl_vm *vm, tl_reduction reduction, const tl_array *x,
                        const int64_t *at, int64_t rows, tl_array *to) {
  tl_scanner s;
  tl_scanner_open(&s, reduction, tl_array_dtype(x), 1, 1, false,
                  to->data + (size_t)at[0] * tl_itemsize(tl_array_dtype(x)));
  for (int64_t i = 0; i < rows; i++) {
    const void *items = x->data + (size_t)at[i] * s.itemsize;
    s.length = at[i + 1] - at[i];
    tl_scanner_take(&s, &items, (size_t)s.length);
    if (!tl_poll_items(vm, s.length + 1))
      return false;
  }
  return true;
}
