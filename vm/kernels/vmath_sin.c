// Sines and cosines over vectors: x = k pi/2 + r, in three parts of pi/2, with
// the part of r that does not fit beside it.
//
// One polynomial serves all quadrants: s = sin b, with b = r for sines and
// b = r / 2 for cosines, which are 1 - 2 s^2. float64 is within 0.91 ulp;
// float32 computes in double. What is fused is exact: all instruction sets give
// the same bits. From |x| = 2^16 pi/2 on, the C library's functions are called.
#include "vm/kernels/list.h"
#include "vm/kernels/vector.h"
#include "vm/kernels/vmath_tables.h"

enum { LOG2_QUADRANTS = 16 };

typedef struct quarters {
  vec k;
  vec_bits quadrant;  // in the low bits
} quarters;

TL_INLINE quarters take_quarters(vec x, vec_bits *odd) {
  const vec shifted = x * TWO_OVER_PI + VEC_WHOLE;
  const vec_bits quadrant = (vec_bits)shifted;
  *odd |= quadrant - (VEC_WHOLE_BITS - ((uint64_t)1 << LOG2_QUADRANTS));
  return (quarters){shifted - VEC_WHOLE, quadrant};
}

TL_INLINE vec turn(vec y, vec_bits quadrant) {
  return (vec)((vec_bits)y ^ ((quadrant << 62) & 0x8000000000000000u));
}

// The sine of x + turns pi/2. It is b - t where b is zero with its sign.
TL_INLINE vec sin_turned(vec x, uint64_t turns, vec_bits *odd) {
  const quarters q = take_quarters(x, odd);
  const vec_bits quadrant = q.quadrant + turns;
  const vec_mask is_cosine = has_lowest_bit(quadrant);

  // x - k pi/2 = r - lost; the first two products are exact.
  const vec first = multiply_add(q.k, all_of(-HALF_PI_1), x);
  const vec r = multiply_add(q.k, all_of(-HALF_PI_2), first);
  const vec lost =
      multiply_add(q.k, all_of(HALF_PI_2), r - first) + q.k * HALF_PI_3;

  const vec b = halve_where(is_cosine, r), z = b * b, z2 = z * z;
  const vec tail = halve_where(is_cosine, lost);
  const double *c = sin_terms;
  const vec terms =
      (c[0] + z * c[1]) + z2 * ((c[2] + z * c[3]) + z2 * (c[4] + z * c[5]));
  const vec t = z * multiply_add(tail, all_of(-0.5), b * terms) + tail;
  const vec sine = b - t;
  // Here b + b is r.
  const vec most = multiply_add(z, all_of(-2), all_of(1));
  const vec rest = multiply_add(z, all_of(-2), 1 - most);
  const vec cosine = most + multiply_add(t * (r - t), all_of(2), rest);
  return turn(choose_where(is_cosine, cosine, sine), quadrant);
}

TL_INLINE vec sin_turned_short(vec x, uint64_t turns, vec_bits *odd) {
  const quarters q = take_quarters(x, odd);
  const vec_bits quadrant = q.quadrant + turns;
  const vec_mask is_cosine = has_lowest_bit(quadrant);
  const vec first = multiply_add(q.k, all_of(-HALF_PI_1), x);
  const vec b = halve_where(is_cosine, first - q.k * HALF_PI_23), z = b * b;
  const double *c = sin_terms_short;
  const vec terms = (c[0] + z * c[1]) + (z * z) * (c[2] + z * c[3]);
  const vec sine = b * (1 - z * terms);
  const vec cosine = multiply_add(sine * sine, all_of(-2), all_of(1));
  return turn(choose_where(is_cosine, cosine, sine), quadrant);
}

#define ANGLES(name, sfx, T, turned, turns)                 \
  TL_INLINE vec name##_inside_##sfx(vec x, vec_bits *odd) { \
    return turned(x, turns, odd);                           \
  }                                                         \
  TL_INLINE vec name##_anywhere_##sfx(vec x) {              \
    vec_bits odd = {0};                                     \
    vec y = turned(x, turns, &odd);                         \
    if (has_bits(odd, ~(uint64_t)INSIDE))                   \
      for (int i = 0; i < LANES; i++)                       \
        if ((odd[i] & ~(uint64_t)INSIDE) != 0)              \
          y[i] = name(x[i]);                                \
    return y;                                               \
  }                                                         \
  VECTOR_UNARY(name, sfx, T, name##_inside_##sfx, name##_anywhere_##sfx, INSIDE)
#define INSIDE (((uint64_t)2 << LOG2_QUADRANTS) - 1)

ANGLES(sin, float64, double, sin_turned, 0)
ANGLES(cos, float64, double, sin_turned, 1)
ANGLES(sin, float32, float, sin_turned_short, 0)
ANGLES(cos, float32, float, sin_turned_short, 1)
