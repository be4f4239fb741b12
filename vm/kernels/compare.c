// Comparisons, with the forms for one scalar operand; choices; and predicates
// of single items that give bools (isnan, isinf, isfinite, signbit).
//
// Results are bytes of 0 or 1. Comparisons with NaN are false, but for !=.
#include "vm/kernels/list.h"

// A comparison of two arrays; of an array and a scalar, either way round.
#define VV(name, sfx, T, expr) TL_BINARY(name##_##sfx, T, uint8_t, expr)
#define VS(name, sfx, T, expr) TL_BINARY_VS(name##_vs_##sfx, T, uint8_t, expr)
#define SV(name, sfx, T, expr) TL_BINARY_SV(name##_sv_##sfx, T, uint8_t, expr)

#define EQUALITY(form, sfx, T) \
  form(equal, sfx, T, x == y) form(not_equal, sfx, T, x != y)
#define ORDER(form, sfx, T) \
  form(less, sfx, T, x < y) form(less_equal, sfx, T, x <= y)

// x > y is y < x, with the operands in the other places.
#define MIRROR(name, mirrored)                                         \
  void TL_K(name)(void *out, const void *a, const void *b, size_t n) { \
    TL_K(mirrored)(out, b, a, n);                                      \
  }
#define MIRRORS(form, sfx, mirrored)                    \
  MIRROR(greater##form##_##sfx, less##mirrored##_##sfx) \
  MIRROR(greater_equal##form##_##sfx, less_equal##mirrored##_##sfx)

#define X(D, sfx, T, W) EQUALITY(VV, sfx, T) ORDER(VV, sfx, T) MIRRORS(, sfx, )
TL_UNSIGNED(X)
TL_FLOATS(X)
#undef X
#define X(D, sfx, T, W) ORDER(VV, sfx, T) MIRRORS(, sfx, )
TL_SIGNED(X)
#undef X
#define X(D, sfx, T, W)                          \
  EQUALITY(VS, sfx, T)                           \
  MIRROR(equal_sv_##sfx, equal_vs_##sfx)         \
  MIRROR(not_equal_sv_##sfx, not_equal_vs_##sfx) \
  ORDER(VS, sfx, T)                              \
  ORDER(SV, sfx, T) MIRRORS(_vs, sfx, _sv) MIRRORS(_sv, sfx, _vs)
TL_FLOATS(X)
X(INT64, int64, int64_t, uint64_t)
#undef X
#define X(D, sfx, T, W)                                               \
  TL_BINARY(equal_##sfx, T, uint8_t, (x.re == y.re) & (x.im == y.im)) \
  TL_BINARY(not_equal_##sfx, T, uint8_t, (x.re != y.re) | (x.im != y.im))
TL_COMPLEXES(X)
#undef X

// A signed x against an unsigned y: no common type holds both, so a negative x
// is decided by its sign: the result is `below`. The other way round,
// `mirrored` is the comparison that has the operands in the other places.
#define MIXED(name, below, op, mirrored)                                    \
  void TL_K(name##_iu)(void *out, const void *a, const void *b, size_t n) { \
    uint8_t *to = out;                                                      \
    const int64_t *from_a = a;                                              \
    const uint64_t *from_b = b;                                             \
    TL_LOOP for (size_t i = 0; i < n; i++) {                                \
      const int64_t x = from_a[i];                                          \
      const uint64_t y = from_b[i];                                         \
      to[i] = (uint8_t)(x < 0 ? below : (uint64_t)x op y);                  \
    }                                                                       \
  }                                                                         \
  MIRROR(mirrored##_ui, name##_iu)
MIXED(equal, 0, ==, equal)
MIXED(not_equal, 1, !=, not_equal)
MIXED(less, 1, <, greater)
MIXED(less_equal, 1, <=, greater_equal)
MIXED(greater, 0, >, less)
MIXED(greater_equal, 0, >=, less_equal)

// Whether none of so many items is selected.
enum { MASK_RUN = 64 };
// [mask] has MASK_RUN bytes at any address.
static inline bool selects_none(const uint8_t *mask) {
  uint64_t any = 0;
  for (int i = 0; i < MASK_RUN; i += 8) {
    uint64_t word;
    memcpy(&word, mask + i, sizeof word);
    any |= word;
  }
  return any == 0;
}

// Choosing moves items; only their size counts. What is written over what stays
// (x[mask] = y) passes over items that all stay, since most masks select few;
// of narrow items a vector is as fast as the look at the mask.
#define SELECT(size, T)                                                    \
  static inline void choose_##size(T *to, const uint8_t *mask, const T *b, \
                                   const T *c, size_t n) {                 \
    TL_LOOP for (size_t i = 0; i < n; i++) {                               \
      const T x = b[i], y = c[i];                                          \
      to[i] = mask[i] ? x : y;                                             \
    }                                                                      \
  }                                                                        \
  void TL_K(select_##size)(void *out, const void *a, const void *b,        \
                           const void *c, size_t n) {                      \
    T *to = out;                                                           \
    const uint8_t *mask = a;                                               \
    const T *from_b = b, *from_c = c;                                      \
    size_t i = 0;                                                          \
    for (; size >= 4 && out == c && i + MASK_RUN <= n; i += MASK_RUN) {    \
      if (!selects_none(mask + i))                                         \
        choose_##size(to + i, mask + i, from_b + i, to + i, MASK_RUN);     \
    }                                                                      \
    choose_##size(to + i, mask + i, from_b + i, from_c + i, n - i);        \
  }
SELECT(1, tl_word1)
SELECT(2, tl_word2)
SELECT(4, tl_word4)
SELECT(8, tl_word8)

// By halves and bits: compilers make no vectors of choices of 16 bytes.
void TL_K(select_16)(void *out, const void *a, const void *b, const void *c,
                     size_t n) {
  tl_word8 *to = out;
  const uint8_t *mask = a;
  const tl_word8 *x = b, *y = c;
  TL_LOOP for (size_t i = 0; i < n; i++) {
    const uint64_t keep = (uint64_t)0 - (mask[i] != 0);
    const uint64_t first = (x[2 * i] & keep) | (y[2 * i] & ~keep);
    const uint64_t second = (x[2 * i + 1] & keep) | (y[2 * i + 1] & ~keep);
    to[2 * i] = first;
    to[2 * i + 1] = second;
  }
}

#define X(D, sfx, T, W)                                                       \
  TL_UNARY(isnan_##sfx, T, uint8_t, x != x)                                   \
  TL_UNARY(isinf_##sfx, T, uint8_t, (x == (T)INFINITY) | (x == -(T)INFINITY)) \
  TL_UNARY(isfinite_##sfx, T, uint8_t, x - x == 0)
TL_FLOATS(X)
#undef X
TL_UNARY(signbit_float32, tl_word4, uint8_t, x >> 31)
TL_UNARY(signbit_float64, tl_word8, uint8_t, x >> 63)

// Complex items are infinite where a part is.
#define IS_INF(x, W) ((x) == (W)INFINITY) | ((x) == -(W)INFINITY)
#define X(D, sfx, T, W)                                                \
  TL_UNARY(isnan_##sfx, T, uint8_t, (x.re != x.re) | (x.im != x.im))   \
  TL_UNARY(isinf_##sfx, T, uint8_t, IS_INF(x.re, W) | IS_INF(x.im, W)) \
  TL_UNARY(isfinite_##sfx, T, uint8_t, (x.re - x.re == 0) & (x.im - x.im == 0))
TL_COMPLEXES(X)
#undef X

// isinf of integers and the like: no item has to be looked at.
void TL_K(all_false)(void *out, const void *a, size_t n) {
  (void)a;
  memset(out, 0, n);
}
// Likewise isfinite.
void TL_K(all_true)(void *out, const void *a, size_t n) {
  (void)a;
  memset(out, 1, n);
}
