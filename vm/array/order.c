// The order of values, for sort, min and max of lists: numbers by size, NaN
// last, strings by code points, lists item by item.
//
//   (1, 2) < (1, 3)      the first items that differ decide
//   (1,) < (1, 2)        a list comes before those that it begins
//   2^53 + 1 > 2.0^53    int64 and float64 are compared exactly
//
// Values of different kinds have no order (kind type).
//
// Built for size.

#include <math.h>

#include "vm/array/describe.h"
#include "vm/values/list.h"
#include "vm/values/pairs.h"

enum { DEEPEST = 200 };  // lists within lists that are compared

// Small values of uint64 count as int64, so that 1 is 1 whatever the dtype.
bool tl_read_real(tl_slot s, tl_real *out) {
  tl_real real = {.kind = 'I', .i = s.i, .u = s.u};
  int dtype = tl_dtype_of(s);
  if (!tl_is_scalar(s) || dtype == TL_COMPLEX64)
    return false;
  if (tl_dtype_is_real((tl_dtype)dtype)) {
    real.kind = 'F';
    real.f = dtype == TL_FLOAT64 ? s.f : (double)s.f32;
  } else if (dtype == TL_UINT64 && s.u > INT64_MAX) {
    real.kind = 'U';
  }
  *out = real;
  return true;
}

// Compares an integer with a float that is not NaN, exactly: through double the
// integer would be rounded above 2^53.
static int compare_mixed(tl_real a, double f) {
  if (f >= 18446744073709551616.0)
    return -1;
  if (f < -9223372036854775808.0)
    return 1;
  if (f >= 9223372036854775808.0)
    return a.kind == 'I' ? -1 : (a.u > (uint64_t)f) - (a.u < (uint64_t)f);
  // Within the range of int64, so the conversion is exact.
  double whole = floor(f);
  int64_t below = (int64_t)whole;
  if (a.kind == 'U' || a.i != below)
    return a.kind == 'I' && a.i < below ? -1 : 1;
  return f > whole ? -1 : 0;
}

int tl_compare_reals(tl_real a, tl_real b) {
  bool a_nan = a.kind == 'F' && isnan(a.f), b_nan = b.kind == 'F' && isnan(b.f);
  // NaN is last, and equal to itself: a sort needs a total order.
  if (a_nan || b_nan)
    return a_nan - b_nan;
  if (a.kind == 'F' && b.kind == 'F')
    return (a.f > b.f) - (a.f < b.f);
  if (b.kind == 'F')
    return compare_mixed(a, b.f);
  if (a.kind == 'F')
    return -compare_mixed(b, a.f);
  if (a.kind != b.kind)
    return a.kind == 'I' ? -1 : 1;
  return a.kind == 'I' ? (a.i > b.i) - (a.i < b.i) : (a.u > b.u) - (a.u < b.u);
}

// Sets *order to -1, 0 or 1; false after tl_fail. [depth] is the number of
// lists around the two.
static bool compare(tl_pairs *seen, tl_slot a, tl_slot b, int depth,
                    int *order);

// Compares item by item; the shorter list comes first where one begins with
// the other. A pair that was compared before was equal.
static bool compare_lists(tl_pairs *seen, const tl_list *a, const tl_list *b,
                          int depth, int *order) {
  if (depth == DEEPEST)
    return tl_fail(seen->vm, TALLY_ERR_LIMIT,
                   "lists nested more than %d deep are "
                   "not compared",
                   DEEPEST);
  *order = 0;
  if (a == b || tl_pairs_seen(seen, &a->head, &b->head))
    return true;
  int64_t shared = a->length < b->length ? a->length : b->length;
  for (int64_t i = 0; i < shared; i++) {
    if (!tl_pairs_poll(seen) ||
        !compare(seen, a->items[i], b->items[i], depth + 1, order))
      return false;
    if (*order != 0)
      return true;
  }
  *order = (a->length > b->length) - (a->length < b->length);
  return true;
}

static bool compare(tl_pairs *seen, tl_slot a, tl_slot b, int depth,
                    int *order) {
  tl_real x, y;
  // The common case of sorted keys.
  if (tl_class(a) == TL_CLASS_I64 && tl_class(b) == TL_CLASS_I64) {
    *order = (a.i > b.i) - (a.i < b.i);
    return true;
  }
  if (tl_read_real(a, &x) && tl_read_real(b, &y)) {
    *order = tl_compare_reals(x, y);
    return true;
  }
  if (tl_is_string(a) && tl_is_string(b)) {
    *order = tl_string_compare(seen->vm, a.string, b.string);
    return tl_poll_text(seen->vm, a.string->length);
  }
  if (tl_is_list(a) && tl_is_list(b))
    return compare_lists(seen, a.list, b.list, depth, order);
  return tl_fail(seen->vm, TALLY_ERR_TYPE, "no order between %s and %s",
                 tl_described(seen->vm, a), tl_described(seen->vm, b));
}

// Complex numbers have no order.
bool tl_compare(tl_vm *vm, tl_slot a, tl_slot b, int *order) {
  tl_pairs seen = {.vm = vm};
  bool ok = compare(&seen, a, b, 0, order);
  if (seen.room > 0)
    tl_pairs_close(&seen);
  return ok;
}
