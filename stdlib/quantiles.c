// Medians and quantiles. Lanes are taken one by one:
//
//   a lane --short, or many quantiles--> copied, sorted --> between two items
//          --long, few quantiles-------> its place found (nth.h) --> the same
//   lanes  --short, side by side-------> rows of them sorted --> the same

#include <math.h>

#include "stdlib/families.h"
#include "stdlib/nested_reduce.h"
#include "stdlib/nth.h"
#include "vm/bytecode/module.h"
#include "vm/engine/lane.h"
#include "vm/kernels/sort.h"
#include "vm/poll.h"

// One call on one array: each lane gives [count] numbers. [asked] is NULL where
// the function has no argument q, else that, with method behind the other four.
typedef struct quantiles {
  tl_vm *vm;
  const char *name;
  const tl_slot *asked;
  tl_slot method;  // none: "linear"
  tl_split split;
  tl_dtype from, dtype;  // the array's; float32 or float64
  int64_t count;         // of quantiles
  const double *at;      // from 0 to 1, or places by another method
  bool dense;            // lanes need not be copied
  bool beside;           // lanes are sorted side by side
  char *lane;            // one lane's items, or a row of lanes
  size_t lane_size;
  char *scratch;
} quantiles;

// Where the pieces of a lane go, one behind the other.
typedef struct collector {
  char *to;
  size_t itemsize;
} collector;

// Called by tl_lane_walk with the pieces in order.
static bool collect(void *context, const void *items, size_t n) {
  collector *c = context;
  memcpy(c->to, items, n * c->itemsize);
  c->to += n * c->itemsize;
  return true;
}

// An item of a real dtype, as float64.
static double real_of(tl_dtype dtype, const char *item) {
  double value;
  if (dtype == TL_FLOAT64)
    return *(const double *)(const void *)item;
  tl_kernels()->cast[dtype][TL_FLOAT64](&value, item, 1);
  return value;
}

// The place of a quantile, no further than the items go.
static double place_within(const quantiles *q, double at) {
  int64_t n = q->split.length;
  double place = tl_is_none(q->method) ? at * (double)(n - 1) : at;
  return place < 0 ? 0 : place > (double)(n - 1) ? (double)(n - 1) : place;
}

// The value at t from 0 to 1 between two items. Computed from the nearer end,
// so that it never leaves them by rounding; two infinities of one sign give
// that one and not NaN.
static double between(double low, double high, double t) {
  if (low == high)
    return low;
  return t < 0.5 ? low + (high - low) * t : high - (high - low) * (1 - t);
}

// The quantile of sorted items of a dtype, [step] bytes from one to the next,
// between the two around its place.
static double interpolate(const quantiles *q, tl_dtype dtype, const char *items,
                          size_t step, double at) {
  int64_t n = q->split.length;
  if (n == 0)
    return (double)NAN;
  double last = real_of(dtype, items + (size_t)(n - 1) * step);
  if (isnan(last))
    return last;
  double place = place_within(q, at), whole = floor(place);
  const char *item = items + (size_t)whole * step;
  double low = real_of(dtype, item);
  if (whole + 1 >= (double)n || place == whole)
    return low;
  return between(low, real_of(dtype, item + step), place - whole);
}

// The number that a key of sort.h stands for. Integers beyond 2^53 are rounded
// as their cast rounds them.
static double real_of_key(tl_dtype dtype, uint64_t key) {
  _Alignas(tl_c128) char item[sizeof(tl_c128)] = {0};
  tl_sort_from_wide(dtype, item, &key, 1, false, NULL);
  return real_of(dtype, item);
}

// The quantile of items that are in no order.
static bool select_quantile(const quantiles *q, const tl_ranks *r, double at,
                            double *out) {
  double place = place_within(q, at), whole = floor(place);
  int64_t index = (int64_t)whole;
  tl_nth nth;
  if (!tl_nth_find(r, index, &nth))
    return false;
  double low = *out = nth.nan ? (double)NAN : real_of_key(r->dtype, nth.key);
  // An item that comes several times may be its own neighbour.
  if (nth.nan || index + 1 >= r->n || place == whole ||
      index + 1 < nth.less + nth.same)
    return true;
  if (nth.next == UINT64_MAX && !tl_nth_above(r, nth.key, &nth.next))
    return false;
  *out = between(low, real_of_key(r->dtype, nth.next), place - whole);
  return true;
}

// Stores a float64 as the result's dtype.
static void store_real(tl_dtype dtype, char *items, int64_t index,
                       double value) {
  if (dtype == TL_FLOAT32) {
    ((float *)(void *)items)[index] = (float)value;
  } else {
    ((double *)(void *)items)[index] = value;
  }
}

// Long lanes are not sorted for a few quantiles.
// Finding a place goes through the lane a few times for each quantile, sorting
// it once for each digit of the keys.
static bool selects(const quantiles *q) {
  enum { LONG = 100, FEW = 4 };
  return q->split.length >= LONG && q->count <= FEW;
}

// Whether each lane's items stand side by side in the array.
static bool lanes_are_dense(const tl_split *split) {
  // From the last reduced axis on, each step must be what lies below it.
  int64_t step = (int64_t)tl_itemsize(tl_array_dtype(split->array));
  for (int k = split->reduced - 1; k >= 0; k--) {
    if (split->reduced_shape[k] != 1 && split->reduced_strides[k] != step)
      return false;
    step *= split->reduced_shape[k];
  }
  return true;
}

// A lane's items side by side, as the dtype that they are worked on in; NULL:
// it was stopped.
static const char *read_lane(quantiles *q, const char *at, tl_dtype dtype) {
  const tl_split *split = &q->split;
  if (q->dense)
    return at;
  tl_lane lane = {
      at,      split->reduced, split->reduced_shape, split->reduced_strides,
      q->from, dtype};
  collector c = {q->lane, tl_itemsize(dtype)};
  bool ok = split->length == 0 || tl_lane_walk(q->vm, &lane, collect, &c);
  return ok ? q->lane : NULL;
}

// The quantiles of one lane, whose result is number [result] of those along the
// axes that remain; NULL items are not given.
static bool lane_quantiles(quantiles *q, const char *items, char *out,
                           int64_t result) {
  size_t n = (size_t)q->split.length;
  tl_stop stop = tl_stop_of(q->vm);
  bool selected = selects(q);
  const tl_ranks r = {.vm = q->vm,
                      .function = q->name,
                      .dtype = q->from,
                      .wants_next = true,
                      .items = items,
                      .n = q->split.length};
  if (!selected && !tl_sort(q->dtype, q->lane, n, false, q->scratch, &stop))
    return false;
  for (int64_t k = 0; k < q->count; k++) {
    double value;
    if (!tl_poll_at(q->vm, k))
      return false;
    if (!selected)
      value =
          interpolate(q, q->dtype, q->lane, tl_itemsize(q->dtype), q->at[k]);
    else if (!select_quantile(q, &r, q->at[k], &value))
      return false;
    store_real(q->dtype, out, k * q->split.count + result, value);
  }
  return true;
}

// Whether lanes are short and stand one beside the other along the last axis
// that remains: enough of them to fill a good part of a row, or, where single
// lanes would not be sorted, all of it (sort_columns.c).
static bool lanes_stand_beside(const quantiles *q) {
  const tl_split *split = &q->split;
  const int64_t size = (int64_t)tl_itemsize(q->from);
  return split->reduced == 1 && split->kept > 0 && split->length > 1 &&
         split->length <= TL_SORT_BESIDE &&
         tl_kernels()->sort_columns[0] != NULL &&
         split->kept_shape[split->kept - 1] * size * (selects(q) ? 1 : 4) >=
             TL_SORT_ROW;
}

// The quantiles of all lanes along the last axis that remains, the first of
// which begins at [at]. As many lanes as fit become the columns of a row, and
// are sorted at once.
static bool quantiles_beside(quantiles *q, const char *at, char *out,
                             int64_t *result) {
  const tl_split *split = &q->split;
  const size_t size = tl_itemsize(q->from), n = (size_t)split->length;
  const int64_t width = TL_SORT_ROW / (int64_t)size;
  const int64_t all = split->kept_shape[split->kept - 1];
  const int64_t step = split->kept_strides[split->kept - 1];
  for (int64_t i = 0; i < all; i += width) {
    const int64_t lanes = all - i < width ? all - i : width;
    tl_kernels()->pack_tile[tl_move_size(size)](
        q->lane, TL_SORT_ROW, at + i * step, split->reduced_strides[0], step, n,
        (size_t)lanes);
    tl_sort_side_by_side(q->from, q->lane, n, false);
    for (int64_t j = 0; j < lanes; j++, (*result)++)
      for (int64_t k = 0; k < q->count; k++) {
        if (!tl_poll_at(q->vm, k))
          return false;
        store_real(q->dtype, out, k * split->count + *result,
                   interpolate(q, q->from, q->lane + j * (int64_t)size,
                               TL_SORT_ROW, q->at[k]));
      }
    if (!tl_poll_items(q->vm, (int64_t)n * width))
      return false;
  }
  return true;
}

// All lanes, by counting through the axes that remain.
static bool compute_quantiles(quantiles *q, char *out) {
  const tl_split *split = &q->split;
  tl_dtype dtype = selects(q) ? q->from : q->dtype;
  int64_t result = 0;
  tl_counter counter;
  tl_counter_begin(&counter, split->kept - q->beside, split->kept_shape,
                   split->kept_strides, split->array->data);
  for (; q->beside && !counter.done; tl_counter_next(&counter))
    if (!quantiles_beside(q, counter.at, out, &result))
      return false;
  for (; !counter.done; tl_counter_next(&counter), result++) {
    const char *items = read_lane(q, counter.at, dtype);
    if (items == NULL || !lane_quantiles(q, items, out, result))
      return false;
    // Of a lane that is read where it stands nothing was counted.
    if (q->dense && !tl_poll_items(q->vm, split->length))
      return false;
  }
  return true;
}

// Room for a lane, and for sorting it where it is sorted.
static bool open_lane(quantiles *q) {
  size_t n = (size_t)q->split.length, sorting = 0, items;
  tl_split_as_stored(&q->split, false);
  q->beside = lanes_stand_beside(q);
  q->dense = !q->beside && selects(q) && lanes_are_dense(&q->split);
  // Whole cache lines, and at least one.
  items = (n * tl_itemsize(selects(q) ? q->from : q->dtype) + 127) / 64 * 64;
  if (q->beside)
    items = n * TL_SORT_ROW;
  else if (!selects(q))
    sorting = tl_sort_scratch(q->dtype, n) + 64;
  q->lane_size = q->dense ? 0 : items + sorting;
  q->lane = q->dense ? NULL : tl_alloc(q->vm, q->lane_size, q->name);
  if (q->lane != NULL)
    q->scratch = q->lane + items;
  if (q->beside && q->lane != NULL)
    memset(q->lane, 0, items);  // a row may have fewer lanes than it has room
  return q->dense || q->lane != NULL;
}

// A new array for the results: the axis of quantiles if there is one, then the
// axes of x without the reduced ones, or with length 1 for these. Returns
// owned, NULL after tl_fail.
static tl_array *quantile_result(const quantiles *q, uint32_t axes,
                                 bool keepdims) {
  int64_t shape[TL_MAX_DIMS + 1];
  int ndim = 0;
  const tl_array *x = q->split.array;
  // Several quantiles lie along a new first axis.
  if (q->asked != NULL && !tl_is_number(*q->asked))
    shape[ndim++] = q->count;
  for (int i = 0; i < tl_ndim(x); i++) {
    bool reduced = (axes >> i & 1) != 0;
    if (reduced && !keepdims)
      continue;
    shape[ndim++] = reduced ? 1 : tl_shape(x)[i];
  }
  if (ndim > TL_MAX_DIMS) {
    tl_fail(q->vm, TALLY_ERR_SHAPE, "%s: more than %d axes", q->name,
            TL_MAX_DIMS);
    return NULL;
  }
  return tl_array_new(q->vm, q->dtype, ndim, shape);
}

// Where the quantiles lie among the items of a lane by another method than the
// linear one, in Tally.
static bool find_places(quantiles *q, tl_slot *places) {
  tl_vm *vm = q->vm;
  tl_slot given[] = {tl_borrow(q->method), tl_none(),
                     tl_weak_int(q->split.length), tl_none()};
  tl_array *at = tl_array_new(vm, TL_FLOAT64, 1, &q->count);
  if (at == NULL || !tl_string_give(tl_string_from(vm, q->name), &given[3])) {
    tl_array_drop(vm, at);
    return false;
  }
  memcpy(at->data, q->at, (size_t)q->count * sizeof *q->at);
  given[1] = tl_own_array(at);
  if (!tl_call_embedded(vm, "inner/reductions", "places", 4, given, places))
    return vm->error.named = false;
  q->at = (const double *)places->array->data;
  return true;
}

// The caller has said what is asked: name, method, count and at.
static bool run_quantiles(tl_vm *vm, quantiles *q, tl_slot *x, tl_slot axis,
                          bool keepdims, tl_slot *out) {
  uint32_t axes;
  tl_slot places = tl_none();
  if (!tl_arg_numeric(vm, q->name, x) ||
      !tl_arg_axis_set(vm, q->name, axis, tl_ndim(x->array), &axes))
    return false;
  q->from = tl_array_dtype(x->array);
  if (tl_dtype_is_complex(q->from))
    return tl_arg_fail(vm, q->name, "x", "real", *x);
  // Quantiles of integers lie between them.
  q->dtype = q->from == TL_FLOAT32 ? TL_FLOAT32 : TL_FLOAT64;
  tl_split_axes(x->array, axes, &q->split);
  if (!tl_is_none(q->method) && !find_places(q, &places))
    return false;
  tl_array *result = open_lane(q) ? quantile_result(q, axes, keepdims) : NULL;
  bool ok = result != NULL && compute_quantiles(q, result->data);
  tl_free(vm, q->lane, q->lane_size);
  tl_drop(vm, places);
  if (ok && q->from == TL_FLOAT16)
    return tl_cast_own(vm, result, TL_FLOAT16, out);
  return tl_result_finish(vm, ok, result, out);
}

// Of values that may be missing, or of rows, in Tally.
static bool nested_quantiles(const quantiles *q, const tl_slot *x, tl_slot axis,
                             bool keepdims, bool skip, tl_slot *out) {
  tl_vm *vm = q->vm;
  const bool ragged = tl_is_form(*x, TL_FORM_RAGGED);
  int along = 1, ndim = ragged ? 2 : tl_value_ndim(*x);
  if (!tl_is_none(axis)) {
    if (!tl_arg_axis(vm, q->name, axis, ndim, 0, &along))
      return false;
    axis = tl_weak_int(along);
  }
  if (ragged ? along != 1
             : !tl_is_form(*x, TL_FORM_OPTION) ||
                   (!tl_is_none(axis) && ndim > 1 &&
                    !tl_is_array(x->nested->parts[1])))
    return tl_arg_fail(vm, q->name, "x",
                       "of numbers, or with missing values or rows of "
                       "different lengths, of which all items or each row are "
                       "taken",
                       *x);
  tl_record *more = tl_record_new(vm, 3);
  tl_record_put(vm, &more, "skip", tl_bool(skip));
  for (int i = 0; i < 2 && q->asked != NULL; i++)
    tl_record_put(vm, &more, i == 0 ? "q" : "method",
                  tl_retain(vm, tl_borrow(q->asked[4 * i])));
  return tl_reduce_in_tally(vm, "quantiles", q->name, x, &axis, ndim, keepdims,
                            more, out);
}

// Of plain arrays or others; [args] are axis, keepdims and skip_missing.
static bool find_quantiles(tl_vm *vm, quantiles *w, tl_slot *x,
                           const tl_slot *args, tl_slot *out) {
  const bool keep = args[1].i != 0, skip = args[2].i != 0;
  return tl_is_nested(*x) ? nested_quantiles(w, x, args[0], keep, skip, out)
                          : run_quantiles(vm, w, x, args[0], keep, out);
}

// median(x, axis, keepdims, skip_missing): quantile 1/2 by the linear method,
// the mean of the two middle items of an even number.
static bool median(tl_vm *vm, tl_slot *args, tl_slot *out) {
  static const double half = 0.5;
  quantiles w = {vm, "median", .method = tl_none(), .count = 1, .at = &half};
  return find_quantiles(vm, &w, &args[0], &args[1], out);
}

// The quantiles asked for, divided by [whole]: a number or a vector of them.
static bool with_fractions(tl_vm *vm, const char *name, double whole,
                           tl_slot *args, tl_slot *out) {
  tl_slot wanted;
  if (!tl_as_contiguous(vm, name, args[1], TL_FLOAT64, &wanted))
    return false;
  int64_t count = wanted.array->size;
  size_t nbytes = (size_t)(count + 1) * sizeof(double);
  bool ok = tl_ndim(wanted.array) <= 1;
  if (!ok)
    tl_fail(vm, TALLY_ERR_SHAPE, "%s: q must have one axis", name);
  double *at = ok ? tl_alloc(vm, nbytes, name) : NULL;
  ok = at != NULL;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
    at[i] = ((const double *)(const void *)wanted.array->data)[i] / whole;
    if (at[i] >= 0 && at[i] <= 1)
      continue;
    ok = tl_fail(vm, TALLY_ERR_VALUE, "%s: q is %g, not from 0 to %g", name,
                 at[i] * whole, whole);
  }
  quantiles w = {vm, name, &args[1], args[5], .count = count, .at = at};
  if (tl_is_string(w.method) && strcmp(w.method.string->text, "linear") == 0)
    w.method = tl_none();
  ok = ok && find_quantiles(vm, &w, &args[0], &args[2], out);
  tl_free(vm, at, nbytes);
  tl_clear(vm, &wanted);
  return ok;
}

// quantile(x, q, ...), q from 0 to 1.
static bool quantile(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return with_fractions(vm, "quantile", 1, args, out);
}

// percentile(x, q, ...), q from 0 to 100.
static bool percentile(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return with_fractions(vm, "percentile", 100, args, out);
}

// --- The table --------------------------------------------------------------

#define OPTIONS "axis: none, keepdims: false, skip_missing: false"
#define METHOD ", method: \"linear\""

const tl_builtin tl_quantile_builtins[] = {
    /// The middle item in order, or the mean of the two in the middle.
    /// Floats keep their dtype, integers give float64. Strings are an error
    /// (kind type), an axis that x lacks another (index).
    ///     median([7, 1, 3])       # 3.0
    ///     median([4, 1, 3, 2])    # 2.5
    {"median", "x, " OPTIONS, median, .lifts = TL_INNERMOST, .types = "x.bb"},
    /// The value below which the fraction q of the items lies. Several q give
    /// a new first axis. method says what lies between two items: "linear"
    /// interpolates between neighbours (Hyndman and Fan, 1996, their definition
    /// 7), "lower", "higher", "midpoint" and "nearest" choose there; their
    /// other definitions, 1 to 9: "inverted_cdf", "averaged_inverted_cdf",
    /// "closest_observation", "interpolated_inverted_cdf", "hazen",
    /// "weibull", "linear", "median_unbiased", "normal_unbiased".
    /// Of an array of any real dtype, along an axis or of all items; gives
    /// floats. A q outside of 0 .. 1 and another method are an error (kind
    /// value), an axis that x lacks another (index).
    ///     quantile([1, 2, 3, 4, 5], 0.25)         # 2.0
    ///     quantile([1, 2, 3, 4], [0.0, 0.5, 1.0]) # [1.0, 2.5, 4.0]
    ///     quantile([1, 2, 3, 4], 0.5, method: "lower")    # 2.0
    {"quantile", "x, q, " OPTIONS METHOD, quantile, .lifts = TL_INNERMOST,
     .types = "xx.bbS"},
    /// quantile(x, q / 100) (Hyndman and Fan, 1996, their definition 7), with
    /// the same methods.
    /// Of an array of any real dtype, along an axis or of all items; gives
    /// floats. A q outside of 0 .. 100 and another method are an error (kind
    /// value), an axis that x lacks another (index).
    ///     percentile([1, 2, 3, 4, 5], 50)    # 3.0
    {"percentile", "x, q, " OPTIONS METHOD, percentile, .lifts = TL_INNERMOST,
     .types = "xx.bbS"},
    {.name = NULL},
};
