// The first steps towards the eigenvalues of any matrix: balancing (Parlett and
// Reinsch 1969) and reduction to Hessenberg's form. See dense_work.h.

// Scales rows and columns by powers of two until they are about as long as
// each other: a becomes D^-1 a D, whose D goes to [scale]. Eigenvalues stay,
// and their errors are smaller. False where the VM was stopped.
static bool balance(tl_vm *vm, T *a, int64_t n, double *scale) {
  for (int64_t i = 0; i < n; i++) scale[i] = 1;
  for (bool again = true; again;) {
    again = false;
    for (int64_t i = 0; i < n; i++) {
      double row = 0, column = 0, f = 1;
      if (!poll_items(vm, n))
        return false;
      for (int64_t j = 0; j < n; j++) {
        if (j == i)
          continue;
        row += ABS1(a[i * n + j]);
        column += ABS1(a[j * n + i]);
      }
      if (row == 0 || column == 0 || !isfinite(row) || !isfinite(column))
        continue;
      // Powers of two, so that scaling is exact; a step that gains little is
      // left out, or the loop might not end.
      const double sum = row + column;
      for (; column < row / 2; column *= 4) f *= 2;
      for (; column >= row * 2; column /= 4) f /= 2;
      if (f == 1 || (row + column) / f >= 0.95 * sum ||
          !(scale[i] * f > 0x1p-500 && scale[i] * f < 0x1p500))
        continue;
      again = true;
      scale[i] *= f;
      for (int64_t j = 0; j < n; j++) a[i * n + j] /= f;
      for (int64_t j = 0; j < n; j++) a[j * n + i] *= f;
    }
  }
  return true;
}

// a becomes Q^H a Q with zeros below its second diagonal; the rows of z, if it
// is not NULL, the columns of Q. [tau] has room for n, [w] for 2 n. False
// where the VM was stopped.
//
//   x x x x         x x x x
//   x x x x         x x x x
//   x x x x   -->   0 x x x
//   x x x x         0 0 x x
static bool reduce_to_hessenberg(tl_vm *vm, T *a, int64_t n, T *tau, T *w,
                                 T *z) {
  for (int64_t k = 0; k + 1 < n; k++) {
    int64_t m = n - k - 1;
    T *column = a + (k + 1) * n + k, *v = w + n;
    tau[k] = reflect(vm, column, n, m);
    if (!poll_items(vm, m * n * 3))
      return false;
    apply_reflection(vm, column + 1, n, m, m, column, n, CONJ(tau[k]), w);
    for (int64_t i = 0; i < m; i++) v[i] = i == 0 ? 1 : CONJ(column[i * n]);
    // From the right, row by row: row -= tau (row v) v^H.
    for (int64_t i = 0; i < n && poll_row(vm, i, m); i++) {
      T *row = a + i * n + k + 1;
      add_row(row, -tau[k] * inner(row, v, m), v, m);
    }
  }
  bool ok = !z || start_vectors(vm, a, n, tau, z);
  ok = ok && !tl_failed(vm);
  for (int64_t i = 2; ok && i < n && poll_row(vm, i, i); i++)
    for (int64_t j = 0; j < i - 1; j++) a[i * n + j] = 0;
  return ok && !tl_failed(vm);
}

// --- What follows it: QR steps to Schur's form -------------------------------

// The matrix in work, its size, and the columns of Z as rows, or NULL.
typedef struct schur {
  T *h, *z;
  int64_t n;
} schur;

// The row where the part that ends with row hi begins: an item below the
// diagonal that is negligible is set to 0 and separates two parts.
static int64_t part_begin(schur *s, int64_t hi) {
  const int64_t n = s->n;
  for (int64_t k = hi; k > 0; k--) {
    T *below = s->h + k * n + k - 1;
    double near = ABS1(s->h[k * n + k]) + ABS1(s->h[(k - 1) * n + k - 1]);
    if (ABS1(*below) <= EPSILON * near || ABS1(*below) < 0x1p-1000) {
      *below = 0;
      return k;
    }
  }
  return 0;
}
