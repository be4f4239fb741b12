// BLAS and LAPACK: libraries for products, equations and factorisations that
// many machines have in a version tuned for their processor. One is loaded when
// the first large matrix asks; Tally's own code does all of it where there is
// none, and wherever a matrix is small.
//
// Looked for: OpenBLAS, BLIS with libFLAME, Apple's Accelerate, and libblas and
// liblapack where they are one of these under that name. The plain reference
// libraries are passed over, being slower than Tally's own products. The
// environment variable TALLY_BLAS names a library to load instead, or is "off".
// All must take 32-bit integers (LP64).
#pragma once

#include "vm/value.h"

// The letter with which Fortran's names begin for a dtype: s, d, c, z; 0 where
// there is none.
char tl_blas_letter(tl_dtype dtype);

// Whether the VM may use a loaded library: there is one, and the VM has
// neither no_blas nor is without access to files. Loads it at the first call.
// The library uses [threads] threads from now on.
bool tl_blas_ready(tl_vm *vm, int threads);

// The file of the library that the VM uses for large matrices; NULL: Tally's
// own code does them all. Loads it at the first call. Borrowed, as long as the
// process lives.
const char *tl_blas_name(tl_vm *vm);

// The address of a function by its Fortran name without the letter ("getrf"),
// or NULL. Only where tl_blas_ready.
// The caller converts it to a pointer to the function that it asked for, which
// takes all of its arguments by address.
void *tl_blas_function(char letter, const char *name);

// Below so many multiplications Tally's own code is used, by the product's
// sizes alone: the same script gives the same bits each time.
enum { TL_BLAS_LEAST = 64 * 64 * 64 };

// c = a @ b, c with c_row bytes from row to row and contiguous items; m by k
// times k by n items, strides in bytes. Only where tl_blas_ready; any thread
// may call. False: no loaded library takes such a product, nothing is done.
// What c has before does not matter; it overlaps neither a nor b.
bool tl_blas_gemm(tl_dtype dtype, void *c, int64_t c_row, const void *a,
                  int64_t a_row, int64_t a_column, const void *b, int64_t b_row,
                  int64_t b_column, int64_t m, int64_t n, int64_t k);

// The same for a times its own transpose, m by m: the diagonal and the part
// below it; above, c stays as it was.
bool tl_blas_syrk(tl_dtype dtype, void *c, int64_t c_row, const void *a,
                  int64_t a_row, int64_t a_column, int64_t m, int64_t k);
