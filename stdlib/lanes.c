// Walking the lanes of arrays along an axis.
//
//
// Of a 2 * 3 array along axis 0 these are three lanes of two items, a column
// each; steps between items and from lane to lane are the array's own, so that
// views need no copy. Up to three arrays are walked in step.

#include "stdlib/arrays.h"

// The remaining axes are counted in index[], as in a number with one digit for
// each axis. An axis without items ends the walk before it begins.
void tl_lanes_begin(tl_lanes *lanes, int n, tl_array *const *arrays, int axis) {
  // Large: of the rest what axes there are is set alone.
  lanes->n = n;
  lanes->ndim = tl_ndim(arrays[0]) - 1;
  lanes->done = false;
  for (int k = 0, j = 0; k < tl_ndim(arrays[0]); k++) {
    if (k == axis)
      continue;
    lanes->shape[j] = tl_shape(arrays[0])[k];
    lanes->index[j] = 0;
    if (lanes->shape[j] == 0)
      lanes->done = true;
    for (int i = 0; i < n; i++) lanes->strides[i][j] = tl_strides(arrays[i])[k];
    j++;
  }
  for (int i = 0; i < n; i++) {
    lanes->data[i] = arrays[i]->data;
    lanes->step[i] = tl_strides(arrays[i])[axis];
  }
}

// Adds one to the last digit. A digit that is full goes back to 0, which takes
// its whole way off the pointers again, and carries to the one before it.
void tl_lanes_next(tl_lanes *lanes) {
  for (int k = lanes->ndim - 1; k >= 0; k--) {
    bool more = ++lanes->index[k] < lanes->shape[k];
    for (int i = 0; i < lanes->n; i++)
      lanes->data[i] += more ? lanes->strides[i][k]
                             : -lanes->strides[i][k] * (lanes->shape[k] - 1);
    if (more)
      return;
    lanes->index[k] = 0;
  }
  lanes->done = true;
}
