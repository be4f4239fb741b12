// Eigenvalues of Hermitian matrices: Householder's reduction to a tridiagonal
// one, in panels of columns (Dongarra, Hammarling and Sorensen 1989), then
// implicit QL with Wilkinson's shift (Bowdler, Martin, Reinsch, Wilkinson
// 1968). See dense_work.h.

// Columns are reduced in panels: the matrix stays as it was before the panel,
// and its rank-2 updates so far are W's: row i of [vw] holds v of each column,
// then w, so that A - V W^H - W V^H is the matrix now. The updates of a panel
// cost its columns' length each time a column is needed, so it is narrower than
// the BLOCK of other factorisations.
enum { PANEL = 32, BOTH = 2 * PANEL };

// The work of one panel.
typedef struct panel {
  T *vw, *vectors;  // n rows of BOTH; room for 3 n
  T *adjoint;       // BOTH rows of n
  room products;
} panel;

// For matrices of n rows. False where memory was short.
static bool need_panel(space *s, int64_t n, panel *p) {
  p->vw = need_matrix(s, n, BOTH);
  p->adjoint = need_matrix(s, BOTH, n);
  p->vectors = need_matrix(s, 3, n);
  return need_room(s, n, BOTH, &p->products);
}

// Column k as it is now, from the diagonal down; [count] columns of the panel
// came before it.
static void update_column(T *a, int64_t n, int64_t k, const T *vw,
                          int64_t count) {
  // A's column is that before the panel: its updates are applied when it is
  // needed.
  const T *here = vw + k * BOTH;
  for (int64_t i = k; i < n; i++) {
    const T *row = vw + i * BOTH;
    a[i * n + k] -=
        inner(row, here + PANEL, count) + inner(row + PANEL, here, count);
  }
}

// w = tau (A - V W^H - W V^H) v, less (tau w^H v / 2) v; v has m items, which
// are rows and columns n - m to n.
static void panel_vector(const panel *p, const T *a, int64_t n, int64_t m,
                         int64_t count, T tau, const T *v, T *w) {
  const ptrdiff_t size = sizeof(T);
  const T *vw = p->vw + (n - m) * BOTH, *rest = a + (n - m) * (n + 1);
  T transposed[BOTH] = {0};  // the conjugates of W^H v, then of V^H v
  for (int64_t i = 0; i < m; i++) {
    w[i] = 0;
    add_row(transposed, CONJ(v[i]), vw + i * BOTH + PANEL, count);
    add_row(transposed + PANEL, CONJ(v[i]), vw + i * BOTH, count);
  }
  // The product with the old matrix, then the corrections of V and W: half of
  // all the work, by a kernel.
  enum { ROWS = 64 };
  for (int64_t i = 0, k; i < m && poll_row(p->products.vm, i / ROWS, ROWS * m);
       i += k) {
    k = m - i < ROWS ? m - i : ROWS;
    tl_kernels()->gemv[DTYPE](w + i, rest + i * n, n * size, size, v, size,
                              (size_t)k, (size_t)m);
  }
  for (int64_t i = 0; i < m; i++)
    w[i] = tau * (w[i] - inner(vw + i * BOTH, transposed, count) -
                  inner(vw + i * BOTH + PANEL, transposed + PANEL, count));
  add_row(w, -tau * inner(v, w, m) / 2, v, m);
}

// Subtracts V W^H + W V^H from the part of a from row [from] on. False where
// the VM was stopped.
static bool apply_panel(panel *p, T *a, int64_t n, int64_t from,
                        int64_t count) {
  const int64_t m = n - from;
  const T *vw = p->vw + from * BOTH;
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < count; j++) {
      p->adjoint[j * m + i] = CONJ(vw[i * BOTH + PANEL + j]);
      p->adjoint[(PANEL + j) * m + i] = CONJ(vw[i * BOTH + j]);
    }
  T *rest = a + from * (n + 1);
  for (int half = 0; half < 2; half++) {
    operand left = {vw + half * PANEL, BOTH, 1};
    operand right = {p->adjoint + half * PANEL * m, m, 1};
    if (!product(&p->products, rest, n, left, right, m, m, count, true))
      return false;
  }
  return true;
}

// a, both halves of which are there, becomes tridiagonal: d on the diagonal, e
// beside it; the reflections stay below. False where the VM was stopped.
static bool reduce_to_tridiagonal(tl_vm *vm, T *a, int64_t n, double *d,
                                  double *e, T *tau) {
  space s = {.vm = vm};
  panel p;
  bool ok = need_panel(&s, n, &p);
  for (int64_t from = 0; ok && from < n; from += PANEL) {
    int64_t end = from + PANEL < n ? from + PANEL : n;
    for (int64_t k = from; ok && k < end; k++) {
      const int64_t m = n - k - 1, count = k - from;
      T *column = a + (k + 1) * n + k, *v = p.vectors, *w = v + n;
      update_column(a, n, k, p.vw, count);
      d[k] = REAL(a[k * n + k]);
      if (m == 0)
        break;
      tau[k] = reflect(vm, column, n, m);
      e[k] = REAL(column[0]);
      ok = poll_items(vm, m * (m + 2 * BOTH));
      for (int64_t i = 0; i < m; i++) v[i] = i == 0 ? 1 : column[i * n];
      panel_vector(&p, a, n, m, count, tau[k], v, w);
      for (int64_t i = 0; i < m; i++) {
        p.vw[(k + 1 + i) * BOTH + count] = v[i];
        p.vw[(k + 1 + i) * BOTH + PANEL + count] = w[i];
      }
    }
    ok = ok && (end == n || apply_panel(&p, a, n, end, end - from));
  }
  leave(&s);
  return ok;
}

// The rotations of some sweeps, which are applied to the rows of z (2 * n
// doubles if they are complex) all at once: strip by strip of columns, while a
// strip is in the cache.
enum { CHAINS = 32, STRIP_ITEMS = 32 };

typedef struct sweeps {
  tl_vm *vm;
  double *z;  // NULL: no vectors are wanted
  int64_t n, width;
  double *c, *s;  // CHAINS * n each
  int64_t count;
  int64_t begin[CHAINS], rotations[CHAINS];  // sweep i: rows from begin on
} sweeps;

// Applies and forgets the rotations. False where the VM was stopped.
static bool apply_sweeps(sweeps *w) {
  int64_t rotations = 0;
  for (int64_t i = 0; i < w->count; i++) rotations += w->rotations[i];
  for (int64_t j = 0; j < w->width && w->count > 0; j += STRIP_ITEMS) {
    int64_t columns = w->width - j < STRIP_ITEMS ? w->width - j : STRIP_ITEMS;
    for (int64_t i = 0;
         i < w->count && poll_row(w->vm, i, w->rotations[i] * columns); i++)
      tl_kernels()->turn_rows(
          w->z + w->begin[i] * w->width + j, (size_t)w->width, w->c + i * w->n,
          w->s + i * w->n, (size_t)w->rotations[i], (size_t)columns);
    if (!poll_items(w->vm, rotations * columns))
      return false;
  }
  w->count = 0;
  return true;
}

// One implicit QL sweep from row m up to row l with Wilkinson's shift, whose
// rotations are noted in [w].
static void ql_sweep(double *d, double *e, int64_t l, int64_t m, sweeps *w) {
  double *cosine = NULL, *sine = NULL;
  // Wilkinson's shift: the eigenvalue of the first two rows that is nearer to
  // d[l].
  double g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, 1);
  g = d[m] - d[l] + e[l] / (g + copysign(r, g));
  double s = 1, c = 1, p = 0;
  int64_t from = l;
  if (w->z) {
    cosine = w->c + w->count * w->n;
    sine = w->s + w->count * w->n;
  }
  for (int64_t i = m - 1; i >= l; i--) {
    double f = s * e[i], b = c * e[i];
    r = hypot(f, g);
    e[i + 1] = r;
    // The chain ends early: the matrix separates at this row.
    if (r == 0) {
      d[i + 1] -= p;
      e[m] = 0;
      from = i + 1;
      break;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    if (w->z) {
      cosine[i - l] = c;
      sine[i - l] = s;
    }
  }
  if (from == l) {
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
  }
  if (!w->z)
    return;
  // The chain begins with row [from]: the list, too.
  memmove(cosine, cosine + from - l, (size_t)(m - from) * sizeof *cosine);
  memmove(sine, sine + from - l, (size_t)(m - from) * sizeof *sine);
  w->begin[w->count] = from;
  w->rotations[w->count++] = m - from;
}

// The first row from l on that nothing but rounding errors joins with the
// next; [least] counts as rounding in any case.
static int64_t part_end(const double *d, const double *e, int64_t l, int64_t n,
                        double least) {
  int64_t m = l;
  while (m < n - 1 &&
         fabs(e[m]) > fmax(least, EPSILON * (fabs(d[m]) + fabs(d[m + 1]))))
    m++;
  return m;
}

// d becomes the eigenvalues; e has n items. The rows of z, unless it is NULL,
// are rotated with them and become the eigenvectors.
static tl_dense_result solve_tridiagonal(tl_vm *vm, double *d, double *e, T *z,
                                         int64_t n) {
  // Sweeps for one eigenvalue; it takes two or three.
  enum { MOST = 60 };
  space s = {.vm = vm};
  sweeps w = {.vm = vm, .z = (double *)z, .n = n};
  w.width = n * (int64_t)(sizeof(T) / sizeof(double));
  if (z)
    w.c = need_words(&s, n * CHAINS * 2, "the rotations");
  w.s = w.c ? w.c + n * CHAINS : NULL;
  tl_dense_result result = s.failed ? TL_DENSE_STOPPED : TL_DENSE_DONE;
  double most = 0;
  if (n > 0)
    e[n - 1] = 0;
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(d[i]) + fabs(e[i]));
  for (int64_t l = 0; result == TL_DENSE_DONE && l < n; l++) {
    for (int sweep = 0; result == TL_DENSE_DONE; sweep++) {
      // Small eigenvalues are exact, unless that does not come to an end.
      int64_t m = part_end(d, e, l, n, sweep < MOST / 2 ? 0 : EPSILON * most);
      if (m == l)
        break;
      if (sweep == MOST)
        result = TL_DENSE_ENDLESS;
      else if (!poll_items(vm, m - l) ||
               (w.count == CHAINS && !apply_sweeps(&w)))
        result = TL_DENSE_STOPPED;
      else
        ql_sweep(d, e, l, m, &w);
    }
  }
  if (result == TL_DENSE_DONE && !apply_sweeps(&w))
    result = TL_DENSE_STOPPED;
  leave(&s);
  return result;
}

// Fills the upper half from the lower one, and makes the diagonal real.
static void complete_hermitian(tl_vm *vm, T *a, int64_t n) {
  for (int64_t i = 0; i < n && poll_row(vm, i, n); i++) {
    a[i * n + i] = REAL(a[i * n + i]);
    for (int64_t j = 0; j < i; j++) a[j * n + i] = CONJ(a[i * n + j]);
  }
}

// The eigenvectors so far are the columns of Q, which become the rows of z.
// Also used for Hessenberg's form. Q is the product of the reflections below
// the first row and column, which it leaves as they are. False where the VM was
// stopped or memory is short.
__attribute__((cold)) static bool start_vectors(tl_vm *vm, const T *a,
                                                int64_t n, const T *tau, T *z) {
  space s = {.vm = vm};
  reflections r;
  T *q = need_matrix(&s, n, n);
  bool ok = q && (n < 2 || need_reflections(&s, n - 1, n - 1, n - 1, &r));
  for (int64_t i = 0; ok && i < n && poll_row(vm, i, n); i++)
    for (int64_t j = 0; j < n; j++) q[i * n + j] = i == j ? 1 : 0;
  ok = ok && (n < 2 || form_product(&r, a + n, n, n - 1, n - 1, tau, q + n + 1,
                                    n, n - 1));
  for (int64_t i = 0; ok && i < n && poll_row(vm, i, n); i++)
    for (int64_t j = 0; j < n; j++) z[j * n + i] = q[i * n + j];
  leave(&s);
  return ok && !tl_failed(vm);
}

// See tl_dense. Vectors are rows while they are rotated, and columns of the
// result in the order of the values. Built for size: kernels do the work.
__attribute__((cold)) static tl_dense_result eigh(const tl_lapack *f, tl_vm *vm,
                                                  void *matrix, int64_t n,
                                                  void *values, void *vectors) {
  space s = {.vm = vm};
  T *a = matrix, *v = vectors, *tau = need_matrix(&s, 1, n);
  T *z = vectors ? need_matrix(&s, n, n) : NULL;
  double *d = need_words(&s, 3 * n + 2, "the eigenvalues"), *w = values;
  tl_dense_result result = TL_DENSE_STOPPED;
  if (!s.failed && (!v || tl_touch(vm, v, (size_t)(n * n) * sizeof(T)))) {
    double *e = d + n + 1;
    int64_t *order = (int64_t *)(void *)(e + n + 1);
    complete_hermitian(vm, a, n);
    // Values are scaled back; vectors do not change.
    double scale = scale_matrix(vm, a, n * n);
    if (reduce_to_tridiagonal(vm, a, n, d, e, tau) &&
        (!z || start_vectors(vm, a, n, tau, z)))
      result = solve_tridiagonal(vm, d, e, z, n);
    if (result == TL_DENSE_DONE &&
        !tl_argsort_items(vm, TL_FLOAT64, order, d, n, false))
      result = TL_DENSE_STOPPED;
    for (int64_t i = 0; result == TL_DENSE_DONE && i < n; i++) {
      if (!poll_row(vm, i, n))
        result = TL_DENSE_STOPPED;
      w[i] = d[order[i]] * scale;
      for (int64_t k = 0; z && k < n; k++) v[k * n + i] = z[order[i] * n + k];
    }
  }
  leave(&s);
  return result;
}
