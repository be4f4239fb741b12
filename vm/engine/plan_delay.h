// Delayed results: where a plan writes a part of an array that it reads at
// other places of too, a[1:-1] = a[:-2] + a[2:], each block of the result waits
// until no later block reads what it overwrites. What waits is about as much as
// lies between a place and the one read farthest behind it: for a grid, a row
// or two.
//
//   blocks of 4 places, each of which reads one place behind itself
//
//   computed     1..4     5..8     9..12
//   waits        1..4     1..8     5..12
//   stored                         1..4
#pragma once

#include "vm/check.h"
#include "vm/engine/plan.h"

// Rows of a block that wait to be stored from [to] to [end].
// Their items lie in a slot without gaps, row after row.
typedef struct tl_waiting {
  char *to, *end;
  size_t nrows, ncols;
} tl_waiting;

struct tl_plan_delay {
  int64_t behind;  // bytes from a place to the one read farthest behind it
  // The memory whose front the result goes to, read at its place or behind it
  // alone: several threads may do it. NULL: one does.
  const char *over;
  size_t over_nbytes;
  char *slots;  // a ring of blocks of TL_BLOCK_BYTES
  tl_waiting *waiting;
  // The ring in slots: [count] of them wait from [first] on, around its end.
  int64_t capacity, first, count;
  // What slots and [waiting] lie in.
  void *block;
  size_t nbytes;
};

// Whether [plan], finished, can be run so: the items of its output are written
// at rising addresses, and what waits is little. Sets delay->capacity, and over
// to NULL.
// [behind] is at least 0. The memory is bounded (a mebibyte), so that for a far
// neighbour the caller makes a copy instead.
bool tl_delay_fits(const tl_plan *plan, tl_plan_delay *delay, int64_t behind);

// Makes the ring; false after tl_fail.
bool tl_delay_open(tl_vm *vm, const tl_plan *plan, tl_plan_delay *delay);

// Stores the block that has waited longest.
void tl_delay_store(const tl_plan *plan, tl_plan_delay *delay);

// The slot that the next block is written to: behind the last one that waits,
// around the ring's end. There is one as long as count is below capacity, which
// tl_delay_fits ensures.
static inline int64_t tl_delay_next(const tl_plan_delay *delay) {
  int64_t slot = delay->first + delay->count;
  return slot < delay->capacity ? slot : slot - delay->capacity;
}

// Memory for the block of the output whose first item belongs at [to]; stores
// what no block from here on reads.
static inline char *tl_delay_begin(const tl_plan *plan, tl_plan_delay *delay,
                                   const char *to) {
  while (delay->count > 0 &&
         delay->waiting[delay->first].end <= to - delay->behind)
    tl_delay_store(plan, delay);
  TL_CHECK(delay->count < delay->capacity);
  return delay->slots + tl_delay_next(delay) * TL_BLOCK_BYTES;
}

// That block is computed.
static inline void tl_delay_end(const tl_plan *plan, tl_plan_delay *delay,
                                char *to, size_t nrows, size_t ncols) {
  const int64_t *strides = plan->streams[plan->output].strides;
  int inner = plan->ndim - 1;
  int64_t bytes = ((int64_t)ncols - 1) * strides[inner] +
                  plan->values[plan->output].itemsize;
  if (nrows > 1)
    bytes += ((int64_t)nrows - 1) * strides[inner - 1];
  delay->waiting[tl_delay_next(delay)] =
      (tl_waiting){to, to + bytes, nrows, ncols};
  delay->count++;
}

// Runs units [from, to) of the first axis; vm NULL: on a worker, which polls
// nothing. False where it was stopped.
typedef bool tl_plan_units(tl_vm *vm, tl_plan *plan, int64_t from, int64_t to,
                           bool may_stop);
// The whole run of a plan with delay->over by [run], dealt to threads in parts
// of [part] units. The ring is open. False where it was stopped.
bool tl_delay_spread(tl_vm *vm, tl_plan *plan, int64_t part,
                     tl_plan_units *run);

// Stores the rest.
// Called once on every path after tl_delay_open gave true.
void tl_delay_close(tl_vm *vm, const tl_plan *plan, tl_plan_delay *delay);

// Moves rows of items from a block to their places.
// [from] has nrows * ncols items without gaps; [to] is the first row's place in
// the output, whose strides say where the other items go.
void tl_plan_store(const tl_plan *plan, char *to, const char *from,
                   size_t nrows, size_t ncols);
