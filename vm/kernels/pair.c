// Kernels of two or three operations: see pair.h. Every form of an operation is
// combined with every form of the next.
#include "vm/kernels/pair.h"

#include "vm/kernels/forms.h"
#include "vm/kernels/loop.h"
#include "vm/kernels/window.h"

#define PAIR(NAME, A, B, first, SECOND, C, second, sfx, T, W)                  \
  static void NAME##_##SECOND##_##sfx(void *out, const void *a, const void *b, \
                                      const void *c, size_t n) {               \
    T *to = out;                                                               \
    const T *from_a = a, *from_b = b, *from_c = c;                             \
    const T one_a = A##_ONE(from_a), one_b = B##_ONE(from_b),                  \
            one_c = C##_ONE(from_c);                                           \
    (void)from_c, (void)one_a, (void)one_b, (void)one_c;                       \
    const size_t done =                                                        \
        TL_FIRST_##NAME == TL_FIRST_ADD_VV &&                                  \
                TL_SECOND_##SECOND == TL_SECOND_ADD_V                          \
            ? WINDOW_##sfx(NOTHING, to, from_a, from_b, from_c, NULL, n)       \
            : 0;                                                               \
    to += done, n -= done;                                                     \
    from_a = A##_ON(from_a, done), from_b = B##_ON(from_b, done),              \
    from_c = C##_ON(from_c, done);                                             \
    TL_ITEMS(T, true, to, n, second, const T x = A##_AT(from_a, one_a, i),     \
             y = B##_AT(from_b, one_b, i), z = C##_AT(from_c, one_c, i);       \
             const T t = (T)(first); (void)z)                                  \
  }

#define FIRSTS(X, sfx, T, W)                   \
  X(ADD_VV, V, V, (W)x + (W)y, sfx, T, W)      \
  X(ADD_VS, V, S, (W)x + (W)y, sfx, T, W)      \
  X(SUBTRACT_VV, V, V, (W)x - (W)y, sfx, T, W) \
  X(SUBTRACT_VS, V, S, (W)x - (W)y, sfx, T, W) \
  X(SUBTRACT_SV, S, V, (W)x - (W)y, sfx, T, W) \
  X(MULTIPLY_VV, V, V, (W)x *(W)y, sfx, T, W)  \
  X(MULTIPLY_VS, V, S, (W)x *(W)y, sfx, T, W)

#define BOTH(X, NAME, A, B, first, SECOND, second, ...)    \
  X(NAME, A, B, first, SECOND##_V, V, second, __VA_ARGS__) \
  X(NAME, A, B, first, SECOND##_S, S, second, __VA_ARGS__)

#define SECONDS(X, NAME, A, B, first, sfx, T, W)               \
  BOTH(X, NAME, A, B, first, ADD, (W)t + (W)z, sfx, T, W)      \
  BOTH(X, NAME, A, B, first, SUBTRACT, (W)t - (W)z, sfx, T, W) \
  BOTH(X, NAME, A, B, first, FROM, (W)z - (W)t, sfx, T, W)     \
  BOTH(X, NAME, A, B, first, MULTIPLY, (W)t *(W)z, sfx, T, W)

#define INTEGER_SECONDS(X, NAME, A, B, first, sfx, T, W)        \
  SECONDS(X, NAME, A, B, first, sfx, T, W)                      \
  BOTH(X, NAME, A, B, first, MINIMUM, t < z ? t : z, sfx, T, W) \
  BOTH(X, NAME, A, B, first, MAXIMUM, t > z ? t : z, sfx, T, W) \
  X(NAME, A, B, first, SQUARE, N, (W)t *(W)t, sfx, T, W)

#define FLOAT_SECONDS(X, NAME, A, B, first, sfx, T, W)                     \
  SECONDS(X, NAME, A, B, first, sfx, T, W)                                 \
  BOTH(X, NAME, A, B, first, DIVIDE, t / z, sfx, T, W)                     \
  BOTH(X, NAME, A, B, first, MINIMUM, t <= z || t != t ? t : z, sfx, T, W) \
  BOTH(X, NAME, A, B, first, MAXIMUM, t >= z || t != t ? t : z, sfx, T, W) \
  X(NAME, A, B, first, SQUARE, N, t *t, sfx, T, W)                         \
  X(NAME, A, B, first, ABS, N, ABS_##sfx(t), sfx, T, W)                    \
  X(NAME, A, B, first, SQRT, N, SQRT_##sfx(t), sfx, T, W)
#define ABS_float32 __builtin_fabsf
#define ABS_float64 __builtin_fabs
#define SQRT_float32 __builtin_sqrtf
#define SQRT_float64 __builtin_sqrt

#define INTEGER_PAIRS(...) INTEGER_SECONDS(PAIR, __VA_ARGS__)
#define FLOAT_PAIRS(...) FLOAT_SECONDS(PAIR, __VA_ARGS__)
#define BYTE_PAIRS(...) SECONDS(PAIR, __VA_ARGS__)
FIRSTS(BYTE_PAIRS, uint8, uint8_t, uint32_t)
FIRSTS(INTEGER_PAIRS, int32, int32_t, uint32_t)
FIRSTS(INTEGER_PAIRS, int64, int64_t, uint64_t)
FIRSTS(FLOAT_PAIRS, float32, float, float)
FIRSTS(FLOAT_PAIRS, float64, double, double)

#define CHOOSE(QUESTION, A, B, question, CHOICE, C, D, sfx, T)                 \
  static void QUESTION##_##CHOICE##_##sfx(void *out, const void *a,            \
                                          const void *b, const void *c,        \
                                          const void *d, size_t n) {           \
    T *to = out;                                                               \
    OPEN_FOUR(T, A, B, C, D)                                                   \
    TL_ITEMS(                                                                  \
        T, true, to, n, question ? yes : no,                                   \
        const T x = A##_AT(from_a, one_a, i), y = B##_AT(from_b, one_b, i);    \
        const T yes = C##_AT(from_c, one_c, i), no = D##_AT(from_d, one_d, i)) \
  }
#define CHOICES(X, QUESTION, A, B, question, sfx, T) \
  X(QUESTION, A, B, question, VV, V, V, sfx, T)      \
  X(QUESTION, A, B, question, VS, V, S, sfx, T)      \
  X(QUESTION, A, B, question, SV, S, V, sfx, T)
#define QUESTIONS(X, sfx, T)                      \
  CHOICES(X, LESS_VV, V, V, x < y, sfx, T)        \
  CHOICES(X, LESS_VS, V, S, x < y, sfx, T)        \
  CHOICES(X, LESS_SV, S, V, x < y, sfx, T)        \
  CHOICES(X, LESS_EQUAL_VV, V, V, x <= y, sfx, T) \
  CHOICES(X, LESS_EQUAL_VS, V, S, x <= y, sfx, T) \
  CHOICES(X, LESS_EQUAL_SV, S, V, x <= y, sfx, T) \
  CHOICES(X, EQUAL_VV, V, V, x == y, sfx, T)      \
  CHOICES(X, EQUAL_VS, V, S, x == y, sfx, T)      \
  CHOICES(X, NOT_EQUAL_VV, V, V, x != y, sfx, T)  \
  CHOICES(X, NOT_EQUAL_VS, V, S, x != y, sfx, T)
QUESTIONS(CHOOSE, float32, float)
QUESTIONS(CHOOSE, float64, double)

// --- Three operations -------------------------------------------------------

#define TRIPLE(NAME, A, B, first, SECOND, C, second, THIRD, D, third, sfx, T) \
  static void NAME##_##SECOND##_##THIRD##_##sfx(void *out, const void *a,     \
                                                const void *b, const void *c, \
                                                const void *d, size_t n) {    \
    T *to = out;                                                              \
    OPEN_FOUR(T, A, B, C, D)                                                  \
    const size_t done =                                                       \
        TL_TRIPLE_FIRST_##NAME == TL_TRIPLE_FIRST_ADD_VV &&                   \
                TL_TRIPLE_SECOND_##SECOND == TL_TRIPLE_SECOND_ADD_V           \
            ? WINDOW_##sfx(THIRD, to, from_a, from_b, from_c, from_d, n)      \
            : 0;                                                              \
    to += done, n -= done;                                                    \
    from_a = A##_ON(from_a, done), from_b = B##_ON(from_b, done),             \
    from_c = C##_ON(from_c, done), from_d = D##_ON(from_d, done);             \
    TL_ITEMS(T, true, to, n, third, const T x = A##_AT(from_a, one_a, i),     \
             y = B##_AT(from_b, one_b, i), z = C##_AT(from_c, one_c, i),      \
             w = D##_AT(from_d, one_d, i);                                    \
             const T t = (T)(first); const T u = (T)(second))                 \
  }

// Of sums and differences alone, and with products.
#define SUMS(X, NAME, A, B, first, SECOND, C, second, sfx, T)           \
  X(NAME, A, B, first, SECOND, C, second, ADD_V, V, u + w, sfx, T)      \
  X(NAME, A, B, first, SECOND, C, second, ADD_S, S, u + w, sfx, T)      \
  X(NAME, A, B, first, SECOND, C, second, SUBTRACT_V, V, u - w, sfx, T) \
  X(NAME, A, B, first, SECOND, C, second, FROM_V, V, w - u, sfx, T)
#define THIRDS(X, NAME, A, B, first, SECOND, C, second, sfx, T)        \
  SUMS(X, NAME, A, B, first, SECOND, C, second, sfx, T)                \
  X(NAME, A, B, first, SECOND, C, second, MULTIPLY_V, V, u *w, sfx, T) \
  X(NAME, A, B, first, SECOND, C, second, MULTIPLY_S, S, u *w, sfx, T)
#define SUM_MIDDLES(X, THIRDS, NAME, A, B, first, sfx, T) \
  THIRDS(X, NAME, A, B, first, ADD_V, V, t + z, sfx, T)   \
  THIRDS(X, NAME, A, B, first, ADD_S, S, t + z, sfx, T)   \
  THIRDS(X, NAME, A, B, first, SUBTRACT_V, V, t - z, sfx, T)
#define MIDDLES(X, NAME, A, B, first, sfx, T)               \
  SUM_MIDDLES(X, THIRDS, NAME, A, B, first, sfx, T)         \
  THIRDS(X, NAME, A, B, first, MULTIPLY_V, V, t *z, sfx, T) \
  THIRDS(X, NAME, A, B, first, MULTIPLY_S, S, t *z, sfx, T)
#define TRIPLES(X, sfx, T)                     \
  MIDDLES(X, ADD_VV, V, V, x + y, sfx, T)      \
  MIDDLES(X, SUBTRACT_VV, V, V, x - y, sfx, T) \
  MIDDLES(X, MULTIPLY_VV, V, V, x *y, sfx, T)  \
  MIDDLES(X, MULTIPLY_VS, V, S, x *y, sfx, T)
#define BYTE_TRIPLES(X, sfx, T)                     \
  SUM_MIDDLES(X, SUMS, ADD_VV, V, V, x + y, sfx, T) \
  SUM_MIDDLES(X, SUMS, SUBTRACT_VV, V, V, x - y, sfx, T)
BYTE_TRIPLES(TRIPLE, uint8, uint8_t)
TRIPLES(TRIPLE, float32, float)
TRIPLES(TRIPLE, float64, double)

#define JOIN(JOINED, join, LEFT, A, B, left, RIGHT, C, D, right, sfx, T)      \
  static void JOINED##_##LEFT##_##RIGHT##_##sfx(void *out, const void *a,     \
                                                const void *b, const void *c, \
                                                const void *d, size_t n) {    \
    T *to = out;                                                              \
    const T *from_a = a, *from_b = b, *from_c = c, *from_d = d;               \
    const T one_b = B##_ONE(from_b), one_d = D##_ONE(from_d);                 \
    (void)one_b, (void)one_d;                                                 \
    TL_ITEMS(T, true, to, n, join, const T x = A##_AT(from_a, , i),           \
             y = B##_AT(from_b, one_b, i);                                    \
             const T z = C##_AT(from_c, , i), w = D##_AT(from_d, one_d, i);   \
             const T t = left; const T u = right)                             \
  }
#define RIGHTS(X, JOINED, join, LEFT, A, B, left, sfx, T)             \
  X(JOINED, join, LEFT, A, B, left, ADD_VV, V, V, z + w, sfx, T)      \
  X(JOINED, join, LEFT, A, B, left, SUBTRACT_VV, V, V, z - w, sfx, T) \
  X(JOINED, join, LEFT, A, B, left, MULTIPLY_VV, V, V, z *w, sfx, T)  \
  X(JOINED, join, LEFT, A, B, left, MULTIPLY_VS, V, S, z *w, sfx, T)  \
  X(JOINED, join, LEFT, A, B, left, DIVIDE_VV, V, V, z / w, sfx, T)   \
  X(JOINED, join, LEFT, A, B, left, DIVIDE_VS, V, S, z / w, sfx, T)
#define LEFTS(X, JOINED, join, sfx, T)                      \
  RIGHTS(X, JOINED, join, ADD_VV, V, V, x + y, sfx, T)      \
  RIGHTS(X, JOINED, join, SUBTRACT_VV, V, V, x - y, sfx, T) \
  RIGHTS(X, JOINED, join, MULTIPLY_VV, V, V, x *y, sfx, T)  \
  RIGHTS(X, JOINED, join, MULTIPLY_VS, V, S, x *y, sfx, T)  \
  RIGHTS(X, JOINED, join, DIVIDE_VV, V, V, x / y, sfx, T)   \
  RIGHTS(X, JOINED, join, DIVIDE_VS, V, S, x / y, sfx, T)
#define JOINS(X, sfx, T)            \
  LEFTS(X, ADD, t + u, sfx, T)      \
  LEFTS(X, SUBTRACT, t - u, sfx, T) \
  LEFTS(X, MULTIPLY, t *u, sfx, T)  \
  LEFTS(X, NORM, SQRT_##sfx(t + u), sfx, T)
JOINS(JOIN, float32, float)
JOINS(JOIN, float64, double)

// (x op y) * s op (z op w) * t
#define SCALED(JOINED, join, LEFT, left, RIGHT, right, sfx, T)               \
  static void SCALED_##JOINED##_##LEFT##_##RIGHT##_##sfx(                    \
      void *out, const void *a, const void *b, const void *c, const void *d, \
      const void *e, const void *f, size_t n) {                              \
    T *to = out;                                                             \
    const T *from_a = a, *from_b = b, *from_d = d, *from_e = e;              \
    const T s = *(const T *)c, t = *(const T *)f;                            \
    TL_ITEMS(T, true, to, n, p join q, const T x = from_a[i], y = from_b[i], \
             z = from_d[i], w = from_e[i];                                   \
             const T p = (x left y)*s; const T q = (z right w)*t)            \
  }
#define SCALED_SIDES(X, JOINED, join, sfx, T)  \
  X(JOINED, join, ADD, +, ADD, +, sfx, T)      \
  X(JOINED, join, ADD, +, SUBTRACT, -, sfx, T) \
  X(JOINED, join, SUBTRACT, -, ADD, +, sfx, T) \
  X(JOINED, join, SUBTRACT, -, SUBTRACT, -, sfx, T)
#define ALL_SCALED(X, sfx, T)     \
  SCALED_SIDES(X, ADD, +, sfx, T) \
  SCALED_SIDES(X, SUBTRACT, -, sfx, T)
ALL_SCALED(SCALED, float32, float)
ALL_SCALED(SCALED, float64, double)

// question ? left : right
#define BRANCH(QUESTION, A, B, question, LEFT, C, D, left, RIGHT, E, F, right, \
               sfx, T)                                                         \
  static void QUESTION##_##LEFT##_##RIGHT##_##sfx(                             \
      void *out, const void *a, const void *b, const void *c, const void *d,   \
      const void *e, const void *f, size_t n) {                                \
    T *to = out;                                                               \
    const T *from_a = a, *from_b = b, *from_c = c, *from_d = d, *from_e = e,   \
            *from_f = f;                                                       \
    const T one_a = A##_ONE(from_a), one_b = B##_ONE(from_b),                  \
            one_d = D##_ONE(from_d), one_f = F##_ONE(from_f);                  \
    (void)one_a, (void)one_b, (void)one_d, (void)one_f;                        \
    TL_ITEMS(T, true, to, n, question ? yes : no,                              \
             const T p = A##_AT(from_a, one_a, i),                             \
             q = B##_AT(from_b, one_b, i);                                     \
             T x = C##_AT(from_c, , i), y = D##_AT(from_d, one_d, i);          \
             const T yes = left;                                               \
             x = E##_AT(from_e, , i), y = F##_AT(from_f, one_f, i);            \
             const T no = right)                                               \
  }
#define BRANCH_RIGHTS(X, QUESTION, A, B, question, LEFT, C, D, left, sfx, T)   \
  X(QUESTION, A, B, question, LEFT, C, D, left, ADD_VV, V, V, x + y, sfx, T)   \
  X(QUESTION, A, B, question, LEFT, C, D, left, SUBTRACT_VV, V, V, x - y, sfx, \
    T)                                                                         \
  X(QUESTION, A, B, question, LEFT, C, D, left, MULTIPLY_VV, V, V, x *y, sfx,  \
    T)                                                                         \
  X(QUESTION, A, B, question, LEFT, C, D, left, MULTIPLY_VS, V, S, x *y, sfx, T)
#define BRANCH_LEFTS(X, QUESTION, A, B, question, sfx, T)                      \
  BRANCH_RIGHTS(X, QUESTION, A, B, question, ADD_VV, V, V, x + y, sfx, T)      \
  BRANCH_RIGHTS(X, QUESTION, A, B, question, SUBTRACT_VV, V, V, x - y, sfx, T) \
  BRANCH_RIGHTS(X, QUESTION, A, B, question, MULTIPLY_VV, V, V, x *y, sfx, T)  \
  BRANCH_RIGHTS(X, QUESTION, A, B, question, MULTIPLY_VS, V, S, x *y, sfx, T)
#define BRANCHES(X, sfx, T)                            \
  BRANCH_LEFTS(X, LESS_VV, V, V, p < q, sfx, T)        \
  BRANCH_LEFTS(X, LESS_VS, V, S, p < q, sfx, T)        \
  BRANCH_LEFTS(X, LESS_SV, S, V, p < q, sfx, T)        \
  BRANCH_LEFTS(X, LESS_EQUAL_VV, V, V, p <= q, sfx, T) \
  BRANCH_LEFTS(X, LESS_EQUAL_VS, V, S, p <= q, sfx, T) \
  BRANCH_LEFTS(X, LESS_EQUAL_SV, S, V, p <= q, sfx, T)
BRANCHES(BRANCH, float64, double)

// --- The table
// ----------------------------------------------------------------

#define ENTRY(NAME, A, B, first, SECOND, C, second, sfx, T, W) \
  [TL_FIRST_##NAME][TL_SECOND_##SECOND] = NAME##_##SECOND##_##sfx,
#define BYTE_ENTRIES(...) SECONDS(ENTRY, __VA_ARGS__)
#define INTEGER_ENTRIES(...) INTEGER_SECONDS(ENTRY, __VA_ARGS__)
#define FLOAT_ENTRIES(...) FLOAT_SECONDS(ENTRY, __VA_ARGS__)
#define CHOICE_ENTRY(QUESTION, A, B, question, CHOICE, C, D, sfx, T) \
  [TL_QUESTION_##QUESTION][TL_CHOICE_##CHOICE] = QUESTION##_##CHOICE##_##sfx,

#define TRIPLE_ENTRY(NAME, A, B, first, SECOND, C, second, THIRD, D, third, \
                     sfx, T)                                                \
  [TL_TRIPLE_FIRST_##                                                       \
      NAME][TL_TRIPLE_SECOND_##SECOND][TL_TRIPLE_THIRD_##THIRD] =           \
      NAME##_##SECOND##_##THIRD##_##sfx,
#define JOIN_ENTRY(JOINED, join, LEFT, A, B, left, RIGHT, C, D, right, sfx, T) \
  [TL_JOIN_##JOINED][TL_JOIN_SIDE_##LEFT][TL_JOIN_SIDE_##RIGHT] =              \
      JOINED##_##LEFT##_##RIGHT##_##sfx,
#define SCALED_ENTRY(JOINED, join, LEFT, left, RIGHT, right, sfx, T) \
  [TL_SCALED_##JOINED][TL_SCALED_##LEFT][TL_SCALED_##RIGHT] =        \
      SCALED_##JOINED##_##LEFT##_##RIGHT##_##sfx,
#define BRANCH_ENTRY(QUESTION, A, B, question, LEFT, C, D, left, RIGHT, E, F, \
                     right, sfx, T)                                           \
  [TL_QUESTION_##QUESTION][TL_TRIPLE_FIRST_##LEFT][TL_TRIPLE_FIRST_##RIGHT] = \
      QUESTION##_##LEFT##_##RIGHT##_##sfx,

extern const tl_pair_table TL_K(pairs);
const tl_pair_table TL_K(pairs) = {
    .uint8 = {FIRSTS(BYTE_ENTRIES, uint8, uint8_t, uint32_t)},
    .int32 = {FIRSTS(INTEGER_ENTRIES, int32, int32_t, uint32_t)},
    .int64 = {FIRSTS(INTEGER_ENTRIES, int64, int64_t, uint64_t)},
    .float32 = {FIRSTS(FLOAT_ENTRIES, float32, float, float)},
    .float64 = {FIRSTS(FLOAT_ENTRIES, float64, double, double)},
    .choose_float32 = {QUESTIONS(CHOICE_ENTRY, float32, float)},
    .choose_float64 = {QUESTIONS(CHOICE_ENTRY, float64, double)},
    .triples_uint8 = {BYTE_TRIPLES(TRIPLE_ENTRY, uint8, uint8_t)},
    .triples_float32 = {TRIPLES(TRIPLE_ENTRY, float32, float)},
    .triples_float64 = {TRIPLES(TRIPLE_ENTRY, float64, double)},
    .joins_float32 = {JOINS(JOIN_ENTRY, float32, float)},
    .joins_float64 = {JOINS(JOIN_ENTRY, float64, double)},
    .scaled_float32 = {ALL_SCALED(SCALED_ENTRY, float32, float)},
    .scaled_float64 = {ALL_SCALED(SCALED_ENTRY, float64, double)},
    .branches_float64 = {BRANCHES(BRANCH_ENTRY, float64, double)},
};
