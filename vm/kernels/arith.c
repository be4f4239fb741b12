// Sums, differences, products, quotients, signs and squares of integers and
// reals, with the forms for one scalar operand.
#include "vm/kernels/list.h"

#define BINARY_FORMS(name, sfx, T, R, expr) \
  TL_BINARY(name##_##sfx, T, R, expr)       \
  TL_BINARY_VS(name##_vs_##sfx, T, R, expr) \
  TL_BINARY_SV(name##_sv_##sfx, T, R, expr)

#define X(D, sfx, T, W)                        \
  TL_BINARY(add_##sfx, T, T, (W)x + (W)y)      \
  TL_BINARY(subtract_##sfx, T, T, (W)x - (W)y) \
  TL_BINARY(multiply_##sfx, T, T, (W)x *(W)y)  \
  TL_UNARY(negative_##sfx, T, T, (W)0 - (W)x)  \
  TL_UNARY(square_##sfx, T, T, (W)x *(W)x)
TL_UNSIGNED(X)
#undef X

#define X(D, sfx, T, W)                                        \
  BINARY_FORMS(add, sfx, T, T, x + y)                          \
  BINARY_FORMS(subtract, sfx, T, T, x - y)                     \
  BINARY_FORMS(multiply, sfx, T, T, x *y)                      \
  BINARY_FORMS(divide, sfx, T, T, x / y)                       \
  BINARY_FORMS(maximum, sfx, T, T, y != y ? y : y > x ? y : x) \
  BINARY_FORMS(minimum, sfx, T, T, y != y ? y : y < x ? y : x) \
  TL_UNARY(negative_##sfx, T, T, -x)                           \
  TL_UNARY(square_##sfx, T, T, x *x)                           \
  TL_UNARY(reciprocal_##sfx, T, T, (T)1 / x)                   \
  TL_UNARY(sign_##sfx, T, T, x > 0 ? (T)1 : x < 0 ? (T)-1 : x == 0 ? (T)0 : x)
TL_FLOATS(X)
#undef X

TL_UNARY(abs_float32, float, float, __builtin_fabsf(x))
TL_UNARY(abs_float64, double, double, __builtin_fabs(x))
TL_BINARY(copysign_float32, float, float, __builtin_copysignf(x, y))
TL_BINARY(copysign_float64, double, double, __builtin_copysign(x, y))

// The bits of a float, as a number, rise with its size: the next one away from
// 0 is one more, and one less lies towards it.
#define NEXT_AFTER(sfx, T, U, f, least)                     \
  TL_INLINE T next_##sfx(T x, T y) {                        \
    U bits;                                                 \
    T near;                                                 \
    memcpy(&bits, &x, sizeof bits);                         \
    bits += (y > x) == (x > 0) ? 1 : (U)0 - 1;              \
    memcpy(&near, &bits, sizeof near);                      \
    near = x == 0 ? __builtin_copysign##f(least, y) : near; \
    return x != x ? x : ((x == y) | (y != y)) ? y : near;   \
  }                                                         \
  TL_BINARY(nextafter_##sfx, T, T, next_##sfx(x, y))
NEXT_AFTER(float32, float, uint32_t, f, 0x1p-149f)
NEXT_AFTER(float64, double, uint64_t, , 0x1p-1074)

// Signed scalars wrap like everything else, so they compute unsigned.
#define SCALAR_INT64(name, op)                                                \
  TL_BINARY_VS(name##_vs_int64, int64_t, int64_t, (uint64_t)x op(uint64_t) y) \
  TL_BINARY_SV(name##_sv_int64, int64_t, int64_t, (uint64_t)x op(uint64_t) y)
SCALAR_INT64(add, +)
SCALAR_INT64(subtract, -)
SCALAR_INT64(multiply, *)
TL_BINARY_VS(maximum_vs_int64, int64_t, int64_t, x > y ? x : y)
TL_BINARY_SV(maximum_sv_int64, int64_t, int64_t, x > y ? x : y)
TL_BINARY_VS(minimum_vs_int64, int64_t, int64_t, x < y ? x : y)
TL_BINARY_SV(minimum_sv_int64, int64_t, int64_t, x < y ? x : y)

#define X(D, sfx, T, W)                         \
  TL_BINARY(maximum_##sfx, T, T, x > y ? x : y) \
  TL_BINARY(minimum_##sfx, T, T, x < y ? x : y)
TL_INTEGERS(X)
#undef X

#define X(D, sfx, T, W)                                 \
  TL_UNARY(abs_##sfx, T, T, x < 0 ? (W)0 - (W)x : (W)x) \
  TL_UNARY(sign_##sfx, T, T, (x > 0) - (x < 0))
TL_SIGNED(X)
#undef X

#define X(D, sfx, T, W) TL_UNARY(sign_##sfx, T, T, x != 0)
TL_UNSIGNED(X)
#undef X
