// Made by fit.py; see there.
#ifndef TALLY_VM_KERNELS_VMATH_TABLES_H
#define TALLY_VM_KERNELS_VMATH_TABLES_H

#include "vm/kernels/loop.h"

#define EXP_STEPS 0x1.71547652b82fep+4
#define EXP_STEP_1 0x1.62e42fefa0000p-5
#define EXP_STEP_2 0x1.cf79abc9e3b3ap-44

// (e^r - 1 - r) / r^2 for |r| < ln 2 / 32; float64: 2^-55
static const double exp_terms[5] = {
    0x1.0000000000000p-1,
    0x1.55555554dd2c3p-3,
    0x1.555555551940dp-5,
    0x1.11120b10997fdp-7,
    0x1.6c17bb6b89d39p-10,
};

// (e^r - 1 - r) / r^2 for |r| < ln 2 / 32; float32: 2^-36
static const double exp_terms_short[3] = {
    0x1.0000000000000p-1,
    0x1.5556df14c9143p-3,
    0x1.55565bd4d3c84p-5,
};

// 2^(j/16), j / 16 taken from its exponent field.
static const double exp_table[16] = {
    0x1.0000000000000p+0,
    0x1.fb5586cf9890fp-1,
    0x1.f72b83c7d517bp-1,
    0x1.f387a6e756238p-1,
    0x1.f06fe0a31b715p-1,
    0x1.edea64c123422p-1,
    0x1.ebfdad5362a27p-1,
    0x1.eab07dd485429p-1,
    0x1.ea09e667f3bcdp-1,
    0x1.ea11473eb0187p-1,
    0x1.eace5422aa0dbp-1,
    0x1.ec49182a3f090p-1,
    0x1.ee89f995ad3adp-1,
    0x1.f199bdd85529cp-1,
    0x1.f5818dcfba487p-1,
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

#endif
