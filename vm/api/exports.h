// What other libraries hold of a VM's values: DLPack tensors, Arrow arrays.
//
//     tl_export_new   the value gets a handle, the record joins the VM's list
//     tl_export_end   the other library lets go: handle and record are released
//     tl_exports_close  the VM closes first: its values go, the records stay
//                       until the other library lets go of them
#pragma once

#include "vm/api/api.h"

// The head of a record that lives until the other side lets go, which may be
// after the VM was closed: so its memory is from the host's allocator and not
// counted.
typedef struct tl_export {
  struct tl_export *next, **link;  // of the VM's
  tl_vm *vm;                       // NULL: closed
  void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
  void *context;
  size_t nbytes;
  tally_value held;
} tl_export;

// A zeroed record of [nbytes] that begins with a tl_export and holds *value,
// which is taken. NULL after tl_fail.
void *tl_export_new(tl_vm *vm, size_t nbytes, tl_slot *value);
// Gives up the value and frees the record.
void tl_export_end(tl_export *e);
// The VM closes: records that are still out hold nothing any more.
void tl_exports_close(tl_vm *vm);

// Whether data and strides are multiples of the items' alignment (api_array.c).
//
//   float64 at address 8, strides 16    true
//   float64 at address 4                false
bool tl_is_aligned(int ndim, const int64_t *strides, const void *data,
                   tl_dtype dtype);
// The bytes from the first item on that all items lie in, [*low, *high): the
// first of them may be below 0. Nothing without items. False: they overflow.
bool tl_items_span(int ndim, const int64_t *shape, const int64_t *strides,
                   size_t itemsize, int64_t *low, int64_t *high);
