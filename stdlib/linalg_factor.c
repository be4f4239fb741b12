// The module linalg: factorisations of matrices, and eigenvalues.
//
// Each function opens a stack (linalg.h), factors its matrices one by one
// through the table (dense.h), chooses the signs that are left open
// (inner/factors.tly) and gives a record of arrays. Matrices are factored in
// the memory of the stack, which is the call's own; results go to new arrays.

#include "stdlib/families.h"
#include "stdlib/linalg.h"
#include "vm/bytecode/module.h"

// Part number i of an array of parts of so many items.
static char *part(const tl_array *a, int64_t i, int64_t items) {
  return a->data + (size_t)(i * items) * tl_itemsize(tl_array_dtype(a));
}

// --- cholesky ---------------------------------------------------------------

// linalg.cholesky(x, upper).
static bool cholesky(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_matrix_stack s;
  bool ok = true;
  if (!tl_matrices_open(vm, "cholesky", "x", &args[0], true, true,
                        TL_LEAST_FACTORED, &s))
    return false;
  for (int64_t i = 0; ok && i < s.count; i++)
    ok = tl_dense_check(
        vm, "cholesky", &s, i,
        s.table->cholesky(s.table->lapack, vm, tl_matrix(&s, i), s.rows),
        "not positive definite");
  tl_slot lower;
  if (!tl_cast_finish(vm, ok, s.slot.array, s.result, &lower))
    return false;
  if (args[1].i)
    return tl_call_embedded(vm, "inner/arrays", "adjoint", 1, &lower, out);
  *out = lower;
  return true;
}

// --- qr ---------------------------------------------------------------------

// The modes of qr: which parts, and how large.
enum { QR_REDUCED, QR_COMPLETE, QR_R };

// linalg.qr(x, mode).
static bool qr(tl_vm *vm, tl_slot *args, tl_slot *out) {
  static const char *const modes[] = {"reduced", "complete", "r", NULL};
  tl_matrix_stack s;
  int mode;
  if (!tl_arg_choice(vm, "qr", "mode", args[1], modes, &mode) ||
      !tl_matrices_open(vm, "qr", "x", &args[0], false, true, TL_LEAST_FACTORED,
                        &s))
    return false;
  const int64_t m = s.rows, n = s.columns;
  // The columns of Q: all m, or as many as R has rows.
  const int64_t p = mode == QR_COMPLETE || m < n ? m : n;
  const int first = mode == QR_R ? 1 : 0;  // no Q
  tl_array *a[2] = {
      first == 0 ? tl_matrices_new(vm, &s, s.compute, m, p) : NULL,
      tl_matrices_new(vm, &s, s.compute, p, n)};
  bool ok = (a[0] || first == 1) && a[1];
  for (int64_t i = 0; ok && i < s.count; i++) {
    char *q = first == 0 ? part(a[0], i, m * p) : NULL;
    char *r = part(a[1], i, p * n);
    ok = tl_dense_check(
        vm, "qr", &s, i,
        s.table->qr(s.table->lapack, vm, tl_matrix(&s, i), m, n, p, q, r), "");
  }
  return tl_end_factors(vm, "qr", &s, ok, 2, a, s.result, out);
}

// --- svd --------------------------------------------------------------------

// Factors every matrix; u and vh NULL: the values alone. Items must be finite.
static bool svd_stack(tl_vm *vm, const char *function, tl_matrix_stack *s,
                      bool full, tl_array *u, tl_array *values, tl_array *vh) {
  const int64_t m = s->rows, n = s->columns, k = m < n ? m : n;
  // The columns of U and the rows of Vh.
  const int64_t p = full ? m : k, q = full ? n : k;
  bool ok = tl_matrices_finite(vm, function, s);
  for (int64_t i = 0; ok && i < s->count; i++) {
    char *left = u ? part(u, i, m * p) : NULL;
    char *right = vh ? part(vh, i, q * n) : NULL;
    ok = tl_dense_check(vm, function, s, i,
                        s->table->svd(s->table->lapack, vm, tl_matrix(s, i), m,
                                      n, full, left, part(values, i, k), right),
                        "");
  }
  return ok;
}

// linalg.svd(x, full_matrices).
static bool svd(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_matrix_stack s;
  const bool full = args[1].i != 0;
  if (!tl_matrices_open(vm, "svd", "x", &args[0], false, true,
                        TL_LEAST_ITERATED, &s))
    return false;
  const int64_t m = s.rows, n = s.columns, k = m < n ? m : n;
  tl_dtype real = tl_real_dtype(s.compute);
  tl_array *a[3] = {tl_matrices_new(vm, &s, s.compute, m, full ? m : k),
                    tl_matrices_new(vm, &s, real, k, -1),
                    tl_matrices_new(vm, &s, s.compute, full ? n : k, n)};
  bool ok =
      a[0] && a[1] && a[2] && svd_stack(vm, "svd", &s, full, a[0], a[1], a[2]);
  return tl_end_factors(vm, "svd", &s, ok, 3, a, s.result, out);
}

// linalg.svdvals(x).
static bool svdvals(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_matrix_stack s;
  if (!tl_matrices_open(vm, "svdvals", "x", &args[0], false, true,
                        TL_LEAST_ITERATED, &s))
    return false;
  const int64_t k = s.rows < s.columns ? s.rows : s.columns;
  tl_array *a = tl_matrices_new(vm, &s, tl_real_dtype(s.compute), k, -1);
  bool ok = a && svd_stack(vm, "svdvals", &s, false, NULL, a, NULL);
  tl_drop(vm, s.slot);
  return tl_cast_finish(vm, ok, a, tl_real_dtype(s.result), out);
}

// --- Eigenvalues ------------------------------------------------------------

// What the four functions of eigenvalues differ in.
typedef struct eigen {
  const char *function;
  bool hermitian, vectors;
} eigen;

// Computes the values, and the vectors where v is not NULL, of every matrix.
// Items must be finite.
static bool eigen_stack(tl_vm *vm, const eigen *e, tl_matrix_stack *s,
                        tl_array *w, tl_array *v) {
  const int64_t n = s->rows;
  bool ok = tl_matrices_finite(vm, e->function, s);
  for (int64_t i = 0; ok && i < s->count; i++) {
    char *values = part(w, i, n), *vectors = v ? part(v, i, n * n) : NULL;
    void *a = tl_matrix(s, i);
    tl_dense_result result =
        e->hermitian
            ? s->table->eigh(s->table->lapack, vm, a, n, values, vectors)
            : s->table->eig(s->table->lapack, vm, a, n, values, vectors);
    ok = tl_dense_check(vm, e->function, s, i, result, "");
  }
  return ok;
}

// The four functions: eigh has real values, eig complex ones, also of a real
// matrix.
static bool eigenvalues(tl_vm *vm, const eigen *e, tl_slot *args,
                        tl_slot *out) {
  tl_matrix_stack s;
  if (!tl_matrices_open(vm, e->function, "x", &args[0], true, true,
                        TL_LEAST_ITERATED, &s))
    return false;
  const int64_t n = s.rows;
  const bool is_real = !tl_dtype_is_complex(s.compute);
  tl_dtype values = tl_real_dtype(s.compute), vectors = s.compute;
  if (!e->hermitian)
    values = vectors = tl_complex_dtype(s.compute);
  tl_array *a[2] = {tl_matrices_new(vm, &s, values, n, -1), NULL};
  if (e->vectors)
    a[1] = tl_matrices_new(vm, &s, vectors, n, n);
  bool ok = a[0] && (a[1] || !e->vectors) && eigen_stack(vm, e, &s, a[0], a[1]);
  return tl_end_factors(
      vm, e->vectors && !e->hermitian && is_real ? "eig_of_reals" : e->function,
      &s, ok, e->vectors ? 2 : 1, a,
      e->hermitian ? s.result : tl_complex_dtype(s.result), out);
}

// linalg.eigh(x).
static bool eigh(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return eigenvalues(vm, &(eigen){"eigh", true, true}, args, out);
}

// linalg.eigvalsh(x).
static bool eigvalsh(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return eigenvalues(vm, &(eigen){"eigvalsh", true, false}, args, out);
}

// linalg.eig(x).
static bool eig(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return eigenvalues(vm, &(eigen){"eig", false, true}, args, out);
}

// linalg.eigvals(x).
static bool eigvals(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return eigenvalues(vm, &(eigen){"eigvals", false, false}, args, out);
}

// --- The table --------------------------------------------------------------

// Rows that give several arrays give a record, whose fields have the array API
// standard's names.
const tl_builtin tl_linalg_factor_module[] = {
    /// The lower triangle L with L @ conj(L.mT) == x of each positive definite
    /// matrix; its conjugate transpose U, with conj(U.mT) @ U == x, where upper
    /// is true. Only the lower half of x is read. Floats and complex x keep
    /// their dtype, others give float64. A matrix that is not positive definite
    /// is an error (kind domain), one that is not square another (shape).
    ///     linalg.cholesky([[4.0, 2.0], [2.0, 2.0]])    # [[2.0, 0.0], [1.0, 1.0]]
    {"cholesky", "x, upper: false", cholesky, .types = "xb"},
    /// Q with orthonormal columns and the upper triangle R of each matrix, with
    /// Q @ R == x: a record. Of m rows and n columns and with k = min(m, n), Q
    /// is m * k and R is k * n; with mode "complete", m * m and m * n; with "r"
    /// R alone is made, a record of R. The diagonal of R is real and not
    /// negative. Floats and complex x keep their dtype, others give float64.
    /// Fewer than two axes are an error (shape), another mode is one of value.
    ///     linalg.qr([[0.0, 2.0], [1.0, 3.0]]).R    # [[1.0, 3.0], [0.0, 2.0]]
    ///     Q, R = linalg.qr([[0.0, 2.0], [1.0, 3.0]])
    ///     Q @ R    # [[0.0, 2.0], [1.0, 3.0]]
    {"qr", "x, mode: \"reduced\"", qr, .types = "x"},
    /// The singular values S of each matrix, from large to small, and matrices
    /// with orthonormal columns and rows for which U @ diag(S) @ Vh == x: a
    /// record. Of m rows and n columns, U is m * m and Vh is n * n, or without
    /// full_matrices m * k and k * n, k being min(m, n). In each column of U the
    /// first item at least half as large as the largest is real and positive.
    /// Floats of the precision of x, S real. Items that are not finite are an
    /// error (kind domain).
    ///     linalg.svd([[3.0, 0.0], [0.0, 4.0]]).S    # [4.0, 3.0]
    ///     U, S, Vh = linalg.svd([[3.0, 0.0], [0.0, 4.0]])
    ///     S    # [4.0, 3.0]
    {"svd", "x, full_matrices: true", svd, .types = "xb"},
    /// The singular values of each matrix, from large to small: min(m, n) of m
    /// rows and n columns, real floats of the precision of x. Items that are
    /// not finite are an error (kind domain).
    ///     linalg.svdvals([[0.0, 2.0], [1.0, 0.0]])    # [2.0, 1.0]
    {"svdvals", "x", svdvals},
    /// The eigenvalues of each symmetric or Hermitian matrix, ascending and
    /// real, and orthonormal eigenvectors in the columns of a matrix: a record.
    /// Only the lower half of x is read. In each column the first item at least
    /// half as large as the largest is real and positive. Floats of the
    /// precision of x. Items that are not finite are an error (kind domain), a
    /// matrix that is not square is another (shape).
    ///     linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues    # [1.0, 2.0]
    ///     w, v = linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
    ///     w    # [1.0, 2.0]
    {"eigh", "x", eigh},
    /// The eigenvalues of each symmetric or Hermitian matrix, ascending: those
    /// of eigh without its vectors, with the same dtypes and errors.
    ///     linalg.eigvalsh([[3.0, 0.0], [0.0, -1.0]])    # [-1.0, 3.0]
    {"eigvalsh", "x", eigvalsh},
    /// The eigenvalues of each square matrix and eigenvectors of length 1 in
    /// the columns of another: a record of complex arrays of the precision of
    /// x. Values ascend by real part, then by imaginary part. In each column
    /// the first item at least half as large as the largest is real and
    /// positive. Items that are not finite are an error (kind domain), a matrix
    /// that is not square is another (shape).
    ///     linalg.eig([[2.0, 1.0], [0.0, 1.0]]).eigenvalues.real    # [1.0, 2.0]
    ///     w, v = linalg.eig([[2.0, 1.0], [0.0, 1.0]])
    ///     w.real    # [1.0, 2.0]
    {"eig", "x", eig},
    /// The eigenvalues of each square matrix: those of eig without its vectors,
    /// in the same order, with the same dtypes and errors.
    ///     linalg.eigvals([[0.0, 1.0], [-1.0, 0.0]])    # [0.0 - 1.0i, 0.0 + 1.0i]
    {"eigvals", "x", eigvals},
    {.name = NULL},
};
