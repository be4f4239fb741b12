// Rows of a matrix: sums, products, and chains of plane rotations.
//
//   rows   y' <- x (row i), y (row i + 1), c[i], s[i]    from the last pair up
//
// A chain walks through the rows while one of them stays in registers; several
// vectors at once, as each rotation waits for the one before.
#include "vm/kernels/rotate.h"

#if defined(__AVX512F__)
enum { VECTOR = 64 };
#elif defined(__AVX2__)
enum { VECTOR = 32 };
#else
enum { VECTOR = 16 };
#endif
typedef double doubles
    __attribute__((vector_size(VECTOR), aligned(sizeof(double)), may_alias));
enum { LANES = VECTOR / sizeof(double), ACROSS = 4, WIDE = ACROSS * LANES };

// Applies the chain to WIDE columns; y, the row that moves along, stays in
// registers.
static void turn_wide(double *a, size_t row, const double *c, const double *s,
                      size_t count) {
  doubles y[ACROSS];
  double *at = a + count * row;
  TL_SPELL_OUT for (int k = 0; k < ACROSS; k++) y[k] = ((doubles *)at)[k];
  for (size_t i = count; i-- > 0; at -= row) {
    doubles *below = (doubles *)at;
    const doubles *here = (const doubles *)(at - row);
    TL_SPELL_OUT for (int k = 0; k < ACROSS; k++) {
      const doubles x = here[k];
      below[k] = s[i] * x + c[i] * y[k];
      y[k] = c[i] * x - s[i] * y[k];
    }
  }
  TL_SPELL_OUT for (int k = 0; k < ACROSS; k++)((doubles *)at)[k] = y[k];
}

// The same of one column.
static void turn_one(double *a, size_t row, const double *c, const double *s,
                     size_t count) {
  double y = a[count * row];
  for (size_t i = count; i-- > 0;) {
    const double x = a[i * row];
    a[(i + 1) * row] = s[i] * x + c[i] * y;
    y = c[i] * x - s[i] * y;
  }
  a[0] = y;
}

// Each column is a chain of its own, so that columns may go in any order.
void TL_K(turn_rows)(double *a, size_t row, const double *c, const double *s,
                     size_t count, size_t n) {
  // Wide strips first, the columns that are left one by one.
  size_t j = 0;
  for (; j + WIDE <= n; j += WIDE) turn_wide(a + j, row, c, s, count);
  for (; j < n; j++) turn_one(a + j, row, c, s, count);
}

void TL_K(add_row)(double *x, double f, const double *y, size_t n) {
  for (size_t i = 0; i < n; i++) x[i] += f * y[i];
}

// In four lanes, so that additions do not wait for each other.
double TL_K(row_product)(const double *x, const double *y, size_t n) {
  double sum[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    TL_SPELL_OUT for (size_t k = 0; k < 4; k++) sum[k] += x[i + k] * y[i + k];
  for (; i < n; i++) sum[0] += x[i] * y[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
