// Smallest and largest items of sequences, and where they are.
#include "vm/kernels/extreme.h"
#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"

// Lanes let a long row be compared many items at a time. For a place, each lane
// counts in words of the items' size, so that there are vectors of them, over
// blocks of so many turns as the smallest word counts.
enum { LANES = 32, TURNS = 255 };

typedef uint8_t turn_int8, turn_uint8;
typedef uint16_t turn_int16, turn_uint16;
typedef uint32_t turn_int32, turn_uint32, turn_float32;
typedef uint64_t turn_int64, turn_uint64, turn_float64;

#define EXTREME(name, sfx, T, beats, IS_NAN)                                \
  TL_INLINE T better_##name##_##sfx(T x, T y) {                             \
    return BETTER(x, y, beats, IS_NAN);                                     \
  }                                                                         \
  static T best_##name##_##sfx(const T *items, size_t n) {                  \
    T best = items[0];                                                      \
    if (n >= LANES) {                                                       \
      T lanes[LANES];                                                       \
      memcpy(lanes, items, sizeof lanes);                                   \
      size_t i = LANES;                                                     \
      for (; i + LANES <= n; i += LANES)                                    \
        for (size_t k = 0; k < LANES; k++)                                  \
          lanes[k] = better_##name##_##sfx(lanes[k], items[i + k]);         \
      for (size_t half = LANES / 2; half > 0; half /= 2)                    \
        for (size_t k = 0; k < half; k++)                                   \
          lanes[k] = better_##name##_##sfx(lanes[k], lanes[k + half]);      \
      best = lanes[0];                                                      \
      items += i;                                                           \
      n -= i;                                                               \
    }                                                                       \
    for (size_t i = 0; i < n; i++)                                          \
      best = better_##name##_##sfx(best, items[i]);                         \
    return best;                                                            \
  }                                                                         \
  void TL_K(feed_##name##_##sfx)(tl_fold_state * state, const void *a,      \
                                 size_t n) {                                \
    if (n == 0)                                                             \
      return;                                                               \
    T best = best_##name##_##sfx(a, n), before;                             \
    memcpy(&before, state->lanes.item, sizeof before);                      \
    if (state->count > 0)                                                   \
      best = better_##name##_##sfx(before, best);                           \
    memcpy(state->lanes.item, &best, sizeof best);                          \
    state->count += n;                                                      \
  }                                                                         \
  void TL_K(merge_##name##_##sfx)(tl_fold_state * state,                    \
                                  const tl_fold_state *next) {              \
    const uint64_t count = state->count + next->count;                      \
    if (next->count > 0)                                                    \
      TL_K(feed_##name##_##sfx)(state, next->lanes.item, 1);                \
    state->count = count;                                                   \
  }                                                                         \
  /* The place of the best among whole turns of items. */                   \
  static size_t arg_turns_##name##_##sfx(const T *items, size_t turns) {    \
    T lanes[LANES];                                                         \
    turn_##sfx turn[LANES] = {0};                                           \
    memcpy(lanes, items, sizeof lanes);                                     \
    for (size_t t = 1; t < turns; t++)                                      \
      for (size_t k = 0; k < LANES; k++)                                    \
        MOVING_STEP(lanes[k], turn[k], items[t * LANES + k], (turn_##sfx)t, \
                    beats, IS_NAN)                                          \
    const T best = best_##name##_##sfx(lanes, LANES);                       \
    uint32_t at = UINT32_MAX;                                               \
    if (IS_NAN(best)) { /* lanes know the last, not the first */            \
      for (at = 0; !IS_NAN(items[at]);) at++;                               \
      return at;                                                            \
    }                                                                       \
    for (uint32_t k = 0; k < LANES; k++) {                                  \
      const uint32_t place = (uint32_t)turn[k] * LANES + k;                 \
      const uint32_t here = lanes[k] == best ? place : UINT32_MAX;          \
      at = here < at ? here : at;                                           \
    }                                                                       \
    return at;                                                              \
  }                                                                         \
  size_t TL_K(arg##name##_##sfx)(const void *a, size_t n) {                 \
    const T *items = a;                                                     \
    size_t at = 0, i = 0;                                                   \
    while (!TL_SMALL && n - i >= LANES) {                                   \
      const size_t left = (n - i) / LANES,                                  \
                   turns = left < TURNS ? left : TURNS;                     \
      const size_t place = i + arg_turns_##name##_##sfx(items + i, turns);  \
      T best = items[at];                                                   \
      ARG_STEP(best, at, items[place], place, beats, IS_NAN)                \
      i += turns * LANES;                                                   \
    }                                                                       \
    for (T best = items[at]; i < n; i++)                                    \
      ARG_STEP(best, at, items[i], i, beats, IS_NAN)                        \
    return at;                                                              \
  }

EXTREMES

#define END(size)                                                \
  void TL_K(end_item_##size)(tl_fold_state * state, void *out) { \
    memcpy(out, state->lanes.item, size);                        \
  }
END(1)
END(2)
END(4)
END(8)
