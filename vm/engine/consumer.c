// Consumers of items: see consumer.h.
#include "vm/engine/consumer.h"

// --- Methods ----------------------------------------------------------------

// Means, variances and their roots begin with a sum; a search has no fold and
// is not asked about.
tl_fold tl_reduction_fold(tl_reduction reduction) {
  static const uint8_t folds[TL_REDUCTION_COUNT] = {
      [TL_REDUCE_PROD] = TL_FOLD_PROD,
      [TL_REDUCE_MIN] = TL_FOLD_MIN,
      [TL_REDUCE_MAX] = TL_FOLD_MAX,
      [TL_REDUCE_ANY] = TL_FOLD_ANY,
      [TL_REDUCE_ALL] = TL_FOLD_ALL,
      [TL_REDUCE_COUNT_NONZERO] = TL_FOLD_COUNT};
  return (tl_fold)folds[reduction];
}

tl_op tl_fold_op(tl_fold fold) {
  static const uint8_t ops[TL_FOLD_KINDS] = {
      [TL_FOLD_SUM] = TL_OP_ADD,        [TL_FOLD_PROD] = TL_OP_MULTIPLY,
      [TL_FOLD_MIN] = TL_OP_MINIMUM,    [TL_FOLD_MAX] = TL_OP_MAXIMUM,
      [TL_FOLD_ANY] = TL_OP_LOGICAL_OR, [TL_FOLD_ALL] = TL_OP_LOGICAL_AND,
      [TL_FOLD_COUNT] = TL_OP_ADD};
  return (tl_op)ops[fold];
}

// Kernels that do not exist for the dtype are NULL in the table, and stay NULL
// here: callers test for them before they take that way.
static void choose_fold(tl_method *m, tl_fold fold, tl_dtype dtype) {
  const tl_kernel_table *kernels = tl_kernels();
  const tl_dtype made = tl_fold_result(fold, dtype);
  m->fold = fold;
  m->dtype = m->folded = dtype;
  m->in = m->folded_size = tl_itemsize(dtype);
  m->out = tl_itemsize(made);
  m->feed = kernels->fold_feed[fold][dtype];
  m->end = kernels->fold_end[fold][dtype];
  m->merge = kernels->fold_merge[fold][dtype];
  m->sum_rows = fold == TL_FOLD_SUM ? kernels->sum_rows[dtype] : NULL;
  m->segments = kernels->fold_segments[fold][dtype];
  m->outer = kernels->fold_outer[fold][dtype];
  // Products of floats go row by row: there is nothing to join.
  m->join = fold == TL_FOLD_PROD && !tl_dtype_is_integer(made)
                ? NULL
                : kernels->binary[tl_fold_op(fold)][made];
  m->find = NULL;
  m->find_outer = NULL;
  m->squares = NULL;
}

// A search has no state that could be merged by a kernel, so feed, end and
// merge are NULL and the consumer compares the best items itself.
void tl_method_choose(tl_method *m, tl_reduction reduction, tl_dtype dtype) {
  const tl_kernel_table *kernels = tl_kernels();
  const bool largest = reduction == TL_REDUCE_ARGMAX;
  if (!largest && reduction != TL_REDUCE_ARGMIN) {
    choose_fold(m, tl_reduction_fold(reduction), dtype);
    return;
  }
  *m = (tl_method){
      .fold = largest ? TL_FOLD_MAX : TL_FOLD_MIN,
      .dtype = dtype,
      .folded = dtype,
      .in = tl_itemsize(dtype),
      .folded_size = tl_itemsize(dtype),
      .out = sizeof(int64_t),
      .find = largest ? kernels->argmax[dtype] : kernels->argmin[dtype],
      .segments = largest ? kernels->argmax_segments[dtype]
                          : kernels->argmin_segments[dtype],
      .find_outer = largest ? kernels->argmax_outer[dtype]
                            : kernels->argmin_outer[dtype]};
}

// The square of |x - mean| is real for complex items too: the fold is that of
// the real dtype, while the items taken are the given ones.
void tl_method_of_squares(tl_method *m, tl_dtype dtype) {
  choose_fold(m, TL_FOLD_SUM, tl_op_result(TL_OP_ABS, dtype));
  m->dtype = dtype;
  m->in = tl_itemsize(dtype);
  m->squares = tl_kernels()->square_deviation[dtype];
}

// --- Along ------------------------------------------------------------------

// No item is cleared: best = -1 says that there is none.
static void search_begin(tl_arg_search *s) {
  s->at = 0;
  s->best = -1;
}

// The first item of a piece that is better than all before, if there is one.
static void search_take(tl_arg_search *s, const tl_method *m, const char *items,
                        size_t n) {
  const size_t found = m->find(items, n, s->best >= 0 ? s->item : NULL);
  if (found < n) {
    s->best = s->at + (int64_t)found;
    memcpy(s->item, items + found * m->in, m->in);
  }
  s->at += (int64_t)n;
}

// The state is large and is not cleared; tl_fold_begin sets what the first feed
// needs.
void tl_consumer_begin(tl_consumer *c, const tl_method *method,
                       const void *mean) {
  TL_CHECK((method->squares != NULL) == (mean != NULL));
  c->method = method;
  c->mean = mean;
  if (method->find != NULL)
    search_begin(&c->search);
  else
    tl_fold_begin(&c->state);
}

enum { SQUARES = 256 };  // items that are squared at once

// Squares go through a buffer of one size, so that the fold sees the same
// leaves wherever the pieces end.
void tl_consumer_take(tl_consumer *c, const void *items, size_t n) {
  const tl_method *m = c->method;
  if (n == 0)  // a search has nothing to look at
    return;
  if (m->find != NULL) {
    search_take(&c->search, m, items, n);
    return;
  }
  if (m->squares == NULL) {
    m->feed(&c->state, items, n);
    return;
  }
  _Alignas(64) char squares[SQUARES * sizeof(double)];
  for (size_t at = 0; at < n; at += SQUARES) {
    const size_t count = n - at < SQUARES ? n - at : SQUARES;
    m->squares(squares, (const char *)items + at * m->in, c->mean, count);
    m->feed(&c->state, squares, count);
  }
}

// any and all keep whether they have seen an item that settles them.
bool tl_consumer_is_settled(const tl_consumer *c) {
  const tl_method *m = c->method;
  return (m->fold == TL_FOLD_ANY || m->fold == TL_FOLD_ALL) &&
         m->find == NULL && c->state.lanes.u64 != 0;
}

// Appends what [next], of the same method, has taken. What c has taken is a
// multiple of a power of two of items that is at least TL_FOLD_LEAF and not
// below what [next] has (see tl_fold_merge).
// A place of [next] counts from the items that c has seen. With equal items the
// earlier one stays, as a search does.
static void merge_taken(tl_consumer *c, const tl_consumer *next) {
  if (c->method->find == NULL) {
    if (next->state.count > 0)
      c->method->merge(&c->state, &next->state);
    return;
  }
  const tl_arg_search *from = &next->search;
  const int64_t at = c->search.at;
  if (from->best >= 0) {
    c->search.at += from->best;
    search_take(&c->search, c->method, from->item, 1);
  }
  c->search.at = at + from->at;
}

// A search gives the place as int64, a fold what its end makes of the state.
void tl_consumer_end(tl_consumer *c, void *out) {
  TL_CHECK(c->method->find == NULL || c->search.best >= 0);
  if (c->method->find != NULL)
    memcpy(out, &c->search.best, sizeof c->search.best);
  else
    c->method->end(&c->state, out);
}

// --- Segments ---------------------------------------------------------------

// Whether columns of a tile may be folded in the place of rows: no order but
// that of the items, which both keep.
static bool may_transpose(const tl_method *m) {
  const bool adds = m->fold == TL_FOLD_SUM || m->fold == TL_FOLD_PROD;
  return m->in <= sizeof(uint64_t) && m->squares == NULL &&
         (m->find_outer != NULL || !adds || m->folded < TL_FLOAT16);
}

// Few items in each of many rows: a kernel call a row would cost more than the
// row, so a tile of rows is transposed and its columns are folded together.
bool tl_rows_transpose(const tl_method *m, int64_t length) {
  enum { LEAST = 8 };  // rows as long are for kernels of rows, if there are any
  return length > 0 && length <= TL_SHORT_ROW && may_transpose(m) &&
         m->sum_rows == NULL && (m->segments == NULL || length < LEAST);
}

// Whether kernels take several rows of [length] items at a time.
// Rows longer than a leaf gain nothing: the kernel of one row has work enough.
static bool fit_rows(const tl_method *m, int64_t length) {
  return (m->sum_rows != NULL && length <= TL_SHORT_ROW) ||
         (m->segments != NULL && length <= TL_FOLD_LEAF) ||
         tl_rows_transpose(m, length);
}

enum {
  // Tiles, and the squares of some rows, are 16 KiB each, on the stack.
  TILE_ROWS = 128,
  SOME_ROWS = 64,
  SQUARED = 2048,  // items at a time
};

// A tile of rows is transposed, and its columns are folded by kernels that take
// vectors of neighbours:
//
//   n rows of length 3         tile, 3 rows of n columns
//   a0 a1 a2
//   b0 b1 b2          ──▶      a0 b0 c0 …
//   c0 c1 c2                   a1 b1 c1 …
//   …                          a2 b2 c2 …   ──▶ folded down the columns
void tl_rows_fold_transposed(const tl_method *m, const char *items,
                             int64_t length, int64_t item_step, int64_t n,
                             int64_t row_step, char *out) {
  _Alignas(64) char tile[TILE_ROWS * TL_SHORT_ROW * sizeof(uint64_t)];
  _Alignas(64) char scratch[TILE_ROWS * sizeof(uint64_t)];
  tl_pack_tile *pack = tl_kernels()->pack_tile[tl_move_size(m->in)];
  for (int64_t at = 0; at < n; at += TILE_ROWS) {
    const size_t ncols = (size_t)(n - at < TILE_ROWS ? n - at : TILE_ROWS);
    const ptrdiff_t row = (ptrdiff_t)(ncols * m->in);
    pack(tile, row, items + at * row_step, item_step, row_step, (size_t)length,
         ncols);
    tl_columns_fold(m, out, tile, row, (size_t)length, ncols, scratch);
    out += ncols * m->out;
  }
}

// Rows of one length, by a kernel of rows of any lengths.
static void fold_even(const tl_method *m, const tl_rows *rows, char *out) {
  int64_t at[SOME_ROWS + 1];
  const char *items = rows->items;
  int64_t end = rows->end;
  for (int64_t i = 0; i <= SOME_ROWS; i++) at[i] = i * rows->length;
  for (int64_t left = rows->n; left > 0; left -= SOME_ROWS) {
    // Offsets count from the first of these rows on.
    m->segments(out, items, 0, end, at, (size_t)tl_least(left, SOME_ROWS));
    out += SOME_ROWS * m->out;
    items += (size_t)at[SOME_ROWS] * m->folded_size;
    end -= at[SOME_ROWS];
  }
}

// The items of row i, for either form of rows.
static size_t length_of(const tl_rows *rows, int64_t i) {
  return (size_t)(rows->at != NULL ? rows->at[i + 1] - rows->at[i]
                                   : rows->length);
}

// Without a kernel for several rows: each row is begun, fed and ended, or
// searched, by itself.
static void fold_one_by_one(const tl_method *m, const tl_rows *rows,
                            char *out) {
  tl_fold_state state;  // large: not cleared
  const char *items = rows->items;
  if (rows->at != NULL)
    items += (size_t)(rows->at[0] - rows->first) * m->folded_size;
  for (int64_t i = 0; i < rows->n; i++, out += m->out) {
    const size_t n = length_of(rows, i);
    if (m->find != NULL) {
      *(int64_t *)(void *)out = (int64_t)m->find(items, n, NULL);
    } else {
      tl_fold_begin(&state);
      m->feed(&state, items, n);
      m->end(&state, out);
    }
    items += n * m->folded_size;
  }
}

// Items that are folded as they are; of squares the squares.
static void fold_plain(const tl_method *m, const tl_rows *rows, char *out) {
  const int64_t length = rows->length;
  const bool is_short =
      rows->at == NULL && length > 0 && length <= TL_SHORT_ROW;
  if (is_short && m->sum_rows != NULL) {
    m->sum_rows(out, rows->items, (size_t)rows->n, (size_t)length);
  } else if (rows->at == NULL && rows->n == 1) {
    fold_one_by_one(m, rows, out);
  } else if (rows->at == NULL && tl_rows_transpose(m, length)) {
    tl_rows_fold_transposed(m, rows->items, length, (int64_t)m->in, rows->n,
                            length * (int64_t)m->in, out);
  } else if (m->segments != NULL && rows->at != NULL) {
    m->segments(out, rows->items, rows->first, rows->end, rows->at,
                (size_t)rows->n);
  } else if (m->segments != NULL && length <= TL_FOLD_LEAF) {
    fold_even(m, rows, out);
  } else {
    fold_one_by_one(m, rows, out);
  }
}

// How many rows from the i-th on are squared together; 0: one is too long.
static int64_t count_squared(const tl_rows *rows, int64_t i) {
  int64_t most = rows->n - i < SOME_ROWS ? rows->n - i : SOME_ROWS, count = 0;
  if (rows->at == NULL) {
    // Rows without items need no room at all.
    const int64_t fit = rows->length > 0 ? SQUARED / rows->length : most;
    return fit < most ? fit : most;
  }
  while (count < most && rows->at[i + count + 1] - rows->at[i] <= SQUARED)
    count++;
  return count;
}

// A row of more items than are squared together.
static void fold_long_squares(const tl_method *m, const char *items, size_t n,
                              const char *mean, char *out) {
  tl_consumer c;  // large: not cleared
  tl_consumer_begin(&c, m, mean);
  tl_consumer_take(&c, items, n);
  tl_consumer_end(&c, out);
}

// Each row has a mean of its own, so that rows are squared one by one into
// [to], one behind the other, though they are folded together.
static void square_rows(const tl_method *m, const tl_rows *rows, char *to,
                        const char *items, const char *means) {
  for (int64_t i = 0; i < rows->n; i++, means += m->in) {
    const size_t n = length_of(rows, i);
    m->squares(to, items, means, n);
    to += n * m->folded_size;
    items += n * m->in;
  }
}

// The squares of some rows take the rows' form and are folded as they are.
static void fold_squares(const tl_method *m, const tl_rows *rows,
                         const char *means, char *out) {
  _Alignas(64) char squares[SQUARED * sizeof(double)];
  int64_t at[SOME_ROWS + 1] = {0};
  const char *items = rows->items;
  if (rows->at != NULL)
    items += (size_t)(rows->at[0] - rows->first) * m->in;
  for (int64_t i = 0, count; i < rows->n; i += count) {
    count = count_squared(rows, i);
    tl_rows some = {squares, NULL, rows->length, count, count * rows->length,
                    0};
    if (rows->at != NULL) {
      some.at = at;
      for (int64_t k = 0; k < count; k++)
        at[k + 1] = at[k] + (int64_t)length_of(rows, i + k);
      some.end = at[count];
    }
    square_rows(m, &some, squares, items, means);
    items += (size_t)some.end * m->in;
    means += (size_t)count * m->in;
    if (count > 0) {
      fold_plain(m, &some, out);
    } else {
      // A row too long for the buffer, by a consumer that squares it in pieces.
      const size_t n = length_of(rows, i);
      fold_long_squares(m, items, n, means, out);
      items += n * m->in;
      means += m->in;
      count = 1;
    }
    out += (size_t)count * m->out;
  }
}

// Rows of squares go through a buffer first, as fold_squares says.
void tl_rows_fold(const tl_method *m, const tl_rows *rows, const char *means,
                  char *out) {
  TL_CHECK((m->squares != NULL) == (means != NULL));
  if (m->squares != NULL)
    fold_squares(m, rows, means, out);
  else
    fold_plain(m, rows, out);
}

// --- Segments that come in blocks -------------------------------------------

// Whatever is left of the row before has been written by now.
static void begin_result(tl_row_stream *s) {
  s->left = s->at == NULL ? s->length : s->at[1] - s->at[0];
  tl_consumer_begin(&s->one, s->method, s->mean);
}

// [n] whole results have been made.
static void made_results(tl_row_stream *s, int64_t n) {
  s->row += n;
  s->to += (size_t)n * s->method->out;
  if (s->mean != NULL)
    s->mean += (size_t)n * s->method->in;
  if (s->at != NULL)
    s->at += n;
  if (s->at == NULL || s->row < s->count)
    begin_result(s);
}

// The part that is the same for even and uneven rows.
static void open_stream(tl_row_stream *s, const tl_method *method,
                        int64_t count, void *to) {
  s->method = method;
  s->count = count;
  s->row = 0;
  s->to = s->first = to;
  s->parts = NULL;
  s->part_count = 0;
  s->single = &s->one;
}

// Several rows are folded together only where a block, or a buffer of squares,
// is likely to have more than one.
void tl_row_stream_open(tl_row_stream *s, const tl_method *method,
                        int64_t count, int64_t length, const char *means,
                        void *to) {
  open_stream(s, method, count, to);
  s->at = NULL;
  s->length = length;
  s->multi = count > 1 && length <= SQUARES && fit_rows(method, length);
  s->mean = s->means = means;
  begin_result(s);
}

// The kernel of rows of any lengths takes those that lie wholly in a block.
void tl_row_stream_open_rows(tl_row_stream *s, const tl_method *method,
                             int64_t count, const int64_t *at, void *to) {
  open_stream(s, method, count, to);
  s->at = at;
  s->multi = method->segments != NULL;
  s->mean = s->means = NULL;
  if (count > 0)
    begin_result(s);
}

// How many rows lie wholly in the next n items.
static int64_t count_whole(const tl_row_stream *s, size_t n) {
  if (s->at == NULL)
    return (int64_t)n / s->length;
  const int64_t end = s->at[0] + (int64_t)n, rows = s->count - s->row;
  int64_t count = 0;
  while (count < rows && s->at[count + 1] <= end) count++;
  return count;
}

// Whole rows that lie in a block, by the kernels of several; returns how many
// items they have.
static size_t take_rows(tl_row_stream *s, const char *items, size_t n) {
  const int64_t count = count_whole(s, n);
  if (count == 0)
    return 0;
  tl_rows rows = {items, s->at, 0, count, (int64_t)n, 0};
  int64_t taken = count * s->length;
  if (s->at != NULL) {
    rows.first = s->at[0];
    rows.end += rows.first;
    taken = s->at[count] - s->at[0];
  } else {
    rows.length = s->length;
  }
  tl_rows_fold(s->method, &rows, s->mean, s->to);
  made_results(s, count);
  return (size_t)taken;
}

// Rows that lie wholly in the block go together; one that the block cuts is
// given to a consumer, which carries it over to the next block:
//
//   block     |      8 items      |      8 items      |
//   rows      a a a b b b c c|c d d d …
//             together        one   together …
void tl_row_stream_take(void *stream, const void *const *blocks, size_t n) {
  tl_row_stream *s = stream;
  const char *items = blocks[0];
  if (s->count == 1 && s->at == NULL) {  // which its close ends
    if (!tl_consumer_is_settled(s->single))
      tl_consumer_take(s->single, items, n);
    return;
  }
  bool begins = true;  // a row, unless the last block ended in one
  while (n > 0) {
    size_t take = 0;
    begins =
        s->at == NULL ? s->left == s->length : s->left == s->at[1] - s->at[0];
    if (s->multi && begins)
      take = take_rows(s, items, n);
    if (take == 0) {
      take = (int64_t)n < s->left ? n : (size_t)s->left;
      tl_consumer_take(&s->one, items, take);
      s->left -= (int64_t)take;
      if (s->left == 0) {
        tl_consumer_end(&s->one, s->to);
        made_results(s, 1);
      }
    }
    items += take * s->method->in;
    n -= take;
  }
}

// Threads: each takes whole results.
static void *begin_results(void *context, int64_t first, void *local) {
  const tl_row_stream *all = context;
  tl_row_stream *own = local;
  const size_t before = (size_t)(first / all->length);
  tl_row_stream_open(
      own, all->method, all->count, all->length,
      all->means == NULL ? NULL : all->means + before * all->method->in,
      all->first + before * all->method->out);
  return own;
}
_Static_assert(sizeof(tl_row_stream) <= TL_CONSUMER_BYTES,
               "a stream fits a part's memory");

// A single result: parts of a power of two of items are taken apart, and merged
// in order.
enum { PART_ITEMS = 16 * 1024 };

// The stream of a part is a shell around one consumer of the shared array; it
// never ends a result, so only what a take reads is set.
static void *begin_part(void *context, int64_t first, void *local) {
  const tl_row_stream *all = context;
  tl_row_stream *own = local;
  own->method = all->method;
  own->count = 1;
  own->at = NULL;
  own->multi = false;
  own->single = &all->parts[first / all->split.items];
  return own;
}

// Part 0 is the stream's own consumer, which the close merges the others into.
// A part is a power of two of leaves, so that the tree of the sum is the same
// as on one thread.
const tl_plan_split *tl_row_stream_split(tl_row_stream *s, tl_vm *vm,
                                         tl_consumer *parts) {
  if (s->count > 1) {
    s->split = (tl_plan_split){s->length, false, begin_results};
    return &s->split;
  }
  if (parts == NULL || tl_pool_threads(vm) <= 1)
    return NULL;
  // Parts double until there are few enough: a power of two of leaves each, and
  // no more than [parts] has room for.
  int64_t items = vm->pool.eager ? TL_FOLD_LEAF : PART_ITEMS;
  while (items * TL_STREAM_PARTS < s->length) items *= 2;
  if (items >= s->length)
    return NULL;
  s->split = (tl_plan_split){items, true, begin_part};
  s->part_count = (s->length + items - 1) / items;
  s->parts = parts;
  for (int64_t i = 1; i < s->part_count; i++)
    tl_consumer_begin(&parts[i], s->method, s->mean);
  return &s->split;
}

// Merging goes from left to right, as merge_taken asks for.
void tl_row_stream_close(tl_row_stream *s) {
  while (s->at != NULL && s->row < s->count) {  // rows without items
    tl_consumer_end(&s->one, s->to);
    made_results(s, 1);
  }
  if (s->at != NULL || s->count != 1)
    return;
  for (int64_t i = 1; i < s->part_count; i++)
    merge_taken(&s->one, &s->parts[i]);
  tl_consumer_end(&s->one, s->to);
}

// --- Across -----------------------------------------------------------------

// A search remembers the best item of each column next to its place.
size_t tl_columns_scratch(const tl_method *m, size_t nrows, size_t ncols) {
  return m->find_outer != NULL
             ? ncols * m->in  // the best items so far
             : tl_fold_outer_scratch(m->fold, m->folded, nrows, ncols);
}

// Squares of columns have a kernel of their own, which reduce_across.c calls.
void tl_columns_fold(const tl_method *m, void *out, const void *a,
                     ptrdiff_t row_stride, size_t nrows, size_t ncols,
                     void *scratch) {
  TL_CHECK(nrows > 0 && m->squares == NULL);
  if (m->find_outer != NULL)
    m->find_outer(out, scratch, a, row_stride, nrows, ncols);
  else
    m->outer(out, a, row_stride, nrows, ncols, scratch);
}

// Written over the left one: nobody needs it any more.
static void join_last(tl_column_join *j) {
  char *left = j->waiting[j->count - 2];
  j->method->join(left, left, j->waiting[--j->count], j->ncols);
}

// Runs are numbered from 1; for each 0 at the end of the number in binary two
// subtrees of one size are complete and become one. So at most 64 wait.
//
//   runs   1    2    3     4      …
//   wait   1    2    2 1   4      (sizes of the subtrees)
void tl_column_join_push(tl_column_join *j, char *results) {
  TL_CHECK(j->method->join != NULL);
  j->waiting[j->count++] = results;
  for (int64_t q = ++j->runs; (q & 1) == 0; q >>= 1) join_last(j);
}

// What is left has falling sizes; from the right the smallest are joined first.
char *tl_column_join_end(tl_column_join *j) {
  while (j->count > 1) join_last(j);
  return j->waiting[0];
}

// --- Columns that come in chunks --------------------------------------------

// A search has SEARCHED rows: places in the chunk, which of two items is the
// better one, the best items before, and those of the chunk.
enum { CHUNK_ROWS = 1024, SEARCHED = 4 };

// A search compares the best items of chunks in a row of [waiting], which is as
// wide as its results.
bool tl_column_stream_fits(const tl_method *m) {
  return m->squares == NULL &&
         (m->find_outer != NULL ? m->in <= sizeof(int64_t) : m->join != NULL);
}

// The three sizes below are what one allocation is cut into, each a multiple of
// a cache line.
static size_t stream_scratch(const tl_column_stream *s) {
  return tl_align_64(
      tl_columns_scratch(s->method, (size_t)s->rows, (size_t)s->width));
}

// One row of results, on lines of its own.
static size_t row_nbytes(const tl_column_stream *s) {
  return tl_align_64((size_t)s->width * s->method->out);
}

// The rows of a chunk, dense.
static size_t items_nbytes(const tl_column_stream *s) {
  return tl_align_64((size_t)s->rows * (size_t)s->width * s->method->in);
}

// What results wait in: a row for each bit of the number of chunks, and one
// more.
static size_t waiting_nbytes(const tl_column_stream *s, int64_t length) {
  size_t depth = 3;
  for (int64_t chunks = length / s->rows; chunks > 0; chunks /= 2) depth++;
  return (depth < SEARCHED ? SEARCHED : depth) * row_nbytes(s);
}

// Rows double from 8 as long as two chunks would fit: beyond CHUNK_ROWS the
// kernels gain nothing.
void tl_column_stream_open(tl_column_stream *s, const tl_method *method,
                           int64_t width, int64_t length, size_t nbytes) {
  TL_CHECK(tl_column_stream_fits(method));
  s->method = method;
  s->width = width;
  s->rows = 8;
  while (s->rows < CHUNK_ROWS && s->rows < length &&
         2 * (size_t)s->rows * (size_t)width * method->in <= nbytes) {
    s->rows *= 2;
  }
  s->nbytes =
      items_nbytes(s) + stream_scratch(s) + waiting_nbytes(s, length) + 64;
}

// The block has 64 bytes more than its parts need, for the alignment.
bool tl_column_stream_alloc(tl_column_stream *s, tl_vm *vm) {
  s->block = tl_alloc(vm, s->nbytes, "columns to reduce");
  if (s->block == NULL)
    return false;
  s->items = (char *)tl_align_64((size_t)s->block);
  s->scratch = s->items + items_nbytes(s);
  s->waiting = s->scratch + stream_scratch(s);
  return true;
}

// With the size that tl_column_stream_open has set.
void tl_column_stream_free(tl_column_stream *s, tl_vm *vm) {
  tl_free(vm, s->block, s->nbytes);
}

// The join's waiting pointers need no clearing: count says how many there are.
void tl_column_stream_begin(tl_column_stream *s, void *to) {
  s->to = to;
  s->at = 0;
  s->join.method = s->method;
  s->join.runs = 0;
  s->join.count = 0;
}

// Of two chunks the later one counts where its best item is better than the
// best before, which is found as in two rows.
static void search_chunk(tl_column_stream *s, const void *items, int64_t count,
                         size_t n) {
  const tl_method *m = s->method;
  const size_t row = row_nbytes(s);
  int64_t *local = (int64_t *)(void *)s->waiting;
  int64_t *which = (int64_t *)(void *)(s->waiting + row);
  int64_t *to = (int64_t *)(void *)s->to;
  char *best = s->waiting + 2 * row, *best_here = best + row;
  const bool is_first = s->at == 0;
  m->find_outer(is_first ? to : local, s->scratch, items,
                (ptrdiff_t)(n * m->in), (size_t)count, n);
  memcpy(is_first ? best : best_here, s->scratch, n * m->in);
  if (is_first)
    return;
  // As two rows, of which the second is [best_here]: 1 where it wins, so that
  // of equal items the earlier chunk's stays.
  m->find_outer(which, s->scratch, best, (ptrdiff_t)row, 2, n);
  memcpy(best, s->scratch, n * m->in);
  for (size_t i = 0; i < n; i++)
    if (which[i] == 1)
      to[i] = s->at + local[i];
}

// Results of a chunk go to the next free row of [waiting], in which the join
// leaves them or writes those of a subtree over them.
void tl_column_stream_take(tl_column_stream *s, const void *rows, int64_t count,
                           int64_t width) {
  const size_t n = (size_t)width;
  TL_CHECK(count <= s->rows && width <= s->width);
  if (s->method->find_outer != NULL) {
    search_chunk(s, rows, count, n);
  } else {
    char *results = s->waiting + row_nbytes(s) * (size_t)s->join.count;
    tl_columns_fold(s->method, results, rows, (ptrdiff_t)(n * s->method->in),
                    (size_t)count, n, s->scratch);
    s->join.ncols = n;
    tl_column_join_push(&s->join, results);
  }
  s->at += count;
}

// A search has written to [to] all along.
void tl_column_stream_end(tl_column_stream *s, int64_t width) {
  if (s->method->find_outer == NULL)
    memcpy(s->to, tl_column_join_end(&s->join), (size_t)width * s->method->out);
}
