// Smallest and largest items and where they are, along rows and down columns.
// NaN wins over every number, and the first of equals over the others.
#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"

// Lanes let a long row be compared many items at a time; ARG_BLOCK is how much
// of a row is compared before it is known whether to look for the place.
enum { LANES = 32, ARG_BLOCK = 512 };

// `beats` is > or <. IS_NAN(x) is whether x stays whatever it meets.
#define IS_NAN_FLOAT(x) ((x) != (x))
#define IS_NAN_INTEGER(x) 0

#define EXTREME(name, sfx, T, beats, IS_NAN)                                 \
  /* x, unless y beats it or is NaN */                                       \
  TL_INLINE T better_##name##_##sfx(T x, T y) {                              \
    return ((x == y || (x beats y) || IS_NAN(x)) ? x : y);                   \
  }                                                                          \
  static T best_##name##_##sfx(const T *items, size_t n) {                   \
    T best = items[0];                                                       \
    if (n >= LANES) {                                                        \
      T lanes[LANES];                                                        \
      memcpy(lanes, items, sizeof lanes);                                    \
      size_t i = LANES;                                                      \
      for (; i + LANES <= n; i += LANES)                                     \
        for (size_t k = 0; k < LANES; k++)                                   \
          lanes[k] = better_##name##_##sfx(lanes[k], items[i + k]);          \
      for (size_t half = LANES / 2; half > 0; half /= 2)                     \
        for (size_t k = 0; k < half; k++)                                    \
          lanes[k] = better_##name##_##sfx(lanes[k], lanes[k + half]);       \
      best = lanes[0];                                                       \
      items += i;                                                            \
      n -= i;                                                                \
    }                                                                        \
    for (size_t i = 0; i < n; i++)                                           \
      best = better_##name##_##sfx(best, items[i]);                          \
    return best;                                                             \
  }                                                                          \
  void TL_K(feed_##name##_##sfx)(tl_fold_state * state, const void *a,       \
                                 size_t n) {                                 \
    if (n == 0)                                                              \
      return;                                                                \
    T best = best_##name##_##sfx(a, n), before;                              \
    memcpy(&before, state->lanes.item, sizeof before);                       \
    if (state->count > 0)                                                    \
      best = better_##name##_##sfx(before, best);                            \
    memcpy(state->lanes.item, &best, sizeof best);                           \
    state->count += n;                                                       \
  }                                                                          \
  void TL_K(merge_##name##_##sfx)(tl_fold_state * state,                     \
                                  const tl_fold_state *next) {               \
    const uint64_t count = state->count + next->count;                       \
    if (next->count > 0)                                                     \
      TL_K(feed_##name##_##sfx)(state, next->lanes.item, 1);                 \
    state->count = count;                                                    \
  }                                                                          \
  void TL_K(outer_##name##_##sfx)(void *out, const void *a,                  \
                                  ptrdiff_t row_stride, size_t nrows,        \
                                  size_t ncols, void *scratch) {             \
    (void)scratch;                                                           \
    T *best = out;                                                           \
    memcpy(best, a, ncols * sizeof(T));                                      \
    for (size_t r = 1; r < nrows; r++) {                                     \
      const T *row =                                                         \
          (const void *)((const char *)a + (ptrdiff_t)r * row_stride);       \
      TL_LOOP for (size_t i = 0; i < ncols; i++) {                           \
        const T x = best[i], y = row[i];                                     \
        best[i] = better_##name##_##sfx(x, y);                               \
      }                                                                      \
    }                                                                        \
  }                                                                          \
  /* The best of each block is compared; only in the block that holds the */ \
  /* best of all is its place looked for. */                                 \
  size_t TL_K(arg##name##_##sfx)(const void *a, size_t n) {                  \
    const T *items = a;                                                      \
    T best = items[0];                                                       \
    size_t at = 0;                                                           \
    for (size_t i = 0; i < n && !IS_NAN(best); i += ARG_BLOCK) {             \
      size_t block = n - i < ARG_BLOCK ? n - i : ARG_BLOCK;                  \
      T found = best_##name##_##sfx(items + i, block);                       \
      if (!(found beats best) && !IS_NAN(found))                             \
        continue;                                                            \
      best = found;                                                          \
      at = i;                                                                \
    }                                                                        \
    if (IS_NAN(best)) {                                                      \
      while (!IS_NAN(items[at])) at++;                                       \
    } else {                                                                 \
      while (items[at] != best) at++;                                        \
    }                                                                        \
    return at;                                                               \
  }                                                                          \
  void TL_K(arg##name##_outer_##sfx)(int64_t * out, void *scratch,           \
                                     const void *a, ptrdiff_t row_stride,    \
                                     size_t nrows, size_t ncols) {           \
    T *best = scratch;                                                       \
    memcpy(best, a, ncols * sizeof(T));                                      \
    memset(out, 0, ncols * sizeof *out);                                     \
    for (size_t r = 1; r < nrows; r++) {                                     \
      const T *row =                                                         \
          (const void *)((const char *)a + (ptrdiff_t)r * row_stride);       \
      TL_LOOP for (size_t i = 0; i < ncols; i++) {                           \
        const T x = best[i], y = row[i];                                     \
        const int64_t was = out[i];                                          \
        const bool keep = x == y || (x beats y) || IS_NAN(x);                \
        best[i] = keep ? x : y;                                              \
        out[i] = keep ? was : (int64_t)r;                                    \
      }                                                                      \
    }                                                                        \
  }                                                                          \
  void TL_K(scan_##name##_##sfx)(void *out, const void *a, void *carry,      \
                                 size_t n) {                                 \
    T *to = out, best = *(T *)carry;                                         \
    const T *items = a;                                                      \
    for (size_t i = 0; i < n; i++)                                           \
      to[i] = best = better_##name##_##sfx(best, items[i]);                  \
    *(T *)carry = best;                                                      \
  }

#define X(D, sfx, T, W)                   \
  EXTREME(min, sfx, T, <, IS_NAN_INTEGER) \
  EXTREME(max, sfx, T, >, IS_NAN_INTEGER)
TL_INTEGERS(X)
#undef X
#define X(D, sfx, T, W)                 \
  EXTREME(min, sfx, T, <, IS_NAN_FLOAT) \
  EXTREME(max, sfx, T, >, IS_NAN_FLOAT)
TL_FLOATS(X)
#undef X

#define END(size)                                                \
  void TL_K(end_item_##size)(tl_fold_state * state, void *out) { \
    memcpy(out, state->lanes.item, size);                        \
  }
END(1)
END(2)
END(4)
END(8)
