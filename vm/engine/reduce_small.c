// Reductions of a few items, all of them or along an axis of a matrix: items
// that do not lie in rows are packed on the stack, and all results are made at
// once. They have the bits of the other ways.
//
//   sum(x), of any layout     one row
//   sum(m, axis: 1)           rows
//   sum(m, axis: 0)           columns
//
#include "vm/engine/engine_internal.h"
#include "vm/engine/reduce_internal.h"

// Of items that are folded where they lie; no time to poll.
enum { LONG_ITEMS = 4096 };

// What one reduction reads: its items one behind the other, as they are folded,
// and how they belong together.
typedef struct small_fold {
  tl_reducer r;  // large: not cleared
  tl_rows rows;
  bool across;  // the results are those of columns; [rows] are then the rows
  _Alignas(64) tl_small_buffer packed;
  _Alignas(64) tl_small_buffer converted;
  _Alignas(64) tl_small_buffer scratch;
} small_fold;

// Finds the items of [a]; false where there are too many for the buffers.
static bool read_items(small_fold *s, const tl_array *a) {
  const tl_reducer *r = &s->r;
  const int ndim = tl_ndim(a);
  const bool fits = a->size <= TL_SMALL_ITEMS;
  s->rows.items = a->data;
  if (!tl_is_contiguous(a)) {
    const int64_t dims[2] = {ndim == 2 ? a->dims[0] : 1, a->dims[ndim - 1]};
    if (!fits || ndim > 2)
      return false;
    s->rows.items = tl_small_items(a, dims, s->packed);
  }
  if (r->from == r->dtype)
    return true;
  if (fits) {
    tl_kernels()->cast[r->from][r->dtype](s->converted, s->rows.items,
                                          (size_t)a->size);
    s->rows.items = s->converted;
  }
  return fits;
}

// The results to [to], one for each row or column.
static void fold_items(small_fold *s, tl_reduction reduction, char *to) {
  const tl_rows *rows = &s->rows;
  const ptrdiff_t row = rows->length * (int64_t)tl_itemsize(s->r.dtype);
  if (s->across)
    tl_reduce_columns(&s->r, to, rows->items, row, (size_t)rows->n,
                      (size_t)rows->length, s->scratch);
  else
    tl_reduce_rows(&s->r, rows, to);
  if (reduction == TL_REDUCE_MEAN)
    tl_reduce_divide(s->r.result, to, s->across ? rows->length : rows->n,
                     (double)(s->across ? rows->n : rows->length));
}

// Decides which items belong together:
//
//   2 * 3, all axes    1 row of 6
//   2 * 3, axis 1      2 rows of 3
//   2 * 3, axis 0      2 rows of 3, whose columns are folded
//
// False where another way has to. Axes of
// one item would make it another one.
static bool read_shape(small_fold *s, const tl_array *a, int axis) {
  const int ndim = tl_ndim(a);
  const bool all = axis < 0 || ndim == 1;
  if (a->size == 0 || a->size > LONG_ITEMS || ndim == 0 ||
      (!all && (ndim != 2 || a->dims[0] == 1 || a->dims[1] == 1)))
    return false;
  s->across = !all && axis == 0;
  s->rows = (tl_rows){.n = all ? 1 : a->dims[0],
                      .length = all ? a->size : a->dims[1],
                      .end = a->size};
  return true;
}

// Float16 is folded in another dtype and rounded, complex results are boxed:
// both are left to the general way.
bool tl_reduce_small(tl_vm *vm, tl_reduction reduction, tl_slot x, int axis,
                     bool keepdims, double correction, tl_slot *out) {
  small_fold s;
  const tl_dtype from = tl_array_dtype(x.array);
  if ((from >= TL_FLOAT16 && from != TL_FLOAT32 && from != TL_FLOAT64) ||
      !read_shape(&s, x.array, axis))
    return false;
  s.r.vm = vm;
  s.r.from = from;
  s.r.correction = correction;
  // Of these dtypes it cannot fail.
  if (!tl_reduce_dtypes(&s.r, reduction, TL_DTYPE_COUNT, x) ||
      (s.across &&
       tl_reduce_columns_scratch(&s.r, (size_t)s.rows.n,
                                 (size_t)s.rows.length) > sizeof s.scratch) ||
      !read_items(&s, x.array))
    return false;
  int64_t shape[TL_MAX_DIMS];
  uint64_t item = 0;
  const int ndim = tl_reduce_shape(tl_ndim(x.array), tl_shape(x.array),
                                   axis < 0 ? UINT32_MAX : UINT32_C(1) << axis,
                                   keepdims, shape);
  if (ndim == 0) {
    fold_items(&s, reduction, (char *)&item);
    *out = tl_scalar_load(s.r.result, &item);
    return true;
  }
  tl_array *made = tl_array_new(vm, s.r.result, ndim, shape);
  if (made == NULL) {
    tl_error_clear(vm);  // the general way says so
    return false;
  }
  fold_items(&s, reduction, made->data);
  *out = tl_own_array(made);
  return true;
}
