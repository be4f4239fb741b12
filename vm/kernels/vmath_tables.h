// Made by fit.py; see there.
#ifndef TALLY_VM_KERNELS_VMATH_TABLES_H
#define TALLY_VM_KERNELS_VMATH_TABLES_H

#include "vm/kernels/loop.h"

#define EXP_STEPS 0x1.71547652b82fep+4
#define EXP_STEP_1 0x1.62e42fefa0000p-5
#define EXP_STEP_2 0x1.cf79abca00000p-44

// (e^r - 1 - r) / r^2 for |r| < ln 2 / 32; float64: 2^-55
static const double exp_terms[5] = {
    0x1.0000000000000p-1, 0x1.55555554dd2c3p-3,  0x1.555555551940dp-5,
    0x1.11120b10997fdp-7, 0x1.6c17bb6b89d39p-10,
};

// (e^r - 1 - r) / r^2 for |r| < ln 2 / 32; float32: 2^-36
static const double exp_terms_short[3] = {
    0x1.0000000000000p-1,
    0x1.5556df14c9143p-3,
    0x1.55565bd4d3c84p-5,
};

// 2^(j/16), j / 16 taken from its exponent field.
static const double exp_table[16] = {
    0x1.0000000000000p+0, 0x1.fb5586cf9890fp-1, 0x1.f72b83c7d517bp-1,
    0x1.f387a6e756238p-1, 0x1.f06fe0a31b715p-1, 0x1.edea64c123422p-1,
    0x1.ebfdad5362a27p-1, 0x1.eab07dd485429p-1, 0x1.ea09e667f3bcdp-1,
    0x1.ea11473eb0187p-1, 0x1.eace5422aa0dbp-1, 0x1.ec49182a3f090p-1,
    0x1.ee89f995ad3adp-1, 0x1.f199bdd85529cp-1, 0x1.f5818dcfba487p-1,
    0x1.fa4afa2a490dap-1,
};

// What rounding took from 2^(j/16), as a part of it.
static const double exp_table_lost[16] = {
    0x0.0p+0,
    0x1.79aa65d837b6dp-54,
    -0x1.01b15eaa59348p-55,
    0x1.68efde3a8a894p-54,
    0x1.34d754db0abb6p-55,
    0x1.59f48a72a4c6dp-55,
    0x1.690cebb7aafb0p-56,
    0x1.063e1e21c5409p-54,
    -0x1.3b3efbf5e2228p-54,
    -0x1.b32dcb94da51dp-56,
    0x1.db72fc1f0eab4p-55,
    0x1.1affc2b91ce27p-56,
    0x1.c1a7792cb3387p-55,
    0x1.36eae30af0cb3p-56,
    0x1.4a385a63d07a7p-56,
    -0x1.ff7128fd391f0p-55,
};

#define LOG_FIRST 0x3fef555500000000u
#define LOG_STEP_1 0x1.62e42fefa4000p-5
#define LOG_STEP_2 -0x1.8432a1b0e0000p-47

// (log(1 + r) - r) / r^2 for |r| < 0.030; float64
static const double log_terms[8] = {
    -0x1.ffffffffffff7p-2, 0x1.555555555554dp-2,  -0x1.000000004ce01p-2,
    0x1.9999999a25605p-3,  -0x1.5555481cbbef9p-3, 0x1.24923d1f999c5p-3,
    -0x1.005d1dcc8aa68p-3, 0x1.c7c5bfe89d110p-4,
};

// (log(1 + r) - r) / r^2 for |r| < 0.030; float32
static const double log_terms_short[4] = {
    -0x1.fffffee623428p-2,
    0x1.55555463bb2c9p-2,
    -0x1.0026c819e9293p-2,
    0x1.99dc1591b7c7ap-3,
};

// 2^512 c for each interval of m, where c m is next to 1.
static const double log_close[16] = {
    0x1.0000000000000p+512, 0x1.e6b1346000000p+511, 0x1.cb52334000000p+511,
    0x1.b2fff35000000p+511, 0x1.9d22b29000000p+511, 0x1.89325ba000000p+511,
    0x1.773cfeb000000p+511, 0x1.66bc866000000p+511, 0x1.57d0235000000p+511,
    0x1.49daa23000000p+511, 0x1.3d281bf000000p+511, 0x1.315e903000000p+511,
    0x1.26336e1000000p+511, 0x1.1c348b4000000p+511, 0x1.1283088000000p+511,
    0x1.09a21b7000000p+511,
};

// -log c - j ln(2) / 16, off by 2^-58.7.
static const double log_table[16] = {
    0x0.0p+0,
    0x1.e31145f920000p-8,
    0x1.675441f0a8000p-6,
    0x1.0e73417ef8000p-5,
    0x1.5204ec980c000p-5,
    0x1.8459d0c600000p-5,
    0x1.a06d0a8698000p-5,
    0x1.adf49d8d70000p-5,
    0x1.a7243a4ca4000p-5,
    0x1.97ca51c7ac000p-5,
    0x1.767876b398000p-5,
    0x1.49d74861b8000p-5,
    0x1.182d7d48c0000p-5,
    0x1.a0e7a4d090000p-6,
    0x1.13af1d0e40000p-6,
    0x1.a24a87a980000p-8,
};

#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define HALF_PI_1 0x1.921fb54440000p+0
#define HALF_PI_2 0x1.68c234c4c0000p-39
#define HALF_PI_3 0x1.98a2e03707345p-77
#define HALF_PI_23 0x1.68c234c4c6629p-39

// (b - sin b) / b^3 for z = b^2; float64
static const double sin_terms[6] = {
    0x1.5555555555548p-3,   -0x1.111111110f75cp-7, 0x1.a01a019bf1ed8p-13,
    -0x1.71de355ec94b6p-19, 0x1.ae5e543a6106ap-26, -0x1.5d8e22e597a35p-33,
};

// float32
static const double sin_terms_short[4] = {
    0x1.555555545dd83p-3,
    -0x1.11110deeb33b2p-7,
    0x1.a013a6edc8f32p-13,
    -0x1.6dbdd26f56cb7p-19,
};

// (tanh(x) / x - 1) / x^2 for z = x^2, as a quotient; below, z^3 is one more
static const double tanh_upper[3] = {
    -0x1.937c3e9ef00acp+10,
    -0x1.8d019e1c5db9ep+6,
    -0x1.edc3dfbe15720p-1,
};
static const double tanh_lower[3] = {
    0x1.2e9d2ef734081p+12,
    0x1.174f7f986c00cp+11,
    0x1.c31711cfcd6a7p+6,
};

#endif
