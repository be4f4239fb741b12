// Fourier transforms of any length: Stockham's passes of mixed radix, and
// Bluestein's convolution where a prime factor is large.
//
//   n = 360 = 4 * 2 * 3 * 3 * 5     five passes between two buffers
//   n = 2 * 103                     103 is above MAX_RADIX: a chirp of 450
//   items
//
// Stockham: Cochran et al., "What is the fast Fourier transform?", 1967.
// Bluestein: "A linear filtering approach to the computation of the discrete
// Fourier transform", 1970. Stockham's passes write in order, so that no pass
// of bit reversal is needed.
//
// Built for speed.

#include "stdlib/fft_plan.h"

#include "stdlib/fft_library.h"
#include "vm/kernels/kernels.h"

enum {
  MAX_RADIX = 101,   // a larger prime factor: Bluestein
  MAX_TABLE = 4096,  // more roots are products of those in short tables
};

// Complex arithmetic, without C's checks for infinities.
static tl_c128 multiply(tl_c128 a, tl_c128 b) {
  return (tl_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// re and im exchanged: the inverse transform is the forward one between two
// exchanges.
static tl_c128 swapped(tl_c128 a) {
  return (tl_c128){a.im, a.re};
}

// --- Roots of unity ---------------------------------------------------------

// Memory for n complex items; NULL after tl_fail. Freed by free_items.
static tl_c128 *new_items(tl_vm *vm, int64_t n) {
  size_t nbytes;
  if (tl_mul_overflows((size_t)n, sizeof(tl_c128), &nbytes))
    nbytes = SIZE_MAX;
  return tl_alloc(vm, nbytes, "a Fourier transform");
}

// Frees n items; NULL is nothing.
static void free_items(tl_vm *vm, tl_c128 *items, int64_t n) {
  tl_free(vm, items, (size_t)n * sizeof *items);
}

bool tl_fft_clear(tl_vm *vm, tl_c128 *items, int64_t n) {
  for (int64_t k = 0, some; k < n; k += some) {
    some = n - k < TL_FFT_PIECE ? n - k : TL_FFT_PIECE;
    memset(items + k, 0, (size_t)some * sizeof *items);
    if (!tl_fft_goes_on(vm, k + some - 1))
      return false;
  }
  return true;
}

// exp(-2πi k / n), of the cosine and sine of an angle of at most an eighth of
// the circle: the remainder of 4 k / n behind whole quarters, or the part that
// lacks to one more.
static tl_c128 turn_by(int quarters, tl_c128 c) {
  if (quarters & 1)
    c = (tl_c128){-c.im, c.re};
  return quarters & 2 ? (tl_c128){-c.re, c.im} : (tl_c128){c.re, -c.im};
}

enum { ANGLES = 128 };

// out[i] = exp(-2πi k / n) for k = i step; the kernels compute many sines and
// cosines at a time. Angles are at most an eighth of the circle, where both
// are most exact, and no angle is a sum of rounded ones.
static void fill_roots(int64_t n, int64_t step, int64_t count, tl_c128 *out) {
  int64_t rest = 0, quarters = 0;  // of 4 k
  double angles[ANGLES], sines[ANGLES], cosines[ANGLES];
  uint8_t places[ANGLES];  // quarters, and whether it is the next one's
  const tl_kernel_table *kernels = tl_kernels();
  for (int64_t first = 0; first < count; first += ANGLES) {
    size_t some = (size_t)(count - first < ANGLES ? count - first : ANGLES);
    for (size_t i = 0; i < some; i++) {
      bool upper = 2 * rest > n;
      angles[i] = 1.57079632679489661923 * (double)(upper ? n - rest : rest) /
                  (double)n;
      places[i] = (uint8_t)((quarters & 3) << 1 | upper);
      for (rest += 4 * step; rest >= n; rest -= n) quarters++;
    }
    kernels->unary[TL_OP_SIN][TL_FLOAT64](sines, angles, some);
    kernels->unary[TL_OP_COS][TL_FLOAT64](cosines, angles, some);
    for (size_t i = 0; i < some; i++) {
      bool upper = places[i] & 1;
      tl_c128 c = {upper ? sines[i] : cosines[i],
                   upper ? cosines[i] : sines[i]};
      out[first + (int64_t)i] = turn_by(places[i] >> 1, c);
    }
  }
}

// Roots as products of two from short tables, exp(a + b) = exp(a) exp(b); of
// short lengths, from one.
typedef struct roots {
  int shift;
  int64_t fine_count, coarse_count;
  tl_c128 *fine, *coarse;
} roots;

// Frees the tables.
static void close_roots(tl_vm *vm, roots *r) {
  free_items(vm, r->fine, r->fine_count);
  free_items(vm, r->coarse, r->coarse_count);
}

// Computes the tables for n-th roots. False after tl_fail.
static bool open_roots(tl_vm *vm, int64_t n, roots *r) {
  // The square root of n entries in each table.
  r->shift = 0;
  while (n > MAX_TABLE && (INT64_C(1) << 2 * r->shift) < n) r->shift++;
  r->fine_count = INT64_C(1) << r->shift;
  r->coarse_count = (n >> r->shift) + 1;
  r->fine = new_items(vm, r->fine_count);
  r->coarse = r->fine ? new_items(vm, r->coarse_count) : NULL;
  if (!r->coarse) {
    close_roots(vm, r);
    return false;
  }
  fill_roots(n, 1, r->fine_count, r->fine);
  fill_roots(n, r->fine_count, r->coarse_count, r->coarse);
  return true;
}

// exp(-2πi k / n).
//
//  n = 2^20     k = 513 * 1024 + 7     coarse[513] * fine[7]
//
// Two roundings instead of one, for tables that stay in the cache.
static tl_c128 root_at(const roots *r, int64_t k) {
  tl_c128 coarse = r->coarse[k >> r->shift];
  if (r->shift == 0)
    return coarse;
  return multiply(coarse, r->fine[k & (r->fine_count - 1)]);
}

// Fills the roots from place k to count as mirror images of those before: of
// the eighth, the quarter and the half of the circle. With w = exp(-2πi / n):
// w^(n/4 - k) = -i conj(w^k), w^(n/2 - k) = -conj(w^k) and w^(n - k) =
// conj(w^k). Nothing is rounded on the way.
//
//  n = 16      computed 0 1 2 | from 4 - k: 3 4 | from 8 - k: 5 … 8 | 9 … 15
//
static void mirror_roots(int64_t n, int64_t k, int64_t count, tl_c128 *roots) {
  for (; k < count && n % 4 == 0 && k <= n / 4; k++) {
    tl_c128 c = roots[n / 4 - k];
    roots[k] = (tl_c128){-c.im, -c.re};
  }
  for (; k < count && n % 2 == 0 && k <= n / 2; k++) {
    tl_c128 c = roots[n / 2 - k];
    roots[k] = (tl_c128){-c.re, c.im};
  }
  for (; k < count; k++)
    roots[k] = (tl_c128){roots[n - k].re, -roots[n - k].im};
}

// The first [own] roots, one by one. False after tl_fail.
static bool make_roots(tl_vm *vm, int64_t n, int64_t own, tl_c128 *items) {
  roots r;
  if (n <= MAX_TABLE) {
    fill_roots(n, 1, own, items);
    return true;
  }
  if (!open_roots(vm, n, &r))
    return false;
  bool ok = true;
  for (int64_t k = 0; ok && k < own; k++) {
    items[k] = root_at(&r, k);
    ok = tl_fft_goes_on(vm, k);
  }
  close_roots(vm, &r);
  return ok;
}

// Few roots are exact to the last bit or so; of many, each is a product of
// two. Most are mirrored.
__attribute__((cold)) bool tl_fft_roots(tl_vm *vm, int64_t n, int64_t count,
                                        tl_c128 **out) {
  tl_c128 *items = *out = new_items(vm, count);
  if (!items)
    return false;
  int64_t own = n / (n % 4 == 0 ? 8 : n % 2 == 0 ? 4 : 2) + 1;
  own = own < count ? own : count;
  bool ok = make_roots(vm, n, own, items);
  for (int64_t k = own, end; ok && k < count; k = end) {
    end = count - k < TL_FFT_PIECE ? count : k + TL_FFT_PIECE;
    mirror_roots(n, k, end, items);
    ok = end == count || tl_poll(vm, 0);
  }
  if (!ok) {
    free_items(vm, items, count);
    *out = NULL;
  }
  return ok;
}

// --- Passes -----------------------------------------------------------------
//
// A pass takes x as radix * rest * stride items to y as rest * radix * stride:
// transforms along the first axis, times the root of index place * k.

// One pass: x is read as radix * rest * stride items and y written as rest *
// radix * stride.
typedef struct pass {
  const tl_pair *x;
  const tl_c128 *roots;
  tl_pair *y;
  int64_t radix, rest, stride, n;
  // The piece that is done: of the rest, and within a stride.
  int64_t row, row_end, column, column_end;
} pass;

// A product with i.
static tl_pair times_i(tl_pair a) {
  return (tl_pair){-a[1], a[0]};
}

// A pass of radix 2: the butterfly.
static void pass_2(const pass *a) {
  int64_t s = a->stride, m = a->rest, end = a->column_end;
  for (int64_t p = a->row; p < a->row_end; p++) {
    const tl_pair *x = a->x + s * p;
    tl_pair *y = a->y + 2 * s * p;
    tl_c128 w = a->roots[p * s];
    for (int64_t q = a->column; q < end; q++) {
      tl_pair a0 = x[q], a1 = x[q + s * m];
      y[q] = a0 + a1;
      y[q + s] = tl_pair_times(a0 - a1, w);
    }
  }
}

// A pass of radix 3, with 1/2 and sqrt(3)/2 for the roots.
static void pass_3(const pass *a) {
  const double half_root = 0.86602540378443864676;
  int64_t s = a->stride, m = a->rest, end = a->column_end;
  for (int64_t p = a->row; p < a->row_end; p++) {
    const tl_pair *x = a->x + s * p;
    tl_pair *y = a->y + 3 * s * p;
    tl_c128 w1 = a->roots[p * s], w2 = a->roots[2 * p * s];
    for (int64_t q = a->column; q < end; q++) {
      tl_pair a0 = x[q], a1 = x[q + s * m], a2 = x[q + 2 * s * m];
      tl_pair sum = a1 + a2, transposed = times_i((a1 - a2) * half_root);
      tl_pair middle = a0 - sum * 0.5;
      y[q] = a0 + sum;
      y[q + s] = tl_pair_times(middle - transposed, w1);
      y[q + 2 * s] = tl_pair_times(middle + transposed, w2);
    }
  }
}

// A pass of radix 4, whose inner roots are 1, -i, -1 and i: no products
// inside.
static void pass_4(const pass *a) {
  int64_t s = a->stride, m = a->rest, end = a->column_end;
  for (int64_t p = a->row; p < a->row_end; p++) {
    const tl_pair *x = a->x + s * p;
    tl_pair *y = a->y + 4 * s * p;
    tl_c128 w1 = a->roots[p * s], w2 = a->roots[2 * p * s];
    tl_c128 w3 = a->roots[3 * p * s];
    for (int64_t q = a->column; q < end; q++) {
      tl_pair a0 = x[q], a1 = x[q + s * m];
      tl_pair a2 = x[q + 2 * s * m], a3 = x[q + 3 * s * m];
      tl_pair even = a0 + a2, odd = a1 + a3;
      tl_pair left = a0 - a2, transposed = times_i(a1 - a3);
      y[q] = even + odd;
      y[q + s] = tl_pair_times(left - transposed, w1);
      y[q + 2 * s] = tl_pair_times(even - odd, w2);
      y[q + 3 * s] = tl_pair_times(left + transposed, w3);
    }
  }
}

// A pass of radix 5, with the cosines and sines of a fifth and two fifths of
// the circle.
static void pass_5(const pass *a) {
  const double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
  const double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
  int64_t s = a->stride, m = a->rest, end = a->column_end;
  for (int64_t p = a->row; p < a->row_end; p++) {
    const tl_pair *x = a->x + s * p;
    tl_pair *y = a->y + 5 * s * p;
    const tl_c128 *w = a->roots;
    int64_t step = p * s;
    tl_c128 w1 = w[step], w2 = w[2 * step], w3 = w[3 * step], w4 = w[4 * step];
    for (int64_t q = a->column; q < end; q++) {
      tl_pair a0 = x[q], a1 = x[q + s * m], a4 = x[q + 4 * s * m];
      tl_pair a2 = x[q + 2 * s * m], a3 = x[q + 3 * s * m];
      tl_pair t1 = a1 + a4, t2 = a2 + a3, u1 = a1 - a4, u2 = a2 - a3;
      tl_pair m1 = a0 + (t1 * c1 + t2 * c2), m2 = a0 + (t1 * c2 + t2 * c1);
      tl_pair n1 = times_i(u1 * s1 + u2 * s2), n2 = times_i(u1 * s2 - u2 * s1);
      y[q] = a0 + (t1 + t2);
      y[q + s] = tl_pair_times(m1 - n1, w1);
      y[q + 2 * s] = tl_pair_times(m2 - n2, w2);
      y[q + 3 * s] = tl_pair_times(m2 + n2, w3);
      y[q + 4 * s] = tl_pair_times(m1 + n1, w4);
    }
  }
}

// One transform of any odd radix, by the symmetry of its roots: items j and r
// - j share each product. x has [step] items between two.
static void any_odd(const pass *a, const tl_pair *x, int64_t step, int64_t p,
                    tl_pair *y) {
  tl_pair sums[MAX_RADIX / 2 + 1], differences[MAX_RADIX / 2 + 1];
  int64_t r = a->radix, half = r / 2, s = a->stride, turn = a->n / r;
  tl_pair total = x[0];
  for (int64_t j = 1; j <= half; j++) {
    sums[j] = x[j * step] + x[(r - j) * step];
    differences[j] = x[j * step] - x[(r - j) * step];
    total += sums[j];
  }
  y[0] = total;
  for (int64_t k = 1; k <= half; k++) {
    tl_pair even = x[0], odd = {0, 0};
    int64_t place = 0;  // of j k, less multiples of r
    for (int64_t j = 1; j <= half; j++) {
      place += place + k < r ? k : k - r;
      tl_c128 w = a->roots[place * turn];
      even += sums[j] * w.re;
      odd += differences[j] * w.im;
    }
    odd = times_i(odd);
    y[k * s] = tl_pair_times(even + odd, a->roots[p * k * s]);
    y[(r - k) * s] = tl_pair_times(even - odd, a->roots[p * (r - k) * s]);
  }
}

// A pass of any odd radix up to MAX_RADIX.
static void pass_odd(const pass *a) {
  int64_t s = a->stride, m = a->rest, end = a->column_end;
  for (int64_t p = a->row; p < a->row_end; p++)
    for (int64_t q = a->column; q < end; q++)
      any_odd(a, a->x + q + s * p, s * m, p, a->y + q + a->radix * s * p);
}

// Small radices have loops of their own, whose roots are constants of the
// compiler; all others share one.
static void run_pass(const pass *a) {
  static void (*const small[])(const pass *) = {NULL,   NULL,   pass_2,
                                                pass_3, pass_4, pass_5};
  (a->radix <= 5 ? small[a->radix] : pass_odd)(a);
}

// A pass over many items in pieces, along whichever axis is long; one over few
// at once. False where the VM was stopped.
//
//  stride 1, rest n/4     first pass: pieces of rows
//  stride n/4, rest 1     last pass: pieces of columns, of one row
//
// A piece has TL_FFT_PIECE items in and as many out, which is 2 MB: some 0.1 ms
// between two polls.
static bool run_pieces(tl_vm *vm, pass *a) {
  int64_t some = TL_FFT_PIECE / a->radix, s = a->stride, m = a->rest;
  int64_t columns = s < some ? s : some, rows = some / columns;
  for (int64_t p = 0; p < m; p += rows) {
    for (int64_t q = 0; q < s; q += columns) {
      a->row = p;
      a->row_end = m - p < rows ? m : p + rows;
      a->column = q;
      a->column_end = s - q < columns ? s : q + columns;
      run_pass(a);
      if (a->n > TL_FFT_PIECE && !tl_poll(vm, 0))
        return false;
    }
  }
  return true;
}

// Runs all passes from one buffer to the other and back; returns the one with
// the result.
static tl_c128 *run_passes(tl_vm *vm, const tl_fft *fft, tl_c128 *x,
                           tl_c128 *y) {
  for (int i = 0; i < fft->count; i++) {
    pass a = {.x = (const tl_pair *)x,
              .roots = fft->roots,
              .y = (tl_pair *)y,
              .radix = fft->passes[i].radix,
              .rest = fft->passes[i].rest,
              .stride = fft->passes[i].stride,
              .n = fft->n};
    if (fft->n >= 1024 && !tl_poll(vm, (uint64_t)fft->n / 1024))
      return NULL;
    if (!run_pieces(vm, &a))
      return NULL;
    tl_c128 *held = x;
    x = y;
    y = held;
  }
  return x;
}

// --- Bluestein --------------------------------------------------------------

// Bluestein: a convolution with the chirp, by transforms of the inner length.
// NULL where the VM was stopped.
//
//  a   x * chirp, then zeros   ─▶ inner ─▶  * spectrum, re and im exchanged
//      ─▶ inner ─▶  exchanged again, which makes it the inverse  ─▶ * chirp
//
// The inner transform may end in either buffer, so that each step takes the one
// that has the items.
static tl_c128 *run_chirp(tl_vm *vm, const tl_fft *fft, tl_c128 *a,
                          tl_c128 *b) {
  int64_t n = fft->n, size = fft->size;
  // j k = (j² + k² - (k - j)²) / 2: with the chirp before and after, the sum
  // becomes a convolution.
  for (int64_t k = 0; k < n; k++) {
    a[k] = multiply(a[k], fft->chirp[k]);
    if (!tl_fft_goes_on(vm, k))
      return NULL;
  }
  if (!tl_fft_clear(vm, a + n, size - n))
    return NULL;
  tl_c128 *x = tl_fft_run(vm, fft->inner, a, b);
  if (!x)
    return NULL;
  for (int64_t k = 0; k < size; k++) {
    x[k] = swapped(multiply(x[k], fft->spectrum[k]));
    if (!tl_fft_goes_on(vm, k))
      return NULL;
  }
  x = tl_fft_run(vm, fft->inner, x, x == a ? b : a);
  if (!x)
    return NULL;
  for (int64_t k = 0; k < n; k++) {
    x[k] = multiply(swapped(x[k]), fft->chirp[k]);
    if (!tl_fft_goes_on(vm, k))
      return NULL;
  }
  return x;
}

// The chirp exp(-πi k² / n). k² is counted modulo 2 n, so that it stays exact.
//
//  k      0 1 2 3  4      squares are sums of odd numbers: k² + 2 k + 1
//  k²     0 1 4 9 16      is the next, and stays small by its remainder
//
static bool make_chirp(tl_vm *vm, tl_fft *fft) {
  roots r;
  if (!open_roots(vm, 2 * fft->n, &r))
    return false;
  int64_t square = 0;  // k², less multiples of 2 n
  bool ok = true;
  for (int64_t k = 0; ok && k < fft->n; k++) {
    fft->chirp[k] = root_at(&r, square);
    square = (square + 2 * k + 1) % (2 * fft->n);
    ok = tl_fft_goes_on(vm, k);
  }
  close_roots(vm, &r);
  return ok;
}

// The transform of the conjugate chirp around 0, scaled for the inverse.
// The chirp is even, so that each item stands at k and at -k, which is size -
// k. It is scaled once here and not at each run.
static bool make_spectrum(tl_vm *vm, tl_fft *fft) {
  const int64_t size = fft->size;
  const double factor = 1 / (double)size;
  tl_c128 *a = fft->spectrum, *b = new_items(vm, size);
  bool ok = b != NULL && tl_fft_clear(vm, a, size);
  for (int64_t k = 0; ok && k < fft->n; k++) {
    tl_c128 c = fft->chirp[k];
    a[k] = a[k == 0 ? 0 : size - k] = (tl_c128){c.re * factor, -c.im * factor};
    ok = tl_fft_goes_on(vm, k);
  }
  tl_c128 *x = ok ? tl_fft_run(vm, fft->inner, a, b) : NULL;
  // It ends in either of the two, which are alike.
  fft->spectrum = x == b && ok ? b : a;
  free_items(vm, fft->spectrum == a ? b : a, size);
  return x != NULL;
}

// The least length of at least n whose prime factors are 2, 3 and 5.
//
//  n = 205     216 = 2^3 3^3, not 256
//
static int64_t convenient(int64_t n) {
  // All products of powers of 5 and 3, each doubled until it is long enough.
  int64_t best = INT64_MAX;
  for (int64_t five = 1; five < best; five *= 5)
    for (int64_t three = five; three < best; three *= 3) {
      int64_t two = three;
      while (two < n) two *= 2;
      best = two < best ? two : best;
    }
  return best;
}

// Opens a transform of a length with a large prime factor by one of at least
// twice the length. What it made is freed by tl_fft_close, also where it
// fails.
static bool open_bluestein(tl_vm *vm, tl_fft *fft) {
  fft->size = convenient(2 * fft->n - 1);
  tl_fft *inner = tl_alloc_zeroed(vm, sizeof *inner, "a Fourier transform");
  if (!inner)
    return false;
  fft->inner = inner;
  if (!tl_fft_open(vm, fft->size, inner))
    return false;
  fft->chirp = new_items(vm, fft->n);
  fft->spectrum = fft->chirp ? new_items(vm, fft->size) : NULL;
  return fft->spectrum && make_chirp(vm, fft) && make_spectrum(vm, fft);
}

// --- Plans ------------------------------------------------------------------

// Splits n into passes, as many of radix 4 as there are; false where a prime
// factor is too large.
//
//  360     90 of 4, 45 of 2, 15 of 3, 5 of 3, 1 of 5: five passes
//
// At most one of 2, as two of them are one of 4.
static bool split(tl_fft *fft) {
  // Radix 4 first: it needs the fewest operations.
  int64_t rest = fft->n, stride = 1, radix = 4;
  while (rest > 1) {
    if (rest % radix != 0) {
      radix = radix == 4 ? 2 : radix == 2 ? 3 : radix + 2;
      if (radix > MAX_RADIX)
        return false;
      continue;
    }
    rest /= radix;
    fft->passes[fft->count].radix = radix;
    fft->passes[fft->count].rest = rest;
    fft->passes[fft->count++].stride = stride;
    stride *= radix;
  }
  return true;
}

// FFTW does not poll: under a limit it gets what takes it some 20 ms, so that
// the script ends when it has to.
enum { MOST_LIMITED = 1 << 20 };

// Only whether there is a limit counts, not how near it is: a plan may be run
// many times.
static bool may_wait(const tl_vm *vm, int64_t n) {
  const bool limited =
      vm->options.time_limit > 0 || vm->options.instruction_limit > 0;
  return !limited || n <= MOST_LIMITED;
}

// FFTW if the VM asks for it, then passes, then Bluestein.
// Built for size, since it is called once for all lanes.
__attribute__((cold)) bool tl_fft_open(tl_vm *vm, int64_t n, tl_fft *out) {
  *out = (tl_fft){.n = n, .size = n};
  // No machine has the memory, and products of indices must not overflow.
  if (n > INT64_C(1) << 40)
    return tl_fail_memory(vm, SIZE_MAX, "a Fourier transform");
  out->foreign = vm->fftw && may_wait(vm, n) ? tl_fftw_plan(n) : NULL;
  if (out->foreign)
    return true;
  bool ok = split(out);
  if (ok) {
    ok = tl_fft_roots(vm, n, n, &out->roots);
  } else {
    out->count = 0;
    ok = open_bluestein(vm, out);
  }
  if (!ok)
    tl_fft_close(vm, out);
  return ok;
}

// Parts that were not made are NULL.
void tl_fft_close(tl_vm *vm, tl_fft *fft) {
  if (fft->foreign)
    tl_fftw_close(fft->foreign);
  free_items(vm, fft->roots, fft->n);
  free_items(vm, fft->chirp, fft->n);
  free_items(vm, fft->spectrum, fft->size);
  if (fft->inner) {
    tl_fft_close(vm, fft->inner);
    tl_free(vm, fft->inner, sizeof *fft->inner);
  }
  *fft = (tl_fft){0};
}

// Each pass exchanges the buffers. Bluestein's algorithm runs the inner
// transform twice and has no passes of its own, so that it ends in the first
// one.
bool tl_fft_ends_in_second(const tl_fft *fft) {
  return fft->foreign || fft->count % 2 == 1;
}

// FFTW cannot be interrupted: the poll comes after it.
tl_c128 *tl_fft_run(tl_vm *vm, const tl_fft *fft, tl_c128 *a, tl_c128 *b) {
  if (fft->foreign) {
    tl_fftw_run(fft->foreign, a, b);
    return tl_poll(vm, (uint64_t)fft->n >> 10) ? b : NULL;
  }
  return fft->inner ? run_chirp(vm, fft, a, b) : run_passes(vm, fft, a, b);
}
