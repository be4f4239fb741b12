// Columns folded some rows at a time: see region_strip.h.
#include "vm/region/region_strip.h"

#include <string.h>

enum { CHUNK_MOST = 1024, SEARCHED = 4 };

bool tl_strip_choose(tl_strip_fold *s, tl_reduction reduction, tl_dtype dtype) {
  const tl_kernel_table *kernels = tl_kernels();
  s->find = NULL;
  s->dtype = dtype;
  s->in = tl_itemsize(dtype);
  if (reduction == TL_REDUCE_ARGMIN || reduction == TL_REDUCE_ARGMAX) {
    s->find = reduction == TL_REDUCE_ARGMAX ? kernels->argmax_outer[dtype]
                                            : kernels->argmin_outer[dtype];
    s->out = sizeof(int64_t);
    return s->find != NULL && s->in <= s->out;
  }
  s->fold = tl_reduction_fold(reduction);
  s->kernel = kernels->fold_outer[s->fold][dtype];
  s->join = tl_fold_join(s->fold, dtype);
  s->out = tl_itemsize(tl_fold_result(s->fold, dtype));
  return s->join != NULL && reduction != TL_REDUCE_VAR &&
         reduction != TL_REDUCE_STD;
}

void tl_strip_measure(tl_strip_fold *s, int64_t width, int64_t length,
                      size_t nbytes) {
  s->width = width;
  s->rows = 8;
  while (s->rows < CHUNK_MOST && s->rows < length &&
         2 * (size_t)s->rows * (size_t)width * s->in <= nbytes) {
    s->rows *= 2;
  }
}

static size_t scratch_nbytes(const tl_strip_fold *s) {
  size_t rows = (size_t)s->rows, width = (size_t)s->width;
  return tl_strip_round(
      s->find != NULL ? width * s->in
                      : tl_fold_outer_scratch(s->fold, s->dtype, rows, width));
}

size_t tl_strip_nbytes(const tl_strip_fold *s, int64_t length) {
  size_t depth = 3;  // a row for each bit of the number of chunks, and one more
  for (int64_t chunks = length / s->rows; chunks > 0; chunks /= 2) depth++;
  if (depth < SEARCHED)
    depth = SEARCHED;
  return scratch_nbytes(s) + depth * tl_strip_round((size_t)s->width * s->out);
}

void tl_strip_place(tl_strip_fold *s, char *memory) {
  s->scratch = memory;
  s->waiting = memory + scratch_nbytes(s);
}

void tl_strip_begin(tl_strip_fold *s, void *to) {
  s->to = to;
  s->at = s->chunks = 0;
  s->waiting_count = 0;
}

// Of two chunks the later one counts where its best item is better than the
// best before, which is found as in two rows.
static void search(tl_strip_fold *s, const void *items, int64_t count,
                   int64_t width) {
  size_t row = tl_strip_round((size_t)s->width * s->out), n = (size_t)width;
  int64_t *local = (int64_t *)(void *)s->waiting;
  int64_t *which = (int64_t *)(void *)(s->waiting + row);
  int64_t *to = (int64_t *)(void *)s->to;
  char *best = s->waiting + 2 * row, *best_here = best + row;
  s->find(s->at == 0 ? to : local, s->scratch, items, (ptrdiff_t)(n * s->in),
          (size_t)count, n);
  memcpy(s->at == 0 ? best : best_here, s->scratch, n * s->in);
  if (s->at == 0)
    return;
  s->find(which, s->scratch, best, (ptrdiff_t)row, 2, n);
  memcpy(best, s->scratch, n * s->in);
  for (size_t i = 0; i < n; i++) {
    if (which[i] == 1)
      to[i] = s->at + local[i];
  }
}

static void join_last(tl_strip_fold *s, int64_t width) {
  size_t row = tl_strip_round((size_t)s->width * s->out);
  char *left = s->waiting + row * (size_t)(s->waiting_count - 2);
  s->join(left, left, left + row, (size_t)width);
  s->waiting_count--;
}

void tl_strip_take(tl_strip_fold *s, const void *rows, int64_t count,
                   int64_t width) {
  size_t row = tl_strip_round((size_t)s->width * s->out);
  if (s->find != NULL) {
    search(s, rows, count, width);
  } else {
    s->kernel(s->waiting + row * (size_t)s->waiting_count++, rows,
              (ptrdiff_t)((size_t)width * s->in), (size_t)count, (size_t)width,
              s->scratch);
    for (int64_t q = ++s->chunks; !(q & 1); q >>= 1) join_last(s, width);
  }
  s->at += count;
}

void tl_strip_end(tl_strip_fold *s, int64_t width) {
  if (s->find != NULL)
    return;
  while (s->waiting_count > 1) join_last(s, width);
  memcpy(s->to, s->waiting, (size_t)width * s->out);
}
