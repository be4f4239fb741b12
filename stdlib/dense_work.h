// What all of Tally's own factorisations use. Included once for reals and once
// for complex items, as dense_*.h are, with these defined:
//
//   T            double, or its complex type
//   DTYPE        its dtype
//   REAL CONJ    real part, conjugate
//   ABS ABS1     magnitude, and a cheaper one (|re| + |im|)
//   add_row      x += f * y of rows of n items
//   inner        the sum of x * conj(y)
//
// Loops run along rows, whose items lie side by side. Large updates go through
// the matrix product in blocks of so many columns. A strip of 128 rows of 48
// doubles is 48 KiB: it stays in the second cache while it is used again.
enum { BLOCK = 48, STRIP = 128 };

// Half the distance from 1 to the next double: what rounding may be off by.
static const double EPSILON = 0x1p-53;

// Polls for the work of n multiplications. False too where a loop before was
// stopped that could not say so (poll_row).
static bool poll_items(tl_vm *vm, int64_t n) {
  return !tl_failed(vm) && tl_poll(vm, (uint64_t)n / 1024 + 1);
}

// Within work that has been polled for, at row i of so many items: polls where
// the items up to its end pass a multiple of 16,384, which take two
// milliseconds where each misses the cache. False where the VM was stopped:
// what follows need not be done, and the next poll says so.
static bool poll_row(tl_vm *vm, int64_t i, int64_t items) {
  const uint64_t begin = (uint64_t)i * (uint64_t)items;
  return (begin ^ (begin + (uint64_t)items)) >> 14 == 0 ||
         (!tl_failed(vm) && tl_poll(vm, 0));
}

// The memory of one step, freed together: once memory was short, [failed] is
// set, and all that is asked for is NULL.
enum { SPACE_BLOCKS = 10 };  // the most that a step needs
typedef struct space {
  tl_vm *vm;
  bool failed;
  int count;
  struct {
    void *data;
    size_t nbytes;
  } blocks[SPACE_BLOCKS];
} space;

// Bytes that mean nothing; [what] is what a message names. All of their pages
// are there, or the first row that is written as a column would get them at
// once from the system, without a poll.
static void *need(space *s, size_t nbytes, const char *what) {
  TL_CHECK(s->count < SPACE_BLOCKS);
  void *data = s->failed ? NULL : tl_alloc(s->vm, nbytes, what);
  if (data != NULL) {
    s->blocks[s->count].data = data;
    s->blocks[s->count++].nbytes = nbytes;
  }
  s->failed = data == NULL || !tl_touch(s->vm, data, nbytes);
  return s->failed ? NULL : data;
}

// A matrix; at least one item, since tl_alloc takes no 0.
static T *need_matrix(space *s, int64_t rows, int64_t columns) {
  return need(s, ((size_t)rows * (size_t)columns + 1) * sizeof(T), "a matrix");
}

// n numbers of 8 bytes.
static void *need_words(space *s, int64_t n, const char *what) {
  return need(s, ((size_t)n + 1) * sizeof(double), what);
}

// Frees all of it.
static void leave(space *s) {
  while (s->count > 0) {
    s->count--;
    tl_free(s->vm, s->blocks[s->count].data, s->blocks[s->count].nbytes);
  }
}

// Frees all of it and says how the step ended.
static tl_dense_result leave_with(space *s, bool ok) {
  leave(s);
  return ok ? TL_DENSE_DONE : TL_DENSE_STOPPED;
}

// Room for products of up to STRIP rows.
typedef struct room {
  tl_vm *vm;
  T *product;
  void *scratch;
} room;

// Room for products with up to [columns] columns and [terms] terms. False
// where memory was short.
static bool need_room(space *s, int64_t columns, int64_t terms, room *r) {
  size_t nbytes =
      tl_gemm_scratch(DTYPE, STRIP, (size_t)columns, (size_t)terms) + 64;
  r->vm = s->vm;
  r->product = need_matrix(s, STRIP, columns);
  r->scratch = need(s, nbytes, "a product");
  return !s->failed;
}

// The operand of a product; strides in items.
typedef struct operand {
  const T *data;
  int64_t row, column;
} operand;

// c = a @ b, or c -= a @ b: m by k times k by n, in strips of rows. It polls
// as it goes; false where the VM was stopped. [c] may not overlap the
// operands. The result of a strip goes to r->product first, since the kernel
// overwrites and does not subtract.
static bool product(room *r, T *c, int64_t c_row, operand a, operand b,
                    int64_t m, int64_t n, int64_t k, bool subtract) {
  const ptrdiff_t size = sizeof(T);
  tl_stop stop = tl_stop_of(r->vm);
  for (int64_t i = 0; i < m; i += STRIP) {
    int64_t rows = m - i < STRIP ? m - i : STRIP;
    if (!poll_items(r->vm, rows * n * k / 8))
      return false;
    tl_kernels()->gemm[DTYPE](r->product, n * size, a.data + i * a.row,
                              a.row * size, a.column * size, b.data,
                              b.row * size, b.column * size, (size_t)rows,
                              (size_t)n, (size_t)k, r->scratch, &stop);
    if (stop.stopped)
      return false;
    for (int64_t p = 0; p < rows; p++) {
      T *to = c + (i + p) * c_row;
      const T *from = r->product + p * n;
      if (subtract)
        tl_kernels()->binary[TL_OP_SUBTRACT][DTYPE](to, to, from, (size_t)n);
      else
        memcpy(to, from, (size_t)n * sizeof(T));
    }
  }
  return true;
}

// The length of a strided vector, scaled by its largest item so that no square
// overflows. A stop shows in the next poll.
static double length_of(tl_vm *vm, const T *x, int64_t step, int64_t n) {
  double most = 0, sum = 0;
  for (int64_t i = 0; i < n && tl_poll_at(vm, i); i++)
    most = fmax(most, ABS1(x[i * step]));
  if (most == 0 || !isfinite(most))
    return most;
  for (int64_t i = 0; i < n && tl_poll_at(vm, i); i++) {
    T y = x[i * step] / most;
    sum += REAL(y * CONJ(y));
  }
  return most * sqrt(sum);
}

// Scales a by a power of two so that squares of its items neither overflow nor
// vanish; returns the factor that results are to be multiplied with. In two
// steps of half the exponent each, as one factor could itself be too large for
// a double.
static double scale_matrix(tl_vm *vm, T *a, int64_t items) {
  enum { PIECE = 4096 };
  double most = 0;
  for (int64_t i = 0; i < items && poll_row(vm, i / PIECE, PIECE); i += PIECE)
    for (int64_t j = i; j < items && j < i + PIECE; j++)
      most = fmax(most, ABS1(a[j]));
  if (most == 0 || (most > 1e-70 && most < 1e70))
    return 1;
  int exponent;
  frexp(most, &exponent);
  for (int64_t i = 0; i < items && tl_poll_at(vm, i); i++)
    a[i] *= ldexp(1, -exponent / 2);
  for (int64_t i = 0; i < items && tl_poll_at(vm, i); i++)
    a[i] *= ldexp(1, -(exponent - exponent / 2));
  return ldexp(1, exponent - 1) * 2;
}
