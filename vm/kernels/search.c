// Binary search, many queries in step: their loads overlap, and no step waits
// for a branch to be guessed.
#include "vm/kernels/list.h"
#include "vm/kernels/search.h"

#ifdef __AVX2__
enum { STEPS = 32 };
#else
enum { STEPS = 16 };
#endif

// Whether x sorts before y, NaN last.
#define BEFORE_INTEGER(x, y) ((x) < (y))
#define BEFORE_FLOAT(x, y) (((x) < (y)) | (((y) != (y)) & ((x) == (x))))

// Looks up `count` queries, of which none is left over: count is STEPS but in
// the last call.
#define SEARCH_SIDE(side, sfx, T, passes)                                     \
  static void side##_##sfx(int64_t *out, const T *sorted, size_t m,           \
                           const T *queries, size_t count) {                  \
    size_t at[STEPS] = {0};                                                   \
    for (size_t length = m; length > 1; length -= length / 2) {               \
      const size_t half = length / 2;                                         \
      for (size_t k = 0; k < count; k++) {                                    \
        const T x = sorted[at[k] + half - 1], q = queries[k];                 \
        at[k] += half & ((size_t)0 - (size_t)(passes));                       \
      }                                                                       \
    }                                                                         \
    for (size_t k = 0; k < count; k++) {                                      \
      const T x = sorted[at[k]], q = queries[k];                              \
      out[k] = (int64_t)(at[k] + ((passes) ? 1 : 0));                         \
    }                                                                         \
  }
#define SEARCH(sfx, T, BEFORE)                                                \
  SEARCH_SIDE(first_not_less, sfx, T, BEFORE(x, q))                           \
  SEARCH_SIDE(first_greater, sfx, T, !(BEFORE(q, x)))                         \
  void TL_K(search_##sfx)(int64_t * out, const void *sorted, size_t m,        \
                          const void *queries, size_t n, bool right) {        \
    const T *query = queries;                                                 \
    if (m == 0) {                                                             \
      if (n > 0) memset(out, 0, n * sizeof *out);                             \
      return;                                                                 \
    }                                                                         \
    for (size_t i = 0; i < n; i += STEPS) {                                   \
      const size_t count = n - i < STEPS ? n - i : STEPS;                     \
      if (right) {                                                            \
        first_greater_##sfx(out + i, sorted, m, query + i, count);            \
      } else {                                                                \
        first_not_less_##sfx(out + i, sorted, m, query + i, count);           \
      }                                                                       \
    }                                                                         \
  }

#define X(D, sfx, T, W) SEARCH(sfx, T, BEFORE_INTEGER)
TL_INTEGERS(X)
#undef X
#define X(D, sfx, T, W) SEARCH(sfx, T, BEFORE_FLOAT)
TL_FLOATS(X)
#undef X

// By the real part, then by the imaginary one; parts that are both NaN are
// equal.
#define EQUAL_PART(x, y) (((x) == (y)) | (((x) != (x)) & ((y) != (y))))
#define BEFORE_COMPLEX(x, y)          \
  (BEFORE_FLOAT((x).re, (y).re) |     \
   (EQUAL_PART((x).re, (y).re) & BEFORE_FLOAT((x).im, (y).im)))
#define X(D, sfx, T, W) SEARCH(sfx, T, BEFORE_COMPLEX)
TL_COMPLEXES(X)
#undef X
