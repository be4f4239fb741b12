// The module fft: discrete Fourier transforms along an axis, of any length.
//
// All is computed in float64 and rounded once at the end: float32 and
// complex64 give complex64. Names, arguments and defaults are the array API
// standard's. A call goes
//
//   call                  arguments
//   one_axis              the factor of the norm
//   along_axis            a new array for the result
//   run_lanes             run_complex, run_to_half or run_from_half per lane
//   tl_fft_run            the transform itself (fft_plan.c)
//
// Those along several axes are made of these in fft.tly.
//
// Built for speed.

#include <math.h>

#include "stdlib/families.h"
#include "stdlib/fft_library.h"
#include "stdlib/fft_plan.h"
#include "vm/kernels/kernels.h"

// --- One axis ---------------------------------------------------------------

// What is transformed to what along one axis.
typedef enum kind {
  COMPLEX,    // n items to n
  TO_HALF,    // n real items to the n / 2 + 1 that say the rest
  FROM_HALF,  // back
} kind;

// The transform of the lanes along one axis, with all that they share.
//
//   lane  | given: loaded | n - given: zeros |     n above the lane's length
//   lane  | given: loaded | left out |             n below it
typedef struct transform {
  kind kind;
  bool inverse;  // of kind COMPLEX
  double factor;
  int64_t n;       // real or complex items
  int64_t given;   // items of a lane that there are and are needed
  tl_fft fft;      // of n; halved, of n / 2
  bool halved;     // a real transform of even length, at half the work
  tl_c128 *roots;  // then exp(-2πi k / n) for k up to n / 2
  bool reals;      // the items are float64 where complex ones are wanted
  bool shares;     // the lane of the result is one of the buffers
  tl_c128 *a, *b;  // buffers: loaded is a
  tl_c128 *own[2];
} transform;

// The bytes of a buffer, one item more than the transform needs: a half has
// that many.
static size_t buffer_size(const transform *t) {
  return (size_t)(t->fft.size + 1) * sizeof *t->a;
}

// Frees what open_transform made, also where it failed.
static void close_transform(tl_vm *vm, transform *t) {
  for (int i = 0; i < 2; i++) tl_free(vm, t->own[i], buffer_size(t));
  tl_free(vm, t->roots, (size_t)(t->n / 2 + 1) * sizeof *t->roots);
  tl_fft_close(vm, &t->fft);
}

// Opens the tables and buffers. [side_by_side] says that the items of the
// result's lanes are contiguous, so that a lane may serve as a buffer.
static bool open_transform(tl_vm *vm, transform *t, bool side_by_side) {
  t->halved = t->kind != COMPLEX && t->n % 2 == 0;
  if (!tl_fft_open(vm, t->halved ? t->n / 2 : t->n, &t->fft))
    return false;
  // A short buffer is nothing, and lies in the first cache at full lines.
  enum { LONG = 4096 };
  t->shares = side_by_side && t->fft.size >= LONG && t->fft.size == t->fft.n &&
              (t->halved || t->kind == COMPLEX);
  bool ok = true;
  for (int i = 0; ok && i < (t->shares ? 1 : 2); i++) {
    t->own[i] = tl_alloc(vm, buffer_size(t), "a Fourier transform");
    ok = t->own[i] != NULL;
  }
  t->a = t->own[0];
  t->b = t->own[1];
  ok = ok && (!t->halved || tl_fft_roots(vm, t->n, t->n / 2 + 1, &t->roots));
  if (!ok)
    close_transform(vm, t);
  return ok;
}

// Makes the lane of the result one of the two buffers. The passes must not end
// in it, because the lane is then written from the other buffer.
static void share(transform *t, char *lane) {
  // The passes end in a or b by their number; the lane is made the one where
  // they do not end.
  bool leaves = tl_fft_ends_in_second(&t->fft);
  t->a = leaves ? (tl_c128 *)(void *)lane : t->own[0];
  t->b = leaves ? t->own[0] : (tl_c128 *)(void *)lane;
}

// Transforms one lane of n items to n, or to the half of them that is wanted;
// items that are not given are zeros. False where the VM was stopped.
static bool run_complex(tl_vm *vm, transform *t, const void *x, void *out) {
  const int64_t wanted = t->kind == COMPLEX ? t->n : t->n / 2 + 1;
  const tl_pair *items = x;
  const double *reals = x;
  tl_pair *a = (tl_pair *)t->a, *to = out;
  for (int64_t k = 0; k < t->given; k++) {
    tl_pair c = t->reals ? (tl_pair){reals[k], 0} : items[k];
    a[k] = t->inverse ? (tl_pair){c[1], c[0]} : c;
    if (!tl_fft_goes_on(vm, k))
      return false;
  }
  if (!tl_fft_clear(vm, t->a + t->given, t->n - t->given))
    return false;
  a = (tl_pair *)tl_fft_run(vm, &t->fft, t->a, t->b);
  bool ok = a != NULL;
  for (int64_t k = 0; ok && k < wanted; k++) {
    to[k] = (t->inverse ? (tl_pair){a[k][1], a[k][0]} : a[k]) * t->factor;
    ok = tl_fft_goes_on(vm, k);
  }
  return ok;
}

// The result of a real transform from one of half its length, with the even
// items as real and the odd ones as imaginary parts. With e and o their
// transforms, Z[k] = e + i o, conj(Z[-k]) = e − i o, and the result is e +
// root[k] o; at h - k it is conj(e − root[k] o). [z] has room for an item more.
static bool unpack_half(tl_vm *vm, const transform *t, tl_pair *z,
                        tl_pair *out) {
  const tl_pair mirror = {1, -1};  // conjugates
  int64_t h = t->n / 2;
  z[h] = z[0];
  for (int64_t k = 0; k <= h - k; k++) {
    tl_pair p = z[k], q = z[h - k];
    tl_pair e = (p + q * mirror) * 0.5;
    tl_pair o = (tl_pair){p[1] + q[1], q[0] - p[0]} * 0.5;
    tl_pair turned = tl_pair_times(o, t->roots[k]);
    // The item in the middle is its own mirror, so that the order counts.
    out[h - k] = (e * mirror - turned * mirror) * t->factor;
    out[k] = (e + turned) * t->factor;
    if (!tl_fft_goes_on(vm, k))
      return false;
  }
  return true;
}

// Transforms one lane of n real items to n / 2 + 1 complex ones.
static bool run_to_half(tl_vm *vm, transform *t, const void *x, void *out) {
  if (!t->halved)
    return run_complex(vm, t, x, out);
  // Two real items are one complex item of half the length.
  double *reals = (double *)(void *)t->a;
  if (!tl_copy_bytes(vm, reals, x, (size_t)t->given * sizeof *reals))
    return false;
  reals[t->given] = 0;  // if that is odd; there is room
  if (!tl_fft_clear(vm, t->a + (t->given + 1) / 2, (t->n - t->given) / 2))
    return false;
  tl_pair *a = (tl_pair *)tl_fft_run(vm, &t->fft, t->a, t->b);
  return a != NULL && unpack_half(vm, t, a, out);
}

// An item of a half that was given, or 0; the imaginary parts that a real
// result cannot have are ignored.
static tl_pair half_item(const transform *t, const tl_pair *x, int64_t k) {
  tl_pair c = k < t->given ? x[k] : (tl_pair){0, 0};
  if (k == 0 || 2 * k == t->n)
    c[1] = 0;
  return c;
}

// Transforms one lane of n / 2 + 1 complex items to n real ones: undoes
// unpack_half. A real result needs no conjugation of the whole: the inverse is
// the transform with re and im exchanged, so the result lies in the imaginary
// parts.
static bool run_from_half(tl_vm *vm, transform *t, const void *x, void *out) {
  tl_pair *a = (tl_pair *)t->a;
  double *to = out;
  int64_t h = t->n / 2;
  for (int64_t k = 0; k < t->n - h; k++) {
    tl_pair p = half_item(t, x, k);
    if (t->halved) {
      tl_pair q = half_item(t, x, h - k) * (tl_pair){1, -1};
      tl_c128 w = {t->roots[k].re, -t->roots[k].im};
      tl_pair e = p + q, o = tl_pair_times(p - q, w);
      a[k] = (tl_pair){e[1] + o[0], e[0] - o[1]};
    } else {
      a[k] = (tl_pair){p[1], p[0]};
      if (k > 0)
        a[t->n - k] = (tl_pair){-p[1], p[0]};
    }
    if (!tl_fft_goes_on(vm, k))
      return false;
  }
  a = (tl_pair *)tl_fft_run(vm, &t->fft, t->a, t->b);
  bool ok = a != NULL;
  for (int64_t k = 0; ok && k < t->n; k++) {
    tl_pair c = a[t->halved ? k / 2 : k];  // of a half, two items
    to[k] = t->factor * c[!t->halved || k % 2 == 0];
    ok = tl_fft_goes_on(vm, k);
  }
  return ok;
}

// Copies n items of some lanes to the rows of a tile, or from there to those of
// the result, in pieces between polls. Built for size, since the time goes into
// the kernel that copies.
__attribute__((cold)) static bool turn(tl_vm *vm, const tl_lanes *l, bool in,
                                       size_t size, char *tile, int64_t row,
                                       int64_t count, int64_t n) {
  const int64_t step = l->step[in];
  for (int64_t k = 0, some; k < n; k += some) {
    some = n - k < TL_FFT_PIECE ? n - k : TL_FFT_PIECE;
    char *at = l->data[in] + k * step, *item = tile + k * (int64_t)size;
    tl_kernels()->pack_tile[tl_move_size(size)](
        in ? item : at, in ? row : step, in ? at : item, (ptrdiff_t)size,
        in ? step : row, (size_t)(in ? count : some),
        (size_t)(in ? some : count));
    if (!tl_fft_goes_on(vm, k + some - 1))
      return false;
  }
  return true;
}

// Transforms all lanes along [axis], polling between them. Lanes across both
// arrays, which are in row-major order, go some at a time through a tile where
// each has its items in a row, so that whole cache lines are read and written.
// A lane may be transformed where it lies.
__attribute__((cold)) static bool run_lanes(tl_vm *vm, transform *t,
                                            tl_array *x, tl_array *to,
                                            int axis) {
  static bool (*const run[])(tl_vm *, transform *, const void *, void *) = {
      run_complex, run_to_half, run_from_half};
  enum { SIDE = 8, LINE = 64, MOST = 1 << 20 };
  const size_t from_size = tl_itemsize(x->head.dtype);
  const size_t to_size = tl_itemsize(to->head.dtype);
  tl_lanes l;
  tl_lanes_begin(&l, 2, (tl_array *[]){to, x}, axis);
  // An odd number of cache lines: rows would share a few places of the cache.
  const int64_t row = (int64_t)((buffer_size(t) / LINE + 1) | 1) * LINE;
  const int64_t fit = row * SIDE < MOST ? SIDE : 1;
  const bool tiled = axis < l.ndim;
  char *tile =
      tiled ? tl_alloc(vm, (size_t)(row * fit), "a Fourier transform") : NULL;
  // A lane across all of the result would get all of its pages at once.
  bool ok =
      !tiled || (tile && tl_touch(vm, to->data, (size_t)to->size * to_size));
  while (ok && !l.done) {
    int64_t left = tiled ? l.shape[l.ndim - 1] - l.index[l.ndim - 1] : 1;
    int64_t count = left < fit ? left : fit;
    char *lane = tiled ? tile : l.data[0];
    if (t->shares)
      share(t, lane);
    ok = !tiled || turn(vm, &l, true, from_size, tile, row, count, t->given);
    for (int64_t i = 0; ok && i < count; i++, lane += row)
      ok = run[t->kind](vm, t, tiled ? lane : l.data[1], lane) &&
           tl_poll_items(vm, t->n);
    ok = ok && (!tiled || turn(vm, &l, false, to_size, tile, row, count,
                               tl_shape(to)[axis]));
    for (; count > 0; count--) tl_lanes_next(&l);
  }
  tl_free(vm, tile, (size_t)(row * fit));
  return ok;
}

// Replaces the array in *x by its transform: float64 goes in for TO_HALF,
// complex128 for FROM_HALF, either for COMPLEX. False leaves *x.
static bool along_axis(tl_vm *vm, transform *t, tl_slot *x, int axis) {
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_ndim(x->array);
  memcpy(shape, tl_shape(x->array), sizeof *shape * (size_t)ndim);
  // Longer lanes are cut, shorter ones filled with zeros.
  int64_t needed = t->kind == FROM_HALF ? t->n / 2 + 1 : t->n;
  t->given = shape[axis] < needed ? shape[axis] : needed;
  shape[axis] = t->kind == TO_HALF ? t->n / 2 + 1 : t->n;
  tl_array *to = tl_array_new(
      vm, t->kind == FROM_HALF ? TL_FLOAT64 : TL_COMPLEX128, ndim, shape);
  bool ok = to != NULL;
  t->reals = tl_array_dtype(x->array) == TL_FLOAT64;
  if (ok && to->size > 0) {
    ok = open_transform(vm, t, axis == ndim - 1);
    if (ok) {
      ok = run_lanes(vm, t, x->array, to, axis);
      close_transform(vm, t);
    }
  }
  if (ok)
    tl_drop(vm, *x);
  return tl_array_finish(vm, ok, to, x);
}

// --- Calls ------------------------------------------------------------------

// Which direction is scaled by 1 / n, or both by its root.
typedef enum norm { BACKWARD, ORTHO, FORWARD } norm;

// What a function does: all functions of the module differ in this alone.
typedef struct recipe {
  const char *name;
  kind kind;     // of the last axis
  bool inverse;  // scaled by 1 / n unless norm says else
} recipe;

// The argument as this call reads it, owned or borrowed by *items, and the
// dtype of the result.
static bool read_items(tl_vm *vm, const recipe *r, tl_slot *x, tl_slot *items,
                       tl_dtype *result) {
  if (!tl_arg_numeric(vm, r->name, x))
    return false;
  tl_dtype from = tl_array_dtype(x->array);
  bool narrow = tl_compute_dtype(from) == TL_FLOAT32 || from == TL_COMPLEX64;
  if (r->kind == TO_HALF && tl_dtype_is_complex(from))
    return tl_arg_fail(vm, r->name, "x", "real", *x);
  if (r->kind == FROM_HALF)
    *result = narrow ? TL_FLOAT32 : TL_FLOAT64;
  else
    *result = narrow ? TL_COMPLEX64 : TL_COMPLEX128;
  bool reals =
      r->kind == TO_HALF || (r->kind == COMPLEX && !tl_dtype_is_complex(from));
  return tl_as_contiguous(vm, r->name, *x, reals ? TL_FLOAT64 : TL_COMPLEX128,
                          items);
}

// Fails (kind value) for a length below 1; [what] is the argument that says
// the length.
static bool check_length(tl_vm *vm, const char *function, const char *what,
                         int64_t n) {
  return n > 0 || tl_fail(vm, TALLY_ERR_VALUE,
                          "%s: %s asks for a transform of length %lld, but it "
                          "must be 1 or more",
                          function, what, (long long)n);
}

// Transforms along one axis.
static bool one_axis(tl_vm *vm, const recipe *r, norm norm, tl_slot *items,
                     int axis, int64_t n) {
  transform t = {.kind = r->kind,
                 .inverse = r->inverse && r->kind == COMPLEX,
                 .factor = 1,
                 .n = n};
  // The inverse is scaled by default, the other direction with norm forward.
  if (norm == ORTHO)
    t.factor = 1 / sqrt((double)n);
  else if ((norm == BACKWARD) == r->inverse)
    t.factor = 1 / (double)n;
  return along_axis(vm, &t, items, axis);
}

// A function of "x, n: none, axis: -1, norm: none".
static bool call(tl_vm *vm, const recipe *r, tl_slot *args, tl_slot *out) {
  tl_slot items;
  tl_dtype dtype = TL_COMPLEX128;
  // In the order of the enum.
  static const char *const norms[] = {"backward", "ortho", "forward", NULL};
  int axis, norm;
  const bool is_given = !tl_is_none(args[1]);
  int64_t n = is_given ? args[1].i : 0;
  if (!tl_arg_choice(vm, r->name, "norm", args[3], norms, &norm) ||
      !read_items(vm, r, &args[0], &items, &dtype))
    return false;
  bool ok = tl_arg_axis(vm, r->name, args[2], tl_ndim(items.array), -1, &axis);
  if (ok && !is_given) {
    n = tl_shape(items.array)[axis];
    if (r->kind == FROM_HALF)
      n = 2 * (n - 1);
  }
  ok = ok && check_length(vm, r->name, is_given ? "n" : "x", n) &&
       one_axis(vm, r, (enum norm)norm, &items, axis, n);
  if (ok)
    return tl_cast_own(vm, items.array, dtype, out);
  tl_drop(vm, items);
  return false;
}

// Defines a function of the module: its name and its recipe.
#define FUNCTION(function, kind, inverse)                        \
  static bool function(tl_vm *vm, tl_slot *args, tl_slot *out) { \
    static const recipe r = {#function, kind, inverse};          \
    return call(vm, &r, args, out);                              \
  }
FUNCTION(fft, COMPLEX, false)
FUNCTION(ifft, COMPLEX, true)
FUNCTION(rfft, TO_HALF, false)
FUNCTION(irfft, FROM_HALF, true)

// --- Whose code -------------------------------------------------------------

// fft.use(library): for all calls of this VM from now on.
static bool use(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *name = args[0].string;
  const bool fftw = strcmp(name->text, "fftw") == 0;
  if (!fftw && strcmp(name->text, "own") != 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "use: library must be \"fftw\" or \"own\", not \"%s\"",
                   name->text);
  if (fftw && !tl_fftw_need(vm, "use"))
    return false;
  vm->fftw = fftw;
  *out = tl_none();
  return true;
}

// --- The table --------------------------------------------------------------

#define ONE "x, n: none, axis: -1, norm: \"backward\""

/// ABOUT:
/// float32 and complex64 give 32-bit items, all else 64-bit ones. norm says what
/// is scaled by 1 / n: "backward" the inverse, "forward" the other, "ortho"
/// both by its root. A length below 1 is a value error.

/// LENGTH:
/// n is the transform's length: x is cut, or filled up with zeros.

// The standard's names. use is the only row with an effect: it chooses the
// code of later calls.
const tl_builtin tl_fft_module[] = {
    /// The discrete Fourier transform along an axis: sum over j of
    /// x[j] exp(−2πi j k / n), of any length (Stockham's passes, 1966;
    /// Bluestein's way, 1970, for large prime factors).
    /// {LENGTH}
    /// {ABOUT}
    ///     fft.fft([1, 2, 1, 2])    # [6.0 + 0.0i, 0.0 + 0.0i, -2.0 + 0.0i, 0.0 + 0.0i]
    {"fft", ONE, fft, .types = "xI"},
    /// The inverse of fft: sum over j of x[j] exp(2πi j k / n), over n (array API
    /// standard, 2024).
    /// {LENGTH}
    /// {ABOUT}
    ///     fft.ifft([4, 0, 0, 0]).real    # [1.0, 1.0, 1.0, 1.0]
    {"ifft", ONE, ifft, .types = "xI"},
    /// fft of real items: the first n / 2 + 1 results, of which the others are
    /// the mirror image. Complex items are a type error.
    /// {LENGTH}
    /// {ABOUT}
    ///     fft.rfft([1, 2, 3, 4])    # [10.0 + 0.0i, -2.0 + 2.0i, -2.0 + 0.0i]
    {"rfft", ONE, rfft, .types = "xI"},
    /// The inverse of rfft: n real items, 2 (m − 1) unless given, of m items along
    /// the axis.
    /// {ABOUT}
    ///     fft.irfft([10, -2 + 2i, -2])    # [1.0, 2.0, 3.0, 4.0]
    {"irfft", ONE, irfft, .types = "xI"},
    /// Whose code computes the transforms that follow, in all of the program:
    /// "own" is Tally's, as in the beginning; "fftw" is FFTW 3 (Frigo and
    /// Johnson, 2005), loaded from the machine. Results differ by rounding, not
    /// in dtype. FFTW's memory is not counted, and one transform by it is not
    /// interrupted; its licence (GPL) binds who ships it with a program. Another
    /// name is an error (kind value), FFTW where it is not installed one of
    /// kind io.
    ///     fft.use("own")
    {"use", "library", use, TL_FILES | TL_EFFECT, .types = "s"},
    {.name = NULL},
};
