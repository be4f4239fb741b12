/* Sorting, searching, counting, moving. */
#include "peer.h"

#include <string.h>

static uint8_t *some;

enum { DIGIT = 11, DIGITS = 1 << DIGIT, LOW = 64 - 3 * DIGIT };

static int64_t *keys, *where_to;
static uint64_t *words_a, *words_b;
static double *ordered;

static inline uint64_t key_of(double x) {
  uint64_t u;
  memcpy(&u, &x, 8);
  return u ^ ((u >> 63 ? UINT64_MAX : 0) | UINT64_C(1) << 63);
}

static inline double item_of(uint64_t u) {
  double x;
  u ^= (u >> 63 ? UINT64_C(1) << 63 : UINT64_MAX);
  memcpy(&x, &u, 8);
  return x;
}

static void starts_of(uint32_t *counts) {
  uint32_t start = 0;
  for (size_t i = 0; i < DIGITS; i++) {
    uint32_t n = counts[i];
    counts[i] = start;
    start += n;
  }
}

// By the upper 33 bits in three passes; what ties there are few, inserted.
static void sort(void) {
  static uint32_t counts[3][DIGITS];
  uint64_t *a = words_a, *b = words_b;
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < MILLION; i++) {
    a[i] = key_of(X[i]);
    for (int p = 0; p < 3; p++)
      counts[p][a[i] >> (LOW + DIGIT * p) & (DIGITS - 1)]++;
  }
  for (int p = 0; p < 3; p++) {
    starts_of(counts[p]);
    for (size_t i = 0; i < MILLION; i++)
      b[counts[p][a[i] >> (LOW + DIGIT * p) & (DIGITS - 1)]++] = a[i];
    uint64_t *other = a;
    a = b;
    b = other;
  }
  for (size_t i = 1; i < MILLION; i++) {
    uint64_t k = a[i];
    size_t j = i;
    for (; j > 0 && a[j - 1] > k; j--) a[j] = a[j - 1];
    a[j] = k;
  }
  for (size_t i = 0; i < MILLION; i++) out[i] = item_of(a[i]);
  check = out[777];
}

// The digit of the first pass need not be kept: the other two and the position
// share a word.
static void argsort(void) {
  static uint32_t counts[3][DIGITS];
  uint64_t *a = words_a, *b = words_b;
  int64_t *order = (int64_t *)out;
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < MILLION; i++) {
    uint64_t k = key_of(X[i]);
    for (int p = 0; p < 3; p++)
      counts[p][k >> (LOW + DIGIT * p) & (DIGITS - 1)]++;
  }
  for (int p = 0; p < 3; p++) starts_of(counts[p]);
  for (size_t i = 0; i < MILLION; i++) {
    uint64_t k = key_of(X[i]);
    a[counts[0][k >> LOW & (DIGITS - 1)]++] = k >> (LOW + DIGIT) << 32 | i;
  }
  for (int p = 1; p < 3; p++) {
    for (size_t i = 0; i < MILLION; i++)
      b[counts[p][a[i] >> (32 + DIGIT * (p - 1)) & (DIGITS - 1)]++] = a[i];
    uint64_t *other = a;
    a = b;
    b = other;
  }
  for (size_t i = 0; i < MILLION; i++) order[i] = (int64_t)(uint32_t)a[i];
  for (size_t i = 1; i < MILLION; i++) {
    if ((a[i] ^ a[i - 1]) >> 32)
      continue;
    int64_t at = order[i];
    size_t j = i;
    for (; j > 0 && X[order[j - 1]] > X[at]; j--) order[j] = order[j - 1];
    order[j] = at;
  }
  check = (double)order[777];
}

static void unique(void) {
  static uint8_t seen[1024];
  int64_t n = 0;
  memset(seen, 0, sizeof seen);
  for (size_t i = 0; i < MILLION; i++) seen[keys[i]] = 1;
  for (int64_t k = 0; k < 1024; k++)
    if (seen[k])
      ((int64_t *)out)[n++] = k;
  check = (double)n;
}

// 32 queries in lock step hide the latency of memory.
static void searchsorted(void) {
  enum { TOGETHER = 32 };
  int64_t *found = (int64_t *)out;
  for (size_t i = 0; i < MILLION; i += TOGETHER) {
    uint32_t base[TOGETHER] = {0};
    const double *query = Y + i;
    for (size_t n = MILLION; n > 1; n -= n / 2)
      for (int k = 0; k < TOGETHER; k++) {
        uint32_t less = ordered[base[k] + n / 2 - 1] < query[k];
        base[k] += (uint32_t)(n / 2) & (0 - less);
      }
    for (int k = 0; k < TOGETHER; k++)
      found[i + (size_t)k] = base[k] + (ordered[base[k]] < query[k]);
  }
  check = (double)found[777];
}

static void bincount(void) {
  static int64_t counts[4][1024];
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < MILLION; i++) counts[i & 3][keys[i]]++;
  for (int j = 0; j < 1024; j++)
    counts[0][j] += counts[1][j] + counts[2][j] + counts[3][j];
  check = (double)counts[0][77];
}

static void histogram(void) {
  static int64_t counts[4][128];
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < MILLION; i++) {
    int bin = (int)((X[i] + 1) * 50);
    counts[i & 3][bin > 99 ? 99 : bin]++;
  }
  for (int j = 0; j < 100; j++)
    counts[0][j] += counts[1][j] + counts[2][j] + counts[3][j];
  check = (double)counts[0][50];
}

static void gather(void) {
  for (size_t i = 0; i < MILLION; i++) out[i] = X[where_to[i]];
  check = out[777];
}

static void scatter_add(void) {
  memset(out2, 0, 8 * MILLION);
  for (size_t i = 0; i < MILLION; i++) out2[where_to[i]] += X[i];
  check = out2[777];
}

static void compress(void) {
  size_t k = 0;
  for (size_t i = 0; i < LONG; i++) {
    out[k] = X[i];
    k += some[i];
  }
  check = (double)k;
}

void sorting(void) {
  read_reals();
  keys = read_array("k.npy");
  where_to = read_array("i.npy");
  words_a = room(8 * MILLION);
  words_b = room(8 * MILLION);
  ordered = room(8 * MILLION);
  some = room(LONG);
  for (size_t i = 0; i < LONG; i++) some[i] = Y[i] > 0;
  sort();
  memcpy(ordered, out, 8 * MILLION);
  bench("sort", sort);
  bench("argsort", argsort);
  bench("unique", unique);
  bench("searchsorted", searchsorted);
  bench("bincount", bincount);
  bench("histogram", histogram);
  bench("gather", gather);
  bench("scatter_add", scatter_add);
  bench("compress", compress);
}
