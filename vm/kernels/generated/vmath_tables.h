// Made by tools/generate/vmath.py.
#ifndef TALLY_VM_KERNELS_GENERATED_VMATH_TABLES_H
#define TALLY_VM_KERNELS_GENERATED_VMATH_TABLES_H

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

// (log(1 + r) - r log(e)) / r^2 for |r| < 0.030; float64
static const double log_terms[8] = {
    -0x1.ffffffffffff7p-2, 0x1.555555555554dp-2,  -0x1.000000004ce01p-2,
    0x1.9999999a25605p-3,  -0x1.5555481cbbef9p-3, 0x1.24923d1f999c5p-3,
    -0x1.005d1dcc8aa68p-3, 0x1.c7c5bfe89d110p-4,
};

// (log(1 + r) - r log(e)) / r^2 for |r| < 0.030; float32
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
    0x1.773cfeb000000p+511, 0x1.66e2d94000000p+511, 0x1.57d0235000000p+511,
    0x1.49daa23000000p+511, 0x1.3d0013b000000p+511, 0x1.31671cd000000p+511,
    0x1.263ad3f000000p+511, 0x1.1c348b4000000p+511, 0x1.1283088000000p+511,
    0x1.09c9888000000p+511,
};

// -log c - j log(2) / 16, off by 2^-60.9.
static const double log_table[16] = {
    0x0.0p+0,
    0x1.e31145f920000p-8,
    0x1.675441f0a8000p-6,
    0x1.0e73417ef8000p-5,
    0x1.5204ec980c000p-5,
    0x1.8459d0c600000p-5,
    0x1.a06d0a8698000p-5,
    0x1.aa89a60410000p-5,
    0x1.a7243a4ca4000p-5,
    0x1.97ca51c7ac000p-5,
    0x1.7a82bb34ec000p-5,
    0x1.48f1f2629c000p-5,
    0x1.175f811444000p-5,
    0x1.a0e7a4d090000p-6,
    0x1.13af1d0e40000p-6,
    0x1.7c4e5006c0000p-8,
};

#define LOG2_STEP_1 0x1.0000000000000p-4
#define LOG2_STEP_2 0x0.0p+0
#define LOG2_SCALE 0x1.71547652b82fep+0
#define LOG2_SCALE_1 0x1.7154760000000p+0
#define LOG2_SCALE_2 0x1.4ae0bf85ddf44p-26

// (log2(1 + r) - r log2(e)) / r^2 for |r| < 0.030; float64
static const double log2_terms[8] = {
    -0x1.71547652b82f7p-1, 0x1.ec709dc3a03f1p-2,  -0x1.715476532c67ep-2,
    0x1.2776c50f6367dp-2,  -0x1.ec708a15f9aafp-3, 0x1.a61750c3e6d45p-3,
    -0x1.71dce9bddd6f6p-3, 0x1.48c7202eb8387p-3,
};

// 2^512 c for each interval of m, where c m is next to 1.
static const double log2_close[16] = {
    0x1.0000000000000p+512, 0x1.e67eec3000000p+511, 0x1.cb482d1000000p+511,
    0x1.b334552000000p+511, 0x1.9d3b78f000000p+511, 0x1.8959702000000p+511,
    0x1.7749bfd000000p+511, 0x1.66c9613000000p+511, 0x1.57c08ba000000p+511,
    0x1.4a0f800000000p+511, 0x1.3cf0e6b000000p+511, 0x1.3124264000000p+511,
    0x1.263cc34000000p+511, 0x1.1c0e51d000000p+511, 0x1.129f0f8000000p+511,
    0x1.09eef2c000000p+511,
};

// -log2 c - j log2(2) / 16, off by 2^-60.0.
static const double log2_table[16] = {
    0x0.0p+0,
    0x1.6f8ab365e0000p-7,
    0x1.0435707828000p-5,
    0x1.809e853628000p-5,
    0x1.e4e3f7f6b0000p-5,
    0x1.15d794e424000p-4,
    0x1.2b9a703418000p-4,
    0x1.3551fcfdbc000p-4,
    0x1.32476edd7c000p-4,
    0x1.2275c94aac000p-4,
    0x1.122494d5ac000p-4,
    0x1.e4b1bd7af0000p-5,
    0x1.92bf1e2bc0000p-5,
    0x1.32f1aeef80000p-5,
    0x1.844d866bc0000p-6,
    0x1.f0b05d9400000p-8,
};

#define LOG10_STEP_1 0x1.34413509f8000p-6
#define LOG10_STEP_2 -0x1.80433b83c0000p-48
#define LOG10_SCALE 0x1.bcb7b1526e50ep-2
#define LOG10_SCALE_1 0x1.bcb7b10000000p-2
#define LOG10_SCALE_2 0x1.49b9438ca9aaep-28

// (log10(1 + r) - r log10(e)) / r^2 for |r| < 0.030; float64
static const double log10_terms[8] = {
    -0x1.bcb7b1526e507p-3, 0x1.287a7636f4358p-3,  -0x1.bcb7b152f2a87p-4,
    0x1.63c627759d5ddp-4,  -0x1.287a6accd3498p-4, 0x1.fc3f9153fe8c0p-5,
    -0x1.bd58f6f2dcf2cp-5, 0x1.8be08fed20927p-5,
};

// 2^512 c for each interval of m, where c m is next to 1.
static const double log10_close[16] = {
    0x1.0000000000000p+512, 0x1.e6abc5d000000p+511, 0x1.cb551c2000000p+511,
    0x1.b2e6524000000p+511, 0x1.9d086e8000000p+511, 0x1.891db2a000000p+511,
    0x1.771e765000000p+511, 0x1.66d91fa000000p+511, 0x1.57b663f000000p+511,
    0x1.49d69cc000000p+511, 0x1.3d33f95000000p+511, 0x1.314648d000000p+511,
    0x1.2648576000000p+511, 0x1.1c0fa75000000p+511, 0x1.1293d01000000p+511,
    0x1.09b1098000000p+511,
};

// -log10 c - j log10(2) / 16, off by 2^-60.8.
static const double log10_table[16] = {
    0x0.0p+0,
    0x1.a6119f5280000p-9,
    0x1.37c1d65de0000p-7,
    0x1.d918825168000p-7,
    0x1.275dfaae78000p-6,
    0x1.52c721cfc4000p-6,
    0x1.6bf7086bb4000p-6,
    0x1.733d3939a4000p-6,
    0x1.719e2c30ac000p-6,
    0x1.628a801c2c000p-6,
    0x1.4438a57a0c000p-6,
    0x1.20b4d7cb78000p-6,
    0x1.e2c48fa5b8000p-7,
    0x1.715620b970000p-7,
    0x1.d81e006750000p-8,
    0x1.5ed3a58da0000p-9,
};

#define POWER_FIRST 0x3fefaaaa00000000u
#define POWER_SCALE 0x1.71547652b82fep+0
#define POWER_SCALE_LOST 0x1.777d0ffda0d24p-56

// (log(1 + r) - r + r^2 / 2) / r^3 for |r| < 0.0152
static const double power_terms[8] = {
    0x1.5555555555555p-2,  -0x1.0000000000000p-2, 0x1.999999999c1adp-3,
    -0x1.5555555557a12p-3, 0x1.24924851ecd22p-3,  -0x1.fffffe7dd0319p-4,
    0x1.c748bb1dbc905p-4,  -0x1.99c2323257f64p-4,
};

// (log2(1 + r) - r log2(e)) / r^2 for |r| < 0.0152; float32
static const double power_terms_short[5] = {
    -0x1.71547652b82fep-1, 0x1.ec709d87f0744p-2,  -0x1.7154761e7e47bp-2,
    0x1.278674c28ad4cp-2,  -0x1.ec8c1147272afp-3,
};

// c for each interval of m, where c m is next to 1.
static const double power_close[32] = {
    0x1.0000000000000p+0, 0x1.f300000000000p-1, 0x1.e440000000000p-1,
    0x1.d640000000000p-1, 0x1.c940000000000p-1, 0x1.bcc0000000000p-1,
    0x1.b100000000000p-1, 0x1.a600000000000p-1, 0x1.9b40000000000p-1,
    0x1.9140000000000p-1, 0x1.87c0000000000p-1, 0x1.7e80000000000p-1,
    0x1.75c0000000000p-1, 0x1.6d80000000000p-1, 0x1.6580000000000p-1,
    0x1.5dc0000000000p-1, 0x1.5680000000000p-1, 0x1.4f80000000000p-1,
    0x1.48c0000000000p-1, 0x1.4240000000000p-1, 0x1.3c00000000000p-1,
    0x1.3600000000000p-1, 0x1.3040000000000p-1, 0x1.2ac0000000000p-1,
    0x1.2580000000000p-1, 0x1.2040000000000p-1, 0x1.1b40000000000p-1,
    0x1.1680000000000p-1, 0x1.11c0000000000p-1, 0x1.0d40000000000p-1,
    0x1.0900000000000p-1, 0x1.04c0000000000p-1,
};

// -log2 c - j / 32, and what 42 bits leave of it.
static const double power_table[32] = {
    0x0.0p+0,
    0x1.7fa5bba080000p-8,
    0x1.25237c8440000p-6,
    0x1.da93a64df0000p-6,
    0x1.389ca9bbf8000p-5,
    0x1.8032c2d128000p-5,
    0x1.bca2ab35c8000p-5,
    0x1.ecc164ea90000p-5,
    0x1.0edc5f19c8000p-4,
    0x1.2053ccd27c000p-4,
    0x1.2deb193760000p-4,
    0x1.3b1f3620ac000p-4,
    0x1.43df257dd8000p-4,
    0x1.47c5928550000p-4,
    0x1.4a8caddc3c000p-4,
    0x1.4c0fcc11f4000p-4,
    0x1.47d7d62854000p-4,
    0x1.41de32534c000p-4,
    0x1.39f8686978000p-4,
    0x1.2ffa71bb5c000p-4,
    0x1.23b6cc56cc000p-4,
    0x1.14fe935b84000p-4,
    0x1.03a19cb99c000p-4,
    0x1.dedd394ee8000p-5,
    0x1.b0669e1bc0000p-5,
    0x1.85b83c8810000p-5,
    0x1.54861bc880000p-5,
    0x1.1c65bdb500000p-5,
    0x1.cf6b3d9c70000p-6,
    0x1.573409c440000p-6,
    0x1.9e900f2da0000p-7,
    0x1.35c279ccc0000p-8,
};
static const double power_table_lost[32] = {
    0x0.0p+0,
    0x1.ee54781c547e6p-44,
    0x1.dc514c44ab245p-44,
    0x1.aa080733e445cp-44,
    -0x1.63eec5978b1cfp-44,
    -0x1.70d7245536ebdp-45,
    0x1.18906313e79cfp-46,
    0x1.c20d74c0211bfp-44,
    0x1.7936c0fd3a2f1p-45,
    -0x1.bd3e81a76e714p-44,
    -0x1.8cd4c3c24b943p-48,
    0x1.1ae4acee67d8dp-44,
    -0x1.37a4d5c891abfp-45,
    -0x1.d990d1e0f6657p-44,
    -0x1.cc65b96825ec6p-44,
    0x1.ec870a4904986p-46,
    0x1.e7958691ddab5p-44,
    -0x1.39eec34ce3ce3p-44,
    -0x1.b3f093855941dp-44,
    0x1.b0bb7b04b7bcap-48,
    0x1.0993376649b50p-45,
    -0x1.c14a31ce1b7e3p-48,
    0x1.4338ec0bc91a5p-44,
    0x1.33be97f5736b9p-45,
    -0x1.10f7ac89c6f2dp-45,
    -0x1.528b4cc852afbp-44,
    0x1.49c8158632db0p-45,
    0x1.e742a6951096dp-44,
    -0x1.83328d20817acp-45,
    0x1.4751c6715a2b3p-44,
    0x1.735cfaf8e2578p-44,
    0x1.e884b105bcb28p-44,
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
