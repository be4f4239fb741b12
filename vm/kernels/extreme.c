// Smallest and largest items of sequences, and where they are.
#include "vm/kernels/extreme.h"
#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"

// Lanes let a long row be compared many items at a time. Nothing behind them
// branches on items: the processor would wait for memory there, and ask for the
// next row late. For a place, each lane counts turns in words of the items'
// size, so that there are vectors of them.
// A byte counts to 254, and 255 is nowhere: TURNS turns are numbered from 0.
enum { LANES = 32, TURNS = 255, NOWHERE = 255 };

typedef uint8_t word_int8, word_uint8;
typedef uint16_t word_int16, word_uint16;
typedef uint32_t word_int32, word_uint32, word_float32;
typedef int64_t word_int64, word_uint64, word_float64;

// What all lanes come to by JOIN(x, y), halves meeting.
#define FOLD_LANES(lanes, JOIN)                      \
  TL_SPELL_OUT                                       \
  for (size_t half = LANES / 2; half > 0; half /= 2) \
    for (size_t k = 0; k < half; k++) {              \
      lanes[k] = JOIN(lanes[k], lanes[k + half]);    \
    }
#define LEAST(x, y) ((y) < (x) ? (y) : (x))

#define EXTREME(name, sfx, T, beats, IS_NAN)                                   \
  TL_INLINE T better_##name##_##sfx(T x, T y) {                                \
    return BETTER(x, y, beats, IS_NAN);                                        \
  }                                                                            \
  static void betters_##name##_##sfx(T *lanes, const T *items, size_t turns) { \
    memcpy(lanes, items, sizeof(T) * LANES);                                   \
    for (size_t t = 1; t < turns; t++)                                         \
      for (size_t k = 0; k < LANES; k++)                                       \
        lanes[k] = better_##name##_##sfx(lanes[k], items[t * LANES + k]);      \
  }                                                                            \
  static T best_##name##_##sfx(const T *items, size_t n) {                     \
    T best = items[0];                                                         \
    size_t i = 0;                                                              \
    if (n >= LANES) {                                                          \
      T lanes[LANES];                                                          \
      betters_##name##_##sfx(lanes, items, n / LANES);                         \
      FOLD_LANES(lanes, better_##name##_##sfx)                                 \
      best = lanes[0];                                                         \
      i = n / LANES * LANES;                                                   \
    }                                                                          \
    for (; i < n; i++) best = better_##name##_##sfx(best, items[i]);           \
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
  /* The place of the best among whole turns of items, and what it is. */      \
  static size_t arg_turns_##name##_##sfx(const T *items, size_t turns,         \
                                         T *found) {                           \
    T lanes[LANES];                                                            \
    word_##sfx turn[LANES] = {0}, lane[LANES];                                 \
    memcpy(lanes, items, sizeof lanes);                                        \
    for (size_t t = 1; t < turns; t++)                                         \
      for (size_t k = 0; k < LANES; k++)                                       \
        MOVING_STEP(lanes[k], turn[k], items[t * LANES + k], (word_##sfx)t,    \
                    beats, IS_NAN)                                             \
    T best[LANES];                                                             \
    memcpy(best, lanes, sizeof best);                                          \
    FOLD_LANES(best, better_##name##_##sfx)                                    \
    *found = best[0];                                                          \
    if (IS_NAN(best[0])) { /* lanes know the last, not the first */            \
      size_t at = 0;                                                           \
      for (; !IS_NAN(items[at]);) at++;                                        \
      return at;                                                               \
    }                                                                          \
    word_##sfx first[LANES];                                                   \
    for (size_t k = 0; k < LANES; k++)                                         \
      first[k] = turn[k] =                                                     \
          lanes[k] == best[0] ? turn[k] : (word_##sfx)NOWHERE;                 \
    FOLD_LANES(first, LEAST)                                                   \
    for (size_t k = 0; k < LANES; k++)                                         \
      lane[k] = turn[k] == first[0] ? (word_##sfx)k : (word_##sfx)NOWHERE;     \
    FOLD_LANES(lane, LEAST)                                                    \
    return (size_t)first[0] * LANES + (size_t)lane[0];                         \
  }                                                                            \
  size_t TL_K(arg##name##_##sfx)(const void *a, size_t n) {                    \
    const T *items = a;                                                        \
    T best = items[0];                                                         \
    size_t at = 0, i = 0;                                                      \
    while (!TL_SMALL && n - i >= LANES) {                                      \
      T found;                                                                 \
      const size_t turns = LEAST(TURNS, (n - i) / LANES),                      \
                   place =                                                     \
                       i + arg_turns_##name##_##sfx(items + i, turns, &found); \
      ARG_STEP(best, at, found, place, beats, IS_NAN)                          \
      i += turns * LANES;                                                      \
    }                                                                          \
    for (; i < n; i++) ARG_STEP(best, at, items[i], i, beats, IS_NAN)          \
    return at;                                                                 \
  }

EXTREMES

#define X(D, sfx, T, W)                                         \
  void TL_K(end_item_##sfx)(tl_fold_state * state, void *out) { \
    memcpy(out, state->lanes.item, sizeof(T));                  \
  }
TL_UNSIGNED(X)
#undef X
