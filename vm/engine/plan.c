// Building plans: see plan.h; running them is in plan_run.c.
//
// Built for size.
#include "vm/engine/plan.h"

#include "vm/host.h"

// The room is several kilobytes and is not cleared: all that later steps read
// of a stream or value is set where it is added.
void tl_plan_open(tl_plan *plan, tl_plan_room *room, int ndim,
                  const int64_t *shape) {
  plan->room = room;
  plan->streams = room->streams;
  plan->values = room->values;
  plan->steps = room->steps;
  plan->ndim = ndim;
  plan->size = 1;
  for (int i = 0; i < ndim; i++) {
    plan->shape[i] = shape[i];
    plan->size *= shape[i];
  }
  plan->stream_count = plan->value_count = plan->step_count = 0;
  plan->register_count = plan->once_count = plan->moving_count = 0;
  plan->free_registers = 0;
  plan->tile_count = 0;
  plan->output = -1;
  plan->result_count = 0;
  plan->consume = NULL;
  plan->split = NULL;
  plan->delay = NULL;
  plan->rows = 1;
  plan->widest = 1;
  plan->failed = false;
  plan->plain = true;
  plan->packs = false;
  plan->multi = false;
  plan->is_hosts = false;
}

// After too many values the number of the first one is given, so that callers
// need no check of their own before plan->failed is looked at.
static int new_value(tl_plan *plan, size_t itemsize) {
  if (plan->value_count >= TL_PLAN_VALUES) {
    plan->failed = true;
    return 0;
  }
  if (itemsize > plan->widest)
    plan->widest = itemsize;
  plan->values[plan->value_count] =
      (tl_plan_value){.where = -1, .itemsize = (uint8_t)itemsize};
  return plan->value_count++;
}

// The number of the stream is that of its value, since no steps exist yet.
int tl_plan_stream(tl_plan *plan, const void *data, size_t itemsize,
                   const int64_t *strides) {
  if (plan->stream_count >= TL_PLAN_STREAMS) {
    plan->failed = true;
    return 0;
  }
  tl_plan_stream_state *stream = &plan->streams[plan->stream_count];
  stream->strides = plan->room->strides[plan->stream_count++];
  stream->base = (char *)data;
  stream->offsets = NULL;
  stream->packed = false;
  stream->tile = -1;
  for (int i = 0; i < plan->ndim; i++)
    stream->strides[i] = strides == NULL ? 0 : strides[i];
  return new_value(plan, itemsize);
}

// Strides are NULL, so that merging of axes does not see it; where a row begins
// is found as the run goes (spread_rows).
int tl_plan_rows(tl_plan *plan, const void *data, size_t itemsize, int64_t step,
                 const int64_t *offsets, int64_t row_count) {
  int value = tl_plan_stream(plan, data, itemsize, NULL);
  tl_plan_stream_state *stream = &plan->streams[value];
  stream->offsets = offsets;
  stream->row_count = row_count;
  stream->step = step;
  return value;
}

// Axes of length 1 are walked by nobody, and would stand between axes that can
// be merged.
static void drop_short_axes(tl_plan *plan) {
  int kept = 0;
  for (int i = 0; i < plan->ndim; i++) {
    plan->axis_of[i] = -1;
    if (plan->shape[i] == 1)
      continue;
    plan->axis_of[i] = (int8_t)kept;
    plan->shape[kept] = plan->shape[i];
    for (int s = 0; s < plan->stream_count; s++)
      plan->streams[s].strides[kept] = plan->streams[s].strides[i];
    kept++;
  }
  plan->ndim = kept;
}

// An axis is exchanged in the shape and in the strides of all streams at once.
static void swap_axes(tl_plan *plan, int i, int j) {
  int64_t length = plan->shape[i];
  plan->shape[i] = plan->shape[j];
  plan->shape[j] = length;
  for (int s = 0; s < plan->stream_count; s++) {
    int64_t *strides = plan->streams[s].strides;
    int64_t stride = strides[i];
    strides[i] = strides[j];
    strides[j] = stride;
  }
}

// The output's largest strides outside, so that it is written in order.
static void order_axes(tl_plan *plan, int opened) {
  const int64_t *out = plan->streams[plan->output].strides;
  for (int i = 1; i < plan->ndim; i++) {
    // By insertion: axes are few, and those with equal strides stay in order.
    for (int j = i; j > 0 && tl_distance(out[j]) > tl_distance(out[j - 1]);
         j--) {
      swap_axes(plan, j, j - 1);
      for (int k = 0; k < opened; k++) {
        int axis = plan->axis_of[k];
        plan->axis_of[k] = (int8_t)(axis == j       ? j - 1
                                    : axis == j - 1 ? j
                                                    : axis);
      }
    }
  }
}

// Two axes are one where, for every stream, a step of the outer one is as far
// as all steps of the inner one. Broadcast axes have 0 on both sides and merge
// too.
static bool can_merge(const tl_plan *plan, int outer, int inner) {
  for (int s = 0; s < plan->stream_count; s++) {
    const int64_t *strides = plan->streams[s].strides;
    if (strides[outer] != strides[inner] * plan->shape[inner])
      return false;
  }
  return true;
}

// From outside in, so that a run of axes ends as one; the strides are those of
// the innermost of them.
static void merge_axes(tl_plan *plan, int opened) {
  int last = 0;
  for (int i = 1; i < plan->ndim; i++) {
    if (can_merge(plan, last, i)) {
      plan->shape[last] *= plan->shape[i];
    } else {
      plan->shape[++last] = plan->shape[i];
    }
    for (int k = 0; k < opened; k++)
      if (plan->axis_of[k] == i)
        plan->axis_of[k] = (int8_t)last;
    for (int s = 0; s < plan->stream_count; s++)
      plan->streams[s].strides[last] = plan->streams[s].strides[i];
  }
  plan->ndim = last + 1;
}

// Whether several rows go through a block: those of few items, unless that
// copies so many streams, which one by one are used in place, that it is
// slower.
enum { SHORT_ROW = 64 };
// [least] are bytes of the shortest row of streams without gaps, by how many of
// these would be copied, where one that has an item for a row, which would be
// repeated, counts as two; measured, as the time of a kernel's call against
// that of the copies.
static bool has_short_rows(const tl_plan *plan) {
  static const int16_t least[] = {512, 512, 320, 256, 160};  // bytes
  int inner = plan->ndim - 1, copied = 0;
  if (plan->ndim < 2 || plan->shape[inner] >= SHORT_ROW)
    return false;
  int64_t nbytes = INT64_MAX;
  for (int s = 0; s < plan->stream_count; s++) {
    const int64_t *strides = plan->streams[s].strides;
    // One item for a row is repeated for each of its items; one for all rows
    // stays where it is.
    if (strides[inner] == 0) {
      copied += strides[inner - 1] != 0 ? 2 : 0;
      continue;
    }
    if (strides[inner] != plan->values[s].itemsize)
      return true;  // it is copied row by row as well
    int64_t row = strides[inner] * plan->shape[inner];
    copied += strides[inner - 1] != row;
    if (row < nbytes)
      nbytes = row;
  }
  return nbytes < least[copied < 4 ? copied : 4];
}

// Whether the items of a block lie one after the other: within a row, and,
// where rows share a block, from each row to the next.
static bool is_unit(const tl_plan *plan, int s) {
  const int64_t *strides = plan->streams[s].strides;
  int inner = plan->ndim - 1;
  if (strides[inner] != plan->values[s].itemsize)
    return false;
  return plan->rows == 1 ||
         strides[inner - 1] == strides[inner] * plan->shape[inner];
}

// Whether the stream has one item for the whole run: no axis moves it.
static bool is_constant(const tl_plan *plan, int s) {
  for (int i = 0; i < plan->ndim; i++)
    if (plan->streams[s].strides[i] != 0)
      return false;
  return true;
}

// An input whose neighbours lie along the rows: read by tiles of some rows, so
// that whole cache lines are used.
static bool is_transposed(const tl_plan *plan, int s) {
  int inner = plan->ndim - 1;
  if (plan->rows > 1 || inner < 1 || plan->output < 0 || s == plan->output)
    return false;
  const int64_t *strides = plan->streams[s].strides;
  return strides[inner - 1] != 0 &&
         tl_distance(strides[inner - 1]) < tl_distance(strides[inner]);
}

// Beyond the limit the first one is given again: the plan has failed by then.
static int new_register(tl_plan *plan) {
  if (plan->register_count >= TL_PLAN_REGISTERS) {
    plan->failed = true;
    return 0;
  }
  return plan->register_count++;
}

// A register that was given back before a new one: fewer registers leave more
// of the nearest cache to the streams.
static int take_register(tl_plan *plan) {
  if (plan->free_registers == 0)
    return new_register(plan);
  int index = __builtin_ctz(plan->free_registers);
  plan->free_registers &= plan->free_registers - 1;
  return index;
}

// Decides how the items of a stream get to the kernels, the cheapest way first:
//
//   single       one item, read where it is
//   unit         a plain run, read or written where it is
//   transposed   through a tile of some rows (inputs, TL_PLAN_TILES of them)
//   packed       through a register, item by item
static void classify(tl_plan *plan, int s) {
  tl_plan_value *value = &plan->values[s];
  if (plan->streams[s].offsets != NULL) {
    plan->failed |= plan->ndim != 1;
    plan->plain = false;
    value->where = (int8_t)take_register(plan);
    return;
  }
  value->constant = s != plan->output && is_constant(plan, s);
  value->single =
      value->constant || (plan->rows == 1 && s != plan->output &&
                          plan->streams[s].strides[plan->ndim - 1] == 0);
  if (value->single || is_unit(plan, s))
    return;
  if (is_transposed(plan, s) && plan->tile_count < TL_PLAN_TILES) {
    plan->plain = false;
    plan->streams[s].tile = (int8_t)plan->tile_count++;
    return;
  }
  plan->packs = true;
  plan->streams[s].packed = true;
  value->where = (int8_t)take_register(plan);
}

// Without an output the axes stay in row-major order, since the consumer takes
// the items in that order; they are merged all the same.
void tl_plan_arrange(tl_plan *plan, int output) {
  int opened = plan->ndim;
  plan->output = output;
  drop_short_axes(plan);
  if (output >= 0)
    order_axes(plan, opened);
  if (plan->ndim > 1)
    merge_axes(plan, opened);
  // Kernels want an axis. Its stride makes each stream a plain run of one.
  if (plan->ndim == 0) {  // one item
    plan->ndim = 1;
    plan->shape[0] = 1;
    for (int s = 0; s < plan->stream_count; s++)
      plan->streams[s].strides[0] = plan->values[s].itemsize;
  }
  if (has_short_rows(plan)) {
    plan->rows = plan->shape[plan->ndim - 2];  // at most; see tl_plan_run
  }
  for (int s = 0; s < plan->stream_count; s++) {
    classify(plan, s);
    // Constants are set once for a run, and tiles for each of their rows.
    if (!plan->values[s].constant && plan->streams[s].tile < 0)
      plan->moving[plan->moving_count++] = (int8_t)s;
  }
}

// An axis of the plan is as long as the product of those that it is made of.
// Strides are those of its innermost axis and stay, since only the outermost
// one may have got another length.
void tl_plan_cut(tl_plan *plan, int ndim, const int64_t *shape) {
  plan->size = 1;
  for (int i = 0; i < plan->ndim; i++) plan->shape[i] = 1;
  for (int i = 0; i < ndim; i++) {
    plan->size *= shape[i];
    if (plan->axis_of[i] >= 0)
      plan->shape[plan->axis_of[i]] *= shape[i];
  }
}

// Beyond the limit the first step is written over: the plan has failed and is
// never run.
static tl_plan_step *new_step(tl_plan *plan, int arity) {
  if (plan->step_count >= TL_PLAN_STEPS) {
    plan->failed = true;
    return &plan->steps[0];
  }
  tl_plan_step *step = &plan->steps[plan->step_count++];
  *step = (tl_plan_step){.arity = (uint8_t)arity, .op = TL_OP_COUNT};
  return step;
}

// A value in a fresh register, as single and constant as the step's inputs.
static int step_result(tl_plan *plan, tl_plan_step *step, size_t itemsize,
                       bool single, bool constant) {
  int value = new_value(plan, itemsize);
  // Constants are computed before all steps, so that a register which an
  // earlier step has given back would be overwritten by that step.
  plan->values[value].where =
      (int8_t)(constant ? new_register(plan) : take_register(plan));
  plan->values[value].single = single;
  plan->values[value].constant = constant;
  step->single = single;
  step->once = constant;
  step->out = (uint8_t)value;
  return value;
}

// As plan.h says; a unary kernel has no form for singles, and needs none.
int tl_plan_unary(tl_plan *plan, tl_kernel1 *kernel, int a, size_t itemsize) {
  tl_plan_step *step = new_step(plan, 1);
  step->k1 = kernel;
  step->in[0] = (uint8_t)a;
  return step_result(plan, step, itemsize, plan->values[a].single,
                     plan->values[a].constant);
}

// Nothing is noted of a value that no step has made, as of a cast between a
// bool and its byte.
void tl_plan_note(tl_plan *plan, int value, tl_op op, tl_dtype dtype) {
  if (plan->step_count == 0 || plan->steps[plan->step_count - 1].out != value)
    return;
  plan->steps[plan->step_count - 1].op = (uint8_t)op;
  plan->steps[plan->step_count - 1].dtype = (uint8_t)dtype;
}

// Between bool and the bytes no kernel runs: a bool is stored as the byte 0 or
// 1.
int tl_plan_cast(tl_plan *plan, int value, tl_dtype from, tl_dtype to) {
  // True and false are the bytes 1 and 0.
  if (from == to || (from == TL_BOOL && (to == TL_UINT8 || to == TL_INT8)))
    return value;
  return tl_plan_unary(plan, tl_kernels()->cast[from][to], value,
                       tl_itemsize(to));
}

// A single value repeated over a register.
// It is made once for all steps that need it; what is no single comes back as
// it is.
static int splat(tl_plan *plan, int value) {
  if (!plan->values[value].single || plan->values[value].splat)
    return value;
  if (plan->values[value].repeated != 0)
    return plan->values[value].repeated;
  size_t itemsize = plan->values[value].itemsize;
  int out = tl_plan_unary(plan, tl_kernels()->fill[tl_move_size(itemsize)],
                          value, itemsize);
  plan->values[out].splat = true;
  plan->values[value].repeated = (uint8_t)out;
  // The step was added as one of a single operand, and would write one item.
  plan->steps[plan->step_count - 1].single = false;
  return out;
}

// One single operand goes to the kernel's form for it, which saves a register
// and its loads. An operand that is a splat already has a register and counts
// as a full one; two singles make a single, by the plain form with n = 1.
int tl_plan_binary(tl_plan *plan, tl_kernel2 *vv, tl_kernel2 *vs,
                   tl_kernel2 *sv, int a, int b, size_t itemsize) {
  bool single_a = plan->values[a].single && !plan->values[a].splat;
  bool single_b = plan->values[b].single && !plan->values[b].splat;
  bool both = plan->values[a].single && plan->values[b].single;
  tl_kernel2 *kernel = vv;
  if (!both && single_b) {
    if (vs != NULL) {
      kernel = vs;
    } else {
      b = splat(plan, b);
    }
  } else if (!both && single_a) {
    if (sv != NULL) {
      kernel = sv;
    } else {
      a = splat(plan, a);
    }
  }
  tl_plan_step *step = new_step(plan, 2);
  step->k2 = kernel;
  step->in[0] = (uint8_t)a;
  step->in[1] = (uint8_t)b;
  return step_result(plan, step, itemsize, both,
                     plan->values[a].constant && plan->values[b].constant);
}

// The three splats are made before the step is, since a step's inputs have to
// come first.
int tl_plan_select(tl_plan *plan, tl_kernel3 *kernel, int a, int b, int c,
                   size_t itemsize) {
  const tl_plan_value *values = plan->values;
  bool single = values[a].single && values[b].single && values[c].single;
  if (!single) {
    a = splat(plan, a);
    b = splat(plan, b);
    c = splat(plan, c);
  }
  tl_plan_step *step = new_step(plan, 3);
  step->k3 = kernel;
  step->in[0] = (uint8_t)a;
  step->in[1] = (uint8_t)b;
  step->in[2] = (uint8_t)c;
  return step_result(
      plan, step, itemsize, single,
      values[a].constant && values[b].constant && values[c].constant);
}

// The host's loop gets steps of 0 for singles, so none is repeated here.
int tl_plan_host(tl_plan *plan, const tl_host_function *function, const int *in,
                 size_t itemsize) {
  tl_plan_step *step = new_step(plan, 0);
  bool single = true, constant = true;
  for (int i = 0; i < function->param_count; i++) {
    step->in[i] = (uint8_t)in[i];
    single = single && plan->values[in[i]].single;
    constant = constant && plan->values[in[i]].constant;
  }
  step->host = function;
  plan->is_hosts = true;
  return step_result(plan, step, itemsize, single, constant);
}

// The register's bit is set, and take_register finds it.
void tl_plan_release(tl_plan *plan, int value) {
  const tl_plan_value *v = &plan->values[value];
  // Streams keep theirs for the whole run, as constants do, and what another
  // step may still ask for: singles that were repeated.
  if (value < plan->stream_count || v->where < 0 || v->constant || v->splat)
    return;
  plan->free_registers |= UINT32_C(1) << v->where;
}

// Steps that run once to the front: they read nothing that the others make.
static void order_steps(tl_plan *plan) {
  tl_plan_step others[TL_PLAN_STEPS];
  int count = 0;
  for (int i = 0; i < plan->step_count; i++) {
    if (plan->steps[i].once) {
      plan->steps[plan->once_count++] = plan->steps[i];
    } else {
      others[count++] = plan->steps[i];
    }
  }
  if (plan->once_count > 0)
    memcpy(&plan->steps[plan->once_count], others,
           (size_t)count * sizeof *others);
}

// A single or what a stream holds is copied to stream [to].
static void copy_to(tl_plan *plan, int value, int to) {
  const tl_plan_value *v = &plan->values[value];
  size_t itemsize = v->itemsize;
  tl_plan_step *step = new_step(plan, 1);
  unsigned size = tl_move_size(itemsize);
  // The kernel of +x copies; one dtype of each size moves the words of all.
  static const tl_dtype movers[TL_MOVE_SIZES] = {TL_UINT8, TL_UINT16, TL_UINT32,
                                                 TL_UINT64, TL_COMPLEX128};
  bool repeat = v->single && !v->splat;
  step->k1 = repeat ? tl_kernels()->fill[size]
                    : tl_kernels()->unary[TL_OP_POSITIVE][movers[size]];
  step->in[0] = (uint8_t)value;
  step->out = (uint8_t)to;
}

// Nobody writes the value's register any more: the plan is without it, if it is
// the last one and no other value has it.
static void drop_register(tl_plan *plan, int value) {
  int where = plan->values[value].where;
  bool is_used = where < plan->register_count - 1;
  plan->values[value].where = -1;
  for (int i = 0; i < plan->value_count; i++)
    is_used = is_used || plan->values[i].where == where;
  plan->register_count -= !is_used;
}

// The step that makes a value in a register, -1: none.
static int find_step(const tl_plan *plan, int value, int count) {
  const tl_plan_value *v = &plan->values[value];
  if (value < plan->stream_count || v->single || v->constant)
    return -1;
  while (--count >= 0 && plan->steps[count].out != value) {
  }
  return count;
}

// What is made by step [at] goes to a stream at once, where later steps find
// it.
static void redirect(tl_plan *plan, int at, int value, int stream) {
  plan->steps[at].out = (uint8_t)stream;
  for (int i = at + 1; i < plan->step_count; i++) {
    tl_plan_step *s = &plan->steps[i];
    for (int k = 0; k < TL_PLAN_OPERANDS; k++)
      if (s->in[k] == value)
        s->in[k] = (uint8_t)stream;
  }
  for (int i = 0; i < plan->result_count; i++)
    if (plan->results[i] == value)
      plan->results[i] = stream;
  drop_register(plan, value);
}

// Consumers' results first: they may add splats, and the steps are counted
// after that. A value is redirected to its stream where nothing later could see
// it too early; else it is copied once all steps are done. A single's step
// writes one item, and a constant's runs before the first block: both are
// copied block by block. Steps are put in order last, since results may add
// some.
void tl_plan_finish(tl_plan *plan, const tl_plan_result *results, int count) {
  plan->multi = count > 1;
  // A consumer reads n items, so a single is repeated for it.
  for (int i = 0; i < count; i++)
    if (results[i].stream < 0)
      plan->results[plan->result_count++] = splat(plan, results[i].value);
  int steps = plan->step_count;
  unsigned redirected = 0;  // a bit for each result, of which there are few
  for (int i = 0; i < count && !plan->failed; i++) {
    const tl_plan_result *r = &results[i];
    if (r->stream < 0)
      continue;
    // Two results may be one value, whose register nobody writes once it is
    // redirected: the second is copied from the first one's stream.
    int value = r->value;
    for (int k = 0; k < i && value == r->value; k++)
      if (results[k].value == r->value && redirected >> k & 1)
        value = results[k].stream;
    int at = find_step(plan, value, steps);
    if (at >= 0 && ((!r->last && count > 1) || at == steps - 1)) {
      redirect(plan, at, value, r->stream);
      redirected |= 1u << i;
    } else {
      copy_to(plan, value, r->stream);
    }
  }
  order_steps(plan);
}

// --- Copies -----------------------------------------------------------------

// Only axes that are left after merging are copied, so this is far below a
// room.
size_t tl_plan_nbytes(const tl_plan *plan) {
  size_t streams = (size_t)plan->stream_count;
  return streams * (size_t)plan->ndim * sizeof(int64_t) +
         streams * sizeof *plan->streams +
         (size_t)plan->step_count * sizeof *plan->steps +
         (size_t)plan->value_count * sizeof *plan->values;
}

// The room is not copied, so nothing can be added to the copy; it is for
// running.
void tl_plan_copy(tl_plan *to, void *memory, const tl_plan *from) {
  size_t streams = (size_t)from->stream_count, ndim = (size_t)from->ndim;
  int64_t *strides = memory;
  *to = *from;
  to->room = NULL;
  to->streams = (tl_plan_stream_state *)(void *)(strides + streams * ndim);
  to->steps = (tl_plan_step *)(void *)(to->streams + streams);
  to->values = (tl_plan_value *)(void *)(to->steps + from->step_count);
  for (size_t s = 0; s < streams; s++, strides += ndim) {
    to->streams[s] = from->streams[s];
    to->streams[s].strides = strides;
    memcpy(strides, from->streams[s].strides, ndim * sizeof *strides);
  }
  memcpy(to->steps, from->steps, (size_t)from->step_count * sizeof *to->steps);
  memcpy(to->values, from->values,
         (size_t)from->value_count * sizeof *to->values);
}

// --- Blocks -----------------------------------------------------------------

// Items of columns lie on a cache line each, of which other columns have their
// items too: the lines of a block stay in the nearest cache.
enum { COLUMN_BYTES = 24 * 1024, COLUMN_ITEMS = 32, CACHE_LINE = 64 };

int64_t tl_plan_row_block(const tl_plan *plan, int64_t most) {
  if (!plan->packs)
    return most;
  int64_t lines = 0;
  for (int s = 0; s < plan->stream_count; s++) {
    const tl_plan_stream_state *stream = &plan->streams[s];
    int64_t step = stream->strides[plan->ndim - 1];
    lines += stream->packed && (step >= CACHE_LINE || -step >= CACHE_LINE);
  }
  if (lines * CACHE_LINE * most <= COLUMN_BYTES)
    return most;
  // Whole vectors, and never so few that calls of kernels would count.
  int64_t items = COLUMN_BYTES / CACHE_LINE / lines & ~(int64_t)7;
  return items < COLUMN_ITEMS ? COLUMN_ITEMS : items;
}
