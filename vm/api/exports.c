// Values that other libraries hold, through DLPack and Arrow: a doubly linked
// list of records for each VM, so that any of them may end first, also after
// the VM.

#include "vm/api/exports.h"

// The value gets its handle first: that may fail, and is then all there is to
// undo.
// On failure the value is dropped with its handle.
void *tl_export_new(tl_vm *vm, size_t nbytes, tl_slot *value) {
  tally_value held;
  if (!tl_handle_new(vm, value, &held))
    return NULL;
  tl_export *e = tl_host_new(vm, nbytes);
  if (e == NULL) {
    tl_fail_memory(vm, nbytes, "a value for another library");
    tally_release(vm, held);
    return NULL;
  }
  memset(e, 0, nbytes);
  e->vm = vm;
  e->resize = vm->options.resize;
  e->context = vm->options.context;
  e->nbytes = nbytes;
  e->held = held;
  e->next = vm->exports;
  e->link = &vm->exports;
  if (e->next != NULL)
    e->next->link = &e->next;
  vm->exports = e;
  return e;
}

// May be called from any library's release, after the VM has closed, too.
// The link points at whatever points here, so that removing needs no search.
void tl_export_end(tl_export *e) {
  if (e->vm != NULL) {
    *e->link = e->next;
    if (e->next != NULL)
      e->next->link = e->link;
    tally_release(e->vm, e->held);
  }
  e->resize(e->context, e, e->nbytes, 0);
}

// The handles are released with all others, by tl_handles_close.
void tl_exports_close(tl_vm *vm) {
  for (tl_export *e = vm->exports; e != NULL; e = e->next) e->vm = NULL;
  vm->exports = NULL;
}
