// Sorting values: radix sorts of keys; by a network of comparators where there
// are few.
#include "vm/half.h"
#include "vm/kernels/sort.h"

#include "vm/kernels/loop.h"

// Puts right what a sort by the upper digits left in disorder, if that takes
// few moves. Returns false if it would take more, with the keys still a
// permutation of themselves.
static bool finish_by_insertion(tl_key8 *a, size_t n, tl_stop *stop) {
  // Beyond, passes by all digits are the shorter way.
  size_t moves = n / 4 + 64;
  for (size_t i = 1, end; tl_piece(stop, i, n, &end);)
    for (; i < end; i++) {
      const uint64_t key = a[i];
      size_t j = i;
      for (; j > 0 && a[j - 1] > key; j--) a[j] = a[j - 1];
      a[j] = key;
      if (i - j > moves)
        return false;
      moves -= i - j;
    }
  return true;
}

// Keys at most 32 bits apart as words of that size, and back.
static void narrow(tl_word4 *low, const tl_key8 *a, size_t n, tl_key_span span,
                   tl_stop *stop) {
  for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) {
    TL_LOOP for (size_t i = start; i < end; i++) low[i] =
        (uint32_t)(a[i] - span.least);
  }
}

static void widen(tl_key8 *a, const tl_word4 *low, size_t n, tl_key_span span,
                  tl_stop *stop) {
  for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) {
    TL_LOOP for (size_t i = start; i < end; i++) a[i] = span.least + low[i];
  }
}

// They are sorted in the two halves of b: half the memory to go through.
static void sort_narrow(tl_key8 *a, tl_key8 *b, size_t n, tl_key_span span,
                        tl_radix_counts *counts, tl_stop *stop) {
  tl_word4 *low = (tl_word4 *)b;
  narrow(low, a, n, span, stop);
  const tl_word4 *sorted = tl_radix_sort4(
      low, low + n, n, 0, (span.bits + TL_DIGIT_BITS - 1) / TL_DIGIT_BITS,
      counts, stop);
  widen(a, sorted, n, span, stop);
}

// Moves all keys by the same distance, wrapping, so that those around zero have
// few bits.
static void add_to_keys(tl_key8 *a, size_t n, uint64_t more, tl_stop *stop) {
  for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) {
    TL_LOOP for (size_t i = start; i < end; i++) a[i] += more;
  }
}

// Three passes over the top 33 bits that vary, and hardly anything is left to
// do: 64-bit keys mostly differ in their upper half.
static tl_key8 *sort_by_upper(tl_key8 *a, tl_key8 *b, size_t n, unsigned bits,
                              tl_radix_counts *counts, tl_stop *stop) {
  enum { UPPER = 3 * TL_DIGIT_BITS };
  if (bits > UPPER) {
    tl_key8 *sorted = tl_radix_sort8(a, b, n, bits - UPPER, 3, counts, stop);
    if (finish_by_insertion(sorted, n, stop))
      return sorted;
    if (sorted == b)
      b = a;
    a = sorted;
  }
  return tl_radix_sort8(a, b, n, 0, (bits + TL_DIGIT_BITS - 1) / TL_DIGIT_BITS,
                        counts, stop);
}

// Keys whose distances have fewer bits than they differ in are sorted as
// distances, and set back afterwards.
static tl_key8 *sort_wide(tl_key8 *a, tl_key8 *b, size_t n,
                          tl_radix_counts *counts, tl_stop *stop) {
  const tl_key_span span = tl_keys_span((uint64_t *)a, n, stop);
  if (span.bits <= 32) {
    sort_narrow(a, b, n, span, counts, stop);
    return a;
  }
  if (span.bits == span.varying)
    return sort_by_upper(a, b, n, span.bits, counts, stop);
  add_to_keys(a, n, 0 - span.least, stop);
  a = sort_by_upper(a, b, n, span.bits, counts, stop);
  add_to_keys(a, n, span.least, stop);
  return a;
}

#define MERGE_SORT sort_few
#define ITEM uint64_t
#define BEFORE(x, y) ((x) < (y))
#include "vm/kernels/merge_sort.h"

// Whether a network takes less time than merging and than the passes of a radix
// sort.
static bool by_network(size_t itemsize, size_t n) {
  return n > 2 * TL_INSERTION_RUN && itemsize >= sizeof(uint32_t) &&
         n * itemsize <= tl_kernels()->sort_lane_bytes;
}

// Rows of keys, or of words of half their size and the words before them.
static size_t network_room(size_t itemsize, size_t n) {
  size_t nbytes = 2 * TL_SORT_ROWS;
  while (nbytes < n * itemsize) nbytes *= 2;
  return nbytes;
}

// Sorts few keys. Where they are at most 32 bits apart, vectors of words of
// that size have twice as many.
static void sort_by_network(size_t itemsize, void *keys, size_t n,
                            void *scratch) {
  if (itemsize == sizeof(uint64_t)) {
    const tl_key_span span = tl_keys_span(keys, n, NULL);
    if (span.bits <= 32) {
      tl_word4 *low = scratch;
      narrow(low, keys, n, span, NULL);
      tl_kernels()->sort_lane[2](
          low, n, (char *)scratch + tl_align_64(n * sizeof *low));
      widen(keys, low, n, span, NULL);
      return;
    }
  }
  tl_kernels()->sort_lane[tl_move_size(itemsize)](keys, n, scratch);
}

// Complex items are sorted by their order; then the items are moved by way of a
// copy.
size_t tl_sort_scratch(tl_dtype dtype, size_t n) {
  if (n < 2)
    return 0;
  if (tl_dtype_is_complex(dtype))
    return tl_argsort_scratch(dtype, n, false) +
           tl_align_64(n * sizeof(int64_t)) +
           tl_align_64(n * tl_itemsize(dtype));
  const size_t itemsize = tl_itemsize(dtype);
  if (by_network(itemsize, n))
    return network_room(itemsize, n);
  if (n < TL_SMALL_SORT)
    return tl_align_64(n * sizeof(uint64_t)) +
           (by_network(sizeof(uint64_t), n) ? network_room(sizeof(uint64_t), n)
                                            : n * sizeof(uint64_t));
  return sizeof(tl_radix_counts) + n * tl_itemsize(dtype);
}

// The scratch has the order, a copy of the items, and what finding the order
// needs.
static void sort_complex(tl_dtype dtype, void *a, size_t n, bool descending,
                         void *scratch, tl_stop *stop) {
  const size_t itemsize = tl_itemsize(dtype);
  int64_t *order = scratch;
  char *copy = (char *)scratch + tl_align_64(n * sizeof *order);
  char *rest = copy + tl_align_64(n * itemsize);
  if (!tl_argsort(dtype, order, a, n, descending, rest, stop))
    return;
  for (size_t i = 0, end; tl_piece(stop, i, n, &end); i = end)
    memcpy(copy + i * itemsize, (char *)a + i * itemsize, (end - i) * itemsize);
  for (size_t i = 0, end; tl_piece(stop, i, n, &end);)
    for (; i < end; i++)
      memcpy((char *)a + i * itemsize, copy + (size_t)order[i] * itemsize,
             itemsize);
}

// The keys that [a] holds, by way of a buffer; the result is in one of both.
static const void *sort_keys(size_t itemsize, void *a, void *buffer, size_t n,
                             tl_radix_counts *counts, tl_stop *stop) {
  switch (itemsize) {
    case 1:
      return tl_radix_sort1(a, buffer, n, counts, stop);
    case 2:
      return tl_radix_sort2(a, buffer, n, counts, stop);
    case 4:
      return tl_radix_sort4(a, buffer, n, 0, 3, counts, stop);
    default:
      return sort_wide(a, buffer, n, counts, stop);
  }
}

// Items become keys in their own memory, are sorted there and in the buffer,
// and become items again. A few, or where there is no network, have keys of 64
// bits and are merged.
static void sort_real(tl_dtype dtype, void *a, size_t n, bool descending,
                      void *scratch, tl_stop *stop) {
  const size_t itemsize = tl_itemsize(dtype);
  if (by_network(itemsize, n)) {
    tl_sort_to_keys(dtype, a, n, descending, stop);
    sort_by_network(itemsize, a, n, scratch);
    tl_sort_from_keys(dtype, a, a, n, descending, stop);
    return;
  }
  if (n < TL_SMALL_SORT) {
    uint64_t *keys = scratch;
    uint64_t *rest = keys + tl_align_64(n * sizeof *keys) / sizeof *keys;
    tl_sort_keys(dtype, keys, a, n, descending, false, stop);
    if (by_network(sizeof *keys, n))
      sort_by_network(sizeof *keys, keys, n, rest);
    else
      keys = sort_few(keys, rest, NULL, n, NULL);
    tl_sort_from_wide(dtype, a, keys, n, descending, stop);
    return;
  }
  void *buffer = (char *)scratch + sizeof(tl_radix_counts);
  tl_sort_touch(buffer, n * itemsize, stop);
  tl_sort_to_keys(dtype, a, n, descending, stop);
  const void *keys = sort_keys(itemsize, a, buffer, n, scratch, stop);
  tl_sort_from_keys(dtype, a, keys, n, descending, stop);
}

// What a stopped sort leaves is a mixture of keys and items.
bool tl_sort(tl_dtype dtype, void *a, size_t n, bool descending, void *scratch,
             tl_stop *stop) {
  if (n < 2)
    return true;
  if (tl_dtype_is_complex(dtype))
    sort_complex(dtype, a, n, descending, scratch, stop);
  else
    sort_real(dtype, a, n, descending, scratch, stop);
  return !(stop && stop->stopped);
}

void tl_sort_side_by_side(tl_dtype dtype, void *rows, size_t n,
                          bool descending) {
  const size_t itemsize = tl_itemsize(dtype);
  const size_t count = n * (TL_SORT_ROW / itemsize);
  tl_sort_to_keys(dtype, rows, count, descending, NULL);
  tl_kernels()->sort_columns[tl_move_size(itemsize)](rows, n);
  tl_sort_from_keys(dtype, rows, rows, count, descending, NULL);
}

// Without branches: each position is written, and counted only where a run
// begins. Floats are compared as such, so that -0.0 equals 0.0.
#define RUN_STARTS(sfx, T, same)                                               \
  static size_t run_starts_##sfx(int64_t *out, const void *sorted, size_t n) { \
    size_t count = 0;                                                          \
    for (size_t i = 0; i < n; i++) {                                           \
      const T *x = (const T *)sorted + (i > 0 ? i - 1 : 0);                    \
      const T *y = (const T *)sorted + i;                                      \
      out[count] = (int64_t)i;                                                 \
      count += i == 0 || !(same);                                              \
    }                                                                          \
    return count;                                                              \
  }
RUN_STARTS(1, tl_word1, *x == *y)
RUN_STARTS(2, tl_word2, *x == *y)
RUN_STARTS(4, tl_word4, *x == *y)
RUN_STARTS(8, tl_key8, *x == *y)
RUN_STARTS(half, uint16_t, tl_half_widen(*x) == tl_half_widen(*y))
RUN_STARTS(float, float, *x == *y)
RUN_STARTS(double, double, *x == *y)
RUN_STARTS(pair, tl_c64, x->re == y->re && x->im == y->im)
RUN_STARTS(wide_pair, tl_c128, x->re == y->re && x->im == y->im)

// Integers by their width, others from float16 on by dtype.
size_t tl_run_starts(tl_dtype dtype, int64_t *out, const void *sorted,
                     size_t n) {
  static size_t (*const starts[])(int64_t *, const void *, size_t) = {
      run_starts_1,      run_starts_2,    run_starts_4,
      run_starts_8,      run_starts_half, run_starts_float,
      run_starts_double, run_starts_pair, run_starts_wide_pair};
  const unsigned kind = dtype >= TL_FLOAT16 ? 4 + (unsigned)(dtype - TL_FLOAT16)
                                            : tl_move_size(tl_itemsize(dtype));
  return starts[kind](out, sorted, n);
}
