// Made by tools/generate/vmath.py.
#ifndef TALLY_VM_KERNELS_GENERATED_VMATH_DATA_H
#define TALLY_VM_KERNELS_GENERATED_VMATH_DATA_H

#include "vm/kernels/loop.h"

#define LN2_1 0x1.62e42fee00000p-1
#define LN2_2 0x1.a39ef35793c76p-33
#define ONE_OVER_LN2 0x1.71547652b82fep+0

// (e^x - 1 - x) / x^2
TL_INLINE double exp_rest(double x) {
  double p = 0x1.af38a9b0ec855p-26;
  p = p * x + 0x1.289185613a3d6p-22;
  p = p * x + 0x1.71de0dae63bb3p-19;
  p = p * x + 0x1.a019b90d2ae7ap-16;
  p = p * x + 0x1.a01a01a7c41d5p-13;
  p = p * x + 0x1.6c16c1788bd90p-10;
  p = p * x + 0x1.11111111109b3p-7;
  p = p * x + 0x1.5555555553d63p-5;
  p = p * x + 0x1.5555555555556p-3;
  p = p * x + 0x1.0000000000001p-1;
  return p;
}

// (e^x - 1 - x - x^2 / 2) / x^3
TL_INLINE double exp_cubic(double x) {
  double p = 0x1.1f66df7fca49fp-29;
  p = p * x + 0x1.af38a9b0ec855p-26;
  p = p * x + 0x1.27e4e1f48534fp-22;
  p = p * x + 0x1.71de0dae63bb3p-19;
  p = p * x + 0x1.a01a01a47b054p-16;
  p = p * x + 0x1.a01a01a7c41d5p-13;
  p = p * x + 0x1.6c16c16c167e1p-10;
  p = p * x + 0x1.11111111109b3p-7;
  p = p * x + 0x1.5555555555555p-5;
  p = p * x + 0x1.5555555555556p-3;
  return p;
}

// (log((1 + s) / (1 - s)) - 2 s) / s / s^2 for x = s^2
TL_INLINE double log_rest(double x) {
  double p = 0x1.2b5900de57b3bp-3;
  p = p * x + 0x1.39fe51a7c12d9p-3;
  p = p * x + 0x1.7462b51cb66eap-3;
  p = p * x + 0x1.c71c62e3f11e5p-3;
  p = p * x + 0x1.2492492df281ap-2;
  p = p * x + 0x1.99999999952d7p-2;
  p = p * x + 0x1.5555555555558p-1;
  return p;
}

// erf(r) / r - 1 for x = r^2
TL_INLINE double erf_rest(double x) {
  double p = 0x1.55c1e42783f3ep-8;
  p = p * x + -0x1.b82cbe0caabaap-6;
  p = p * x + 0x1.ce2f219ca0030p-4;
  p = p * x + -0x1.812746b0377e7p-2;
  p = p * x + 0x1.06eba8214db68p-3;
  return p;
}

// (atan(s) / s - 1) / z for z = s^2
TL_INLINE double atan_rest(double x) {
  double p = 0x1.e40ade8e602c6p-7;
  p = p * x + -0x1.0f5fd11674c33p-5;
  p = p * x + 0x1.70003d828cdd1p-5;
  p = p * x + -0x1.ab5964d96281dp-5;
  p = p * x + 0x1.e17074088e1b9p-5;
  p = p * x + -0x1.110c9c5286460p-4;
  p = p * x + 0x1.3b1375c517249p-4;
  p = p * x + -0x1.745d154c29613p-4;
  p = p * x + 0x1.c71c71bd297ddp-4;
  p = p * x + -0x1.24924924854d3p-3;
  p = p * x + 0x1.99999999998c5p-3;
  p = p * x + -0x1.5555555555555p-2;
  return p;
}

// (asin(s) / s - 1) / z for z = s^2
TL_INLINE double asin_rest(double x) {
  double p = 0x1.e541e70372a1dp-6;
  p = p * x + -0x1.3b670509d0a5cp-6;
  p = p * x + 0x1.407b71e240f41p-6;
  p = p * x + 0x1.8ec67625726f7p-9;
  p = p * x + 0x1.3167772f2a259p-7;
  p = p * x + 0x1.3b48f25a504b0p-7;
  p = p * x + 0x1.7b029ae0bf955p-7;
  p = p * x + 0x1.c990aaf9c4702p-7;
  p = p * x + 0x1.1c4efcf1d8e6dp-6;
  p = p * x + 0x1.6e8ba1235a206p-6;
  p = p * x + 0x1.f1c71c7a558f9p-6;
  p = p * x + 0x1.6db6db6dac1a2p-5;
  p = p * x + 0x1.3333333333388p-4;
  p = p * x + 0x1.5555555555555p-3;
  return p;
}

// (asinh(s) / s - 1) / z for z = s^2
TL_INLINE double asinh_rest(double x) {
  double p = 0x1.ee317972beab6p-10;
  p = p * x + -0x1.472f2b49daf72p-8;
  p = p * x + 0x1.f38673c448ae8p-8;
  p = p * x + -0x1.3a4a8128f5dfbp-7;
  p = p * x + 0x1.79b0c6268c110p-7;
  p = p * x + -0x1.c983b61012c75p-7;
  p = p * x + 0x1.1c4e071294760p-6;
  p = p * x + -0x1.6e8b9ab2f1a7ap-6;
  p = p * x + 0x1.f1c71c3be3296p-6;
  p = p * x + -0x1.6db6db6d5b219p-5;
  p = p * x + 0x1.3333333332f5ep-4;
  p = p * x + -0x1.5555555555555p-3;
  return p;
}

// (atanh(s) / s - 1) / z for z = s^2
TL_INLINE double atanh_rest(double x) {
  double p = 0x1.b02d15dbc9c46p-3;
  p = p * x + -0x1.2814ed540c67ap-3;
  p = p * x + 0x1.15c25cc5875a0p-3;
  p = p * x + 0x1.9233a8494a5a8p-7;
  p = p * x + 0x1.bdd7122e6908ap-5;
  p = p * x + 0x1.a6c37c4927bfap-5;
  p = p * x + 0x1.e2c375c3a2751p-5;
  p = p * x + 0x1.1108e0561d7bdp-4;
  p = p * x + 0x1.3b141803c95c0p-4;
  p = p * x + 0x1.745d1405ba022p-4;
  p = p * x + 0x1.c71c71d6d197dp-4;
  p = p * x + 0x1.249249247e89fp-3;
  p = p * x + 0x1.9999999999ad2p-3;
  p = p * x + 0x1.5555555555555p-2;
  return p;
}

// (cos r - 1 + z / 2) / z^2 for z = r^2
TL_INLINE double cos_rest(double x) {
  double p = -0x1.907d8f29fe7d9p-37;
  p = p * x + 0x1.1eeb68cd22f56p-29;
  p = p * x + -0x1.27e4fa17bf139p-22;
  p = p * x + 0x1.a01a019f4e9b4p-16;
  p = p * x + -0x1.6c16c16c16967p-10;
  p = p * x + 0x1.5555555555555p-5;
  return p;
}

// r^(-1/3)
TL_INLINE double cbrt_step(double x) {
  double p = 0x1.2bd92108f75f9p-3;
  p = p * x + -0x1.85b5f2a33f493p-1;
  p = p * x + 0x1.a090f84bf2b24p+0;
  p = p * x + -0x1.e3d22c585e1ebp+0;
  p = p * x + 0x1.e0a1093cec251p+0;
  return p;
}

#endif
