// What built-ins give back: whole arrays, views, or nothing. See arrays.h.
//
//
// Each takes what it is given on every path, so that a built-in can end with it
// whether or not what came before went well.

#include "stdlib/shared.h"
#include "vm/bytecode/module.h"

// Without axes there is one item, of which no view is made.
bool tl_view_or_item(tl_vm *vm, tl_slot *s, char *data, int ndim,
                     const int64_t *shape, const int64_t *strides,
                     tl_slot *out) {
  if (ndim > 0)
    return tl_view(vm, s, data, ndim, shape, strides, out);
  *out = tl_item(vm, s->array, data);
  return !tl_is_unset(*out);
}

// Copies; [data] may be NULL where there are no bytes.
bool tl_bytes_give(tl_vm *vm, const void *data, size_t nbytes, tl_slot *out) {
  int64_t n = (int64_t)nbytes;
  tl_array *a = tl_array_new(vm, TL_UINT8, 1, &n);
  bool ok = a && tl_copy_bytes(vm, a->data, data, nbytes);
  return tl_array_finish(vm, ok, a, out);
}

// A message of the function there names what it called; that is replaced by the
// built-in's own name and parameter (vm/interp/named_errors.c).
bool tl_in_module(tl_vm *vm, const char *module, const char *function,
                  int count, tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS];
  for (int i = 0; i < count; i++) given[i] = tl_pass_on(&args[i]);
  return tl_call_embedded(vm, module, function, count, given, out);
}

bool tl_in_tally(tl_vm *vm, const char *function, int count, tl_slot *args,
                 tl_slot *out) {
  return tl_in_module(vm, "inner/arrays", function, count, args, out);
}

bool tl_resource_give(tl_vm *vm, const tally_resource *type, void *object,
                      const tl_walked *walked, const char *what, tl_slot *out) {
  tl_resource *resource =
      tl_object_new(vm, TL_KIND_HANDLE, sizeof *resource, what);
  if (!resource)
    return false;
  *resource = (tl_resource){
      .head = resource->head, .type = type, .object = object, .walked = walked};
  *out = (tl_slot){.tag = TL_TAG_HANDLE | TL_OWNED, .pointer = resource};
  return true;
}
