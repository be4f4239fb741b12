// Kernels of comparisons, joined by `and` or `or` with a mask or with another
// comparison: see pair.h.
#include "vm/kernels/forms.h"
#include "vm/kernels/loop.h"
#include "vm/kernels/pair.h"

// Against one item, as masks mostly ask; and all forms.
#define AGAINST_ONE(X, ...)               \
  X(LESS_VS, V, S, <, __VA_ARGS__)        \
  X(LESS_SV, S, V, <, __VA_ARGS__)        \
  X(LESS_EQUAL_VS, V, S, <=, __VA_ARGS__) \
  X(LESS_EQUAL_SV, S, V, <=, __VA_ARGS__) \
  X(EQUAL_VS, V, S, ==, __VA_ARGS__)      \
  X(NOT_EQUAL_VS, V, S, !=, __VA_ARGS__)
#define QUESTIONS(X, ...)                 \
  AGAINST_ONE(X, __VA_ARGS__)             \
  X(LESS_VV, V, V, <, __VA_ARGS__)        \
  X(LESS_EQUAL_VV, V, V, <=, __VA_ARGS__) \
  X(EQUAL_VV, V, V, ==, __VA_ARGS__)      \
  X(NOT_EQUAL_VV, V, V, !=, __VA_ARGS__)

#define MASKED(QUESTION, A, B, ask, JOINED, join, sfx, T)                 \
  static void QUESTION##_##JOINED##_##sfx(                                \
      void *out, const void *a, const void *b, const void *c, size_t n) { \
    uint8_t *to = out;                                                    \
    const T *from_a = a, *from_b = b;                                     \
    const uint8_t *mask = c;                                              \
    const T one_a = A##_ONE(from_a), one_b = B##_ONE(from_b);             \
    (void)one_a, (void)one_b;                                             \
    TL_ITEMS(uint8_t, sizeof(T) == 1, to, n, (x ask y)join mask[i],       \
             const T x = A##_AT(from_a, one_a, i),                        \
             y = B##_AT(from_b, one_b, i))                                \
  }
#define MASKS(X, sfx, T)       \
  QUESTIONS(X, AND, &, sfx, T) \
  QUESTIONS(X, OR, |, sfx, T)

#define BOTH(OTHER, C, D, also, QUESTION, A, B, ask, JOINED, join, sfx, T)   \
  static void QUESTION##_##JOINED##_##OTHER##_##sfx(                         \
      void *out, const void *a, const void *b, const void *c, const void *d, \
      size_t n) {                                                            \
    uint8_t *to = out;                                                       \
    OPEN_FOUR(T, A, B, C, D)                                                 \
    TL_ITEMS(uint8_t, sizeof(T) == 1, to, n, (x ask y)join(z also w),        \
             const T x = A##_AT(from_a, one_a, i),                           \
             y = B##_AT(from_b, one_b, i), z = C##_AT(from_c, one_c, i),     \
             w = D##_AT(from_d, one_d, i))                                   \
  }
// Each pair once: what joins them can be turned.
#define FROM_LESS_VS(X, ...) \
  X(LESS_VS, V, S, <, __VA_ARGS__) FROM_LESS_SV(X, __VA_ARGS__)
#define FROM_LESS_SV(X, ...) \
  X(LESS_SV, S, V, <, __VA_ARGS__) FROM_LESS_EQUAL_VS(X, __VA_ARGS__)
#define FROM_LESS_EQUAL_VS(X, ...) \
  X(LESS_EQUAL_VS, V, S, <=, __VA_ARGS__) FROM_LESS_EQUAL_SV(X, __VA_ARGS__)
#define FROM_LESS_EQUAL_SV(X, ...) \
  X(LESS_EQUAL_SV, S, V, <=, __VA_ARGS__) FROM_EQUAL_VS(X, __VA_ARGS__)
#define FROM_EQUAL_VS(X, ...) \
  X(EQUAL_VS, V, S, ==, __VA_ARGS__) FROM_NOT_EQUAL_VS(X, __VA_ARGS__)
#define FROM_NOT_EQUAL_VS(X, ...) X(NOT_EQUAL_VS, V, S, !=, __VA_ARGS__)
#define BOTHS(X, QUESTION, ...) FROM_##QUESTION(X, QUESTION, __VA_ARGS__)
#define TWO(X, sfx, T)           \
  AGAINST_ONE(X, AND, &, sfx, T) \
  AGAINST_ONE(X, OR, |, sfx, T)
#define BOTH_WAYS(...) BOTHS(BOTH, __VA_ARGS__)

#define EACH_DTYPE(X) \
  X(uint8, uint8_t)   \
  X(int64, int64_t)   \
  X(float32, float)   \
  X(float64, double)

#define X(sfx, T) MASKS(MASKED, sfx, T) TWO(BOTH_WAYS, sfx, T)
EACH_DTYPE(X)
#undef X

// --- The table --------------------------------------------------------------

#define MASK_ENTRY(QUESTION, A, B, ask, JOINED, join, sfx, T) \
  [TL_QUESTION_##QUESTION][TL_LOGIC_##JOINED] = QUESTION##_##JOINED##_##sfx,
#define BOTH_ENTRY(OTHER, C, D, also, QUESTION, A, B, ask, JOINED, join, sfx, \
                   T)                                                         \
  [TL_QUESTION_##QUESTION][TL_QUESTION_##OTHER][TL_LOGIC_##JOINED] =          \
      QUESTION##_##JOINED##_##OTHER##_##sfx,
#define BOTH_ENTRIES(...) BOTHS(BOTH_ENTRY, __VA_ARGS__)

extern const tl_question_table TL_K(questions);
const tl_question_table TL_K(questions) = {
#define X(sfx, T)                                    \
  .of_##sfx = {.masks = {MASKS(MASK_ENTRY, sfx, T)}, \
               .both = {TWO(BOTH_ENTRIES, sfx, T)}},
    EACH_DTYPE(X)
#undef X
};
