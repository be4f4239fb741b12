// tan, atan, atan2, asin and acos as loops that vectorise: see vmath_parts.h.
//
// The part that is nearest to the result is a constant or an operand, so that
// only the last sum rounds much: at most 1 ulp from the exact result. For
// float32 see vmath_short.c.
#include "vm/kernels/vmath_parts.h"
#include "vm/kernels/generated/vmath_tables.h"

// ---- tangents ---------------------------------------------------------------

// As far as k pi/2 is exact.
#define TAN_LIMIT 102942.0

// x = k pi/2 + r + e. The tangent is the sine of r by the cosine, or less the
// cosine by the sine, each as a pair.
TL_INLINE double tan_inside(double x) {
  const double shifted = x * TWO_OVER_PI + WHOLE, k = shifted - WHOLE;
  const double first = x - k * HALF_PI_1, second = k * HALF_PI_2;
  const double r = first - second;
  const double e = ((first - r) - second) - k * HALF_PI_3;
  const double z = r * r, *c = sin_terms;
  const double terms = (c[0] + z * c[1]) +
                       z * z * ((c[2] + z * c[3]) + z * z * (c[4] + z * c[5]));
  const double more = e * (1 - 0.5 * z) - r * z * terms;
  const double s = r + more, s_low = (r - s) + more;
  const double most = 1 - 0.5 * z;
  const double rest = ((1 - most) - 0.5 * z) + (z * z * cos_rest(z) - r * e);
  const double d = most + rest, d_low = (most - d) + rest;
  const uint64_t odd = 0 - (bits_of(shifted) & 1);
  const two_parts upper = {choose_bits(odd, -d, s),
                           choose_bits(odd, -d_low, s_low)};
  const two_parts lower = {choose_bits(odd, s, d),
                           choose_bits(odd, s_low, d_low)};
  const two_parts y = quotient_of(upper, lower);
  return x == 0 ? x : y.high + y.low;
}

// Items beyond TAN_LIMIT are computed by the C library.
VMATH_FORMULA(tan, double, tan_inside(x[i]))
VMATH_BLOCKS(tan, double, vmath_each, magnitude(x[i]) < TAN_LIMIT, tan(x[i]))
void TL_K(tan_float64)(void *out, const void *a, size_t n) {
  tan_blocks(out, a, NULL, n);
}

// ---- arcs of tangents -------------------------------------------------------

// The nearest of the angles whose tangents are 0, 1/2, 1, 3/2 and infinity:
// masks of the limits between them that y / x is beyond.
typedef struct landmark {
  uint64_t beyond_0, beyond_half, beyond_1, far;
} landmark;

// The landmark for the angle of (x, y), neither negative: without a division.
TL_INLINE landmark nearest_landmark(double y, double x) {
  return (landmark){all_if(y >= 0.4375 * x), all_if(y >= 0.6875 * x),
                    all_if(y >= 1.1875 * x), all_if(y >= 2.4375 * x)};
}

// The bits in which x and y differ, where the mask is.
TL_INLINE uint64_t turned_if(uint64_t mask, double x, double y) {
  return mask & (bits_of(x) ^ bits_of(y));
}

// The constant of the landmark. Each mask changes the choice before it into
// the next: of constants, that is two instructions.
TL_INLINE double at_landmark(landmark m, double zero, double half, double one,
                             double more, double far) {
  return from_bits(bits_of(zero) ^ turned_if(m.beyond_0, zero, half) ^
                   turned_if(m.beyond_half, half, one) ^
                   turned_if(m.beyond_1, one, more) ^
                   turned_if(m.far, more, far));
}

// Each in two parts: the angles, and what pi is more.
#define ATAN_HALF 0x1.dac670561bb4fp-2
#define ATAN_HALF_LOST 2.2698777452961687e-17
#define ATAN_1 0x1.921fb54442d18p-1
#define ATAN_1_LOST 3.061616997868383e-17
#define ATAN_MORE 0x1.f730bd281f69bp-1
#define ATAN_MORE_LOST 1.3903311031230998e-17
#define ATAN_FAR 0x1.921fb54442d18p0
#define ATAN_FAR_LOST 6.123233995736766e-17
#define LEFT_HALF 0x1.56c6e7397f5aep1
#define LEFT_HALF_LOST 1.5527705369303147e-16
#define LEFT_1 0x1.2d97c7f3321d2p1
#define LEFT_1_LOST 9.184850993605148e-17
#define LEFT_MORE 0x1.145385fa3af71p1
#define LEFT_MORE_LOST 2.1958367134601997e-16
#define PI_HIGH 0x1.921fb54442d18p1
#define PI_LOST 1.2246467991473532e-16

// The angle of the landmark plus the arc of the small tangent that is left.
TL_INLINE double atan_anywhere(double x) {
  const double a = magnitude(x);
  const landmark m = nearest_landmark(a, 1);
  const double tangent = at_landmark(m, 0, 0.5, 1, 1.5, 0);
  const double upper = choose_bits(m.far, -1, a - tangent);
  const double lower = choose_bits(m.far, a, 1 + tangent * a);
  const double t = upper / lower, z = t * t;
  const double high = at_landmark(m, 0, ATAN_HALF, ATAN_1, ATAN_MORE, ATAN_FAR);
  const double low = at_landmark(m, 0, ATAN_HALF_LOST, ATAN_1_LOST,
                                 ATAN_MORE_LOST, ATAN_FAR_LOST);
  const double y = high + (t + (low + t * (z * atan_rest(z))));
  return x != x ? x : with_sign(y, x);
}

VMATH_UNARY_DOUBLE(atan, atan_anywhere)

// The tangent of the angle beyond the landmark is (y - c x) / (x + c y), whose
// parts are pairs. Left of the y axis the angle is pi less than that.
TL_INLINE double atan2_inside(double side, double along) {
  const double y = magnitude(side), x = magnitude(along);
  const landmark m = nearest_landmark(y, x);
  // c x and c y: 3/2 is 1 and 1/2.
  const double whole = at_landmark(m, 0, 0.5, 1, 1, 0);
  const double half = at_landmark(m, 0, 0, 0, 0.5, 0);
  const double cx = whole * x + half * x, cy = whole * y + half * y;
  const double cx_low = half * x - (cx - whole * x);
  const double cy_low = half * y - (cy - whole * y);
  two_parts upper = sum_of(y, -cx), lower = sum_of(x, cy);
  upper.high = choose_bits(m.far, -x, upper.high);
  upper.low = choose_bits(m.far, 0, upper.low - cx_low);
  lower.high = choose_bits(m.far, y, lower.high);
  lower.low = choose_bits(m.far, 0, lower.low + cy_low);
  const two_parts t = quotient_of(upper, lower);
  const double z = t.high * t.high;
  const uint64_t left = 0 - (bits_of(along) >> 63);
  const double high = at_landmark(
      m, choose_bits(left, PI_HIGH, 0), choose_bits(left, LEFT_HALF, ATAN_HALF),
      choose_bits(left, LEFT_1, ATAN_1),
      choose_bits(left, LEFT_MORE, ATAN_MORE), ATAN_FAR);
  const double low = at_landmark(
      m, choose_bits(left, PI_LOST, 0),
      choose_bits(left, LEFT_HALF_LOST, ATAN_HALF_LOST),
      choose_bits(left, LEFT_1_LOST, ATAN_1_LOST),
      choose_bits(left, LEFT_MORE_LOST, ATAN_MORE_LOST), ATAN_FAR_LOST);
  const double sign = choose_bits(left, -1, 1), turned = sign * t.high;
  const double rest = sign * (t.low * (1 - z) + t.high * (z * atan_rest(z)));
  return with_sign(high + (turned + (low + rest)), side);
}

// Whether a size is 0 or so far from the ends of the range that no pair loses
// digits.
TL_INLINE uint64_t is_usual(double size) {
  return all_if(size == 0) | (all_if(size > 0x1p-400) & all_if(size < 0x1p400));
}

// Whether the formula holds: no pair loses digits, and the point is neither
// (0, 0) nor infinite.
TL_INLINE uint64_t atan2_holds(double side, double along) {
  const double y = magnitude(side), x = magnitude(along);
  return is_usual(y) & is_usual(x) & all_if(x + y > 0);
}

// The operands are side and along.
VMATH_FORMULA(atan2, double, atan2_inside(x[i], y[i]))
VMATH_BLOCKS(atan2, double, vmath_each, atan2_holds(x[i], y[i]) != 0,
             atan2(x[i], y[i]))
void TL_K(atan2_float64)(void *out, const void *a, const void *b, size_t n) {
  atan2_blocks(out, a, b, n);
}

// ---- arcs of sines ----------------------------------------------------------

// asin s = s + s z R(z) for z = s^2 up to 1/4. Beyond, asin a = pi/2 - 2 asin
// s for z = (1 - a) / 2, where s is f and the error of the root.
typedef struct half_angle {
  uint64_t small;
  double s, f, lost, rest;  // rest = asin(s) / s - 1
} half_angle;

// Prepares both cases; the mask chooses between them.
TL_INLINE half_angle half_angle_of(double a) {
  half_angle h;
  h.small = all_if(a < 0.5);
  const double z = choose_bits(h.small, a * a, (1 - a) * 0.5);
  h.s = choose_bits(h.small, a, __builtin_sqrt(z));
  h.f = first_half(h.s);
  const double both = h.s + h.f;
  h.lost = (z - h.f * h.f) / choose_bits(all_if(both > 0), both, 1);
  h.rest = z * asin_rest(z);
  return h;
}

// The outer case adds two parts of pi/2, the larger one last.
TL_INLINE double asin_anywhere(double x) {
  const half_angle h = half_angle_of(magnitude(x));
  const double inner = h.s + h.s * h.rest;
  const double outer =
      ATAN_1 -
      ((2 * h.s * h.rest - (ATAN_FAR_LOST - 2 * h.lost)) - (ATAN_1 - 2 * h.f));
  const double y = with_sign(choose_bits(h.small, inner, outer), x);
  return x != x ? x : y;
}

// Right of 1/2 the result is small, so it is no difference from pi/2 there.
TL_INLINE double acos_anywhere(double x) {
  const half_angle h = half_angle_of(magnitude(x));
  const double inner = ATAN_FAR - (x - (ATAN_FAR_LOST - x * h.rest));
  const double right = 2 * (h.f + (h.rest * h.s + h.lost));
  const double left =
      PI_HIGH - 2 * (h.f + ((h.rest * h.s + h.lost) - ATAN_FAR_LOST));
  const double outer = choose_bits(all_if(x > 0), right, left);
  const double y = choose_bits(h.small, inner, outer);
  return x != x ? x : y;
}

VMATH_UNARY_DOUBLE(asin, asin_anywhere)
VMATH_UNARY_DOUBLE(acos, acos_anywhere)
