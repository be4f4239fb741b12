// Regions that end in a reduction: blocks go to consumers as they are computed
// (vm/engine/consumer.h), and no array is made. The order of the fold is the
// one of vm/engine/reduce.c, so the bits are the same.
//
//   last axis folded   items of one result after the other, to a row stream
//   last axis kept     rows are computed some at a time into a buffer, a block
//                      of columns at a time, and go to a column stream
//
// Built for size.

#include "vm/region/region_internal.h"

// --- Items in an order ------------------------------------------------------

// Items in an order that is given, to a consumer: by one plan, or, where
// operands are rolled, in chunks that are computed tile by tile into a buffer.
// Histograms and counts take them so, once or several times over.

enum { CHUNK_ITEMS = 16 * 1024 };

// Positions count in row-major order of [axes]; the tile ends where the first
// of its axes does, or before:
//
//   lengths 4 * 3 * 5, at 20, most 22
//   from (1, 1, 0): the axis of 3 is not at its beginning, so the tile is
//   a part of that axis, 2 * 5, and the next call begins at (2, 0, 0)
static int64_t region_find_tile(const int64_t *lengths, const int *axes,
                                int count, int64_t at, int64_t most,
                                int64_t *from, tl_region_found_tile *tile) {
  int first = count - 1;
  int64_t whole = 1;
  for (int i = first; i >= 0; i--) {
    from[axes[i]] = at % lengths[axes[i]];
    at /= lengths[axes[i]];
  }
  while (first > 0 && from[axes[first]] == 0 &&
         most >= whole * lengths[axes[first]])
    whole *= lengths[axes[first--]];
  int64_t left = lengths[axes[first]] - from[axes[first]];
  int64_t take = most / whole < left ? most / whole : left;
  tile->ndim = 0;
  for (int i = first; i < count; i++) {
    tile->axes[tile->ndim] = axes[i];
    tile->shape[tile->ndim++] = i == first ? take : lengths[axes[i]];
  }
  return take * whole;
}

// The items of a chunk: whole rows of the last axes, where these are short.
// So that most tiles are whole rows, and few plans are made.
static int64_t chunk_items(const int64_t *lengths, const int *axes, int ndim) {
  int64_t whole = 1;
  for (int i = ndim - 1; i >= 0 && whole * lengths[axes[i]] <= CHUNK_ITEMS; i--)
    whole *= lengths[axes[i]];
  return CHUNK_ITEMS / whole * whole;
}

// [n] items from [at] on, tile by tile, to where they stand in the chunk.
static tl_region_status fill(tl_region_graph *g, const int *axes, int64_t at,
                             int64_t n, tl_dtype dtype, char *to) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  size_t itemsize = tl_itemsize(dtype);
  int64_t from[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  tl_region_found_tile found;
  for (int64_t done = 0, take; done < n; done += take) {
    take = region_find_tile(shape->lengths, axes, shape->ndim, at + done,
                            n - done, from, &found);
    tl_region_tile tile = {found.ndim, found.shape, found.axes, from};
    tl_shape_strides(tile.ndim, tile.shape, itemsize, strides);
    tl_region_status status = tl_region_run_tile(
        g, &tile, to + (size_t)done * itemsize, dtype, strides);
    if (status != TL_REGION_DONE)
      return status;
  }
  return TL_REGION_DONE;
}

// The consumer gets whole chunks in order, and sees nothing of wraps.
static tl_region_status feed_chunks(tl_region_graph *g, const int *axes,
                                    tl_dtype dtype, tl_plan_consume *consumer,
                                    void *context) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  int64_t size = tl_region_size(g);
  int64_t chunk = chunk_items(shape->lengths, axes, shape->ndim);
  if (chunk > size)
    chunk = size;
  size_t nbytes = (size_t)chunk * tl_itemsize(dtype);
  char *buffer = tl_alloc(g->vm, nbytes, "rolled items");
  if (buffer == NULL)
    return TL_REGION_FAILED;
  tl_region_status status = TL_REGION_DONE;
  for (int64_t at = 0; at < size && status == TL_REGION_DONE; at += chunk) {
    int64_t n = size - at < chunk ? size - at : chunk;
    const void *items = buffer;
    status = fill(g, axes, at, n, dtype, buffer);
    if (status == TL_REGION_DONE)
      consumer(context, &items, (size_t)n);
  }
  tl_free(g->vm, buffer, nbytes);
  return status;
}

tl_region_status tl_region_feed(tl_region_graph *g, const int *axes,
                                tl_dtype dtype, tl_plan_consume *consumer,
                                void *context, const tl_plan_split *split) {
  const tl_region_shape *of = &g->shapes[g->nodes[g->value].shape];
  int64_t shape[TL_MAX_DIMS];
  int order[TL_MAX_DIMS];
  for (int i = 0; i < of->ndim; i++) {
    order[i] = axes == NULL ? i : axes[i];
    shape[i] = of->lengths[order[i]];
  }
  if (tl_region_has_wrap(g))
    return feed_chunks(g, order, dtype, consumer, context);
  tl_region_tile tile = {of->ndim, shape, axes, NULL};
  tl_plan *plan = tl_region_plan_whole(g, &tile, NULL, dtype, NULL);
  if (plan != NULL)
    plan->split = split;
  return tl_region_run_plan(g, plan, consumer, context, true);
}

// --- Histograms and counts ---------------------------------------------------

// The context of take_block: the consumer, borrowed, and which of its passes
// runs, counted from 0.
typedef struct intaking {
  tl_call_consumer *in;
  int pass;
} intaking;

// What has failed takes no more; the plan goes on to its end.
static void take_block(void *context, const void *const *items, size_t n) {
  intaking *i = context;
  if (!i->in->failed)
    i->in->feed(i->in, i->pass, items[0], n);
}

// A built-in with two passes finds the range of the items first. What fails is
// left to the built-in itself, for its message.
static tl_region_status take_all(tl_region_graph *g, tl_call_consumer *in,
                                 tl_slot *out) {
  for (int pass = 0; pass < in->passes; pass++) {
    intaking i = {in, pass};
    tl_region_status status =
        tl_region_feed(g, NULL, in->dtype, take_block, &i, NULL);
    if (status != TL_REGION_DONE)
      return status;
    if (in->failed || !in->end(in, pass, out)) {
      tl_error_clear(g->vm);
      return TL_REGION_DECLINED;
    }
  }
  return TL_REGION_DONE;
}

bool tl_region_is_cast(tl_dtype from, tl_dtype to) {
  const tl_kernel_table *kernels = tl_kernels();
  return from == to ||
         (tl_kind_rank(from) <= tl_kind_rank(to) &&
          kernels->cast[from][to] != NULL && tl_cast_always_fits(from, to));
}

// A histogram or counts of g->value.
// Declined where an item is out of range or the like: the built-in itself then
// says what is wrong.
// Everything is computed again for a second pass, so only cheap regions have
// two.
static tl_region_status region_take(tl_region_graph *g, tl_slot *out) {
  const tl_region_node *n = &g->nodes[g->value];
  tl_dtype from = n->typing.result;
  tl_call_consumer in;
  if (g->rows != NULL ||
      !g->vm->library->fused->consumer(
          g->vm, g->fold, from, g->shapes[n->shape].ndim, g->arguments, &in))
    return TL_REGION_DECLINED;
  tl_region_status status = TL_REGION_DECLINED;
  if (tl_region_is_cast(from, in.dtype) &&
      (in.passes == 1 || tl_region_is_cheap(g)))
    status = take_all(g, &in, out);
  in.close(&in);
  return status;
}

// A reduction of a region's value along some axes. What it points to is
// borrowed from the graph and the call for as long as that runs.
typedef struct folder {
  tl_region_graph *g;
  tl_reducer r;
  tl_reduction reduction;
  tl_dtype dtype;  // that the plan hands out
  int ndim;        // of what is reduced
  const int64_t *lengths;
  int axes[TL_MAX_DIMS];  // those kept, then those reduced
  int kept;               // how many
  bool has_wrap;          // an operand is rolled
  int column;             // the last kept one of any length
  int64_t count, length;  // results, and items of each
} folder;

// Kept axes first: then the items of each result follow one another.
// The reduced axes stay in their order, so results have the same bits as
// tl_reduce's.
static void split_axes(folder *f, uint32_t axes) {
  int n = 0;
  f->count = f->length = 1;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < f->ndim; i++) {
      bool reduced = (axes >> i & 1) != 0;
      if (reduced != (pass == 1))
        continue;
      f->axes[n++] = i;
      *(reduced ? &f->length : &f->count) *= f->lengths[i];
    }
    if (pass == 0)
      f->kept = n;
  }
  f->column = -1;
  for (int i = 0; i < f->kept; i++)
    if (f->lengths[f->axes[i]] != 1)
      f->column = f->axes[i];
}

// Whether results lie side by side: the last axis is kept.
static bool is_outer(const folder *f, uint32_t axes) {
  for (int i = f->ndim - 1; i >= 0; i--)
    if (f->lengths[i] != 1)
      return (axes >> i & 1) == 0;
  return false;
}

// One result after the other. With [means] the sums of squared deviations from
// them.
static tl_region_status fold_lanes(folder *f, const tl_method *method,
                                   const char *means, char *to) {
  tl_row_stream rows;  // large: not cleared
  tl_consumer parts[TL_STREAM_PARTS];
  tl_row_stream_open(&rows, method, f->count, f->length, means, to);
  tl_region_status status =
      tl_region_feed(f->g, f->axes, f->dtype, tl_row_stream_take, &rows,
                     tl_row_stream_split(&rows, f->g->vm, parts));
  if (status == TL_REGION_DONE)
    tl_row_stream_close(&rows);
  return status;
}

// --- Results side by side ----------------------------------------------------

// A chunk of rows fits the second-level cache; below LEAST_ITEMS the work of
// opening a plan exceeds what it saves.
enum {
  BLOCK_COLUMNS = 1024,      // columns at a time
  CHUNK_BYTES = 128 * 1024,  // computed at a time
  LEAST_ITEMS = 8 * 1024,    // of one position of the outer axes
  LEAST_PLANNED = 256,       // of the whole
};

// A block of columns, and the rows that are computed for it.
typedef struct column_block {
  tl_column_stream fold;
  int axis_count;  // those that are reduced, their rows in row-major order
  int axes[TL_MAX_DIMS];
  int64_t from[TL_MAX_DIMS];
  struct {  // of the plan that is there: ndim 0, none is
    int ndim;
    int64_t shape[TL_MAX_DIMS];
  } planned;
} column_block;

// As many columns as a chunk of rows leaves room for, at most BLOCK_COLUMNS.
// False: no memory.
static bool open_block(folder *f, column_block *s) {
  int64_t ncols = f->lengths[f->column];
  s->planned.ndim = 0;
  tl_column_stream_open(&s->fold, &f->r.method, tl_least(ncols, BLOCK_COLUMNS),
                        f->length, CHUNK_BYTES);
  return tl_column_stream_alloc(&s->fold, f->g->vm);
}

// Whether the plan that is there is one for such a tile.
static bool is_planned(const column_block *s, const tl_region_tile *tile) {
  return s->planned.ndim == tile->ndim &&
         memcmp(s->planned.shape, tile->shape,
                (size_t)tile->ndim * sizeof *tile->shape) == 0;
}

// Computes one tile to row [first] of the chunk. Consecutive tiles of one shape
// have one plan, whose operands move.
static tl_region_status run_tile(folder *f, column_block *s,
                                 const tl_region_found_tile *found,
                                 int64_t first) {
  tl_region_planned *planned = f->g->fresh;
  tl_region_tile tile = {found->ndim, found->shape, found->axes, s->from};
  int64_t strides[TL_MAX_DIMS];
  tl_shape_strides(tile.ndim, tile.shape, f->r.method.in, strides);
  char *to = s->fold.items +
             (size_t)first * (size_t)tile.shape[tile.ndim - 1] * f->r.method.in;
  if (f->has_wrap)
    return tl_region_run_tile(f->g, &tile, to, f->dtype, strides);
  if (is_planned(s, &tile)) {
    tl_region_plan_again(f->g, planned, &tile, to);
  } else {
    s->planned.ndim = 0;
    if (!tl_region_plan(f->g, planned, &tile, to, f->dtype, strides))
      return TL_REGION_DECLINED;
    s->planned.ndim = tile.ndim;
    memcpy(s->planned.shape, tile.shape,
           (size_t)tile.ndim * sizeof *tile.shape);
  }
  return tl_plan_run(f->g->vm, &planned->plan, true) ? TL_REGION_DONE
                                                     : TL_REGION_FAILED;
}

// Computes [rows] rows from row [at] on, of [width] columns.
static tl_region_status compute_rows(folder *f, column_block *s, int64_t at,
                                     int64_t rows, int64_t width) {
  tl_region_found_tile tile;
  for (int64_t done = 0, take; done < rows; done += take) {
    take = region_find_tile(f->lengths, s->axes, s->axis_count, at + done,
                            rows - done, s->from, &tile);
    tile.axes[tile.ndim] = f->column;
    tile.shape[tile.ndim++] = width;
    tl_region_status status = run_tile(f, s, &tile, done);
    if (status != TL_REGION_DONE)
      return status;
  }
  return TL_REGION_DONE;
}

// Chunks of rows down a block of columns; the stream joins them as the fold of
// all rows would.
static tl_region_status fold_block(folder *f, column_block *s, int64_t width,
                                   char *to) {
  tl_column_stream_begin(&s->fold, to);
  for (int64_t at = 0; at < f->length; at += s->fold.rows) {
    int64_t rows = tl_least(f->length - at, s->fold.rows);
    tl_region_status status = compute_rows(f, s, at, rows, width);
    if (status != TL_REGION_DONE)
      return status;
    tl_column_stream_take(&s->fold, s->fold.items, rows, width);
  }
  tl_column_stream_end(&s->fold, width);
  return TL_REGION_DONE;
}

// All blocks of one position of the outer axes.
static tl_region_status fold_blocks(folder *f, column_block *s, char *to) {
  int column = f->column;
  int64_t ncols = f->lengths[column];
  for (int64_t at = 0; at < ncols; at += s->fold.width) {
    int64_t width = ncols - at < s->fold.width ? ncols - at : s->fold.width;
    s->from[column] = at;
    tl_region_status status =
        fold_block(f, s, width, to + (size_t)at * f->r.method.out);
    if (status != TL_REGION_DONE)
      return status;
  }
  return TL_REGION_DONE;
}

// The axes that are reduced, but for those of length 1; false: there are none.
static bool find_axes(const folder *f, column_block *s) {
  s->axis_count = 0;
  for (int i = f->kept; i < f->ndim; i++)
    if (f->lengths[f->axes[i]] != 1)
      s->axes[s->axis_count++] = f->axes[i];
  return s->axis_count > 0;
}

// Few items for each position of the outer axes are left to the array's own
// reduction, which takes them in one pass; and so are few items as a whole,
// since blocks of columns are planned each time.
static tl_region_status fold_columns(folder *f) {
  column_block s;
  int64_t ncols = f->lengths[f->column];
  if (!find_axes(f, &s) || f->r.varies ||
      !tl_column_stream_fits(&f->r.method) ||
      (f->count > ncols && f->length * ncols < LEAST_ITEMS) ||
      f->count * f->length < LEAST_PLANNED)
    return TL_REGION_DECLINED;
  if (!open_block(f, &s))
    return TL_REGION_FAILED;
  tl_region_status status = TL_REGION_DONE;
  char *to = f->r.out;
  memset(s.from, 0, sizeof s.from);
  while (status == TL_REGION_DONE) {
    status = fold_blocks(f, &s, to);
    to += (size_t)ncols * f->r.method.out;
    int i = f->kept - 1;  // the next position of the outer axes
    for (; i >= 0; i--) {
      int axis = f->axes[i];
      if (axis != f->column && ++s.from[axis] < f->lengths[axis])
        break;
      s.from[axis] = 0;
    }
    if (i < 0)
      break;
  }
  tl_column_stream_free(&s.fold, f->g->vm);
  return status;
}

// --- Variances --------------------------------------------------------------

// The means, then the squared deviations, along the last axes.
// Two passes, as in vm/engine/reduce.c: one pass with a sum of squares would
// lose digits. The operations are computed twice, hence only cheap ones.
static tl_region_status fold_variance(folder *f, char *to) {
  tl_vm *vm = f->g->vm;
  if (!tl_region_is_cheap(f->g))
    return TL_REGION_DECLINED;
  size_t nbytes = (size_t)f->count * tl_itemsize(f->r.dtype);
  char *means = tl_alloc(vm, nbytes, "means");
  if (means == NULL)
    return TL_REGION_FAILED;
  tl_region_status status = fold_lanes(f, &f->r.method, NULL, means);
  if (status == TL_REGION_DONE) {
    tl_reduce_divide(f->r.dtype, means, f->count, (double)f->length);
    status = fold_lanes(f, &f->r.squares, means, to);
  }
  if (status == TL_REGION_DONE)
    tl_reduce_end_squares(f->r.result, to, f->count,
                          tl_reduce_divisor(f->length, f->r.correction),
                          f->r.root);
  tl_free(vm, means, nbytes);
  return status;
}

// --- The whole --------------------------------------------------------------

// By how the last axis goes. A variance of columns is declined in fold_columns.
static tl_region_status fold_into(folder *f, uint32_t axes, char *to) {
  f->r.out = to;
  if (!is_outer(f, axes) && f->r.varies)
    return fold_variance(f, to);
  tl_region_status status = is_outer(f, axes)
                                ? fold_columns(f)
                                : fold_lanes(f, &f->r.method, NULL, to);
  if (status == TL_REGION_DONE && f->reduction == TL_REDUCE_MEAN)
    tl_reduce_divide(f->r.result, to, f->count, (double)f->length);
  return status;
}

// A new array of the results' shape, or a scalar; dropped on failure.
static tl_region_status fold_array(folder *f, const tl_fold_call *call,
                                   tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  int ndim =
      tl_reduce_shape(f->ndim, f->lengths, call->axes, call->keepdims, shape);
  if (ndim == 0) {
    tl_c128 item;
    tl_region_status status = fold_into(f, call->axes, (char *)&item);
    if (status == TL_REGION_DONE && !tl_reduce_scalar(&f->r, &item, out))
      status = TL_REGION_FAILED;
    return status;
  }
  tl_array *made = tl_array_new(f->g->vm, f->r.result, ndim, shape);
  if (made == NULL)
    return TL_REGION_FAILED;
  tl_region_status status = fold_into(f, call->axes, made->data);
  if (status == TL_REGION_DONE)
    *out = tl_own_array(made);
  else
    tl_drop(f->g->vm, tl_own_array(made));
  return status;
}

// A norm: what tl_region_resolve has added to the graph is folded.
static tl_region_status fold_norm(tl_region_graph *g, tl_slot *out) {
  tl_fold_call call;
  tl_slot folded;
  double p;
  int ndim = g->shapes[g->nodes[g->value].shape].ndim;
  if (!g->vm->library->fused->norm(g->vm, g->fold, ndim, g->arguments, &call,
                                   &p))
    return TL_REGION_DECLINED;
  tl_region_status status = tl_region_fold_call(g, &call, &folded);
  if (status != TL_REGION_DONE)
    return status;
  tl_dtype given = g->nodes[g->before_norm].typing.result;
  return tl_norm_end(g->vm, p, tl_norm_result(given), folded, out)
             ? TL_REGION_DONE
             : TL_REGION_FAILED;
}

// A norm, a histogram or counts, or a reduction.
tl_region_status tl_region_fold(tl_region_graph *g, tl_slot *out) {
  tl_fold_call call;
  int ndim = g->shapes[g->nodes[g->value].shape].ndim;
  if (g->fold->fused == TL_FUSED_NORM)
    return fold_norm(g, out);
  if (g->fold->fused == TL_FUSED_CONSUMER)
    return region_take(g, out);
  if (!g->vm->library->fused->reduction(g->vm, g->fold, ndim, g->arguments,
                                        &call))
    return TL_REGION_DECLINED;
  return tl_region_fold_call(g, &call, out);
}

// The plan hands bools out as they are, though they are folded as bytes: both
// are the same bytes.
bool tl_region_reducer(const tl_region_graph *g, int node,
                       const tl_fold_call *call, tl_reducer *r,
                       tl_dtype *dtype) {
  tl_dtype from = g->nodes[node].typing.result;
  tl_reduction reduction = (tl_reduction)call->reduction;
  r->vm = g->vm;
  r->name = tl_reduction_name(reduction);
  r->from = from;
  if (!tl_reduce_dtypes(r, reduction, call->dtype, tl_none()))
    return false;
  // The bytes of bools order like integers.
  *dtype = from == TL_BOOL && r->from == TL_UINT8 ? TL_BOOL : r->dtype;
  return true;
}

// A narrow dtype that was asked for is cut at the end, as tl_reduce does.
tl_region_status tl_region_fold_call(tl_region_graph *g,
                                     const tl_fold_call *call, tl_slot *out) {
  const tl_region_node *n = &g->nodes[g->value];
  folder f;  // large: not cleared
  f.g = g;
  f.ndim = g->shapes[n->shape].ndim;
  f.lengths = g->shapes[n->shape].lengths;
  f.has_wrap = tl_region_has_wrap(g);
  f.reduction = (tl_reduction)call->reduction;
  f.r.correction = call->parameter;
  if (!tl_region_reducer(g, g->value, call, &f.r, &f.dtype))
    return TL_REGION_DECLINED;
  split_axes(&f, call->axes);
  tl_region_status status = fold_array(&f, call, out);
  if (status == TL_REGION_DONE &&
      !tl_reduce_narrow(g->vm, f.reduction, n->typing.result, call->dtype, out))
    status = TL_REGION_FAILED;
  return status;
}
