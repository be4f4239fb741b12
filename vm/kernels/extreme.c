// Smallest and largest items and where they are, along rows and down columns.
// NaN wins over every number, and the first of equals over the others.
#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"

// Lanes let a long row be compared many items at a time; ARG_BLOCK is how much
// of a row is compared before it is known whether to look for the place.
enum { LANES = 32, ARG_BLOCK = 512, LOOK = 32 };

// Down columns several rows are taken at once, so that the best so far is read
// and written less often, in strips whose best stay in the first cache.
enum { ROWS = 8, ARG_ROWS = 4 };

// `beats` is > or <, `holds` >= or <=. IS_NAN(x) is whether x stays whatever it
// meets.
#define IS_NAN_FLOAT(x) ((x) != (x))
#define IS_NAN_INTEGER(x) 0

// x, which is at `at`, meets y.
#define ARG_STEP(y, place, holds, IS_NAN)       \
  {                                             \
    const bool keep = (x holds(y)) | IS_NAN(x); \
    at = keep ? at : (place);                   \
    x = keep ? x : (y);                         \
  }

static const void *row_of(const char *a, ptrdiff_t row_stride, size_t row) {
  return a + (ptrdiff_t)row * row_stride;
}

#define EXTREME(name, sfx, T, beats, holds, IS_NAN)                           \
  /* x, unless y beats it or is NaN */                                        \
  TL_INLINE T better_##name##_##sfx(T x, T y) {                               \
    return ((x holds y) | IS_NAN(x)) ? x : y;                                 \
  }                                                                           \
  static T best_##name##_##sfx(const T *items, size_t n) {                    \
    T best = items[0];                                                        \
    if (n >= LANES) {                                                         \
      T lanes[LANES];                                                         \
      memcpy(lanes, items, sizeof lanes);                                     \
      size_t i = LANES;                                                       \
      for (; i + LANES <= n; i += LANES)                                      \
        for (size_t k = 0; k < LANES; k++)                                    \
          lanes[k] = better_##name##_##sfx(lanes[k], items[i + k]);           \
      for (size_t half = LANES / 2; half > 0; half /= 2)                      \
        for (size_t k = 0; k < half; k++)                                     \
          lanes[k] = better_##name##_##sfx(lanes[k], lanes[k + half]);        \
      best = lanes[0];                                                        \
      items += i;                                                             \
      n -= i;                                                                 \
    }                                                                         \
    for (size_t i = 0; i < n; i++)                                            \
      best = better_##name##_##sfx(best, items[i]);                           \
    return best;                                                              \
  }                                                                           \
  void TL_K(feed_##name##_##sfx)(tl_fold_state * state, const void *a,        \
                                 size_t n) {                                  \
    if (n == 0)                                                               \
      return;                                                                 \
    T best = best_##name##_##sfx(a, n), before;                               \
    memcpy(&before, state->lanes.item, sizeof before);                        \
    if (state->count > 0)                                                     \
      best = better_##name##_##sfx(before, best);                             \
    memcpy(state->lanes.item, &best, sizeof best);                            \
    state->count += n;                                                        \
  }                                                                           \
  void TL_K(merge_##name##_##sfx)(tl_fold_state * state,                      \
                                  const tl_fold_state *next) {                \
    const uint64_t count = state->count + next->count;                        \
    if (next->count > 0)                                                      \
      TL_K(feed_##name##_##sfx)(state, next->lanes.item, 1);                  \
    state->count = count;                                                     \
  }                                                                           \
  static void outer_strip_##name##_##sfx(                                     \
      T *best, const char *a, ptrdiff_t row_stride, size_t nrows, size_t n) { \
    memcpy(best, a, n * sizeof(T));                                           \
    size_t r = 1;                                                             \
    for (; r + ROWS <= nrows; r += ROWS) {                                    \
      const T *r0 = row_of(a, row_stride, r);                                 \
      const T *r1 = row_of(a, row_stride, r + 1);                             \
      const T *r2 = row_of(a, row_stride, r + 2);                             \
      const T *r3 = row_of(a, row_stride, r + 3);                             \
      const T *r4 = row_of(a, row_stride, r + 4);                             \
      const T *r5 = row_of(a, row_stride, r + 5);                             \
      const T *r6 = row_of(a, row_stride, r + 6);                             \
      const T *r7 = row_of(a, row_stride, r + 7);                             \
      TL_LOOP for (size_t i = 0; i < n; i++) {                                \
        T x = best[i];                                                        \
        x = better_##name##_##sfx(x, r0[i]);                                  \
        x = better_##name##_##sfx(x, r1[i]);                                  \
        x = better_##name##_##sfx(x, r2[i]);                                  \
        x = better_##name##_##sfx(x, r3[i]);                                  \
        x = better_##name##_##sfx(x, r4[i]);                                  \
        x = better_##name##_##sfx(x, r5[i]);                                  \
        x = better_##name##_##sfx(x, r6[i]);                                  \
        best[i] = better_##name##_##sfx(x, r7[i]);                            \
      }                                                                       \
    }                                                                         \
    for (; r < nrows; r++) {                                                  \
      const T *row = row_of(a, row_stride, r);                                \
      TL_LOOP for (size_t i = 0; i < n; i++) {                                \
        best[i] = better_##name##_##sfx(best[i], row[i]);                     \
      }                                                                       \
    }                                                                         \
  }                                                                           \
  void TL_K(outer_##name##_##sfx)(void *out, const void *a,                   \
                                  ptrdiff_t row_stride, size_t nrows,         \
                                  size_t ncols, void *scratch) {              \
    (void)scratch;                                                            \
    for (size_t i = 0; i < ncols; i += TL_OUTER_STRIP) {                      \
      const size_t left = ncols - i;                                          \
      outer_strip_##name##_##sfx(                                             \
          (T *)out + i, (const char *)a + i * sizeof(T), row_stride, nrows,   \
          left < TL_OUTER_STRIP ? left : TL_OUTER_STRIP);                     \
    }                                                                         \
  }                                                                           \
  /* The best of each block is compared; only in the block that holds the */  \
  /* best of all is its place looked for. */                                  \
  size_t TL_K(arg##name##_##sfx)(const void *a, size_t n) {                   \
    const T *items = a;                                                       \
    T best = items[0];                                                        \
    size_t at = 0;                                                            \
    for (size_t i = 0; i < n && !IS_NAN(best); i += ARG_BLOCK) {              \
      size_t block = n - i < ARG_BLOCK ? n - i : ARG_BLOCK;                   \
      T found = best_##name##_##sfx(items + i, block);                        \
      if (!(found beats best) && !IS_NAN(found))                              \
        continue;                                                             \
      best = found;                                                           \
      at = i;                                                                 \
    }                                                                         \
    if (IS_NAN(best)) {                                                       \
      while (!IS_NAN(items[at])) at++;                                        \
      return at;                                                              \
    }                                                                         \
    for (; at + LOOK <= n; at += LOOK) {                                      \
      unsigned found = 0;                                                     \
      for (size_t i = 0; i < LOOK; i++) found |= items[at + i] == best;       \
      if (found)                                                              \
        break;                                                                \
    }                                                                         \
    while (items[at] != best) at++;                                           \
    return at;                                                                \
  }                                                                           \
  static void arg_strip_##name##_##sfx(int64_t *out, T *best, const char *a,  \
                                       ptrdiff_t row_stride, size_t nrows,    \
                                       size_t n) {                            \
    memcpy(best, a, n * sizeof(T));                                           \
    memset(out, 0, n * sizeof *out);                                          \
    size_t r = 1;                                                             \
    for (; r + ARG_ROWS <= nrows; r += ARG_ROWS) {                            \
      const T *r0 = row_of(a, row_stride, r);                                 \
      const T *r1 = row_of(a, row_stride, r + 1);                             \
      const T *r2 = row_of(a, row_stride, r + 2);                             \
      const T *r3 = row_of(a, row_stride, r + 3);                             \
      const int64_t first = (int64_t)r;                                       \
      TL_LOOP for (size_t i = 0; i < n; i++) {                                \
        T x = best[i];                                                        \
        int64_t at = out[i];                                                  \
        ARG_STEP(r0[i], first, holds, IS_NAN)                                 \
        ARG_STEP(r1[i], first + 1, holds, IS_NAN)                             \
        ARG_STEP(r2[i], first + 2, holds, IS_NAN)                             \
        ARG_STEP(r3[i], first + 3, holds, IS_NAN)                             \
        best[i] = x;                                                          \
        out[i] = at;                                                          \
      }                                                                       \
    }                                                                         \
    for (; r < nrows; r++) {                                                  \
      const T *row = row_of(a, row_stride, r);                                \
      TL_LOOP for (size_t i = 0; i < n; i++) {                                \
        T x = best[i];                                                        \
        int64_t at = out[i];                                                  \
        ARG_STEP(row[i], (int64_t)r, holds, IS_NAN)                           \
        best[i] = x;                                                          \
        out[i] = at;                                                          \
      }                                                                       \
    }                                                                         \
  }                                                                           \
  void TL_K(arg##name##_outer_##sfx)(int64_t * out, void *scratch,            \
                                     const void *a, ptrdiff_t row_stride,     \
                                     size_t nrows, size_t ncols) {            \
    for (size_t i = 0; i < ncols; i += TL_OUTER_STRIP) {                      \
      const size_t left = ncols - i;                                          \
      arg_strip_##name##_##sfx(                                               \
          out + i, scratch, (const char *)a + i * sizeof(T), row_stride,      \
          nrows, left < TL_OUTER_STRIP ? left : TL_OUTER_STRIP);              \
    }                                                                         \
  }                                                                           \
  void TL_K(scan_##name##_##sfx)(void *out, const void *a, void *carry,       \
                                 size_t n) {                                  \
    T *to = out, best = *(T *)carry;                                          \
    const T *items = a;                                                       \
    for (size_t i = 0; i < n; i++)                                            \
      to[i] = best = better_##name##_##sfx(best, items[i]);                   \
    *(T *)carry = best;                                                       \
  }

#define X(D, sfx, T, W)                       \
  EXTREME(min, sfx, T, <, <=, IS_NAN_INTEGER) \
  EXTREME(max, sfx, T, >, >=, IS_NAN_INTEGER)
TL_INTEGERS(X)
#undef X
#define X(D, sfx, T, W)                     \
  EXTREME(min, sfx, T, <, <=, IS_NAN_FLOAT) \
  EXTREME(max, sfx, T, >, >=, IS_NAN_FLOAT)
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
