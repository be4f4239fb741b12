// Running plans: the loops over axes, rows and blocks.
#include "vm/host.h"
#include "vm/engine/plan_delay.h"
#include "vm/poll.h"

// A run whose streams are all used in place takes blocks of this many bytes.
// A poll comes after POLL_ITEMS items, so that its cost is spread over many.
enum { DIRECT_BYTES = 256 * 1024, POLL_ITEMS = 64 * 1024, LINE_BYTES = 64 };
// One of so few does not even ask for threads.
enum { SHORT_BYTES = 8 * 1024 };

// A function of its own, so that other steps do not need its stack.
__attribute__((noinline)) static void call_host(const tl_plan_step *step,
                                                const tl_plan_value *values,
                                                char *out, size_t n) {
  const void *inputs[TALLY_MAX_LOOP_INPUTS];
  ptrdiff_t steps[TALLY_MAX_LOOP_INPUTS];
  for (int i = 0; i < step->host->param_count; i++) {
    const tl_plan_value *v = &values[step->in[i]];
    inputs[i] = v->at;
    steps[i] = v->single && !v->splat ? 0 : v->itemsize;
  }
  step->host->loop(step->host->context, n, inputs, steps, out);
}

// Inlined, since there are as many calls as steps times blocks: for short
// blocks a call more each would show.
static inline __attribute__((always_inline)) void call_step(
    const tl_plan_step *step, tl_plan_value *values, size_t n) {
  char *out = values[step->out].at;
  if (step->single)
    n = 1;
  switch (step->arity) {
    case 0:
      call_host(step, values, out, n);
      break;
    case 1:
      step->k1(out, values[step->in[0]].at, n);
      break;
    case 2:
      step->k2(out, values[step->in[0]].at, values[step->in[1]].at, n);
      break;
    case 3:
      step->k3(out, values[step->in[0]].at, values[step->in[1]].at,
               values[step->in[2]].at, n);
      break;
    default:
      step->piece->run(values, n, step->piece);
      break;
  }
}

// The steps from one number to another, for [n] items of a block. Values point
// at the items of the block by now; see load_streams.
static void run_steps(tl_plan *plan, int from, int to, size_t n) {
  for (int i = from; i < to; i++) call_step(&plan->steps[i], plan->values, n);
}

// The next items of a value for each row.
static void spread_rows(tl_plan_stream_state *stream, tl_plan_value *value,
                        size_t n) {
  tl_spread *spread = tl_kernels()->spread[tl_move_size(value->itemsize)];
  stream->row += (int64_t)spread(
      value->at, stream->base + stream->row * stream->step, stream->step,
      stream->offsets + stream->row, stream->at, n);
  stream->at += (int64_t)n;
}

// Sets the begin of a run at item [at].
static void find_row(tl_plan_stream_state *stream, int64_t at) {
  int64_t low = 0, high = stream->row_count;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (stream->offsets[middle] <= at)
      low = middle;
    else
      high = middle;
  }
  stream->row = low;
  stream->at = at;
}

// Points each stream's value at [nrows] rows of [ncols] items from [column]
// on, moving those that are no plain run into their registers.
static inline __attribute__((always_inline)) void load_streams(tl_plan *plan,
                                                               int64_t column,
                                                               size_t nrows,
                                                               size_t ncols) {
  int inner = plan->ndim - 1;
  for (int i = 0; i < plan->moving_count; i++) {
    int s = plan->moving[i];
    tl_plan_stream_state *stream = &plan->streams[s];
    tl_plan_value *value = &plan->values[s];
    int64_t step = stream->strides[inner];
    char *from = stream->data + column * step;
    if (stream->offsets != NULL) {
      spread_rows(stream, value, ncols);
    } else if (!stream->packed) {
      value->at = from;
    } else if (s != plan->output) {
      const unsigned size = tl_move_size(value->itemsize);
      if (nrows == 1)
        tl_kernels()->pack[size](value->at, from, step, ncols);
      else
        tl_kernels()->pack_tile[size](
            value->at, (ptrdiff_t)(ncols * value->itemsize), from,
            stream->strides[inner - 1], step, nrows, ncols);
    }
  }
}

// The pointers are gathered for each block, since values move with it.
static void feed_consumer(const tl_plan *plan, size_t n) {
  const void *items[TL_PLAN_RESULTS];
  for (int i = 0; i < plan->result_count; i++)
    items[i] = plan->values[plan->results[i]].at;
  plan->consume(plan->context, items, n);
}

// A block of rows or a part of one: streams in, steps, results out. Columns
// count in items from the row's first one. The output is stored last, so that a
// plan may read what it writes over in the same block.
static void run_block(tl_plan *plan, int64_t column, size_t nrows,
                      size_t ncols) {
  load_streams(plan, column, nrows, ncols);
  if (plan->output < 0) {
    run_steps(plan, plan->once_count, plan->step_count, nrows * ncols);
    if (plan->consume != NULL)
      feed_consumer(plan, nrows * ncols);
    return;
  }
  const tl_plan_stream_state *output = &plan->streams[plan->output];
  tl_plan_value *value = &plan->values[plan->output];
  char *to = output->data + column * output->strides[plan->ndim - 1];
  if (plan->delay != NULL)
    value->at = tl_delay_begin(plan, plan->delay, to);
  run_steps(plan, plan->once_count, plan->step_count, nrows * ncols);
  if (plan->delay != NULL) {
    tl_delay_end(plan, plan->delay, to, nrows, ncols);
  } else if (output->packed) {
    tl_plan_store(plan, to, value->at, nrows, ncols);
  }
}

// Room for some rows of the streams that are read by tiles. Rows a power of two
// apart would share a few places of the nearest cache.
enum { TILE_ROW = TL_BLOCK_BYTES + LINE_BYTES };
typedef char tile[TL_TILE_ROWS][TILE_ROW];

// One thread's run of a plan, which nobody else writes. Without [may_stop] the
// work was paid for, and vm may be NULL: then nothing is asked of it.
typedef struct runner {
  tl_vm *vm;
  tl_plan *plan;
  tile *tiles;       // TL_PLAN_TILES of them
  int64_t block;     // items
  int64_t unpolled;  // items since the last poll
  int64_t most;      // of them: fewer where each takes many steps
  int64_t done;      // items, for who asks how far it is
  bool may_stop;
  // What has_plain_rows says, asked once the block's size is known.
  bool plain_rows;
} runner;

// Counts work in items and polls once for r->most, in units of 1024; false:
// stop.
static bool poll(runner *r, int64_t items) {
  r->unpolled += items;
  if (r->unpolled < r->most)
    return true;
  if (!r->may_stop) {
    r->unpolled = 0;
    // The work was paid for by the caller: only the end of the run stops it.
    return r->vm == NULL || tl_poll_over(r->vm);
  }
  const int64_t work = r->unpolled / 1024;
  r->done += work * 1024;
  r->unpolled -= work * 1024;
  return tl_poll_part(r->vm, (uint64_t)work, r->done, r->plan->size);
}

// The items of a row's first block: fewer where that puts the later ones at the
// start of a cache line of the output, since writes across two lines are slow.
// What waits is written later, and to a place that counts on whole blocks.
static int64_t first_block(const runner *r) {
  const tl_plan *plan = r->plan;
  if (plan->output < 0 || plan->streams[plan->output].packed ||
      plan->delay != NULL)
    return r->block;
  uintptr_t past = (uintptr_t)plan->streams[plan->output].data % LINE_BYTES;
  int64_t itemsize = plan->values[plan->output].itemsize;
  if (past == 0 || r->block * itemsize <= SHORT_BYTES) {
    const int64_t fewer = (int64_t)past / itemsize;
    return fewer < r->block ? r->block - fewer : r->block;
  }
  // Of a large block not the whole one should lie across lines.
  return plan->shape[plan->ndim - 1] * itemsize < SHORT_BYTES
             ? r->block
             : (int64_t)(2 * LINE_BYTES - past) / itemsize;
}

// Moves every stream by [count] positions of an axis, which may be negative:
// walks come back to where they started, so that the axis outside can go on.
static void advance(tl_plan *plan, int axis, int64_t count) {
  for (int s = 0; s < plan->stream_count; s++)
    plan->streams[s].data += plan->streams[s].strides[axis] * count;
}

// Whether every row is one block of streams in place, but for results that
// wait.
static bool has_plain_rows(const runner *r) {
  const tl_plan *plan = r->plan;
  return plan->plain && !plan->packs && plan->ndim > 1 && plan->rows == 1 &&
         plan->tile_count == 0 && plan->shape[plan->ndim - 1] <= r->block;
}

// Streams in place, in parts of [most] positions of an axis, the first of
// [first]: rows one after the other, or parts of one. All that is to be done
// for each is to say where it is.
static bool run_plain(runner *r, int axis, int64_t first, int64_t most) {
  tl_plan *plan = r->plan;
  tl_plan_value *values = plan->values;
  int count = 0;
  tl_plan_value *moving[TL_PLAN_STREAMS];
  int64_t steps[TL_PLAN_STREAMS], step = 0;
  const int64_t row = axis < plan->ndim - 1 ? plan->shape[axis + 1] : 1;
  char *to = NULL;
  for (int i = 0; i < plan->moving_count; i++) {
    const tl_plan_stream_state *stream = &plan->streams[plan->moving[i]];
    // The output's items go to a slot of the ring; what moves on is its place.
    if (plan->delay != NULL && plan->moving[i] == plan->output) {
      to = stream->data;
      step = stream->strides[axis];
      continue;
    }
    moving[count] = &values[plan->moving[i]];
    moving[count]->at = stream->data;
    steps[count++] = stream->strides[axis];
  }
  for (int64_t left = plan->shape[axis], n = first;; n = most) {
    if (left < n)
      n = left;
    const size_t items = (size_t)(n * row);
    if (plan->delay != NULL)
      values[plan->output].at = tl_delay_begin(plan, plan->delay, to);
    run_steps(plan, plan->once_count, plan->step_count, items);
    if (plan->delay != NULL) {
      tl_delay_end(plan, plan->delay, to, 1, items);
      to += n * step;
    } else if (plan->consume != NULL) {
      feed_consumer(plan, items);
    }
    if (!poll(r, (int64_t)items))
      return false;
    left -= n;
    if (left == 0)
      return true;
    for (int i = 0; i < count; i++) moving[i]->at += n * steps[i];
  }
}

// One row in parts.
static bool run_row(runner *r) {
  const int inner = r->plan->ndim - 1;
  int64_t length = r->plan->shape[inner], n = first_block(r);
  if (r->plan->plain && !r->plan->packs && length > n)
    return run_plain(r, inner, n, r->block);
  for (int64_t at = 0; at < length; at += n, n = r->block) {
    if (length - at < n)
      n = length - at;
    run_block(r->plan, at, 1, (size_t)n);
    if (!poll(r, n))
      return false;
  }
  return true;
}

// Several short rows at a time.
static bool run_rows(runner *r) {
  tl_plan *plan = r->plan;
  int axis = plan->ndim - 2;
  int64_t length = plan->shape[plan->ndim - 1], count = plan->shape[axis];
  int64_t step = r->block / length;
  if (step < 1)
    step = 1;
  for (int64_t at = 0; at < count; at += step) {
    int64_t n = count - at < step ? count - at : step;
    run_block(plan, 0, (size_t)n, (size_t)length);
    advance(plan, axis, n);
    if (!poll(r, n * length))
      return false;
  }
  advance(plan, axis, -count);
  return true;
}

// A tile has rows of the result as rows, whatever the stream's own order is:
// item (r, c) of it is column + c of row r.
static void load_tiles(runner *r, int64_t column, size_t nrows, size_t ncols) {
  tl_plan *plan = r->plan;
  int inner = plan->ndim - 1;
  for (int s = 0; s < plan->stream_count; s++) {
    const tl_plan_stream_state *stream = &plan->streams[s];
    if (stream->tile < 0)
      continue;
    unsigned size = tl_move_size(plan->values[s].itemsize);
    tl_kernels()->pack_tile[size](
        r->tiles[stream->tile], TILE_ROW,
        stream->data + column * stream->strides[inner],
        stream->strides[inner - 1], stream->strides[inner], nrows, ncols);
  }
}

// Row [row] of each tile is what the next block reads.
static void point_at_tiles(runner *r, int64_t row) {
  tl_plan *plan = r->plan;
  for (int s = 0; s < plan->stream_count; s++) {
    int index = plan->streams[s].tile;
    if (index >= 0)
      plan->values[s].at = r->tiles[index][row];
  }
}

// Some rows at a time, where a stream is transposed.
static bool run_tiles(runner *r) {
  tl_plan *plan = r->plan;
  int axis = plan->ndim - 2;
  int64_t length = plan->shape[plan->ndim - 1], count = plan->shape[axis];
  for (int64_t row = 0; row < count; row += TL_TILE_ROWS) {
    int64_t rows = count - row < TL_TILE_ROWS ? count - row : TL_TILE_ROWS;
    for (int64_t at = 0; at < length; at += r->block) {
      int64_t n = length - at < r->block ? length - at : r->block;
      load_tiles(r, at, (size_t)rows, (size_t)n);
      for (int64_t k = 0; k < rows; k++) {
        point_at_tiles(r, k);
        run_block(plan, at, 1, (size_t)n);
        advance(plan, axis, 1);
      }
      // Back to the tile's first row, for the next block of columns.
      advance(plan, axis, -rows);
      if (!poll(r, rows * n))
        return false;
    }
    advance(plan, axis, rows);
  }
  advance(plan, axis, -count);
  return true;
}

// The innermost one or two axes, by the loop for their layout; streams stand at
// their first items before and after it.
static bool run_inner(runner *r) {
  if (r->plain_rows)
    return run_plain(r, r->plan->ndim - 2, 1, 1);
  if (r->plan->tile_count > 0)
    return run_tiles(r);
  return r->plan->rows > 1 ? run_rows(r) : run_row(r);
}

// All index positions of the axes before [axes], in row-major order.
static bool run_outer(runner *r, int axes) {
  tl_plan *plan = r->plan;
  int64_t index[TL_MAX_DIMS];
  for (int i = 0; i < axes; i++) index[i] = 0;
  for (;;) {
    if (!run_inner(r))
      return false;
    int axis = axes - 1;
    // As a counter carries: an axis at its end goes back to its first position.
    while (axis >= 0 && ++index[axis] == plan->shape[axis]) {
      advance(plan, axis, 1 - plan->shape[axis]);
      index[axis--] = 0;
    }
    if (axis < 0)
      return true;
    advance(plan, axis, 1);
  }
}

// A function of its own, so that other runs do not need the stack of tiles.
__attribute__((noinline)) static bool run_tiled(runner *r, int axes) {
  _Alignas(64) tile tiles[TL_PLAN_TILES];
  r->tiles = tiles;
  return run_outer(r, axes);
}

typedef char registers[TL_PLAN_REGISTERS + 1][TL_BLOCK_BYTES];

// Few registers may be larger, together up to about half of what the nearest
// cache has: what would be some blocks is one, which saves more than streams
// that come from the next cache cost.
static int64_t short_register(const tl_plan *plan) {
  enum { MOST = 3 * SHORT_BYTES };
  int64_t count = plan->register_count;
  if (count * SHORT_BYTES <= MOST)
    return SHORT_BYTES;
  return count * TL_BLOCK_BYTES < MOST ? MOST / count & ~(int64_t)63
                                       : TL_BLOCK_BYTES;
}

// The items that a consumer takes together.
static int64_t unit_of(const tl_plan *plan) {
  return plan->consume != NULL && plan->split != NULL ? plan->split->items : 1;
}

// Bytes of a register. Of short rows, which are moved through registers or go
// to a consumer, as many go together as there is room for; and of one result
// where there is one register, beside which the items of streams stay in cache.
static int64_t register_bytes(const tl_plan *plan) {
  int64_t most = short_register(plan), item = (int64_t)plan->widest;
  if (plan->rows == 1 && plan->delay == NULL && plan->tile_count == 0 &&
      unit_of(plan) > 1 &&
      ((plan->split->exactly && plan->register_count == 1) ||
       unit_of(plan) <= most / item))
    return most;
  if (plan->rows == 1 || plan->delay != NULL)
    return TL_BLOCK_BYTES;
  int64_t items = plan->shape[plan->ndim - 2] * plan->shape[plan->ndim - 1];
  return items <= TL_BLOCK_BYTES / item ? TL_BLOCK_BYTES : most;
}

// Units [from, to) of the first axis; vm NULL: on a worker, which polls
// nothing.
static bool run_units(tl_vm *vm, tl_plan *plan, int64_t from, int64_t to,
                      bool may_stop) {
  _Alignas(64) registers room;
  const int64_t nbytes = register_bytes(plan);
  // Where no value has a register nothing bounds a block but the time from one
  // poll to the next.
  bool direct = plan->tile_count == 0 && plan->delay == NULL && !plan->multi;
  for (int i = 0; i < plan->value_count; i++) {
    tl_plan_value *value = &plan->values[i];
    if (value->where < 0)
      continue;
    value->at = (char *)room + value->where * nbytes;
    direct = false;
  }
  for (int s = 0; s < plan->stream_count; s++) {
    tl_plan_stream_state *stream = &plan->streams[s];
    stream->data = stream->base + from * stream->strides[0];
    if (stream->offsets != NULL)
      find_row(stream, from);
    if (plan->values[s].constant)
      plan->values[s].at = stream->base;
  }
  runner r = {.vm = vm, .plan = plan, .may_stop = may_stop};
  r.most = POLL_ITEMS / (1 + plan->step_count / 8);
  r.block = (direct ? DIRECT_BYTES : nbytes) / (int64_t)plan->widest;
  // Constants are repeated over no more than a register.
  run_steps(plan, 0, plan->once_count, (size_t)nbytes / plan->widest);
  r.plain_rows = has_plain_rows(&r);
  bool pairs = plan->rows > 1 || plan->tile_count > 0 || r.plain_rows;
  if (!pairs)
    r.block = tl_plan_row_block(plan, r.block);
  // Whole units, so that a consumer of rows finds each of them in one block.
  if (!pairs && unit_of(plan) <= r.block)
    r.block -= r.block % unit_of(plan);
  // Loops walk the first axis to its end, which is the part's end meanwhile.
  int64_t units = plan->shape[0];
  plan->shape[0] = to - from;
  r.done = plan->size / units * from;
  int axes = plan->ndim - (pairs ? 2 : 1);
  bool ok = plan->tile_count > 0 ? run_tiled(&r, axes) : run_outer(&r, axes);
  plan->shape[0] = units;
  return ok && (!may_stop || tl_poll_items(vm, r.unpolled));
}

// --- Short runs --------------------------------------------------------------

// One block of one axis: what is left is to say where the streams are.
bool tl_plan_is_short(const tl_plan *plan) {
  int64_t most = short_register(plan) / (int64_t)plan->widest;
  return plan->ndim == 1 && plan->plain && plan->size <= most &&
         plan->size <= tl_plan_row_block(plan, most);
}

// The whole run as one block: what run_units decides for many blocks is known
// here, and the VM, threads and polls are not needed. Constants' steps run with
// the others, over n items instead of a register.
void tl_plan_run_short(tl_plan *plan) {
  _Alignas(64) registers room;
  char *first = room[0];
  int64_t nbytes = short_register(plan);
  tl_plan_value *values = plan->values;
  int streams = plan->stream_count;
  for (int s = 0; s < streams; s++) {
    char *base = plan->streams[s].base;
    plan->streams[s].data = base;
    values[s].at =
        values[s].where >= 0 ? first + values[s].where * nbytes : base;
  }
  for (int i = streams; i < plan->value_count; i++)
    if (values[i].where >= 0)
      values[i].at = first + values[i].where * nbytes;
  size_t n = (size_t)plan->size;
  if (plan->packs)
    load_streams(plan, 0, 1, n);
  run_steps(plan, 0, plan->step_count, n);
  // Without a consumer there is an output (tl_plan_finish).
  if (plan->consume != NULL) {
    feed_consumer(plan, n);
  } else if (plan->packs && plan->streams[plan->output].packed) {
    tl_plan_store(plan, plan->streams[plan->output].base,
                  values[plan->output].at, 1, n);
  }
}

void tl_plan_run_placed(tl_plan *plan) {
  const tl_plan_step *s = plan->steps;
  if (plan->step_count == 1 && s->arity == TL_PLAN_PIECE)
    s->piece->run(plan->values, (size_t)plan->size, s->piece);
  else
    run_steps(plan, 0, plan->step_count, (size_t)plan->size);
}

// --- Threads ----------------------------------------------------------------

enum {
  SPREAD_ITEMS = 32 * 1024,  // below, one thread does it all
  PART_ITEMS = 16 * 1024,
  PARTS = 16,
};

// A run in parts of some units of the first axis.
// Shared by all parts and not written: each has a plan of its own.
typedef struct spread {
  const tl_plan *plan;
  int64_t units;  // of a part
  int64_t items;  // of a unit
} spread;

// Part 0 has been run by the caller, hence part + 1. Each part has a copy of
// the plan, since a run moves its streams.
static void run_part(void *context, int64_t part) {
  const spread *s = context;
  tl_plan plan;
  tl_plan_room room;  // large: not cleared
  tl_plan_copy(&plan, &room, s->plan);
  _Alignas(64) char local[(TL_PLAN_RESULTS + 1) * TL_CONSUMER_BYTES];
  int64_t from = (part + 1) * s->units, to = from + s->units;
  if (to > plan.shape[0])
    to = plan.shape[0];
  if (plan.consume != NULL)
    plan.context = plan.split->begin(plan.context, from * s->items, local);
  run_units(NULL, &plan, from, to, false);
}

// The greatest common divisor (Euclid), for parts that are multiples of both
// units and blocks.
static int64_t common(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// The units of a part; 0: the run cannot be cut.
// A part is whole blocks and a multiple of what the consumer takes together. If
// it has to be exactly that, no units of another size make one.
static int64_t part_units(const tl_plan *plan, int64_t items, bool eager) {
  int64_t units = plan->shape[0], step = 1;
  if (plan->consume != NULL) {
    if (plan->split == NULL)
      return 0;
    // The fewest units whose items are a multiple of the consumer's.
    step = plan->split->items / common(plan->split->items, items);
    if (plan->split->exactly)
      return step * items == plan->split->items && step < units ? step : 0;
  }
  int64_t least = (eager ? 256 : PART_ITEMS) / items + 1;
  int64_t part = units / PARTS > least ? units / PARTS : least;
  if (plan->ndim == 1)  // whole blocks
    part = (part + TL_BLOCK_BYTES - 1) / TL_BLOCK_BYTES * TL_BLOCK_BYTES;
  part = (part + step - 1) / step * step;
  return part < units ? part : 0;
}

// The units of a part of a run by several threads; 0: it is one thread's.
static int64_t units_to_spread(tl_vm *vm, const tl_plan *plan) {
  return (plan->size >= SPREAD_ITEMS || vm->pool.eager) &&
                 tl_pool_threads(vm) > 1
             ? part_units(plan, plan->size / plan->shape[0], vm->pool.eager)
             : 0;
}

// What waits goes in order: on this thread alone, unless it is known what is
// read where the result goes.
static bool run_delayed(tl_vm *vm, tl_plan *plan) {
  int64_t part = plan->delay->over != NULL && !plan->is_hosts
                     ? units_to_spread(vm, plan)
                     : 0;
  if (!tl_delay_open(vm, plan, plan->delay))
    return false;
  const bool ok = part > 0 ? tl_delay_spread(vm, plan, part, run_units)
                           : run_units(vm, plan, 0, plan->shape[0], false);
  tl_delay_close(vm, plan, plan->delay);
  return ok;
}

// A loop of the host's has no business in the VM, and is in one thread.
static bool run_hosts(tl_vm *vm, tl_plan *plan, bool may_stop) {
  tl_access before = vm->access;
  vm->access = TL_ACCESS_NONE;
  bool ok = plan->delay != NULL
                ? run_delayed(vm, plan)
                : run_units(vm, plan, 0, plan->shape[0], may_stop);
  vm->access = before;
  return ok;
}

// The order of the checks is that of their cost: nothing, the cases with one
// thread, one block, several threads. Time and not size decides on threads,
// since a step may take one cycle an item or a hundred.
bool tl_plan_run(tl_vm *vm, tl_plan *plan, bool may_stop) {
  if (plan->size == 0)
    return true;
  if (plan->is_hosts)
    return run_hosts(vm, plan, may_stop);
  if (plan->delay != NULL)
    return run_delayed(vm, plan);
  if (tl_plan_is_short(plan)) {
    tl_plan_run_short(plan);
    return true;
  }
  int64_t units = plan->shape[0], items = plan->size / units;
  int64_t part = units_to_spread(vm, plan);
  if (part == 0)
    return run_units(vm, plan, 0, units, may_stop);
  // The first part tells how long the others will take.
  double start = tl_clock();
  if (!run_units(vm, plan, 0, part, may_stop))
    return false;
  double each = tl_clock() - start;
  if (!tl_pool_pays(vm, each * (double)(units - part) / (double)part))
    return run_units(vm, plan, part, units, may_stop);
  spread s = {plan, part, items};
  int64_t parts = (units - 1) / part;
  return tl_pool_run(vm, parts, run_part, &s,
                     may_stop ? TL_STOPS_PAID : TL_STOPS_UNSEEN,
                     (uint64_t)(part * items) / 1024);
}
