// The operator @: its operands as stacks of matrices.
//
//   a  5 * 1 * 3 * 4     stack 5 * 1, matrices 3 * 4
//   b      2 * 4 * 6     stack     2, matrices 4 * 6
//   a @ b                stack 5 * 2, matrices 3 * 6
//
// Stacks broadcast, matrices must fit; a vector is a matrix of one row or
// column whose axis is dropped from the result.
//
// Built for size.
#include "vm/engine/matmul.h"

#include <stdio.h>

#include "vm/array/nested.h"
#include "vm/engine/blas.h"
#include "vm/kernels/kernels.h"
#include "vm/vm.h"

// One operand of a stack of products: where its matrices lie. A stride of 0
// repeats a matrix.
//
//   5 * 3 * 4 dense, float64        row 32, column 8, strides 96
//   the same, each transposed       row 8, column 32, strides 96
//   one 3 * 4 for all five          row 32, column 8, strides 0
typedef struct matrices {
  const char *data;
  int64_t row, column;           // bytes between rows, between columns
  int64_t strides[TL_MAX_DIMS];  // between the matrices of the stack
} matrices;

// --- Products ---------------------------------------------------------------

// Products of stacks of matrices, each by the first loop that fits:
//
//   small, no library         small_product      one call of the kernel
//   m or n is 1               times_vector       the matrix is read in place
//   few items, many terms     times_columns      the same, for each column
//   a @ a.T, large            symmetric_product  half, then mirrored
//   other                     all_blocks         blocks, threads, BLAS
//
// The choice depends on sizes and layout alone, so that the same script gives
// the same bits each time and for any number of threads.

// Multiplications between two polls, some milliseconds: of a product with a
// vector, which waits for memory, and of one of matrices by a library, which
// cannot be stopped. Kernels ask as they go.
enum { VECTOR_WORK = 1 << 21, LIBRARY_WORK = 1 << 28 };

// For a library, a result's item costs at least as much as so many
// multiplications: writing fresh memory takes longer than to multiply. A block
// that is not the whole has at least so many rows and columns, or packing the
// operands anew for each would count.
enum { LEAST_TERMS = 512, LEAST_SIDE = 384 };

// A product of m by k items at a and k by n at b, into dense rows of out.
typedef struct task {
  tl_vm *vm;
  tl_dtype dtype;
  char *out;
  const char *a, *b;
  int64_t a_row, a_column, b_row, b_column;  // bytes
  int64_t own_row;  // of columns that each row of a has for itself, or 0
  int64_t m, n, k;
  int64_t rows, columns;  // of a block
  int threads;
  bool blas;             // a loaded library takes part
  char *scratch;         // for our own product: made when it is first needed
  size_t scratch_bytes;  // of each thread
} task;

// The size of equal parts of n that are at most [most], or [least].
//
//   n 1000, most 768     500, of which there are two
static int64_t part_of(int64_t n, double most, double least) {
  if (most < least)
    most = least;
  if ((double)n <= most)
    return n;
  int64_t count = (int64_t)((double)n / most) + 1;
  return (n + count - 1) / count;
}

// Whether the product is that of a matrix and its transpose, as views of one
// block.
static bool is_symmetric(const task *t) {
  return t->a == t->b && t->m == t->n && t->a_row == t->b_column &&
         t->a_column == t->b_row;
}

// Chooses blocks of the result: for a library, of work that lies between two
// polls, and never so small that packing would count.
static void plan_blocks(task *t) {
  t->rows = t->m;
  t->columns = t->n;
  if (!t->blas)
    return;
  const double share = is_symmetric(t) ? 2 : 1;  // half of it is computed
  const double k = t->k < LEAST_TERMS ? LEAST_TERMS : (double)t->k;
  // A complex multiplication is four.
  const double work =
      share * LIBRARY_WORK / (tl_dtype_is_complex(t->dtype) ? 4 : 1);
  t->rows = part_of(t->m, work / ((double)t->n * k), LEAST_SIDE);
  t->columns = part_of(t->n, work / ((double)t->rows * k), LEAST_SIDE);
}

// Polls for the work of so many multiplications.
static bool poll_work(tl_vm *vm, int64_t rows, int64_t columns, int64_t terms) {
  double work = (double)rows * (double)columns * (double)terms / 1024;
  return tl_poll(vm, work < 1 ? 1 : (uint64_t)work);
}

// Memory for every thread's packed operands, in cache lines of its own.
static bool make_scratch(task *t) {
  // Each thread packs into memory of its own; whole lines, so that threads do
  // not share one.
  size_t nbytes = tl_gemm_scratch(t->dtype, (size_t)t->rows, (size_t)t->columns,
                                  (size_t)t->k);
  t->scratch_bytes = (nbytes + 64) / 64 * 64;
  t->scratch = tl_alloc(t->vm, t->scratch_bytes * (size_t)t->threads,
                        "the matrix product");
  return t->scratch != NULL;
}

// Some rows from i on and columns from j on of the result, whose rows are
// computed in parts by threads.
typedef struct piece {
  const task *task;
  int64_t i, j, rows, columns, parts;
  bool by_blas;         // else by the kernels
  atomic_bool refused;  // by the library
  pthread_t caller;     // the VM's own thread, which polls for all
} piece;

// What the kernel of a part asks.
static bool is_stopped(void *context) {
  const piece *p = context;
  atomic_bool *stopped = &p->task->vm->pool.stopped;
  if (pthread_equal(p->caller, pthread_self()) && !tl_poll(p->task->vm, 0))
    atomic_store(stopped, true);
  return atomic_load(stopped);
}

// Parts begin at multiples of TILE_ROWS, have at least LEAST_PART_ROWS and so
// many multiplications: then every item has the same bits for any number of
// threads, since libraries keep tiles of 4 to 48 rows in registers and do small
// products in other ways.
enum { TILE_ROWS = 48, LEAST_PART_ROWS = 96, LEAST_PART_WORK = 1 << 22 };

// The first row of a part.
static int64_t part_begin(const piece *p, int64_t part) {
  if (part == p->parts)
    return p->rows;
  // Rounded down to whole tiles.
  return p->rows * part / p->parts / TILE_ROWS * TILE_ROWS;
}

// Computes one part, by a loaded library, or by the kernels with the part's own
// share of the scratch.
static void multiply_part(void *context, int64_t part) {
  piece *p = context;
  const task *t = p->task;
  const int64_t size = (int64_t)tl_itemsize(t->dtype), out_row = t->n * size;
  const int64_t begin = part_begin(p, part), i = p->i + begin;
  const int64_t rows = part_begin(p, part + 1) - begin;
  char *out = t->out + i * out_row + p->j * size;
  const char *a = t->a + i * t->a_row, *b = t->b + p->j * t->b_column;
  tl_stop stop = {.ask = is_stopped, .context = p};
  if (!p->by_blas)
    tl_kernels()->gemm[t->dtype](
        out, out_row, a, t->a_row, t->a_column, b, t->b_row, t->b_column,
        (size_t)rows, (size_t)p->columns, (size_t)t->k,
        t->scratch + (size_t)part * t->scratch_bytes, &stop);
  else if (!tl_blas_gemm(t->dtype, out, out_row, a, t->a_row, t->a_column, b,
                         t->b_row, t->b_column, rows, p->columns, t->k))
    atomic_store(&p->refused, true);
}

// Runs the parts on the pool's threads, or the only one here. False where the
// VM was stopped.
static bool run_parts(piece *p, bool by_blas) {
  tl_vm *vm = p->task->vm;
  p->by_blas = by_blas;
  atomic_store(&vm->pool.stopped, false);
  if (p->parts == 1)
    multiply_part(p, 0);
  else
    tl_pool_run(vm, p->parts, multiply_part, p, TL_STOPS_WITHIN, 0);
  return !atomic_load(&vm->pool.stopped);
}

// Computes rows from i on and columns from j on of the result, at most a block
// of them. Where the library does not take the layout, the kernels do.
static bool block(task *t, int64_t i, int64_t j, int64_t rows,
                  int64_t columns) {
  const double work = (double)rows * (double)columns * (double)t->k;
  // As doubles: the product of three sizes may overflow.
  const double parts = work / LEAST_PART_WORK;
  piece p = {.task = t, .i = i, .j = j, .rows = rows, .columns = columns};
  p.caller = pthread_self();
  p.parts = tl_least(t->threads, rows / LEAST_PART_ROWS);
  if (parts < (double)p.parts)
    p.parts = (int64_t)parts;
  if (p.parts < 1)
    p.parts = 1;
  if (!poll_work(t->vm, rows, columns, t->k))
    return false;
  // A part that the library refuses leaves all of the block to the kernels.
  if (t->blas) {
    bool ok = run_parts(&p, true);
    if (!ok || !atomic_load(&p.refused))
      return ok;
  }
  return (t->scratch || make_scratch(t)) && run_parts(&p, false);
}

// Computes the result block by block.
static bool all_blocks(task *t) {
  for (int64_t i = 0; i < t->m; i += t->rows)
    for (int64_t j = 0; j < t->n; j += t->columns)
      if (!block(t, i, j, tl_least(t->m - i, t->rows),
                 tl_least(t->n - j, t->columns)))
        return false;
  return true;
}

// --- A matrix times its transpose --------------------------------------------

// Below so many multiplications the half is not worth its mirror.
enum { LEAST_SYMMETRIC = 64 * 64 * 64 };

// Into how many strips a symmetric result is cut, unless a library does it at
// once: each is computed up to its diagonal block. A strip has no fewer rows
// than TILE_ROWS: thinner ones pad their tiles and read all terms again.
enum { STRIPS = 8 };

// Whether half of a symmetric product is computed and mirrored: by the kernels
// only where the result is larger than one strip.
static bool is_worth_halving(const task *t) {
  return is_symmetric(t) && (t->blas || t->m > TILE_ROWS) &&
         (double)t->m * (double)t->n * (double)t->k >= LEAST_SYMMETRIC;
}

// Copies the part below the diagonal to its place above, tile by tile. False
// where the VM was stopped.
// One of the two sides goes down columns: by tiles whole lines of it are used.
static bool mirror(task *t) {
  enum { TILE = 16 };
  const size_t itemsize = tl_itemsize(t->dtype);
  const int64_t item = (int64_t)itemsize, row = t->n * item, n = t->n;
  tl_pack_tile *pack = tl_kernels()->pack_tile[tl_move_size(itemsize)];
  for (int64_t i = 0; i < n; i += TILE) {
    const int64_t height = tl_least(n - i, TILE);
    if (!tl_poll(t->vm, 0))
      return false;
    for (int64_t j = 0; j < i; j += TILE)
      pack(t->out + j * row + i * item, row, t->out + i * row + j * item, item,
           row, TILE, (size_t)height);
    for (int64_t p = i; p < i + height; p++)
      for (int64_t q = i; q < p; q++)
        memcpy(t->out + q * row + p * item, t->out + p * row + q * item,
               itemsize);
  }
  return true;
}

// A block on the diagonal: by syrk, which computes half of it, or as a whole.
static bool diagonal_block(task *t, int64_t i, int64_t rows) {
  const int64_t item = (int64_t)tl_itemsize(t->dtype), out_row = t->n * item;
  if (t->blas &&
      tl_blas_syrk(t->dtype, t->out + i * (out_row + item), out_row,
                   t->a + i * t->a_row, t->a_row, t->a_column, rows, t->k))
    return poll_work(t->vm, rows, rows / 2, t->k);
  return block(t, i, i, rows, rows);
}

// Computes the lower half in strips up to the diagonal, then mirrors it.
//
//   strip 0   D . .               D  a block on the diagonal
//   strip 1   x D .               x  computed
//   strip 2   x x D               .  mirrored from below
static bool symmetric_product(task *t) {
  // A strip computes up to its diagonal block, so a few strips waste little
  // above it.
  const int64_t part = (t->m + STRIPS - 1) / STRIPS;
  const int64_t strip = part < TILE_ROWS ? TILE_ROWS : part;
  const bool at_once = t->blas && t->rows == t->m && t->columns == t->n;
  const int64_t step =
      at_once ? t->m : tl_least(strip, tl_least(t->rows, t->columns));
  for (int64_t i = 0; i < t->m; i += step) {
    const int64_t rows = tl_least(t->m - i, step);
    for (int64_t j = 0; j < i; j += t->columns)
      if (!block(t, i, j, rows, tl_least(i - j, t->columns)))
        return false;
    if (!diagonal_block(t, i, rows))
      return false;
  }
  return mirror(t);
}

// --- With a vector -----------------------------------------------------------

// Adds rows of some terms times their vector, or each times its own, to [out].
static void add_rows(const task *t, char *out, const char *a, const char *x,
                     int64_t rows, int64_t terms) {
  tl_gemv *gemv = tl_kernels()->gemv[t->dtype];
  const int64_t at_once = t->own_row == 0 ? rows : 1;
  for (int64_t i = 0; i < rows; i += at_once) {
    gemv(out, a, t->a_row, t->a_column, x, t->b_row, (size_t)at_once,
         (size_t)terms);
    out += at_once * (int64_t)tl_itemsize(t->dtype);
    a += at_once * t->a_row;
    x += t->own_row;
  }
}

// A matrix of m rows and k columns times a vector of k items, or each row times
// its own, in panels between polls. Panels are multiples of a leaf, so that the
// bits do not depend on them.
static bool times_vector(const task *t) {
  const int64_t size = (int64_t)tl_itemsize(t->dtype), m = t->m, k = t->k;
  // Rows of one panel, so that a panel has at least a leaf of terms.
  const int64_t most = VECTOR_WORK / TL_GEMV_LEAF;
  for (int64_t i = 0; i < m; i += most) {
    int64_t rows = m - i < most ? m - i : most;
    // gemv adds to its target.
    memset(t->out + i * size, 0, (size_t)(rows * size));
    int64_t panel = VECTOR_WORK / rows / TL_GEMV_LEAF * TL_GEMV_LEAF;
    for (int64_t p = 0; p < k; p += panel) {
      int64_t terms = k - p < panel ? k - p : panel;
      if (!tl_poll(t->vm, 1 + (uint64_t)(rows * terms) / 1024))
        return false;
      add_rows(t, t->out + i * size, t->a + i * t->a_row + p * t->a_column,
               t->b + i * t->own_row + p * t->b_row, rows, terms);
    }
  }
  return true;
}

// A result of so few items of so many terms each would fill a fraction of a
// tile, and the rest of the tile with zeros.
// Complex products have no tiles up to some hundred terms.
enum { FEW_ITEMS = 32, MANY_TERMS = 64, MANY_COMPLEX = 256 };

// Whether the columns of b are better taken one by one.
static bool has_few_items(const task *t) {
  const bool is_complex = tl_dtype_is_complex(t->dtype);
  return t->n > 1 && t->m * t->n <= FEW_ITEMS &&
         t->k >= (is_complex ? MANY_COMPLEX : MANY_TERMS);
}

// The product as one with each column of b.
static bool times_columns(const task *t) {
  const size_t size = tl_itemsize(t->dtype);
  _Alignas(16) char column[FEW_ITEMS * 16];
  task one = *t;
  one.out = column;
  one.n = 1;
  for (int64_t j = 0; j < t->n; j++, one.b += t->b_column) {
    if (!times_vector(&one))
      return false;
    for (int64_t i = 0; i < t->m; i++)
      memcpy(t->out + (size_t)(i * t->n + j) * size, column + (size_t)i * size,
             size);
  }
  return true;
}

// item = sum of a[i] * b[i]: as the product of a row and a column, without an
// array for the result. Vectors of k items, strides in bytes.
// [item] has room for one of [dtype]. False where the VM was stopped.
// A leaf needs no panels: one call, one poll.
static bool matmul_dot(tl_vm *vm, tl_dtype dtype, char *item, const char *a,
                       int64_t a_stride, const char *b, int64_t b_stride,
                       int64_t k) {
  if (k <= TL_GEMV_LEAF) {
    memset(item, 0, tl_itemsize(dtype));
    tl_kernels()->gemv[dtype](item, a, 0, a_stride, b, b_stride, 1, (size_t)k);
    return tl_poll(vm, 1);
  }
  const task t = {.vm = vm,
                  .dtype = dtype,
                  .out = item,
                  .a = a,
                  .b = b,
                  .a_column = a_stride,
                  .b_row = b_stride,
                  .m = 1,
                  .k = k};
  return times_vector(&t);
}

// --- Stacks ------------------------------------------------------------------

// One product of the stack by the loop that suits it.
static bool one_product(task *t) {
  if (t->n == 1)
    return times_vector(t);
  if (has_few_items(t))
    return times_columns(t);
  return is_worth_halving(t) ? symmetric_product(t) : all_blocks(t);
}

// Many small products, each of which is one call.
// SMALL_AT_ONCE of them are done between two polls.
enum { SMALL_WORK = 4096, SMALL_AT_ONCE = 64 };

// Whether the product is one of the many small ones: with a vector, of one leaf
// of terms.
static bool is_small(const task *t) {
  return !t->blas && t->m * t->n * t->k <= SMALL_WORK &&
         (t->n > 1 || t->k <= TL_GEMV_LEAF);
}

// A small product in one call of a kernel, polling now and then.
static bool small_product(task *t, int64_t done) {
  const int64_t size = (int64_t)tl_itemsize(t->dtype);
  if (t->n == 1) {
    memset(t->out, 0, (size_t)(t->m * size));
    add_rows(t, t->out, t->a, t->b, t->m, t->k);
  } else {
    if (!t->scratch && !make_scratch(t))
      return false;
    tl_kernels()->gemm[t->dtype](t->out, t->n * size, t->a, t->a_row,
                                 t->a_column, t->b, t->b_row, t->b_column,
                                 (size_t)t->m, (size_t)t->n, (size_t)t->k,
                                 t->scratch, NULL);
  }
  return done % SMALL_AT_ONCE != 0 || tl_poll(t->vm, SMALL_AT_ONCE / 4);
}

// The same matrices with rows for columns.
static matrices transposed(const matrices *x) {
  matrices turned = *x;
  turned.row = x->column;
  turned.column = x->row;
  return turned;
}

// out = a @ b for every matrix of a stack of this shape: m * k by k * n items
// of [dtype]; out is dense. Polls between blocks of a product; false where the
// VM was stopped or memory is short. A matrix times its own transpose, as
// views of one block, takes half the work and is exactly symmetric.
// Blocks and library are chosen once for the whole stack, whose products all
// have one size.
static bool matmul_stack(tl_vm *vm, tl_dtype dtype, char *out, int ndim,
                         const int64_t *shape, const matrices *a,
                         const matrices *b, int64_t m, int64_t n, int64_t k) {
  // index counts through the stack; the operands' addresses follow by their
  // strides.
  int64_t count = tl_shape_count(ndim, shape), index[TL_MAX_DIMS] = {0};
  if (count == 0 || m == 0 || n == 0)
    return true;
  // A row times a matrix is the matrix, transposed, times the row.
  matrices turned[2];
  if (m == 1 && n > 1) {
    turned[0] = transposed(b);
    turned[1] = transposed(a);
    a = &turned[0];
    b = &turned[1];
    m = n;
    n = 1;
  }
  task t = {.vm = vm,
            .dtype = dtype,
            .out = out,
            .a = a->data,
            .b = b->data,
            .a_row = a->row,
            .a_column = a->column,
            .b_row = b->row,
            .b_column = b->column,
            .m = m,
            .n = n,
            .k = k};
  // A stack of dot products is a matrix whose rows have a column each.
  if (m == 1 && n == 1 && ndim > 0) {
    ndim--;
    count /= shape[ndim];
    t.m = m = shape[ndim];
    t.a_row = a->strides[ndim];
    t.own_row = b->strides[ndim];
  }
  // The library gets one thread: parts of a product are this pool's work.
  t.threads = tl_pool_threads(vm);
  t.blas = n > 1 && tl_blas_letter(dtype) != 0 &&
           (double)m * (double)n * (double)k >= TL_BLAS_LEAST &&
           tl_blas_ready(vm, 1);
  plan_blocks(&t);
  const int64_t step = m * n * (int64_t)tl_itemsize(dtype);
  bool ok = true;
  for (int64_t done = 0; ok && done < count; done++, t.out += step) {
    ok = is_small(&t) && !has_few_items(&t) ? small_product(&t, done)
                                            : one_product(&t);
    for (int i = ndim - 1; i >= 0; i--) {
      t.a += a->strides[i];
      t.b += b->strides[i];
      if (++index[i] < shape[i])
        break;
      t.a -= a->strides[i] * shape[i];
      t.b -= b->strides[i] * shape[i];
      index[i] = 0;
    }
  }
  if (t.scratch)
    tl_free(vm, t.scratch, t.scratch_bytes * (size_t)t.threads);
  return ok;
}

// Fails (kind shape) with both types and the reason.
static bool wrong_shapes(tl_vm *vm, const tl_slot *operands,
                         const char *reason) {
  tl_fail(vm, TALLY_ERR_SHAPE, "@ of %s and %s: %s",
          tl_described(vm, operands[0]), tl_described(vm, operands[1]), reason);
  tl_fail_operands(vm, operands[0], operands[1]);
  return false;
}

// Fails (kind type): an operand is no array of numbers.
static bool wrong_kinds(tl_vm *vm, const tl_slot *operands) {
  const char *hint = tl_plain_hint(operands[0]);
  tl_fail(vm, TALLY_ERR_TYPE, "@ needs numbers: got %s and %s%s",
          tl_described(vm, operands[0]), tl_described(vm, operands[1]),
          hint[0] != 0 ? hint : tl_plain_hint(operands[1]));
  tl_fail_operands(vm, operands[0], operands[1]);
  return false;
}

// The geometry of a product of two arrays.
typedef struct product {
  int ndim;                    // of the stack
  int64_t shape[TL_MAX_DIMS];  // of the stack, then of the result
  matrices a, b;
  int64_t m, n, k;
  int out_ndim;
} product;

// An array's matrices, their strides and shape: a vector is one row (left) or
// one column.
static void matrices_of(const tl_array *x, bool left, matrices *out,
                        int64_t *rows, int64_t *columns) {
  int ndim = tl_ndim(x);
  const int64_t *shape = tl_shape(x), *strides = tl_strides(x);
  memset(out, 0, sizeof *out);
  out->data = x->data;
  // A vector has one row on the left and one column on the right.
  *rows = *columns = 1;
  if (ndim > 1) {
    *rows = shape[ndim - 2];
    *columns = shape[ndim - 1];
    out->row = strides[ndim - 2];
    out->column = strides[ndim - 1];
  } else if (left) {
    *columns = shape[0];
    out->column = strides[0];
  } else {
    *rows = shape[0];
    out->row = strides[0];
  }
}

// Broadcasts the axes before the matrices, and sets the strides of each
// operand's stack.
static bool stack_shape(tl_vm *vm, const tl_slot *operands, product *p) {
  const tl_array *x[2] = {operands[0].array, operands[1].array};
  matrices *matrices[2] = {&p->a, &p->b};
  // The axes before the last two; a vector has none.
  int own[2];
  for (int i = 0; i < 2; i++)
    own[i] = tl_ndim(x[i]) > 2 ? tl_ndim(x[i]) - 2 : 0;
  p->ndim = own[0] > own[1] ? own[0] : own[1];
  for (int k = 0; k < p->ndim; k++) {
    p->shape[k] = 1;
    for (int i = 0; i < 2; i++) {
      // Aligned at the right, as shapes are. An operand without the axis has a
      // stride of 0.
      int axis = k - (p->ndim - own[i]);
      if (axis < 0 || tl_shape(x[i])[axis] == 1)
        continue;
      if (p->shape[k] != 1 && p->shape[k] != tl_shape(x[i])[axis])
        return wrong_shapes(vm, operands, "their stacks do not broadcast");
      p->shape[k] = tl_shape(x[i])[axis];
      matrices[i]->strides[k] = tl_strides(x[i])[axis];
    }
  }
  return true;
}

// The geometry of the product; false (kind shape) where the operands do not
// fit.
static bool plan(tl_vm *vm, const tl_slot *operands, product *p) {
  const tl_array *a = operands[0].array, *b = operands[1].array;
  int64_t k_of_b;
  if (tl_ndim(a) == 0 || tl_ndim(b) == 0)
    return wrong_shapes(vm, operands, "a scalar is no matrix; use *");
  matrices_of(a, true, &p->a, &p->m, &p->k);
  matrices_of(b, false, &p->b, &k_of_b, &p->n);
  if (p->k != k_of_b) {
    char reason[80];
    // The message speaks of items where there are no rows and columns.
    bool vectors = tl_ndim(a) == 1 && tl_ndim(b) == 1;
    snprintf(
        reason, sizeof reason,
        vectors ? "%lld items against %lld" : "%lld columns against %lld rows",
        (long long)p->k, (long long)k_of_b);
    return wrong_shapes(vm, operands, reason);
  }
  if (!stack_shape(vm, operands, p))
    return false;
  p->out_ndim = p->ndim;
  if (tl_ndim(a) > 1)
    p->shape[p->out_ndim++] = p->m;
  if (tl_ndim(b) > 1)
    p->shape[p->out_ndim++] = p->n;
  return true;
}

// The dtype computed in, and the result's: bools count in int64, and a result
// other than 0 is true.
static bool product_dtypes(tl_vm *vm, const tl_slot *operands,
                           tl_dtype *compute, tl_dtype *result) {
  tl_dtype dtypes[2];
  for (int i = 0; i < 2; i++) {
    // Strings are no numbers, whatever their shape.
    dtypes[i] = tl_array_dtype(operands[i].array);
    if (dtypes[i] >= TL_STRING)
      return wrong_kinds(vm, operands);
  }
  *result = tl_dtype_promote(dtypes[0], dtypes[1]);
  *compute = *result == TL_BOOL ? TL_INT64 : tl_compute_dtype(*result);
  return true;
}

// Converts an operand if need be; what it owned is dropped.
static bool converted(tl_vm *vm, tl_slot *s, tl_dtype dtype) {
  if (tl_array_dtype(s->array) == dtype)
    return true;
  tl_array *cast = tl_array_cast(vm, s->array, dtype);
  if (!cast)
    return false;
  return tl_replace(vm, s, tl_own_array(cast));
}

// The product of two arrays. The plan is made twice: before the conversion, so
// that shapes that do not fit fail first, and after it, for the addresses.
static bool multiply(tl_vm *vm, tl_slot *operands, tl_slot *out) {
  product p;
  tl_dtype compute = TL_FLOAT64, result = TL_FLOAT64;
  if (!product_dtypes(vm, operands, &compute, &result) ||
      !plan(vm, operands, &p) || !converted(vm, &operands[0], compute) ||
      !converted(vm, &operands[1], compute) || !plan(vm, operands, &p))
    return false;
  // The shape of the stack, followed by the axes of the matrices that are
  // left.
  tl_array *c = tl_array_new(vm, compute, p.out_ndim, p.shape);
  if (!c)
    return false;
  bool ok = matmul_stack(vm, compute, c->data, p.ndim, p.shape, &p.a, &p.b, p.m,
                         p.n, p.k);
  if (ok && result != compute) {
    tl_array *cast = tl_array_cast(vm, c, result);
    tl_drop(vm, tl_own_array(c));
    c = cast;
  }
  return tl_result_finish(vm, ok, c, out);
}

// Whether the operands are two vectors of one dtype of numbers, whose product
// needs no array.
static bool is_dot(const tl_slot *operands) {
  if (!tl_is_array(operands[0]) || !tl_is_array(operands[1]))
    return false;
  const tl_array *a = operands[0].array, *b = operands[1].array;
  return tl_ndim(a) == 1 && tl_ndim(b) == 1 && a->head.dtype == b->head.dtype &&
         a->head.dtype != TL_BOOL && a->head.dtype != TL_FLOAT16 &&
         a->head.dtype < TL_COMPLEX128 && tl_shape(a)[0] == tl_shape(b)[0];
}

// The product of two vectors as a scalar.
static bool dot(tl_vm *vm, const tl_slot *operands, tl_slot *out) {
  const tl_array *a = operands[0].array, *b = operands[1].array;
  const tl_dtype dtype = tl_array_dtype(a);
  // The largest dtype has 16 bytes.
  _Alignas(16) char item[16];
  if (!matmul_dot(vm, dtype, item, a->data, tl_strides(a)[0], b->data,
                  tl_strides(b)[0], tl_shape(a)[0]))
    return false;
  *out = tl_scalar_load(dtype, item);
  return true;
}

// Two vectors first, which need no arrays for operands or result; ranges and
// scalars become arrays for the others.
bool tl_matmul(tl_vm *vm, tl_slot *operands, tl_slot *out) {
  if (is_dot(operands))
    return dot(vm, operands, out);
  tl_slot arrays[2];
  // Only what was made is dropped: arrays themselves are borrowed.
  int made = 0;
  for (int i = 0; i < 2; i++)
    if (!tl_is_array(operands[i]) && !tl_is_scalar(operands[i]) &&
        !tl_is_range(operands[i]))
      return wrong_kinds(vm, operands);
  while (made < 2 && tl_as_array(vm, "@", operands[made], &arrays[made]))
    made++;
  bool ok = made == 2 && multiply(vm, arrays, out);
  while (made > 0) tl_drop(vm, arrays[--made]);
  return ok;
}
