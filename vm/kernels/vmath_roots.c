// Cube roots and lengths as loops that vectorise: see vmath_parts.h. At most 1
// ulp from the exact result. For float32 see vmath_short.c.
#include "vm/kernels/vmath_parts.h"

// A third of the exponent, off by a few per cent; a polynomial makes 22 bits
// of it, and one step of Halley's all. Cut to 23 bits, its square is exact.
TL_INLINE double cbrt_anywhere(double x) {
  const double size = magnitude(x);
  const uint64_t tiny = all_if(size < 0x1p-1022);
  const double a = choose_bits(tiny, size * 0x1p54, size);
  const uint64_t third = ((bits_of(a) >> 32) * UINT64_C(0xAAAAAAAB)) >> 33;
  double t = from_bits((third + UINT64_C(715094163)) << 32);
  t *= cbrt_step(t * t * (t / a));
  t = from_bits((bits_of(t) + UINT64_C(0x20000000)) & ~UINT64_C(0x3fffffff));
  const double r = a / (t * t);
  const double y = t + t * ((r - t) / (t + t + r));
  const double root = with_sign(y * choose_bits(tiny, 0x1p-18, 1), x);
  // Zeros, infinities and NaN are their own.
  return size > 0 && size < (double)INFINITY ? root : x;
}

VMATH_UNARY_DOUBLE(cbrt, cbrt_anywhere)

// The root of the sum of squares, both as pairs, of numbers that are scaled to
// the middle of the range.
TL_INLINE double hypot_anywhere(double x, double y) {
  const double a = magnitude(x), b = magnitude(y);
  const double large = a > b ? a : b, small = a > b ? b : a;
  // Scaled by powers of two, so that squares neither overflow nor vanish.
  const uint64_t above = all_if(large > 0x1p500);
  const uint64_t below = all_if(large < 0x1p-400);
  const double to =
      choose_bits(above, 0x1p-600, choose_bits(below, 0x1p600, 1));
  const double back =
      choose_bits(above, 0x1p600, choose_bits(below, 0x1p-600, 1));
  const double s = small * to;
  const two_parts u = product_of(large * to, large * to);
  // What is too small to count would lose digits of its square.
  const double counted = choose_bits(all_if(s > large * to * 0x1p-60), s, 0);
  const two_parts v = product_of(counted, counted);
  two_parts sum = sum_of(u.high, v.high);
  sum.low += u.low + v.low;
  const two_parts root = root_of(sum);
  const double length = (root.high + root.low) * back;
  const bool finite = large < (double)INFINITY && small < (double)INFINITY;
  const double end =
      a == (double)INFINITY || b == (double)INFINITY ? (double)INFINITY : a + b;
  return finite && large > 0 ? length : end;
}

VMATH_BINARY_DOUBLE(hypot, hypot_anywhere)
