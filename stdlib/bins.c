// Counting items into bins; interpolating between points.
//
// Built for speed. The loops over items are short: where they begin decides a
// quarter of the time.
// Flags: -falign-loops=32

#include <math.h>

#include "stdlib/families.h"
#include "vm/kernels/kernels.h"
#include "vm/nested/nested.h"
#include "vm/poll.h"

// The largest item, negative ones counting as larger than all others. One fold
// says both whether an item is negative and how long the counts must be: as
// unsigned numbers, negative ones are above INT64_MAX.
static uint64_t largest_unsigned(const int64_t *items, int64_t n) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_fold_state state;
  uint64_t item;
  tl_fold_begin(&state);
  kernels->fold_feed[TL_FOLD_MAX][TL_UINT64](&state, items, (size_t)n);
  kernels->fold_end[TL_FOLD_MAX][TL_UINT64](&state, &item);
  return item;
}

// Weights have as many items as x, whatever its shape: they are read in
// row-major order. *out, which may be none, is to be dropped on failure, too.
static bool read_weights(tl_vm *vm, const char *function, tl_slot s,
                         const tl_array *x, tl_slot *out) {
  *out = tl_none();
  return tl_is_none(s) ||
         (tl_as_contiguous(vm, function, s, TL_FLOAT64, out) &&
          (out->array->size == x->size ||
           tl_fail(vm, TALLY_ERR_SHAPE, "%s: %lld weights for %lld items",
                   function, (long long)out->array->size, (long long)x->size)));
}

// Equal neighbours are allowed, as bins without a width. The comparison is
// written so that NaN fails, too.
static bool check_increasing(tl_vm *vm, const char *function, const char *name,
                             const double *edges, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    if (!tl_poll_at(vm, i))
      return false;
    if (!(edges[i - 1] <= edges[i]))
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "%s: %s must increase, but item %lld "
                     "is %g after %g",
                     function, name, (long long)i, edges[i], edges[i - 1]);
  }
  return true;
}

// Edges, and what is between them: sums of weights, or counts.
typedef struct binning {
  const double *edge;
  int64_t bins;
  bool even;  // the edges are as far apart as rounding allows
  tl_even_bins guess;
  void *sums;
} binning;

// Items whose bins are found before they are counted: 8 KiB of bins, on the
// stack and in the first cache.
enum { BIN_BLOCK = 1024 };

// Adds the items whose bins are known, each 1 or its weight. [all]: every item
// has a bin. Else some are TL_BIN_NONE, below 0; without weights these are
// squeezed out of [bin], which is overwritten, so that the kernel needs no
// test.
static void add_to_bins(const binning *b, int64_t *bin, bool all,
                        const double *weight, int64_t n) {
  const tl_kernel_table *kernels = tl_kernels();
  double *sums = b->sums;
  if (weight != NULL && all) {
    kernels->bincount_weighted(sums, bin, weight, (size_t)n);
  } else if (weight != NULL) {
    for (int64_t i = 0; i < n; i++)
      if (bin[i] >= 0)
        sums[bin[i]] += weight[i];
  } else {
    int64_t count = all ? n : 0;
    for (int64_t i = count; i < n; i++) {
      bin[count] = bin[i];
      count += bin[i] >= 0;
    }
    kernels->bincount(b->sums, bin, (size_t)count);
  }
}

// Adds each of n <= BIN_BLOCK items between the edges to its bin; the last bin
// has its upper edge.
static void count_sorted(const binning *b, const double *item,
                         const double *weight, int64_t n) {
  int64_t bin[BIN_BLOCK];
  tl_kernels()->search[TL_FLOAT64](bin, b->edge, (size_t)b->bins + 1, item,
                                   (size_t)n, true);
  for (int64_t i = 0; i < n; i++) {
    bin[i]--;
    if (item[i] == b->edge[b->bins])
      bin[i] = b->bins - 1;
    if (bin[i] >= b->bins)
      bin[i] = TL_BIN_NONE;
  }
  add_to_bins(b, bin, false, weight, n);
}

// The bin of an item that is within the edges: one is guessed from the
// distance, and corrected by its edges.
static int64_t bin_by_edges(const binning *b, double v) {
  const double *edge = b->edge;
  int64_t last = b->bins - 1;
  int64_t bin = (int64_t)((v - b->guess.low) * b->guess.scale);
  if (bin > last)
    bin = last;
  while (v < edge[bin]) bin--;
  while (bin < last && v >= edge[bin + 1]) bin++;
  return bin;
}

// The same for even edges, of which only what is next to an edge needs a look
// at them.
static void count_even(const binning *b, const double *item,
                       const double *weight, int64_t n) {
  int64_t bin[BIN_BLOCK];
  bool all = tl_kernels()->even_bins(bin, &b->guess, item, (size_t)n);
  for (int64_t i = 0; !all && i < n; i++)
    if (bin[i] == TL_BIN_UNSURE)
      bin[i] = bin_by_edges(b, item[i]);
  add_to_bins(b, bin, all, weight, n);
}

// What the arguments say of even bins; *ranged: of their ends too.
typedef struct even_bins {
  int64_t bins;
  bool ranged;
  double low, high;
} even_bins;

// Reads bins and range of histogram. Fails (kind value) for less than one bin;
// the ends are checked when edges are made of them.
static bool read_even_bins(tl_vm *vm, const tl_slot *args, even_bins *out) {
  *out = (even_bins){.high = 1};
  if (!tl_arg_count(vm, "histogram", "bins", args[1], &out->bins))
    return false;
  if (out->bins < 1 || out->bins == INT64_MAX)
    return tl_fail(vm, TALLY_ERR_VALUE, "histogram: bins must be 1 or more");
  out->ranged = !tl_is_none(args[2]);
  if (!out->ranged)
    return true;
  if (!tl_is_list(args[2]) || args[2].list->length != 2)
    return tl_arg_fail(vm, "histogram", "range", "two numbers", args[2]);
  return tl_arg_float(vm, "histogram", "range", args[2].list->items[0],
                      &out->low) &&
         tl_arg_float(vm, "histogram", "range", args[2].list->items[1],
                      &out->high);
}

// The bins + 1 edges of a range, as NumPy has them: a range of no width becomes
// one of width 1 around its value, and the last edge is [high] itself, whatever
// rounding makes of the sum. *out is owned.
static bool make_edges(tl_vm *vm, const even_bins *b, tl_slot *out) {
  double low = b->low, high = b->high;
  if (!(low <= high) || !isfinite(low) || !isfinite(high))
    return tl_fail(vm, TALLY_ERR_VALUE, "histogram: %g to %g is no range", low,
                   high);
  if (low == high)
    low -= 0.5, high += 0.5;
  int64_t bins = b->bins, count = bins + 1;
  tl_array *edges = tl_array_new(vm, TL_FLOAT64, 1, &count);
  if (!edges)
    return false;
  double *edge = (double *)edges->data;
  double step = (high - low) / (double)bins;
  // The width of the range overflows though its ends do not.
  if (!isfinite(step))
    step = high / (double)bins - low / (double)bins;
  for (int64_t i = 0; i < bins; i++) edge[i] = low + (double)i * step;
  edge[bins] = high;
  *out = tl_own_array(edges);
  return true;
}

// Widens the range to n items; returns the first that is not finite, or n.
static int64_t widen(even_bins *b, const double *item, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (!isfinite(item[i]))
      return i;
    if (item[i] < b->low)
      b->low = item[i];
    if (item[i] > b->high)
      b->high = item[i];
  }
  return n;
}

// Edges that are given, as float64; *out owns or borrows them.
static bool given_edges(tl_vm *vm, tl_slot bins, tl_slot *out) {
  if (!tl_as_contiguous(vm, "histogram", bins, TL_FLOAT64, out))
    return false;
  const tl_array *edges = out->array;
  if (tl_ndim(edges) != 1 || edges->size < 2)
    tl_fail(vm, TALLY_ERR_SHAPE,
            "histogram: the edges of the bins must be 2 "
            "or more along one axis");
  else if (check_increasing(vm, "histogram", "the edges",
                            (const double *)edges->data, edges->size))
    return true;
  tl_drop(vm, *out);
  return false;
}

// A list of two values, which move into it: on success neither slot owns
// anything, on failure what was moved is dropped with the list.
static bool pair(tl_vm *vm, tl_slot *first, tl_slot *second, tl_slot *out) {
  tl_list *list = tl_list_new(vm, 2);
  bool ok = list != NULL && tl_list_push(vm, &list, first) &&
            tl_list_push(vm, &list, second);
  return tl_list_give(vm, list, ok, out);
}

// A distance from the first edge is off by at most 5 halves of a unit in the
// last place, of all bins, and an edge by 3 and by one of its own size; the
// margin is twice that. Beyond half a bin no guess is sure.
static binning open_bins(const tl_array *edges, bool even, tl_array *sums) {
  const double *edge = (const double *)edges->data;
  int64_t bins = edges->size - 1;
  double low = edge[0], high = edge[bins], width = high - low;
  double scale = (double)bins / width;
  double size = fmax(fabs(low), fabs(high)) / width;
  double margin = 0x1p-49 * (double)bins * (1 + size);
  return (binning){.edge = edge,
                   .bins = bins,
                   .even = even && isfinite(width) && isfinite(scale),
                   .guess = {low, high, scale, width > 0x1p-900 ? margin : 1},
                   .sums = sums->data};
}

// Takes [sums]. The result of a histogram: the sums themselves, or as a density
// divided by their total and by the width of each bin, so that its integral is
// 1. Without any item a density is NaN, as in NumPy.
static bool end_bins(tl_vm *vm, tl_array *sums, const tl_array *edges,
                     bool density, tl_slot *out) {
  const double *edge = (const double *)edges->data;
  if (!density) {
    *out = tl_own_array(sums);
    return true;
  }
  if (!tl_cast_own(vm, sums, TL_FLOAT64, out))
    return false;
  double *sum = (double *)out->array->data, total = 0;
  int64_t bins = out->array->size;
  for (int64_t i = 0; i < bins; i++) total += sum[i];
  for (int64_t i = 0; i < bins; i++) sum[i] /= total * (edge[i + 1] - edge[i]);
  return true;
}

// --- Consumers --------------------------------------------------------------

// Items as a region computes them (vm/region/region_fold.c), or as a histogram
// reads them: first how large they are, where that is asked for, then to their
// bins.
typedef struct bin_consumer {
  even_bins even;
  // What each pass over the items finds:
  //
  //   pass      bincount             histogram(bins)      histogram(edges)
  //   0         largest item         lowest, highest      counts
  //   1         counts               counts               -
  //
  // A range that is given leaves out the first pass of a histogram, too.
  bool any;  // an item was seen
  bool density;
  uint64_t last;  // of bincount: the largest item
  // Of the items that come next, of an argument; NULL: each counts 1.
  const double *weight;
  tl_slot edges;
  tl_array *sums;
} bin_consumer;

_Static_assert(sizeof(bin_consumer) <= sizeof((tl_call_consumer *)0)->room,
               "a consumer has room for its bins");

static bin_consumer *bins_of(tl_call_consumer *in) {
  return (bin_consumer *)(void *)in->room;
}

// Also after a failure in the middle: what was given away by then is NULL or
// none.
static void close_bins(tl_call_consumer *in) {
  bin_consumer *b = bins_of(in);
  tl_drop(in->vm, b->edges);
  tl_array_drop(in->vm, b->sums);
}

// A negative item is above INT64_MAX when unsigned. It only sets [failed]: the
// message of the call names it.
static void take_integers(tl_call_consumer *in, int pass, const void *items,
                          size_t n) {
  const tl_kernel_table *kernels = tl_kernels();
  bin_consumer *b = bins_of(in);
  if (pass == 0) {
    uint64_t last = largest_unsigned(items, (int64_t)n);
    b->last = last > b->last ? last : b->last;
    b->any = b->any || n > 0;
    in->failed = b->last > INT64_MAX;
  } else if (b->weight == NULL) {
    kernels->bincount((int64_t *)(void *)b->sums->data, items, n);
  } else {
    kernels->bincount_weighted((double *)(void *)b->sums->data, items,
                               b->weight, n);
    b->weight += n;
  }
}

// Between the passes the counts are made, of the length that the first one
// found or of minlength, if that is more.
static bool end_integers(tl_call_consumer *in, int pass, tl_slot *out) {
  bin_consumer *b = bins_of(in);
  if (pass == 0) {
    int64_t length = b->last < INT64_MAX ? (int64_t)b->last + 1 : INT64_MAX;
    if (!b->any || length < b->even.bins)
      length = b->even.bins;
    b->sums =
        tl_array_zeros(in->vm, b->weight ? TL_FLOAT64 : TL_INT64, 1, &length);
    return b->sums != NULL;
  }
  *out = tl_own_array(b->sums);
  b->sums = NULL;
  return true;
}

// The last pass counts; the one before it, if there are two, widens the range.
// An item that is not finite only sets [failed], as a negative one does above.
static void take_floats(tl_call_consumer *in, int pass, const void *items,
                        size_t n) {
  bin_consumer *b = bins_of(in);
  const double *item = items;
  if (pass < in->passes - 1) {
    if (!b->any && n > 0)
      b->even.low = b->even.high = item[0];
    b->any = true;
    in->failed = in->failed || widen(&b->even, item, (int64_t)n) < (int64_t)n;
    return;
  }
  binning to = open_bins(b->edges.array, b->even.bins > 0, b->sums);
  for (size_t at = 0; at < n; at += BIN_BLOCK) {
    size_t count = n - at < BIN_BLOCK ? n - at : BIN_BLOCK;
    // Even bins are computed, others are searched for: the factor between them
    // is the length of the search.
    (to.even ? count_even : count_sorted)(&to, item + at, b->weight,
                                          (int64_t)count);
    if (b->weight != NULL)
      b->weight += count;
  }
}

// Edges of even bins exist only now: the range is known after the first pass,
// or was given.
static bool open_sums(tl_call_consumer *in) {
  bin_consumer *b = bins_of(in);
  if (b->even.bins > 0 && !make_edges(in->vm, &b->even, &b->edges))
    return false;
  int64_t bins = b->edges.array->size - 1;
  b->sums = tl_array_zeros(in->vm, b->weight ? TL_FLOAT64 : TL_INT64, 1, &bins);
  return b->sums != NULL;
}

// The edges come out of the consumer with the counts, of which pair() takes
// both.
static bool end_floats(tl_call_consumer *in, int pass, tl_slot *out) {
  bin_consumer *b = bins_of(in);
  if (pass < in->passes - 1)
    return open_sums(in);
  tl_slot counts;
  tl_array *sums = b->sums;
  b->sums = NULL;
  if (!end_bins(in->vm, sums, b->edges.array, b->density, &counts))
    return false;
  return tl_drop_after(in->vm, pair(in->vm, &counts, &b->edges, out), &counts);
}

// minlength is the least number of bins.
static bool open_integers(tl_call_consumer *in, const tl_slot *args) {
  in->dtype = TL_INT64;
  in->passes = 2;
  in->feed = take_integers;
  in->end = end_integers;
  return tl_arg_count(in->vm, "bincount", "minlength", args[2],
                      &bins_of(in)->even.bins);
}

// Edges that are given are checked here, once, and stay in the consumer; those
// of even bins follow from the range, which is given or takes a pass of its
// own.
static bool open_floats(tl_call_consumer *in, const tl_slot *args) {
  bin_consumer *b = bins_of(in);
  in->dtype = TL_FLOAT64;
  in->feed = take_floats;
  in->end = end_floats;
  if (!tl_arg_bool(in->vm, "histogram", "density", args[4], &b->density))
    return false;
  if (tl_is_array(args[1])) {
    tl_slot edges;
    in->passes = 1;
    if (!given_edges(in->vm, args[1], &edges))
      return false;
    b->edges = edges;
    return open_sums(in);
  }
  if (!read_even_bins(in->vm, args, &b->even))
    return false;
  in->passes = b->even.ranged ? 1 : 2;
  return in->passes == 2 || open_sums(in);
}

// A consumer of which nothing is known yet.
static tl_call_consumer *new_bins(tl_vm *vm, tl_call_consumer *in) {
  in->vm = vm;
  in->failed = false;
  in->close = close_bins;
  *bins_of(in) = (bin_consumer){.edges = tl_none()};
  return in;
}

static tl_builtin_fn bincount;

// Any function but bincount is histogram: the two rows of the table below that
// are TL_FUSED_CONSUMER. Weights are not fed to a region, and bincount is of
// one axis of integers.
bool tl_fused_consumer(tl_vm *vm, const tl_builtin *builtin, tl_dtype from,
                       int ndim, const tl_slot *args, tl_call_consumer *out) {
  new_bins(vm, out);
  if (builtin->call == bincount
          ? ndim == 1 && tl_dtype_is_integer(from) && tl_is_none(args[1]) &&
                open_integers(out, args)
          : tl_is_none(args[3]) && open_floats(out, args))
    return true;
  close_bins(out);
  return false;
}

// Feeds all items, which have 8 bytes, as often as there are passes, and polls
// in between. False where the VM was stopped, or the consumer failed.
static bool feed_passes(tl_call_consumer *in, const tl_array *x, tl_slot *out) {
  enum { ITEMS = 16 * BIN_BLOCK };
  for (int pass = 0; pass < in->passes; pass++) {
    for (int64_t at = 0; at < x->size; at += ITEMS) {
      int64_t n = x->size - at < ITEMS ? x->size - at : ITEMS;
      if (!tl_poll(in->vm, (uint64_t)n / BIN_BLOCK + 1))
        return false;
      in->feed(in, pass, x->data + at * (int64_t)sizeof(int64_t), (size_t)n);
      if (in->failed)
        return false;
    }
    if (!in->end(in, pass, out))
      return false;
  }
  return true;
}

// Calls by themselves: the consumer of a region, fed with all items.

// Fails (kind value) with the first item that set [failed].
static bool refuse_item(tl_vm *vm, const tl_array *x) {
  const int64_t *item = (const int64_t *)x->data;
  const double *real = (const double *)x->data;
  int64_t i = 0;
  if (tl_array_dtype(x) == TL_INT64) {
    while (item[i] >= 0) i++;
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "bincount: item %lld is %lld, but must not be negative",
                   (long long)i, (long long)item[i]);
  }
  while (isfinite(real[i])) i++;
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "histogram: item %lld of x is %g, so there is no range",
                 (long long)i, real[i]);
}

// Either function: what [open] makes of the arguments behind x, which is read
// as [dtype]; args[by] are the weights.
static bool count_items(tl_vm *vm, const char *function, tl_dtype dtype,
                        bool (*open)(tl_call_consumer *in, const tl_slot *args),
                        int by, tl_slot *args, tl_slot *out) {
  tl_call_consumer consumer, *in = new_bins(vm, &consumer);
  tl_slot x, weights;
  if (!tl_as_contiguous(vm, function, args[0], dtype, &x))
    return false;
  bool ok = read_weights(vm, function, args[by], x.array, &weights);
  if (ok && !tl_is_none(weights))
    bins_of(in)->weight = (const double *)weights.array->data;
  ok = ok && open(in, args) && feed_passes(in, x.array, out);
  if (in->failed)
    refuse_item(vm, x.array);
  close_bins(in);
  tl_drop(vm, weights);
  tl_drop(vm, x);
  return ok;
}

// bincount(x, weights, minlength).
static bool bincount(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_ndim(args[0].array) != 1 ||
      !tl_dtype_is_integer(tl_array_dtype(args[0].array)))
    return tl_arg_fail(vm, "bincount", "x", "integers along one axis", args[0]);
  return count_items(vm, "bincount", TL_INT64, open_integers, 1, args, out);
}

// histogram(x, bins, range, weights, density). An item that is not finite has
// no place in a range that it would give.
static bool histogram(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return count_items(vm, "histogram", TL_FLOAT64, open_floats, 3, args, out);
}

// The edges of [bins] in ascending order: of descending ones, a new array of
// them from their end. Takes [bins], and owns *out where that is new.
static bool ascending(tl_vm *vm, tl_slot bins, bool *transposed, tl_slot *out) {
  int64_t n = bins.array->size;
  const double *edge = (const double *)bins.array->data;
  *transposed = n > 1 && edge[0] > edge[n - 1];
  *out = bins;
  if (*transposed) {
    tl_array *back = tl_array_new(vm, TL_FLOAT64, 1, &n);
    for (int64_t i = 0; i < n && tl_array_polled(vm, &back, i); i++)
      ((double *)back->data)[i] = edge[n - 1 - i];
    tl_drop(vm, bins);
    if (!back)
      return false;
    *out = tl_own_array(back);
    edge = (const double *)back->data;
  }
  if (check_increasing(vm, "digitize", "bins", edge, n))
    return true;
  tl_drop(vm, *out);
  return false;
}

// In C: searchsorted and the check of the edges in Tally take 3 to 4 times as
// long for up to 16 items, and as long from 10^3 on; and rows, missing values
// and a dying operand are served here.
static bool digitize(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool transposed;
  tl_slot x, bins;
  tl_array *found = NULL;
  if (!tl_take_contiguous(vm, "digitize", &args[0], TL_FLOAT64, &x))
    return false;
  if (tl_as_contiguous(vm, "digitize", args[1], TL_FLOAT64, &bins) &&
      ascending(vm, bins, &transposed, &bins)) {
    int64_t edges = bins.array->size;
    found = tl_array_over(vm, &x, TL_INT64);
    if (found && !tl_search_sorted(vm, bins.array, x.array, args[2].i == 0,
                                   (int64_t *)found->data)) {
      tl_put_back(vm, &args[0], tl_own_array(found));
      found = NULL;
    }
    // From the other end, where the edges descend.
    for (int64_t i = 0; found && transposed && i < found->size; i++)
      ((int64_t *)found->data)[i] = edges - ((int64_t *)found->data)[i];
    tl_drop(vm, bins);
  }
  if (found != NULL) {
    tl_drop(vm, x);
    *out = tl_result(vm, found);
  } else if (tl_is_owned(x)) {
    tl_put_back(vm, &args[0], x);
  }
  return found != NULL;
}

// --- interp -----------------------------------------------------------------

// The points (xp, fp), m of them, at least one, and the values before and
// behind them. xp ascends, and neighbours may be equal.
typedef struct line {
  const double *xp, *fp;
  int64_t m;
  double left, right;
} line;

// Points at a time: their places stay in the cache.
enum { POINTS = 1024 };

// place[i] is how many of the xp are not above x[i]; there is room for one more
// than [count]. Points in order that lie close together are found by walking
// along, others by a search.
static void find_places(int64_t *place, const double *x, int64_t count,
                        const line *l) {
  tl_search *search = tl_kernels()->search[TL_FLOAT64];
  const double ends[2] = {x[0], x[count - 1]};
  bool ascends = true;
  for (int64_t i = 1; i < count; i++) ascends &= x[i - 1] <= x[i];
  if (ascends)
    search(place, l->xp, (size_t)l->m, ends, 2, true);
  if (!ascends || place[1] - place[0] > 8 * count) {
    search(place, l->xp, (size_t)l->m, x, (size_t)count, true);
    return;
  }
  int64_t k = place[0];
  for (int64_t i = 0; i < count; i++) {
    while (k < l->m && l->xp[k] <= x[i]) k++;
    place[i] = k;
  }
}

// A point that is equal to xp[k - 1] gets fp[k - 1] itself, so that an infinite
// neighbour cannot make it NaN. A NaN among the x stays. out may be x. False
// where the VM was stopped, with some of the values written.
static bool interpolate(tl_vm *vm, double *out, const double *x, int64_t n,
                        const line *l) {
  const double *xp = l->xp, *fp = l->fp;
  for (int64_t at = 0; at < n; at += POINTS) {
    int64_t place[POINTS + 1], count = n - at < POINTS ? n - at : POINTS;
    if (!tl_poll_over(vm))
      return false;
    find_places(place, x + at, count, l);
    for (int64_t i = 0; i < count; i++) {
      double at_x = x[at + i];
      int64_t k = place[i];  // xp[k - 1] <= x < xp[k]
      if (isnan(at_x))
        out[at + i] = at_x;
      else if (k == 0)
        out[at + i] = l->left;
      else if (xp[k - 1] == at_x)
        out[at + i] = fp[k - 1];
      else if (k == l->m)
        out[at + i] = l->right;
      else
        out[at + i] = fp[k - 1] + (fp[k] - fp[k - 1]) * ((at_x - xp[k - 1]) /
                                                         (xp[k] - xp[k - 1]));
    }
  }
  return true;
}

// *points may be dying: the result is then written over it, item by item, after
// each item was read. [ends] are the arguments left and right.
static bool interp_arrays(tl_vm *vm, tl_slot *points, const tl_array *xp,
                          const tl_array *fp, const tl_slot *ends,
                          tl_slot *out) {
  const tl_array *x = points->array;
  if (xp->size == 0 || xp->size != fp->size)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "interp: xp has %lld items and fp "
                   "%lld; they need as many, and one at least",
                   (long long)xp->size, (long long)fp->size);
  line l = {(const double *)xp->data, (const double *)fp->data, xp->size, 0, 0};
  l.left = tl_is_none(ends[0]) ? l.fp[0] : ends[0].f;
  l.right = tl_is_none(ends[1]) ? l.fp[l.m - 1] : ends[1].f;
  if (!check_increasing(vm, "interp", "xp", l.xp, l.m))
    return false;
  tl_array *a = tl_array_over(vm, points, TL_FLOAT64);
  if (!a)
    return false;
  if (interpolate(vm, (double *)a->data, (const double *)x->data, x->size,
                  &l)) {
    *out = tl_result(vm, a);
    return true;
  }
  if (a == x)
    *points = tl_own_array(a);  // it has the points' memory, for the caller
  else
    tl_array_drop(vm, a);
  return false;
}

// Only x is put back on failure: xp and fp are read and never written, so that
// dropping what they were taken as is enough.
static bool interp(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot a[3];
  int made = 0;
  while (made < 3 &&
         tl_take_contiguous(vm, "interp", &args[made], TL_FLOAT64, &a[made]))
    made++;
  bool ok = made == 3 &&
            interp_arrays(vm, &a[0], a[1].array, a[2].array, &args[3], out);
  while (made > 1) tl_drop(vm, a[--made]);
  if (ok)
    tl_drop(vm, a[0]);
  else if (made == 1 && tl_is_owned(a[0]))
    tl_put_back(vm, &args[0], a[0]);
  return ok;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_bins_builtins[] = {
    /// How often each of 0, 1, 2, … occurs in x, or the sum of its weights.
    /// A vector of integers from 0 on; gives int64, or float64 with weights. A
    /// negative item is an error (kind value).
    ///     bincount([0, 2, 2])    # [1, 0, 2]
    {"bincount", "x, weights: none, minlength: 0", bincount,
     .fused = TL_FUSED_CONSUMER, .types = "m"},
    /// Counts of the items in each bin, and the bins' edges, as a list of two
    /// arrays. bins is a number of even bins over range (the smallest and the
    /// largest item unless given), or an array of edges.
    /// Edges that do not ascend are an error (kind value).
    ///     histogram([1, 2, 2, 3], 2)[0]    # [1, 3]
    ///     counts, edges = histogram([1, 2, 2, 3], 2)
    ///     edges    # [1.0, 2.0, 3.0]
    {"histogram", "x, bins = 10, range: none, weights: none, density: false",
     histogram, .fused = TL_FUSED_CONSUMER},
    /// The bin in which each item lies: how many of the ascending edges are
    /// not above it (with right: below it), or how many of descending edges
    /// are above it (with right: not below it).
    /// Any real dtype; gives int64. Edges that do neither are an error (kind
    /// value).
    ///     digitize([0.5, 1.0, 9.0], [1.0, 2.0])    # [0, 1, 2]
    {"digitize", "x, bins, right: false", digitize, TL_STOPS,
     .restores = TL_ARRAYS, .lifts = TL_OF_ITEMS, .types = "xxb"},
    /// The values at x of the line through the points (xp, fp), where xp
    /// increases; before and behind them, the first and last fp, or the numbers
    /// left and right.
    /// Floats. Lengths of xp and fp that differ are an error (kind shape). Gives
    /// float64.
    ///     interp([0.5, 1.5], [0, 1, 2], [0, 10, 0])    # [5.0, 5.0]
    ///     interp([-1, 3], [0, 1], [2, 4], right: nan)    # [2.0, nan]
    {"interp", "x, xp, fp, left: none, right: none", interp,
     .restores = TL_ARRAYS, .lifts = TL_OF_ITEMS, .types = "xxxFF"},
    {.name = NULL},
};
