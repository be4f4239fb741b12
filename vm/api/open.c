// Opening and closing a VM: where all layers are put together (open.h). This is
// the one place that knows the tables of every layer; tests of a lower layer
// call tl_vm_open with fewer of them.

#include "vm/api/open.h"

#include <stdio.h>

#include "vm/api/api.h"
#include "vm/api/documentation.h"
#include "vm/api/host.h"
#include "vm/interp/interp.h"
#include "vm/bytecode/slots.h"
#include "vm/memory/memory_internal.h"
#include "vm/native/jit.h"
#include "vm/nested/nested.h"
#include "vm/observe/watch.h"

// Writes to standard output, for hosts that give no hook.
// Buffered as the host's own prints are, so that both stay in order.
static int default_write(void *context, const char *text, size_t nbytes) {
  (void)context;
  return fwrite(text, 1, nbytes, stdout) == nbytes ? 0 : 1;
}

// What the end of an object says that nobody waits for.
static void default_report(void *context, const char *text) {
  (void)context;
  fprintf(stderr, "%s\n", text);
}

// The capabilities of a script run by hand: all.
// In the fields that are not named here 0 is the usual: no limit, as many
// threads as cores, imports from files, the system's clocks.
// tally_open takes what an older host's struct does not have from here, too.
tally_options tally_default_options(void) {
  return (tally_options){.size = sizeof(tally_options),
                         .resize = tl_memory_resize,
                         .write = default_write,
                         .report = default_report,
                         .capabilities = TALLY_MAY_ALL};
}

// What lower layers call of this one, which they may not include.
static const struct tl_host_ops host_ops = {
    .free_resource = tl_resource_free,
    .attribute = tl_resource_attribute,
    .index = tl_resource_index,
    .put = tl_resource_put,
    .call_resource = tl_resource_call,
    .operate = tl_resource_operate,
    .text = tl_resource_text,
    .release = tl_release_hook,
    .call = tl_host_call,
    .find_function = tl_function_find,
    .find_module = tl_native_module,
    .load_module = tl_load_module,
    .load_function = tl_load_embedded_function,
    .each_function = tl_host_each_function,
    .each_handle = tl_handles_each,
    .each_outer = tl_handles_each_outer,
    .each_held = tl_resource_each_held,
};

// The tables are constant and shared by all VMs.
void tl_vm_bind(tl_vm *vm, const tl_library *library) {
  vm->library = library;
  vm->observer = &tl_watch_observer;
  vm->arrays = &tl_array_ops;
  vm->nested = &tl_nested_ops;
  vm->fusion = &tl_fusion_ops;
  vm->host = &host_ops;
  vm->one = tl_do_one;
}

// The VM itself comes from the host's allocator and is not counted.
// What was made before a failure is undone by tl_vm_close, for which zeros
// stand for what was not made.
tl_vm *tl_vm_open(const tally_options *options,
                  const tl_compiler_hooks *compiler,
                  const tl_library *library) {
  tl_vm *vm = options->resize(options->context, NULL, 0, sizeof *vm);
  if (vm == NULL)
    return NULL;
  memset(vm, 0, sizeof *vm);
  vm->options = *options;
  // Nothing else is open yet that would have to be closed.
  if (!tl_devices_open(vm)) {
    options->resize(options->context, vm, sizeof *vm, 0);
    return NULL;
  }
  vm->compiler = compiler;
  tl_vm_bind(vm, library);
  // Zeros are no slots: the value none has a tag.
  vm->args = tl_none();
  vm->type_string = tl_none();
  vm->grown = tl_none();
  vm->caught = tl_none();
  vm->width = 80;
  vm->decimals = 6;
  vm->no_reuse = options->no_reuse != 0;
  vm->fuel = TL_FUEL;
  vm->budget = UINT64_MAX;
  // tl_vm_close frees through the memory, so that it cannot undo this.
  if (!tl_memory_open(vm)) {
    options->resize(options->context, vm, sizeof *vm, 0);
    return NULL;
  }
  tl_pool_open(vm);
  tl_jit_open(vm);
  if (tl_slots_open(vm)) {
    vm->main = tl_module_new(vm, "main", NULL);
    if (vm->main != NULL)
      return vm;
  }
  tl_vm_close(vm);
  return NULL;
}

// In the reverse order of dependence: values before modules, modules before
// types, memory last.
void tl_vm_close(tl_vm *vm) {
  // A copy, since the last call of resize frees the VM that has them.
  tally_options options = vm->options;
  tl_watch_close(vm);
  tl_error_clear(vm);
  tl_drop(vm, vm->args);
  tl_drop(vm, vm->type_string);
  tl_drop(vm, vm->grown);
  tl_input_close(vm);
  if (vm->pattern != NULL)
    vm->pattern->free(vm, vm->pattern);
  tl_modules_close(vm);
  tl_free_rest(vm, true);
  tl_resources_close(vm);
  tl_types_close(vm);
  tl_docs_close(vm);
  tl_host_close(vm);
  tl_error_clear(vm);
  tl_jit_close(vm);
  tl_slots_close(vm);
  tl_pool_close(vm);
  tl_memory_close(vm);
  options.resize(options.context, vm, sizeof *vm, 0);
}
