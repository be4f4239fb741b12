// The module random: orders and choices at random.
//
// All work on positions, and one take along an axis moves the items
// afterwards; a list's items are moved one by one. Which method chooses:
//
//   with replacement              tl_draw_below
//   few of many, without          exchanges in a table (choose_few)
//   many, without                 part of a random order (shuffle_order)
//   weights                       in Tally (inner/arrays.tly)

#include "stdlib/families.h"
#include "stdlib/generator.h"
#include "vm/nested/nested.h"

enum {
  PIECE = 1024,  // items between two polls
  // Places that are drawn at a time, whose cache lines are then on their way.
  AHEAD = 64,
  // One in so many: below that a table of the exchanged places is smaller than
  // the order of all.
  FEW = 32,  // of that many are chosen without an order of all
};

// --- Orders -----------------------------------------------------------------

// Moves the first [count] places of a random order to the front of [order],
// which has 0 to n - 1 (Fisher and Yates).
static bool shuffle_order(tl_vm *vm, const tl_stream *stream, int64_t *order,
                          int64_t n, int64_t count) {
  // One sequence of words for the whole order, which is made one by one.
  tl_draws s = tl_draws_of(stream, 0);
  for (int64_t i = 0; i < count; i += AHEAD) {
    // Some places are drawn ahead, so that their items come from memory while
    // others move.
    int64_t others[AHEAD], most = count - i < AHEAD ? count - i : AHEAD;
    if (i % PIECE == 0 && !tl_poll(vm, 1))
      return false;
    for (int64_t k = 0; k < most; k++) {
      // The place is drawn among those that are not decided yet.
      uint64_t left = (uint64_t)(n - i - k);
      others[k] = i + k + (int64_t)tl_below(tl_next(&s), left, &s);
      __builtin_prefetch(&order[others[k]], 1);
    }
    for (int64_t k = 0; k < most; k++) {
      int64_t held = order[i + k];
      order[i + k] = order[others[k]];
      order[others[k]] = held;
    }
  }
  return true;
}

// A new int64 array with a random order of n items; returns owned in *out.
static bool random_order(tl_vm *vm, const char *function, int64_t n,
                         tl_slot generator, tl_slot *out) {
  tl_stream stream;
  if (!tl_stream_open(vm, function, generator, TL_DRAW_PERMUTATION, &stream))
    return false;
  tl_array *a = tl_numbers_new(vm, 1, &n, 0, 1);
  bool ok = a && shuffle_order(vm, &stream, (int64_t *)(void *)a->data, n, n);
  return tl_array_finish(vm, ok, a, out);
}

// random.permutation(n).
static bool permutation(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return random_order(vm, "permutation", args[0].i, args[1], out);
}

// random.shuffle of a list: a new one, in Tally by an order of its items.
static bool shuffle_list(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot given[] = {tl_borrow(args[0]), tl_none()};
  return random_order(vm, "shuffle", args[0].list->length, args[2],
                      &given[1]) &&
         tl_in_tally(vm, "items_in_order", 2, given, out);
}

// random.shuffle(x, axis).
static bool shuffle(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  if (tl_is_list(args[0]))
    return shuffle_list(vm, args, out);
  if (!tl_arg_array(vm, "shuffle", &args[0]) ||
      !tl_arg_axis(vm, "shuffle", args[1], tl_ndim(args[0].array), 0, &axis))
    return false;
  tl_array *x = args[0].array;
  tl_slot order;
  int64_t n = tl_shape(x)[axis];
  if (!random_order(vm, "shuffle", n, args[2], &order))
    return false;
  const int64_t *places = (const int64_t *)(const void *)order.array->data;
  return tl_drop_after(vm, tl_take_axis(vm, x, places, n, axis, out), &order);
}

// --- Choices ----------------------------------------------------------------

// One call of choice, as its functions pass it on.
typedef struct choice_call {
  int64_t n;  // things to choose from
  bool replace;
  int ndim;
  int64_t shape[TL_MAX_DIMS], count;
  tl_stream stream;
} choice_call;

// Writes the first places of a random order of all items.
static bool first_of_order(tl_vm *vm, const choice_call *c, int64_t *out) {
  tl_array *order = tl_numbers_new(vm, 1, &c->n, 0, 1);
  if (!order)
    return false;
  int64_t *places = (int64_t *)(void *)order->data;
  bool ok = shuffle_order(vm, &c->stream, places, c->n, c->count);
  if (ok && c->count > 0)
    memcpy(out, places, (size_t)c->count * sizeof *out);
  tl_array_drop(vm, order);
  return ok;
}

// An entry of the table of items that were moved to a place that is not among
// the first.
typedef struct moved {
  int64_t place, item;  // place 0: free
} moved;

// The entry of a place, or the free one where it would stand. The table is
// never full.
static moved *moved_to(moved *table, size_t mask, int64_t place) {
  size_t at =
      (size_t)(((uint64_t)place * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
  while (table[at].place != 0 && table[at].place != place) at = (at + 1) & mask;
  return &table[at];
}

// As shuffle_order does it, but of a few among many: all other items are where
// they were, so that only the exchanged ones are stored. [out] has the first
// places in order.
static bool choose_few(tl_vm *vm, const choice_call *c, int64_t *out) {
  // At most half full, so that probing is short.
  size_t capacity = 16;
  while (capacity < 2 * (size_t)c->count) capacity *= 2;
  moved *table = tl_alloc_zeroed(vm, capacity * sizeof *table, "choice");
  if (!table)
    return false;
  tl_draws s = tl_draws_of(&c->stream, 0);
  bool ok = true;
  for (int64_t i = 0; i < c->count && tl_poll_ok(vm, i, &ok); i++) {
    int64_t held = out[i], left = c->n - i;
    int64_t place = i + (int64_t)tl_below(tl_next(&s), (uint64_t)left, &s);
    // Places among the first are in the output itself; others in the table.
    if (place < c->count) {
      out[i] = out[place];
      out[place] = held;
    } else {
      // An item that was never moved is its own place.
      moved *there = moved_to(table, capacity - 1, place);
      out[i] = there->place != 0 ? there->item : place;
      *there = (moved){place, held};
    }
  }
  tl_free(vm, table, capacity * sizeof *table);
  return ok;
}

// Chooses without weights.
static bool choose_plain(tl_vm *vm, const choice_call *c, int64_t *out) {
  if (c->replace)
    return tl_draw_below(vm, &c->stream, (uint64_t)c->n, (size_t)c->count, out);
  if (c->count <= c->n / FEW)
    return choose_few(vm, c, out);
  return first_of_order(vm, c, out);
}

// What a choice by weights is made of: a float from 0 on and below 1 for each
// item that is chosen or, without replacement, that may be. NULL after tl_fail.
static tl_array *draw_units(tl_vm *vm, const choice_call *c) {
  tl_array *units =
      tl_array_new(vm, TL_FLOAT64, 1, c->replace ? &c->count : &c->n);
  for (int64_t i = 0; tl_array_polled(vm, &units, i) && i < units->size; i++) {
    tl_draws s = tl_draws_of(&c->stream, (uint64_t)i);
    ((double *)(void *)units->data)[i] = tl_next_unit(&s);
  }
  return units;
}

// The things to draw from: 0 to x, or the rows of an array.
static bool read_population(tl_vm *vm, tl_slot *x, choice_call *c,
                            bool *is_count) {
  // A number stands for the integers below it.
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

// The arguments shape and replace, and the source.
static bool read_choice(tl_vm *vm, tl_slot *args, choice_call *c) {
  size_t nbytes;
  c->replace = args[3].i != 0;
  if ((!tl_is_none(args[1]) &&
       !tl_arg_shape(vm, "choice", "shape", args[1], &c->ndim, c->shape)) ||
      !tl_shape_size(vm, c->ndim, c->shape, 8, &c->count, &nbytes))
    return false;
  if (c->count > 0 && c->n == 0)
    return tl_fail(vm, TALLY_ERR_VALUE, "choice: x is empty");
  if (!c->replace && c->count > c->n)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "choice: %lld items without replacement from %lld",
                   (long long)c->count, (long long)c->n);
  return tl_stream_open(vm, "choice", args[4], TL_DRAW_CHOICE, &c->stream);
}

// random.choice(x, shape, weights, replace): what is drawn are places, which
// for a number x are the result; by weights they are found in Tally, which
// also takes the rows.
static bool choice(tl_vm *vm, tl_slot *args, tl_slot *out) {
  choice_call c = {.n = 0};
  bool is_count, weighted = !tl_is_none(args[2]);
  if (!read_population(vm, &args[0], &c, &is_count) ||
      !read_choice(vm, args, &c) ||
      (weighted && !tl_arg_numeric(vm, "choice", &args[2])))
    return false;
  // Before as many numbers are drawn as there should be weights.
  if (weighted && (tl_ndim(args[2].array) != 1 || args[2].array->size != c.n))
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "choice: weights must be an array of %lld numbers, one for "
                   "each item",
                   (long long)c.n);
  const int ndim = is_count ? c.ndim : 1;
  const int64_t *shape = is_count ? c.shape : &c.count;
  tl_array *drawn = weighted    ? draw_units(vm, &c)
                    : c.replace ? tl_array_new(vm, TL_INT64, ndim, shape)
                                : tl_numbers_new(vm, ndim, shape, 0, 1);
  bool ok = drawn != NULL &&
            (weighted || choose_plain(vm, &c, (int64_t *)(void *)drawn->data));
  if (!ok || (is_count && !weighted))
    return tl_result_finish(vm, ok, drawn, out);
  tl_slot given[] = {is_count ? tl_none() : tl_borrow(args[0]),
                     tl_own_array(drawn), tl_borrow(args[2]),
                     tl_borrow(args[1]), tl_bool(c.replace)};
  return tl_in_tally(vm, "chosen", 5, given, out);
}

// --- The table --------------------------------------------------------------

// shuffle and choice move the items of their argument (TL_MOVES), so they take
// nested arrays too.
const tl_builtin tl_random_orders_module[] = {
    /// The integers from 0 on and below n in random order, int64 (Fisher and
    /// Yates, 1938). generator as in uniform. A negative n is a value error,
    /// what is no integer a type error.
    ///     sort(random.permutation(4, generator: 1))    # [0, 1, 2, 3]
    {"permutation", "n, generator: none", permutation, .types = "n"},
    /// The items of x along an axis, or of a list, in random order: a new array or
    /// list; rows of different lengths keep what is in them. generator as in
    /// uniform. An axis that x lacks is an index error, a string a type error.
    ///     sum(random.shuffle([1, 2, 3], generator: 1))    # 6
    {"shuffle", "x, axis: 0, generator: none", shuffle, .lifts = TL_MOVES},
    /// Items of x drawn at random: rows of an array along its first axis, or
    /// for an integer x one of 0 .. x. Each is equally likely, or as likely as
    /// its weight says; none twice where replace is false (then by the keys of
    /// Efraimidis and Spirakis, 2006).
    /// shape is a length, a list of them, or none for one number. generator is a
    /// seed, or a list of a seed and a stream: then the same call gives the same
    /// numbers; what random.generator made, which goes on with each draw; or none
    /// for the VM's own (random.seed).
    /// An empty x, a negative weight, and more items than there are without
    /// replacement are value errors, weights of another length a shape error, a
    /// list or string as x a type error.
    ///     random.choice([5, 6, 7], 2, weights: [0, 1, 0])    # [6, 6]
    {"choice", "x, shape = none, weights: none, replace: true, generator: none",
     choice, .lifts = TL_MOVES, .types = "x..b"},
    {.name = NULL},
};
