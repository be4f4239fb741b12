// A loaded LAPACK as a table of factorisations.
//
// Fortran stores matrices by columns, so that it sees the transpose of each of
// ours. None is transposed for it: each function below asks for a
// factorisation whose result, read by rows again, is the wanted one.

#include <limits.h>
#include <stddef.h>

#include "stdlib/dense.h"
#include "vm/array/array.h"
#include "vm/engine/blas.h"
#include "vm/kernels/kernels.h"
#include "vm/vm.h"

// Longer sides would overflow the library's integers. A library cannot be
// stopped: under a limit of time or instructions only what it does in some
// milliseconds is given to it.
enum { MOST_SIDE = 30000, MOST_LIMITED = 128 };

// --- The functions ----------------------------------------------------------

// Texts are followed by their lengths, at the end.
typedef void getrf_fn(const int *m, const int *n, void *a, const int *lda,
                      int *pivot, int *info);
typedef void getrs_fn(const char *trans, const int *n, const int *nrhs,
                      const void *a, const int *lda, const int *pivot, void *b,
                      const int *ldb, int *info, size_t);
typedef void potrf_fn(const char *uplo, const int *n, void *a, const int *lda,
                      int *info, size_t);
typedef void trsm_fn(const char *side, const char *uplo, const char *trans,
                     const char *diag, const int *m, const int *n,
                     const void *alpha, const void *a, const int *lda, void *b,
                     const int *ldb, size_t, size_t, size_t, size_t);
typedef void gelqf_fn(const int *m, const int *n, void *a, const int *lda,
                      void *tau, void *work, const int *lwork, int *info);
typedef void orglq_fn(const int *m, const int *n, const int *k, void *a,
                      const int *lda, const void *tau, void *work,
                      const int *lwork, int *info);
typedef void gesdd_real_fn(const char *job, const int *m, const int *n, void *a,
                           const int *lda, void *s, void *u, const int *ldu,
                           void *vt, const int *ldvt, void *work,
                           const int *lwork, int *iwork, int *info, size_t);
typedef void gesdd_complex_fn(const char *job, const int *m, const int *n,
                              void *a, const int *lda, void *s, void *u,
                              const int *ldu, void *vt, const int *ldvt,
                              void *work, const int *lwork, void *rwork,
                              int *iwork, int *info, size_t);
typedef void syevd_fn(const char *job, const char *uplo, const int *n, void *a,
                      const int *lda, void *w, void *work, const int *lwork,
                      int *iwork, const int *liwork, int *info, size_t, size_t);
typedef void heevd_fn(const char *job, const char *uplo, const int *n, void *a,
                      const int *lda, void *w, void *work, const int *lwork,
                      void *rwork, const int *lrwork, int *iwork,
                      const int *liwork, int *info, size_t, size_t);
typedef void geev_real_fn(const char *jobvl, const char *jobvr, const int *n,
                          void *a, const int *lda, void *wr, void *wi, void *vl,
                          const int *ldvl, void *vr, const int *ldvr,
                          void *work, const int *lwork, int *info, size_t,
                          size_t);
typedef void geev_complex_fn(const char *jobvl, const char *jobvr, const int *n,
                             void *a, const int *lda, void *w, void *vl,
                             const int *ldvl, void *vr, const int *ldvr,
                             void *work, const int *lwork, void *rwork,
                             int *info, size_t, size_t);

// The functions of one dtype; is_there: all were found.
struct tl_lapack {
  tl_dense table;
  tl_dtype dtype;
  size_t size, real_size;  // of an item, of its parts
  bool is_complex, is_there;
  getrf_fn *getrf;  // from here on in the order of load_dtype
  getrs_fn *getrs;
  potrf_fn *potrf;
  trsm_fn *trsm;
  gelqf_fn *gelqf;
  orglq_fn *orglq;
  union {
    gesdd_real_fn *gesdd_real;
    gesdd_complex_fn *gesdd_complex;
  };
  union {
    syevd_fn *syevd;
    heevd_fn *heevd;
  };
  union {
    geev_real_fn *geev_real;
    geev_complex_fn *geev_complex;
  };
};

static tl_lapack all[4];

// --- Memory -----------------------------------------------------------------

// What one call needs besides its arguments, freed together. OpenBLAS's
// products of complex matrices and vectors (0.3.21, AVX-512) read the item
// that would follow a vector's last one, for a row that is one row of the
// matrix further on: so much room is behind every block.
enum { BLOCKS = 8 };  // the most that one call needs

typedef struct workspace {
  tl_vm *vm;
  size_t room;
  int count;
  bool failed;
  struct {
    void *data;
    size_t nbytes;
  } blocks[BLOCKS];
} workspace;

// A block of the workspace; NULL once memory was short, so that only the end
// has to look.
static void *need(workspace *w, int64_t items, size_t size) {
  // A block of 0 items has an address too, as LAPACK may check it.
  size_t nbytes = (size_t)(items > 0 ? items : 1) * size + w->room;
  void *data = w->failed ? NULL : tl_alloc(w->vm, nbytes, "LAPACK");
  if (!data) {
    w->failed = true;
    return NULL;
  }
  TL_CHECK(w->count < BLOCKS);
  w->blocks[w->count].data = data;
  w->blocks[w->count++].nbytes = nbytes;
  return data;
}

// Frees the workspace and says how the call ended; [bad] is what LAPACK's info
// means here.
static tl_dense_result done(workspace *w, int info, tl_dense_result bad) {
  while (w->count > 0) {
    w->count--;
    tl_free(w->vm, w->blocks[w->count].data, w->blocks[w->count].nbytes);
  }
  return w->failed ? TL_DENSE_STOPPED : info != 0 ? bad : TL_DENSE_DONE;
}

// The size that a query left in work[0], a little more where the float may
// have been rounded down.
static int wanted(const tl_lapack *f, const void *work) {
  double size =
      f->real_size == 4 ? *(const float *)work * 1.0001 : *(const double *)work;
  return size < INT_MAX - 64 ? (int)size + 1 : INT_MAX;
}

// Opens a workspace for matrices with rows of up to n items. Polls for the
// work that is to come: LAPACK itself cannot be interrupted.
static bool begin(tl_vm *vm, workspace *w, int64_t n) {
  *w = (workspace){.vm = vm, .room = (size_t)(n + 1) * sizeof(tl_c128)};
  if (!tl_poll(vm, (uint64_t)(n * n) / 1024 + 1))
    w->failed = true;
  return !w->failed;
}

// A copy of a complex matrix with room behind it (see workspace); of others
// the matrix itself.
static void *roomy(workspace *w, const tl_lapack *f, void *a, int64_t items) {
  if (!f->is_complex || a == NULL)
    return a;
  void *copy = need(w, items, f->size);
  if (copy)
    memcpy(copy, a, (size_t)items * f->size);
  return copy;
}

// Copies the result of such a copy back.
static void settle(const workspace *w, const tl_lapack *f, void *to,
                   const void *from, int64_t items) {
  if (!w->failed && to != NULL && from != to)
    memcpy(to, from, (size_t)items * f->size);
}

// --- Equations --------------------------------------------------------------

// a^T = P L U. The sign of the permutation is that of the exchanges.
static tl_dense_result lu(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                          int *sign) {
  workspace w;
  int size = (int)n, info = 0;
  begin(vm, &w, n);
  int *pivot = need(&w, n, sizeof *pivot);
  *sign = 1;
  if (pivot) {
    f->getrf(&size, &size, a, &size, pivot, &info);
    for (int i = 0; i < size; i++)
      if (pivot[i] != i + 1)
        *sign = -*sign;
  }
  if (info > 0)
    *sign = 0;
  // A singular matrix has factors, an argument that LAPACK refuses has none.
  return done(&w, info < 0 ? info : 0, TL_DENSE_ENDLESS);
}

// The constant 1 of a dtype, by address as Fortran wants it.
static const void *one_of(const tl_lapack *f) {
  static const float small[2] = {1, 0};
  static const double large[2] = {1, 0};
  return f->real_size == 4 ? (const void *)small : (const void *)large;
}

// Number [i] of an array of the real dtype.
static double load_real(const tl_lapack *f, const void *from, int64_t i) {
  return f->real_size == 4 ? (double)((const float *)from)[i]
                           : ((const double *)from)[i];
}

// Whether an item is exactly 0.
static bool is_zero(const tl_lapack *f, const void *item) {
  return load_real(f, item, 0) == 0 &&
         (!f->is_complex || load_real(f, item, 1) == 0);
}

// Solves by trsm from the right, since Fortran sees the transposes. It does
// not notice a singular matrix, so the diagonal is looked at first.
static tl_dense_result triangular(const tl_lapack *f, tl_vm *vm, void *a,
                                  int64_t n, bool lower, bool unit, void *b,
                                  int64_t m) {
  int size = (int)n, count = (int)m;
  workspace w;
  // trsm would divide by zero without a word.
  for (int64_t i = 0; !unit && i < n; i++)
    if (is_zero(f, (char *)a + (size_t)(i * n + i) * f->size))
      return TL_DENSE_SINGULAR;
  if (begin(vm, &w, n))
    f->trsm("R", lower ? "U" : "L", "N", unit ? "U" : "N", &count, &size,
            one_of(f), a, &size, b, &count, 1, 1, 1, 1);
  return done(&w, 0, TL_DENSE_DONE);
}

// The transpose of a is P L U, so that a @ x == b is U^T L^T P^T x == b; b's
// rows are Fortran's columns. One right-hand side goes through getrs, several
// through trsm, which needs no transposing.
static tl_dense_result solve(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                             void *b, int64_t m) {
  workspace w;
  int size = (int)n, count = (int)m, info = 0;
  begin(vm, &w, n);
  int *pivot = need(&w, n, sizeof *pivot);
  if (pivot)
    f->getrf(&size, &size, a, &size, pivot, &info);
  if (pivot && info == 0 && m == 1) {
    f->getrs("T", &size, &count, a, &size, pivot, b, &size, &info, 1);
  } else if (pivot && info == 0 && m > 0) {
    f->trsm("R", "U", "N", "N", &count, &size, one_of(f), a, &size, b, &count,
            1, 1, 1, 1);
    f->trsm("R", "L", "N", "U", &count, &size, one_of(f), a, &size, b, &count,
            1, 1, 1, 1);
    // The exchanges of rows, undone from the last one back.
    const size_t row = (size_t)m * f->size;
    for (int i = size - 1; i >= 0; i--)
      if (pivot[i] != i + 1)
        tl_exchange_bytes((char *)b + (size_t)i * row,
                          (char *)b + (size_t)(pivot[i] - 1) * row, row);
  }
  return done(&w, info, TL_DENSE_SINGULAR);
}

// Our lower half is the upper one for Fortran.
static tl_dense_result cholesky(const tl_lapack *f, tl_vm *vm, void *a,
                                int64_t n) {
  workspace w;
  int size = (int)n, info = 0;
  if (begin(vm, &w, n))
    f->potrf("U", &size, a, &size, &info, 1);
  for (int64_t i = 0; i < n; i++)
    memset((char *)a + (size_t)(i * n + i + 1) * f->size, 0,
           (size_t)(n - i - 1) * f->size);
  return done(&w, info, TL_DENSE_SINGULAR);
}

// --- QR ---------------------------------------------------------------------

// LQ of the transpose: a = Q R is a^T = R^T Q^T.
static tl_dense_result qr(const tl_lapack *f, tl_vm *vm, void *a, int64_t m,
                          int64_t n, int64_t p, void *q, void *r) {
  workspace w;
  // lwork of -1 asks for the size of the workspace.
  int rows = (int)n, columns = (int)m, out = (int)p, info = 0, lwork = -1;
  int count = rows < columns ? rows : columns;
  double query[2], query2[2];
  begin(vm, &w, n > m ? n : m);
  a = roomy(&w, f, a, m * n);
  // The result of complex items is computed in a copy with room behind it.
  void *made = q;
  q = roomy(&w, f, q, m * p);
  void *tau = need(&w, count, f->size), *work = NULL;
  if (tau) {
    f->gelqf(&rows, &columns, a, &rows, tau, query, &lwork, &info);
    if (q)
      f->orglq(&out, &columns, &count, q, &out, tau, query2, &lwork, &info);
    lwork = wanted(f, query);
    if (q && wanted(f, query2) > lwork)
      lwork = wanted(f, query2);
    work = need(&w, lwork, f->size);
  }
  if (work) {
    const char *from = a;
    const size_t size = f->size;
    f->gelqf(&rows, &columns, a, &rows, tau, work, &lwork, &info);
    for (int64_t i = 0; i < m; i++) {
      if (q)
        memcpy((char *)q + (size_t)(i * p) * size,
               from + (size_t)(i * n) * size, (size_t)count * size);
      if (i >= p)
        continue;
      char *to = (char *)r + (size_t)(i * n) * size;
      // Row i of a has its part of L^T, which is R, from the diagonal on; the
      // reflections lie before it.
      const size_t zeros = (size_t)(i < n ? i : n) * size;
      memset(to, 0, zeros);
      memcpy(to + zeros, from + (size_t)(i * n) * size + zeros,
             (size_t)n * size - zeros);
    }
    if (q)
      f->orglq(&out, &columns, &count, q, &out, tau, work, &lwork, &info);
    settle(&w, f, made, q, m * p);
  }
  return done(&w, info, TL_DENSE_ENDLESS);
}

// --- Singular values --------------------------------------------------------

// The transpose is conj(V) S U^T: Fortran's u, read by rows, is our vh, and
// its vt our u. The loop runs twice: a query for the size of the workspace,
// then the call.
static tl_dense_result svd(const tl_lapack *f, tl_vm *vm, void *a, int64_t m,
                           int64_t n, bool full, void *u, void *s, void *vh) {
  workspace w;
  int rows = (int)n, columns = (int)m, info = 0, lwork = -1, none = 1;
  // The sizes of LAPACK's documentation for gesdd's workspaces, which it does
  // not report for rwork.
  int less = rows < columns ? rows : columns;
  int more = rows < columns ? columns : rows;
  int ldvt = u ? (full ? columns : less) : none, ldu = u ? rows : none;
  const char *job = !u ? "N" : full ? "A" : "S";
  double query[2];
  begin(vm, &w, more);
  a = roomy(&w, f, a, m * n);
  void *left = roomy(&w, f, u, m * ldvt);
  void *right = roomy(&w, f, vh, (int64_t)(full ? rows : less) * n);
  int *iwork = need(&w, 8 * (int64_t)less, sizeof *iwork);
  void *rwork = NULL, *work = query;
  if (f->is_complex)
    rwork = need(&w,
                 (int64_t)less * (5 * (int64_t)less + 7) +
                     (int64_t)less * (2 * (int64_t)more + 2 * less + 1),
                 f->real_size);
  for (int step = 0; step < 2 && !w.failed; step++) {
    if (f->is_complex)
      f->gesdd_complex(job, &rows, &columns, a, &rows, s, right, &ldu, left,
                       &ldvt, work, &lwork, rwork, iwork, &info, 1);
    else
      f->gesdd_real(job, &rows, &columns, a, &rows, s, right, &ldu, left, &ldvt,
                    work, &lwork, iwork, &info, 1);
    if (step == 0) {
      lwork = wanted(f, query);
      work = need(&w, lwork, f->size);
    }
  }
  settle(&w, f, u, left, m * ldvt);
  settle(&w, f, vh, right, (int64_t)(full ? rows : less) * n);
  return done(&w, info, TL_DENSE_ENDLESS);
}

// --- Eigenvalues ------------------------------------------------------------

// Writes the conjugate transpose.
static void turn(const tl_lapack *f, void *to, const void *from, int64_t n) {
  const ptrdiff_t size = (ptrdiff_t)f->size;
  tl_kernels()->pack_tile[tl_move_size(f->size)](
      to, n * size, from, size, n * size, (size_t)n, (size_t)n);
  tl_kernels()->unary[TL_OP_CONJ][f->dtype](to, to, (size_t)(n * n));
}

// Fortran sees the conjugate of a, whose eigenvectors are conjugate too.
static tl_dense_result eigh(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                            void *values, void *v) {
  workspace w;
  int size = (int)n, info = 0, lwork = -1, lrwork = -1, liwork = -1, iquery = 0;
  const char *job = v ? "V" : "N";
  double query[2], rquery[2];
  void *work = query, *rwork = rquery;
  int *iwork = &iquery;
  begin(vm, &w, n);
  a = roomy(&w, f, a, n * n);
  for (int step = 0; step < 2 && !w.failed; step++) {
    if (f->is_complex)
      f->heevd(job, "U", &size, a, &size, values, work, &lwork, rwork, &lrwork,
               iwork, &liwork, &info, 1, 1);
    else
      f->syevd(job, "U", &size, a, &size, values, work, &lwork, iwork, &liwork,
               &info, 1, 1);
    if (step == 1)
      break;
    lwork = wanted(f, query);
    liwork = iquery;
    work = need(&w, lwork, f->size);
    iwork = need(&w, liwork, sizeof *iwork);
    if (f->is_complex) {
      lrwork = wanted(f, rquery);
      rwork = need(&w, lrwork, f->real_size);
    }
  }
  if (!w.failed && v)
    turn(f, v, a, n);
  return done(&w, info, TL_DENSE_ENDLESS);
}

// Stores a complex number of the dtype's precision.
static void store_complex(const tl_lapack *f, void *to, int64_t i, double re,
                          double im) {
  if (f->real_size == 4)
    ((tl_c64 *)to)[i] = (tl_c64){(float)re, (float)im};
  else
    ((tl_c128 *)to)[i] = (tl_c128){re, im};
}

// The complex eigenvectors of a real matrix. Of a pair of eigenvalues, one
// column holds the real parts of the first one's vector and the next its
// imaginary parts. Fortran's left vectors are the conjugates of ours.
static void unpack_vectors(const tl_lapack *f, const void *left, const void *im,
                           int64_t n, void *v) {
  for (int64_t j = 0; j < n; j++) {
    // Values of a pair follow each other, the one with the positive imaginary
    // part first.
    bool pair = load_real(f, im, j) != 0;
    for (int64_t i = 0; i < n; i++) {
      double x = load_real(f, left, j * n + i);
      double y = pair ? load_real(f, left, (j + 1) * n + i) : 0;
      store_complex(f, v, i * n + j, x, -y);
      if (pair)
        store_complex(f, v, i * n + j + 1, x, y);
    }
    j += pair;
  }
}

// Eigenvalues by left vectors: the right ones of the transpose. A real matrix
// has real and imaginary parts of the values apart.
static tl_dense_result eig(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                           void *values, void *v) {
  workspace w;
  int size = (int)n, info = 0, lwork = -1;
  const char *job = v ? "V" : "N";
  double query[2];
  begin(vm, &w, n);
  a = roomy(&w, f, a, n * n);
  // Of a real matrix one array behind the other.
  char *parts = need(&w, 2 * n, f->real_size), *im = NULL;
  void *left = need(&w, v ? n * n : 1, f->size), *work = query;
  for (int step = 0; step < 2 && !w.failed; step++) {
    im = parts + (size_t)n * f->real_size;
    if (f->is_complex)
      f->geev_complex(job, "N", &size, a, &size, values, left, &size, left,
                      &size, work, &lwork, parts, &info, 1, 1);
    else
      f->geev_real(job, "N", &size, a, &size, parts, im, left, &size, left,
                   &size, work, &lwork, &info, 1, 1);
    if (step == 0) {
      lwork = wanted(f, query);
      work = need(&w, lwork, f->size);
    }
  }
  for (int64_t i = 0; !w.failed && !f->is_complex && i < n; i++)
    store_complex(f, values, i, load_real(f, parts, i), load_real(f, im, i));
  if (!w.failed && v && f->is_complex)
    turn(f, v, left, n);
  else if (!w.failed && v && info == 0)
    unpack_vectors(f, left, im, n, v);
  return done(&w, info, TL_DENSE_ENDLESS);
}

// --- The tables -------------------------------------------------------------

// Looks up all functions of a dtype.
static void load_dtype(tl_lapack *f, tl_dtype dtype) {
  f->dtype = dtype;
  f->size = tl_itemsize(dtype);
  // Complex functions have other names and one more workspace.
  f->is_complex = tl_dtype_is_complex(dtype);
  f->real_size = f->is_complex ? f->size / 2 : f->size;
  static const char *const names[2][9] = {
      {"getrf", "getrs", "potrf", "trsm", "gelqf", "orglq", "gesdd", "syevd",
       "geev"},
      {"getrf", "getrs", "potrf", "trsm", "gelqf", "unglq", "gesdd", "heevd",
       "geev"}};
  f->is_there = true;
  for (int i = 0; i < 9; i++) {
    // dlsym gives functions as objects, which C does not convert.
    void *at = tl_blas_function(tl_blas_letter(dtype), names[f->is_complex][i]);
    memcpy((char *)f + offsetof(tl_lapack, getrf) + (size_t)i * sizeof at, &at,
           sizeof at);
    f->is_there = f->is_there && at != NULL;
  }
  f->table =
      (tl_dense){f, lu, solve, triangular, NULL, cholesky, qr, svd, eigh, eig};
}

// Called once, when the first large matrix comes.
static void load(void) {
  for (int i = 0; i < 4; i++) load_dtype(&all[i], (tl_dtype)(TL_FLOAT32 + i));
}

// Loads the functions at the first call of the process.
static const tl_dense *library_table(tl_vm *vm, tl_dtype dtype) {
  // Two VMs may ask for it at the same time.
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (!tl_blas_ready(vm, tl_pool_threads(vm)))
    return NULL;
  pthread_once(&once, load);
  for (int i = 0; i < 4; i++)
    if (all[i].dtype == dtype && all[i].is_there)
      return &all[i].table;
  return NULL;
}

// Integers become float64. Tally's own code has the two wide dtypes alone.
const tl_dense *tl_dense_choose(tl_vm *vm, int64_t side, tl_dense_least least,
                                tl_dtype *dtype) {
  *dtype = tl_compute_dtype(*dtype);
  if (!tl_dtype_is_real(*dtype) && !tl_dtype_is_complex(*dtype))
    *dtype = TL_FLOAT64;
  const bool limited =
      vm->options.time_limit > 0 || vm->options.instruction_limit > 0;
  if (side >= (int64_t)least && side <= (limited ? MOST_LIMITED : MOST_SIDE)) {
    const tl_dense *table = library_table(vm, *dtype);
    if (table)
      return table;
  }
  bool is_complex = tl_dtype_is_complex(*dtype);
  *dtype = is_complex ? TL_COMPLEX128 : TL_FLOAT64;
  return is_complex ? &tl_dense_complex : &tl_dense_real;
}
