// Saturating arithmetic of integers: see overflow.h. Compiled once, for any
// machine, since the question whether each item fits takes longer than the
// arithmetic.
#include "vm/kernels/overflow.h"

#include "vm/kernels/loop.h"

// The ends of each dtype's range, and which items are below 0.
#define X(D, sfx, T, W)                                                \
  static const T most_##sfx = (T)(UINT64_MAX >> (65 - 8 * sizeof(T))); \
  static const T least_##sfx =                                         \
      (T)(-(int64_t)(UINT64_MAX >> (65 - 8 * sizeof(T))) - 1);         \
  TL_INLINE bool is_below_##sfx(T x) {                                 \
    return x < 0;                                                      \
  }
TL_SIGNED(X)
#undef X
#define X(D, sfx, T, W)                                                \
  static const T most_##sfx = (T)(UINT64_MAX >> (64 - 8 * sizeof(T))); \
  static const T least_##sfx = 0;                                      \
  TL_INLINE bool is_below_##sfx(T x) {                                 \
    (void)x;                                                           \
    return false;                                                      \
  }
TL_UNSIGNED(X)
#undef X

// A kernel: [overflows] computes r and says whether it is not the result, and
// [end] is what the result becomes then.
// The loop has no exit, as the first that does not fit is rare: it is a minimum
// that goes along. r has a value in any case, since the built-ins that ask
// whether there is an overflow write the wrapped one.
#define KERNEL(name, sfx, T, y_of, overflows, end)                    \
  static size_t name##_##sfx(void *out, const void *a, const void *b, \
                             size_t n) {                              \
    size_t first = n;                                                 \
    const T *in_a = a, *in_b = b;                                     \
    T *to = out;                                                      \
    (void)in_b;                                                       \
    for (size_t i = 0; i < n; i++) {                                  \
      const T x = in_a[i], y = y_of;                                  \
      T r;                                                            \
      if (overflows) {                                                \
        r = (end) ? least_##sfx : most_##sfx;                         \
        first = first < i ? first : i;                                \
      }                                                               \
      to[i] = r;                                                      \
    }                                                                 \
    return first;                                                     \
  }

// Squares of what is left of the exponent may overflow only where a bit of it
// is left, and then the power does.
#define X(D, sfx, T, W)                                               \
  TL_INLINE bool power_##sfx(T x, T y, T *out) {                      \
    bool is_over = false;                                             \
    T power = 1;                                                      \
    for (; y != 0; y = (T)(y >> 1)) {                                 \
      if (y & 1)                                                      \
        is_over |= __builtin_mul_overflow(power, x, &power);          \
      if (y > 1)                                                      \
        is_over |= __builtin_mul_overflow(x, x, &x);                  \
    }                                                                 \
    *out = power;                                                     \
    return is_over;                                                   \
  }                                                                   \
  KERNEL(add, sfx, T, in_b[i], __builtin_add_overflow(x, y, &r),      \
         is_below_##sfx(y))                                           \
  KERNEL(subtract, sfx, T, in_b[i], __builtin_sub_overflow(x, y, &r), \
         least_##sfx == 0 || !is_below_##sfx(y))                      \
  KERNEL(multiply, sfx, T, in_b[i], __builtin_mul_overflow(x, y, &r), \
         is_below_##sfx(x) != is_below_##sfx(y))                      \
  KERNEL(pow, sfx, T, in_b[i], power_##sfx(x, y, &r),                 \
         is_below_##sfx(x) && (y & 1) != 0)                           \
  KERNEL(negative, sfx, T, 0, __builtin_sub_overflow(y, x, &r),       \
         least_##sfx == 0)                                            \
  KERNEL(square, sfx, T, x, __builtin_mul_overflow(x, y, &r), false)
TL_INTEGERS(X)
#undef X
#define X(D, sfx, T, W)  \
  KERNEL(abs, sfx, T, 0, \
         x < 0 ? __builtin_sub_overflow(y, x, &r) : (r = x, false), false)
TL_SIGNED(X)
#undef X

// All dtypes of an operation.
// A table of pointers instead of a switch: NULL is then what is not written.
#define ON_SIGNED(OP, name)                                                   \
  [TL_OP_##OP][TL_INT8] = name##_int8, [TL_OP_##OP][TL_INT16] = name##_int16, \
  [TL_OP_##OP][TL_INT32] = name##_int32,                                      \
  [TL_OP_##OP][TL_INT64] = name##_int64,
#define ON_INTEGERS(OP, name)              \
  ON_SIGNED(OP, name)                      \
  [TL_OP_##OP][TL_UINT8] = name##_uint8,   \
  [TL_OP_##OP][TL_UINT16] = name##_uint16, \
  [TL_OP_##OP][TL_UINT32] = name##_uint32, \
  [TL_OP_##OP][TL_UINT64] = name##_uint64,

// Operations and dtypes that are not named have NULL: abs of unsigned items
// always fits, and floats have no ends that they would stop at.
tl_saturate *tl_saturate_kernel(tl_op op, tl_dtype dtype) {
  static tl_saturate *const kernels[TL_OP_COUNT][TL_STRING] = {
      ON_INTEGERS(ADD, add) ON_INTEGERS(SUBTRACT, subtract)
          ON_INTEGERS(MULTIPLY, multiply) ON_INTEGERS(POW, pow)
              ON_INTEGERS(NEGATIVE, negative) ON_INTEGERS(SQUARE, square)
                  ON_SIGNED(ABS, abs)};
  return kernels[op][dtype];
}

// 0 of dtypes that are no integers.
uint64_t tl_largest_integer(tl_dtype dtype) {
  const size_t sign = tl_dtypes[dtype].kind == 'I' ? 1 : 0;
  return tl_dtype_is_integer(dtype)
             ? UINT64_MAX >> (64 - 8 * tl_itemsize(dtype) + sign)
             : 0;
}

// The same, and of unsigned dtypes.
int64_t tl_least_integer(tl_dtype dtype) {
  return tl_dtypes[dtype].kind == 'I' ? ~(int64_t)tl_largest_integer(dtype) : 0;
}

// 2^63 has no neighbour below it that is one less, as a double.
bool tl_cast_bounds(tl_dtype from, tl_dtype to, tl_bounds *out) {
  if (from == TL_BOOL || from > TL_FLOAT64 || !tl_dtype_is_integer(to))
    return false;
  int64_t least = tl_least_integer(to);
  uint64_t most = tl_largest_integer(to);
  if (tl_dtype_is_real(from)) {
    out->below = (double)most + 1;
    out->above = to == TL_INT64 ? -0x1.0000000000001p63 : (double)least - 1;
    return true;
  }
  if (least <= tl_least_integer(from) && most >= tl_largest_integer(from))
    return false;
  if (least < tl_least_integer(from))
    least = tl_least_integer(from);
  if (most > tl_largest_integer(from))
    most = tl_largest_integer(from);
  out->least = (uint64_t)least;
  out->span = most - out->least;
  return true;
}

// --- Folds ------------------------------------------------------------------

// Another factor: 0 makes all of it 0, whatever came before or comes after.
//
//  2^40 * 2^40 * 0      over after the second, 0 after the third
//  2^40 * 2^40 * -1     over, and negative: beyond the least
//
static void multiply_in(tl_exact_fold *fold, uint64_t absolute,
                        bool is_negative) {
  bool over = __builtin_mul_overflow(fold->absolute, absolute, &fold->absolute);
  fold->is_negative ^= is_negative;
  fold->is_over = (fold->is_over || over) && absolute != 0;
  // Any factor that is not 0 leaves it over.
  if (fold->is_over)
    fold->absolute = 1;
}

// The magnitude of INT64_MIN is 2^63, which 0 - x has in 64 bits without a
// sign. A sum of 2^63 items of 64 bits each has at most 127 bits, and its sign.
void tl_exact_fold_items(tl_exact_fold *fold, const void *items, bool is_signed,
                         size_t n) {
  const int64_t *in = items;
  const uint64_t *in_u = items;
  for (size_t i = 0; i < n; i++) {
    bool is_negative = is_signed && in[i] < 0;
    if (fold->is_product)
      multiply_in(fold, is_negative ? 0 - in_u[i] : in_u[i], is_negative);
    else
      fold->sum += is_signed ? (tl_int128)in[i] : (tl_int128)in_u[i];
  }
}

// What goes into the dtype goes by int64: the cast wraps, so that the bits of a
// large uint64 come out as they went in.
bool tl_exact_fold_end(const tl_exact_fold *fold, tl_dtype dtype, void *out) {
  const tl_int128 least = tl_least_integer(dtype);
  const tl_int128 most = tl_largest_integer(dtype);
  tl_int128 value = fold->sum;
  if (fold->is_product) {
    // One that is over is beyond both ends.
    value = fold->is_over ? most + 2 : (tl_int128)fold->absolute;
    value = fold->is_negative ? -value : value;
  }
  bool fits = least <= value && value <= most;
  value = value < least ? least : value > most ? most : value;
  const int64_t word = (int64_t)value;
  tl_kernels()->cast[TL_INT64][dtype](out, &word, 1);
  return fits;
}
