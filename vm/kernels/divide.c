// Floored division of reals. Where quotients are not huge, which is checked
// for a block of items first, the remainder comes exactly from x - q y and the
// loops vectorise; elsewhere the C library's fmod computes item by item.
#include "vm/kernels/list.h"

enum { BLOCK = 256 };

// The floored quotient of any x and y, from the exact remainder: rounding x /
// y first could step over a whole number. An infinite x has no remainder; its
// quotient is infinite, and that by an infinite y is zero, as the array API
// standard has it.
static double quotient_anywhere(double x, double y) {
  if (y == 0 || isinf(x) || isinf(y))
    return x / y;
  double rest = fmod(x, y);
  double quotient = (x - rest) / y;
  if (rest != 0 && (rest < 0) != (y < 0))
    quotient -= 1;
  if (quotient == 0)
    return copysign(0, x / y);
  double whole = floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

// The remainder of the floored quotient: of y's sign, also where it is 0.
static double rest_anywhere(double x, double y) {
  double rest = fmod(x, y);
  if (rest == 0)
    return copysign(0, y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}

// Both within these, and the quotient below 2^50, the formulas below neither
// overflow nor lose bits.
#define SMALLEST 0x1p-400
#define LARGEST 0x1p400
#define LARGEST_QUOTIENT 0x1p50

// Whether the formulas below hold for x and y.
TL_INLINE bool is_plain(double x, double y) {
  const double size = __builtin_fabs(y), quotient = __builtin_fabs(x / y);
  return (size > SMALLEST) & (size < LARGEST) & (quotient < LARGEST_QUOTIENT) &
         ((x == 0) | (__builtin_fabs(x) > SMALLEST));
}

// Rounds a quotient down: through the nearest whole number.
TL_INLINE double whole_below(double q) {
  const double size = __builtin_fabs(q), even = (size + 0x1p52) - 0x1p52;
  const double near = __builtin_copysign(even, q);
  return near - (near > q ? 1.0 : 0.0);
}

// A floored quotient and its remainder.
typedef struct division {
  double quotient, rest;
} division;

// The first 26 bits of x (Dekker).
TL_INLINE double upper_half(double x) {
  const double c = x * 0x1.0000002p27;
  return c - (c - x);
}

// x - q y, where q may be one too large as x / y was rounded; the product is
// taken in halves, so that none of it is lost.
TL_INLINE division divide_plain(double x, double y) {
  // The quotient is below 2^50, so it is exact or one too large.
  double q = whole_below(x / y);
  const double product = q * y, q1 = upper_half(q), y1 = upper_half(y);
  const double q2 = q - q1, y2 = y - y1;
  const double lost = ((q1 * y1 - product) + q1 * y2 + q2 * y1) + q2 * y2;
  double rest = (x - product) - lost;
  const bool beyond = rest * y < 0;
  rest = beyond ? rest + y : rest;
  q = beyond ? q - 1 : q;
  return (division){q, rest};
}

// The two results of a division; the other one is dropped by the compiler.
TL_INLINE double quotient_plain(double x, double y) {
  const double q = divide_plain(x, y).quotient;
  return q == 0 ? __builtin_copysign(0.0, x / y) : q;
}

// The remainder; a zero has the sign of y.
TL_INLINE double rest_plain(double x, double y) {
  const double rest = divide_plain(x, y).rest;
  return rest == 0 ? __builtin_copysign(0.0, y) : rest;
}

// The kernel of one result. A block of BLOCK items is computed by the plain
// formulas if all of its items are plain, else all by the C library: the bits
// are the same.
#define DIVIDE(name, sfx, T, which)                                            \
  static bool plain_##name##_##sfx(const T *x, const T *y, size_t n) {         \
    unsigned char odd = 0;                                                     \
    for (size_t i = 0; i < n; i++)                                             \
      odd = (unsigned char)(odd | !is_plain((double)x[i], (double)y[i]));      \
    return !odd;                                                               \
  }                                                                            \
  void TL_K(name##_##sfx)(void *out, const void *a, const void *b, size_t n) { \
    T *to = out;                                                               \
    const T *x = a, *y = b;                                                    \
    for (size_t start = 0; start < n; start += BLOCK) {                        \
      const size_t end = n - start < BLOCK ? n : start + BLOCK;                \
      if (plain_##name##_##sfx(x + start, y + start, end - start)) {           \
        TL_LOOP for (size_t i = start; i < end; i++) to[i] =                   \
            (T)which##_plain((double)x[i], (double)y[i]);                      \
      } else {                                                                 \
        for (size_t i = start; i < end; i++)                                   \
          to[i] = (T)which##_anywhere((double)x[i], (double)y[i]);             \
      }                                                                        \
    }                                                                          \
  }
#define X(D, sfx, T, W)                  \
  DIVIDE(floor_divide, sfx, T, quotient) \
  DIVIDE(remainder, sfx, T, rest)
TL_FLOATS(X)
#undef X
