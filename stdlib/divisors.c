// Greatest common divisors and least common multiples, for the functions in
// Tally that are made of them.
//
// Built for speed.

#include "stdlib/families.h"
#include "vm/kernels/kernels.h"

// By shifts and differences (Stein, 1967): a division takes as long as several
// of these steps. Both are odd in the loop, so that their difference is even
// and loses a bit at least in each turn.
static uint64_t divisor_of(uint64_t a, uint64_t b) {
  if (a == 0 || b == 0)
    return a | b;
  const int twos = __builtin_ctzll(a | b);
  a >>= __builtin_ctzll(a);
  do {
    b >>= __builtin_ctzll(b);
    const uint64_t least = a < b ? a : b;
    b = a < b ? b - a : a - b;
    a = least;
  } while (b != 0);
  return a << twos;
}

// A number's size, whose sign may be one of 64 bits.
static uint64_t size_of(uint64_t x, bool is_signed) {
  return is_signed && (int64_t)x < 0 ? 0 - x : x;
}

// Items at a time: buffers of 64 bits for both operands stay in the nearest
// cache.
enum { BLOCK = 256 };

// [n] items of a run, [step] bytes apart, as 64 bits.
static void widen(uint64_t *to, const char *from, int64_t step, tl_dtype dtype,
                  tl_dtype wide, size_t n) {
  uint64_t packed[BLOCK];
  const tl_kernel_table *kernels = tl_kernels();
  kernels->pack[tl_move_size(tl_itemsize(dtype))](packed, from, step, n);
  kernels->cast[dtype][wide](to, packed, n);
}

// What becomes of 64 bits wraps into the dtype, as a product does.
static uint64_t multiple_of(uint64_t a, uint64_t b) {
  return a == 0 ? 0 : a / divisor_of(a, b) * b;
}

// A run of two arrays with the dtypes [a] and [b], into items of [dtype] side
// by side: divisors, or multiples.
static void run_divisors(const tl_walk *w, tl_dtype a, tl_dtype b,
                         tl_dtype dtype, bool multiples) {
  const bool is_signed = tl_dtypes[dtype].kind == 'I';
  const tl_dtype wide = is_signed ? TL_INT64 : TL_UINT64;
  uint64_t x[BLOCK], y[BLOCK];
  for (int64_t at = 0; at < w->length; at += BLOCK) {
    const size_t n = (size_t)(w->length - at < BLOCK ? w->length - at : BLOCK);
    widen(x, w->data[1] + at * w->step[1], w->step[1], a, wide, n);
    widen(y, w->data[2] + at * w->step[2], w->step[2], b, wide, n);
    for (size_t i = 0; i < n; i++) {
      const uint64_t u = size_of(x[i], is_signed), v = size_of(y[i], is_signed);
      x[i] = multiples ? multiple_of(u, v) : divisor_of(u, v);
    }
    char *to = w->data[0] + at * (int64_t)tl_itemsize(dtype);
    tl_kernels()->cast[wide][dtype](to, x, n);
    // What wrapped may be negative.
    if (multiples)
      tl_kernels()->unary[TL_OP_ABS][dtype](to, to, n);
  }
}

// Walks both arrays, broadcast to the shape of [to]. False: it was stopped.
static bool all_divisors(tl_vm *vm, const tl_array *a, const tl_array *b,
                         bool multiples, tl_array *to) {
  int64_t strides[2][TL_MAX_DIMS];
  const int ndim = tl_ndim(to);
  tl_broadcast_strides(a, ndim, tl_shape(to), strides[0]);
  tl_broadcast_strides(b, ndim, tl_shape(to), strides[1]);
  tl_walk walk;
  tl_walk_begin(
      &walk, 3, ndim, tl_shape(to), (char *const[]){to->data, a->data, b->data},
      (const int64_t *const[]){tl_strides(to), strides[0], strides[1]});
  tl_walk_by_pieces(&walk);
  for (; !walk.done; tl_walk_next(&walk)) {
    run_divisors(&walk, tl_array_dtype(a), tl_array_dtype(b),
                 tl_array_dtype(to), multiples);
    if (!tl_poll(vm, 1 + (uint64_t)walk.length / 64))
      return false;
  }
  return true;
}

// divisors(a, b, multiples): none where they are no plain arrays of integers
// that promote to integers.
static bool divisors(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_none();
  if (tl_is_nested(args[0]) || tl_is_nested(args[1]))
    return true;
  const tl_array *both[2] = {args[0].array, args[1].array};
  const tl_dtype a = tl_array_dtype(both[0]), b = tl_array_dtype(both[1]);
  if (!tl_dtype_is_integer(a) || !tl_dtype_is_integer(b))
    return true;
  const tl_dtype dtype = tl_dtype_promote(a, b);
  if (!tl_dtype_is_integer(dtype))
    return true;
  int64_t shape[TL_MAX_DIMS];
  int ndim;
  if (!tl_broadcast(vm, 2, both, &ndim, shape))
    return false;
  tl_array *made = tl_array_new(vm, dtype, ndim, shape);
  return made != NULL &&
         tl_result_finish(
             vm, all_divisors(vm, both[0], both[1], args[2].i != 0, made), made,
             out);
}

const tl_builtin tl_divisors_module[] = {
    /// The greatest common divisors of two arrays of integers, or their least
    /// common multiples; none of other values.
    {"divisors", "a, b, multiples: false", divisors, .types = "vvb"},
    {.name = NULL},
};
