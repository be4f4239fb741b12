// The module random: numbers by Philox (philox.h), the same for a seed on
// every machine and with any number of threads.
//
//   args --> parameters checked --> draw { stream, parameters, fill }
//   draw_array --> fill_items --> chunks of items, by the pool where large
//   fill_range --> tl_stream_words --> fill: words to items
//
// Item i of a draw takes word i of its stream (generator.h), or words i *
// [words] and those behind it, and where its method needs more, words of a
// source of its own. So an item never depends on how many its neighbours took.

#include <math.h>

#include "stdlib/distributions.h"
#include "stdlib/families.h"
#include "stdlib/generator.h"

// --- Drawing ----------------------------------------------------------------

enum {
  PIECE = 1024,        // words that are made at a time; a multiple of 64
  CHUNK = 16 * PIECE,  // items that a thread makes at a time
};

typedef struct draw draw;
// One call of a function of the module. [fill] and what it reads are set by the
// function before draw_array; several threads read it at a time, none writes.
struct draw {
  const char *function;
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  tl_stream stream;
  double a, b;  // the distribution's parameters
  int64_t low;
  uint64_t range;
  bool is_integer;  // below range, and more low
  // Prepared distributions, which live on the stack of the call.
  const tl_gamma *gammas;
  const tl_counts *counts;
  int words;  // that an item is made of, a power of 2; 0 stands for 1
  // Makes items first .. first + n from so many words each.
  void (*fill)(const draw *d, const uint64_t *words, uint64_t first, size_t n,
               void *out);
};

// Integers from PCG64, which takes half words, so that words have no places.
static bool fill_pcg_integers(tl_vm *vm, const draw *d, size_t count,
                              int64_t *out);

// The context of a chunk that a thread makes.
typedef struct filling {
  const draw *d;
  size_t count;
  char *out;
} filling;

// Makes items first to end from words that are made in pieces on the stack.
static void fill_range(const draw *d, size_t first, size_t end, char *out) {
  // Words and items of a piece stay in the nearest cache.
  uint64_t words[PIECE];
  // A piece is a whole number of items, and begins at a whole block of four
  // words.
  const size_t each = d->words > 1 ? (size_t)d->words : 1, most = PIECE / each;
  for (; first < end; first += most) {
    size_t n = end - first < most ? end - first : most;
    tl_stream_words(&d->stream, first * each / 4, n * each, words);
    d->fill(d, words, first, n, out + 8 * first);
  }
}

// Makes one chunk; called by threads of the pool.
static void fill_chunk(void *context, int64_t chunk) {
  const filling *f = context;
  size_t first = (size_t)chunk * CHUNK, left = f->count - first;
  fill_range(f->d, first, first + (left < CHUNK ? left : CHUNK), f->out);
}

// Makes all items. Philox's words depend on their places alone, so that chunks
// may be made in any order; those of PCG64 follow each other. False where the
// VM was stopped.
static bool fill_items(tl_vm *vm, const draw *d, size_t count, char *out) {
  // PCG64's integers take half words, so they have a loop of their own.
  filling f = {d, count, out};
  if (d->stream.pcg && d->is_integer)
    return fill_pcg_integers(vm, d, count, (int64_t *)(void *)out);
  // Short draws are not worth the threads.
  if (count <= CHUNK || d->stream.pcg) {
    for (size_t first = 0; first < count; first += CHUNK) {
      size_t left = count - first;
      fill_chunk(&f, (int64_t)(first / CHUNK));
      if (!tl_poll(vm, (left < CHUNK ? left : CHUNK) / PIECE + 1))
        return false;
    }
    return true;
  }
  return tl_pool_spread(vm, (int64_t)((count + CHUNK - 1) / CHUNK), fill_chunk,
                        &f, CHUNK / PIECE);
}

// The argument shape, which comes first.
static bool read_shape(tl_vm *vm, draw *d, tl_slot shape) {
  return tl_is_none(shape) ||
         tl_arg_shape(vm, d->function, "shape", shape, &d->ndim, d->shape);
}

// A new array of a draw's items, 8 bytes each, from the stream that [kind] has
// in [generator]; without axes it is one number.
static bool draw_array(tl_vm *vm, draw *d, tl_draw_purpose kind,
                       tl_slot generator, tl_dtype dtype, tl_slot *out) {
  if (!tl_stream_open(vm, d->function, generator, kind, &d->stream))
    return false;
  tl_array *a = tl_array_new(vm, dtype, d->ndim, d->shape);
  // Made before threads begin, whichever distribution it is.
  tl_normal_tables();
  bool ok = a && fill_items(vm, d, (size_t)a->size, a->data);
  return tl_result_finish(vm, ok, a, out);
}

// A function that makes items first to first + n of a draw from their words.
#define FILL(name)                                                       \
  static void name(const draw *d, const uint64_t *words, uint64_t first, \
                   size_t n, void *result)

FILL(fill_raw) {
  memcpy(result, words, n * sizeof *words);
}

FILL(fill_uniform) {
  tl_uniforms(words, n, d->a, d->b, result);
}

FILL(fill_integers) {
  int64_t *out = result;
  // The product of word and range has the integer in its high half (Lemire).
  const uint64_t range = d->range;
  for (size_t i = 0; i < n; i++) {
    // The word alone, unless it might be one of those that are refused.
    tl_u128 product = (tl_u128)words[i] * range;
    uint64_t drawn = (uint64_t)(product >> 64);
    if ((uint64_t)product < range || range == 0) {
      tl_draws s = tl_draws_of(&d->stream, first + i);
      drawn = tl_below(words[i], range, &s);
    }
    out[i] = (int64_t)((uint64_t)d->low + drawn);
  }
}

// An integer below [range], as NumPy's Generator.integers draws it: up to 2^32
// from half a word.
static uint64_t pcg_below(tl_pcg64 *p, uint64_t range) {
  if (range == 1)
    return 0;
  // Larger ranges take whole words, as NumPy does.
  if (range == 0 || range > UINT64_C(1) << 32) {
    uint64_t word = tl_pcg64_next(p);
    tl_stream stream = {.pcg = p};
    tl_draws s = tl_draws_of(&stream, 0);
    return tl_below(word, range, &s);
  }
  if (range == UINT64_C(1) << 32)
    return tl_pcg64_next_half(p);
  // Words below the floor would make some integers more frequent.
  uint32_t below = (uint32_t)range, floor = (0 - below) % below;
  uint64_t product;
  do {
    product = (uint64_t)tl_pcg64_next_half(p) * below;
  } while ((uint32_t)product < floor);
  return product >> 32;
}

static bool fill_pcg_integers(tl_vm *vm, const draw *d, size_t count,
                              int64_t *out) {
  for (size_t i = 0; i < count && tl_poll_at(vm, (int64_t)i); i++)
    out[i] = (int64_t)((uint64_t)d->low + pcg_below(d->stream.pcg, d->range));
  return !tl_failed(vm);
}

// For the functions of random_orders.c, which have a source of their own.
bool tl_draw_below(tl_vm *vm, const tl_stream *stream, uint64_t range,
                   size_t count, int64_t *out) {
  draw d = {.stream = *stream,
            .range = range,
            .is_integer = true,
            .fill = fill_integers};
  return fill_items(vm, &d, count, (char *)out);
}

FILL(fill_normal) {
  double *out = result;
  tl_normals(&d->stream, first, words, n, out);
  for (size_t i = 0; i < n; i++) out[i] = d->a + d->b * out[i];
}

FILL(fill_exponential) {
  tl_exponentials(words, n, d->a, result);
}

FILL(fill_gamma) {
  double *out = result;
  tl_gammas(&d->stream, d->gammas, first, words, n, out);
  for (size_t i = 0; i < n; i++) out[i] *= d->b;
}

FILL(fill_beta) {
  tl_betas(&d->stream, &d->gammas[0], &d->gammas[1], first, words, n, result);
}

FILL(fill_counts) {
  tl_count_many(&d->stream, d->counts, first, words, n, result);
}

// --- Parameters -------------------------------------------------------------

// What a parameter may be, from low to high; where it is [above], not low
// itself. It is finite in any case, and counts beyond 2^53 would not be exact.
typedef struct limits {
  double low, high;
  bool above;
} limits;

static const limits any = {-(double)INFINITY, (double)INFINITY, false};
static const limits not_negative = {0, (double)INFINITY, false};
static const limits positive = {0, (double)INFINITY, true};
static const limits counted = {0, 0x1p53, false};
static const limits share = {0, 1, false};

// Reads one. False after tl_fail.
static bool read_within(tl_vm *vm, const char *function, const char *name,
                        tl_slot s, const limits *l, double *out) {
  if (!tl_arg_float(vm, function, name, s, out))
    return false;
  if (!isfinite(*out))
    return tl_fail(vm, TALLY_ERR_VALUE, "%s: %s is %g, but must be finite",
                   function, name, *out);
  if (*out <= l->high && (l->above ? *out > l->low : *out >= l->low))
    return true;
  if (isfinite(l->high))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: %s is %g, but must be from %g to %g", function, name,
                   *out, l->low, l->high);
  return tl_fail(vm, TALLY_ERR_VALUE, "%s: %s is %g, but must be %s %g",
                 function, name, *out, l->above ? "above" : "at least", l->low);
}

// The shape and two parameters behind it; a [second] of NULL: one.
static bool read_draw(tl_vm *vm, draw *d, const tl_slot *args,
                      const char *first, const limits *of_first,
                      const char *second, const limits *of_second) {
  return read_shape(vm, d, args[0]) &&
         read_within(vm, d->function, first, args[1], of_first, &d->a) &&
         (second == NULL ||
          read_within(vm, d->function, second, args[2], of_second, &d->b));
}

// --- The functions ----------------------------------------------------------

// Two or four words of a counter or key, in a vector of integers.
static bool read_words(tl_vm *vm, const char *name, tl_slot s, int64_t count,
                       uint64_t *out) {
  tl_slot dense;
  if (!tl_dtype_is_integer(tl_array_dtype(s.array)) || s.array->size != count)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "philox: %s must be an array of %d integers", name,
                   (int)count);
  // The bits count: negative words are those of unsigned ones.
  bool is_signed = tl_dtypes[tl_array_dtype(s.array)].kind == 'I';
  if (!tl_as_contiguous(vm, "philox", s, is_signed ? TL_INT64 : TL_UINT64,
                        &dense))
    return false;
  memcpy(out, dense.array->data, (size_t)count * sizeof *out);
  tl_drop(vm, dense);
  return true;
}

// random.philox(counter, key): the bare function, for tests against the
// published vectors.
static bool philox(tl_vm *vm, tl_slot *args, tl_slot *out) {
  uint64_t counter[4], key[2];
  if (!read_words(vm, "counter", args[0], 4, counter) ||
      !read_words(vm, "key", args[1], 2, key))
    return false;
  tl_array *a = tl_array_new(vm, TL_UINT64, 1, (int64_t[]){4});
  tl_philox(counter, key);
  if (a)
    memcpy(a->data, counter, sizeof counter);
  return tl_array_finish(vm, true, a, out);
}

// random.bits(shape).
static bool bits(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "bits", .fill = fill_raw};
  return read_shape(vm, &d, args[0]) &&
         draw_array(vm, &d, TL_DRAW_RAW, args[1], TL_UINT64, out);
}

// random.uniform(shape, low, high).
static bool uniform(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "uniform", .fill = fill_uniform};
  if (!read_draw(vm, &d, args, "low", &any, "high", &any))
    return false;
  // The width must be a number too.
  if (!(d.a <= d.b) || !isfinite(d.b - d.a))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "uniform: from low %g to high %g is no interval of finite "
                   "length",
                   d.a, d.b);
  return draw_array(vm, &d, TL_DRAW_UNIFORM, args[3], TL_FLOAT64, out);
}

// random.integers(shape, low, high).
static bool integers(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "integers", .is_integer = true, .fill = fill_integers};
  int64_t high;
  if (!read_shape(vm, &d, args[0]) ||
      !tl_arg_int(vm, "integers", "low", args[1], &d.low) ||
      !tl_arg_int(vm, "integers", "high", args[2], &high))
    return false;
  if (d.low >= high)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "integers: high is %lld, but must be above low, %lld",
                   (long long)high, (long long)d.low);
  // Without a sign: low may be the least int64. 0 stands for 2^64.
  //   low INT64_MIN, high INT64_MAX: 2^64 - 1
  d.range = (uint64_t)high - (uint64_t)d.low;
  return draw_array(vm, &d, TL_DRAW_INTEGERS, args[3], TL_INT64, out);
}

// random.normal(shape, mean, std).
static bool normal(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "normal", .fill = fill_normal};
  return read_draw(vm, &d, args, "mean", &any, "std", &not_negative) &&
         draw_array(vm, &d, TL_DRAW_NORMAL, args[3], TL_FLOAT64, out);
}

// random.exponential(shape, scale).
static bool exponential(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "exponential", .fill = fill_exponential};
  return read_draw(vm, &d, args, "scale", &not_negative, NULL, NULL) &&
         draw_array(vm, &d, TL_DRAW_EXPONENTIAL, args[2], TL_FLOAT64, out);
}

// random.gamma(shape, a, scale).
static bool gamma_draw(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "gamma", .fill = fill_gamma};
  if (!read_draw(vm, &d, args, "a", &positive, "scale", &not_negative))
    return false;
  // The preparation stays on the stack: the draw is over before it ends.
  const tl_gamma gamma = tl_gamma_of(d.a);
  d.gammas = &gamma;
  d.words = gamma.words;
  return draw_array(vm, &d, TL_DRAW_GAMMA, args[3], TL_FLOAT64, out);
}

// random.beta(shape, a, b).
static bool beta_draw(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "beta", .fill = fill_beta};
  if (!read_draw(vm, &d, args, "a", &positive, "b", &positive))
    return false;
  const tl_gamma gammas[] = {tl_gamma_of(d.a), tl_gamma_of(d.b)};
  d.gammas = gammas;
  d.words = tl_beta_words(&gammas[0], &gammas[1]);
  return draw_array(vm, &d, TL_DRAW_BETA, args[3], TL_FLOAT64, out);
}

// The end of the functions of counts. How many words an item takes depends on
// the parameters: one by limits, two by rejection.
static bool counts_array(tl_vm *vm, draw *d, const tl_counts *counts,
                         tl_draw_purpose kind, tl_slot generator,
                         tl_slot *out) {
  d->fill = fill_counts;
  d->counts = counts;
  d->words = counts->words;
  return draw_array(vm, d, kind, generator, TL_INT64, out);
}

// random.binomial(shape, n, p).
static bool binomial(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "binomial"};
  tl_counts counts;
  int64_t n;
  if (!read_shape(vm, &d, args[0]) ||
      !tl_arg_count(vm, "binomial", "n", args[1], &n) ||
      !read_within(vm, "binomial", "n", args[1], &counted, &d.a) ||
      !read_within(vm, "binomial", "p", args[2], &share, &d.b))
    return false;
  tl_counts_binomial(d.a, d.b, &counts);
  return counts_array(vm, &d, &counts, TL_DRAW_BINOMIAL, args[3], out);
}

// random.poisson(shape, mean).
static bool poisson(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "poisson"};
  tl_counts counts;
  if (!read_draw(vm, &d, args, "mean", &counted, NULL, NULL))
    return false;
  tl_counts_poisson(d.a, &counts);
  return counts_array(vm, &d, &counts, TL_DRAW_POISSON, args[2], out);
}

// --- The table --------------------------------------------------------------

/// DRAW:
/// shape is a length, a list of them, or none for one number. generator is a
/// seed, or a list of a seed and a stream: then the same call gives the same
/// numbers; what random.generator made, which goes on with each draw; or none
/// for the VM's own (random.seed).

const tl_builtin tl_random_module[] = {
    /// Random uint64 words of all 64 bits, by Philox4x64-10 (Salmon et al.,
    /// 2011): item i is word i % 4 of the counter (i // 4, 0, 0, 0) under the
    /// key (seed, stream).
    /// {DRAW}
    /// A negative length is a value error.
    ///     random.bits(1, generator: 0)    # [1609277786247541068]
    {"bits", "shape = none, generator: none", bits},
    /// Four uint64 words by Philox4x64-10, of a counter of four integers and a
    /// key of two (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
    /// 2011). The same everywhere, and no state. Other lengths and numbers are
    /// a value error.
    ///     random.philox([0, 0, 0, 0], [0, 0])[0]    # 1609277786247541068
    {"philox", "counter, key", philox, .types = "mm"},
    /// Numbers from low on and below high, float64, each interval as likely as
    /// any of its length: 53 bits of a word.
    /// {DRAW}
    /// low must not be above high, and both be finite numbers. These, and a
    /// negative length, are value errors; arrays as low or high a type error.
    ///     random.uniform((2, 3), generator: 1).shape    # (2, 3)
    {"uniform", "shape = none, low: 0, high: 1, generator: none", uniform},
    /// Integers from low on and below high, int64, all equally likely (Lemire,
    /// 2019).
    /// {DRAW}
    /// high must be above low; this and a negative length are value errors, what
    /// is no integer is a type error.
    ///     max(random.integers(1000, 1, 7, generator: 1))    # 6
    {"integers", "shape, low, high, generator: none", integers},
    /// Numbers of the normal distribution, float64, by the ziggurat of Marsaglia
    /// and Tsang (2000).
    /// {DRAW}
    /// mean and std are finite numbers, std not negative; these and a negative
    /// length are value errors, arrays in their place a type error.
    ///     random.normal(3, std: 0, mean: 2)    # [2.0, 2.0, 2.0]
    {"normal", "shape = none, mean: 0, std: 1, generator: none", normal},
    /// Numbers of the exponential distribution of mean scale, float64:
    /// −scale log(1 − u), by inversion (Devroye, 1986).
    /// {DRAW}
    /// scale is a finite number, not negative; this and a negative length are
    /// value errors, an array in its place is a type error.
    ///     min(random.exponential(100, generator: 1)) >= 0    # true
    {"exponential", "shape = none, scale: 1, generator: none", exponential},
    /// Numbers of the gamma distribution of mean a × scale, float64 (Marsaglia
    /// and Tsang, 2000).
    /// {DRAW}
    /// a and scale are finite numbers, a above 0, scale not negative; these and
    /// a negative length are value errors, arrays in their place a type error.
    ///     min(random.gamma(100, 2, generator: 1)) > 0    # true
    {"gamma", "shape, a, scale: 1, generator: none", gamma_draw},
    /// Numbers of the beta distribution, float64, from two gamma variables:
    /// x / (x + y) (Devroye, 1986).
    /// {DRAW}
    /// a and b are finite numbers above 0; these and a negative length are value
    /// errors, arrays in their place a type error.
    ///     max(random.beta(100, 2, 3, generator: 1)) <= 1    # true
    {"beta", "shape, a, b, generator: none", beta_draw},
    /// How many of n trials succeed, each with probability p: int64. By inversion,
    /// and from n p = 10 on by BTRS (Hörmann, 1993).
    /// {DRAW}
    /// n is an integer from 0 to 2^53, p from 0 to 1; these and a negative
    /// length are value errors, arrays in their place a type error.
    ///     random.binomial(3, 5, 1)    # [5, 5, 5]
    {"binomial", "shape, n, p, generator: none", binomial},
    /// How many events happen where mean are expected, int64. By inversion,
    /// and from 10 on by PTRS (Hörmann, 1993).
    /// {DRAW}
    /// mean is a number from 0 to 2^53; this and a negative length are value
    /// errors, an array in its place is a type error.
    ///     random.poisson(3, 0)    # [0, 0, 0]
    {"poisson", "shape, mean, generator: none", poisson},
    {.name = NULL},
};
