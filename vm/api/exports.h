// What other libraries hold of a VM's values: DLPack tensors, Arrow arrays.
#ifndef TALLY_VM_EXPORTS_H
#define TALLY_VM_EXPORTS_H

#include "vm/api/api.h"

// The head of a record that lives until the other side lets go, which may be
// after the VM was closed: so its memory is the host's own, not counted.
typedef struct tl_export {
  struct tl_export *next, **link;  // of the VM's
  tl_vm *vm;                       // NULL: closed
  void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
  void *context;
  size_t nbytes;
  tally_value held;
} tl_export;

// A zeroed record of [nbytes] that begins with a tl_export and holds a value.
// Takes it; NULL after tl_fail.
void *tl_export_new(tl_vm *vm, size_t nbytes, tl_slot *value);
// Lets go of the value, and of the record.
void tl_export_end(tl_export *e);
// The VM closes: what is still out holds nothing any more.
void tl_exports_close(tl_vm *vm);

// Whether the items are readable in the host's address space and aligned.
bool tl_is_aligned(int ndim, const int64_t *strides, const void *data,
                   tl_dtype dtype);

#endif
