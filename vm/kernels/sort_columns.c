// Sorting many short columns side by side: a network of comparators, each of
// which puts two whole rows in order, so that vectors of columns go through the
// same exchanges and no branch depends on the items (Batcher's odd-even merge
// sort, in Knuth's form for any number of rows: Volume 3, algorithm 5.2.2M).
//
//   4 rows     (0 1) (2 3)   (0 2) (1 3)   (1 2)
#include "vm/kernels/search.h"

// Puts the lesser of each pair of items into row x, the other into row y.
#define COLUMNS(sfx, U)                                                 \
  static void order_##sfx(U *x, U *y) {                                 \
    TL_LOOP for (size_t j = 0; j < TL_SORT_ROW / sizeof(U); j++) {      \
      const U a = x[j], b = y[j];                                       \
      x[j] = a < b ? a : b;                                             \
      y[j] = a < b ? b : a;                                             \
    }                                                                   \
  }                                                                     \
  void TL_K(sort_columns_##sfx)(void *rows, size_t n) {                 \
    enum { WIDTH = TL_SORT_ROW / sizeof(U) };                           \
    U *a = rows;                                                        \
    /* Sorted runs of p rows are merged in pairs by exchanges at */     \
    /* distances k from p down to 1; none crosses from pair to pair. */ \
    for (size_t p = 1; p < n; p *= 2)                                   \
      for (size_t k = p; k > 0; k /= 2)                                 \
        for (size_t j = k % p; j + k < n; j += 2 * k) {                 \
          const size_t left = n - j - k, end = k < left ? k : left;     \
          if (j / (2 * p) == (j + k) / (2 * p))                         \
            for (size_t i = j; i < j + end; i++)                        \
              order_##sfx(a + i * WIDTH, a + (i + k) * WIDTH);          \
        }                                                               \
  }
COLUMNS(1, uint8_t)
COLUMNS(2, uint16_t)
COLUMNS(4, uint32_t)
COLUMNS(8, uint64_t)
