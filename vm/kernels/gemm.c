// Matrix products. Floats: panels of both operands are packed so that tiles of
// the result stay in registers (the method of Goto and van de Geijn).
//
//   b packed: BLOCK_K terms of up to BLOCK_N columns, WIDE at a time
//   a packed: up to BLOCK_M rows of BLOCK_K terms, TALL at a time
//   c: tiles of TALL rows by WIDE columns, all terms of a block at once
//
//   a panel (TALL x k)   b panel (k x WIDE)   tile of c in registers
//   [ . . . . . . ]   @  [ . . ]           =  [ . . ]
//
// This file alone may fuse multiply and add, so results differ in the last
// bits between instruction sets. Complex products are made of those of their
// parts; integers go through plain loops in blocks. Small products are
// computed without packing.
#include "vm/kernels/list.h"
#include "vm/kernels/search.h"

#if defined(__AVX512F__)
enum { VECTOR = 64, TALL = 8, ACROSS = 3 };
#elif defined(__AVX2__)
enum { VECTOR = 32, TALL = 4, ACROSS = 3 };
#else
enum { VECTOR = 16, TALL = 4, ACROSS = 2 };
#endif

// So many multiplications are a small complex product, and SMALL_ROWS one of
// floats, where b's rows are read as they lie.
// Where they do not lie so, up to TURNED items are transposed on the stack.
enum { SMALL = 128, SMALL_ROWS = 16 * 16 * 16, TURNED = 256 };

enum { BLOCK_K = TL_GEMM_K, BLOCK_M = TL_GEMM_M, BLOCK_N = TL_GEMM_N };

// So many panels of b, and rows of integers, go between two questions whether
// to go on: some ten million multiplications.
enum { STRIPS = 16, PLAIN_ROWS = 256 };

// The smaller of two.
static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

// The product with N columns of a matrix, row by row, the sums of a row in
// registers.
#define COLUMNS_OF(sfx, T, N, SUM)                                         \
  static void columns_##sfx##_##N(                                         \
      T *c, size_t c_row, const T *a, ptrdiff_t a_row, ptrdiff_t a_column, \
      const T *b, ptrdiff_t b_row, size_t m, size_t k) {                   \
    for (size_t i = 0; i < m; i++, c += c_row, a += a_row) {               \
      const T *x = a, *y = b;                                              \
      SUM(sfx, T, N)                                                       \
    }                                                                      \
  }
// The loop over terms of a sum, and the sums of N columns as a vector or one
// by one; both have the order of a tile.
#define EACH_TERM for (size_t p = 0; p < k; p++, x += a_column, y += b_row)
// The sums as vectors, where N is a power of two: as wide as the processor's,
// since compilers keep wider ones in memory. Else one by one.
#define SUM_OF_VECTORS(sfx, T, N)                                              \
  enum { COUNT = N * sizeof(T) / sizeof(some_##sfx##_##N) };                   \
  some_##sfx##_##N sum[COUNT];                                                 \
  TL_SPELL_OUT for (int j = 0; j < COUNT; j++) sum[j] = (some_##sfx##_##N){0}; \
  EACH_TERM TL_SPELL_OUT for (int j = 0; j < COUNT; j++) sum[j] +=             \
      *x * ((const some_##sfx##_##N *)y)[j];                                   \
  TL_SPELL_OUT for (int j = 0; j < COUNT; j++)((some_##sfx##_##N *)c)[j] =     \
      sum[j];
#define SUM_OF_ITEMS(sfx, T, N)                                           \
  T sum[N] = {0};                                                         \
  EACH_TERM TL_SPELL_OUT for (int j = 0; j < N; j++) sum[j] += *x * y[j]; \
  for (int j = 0; j < N; j++) c[j] = sum[j];
// The loop over rows for such sums.
#define COLUMNS_OF_VECTORS(sfx, T, N)                                       \
  typedef T some_##sfx##_##N __attribute__((                                \
      vector_size(N * sizeof(T) < VECTOR ? N * sizeof(T) : (size_t)VECTOR), \
      aligned(sizeof(T)), may_alias));                                      \
  COLUMNS_OF(sfx, T, N, SUM_OF_VECTORS)
#define COLUMNS_OF_ITEMS(sfx, T, N) COLUMNS_OF(sfx, T, N, SUM_OF_ITEMS)
#define COLUMN_OF(sfx, T) COLUMNS_OF(sfx, T, 1, SUM_OF_ITEMS)

// The kernel of a dtype of floats; strides are in items here. tile: the
// product of two packed panels in registers. pack_rows, pack_columns: the
// panels, padded with zeros. panel: all tiles of a block. Loops over a tile
// are short and known: unrolled in full, the tile stays in registers.
#define GEMM(sfx, T)                                                           \
  typedef T vector_##sfx                                                       \
      __attribute__((vector_size(VECTOR), aligned(sizeof(T)), may_alias));     \
  enum { PER_##sfx = VECTOR / sizeof(T), WIDE_##sfx = ACROSS * PER_##sfx };    \
  static void tile_##sfx(T *c, size_t c_row, const T *a, const T *b, size_t k, \
                         bool add) {                                           \
    vector_##sfx sum[TALL][ACROSS];                                            \
    TL_SPELL_OUT for (int i = 0; i < TALL; i++) {                              \
      TL_SPELL_OUT for (int j = 0; j < ACROSS; j++) sum[i][j] =                \
          (vector_##sfx){0};                                                   \
    }                                                                          \
    for (; k > 0; k--, a += TALL, b += WIDE_##sfx) {                           \
      vector_##sfx row[ACROSS];                                                \
      TL_SPELL_OUT for (int j = 0; j < ACROSS; j++) row[j] =                   \
          *(const vector_##sfx *)(b + j * PER_##sfx);                          \
      TL_SPELL_OUT for (int i = 0; i < TALL; i++) {                            \
        const vector_##sfx x = a[i] - (vector_##sfx){0};                       \
        TL_SPELL_OUT for (int j = 0; j < ACROSS; j++) sum[i][j] += x * row[j]; \
      }                                                                        \
    }                                                                          \
    TL_SPELL_OUT for (int i = 0; i < TALL; i++) {                              \
      TL_SPELL_OUT for (int j = 0; j < ACROSS; j++) {                          \
        vector_##sfx *to =                                                     \
            (vector_##sfx *)(c + (size_t)i * c_row + j * PER_##sfx);           \
        if (add)                                                               \
          sum[i][j] += *to;                                                    \
        *to = sum[i][j];                                                       \
      }                                                                        \
    }                                                                          \
  }                                                                            \
  /* A tile that reaches over the edge of c is computed beside it. */          \
  static void edge_tile_##sfx(T *c, size_t c_row, const T *a, const T *b,      \
                              size_t k, bool add, size_t rows, size_t cols) {  \
    T whole[TALL * WIDE_##sfx];                                                \
    tile_##sfx(whole, WIDE_##sfx, a, b, k, false);                             \
    for (size_t i = 0; i < rows; i++)                                          \
      for (size_t j = 0; j < cols; j++)                                        \
        c[i * c_row + j] = add ? c[i * c_row + j] + whole[i * WIDE_##sfx + j]  \
                               : whole[i * WIDE_##sfx + j];                    \
  }                                                                            \
  static void pack_rows_##sfx(T *to, const T *a, ptrdiff_t row,                \
                              ptrdiff_t column, size_t m, size_t k) {          \
    for (size_t i = 0; i < m; i += TALL, a += TALL * row) {                    \
      const size_t rows = smaller(m - i, TALL);                                \
      const T *from = a;                                                       \
      for (size_t p = 0; p < k; p++, from += column, to += TALL) {             \
        for (size_t r = 0; r < rows; r++) to[r] = from[(ptrdiff_t)r * row];    \
        for (size_t r = rows; r < TALL; r++) to[r] = 0;                        \
      }                                                                        \
    }                                                                          \
  }                                                                            \
  static void pack_columns_##sfx(T *to, const T *b, ptrdiff_t row,             \
                                 ptrdiff_t column, size_t k, size_t n) {       \
    for (size_t j = 0; j < n; j += WIDE_##sfx, b += WIDE_##sfx * column) {     \
      const size_t cols = smaller(n - j, WIDE_##sfx);                          \
      const T *from = b;                                                       \
      for (size_t p = 0; p < k; p++, from += row, to += WIDE_##sfx) {          \
        if (cols == WIDE_##sfx && column == 1) {                               \
          memcpy(to, from, WIDE_##sfx * sizeof(T));                            \
          continue;                                                            \
        }                                                                      \
        for (size_t q = 0; q < cols; q++) to[q] = from[(ptrdiff_t)q * column]; \
        for (size_t q = cols; q < WIDE_##sfx; q++) to[q] = 0;                  \
      }                                                                        \
    }                                                                          \
  }                                                                            \
  static void panel_##sfx(T *c, size_t c_row, const T *a, const T *b,          \
                          size_t m, size_t n, size_t k, bool add,              \
                          tl_stop *stop) {                                     \
    for (size_t j = 0; j < n; j += WIDE_##sfx) {                               \
      if (j > 0 && j % (STRIPS * WIDE_##sfx) == 0 && !tl_goes_on(stop))        \
        return;                                                                \
      for (size_t i = 0; i < m; i += TALL) {                                   \
        const size_t rows = smaller(m - i, TALL);                              \
        const size_t cols = smaller(n - j, WIDE_##sfx);                        \
        T *to = c + i * c_row + j;                                             \
        if (rows == TALL && cols == WIDE_##sfx) {                              \
          tile_##sfx(to, c_row, a + i * k, b + j * k, k, add);                 \
        } else {                                                               \
          edge_tile_##sfx(to, c_row, a + i * k, b + j * k, k, add, rows,       \
                          cols);                                               \
        }                                                                      \
      }                                                                        \
    }                                                                          \
  }                                                                            \
  COLUMN_OF(sfx, T)                                                            \
  COLUMNS_OF_VECTORS(sfx, T, 2)                                                \
  COLUMNS_OF_ITEMS(sfx, T, 3)                                                  \
  COLUMNS_OF_VECTORS(sfx, T, 4)                                                \
  COLUMNS_OF_VECTORS(sfx, T, 8)                                                \
  /* As many columns at a time as are left: the sums are those of a tile. */   \
  static void columns_##sfx(T *c, size_t c_row, const T *a, ptrdiff_t a_row,   \
                            ptrdiff_t a_column, const T *b, ptrdiff_t b_row,   \
                            size_t m, size_t n, size_t k) {                    \
    for (size_t some; n > 0; n -= some, c += some, b += some) {                \
      some = n >= 8 ? 8 : n >= 4 ? 4 : n;                                      \
      (some == 8   ? columns_##sfx##_8                                         \
       : some == 4 ? columns_##sfx##_4                                         \
       : some == 3 ? columns_##sfx##_3                                         \
       : some == 2                                                             \
           ? columns_##sfx##_2                                                 \
           : columns_##sfx##_1)(c, c_row, a, a_row, a_column, b, b_row, m, k); \
    }                                                                          \
  }                                                                            \
  void TL_K(gemm_##sfx)(void *c_, ptrdiff_t c_row, const void *a_,             \
                        ptrdiff_t a_row, ptrdiff_t a_column, const void *b_,   \
                        ptrdiff_t b_row, ptrdiff_t b_column, size_t m,         \
                        size_t n, size_t k, void *scratch, tl_stop *stop) {    \
    const ptrdiff_t size = sizeof(T);                                          \
    T *c = c_, *rows = scratch;                                                \
    T *columns = rows + tl_gemm_rows(m, k);                                    \
    const size_t c_step = (size_t)(c_row / size);                              \
    a_row /= size, a_column /= size, b_row /= size, b_column /= size;          \
    if (m * n * k <= SMALL_ROWS && k <= BLOCK_K && b_column == 1) {            \
      columns_##sfx(c, c_step, a_, a_row, a_column, b_, b_row, m, n, k);       \
      return;                                                                  \
    }                                                                          \
    if (m * n * k <= SMALL_ROWS && n * k <= TURNED) {                          \
      const T *b = b_;                                                         \
      T turned[TURNED];                                                        \
      for (size_t p = 0; p < k; p++)                                           \
        for (size_t j = 0; j < n; j++)                                         \
          turned[p * n + j] =                                                  \
              b[(ptrdiff_t)p * b_row + (ptrdiff_t)j * b_column];               \
      columns_##sfx(c, c_step, a_, a_row, a_column, turned, (ptrdiff_t)n, m,   \
                    n, k);                                                     \
      return;                                                                  \
    }                                                                          \
    for (size_t j = 0; j < n; j += BLOCK_N) {                                  \
      const size_t width = smaller(n - j, BLOCK_N);                            \
      for (size_t p = 0; p < k; p += BLOCK_K) {                                \
        const size_t depth = smaller(k - p, BLOCK_K);                          \
        pack_columns_##sfx(                                                    \
            columns,                                                           \
            (const T *)b_ + (ptrdiff_t)p * b_row + (ptrdiff_t)j * b_column,    \
            b_row, b_column, depth, width);                                    \
        for (size_t i = 0; i < m; i += BLOCK_M) {                              \
          if (!tl_goes_on(stop))                                               \
            return;                                                            \
          const size_t height = smaller(m - i, BLOCK_M);                       \
          pack_rows_##sfx(                                                     \
              rows,                                                            \
              (const T *)a_ + (ptrdiff_t)i * a_row + (ptrdiff_t)p * a_column,  \
              a_row, a_column, height, depth);                                 \
          panel_##sfx(c + i * c_step + j, c_step, rows, columns, height,       \
                      width, depth, p > 0, stop);                              \
        }                                                                      \
      }                                                                        \
    }                                                                          \
  }
GEMM(float32, float)
GEMM(float64, double)

// Rows of b are added to rows of c, in blocks of b that stay in cache.
enum { PLAIN_K = TL_GEMM_PLAIN_K, PLAIN_N = TL_GEMM_PLAIN_N };

// The kernel of integers: b packed by blocks, rows of c as sums of rows of b.
// Sums wrap, so their order does not matter.
#define PLAIN_GEMM(sfx, T, step)                                              \
  void TL_K(gemm_##sfx)(void *c, ptrdiff_t c_row, const void *a,              \
                        ptrdiff_t a_row, ptrdiff_t a_column, const void *b,   \
                        ptrdiff_t b_row, ptrdiff_t b_column, size_t m,        \
                        size_t n, size_t k, void *scratch, tl_stop *stop) {   \
    T *packed = scratch;                                                      \
    for (size_t i = 0; i < m; i++) {                                          \
      if (i % PLAIN_ROWS == 0 && !tl_goes_on(stop))                           \
        return;                                                               \
      memset((char *)c + (ptrdiff_t)i * c_row, 0, n * sizeof(T));             \
    }                                                                         \
    for (size_t j = 0; j < n; j += PLAIN_N) {                                 \
      const size_t width = smaller(n - j, PLAIN_N);                           \
      for (size_t p = 0; p < k; p += PLAIN_K) {                               \
        const size_t depth = smaller(k - p, PLAIN_K);                         \
        for (size_t q = 0; q < depth; q++)                                    \
          for (size_t r = 0; r < width; r++)                                  \
            packed[q * width + r] =                                           \
                *(const T *)((const char *)b + (ptrdiff_t)(p + q) * b_row +   \
                             (ptrdiff_t)(j + r) * b_column);                  \
        for (size_t i = 0; i < m; i++) {                                      \
          if (i % PLAIN_ROWS == 0 && !tl_goes_on(stop))                       \
            return;                                                           \
          T *to = (T *)((char *)c + (ptrdiff_t)i * c_row) + j;                \
          for (size_t q = 0; q < depth; q++) {                                \
            const T x = *(const T *)((const char *)a + (ptrdiff_t)i * a_row + \
                                     (ptrdiff_t)(p + q) * a_column);          \
            const T *row = packed + q * width;                                \
            TL_LOOP for (size_t r = 0; r < width; r++) {                      \
              const T y = row[r], z = to[r];                                  \
              to[r] = step;                                                   \
            }                                                                 \
          }                                                                   \
        }                                                                     \
      }                                                                       \
    }                                                                         \
  }
#define X(D, sfx, T, W) PLAIN_GEMM(sfx, T, (T)((W)z + (W)x * (W)y))
TL_UNSIGNED(X)
#undef X
// A complex product that is not large: the four products of its parts at a
// time, some columns of b after the other, whose parts are put side by side:
//
//   b packed: k terms of WIDE columns, first the real parts, then the others
//   c: a row of WIDE columns, its four sums in registers
//
// Each sum has the order of a tile.
// Beyond BLOCKED, packing costs less than what wider tiles save.
enum { BLOCKED = 64 * 64 * 64 };  // multiplications of a large one
#define COMPLEX_ROWS(sfx, T, R, real, N)                                       \
  static void rows_##sfx##_##N(                                                \
      T *c, size_t c_step, const char *a, ptrdiff_t a_row, ptrdiff_t a_column, \
      const R *packed, size_t m, size_t cols, size_t k) {                      \
    for (size_t i = 0; i < m; i++, c += c_step, a += a_row) {                  \
      vector_##real sums[4][N];                                                \
      TL_SPELL_OUT for (int j = 0; j < N; j++) sums[0][j] = sums[1][j] =       \
          sums[2][j] = sums[3][j] = (vector_##real){0};                        \
      const char *x = a;                                                       \
      const vector_##real *b = (const vector_##real *)packed;                  \
      for (size_t p = 0; p < k; p++, x += a_column, b += 2 * N) {              \
        const vector_##real re = ((const T *)x)->re - (vector_##real){0};      \
        const vector_##real im = ((const T *)x)->im - (vector_##real){0};      \
        TL_SPELL_OUT for (int j = 0; j < N; j++) {                             \
          sums[0][j] += re * b[j];                                             \
          sums[1][j] += im * b[N + j];                                         \
          sums[2][j] += re * b[N + j];                                         \
          sums[3][j] += im * b[j];                                             \
        }                                                                      \
      }                                                                        \
      vector_##real parts[2][N];                                               \
      TL_SPELL_OUT for (int j = 0; j < N; j++) {                               \
        parts[0][j] = sums[0][j] - sums[1][j];                                 \
        parts[1][j] = sums[2][j] + sums[3][j];                                 \
      }                                                                        \
      for (size_t q = 0; q < cols; q++)                                        \
        c[q] = (T){((const R *)parts[0])[q], ((const R *)parts[1])[q]};        \
    }                                                                          \
  }
#define COMPLEX_COLUMNS(sfx, T, R, real)                                       \
  COMPLEX_ROWS(sfx, T, R, real, 1)                                             \
  COMPLEX_ROWS(sfx, T, R, real, 2)                                             \
  static void columns_##sfx(                                                   \
      T *c, size_t c_step, const char *a, ptrdiff_t a_row, ptrdiff_t a_column, \
      const char *b, ptrdiff_t b_row, ptrdiff_t b_column, size_t m, size_t n,  \
      size_t k) {                                                              \
    _Alignas(64) R packed[BLOCK_K * 4 * PER_##real];                           \
    for (size_t j = 0, wide; j < n; j += wide) {                               \
      wide = n - j > PER_##real ? 2 * PER_##real : PER_##real;                 \
      const size_t cols = smaller(n - j, wide);                                \
      R *to = packed;                                                          \
      for (size_t p = 0; p < k; p++, to += 2 * wide) {                         \
        const char *from = b + (ptrdiff_t)p * b_row + (ptrdiff_t)j * b_column; \
        for (size_t q = 0; q < cols; q++, from += b_column) {                  \
          to[q] = ((const T *)from)->re;                                       \
          to[wide + q] = ((const T *)from)->im;                                \
        }                                                                      \
        for (size_t q = cols; q < wide; q++) to[q] = to[wide + q] = 0;         \
      }                                                                        \
      (wide == PER_##real ? rows_##sfx##_1 : rows_##sfx##_2)(                  \
          c + j, c_step, a, a_row, a_column, packed, m, cols, k);              \
    }                                                                          \
  }
COMPLEX_COLUMNS(complex64, tl_c64, float, float32)
COMPLEX_COLUMNS(complex128, tl_c128, double, float64)

// Large complex products are four real ones of the parts, which are strided
// matrices; a small product is computed by its definition.
#define COMPLEX_GEMM(sfx, T, R, real)                                          \
  static void plain_##sfx(T *c, size_t c_step, const char *a, ptrdiff_t a_row, \
                          ptrdiff_t a_column, const char *b, ptrdiff_t b_row,  \
                          ptrdiff_t b_column, size_t m, size_t n, size_t k) {  \
    for (size_t i = 0; i < m; i++, c += c_step, a += a_row) {                  \
      for (size_t j = 0; j < n; j++) {                                         \
        const char *x = a, *y = b + (ptrdiff_t)j * b_column;                   \
        T sum = {0, 0};                                                        \
        for (size_t p = 0; p < k; p++, x += a_column, y += b_row) {            \
          const T u = *(const T *)x, v = *(const T *)y;                        \
          sum.re += u.re * v.re - u.im * v.im;                                 \
          sum.im += u.re * v.im + u.im * v.re;                                 \
        }                                                                      \
        c[j] = sum;                                                            \
      }                                                                        \
    }                                                                          \
  }                                                                            \
  void TL_K(gemm_##sfx)(void *c_, ptrdiff_t c_row, const void *a_,             \
                        ptrdiff_t a_row, ptrdiff_t a_column, const void *b_,   \
                        ptrdiff_t b_row, ptrdiff_t b_column, size_t m,         \
                        size_t n, size_t k, void *scratch, tl_stop *stop) {    \
    const size_t c_step = (size_t)c_row / sizeof(T);                           \
    T *c = c_;                                                                 \
    if (m * n * k <= SMALL) {                                                  \
      plain_##sfx(c, c_step, a_, a_row, a_column, b_, b_row, b_column, m, n,   \
                  k);                                                          \
      return;                                                                  \
    }                                                                          \
    if (!TL_SMALL && m * n * k <= BLOCKED && k <= BLOCK_K) {                   \
      columns_##sfx(c, c_step, a_, a_row, a_column, b_, b_row, b_column, m, n, \
                    k);                                                        \
      return;                                                                  \
    }                                                                          \
    const size_t part = tl_gemm_part_items(m, n);                              \
    R *x = scratch, *y = x + part;                                             \
    void *rest = y + part;                                                     \
    for (size_t i = 0; i < m; i += TL_GEMM_M) {                                \
      const size_t rows = smaller(m - i, TL_GEMM_M);                           \
      const char *a = (const char *)a_ + (ptrdiff_t)i * a_row;                 \
      for (size_t j = 0; j < n; j += TL_GEMM_PART) {                           \
        if (!tl_goes_on(stop))                                                 \
          return;                                                              \
        const size_t cols = smaller(n - j, TL_GEMM_PART);                      \
        const ptrdiff_t row = (ptrdiff_t)(cols * sizeof(R));                   \
        const char *b = (const char *)b_ + (ptrdiff_t)j * b_column;            \
        for (int half = 0; half < 2; half++) {                                 \
          const size_t of_b = half == 0 ? 0 : sizeof(R);                       \
          TL_K(gemm_##real)                                                    \
          (x, row, a, a_row, a_column, b + of_b, b_row, b_column, rows, cols,  \
           k, rest, stop);                                                     \
          TL_K(gemm_##real)                                                    \
          (y, row, a + sizeof(R), a_row, a_column, b + sizeof(R) - of_b,       \
           b_row, b_column, rows, cols, k, rest, stop);                        \
          for (size_t r = 0; r < rows; r++) {                                  \
            T *to = c + (i + r) * c_step + j;                                  \
            const R *u = x + r * cols, *v = y + r * cols;                      \
            if (half == 0) {                                                   \
              for (size_t q = 0; q < cols; q++) to[q].re = u[q] - v[q];        \
            } else {                                                           \
              for (size_t q = 0; q < cols; q++) to[q].im = u[q] + v[q];        \
            }                                                                  \
          }                                                                    \
        }                                                                      \
      }                                                                        \
    }                                                                          \
  }
COMPLEX_GEMM(complex64, tl_c64, float, float32)
COMPLEX_GEMM(complex128, tl_c128, double, float64)
