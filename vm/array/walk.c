// Walking the items of arrays in row-major order, in runs. The innermost axis
// is the run; the others are counted like the digits of an odometer.
//
//   shape 2 * 3 * 4, dense                one run of 24 items
//   shape 2 * 3 * 4, transposed inside    2 * 3 runs of 4 items
//
// Built for size.
#include "vm/array/array.h"

// Whether dimension [inner] continues dimension [outer] for every operand, so
// that the two are one.
static bool merges(const tl_walk *walk, int outer, int64_t inner_length,
                   const int64_t *inner_strides) {
  for (int k = 0; k < walk->n; k++)
    if (walk->strides[k][outer] != inner_strides[k] * inner_length)
      return false;
  return true;
}

// Adds the next inner dimension: a part of the last one where they merge, else
// one of its own.
static void add_dimension(tl_walk *walk, int64_t length,
                          const int64_t *strides) {
  int last = walk->ndim - 1;
  if (last >= 0 && merges(walk, last, length, strides)) {
    walk->shape[last] *= length;
  } else {
    last = walk->ndim++;
    walk->shape[last] = length;
  }
  for (int k = 0; k < walk->n; k++) walk->strides[k][last] = strides[k];
}

// The innermost dimension becomes the run; the others are counted. A shape of
// no axes has one item.
void tl_walk_begin(tl_walk *walk, int n, int ndim, const int64_t *shape,
                   char *const *data, const int64_t *const *strides) {
  walk->n = n;
  walk->ndim = 0;
  walk->done = false;
  for (int k = 0; k < n; k++) walk->data[k] = data[k];
  for (int i = 0; i < ndim; i++) {
    if (shape[i] == 0)
      walk->done = true;
    if (shape[i] == 1)
      continue;
    int64_t own[4];
    for (int k = 0; k < n; k++) own[k] = strides[k][i];
    add_dimension(walk, shape[i], own);
  }
  walk->begun = 0;
  if (walk->ndim == 0) {  // one item
    walk->length = walk->whole = walk->done ? 0 : 1;
    for (int k = 0; k < n; k++) walk->step[k] = 0;
    return;
  }
  int last = --walk->ndim;  // the runs; the other axes are counted in index
  walk->length = walk->whole = walk->done ? 0 : walk->shape[last];
  for (int k = 0; k < n; k++) walk->step[k] = walk->strides[k][last];
  for (int i = 0; i < last; i++) walk->index[i] = 0;
}

void tl_walk_by_pieces(tl_walk *walk) {
  enum { PIECE = 1 << 14 };
  walk->length = walk->whole < PIECE ? walk->whole : PIECE;
}

// Goes to the next piece of the run; behind the last one back to the run's
// start, and false.
static bool next_piece(tl_walk *walk) {
  const int64_t piece = walk->length, at = walk->begun + piece;
  const bool more = at < walk->whole;
  for (int k = 0; k < walk->n; k++)
    walk->data[k] += walk->step[k] * (more ? piece : -walk->begun);
  if (more && walk->whole - at < piece)
    walk->length = walk->whole - at;
  if (!more && walk->begun > 0)
    tl_walk_by_pieces(walk);
  walk->begun = more ? at : 0;
  return more;
}

// Steps the last dimension; where it is at its end, goes back to its start and
// steps the next outer one.
void tl_walk_next(tl_walk *walk) {
  if ((walk->begun > 0 || walk->length < walk->whole) && next_piece(walk))
    return;
  for (int i = walk->ndim - 1; i >= 0; i--) {
    if (++walk->index[i] < walk->shape[i]) {
      for (int k = 0; k < walk->n; k++) walk->data[k] += walk->strides[k][i];
      return;
    }
    walk->index[i] = 0;
    for (int k = 0; k < walk->n; k++) {
      // Back to the start of this axis; the next outer one steps.
      walk->data[k] -= walk->strides[k][i] * (walk->shape[i] - 1);
    }
  }
  walk->done = true;
}
