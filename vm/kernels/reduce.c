// Reductions of sequences that are fed in pieces: sums and products in their
// fixed order, counts, any, all. Extremes are in extreme.c.
#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"

enum { LANES = TL_FOLD_LANES, LEAF = TL_FOLD_LEAF };

// How many nodes wait after so many leaves.
static unsigned bits_set(uint64_t x) {
  return (unsigned)__builtin_popcountll(x);
}

// into[i] = into[i] combined with from[i], for n reals.
#define X(D, sfx, T, W)                                               \
  TL_INLINE void sum_reals_##sfx(T *into, const T *from, size_t n) {  \
    for (size_t i = 0; i < n; i++) into[i] += from[i];                \
  }                                                                   \
  TL_INLINE void prod_reals_##sfx(T *into, const T *from, size_t n) { \
    for (size_t i = 0; i < n; i++) into[i] *= from[i];                \
  }                                                                   \
  TL_INLINE void prod_pairs_##sfx(T *into, const T *from, size_t n) { \
    for (size_t i = 0; i < n; i += 2) {                               \
      T re = into[i] * from[i], im = into[i] * from[i + 1];           \
      TL_DISJOINT(re);                                                \
      TL_DISJOINT(im);                                                \
      re -= into[i + 1] * from[i + 1];                                \
      im += into[i + 1] * from[i];                                    \
      into[i] = re;                                                   \
      into[i + 1] = im;                                               \
    }                                                                 \
  }
TL_FLOATS(X)
#undef X

// Sums and products whose order counts. R is the real type, an item is PARTS of
// them, `unit` the real part of the item that changes nothing.
//
// A finished leaf is pushed and merges with its left neighbours of equal size;
// the sizes waiting are the bits of the count of leaves.
#define ORDERED(name, R, lane_reals, PARTS, combine, unit)                    \
  static void reset_##name(R *lanes) {                                        \
    for (int i = 0; i < LANES * PARTS; i++)                                   \
      lanes[i] = i % PARTS == 0 ? (R)(unit) : (R)0;                           \
  }                                                                           \
  static void add_items_##name(R *lanes, size_t lane, const R *a, size_t n) { \
    if (lane > 0) {                                                           \
      size_t head = n < LANES - lane ? n : LANES - lane;                      \
      combine(lanes + lane * PARTS, a, head * PARTS);                         \
      a += head * PARTS;                                                      \
      n -= head;                                                              \
    }                                                                         \
    if (n >= LANES) {                                                         \
      R held[LANES * PARTS];                                                  \
      memcpy(held, lanes, sizeof held);                                       \
      for (; n >= LANES; n -= LANES, a += LANES * PARTS)                      \
        combine(held, a, LANES *PARTS);                                       \
      memcpy(lanes, held, sizeof held);                                       \
    }                                                                         \
    combine(lanes, a, n *PARTS);                                              \
  }                                                                           \
  /* Lanes that [count] items have not reached change nothing. */             \
  static void fold_lanes_##name(R *lanes, uint64_t count) {                   \
    size_t half = LANES / 2;                                                  \
    if (count > LANES / 2) { /* constants are vectors */                      \
      TL_SPELL_OUT for (size_t all = LANES / 2; all > 0; all /= 2)            \
          combine(lanes, lanes + all * PARTS, all * PARTS);                   \
      return;                                                                 \
    }                                                                         \
    while (half > 1 && half >= count) half /= 2;                              \
    for (; half > 0; half /= 2)                                               \
      combine(lanes, lanes + half * PARTS, half * PARTS);                     \
  }                                                                           \
  /* node = partial[at] combined with node */                                 \
  static void join_##name(const tl_c128 *partial, R *node) {                  \
    R left[2] = {(R)partial->re, (R)partial->im};                             \
    combine(left, node, PARTS);                                               \
    memcpy(node, left, PARTS * sizeof(R));                                    \
  }                                                                           \
  /* Appends a node of 2^level leaves to [leaves] leaves. */                  \
  static void push_##name(tl_c128 *partial, uint64_t leaves, unsigned level,  \
                          const R *node) {                                    \
    R sum[2] = {node[0], node[PARTS - 1]};                                    \
    size_t at = bits_set(leaves);                                             \
    for (uint64_t q = leaves >> level; q & 1; q >>= 1)                        \
      join_##name(&partial[--at], sum);                                       \
    partial[at] = (tl_c128){(double)sum[0], (double)sum[PARTS - 1]};          \
  }                                                                           \
  /* A leaf at once: its lanes stay in registers. */                          \
  static void feed_leaf_##name(tl_fold_state *state, const R *items) {        \
    R lanes[LANES * PARTS];                                                   \
    reset_##name(lanes);                                                      \
    for (size_t i = 0; i < LEAF; i += LANES)                                  \
      combine(lanes, items + i * PARTS, LANES * PARTS);                       \
    fold_lanes_##name(lanes, LEAF);                                           \
    push_##name(state->partial, state->count / LEAF, 0, lanes);               \
    state->count += LEAF;                                                     \
  }                                                                           \
  void TL_K(feed_##name)(tl_fold_state * state, const void *a, size_t n) {    \
    const R *items = a;                                                       \
    while (n > 0) {                                                           \
      size_t used = state->count % LEAF;                                      \
      size_t take = n < LEAF - used ? n : LEAF - used;                        \
      if (take == LEAF) {                                                     \
        feed_leaf_##name(state, items);                                       \
        items += LEAF * PARTS;                                                \
        n -= LEAF;                                                            \
        continue;                                                             \
      }                                                                       \
      if (used == 0)                                                          \
        reset_##name(state->lanes.lane_reals);                                \
      add_items_##name(state->lanes.lane_reals, used % LANES, items, take);   \
      state->count += take;                                                   \
      items += take * PARTS;                                                  \
      n -= take;                                                              \
      if (used + take == LEAF) {                                              \
        fold_lanes_##name(state->lanes.lane_reals, LEAF);                     \
        push_##name(state->partial, state->count / LEAF - 1, 0,               \
                    state->lanes.lane_reals);                                 \
      }                                                                       \
    }                                                                         \
  }                                                                           \
  void TL_K(end_##name)(tl_fold_state * state, void *out) {                   \
    R *node = state->lanes.lane_reals;                                        \
    size_t at = bits_set(state->count / LEAF);                                \
    if (state->count % LEAF != 0) {                                           \
      fold_lanes_##name(node, state->count);                                  \
    } else if (at > 0) {                                                      \
      at--;                                                                   \
      node[0] = (R)state->partial[at].re;                                     \
      node[1] = (R)state->partial[at].im;                                     \
    } else {                                                                  \
      reset_##name(node);                                                     \
    }                                                                         \
    while (at > 0) join_##name(&state->partial[--at], node);                  \
    memcpy(out, node, PARTS * sizeof(R));                                     \
  }                                                                           \
  void TL_K(merge_##name)(tl_fold_state * state, const tl_fold_state *next) { \
    uint64_t leaves = state->count / LEAF, more = next->count / LEAF;         \
    const tl_c128 *from = next->partial;                                      \
    for (unsigned level = 63; level-- > 0;) {                                 \
      if (!(more >> level & 1))                                               \
        continue;                                                             \
      R node[2] = {(R)from->re, (R)from->im};                                 \
      push_##name(state->partial, leaves, level, node);                       \
      leaves += (uint64_t)1 << level;                                         \
      from++;                                                                 \
    }                                                                         \
    state->count += next->count;                                              \
    if (next->count % LEAF != 0)                                              \
      state->lanes = next->lanes;                                             \
  }

ORDERED(sum_float32, float, f32, 1, sum_reals_float32, 0)
ORDERED(sum_float64, double, f64, 1, sum_reals_float64, 0)
ORDERED(sum_complex64, float, f32, 2, sum_reals_float32, 0)
ORDERED(sum_complex128, double, f64, 2, sum_reals_float64, 0)
ORDERED(prod_float32, float, f32, 1, prod_reals_float32, 1)
ORDERED(prod_float64, double, f64, 1, prod_reals_float64, 1)
ORDERED(prod_complex64, float, f32, 2, prod_pairs_float32, 1)
ORDERED(prod_complex128, double, f64, 2, prod_pairs_float64, 1)

// Item i of each row is lane i, and the lanes are joined by halves as a leaf's
// are. Lengths are constants here, so that many rows are summed side by side. 0
// comes last, not first as in a leaf: that makes a sum of -0.0 alone 0.0 too.
#define LANE(i) (i + 8 < n ? x[i] + x[i + 8] : i < n ? x[i] : 0)
#define ROWS(sfx, T, n)                                  \
  case n:                                                \
    TL_LOOP for (size_t i = 0; i < nrows; i++) sums[i] = \
        sum_row_##sfx(items + i * n, n);                 \
    break;
#define X(D, sfx, T, W)                                             \
  TL_INLINE T sum_row_##sfx(const T *x, size_t n) {                 \
    T a = LANE(0), b = LANE(1), c = LANE(2), d = LANE(3);           \
    T e = LANE(4), f = LANE(5), g = LANE(6), h = LANE(7);           \
    a = n > 4 ? a + e : a;                                          \
    b = n > 5 ? b + f : b;                                          \
    c = n > 6 ? c + g : c;                                          \
    d = n > 7 ? d + h : d;                                          \
    a = n > 2 ? a + c : a;                                          \
    b = n > 3 ? b + d : b;                                          \
    return (n > 1 ? a + b : a) + 0;                                 \
  }                                                                 \
  void TL_K(sum_rows_##sfx)(void *out, const void *a, size_t nrows, \
                            size_t n) {                             \
    _Static_assert(TL_SHORT_ROW == 16, "a case for each length");   \
    const T *items = a;                                             \
    T *sums = out;                                                  \
    switch (n) {                                                    \
      ROWS(sfx, T, 1)                                               \
      ROWS(sfx, T, 2)                                               \
      ROWS(sfx, T, 3)                                               \
      ROWS(sfx, T, 4)                                               \
      ROWS(sfx, T, 5)                                               \
      ROWS(sfx, T, 6)                                               \
      ROWS(sfx, T, 7)                                               \
      ROWS(sfx, T, 8)                                               \
      ROWS(sfx, T, 9)                                               \
      ROWS(sfx, T, 10)                                              \
      ROWS(sfx, T, 11)                                              \
      ROWS(sfx, T, 12)                                              \
      ROWS(sfx, T, 13)                                              \
      ROWS(sfx, T, 14)                                              \
      ROWS(sfx, T, 15)                                              \
      ROWS(sfx, T, 16)                                              \
    }                                                               \
  }
TL_FLOATS(X)
#undef X

// Integers wrap in 64 bits, in any order; signed ones are widened first.
#define INTEGER_FOLDS(sfx, T, Wide)                                            \
  void TL_K(feed_sum_##sfx)(tl_fold_state * state, const void *a, size_t n) {  \
    const T *items = a;                                                        \
    uint64_t sum = 0;                                                          \
    for (size_t i = 0; i < n; i++) sum += (uint64_t)(Wide)items[i];            \
    state->lanes.u64 += sum;                                                   \
    state->count += n;                                                         \
  }                                                                            \
  void TL_K(feed_prod_##sfx)(tl_fold_state * state, const void *a, size_t n) { \
    const T *items = a;                                                        \
    uint64_t product = state->count > 0 ? state->lanes.u64 : 1;                \
    for (size_t i = 0; i < n; i++) product *= (uint64_t)(Wide)items[i];        \
    state->lanes.u64 = product;                                                \
    state->count += n;                                                         \
  }
#define X(D, sfx, T, W) INTEGER_FOLDS(sfx, T, int64_t)
TL_SIGNED(X)
#undef X
#define X(D, sfx, T, W) INTEGER_FOLDS(sfx, T, uint64_t)
TL_UNSIGNED(X)
#undef X

// Sums and counts need no order, so their state is a single number.
void TL_K(end_total)(tl_fold_state *state, void *out) {
  *(uint64_t *)out = state->lanes.u64;
}
// Two totals in any order give the same bits.
void TL_K(merge_total)(tl_fold_state *state, const tl_fold_state *next) {
  state->lanes.u64 += next->lanes.u64;
  state->count += next->count;
}
// The state of every fold begins as 0; that of a product without items means 1.
void TL_K(end_product)(tl_fold_state *state, void *out) {
  *(uint64_t *)out = state->count > 0 ? state->lanes.u64 : 1;
}
// A state without items has no product yet, whatever its lanes show.
void TL_K(merge_product)(tl_fold_state *state, const tl_fold_state *next) {
  uint64_t product = state->count > 0 ? state->lanes.u64 : 1;
  if (next->count > 0)
    product *= next->lanes.u64;
  state->lanes.u64 = product;
  state->count += next->count;
}

// any and all keep whether they have seen an item that settles them; they look
// at no more once they have.
enum { LOOK = 1024 };

#define SEEN(name, T, test)                                                \
  void TL_K(feed_##name)(tl_fold_state * state, const void *a, size_t n) { \
    const T *items = a;                                                    \
    state->count += n;                                                     \
    while (n > 0 && !state->lanes.u64) {                                   \
      size_t block = n < LOOK ? n : LOOK;                                  \
      unsigned char seen = 0;                                              \
      for (size_t i = 0; i < block; i++) {                                 \
        const T x = items[i];                                              \
        seen = (unsigned char)(seen | (test));                             \
      }                                                                    \
      state->lanes.u64 = seen;                                             \
      items += block;                                                      \
      n -= block;                                                          \
    }                                                                      \
  }
#define COUNTED(sfx, T, test)                                       \
  void TL_K(feed_count_##sfx)(tl_fold_state * state, const void *a, \
                              size_t n) {                           \
    const T *items = a;                                             \
    uint64_t count = 0;                                             \
    for (size_t i = 0; i < n; i++) {                                \
      const T x = items[i];                                         \
      count += (test);                                              \
    }                                                               \
    state->lanes.u64 += count;                                      \
    state->count += n;                                              \
  }

SEEN(any_uint16, uint16_t, x != 0)
SEEN(all_uint16, uint16_t, x == 0)
SEEN(any_uint32, uint32_t, x != 0)
SEEN(all_uint32, uint32_t, x == 0)
SEEN(any_uint64, uint64_t, x != 0)
SEEN(all_uint64, uint64_t, x == 0)
#define X(D, sfx, T, W)      \
  SEEN(any_##sfx, T, x != 0) \
  SEEN(all_##sfx, T, x == 0)
TL_FLOATS(X)
#undef X
#define X(D, sfx, T, W)                         \
  SEEN(any_##sfx, T, (x.re != 0) | (x.im != 0)) \
  SEEN(all_##sfx, T, (x.re == 0) & (x.im == 0)) \
  COUNTED(sfx, T, (uint64_t)((x.re != 0) | (x.im != 0)))
TL_COMPLEXES(X)
#undef X
COUNTED(uint16, uint16_t, x != 0)
COUNTED(uint32, uint32_t, x != 0)
COUNTED(uint64, uint64_t, x != 0)
COUNTED(float32, float, x != 0)
COUNTED(float64, double, x != 0)

// Bytes are looked at a vector at a time, the last ones with some that came
// before.
enum { WIDE = TL_LANES(uint8_t) };
typedef uint8_t wide_bytes __attribute__((vector_size(TL_LANES(uint8_t))));

// From any address, since a block may begin anywhere.
TL_INLINE wide_bytes load_bytes(const uint8_t *from) {
  wide_bytes x;
  memcpy(&x, from, sizeof x);
  return x;
}

// 1 where any byte is not 0, else 0: what lanes.u64 of any and all is.
TL_INLINE uint64_t some_byte(wide_bytes x) {
  uint64_t words[WIDE / 8], all = 0;
  memcpy(words, &x, sizeof words);
  for (size_t i = 0; i < WIDE / 8; i++) all |= words[i];
  return all != 0;
}

#define SEEN_BYTES(name, test_wide, test)                                  \
  void TL_K(feed_##name)(tl_fold_state * state, const void *a, size_t n) { \
    const uint8_t *items = a;                                              \
    state->count += n;                                                     \
    while (n >= WIDE && !state->lanes.u64) {                               \
      const size_t block = n < LOOK ? n : LOOK;                            \
      wide_bytes x = load_bytes(items + block - WIDE), seen = test_wide;   \
      for (size_t i = 0; i + WIDE < block; i += WIDE) {                    \
        x = load_bytes(items + i);                                         \
        seen |= test_wide;                                                 \
      }                                                                    \
      state->lanes.u64 = some_byte(seen);                                  \
      items += block;                                                      \
      n -= block;                                                          \
    }                                                                      \
    for (size_t i = 0; i < n && !state->lanes.u64; i++)                    \
      state->lanes.u64 = (uint64_t)(test);                                 \
  }
SEEN_BYTES(any_uint8, x, items[i] != 0)
SEEN_BYTES(all_uint8, (wide_bytes)(x == 0), items[i] == 0)

// Bytes count in bytes, as many at once as the registers hold, and are taken
// over before they can overflow.
void TL_K(feed_count_uint8)(tl_fold_state *state, const void *a, size_t n) {
  enum { WIDTH = 64, ROUNDS = 255 };
  const uint8_t *items = a;
  state->count += n;
  while (n >= WIDTH) {
    uint8_t count[WIDTH] = {0};
    size_t rounds = n / WIDTH < ROUNDS ? n / WIDTH : ROUNDS;
    for (size_t r = 0; r < rounds; r++, items += WIDTH)
      for (size_t i = 0; i < WIDTH; i++)
        count[i] = (uint8_t)(count[i] + (items[i] != 0));
    for (size_t i = 0; i < WIDTH; i++) state->lanes.u64 += count[i];
    n -= rounds * WIDTH;
  }
  for (size_t i = 0; i < n; i++) state->lanes.u64 += items[i] != 0;
}

// any: whether an item that is not zero has been seen.
void TL_K(end_seen)(tl_fold_state *state, void *out) {
  *(uint8_t *)out = state->lanes.u64 != 0;
}
// all: whether no zero has been seen.
void TL_K(end_not_seen)(tl_fold_state *state, void *out) {
  *(uint8_t *)out = state->lanes.u64 == 0;
}
// Seen by either is seen.
void TL_K(merge_seen)(tl_fold_state *state, const tl_fold_state *next) {
  state->lanes.u64 |= next->lanes.u64;
  state->count += next->count;
}

#define X(D, sfx, T, W) \
  TL_BINARY_VS(square_deviation_##sfx, T, T, (x - y) * (x - y))
TL_FLOATS(X)
#undef X
#define X(D, sfx, T, W)                      \
  TL_BINARY_VS(square_deviation_##sfx, T, W, \
               (x.re - y.re) * (x.re - y.re) + (x.im - y.im) * (x.im - y.im))
TL_COMPLEXES(X)
#undef X
