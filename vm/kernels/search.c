// Binary search, many queries in step: their loads overlap, and no step waits
// for the prediction of a branch.
//
//   length of the range   m, m - m/2, …, 1: the same for all queries of a step
//   at[k]                 moves on by half where the query lies behind the item
//
// Among very many items a table of evenly wide ranges saves the first steps,
// which miss the caches most.
#include "vm/kernels/list.h"
#include "vm/kernels/search.h"

#ifdef __AVX2__
enum { STEPS = 32 };
#else
enum { STEPS = 16 };
#endif

// Among so few items a query's place is how many of them it lies behind, which
// vectors count without looking anything up.
enum { COUNTED = 12 };

// Halves the range of each query, `length` items from at[k] on, until one item
// is left; count is STEPS but in the last call. `passes` says whether the
// query lies behind item x.
#define SEARCH_SIDE(side, sfx, T, passes)                                     \
  TL_INLINE void side##_within_##sfx(int64_t *out, size_t *at, size_t length, \
                                     const T *sorted, const T *queries,       \
                                     size_t count) {                          \
    for (; length > 1; length -= length / 2) {                                \
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
  }                                                                           \
  static void side##_##sfx(int64_t *out, const T *sorted, size_t m,           \
                           const T *queries, size_t count) {                  \
    if (!TL_SMALL && m <= COUNTED) {                                          \
      memset(out, 0, count * sizeof *out);                                    \
      for (size_t i = 0; i < m; i++) {                                        \
        const T x = sorted[i];                                                \
        TL_LOOP for (size_t k = 0; k < count; k++) {                          \
          const T q = queries[k];                                             \
          out[k] += (passes) ? 1 : 0;                                         \
        }                                                                     \
      }                                                                       \
      return;                                                                 \
    }                                                                         \
    size_t at[STEPS] = {0};                                                   \
    side##_within_##sfx(out, at, m, sorted, queries, count);                  \
  }

// Where many are looked up in many, a table of evenly wide ranges says where
// the items of each begin: only a search within one is left. An item's range
// grows with the item, however it is rounded.
// A table of 4,096 ranges is 16 KiB. It pays where it saves misses, and where
// the queries are several times its searches.
enum { RANGES = 4096, LEAST_ITEMS = 1 << 15, LEAST_QUERIES = 4 * RANGES };

typedef struct ranges {
  double low, scale;
  uint32_t start[RANGES + 1];
} ranges;

// The range that x falls into, the same for items and queries.
TL_INLINE size_t range_of(const ranges *r, double x) {
  const double at = (x - r->low) * r->scale;
  const double positive = at > 0 ? at : 0;  // NaN: no matter
  return (size_t)(positive < RANGES - 1 ? positive : RANGES - 1);
}

// The same within the range of each query. All queries of a step search as
// many items as the longest range has.
#define RANGED_SEARCH(side, sfx, T, passes)                                    \
  static void side##_ranged_##sfx(int64_t *out, const ranges *r,               \
                                  const T *sorted, size_t m, const T *queries, \
                                  size_t count) {                              \
    size_t at[STEPS], most = 1;                                                \
    for (size_t k = 0; k < count; k++) {                                       \
      const size_t range = range_of(r, (double)queries[k]);                    \
      const size_t length = r->start[range + 1] - r->start[range];             \
      at[k] = r->start[range];                                                 \
      most = length > most ? length : most;                                    \
    }                                                                          \
    for (size_t k = 0; k < count; k++)                                         \
      at[k] = at[k] < m - most ? at[k] : m - most;                             \
    side##_within_##sfx(out, at, most, sorted, queries, count);                \
  }

// Finds where each range begins, several searches in step. False where the
// items are too few, too many or not all finite.
#define MAKE_RANGES(sfx, T)                                              \
  static bool make_ranges_##sfx(ranges *r, const T *sorted, size_t m,    \
                                size_t n) {                              \
    r->low = r->scale = 0;                                               \
    if (m < LEAST_ITEMS || m > UINT32_MAX || n < LEAST_QUERIES)          \
      return false;                                                      \
    r->low = (double)sorted[0];                                          \
    r->scale = RANGES / ((double)sorted[m - 1] - r->low);                \
    if (!(r->scale > 0 && r->scale < INFINITY))                          \
      return false;                                                      \
    for (size_t from = 0; from < RANGES; from += STEPS) {                \
      size_t at[STEPS] = {0};                                            \
      for (size_t length = m; length > 1; length -= length / 2) {        \
        const size_t half = length / 2;                                  \
        for (size_t k = 0; k < STEPS; k++) {                             \
          const double x = (double)sorted[at[k] + half - 1];             \
          at[k] += range_of(r, x) < from + k ? half : 0;                 \
        }                                                                \
      }                                                                  \
      for (size_t k = 0; k < STEPS; k++)                                 \
        r->start[from + k] =                                             \
            (uint32_t)(at[k] +                                           \
                       (range_of(r, (double)sorted[at[k]]) < from + k)); \
    }                                                                    \
    r->start[RANGES] = (uint32_t)m;                                      \
    return true;                                                         \
  }

// The kernel of reals: `numbers` of the m items are no NaN, which come last.
// Comparisons with NaN fail, so queries that are NaN find 0 and are set right.
#define SEARCH(sfx, T, count_numbers, IS_NAN)                                \
  SEARCH_SIDE(first_not_less, sfx, T, x < q)                                 \
  SEARCH_SIDE(first_greater, sfx, T, x <= q)                                 \
  RANGED_SEARCH(first_not_less, sfx, T, x < q)                               \
  RANGED_SEARCH(first_greater, sfx, T, x <= q)                               \
  MAKE_RANGES(sfx, T)                                                        \
  void TL_K(search_##sfx)(int64_t * out, const void *sorted, size_t m,       \
                          const void *queries, size_t n, bool right) {       \
    const T *query = queries;                                                \
    const size_t numbers = count_numbers(sorted, m);                         \
    ranges r;                                                                \
    const bool ranged =                                                      \
        sizeof(T) == 8 && make_ranges_##sfx(&r, sorted, numbers, n);         \
    if (numbers == 0 && n > 0)                                               \
      memset(out, 0, n * sizeof *out);                                       \
    for (size_t i = 0; numbers > 0 && i < n; i += STEPS) {                   \
      const size_t count = n - i < STEPS ? n - i : STEPS;                    \
      if (ranged && right)                                                   \
        first_greater_ranged_##sfx(out + i, &r, sorted, numbers, query + i,  \
                                   count);                                   \
      else if (ranged)                                                       \
        first_not_less_ranged_##sfx(out + i, &r, sorted, numbers, query + i, \
                                    count);                                  \
      else if (right)                                                        \
        first_greater_##sfx(out + i, sorted, numbers, query + i, count);     \
      else                                                                   \
        first_not_less_##sfx(out + i, sorted, numbers, query + i, count);    \
    }                                                                        \
    for (size_t i = 0; i < n; i++)                                           \
      if (IS_NAN(query[i]))                                                  \
        out[i] = (int64_t)(right ? m : numbers);                             \
  }

// Integers are all numbers, so that the checks for NaN vanish.
#define ALL(sorted, m) (m)
#define NEVER(x) (false)
#define X(D, sfx, T, W) SEARCH(sfx, T, ALL, NEVER)
TL_INTEGERS(X)
#undef X

#define IS_NAN(x) ((x) != (x))
#define X(D, sfx, T, W)                                    \
  static size_t numbers_##sfx(const T *sorted, size_t m) { \
    size_t low = 0;                                        \
    while (low < m) {                                      \
      const size_t middle = low + (m - low) / 2;           \
      if (IS_NAN(sorted[middle]))                          \
        m = middle;                                        \
      else                                                 \
        low = middle + 1;                                  \
    }                                                      \
    return low;                                            \
  }                                                        \
  SEARCH(sfx, T, numbers_##sfx, IS_NAN)
TL_FLOATS(X)
#undef X

// By the real part, then by the imaginary one; parts that are both NaN are
// equal. NaN comes after all numbers.
#define BEFORE_PART(x, y) (((x) < (y)) | (((y) != (y)) & ((x) == (x))))
// Whether parts are equal in the order of sorting, NaN with NaN.
#define EQUAL_PART(x, y) (((x) == (y)) | (((x) != (x)) & ((y) != (y))))
#define BEFORE_COMPLEX(x, y)     \
  (BEFORE_PART((x).re, (y).re) | \
   (EQUAL_PART((x).re, (y).re) & BEFORE_PART((x).im, (y).im)))
#define X(D, sfx, T, W)                                                \
  SEARCH_SIDE(first_not_less, sfx, T, BEFORE_COMPLEX(x, q))            \
  SEARCH_SIDE(first_greater, sfx, T, !(BEFORE_COMPLEX(q, x)))          \
  void TL_K(search_##sfx)(int64_t * out, const void *sorted, size_t m, \
                          const void *queries, size_t n, bool right) { \
    const T *query = queries;                                          \
    if (m == 0 && n > 0)                                               \
      memset(out, 0, n * sizeof *out);                                 \
    for (size_t i = 0; m > 0 && i < n; i += STEPS) {                   \
      const size_t count = n - i < STEPS ? n - i : STEPS;              \
      if (right) {                                                     \
        first_greater_##sfx(out + i, sorted, m, query + i, count);     \
      } else {                                                         \
        first_not_less_##sfx(out + i, sorted, m, query + i, count);    \
      }                                                                \
    }                                                                  \
  }
TL_COMPLEXES(X)
#undef X
