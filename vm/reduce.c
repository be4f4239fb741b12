// Reductions: what each computes in, and folds over lanes and columns.
//
// A result depends on the shape and the items in logical order alone, never on
// strides: sum(x) and sum(copy(x)) agree to the last bit.
#include "vm/reduce_internal.h"

#include <math.h>
#include <string.h>

#include "vm/error.h"
#include "vm/operand.h"
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

tl_sum_rows *tl_reduce_short_rows(const tl_reducer *r, tl_fold fold) {
  const tl_split *split = &r->split;
  const tl_array *a = split->array;
  bool rows = fold == TL_FOLD_SUM && r->from == r->dtype &&
              split->reduced == 1 && split->length > 0 &&
              split->length <= TL_SHORT_ROW && tl_is_contiguous(a) &&
              split->length == tl_shape(a)[tl_ndim(a) - 1] &&
              split->reduced_strides[0] == (int64_t)tl_itemsize(r->from);
  return rows ? tl_kernels()->sum_rows[r->dtype] : NULL;
}

static bool sum_rows(tl_reducer *r, tl_sum_rows *kernel) {
  enum { TOGETHER = 4096 };
  size_t n = (size_t)r->split.length, itemsize = tl_itemsize(r->dtype);
  const char *from = r->split.array->data;
  char *to = r->out;
  for (int64_t left = r->split.count; left > 0; left -= TOGETHER) {
    size_t nrows = left < TOGETHER ? (size_t)left : TOGETHER;
    kernel(to, from, nrows, n);
    to += nrows * itemsize;
    from += nrows * n * itemsize;
    if (!tl_poll(r->vm, nrows * n / 1024)) return false;
  }
  return true;
}

static bool fold_lanes(tl_reducer *r, tl_fold fold) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_sum_rows *short_rows = tl_reduce_short_rows(r, fold);
  if (short_rows != NULL) return sum_rows(r, short_rows);
  const tl_split *split = &r->split;
  feeder f;  // large: not cleared
  f.feed = kernels->fold_feed[fold][r->dtype];
  tl_fold_end *end = kernels->fold_end[fold][r->dtype];
  size_t itemsize = tl_itemsize(tl_fold_result(fold, r->dtype));
  tl_counter counter;
  tl_counter_begin(&counter, split->kept, split->kept_shape,
                   split->kept_strides, split->array->data);
  char *out = r->out;
  for (; !counter.done; tl_counter_next(&counter)) {
    tl_lane lane = {counter.at,      split->reduced,
                    split->reduced_shape, split->reduced_strides,
                    r->from,         r->dtype};
    tl_fold_begin(&f.state);
    if (!tl_lane_walk(r->vm, &lane, &r->unpolled, feed_piece, &f)) {
      return false;
    }
    end(&f.state, out);
    out += itemsize;
  }
  return true;
}

// --- Columns, side by side --------------------------------------------------

enum { STRIP_BYTES = 512 * 1024, POLL_ITEMS = 64 * 1024 };

// Copies [ncols] columns from [at] on, all rows in logical order, as
// contiguous rows of r->dtype.
static void gather(tl_reducer *r, const char *at, size_t ncols, char *to) {
  const tl_split *split = &r->split;
  const tl_kernel_table *kernels = tl_kernels();
  size_t itemsize = tl_itemsize(r->from);
  tl_pack_tile *pack = kernels->pack_tile[tl_move_size(itemsize)];
  int last = split->reduced - 1;
  int64_t nrows = last < 0 ? 1 : split->reduced_shape[last];
  int64_t row = last < 0 ? 0 : split->reduced_strides[last];
  int64_t column = split->kept_strides[split->kept - 1];
  tl_counter counter;
  tl_counter_begin(&counter, last < 0 ? 0 : last, split->reduced_shape,
                   split->reduced_strides, at);
  for (; !counter.done; tl_counter_next(&counter)) {
    pack(to, (ptrdiff_t)(ncols * itemsize), counter.at, row, column,
         (size_t)nrows, ncols);
    to += (size_t)nrows * ncols * itemsize;
  }
}

// The strips of one position of the outer axes, through a buffer.
static bool gathered_strips(tl_reducer *r, tl_strip_fn *strip, void *context,
                            const char *base, char *out, size_t width,
                            char *buffer) {
  const tl_split *split = &r->split;
  const tl_kernel_table *kernels = tl_kernels();
  int64_t ncols = split->kept_shape[split->kept - 1];
  int64_t column = split->kept_strides[split->kept - 1];
  size_t from = tl_itemsize(r->from), to = tl_itemsize(r->dtype);
  size_t nrows = (size_t)split->length;
  char *converted = buffer + (nrows * width * from + 63) / 64 * 64;
  for (int64_t at = 0; at < ncols; at += (int64_t)width) {
    size_t n = (size_t)(ncols - at) < width ? (size_t)(ncols - at) : width;
    char *rows = buffer;
    gather(r, base + at * column, n, rows);
    if (r->from != r->dtype) {
      kernels->cast[r->from][r->dtype](converted, rows, nrows * n);
      rows = converted;
    }
    char *to_items = out + (size_t)at * tl_itemsize(r->result);
    if (!strip(r, context, to_items, rows, (ptrdiff_t)(n * to), nrows, n) ||
        !tl_poll(r->vm, nrows * n / 1024)) {
      return false;
    }
  }
  return true;
}

// The same straight from memory, columns being contiguous.
static bool direct_strips(tl_reducer *r, tl_strip_fn *strip, void *context,
                          const char *base, char *out) {
  const tl_split *split = &r->split;
  size_t nrows = (size_t)split->length;
  int64_t ncols = split->kept_shape[split->kept - 1];
  ptrdiff_t row = split->reduced == 0 ? 0 : split->reduced_strides[0];
  int64_t width = (int64_t)(16 * POLL_ITEMS / nrows) & ~INT64_C(1023);
  if (width < 1024) width = 1024;
  for (int64_t at = 0; at < ncols; at += width) {
    int64_t n = ncols - at < width ? ncols - at : width;
    if (!strip(r, context, out + (size_t)at * tl_itemsize(r->result),
               base + (size_t)at * tl_itemsize(r->from), row, nrows,
               (size_t)n)) {
      return false;
    }
    r->unpolled += n * (int64_t)nrows;
    if (r->unpolled >= POLL_ITEMS) {
      uint64_t work = (uint64_t)r->unpolled / 1024;
      r->unpolled = 0;
      if (!tl_poll(r->vm, work)) return false;
    }
  }
  return true;
}

bool tl_reduce_strips(tl_reducer *r, tl_strip_fn *strip, void *context) {
  const tl_split *split = &r->split;
  int columns = split->kept - 1;
  size_t itemsize = tl_itemsize(r->from), nrows = (size_t)split->length;
  bool direct = split->reduced <= 1 && r->from == r->dtype &&
                split->kept_strides[columns] == (int64_t)itemsize;
  size_t width = 0, nbytes = 0;
  char *buffer = NULL;
  if (!direct) {
    size_t both = itemsize + tl_itemsize(r->dtype);
    width = STRIP_BYTES / (nrows * both);
    if (width > 1024) width = 1024;
    if (width < 4) width = 4;
    if (width > (size_t)split->kept_shape[columns]) {
      width = (size_t)split->kept_shape[columns];
    }
    nbytes = nrows * width * both + 64;
    buffer = tl_alloc(r->vm, nbytes, "columns to reduce");
    if (buffer == NULL) return false;
  }
  bool ok = true;
  char *out = r->out;
  tl_counter counter;
  tl_counter_begin(&counter, columns, split->kept_shape, split->kept_strides,
                   split->array->data);
  for (; ok && !counter.done; tl_counter_next(&counter)) {
    ok = direct ? direct_strips(r, strip, context, counter.at, out)
                : gathered_strips(r, strip, context, counter.at, out, width,
                                  buffer);
    out += (size_t)split->kept_shape[columns] * tl_itemsize(r->result);
  }
  if (buffer != NULL) tl_free(r->vm, buffer, nbytes);
  return ok;
}

static bool fold_strip(tl_reducer *r, void *context, char *out, const char *a,
                       ptrdiff_t row_stride, size_t nrows, size_t ncols) {
  tl_fold fold = *(tl_fold *)context;
  size_t nbytes = tl_fold_outer_scratch(fold, r->dtype, nrows, ncols);
  void *scratch = NULL;
  if (nbytes > 0) {
    scratch = tl_alloc(r->vm, nbytes, "partial sums");
    if (scratch == NULL) return false;
  }
  tl_kernels()->fold_outer[fold][r->dtype](out, a, row_stride, nrows, ncols,
                                           scratch);
  if (scratch != NULL) tl_free(r->vm, scratch, nbytes);
  return true;
}

bool tl_reduce_fold(tl_reducer *r, tl_fold fold) {
  const tl_split *split = &r->split;
  bool columns = split->kept > 0 && (split->outer || split->reduced == 0) &&
                 split->length > 0;
  bool done;
  if (!tl_reduce_spread(r, fold, columns, &done)) return false;
  if (done) return true;
  if (!columns) return fold_lanes(r, fold);
  return tl_reduce_strips(r, fold_strip, &fold);
}

// --- Dtypes -----------------------------------------------------------------

static bool refuse(tl_vm *vm, const char *name, const char *needs, tl_slot x) {
  char text[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_TYPE, "%s needs %s: got %s", name, needs,
                 tl_describe(x, text, sizeof text));
}

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
  if (from == TL_STRING) return refuse(r->vm, r->name, "numbers", x);
  if (is_ordering(reduction) && tl_dtype_is_complex(from)) {
    return refuse(r->vm, r->name, "real numbers", x);
  }
  bool is_mean = reduction >= TL_REDUCE_MEAN;
  r->dtype = dtype != TL_DTYPE_COUNT          ? dtype
             : is_mean && from < TL_FLOAT32   ? TL_FLOAT64
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
    if (from == TL_BOOL) r->from = r->dtype = TL_UINT8;
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
  if (is_complex) n *= 2;
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
      if (!tl_reduce_fold(r, tl_reduction_fold(reduction))) return false;
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
    if (reduced && !keepdims) continue;
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
  if (!tl_reduce_dtypes(&r, reduction, dtype, x)) return false;
  tl_split_axes(x.array, axes, &r.split);
  if (is_ordering(reduction) && r.split.length == 0 && r.split.count > 0) {
    char text[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_VALUE, "%s of no items: got %s", r.name,
                   tl_describe(x, text, sizeof text));
  }
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_reduce_shape(tl_ndim(x.array), tl_shape(x.array), axes,
                             keepdims, shape);
  if (ndim == 0) return run_scalar(&r, reduction, parameter, out);
  tl_array *array = tl_array_new(vm, r.result, ndim, shape);
  if (array == NULL) return false;
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
    if (!tl_as_array(vm, "sum", *out, &from)) return false;
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
  if (tl_is_owned(from)) tl_drop(vm, from);
  *out = array != NULL ? result : tl_none();
  return array != NULL;
}

bool tl_reduce(tl_vm *vm, tl_reduction reduction, tl_slot *x, uint32_t axes,
               bool keepdims, tl_dtype dtype, double parameter, tl_slot *out) {
  tl_slot array, result;
  if (!tl_as_array(vm, names[reduction], *x, &array)) return false;
  bool ok = reduce_array(vm, reduction, array, axes, keepdims, dtype, parameter,
                         &result);
  if (tl_is_owned(array)) tl_drop(vm, array);
  ok = ok && tl_reduce_narrow(vm, reduction, dtype, &result);
  if (ok) tl_copy_slot(out, &result);
  return ok;
}
