// Factorisations of one matrix: by Tally's own code, or by a loaded LAPACK.
//
//   linalg*.c --> tl_dense_choose --> tl_dense_real, tl_dense_complex
//                                 \--> LAPACK's tables (lapack.c)
//
// Tally's own code is in headers that dense_real.c and dense_complex.c include
// after naming their item type (dense_work.h says how). Matrices are dense and
// row-major. n rows and n columns unless a comment says more; [a] is always
// overwritten. Items are of the table's dtype, singular values and the
// eigenvalues of eigh of the real dtype with that precision.
#pragma once

#include "vm/value.h"

// How a factorisation ended. Only TL_DENSE_STOPPED leaves an error in the VM:
// of the others the caller says what they mean for its function.
typedef enum tl_dense_result {
  TL_DENSE_DONE,
  TL_DENSE_STOPPED,   // after tl_fail: no memory, or a poll
  TL_DENSE_SINGULAR,  // or not positive definite
  TL_DENSE_ENDLESS    // an iteration does not converge
} tl_dense_result;

// A function here has all parameters, whether it needs them or not.
#pragma GCC diagnostic ignored "-Wunused-parameter"

// LAPACK's functions for one dtype (lapack.c).
typedef struct tl_lapack tl_lapack;

// The factorisations for one dtype. All may poll, so each may be stopped.
typedef struct tl_dense {
  // The first argument of all; NULL in Tally's own tables.
  const tl_lapack *lapack;
  // Factors a: U stays on and above the diagonal, whose product times *sign is
  // the determinant. *sign is 0 where a is singular.
  tl_dense_result (*lu)(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                        int *sign);
  // b, n rows of m items, becomes the solution of a @ x == b.
  tl_dense_result (*solve)(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                           void *b, int64_t m);
  // The same for a triangle; the other half of a is not read. [unit]: the
  // diagonal is taken to be ones.
  tl_dense_result (*triangular)(const tl_lapack *f, tl_vm *vm, void *a,
                                int64_t n, bool lower, bool unit, void *b,
                                int64_t m);
  // The same for a band matrix with l diagonals below and u above the main one:
  // a has n rows of 2 l + u + 1 items, where (i, j) is item j - i + l of row i,
  // and zeros elsewhere. NULL in LAPACK's tables.
  tl_dense_result (*banded)(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                            int64_t l, int64_t u, void *b, int64_t m);
  // a becomes the lower triangle, with zeros above it. Reads the lower half.
  tl_dense_result (*cholesky)(const tl_lapack *f, tl_vm *vm, void *a,
                              int64_t n);
  // a of m rows: q gets m rows and p columns, r p rows, p being m or the less
  // of m and n. The diagonal of r may have any sign. q NULL: r alone.
  tl_dense_result (*qr)(const tl_lapack *f, tl_vm *vm, void *a, int64_t m,
                        int64_t n, int64_t p, void *q, void *r);
  // a of m rows: s in descending order; u m rows of p, vh q rows of n items,
  // p and q being [full] ? m and n : the less of both. u and vh NULL: s alone.
  tl_dense_result (*svd)(const tl_lapack *f, tl_vm *vm, void *a, int64_t m,
                         int64_t n, bool full, void *u, void *s, void *vh);
  // a Hermitian, its lower half is read: w in ascending order, eigenvectors in
  // the columns of v, or NULL.
  tl_dense_result (*eigh)(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                          void *w, void *v);
  // Eigenvalues w, eigenvectors in the columns of v or NULL; both complex, of
  // any order and length.
  tl_dense_result (*eig)(const tl_lapack *f, tl_vm *vm, void *a, int64_t n,
                         void *w, void *v);
} tl_dense;

// The table of a file whose functions have these names: without the members'
// names, as tally.c gives each file's functions names of their own.
#define TL_DENSE_OF_THIS_FILE \
  { NULL, lu, solve, triangular, banded, cholesky, qr, svd, eigh, eig }

// Tally's own, of float64 (dense_real.c) and of complex128 (dense_complex.c).
extern const tl_dense tl_dense_real;     // Tally's own, float64
extern const tl_dense tl_dense_complex;  // complex128

// The least side of a matrix that goes to LAPACK, which takes some milliseconds
// to load: few shorter ones take as long by Tally's own code. Iterations take
// several times the work of a factorisation.
typedef enum tl_dense_least {
  TL_LEAST_ITERATED = 16,  // svd, eigh, eig
  TL_LEAST_FACTORED = 32   // all others
} tl_dense_least;

// The table for matrices of [dtype] whose smaller side has [side] items, and
// the dtype it takes them in (*dtype is changed: integers become float64, and
// without LAPACK narrow items wide ones). By the size, what is asked for and
// whether the VM has limits, so that the same script takes the same code each
// time.
const tl_dense *tl_dense_choose(tl_vm *vm, int64_t side, tl_dense_least least,
                                tl_dtype *dtype);

// The eigenvectors of a complex upper triangle, multiplied by [turn], in the
// columns of v. Shared by the real and the complex code (dense_complex.c).
tl_dense_result tl_triangle_vectors(tl_vm *vm, const tl_c128 *triangle,
                                    const tl_c128 *turn, int64_t n, tl_c128 *v);
