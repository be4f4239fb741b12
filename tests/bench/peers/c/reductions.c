/* Reductions of a square matrix along either axis, and of masks. */
#include "peer.h"

#include <stdbool.h>
#include <string.h>

enum { SIDE = 4000 };

static double *M;
static int64_t places[SIDE];

#define ROWS for (size_t i = 0; i < SIDE; i++)
#define COLUMNS for (size_t j = 0; j < SIDE; j++)

static void sum0(void) {
  memset(out, 0, SIDE * sizeof *out);
  ROWS {
    const double *m = M + i * SIDE;
    COLUMNS out[j] += m[j];
  }
  check = out[7];
}

static void sum1(void) {
  ROWS {
    const double *m = M + i * SIDE;
    double s = 0;
    COLUMNS s += m[j];
    out[i] = s;
  }
  check = out[7];
}

static void mean0(void) {
  sum0();
  COLUMNS out[j] /= SIDE;
  check = out[7];
}

static void mean1(void) {
  sum1();
  COLUMNS out[j] /= SIDE;
  check = out[7];
}

static void max0(void) {
  memcpy(out, M, SIDE * sizeof *out);
  ROWS {
    const double *m = M + i * SIDE;
    COLUMNS out[j] = m[j] > out[j] ? m[j] : out[j];
  }
  check = out[7];
}

static double row_max(const double *m) {
  double s = m[0];
  COLUMNS s = m[j] > s ? m[j] : s;
  return s;
}

static void max1(void) {
  ROWS out[i] = row_max(M + i * SIDE);
  check = out[7];
}

static void argmax0(void) {
  memcpy(out, M, SIDE * sizeof *out);
  memset(places, 0, sizeof places);
  ROWS {
    const double *m = M + i * SIDE;
    COLUMNS {
      bool more = m[j] > out[j];
      out[j] = more ? m[j] : out[j];
      places[j] = more ? (int64_t)i : places[j];
    }
  }
  check = (double)places[7];
}

static void argmax1(void) {
  ROWS {
    const double *m = M + i * SIDE;
    double most = row_max(m);
    int64_t j = 0;
    while (m[j] != most) j++;
    places[i] = j;
  }
  check = (double)places[7];
}

static void var0(void) {
  mean0();
  memset(out2, 0, SIDE * sizeof *out2);
  ROWS {
    const double *m = M + i * SIDE;
    COLUMNS {
      double d = m[j] - out[j];
      out2[j] += d * d;
    }
  }
  COLUMNS out2[j] /= SIDE;
  check = out2[7];
}

static void var1(void) {
  ROWS {
    const double *m = M + i * SIDE;
    double s = 0, v = 0;
    COLUMNS s += m[j];
    s /= SIDE;
    COLUMNS {
      double d = m[j] - s;
      v += d * d;
    }
    out[i] = v / SIDE;
  }
  check = out[7];
}

static void cumsum(void) {
  double s = 0;
  for (size_t i = 0; i < LONG; i++) {
    s += X[i];
    out[i] = s;
  }
  check = out[LONG - 1];
}

static uint8_t *some, *never, *always;

static void any(void) {
  const uint64_t *p = (const uint64_t *)never;
  bool found = false;
  for (size_t i = 0; i < LONG / 8 && !found; i += 1250) {
    uint64_t bits = 0;
    for (size_t j = 0; j < 1250; j++) bits |= p[i + j];
    found = bits != 0;
  }
  check = found;
}

static void all(void) {
  const uint64_t *p = (const uint64_t *)always;
  bool whole = true;
  for (size_t i = 0; i < LONG / 8 && whole; i += 1250) {
    uint64_t bits = UINT64_MAX;
    for (size_t j = 0; j < 1250; j++) bits &= p[i + j];
    whole = bits == 0x0101010101010101u;
  }
  check = whole;
}

static void count(void) {
  size_t s = 0;
  for (size_t i = 0; i < LONG; i += 200) {
    uint8_t c = 0;
    for (size_t j = 0; j < 200; j++) c = (uint8_t)(c + some[i + j]);
    s += c;
  }
  check = (double)s;
}

void reductions(void) {
  static const struct {
    const char *name;
    void (*run)(void);
  } tests[] = {
      {"sum0", sum0},       {"mean0", mean0}, {"max0", max0},
      {"argmax0", argmax0}, {"var0", var0},   {"sum1", sum1},
      {"mean1", mean1},     {"max1", max1},   {"argmax1", argmax1},
      {"var1", var1},
  };
  read_reals();
  M = read_array("m.npy");
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    bench(tests[i].name, tests[i].run);
  bench("cumsum", cumsum);
  some = room(LONG);
  never = room(LONG);
  always = room(LONG);
  for (size_t i = 0; i < LONG; i++) {
    some[i] = Y[i] > 0;
    never[i] = Y[i] > 2;
  }
  bench("any", any);
  bench("all", all);
  bench("count", count);
}
