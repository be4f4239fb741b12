// The numbers of the distributions that take more than one line, many at a
// time or one. Each function gets the words of its items and falls back on the
// item's own source, so that item i is the same however many are drawn.
#pragma once

#include "stdlib/philox.h"

// Numbers from low on and below high (low itself where both are equal), from a
// word each.
void tl_uniforms(const uint64_t *words, size_t n, double low, double high,
                 double *out);
// The exponential distribution of a mean, from a word each. -mean log(1 - u),
// so 0 can come and infinity cannot.
void tl_exponentials(const uint64_t *words, size_t n, double mean, double *out);

// The standard normal distribution: items first to first + n of a draw, from a
// word each, and where that is not enough (about 1 in 90 times) from the
// item's own source. Call tl_normal_tables before.
void tl_normals(const tl_stream *stream, uint64_t first, const uint64_t *words,
                size_t n, double *out);
// Makes the tables at the first call; from any thread.
void tl_normal_tables(void);

// The gamma distribution of shape [a], above 0, and scale 1.
typedef struct tl_gamma {
  double a;
  double d, c;  // what the method makes of a, or of a + 1
  int words;    // that an item is made of, nearly always
} tl_gamma;

// Prepares the distribution of shape a, above 0. There is nothing to free.
tl_gamma tl_gamma_of(double a);

// Items first to first + n, from g->words words each, and where that is not
// enough from the item's own source.
void tl_gammas(const tl_stream *stream, const tl_gamma *g, uint64_t first,
               const uint64_t *words, size_t n, double *out);
// The words that an item of the beta distribution is made of.
int tl_beta_words(const tl_gamma *a, const tl_gamma *b);
// The beta distribution, x / (x + y) of two gamma variables; otherwise as
// tl_gammas.
void tl_betas(const tl_stream *stream, const tl_gamma *a, const tl_gamma *b,
              uint64_t first, const uint64_t *words, size_t n, double *out);

// A distribution of counts. Where few are expected, a word that is below the
// first k limits and no more says k; the guide to where its high bits begin
// among them saves most of the search. Else by rejection.
enum {
  // With fewer than 10 expected, counts of 64 and more have less than 2^-64.
  TL_MOST_LIMITS = 64,
  // One for each value of a word's highest byte.
  TL_GUIDES = 256,
};
// The distance of words between two guides.
#define TL_GUIDE_STEP (UINT64_C(1) << 56)

// A prepared distribution of counts. The limits are the running sums of the
// probabilities, as 64-bit fractions.
typedef struct tl_counts {
  int words;  // that an item needs: 1, or 2 where it is by rejection
  double mean;
  bool is_binomial, is_swapped;  // swapped: failures are counted
  double n, p;                   // of a binomial one
  // Hörmann's constants, of use where [words] is 2; mode: the logarithm of the
  // largest probability, of a binomial one.
  double a, b, centre, scale, quick, mode;
  // The greatest count that the limits tell; limits[last] is the largest word.
  int last;
  uint64_t limits[TL_MOST_LIMITS];
  uint8_t guides[TL_GUIDES];
} tl_counts;

// Counts of events where [mean] are expected, from 0 to 2^53. Fills all of *c
// that tl_count_many reads. A mean of 0 gives zeros.
void tl_counts_poisson(double mean, tl_counts *c);
// Counts of successes among n trials, n up to 2^53 and p from 0 to 1. p of 0
// gives zeros, p of 1 gives n.
void tl_counts_binomial(double n, double p, tl_counts *c);
// Items first to first + n of a draw, from c->words words each.
void tl_count_many(const tl_stream *stream, const tl_counts *c, uint64_t first,
                   const uint64_t *words, size_t n, int64_t *out);
