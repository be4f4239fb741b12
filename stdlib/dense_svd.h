// Singular values by one-sided Jacobi rotations (Hestenes 1958; Demmel and
// Veselic 1992: small singular values come out exactly). The eigenvectors of
// the rows' products make them nearly orthogonal first, so that few sweeps are
// left. See dense_work.h.

// to (columns by rows) = the adjoint of from (rows by columns), or of its rows
// in an order. A stop shows in the next poll.
static void adjoint_into(tl_vm *vm, T *to, const T *from, const int64_t *order,
                         int64_t rows, int64_t columns) {
  if (!tl_touch(vm, to, (size_t)(rows * columns) * sizeof(T)))
    return;
  for (int64_t i = 0; i < rows && poll_row(vm, i, columns); i++) {
    const T *row = from + (order ? order[i] : i) * columns;
    for (int64_t j = 0; j < columns && tl_poll_at(vm, j); j++)
      to[j * rows + i] = CONJ(row[j]);
  }
}

// Sets j to rotations that make the n rows of x nearly orthogonal, longest
// first, and applies them. False after tl_fail.
static bool start_rotations(tl_vm *vm, T *x, int64_t n, T *j) {
  space s = {.vm = vm};
  room r;
  T *adjoint = need_matrix(&s, n, n), *products = need_matrix(&s, n, n);
  T *vectors = need_matrix(&s, n, n);
  double *values = need_words(&s, n, "the values");
  bool ok = need_room(&s, n, n, &r);
  // x x^H has the left vectors of x; its small eigenvalues are inexact, which
  // the sweeps repair.
  operand rows = {x, n, 1}, columns = {adjoint, n, 1}, turns = {j, n, 1};
  if (ok)
    adjoint_into(vm, adjoint, x, NULL, n, n);
  ok = ok && product(&r, products, n, rows, columns, n, n, n, false);
  tl_dense_result result =
      ok ? eigh(NULL, vm, products, n, values, vectors) : TL_DENSE_STOPPED;
  // Without eigenvectors the rotations begin from nothing.
  for (int64_t i = 0; ok && i < n && poll_row(vm, i, n); i++)
    for (int64_t k = 0; k < n; k++)
      j[i * n + k] = result == TL_DENSE_DONE ? CONJ(vectors[k * n + n - 1 - i])
                                             : (T)(i == k);
  ok = ok && result != TL_DENSE_STOPPED &&
       product(&r, products, n, turns, rows, n, n, n, false);
  ok = ok && tl_copy_bytes(vm, x, products, (size_t)(n * n) * sizeof(T));
  leave(&s);
  return ok;
}

// Rotates two rows by an angle of sine s, half of whose tangent is [half]: as
// corrections, so that lengths stay exact to the last digit (Rutishauser
// 1966).
static void turn_pair(T *x, T *y, int64_t n, double s, double half, T phase) {
  const T back = CONJ(phase);
  for (int64_t k = 0; k < n; k++) {
    T f = x[k], g = y[k];
    x[k] = f - s * (phase * g + half * f);
    y[k] = g + s * (back * f - half * g);
  }
}

static const double SHORTEST = 0x1p-900;  // square of a row that is rotated

// The uncertainty of products of rows of n items, relative to their lengths.
static double rounding(int64_t n) {
  return EPSILON * fmax(2, sqrt((double)n));
}

// Where a rotation took most of a row, its length is known from the row alone.
// A length that is no more than the rotation's rounding errors, or too short
// for its square, is 0.
static void measure_again(T *x, int64_t n, double before, double *square) {
  const double noise = 8 * rounding(n);
  if (*square >= before / 16 && *square > SHORTEST)
    return;
  *square = REAL(inner(x, x, n));
  if (*square > fmax(noise * noise * before, SHORTEST))
    return;
  for (int64_t i = 0; i < n; i++) x[i] = 0;
  *square = 0;
}

// Rotates rows x and y so that they become orthogonal, and those of j alike;
// [square] holds the rows' squared lengths. False: they already were.
static bool turn_rows(T *x, T *y, int64_t n, T *jx, T *jy, double *square_x,
                      double *square_y) {
  T dot = inner(x, y, n);
  double size = ABS(dot);
  if (!(size > rounding(n) * sqrt(*square_x) * sqrt(*square_y)))
    return false;
  T phase = dot / size;
  // The smaller of the two angles that make the rows orthogonal.
  double zeta = (*square_y - *square_x) / (2 * size);
  double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta));
  double c = 1 / sqrt(1 + t * t), s = c * t;
  turn_pair(x, y, n, s, s / (1 + c), phase);
  if (jx)
    turn_pair(jx, jy, n, s, s / (1 + c), phase);
  double before_x = *square_x, before_y = *square_y;
  *square_x -= t * size;
  *square_y += t * size;
  measure_again(x, n, before_x, square_x);
  measure_again(y, n, before_y, square_y);
  return true;
}

// Sweeps over all pairs until none is rotated: the n rows of x become
// orthogonal; j, if not NULL, is the product of the rotations.
static tl_dense_result make_orthogonal(tl_vm *vm, T *x, int64_t n, T *j,
                                       double *square) {
  // A few are usual; NaN must come to an end.
  enum { SWEEPS = 60 };
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    // A sweep in which nothing was rotated proves that all rows are
    // orthogonal.
    bool rotated = false;
    for (int64_t i = 0; i < n && poll_row(vm, i, n); i++)
      square[i] = REAL(inner(x + i * n, x + i * n, n));
    for (int64_t p = 0; p < n; p++) {
      if (!poll_items(vm, n * n * 4))
        return TL_DENSE_STOPPED;
      for (int64_t q = p + 1; q < n && poll_row(vm, q, 6 * n); q++)
        rotated |= turn_rows(x + p * n, x + q * n, n, j ? j + p * n : NULL,
                             j ? j + q * n : NULL, &square[p], &square[q]);
    }
    if (tl_failed(vm))
      return TL_DENSE_STOPPED;
    if (!rotated)
      return TL_DENSE_DONE;
  }
  return TL_DENSE_ENDLESS;
}

// Of the q rows of v (n items each) the first [known] are orthonormal: makes
// the others so too, by a QR factorisation. False after tl_fail.
static bool complete_rows(tl_vm *vm, T *v, int64_t known, int64_t q,
                          int64_t n) {
  if (known == q)
    return true;
  space s = {.vm = vm};
  reflections r;
  T *columns = need_matrix(&s, n, known), *full = need_matrix(&s, n, q);
  T *tau = need_matrix(&s, 1, known);
  bool ok = need_reflections(&s, n, q, known, &r);
  if (ok)
    adjoint_into(vm, columns, v, NULL, known, n);
  ok = ok && reduce_to_triangle(&r, columns, n, known, tau) &&
       form_product(&r, columns, known, n, known, tau, full, q, q);
  for (int64_t i = 0; ok && i < n && poll_row(vm, i, q); i++)
    for (int64_t k = known; k < q; k++) v[k * n + i] = CONJ(full[i * q + k]);
  leave(&s);
  return ok && !tl_failed(vm);
}

// The work for a tall matrix: R, the rotations, Q of m rows and p columns,
// lengths and their order.
typedef struct jacobi {
  int64_t m, n, p;
  T *r, *turns, *q;
  double *length;
  int64_t *order;
} jacobi;

// u = Q times the adjoint of the rotations, in order; with p columns. Columns
// from n on, of a full u, are those of Q as they are.
static bool left_vectors(tl_vm *vm, jacobi *j, T *u) {
  const int64_t n = j->n, p = j->p;
  space s = {.vm = vm};
  room r;
  T *adjoint = need_matrix(&s, n, n);
  bool ok = need_room(&s, n, n, &r);
  if (ok)
    adjoint_into(vm, adjoint, j->turns, j->order, n, n);
  operand left = {j->q, p, 1}, right = {adjoint, n, 1};
  ok = ok && product(&r, u, p, left, right, j->m, n, n, false);
  for (int64_t i = 0; ok && i < j->m && poll_row(vm, i, p); i++)
    for (int64_t k = n; k < p; k++) u[i * p + k] = j->q[i * p + k];
  leave(&s);
  return ok && !tl_failed(vm);
}

// vh: the rows divided by their lengths. Rows of length 0, and those that are
// only rounding errors, get another direction.
static bool right_vectors(tl_vm *vm, const jacobi *j, T *vh) {
  const int64_t n = j->n;
  // Values fall, so the rows of length 0 are the last ones.
  int64_t known = 0;
  for (; known < n; known++) {
    const T *row = j->r + j->order[known] * n;
    double length = j->length[j->order[known]];
    if (length <= DBL_MIN)
      break;
    for (int64_t i = 0; i < n && tl_poll_at(vm, i); i++)
      vh[known * n + i] = row[i] / length;
  }
  return complete_rows(vm, vh, known, n, n);
}

// The decomposition of a of m rows, m >= n: u m by p, vh n by n, both or none.
// Steps: QR, rotations from eigenvectors, Jacobi's sweeps over R's rows,
// lengths as values. Built for size.
__attribute__((cold)) static tl_dense_result svd_tall(tl_vm *vm, T *a,
                                                      int64_t m, int64_t n,
                                                      int64_t p, T *u,
                                                      double *s, T *vh) {
  space work = {.vm = vm};
  jacobi j = {.m = m, .n = n, .p = p};
  j.r = need_matrix(&work, p, n);
  j.turns = need_matrix(&work, n, n);
  j.q = u ? need_matrix(&work, m, p) : NULL;
  j.length = need_words(&work, n, "the values");
  j.order = need_words(&work, n, "the pivots");
  // The values are scaled back at the end.
  double scale = scale_matrix(vm, a, m * n);
  tl_dense_result result = TL_DENSE_STOPPED;
  if (!work.failed)
    result = qr(NULL, vm, a, m, n, p, j.q, j.r);
  if (result == TL_DENSE_DONE && !start_rotations(vm, j.r, n, j.turns))
    result = TL_DENSE_STOPPED;
  if (result == TL_DENSE_DONE)
    result = make_orthogonal(vm, j.r, n, u ? j.turns : NULL, j.length);
  if (result == TL_DENSE_DONE) {
    for (int64_t i = 0; i < n; i++)
      j.length[i] = length_of(vm, j.r + i * n, 1, n);
    if (!tl_argsort_items(vm, TL_FLOAT64, j.order, j.length, n, true) ||
        (u && !(left_vectors(vm, &j, u) && right_vectors(vm, &j, vh))))
      result = TL_DENSE_STOPPED;
    // Without an order of them there are no values.
    for (int64_t i = 0; result == TL_DENSE_DONE && i < n; i++)
      s[i] = j.length[j.order[i]] * scale;
  }
  leave(&work);
  return result;
}

// See tl_dense. A wide matrix is the adjoint of a tall one: u and v change
// places.
static tl_dense_result svd(const tl_lapack *f, tl_vm *vm, void *a, int64_t m,
                           int64_t n, bool full, void *u, void *s, void *vh) {
  if (m >= n)
    return svd_tall(vm, a, m, n, full ? m : n, u, s, vh);
  const int64_t p = full ? n : m;
  space work = {.vm = vm};
  T *tall = need_matrix(&work, n, m);
  T *left = u ? need_matrix(&work, n, p) : NULL;
  T *right = u ? need_matrix(&work, m, m) : NULL;
  tl_dense_result result = TL_DENSE_STOPPED;
  if (!work.failed) {
    adjoint_into(vm, tall, a, NULL, m, n);
    result = svd_tall(vm, tall, n, m, p, left, s, right);
  }
  if (result == TL_DENSE_DONE && u) {
    adjoint_into(vm, u, right, NULL, m, m);
    adjoint_into(vm, vh, left, NULL, n, p);
  }
  leave(&work);
  return tl_failed(vm) ? TL_DENSE_STOPPED : result;
}
