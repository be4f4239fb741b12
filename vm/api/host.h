// What a host adds to a VM: functions, modules of them, types of resources.
//
//     tally_add_module ─▶ tl_host_function: a row like the library's own
//     script: f(x)  ─▶ run_builtin ─▶ tl_host_call ─▶ tl_hook_run ─▶ the host
//     script: r[i]  ─▶ vm->host->index ─▶ tl_resource_index ─▶ tl_hook_run
//
// Everything that calls the host goes through tl_hook_run, in native.c: it
// makes handles for the arguments, limits what the hook may do, passes its
// error on and takes its result.
#pragma once

#include "vm/host.h"
#include "vm/objects.h"
#include "vm/types/type.h"
#include "vm/vm.h"

// The host's function of that name, or the library's; NULL: there is none.
const tl_builtin *tl_function_find(const tl_vm *vm, const char *module,
                                   const char *name, size_t nbytes);
// Whether an import of that name finds a module of the host or the library with
// functions in C: its name, which lives as long as the VM, or NULL.
const char *tl_native_module(const tl_vm *vm, const char *name, size_t nbytes);

// Loads a native module (load.c): see load_module in vm/objects.h.
bool tl_load_module(tl_vm *vm, const char *path, const char *name, bool *found);

// Calls [each] with every function of the host, the newest first.
void tl_host_each_function(const tl_vm *vm, tl_each_function *each,
                           void *context);

// Frees all functions and modules of the host.
// Called when the VM closes, after all code is gone.
void tl_host_close(tl_vm *vm);

// Calls a host's function; the contract is tl_builtin_fn's.
bool tl_host_call(tl_vm *vm, const tl_builtin *builtin, tl_slot *args,
                  tl_slot *out);

// A call of the host: its name for messages, what it may do, and the arguments.
// Those whose bit is set in [takes] are moved into handles that own them,
// others are borrowed by their handles.
typedef struct tl_hook_call {
  const char *name;  // for messages
  tl_access access;
  uint32_t count;
  tl_slot *args;
  uint64_t takes;
} tl_hook_call;
// Between tl_hook_run and a hook of the host's own form: it unpacks [context].
typedef tally_status tl_hook(tl_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out);
// Runs a hook with handles for its arguments. What it raises is raised in the
// VM; what it returns becomes *out, owned. If it leaves the result untouched,
// *declined is set (unless NULL) and *out is none.
// call->access says what the hook may do with the VM, at most what the caller
// of the VM may. Fails (kind limit) for hooks within hooks beyond
// TALLY_MAX_DEPTH, (kind type) for more than TL_MAX_CALL_ARGUMENTS.
bool tl_hook_run(tl_vm *vm, const tl_hook_call *call, tl_hook *hook,
                 void *context, tl_slot *out, bool *declined);

// Runs a release hook of a buffer or a resource; NULL: nothing to do. Handles
// that the hook releases go when it has returned. In handles.c.
void tl_release_hook(tl_vm *vm, void (*hook)(void *context, void *data),
                     void *context, void *data);

// --- Resources (resource.c) -------------------------------------------------

// Frees one whose last owner is gone: runs its release hook.
void tl_resource_free(tl_vm *vm, tl_resource *resource);
// Frees the counts of types with a limit, when no resource is left.
void tl_resources_close(tl_vm *vm);

// base.name; false after tl_fail; *out is owned.
bool tl_resource_attribute(tl_vm *vm, tl_slot base, const tl_string *name,
                           tl_slot *out);
// base[parts]; likewise.
bool tl_resource_index(tl_vm *vm, tl_slot base, uint32_t count, tl_slot *parts,
                       tl_slot *out);
// base[parts] = value, which is the last of the parts: what the base is then,
// owned, perhaps itself. [alone]: this slot is the only one that has it.
bool tl_resource_put(tl_vm *vm, tl_slot base, bool alone, uint32_t count,
                     tl_slot *parts, tl_slot *out);
// callee(args); likewise. The arguments stay the caller's.
bool tl_resource_call(tl_vm *vm, tl_slot callee, bool has_names, uint32_t count,
                      tl_slot *args, tl_slot *out);
// An operator of which an operand is a resource. *known: the operands' type has
// it; else *out is not set.
bool tl_resource_operate(tl_vm *vm, const char *sign, uint32_t arity,
                         tl_slot *operands, tl_slot *out, bool *known);
// The text as print shows it: owned, NULL after tl_fail.
// A type without the hook, or whose hook gives no string, is <name>.
tl_string *tl_resource_text(tl_vm *vm, tl_slot s);
