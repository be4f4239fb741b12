// Where random numbers come from: see generator.h.
//
// A draw has a key: the seed and stream that `generator:` gives, or the VM's
// own state, which moves on at each draw. Keys of the three sources differ in
// their two highest bits:
//
//   0x  a seed and a stream given by the call
//   10  the VM's own state
//   11  an object made by random.generator

#include "stdlib/generator.h"

#include <stdio.h>
#include <time.h>

#include "stdlib/families.h"

// --- Keys -------------------------------------------------------------------

// A bijection of 64 bits in which every bit depends on every other.
static uint64_t mix(uint64_t x) {  // the finalizer of SplitMix64
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

// What random.generator makes. Each draw moves it on, so that two draws never
// share words.
typedef struct generator {
  tl_vm *vm;
  bool is_pcg;
  // The state steps by the golden ratio of 2^64, as SplitMix64 does, and each
  // key is the mix of it.
  uint64_t state, stream;  // Philox: the next draw's key
  tl_pcg64 pcg;
} generator;

// Frees it when its value ends.
static void release_generator(void *context, void *object) {
  generator *g = object;
  tl_free(g->vm, g, sizeof *g);
}

// What typeof and the documentation know of a generator.
static const tally_resource generator_type = {
    .size = sizeof(tally_resource),
    .name = "random generator",
    .doc = "A source of random numbers that each draw moves on.",
    .release = release_generator,
};

// Whether the value is one.
static bool is_generator(tl_slot s) {
  return tl_is_resource(s) &&
         ((tl_resource *)s.pointer)->type == &generator_type;
}

// The state for a seed; never 0, which stands for a VM without a seed.
static uint64_t seeded_state(uint64_t seed) {
  uint64_t state = mix(seed + UINT64_C(0x9E3779B97F4A7C15));
  return state ? state : 1;
}

// A seed from the system; where there is no /dev/urandom, from the clock.
static uint64_t system_entropy(void) {
  // Eight bytes; the clock and an address where the system gives none.
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

// The VM's key for one draw. Its highest bit differs from the keys of seeds,
// so that no key that a generator gives is the same.
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

// The key of a generator's next draw.
static void draw_from(generator *g, tl_stream *out) {
  if (g->is_pcg) {
    out->pcg = &g->pcg;
    return;
  }
  out->key[0] = mix(g->state);
  out->key[1] = UINT64_C(3) << 62 | g->stream;
  g->state += UINT64_C(0x9E3779B97F4A7C15);
}

// A list of one or two integers is a seed and a stream, an integer a seed
// alone.
bool tl_stream_open(tl_vm *vm, const char *function, tl_slot source,
                    tl_draw_purpose purpose, tl_stream *out) {
  *out = (tl_stream){.purpose = purpose};
  if (tl_is_none(source)) {
    next_key(vm, out->key);
    return true;
  }
  if (is_generator(source)) {
    draw_from(((tl_resource *)source.pointer)->object, out);
    return true;
  }
  // Without a stream it is stream 0.
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

// --- The functions ----------------------------------------------------------

// random.seed(n): the VM's own state.
static bool seed(tl_vm *vm, tl_slot *args, tl_slot *out) {
  vm->seed = seeded_state(args[0].u);
  *out = tl_none();
  return true;
}

// random.generator(seed, stream, kind). The value owns [g] through its
// resource, whose type releases it. A stream is an independent sequence of the
// same seed.
static bool make_generator(tl_vm *vm, tl_slot *args, tl_slot *out) {
  static const char *const kinds[] = {"philox", "pcg64", NULL};
  const int64_t seed = args[0].i, stream = args[1].i;
  int kind;
  if (!tl_arg_choice(vm, "generator", "kind", args[2], kinds, &kind))
    return false;
  // The two highest bits of a key tell generators from seeds and the VM's own.
  if (stream >> 62 != 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "generator: stream must be below 2^62, not %lld",
                   (long long)stream);
  generator *g = tl_alloc(vm, sizeof *g, "a random generator");
  if (!g)
    return false;
  *g = (generator){.vm = vm, .is_pcg = kind == 1, .stream = (uint64_t)stream};
  // Both kinds are seeded, so that a generator is one object of a fixed size.
  g->state = seeded_state((uint64_t)seed);
  tl_pcg64_seed(&g->pcg, (uint64_t)seed, (uint64_t)stream);
  if (tl_resource_give(vm, &generator_type, g, NULL, "a random generator", out))
    return true;
  tl_free(vm, g, sizeof *g);
  return false;
}

// --- The table --------------------------------------------------------------

// The source of all the functions of the module.
const tl_builtin tl_generator_module[] = {
    /// Starts the VM's generator at n, an integer: draws without a generator
    /// then give the same numbers in each run. Without a seed the system gives
    /// one at the first draw.
    /// A seed that is no integer is an error (kind type).
    ///     random.seed(42)    # none
    {"seed", "n", seed, TL_EFFECT, .types = "i"},
    /// A source of random numbers, for the argument generator: each draw moves
    /// it on, and the same seed and stream give the same draws. kind "philox"
    /// counts (Salmon et al., 2011); "pcg64" has the words of NumPy's
    /// default_rng(seed), and with them its random and integers bit for bit
    /// (stream k > 0 is its spawn number k - 1). seed and stream are integers
    /// that are not negative, stream below 2^62; else a value error.
    ///     g = random.generator(42, kind: "pcg64")
    ///     random.integers(3, 0, 10, generator: g)    # [0, 7, 6]
    {"generator", "seed, stream = 0, kind = \"philox\"", make_generator,
     .types = "nn"},
    {.name = NULL},
};
