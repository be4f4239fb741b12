// Sines and cosines over vectors: x = k pi/2 + r, in three parts of pi/2, with
// the part of r that does not fit beside it.
//
// One polynomial serves all quadrants: s = sin b, with b = r for sines and
// b = r / 2 for cosines, which are 1 - 2 s^2. float64 is within 0.95 ulp;
// float32 computes in double. What is fused is exact, or computed to the same
// bits where nothing can be fused: all instruction sets agree. From
// |x| = 2^16 pi/2 on, the C library's functions are called.
#include "vm/kernels/list.h"
#include "vm/kernels/vector.h"
#include "vm/kernels/generated/vmath_tables.h"

enum { LIMIT = (1 << 16) - 1 };  // of |k|

// A multiple k of pi/2, and the quadrant that results.
typedef struct quarters {
  vec k;
  vec_bits quadrant;  // k + turns, in the low bits
} quarters;

// The nearest multiple of pi/2; [turns] quarters are added to the quadrant.
TL_INLINE quarters take_quarters(vec x, double turns, vec *farthest) {
  const double zero = VEC_WHOLE + turns;
  const vec shifted = x * TWO_OVER_PI + zero;
  const vec k = shifted - zero;
  note_distance(k, farthest);
  return (quarters){k, (vec_bits)shifted};
}

// y with its sign changed in the third and fourth quadrant.
TL_INLINE vec turn(vec y, vec_bits quadrant) {
  return (vec)((vec_bits)y ^ ((quadrant << 62) & VEC_SIGN));
}

// The sine of x + turns pi/2. The cosine of r is 1 - 2 sin(r/2)^2, so one
// polynomial serves both. The sine is b - t where b is zero with its sign.
TL_INLINE vec sin_turned(vec x, double turns, vec *farthest) {
  const quarters q = take_quarters(x, turns, farthest);
  const vec_mask is_cosine = has_lowest_bit(q.quadrant);

  // x - k pi/2 = r - lost; the first two products are exact.
  const vec first = multiply_add(q.k, all_of(-HALF_PI_1), x);
  const vec r = multiply_add(q.k, all_of(-HALF_PI_2), first);
  const vec lost =
      multiply_add(q.k, all_of(HALF_PI_2), r - first) + q.k * HALF_PI_3;

  const vec b = halve_where(is_cosine, r), z = b * b, z2 = z * z;
  const double *c = sin_terms;
  const vec terms =
      (c[0] + z * c[1]) + z2 * ((c[2] + z * c[3]) + z2 * (c[4] + z * c[5]));
  const vec t = b * z * terms + halve_where(is_cosine, lost);
  return turn(cosine_where(is_cosine, b - t), q.quadrant);
}

// The same for float32, in double without the second part of r.
TL_INLINE vec sin_turned_short(vec x, double turns, vec *farthest) {
  const quarters q = take_quarters(x, turns, farthest);
  const vec_mask is_cosine = has_lowest_bit(q.quadrant);
  const vec first = multiply_add(q.k, all_of(-HALF_PI_1), x);
  const vec b = halve_where(is_cosine, first - q.k * HALF_PI_23), z = b * b;
  const double *c = sin_terms_short;
  const vec terms = (c[0] + z * c[1]) + (z * z) * (c[2] + z * c[3]);
  const vec sine = b * (1 - z * terms);
  const vec cosine = multiply_add(sine * sine, all_of(-2), all_of(1));
  return turn(choose_where(is_cosine, cosine, sine), q.quadrant);
}

// The kernels of a function: items too far out for the reduction go to the C
// library, one by one.
#define ANGLES(name, sfx, T, turned, turns)                 \
  TL_INLINE vec name##_inside_##sfx(vec x, vec *farthest) { \
    return turned(x, turns, farthest);                      \
  }                                                         \
  TL_INLINE vec name##_anywhere_##sfx(vec x) {              \
    vec farthest = {0};                                     \
    vec y = turned(x, turns, &farthest);                    \
    for (int i = 0; i < LANES; i++)                         \
      if (farthest[i] > LIMIT)                              \
        y[i] = name(x[i]);                                  \
    return y;                                               \
  }                                                         \
  VECTOR_UNARY(name, sfx, T, name##_inside_##sfx, name##_anywhere_##sfx, LIMIT)

ANGLES(sin, float64, double, sin_turned, 0)
ANGLES(cos, float64, double, sin_turned, 1)
ANGLES(sin, float32, float, sin_turned_short, 0)
ANGLES(cos, float32, float, sin_turned_short, 1)
