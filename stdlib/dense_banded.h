// Equations with a band matrix, by elimination within the band. See
// dense_work.h.

// a holds n rows of a band: item (i, j) of the matrix, i - l <= j <= i + l +
// u, at a[i * width + j - i + l], width being 2 l + u + 1; b has n rows of m.
// Exchanging rows for the pivot widens the band above by l diagonals, which
// are zeros at first:
//
//   l = 1, u = 1, row i:   (i, i-1)  (i, i)  (i, i+1)  0
//
// Built for size, as LAPACK has it, too.
__attribute__((cold)) static tl_dense_result banded(const tl_lapack *f,
                                                    tl_vm *vm, void *matrix,
                                                    int64_t n, int64_t l,
                                                    int64_t u, void *right,
                                                    int64_t m) {
  T *a = matrix, *b = right;
  const int64_t width = 2 * l + u + 1;
#define AT(i, j) a[(i)*width + (j) - (i) + l]
  for (int64_t k = 0; k < n; k++) {
    if (!poll_items(vm, (l + 1) * (l + u + m)))
      return TL_DENSE_STOPPED;
    // The rows that have an item in column k, and the columns that its row may
    // reach after exchanges.
    int64_t last = k + l < n - 1 ? k + l : n - 1, best = k;
    int64_t end = k + l + u < n - 1 ? k + l + u : n - 1;
    for (int64_t i = k + 1; i <= last; i++)
      if (ABS1(AT(i, k)) > ABS1(AT(best, k)))
        best = i;
    if (AT(best, k) == 0)
      return TL_DENSE_SINGULAR;
    for (int64_t j = k; best != k && j <= end; j++) {
      T t = AT(k, j);
      AT(k, j) = AT(best, j);
      AT(best, j) = t;
    }
    exchange_rows(b, m, k, best);
    for (int64_t i = k + 1; i <= last && poll_row(vm, i - k, end - k + m);
         i++) {
      T f = AT(i, k) / AT(k, k);
      if (f == 0)
        continue;
      for (int64_t j = k + 1; j <= end; j++) AT(i, j) -= f * AT(k, j);
      add_row(b + i * m, -f, b + k * m, m);
    }
  }
  // Substitution from below. U has l + u diagonals above the main one now.
  for (int64_t k = n - 1; k >= 0; k--) {
    int64_t end = k + l + u < n - 1 ? k + l + u : n - 1;
    if (!poll_items(vm, (l + u) * m))
      return TL_DENSE_STOPPED;
    for (int64_t j = k + 1; j <= end && poll_row(vm, j - k, m); j++)
      add_row(b + k * m, -AT(k, j), b + j * m, m);
    for (int64_t j = 0; j < m; j++) b[k * m + j] /= AT(k, k);
  }
#undef AT
  return tl_failed(vm) ? TL_DENSE_STOPPED : TL_DENSE_DONE;
}
