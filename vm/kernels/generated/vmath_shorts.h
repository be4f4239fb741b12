// Made by tools/generate/vmath.py.
#ifndef TALLY_VM_KERNELS_GENERATED_VMATH_SHORTS_H
#define TALLY_VM_KERNELS_GENERATED_VMATH_SHORTS_H

#include "vm/kernels/loop.h"

// (e^x - 1 - x) / x^2
TL_INLINE double exp_rest_short(double x) {
  double p = 0x1.a124f19fe89acp-13;
  p = p * x + 0x1.6d43246b523b4p-10;
  p = p * x + 0x1.1110e0f238322p-7;
  p = p * x + 0x1.5554e9063586ep-5;
  p = p * x + 0x1.5555555a78ed4p-3;
  p = p * x + 0x1.0000000b9129bp-1;
  return p;
}

// (atanh(s) / s - 1) / z for z = s^2
TL_INLINE double log_rest_short(double x) {
  double p = 0x1.ddcf7101b999ap-4;
  p = p * x + 0x1.245c40aecb3a7p-3;
  p = p * x + 0x1.9999eb63e7842p-3;
  p = p * x + 0x1.5555554bb1b2fp-2;
  return p;
}

// (atan(s) / s - 1) / z for z = s^2
TL_INLINE double atan_rest_short(double x) {
  double p = 0x1.9d86ebba7ffe9p-5;
  p = p * x + -0x1.6143778c0fa34p-4;
  p = p * x + 0x1.c57b9120ea844p-4;
  p = p * x + -0x1.248a167077611p-3;
  p = p * x + 0x1.99997b10270e9p-3;
  p = p * x + -0x1.5555554c099a8p-2;
  return p;
}

// (asin(s) / s - 1) / z for z = s^2
TL_INLINE double asin_rest_short(double x) {
  double p = 0x1.fb88165020303p-6;
  p = p * x + 0x1.5a70f87ba36c4p-7;
  p = p * x + 0x1.82dd20819a32fp-6;
  p = p * x + 0x1.efedbd4f431c1p-6;
  p = p * x + 0x1.6dc0f18cb845ap-5;
  p = p * x + 0x1.33331ecbf1760p-4;
  p = p * x + 0x1.5555555c02cb6p-3;
  return p;
}

// (sinh(s) / s - 1) / z for z = s^2
TL_INLINE double sinh_rest_short(double x) {
  double p = 0x1.78a73b0dae1e5p-19;
  p = p * x + 0x1.a008fedbce466p-13;
  p = p * x + 0x1.11111eb0fd50ep-7;
  p = p * x + 0x1.5555554e84d96p-3;
  return p;
}

// (asinh(s) / s - 1) / z for z = s^2
TL_INLINE double asinh_rest_short(double x) {
  double p = 0x1.c6d67d11a654fp-6;
  p = p * x + -0x1.6ce479675c5dfp-5;
  p = p * x + 0x1.3331e546e24ecp-4;
  p = p * x + -0x1.55555501f855fp-3;
  return p;
}

// (atanh(s) / s - 1) / z for z = s^2
TL_INLINE double atanh_rest_short(double x) {
  double p = 0x1.aa475709c122dp-4;
  p = p * x + 0x1.c413ec0ebefeap-4;
  p = p * x + 0x1.249b103cc3691p-3;
  p = p * x + 0x1.999987f130c15p-3;
  p = p * x + 0x1.5555555829753p-2;
  return p;
}

// tan(r) / r for z = r^2, as a quotient
TL_INLINE double tan_upper_short(double x) {
  double p = 0x1.13a5aed42d6efp-4;
  p = p * x + -0x1.be38cf13b9cdap+2;
  p = p * x + 0x1.f4e4781831d0ap+5;
  return p;
}
TL_INLINE double tan_lower_short(double x) {
  double p = 0x1.0000000000000p+0;
  p = p * x + -0x1.bd7bd91195f75p+4;
  p = p * x + 0x1.f4e478180a929p+5;
  return p;
}

#endif
