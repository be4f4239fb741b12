// Eigenvalues of Hermitian matrices: Householder's reduction to a tridiagonal
// one, then implicit QL with Wilkinson's shift (Bowdler, Martin, Reinsch,
// Wilkinson 1968). See dense_work.h.

// a, both halves of which are there, becomes tridiagonal: d on the diagonal, e
// beside it; the reflections lie below. [v] has room for 3 n.
static bool reduce_to_tridiagonal(tl_vm *vm, T *a, int64_t n, double *d,
                                  double *e, T *tau, T *v) {
  T *conjugate = v + n, *w = v + 2 * n;
  for (int64_t k = 0; k < n; k++) {
    d[k] = REAL(a[k * n + k]);
    if (k == n - 1)
      break;
    int64_t m = n - k - 1;
    T *column = a + (k + 1) * n + k, *rest = column + 1;
    tau[k] = reflect(column, n, m);
    e[k] = REAL(column[0]);
    if (!poll_items(vm, m * m * 2))
      return false;
    if (tau[k] == 0)
      continue;
    for (int64_t i = 0; i < m; i++) {
      v[i] = i == 0 ? 1 : column[i * n];
      conjugate[i] = CONJ(v[i]);
    }
    // w = tau A v, less (tau w^H v / 2) v; then A -= v w^H + w v^H.
    for (int64_t i = 0; i < m; i++)
      w[i] = tau[k] * inner(rest + i * n, conjugate, m);
    add_row(w, -tau[k] * inner(v, w, m) / 2, v, m);
    for (int64_t i = 0; i < m; i++) {
      T *row = rest + i * n, x = v[i], y = w[i];
      for (int64_t j = 0; j < m; j++)
        row[j] -= x * CONJ(w[j]) + y * conjugate[j];
    }
  }
  return true;
}

static void rotate_rows(T *x, T *y, int64_t n, double c, double s) {
  for (int64_t k = 0; k < n; k++) {
    T f = y[k];
    y[k] = s * x[k] + c * f;
    x[k] = c * x[k] - s * f;
  }
}

// One sweep from row m up to row l. The rows of z, unless it is NULL, turn too.
static void ql_sweep(double *d, double *e, int64_t l, int64_t m, T *z,
                     int64_t n) {
  double g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, 1);
  g = d[m] - d[l] + e[l] / (g + copysign(r, g));
  double s = 1, c = 1, p = 0;
  for (int64_t i = m - 1; i >= l; i--) {
    double f = s * e[i], b = c * e[i];
    r = hypot(f, g);
    e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= p;
      e[m] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    if (z)
      rotate_rows(z + i * n, z + (i + 1) * n, n, c, s);
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

// d becomes the eigenvalues; e has n items.
static tl_dense_result solve_tridiagonal(tl_vm *vm, double *d, double *e, T *z,
                                         int64_t n) {
  enum { SWEEPS = 60 };
  if (n > 0)
    e[n - 1] = 0;
  for (int64_t l = 0; l < n; l++) {
    for (int sweep = 0;; sweep++) {
      int64_t m = l;
      while (m < n - 1 && fabs(e[m]) > EPSILON * (fabs(d[m]) + fabs(d[m + 1])))
        m++;
      if (m == l)
        break;
      if (sweep == SWEEPS)
        return TL_DENSE_ENDLESS;
      if (!poll_items(vm, (m - l) * n))
        return TL_DENSE_STOPPED;
      ql_sweep(d, e, l, m, z, n);
    }
  }
  return TL_DENSE_DONE;
}

static void complete_hermitian(T *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    a[i * n + i] = REAL(a[i * n + i]);
    for (int64_t j = 0; j < i; j++) a[j * n + i] = CONJ(a[i * n + j]);
  }
}

// The eigenvectors so far are the columns of Q, the rows of z.
static bool start_vectors(tl_vm *vm, const T *a, int64_t n, const T *tau,
                          T *z) {
  reflections r = {.products.vm = vm};
  T *q = new_matrix(vm, n, n);
  bool ok = q && (n < 2 || open_reflections(vm, n - 1, n - 1, &r));
  for (int64_t i = 0; ok && i < n * n; i++) q[i] = i % (n + 1) == 0 ? 1 : 0;
  ok = ok && (n < 2 || form_product(&r, a + n, n, n - 1, n - 1, tau, q + n + 1,
                                    n, n - 1));
  for (int64_t i = 0; ok && i < n; i++)
    for (int64_t j = 0; j < n; j++) z[j * n + i] = q[i * n + j];
  if (n >= 2)
    close_reflections(&r);
  drop_matrix(vm, q, n, n);
  return ok;
}

static tl_dense_result eigh(tl_vm *vm, void *matrix, int64_t n, void *values,
                            void *vectors) {
  T *a = matrix, *v = vectors, *tau = new_matrix(vm, 4, n);
  T *z = vectors ? new_matrix(vm, n, n) : NULL;
  size_t nbytes = ((size_t)n + 1) * 3 * sizeof(double);
  double *d = tl_alloc(vm, nbytes, "the eigenvalues"), *w = values;
  tl_dense_result result = TL_DENSE_STOPPED;
  if (tau && d && (z || !vectors)) {
    double *e = d + n + 1;
    int64_t *order = (int64_t *)(void *)(e + n + 1);
    complete_hermitian(a, n);
    double scale = scale_matrix(a, n * n);
    if (reduce_to_tridiagonal(vm, a, n, d, e, tau, tau + n) &&
        (!z || start_vectors(vm, a, n, tau, z)))
      result = solve_tridiagonal(vm, d, e, z, n);
    if (result == TL_DENSE_DONE &&
        !tl_argsort_items(vm, TL_FLOAT64, order, d, n, false))
      result = TL_DENSE_STOPPED;
    if (result == TL_DENSE_DONE) {
      for (int64_t i = 0; i < n; i++) {
        w[i] = d[order[i]] * scale;
        for (int64_t k = 0; z && k < n; k++) v[k * n + i] = z[order[i] * n + k];
      }
    }
  }
  if (d)
    tl_free(vm, d, nbytes);
  if (z)
    drop_matrix(vm, z, n, n);
  drop_matrix(vm, tau, 4, n);
  return result;
}
