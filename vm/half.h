// float16, a dtype that is stored and not computed in: its items are 16 bits of
// IEEE 754 (binary16), and slots and kernels have them as the float32 that they
// are. Rounding a float32 result gives what one rounding to float16 would for
// + - * / and roots, since float32 has more than twice its digits.
//
//     0x3c00   1.0         0x0001   2^-24, the least        0x7bff   65504
//     0x2e66   0.1         0x7c00   infinity                0x7e00   NaN
//
// Processors with an instruction for it give the same bits (kernels/half.c).
#pragma once

#include <stdint.h>
#include <string.h>

// Exact; a signalling NaN becomes a quiet one, as processors do it.
static inline float tl_half_widen(uint16_t half) {
  uint32_t rest = half & 0x7fffu, bits = rest << 13;
  float f;
  // The exponent's bias is 112 less; a product makes numbers of subnormal ones.
  memcpy(&f, &bits, sizeof f);
  f *= 0x1p112f;
  memcpy(&bits, &f, sizeof f);
  if (rest >= 0x7c00u)
    bits = rest << 13 | 0x7f800000u | (rest > 0x7c00u ? 0x400000u : 0);
  bits |= (half & 0x8000u) << 16;
  memcpy(&f, &bits, sizeof f);
  return f;
}

// To nearest, halves to even; infinity from 65520 on.
static inline uint16_t tl_half_round(float f) {
  uint32_t bits, rest, out;
  memcpy(&bits, &f, sizeof f);
  rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) {
    out = 0x7e00u | (rest >> 13 & 0x3ffu);
  } else if (rest >= 0x477ff000u) {
    out = 0x7c00u;
  } else if (rest < 0x38800000u) {
    // Next to one half float32 has the steps of subnormal items.
    memcpy(&f, &rest, sizeof f);
    f += 0.5f;
    memcpy(&out, &f, sizeof f);
    out -= 0x3f000000u;
  } else {
    out = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1)) >> 13;
  }
  return (uint16_t)(out | (bits >> 16 & 0x8000u));
}

// [d] as a float32 that rounds to the float16 that d rounds to: cut towards 0,
// with its last bit set where something was cut.
static inline float tl_half_of_double(double d) {
  float f = (float)d;
  uint32_t bits;
  double back = (double)f;
  memcpy(&bits, &f, sizeof f);
  if (back < d || back > d) {
    bits -= (back < 0 ? -back : back) > (d < 0 ? -d : d);
    bits |= 1;
    memcpy(&f, &bits, sizeof f);
  }
  return f;
}
