// Plans: elementwise operations over arrays of any layout, in blocks that stay
// in cache.
//
// A plan holds streams (arrays walked together), values (what a step reads or
// writes: a stream's items of this block, or a register) and steps (one kernel
// call a block). Made in this order:
//
//   tl_plan_open       the shape, and memory to write in
//   tl_plan_stream     each operand, and the output
//   tl_plan_arrange    merges axes; from here on it is known which are single
//   tl_plan_cast …     the steps, in order
//   tl_plan_finish     what goes to the output, or to the consumer
//   pieces->make       runs of steps as machine code, where the VM has it
//   tl_plan_run
#pragma once

#include "vm/array/array.h"
#include "vm/kernels/kernels.h"

enum {
  // Sixteen of these fill the nearest cache of common processors, 32 KiB. Runs
  // that are short may have fewer and larger ones (plan_run.c).
  TL_BLOCK_BYTES = 2048,  // of a register
  // At most 32, as free_registers has a bit for each.
  TL_PLAN_REGISTERS = 16,
  TL_PLAN_STREAMS = 80,
  TL_PLAN_STEPS = 170,
  TL_PLAN_TILES = 2,    // streams that are read by tiles
  TL_PLAN_RESULTS = 4,  // that one run makes
  // So many items of 2 bytes are a cache line, and wider ones several: a tile
  // uses all of the lines that it reads.
  TL_TILE_ROWS = 32,
  // Numbers of values are uint8_t, so this stays below 256.
  TL_PLAN_VALUES = TL_PLAN_STREAMS + TL_PLAN_STEPS + 1,
};

// What a step reads or writes. The first values are the streams', in the order
// in which these were added, so that a stream and its value have one number;
// the others are made by steps.
typedef struct tl_plan_value {
  char *at;      // the items of this block
  int8_t where;  // its register, -1: a stream read or written in place
  uint8_t itemsize;
  bool single;       // one item for the whole inner axis
  bool constant;     // one item for the whole run
  bool splat;        // a register filled with a single's item
  uint8_t repeated;  // of a single: the value that is its splat; 0: none yet
} tl_plan_value;

// An array that is walked. What is set while the plan is made stays (base,
// strides); what the run moves is data, row and at, which each part of a run on
// threads has in a copy of its own.
typedef struct tl_plan_stream_state {
  char *data;  // of the current row
  char *base;
  bool packed;  // its items are moved through a register
  int8_t tile;  // transposed: through a tile of some rows; -1: not
  // One item for each row of a ragged array (tl_plan_rows); NULL: no rows.
  const int64_t *offsets;
  int64_t row_count, step;
  int64_t row, at;  // of the next block: its first item, and that item's row
  int64_t *strides;
} tl_plan_stream_state;

// The arity of a step that is a piece.
enum { TL_PLAN_OPERANDS = 3, TL_PLAN_PIECE = 4 };

// Several steps as machine code (vm/native/pieces.h), which finds the items of
// all values where a block has put them. [n] is at least 1. [run] changes where
// the code is given up, so that a plan outlives it.
typedef struct tl_plan_piece tl_plan_piece;
struct tl_plan_piece {
  void (*run)(const tl_plan_value *values, size_t n,
              const tl_plan_piece *piece);
};

// One call of a kernel a block. Steps are called in order, those with [once]
// before all others.
typedef struct tl_plan_step {
  uint8_t arity;  // operands; or TL_PLAN_PIECE
  bool single;    // one item is enough
  bool once;      // at the start of the run
  // What tl_plan_note has told of it; op TL_OP_COUNT: nothing.
  uint8_t op, dtype;
  uint8_t out, in[TL_PLAN_OPERANDS];  // values
  union {
    const struct tl_host_function *host;  // arity 0
    tl_kernel1 *k1;
    tl_kernel2 *k2;
    tl_kernel3 *k3;
    tl_plan_piece *piece;
  };
} tl_plan_step;

// Takes [n] items of each result, contiguous. Blocks come in row-major order.
// The arrays behind [items] are the plan's, and are written over by the next
// block: a consumer copies what it needs later. [n] is at least 1 and at most a
// block; it is not always a multiple of a vector.
typedef void tl_plan_consume(void *context, const void *const *items, size_t n);

// How a consumer takes parts of the items from several threads.
//
//   items 10               rows of 10 items: a part is any number of rows
//   items 16384, exactly   parts of one sum: all but the last have so many
typedef struct tl_plan_split {
  int64_t items;  // a part begins at a multiple of so many items, and a block
                  // where it has room for them
  bool exactly;   // and has so many, the last one perhaps less
  // The context of the consumer for the part that begins at item [first];
  // [local] has TL_CONSUMER_BYTES for each result and once more, for the time
  // of the part.
  void *(*begin)(void *context, int64_t first, void *local);
} tl_plan_split;
// Bytes for what a part of a run keeps of its own while it is folded.
enum { TL_CONSUMER_BYTES = 2048 };

typedef struct tl_plan_delay tl_plan_delay;
typedef struct tl_plan_room tl_plan_room;

// One element-wise computation over arrays of one shape, made once and run by
// blocks. Its tables lie in a room for the largest plan, or in a copy's memory.
// A plan owns no arrays: streams hold addresses, which the caller keeps alive.
typedef struct tl_plan {
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  // Of each axis that the plan was opened with, the one that it is part of now;
  // -1: it has one item, and is walked by nobody.
  int8_t axis_of[TL_MAX_DIMS];
  int64_t size;
  int stream_count, value_count, step_count, register_count;
  int tile_count;
  int output;  // the stream written; -1: results go to the consumer, or to
               // streams
  int result_count;
  int results[TL_PLAN_RESULTS];  // the values that the consumer gets
  tl_plan_consume *consume;
  void *context;               // of the consumer
  const tl_plan_split *split;  // NULL: the consumer wants all items in order
  tl_plan_delay *delay;  // of the output (vm/engine/plan_delay.h); NULL: none
  int64_t rows;   // rows that share a block; 1: blocks are parts of a row
  size_t widest;  // the largest item in a register or stream
  bool failed;    // too many registers or steps
  bool plain;     // no stream is read by tiles or rows
  bool packs;     // a stream is moved through a register
  bool multi;     // several streams are written
  bool is_hosts;  // a step is the host's: in one thread
  uint32_t free_registers;
  int once_count;    // steps at the start of the run; they come first
  int moving_count;  // streams that are read or written at each block anew
  int8_t moving[TL_PLAN_STREAMS];
  tl_plan_room *room;  // while it is made
  tl_plan_stream_state *streams;
  tl_plan_value *values;
  tl_plan_step *steps;
} tl_plan;

// Who makes pieces, handed over when the VM opens (vm->pieces).
typedef struct tl_piece_maker {
  // Replaces runs of steps of a finished plan by pieces. Nothing fails: steps
  // that get no piece stay as they are. The plan may run until the next one is
  // made; longer, if it is held.
  void (*make)(tl_vm *vm, tl_plan *plan);
  // A plan is kept from now on (1), or no longer (-1), so often as it was kept.
  void (*hold)(const tl_plan *plan, int change);
} tl_piece_maker;

// Memory for the largest plan.
struct tl_plan_room {
  int64_t strides[TL_PLAN_STREAMS][TL_MAX_DIMS];
  tl_plan_stream_state streams[TL_PLAN_STREAMS];
  tl_plan_value values[TL_PLAN_VALUES];
  tl_plan_step steps[TL_PLAN_STEPS];
};

// [room] need not be cleared, and is the plan's as long as it is used.
// Nothing fails here: what goes beyond the limits above sets plan->failed in a
// later call, which is to be checked before the run. [ndim] may be 0: one item.
void tl_plan_open(tl_plan *plan, tl_plan_room *room, int ndim,
                  const int64_t *shape);

// A finished plan in memory of tl_plan_nbytes, aligned as pointers are, which
// is at most a room's.
// For plans that outlive the room they were made in, as those of fused regions
// in a cache do.
size_t tl_plan_nbytes(const tl_plan *plan);
// Copies streams, steps and values into [memory], strides first since they need
// the strictest alignment. [from] may be released; the arrays that its streams
// show are borrowed by both.
void tl_plan_copy(tl_plan *to, void *memory, const tl_plan *from);

// Adds an array walked with these strides, in bytes; returns its value. All
// strides NULL: one item, which stays where it is.
// [strides] has plan->ndim items and is copied; an axis along which the array
// is broadcast has 0. [data] is borrowed until the run is over. All streams
// come before tl_plan_arrange.
// The stream after the last of TL_PLAN_STREAMS makes the plan fail, and gets
// the number of the first.
int tl_plan_stream(tl_plan *plan, const void *data, size_t itemsize,
                   const int64_t *strides);

// Adds one item for each row, [step] bytes apart: row r stands for the items
// [offsets[r], offsets[r + 1]) of a plan of one axis, which begins at 0.
// [offsets] has row_count + 1 items and is borrowed.
//
//   offsets 0 2 2 5, items a b c      a a c c c     (row 1 has no items)
//
// A plan with such a stream whose axes do not merge into one fails.
int tl_plan_rows(tl_plan *plan, const void *data, size_t itemsize, int64_t step,
                 const int64_t *offsets, int64_t row_count);

// Merges and orders the axes; [output] is the stream that is written. -1: the
// axes stay in order, for the consumer.
void tl_plan_arrange(tl_plan *plan, int output);

// Another shape, of as many axes as the plan was opened with, none longer than
// it was then. An axis that was merged with the one around it keeps its length.
// The streams' bases are the caller's to set.
//
//   opened 3 * 4 * 5, all dense     one axis of 60
//   cut to 2 * 4 * 5                one axis of 40
void tl_plan_cut(tl_plan *plan, int ndim, const int64_t *shape);

// Steps; each returns the value it makes. Casts of a value to its own dtype
// are left out.
int tl_plan_cast(tl_plan *plan, int value, tl_dtype from, tl_dtype to);
// [itemsize] is that of the result. The value has the inputs' property: single
// where they all are, and then one item is computed for the whole inner axis.
int tl_plan_unary(tl_plan *plan, tl_kernel1 *kernel, int a, size_t itemsize);
// vs, sv: the forms with one single operand, or NULL.
int tl_plan_binary(tl_plan *plan, tl_kernel2 *vv, tl_kernel2 *vs,
                   tl_kernel2 *sv, int a, int b, size_t itemsize);
// There are no forms with single operands, so these are repeated over a
// register first, unless all three are single.
int tl_plan_select(tl_plan *plan, tl_kernel3 *kernel, int a, int b, int c,
                   size_t itemsize);
// Tells of the step that was added last, which makes [value], that it is [op]
// computed in [dtype].
void tl_plan_note(tl_plan *plan, int value, tl_op op, tl_dtype dtype);
// A step of the host's (vm/api/host.h), with as many operands as it has
// parameters, of the dtypes that it names.
// Such a plan runs in the calling thread, to which the VM is closed meanwhile.
int tl_plan_host(tl_plan *plan, const struct tl_host_function *function,
                 const int *in, size_t itemsize);
// A register that is not read any more is free for the next step.
// Called once the last step that reads [value] has been added, since registers
// are few. Streams and constants stay as they are, so any value may be given.
void tl_plan_release(tl_plan *plan, int value);

// What the plan gives. If one of several results goes to the consumer, the plan
// is arranged without an output; else the first stream that is written is its
// output.
typedef struct tl_plan_result {
  int value;
  int stream;  // that is written, dense in row-major order; -1: to the consumer
  bool last;   // others may read what the stream shows until then
} tl_plan_result;
// The last call before the run. Where a step makes a result for a stream, it
// writes to that straight away, without a copy, if it may. [results] is
// borrowed during the call. Several of them not with a delay.
void tl_plan_finish(tl_plan *plan, const tl_plan_result *results, int count);
// The output gets [value]; without one plan->consume does, which is to be set.
static inline void tl_plan_finish_one(tl_plan *plan, int value) {
  tl_plan_result result = {value, plan->output, true};
  tl_plan_finish(plan, &result, 1);
}

// Runs all blocks. With [may_stop] the VM is polled between them, and false
// means that it stopped halfway. Without, the caller has polled for all of it.
// Long runs are spread over threads.
// A finished plan may be run any number of times, with other bases of its
// streams each time: what a run moves is set at its beginning.
bool tl_plan_run(tl_vm *vm, tl_plan *plan, bool may_stop);

// The items of a block of one row, at most [most]: fewer where streams are read
// from other lines of the cache for each item.
int64_t tl_plan_row_block(const tl_plan *plan, int64_t most);
// Whether all of it is one block, of which no thread is asked; such a run by
// itself.
bool tl_plan_is_short(const tl_plan *plan);
// Needs neither a VM nor memory, and cannot fail or stop.
void tl_plan_run_short(tl_plan *plan);
// The same of a plan without registers whose streams' values say where their
// items are: that of a number as the run before has set it.
void tl_plan_run_placed(tl_plan *plan);
