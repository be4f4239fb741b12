// The numbers of the distributions that take more than one line, many at a time
// or one.
#ifndef TALLY_STDLIB_DISTRIBUTIONS_H
#define TALLY_STDLIB_DISTRIBUTIONS_H

#include "stdlib/philox.h"

// From low on and below high, where that is not low itself, and of the
// exponential distribution of a mean: from a word each.
void tl_uniforms(const uint64_t *words, size_t n, double low, double high,
                 double *out);
void tl_exponentials(const uint64_t *words, size_t n, double mean, double *out);

// The standard normal distribution: items first .. first + n of a draw, from a
// word each, and where that is not enough (1 in 90 times) from the item's own
// source. Call tl_normal_tables before.
void tl_normals(const tl_stream *stream, uint64_t first, const uint64_t *words,
                size_t n, double *out);
// One such number.
double tl_normal(uint64_t word, tl_draws *s);
void tl_normal_tables(void);

// The gamma distribution of mean [a], above 0.
double tl_gamma(double a, tl_draws *s);
// The beta distribution, both parameters above 0.
double tl_beta(double a, double b, tl_draws *s);
// How many of n trials succeed, n up to 2^53 and p from 0 to 1.
double tl_binomial(double n, double p, tl_draws *s);
// How many events where [mean] are expected, from 0 to 2^53.
double tl_poisson(double mean, tl_draws *s);

#endif
