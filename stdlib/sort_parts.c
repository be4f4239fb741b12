// Sorting in parts: each is sorted by one thread, then neighbours are merged,
// and all threads share a merge. Equal keys have equal bits, and positions of
// equal keys keep their order, so that the result is the same for any parts.
#include "stdlib/sort_parts.h"

#include "vm/kernels/sort.h"
#include "vm/poll.h"

// Steps of a sort with four parts; each | is work of one thread:
//
//   to keys      | | | | | | | |      pieces of all items
//   sort         |   |   |   |        parts
//   merge        |       |            pairs of parts, each in pieces
//   merge        |                    the two halves, in pieces
//   from keys    | | | | | | | |
//
// PIECES is above 1 so that a thread that is done early finds more work.
enum {
  PARTS_MOST = 16,
  PIECES = 4,       // of a pass over all items, for each part
  LEAST = 1 << 17,  // items that are worth it
  LEAST_EAGER = 1 << 8,
  NS_AN_ITEM = 10,
  SAMPLE = 256,
};

typedef struct parts {
  tl_vm *vm;
  tl_dtype dtype;
  bool descending;
  size_t itemsize;
  char *items;
  int64_t *order;  // of argsort
  // Of argsort, while merging: the keys in the order of the positions, and
  // where they go; NULL: they are not needed any more.
  uint64_t *keys, *to_keys;
  int64_t n;
  int count;
  char *scratch;
  size_t scratch_each;
  tl_stop stop;
  pthread_t owner;
  atomic_bool stopped;
  // A round of merging.
  const char *from;
  char *to;
  int run;  // parts in a run
} parts;

// A power of two, so that parts merge in pairs to the end; no more than
// threads.
static int part_count(tl_vm *vm) {
  int threads = tl_pool_threads(vm), count = 1;
  while (count * 2 <= threads && count < PARTS_MOST) count *= 2;
  return count;
}

// Whether keys take more than two passes of a radix sort, as far as some of
// them tell: with fewer, one thread has sorted before others have merged.
static bool is_wide(tl_dtype dtype, const char *items, int64_t n) {
  uint64_t keys[SAMPLE];
  size_t itemsize = tl_itemsize(dtype);
  _Alignas(64) char sample[SAMPLE * sizeof(uint64_t)];
  tl_kernels()->pack[tl_move_size(itemsize)](
      sample, items, (ptrdiff_t)((size_t)(n / SAMPLE) * itemsize), SAMPLE);
  tl_sort_keys(dtype, keys, sample, SAMPLE, false, true, NULL);
  return tl_keys_span(keys, SAMPLE, NULL).bits > 2 * TL_DIGIT_BITS;
}

// It pays only for many items whose keys are wide: NS_AN_ITEM estimates what
// one thread takes. Items of one or two bytes are sorted by counting.
bool tl_sorts_in_parts(tl_vm *vm, tl_dtype dtype, const void *items,
                       int64_t n) {
  bool fits = dtype < TL_COMPLEX64 && tl_itemsize(dtype) >= 4;
  return fits && n >= (vm->pool.eager ? LEAST_EAGER : LEAST) &&
         n <= UINT32_MAX && part_count(vm) > 1 &&
         tl_pool_pays(vm, (double)n * NS_AN_ITEM * 1e-9) &&
         (vm->pool.eager || is_wide(dtype, items, n));
}

// The thread that called polls; the others see what it found.
static bool asks(void *context) {
  parts *p = context;
  if (pthread_equal(pthread_self(), p->owner) && !atomic_load(&p->stopped) &&
      p->stop.ask(p->stop.context))
    atomic_store(&p->stopped, true);
  return atomic_load(&p->stopped);
}

// Item number of a boundary between [count] equal parts.
static int64_t boundary(const parts *p, int64_t i, int64_t count) {
  return p->n / count * i + p->n % count * i / count;
}

// Runs a step on [chunks] pieces of all items; false where it was stopped.
static bool run(parts *p, int64_t chunks, tl_pool_work *work) {
  uint64_t cost = (uint64_t)(p->n / chunks) / 1024;
  return tl_pool_run(p->vm, chunks, work, p, TL_STOPS_PAID, cost) &&
         !atomic_load(&p->stopped);
}

typedef struct piece {
  int64_t begin, length;
  tl_stop stop;  // of this piece, which asks for all of them
} piece;

// Piece i of [count]: as equal as whole items allow.
static piece piece_at(parts *p, int64_t i, int64_t count) {
  int64_t begin = boundary(p, i, count);
  return (piece){begin, boundary(p, i + 1, count) - begin, {asks, p, false}};
}

// --- One step each, in pieces between which it may be stopped ----------------

// Items become keys in their own memory, inverted where the order descends, so
// that all later steps sort words upward.
static void to_keys(void *context, int64_t i) {
  parts *p = context;
  piece at = piece_at(p, i, (int64_t)p->count * PIECES);
  tl_sort_to_keys(p->dtype, p->items + (size_t)at.begin * p->itemsize,
                  (size_t)at.length, p->descending, &at.stop);
}

// Keys become items again, from wherever the last round left them.
static void from_keys(void *context, int64_t i) {
  parts *p = context;
  piece at = piece_at(p, i, (int64_t)p->count * PIECES);
  size_t offset = (size_t)at.begin * p->itemsize;
  tl_sort_from_keys(p->dtype, p->items + offset, p->from + offset,
                    (size_t)at.length, p->descending, &at.stop);
}

// Sorts the keys of a part with scratch memory of its own.
static void sort_part(void *context, int64_t i) {
  parts *p = context;
  piece at = piece_at(p, i, p->count);
  tl_sort(p->itemsize == 4 ? TL_UINT32 : TL_UINT64,
          p->items + (size_t)at.begin * p->itemsize, (size_t)at.length, false,
          p->scratch + (size_t)i * p->scratch_each, &at.stop);
}

// The order of a part's items, as positions among all.
static void order_part(void *context, int64_t i) {
  parts *p = context;
  piece at = piece_at(p, i, p->count);
  int64_t *order = p->order + at.begin;
  size_t n = (size_t)at.length;
  tl_argsort(p->dtype, order, p->items + (size_t)at.begin * p->itemsize, n,
             p->descending, p->scratch + (size_t)i * p->scratch_each, &at.stop);
  for (size_t k = 0, end; tl_piece(&at.stop, k, n, &end);)
    for (; k < end; k++) order[k] += at.begin;
}

// Keys in the order of the positions: merging then reads them in a row, where
// items would be read at random.
static void make_keys(void *context, int64_t i) {
  enum { FEW = 1024 };
  _Alignas(64) char items[FEW * sizeof(uint64_t)];
  parts *p = context;
  piece at = piece_at(p, i, (int64_t)p->count * PIECES);
  const int64_t *order = p->order + at.begin;
  uint64_t *keys = p->keys + at.begin;
  tl_gather *take = tl_kernels()->take[tl_move_size(p->itemsize)];
  for (size_t k = 0, end; tl_piece(&at.stop, k, (size_t)at.length, &end);) {
    for (size_t n; k < end; k += n) {
      n = end - k < FEW ? end - k : FEW;
      take(items, p->items, (ptrdiff_t)p->itemsize, order + k, n);
      tl_sort_keys(p->dtype, keys + k, items, n, p->descending, true, NULL);
    }
  }
}

// What stands at [from, to) of two merged runs, which begin at an item and have
// n items, m of them the first run's.
static void merge_some(parts *p, int64_t begin, size_t m, size_t n, size_t from,
                       size_t to) {
  size_t offset = (size_t)begin * (p->order ? sizeof(int64_t) : p->itemsize);
  if (p->order)
    tl_merge_places((int64_t *)(void *)(p->to + offset),
                    (const int64_t *)(const void *)(p->from + offset),
                    p->to_keys == NULL ? NULL : p->to_keys + begin,
                    p->keys + begin, m, n, from, to);
  else
    tl_merge_keys(p->itemsize, p->to + offset, p->from + offset, m, n, from,
                  to);
}

// Two runs are merged in as many pieces as their parts have.
static void merge_piece(void *context, int64_t i) {
  parts *p = context;
  tl_stop stop = {asks, p, false};
  // Round with runs of one part, four parts, PIECES 4:
  //
  //   i   0 … 7       the pieces of parts 0 and 1
  //       8 … 15      those of parts 2 and 3
  int64_t pieces = (int64_t)p->run * 2 * PIECES, pair = i / pieces;
  int64_t first = pair * 2 * p->run;
  int64_t begin = boundary(p, first, p->count);
  size_t m = (size_t)(boundary(p, first + p->run, p->count) - begin);
  size_t n = (size_t)(boundary(p, first + 2 * p->run, p->count) - begin);
  size_t k = (size_t)(i % pieces), count = (size_t)pieces;
  size_t from = n / count * k + n % count * k / count;
  size_t to = n / count * (k + 1) + n % count * (k + 1) / count;
  for (size_t end; tl_piece(&stop, from, to, &end); from = end)
    merge_some(p, begin, m, n, from, end);
}

// Copies the result to where it belongs, after an odd number of rounds.
static void copy_order(void *context, int64_t i) {
  parts *p = context;
  piece at = piece_at(p, i, (int64_t)p->count * PIECES);
  int64_t *to = p->order + at.begin;
  const int64_t *from = (const int64_t *)(const void *)p->from + at.begin;
  for (size_t k = 0, end; tl_piece(&at.stop, k, (size_t)at.length, &end);
       k = end)
    memcpy(to + k, from + k, (end - k) * sizeof *to);
}

// Merges the sorted parts; p->from is where they are, and then the result.
static bool merge_all(parts *p, char *from, char *to) {
  p->from = from;
  p->to = to;
  for (p->run = 1; p->run < p->count; p->run *= 2) {
    // Both pairs of arrays change places after each round.
    uint64_t *other = p->keys;
    // The last round: no other will need keys.
    if (p->run * 2 == p->count)
      p->to_keys = NULL;
    if (!run(p, (int64_t)p->count * PIECES, merge_piece))
      return false;
    char *merged = p->to;
    p->to = p->to == to ? from : to;
    p->from = merged;
    p->keys = p->to_keys;
    p->to_keys = other;
  }
  return true;
}

// --- The whole --------------------------------------------------------------

// Memory for the parts' sorts, and for [merging] bytes after them.
static bool open_parts(parts *p, size_t each, size_t merging, size_t *nbytes,
                       const char *what) {
  p->count = part_count(p->vm);
  p->itemsize = tl_itemsize(p->dtype);
  p->scratch_each = tl_align_64(each);
  *nbytes = p->scratch_each * (size_t)p->count;
  if (*nbytes < merging)
    *nbytes = merging;
  p->stop = tl_stop_of(p->vm);
  p->owner = pthread_self();
  atomic_init(&p->stopped, false);
  p->scratch = tl_alloc(p->vm, *nbytes, what);
  return p->scratch != NULL;
}

// At least the items of the longest part.
static size_t longest_part(tl_vm *vm, int64_t n) {
  return (size_t)n / (size_t)part_count(vm) + 1;
}

// Two arrays are merged to and fro, the items' own and the scratch memory.
bool tl_sort_parts(tl_vm *vm, tl_dtype dtype, void *items, int64_t n,
                   bool descending) {
  parts p = {.vm = vm,
             .dtype = dtype,
             .descending = descending,
             .items = items,
             .n = n};
  size_t nbytes, itemsize = tl_itemsize(dtype);
  size_t each = tl_sort_scratch(itemsize == 4 ? TL_UINT32 : TL_UINT64,
                                longest_part(vm, n));
  if (!open_parts(&p, each, (size_t)n * itemsize, &nbytes, "sort"))
    return false;
  int64_t pieces = (int64_t)p.count * PIECES;
  bool ok = run(&p, pieces, to_keys) && run(&p, p.count, sort_part) &&
            merge_all(&p, items, p.scratch) && run(&p, pieces, from_keys);
  tl_free(vm, p.scratch, nbytes);
  return ok;
}

// The scratch memory, n words each:
//
//   while sorting   scratch of the parts
//   while merging   keys | positions | keys of the next round
//
// The last is not needed for two parts, which have one round.
bool tl_argsort_parts(tl_vm *vm, tl_dtype dtype, int64_t *out,
                      const void *items, int64_t n, bool descending) {
  parts p = {.vm = vm,
             .dtype = dtype,
             .descending = descending,
             .items = (char *)(uintptr_t)items,
             .order = out,
             .n = n};
  size_t nbytes, words = tl_align_64((size_t)n * sizeof(uint64_t));
  size_t each = tl_argsort_scratch(dtype, longest_part(vm, n), false);
  // Keys are merged, too, but in the last round.
  size_t merging = (part_count(vm) > 2 ? 3 : 2) * words;
  if (!open_parts(&p, each, merging, &nbytes, "argsort"))
    return false;
  p.keys = (uint64_t *)(void *)p.scratch;
  p.to_keys = (uint64_t *)(void *)(p.scratch + 2 * words);
  int64_t pieces = (int64_t)p.count * PIECES;
  bool ok = run(&p, p.count, order_part) && run(&p, pieces, make_keys) &&
            merge_all(&p, (char *)out, p.scratch + words) &&
            (p.from == (char *)out || run(&p, pieces, copy_order));
  tl_free(vm, p.scratch, nbytes);
  return ok;
}
