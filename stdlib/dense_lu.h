// Gaussian elimination and Cholesky's factors, in blocks of columns. See
// dense_work.h. Blocks go from left to right; most of the work is the product
// that updates the rest:
//
//   panel | rows of U        factor_panel | finish_rows
//   ------+-----------
//   panel | rest             rest -= panel @ rows: product

// Exchanges rows i and k of n items.
static void exchange_rows(T *a, int64_t n, int64_t i, int64_t k) {
  for (int64_t j = 0; i != k && j < n; j++) {
    T t = a[i * n + j];
    a[i * n + j] = a[k * n + j];
    a[k * n + j] = t;
  }
}

// Factors columns [from, end) below row [from], with partial pivoting: whole
// rows change places. False where the VM was stopped; *sign is 0 where a pivot
// is 0.
static bool factor_panel(tl_vm *vm, T *a, int64_t n, int64_t from, int64_t end,
                         int64_t *pivot, int *sign) {
  // Factoring goes on: the determinant is 0, and U is complete.
  bool singular = false;
  for (int64_t k = from; k < end; k++) {
    if (!poll_items(vm, (n - k) * (end - k)))
      return false;
    // Any item of the largest magnitude serves; the cheaper ABS1 chooses one
    // that is at most a root of 2 smaller.
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++)
      if (ABS1(a[i * n + k]) > ABS1(a[best * n + k]))
        best = i;
    pivot[k] = best;
    if (best != k)
      *sign = -*sign;
    exchange_rows(a, n, k, best);
    if (a[k * n + k] == 0) {
      singular = true;
      continue;
    }
    const T *row = a + k * n;
    for (int64_t i = k + 1; i < n; i++) {
      T f = a[i * n + k] /= row[k];
      // Zeros are common in sparse matrices and cost nothing so.
      if (f != 0)
        add_row(a + i * n + k + 1, -f, row + k + 1, end - k - 1);
    }
  }
  if (singular)
    *sign = 0;
  return true;
}

// The rows [from, end) of U to the right of the panel: what L of the panel took
// from the rows above is taken from these as well. A stop shows in the product
// that follows.
static void finish_rows(tl_vm *vm, T *a, int64_t n, int64_t from, int64_t end) {
  for (int64_t i = from + 1; i < end && poll_row(vm, i, n * BLOCK); i++)
    for (int64_t k = from; k < i; k++)
      add_row(a + i * n + end, -a[i * n + k], a + k * n + end, n - end);
}

// Factors a, n rows of n, in place into L, whose diagonal of ones is left out,
// and U; pivot[k] is the row that changed places with row k. *sign is 1 or -1
// by their number, or 0 for a singular matrix, whose factors are not to be
// used. False where the VM was stopped.
static bool factor(tl_vm *vm, T *a, int64_t n, int64_t *pivot, int *sign) {
  space s = {.vm = vm};
  room r;
  // A matrix of one block has no rest, and a stack may have many of them.
  bool ok = n <= BLOCK || need_room(&s, n, BLOCK, &r);
  int so_far = 1;
  for (int64_t k = 0; ok && k < n; k += BLOCK) {
    int64_t end = k + BLOCK < n ? k + BLOCK : n;
    // The sign of one panel's exchanges; 0 stays 0 in the product.
    int panel = 1;
    ok = factor_panel(vm, a, n, k, end, pivot, &panel);
    so_far *= panel;
    finish_rows(vm, a, n, k, end);
    operand left = {a + end * n + k, n, 1}, right = {a + k * n + end, n, 1};
    ok = ok && (end == n || product(&r, a + end * n + end, n, left, right,
                                    n - end, n - end, end - k, true));
  }
  leave(&s);
  *sign = so_far;
  return ok;
}

// See tl_dense.
static tl_dense_result lu(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                          int *sign) {
  space s = {.vm = vm};
  int64_t *pivot = need_words(&s, n, "the pivots");
  return leave_with(&s, pivot && factor(vm, a, n, pivot, sign));
}

// b := inverse(triangle) @ b, for n rows of m, in blocks of its rows: inside of
// a block row by row, the rest by a product. [lower] reads the triangle of a
// below the diagonal, else the one above; [unit] takes ones for the diagonal,
// which is not looked at. False where the VM was stopped.
static bool substitute(tl_vm *vm, const T *a, int64_t n, bool lower, bool unit,
                       T *b, int64_t m) {
  space s = {.vm = vm};
  room r;
  bool ok = n <= BLOCK || need_room(&s, m, BLOCK, &r);
  for (int64_t done = 0; ok && done < n; done += BLOCK) {
    int64_t count = n - done < BLOCK ? n - done : BLOCK;
    int64_t from = lower ? done : n - done - count;
    for (int64_t p = 0; p < count; p++) {
      int64_t i = lower ? from + p : from + count - 1 - p;
      for (int64_t q = 0; q < p; q++) {
        int64_t k = lower ? from + q : from + count - 1 - q;
        add_row(b + i * m, -a[i * n + k], b + k * m, m);
        if (!poll_row(vm, q, m))
          break;
      }
      for (int64_t j = 0; !unit && j < m; j++) b[i * m + j] /= a[i * n + i];
    }
    int64_t rest = lower ? from + count : 0;
    operand left = {a + rest * n + from, n, 1}, right = {b + from * m, m, 1};
    ok = !tl_failed(vm) &&
         (done + count == n || product(&r, b + rest * m, m, left, right,
                                       n - done - count, m, count, true));
  }
  leave(&s);
  return ok;
}

// See tl_dense; a 0 on the diagonal is singular.
static tl_dense_result triangular(const tl_lapack *f, tl_vm *vm, void *a,
                                  int64_t n, bool lower, bool unit, void *b,
                                  int64_t m) {
  for (int64_t i = 0; !unit && i < n; i++)
    if (((const T *)a)[i * n + i] == 0)
      return TL_DENSE_SINGULAR;
  return substitute(vm, a, n, lower, unit, b, m) ? TL_DENSE_DONE
                                                 : TL_DENSE_STOPPED;
}

// See tl_dense: L, then U.
static tl_dense_result solve(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                             void *b, int64_t m) {
  space s = {.vm = vm};
  int64_t *pivot = need_words(&s, n, "the pivots");
  int sign = 1;
  bool ok = pivot && factor(vm, a, n, pivot, &sign);
  if (ok && sign != 0) {
    for (int64_t k = 0; k < n && poll_row(vm, k, m); k++)
      exchange_rows(b, m, k, pivot[k]);
    ok = !tl_failed(vm) && substitute(vm, a, n, true, true, b, m) &&
         substitute(vm, a, n, false, false, b, m);
  }
  tl_dense_result result = leave_with(&s, ok);
  return ok && sign == 0 ? TL_DENSE_SINGULAR : result;
}

// --- Cholesky ---------------------------------------------------------------

// The rows [from, n) of columns [from, end) of the lower triangle. False where
// the matrix is not positive definite. A stop shows in the next poll.
static bool cholesky_panel(tl_vm *vm, T *a, int64_t n, int64_t from,
                           int64_t end) {
  for (int64_t i = from; i < n && poll_row(vm, i, BLOCK * BLOCK / 2); i++) {
    T *row = a + i * n + from;
    for (int64_t j = from; j < end && j <= i; j++) {
      const T *other = a + j * n + from;
      T sum = a[i * n + j] - inner(row, other, j - from);
      if (i == j && !(REAL(sum) > 0))
        return false;
      a[i * n + j] = i == j ? sqrt(REAL(sum)) : sum / REAL(other[j - from]);
    }
  }
  return true;
}

// Subtracts the panel times its adjoint from the rest of the lower triangle, in
// strips that end at the diagonal. The strips reach a little above the
// diagonal, into items that nothing reads and that are cleared in the end.
// [adjoint] has room for n - end columns of the panel's width. False where the
// VM was stopped.
static bool cholesky_rest(room *r, T *a, int64_t n, int64_t from, int64_t end,
                          T *adjoint) {
  const int64_t terms = end - from;
  for (int64_t i = end; i < n; i++)
    for (int64_t k = 0; k < terms; k++)
      adjoint[(i - end) * terms + k] = CONJ(a[i * n + from + k]);
  for (int64_t i = end; i < n; i += STRIP) {
    int64_t rows = n - i < STRIP ? n - i : STRIP;
    operand left = {a + i * n + from, n, 1}, right = {adjoint, 1, terms};
    if (!product(r, a + i * n + end, n, left, right, rows, i + rows - end,
                 terms, true))
      return false;
  }
  return true;
}

// See tl_dense. Built for size: kernels do the work.
__attribute__((cold)) static tl_dense_result cholesky(const tl_lapack *f,
                                                      tl_vm *vm, void *matrix,
                                                      int64_t n) {
  space s = {.vm = vm};
  const bool has_rest = n > BLOCK;
  T *a = matrix, *adjoint = has_rest ? need_matrix(&s, n, BLOCK) : NULL;
  room r;
  // Stopped and not definite are different results.
  bool ok = !has_rest || need_room(&s, n, BLOCK, &r), definite = true;
  for (int64_t k = 0; ok && definite && k < n; k += BLOCK) {
    int64_t end = k + BLOCK < n ? k + BLOCK : n;
    ok = poll_items(vm, (n - k) * BLOCK * BLOCK / 2);
    definite = !ok || cholesky_panel(vm, a, n, k, end);
    ok = ok && definite && cholesky_rest(&r, a, n, k, end, adjoint);
  }
  for (int64_t i = 0; i < n && poll_row(vm, i, n); i++)
    for (int64_t j = i + 1; j < n; j++) a[i * n + j] = 0;
  tl_dense_result result = leave_with(&s, ok && !tl_failed(vm));
  return definite ? result : TL_DENSE_SINGULAR;
}
