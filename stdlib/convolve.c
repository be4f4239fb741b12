// The convolution of two vectors.
//
// Built for speed.

#include "stdlib/families.h"
#include "vm/engine/engine.h"
#include "vm/kernels/kernels.h"

// The parts of out[i + k] += a[i] * b[k] that are wanted: length items from
// [skip] on.
typedef struct part {
  int64_t skip, length;
} part;

// Item i of a goes to i + k - skip: from which, and before which.
static int64_t first_of(part p, int64_t k) {
  return k < p.skip ? p.skip - k : 0;
}
// The end of that range; it may lie before the range's begin where item k of b
// meets nothing that is wanted.
static int64_t end_of(part p, int64_t k, int64_t n) {
  return p.length + p.skip - k < n ? p.length + p.skip - k : n;
}

// out[i + k - skip] += a[i] * b[k], for one k and all i whose sum is wanted. a
// has n items, of the dtype that the function is for.
typedef void add_product(void *out, const void *a, int64_t n, const void *b,
                         int64_t k, part p);

// [sum] may point in front of [out]: it is indexed only from first_of on, which
// brings it back inside.
static void add_reals(void *out, const void *a, int64_t n, const void *b,
                      int64_t k, part p) {
  const double *x = a, y = ((const double *)b)[k];
  double *sum = (double *)out + k - p.skip;
  int64_t end = end_of(p, k, n);
  for (int64_t i = first_of(p, k); i < end; i++) sum[i] += x[i] * y;
}

// Unsigned, since integers wrap.
static void add_integers(void *out, const void *a, int64_t n, const void *b,
                         int64_t k, part p) {
  const uint64_t *x = a, y = ((const uint64_t *)b)[k];
  uint64_t *sum = (uint64_t *)out + k - p.skip;
  int64_t end = end_of(p, k, n);
  for (int64_t i = first_of(p, k); i < end; i++) sum[i] += x[i] * y;
}

// Written out on pairs of doubles, as the kernels do it: the compiler's complex
// product would look for infinities in each item.
static void add_complex(void *out, const void *a, int64_t n, const void *b,
                        int64_t k, part p) {
  const double *x = a, *y = (const double *)b + 2 * k;
  double *sum = (double *)out + 2 * (k - p.skip);
  int64_t end = end_of(p, k, n);
  for (int64_t i = first_of(p, k); i < end; i++) {
    double re = x[2 * i], im = x[2 * i + 1];
    sum[2 * i] += re * y[0] - im * y[1];
    sum[2 * i + 1] += re * y[1] + im * y[0];
  }
}

// Which of all sums are wanted, by the argument mode:
//
//   mode      skip               length
//   full      0                  longer + shorter - 1
//   same      (shorter - 1) / 2  longer
//   valid     shorter - 1        longer - shorter + 1
//
// Anything else fails (kind value).
static bool convolve_mode(tl_vm *vm, tl_slot s, int64_t longer, int64_t shorter,
                          part *out) {
  static const char *const modes[] = {"full", "same", "valid", NULL};
  const part parts[] = {{0, longer + shorter - 1},
                        {(shorter - 1) / 2, longer},
                        {shorter - 1, longer - shorter + 1}};
  int mode;
  if (!tl_arg_choice(vm, "convolve", "mode", s, modes, &mode))
    return false;
  *out = parts[mode];
  return true;
}

// Sums [from, end) of all, some at a time and item by item of b, in [out],
// where they begin.
static bool add_all(tl_vm *vm, const tl_array *a, const tl_array *b,
                    tl_dtype dtype, int64_t from, int64_t end, char *out) {
  add_product *add = dtype == TL_FLOAT64      ? add_reals
                     : dtype == TL_COMPLEX128 ? add_complex
                                              : add_integers;
  enum { SUMS = 1 << 14 };  // stay in the cache, and need few polls
  for (int64_t n; from < end; from += n) {
    n = end - from < SUMS ? end - from : SUMS;
    const size_t nbytes = (size_t)n * tl_itemsize(dtype);
    memset(out, 0, nbytes);
    for (int64_t k = 0; k < b->size; k++) {
      add(out, a->data, a->size, b->data, k, (part){from, n});
      if (!tl_poll_items(vm, n))
        return false;
    }
    out += nbytes;
  }
  return true;
}

// The same where all of b meets items of a.
static bool add_whole(tl_vm *vm, const tl_array *a, const tl_array *b,
                      tl_dtype dtype, int64_t from, int64_t end, char *out) {
  tl_convolve_kernel *kernel = tl_kernels()->convolve[dtype];
  const int64_t size = (int64_t)tl_itemsize(dtype);
  int64_t most = (1 << 20) / b->size / 64 * 64 + 64;  // between two polls
  if (kernel == NULL)
    return add_all(vm, a, b, dtype, from, end, out);
  for (; from < end; from += most, out += most * size) {
    if (most > end - from)
      most = end - from;
    kernel(out, a->data + from * size, b->data, (size_t)most, (size_t)b->size);
    if (!tl_poll(vm, (uint64_t)(most * b->size) >> 10))
      return false;
  }
  return true;
}

// [at], moved into [from, end] where it lies outside.
static int64_t within(int64_t at, int64_t from, int64_t end) {
  return at < from ? from : at > end ? end : at;
}

// [a] is the longer one; both are dense and of [dtype].
//
//   sums  skip      b - 1            a             end
//          |  edge   |     whole      |    edge     |
//            add_all     add_whole        add_all
//
// Where all of b meets items of a, a kernel makes each sum at once. Towards
// both ends terms are lacking, and sums are added up term by term.
static bool convolve_dense(tl_vm *vm, const tl_array *a, const tl_array *b,
                           tl_dtype dtype, part p, tl_slot *out) {
  tl_array *c = tl_array_new(vm, dtype, 1, &p.length);
  if (!c)
    return false;
  const int64_t size = (int64_t)tl_itemsize(dtype), end = p.skip + p.length;
  const int64_t begin_whole = within(b->size - 1, p.skip, end);
  const int64_t end_whole = within(a->size, p.skip, end);
  char *whole = c->data + (begin_whole - p.skip) * size;
  char *rest = c->data + (end_whole - p.skip) * size;
  bool ok = add_all(vm, a, b, dtype, p.skip, begin_whole, c->data) &&
            add_whole(vm, a, b, dtype, begin_whole, end_whole, whole) &&
            add_all(vm, a, b, dtype, end_whole, end, rest);
  return tl_array_finish(vm, ok, c, out);
}

// Sums are made as wide as the machine has them and narrowed in the end: for
// floats that is more exact, for integers, which wrap, the low bits are the
// same.
static tl_dtype computed_in(tl_dtype dtype) {
  return tl_dtype_is_complex(dtype) ? TL_COMPLEX128
         : tl_dtype_is_real(dtype)  ? TL_FLOAT64
         : dtype == TL_UINT64       ? TL_UINT64
                                    : TL_INT64;
}

// In C: sliding_windows(…) @ b in Tally takes 24 times as long for 16 items and
// 4 times for 10^5.
static bool convolve(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot x[2] = {tl_none(), tl_none()}, sum = tl_none();
  tl_dtype dtype;
  part p;
  if (!tl_promote_slots(vm, "convolve", args[0], args[1], &dtype))
    return false;
  const tl_array *a = args[0].array, *b = args[1].array;
  for (int i = 0; i < 2; i++)
    if (tl_ndim(args[i].array) != 1 || args[i].array->size == 0)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "convolve: %s must have one axis and an item at least",
                     i == 0 ? "a" : "b");
  int longer = a->size >= b->size ? 0 : 1;
  tl_dtype work = computed_in(dtype);
  bool ok = convolve_mode(vm, args[2], args[longer].array->size,
                          args[1 - longer].array->size, &p) &&
            tl_as_contiguous(vm, "convolve", args[longer], work, &x[0]) &&
            tl_as_contiguous(vm, "convolve", args[1 - longer], work, &x[1]) &&
            convolve_dense(vm, x[0].array, x[1].array, work, p, &sum);
  tl_drop(vm, x[0]);
  tl_drop(vm, x[1]);
  if (dtype == TL_BOOL)
    dtype = TL_INT64;
  if (!ok || !tl_dtype_is_integer(dtype))
    return ok && tl_cast_own(vm, sum.array, dtype, out);
  return tl_drop_after(
      vm, tl_cast_fitting(vm, &sum, dtype, TL_OVERFLOW_WRAP, out), &sum);
}

const tl_builtin tl_convolve_builtins[] = {
    /// The convolution of two vectors, out[i + k] = sum of a[i] b[k]: in full,
    /// of the longer one's length (mode "same"), or only where they overlap
    /// wholly ("valid"; Bracewell, 1965). Any numeric dtypes, promoted;
    /// integers wrap. Empty arrays, or such of more axes, are a shape error.
    ///     convolve([1, 2, 3], [1, 1])    # [1, 3, 5, 3]
    {"convolve", "a, b, mode: \"full\"", convolve, .types = "mm"},
    {.name = NULL},
};
