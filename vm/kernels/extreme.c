// Smallest and largest items of sequences, and where they are.
#include "vm/kernels/extreme.h"
#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"

// Lanes let a long row be compared many items at a time: four vectors of the
// widest set, or two of bytes, so that no comparison waits for the one before.
// Short rows have vectors of 16 items. What is left behind whole turns is a
// turn that overlaps the last one, as an item may be compared twice.
#define LONG_TURN(T) (sizeof(T) == 1 ? (size_t)128 : 256 / sizeof(T))
enum { SHORT_TURN = 16, MOST_LANES = 128 };

// A place is looked for in the block that has the best item, and there in
// chunks: comparisons of places would cost as much again as those of items.
enum { BLOCK_BYTES = 4096, CHUNK = 64 };

// x is the best item, which may be NaN.
#define IS_SAME(x, best, IS_NAN) ((unsigned char)(((x) == (best)) | IS_NAN(x)))

#define EXTREME(name, sfx, T, beats, IS_NAN)                                   \
  TL_INLINE T better_##name##_##sfx(T x, T y) {                                \
    return BETTER(x, y, beats, IS_NAN);                                        \
  }                                                                            \
  /* The best of n items, at least as many as there are lanes. */              \
  TL_INLINE T best_by_##name##_##sfx(const T *items, size_t n, size_t width) { \
    T lanes[MOST_LANES];                                                       \
    size_t i = width;                                                          \
    memcpy(lanes, items, sizeof(T) * width);                                   \
    for (; n - i >= width; i += width)                                         \
      for (size_t k = 0; k < width; k++)                                       \
        lanes[k] = better_##name##_##sfx(lanes[k], items[i + k]);              \
    if (i < n)                                                                 \
      for (size_t k = 0; k < width; k++)                                       \
        lanes[k] = better_##name##_##sfx(lanes[k], items[n - width + k]);      \
    TL_SPELL_OUT for (size_t half = width / 2; half > 0;                       \
                      half /= 2) for (size_t k = 0; k < half; k++) lanes[k] =  \
        better_##name##_##sfx(lanes[k], lanes[k + half]);                      \
    return lanes[0];                                                           \
  }                                                                            \
  static T best_##name##_##sfx(const T *items, size_t n) {                     \
    if (!TL_SMALL && n >= LONG_TURN(T))                                        \
      return best_by_##name##_##sfx(items, n, LONG_TURN(T));                   \
    if (n >= SHORT_TURN)                                                       \
      return best_by_##name##_##sfx(items, n, SHORT_TURN);                     \
    T best = items[0];                                                         \
    for (size_t i = 1; i < n; i++)                                             \
      best = better_##name##_##sfx(best, items[i]);                            \
    return best;                                                               \
  }                                                                            \
  void TL_K(feed_##name##_##sfx)(tl_fold_state * state, const void *a,         \
                                 size_t n) {                                   \
    if (n == 0)                                                                \
      return;                                                                  \
    T best = best_##name##_##sfx(a, n), before;                                \
    memcpy(&before, state->lanes.item, sizeof before);                         \
    if (state->count > 0)                                                      \
      best = better_##name##_##sfx(before, best);                              \
    memcpy(state->lanes.item, &best, sizeof best);                             \
    state->count += n;                                                         \
  }                                                                            \
  void TL_K(merge_##name##_##sfx)(tl_fold_state * state,                       \
                                  const tl_fold_state *next) {                 \
    const uint64_t count = state->count + next->count;                         \
    if (next->count > 0)                                                       \
      TL_K(feed_##name##_##sfx)(state, next->lanes.item, 1);                   \
    state->count = count;                                                      \
  }                                                                            \
  /* The first place of an item that is there. */                              \
  static size_t first_##name##_##sfx(const T *items, size_t n, T best) {       \
    size_t i = 0;                                                              \
    for (; n - i >= CHUNK; i += CHUNK) {                                       \
      unsigned char found = 0;                                                 \
      for (size_t k = 0; k < CHUNK; k++)                                       \
        found |= IS_SAME(items[i + k], best, IS_NAN);                          \
      if (found)                                                               \
        break;                                                                 \
    }                                                                          \
    for (; !IS_SAME(items[i], best, IS_NAN);) i++;                             \
    return i;                                                                  \
  }                                                                            \
  size_t TL_K(arg##name##_##sfx)(const void *a, size_t n,                      \
                                 const void *before) {                         \
    const T *items = a;                                                        \
    const size_t block = BLOCK_BYTES / sizeof(T);                              \
    T best;                                                                    \
    size_t at = before != NULL ? n : 0;                                        \
    memcpy(&best, before != NULL ? before : a, sizeof best);                   \
    for (size_t i = 0; i < n && !IS_NAN(best); i += block) {                   \
      const T found =                                                          \
          best_##name##_##sfx(items + i, n - i < block ? n - i : block);       \
      if ((found beats best) | IS_NAN(found)) {                                \
        best = found;                                                          \
        at = i;                                                                \
      }                                                                        \
    }                                                                          \
    return at == n ? n : at + first_##name##_##sfx(items + at, n - at, best);  \
  }

EXTREMES

#define X(D, sfx, T, W)                                         \
  void TL_K(end_item_##sfx)(tl_fold_state * state, void *out) { \
    memcpy(out, state->lanes.item, sizeof(T));                  \
  }
TL_UNSIGNED(X)
#undef X
