// Householder reflections and QR, in blocks of columns (Schreiber and Van Loan
// 1989: the product of k reflections is I - V T V^H). See dense_work.h.

// The reflection H = I - tau v v^H, v[0] being 1, for which H^H x is a
// multiple of the first axis; returns tau. x is overwritten: that multiple,
// which is real, then the rest of v. A stop shows in the next poll.
static T reflect(tl_vm *vm, T *x, int64_t step, int64_t n) {
  double rest = length_of(vm, x + step, step, n - 1);
  if (n < 1 || (rest == 0 && ABS1(x[0]) == fabs(REAL(x[0]))))
    return 0;
  double size = hypot(ABS(x[0]), rest);
  if ((size < 0x1p-480 || size > 0x1p480) && isfinite(size) && !tl_failed(vm)) {
    // Inverses, of complex items also squares, would not be finite.
    const double lift = size < 1 ? 0x1p600 : 0x1p-600;
    for (int64_t i = 0; i < n && tl_poll_at(vm, i); i++) x[i * step] *= lift;
    T tau = reflect(vm, x, step, n);
    x[0] /= lift;
    return tau;
  }
  // The sign that avoids cancellation in x[0] - beta.
  double beta = -copysign(size, REAL(x[0]));
  T tau = (beta - x[0]) / beta, scale = 1 / (x[0] - beta);
  for (int64_t i = 1; i < n && tl_poll_at(vm, i); i++) x[i * step] *= scale;
  x[0] = beta;
  return tau;
}

// a := (I - f v v^H) a for m rows of n items; v as reflect leaves it, [w] has
// room for n. Of long rows some columns at a time.
static void apply_reflection(tl_vm *vm, T *a, int64_t a_row, int64_t m,
                             int64_t n, const T *v, int64_t step, T f, T *w) {
  enum { COLUMNS = 1 << 14 };
  for (int64_t k; f != 0 && n > 0; a += k, n -= k) {
    k = n < COLUMNS ? n : COLUMNS;
    memcpy(w, a, (size_t)k * sizeof(T));
    for (int64_t i = 1; i < m && poll_row(vm, i, k); i++)
      add_row(w, CONJ(v[i * step]), a + i * a_row, k);
    add_row(a, -f, w, k);
    for (int64_t i = 1; i < m && poll_row(vm, i, k); i++)
      add_row(a + i * a_row, -f * v[i * step], w, k);
    if (k < n && !poll_row(vm, 0, k))
      return;
  }
}

// What blocks of reflections need: V as a matrix of its own, its adjoint, the
// triangle of the block, and V^H times the matrix that it is applied to.
typedef struct reflections {
  room products;
  T *v, *adjoint, *triangle, *w;
} reflections;

// For matrices of m rows and n columns. [count]: of how many reflections there
// are blocks; 0: they are applied one by one, which needs w alone. False where
// memory was short.
static bool need_reflections(space *s, int64_t m, int64_t n, int64_t count,
                             reflections *r) {
  // Narrow matrices need no full block.
  const int64_t block = count < BLOCK ? count : BLOCK;
  *r = (reflections){.products.vm = s->vm};
  r->w = need_matrix(s, block + 1, n);
  if (block == 0)
    return !s->failed;
  r->v = need_matrix(s, m, block);
  r->adjoint = need_matrix(s, block, m);
  r->triangle = need_matrix(s, block, block);
  return need_room(s, n, m, &r->products);
}

// Sets V and T from k reflections whose vectors lie in the columns of a, m
// rows below one another.
static void gather_block(reflections *r, const T *a, int64_t a_row, int64_t m,
                         int64_t k, const T *tau) {
  tl_vm *vm = r->products.vm;
  for (int64_t i = 0; i < m && poll_row(vm, i, k); i++) {
    for (int64_t j = 0; j < k; j++) {
      T item = i == j ? 1 : i < j ? 0 : a[i * a_row + j];
      r->v[i * k + j] = item;
      r->adjoint[j * m + i] = CONJ(item);
    }
  }
  for (int64_t j = 0; j < k; j++) {
    T *t = r->triangle;
    for (int64_t p = 0; p < j; p++) {
      r->w[p] = inner(r->adjoint + p * m + j, r->adjoint + j * m + j, m - j);
      if (!poll_row(vm, p, m))
        return;
    }
    for (int64_t p = 0; p < k; p++) t[p * k + j] = 0;
    for (int64_t p = 0; p < j; p++)
      for (int64_t q = p; q < j; q++)
        t[p * k + j] -= tau[j] * t[p * k + q] * r->w[q];
    t[j * k + j] = tau[j];
  }
}

// c := (I - V T V^H) c, or its adjoint; c has m rows of n items. False where
// the VM was stopped.
static bool apply_block(reflections *r, T *c, int64_t c_row, int64_t m,
                        int64_t n, int64_t k, bool adjoint) {
  operand v = {r->v, k, 1}, vh = {r->adjoint, m, 1}, right = {c, c_row, 1};
  if (n == 0 || m == 0)
    return true;
  if (!product(&r->products, r->w, n, vh, right, k, n, m, false))
    return false;
  const T *t = r->triangle;
  for (int64_t p = 0; p < k; p++) {
    int64_t i = adjoint ? k - 1 - p : p;
    T *row = r->w + i * n, on_diagonal = t[i * k + i];
    if (adjoint)
      on_diagonal = CONJ(on_diagonal);
    for (int64_t j = 0; j < n; j++) row[j] *= on_diagonal;
    for (int64_t q = adjoint ? 0 : i + 1;
         q < (adjoint ? i : k) && poll_row(r->products.vm, q, n); q++)
      add_row(row, adjoint ? CONJ(t[q * k + i]) : t[i * k + q], r->w + q * n,
              n);
  }
  operand w = {r->w, n, 1};
  return product(&r->products, c, c_row, v, w, m, n, k, true);
}

// a (m rows of n items) becomes R with the reflections below its diagonal.
// False where the VM was stopped.
//
//   R  R  R     A block of columns is reduced one by one. The columns to its
//   v  R  R     right are updated by all its reflections at once: there the
//   v  v  R     product does the work.
//   v  v  v
static bool reduce_to_triangle(reflections *r, T *a, int64_t m, int64_t n,
                               T *tau) {
  tl_vm *vm = r->products.vm;
  int64_t count = m < n ? m : n;
  for (int64_t k = 0; k < count; k += BLOCK) {
    int64_t width = count - k < BLOCK ? count - k : BLOCK;
    for (int64_t j = k; j < k + width; j++) {
      T *at = a + j * n + j;
      tau[j] = reflect(vm, at, n, m - j);
      if (!poll_items(vm, (m - j) * width))
        return false;
      apply_reflection(vm, at + 1, n, m - j, k + width - j - 1, at, n,
                       CONJ(tau[j]), r->w);
    }
    T *at = a + k * n + k;
    if (k + width == n)
      break;
    gather_block(r, at, n, m - k, width, tau + k);
    if (!apply_block(r, at + width, n, m - k, n - k - width, width, true))
      return false;
  }
  return true;
}

// The first p columns of the product of [count] reflections, which lie in the
// columns of a; q has m rows, q_row items from one to the next. From the last
// block back, so that each is applied to as few columns as are not 0.
static bool form_product(reflections *r, const T *a, int64_t a_row, int64_t m,
                         int64_t count, const T *tau, T *q, int64_t q_row,
                         int64_t p) {
  for (int64_t i = 0; i < m && poll_row(r->products.vm, i, p); i++)
    for (int64_t j = 0; j < p; j++) q[i * q_row + j] = i == j ? 1 : 0;
  for (int64_t k = (count - 1) / BLOCK * BLOCK; count > 0 && k >= 0;
       k -= BLOCK) {
    int64_t width = count - k < BLOCK ? count - k : BLOCK;
    gather_block(r, a + k * a_row + k, a_row, m - k, width, tau + k);
    if (!apply_block(r, q + k * q_row + k, q_row, m - k, p - k, width, false))
      return false;
  }
  return true;
}

// See tl_dense.
static tl_dense_result qr(const tl_lapack *f, tl_vm *vm, void *matrix,
                          int64_t m, int64_t n, int64_t p, void *q,
                          void *upper) {
  T *a = matrix, *r = upper;
  // The reflections are applied to a's n columns and to q's p.
  int64_t wide = n > p ? n : p;
  space s = {.vm = vm};
  T *tau = need_matrix(&s, 1, n);
  reflections work;
  // R of few columns is made without blocks.
  const int64_t count = q == NULL && n <= m && n <= BLOCK ? 0 : m < n ? m : n;
  bool ok =
      need_reflections(&s, m, wide, count, &work) &&
      reduce_to_triangle(&work, a, m, n, tau) &&
      (q == NULL || form_product(&work, a, n, m, m < n ? m : n, tau, q, p, p));
  for (int64_t i = 0; ok && i < p && poll_row(vm, i, n); i++)
    for (int64_t j = 0; j < n; j++) r[i * n + j] = i <= j ? a[i * n + j] : 0;
  return leave_with(&s, ok && !tl_failed(vm));
}
