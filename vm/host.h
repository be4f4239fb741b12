// What a host adds to a VM, as all layers see it: its functions, their modules,
// and values of its own types. vm/api/host.h has what calls the host.
#pragma once

#include "vm/builtin.h"

// A function of the host's. The compiler and the VM see a row like those of the
// library; a slot that refers to the function points at the row.
typedef struct tl_host_function {
  // First, so that a pointer to the row is one to this; it has no C function.
  tl_builtin row;
  struct tl_host_function *next;
  struct tl_host_function *next_alike;  // of the same hash
  // All parameters go by position and none is ...rest: a call with as many
  // arguments by position has nothing to bind.
  bool is_plain;
  // The module that it is in; NULL: everywhere.
  const char *module;
  tally_function *call;
  // Of an elementwise function; else NULL.
  tally_loop *loop;
  void *context;
  // Bit i: argument i is given away to the host.
  uint64_t takes;
  int param_count;
  // Patterns of the signature; NULL: anything.
  tl_type *params[TL_MAX_PARAMS];
  tl_type *result;  // NULL: anything
  // Of this allocation, texts included.
  size_t nbytes;
} tl_host_function;

// A module that the host has added; its functions refer to its name.
// One allocation with its texts.
typedef struct tl_host_module {
  struct tl_host_module *next;
  const char *name, *doc;
  size_t nbytes;
} tl_host_module;

// How `for` iterates over a resource: whether there is an item [at], from 0 on,
// asked before each, and that item (owned). False after tl_fail. Lines of files
// and of the input are the library's, all else is the host's.
struct tl_resource;
typedef struct tl_walked {
  bool (*more)(tl_vm *vm, const struct tl_resource *resource, int64_t at,
               bool *more);
  bool (*next)(tl_vm *vm, const struct tl_resource *resource, int64_t at,
               tl_slot *out);
} tl_walked;

// A value of a host's type: the host's object, released with the last owner.
typedef struct tl_resource {
  tl_object head;
  const tally_resource *type;
  void *object;
  // Of the host's memory, which counts against the limit.
  size_t nbytes;
  // How `for` iterates over it; NULL: it does not.
  const tl_walked *walked;
  // Where it is counted, of which device; NULL: it is the library's.
  struct tl_type_count *counted;
  // Of a type with a visit hook, whose resources the VM has in a list; else
  // NULL.
  tl_vm *vm;
  struct tl_resource *older, *newer;
} tl_resource;

// Whether the slot is such a value.
static inline bool tl_is_resource(tl_slot s) {
  return tl_is_kind(s, TL_KIND_HANDLE);
}
