// The module random: numbers by Philox (philox.h), the same for a seed on
// every machine.
//
// A draw has a key: the seed and stream that `generator:` gives, or the VM's
// own state, which moves on at each draw. Item i takes word i of the key's
// stream, and where its method needs more, words of a source of its own.

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/distributions.h"
#include "stdlib/families.h"
#include "vm/host.h"
#include "vm/list.h"
#include "vm/vm.h"

// --- Keys -------------------------------------------------------------------

static uint64_t mix(uint64_t x) {  // the finalizer of SplitMix64
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

// What random.generator makes. Each draw moves it on.
typedef struct generator {
  tl_vm *vm;
  bool is_pcg;
  uint64_t state, stream;  // Philox: the next draw's key
  tl_pcg64 pcg;
} generator;

static void release_generator(void *context, void *object) {
  (void)context;
  generator *g = object;
  tl_free(g->vm, g, sizeof *g);
}

static const tally_resource generator_type = {
    .size = sizeof(tally_resource),
    .name = "random generator",
    .doc = "A source of random numbers that each draw moves on.",
    .release = release_generator,
};

static bool is_generator(tl_slot s) {
  return tl_is_resource(s) &&
         ((tl_resource *)s.pointer)->type == &generator_type;
}

// Never 0: that stands for a VM without a seed.
static uint64_t seeded_state(uint64_t seed) {
  uint64_t state = mix(seed + UINT64_C(0x9E3779B97F4A7C15));
  return state ? state : 1;
}

static uint64_t system_entropy(void) {
  uint64_t word = 0;
  FILE *file = fopen("/dev/urandom", "rb");
  size_t got = file ? fread(&word, 1, sizeof word, file) : 0;
  if (file)
    fclose(file);
  if (got == sizeof word)
    return word;
  struct timespec t = {0, 0};
  clock_gettime(CLOCK_REALTIME, &t);
  return mix((uint64_t)t.tv_sec) ^ (uint64_t)t.tv_nsec ^ (uintptr_t)&word;
}

// The VM's key for one draw; no key that a generator gives is the same.
static void next_key(tl_vm *vm, uint64_t key[2]) {
  if (vm->seed == 0)
    vm->seed = seeded_state(vm->options.seeded ? (uint64_t)vm->options.seed
                                               : system_entropy());
  key[0] = mix(vm->seed);
  key[1] = UINT64_C(1) << 63;
  vm->seed += UINT64_C(0x9E3779B97F4A7C15);
  if (vm->seed == 0)
    vm->seed = 1;
}

static void draw_from(generator *g, tl_stream *out) {
  if (g->is_pcg) {
    out->pcg = &g->pcg;
    return;
  }
  out->key[0] = mix(g->state);
  out->key[1] = UINT64_C(3) << 62 | g->stream;
  g->state += UINT64_C(0x9E3779B97F4A7C15);
}

// generator: none, what random.generator made, a seed, or a seed and a stream
// from 0 on.
static bool open_stream(tl_vm *vm, const char *function, tl_slot source,
                        uint64_t purpose, tl_stream *out) {
  *out = (tl_stream){.purpose = purpose};
  if (tl_is_none(source)) {
    next_key(vm, out->key);
    return true;
  }
  if (is_generator(source)) {
    draw_from(((tl_resource *)source.pointer)->object, out);
    return true;
  }
  int64_t numbers[2] = {0, 0};
  int count;
  if (!tl_is_list(source) && !tl_is_array(source) && !tl_is_number(source))
    return tl_arg_fail(vm, function, "generator",
                       "a random generator, a seed, or a seed and a stream",
                       source);
  if (!tl_arg_ints(vm, function, "generator", source, 2, &count, numbers))
    return false;
  if (count == 0 || numbers[1] < 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: generator must be a seed, or a seed and a stream that "
                   "is not negative",
                   function);
  out->key[0] = (uint64_t)numbers[0];
  out->key[1] = (uint64_t)numbers[1];
  return true;
}

// --- Drawing ----------------------------------------------------------------

enum { PIECE = 1024 };  // items between two polls; a multiple of 4

typedef struct draw draw;
struct draw {
  const char *function;
  tl_stream stream;
  double a, b;  // the distribution's parameters
  int64_t low;
  uint64_t range;
  bool is_integer;  // below range, and more low
  // Makes items first .. first + n from a word each.
  void (*fill)(const draw *d, const uint64_t *words, uint64_t first, size_t n,
               void *out);
};

static bool fill_pcg_integers(tl_vm *vm, const draw *d, size_t count,
                              int64_t *out);

static bool fill_items(tl_vm *vm, const draw *d, size_t count, char *out) {
  uint64_t words[PIECE];
  if (d->stream.pcg && d->is_integer)
    return fill_pcg_integers(vm, d, count, (int64_t *)(void *)out);
  for (size_t first = 0; first < count; first += PIECE) {
    size_t n = count - first < PIECE ? count - first : PIECE;
    if (!tl_poll(vm, 1))
      return false;
    tl_stream_words(&d->stream, first / 4, n, words);
    d->fill(d, words, first, n, out + 8 * first);
  }
  return true;
}

// A new array of a draw's items, 8 bytes each; none for a shape is one number.
static bool draw_array(tl_vm *vm, const draw *d, tl_dtype dtype, tl_slot shape,
                       tl_slot *out) {
  int ndim = 0;
  int64_t dims[TL_MAX_DIMS];
  if (!tl_is_none(shape) && !tl_arg_shape(vm, d->function, shape, &ndim, dims))
    return false;
  tl_array *a = tl_array_new(vm, dtype, ndim, dims);
  if (!a)
    return false;
  tl_normal_tables();
  if (!fill_items(vm, d, (size_t)a->size, a->data)) {
    tl_drop(vm, tl_own_array(a));
    return false;
  }
  *out = tl_result(vm, a);
  return true;
}

// Each function's place in the streams: never change one.
enum {
  RAW,
  UNIFORM,
  INTEGERS,
  NORMAL,
  EXPONENTIAL,
  GAMMA,
  BETA,
  BINOMIAL,
  POISSON,
  PERMUTATION,
  CHOICE,
};

#define FILL(name)                                                       \
  static void name(const draw *d, const uint64_t *words, uint64_t first, \
                   size_t n, void *result)

FILL(fill_raw) {
  (void)d, (void)first;
  memcpy(result, words, n * sizeof *words);
}

FILL(fill_uniform) {
  double *out = result;
  (void)first;
  for (size_t i = 0; i < n; i++) {
    double x = d->a + (d->b - d->a) * tl_unit_float(words[i]);
    // Rounding may reach the end, which is not part of the interval.
    out[i] = x < d->b ? x : d->a == d->b ? d->a : nextafter(d->b, d->a);
  }
}

FILL(fill_integers) {
  int64_t *out = result;
  for (size_t i = 0; i < n; i++) {
    tl_draws s = tl_draws_of(&d->stream, first + i);
    out[i] = (int64_t)((uint64_t)d->low + tl_below(words[i], d->range, &s));
  }
}

// An integer below [range], as NumPy's Generator.integers draws it: up to 2^32
// from half a word.
static uint64_t pcg_below(tl_pcg64 *p, uint64_t range) {
  if (range == 1)
    return 0;
  if (range == 0 || range > UINT64_C(1) << 32) {
    uint64_t word = tl_pcg64_next(p);
    tl_stream stream = {.pcg = p};
    tl_draws s = tl_draws_of(&stream, 0);
    return tl_below(word, range, &s);
  }
  if (range == UINT64_C(1) << 32)
    return tl_pcg64_next_half(p);
  uint32_t below = (uint32_t)range, floor = (0 - below) % below;
  uint64_t product;
  do {
    product = (uint64_t)tl_pcg64_next_half(p) * below;
  } while ((uint32_t)product < floor);
  return product >> 32;
}

static bool fill_pcg_integers(tl_vm *vm, const draw *d, size_t count,
                              int64_t *out) {
  for (size_t i = 0; i < count; i++) {
    if (i % PIECE == 0 && !tl_poll(vm, 1))
      return false;
    out[i] = (int64_t)((uint64_t)d->low + pcg_below(d->stream.pcg, d->range));
  }
  return true;
}

FILL(fill_normal) {
  double *out = result;
  tl_normals(&d->stream, first, words, n, out);
  for (size_t i = 0; i < n; i++) out[i] = d->a + d->b * out[i];
}

FILL(fill_exponential) {
  double *out = result;
  (void)first;
  for (size_t i = 0; i < n; i++)
    out[i] = -log1p(-tl_unit_float(words[i])) * d->a;
}

// These take all their words from the sources.
FILL(fill_gamma) {
  double *out = result;
  (void)words;
  for (size_t i = 0; i < n; i++) {
    tl_draws s = tl_draws_of(&d->stream, first + i);
    out[i] = tl_gamma(d->a, &s) * d->b;
  }
}

FILL(fill_beta) {
  double *out = result;
  (void)words;
  for (size_t i = 0; i < n; i++) {
    tl_draws s = tl_draws_of(&d->stream, first + i);
    out[i] = tl_beta(d->a, d->b, &s);
  }
}

FILL(fill_binomial) {
  int64_t *out = result;
  (void)words;
  for (size_t i = 0; i < n; i++) {
    tl_draws s = tl_draws_of(&d->stream, first + i);
    out[i] = (int64_t)tl_binomial(d->a, d->b, &s);
  }
}

FILL(fill_poisson) {
  int64_t *out = result;
  (void)words;
  for (size_t i = 0; i < n; i++) {
    tl_draws s = tl_draws_of(&d->stream, first + i);
    out[i] = (int64_t)tl_poisson(d->a, &s);
  }
}

// --- Parameters -------------------------------------------------------------

static bool read_finite(tl_vm *vm, const char *function, const char *name,
                        tl_slot s, double *out) {
  if (!tl_arg_float(vm, function, name, s, out))
    return false;
  return isfinite(*out) ||
         tl_fail(vm, TALLY_ERR_VALUE, "%s: %s is %g, but must be finite",
                 function, name, *out);
}

// A parameter from [low] to [high]; with [above] not [low] itself.
static bool read_within(tl_vm *vm, const char *function, const char *name,
                        tl_slot s, double low, bool above, double high,
                        double *out) {
  if (!read_finite(vm, function, name, s, out))
    return false;
  if (*out <= high && (above ? *out > low : *out >= low))
    return true;
  if (isfinite(high))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: %s is %g, but must be from %g to %g", function, name,
                   *out, low, high);
  return tl_fail(vm, TALLY_ERR_VALUE, "%s: %s is %g, but must be %s %g",
                 function, name, *out, above ? "above" : "at least", low);
}

static const double LARGEST = 9007199254740992;  // 2^53

// --- The functions ----------------------------------------------------------

static bool seed(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t n;
  if (!tl_arg_int(vm, "seed", "n", args[0], &n))
    return false;
  vm->seed = seeded_state((uint64_t)n);
  *out = tl_none();
  return true;
}

// seed, stream, kind
static bool make_generator(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t seed, stream;
  tl_string *kind = NULL;
  if (!tl_arg_count(vm, "generator", "seed", args[0], &seed) ||
      !tl_arg_count(vm, "generator", "stream", args[1], &stream) ||
      (!tl_is_none(args[2]) &&
       !tl_arg_string(vm, "generator", "kind", args[2], &kind)))
    return false;
  bool is_pcg = kind && strcmp(kind->text, "pcg64") == 0;
  if (kind && !is_pcg && strcmp(kind->text, "philox") != 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "generator: kind must be \"philox\" or \"pcg64\", not "
                   "\"%s\"",
                   kind->text);
  generator *g = tl_alloc(vm, sizeof *g, "a random generator");
  if (!g)
    return false;
  *g = (generator){.vm = vm, .is_pcg = is_pcg, .stream = (uint64_t)stream};
  g->state = seeded_state((uint64_t)seed);
  tl_pcg64_seed(&g->pcg, (uint64_t)seed, (uint64_t)stream);
  tl_resource *resource =
      tl_object_new(vm, TL_KIND_HANDLE, sizeof *resource, "a random generator");
  if (!resource) {
    tl_free(vm, g, sizeof *g);
    return false;
  }
  resource->type = &generator_type;
  resource->object = g;
  resource->nbytes = 0;
  *out = (tl_slot){.tag = TL_TAG_HANDLE | TL_OWNED, .pointer = resource};
  return true;
}

// Two or four words of a counter or key.
static bool read_words(tl_vm *vm, const char *name, tl_slot *s, int64_t count,
                       uint64_t *out) {
  tl_slot dense;
  if (!tl_arg_numeric(vm, "philox", s))
    return false;
  if (!tl_dtype_is_integer(tl_array_dtype(s->array)) || s->array->size != count)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "philox: %s must be an array of %d integers", name,
                   (int)count);
  bool is_signed = tl_dtypes[tl_array_dtype(s->array)].kind == 'I';
  if (!tl_as_contiguous(vm, "philox", *s, is_signed ? TL_INT64 : TL_UINT64,
                        &dense))
    return false;
  memcpy(out, dense.array->data, (size_t)count * sizeof *out);
  tl_drop(vm, dense);
  return true;
}

static bool philox(tl_vm *vm, tl_slot *args, tl_slot *out) {
  uint64_t counter[4], key[2];
  if (!read_words(vm, "counter", &args[0], 4, counter) ||
      !read_words(vm, "key", &args[1], 2, key))
    return false;
  tl_array *a = tl_array_new(vm, TL_UINT64, 1, (int64_t[]){4});
  if (!a)
    return false;
  tl_philox(counter, key, (uint64_t *)(void *)a->data);
  *out = tl_own_array(a);
  return true;
}

static bool bits(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "bits", .fill = fill_raw};
  return open_stream(vm, "bits", args[1], RAW, &d.stream) &&
         draw_array(vm, &d, TL_UINT64, args[0], out);
}

static bool uniform(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "uniform", .fill = fill_uniform};
  if (!read_finite(vm, "uniform", "low", args[1], &d.a) ||
      !read_finite(vm, "uniform", "high", args[2], &d.b))
    return false;
  if (!(d.a <= d.b) || !isfinite(d.b - d.a))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "uniform: from low %g to high %g is no interval of finite "
                   "length",
                   d.a, d.b);
  return open_stream(vm, "uniform", args[3], UNIFORM, &d.stream) &&
         draw_array(vm, &d, TL_FLOAT64, args[0], out);
}

static bool integers(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "integers", .is_integer = true, .fill = fill_integers};
  int64_t high;
  if (!tl_arg_int(vm, "integers", "low", args[1], &d.low) ||
      !tl_arg_int(vm, "integers", "high", args[2], &high))
    return false;
  if (d.low >= high)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "integers: high is %lld, but must be above low, %lld",
                   (long long)high, (long long)d.low);
  d.range = (uint64_t)high - (uint64_t)d.low;
  return open_stream(vm, "integers", args[3], INTEGERS, &d.stream) &&
         draw_array(vm, &d, TL_INT64, args[0], out);
}

static bool normal(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "normal", .fill = fill_normal};
  return read_finite(vm, "normal", "mean", args[1], &d.a) &&
         read_within(vm, "normal", "std", args[2], 0, false, (double)INFINITY,
                     &d.b) &&
         open_stream(vm, "normal", args[3], NORMAL, &d.stream) &&
         draw_array(vm, &d, TL_FLOAT64, args[0], out);
}

static bool exponential(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "exponential", .fill = fill_exponential};
  return read_within(vm, "exponential", "scale", args[1], 0, false,
                     (double)INFINITY, &d.a) &&
         open_stream(vm, "exponential", args[2], EXPONENTIAL, &d.stream) &&
         draw_array(vm, &d, TL_FLOAT64, args[0], out);
}

static bool gamma_draw(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "gamma", .fill = fill_gamma};
  return read_within(vm, "gamma", "a", args[1], 0, true, (double)INFINITY,
                     &d.a) &&
         read_within(vm, "gamma", "scale", args[2], 0, false, (double)INFINITY,
                     &d.b) &&
         open_stream(vm, "gamma", args[3], GAMMA, &d.stream) &&
         draw_array(vm, &d, TL_FLOAT64, args[0], out);
}

static bool beta_draw(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "beta", .fill = fill_beta};
  return read_within(vm, "beta", "a", args[1], 0, true, (double)INFINITY,
                     &d.a) &&
         read_within(vm, "beta", "b", args[2], 0, true, (double)INFINITY,
                     &d.b) &&
         open_stream(vm, "beta", args[3], BETA, &d.stream) &&
         draw_array(vm, &d, TL_FLOAT64, args[0], out);
}

static bool binomial(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "binomial", .fill = fill_binomial};
  int64_t n;
  if (!tl_arg_count(vm, "binomial", "n", args[1], &n) ||
      !read_within(vm, "binomial", "n", args[1], 0, false, LARGEST, &d.a) ||
      !read_within(vm, "binomial", "p", args[2], 0, false, 1, &d.b))
    return false;
  return open_stream(vm, "binomial", args[3], BINOMIAL, &d.stream) &&
         draw_array(vm, &d, TL_INT64, args[0], out);
}

static bool poisson(tl_vm *vm, tl_slot *args, tl_slot *out) {
  draw d = {.function = "poisson", .fill = fill_poisson};
  return read_within(vm, "poisson", "mean", args[1], 0, false, LARGEST, &d.a) &&
         open_stream(vm, "poisson", args[2], POISSON, &d.stream) &&
         draw_array(vm, &d, TL_INT64, args[0], out);
}

// --- Orders and choices -----------------------------------------------------

static bool fill_order(tl_vm *vm, int64_t *order, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (i % PIECE == 0 && !tl_poll(vm, 1))
      return false;
    order[i] = i;
  }
  return true;
}

// The first [count] places of a random order of n items (Fisher and Yates).
static bool shuffle_order(tl_vm *vm, const tl_stream *stream, int64_t *order,
                          int64_t n, int64_t count) {
  tl_draws s = tl_draws_of(stream, 0);
  if (!fill_order(vm, order, n))
    return false;
  for (int64_t i = 0; i < count; i++) {
    if (i % PIECE == 0 && !tl_poll(vm, 1))
      return false;
    int64_t other = i + (int64_t)tl_below(tl_next(&s), (uint64_t)(n - i), &s);
    int64_t held = order[i];
    order[i] = order[other];
    order[other] = held;
  }
  return true;
}

static bool random_order(tl_vm *vm, const char *function, int64_t n,
                         tl_slot generator, tl_array **out) {
  tl_stream stream;
  if (!open_stream(vm, function, generator, PERMUTATION, &stream))
    return false;
  *out = tl_array_new(vm, TL_INT64, 1, &n);
  if (!*out)
    return false;
  if (shuffle_order(vm, &stream, (int64_t *)(void *)(*out)->data, n, n))
    return true;
  tl_drop(vm, tl_own_array(*out));
  return false;
}

static bool permutation(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t n;
  tl_array *order;
  if (!tl_arg_count(vm, "permutation", "n", args[0], &n) ||
      !random_order(vm, "permutation", n, args[1], &order))
    return false;
  *out = tl_own_array(order);
  return true;
}

static bool shuffle_list(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_array *order;
  const tl_list *from = args[0].list;
  if (!random_order(vm, "shuffle", from->length, args[2], &order))
    return false;
  tl_list *list = tl_list_new(vm, from->length);
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < from->length; i++) {
    tl_slot item =
        tl_retain(vm, from->items[((int64_t *)(void *)order->data)[i]]);
    ok = tl_list_push(vm, &list, &item);
    if (!ok)
      tl_drop(vm, item);
  }
  tl_drop(vm, tl_own_array(order));
  if (ok)
    *out = tl_own_list(list);
  else if (list)
    tl_drop(vm, tl_own_list(list));
  return ok;
}

static bool shuffle(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  if (tl_is_list(args[0]))
    return shuffle_list(vm, args, out);
  if (!tl_arg_array(vm, "shuffle", &args[0]) ||
      !tl_arg_axis(vm, "shuffle", args[1], tl_ndim(args[0].array), 0, &axis))
    return false;
  tl_array *x = args[0].array, *order;
  int64_t n = tl_shape(x)[axis];
  if (!random_order(vm, "shuffle", n, args[2], &order))
    return false;
  bool ok = tl_take_axis(vm, x, (int64_t *)(void *)order->data, n, axis, out);
  tl_drop(vm, tl_own_array(order));
  return ok;
}

typedef struct choice_call {
  int64_t n;  // things to choose from
  bool replace;
  tl_slot weights;  // of n float64, or none
  int ndim;
  int64_t shape[TL_MAX_DIMS], count;
  tl_stream stream;
} choice_call;

// Where u falls among running sums: the first above it.
static int64_t find_sum(const double *sums, int64_t n, double u) {
  int64_t low = 0, high = n - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (sums[middle] > u)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// [sums] are the caller's own weights, which become running sums.
static bool choose_weighted(tl_vm *vm, const choice_call *c, double *sums,
                            int64_t *out) {
  for (int64_t i = 1; i < c->n; i++) sums[i] += sums[i - 1];
  // Rounding must not lead to items of no weight at the end.
  int64_t last = find_sum(sums, c->n, nextafter(sums[c->n - 1], 0));
  for (int64_t i = 0; i < c->count; i++) {
    if (i % PIECE == 0 && !tl_poll(vm, 1))
      return false;
    tl_draws s = tl_draws_of(&c->stream, (uint64_t)i);
    double u = tl_next_unit(&s) * sums[c->n - 1];
    int64_t found = find_sum(sums, c->n, u);
    out[i] = found < last ? found : last;
  }
  return true;
}

// The largest keys log(u) / weight: Efraimidis, Spirakis, "Weighted random
// sampling with a reservoir", 2006. The weights become the keys.
static bool choose_distinct(tl_vm *vm, const choice_call *c, double *keys,
                            int64_t *out) {
  int64_t usable = 0;
  for (int64_t i = 0; i < c->n; i++) {
    if (i % PIECE == 0 && !tl_poll(vm, 1))
      return false;
    tl_draws s = tl_draws_of(&c->stream, (uint64_t)i);
    usable += keys[i] > 0;
    keys[i] =
        keys[i] > 0 ? log(tl_next_positive(&s)) / keys[i] : -(double)INFINITY;
  }
  if (usable < c->count)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "choice: %lld items without replacement from %lld whose "
                   "weight is not 0",
                   (long long)c->count, (long long)usable);
  tl_array *order = tl_array_new(vm, TL_INT64, 1, &c->n);
  if (!order)
    return false;
  int64_t *places = (int64_t *)(void *)order->data;
  bool ok = tl_argsort_items(vm, TL_FLOAT64, places, keys, c->n, true);
  if (ok && c->count > 0)
    memcpy(out, places, (size_t)c->count * sizeof *out);
  tl_drop(vm, tl_own_array(order));
  return ok;
}

static bool choose_plain(tl_vm *vm, const choice_call *c, int64_t *out) {
  if (c->replace) {
    draw d = {.stream = c->stream,
              .range = (uint64_t)c->n,
              .is_integer = true,
              .fill = fill_integers};
    return fill_items(vm, &d, (size_t)c->count, (char *)out);
  }
  tl_array *order = tl_array_new(vm, TL_INT64, 1, &c->n);
  if (!order)
    return false;
  int64_t *places = (int64_t *)(void *)order->data;
  bool ok = shuffle_order(vm, &c->stream, places, c->n, c->count);
  if (ok && c->count > 0)
    memcpy(out, places, (size_t)c->count * sizeof *out);
  tl_drop(vm, tl_own_array(order));
  return ok;
}

static bool choose(tl_vm *vm, choice_call *c, int64_t *out) {
  if (tl_is_none(c->weights))
    return choose_plain(vm, c, out);
  tl_array *own = tl_take_dense(vm, &c->weights);
  if (!own)
    return false;
  double *weights = (double *)(void *)own->data;
  bool ok = c->replace ? choose_weighted(vm, c, weights, out)
                       : choose_distinct(vm, c, weights, out);
  tl_drop(vm, tl_own_array(own));
  return ok;
}

static bool check_weights(tl_vm *vm, const choice_call *c) {
  const tl_array *a = c->weights.array;
  const double *weights = (const double *)(const void *)a->data;
  double sum = 0;
  if (tl_ndim(a) != 1 || a->size != c->n)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "choice: weights must be an array of %lld numbers, one for "
                   "each item",
                   (long long)c->n);
  for (int64_t i = 0; i < c->n; i++) {
    if (!(weights[i] >= 0))
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "choice: weight %lld is %g, but must not be negative",
                     (long long)i, weights[i]);
    sum += weights[i];
  }
  return (sum > 0 && isfinite(sum)) ||
         tl_fail(vm, TALLY_ERR_VALUE,
                 "choice: the weights' sum is %g, but must be finite and "
                 "above 0",
                 sum);
}

// What is drawn from: 0 .. x, or the rows of an array.
static bool read_population(tl_vm *vm, tl_slot *x, choice_call *c,
                            bool *is_count) {
  *is_count = tl_is_scalar(*x);
  if (*is_count)
    return tl_arg_count(vm, "choice", "x", *x, &c->n);
  if (!tl_arg_array(vm, "choice", x))
    return false;
  if (tl_ndim(x->array) == 0)
    return tl_arg_fail(vm, "choice", "x", "an integer or an array", *x);
  c->n = tl_shape(x->array)[0];
  return true;
}

static bool read_choice(tl_vm *vm, tl_slot *args, choice_call *c) {
  size_t nbytes;
  if (!tl_arg_bool(vm, "choice", "replace", args[3], &c->replace) ||
      (!tl_is_none(args[1]) &&
       !tl_arg_shape(vm, "choice", args[1], &c->ndim, c->shape)) ||
      !tl_shape_size(vm, c->ndim, c->shape, 8, &c->count, &nbytes))
    return false;
  if (c->count > 0 && c->n == 0)
    return tl_fail(vm, TALLY_ERR_VALUE, "choice: x is empty");
  if (!c->replace && c->count > c->n)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "choice: %lld items without replacement from %lld",
                   (long long)c->count, (long long)c->n);
  return open_stream(vm, "choice", args[4], CHOICE, &c->stream);
}

// The chosen rows in the shape of the call.
static bool give_choice(tl_vm *vm, const choice_call *c, tl_array *x,
                        tl_slot index, tl_slot *out) {
  int64_t shape[2 * TL_MAX_DIMS];
  int rest = tl_ndim(x) - 1;
  if (c->ndim + rest > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "choice: more than %d axes",
                   TL_MAX_DIMS);
  memcpy(shape, c->shape, sizeof *shape * (size_t)c->ndim);
  memcpy(shape + c->ndim, tl_shape(x) + 1, sizeof *shape * (size_t)rest);
  tl_slot rows;
  if (!tl_take_axis(vm, x, (int64_t *)(void *)index.array->data, c->count, 0,
                    &rows))
    return false;
  bool ok = tl_reshape(vm, &rows, c->ndim + rest, shape, out);
  tl_drop(vm, rows);
  return ok;
}

static bool choice(tl_vm *vm, tl_slot *args, tl_slot *out) {
  choice_call c = {.weights = tl_none()};
  bool is_count;
  if (!read_population(vm, &args[0], &c, &is_count) ||
      !read_choice(vm, args, &c))
    return false;
  if (!tl_is_none(args[2]) &&
      (!tl_arg_numeric(vm, "choice", &args[2]) ||
       !tl_as_contiguous(vm, "choice", args[2], TL_FLOAT64, &c.weights)))
    return false;
  tl_array *index = NULL;
  bool ok = tl_is_none(c.weights) || check_weights(vm, &c);
  if (ok)
    index = tl_array_new(vm, TL_INT64, is_count ? c.ndim : 1,
                         is_count ? c.shape : &c.count);
  ok = index && choose(vm, &c, (int64_t *)(void *)index->data);
  tl_drop(vm, c.weights);
  if (ok && is_count) {
    *out = tl_result(vm, index);
    return true;
  }
  if (ok)
    ok = give_choice(vm, &c, args[0].array, tl_own_array(index), out);
  if (index)
    tl_drop(vm, tl_own_array(index));
  return ok;
}

// --- The table --------------------------------------------------------------

#define DRAWN                                                                \
  "shape is a length, a list of them, or none for one number. generator is " \
  "a\n"                                                                      \
  "seed, or a list of a seed and a stream: then the same call gives the "    \
  "same\n"                                                                   \
  "numbers; what random.generator made, which goes on with each draw; or "   \
  "none\n"                                                                   \
  "for the VM's own (random.seed).\n"

const tl_builtin tl_random_module[] = {
    {"seed", "n", seed, TL_EFFECT,
     "Starts the VM's generator at n, an integer: draws without a generator\n"
     "then give the same numbers in each run. Without a seed the system gives\n"
     "one at the first draw.\n"
     "A seed that is no integer is an error (kind type).\n"
     "    random.seed(42)    # none\n"},
    {"generator", "seed, stream = 0, kind = \"philox\"", make_generator,
     TL_PURE,
     "A source of random numbers, for the argument generator: each draw moves\n"
     "it on, and the same seed and stream give the same draws. kind "
     "\"philox\"\n"
     "counts (Salmon et al., 2011); \"pcg64\" has the words of NumPy's\n"
     "default_rng(seed), and with them its random and integers bit for bit\n"
     "(stream k > 0 is its spawn number k - 1). seed and stream are integers\n"
     "that are not negative; else a value error.\n"
     "    g = random.generator(42, kind: \"pcg64\")\n"
     "    random.integers(3, 0, 10, generator: g)    # [0, 7, 6]\n"},
    {"bits", "shape = none, generator: none", bits, TL_PURE,
     "Random uint64 words of all 64 bits, by Philox4x64-10 (Salmon et al.,\n"
     "2011): item i is word i % 4 of the counter (i // 4, 0, 0, 0) under the\n"
     "key (seed, stream).\n" DRAWN
     "A negative length in the shape is an error (kind value).\n"
     "    random.bits(1, generator: 0)    # [1609277786247541068]\n"},
    {"philox", "counter, key", philox, TL_PURE,
     "Four uint64 words by Philox4x64-10, of a counter of four integers and a\n"
     "key of two (Salmon et al., \"Parallel random numbers: as easy as 1, 2, "
     "3\",\n"
     "2011). The same everywhere, and no state. Other lengths are a value "
     "error.\n"
     "    random.philox([0, 0, 0, 0], [0, 0])[0]    # 1609277786247541068\n"},
    {"uniform", "shape = none, low: 0, high: 1, generator: none", uniform,
     TL_PURE,
     "Numbers from low on and below high, float64, each interval as likely as\n"
     "any of its length: 53 bits of a word.\n" DRAWN
     "low must not be above high, and both finite.\n"
     "A negative length in the shape is an error (kind value).\n"
     "    random.uniform((2, 3), generator: 1).shape    # (2, 3)\n"},
    {"integers", "shape, low, high, generator: none", integers, TL_PURE,
     "Integers from low on and below high, int64, all equally likely (Lemire,\n"
     "2019).\n" DRAWN "high must be above low.\n"
     "A negative length in the shape is an error (kind value).\n"
     "    max(random.integers(1000, 1, 7, generator: 1))    # 6\n"},
    {"normal", "shape = none, mean: 0, std: 1, generator: none", normal,
     TL_PURE,
     "Numbers of the normal distribution, float64, by the ziggurat of "
     "Marsaglia\n"
     "and Tsang (2000).\n" DRAWN "std must not be negative.\n"
     "A negative length in the shape is an error (kind value).\n"
     "    random.normal(3, std: 0, mean: 2)    # [2.0, 2.0, 2.0]\n"},
    {"exponential", "shape = none, scale: 1, generator: none", exponential,
     TL_PURE,
     "Numbers of the exponential distribution of mean scale, float64:\n"
     "−scale log(1 − u), by inversion (Devroye, 1986).\n" DRAWN "scale must not be negative.\n"
     "A negative length in the shape is an error (kind value).\n"
     "    min(random.exponential(100, generator: 1)) >= 0    # true\n"},
    {"gamma", "shape, a, scale: 1, generator: none", gamma_draw, TL_PURE,
     "Numbers of the gamma distribution of mean a × scale, float64 (Marsaglia\n"
     "and Tsang, 2000).\n" DRAWN "a must be above 0, scale not negative.\n"
     "A negative length in the shape is an error (kind value).\n"
     "    min(random.gamma(100, 2, generator: 1)) > 0    # true\n"},
    {"beta", "shape, a, b, generator: none", beta_draw, TL_PURE,
     "Numbers of the beta distribution, float64, from two gamma variables:\n"
     "x / (x + y) (Devroye, 1986).\n" DRAWN "a and b must be above 0.\n"
     "A negative length in the shape is an error (kind value).\n"
     "    max(random.beta(100, 2, 3, generator: 1)) <= 1    # true\n"},
    {"binomial", "shape, n, p, generator: none", binomial, TL_PURE,
     "How many of n trials succeed, each with probability p: int64. By BINV\n"
     "(1988), and from n p = 10 on by BTRS (Hörmann, 1993).\n" DRAWN
     "n is an integer from 0 to 2^53, p from 0 to 1.\n"
     "A negative length in the shape is an error (kind value).\n"
     "    random.binomial(3, 5, 1)    # [5, 5, 5]\n"},
    {"poisson", "shape, mean, generator: none", poisson, TL_PURE,
     "How many events happen where mean are expected, int64. By products of\n"
     "uniform numbers (Knuth), and from 10 on by PTRS (Hörmann, 1993).\n" DRAWN
     "mean is from 0 to 2^53.\n"
     "A negative length in the shape is an error (kind value).\n"
     "    random.poisson(3, 0)    # [0, 0, 0]\n"},
    {"permutation", "n, generator: none", permutation, TL_PURE,
     "The integers from 0 on and below n in random order, int64 (Fisher and\n"
     "Yates). generator as in uniform.\n"
     "Of the leading axis of an array; a scalar that has none is an error (kind\n"
     "index).\n"
     "    sort(random.permutation(4, generator: 1))    # [0, 1, 2, 3]\n"},
    {"shuffle", "x, axis: 0, generator: none", shuffle, TL_PURE,
     "The items of x along an axis, or of a list, in random order: a new "
     "array or\n"
     "list. generator as in uniform.\n"
     "Of the leading axis of an array; a scalar that has none is an error (kind\n"
     "index).\n"
     "    sum(random.shuffle([1, 2, 3], generator: 1))    # 6\n"},
    {"choice", "x, shape = none, weights: none, replace: true, generator: none",
     choice, TL_PURE,
     "Items of x drawn at random: rows of an array along its first axis, or\n"
     "for an integer x one of 0 .. x. Each is equally likely, or as likely as\n"
     "its weight says; none twice where replace is false (then by the keys of\n"
     "Efraimidis and Spirakis, 2006).\n" DRAWN
     "An empty x, a negative weight, and more items than there are without\n"
     "replacement are value errors.\n"
     "    random.choice([5, 6, 7], 2, weights: [0, 1, 0])    # [6, 6]\n"},
    {NULL, NULL, NULL, 0, NULL},
};
