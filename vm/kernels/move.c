// Kernels that move items and do not look at them: copies, strides, selection
// by index. Items are words of their size, so one kernel serves all dtypes of
// a size.
//
// pack_tile has a loop for each shape of a tile:
//
//   rows repeat (a_row 0)      repeat   one row as a pattern
//   items repeat (a_column 0)  stretch  each item some times
//   rows contiguous, short     copy_rows
//   columns contiguous         turn     a transposition
//   other                      pack for each row
#include "vm/kernels/prefetch.h"
#include "vm/kernels/list.h"
#include "vm/kernels/move.h"
#include "vm/kernels/strided.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// --- Rows of a few items, which are written one behind the other -------------

// Rows of more than SHORT_BYTES are copied one by one; up to ITEM_BYTES of a
// repeated item are written at once.
enum { SHORT_BYTES = 512, ITEM_BYTES = 64 };
// So many rows are copied sooner than a pattern of them is made.
enum { FEW = 8 };

// The bytes of a vector that repeat writes.
enum { PATTERN = 64 };
// A place modulo the row's length, at most one row too far.
TL_INLINE size_t wrap(size_t at, size_t row) {
  return at >= row ? at - row : at;
}
// One row nrows times, as vectors of a pattern of it: each begins where in the
// row the one before it ended; four of them at a time, so that none waits for
// another's.
#define REPEAT(index, size)                                                  \
  static void repeat_##size(char *to, const char *from, ptrdiff_t a_column,  \
                            size_t nrows, size_t ncols) {                    \
    enum { MORE = PATTERN / size };                                          \
    tl_word##size pattern[SHORT_BYTES / size + MORE];                        \
    const size_t row = ncols * size, all = nrows * row;                      \
    if (a_column == size && row % PATTERN == 0) {                            \
      for (size_t at = 0; at < all; at += row)                               \
        for (size_t i = 0; i < row; i += PATTERN)                            \
          memcpy(to + at + i, from + i, PATTERN);                            \
      return;                                                                \
    }                                                                        \
    if (ncols == 0)                                                          \
      return;                                                                \
    gather_##size(pattern, from, a_column, ncols);                           \
    for (size_t i = 0; i < MORE; i++) pattern[ncols + i] = pattern[i];       \
    const char *items = (const char *)pattern;                               \
    const size_t one = (uint32_t)PATTERN % (uint32_t)row;                    \
    const size_t two = wrap(one + one, row), three = wrap(two + one, row);   \
    const size_t four = wrap(two + two, row);                                \
    size_t at = 0, phase = 0;                                                \
    for (; all - at >= 4 * PATTERN; at += 4 * PATTERN) {                     \
      char *next = to + at;                                                  \
      memcpy(next, items + phase, PATTERN);                                  \
      memcpy(next + PATTERN, items + wrap(phase + one, row), PATTERN);       \
      memcpy(next + 2 * PATTERN, items + wrap(phase + two, row), PATTERN);   \
      memcpy(next + 3 * PATTERN, items + wrap(phase + three, row), PATTERN); \
      phase = wrap(phase + four, row);                                       \
    }                                                                        \
    for (; all - at >= PATTERN; at += PATTERN) {                             \
      memcpy(to + at, items + phase, PATTERN);                               \
      phase = wrap(phase + one, row);                                        \
    }                                                                        \
    for (; at < all; at += size, phase += size)                              \
      memcpy(to + at, items + phase, size);                                  \
  }
TL_MOVES(REPEAT)

// Rows in chunks of one constant size; the last chunk overlaps the one before
// it, so there are no single bytes.
#define COPY_ROWS(chunk)                                             \
  for (size_t r = 0; r < nrows; r++, to += out_row, from += a_row) { \
    for (size_t i = 0; i + chunk < row; i += chunk)                  \
      memcpy(to + i, from + i, chunk);                               \
    memcpy(to + row - chunk, from + row - chunk, chunk);             \
  }
// Copies rows that are not contiguous with each other. The last bytes of a row
// are copied along with those before them, in a chunk of constant size.
static void copy_rows(char *to, ptrdiff_t out_row, const char *from,
                      ptrdiff_t a_row, size_t nrows, size_t row) {
  if (row >= 32) {
    COPY_ROWS(32)
  } else if (row >= 16) {
    COPY_ROWS(16)
  } else if (row >= 8) {
    COPY_ROWS(8)
  } else if (row >= 4) {
    COPY_ROWS(4)
  } else {
    COPY_ROWS(1)
  }
}

// Each of nrows items ncols times: more often than that, where there is room,
// so that no branch depends on ncols.
#define STRETCH_BY(chunk, T)                                         \
  for (; left > 0; left -= ncols, to += ncols, from += a_row) {      \
    const T item = *(const T *)(const void *)from;                   \
    size_t k = 0;                                                    \
    for (; k < ncols && k + (chunk) <= left; k += (chunk))           \
      TL_LOOP for (size_t i = 0; i < (chunk); i++) to[k + i] = item; \
    for (; k < ncols; k++) to[k] = item;                             \
  }
// Two to four times are constants, where the items are contiguous: such loops
// vectorise.
#define TIMES_2(to) (to)[0] = (to)[1] = item;
#define TIMES_3(to) (to)[0] = (to)[1] = (to)[2] = item;
#define TIMES_4(to) (to)[0] = (to)[1] = (to)[2] = (to)[3] = item;
#define STRETCH_TIMES(n, T)                      \
  if (ncols == n && dense) {                     \
    TL_LOOP for (size_t r = 0; r < nrows; r++) { \
      const T item = items[r];                   \
      TIMES_##n(to + r * n)                      \
    }                                            \
    return;                                      \
  }
// Each item of a column, repeated along its row.
#define STRETCH(size, T)                                                   \
  static void stretch_##size(char *out, const char *from, ptrdiff_t a_row, \
                             size_t nrows, size_t ncols) {                 \
    enum { CHUNK = ITEM_BYTES / sizeof(T) };                               \
    T *to = (T *)(void *)out;                                              \
    const T *items = (const T *)(const void *)from;                        \
    const bool dense = a_row == (ptrdiff_t)sizeof(T);                      \
    size_t left = nrows * ncols;                                           \
    STRETCH_TIMES(2, T)                                                    \
    STRETCH_TIMES(3, T)                                                    \
    STRETCH_TIMES(4, T)                                                    \
    if (ncols <= CHUNK / 2) {                                              \
      STRETCH_BY(CHUNK / 2, T)                                             \
    } else {                                                               \
      STRETCH_BY(CHUNK, T)                                                 \
    }                                                                      \
  }
#define X(index, size) STRETCH(size, tl_word##size)
TL_MOVES(X)
#undef X

// How many items ahead of its use a scattered item is prefetched.
enum { AHEAD = 64 };

// --- Columns that become rows -----------------------------------------------

// Four columns at a time, while the next four are asked for: no more lines are
// in use than a cache finds places for, however far apart they lie.
// Of each column TRANSPOSED_BYTES are read, four whole lines.
enum { TRANSPOSED_BYTES = 256, TRANSPOSED_COLUMNS = 4, LINE_BYTES = 64 };

#if TL_SHUFFLES
// Four items of each of four columns become as many rows of four, in
// registers.
#define TURN_FOUR(size)                                                 \
  TL_INLINE void turn_four_##size(char *to, ptrdiff_t to_row,           \
                                  const char *from, ptrdiff_t column) { \
    const tl_four##size                                                 \
        a = *(const tl_four##size *)(const void *)from,                 \
        b = *(const tl_four##size *)(const void *)(from + column),      \
        c = *(const tl_four##size *)(const void *)(from + 2 * column),  \
        d = *(const tl_four##size *)(const void *)(from + 3 * column);  \
    const tl_four##size ab = __builtin_shufflevector(a, b, 0, 4, 2, 6), \
                        cd = __builtin_shufflevector(c, d, 0, 4, 2, 6), \
                        ba = __builtin_shufflevector(a, b, 1, 5, 3, 7), \
                        dc = __builtin_shufflevector(c, d, 1, 5, 3, 7); \
    *(tl_four##size *)(void *)to =                                      \
        __builtin_shufflevector(ab, cd, 0, 1, 4, 5);                    \
    *(tl_four##size *)(void *)(to + to_row) =                           \
        __builtin_shufflevector(ba, dc, 0, 1, 4, 5);                    \
    *(tl_four##size *)(void *)(to + 2 * to_row) =                       \
        __builtin_shufflevector(ab, cd, 2, 3, 6, 7);                    \
    *(tl_four##size *)(void *)(to + 3 * to_row) =                       \
        __builtin_shufflevector(ba, dc, 2, 3, 6, 7);                    \
  }
TURN_FOUR(4)
TURN_FOUR(8)

// Such squares as long as there are items for them: how many rows were done.
#define FOURS(size)                                                         \
  TL_INLINE size_t turn_fours_##size(char *to, ptrdiff_t to_row,            \
                                     const char *from, ptrdiff_t column,    \
                                     size_t nrows) {                        \
    size_t r = 0;                                                           \
    for (; r + 4 <= nrows; r += 4)                                          \
      turn_four_##size(to + (ptrdiff_t)r * to_row, to_row, from + r * size, \
                       column);                                             \
    return r;                                                               \
  }
#endif
// For sizes, or compilers, without such squares.
#define turn_fours_1(to, to_row, from, column, nrows) 0
#define turn_fours_2(to, to_row, from, column, nrows) 0
#if TL_SHUFFLES
FOURS(4)
FOURS(8)
#else
#define turn_fours_4(to, to_row, from, column, nrows) 0
#define turn_fours_8(to, to_row, from, column, nrows) 0
#endif
#define turn_fours_16(to, to_row, from, column, nrows) 0

// A tile of columns that become rows, four columns at a time; the next four
// are prefetched meanwhile. No more cache lines are in use than a cache has
// places for, however large the strides are.
#define TURN(index, size)                                                  \
  static void turn_##size(char *to, ptrdiff_t to_row, const char *from,    \
                          ptrdiff_t column, size_t nrows, size_t ncols) {  \
    size_t left = ncols;                                                   \
    for (; left >= TRANSPOSED_COLUMNS; left -= TRANSPOSED_COLUMNS) {       \
      for (int k = TRANSPOSED_COLUMNS; k < 2 * TRANSPOSED_COLUMNS; k++)    \
        for (size_t at = 0; at < nrows * size; at += LINE_BYTES)           \
          tl_prefetch(from, (uintptr_t)(k * column) + at);                 \
      for (size_t r = turn_fours_##size(to, to_row, from, column, nrows);  \
           r < nrows; r++)                                                 \
        gather_##size(to + (ptrdiff_t)r * to_row, from + r * size, column, \
                      TRANSPOSED_COLUMNS);                                 \
      from += TRANSPOSED_COLUMNS * column;                                 \
      to += TRANSPOSED_COLUMNS * size;                                     \
    }                                                                      \
    for (size_t r = 0; r < nrows; r++)                                     \
      gather_##size(to + (ptrdiff_t)r * to_row, from + r * size, column,   \
                    left);                                                 \
  }
TL_MOVES(TURN)

// --- Steps that vectors know ------------------------------------------------

// Every second item, and items by falling addresses: x[::2] and x[::-1], with
// steps that the compiler knows.
#define EVERY_SECOND(index, size)                                       \
  static void every_second_##size(void *out, const void *a, size_t n) { \
    tl_word##size *to = out;                                            \
    const tl_word##size *from = a;                                      \
    for (size_t i = 0; i < n; i++) to[i] = from[2 * i];                 \
  }
#define REVERSED(size)                                              \
  static void reversed_##size(void *out, const void *a, size_t n) { \
    tl_word##size *to = out;                                        \
    const tl_word##size *last = a;                                  \
    for (size_t i = 0; i < n; i++) to[i] = last[-(ptrdiff_t)i];     \
  }
TL_MOVES(EVERY_SECOND)
REVERSED(2)
REVERSED(4)
REVERSED(8)
REVERSED(16)
// Bytes as words, which a processor turns round.
static void reversed_1(void *out, const void *a, size_t n) {
  char *to = out;
  const char *last = a;
  uint64_t word;
  size_t i = 0;
  for (; i + sizeof word <= n; i += sizeof word) {
    memcpy(&word, last - i - (sizeof word - 1), sizeof word);
    word = __builtin_bswap64(word);
    memcpy(to + i, &word, sizeof word);
  }
  for (; i < n; i++) to[i] = last[-(ptrdiff_t)i];
}

// --- All --------------------------------------------------------------------

// All moves of an item size. Strided loops are not marked as independent: an
// unpack of stride 0 writes one item n times.
#define MOVES(size, T)                                                       \
  void TL_K(copy_##size)(void *out, const void *a, size_t n) {               \
    if (out != a)                                                            \
      memcpy(out, a, n * sizeof(T));                                         \
  }                                                                          \
  void TL_K(zeros_##size)(void *out, const void *a, size_t n) {              \
    (void)a;                                                                 \
    memset(out, 0, n * sizeof(T));                                           \
  }                                                                          \
  void TL_K(fill_##size)(void *out, const void *a, size_t n) {               \
    T *to = out;                                                             \
    const T item = *(const T *)a;                                            \
    TL_LOOP for (size_t i = 0; i < n; i++) to[i] = item;                     \
  }                                                                          \
  void TL_K(pack_##size)(void *out, const void *a, ptrdiff_t stride,         \
                         size_t n) {                                         \
    T *to = out;                                                             \
    const char *from = a;                                                    \
    if (stride == (ptrdiff_t)sizeof(T)) {                                    \
      TL_K(copy_##size)(out, a, n);                                          \
    } else if (stride == 0) {                                                \
      if (n > 0)                                                             \
        TL_K(fill_##size)(out, a, n);                                        \
    } else if (stride == 2 * (ptrdiff_t)sizeof(T)) {                         \
      every_second_##size(to, from, n);                                      \
    } else if (stride == -(ptrdiff_t)sizeof(T)) {                            \
      reversed_##size(to, from, n);                                          \
    } else {                                                                 \
      gather_##size(to, from, stride, n);                                    \
    }                                                                        \
  }                                                                          \
  void TL_K(unpack_##size)(void *out, ptrdiff_t stride, const void *a,       \
                           size_t n) {                                       \
    char *to = out;                                                          \
    const T *from = a;                                                       \
    if (stride == (ptrdiff_t)sizeof(T)) {                                    \
      TL_K(copy_##size)(out, a, n);                                          \
    } else {                                                                 \
      TL_BY_FOUR for (size_t i = 0; i < n; i++, to += stride) * (T *)to =    \
          from[i];                                                           \
    }                                                                        \
  }                                                                          \
  void TL_K(pack_tile_##size)(void *out, ptrdiff_t out_row, const void *a,   \
                              ptrdiff_t a_row, ptrdiff_t a_column,           \
                              size_t nrows, size_t ncols) {                  \
    char *to = out;                                                          \
    const char *from = a;                                                    \
    const size_t row = ncols * sizeof(T);                                    \
    if (nrows > 1 && out_row == (ptrdiff_t)row && row <= SHORT_BYTES) {      \
      if (a_row == 0 && (nrows > FEW || a_column != sizeof(T))) {            \
        repeat_##size(to, from, a_column, nrows, ncols);                     \
        return;                                                              \
      }                                                                      \
      if (a_column == 0) {                                                   \
        stretch_##size(to, from, a_row, nrows, ncols);                       \
        return;                                                              \
      }                                                                      \
    }                                                                        \
    if (row - 1 < SHORT_BYTES && a_column == (ptrdiff_t)sizeof(T)) {         \
      copy_rows(to, out_row, from, a_row, nrows, row);                       \
      return;                                                                \
    }                                                                        \
    if (a_row != (ptrdiff_t)sizeof(T) || a_column == (ptrdiff_t)sizeof(T)) { \
      for (size_t r = 0; r < nrows; r++, to += out_row, from += a_row)       \
        TL_K(pack_##size)(to, from, a_column, ncols);                        \
      return;                                                                \
    }                                                                        \
    for (size_t n; nrows > 0; nrows -= n) {                                  \
      n = nrows < TRANSPOSED_BYTES / size ? nrows : TRANSPOSED_BYTES / size; \
      turn_##size(to, out_row, from, a_column, n, ncols);                    \
      to += (ptrdiff_t)n * out_row;                                          \
      from += (ptrdiff_t)n * a_row;                                          \
    }                                                                        \
  }                                                                          \
  void TL_K(take_##size)(void *out, const void *a, ptrdiff_t stride,         \
                         const int64_t *index, size_t n) {                   \
    T *to = out;                                                             \
    const char *from = a;                                                    \
    if (stride == (ptrdiff_t)sizeof(T)) {                                    \
      const T *items = a;                                                    \
      TL_LOOP for (size_t i = 0; i < n; i++) to[i] = items[index[i]];        \
    } else {                                                                 \
      TL_LOOP for (size_t i = 0; i < n; i++) to[i] =                         \
          *(const T *)(from + index[i] * stride);                            \
    }                                                                        \
  }                                                                          \
  void TL_K(take_far_##size)(void *out, const void *a, ptrdiff_t stride,     \
                             const int64_t *index, size_t n, size_t known) { \
    T *to = out;                                                             \
    size_t asked = known < AHEAD ? 0 : known - AHEAD;                        \
    asked = asked < n ? asked : n;                                           \
    for (size_t i = 0; i < asked; i++) {                                     \
      tl_prefetch(a, (uintptr_t)stride *(uintptr_t)index[i + AHEAD]);        \
      to[i] = *(const T *)((const char *)a + index[i] * stride);             \
    }                                                                        \
    TL_K(take_##size)(to + asked, a, stride, index + asked, n - asked);      \
  }                                                                          \
  void TL_K(put_##size)(void *out, ptrdiff_t stride, const int64_t *index,   \
                        const void *a, size_t n) {                           \
    char *to = out;                                                          \
    const T *from = a;                                                       \
    for (size_t i = 0; i < n; i++) *(T *)(to + index[i] * stride) = from[i]; \
  }

// Rows are short: a value is written some times more than it is wanted where
// there is room, so that few branches depend on a row's length.
#define SPREAD(size, T)                                                     \
  size_t TL_K(spread_##size)(void *out, const void *values, ptrdiff_t step, \
                             const int64_t *offsets, int64_t first,         \
                             size_t n) {                                    \
    enum { CHUNK = SPREAD_BYTES / sizeof(T) };                              \
    T *to = out;                                                            \
    const char *from = values;                                              \
    size_t row = 0;                                                         \
    while (n > 0) {                                                         \
      const T item = *(const T *)(from + (ptrdiff_t)row * step);            \
      size_t left = (size_t)(offsets[row + 1] - first), k = 0;              \
      size_t m = left < n ? left : n;                                       \
      for (; k < m && k + CHUNK <= n; k += CHUNK)                           \
        TL_LOOP for (size_t i = 0; i < CHUNK; i++) to[k + i] = item;        \
      for (; k < m; k++) to[k] = item;                                      \
      to += m;                                                              \
      first += (int64_t)m;                                                  \
      n -= m;                                                               \
      row += m == left;                                                     \
    }                                                                       \
    return row;                                                             \
  }
// Two cache lines: 16 items of 8 bytes are written without a look at the length
// of the row.
enum { SPREAD_BYTES = 128 };

#define X(index, size)       \
  MOVES(size, tl_word##size) \
  SPREAD(size, tl_word##size)
TL_MOVES(X)
#undef X

// Two subtractions for an index, and one test at the end: no branch, so that it
// vectorises.
bool TL_K(indices_within)(const int64_t *index, int64_t length, size_t n) {
  // The highest bit of either is set where an index is below 0 or too large.
  uint64_t bits = 0;
  const uint64_t last = (uint64_t)length - 1;
  for (size_t i = 0; i < n; i++)
    bits |= (uint64_t)index[i] | (last - (uint64_t)index[i]);
  return bits >> 63 == 0;
}

// [out] may be [index]: a block is checked as a whole before any of it is
// written.
size_t TL_K(wrap_indices)(int64_t *out, const int64_t *index, int64_t length,
                          size_t n) {
  enum { BLOCK = 512 };
  for (size_t start = 0; start < n; start += BLOCK) {
    size_t end = n - start < BLOCK ? n : start + BLOCK;
    // One pass finds whether any index of the block is wrong, which
    // vectorises; only then is the first one looked for.
    unsigned char bad = 0;
    for (size_t i = start; i < end; i++) {
      const int64_t at = index[i] + (index[i] < 0 ? length : 0);
      bad = (unsigned char)(bad | ((uint64_t)at >= (uint64_t)length));
    }
    if (bad)
      for (size_t i = start; i < end; i++)
        if (index[i] >= length || index[i] < -length)
          return i;
    TL_LOOP for (size_t i = start; i < end; i++) {
      const int64_t at = index[i];
      out[i] = at + (at < 0 ? length : 0);
    }
  }
  return n;
}

// Wraps where the numbers leave 64 bits, so it is computed without a sign.
void TL_K(iota)(int64_t *out, int64_t start, int64_t step, size_t n) {
  for (size_t i = 0; i < n; i++)
    out[i] = (int64_t)((uint64_t)start + (uint64_t)step * i);
}

// Places within a piece fit 32 bits, which all sets convert by vectors.
void TL_K(spaced)(double *out, double start, double step, double first,
                  size_t n) {
  for (size_t i = 0; i < n; i++)
    out[i] = start + (first + (double)(int32_t)i) * step;
}

// Adding it rounds to whole numbers, which then are in the low bits.
#define WHOLE 0x1.8p52
#define WHOLE_BITS 0x4338000000000000

// The bin is the whole number next to (v - low) * scale - 0.5, found by adding
// and taking off 1.5 * 2^52. Where that is nearer to its half than the margin,
// rounding may have moved it over an edge.
bool TL_K(even_bins)(int64_t *out, const tl_even_bins *bins,
                     const double *items, size_t n) {
  const double low = bins->low, high = bins->high, scale = bins->scale;
  const double near = 0.5 - bins->margin;
  // Bins are not negative, the two special values are: one sign bit says
  // whether all are bins.
  int64_t any = 0;
  TL_LOOP for (size_t i = 0; i < n; i++) {
    const double v = items[i], middle = (v - low) * scale - 0.5;
    const double whole = middle + WHOLE;
    int64_t bin;
    memcpy(&bin, &whole, sizeof bin);
    bin -= WHOLE_BITS;
    bin = fabs(middle - (whole - WHOLE)) < near ? bin : TL_BIN_UNSURE;
    const bool inside = (v >= low) & (v <= high);
    bin = inside ? bin : TL_BIN_NONE;
    out[i] = bin;
    any |= bin;
  }
  return any >= 0;
}

// Four at a time, as additions to one bin wait for each other.
void TL_K(bincount)(int64_t *out, const int64_t *index, size_t n) {
  TL_BY_FOUR for (size_t i = 0; i < n; i++) out[index[i]]++;
}

// In the order of the items, which the bits of float sums depend on.
void TL_K(bincount_weighted)(double *out, const int64_t *index,
                             const double *weight, size_t n) {
  for (size_t i = 0; i < n; i++) out[index[i]] += weight[i];
}
