// The key of a place in the order of items, without sorting them.
#pragma once

#include "vm/value.h"

enum {
  TL_NTH_CHUNK = 512,   // keys that are made at a time
  TL_NTH_FREE = 16384,  // so many items need no memory
};

// Real items or bools, side by side.
typedef struct tl_ranks {
  tl_vm *vm;
  const char *function;
  tl_dtype dtype;
  bool descending, same_zero;  // as tl_sort_keys has them
  bool wants_next;             // and nan: else they may be left out
  const char *items;
  int64_t n;
} tl_ranks;

// A place's key, the next one above it, if that came by (else all ones),
// whether there is NaN, and how many keys are less and how many the same.
typedef struct tl_nth {
  uint64_t key, next;
  bool nan;
  int64_t less, same;
} tl_nth;

// Of place k < n. Takes memory for an eighth as many keys at most; false after
// tl_fail.
bool tl_nth_find(const tl_ranks *r, int64_t k, tl_nth *out);

// The least key above this one; all ones: there is none.
// One pass over all items; false after tl_fail.
bool tl_nth_above(const tl_ranks *r, uint64_t key, uint64_t *out);

// The keys of the m <= TL_NTH_CHUNK items from number i on, in the buffer or
// where they are.
const uint64_t *tl_nth_keys(const tl_ranks *r, int64_t i, int64_t m,
                            uint64_t buffer[TL_NTH_CHUNK]);
