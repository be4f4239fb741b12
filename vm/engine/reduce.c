// Reductions: what each computes in, and folds over lanes and columns.
//
// A result depends on the shape and the items in logical order alone, never on
// strides: sum(x) and sum(copy(x)) agree to the last bit.
#include "vm/engine/reduce_internal.h"

#include <math.h>
#include <string.h>

#include "vm/error.h"
#include "vm/engine/operand.h"
#include "vm/vm.h"

static const char *const names[TL_REDUCTION_COUNT] = {
    [TL_REDUCE_SUM] = "sum",
    [TL_REDUCE_PROD] = "prod",
    [TL_REDUCE_MIN] = "min",
    [TL_REDUCE_MAX] = "max",
    [TL_REDUCE_ANY] = "any",
    [TL_REDUCE_ALL] = "all",
    [TL_REDUCE_COUNT_NONZERO] = "count_nonzero",
    [TL_REDUCE_ARGMIN] = "argmin",
    [TL_REDUCE_ARGMAX] = "argmax",
    [TL_REDUCE_MEAN] = "mean",
    [TL_REDUCE_VAR] = "var",
    [TL_REDUCE_STD] = "std",
};

// --- Lanes, one result after the other --------------------------------------

typedef struct feeder {
  tl_fold_feed *feed;
  tl_fold_state state;
} feeder;

static void feed_piece(void *context, const void *items, size_t n) {
  feeder *f = context;
  f->feed(&f->state, items, n);
}

static bool fold_lane(const tl_reducer *r, tl_vm *vm, int64_t *unpolled,
                      const void *context, const tl_lane *lane, void *out) {
  const tl_fold fold = *(const tl_fold *)context;
  feeder f;  // large: not cleared
  f.feed = tl_kernels()->fold_feed[fold][r->dtype];
  tl_fold_begin(&f.state);
  if (!tl_lane_walk(vm, lane, unpolled, feed_piece, &f))
    return false;
  tl_kernels()->fold_end[fold][r->dtype](&f.state, out);
  return true;
}

static bool fold_parts(tl_reducer *r, tl_fold fold, const tl_parts *parts) {
  const tl_kernel_table *kernels = tl_kernels();
  feeder f[TL_REDUCE_PARTS];  // large: not cleared
  for (int64_t i = 0; i < parts->count; i++) {
    f[i].feed = kernels->fold_feed[fold][r->dtype];
    tl_fold_begin(&f[i].state);
  }
  if (!tl_reduce_feed_parts(r, parts, feed_piece, f, sizeof f[0]))
    return false;
  for (int64_t i = 1; i < parts->count; i++) {
    kernels->fold_merge[fold][r->dtype](&f[0].state, &f[i].state);
  }
  kernels->fold_end[fold][r->dtype](&f[0].state, r->out);
  return true;
}

static void sum_dense(const tl_reducer *r, const void *context,
                      const char *items, int64_t n, int64_t readable,
                      char *out) {
  (void)context;
  (void)readable;
  tl_kernels()->sum_rows[r->dtype](out, items, (size_t)n,
                                   (size_t)r->split.length);
}

static void sum_rows(const tl_reducer *r, const void *context, int64_t from,
                     int64_t n) {
  tl_reduce_dense(r, sum_dense, context, from, n);
}

// A product of floats in the order of a lane (vm/kernels/reduce.c): halves of
// the row, of halves.
static void multiply_tile(const tl_reducer *r, char *out, char *tile,
                          size_t rows) {
  const size_t column = rows * tl_itemsize(r->dtype);
  size_t n = (size_t)r->split.length, half = TL_SHORT_ROW / 2;
  for (; half > 0; half /= 2) {
    if (half >= n)
      continue;
    tl_kernels()->binary[TL_OP_MULTIPLY][r->dtype](
        tile, tile, tile + half * column, (n - half) * rows);
    n = half;
  }
  memcpy(out, tile, column);
}

// What follows no order but that of the row's items goes down columns.
static void fold_tile(const tl_reducer *r, const void *context, char *out,
                      char *tile, size_t rows) {
  const tl_fold fold = *(const tl_fold *)context;
  if (fold == TL_FOLD_PROD && tl_dtype_is_real(r->dtype))
    multiply_tile(r, out, tile, rows);
  else
    tl_kernels()->fold_outer[fold][r->dtype](
        out, tile, (ptrdiff_t)(rows * tl_itemsize(r->dtype)),
        (size_t)r->split.length, rows, NULL);
}

static void fold_rows(const tl_reducer *r, const void *context, int64_t from,
                      int64_t n) {
  tl_reduce_turned(r, fold_tile, context, from, n);
}

// Many rows at a time where a kernel does so, else one by one.
static void fold_even(const tl_reducer *r, const void *context,
                      const char *items, int64_t n, int64_t readable,
                      char *out) {
  const tl_kernel_table *kernels = tl_kernels();
  const tl_fold fold = *(const tl_fold *)context;
  const size_t length = (size_t)r->split.length, step = tl_itemsize(r->result);
  tl_fold_spans *spans = kernels->fold_spans[fold][r->dtype];
  if (spans != NULL) {
    tl_reduce_even(spans, items, r->split.length, n, readable,
                   tl_itemsize(r->dtype), out, step);
    return;
  }
  tl_fold_feed *feed = kernels->fold_feed[fold][r->dtype];
  tl_fold_end *end = kernels->fold_end[fold][r->dtype];
  for (int64_t i = 0; i < n; i++, out += step) {
    tl_fold_state state;  // large: not cleared
    tl_fold_begin(&state);
    feed(&state, items, length);
    end(&state, out);
    items += length * tl_itemsize(r->dtype);
  }
}

static void fold_even_rows(const tl_reducer *r, const void *context,
                           int64_t from, int64_t n) {
  tl_reduce_dense(r, fold_even, context, from, n);
}

static bool fold_lanes(tl_reducer *r, tl_fold fold) {
  const tl_kernel_table *kernels = tl_kernels();
  if (fold == TL_FOLD_SUM && kernels->sum_rows[r->dtype] != NULL &&
      tl_reduce_has_rows(r, 1, TL_SHORT_ROW))
    return tl_reduce_rows(r, sum_rows, NULL);
  if (tl_reduce_has_rows(r, TL_SIDE_BY_SIDE, TL_SHORT_ROW))
    return tl_reduce_rows(r, fold_rows, &fold);
  if (tl_reduce_has_rows(r, TL_SIDE_BY_SIDE, TL_FOLD_LEAF))
    return tl_reduce_rows(r, fold_even_rows, &fold);
  tl_parts parts;
  if (tl_reduce_in_parts(r, &parts))
    return fold_parts(r, fold, &parts);
  return tl_reduce_lanes(r, fold_lane, &fold);
}

// --- Columns, side by side --------------------------------------------------

static size_t strip_scratch(const tl_reducer *r, const void *context,
                            size_t nrows, size_t ncols) {
  return tl_fold_outer_scratch(*(const tl_fold *)context, r->dtype, nrows,
                               ncols);
}

static void fold_strip(const tl_reducer *r, const void *context, void *out,
                       const void *a, ptrdiff_t row_stride, size_t nrows,
                       size_t ncols, void *scratch) {
  const tl_fold fold = *(const tl_fold *)context;
  tl_kernels()->fold_outer[fold][r->dtype](out, a, row_stride, nrows, ncols,
                                           scratch);
}

tl_kernel2 *tl_fold_join(tl_fold fold, tl_dtype dtype) {
  const tl_kernel_table *kernels = tl_kernels();
  const tl_dtype made = tl_fold_result(fold, dtype);
  switch (fold) {
    case TL_FOLD_SUM:
    case TL_FOLD_COUNT:
      return kernels->binary[TL_OP_ADD][made];
    case TL_FOLD_PROD:
      return tl_dtype_is_integer(made) ? kernels->binary[TL_OP_MULTIPLY][made]
                                       : NULL;
    case TL_FOLD_MIN:
      return kernels->binary[TL_OP_MINIMUM][made];
    case TL_FOLD_MAX:
      return kernels->binary[TL_OP_MAXIMUM][made];
    case TL_FOLD_ANY:
      return kernels->binary[TL_OP_LOGICAL_OR][TL_BOOL];
    case TL_FOLD_ALL:
      return kernels->binary[TL_OP_LOGICAL_AND][TL_BOOL];
    default:
      return NULL;
  }
}

// Sums of columns whose items lie side by side, as those of a transposed matrix
// do: one column after the other.
static bool has_upright_columns(const tl_split *split, size_t itemsize) {
  return split->reduced == 1 && split->reduced_strides[0] == (int64_t)itemsize;
}

static bool sum_column(const tl_reducer *r, tl_vm *vm, int64_t *unpolled,
                       const void *context, const tl_lane *lane, void *out) {
  _Alignas(64) double counter[64];  // as many as a count has bits
  const int64_t length = lane->shape[0];
  (void)context;
  tl_kernels()->fold_outer[TL_FOLD_SUM][r->dtype](
      out, lane->base, lane->strides[0], (size_t)length, 1, counter);
  return tl_lane_poll(vm, unpolled, length);
}

// In the order that lanes and columns are given in.
static bool fold_in_order(tl_reducer *r, tl_fold fold) {
  const tl_split *split = &r->split;
  bool columns = split->kept > 0 && (split->outer || split->reduced == 0) &&
                 split->length > 0;
  if (!columns && tl_reduce_is_upright(r, fold))
    return tl_reduce_upright(r, fold);
  if (!columns)
    return fold_lanes(r, fold);
  if (fold == TL_FOLD_SUM && tl_dtype_is_real(r->dtype) &&
      r->from == r->dtype && has_upright_columns(split, tl_itemsize(r->from)))
    return tl_reduce_lanes(r, sum_column, NULL);
  tl_strip strip = {fold_strip, strip_scratch, &fold,
                    tl_fold_join(fold, r->dtype)};
  return tl_reduce_strips(r, &strip);
}

// Whether the order of the items does not count, but for which zero or NaN it
// is.
static bool is_free(tl_fold fold, tl_dtype dtype) {
  bool adds = fold == TL_FOLD_SUM || fold == TL_FOLD_PROD;
  return !adds || dtype < TL_FLOAT32;
}

// Of 0.0 and -0.0 the order tells.
static bool has_zero(const tl_reducer *r) {
  for (int64_t i = 0; i < r->split.count; i++) {
    double item = r->result == TL_FLOAT64
                      ? ((const double *)(const void *)r->out)[i]
                      : (double)((const float *)(const void *)r->out)[i];
    if (item == 0)
      return true;
  }
  return false;
}

bool tl_reduce_fold(tl_reducer *r, tl_fold fold) {
  if (!is_free(fold, r->dtype) || tl_is_contiguous(r->split.array))
    return fold_in_order(r, fold);
  tl_split split = r->split;
  tl_split_as_stored(&r->split);
  bool ok = fold_in_order(r, fold);
  r->split = split;
  bool ordered = fold == TL_FOLD_MIN || fold == TL_FOLD_MAX;
  return ok && ordered && r->result >= TL_FLOAT32 && has_zero(r)
             ? fold_in_order(r, fold)
             : ok;
}

// --- Dtypes -----------------------------------------------------------------

tl_fold tl_reduction_fold(tl_reduction reduction) {
  switch (reduction) {
    case TL_REDUCE_PROD:
      return TL_FOLD_PROD;
    case TL_REDUCE_MIN:
      return TL_FOLD_MIN;
    case TL_REDUCE_MAX:
      return TL_FOLD_MAX;
    case TL_REDUCE_ANY:
      return TL_FOLD_ANY;
    case TL_REDUCE_ALL:
      return TL_FOLD_ALL;
    case TL_REDUCE_COUNT_NONZERO:
      return TL_FOLD_COUNT;
    default:
      return TL_FOLD_SUM;
  }
}

static bool is_ordering(tl_reduction reduction) {
  return reduction == TL_REDUCE_MIN || reduction == TL_REDUCE_MAX ||
         reduction == TL_REDUCE_ARGMIN || reduction == TL_REDUCE_ARGMAX;
}

const char *tl_reduction_name(tl_reduction reduction) {
  return names[reduction];
}

bool tl_reduce_dtypes(tl_reducer *r, tl_reduction reduction, tl_dtype dtype,
                      tl_slot x) {
  tl_dtype from = r->from;
  if (from == TL_STRING)
    return tl_arg_fail(r->vm, r->name, NULL, "numbers", x);
  if (is_ordering(reduction) && tl_dtype_is_complex(from)) {
    return tl_arg_fail(r->vm, r->name, NULL, "real numbers", x);
  }
  bool is_mean = reduction >= TL_REDUCE_MEAN;
  r->dtype = dtype != TL_DTYPE_COUNT        ? dtype
             : is_mean && from < TL_FLOAT32 ? TL_FLOAT64
                                            : from;
  if (r->dtype >= TL_STRING || tl_kernels()->cast[from][r->dtype] == NULL ||
      (is_mean && r->dtype < TL_FLOAT32)) {
    return tl_fail(r->vm, TALLY_ERR_TYPE, "%s: dtype %s does not serve for %s",
                   r->name, tl_dtypes[r->dtype].name, tl_dtypes[from].name);
  }
  if (reduction == TL_REDUCE_ARGMIN || reduction == TL_REDUCE_ARGMAX) {
    r->result = TL_INT64;
  } else if (is_ordering(reduction)) {
    r->result = r->dtype;
    // The bytes of bools order like integers.
    if (from == TL_BOOL)
      r->from = r->dtype = TL_UINT8;
  } else if (is_mean) {
    r->result = r->dtype;
    if (reduction != TL_REDUCE_MEAN) {
      r->result = tl_op_result(TL_OP_ABS, r->dtype);
    }
  } else {
    r->result = tl_fold_result(tl_reduction_fold(reduction), r->dtype);
  }
  return true;
}

// --- The whole --------------------------------------------------------------

void tl_reduce_divide(tl_dtype dtype, char *items, int64_t n, double by) {
  bool is_complex = tl_dtype_is_complex(dtype);
  if (is_complex)
    n *= 2;
  if (dtype == TL_FLOAT32 || dtype == TL_COMPLEX64) {
    float *at = (float *)(void *)items;
    for (int64_t i = 0; i < n; i++) at[i] /= (float)by;
  } else {
    double *at = (double *)(void *)items;
    for (int64_t i = 0; i < n; i++) at[i] /= by;
  }
}

static bool run(tl_reducer *r, tl_reduction reduction, double parameter) {
  switch (reduction) {
    case TL_REDUCE_ARGMIN:
    case TL_REDUCE_ARGMAX:
      return tl_reduce_arg(r, reduction == TL_REDUCE_ARGMAX);
    case TL_REDUCE_VAR:
    case TL_REDUCE_STD:
      return tl_reduce_variance(r, parameter, reduction == TL_REDUCE_STD);
    default:
      if (!tl_reduce_fold(r, tl_reduction_fold(reduction)))
        return false;
      if (reduction == TL_REDUCE_MEAN) {
        tl_reduce_divide(r->result, r->out, r->split.count,
                         (double)r->split.length);
      }
      return true;
  }
}

int tl_reduce_shape(int ndim, const int64_t *lengths, uint32_t axes,
                    bool keepdims, int64_t *shape) {
  int kept = 0;
  for (int i = 0; i < ndim; i++) {
    bool reduced = (axes >> i & 1) != 0;
    if (reduced && !keepdims)
      continue;
    shape[kept++] = reduced ? 1 : lengths[i];
  }
  return kept;
}

bool tl_reduce_scalar(tl_reducer *r, const tl_c128 *item, tl_slot *out) {
  *out = r->result == TL_COMPLEX128
             ? tl_new_complex(r->vm, item->re, item->im, false)
             : tl_scalar_load(r->result, item);
  return !tl_is_unset(*out);
}

// A single result needs no array.
static bool run_scalar(tl_reducer *r, tl_reduction reduction, double parameter,
                       tl_slot *out) {
  tl_c128 item;
  r->out = (char *)&item;
  return run(r, reduction, parameter) && tl_reduce_scalar(r, &item, out);
}

static bool reduce_array(tl_vm *vm, tl_reduction reduction, tl_slot x,
                         uint32_t axes, bool keepdims, tl_dtype dtype,
                         double parameter, tl_slot *out) {
  tl_reducer r;  // large: not cleared
  r.vm = vm;
  r.name = names[reduction];
  r.from = tl_array_dtype(x.array);
  r.unpolled = 0;
  if (!tl_reduce_dtypes(&r, reduction, dtype, x))
    return false;
  tl_split_axes(x.array, axes, &r.split);
  if (is_ordering(reduction) && r.split.length == 0 && r.split.count > 0) {
    char text[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: x has no items to choose from: got %s", r.name,
                   tl_describe(x, text, sizeof text));
  }
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_reduce_shape(tl_ndim(x.array), tl_shape(x.array), axes,
                             keepdims, shape);
  if (ndim == 0)
    return run_scalar(&r, reduction, parameter, out);
  tl_array *array = tl_array_new(vm, r.result, ndim, shape);
  if (array == NULL)
    return false;
  r.out = array->data;
  if (r.split.count > 0 && !run(&r, reduction, parameter)) {
    tl_drop(vm, tl_own_array(array));
    return false;
  }
  *out = tl_own_array(array);
  return true;
}

bool tl_reduce_narrow(tl_vm *vm, tl_reduction reduction, tl_dtype dtype,
                      tl_slot *out) {
  bool sums = reduction == TL_REDUCE_SUM || reduction == TL_REDUCE_PROD;
  if (!sums || dtype == TL_DTYPE_COUNT || !tl_dtype_is_integer(dtype) ||
      tl_dtype_of(*out) == (int)dtype) {
    return true;
  }
  tl_slot from = tl_none(), result;
  bool made = !tl_is_array(*out);
  if (made) {
    if (!tl_as_array(vm, "sum", *out, &from))
      return false;
  } else {
    from = *out;
  }
  tl_array *a = from.array;
  tl_array *array = tl_array_new(vm, dtype, tl_ndim(a), tl_shape(a));
  if (array != NULL) {
    tl_kernels()->cast[tl_array_dtype(a)][dtype](array->data, a->data,
                                                 (size_t)a->size);
    result = tl_result(vm, array);
  }
  if (tl_is_owned(from))
    tl_drop(vm, from);
  *out = array != NULL ? result : tl_none();
  return array != NULL;
}

bool tl_reduce(tl_vm *vm, tl_reduction reduction, tl_slot *x, uint32_t axes,
               bool keepdims, tl_dtype dtype, double parameter, tl_slot *out) {
  tl_slot array, result;
  if (!tl_as_array(vm, names[reduction], *x, &array))
    return false;
  bool ok = reduce_array(vm, reduction, array, axes, keepdims, dtype, parameter,
                         &result);
  if (tl_is_owned(array))
    tl_drop(vm, array);
  ok = ok && tl_reduce_narrow(vm, reduction, dtype, &result);
  if (ok)
    tl_copy_slot(out, &result);
  return ok;
}
