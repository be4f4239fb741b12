// Reductions on several threads: parts of one long lane, whole lanes, or
// columns. The results have the bits of one thread: parts of a lane are whole
// subtrees of the tree that folds it.
#include "vm/poll.h"
#include "vm/reduce_internal.h"
#include "vm/vm.h"

enum {
  SPREAD_ITEMS = 64 * 1024,  // below, one thread does it all
  PART_ITEMS = 16 * 1024,
  PARTS = 16,
};

typedef struct spread {
  tl_reducer *r;
  tl_fold fold;
  int64_t part;  // items, results or columns
  tl_fold_state *states;
  char *scratch;
  size_t scratch_size;
} spread;

typedef struct feeder {
  tl_fold_feed *feed;
  tl_fold_state *state;
} feeder;

static void feed_piece(void *context, const void *items, size_t n) {
  const feeder *f = context;
  f->feed(f->state, items, n);
}

// No VM: workers do not poll.
static void fold_lane(const spread *s, const char *base, const int64_t *shape,
                      tl_fold_state *state) {
  const tl_split *split = &s->r->split;
  tl_lane lane = {base,       split->reduced, shape, split->reduced_strides,
                  s->r->from, s->r->dtype};
  feeder f = {tl_kernels()->fold_feed[s->fold][s->r->dtype], state};
  int64_t unpolled = 0;
  tl_fold_begin(state);
  tl_lane_walk(NULL, &lane, &unpolled, feed_piece, &f);
}

static int64_t part_length(const spread *s, int64_t part, int64_t all) {
  int64_t left = all - part * s->part;
  return left < s->part ? left : s->part;
}

static bool no_memory_is_no_matter(tl_vm *vm) {
  tl_error_clear(vm);
  return true;
}

// --- One lane in parts ------------------------------------------------------

static void fold_part(void *context, int64_t part) {
  const spread *s = context;
  const tl_split *split = &s->r->split;
  int64_t length = part_length(s, part, split->length);
  fold_lane(s, split->array->data + part * s->part * split->reduced_strides[0],
            &length, &s->states[part]);
}

static bool spread_lane(spread *s, bool *done) {
  tl_vm *vm = s->r->vm;
  int64_t length = s->r->split.length;
  s->part = vm->pool.eager ? TL_FOLD_LEAF : PART_ITEMS;
  while (s->part * PARTS < length) s->part *= 2;
  int64_t parts = (length + s->part - 1) / s->part;
  tl_fold_state states[PARTS];  // large: not cleared
  s->states = states;
  bool ok = tl_pool_spread(vm, parts, fold_part, s, (uint64_t)s->part / 1024);
  const tl_kernel_table *kernels = tl_kernels();
  for (int64_t i = 1; ok && i < parts; i++) {
    kernels->fold_merge[s->fold][s->r->dtype](&s->states[0], &s->states[i]);
  }
  if (ok)
    kernels->fold_end[s->fold][s->r->dtype](&s->states[0], s->r->out);
  *done = true;
  return ok;
}

// --- Many lanes -------------------------------------------------------------

static void fold_lanes(void *context, int64_t part) {
  const spread *s = context;
  const tl_split *split = &s->r->split;
  size_t itemsize = tl_itemsize(tl_fold_result(s->fold, s->r->dtype));
  tl_fold_end *end = tl_kernels()->fold_end[s->fold][s->r->dtype];
  int64_t from = part * s->part, n = part_length(s, part, split->count);
  tl_sum_rows *short_rows = tl_reduce_short_rows(s->r, s->fold);
  if (short_rows != NULL) {
    size_t row = (size_t)split->length * itemsize;
    short_rows(s->r->out + (size_t)from * itemsize,
               split->array->data + (size_t)from * row, (size_t)n,
               (size_t)split->length);
    return;
  }
  tl_fold_state state;  // large: not cleared
  for (int64_t i = from; i < from + n; i++) {
    fold_lane(s, split->array->data + i * split->kept_strides[0],
              split->reduced_shape, &state);
    end(&state, s->r->out + (size_t)i * itemsize);
  }
}

static bool spread_lanes(spread *s, bool *done) {
  const tl_split *split = &s->r->split;
  s->part = (split->count + PARTS - 1) / PARTS;
  int64_t parts = (split->count + s->part - 1) / s->part;
  *done = true;
  return tl_pool_spread(s->r->vm, parts, fold_lanes, s,
                        (uint64_t)(s->part * split->length) / 1024);
}

// --- Columns ----------------------------------------------------------------

static void fold_columns(void *context, int64_t part) {
  const spread *s = context;
  const tl_reducer *r = s->r;
  const tl_split *split = &r->split;
  int64_t from = part * s->part;
  int64_t n = part_length(s, part, split->kept_shape[0]);
  char *scratch = s->scratch + (size_t)part * s->scratch_size;
  tl_kernels()->fold_outer[s->fold][r->dtype](
      r->out + (size_t)from * tl_itemsize(r->result),
      split->array->data + (size_t)from * tl_itemsize(r->from),
      split->reduced_strides[0], (size_t)split->length, (size_t)n, scratch);
}

static bool spread_columns(spread *s, bool *done) {
  tl_reducer *r = s->r;
  enum { LEAST = 256, STEP = 64 };  // columns
  int64_t ncols = r->split.kept_shape[0];
  s->part = ((ncols + PARTS - 1) / PARTS + STEP - 1) / STEP * STEP;
  if (s->part < LEAST && !r->vm->pool.eager)
    s->part = LEAST;
  int64_t parts = (ncols + s->part - 1) / s->part;
  size_t size = tl_fold_outer_scratch(s->fold, r->dtype,
                                      (size_t)r->split.length, (size_t)s->part);
  s->scratch_size = (size + 63) / 64 * 64;
  size_t nbytes = s->scratch_size * (size_t)parts + 64;
  char *block = tl_alloc(r->vm, nbytes, "partial sums");
  if (block == NULL)
    return no_memory_is_no_matter(r->vm);
  s->scratch = block + (64 - (uintptr_t)block % 64) % 64;
  bool ok = tl_pool_spread(r->vm, parts, fold_columns, s,
                           (uint64_t)(s->part * r->split.length) / 1024);
  tl_free(r->vm, block, nbytes);
  *done = true;
  return ok;
}

// --- The whole --------------------------------------------------------------

bool tl_reduce_spread(tl_reducer *r, tl_fold fold, bool columns, bool *done) {
  const tl_split *split = &r->split;
  spread s = {.r = r, .fold = fold};
  *done = false;
  if ((split->count * split->length < SPREAD_ITEMS && !r->vm->pool.eager) ||
      split->length == 0 || split->count == 0 || tl_pool_threads(r->vm) < 2) {
    return true;
  }
  if (columns) {
    bool direct = split->reduced == 1 && split->kept == 1 &&
                  r->from == r->dtype &&
                  split->kept_strides[0] == (int64_t)tl_itemsize(r->from);
    return !direct || spread_columns(&s, done);
  }
  if (split->kept == 0 && split->reduced == 1)
    return spread_lane(&s, done);
  return split->kept != 1 || spread_lanes(&s, done);
}
