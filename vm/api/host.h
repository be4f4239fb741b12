// What a host adds to a VM: functions, modules of them, types of resources.
#ifndef TALLY_VM_HOST_H
#define TALLY_VM_HOST_H

#include "vm/engine/elementwise.h"
#include "vm/types/type.h"
#include "vm/vm.h"

// A function of the host's. The compiler and the VM see a row like those of
// the library; a slot that refers to it points at the row.
typedef struct tl_host_function {
  tl_builtin row;  // first; flags has TL_HOST
  struct tl_host_function *next;
  const char *module;  // NULL: everywhere
  tally_function *call;
  tally_loop *loop;  // of an elementwise function, else NULL
  void *context;
  uint64_t takes;  // bit i: argument i is given away
  int param_count;
  tl_type *params[TL_MAX_PARAMS];  // patterns; NULL: anything
  tl_type *result;                 // NULL: anything
  size_t nbytes;                   // of this allocation, texts included
} tl_host_function;

// A module that the host has added; its functions name it.
typedef struct tl_host_module {
  struct tl_host_module *next;
  const char *name, *doc;
  size_t nbytes;
} tl_host_module;

// The library's function of that name, or the host's; NULL: there is none.
const tl_builtin *tl_function_find(const tl_vm *vm, const char *module,
                                   const char *name, size_t nbytes);
// Whether an import of that name finds a module of the library or the host;
// its name, which lives as long as the VM, or NULL.
const char *tl_native_module(const tl_vm *vm, const char *name, size_t nbytes);

void tl_host_close(tl_vm *vm);

// Calls a host's function as tl_builtin_fn does.
bool tl_host_call(tl_vm *vm, const tl_builtin *builtin, tl_slot *args,
                  tl_slot *out);

// Applies a host's loop to operands that broadcast (host_loop.c).
bool tl_host_loop(tl_vm *vm, const tl_host_function *function, tl_slot *args,
                  tl_slot *out);

// Runs a hook of the host's with argument and result handles, in one place:
// what it raises is raised in the VM, what it returns becomes *out (owned).
// Arguments whose bit is set in [takes] are moved into handles that own them,
// others are lent.
typedef struct tl_hook_call {
  const char *name;  // for messages
  tl_access access;
  uint32_t count;
  tl_slot *args;
  uint64_t takes;
} tl_hook_call;
typedef tally_status tl_hook(tl_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out);
bool tl_hook_run(tl_vm *vm, const tl_hook_call *call, tl_hook *hook,
                 void *context, tl_slot *out, bool *declined);

// Runs a release hook (NULL: nothing to do) of a buffer or a resource. What it
// gives back to the VM goes when it has returned. In handles.c.
void tl_release_hook(tl_vm *vm, void (*hook)(void *context, void *data),
                     void *context, void *data);

// --- Resources (resource.c) -------------------------------------------------

// How `for` walks a resource of the library's: whether there is an item more,
// asked before each, and that item (owned). False after tl_fail.
typedef struct tl_walked {
  bool (*more)(tl_vm *vm, void *object, bool *more);
  bool (*next)(tl_vm *vm, void *object, tl_slot *out);
} tl_walked;

// A value of a host's type: the host's object, released with the last owner.
typedef struct tl_resource {
  tl_object head;
  const tally_resource *type;
  void *object;
  size_t nbytes;            // of the host's memory
  const tl_walked *walked;  // NULL: not by for
} tl_resource;

static inline bool tl_is_resource(tl_slot s) {
  return tl_is_kind(s, TL_KIND_HANDLE);
}

// Frees one whose last owner is gone: runs its release hook.
void tl_resource_free(tl_vm *vm, tl_resource *resource);

// Each false after tl_fail; *out is owned.
bool tl_resource_attribute(tl_vm *vm, tl_slot base, const tl_string *name,
                           tl_slot *out);
bool tl_resource_index(tl_vm *vm, tl_slot base, uint32_t count, tl_slot *parts,
                       tl_slot *out);
bool tl_resource_call(tl_vm *vm, tl_slot callee, uint32_t count, tl_slot *args,
                      tl_slot *out);
// *known: the operands' type has the operator.
bool tl_resource_operate(tl_vm *vm, tl_op op, tl_slot *operands, tl_slot *out,
                         bool *known);
// Its text as print shows it: owned, NULL after tl_fail.
tl_string *tl_resource_text(tl_vm *vm, tl_slot s);

#endif
