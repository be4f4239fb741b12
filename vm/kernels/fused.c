// Fused kernels: a loop for each term of fused_list.h, and the lists by which
// regions find them. See fused.h.
#include "vm/kernels/fused_list.h"
#include "vm/kernels/loop.h"
#include "vm/kernels/window.h"

// How an operand is read: n items (v), one for all (s), n bools (b), none (n).
#define ITEM_v(T) T
#define ITEM_s(T) T
#define ITEM_b(T) uint8_t
#define ITEM_n(T) T
#define ONE_v(from) 0
#define ONE_s(from) *(from)
#define ONE_b(from) 0
#define ONE_n(from) 0
#define AT_v(from, one, i) (from)[i]
#define AT_s(from, one, i) (one)
#define AT_b(from, one, i) (from)[i]
#define AT_n(from, one, i) 0
#define SKIP_v(from, count) (from) + (count)
#define SKIP_s(from, count) (from)
#define SKIP_b(from, count) (from) + (count)
#define SKIP_n(from, count) (from)

// Operations of terms that C has no operator for. A NaN wins, and of equals the
// left one. Integers are computed with as unsigned ones but have a sign.
#define ORDERED(x) \
  _Generic((x), uint32_t : (int32_t)(x), uint64_t : (int64_t)(x), default : (x))
#define LEAST(x, y) (ORDERED(x) <= ORDERED(y) || (x) != (x) ? (x) : (y))
#define GREATEST(x, y) (ORDERED(x) >= ORDERED(y) || (x) != (x) ? (x) : (y))
#define SQUARE(x) ((x) * (x))
#define ROOT(x) \
  _Generic((x), float : __builtin_sqrtf, double : __builtin_sqrt)(x)
#define MAGNITUDE(x) \
  _Generic((x), float : __builtin_fabsf, double : __builtin_fabs)(x)

#define OPEN(k, x, form, T)                            \
  const ITEM_##form(T) *from_##x = in[k];              \
  const ITEM_##form(T) one_##x = ONE_##form(from_##x); \
  (void)from_##x, (void)one_##x;
#define LOAD(x, form, W)                                                    \
  const ITEM_##form(W) x = (ITEM_##form(W))AT_##form(from_##x, one_##x, i); \
  (void)x;

// The loop of a term: items of T are computed with as W and written as R.
// [done] of them are done before.
#define LOOP(term, A, B, C, D, E, F, result, done, sfx, T, W, R)         \
  static void term##_##sfx(void *out, const void *const *in, size_t n) { \
    R *to = out;                                                         \
    OPEN(0, a, A, T)                                                     \
    OPEN(1, b, B, T)                                                     \
    OPEN(2, c, C, T)                                                     \
    OPEN(3, d, D, T)                                                     \
    OPEN(4, e, E, T) OPEN(5, f, F, T) const size_t first = done;         \
    to += first, n -= first;                                             \
    from_a = SKIP_##A(from_a, first), from_b = SKIP_##B(from_b, first);  \
    from_c = SKIP_##C(from_c, first), from_d = SKIP_##D(from_d, first);  \
    TL_ITEMS(R, sizeof(T) == sizeof(R), to, n, result,                   \
             LOAD(a, A, W) LOAD(b, B, W) LOAD(c, C, W) LOAD(d, D, W)     \
                 LOAD(e, E, W) LOAD(f, F, W))                            \
  }
#define TERM(term, A, B, C, D, E, F, result, ...) \
  LOOP(term, A, B, C, D, E, F, result, 0, __VA_ARGS__)
#define SUM(term, A, B, C, D, E, F, result, then, sfx, ...)            \
  LOOP(term, A, B, C, D, E, F, result,                                 \
       WINDOW_##sfx(then, to, from_a, from_b, from_c, from_d, n), sfx, \
       __VA_ARGS__)

// Integers are computed with as unsigned ones, which wrap, and compared as they
// are.
#define ON_FLOAT32(X, Y) TL_FUSED_OF_FLOATS(X, Y, float32, float, float, float)
#define ON_FLOAT64(X, Y) \
  TL_FUSED_OF_FLOATS(X, Y, float64, double, double, double)
#define ON_INT32(X, Y) \
  TL_FUSED_OF_INTEGERS(X, Y, int32, int32_t, uint32_t, int32_t)
#define ON_INT64(X, Y) \
  TL_FUSED_OF_INTEGERS(X, Y, int64, int64_t, uint64_t, int64_t)
#define ON_UINT8(X, Y) \
  TL_FUSED_OF_BYTES(X, Y, uint8, uint8_t, uint32_t, uint8_t)
#define MASKS(X, sfx, T) TL_FUSED_MASKS(X, sfx, T, T, uint8_t)
#define BYTE_MASKS(X) TL_FUSED_BYTE_MASKS(X, uint8, uint8_t, uint8_t, uint8_t)

ON_FLOAT32(TERM, SUM)
ON_FLOAT64(TERM, SUM)
ON_INT32(TERM, SUM)
ON_INT64(TERM, SUM)
ON_UINT8(TERM, SUM)
MASKS(TERM, float32, float)
MASKS(TERM, float64, double)
MASKS(TERM, int64, int64_t)
BYTE_MASKS(TERM)

// --- The lists --------------------------------------------------------------

#define ENTRY(term, A, B, C, D, E, F, result, sfx, ...) {#term, term##_##sfx},
#define SUM_ENTRY(term, A, B, C, D, E, F, result, then, sfx, ...) \
  {#term, term##_##sfx},
#define LIST(sfx, ...)                              \
  extern const tl_fused_kernel TL_K(fused_##sfx)[]; \
  const tl_fused_kernel TL_K(fused_##sfx)[] = {__VA_ARGS__{NULL, NULL}};
LIST(float32, ON_FLOAT32(ENTRY, SUM_ENTRY) MASKS(ENTRY, float32, float))
LIST(float64, ON_FLOAT64(ENTRY, SUM_ENTRY) MASKS(ENTRY, float64, double))
LIST(int32, ON_INT32(ENTRY, SUM_ENTRY))
LIST(int64, ON_INT64(ENTRY, SUM_ENTRY) MASKS(ENTRY, int64, int64_t))
LIST(uint8, ON_UINT8(ENTRY, SUM_ENTRY) BYTE_MASKS(ENTRY))
