// Delayed results: see plan_delay.h. A block that waits is copied as a whole, so
// what is here runs once for each block.
//
// Built for size.
#include "vm/engine/plan_delay.h"

#include "vm/poll.h"

enum { DELAY_BYTES = 1024 * 1024 };  // at most that wait

// Whether items in row-major order have rising addresses, no two the same: each
// axis steps over all that the axes inside it cover. A block that waits is then
// below all later ones.
static bool is_rising(const tl_plan *plan) {
  const int64_t *strides = plan->streams[plan->output].strides;
  int64_t end = plan->values[plan->output].itemsize;
  for (int i = plan->ndim - 1; i >= 0; i--) {
    if (strides[i] < end)
      return false;
    end += (plan->shape[i] - 1) * strides[i];
  }
  return true;
}

// The ring has the blocks that lie within [behind] bytes and three more: the
// one that is computed, the one that [behind] ends in, and one for a block that
// is cut off at a row's end; and no more than there are. Where nothing is read
// behind its place, each block finds the one before it done.
bool tl_delay_fits(const tl_plan *plan, tl_plan_delay *delay, int64_t behind) {
  if (plan->size == 0 || plan->tile_count > 0 || !is_rising(plan))
    return false;
  const int64_t *strides = plan->streams[plan->output].strides;
  int inner = plan->ndim - 1;
  int64_t length = plan->shape[inner];
  int64_t block = TL_BLOCK_BYTES / (int64_t)plan->widest;
  if (plan->rows == 1)
    block = tl_plan_row_block(plan, block);
  int64_t blocks = (length + block - 1) / block;  // of a row
  int64_t most = plan->ndim == 1 ? behind / (block * strides[inner]) + 3
                                 : blocks * (behind / strides[inner - 1] + 3);
  int64_t all = plan->size / length * blocks;
  if (plan->rows > 1) {  // several of them in a block
    int64_t rows = plan->shape[inner - 1], each = block / length;
    each = each < 1 ? 1 : each;
    all = all / rows * ((rows + each - 1) / each);
  }
  delay->behind = behind;
  delay->over = NULL;
  delay->capacity = behind == 0 ? 1 : most < all ? most : all;
  return delay->capacity <= DELAY_BYTES / TL_BLOCK_BYTES;
}

// One allocation: the slots, aligned to a cache line, and what waits in each
// behind them. A result of less than a block needs no more than itself.
bool tl_delay_open(tl_vm *vm, const tl_plan *plan, tl_plan_delay *delay) {
  size_t count = (size_t)delay->capacity, slots = count * TL_BLOCK_BYTES;
  size_t all = (size_t)plan->size * plan->widest;
  slots = count == 1 && all < slots ? (all + 63) / 64 * 64 : slots;
  delay->nbytes = slots + count * sizeof *delay->waiting + 64;
  delay->block = tl_alloc(vm, delay->nbytes, "results that wait");
  if (delay->block == NULL)
    return false;
  delay->slots = (char *)(((uintptr_t)delay->block + 63) / 64 * 64);
  delay->waiting = (tl_waiting *)(void *)(delay->slots + slots);
  delay->first = delay->count = 0;
  return true;
}

// A plain run is copied, anything else is scattered item by item.
void tl_plan_store(const tl_plan *plan, char *to, const char *from,
                   size_t nrows, size_t ncols) {
  const int64_t *strides = plan->streams[plan->output].strides;
  size_t itemsize = plan->values[plan->output].itemsize;
  int inner = plan->ndim - 1;
  unsigned size = tl_move_size(itemsize);
  for (size_t row = 0; row < nrows; row++) {
    if (strides[inner] == (int64_t)itemsize) {
      memcpy(to, from, ncols * itemsize);
    } else {
      tl_kernels()->unpack[size](to, strides[inner], from, ncols);
    }
    if (row + 1 == nrows)
      break;
    to += strides[inner - 1];
    from += ncols * itemsize;
  }
}

// First in, first out: blocks were computed in order of address, so the oldest
// is the lowest.
void tl_delay_store(const tl_plan *plan, tl_plan_delay *delay) {
  const tl_waiting *w = &delay->waiting[delay->first];
  tl_plan_store(plan, w->to, delay->slots + delay->first * TL_BLOCK_BYTES,
                w->nrows, w->ncols);
  delay->first = delay->first + 1 == delay->capacity ? 0 : delay->first + 1;
  delay->count--;
}

// What is left has no reader any more, since all blocks have been computed.
static void store_all(const tl_plan *plan) {
  while (plan->delay->count > 0) tl_delay_store(plan, plan->delay);
}

void tl_delay_close(tl_vm *vm, const tl_plan *plan, tl_plan_delay *delay) {
  store_all(plan);
  tl_free(vm, delay->block, delay->nbytes);
}

// --- By several threads ------------------------------------------------------

// Parts of a result that run at once. Each writes what the parts in front of it
// may still have to read: so much of its beginning, its head, goes elsewhere,
// and to its place when all of them are done.
//
//     x[2:] - x[:-2], in parts of 4
//     part 0   reads 0 … 5    writes 0 … 3
//     part 1   reads 4 … 9    writes 4 … 7, of which 4 and 5 are its head
//
// Of x[::2] heads are whole parts: only as many parts run at once as have small
// ones, which are more and more.
typedef struct wave {
  const tl_plan *plan;
  tl_plan_units *run;
  int64_t from;  // the first unit
  int64_t part, count;
  char *heads;
} wave;

enum { HEADS_PART = 128 };  // of the result, at most

static int64_t unit_bytes(const tl_plan *plan) {
  return plan->streams[plan->output].strides[0];
}

// The first unit of part [i], and the end of the last one.
static int64_t part_begin(const wave *w, int64_t i) {
  int64_t at = w->from + i * w->part;
  return at < w->plan->shape[0] ? at : w->plan->shape[0];
}

// Whether the stream is read where the result goes, but not item on item.
static bool reads_elsewhere(const tl_plan *plan, int s) {
  const tl_plan_stream_state *in = &plan->streams[s];
  const tl_plan_stream_state *out = &plan->streams[plan->output];
  const char *over = plan->delay->over;
  return s != plan->output && in->base >= over &&
         in->base < over + plan->delay->over_nbytes &&
         (in->base != out->base ||
          memcmp(in->strides, out->strides,
                 (size_t)plan->ndim * sizeof *in->strides) != 0);
}

// The first byte that unit [unit] and later ones read elsewhere.
static const char *reads_from(const tl_plan *plan, int64_t unit) {
  const char *first = plan->delay->over + plan->delay->over_nbytes;
  for (int s = 0; s < plan->stream_count; s++) {
    const tl_plan_stream_state *in = &plan->streams[s];
    if (reads_elsewhere(plan, s) && in->base + unit * in->strides[0] < first)
      first = in->base + unit * in->strides[0];
  }
  return first;
}

// The end of what units before [unit] read elsewhere.
static const char *reads_until(const tl_plan *plan, int64_t unit) {
  const char *last = plan->delay->over;
  for (int s = 0; s < plan->stream_count; s++) {
    const tl_plan_stream_state *in = &plan->streams[s];
    if (!reads_elsewhere(plan, s))
      continue;
    const char *end = in->base + (unit - 1) * in->strides[0];
    for (int i = 1; i < plan->ndim; i++)
      end += (plan->shape[i] - 1) * in->strides[i];
    end += plan->values[s].itemsize;
    last = end > last ? end : last;
  }
  return last;
}

// The units of the head of part [i].
static int64_t head_units(const wave *w, int64_t i) {
  const tl_plan *plan = w->plan;
  int64_t begin = part_begin(w, i), end = part_begin(w, i + 1);
  int64_t bytes = unit_bytes(plan);
  const char *out = plan->streams[plan->output].base;
  if (i == 0 || out + end * bytes <= reads_from(plan, w->from))
    return 0;
  int64_t over = reads_until(plan, begin) - (out + begin * bytes);
  int64_t units = over <= 0 ? 0 : (over + bytes - 1) / bytes;
  return units < end - begin ? units : end - begin;
}

// Where the head of part [i] lies: behind those of the parts before it.
static char *head_place(const wave *w, int64_t i) {
  int64_t before = 0;
  for (int64_t k = 0; k < i; k++) before += head_units(w, k);
  return w->heads + before * unit_bytes(w->plan);
}

// Units of this thread's copy of the plan, all of them stored.
static bool run_stored(tl_vm *vm, tl_plan_units *run, tl_plan *plan,
                       int64_t from, int64_t to) {
  bool ok = from == to || run(vm, plan, from, to, false);
  store_all(plan);
  return ok;
}

// The head goes to where its units would be if the result began there.
static void run_part(void *context, int64_t i) {
  const wave *w = context;
  tl_plan plan;
  tl_plan_room room;  // large: not cleared
  _Alignas(64) char slot[TL_BLOCK_BYTES];
  tl_waiting waiting;
  tl_plan_delay delay = {.slots = slot, .waiting = &waiting, .capacity = 1};
  tl_plan_copy(&plan, &room, w->plan);
  plan.delay = &delay;
  char **base = &plan.streams[plan.output].base, *real = *base;
  int64_t begin = part_begin(w, i), head = head_units(w, i);
  uintptr_t skipped = (uintptr_t)(begin * unit_bytes(&plan));
  if (head > 0)
    *base = (char *)((uintptr_t)head_place(w, i) - skipped);
  run_stored(NULL, w->run, &plan, begin, begin + head);
  *base = real;
  run_stored(NULL, w->run, &plan, begin + head, part_begin(w, i + 1));
}

// As many parts as have heads that are together small.
static void find_wave(wave *w, size_t most) {
  int64_t units = 0;
  for (w->count = 1; part_begin(w, w->count) < w->plan->shape[0]; w->count++) {
    units += head_units(w, w->count);
    if ((size_t)(units * unit_bytes(w->plan)) > most)
      return;
  }
}

static bool run_wave(tl_vm *vm, tl_plan *plan, wave *w) {
  if (w->count == 1)
    return run_stored(vm, w->run, plan, w->from, part_begin(w, 1));
  int64_t items = plan->size / plan->shape[0] * w->part;
  if (!tl_pool_run(vm, w->count, run_part, w, TL_STOPS_UNSEEN,
                   (uint64_t)items / 1024))
    return false;
  for (int64_t i = 1; i < w->count; i++)
    memcpy(
        plan->streams[plan->output].base + part_begin(w, i) * unit_bytes(plan),
        head_place(w, i), (size_t)(head_units(w, i) * unit_bytes(plan)));
  return true;
}

// The first part tells how long the others will take. Without memory for heads
// one thread does all.
bool tl_delay_spread(tl_vm *vm, tl_plan *plan, int64_t part,
                     tl_plan_units *run) {
  int64_t units = plan->shape[0];
  size_t most = (size_t)(units * unit_bytes(plan)) / HEADS_PART;
  wave w = {.plan = plan, .run = run, .from = part, .part = part};
  double start = tl_clock();
  if (!run_stored(vm, run, plan, 0, part))
    return false;
  double each = tl_clock() - start;
  most = most < DELAY_BYTES ? most : DELAY_BYTES;
  if (tl_pool_pays(vm, each * (double)(units - part) / (double)part))
    w.heads = tl_alloc_quiet(vm, most);
  if (w.heads == NULL)
    return run_stored(vm, run, plan, part, units);
  bool ok = true;
  for (; ok && w.from < units; w.from = part_begin(&w, w.count)) {
    find_wave(&w, most);
    ok = run_wave(vm, plan, &w);
  }
  tl_free(vm, w.heads, most);
  return ok;
}
