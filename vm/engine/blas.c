// Loads BLAS and LAPACK, and calls their matrix product. There is one library
// for the process, found at the first large product; see blas.h for which.
//
// Built for size.

#include "vm/engine/blas.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "vm/dl.h"
#include "vm/vm.h"

static const char letters[] = "sdcz";

// The letters of LAPACK's names.
char tl_blas_letter(tl_dtype dtype) {
  const int place = (int)dtype - TL_FLOAT32;
  return (char)(place >= 0 && place < 4 ? letters[place] : 0);
}

// --- Loading ----------------------------------------------------------------

// One library may lie in two files: products in the first, LAPACK in either.
static struct {
  void *files[2];
  const char *name;  // of the first file
  void (*set_threads)(int);
  void *gemm[4], *syrk[4];  // s, d, c, z
  int threads;  // set last; the library has one number for the process
} loaded;

// The address of a symbol in either file, or NULL.
static void *find(const char *symbol) {
  for (int i = 0; i < 2; i++) {
    // Products are in the first file; LAPACK may be in either.
    void *at = loaded.files[i] ? tl_dl_find(loaded.files[i], symbol) : NULL;
    if (at)
      return at;
  }
  return NULL;
}

// Whether the open file is known to be fast, by a function that only such a
// library has.
static bool is_tuned(void *file) {
  // The plain reference library has none of these.
  static const char *const marks[] = {"openblas_get_config",
                                      "bli_info_get_version_str",
                                      "mkl_get_version", NULL};
  for (int i = 0; marks[i]; i++)
    if (tl_dl_find(file, marks[i]))
      return true;
  return false;
}

// Opens a library, with LAPACK in a file of its own; false where it is missing
// or, unless [trusted], only the reference library.
static bool take(const char *file, const char *lapack, bool trusted) {
  loaded.files[0] = tl_dl_open(file);
  loaded.name = file;
  if (!loaded.files[0])
    return false;
  if (lapack)
    loaded.files[1] = tl_dl_open(lapack);
  if (tl_dl_find(loaded.files[0], "dgemm_") &&
      (trusted || is_tuned(loaded.files[0])))
    return true;
  for (int i = 0; i < 2; i++) {
    if (loaded.files[i])
      tl_dl_close(loaded.files[i]);
    loaded.files[i] = NULL;
  }
  return false;
}

// Looks for libraries by name, or takes the one that TALLY_BLAS names.
static void look(void) {
  static const struct {
    const char *file, *lapack;
    bool trusted;
  } places[] = {
      {"libopenblas.so.0", NULL, true},
      {"libopenblas.so", NULL, true},
      {"libopenblasp.so.0", NULL, true},
      {"libblis.so.4", "libflame.so.1", true},
      {"libblas.so.3", "liblapack.so.3", false},
      {"/System/Library/Frameworks/Accelerate.framework/Accelerate", NULL,
       true},
      {"libopenblas.dylib", NULL, true},
      {NULL, NULL, false},
  };
  const char *wish = getenv("TALLY_BLAS");
  if (wish && *wish) {
    // A library that is named is trusted to be fast.
    if (strcmp(wish, "off") != 0)
      take(wish, NULL, true);
    return;
  }
  for (int i = 0; places[i].file; i++)
    if (take(places[i].file, places[i].lapack, places[i].trusted))
      return;
}

// Copies an address to a pointer to a function: dlsym gives functions as
// objects, which C does not convert.
static void as_function(void *address, void *to) {
  memcpy(to, &address, sizeof address);
}

// Called once in a process.
static void load(void) {
  look();
  if (!loaded.files[0])
    return;
  as_function(find("openblas_set_num_threads"), &loaded.set_threads);
  for (int i = 0; i < 4; i++) {
    loaded.gemm[i] = tl_blas_function(letters[i], "gemm");
    loaded.syrk[i] = tl_blas_function(letters[i], "syrk");
  }
}

// What TALLY_BLAS named is in the environment, which nobody changes.
const char *tl_blas_name(tl_vm *vm) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (vm->options.no_blas || (vm->options.capabilities & TALLY_MAY_FILES) == 0)
    return NULL;
  pthread_once(&once, load);
  return loaded.files[0] ? loaded.name : NULL;
}

// The number of threads belongs to the library, not to a VM: it is set again
// when another VM wants another.
bool tl_blas_ready(tl_vm *vm, int threads) {
  if (tl_blas_name(vm) == NULL)
    return false;
  if (loaded.set_threads && __atomic_exchange_n(&loaded.threads, threads,
                                                __ATOMIC_RELAXED) != threads)
    loaded.set_threads(threads);
  return true;
}

// Fortran's compilers put an underscore behind names.
void *tl_blas_function(char letter, const char *name) {
  // Long enough for every name of BLAS and LAPACK.
  char symbol[40];
  snprintf(symbol, sizeof symbol, "%c%s_", letter, name);
  return find(symbol);
}

// --- Products ---------------------------------------------------------------

// Fortran's order is by columns: its matrices are ours transposed, so that the
// rows of c are its columns, b comes first, and 'N' stands for dense rows.
// Last come the lengths of the texts, as Fortran's compilers pass them.
typedef void gemm_fn(const char *transa, const char *transb, const int *m,
                     const int *n, const int *k, const void *alpha,
                     const void *a, const int *lda, const void *b,
                     const int *ldb, const void *beta, void *c, const int *ldc,
                     size_t, size_t);
typedef void syrk_fn(const char *uplo, const char *trans, const int *n,
                     const int *k, const void *alpha, const void *a,
                     const int *lda, const void *beta, void *c, const int *ldc,
                     size_t, size_t);

// Describes a matrix for Fortran by order and leading dimension; false where
// neither rows nor columns are contiguous. The stride of an axis of length 1
// does not matter.
//
//   columns are neighbours   'N', leading: the items from row to row
//   rows are neighbours      'T', leading: the items from column to column
static bool layout(int64_t rows, int64_t columns, int64_t row, int64_t column,
                   int64_t size, char *order, int *leading) {
  // Of one row or column any stride will do, as long as Fortran accepts it.
  if (rows == 1)
    row = column == size ? columns * size : size;
  if (columns == 1)
    column = row == size && rows > 1 ? rows * size : size;
  // Overlapping or negative strides are no matrix to Fortran.
  bool by_rows = column == size && row >= columns * size;
  int64_t step = by_rows ? row : column;
  if ((!by_rows && (row != size || column < rows * size)) || step % size != 0 ||
      step / size > INT_MAX)
    return false;
  *order = by_rows ? 'N' : 'T';
  *leading = (int)(step / size);
  return *leading > 0;
}

// Whether the sizes fit Fortran's 32-bit integers.
static bool fits(int64_t m, int64_t n, int64_t k) {
  return m <= INT_MAX && n <= INT_MAX && k <= INT_MAX;
}

// The constant 1, which scales a product, in the letter's dtype.
static const void *one_of(char letter) {
  static const float one32[2] = {1, 0};
  static const double one64[2] = {1, 0};
  return letter == 's' || letter == 'c' ? (const void *)one32
                                        : (const void *)one64;
}

static const double zero[2] = {0, 0};  // of every dtype

// The address of one of the functions of a dtype's letter, or NULL.
static void *of_letter(void *const functions[4], char letter) {
  return functions[strchr(letters, letter) - letters];
}

// False before anything is written, so that the caller may compute the product
// itself.
bool tl_blas_gemm(tl_dtype dtype, void *c, int64_t c_row, const void *a,
                  int64_t a_row, int64_t a_column, const void *b, int64_t b_row,
                  int64_t b_column, int64_t m, int64_t n, int64_t k) {
  char letter = tl_blas_letter(dtype), order_a, order_b, order_c;
  int lda, ldb, ldc;
  const int64_t size = (int64_t)tl_itemsize(dtype);
  if (letter == 0 || !fits(m, n, k) ||
      !layout(m, k, a_row, a_column, size, &order_a, &lda) ||
      !layout(k, n, b_row, b_column, size, &order_b, &ldb) ||
      !layout(m, n, c_row, size, size, &order_c, &ldc))
    return false;
  gemm_fn *gemm;
  as_function(of_letter(loaded.gemm, letter), &gemm);
  if (!gemm)
    return false;
  const int rows = (int)m, columns = (int)n, terms = (int)k;
  // c^T = b^T @ a^T: the operands change places.
  gemm(&order_b, &order_a, &columns, &rows, &terms, one_of(letter), b, &ldb, a,
       &lda, zero, c, &ldc, 1, 1);
  return true;
}

// Half the work of gemm. Returns before anything is written where the layout
// does not fit.
bool tl_blas_syrk(tl_dtype dtype, void *c, int64_t c_row, const void *a,
                  int64_t a_row, int64_t a_column, int64_t m, int64_t k) {
  char letter = tl_blas_letter(dtype), order_a, order_c;
  int lda, ldc;
  const int64_t size = (int64_t)tl_itemsize(dtype);
  if (letter == 0 || !fits(m, m, k) ||
      !layout(m, k, a_row, a_column, size, &order_a, &lda) ||
      !layout(m, m, c_row, size, size, &order_c, &ldc))
    return false;
  syrk_fn *syrk;
  as_function(of_letter(loaded.syrk, letter), &syrk);
  if (!syrk)
    return false;
  const int rows = (int)m, terms = (int)k;
  // Below our diagonal is above Fortran's.
  syrk("U", order_a == 'N' ? "T" : "N", &rows, &terms, one_of(letter), a, &lda,
       zero, c, &ldc, 1, 1);
  return true;
}
