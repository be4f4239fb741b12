// Made by fit.py; see there.
#ifndef TALLY_VM_KERNELS_VMATH_DATA_H
#define TALLY_VM_KERNELS_VMATH_DATA_H

#include "vm/kernels/loop.h"

#define LN2_1 0x1.62e42fee00000p-1
#define LN2_2 0x1.a39ef35793c76p-33
#define LOG2_E_1 0x1.7154700000000p+0
#define LOG2_E_2 0x1.94ae0bf85ddf4p-22
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

#endif
