// Scanners: consumers that make as many items as they take, each the fold of
// those up to it (cumulative_sum …). Running folds of arrays, of ragged rows
// and of fused regions end in one.
//
//   items ──▶ open ─▶ take … take       items lie in row-major order, the
//   folded
//                      │                axis having [length] positions, and
//                      ▼                [inner] items behind each
//            memory at [to], in order
//
// A lane (inner is 1) goes item after item and carries the last result; lanes
// side by side go row after row, each with the row before it.
#pragma once

#include "vm/engine/engine.h"
#include "vm/kernels/kernels.h"

typedef struct tl_scanner {
  tl_scan *lane;
  tl_kernel2 *rows;
  tl_fold fold;
  tl_dtype dtype;  // of the items taken and made
  size_t itemsize;
  int64_t length, inner;
  int64_t at;    // items of this lane, or of these lanes side by side
  int64_t left;  // items of this lane or row to come; 0: it has not begun
  bool initial;  // lanes begin with what no items give
  char *to;      // where it goes on
  tl_c128 unit;  // what no items give: 0 or 1
  // Of a lane the last result, in the dtype of the items.
  tl_c128 carry;
} tl_scanner;

// To [to]: memory apart from the items, or just where they are. dtype: one that
// tl_cumulative_dtype says. Where items come, length and inner are not 0.
// With [initial] the memory has room for [inner] items more in each run of
// length * inner.
void tl_scanner_open(tl_scanner *s, tl_reduction reduction, tl_dtype dtype,
                     int64_t length, int64_t inner, bool initial, void *to);
// A tl_plan_consume.
void tl_scanner_take(void *scanner, const void *const *blocks, size_t n);
